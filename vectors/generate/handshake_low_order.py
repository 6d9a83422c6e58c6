"""Public keys of low order in every place of a handshake. The shared secret is then all zeros, known to anyone.

The other side computes with zeros too, so the handshake succeeds if the implementation does not check for them.
"""

from dataclasses import replace

import handshake_sides as sides
from files import CHACHAPOLY, invalid

NOTES = {
    "LowOrderKey": (
        "A public key of low order, with which the shared secret is zeros (RFC 7748, section 6.1). Whoever accepts it "
        "does not check (Noise spec, section 12.1, leaves it open)."
    ),
    "NonCanonicalKey": (
        "A public key of low order in another form: p or p + 1, or with the unused top bit set. Whoever accepts it "
        "compares keys with a list instead of checking the secret."
    ),
}

P = 2**255 - 19
TOP_BIT = 2**255
POINTS = {
    "0": 0,
    "1": 1,
    "of order 8": 325606250916557431795983626356110631294008115727848805560023387167927233504,
    "of order 8, the other": 39382357235489614581723060781553021112529911719440698176882885853963445705823,
    "p - 1": P - 1,
    "p": P,
    "p + 1": P + 1,
}

# Whose key it is, which key, and where the other side must fail: what it does, and the index of the message
PLACES = {
    "XXpsk2": [
        ("init", "e", "write", 1),
        ("resp", "e", "read", 1),
        ("resp", "s", "read", 1),
        ("init", "s", "read", 2),
    ],
    "KKpsk0": [
        ("init", "e", "read", 0),
        ("init", "s", "read", 0),
        ("resp", "e", "read", 1),
        ("resp", "s", "write", 0),
    ],
}
KEYS = {"e": "ephemeral", "s": "static"}


def tests(base):
    for name, value in POINTS.items():
        flags = ["LowOrderKey", "NonCanonicalKey"] if value >= P else ["LowOrderKey"]
        yield from failures(base, name, flags, value)
    if base.suite == CHACHAPOLY:  # X25519 is the same in both suites
        for name in ["0", "of order 8", "p"]:
            flags = ["LowOrderKey", "NonCanonicalKey"]
            yield from failures(base, f"{name}, with the top bit set", flags, POINTS[name] + TOP_BIT)


def failures(base, name, flags, value):
    point = value.to_bytes(32, "little")
    for evil, key, do, index in PLACES[base.pattern]:
        comment = f"the {sides.ROLES[evil]}'s {KEYS[key]} key is {name}"
        options = base.options(sides.OTHER[evil])
        if options.remoteStaticKey is not None and key == "s":
            options = replace(options, remoteStaticKey=point)
        messages = accomplice_messages(base, evil, key, point, options)
        steps = refused_steps(base, options, messages)
        assert (steps[-1]["do"], len(steps) - 1) == (do, index), comment
        yield invalid(comment, flags, "low-order-key", **options.fields(), steps=steps)


def accomplice_messages(base, evil, key, point, options):
    """The messages of the handshake with a victim that does not check: without the check, it would succeed."""
    x25519 = sides.UncheckedX25519
    accomplice = sides.start(base.options(evil), x25519(), **{key: sides.low_order_keypair(point)})
    victim = sides.start(options, x25519())
    return sides.exchange({evil: accomplice, options.role: victim}, base.payloads)


def refused_steps(base, options, messages):
    """The steps up to the one at which OpenSSL, beneath noiseprotocol, rejects the secret of zeros."""
    side = sides.start(options)
    steps = []
    for index, (payload, message) in enumerate(zip(base.payloads, messages, strict=True)):
        is_writer = sides.writer_of(index) == options.role
        do, given, answer = ("write", "payload", "message") if is_writer else ("read", "message", "payload")
        values = {"payload": payload, "message": message}
        steps.append({"do": do, given: values[given].hex()})
        try:
            answered = side.write_message(payload) if is_writer else side.read_message(message)
        except ValueError:
            return steps
        assert answered == values[answer]
        steps[-1][answer] = values[answer].hex()
    raise AssertionError("nothing was refused")

"""Transcripts of Noise XXpsk2 and KKpsk0 with both suites, and handshakes that must fail."""

import files
import handshake_failures
import handshake_sides as sides
from files import canonical, group, valid

RANDOM = files.randomness("handshake")

NOTES = {
    "EmptyPayload": "Messages without payload. A failure most likely leaves out the tag of the empty payload.",
    "EmptyPrologue": "An empty prologue is mixed into the hash too. A failure most likely skips MixHash for it.",
    "EphemeralMixed": (
        "In patterns with a psk every e is mixed into the hash and, by MixKey, into the chaining key (Noise spec, "
        "section 9.2). A failure most likely does only the first."
    ),
    "MessageLength": "Transport messages of no bytes and of 5000. A failure most likely lies in a buffer.",
    "NameFits": (
        "The name of this protocol has exactly 32 bytes, so h starts as the name itself (Noise spec, section 5.2). A "
        "failure most likely hashes it."
    ),
    "NameHashed": (
        "The name of this protocol has more than 32 bytes, so h starts as its hash (Noise spec, section 5.2). A "
        "failure most likely cuts it short."
    ),
    "NonceOrder": (
        "Counters from 0 to 300. ChaChaPoly has them little-endian, AESGCM big-endian, which shows at 1; a counter of "
        "one byte shows at 256."
    ),
    "Payload": "A payload in each message. A failure most likely seals it under a wrong key, or with a wrong nonce.",
    "PreMessages": (
        "In KKpsk0 both static public keys are hashed before the first message, the initiator's first. A failure most "
        "likely hashes its own first, or none."
    ),
    "Protocol3": "Prologue and payloads as protocol 3 has them. Nothing else is special here.",
    **handshake_failures.NOTES,
}


def transcript(pattern, suite, comment, flags, prologue, payloads, transport, keys=None):
    keys = keys or sides.draw_keys(RANDOM)
    both = {role: sides.start(sides.options(role, pattern, suite, prologue, keys)) for role in ["init", "resp"]}
    messages = sides.exchange(both, payloads)
    sealed = []
    for sender, plaintext in transport:
        message = both[sender].encrypt(plaintext)
        assert both[sides.OTHER[sender]].decrypt(message) == plaintext
        sealed.append({"from": sender, "plaintext": plaintext.hex(), "message": message.hex()})
    handshake_pairs = zip(payloads, messages, strict=True)
    return valid(
        comment,
        [*flags, "EphemeralMixed", *(["PreMessages"] if pattern == "KKpsk0" else []), name_flag(pattern, suite)],
        pattern=pattern,
        suite=suite,
        prologue=prologue.hex(),
        **{name: key.hex() for name, key in keys.items()},
        initStaticPublic=sides.public_key(keys["initStatic"]).hex(),
        respStaticPublic=sides.public_key(keys["respStatic"]).hex(),
        messages=[{"payload": payload.hex(), "message": message.hex()} for payload, message in handshake_pairs],
        handshakeHash=both["init"].get_handshake_hash().hex(),
        transport=sealed,
    )


def name_flag(pattern, suite):
    return "NameFits" if len(f"Noise_{pattern}_{suite}") <= 32 else "NameHashed"


def transcripts(pattern, suite):
    count = sides.MESSAGES[pattern]
    prologue = canonical({"node_id": "hub"}) + canonical({"max_protocol_version": 3})
    prologue += f"Noise_{pattern}_{suite}".encode()
    first = canonical({"binarize": False, "encodings": []})
    sizes = [(sender, RANDOM.randbytes(size)) for size in [1, 16, 17, 255, 1000] for sender in ["init", "resp"]]
    many = [(sender, RANDOM.randbytes(1)) for sender in ["init", "resp"] for _ in range(301)]
    edges = [("init", b""), ("resp", b""), ("init", RANDOM.randbytes(5000)), ("resp", RANDOM.randbytes(5000))]
    empty, protocol3 = [b""] * count, [first, b'{"encoding": "JSON-HEX"}', b""][:count]
    payloads = [RANDOM.randbytes(100) for _ in range(count)]
    cases = [
        ("empty payloads, empty prologue", ["EmptyPayload", "EmptyPrologue"], b"", empty, sizes),
        ("as in protocol 3", ["Protocol3"], prologue, protocol3, sizes),
        ("a payload in each message", ["Payload"], prologue, payloads, sizes),
        ("counters to 300 in both directions", ["NonceOrder"], prologue, empty, many),
        ("empty and long transport messages", ["MessageLength"], prologue, empty, edges),
    ]
    if suite == files.CHACHAPOLY:
        longest = [bytes(65535 - 48), *empty[1:]]
        cases.append(("message 1 of 65535 bytes", ["MessageLength"], prologue, longest, sizes[:2]))
    tests = [transcript(pattern, suite, *case) for case in cases]
    base = handshake_failures.Base(pattern, suite)
    comment = "the one that each failure is one change away from"
    tests.append(transcript(pattern, suite, comment, ["Payload"], base.prologue, base.payloads, sizes[:2], base.keys))
    return tests


def build():
    combinations = [(pattern, suite) for pattern in files.PATTERNS for suite in files.SUITES]
    groups = [group("Handshake", sides.SOURCE, transcripts(*combination)) for combination in combinations]
    groups += [handshake_failures.failures(*combination) for combination in combinations]
    description = "Noise XXpsk2 and KKpsk0: transcripts, and handshakes that must fail."
    files.write("handshake", description, NOTES, groups)

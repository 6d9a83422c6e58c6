"""Connections of a client under test that fail before `ready`."""

import hashlib
import itertools

import tables
from files import AESGCM, CHACHAPOLY
from peer import LOW_ORDER_POINTS, Keys, envelope, flip
from script import HELLO, KNOWN, Client, offer_of, psk_suspect, shake

STRANGER = Keys("another hub")
WITH_A_ZERO = next(keys for keys in (Keys(f"a zero {n}") for n in itertools.count()) if keys.hub_public[0] == 0)
BOTH_PATTERNS = offer_of(["XXpsk2", "KKpsk0"], [CHACHAPOLY])
BAD_PAYLOADS = [
    ("is a list", b"[]"),
    ("is null", b"null"),
    ("is not JSON", b"{"),
    ("is not UTF-8", b'{"a":"\xff"}'),
    ("has a key twice", b'{"a":1,"a":1}'),
]


NOISE = bytes(range(128, 160))


def padded(length):
    """A payload of that length that is right otherwise."""
    return b'{"padding":"' + b"x" * (length - 14) + b'"}'


def client(comment, *flags, **options):
    return Client(comment, [*flags, "AfterFailure"], **options)


def as_it_is(message):
    return message


def negotiations():
    """Failures that HELLO and HANDSHAKE alone cause."""

    def refused(comment, patterns_offered, suites_offered, error="bad-offer", flag="Negotiation", **options):
        offer = offer_of(patterns_offered, suites_offered)
        return client(comment, flag, offer=offer, **options).hello().fail(envelope("shake", offer), error)

    def incomplete(*offered, **options):
        return refused(*offered, flag="RequiredOffer", **options)

    def named(length, node_id):
        assert len(node_id.encode()) == length
        return envelope("hello", {**HELLO, "node_id": node_id})

    old = envelope("shake", {**offer_of(["XXpsk2"], [CHACHAPOLY]), "max_protocol_version": 2})
    nameless = envelope("hello", {name: value for name, value in HELLO.items() if name != "node_id"})
    tests = [
        refused("no suite in common", ["XXpsk2"], [AESGCM]),
        refused("no suites at all", ["XXpsk2"], []),
        refused("a suite in another spelling", ["XXpsk2"], [CHACHAPOLY.lower()]),
        refused("a suite that only begins like the required one", ["XXpsk2"], [f"{CHACHAPOLY}2"]),
        refused("a pattern that only begins like the required one", ["XXpsk2x"], [CHACHAPOLY]),
        refused("no pattern in common", ["NNpsk0", "XX"], [CHACHAPOLY]),
        refused("no patterns at all", [], [CHACHAPOLY]),
        refused("KKpsk0 alone, offered to a client without a pin", ["KKpsk0"], [CHACHAPOLY]),
        refused("what is required, to a client that has only AESGCM", ["XXpsk2"], [CHACHAPOLY], "no-common-suite", suites=[AESGCM]),
        refused(
            "what is required, to a client without a pin that may only use KKpsk0",
            ["XXpsk2", "KKpsk0"],
            [CHACHAPOLY],
            "no-common-pattern",
            patterns=["KKpsk0"],
        ),
        incomplete("AESGCM alone, offered to a client that has it", ["XXpsk2"], [AESGCM], suites=[CHACHAPOLY, AESGCM]),
        incomplete("AESGCM alone, offered to a client that prefers it", ["XXpsk2"], [AESGCM], suites=[AESGCM, CHACHAPOLY]),
        incomplete("KKpsk0 alone, offered to a client with a pin", ["KKpsk0"], [CHACHAPOLY], pin=KNOWN),
        client("a hub that speaks protocol 2", "ProtocolVersion").hello().fail(old, "protocol-version"),
        client("HELLO without a node id", "NodeId").fail(nameless, "missing-node-id"),
        client("a node id of 4097 bytes", "NodeIdLength").fail(named(4097, "h" * 4097), "bad-node-id"),
        client("a node id of 4097 bytes, in fewer characters", "NodeIdLength").fail(
            named(4097, "h" + "\xfc" * 2048), "bad-node-id"
        ),
    ]
    # A port may say that it shares nothing with an offer that lacks what is required.
    others = {"bad-offer": ["no-common-suite", "no-common-pattern"]}
    return [test.test(*others.get(test.failure, [])) for test in tests]


def two_faults():
    """Offers with several faults: either may be named."""

    def refused(comment, error, *others, patterns=("XXpsk2",), suites=(CHACHAPOLY,), version=3, noise=None, **options):
        offer = {**offer_of(list(patterns), list(suites)), "max_protocol_version": version}
        if noise is not None:
            offer["noise"] = noise
        script = Client(f"an offer with {comment}", ["TwoFaults", "AfterFailure"], **options).hello()
        return script.fail(envelope("shake", offer), error).test(*others)

    without_lists = {"patterns": "XXpsk2", "suites": None}
    return [
        refused("version 2 and no suite in common", "protocol-version", "bad-offer", "no-common-suite", suites=[AESGCM], version=2),
        refused("version 2 and no pattern", "protocol-version", "bad-offer", "no-common-pattern", patterns=[], version=2),
        refused("version 2 and no lists", "protocol-version", "bad-offer", noise=without_lists, version=2),
        refused("version 2 and a list for noise", "protocol-version", "bad-payload", noise=[], version=2),
        refused("no pattern and no suite", "bad-offer", "no-common-suite", "no-common-pattern", patterns=[], suites=[]),
        refused(
            "KKpsk0 alone and no suite in common, from a hub without a pin",
            "bad-offer",
            "no-common-suite",
            "no-common-pattern",
            patterns=["KKpsk0"],
            suites=[AESGCM],
        ),
    ]


def payload_first():
    """Another key and a payload that cannot be read: only a peer that knows the password may learn that there is a pin."""

    def other_key(what):
        comment = f"another key than the pinned one, in a message 2 whose payload {what}"
        return client(comment, "PayloadFirst", pin=STRANGER.hub_public)

    noise = [answered(other_key(what), "psk-differs", psk_suspect(), payload=payload) for what, payload in BAD_PAYLOADS]
    number = answered(other_key("has a number for an encoding"), "bad-handshake-payload", payload=b'{"encoding":1}')
    return [test.test() for test in [*noise, number]]


def order():
    """Envelopes that come too early, or that are never expected."""
    offer, message = envelope("shake", offer_of(["XXpsk2"], [CHACHAPOLY])), shake(msg=bytes(96).hex())
    first = shake(pattern="XXpsk2", suite=CHACHAPOLY, msg=bytes(96).hex())
    bus = envelope("bus", {"type": "speak"})

    def fails(script, input, text):
        return script.fail(text, tables.outcome("client", script.state, input))

    def waiting_for_psk(comment):
        return client(comment, "Order", has_psk=False).hello().offer()

    tests = [
        fails(client("HANDSHAKE before HELLO", "Order"), "offer", offer),
        fails(client("message 2 before HELLO", "Order"), "noise", message),
        fails(client("message 2 before HANDSHAKE", "Order").hello(), "noise", message),
        fails(client("another message before HELLO", "Order"), "other", bus),
        fails(client("another message before HANDSHAKE", "Order").hello(), "other", bus),
        fails(client("another message where message 2 is due", "Order").until_message_1(), "other", bus),
        fails(client("a message with a pattern before HELLO", "Order"), "noise-with-choice", first),
        fails(client("a message with a pattern before HANDSHAKE", "Order").hello(), "noise-with-choice", first),
        fails(waiting_for_psk("another message while the PSK is awaited"), "other", bus),
        fails(waiting_for_psk("another message as bytes while the PSK is awaited"), "other", bus.encode()),
    ]
    return [test.test() for test in tests]


def untrusted():
    """A hub that is not pinned, where only pinned hubs are trusted: nothing is sent to it."""

    def refused(comment, hello=HELLO, **options):
        script = client(comment, "UnknownHub", offer=BOTH_PATTERNS, hello=hello, trust="pinned-only", **options)
        return script.hello().fail(envelope("shake", BOTH_PATTERNS), "unknown-hub")

    elsewhere = {"hub-1": STRANGER.hub_public.hex()}
    named = {name: {**HELLO, "node_id": name} for name in ["hub-1 ", "HUB-1", "hub-10", "hub"]}
    tests = [
        refused("a hub never seen, where none is pinned"),
        refused("a hub never seen, where the PSK would be asked for", has_psk=False),
        refused("a pinned hub's name with a blank after it", hello=named["hub-1 "], other_pins=elsewhere),
        refused("a pinned hub's name in capitals", hello=named["HUB-1"], other_pins=elsewhere),
        refused("a name that begins with that of a pinned hub", hello=named["hub-10"], other_pins=elsewhere),
        refused("a name with which that of a pinned hub begins", hello=named["hub"], other_pins=elsewhere),
    ]
    return [test.test() for test in tests]


def answered(script, error, *before, spoil=as_it_is, payload=b"{}"):
    """A script that fails on our message 2, which may be spoiled."""
    script.until_message_1()
    return script.fail(shake(msg=spoil(script.message_2(payload)).hex()), error, *before)


def wrong_secrets():
    """Another PSK or another key: XXpsk2 shows which."""
    asked = client("another PSK at the hub than the one given", "WrongPsk", hub_psk=STRANGER.psk, has_psk=False)
    changed = "hub-key-changed"
    tests = [
        answered(
            client("another PSK at the hub than the stored one", "WrongPsk", hub_psk=STRANGER.psk),
            "psk-differs",
            psk_suspect(),
        ),
        answered(asked, "psk-differs", psk_suspect()).step("psk", psk=asked.keys.psk.hex()),
        answered(
            client(
                "another PSK and another key, which is thus not proven",
                "WrongPsk",
                hub_psk=STRANGER.psk,
                pin=STRANGER.hub_public,
            ),
            "psk-differs",
            psk_suspect(),
        ),
        answered(
            client("another key than the pinned one, KKpsk0 not offered", "HubKeyChanged", pin=STRANGER.hub_public),
            changed,
        ),
        *(
            answered(
                client(
                    f"another key than the pinned one, which differs in its {which} byte alone",
                    "HubKeyChanged",
                    pin=lambda key, at=at: flip(key, at),
                ),
                changed,
            )
            for which, at in [("first", 0), ("17th", 16), ("last", -1)]
        ),
        answered(
            client(
                "another key than the pinned one, and both begin with a zero",
                "HubKeyChanged",
                keys=WITH_A_ZERO,
                pin=lambda key: flip(key, 1),
            ),
            changed,
        ),
        answered(
            client(
                "another key than the pinned one, where the client was told to use XXpsk2",
                "HubKeyChanged",
                pin=STRANGER.hub_public,
                patterns=["XXpsk2"],
                offer=BOTH_PATTERNS,
            ),
            changed,
        ),
        answered(
            client(
                "another PSK at a hub with the pinned key, where only pinned hubs are trusted",
                "WrongPsk",
                hub_psk=STRANGER.psk,
                pin=KNOWN,
                trust="pinned-only",
            ),
            "psk-differs",
            psk_suspect(),
        ),
    ]
    return [test.test() for test in tests]


def damages():
    """Message 2 of XXpsk2: ephemeral key, static key with its tag, payload with its tag."""

    def damaged(what, error, *before, spoil):
        return answered(client(f"message 2 {what}", "Damaged"), error, *before, spoil=spoil)

    tests = [
        damaged("with a bit flipped in its ephemeral key", "static-key-not-authentic", spoil=lambda m: flip(m, 0)),
        damaged("with a bit flipped in its static key", "static-key-not-authentic", spoil=lambda m: flip(m, 32)),
        damaged("with a bit flipped in its static key's tag", "static-key-not-authentic", spoil=lambda m: flip(m, 79)),
        damaged("with a bit flipped in its payload", "psk-differs", psk_suspect(), spoil=lambda m: flip(m, 80)),
        damaged("without its last byte", "psk-differs", psk_suspect(), spoil=lambda m: m[:-1]),
        damaged("with a byte more", "psk-differs", psk_suspect(), spoil=lambda m: m + b"\0"),
        damaged("one byte shorter than it can be", "message-too-short", spoil=lambda m: m[:95]),
        damaged("of no bytes", "message-too-short", spoil=lambda m: b""),
    ]
    for what, payload in BAD_PAYLOADS:
        script = client(f"message 2 whose payload {what}", "Message2Noise")
        tests.append(answered(script, "psk-differs", psk_suspect(), payload=payload))
    for suite in [CHACHAPOLY, AESGCM]:
        script = client(f"message 2 whose payload is noise, with {suite}", "Message2Noise", suite=suite, has_psk=False)
        tests.append(answered(script, "psk-differs", psk_suspect(), payload=NOISE))
    number = client("message 2 whose payload has a number for an encoding", "Message2Payload")
    tests.append(answered(number, "bad-handshake-payload", payload=b'{"encoding":1}'))
    long = client("message 2 whose payload has 65 bytes", "Message2Length")
    tests.append(answered(long, "message-too-long", payload=padded(65)))
    noise = client("message 2 whose payload is noise of 65 bytes", "Message2Length")
    tests.append(answered(noise, "message-too-long", payload=NOISE * 2 + b"\0"))
    for name, point in LOW_ORDER_POINTS.items():
        for key, part in [("e", "ephemeral"), ("s", "static")]:
            script = client(f"message 2 with a low-order {part} key: {name}", "LowOrder")
            script.peer.use_low_order_point(key, point)
            tests.append(answered(script, "low-order-key"))
    return [test.test() for test in tests]


def two_keys():
    """One message 2 that is a JSON object under two PSKs, found for this client's message 1.

    A walk through the grammar of JSON, under both keystreams at a time, leaves the low halves of some bytes free; lattice
    reduction chooses these so that Poly1305 has one tag under both keys. It took 343 s, with 4096 guesses of the PSK.
    """
    client_keys = Keys(f"message 2 that is JSON under two PSKs XXpsk2 {CHACHAPOLY}")
    hub_static = bytes.fromhex("df861c688827db996b70c8ff6b72c4e487decaa1704f8ef0d5e57b0e7a71b787")
    hub_ephemeral = bytes.fromhex("d35fd96f756f7aa790e5bf58f40669ad6dd568225ac225f7ca955097fffbde28")
    first = "\t\r{\"00L6N@7\u1e01O6a\u04c4\u040e9;:C>l JF03<2F \u073dBd\U0004e7ed<F\":\"F17K=kg\U0007107b\u01e0\"}".encode()
    second = (
        "{\"ld\u0552ewy\u02e2J\U000e71a4\U00062dd3\u06d0=BkCr\u54ec"
        "x2l\u056e\u060a\u05ab{n3C\u0479h`:Go1gqb}\u058b<C\":8\n}"
    ).encode()

    def tested(guess, comment):
        psk = hashlib.sha256(b"guess%d" % guess).digest()
        return Client(comment, ["Message2TwoKeys"], keys=client_keys.with_hub(hub_static, hub_ephemeral, psk))

    one = tested(267, "message 2 that is JSON under two PSKs, to a client with the first").connect(first)
    other = tested(838, "message 2 that is JSON under two PSKs, to a client with the second").connect(second)
    assert one.steps[3]["text"] == other.steps[3]["text"]
    longer = tested(267, "message 2 that is a byte longer than one that is JSON under two PSKs")
    return [test.test() for test in [one, other, answered(longer, "message-too-long", payload=first + b" ")]]


def suspect_pins():
    """A pin with which a KKpsk0 has failed, tested by XXpsk2: not replaced before message 2 opens, nor if it is to be kept."""

    def tested(comment, pin=STRANGER.hub_public, **options):
        return client(f"a suspect pin, {comment}", "KkFailure", pin=pin, offer=BOTH_PATTERNS, suspects=["hub-1"], **options)

    wrong = {"hub_psk": STRANGER.psk}
    kk_alone = tested("where only KKpsk0 may be used", pin=KNOWN, patterns=["KKpsk0"]).hello()
    return [
        answered(tested("another key, where the pin is to be kept", onKkFailure="keep-pin"), "hub-key-changed").test(),
        answered(tested("another key, where only pinned hubs are trusted", trust="pinned-only"), "hub-key-changed").test(),
        answered(
            tested("another key, where pins are replaced, and only pinned hubs trusted", trust="pinned-only", onKkFailure="replace-pin"),
            "hub-key-changed",
        ).test(),
        answered(tested("another key, and another PSK", **wrong), "psk-differs", psk_suspect()).test(),
        answered(tested("the same key, and another PSK", pin=KNOWN, **wrong), "psk-differs", psk_suspect()).test(),
        answered(tested("another key, and noise", has_psk=False), "psk-differs", psk_suspect(), payload=NOISE).test(),
        kk_alone.fail(envelope("shake", BOTH_PATTERNS), "no-common-pattern").test(),
    ]


def kk_failures():
    """A KKpsk0 that fails makes the pin suspect, and says nothing about the PSK."""
    number = client("message 2 that authenticates, and whose payload has a number for an encoding", "Message2Payload", pattern="KKpsk0")
    return [
        *kk_failures_with(""),
        *kk_failures_with(" (replace-pin)", onKkFailure="replace-pin"),
        *kk_failures_with(" (keep-pin)", onKkFailure="keep-pin"),
        answered(number, "bad-handshake-payload", payload=b'{"encoding":1}').test(),
        *suspect_pins(),
    ]


def kk_failures_with(how, **options):
    def kk(what, *flags):
        return client(f"message 2 {what}{how}", *flags, "KkFailure", pattern="KKpsk0", **options)

    def damaged(what, error="kk-failed", spoil=as_it_is, flag="Damaged", point=None):
        script = kk(what, flag)
        if point:
            script.peer.use_low_order_point("e", point)
        return answered(script, error, *script.doubt_pin(), spoil=spoil).test()

    def spoiled(what, form):
        script = kk(what).until_message_1()
        return script.fail(shake(msg=form(script.message_2().hex())), "bad-hex", *script.doubt_pin()).test()

    def unread(what, flag, error, payload):
        script = kk(what, flag)
        return answered(script, error, *script.doubt_pin(), payload=payload).test()

    zero = LOW_ORDER_POINTS["zero"]
    return [
        damaged("with a bit flipped in its ephemeral key", spoil=lambda m: flip(m, 0)),
        damaged("with a bit flipped in its payload", spoil=lambda m: flip(m, 32)),
        damaged("without its last byte", spoil=lambda m: m[:-1]),
        damaged("one byte shorter than it can be", "message-too-short", spoil=lambda m: m[:47]),
        damaged("with a low-order ephemeral key", "low-order-key", flag="LowOrder", point=zero),
        spoiled("that is not hexadecimal", lambda digits: "zz"),
        spoiled("with an odd number of digits", lambda digits: digits[:-1]),
        unread("that authenticates, and whose payload is a list", "Message2Noise", "kk-failed", b"[]"),
        unread("that authenticates, and whose payload is noise", "Message2Noise", "kk-failed", NOISE),
        unread("whose payload has 65 bytes", "Message2Length", "message-too-long", padded(65)),
    ]

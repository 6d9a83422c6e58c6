"""Connections of a client under test that fail before `ready`."""

import itertools

from files import AESGCM, CHACHAPOLY
from peer import Keys, envelope, flip
from script import HELLO, KNOWN, Client, offer_of, shake

STRANGER = Keys("another hub")
NOISE = bytes(range(128, 160))
WITH_A_ZERO = next(keys for keys in (Keys(f"a zero {n}") for n in itertools.count()) if keys.hub_public[0] == 0)
BOTH_PATTERNS = offer_of(["XXpsk2", "KKpsk0"], [CHACHAPOLY])
def client(comment, *flags, **options):
    return Client(comment, [*flags, "AfterFailure"], **options)


def as_it_is(message):
    return message


def negotiations():
    """Failures that HELLO and HANDSHAKE alone cause."""

    def refused(comment, patterns_offered, suites_offered, **options):
        offer = offer_of(patterns_offered, suites_offered)
        return client(comment, "Negotiation", offer=offer, **options).hello().fail(envelope("shake", offer))

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
        refused("what is required, to a client that has only AESGCM", ["XXpsk2"], [CHACHAPOLY], suites=[AESGCM]),
        refused(
            "what is required, to a client without a pin that may only use KKpsk0",
            ["XXpsk2", "KKpsk0"],
            [CHACHAPOLY],
            patterns=["KKpsk0"],
        ),
        client("a hub that speaks protocol 2", "ProtocolVersion").hello().fail(old),
        client("HELLO without a node id", "NodeId").fail(nameless),
    ]
    # A port may say that it shares nothing with an offer that lacks what is required.
    others = {"bad-offer": ["no-common-suite", "no-common-pattern"]}
    return [test.test(*others.get(test.failure, [])) for test in tests]


def two_faults():
    """Offers with several faults: either may be named."""

    def refused(comment, *others, patterns=("XXpsk2",), suites=(CHACHAPOLY,), version=3, **noise):
        offer = {**offer_of(list(patterns), list(suites)), "max_protocol_version": version, **noise}
        script = Client(f"an offer with {comment}", ["TwoFaults", "AfterFailure"]).hello()
        return script.fail(envelope("shake", offer)).test(*others)

    without_lists = {"patterns": "XXpsk2", "suites": None}
    neither = "no-common-suite", "no-common-pattern"
    return [
        refused("version 2 and no suite in common", "bad-offer", "no-common-suite", suites=[AESGCM], version=2),
        refused("version 2 and no pattern", "bad-offer", "no-common-pattern", patterns=[], version=2),
        refused("version 2 and no lists", "bad-offer", noise=without_lists, version=2),
        refused("version 2 and a list for noise", "bad-payload", noise=[], version=2),
        refused("no pattern and no suite", *neither, patterns=[], suites=[]),
        refused("KKpsk0 alone and no suite in common, from a hub without a pin", *neither, patterns=["KKpsk0"], suites=[AESGCM]),
    ]


def answered(script, spoil=as_it_is, payload=b"{}"):
    """A script that fails on our message 2, which may be spoiled."""
    script.until_message_1()
    return script.fail(shake(msg=spoil(script.message_2(payload)).hex()))


def wrong_secrets():
    """Another PSK or another key: XXpsk2 shows which."""

    def wrong_psk(comment, **options):
        return answered(client(comment, "WrongPsk", hub_psk=STRANGER.psk, **options))

    def wrong_key(comment, **options):
        return answered(client(comment, "HubKeyChanged", **options))

    asked = wrong_psk("another PSK at the hub than the one given", has_psk=False)
    other = {"pin": STRANGER.hub_public}
    tests = [
        wrong_psk("another PSK at the hub than the stored one"),
        asked.step("psk", psk=asked.keys.psk.hex()),
        wrong_psk("another PSK and another key, which is thus not proven", **other),
        wrong_key("another key than the pinned one, KKpsk0 not offered", **other),
        *(
            wrong_key(
                f"another key than the pinned one, which differs in its {which} byte alone", pin=lambda key, at=at: flip(key, at)
            )
            for which, at in [("first", 0), ("17th", 16), ("last", -1)]
        ),
        wrong_key(
            "another key than the pinned one, and both begin with a zero", keys=WITH_A_ZERO, pin=lambda key: flip(key, 1)
        ),
        wrong_key(
            "another key than the pinned one, where the client was told to use XXpsk2",
            **other,
            patterns=["XXpsk2"],
            offer=BOTH_PATTERNS,
        ),
        wrong_psk(
            "another PSK at a hub with the pinned key, where only pinned hubs are trusted", pin=KNOWN, trust="pinned-only"
        ),
    ]
    return [test.test() for test in tests]


def damages():
    """Message 2 of XXpsk2: ephemeral key, static key with its tag, payload with its tag."""

    def damaged(what, spoil):
        return answered(client(f"message 2 {what}", "Damaged"), spoil)

    number = client("message 2 whose payload has a number for an encoding", "Message2Payload")
    tests = [
        damaged("with a bit flipped in its ephemeral key", lambda m: flip(m, 0)),
        damaged("with a bit flipped in its static key", lambda m: flip(m, 32)),
        damaged("with a bit flipped in its static key's tag", lambda m: flip(m, 79)),
        damaged("with a bit flipped in its payload", lambda m: flip(m, 80)),
        damaged("without its last byte", lambda m: m[:-1]),
        damaged("with a byte more", lambda m: m + b"\0"),
        damaged("one byte shorter than it can be", lambda m: m[:95]),
        damaged("of no bytes", lambda m: b""),
        answered(number, payload=b'{"encoding":1}'),
    ]
    return [test.test() for test in tests]


def suspect_pins():
    """A pin with which a KKpsk0 has failed, tested by XXpsk2: not replaced before message 2 opens, nor if it is to be kept."""

    def tested(comment, pin=STRANGER.hub_public, **options):
        return client(f"a suspect pin, {comment}", "KkFailure", pin=pin, offer=BOTH_PATTERNS, suspects=["hub-1"], **options)

    wrong = {"hub_psk": STRANGER.psk}
    both = {"trust": "pinned-only", "onKkFailure": "replace-pin"}
    kk_alone = tested("where only KKpsk0 may be used", pin=KNOWN, patterns=["KKpsk0"]).hello()
    return [
        answered(tested("another key, where the pin is to be kept", onKkFailure="keep-pin")),
        answered(tested("another key, where only pinned hubs are trusted", trust="pinned-only")),
        answered(tested("another key, where pins are replaced, and only pinned hubs trusted", **both)),
        answered(tested("another key, and another PSK", **wrong)),
        answered(tested("the same key, and another PSK", pin=KNOWN, **wrong)),
        answered(tested("another key, and noise", has_psk=False), payload=NOISE),
        kk_alone.fail(envelope("shake", BOTH_PATTERNS)),
    ]


def kk_failures():
    """A KKpsk0 that fails makes the pin suspect, and says nothing about the PSK."""
    number = client("message 2 that authenticates, and whose payload has a number for an encoding", "Message2Payload", pattern="KKpsk0")
    tests = [
        *kk_failures_with(""),
        *kk_failures_with(" (replace-pin)", onKkFailure="replace-pin"),
        *kk_failures_with(" (keep-pin)", onKkFailure="keep-pin"),
        answered(number, payload=b'{"encoding":1}'),
        *suspect_pins(),
    ]
    return [test.test() for test in tests]


def kk_failures_with(how, **options):
    def kk(what, *flags):
        return client(f"message 2 {what}{how}", *flags, "KkFailure", pattern="KKpsk0", **options)

    def damaged(what, spoil):
        return answered(kk(what, "Damaged"), spoil)

    def spoiled(what, form):
        script = kk(what).until_message_1()
        return script.fail(shake(msg=form(script.message_2().hex())))

    return [
        damaged("with a bit flipped in its ephemeral key", lambda m: flip(m, 0)),
        damaged("with a bit flipped in its payload", lambda m: flip(m, 32)),
        damaged("without its last byte", lambda m: m[:-1]),
        damaged("one byte shorter than it can be", lambda m: m[:47]),
        spoiled("that is not hexadecimal", lambda digits: "zz"),
        spoiled("with an odd number of digits", lambda digits: digits[:-1]),
    ]

"""Connections of a hub under test that fail before `ready`."""

import tables
from files import AESGCM, CHACHAPOLY
from peer import LOW_ORDER_POINTS, Keys, envelope, flip
from script import ANNOUNCEMENT, GREETING, MESSAGE_1_PAYLOAD, NODE_ID, Hub, frame, shake
from session_client_failures import BAD_PAYLOADS, as_it_is

STRANGER = Keys("another client")


def hub(comment, *flags, **options):
    return Hub(comment, [*flags, "AfterFailure"], **options).start()


def fails_on_message_1(script, error, spoil=as_it_is, payload=MESSAGE_1_PAYLOAD):
    return script.fail(script.envelop(spoil(script.peer.write(payload))), error)


def fails_on_message_3(script, error, spoil=as_it_is):
    script.message_1()
    return script.fail(shake(msg=spoil(script.peer.write()).hex()), error)


def negotiations():
    """Failures that the envelope alone causes."""

    def refused(script, error, noise={}, **payload):
        fields = {"pattern": "XXpsk2", "suite": CHACHAPOLY, "msg": script.peer.write(MESSAGE_1_PAYLOAD).hex(), **noise}
        return script.fail(envelope("shake", {"noise": fields, **payload}), error)

    bus = envelope("bus", {"type": "speak"})
    kk = {"pattern": "KKpsk0", "patterns": ["XXpsk2"]}
    known = hub("a KKpsk0 that was not offered, from a client that is known", "Negotiation", **kk)
    other = hub("a handshake under a suite that was not offered", "Negotiation", suite=AESGCM, suites=[CHACHAPOLY])
    tests = [
        refused(hub("KKpsk0, which was not offered", "Negotiation"), "not-offered", {"pattern": "KKpsk0"}),
        refused(hub("a suite that was not offered", "Negotiation"), "not-offered", {"suite": AESGCM}),
        refused(hub("a pattern that nobody knows", "Negotiation"), "not-offered", {"pattern": "NNpsk0"}),
        refused(hub("a pattern in another spelling", "Negotiation"), "not-offered", {"pattern": "xxpsk2"}),
        *(fails_on_message_1(whole, "not-offered") for whole in [known, other]),
        refused(hub("a client that speaks protocol 2", "ProtocolVersion"), "protocol-version", max_protocol_version=2),
        hub("another message where message 1 is due", "Order").fail(bus, "unexpected-message"),
        hub("another message where message 3 is due", "Order").message_1().fail(bus, "unexpected-message"),
    ]
    return [test.test() for test in tests]


def xx_failures():
    first, last = fails_on_message_1, fails_on_message_3
    bare = {
        "client_hello": {"node_id": NODE_ID},
        "client_offer": {"max_protocol_version": 3, "noise": {"patterns": ["XXpsk2"], "suites": [CHACHAPOLY]}},
    }
    other = {"client_hello": {"node_id": NODE_ID, "peer": "hub::2", "pubkey": ""}}
    changed = hub("another client key than the pinned one", "ClientKeyChanged", client_key=STRANGER.client_public)
    nearly_same = [
        hub(
            f"another client key than the pinned one, which differs in its {which} byte alone",
            "ClientKeyChanged",
            client_key=lambda key, at=at: flip(key, at),
        )
        for which, at in [("first", 0), ("17th", 16), ("last", -1)]
    ]
    damaged = [
        (first, "message 1 with a bit flipped in its ephemeral key", "prologue-differs", lambda m: flip(m, 0)),
        (first, "message 1 with a bit flipped in its payload", "prologue-differs", lambda m: flip(m, 32)),
        (first, "message 1 without its last byte", "prologue-differs", lambda m: m[:-1]),
        (first, "message 1 one byte shorter than it can be", "message-too-short", lambda m: m[:47]),
        (last, "message 3 with a bit flipped in its static key", "static-key-not-authentic", lambda m: flip(m, 0)),
        (
            last,
            "message 3 with a bit flipped in its static key's tag",
            "static-key-not-authentic",
            lambda m: flip(m, 47),
        ),
        (last, "message 3 with a bit flipped in its tag", "payload-not-authentic", lambda m: flip(m, -1)),
        (last, "message 3 with a byte more", "payload-not-authentic", lambda m: m + b"\0"),
        (last, "message 3 without its last byte", "message-too-short", lambda m: m[:-1]),
    ]
    payloads = [
        *BAD_PAYLOADS,
        ("has a number for a flag", b'{"binarize":1,"encodings":[]}'),
        ("has a text for its encodings", b'{"binarize":false,"encodings":"JSON-HEX"}'),
    ]
    tests = [
        first(hub("a client that bound another HELLO", "PrologueDiffers", **other), "prologue-differs"),
        first(hub("a client that bound only the fields it knows", "PrologueDiffers", **bare), "prologue-differs"),
        *(fails(hub(comment, "Damaged"), error, spoil) for fails, comment, error, spoil in damaged),
        *(last(script, "client-key-changed") for script in [changed, *nearly_same]),
    ]
    for what, payload in payloads:
        tests.append(
            first(hub(f"message 1 whose payload {what}", "Message1Payload"), "bad-handshake-payload", payload=payload)
        )
    for name, point in LOW_ORDER_POINTS.items():
        ephemeral = hub(f"message 1 with a low-order ephemeral key: {name}", "LowOrder")
        ephemeral.peer.use_low_order_point("e", point)
        static = hub(f"message 3 with a low-order static key: {name}", "LowOrder")
        static.peer.use_low_order_point("s", point)
        tests += [first(ephemeral, "low-order-key"), last(static, "low-order-key")]
    return [test.test() for test in tests]


def kk_failures():
    """Message 1 of KKpsk0 proves PSK, static keys and prologue at once: one failure, four causes."""

    def kk(comment, *flags, **options):
        return hub(comment, *flags, pattern="KKpsk0", **options)

    tests = [
        fails_on_message_1(kk("a client with another PSK", "KkFailure", client_psk=STRANGER.psk), "kk-failed"),
        fails_on_message_1(
            kk("a client that pinned another hub", "KkFailure", client_pin=STRANGER.hub_public), "kk-failed"
        ),
        fails_on_message_1(
            kk("another client key than the pinned one", "KkFailure", client_key=STRANGER.client_public), "kk-failed"
        ),
        fails_on_message_1(
            kk("a client that bound another HELLO", "KkFailure", client_hello={"node_id": NODE_ID}), "kk-failed"
        ),
    ]
    for what, error, spoil in [
        ("with a bit flipped in its ephemeral key", "kk-failed", lambda m: flip(m, 0)),
        ("with a bit flipped in its payload", "kk-failed", lambda m: flip(m, 32)),
        ("without its last byte", "kk-failed", lambda m: m[:-1]),
        ("one byte shorter than it can be", "message-too-short", lambda m: m[:47]),
    ]:
        tests.append(fails_on_message_1(kk(f"message 1 {what}", "Damaged"), error, spoil))
    for name, point in LOW_ORDER_POINTS.items():
        script = kk(f"message 1 with a low-order ephemeral key: {name}", "LowOrder")
        script.peer.use_low_order_point("e", point)
        tests.append(fails_on_message_1(script, "low-order-key"))
    return [test.test() for test in [*tests, *unproven()]]


def unproven():
    """Message 1 of KKpsk0 may be a replay: a hub is not ready before a transport message has opened."""

    def waiting(comment):
        return hub(comment, "FirstMessage", pattern="KKpsk0").message_1()

    other = waiting("another connection").peer.seal(frame(0, GREETING.encode()))
    damaged = waiting("a first message with a bit flipped")
    lost = hub("an announcement as bytes before the first message", "LostSession", pattern="KKpsk0").message_1()
    bus = envelope("bus", {"type": "speak"})
    cleartext = tables.outcome("hub", "awaiting-first-message", "other")
    return [
        waiting("a first message that was sealed on another connection").fail(other, "not-authentic"),
        damaged.fail(flip(damaged.peer.seal(frame(0, GREETING.encode())), 0), "not-authentic"),
        waiting("a first message of 15 bytes").fail(bytes(15), "message-too-short"),
        waiting("another message in clear before the first message").fail(bus, cleartext),
        waiting("another message in clear before the first message, as bytes").fail(bus.encode(), cleartext),
        lost.fail(ANNOUNCEMENT.encode(), tables.outcome("hub", "awaiting-first-message", "hello", "bytes")),
    ]

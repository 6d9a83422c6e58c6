"""Connections of a hub under test up to `ready` and the client's HELLO: what succeeds, and what is ignored."""

from argon2id import RSA_PEM
from files import AESGCM, CHACHAPOLY
from peer import envelope
from script import ANNOUNCEMENT, GREETING, GREETING_PAYLOAD, KNOWN, Hub, frame, shake
from session_client import UNKNOWN_FIELDS


def connections(pattern, suite):
    """A first contact, by XXpsk2, or a reconnect, by KKpsk0."""
    name, flag = ("a first contact", "FirstContact") if pattern == "XXpsk2" else ("a reconnect", "Reconnect")
    whole = Hub(name, [flag], pattern, suite).connect()
    mqtt = (
        Hub(f"{name} over MQTT, where the client speaks first", [flag, "Mqtt"], pattern, suite)
        .start()
        .ignore(GREETING)
        .message_1()
    )
    announced = (
        Hub(f"{name} over MQTT, announced without session and site", [flag, "Mqtt"], pattern, suite)
        .start()
        .ignore(ANNOUNCEMENT, ANNOUNCEMENT.encode())
        .message_1()
    )
    if pattern == "XXpsk2":
        mqtt.message_3()
        announced.message_3()
    tests = [
        whole.hear("{}").send('{"msg_type":"bus"}').hear(b"\1").send(b"\2").end(),
        mqtt.greet(),
        announced.greet(),
    ]
    return [test.test() for test in tests]


def choices():
    """XXpsk2 with ChaChaPoly, although the hub offers more."""
    tests = [
        Hub("a client with a pinned key that uses XXpsk2", ["PinEnforced"], client_key=KNOWN),
        Hub("KKpsk0 is not offered without the client's key", ["Negotiation"], patterns=["XXpsk2", "KKpsk0"]),
        Hub("a node id as long as the PEM of an RSA key of 4096 bits", ["NodeId"], node_id=RSA_PEM),
        Hub("a node id with U+0000 in it", ["NodeId"], node_id="hub\0one"),
        Hub("two suites, offered in the order given", ["Negotiation"], suites=[AESGCM, CHACHAPOLY]),
    ]
    return [test.connect().test() for test in tests]


def bound_fields(pattern):
    """Further fields of the hub's payloads are sent and bound."""
    tests = [Hub("payloads without further fields", ["UnknownField"], pattern, hello={}, handshake={})]
    for what, flag, fields in UNKNOWN_FIELDS:
        tests.append(Hub(f"HELLO with {what}", [flag], pattern, hello=fields))
        tests.append(Hub(f"HANDSHAKE with {what}", [flag], pattern, handshake=fields))
    return [test.start().message_1().test() for test in tests]


def forms():
    """Several forms of the same message of a client."""

    def hub(comment, flag):
        return Hub(comment, [flag]).start()

    def first(message, kind="shake", **further):
        noise = {"pattern": "XXpsk2", "suite": CHACHAPOLY, "msg": message}
        return envelope(kind, {"noise": noise, **further})

    as_bytes = hub("bytes in place of text before the session", "BytesBeforeSession")
    as_bytes.message_1(envelop=lambda message: first(message.hex()).encode())
    as_bytes.message_3(lambda message: shake(msg=message.hex()).encode())

    named = hub("handshake as the message type", "MessageType")
    named.message_1(envelop=lambda message: first(message.hex(), "handshake"))
    named.message_3(lambda message: envelope("handshake", {"noise": {"msg": message.hex()}}))

    upper = hub("messages in upper-case hex", "UpperCaseHex")
    upper.message_1(envelop=lambda message: first(message.hex().upper()))
    upper.message_3(lambda message: shake(msg=message.hex().upper()))

    versed = hub("message 1 of a client that names its protocol version", "ProtocolVersion")
    versed.message_1(envelop=lambda message: first(message.hex(), max_protocol_version=3)).message_3()

    silent = hub("message 1 of a client that does not name its protocol version", "ProtocolVersion")
    silent.message_1().message_3()

    return [test.greet().test() for test in [as_bytes, named, upper, versed, silent]]


def greetings():
    """The client's first transport message."""

    def hub(comment):
        return Hub(comment, ["Greeting"]).until_handshake_is_done()

    def greeted(comment, payload):
        return hub(comment).greet(envelope("hello", payload)).hear("{}").end()

    further = {**GREETING_PAYLOAD, "session": {"session_id": "s-1", "x": 1.5}, "x-vendor": [{"__proto__": 1}]}
    chunks = frame(2, GREETING[:20].encode()), frame(5, GREETING[20:].encode())
    tests = [
        hub("HELLO in two chunks").receive_frames(*chunks).hear("{}").end(),
        greeted("HELLO with fields that nobody knows", further),
        greeted("HELLO with a session alone", {"session": {}}),
        greeted("HELLO with null for site id and public key", {**GREETING_PAYLOAD, "site_id": None, "pubkey": None}),
        hub("a second HELLO is a message like any other").greet().hear(GREETING).end(),
    ]
    return [test.test() for test in tests]

"""Connections of a hub under test up to `ready` and the client's HELLO: what succeeds, and what is ignored."""

import files
from argon2id import RSA_PEM
from files import AESGCM, CHACHAPOLY
from peer import compact, envelope
from script import (
    ANNOUNCEMENT,
    GREETING,
    GREETING_PAYLOAD,
    KNOWN,
    Hub,
    again,
    delivered,
    dropped,
    frame,
    offer_of,
    shake,
)
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

    relaxed = hub("message 1 whose payload is not canonical", "Message1Payload")
    relaxed.message_1(b'{ "encodings": [], "binarize": false }').message_3()

    asking = hub("message 1 that asks for more than this hub can do", "Message1Payload")
    asking.message_1(
        files.canonical({"binarize": True, "encodings": ["JSON-HEX", "JSON-B64"], "x-vendor": None})
    ).message_3()
    tests = [as_bytes, named, upper, versed, silent, relaxed, asking]
    for what, payload in [
        ("no fields", b"{}"),
        ("no encodings", b'{"binarize":true}'),
        ("no binarize", b'{"encodings":["JSON-HEX"]}'),
        ("null for both fields", b'{"binarize":null,"encodings":null}'),
    ]:
        tests.append(hub(f"message 1 whose payload has {what}", "Message1Default").message_1(payload).message_3())
    for what, payload in [
        ("an object", b'{"binarize":true}'),
        ("what is not JSON", b"{"),
        ("what is not UTF-8", b"\xff"),
    ]:
        tests.append(hub(f"message 3 whose payload is {what}", "Message3Payload").message_1().message_3(payload=payload))
    return [test.greet().test() for test in tests]


def repeats(pattern):
    """Repeated envelopes change nothing, in any state."""

    def hub(comment):
        return Hub(comment, ["Repeat"], pattern).start()

    def in_all_forms(where, *reach):
        script = hub(f"every repeat {where}, as text and as bytes")
        for step in reach:
            step(script)
        return script.ignore(*again(script))

    is_xx = pattern == "XXpsk2"
    offer = envelope("shake", offer_of(["XXpsk2"], [AESGCM]))
    first = hub("before message 1")
    first.ignore(
        GREETING, offer, envelope("hello", first.hello_payload), envelope("shake", first.offer_payload)
    ).message_1()
    tests = [first.message_3() if is_xx else first]
    if is_xx:
        between = hub("while message 3 is awaited").message_1()
        tests.append(between.ignore(GREETING, offer, between.steps[-1]["text"]).message_3())
    last = hub("after ready").message_1()
    repeated = [GREETING, offer, last.steps[-1]["text"]]
    if is_xx:
        repeated.append(last.message_3().steps[-1]["text"])
    repeated.append(repeated[-1].replace('"shake"', '"handshake"'))
    tests.append(last.ignore(*repeated))
    in_between = in_all_forms("before message 1").message_1()
    tests.append(in_between.message_3() if is_xx else in_between)
    if is_xx:
        tests.append(in_all_forms("while message 3 is awaited", Hub.message_1).message_3())
        tests.append(in_all_forms("before the first message", Hub.message_1, Hub.message_3))
    else:
        tests.append(in_all_forms("before the first message", Hub.message_1))
    tests = [test.greet() for test in tests]
    last.ignore(*repeated).hear("{}").send("{}").end()
    ready = hub("every repeat after ready, as text and as bytes").message_1()
    if is_xx:
        ready.message_3()
    ready.greet().ignore(*again(ready)).hear("{}").send("{}").end()
    return [test.test() for test in [*tests, ready]]


def greetings():
    """The client's first transport message. What is wrong with it is reported, and the session goes on."""

    def hub(comment, flag="Greeting"):
        return Hub(comment, [flag]).until_handshake_is_done()

    def told(comment, plaintext, error, *more):
        hello = {"type": "hello", "error": error}
        return hub(comment, "BadGreeting").receive_frame(plaintext, hello, *more).hear("{}").send("{}").end()

    def bad(comment, payload):
        return told(comment, frame(0, envelope("hello", payload).encode()), "bad-hello")

    bus = compact({"msg_type": "bus", "payload": {}})
    without_session = {name: value for name, value in GREETING_PAYLOAD.items() if name != "session"}
    further = {**GREETING_PAYLOAD, "session": {"session_id": "s-1", "x": 1.0}, "x-vendor": [{"__proto__": 1}]}
    hello = {"type": "hello", "payload": compact(GREETING_PAYLOAD)}
    tests = [
        hub("HELLO in two chunks")
        .receive_frame(frame(2, GREETING[:20].encode()))
        .receive_frame(frame(5, GREETING[20:].encode()), hello)
        .hear("{}")
        .end(),
        hub("HELLO with fields that nobody knows").greet(envelope("hello", further)).hear("{}").end(),
        hub("HELLO with a session alone").greet(envelope("hello", {"session": {}})).hear("{}").end(),
        hub("HELLO with null for site id and public key")
        .greet(envelope("hello", {**GREETING_PAYLOAD, "site_id": None, "pubkey": None}))
        .hear("{}")
        .end(),
        hub("a second HELLO is a message like any other").greet().hear(GREETING).end(),
        told("another message", frame(0, bus.encode()), "no-hello", delivered(bus)),
        told("JSON that is no envelope", frame(0, b"[]"), "no-hello", delivered("[]")),
        told("text that is not JSON", frame(0, b"{"), "no-hello", delivered("{")),
        told("a binary message", frame(1, GREETING.encode()), "no-hello", delivered(GREETING.encode())),
        told("JSON that is not UTF-8", frame(0, b"\xff"), "no-hello", dropped("json", 1, "not-utf8")),
        bad("HELLO without a session", without_session),
        bad("HELLO with JSON in a text for a session", {**GREETING_PAYLOAD, "session": '{"session_id":"s-1"}'}),
        bad("HELLO with null for a session", {**GREETING_PAYLOAD, "session": None}),
        bad("HELLO with a number for a site id", {**GREETING_PAYLOAD, "site_id": 1}),
        bad("HELLO with a list for a public key", {**GREETING_PAYLOAD, "pubkey": []}),
    ]
    return [test.test() for test in tests]


def first_messages():
    """Under KKpsk0 a hub is ready when the client's first transport message has opened."""

    def hub(comment, *flags, **options):
        return Hub(comment, ["FirstMessage", *flags], "KKpsk0", **options).start().message_1()

    refused = hub("nothing is sent before the first message", "LocalError").refuse_to_send("{}", "wrong-state")
    chunks = hub("a first message in two chunks: ready comes with the first of them", "Chunks")
    chunks.receive_frame(frame(2, GREETING[:20].encode())).send("{}")
    hello = {"type": "hello", "payload": compact(GREETING_PAYLOAD)}
    tests = [
        refused.refuse_to_send(b"", "wrong-state").greet().send("{}").end(),
        chunks.receive_frame(frame(5, GREETING[20:].encode()), hello).hear("{}").end(),
        hub("a first message that is not HELLO", "BadGreeting")
        .receive_frame(frame(0, b"{}"), {"type": "hello", "error": "no-hello"}, delivered("{}"))
        .send("{}")
        .end(),
        hub("a client that never sends a first message").closed(1006),
    ]
    return [test.test() for test in tests]


def local_errors(pattern):
    if pattern == "KKpsk0":
        return [incomplete_offer("without XXpsk2", pattern, patterns=["KKpsk0"]).test()]
    early = Hub("nothing is sent before ready", ["LocalError"]).start().refuse_to_send("{}", "wrong-state").message_1()
    twice = Hub("a second start is refused", ["LocalError"]).start().refuse("start", "wrong-state").message_1()
    deaf = Hub("nothing is received before start", ["LocalError"]).refuse("receive", "wrong-state", text=ANNOUNCEMENT)
    tests = [
        early.refuse_to_send(b"", "wrong-state").message_3().greet(),
        twice.message_3().refuse("start", "wrong-state").greet(),
        deaf.start().message_1().message_3().greet(),
        incomplete_offer("without ChaChaPoly", pattern, suites=[AESGCM]),
    ]
    return [test.test() for test in tests]


def incomplete_offer(what, pattern, **offered):
    """A hub cannot be created with this offer; then it is created with a complete one."""
    hub = Hub(f"an offer {what} is refused", ["LocalError", "Negotiation"], pattern, client_key=KNOWN)
    hub.steps.insert(0, {**hub.steps[0], **offered, "error": "bad-argument"})
    return hub.connect()

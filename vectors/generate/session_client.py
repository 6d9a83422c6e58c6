"""Connections of a client under test up to `ready`: what succeeds, and what is ignored."""

import argon2id
from files import AESGCM, CHACHAPOLY
from peer import Keys, envelope
from script import HELLO, KNOWN, SITE_ID, Client, offer_of, shake

# Fields that no client knows. All of them are bound into the prologue.
UNKNOWN_FIELDS = [
    ("a field that nobody knows", "UnknownField", {"x-vendor": {"b": [1, "two", None, True], "a": {}}}),
    ("nulls inside a field that nobody knows", "UnknownField", {"x-vendor": {"a": None, "b": [{"c": None}]}}),
    (
        "__proto__ and other names that objects have",
        "PrototypeKey",
        {"__proto__": {"node_id": "hub-2"}, "constructor": 1, "toString": None, "hasOwnProperty": []},
    ),
    ("keys beyond U+FFFF and below", "AstralKey", {"\U0001f600": 1, "\ue000": 2, "\uffff": 3, "\ud7ff": 4, "z": 5}),
    ("escapes, and what needs none", "Escape", {"text": '"\\/\b\f\n\r\t\x01\x7f\u2028<>&\xe9\U0001f600', "\n": "\x00"}),
    ("known names in another case", "UnknownField", {"Node_Id": "hub-2", "NOISE": {}, "Max_Protocol_Version": 2, "PEER": 1}),
    ("numbers that every library writes alike", "PlainNumber", {"uptime": 1764000000000, "load": 0.5, "depth": -12.25}),
    ("keys out of order, at every depth", "KeyOrder", {"z": {"10": 1, "9": [{"b": 1, "a": 2}]}, "Z": 2, "": 3, "_": 4}),
]
ELSEWHERE = {"hub-2": Keys("another hub").hub_public.hex()}  # the pin of another hub
PEM = "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VuAyEA\n-----END PUBLIC KEY-----\n"
NODE_IDS = [
    ("of several lines", PEM),
    ("beyond ASCII", "h\xfcb \U0001f3e0"),
    ("with its umlaut decomposed", "hu\u0308b"),
    ("__proto__", "__proto__"),
    ("as long as the PEM of an RSA key of 4096 bits", argon2id.RSA_PEM),
    ("with U+0000 in it", "hub\0one"),
    ("with U+0000 at its end", "hub-1\0"),
    ("of several lines that end with CR LF", PEM.replace("\n", "\r\n")),
]


def connections(pattern, suite):
    """A first contact, by XXpsk2, or a reconnect, by KKpsk0."""
    name, flag = ("a first contact", "FirstContact") if pattern == "XXpsk2" else ("a reconnect", "Reconnect")

    def client(comment, *flags, **options):
        return Client(f"{name}{comment}", [flag, *flags], pattern, suite, **options)

    tests = [
        client(", where the PSK is asked for", has_psk=False)
        .connect()
        .hear("{}")
        .send('{"msg_type":"bus"}')
        .hear(b"\1")
        .send(b"\2")
        .end(),
        client(" with an encoding in message 2", "Message2Payload").connect(b'{"encoding": "JSON-HEX"}'),
        client(" with an empty encoding in message 2", "Message2Payload").connect(b'{"encoding": ""}'),
        client(" with an empty payload in message 2", "Message2Payload").connect(b""),
        client(" over MQTT, where the client speaks first", "Mqtt").step("start").connect(),
        client(" with an empty site id", "SiteId", site_id="").connect().hear("{}").end(),
        client(" with blanks around its site id", "SiteId", site_id=" the caf\xe9 ").connect().end(),
        client(" with a session that has no id", "SessionId", session={"site_id": SITE_ID}).connect().hear("{}").end(),
    ]
    return [test.test() for test in tests]


def preferences():
    """If both sides support both suites, AESGCM is chosen, because this client prefers it."""
    offer = offer_of(["XXpsk2", "KKpsk0"], [CHACHAPOLY, AESGCM])
    suites = {"suite": AESGCM, "suites": [AESGCM, CHACHAPOLY]}
    return [
        Client("the client's order of suites counts, not the hub's", ["Negotiation"], offer=offer, **suites)
        .connect()
        .test()
    ]


def choices():
    """XXpsk2 with ChaChaPoly, chosen from several offers."""

    def client(comment, *flags, patterns_offered=("XXpsk2", "KKpsk0"), suites_offered=(CHACHAPOLY,), **options):
        offer = offer_of(list(patterns_offered), list(suites_offered))
        return Client(comment, ["Negotiation", *flags], offer=offer, **options)

    tests = [
        client(
            "patterns and suites that nobody knows are offered too",
            patterns_offered=["NNpsk0", "XXpsk2"],
            suites_offered=["448_ChaChaPoly_BLAKE2b", CHACHAPOLY],
        ),
        client(
            "the client's order of suites counts, not the hub's",
            suites=[CHACHAPOLY, AESGCM],
            suites_offered=[AESGCM, CHACHAPOLY],
        ),
        client("KKpsk0 is offered to a client without a pin"),
        client(
            "KKpsk0 is offered to a client with a pin for another hub",
            other_pins=ELSEWHERE,
        ),
        client(
            "KKpsk0 is offered to a client with a pin for a hub whose node id is the beginning of this one",
            other_pins={"hub": ELSEWHERE["hub-2"]},
        ),
        client("KKpsk0 is not offered to a client with a pin", "PinEnforced", pin=KNOWN, patterns_offered=["XXpsk2"]),
        client(
            "KKpsk0 is offered to a client with a pin that was told to use XXpsk2",
            "PinEnforced",
            pin=KNOWN,
            patterns=["XXpsk2"],
        ),
    ]
    return [test.connect().test() for test in tests]


def bound_fields(pattern):
    """Message 1 shows whether everything in the hub's payloads was bound."""

    def client(comment, flag, **options):
        return Client(comment, [flag], pattern, **options)

    def offer(**fields):
        return offer_of(["XXpsk2", "KKpsk0"], [CHACHAPOLY], **fields)

    tests = []
    for what, flag, fields in UNKNOWN_FIELDS:
        tests.append(client(f"HELLO with {what}", flag, hello={**HELLO, **fields}).until_message_1())
        tests.append(client(f"HANDSHAKE with {what}", flag, offer=offer(**fields)).until_message_1())
    noise = {**offer()["noise"], "x-vendor": {"b": 1.5, "a": []}}
    names = [f"XXpsk{n}" for n in range(3, 43)], [f"25519_Cipher{n}_SHA256" for n in range(40)]
    many = offer_of([*names[0], "XXpsk2", "KKpsk0"], [*names[1], CHACHAPOLY])
    tests += [
        client("HANDSHAKE with more in its noise object", "UnknownField", offer=offer(noise=noise)).until_message_1(),
        client("HANDSHAKE with 40 names before ours", "UnknownField", offer=many).until_message_1(),
    ]
    older = {
        "handshake": False,
        "min_protocol_version": 0,
        "preshared_key": False,
        "password": True,
        "crypto_required": True,
    }
    tests.append(client("HANDSHAKE of an older hub", "UnknownField", offer=offer(**older)).connect())
    for what, node_id in NODE_IDS:
        tests.append(
            client(f"a node id {what}", "NodeId", hello={**HELLO, "node_id": node_id}, has_psk=False).connect()
        )
    return [test.test() for test in tests]


def forms():
    """Several forms of the same message of a hub."""
    as_bytes = Client("bytes in place of text before the session", ["BytesBeforeSession"])
    as_bytes.receive(envelope("hello", HELLO).encode())
    as_bytes.receive(envelope("shake", as_bytes.offer_payload).encode())
    as_bytes.answer(envelop=lambda message: shake(msg=message.hex()).encode()).hear("{}").end()

    named = Client("handshake as the message type", ["MessageType"]).hello()
    named.receive(envelope("handshake", named.offer_payload))
    named.answer(envelop=lambda message: envelope("handshake", {"noise": {"msg": message.hex()}}))

    upper = Client("message 2 in upper-case hex", ["UpperCaseHex"]).until_message_1()
    upper.answer(envelop=lambda message: shake(msg=message.hex().upper()))

    payload = b'{"x":[],"encoding":"J64"}'
    further = Client("message 2 that names an encoding, and a field that nobody knows", ["Message2Payload"]).connect(payload)
    null = Client("message 2 with null for an encoding", ["Message2Payload"]).connect(b'{"encoding":null}')
    return [test.test() for test in [as_bytes, named, upper, further, null]]


def stored_psks():
    """A stored PSK belongs to a node id as it came: here the client has to ask."""
    other = {"hub-1": Keys("another hub").psk.hex()}
    client = Client("the PSK of a hub whose name differs in case", ["StoredPsk"], hello={**HELLO, "node_id": "HUB-1"}, psks=other)
    return [client.hello().offer().psk().answer().hear("{}").test()]


def suspect_pins(pattern):
    """A pin with which a KKpsk0 has failed: XXpsk2 confirms it, or shows that it is stale."""

    def client(comment, **options):
        offer = offer_of(["XXpsk2", "KKpsk0"], [CHACHAPOLY])
        return Client(f"a suspect pin, {comment}", ["KkFailure"], pattern, offer=offer, **options)

    mine, other = {"suspects": ["hub-1"], "pin": KNOWN}, {"suspects": ["hub-1"], "pin": Keys("another hub").hub_public}
    tests = [client("of another hub", suspects=["hub-2"], other_pins=ELSEWHERE)] if pattern == "KKpsk0" else [
        client("the same key", **mine),
        client("the same key, and the PSK is asked for", **mine, has_psk=False),
        client("the same key, where the pin is to be kept", **mine, onKkFailure="keep-pin"),
        client("the same key, where only pinned hubs are trusted", **mine, trust="pinned-only"),
        client("another key", **other),
        client("another key, and the PSK is asked for", **other, has_psk=False),
        client("another key, where pins are replaced", **other, onKkFailure="replace-pin"),
        client("another key, where another hub is pinned too", **other, other_pins=ELSEWHERE),
        client("another key, and a fresh static key", **other, staticKeyIsFresh=True),
    ]
    return [test.connect().hear("{}").test() for test in tests]

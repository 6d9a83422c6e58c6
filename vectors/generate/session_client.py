"""Connections of a client under test up to `ready`: what succeeds, and what is ignored."""

import argon2id
from files import AESGCM, CHACHAPOLY
from peer import Keys, envelope
from session_client_failures import padded
from script import ANNOUNCEMENT, HELLO, KNOWN, NODE_ID, SITE_ID, Client, again, offer_of, shake, transmit

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
    ("floats", "NumberToken", {"one": 1.0, "zero": -0.0, "tenth": 0.1, "large": 1e22, "small": 5e-324}),
    ("an integer of 20 digits", "NumberToken", {"serial": 12345678901234567890}),
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
        client(" with a stored PSK", "StoredPsk").connect().hear("{}").end(),
        client(" with an encoding in message 2", "Message2Payload").connect(b'{"encoding": "JSON-HEX"}', "JSON-HEX"),
        client(" with an empty encoding in message 2", "Message2Payload").connect(b'{"encoding": ""}', ""),
        client(" with an empty payload in message 2", "Message2Payload").connect(b""),
        client(" with a payload of 64 bytes in message 2", "Message2Length").connect(padded(64)),
        client(" with a hub whose node id has 4096 bytes", "NodeIdLength", hello={**HELLO, "node_id": "h" * 4096}, has_psk=False)
        .until_message_1()
        .answer(),
        client(" over MQTT, where the client speaks first", "Mqtt").step("start", transmit(ANNOUNCEMENT)).connect(),
        client(" with an empty site id", "SiteId", site_id="").connect().hear("{}").end(),
        client(" with blanks around its site id", "SiteId", site_id=" the caf\xe9 ").connect().end(),
        client(" with a session that has no id", "SessionId", session={"site_id": SITE_ID}).connect().hear("{}").end(),
        client(" without a session of its own", "DefaultSession", session=None).connect().hear("{}").end(),
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
    noise = {**offer()["noise"], "x-vendor": {"b": 1.0, "a": []}}
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


def repeats(pattern):
    """Repeated envelopes change nothing, in any state."""

    def client(comment, *flags, **options):
        return Client(comment, ["Repeat", *flags], pattern, **options)

    def in_all_forms(where, **options):
        return client(f"every repeat {where}, as text and as bytes", **options)

    def before(script):
        """HELLO and HANDSHAKE again, unchanged and changed."""
        hello, offer = envelope("hello", script.hello_payload), envelope("shake", script.offer_payload)
        return [hello, offer, other_hello, envelope("shake", offer_of(["XXpsk2"], [AESGCM]))]

    other_hello = envelope("hello", {**HELLO, "node_id": "hub-2"})
    waiting = client("while the PSK is awaited", has_psk=False).hello().offer()
    waiting.ignore(*before(waiting), shake(msg=bytes(96).hex())).psk().answer().hear("{}").end()
    sent = client("while message 2 is awaited").until_message_1()
    sent.ignore(*before(sent)).answer().hear("{}").end()
    ready = client("after ready").connect()
    message_2 = ready.steps[-1]["text"]
    ready.ignore(*before(ready), message_2, message_2.replace('"shake"', '"handshake"')).hear("{}").send("{}").end()
    latest = client("of several HELLOs before the HANDSHAKE the latest counts", "LatestHello", has_psk=False)
    latest.ignore(other_hello, envelope("hello", {**HELLO, "peer": "hub::2"})).hello().hello().offer().psk().answer()
    of_one = client("of several HELLOs with one node id the latest counts", "LatestHello", has_psk=False)
    of_one.ignore(envelope("hello", {**HELLO, "peer": "hub::2"})).hello().offer().psk().answer()
    psk = client("a PSK that comes again, or late", "LatePsk", has_psk=False).hello().offer().psk()
    late = Keys("late").psk.hex()
    psk.step("psk", psk=late).answer().step("psk", psk=late).hear("{}").send("{}").end().step("psk", psk=late)
    all_forms = [
        in_all_forms("while the PSK is awaited", has_psk=False).hello().offer(),
        in_all_forms("while message 2 is awaited").until_message_1(),
        in_all_forms("after ready").connect(),
    ]
    for script in all_forms:
        script.ignore(*again(script))
    all_forms[0].psk().answer()
    all_forms[1].answer()
    for script in all_forms:
        script.hear("{}").send("{}").end()
    return [test.test() for test in [waiting, sent, ready, latest, of_one, psk, *all_forms]]


def forms():
    """Several forms of the same message of a hub."""
    as_bytes = Client("bytes in place of text before the session", ["BytesBeforeSession"])
    as_bytes.receive(envelope("hello", HELLO).encode())
    as_bytes.receive(envelope("shake", as_bytes.offer_payload).encode(), as_bytes.message_1())
    as_bytes.answer(envelop=lambda message: shake(msg=message.hex()).encode()).hear("{}").end()

    named = Client("handshake as the message type", ["MessageType"]).hello()
    named.receive(envelope("handshake", named.offer_payload), named.message_1())
    named.answer(envelop=lambda message: envelope("handshake", {"noise": {"msg": message.hex()}}))

    upper = Client("message 2 in upper-case hex", ["UpperCaseHex"]).until_message_1()
    upper.answer(envelop=lambda message: shake(msg=message.hex().upper()))

    wordy = Client("message 2 that repeats the pattern and the suite", ["UnknownField"]).until_message_1()
    wordy.answer(envelop=lambda message: shake(pattern="XXpsk2", suite=CHACHAPOLY, msg=message.hex()))

    payload = b'{"x-vendor":[1.0],"encoding":"JSON-B64"}'
    further = Client("message 2 that names an encoding, and a field that nobody knows", ["Message2Payload"]).connect(payload, "JSON-B64")
    null = Client("message 2 with null for an encoding", ["Message2Payload"]).connect(b'{"encoding":null}')
    return [test.test() for test in [as_bytes, named, upper, wordy, further, null]]


def trust(pattern):
    """Which hubs a client trusts, and what it says about one that it does not know."""

    def client(comment, **options):
        return Client(comment, ["NewHub"], pattern, **options)

    if pattern == "KKpsk0":
        tests = [
            client("a pinned hub, where only pinned hubs are trusted", trust="pinned-only"),
            client("a pinned hub, where others are pinned too", other_pins=ELSEWHERE),
        ]
    else:
        tests = [
            client("a hub that is not pinned, where first use is trusted", trust="first-use"),
            client("a hub that is not pinned, where others are", other_pins=ELSEWHERE),
            client("a hub that is not pinned, where others are, and the PSK is asked for", other_pins=ELSEWHERE, has_psk=False),
            client("a hub that is not pinned, where none is"),
            client(
                "a hub that is not pinned, where one is whose name differs after U+0000",
                hello={**HELLO, "node_id": "hub\0one"},
                other_pins={"hub\0two": ELSEWHERE["hub-2"]},
            ),
            client(
                "a hub that is not pinned, where one is whose name differs in case",
                other_pins={"HUB-1": ELSEWHERE["hub-2"]},
            ),
            client(
                "a hub that is not pinned, where one is whose name has its umlaut composed",
                hello={**HELLO, "node_id": "hu\u0308b"},
                other_pins={"h\xfcb": ELSEWHERE["hub-2"]},
            ),
            client("a pinned hub that does not offer KKpsk0, where others are pinned too", other_pins=ELSEWHERE, pin=KNOWN),
            client(
                "a pinned hub that does not offer KKpsk0, where only pinned hubs are trusted",
                trust="pinned-only",
                pin=KNOWN,
            ),
        ]
    return [test.connect().hear("{}").test() for test in [*tests, *fresh_keys(pattern), *suspect_pins(pattern)]]


def suspect_pins(pattern):
    """A pin with which a KKpsk0 has failed: XXpsk2 confirms it, or shows that it is stale."""

    def client(comment, **options):
        offer = offer_of(["XXpsk2", "KKpsk0"], [CHACHAPOLY])
        return Client(f"a suspect pin, {comment}", ["KkFailure"], pattern, offer=offer, **options)

    if pattern == "KKpsk0":
        return [client("of another hub", suspects=["hub-2"], other_pins=ELSEWHERE)]
    mine, other = {"suspects": ["hub-1"], "pin": KNOWN}, {"suspects": ["hub-1"], "pin": Keys("another hub").hub_public}
    return [
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


def stored_psks():
    """A stored PSK belongs to a node id as it came."""

    def client(comment, node_id, **options):
        return Client(comment, ["StoredPsk"], hello={**HELLO, "node_id": node_id}, **options)

    def of_another(node_id):
        return {"has_psk": False, "other_psks": {node_id: Keys("another hub").psk.hex()}}

    tests = [
        client("a stored PSK of a hub whose name has capital letters", "HUB-1"),
        client("a stored PSK of a hub whose name has its umlaut decomposed", "hu\u0308b"),
        client("a stored PSK of another hub", "hub-1", **of_another("hub-2")),
        client("a stored PSK of another hub, whose name differs in case", "HUB-1", **of_another("hub-1")),
        client("a stored PSK of another hub, whose name differs in form", "hu\u0308b", **of_another("h\xfcb")),
        client("a stored PSK of another hub, whose name differs after U+0000", "hub\0one", **of_another("hub\0two")),
    ]
    return [test.connect().hear("{}").test() for test in tests]


def fresh_keys(pattern):
    """A static key that no hub has accepted yet, shown to a hub that is pinned, or to one that is not."""

    def client(comment, **options):
        return Client(f"a fresh static key, {comment}", ["FreshKey"], pattern, staticKeyIsFresh=True, **options)

    if pattern == "KKpsk0":
        return [client("and a pinned hub")]
    return [
        client("and a hub that is not pinned"),
        client("and a pinned hub that does not offer KKpsk0", pin=KNOWN),
        client("and a pinned hub that does not offer KKpsk0, and the PSK is asked for", pin=KNOWN, has_psk=False),
    ]


def local_errors():
    early = Client("nothing is sent before ready", ["LocalError"]).refuse_to_send("{}", "wrong-state").hello()
    early.refuse_to_send("{}", "wrong-state").offer().refuse_to_send(b"", "wrong-state").answer().hear("{}").end()
    short = Client("a PSK of 31 bytes is refused, and then the right one taken", ["LocalError"], has_psk=False)
    short.hello().offer().refuse("psk", "bad-length", psk=bytes(31).hex()).psk().answer()
    hasty = Client("a PSK before it was asked for is refused", ["LocalError"], has_psk=False)
    hasty.refuse("psk", "wrong-state", psk=hasty.keys.psk.hex()).hello()
    hasty.refuse("psk", "wrong-state", psk=hasty.keys.psk.hex()).offer().psk().answer()
    twice = Client("a second start is refused", ["LocalError", "Mqtt"]).step("start", transmit(ANNOUNCEMENT))
    twice.refuse("start", "wrong-state").connect().refuse("start", "wrong-state").hear("{}").end()
    late = Client("a start after the hub spoke is refused", ["LocalError", "Mqtt"]).hello()
    late.refuse("start", "wrong-state").offer().answer()
    keys = [
        damaged_key("a pin of 31 bytes is refused, and then the right one used", "pins"),
        damaged_key("a stored PSK of 31 bytes is refused, and then the right one used", "psks"),
    ]
    return [test.test() for test in [early, short, hasty, twice, late, *keys]]


def damaged_key(comment, name):
    """A client cannot be created with this key; then it is created with the right one."""
    client = Client(comment, ["LocalError"], pin=KNOWN)
    client.steps.insert(0, {**client.steps[0], name: {NODE_ID: bytes(31).hex()}, "error": "bad-argument"})
    return client.connect()

"""Prologues: what the hub sent in the clear, in the form that is mixed into the handshake hash."""

import json

import files
from files import AESGCM, CHACHAPOLY, canonical, group, invalid, valid

NOTES = {
    "ControlEscape": "A node id of several lines. A failure most likely trims it, or turns its line feeds into others.",
    "DuplicateKey": "A key twice in one payload. Whoever accepts it may bind another value than the hub did.",
    "KeyOrder": (
        "Keys are sorted by code point within each payload. A failure most likely keeps the order in which they came, "
        "or sorts by UTF-16 unit."
    ),
    "LoneSurrogate": "A text without UTF-8 form. Whoever accepts it binds U+FFFD in its place.",
    "NotJson": "A payload that is no JSON. Whoever accepts it has a parser with extensions.",
    "NumberToken": (
        "A number is bound as the token it came as. A failure most likely read 1.0, or an integer beyond 2^53, as a "
        "float."
    ),
    "PartOrder": (
        "The HELLO's payload, the HANDSHAKE's payload, the protocol name, with nothing between them. A failure most "
        "likely has another order, a separator, whole envelopes, or another name."
    ),
    "PlainNumber": (
        "Integers within 2^53 - 1 and plain fractions, which every JSON library writes alike. A failure most likely reads "
        "them as integers of 32 bits."
    ),
    "PrototypeKey": "Keys that objects of JavaScript have already. A failure most likely lost them while reading.",
    "UnknownFields": (
        "All that the hub sent is bound, what this protocol has no use for included. A failure most likely builds the "
        "prologue from the fields that it knows."
    ),
    "Whitespace": "White space in a payload is not bound. A failure most likely binds the text as it came.",
}

REFUSALS = {"bad-json": "NotJson", "duplicate-key": "DuplicateKey", "lone-surrogate": "LoneSurrogate"}
NAMES = [f"Noise_{pattern}_{suite}" for suite in files.SUITES for pattern in files.PATTERNS]
NAME = NAMES[0]
HELLO = {"node_id": "hub"}
OFFER = {"max_protocol_version": 3, "noise": {"patterns": ["XXpsk2"], "suites": [CHACHAPOLY]}}
PEM = "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A\n-----END PUBLIC KEY-----\n"
STRANGE_HELLO = {"node_id": "h\xfcb \U0001f3e0", "\ue000": 1.0, "\U0001f600": 12345678901234567890, "__proto__": None}
STRANGE_OFFER = {
    "max_protocol_version": 3,
    "noise": {"suites": [CHACHAPOLY, AESGCM], "patterns": ["XXpsk2", "KKpsk0"]},
    "x": 0.10,
}
OTHER_SCRIPTS = {"node_id": "ハブ\U0001f3e0", "ハ": 1, "\U0001f3e0": 2, "\uf8ff": 3}
TODAY = {"pubkey": "-----BEGIN PGP PUBLIC KEY BLOCK-----\n", "peer": "pos::127.0.0.1", "node_id": PEM}
TODAY_OFFER = {
    "handshake": True,
    "binarize": True,
    "preshared_key": False,
    "password": True,
    "crypto_required": True,
    "min_protocol_version": 0,
    "max_protocol_version": 3,
    "encodings": ["JSON-B64", "JSON-HEX"],
    "ciphers": ["AES-GCM", "CHACHA20-POLY1305"],
    "noise": {"patterns": ["XXpsk2", "KKpsk0"], "suites": [CHACHAPOLY, AESGCM]},
}


def prologue(comment, flags, hello, offer, name=NAME, **layout):
    """A test with both payloads as json.dumps writes them."""
    return from_texts(comment, flags, json.dumps(hello, **layout), json.dumps(offer, **layout), name)


def from_texts(comment, flags, hello, offer, name=NAME):
    expected = canonical(json.loads(hello)) + canonical(json.loads(offer)) + name.encode()
    return valid(comment, flags, hello=hello, handshake=offer, protocolName=name, prologue=expected.hex())


def by_hand(comment, flags, hello, offer, expected):
    return valid(comment, flags, hello=hello, handshake=offer, protocolName=NAME, prologue=expected.encode().hex())


def refused(comment, error, hello=json.dumps(HELLO), offer=json.dumps(OFFER)):
    return invalid(comment, [REFUSALS[error]], error, hello=hello, handshake=offer, protocolName=NAME)


def build():
    made = [prologue(f"the least that a hub sends, {name}", ["PartOrder"], HELLO, OFFER, name) for name in NAMES]
    made += [
        prologue(f"strange fields, {name}", ["UnknownFields", "KeyOrder"], STRANGE_HELLO, STRANGE_OFFER, name)
        for name in NAMES
    ]
    made += [
        prologue("the payloads swapped: the order is of messages, not of keys", ["PartOrder"], OFFER, HELLO),
        prologue("two empty payloads", ["PartOrder"], {}, {}),
        prologue("the same payload twice", ["PartOrder"], HELLO, HELLO),
        prologue("a name of another pattern", ["PartOrder"], HELLO, OFFER, f"Noise_NN_{CHACHAPOLY}"),
        prologue("what hubs send today", ["UnknownFields", "ControlEscape"], TODAY, TODAY_OFFER),
        prologue("the same, indented", ["Whitespace"], TODAY, TODAY_OFFER, indent=2),
        prologue("the same, without any white space", ["Whitespace"], TODAY, TODAY_OFFER, separators=(",", ":")),
        prologue("the same, with its keys sorted already", ["KeyOrder"], TODAY, TODAY_OFFER, sort_keys=True),
        prologue("keys of other scripts, escaped", ["KeyOrder"], OTHER_SCRIPTS, OFFER),
        prologue("the same, literal", ["KeyOrder"], OTHER_SCRIPTS, OFFER, ensure_ascii=False),
        prologue("a field of null, which is not an absent one", ["UnknownFields"], {**HELLO, "peer": None}, OFFER),
        prologue("fields that are empty", ["UnknownFields"], {**HELLO, "pubkey": "", "load": 0}, {**OFFER, "binarize": False, "encodings": [], "x": {}}),
        prologue("a null inside a field of the HELLO", ["UnknownFields"], {**HELLO, "peer": {"name": None, "port": 1}}, OFFER),
        prologue("nulls inside a list of the HANDSHAKE", ["UnknownFields"], HELLO, {**OFFER, "x": [None, {"y": None}]}),
        prologue("a field named as one of the envelope", ["UnknownFields"], {**HELLO, "msg_type": "hello"}, OFFER),
        prologue("the version as a float", ["NumberToken"], HELLO, {**OFFER, "max_protocol_version": 3.0}),
        prologue("an integer beyond 32 bits, and a fraction", ["PlainNumber"], {**HELLO, "since": 1764000000000}, {**OFFER, "load": 0.5}),
        prologue("an integer of 20 digits", ["NumberToken"], {**HELLO, "since": 12345678901234567890}, OFFER),
        prologue("an integer just above 2^53", ["NumberToken"], {**HELLO, "since": 2**53 + 1}, OFFER),
        prologue("floats", ["NumberToken"], {**HELLO, "load": [0.5, 1.0, -0.0, 1e22, 1e-7]}, OFFER),
        prologue("__proto__ in the HELLO", ["PrototypeKey"], {**HELLO, "__proto__": {"node_id": "x"}}, OFFER),
        prologue("__proto__ in the HANDSHAKE", ["PrototypeKey"], HELLO, {**OFFER, "__proto__": []}),
        prologue("constructor and toString", ["PrototypeKey"], {**HELLO, "constructor": 1}, {**OFFER, "toString": 1}),
        prologue("70,000 bytes of HELLO", ["UnknownFields"], {**HELLO, "x": "h" * 70_000}, OFFER),
        prologue("a HANDSHAKE of 70,000 bytes", ["UnknownFields"], HELLO, {**OFFER, "x": "h" * 70_000}),
        prologue("__proto__ as node id", ["PrototypeKey"], {"node_id": "__proto__"}, OFFER),
    ]
    tokens = [
        by_hand("tokens that Python would rewrite", ["NumberToken", "KeyOrder"],
                '{"node_id": "hub", "load": [1E5, 0.10, -0, 1e400]}', '{"noise": {}, "max_protocol_version": 3.00}',
                '{"load":[1E5,0.10,-0,1e400],"node_id":"hub"}{"max_protocol_version":3.00,"noise":{}}' + NAME),
        by_hand("a version with an exponent", ["NumberToken"], '{"node_id":"hub"}', '{"max_protocol_version":3e0}',
                '{"node_id":"hub"}{"max_protocol_version":3e0}' + NAME),
    ]
    refusals = [
        refused("a key twice in the HELLO", "duplicate-key", hello='{"node_id": "hub", "node_id": "hub"}'),
        refused("a key twice in the HANDSHAKE, once escaped", "duplicate-key",
                offer=r'{"max_protocol_version": 3, "max_protocol_\u0076ersion": 2}'),
        refused("NaN in the HELLO", "bad-json", hello='{"node_id": "hub", "load": NaN}'),
        refused("NaN in the HANDSHAKE", "bad-json", offer='{"max_protocol_version": NaN}'),
        refused("a comma too many in the HANDSHAKE", "bad-json", offer='{"max_protocol_version": 3,}'),
        refused("text after the HELLO", "bad-json", hello='{"node_id": "hub"}{}'),
        refused("no HANDSHAKE", "bad-json", offer=""),
        refused("half a surrogate pair in the HELLO", "lone-surrogate", hello=r'{"node_id": "\ud83c"}'),
        refused("half a surrogate pair as key in the HANDSHAKE", "lone-surrogate", offer=r'{"\udfe0": 3}'),
    ]
    groups = [
        group("Prologue", [files.PYTHON_JSON], made),
        group("Prologue", [files.SPECIFICATION], tokens + refusals),
    ]
    description = "The prologue of the handshake, from the payloads of HELLO and HANDSHAKE."
    files.write("prologue", description, NOTES, groups, ["DuplicateKey", "LoneSurrogate", "NumberToken"])

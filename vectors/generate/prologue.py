"""Prologues: what the hub sent in the clear, in the form that is mixed into the handshake hash."""

import json

import files
from files import AESGCM, CHACHAPOLY, canonical, group, invalid, valid

NOTES = {
    "ControlEscape": "A node id of several lines. A failure most likely trims it, or turns its line feeds into others.",
    "KeyOrder": (
        "Keys are sorted by code point within each payload. A failure most likely keeps the order in which they came, "
        "or sorts by UTF-16 unit."
    ),
    "NotJson": "A payload that is no JSON. Whoever accepts it has a parser with extensions.",
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
STRANGE_HELLO = {"node_id": "h\xfcb \U0001f3e0", "\ue000": 1.5, "\U0001f600": 1234567890, "__proto__": None}
STRANGE_OFFER = {
    "max_protocol_version": 3,
    "noise": {"suites": [CHACHAPOLY, AESGCM], "patterns": ["XXpsk2", "KKpsk0"]},
    "x": 0.25,
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
        prologue("an integer beyond 32 bits, and a fraction", ["PlainNumber"], {**HELLO, "since": 1764000000000}, {**OFFER, "load": 0.5}),
        prologue("__proto__ in the HELLO", ["PrototypeKey"], {**HELLO, "__proto__": {"node_id": "x"}}, OFFER),
        prologue("__proto__ in the HANDSHAKE", ["PrototypeKey"], HELLO, {**OFFER, "__proto__": []}),
        prologue("constructor and toString", ["PrototypeKey"], {**HELLO, "constructor": 1}, {**OFFER, "toString": 1}),
        prologue("70,000 bytes of HELLO", ["UnknownFields"], {**HELLO, "x": "h" * 70_000}, OFFER),
        prologue("a HANDSHAKE of 70,000 bytes", ["UnknownFields"], HELLO, {**OFFER, "x": "h" * 70_000}),
        prologue("__proto__ as node id", ["PrototypeKey"], {"node_id": "__proto__"}, OFFER),
    ]
    refusals = [
        refused("NaN in the HELLO", "bad-json", hello='{"node_id": "hub", "load": NaN}'),
        refused("NaN in the HANDSHAKE", "bad-json", offer='{"max_protocol_version": NaN}'),
        refused("a comma too many in the HANDSHAKE", "bad-json", offer='{"max_protocol_version": 3,}'),
        refused("text after the HELLO", "bad-json", hello='{"node_id": "hub"}{}'),
        refused("no HANDSHAKE", "bad-json", offer=""),
    ]
    groups = [
        group("Prologue", [files.PYTHON_JSON], made),
        group("Prologue", [files.SPECIFICATION], refusals),
    ]
    description = "The prologue of the handshake, from the payloads of HELLO and HANDSHAKE."
    files.write("prologue", description, NOTES, groups)

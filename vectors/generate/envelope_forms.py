"""Forms of an envelope, valid and invalid: functions of type and payload that return a string or bytes."""

import json

from files import CHACHAPOLY
from peer import compact, envelope


def fields(**fields):
    """The two fields that matter, or replacements for them, and others."""
    return lambda kind, payload: compact({"msg_type": kind, "payload": payload, **fields})


def type_as(form):
    return lambda kind, payload: compact({"msg_type": form(kind), "payload": payload})


def payload_with(**fields):
    return lambda kind, payload: envelope(kind, {**payload, **fields})


def payload_inside(name):
    return lambda kind, payload: envelope(kind, {name: payload})


def payload_without(name):
    return lambda kind, payload: envelope(kind, without(payload, name))


def noise_with(**fields):
    return lambda kind, payload: envelope(kind, {**payload, "noise": {**payload["noise"], **fields}})


def noise_without(*names):
    return lambda kind, payload: envelope(kind, {**payload, "noise": without(payload["noise"], *names)})


def message_as(form):
    """Another value for the Noise message."""
    return lambda kind, payload: noise_with(msg=form(payload["noise"]["msg"]))(kind, payload)


def version(token):
    """Another token in place of the version."""
    return whole(lambda text: text.replace('"max_protocol_version":3', f'"max_protocol_version":{token}'))


def version_added(token):
    return whole(lambda text: text.replace('"payload":{', f'"payload":{{"max_protocol_version":{token},'))


def whole(form):
    """A change to the text of an ordinary envelope."""
    return lambda kind, payload: form(envelope(kind, payload))


def further(json_text):
    """One more field, given as JSON text."""
    return whole(lambda text: f"{text[:-1]},{json_text}}}")


def as_bytes(text_of_field):
    return whole(lambda text: text[:-1].encode() + b',"x":"' + text_of_field + b'"}')


def escaped(name):
    return "".join(f"\\u{ord(letter):04x}" for letter in name)


def with_escapes(kind, payload):
    return f'{{"{escaped("msg_type")}":"{escaped(kind)}","{escaped("payload")}":{compact(payload)}}}'


def without(fields, *names):
    return {name: value for name, value in fields.items() if name not in names}


GOOD_FORMS = [
    ("no field but the two that count", fields()),
    ("no metadata", lambda kind, payload: compact(without(json.loads(envelope(kind, payload)), "metadata"))),
    ("no route", lambda kind, payload: compact(without(json.loads(envelope(kind, payload)), "route"))),
    ("the payload before the type", lambda kind, payload: compact({"payload": payload, "msg_type": kind})),
    ("other types in the fields that are not read", fields(metadata=None, route={}, node=[1], source_peer=False)),
    ("metadata that is a list", fields(metadata=[], route=[])),
    ("fields that nobody knows", fields(**{"x-vendor": {"a": [1.0]}, "msg_id": 7, "__proto__": {"payload": 1}})),
    ("known names in another case, after the right ones", fields(MSG_TYPE="bus", Payload={})),
    ("white space wherever JSON allows it", whole(lambda text: f"\r\n\t {json.dumps(json.loads(text), indent=1)} \n")),
    ("names and type in escapes", with_escapes),
]
BAD_FORMS = [
    ("no characters", "NotJson", "bad-json", whole(lambda text: "")),
    ("text that ends too early", "NotJson", "bad-json", whole(lambda text: text[:-1])),
    ("a second value", "NotJson", "bad-json", whole(lambda text: text + "{}")),
    ("a comma after the last field", "NotJson", "bad-json", whole(lambda text: text[:-1] + ",}")),
    ("single quotes", "NotJson", "bad-json", whole(lambda text: text.replace('"', "'"))),
    ("a comment", "NotJson", "bad-json", whole(lambda text: text + "// JSON?")),
    ("NaN", "NotJson", "bad-json", further('"x":NaN')),
    ("a list around the envelope", "NotAnObject", "bad-envelope", whole(lambda text: f"[{text}]")),
    ("the envelope as JSON in a text", "NotAnObject", "bad-envelope", whole(compact)),
    ("null", "NotAnObject", "bad-envelope", whole(lambda text: "null")),
    ("a number", "NotAnObject", "bad-envelope", whole(lambda text: "3")),
    ("no type", "MessageType", "bad-envelope", lambda kind, payload: compact({"payload": payload})),
    ("null for a type", "MessageType", "bad-envelope", fields(msg_type=None)),
    ("a number for a type", "MessageType", "bad-envelope", fields(msg_type=1)),
    ("the type in a list", "MessageType", "bad-envelope", type_as(lambda kind: [kind])),
    ("the type in capitals", "MessageType", "unexpected-message", type_as(str.upper)),
    ("the type with a blank after it", "MessageType", "unexpected-message", type_as(lambda kind: f"{kind} ")),
    ("the type with U+0000 after it", "MessageType", "unexpected-message", type_as(lambda kind: f"{kind}\0")),
    ("another type", "MessageType", "unexpected-message", fields(msg_type="bus")),
    ("a byte that is never in UTF-8", "BadUtf8", "bad-utf8", as_bytes(b"\xff")),
    ("an overlong form in UTF-8", "BadUtf8", "bad-utf8", as_bytes(b"\xc0\xaf")),
    ("a surrogate in UTF-8", "BadUtf8", "bad-utf8", as_bytes(b"\xed\xa0\x80")),
    ("a character in UTF-8 cut short", "BadUtf8", "bad-utf8", as_bytes(b"\xf0\x9f\x98")),
]
BAD_NODE_IDS = [
    ("no node_id", "NodeId", "missing-node-id", payload_without("node_id")),
    ("node_id in __proto__ alone", "NodeId", "missing-node-id", payload_inside("__proto__")),
    ("an empty node_id", "NodeId", "bad-node-id", payload_with(node_id="")),
    ("a number for a node_id", "NodeId", "bad-node-id", payload_with(node_id=1)),
    ("null for a node_id", "NodeId", "bad-node-id", payload_with(node_id=None)),
    ("the node_id in a list", "NodeId", "bad-node-id", payload_with(node_id=["hub-1"])),
]
GOOD_VERSIONS = ["4", "3.0", "3.5", "1e1", "0.3e1", "300E-2", "123456789012345678901234567890"]
BAD_VERSIONS = [
    ("no version", "ProtocolVersion", "protocol-version", payload_without("max_protocol_version")),
    *(
        (f"version {token}", "ProtocolVersion", "protocol-version", version(token))
        for token in ["2", "0", "-3", "2.9999", "2e0", "3e-1", '"3"', "null", "true", "[3]"]
    ),
]
GOOD_CLIENT_VERSIONS = ["4", "3.0"]
BAD_CLIENT_VERSIONS = [
    (f"version {token}", "ProtocolVersion", "protocol-version", version_added(token))
    for token in ["2", "2.9999", '"3"']
]
BAD_NOISE = [
    ("null for noise", "Noise", "bad-payload", payload_with(noise=None)),
    ("a list for noise", "Noise", "bad-payload", payload_with(noise=[])),
    ("a text for noise", "Noise", "bad-payload", payload_with(noise="XXpsk2")),
]
BAD_OFFERS = [
    ("no noise", "Noise", "bad-offer", payload_without("noise")),
    *(
        (comment, "Offer", "bad-offer", form)
        for name, value in [("patterns", "XXpsk2"), ("suites", CHACHAPOLY)]
        for comment, form in [
            (f"no {name}", noise_without(name)),
            (f"null for {name}", noise_with(**{name: None})),
            (f"a text for {name}", noise_with(**{name: value})),
            (f"an object for {name}", noise_with(**{name: {value: True}})),
            (f"a number among {name}", noise_with(**{name: [value, 1]})),
        ]
    ),
]


def without_a_bit(text):
    """The digits 0 to 9 without the bit 0x20, which some decoders set in order to fold letters."""
    return "".join(chr(ord(digit) & ~0x20) if digit.isdigit() else digit for digit in text)


def blank_for_zero(text):
    """The first pair of digits that begins with 0 has a blank there, which some decoders pass over."""
    at = next(at for at in range(0, len(text), 2) if text[at] == "0")
    return f"{text[:at]} {text[at + 1:]}"


BAD_HEX = [
    ("an odd number of digits", "Hex", "bad-hex", message_as(lambda text: text[:-1])),
    ("a letter that is no digit", "Hex", "bad-hex", message_as(lambda text: f"{text[:-1]}g")),
    ("0x before the digits", "Hex", "bad-hex", message_as(lambda text: f"0x{text}")),
    ("a blank among the digits", "Hex", "bad-hex", message_as(lambda text: f"{text[:2]} {text[2:]}")),
    ("a blank in place of a zero", "Hex", "bad-hex", message_as(blank_for_zero)),
    ("control characters that are digits but for one bit", "Hex", "bad-hex", message_as(without_a_bit)),
    ("a colon in place of a digit", "Hex", "bad-hex", message_as(lambda text: f"{text[:-1]}:")),
    ("an at sign in place of a digit", "Hex", "bad-hex", message_as(lambda text: f"{text[:-1]}@")),
    ("a grave accent in place of a digit", "Hex", "bad-hex", message_as(lambda text: f"{text[:-1]}`")),
    ("a plus before the last digit", "Hex", "bad-hex", message_as(lambda text: f"{text[:-2]}+{text[-1]}")),
    ("a line feed after the digits", "Hex", "bad-hex", message_as(lambda text: f"{text}\n")),
    ("digits of full width", "Hex", "bad-hex", message_as(lambda text: text + "\uff11\uff12")),
    ("a number for msg", "Hex", "bad-hex", message_as(lambda text: 12)),
    ("null for msg", "Hex", "bad-hex", message_as(lambda text: None)),
    ("the bytes in a list", "Hex", "bad-hex", message_as(lambda text: list(bytes.fromhex(text)))),
    ("no digits", "Hex", "message-too-short", message_as(lambda text: "")),
]
BAD_SELECTIONS = [
    ("no pattern and no suite", "Selected", "bad-payload", noise_without("pattern", "suite")),
    *(
        (comment, "Selected", "bad-payload", form)
        for name, value in [("pattern", "XXpsk2"), ("suite", CHACHAPOLY)]
        for comment, form in [
            (f"no {name}", noise_without(name)),
            (f"null for the {name}", noise_with(**{name: None})),
            (f"a number for the {name}", noise_with(**{name: 1})),
            (f"the {name} in a list", noise_with(**{name: [value]})),
        ]
    ),
]

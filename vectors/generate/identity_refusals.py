"""Identities that are refused."""

import files
from issued import ACCESS_KEY, BROKER, ISSUED, PASSWORD, refuses, text

WHOLE = text(ISSUED)
NO_JSON = [
    ("no characters", ""),
    ("text that ends too early", WHOLE[:-1]),
    ("a second value", WHOLE + WHOLE),
    ("a comma after the last field", WHOLE[:-1] + ",}"),
    ("single quotes", WHOLE.replace('"', "'")),
    ("YAML", f"access_key: {ACCESS_KEY}\npassword: {PASSWORD}\n"),
]
NO_OBJECTS = [("a list", f"[{WHOLE}]"), ("JSON in a text", text(WHOLE)), ("null", "null"), ("a number", "3")]
NO_CREDENTIALS = ["", None, 12345678, ["key"], {}, False]
BAD_FIELDS = {
    "site_id": [1, ["kitchen"], {}, True],
    "crypto_key": [1],
    "public_key": [1],
    "default_master": [1, ["hub.example"]],
    "default_port": [0, 65536, -1, 443.5, "", "0", "65536", "-1", "443.5", "443x", "0x1bb", " 443", "port", True, [1]],
    "default_path": [1],
    "data_plane_endpoints": ["wss://hub.example", [], {"wss": 1}, {"https": ["https://hub.example"]}, {"mqtt": {}}],
    "protocols": [["wss"], "wss", {"wss": "maybe"}, {"https": 2}, {"mqtt": []}, {"wss": {"enabled": 2}}, {"wss": ""}],
    "mqtt": [[], "mqtt://broker.example", True],
    "ai_disclosure": [1, ["text"], {"en": 1}, True],
}
BAD_BROKER_FIELDS = {
    "endpoint": [1],
    "username": [1],
    "password": [1],
    "topic_prefix": [1, ["hivemind"]],
    "hub_id": [1],
    "c2s_topic": [1],
    "s2c_topic": [1],
    "status_topic": [1],
    "tls": [2, "maybe", "", [], {"enabled": True}],
    "hash_topics": [2, "maybe"],
    "qos": [3, -1, 0.5, "3", "", "one", True, [1]],
}


def tests():
    tests = [refuses(comment, broken, "identity-not-json") for comment, broken in NO_JSON]
    tests += [refuses(comment, other, "identity-not-an-object") for comment, other in NO_OBJECTS]
    for field, error in [("access_key", "identity-access-key"), ("password", "identity-password")]:
        tests.append(refuses(f"no {field}", {name: value for name, value in ISSUED.items() if name != field}, error))
        tests += [refuses(f"{field}: {text(value)}", {**ISSUED, field: value}, error) for value in NO_CREDENTIALS]
    inherited = text({"__proto__": ISSUED})
    tests.append(files.invalid("fields of __proto__ alone", ["PrototypeKey"], "identity-access-key", text=inherited))
    for field, values in BAD_FIELDS.items():
        tests += [refuses(f"{field}: {text(value)}", {**ISSUED, field: value}) for value in values]
    for field, values in BAD_BROKER_FIELDS.items():
        for value in values:
            tests.append(refuses(f"mqtt: {field}: {text(value)}", {**ISSUED, "mqtt": {**BROKER, field: value}}))
    return tests

"""Identities that are refused."""

import files
from issued import ACCESS_KEY, ISSUED, PASSWORD, refuses, text

WHOLE = text(ISSUED)
NO_JSON = [
    ("the empty string", ""),
    ("truncated JSON", WHOLE[:-1]),
    ("a second value", WHOLE + WHOLE),
    ("a comma after the last field", WHOLE[:-1] + ",}"),
    ("single quotes", WHOLE.replace('"', "'")),
    ("YAML", f"access_key: {ACCESS_KEY}\npassword: {PASSWORD}\n"),
]
NO_OBJECTS = [("a list", f"[{WHOLE}]"), ("JSON inside a string", text(WHOLE)), ("null", "null"), ("a number", "3")]
NO_CREDENTIALS = ["", None, 12345678, ["key"], {}, False]


def tests():
    tests = [refuses(comment, broken, "identity-not-json") for comment, broken in NO_JSON]
    tests += [refuses(comment, other, "identity-not-an-object") for comment, other in NO_OBJECTS]
    for field, error in [("access_key", "identity-access-key"), ("password", "identity-password")]:
        tests.append(refuses(f"no {field}", {name: value for name, value in ISSUED.items() if name != field}, error))
        tests += [refuses(f"{field}: {text(value)}", {**ISSUED, field: value}, error) for value in NO_CREDENTIALS]
    inherited = text({"__proto__": ISSUED})
    tests.append(files.invalid("fields of __proto__ alone", ["PrototypeKey"], "identity-access-key", text=inherited))
    return tests

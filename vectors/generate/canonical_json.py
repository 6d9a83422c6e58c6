"""JSON texts with their canonical form, and texts that have none."""

import json

import canonical_json_refusals
import files
from files import canonical, group, valid

RANDOM = files.randomness("canonical-json")

NOTES = {
    "BadUtf8": "Bytes that are not UTF-8 (RFC 3629). Whoever accepts them has a decoder that replaces or guesses.",
    "ControlEscape": (
        "Written are \\\" \\\\ \\b \\f \\n \\r \\t, and \\u00xx in lower case for the other controls; all else stays "
        "literal. A failure most likely writes \\u0008 for \\b, keeps \\/, or escapes U+007F."
    ),
    "EmptyContainer": (
        "Empty arrays, objects, texts and keys. A failure most likely leaves white space in them, or takes them for "
        "absent."
    ),
    "KeyOrder": (
        "Keys are sorted by code point, at every depth. A failure most likely sorts by UTF-16 unit, which puts U+10000 "
        "and above before U+E000, by locale, or as numbers."
    ),
    "LiteralUnicode": (
        "Everything from U+0020 up, but \" and \\, is written as UTF-8, as it came. A failure most likely escapes what "
        "is not ASCII, < > & or U+2028, or normalizes."
    ),
    "LoneSurrogate": "An escaped half of a surrogate pair has no UTF-8 form. Whoever accepts it replaces it by U+FFFD, or writes it with ASCII escaping.",
    "NotJson": "Not JSON (RFC 8259). Whoever accepts it has a parser with extensions, and so a prologue of its own.",
    "PlainNumber": (
        "Integers within 2^53 - 1, and fractions that every JSON library writes alike. A failure most likely reads them as "
        "integers of 32 bits, or writes more digits."
    ),
    "PrototypeKey": (
        "Keys that objects of JavaScript or Python have already. A failure most likely set the prototype, so that the "
        "field is missing from the canonical form."
    ),
    "Random": "Made at random. The tests before take the rules one by one: look there first.",
    "TwoFaults": (
        "Two things are wrong, and `error` is the code of the first. Those in `otherErrors` are as good. Whoever accepts "
        "it checks neither."
    ),
    "TopLevelScalar": "A text may be a single value. A failure most likely demands an object or an array.",
    "Whitespace": (
        "Blank, tab, line feed and carriage return between tokens, and these alone, are ignored; the canonical form "
        "has none. In strings blanks stay."
    ),
}


# Values, as Python writes them
FIXED = [
    ("keys by code point, not by UTF-16 unit", ["KeyOrder"],
     {"\U0001f600": 1, "\ue000": 2, "\uffff": 3, "\ud7ff": 4, "a": 5, "": 6}),
    ("a key that starts another", ["KeyOrder"], {"ab": 1, "a": 2, "abc": 3, "": 4}),
    ("digits as keys stay in code-point order", ["KeyOrder"], {"10": 1, "9": 2, "1": 3, "02": 4}),
    ("capitals before small letters, accents after both", ["KeyOrder"],
     {"b": 1, "\xe4": 2, "a": 3, "B": 4, "_": 5, "Z": 6}),
    ("keys at every depth", ["KeyOrder"],
     {"b": [{"d": 1, "c": [{"f": 2, "e": 3}]}], "a": {"h": 4, "g": {"j": 5, "i": 6}}}),
    ("an object of 300 fields", ["KeyOrder"], {f"k{count}": count for count in range(300)}),
    ("an array of 1000 elements", ["PlainNumber"], list(range(1000))),
    ("a key and a text of 5000 characters", ["LiteralUnicode"], {"k" * 5000: "t" * 5000}),
    ("keys that differ in a control character", ["KeyOrder", "ControlEscape"], {"a\x1f": 1, "a ": 2, "a": 3, "a\t": 4}),
    ("keys that differ after U+0000", ["KeyOrder"], {"a\0b": 1, "a\0a": 2, "a\0": 3}),
    ("U+0000 in a text and at its end", ["ControlEscape"], ["a\0b", "a\0", "\0"]),
    ("an integer beyond 32 bits, and fractions", ["PlainNumber"], {"t": 1764000000000, "f": [0.5, -12.25, 3.14159]}),
    ("the largest integers that a double holds", ["PlainNumber"], [2**53 - 1, -(2**53) + 1, 2**31, -(2**31) - 1, 2**32]),
    ("every control character", ["ControlEscape"], "".join(chr(code) for code in range(0x20))),
    ("every control character in a key", ["ControlEscape"], {"".join(chr(code) for code in range(0x20)): "\"\\/"}),
    ("what is not escaped", ["LiteralUnicode"], "\x7f\x80/<>&'\u2028\u2029\U0010ffff"),
    ("composed and decomposed are two keys", ["LiteralUnicode", "KeyOrder"], {"\xe9": 1, "e\u0301": 2}),
    ("a byte order mark within a text", ["LiteralUnicode"], "\ufeffa\ufeff"),
    ("noncharacters and the last code points of each length in UTF-8", ["LiteralUnicode"],
     "\x7f\u07ff\ufdd0\ufffe\uffff\U0001ffff\U0010ffff"),
    ("keys that JavaScript objects have already", ["PrototypeKey"],
     {"__proto__": {"a": 1}, "constructor": 2, "toString": 3, "hasOwnProperty": 4}),
    ("__proto__ with a scalar and within itself", ["PrototypeKey"],
     [{"__proto__": 1}, {"__proto__": {"__proto__": None}}]),
    ("empty containers", ["EmptyContainer"], [{}, [], "", {"a": {}}, {"a": []}]),
    ("the empty key", ["EmptyContainer"], {"": ""}),
    ("a HELLO", ["ControlEscape"],
     {"pubkey": "", "peer": "pos::1", "node_id": "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----\n"}),
    ("an object alone", ["EmptyContainer"], {}),
    ("an array alone", ["EmptyContainer"], []),
    ("null alone", ["TopLevelScalar"], None),
    ("true alone", ["TopLevelScalar"], True),
    ("false alone", ["TopLevelScalar"], False),
    ("a text alone", ["TopLevelScalar"], "a"),
    ("a number alone", ["TopLevelScalar"], 0),
]

# Texts that Python parses, but would not write
TEXTS = [
    ("escapes that have a shorter form", ["ControlEscape"], r'"\u0008\u0009\u000a\u000c\u000d\u0022\u005c\/\u002f"'),
    ("escapes in upper case", ["ControlEscape"], r'"\u001F\u000B\u00E9"'),
    ("U+007F and U+0080, escaped", ["ControlEscape"], r'"\u007f\u0080"'),
    ("an escaped letter", ["LiteralUnicode"], r'{"\u0061":"\u0041"}'),
    ("a surrogate pair, escaped", ["LiteralUnicode"], r'"\ud83d\ude00\uD83D\uDE00"'),
    ("keys whose escapes are not in the order of the keys", ["KeyOrder"],
     r'{"\u0062":1,"a":2,"\ud83d\ude00":3,"\ue000":4}'),
    ("all white space between all tokens", ["Whitespace"],
     ' \t\n\r{ \t\n\r"a" \t\n\r: \t\n\r[ \t\n\r1 \t\n\r, \t\n\r2 \t\n\r] \t\n\r} \t\n\r'),
    ("white space in containers that are empty", ["Whitespace", "EmptyContainer"], "[ { } , [\n] ]"),
    ("white space around a scalar", ["Whitespace", "TopLevelScalar"], "\n null\t"),
    ("blanks in texts and keys", ["Whitespace"], '{ " a  b " : "  " }'),
]

ALPHABET = (
    [chr(code) for code in range(0x20)]
    + list('abcXYZ 09"\\/<>&=')
    + ["\x7f", "\x80", "\xe9", "\u07ff", "\u0800", "\u2028", "\ud7ff", "\ue000", "\uffff"]
    + ["\U00010000", "\U0001f600", "\U0010ffff"]
)
EDGES = [2**53 - 1, 2**53, -(2**53) + 1, -(2**53), 0.0, -0.0, 5e-324, 1.7976931348623157e308, 1e16, 1e22]


def random_text():
    return "".join(RANDOM.choice(ALPHABET) for _ in range(RANDOM.randrange(8)))


def random_number():
    kind = RANDOM.randrange(5)
    if kind == 0:
        return RANDOM.randrange(-1000, 1000)
    if kind == 1:
        return RANDOM.randrange(-(10**40), 10**40)
    if kind == 2:
        return float(RANDOM.randrange(-1000, 1000))
    if kind == 3:
        return RANDOM.uniform(-1, 1) * 10.0 ** RANDOM.randrange(-300, 300)
    return RANDOM.choice(EDGES)


def random_json(depth):
    kind = RANDOM.randrange(7 if depth else 4)
    if kind == 0:
        return RANDOM.choice([None, True, False])
    if kind == 1:
        return random_number()
    if kind in (2, 3):
        return random_text()
    if kind == 4:
        return [random_json(depth - 1) for _ in range(RANDOM.randrange(4))]
    return {random_text(): random_json(depth - 1) for _ in range(RANDOM.randrange(5))}


def written(comment, flags, value):
    """Two tests: the value with every non-ASCII character escaped, and with as few escapes as possible."""
    expected = canonical(value).hex()
    literal = json.dumps(value, ensure_ascii=False, indent=2)
    yield valid(f"{comment}: escaped", flags, text=json.dumps(value), canonical=expected)
    yield valid(f"{comment}: literal, indented", flags, text=literal, canonical=expected)


def read(comment, flags, text):
    return valid(comment, flags, text=text, canonical=canonical(json.loads(text)).hex())


def build():
    values = [(f"value {index + 1}", ["Random"], random_json(4)) for index in range(200)]
    groups = [
        group("CanonicalJson", [files.PYTHON_JSON], [test for case in FIXED for test in written(*case)]),
        group("CanonicalJson", [files.PYTHON_JSON], [read(*case) for case in TEXTS]),
        *canonical_json_refusals.groups(),
        group(
            "CanonicalJson",
            [files.PYTHON_JSON],
            [test for each in values for test in written(*each) if not files.has_number_of_several_forms(test["text"])],
        ),
    ]
    description = "JSON texts with their canonical form, and texts that have none."
    files.write("canonical-json", description, NOTES, groups)

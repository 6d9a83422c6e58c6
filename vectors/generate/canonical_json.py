"""JSON texts with their canonical form, and texts that have none."""

import json

import canonical_json_refusals
import files
from files import canonical, group, valid

RANDOM = files.randomness("canonical-json")
MAX_DEPTH = 64

NOTES = {
    "BadUtf8": "Bytes that are not UTF-8 (RFC 3629). Whoever accepts them has a decoder that replaces or guesses.",
    "ByteOrderMark": (
        "A byte order mark before the value. RFC 8259, section 8.1, lets a parser ignore it; this library refuses it, as "
        "Python's does in a text."
    ),
    "ControlEscape": (
        "Written are \\\" \\\\ \\b \\f \\n \\r \\t, and \\u00xx in lower case for the other controls; all else stays "
        "literal. A failure most likely writes \\u0008 for \\b, keeps \\/, or escapes U+007F."
    ),
    "Depth": (
        "Up to 64 arrays and objects may be open at once: a cap of this library's own, far above what the protocol "
        "needs. A failure most likely is off by one, or leaves the depth to its machine's stack."
    ),
    "DuplicateKey": (
        "A key twice in one object, compared after its escapes are read. Whoever accepts it takes the first or the "
        "last, and two sides that differ there bind different payloads."
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
    "LoneSurrogate": "An escaped half of a surrogate pair has no UTF-8 form. Whoever accepts it replaces it by U+FFFD.",
    "NotJson": "Not JSON (RFC 8259). Whoever accepts it has a parser with extensions, and so a prologue of its own.",
    "NumberToken": (
        "A number is written back as the token it came as. A failure most likely went through a float: 1.0 became 1, "
        "digits beyond 2^53 changed, 1e400 became infinite."
    ),
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
    ("floats and integers keep their form", ["NumberToken"],
     [1.0, 1, -0.0, 0, 0.1, 1e22, 1e-7, 100.0, 2**53 + 1, -(10**39)]),
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
    ("the same key in two objects", ["DuplicateKey"], '{"a":{"a":1},"b":[{"a":2},{"a":3}]}'),
    ("keys that differ in case", ["DuplicateKey"], '{"a":1,"A":2}'),
    ("a key that is another's escape, escaped", ["DuplicateKey"], r'{"\\u0061":1,"a":2}'),
    ("all white space between all tokens", ["Whitespace"],
     ' \t\n\r{ \t\n\r"a" \t\n\r: \t\n\r[ \t\n\r1 \t\n\r, \t\n\r2 \t\n\r] \t\n\r} \t\n\r'),
    ("white space in containers that are empty", ["Whitespace", "EmptyContainer"], "[ { } , [\n] ]"),
    ("white space around a scalar", ["Whitespace", "TopLevelScalar"], "\n null\t"),
    ("blanks in texts and keys", ["Whitespace"], '{ " a  b " : "  " }'),
    ("64 arrays", ["Depth"], "[" * MAX_DEPTH + "]" * MAX_DEPTH),
    ("64 arrays, and a scalar inside", ["Depth"], "[" * MAX_DEPTH + "0" + "]" * MAX_DEPTH),
    ("64 objects, the last one empty", ["Depth"], '{"a":' * (MAX_DEPTH - 1) + "{}" + "}" * (MAX_DEPTH - 1)),
    ("64 arrays and objects by turns, with a text inside that looks like more", ["Depth"],
     '[{"a":' * (MAX_DEPTH // 2) + '"[[{{"' + "}]" * (MAX_DEPTH // 2)),
    ("65 arrays, but 64 at once", ["Depth"], "[" * (MAX_DEPTH - 1) + "[],[]" + "]" * (MAX_DEPTH - 1)),
]

# Texts that are already canonical, although Python would rewrite some of their numbers
TOKENS = [
    ("zeros at the end", "[1.0,1.10,0.10,100.000]"),
    ("more than a float can hold, and less", "[1e400,-1e400,1e-400]"),
    ("forty digits", "[1234567890123456789012345678901234567890]"),
    ("forty digits after the point", "0.1234567890123456789012345678901234567890"),
    ("a minus before zero", "[-0,-0.0,-0e0]"),
    ("exponents of all forms", "[1E5,1e5,1e+5,1E+05,1e-5,0E0,1e05]"),
    ("exponents of all forms after a fraction", "[1.5E3,1.5e3,1.5e+3,1.50E-03,-1.5E+3]"),
    ("around 2^53", "[9007199254740991,9007199254740992,9007199254740993]"),
    ("around 2^64", "[18446744073709551615,18446744073709551616]"),
    ("an integer that a float would write with an exponent", "[100000000000000000000000]"),
    ("more digits than a float keeps", "3.14159265358979323846"),
    ("texts that look like numbers", '["1.0",1.0,"1e5",1e5]'),
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


CHOSEN_REFUSALS = {"duplicate-key", "json-depth", "lone-surrogate"}


def is_choice(test):
    """Whether a number has several forms, or whether nothing but choices refuses a text."""
    if test["result"] == "valid":
        return files.has_number_of_several_forms(test["text"])
    return {test["error"], *test.get("otherErrors", [])} <= CHOSEN_REFUSALS


def build():
    groups = [
        group("CanonicalJson", [files.PYTHON_JSON], [test for case in FIXED for test in written(*case)]),
        group("CanonicalJson", [files.PYTHON_JSON], [read(*case) for case in TEXTS]),
        group(
            "CanonicalJson",
            [files.SPECIFICATION],
            [valid(comment, ["NumberToken"], text=text, canonical=text.encode().hex()) for comment, text in TOKENS],
        ),
        *canonical_json_refusals.groups(),
        group(
            "CanonicalJson",
            [files.PYTHON_JSON],
            [test for index in range(200) for test in written(f"value {index + 1}", ["Random"], random_json(4))],
        ),
    ]
    choices = ["ByteOrderMark", "Depth", "DuplicateKey", "LoneSurrogate", "NumberToken"]
    description = "JSON texts with their canonical form, and texts that have none."
    files.write("canonical-json", description, NOTES, groups, choices, is_choice)

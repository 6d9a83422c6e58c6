"""Texts without a canonical form. Each is one change away from a text that has one."""

import json

import files
from files import canonical, group, invalid

NOT_JSON = [
    ("no text at all", ""),
    ("white space alone", " \n"),
    ("NaN", "[NaN]"),
    ("Infinity", "[Infinity]"),
    ("minus Infinity", "[-Infinity]"),
    ("undefined", "[undefined]"),
    ("TRUE in capitals", "[TRUE]"),
    ("None, as Python prints it", "[None]"),
    ("True, as Python prints it", "[True]"),
    ("False with a capital", "[False]"),
    ("Null with a capital", "[Null]"),
    ("a word cut short", "[tru]"),
    ("a word and a letter", "[truex]"),
    *((f"the word {word}", f"[{word}]") for word in ["trve", "trux", "fa1se", "falsy", "nill", "nulL", "nil", "yes"]),
    ("a line comment", "[1]//"),
    ("a block comment", "[1/**/]"),
    ("a comma after the last element", "[1,]"),
    ("a comma after the last field", '{"a":1,}'),
    ("a comma before the first element", "[,1]"),
    ("two commas", "[1,,2]"),
    ("no comma", "[1 2]"),
    ("no colon", '{"a" 1}'),
    ("two colons", '{"a"::1}'),
    ("no value", '{"a":}'),
    ("no key", '{:1}'),
    ("a key without quotation marks", "{a:1}"),
    ("a number as key", "{1:1}"),
    ("single quotation marks", "['a']"),
    ("text after the value", "[1]a"),
    ("a second value", "[1][1]"),
    ("U+0000 after the value", "[1]\0"),
    ("an array left open", "[1"),
    ("an object left open", '{"a":1'),
    ("a text left open", '["a'),
    ("one bracket too many", "[1]]"),
    ("brackets crossed", '[{"a":1]}'),
    ("a leading zero", "[01]"),
    ("a leading zero after the minus", "[-01]"),
    ("a plus", "[+1]"),
    ("a point without digits after it", "[1.]"),
    ("a point without digits before it", "[.5]"),
    ("a point before the exponent", "[1.e5]"),
    ("an exponent without digits", "[1e]"),
    ("an exponent of a sign alone", "[1e+]"),
    ("a minus alone", "[-]"),
    ("hexadecimal", "[0x10]"),
    ("an underscore between digits", "[1_000]"),
    ("white space in a number", "[1 .5]"),
    ("digits of another script", "[\u0661]"),
    ("a line feed in a text", '["\n"]'),
    ("a tab in a text", '["\t"]'),
    ("U+0000 in a text", '["\0"]'),
    ("U+001F in a key", '{"\x1f":1}'),
    ("a backslash before an apostrophe", "[\"\\'\"]"),
    ("a backslash and x", r'["\x41"]'),
    ("a backslash and a capital letter", r'["\N"]'),
    ("a backslash before a line feed", '["\\\n"]'),
    ("a backslash at the end", '["\\'),
    ("three digits after \\u", r'["\u004"]'),
    ("a letter that is no digit after \\u", r'["\u004g"]'),
    ("a sign among the digits after \\u", r'["\u+041"]'),
    ("a blank before three digits after \\u", r'["\u 041"]'),
    ("a blank behind three digits after \\u", r'["\u041 "]'),
    ("an underscore among the digits after \\u", r'["\u0_41"]'),
    ("\\U in capitals", r'["\U0041"]'),
    ("\\u with braces", r'["\u{41}"]'),
]
NOT_WHITE_SPACE = [
    ("a form feed between tokens", "[1,\f2]"),
    ("a vertical tab between tokens", "[1,\v2]"),
    ("U+0085 between tokens", "[1,\x852]"),
    ("a no-break space between tokens", "[1,\xa02]"),
    ("a line separator, U+2028, between tokens", "[1,\u20282]"),
    ("a form feed before the value", "\f[1]"),
    ("U+0001 before the value", "\x01[1]"),
    ("U+0085 after the value", "[1]\x85"),
    ("a no-break space after the value", "[1]\xa0"),
]

SURROGATES = [
    ("a high surrogate alone", r'["\ud83d"]'),
    ("low before high", r'["\ude00\ud83d"]'),
    ("in a key", r'{"\ud83d":1}'),
]

BAD_UTF8 = [
    ("a byte that only continues", b"\x80"),
    ("a first byte without what must follow", b"\xc3"),
    ("two of three bytes", b"\xe2\x82"),
    ("three of four bytes", b"\xf0\x9f\x98"),
    ("a first byte before ASCII", b"\xc3a"),
    ("one byte too many", b"\xc3\xa9\xa9"),
    ("/ in two bytes", b"\xc0\xaf"),
    ("U+0000 in two bytes", b"\xc0\x80"),
    ("U+007F in two bytes", b"\xc1\xbf"),
    ("U+07FF in three bytes", b"\xe0\x9f\xbf"),
    ("U+FFFF in four bytes", b"\xf0\x8f\xbf\xbf"),
    ("a high surrogate", b"\xed\xa0\x80"),
    ("a low surrogate", b"\xed\xbf\xbf"),
    ("a surrogate pair, as CESU-8 has it", b"\xed\xa0\xbd\xed\xb8\x80"),
    ("U+110000", b"\xf4\x90\x80\x80"),
    ("a first byte that is never one, F5", b"\xf5\x80\x80\x80"),
    ("five bytes", b"\xf8\x88\x80\x80\x80"),
    ("FE and FF", b"\xfe\xff"),
    ("Latin-1", "é".encode("latin-1")),
]


# The codes of both faults, the first one's first.
TWO_FAULTS = [
    ("a key twice, then a comma too many", ["duplicate-key", "bad-json"], '{"a":1,"a":2,}'),
    ("a comma too many, then a key twice", ["bad-json", "duplicate-key"], '[{"a":1,},{"b":1,"b":2}]'),
    ("half a surrogate pair, then text after the value", ["lone-surrogate", "bad-json"], r'["\ud83d"]a'),
    ("a leading zero, then half a surrogate pair", ["bad-json", "lone-surrogate"], r'[01,"\ud83d"]'),
    ("65 arrays left open", ["json-depth", "bad-json"], "[" * 65),
    ("65 arrays, then a second value", ["json-depth", "bad-json"], "[" * 65 + "]" * 65 + "[]"),
    ("a second value of 65 arrays", ["bad-json", "json-depth"], "1 " + "[" * 65 + "]" * 65),
]
TWO_FAULTS_IN_BYTES = [
    ("not UTF-8, then a comma too many", ["bad-utf8", "bad-json"], b'["\xc3",]'),
    ("a comma too many, then not UTF-8", ["bad-utf8", "bad-json"], b'[1,,"\xc3"]'),
    ("a key twice, then not UTF-8", ["bad-utf8", "duplicate-key"], b'{"a":1,"a":"\xff"}'),
]


def refused_by_python(text):
    """Whether Python's json, with its extensions off, rejects a text or cannot encode its value as UTF-8."""

    def once(pairs):
        if len({key for key, _ in pairs}) < len(pairs):
            raise ValueError("duplicate key")
        return dict(pairs)

    def refuse(constant):
        raise ValueError(constant)

    try:
        canonical(json.loads(text, object_pairs_hook=once, parse_constant=refuse))
    except ValueError:
        return True
    return False


def refused(comment, flags, error, text):
    assert refused_by_python(text), comment
    return invalid(comment, flags, error, text=text)


def two_faults(comment, errors, **given):
    return {**invalid(comment, ["TwoFaults"], errors[0], **given), "otherErrors": errors[1:]}


def refused_bytes(comment, data):
    try:
        data.decode()
    except UnicodeDecodeError:
        return invalid(comment, ["BadUtf8"], "bad-utf8", bytes=data.hex())
    raise AssertionError(comment)


def groups():
    not_json = [refused(comment, ["NotJson"], "bad-json", text) for comment, text in NOT_JSON]
    not_json += [refused(comment, ["NotJson", "Whitespace"], "bad-json", text) for comment, text in NOT_WHITE_SPACE]
    utf8 = [refused_bytes(f"{comment}, in a text", b'["' + data + b'"]') for comment, data in BAD_UTF8]
    utf8 += [
        refused_bytes("a first byte without what must follow, in a key", b'{"\xc3":1}'),
        refused_bytes("a first byte without what must follow, after the value", b"[1]\xc3"),
        refused_bytes("UTF-16 with a byte order mark", "\ufeff[1]".encode("utf-16-le")),
    ]
    return [
        group("CanonicalJson", ["RFC 8259, by hand", files.PYTHON_JSON], not_json),
        group(
            "CanonicalJson",
            ["RFC 7493, section 2.1, by hand", files.PYTHON_JSON],
            [refused(comment, ["LoneSurrogate"], "lone-surrogate", text) for comment, text in SURROGATES],
        ),
        group("CanonicalJson", ["RFC 3629, by hand", files.PYTHON_JSON], utf8),
        group(
            "CanonicalJson",
            ["RFC 8259, 7493 and 3629, by hand"],
            [two_faults(comment, errors, text=text) for comment, errors, text in TWO_FAULTS]
            + [two_faults(comment, errors, bytes=data.hex()) for comment, errors, data in TWO_FAULTS_IN_BYTES],
        ),
    ]

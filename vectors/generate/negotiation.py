"""The pattern and the suite that a client chooses from a hub's offer."""

import files
from files import AESGCM, CHACHAPOLY, group, invalid, valid

NOTES = {
    "KkNotOffered": "A pin makes no KKpsk0 by itself: the hub has to offer it. A failure most likely looks at the pin.",
    "NoCommonPattern": (
        "No pattern is left, and none may be assumed. A failure most likely falls back to XXpsk2, or takes a KKpsk0 "
        "without a pin."
    ),
    "NoCommonSuite": "No suite is left, and none may be assumed. A failure most likely falls back to the required one.",
    "OwnPreference": (
        "The client's list decides, in its order, and the order of the hub's lists means nothing. A failure most "
        "likely walks the hub's list."
    ),
    "Pinned": (
        "With a pin KKpsk0 is taken wherever it is offered, without one never. A failure most likely takes the hub's "
        "first pattern."
    ),
    "SuiteFirst": "The suite is chosen before the pattern, so that it names the failure where both are missing.",
    "UnknownName": (
        "Names that this protocol does not have are passed over, compared exactly. A failure most likely refuses the "
        "whole offer, ignores case, or compares the beginning only."
    ),
}

XX, KK = files.PATTERNS
BOTH = [CHACHAPOLY, AESGCM]
AESGCM_FIRST = [AESGCM, CHACHAPOLY]
NEWER_SUITES = ["25519_ChaChaPoly_BLAKE2s", "448_ChaChaPoly_SHA512", "25519+MLKEM768_ChaChaPoly_SHA256"]
NEARLY_SUITES = [CHACHAPOLY.lower(), CHACHAPOLY + " ", CHACHAPOLY[:-1], CHACHAPOLY + "6", "", "ChaChaPoly"]
NEARLY_PATTERNS = ["xxpsk2", "XX", "XXpsk", "XXpsk20", "XXpsk2 ", "", f"Noise_XXpsk2_{CHACHAPOLY}"]


def chosen(comment, flags, patterns, suites, own, pinned, pattern, suite):
    offer = {"patterns": patterns, "suites": suites, "own": own, "pinned": pinned}
    return valid(comment, flags, **offer, pattern=pattern, suite=suite, protocolName=f"Noise_{pattern}_{suite}")


def refused(error, comment, flags, patterns, suites, own, pinned):
    return invalid(comment, flags, error, patterns=patterns, suites=suites, own=own, pinned=pinned)


# comment, flags; the hub's patterns and suites; the client's suites, and whether the hub is pinned; the choice
CHOSEN = [
    ("first contact", ["OwnPreference"], [XX, KK], BOTH, BOTH, False, XX, CHACHAPOLY),
    ("first contact, AESGCM preferred", ["OwnPreference"], [XX, KK], BOTH, AESGCM_FIRST, False, XX, AESGCM),
    ("the hub names AESGCM first", ["OwnPreference"], [XX, KK], AESGCM_FIRST, BOTH, False, XX, CHACHAPOLY),
    ("both name AESGCM first", ["OwnPreference"], [XX, KK], AESGCM_FIRST, AESGCM_FIRST, False, XX, AESGCM),
    ("AESGCM preferred, not offered", ["OwnPreference"], [XX, KK], [CHACHAPOLY], AESGCM_FIRST, False, XX, CHACHAPOLY),
    ("the client has ChaChaPoly alone", ["OwnPreference"], [XX, KK], BOTH, [CHACHAPOLY], False, XX, CHACHAPOLY),
    ("the client has AESGCM alone", ["OwnPreference"], [XX, KK], BOTH, [AESGCM], False, XX, AESGCM),
    ("what every hub offers", ["OwnPreference"], [XX], [CHACHAPOLY], BOTH, False, XX, CHACHAPOLY),
    ("a suite named twice", ["OwnPreference"], [XX, KK], [CHACHAPOLY, CHACHAPOLY], BOTH, False, XX, CHACHAPOLY),
    ("pinned", ["Pinned"], [XX, KK], BOTH, BOTH, True, KK, CHACHAPOLY),
    ("pinned, AESGCM preferred", ["Pinned", "OwnPreference"], [XX, KK], BOTH, AESGCM_FIRST, True, KK, AESGCM),
    ("pinned, the hub names KKpsk0 first", ["Pinned"], [KK, XX], BOTH, BOTH, True, KK, CHACHAPOLY),
    ("not pinned, the hub names KKpsk0 first", ["Pinned"], [KK, XX], BOTH, BOTH, False, XX, CHACHAPOLY),
    ("pinned, KKpsk0 alone offered", ["Pinned"], [KK], BOTH, BOTH, True, KK, CHACHAPOLY),
    ("pinned, KKpsk0 not offered", ["KkNotOffered"], [XX], BOTH, BOTH, True, XX, CHACHAPOLY),
    ("pinned, KKpsk0 not offered, AESGCM preferred", ["KkNotOffered"], [XX], BOTH, AESGCM_FIRST, True, XX, AESGCM),
    ("suites of a newer hub before ours", ["UnknownName"],
     [XX, KK], [*NEWER_SUITES, CHACHAPOLY], BOTH, False, XX, CHACHAPOLY),
    ("patterns of a newer hub before ours", ["UnknownName"],
     ["IKpsk2", "XXpsk3", XX], BOTH, BOTH, False, XX, CHACHAPOLY),
    ("pinned, with patterns like KKpsk0", ["UnknownName"],
     ["KKpsk2", "KK", "KKpsk0+psk2", XX], BOTH, BOTH, True, XX, CHACHAPOLY),
    ("names that are nearly ours before ours", ["UnknownName"],
     [*NEARLY_PATTERNS, XX], [*NEARLY_SUITES, CHACHAPOLY], BOTH, False, XX, CHACHAPOLY),
    ("ours after 40 others", ["UnknownName"],
     [*(f"XXpsk{n}" for n in range(3, 43)), XX], [*(f"25519_Cipher{n}_SHA256" for n in range(40)), CHACHAPOLY], BOTH, False,
     XX, CHACHAPOLY),
    ("names that objects of JavaScript have already", ["UnknownName"],
     ["__proto__", "constructor", XX], ["toString", "__proto__", CHACHAPOLY], BOTH, True, XX, CHACHAPOLY),
]

# the same without a choice
NO_SUITE = [
    ("no suites", ["NoCommonSuite"], [XX, KK], [], BOTH, False),
    ("AESGCM alone, which the client has not", ["NoCommonSuite"], [XX, KK], [AESGCM], [CHACHAPOLY], False),
    ("ChaChaPoly alone, which the client has not", ["NoCommonSuite"], [XX, KK], [CHACHAPOLY], [AESGCM], True),
    ("suites of a newer hub alone", ["NoCommonSuite", "UnknownName"], [XX, KK], NEWER_SUITES, BOTH, False),
    ("suites that are nearly ours", ["NoCommonSuite", "UnknownName"], [XX, KK], NEARLY_SUITES, BOTH, False),
    ("neither suites nor patterns", ["SuiteFirst"], [], [], BOTH, False),
    ("a suite that the client has not, and KKpsk0 without a pin", ["SuiteFirst"], [KK], [AESGCM], [CHACHAPOLY], False),
]
NO_PATTERN = [
    ("no patterns", ["NoCommonPattern"], [], BOTH, BOTH, False),
    ("no patterns, pinned", ["NoCommonPattern"], [], BOTH, BOTH, True),
    ("KKpsk0 alone, not pinned", ["NoCommonPattern", "Pinned"], [KK], BOTH, BOTH, False),
    ("patterns of a newer hub alone", ["NoCommonPattern", "UnknownName"], ["IKpsk2", "XXpsk3"], BOTH, BOTH, True),
    ("patterns that are nearly ours", ["NoCommonPattern", "UnknownName"], NEARLY_PATTERNS, BOTH, BOTH, False),
]


def build():
    tests = [chosen(*case) for case in CHOSEN]
    tests += [refused("no-common-suite", *case) for case in NO_SUITE]
    tests += [refused("no-common-pattern", *case) for case in NO_PATTERN]
    groups = [group("SelectNoise", [files.SPECIFICATION], tests)]
    description = "The pattern and the suite that a client chooses from a hub's offer."
    files.write("negotiation", description, NOTES, groups)

"""When a client tells people that they talk to an AI, and with which text."""

import itertools

import files

NOTES = {
    "Disclosure": (
        "The disclosure is due at first contact; in each session of a voice client, of a shared device, a kiosk or a "
        "public page; and never twice in a session. It is in French for a French client and in English for any other, "
        "word for word; a text that is missing is fetched. An implementation that fails most likely shortens it, shows "
        "it once for all people, or shows another language."
    ),
}
ENGLISH, FRENCH = "You are talking to an AI assistant. \u2014 Hub", "Vous parlez \xe0 un assistant IA.\n"
BOTH = {"en": ENGLISH, "fr": FRENCH}
# The tag of the client's language, and the language of the text.
LANGUAGES = [
    *[(None, "en"), ("en", "en"), ("en-CA", "en"), ("de", "en"), ("", "en")],
    *[("fr", "fr"), ("fr-CA", "fr"), ("FR", "fr"), ("fr_FR", "fr")],
    *[("frr", "en"), ("fry-NL", "en"), ("en-FR", "en")],
]
# What was issued, and the English and the French text that it contains.
TEXTS = [
    ("both texts", BOTH, ENGLISH, FRENCH),
    ("a string, which is English", ENGLISH, ENGLISH, None),
    ("the French text alone", {"fr": FRENCH}, None, FRENCH),
    ("an empty English text", {"en": "", "fr": FRENCH}, None, FRENCH),
    ("an empty string", "", None, None),
    ("nothing", None, None, None),
]


def case(comment, issued, language, text, last_given="never", is_due=True, **situation):
    given = {"aiDisclosure": issued, "lastGiven": last_given, **situation}
    given = {name: value for name, value in given.items() if value is not None}
    told = {"due": True, "text": text, "language": language} if is_due else {"due": False}
    return files.valid(comment, ["Disclosure"], **given, **told)


def tests():
    tests = []
    for tag, language in LANGUAGES:
        comment = "no language" if tag is None else f"the language {tag!r}"
        tests.append(case(comment, BOTH, language, BOTH[language], tag=tag))
    for what, issued, english, french in TEXTS:
        tests.append(case(f"{what}, for an English client", issued, "en", english))
        tests.append(case(f"{what}, for a French client", issued, "fr", french, tag="fr"))
    moments = ["never", "earlier-session", "this-session"]
    for last_given, is_voice, is_shared in itertools.product(moments, [False, True], [False, True]):
        is_due = last_given == "never" or (last_given == "earlier-session" and (is_voice or is_shared))
        who = [name for name, value in [("by voice", is_voice), ("on a shared device", is_shared)] if value]
        comment = ", ".join([f"last given: {last_given}", *who])
        tests.append(case(comment, BOTH, "en", ENGLISH, last_given, is_due, isVoice=is_voice, isShared=is_shared))
    return tests

"""Issued identities: how they are read, what is refused, what may be shown, and which endpoint is chosen."""

import itertools
import re

import authorization
import endpoints
import files
import identity_fields
import identity_secrets
from issued import ACCESS_KEY, ALIASES, ISSUED, PASSWORD, refuses, text

NOTES = {
    "AiDisclosure": (
        "The text to show at first contact, in English or one for each language, is kept word for word; other members "
        "are left out. A failure most likely reads only one of the two forms."
    ),
    "Alias": (
        "A field has been issued under several names. A failure most likely knows one of them, and reads the field as "
        "missing."
    ),
    "Boolean": (
        "A flag is a boolean, 1 or 0, or a word. A failure most likely reads every string that is not empty as true."
    ),
    "Default": (
        "A field that was not issued has a default or is left out. MQTT is on where there are broker credentials. Access key "
        "and password are read as they were issued. A failure most likely requires the field, gives another default, or "
        "trims a password."
    ),
    "BrokerAddress": (
        "The broker's address is mqtt.endpoint; where that is missing or blank, data_plane_endpoints.mqtt. One that "
        "is not a string is read as empty, and refused when it is to be used. A failure most likely ignores "
        "data_plane_endpoints.mqtt, or prefers it."
    ),
    "Malformed": (
        "Input that is not a JSON object, or has no access key or password as a non-empty string, is refused, and the "
        "error shows no value. An implementation that accepts it converts types, and fails at the hub instead."
    ),
    "NullIsAbsent": (
        "A field that is null counts as absent. A failure most likely reads the string `null`, or refuses the identity."
    ),
    "Number": (
        "A port or a QoS is a number or its digits, within its range. Only the value of a number counts, so 443.0 is "
        "a port. A failure most likely keeps the string, or reads one that only starts with digits."
    ),
    "PartialBroker": (
        "MQTT credentials without an address, a user name and a password count as absent. A failure most likely "
        "refuses the identity, or connects to the broker without them."
    ),
    "PrototypeKey": "Only an object's own fields count. A failure most likely finds inherited ones.",
    "Redaction": (
        "What is shown of an identity contains no secret: no key, no password, no broker credentials, no topic, and "
        "no credentials in URLs; and no other string that contains one of these, also percent-encoded, in base64 or "
        "in hex. A failure most likely redacts by field name and forgets one, or shows whole URLs."
    ),
    "UnknownField": (
        "Unknown fields are ignored, at every depth. A failure most likely refuses the identity."
    ),
    **endpoints.NOTES,
    **authorization.NOTES,
    "Disclosure": (
        "The disclosure is due at first contact; in each session of a voice client, of a shared device, a kiosk or a "
        "public page; and never twice in a session. It is in French for a French client and in English for any other, "
        "word for word; a text that is missing is fetched. An implementation that fails most likely shortens it, shows "
        "it once for all people, or shows another language."
    ),
}


DEFAULTS = "thalovant/thalovant-node-sdk 93916aa, src/identity.ts and src/protocols.ts"
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


def refusals():
    """Identities that are refused."""
    tests = [refuses(comment, broken, "identity-not-json") for comment, broken in NO_JSON]
    tests += [refuses(comment, other, "identity-not-an-object") for comment, other in NO_OBJECTS]
    for field, error in [("access_key", "identity-access-key"), ("password", "identity-password")]:
        tests.append(refuses(f"no {field}", {name: value for name, value in ISSUED.items() if name != field}, error))
        tests += [refuses(f"{field}: {text(value)}", {**ISSUED, field: value}, error) for value in NO_CREDENTIALS]
    inherited = text({"__proto__": ISSUED})
    tests.append(files.invalid("fields of __proto__ alone", ["PrototypeKey"], "identity-access-key", text=inherited))
    return tests


# Disclosures

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


def disclosures():
    """When a client tells people that they talk to an AI, and with which text."""
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


def build():
    identities = [*identity_fields.values(), *identity_secrets.tests(), *refusals()]
    groups = [
        files.group("Identity", ALIASES["source"], identity_fields.aliases()),
        files.group("Identity", [files.SPECIFICATION, DEFAULTS], identities),
        files.group("SelectEndpoint", [files.SPECIFICATION, "RFC 3986, section 3"], endpoints.tests()),
        files.group("AuthorizedUrl", [files.SPECIFICATION, "Python base64 and urllib.parse"], authorization.tests()),
        files.group("Disclosure", [files.SPECIFICATION], disclosures()),
    ]
    description = (
        "Issued identities: how they are read and refused, which endpoint is chosen, with which authorization, and when "
        "people are told that they talk to an AI."
    )
    files.write("identity", description, NOTES, groups, ["Alias", "BadEndpoint", "Boolean", "DefaultMaster", "Unchanged"])

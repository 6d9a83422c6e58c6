"""Issued identities: how they are read, what is refused, what may be shown, and which endpoint is chosen."""

import endpoints
import files
import identity_fields
import identity_refusals
import identity_secrets
from issued import ALIASES

NOTES = {
    "AiDisclosure": (
        "The text to show at first contact, English or one for each language, is kept word for word. A failure most "
        "likely takes one of the two forms alone."
    ),
    "Alias": (
        "Identities were issued with many names for the same field. A failure most likely knows one spelling, and "
        "reads the field as missing."
    ),
    "Boolean": (
        "Flags come as booleans, as 1 and 0, and as words. A failure most likely takes every text that is not empty "
        "for true."
    ),
    "Default": (
        "What was not issued has a default or is left out. MQTT is on where there are broker credentials. A failure "
        "most likely demands it, or gives another default."
    ),
    "BrokerAddress": (
        "The broker's address is mqtt.endpoint; where that is missing or blank, data_plane_endpoints.mqtt. One of "
        "another type than a string is empty, and refused when it is to be used. A failure most likely ignores "
        "data_plane_endpoints.mqtt, or takes it for the one that counts."
    ),
    "Malformed": (
        "What is no JSON object, or lacks an access key or a password as a string that is not empty, is refused, and "
        "the error shows no value. Whoever accepts it converts types, and fails at the hub instead."
    ),
    "NullIsAbsent": "A field that is null is not there. A failure most likely reads the text `null`, or refuses it.",
    "Number": (
        "Ports and QoS come as numbers or as their digits, within their range. A number is what it is worth, so 443.0 "
        "is a port. A failure most likely keeps the text, or takes what only starts with digits."
    ),
    "PartialBroker": (
        "MQTT credentials without endpoint, user name or password are none. A failure most likely refuses the "
        "identity, or goes to the broker without them."
    ),
    "PrototypeKey": "Fields are the object's own. A failure most likely finds inherited ones.",
    "Redaction": (
        "Nothing that is shown of an identity holds a secret: no key, no password, no broker credentials, no topic, "
        "and no credentials inside of URLs. A failure most likely redacts by field name and forgets one, or shows a "
        "URL whole."
    ),
    "UnreadableField": (
        "A field of a type that cannot be read, or of a value out of its range, counts as absent, and never refuses an "
        "identity; site_id too, which is a label. A port in a string is its digits without sign, point, space or "
        "leading zero; a flag in a string is one of the words, with nothing around it, U+FEFF included. A failure most "
        "likely converts the value, or refuses the identity."
    ),
    "UnknownField": (
        "Fields that nobody knows are no error, at every depth. A failure most likely refuses them."
    ),
    **endpoints.NOTES,
}


DEFAULTS = "thalovant/thalovant-node-sdk 93916aa, src/identity.ts and src/protocols.ts"


def build():
    identities = [*identity_fields.values(), *identity_secrets.tests(), *identity_refusals.tests()]
    groups = [
        files.group("Identity", ALIASES["source"], identity_fields.aliases()),
        files.group("Identity", [files.SPECIFICATION, DEFAULTS], identities),
        files.group("SelectEndpoint", [files.SPECIFICATION, "RFC 3986, section 3"], endpoints.tests()),
    ]
    files.write(
        "identity", "Issued identities: how they are read and refused, and which endpoint is chosen.", NOTES, groups
    )

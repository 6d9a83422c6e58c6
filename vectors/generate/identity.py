"""Issued identities: how they are read, what is refused, what may be shown, and which endpoint is chosen."""

import endpoints
import files
import identity_fields
import identity_refusals
import identity_secrets

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
        "What was not issued has a default or is left out. A failure most likely demands it, or gives another default."
    ),
    "Malformed": (
        "An identity without what it is for, or with a field of a type that cannot be read safely, is refused, and "
        "the error shows no value. Whoever accepts it converts types, and fails at the hub instead."
    ),
    "NullIsAbsent": "A field that is null is not there. A failure most likely reads the text `null`, or refuses it.",
    "Number": (
        "Ports and QoS come as numbers or as their digits, within their range. A failure most likely keeps the text, "
        "or takes what only starts with digits."
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
    "UnknownField": (
        "Fields that nobody knows are no error, at every depth. A failure most likely refuses them."
    ),
    **endpoints.NOTES,
}


def build():
    source = [files.SPECIFICATION]
    identities = [
        *identity_fields.aliases(),
        *identity_fields.values(),
        *identity_secrets.tests(),
        *identity_refusals.tests(),
    ]
    groups = [
        files.group("Identity", source, identities),
        files.group("SelectEndpoint", source, endpoints.tests()),
    ]
    files.write(
        "identity", "Issued identities: how they are read and refused, and which endpoint is chosen.", NOTES, groups
    )

"""Issued identities: how they are read, what is refused, what may be shown, and which endpoint is chosen."""

import authorization
import disclosure
import endpoints
import files
import identity_fields
import identity_refusals
import identity_secrets
from issued import ALIASES

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
        "A field that was not issued has a default or is left out. MQTT is on where there are broker credentials. A "
        "failure most likely requires the field, or gives another default."
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
    "UnreadableField": (
        "A field whose value has a type that cannot be read, or is out of range, counts as absent, and the identity "
        "is still read. That goes for site_id too, which is a label. A string is a port if it has the port's digits "
        "alone, without a sign, a point, a space or a leading zero; it is a flag if it is one of the words with "
        "nothing around it, not even U+FEFF. A failure most likely converts the value, or refuses the identity."
    ),
    "UnknownField": (
        "Unknown fields are ignored, at every depth. A failure most likely refuses the identity."
    ),
    **endpoints.NOTES,
    **authorization.NOTES,
    **disclosure.NOTES,
}


DEFAULTS = "thalovant/thalovant-node-sdk 93916aa, src/identity.ts and src/protocols.ts"


def build():
    identities = [*identity_fields.values(), *identity_secrets.tests(), *identity_refusals.tests()]
    groups = [
        files.group("Identity", ALIASES["source"], identity_fields.aliases()),
        files.group("Identity", [files.SPECIFICATION, DEFAULTS], identities),
        files.group("SelectEndpoint", [files.SPECIFICATION, "RFC 3986, section 3"], endpoints.tests()),
        files.group("AuthorizedUrl", [files.SPECIFICATION, "Python base64 and urllib.parse"], authorization.tests()),
        files.group("Disclosure", [files.SPECIFICATION], disclosure.tests()),
    ]
    choices = ["Alias", "Authorization", "Boolean", "Plaintext", "Query", "UnreadableAddress", "UnreadableField", "UserAgent"]
    description = (
        "Issued identities: how they are read and refused, which endpoint is chosen, with which authorization, and when "
        "people are told that they talk to an AI."
    )
    files.write("identity", description, NOTES, groups, choices)

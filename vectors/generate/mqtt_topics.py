"""MQTT: the topics of a client, the broker's address, and client ids."""

import brokers
import files
import topics

NOTES = {
    "AccessKey": (
        "The key in topics is the access key, and without one the user name at the broker. A failure most likely "
        "always uses the user name."
    ),
    "Alias": "A field has been issued under several names. A failure most likely knows one of them.",
    "BadArgument": (
        "Name and key are non-empty strings. A failure most likely converts other values, and two clients share an "
        "id."
    ),
    "BadEndpoint": (
        "An address that is not a URL, has another scheme, or contains credentials, a query or a fragment, is "
        "refused, whatever `tls` says. An implementation that connects sends credentials in the clear, or to another host."
    ),
    "BadTopic": (
        "A topic has no wildcards, no U+0000, and 65535 bytes at most. An implementation that accepts it uses topics "
        "that a broker refuses or others read."
    ),
    "ClientId": (
        "The program's name, a hyphen, and of the access key 48 characters, with a hyphen for each that is no letter, "
        "digit, _ or -. A code point is one character, which is a choice: clients that count bytes or UTF-16 units "
        "write more hyphens. A failure most likely cuts the whole, or cuts before it replaces."
    ),
    "Derived": "Topics under the prefix, whose last level is the key. A failure most likely uses an earlier layout.",
    "EarlierLayout": (
        "Topics of earlier hubs: the direction, then the key or its hash, under prefix and hub id. A failure most "
        "likely adds the hub id twice, or knows only the current layout."
    ),
    "HashedTopics": (
        "With hash_topics, the first 16 hexadecimal digits of the key's SHA-256 replace the key. A failure most "
        "likely uses 16 bytes, or hashes the user name."
    ),
    "NoTopics": (
        "Without a prefix or a hub id no topic is derived. A failure most likely makes one up from the access key."
    ),
    "OddTopic": (
        "A topic has no white space, controls or empty levels, and does not start with $. A failure most likely looks "
        "for wildcards alone."
    ),
    "OutOfScope": (
        "Issued topics are checked to lie in the client's own scope, level by level: they start with the prefix, or "
        "with prefix and hub id; and where that does not end with a level that names the client, they have such a "
        "level after it, or are a single level below a prefix. With neither prefix nor hub id, such a level anywhere "
        "is all that can be checked. An implementation that accepts others can be sent to another client's topics; a "
        "failure most likely compares beginnings of strings."
    ),
    "Port": (
        "The port is the one in the address, or the default of the resulting scheme. A failure most likely uses the "
        "default of the scheme in the address."
    ),
    "Presence": (
        "The will is `offline` on the status topic, retained and with QoS 1; so are `online` and `offline`, which the "
        "client publishes. A failure most likely forgets to retain, so that a hub that subscribes later hears nothing."
    ),
    "Returned": (
        "Topics that were issued count before derived ones, each on its own, unchanged. A failure most likely derives "
        "all as soon as one is missing."
    ),
    "SiblingStatus": (
        "Without a status topic and without a prefix, it is the sibling of the topic to publish to. A failure most "
        "likely finds none, or replaces a part of a level."
    ),
    "Tls": (
        "The resulting URL decides about TLS: `tls` turns mqtt: into mqtts:, and turns nothing off. "
        "A failure most likely looks only at the flag, or only at mqtts:."
    ),
    "Trimmed": (
        "White space, then slashes, are trimmed from prefix and hub id. White space is what ECMAScript's trim() takes "
        "off: that of Unicode but for U+0085, and U+FEFF. A failure most likely leaves an empty level."
    ),
    "Url": (
        "The URL to connect to has the scheme in lower case, brackets around an IPv6 address, which `host` has not, "
        "and a path for WebSockets only, without a slash at its end. A failure most likely normalizes more, or less."
    ),
    "WebSocket": "A broker may listen for WebSockets; `tls` turns ws: into wss:. A failure most likely knows MQTT's schemes alone.",
    "WrongType": (
        "A field of the wrong type is refused where it is needed. A failure most likely converts it into a level of a "
        "topic."
    ),
}


EMBEDDED_C = "thalovant/thalovant-embedded-c"
CURRENT_LAYOUT = [
    "JarbasHiveMind/hivemind-mqtt-protocol 092d0bc, docs/architecture.md",
    f"{EMBEDDED_C} 914506e, include/thalovant/topics.h",
]
EARLIER_LAYOUT = [f"{EMBEDDED_C} df6542a, src/topics.c", "Python hashlib"]
NAMES = [f"{EMBEDDED_C} 704b36f, include/thalovant/identity.h"]
CHARACTERS = ["MQTT 5.0, section 4.7", "thalovant/thalovant-node-sdk b65f11a, src/transport-mqtt.ts"]
CLIENT_IDS = [f"{EMBEDDED_C} 914506e, include/thalovant/topics.h and tests/test_topics.c"]


CHOICES = ["AccessKey", "Alias", "BadEndpoint", "ClientId", "EarlierLayout", "HashedTopics", "OddTopic", "SiblingStatus"]
CHOICES += ["Trimmed", "Url", "WebSocket", "WrongType"]


def build():
    groups = [
        files.group("Topics", CURRENT_LAYOUT, topics.derived()),
        files.group("Topics", EARLIER_LAYOUT, topics.derived_earlier()),
        files.group("Topics", NAMES, topics.aliases()),
        files.group("Topics", [files.SPECIFICATION], topics.returned()),
        files.group("Topics", CHARACTERS, topics.refusals()),
        files.group("BrokerEndpoint", [files.SPECIFICATION, "RFC 3986, section 3"], brokers.endpoints()),
        files.group("ClientId", CLIENT_IDS, brokers.client_ids()),
        files.group("Presence", CURRENT_LAYOUT, topics.presences()),
    ]
    description = "MQTT: topics derived and issued, addresses of brokers, client ids, presence."
    files.write("mqtt-topics", description, NOTES, groups, CHOICES)

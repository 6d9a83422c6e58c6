"""MQTT: the topics of a client, the broker's endpoint, and client ids."""

import brokers
import files
import topic_refusals
import topics

NOTES = {
    "AccessKey": (
        "The key in topics is the access key, and without one the user name at the broker. A failure most likely "
        "takes the user name always."
    ),
    "Alias": "MQTT settings were issued with many names for the same field. A failure most likely knows one spelling.",
    "BadArgument": (
        "Name and key are texts that are not empty. A failure most likely converts them, and two clients share an id."
    ),
    "BadEndpoint": (
        "What is no URL, has another scheme, or holds credentials, a query or a fragment, is refused, whatever `tls` "
        "says. Host, port and path have no white space, controls or backslashes, the host none of ASCII's delimiters, and "
        "the port digits of ASCII alone. Whoever connects sends credentials in clear, or somewhere else."
    ),
    "BadTopic": (
        "A topic has no wildcards, white space, controls or empty levels, does not start with $, and has 65535 bytes "
        "at most. Whoever accepts it publishes or subscribes to what a broker refuses or others read."
    ),
    "ClientId": (
        "The program's name, a hyphen, and of the access key 48 characters, with a hyphen for each that is no letter, "
        "digit, _ or -. A code point is one character, which is a choice: clients that count bytes or UTF-16 units write "
        "more hyphens. A failure most likely cuts the whole, or cuts before it replaces."
    ),
    "Derived": "Topics under the prefix, whose last level is the key. A failure most likely uses an earlier layout.",
    "EarlierLayout": (
        "Topics of earlier hubs: the direction, then the key or its hash, under prefix and hub id. A failure most "
        "likely adds the hub id twice, or knows today's layout alone."
    ),
    "HashedTopics": (
        "With hash_topics the key's place is taken by the first 16 hexadecimal digits of its SHA-256. A failure most "
        "likely takes 16 bytes, or hashes the user name."
    ),
    "NoTopics": (
        "With nothing to derive a topic from there is none. A failure most likely makes one up from the access key."
    ),
    "OutOfScope": (
        "Returned topics are checked to lie in the client's own scope, level by level: they start with the prefix, or "
        "with prefix and hub id, and where that does not end with a level that names the client, they have such a level "
        "after it, or are a single level. With neither prefix nor hub id, such a level anywhere is all that can be "
        "asked. Whoever accepts others can be sent to another client's topics; a failure most likely compares "
        "beginnings of texts."
    ),
    "Plaintext": (
        "An address without TLS is refused, unless allowPlaintext says that it will do. A `tls` that cannot be read, such "
        "as one with a space, counts as absent. A failure most likely sends the password in clear."
    ),
    "Port": (
        "The port is the one given, or that of the effective scheme. A failure most likely takes that of the scheme "
        "given."
    ),
    "Returned": (
        "Topics that were returned count before derived ones, each on its own, as they are. A failure most likely "
        "derives all as soon as one is missing."
    ),
    "SiblingStatus": (
        "Without a status topic and without a prefix it is the sibling of the topic to publish to. A failure most "
        "likely has none, or replaces a word in the middle of a level."
    ),
    "Tls": (
        "The effective URL decides about TLS: `tls` turns mqtt: into mqtts: and ws: into wss:, and turns nothing off. "
        "A failure most likely looks at the flag or at mqtts: alone."
    ),
    "Trimmed": (
        "White space, then slashes, are trimmed from prefix and hub id. White space is what ECMAScript's trim() takes "
        "off: that of Unicode but for U+0085, and U+FEFF. A failure most likely leaves an empty level."
    ),
    "Url": (
        "The URL to connect to has the scheme in lower case, brackets around an IPv6 address, which `host` has not, "
        "and a path for WebSockets alone, without a slash at its end. A failure most likely normalizes more, or less."
    ),
    "WrongType": (
        "A field of a wrong type is refused by its name. A failure most likely converts it into a level of a topic."
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


def build():
    groups = [
        files.group("Topics", CURRENT_LAYOUT, topics.derived()),
        files.group("Topics", EARLIER_LAYOUT, topics.derived_earlier()),
        files.group("Topics", NAMES, topics.aliases()),
        files.group("Topics", [files.SPECIFICATION], topics.returned()),
        files.group("Topics", CHARACTERS, topic_refusals.tests()),
        files.group("BrokerEndpoint", [files.SPECIFICATION, "RFC 3986, section 3"], brokers.endpoints()),
        files.group("ClientId", CLIENT_IDS, brokers.client_ids()),
    ]
    files.write("mqtt-topics", "MQTT: topics derived and returned, endpoints of brokers, client ids.", NOTES, groups)

"""Topics that are refused, and fields of the wrong type."""

import json

from topics import ISSUED, PREFIX, refuses

MAX_TOPIC = 65535
BAD_LEVELS = [
    ("a wildcard for a level", "+"),
    ("a wildcard for all levels", "#"),
    ("+ inside a level", "a+b"),
    ("# inside a level", "a#b"),
    ("a blank", "a b"),
    ("a tab", "a\tb"),
    ("a line feed", "a\nb"),
    ("a no-break space", "a\xa0b"),
    ("an em space", "a\u2003b"),
    ("U+FEFF", "a\ufeffb"),
    ("U+0085", "a\x85b"),
    ("U+0000", "a\0b"),
    ("U+0001", "a\x01b"),
    ("U+001F", "a\x1fb"),
    ("U+007F", "a\x7fb"),
    ("an empty level", "a//b"),
]
BAD_PREFIXES = [("empty", ""), ("white space alone", " \t"), ("slashes alone", "//"), ("$ at its start", "$SYS/a")]
BAD_RETURNED = [
    ("empty", ""),
    ("a slash at its start", f"/{PREFIX}/in"),
    ("a slash at its end", f"{PREFIX}/in/"),
    ("a blank at its start", f" {PREFIX}/in"),
    ("a blank at its end", f"{PREFIX}/in "),
    ("$ at its start", f"$share/{PREFIX}/in"),
]
WRONG_TYPES = [
    ("topic_prefix", 1),
    ("topic_prefix", ["hivemind"]),
    ("hub_id", 1),
    ("c2s_topic", 1),
    ("s2c_topic", {}),
    ("status_topic", False),
    ("hash_topics", "maybe"),
    ("hash_topics", []),
    ("username", 1),
    ("access_key", 1),
]


def tests():
    return [*bad_topics(), *wrong_types()]


def bad_topics():
    def refused(comment, **settings):
        return refuses(comment, "BadTopic", "bad-topic", {**ISSUED, **settings})

    tests = []
    for comment, level in BAD_LEVELS:
        tests.append(refused(f"topic_prefix: {comment}", topic_prefix=f"hivemind/{level}/a"))
        tests.append(refused(f"hub_id: {comment}", hub_id=f"hub{level}1"))
        tests.append(refused(f"c2s_topic: {comment}", topic_prefix=PREFIX, c2s_topic=f"{PREFIX}/{level}/in"))
    for comment, text in BAD_PREFIXES:
        tests += [refused(f"{field}: {comment}", **{field: text}) for field in ["topic_prefix", "hub_id"]]
    for comment, topic in BAD_RETURNED:
        for field in ["c2s_topic", "s2c_topic", "status_topic"]:
            tests.append(refused(f"{field}: {comment}", topic_prefix=PREFIX, **{field: topic}))
    long = "k" * (MAX_TOPIC + 1 - len("/status"))
    return [
        *tests,
        refused("access_key: a wildcard, in a derived topic", hub_id="hub-1", access_key="a+b"),
        refused("access_key: a blank, in a derived topic", hub_id="hub-1", access_key="a b"),
        refused("topic_prefix: 65536 bytes in the longest topic", topic_prefix=long),
    ]


def wrong_types():
    def refused(comment, mqtt):
        return refuses(comment, "WrongType", "identity-field", mqtt)

    tests = [
        refused(f"{json.dumps(mqtt)} in place of an object", mqtt) for mqtt in [None, [], "mqtts://broker.example", 1]
    ]
    for field, value in WRONG_TYPES:
        tests.append(refused(f"{field}: {json.dumps(value)}", {**ISSUED, "topic_prefix": PREFIX, field: value}))
    return tests

"""The topics of a client: derived, or as issued. In the tables, settings are beside credentials."""

import hashlib
import json

import files
from issued import ALIASES

KEY, USER = "access-key-7f3a", "broker-user-5d"
BROKER = {"endpoint": "mqtts://broker.example", "username": USER, "password": "broker-password-2b"}
ISSUED = {**BROKER, "access_key": KEY}


def short_hash(text):
    return hashlib.sha256(text.encode()).hexdigest()[:16]


HASH = short_hash(KEY)
BASE = "hivemind/hub-1"
PREFIX = f"{BASE}/{KEY}"
UP, DOWN, HERE = f"{BASE}/c2s/{KEY}", f"{BASE}/s2c/{KEY}", f"{BASE}/status/{KEY}"  # the earlier layout


def derives(comment, flag, mqtt, publish, subscribe, status):
    return files.valid(comment, flag.split(), mqtt=mqtt, publish=publish, subscribe=subscribe, status=status)


def today(comment, flag, settings, prefix):
    return derives(comment, flag, {**ISSUED, **settings}, f"{prefix}/in", f"{prefix}/out", f"{prefix}/status")


def earlier(comment, flag, settings, base, key=KEY, issued=ISSUED):
    return derives(
        comment, flag, {**issued, **settings}, f"{base}/c2s/{key}", f"{base}/s2c/{key}", f"{base}/status/{key}"
    )


def refuses(comment, flag, error, mqtt):
    return files.invalid(comment, [flag], error, mqtt=mqtt)


# Settings, and the prefix of the current layout that follows.
UNDER_PREFIX = [
    ("a prefix that ends with the access key", {"topic_prefix": PREFIX}, PREFIX),
    ("a prefix that ends otherwise", {"topic_prefix": "hivemind/hub-1/kiosk"}, "hivemind/hub-1/kiosk"),
    ("a prefix of one level", {"topic_prefix": "kiosk"}, "kiosk"),
    ("a hub id that is in the prefix", {"topic_prefix": PREFIX, "hub_id": "hub-1"}, PREFIX),
    ("a hub id that is not in the prefix", {"topic_prefix": PREFIX, "hub_id": "hub-2"}, PREFIX),
    ("a prefix that ends with the user name", {"topic_prefix": f"{BASE}/{USER}", "hub_id": "hub-1"}, f"{BASE}/{USER}"),
    ("a prefix that ends with the key's hash", {"topic_prefix": f"{BASE}/{HASH}", "hub_id": "hub-1"}, f"{BASE}/{HASH}"),
    ("hash_topics, which is no matter here", {"topic_prefix": PREFIX, "hash_topics": True}, PREFIX),
    ("letters beyond ASCII", {"topic_prefix": "caf\xe9/\U0001f3e0"}, "caf\xe9/\U0001f3e0"),
    ("characters with a meaning elsewhere", {"topic_prefix": "a$b/c*d/e?f"}, "a$b/c*d/e?f"),
    ("null for a hub id", {"topic_prefix": PREFIX, "hub_id": None}, PREFIX),
    ("null for returned topics", {"topic_prefix": PREFIX, "c2s_topic": None, "s2c_topic": None}, PREFIX),
]
SPELLED = [f" {PREFIX} ", f"\t{PREFIX}\r\n", f"/{PREFIX}", f"{PREFIX}/", f"//{PREFIX}//", f" /{PREFIX}/ "]
SPELLED += [f"{space}{PREFIX}{space}" for space in ["\xa0", "\u2003", "\u3000", "\ufeff"]]

# Settings, and the levels to which the earlier layout appends the direction.
UNDER_HUB_ID = [
    ("a hub id alone", {"hub_id": "hub-1"}, "hivemind/hub-1"),
    ("a hub id after the prefix", {"hub_id": "hub-1", "topic_prefix": "site/a"}, "site/a/hub-1"),
    ("a hub id that ends the prefix", {"hub_id": "hub-1", "topic_prefix": "site/hub-1"}, "site/hub-1"),
    ("a hub id that starts the prefix", {"hub_id": "hub-1", "topic_prefix": "hub-1/site"}, "hub-1/site"),
    ("a hub id that is part of a level", {"hub_id": "hub-1", "topic_prefix": "site/hub-10"}, "site/hub-10/hub-1"),
    ("a key that does not end the prefix", {"hub_id": "hub-1", "topic_prefix": f"{KEY}/site"}, f"{KEY}/site/hub-1"),
    ("hash_topics off", {"hub_id": "hub-1", "hash_topics": False}, "hivemind/hub-1"),
]
# Access keys that their hash replaces.
HASHED_KEYS = [KEY, "cl\xe9 \U0001f511", "a+b", "k" * 55, "k" * 56, "k" * 64]


def derived():
    """The current layout."""
    tests = [today(comment, "Derived", settings, prefix) for comment, settings, prefix in UNDER_PREFIX]
    tests += [today(f"prefix {json.dumps(text)}", "Trimmed", {"topic_prefix": text}, PREFIX) for text in SPELLED]
    return tests


def derived_earlier():
    around = {"topic_prefix": "/site/", "hub_id": " /hub-1/ "}
    hashed = {"hub_id": "hub-1", "hash_topics": True}
    tests = [earlier("slashes around prefix and hub id", "Trimmed", around, "site/hub-1")]
    tests += [earlier(comment, "EarlierLayout", settings, base) for comment, settings, base in UNDER_HUB_ID]
    for key in HASHED_KEYS:
        comment = f"access key {json.dumps(key)}"
        tests.append(earlier(comment, "HashedTopics", {**hashed, "access_key": key}, BASE, short_hash(key)))
    return [
        *tests,
        earlier("hash_topics and a prefix", "HashedTopics", {**hashed, "topic_prefix": "site"}, "site/hub-1", HASH),
        earlier("no access key", "AccessKey", {"hub_id": "hub-1"}, BASE, USER, BROKER),
        earlier("no access key, and hash_topics", "AccessKey", hashed, BASE, short_hash(USER), BROKER),
    ]


def aliases():
    names = ALIASES["mqtt"]
    tests = [today(name, "Alias", {name: PREFIX}, PREFIX) for name in names["topicPrefix"]]
    tests += [earlier(name, "Alias", {name: "hub-1"}, BASE) for name in names["hubId"]]
    tests += [earlier(name, "Alias", {"hub_id": "hub-1", name: True}, BASE, HASH) for name in names["hashTopics"]]
    for name in names["accessKey"]:
        tests.append(earlier(name, "Alias", {"hub_id": "hub-1", name: KEY}, BASE, issued=BROKER))
    for name in names["username"]:
        tests.append(earlier(name, "Alias", {"hub_id": "hub-1", name: USER}, BASE, USER, {}))
    tests += two_aliases(names)
    for position, field in enumerate(["c2sTopic", "s2cTopic", "statusTopic"]):
        for name in names[field]:
            used = [f"{PREFIX}/in", f"{PREFIX}/out", f"{PREFIX}/status"]
            used[position] = f"{PREFIX}/elsewhere"
            mqtt = {**ISSUED, "topic_prefix": PREFIX, name: used[position]}
            tests.append(derives(name, "Alias", mqtt, *used))
    return tests


def two_aliases(names):
    """Both of two names, the later one earlier in the text: the first in the list counts."""
    (prefix, prefix_2), (hub, hub_2), (hashed, hashed_2) = names["topicPrefix"], names["hubId"], names["hashTopics"]
    first, second = names["c2sTopic"]
    up, other = f"{PREFIX}/up", f"{PREFIX}/other"
    key, key_2 = names["accessKey"][:2]
    either = {"hub_id": "hub-1", hashed_2: False, hashed: True}
    return [
        today(f"{prefix_2}, then {prefix}", "Alias", {prefix_2: "kiosk", prefix: PREFIX}, PREFIX),
        today(f"{prefix_2}, then null for {prefix}", "Alias", {prefix_2: PREFIX, prefix: None}, PREFIX),
        earlier(f"{hub_2}, then {hub}", "Alias", {hub_2: "hub-2", hub: "hub-1"}, BASE),
        earlier(f"{hashed_2}, then {hashed}", "Alias", either, BASE, HASH),
        earlier(f"{key_2}, then {key}", "Alias", {"hub_id": "hub-1", key_2: "other", key: KEY}, BASE, issued=BROKER),
        derives(
            f"{second}, then {first}",
            "Alias",
            {**ISSUED, **PREFIXED, second: other, first: up},
            up,
            f"{PREFIX}/out",
            f"{PREFIX}/status",
        ),
    ]


# Issued topics: to publish to, to subscribe to, for the status; and the topics that are used.
PREFIXED = {"topic_prefix": PREFIX}
IDENTIFIED = {"hub_id": "hub-1"}
UP_TODAY, DOWN_TODAY, HERE_TODAY = f"{PREFIX}/up", f"{PREFIX}/down", f"{PREFIX}/a/b"
BY_USER = f"{BASE}/{USER}/in", f"{BASE}/{USER}/out"
BY_HASH = f"{BASE}/c2s/{HASH}", f"{BASE}/{HASH}/s2c"
SHARED = {"topic_prefix": BASE}
BELOW = f"{BASE}/{KEY}/in", f"{BASE}/out/{KEY}"
SINGLE = f"{BASE}/up", f"{BASE}/down", f"{BASE}/here"
ANYWHERE = f"a/in/{KEY}", f"{KEY}/out", f"b/{KEY}/c"
RETURNED = [
    ("all of them", PREFIXED, [UP_TODAY, DOWN_TODAY, HERE_TODAY], [UP_TODAY, DOWN_TODAY, HERE_TODAY]),
    ("one to publish to", PREFIXED, [UP_TODAY, None, None], [UP_TODAY, f"{PREFIX}/out", f"{PREFIX}/status"]),
    ("one to subscribe to", PREFIXED, [None, DOWN_TODAY, None], [f"{PREFIX}/in", DOWN_TODAY, f"{PREFIX}/status"]),
    ("one for the status", PREFIXED, [None, None, HERE_TODAY], [f"{PREFIX}/in", f"{PREFIX}/out", HERE_TODAY]),
    ("all of them, with a hub id", IDENTIFIED, [UP, DOWN, HERE], [UP, DOWN, HERE]),
    ("the user name for a level, with a hub id", IDENTIFIED, [*BY_USER, None], [*BY_USER, HERE]),
    ("the key's hash for a level, with a hub id", IDENTIFIED, [*BY_HASH, None], [*BY_HASH, HERE]),
    ("the key for a level, with neither prefix nor hub id", {}, [*ANYWHERE], [*ANYWHERE]),
    ("the key for a level below a prefix that ends otherwise", SHARED, [*BELOW, None], [*BELOW, f"{BASE}/status"]),
    ("single levels below a prefix that ends otherwise", SHARED, [*SINGLE], [*SINGLE]),
]
# Topics to publish to and to subscribe to, and the status topic derived from them, if any.
SIBLINGS = [
    ("c2s among other levels", UP, DOWN, HERE),
    ("c2s for the first level", f"c2s/{KEY}", f"s2c/{KEY}", f"status/{KEY}"),
    ("c2s for the last level", f"{KEY}/c2s", f"{KEY}/s2c", f"{KEY}/status"),
    ("c2s inside a level, and for the next", f"ac2s/c2s/{KEY}", f"s2c/{KEY}", f"ac2s/status/{KEY}"),
    ("in for the last level", f"a/{KEY}/in", f"a/{KEY}/out", f"a/{KEY}/status"),
    ("in for the first level", f"in/{KEY}", f"out/{KEY}", None),
    ("in inside the last level", f"{KEY}/plugin", f"{KEY}/out", None),
    ("no direction", f"{KEY}/up", f"{KEY}/down", None),
]
ANOTHER = "another-key-22"
OUT_OF_SCOPE = [
    ("publishing under another prefix", PREFIXED, [f"{BASE}/{ANOTHER}/in", None, None]),
    ("subscribing under another prefix", PREFIXED, [None, f"{BASE}/{ANOTHER}/out", None]),
    ("a status under another prefix", PREFIXED, [None, None, f"{BASE}/{ANOTHER}/status"]),
    ("a level that only starts like the prefix's last", PREFIXED, [f"{PREFIX}2/in", None, None]),
    ("the prefix itself", PREFIXED, [PREFIX, None, None]),
    ("the prefix further down", PREFIXED, [f"a/{PREFIX}/in", None, None]),
    ("the prefix in another case", PREFIXED, [f"{PREFIX.upper()}/in", None, None]),
    ("another key, with a hub id", IDENTIFIED, [f"{BASE}/c2s/{ANOTHER}", None, None]),
    ("a level that only starts like the key, with a hub id", IDENTIFIED, [f"{BASE}/c2s/{KEY}2", None, None]),
    ("another hub id", IDENTIFIED, [f"hivemind/hub-2/c2s/{KEY}", None, None]),
    ("another hub id, to subscribe to", IDENTIFIED, [None, f"hivemind/hub-2/s2c/{KEY}", None]),
    ("another hub id, for the status", IDENTIFIED, [None, None, f"hivemind/hub-2/status/{KEY}"]),
    ("another hub id, under a prefix", {**IDENTIFIED, "topic_prefix": "site"}, [f"site/hub-2/c2s/{KEY}", None, None]),
    ("hub id and key under another prefix", IDENTIFIED, [f"evil/hub-1/{KEY}", None, None]),
    ("hub id and key under another prefix, to subscribe to", IDENTIFIED, [None, f"evil/hub-1/{KEY}", None]),
    ("hub id and key under another prefix, for the status", IDENTIFIED, [None, None, f"evil/hub-1/{KEY}"]),
    ("hub id and key under another prefix than the one issued", PREFIXED, [f"evil/hub-1/{KEY}", None, None]),
    ("hub id and key without a prefix", IDENTIFIED, [f"hub-1/c2s/{KEY}", None, None]),
    ("another key, under a prefix that ends otherwise", SHARED, [f"{BASE}/{ANOTHER}/in", None, None]),
    ("another key, to subscribe to, under a prefix that ends otherwise", SHARED, [None, f"{BASE}/{ANOTHER}/out", None]),
    ("another key, for the status, under a prefix that ends otherwise", SHARED, [None, None, f"{BASE}/s/{ANOTHER}"]),
    ("several levels below a prefix that ends otherwise", SHARED, [f"{BASE}/a/b/in", None, None]),
    ("several levels below, to subscribe to", SHARED, [None, f"{BASE}/a/b/out", None]),
    ("several levels below, for the status", SHARED, [None, None, f"{BASE}/a/b/status"]),
    ("the direction for a level, without the key", SHARED, [f"{BASE}/c2s/a", f"{BASE}/s2c/a", None]),
    ("two levels below a prefix of three levels", {"topic_prefix": "site/a/b"}, ["site/a/b/c/in", None, None]),
    ("another key, with neither prefix nor hub id", {}, [f"c2s/{ANOTHER}", DOWN, HERE]),
    ("the key inside a level, with neither prefix nor hub id", {}, [UP, f"s2c/x{KEY}", HERE]),
]


def issued_with(settings, topics):
    returned = zip(["c2s_topic", "s2c_topic", "status_topic"], topics)
    return {**ISSUED, **settings, **{name: topic for name, topic in returned if topic}}


def returned():
    tests = []
    for comment, settings, topics, used in RETURNED:
        flag = "EarlierLayout" if settings is IDENTIFIED and None in topics else "Returned"
        tests.append(derives(comment, flag, issued_with(settings, topics), *used))
    for comment, publish, subscribe, status in SIBLINGS:
        mqtt = issued_with({}, [publish, subscribe])
        if status:
            tests.append(derives(comment, "SiblingStatus", mqtt, publish, subscribe, status))
        else:
            tests.append(refuses(comment, "SiblingStatus", "no-topics", mqtt))
    for comment, topics in [
        ("one to publish to alone", [UP, None, None]),
        ("one to subscribe to alone", [None, DOWN, None]),
        ("one for the status alone", [None, None, HERE]),
    ]:
        tests.append(refuses(comment, "NoTopics", "no-topics", issued_with({}, topics)))
    tests += [
        refuses("neither prefix nor hub id", "NoTopics", "no-topics", ISSUED),
        refuses("nothing at all", "NoTopics", "no-topics", {}),
    ]
    return tests + [
        refuses(comment, "OutOfScope", "topic-out-of-scope", issued_with(settings, topics))
        for comment, settings, topics in OUT_OF_SCOPE
    ]


def presences():
    def presence(status):
        will, online = ({"topic": status, "payload": text, "qos": 1, "retain": True} for text in ("offline", "online"))
        return files.valid(f"on {status}", ["Presence"], status=status, will=will, online=online, offline=will)

    return [presence(topic) for topic in [f"hivemind/hub-1/{KEY}/status", f"site/hub-1/status/{KEY}", "a"]]


# Topics that are refused, and fields of the wrong type

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


def refusals():
    return [*bad_topics(), *wrong_types()]


def bad_topics():
    def refused(comment, **settings):
        return refuses(comment, "BadTopic", "bad-topic", {**ISSUED, **settings})

    def odd(comment, **settings):
        return refuses(comment, "OddTopic", "bad-topic", {**ISSUED, **settings})

    tests = []
    for comment, level in BAD_LEVELS:
        bad = refused if set(level) & set("+#\0") else odd
        tests.append(bad(f"topic_prefix: {comment}", topic_prefix=f"hivemind/{level}/a"))
        tests.append(bad(f"hub_id: {comment}", hub_id=f"hub{level}1"))
        tests.append(bad(f"c2s_topic: {comment}", topic_prefix=PREFIX, c2s_topic=f"{PREFIX}/{level}/in"))
    for comment, text in BAD_PREFIXES:
        tests += [odd(f"{field}: {comment}", **{field: text}) for field in ["topic_prefix", "hub_id"]]
    for comment, topic in BAD_RETURNED:
        for field in ["c2s_topic", "s2c_topic", "status_topic"]:
            tests.append(odd(f"{field}: {comment}", topic_prefix=PREFIX, **{field: topic}))
    long = "k" * (MAX_TOPIC + 1 - len("/status"))
    longest = long[1:]
    letters = "k" + "\xe9" * ((len(long) - 1) // 2)
    assert len(letters.encode()) == len(long)
    return [
        *tests,
        today("topic_prefix: 65535 bytes in the longest topic", "BadTopic", {"topic_prefix": longest}, longest),
        refused("access_key: a wildcard, in a derived topic", hub_id="hub-1", access_key="a+b"),
        odd("access_key: a blank, in a derived topic", hub_id="hub-1", access_key="a b"),
        refused("topic_prefix: 65536 bytes in the longest topic", topic_prefix=long),
        refused("topic_prefix: 65536 bytes and half as many characters in the longest topic", topic_prefix=letters),
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

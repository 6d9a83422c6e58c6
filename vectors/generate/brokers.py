"""The address of the broker, and the client id."""

import json

import files
import url_refusals
from issued import ALIASES
from topics import BROKER, KEY

# A scheme and its port, and those that `tls` turns them into.
SCHEMES = [
    ("mqtt", 1883, "mqtts", 8883),
    ("mqtts", 8883, "mqtts", 8883),
    ("ssl", 8883, "ssl", 8883),
    ("ws", 80, "wss", 443),
    ("wss", 443, "wss", 443),
]
# Endpoint and `tls`, and the URL, port and TLS that follow.
SPELLINGS = [
    ("MQTT://broker.example", False, "mqtt://broker.example", 1883, False),
    ("MqttS://broker.example", False, "mqtts://broker.example", 8883, True),
    ("SSL://broker.example", False, "ssl://broker.example", 8883, True),
    ("WS://broker.example", True, "wss://broker.example", 443, True),
    ("mqtt://broker.example", None, "mqtt://broker.example", 1883, False),
]
PORTS = [1, 1883, 8883, 65535]
# Endpoint, and the URL, host and port that follow.
URLS = [
    ("mqtts://192.0.2.7", "mqtts://192.0.2.7", "192.0.2.7", 8883),
    ("mqtts://[2001:db8::1]", "mqtts://[2001:db8::1]", "2001:db8::1", 8883),
    ("mqtts://[2001:db8::1]:8884", "mqtts://[2001:db8::1]:8884", "2001:db8::1", 8884),
    ("mqtts://broker.example/", "mqtts://broker.example", "broker.example", 8883),
    ("mqtts://broker.example/mqtt", "mqtts://broker.example", "broker.example", 8883),
    ("ssl://broker.example:8884/a/b/", "ssl://broker.example:8884", "broker.example", 8884),
    ("mqtts://my_broker~1.example", "mqtts://my_broker~1.example", "my_broker~1.example", 8883),
    ("wss://broker.example/", "wss://broker.example", "broker.example", 443),
    ("wss://broker.example/mqtt", "wss://broker.example/mqtt", "broker.example", 443),
    ("wss://broker.example/mqtt/", "wss://broker.example/mqtt", "broker.example", 443),
    ("wss://broker.example:8084/a/b", "wss://broker.example:8084/a/b", "broker.example", 8084),
]
BAD_URLS = [
    "broker.example",
    "broker.example:8883",
    "//broker.example",
    "mqtts:broker.example",
    "mqtts:/broker.example",
    "mqtts://",
    "mqtts:///mqtt",
    "mqtts://user:password@broker.example",
    "mqtts://user@broker.example",
    "mqtts://@broker.example",
    "mqtts://broker.example?a=1",
    "wss://broker.example/mqtt?a=1",
    "wss://broker.example/mqtt#a",
]


def connects(flag, mqtt, url, port, is_secure, host="broker.example", comment=None):
    settings = [mqtt["endpoint"]] if "endpoint" in mqtt else []
    settings += [f"tls {json.dumps(mqtt['tls'])}"] if "tls" in mqtt else []
    comment = comment or ", ".join(settings)
    allowed = {} if is_secure else {"allowPlaintext": True}
    return files.valid(comment, flag.split(), mqtt=mqtt, **allowed, url=url, host=host, port=port, tls=is_secure)


def refuses(comment, flag, error, mqtt, **options):
    return files.invalid(comment, [flag], error, mqtt=mqtt, **options)


def endpoints():
    tests = []
    for scheme, port, secure_scheme, secure_port in SCHEMES:
        is_secure = scheme == secure_scheme
        tls, with_port = ("WebSocket", "WebSocket") if scheme.startswith("ws") else ("Tls", "Port")
        url, secure_url = f"{scheme}://broker.example", f"{secure_scheme}://broker.example"
        plain = {**BROKER, "endpoint": url}
        tests.append(connects(tls, plain, url, port, is_secure))
        tests.append(connects(tls, {**plain, "tls": False}, url, port, is_secure))
        tests.append(connects(tls, {**plain, "tls": True}, secure_url, secure_port, True))
        plain = {**BROKER, "endpoint": f"{url}:4433"}
        tests.append(connects(with_port, plain, f"{url}:4433", 4433, is_secure))
        tests.append(connects(with_port, {**plain, "tls": True}, f"{secure_url}:4433", 4433, True))
    for endpoint, tls, url, port, is_secure in SPELLINGS:
        flag = "WebSocket" if endpoint.startswith("WS") else "Tls"
        tests.append(connects(flag, {**BROKER, "endpoint": endpoint, "tls": tls}, url, port, is_secure))
    for port in PORTS:
        url = f"mqtts://broker.example:{port}"
        tests.append(connects("Port", {**BROKER, "endpoint": url}, url, port, True))
    for endpoint, url, host, port in URLS:
        tests.append(connects("Url", {**BROKER, "endpoint": endpoint}, url, port, True, host))
    for name in ALIASES["mqtt"]["endpoint"]:
        tests.append(connects("Alias", {name: BROKER["endpoint"]}, BROKER["endpoint"], 8883, True, comment=name))
    read = {**BROKER, "accessKey": KEY, "tls": True, "qos": 1, "hashTopics": False}
    tests.append(connects("Tls", read, BROKER["endpoint"], 8883, True, comment="as read from an identity"))
    return [*tests, *bad_endpoints()]


def bad_endpoints():
    tests = []
    mqtts = {**BROKER, "tls": 2}
    tests.append(connects("Tls", mqtts, BROKER["endpoint"], 8883, True, comment="mqtts:, tls 2, which cannot be read"))
    for url in dict.fromkeys([*BAD_URLS, *url_refusals.urls("mqtts", "broker.example"), "", " "]):
        comment = url_refusals.shown(url)
        tests.append(refuses(comment or "empty", "BadEndpoint", "bad-endpoint", {**BROKER, "endpoint": url}))
    for mqtt in [None, [], "mqtts://broker.example"]:
        tests.append(refuses(f"{json.dumps(mqtt)} in place of an object", "WrongType", "identity-field", mqtt))
    for value in [1, ["mqtts://broker.example"], {}]:
        comment = f"endpoint: {json.dumps(value)}"
        tests.append(refuses(comment, "WrongType", "bad-endpoint", {**BROKER, "endpoint": value}))
    return tests


# Name, access key, client id
CLIENT_IDS = [
    ("every character that stays", "kiosk", "AZaz09_-", "kiosk-AZaz09_-"),
    ("a hyphen for every other one", "kiosk", "a.b+c/d e:f", "kiosk-a-b-c-d-e-f"),
    ("a letter beyond ASCII", "kiosk", "cl\xe9", "kiosk-cl-"),
    ("a character beyond U+FFFF, which is one", "kiosk", "a\U0001f511b", "kiosk-a-b"),
    ("nothing that stays", "kiosk", "+++", "kiosk----"),
    ("a key of one character", "k", "1", "k-1"),
    ("a key of 48 characters", "kiosk", "k" * 48, "kiosk-" + "k" * 48),
    ("a key of 49 characters", "kiosk", "k" * 48 + "l", "kiosk-" + "k" * 48),
    ("a key of 100 characters", "kiosk", "0123456789" * 10, "kiosk-" + "0123456789" * 4 + "01234567"),
    ("a character beyond U+FFFF at the end", "kiosk", "k" * 47 + "\U0001f511k", "kiosk-" + "k" * 47 + "-"),
    ("characters beyond U+FFFF, then more", "kiosk", "\U0001f511" * 24 + "k" * 40, "kiosk-" + "-" * 24 + "k" * 24),
    ("a name that is long", "n" * 60, "key", "n" * 60 + "-key"),
    ("a name with other characters", "my kiosk/2", "key", "my kiosk/2-key"),
]
BAD_ARGUMENTS = [
    ("an empty name", "", "key"),
    ("an empty key", "kiosk", ""),
    ("a number for a name", 1, "key"),
    ("a number for a key", "kiosk", 12345678),
    ("null for a key", "kiosk", None),
]


def client_ids():
    tests = [
        files.valid(comment, ["ClientId"], name=name, accessKey=key, clientId=expected)
        for comment, name, key, expected in CLIENT_IDS
    ]
    return tests + [
        files.invalid(comment, ["BadArgument"], "bad-argument", name=name, accessKey=key)
        for comment, name, key in BAD_ARGUMENTS
    ]

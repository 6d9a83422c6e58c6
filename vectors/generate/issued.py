"""An identity with the required fields only, as issued and as read; and tests of what is added to it."""

import json

import files

ALIASES = json.loads((files.DIRECTORY / "aliases" / "identity.json").read_text(encoding="ascii"))
ACCESS_KEY, PASSWORD = "access-key-7f3a", "password-9c1e"
ISSUED = {"access_key": ACCESS_KEY, "password": PASSWORD}
READ = {
    "accessKey": ACCESS_KEY,
    "password": PASSWORD,
    "siteId": "",
    "defaultPort": 5679,
    "defaultPath": "",
    "dataPlaneEndpoints": {},
    "protocols": {"wss": True, "https": False, "mqtt": False},
}
BROKER = {"endpoint": "mqtt://broker.example", "username": "broker-user-5d", "password": "broker-password-2b"}
READ_BROKER = {**BROKER, "accessKey": ACCESS_KEY, "tls": False, "qos": 1, "hashTopics": False}
WITH_BROKER = {**READ["protocols"], "mqtt": True}
SECRETS = ["accessKey", "password", "cryptoKey"]
BROKER_SECRETS = ["username", "password", "topicPrefix", "c2sTopic", "s2cTopic", "statusTopic"]


def text(fields):
    return json.dumps(fields, separators=(",", ":"))


def reads(comment, flag, issued, read=READ, further_secrets=()):
    mqtt = read.get("mqtt", {})
    secrets = [read[name] for name in SECRETS if name in read] + [mqtt[name] for name in BROKER_SECRETS if name in mqtt]
    secrets = list(dict.fromkeys([*secrets, *further_secrets]))
    issued = issued if isinstance(issued, str) else text(issued)
    return files.valid(comment, [flag], text=issued, identity=read, secrets=secrets)


def adds(comment, flag, issued, further_secrets=(), **read):
    """An identity with further fields, and what these add to what is read."""
    if "https" in read.get("dataPlaneEndpoints", {}):
        read = {"protocols": {**READ["protocols"], "https": True}, **read}
    return reads(comment, flag, {**ISSUED, **issued}, {**READ, **read}, further_secrets)


def adds_broker(comment, flag, issued, further_secrets=(), **read):
    mqtt = {**READ_BROKER, **read}
    return adds(comment, flag, {"mqtt": {**BROKER, **issued}}, further_secrets, protocols=WITH_BROKER, mqtt=mqtt)


def refuses(comment, issued, error):
    return files.invalid(comment, ["Malformed"], error, text=issued if isinstance(issued, str) else text(issued))

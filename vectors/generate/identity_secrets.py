"""Identities with secrets, none of which may be shown."""

import base64

from issued import ACCESS_KEY, BROKER, READ_BROKER, WITH_BROKER, adds, adds_broker

AUTHORIZATION = "cG9ydDphY2Nlc3Mta2V5LTdmM2E="
TOPICS = {
    "topic_prefix": f"hivemind/hub-1/{ACCESS_KEY}",
    "c2s_topic": "hivemind/hub-1/c2s/topic-key-8a",
    "s2c_topic": "hivemind/hub-1/s2c/topic-key-8b",
    "status_topic": "hivemind/hub-1/status/topic-key-8c",
}
READ_TOPICS = {
    "topicPrefix": TOPICS["topic_prefix"],
    "c2sTopic": TOPICS["c2s_topic"],
    "s2cTopic": TOPICS["s2c_topic"],
    "statusTopic": TOPICS["status_topic"],
}


def tests():
    quoted = 'quote"back\\slash'
    return [
        adds("the crypto key", "Redaction", {"crypto_key": "crypto-key-e4"}, cryptoKey="crypto-key-e4"),
        adds("a crypto key that JSON escapes", "Redaction", {"crypto_key": quoted}, cryptoKey=quoted),
        adds("an unknown field", "Redaction", {"api_token": "vendor-token-77"}, ["vendor-token-77"]),
        adds_broker("the broker's credentials", "Redaction", {}),
        adds_broker("topics, which end with the access key", "Redaction", TOPICS, **READ_TOPICS),
        *urls(),
        *spelled(),
        everything(),
    ]


def urls():
    """Credentials in URLs, in every field that can have one."""

    def at(name, url, found):
        return adds(f"{name}: {url}", "Redaction", {"data_plane_endpoints": {name: url}}, found, dataPlaneEndpoints={name: url})

    user, password, first, second = "url-user", "url-password", "url-first", "url-second"
    master = f"wss://{user}:{password}@hub.example"
    broker = f"mqtt://{user}:{password}@broker.example"
    return [
        at("wss", f"wss://{user}:{password}@hub.example/ws", [user, password]),
        at("wss", f"wss://{user}:{first}@{second}@hub.example/ws", [user, first, second]),
        at("wss", f"wss://{user}:{first}/{second}@hub.example/ws", [user, first, second]),
        at("wss", f"wss://:{password}@hub.example/ws", [password]),
        at("wss", f"wss://{user}@hub.example/ws", [user]),
        at("wss", f"wss://hub.example/ws?authorization={AUTHORIZATION}", [AUTHORIZATION]),
        at("wss", f"wss://hub.example/?a=1&authorization={AUTHORIZATION}#x", [AUTHORIZATION]),
        at("https", f"https://{user}:{password}@hub.example", [user, password]),
        at("mqtt", f"mqtts://{user}:{password}@hub.example", [user, password]),
        adds(
            f"default_master: {master}", "Redaction", {"default_master": master}, [user, password], defaultMaster=master
        ),
        adds_broker(f"mqtt: endpoint: {broker}", "Redaction", {"endpoint": broker}, [user, password], endpoint=broker),
    ]


def spelled():
    """The access key in other fields, in several encodings."""
    key, flag = ACCESS_KEY.encode(), "Redaction"
    escaped = "".join(f"%{byte:02x}" for byte in key)
    partly = "".join(f"%{byte:02X}" if index % 3 == 0 else chr(byte) for index, byte in enumerate(key))
    tests = []
    for spelling in [ACCESS_KEY, escaped, partly, base64.b64encode(key).decode(), key.hex(), key.hex().upper()]:
        path = f"/clients/{spelling}/ws"
        url = f"wss://hub.example{path}"
        read = {"dataPlaneEndpoints": {"wss": url}}
        tests += [
            adds(f"default_path: {path}", flag, {"default_path": path}, [spelling], defaultPath=path),
            adds(f"wss: {url}", flag, {"data_plane_endpoints": {"wss": url}}, [spelling], **read),
            adds(f"site_id: {spelling}", flag, {"site_id": spelling}, [spelling], siteId=spelling),
        ]
    return tests


def everything():
    master = "https://master-user:master-password@hub.example"
    broker = "mqtt://broker-url-user:broker-url-password@broker.example"
    endpoints = {
        "wss": f"wss://hub.example/ws?authorization={AUTHORIZATION}",
        "https": "https://url-user:url-password@hub.example",
    }
    issued = {
        "crypto_key": "crypto-key-e4",
        "public_key": "public-key",
        "site_id": "kitchen",
        "default_master": master,
        "data_plane_endpoints": endpoints,
        "mqtt": {**BROKER, **TOPICS, "endpoint": broker},
        "x-vendor": {"token": "vendor-token-77"},
    }
    found = ["master-user", "master-password", "broker-url-user", "broker-url-password", "url-user", "url-password"]
    return adds(
        "everything at once",
        "Redaction",
        issued,
        [*found, AUTHORIZATION, "vendor-token-77"],
        cryptoKey="crypto-key-e4",
        publicKey="public-key",
        siteId="kitchen",
        defaultMaster=master,
        dataPlaneEndpoints=endpoints,
        protocols={**WITH_BROKER, "https": True},
        mqtt={**READ_BROKER, **READ_TOPICS, "endpoint": broker},
    )

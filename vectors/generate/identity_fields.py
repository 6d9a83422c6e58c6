"""Identities that are read: their fields under all their names, their values in all their spellings."""

from issued import ACCESS_KEY, BROKER, ISSUED, PASSWORD, READ, READ_BROKER, adds, adds_broker, reads, text

# Names

NAMES = [
    ("siteId", "site_id siteId site", "kitchen"),
    ("cryptoKey", "crypto_key cryptoKey", "crypto-key-e4"),
    ("publicKey", "public_key publicKey", "public-key"),
    ("defaultMaster", "default_master defaultMaster hub_http_host host master", "hub.example"),
    ("defaultPort", "default_port defaultPort hub_http_port port", 443),
    ("defaultPath", "default_path defaultPath hub_http_path path uri_path", "/public"),
]
ENDPOINTS = {"wss": "wss://hub.example/wss", "https": "https://hub.example/https", "mqtt": "mqtts://hub.example"}
BROKER_NAMES = [
    ("topicPrefix", "topic_prefix topicPrefix", f"hivemind/hub-1/{ACCESS_KEY}"),
    ("hubId", "hub_id hubId", "hub-1"),
    ("c2sTopic", "c2s_topic c2sTopic", f"hivemind/hub-1/c2s/{ACCESS_KEY}"),
    ("s2cTopic", "s2c_topic s2cTopic", f"hivemind/hub-1/s2c/{ACCESS_KEY}"),
    ("statusTopic", "status_topic statusTopic", f"hivemind/hub-1/status/{ACCESS_KEY}"),
    ("hashTopics", "hash_topics hashTopics", True),
    ("qos", "qos", 2),
    ("tls", "tls", True),
]
CREDENTIAL_NAMES = [
    ("endpoint", "endpoint broker_url brokerUrl"),
    ("username", "username broker_username brokerUsername"),
    ("password", "password broker_password brokerPassword"),
]


def aliases():
    tests = []
    for name in ["access_key", "accessKey", "api_key", "key"]:
        tests.append(reads(name, "Alias", {name: ACCESS_KEY, "password": PASSWORD}))
    for field, names, value in NAMES:
        tests += [adds(name, "Alias", {name: value}, **{field: value}) for name in names.split()]
    for name in ["data_plane_endpoints", "dataPlaneEndpoints", "endpoints"]:
        tests.append(adds(name, "Alias", {name: ENDPOINTS}, dataPlaneEndpoints=ENDPOINTS))
    for field, names in [("wss", "wss ws"), ("https", "https http"), ("mqtt", "mqtt mqtts")]:
        for name in names.split():
            issued = {"data_plane_endpoints": {name: ENDPOINTS[field]}}
            read = {field: ENDPOINTS[field]}
            tests.append(adds(f"data_plane_endpoints: {name}", "Alias", issued, dataPlaneEndpoints=read))
    for field, names in [("wss", "wss websocket"), ("https", "https http"), ("mqtt", "mqtt")]:
        other = not READ["protocols"][field]
        read = {**READ["protocols"], field: other}
        for name in names.split():
            tests.append(adds(f"protocols: {name}", "Alias", {"protocols": {name: other}}, protocols=read))
            issued = {"protocols": {name: {"enabled": other, "port": 1}}}
            tests.append(adds(f"protocols: {name}, as an object", "Alias", issued, protocols=read))
    for field, names, value in BROKER_NAMES:
        tests += [adds_broker(f"mqtt: {name}", "Alias", {name: value}, **{field: value}) for name in names.split()]
    for field, names in CREDENTIAL_NAMES:
        others = {other: value for other, value in BROKER.items() if other != field}
        for name in names.split():
            tests.append(adds(f"mqtt: {name}", "Alias", {"mqtt": {**others, name: BROKER[field]}}, mqtt=READ_BROKER))
    return tests


# Values


def values():
    return [*defaults(), *flags(), *numbers(), *disclosures(), *absences(), *unknown_fields(), *partial_brokers()]


def defaults():
    def broker_at(endpoint, is_secure, **issued):
        comment = f"mqtt at {endpoint}" + "".join(f", {name} {text(value)}" for name, value in issued.items())
        return adds_broker(comment, "Default", {"endpoint": endpoint, **issued}, endpoint=endpoint, tls=is_secure)

    return [
        reads("nothing but what is needed", "Default", ISSUED),
        adds("protocols without any", "Default", {"protocols": {}}),
        adds("protocols without enabled", "Default", {"protocols": {"wss": {}, "https": {"port": 1}}}),
        broker_at("mqtt://broker.example", False),
        broker_at("mqtts://broker.example", True),
        broker_at("MQTTS://broker.example", True),
        broker_at("mqtts://broker.example", False, tls=False),
        broker_at("wss://broker.example", False),
    ]


def flags():
    tests = []
    for read, words in [
        (True, [True, 1, "1", "true", "yes", "on", "True", "YES"]),
        (False, [False, 0, "0", "false", "no", "off", "False", "OFF"]),
    ]:
        for word in words:
            comment = f"flags as {text(word)}"
            broker = {"endpoint": "mqtts://broker.example", "tls": word, "hash_topics": word}
            read_broker = {"endpoint": "mqtts://broker.example", "tls": read, "hashTopics": read}
            tests.append(adds_broker(f"mqtt: {comment}", "Boolean", broker, **read_broker))
            protocols = {"wss": {"enabled": word}, "https": word, "mqtt": word}
            read_protocols = {"wss": read, "https": read, "mqtt": read}
            tests.append(adds(f"protocols: {comment}", "Boolean", {"protocols": protocols}, protocols=read_protocols))
    return tests


def numbers():
    tests = []
    for port in [1, 65535, "1", "443", "65535"]:
        tests.append(adds(f"default_port: {text(port)}", "Number", {"default_port": port}, defaultPort=int(port)))
    for qos in [0, 1, 2, "0", "1", "2"]:
        tests.append(adds_broker(f"mqtt: qos: {text(qos)}", "Number", {"qos": qos}, qos=int(qos)))
    return tests


def disclosures():
    english = "You are talking to an AI assistant."
    both = {"en": english, "fr": "Vous parlez \xe0 un assistant IA."}
    return [
        adds("ai_disclosure: a text", "AiDisclosure", {"ai_disclosure": english}, aiDisclosure=english),
        adds("ai_disclosure: one for each language", "AiDisclosure", {"ai_disclosure": both}, aiDisclosure=both),
    ]


def absences():
    groups = {"data_plane_endpoints": None, "protocols": None, "mqtt": None, "ai_disclosure": None}
    inside = {"protocols": {"wss": None, "https": {"enabled": None}}, "endpoints": {"wss": None}}
    key = {"access_key": None, "key": ACCESS_KEY, "password": PASSWORD}
    flag = "NullIsAbsent"
    return [
        adds("null for all that is not needed", flag, {**nulls(NAMES), **groups}),
        adds("null inside of groups", flag, inside),
        adds_broker("null under mqtt", flag, nulls(BROKER_NAMES)),
        adds(
            "null under one name, a value under another", flag, {"site_id": None, "site": "kitchen"}, siteId="kitchen"
        ),
        reads("null for the access key under one name, a value under another", flag, key),
    ]


def nulls(fields):
    return {name: None for _field, names, _value in fields for name in names.split()}


def unknown_fields():
    fields = {"x-vendor": {"a": [1.0, None]}, "metadata": {"crypto_key": 1}, "spec": []}
    groups = {"protocols": {"quic": True}, "endpoints": {"coap": 1}}
    return [
        adds("fields that nobody knows", "UnknownField", fields),
        adds("fields that nobody knows, in groups", "UnknownField", groups),
        adds_broker("fields that nobody knows, under mqtt", "UnknownField", {"x-vendor": [], "keepalive": "60"}),
    ]


def partial_brokers():
    prefix = {"topic_prefix": f"hivemind/hub-1/{ACCESS_KEY}"}
    tests = [
        adds("mqtt with nothing", "PartialBroker", {"mqtt": {}}),
        adds("mqtt with topics alone", "PartialBroker", {"mqtt": prefix}),
    ]
    for name in ["endpoint", "username", "password"]:
        others = {other: value for other, value in BROKER.items() if other != name}
        tests.append(adds(f"mqtt without {name}", "PartialBroker", {"mqtt": others}))
        tests.append(adds(f"mqtt with an empty {name}", "PartialBroker", {"mqtt": {**BROKER, name: ""}}))
    return tests

"""Identities that are read: their fields under all names, their values in all forms."""

from issued import (
    ACCESS_KEY,
    ALIASES,
    BROKER,
    ISSUED,
    PASSWORD,
    READ,
    READ_BROKER,
    WITH_BROKER,
    adds,
    adds_broker,
    reads,
    text,
)

# Names

ENDPOINTS = {"wss": "wss://hub.example/wss", "https": "https://hub.example/https", "mqtt": "mqtts://hub.example"}
DISCLOSURE = "You are talking to an AI assistant."
# A value for each optional field.
VALUES = {
    "siteId": "kitchen",
    "cryptoKey": "crypto-key-e4",
    "publicKey": "public-key",
    "defaultMaster": "hub.example",
    "defaultPort": 443,
    "defaultPath": "/public",
    "aiDisclosure": DISCLOSURE,
}
BROKER_VALUES = {
    "topicPrefix": f"hivemind/hub-1/{ACCESS_KEY}",
    "hubId": "hub-1",
    "c2sTopic": f"hivemind/hub-1/c2s/{ACCESS_KEY}",
    "s2cTopic": f"hivemind/hub-1/s2c/{ACCESS_KEY}",
    "statusTopic": f"hivemind/hub-1/status/{ACCESS_KEY}",
    "hashTopics": True,
    "qos": 2,
    "tls": True,
}


def aliases():
    """One test for each name, and one for each pair of neighbours: a field without a value here stops the generator."""
    makers = {
        "identity": top_level_alias,
        "dataPlaneEndpoints": endpoint_alias,
        "protocols": protocol_alias,
        "mqtt": broker_alias,
    }
    fields = [(object, field, names) for object in makers for field, names in ALIASES[object].items()]
    alone = [test for object, field, names in fields for name in names for test in makers[object](field, name)]
    pairs = [first_of_two(object, field, *pair) for object, field, names in fields for pair in zip(names, names[1:])]
    return alone + pairs


def first_of_two(object, field, name, later):
    """Both of two names, the later one earlier in the text: the first in the list counts."""
    comment = f"{name} counts before {later}"
    if object == "identity":
        if field == "accessKey":
            return reads(comment, "Alias", {later: f"other-{ACCESS_KEY}", name: ACCESS_KEY, "password": PASSWORD})
        if field == "dataPlaneEndpoints":
            return adds(comment, "Alias", {later: {}, name: ENDPOINTS}, dataPlaneEndpoints=ENDPOINTS)
        other = 1 if field == "defaultPort" else f"other-{VALUES[field]}"
        return adds(comment, "Alias", {later: other, name: VALUES[field]}, **{field: VALUES[field]})
    if object == "dataPlaneEndpoints":
        endpoints = {later: f"{ENDPOINTS[field]}/other", name: ENDPOINTS[field]}
        return adds(
            f"data_plane_endpoints: {comment}",
            "Alias",
            {"data_plane_endpoints": endpoints},
            dataPlaneEndpoints={field: ENDPOINTS[field]},
        )
    if object == "protocols":
        is_on = not READ["protocols"][field]
        read = {**READ["protocols"], field: is_on}
        return adds(f"protocols: {comment}", "Alias", {"protocols": {later: not is_on, name: is_on}}, protocols=read)
    comment = f"mqtt: {comment}"
    if field == "accessKey":  # the access key of the identity counts
        return adds_broker(comment, "Alias", {later: f"other-{ACCESS_KEY}", name: ACCESS_KEY})
    if field in BROKER:
        others = {other: value for other, value in BROKER.items() if other != field}
        mqtt = {**others, later: f"{BROKER[field]}-other", name: BROKER[field]}
        return adds(comment, "Alias", {"mqtt": mqtt}, protocols=WITH_BROKER, mqtt=READ_BROKER)
    value = BROKER_VALUES[field]
    other = not value if isinstance(value, bool) else f"other-{value}"
    return adds_broker(comment, "Alias", {later: other, name: value}, **{field: value})


def top_level_alias(field, name):
    if field in ("accessKey", "password"):
        other = "password" if field == "accessKey" else "accessKey"
        return [reads(name, "Alias", {name: READ[field], ALIASES["identity"][other][0]: READ[other]})]
    if field == "dataPlaneEndpoints":
        return [adds(name, "Alias", {name: ENDPOINTS}, dataPlaneEndpoints=ENDPOINTS)]
    if field == "protocols":
        return [adds(name, "Alias", {name: {"https": True}}, protocols={**READ["protocols"], "https": True})]
    if field == "mqtt":
        return [adds(name, "Alias", {name: BROKER}, protocols=WITH_BROKER, mqtt=READ_BROKER)]
    return [adds(name, "Alias", {name: VALUES[field]}, **{field: VALUES[field]})]


def endpoint_alias(field, name):
    read = {field: ENDPOINTS[field]}
    issued = {"data_plane_endpoints": {name: ENDPOINTS[field]}}
    return [adds(f"data_plane_endpoints: {name}", "Alias", issued, dataPlaneEndpoints=read)]


def protocol_alias(field, name):
    other = not READ["protocols"][field]
    read = {**READ["protocols"], field: other}
    as_object = {"protocols": {name: {"enabled": other, "port": 1}}}
    return [
        adds(f"protocols: {name}", "Alias", {"protocols": {name: other}}, protocols=read),
        adds(f"protocols: {name}, as an object", "Alias", as_object, protocols=read),
    ]


def broker_alias(field, name):
    if field in BROKER:
        others = {other: value for other, value in BROKER.items() if other != field}
        mqtt = {**others, name: BROKER[field]}
        return [adds(f"mqtt: {name}", "Alias", {"mqtt": mqtt}, protocols=WITH_BROKER, mqtt=READ_BROKER)]
    if field == "accessKey":  # the access key of the identity counts
        return [adds_broker(f"mqtt: {name}", "Alias", {name: ACCESS_KEY})]
    return [adds_broker(f"mqtt: {name}", "Alias", {name: BROKER_VALUES[field]}, **{field: BROKER_VALUES[field]})]


# Values


def values():
    return [
        *defaults(),
        *flags(),
        *numbers(),
        *disclosures(),
        *absences(),
        *unknown_fields(),
        *partial_brokers(),
        *brokers_elsewhere(),
    ]


def defaults():
    def broker_at(endpoint, is_secure, **issued):
        comment = f"mqtt at {endpoint}" + "".join(f", {name} {text(value)}" for name, value in issued.items())
        return adds_broker(comment, "Default", {"endpoint": endpoint, **issued}, endpoint=endpoint, tls=is_secure)

    return [
        reads("the required fields only", "Default", ISSUED),
        *(
            reads(f"a password with {what}", "Default", {**ISSUED, "password": password}, {**READ, "password": password})
            for what, password in [("white space around it", " \tpassword\n"), ("U+FEFF before it", "\ufeffpassword")]
        ),
        reads("a password of a blank", "Default", {**ISSUED, "password": " "}, {**READ, "password": " "}),
        reads("an access key with blanks around it", "Default", {**ISSUED, "access_key": " key "}, {**READ, "accessKey": " key "}),
        adds("protocols without any", "Default", {"protocols": {}}),
        adds("protocols without enabled", "Default", {"protocols": {"wss": {}, "https": {"port": 1}}}),
        broker_at("mqtt://broker.example", False),
        broker_at("mqtts://broker.example", True),
        broker_at("MQTTS://broker.example", True),
        broker_at("mqtts://broker.example", False, tls=False),
        broker_at("wss://broker.example", False),
    ]


def flags():
    """Words that have been issued for true and for false."""
    tests = []
    for read, words in [(True, [1, "true", "yes", "on"]), (False, [0, "false", "no", "off"])]:
        for word in words:
            protocols = {"wss": {"enabled": word}, "https": word, "mqtt": word}
            read_protocols = {"wss": read, "https": read, "mqtt": read}
            tests.append(adds(f"protocols: flags as {text(word)}", "Boolean", {"protocols": protocols}, protocols=read_protocols))
    return tests


def numbers():
    tests = []
    for port in [1, 65535]:
        tests.append(adds(f"default_port: {text(port)}", "Number", {"default_port": port}, defaultPort=port))
    for qos in [0, 1, 2]:
        tests.append(adds_broker(f"mqtt: qos: {text(qos)}", "Number", {"qos": qos}, qos=qos))
    return tests


def disclosures():
    both = {"en": DISCLOSURE, "fr": "Vous parlez \xe0 un assistant IA."}
    more = {**both, "version": 2, "de": None, "links": {"more": "https://hub.example"}}
    return [
        adds("ai_disclosure: a string", "AiDisclosure", {"ai_disclosure": DISCLOSURE}, aiDisclosure=DISCLOSURE),
        adds("ai_disclosure: one for each language", "AiDisclosure", {"ai_disclosure": both}, aiDisclosure=both),
        adds("ai_disclosure: also with other members", "AiDisclosure", {"ai_disclosure": more}, aiDisclosure=both),
    ]


def absences():
    groups = {"data_plane_endpoints": None, "protocols": None, "mqtt": None, "ai_disclosure": None}
    inside = {"protocols": {"wss": None, "https": {"enabled": None}}, "endpoints": {"wss": None}}
    flag = "NullIsAbsent"
    return [
        adds("null for every optional field", flag, {**nulls("identity", VALUES), **groups}),
        adds("null inside of objects", flag, inside),
        adds_broker("null under mqtt", flag, nulls("mqtt", BROKER_VALUES)),
    ]


def nulls(object, fields):
    return {name: None for field in fields for name in ALIASES[object][field]}


def unknown_fields():
    fields = {"x-vendor": {"a": [1.0, None]}, "metadata": {"crypto_key": 1}, "spec": []}
    groups = {"protocols": {"quic": True}, "endpoints": {"coap": 1}}
    return [
        adds("unknown fields", "UnknownField", fields),
        adds("unknown fields, in objects", "UnknownField", groups),
        adds_broker("unknown fields, under mqtt", "UnknownField", {"x-vendor": [], "keepalive": "60"}),
    ]


def partial_brokers():
    prefix = {"topic_prefix": f"hivemind/hub-1/{ACCESS_KEY}"}
    tests = [
        adds("mqtt with nothing", "PartialBroker", {"mqtt": {}}),
        adds("mqtt with topics only", "PartialBroker", {"mqtt": prefix}),
    ]
    for name in ["endpoint", "username", "password"]:
        others = {other: value for other, value in BROKER.items() if other != name}
        tests.append(adds(f"mqtt without {name}", "PartialBroker", {"mqtt": others}))
        tests.append(adds(f"mqtt with an empty {name}", "PartialBroker", {"mqtt": {**BROKER, name: ""}}))
    return tests


def brokers_elsewhere():
    """An address of the broker among the endpoints."""
    endpoints = {"mqtt": "mqtts://broker.example"}
    credentials = {name: value for name, value in BROKER.items() if name != "endpoint"}

    def broker(comment, flag, mqtt, endpoint, is_secure, endpoints=endpoints, read=endpoints):
        issued = {"data_plane_endpoints": endpoints, "mqtt": mqtt}
        read_mqtt = {**READ_BROKER, "endpoint": endpoint, "tls": is_secure}
        return adds(comment, flag, issued, dataPlaneEndpoints=read, protocols=WITH_BROKER, mqtt=read_mqtt)

    flag = "BrokerAddress"
    return [
        broker("data_plane_endpoints.mqtt only", flag, credentials, endpoints["mqtt"], True),
        broker("data_plane_endpoints.mqtt, tls false", flag, {**credentials, "tls": False}, endpoints["mqtt"], False),
        broker("mqtt.endpoint beside data_plane_endpoints.mqtt", flag, BROKER, BROKER["endpoint"], False),
        broker("mqtt.endpoint null", flag, {**BROKER, "endpoint": None}, endpoints["mqtt"], True),
        broker("mqtt.endpoint blank", flag, {**BROKER, "endpoint": " \t"}, endpoints["mqtt"], True),
        broker("mqtt.endpoint of another type", flag, {**BROKER, "endpoint": 1}, "", False),
        broker("data_plane_endpoints.mqtt of another type", flag, credentials, "", False, {"mqtt": 1}, {}),
        adds(
            "data_plane_endpoints.mqtt without credentials",
            flag,
            {"data_plane_endpoints": endpoints, "mqtt": {}},
            dataPlaneEndpoints=endpoints,
        ),
        adds("mqtt.endpoint blank, and no other", flag, {"mqtt": {**BROKER, "endpoint": " "}}),
        adds(
            "mqtt switched off, with credentials",
            "Default",
            {"protocols": {"mqtt": False}, "mqtt": BROKER},
            protocols=READ["protocols"],
            mqtt=READ_BROKER,
        ),
        adds("mqtt switched on, without credentials", "Default", {"protocols": {"mqtt": True}}, protocols=WITH_BROKER),
    ]

"""A client that reaches its hub over MQTT: its topics, its broker and its client id, out of the identity's `mqtt`."""

import hashlib
import re

from hub_protocol import Refused, encode

# What is trimmed from addresses, prefixes and hub ids, and what these must not contain.
WHITE_SPACE = "\t\n\v\f\r \xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
WHITE_SPACE += "\u2028\u2029\u202f\u205f\u3000\ufeff"
BLANKS = f"\x00-\x20\x7f\x85{WHITE_SPACE}"
HOST = rf"\[(?=[^\]]*:)[0-9A-Fa-f:.]+\]|[^{BLANKS}!-,/:-@\[-^`{{-}}]+"
BROKER = re.compile(rf"([A-Za-z]+)://({HOST})(?::([0-9]+))?(/[^{BLANKS}?#@\\]*)?")
PORTS = {"mqtt": 1883, "mqtts": 8883, "ssl": 8883, "ws": 80, "wss": 443}
WITH_TLS = {"mqtt": "mqtts", "ws": "wss"}
TRUE, FALSE = ("1", "true", "yes", "on"), ("0", "false", "no", "off")


def derive_topics(mqtt):
    """Returned topics count, once they are checked to be this client's own. The others are derived."""
    user = text_of(mqtt, "username", "broker_username", "brokerUsername")
    key = text_of(mqtt, "access_key", "accessKey", "api_key", "key") or user
    prefix, hub_id = text_of(mqtt, "topic_prefix", "topicPrefix"), text_of(mqtt, "hub_id", "hubId")
    hashes = flag(mqtt, "hash_topics", "hashTopics")
    returned = {
        "publish": text_of(mqtt, "c2s_topic", "c2sTopic"),
        "subscribe": text_of(mqtt, "s2c_topic", "s2cTopic"),
        "status": text_of(mqtt, "status_topic", "statusTopic"),
    }
    key_hash = hashlib.sha256(encode(key)).hexdigest()[:16] if key else None
    own_levels = {level for level in (user, key, key_hash) if level}
    prefix, hub_id = trimmed(prefix), trimmed(hub_id)
    ends_with_own = bool(prefix) and prefix.split("/")[-1] in own_levels
    is_current = bool(prefix) and (not hub_id or ends_with_own)
    derived, scope = {}, ""
    if is_current:
        scope = f"{prefix}/"
        derived = {"publish": f"{scope}in", "subscribe": f"{scope}out", "status": f"{scope}status"}
    elif hub_id:
        levels = (prefix or "hivemind").split("/")
        scope = "/".join(levels if hub_id in levels else [*levels, hub_id]) + "/"
        last = key_hash if hashes else key
        names = {"publish": "c2s", "subscribe": "s2c", "status": "status"}
        derived = {name: f"{scope}{level}/{last}" for name, level in names.items()} if last else {}
    topics = {}
    for name, topic in returned.items():
        if topic is None:
            topic = derived.get(name) or (name == "status" and status_beside(returned["publish"]))
        if topic:
            topics[name] = check_topic(topic)
            levels = topic[len(scope) :].split("/")
            is_own = ends_with_own or (is_current and (not own_levels or len(levels) == 1)) or own_levels & set(levels)
            if not topic.startswith(scope) or not is_own:
                raise Refused("topic-out-of-scope")
        elif topic == "":
            raise Refused("bad-topic")
    if len(topics) < len(returned):
        raise Refused("no-topics")
    return topics


def status_beside(publish):
    """The topic with `status` where the one to publish to has its direction."""
    levels = (publish or "").split("/")
    if "c2s" in levels:
        levels[levels.index("c2s")] = "status"
    elif levels[-1] == "in":
        levels[-1] = "status"
    else:
        return None
    return "/".join(levels)


def trimmed(levels):
    return None if levels is None else check_topic(levels.strip(WHITE_SPACE).strip("/"))


def check_topic(topic):
    is_forbidden = re.search(rf"[{BLANKS}#+]|^\$|^/|//|/\Z|^\Z", topic)
    if is_forbidden or len(encode(topic)) > 65535:
        raise Refused("bad-topic")
    return topic


def broker_endpoint(mqtt, allow_plaintext=False):
    """The scheme decides about TLS, and `tls` changes the scheme."""
    endpoint = field_of(mqtt, ["endpoint", "broker_url", "brokerUrl"])
    parts = BROKER.fullmatch(endpoint.strip(WHITE_SPACE)) if isinstance(endpoint, str) else None
    if parts is None or parts[1].lower() not in PORTS or not 1 <= int(parts[3] or 1) <= 65535:
        raise Refused("bad-endpoint")
    scheme, host, port, path = parts[1].lower(), parts[2], parts[3] and int(parts[3]), parts[4] or ""
    if flag_of(field_of(mqtt, ["tls"])):
        scheme = WITH_TLS.get(scheme, scheme)
    if scheme in WITH_TLS and not allow_plaintext:
        raise Refused("plaintext-endpoint")
    url = f"{scheme}://{host}" + (f":{port}" if port else "") + (path.removesuffix("/") if scheme[:2] == "ws" else "")
    return {"url": url, "host": host.strip("[]"), "port": port or PORTS[scheme], "tls": scheme not in WITH_TLS}


def client_id(name, access_key):
    if not all(isinstance(text, str) and text for text in (name, access_key)):
        raise Refused("bad-argument")
    return name + "-" + re.sub("[^A-Za-z0-9_-]", "-", access_key)[:48]


def presence(status):
    """What a client publishes about itself on its status topic, retained; `will` is for the broker."""
    offline, online = (
        {"topic": status, "payload": payload, "qos": 1, "retain": True} for payload in ("offline", "online")
    )
    return {"will": offline, "online": online, "offline": offline}


def field_of(mqtt, names):
    if not isinstance(mqtt, dict):
        raise Refused("identity-field")
    return next((mqtt[name] for name in names if mqtt.get(name) is not None), None)


def text_of(mqtt, *names):
    value = field_of(mqtt, names)
    if value is not None and not isinstance(value, str):
        raise Refused("identity-field")
    return value


def flag(mqtt, *names):
    value = field_of(mqtt, names)
    if value is not None and flag_of(value) is None:
        raise Refused("identity-field")
    return flag_of(value)


def flag_of(value):
    """A boolean, a digit or a word; None for anything else."""
    word = str(int(value) if isinstance(value, float) and value.is_integer() else value).lower()
    return True if word in TRUE else False if word in FALSE else None

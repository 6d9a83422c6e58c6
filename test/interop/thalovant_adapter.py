"""thalovant, the public client in Python, as an adapter of the judge: its endpoints, brokers, topics and requests.

It declines what its functions do not take: identities without `default_master`, a list of transports, addresses without TLS.
"""

import asyncio
import json
import logging
import sys
from urllib.parse import urlsplit

from thalovant.client import AsyncThalovantClient, _default_runtime_protocol
from thalovant.errors import ThalovantError
from thalovant.identity import ThalovantIdentity
from thalovant.transport import HiveMindMQTTTransport, mqtt_topics_for_identity

logging.disable()
ISSUED = {"access_key": "k", "password": "p", "site_id": "s", "default_master": "https://hub.example"}


class Dialled(Exception):
    """In place of a connection to a broker: its host and port."""


class Client(AsyncThalovantClient):
    async def emit(self, event_type, data=None, context=None):
        return {"type": event_type, "data": data, "context": self._context_with_identity_metadata(context)}


class Paho:
    """The MQTT client that thalovant dials with."""

    CallbackAPIVersion = type("", (), {"VERSION2": 2})

    def __init__(self, *_, **__):
        self.is_tls = False

    def tls_set(self):
        self.is_tls = True

    def connect(self, host, port, **_):
        raise Dialled(host, port, self.is_tls)

    def __getattr__(self, name):
        return lambda *_, **__: None


Paho.Client = Paho


def with_broker(mqtt):
    """An identity with a broker: its topics do not depend on the other fields."""
    return ThalovantIdentity.from_mapping({**ISSUED, "mqtt": mqtt})


def dialled(address, tls):
    """An address as the judge has it: its scheme, in lower case, says whether TLS is used, and no path follows."""
    parts = urlsplit(address)
    return f"{'mqtts' if tls and parts.scheme in {'mqtt', 'tcp'} else parts.scheme}://{parts.netloc}"


def endpoint(identity, requested=None):
    protocol = requested or _default_runtime_protocol(identity)
    if protocol == "mqtt" and identity.mqtt:
        address = dialled(identity.mqtt.endpoint, identity.mqtt.tls)
    else:
        address = identity.endpoint_for(protocol)
    if address is None:
        raise ThalovantError("no address")
    return {"protocol": protocol, "url": address, "tls": address.startswith(("wss:", "https:", "mqtts:"))}


def broker(mqtt):
    identity = with_broker({"topic_prefix": "a", **mqtt})
    transport = HiveMindMQTTTransport(identity, useragent="a")
    transport._load_mqtt_module = lambda: Paho
    try:
        transport.connect()
    except Exception as error:
        found = error if isinstance(error, Dialled) else error.__cause__
        if not isinstance(found, Dialled):
            raise
        host, port, tls = found.args
        return {"url": dialled(identity.mqtt.endpoint, tls), "host": host, "port": port, "tls": tls}


def request(builder, siteId="", requestId=None, sessionId=None, **arguments):
    identity = ThalovantIdentity(**{**ISSUED, "site_id": siteId})
    send = getattr(Client(identity, transport=object()), f"send_{builder}")
    content = arguments.pop({"utterance": "text", "action": "payload", "code": "value"}[builder])
    payload = asyncio.run(send(content, request_id=requestId, session_id=sessionId, **arguments))
    empty = {"node": None, "target_site_id": None, "target_pubkey": None, "source_peer": None}
    return {"envelope": {"msg_type": "bus", "payload": payload, "metadata": {}, "route": [], **empty}}


def respond(request_line):
    match request_line:
        case {"supported": _} | {"allowPlaintext": True}:
            return {"declined": True}
        case {"op": "endpoint", "text": text} if "default_master" in text:
            identity = ThalovantIdentity.from_mapping({"site_id": "s", **json.loads(text)})
            return endpoint(identity, request_line.get("requested"))
        case {"op": "topics", "mqtt": mqtt}:
            inbound, outbound, status = mqtt_topics_for_identity(with_broker(mqtt))
            return {"publish": inbound, "subscribe": outbound, "status": status}
        case {"op": "broker", "mqtt": mqtt}:
            return broker(mqtt)
        case {"op": "request", "builder": builder, "arguments": arguments}:
            return request(builder, **arguments)
    return {"declined": True}


for line in sys.stdin:
    request_line = json.loads(line)
    try:
        response = respond(request_line)
    except (ThalovantError, ValueError, TypeError, KeyError, AttributeError):
        response = {"error": "refused"}
    except Exception as error:
        response = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps({"id": request_line["id"], **response}), flush=True)

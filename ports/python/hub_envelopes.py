"""The cleartext envelopes of protocol 3, and the payloads that they and the handshake messages carry."""

import hub_protocol as protocol
from hub_protocol import Refused

MAX_ENVELOPE = 256 * 1024


def read_envelope(data):
    """The type and the payload of a cleartext envelope."""
    size = len(data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass"))
    if size > MAX_ENVELOPE:
        raise Refused("envelope-too-large")
    envelope = protocol.parse_json(data)
    if not isinstance(envelope, dict) or not isinstance(envelope.get("msg_type"), str):
        raise Refused("bad-envelope")
    if not isinstance(envelope.get("payload"), dict):
        raise Refused("bad-payload")
    kind = envelope["msg_type"]
    return "shake" if kind == "handshake" else kind, envelope["payload"]


def write_envelope(kind, payload):
    envelope = {"msg_type": kind, "payload": payload, "metadata": {}, "route": []}
    if kind != "shake":
        envelope.update(node=None, target_site_id=None, target_pubkey=None, source_peer=None)
    return protocol.write_json(envelope, is_canonical=False)


def classify(kind, payload):
    """What an envelope is: hello, offer, message 1, later message or other."""
    if kind != "shake":
        return "hello" if kind == "hello" else "other"
    noise = payload.get("noise")
    if not isinstance(noise, dict) or "msg" not in noise:
        return "offer"
    return "message 1" if "pattern" in noise or "suite" in noise else "later message"


def is_text_list(value):
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def check_version(payload):
    version = payload.get("max_protocol_version")
    if not isinstance(version, protocol.Number) or float(version.token) < 3:
        raise Refused("protocol-version")


def read_sealed_payload(data):
    """The payload of a handshake message: a JSON object, or nothing."""
    try:
        payload = protocol.parse_json(data or b"{}")
    except Refused:
        payload = None
    if not isinstance(payload, dict):
        raise Refused("bad-handshake-payload")
    return payload

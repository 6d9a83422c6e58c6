"""HiveMind's own code as an adapter of the judge: what its hub and its client compute, from the same two packages.

It declines what these packages do not have, and the state of a cipher that was not reached by a handshake.
"""

import hashlib
import json
import logging
import sys
import tempfile
import warnings

from cryptography.exceptions import InvalidTag
from hivemind_bus_client import noise
from hivemind_bus_client.message import HiveMessageType, HiveMindBinaryPayloadType
from hivemind_bus_client.serialization import decode_bitstring, get_bitstring
from noise.exceptions import NoiseInvalidMessage, NoiseValueError
from poorman_handshake.noise import NoiseHandShake, derive_psk

logging.disable()
warnings.simplefilter("ignore")  # noiseprotocol warns about fixed ephemeral keys, which vectors need
unhex = bytes.fromhex
CONTENT = bytes(range(127)) * (33 * 1024 * 1024 // 127 + 1)
held = {}  # the current handshake


class Refused(Exception):
    pass


class InTheClear:
    """A finished handshake whose transport encrypts nothing, so that frames can be seen and given."""

    handshake_finished = True
    remote_pubkey = handshake_hash = None

    def encrypt(self, data):
        return data

    def decrypt(self, data):
        return data


def measure(content):
    return {"length": len(content), "sha256": hashlib.sha256(content).hexdigest()}


def split(kind, length):
    content, frames = CONTENT[:length], []
    noise.NoiseTransport(InTheClear()).send_message(content.decode() if kind == "json" else content, frames.append)
    return {"frames": [{"marker": frame[0], **measure(frame[1:])} for frame in frames]}


def reassemble(frames, limits):
    transport, events = noise.NoiseTransport(InTheClear(), *limits), []
    for frame in frames:
        if "bytes" in frame:
            data = unhex(frame["bytes"])
        else:
            start = frame["offset"]
            data = bytes([frame["marker"]]) + CONTENT[start : start + frame["length"]]
        try:
            message = transport.decrypt_frame(data)
        except (noise.NoiseTransportFailed, UnicodeDecodeError):
            return {"events": events, "error": "refused"}
        if isinstance(message, str):
            events.append({"type": "message", "kind": "json", **measure(message.encode())})
        elif message is not None:
            events.append({"type": "message", "kind": "binary", **measure(message)})
    return {"events": events}


def start(request):
    """Begins a handshake. The static key is loaded from a file, and the ephemeral key is there before it is needed."""
    with tempfile.NamedTemporaryFile("w") as key:
        key.write(request["staticKey"])
        key.flush()
        handshake = NoiseHandShake(
            initiator=request["role"] == "initiator",
            path=key.name,
            psk=unhex(request["psk"]),
            remote_pubkey=request.get("remoteStaticKey"),
            prologue=unhex(request["prologue"]),
            pattern=noise.noise_protocol_name(request["pattern"], request["suite"]).encode(),
        )
    protocol = handshake.noise.noise_protocol
    protocol.handshake_state.e = protocol.dh_fn.klass.from_private_bytes(unhex(request["ephemeralKey"]))
    return handshake


def attempt(name, call):
    try:
        return {name: call().hex()}
    except NoiseInvalidMessage:
        return {"error": "refused"}


def encode_binary(request):
    """The texts of a message go into it as they are."""
    payload = request["payload"] if "payload" in request else unhex(request["bytes"])
    kind = HiveMindBinaryPayloadType[request.get("binType", "undefined").upper()]
    type, metadata = HiveMessageType(request["msgType"]), request["metadata"]
    return {"message": get_bitstring(type, payload, False, metadata, kind).bytes.hex()}


def decode_binary(message):
    decoded = decode_bitstring(unhex(message))
    fields = {"msgType": decoded.msg_type, "metadata": decoded.metadata}
    if decoded.msg_type != HiveMessageType.BINARY:
        return {**fields, "payload": decoded._payload}
    kind = HiveMindBinaryPayloadType(decoded.bin_type).name.lower()
    return {**fields, "binType": kind, "bytes": decoded.payload.hex()}


def respond(request):
    match request:
        case {"op": "canonical-json"}:
            text = request["text"] if "text" in request else unhex(request["bytes"]).decode()
            return {"canonical": noise.canonical_json(json.loads(text)).hex()}
        case {"op": "prologue", "hello": hello, "handshake": handshake, "protocolName": name}:
            return {"prologue": noise.build_prologue(json.loads(hello), json.loads(handshake), name).hex()}
        case {"op": "select", "patterns": patterns, "suites": suites, "own": own, "pinned": pinned}:
            noise.NOISE_SUITES[:] = own
            selected = noise.select_noise_options(patterns, suites, "00" * 32 if pinned else None)
            if selected is None:
                raise Refused
            pattern, suite = selected
            return {"pattern": pattern, "suite": suite, "protocolName": noise.noise_protocol_name(pattern, suite)}
        case {"op": "psk", "password": password, "nodeId": node_id}:
            return {"psk": derive_psk(password, node_id=node_id).hex()}
        case {"op": "split", "kind": kind, "length": length}:
            return split(kind, length)
        case {"op": "reassemble", "frames": frames}:
            return reassemble(frames, [request["maxMessage"]] if "maxMessage" in request else [])
        case {"op": "handshake", "do": "start"}:
            held["handshake"] = start(request)
            return {}
        case {"op": "handshake", "do": "write", "payload": payload}:
            return {"message": held["handshake"].write_message(unhex(payload)).hex()}
        case {"op": "handshake", "do": "read", "message": message}:
            return {"payload": held["handshake"].read_message(unhex(message)).hex()}
        case {"op": "handshake", "do": "split"}:
            handshake = held["handshake"]
            return {"handshakeHash": handshake.handshake_hash.hex(), "remoteStaticKey": handshake.remote_pubkey.hex()}
        case {"op": "seal", "plaintexts": plaintexts} if "key" not in request:
            seal = held["handshake"].encrypt
            return {"results": [attempt("message", lambda: seal(unhex(text))) for text in plaintexts]}
        case {"op": "open", "messages": messages} if "key" not in request:
            open_message = held["handshake"].decrypt
            return {"results": [attempt("plaintext", lambda: open_message(unhex(text))) for text in messages]}
        case {"op": "encode-binary"}:
            return encode_binary(request)
        case {"op": "decode-binary", "message": message}:
            return decode_binary(message)
    return {"declined": True}


for line in sys.stdin:
    request = json.loads(line)
    try:
        response = respond(request)
    except Exception as error:  # the judge shows what is no refusal
        is_refusal = isinstance(error, (Refused, InvalidTag, NoiseValueError, ValueError))
        response = {"error": "refused" if is_refusal else f"{type(error).__name__}: {error}"}
    print(json.dumps({"id": request["id"], **response}), flush=True)

"""HiveMind's binary messages as its own client library reads and writes them. Each line of input is a list of messages.

Of each it reports what it reads in the other side's bytes, these bytes if it writes the same content itself, and its own bytes
for the message with white space, compression and version as it is told.
"""

import json
import logging
import sys

from hivemind_bus_client.message import HiveMessageType, HiveMindBinaryPayloadType
from hivemind_bus_client.serialization import decode_bitstring, get_bitstring

logging.disable()


def compact(value):
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def answer(request):
    decoded = decode_bitstring(bytes.fromhex(request["message"]))
    type, metadata = HiveMessageType(decoded.msg_type), decoded.metadata
    kind = HiveMindBinaryPayloadType(decoded.bin_type)
    is_bytes = type == HiveMessageType.BINARY
    payload = decoded.payload if is_bytes else decoded._payload
    same = get_bitstring(type, payload if is_bytes else compact(payload), False, compact(metadata), kind)
    own = get_bitstring(type, payload, request["compressed"], metadata, kind, versioned=request["versioned"])
    read = {"msg_type": type.value, "metadata": metadata, "payload": payload.hex() if is_bytes else payload}
    if is_bytes:
        read["bin_type"] = kind.name.lower()
    return {"read": read, "same": same.bytes.hex(), "own": own.bytes.hex()}


for line in sys.stdin:
    print(json.dumps([answer(request) for request in json.loads(line)]), flush=True)

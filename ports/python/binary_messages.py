"""HiveMind's binary messages, in which speech and files travel."""

import zlib

from hub_protocol import MAX_MESSAGE, Refused, canonical_json, parse_json

TYPES = {0: "shake", 1: "bus", 2: "shared_bus", 3: "broadcast", 4: "propagate", 5: "escalate", 6: "hello", 7: "query"}
TYPES |= {8: "cascade", 9: "ping", 10: "rendezvous", 12: "bin"}
PAYLOAD_TYPES = ["undefined", "raw_audio", "numpy_image", "file", "stt_audio_transcribe", "stt_audio_handle", "tts_audio"]
CODES = {type: code for code, type in TYPES.items()}
MAX_METADATA = 255


def encode_binary(type, metadata, payload, payload_type="undefined"):
    """Writes a message: of the type bin with bytes as its payload, of another one with a JSON object."""
    metadata = canonical_json(metadata)
    if len(metadata) > MAX_METADATA:
        raise Refused("message-too-long")
    fields = [(1, 1), (0, 1), (CODES[type], 5), (0, 1), (len(metadata), 8)]
    fields += [(int.from_bytes(metadata), 8 * len(metadata))]
    fields += [(PAYLOAD_TYPES.index(payload_type), 4)] if type == "bin" else []
    head, length = 0, 0
    for value, bits in fields:
        head, length = head << bits | value, length + bits
    return head.to_bytes((length + 7) // 8) + (payload if type == "bin" else canonical_json(payload))


class Bits:
    """The first bytes of a message, bit by bit."""

    LONGEST = 5 + MAX_METADATA  # beyond these lies the payload

    def __init__(self, message):
        self.value = int.from_bytes(message[: self.LONGEST])
        self.left = 8 * len(message[: self.LONGEST])
        self.taken = 0

    def take(self, count):
        if count > self.left:
            raise Refused("bad-binary-message")
        self.left -= count
        self.taken += count
        return self.value >> self.left & ((1 << count) - 1)


def decode_binary(message, max_inflated=MAX_MESSAGE):
    """Reads a message: its type, metadata and payload, and of the type bin the type of the payload."""
    bits = Bits(message)
    while bits.take(1) == 0:
        if bits.taken == 8:
            raise Refused("bad-binary-message")
    if bits.take(1) and bits.take(8) > 1:
        raise Refused("binary-version")
    type = TYPES.get(bits.take(5))
    if type is None:
        raise Refused("reserved-code")
    is_compressed, length = bits.take(1), bits.take(8)
    metadata = bits.take(8 * length).to_bytes(length)
    payload_type = bits.take(4) if type == "bin" else 0
    if payload_type >= len(PAYLOAD_TYPES):
        raise Refused("reserved-code")
    if bits.taken % 8 != 0:
        raise Refused("bad-binary-message")
    payload = message[bits.taken // 8 :]

    def object_in(text, code):
        value = parse_json(inflate(text, max_inflated) if is_compressed else text)
        if not isinstance(value, dict):
            raise Refused(code)
        return value

    metadata = object_in(metadata, "bad-metadata") if metadata else {}
    if type == "bin":
        return type, metadata, payload, PAYLOAD_TYPES[payload_type]
    return type, metadata, object_in(payload, "bad-payload"), None


def inflate(stream, most):
    inflater = zlib.decompressobj()
    try:
        data = inflater.decompress(stream, most + 1)
    except zlib.error:
        raise Refused("bad-compression")
    if len(data) > most or not inflater.eof:
        raise Refused("bad-compression")
    return data

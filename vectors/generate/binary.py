"""HiveMind's binary messages, written and read by its own client library.

    bash test/interop/hivemind python vectors/generate/binary.py [--check]
"""

import json
import zlib

import files
from bitstring import BitArray
from files import canonical, group, invalid, valid
from hivemind_bus_client.message import HiveMessageType, HiveMindBinaryPayloadType
from hivemind_bus_client.serialization import MetadataTooLarge, decode_bitstring, get_bitstring

NOTES = {
    "BinaryPayload": (
        "A payload of bytes, with its type in the four bits before it. A failure most likely reads the type from the "
        "wrong place, or takes the bytes for text."
    ),
    "Compressed": (
        "Metadata and JSON are zlib streams (RFC 1950), each by itself; a payload of bytes is not. A failure most likely "
        "inflates neither or all, or without the header. A port without zlib refuses the message."
    ),
    "EmptyMetadata": "Metadata of no bytes are an empty object. A failure most likely parses an empty text.",
    "JsonPayload": (
        "A payload of JSON, in messages of any type but `bin`. A failure most likely has another number for the type, or "
        "takes the metadata for the payload."
    ),
    "Metadata": (
        "Up to 255 bytes of metadata, in UTF-8. In messages of the type `bin` they begin in the middle of a byte. A failure "
        "most likely reads them from its start, or counts characters."
    ),
    "NotJson": "Metadata or a payload that are no JSON. Whoever accepts them has a parser with extensions.",
    "NotObject": "A payload of JSON that is no object. A failure most likely delivers it.",
    "Start": (
        "Zero to seven zeros come before the start, so that the end is that of a byte. Whoever accepts another number reads "
        "what follows from the wrong place."
    ),
    "Truncated": "A message that ends before its metadata do. A failure most likely reads what is not there.",
    "TypeReserved": "A type that is not assigned: 11, which was `3rdparty`, and 13 to 31. Whoever accepts it guesses.",
    "Version": (
        "A version after the start, which senders leave out: 0 and 1 are the same. A failure most likely reads it as the "
        "type, or accepts a later one."
    ),
}

TYPES = {
    type.value: type for type in HiveMessageType if type not in (HiveMessageType.BINARY, HiveMessageType.INTERCOM)
}
PAYLOAD_TYPES = {type.name.lower(): type for type in HiveMindBinaryPayloadType}
SPEAK = {"context": {"session": {"session_id": "s"}}, "data": {"utterance": "Hallo, größte 🏠"}, "type": "speak"}
NESTED = {"metadata": {}, "msg_type": "bus", "payload": SPEAK}
AUDIO = bytes((7 * index + 128) % 256 for index in range(320))


def text(value):
    return canonical(value).decode()


def of_length(length, character="a"):
    """Metadata whose JSON has so many bytes."""
    rest = length - len(text({"a": ""}))
    count = rest // len(character.encode())
    return {"a": character * count + "b" * (rest - count * len(character.encode()))}


def written(type, payload, metadata, payload_type="undefined", compressed=False, versioned=False):
    """What HiveMind's code writes, which it takes as texts."""
    return get_bitstring(
        TYPES.get(type, HiveMessageType.BINARY),
        payload,
        compressed,
        hivemeta=metadata,
        binary_type=PAYLOAD_TYPES[payload_type],
        versioned=versioned,
    ).bytes


def encoded(comment, flags, type, payload, metadata=None):
    metadata = text(metadata or {})
    message = written(type, text(payload), metadata)
    fields = {"msgType": type, "metadata": metadata, "payload": text(payload)}
    return valid(comment, ["JsonPayload", *flags], **fields, message=message.hex())


def encoded_bytes(comment, flags, payload_type, payload, metadata=None):
    metadata = text(metadata or {})
    message = written("bin", payload, metadata, payload_type)
    fields = {"msgType": "bin", "binType": payload_type, "metadata": metadata, "bytes": payload.hex()}
    return valid(comment, ["BinaryPayload", *flags], **fields, message=message.hex())


def encoding():
    for type in TYPES:
        yield encoded(f"type {type}", [], type, SPEAK if type.endswith("bus") else NESTED)
    for payload_type in PAYLOAD_TYPES:
        yield encoded_bytes(f"payload of type {payload_type}", [], payload_type, AUDIO)
    yield encoded("an empty object", [], "ping", {})
    yield encoded_bytes("no bytes", [], "raw_audio", b"")
    for length in [8, 127, 128, 240, 254, 255]:
        metadata = of_length(length)
        yield encoded(f"metadata of {length} bytes", ["Metadata"], "bus", SPEAK, metadata)
        yield encoded_bytes(f"metadata of {length} bytes before bytes", ["Metadata"], "file", b"\x00\xff", metadata)
    metadata = of_length(255, "ü")
    yield encoded("metadata of 255 bytes and fewer characters", ["Metadata"], "bus", SPEAK, metadata)
    yield encoded_bytes("the same before bytes", ["Metadata"], "tts_audio", AUDIO[:3], metadata)
    microphone = {"sample_rate": 16000, "sample_width": 2}
    yield encoded_bytes("a microphone's metadata", ["Metadata"], "raw_audio", AUDIO, microphone)
    for comment, metadata in [("256 bytes", of_length(256)), ("256 bytes in 131 characters", of_length(256, "ü"))]:
        metadata, fields = text(metadata), {}
        for fields, payload in [
            ({"msgType": "bus", "payload": text(SPEAK)}, text(SPEAK)),
            ({"msgType": "bin", "binType": "file", "bytes": "00"}, b"\x00"),
        ]:
            try:
                written(fields["msgType"], payload, metadata)
                raise AssertionError("HiveMind's code takes these metadata")
            except MetadataTooLarge:
                yield invalid(
                    f"metadata of {comment}, {fields['msgType']}",
                    ["Metadata"],
                    "message-too-long",
                    metadata=metadata,
                    **fields,
                )


def read(message):
    """What HiveMind's code reads, as the fields of a test."""
    decoded = decode_bitstring(message)
    type = HiveMessageType(decoded.msg_type)
    fields = {"msgType": type.value, "metadata": decoded.metadata}
    if type != HiveMessageType.BINARY:
        return {**fields, "payload": decoded._payload}
    payload_type = HiveMindBinaryPayloadType(decoded.bin_type).name.lower()
    return {**fields, "binType": payload_type, "bytes": decoded.payload.hex()}


def decoded(comment, flags, message, **expected):
    fields = read(message)
    assert expected.items() <= fields.items(), comment
    flag = "BinaryPayload" if fields["msgType"] == "bin" else "JsonPayload"
    flags = list(dict.fromkeys([flag, *flags]))
    # Not every port has zlib.
    other = {"otherErrors": ["compressed"]} if "Compressed" in flags else {}
    return valid(comment, flags, message=message.hex(), **fields, **other)


def refused(comment, flags, error, message, **fields):
    """A message that HiveMind's code refuses."""
    try:
        read(message)
    except ValueError:
        pass
    else:
        raise AssertionError(f"HiveMind's code takes {comment}")
    other = {"otherErrors": ["compressed"]} if "Compressed" in flags else {}
    return invalid(comment, flags, error, message=message.hex(), **fields, **other)


def bits(*fields):
    """Writes fields, each a number of a given length in bits or bytes, and zeros up to the end of a byte."""
    message = BitArray()
    for field in fields:
        if isinstance(field, bytes):
            message.append(field)
        elif field[0] > 0:
            message.append(f"uint:{field[0]}={field[1]}")
    return message.tobytes()


def plain(metadata, payload, type=1):
    """A message of JSON with any bytes for metadata and payload."""
    return bits((1, 1), (1, 0), (5, type), (1, 0), (8, len(metadata)), metadata, payload)


def of_bytes(metadata, payload_type, payload, padding=4):
    return bits(
        (padding, 0), (1, 1), (1, 0), (5, 12), (1, 0), (8, len(metadata)), metadata, (4, payload_type), payload
    )


def versioned(version, type, payload):
    head = (1, 1), (1, 1), (8, version), (5, type), (1, 0), (8, 2), b"{}"
    return bits(*head, payload) if type != 12 else bits((4, 0), *head, (4, 1), payload)


def decoding():
    ordinary = {"lang": "en-us", "n": 1}
    for type in TYPES:
        payload = SPEAK if type.endswith("bus") else NESTED
        yield decoded(f"type {type}", [], written(type, payload, ordinary), msgType=type)
    for payload_type in PAYLOAD_TYPES:
        message = written("bin", AUDIO, ordinary, payload_type)
        yield decoded(f"payload of type {payload_type}", [], message, binType=payload_type)
    yield decoded("an empty object", [], plain(b"{}", b"{}"))
    yield decoded("white space around the payload", [], plain(b"{}", b' \r\n\t{"a": 1} '))
    yield decoded("numbers, words and escapes", [], plain(b"{}", b'{"a":[1.5,-2e3,true,false,null,"\\u00e9\\n"]}'))
    yield decoded("no bytes", [], written("bin", b"", {}, "raw_audio"))
    yield decoded("a zero byte", [], written("bin", b"\x00", {}, "file"))
    yield decoded("bytes that are JSON", [], written("bin", b"{}", {}, "file"))
    for length in [8, 127, 128, 240, 254, 255]:
        metadata = of_length(length)
        yield decoded(f"metadata of {length} bytes", ["Metadata"], plain(canonical(metadata), b"{}"))
        message = of_bytes(canonical(metadata), 3, b"\x00\xff")
        yield decoded(f"metadata of {length} bytes before bytes", ["Metadata"], message)
    yield decoded("metadata in UTF-8", ["Metadata"], plain(canonical({"ü": "🏠"}), b"{}"))
    yield decoded("metadata in UTF-8 before bytes", ["Metadata"], of_bytes(canonical({"ü": "🏠"}), 6, AUDIO))
    yield decoded("no metadata", ["EmptyMetadata"], plain(b"", canonical(SPEAK)), metadata={})
    yield decoded("no metadata before bytes", ["EmptyMetadata"], of_bytes(b"", 1, AUDIO), metadata={})

    for type in ["bus", "query", "bin"]:
        payload = AUDIO[:9] if type == "bin" else SPEAK
        message = written(type, payload, ordinary, versioned=True)
        yield decoded(f"version 1, type {type}", ["Version"], message, msgType=type)
    for type in [1, 12]:
        yield decoded(f"version 0, type {type}", ["Version"], versioned(0, type, b"{}"))
        for version in [2, 3, 128, 255]:
            message = versioned(version, type, b"{}")
            yield refused(f"version {version}, type {type}", ["Version"], "binary-version", message)

    for type in [11, *range(13, 32)]:
        yield refused(f"type {type}", ["TypeReserved"], "reserved-code", plain(b"{}", b"{}", type))
    for comment, message in [
        ("nothing", b""),
        ("a zero byte alone", b"\x00"),
        ("zero bytes alone", bytes(4)),
        ("type and no length", b"\x82"),
        ("the start alone, in the last bit", b"\x01"),
        ("metadata that end a byte early", plain(b"{}", b"")[:-1]),
        ("255 bytes of metadata, and one of them there", b"\x82\xff{"),
        ("metadata before bytes that end a byte early", of_bytes(canonical(of_length(20)), 1, b"")[:-2]),
        ("no payload type", of_bytes(b"", 1, b"")[:-1]),
        ("a version and nothing else", b"\xc0\x42"),
    ]:
        yield refused(comment, ["Truncated"], "bad-binary-message", message)
    for padding in [1, 2, 3, 4, 5, 6, 7]:
        message = bits((padding, 0), (1, 1), (1, 0), (5, 1), (1, 0), (8, 2), b"{}", b"{}")
        yield refused(f"{padding} zeros before JSON", ["Start"], "bad-binary-message", message)
    for padding in [0, 1, 2, 3, 5, 6, 7]:
        message = of_bytes(b"{}", 1, b"\x00\xff", padding)
        yield refused(f"{padding} zeros before bytes", ["Start"], "bad-binary-message", message)
    for comment, payload in [
        ("nothing", b""),
        ("half an object", b'{"a":'),
        ("two objects", b"{}{}"),
        ("no JSON", b"\x00\x01\x02"),
    ]:
        yield refused(f"a payload of {comment}", ["NotJson"], "bad-json", plain(b"{}", payload))
    yield refused("a payload that is not UTF-8", ["NotJson"], "bad-utf8", plain(b"{}", b'{"a":"\xff"}'))
    yield refused("metadata that are no JSON", ["NotJson"], "bad-json", plain(b"{a}", b"{}"))
    yield refused("metadata that are no JSON before bytes", ["NotJson"], "bad-json", of_bytes(b"{a}", 1, AUDIO))
    yield refused("metadata that are not UTF-8", ["NotJson"], "bad-utf8", plain(b'{"\xff":1}', b"{}"))
    for payload in ["[]", '"a"', "1", "null", "true", '[{"a":1}]']:
        yield refused(f"the payload {payload}", ["NotObject"], "bad-payload", plain(b"{}", payload.encode()))
    for type in ["bus", "shared_bus", "hello", "cascade"]:
        message = written(type, SPEAK, ordinary, compressed=True)
        yield decoded(f"a compressed message of type {type}", ["Compressed"], message, msgType=type)
    message = written("bin", AUDIO, ordinary, "tts_audio", compressed=True)
    yield decoded("compressed metadata before bytes", ["Compressed"], message, bytes=AUDIO.hex())
    message = written("bus", {"a": "a" * 5000}, {}, compressed=True)
    yield decoded("5000 letters, compressed", ["Compressed"], message)
    yield decoded("no metadata, and a compressed payload", ["Compressed"], bits((16, 0x8300), message[2 + message[1] :]))
    whole = len(json.dumps({"a": "a" * 5000}))
    yield {**decoded("as much as may come out", ["Compressed"], message), "maxInflated": whole}
    yield refused("a compressed payload that ends early", ["Compressed"], "bad-compression", message[:-5])
    damaged = bytearray(message)
    damaged[-1] ^= 1
    yield refused("a compressed payload with another checksum", ["Compressed"], "bad-compression", bytes(damaged))
    yield refused("JSON where a compressed payload is due", ["Compressed"], "bad-compression", b"\x83" + message[1:14] + b"{}")
    stored, fixed = zlib.compressobj(0), zlib.compressobj(strategy=zlib.Z_FIXED)
    flushed = zlib.compressobj()
    for comment, stream in [
        ("in a stored block", stored.compress(canonical(SPEAK)) + stored.flush()),
        ("with fixed codes", fixed.compress(canonical(SPEAK)) + fixed.flush()),
        (
            "in blocks, with an empty stored one between them",
            flushed.compress(canonical(SPEAK)[:20])
            + flushed.flush(zlib.Z_FULL_FLUSH)
            + flushed.compress(canonical(SPEAK)[20:])
            + flushed.flush(),
        ),
    ]:
        yield decoded(f"a payload compressed {comment}", ["Compressed"], bits((16, 0x8300), stream))
    gzipped, deflated = (zlib.compressobj(wbits=bits) for bits in (31, -15))
    for form, stream in [("gzip", gzipped), ("deflate alone", deflated)]:
        stream = stream.compress(canonical(SPEAK)) + stream.flush()
        yield refused(f"{form} in place of zlib", ["Compressed"], "bad-compression", bits((16, 0x8300), stream))
    yield refused("metadata that are not compressed", ["Compressed"], "bad-compression", b"\x83" + plain(b"{}", b"{}")[1:])


def build():
    source = [files.package("hivemind_bus_client")]
    groups = [
        group("EncodeBinary", source, list(encoding())),
        group("DecodeBinary", source, list(decoding())),
    ]
    files.write("binary", "HiveMind's binary messages, written and read.", NOTES, groups)


if __name__ == "__main__":
    build()

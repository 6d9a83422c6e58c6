"""Messages split into frames, and reassembled. Byte i of a long message is i mod 127, which is also valid UTF-8."""

import hashlib

import files
from files import group, invalid, valid

NOTES = {
    "BinaryIsBytes": "A binary message may be any bytes. A failure most likely decodes it as text.",
    "ChunkLimit": (
        "Up to 65000 bytes are one frame, and so are the chunks of more. A failure most likely counts the marker, or "
        "fills the Noise message."
    ),
    "EmptyMessage": (
        "A message without bytes is its marker alone. A failure most likely sends or delivers nothing, or two chunks."
    ),
    "EmptyPlaintext": "A plaintext without even a marker ends the session. A failure most likely reads beyond the end.",
    "FinalChunk": (
        "0x05 carries the rest, and is never sent empty: 130000 bytes are 0x02 and 0x05. A failure most likely sends "
        "an empty one, or delivers before it came."
    ),
    "Interleaved": (
        "A message begins while another one is open. Whoever accepts it mixes the two, or forgets the first."
    ),
    "MiddleChunk": (
        "0x04 carries what lies between, whatever the kind. A failure most likely sends 0x02 or 0x03 again, or keeps "
        "one middle chunk only."
    ),
    "NothingOpen": "A chunk with nothing open. Whoever accepts it starts a message of no kind, or passes over it.",
    "OneFrame": "A message in one frame, 0x00 for JSON and 0x01 for binary.",
    "ReassemblyCap": (
        "A message of 32 MiB and a byte is never delivered, whether the session goes on or not. A failure most likely is "
        "off by one."
    ),
    "UnknownMarker": (
        "Markers beyond 0x05 do not exist. Whoever accepts one most likely looks at a few bits only, or takes it for "
        "JSON without marker."
    ),
    "Utf8AcrossChunks": (
        "A character whose bytes lie in two chunks. A failure most likely decodes each chunk by itself."
    ),
}

MAX_CHUNK = 65000
MAX_FRAME = 65535 - 16 - 1  # without the tag and the marker
MAX_MESSAGE = 32 * 1024 * 1024
CONTENT = bytes(range(127)) * (MAX_MESSAGE // 127 + 4096)
KINDS = ["json", "binary"]
WHOLE = {"json": 0x00, "binary": 0x01}
FIRST = {"json": 0x02, "binary": 0x03}
MIDDLE, FINAL = 0x04, 0x05


def sha256(data):
    return hashlib.sha256(data).hexdigest()


# Splitting

LENGTHS = [
    (0, ["EmptyMessage"]),
    (1, ["OneFrame"]),
    (64999, ["ChunkLimit"]),
    (65000, ["ChunkLimit"]),
    (65001, ["ChunkLimit", "FinalChunk"]),
    (65519, ["ChunkLimit", "FinalChunk"]),
    (129999, ["FinalChunk"]),
    (130000, ["FinalChunk"]),
    (130001, ["MiddleChunk", "FinalChunk"]),
    (195000, ["MiddleChunk", "FinalChunk"]),
    (200000, ["MiddleChunk", "FinalChunk"]),
    (MAX_MESSAGE, ["MiddleChunk"]),
    (MAX_MESSAGE + 1, ["MiddleChunk"]),
]


def parts(length):
    """Start and end of the payload of each frame."""
    count = max(1, -(-length // MAX_CHUNK))
    return [(index * MAX_CHUNK, min(length, (index + 1) * MAX_CHUNK)) for index in range(count)]


def marker(kind, index, count):
    if count == 1:
        return WHOLE[kind]
    if index == 0:
        return FIRST[kind]
    return MIDDLE if index < count - 1 else FINAL


def split(kind, length, flags):
    cut = parts(length)
    frames = [
        {"marker": marker(kind, index, len(cut)), "length": end - start, "sha256": sha256(CONTENT[start:end])}
        for index, (start, end) in enumerate(cut)
    ]
    return valid(f"{length} bytes of {kind}", flags, kind=kind, length=length, frames=frames)


# Reassembling


def bare(*frames):
    """Frames given as bytes in hexadecimal."""
    return [{"bytes": frame} for frame in frames]


def long(marker, offset, length):
    """A frame given by the rule."""
    return {"marker": marker, "offset": offset, "length": length}


def chunks(kind, *lengths):
    """The frames of a message, with these lengths."""
    markers = [marker(kind, index, len(lengths)) for index in range(len(lengths))]
    return [long(marker, sum(lengths[:index]), lengths[index]) for index, marker in enumerate(markers)]


def message(kind, content):
    """The event for a message of this length, or of these bytes."""
    data = CONTENT[:content] if isinstance(content, int) else content
    return {"type": "message", "kind": kind, "length": len(data), "sha256": sha256(data)}


def dropped(kind, length, reason):
    return {"type": "dropped", "kind": kind, "length": length, "reason": reason}


def delivered(comment, flags, frames, *events):
    return valid(comment, flags, frames=frames, events=list(events))


def whole_messages(kind):
    def case(comment, flags, *lengths):
        return delivered(f"{kind}, {comment}", flags, chunks(kind, *lengths), message(kind, sum(lengths)))

    for length, flags in LENGTHS[:-2]:
        yield case(f"{length} bytes as they are split", flags, *[end - start for start, end in parts(length)])


BYTES = [
    ("a byte that only continues", "80"),
    ("a character cut short", "e282"),
    ("a slash in two bytes", "c0af"),
    ("a surrogate", "eda080"),
    ("U+110000", "f4908080"),
    ("a character in Latin-1", "7be97d"),
]


def texts():
    euro, smile = "\u20ac".encode(), "\U0001f600".encode()
    split_characters = [
        ("a character in two chunks", bare("02e282", "05ac"), euro),
        ("a character in three chunks", bare("02e2", "0482", "05ac"), euro),
        ("a character of four bytes in four chunks", bare("02f0", "049f", "0498", "0580"), smile),
    ]
    for comment, frames, content in split_characters:
        yield delivered(comment, ["Utf8AcrossChunks"], frames, message("json", content))
    for comment, content in BYTES:
        binary = message("binary", bytes.fromhex(content))
        yield delivered(f"{comment}, as binary", ["BinaryIsBytes"], bare("01" + content), binary)

def sequences():
    json_a, json_ab = message("json", b"a"), message("json", b"ab")
    binary_b, binary_ab = message("binary", b"b"), message("binary", b"ab")
    yield delivered("JSON, then binary", ["OneFrame"], bare("0061", "0162"), json_a, binary_b)
    frames = bare("0361", "0562", "0061")
    yield delivered("chunked binary, then JSON", ["FinalChunk"], frames, binary_ab, json_a)
    frames = bare("0261", "0562", "0361", "0562", "0261", "0562")
    yield delivered("three chunked messages", ["FinalChunk"], frames, json_ab, binary_ab, json_ab)
    frames = bare("0061", "0261", "0462")
    yield delivered("a message that is not yet whole", ["FinalChunk"], frames, json_a)
    like_markers = message("json", b"\5\4"), message("binary", b"\0\1\2")
    yield delivered("content like markers", ["OneFrame"], bare("000504", "01000102"), *like_markers)


# What ends the session

NOTHING_OPEN = [
    ("at the start", [], []),
    ("after a message", bare("0061"), [message("json", b"a")]),
    ("after a chunked message", bare("0361", "0562"), [message("binary", b"ab")]),
]
OPEN = [
    ("in JSON", bare("0261"), []),
    ("in binary, after a middle chunk", bare("0361", "0462"), []),
    ("after an empty first chunk", bare("02"), []),
    ("in the second message", bare("0061", "0361"), [message("json", b"a")]),
]
WITHOUT_START = [
    ("a middle chunk", "0461"),
    ("a final chunk", "0561"),
    ("an empty middle chunk", "04"),
    ("an empty final chunk", "05"),
]
WHILE_OPEN = [
    ("a JSON message", "0062"),
    ("a binary message", "0162"),
    ("a first chunk of JSON", "0262"),
    ("a first chunk of binary", "0362"),
    ("an empty JSON message", "00"),
]
NEVER = [
    ("marker 06", "UnknownMarker", "unknown-marker", "0661"),
    ("marker 80", "UnknownMarker", "unknown-marker", "8061"),
    ("JSON without marker", "UnknownMarker", "unknown-marker", "7b7d"),
    ("a plaintext without marker", "EmptyPlaintext", "empty-plaintext", ""),
]


def breaches():
    def case(comment, flags, error, situation, frame):
        where, before, events = situation
        return invalid(f"{comment} {where}", flags, error, frames=before + bare(frame), events=events)

    for situation in NOTHING_OPEN:
        for comment, frame in WITHOUT_START:
            yield case(comment, ["NothingOpen"], "chunk-without-start", situation, frame)
    for situation in OPEN:
        for comment, frame in WHILE_OPEN:
            yield case(comment, ["Interleaved"], "message-while-open", situation, frame)
    for situation in [NOTHING_OPEN[0], OPEN[0]]:
        for comment, flag, error, frame in NEVER:
            yield case(comment, [flag], error, situation, frame)
    too_long = [min(MAX_FRAME, MAX_MESSAGE - start) for start in range(0, MAX_MESSAGE, MAX_FRAME)] + [1]
    # By now every reading of the specification has ended the session, and none has delivered the message.
    for kind, where in [("json", "after a drop"), ("binary", "after a drop of binary")]:
        after_drop = (where, chunks(kind, *too_long), [dropped(kind, MAX_MESSAGE + 1, "too-large")])
        yield case("a final chunk", ["ReassemblyCap", "NothingOpen"], "chunk-without-start", after_drop, "0562")


def build():
    reassembled = [test for kind in KINDS for test in whole_messages(kind)]
    reassembled += [*texts(), *sequences()]
    groups = [
        group("Split", [files.SPECIFICATION], [split(kind, *case) for kind in KINDS for case in LENGTHS]),
        group("Reassemble", [files.SPECIFICATION], reassembled),
        group("Reassemble", [files.SPECIFICATION], list(breaches())),
    ]
    files.write("framing", "Messages cut into frames, and put together again from frames.", NOTES, groups)

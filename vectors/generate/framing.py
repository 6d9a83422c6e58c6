"""Messages split into frames, and reassembled. Byte i of a long message is i mod 127, which is also valid UTF-8."""

import hashlib

import files
from files import group, invalid, valid

NOTES = {
    "AtTheCap": (
        "A message of 32 MiB is delivered by a receiver that has set no lower limit. A failure most likely is off by one."
    ),
    "BinaryIsBytes": "A binary message may be any bytes. A failure most likely decodes it as text.",
    "ChunkLimit": (
        "Up to 65000 bytes are one frame, and so are the chunks of more. A failure most likely counts the marker, or "
        "fills the Noise message."
    ),
    "EmptyChunk": (
        "A chunk without bytes, which nobody sends and everybody takes. A failure most likely refuses it, or takes it "
        "for the end."
    ),
    "EmptyMessage": (
        "A message without bytes is its marker alone. A failure most likely sends or delivers nothing, or two chunks."
    ),
    "EmptyPlaintext": "A plaintext without even a marker ends the session. A failure most likely reads beyond the end.",
    "FinalChunk": (
        "0x05 carries the rest, and is never sent empty: 130000 bytes are 0x02 and 0x05. A failure most likely sends "
        "an empty one, or delivers before it came."
    ),
    "FrameLength": (
        "Frames of any length that a Noise message can hold, 65518 bytes beside the marker. A failure most likely "
        "expects 65000 bytes in each chunk but the last."
    ),
    "Interleaved": (
        "A message begins while another one is open. Whoever accepts it mixes the two, or forgets the first."
    ),
    "LowerCap": (
        "A device takes shorter messages only: one byte more than its cap drops a message, as 32 MiB and a byte do. A "
        "failure most likely ends the session, or keeps what it drops."
    ),
    "MiddleChunk": (
        "0x04 carries what lies between, whatever the kind. A failure most likely sends 0x02 or 0x03 again, or keeps "
        "one middle chunk only."
    ),
    "NotUtf8": (
        "A JSON message that is not UTF-8 is dropped once it is whole, and the session goes on. A failure most likely "
        "ends it, or delivers U+FFFD."
    ),
    "NothingOpen": "A chunk with nothing open. Whoever accepts it starts a message of no kind, or passes over it.",
    "OneFrame": "A message in one frame, 0x00 for JSON and 0x01 for binary.",
    "OverCap": (
        "What follows a byte too many: the chunks of the message are swallowed up to the final one, and the session "
        "goes on. HiveMind's hub and client end it. A failure most likely does so too, or forgets that a message is "
        "open."
    ),
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
    yield case("one frame as long as can be", ["FrameLength"], MAX_FRAME)
    yield case("two chunks as long as can be", ["FrameLength"], MAX_FRAME, MAX_FRAME)
    yield case("chunks of one byte", ["FrameLength"], *[1] * 10)
    yield case("chunks of odd lengths", ["FrameLength"], 3, MAX_FRAME, 1, 64999, 7, 65001)
    yield case("its first chunk empty", ["EmptyChunk"], 0, 5)
    yield case("its final chunk empty", ["EmptyChunk"], 5, 0)
    yield case("its middle chunk empty", ["EmptyChunk"], 5, 0, 5)
    yield case("all its chunks empty", ["EmptyChunk", "EmptyMessage"], 0, 0, 0)


NOT_UTF8 = [
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
        ("a character and an empty chunk within", bare("02e2", "04", "0582ac"), euro),
    ]
    for comment, frames, content in split_characters:
        yield delivered(comment, ["Utf8AcrossChunks"], frames, message("json", content))
    after = message("json", b"{}")
    for comment, content in NOT_UTF8:
        drop = dropped("json", len(content) // 2, "not-utf8")
        yield delivered(f"{comment}, in one frame", ["NotUtf8"], bare("00" + content, "007b7d"), drop, after)
        yield delivered(f"{comment}, in chunks", ["NotUtf8"], bare("02" + content, "05", "007b7d"), drop, after)
        binary = message("binary", bytes.fromhex(content))
        yield delivered(f"{comment}, as binary", ["BinaryIsBytes"], bare("01" + content), binary)
    frames = bare("00ff", "027b", "057d")
    drop = dropped("json", 1, "not-utf8")
    yield delivered("a chunked message after one that was dropped", ["NotUtf8"], frames, drop, after)


def sequences():
    json_a, json_ab = message("json", b"a"), message("json", b"ab")
    binary_b, binary_ab = message("binary", b"b"), message("binary", b"ab")
    yield delivered("JSON, then binary", ["OneFrame"], bare("0061", "0162"), json_a, binary_b)
    frames = bare("0361", "0562", "0061")
    yield delivered("chunked binary, then JSON", ["FinalChunk"], frames, binary_ab, json_a)
    frames = bare("0261", "0562", "0361", "0562", "0261", "0462", "05")
    yield delivered("three chunked messages", ["FinalChunk"], frames, json_ab, binary_ab, json_ab)
    frames = bare("0061", "0261", "0462")
    yield delivered("a message that is not yet whole", ["FinalChunk"], frames, json_a)
    like_markers = message("json", b"\5\4"), message("binary", b"\0\1\2")
    yield delivered("content like markers", ["OneFrame"], bare("000504", "01000102"), *like_markers)


def of_length(length, size=MAX_CHUNK):
    """The lengths of the chunks of a message of this length."""
    return [min(size, length - start) for start in range(0, length, size)]


def around_the_cap():
    def kept(comment, frames, *events):
        return delivered(comment, ["AtTheCap"], frames, *events)

    def over(comment, frames, *events):
        return delivered(comment, ["OverCap"], frames, *events)

    after = message("json", b"{}")
    for kind in KINDS:
        frames = chunks(kind, *of_length(MAX_MESSAGE))
        yield kept(f"32 MiB of {kind}", frames, message(kind, MAX_MESSAGE))
        frames = chunks(kind, *of_length(MAX_MESSAGE + 1)) + bare("007b7d")
        yield over(f"a byte more of {kind}, then a message", frames, dropped(kind, MAX_MESSAGE + 1, "too-large"), after)
    cap = of_length(MAX_MESSAGE, MAX_FRAME)
    frames = chunks("binary", *cap, 0)
    yield kept("32 MiB in the longest frames, then an empty final chunk", frames, message("binary", MAX_MESSAGE))
    frames = chunks("json", *cap, 1) + bare("027b", "057d")
    drop = dropped("json", MAX_MESSAGE + 1, "too-large")
    yield over("the byte too many in a chunk of its own, then a chunked message", frames, drop, after)
    frames = chunks("binary", *cap, 1, MAX_FRAME, 0, 3) + bare("007b7d")
    drop = dropped("binary", MAX_MESSAGE + 1 + MAX_FRAME + 3, "too-large")
    yield over("more chunks after the byte too many, then a message", frames, drop, after)


def around_lower_caps():
    def case(comment, cap, frames, *events):
        return valid(comment, ["LowerCap"], maxMessage=cap, frames=frames, events=list(events))

    after = message("json", b"{}")
    for kind in KINDS:
        for cap in [2, 1000, 100000]:
            whole = chunks(kind, *of_length(cap))
            yield case(f"a message of {cap} bytes of {kind}, the cap", cap, whole, message(kind, cap))
            more = chunks(kind, *of_length(cap + 1)) + bare("007b7d")
            drop = dropped(kind, cap + 1, "too-large")
            yield case(f"a byte more than {cap} of {kind}, then a message", cap, more, drop, after)
        small = chunks(kind, 1, 0, 1, 1) + bare("007b7d")
        drop = dropped(kind, 3, "too-large")
        yield case(f"a byte more than 2 in small chunks of {kind}, then a message", 2, small, drop, after)
    nothing = message("json", b""), dropped("binary", 1, "too-large")
    frames = bare("007b7d", "007b7d20", "007b7d")
    yield case("a message within the cap, then a byte more", 2, frames, after, dropped("json", 3, "too-large"), after)
    yield case("a cap of no bytes", 0, bare("00", "0161"), *nothing)
    like_32 = chunks("binary", *of_length(70000)) + bare("02ff", "05ff", "007b7d")
    drops = dropped("binary", 70000, "too-large"), dropped("json", 2, "not-utf8")
    yield case("two drops for two reasons, then a message", 65000, like_32, *drops, after)


# What ends the session

NOTHING_OPEN = [
    ("at the start", [], []),
    ("after a message", bare("0061"), [message("json", b"a")]),
    ("after a chunked message", bare("0361", "0562"), [message("binary", b"ab")]),
    ("after a message that was dropped", bare("00ff"), [dropped("json", 1, "not-utf8")]),
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
    ("marker 06", ["UnknownMarker"], "unknown-marker", "0661"),
    ("marker 10", ["UnknownMarker"], "unknown-marker", "1061"),
    ("marker 80", ["UnknownMarker"], "unknown-marker", "8061"),
    ("marker FF alone", ["UnknownMarker"], "unknown-marker", "ff"),
    ("JSON without marker", ["UnknownMarker"], "unknown-marker", "7b7d"),
    ("a plaintext without marker", ["EmptyPlaintext"], "empty-plaintext", ""),
]


def breaches():
    def case(comment, flags, error, situation, frame):
        where, before, events = situation
        if any(event.get("reason") == "not-utf8" for event in events):
            flags = [*flags, "NotUtf8"]
        return invalid(f"{comment} {where}", flags, error, frames=before + bare(frame), events=events)

    for situation in NOTHING_OPEN:
        for comment, frame in WITHOUT_START:
            yield case(comment, ["NothingOpen"], "chunk-without-start", situation, frame)
    for situation in OPEN:
        for comment, frame in WHILE_OPEN:
            yield case(comment, ["Interleaved"], "message-while-open", situation, frame)
    for situation in NOTHING_OPEN + OPEN:
        for comment, flags, error, frame in NEVER:
            yield case(comment, flags, error, situation, frame)

    too_long = [*of_length(MAX_MESSAGE, MAX_FRAME), 1]
    in_drop = ("while a message is dropped", chunks("json", *too_long, 0)[:-1], [])
    yield case("a message", ["OverCap", "Interleaved"], "message-while-open", in_drop, "0062")
    yield case("a first chunk", ["OverCap", "Interleaved"], "message-while-open", in_drop, "0362")
    yield case("an unknown marker", ["OverCap", "UnknownMarker"], "unknown-marker", in_drop, "06")
    yield case("a plaintext without marker", ["OverCap", "EmptyPlaintext"], "empty-plaintext", in_drop, "")
    # By now every reading of the specification has ended the session, and none has delivered the message.
    for kind, where in [("json", "after a drop"), ("binary", "after a drop of binary")]:
        after_drop = (where, chunks(kind, *too_long), [dropped(kind, MAX_MESSAGE + 1, "too-large")])
        yield case("a final chunk", ["ReassemblyCap", "NothingOpen"], "chunk-without-start", after_drop, "0562")


def build():
    reassembled = [test for kind in KINDS for test in whole_messages(kind)]
    reassembled += [*texts(), *sequences(), *around_the_cap(), *around_lower_caps()]
    groups = [
        group("Split", [files.SPECIFICATION], [split(kind, *case) for kind in KINDS for case in LENGTHS]),
        group("Reassemble", [files.SPECIFICATION], reassembled),
        group("Reassemble", [files.SPECIFICATION], list(breaches())),
    ]
    choices = ["AtTheCap", "EmptyChunk", "EmptyPlaintext", "FrameLength", "LowerCap", "NotUtf8", "OverCap", "UnknownMarker"]
    files.write("framing", "Messages cut into frames, and put together again from frames.", NOTES, groups, choices)

"""What happens to transport messages, which is the same for a client and for a hub. `connected` starts each script."""

import itertools

from peer import envelope, flip
from script import HELLO, frame

BUS = '{"msg_type":"bus","payload":{"type":"speak","data":{"utterance":"h\u00e9 \U0001f600"}}}'


def messages(connected):
    def script(comment, *flags):
        return connected(comment, ["Messages", *flags])

    def chunks(comment, *plaintexts, flags=()):
        return script(comment, "Chunks", *flags).receive_frames(*plaintexts).end()

    smile, empty = "\U0001f600".encode(), ["EmptyMessage"]
    tests = [
        script("messages both ways").hear(BUS).send(BUS).hear(b"\x00\xff").send(b"\xff\x00").hear(BUS).send("{}").end(),
        script("empty JSON both ways", "EmptyMessage").hear("").send("").hear("{}").end(),
        script("empty messages both ways").hear(b"").send(b"").hear("{}").end(),
        sealed_like_json(connected).hear("{}").end(),
        chunks("a JSON message in three chunks", frame(2, b'{"a"'), frame(4, b":"), frame(5, b"1}")),
        chunks("a binary message in two chunks", frame(3, b"\x01\x02"), frame(5, b"\x03")),
        chunks("a character cut in two by the end of a chunk", frame(2, b'"' + smile[:2]), frame(5, smile[2:] + b'"')),
        chunks("an empty first chunk and an empty final one", frame(3), frame(4, b"\x07"), frame(5), flags=empty),
        chunks("nothing but empty chunks", frame(2), frame(5), flags=empty),
        script("chunked messages one after the other, with one sent in between", "Chunks")
        .receive_frame(frame(3, b"\x01"))
        .send("{}")
        .receive_frames(frame(5, b"\x02"), frame(2, b"["), frame(5, b"]"))
        .hear("{}")
        .end(),
    ]
    return [test.test() for test in tests]


def sealed_like_json(connected):
    """A transport message that happens to begin with the brace of a JSON object, as one in 256 does."""
    for attempt in itertools.count():
        script = connected("a transport message that begins like JSON", ["LooksLikeJson"], seed=f" {attempt}")
        message = script.peer.seal(frame(0, b"{}"))
        if message.startswith(b"{"):
            return script.receive(message)


def large_messages(connected):
    large = connected("65001 bytes leave in two frames", ["Messages", "Chunks"])
    return [large.hear("{}").send(f'"{"x" * 64999}"').send("{}").end().test()]


def failures(connected):
    """Everything that ends a session once it is encrypted."""

    def script(comment, flag):
        return connected(comment, [flag, "AfterFailure"])

    def spoiled(comment, spoil):
        damaged = script(comment, "Damaged").hear("{}")
        return damaged.fail(spoil(damaged.peer.seal(frame(0, b"{}"))))

    def replayed(script):
        message = script.peer.seal(frame(0, b"1"))
        return script.receive(message).fail(message)

    def ahead_of_its_turn(script):
        script.peer.seal(frame(0, b"1"))
        return script.fail(script.peer.seal(frame(0, b"2")))

    def mended(script):
        message = script.peer.seal(frame(0, b"1"))
        return script.fail(flip(message, -1), then=[message])

    def reflected(script):
        [message] = script.send("{}").steps[-1]["messages"]
        return script.fail(bytes.fromhex(message))

    def chunks(comment, *plaintexts):
        *good, bad = plaintexts
        chunked = script(comment, "ChunkRules").receive_frames(*good)
        return chunked.fail(chunked.peer.seal(bad))

    first, middle, final = frame(2, b"["), frame(4, b"1"), frame(5, b"]")
    tests = [
        spoiled("a transport message with a bit flipped in its text", lambda message: flip(message, 0)),
        spoiled("a transport message with a bit flipped in its tag", lambda message: flip(message, -1)),
        spoiled("a transport message without its last byte", lambda message: message[:-1]),
        spoiled("a transport message with a byte more", lambda message: message + b"\x00"),
        spoiled("a transport message shorter than a tag", lambda message: message[:15]),
        spoiled("a transport message of no bytes", lambda message: b""),
        replayed(script("a transport message that comes again", "Sequence")),
        ahead_of_its_turn(script("a transport message after one that was lost", "Sequence")),
        reflected(script("our own transport message sent back", "Sequence")),
        mended(script("a transport message as it was, after a damaged copy of it", "Sequence")),
        chunks("a middle chunk with nothing open", middle),
        chunks("a final chunk with nothing open", final),
        chunks("a whole JSON message inside a chunked one", first, frame(0, b"{}")),
        chunks("a whole binary message inside a chunked one", first, middle, frame(1, b"{}")),
        chunks("a chunked JSON message inside another", first, first),
        chunks("a chunked binary message inside another", first, frame(3, b"1")),
        chunks("an unknown marker inside a chunked message", first, frame(6)),
        script("a message in clear", "TextAfterReady").fail(BUS),
        script("text in clear that is not JSON", "TextAfterReady").fail("not JSON"),
        script("HELLO in clear, as bytes", "LostSession").fail(envelope("hello", HELLO).encode()),
    ]
    return [test.test() for test in tests]

"""What happens to transport messages, which is the same for a client and for a hub. `connected` starts each script."""

import itertools

from files import CHACHAPOLY
from peer import envelope, flip
from script import ANNOUNCEMENT, HELLO, close, delivered, dropped, frame, offer_of

BUS = '{"msg_type":"bus","payload":{"type":"speak","data":{"utterance":"h\u00e9 \U0001f600"}}}'

VERBATIM = [
    ("white space", ' {"a" :\t1}\r\n'),
    ("escapes that need not be", r'{"\u0061":"\/\u00e9"}'),
    ("literals that some escape", '{"t":"<&>\u2028\xe9"}'),
    ("number tokens", '{"n":12345678901234567890,"f":1.0,"e":1E2}'),
    ("its keys in their order", '{"b":1,"a":2}'),
    ("U+0000 in an escape", r'{"a":"\u0000b"}'),
    ("a byte order mark", '\ufeff{"a":1}'),
]


def messages(connected):
    def script(comment, *flags):
        return connected(comment, ["Messages", *flags])

    smile = "\U0001f600".encode()
    tests = [
        script("messages both ways").hear(BUS).send(BUS).hear(b"\x00\xff").send(b"\xff\x00").hear(BUS).send("{}").end(),
        script("empty messages both ways", "EmptyMessage")
        .hear("", b"")
        .send(b"")
        .refuse_to_send("", "not-json")
        .hear("{}")
        .end(),
        sealed_like_json(connected).hear("{}").end(),
        connected("JSON is delivered as the text it came as", ["Verbatim"])
        .hear('{ "b":1.0, "a":1e400 }', '{"a":1,"a":2}', "not JSON")
        .end(),
        *(connected(f"JSON is delivered with {what}", ["Verbatim"]).hear(text).end() for what, text in VERBATIM),
        script("a JSON message in three chunks", "Chunks")
        .receive_frame(frame(2, b'{"a"'))
        .receive_frame(frame(4, b":"))
        .receive_frame(frame(5, b"1}"), delivered('{"a":1}'))
        .end(),
        script("a binary message in two chunks", "Chunks")
        .receive_frame(frame(3, b"\x01\x02"))
        .receive_frame(frame(5, b"\x03"), delivered(b"\x01\x02\x03"))
        .end(),
        script("a character cut in two by the end of a chunk", "Chunks")
        .receive_frame(frame(2, b'"' + smile[:2]))
        .receive_frame(frame(5, smile[2:] + b'"'), delivered('"\U0001f600"'))
        .end(),
        script("an empty first chunk and an empty final one", "Chunks", "EmptyMessage")
        .receive_frame(frame(3))
        .receive_frame(frame(4, b"\x07"))
        .receive_frame(frame(5), delivered(b"\x07"))
        .end(),
        script("nothing but empty chunks", "Chunks", "EmptyMessage")
        .receive_frame(frame(2))
        .receive_frame(frame(5), delivered(""))
        .end(),
        script("chunked messages one after the other, with one sent in between", "Chunks")
        .receive_frame(frame(3, b"\x01"))
        .send("{}")
        .receive_frame(frame(5, b"\x02"), delivered(b"\x01\x02"))
        .receive_frame(frame(2, b"["))
        .receive_frame(frame(5, b"]"), delivered("[]"))
        .hear("{}")
        .end(),
        script("a JSON message that is not UTF-8", "NotUtf8")
        .receive_frame(frame(0, b'"\xff"'), dropped("json", 3, "not-utf8"))
        .hear("{}")
        .send("{}")
        .end(),
        script("a chunked JSON message that is not UTF-8", "NotUtf8", "Chunks")
        .receive_frame(frame(2, b'"\xed\xa0'))
        .receive_frame(frame(5, b'\x80"'), dropped("json", 5, "not-utf8"))
        .hear("{}")
        .end(),
    ]
    return [test.test() for test in tests]


def greeted_again(script):
    """Over MQTT, where everything arrives as bytes, only a peer that has lost the session greets again."""
    offer = envelope("shake", offer_of(["XXpsk2"], [CHACHAPOLY]))
    for what, text in [
        ("HELLO in clear, as bytes", envelope("hello", HELLO)),
        ("an announcement in clear, as bytes", ANNOUNCEMENT),
        ("an offer in clear, as bytes", offer),
        ("an offer in clear, as bytes after a line feed", f"\n{offer}"),
        ("a HANDSHAKE with null for noise in clear, as bytes", envelope("shake", {"noise": None})),
    ]:
        yield script(what, "LostSession").fail(text.encode(), "text-after-ready")


def sealed_like_json(connected):
    """A transport message that happens to begin with the brace of a JSON object, as one in 256 does."""
    for attempt in itertools.count():
        script = connected("a transport message that begins like JSON", ["LooksLikeJson"], seed=f" {attempt}")
        message = script.peer.seal(frame(0, b"{}"))
        if message.startswith(b"{"):
            return script.receive(message, delivered("{}"))


def large_messages(connected):
    large = connected("65001 bytes leave in two frames", ["Messages", "Chunks"])
    return [large.hear("{}").send(f'"{"x" * 64999}"').send("{}").end().test()]


def failures(connected):
    """Everything that ends a session once it is encrypted."""

    def script(comment, flag):
        return connected(comment, [flag, "AfterFailure"])

    def spoiled(comment, spoil, error="not-authentic"):
        damaged = script(comment, "Damaged").hear("{}")
        return damaged.fail(spoil(damaged.peer.seal(frame(0, b"{}"))), error)

    def replayed(script):
        message = script.peer.seal(frame(0, b"1"))
        return script.receive(message, delivered("1")).fail(message, "not-authentic")

    def ahead_of_its_turn(script):
        script.peer.seal(frame(0, b"1"))
        return script.fail_on_frame(frame(0, b"2"), "not-authentic")

    def mended(script):
        message = script.peer.seal(frame(0, b"1"))
        return script.fail(flip(message, -1), "not-authentic", then=[message])

    def reflected(script):
        message = script.send("{}").steps[-1]["messages"][0]
        return script.fail(bytes.fromhex(message), "not-authentic")

    def chunks(comment, *plaintexts, error):
        *good, bad = plaintexts
        chunked = script(comment, "ChunkRules")
        for plaintext in good:
            chunked.receive_frame(plaintext)
        return chunked.fail_on_frame(bad, error)

    first, middle, final = frame(2, b"["), frame(4, b"1"), frame(5, b"]")
    tests = [
        spoiled("a transport message with a bit flipped in its text", lambda message: flip(message, 0)),
        spoiled("a transport message with a bit flipped in its tag", lambda message: flip(message, -1)),
        spoiled("a transport message without its last byte", lambda message: message[:-1]),
        spoiled("a transport message with a byte more", lambda message: message + b"\x00"),
        spoiled("a transport message shorter than a tag", lambda message: message[:15], "message-too-short"),
        spoiled("a transport message of no bytes", lambda message: b"", "message-too-short"),
        replayed(script("a transport message that comes again", "Sequence")),
        ahead_of_its_turn(script("a transport message after one that was lost", "Sequence")),
        reflected(script("our own transport message sent back", "Sequence")),
        mended(script("a transport message as it was, after a damaged copy of it", "Sequence")),
        script("a plaintext without a marker", "Marker").fail_on_frame(b"", "empty-plaintext"),
        script("the unknown marker 0x06", "Marker").fail_on_frame(frame(6, b"{}"), "unknown-marker"),
        script("the unknown marker 0xff", "Marker").fail_on_frame(frame(255, b"{}"), "unknown-marker"),
        script("JSON where the marker should be", "Marker").fail_on_frame(b"{}", "unknown-marker"),
        chunks("a middle chunk with nothing open", middle, error="chunk-without-start"),
        chunks("a final chunk with nothing open", final, error="chunk-without-start"),
        chunks("a whole JSON message inside a chunked one", first, frame(0, b"{}"), error="message-while-open"),
        chunks(
            "a whole binary message inside a chunked one", first, middle, frame(1, b"{}"), error="message-while-open"
        ),
        chunks("a chunked JSON message inside another", first, first, error="message-while-open"),
        chunks("a chunked binary message inside another", first, frame(3, b"1"), error="message-while-open"),
        chunks("an unknown marker inside a chunked message", first, frame(6), error="unknown-marker"),
        script("a message in clear", "TextAfterReady").fail(BUS, "text-after-ready"),
        script("text in clear that is not JSON", "TextAfterReady").fail("not JSON", "text-after-ready"),
        script("text in clear of no characters", "TextAfterReady").fail("", "text-after-ready"),
        script("JSON in clear that is no envelope", "TextAfterReady").fail("{}", "text-after-ready"),
        script("a message in clear, as bytes", "TextAfterReady").fail(BUS.encode(), "text-after-ready"),
        script("a message in clear with white space before it, as bytes", "TextAfterReady").fail(
            b"\r\n\t " + BUS.encode(), "text-after-ready"
        ),
        script("a message in clear of an unknown type, as bytes", "TextAfterReady").fail(
            envelope("HELLO", {}).encode(), "text-after-ready"
        ),
        *greeted_again(script),
        script("JSON in clear that is no envelope, as bytes", "TextAfterReady").fail(
            b'{"msg_type":"hello"}', "not-authentic"
        ),
        script("a list in clear, as bytes", "TextAfterReady").fail(b'[{"msg_type":"hello"}]', "not-authentic"),
    ]
    return [test.test() for test in tests]


NOT_JSON = [
    ("a bare word", "hello"),
    ("half of an object", '{"a":'),
    ("two values", "{} {}"),
    ("NaN", "NaN"),
    ("a comma after the last item", "[1,]"),
    ("single quotes", "{'a':1}"),
    ("white space alone", " "),
]


def sent_strings(connected):
    """A string that is sent as JSON must be JSON. If it is, it is sent as it is."""
    tests = []
    for what, text in NOT_JSON:
        refused = connected(f"a string that is not JSON is not sent: {what}", ["NotJson", "LocalError"])
        tests.append(refused.refuse_to_send(text, "not-json").send("{}").hear("{}").end())
    sent = connected("strings that are JSON are sent as they are", ["NotJson"])
    for text in ['{ "b": 1.0, "a": 1e400 }', '"hello"', "null", "-0", " [ ] \n"]:
        sent.send(text)
    return [test.test() for test in [*tests, sent.hear("{}").end()]]


def local_errors(connected):
    failed = connected("nothing is sent on a session that failed", ["LocalError", "AfterFailure"])
    over = connected("nothing is sent on a session that was closed", ["LocalError"])
    open_still = connected("nothing is sent between a failure and the close", ["LocalError", "AfterFailure"])
    open_still.failure = "empty-plaintext"
    open_still.receive_frame(b"", close("empty-plaintext", is_established=True))
    open_still.refuse_to_send("{}", "session-over").refuse_to_send(b"", "session-over").closed(1008)
    tests = [
        failed.fail_on_frame(b"", "empty-plaintext").refuse_to_send("{}", "session-over"),
        over.hear("{}").end().refuse_to_send(b"\x01", "session-over").closed(1008).ignore(envelope("hello", HELLO)),
        open_still,
    ]
    return [test.test() for test in tests]

"""Cleartext envelopes, one change away from ordinary ones: what a client or a hub accepts, ignores or refuses."""

import envelope_forms as forms
import files
from files import CHACHAPOLY
from peer import SOURCE, envelope
from script import HELLO, MESSAGE_1_PAYLOAD, Client, Hub, close, psk_needed

MAX_ENVELOPE = 256 * 1024
LIMITS = "the caps of 256 KiB and of 64 open containers, by hand"

NOTES = {
    "BadUtf8": "Bytes that are not UTF-8 (RFC 3629). Whoever accepts them has a decoder that replaces or guesses.",
    "ByteOrderMark": (
        "A byte order mark before the value. RFC 8259, section 8.1, lets a parser ignore it; this library refuses it, as "
        "Python's does in a text."
    ),
    "Depth": (
        "Up to 64 arrays and objects may be open at once: a cap of this library's own. A failure most likely counts "
        "otherwise, or leaves the depth to its machine's stack."
    ),
    "DuplicateKey": (
        "A key twice in one object, compared after its escapes are read. Whoever accepts it takes the first or the "
        "last, and two sides that differ there bind different payloads."
    ),
    "EnvelopeForm": (
        "The two fields that count, whatever else the envelope holds, in any order and with any white space. A "
        "failure most likely demands fields it does not need, or looks for words in the text."
    ),
    "Hex": (
        "A Noise message is a text of hexadecimal digits in pairs, and nothing else. Whoever accepts more has a "
        "lenient decoder that reads another message than was sent, or fails far from here."
    ),
    "Ignored": (
        "A HANDSHAKE without noise.msg, or whose `noise` is not an object, is no handshake message but an offer, and "
        "changes nothing once one was taken. A failure most likely takes every `shake` for the message that is due."
    ),
    "LoneSurrogate": "An escaped half of a surrogate pair has no UTF-8 form. Whoever accepts it replaces it by U+FFFD.",
    "MessageType": (
        "msg_type is a text: `hello`, or `shake` also as `handshake`, in this spelling. A failure most likely folds "
        "case, converts other types, or takes an unknown type for the one that is due."
    ),
    "NodeId": (
        "node_id is a text that is not empty, and a field of the payload itself. A failure most likely converts "
        "numbers, salts and pins with an empty name, or finds inherited fields."
    ),
    "Noise": (
        "noise is an object. A failure most likely reads fields of what is none, and crashes, or calls the peer too "
        "old."
    ),
    "NotAnObject": "An envelope is a JSON object. A failure most likely reads fields of what has none, and crashes.",
    "NotJson": "Not JSON (RFC 8259). Whoever accepts it has a parser with extensions, and so a prologue of its own.",
    "Offer": (
        "patterns and suites are lists of texts. A failure most likely finds a name inside a text, or goes on without "
        "a list."
    ),
    "Payload": (
        "The payload is an object, and JSON inside a text is a text. Whoever repairs it lets the peer say things that "
        "were not bound, or crashes."
    ),
    "ProtocolVersion": (
        "max_protocol_version is a number, 3 or more, in any spelling of JSON. A failure most likely compares texts "
        "or tokens, demands exactly 3, or takes true for a number."
    ),
    "Selected": (
        "Message 1 names its pattern and its suite as texts. A failure most likely falls back to a default, or crashes."
    ),
    "TooLarge": (
        "An envelope of more than 256 KiB: a cap of this library's own, twice what the longest handshake message "
        "needs. Whoever parses it gives a stranger its memory."
    ),
}


# What the envelope is read as. Each function returns a script up to this point, type and payload of the envelope, and a
# function that returns the events.


def hello(comment, flag):
    return Client(comment, [flag]), "hello", HELLO, lambda: []


def handshake(comment, flag):
    client = Client(comment, [flag]).hello()
    return client, "shake", client.offer_payload, lambda: [client.message_1()]


def offer_without_psk(comment, flag):
    """An offer to a client without a PSK, so that message 1, which depends on the prologue, is not part of the test."""
    client = Client(comment, [flag], has_psk=False).hello()
    return client, "shake", client.offer_payload, lambda: [psk_needed()]


def message_2(comment, flag):
    client = Client(comment, [flag]).until_message_1()
    message = client.message_2()
    return client, "shake", {"noise": {"msg": message.hex()}}, lambda: client.accept(message)


def message_1(comment, flag):
    hub = Hub(comment, [flag]).start()
    message = hub.peer.write(MESSAGE_1_PAYLOAD)
    noise = {"pattern": "XXpsk2", "suite": CHACHAPOLY, "msg": message.hex()}
    return hub, "shake", {"noise": noise}, lambda: hub.answer(message)


def message_3(comment, flag):
    hub = Hub(comment, [flag]).start().message_1()
    message = hub.peer.write()
    return hub, "shake", {"noise": {"msg": message.hex()}}, lambda: hub.accept(message)


def accepted(reads, comment, flag, form):
    script, kind, payload, events = reads(comment, flag)
    script.receive(form(kind, payload), *events())
    return (script.offer() if reads is hello else script).test()


def refused(reads, comment, flag, error, form):
    script, kind, payload, _events = reads(comment, flag)
    return script.receive(form(kind, payload), close(error)).test()


def ignored(reads, comment, form):
    """An envelope that changes nothing: the right one is still accepted afterwards."""
    script, kind, payload, events = reads(comment, "Ignored")
    return script.ignore(form(kind, payload)).receive(envelope(kind, payload), *events()).test()


def form_tests(reads, *refusals):
    """The ordinary envelope, other valid forms of it, then invalid ones."""
    tests = [accepted(reads, "as it is sent today", "EnvelopeForm", envelope)]
    tests += [accepted(reads, comment, "EnvelopeForm", form) for comment, form in forms.GOOD_FORMS]
    tests.append(accepted(reads, "64 containers open at once", "Depth", forms.nested(forms.MAX_DEPTH)))
    return tests + [refused(reads, *refusal) for table in refusals for refusal in table]


def hello_tests():
    return [
        *form_tests(hello, forms.BAD_FORMS, forms.BAD_PAYLOADS, forms.BAD_NODE_IDS),
        accepted(hello, "16 KiB", "TooLarge", forms.of_length(16 * 1024)),
        *large_tests(hello),
    ]


def large_tests(reads):
    """The longest envelope, and one byte more. Characters of two bytes show that bytes are counted."""
    tests = []
    for what, repeated in [("", "x"), (" in characters of two bytes", "\xe9")]:
        at_most, too_long = (forms.of_length(length, repeated) for length in (MAX_ENVELOPE, MAX_ENVELOPE + 1))
        tests += [
            accepted(reads, f"256 KiB{what}", "TooLarge", at_most),
            refused(reads, f"256 KiB and one byte{what}", "TooLarge", "envelope-too-large", too_long),
        ]
    return tests


def handshake_tests():
    tests = form_tests(handshake, forms.BAD_PAYLOADS, forms.BAD_VERSIONS, forms.BAD_NOISE, forms.BAD_OFFERS)
    for token in forms.GOOD_VERSIONS:
        tests.append(accepted(offer_without_psk, f"version {token}", "ProtocolVersion", forms.version(token)))
    return tests


def message_1_tests():
    tables = [forms.BAD_SELECTIONS, forms.BAD_HEX, forms.BAD_CLIENT_VERSIONS]
    tests = form_tests(message_1, forms.BAD_FORMS, forms.BAD_PAYLOADS, *tables)
    for token in forms.GOOD_CLIENT_VERSIONS:
        tests.append(accepted(message_1, f"version {token}", "ProtocolVersion", forms.version_added(token)))
    return tests + no_messages(message_1) + large_tests(message_1)


def later_message_tests(reads):
    return form_tests(reads, forms.BAD_PAYLOADS, forms.BAD_HEX) + no_messages(reads)


def no_messages(reads):
    return [
        ignored(reads, "no msg", forms.noise_without("msg")),
        ignored(reads, "no noise", forms.payload_without("noise")),
        *(ignored(reads, comment, form) for comment, _flag, _error, form in forms.BAD_NOISE),
    ]


def build():
    def group(role, reads, tests):
        return files.group("Session", [*SOURCE, LIMITS], tests, role=role, reads=reads)

    groups = [
        group("client", "HELLO", hello_tests()),
        group("client", "HANDSHAKE", handshake_tests()),
        group("client", "message 2", later_message_tests(message_2)),
        group("hub", "message 1", message_1_tests()),
        group("hub", "message 3", later_message_tests(message_3)),
    ]
    choices = ["ByteOrderMark", "Depth", "DuplicateKey", "Ignored", "LoneSurrogate", "Payload", "TooLarge"]
    files.write("envelopes", "Cleartext envelopes that are read, ignored or refused.", NOTES, groups, choices)

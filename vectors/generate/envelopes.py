"""Cleartext envelopes, one change away from ordinary ones: what a client or a hub accepts, ignores or refuses."""

import envelope_forms as forms
import files
from files import CHACHAPOLY
from peer import SOURCE, envelope
from script import HELLO, MESSAGE_1_PAYLOAD, Client, Hub


NOTES = {
    "BadUtf8": "Bytes that are not UTF-8 (RFC 3629). Whoever accepts them has a decoder that replaces or guesses.",
    "EnvelopeForm": (
        "The two fields that count, whatever else the envelope holds, in any order and with any white space. A "
        "failure most likely demands fields it does not need, or looks for words in the text."
    ),
    "Hex": (
        "A Noise message is a text of hexadecimal digits in pairs, and nothing else. Whoever accepts more has a "
        "lenient decoder that reads another message than was sent, or fails far from here."
    ),
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
    "ProtocolVersion": (
        "max_protocol_version is a number, 3 or more, in any spelling of JSON. A failure most likely compares texts "
        "or tokens, demands exactly 3, or takes true for a number."
    ),
    "Selected": (
        "Message 1 names its pattern and its suite as texts. A failure most likely falls back to a default, or crashes."
    ),
}


# What the envelope is read as. Each function returns a script up to this point, and type and payload of the envelope.


def hello(comment, flag):
    return Client(comment, [flag]), "hello", HELLO


def handshake(comment, flag):
    client = Client(comment, [flag]).hello()
    return client, "shake", client.offer_payload


def offer_without_psk(comment, flag):
    """An offer to a client without a PSK, so that message 1, which depends on the prologue, is not part of the test."""
    client = Client(comment, [flag], has_psk=False).hello()
    return client, "shake", client.offer_payload


def message_2(comment, flag):
    client = Client(comment, [flag]).until_message_1()
    return client, "shake", {"noise": {"msg": client.message_2().hex()}}


def message_1(comment, flag):
    hub = Hub(comment, [flag]).start()
    noise = {"pattern": "XXpsk2", "suite": CHACHAPOLY, "msg": hub.peer.write(MESSAGE_1_PAYLOAD).hex()}
    return hub, "shake", {"noise": noise}


def message_3(comment, flag):
    hub = Hub(comment, [flag]).start().message_1()
    return hub, "shake", {"noise": {"msg": hub.peer.write().hex()}}


def accepted(reads, comment, flag, form):
    script, kind, payload = reads(comment, flag)
    script.receive(form(kind, payload))
    if reads is message_2:
        script.finish()
    return (script.offer() if reads is hello else script).test()


def refused(reads, comment, flag, error, form):
    script, kind, payload = reads(comment, flag)
    script.receive(form(kind, payload))
    assert script.failure == error, comment
    return script.test()


def form_tests(reads, *refusals):
    """The ordinary envelope, other valid forms of it, then invalid ones."""
    tests = [accepted(reads, "as it is sent today", "EnvelopeForm", envelope)]
    tests += [accepted(reads, comment, "EnvelopeForm", form) for comment, form in forms.GOOD_FORMS]
    return tests + [refused(reads, *refusal) for table in refusals for refusal in table]


def hello_tests():
    return form_tests(hello, forms.BAD_FORMS, forms.BAD_NODE_IDS)


def handshake_tests():
    tests = form_tests(handshake, forms.BAD_VERSIONS, forms.BAD_NOISE, forms.BAD_OFFERS)
    for token in forms.GOOD_VERSIONS:
        tests.append(accepted(offer_without_psk, f"version {token}", "ProtocolVersion", forms.version(token)))
    return tests


def message_1_tests():
    tables = [forms.BAD_SELECTIONS, forms.BAD_HEX, forms.BAD_CLIENT_VERSIONS]
    tests = form_tests(message_1, forms.BAD_FORMS, *tables)
    for token in forms.GOOD_CLIENT_VERSIONS:
        tests.append(accepted(message_1, f"version {token}", "ProtocolVersion", forms.version_added(token)))
    return tests


def build():
    def group(role, reads, tests):
        return files.group("Session", SOURCE, tests, role=role, reads=reads)

    groups = [
        group("client", "HELLO", hello_tests()),
        group("client", "HANDSHAKE", handshake_tests()),
        group("client", "message 2", form_tests(message_2, forms.BAD_HEX)),
        group("hub", "message 1", message_1_tests()),
        group("hub", "message 3", form_tests(message_3, forms.BAD_HEX)),
    ]
    files.write("envelopes", "Cleartext envelopes that are read, ignored or refused.", NOTES, groups)

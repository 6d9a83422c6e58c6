"""Whole connections, message by message, of a client and of a hub."""

import files
import session_client as client
import session_client_failures as client_failures
import session_ends as ends
import session_hub as hub
import session_hub_failures as hub_failures
import session_transport as transport
from files import AESGCM, CHACHAPOLY
from peer import SOURCE
from script import Client, Hub

NOTES = {
    "AfterFailure": (
        "A failure is final: nothing is answered any more, and closed() tells the first cause. A failure here, where "
        "the code itself is right, most likely goes on reading, or takes the close for the cause."
    ),
    "AstralKey": (
        "Keys above U+FFFF beside keys from U+E000 up: their order in the prologue is that of code points. Whoever "
        "sorts by UTF-16 unit binds something else."
    ),
    "BytesBeforeSession": (
        "MQTT does not tell text from bytes, so bytes before the session are JSON in UTF-8. A failure most likely "
        "takes all bytes for transport messages."
    ),
    "ChunkRules": (
        "A chunk with nothing open, or a message inside another, ends the session. Whoever goes on lost or mixed up a "
        "message and did not notice."
    ),
    "Chunks": (
        "Messages in chunks of any size, empty ones included, are one message in the end. A failure most likely knows "
        "no markers above 1, or decodes UTF-8 chunk by chunk."
    ),
    "ClientKeyChanged": (
        "Under XXpsk2 a hub compares the client's key from message 3 with the one it pinned. Whoever gets ready lets "
        "anybody in who knows the password."
    ),
    "CloseCode": (
        "What a close means follows from how far the connection had come, and from 1008 as a refusal; with any other code "
        "or none it was lost, and nothing is in doubt. A failure most likely reads a code without its phase, or takes 1000 "
        "or 1005 for a refusal, which costs the pin whenever a hub stops."
    ),
    "Damaged": (
        "A message with a bit changed, cut short or lengthened. Whoever accepts it checks no tag; another event most "
        "likely means that what was learned from a message was used before all of it was authenticated."
    ),
    "EmptyMessage": (
        "A message of no bytes is its marker alone, or a first and a final chunk. A failure most likely takes it for "
        "no message, or for an error."
    ),
    "Escape": (
        "Payloads whose texts need escapes in the canonical form, or do not. A failure most likely escapes too much "
        "there, or binds the text as it came."
    ),
    "FirstContact": (
        "XXpsk2 with a hub never seen, from HELLO to messages both ways. A failure before message 1 is most likely "
        "one of prologue or suite; at ready, of the order: pin, message 3, sealed HELLO, ready."
    ),
    "Greeting": (
        "A client's HELLO is its first transport message, whatever chunks it comes in, and only the first. A failure "
        "most likely looks at each transport message, or at every message."
    ),
    "HubKeyChanged": (
        "Under XXpsk2 the pin is compared once message 2 is authentic and before message 3 leaves; the pin stays. A "
        "failure most likely compares too late, so that an impostor gets the client's key, or pins the new key."
    ),
    "KeyOrder": (
        "Objects are bound with sorted keys at every depth, however they came. A failure most likely sorts the "
        "outermost alone, or digits as numbers."
    ),
    "KkFailure": (
        "A KKpsk0 that does not authenticate says nothing about the PSK, and makes the pin suspect. The next attempt uses XXpsk2: "
        "the same key confirms the pin, and another one replaces it by default, once message 2 has opened. An implementation that "
        "fails most likely drops the pin at once, so that nobody learns of another key, or keeps using what failed."
    ),
    "LooksLikeJson": (
        "One transport message in 256 begins like a JSON object. An implementation that fails takes it for an envelope "
        "because of its first byte."
    ),
    "LostSession": (
        "Over MQTT, where everything arrives as bytes, only a peer that has lost the session greets again. HELLO does not "
        "open, and ends the session. A failure most likely takes it for a repeat."
    ),
    "Message2Payload": (
        "The payload of message 2 is JSON, canonical or not, or nothing at all; `encoding` is a text where it is "
        "given. A failure most likely demands one form of it, or does not read it."
    ),
    "MessageType": "Inbound, `handshake` is another name for `shake`. A failure most likely knows only one of the two.",
    "Messages": (
        "Messages both ways, each direction with a counter of its own, JSON as the text that it came as. A failure "
        "most likely shares a counter, or parses what it should deliver."
    ),
    "Mqtt": (
        "Over MQTT a client announces itself with a HELLO in clear that names neither session nor site; the sealed "
        "HELLO does that later. An implementation that fails most likely announces too much, or takes the announcement "
        "for the HELLO or for an error."
    ),
    "Negotiation": (
        "The first of the client's suites that the hub offers too, then KKpsk0 with a pin and XXpsk2 without; a hub "
        "accepts what it offered and nothing else. A failure most likely follows the other side's order, or trusts "
        "its choice."
    ),
    "NodeId": (
        "The node id is any text that is not empty; salt and pin go by it as it came. A failure most likely trims it, "
        "looks it up in an object with a prototype, or goes on without one."
    ),
    "PinEnforced": (
        "A pin counts under XXpsk2 too: a key that matches is not pinned again. A failure most likely pins at every "
        "XXpsk2."
    ),
    "PrologueDiffers": (
        "A client that bound other payloads shows under XXpsk2 in message 1. A failure most likely does not mix the "
        "prologue, or mixes what the client says."
    ),
    "ProtocolVersion": (
        "Both sides need max_protocol_version 3 or more; a client need not name it. A failure most likely never "
        "looks, or demands it of the client."
    ),
    "PlainNumber": (
        "Integers within 2^53 - 1 and plain fractions, which every JSON library writes alike. A failure most likely "
        "reads them as integers of 32 bits."
    ),
    "PrototypeKey": (
        "Keys that objects of JavaScript or Python have already are keys like all others. A failure most likely loses "
        "__proto__ on the way to the prologue."
    ),
    "Reconnect": (
        "KKpsk0 with a pinned hub: two messages, nothing to pin, the sealed HELLO right after message 2. A failure "
        "most likely sends a third message, pins again, or seals message 2."
    ),
    "Sequence": (
        "Transport messages open in the order in which they were sealed, once each, by the other side alone. Whoever "
        "accepts one out of turn tries several counters, or has one key for both directions."
    ),
    "SessionId": (
        "`ready` names the session id in the client's HELLO, or none if its session has none. An implementation that "
        "fails most likely adds an id of its own to a session that was given to it."
    ),
    "SiteId": (
        "`site_id` is the label as it was given, an empty one too. A failure most likely leaves an empty one out, writes null, or "
        "trims it."
    ),
    "StoredPsk": (
        "The PSK is salted with the node id as it came: that of another hub is of no use. A failure most likely looks it up "
        "in another case, or takes the only one."
    ),
    "TextAfterReady": (
        "Once encrypted, a session takes transport messages only, and text ends it. A failure most likely reads it as JSON, "
        "or passes over it."
    ),
    "TwoFaults": (
        "An offer with several faults ends the connection, and any of them may be named. Whoever goes on checks too "
        "little."
    ),
    "UnknownField": (
        "Fields that nobody knows are ignored, and bound like all others. A failure most likely wrote the payload "
        "anew from the fields it knows, or demands some of those."
    ),
    "UpperCaseHex": "Noise messages are hexadecimal digits of either case. A failure most likely knows only one.",
    "WrongPsk": (
        "Another PSK shows under XXpsk2 in the payload of message 2: nothing may be pinned or sent then, and the PSK is to "
        "be derived again. A failure most likely blames the key, which is not proven yet."
    ),
}


def connected_client(comment, flags, **options):
    return Client(comment, flags, **options).connect()


def connected_hub(comment, flags, **options):
    return Hub(comment, flags, **options).connect()


def is_choice(test):
    """Clients that are told which pattern to use, or to keep a suspect pin."""
    opening = test["steps"][0]
    keeps_pin = opening.get("onKkFailure") == "keep-pin" or opening.get("trust") == "pinned-only"
    is_told = opening["role"] == "client" and "patterns" in opening
    return is_told or (keeps_pin and test["result"] == "invalid")


def group(role, pattern, suite, *parts):
    tests = [test for part in parts for test in part]
    return files.group("Session", SOURCE, tests, role=role, pattern=pattern, suite=suite)


def build():
    groups = [
        group(
            "client",
            "XXpsk2",
            CHACHAPOLY,
            client.connections("XXpsk2", CHACHAPOLY),
            client.choices(),
            client.bound_fields("XXpsk2"),
            client.forms(),
            client.stored_psks(),
            transport.messages(connected_client),
            transport.large_messages(connected_client),
            client.suspect_pins("XXpsk2"),
            client_failures.negotiations(),
            client_failures.wrong_secrets(),
            client_failures.two_faults(),
            client_failures.damages(),
            transport.failures(connected_client),
            ends.xx_client_ends(),
        ),
        group(
            "client",
            "KKpsk0",
            CHACHAPOLY,
            client.connections("KKpsk0", CHACHAPOLY),
            client.bound_fields("KKpsk0"),
            client.suspect_pins("KKpsk0"),
            client_failures.kk_failures(),
            ends.kk_client_ends(),
        ),
        group("client", "XXpsk2", AESGCM, client.connections("XXpsk2", AESGCM), client.preferences()),
        group("client", "KKpsk0", AESGCM, client.connections("KKpsk0", AESGCM)),
        group(
            "hub",
            "XXpsk2",
            CHACHAPOLY,
            hub.connections("XXpsk2", CHACHAPOLY),
            hub.choices(),
            hub.bound_fields("XXpsk2"),
            hub.forms(),
            hub.greetings(),
            transport.messages(connected_hub),
            hub_failures.negotiations(),
            hub_failures.xx_failures(),
            transport.failures(connected_hub),
            ends.hub_ends("XXpsk2"),
        ),
        group(
            "hub",
            "KKpsk0",
            CHACHAPOLY,
            hub.connections("KKpsk0", CHACHAPOLY),
            hub.bound_fields("KKpsk0"),
            hub_failures.kk_failures(),
            ends.hub_ends("KKpsk0"),
        ),
        group("hub", "XXpsk2", AESGCM, hub.connections("XXpsk2", AESGCM)),
        group("hub", "KKpsk0", AESGCM, hub.connections("KKpsk0", AESGCM)),
    ]
    description = "Whole connections, message by message: what a client or a hub does with each."
    files.write("session", description, NOTES, groups, ["EmptyMessage", "SessionId"], is_choice)

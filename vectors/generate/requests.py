"""Requests of a client, and replies. The values are written by hand, or taken from public clients."""

import json

import files
import reply
import reply_content
import reply_events
import reply_recorded
from files import SPECIFICATION, group

SESSION_NAT = "thalovant-node-sdk test/session-nat.test.ts at 239f7abc0a9116ca5f4484a5b41e1095822db77d"
CLIENT = "thalovant-python-sdk tests/test_client.py at 55c41766266c453d22a8d26b9de376dfd27a4823"
ASK = "thalovant-embedded-c tests/test_ask.c at 914506ece02e25eb18b05783ac656045e9191ab7"

NOTES = {
    "Action": "`input` in the context says that a command is one. A failure most likely sends a sentence.",
    "BadArgument": "What a hub could not tie to a request, or could not read, is refused before anything is sent.",
    "BlankId": "An id of white space is none. A failure most likely compares it, and finds blanks equal.",
    "Code": (
        "A code travels character by character, and `input` stands in data and context. A failure most likely leaves "
        "out one of the two."
    ),
    "Context": "The caller's context travels along, and the ids are the request's. A failure most likely replaces one.",
    "Sessions": (
        "A hub may put a namespace and a colon before a session id. A failure most likely compares for equality, or takes "
        "any end of an id."
    ),
    "Unchanged": "A text and a command keep the white space around them. A failure most likely trims it.",
    "Utterance": "A bus message in an envelope of eight fields. A failure most likely leaves out the empty ones.",
    **reply.NOTES,
    **reply_recorded.NOTES,
}


# Session ids


def compares(comment, flag, declared, returned, matches):
    return files.valid(comment, [flag], declared=declared, returned=returned, matches=matches)


def public_sessions():
    return [
        compares("rewritten", "Sessions", "abc", "nonce:abc", True),
        compares("as it was", "Sessions", "abc", "abc", True),
        compares("the declared id at the end of another", "Sessions", "abc", "nonce:xabc", False),
        compares("the declared id in the middle", "Sessions", "abc", "nonce:abc:def", False),
        compares("a declared id with a colon", "Sessions", "a:b", "nonce:a:b", True),
        compares("nothing returned", "BlankId", "abc", "", False),
        compares("nothing after the namespace", "BlankId", "abc", "nonce:", False),
    ]


def sessions():
    return [
        compares("both empty", "BlankId", "", "", False),
        compares("both of blanks", "BlankId", "  ", "  ", False),
        compares("blanks, rewritten", "BlankId", " \t", "nonce: \t", False),
        compares("nothing declared, nothing after the namespace", "BlankId", "", "nonce:", False),
    ]


# Requests

SAID = {"utterance": "text", "action": "payload", "code": "value"}


def builds(builder, comment, arguments, session=None, data=None, context=None, flag=None):
    """Arguments of a builder, and the envelope that it builds, with the additions in `data`, `context` and `session`."""
    text, lang = arguments[SAID[builder]], arguments.get("lang", "en-us")
    ids = {"request_id": "req-1"}
    payload = {
        "type": "recognizer_loop:utterance",
        "data": {"utterances": [text], "lang": lang, **(data or {})},
        "context": {
            **(context or {}),
            **ids,
            "thalovant_request_id": "req-1",
            "session": {"lang": lang, **(session or {}), **ids},
        },
    }
    envelope = {"msg_type": "bus", "payload": payload, "metadata": {}, "route": []}
    envelope |= dict.fromkeys(["node", "target_site_id", "target_pubkey", "source_peer"])
    arguments = {**arguments, "requestId": "req-1"}
    flags = [flag or builder.capitalize()]
    return files.valid(comment, flags, builder=builder, arguments=arguments, envelope=envelope)


def commands(comment, payload, session=None, flag=None, further=None, **title):
    context = {"input": {"kind": "action", **title, "payload": payload}}
    arguments = {"payload": payload, **title, **(further or {})}
    return builds("action", comment, arguments, session, context=context, flag=flag)


def scans(comment, value, kind=None, flag=None, further=None, **label):
    code = {"input": {"kind": kind or "code", **label, "value": value, "exact": True}}
    arguments = {"value": value, **label, **(further or {})}
    if kind is not None:
        arguments["kind"] = kind
    return builds("code", comment, arguments, data=code, context=code, flag=flag)


def public_utterances():
    kitchen = {"text": "what time is it", "lang": "en-us", "sessionId": "sess-1", "siteId": "kitchen"}
    return [
        builds("utterance", "with session and site", kitchen, {"session_id": "sess-1", "site_id": "kitchen"}),
        builds("utterance", "with quotation marks", {"text": 'say "hi"', "sessionId": "s"}, {"session_id": "s"}),
    ]


def public_inputs():
    session, further = {"session_id": "session-1"}, {"sessionId": "session-1"}
    return [
        commands("with a title", '/choose{"id":"42"}', session, further=further, title="Choose item"),
        scans("with kind and label", "SN-001-XYZ", kind="qr", label="serial"),
    ]


def requests():
    fields = {"source": "kiosk", "n": [1, None, {"__proto__": True}], "__proto__": 1}
    carried = {"converse_handlers": [{"skill_id": "timer"}], "session_id": "old", "site_id": "hall", "lang": "nl"}
    with_carried = {"text": "hello", "context": {"session": carried}}
    old_ids = {"request_id": "old", "thalovant_request_id": "old", "session": {"request_id": "old"}}
    return [
        builds("utterance", "no more than text and id", {"text": "hello"}),
        builds("utterance", "white space in the text", {"text": " what \n time\t"}, flag="Unchanged"),
        builds("utterance", "another language", {"text": "quelle heure est-il ?", "lang": "fr-fr"}),
        builds("utterance", "a site that was not issued", {"text": "hello", "siteId": ""}),
        builds("utterance", "a text that looks like a code", {"text": "SN-001-XYZ"}),
        commands("without a title", "/continue"),
        commands("white space in the payload", ' {"a": 1}\n', flag="Unchanged"),
        scans("no more than the code", "4006381333931"),
        scans("white space in the code", " A\u00a0B  "),
        scans("characters of every length", "\u2116 7 \U0001f511"),
        builds("utterance", "fields", {"text": "hello", "context": fields}, context=fields, flag="Context"),
        builds("utterance", "a session", with_carried, carried, flag="Context"),
        builds("utterance", "a session, and ids of another", {**with_carried, "sessionId": "new", "siteId": "kitchen"},
               {**carried, "session_id": "new"}, flag="Context"),
        builds("utterance", "ids of an earlier request", {"text": "hello", "context": old_ids}, flag="Context"),
        commands("an earlier input", "/continue", flag="Context", further={"context": {"input": "old"}}),
        scans("an earlier input", "7", flag="Context", further={"context": {"input": {"label": "old"}}}),
    ]


def refuses(comment, builder, arguments, flag="BadArgument"):
    arguments = {"requestId": "req-1", **arguments}
    arguments = {name: value for name, value in arguments.items() if value is not ...}
    return files.invalid(comment, [flag], "bad-argument", builder=builder, arguments=arguments)


def refused_requests():
    tests = []
    for builder, said in SAID.items():
        tests += [
            refuses(f"no {said}", builder, {}),
            refuses(f"a {said} of blanks", builder, {said: " \t\n"}),
            refuses(f"a {said} that is a number", builder, {said: 7}),
            refuses(f"a {said}, and no request id", builder, {said: "hello", "requestId": ...}),
            refuses(f"a {said}, and a request id of blanks", builder, {said: "hello", "requestId": "  "}, "BlankId"),
        ]
    for name, value, flag in [
        ("requestId", "", "BlankId"),
        ("requestId", 7, "BadArgument"),
        ("sessionId", "", "BlankId"),
        ("sessionId", " ", "BlankId"),
        ("sessionId", None, "BadArgument"),
        ("siteId", " ", "BlankId"),
        ("siteId", 7, "BadArgument"),
        ("lang", "", "BadArgument"),
        ("lang", None, "BadArgument"),
        ("context", "kiosk", "BadArgument"),
        ("context", [], "BadArgument"),
        ("context", {"session": "sess-1"}, "BadArgument"),
    ]:
        tests.append(refuses(f"{name}: {json.dumps(value)}", "utterance", {"text": "hello", name: value}, flag))
    return tests + [
        refuses("an empty title", "action", {"payload": "/continue", "title": ""}),
        refuses("an empty kind", "code", {"value": "7", "kind": ""}),
        refuses("a label that is a number", "code", {"value": "7", "label": 7}),
    ]


def is_own(test):
    """Whether it is about the arguments of a client's own functions."""
    return "builder" in test and test["result"] == "invalid"


def build():
    groups = [
        group("SessionIdsMatch", [SESSION_NAT], public_sessions()),
        group("SessionIdsMatch", [SPECIFICATION], sessions()),
        group("Request", [ASK], public_utterances()),
        group("Request", [CLIENT], public_inputs()),
        group("Request", [SPECIFICATION], requests() + refused_requests()),
        *reply_events.groups(),
        *reply_content.groups(),
        *reply_recorded.groups(),
    ]
    description = "Envelopes of requests, session ids as hubs return them, replies from events, and the schedule of requests."
    files.write("requests", description, NOTES, groups, ["BadArgument", "Closed", "RequestScheduler", "Sessions", "Unchanged"], is_own)

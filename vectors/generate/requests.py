"""What a client asks of a hub, and what it makes of the events that answer: tables by hand, and from public clients."""

import json

import files

NODE = "thalovant-node-sdk test/%s at %s"
PYTHON = "thalovant-python-sdk %s at %s"
EMBEDDED = "thalovant-embedded-c tests/%s at %s"
SESSION_NAT = NODE % ("session-nat.test.ts", "239f7abc0a9116ca5f4484a5b41e1095822db77d")
QUERIES = NODE % ("query-semantics.test.ts", "49d7f682f518381278654047794b3343b1aceb6d")
DEADLINES = NODE % ("ask-wait-deadlines.test.ts", "55f5c7d77f6c3b61837058312763b6e934e0521f")
CLIENT = PYTHON % ("tests/test_client.py", "55c41766266c453d22a8d26b9de376dfd27a4823")
REFUSALS = PYTHON % ("contracts/conformance/refusal-vectors.json", "a306a921b88c9ef72c24264143baddabc94c5d21")
COUNTS = EMBEDDED % ("refusal_vectors.h", "0af61dd6552154bd7311dd33042272ab502df796")
ASK = EMBEDDED % ("test_ask.c", "914506ece02e25eb18b05783ac656045e9191ab7")

NOTES = {
    "Action": "A command travels as it is, and `input` in the context says what it is. A failure most likely trims it.",
    "BadArgument": "What a hub could not tie to a request, or could not read, is refused before anything is sent.",
    "BlankId": "An id of white space is none. A failure most likely compares it, and finds blanks equal.",
    "Closed": "A request dies with its connection, and keeps what was said. A failure most likely waits on.",
    "Code": (
        "A code travels character by character, and `input` stands in data and context. A failure most likely leaves "
        "out one of the two."
    ),
    "Completion": (
        "The hub's word that an utterance is handled completes the reply, and nothing counts after that. A failure most "
        "likely goes on collecting."
    ),
    "Context": "The caller's context travels along; the ids are the request's. A failure most likely replaces one whole.",
    "DisplayItem": (
        "Choices, tables, images and attachments come under several names, as JSON or as its text; unknown kinds are "
        "ignored. A failure most likely knows one name, or throws at a kind that it does not know."
    ),
    "Malformed": "What cannot be read is no event, and changes nothing. A failure most likely throws.",
    "Markup": (
        "Speech has no tags and no entities; what only looks like them stays. A failure most likely removes from any < "
        "to any >, or resolves an entity twice."
    ),
    "QueryTimeout": "The hub gave up: the reply is frozen, and keeps what was said. A failure most likely drops that.",
    "Quota": (
        "A policy's figures are nested in data.data, and 0 where there is none. A failure most likely looks in data, or "
        "takes what counts nothing."
    ),
    "Refusal": (
        "A refusal mostly names no request: only the sole request in flight takes it, and only where it was for the type "
        "that it sent. A failure most likely takes every refusal, or none without an id."
    ),
    "RequestId": (
        "A request id decides, under three names in three places. A failure most likely looks in one, or lets a session "
        "id overrule it."
    ),
    "Sessions": (
        "Hubs put a namespace and a colon before a session id. A failure most likely compares for equality, or takes any "
        "end of an id."
    ),
    "SoftFailure": (
        "After a soft failure speech may still come, and then there was no failure. A failure most likely ends the "
        "request there."
    ),
    "Speech": (
        "What is said adds up, and what is said under both names counts once. A failure most likely keeps the last alone, "
        "or says it twice."
    ),
    "Timeout": "The integrator's deadline ends a request with what was said. A failure most likely drops that.",
    "Utterance": "A bus message in an envelope of eight fields. A failure most likely leaves out the empty ones.",
}


# Session ids


def session_ids(cases):
    return [
        files.valid(comment, [flag], declared=declared, returned=returned, matches=matches)
        for comment, flag, declared, returned, matches in cases
    ]


PUBLIC_SESSIONS = session_ids([
    ("rewritten", "Sessions", "abc", "nonce:abc", True),
    ("as it was", "Sessions", "abc", "abc", True),
    ("the declared id at the end of another", "Sessions", "abc", "nonce:xabc", False),
    ("the declared id in the middle", "Sessions", "abc", "nonce:abc:def", False),
    ("a declared id with a colon", "Sessions", "a:b", "nonce:a:b", True),
    ("nothing returned", "BlankId", "abc", "", False),
    ("nothing after the namespace", "BlankId", "abc", "nonce:", False),
])
SESSIONS = session_ids([
    ("a declared id with a colon, as it was", "Sessions", "a:b", "a:b", True),
    ("what follows the last colon alone", "Sessions", "b", "a:b", True),
    ("what follows a later colon", "Sessions", "b", "nonce:a:b", False),
    ("another session", "Sessions", "abc", "nonce:abd", False),
    ("another case", "Sessions", "abc", "nonce:ABC", False),
    ("rewritten by the client", "Sessions", "nonce:abc", "abc", False),
    ("rewritten twice", "Sessions", "abc", "n:m:abc", False),
    ("an empty namespace", "Sessions", "abc", ":abc", True),
    ("blanks around it", "Sessions", "abc", "nonce: abc", False),
    ("both empty", "BlankId", "", "", False),
    ("both of blanks", "BlankId", "  ", "  ", False),
    ("blanks, rewritten", "BlankId", " \t", "nonce: \t", False),
    ("nothing declared, nothing after the namespace", "BlankId", "", "nonce:", False),
])


# Requests


def request(builder, comment, flag, arguments, data, context, source_session):
    envelope = {
        "msg_type": "bus",
        "payload": {
            "type": "recognizer_loop:utterance",
            "data": data,
            "context": {
                **context,
                "request_id": arguments["requestId"],
                "thalovant_request_id": arguments["requestId"],
                "session": {**source_session, "request_id": arguments["requestId"]},
            },
        },
        "metadata": {},
        "route": [],
        "node": None,
        "target_site_id": None,
        "target_pubkey": None,
        "source_peer": None,
    }
    return files.valid(comment, [flag], builder=builder, arguments=arguments, envelope=envelope)


def said(comment, flag, text, lang="en-us", context=None, session=None, **arguments):
    arguments = {"text": text, "requestId": "req-1", **arguments}
    data = {"utterances": [text], "lang": lang}
    return request("utterance", comment, flag, arguments, data, context or {}, session or {"lang": lang})


def commanded(comment, payload, session=None, **arguments):
    title = {name: arguments[name] for name in ["title"] if name in arguments}
    arguments = {"payload": payload, "requestId": "req-1", **arguments}
    data = {"utterances": [payload], "lang": "en-us"}
    context = {"input": {"kind": "action", **title, "payload": payload}}
    return request("action", comment, "Action", arguments, data, context, session or {"lang": "en-us"})


def scanned(comment, value, kind="code", **arguments):
    label = {name: arguments[name] for name in ["label"] if name in arguments}
    code = {"kind": kind, **label, "value": value, "exact": True}
    arguments = {"value": value, "requestId": "req-1", **arguments}
    data = {"utterances": [value], "lang": "en-us", "input": code}
    return request("code", comment, "Code", arguments, data, {"input": code}, {"lang": "en-us"})


def refused(comment, builder, arguments, flag="BadArgument"):
    return files.invalid(comment, [flag], "bad-argument", builder=builder, arguments=arguments)


KITCHEN = {"session_id": "sess-1", "site_id": "kitchen", "lang": "en-us"}
PUBLIC_UTTERANCES = [
    said("with session and site", "Utterance", "what time is it", session=KITCHEN, lang="en-us", sessionId="sess-1",
         siteId="kitchen"),
    said("with quotation marks", "Utterance", 'say "hi"', session={"session_id": "s", "lang": "en-us"}, sessionId="s"),
]
PUBLIC_INPUTS = [
    commanded("with a title", '/choose{"id":"42"}', session={"session_id": "session-1", "lang": "en-us"},
              title="Choose item", sessionId="session-1"),
    scanned("with kind and label", "SN-001-XYZ", kind="qr", label="serial"),
]
PUBLIC_INPUTS[1]["arguments"]["kind"] = "qr"
CARRIED = {"converse_handlers": [{"skill_id": "timer"}], "session_id": "old", "site_id": "hall", "lang": "nl"}
REQUESTS = [
    said("no more than text and id", "Utterance", "hello"),
    said("white space in the text", "Utterance", " what \n time\t"),
    said("in another language", "Utterance", "quelle heure est-il ?", lang="fr-fr"),
    said("a site that was not issued", "Utterance", "hello", siteId=""),
    said("a text that looks like a code", "Utterance", "SN-001-XYZ"),
    commanded("without a title", "/continue"),
    commanded("white space in the payload", ' {"a": 1}\n'),
    scanned("no more than the code", "4006381333931"),
    scanned("white space in the code", " A\u00a0B  "),
    scanned("of other scripts", "№ 7 \U0001f511"),
    said("fields of the caller", "Context", "hello", context={"source": "kiosk", "n": [1, None, {"a": True}]}),
    said("a session of the caller", "Context", "hello", context={"source": "kiosk"}, session={**CARRIED}),
    said("a session of the caller, and another id", "Context", "hello", session={**CARRIED, "session_id": "new"},
         sessionId="new", siteId="kitchen"),
    said("ids of the caller", "Context", "hello"),
    commanded("fields of the caller", "/continue"),
]
REQUESTS[2]["arguments"]["lang"] = "fr-fr"
for test, context in zip(REQUESTS[-5:], [
    {"source": "kiosk", "n": [1, None, {"a": True}]},
    {"source": "kiosk", "session": CARRIED},
    {"session": CARRIED},
    {"request_id": "old", "thalovant_request_id": "old", "session": {"request_id": "old"}},
    {"input": "old"},
]):
    test["arguments"]["context"] = context
    test["flags"] = ["Context"]
OF_KIND = [("utterance", "text"), ("action", "payload"), ("code", "value")]
REFUSED_REQUESTS = [
    *[refused(f"no {field}", kind, {"requestId": "req-1"}) for kind, field in OF_KIND],
    *[refused(f"a {field} of blanks", kind, {field: " \t\n", "requestId": "req-1"}) for kind, field in OF_KIND],
    *[refused(f"a {field} that is a number", kind, {field: 7, "requestId": "req-1"}) for kind, field in OF_KIND],
    *[refused(f"{kind} without a request id", kind, {field: "hello"}) for kind, field in OF_KIND],
    refused("an empty request id", "utterance", {"text": "hello", "requestId": ""}),
    refused("a request id of blanks", "utterance", {"text": "hello", "requestId": "  "}, "BlankId"),
    refused("a request id that is a number", "utterance", {"text": "hello", "requestId": 7}),
    *[
        refused(f"{name}: {json.dumps(value)}", "utterance", {"text": "hello", "requestId": "req-1", name: value}, flag)
        for name, value, flag in [
            ("sessionId", "", "BadArgument"),
            ("sessionId", " ", "BlankId"),
            ("sessionId", None, "BadArgument"),
            ("siteId", " ", "BlankId"),
            ("siteId", 7, "BadArgument"),
            ("lang", "", "BadArgument"),
            ("lang", None, "BadArgument"),
            ("context", "kiosk", "BadArgument"),
            ("context", [], "BadArgument"),
            ("context", {"session": "sess-1"}, "BadArgument"),
        ]
    ],
    refused("an empty title", "action", {"payload": "/continue", "requestId": "req-1", "title": ""}),
    refused("an empty kind", "code", {"value": "7", "requestId": "req-1", "kind": ""}),
    refused("a label that is a number", "code", {"value": "7", "requestId": "req-1", "label": 7}),
]

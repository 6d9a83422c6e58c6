"""What the modules for replies share."""

import json

import files

NOTES = {
    "Closed": "A request dies with its connection, and keeps what was said. A failure most likely waits on.",
    "Completion": (
        "The hub's word that an utterance is handled completes the reply, and nothing counts after that. A failure "
        "most likely goes on collecting."
    ),
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
        "A policy's figures are nested in data.data, and 0 where there is none. A failure most likely looks in data, "
        "or takes what counts nothing."
    ),
    "NotByPolicy": (
        "Hubs also use the event of a refusal where no policy refused anything. A failure most likely sets policyDenied "
        "for each of these events."
    ),
    "Refusal": (
        "A refusal mostly names no request: only the sole request in flight takes it, and only where it was for the "
        "type that it sent. A failure most likely takes every refusal, or none without an id."
    ),
    "RequestId": (
        "A request id decides, under three names in three places. A failure most likely looks in one, or lets a "
        "session id overrule it."
    ),
    "SessionFallback": (
        "Without a request id the session decides, and without both it is not ours. A failure most likely takes what "
        "names neither."
    ),
    "SoftFailure": (
        "After a soft failure speech may still come, and then there was no failure. A failure most likely ends the "
        "request there."
    ),
    "Speech": (
        "What is said adds up, and what is said under both names counts once. A failure most likely keeps the last "
        "alone, or says it twice."
    ),
    "Stop": (
        "A request whose time is up ends as a timeout although the hub still speaks, and keeps what was said. A failure most "
        "likely takes the reply for a complete one."
    ),
    "Timeout": (
        "A deadline ends a request, with what was said. A failure most likely drops that, or does not tell silence from "
        "speech without an end."
    ),
}

OWN = {"request_id": "req-1"}
UTTERANCE = "recognizer_loop:utterance"
DENIED, QUERY_TIMEOUT = "hive.policy.denied", "hive.query.timeout"
UNMATCHED, INTENT_FAILURE = "ovos.intent.unmatched", "complete_intent_failure"


def event(type, data=None, context=None):
    return {"type": type, "data": data or {}, "context": OWN if context is None else context}


def speak(utterance, context=None, /, type="speak", **data):
    return event(type, {"utterance": utterance, **data}, context)


HANDLED = event("ovos.utterance.handled")


def envelope(payload):
    """The message in which a hub sends an event. A string is sent as it is."""
    if isinstance(payload, str):
        return payload
    message = {"msg_type": "bus", "payload": payload, "metadata": {}, "route": []}
    message |= dict.fromkeys(["node", "target_site_id", "target_pubkey", "source_peer"])
    return json.dumps(message, ensure_ascii=False, separators=(",", ":"))


def replies(comment, flag, events, state="done", ending="handled", text="", raw=None, end=None, session="sess-1",
            request=None, refusal=None, by_policy=True, **reply):
    """A reply after these events, and `end` after them. `raw` is the index of the event that `rawEvent` holds."""
    request = {"requestId": "req-1", "sessionId": "sess-1", "sole": True, **(request or {})}
    request = {name: value for name, value in request.items() if value is not None}
    fields = {"request": request, "events": [envelope(payload) for payload in events]}
    if end is not None:
        fields["end"] = end
    fields |= {
        "state": state,
        "ending": ending if state == "done" else None,
        "reply": {
            "text": text,
            "speech": reply.get("speech", text),
            "displayItems": reply.get("items", []),
            "expectsAnswer": reply.get("asks", False),
            "sessionId": session,
            "requestId": "req-1",
            "policyDenied": ending == "denied" and by_policy,
            "rawEvent": None if raw is None else events[raw],
        },
    }
    if refusal is not None:
        fields["refusal"] = refusal
    return files.valid(comment, [flag], **fields)


def ignores(comment, flag, payload, **options):
    """An event that must change nothing, between two that matter."""
    events = [speak("One."), payload, HANDLED]
    return replies(comment, flag, events, text="One.", raw=0, **options)


def waits(comment, flag, events, state="waiting", **options):
    """A reply that has not ended."""
    return replies(comment, flag, events, state=state, **options)

"""Tests of replies: which events belong to a request, refusals, and what ends a reply."""

from files import SPECIFICATION, group
from reply import DENIED, HANDLED, INTENT_FAILURE, OWN, QUERY_TIMEOUT, UNMATCHED, UTTERANCE
from reply import envelope, event, ignores, replies, speak, waits

REFUSALS = (
    "thalovant-python-sdk contracts/conformance/refusal-vectors.json at a306a921b88c9ef72c24264143baddabc94c5d21"
)
COUNTS = "thalovant-embedded-c tests/refusal_vectors.h at 0af61dd6552154bd7311dd33042272ab502df796"
ASK = "thalovant-embedded-c tests/test_ask.c at 914506ece02e25eb18b05783ac656045e9191ab7"
DEADLINES = "thalovant-node-sdk test/ask-wait-deadlines.test.ts at 55f5c7d77f6c3b61837058312763b6e934e0521f"
QUERIES = "thalovant-node-sdk test/query-semantics.test.ts at 49d7f682f518381278654047794b3343b1aceb6d"


# Refusals


def refusal(code="", reason="", allowed=(), quota=None, denied_type=UTTERANCE):
    fields = {"deniedType": denied_type, "code": code, "reason": reason, "allowed": list(allowed), "quota": quota}
    return fields


def quota(period="", limit=0, used=0, reset_after=0):
    return {"period": period, "limit": limit, "used": used, "resetAfter": reset_after}


def denies(comment, flag, expected, policy=None, context=None, **options):
    data = {"denied_type": expected["deniedType"], "code": expected["code"], "reason": expected["reason"]}
    data = {name: text for name, text in data.items() if text != "" or policy is not None}
    if policy is not None:
        data["data"] = policy
    denial = event(DENIED, data, {"source": "hivemind-core"} if context is None else context)
    return replies(comment, flag, [denial], ending="denied", raw=0, refusal=expected, **options)


def public_refusals():
    acl, spent, down = "acl_disallowed_type", "intent_quota_exceeded", "backend_unavailable"
    daily = {"period": "daily", "limit": 50, "used": 50, "reset_after": 36120, "request_type": UTTERANCE}
    monthly = {"period": "monthly", "limit": 1000, "used": 1000, "reset_after": 1}
    named = ["speak", "ovos.skills.fallback.list"]
    listed = ["speak", 3, None, "  ", "  mycroft.stop  ", True]
    unmatched = {"utterance": "book me a flight to the moon"}
    return [
        denies("an allow-list", "Refusal", refusal(acl, f"{UTTERANCE} not in allowed_types", named),
               {"allowed": named}),
        denies("a day's quota", "Quota",
               refusal(spent, "daily intent quota exceeded", quota=quota("daily", 50, 50, 36120)), daily),
        denies("a month's quota", "Quota",
               refusal(spent, "monthly intent quota exceeded", quota=quota("monthly", 1000, 1000, 1)), monthly),
        denies("a quota without figures", "Quota", refusal(spent, "intent quota exceeded", quota=quota()), {}),
        denies("figures without a quota", "Quota", refusal(acl, "not allowed"), {**daily, "limit": 5, "used": 5}),
        denies("the hub's bus is down", "NotByPolicy", refusal(down, "agent bus is not connected"), {}, by_policy=False),
        denies("a list with what is no type", "Refusal", refusal(acl, "", ["speak", "mycroft.stop"]),
               {"allowed": listed}),
        denies("no more than the type", "Refusal", refusal()),
        waits("no intent matched", "SoftFailure", [event(UNMATCHED, {**unmatched, "lang": "en-US"})], "unmatched", raw=0),
        waits("no intent matched, from an older hub", "SoftFailure", [event(INTENT_FAILURE, unmatched)], "unmatched",
              raw=0),
    ]


def public_correlation():
    denial = event(DENIED, {"denied_type": UTTERANCE}, {})
    other = event(DENIED, {"denied_type": "ovos.skills.fallback.list"}, {})
    return [
        replies("the sole request takes it", "Refusal", [denial], ending="denied", raw=0),
        waits("beside another request", "Refusal", [denial], request={"sole": False}),
        waits("for another type", "Refusal", [other]),
        denies("with the request's id, beside another", "Refusal", refusal(), context=OWN, request={"sole": False}),
        waits("with another's id", "Refusal", [event(DENIED, {"denied_type": UTTERANCE}, {"request_id": "req-2"})]),
    ]


def public_counts():
    def counts(comment, limit, used, reset_after, expected_used=0):
        policy = {"period": "daily", "limit": limit, "used": used, "reset_after": reset_after}
        expected = refusal("intent_quota_exceeded", "spent", quota=quota("daily", 0, expected_used, 0))
        return denies(comment, "Quota", expected, policy)

    return [
        counts("less than nothing", -5, "-1", -60),
        counts("too much, and a fraction", "99999999999999999999", 100000000000000000000, 1.5),
        counts("the most, and more", 9223372036854776000, 9007199254740991, 0, 9007199254740991),
    ]


def further_refusals():
    own_type = {"type": "mycroft.skills.list"}
    of_own_type = refusal(denied_type="mycroft.skills.list")
    said_before = [speak("One."), event(DENIED, {"denied_type": UTTERANCE}, {}), speak("Two."), HANDLED]
    of_session = event(DENIED, {}, {"session": {"session_id": "n:sess-1"}})
    text_figures = quota("", 50, 7, 0)
    return [
        denies("of another type that was sent", "Refusal", of_own_type, request=own_type),
        waits("of an utterance, when another type was sent", "Refusal", [event(DENIED, {"denied_type": UTTERANCE}, {})],
              request=own_type),
        waits("without a type", "Refusal", [event(DENIED, {"code": "acl_disallowed_type"}, {})]),
        waits("of the same session, without a type", "Refusal", [of_session]),
        denies("of another session, with the type", "Refusal", refusal(), context={"session": {"session_id": "other"}},
               session="other"),
        replies("after speech", "Refusal", said_before, ending="denied", text="One.", raw=1),
        denies("a message that the hub could not read", "NotByPolicy", refusal("malformed_payload", "no payload"),
               by_policy=False),
        denies("a code that is not known", "Refusal", refusal("quiet_hours", "not before 7")),
        denies("figures as texts", "Quota", refusal("intent_quota_exceeded", "", quota=text_figures),
               {"limit": "50", "used": " 7 ", "reset_after": "soon"}),
        denies("figures where they are not", "Quota", refusal("intent_quota_exceeded", quota=quota()), None, OWN),
    ]


# Which events belong to the request


def public_ids():
    in_session = {"session": {"thalovant_request_id": "req-1"}}
    session = event("ovos.utterance.speak", {"utterances": ["One", "Two"]}, in_session)
    data = event("speak", {"text": "hi", "correlation_id": "req-1"}, {})
    without = {"request": {"sessionId": None}, "session": None}
    return [
        waits("in the context", "RequestId", [speak("It is noon.")], "speaking", text="It is noon.", raw=0),
        waits("in the session", "RequestId", [session], "speaking", text="One", raw=0),
        waits("in the data", "RequestId", [data], "speaking", text="hi", raw=0),
        ignores("another's", "RequestId", speak("x", {"request_id": "req-2"})),
        ignores("none, and no session", "SessionFallback", speak("x", {}), **without),
        ignores("an envelope of another type", "Malformed", envelope(speak("x")).replace('"bus"', '"query"')),
        ignores("an event that nobody waits for", "Malformed", event("mic.level")),
    ]


def ids():
    def named(context, **data):
        return speak("Two.", context, **data)

    def session_with(**fields):
        return {"session": {"session_id": "n:sess-1", **fields}}

    def takes(comment, flag, payload, session="sess-1"):
        events = [speak("One."), payload, HANDLED]
        return replies(comment, flag, events, text="One. Two.", raw=1, session=session)

    def at(session, **ids):
        return {"session": {"session_id": session}, **ids}

    names = ["request_id", "thalovant_request_id", "correlation_id"]
    tests = [takes(f"context.{name}", "RequestId", named({name: "req-1"})) for name in names]
    tests += [takes(f"context.session.{name}", "RequestId", named({"session": {name: "req-1"}})) for name in names]
    tests += [takes(f"data.{name}", "RequestId", named({}, **{name: "req-1"})) for name in names]
    tests += [
        ignores("another's in the context, ours in the data", "RequestId", named({"request_id": "req-2"}, **OWN)),
        ignores("another's before ours", "RequestId", named({"request_id": "req-2", "correlation_id": "req-1"})),
        ignores("another's in our session", "RequestId", named(at("n:sess-1", request_id="req-2"))),
        takes(
            "ours in the context, another's in its session",
            "RequestId",
            named({**OWN, **session_with(request_id="req-2")}),
            "n:sess-1",
        ),
        ignores(
            "another's in the context, ours in its session",
            "RequestId",
            named({"request_id": "req-2", **session_with(**OWN)}),
        ),
        takes(
            "ours in the session, another's in the data",
            "RequestId",
            named(session_with(**OWN), request_id="req-2"),
            "n:sess-1",
        ),
        ignores(
            "another's in the session, ours in the data", "RequestId", named(session_with(request_id="req-2"), **OWN)
        ),
        takes("ours in another session", "RequestId", named(at("other", **OWN)), "other"),
        takes("ours after one of blanks", "RequestId", named({"request_id": " ", "correlation_id": "req-1"})),
        ignores("the beginning of ours", "RequestId", named({"request_id": "req-"})),
        ignores("a number", "RequestId", named({"request_id": 1})),
        takes("no id, our session", "SessionFallback", named(at("sess-1"))),
        takes("an id of blanks, our session", "SessionFallback", named(at("sess-1", request_id="  "))),
        takes("an id of null, our session", "SessionFallback", named(at("sess-1", request_id=None))),
        takes("our session beside the context's other fields", "SessionFallback", named({"session_id": "sess-1"})),
        ignores("no id, another session", "SessionFallback", named(at("n:sess-12"))),
        ignores("no id, a session of blanks", "SessionFallback", named(at("  "))),
        ignores("no id, no session", "SessionFallback", named({"source": "hivemind-core"})),
        ignores("no context", "SessionFallback", {"type": "speak", "data": {"utterance": "Two."}}),
    ]
    undeclared = {"request": {"sessionId": None}, "session": None}
    return tests + [
        ignores("no id, a session that was not declared", "SessionFallback", named(at("sess-1")), **undeclared),
    ]


# How a reply ends


def public_endings():
    tests = []
    for soft in [INTENT_FAILURE, UNMATCHED]:
        tests += [
            waits(f"speech after {soft}", "SoftFailure", [event(soft), speak("recovered")], "speaking",
                  text="recovered", raw=1),
            replies(f"{soft}, speech, then the end", "SoftFailure", [event(soft), speak("recovered"), HANDLED],
                    text="recovered", raw=1),
            replies(f"the deadline after {soft}", "SoftFailure", [event(soft)], ending="unanswered", raw=0,
                    end="timeout"),
        ]
    late = [speak("too late"), HANDLED]
    return tests + [
        replies("after nothing", "QueryTimeout", [event(QUERY_TIMEOUT), *late], ending="query-timeout", raw=0),
        replies("after a part", "QueryTimeout", [speak("partial"), event(QUERY_TIMEOUT), *late], ending="query-timeout",
                text="partial", raw=1),
        replies("refused after a part", "Refusal", [speak("partial"), event(DENIED), *late], ending="denied",
                text="partial", raw=1),
        replies("speech after it", "Completion", [speak("complete reply"), HANDLED, speak("late reply")],
                text="complete reply", raw=0),
    ]


def endings():
    soft, refused = event(UNMATCHED), event(DENIED)
    return [
        waits("nothing yet", "Completion", []),
        waits("speech is no end", "Completion", [speak("One.")], "speaking", text="One.", raw=0),
        waits("without a word", "Completion", [HANDLED], "completed", raw=0),
        waits("without a word, and then speech", "Completion", [HANDLED, speak("Late."), speak("Later.")], "speaking",
              text="Late. Later.", raw=2),
        replies("without a word, then speech, and the deadline", "Completion", [HANDLED, speak("Late.")],
                ending="spoken", text="Late.", raw=1, end="timeout"),
        replies("without a word, then speech, and completion again", "Completion", [HANDLED, speak("Late."), HANDLED],
                text="Late.", raw=1),
        waits("without a word, and then a soft failure", "Completion", [HANDLED, soft], "completed", raw=1),
        replies("without a word, twice", "Completion", [HANDLED, HANDLED], raw=0),
        replies("without a word, and the deadline", "Completion", [HANDLED], raw=0, end="timeout"),
        replies("without a word, and the connection's end", "Completion", [HANDLED], raw=0, end="closed"),
        replies("without a word, and a refusal", "Completion", [HANDLED, refused], ending="denied", raw=1),
        replies("a refusal after it", "Completion", [speak("One."), HANDLED, refused], text="One.", raw=0),
        replies("a deadline after it", "Completion", [speak("One."), HANDLED], text="One.", raw=0, end="timeout"),
        replies("the connection's end after it", "Completion", [speak("One."), HANDLED], text="One.", raw=0,
                end="closed"),
        replies("and handled without a word", "SoftFailure", [soft, HANDLED], ending="unanswered", raw=0),
        waits("two of them", "SoftFailure", [soft, event(INTENT_FAILURE)], "unmatched", raw=1),
        waits("after speech", "SoftFailure", [speak("One."), soft], "speaking", text="One.", raw=0),
        replies("after speech, and the end", "SoftFailure", [speak("One."), soft, HANDLED], text="One.", raw=0),
        waits("and speech without a word", "SoftFailure", [soft, speak(" ")], "unmatched", raw=0),
        waits("of another request", "SoftFailure", [event(UNMATCHED, {}, {"request_id": "req-2"})]),
        replies("refused after it", "SoftFailure", [soft, refused], ending="denied", raw=1),
        replies("the hub's timeout after it", "SoftFailure", [soft, event(QUERY_TIMEOUT)], ending="query-timeout",
                raw=1),
        waits("of another request", "QueryTimeout", [event(QUERY_TIMEOUT, {}, {})]),
        replies("after nothing", "Timeout", [], ending="timeout", end="timeout"),
        replies("after a part", "Timeout", [speak("One.")], ending="spoken", text="One.", raw=0, end="timeout"),
        replies("after nothing", "Stop", [], ending="timeout", end="stop"),
        replies("after a part", "Stop", [speak("One.")], ending="timeout", text="One.", raw=0, end="stop"),
        replies("after a soft failure", "Stop", [soft], ending="unanswered", raw=0, end="stop"),
        replies("after completion without a word", "Stop", [HANDLED], raw=0, end="stop"),
        replies("after nothing", "Closed", [], ending="closed", end="closed"),
        replies("after a part", "Closed", [speak("One.")], ending="closed", text="One.", raw=0, end="closed"),
        replies("after a soft failure", "Closed", [soft], ending="closed", raw=0, end="closed"),
        replies("after a refusal", "Closed", [refused], ending="denied", raw=0, end="closed"),
    ]


def groups():
    return [
        group("Reply", [REFUSALS], public_refusals() + public_correlation()),
        group("Reply", [COUNTS], public_counts()),
        group("Reply", [ASK], public_ids()),
        group("Reply", [DEADLINES, QUERIES], public_endings()),
        group("Reply", [SPECIFICATION], further_refusals() + ids() + endings()),
    ]

"""Tests of the request scheduler: what it decides, given events and times."""

import files
from files import SPECIFICATION, group
from reply import DENIED, INTENT_FAILURE, QUERY_TIMEOUT, UNMATCHED, UTTERANCE, envelope, event, speak

REFUSALS = (
    "thalovant-python-sdk contracts/conformance/refusal-vectors.json at a306a921b88c9ef72c24264143baddabc94c5d21"
)

NOTES = {
    "Cancel": "A cancelled request ends as at a deadline. A failure most likely leaves its session occupied.",
    "ConnectionEnd": (
        "All requests end with the connection, and those that were not sent say so. A failure most likely keeps the "
        "waiting ones."
    ),
    "Deadline": (
        "Each state has a deadline, and none goes beyond 12 seconds after sending. A failure most likely has one deadline "
        "for all states, or starts the 12 seconds anew."
    ),
    "OneInSession": (
        "A session has one request in flight, and the next is sent when that ends. A failure most likely sends both, or "
        "holds up other sessions too."
    ),
    "OwnSession": (
        "A request that declares no session belongs to that of the connection. A failure most likely matches nothing to it."
    ),
    "Sole": (
        "A refusal without a request id ends the sole request in flight, and messages that nobody waits for count for 10 "
        "seconds. A failure most likely ends a request that was never refused."
    ),
    "Unsolicited": (
        "An event that is part of no reply in flight is passed on. A failure most likely drops it, or adds it to a reply."
    ),
}

HELLO = '{"msg_type":"hello","payload":{"type":"speak","data":{"utterance":"One."}}}'


# Decisions


def send(id):
    return {"do": "send", "requestId": id}


def finish(id, ending, text="", sent=True):
    return {"do": "finish", "requestId": id, "ending": ending, "text": text, "wasSent": sent}


def handle(type, id=None):
    return {"do": "handle", "type": type, "requestId": id}


# Events


def to(id, session=None):
    """The context of an event: of a request, by its id, or only of a session."""
    ids = {} if id is None else {"request_id": id}
    return ids if session is None else {**ids, "session": {"session_id": session}}


def says(text, id="a", session=None):
    return speak(text, to(id, session))


def unmatched(id="a"):
    return event(UNMATCHED, {}, to(id))


def handled(id="a"):
    return event("ovos.utterance.handled", {}, to(id))


def refused(id=None, type=UTTERANCE):
    return event(DENIED, {"denied_type": type}, to(id))


class Script:
    """A connection, step by step. Each step gives the decisions, and the next deadline in milliseconds from then."""

    def __init__(self, comment, flag, **options):
        self.comment, self.flag, self.options = comment, flag, options
        self.steps, self.results = [], []

    def step(self, at, do, decisions, deadline, **fields):
        self.steps.append({"at": at, "do": do, **fields})
        self.results.append({"decisions": decisions, "deadline": deadline})
        return self

    def ask(self, at, id, *decisions, deadline, session=None, type=UTTERANCE):
        bus = event(type, {"utterances": ["hello"], "lang": "en-us"}, to(id, session))
        return self.step(at, "request", list(decisions), deadline, envelope={"msg_type": "bus", "payload": bus})

    def hear(self, at, payload, *decisions, deadline):
        return self.step(at, "receive", list(decisions), deadline, message=envelope(payload))

    def expire(self, at, *decisions, deadline):
        return self.step(at, "expire", list(decisions), deadline)

    def cancel(self, at, id, *decisions, deadline):
        return self.step(at, "cancel", list(decisions), deadline, requestId=id)

    def note_sent(self, at, deadline=None):
        return self.step(at, "note-sent", [], deadline)

    def close(self, at, *decisions):
        return self.step(at, "closed", list(decisions), None)

    def test(self):
        return files.valid(self.comment, [self.flag], options=self.options, steps=self.steps, results=self.results)


def asked(comment, flag, id="a", session=None, **options):
    """A script that begins with a request at time 0."""
    return Script(comment, flag, **options).ask(0, id, send(id), deadline=12000, session=session)


def deadlines():
    def waits(comment, **options):
        return asked(comment, "Deadline", **options)

    second_name = speak("One.", to("a"), type="ovos.utterance.speak")
    own = {"waiting": 1000, "unmatched": 200}
    return [
        waits("silence").expire(11999, deadline=1).expire(12000, finish("a", "timeout"), deadline=None),
        waits("a timer that is late").expire(20000, finish("a", "timeout"), deadline=None),
        waits("a timer of an earlier request").expire(300, deadline=11700),
        waits("speech without an end")
        .hear(1000, says("One."), deadline=250)
        .expire(1249, deadline=1)
        .expire(1250, finish("a", "spoken", "One."), deadline=None),
        waits("speech in two parts")
        .hear(1000, says("One."), deadline=250)
        .hear(1200, says("Two."), deadline=250)
        .expire(1250, deadline=200)
        .expire(1450, finish("a", "spoken", "One. Two."), deadline=None),
        waits("speech under both names")
        .hear(1000, says("One."), deadline=250)
        .hear(1100, second_name, deadline=250)
        .expire(1350, finish("a", "spoken", "One."), deadline=None),
        waits("a soft failure after speech")
        .hear(1000, says("One."), deadline=250)
        .hear(1100, unmatched(), deadline=250)
        .expire(1350, finish("a", "spoken", "One."), deadline=None),
        waits("speech, then completion")
        .hear(1000, says("One."), deadline=250)
        .hear(1100, handled(), finish("a", "handled", "One."), deadline=None),
        waits("a soft failure").hear(1000, unmatched(), deadline=5000).expire(6000, finish("a", "unanswered"), deadline=None),
        waits("two soft failures")
        .hear(1000, unmatched(), deadline=5000)
        .hear(2000, event(INTENT_FAILURE, {}, to("a")), deadline=4000)
        .expire(6000, finish("a", "unanswered"), deadline=None),
        waits("a soft failure, then speech")
        .hear(1000, unmatched(), deadline=5000)
        .hear(3000, says("One."), deadline=250)
        .expire(3250, finish("a", "spoken", "One."), deadline=None),
        waits("completion without a word")
        .hear(1000, handled(), deadline=5000)
        .expire(6000, finish("a", "handled"), deadline=None),
        waits("completion, then speech")
        .hear(1000, handled(), deadline=5000)
        .hear(2000, says("One."), deadline=250)
        .hear(2100, says("Two."), deadline=250)
        .expire(2350, finish("a", "spoken", "One. Two."), deadline=None),
        waits("the hub gave up").hear(9000, event(QUERY_TIMEOUT, {}, to("a")), finish("a", "query-timeout"), deadline=None),
        waits("a soft failure late in the 12 seconds")
        .hear(10000, unmatched(), deadline=2000)
        .expire(12000, finish("a", "unanswered"), deadline=None),
        waits("speech late in the 12 seconds")
        .hear(11900, says("One."), deadline=100)
        .expire(12000, finish("a", "spoken", "One."), deadline=None),
        waits("a message after its deadline, before the timer")
        .hear(1000, says("One."), deadline=250)
        .hear(1300, says("Two."), deadline=250)
        .expire(1550, finish("a", "spoken", "One. Two."), deadline=None),
        Script("deadlines of the caller's", "Deadline", deadlines=own)
        .ask(0, "a", send("a"), deadline=1000)
        .hear(100, unmatched(), deadline=200)
        .hear(200, says("One."), deadline=250)
        .hear(900, says("Two."), deadline=100)
        .expire(1000, finish("a", "spoken", "One. Two."), deadline=None),
        Script("two requests, and the earlier deadline", "Deadline")
        .ask(0, "a", send("a"), session="one", deadline=12000)
        .ask(1000, "b", send("b"), session="two", deadline=11000)
        .hear(2000, says("One.", "b"), deadline=250)
        .expire(12000, finish("a", "timeout"), finish("b", "spoken", "One."), deadline=None),
    ]


def sessions():
    def one(comment, **options):
        return Script(comment, "OneInSession", **options)

    return [
        one("the second waits for the first")
        .ask(0, "a", send("a"), session="s", deadline=12000)
        .ask(100, "b", session="s", deadline=11900)
        .hear(1000, says("One."), deadline=250)
        .hear(1100, handled(), finish("a", "handled", "One."), send("b"), deadline=12000)
        .hear(1200, says("Two.", None, "n:s"), deadline=250)
        .expire(1450, finish("b", "spoken", "Two."), deadline=None),
        one("and for its deadline")
        .ask(0, "a", send("a"), session="s", deadline=12000)
        .ask(11000, "b", session="s", deadline=1000)
        .expire(12000, finish("a", "timeout"), send("b"), deadline=12000)
        .expire(24000, finish("b", "timeout"), deadline=None),
        one("in the order in which they came")
        .ask(0, "a", send("a"), session="s", deadline=12000)
        .ask(0, "b", session="s", deadline=12000)
        .ask(0, "c", session="s", deadline=12000)
        .hear(500, refused("a"), finish("a", "denied"), send("b"), deadline=12000)
        .hear(600, refused("b"), finish("b", "denied"), send("c"), deadline=12000),
        one("two sessions")
        .ask(0, "a", send("a"), session="s", deadline=12000)
        .ask(100, "b", send("b"), session="t", deadline=11900)
        .hear(1000, says("Two.", None, "n:t"), deadline=250)
        .hear(1100, says("One.", None, "n:s"), deadline=150)
        .expire(1350, finish("a", "spoken", "One."), finish("b", "spoken", "Two."), deadline=None),
        one("one session behind another")
        .ask(0, "a", send("a"), session="s", deadline=12000)
        .ask(0, "b", session="s", deadline=12000)
        .ask(0, "c", send("c"), session="t", deadline=12000),
        one("no session declared")
        .ask(0, "a", send("a"), deadline=12000)
        .ask(0, "b", deadline=12000)
        .hear(100, refused("a"), finish("a", "denied"), send("b"), deadline=12000),
        one("the connection's session, declared and not", sessionId="own")
        .ask(0, "a", send("a"), deadline=12000)
        .ask(0, "b", session="own", deadline=12000)
        .ask(0, "c", send("c"), session="other", deadline=12000),
        one("a session with the name of a member of all objects")
        .ask(0, "a", send("a"), session="__proto__", deadline=12000)
        .ask(0, "b", send("b"), session="constructor", deadline=12000)
        .ask(0, "c", session="__proto__", deadline=12000),
        one("an event that could belong to two sessions")
        .ask(0, "a", send("a"), session="s", deadline=12000)
        .ask(0, "b", send("b"), session="n:s", deadline=12000)
        .hear(1000, says("Whose?", None, "n:s"), handle("speak"), deadline=11000),
        Script("without a request id", "OwnSession", sessionId="own")
        .ask(0, "a", send("a"), deadline=12000)
        .hear(1000, says("One.", None, "n:own"), deadline=250)
        .hear(1100, says("Two.", None, "n:other"), handle("speak"), deadline=150)
        .expire(1250, finish("a", "spoken", "One."), deadline=None),
        Script("a request that declares another", "OwnSession", sessionId="own")
        .ask(0, "a", send("a"), session="s", deadline=12000)
        .hear(1000, says("One.", None, "n:own"), handle("speak"), deadline=11000)
        .hear(1000, says("Two.", None, "n:s"), deadline=250),
        asked("unknown", "OwnSession").hear(1000, says("One.", None, "n:own"), handle("speak"), deadline=11000),
    ]


def public_refusals():
    return [
        asked("the sole request", "Sole").hear(10, refused(), finish("a", "denied"), deadline=None),
        asked("beside another request", "Sole", session="s")
        .ask(0, "b", send("b"), session="t", deadline=12000)
        .hear(10, refused(), handle(DENIED), deadline=11990),
        asked("of another type", "Sole").hear(10, refused(type="ovos.skills.fallback.list"), handle(DENIED), deadline=11990),
        asked("with the request's id, beside another", "Sole", session="s")
        .ask(0, "b", send("b"), session="t", deadline=12000)
        .hear(10, refused("a"), finish("a", "denied"), deadline=11990),
        asked("with another's id", "Sole").hear(10, refused("x"), handle(DENIED, "x"), deadline=11990),
        Script("within 10 seconds of a message that nobody waits for", "Sole")
        .note_sent(0)
        .ask(1000, "a", send("a"), deadline=12000)
        .hear(9999, refused(), handle(DENIED), deadline=3001)
        .hear(10000, refused(), finish("a", "denied"), deadline=None),
    ]


def refusals():
    return [
        Script("two messages that nobody waits for, out of order", "Sole")
        .note_sent(2000)
        .note_sent(1000)
        .ask(3000, "a", send("a"), deadline=12000)
        .hear(11999, refused(), handle(DENIED), deadline=3001)
        .hear(12000, refused(), finish("a", "denied"), deadline=None),
        Script("with the request's id, after a message that nobody waits for", "Sole")
        .note_sent(0)
        .ask(0, "a", send("a"), deadline=12000)
        .hear(10, refused("a"), finish("a", "denied"), deadline=None),
        asked("beside one that waits for its turn", "Sole")
        .ask(0, "b", deadline=12000)
        .hear(10, refused(), finish("a", "denied"), send("b"), deadline=12000)
        .hear(20, refused(), finish("b", "denied"), deadline=None),
        asked("after a request of which nothing was heard", "Sole")
        .cancel(1000, "a", finish("a", "timeout"), deadline=None)
        .ask(1000, "b", send("b"), deadline=12000)
        .hear(9999, refused(), handle(DENIED), deadline=3001)
        .hear(10000, refused(), finish("b", "denied"), deadline=None),
        asked("after a request that was answered", "Sole")
        .hear(900, says("One."), deadline=250)
        .hear(1000, handled(), finish("a", "handled", "One."), deadline=None)
        .ask(1000, "b", send("b"), deadline=12000)
        .hear(1010, refused(), finish("b", "denied"), deadline=None),
        asked("after a request that was never sent", "Sole")
        .ask(0, "b", deadline=12000)
        .cancel(10, "b", finish("b", "timeout", sent=False), deadline=11990)
        .hear(20, refused(), finish("a", "denied"), deadline=None),
        Script("of a request of another type", "Sole")
        .ask(0, "a", send("a"), deadline=12000, type="mycroft.skills.list")
        .hear(10, refused(), handle(DENIED), deadline=11990)
        .hear(20, refused(type="mycroft.skills.list"), finish("a", "denied"), deadline=None),
    ]


def unsolicited():
    def passes(comment, payload, *decisions):
        return asked(comment, "Unsolicited").hear(1000, payload, *decisions, deadline=11000)

    return [
        Script("no request at all", "Unsolicited").hear(0, says("One.", None), handle("speak"), deadline=None),
        passes("another request's", says("One.", "x"), handle("speak", "x")),
        passes("neither a request's nor a session's", says("One.", None), handle("speak")),
        passes("the request's, and no part of a reply", event("mycroft.mic.listen", {}, to("a")), handle("mycroft.mic.listen", "a")),
        passes("a type that objects have", event("constructor", {}, to("a")), handle("constructor", "a")),
        passes("no event of the bus", HELLO),
        passes("no JSON", "One."),
        asked("a reply that has ended", "Unsolicited")
        .hear(1000, says("One."), deadline=250)
        .hear(1000, handled(), finish("a", "handled", "One."), deadline=None)
        .hear(300000, says("Your timer."), handle("speak", "a"), deadline=None),
        asked("the request that waits for its turn", "Unsolicited")
        .ask(0, "b", deadline=12000)
        .hear(1000, says("One.", "b"), handle("speak", "b"), deadline=11000),
    ]


def ends():
    return [
        asked("while it speaks", "Cancel")
        .hear(1000, says("One."), deadline=250)
        .cancel(1100, "a", finish("a", "spoken", "One."), deadline=None),
        asked("the next is sent", "Cancel")
        .ask(0, "b", deadline=12000)
        .cancel(1000, "a", finish("a", "timeout"), send("b"), deadline=12000),
        asked("one that waits for its turn", "Cancel")
        .ask(0, "b", deadline=12000)
        .cancel(1000, "b", finish("b", "timeout", sent=False), deadline=11000),
        asked("one that has ended", "Cancel")
        .hear(10, refused(), finish("a", "denied"), deadline=None)
        .cancel(20, "a", deadline=None),
        asked("one that is not known", "Cancel").cancel(10, "x", deadline=11990),
        asked("an id used again after its end", "Cancel")
        .cancel(10, "a", finish("a", "timeout"), deadline=None)
        .ask(20, "a", send("a"), deadline=12000),
        asked("in flight, speaking and waiting", "ConnectionEnd", session="s")
        .ask(0, "b", send("b"), session="t", deadline=12000)
        .ask(0, "c", session="s", deadline=12000)
        .hear(1000, says("Half", "b"), deadline=250)
        .close(1100, finish("a", "closed"), finish("b", "closed", "Half"), finish("c", "closed", sent=False)),
        asked("after completion", "ConnectionEnd")
        .hear(1000, handled(), deadline=5000)
        .close(1100, finish("a", "handled")),
        asked("nothing counts after it", "ConnectionEnd")
        .close(1000, finish("a", "closed"))
        .hear(1100, says("One."), deadline=None)
        .expire(20000, deadline=None)
        .close(20000),
    ]


def groups():
    def tests(scripts):
        return [script.test() for script in scripts]

    own = deadlines() + sessions() + refusals() + unsolicited() + ends()
    return [
        group("RequestScheduler", [REFUSALS], tests(public_refusals())),
        group("RequestScheduler", [SPECIFICATION], tests(own)),
    ]

"""Tests of the request scheduler: what it decides, given events and times."""

import files
from files import SPECIFICATION, group
from reply import DENIED, INTENT_FAILURE, QUERY_TIMEOUT, UNMATCHED, UTTERANCE, envelope, event, speak

REFUSALS = (
    "thalovant-python-sdk contracts/conformance/refusal-vectors.json at a306a921b88c9ef72c24264143baddabc94c5d21"
)

NOTES = {
    "Cancel": (
        "A cancelled request ends with what has come, and so does one whose time is up. A failure most likely leaves its "
        "session occupied."
    ),
    "ConnectionEnd": (
        "All requests end with the connection, and those that were not sent say so. A failure most likely keeps the "
        "waiting ones."
    ),
    "Deadline": (
        "Each state has a deadline. A failure most likely has one deadline for all states, or starts it anew at each event."
    ),
    "Handled": (
        "A hub that says `ovos.utterance.handled` ends its replies with it, however long it pauses; one that omits it ends "
        "them by 250 ms of silence, and one that is not known yet by 5 seconds. A failure most likely cuts off what a real "
        "assistant says after a pause."
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
    "Turn": (
        "A hub that waits for an answer of the person has ended its reply, and goes on under the earlier request id with the "
        "next request in the session. A failure most likely waits for the end of a reply that comes only after the answer."
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


def part(id, text, asks=False):
    return {"do": "part", "requestId": id, "text": text, "expectsAnswer": asks}


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
    """A connection, step by step.

    Each step gives the decisions, the next deadline in milliseconds from then, and whether the hub is known to say that it
    has handled an utterance: `says`, if that has changed.
    """

    def __init__(self, comment, flag, saysHandled=False, **options):
        self.comment, self.flag, self.says = comment, flag, saysHandled
        self.options = options if saysHandled is None else {**options, "saysHandled": saysHandled}
        self.steps, self.results = [], []

    def step(self, at, do, decisions, deadline, says=..., **fields):
        self.says = self.says if says is ... else says
        self.steps.append({"at": at, "do": do, **fields})
        self.results.append({"decisions": decisions, "deadline": deadline, "saysHandled": self.says})
        return self

    def ask(self, at, id, *decisions, deadline, session=None, type=UTTERANCE, timeout=None):
        bus = event(type, {"utterances": ["hello"], "lang": "en-us"}, to(id, session))
        fields = {} if timeout is None else {"timeout": timeout}
        return self.step(at, "request", list(decisions), deadline, envelope={"msg_type": "bus", "payload": bus}, **fields)

    def hear(self, at, payload, *decisions, **expected):
        return self.step(at, "receive", list(decisions), message=envelope(payload), **expected)

    def expire(self, at, *decisions, **expected):
        return self.step(at, "expire", list(decisions), **expected)

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
    return Script(comment, flag, **options).ask(0, id, send(id), deadline=60000, session=session)


def deadlines():
    def waits(comment, **options):
        return asked(comment, "Deadline", **options)

    second_name = speak("One.", to("a"), type="ovos.utterance.speak")
    own = {"idle": 1000, "unmatched": 200, "unsure": 300}
    return [
        waits("silence").expire(59999, deadline=1).expire(60000, finish("a", "timeout"), deadline=None),
        waits("a timer that is late").expire(70000, finish("a", "timeout"), deadline=None),
        waits("a timer of an earlier request").expire(300, deadline=59700),
        waits("speech without an end")
        .hear(1000, says("One."), part("a", "One."), deadline=250)
        .expire(1249, deadline=1)
        .expire(1250, finish("a", "spoken", "One."), deadline=None),
        waits("speech in two parts")
        .hear(1000, says("One."), part("a", "One."), deadline=250)
        .hear(1200, says("Two."), part("a", "Two."), deadline=250)
        .expire(1250, deadline=200)
        .expire(1450, finish("a", "spoken", "One. Two."), deadline=None),
        waits("speech under both names")
        .hear(1000, says("One."), part("a", "One."), deadline=250)
        .hear(1100, second_name, deadline=250)
        .expire(1350, finish("a", "spoken", "One."), deadline=None),
        waits("a soft failure after speech")
        .hear(1000, says("One."), part("a", "One."), deadline=250)
        .hear(1100, unmatched(), deadline=250)
        .expire(1350, finish("a", "spoken", "One."), deadline=None),
        waits("a soft failure").hear(1000, unmatched(), deadline=5000).expire(6000, finish("a", "unanswered"), deadline=None),
        waits("two soft failures")
        .hear(1000, unmatched(), deadline=5000)
        .hear(2000, event(INTENT_FAILURE, {}, to("a")), deadline=4000)
        .expire(6000, finish("a", "unanswered"), deadline=None),
        waits("a soft failure, then speech")
        .hear(1000, unmatched(), deadline=5000)
        .hear(3000, says("One."), part("a", "One."), deadline=250)
        .expire(3250, finish("a", "spoken", "One."), deadline=None),
        waits("completion without a word")
        .hear(1000, handled(), deadline=5000)
        .expire(6000, finish("a", "handled"), deadline=None),
        waits("completion, then speech")
        .hear(1000, handled(), deadline=5000)
        .hear(2000, says("One."), part("a", "One."), deadline=250)
        .hear(2100, says("Two."), part("a", "Two."), deadline=250)
        .expire(2350, finish("a", "spoken", "One. Two."), deadline=None),
        waits("the hub gave up").hear(9000, event(QUERY_TIMEOUT, {}, to("a")), finish("a", "query-timeout"), deadline=None),
        waits("speech after almost a minute")
        .hear(59900, says("One."), part("a", "One."), deadline=250)
        .expire(60150, finish("a", "spoken", "One."), deadline=None),
        waits("a message after its deadline, before the timer")
        .hear(1000, says("One."), part("a", "One."), deadline=250)
        .hear(1300, says("Two."), part("a", "Two."), deadline=250)
        .expire(1550, finish("a", "spoken", "One. Two."), deadline=None),
        Script("deadlines of the caller's", "Deadline", saysHandled=None, deadlines=own)
        .ask(0, "a", send("a"), deadline=1000)
        .hear(100, unmatched(), deadline=200)
        .hear(200, says("One."), part("a", "One."), deadline=300)
        .hear(300, handled(), finish("a", "handled", "One."), deadline=None, says=True)
        .ask(400, "b", send("b"), deadline=1000)
        .hear(500, says("Two.", "b"), part("b", "Two."), deadline=1000)
        .expire(1500, finish("b", "spoken", "Two."), deadline=None, says=None),
        Script("two requests, and the earlier deadline", "Deadline")
        .ask(0, "a", send("a"), session="one", deadline=60000)
        .ask(1000, "b", send("b"), session="two", deadline=59000)
        .hear(2000, says("One.", "b"), part("b", "One."), deadline=250)
        .expire(60000, finish("a", "timeout"), finish("b", "spoken", "One."), deadline=None),
    ]


def handles():
    def known(comment, saysHandled=True):
        return asked(comment, "Handled", saysHandled=saysHandled)

    def unknown(comment):
        return known(comment, None)

    return [
        known("a pause between two parts")
        .hear(1000, says("One."), part("a", "One."), deadline=60000)
        .hear(30000, says("Two."), part("a", "Two."), deadline=60000)
        .hear(30100, handled(), finish("a", "handled", "One. Two."), deadline=None),
        known("the minute begins anew with each part")
        .hear(50000, says("One."), part("a", "One."), deadline=60000)
        .hear(100000, says("Two."), part("a", "Two."), deadline=60000)
        .hear(150000, handled(), finish("a", "handled", "One. Two."), deadline=None),
        known("a hub that does not say it any more is not known again")
        .hear(1000, says("One."), part("a", "One."), deadline=60000)
        .expire(60999, deadline=1)
        .expire(61000, finish("a", "spoken", "One."), deadline=None, says=None)
        .ask(70000, "b", send("b"), deadline=60000)
        .hear(71000, says("Two.", "b"), part("b", "Two."), deadline=5000)
        .expire(76000, finish("b", "spoken", "Two."), deadline=None, says=False),
        known("without a word: at once").hear(1000, handled(), finish("a", "handled"), deadline=None),
        known("after a soft failure").hear(1000, unmatched(), deadline=5000).hear(
            1001, handled(), finish("a", "unanswered"), deadline=None
        ),
        known("after a soft failure, not at all")
        .hear(1000, unmatched(), deadline=5000)
        .expire(6000, finish("a", "unanswered"), deadline=None),
        unknown("the first reply: five seconds of silence, and the hub omits it")
        .hear(1000, says("One."), part("a", "One."), deadline=5000)
        .hear(5999, says("Two."), part("a", "Two."), deadline=5000)
        .expire(10999, finish("a", "spoken", "One. Two."), deadline=None, says=False)
        .ask(20000, "b", send("b"), deadline=60000)
        .hear(21000, says("Three.", "b"), part("b", "Three."), deadline=250),
        unknown("the first reply: the hub says it")
        .hear(1000, says("One."), part("a", "One."), deadline=5000)
        .hear(1001, handled(), finish("a", "handled", "One."), deadline=None, says=True)
        .ask(2000, "b", send("b"), deadline=60000)
        .hear(3000, says("Two.", "b"), part("b", "Two."), deadline=60000),
        unknown("without a word, it does not show when the hub says it")
        .hear(1000, handled(), deadline=5000)
        .expire(6000, finish("a", "handled"), deadline=None),
        unknown("before speech, it is no end")
        .hear(1000, handled(), deadline=5000)
        .hear(1500, says("One."), part("a", "One."), deadline=5000)
        .expire(6500, finish("a", "spoken", "One."), deadline=None, says=False),
        unknown("before speech and after it")
        .hear(1000, handled(), deadline=5000)
        .hear(1500, says("One."), part("a", "One."), deadline=5000)
        .hear(1600, handled(), finish("a", "handled", "One."), deadline=None),
        unknown("a pause of more than five seconds: it comes late, and corrects what the silence has shown")
        .hear(1000, says("One."), part("a", "One."), deadline=5000)
        .expire(6000, finish("a", "spoken", "One."), deadline=None, says=False)
        .hear(9000, says("Two."), handle("speak", "a"), deadline=None)
        .hear(9001, handled(), handle("ovos.utterance.handled", "a"), deadline=None, says=True),
        unknown("late, while another request is in flight")
        .hear(1000, says("One."), part("a", "One."), deadline=5000)
        .expire(6000, finish("a", "spoken", "One."), deadline=None, says=False)
        .ask(7000, "b", send("b"), deadline=60000)
        .hear(9001, handled(), handle("ovos.utterance.handled", "a"), deadline=57999, says=True)
        .hear(9002, says("Two.", "b"), part("b", "Two."), deadline=60000),
        known("late, after a reply without speech", False)
        .expire(60000, finish("a", "timeout"), deadline=None)
        .hear(61000, handled(), handle("ovos.utterance.handled", "a"), deadline=None),
        known("late, after one that came before speech", False)
        .hear(1000, handled(), deadline=5000)
        .hear(1500, says("One."), part("a", "One."), deadline=250)
        .expire(1750, finish("a", "spoken", "One."), deadline=None)
        .hear(2000, handled(), handle("ovos.utterance.handled", "a"), deadline=None),
        known("late, of no request", False)
        .hear(1000, says("One."), part("a", "One."), deadline=250)
        .expire(1250, finish("a", "spoken", "One."), deadline=None)
        .hear(2000, handled("x"), handle("ovos.utterance.handled", "x"), deadline=None),
        known("late, after a request whose time was up", False)
        .hear(1000, says("One."), part("a", "One."), deadline=250)
        .cancel(1100, "a", finish("a", "timeout", "One."), deadline=None)
        .hear(2000, handled(), handle("ovos.utterance.handled", "a"), deadline=None, says=True),
    ]


def turns():
    def asks(text, id="a", **fields):
        return speak(text, to(id, **fields), expect_response=True)

    def turn(comment, saysHandled=True):
        return asked(comment, "Turn", saysHandled=saysHandled, session="s").hear(
            1000, asks("Which colour?"), part("a", "Which colour?", True), deadline=250
        )

    def answered(comment):
        return (
            turn(comment)
            .expire(1250, finish("a", "spoken", "Which colour?"), deadline=None)
            .ask(9000, "b", send("b"), deadline=60000, session="s")
        )

    return [
        turn("the reply ends, although the hub says when it has handled an utterance")
        .expire(1249, deadline=1)
        .expire(1250, finish("a", "spoken", "Which colour?"), deadline=None),
        turn("of a hub that is not known, which shows nothing", None)
        .expire(1250, finish("a", "spoken", "Which colour?"), deadline=None),
        turn("a question, and more speech")
        .hear(1100, says("Red or blue."), part("a", "Red or blue."), deadline=60000)
        .hear(1200, handled(), finish("a", "handled", "Which colour? Red or blue."), deadline=None),
        answered("the hub goes on under the earlier id")
        .hear(9100, says("You like blue."), part("b", "You like blue."), deadline=60000)
        .hear(9200, handled(), finish("b", "handled", "You like blue."), deadline=None),
        answered("the hub asks again, under the earlier id")
        .hear(9100, asks("Which of them?"), part("b", "Which of them?", True), deadline=250)
        .expire(9350, finish("b", "spoken", "Which of them?"), deadline=None)
        .ask(10000, "c", send("c"), deadline=60000, session="s")
        .hear(10100, says("Yes."), part("c", "Yes."), deadline=60000)
        .hear(10101, handled(), finish("c", "handled", "Yes."), deadline=None),
        answered("the hub goes on under the new id")
        .hear(9100, says("You like blue.", "b"), part("b", "You like blue."), deadline=60000)
        .hear(9200, handled("b"), finish("b", "handled", "You like blue."), deadline=None),
        answered("the request after that does not go on")
        .hear(9200, handled("b"), finish("b", "handled"), deadline=None)
        .ask(9300, "c", send("c"), deadline=60000, session="s")
        .hear(9400, says("Still there?"), handle("speak", "a"), deadline=59900),
        turn("a request in another session does not go on")
        .expire(1250, finish("a", "spoken", "Which colour?"), deadline=None)
        .ask(9000, "b", send("b"), deadline=60000, session="t")
        .hear(9100, says("You like blue."), handle("speak", "a"), deadline=59900),
        turn("the hub has handled the question before the answer")
        .expire(1250, finish("a", "spoken", "Which colour?"), deadline=None)
        .hear(2000, handled(), handle("ovos.utterance.handled", "a"), deadline=None)
        .ask(9000, "b", send("b"), deadline=60000, session="s")
        .hear(9100, says("One moment."), handle("speak", "a"), deadline=59900),
        turn("the hub has handled the question at once")
        .hear(1100, handled(), finish("a", "handled", "Which colour?"), deadline=None)
        .ask(9000, "b", send("b"), deadline=60000, session="s")
        .hear(9100, says("One moment."), handle("speak", "a"), deadline=59900),
    ]


def sessions():
    def one(comment, **options):
        return Script(comment, "OneInSession", **options)

    return [
        one("the second waits for the first")
        .ask(0, "a", send("a"), session="s", deadline=60000)
        .ask(100, "b", session="s", deadline=59900)
        .hear(1000, says("One."), part("a", "One."), deadline=250)
        .hear(1100, handled(), finish("a", "handled", "One."), send("b"), deadline=60000, says=True)
        .hear(1200, says("Two.", None, "n:s"), part("b", "Two."), deadline=60000)
        .hear(1300, handled("b"), finish("b", "handled", "Two."), deadline=None),
        one("and for its deadline")
        .ask(0, "a", send("a"), session="s", deadline=60000)
        .ask(11000, "b", session="s", deadline=49000)
        .expire(60000, finish("a", "timeout"), send("b"), deadline=60000)
        .expire(120000, finish("b", "timeout"), deadline=None),
        one("in the order in which they came")
        .ask(0, "a", send("a"), session="s", deadline=60000)
        .ask(0, "b", session="s", deadline=60000)
        .ask(0, "c", session="s", deadline=60000)
        .hear(500, refused("a"), finish("a", "denied"), send("b"), deadline=60000)
        .hear(600, refused("b"), finish("b", "denied"), send("c"), deadline=60000),
        one("two sessions")
        .ask(0, "a", send("a"), session="s", deadline=60000)
        .ask(100, "b", send("b"), session="t", deadline=59900)
        .hear(1000, says("Two.", None, "n:t"), part("b", "Two."), deadline=250)
        .hear(1100, says("One.", None, "n:s"), part("a", "One."), deadline=150)
        .expire(1350, finish("a", "spoken", "One."), finish("b", "spoken", "Two."), deadline=None),
        one("one session behind another")
        .ask(0, "a", send("a"), session="s", deadline=60000)
        .ask(0, "b", session="s", deadline=60000)
        .ask(0, "c", send("c"), session="t", deadline=60000),
        one("no session declared")
        .ask(0, "a", send("a"), deadline=60000)
        .ask(0, "b", deadline=60000)
        .hear(100, refused("a"), finish("a", "denied"), send("b"), deadline=60000),
        one("the connection's session, declared and not", sessionId="own")
        .ask(0, "a", send("a"), deadline=60000)
        .ask(0, "b", session="own", deadline=60000)
        .ask(0, "c", send("c"), session="other", deadline=60000),
        one("a session with the name of a member of all objects")
        .ask(0, "a", send("a"), session="__proto__", deadline=60000)
        .ask(0, "b", send("b"), session="constructor", deadline=60000)
        .ask(0, "c", session="__proto__", deadline=60000),
        one("an event that could belong to two sessions")
        .ask(0, "a", send("a"), session="s", deadline=60000)
        .ask(0, "b", send("b"), session="n:s", deadline=60000)
        .hear(1000, says("Whose?", None, "n:s"), handle("speak"), deadline=59000),
        Script("without a request id", "OwnSession", sessionId="own")
        .ask(0, "a", send("a"), deadline=60000)
        .hear(1000, says("One.", None, "n:own"), part("a", "One."), deadline=250)
        .hear(1100, says("Two.", None, "n:other"), handle("speak"), deadline=150)
        .expire(1250, finish("a", "spoken", "One."), deadline=None),
        Script("a request that declares another", "OwnSession", sessionId="own")
        .ask(0, "a", send("a"), session="s", deadline=60000)
        .hear(1000, says("One.", None, "n:own"), handle("speak"), deadline=59000)
        .hear(1000, says("Two.", None, "n:s"), part("a", "Two."), deadline=250),
        asked("unknown", "OwnSession").hear(1000, says("One.", None, "n:own"), handle("speak"), deadline=59000),
    ]


def public_refusals():
    return [
        asked("the sole request", "Sole").hear(10, refused(), finish("a", "denied"), deadline=None),
        asked("beside another request", "Sole", session="s")
        .ask(0, "b", send("b"), session="t", deadline=60000)
        .hear(10, refused(), handle(DENIED), deadline=59990),
        asked("of another type", "Sole").hear(10, refused(type="ovos.skills.fallback.list"), handle(DENIED), deadline=59990),
        asked("with the request's id, beside another", "Sole", session="s")
        .ask(0, "b", send("b"), session="t", deadline=60000)
        .hear(10, refused("a"), finish("a", "denied"), deadline=59990),
        asked("with another's id", "Sole").hear(10, refused("x"), handle(DENIED, "x"), deadline=59990),
        Script("within 10 seconds of a message that nobody waits for", "Sole")
        .note_sent(0)
        .ask(1000, "a", send("a"), deadline=60000)
        .hear(9999, refused(), handle(DENIED), deadline=51001)
        .hear(10000, refused(), finish("a", "denied"), deadline=None),
    ]


def refusals():
    return [
        Script("two messages that nobody waits for, out of order", "Sole")
        .note_sent(2000)
        .note_sent(1000)
        .ask(3000, "a", send("a"), deadline=60000)
        .hear(11999, refused(), handle(DENIED), deadline=51001)
        .hear(12000, refused(), finish("a", "denied"), deadline=None),
        Script("with the request's id, after a message that nobody waits for", "Sole")
        .note_sent(0)
        .ask(0, "a", send("a"), deadline=60000)
        .hear(10, refused("a"), finish("a", "denied"), deadline=None),
        asked("beside one that waits for its turn", "Sole")
        .ask(0, "b", deadline=60000)
        .hear(10, refused(), finish("a", "denied"), send("b"), deadline=60000)
        .hear(20, refused(), finish("b", "denied"), deadline=None),
        asked("after a request of which nothing was heard", "Sole")
        .cancel(1000, "a", finish("a", "timeout"), deadline=None)
        .ask(1000, "b", send("b"), deadline=60000)
        .hear(9999, refused(), handle(DENIED), deadline=51001)
        .hear(10000, refused(), finish("b", "denied"), deadline=None),
        asked("after a request that was answered", "Sole")
        .hear(900, says("One."), part("a", "One."), deadline=250)
        .hear(1000, handled(), finish("a", "handled", "One."), deadline=None, says=True)
        .ask(1000, "b", send("b"), deadline=60000)
        .hear(1010, refused(), finish("b", "denied"), deadline=None),
        asked("after a request that was never sent", "Sole")
        .ask(0, "b", deadline=60000)
        .cancel(10, "b", finish("b", "timeout", sent=False), deadline=59990)
        .hear(20, refused(), finish("a", "denied"), deadline=None),
        Script("of a request of another type", "Sole")
        .ask(0, "a", send("a"), deadline=60000, type="mycroft.skills.list")
        .hear(10, refused(), handle(DENIED), deadline=59990)
        .hear(20, refused(type="mycroft.skills.list"), finish("a", "denied"), deadline=None),
    ]


def unsolicited():
    def passes(comment, payload, *decisions):
        return asked(comment, "Unsolicited").hear(1000, payload, *decisions, deadline=59000)

    return [
        Script("no request at all", "Unsolicited").hear(0, says("One.", None), handle("speak"), deadline=None),
        passes("another request's", says("One.", "x"), handle("speak", "x")),
        passes("neither a request's nor a session's", says("One.", None), handle("speak")),
        passes("the request's, and no part of a reply", event("mycroft.mic.listen", {}, to("a")), handle("mycroft.mic.listen", "a")),
        passes("a type that objects have", event("constructor", {}, to("a")), handle("constructor", "a")),
        passes("no event of the bus", HELLO),
        passes("no JSON", "One."),
        asked("a reply that has ended", "Unsolicited")
        .hear(1000, says("One."), part("a", "One."), deadline=250)
        .hear(1000, handled(), finish("a", "handled", "One."), deadline=None, says=True)
        .hear(300000, says("Your timer."), handle("speak", "a"), deadline=None),
        asked("the request that waits for its turn", "Unsolicited")
        .ask(0, "b", deadline=60000)
        .hear(1000, says("One.", "b"), handle("speak", "b"), deadline=59000),
    ]


def ends():
    return [
        asked("while it speaks", "Cancel")
        .hear(1000, says("One."), part("a", "One."), deadline=250)
        .cancel(1100, "a", finish("a", "timeout", "One."), deadline=None),
        asked("after a soft failure", "Cancel")
        .hear(1000, unmatched(), deadline=5000)
        .cancel(1100, "a", finish("a", "unanswered"), deadline=None),
        Script("its time is up before anything has come", "Cancel")
        .ask(0, "a", send("a"), deadline=3000, timeout=3000)
        .expire(2999, deadline=1)
        .expire(3000, finish("a", "timeout"), deadline=None),
        Script("its time is up while the hub speaks", "Cancel", saysHandled=True)
        .ask(0, "a", send("a"), deadline=3000, timeout=3000)
        .hear(1000, says("One."), part("a", "One."), deadline=2000)
        .expire(3000, finish("a", "timeout", "One."), deadline=None),
        Script("its time is up, and the hub is not known any better", "Cancel", saysHandled=None)
        .ask(0, "a", send("a"), deadline=6000, timeout=6000)
        .hear(1000, says("One."), part("a", "One."), deadline=5000)
        .expire(6000, finish("a", "timeout", "One."), deadline=None),
        asked("its time is up while it waits for its turn", "Cancel")
        .ask(0, "b", deadline=3000, timeout=3000)
        .expire(3000, finish("b", "timeout", sent=False), deadline=57000),
        asked("a time that is longer than the deadlines", "Cancel")
        .ask(0, "b", deadline=60000, timeout=100000)
        .expire(60000, finish("a", "timeout"), send("b"), deadline=40000)
        .expire(100000, finish("b", "timeout"), deadline=None),
        asked("the next is sent", "Cancel")
        .ask(0, "b", deadline=60000)
        .cancel(1000, "a", finish("a", "timeout"), send("b"), deadline=60000),
        asked("one that waits for its turn", "Cancel")
        .ask(0, "b", deadline=60000)
        .cancel(1000, "b", finish("b", "timeout", sent=False), deadline=59000),
        asked("one that has ended", "Cancel")
        .hear(10, refused(), finish("a", "denied"), deadline=None)
        .cancel(20, "a", deadline=None),
        asked("one that is not known", "Cancel").cancel(10, "x", deadline=59990),
        asked("an id used again after its end", "Cancel")
        .cancel(10, "a", finish("a", "timeout"), deadline=None)
        .ask(20, "a", send("a"), deadline=60000),
        asked("in flight, speaking and waiting", "ConnectionEnd", session="s")
        .ask(0, "b", send("b"), session="t", deadline=60000)
        .ask(0, "c", session="s", deadline=60000)
        .hear(1000, says("Half", "b"), part("b", "Half"), deadline=250)
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

    own = deadlines() + handles() + turns() + sessions() + refusals() + unsolicited() + ends()
    return [
        group("RequestScheduler", [REFUSALS], tests(public_refusals())),
        group("RequestScheduler", [SPECIFICATION], tests(own)),
    ]

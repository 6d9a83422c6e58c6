"""The questions in flight on one connection, one in each session: docs/reference/requests.md, "Schedule".

Of a reply it keeps the words only, and a refusal without a request id ends no question.
"""

import json

from hub_protocol import Refused

DEADLINES = {"idle": 60000, "unsure": 5000, "speaking": 250, "unmatched": 5000, "completed": 5000}
ID_NAMES = ("request_id", "thalovant_request_id", "correlation_id")
MEANINGS = {
    "speak": "speech",
    "ovos.utterance.speak": "speech",
    "complete_intent_failure": "failure",
    "ovos.intent.unmatched": "failure",
    "ovos.utterance.handled": "completion",
    "hive.policy.denied": "refusal",
    "hive.query.timeout": "query-timeout",
}
# The state that follows, or how the question ends.
TABLE = {
    "speech": ("speaking", "speaking", "speaking", "speaking"),
    "failure": ("unmatched", "speaking", "unmatched", "completed"),
    "completion": ("completed", "handled", "unanswered", "handled"),
    "refusal": ("denied",) * 4,
    "query-timeout": ("query-timeout",) * 4,
    "timeout": ("timeout", "spoken", "unanswered", "handled"),
    "stop": ("timeout", "timeout", "unanswered", "handled"),
    "closed": ("closed", "closed", "closed", "handled"),
}
STATES = ("waiting", "speaking", "unmatched", "completed")


def fields(value):
    return value if isinstance(value, dict) else {}


def read_event(message):
    """Type, data, request id and session id of a bus message; None for anything else."""
    payload = fields(fields(message).get("payload"))
    if fields(message).get("msg_type") != "bus" or not isinstance(payload.get("type"), str):
        return None
    data, context = fields(payload.get("data")), fields(payload.get("context"))
    session = fields(context.get("session"))
    places = [place.get(name) for place in (context, session, data) for name in ID_NAMES]
    sessions = [session.get("session_id"), context.get("session_id")]
    return payload["type"], data, first_text(places), first_text(sessions)


def first_text(values):
    return next((str(value) for value in values if isinstance(value, (str, int)) and str(value).strip()), None)


class Question:
    def __init__(self, id, session, envelope, until):
        self.id, self.session, self.envelope, self.until = id, session, envelope, until
        self.state, self.ending, self.words = "waiting", None, []
        self.sent_at = self.since = None
        self.asks, self.was_completed = False, False  # whether the hub waits for the person; was done before any speech
        self.heard_as = self.continues = None  # ids under which the hub goes on, with this question and with the next

    def owns(self, id, session):
        if id is not None:
            return id in (self.id, self.continues)
        return session is not None and self.session in (session, session.partition(":")[2])

    def take(self, what, data, now, id=None):
        """Returns the part of the reply that is new."""
        next_state = TABLE[what][STATES.index(self.state)]
        part = None
        if what == "speech":
            text = " ".join(str(data.get("utterance", data.get("text", ""))).split())
            self.asks = data.get("expect_response") is True
            if text and text not in self.words[-1:]:
                self.words.append(text)
                self.heard_as = id
                part = {"do": "part", "requestId": self.id, "text": text, "expectsAnswer": self.asks}
        if next_state not in STATES:
            self.ending = next_state
        elif next_state != self.state or next_state == "speaking":
            self.state, self.since = next_state, now
        self.was_completed = self.was_completed or self.state == "completed"
        return part


class Scheduler:
    def __init__(self, session_id, deadlines={}, says_handled=None):
        self.session_id, self.deadlines, self.questions = session_id, {**DEADLINES, **deadlines}, []
        self.says_handled = says_handled  # whether the hub says that it is done; None if that is not known
        self.unhandled = {}  # by session, the question that ended after speech although the hub has not said so

    def request(self, envelope, now, timeout=float("inf")):
        event = read_event(envelope)
        if event is None or event[2] is None or any(each.id == event[2] for each in self.questions):
            raise Refused("bad-argument")
        self.questions.append(Question(event[2], event[3] or self.session_id, envelope, now + timeout))
        return self.decide(now)

    def note_sent(self, now):
        """Something else was sent, which a refusal may mean. Here no refusal without a request id ends a question."""

    def receive(self, text, now):
        try:
            event = read_event(json.loads(text))
        except ValueError:
            event = None
        if event is None:
            return []
        type, data, id, session = event
        owners = [each for each in self.sent() if type in MEANINGS and each.owns(id, session)]
        if len(owners) != 1:
            if MEANINGS.get(type) == "completion":
                self.handle_late(id, session)
            return [{"do": "handle", "message": {"type": type, "requestId": id}}]
        owner = owners[0]
        was_speaking = owner.state == "speaking"
        part = owner.take(MEANINGS[type], data, now, id)
        if owner.state == "completed" and self.says_handled:
            owner.take("timeout", {}, now)  # it has said all before
        elif was_speaking and owner.ending == "handled" and not owner.was_completed:
            self.says_handled = True
        return ([part] if part else []) + self.decide(now)

    def handle_late(self, id, session):
        """A completion of a question that has ended."""
        for question in [each for each in self.unhandled.values() if each.owns(id, session)]:
            self.says_handled = True
            del self.unhandled[question.session]

    def expire(self, now):
        for question in self.questions:
            if question.until <= now:
                question.take("stop", {}, now)
            elif self.deadline(question) <= now:
                if question.state == "speaking" and not question.asks:
                    self.says_handled = None if self.says_handled else False
                question.take("timeout", {}, now)
        return self.decide(now)

    def deadline(self, question):
        return question.until if question.sent_at is None else min(question.until, question.since + self.patience(question))

    def patience(self, question):
        state = "idle" if question.state == "waiting" else question.state
        if state == "speaking" and not question.asks and self.says_handled is not False:
            state = "idle" if self.says_handled else "unsure"
        return self.deadlines[state]

    def cancel(self, id, now):
        return self.finish([each for each in self.questions if each.id == id], "stop", now)

    def closed(self):
        return self.finish(self.questions, "closed", 0)

    def next_deadline(self):
        next = min(map(self.deadline, self.questions), default=float("inf"))
        return None if next == float("inf") else next

    def sent(self):
        return [each for each in self.questions if each.sent_at is not None]

    def finish(self, questions, why, now):
        for question in questions:
            question.take(why, {}, now)
        return self.decide(now)

    def note_end(self, question):
        """Whether a question that has ended was ended by the hub shows later, or with the next question."""
        has_spoken = question.ending == "spoken" or (question.ending == "timeout" and question.words)
        if has_spoken and not question.was_completed:
            self.unhandled[question.session] = question

    def go_on(self, question):
        """A question that is the answer to what the hub has asked: the hub goes on under the earlier id."""
        earlier = self.unhandled.get(question.session)
        if earlier is not None and earlier.asks and earlier.heard_as is not None:
            question.continues = self.unhandled.pop(question.session).heard_as

    def decide(self, now):
        for question in self.questions:
            if question.ending is not None:
                self.note_end(question)
        decisions = [
            {
                "do": "finish",
                "requestId": each.id,
                "ending": each.ending,
                "text": " ".join(each.words),
                "wasSent": each.sent_at is not None,
            }
            for each in self.questions
            if each.ending is not None
        ]
        self.questions = [each for each in self.questions if each.ending is None]
        busy = set()
        for each in self.questions:
            if each.sent_at is None and each.session not in busy:
                each.sent_at = each.since = now
                self.go_on(each)
                decisions.append({"do": "send", "requestId": each.id, "envelope": each.envelope})
            busy.add(each.session)
        return decisions

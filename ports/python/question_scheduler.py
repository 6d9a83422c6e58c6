"""The questions in flight on one connection, one in each session: docs/reference/requests.md, "Schedule".

Of a reply it keeps the words only, and a refusal without a request id ends no question.
"""

import json

from hub_protocol import Refused

DEADLINES = {"speaking": 250, "unmatched": 5000, "completed": 5000, "waiting": 12000}
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
    def __init__(self, id, session, envelope):
        self.id, self.session, self.envelope = id, session, envelope
        self.state, self.ending, self.words = "waiting", None, []
        self.sent_at = self.since = None

    def owns(self, id, session):
        if id is not None:
            return id == self.id
        return session is not None and (session == self.session or session.endswith(f":{self.session}"))

    def take(self, what, data, now):
        next_state = TABLE[what][STATES.index(self.state)]
        if what == "speech":
            text = " ".join(str(data.get("utterance", data.get("text", ""))).split())
            if text and text not in self.words[-1:]:
                self.words.append(text)
        if next_state not in STATES:
            self.ending = next_state
        elif next_state != self.state or next_state == "speaking":
            self.state, self.since = next_state, now

    @property
    def deadline(self):
        return min(self.sent_at + DEADLINES["waiting"], self.since + DEADLINES[self.state])


class Scheduler:
    def __init__(self, session_id):
        self.session_id, self.questions = session_id, []

    def request(self, envelope, now):
        event = read_event(envelope)
        if event is None or event[2] is None or any(each.id == event[2] for each in self.questions):
            raise Refused("bad-argument")
        self.questions.append(Question(event[2], event[3] or self.session_id, envelope))
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
            return [{"do": "handle", "message": {"type": type, "requestId": id}}]
        owners[0].take(MEANINGS[type], data, now)
        return self.decide(now)

    def expire(self, now):
        return self.finish([each for each in self.sent() if each.deadline <= now], "timeout", now)

    def cancel(self, id, now):
        return self.finish([each for each in self.questions if each.id == id], "timeout", now)

    def closed(self):
        return self.finish(self.questions, "closed", 0)

    def next_deadline(self):
        return min((each.deadline for each in self.sent()), default=None)

    def sent(self):
        return [each for each in self.questions if each.sent_at is not None]

    def finish(self, questions, why, now):
        for question in questions:
            question.take(why, {}, now)
        return self.decide(now)

    def decide(self, now):
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
                decisions.append({"do": "send", "requestId": each.id, "envelope": each.envelope})
            busy.add(each.session)
        return decisions

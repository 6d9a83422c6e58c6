"""Tests of the request scheduler with what real assistants have sent, at the times at which they sent it.

recordings.json holds the messages. What follows from them, the scheduler of the Python port says.
"""

import json
from pathlib import Path

import adapter
import files
from files import group
from reply import envelope

RECORDINGS = json.loads((Path(__file__).parent / "recordings.json").read_text(encoding="ascii"))
DEADLINES = {"idle": 60000, "unsure": 5000, "speaking": 250, "unmatched": 5000, "completed": 5000}
SESSION = "kiosk-session"  # which the client has declared for its connection

NOTES = {
    "Cancel": (
        "A cancelled request ends with what has come, and so does one whose time is up. What its skill still says is no part of the "
        "next reply. A failure most likely leaves its session occupied."
    ),
    "Handled": (
        "A hub that says `ovos.utterance.handled` ends its replies with it, however long it pauses; one that omits it ends "
        "them by 250 ms of silence, and one that is not known yet by 5 seconds. A failure most likely cuts off what a real "
        "assistant says after a pause."
    ),
    "Turn": (
        "A hub that waits for an answer of the person has ended its reply, and goes on under the earlier request id with the "
        "next request in the session. A failure most likely waits for the end of a reply that comes only after the answer."
    ),
}


def step_of(event):
    if "type" not in event:
        return event
    message = {name: event[name] for name in ("type", "data", "context")}
    if event["from"] == "hub":
        return {"at": event["at"], "do": "receive", "message": envelope(message)}
    if event["type"] != "recognizer_loop:utterance":
        return {"at": event["at"], "do": "note-sent"}
    return {"at": event["at"], "do": "request", "envelope": {"msg_type": "bus", "payload": message}}


def replay(name, flag, *further, **options):
    """`further`: what the client does in between."""
    options = {"deadlines": DEADLINES, **options}
    events = sorted([*RECORDINGS["runs"][name], *further], key=lambda event: (event["at"], "type" in event))
    steps = [step_of(event) for event in events]
    return files.valid(name, [flag], options=options, steps=steps, results=adapter.schedule(options, steps))


def tests():
    return [
        replay("a greeting", "Handled", sessionId=SESSION),
        replay("a story that waits until each sentence was shown", "Handled", sessionId=SESSION),
        replay("thought, after speech", "Handled", saysHandled=True),
        replay("a fallback that thinks, from OpenVoiceOS 2", "Handled"),
        replay("no speech", "Handled", saysHandled=True),
        replay("stop, with nothing to stop", "Handled", saysHandled=True),
        replay("no match", "Handled"),
        replay("no match, from OpenVoiceOS 2", "Handled"),
        replay("a question at the end", "Turn"),
        replay("a question and its answer", "Turn", {"at": 2073, "do": "expire"}),
        replay("a question and its answer, from OpenVoiceOS 2", "Turn", {"at": 664, "do": "expire"}),
        replay("stop, which is no question", "Cancel", {"at": 663, "do": "cancel", "requestId": "r-3"}, sessionId=SESSION),
        replay("another question, while the hub speaks", "Cancel", {"at": 163, "do": "cancel", "requestId": "r-4"}, sessionId=SESSION),
    ]


def groups():
    return [group("RequestScheduler", [RECORDINGS["source"], "ports/python"], tests())]

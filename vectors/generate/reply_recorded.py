"""Tests of the request scheduler with what real assistants have sent, at the times at which they sent it.

recordings.json holds the messages. What must follow from them is given here, by hand, for each moment at which something does: any
other message belongs to no reply, and is passed on.
"""

import json
from pathlib import Path

from files import group
from reply_scheduler import Script, finish, handle, part, send

RECORDINGS = json.loads((Path(__file__).parent / "recordings.json").read_text(encoding="ascii"))
UTTERANCE = "recognizer_loop:utterance"
PATIENCE = {None: 5000, True: 60000, False: 250}  # after speech, by whether the hub says that it is done


def replay(name, flag, moments, says=None, expires=(), cancels=()):
    """`moments`: the decisions about the message at that time; `expires` and `cancels`: what the client does in between."""
    script = Script(name, flag, saysHandled=says)
    steps = [(event["at"], index, event) for index, event in enumerate(RECORDINGS["runs"][name])]
    steps += [(at, -1, {"do": "expire"}) for at in expires] + [(at, -1, {"do": "cancel", "id": id}) for at, id in cancels]
    limit, has_spoken, moments = None, False, dict(moments)

    def due(at):
        return None if limit is None else limit - at

    for at, _, event in sorted(steps, key=lambda step: step[:2]):
        if "type" in event and event["from"] == "client":
            message = {name: event[name] for name in ("type", "data", "context")}
            if event["type"] == UTTERANCE:
                limit, has_spoken, id = at + 60000, False, event["context"]["request_id"]
                script.step(at, "request", [send(id)], due(at), envelope={"msg_type": "bus", "payload": message})
            else:
                script.note_sent(at, due(at))
            continue
        decisions = moments.pop((at, event["type"]), None) if "type" in event else moments.pop(at)
        if decisions == ["unmatched"]:
            limit, decisions = at + 5000, []
        for decision in decisions or []:
            if decision["do"] == "part":
                limit, has_spoken = at + (250 if decision["expectsAnswer"] else PATIENCE[script.says]), True
            elif decision["do"] == "finish":
                limit = None
                if decision["ending"] == "handled" and has_spoken:
                    script.says = True
        if "do" in event:
            fields = {"requestId": event["id"]} if "id" in event else {}
            script.step(at, event["do"], decisions, due(at), **fields)
            continue
        message = {name: event[name] for name in ("type", "data", "context")}
        if decisions is None:
            decisions = [handle(event["type"], event["context"]["request_id"])]
        script.hear(at, message, *decisions, deadline=due(at))
    assert not moments, moments
    return script.test()


SPEAK, OLD_SPEAK, HANDLED = "ovos.utterance.speak", "speak", "ovos.utterance.handled"
STORY = ["Once upon a time.", "There was a hub.", "The end."]


def story(id, times, speak, end):
    parts = {(at, speak): [part(id, text)] for at, text in zip(times, STORY)}
    return {**parts, (end, HANDLED): [finish(id, "handled", " ".join(STORY))]}


def tests():
    name, hello = "What is your name?", "Hello, Ada."
    counted = {(199, SPEAK): [part("r-7", "1")], (1213, SPEAK): [part("r-7", "2")], (2244, SPEAK): [part("r-7", "3")]}
    return [
        replay("story", "Handled", story("r-2", [112, 680, 1265], SPEAK, 1871)),
        replay("a story, from OpenVoiceOS 2", "Handled", story("r-2", [171, 804, 1371], OLD_SPEAK, 2010)),
        replay("thought", "Handled", {
            (14061, SPEAK): [part("r-11", "Forty-two.")],
            (14105, HANDLED): [finish("r-11", "handled", "Forty-two.")],
        }),
        replay("thought, after speech", "Handled", {
            (58, SPEAK): [part("r-12", "Let me think.")],
            (14058, SPEAK): [part("r-12", "Forty-two.")],
            (14103, HANDLED): [finish("r-12", "handled", "Let me think. Forty-two.")],
        }, says=True),
        replay("a fallback that thinks, from OpenVoiceOS 2", "Handled", {
            (14473, OLD_SPEAK): [part("r-6", "Who knows?")],
            (14514, HANDLED): [finish("r-6", "handled", "Who knows?")],
        }),
        replay("speech whose end the client does not report", "Handled", story("r-5", [75, 15093, 30096], SPEAK, 45130), says=True),
        replay("no speech", "Handled", {(63, HANDLED): [finish("r-4", "handled")]}, says=True),
        replay("stop, with nothing to stop", "Handled", {(217, HANDLED): [finish("r-6", "handled")]}, says=True),
        replay("no match", "Handled", {
            (12, "ovos.intent.unmatched"): ["unmatched"],
            (14, HANDLED): [finish("r-3", "unanswered")],
        }),
        replay("no match, from OpenVoiceOS 2", "Handled", {
            (1065, "complete_intent_failure"): ["unmatched"],
            (1066, HANDLED): [finish("r-3", "unanswered")],
        }),
        replay("a question at the end", "Turn", {
            (110, SPEAK): [part("r-3", "Do you want to hear a story?", True)],
            (163, HANDLED): [finish("r-3", "handled", "Do you want to hear a story?")],
        }),
        replay("a question and its answer", "Turn", {
            (1823, SPEAK): [part("r-1", name, True)],
            2073: [finish("r-1", "spoken", name)],
            (3737, SPEAK): [part("r-2", hello)],
            (3738, HANDLED): [finish("r-2", "handled", hello)],
        }, expires=[2073]),
        replay("a question and its answer, from OpenVoiceOS 2", "Turn", {
            (414, OLD_SPEAK): [part("r-1", name, True)],
            664: [finish("r-1", "spoken", name)],
            (2258, OLD_SPEAK): [part("r-2", hello)],
            (2259, HANDLED): [finish("r-2", "handled", hello)],
        }, expires=[664]),
        replay("stop, while the hub speaks", "Cancel", {
            **counted,
            2446: [finish("r-7", "timeout", "1 2 3")],
            (2911, HANDLED): [finish("r-8", "handled")],
        }, says=True, cancels=[(2446, "r-7")]),
    ]


def groups():
    return [group("RequestScheduler", [RECORDINGS["source"]], tests())]

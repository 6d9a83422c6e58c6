"""Scripted lives of a connection policy: events and times in, decisions out. The Python port decides; nothing here is a standard."""

import files
from connection_policy import ConnectionPolicy

RULES = "ports/python, for rules that the specification leaves open"

NOTES = {
    "Ask": (
        "Where dialling again is unlikely to help, a person is asked. But anybody who can write to a connection can bring that "
        "about, so the client dials on, after pauses of at least half the longest one. An implementation that fails most likely "
        "repeats as often as ever what fails, or never dials again."
    ),
    "Deadline": (
        "Each state that waits for the hub has a deadline, which begins with the state and not with a message in it, and so has "
        "`ready`: `maxAge`. An implementation that fails most likely waits for ever for a silent hub, or interrupts the derivation of "
        "the PSK."
    ),
    "Jitter": (
        "The pause is random over its whole length: limit * draw / 2^24, rounded down, where a draw is three bytes, big-endian. An "
        "implementation that fails most likely adds a little randomness to a fixed pause."
    ),
    "KkFailure": (
        "What happens to the pin if a KKpsk0 fails and the hub has another key is an option. An implementation that fails most "
        "likely ignores it."
    ),
    "LostSession": (
        "Cleartext on an encrypted session comes from a hub that has restarted, or from anybody who can write to the connection. "
        "An implementation that fails most likely bothers people about restarts."
    ),
    "OldTimer": (
        "A timer of an older decision does nothing. An implementation that fails most likely has two connections at once, "
        "or shortens its pauses."
    ),
    "Password": (
        "Anybody can make one connection look as if the PSK differed. The second time within an hour a person is asked, "
        "and the pause is at least five times `maxPause`, whatever has happened in between: each such connection may have tested a "
        "password. An implementation that fails most likely lets an attacker test passwords as fast as it dials."
    ),
    "Starting": (
        "If the hub cannot be reached when a client starts, it may be starting, too: for a minute the pauses stay short. An "
        "implementation that fails most likely keeps a person waiting at each start, or dials once a second for ever."
    ),
    "Steady": (
        "The pauses begin anew only after a connection that was ready for a while. An implementation that fails most likely "
        "starts anew at `ready`, and dials some thousand times an hour at a hub that closes after that."
    ),
}


def ended(error, reason="dropped", retry="now", **pattern):
    return {"type": "ended", "reason": reason, "retry": retry, "error": error, **pattern}


UNREACHED = ended("not-reachable", retry="later")
LOSS, LOSS_LATER = ended("dropped"), ended("dropped", pattern="XXpsk2")
LOSS_OF_KK = ended("dropped", pattern="KKpsk0")
PASSWORD = ended("psk-differs", "refused", "later", pattern="XXpsk2")
OTHER_KEY = ended("hub-key-changed", "refused", "never", pattern="XXpsk2")
REFUSED_KK = ended("kk-refused", "refused", pattern="KKpsk0")
REFUSED_CLIENT = ended("client-key-refused", "client-key-refused", "later", pattern="XXpsk2")
TEXT = ended("text-after-ready", pattern="XXpsk2")
READY, MESSAGE, DROPPED = ({"type": type} for type in ("ready", "message", "dropped"))
HALF = "800000"
TIMES = {
    "basePause": 2000,
    "maxPause": 60000,
    "steadyAfter": 30000,
    "maxAge": 86400000,
    "deadlines": {state: 30000 for state in ("awaiting-hello", "awaiting-offer", "awaiting-message-2")},
}


class Life:
    """What a client tells its policy, step by step, and what the policy of the port answers."""

    def __init__(self, comment, flag, **options):
        self.comment, self.flag, self.options = comment, flag, {**TIMES, **options}
        self.random, self.steps, self.results = [], [], []
        self.next_draw, self.due = HALF, 0  # when the latest decision is due
        self.policy = ConnectionPolicy(self.draw, **self.options)

    def draw(self):
        self.random.append(self.next_draw)
        return bytes.fromhex(self.next_draw)

    def step(self, at, do, result, **fields):
        self.steps.append({"at": at, "do": do, **fields})
        self.results.append(result)
        return self

    def begin(self, at=None):
        at = self.due if at is None else at
        return self.step(at, "begin", {"options": self.policy.begin(at)})

    def take(self, at, event, draw=HALF):
        self.next_draw = draw
        decision = self.policy.take(event, at)
        if decision is not None:
            self.due = at + decision.get("after", 0)
        return self.step(at, "take", {"decision": decision}, event=event)

    def fails(self, event, draw=HALF):
        """A connection that is begun when it is due, and ends a second later."""
        at = self.due
        return self.begin(at).take(at + 1000, event, draw)

    def drops(self, event, after=1000):
        """A connection that is ready at once, and ends some time later."""
        at = self.due
        return self.begin(at).take(at, READY).take(at + after, event)

    def waits(self, *times):
        for at, state in times:
            self.step(at, "deadline", {"deadline": self.policy.deadline(state, at)}, state=state)
        return self

    def goodbye(self, at):
        return self.step(at, "goodbye", self.policy.goodbye() or {})

    def resume(self, at):
        self.due = at
        return self.step(at, "resume", self.policy.resume() or {})

    def test(self):
        fields = {"options": self.options, "random": self.random, "steps": self.steps, "results": self.results}
        return files.valid(self.comment, [self.flag], **fields)


def lives():
    def waits(comment):
        return Life(comment, "Deadline").begin(1000)

    def timer(comment):
        return Life(comment, "OldTimer", basePause=60000)

    def cut_short(comment):
        """A pause up to 31 s was cut short, and the next one ends at 48 s."""
        return timer(comment).fails(LOSS).resume(2000).begin(2000).take(3000, LOSS, "c00000")

    def refused_once(comment):
        return Life(comment, "Ask").drops(REFUSED_CLIENT)

    anew = Life("the minute begins anew after another end", "Starting").begin(0).take(0, UNREACHED)
    anew.begin(50000).take(50000, LOSS).begin(51000).take(70000, UNREACHED).begin(71000)
    refused = refused_once("with a KKpsk0 in between, which the hub refuses as well")
    heard = refused_once("not if the hub was heard in between").begin().take(2000, READY).take(2001, MESSAGE)
    unheard = refused_once("not if a message was heard that had to be dropped").begin().take(2000, READY).take(2001, DROPPED)
    states = [(5000, "awaiting-hello"), (6000, "awaiting-offer"), (7000, "awaiting-message-2")]
    steady = Life("ready for as long as the caller says", "Steady", steadyAfter=500).fails(LOSS).fails(LOSS)
    goodbye = timer("the timer of a pause that a goodbye cut short").fails(LOSS).goodbye(2000).resume(2500).begin(2500)
    uncut = timer("a goodbye without a pause cuts nothing short").begin(0).goodbye(1).take(2, LOSS).resume(3).begin(3)
    password = Life("again within an hour, whatever a person has done", "Password").fails(PASSWORD).resume(10000)
    asked = Life("the pauses after a question are as long as any", "Ask").fails(OTHER_KEY, "000000").fails(LOSS)
    long = Life("the pauses after a refusal are longer, and not those after a loss", "Ask", basePause=400000, maxPause=60000)
    goes_back = waits("a clock that goes back lengthens nothing").waits((500, "awaiting-hello"), (600, "awaiting-hello"))
    return [
        anew.take(120000, UNREACHED).begin(121000).take(130000, UNREACHED),
        Life("the second byte", "Jitter", basePause=600000, maxPause=600000).fails(LOSS, "000100"),
        Life("the third byte", "Jitter", basePause=86400000, maxPause=86400000).fails(LOSS, "000001"),
        steady.drops(LOSS_LATER, 500),
        refused.fails(REFUSED_KK).begin().take(20000, READY).take(21000, REFUSED_CLIENT),
        asked,
        long.fails(ended("access-refused", "refused", "later")).fails(ended("negotiation-refused", "refused", "later")).fails(LOSS),
        Life("a refusal after the handshake", "Ask", basePause=400000).drops(ended("refused", "refused", "later")),
        Life("though a connection was ready in between", "Password").fails(PASSWORD).drops(LOSS_LATER, 40000).fails(PASSWORD),
        Life("not after an hour", "Password").fails(PASSWORD).drops(LOSS_LATER, 3600000).fails(PASSWORD),
        password.fails(PASSWORD).fails(PASSWORD, "000000"),
        Life("XXpsk2 alone goes on", "Password").fails(LOSS_OF_KK).fails(PASSWORD).fails(PASSWORD).begin(),
        Life("the pin is kept where that is asked for", "KkFailure", onKkFailure="keep-pin").fails(REFUSED_KK).begin(),
        Life("twice, and nobody is asked", "LostSession").drops(TEXT).drops(TEXT),
        heard.take(3000, REFUSED_CLIENT).drops(REFUSED_CLIENT).drops(REFUSED_CLIENT),
        unheard.take(3000, REFUSED_CLIENT),
        goes_back,
        waits("it is never less than 0").waits((31000, "awaiting-hello"), (99000, "awaiting-hello")),
        waits("it begins anew with each state").waits(*states),
        waits("the age of a connection").waits((5000, "ready"), (86000000, "ready"), (86405000, "ready")),
        waits("but not with a second HELLO").waits(*((at, "awaiting-offer") for at in (5000, 20000, 34999))),
        waits("a session that is over does not restart that of the present one").waits((5000, "closed"), (6000, "awaiting-hello")),
        cut_short("a timer that is a second early").begin(47000),
        cut_short("the timer of a pause that was cut short").begin(31000).begin(48000),
        goodbye.take(3000, LOSS, "c00000").begin(31000).begin(48000),
        uncut.take(1000, LOSS).begin(2000),
    ]


def build():
    groups = [files.group("ConnectionPolicy", [RULES], [life.test() for life in lives()])]
    description = "When a client dials, how long it waits for the hub, and when it asks a person."
    files.write("policy", description, NOTES, groups, ["ConnectionPolicy"])

"""Tests of the connection policy: events and times in, decisions out. The rules are the rows of tables.py, and these:

- A pause is random, from 0 to below its limit: limit * draw / 2^24, rounded down. A draw is 3 random bytes, big-endian.
- The limit is 2 s at first, doubles with every pause up to 10 minutes, and is 2 s again after half a minute of being ready.
- If the hub cannot be reached at the start or after `resume`, several times in a row, the limit is 2 s for a minute, and is not doubled.
- A state of the session that waits for the hub has 30 s, from when it began; the first one begins with the dial.
- Once a pause was cut short, its timer may still fire. Then one that is more than a second early counts as that one.
"""

import files
import tables

RULES = "rules that the specification leaves open, by hand"

NOTES = {
    "Ask": (
        "Where dialling again cannot help, a person is asked, and nobody dials until that person has acted. Only what may go "
        "away without the client, such as a clock that is wrong, is tried again after a pause, which `after` tells. An "
        "implementation that fails most likely repeats for ever what can only fail, or waits for a person that nobody needs."
    ),
    "AtOnce": (
        "After a KKpsk0 that the hub refused or met with silence, one XXpsk2 follows at once, and XXpsk2 alone is used until "
        "a connection is ready; after one that was lost, which may be a refusal by an older hub, it follows after a pause. An implementation that fails most likely repeats the KKpsk0 for ever, which is all that "
        "tells over MQTT of a new key or a new password."
    ),
    "Backoff": (
        "The pauses double, whatever `retry` says and whatever ended the connections. An implementation that fails most "
        "likely dials at once when `retry` is `now`, some thousand times an hour."
    ),
    "Deadline": (
        "Each state that waits for the hub has a deadline, which begins with the state and not with a message in it. An "
        "implementation that fails most likely waits for ever for a silent hub, or interrupts the derivation of the PSK."
    ),
    "Goodbye": (
        "After a goodbye nothing happens until the client resumes. An implementation that fails most likely connects again "
        "after its own goodbye, or asks a person about it."
    ),
    "Jitter": (
        "The pause is random over its whole length. An implementation that fails most likely adds a little randomness to a "
        "fixed pause, so that all clients of a hub come back together."
    ),
    "KkFailure": (
        "What happens to the pin if a KKpsk0 fails and the hub has another key is an option: replaced as in the specification, or "
        "kept, so that a person decides. An implementation that fails most likely ignores the option."
    ),
    "LostSession": (
        "Cleartext on an encrypted session is harmless once, since a hub may have restarted. If the next connection that is ready "
        "ends like that too, with nothing heard from the hub, a person is asked. An implementation that fails most likely lets a third party keep "
        "it busy, or bothers people about restarts."
    ),
    "OldTimer": (
        "A timer of an older decision does nothing. An implementation that fails most likely has two connections at once, "
        "or shortens its pauses."
    ),
    "OneConnection": (
        "While there is a connection, nobody dials. An implementation that fails most likely has two connections at once, of "
        "which the hub closes one, in turns for ever."
    ),
    "Options": (
        "The times are options, in milliseconds, greater than 0 and at most a day; deadlines, of the states in which a client "
        "waits for the hub. An implementation that fails most likely reads them as seconds, or does not check them."
    ),
    "Password": (
        "A PSK that differs is derived again, since anybody can make one connection look like that. The second time with a "
        "PSK that was derived for the connection, a person is asked. An implementation that fails most likely derives for "
        "ever, or asks about each bad connection."
    ),
    "Starting": (
        "If the hub cannot be reached when a client starts, it may be starting, too: for a minute the pauses stay short. They do "
        "not once a connection was ready, or all clients of a hub would come back together. An implementation that fails most "
        "likely keeps a person waiting at each start, or dials once a second for ever."
    ),
    "Steady": (
        "The pauses begin anew only after a connection that was ready for a while. An implementation that fails most likely "
        "starts anew at `ready`, and dials some thousand times an hour at a hub that closes after that."
    ),
    "Resume": (
        "When a person has acted, the next dial is due at once, and the pauses begin anew. An implementation that fails most "
        "likely stays silent for ever, or goes on with pauses of minutes."
    ),
}

# Events


def ended(row, pattern=None):
    fields = {name: row[name] for name in ("reason", "retry", "error")}
    return {"type": "ended", **fields, **({"pattern": pattern} if pattern else {})}


def ending(close, state, pattern=None, heard=False, is_fresh=False):
    """The end of a session that had not failed, in a state."""
    return ended(tables.ending("client", close, state, pattern, heard, is_fresh), pattern)


def failing(error, pattern=None, is_established=False):
    """The end of a session that had failed because of an error."""
    return ended({**tables.failure("client", error, is_established), "error": error}, pattern)


UNREACHED = ending("not-reachable", "awaiting-hello")
NOT_A_HUB = ending("not-a-hub", "awaiting-hello")
BROKER = ending("broker-refused", "awaiting-hello")
CERTIFICATE = ending("certificate-refused", "awaiting-hello")
OLD_HUB = failing("protocol-version")
LOSS = ending("loss", "awaiting-hello")
LOSS_LATER = ending("loss", "ready", "XXpsk2")
SILENCE = ending("timeout", "awaiting-hello")
SILENT_OFFER = ending("timeout", "awaiting-offer")
FULL = ending("unavailable", "awaiting-hello")
UNAUTHORIZED = ending("unauthorized", "awaiting-hello")
REFUSED_KEY = ending("refusal", "awaiting-offer")
REFUSED_XX = ending("refusal", "awaiting-message-2", "XXpsk2")
SILENT_XX = ending("timeout", "awaiting-message-2", "XXpsk2")
PASSWORD = failing("psk-differs", "XXpsk2")
REFUSED_KK = ending("refusal", "awaiting-message-2", "KKpsk0")
FAILED_KK = failing("kk-failed", "KKpsk0")
SPOILT_KK = failing("bad-hex", "KKpsk0")
SILENT_KK = ending("timeout", "awaiting-message-2", "KKpsk0")
LOST_KK = ending("loss", "awaiting-message-2", "KKpsk0")
EARLY_KK = ending("refusal", "awaiting-psk", "KKpsk0")
REVOKED = ending("refusal", "ready", "KKpsk0")
REFUSED_CLIENT = ending("refusal", "ready", "XXpsk2", is_fresh=True)
REFUSED_KNOWN_CLIENT = ending("refusal", "ready", "XXpsk2")
TEXT = failing("text-after-ready", "XXpsk2", is_established=True)
TEXT_KK = failing("text-after-ready", "KKpsk0", is_established=True)
OWN_FAULT = {"type": "ended", "reason": "dropped", "retry": "later", "error": "crypto-failed", "pattern": "XXpsk2"}
NEVER = {error: failing(error) for error in ("hub-key-changed", "unknown-hub")}
READY = {"type": "ready"}
PSK_NEEDED = {"type": "psk-needed"}
MESSAGE = {"type": "message"}

# Decisions

REST = {"do": "rest"}
AT_ONCE = {"do": "dial", "after": 0}
HALF = "800000"


def ask(event):
    return {"do": "ask", "error": event["error"]}


def asks_on(event, limit, draw=HALF):
    """A person is asked, and the client dials all the same. The decision, and what it draws."""
    decision, draw = pause(limit, draw)
    return {**ask(event), "after": decision["after"]}, draw


def pause(limit, draw=HALF):
    """The decision, and what it draws."""
    return {"do": "dial", "after": limit * int(draw, 16) >> 24}, draw


class Script:
    """What a client tells its policy, step by step, and what the policy answers."""

    def __init__(self, comment, flag, **options):
        self.comment, self.flag, self.options = comment, flag, options
        self.random, self.steps, self.results = [], [], []
        self.due = 0  # when the latest decision is due

    def step(self, at, do, result, **fields):
        self.steps.append({"at": at, "do": do, **fields})
        self.results.append(result)
        return self

    def begin(self, at=None, xx=False):
        options = {"patterns": ["XXpsk2"]} if xx else {}
        at = self.due if at is None else at
        return self.step(at, "begin", {"options": {**options, "onKkFailure": self.options.get("onKkFailure", "replace-pin")}})

    def no_begin(self, at):
        return self.step(at, "begin", {"options": None})

    def take(self, at, event, decision=None):
        if isinstance(decision, tuple):
            decision, draw = decision
            self.random.append(draw)
        if decision is not None:
            self.due = at + decision.get("after", 0)
        return self.step(at, "take", {"decision": decision}, event=event)

    def fails(self, event, decision, xx=False):
        """A connection that is begun when it is due, and ends a second later."""
        at = self.due
        return self.begin(at, xx).take(at + 1000, event, decision)

    def drops(self, event, decision, after=1000):
        """A connection that is ready at once, and ends some time later."""
        at = self.due
        return self.begin(at).take(at, READY).take(at + after, event, decision)

    def differs(self, decision, derived=True):
        """A connection whose message 2 does not open, with a PSK that was derived for it or that was stored."""
        at = self.due
        script = self.begin(at)
        return (script.take(at, PSK_NEEDED) if derived else script).take(at + 1000, PASSWORD, decision)

    def deadline(self, at, state, wait):
        return self.step(at, "deadline", {"deadline": wait}, state=state)

    def goodbye(self, at):
        return self.step(at, "goodbye", {})

    def resume(self, at):
        self.due = at
        return self.step(at, "resume", {})

    def test(self):
        fields = {"options": self.options, "random": self.random, "steps": self.steps, "results": self.results}
        return files.valid(self.comment, [self.flag], **fields)


def backoff():
    doubling = Script("the limits of the pauses double, up to 10 minutes", "Backoff")
    for limit in [2000, 4000, 8000, 16000, 32000, 64000, 128000, 256000, 512000, 600000]:
        doubling.fails(LOSS, pause(limit))
    doubling.fails(LOSS, pause(600000, "ffffff"))
    mixed = Script("whatever ends the connections", "Backoff")
    endings = [LOSS, SILENCE, FULL, UNAUTHORIZED, REFUSED_KEY, REFUSED_XX, SILENT_OFFER, PASSWORD, SILENT_XX, OWN_FAULT]
    for event, limit in zip(endings, [2000, 4000, 8000, 16000, 32000, 64000, 128000, 256000, 512000, 600000]):
        mixed.fails(event, pause(limit))
    kinds = {
        "no hub there": NOT_A_HUB,
        "a refusal by the broker": BROKER,
        "a lost connection, where `retry` is `now`": LOSS,
        "silence of the hub": SILENCE,
        "silence after the HELLO": SILENT_OFFER,
        "HTTP status 401 or 403": UNAUTHORIZED,
        "HTTP status 429 or 503, or `connection_limit`": FULL,
        "a refusal before message 1": REFUSED_KEY,
        "a refusal of message 1 of XXpsk2": REFUSED_XX,
        "silence after message 1 of XXpsk2": SILENT_XX,
        "another password": PASSWORD,
        "a fault of the client's own side": OWN_FAULT,
    }
    each = [
        Script(comment, "Backoff").fails(event, pause(2000)).fails(event, pause(4000)) for comment, event in kinds.items()
    ]
    return [doubling, mixed, *each]


def jitter():
    def draws(comment, draw, limit=2000, **options):
        return Script(comment, "Jitter", **options).fails(LOSS, pause(limit, draw))

    return [
        draws("the least", "000000"),
        draws("the most, which is below the limit", "ffffff"),
        draws("a quarter", "400000"),
        draws("the first byte is the highest", "010000"),
        draws("the second byte", "000100", 600000, basePause=600000),
        draws("the third byte", "000001", 86400000, basePause=86400000, maxPause=86400000),
        draws("rounded down", "aaaaaa", 1000, basePause=1000),
        Script("a short pause does not shorten the next", "Jitter")
        .fails(LOSS, pause(2000, "000000"))
        .fails(LOSS, pause(4000, "ffffff"))
        .fails(LOSS, pause(8000, "123456")),
    ]


def steady():
    def after(comment, time, limit, **options):
        script = Script(comment, "Steady", **options).fails(LOSS, pause(2000)).fails(LOSS, pause(4000))
        return script.drops(LOSS_LATER, pause(limit), time)

    return [
        after("ready for a moment", 1, 8000),
        after("ready for just under half a minute", 29999, 8000),
        after("ready for half a minute", 30000, 2000),
        after("ready for an hour", 3600000, 2000),
        after("ready for as long as the caller says", 500, 2000, steadyAfter=500),
        after("ready for a millisecond less", 499, 8000, steadyAfter=500),
        Script("a long handshake is no steady connection", "Steady")
        .fails(LOSS, pause(2000))
        .begin()
        .take(1000000, READY)
        .take(1000001, LOSS_LATER, pause(4000)),
        Script("a hub that closes after `ready`", "Steady")
        .drops(LOSS_LATER, pause(2000))
        .drops(LOSS_LATER, pause(4000))
        .drops(LOSS_LATER, pause(8000))
        .drops(LOSS_LATER, pause(16000)),
        Script("a message from the hub does not make a connection steady", "Steady")
        .fails(LOSS, pause(2000))
        .begin()
        .take(2000, READY)
        .take(2001, MESSAGE)
        .take(3000, LOSS_LATER, pause(4000)),
        Script("the connection after a steady one doubles again", "Steady")
        .drops(LOSS_LATER, pause(2000))
        .drops(LOSS_LATER, pause(2000), 30000)
        .drops(LOSS_LATER, pause(4000)),
    ]


def at_once():
    def falls_back(comment, event):
        script = Script(comment, "AtOnce").fails(event, AT_ONCE)
        return script.begin(xx=True)

    def stays(comment, event):
        return Script(comment, "AtOnce").fails(event, pause(2000)).begin()

    return [
        falls_back("refused with a close code", REFUSED_KK),
        falls_back("message 2 that does not open", FAILED_KK),
        falls_back("message 2 that cannot be read", SPOILT_KK),
        falls_back("met by silence", SILENT_KK),
        Script("a lost connection, as an older hub refuses: after a pause", "AtOnce").fails(LOST_KK, pause(2000)).begin(xx=True),
        stays("a fault of the client's own side", {**OWN_FAULT, "pattern": "KKpsk0"}),
        stays("a refusal before message 1 has nothing to do with the pattern", EARLY_KK),
        stays("silence before the pattern is chosen", SILENT_OFFER),
        stays("a refusal of XXpsk2", REFUSED_XX),
        stays("silence after message 1 of XXpsk2", SILENT_XX),
        Script("a KKpsk0 that was ready is none that failed", "AtOnce").drops(REVOKED, pause(2000)).begin(),
        Script("silence after a KKpsk0 that was ready", "AtOnce")
        .drops(ending("timeout", "ready", "KKpsk0"), pause(2000))
        .begin(),
        Script("XXpsk2 until something succeeds, after pauses", "AtOnce")
        .fails(SILENT_KK, AT_ONCE)
        .fails(SILENT_XX, pause(2000), xx=True)
        .fails(SILENCE, pause(4000), xx=True)
        .fails(LOSS, pause(8000), xx=True)
        .begin(xx=True)
        .take(20000, READY)
        .take(21000, LOSS_LATER, pause(16000))
        .begin(),
        Script("the XXpsk2 tells that the key is another", "AtOnce")
        .fails(REFUSED_KK, AT_ONCE)
        .fails(NEVER["hub-key-changed"], ask(NEVER["hub-key-changed"]), xx=True)
        .no_begin(3000),
        Script("the XXpsk2 tells that the password is another", "AtOnce")
        .fails(REFUSED_KK, AT_ONCE)
        .fails(PASSWORD, pause(2000), xx=True)
        .begin(xx=True),
        Script("it costs no pause, and starts none anew", "AtOnce")
        .fails(LOSS, pause(2000))
        .fails(LOSS, pause(4000))
        .fails(REFUSED_KK, AT_ONCE)
        .fails(SILENT_XX, pause(8000), xx=True),
        Script("each KKpsk0 that fails after a success has its own", "AtOnce")
        .fails(REFUSED_KK, AT_ONCE)
        .begin(xx=True)
        .take(2000, READY)
        .take(3000, LOSS_LATER, pause(2000))
        .fails(REFUSED_KK, AT_ONCE)
        .begin(xx=True),
    ]


def asking():
    asks = REFUSED_CLIENT, ask(REFUSED_CLIENT)

    def refused_key(comment, after=1000):
        return Script(comment, "Ask").drops(REFUSED_CLIENT, pause(2000), after)

    questions = NEVER
    each = [
        Script(f"`retry` is `never`: {error}", "Ask").fails(event, ask(event)).no_begin(3600000)
        for error, event in questions.items()
    ]
    return [
        *each,
        refused_key("a refusal of message 3, after `ready`, twice in a row").drops(*asks).no_begin(3600000),
        refused_key("each just before the connection is steady", 29999).drops(*asks, 29999),
        refused_key("with a KKpsk0 in between, which the hub refuses as well")
        .fails(REFUSED_KK, AT_ONCE)
        .begin(xx=True)
        .take(20000, READY)
        .take(21000, *asks),
        refused_key("with a connection in between that was not made").fails(LOSS, pause(4000)).drops(*asks),
        refused_key("not the second time, if that was steady: the hub says goodbye").drops(REFUSED_CLIENT, pause(2000), 30000),
        refused_key("not if the first was steady", 30000).drops(REFUSED_CLIENT, pause(4000)),
        refused_key("not with a connection in between that was lost").drops(LOSS_LATER, pause(4000)).drops(REFUSED_CLIENT, pause(8000)),
        refused_key("not if the hub was heard in between")
        .begin()
        .take(20000, READY)
        .take(20001, MESSAGE)
        .take(21000, LOSS_LATER, pause(4000))
        .drops(REFUSED_CLIENT, pause(8000)),
        refused_key("anew after a person has acted")
        .drops(*asks)
        .resume(90000)
        .drops(REFUSED_CLIENT, pause(2000))
        .drops(*asks),
        Script("never about a key that a hub has accepted", "Ask")
        .drops(REFUSED_KNOWN_CLIENT, pause(2000))
        .drops(REFUSED_KNOWN_CLIENT, pause(4000))
        .begin(),
        Script("after pauses", "Ask")
        .fails(LOSS, pause(2000))
        .fails(NEVER["unknown-hub"], ask(NEVER["unknown-hub"]))
        .no_begin(3600000),
        Script("a certificate that is refused: it may be renewed, or the clock set", "Ask")
        .fails(CERTIFICATE, asks_on(CERTIFICATE, 2000))
        .fails(CERTIFICATE, asks_on(CERTIFICATE, 4000))
        .fails(LOSS, pause(8000))
        .begin(),
        Script("a hub with an older protocol: it may be updated", "Ask")
        .fails(OLD_HUB, asks_on(OLD_HUB, 2000))
        .fails(OLD_HUB, asks_on(OLD_HUB, 4000))
        .begin()
        .take(20000, READY)
        .take(21000, LOSS_LATER, pause(8000)),
        Script("a person acts before the pause is over", "Ask")
        .fails(CERTIFICATE, asks_on(CERTIFICATE, 2000))
        .resume(1500)
        .begin()
        .take(1600, CERTIFICATE, asks_on(CERTIFICATE, 2000)),
        Script("a person gives up before the pause is over", "Ask")
        .fails(CERTIFICATE, asks_on(CERTIFICATE, 2000))
        .goodbye(1500)
        .no_begin(3600000),
    ]


def starting():
    minute = Script("the limits of the pauses double only after a minute", "Starting")
    for _ in range(30):
        minute.fails(UNREACHED, pause(2000))
    for limit in [2000, 4000, 8000]:
        minute.fails(UNREACHED, pause(limit))
    slow = Script("however long each attempt takes", "Starting")
    for after, limit in [(1000, 2000), (59999, 2000), (1, 2000), (1, 4000)]:
        at = slow.due
        slow.begin(at).take(at + after, UNREACHED, pause(limit, "000000"))
    exact = Script("to the millisecond", "Starting").begin(0).take(0, UNREACHED, pause(2000, "000000")).begin(0)
    exact.take(59999, UNREACHED, pause(2000, "000000")).begin(59999).take(60000, UNREACHED, pause(2000, "000000"))
    exact.begin(60000).take(60000, UNREACHED, pause(4000))
    again = Script("the minute begins anew after another end", "Starting").begin(0).take(0, UNREACHED, pause(2000))
    again.begin(50000).take(50000, LOSS, pause(2000)).begin(51000).take(70000, UNREACHED, pause(2000)).begin(71000)
    again.take(120000, UNREACHED, pause(2000)).begin(121000).take(130000, UNREACHED, pause(4000))
    resumed = Script("the minute begins anew after `resume`", "Starting").begin(0).take(0, UNREACHED, pause(2000))
    resumed.begin(59000).take(59000, UNREACHED, pause(2000)).resume(59500).begin(59500)
    resumed.take(61000, UNREACHED, pause(2000)).begin(62000).take(63000, UNREACHED, pause(2000))
    return [
        minute,
        slow,
        exact,
        again,
        resumed,
        Script("also after pauses that have grown", "Starting")
        .fails(LOSS, pause(2000))
        .fails(LOSS, pause(4000))
        .fails(UNREACHED, pause(2000))
        .fails(LOSS, pause(8000)),
        Script("with a first pause of the caller's", "Starting", basePause=9000)
        .fails(UNREACHED, pause(9000))
        .fails(UNREACHED, pause(9000)),
        Script("with a longest pause of the caller's", "Starting", maxPause=500)
        .fails(UNREACHED, pause(500))
        .fails(UNREACHED, pause(500)),
        Script("not once a connection was ready", "Starting")
        .fails(UNREACHED, pause(2000))
        .drops(LOSS_LATER, pause(2000), 60000)
        .fails(UNREACHED, pause(4000))
        .fails(UNREACHED, pause(8000)),
    ]


def passwords():
    def first(comment, derived=True):
        return Script(comment, "Password").differs(pause(2000), derived)

    return [
        first("twice, derived each time").differs(ask(PASSWORD)).no_begin(3600000),
        first("first with a stored PSK, then with one that was derived anew", False).differs(ask(PASSWORD)),
        first("twice with a stored PSK, which anybody can bring about", False).differs(pause(4000), False),
        first("derived, and then stored").differs(pause(4000), False),
        first("with a lost connection in between").fails(LOSS, pause(4000)).differs(ask(PASSWORD)),
        first("a connection that is lost after the derivation is no wrong password")
        .begin()
        .take(2000, PSK_NEEDED)
        .take(3000, LOSS, pause(4000)),
        first("not if a connection was ready in between").drops(LOSS_LATER, pause(4000)).differs(pause(8000)),
        first("anew after a person has acted")
        .differs(ask(PASSWORD))
        .resume(10000)
        .differs(pause(2000))
        .differs(ask(PASSWORD)),
    ]


def pins():
    def keeping(comment):
        return Script(comment, "KkFailure", onKkFailure="keep-pin").fails(REFUSED_KK, AT_ONCE)

    return [
        keeping("the pin is kept where that is asked for").begin(xx=True),
        Script("and replaced where that is asked for", "KkFailure", onKkFailure="replace-pin").begin(),
    ]


def lost_sessions():
    def twice(comment):
        return Script(comment, "LostSession").drops(TEXT, pause(2000))

    heard = twice("not if the hub was heard in between").begin().take(2000, READY).take(2001, MESSAGE)
    return [
        Script("once", "LostSession").drops(TEXT, pause(2000)).begin(),
        twice("twice").drops(TEXT, ask(TEXT)).no_begin(3600000),
        twice("twice, with another pattern").drops(TEXT_KK, ask(TEXT_KK)),
        twice("not with a connection in between that was lost").drops(LOSS_LATER, pause(4000)).drops(TEXT, pause(8000)),
        twice("with a lost connection in between").fails(LOSS, pause(4000)).drops(TEXT, ask(TEXT)),
        heard.take(3000, TEXT, pause(4000)).drops(TEXT, pause(8000)).drops(TEXT, ask(TEXT)),
        twice("not if a message was heard that had to be dropped")
        .begin()
        .take(2000, READY)
        .take(2001, {"type": "dropped"})
        .take(3000, TEXT, pause(4000)),
        twice("not after a steady connection, such as that of a device that hears nothing").drops(TEXT, pause(2000), 300000),
        twice("not after a steady connection that ended otherwise")
        .drops(LOSS_LATER, pause(2000), 300000)
        .drops(TEXT, pause(4000)),
        twice("anew after a person has acted")
        .drops(TEXT, ask(TEXT))
        .resume(10000)
        .drops(TEXT, pause(2000))
        .drops(TEXT, ask(TEXT)),
    ]


def deadlines():
    def waits(comment, **options):
        return Script(comment, "Deadline", **options).begin(1000)

    return [
        waits("the first one begins with the dial")
        .deadline(1000, "awaiting-hello", 30000)
        .deadline(1500, "awaiting-hello", 29500)
        .deadline(30999, "awaiting-hello", 1),
        waits("it is never less than 0").deadline(31000, "awaiting-hello", 0).deadline(99000, "awaiting-hello", 0),
        waits("it begins anew with each state")
        .deadline(5000, "awaiting-hello", 26000)
        .deadline(6000, "awaiting-offer", 30000)
        .deadline(7000, "awaiting-message-2", 30000),
        waits("but not with a second HELLO")
        .deadline(5000, "awaiting-offer", 30000)
        .deadline(20000, "awaiting-offer", 15000)
        .deadline(34999, "awaiting-offer", 1),
        waits("none while the client derives the PSK")
        .deadline(2000, "awaiting-offer", 30000)
        .deadline(3000, "awaiting-psk", None)
        .deadline(90000, "awaiting-psk", None)
        .deadline(100000, "awaiting-message-2", 30000),
        waits("none while the client computes a shared secret")
        .deadline(3000, "sealing-message-1", None)
        .deadline(4000, "awaiting-message-2", 30000)
        .deadline(5000, "opening-message-2", None)
        .deadline(6000, "sealing-message-3", None),
        waits("none when the session is ready or over")
        .deadline(3000, "ready", None)
        .deadline(4000, "failed", None)
        .deadline(5000, "closed", None),
        waits("a session that is over does not restart that of the present one")
        .deadline(5000, "closed", None)
        .deadline(6000, "awaiting-hello", 25000),
        Script("each connection has its own", "Deadline")
        .begin(0)
        .deadline(10000, "awaiting-hello", 20000)
        .take(10000, LOSS, pause(2000))
        .begin()
        .deadline(11000, "awaiting-hello", 30000),
        waits("of the caller's", deadlines={"awaiting-hello": 500, "awaiting-message-2": 60000})
        .deadline(1100, "awaiting-hello", 400)
        .deadline(1200, "awaiting-offer", 30000)
        .deadline(1300, "awaiting-message-2", 60000),
    ]


def timers():
    def cut_short(comment):
        """A pause up to 31 s was cut short, and the next one ends at 48 s."""
        script = Script(comment, "OldTimer", basePause=60000).fails(LOSS, pause(60000)).resume(2000).begin(2000)
        return script.take(3000, LOSS, pause(60000, "c00000"))

    return [
        Script("a second dial while one is under way", "OneConnection").begin(0).no_begin(1).no_begin(3600000),
        Script("a second dial while the connection is ready", "OneConnection").begin(0).take(1, READY).no_begin(2),
        Script("a second dial while the connection is being closed", "OneConnection").begin(0).goodbye(1).no_begin(2),
        Script("one that was not announced ends like any other", "OneConnection").take(0, LOSS, pause(2000)).begin(),
        Script("one that was not announced ends during a pause", "OneConnection")
        .fails(LOSS, pause(2000))
        .take(1500, LOSS, pause(4000))
        .begin(3500),
        Script("one that was not announced ends while a person is asked", "OneConnection")
        .fails(NEVER["unknown-hub"], ask(NEVER["unknown-hub"]))
        .take(5000, LOSS, ask(LOSS))
        .no_begin(3600000),
        Script("one that was not announced ends after a goodbye", "OneConnection").goodbye(0).take(5000, LOSS, REST).no_begin(9000),
        Script("a timer that is late", "OldTimer").fails(LOSS, pause(2000)).begin(9000000),
        Script("a timer that is early, where there is no other", "OldTimer", basePause=8000)
        .fails(LOSS, pause(8000))
        .begin(1000),
        cut_short("a timer that is a second early").begin(47000),
        cut_short("a timer that is earlier than that").no_begin(46999).begin(48000),
        cut_short("the timer of a pause that was cut short").no_begin(31000).begin(48000),
        Script("the timer of a pause that a goodbye cut short", "OldTimer", basePause=60000)
        .fails(LOSS, pause(60000))
        .goodbye(2000)
        .resume(2500)
        .begin(2500)
        .take(3000, LOSS, pause(60000, "c00000"))
        .no_begin(31000)
        .begin(48000),
        Script("the timer of a pause that an early dial cut short", "OldTimer", basePause=60000)
        .fails(LOSS, pause(60000))
        .begin(2000)
        .take(3000, LOSS, pause(120000, "600000"))
        .no_begin(31000)
        .begin(48000),
        Script("a resumption before the first dial cuts nothing short", "OldTimer", basePause=60000)
        .resume(0)
        .begin(0)
        .take(1000, LOSS, pause(60000))
        .begin(2000),
        Script("a goodbye without a pause cuts nothing short", "OldTimer", basePause=60000)
        .begin(0)
        .goodbye(1)
        .take(2, LOSS, REST)
        .resume(3)
        .begin(3)
        .take(1000, LOSS, pause(60000))
        .begin(2000),
        Script("a resumption after a question cuts nothing short", "OldTimer", basePause=60000)
        .fails(NEVER["unknown-hub"], ask(NEVER["unknown-hub"]))
        .resume(2000)
        .begin(2000)
        .take(3000, LOSS, pause(60000))
        .begin(4000),
        Script("a timer of the pause before, when the connection exists", "OldTimer")
        .fails(LOSS, pause(2000))
        .resume(1100)
        .begin(1100)
        .no_begin(2000),
        Script("a timer that fires while a person is asked", "OldTimer")
        .fails(LOSS, pause(2000))
        .fails(NEVER["unknown-hub"], ask(NEVER["unknown-hub"]))
        .no_begin(3000),
    ]


def goodbyes():
    return [
        Script("before the connection ends", "Goodbye").begin(0).take(1, READY).goodbye(2).take(3, LOSS_LATER, REST).no_begin(9000),
        Script("while the connection is set up", "Goodbye").begin(0).goodbye(2).take(3, LOSS, REST).no_begin(9000),
        Script("whatever the ending says", "Goodbye")
        .begin(0)
        .take(1, READY)
        .goodbye(2)
        .take(3, REFUSED_CLIENT, REST)
        .no_begin(9000),
        Script("a KKpsk0 that was given up", "Goodbye").begin(0).goodbye(2).take(3, REFUSED_KK, REST).no_begin(9000),
        Script("during a pause", "Goodbye").fails(LOSS, pause(2000)).goodbye(1500).no_begin(2000).no_begin(3600000),
        Script("while a person is asked", "Goodbye")
        .fails(NEVER["unknown-hub"], ask(NEVER["unknown-hub"]))
        .goodbye(5000)
        .no_begin(6000)
        .take(7000, LOSS, REST),
        Script("before the first dial", "Goodbye").goodbye(0).no_begin(1),
        Script("said twice", "Goodbye").begin(0).goodbye(1).goodbye(2).take(3, LOSS, REST).goodbye(4).no_begin(5),
        Script("ready after a goodbye", "Goodbye").begin(0).goodbye(1).take(2, READY).take(3, LOSS_LATER, REST).no_begin(9000),
        Script("ready after a goodbye that was taken back", "Goodbye")
        .begin(0)
        .goodbye(1)
        .resume(2)
        .take(3, READY)
        .no_begin(4)
        .take(5, LOSS_LATER, AT_ONCE)
        .begin(),
        Script("the deadline of the connection that is being closed", "Goodbye")
        .begin(0)
        .goodbye(1000)
        .deadline(2000, "awaiting-hello", 28000),
    ]


def resumptions():
    unknown = NEVER["unknown-hub"]
    return [
        Script("after a question", "Resume").fails(unknown, ask(unknown)).resume(60000).begin(),
        Script("after a question, the pauses begin anew", "Resume")
        .fails(LOSS, pause(2000))
        .fails(LOSS, pause(4000))
        .fails(unknown, ask(unknown))
        .resume(60000)
        .fails(LOSS, pause(2000)),
        Script("after a question, XXpsk2 is still due", "Resume")
        .fails(REFUSED_KK, AT_ONCE)
        .fails(NEVER["hub-key-changed"], ask(NEVER["hub-key-changed"]), xx=True)
        .resume(60000)
        .begin(xx=True),
        Script("during a pause, since the network is back", "Resume")
        .fails(LOSS, pause(2000))
        .fails(LOSS, pause(4000))
        .resume(3000)
        .begin(3000)
        .take(4000, LOSS, pause(2000)),
        Script("after a goodbye", "Resume").begin(0).goodbye(1).take(2, LOSS, REST).resume(60000).begin(),
        Script("after a goodbye before the first dial", "Resume").goodbye(0).resume(1).begin(),
        Script("before the old connection has ended: dial as soon as it has", "Resume")
        .begin(0)
        .take(1, READY)
        .goodbye(2)
        .resume(3)
        .no_begin(4)
        .take(5, REFUSED_CLIENT, AT_ONCE)
        .begin(),
        Script("before the old connection has ended: only the next dial is at once", "Resume")
        .begin(0)
        .goodbye(2)
        .resume(3)
        .take(5, LOSS, AT_ONCE)
        .fails(LOSS, pause(2000))
        .fails(LOSS, pause(4000)),
        Script("and a goodbye again", "Resume").begin(0).goodbye(1).resume(2).goodbye(3).take(4, LOSS, REST).no_begin(5),
        Script("with a connection, it changes nothing", "Resume")
        .fails(LOSS, pause(2000))
        .begin()
        .resume(2000)
        .no_begin(2000)
        .take(3000, LOSS, pause(4000)),
        Script("with a connection that is ready, it changes nothing", "Resume")
        .fails(LOSS, pause(2000))
        .begin()
        .take(2000, READY)
        .resume(2001)
        .no_begin(2002)
        .take(3000, LOSS_LATER, pause(4000)),
        Script("before the first dial, it changes nothing", "Resume").resume(0).begin().no_begin(1),
    ]


def options():
    def refused(comment, **options):
        return files.invalid(comment, ["Options"], "bad-argument", options=options, random=[], steps=[])

    day = 86400000
    accepted = [
        Script("pauses of the caller's", "Options", basePause=10, maxPause=25)
        .fails(LOSS, pause(10))
        .fails(LOSS, pause(20))
        .fails(LOSS, pause(25)),
        Script("a first pause that is longer than the longest", "Options", maxPause=1000).fails(LOSS, pause(1000)),
        Script("a day", "Options", basePause=day, maxPause=day).fails(LOSS, pause(day)).fails(LOSS, pause(day)),
        Script("pauses of no length", "Options", basePause=1, maxPause=1).fails(LOSS, pause(1)).fails(LOSS, pause(1)),
    ]
    return [script.test() for script in accepted] + [
        refused("a first pause of 0", basePause=0),
        refused("a negative longest pause", maxPause=-1),
        refused("more than a day", maxPause=day + 1),
        refused("text", steadyAfter="30000"),
        refused("another word for the pin", onKkFailure="drop"),
        refused("a deadline of 0", deadlines={"awaiting-hello": 0}),
        refused("a deadline of more than a day", deadlines={"awaiting-offer": day + 1}),
        refused("a deadline for a state that waits for the client", deadlines={"awaiting-psk": 30000}),
        refused("a deadline for a session that is ready", deadlines={"ready": 30000}),
    ]


def build():
    topics = [backoff, starting, jitter, steady, at_once, asking, passwords, pins, lost_sessions, deadlines, timers, goodbyes, resumptions]
    tests = [script.test() for topic in topics for script in topic()]
    groups = [files.group("ConnectionPolicy", [RULES], tests + options())]
    description = "When a client dials, how long it waits for the hub, and when it asks a person."
    files.write("policy", description, NOTES, groups, ["ConnectionPolicy"])

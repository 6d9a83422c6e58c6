"""When a client dials, how long it waits for its hub, and when it asks a person. Times are in milliseconds."""

from hub_protocol import Refused

DAY = 86_400_000
EARLY = 1000  # how early a timer may be
STARTING = 60_000  # how long the pauses do not grow at a start, if the hub cannot be reached
HOUR = 3_600_000  # how long a PSK that differed counts
REFUSALS = ("access-refused", "negotiation-refused", "refused")  # the longest pause is then so many times as long:
REFUSED = 10
ASKED = ("certificate-refused", "protocol-version")  # a person is asked at once
TIMES = {"basePause": 2000, "maxPause": 60_000, "steadyAfter": 30_000, "maxAge": DAY}
DEADLINES = {"awaiting-hello": 30_000, "awaiting-offer": 30_000, "awaiting-message-2": 30_000}
OTHER_STATES = ("awaiting-psk", "sealing-message-1", "opening-message-2", "sealing-message-3")


class ConnectionPolicy:
    def __init__(self, draw, deadlines=None, onKkFailure="replace-pin", **times):
        """`draw` returns 3 random bytes."""
        if onKkFailure not in ("replace-pin", "keep-pin"):
            raise Refused("bad-argument")
        self.draw, self.on_kk_failure = draw, onKkFailure
        self.differed_at = float("-inf")
        self.times = checked(TIMES, times)
        self.deadlines = {**checked(DEADLINES, deadlines or {}), "ready": self.times["maxAge"]}
        self.connected, self.ready_at, self.heard = False, None, False
        self.wanted, self.redials, self.xx_alone, self.doubt = True, False, False, None
        self.due, self.limit, self.unreached_since = float("-inf"), self.times["basePause"], None
        self.has_been_ready = False  # since the start, or since a resumption
        self.pausing, self.old_timer = False, False  # whether the timer of a pause that was cut short may be running
        self.session_state = (None, 0)

    def begin(self, now):
        """The options of the next session, or None if nobody may dial now."""
        is_early = now < self.due - EARLY
        if self.connected or not self.wanted or (is_early and self.old_timer):
            return None
        self.old_timer |= is_early
        self.connected, self.pausing = True, False
        self.session_state = ("awaiting-hello", now)
        return {**({"patterns": ["XXpsk2"]} if self.xx_alone else {}), "onKkFailure": self.on_kk_failure}

    def deadline(self, state, now):
        if state not in self.deadlines and state not in OTHER_STATES:
            return None
        if state != self.session_state[0] or now < self.session_state[1]:
            self.session_state = (state, now)
        return max(0, self.session_state[1] + self.deadlines[state] - now) if state in self.deadlines else None

    def take(self, event, now):
        match event["type"]:
            case "ready" if self.connected and self.ready_at is None and self.wanted and not self.redials:
                self.ready_at, self.xx_alone, self.has_been_ready = now, False, True
            case "message" | "dropped":
                self.heard = True
            case "ended":
                return self.decide(event, now)
        return None

    def decide(self, event, now):
        was_ready, trusted = self.ready_at is not None, self.heard
        steady = was_ready and now - self.ready_at >= self.times["steadyAfter"]
        if steady:
            self.limit, trusted = self.times["basePause"], True
        error = event["error"]
        again = error == "client-key-refused" and error == self.doubt and not trusted
        if error == "psk-differs":
            again, self.differed_at = now - self.differed_at < HOUR, now
        if was_ready:
            self.doubt = None if trusted else event["error"]
        self.connected, self.ready_at, self.heard = False, None, False
        unreached_since, self.unreached_since = self.unreached_since, None
        if event["error"] == "not-reachable" and not self.has_been_ready:
            self.unreached_since = now if unreached_since is None else unreached_since
        if not self.wanted:
            return {"do": "rest"}
        if self.redials:
            self.redials = False
            return self.dial(0, now)
        if event["retry"] == "never" or again or error in ASKED:
            is_final = event["retry"] == "never"
            self.xx_alone &= not is_final  # another key is trusted only after KKpsk0 was refused
            return {**self.pause(now, refused=again and not is_final, asks=True), "do": "ask", "error": error}
        failed = event["reason"] in ("refused", "timeout") and event["error"] != "access-refused"
        if event.get("pattern") == "KKpsk0" and failed and not was_ready:
            self.xx_alone = True
            return self.dial(0, now)
        if event.get("pattern") == "KKpsk0" and event["error"] == "dropped" and not was_ready:
            self.xx_alone = True  # older hubs refuse like this
        starting = self.unreached_since is not None and now - self.unreached_since < STARTING
        return self.pause(now, error in REFUSALS, starting)

    def pause(self, now, refused, starting=False, asks=False):
        longest = self.times["maxPause"] * (REFUSED if refused else 1)
        limit = longest if asks else min(self.times["basePause"] if starting else self.limit, longest)
        draw = int.from_bytes(self.draw(), "big")
        if not starting:
            self.limit = 2 * limit
        return self.dial(limit * ((1 << 24) + draw) >> 25 if asks else limit * draw >> 24, now)

    def dial(self, after, now):
        self.due, self.pausing = now + after, True
        return {"do": "dial", "after": after}

    def cut_short(self):
        self.old_timer, self.pausing = self.old_timer or self.pausing, False

    def goodbye(self):
        self.cut_short()
        self.wanted, self.redials = False, False

    def resume(self):
        if self.connected and self.wanted:
            return
        self.cut_short()
        self.redials = self.connected
        self.wanted, self.doubt = True, None
        self.has_been_ready = False
        self.due, self.limit, self.unreached_since = float("-inf"), self.times["basePause"], None


def checked(defaults, given):
    """The times, which are numbers greater than 0 and at most a day."""
    for name, time in given.items():
        if name not in defaults or not isinstance(time, (int, float)) or not 0 < time <= DAY:
            raise Refused("bad-argument")
    return {**defaults, **given}

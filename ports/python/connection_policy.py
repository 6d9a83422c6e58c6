"""When a client dials, how long it waits for its hub, and when it asks a person. Times are in milliseconds."""

from hub_protocol import Refused

DAY = 86_400_000
EARLY = 1000  # how early a timer may be
STARTING = 60_000  # how long the pauses do not grow at a start, if the hub cannot be reached
DOUBTFUL = ("text-after-ready", "client-key-refused")  # twice in a row, a person is asked
PASSING = ("certificate-refused", "protocol-version")  # a person is asked, but it may go away without one
TIMES = {"basePause": 2000, "maxPause": 600_000, "steadyAfter": 30_000}
DEADLINES = {"awaiting-hello": 30_000, "awaiting-offer": 30_000, "awaiting-message-2": 30_000}
OTHER_STATES = ("awaiting-psk", "sealing-message-1", "opening-message-2", "sealing-message-3", "ready")


class ConnectionPolicy:
    def __init__(self, draw, deadlines=None, onKkFailure="replace-pin", **times):
        """`draw` returns 3 random bytes."""
        if onKkFailure not in ("replace-pin", "keep-pin"):
            raise Refused("bad-argument")
        self.draw, self.on_kk_failure = draw, onKkFailure
        self.psk_is_fresh, self.differed = False, False  # of this connection; since one was ready
        self.times = checked(TIMES, times)
        self.deadlines = checked(DEADLINES, deadlines or {})
        self.connected, self.ready_at, self.heard = False, None, False
        self.wanted, self.asking, self.redials, self.xx_alone, self.doubt = True, None, False, False, None
        self.due, self.limit, self.unreached_since = float("-inf"), self.times["basePause"], None
        self.has_been_ready = False  # since the start, or since a resumption
        self.pausing, self.old_timer = False, False  # whether the timer of a pause that was cut short may be running
        self.session_state = (None, 0)

    def begin(self, now):
        """The options of the next session, or None if nobody may dial now."""
        is_early = now < self.due - EARLY
        if self.connected or self.asking or not self.wanted or (is_early and self.old_timer):
            return None
        self.old_timer |= is_early
        self.connected, self.pausing = True, False
        self.session_state = ("awaiting-hello", now)
        return {**({"patterns": ["XXpsk2"]} if self.xx_alone else {}), "onKkFailure": self.on_kk_failure}

    def deadline(self, state, now):
        if state not in DEADLINES and state not in OTHER_STATES:
            return None
        if state != self.session_state[0]:
            self.session_state = (state, now)
        return max(0, self.session_state[1] + self.deadlines[state] - now) if state in DEADLINES else None

    def take(self, event, now):
        match event["type"]:
            case "ready" if self.connected and self.ready_at is None and self.wanted and not self.redials:
                self.ready_at, self.xx_alone, self.differed, self.has_been_ready = now, False, False, True
            case "psk-needed":
                self.psk_is_fresh = True
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
        differs = event["error"] == "psk-differs"
        wrong_password = differs and self.psk_is_fresh and self.differed
        self.psk_is_fresh, self.differed = False, self.differed or differs
        again = event["error"] in DOUBTFUL and event["error"] == self.doubt and not trusted
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
        if event["retry"] == "never" or again or wrong_password or self.asking:
            self.asking = event["error"]
            return {"do": "ask", "error": event["error"]}
        failed = event["reason"] in ("refused", "timeout") and event["error"] != "access-refused"
        if event.get("pattern") == "KKpsk0" and failed and not was_ready:
            self.xx_alone = True
            return self.dial(0, now)
        if event.get("pattern") == "KKpsk0" and event["error"] == "dropped" and not was_ready:
            self.xx_alone = True  # older hubs refuse like this
        starting = self.unreached_since is not None and now - self.unreached_since < STARTING
        limit = min(self.times["basePause"] if starting else self.limit, self.times["maxPause"])
        draw = int.from_bytes(self.draw(), "big")
        if not starting:
            self.limit = 2 * limit
        decision = self.dial(limit * draw >> 24, now)
        if event["error"] in PASSING:
            return {"do": "ask", "error": event["error"], "after": decision["after"]}
        return decision

    def dial(self, after, now):
        self.due, self.pausing = now + after, True
        return {"do": "dial", "after": after}

    def cut_short(self):
        self.old_timer, self.pausing = self.old_timer or self.pausing, False

    def goodbye(self):
        self.cut_short()
        self.wanted, self.asking, self.redials = False, None, False

    def resume(self):
        if self.connected and self.wanted:
            return
        self.cut_short()
        self.redials = self.connected
        self.wanted, self.asking, self.doubt, self.differed = True, None, None, False
        self.has_been_ready = False
        self.due, self.limit, self.unreached_since = float("-inf"), self.times["basePause"], None


def checked(defaults, given):
    """The times, which are numbers greater than 0 and at most a day."""
    for name, time in given.items():
        if name not in defaults or not isinstance(time, (int, float)) or not 0 < time <= DAY:
            raise Refused("bad-argument")
    return {**defaults, **given}

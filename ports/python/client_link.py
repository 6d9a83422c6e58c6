"""A client across all its connections, sans I/O: session, policy, keyring, derivation and questions in one machine.

docs/reference/sessions.md, "The link", has the rules. Every input returns orders, dictionaries whose fields are those of
vectors/README.md. Keys are bytes. A private key that is kept elsewhere, paced sessions and clocks that go back are left out.
"""

import json
from collections import deque
from typing import NamedTuple

from connection_policy import REFUSED, TIMES, ConnectionPolicy
from hub_protocol import Refused
from hub_session import ClientSession
from question_scheduler import Scheduler, read_event

MAX_FAILURES = 3  # of our own side in a row, until a person is asked
STORE_PAUSE = 2000  # after a store that failed while there was no connection; twice as long after the second
MINUTE = 60000  # how long a question waits to be sent, and a connection is quiet before it is idle


class Keyring(NamedTuple):
    fresh: bool  # whether no hub has accepted our static key yet
    pins: dict
    psks: dict
    provisioned: frozenset = frozenset()
    suspects: frozenset = frozenset()  # the hubs whose pin is suspect
    suspect_psks: frozenset = frozenset()  # the hubs whose PSK is suspect

    def after(self, event):
        """The keyring after an event of the session."""
        match event:
            case {"type": "pin", "nodeId": hub, "key": key}:
                if self.pins.get(hub, key) not in (key, event.get("replaces")):
                    raise Refused("pin-differs")
                return self.with_pin(hub, key)
            case {"type": "pin-suspect", "nodeId": hub} if hub in self.pins:
                return self._replace(suspects=self.suspects | {hub})
            case {"type": "psk", "nodeId": hub, "key": key} if hub not in self.provisioned:
                return self._replace(psks={**self.psks, hub: key}, suspect_psks=self.suspect_psks - {hub})
            case {"type": "psk-suspect", "nodeId": hub} if hub in self.psks and hub not in self.provisioned:
                return self._replace(suspect_psks=self.suspect_psks | {hub})
            case {"type": "ready", "pattern": "KKpsk0"} | {"type": "message" | "dropped"}:
                return self._replace(fresh=False)
        return self

    def usable_psks(self):
        return {hub: key for hub, key in self.psks.items() if hub not in self.suspect_psks}

    def with_pin(self, hub, key):
        return self._replace(pins={**self.pins, hub: key}, suspects=self.suspects - {hub})

    def without_psks(self):
        return self._replace(psks={}, provisioned=frozenset(), suspect_psks=frozenset())


class LinkSession(ClientSession):
    """A session that keeps the key that a hub has shown, for the person who is asked about it."""

    shown_key = None

    def enforce_pin(self, hub_key):
        self.shown_key = hub_key
        super().enforce_pin(hub_key)


class ClientLink:
    def __init__(self, site_id, static_key, keyring, suites, draw, ephemeral_key, policy={}, has_questions=False,
                 is_shared=False, trusts_new_hubs=True):
        """`draw` and `ephemeral_key` return random bytes: 3 for a pause, 32 for a session."""
        self.own = {"site_id": site_id, "static_key": static_key, "suites": suites, "trusts_new_hubs": trusts_new_hubs}
        self.draw_key, self.has_questions, self.is_shared = ephemeral_key, has_questions, is_shared
        self.policy = ConnectionPolicy(draw, **policy)
        self.keyring = keyring  # as last stored
        self.storing = None  # the keyring that is being stored, and whether what follows depends on it: on its keys
        self.changes = []  # of a person, until they are stored
        self.has_read = False
        self.derivation, self.deriving_for, self.derived_psk = 0, None, None
        self.number, self.session, self.is_ready, self.is_gone = 0, None, False, False
        self.used_at = 0  # when something came or was sent last, but for pings
        self.dial_at = self.asked = self.asked_key = self.cause = None
        self.failures, self.is_on, self.is_of_stranger = 0, True, False
        self.events, self.inputs = deque(), deque()
        self.questions, self.scheduler = [], None
        self.sent = set()  # the ids of questions that were sent and have not ended
        self.hub, self.says_handled = None, {}  # the latest hub, and which hubs say when they have handled a question
        self.orders = []
        self.deadline = None

    @property
    def state(self):
        if not self.is_on:
            return "ended"
        if self.asked is not None:
            return "asking"
        if self.session is None:
            return "waiting"
        return "ready" if self.is_ready else "connecting"

    # Inputs

    def start(self, now):
        self.restart(now)
        return self.run(now)

    def opened(self, number, now):
        def announce(_):
            if self.session.state == "awaiting-hello" and not self.session.announced:
                self.take(self.session.start())

        return self.on_connection(number, now, announce)

    def received(self, number, data, now):
        def take(now):
            self.used_at = now
            self.take(self.session.receive(data))

        return self.on_connection(number, now, take)

    def closed(self, number, now, retry_after=0, failure=None, **closing):
        if number == self.number:
            self.is_gone = True

        def end(now):
            if failure is not None:
                self.fail(failure, now)
            else:
                self.leave(now, closing=closing, retry_after=retry_after)

        return self.on_connection(number, now, end)

    def stored(self, now, failure=None, keyring=None):
        if self.storing is not None:
            (stored, is_vital), self.storing = self.storing, None
            if failure is None:
                known, self.keyring, self.changes = self.keyring, keyring or stored, []
                if self.has_read and (self.keyring.pins, self.keyring.psks) == (known.pins, known.psks):
                    self.keyring = self.keyring._replace(suspects=self.keyring.suspects | known.suspects)
            elif is_vital:
                self.has_read = False
                if self.is_on:
                    self.fail(failure, now)
            else:
                self.keyring = stored
        return self.run(now)

    def derived(self, number, now, psk=None, failure=None):
        if number != self.derivation or self.deriving_for is None or self.derived_psk is not None:
            return self.run(now)  # nobody waits for it
        self.derived_psk = psk
        if psk is None:
            self.deriving_for = None

        def provide(now):
            if self.session.state == "awaiting-psk":
                if psk is None:
                    self.failures -= self.is_of_stranger  # whoever can write to the connection can name a hub
                    self.fail(failure, now)
                else:
                    self.take(self.session.provide_psk(psk))

        return self.on_connection(self.number, now, provide)

    def wake(self, now):
        return self.run(now)

    def ask(self, envelope, now, timeout=None):
        if not self.has_questions:
            raise Refused("wrong-state")
        if not self.is_on:
            self.unsent(envelope, "session-over")
        else:
            until = now + (MINUTE if timeout is None else timeout)
            question = {"envelope": envelope, "until": until, "limited": timeout is not None, "handed": False}
            self.questions.append(question)
        return self.run(now)

    def cancel(self, id, now):
        """Forgets a question at once. If it was sent, the next one in its session has its turn once the keyring is stored."""
        self.questions = [each for each in self.questions if read_event(each["envelope"])[2] != id]
        if id in self.sent:
            self.sent.remove(id)
            return self.on_connection(self.number, now, lambda now: self.follow(self.scheduler.cancel(id, now), now))
        return self.run(now)

    def send(self, message, now):
        """Sends an envelope, as a dictionary, or bytes."""
        if not self.is_ready:
            self.unsent(message, "wrong-state")
            return self.run(now)

        def send(now):
            if self.is_gone:
                hold()  # its end is held, too
            elif self.write(message, lambda error: self.unsent(message, error)):
                if isinstance(message, bytes) or message["msg_type"] != "ping":
                    self.used_at = now
                    if self.scheduler is not None:
                        self.scheduler.note_sent(now)

        def hold():
            self.inputs.append((self.session, send, lambda error: self.unsent(message, error)))

        hold()
        return self.run(now)

    def trust(self, now):
        if self.asked_key is None:
            raise Refused("wrong-state")
        hub, key = self.asked_key
        return self.change(lambda keyring: keyring.with_pin(hub, key), now)

    def change(self, update, now):
        def change(now):
            self.quit(now)
            self.stop_deriving()
            self.changes.append(update)
            self.has_read = False
            self.restart(now)

        self.inputs.append((None, change, None))
        return self.run(now)

    def end(self, now):
        if self.is_on:
            held = list(self.inputs)
            self.inputs.clear()
            self.quit(now, "session-over")
            self.is_on, self.asked, self.asked_key, self.changes = False, None, None, []
            self.stop_deriving()
            for _, _, drop in held:
                if drop is not None:
                    drop("session-over")
            self.drop_questions("session-over")
            self.tell("end")
        return self.run(now)

    # The loop

    def on_connection(self, number, now, action):
        if number == self.number and self.session is not None:
            self.inputs.append((self.session, action, None))
        return self.run(now)

    def run(self, now):
        self.drop_questions(self.cause or "wrong-state", until=now)
        while self.storing is None and self.step(now):
            pass
        self.deadline = min(self.times(now), default=None)
        orders, self.orders = self.orders, []
        return orders

    def step(self, now):
        """Does the next thing: events of the session, then inputs, then what is due. Returns whether there was one."""
        try:
            if self.events:
                self.carry_out(self.events.popleft(), now)
            elif self.inputs:
                session, action, drop = self.inputs.popleft()
                if session is None or session is self.session:
                    action(now)  # an input that was held counts from now
                elif drop is not None:
                    drop(self.cause or "wrong-state")
            elif self.dial_at is not None and self.dial_at <= now:
                self.dial(now)
            elif self.wait(now) == 0:
                if self.is_ready:
                    self.quit(now)
                    self.restart(now)
                else:
                    self.leave(now, closing={"code": "timeout"}, code=1000)
            else:
                return self.ask_next(now)
        except Refused as refused:
            self.fail(refused.code, now)
        return True

    def times(self, now):
        times = [question["until"] for question in self.questions]
        if self.storing is None:
            replies = self.scheduler and self.scheduler.next_deadline()
            waits = self.wait(now)
            times += [time for time in (self.dial_at, replies, None if waits is None else now + waits) if time is not None]
        return times

    def wait(self, now):
        """How long to wait for the hub; if it is ready and owes nothing, how long its keys are still used."""
        wait = self.policy.deadline(self.session.state, now) if self.session is not None else None
        if not self.is_ready:
            return wait
        return None if self.questions or self.sent else max(wait, self.used_at + MINUTE - now)

    # Connections

    def restart(self, now):
        self.asked = self.asked_key = None
        if self.session is None:
            self.is_on, self.failures = True, 0
            self.policy.resume()
            self.dial_at = now

    def dial(self, now):
        if not self.has_read and self.store(self.changes, also_unchanged=self.is_shared):
            self.has_read = True
            return
        self.has_read, self.changes, self.dial_at = False, [], None
        options = self.policy.begin(now)
        keyring = self.keyring
        self.session = LinkSession(
            pins=keyring.pins,
            psks=keyring.usable_psks(),
            key_is_fresh=keyring.fresh,
            ephemeral_key=self.draw_key(),
            replaces_pins=options["onKkFailure"] == "replace-pin",
            suspects=keyring.suspects,
            **({"patterns": options["patterns"]} if "patterns" in options else {}),
            **self.own,
        )
        self.is_gone = False
        self.number += 1
        self.tell("connecting")
        self.order("open", connection=self.number)

    def take(self, events):
        """What the session returned. What it wants stored is stored before anything of it is carried out."""
        self.events.extend(events)
        self.store([lambda keyring, each=each: keyring.after(each) for each in events])

    def carry_out(self, event, now):
        match event["type"]:
            case "transmit":
                self.transmit(event)
            case "psk-needed":
                self.need_psk(event)
            case "psk" | "psk-suspect":
                self.stop_deriving()
            case "pin" if "replaces" in event:
                self.tell("hub-replaced", **{name: value for name, value in event.items() if name != "type"})
            case "ready":
                self.is_ready, self.failures, self.cause, self.asked = True, 0, None, None
                self.hub = event["nodeId"]
                self.scheduler = Scheduler(event["sessionId"]) if self.has_questions else None
                if self.scheduler is not None:
                    self.scheduler.says_handled = self.says_handled.get(self.hub)
                self.tell("connect", **{name: value for name, value in event.items() if name != "type"})
            case "message" if event["kind"] == "binary":
                self.tell("bytes", bytes=event["bytes"])
            case "message" if self.scheduler is None:
                self.tell("text", text=event["text"])
            case "message":
                self.follow(self.scheduler.receive(event["text"], now), now)
            case "dropped" | "new-hub":
                self.orders.append({"do": "tell", "event": event})
        self.policy.take(event, now)
        if event["type"] == "close":
            self.leave(now, code=event["code"])

    def quit(self, now, cause=None):
        """We do not want the connection any more, nor the next one."""
        self.policy.goodbye()
        self.dial_at = None
        if self.session is not None:
            self.leave(now, code=1000, cause=cause, is_wanted=False)

    def fail(self, error, now):
        """Our own side has failed, which says nothing about the hub."""
        self.failures += 1
        is_hopeless = self.failures >= MAX_FAILURES
        if self.session is not None:
            self.leave(now, code=1000, failure=error, is_hopeless=is_hopeless)
        elif self.dial_at is not None:
            after = self.policy.times["maxPause"] if is_hopeless else self.failures * STORE_PAUSE
            self.dial_at = max(self.dial_at, now + after)
            if is_hopeless:
                self.ask_person(error, self.dial_at - now)
            else:
                self.tell("reconnect", after=self.dial_at - now)

    def leave(self, now, closing={}, code=None, retry_after=0, failure=None, is_hopeless=False, cause=None, is_wanted=True):
        session, self.session = self.session, None
        if code is not None and not self.is_gone:
            self.order("close", connection=self.number, code=code)
        *doubts, ended = session.closed(**closing)
        if failure is not None:
            ended = {"type": "ended", "reason": "dropped", "retry": "never" if is_hopeless else "later", "error": failure}
        self.is_ready = False
        self.events.clear()
        self.end_questions(cause or ended["error"], now)
        self.orders += [{"do": "tell", "event": event} for event in doubts if event["type"] == "static-key-fresh"]
        if is_wanted:
            self.cause = ended["error"]
            self.tell("close", error=ended["error"])
        decision = self.decide({**ended, "pattern": session.pattern if failure is None else None}, now)
        if "after" in decision:
            after = max(decision["after"], min(retry_after, REFUSED * self.policy.times["maxPause"]))
            self.dial_at = now + after
            if decision["do"] == "dial":
                self.tell("reconnect", after=after)
            else:
                self.ask_person(decision["error"], after, session)
        self.store([lambda keyring, each=each: keyring.after(each) for each in doubts])

    def decide(self, ended, now):
        try:
            return self.policy.take(ended, now)
        except Refused as refused:  # no random bytes for a pause
            self.policy.resume()
            return {"do": "ask", "error": refused.code, "after": self.policy.times["maxPause"]}

    def ask_person(self, error, after, session=None):
        """`after`: when the link dials on."""
        self.asked, self.asked_key = error, None
        if error == "hub-key-changed":
            self.asked_key = session.node_id, session.shown_key
        self.tell("ask", error=error, after=after)

    # The keyring

    def store(self, updates, also_unchanged=False):
        """Orders to store the keyring if these updates change what is stored. Returns whether they do."""
        changed = self.keyring
        for update in updates:
            changed = update(changed)
        if changed == self.keyring and not also_unchanged:
            return False
        keys, changed_keys = [(each.pins, each.psks) for each in (self.keyring, changed)]
        self.storing = changed, updates is self.changes or keys != changed_keys
        self.order("store", keyring=changed)
        return True

    # The derivation

    def need_psk(self, event):
        pins, psks = self.keyring.pins, self.keyring.psks
        self.is_of_stranger = event["nodeId"] not in pins and len(pins) + len(psks) > 0
        if self.deriving_for != event["nodeId"]:
            self.stop_deriving()
            self.deriving_for = event["nodeId"]
            self.derivation += 1
            self.order("derive", derivation=self.derivation, nodeId=event["nodeId"], salt=event["salt"])
        elif self.derived_psk is not None:
            self.take(self.session.provide_psk(self.derived_psk))

    def stop_deriving(self):
        """Stops the derivation, or forgets its result."""
        if self.deriving_for is not None and self.derived_psk is None:
            self.order("stop-deriving")
        self.deriving_for = self.derived_psk = None

    # Messages and questions

    def write(self, message, on_error):
        """Seals a message and writes it. Returns whether that could be done."""
        try:
            is_binary = isinstance(message, bytes)
            text = message if is_binary else json.dumps(message, separators=(",", ":"))
            sealed = self.session.send("binary" if is_binary else "json", text)
        except Refused as refused:
            on_error(refused.code)
            return False
        for each in sealed:
            self.transmit({"bytes": each})
        return True

    def transmit(self, data):
        if not self.is_gone:
            self.order("write", connection=self.number, **{name: data[name] for name in ("text", "bytes") if name in data})

    def ask_next(self, now):
        """Hands the next question to the scheduler, or ends those that the hub has not answered."""
        if self.scheduler is None:
            return False
        for question in self.questions:
            if not question["handed"]:
                question["handed"] = True
                try:
                    timeout = question["until"] - now if question["limited"] else float("inf")
                    self.follow(self.scheduler.request(question["envelope"], now, timeout), now)
                except Refused as refused:
                    self.drop(question, refused.code)
                return True
        due = self.scheduler.next_deadline()
        if due is None or due > now:
            return False
        self.follow(self.scheduler.expire(now), now)
        return True

    def follow(self, decisions, now, error=None):
        for decision in decisions:
            match decision:
                case {"do": "handle", "message": message}:
                    self.tell("message", message=message)
                case {"do": "part", **part} if part["requestId"] in self.sent:
                    self.tell("part", **part)
                case {"do": "finish", "wasSent": True, **finish} if finish["requestId"] in self.sent:
                    self.sent.remove(finish["requestId"])
                    self.tell("finish", error=error, **finish)
                case {"do": "send", "envelope": envelope, "requestId": id}:
                    self.send_question(envelope, id, now)

    def send_question(self, envelope, id, now):
        """Sends a question, unless it was dropped while its session was busy."""
        question = next((each for each in self.questions if each["envelope"] is envelope), None)
        if question is not None and self.write(envelope, lambda error: self.drop(question, error)):
            self.questions.remove(question)
            self.sent.add(id)
        else:
            self.follow([each for each in self.scheduler.cancel(id, now) if each["do"] != "finish"], now)

    def end_questions(self, error, now):
        """With the connection end the questions that were sent. The others wait for the next one."""
        scheduler, self.scheduler = self.scheduler, None
        for question in self.questions:
            question["handed"] = False
        if scheduler is not None:
            self.says_handled[self.hub] = scheduler.says_handled
            self.follow(scheduler.closed(), now, error)

    def drop_questions(self, error, until=float("inf")):
        for question in [each for each in self.questions if each["until"] <= until]:
            self.drop(question, error)

    def drop(self, question, error):
        self.questions.remove(question)
        self.unsent(question["envelope"], error)

    def unsent(self, message, error):
        self.tell("unsent", message=message, error=error)

    def tell(self, type, **fields):
        self.order("tell", event={"type": type, **fields})

    def order(self, do, **fields):
        self.orders.append({"do": do, **fields})

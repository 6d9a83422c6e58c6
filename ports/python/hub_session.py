"""A client and a hub of protocol 3, sans I/O: pass what arrives to `receive`, and do what the events say.

Every method returns a list of events, dictionaries whose `type` and fields are those of vectors/README.md.
"""

import hub_protocol as protocol
from hub_envelopes import check_version, classify, is_text_list, read_envelope, read_sealed_payload, write_envelope
from hub_protocol import Refused

NO_FIELDS = {}
REFUSAL = 1008  # the close code with which a hub refuses
MAX_NODE_ID = 4096
MAX_MESSAGE_2_PAYLOAD = 64
MESSAGE_2_FIELDS = {"XXpsk2": 32 + 48 + 16, "KKpsk0": 32 + 16}  # its keys and tags
REQUIRED_PATTERN, REQUIRED_SUITE = protocol.PATTERNS[0], protocol.SUITES[0]  # a hub always offers them


def event(type, **fields):
    return {"type": type, **fields}


def shake(**noise):
    return event("transmit", text=write_envelope("shake", {"noise": noise}))


CAUSES = ("not-reachable", "certificate-refused", "not-a-hub", "broker-refused")


def close_kind(code, status, reason, cause=None):
    """The way in which a transport closed: timeout, unauthorized, unavailable, refusal or loss, or one of CAUSES."""
    if code == "timeout":
        return "timeout"
    if cause is not None:
        return cause
    if status is not None:  # of an upgrade to WebSocket that was refused
        if status in (401, 403):
            return "unauthorized"
        return "unavailable" if status >= 500 or status in (408, 429) else "not-a-hub"
    if reason == "connection_limit":
        return "unavailable"
    return "refusal" if code == REFUSAL else "loss"


class Session:
    """What both sides have in common: envelopes, then transport messages, and failures that are final."""

    def __init__(self, static_key, ephemeral_key):
        self.static_key, self.ephemeral_key = static_key, ephemeral_key
        self.handshake = self.transport = self.failure = None
        self.established = False
        self.heard = False  # whether a transport message of the peer has opened
        self.reassembler = protocol.Reassembler()

    def start_handshake(self, role, pattern, suite, hello, offer, psk, remote_static_key):
        prologue = protocol.build_prologue(hello, offer, protocol.protocol_name(pattern, suite))
        self.handshake = protocol.Handshake(
            role, pattern, suite, prologue, psk, self.static_key, remote_static_key, self.ephemeral_key
        )

    def establish(self):
        self.transport = self.handshake.split()
        self.established = True

    def receive(self, data):
        """Takes one WebSocket message or MQTT payload, as str or bytes."""
        if self.state in ("failed", "closed"):
            return []
        return self.collect(self.take(data))

    def collect(self, events):
        collected = []
        try:
            for each in events:
                collected.append(each)
        except Refused as refused:
            self.failure = refused.code
            self.end("failed")
            collected.append(event("close", code=1002 if self.established else 1008, error=refused.code))
        return collected

    def end(self, state):
        self.state = state
        self.handshake = self.transport = self.reassembler = None

    def take(self, data):
        if self.transport is None:
            yield from self.take_envelope(*read_envelope(data))
        elif not self.is_repeat(data):
            frame = self.transport.open(data)
            self.heard = True
            message = self.reassembler.push(frame)
            yield from self.become_ready()
            if message is not None:
                yield from self.take_message(message)

    def is_repeat(self, data):
        """Whether this repeats a part of the handshake, which changes nothing. Other cleartext ends the session.

        MQTT does not tell text from bytes, so cleartext may arrive as bytes; an envelope was never sealed. A hub greets
        only a client that it does not know, so HELLO or an offer as bytes means that it has lost the session.
        """
        is_text = isinstance(data, str)
        try:
            what = classify(*read_envelope(data))
        except Refused:
            if is_text:
                raise Refused("text-after-ready")
            return False
        if what == "other" or (what in ("hello", "offer") and not is_text):
            raise Refused("text-after-ready")
        return True

    def become_ready(self):
        """What follows from a transport message that opened, before the message itself."""
        return []

    def take_message(self, message):
        yield message

    def send(self, kind, data):
        """The transport messages of one message, str for JSON or bytes. Write all of them, in order."""
        if self.state in ("failed", "closed"):
            raise Refused("session-over")
        if self.state != "ready":
            raise Refused("wrong-state")
        return self.seal(kind, check_sent(data) if isinstance(data, str) else data)

    def seal(self, kind, payload):
        return [self.transport.seal(frame) for frame in protocol.split_message(kind, payload)]

    def closed(self, code=None, status=None, reason=None, cause=None):
        """The transport closed with this code, HTTP status and reason, or there was none for this cause.

        Code "timeout": the caller gave up waiting.
        """
        if self.state == "closed":
            return []
        ended_with, retry, error = self.outcome(close_kind(code, status, reason, cause))
        events = []
        if error == "kk-refused":
            events = [event("static-key-fresh", nodeId=self.node_id)] if self.key_is_fresh else []
            events += self.doubt_pin()
        self.end("closed")
        return [*events, event("ended", reason=ended_with, retry=retry, error=error)]


def check_sent(text):
    """Encodes a string to send as JSON, after a check that it is JSON."""
    try:
        protocol.parse_json(text)
    except Refused:
        raise Refused("not-json")
    return protocol.encode(text)


class ClientSession(Session):
    def __init__(self, site_id, static_key, suites, pins, psks, hello=NO_FIELDS, patterns=protocol.PATTERNS,
                 replaces_pins=True, trusts_new_hubs=True, key_is_fresh=False, ephemeral_key=None, suspects=()):
        """`pins` and `psks` are stored under each hub's node id; `hello` contains further fields of our HELLO.

        `suspects`: the hubs whose pins are suspect since a KKpsk0 failed. `replaces_pins`: replace such a pin if the hub has
        another key. `trusts_new_hubs`: pin a hub that is not pinned. `key_is_fresh`: no hub has accepted our static key yet, so
        warn before a pinned one sees it.
        """
        super().__init__(static_key, ephemeral_key)
        for key in [*pins.values(), *psks.values()]:
            if len(key) != protocol.KEY:  # an unreadable pin does not mean that the hub was never seen
                raise Refused("bad-argument")
        self.state = "awaiting-hello"
        self.site_id, self.own_hello = site_id, hello
        self.suites, self.pins, self.psks, self.patterns, self.suspects = suites, pins, psks, patterns, suspects
        self.trusts_new_hubs, self.key_is_fresh = trusts_new_hubs, key_is_fresh
        self.replaces_pins = replaces_pins and trusts_new_hubs
        self.retry = "later"  # after a refusal
        self.pattern = self.unproved_psk = None
        self.announced = False

    def start(self):
        """Over MQTT the client speaks first. It says no more than that it is there: the sealed HELLO says the rest."""
        if self.announced or self.state != "awaiting-hello":
            raise Refused("wrong-state")
        self.announced = True
        return [event("transmit", text=write_envelope("hello", {"pubkey": None, "site_id": ""}))]

    def take_envelope(self, kind, payload):
        what = classify(kind, payload)
        if what == "hello" and self.state in ("awaiting-hello", "awaiting-offer"):
            self.take_hello(payload)
        elif what == "offer" and self.state == "awaiting-offer":
            yield from self.take_offer(payload)
        elif what in ("message 1", "later message") and self.state == "awaiting-message-2":
            yield from self.take_message_2(payload)
        elif self.state == "awaiting-hello" and what != "other":
            raise Refused("handshake-before-hello")
        elif self.state == "awaiting-offer" or what == "other":
            raise Refused("unexpected-message")
        # Anything else repeats a part of the handshake, which changes nothing.

    def take_hello(self, payload):
        if "node_id" not in payload:
            raise Refused("missing-node-id")
        self.node_id = payload["node_id"]
        if not isinstance(self.node_id, str) or not 0 < len(protocol.encode(self.node_id)) <= MAX_NODE_ID:
            raise Refused("bad-node-id")
        self.hub_hello = payload
        self.state = "awaiting-offer"

    def take_offer(self, payload):
        check_version(payload)
        noise = payload.get("noise", {})
        if not isinstance(noise, dict):
            raise Refused("bad-payload")
        if not is_text_list(noise.get("patterns")) or not is_text_list(noise.get("suites")):
            raise Refused("bad-offer")
        if REQUIRED_PATTERN not in noise["patterns"] or REQUIRED_SUITE not in noise["suites"]:
            raise Refused("bad-offer")  # an impostor would choose what it attacks
        self.pin = self.pins.get(self.node_id)
        if self.pin is None and not self.trusts_new_hubs:
            raise Refused("unknown-hub")
        patterns = [pattern for pattern in noise["patterns"] if pattern in self.patterns]
        self.is_suspect = self.pin is not None and self.node_id in self.suspects
        uses_pin = self.pin is not None and not self.is_suspect
        self.pattern, self.suite = protocol.select_noise(patterns, noise["suites"], self.suites, uses_pin)
        self.offer = payload
        self.state = "awaiting-psk"
        if self.pins and self.pin is None:
            yield event("new-hub", nodeId=self.node_id)
        psk = self.psks.get(self.node_id)
        if psk is not None:
            yield from self.send_message_1(psk)
        else:
            yield event("psk-needed", nodeId=self.node_id, salt=protocol.psk_salt(self.node_id))

    def provide_psk(self, psk):
        if self.state in ("awaiting-hello", "awaiting-offer"):
            raise Refused("wrong-state")
        if self.state != "awaiting-psk":
            return []  # too late, or twice
        protocol.check_key(psk)
        self.unproved_psk = psk
        return self.collect(self.send_message_1(psk))

    def send_message_1(self, psk):
        self.start_handshake("initiator", self.pattern, self.suite, self.hub_hello, self.offer, psk, self.pin)
        message = self.handshake.write(protocol.canonical_json({"binarize": False, "encodings": []}))
        self.state = "awaiting-message-2"
        yield shake(pattern=self.pattern, suite=self.suite, msg=message.hex())

    def take_message_2(self, payload):
        try:
            message = protocol.read_hex(payload["noise"]["msg"])
            if len(message) > MESSAGE_2_FIELDS[self.pattern] + MAX_MESSAGE_2_PAYLOAD:
                raise Refused("message-too-long")
            fields = read_sealed_payload(self.handshake.read(message))
        except Refused as refused:
            # One ciphertext can be made to open under many PSKs, and is noise under all but one: so noise ends the same.
            is_payload = refused.code in ("payload-not-authentic", "bad-handshake-payload")
            if self.pattern == "KKpsk0":
                yield from self.doubt_pin()
                raise Refused("kk-failed") if is_payload else refused
            if is_payload:  # the only part of XXpsk2's message 2 that needs the PSK
                yield event("psk-suspect", nodeId=self.node_id)
                raise Refused("psk-differs")
            raise
        encoding = fields.get("encoding")
        if encoding is not None and not isinstance(encoding, str):
            raise Refused("bad-handshake-payload")
        hub_key = self.handshake.remote_static_key
        self.enforce_pin(hub_key)  # before our own key leaves in message 3; under KKpsk0 it is the pin
        if self.unproved_psk is not None:
            yield event("psk", nodeId=self.node_id, key=self.unproved_psk)
        if self.pattern == "XXpsk2":
            if self.pin is None or self.is_suspect:
                replaces = {"replaces": self.pin} if self.pin not in (None, hub_key) else {}
                yield event("pin", nodeId=self.node_id, key=hub_key, **replaces)
            yield shake(msg=self.handshake.write().hex())
        handshake_hash = self.handshake.handshake_hash
        self.establish()
        self.state = "ready"
        hello = {"pubkey": None, "session": {"session_id": handshake_hash[:16].hex()}, "site_id": self.site_id, **self.own_hello}
        for message in self.seal("json", protocol.encode(write_envelope("hello", hello))):
            yield event("transmit", bytes=message)
        session_id = hello["session"].get("session_id") if isinstance(hello["session"], dict) else None
        yield event("ready", nodeId=self.node_id, pattern=self.pattern, suite=self.suite, handshakeHash=handshake_hash,
                    hubKey=hub_key, sessionId=session_id if isinstance(session_id, str) else None, encoding=encoding)

    def enforce_pin(self, hub_key):
        if self.pin not in (None, hub_key) and not (self.is_suspect and self.replaces_pins):
            raise Refused("hub-key-changed")

    def doubt_pin(self):
        """After a KKpsk0 that failed. It says nothing about the PSK, and XXpsk2 shows whether the pin is stale."""
        yield event("pin-suspect", nodeId=self.node_id)
        self.retry = "now"  # the next attempt is a different one

    def outcome(self, close):
        """Reason, retry and error."""
        is_kk = self.pattern == "KKpsk0"
        if self.failure in ("hub-key-changed", "unknown-hub"):
            return "refused", "never", self.failure  # until a person has acted
        if self.failure is not None:
            return ("dropped", "now", self.failure) if self.established else ("refused", self.retry, self.failure)
        if close == "timeout":
            return "timeout", "later", "timeout"
        if close == "unavailable" or close in CAUSES:
            return "dropped", "later", close
        if close == "loss" or self.heard:
            return "dropped", "now", "dropped"
        if self.state == "awaiting-message-2":
            return ("refused", "now", "kk-refused") if is_kk else ("refused", "later", "negotiation-refused")
        if self.state != "ready":
            return "refused", "later", "access-refused"
        if is_kk or not self.key_is_fresh:
            return "refused", "later", "refused"
        return "client-key-refused", "later", "client-key-refused"  # message 3 has shown our key to the hub


class HubSession(Session):
    def __init__(self, node_id, static_key, psk, suites, client_key=None, hello=NO_FIELDS, handshake=NO_FIELDS,
                 patterns=protocol.PATTERNS, ephemeral_key=None):
        """`client_key` is the client's pinned key; `hello` and `handshake` contain further fields of our payloads."""
        super().__init__(static_key, ephemeral_key)
        self.state = "new"
        self.psk, self.client_key, self.suites = psk, client_key, suites
        self.patterns = [pattern for pattern in patterns if pattern != "KKpsk0" or client_key is not None]
        if REQUIRED_PATTERN not in self.patterns or REQUIRED_SUITE not in self.suites:
            raise Refused("bad-argument")
        noise = {"patterns": self.patterns, "suites": self.suites}
        self.hello = {"node_id": node_id, **hello}
        self.offer = {"max_protocol_version": 3, "noise": noise, **handshake}
        self.expects_hello = True

    def start(self):
        if self.state != "new":
            raise Refused("wrong-state")
        self.state = "awaiting-message-1"
        envelopes = [write_envelope("hello", self.hello), write_envelope("shake", self.offer)]
        return [event("transmit", text=text) for text in envelopes]

    def receive(self, data):
        if self.state == "new":
            raise Refused("wrong-state")  # the hub speaks first
        return super().receive(data)

    def take_envelope(self, kind, payload):
        what = classify(kind, payload)
        if what in ("message 1", "later message") and self.state == "awaiting-message-1":
            yield from self.take_message_1(payload)
        elif what == "later message" and self.state == "awaiting-message-3":
            yield from self.take_message_3(payload)
        elif what == "other":
            raise Refused("unexpected-message")

    def take_message_1(self, payload):
        if "max_protocol_version" in payload:
            check_version(payload)
        noise = payload["noise"]
        self.pattern, self.suite = noise.get("pattern"), noise.get("suite")
        if not isinstance(self.pattern, str) or not isinstance(self.suite, str):
            raise Refused("bad-payload")
        if self.pattern not in self.patterns or self.suite not in self.suites:
            raise Refused("not-offered")
        message = protocol.read_hex(noise["msg"])
        self.start_handshake(
            "responder", self.pattern, self.suite, self.hello, self.offer, self.psk, self.client_key
        )
        try:
            asked = read_sealed_payload(self.handshake.read(message))
        except Refused as refused:
            if refused.code == "payload-not-authentic":
                raise Refused("kk-failed" if self.pattern == "KKpsk0" else "prologue-differs")
            raise
        binarize, encodings = asked.get("binarize"), asked.get("encodings")
        if binarize not in (None, True, False) or not (encodings is None or is_text_list(encodings)):
            raise Refused("bad-handshake-payload")
        yield shake(msg=self.handshake.write(b"{}").hex())
        if self.pattern == "KKpsk0":
            self.finish()
            self.state = "awaiting-first-message"  # message 1 alone may be a replay
        else:
            self.state = "awaiting-message-3"

    def take_message_3(self, payload):
        self.handshake.read(protocol.read_hex(payload["noise"]["msg"]))
        key = self.handshake.remote_static_key
        if self.client_key is None:
            yield event("pin", key=key)
        elif self.client_key != key:
            raise Refused("client-key-changed")
        self.finish()
        self.state = "ready"
        yield self.ready

    def finish(self):
        fields = {"handshakeHash": self.handshake.handshake_hash, "clientKey": self.handshake.remote_static_key}
        self.ready = event("ready", pattern=self.pattern, suite=self.suite, **fields)
        self.establish()

    def become_ready(self):
        if self.state == "awaiting-first-message":
            self.state = "ready"
            yield self.ready

    def take_message(self, message):
        if self.expects_hello:
            self.expects_hello = False
            hello = read_hello(message)
            yield hello
            if hello.get("error") != "no-hello":
                return
        yield message

    def outcome(self, close):
        """Reason, retry and error. A hub does not dial, and many clients cannot choose their close code."""
        if self.failure is not None:
            return "dropped" if self.established else "refused", "never", self.failure
        reason = "timeout" if close == "timeout" else "dropped"
        return reason, "never", reason


def read_hello(message):
    """The client's first transport message, which ought to be its HELLO."""
    try:
        kind, payload = read_envelope(message.get("text", ""))
    except Refused:
        kind = None
    if kind != "hello":
        return event("hello", error="no-hello")
    texts = [payload.get(field) for field in ("site_id", "pubkey")]
    if not isinstance(payload.get("session"), dict) or not all(text is None or isinstance(text, str) for text in texts):
        return event("hello", error="bad-hello")
    return event("hello", payload=protocol.write_json(payload, is_canonical=False))

"""A client and a hub of protocol 3, sans I/O: what comes in goes to `receive`, and events say what is to be done.

Every method answers a list of events, dictionaries whose `type` and fields are those of vectors/README.md.
"""

import hub_protocol as protocol
from hub_protocol import Refused

MAX_ENVELOPE = 256 * 1024
NO_FIELDS = {}
REFUSALS = [1000, 1005, 1008]  # the close codes with which a hub refuses


def event(type, **fields):
    return {"type": type, **fields}


# Envelopes


def read_envelope(data):
    """The type and the payload of a cleartext envelope."""
    size = len(data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass"))
    if size > MAX_ENVELOPE:
        raise Refused("envelope-too-large")
    envelope = protocol.parse_json(data)
    if not isinstance(envelope, dict) or not isinstance(envelope.get("msg_type"), str):
        raise Refused("bad-envelope")
    if not isinstance(envelope.get("payload"), dict):
        raise Refused("bad-payload")
    kind = envelope["msg_type"]
    return "shake" if kind == "handshake" else kind, envelope["payload"]


def write_envelope(kind, payload):
    envelope = {"msg_type": kind, "payload": payload, "metadata": {}, "route": []}
    if kind != "shake":
        envelope.update(node=None, target_site_id=None, target_pubkey=None, source_peer=None)
    return protocol.write_json(envelope)


def shake(**noise):
    return event("transmit", text=write_envelope("shake", {"noise": noise}))


def classify(kind, payload):
    """What an envelope is: hello, offer, message 1, later message or other."""
    if kind != "shake":
        return "hello" if kind == "hello" else "other"
    noise = payload.get("noise", {})
    if not isinstance(noise, dict):
        raise Refused("bad-payload")
    if "msg" not in noise:
        return "offer"
    return "message 1" if "pattern" in noise or "suite" in noise else "later message"


def is_text_list(value):
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def check_version(payload):
    version = payload.get("max_protocol_version")
    if not isinstance(version, protocol.Number) or float(version.token) < 3:
        raise Refused("protocol-version")


def read_sealed_payload(data):
    """The payload of a handshake message: a JSON object, or nothing."""
    try:
        payload = protocol.parse_json(data or b"{}")
    except Refused:
        payload = None
    if not isinstance(payload, dict):
        raise Refused("bad-handshake-payload")
    return payload


# Sessions


class Session:
    """What both sides have in common: envelopes, then transport messages, and a failure that is final."""

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
        self.state = "ready"

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
            collected.append(event("close", error=refused.code))
        return collected

    def end(self, state):
        self.state = state
        self.handshake = self.transport = self.reassembler = None

    def take(self, data):
        if self.transport is None:
            yield from self.take_envelope(*read_envelope(data))
        elif isinstance(data, str):
            self.take_text(data)
        else:
            frame = self.transport.open(data)
            self.heard = True
            message = self.reassembler.push(frame)
            if message is not None:
                yield from self.take_message(message)

    def take_text(self, text):
        """On a session, a repeat of what built it changes nothing and any other text ends it."""
        try:
            kind, _ = read_envelope(text)
        except Refused:
            kind = None
        if kind not in ("hello", "shake"):
            raise Refused("text-after-ready")

    def take_message(self, message):
        yield message

    def send(self, kind, data):
        """The transport messages of one message, str for JSON or bytes: all are to be written, in order."""
        if self.state in ("failed", "closed"):
            raise Refused("session-over")
        if self.transport is None:
            raise Refused("wrong-state")
        payload = protocol.encode(data) if isinstance(data, str) else data
        return [self.transport.seal(frame) for frame in protocol.split_message(kind, payload)]

    def closed(self, code=None):
        """The connection went away with this close code, or "timeout" says that we stopped waiting."""
        if self.state == "closed":
            return []
        reason, retry, error = self.outcome(code)
        events = list(self.suspect()) if error == "kk-refused" else []
        self.end("closed")
        return [*events, event("ended", reason=reason, retry=retry, error=error)]


class ClientSession(Session):
    def __init__(self, site_id, static_key, suites, pins, psks, hello=NO_FIELDS, patterns=protocol.PATTERNS,
                 unpins=True, ephemeral_key=None):
        """`pins` and `psks` are what was stored under each hub's node id; `hello` are further fields of our HELLO."""
        super().__init__(static_key, ephemeral_key)
        self.state = "awaiting-hello"
        self.own_hello = {"pubkey": "", "site_id": site_id, **hello}
        self.suites, self.pins, self.psks, self.patterns, self.unpins = suites, pins, psks, patterns, unpins
        self.retry = "later"  # after a refusal
        self.pattern = None
        self.announced = False

    def start(self):
        """Over MQTT the client speaks first."""
        if self.announced or self.state != "awaiting-hello":
            raise Refused("wrong-state")
        self.announced = True
        return [event("transmit", text=write_envelope("hello", self.own_hello))]

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
        # What is left repeats something that was heard before. It changes nothing.

    def take_hello(self, payload):
        if "node_id" not in payload:
            raise Refused("missing-node-id")
        self.node_id = payload["node_id"]
        if not isinstance(self.node_id, str) or not self.node_id:
            raise Refused("bad-node-id")
        self.hub_hello = payload
        self.state = "awaiting-offer"

    def take_offer(self, payload):
        check_version(payload)
        noise = payload.get("noise", {})
        if not is_text_list(noise.get("patterns")) or not is_text_list(noise.get("suites")):
            raise Refused("bad-offer")
        self.pin = self.pins.get(self.node_id)
        if self.pin is not None and len(self.pin) != protocol.KEY:
            raise Refused("trust-unreadable")  # which is not to be taken for a hub never seen
        patterns = [pattern for pattern in noise["patterns"] if pattern in self.patterns]
        pinned = self.pin is not None
        self.pattern, self.suite = protocol.select_noise(patterns, noise["suites"], self.suites, pinned)
        self.offer = payload
        self.state = "awaiting-psk"
        psk = self.psks.get(self.node_id, b"")
        if len(psk) == protocol.KEY:
            yield from self.send_message_1(psk)
        else:
            yield event("psk-needed", nodeId=self.node_id, salt=protocol.psk_salt(self.node_id))

    def provide_psk(self, psk):
        if self.state in ("awaiting-hello", "awaiting-offer"):
            raise Refused("wrong-state")
        if self.state != "awaiting-psk":
            return []  # too late, or twice
        protocol.check_key(psk)
        return self.collect(self.send_message_1(psk))

    def send_message_1(self, psk):
        self.start_handshake("initiator", self.pattern, self.suite, self.hub_hello, self.offer, psk, self.pin)
        message = self.handshake.write(protocol.canonical_json({"binarize": False, "encodings": []}))
        self.state = "awaiting-message-2"
        yield shake(pattern=self.pattern, suite=self.suite, msg=message.hex())

    def take_message_2(self, payload):
        try:
            sealed_payload = self.handshake.read(protocol.read_hex(payload["noise"]["msg"]))
        except Refused as refused:
            is_psk = refused.code == "payload-not-authentic"  # the only part of XXpsk2's message 2 that needs it
            if self.pattern == "KKpsk0":
                yield from self.suspect()
            elif is_psk:
                yield event("psk-suspect", nodeId=self.node_id)
            if is_psk:
                raise Refused("kk-failed" if self.pattern == "KKpsk0" else "psk-differs")
            raise
        encoding = read_sealed_payload(sealed_payload).get("encoding")
        if encoding is not None and not isinstance(encoding, str):
            raise Refused("bad-handshake-payload")
        hub_key = self.handshake.remote_static_key
        if self.pattern == "XXpsk2":
            self.enforce_pin(hub_key)  # before our own key leaves in message 3
            if self.pin is None:
                yield event("pin", nodeId=self.node_id, key=hub_key)
            yield shake(msg=self.handshake.write().hex())
        handshake_hash = self.handshake.handshake_hash
        self.establish()
        hello = {"session": {"session_id": handshake_hash[:16].hex()}, **self.own_hello}
        for message in self.send("json", write_envelope("hello", hello)):
            yield event("transmit", bytes=message)
        yield event("ready", pattern=self.pattern, suite=self.suite, handshakeHash=handshake_hash, hubKey=hub_key,
                    encoding=encoding)

    def enforce_pin(self, hub_key):
        if self.pin is not None and self.pin != hub_key:
            raise Refused("hub-key-changed")

    def suspect(self):
        """What a KKpsk0 that failed puts in doubt."""
        yield event("psk-suspect", nodeId=self.node_id)
        if self.unpins:
            yield event("unpin", nodeId=self.node_id)
            self.retry = "now"  # since the next attempt will be another one

    def outcome(self, code):
        """Reason, retry and error."""
        is_kk, after_kk = self.pattern == "KKpsk0", "now" if self.unpins else "later"
        if self.failure in ("hub-key-changed", "trust-unreadable"):
            return "refused", "never", self.failure  # until somebody did something
        if self.failure is not None:
            return ("dropped", "now", self.failure) if self.established else ("refused", self.retry, self.failure)
        if code == "timeout":
            return "timeout", "later", "timeout"
        if code not in REFUSALS or self.heard:
            return "dropped", "now", "dropped"
        if self.state == "awaiting-message-2":
            return ("refused", after_kk, "kk-refused") if is_kk else ("refused", "later", "negotiation-refused")
        if self.state != "ready":
            return "refused", "later", "access-refused"
        if is_kk:
            return "refused", "later", "refused"
        return "client-key-refused", "never", "client-key-refused"  # the hub saw our key last of all, in message 3


class HubSession(Session):
    def __init__(self, node_id, static_key, psk, suites, client_key=None, hello=NO_FIELDS, handshake=NO_FIELDS,
                 patterns=protocol.PATTERNS, ephemeral_key=None):
        """`client_key` is the client's, as it was pinned; `hello` and `handshake` are further fields of ours."""
        super().__init__(static_key, ephemeral_key)
        self.state = "new"
        self.psk, self.client_key, self.suites = psk, client_key, suites
        self.patterns = [pattern for pattern in patterns if pattern != "KKpsk0" or client_key is not None]
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
            yield self.finish()
        else:
            self.state = "awaiting-message-3"

    def take_message_3(self, payload):
        self.handshake.read(protocol.read_hex(payload["noise"]["msg"]))
        key = self.handshake.remote_static_key
        if self.client_key is None:
            yield event("pin", key=key)
        elif self.client_key != key:
            raise Refused("client-key-changed")
        yield self.finish()

    def finish(self):
        fields = {"handshakeHash": self.handshake.handshake_hash, "clientKey": self.handshake.remote_static_key}
        self.establish()
        return event("ready", pattern=self.pattern, suite=self.suite, **fields)

    def take_message(self, message):
        if self.expects_hello:
            self.expects_hello = False
            hello = read_hello(message)
            yield hello
            if hello.get("error") != "no-hello":
                return
        yield message

    def outcome(self, code):
        """Reason, retry and error. A hub does not dial, and many clients cannot choose their close code."""
        if self.failure is not None:
            return "dropped" if self.established else "refused", "never", self.failure
        reason = "timeout" if code == "timeout" else "dropped"
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
    return event("hello", payload=protocol.write_json(payload))

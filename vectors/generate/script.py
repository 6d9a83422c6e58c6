"""Scripts of a session under test, step by step, in which we are its peer.

A script follows the session from state to state, so that it can look up in tables.py how the connection ends.
"""

import json

import files
import tables
from files import AESGCM, CHACHAPOLY
from peer import End, Keys, compact, envelope, salt

NODE_ID = "hub-1"
SITE_ID = "kitchen"
HELLO = {"pubkey": "", "peer": "hub::1", "node_id": NODE_ID}
GREETING_PAYLOAD = {"pubkey": None, "session": {"session_id": "s-1"}, "site_id": SITE_ID}
GREETING = envelope("hello", GREETING_PAYLOAD)  # the client's HELLO, which is sealed
ANNOUNCEMENT = envelope("hello", {"pubkey": None, "site_id": ""})  # over MQTT, in clear before the hub speaks
MESSAGE_1_PAYLOAD = files.canonical({"binarize": False, "encodings": []})
KNOWN = object()  # instead of a pinned key: the one that the peer will show; or a function makes another of it


def offer_of(patterns, suites, **further):
    """A hub's HANDSHAKE payload, with the fields that hubs send today."""
    noise = {"patterns": patterns, "suites": suites}
    return {"binarize": False, "encodings": [], "ciphers": [], "noise": noise, "max_protocol_version": 3, **further}


def shake(**noise):
    return envelope("shake", {"noise": noise})


def frame(marker, payload=b""):
    return bytes([marker]) + payload


class LongText(str):
    """A text that contains a part many times over, of which a vector has the part and the number."""

    def __new__(cls, start, repeated, times, end):
        text = super().__new__(cls, start + repeated * times + end)
        text.start, text.repeated, text.times, text.end = start, repeated, times, end
        return text

    def parts(self):
        return {"start": self.start, "repeated": self.repeated, "times": self.times, "end": self.end}


# Events, and what they contain


def data(message):
    if isinstance(message, LongText):
        return {"longText": message.parts()}
    return {"text": message} if isinstance(message, str) else {"bytes": message.hex()}


def kind_of(message):
    return "json" if isinstance(message, str) else "binary"


def transmit(message):
    return {"type": "transmit", **data(message)}


def delivered(message):
    return {"type": "message", "kind": kind_of(message), **data(message)}


def dropped(kind, length, reason):
    return {"type": "dropped", "kind": kind, "length": length, "reason": reason}


def psk_needed(node_id=NODE_ID):
    return {"type": "psk-needed", "nodeId": node_id, "salt": salt(node_id).hex()}


def psk_proved(psk, node_id=NODE_ID):
    return {"type": "psk", "nodeId": node_id, "key": psk.hex()}


def psk_suspect(node_id=NODE_ID):
    return {"type": "psk-suspect", "nodeId": node_id}


def pin_suspect(node_id=NODE_ID):
    return {"type": "pin-suspect", "nodeId": node_id}


def new_hub(node_id=NODE_ID):
    return {"type": "new-hub", "nodeId": node_id}


def static_key_fresh(node_id=NODE_ID):
    return {"type": "static-key-fresh", "nodeId": node_id}


def close(error, is_established=False):
    return {"type": "close", "code": 1002 if is_established else 1008, "error": error}


def again(script):
    """Every envelope that changes nothing in the current state, as text and as bytes."""
    forms = {
        "hello": [
            envelope("hello", script.hello_payload),
            envelope("hello", {**HELLO, "node_id": "hub-2"}),
            envelope("hello", {}),
            GREETING,
            ANNOUNCEMENT,
        ],
        "offer": [
            envelope("shake", script.offer_payload),
            envelope("handshake", script.offer_payload),
            envelope("shake", {}),
            *(envelope("shake", {"noise": noise}) for noise in [None, [], {}, "XXpsk2", 0]),
            shake(pattern="XXpsk2", suite=CHACHAPOLY),
        ],
        "noise-with-choice": [
            shake(pattern=script.pattern, suite=script.suite, msg=bytes(96).hex()),
            shake(pattern=None, msg=None),
            shake(suite=script.suite, msg=bytes(64).hex()),
        ],
        "noise": [shake(msg=bytes(96).hex()), shake(msg=""), shake(msg="zz"), shake(msg=None)],
    }
    return [
        text if form == "text" else text.encode()
        for form in ["text", "bytes"]
        for input, texts in forms.items()
        if tables.outcome(script.role, script.state, input, form) is None
        for text in texts
    ]


class Script:
    """The steps of one test. Methods return the script itself, so that a connection reads from left to right."""

    role = None

    def __init__(self, comment, flags, pattern, suite, state, seed="", keys=None):
        self.comment, self.flags, self.pattern, self.suite = comment, flags, pattern, suite
        self.keys = keys or Keys(f"{comment} {pattern} {suite}{seed}")
        self.steps = []
        self.state = state
        self.failure = None
        self.is_established = False
        self.has_heard = False  # whether a transport message of ours has opened
        self.has_doubted, self.has_fresh_key = False, False
        self.transport_keys = {}

    def step(self, do, *events, **fields):
        self.steps.append({"do": do, **fields, "events": list(events)})
        return self

    def open(self, **fields):
        self.steps.append({"do": "open", **{name: value for name, value in fields.items() if value is not None}})

    def receive(self, message, *events):
        return self.step("receive", *events, **data(message))

    def receive_frame(self, plaintext, *events):
        self.has_heard = True
        return self.receive(self.peer.seal(plaintext), *events)

    def ignore(self, *messages):
        for message in messages:
            self.receive(message)
        return self

    def hear(self, *messages):
        """Our messages, each in one frame."""
        for message in messages:
            plaintext = frame(0, message.encode()) if isinstance(message, str) else frame(1, message)
            self.receive_frame(plaintext, delivered(message))
        return self

    def send(self, message):
        """A message of the session, in one frame or in chunks of 65000 bytes."""
        payload, whole, first = (message.encode(), 0, 2) if isinstance(message, str) else (message, 1, 3)
        parts = [payload[at : at + 65000] for at in range(0, len(payload), 65000)] or [b""]
        markers = [whole] if len(parts) == 1 else [first] + [4] * (len(parts) - 2) + [5]
        messages = [self.own.seal(frame(*part)).hex() for part in zip(markers, parts)]
        self.steps.append({"do": "send", "kind": kind_of(message), **data(message), "messages": messages})
        return self

    def refuse(self, do, error, **fields):
        """A call that is refused and that changes nothing."""
        self.steps.append({"do": do, **fields, "error": error})
        return self

    def refuse_to_send(self, message, error):
        return self.refuse("send", error, kind=kind_of(message), **data(message))

    def closed(self, code=None, **closing):
        """The end of the transport. What it means follows from the tables; only the first one counts."""
        if code is not None:
            closing = {"code": code, **closing}
        events = [] if self.state == "closed" else self.how_it_ended(closing)
        self.state = "closed"
        return self.step("closed", *events, **closing)

    def how_it_ended(self, closing):
        doubts = []
        if self.failure:
            row = tables.failure(self.role, self.failure, self.is_established)
            retry = tables.RETRY_AFTER_DOUBT if self.has_doubted else row["retry"]
            outcome = {"reason": row["reason"], "retry": retry, "error": self.failure}
        else:
            close = tables.close_kind(**closing)
            row = tables.ending(self.role, close, self.state, self.pattern, self.has_heard, self.has_fresh_key)
            outcome = {name: row[name] for name in ["reason", "retry", "error"]}
            if row.get("doubtsPin"):
                doubts = [*([static_key_fresh(self.node_id)] if self.has_fresh_key else []), *self.doubt_pin()]
        return [*doubts, {"type": "ended", **outcome}]

    def fail(self, message, error, *before, then=()):
        """Ends the session with this message. Later messages produce no events, and only the first failure counts."""
        self.failure = error
        self.receive(message, *before, close(error, self.is_established))
        self.ignore(*then, envelope("hello", HELLO), bytes(17))
        return self.closed(1008)

    def fail_on_frame(self, plaintext, error):
        return self.fail(self.peer.seal(plaintext), error)

    def establish(self):
        """Ends the handshake. Returns what both sides say about it when they are ready."""
        assert self.own.handshake_hash == self.peer.handshake_hash
        self.is_established = True
        return {"pattern": self.pattern, "suite": self.suite, "handshakeHash": self.own.handshake_hash.hex()}

    def end(self):
        """The connection ends after we were heard."""
        return self.closed(1000)

    def test(self, *other_errors):
        """The finished test. It is invalid if the session closes of its own accord, with this code or one of others."""
        errors = [event["error"] for step in self.steps for event in step.get("events", []) if event["type"] == "close"]
        fields = {"steps": self.steps, **self.transport_keys}
        if errors:
            further = {"otherErrors": list(other_errors)} if other_errors else {}
            return {**files.invalid(self.comment, self.flags, errors[0], **fields), **further}
        return files.valid(self.comment, self.flags, **fields)


class Client(Script):
    """A script for a client; we are the hub."""

    role = "client"

    def __init__(
        self,
        comment,
        flags,
        pattern="XXpsk2",
        suite=CHACHAPOLY,
        hello=HELLO,
        offer=None,
        pin=None,
        hub_psk=None,
        has_psk=True,
        suites=None,
        other_pins=None,
        other_psks=None,
        session=GREETING_PAYLOAD["session"],
        site_id=SITE_ID,
        seed="",
        keys=None,
        **options,
    ):
        super().__init__(comment, flags, pattern, suite, "awaiting-hello", seed, keys)
        keys = self.keys
        self.node_id = hello["node_id"]
        self.has_psk = has_psk
        self.session = session
        self.site_id = site_id
        self.is_suspect = "suspects" in options
        self.has_fresh_key = options.get("staticKeyIsFresh", False)
        known = keys.hub_public if pin is KNOWN or pattern == "KKpsk0" else pin
        self.pin = known(keys.hub_public) if callable(known) else known
        self.pins = {**({self.node_id: self.pin.hex()} if self.pin else {}), **(other_pins or {})}
        self.hello_payload = hello
        suites_offered = [CHACHAPOLY] if suite == CHACHAPOLY else [CHACHAPOLY, AESGCM]  # the required one always
        self.offer_payload = offer or offer_of(["XXpsk2", "KKpsk0"] if pattern == "KKpsk0" else ["XXpsk2"], suites_offered)
        bound = [pattern, suite, self.hello_payload, self.offer_payload]
        self.own = End("client", *bound, keys.psk, keys.client_static, keys.client_ephemeral, keys.hub_public)
        self.peer = End("hub", *bound, hub_psk or keys.psk, keys.hub_static, keys.hub_ephemeral, keys.client_public)
        self.open(
            role="client",
            siteId=site_id,
            staticKey=keys.client_static.hex(),
            ephemeralKey=keys.client_ephemeral.hex(),
            pins=self.pins,
            psks={**({self.node_id: keys.psk.hex()} if has_psk else {}), **(other_psks or {})},
            suites=suites or [suite],
            hello=compact({} if session is None else {"session": session}),
            **options,
        )

    def hello(self):
        self.state = "awaiting-offer"
        return self.receive(envelope("hello", self.hello_payload))

    def offer(self):
        self.state = "awaiting-psk"
        warning = [new_hub(self.node_id)] if self.pins and self.pin is None else []
        asked = self.message_1() if self.has_psk else psk_needed(self.node_id)
        return self.receive(envelope("shake", self.offer_payload), *warning, asked)

    def psk(self):
        return self.step("psk", self.message_1(), psk=self.keys.psk.hex())

    def until_message_1(self):
        self.hello().offer()
        return self if self.has_psk else self.psk()

    def message_1(self):
        self.state = "awaiting-message-2"
        self.written = self.own.write(MESSAGE_1_PAYLOAD)
        return transmit(shake(pattern=self.pattern, suite=self.suite, msg=self.written.hex()))

    def message_2(self, payload=b"{}"):
        """Our reply to message 1, which the test may then spoil."""
        self.peer.read(self.written)
        return self.peer.write(payload)

    def answer(self, payload=b"{}", encoding=None, envelop=lambda message: shake(msg=message.hex())):
        """Our message 2 as it should be, which completes the handshake."""
        message = self.message_2(payload)
        return self.receive(envelop(message), *self.accept(message, encoding))

    def accept(self, message, encoding=None):
        """What follows from our message 2."""
        self.own.read(message)
        events = [] if self.has_psk else [psk_proved(self.keys.psk, self.node_id)]
        if self.pattern == "XXpsk2":
            if self.pin is None or self.is_suspect:
                key = self.keys.hub_public
                replaces = {"replaces": self.pin.hex()} if self.pin not in (None, key) else {}
                events.append({"type": "pin", "nodeId": self.node_id, "key": key.hex(), **replaces})
            last = self.own.write()
            self.peer.read(last)
            events.append(transmit(shake(msg=last.hex())))
        established = self.establish()
        if self.session is None:
            self.session = {"session_id": self.own.handshake_hash[:16].hex()}
        ready = {
            "type": "ready",
            "nodeId": self.node_id,
            **established,
            "hubKey": self.keys.hub_public.hex(),
            "sessionId": self.session.get("session_id"),
            "encoding": encoding,
        }
        self.state = "ready"
        greeting = envelope("hello", {**GREETING_PAYLOAD, "session": self.session, "site_id": self.site_id})
        keys = {"clientToHub": self.own.sending_key.hex(), "hubToClient": self.peer.sending_key.hex()}
        self.transport_keys = {"suite": self.suite, "keys": keys}
        return [*events, transmit(self.own.seal(frame(0, greeting.encode()))), ready]

    def doubt_pin(self):
        """What follows from a KKpsk0 that failed."""
        self.has_doubted = True
        return [pin_suspect(self.node_id)]

    def connect(self, payload=b"{}", encoding=None):
        return self.until_message_1().answer(payload, encoding)


class Hub(Script):
    """A script for a hub; we are the client."""

    role = "hub"

    def __init__(
        self,
        comment,
        flags,
        pattern="XXpsk2",
        suite=CHACHAPOLY,
        hello={"peer": "hub::1", "pubkey": ""},
        handshake={"binarize": False, "encodings": [], "ciphers": []},
        client_key=None,
        client_psk=None,
        client_pin=None,
        client_hello=None,
        client_offer=None,
        suites=None,
        patterns=None,
        node_id=NODE_ID,
        seed="",
    ):
        super().__init__(comment, flags, pattern, suite, "new", seed)
        keys = self.keys
        self.ready_event = None  # under KKpsk0, until our first transport message has opened
        is_known = client_key is KNOWN or (pattern == "KKpsk0" and client_key is None)
        known = keys.client_public if is_known else client_key
        self.client_key = known(keys.client_public) if callable(known) else known
        own = patterns or ["XXpsk2", "KKpsk0"]
        offered = [name for name in own if name != "KKpsk0" or self.client_key]
        suites = suites or ([CHACHAPOLY] if suite == CHACHAPOLY else [CHACHAPOLY, AESGCM])  # the required one always
        self.hello_payload = {"node_id": node_id, **hello}
        self.offer_payload = {"max_protocol_version": 3, "noise": {"patterns": offered, "suites": suites}, **handshake}
        bound = [client_hello or self.hello_payload, client_offer or self.offer_payload]
        self.own = End(
            "hub",
            pattern,
            suite,
            self.hello_payload,
            self.offer_payload,
            keys.psk,
            keys.hub_static,
            keys.hub_ephemeral,
            self.client_key,
        )
        self.peer = End(
            "client",
            pattern,
            suite,
            *bound,
            client_psk or keys.psk,
            keys.client_static,
            keys.client_ephemeral,
            client_pin or keys.hub_public,
        )
        self.open(
            role="hub",
            nodeId=node_id,
            staticKey=keys.hub_static.hex(),
            ephemeralKey=keys.hub_ephemeral.hex(),
            psk=keys.psk.hex(),
            clientKey=self.client_key.hex() if self.client_key else None,
            patterns=patterns or offered,
            suites=suites,
            hello=compact(hello),
            handshake=compact(handshake),
        )

    def start(self):
        self.state = "awaiting-message-1"
        hello, offer = envelope("hello", self.hello_payload), envelope("shake", self.offer_payload)
        return self.step("start", transmit(hello), transmit(offer))

    def envelop(self, message):
        """The envelope around our message 1."""
        return shake(pattern=self.pattern, suite=self.suite, msg=message.hex())

    def message_1(self, payload=MESSAGE_1_PAYLOAD, envelop=None):
        message = self.peer.write(payload)
        return self.receive((envelop or self.envelop)(message), *self.answer(message))

    def answer(self, message):
        """What follows from our message 1."""
        self.own.read(message)
        reply = self.own.write(b"{}")
        self.peer.read(reply)
        self.state = "awaiting-message-3"
        if self.pattern == "KKpsk0":
            self.ready_event = self.ready()
            self.state = "awaiting-first-message"
        return [transmit(shake(msg=reply.hex()))]

    def message_3(self, envelop=lambda message: shake(msg=message.hex()), payload=b""):
        message = self.peer.write(payload)
        return self.receive(envelop(message), *self.accept(message))

    def accept(self, message):
        """What follows from our message 3."""
        self.own.read(message)
        pin = [] if self.client_key else [{"type": "pin", "key": self.keys.client_public.hex()}]
        self.state = "ready"
        return [*pin, self.ready()]

    def ready(self):
        return {"type": "ready", **self.establish(), "clientKey": self.keys.client_public.hex()}

    def receive_frame(self, plaintext, *events):
        first, self.ready_event, self.state = self.ready_event, None, "ready"
        return super().receive_frame(plaintext, *([first] if first else []), *events)

    def until_handshake_is_done(self):
        self.start().message_1()
        return self if self.pattern == "KKpsk0" else self.message_3()

    def greet(self, greeting=GREETING):
        """Our HELLO, the first transport message."""
        payload = json.loads(greeting)["payload"]
        return self.receive_frame(frame(0, greeting.encode()), {"type": "hello", "payload": compact(payload)})

    def connect(self):
        return self.until_handshake_is_done().greet()

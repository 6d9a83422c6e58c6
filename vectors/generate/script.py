"""Scripts of a session under test, step by step: the session is that of the Python port, and we are its peer."""

import json

import adapter
import files
from files import AESGCM, CHACHAPOLY
from hub_protocol import Refused
from peer import End, Keys, compact, envelope

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


def data(message):
    return {"text": message} if isinstance(message, str) else {"bytes": message.hex()}


class Script:
    """The steps of one test. Methods return the script itself, so that a connection reads from left to right."""

    def __init__(self, comment, flags, pattern, suite, seed="", keys=None):
        self.comment, self.flags, self.pattern, self.suite = comment, flags, pattern, suite
        self.keys = keys or Keys(f"{comment} {pattern} {suite}{seed}")
        self.steps, self.transport_keys = [], {}

    def step(self, do, **fields):
        """A call, and what the port returns."""
        adapter.held["session"] = self.own
        try:
            result = adapter.session(do, fields)
        except Refused as refused:
            result = {"error": refused.code}
        self.steps.append({"do": do, **fields, **result})
        return self

    def open(self, **fields):
        fields = {name: value for name, value in fields.items() if value is not None}
        self.steps.append({"do": "open", **fields})
        self.own = adapter.open_session(fields)

    def receive(self, message):
        return self.step("receive", **data(message))

    def receive_frame(self, plaintext):
        return self.receive(self.peer.seal(plaintext))

    def receive_frames(self, *plaintexts):
        for plaintext in plaintexts:
            self.receive_frame(plaintext)
        return self

    def ignore(self, *messages):
        for message in messages:
            self.receive(message)
        return self

    def hear(self, *messages):
        """Our messages, each in one frame."""
        return self.receive_frames(*(frame(0, each.encode()) if isinstance(each, str) else frame(1, each) for each in messages))

    def send(self, message):
        return self.step("send", kind="json" if isinstance(message, str) else "binary", **data(message))

    def closed(self, code=None, **closing):
        return self.step("closed", **({"code": code, **closing} if code is not None else closing))

    def noise_message(self):
        """The Noise message that the latest step wrote."""
        [text] = [event["text"] for event in self.steps[-1]["events"] if "text" in event]
        return bytes.fromhex(json.loads(text)["payload"]["noise"]["msg"])

    def fail(self, message, then=()):
        """Ends the session with this message. Later messages produce no events, and only the first failure counts."""
        self.receive(message)
        assert self.steps[-1]["events"][-1]["type"] == "close", self.comment
        self.ignore(*then, envelope("hello", HELLO), bytes(17))
        return self.closed(1008)

    def end(self):
        """The connection ends after we were heard."""
        return self.closed(1000)

    @property
    def failure(self):
        """Why the session closes of its own accord, if it does."""
        closes = [event for step in self.steps for event in step.get("events", []) if event["type"] == "close"]
        return closes[0]["error"] if closes else None

    def test(self, *other_errors):
        """The finished test. It is invalid if the session closes of its own accord, with this code or one of others."""
        fields = {"steps": self.steps, **self.transport_keys}
        if self.failure is None:
            return files.valid(self.comment, self.flags, **fields)
        further = {"otherErrors": list(other_errors)} if other_errors else {}
        return {**files.invalid(self.comment, self.flags, self.failure, **fields), **further}


class Client(Script):
    """A script for a client; we are the hub."""

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
        psks=None,
        session=GREETING_PAYLOAD["session"],
        site_id=SITE_ID,
        seed="",
        keys=None,
        **options,
    ):
        super().__init__(comment, flags, pattern, suite, seed, keys)
        keys = self.keys
        self.has_psk = has_psk
        known = keys.hub_public if pin is KNOWN or pattern == "KKpsk0" else pin
        pin = known(keys.hub_public) if callable(known) else known
        self.hello_payload = hello
        suites_offered = [CHACHAPOLY] if suite == CHACHAPOLY else [CHACHAPOLY, AESGCM]  # the required one always
        self.offer_payload = offer or offer_of(["XXpsk2", "KKpsk0"] if pattern == "KKpsk0" else ["XXpsk2"], suites_offered)
        bound = [pattern, suite, self.hello_payload, self.offer_payload]
        self.peer = End("hub", *bound, hub_psk or keys.psk, keys.hub_static, keys.hub_ephemeral, keys.client_public)
        self.open(
            role="client",
            siteId=site_id,
            staticKey=keys.client_static.hex(),
            ephemeralKey=keys.client_ephemeral.hex(),
            pins={**({hello["node_id"]: pin.hex()} if pin else {}), **(other_pins or {})},
            psks=psks or ({hello["node_id"]: keys.psk.hex()} if has_psk else {}),
            suites=suites or [suite],
            hello=compact({} if session is None else {"session": session}),
            **options,
        )

    def hello(self):
        return self.receive(envelope("hello", self.hello_payload))

    def offer(self):
        return self.receive(envelope("shake", self.offer_payload))

    def psk(self):
        return self.step("psk", psk=self.keys.psk.hex())

    def until_message_1(self):
        self.hello().offer()
        return self if self.has_psk else self.psk()

    def message_2(self, payload=b"{}"):
        """Our reply to message 1, which the test may then spoil."""
        self.peer.read(self.noise_message())
        return self.peer.write(payload)

    def answer(self, payload=b"{}", envelop=lambda message: shake(msg=message.hex())):
        """Our message 2 as it should be, which completes the handshake."""
        return self.receive(envelop(self.message_2(payload))).finish()

    def finish(self):
        """Reads what follows from message 2, and tells the keys."""
        if self.pattern == "XXpsk2":
            self.peer.read(self.noise_message())
        keys = {"clientToHub": self.peer.receiving_key.hex(), "hubToClient": self.peer.sending_key.hex()}
        self.transport_keys = {"suite": self.suite, "keys": keys}
        return self

    def connect(self, payload=b"{}"):
        return self.until_message_1().answer(payload)


class Hub(Script):
    """A script for a hub; we are the client."""

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
        super().__init__(comment, flags, pattern, suite, seed)
        keys = self.keys
        is_known = client_key is KNOWN or (pattern == "KKpsk0" and client_key is None)
        known = keys.client_public if is_known else client_key
        client_key = known(keys.client_public) if callable(known) else known
        offered = [name for name in patterns or ["XXpsk2", "KKpsk0"] if name != "KKpsk0" or client_key]
        suites = suites or ([CHACHAPOLY] if suite == CHACHAPOLY else [CHACHAPOLY, AESGCM])  # the required one always
        offer = {"max_protocol_version": 3, "noise": {"patterns": offered, "suites": suites}, **handshake}
        bound = [client_hello or {"node_id": node_id, **hello}, client_offer or offer]
        own = [client_psk or keys.psk, keys.client_static, keys.client_ephemeral, client_pin or keys.hub_public]
        self.peer = End("client", pattern, suite, *bound, *own)
        self.open(
            role="hub",
            nodeId=node_id,
            staticKey=keys.hub_static.hex(),
            ephemeralKey=keys.hub_ephemeral.hex(),
            psk=keys.psk.hex(),
            clientKey=client_key.hex() if client_key else None,
            patterns=patterns or offered,
            suites=suites,
            hello=compact(hello),
            handshake=compact(handshake),
        )

    def start(self):
        return self.step("start")

    def envelop(self, message):
        """The envelope around our message 1."""
        return shake(pattern=self.pattern, suite=self.suite, msg=message.hex())

    def message_1(self, payload=MESSAGE_1_PAYLOAD, envelop=None):
        self.receive((envelop or self.envelop)(self.peer.write(payload)))
        self.peer.read(self.noise_message())
        return self

    def message_3(self, envelop=lambda message: shake(msg=message.hex())):
        return self.receive(envelop(self.peer.write()))

    def until_handshake_is_done(self):
        self.start().message_1()
        return self if self.pattern == "KKpsk0" else self.message_3()

    def greet(self, greeting=GREETING):
        """Our HELLO, the first transport message."""
        return self.receive_frame(frame(0, greeting.encode()))

    def connect(self):
        return self.until_handshake_is_done().greet()

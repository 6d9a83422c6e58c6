"""Scripts of a link under test, input by input, in which we are the hub, the network, the store, the worker and the person.

Each method is one input, with the orders that must follow from it, the deadline and the state.
"""

import json

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey

import files
from files import CHACHAPOLY
from peer import End, Keys, compact, envelope, public_key, salt
from script import MESSAGE_1_PAYLOAD, NODE_ID, frame, offer_of, shake

SITE_ID = "lobby"
WAIT = 30000  # for the hub, in each state that waits for it
DRAW = "800000"  # half of a pause
REPLY_WAIT, UNSURE = 60000, 5000  # for a reply, and for more of it from a hub that is not known
UNSENT_WAIT = 60000


def tell(type, **fields):
    return {"do": "tell", "event": {"type": type, **fields}}


def unsent(message, error):
    return tell("unsent", message=message.hex() if isinstance(message, bytes) else message, error=error)


def finish(id, ending, text="", error=None):
    return tell("finish", requestId=id, ending=ending, text=text, error=error)


def said(id, text="It is noon.", asks=False):
    return tell("part", requestId=id, text=text, expectsAnswer=asks)


def question(id, session=None):
    """A bus message with a request id."""
    context = {"request_id": id, **({"session": {"session_id": session}} if session else {})}
    data = {"utterances": ["What time is it?"]}
    return {"msg_type": "bus", "payload": {"type": "recognizer_loop:utterance", "data": data, "context": context}}


def speech(id, text="It is noon.", named="request_id", session=None):
    """Speech of a question; `session` is what the session of the context says."""
    context = {named: id, **({"session": session} if session else {})}
    return {"msg_type": "bus", "payload": {"type": "speak", "data": {"utterance": text}, "context": context}}


def speech_in(session):
    """The same without a request id, of a session."""
    context = {"session": {"session_id": session}}
    return {"msg_type": "bus", "payload": {"type": "speak", "data": {"utterance": "It is noon."}, "context": context}}


def handled(id):
    return {"msg_type": "bus", "payload": {"type": "ovos.utterance.handled", "data": {}, "context": {"request_id": id}}}


def unmatched(id):
    return {"msg_type": "bus", "payload": {"type": "ovos.intent.unmatched", "data": {}, "context": {"request_id": id}}}


def content(message):
    """A message that is passed to `send`: JSON as a value, or bytes."""
    return {"bytes": message.hex()} if isinstance(message, bytes) else {"message": message}


def called(orders, it):
    """Orders, of which some depend on what precedes them and are given as functions that return a list."""
    return [each for order in orders for each in (order(it) if callable(order) else [order])]


class Link:
    """The inputs of one test. Methods return the script itself, so that a life reads from left to right."""

    def __init__(self, comment, *flags, pinned=False, psk=None, fresh=False, kept_elsewhere=False, **options):
        """`psk`: "stored" or "provisioned"."""
        self.comment, self.flags = comment, list(flags)
        self.keys = keys = Keys(comment)
        self.other = Keys(f"{comment}, another hub")
        self.hub_static, self.hub_psk, self.psk = keys.hub_static, keys.psk, keys.psk
        self.keyring = {
            "staticKeyIsFresh": fresh,
            "pins": {NODE_ID: keys.hub_public.hex()} if pinned else {},
            "psks": {NODE_ID: keys.psk.hex()} if psk else {},
        }
        own = {"staticPublicKey": keys.client_public.hex()} if kept_elsewhere else {"staticKey": keys.client_static.hex()}
        provisioned = {"provisioned": [NODE_ID]} if psk == "provisioned" else {}
        self.ephemeral_keys, self.random, self.sending_keys = [], [], {}
        drawn = {"ephemeralKeys": self.ephemeral_keys, "random": self.random}
        self.options = {"siteId": SITE_ID, **own, **self.keyring, **provisioned, **options, **drawn}
        self.kept_elsewhere, self.paced = kept_elsewhere, options.get("paced", False)
        self.suspect = False  # whether the stored PSK is in doubt, in memory only
        self.derived_psk, self.derivation = None, 0  # what was derived and not yet proved; the number of the latest derivation
        self.is_deriving = False
        self.xx_alone, self.pin_is_suspect, self.replaced = False, False, None  # the latter: the key of the pin that was stale
        self.is_asked = False  # whether a person is asked, and the link dials on
        self.at, self.number, self.state = 0, 0, "waiting"
        self.until = {}  # when the time of questions is up
        self.limit, self.timers, self.storing, self.awaits_ready = 2000, {}, None, False
        self.steps, self.results = [], []

    # Inputs

    def step(self, do, *orders, refused=None, **fields):
        self.steps.append({"at": self.at, "do": do, **fields})
        due = [at for timer, at in self.timers.items() if self.storing is None or timer.startswith("unsent")]
        result = {"orders": list(orders), "deadline": min(due, default=None), "state": self.state}
        self.results.append({"error": refused} if refused else result)
        return self

    def after(self, milliseconds):
        self.at += milliseconds
        return self

    def start(self, *before):
        return self.resumes().step("start", *before, *self.dial())

    def wake(self, *orders, **fields):
        """Does what is due at the deadline: by itself that is the next dial."""
        self.at = max(self.at, self.results[-1]["deadline"])
        return self.step("wake", *(called(orders, self) or self.dial()), **fields)

    def hello(self, node_id=NODE_ID):
        self.node_id = node_id
        self.hello_payload = {"node_id": node_id}
        self.timers["hub"] = self.at + WAIT
        return self.received(envelope("hello", self.hello_payload))

    def offer(self, stops=False):
        """The hub's offer: message 1 follows, or the derivation of the PSK, or nothing if that is under way."""
        self.offer_payload = offer_of(["XXpsk2", "KKpsk0"], [CHACHAPOLY])
        pins, psks = self.keyring["pins"], self.keyring["psks"]
        self.pattern = "KKpsk0" if self.node_id in pins and not self.xx_alone else "XXpsk2"
        told = [tell("new-hub", nodeId=self.node_id)] if pins and self.node_id not in pins else []
        is_stored = self.node_id in psks and not self.suspect
        self.is_proving = not is_stored  # whether message 2 proves a derived PSK
        if is_stored or self.derived_psk:
            orders = self.suspend(self.message_1, self.hub_static) if self.paced or self.pattern == "KKpsk0" else self.message_1()
        else:
            self.timers.pop("hub")
            orders = [{"do": "stop-deriving"}] if stops else []
            orders += [] if self.is_deriving else self.derive()
        return self.received(envelope("shake", self.offer_payload), *told, *orders)

    def derived(self, *orders, number=None, psk=None, is_late=False):
        """The worker's answer. It is late if nobody waits for it, or not yet."""
        psk = psk or self.psk
        if not is_late:
            self.derived_psk, self.is_deriving = psk, False
            orders = self.message_1()
        return self.step("derived", *orders, derivation=number or self.derivation, psk=psk.hex())

    def derived_early(self):
        """The worker's answer while the session does not ask for it yet."""
        self.derived_psk, self.is_deriving = self.psk, False
        return self.step("derived", derivation=self.derivation, psk=self.psk.hex())

    def derivation_fails(self, *orders):
        return self.step("derived", *orders, derivation=self.derivation, error="no-memory")

    def answer(self, *further):
        """The hub's message 2, up to `ready`. What must be stored is ordered alone, and the rest after `stored`."""
        self.peer.read(self.written)
        message = self.peer.write(b"{}")
        self.own.read(message)
        self.timers.pop("hub")
        keyring = self.changed()
        if self.is_proving:
            keyring["psks"][self.node_id] = self.derived_psk.hex()
        pin, key = keyring["pins"].get(self.node_id), public_key(self.hub_static).hex()
        self.replaced = pin if pin not in (None, key) else None
        assert self.replaced is None or self.pin_is_suspect
        keyring["pins"][self.node_id] = key
        received = shake(msg=message.hex())
        if keyring != self.keyring:
            store = [self.store(keyring)] if not self.paced else self.suspend(lambda: [self.store(keyring)])
            return self.received(received, *store)
        ready = self.suspend(self.ready, self.connection_keys.hub_ephemeral)
        return self.received(received, *ready, *called(further, self))

    def differs(self, asks=False):
        """The hub's message 2, which does not open since the hub has another password."""
        self.peer.read(self.written)
        message = self.peer.write(b"{}")
        self.suspect = self.options.get("provisioned") is None
        self.derived_psk = None
        end = self.asking if asks else self.pauses
        return self.received(shake(msg=message.hex()), self.close(1008), *end("psk-differs"))

    def shows_another_key(self, *unsent):
        """The hub's message 2, with a key that is not pinned: a person is asked."""
        self.peer.read(self.written)
        message = self.peer.write(b"{}")
        return self.received(shake(msg=message.hex()), self.close(1008), *self.asking("hub-key-changed", *unsent))

    def stored(self, *orders, **fields):
        """The keyring is stored: what has waited for it follows."""
        self.keyring, self.storing = self.storing, None
        pending = self.suspend(self.ready, self.connection_keys.hub_ephemeral) if self.awaits_ready else []
        return self.step("stored", *pending, *called(orders, self), **fields)

    def stored_late(self, *orders):
        """The keyring is stored, but the connection that needed it is over."""
        self.keyring, self.storing = self.storing, None
        return self.step("stored", *called(orders, self))

    def restarts(self):
        """`start` while a keyring is being stored."""
        self.state = "waiting"
        return self.step("start")

    def not_stored(self, *orders, error="disk-full"):
        self.storing = None
        return self.step("stored", *orders, error=error)

    def received(self, message, *orders, connection=None):
        data = {"text": message} if isinstance(message, str) else {"bytes": message.hex()}
        return self.step("received", *orders, connection=connection or self.number, **data)

    def hear(self, message, *orders):
        """A message of the hub: JSON or bytes."""
        plaintext = frame(1, message) if isinstance(message, bytes) else frame(0, compact(message).encode())
        return self.received(self.peer.seal(plaintext), *orders)

    def closed(self, *orders, connection=None, **closing):
        return self.step("closed", *orders, connection=connection or self.number, **closing)

    def lost(self, error="dropped", *before, code=1006, retry=None, **closing):
        """The transport has closed, and a pause follows."""
        self.left()
        return self.closed(*before, *self.pauses(error, retry), **({"code": code} if code else {}), **closing)

    def computed(self):
        """The shared secret that was ordered: what has waited for it follows."""
        private = X25519PrivateKey.from_private_bytes(self.keys.client_static)
        secret = private.exchange(X25519PublicKey.from_public_bytes(public_key(self.awaited)))
        return self.step("computed", *self.rest(), connection=self.number, sharedSecret=secret.hex())

    def paces(self):
        """All steps of a paced handshake, up to the next message or order."""
        self.timers.pop("step")
        return self.step("wake", *self.rest(), isRepeated=True)

    def reads(self, do):
        """A dial for which a store that others write to is read first."""
        self.at = max(self.at, self.timers.get("dial", 0))
        return self.step(do, self.stores())

    def stored_by_others(self, pins):
        """The keyring that is stored has other pins."""
        self.storing["pins"] = pins
        return self.stored(*self.dial(), keyring=self.storing)

    def ask(self, id, *orders, session=None, **fields):
        return self.step("ask", *orders, envelope=question(id, session), **fields)

    def send(self, message, *orders):
        return self.step("send", *orders, **content(message))

    def limit_of(self, id, timeout):
        if timeout is not None:
            self.until[id] = self.at + timeout
        return {} if timeout is None else {"timeout": timeout}

    def asks(self, id, session=None, timeout=None):
        """A question that is sent at once."""
        limit = self.limit_of(id, timeout)
        return self.ask(id, self.sent(id, session), session=session, **limit)

    def waits(self, id, session=None, timeout=None):
        """A question that cannot be sent yet."""
        limit = self.limit_of(id, timeout)
        self.timers[f"unsent {id}"] = self.until.get(id, self.at + UNSENT_WAIT)
        return self.ask(id, session=session, **limit)

    def cancel(self, id, *orders):
        self.timers.pop(f"unsent {id}", None)
        self.timers.pop(f"reply {id}", None)
        return self.step("cancel", *called(orders, self), requestId=id)

    def connect(self, *further):
        """A whole handshake of a connection that was dialled."""
        self.hello().offer()
        if self.is_deriving:
            self.derived()
        self.answer(*further)
        return self.stored(*further) if self.storing else self

    # Orders

    def dial(self):
        self.number += 1
        self.state = "asking" if self.is_asked else "connecting"
        self.timers.pop("dial", None)
        self.timers["hub"] = self.at + WAIT
        self.connection_keys = Keys(f"{self.comment} {self.number}")
        self.ephemeral_keys.append(self.connection_keys.client_ephemeral.hex())
        return [tell("connecting"), {"do": "open", "connection": self.number}]

    def derive(self):
        self.derivation += 1
        self.is_deriving = True
        return [
            {"do": "derive", "derivation": self.derivation, "nodeId": self.node_id, "salt": salt(self.node_id).hex()}
        ]

    def message_1(self):
        keys, connection = self.keys, self.connection_keys
        pin = self.keyring["pins"].get(self.node_id)
        psk = self.derived_psk if self.is_proving else bytes.fromhex(self.keyring["psks"][self.node_id])
        bound = [self.pattern, CHACHAPOLY, self.hello_payload, self.offer_payload]
        own = [keys.client_static, connection.client_ephemeral, pin and bytes.fromhex(pin)]
        self.own = End("client", *bound, psk, *own)
        self.peer = End("hub", *bound, self.hub_psk, self.hub_static, connection.hub_ephemeral, keys.client_public)
        self.written = self.own.write(MESSAGE_1_PAYLOAD)
        self.timers["hub"] = self.at + WAIT
        return [self.write(shake(pattern=self.pattern, suite=CHACHAPOLY, msg=self.written.hex()))]

    def write(self, message):
        data = {"envelope": json.loads(message)} if isinstance(message, str) else {"bytes": message.hex()}
        return {"do": "write", "connection": self.number, **data}

    def seal(self, message):
        """A message of the link, sealed. JSON is given as a value."""
        plaintext = frame(1, message) if isinstance(message, bytes) else frame(0, compact(message).encode())
        return self.write(self.own.seal(plaintext))

    def suspend(self, rest, private=None):
        """What happens before these orders, which are given as a function: nothing, steps, or an order to compute."""
        if not self.paced and not self.kept_elsewhere:
            return rest()
        self.rest, self.awaited = rest, private
        self.timers.pop("hub", None)
        if self.paced:
            self.timers["step"] = self.at
            return []
        return [{"do": "compute", "connection": self.number, "publicKey": public_key(private).hex()}]

    def sent(self, id, session=None):
        """A question that is sent now."""
        self.timers.pop(f"unsent {id}", None)
        self.replies_by(id, REPLY_WAIT)
        return self.seal(question(id, session))

    def is_late(self, id, error):
        """A question is not sent in time."""
        self.timers.pop(f"unsent {id}")
        return unsent(question(id), error)

    def replies_by(self, id, wait):
        self.timers[f"reply {id}"] = min(self.at + wait, self.until.get(id, self.at + wait))
        return self

    def heard(self, id, wait=UNSURE):
        """The hub is about to answer a question."""
        return self.replies_by(id, wait)

    def over(self, id, ending, text=""):
        """A question has ended."""
        self.timers.pop(f"reply {id}")
        return finish(id, ending, text)

    def ready(self):
        """Message 3, the client's HELLO, and what is told when the connection is ready."""
        key = public_key(self.hub_static).hex()
        replaced = {"nodeId": self.node_id, "key": key, "replaces": self.replaced}
        orders = [tell("hub-replaced", **replaced)] if self.replaced else []
        if self.pattern == "XXpsk2":
            last = self.own.write()
            self.peer.read(last)
            orders.append(self.write(shake(msg=last.hex())))
        handshake_hash = self.own.handshake_hash.hex()
        session_id = handshake_hash[:32]
        self.sending_keys[str(self.number)] = self.own.sending_key.hex()
        payload = {"pubkey": None, "session": {"session_id": session_id}, "site_id": SITE_ID}
        hello = self.own.seal(frame(0, envelope("hello", payload).encode()))
        self.state, self.xx_alone, self.derived_psk, self.suspect = "ready", False, None, False
        self.pin_is_suspect, self.replaced = False, None
        self.is_asked = False
        connect = tell(
            "connect",
            nodeId=self.node_id,
            pattern=self.pattern,
            suite=CHACHAPOLY,
            handshakeHash=handshake_hash,
            hubKey=public_key(self.hub_static).hex(),
            sessionId=session_id,
            encoding=None,
        )
        return [*orders, self.write(hello), connect]

    def changed(self):
        """A copy of the keyring, to be changed."""
        return json.loads(json.dumps(self.keyring))

    def store(self, keyring):
        """An order to store, which `ready` waits for."""
        self.storing, self.awaits_ready = keyring, True
        return {"do": "store", "keyring": json.loads(json.dumps(keyring))}

    def stores(self, **changes):
        """An order to store with nothing that waits for it."""
        order = self.store({**self.changed(), **changes})
        self.awaits_ready = False
        return order

    def close(self, code=1000):
        return {"do": "close", "connection": self.number, "code": code}

    def left(self):
        """The connection is over."""
        self.state, self.is_asked = "waiting", False
        for timer in [name for name in self.timers if name in ("hub", "step") or name.startswith("reply")]:
            del self.timers[timer]
        return self

    def pauses(self, error, retry=None, draw=DRAW):
        """What is told of an end: the next dial is due after a pause, or after `retry` milliseconds."""
        self.left()
        after = retry
        if retry is None:
            after = self.limit * int(draw, 16) >> 24
            self.draws(draw)
        self.timers["dial"] = self.at + after
        return [tell("close", error=error), tell("reconnect", after=after)]

    def draws(self, draw=DRAW):
        self.random.append(draw)
        self.limit *= 2

    def resumes(self):
        """Pauses start anew."""
        self.limit, self.is_asked = 2000, False
        return self

    def asking(self, error, *unsent):
        self.left()
        self.state = "asking"
        return [tell("close", error=error), *unsent, tell("ask", error=error)]

    def asking_on(self, error):
        """A person is asked, and the next dial is due after a pause all the same."""
        close, reconnect = self.pauses(error)
        self.state, self.is_asked = "asking", True
        return [close, tell("ask", error=error, after=reconnect["event"]["after"])]

    def ended(self):
        self.left()
        self.state, self.timers, self.derived_psk, self.is_deriving = "ended", {}, None, False
        return tell("end")

    def test(self):
        fields = {"options": self.options, "keys": self.sending_keys, "steps": self.steps, "results": self.results}
        return files.valid(self.comment, self.flags, **fields)

"""Scripted lives of a link: a client across all its connections. The link is that of the Python port, and we are everything else.

Nothing here is a standard: the rules are those of docs/reference/sessions.md, "The link".
"""

import adapter
import files
import peer
from files import CHACHAPOLY
from peer import End, Keys, compact, envelope
from policy import TIMES
from script import HELLO, NODE_ID, frame, offer_of, shake

RULES = "ports/python, for rules that the specification leaves open"
DRAW = "800000"  # half of a pause
NOTES = {
    "Age": (
        "A connection that is `maxAge` old is closed and dialled again at once, so that it gets new keys, and nobody is told of an "
        "end: once no question is open, and for a minute nothing but pings was sent and nothing came. An implementation that fails "
        "most likely keeps its keys for months, or cuts an answer short."
    ),
    "Deriving": (
        "At most one derivation runs. It goes on if the connection is lost, its result is kept for the next one, and it is "
        "stopped if nobody needs it. An implementation that fails most likely begins one for each connection."
    ),
    "End": (
        "After `end` the link closes what is open, ends its questions and does nothing more, in whatever state it was. An "
        "implementation that fails most likely dials when a pause is over, or stays busy with a store."
    ),
    "FirstContact": (
        "Pin and PSK of a first contact are stored with one order, and message 3 leaves afterwards. An implementation that fails "
        "most likely stores twice, or writes before the keyring is stored."
    ),
    "KkFailure": (
        "After a KKpsk0 that failed, it is stored that the pin is suspect, and XXpsk2 follows at once. Only if that shows another "
        "key, the new pin takes the place of the old one, and a person is told both keys before anything else. An implementation "
        "that fails most likely drops the pin at the failure, or replaces it without a word."
    ),
    "Late": (
        "Answers with the number of an older connection or derivation change nothing. An implementation that fails most likely "
        "takes the end of an old socket for that of the new one."
    ),
    "Mqtt": (
        "Over MQTT the client speaks first, once it has subscribed, unless the hub has spoken already. An implementation that "
        "fails most likely takes a retained message for a fault of its own."
    ),
    "Password": (
        "A PSK that did not open message 2 is derived again for the next connection, and a person is asked if that fails too. "
        "An implementation that fails most likely uses the wrong PSK for ever."
    ),
    "Pauses": (
        "A link dials when the policy says so, or later if the server wishes, or at once if `start` is called. An implementation "
        "that fails most likely ignores the server, or has two timers."
    ),
    "Person": (
        "While a person is asked, the link dials on after `after`, and questions go on waiting. What that person changes is stored "
        "before the next dial. An implementation that fails most likely dials with the old keyring, goes on with an old derivation, "
        "or waits for a person that nobody needs."
    ),
    "Questions": (
        "A question waits until a connection is ready and its session is free, and ends exactly once. An implementation that fails "
        "most likely loses it with a connection on which it was not sent, or sends it again although it was."
    ),
    "Reconnect": (
        "A lost connection is followed by a pause and by KKpsk0, which stores nothing. An implementation that fails most likely "
        "stores at each connection, and wears out the flash memory of a device."
    ),
    "Shared": (
        "If others write to the store, it is read before each connection. An implementation that fails most likely overwrites what "
        "a second tab has pinned."
    ),
    "StoreFails": (
        "What depends on a keyring that could not be stored ends, and is tried again; after three failures a person is asked. An "
        "implementation that fails most likely goes on with a pin that is lost at the next start."
    ),
    "Storing": (
        "From `store` until `stored` all inputs but `end` are held. An implementation that fails most likely answers the hub "
        "before the pin is stored, or writes to a transport that has gone meanwhile."
    ),
    "Timeout": (
        "A hub that is silent is given up after 30 seconds in each state. An implementation that fails most likely waits for ever, "
        "or keeps the deadline of a connection that has ended."
    ),
}

NEXT = {"msg_type": "bus", "payload": {"type": "mycroft.mic.listen", "data": {}, "context": {}}}


def bus(type, data, context):
    return {"msg_type": "bus", "payload": {"type": type, "data": data, "context": context}}


def speech(id):
    return bus("speak", {"utterance": "It is noon."}, {"request_id": id})


class Life:
    """The inputs of one test. Methods return the life itself, so that it reads from left to right."""

    def __init__(self, comment, *flags, pinned=False, psk=None, fresh=False, policy={}, **options):
        """`psk`: "stored" or "provisioned"."""
        self.comment, self.flags = comment, list(flags)
        self.keys, self.other = Keys(comment), Keys(f"{comment}, another hub")
        keys = self.keys
        self.hub_static, self.hub_psk, self.psk = keys.hub_static, keys.psk, keys.psk
        keyring = {
            "staticKeyIsFresh": fresh,
            "pins": {NODE_ID: keys.hub_public.hex()} if pinned else {},
            "psks": {NODE_ID: keys.psk.hex()} if psk else {},
        }
        provisioned = {"provisioned": [NODE_ID]} if psk == "provisioned" else {}
        self.ephemeral_keys, self.random, self.sending_keys = [], [], {}
        drawn = {"ephemeralKeys": self.ephemeral_keys, "random": self.random}
        own = {"siteId": "lobby", "staticKey": keys.client_static.hex()}
        self.options = {**own, **keyring, **provisioned, "policy": {**TIMES, **policy}, **options, **drawn}
        self.link = adapter.open_link(self.options, self.draw, self.ephemeral_key)
        self.at, self.steps, self.results = 0, [], []

    def draw(self):
        self.random.append(DRAW)
        return DRAW

    def ephemeral_key(self):
        self.connection_keys = Keys(f"{self.comment} {self.link.number + 1}")
        self.ephemeral_keys.append(self.connection_keys.client_ephemeral.hex())
        return self.ephemeral_keys[-1]

    def step(self, do, **fields):
        """An input, and what the port makes of it; the hub reads what is written."""
        step = {"at": self.at, "do": do, **fields}
        result = adapter.link_step(self.link, **step)
        self.steps.append(step)
        self.results.append(result)
        for order in result.get("orders", []):
            noise = order.get("envelope", {}).get("payload", {}).get("noise")
            if noise is not None:
                self.read(**noise)
            if order["do"] == "tell" and order["event"]["type"] == "connect":
                self.sending_keys[str(self.link.number)] = self.peer.receiving_key.hex()
        return self

    def read(self, msg, pattern=None, suite=None):
        """Message 1 or 3."""
        if pattern is not None:
            bound = [pattern, suite, self.hello_payload, self.offer_payload]
            own = [self.hub_psk, self.hub_static, self.connection_keys.hub_ephemeral, self.keys.client_public]
            self.peer = End("hub", *bound, *own)
        self.peer.read(bytes.fromhex(msg))

    def after(self, milliseconds):
        self.at += milliseconds
        return self

    def start(self):
        return self.step("start")

    def wake(self):
        """Does what is due at the deadline."""
        self.at = max(self.at, self.results[-1]["deadline"])
        return self.step("wake")

    def received(self, message, connection=None):
        data = {"text": message} if isinstance(message, str) else {"bytes": message.hex()}
        return self.step("received", connection=connection or self.link.number, **data)

    def hello(self, node_id=NODE_ID):
        self.hello_payload = {"node_id": node_id}
        return self.received(envelope("hello", self.hello_payload))

    def offer(self):
        self.offer_payload = offer_of(["XXpsk2", "KKpsk0"], [CHACHAPOLY])
        return self.received(envelope("shake", self.offer_payload))

    def derived(self, number=None):
        return self.step("derived", derivation=number or self.link.derivation, psk=self.psk.hex())

    def answer(self, spoil=lambda message: message):
        """The hub's message 2."""
        return self.received(shake(msg=spoil(self.peer.write(b"{}")).hex()))

    def connect(self):
        """A whole handshake of a connection that was dialled."""
        self.hello().offer()
        if self.link.session.state == "awaiting-psk":
            self.derived()
        self.answer()
        return self.step("stored") if self.link.storing else self

    def not_stored(self):
        return self.step("stored", error="disk-full")

    def hear(self, message):
        return self.received(self.peer.seal(frame(0, compact(message).encode())))

    def closed(self, code=1006, connection=None, **closing):
        return self.step("closed", connection=connection or self.link.number, **({"code": code} if code else {}), **closing)

    def ask(self, id):
        context = {"request_id": id}
        envelope = bus("recognizer_loop:utterance", {"utterances": ["What time is it?"]}, context)
        return self.step("ask", envelope=envelope)

    def test(self):
        fields = {"options": self.options, "keys": self.sending_keys, "steps": self.steps, "results": self.results}
        return files.valid(self.comment, self.flags, **fields)


def known(comment, *flags, **options):
    """A client that knows the hub."""
    return Life(comment, *flags, **{"pinned": True, "psk": "stored", **options})


def ready(comment, *flags, **options):
    return known(comment, *flags, **options).start().connect()


def connections():
    first = Life("a first contact", "FirstContact", fresh=True).start().hello().offer().after(900).derived().answer()
    first.step("stored").hear(NEXT).step("stored").hear(NEXT)
    kk = Life("a first contact, then two reconnects", "Reconnect").start().connect().closed().wake().connect()
    kk.after(60000).closed().wake().hello().offer().answer()
    refused = known("a refusal of KKpsk0 by a hub with a new key", "KkFailure").start().hello().offer()
    refused.hub_static = refused.other.hub_static
    refused.closed(1008, refused.link.number).step("stored").connect().closed().wake().connect()
    broken = known("message 2 of KKpsk0 does not open", "KkFailure").start().hello().offer()
    broken.answer(lambda message: peer.flip(message, -1)).step("stored").connect()
    kept = {"policy": {"onKkFailure": "keep-pin"}}
    trusted = known("another key, where the pin is kept, and a person trusts it", "KkFailure", **kept).start().hello().offer()
    trusted.hub_static = trusted.other.hub_static
    trusted.step("trust").closed(1008, trusted.link.number).step("stored").hello().offer().answer().start().hello().offer().answer()
    trusted.step("trust").step("stored").connect()
    wrong = Life("a wrong password: derived twice, then a person corrects it", "Password")
    wrong.hub_psk = wrong.other.psk
    wrong.start().hello().offer().derived().answer().wake().hello().offer().derived().answer().ask("q-1").start()
    wrong.hello().offer().derived().answer().psk = wrong.other.psk
    wrong.step("change", change="forgetPsks").connect()
    return [first, kk, refused, broken, trusted, wrong]


def stores():
    def storing(comment, flag):
        return Life(comment, flag).start().hello().offer().derived().answer()

    held = storing("what the hub sends meanwhile is held", "Storing").received(envelope("bus", {}))
    held.after(60000).step("wake").step("stored")
    thrice = storing("a person is asked at the third failure", "StoreFails").not_stored().wake().hello().offer().answer()
    thrice.not_stored().wake().hello().offer().answer().not_stored().start().hello().offer().answer().step("stored")
    second = Life("a second tab has pinned the hub", "Shared", psk="stored", shared=True).start()
    pinned = {"staticKeyIsFresh": False, "pins": {NODE_ID: second.keys.hub_public.hex()}, "psks": second.options["psks"]}
    second.step("stored", keyring=pinned).connect().closed().wake().step("stored").connect()
    other = Life("another hub answers", "Deriving").start().hello().offer().closed().wake().hello("hub-2").offer()
    other.derived(1).derived().answer().step("stored")
    strange = known("nobody is asked about hubs that are not known, though no PSK can be derived for them", "Deriving").start()
    for number in (1, 2, 3):
        strange.hello("hub-2").offer().step("derived", derivation=number, error="no-memory").wake()
    return [held, thrice, second, other, strange.connect()]


def waits():
    old = ready("of an older connection", "Late").closed().wake()
    old.closed(1008, 1).received(envelope("hello", HELLO), 1).step("opened", connection=1)
    old.step("computed", connection=1, sharedSecret=bytes(32).hex()).closed(1000, 3).connect()
    server = known("the server wants to be left alone", "Pauses").start().closed(None, status=503, retryAfter=60000).wake()
    server.closed(None, status=429, retryAfter=1).wake().closed(None, status=429, retryAfter=86400000).wake()
    silent = known("no HELLO", "Timeout").start().after(29999).step("wake").wake().wake().wake()
    mqtt = Life("the client announces itself, once", "Mqtt").start().step("opened", connection=1).after(1000).connect()
    certificate = {"code": None, "cause": "certificate-refused", "platformCode": "CERT_HAS_EXPIRED"}
    renewed = known("a certificate that is renewed while a person is asked", "Person", questions=True).ask("q-1").start()
    renewed.closed(**certificate).after(40000).ask("q-2").wake().closed(**certificate).wake().wake().connect().closed()
    spoken = ready("asked, and answered", "Questions", questions=True).ask("q-1").after(500).hear(speech("q-1")).wake()
    two = "two in one session: the second was not sent, and waits for the next connection"
    unsent = ready(two, "Questions", questions=True).ask("q-1").ask("q-2").closed().wake().connect()
    idle = ready("of a connection that is idle", "Age").wake().connect()
    day = ready("a question is open", "Age", questions=True).after(86399000).ask("q-1").after(2000).step("wake").hear(speech("q-1"))
    pinged = ready("a ping is no use", "Age").after(86399000).step("send", message={"msg_type": "ping", "payload": {}}).wake()
    used = ready("something was sent, then something came", "Age").after(86399000).step("send", message=NEXT).after(59000).hear(NEXT)
    ended = ready("with questions", "End", questions=True).ask("q-1").ask("q-2").step("end").ask("q-3")
    return [old, server, silent, mqtt, renewed, spoken, unsent, ended, idle, day.wake().wake(), pinged, used.wake()]


def build():
    tests = [life.test() for topic in (connections, stores, waits) for life in topic()]
    groups = [files.group("ClientLink", [*peer.SOURCE[:-1], RULES], tests)]
    description = "A client across all its connections: what it opens, writes, stores, derives and tells after each input."
    files.write("link", description, NOTES, groups, ["ClientLink"])

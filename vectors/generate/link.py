"""Tests of a link: a client across all its connections. Inputs and times in; orders, deadline and state out.

The rules are those of docs/reference/sessions.md, "The link", of the session's tables, of policy.py and of reply_scheduler.py.
"""

import files
import peer
from files import CHACHAPOLY
from link_script import NODE_ID, REPLY_WAIT, WAIT, Link, finish, frame, handled, question, said, speech, speech_in, tell, unmatched, unsent
from peer import compact, envelope, flip, public_key
from script import ANNOUNCEMENT, HELLO, offer_of, shake

RULES = "rules that the specification leaves open, by hand"

NOTES = {
    "FirstContact": (
        "Pin and PSK of a first contact are stored with one order, and message 3 leaves afterwards. An implementation that fails "
        "most likely stores twice, or writes before the keyring is stored."
    ),
    "Reconnect": (
        "A lost connection is followed by a pause and by KKpsk0, which stores nothing. An implementation that fails most likely "
        "stores at each connection, and wears out the flash memory of a device."
    ),
    "KkFailure": (
        "After a KKpsk0 that failed, XXpsk2 follows at once. Only if that shows another key, the new pin takes the place of the old "
        "one, and a person is told both keys before anything else. An implementation that fails most likely drops the pin at the "
        "failure, or replaces it without a word."
    ),
    "Password": (
        "A PSK that did not open message 2 is derived again for the next connection, and a person is asked if that fails too. "
        "An implementation that fails most likely uses the wrong PSK for ever."
    ),
    "Storing": (
        "From `store` until `stored` all inputs but `end` are held. An implementation that fails most likely answers the hub "
        "before the pin is stored, or writes to a transport that has gone meanwhile."
    ),
    "StoreFails": (
        "What depends on a keyring that could not be stored ends, and is tried again; after three failures a person is asked. An "
        "implementation that fails most likely goes on with a pin that is lost at the next start."
    ),
    "Late": (
        "Answers with the number of an older connection or derivation change nothing. An implementation that fails most likely "
        "takes the end of an old socket for that of the new one."
    ),
    "Deriving": (
        "At most one derivation runs. It goes on if the connection is lost, its result is kept for the next one, and it is "
        "stopped if nobody needs it. An implementation that fails most likely begins one for each connection."
    ),
    "Pauses": (
        "A link dials when the policy says so, or later if the server wishes, or at once if `start` is called. An implementation "
        "that fails most likely ignores the server, or has two timers."
    ),
    "Timeout": (
        "A hub that is silent is given up after 30 seconds in each state. An implementation that fails most likely waits for ever, "
        "or keeps the deadline of a connection that has ended."
    ),
    "Cancel": (
        "Of a question that was cancelled nothing is told any more. An implementation that fails most likely sends it on the next "
        "connection, or keeps its session busy."
    ),
    "Questions": (
        "A question waits until a connection is ready and its session is free, and ends exactly once. An implementation that fails "
        "most likely loses it with a connection on which it was not sent, or sends it again although it was."
    ),
    "Sending": (
        "What cannot be sent is told as `unsent`. An implementation that fails most likely loses it without a word."
    ),
    "End": (
        "After `end` the link closes what is open, ends its questions and does nothing more, in whatever state it was. An "
        "implementation that fails most likely dials when a pause is over, or stays busy with a store."
    ),
    "OwnFailure": (
        "A failure of the client's own side says nothing about the hub: pin and PSK stay. An implementation that fails most "
        "likely drops the pin, or repeats for ever what fails."
    ),
    "Person": (
        "While a person must act, the link does nothing. What that person changes is stored before the next dial. If `ask` has "
        "`after`, the link dials then all the same, and questions go on waiting. An implementation that fails most likely dials "
        "with the old keyring, goes on with an old derivation, or waits for a person that nobody needs."
    ),
    "Mqtt": (
        "Over MQTT the client speaks first, once it has subscribed, unless the hub has spoken already. An implementation that "
        "fails most likely takes a retained message for a fault of its own."
    ),
    "Compute": (
        "A private key that is kept elsewhere computes shared secrets outside. An implementation that fails most likely takes an "
        "answer for another connection."
    ),
    "Paced": (
        "A paced handshake computes one step in each `wake`. An implementation that fails most likely computes all of it at once, "
        "and starves the watchdog of a device."
    ),
    "Shared": (
        "If others write to the store, it is read before each connection. An implementation that fails most likely overwrites what "
        "a second tab has pinned."
    ),
}

NEXT = {"msg_type": "bus", "payload": {"type": "mycroft.mic.listen", "data": {}, "context": {}}}
PING = {"msg_type": "ping", "payload": {}}
ASKED = question("q-1")["payload"]["type"]


def known(comment, *flags, **options):
    """A client that knows the hub."""
    return Link(comment, *flags, **{"pinned": True, "psk": "stored", **options})


def ready(comment, *flags, **options):
    return known(comment, *flags, **options).start().connect()


def text(message):
    return tell("text", text=compact(message))


def tell_event(id=None, type="speak"):
    return tell("message", message={"type": type, "requestId": id})


def first_contacts():
    first = Link("a first contact", "FirstContact", fresh=True).start().hello().offer().after(900).derived().answer().stored()
    first.hear(NEXT, text(NEXT), first.stores(staticKeyIsFresh=False)).stored().hear(NEXT, text(NEXT))

    unsure = Link("that the key was accepted cannot be stored", "FirstContact", "StoreFails", fresh=True).start().connect()
    unsure.hear(NEXT, text(NEXT), unsure.stores(staticKeyIsFresh=False)).not_stored().hear(NEXT, text(NEXT)).lost().wake()
    unsure.hello().offer().answer(lambda it: [it.stores(staticKeyIsFresh=False)]).stored()

    dropped = Link("a message that is dropped shows that the key was accepted", "FirstContact", fresh=True).start().connect()
    reason = tell("dropped", kind="json", length=1, reason="not-utf8")
    dropped.received(dropped.peer.seal(frame(0, b"\xff")), reason, dropped.stores(staticKeyIsFresh=False)).stored()
    dropped.lost().wake()

    with_psk = Link("with a provisioned PSK", "FirstContact", psk="provisioned").start().hello().offer().answer().stored()
    elsewhere = known("of another hub", "FirstContact").start().hello("hub-2").offer().derived().answer().stored()
    fresh = known("a pinned hub refuses KKpsk0, and the key is new", "FirstContact", fresh=True).start().hello().offer()
    fresh.closed(tell("static-key-fresh", nodeId=NODE_ID), *fresh.pauses("kk-refused", retry=0), *fresh.dial(), connection=1, code=1008)
    return [first, unsure, dropped, with_psk, elsewhere, fresh]


def reconnects():
    kk = Link("a first contact, then two reconnects", "Reconnect").start().connect().lost().wake().connect()
    kk.after(60000).resumes().lost().wake().hello().offer().answer()
    binary = ready("a message of bytes", "Reconnect")
    binary.hear(b"\1\2", tell("bytes", bytes="0102"))
    spoilt = ready("JSON that is not UTF-8", "Reconnect")
    spoilt.received(
        spoilt.peer.seal(frame(0, b"\xff")), tell("dropped", kind="json", length=1, reason="not-utf8")
    )
    lost_session = ready("cleartext after `ready`", "Reconnect")
    error = "text-after-ready"
    lost_session.received(envelope("bus", {}), lost_session.close(1002), *lost_session.pauses(error)).wake().connect()
    lost_session.received(envelope("bus", {}), lost_session.close(1002), *lost_session.asking(error))
    return [kk, binary, spoilt, lost_session]


def kk_failures():
    def meets(comment, **options):
        return known(comment, "KkFailure", **options).start().hello().offer()

    def spoilt_message_2(link):
        link.peer.read(link.written)
        return shake(msg=flip(link.peer.write(b"{}"), -1).hex())

    def after_refusal(link, code=1008):
        link.xx_alone = link.pin_is_suspect = True
        return link.closed(*link.pauses("kk-refused", retry=0), *link.dial(), connection=link.number - 1, code=code)

    same = after_refusal(meets("a refusal of KKpsk0 by a hub with the same key"))
    same.connect().lost().wake().connect()
    new = meets("a refusal of KKpsk0 by a hub with a new key")
    new.hub_static = new.other.hub_static
    after_refusal(new).connect().lost().wake().connect()
    stranger = meets("a refusal of KKpsk0, then a hub that does not know the password, then the hub")
    stranger.hub_psk = stranger.other.psk
    after_refusal(stranger).hello().offer().differs().wake()
    stranger.hub_psk = stranger.keys.psk
    stranger.connect()
    broken = meets("message 2 of KKpsk0 does not open")
    broken.xx_alone = broken.pin_is_suspect = True
    broken.received(
        spoilt_message_2(broken), broken.close(1008), *broken.pauses("kk-failed", retry=0), *broken.dial(), connection=1
    ).connect()
    unstored = meets("that a pin was replaced cannot be stored")
    unstored.hub_static = unstored.other.hub_static
    after_refusal(unstored).hello().offer().answer().not_stored(unstored.close(), *unstored.pauses("disk-full"))
    unstored.wake().connect()
    goodbye = meets("1000 while message 2 of KKpsk0 is awaited: the pin is enforced")
    goodbye.hub_static = goodbye.other.hub_static
    goodbye.lost(code=1000)
    goodbye.xx_alone = True
    goodbye.wake().hello().offer().shows_another_key()
    silent = meets("silence after message 1 of KKpsk0: the pin stays")
    silent.xx_alone = True
    silent.wake(lambda it: [it.close(), *it.pauses("timeout", retry=0), *it.dial()]).connect()

    keeps = {"policy": {"onKkFailure": "keep-pin"}}
    kept = meets("a refusal of KKpsk0, where the pin is kept", **keeps)
    kept.xx_alone = True
    kept.closed(*kept.pauses("kk-refused", retry=0), *kept.dial(), connection=1, code=1008).connect()
    changed = meets("another key, where the pin is kept, and a person trusts it", **keeps)
    changed.xx_alone, changed.hub_static = True, changed.other.hub_static
    changed.step("trust", refused="wrong-state")
    changed.closed(*changed.pauses("kk-refused", retry=0), *changed.dial(), connection=1, code=1008)
    changed.hello().offer().shows_another_key()
    changed.step("start", *changed.resumes().dial()).hello().offer().shows_another_key()
    pin = {NODE_ID: public_key(changed.hub_static).hex()}
    changed.step("trust", changed.left().stores(pins=pin)).stored(*changed.resumes().dial()).connect()
    return [same, new, stranger, broken, unstored, goodbye, silent, kept, changed]


def passwords():
    wrong = Link("a wrong password: derived twice, then a person corrects it", "Password")
    wrong.hub_psk = wrong.other.psk
    wrong.start().hello().offer().derived().differs().wake().hello().offer().derived().differs(asks=True)
    wrong.ask("q-1", refused="wrong-state").step("start", *wrong.resumes().dial()).hello().offer().derived().differs()
    wrong.psk = wrong.other.psk
    wrong.step("change", *wrong.resumes().dial(), change="forgetPsks").connect()
    stored = Link("a stored PSK that has changed: derived again, then stored", "Password", psk="stored")
    stored.hub_psk = stored.psk = stored.other.psk
    stored.start().hello().offer().differs().wake().connect().lost().wake().connect()
    kept = Link("a stored PSK that differs once is kept", "Password", psk="stored")
    kept.hub_psk = kept.other.psk
    kept.start().hello().offer().differs().wake().hello().offer()
    kept.hub_psk = kept.psk
    kept.derived().answer().stored()
    provisioned = Link("a provisioned PSK is tried again", "Password", psk="provisioned")
    provisioned.hub_psk = provisioned.other.psk
    for _ in range(3):
        (provisioned.wake() if provisioned.steps else provisioned.start()).hello().offer().differs()
    return [wrong, stored, kept, provisioned]


def stores():
    def storing(comment, **options):
        return Link(comment, "Storing", **options).start().hello().offer().derived().answer()

    held = storing("what the hub sends meanwhile is held")
    held.received(envelope("bus", {})).after(60000).step("wake")
    held.stored(lambda it: [it.close(1002), *it.pauses("text-after-ready")])
    cut = storing("nothing is written to a transport that has gone meanwhile")
    cut.closed(code=1006).after(10)
    *_, connected = cut.ready()
    cut.awaits_ready = False
    cut.stored(connected, *cut.pauses("dropped")).wake().connect()
    changed = storing("a person changes the keyring meanwhile").step("change", change="forgetPsks")
    changed.stored(lambda it: [it.close(), it.left().stores(psks={})]).stored(*changed.dial()).connect()
    unasked = ready("an answer to nothing", "Storing")
    unasked.step("stored").step("stored", error="disk-full")
    asked = storing("questions wait meanwhile, and may be late", questions=True)
    asked.waits("q-1", timeout=1000).waits("q-2").wake(lambda it: [it.is_late("q-1", "wrong-state")])
    asked.stored(lambda it: [it.sent("q-2")])

    def failing(comment):
        return Link(comment, "StoreFails").start().hello().offer().derived().answer()

    def fails(link):
        return link.not_stored(link.close(), *link.pauses("disk-full"))

    once = fails(failing("a pin cannot be stored: the derived PSK is used again")).wake().hello().offer().answer().stored()
    thrice = fails(fails(failing("a person is asked at the third failure")).wake().hello().offer().answer()).wake()
    thrice.hello().offer().answer().not_stored(thrice.close(), *thrice.asking("disk-full"))
    thrice.start().hello().offer().answer().stored()
    late = failing("the connection was lost before the store failed").closed(code=1006).after(5)
    late.not_stored(*late.pauses("disk-full")).wake().hello().offer().answer().stored()
    person = ready("what a person has changed cannot be stored", "StoreFails", psk="provisioned")
    person.step("change", person.close(), person.left().stores(psks={}), change="forgetPsks")
    for after in (2000, 4000):
        person.timers["dial"] = person.at + after
        person.not_stored(tell("reconnect", after=after))
        person.timers.pop("dial")
        person.wake(person.stores(psks={}))
    person.state = "asking"
    person.not_stored(tell("ask", error="disk-full"))
    person.state = "waiting"
    person.step("start", person.stores(psks={})).stored(*person.dial()).connect()
    return [held, cut, changed, unasked, asked, once, thrice, late, person]


def late_calls():
    old = ready("of an older connection", "Late").lost().wake()
    message = envelope("hello", HELLO)
    old.closed(connection=1, code=1008).received(message, connection=1).step("opened", connection=1)
    old.step("computed", connection=1, sharedSecret=bytes(32).hex()).closed(connection=3, code=1000).connect()
    waiting = ready("during a pause", "Late").lost()
    waiting.closed(code=1006).received(message).step("opened", connection=1).wake()
    return [old, waiting]


def derivations():
    def deriving(comment):
        return Link(comment, "Deriving").start().hello().offer()

    slow = deriving("there is no deadline for it").after(3600000).step("wake").derived()
    outlives = deriving("it outlives its connection").after(100).lost().wake().hello().offer().derived().answer().stored()
    early = deriving("its result comes during a pause, and is kept").lost().derived_early().wake().hello().offer()
    early.answer().stored()
    twice = deriving("a second answer, and one with another number").derived(number=2, is_late=True).derived()
    twice.derived(is_late=True).derived(number=7, is_late=True).answer().stored()
    fails = deriving("it fails: it is ordered again")
    fails.is_deriving = False
    fails.derivation_fails(fails.close(), *fails.pauses("no-memory")).wake().hello().offer().derived()
    lost = deriving("it fails after its connection was lost").lost()
    lost.is_deriving = False
    lost.derivation_fails().wake().hello().offer()
    other = deriving("another hub answers").lost().wake().hello("hub-2")
    other.is_deriving = False
    other.offer(stops=True).derived(number=1, is_late=True).derived().answer().stored()
    held = deriving("its result comes during a pause, and another hub answers").lost().derived_early().wake().hello("hub-2")
    held.derived_psk = None  # it was that of the other hub
    held.offer().derived().answer().stored()
    changed = deriving("a person has another password")
    changed.is_deriving = False
    stop = {"do": "stop-deriving"}
    changed.step("change", changed.close(), stop, *changed.left().dial(), change="forgetPsks")
    changed.hello().offer().derived(number=1, is_late=True).derived().answer().stored()
    ended = deriving("the link ends")
    ended.step("end", ended.close(), stop, ended.ended()).derived(is_late=True)
    return [slow, outlives, early, twice, fails, lost, other, held, changed, ended]


def pauses():
    def dialling(comment, **options):
        return known(comment, "Pauses", **options).start()

    doubled = dialling("pauses double, and are shorter after `start`").lost().wake().lost().wake().lost()
    doubled.after(10).start().lost().wake().lost()
    again = dialling("`start` with a connection changes nothing").step("start").connect().step("start")
    early = dialling("an early `wake` does nothing").lost().after(999).step("wake").wake().lost()
    early.after(100000).step("wake", *early.dial())
    server = dialling("the server wants to be left alone")
    server.draws()
    server.lost("unavailable", code=None, retry=60000, status=503, retryAfter=60000).wake()
    server.lost("unavailable", code=None, status=429, retryAfter=1).wake()
    server.draws()
    server.lost("unavailable", code=None, retry=600000, status=429, retryAfter=86400000).wake()
    kk = dialling("the server wants to be left alone after KKpsk0").hello().offer()
    kk.xx_alone = True
    kk.timers["dial"] = 5000
    kk.closed(*kk.pauses("kk-refused", retry=5000), code=1008, retryAfter=5000).wake()
    refused = dialling("the upgrade is refused").lost("access-refused", code=None, status=401).wake()
    refused.lost("dropped", code=None).wake().lost("unavailable", reason="connection_limit")
    return [doubled, again, early, server, kk, refused]


def timeouts():
    def gives_up(link):
        return link.wake(lambda it: [it.close(), *it.pauses("timeout")])

    silent = known("no HELLO", "Timeout").start().after(WAIT - 1).step("wake")
    gives_up(gives_up(silent).wake())
    offer = gives_up(known("no offer", "Timeout").start().after(20000).hello()).wake()
    message_2 = gives_up(Link("no message 2 of XXpsk2", "Timeout", psk="stored").start().hello().after(7).offer()).wake()
    none = ready("a connection that is ready has no deadline", "Timeout").after(3600000).step("wake")
    own = known("a deadline of its own", "Timeout", policy={"deadlines": {"awaiting-hello": 100}}).start()
    own.timers["hub"] = 100
    own.results[-1]["deadline"] = 100
    gives_up(own)
    return [silent, offer, message_2, none, own]


def questions():
    def asking(comment, **options):
        return known(comment, "Questions", questions=True, **options)

    def connected(comment):
        return asking(comment).start().connect()

    spoken = connected("asked, and answered").asks("q-1").after(500)
    spoken.heard("q-1").hear(speech("q-1"), said("q-1"))
    spoken.wake(lambda it: [it.over("q-1", "spoken", "It is noon.")])
    before = asking("asked before `start`").waits("q-1").start().connect(lambda it: [it.sent("q-1")])
    paused = asking("asked during a pause, which may be long").start().lost().waits("q-1", timeout=100000).wake()
    paused.lost().wake().connect(lambda it: [it.sent("q-1")])
    late = asking("not sent in time, while there is no connection").start().waits("q-1", timeout=500)
    late.wake(lambda it: [it.is_late("q-1", "wrong-state")]).connect()
    cause = asking("not sent in time, because of the latest connection").start().lost().wake().lost().waits("q-1", timeout=500)
    cause.wake(lambda it: [it.is_late("q-1", "dropped")])
    minute = asking("not sent within a minute").start().lost("unavailable", code=None, status=503, retry=600000, retryAfter=600000)
    minute.random.append("800000")
    minute.waits("q-1").wake(lambda it: [it.is_late("q-1", "unavailable")])
    timeout = connected("asked, and never answered").asks("q-1").after(1)
    timeout.asks("q-2", session="other").wake(lambda it: [it.over("q-1", "timeout")])
    timeout.wake(lambda it: [it.over("q-2", "timeout")])
    lost = connected("the connection is lost").asks("q-1").lost("dropped", finish("q-1", "closed", error="dropped")).wake()
    lost.connect()
    busy = connected("two in one session: the second has its turn").asks("q-1").waits("q-2").hear(speech("q-2"), tell_event("q-2"))
    busy.heard("q-1").hear(speech("q-1"), said("q-1")).wake(lambda it: [it.over("q-1", "spoken", "It is noon."), it.sent("q-2")])
    unsent_one = connected("two in one session: the second was not sent, and waits for the next connection").asks("q-1").waits("q-2")
    unsent_one.lost("dropped", finish("q-1", "closed", error="dropped")).wake()
    unsent_one.connect(lambda it: [it.sent("q-2")])
    busy_late = connected("two in one session: the second is late").asks("q-1").waits("q-2", timeout=3000)
    busy_late.wake(lambda it: [it.is_late("q-2", "wrong-state")])
    busy_late.wake(lambda it: [it.over("q-1", "timeout")])
    denied = {"msg_type": "bus", "payload": {"type": "hive.policy.denied", "data": {"denied_type": ASKED}, "context": {}}}
    unsure = connected("a refusal without an id, after another message: it may be for that one").asks("q-1")
    unsure.send(NEXT, unsure.seal(NEXT)).after(9999).hear(denied, tell_event(type="hive.policy.denied"))
    soft = connected("a soft failure, and speech after all").asks("q-1").heard("q-1").hear(unmatched("q-1")).after(4000)
    soft.heard("q-1").hear(speech("q-1"), said("q-1")).wake(lambda it: [it.over("q-1", "spoken", "It is noon.")])
    failed = connected("a soft failure, and nothing more").asks("q-1").heard("q-1").hear(unmatched("q-1"))
    failed.wake(lambda it: [it.over("q-1", "unanswered")])
    done = connected("done before any speech, and speech after all").asks("q-1").heard("q-1").hear(handled("q-1")).after(4000)
    done.heard("q-1").hear(speech("q-1"), said("q-1")).wake(lambda it: [it.over("q-1", "spoken", "It is noon.")])
    quiet = connected("done before any speech, and nothing more").asks("q-1").heard("q-1").hear(handled("q-1"))
    quiet.wake(lambda it: [it.over("q-1", "handled")])
    repeated = connected("a request id that is in use").asks("q-1").ask("q-1", unsent(question("q-1"), "bad-argument"))
    person = asking("a person must act", policy={"onKkFailure": "keep-pin"}).waits("q-1").start().hello().offer()
    person.xx_alone, person.hub_static = True, person.other.hub_static
    person.closed(*person.pauses("kk-refused", retry=0), *person.dial(), connection=1, code=1008).hello().offer()
    person.timers.pop("unsent q-1")
    person.shows_another_key(unsent(question("q-1"), "hub-key-changed"))
    person.ask("q-2", unsent(question("q-2"), "hub-key-changed"))
    unsolicited = connected("what belongs to no question").hear(NEXT, tell_event(type="mycroft.mic.listen"))
    alike = connected("speech without a request id: of sessions whose ids only end like ours, then of ours with a namespace")
    alike.asks("q-1", session="abc").hear(speech_in("xabc"), tell_event())
    alike.hear(speech_in("a:hub:abc"), tell_event()).heard("q-1").hear(speech_in("hub:abc"), said("q-1")).wake(lambda it: [it.over("q-1", "spoken", "It is noon.")])
    named = connected("speech whose request id is its correlation_id").asks("q-1", session="abc").heard("q-1")
    named.hear(speech("q-1", named="correlation_id"), said("q-1")).wake(lambda it: [it.over("q-1", "spoken", "It is noon.")])
    placed = connected("a correlation_id in the context, and another request_id in its session: the place comes first")
    placed.asks("q-1", session="abc").heard("q-1")
    elsewhere = {"session_id": "abc", "request_id": "q-2"}
    placed.hear(speech("q-1", named="correlation_id", session=elsewhere), said("q-1"))
    placed.wake(lambda it: [it.over("q-1", "spoken", "It is noon.")])
    both = asking("two sessions at once").waits("q-1").waits("q-2", session="other").start()
    both.connect(lambda it: [it.sent("q-1"), it.sent("q-2", session="other")])
    fresh = asking("the key was accepted: questions wait for the store", fresh=True).waits("q-1").start().hello().offer()
    fresh.answer(lambda it: [it.stores(staticKeyIsFresh=False)]).stored(lambda it: [it.sent("q-1")])
    limited = connected("a timeout counts for the answer, too").asks("q-1", timeout=3000).after(500)
    limited.heard("q-1").hear(speech("q-1"), said("q-1")).wake(lambda it: [it.over("q-1", "timeout", "It is noon.")])
    rest = asking("what is left of a timeout when the question is sent").waits("q-1", timeout=40000).start().after(9000)
    rest.connect(lambda it: [it.sent("q-1")]).wake(lambda it: [it.over("q-1", "timeout")])
    parts = connected("each part is told as it comes, and the hub says that it is done").asks("q-1").after(100)
    parts.heard("q-1").hear(speech("q-1", "One."), said("q-1", "One.")).after(4000)
    parts.heard("q-1").hear(speech("q-1", "Two."), said("q-1", "Two.")).after(100)
    parts.timers.pop("reply q-1")
    parts.hear(handled("q-1"), finish("q-1", "handled", "One. Two."))
    known_hub = connected("that the hub says when it is done is known on the next connection").asks("q-1")
    known_hub.heard("q-1").hear(speech("q-1"), said("q-1"))
    known_hub.timers.pop("reply q-1")
    known_hub.hear(handled("q-1"), finish("q-1", "handled", "It is noon.")).lost().wake().connect().asks("q-2")
    known_hub.heard("q-2", REPLY_WAIT).hear(speech("q-2"), said("q-2"))
    known_hub.wake(lambda it: [it.over("q-2", "spoken", "It is noon.")]).resumes().lost().wake().connect().asks("q-3")
    known_hub.heard("q-3").hear(speech("q-3"), said("q-3"))
    other_hub = connected("that a hub omits it is not known of another one").asks("q-1").heard("q-1").hear(speech("q-1"), said("q-1"))
    other_hub.wake(lambda it: [it.over("q-1", "spoken", "It is noon.")]).lost().wake().hello("hub-2").offer()
    other_hub.derived().answer().stored().asks("q-2").heard("q-2").hear(speech("q-2"), said("q-2"))
    other_hub.wake(lambda it: [it.over("q-2", "spoken", "It is noon.")]).lost().wake().connect().asks("q-3")
    other_hub.heard("q-3", 250).hear(speech("q-3"), said("q-3"))
    without = ready("without a scheduler", "Questions").ask("q-1", refused="wrong-state").hear(speech("q-1"), text(speech("q-1")))
    tests = [spoken, before, paused, late, cause, minute, timeout, lost, busy, unsent_one, busy_late, unsure, soft, failed, done, quiet, repeated, person]
    return [*tests, limited, rest, parts, known_hub, other_hub, unsolicited, alike, named, placed, both, fresh, without]


def cancels():
    def asking(comment, **options):
        return known(comment, "Cancel", questions=True, **options)

    def connected(comment):
        return asking(comment).start().connect()

    before = asking("before it could be sent").start().waits("q-1").waits("q-2").cancel("q-1").connect(lambda it: [it.sent("q-2")])
    sent = connected("one that was sent: the next in its session has its turn").asks("q-1").waits("q-2")
    sent.after(100).cancel("q-1", lambda it: [it.sent("q-2")]).hear(speech("q-1"), tell_event("q-1"))
    part = connected("one that was answered in part").asks("q-1").heard("q-1").hear(speech("q-1"), said("q-1"))
    part.cancel("q-1").hear(speech("q-1", "One."), tell_event("q-1"))
    waiting = connected("one that waits for its turn").asks("q-1").waits("q-2").cancel("q-2").after(100).heard("q-1")
    waiting.hear(speech("q-1"), said("q-1")).wake(lambda it: [it.over("q-1", "spoken", "It is noon.")]).after(60000).step("wake")
    over = connected("one that has ended, and one that was never asked").asks("q-1").wake(lambda it: [it.over("q-1", "timeout")])
    over.cancel("q-1").cancel("q-2")
    lost = connected("the connection is lost afterwards").asks("q-1").cancel("q-1").lost()
    held = asking("while a keyring is being stored", pinned=False, fresh=True).start().connect().asks("q-1").waits("q-2").waits("q-3")
    held.hear(NEXT, tell_event(type="mycroft.mic.listen"), held.stores(staticKeyIsFresh=False)).cancel("q-1").cancel("q-2")
    held.stored(lambda it: [it.sent("q-3")])
    return [before, sent, part, waiting, over, lost, held]


def sending():
    sent = ready("JSON and bytes", "Sending")
    sent.send(PING, sent.seal(PING)).send(b"\1\2", sent.seal(b"\1\2"))
    early = known("before there is a connection", "Sending").send(PING, unsent(PING, "wrong-state")).start()
    early.send(b"\1", unsent(b"\1", "wrong-state")).connect().lost().send(PING, unsent(PING, "wrong-state"))
    early.step("end", early.ended()).send(PING, unsent(PING, "wrong-state"))
    held = ready("while a keyring is being stored", "Sending", pinned=False, fresh=True)
    held.hear(NEXT, text(NEXT), held.stores(staticKeyIsFresh=False)).send(PING).stored(lambda it: [it.seal(PING)])
    cut = ready("the link ends while a keyring is being stored", "Sending", pinned=False, fresh=True)
    cut.hear(NEXT, text(NEXT), cut.stores(staticKeyIsFresh=False)).send(PING)
    cut.step("end", cut.close(), unsent(PING, "session-over"), cut.ended()).stored()
    gone = ready("the connection is lost while a keyring is being stored", "Sending", pinned=False, fresh=True)
    gone.hear(NEXT, text(NEXT), gone.stores(staticKeyIsFresh=False)).closed(code=1006).send(PING)
    gone.stored(*gone.pauses("dropped"), unsent(PING, "dropped"))
    return [sent, early, held, cut, gone]


def ends():
    def ending(comment, **options):
        return known(comment, "End", **options)

    def ends_open(link):
        return link.step("end", link.close(), link.ended())

    before = ending("before `start`")
    before.step("end", before.ended()).step("end").start().connect()
    connecting = ends_open(ending("while it connects").start()).closed(code=1000).start().connect()
    is_ready = ends_open(ready("while it is ready", "End")).after(60000).step("wake")
    waiting = ending("during a pause").start().lost()
    waiting.step("end", waiting.ended()).after(60000).step("wake")
    deriving = Link("before the store has answered", "End").start().hello().offer().derived().answer()
    ends_open(deriving).received(envelope("bus", {})).stored_late().start().connect()
    failed = Link("before the store has failed", "End").start().hello().offer().derived().answer()
    ends_open(failed).not_stored().start().connect()
    restarted = Link("and `start` before the store has answered", "End").start().hello().offer().derived().answer()
    ends_open(restarted).restarts().stored_late(lambda it: it.dial()).connect()
    asked = ready("with questions", "End", questions=True).asks("q-1").waits("q-2")
    over = [finish("q-1", "closed", error="session-over"), unsent(question("q-2"), "session-over")]
    asked.step("end", asked.close(), *over, asked.ended()).ask("q-3", unsent(question("q-3"), "session-over"))
    person = known("while a person must act", "End", policy={"onKkFailure": "keep-pin"}, trust="pinned-only").start()
    person.hello("hub-2").received(
        envelope("shake", offer_of(["XXpsk2"], [CHACHAPOLY])), person.close(1008), *person.asking("unknown-hub")
    )
    person.step("end", person.ended()).step("trust", refused="wrong-state")
    return [before, connecting, is_ready, waiting, deriving, failed, restarted, asked, person]


def own_failures():
    def fails(link):
        return link.closed(*link.pauses("no-socket"), error="no-socket")

    thrice = fails(fails(known("no socket, three times", "OwnFailure").start()).wake()).wake()
    thrice.closed(*thrice.asking("no-socket"), error="no-socket").start().connect()
    between = fails(fails(known("a connection that was ready in between", "OwnFailure").start()).wake()).wake().connect().lost()
    fails(between.wake())
    again = fails(fails(known("three failures after a connection that was ready", "OwnFailure").start()).wake()).wake().connect()
    again = fails(fails(again.lost().wake()).wake()).wake()
    again.closed(*again.asking("no-socket"), error="no-socket")
    anew = fails(fails(known("`start` after three failures", "OwnFailure").start()).wake()).wake()
    anew.closed(*anew.asking("no-socket"), error="no-socket").start()
    fails(fails(anew).wake()).wake().connect()
    random = known("no random bytes for a pause", "OwnFailure").start()
    random.random.append(None)
    random.state = "asking"
    random.timers = {}
    random.closed(tell("close", error="dropped"), tell("ask", error="crypto-failed"), code=1006).start()
    return [thrice, between, again, anew, random]


def persons():
    def acts(comment, **options):
        return ready(comment, "Person", **options)

    during = acts("a change during a pause").lost()
    during.timers.pop("dial")
    during.step("change", during.stores(psks={}), change="forgetPsks").stored(*during.resumes().dial()).connect()
    nothing = Link("a change that changes nothing", "Person", pinned=True)
    nothing.step("change", *nothing.dial(), change="forgetPsks").connect().lost().wake().connect()
    early = Link("a change before `start`", "Person", psk="stored")
    early.step("change", early.stores(psks={}), change="forgetPsks").stored(*early.dial()).connect()
    online = acts("a change of a connection that is ready", questions=True).asks("q-1").waits("q-2")
    told = [online.close(), finish("q-1", "closed", error="dropped")]
    online.step("change", *told, online.left().stores(psks={}), change="forgetPsks").stored(*online.dial())
    online.connect(lambda it: [it.sent("q-2")])
    certificate = {"cause": "certificate-refused", "platformCode": "CERT_HAS_EXPIRED"}
    renewed = known("a certificate that is renewed while a person is asked", "Person", questions=True).waits("q-1").start()
    renewed.closed(*renewed.asking_on("certificate-refused"), **certificate).waits("q-2").wake()
    renewed.closed(*renewed.asking_on("certificate-refused"), **certificate).wake()
    renewed.connect(lambda it: [it.sent("q-1")]).lost("dropped", finish("q-1", "closed", error="dropped"))
    return [during, nothing, early, online, renewed]


def others():
    mqtt = Link("the client announces itself, once", "Mqtt").start()
    mqtt.step("opened", mqtt.write(ANNOUNCEMENT), connection=1).after(1000).connect()
    retained = Link("the hub has spoken before", "Mqtt").start().hello().step("opened", connection=1).offer()
    away = known("the hub is away", "Mqtt").start().after(9000)
    away.step("opened", away.write(ANNOUNCEMENT), connection=1).wake(lambda it: [it.close(), *it.pauses("timeout")])

    def elsewhere(comment, **options):
        return Link(comment, "Compute", kept_elsewhere=True, **options).start().hello()


    def elsewhere(comment, **options):
        return Link(comment, "Compute", kept_elsewhere=True, psk="stored", **options).start().hello()

    xx = elsewhere("XXpsk2: the pin is stored first").offer().answer().after(5).stored().computed().lost().wake()
    xx.hello().offer().computed()
    kk = elsewhere("KKpsk0", pinned=True).offer().after(60000).computed().answer().computed()
    fails = elsewhere("a secret that cannot be computed", pinned=True).offer()
    fails.step("computed", fails.close(), *fails.pauses("no-chip"), connection=1, error="no-chip").wake()
    fails.step("computed", connection=1, sharedSecret=bytes(32).hex()).hello().offer().computed().answer().computed()

    paced = known("KKpsk0", "Paced", paced=True).start().hello().offer().paces().after(9).answer().paces()
    paced_xx = Link("XXpsk2: the pin is stored before message 3", "Paced", psk="stored", paced=True).start()
    paced_xx.hello().offer().paces().answer().after(9).paces().stored().after(1).paces()
    paced_lost = known("the connection is lost between two steps", "Paced", paced=True).start().hello().offer()
    paced_lost.lost().wake()

    pins = {NODE_ID: Link("a second tab has pinned the hub", "Shared").keys.hub_public.hex()}
    second = Link("a second tab has pinned the hub", "Shared", psk="stored", shared=True).reads("start")
    second.stored_by_others(pins).connect().lost().reads("wake").stored(*second.dial()).connect()
    differs = Link("a second tab has pinned another key meanwhile", "Shared", psk="stored", shared=True).reads("start")
    differs.stored(*differs.dial()).hello().offer().answer()
    differs.not_stored(differs.close(), *differs.pauses("pin-differs"), error="pin-differs").reads("wake")
    differs.stored_by_others({NODE_ID: differs.other.hub_public.hex()})
    unread = known("the store cannot be read", "Shared", shared=True).reads("start")
    unread.timers["dial"] = 2000
    unread.not_stored(tell("reconnect", after=2000)).reads("wake").stored(*unread.dial()).connect()
    return [mqtt, retained, away, xx, kk, fails, paced, paced_xx, paced_lost, second, differs, unread]


def build():
    topics = [first_contacts, reconnects, kk_failures, passwords, stores, late_calls, derivations, pauses, timeouts, questions]
    topics += [cancels, sending, ends, own_failures, persons, others]
    tests = [script.test() for topic in topics for script in topic()]
    groups = [files.group("ClientLink", [*peer.SOURCE[:-1], RULES], tests)]
    description = "A client across all its connections: what it opens, writes, stores, derives and tells after each input."
    files.write("link", description, NOTES, groups, ["ClientLink"])

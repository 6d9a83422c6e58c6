"""Connections of a hub under test that fail before `ready`."""

from files import AESGCM, CHACHAPOLY
from peer import Keys, envelope, flip
from script import MESSAGE_1_PAYLOAD, NODE_ID, Hub, shake
from session_client_failures import as_it_is

STRANGER = Keys("another client")


def hub(comment, *flags, **options):
    return Hub(comment, [*flags, "AfterFailure"], **options).start()


def fails_on_message_1(script, spoil=as_it_is):
    return script.fail(script.envelop(spoil(script.peer.write(MESSAGE_1_PAYLOAD))))


def fails_on_message_3(script, spoil=as_it_is):
    script.message_1()
    return script.fail(shake(msg=spoil(script.peer.write()).hex()))


def negotiations():
    """Failures that the envelope alone causes."""

    def refused(script, noise={}, **payload):
        fields = {"pattern": "XXpsk2", "suite": CHACHAPOLY, "msg": script.peer.write(MESSAGE_1_PAYLOAD).hex(), **noise}
        return script.fail(envelope("shake", {"noise": fields, **payload}))

    kk = {"pattern": "KKpsk0", "patterns": ["XXpsk2"]}
    known = hub("a KKpsk0 that was not offered, from a client that is known", "Negotiation", **kk)
    other = hub("a handshake under a suite that was not offered", "Negotiation", suite=AESGCM, suites=[CHACHAPOLY])
    tests = [
        refused(hub("KKpsk0, which was not offered", "Negotiation"), {"pattern": "KKpsk0"}),
        refused(hub("a suite that was not offered", "Negotiation"), {"suite": AESGCM}),
        refused(hub("a pattern that nobody knows", "Negotiation"), {"pattern": "NNpsk0"}),
        refused(hub("a pattern in another spelling", "Negotiation"), {"pattern": "xxpsk2"}),
        *map(fails_on_message_1, [known, other]),
        refused(hub("a client that speaks protocol 2", "ProtocolVersion"), max_protocol_version=2),
    ]
    return [test.test() for test in tests]


def xx_failures():
    first, last = fails_on_message_1, fails_on_message_3
    bare = {
        "client_hello": {"node_id": NODE_ID},
        "client_offer": {"max_protocol_version": 3, "noise": {"patterns": ["XXpsk2"], "suites": [CHACHAPOLY]}},
    }
    other = {"client_hello": {"node_id": NODE_ID, "peer": "hub::2", "pubkey": ""}}
    changed = hub("another client key than the pinned one", "ClientKeyChanged", client_key=STRANGER.client_public)
    nearly_same = [
        hub(
            f"another client key than the pinned one, which differs in its {which} byte alone",
            "ClientKeyChanged",
            client_key=lambda key, at=at: flip(key, at),
        )
        for which, at in [("first", 0), ("17th", 16), ("last", -1)]
    ]
    damaged = [
        (first, "message 1 with a bit flipped in its ephemeral key", lambda m: flip(m, 0)),
        (first, "message 1 with a bit flipped in its payload", lambda m: flip(m, 32)),
        (first, "message 1 without its last byte", lambda m: m[:-1]),
        (first, "message 1 one byte shorter than it can be", lambda m: m[:47]),
        (last, "message 3 with a bit flipped in its static key", lambda m: flip(m, 0)),
        (last, "message 3 with a bit flipped in its static key's tag", lambda m: flip(m, 47)),
        (last, "message 3 with a bit flipped in its tag", lambda m: flip(m, -1)),
        (last, "message 3 with a byte more", lambda m: m + b"\0"),
        (last, "message 3 without its last byte", lambda m: m[:-1]),
    ]
    tests = [
        first(hub("a client that bound another HELLO", "PrologueDiffers", **other)),
        first(hub("a client that bound only the fields it knows", "PrologueDiffers", **bare)),
        *(fails(hub(comment, "Damaged"), spoil) for fails, comment, spoil in damaged),
        *map(last, [changed, *nearly_same]),
    ]
    return [test.test() for test in tests]


def kk_failures():
    """Message 1 of KKpsk0 proves PSK, static keys and prologue at once: one failure, four causes."""

    def kk(comment, flag, spoil=as_it_is, **options):
        return fails_on_message_1(hub(comment, flag, pattern="KKpsk0", **options), spoil)

    tests = [
        kk("a client with another PSK", "KkFailure", client_psk=STRANGER.psk),
        kk("a client that pinned another hub", "KkFailure", client_pin=STRANGER.hub_public),
        kk("another client key than the pinned one", "KkFailure", client_key=STRANGER.client_public),
        kk("a client that bound another HELLO", "KkFailure", client_hello={"node_id": NODE_ID}),
        kk("message 1 with a bit flipped in its ephemeral key", "Damaged", lambda m: flip(m, 0)),
        kk("message 1 with a bit flipped in its payload", "Damaged", lambda m: flip(m, 32)),
        kk("message 1 without its last byte", "Damaged", lambda m: m[:-1]),
        kk("message 1 one byte shorter than it can be", "Damaged", lambda m: m[:47]),
    ]
    return [test.test() for test in tests]

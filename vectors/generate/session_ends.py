"""How a connection ended, given its state and how its transport closed. The tables say what that means."""

import tables
from peer import envelope
from script import GREETING, HELLO, Client, Hub, close, frame

CODES = [1000, 1005, 1008, 1001, 1006, 1011, None, "timeout"]
NO_ROOM = {"code": 1008, "reason": "connection_limit"}
FURTHER_CLOSINGS = [NO_ROOM, {"code": 1008, "reason": "invalid message"}]
# An upgrade to WebSocket is refused before anything was received.
REFUSED_UPGRADES = [
    {"status": 401},
    {"status": 403},
    {"code": 1006, "status": 401},
    {"status": 408},
    {"status": 429},
    {"status": 404},
    {"status": 499},
    {"status": 500},
    {"status": 503},
    *({"status": status} for status in [200, 302, 599]),
    {"code": 1008, "status": 404},
    {"status": 401, "reason": "connection_limit"},
    {"code": 1006, "status": 503, "reason": ""},
    *({"cause": cause} for cause in tables.CAUSES),
    {"code": 1006, "cause": "certificate-refused"},
    {"status": 503, "cause": "not-a-hub"},
    {"reason": "connection_limit"},
    {"code": 1013, "reason": "connection_limit"},
    {"code": 1013, "reason": "connection limit"},
    {"reason": "CONNECTION_LIMIT"},
]

# How far a connection had come.
XX_PHASES = [
    ("before HELLO", lambda client: client),
    ("before HANDSHAKE", lambda client: client.hello()),
    ("while the PSK is awaited", lambda client: client.hello().offer()),
    ("before message 2", lambda client: client.until_message_1()),
    ("after ready", lambda client: client.connect()),
    ("after ready, with a fresh static key", lambda client: client.connect()),
    ("after the hub was heard", lambda client: client.connect().hear("{}")),
]
KK_PHASES = [
    ("before message 2", lambda client: client.until_message_1()),
    ("after ready", lambda client: client.connect()),
    ("after the hub was heard", lambda client: client.connect().hear("{}")),
]
XX_HUB_PHASES = [
    ("before message 1", lambda hub: hub.start()),
    ("before message 3", lambda hub: hub.start().message_1()),
    ("after ready", lambda hub: hub.until_handshake_is_done()),
    ("after the client's HELLO", lambda hub: hub.connect()),
]
KK_HUB_PHASES = [
    ("before message 1", lambda hub: hub.start()),
    ("before the first message", lambda hub: hub.until_handshake_is_done()),
    ("after ready", lambda hub: hub.until_handshake_is_done().receive_frame(frame(2, GREETING[:20].encode()))),
    ("after the client's HELLO", lambda hub: hub.connect()),
]


def how(code=None, status=None, reason=None, cause=None):
    """In words: with 1008, with status 401, with 1006 and status 503, with a timeout, without a code."""
    if code == "timeout":
        return "with a timeout"
    parts = f"{code}", f"status {status}", f'the reason "{reason}"', f"the cause {cause}"
    given = [part for part, value in zip(parts, (code, status, reason, cause)) if value is not None]
    return f"with {', '.join(given)}" if given else "without a code"


def flag_of(closing):
    return "CloseStatus" if {"status", "reason", "cause"} & closing.keys() else "CloseCode"


def closings(further=FURTHER_CLOSINGS):
    return [*({} if code is None else {"code": code} for code in CODES), *further]


def xx_client_ends():
    tests = []
    for phase, reach in XX_PHASES:
        further = [*FURTHER_CLOSINGS, *REFUSED_UPGRADES] if phase == "before HELLO" else FURTHER_CLOSINGS
        for closing in closings(further=further):
            options = {"has_psk": False} if phase == "while the PSK is awaited" else {}
            if "fresh" in phase:
                options["staticKeyIsFresh"] = True
            client = reach(Client(f"closed {how(**closing)} {phase}", [flag_of(closing)], **options))
            tests.append(client.closed(**closing))
    chunk = Client("closed with 1008 after one chunk of the hub's first message", ["CloseCode"]).connect()
    tests.append(chunk.receive_frame(b"\x02[").closed(1008))
    twice = Client("the first close is the one that counts", ["CloseCode"]).hello().closed(1006)
    tests.append(twice.closed(1008).closed("timeout").ignore(envelope("hello", HELLO)))
    late = Client("what arrives after the close is ignored, whatever it is", ["CloseCode"]).hello().closed(1006)
    tests.append(late.ignore("{", "[]", envelope("bus", {}), envelope("shake", {}), b"\xff", b""))
    status = Client("the first close is the one that counts, with a status", ["CloseStatus"]).closed(status=503)
    tests.append(status.closed(status=401).closed(1008))
    failed = Client("a timeout after a failure, which is what counts", ["CloseCode"])
    failed.failure = "missing-node-id"
    tests.append(failed.receive(envelope("hello", {}), close(failed.failure)).closed("timeout"))
    return [test.test() for test in tests]


def kk_client_ends():
    tests = []
    for phase, reach in KK_PHASES:
        for closing in closings():
            client = reach(Client(f"closed {how(**closing)} {phase}", [flag_of(closing)], "KKpsk0"))
            tests.append(client.closed(**closing))
    for closing in closings():
        client = Client(
            f"closed {how(**closing)} before message 2, the pin to be kept",
            [flag_of(closing)],
            "KKpsk0",
            onKkFailure="keep-pin",
        )
        tests.append(client.until_message_1().closed(**closing))
    for comment, code in [("closed with code 1008", 1008), ("closed with code 1006", 1006)]:
        client = Client(f"a fresh static key, {comment} before message 2", ["FreshKey"], "KKpsk0", staticKeyIsFresh=True)
        tests.append(client.until_message_1().closed(code))
    return [test.test() for test in tests]


def hub_ends(pattern):
    """A hub does not dial again, and ignores close codes: many clients cannot choose one."""
    tests = []
    for phase, reach in XX_HUB_PHASES if pattern == "XXpsk2" else KK_HUB_PHASES:
        for closing in closings(further=[NO_ROOM]):
            hub = reach(Hub(f"closed {how(**closing)} {phase}", [flag_of(closing)], pattern))
            tests.append(hub.closed(**closing))
    return [test.test() for test in tests]

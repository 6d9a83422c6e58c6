"""How a connection ended, given its state and how its transport closed."""

from peer import envelope
from script import GREETING, HELLO, Client, Hub, frame

CODES = [1000, 1005, 1008, 1001, 1006, 1011, None, "timeout"]

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


def how(code):
    """In words: with 1008, with a timeout, without a code."""
    return "without a code" if code is None else "with a timeout" if code == "timeout" else f"with {code}"


def closed(side, phase, reach, *further, **options):
    """A test for each code."""
    return [
        reach(side(f"closed {how(code)} {phase}", ["CloseCode"], *further, **options)).closed(code) for code in CODES
    ]


def xx_client_ends():
    tests = []
    for phase, reach in XX_PHASES:
        options = {"has_psk": False} if phase == "while the PSK is awaited" else {}
        tests += closed(Client, phase, reach, **options, **({"staticKeyIsFresh": True} if "fresh" in phase else {}))
    chunk = Client("closed with 1008 after one chunk of the hub's first message", ["CloseCode"]).connect()
    tests.append(chunk.receive_frame(b"\x02[").closed(1008))
    twice = Client("the first close is the one that counts", ["CloseCode"]).hello().closed(1006)
    tests.append(twice.closed(1008).closed("timeout").ignore(envelope("hello", HELLO)))
    late = Client("what arrives after the close is ignored, whatever it is", ["CloseCode"]).hello().closed(1006)
    tests.append(late.ignore("{", "[]", envelope("bus", {}), envelope("shake", {}), b"\xff", b""))
    failed = Client("a timeout after a failure, which is what counts", ["CloseCode"])
    tests.append(failed.receive(envelope("hello", {})).closed("timeout"))
    return [test.test() for test in tests]


def kk_client_ends():
    tests = [test for phase in KK_PHASES for test in closed(Client, *phase, "KKpsk0")]
    kept = closed(Client, "before message 2, the pin to be kept", Client.until_message_1, "KKpsk0", onKkFailure="keep-pin")
    return [test.test() for test in [*tests, *kept]]


def hub_ends(pattern):
    """A hub does not dial again, and ignores close codes: many clients cannot choose one."""
    phases = XX_HUB_PHASES if pattern == "XXpsk2" else KK_HUB_PHASES
    return [test.test() for phase in phases for test in closed(Hub, *phase, pattern)]

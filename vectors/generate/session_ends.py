"""How a connection ended, told from what had happened before and from the close code."""

from peer import envelope
from script import HELLO, Client, Hub, ended, psk_suspect, unpin

REFUSALS = [1000, 1005, 1008]
LOSSES = [1001, 1006, 1011, None]
CODES = [*REFUSALS, *LOSSES, "timeout"]
DROPPED = ("dropped", "now", "dropped")
ACCESS = ("refused", "later", "access-refused")

# How far a client had come, and what a refusal means then.
XX_PHASES = [
    ("before HELLO", lambda client: client, ACCESS),
    ("before HANDSHAKE", lambda client: client.hello(), ACCESS),
    ("while the PSK is awaited", lambda client: client.hello().offer(), ACCESS),
    ("before message 2", lambda client: client.until_message_1(), ("refused", "later", "negotiation-refused")),
    ("after ready", lambda client: client.connect(), ("client-key-refused", "never", "client-key-refused")),
    ("after the hub was heard", lambda client: client.connect().hear("{}"), DROPPED),
]
KK_PHASES = [
    ("before message 2", lambda client: client.until_message_1(), ("refused", "now", "kk-refused")),
    ("after ready", lambda client: client.connect(), ("refused", "later", "refused")),
    ("after the hub was heard", lambda client: client.connect().hear("{}"), DROPPED),
]
HUB_PHASES = [
    ("before message 1", lambda hub: hub.start()),
    ("before message 3", lambda hub: hub.start().message_1()),
    ("after ready", lambda hub: hub.until_ready()),
    ("after the client's HELLO", lambda hub: hub.connect()),
]


def how(code):
    return {"timeout": "with a timeout", None: "without a code"}.get(code, f"with {code}")


def outcome(code, refusal):
    """A refusal means something else in each phase; a loss or a timeout puts nothing in doubt."""
    return refusal if code in REFUSALS else ("timeout", "later", "timeout") if code == "timeout" else DROPPED


def xx_client_ends():
    tests = []
    for phase, reach, refusal in XX_PHASES:
        for code in CODES:
            has_psk = phase != "while the PSK is awaited"
            client = reach(Client(f"closed {how(code)} {phase}", ["CloseCode"], has_psk=has_psk))
            tests.append(client.closed(code, ended(*outcome(code, refusal))))
    chunk = Client("closed with 1008 after one chunk of the hub's first message", ["CloseCode"]).connect()
    tests.append(chunk.receive_frame(b"\x02[").closed(1008, ended(*DROPPED)))
    twice = Client("the first close is the one that counts", ["CloseCode"]).hello().closed(1006, ended(*DROPPED))
    tests.append(twice.closed(1008).closed("timeout").ignore(envelope("hello", HELLO)))
    return [test.test() for test in tests]


def kk_client_ends():
    tests = []
    for phase, reach, refusal in KK_PHASES:
        for code in CODES:
            doubts = [psk_suspect(), unpin()] if refusal[2] == "kk-refused" and code in REFUSALS else []
            client = reach(Client(f"closed {how(code)} {phase}", ["CloseCode"], "KKpsk0"))
            tests.append(client.closed(code, *doubts, ended(*outcome(code, refusal))))
    for code in CODES:
        doubts = [psk_suspect()] if code in REFUSALS else []
        client = Client(
            f"closed {how(code)} before message 2, the pin to be kept", ["CloseCode"], "KKpsk0", onKkFailure="keep-pin"
        )
        refusal = ("refused", "later", "kk-refused")
        tests.append(client.until_message_1().closed(code, *doubts, ended(*outcome(code, refusal))))
    return [test.test() for test in tests]


def hub_ends(pattern):
    """A hub does not dial again, and reads no code: many clients cannot choose one."""
    tests = []
    for phase, reach in HUB_PHASES:
        if pattern == "KKpsk0" and phase == "before message 3":
            continue
        for code in CODES:
            reason = "timeout" if code == "timeout" else "dropped"
            hub = reach(Hub(f"closed {how(code)} {phase}", ["CloseCode"], pattern))
            tests.append(hub.closed(code, ended(reason, "never", reason)))
    return [test.test() for test in tests]

"""The tables of a session: which states follow which inputs, and what the end of a connection means.

They are written by hand. The other generators look up what they expect here, and tables.json has the same rows for
ports. If several rows of a table match, the first one counts.
"""

import files

RULES = "rules that the specification leaves open, by hand"
SOURCE = [files.SPECIFICATION, RULES]

NOTES = {
    "Call": (
        "The caller's own methods in each state. `wrong-state` refuses a call that comes too early and changes "
        "nothing; a call that comes late or twice does nothing. An implementation that fails most likely ends the "
        "session over a mistake of its caller, or starts the handshake again."
    ),
    "Cleartext": (
        "A cleartext envelope on an encrypted session that is not a repeat: any other type, and a HELLO or an offer as "
        "bytes, with which a hub on MQTT shows that it has lost the session. It ends the session and is never "
        "delivered. An implementation that fails lets anybody on the path speak for the peer, or waits for ever."
    ),
    "Heard": (
        "Once a transport message of the hub has opened, the hub has accepted this client: whatever closes the "
        "connection later is a loss. An implementation that fails most likely takes the restart of a hub for a refusal."
    ),
    "HubNeverDials": (
        "A hub never dials, so it never retries, and it reads no close code, since many clients cannot choose one. An "
        "implementation that fails most likely uses the table of the client."
    ),
    "Loss": (
        "A connection that was not made or was lost, a timeout and a hub without room say nothing about pin, PSK or access key. An "
        "implementation that fails most likely drops the pin because of a bad network, or redials a busy hub at once."
    ),
    "Next": (
        "An input that the state waits for, and the states that may follow. An implementation that fails most likely "
        "has no state of its own for this step, or skips one."
    ),
    "Order": (
        "An envelope that comes before its time, or that has no place in a handshake, ends the session with this "
        "error. An implementation that fails most likely handles envelopes by their type alone."
    ),
    "OwnFailure": (
        "What the first error of a session means for the next attempt, whatever the transport reports afterwards. "
        "After a KKpsk0 whose message 2 was refused, retry is `now`. An implementation that fails most likely reads the "
        "close code instead."
    ),
    "PinInDoubt": (
        "A refused KKpsk0 makes the pin suspect, and nothing else does. It is kept, and retry is `now`, with XXpsk2. An "
        "implementation that fails most likely drops the pin, which then says nothing of the next hub, or repeats the KKpsk0 "
        "for ever."
    ),
    "PolicyEnding": (
        "What follows the end of a connection, for all whose fields `when` has. `redial` is at once, `pause` after a random "
        "pause, `ask` after a long one, while a person is asked; where `isRefusal` is set, the longest pause is ten times as long. "
        "An implementation that fails most likely takes `retry` for a schedule, or lets anybody who can write to a connection "
        "stop it for ever."
    ),
    "PolicyState": (
        "The states of a client between and during its connections. An input that is ignored is that of an old timer, or "
        "comes twice. An implementation that fails most likely has two connections at once, or dials after its goodbye."
    ),
    "ReadClosing": (
        "What the transport says of the cause counts first, then an HTTP status, then the reason `connection_limit`, then "
        "the close code, of which 1008 alone refuses. An implementation that fails most likely sees only the 1006 of a refused "
        "upgrade and redials at once, for ever, or takes a hub that says goodbye with 1000 for one that refuses."
    ),
    "Refusal": (
        "What a refusal means depends on how far the handshake had come. An implementation that fails most likely "
        "reads the close code without the state."
    ),
    "Repeat": (
        "From the HANDSHAKE on, an envelope of the handshake that the state does not wait for changes nothing. `form` "
        "is text or bytes where that makes a difference. An implementation that fails most likely starts over, feeds "
        "it to the handshake, or closes."
    ),
}


def row(comment, flag, **fields):
    return files.valid(comment, [flag], **fields)


# How a transport closed

CAUSES = {
    "not-reachable": "no connection could be made",
    "certificate-refused": "the certificate of the server cannot be verified",
    "not-a-hub": "the server does not answer as a hub",
    "broker-refused": "the MQTT broker refuses the account",
}
CLOSINGS = [
    *(
        row(
            comment,
            "ReadClosing",
            closings=[
                {"cause": cause},
                {"cause": cause, "platformCode": "EXAMPLE"},
                {"code": 1006, "cause": cause},
                {"code": 1008, "reason": "connection_limit", "cause": cause},
                {"status": 503, "cause": cause},
            ],
            kind=cause,
        )
        for cause, comment in CAUSES.items()
    ),
    row("the caller gave up waiting", "ReadClosing", closings=["timeout"], kind="timeout"),
    row(
        "an upgrade to WebSocket that was refused with 401 or 403",
        "ReadClosing",
        closings=[
            {"status": 401},
            {"status": 403},
            {"code": 1006, "status": 401},
            {"code": 1006, "status": 403, "reason": ""},
            {"status": 401, "reason": "connection_limit"},
        ],
        kind="unauthorized",
    ),
    row(
        "an upgrade to WebSocket that a server refused that has no time",
        "ReadClosing",
        closings=[
            *({"status": status} for status in [408, 429, 500, 502, 503, 599]),
            {"code": 1006, "status": 503, "reason": ""},
        ],
        kind="unavailable",
    ),
    row(
        "an upgrade to WebSocket that was refused with any other status, as no hub does",
        "ReadClosing",
        closings=[
            *({"status": status} for status in [200, 302, 400, 402, 404, 407, 409, 426, 428, 430, 499]),
            {"status": 404, "reason": "connection_limit"},
            {"code": 1008, "status": 404},
        ],
        kind="not-a-hub",
    ),
    row(
        "the close reason connection_limit, with whatever code",
        "ReadClosing",
        closings=[
            {"reason": "connection_limit"},
            *({"code": code, "reason": "connection_limit"} for code in [1000, 1006, 1008, 1013]),
        ],
        kind="unavailable",
    ),
    row(
        "a close code with which a hub refuses",
        "ReadClosing",
        closings=[
            1008,
            {"code": 1008},
            {"code": 1008, "reason": "invalid message"},
        ],
        kind="refusal",
    ),
    row(
        "any other close code, or none",
        "ReadClosing",
        closings=[
            *[1000, 1001, 1002, 1003, 1005, 1006, 1007, 1009, 1010, 1011, 1012, 1013, 1014, 1015, 3000, 4000, 4401, 4999],
            {},
            {"code": 1000},
            {"code": 1000, "reason": "invalid message"},
            {"code": 1001},
            {"code": 1005, "reason": ""},
            {"code": 1006, "reason": ""},
            {"code": 1013, "reason": "connection limit"},
            {"reason": "CONNECTION_LIMIT"},
        ],
        kind="loss",
    ),
]

# What that means, if the session had not failed

BEFORE_MESSAGE_1 = ["awaiting-hello", "awaiting-offer", "awaiting-psk", "sealing-message-1"]

ENDINGS = {
    "client": [
        *(
            row(comment, "Loss", close=cause, reason="dropped", retry="later", error=cause)
            for cause, comment in CAUSES.items()
        ),
        row("a timeout", "Loss", close="timeout", reason="timeout", retry="later", error="timeout"),
        row("a hub without room", "Loss", close="unavailable", reason="dropped", retry="later", error="unavailable"),
        row("a lost connection", "Loss", close="loss", reason="dropped", retry="now", error="dropped"),
        row("a refusal by a hub that was heard", "Heard", heard=True, reason="dropped", retry="now", error="dropped"),
        row(
            "an upgrade that was refused",
            "Refusal",
            close="unauthorized",
            reason="refused",
            retry="later",
            error="access-refused",
        ),
        row(
            "a refusal before message 1",
            "Refusal",
            states=BEFORE_MESSAGE_1,
            reason="refused",
            retry="later",
            error="access-refused",
        ),
        row(
            "a refusal of message 1 of XXpsk2",
            "Refusal",
            states=["awaiting-message-2"],
            pattern="XXpsk2",
            reason="refused",
            retry="later",
            error="negotiation-refused",
        ),
        row(
            "a refusal of message 1 of KKpsk0",
            "PinInDoubt",
            states=["awaiting-message-2"],
            reason="refused",
            retry="now",
            error="kk-refused",
            doubtsPin=True,
        ),
        row(
            "a refusal of message 3, which shows the client's static key, if no hub has accepted that yet",
            "Refusal",
            states=["ready"],
            pattern="XXpsk2",
            isFresh=True,
            reason="client-key-refused",
            retry="later",
            error="client-key-refused",
        ),
        row("any other refusal", "Refusal", reason="refused", retry="later", error="refused"),
    ],
    "hub": [
        row("a timeout", "HubNeverDials", close="timeout", reason="timeout", retry="never", error="timeout"),
        row("any other close", "HubNeverDials", reason="dropped", retry="never", error="dropped"),
    ],
}

# What an error of the session itself means

FAILURES = {
    "client": [
        row("another key than the pinned one", "OwnFailure", error="hub-key-changed", reason="refused", retry="never"),
        row("a hub that is not pinned and must be", "OwnFailure", error="unknown-hub", reason="refused", retry="never"),
        row("a fault of the client's own side", "OwnFailure", isLocal=True, reason="dropped", retry="later"),
        row("an error after the handshake", "OwnFailure", isEstablished=True, reason="dropped", retry="now"),
        row("an error before the end of the handshake", "OwnFailure", reason="refused", retry="later"),
    ],
    "hub": [
        row("an error after the handshake", "HubNeverDials", isEstablished=True, reason="dropped", retry="never"),
        row("an error before the end of the handshake", "HubNeverDials", reason="refused", retry="never"),
    ],
}

# Which states follow. A list holds the states that may follow, a string is an error, None means that nothing happens.
# Once the session is encrypted, a HELLO or an offer that arrives as bytes is not a repeat: MQTT does not tell text from
# bytes, and over MQTT a hub greets only a client that it does not know, so it has lost the session.

ENVELOPES = ["hello", "offer", "noise-with-choice", "noise", "other"]
CALLS = ["start", "psk", "resume"]
IGNORED = dict.fromkeys(ENVELOPES[:-1])
UNEXPECTED = {"other": "unexpected-message"}
ENCRYPTED = {
    "hello as text": None,
    "hello as bytes": "text-after-ready",
    "offer as text": None,
    "offer as bytes": "text-after-ready",
    "noise-with-choice": None,
    "noise": None,
    "other": "text-after-ready",
}
TOO_EARLY = {"psk": "wrong-state", "resume": None}
AFTER_MESSAGE_2 = ["opening-message-2", "sealing-message-3", "ready"]

TRANSITIONS = {
    "client": {
        "awaiting-hello": {
            "hello": ["awaiting-offer"],
            "offer": "handshake-before-hello",
            "noise-with-choice": "handshake-before-hello",
            "noise": "handshake-before-hello",
            **UNEXPECTED,
            **TOO_EARLY,
        },
        "awaiting-offer": {
            "hello": ["awaiting-offer"],
            "offer": ["awaiting-psk", "sealing-message-1", "awaiting-message-2"],
            "noise-with-choice": "unexpected-message",
            "noise": "unexpected-message",
            **UNEXPECTED,
            **TOO_EARLY,
        },
        "awaiting-psk": {
            **IGNORED,
            **UNEXPECTED,
            "psk": ["sealing-message-1", "awaiting-message-2"],
            "resume": None,
        },
        "sealing-message-1": {
            **IGNORED,
            **UNEXPECTED,
            "psk": None,
            "resume": ["sealing-message-1", "awaiting-message-2"],
        },
        "awaiting-message-2": {
            "hello": None,
            "offer": None,
            "noise-with-choice": AFTER_MESSAGE_2,  # some hubs repeat the pattern in message 2
            "noise": AFTER_MESSAGE_2,
            **UNEXPECTED,
            "psk": None,
            "resume": None,
        },
        "opening-message-2": {
            **IGNORED,
            **UNEXPECTED,
            "psk": None,
            "resume": AFTER_MESSAGE_2,
        },
        "sealing-message-3": {
            **IGNORED,
            **UNEXPECTED,
            "psk": None,
            "resume": ["sealing-message-3", "ready"],
        },
        "ready": {**ENCRYPTED, "psk": None, "resume": None, "frame": ["ready"]},
    },
    "hub": {
        "new": {**dict.fromkeys(ENVELOPES, "wrong-state"), "start": ["awaiting-message-1"]},
        "awaiting-message-1": {
            "hello": None,  # over MQTT the client announces itself with one
            "offer": None,
            "noise-with-choice": ["awaiting-message-3", "awaiting-first-message"],
            "noise": "bad-payload",  # the first Noise message names a pattern and a suite
            **UNEXPECTED,
            "start": "wrong-state",
        },
        "awaiting-message-3": {**IGNORED, "noise": ["ready"], **UNEXPECTED, "start": "wrong-state"},
        "awaiting-first-message": {**ENCRYPTED, "start": "wrong-state", "frame": ["ready"]},
        "ready": {**ENCRYPTED, "start": "wrong-state", "frame": ["ready"]},
    },
}


def transition_row(state, given, outcome):
    input, _, form = given.partition(" as ")
    if outcome is None:
        flag, fields = "Repeat", {"ignored": True}
    elif isinstance(outcome, list):
        flag, fields = "Next", {"next": outcome}
    else:
        flag, fields = "Cleartext" if outcome == "text-after-ready" else "Order", {"error": outcome}
    if fields.get("error") == "wrong-state" or (input in CALLS and flag == "Repeat"):
        flag = "Call"
    return row(f"{given} in {state}", flag, state=state, input=input, **({"form": form} if form else {}), **fields)


# When a client dials. `when` is what has to hold.

POLICY_STATES = {
    "idle": {"begin": "connecting", "goodbye": "resting"},
    "connecting": {"ready": "ready", "goodbye": "leaving"},
    "ready": {"goodbye": "leaving"},
    "waiting": {"begin": "connecting", "goodbye": "resting", "resume": "idle"},
    "leaving": {"resume": "returning"},
    "returning": {"goodbye": "leaving"},
    "resting": {"resume": "idle"},
}
POLICY_INPUTS = ["begin", "ready", "goodbye", "resume"]
KK_FAILS = {"pattern": "KKpsk0", "wasReady": False}


def policy_row(comment, verdict, xx=False, refusal=False, **when):
    fields = {"when": when, "verdict": verdict, **({"usesXxAlone": True} if xx else {}), **({"isRefusal": True} if refusal else {})}
    return row(comment, "PolicyEnding", **fields)


POLICY_ENDINGS = [
    policy_row("after a goodbye", "rest", state="leaving"),
    policy_row("after a goodbye, a connection that was not announced", "rest", state="resting"),
    policy_row("the client wants the connection back", "redial", state="returning"),
    policy_row("what only a person can remove, or anybody forge", "ask", retry="never"),
    policy_row("the PSK differs again, within an hour", "ask", refusal=True, error="psk-differs", isRepeated=True),
    policy_row("the hub has refused the client's key again", "ask", refusal=True, error="client-key-refused", isRepeated=True),
    policy_row("a clock that is wrong, or a certificate that is", "ask", error="certificate-refused"),
    policy_row("a hub that is too old", "ask", error="protocol-version"),
    policy_row("a refusal before message 1, whatever the pattern", "pause", refusal=True, error="access-refused"),
    policy_row("a KKpsk0 that was refused", "redial", xx=True, reason="refused", **KK_FAILS),
    policy_row("a KKpsk0 that met silence", "redial", xx=True, reason="timeout", **KK_FAILS),
    policy_row("a KKpsk0 that was lost", "pause", xx=True, error="dropped", **KK_FAILS),
    policy_row("an XXpsk2 that was refused", "pause", refusal=True, error="negotiation-refused"),
    policy_row("a refusal after the handshake", "pause", refusal=True, error="refused"),
    policy_row("anything else", "pause"),
]


def policy_state_row(state, input):
    next = POLICY_STATES[state].get(input)
    fields = {"ignored": True} if next is None else {"next": next}
    return row(f"{input} in {state}", "PolicyState", state=state, input=input, **fields)


def build():
    groups = [files.group("Closing", SOURCE, CLOSINGS)]
    for name, rows_of in [("Ending", ENDINGS), ("Failure", FAILURES)]:
        groups += [files.group(name, SOURCE, rows, role=role) for role, rows in rows_of.items()]
    for role, states in TRANSITIONS.items():
        rows = [transition_row(state, *entry) for state, entries in states.items() for entry in entries.items()]
        groups.append(files.group("Transition", SOURCE, rows, role=role))
    rows = [policy_state_row(state, input) for state in POLICY_STATES for input in POLICY_INPUTS]
    groups += [files.group("PolicyState", SOURCE, rows), files.group("PolicyEnding", SOURCE, POLICY_ENDINGS)]
    files.write("tables", "The states of a session, and what the end of a connection means.", NOTES, groups)

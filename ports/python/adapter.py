"""The adapter of this implementation for the judge: one JSON request per line, one JSON response per line.

    npx hub-protocol-judge -- bash test/interop/python ports/python/adapter.py

vectors/README.md describes the requests. This adapter declines what the implementation lacks, such as identities.
"""

import json
import sys
import traceback
import warnings
from hashlib import sha256

import authorization
import hub_protocol as protocol
import mqtt_topics
from binary_messages import decode_binary, encode_binary
from client_link import ClientLink, Keyring
from connection_policy import ConnectionPolicy
from hub_protocol import Refused
from hub_session import ClientSession, HubSession
from noise.state import CipherState, SymmetricState
from question_scheduler import Scheduler

warnings.simplefilter("ignore")  # noiseprotocol warns about fixed ephemeral keys, which vectors need
unhex = bytes.fromhex
held = {}  # the current handshake, its transport, and the current session


def respond(request):
    match request:
        case {"op": "canonical-json", "bytes": data}:
            return {"canonical": protocol.canonical_json(protocol.parse_json(unhex(data)))}
        case {"op": "canonical-json", "text": text}:
            return {"canonical": protocol.canonical_json(protocol.parse_json(text))}
        case {"op": "prologue", "hello": hello, "handshake": handshake, "protocolName": name}:
            payloads = protocol.parse_json(hello), protocol.parse_json(handshake)
            return {"prologue": protocol.build_prologue(*payloads, name)}
        case {"op": "select", "patterns": patterns, "suites": suites, "own": own, "pinned": pinned}:
            pattern, suite = protocol.select_noise(patterns, suites, own, pinned)
            return {"pattern": pattern, "suite": suite, "protocolName": protocol.protocol_name(pattern, suite)}
        case {"op": "psk", "password": password, "nodeId": node_id}:
            return {"psk": protocol.derive_psk(password, node_id)}
        case {"op": "argon2id"}:
            names = ["password", "salt", "passes", "memoryKiB", "parallelism", "length", "secret", "associatedData"]
            values = [request[name] for name in names]
            return {"tag": protocol.argon2id(*[unhex(value) if isinstance(value, str) else value for value in values])}
        case {"op": "handshake", "do": "start", "role": role, "pattern": pattern, "suite": suite}:
            keys = keys_of(request, "prologue", "psk", "staticKey", "remoteStaticKey", "ephemeralKey")
            held["handshake"] = None
            held["handshake"] = protocol.Handshake(role, pattern, suite, *keys)
            return {}
        case {"op": "handshake", "do": "write", "payload": payload}:
            return {"message": held["handshake"].write(unhex(payload))}
        case {"op": "handshake", "do": "read", "message": message}:
            return {"payload": held["handshake"].read(unhex(message))}
        case {"op": "handshake", "do": "split"}:
            handshake = held["handshake"]
            held["transport"] = handshake.split()
            return {"handshakeHash": handshake.handshake_hash, "remoteStaticKey": handshake.remote_static_key}
        case {"op": "seal", "plaintexts": plaintexts}:
            transport = transport_of(request)
            return {"results": [attempt(lambda: {"message": transport.seal(unhex(text))}) for text in plaintexts]}
        case {"op": "open", "messages": messages}:
            transport = transport_of(request)
            return {"results": [attempt(lambda: {"plaintext": transport.open(unhex(text))}) for text in messages]}
        case {"op": "split", "kind": kind, "length": length}:
            frames = protocol.split_message(kind, part_of_message(0, length))
            return {"frames": [{"marker": frame[0], **measure(frame[1:])} for frame in frames]}
        case {"op": "reassemble", "frames": frames}:
            return reassemble(frames, request.get("maxMessage"))
        case {"op": "session", "do": do}:
            return session(do, request)
        case {"op": "topics", "mqtt": mqtt}:
            return mqtt_topics.derive_topics(mqtt)
        case {"op": "broker", "mqtt": mqtt}:
            return mqtt_topics.broker_endpoint(mqtt, request.get("allowPlaintext", False))
        case {"op": "presence", "status": status}:
            return mqtt_topics.presence(status)
        case {"op": "authorization", "address": address, "userAgent": user_agent, "accessKey": access_key}:
            allow_plaintext = request.get("allowPlaintext", False)
            return {"url": authorization.authorized_url(address, user_agent, access_key, allow_plaintext)}
        case {"op": "client-id", "name": name, "accessKey": access_key}:
            return {"clientId": mqtt_topics.client_id(name, access_key)}
        case {"op": "encode-binary", "msgType": "bin", "metadata": metadata, "binType": kind, "bytes": data}:
            return {"message": encode_binary("bin", protocol.parse_json(metadata), unhex(data), kind)}
        case {"op": "encode-binary", "msgType": type, "metadata": metadata, "payload": payload}:
            return {"message": encode_binary(type, protocol.parse_json(metadata), protocol.parse_json(payload))}
        case {"op": "decode-binary", "message": message}:
            return decoded(*decode_binary(unhex(message), request.get("maxInflated", protocol.MAX_MESSAGE)))
        case {"op": "policy", "options": options, "random": random, "steps": steps}:
            return connect(options, random, steps)
        case {"op": "schedule", "options": options, "steps": steps}:
            return {"results": schedule(options, steps)}
        case {"op": "link", "options": options, "steps": steps} if "staticKey" in options and "paced" not in options:
            return {"results": live(options, steps)}
    return {"declined": True}


def decoded(type, metadata, payload, payload_type):
    fields = {"msgType": type, "metadata": plain(metadata)}
    if type == "bin":
        return {**fields, "binType": payload_type, "bytes": payload.hex()}
    return {**fields, "payload": plain(payload)}


def plain(value):
    """A value of JSON with the numbers of Python."""
    return json.loads(protocol.canonical_json(value))


def connect(options, random, steps):
    draws = iter(random)
    policy = ConnectionPolicy(lambda: unhex(next(draws)), **options)
    calls = {
        "begin": lambda step: {"options": policy.begin(step["at"])},
        "deadline": lambda step: {"deadline": policy.deadline(step["state"], step["at"])},
        "take": lambda step: {"decision": policy.take(step["event"], step["at"])},
        "goodbye": lambda step: policy.goodbye() or {},
        "resume": lambda step: policy.resume() or {},
    }
    return {"results": [calls[step["do"]](step) for step in steps]}


def schedule(options, steps):
    """The results of a scheduler."""
    scheduler = Scheduler(options.get("sessionId"), options.get("deadlines", {}), options.get("saysHandled"))
    calls = {
        "request": lambda step: scheduler.request(step["envelope"], step["at"], step.get("timeout", float("inf"))),
        "receive": lambda step: scheduler.receive(step["message"], step["at"]),
        "note-sent": lambda step: scheduler.note_sent(step["at"]) or [],
        "expire": lambda step: scheduler.expire(step["at"]),
        "cancel": lambda step: scheduler.cancel(step["requestId"], step["at"]),
        "closed": lambda step: scheduler.closed(),
    }
    results = []
    for step in steps:
        decisions = [decision_in_json(**decision) for decision in calls[step["do"]](step)]
        due = scheduler.next_deadline()
        deadline = None if due is None else max(0, due - step["at"])
        results.append({"decisions": decisions, "deadline": deadline, "saysHandled": scheduler.says_handled})
    return results


def decision_in_json(do, envelope=None, message={}, **fields):
    return {"do": do, **message, **fields}


def live(options, steps):
    """The results of a link."""
    keys, draws = iter(options["ephemeralKeys"]), iter(options["random"])
    link = open_link(options, lambda: next(draws), lambda: next(keys))
    return [link_step(link, **step) for step in steps]


def open_link(options, draw, ephemeral_key):
    """`draw` and `ephemeral_key` return the next of the options' random bytes."""

    def drawn():
        bytes = draw()
        if bytes is None:
            raise Refused("crypto-failed")
        return unhex(bytes)

    return ClientLink(
        site_id=options["siteId"],
        static_key=unhex(options["staticKey"]),
        keyring=keyring_of(options)._replace(provisioned=frozenset(options.get("provisioned", []))),
        suites=protocol.SUITES[:1],
        draw=drawn,
        ephemeral_key=lambda: unhex(ephemeral_key()),
        policy=options.get("policy", {}),
        has_questions=options.get("questions", False),
        is_shared=options.get("shared", False),
        trusts_new_hubs=options.get("trust") != "pinned-only",
    )


def link_step(link, **step):
    """The result of a step."""

    def result():
        orders = [order_in_json(order) for order in link_input(link, **step)]
        return {"orders": orders, "deadline": link.deadline, "state": link.state}

    return attempt(result)


def link_input(link, at, do, error=None, **step):
    data = unhex(step["bytes"]) if "bytes" in step else step.get("text", step.get("message"))
    match do:
        case "received":
            return link.received(step["connection"], data, at)
        case "opened":
            return link.opened(step["connection"], at)
        case "closed":
            closing = {name: step[name] for name in ("code", "status", "reason", "cause") if name in step}
            return link.closed(step["connection"], at, step.get("retryAfter", 0), error, **closing)
        case "stored":
            return link.stored(at, error, keyring_of(step["keyring"]) if "keyring" in step else None)
        case "derived":
            return link.derived(step["derivation"], at, unhex(step["psk"]) if "psk" in step else None, error)
        case "ask":
            return link.ask(step["envelope"], at, *[step[name] for name in ["timeout"] if name in step])
        case "cancel":
            return link.cancel(step["requestId"], at)
        case "send":
            return link.send(data, at)
        case "change":
            return link.change(Keyring.without_psks, at)
        case "computed":
            return link.wake(at)  # nothing was ordered to be computed
    return getattr(link, do)(at)


def keyring_of(fields):
    pins, psks = ({hub: unhex(key) for hub, key in fields[name].items()} for name in ("pins", "psks"))
    return Keyring(fields["staticKeyIsFresh"], pins, psks)


def order_in_json(order):
    if order["do"] == "store":
        keyring = order["keyring"]
        keys = {name: in_hex(getattr(keyring, name)) for name in ("pins", "psks")}
        suspects = {"suspects": sorted(keyring.suspects), "suspectPsks": sorted(keyring.suspect_psks)}
        return {"do": "store", "keyring": {"staticKeyIsFresh": keyring.fresh, **keys, **suspects}}
    if "text" in order:
        return {**{name: order[name] for name in ("do", "connection")}, "envelope": json.loads(order["text"])}
    return {**in_hex(order), **({"event": in_hex(order["event"])} if "event" in order else {})}


def keys_of(request, *names):
    return [unhex(request[name]) if name in request else None for name in names]


def transport_of(request):
    if "key" not in request:
        return held["transport"]
    state = protocol.cipher_state(request["suite"], unhex(request["key"]), int(request["counter"]))
    return protocol.Transport(state, state)


def part_of_message(offset, length):
    """Byte i of a message is i mod 127."""
    return (bytes(range(127)) * (length // 127 + 2))[offset % 127 :][:length]


def measure(payload):
    return {"length": len(payload), "sha256": sha256(payload).hexdigest()}


def reassemble(frames, max_message):
    reassembler, events = protocol.Reassembler(max_message), []
    for frame in frames:
        marked = "bytes" not in frame and bytes([frame["marker"]]) + part_of_message(frame["offset"], frame["length"])
        try:
            event = reassembler.push(marked or unhex(frame["bytes"]))
        except Refused as refused:
            return {"events": events, "error": refused.code}
        if event and event["type"] == "message":
            payload = event["bytes"] if event["kind"] == "binary" else event["text"].encode()
            event = {"type": "message", "kind": event["kind"], **measure(payload)}
        events += [event] if event else []
    return {"events": events}


def session(do, request):
    if do == "open":
        held["session"] = None
        held["session"] = open_session(request)
        return {"events": []}
    current = held["session"]
    data = unhex(request["bytes"]) if "bytes" in request else request.get("text")
    if do == "send":
        return {"messages": [message.hex() for message in current.send(request["kind"], data)]}
    steps = {
        "start": lambda: current.start(),
        "receive": lambda: current.receive(data),
        "psk": lambda: current.provide_psk(unhex(request["psk"])),
        "closed": lambda: current.closed(*(request.get(name) for name in ("code", "status", "reason", "cause"))),
    }
    return {"events": [in_hex(event) for event in steps[do]()]}


def open_session(request):
    static_key, ephemeral_key, psk, client_key = keys_of(request, "staticKey", "ephemeralKey", "psk", "clientKey")
    own = {"static_key": static_key, "ephemeral_key": ephemeral_key, "suites": request["suites"]}
    own["patterns"] = request.get("patterns", protocol.PATTERNS)
    own["hello"] = protocol.parse_json(request.get("hello", "{}"))
    if request["role"] == "hub":
        handshake = protocol.parse_json(request.get("handshake", "{}"))
        return HubSession(node_id=request["nodeId"], psk=psk, client_key=client_key, handshake=handshake, **own)
    pins, psks = ({hub: unhex(key) for hub, key in request[name].items()} for name in ("pins", "psks"))
    own["replaces_pins"] = request.get("onKkFailure") != "keep-pin"
    own["suspects"] = request.get("suspects", [])
    own["trusts_new_hubs"] = request.get("trust") != "pinned-only"
    own["key_is_fresh"] = request.get("staticKeyIsFresh", False)
    return ClientSession(site_id=request["siteId"], pins=pins, psks=psks, **own)


def in_hex(fields):
    return {name: value.hex() if isinstance(value, bytes) else value for name, value in fields.items()}


def attempt(operation):
    try:
        return in_hex(operation())
    except Refused as refused:
        return {"error": refused.code}
    except Exception as error:  # a bug here, which must not look like a refusal
        traceback.print_exc()
        return {"error": f"raised {type(error).__name__}"}


trace = []  # what Noise has computed since the last response


def note(owner, name, fields, is_before=False):
    """Lets the function of this name add to the trace what these fields are after it, or before it."""
    function = getattr(owner, name)

    def noting(state, *arguments):
        if is_before:
            trace.append(fields(state, *arguments))
        result = function(state, *arguments)
        if not is_before:
            trace.append(fields(state))
        return result

    setattr(owner, name, noting)


def note_noise():
    prologue = lambda state, role, pattern, suite, prologue, *_: {"prologue": prologue}
    note(protocol.Handshake, "__init__", prologue, is_before=True)
    note(SymmetricState, "mix_hash", lambda state: {"h": state.h})
    note(SymmetricState, "mix_key", lambda state: {"ck": state.ck, "k": state.cipher_state.k})
    note(SymmetricState, "mix_key_and_hash", lambda state: {"ck": state.ck, "k": state.cipher_state.k})
    for call in ["encrypt_with_ad", "decrypt_with_ad"]:
        note(CipherState, call, lambda state, ad, *_: {"k": state.k, "nonce": state.n, "ad": ad}, is_before=True)


def main():
    note_noise()
    for line in sys.stdin.buffer:
        request = json.loads(line)
        trace.clear()
        response = {"id": request["id"], **attempt(lambda: respond(request))}
        if trace:
            response["trace"] = [in_hex(entry) for entry in trace]
        print(json.dumps(response, default=str), flush=True)


if __name__ == "__main__":
    main()

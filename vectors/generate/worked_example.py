"""The worked example of docs/reference/protocol.md: what noiseprotocol computes in the first contact of session.json, test 1."""

import hashlib
import json

import files
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from files import CHACHAPOLY
from peer import End, public_key
from script import MESSAGE_1_PAYLOAD

NONCE = bytes(12)  # of the first message in each direction


def first_test(name):
    return json.loads((files.DIRECTORY / f"{name}.json").read_text(encoding="ascii"))["testGroups"][0]["tests"][0]


def payload_of(step):
    return json.loads(step["text"])["payload"]


class Trace:
    """Notes what becomes of a SymmetricState (Noise spec, section 5.2) with each token of the pattern, and with payloads."""

    CALLS = ["mix_hash", "mix_key", "mix_key_and_hash", "encrypt_and_hash", "decrypt_and_hash"]

    def __init__(self, state):
        self.state, self.lines, self.tokens, self.depth = state, [], [], 0
        self.values = self.read()
        for name in self.CALLS:
            setattr(state, name, self.traced(getattr(state, name)))

    def read(self):
        return {"ck": self.state.ck, "h": self.state.h, "k": self.state.cipher_state.k}

    def traced(self, call):
        def noted(*given):
            self.depth += 1
            result = call(*given)
            self.depth -= 1
            if self.depth == 0:  # calls of the state itself are part of the one for the token
                token, before, self.values = self.tokens.pop(0), self.values, self.read()
                changed = [name for name, value in self.values.items() if value != before[name]]
                self.lines += [line(f"{token}: {name}", self.values[name]) for name in changed]
            return result

        return noted

    def of(self, *tokens):
        """The lines of one message, given the token of each call."""
        self.tokens, self.lines = list(tokens), []
        return self.lines


def line(name, value):
    return {"name": name, "text": value} if isinstance(value, str) else {"name": name, "bytes": bytes(value).hex()}


def build():
    test, derived = first_test("session"), first_test("argon2id")
    opened, hello, offer, given, answer, incoming, *_ = test["steps"]
    static, ephemeral = bytes.fromhex(opened["staticKey"]), bytes.fromhex(opened["ephemeralKey"])
    psk, name = bytes.fromhex(given["psk"]), f"Noise_XXpsk2_{CHACHAPOLY}"
    end = End("client", "XXpsk2", CHACHAPOLY, payload_of(hello), payload_of(offer), psk, static, ephemeral, None)
    trace = Trace(end.noise.noise_protocol.symmetric_state)
    start = hashlib.sha256(name.encode()).digest()
    greeting = [
        line("HELLO payload", files.canonical(payload_of(hello)).decode()),
        line("HANDSHAKE payload", files.canonical(payload_of(offer)).decode()),
        line("protocol name", name),
        line("start: h", start),
        line("start: ck", trace.values["ck"]),
        line("prologue: h", trace.values["h"]),
    ]

    lines_1 = trace.of("e", "e", "payload")
    message_1 = end.write(MESSAGE_1_PAYLOAD)
    lines_2 = trace.of("e", "e", "ee", "s", "es", "psk", "payload")
    message_2 = bytes.fromhex(payload_of(answer)["noise"]["msg"])
    payload_2 = end.read(message_2)
    hub_key = end.noise.noise_protocol.handshake_state.rs.public_bytes
    place = next(i for i, each in enumerate(lines_2) if each["name"] == "s: h") + 1
    lines_2.insert(place, line("hub’s static key", hub_key))
    lines_3 = trace.of("s", "se", "payload")
    message_3 = end.write()
    sent = [json.loads(event["text"])["payload"]["noise"]["msg"] for step in test["steps"][3:5]
            for event in step["events"] if event["type"] == "transmit" and "text" in event]
    assert sent == [message_1.hex(), message_3.hex()], "the messages are not those of the vector"

    sealed = bytes.fromhex(next(event["bytes"] for event in answer["events"] if "bytes" in event))
    sending, receiving = (getattr(end.noise.noise_protocol, f"cipher_state_{way}").k for way in ["encrypt", "decrypt"])
    frame = ChaCha20Poly1305(sending).decrypt(NONCE, sealed, b"")
    received = bytes.fromhex(incoming["bytes"])
    parts = {
        "keys": [
            line("s, private", static),
            line("s, public", public_key(static)),
            line("e, private", ephemeral),
            line("e, public", public_key(ephemeral)),
            line("psk", psk),
        ],
        "psk": [
            line("password", derived["password"]),
            line("node id", derived["nodeId"]),
            line("salt", bytes.fromhex(derived["salt"])),
            line("PSK", bytes.fromhex(derived["psk"])),
        ],
        "greeting": greeting,
        "message 1": [line("payload", MESSAGE_1_PAYLOAD.decode()), *lines_1, line("message 1", message_1)],
        "message 2": [line("message 2", message_2), *lines_2, line("payload", payload_2.decode())],
        "message 3": [*lines_3, line("message 3", message_3)],
        "transport": [
            line("client to hub", sending),
            line("hub to client", receiving),
            line("HELLO: marker", frame[:1]),
            line("HELLO: payload", frame[1:].decode()),
            line("nonce", NONCE),
            line("sealed", sealed),
            line("received", received),
            line("nonce", NONCE),
            line("frame", ChaCha20Poly1305(receiving).decrypt(NONCE, received, b"")),
        ],
    }
    files.put(files.DIRECTORY / "generate" / "worked-example.json", parts, indent=1)

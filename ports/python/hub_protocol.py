"""Protocol 3 over noiseprotocol and cryptography: JSON, prologue, selection, PSK, handshake, transport, framing.

It was written from the specification and shares no code with hub-protocol. Read it if you write the protocol in yet
another language. hub_envelopes.py and hub_session.py build connections on it, and adapter.py connects it to the judge.
"""

import binascii
import hashlib
import json

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id
from noise.backends.default import noise_backend
from noise.connection import Keypair, NoiseConnection
from noise.constants import Empty
from noise.exceptions import NoiseMaxNonceError
from noise.noise_protocol import NoiseProtocol
from noise.state import CipherState

PATTERNS = ["XXpsk2", "KKpsk0"]
SUITES = ["25519_ChaChaPoly_SHA256", "25519_AESGCM_SHA256"]
MAX_JSON_DEPTH = 64  # arrays and objects open at once
MAX_NOISE_MESSAGE = 65535
MAX_CHUNK = 65000  # payload of one frame
MAX_MESSAGE = 32 * 1024 * 1024  # put together again
KEY, TAG = 32, 16


class Refused(Exception):
    """Invalid input, or a call that is not allowed. The code is one of the vectors'."""

    def __init__(self, code):
        super().__init__(code)
        self.code = code


# JSON


class Number:
    """A number as its token: the prologue holds 1.0 as 1.0, and forty digits as forty digits."""

    def __init__(self, token):
        self.token = token


def parse_json(text):
    """Parses a string, or bytes in UTF-8, more strictly than Python does."""
    try:
        text = text.decode() if isinstance(text, bytes) else text
        hooks = {"parse_int": Number, "parse_float": Number, "parse_constant": refuse_constant}
        value = json.loads(text, object_pairs_hook=unique_keys, **hooks)
    except UnicodeDecodeError:
        raise Refused("bad-utf8")
    except json.JSONDecodeError:
        raise Refused("bad-json")
    except RecursionError:
        raise Refused("json-depth")
    check_json(value, MAX_JSON_DEPTH)
    return value


def refuse_constant(name):
    raise Refused("bad-json")  # NaN, Infinity, -Infinity


def unique_keys(pairs):
    if len(dict(pairs)) != len(pairs):
        raise Refused("duplicate-key")
    return dict(pairs)


def check_json(value, depth_left):
    if isinstance(value, str):
        encode(value)
    elif isinstance(value, (dict, list)):
        if depth_left == 0:
            raise Refused("json-depth")
        for inner in [*value, *value.values()] if isinstance(value, dict) else value:
            check_json(inner, depth_left - 1)


def encode(text):
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise Refused("lone-surrogate")


def write_json(value, is_canonical=True):
    """The canonical form: keys in order of code points, which is how Python compares strings, and no white space.

    Otherwise keys stay in their order, and all text is ASCII.
    """
    if isinstance(value, Number):
        return value.token
    if isinstance(value, list):
        return "[" + ",".join(write_json(item, is_canonical) for item in value) + "]"
    if isinstance(value, dict):
        fields = [(write_json(key, is_canonical), value[key]) for key in (sorted(value) if is_canonical else value)]
        return "{" + ",".join(f"{key}:{write_json(inner, is_canonical)}" for key, inner in fields) + "}"
    return json.dumps(value, ensure_ascii=not is_canonical)


def canonical_json(value):
    return write_json(value).encode()


# Before the handshake


def protocol_name(pattern, suite):
    return f"Noise_{pattern}_{suite}"


def build_prologue(hello, handshake, name):
    """The prologue holds both payloads whole, unknown fields included."""
    return canonical_json(hello) + canonical_json(handshake) + name.encode()


def select_noise(offered_patterns, offered_suites, own_suites, pinned):
    suites = [suite for suite in own_suites if suite in offered_suites]
    if not suites:
        raise Refused("no-common-suite")
    for pattern in ["KKpsk0", "XXpsk2"] if pinned else ["XXpsk2"]:
        if pattern in offered_patterns:
            return pattern, suites[0]
    raise Refused("no-common-pattern")


def psk_salt(node_id):
    return hashlib.sha256(encode(node_id)).digest()


def derive_psk(password, node_id):
    """Derives the PSK from the client's password and the hub's node id. It takes 64 MiB and a moment."""
    if not password or not node_id:
        raise Refused("bad-argument")
    return argon2id(encode(password), psk_salt(node_id), passes=3, memory=65536, lanes=1, length=KEY)


def argon2id(password, salt, passes, memory, lanes, length, secret=b"", data=b""):
    costs = {"iterations": passes, "memory_cost": memory, "lanes": lanes}
    try:
        return Argon2id(salt=salt, length=length, **costs, secret=secret or None, ad=data or None).derive(password)
    except ValueError:  # a parameter is too small; it does not say which
        raise Refused("refused")


# Noise


def check_noise_names(pattern, suite):
    if pattern not in PATTERNS or suite not in SUITES:
        raise Refused("bad-argument")


def check_key(key):
    if len(key) != KEY:
        raise Refused("bad-length")


def check_length(message_length, shortest):
    if message_length > MAX_NOISE_MESSAGE:
        raise Refused("message-too-long")
    if message_length < shortest:
        raise Refused("message-too-short")


class Handshake:
    """One handshake in either role. A failure is final."""

    def __init__(self, role, pattern, suite, prologue, psk, static_key, remote_static_key=None, ephemeral_key=None):
        check_noise_names(pattern, suite)
        noise = NoiseConnection.from_name(protocol_name(pattern, suite).encode())
        noise.set_as_initiator() if role == "initiator" else noise.set_as_responder()
        noise.set_prologue(prologue)
        check_key(psk)
        noise.set_psks(psk)
        check_key(static_key)
        noise.set_keypair_from_private_bytes(Keypair.STATIC, static_key)
        if ephemeral_key is not None:  # for tests only: without it, noiseprotocol makes a fresh one
            noise.set_keypair_from_private_bytes(Keypair.EPHEMERAL, ephemeral_key)
        if pattern == "KKpsk0":
            check_key(remote_static_key or b"")
            noise.set_keypair_from_public_bytes(Keypair.REMOTE_STATIC, remote_static_key)
        noise.start_handshake()
        self.noise = noise
        self.state = noise.noise_protocol.handshake_state  # noiseprotocol drops it at the end
        self.writes_next = role == "initiator"
        self.failure = None

    def write(self, payload=b""):
        self.assert_turn(True)
        return self.step(self.noise.write_message, payload, self.shortest_message() + len(payload))

    def read(self, message):
        self.assert_turn(False)
        return self.step(self.noise.read_message, message, len(message))

    def assert_turn(self, writes):
        if self.failure is not None:
            raise Refused(self.failure)
        if self.is_finished or writes != self.writes_next:
            raise Refused("wrong-state")

    def shortest_message(self):
        """Length of the next message without its payload: keys and tags. With a PSK the first payload is sealed too."""
        tokens = self.state.message_patterns[0]
        return TAG + tokens.count("e") * KEY + tokens.count("s") * (KEY + TAG)

    def step(self, write_or_read, data, message_length):
        brings_static_key = "s" in self.state.message_patterns[0]
        try:
            check_length(message_length, self.shortest_message())
            result = bytes(write_or_read(data))
            self.writes_next = not self.writes_next
            return result
        except Refused as refused:
            self.failure = refused.code
        except InvalidTag:
            in_static_key = brings_static_key and isinstance(self.state.rs, Empty)
            self.failure = "static-key-not-authentic" if in_static_key else "payload-not-authentic"
        except ValueError:
            self.failure = "low-order-key"  # cryptography rejects a shared secret of all zeros
        raise Refused(self.failure)

    @property
    def is_finished(self):
        return self.noise.handshake_finished

    @property
    def handshake_hash(self):
        return self.noise.get_handshake_hash()

    @property
    def remote_static_key(self):
        return self.state.rs.public_bytes

    def split(self):
        if not self.is_finished:
            raise Refused(self.failure or "wrong-state")
        protocol = self.noise.noise_protocol
        return Transport(protocol.cipher_state_encrypt, protocol.cipher_state_decrypt)


def cipher_state(suite, key, counter):
    """A CipherState (Noise spec, section 5.1) without a handshake, for the vectors of `seal` and `open`."""
    check_noise_names("XXpsk2", suite)
    check_key(key)
    state = CipherState(NoiseProtocol(protocol_name("XXpsk2", suite).encode(), noise_backend))
    state.initialize_key(key)
    state.set_nonce(counter)
    return state


class Transport:
    """Both directions of a session. A failure is final: after a message that does not open, none does."""

    def __init__(self, sending, receiving):
        self.sending, self.receiving, self.failure = sending, receiving, None

    def seal(self, plaintext):
        return self.run(self.sending.encrypt_with_ad, plaintext, len(plaintext) + TAG)

    def open(self, message):
        return self.run(self.receiving.decrypt_with_ad, message, len(message))

    def run(self, operation, data, message_length):
        if self.failure is None:
            try:
                check_length(message_length, TAG)
                return operation(b"", data)
            except Refused as refused:
                self.failure = refused.code
            except InvalidTag:
                self.failure = "not-authentic"
            except NoiseMaxNonceError:
                self.failure = "nonce-exhausted"
        raise Refused(self.failure)


# Framing: the plaintext of each transport message is a marker and a payload

JSON, BINARY, FIRST_JSON, FIRST_BINARY, MIDDLE, FINAL = range(6)
KINDS = {JSON: "json", BINARY: "binary", FIRST_JSON: "json", FIRST_BINARY: "binary"}


def split_message(kind, payload):
    """The frames of a message. Seal and send them in order, with nothing in between."""
    single, first = (JSON, FIRST_JSON) if kind == "json" else (BINARY, FIRST_BINARY)
    if len(payload) <= MAX_CHUNK:
        return [bytes([single]) + payload]
    chunks = [payload[start : start + MAX_CHUNK] for start in range(0, len(payload), MAX_CHUNK)]
    markers = [first] + [MIDDLE] * (len(chunks) - 2) + [FINAL]
    return [bytes([marker]) + chunk for marker, chunk in zip(markers, chunks)]


class Reassembler:
    """Turns frames into messages."""

    def __init__(self, max_message=None):
        self.max_message = MAX_MESSAGE if max_message is None else max_message  # a longer message is dropped
        self.kind = None  # of the message that is open
        self.buffer = bytearray()
        self.length = 0  # counts on when the buffer has stopped growing

    def push(self, frame):
        """Returns the event for the message that this frame completes, or None."""
        if not frame:
            raise Refused("empty-plaintext")
        marker, payload = frame[0], frame[1:]
        if marker > FINAL:
            raise Refused("unknown-marker")
        if marker in (MIDDLE, FINAL) and self.kind is None:
            raise Refused("chunk-without-start")
        if marker in KINDS:
            if self.kind is not None:
                raise Refused("message-while-open")
            self.kind, self.buffer, self.length = KINDS[marker], bytearray(), 0
        self.length += len(payload)
        if self.length <= self.max_message:
            self.buffer += payload
        else:
            self.buffer.clear()  # the message is dropped, and the session goes on
        if marker in (FIRST_JSON, FIRST_BINARY, MIDDLE):
            return None
        kind, self.kind = self.kind, None
        return completed(kind, bytes(self.buffer), self.length, self.max_message)


def completed(kind, payload, length, max_message):
    if length > max_message:
        return {"type": "dropped", "kind": kind, "length": length, "reason": "too-large"}
    if kind == "binary":
        return {"type": "message", "kind": kind, "bytes": payload}
    try:
        return {"type": "message", "kind": kind, "text": payload.decode()}
    except UnicodeDecodeError:
        return {"type": "dropped", "kind": kind, "length": length, "reason": "not-utf8"}


def read_hex(text):
    try:
        return binascii.unhexlify(text)  # either case; unlike bytes.fromhex, it rejects white space
    except (TypeError, ValueError):
        raise Refused("bad-hex")

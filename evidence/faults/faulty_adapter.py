"""The adapter of ports/python with one fault planted in it. The tests of the judge expect each fault to be named.

    faulty_adapter.py NAME      runs the adapter with that fault
    faulty_adapter.py --list    prints the names
"""

import hashlib
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "ports" / "python"))

import adapter  # noqa: E402
import hub_protocol  # noqa: E402
from hub_protocol import Handshake, Number, Reassembler, Transport  # noqa: E402
from hub_session import ClientSession, Session  # noqa: E402
from noise.backends.default.ciphers import AESGCMCipher, ChaCha20Cipher  # noqa: E402
from noise.functions.patterns import Pattern  # noqa: E402
from noise.noise_protocol import NoiseProtocol  # noqa: E402
from noise.state import CipherState, HandshakeState, SymmetricState  # noqa: E402


def around(owner, name):
    """Replaces a function. The replacement gets the original as its first argument."""

    def replace(changed):
        original = getattr(owner, name)
        setattr(owner, name, lambda *arguments, **named: changed(original, *arguments, **named))

    return replace


def utf16_key_order():
    # Python finds this name before the built-in function.
    hub_protocol.sorted = lambda keys: sorted(keys, key=lambda key: key.encode("utf-16-be"))


def integer_for_float():
    @around(Number, "__init__")
    def init(original, self, token):
        original(self, re.sub(r"\.0+$", "", token))


def unicode_escape_for_b():
    @around(hub_protocol, "write_json")
    def write_json(original, value):
        written = original(value)
        if not isinstance(value, str):  # its strings have been through here already
            return written
        return re.sub(r"\\(.)", lambda match: r"\u0008" if match[1] == "b" else match[0], written)


def big_endian_chachapoly():
    ChaCha20Cipher.format_nonce = AESGCMCipher.format_nonce


def little_endian_aesgcm():
    AESGCMCipher.format_nonce = ChaCha20Cipher.format_nonce


def hashed_aesgcm_name():
    @around(SymmetricState, "initialize_symmetric")
    def initialize_symmetric(original, noise_protocol):
        state = original(noise_protocol)
        if len(noise_protocol.name) == 32:
            state.h = state.ck = hashlib.sha256(noise_protocol.name).digest()
        return state


def psk_token_left_out():
    @around(Pattern, "apply_pattern_modifiers")
    def apply_pattern_modifiers(original, self, modifiers):
        self.psk_count = 1


def e_not_mixed_into_key():
    @around(NoiseProtocol, "__init__")
    def init(original, self, *arguments, **named):
        original(self, *arguments, **named)
        self.is_psk_handshake = False


def prologue_parts_swapped():
    @around(hub_protocol, "build_prologue")
    def build_prologue(original, hello, handshake, name):
        return original(handshake, hello, name)


def salt_from_client_id():
    hub_protocol.psk_salt = lambda node_id: hashlib.sha256(b"kiosk-7").digest()


def chunk_limit_off_by_one():
    hub_protocol.MAX_CHUNK += 1


def missing_final_chunk():
    @around(hub_protocol, "split_message")
    def split_message(original, kind, payload):
        *frames, last = original(kind, payload)
        return [*frames, bytes([hub_protocol.MIDDLE]) + last[1:] if frames else last]


def cap_off_by_one():
    hub_protocol.MAX_MESSAGE -= 1


def interleaving_accepted():
    @around(Reassembler, "push")
    def push(original, self, frame):
        if frame[:1] and frame[0] in hub_protocol.KINDS:
            self.kind = None
        return original(self, frame)


def pin_not_enforced():
    ClientSession.enforce_pin = lambda self, hub_key: None


def continues_after_failed_open():
    @around(Transport, "open")
    def open(original, self, message):
        self.failure = None
        return original(self, message)

    @around(Session, "end")
    def end(original, self, state):
        if self.failure != "not-authentic":
            original(self, state)


def trimmed_password():
    @around(hub_protocol, "derive_psk")
    def derive_psk(original, password, node_id):
        return original(password.strip(), node_id)


def other_time_cost():
    @around(hub_protocol, "derive_psk")
    def derive_psk(original, password, node_id):
        salt = hub_protocol.psk_salt(node_id)
        return hub_protocol.argon2id(password.encode(), salt, passes=2, memory=65536, lanes=1, length=32)


def upper_case_hexadecimal():
    @around(adapter, "in_hex")
    def in_hex(original, fields):
        fields = {name: value.hex().upper() if isinstance(value, bytes) else value for name, value in fields.items()}
        return original(fields)


def no_associated_data():
    for method in ["encrypt_with_ad", "decrypt_with_ad"]:

        @around(CipherState, method)
        def without(original, self, associated_data, data):
            return original(self, b"", data)


def counter_not_advanced():
    @around(CipherState, "encrypt_with_ad")
    def encrypt_with_ad(original, self, associated_data, plaintext):
        counter = self.n
        ciphertext = original(self, associated_data, plaintext)
        self.n = counter
        return ciphertext


def split_swapped():
    @around(Handshake, "split")
    def split(original, self):
        transport = original(self)
        return Transport(transport.receiving, transport.sending)


def two_outputs_for_psk():
    def mix_key_and_hash(self, psk):
        self.ck, output = self.noise_protocol.hkdf(self.ck, psk, 2)
        self.mix_hash(output)
        self.cipher_state.initialize_key(output)

    SymmetricState.mix_key_and_hash = mix_key_and_hash


def pre_messages_swapped():
    @around(HandshakeState, "initialize")
    def initialize(original, noise_protocol, initiator, *arguments, **named):
        state = original(noise_protocol, not initiator, *arguments, **named)
        state.initiator = initiator
        return state


def dropped_message_closes():
    @around(Reassembler, "push")
    def push(original, self, frame):
        if self.length > hub_protocol.MAX_MESSAGE and frame[:1] and frame[0] in hub_protocol.KINDS:
            self.kind = None
        return original(self, frame)


FAULTS = {
    "utf16-key-order": (utf16_key_order, "keys are sorted by UTF-16 unit rather than by code point"),
    "integer-for-float": (integer_for_float, "1.0 is written as 1"),
    "unicode-escape-for-b": (unicode_escape_for_b, "the backspace is escaped as \\u0008 rather than \\b"),
    "big-endian-chachapoly": (big_endian_chachapoly, "ChaChaPoly's nonce counts big-endian"),
    "little-endian-aesgcm": (little_endian_aesgcm, "AESGCM's nonce counts little-endian"),
    "hashed-aesgcm-name": (hashed_aesgcm_name, "a protocol name of exactly 32 bytes is hashed"),
    "psk-token-left-out": (psk_token_left_out, "the PSK is never mixed in"),
    "e-not-mixed-into-key": (e_not_mixed_into_key, "an ephemeral key is mixed into the hash only"),
    "prologue-parts-swapped": (prologue_parts_swapped, "HANDSHAKE comes before HELLO in the prologue"),
    "salt-from-client-id": (salt_from_client_id, "the salt comes from the client, not from the node id of the hub"),
    "chunk-limit-off-by-one": (chunk_limit_off_by_one, "65001 bytes are sent in one frame"),
    "missing-final-chunk": (missing_final_chunk, "the last chunk is sent as a middle one"),
    "cap-off-by-one": (cap_off_by_one, "a message of exactly 32 MiB is dropped"),
    "interleaving-accepted": (interleaving_accepted, "a new message may start while one is open"),
    "pin-not-enforced": (pin_not_enforced, "a hub whose key is not the pinned one is accepted under XXpsk2"),
    "continues-after-failed-open": (continues_after_failed_open, "messages are opened after one that failed"),
    "trimmed-password": (trimmed_password, "white space around the password is removed"),
    "other-time-cost": (other_time_cost, "Argon2id runs two passes"),
    "upper-case-hexadecimal": (upper_case_hexadecimal, "the adapter writes bytes in upper-case hexadecimal"),
    "no-associated-data": (no_associated_data, "handshake messages are sealed without associated data"),
    "counter-not-advanced": (counter_not_advanced, "every message under one key has the same nonce"),
    "split-swapped": (split_swapped, "each side sends with the other's key"),
    "two-outputs-for-psk": (two_outputs_for_psk, "MixKeyAndHash takes two outputs of HKDF"),
    "pre-messages-swapped": (pre_messages_swapped, "KK hashes the responder's static key first"),
    "dropped-message-closes": (dropped_message_closes, "a new message may start while one is being dropped"),
}

if __name__ == "__main__":
    name = sys.argv[1] if len(sys.argv) == 2 else ""
    if name == "--list":
        print("\n".join(FAULTS))
    elif name in FAULTS:
        FAULTS[name][0]()
        adapter.main()
    else:
        sys.exit("usage: faulty_adapter.py NAME, one of those that --list prints")

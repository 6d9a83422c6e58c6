"""One end of a protocol 3 connection: noiseprotocol over cryptography (OpenSSL), with fixed keys."""

import hashlib
import json
import warnings

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from noise.connection import Keypair, NoiseConnection

import files

warnings.simplefilter("ignore")  # noiseprotocol warns about fixed ephemeral keys, which vectors need
SOURCE = [files.package("noiseprotocol"), files.package("cryptography"), files.PYTHON_JSON, "ports/python, from the specification"]


def public_key(private):
    return X25519PrivateKey.from_private_bytes(private).public_key().public_bytes_raw()


def salt(node_id):
    return hashlib.sha256(node_id.encode()).digest()


def compact(value):
    return json.dumps(value, separators=(",", ":"))


def envelope(kind, payload):
    """A cleartext envelope: four fields in a HANDSHAKE, eight in any other."""
    fields = {"msg_type": kind, "payload": payload, "metadata": {}, "route": []}
    if kind != "shake":
        fields.update(node=None, target_site_id=None, target_pubkey=None, source_peer=None)
    return compact(fields)


def flip(message, index):
    """A message with the lowest bit of one byte flipped."""
    changed = bytearray(message)
    changed[index] ^= 1
    return bytes(changed)


class Keys:
    """The keys of both ends of one connection, drawn from a name, so that no test depends on another."""

    def __init__(self, name):
        random = files.randomness(name)
        self.client_static, self.client_ephemeral, self.hub_static, self.hub_ephemeral, self.psk = (
            random.randbytes(32) for _ in range(5)
        )
        self.client_public, self.hub_public = public_key(self.client_static), public_key(self.hub_static)


class End:
    """One end, from its first handshake message to its transport messages."""

    def __init__(self, role, pattern, suite, hello, offer, psk, static, ephemeral, remote):
        name = f"Noise_{pattern}_{suite}".encode()
        self.noise = NoiseConnection.from_name(name)
        self.noise.set_as_initiator() if role == "client" else self.noise.set_as_responder()
        self.noise.set_prologue(files.canonical(hello) + files.canonical(offer) + name)
        self.noise.set_psks(psk)
        self.noise.set_keypair_from_private_bytes(Keypair.STATIC, static)
        self.noise.set_keypair_from_private_bytes(Keypair.EPHEMERAL, ephemeral)
        if pattern == "KKpsk0":
            self.noise.set_keypair_from_public_bytes(Keypair.REMOTE_STATIC, remote)
        self.noise.start_handshake()

    def write(self, payload=b""):
        return bytes(self.noise.write_message(payload))

    def read(self, message):
        return bytes(self.noise.read_message(message))

    def seal(self, plaintext):
        return bytes(self.noise.encrypt(plaintext))

    @property
    def sending_key(self):
        return self.noise.noise_protocol.cipher_state_encrypt.k

    @property
    def receiving_key(self):
        return self.noise.noise_protocol.cipher_state_decrypt.k

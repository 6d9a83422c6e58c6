"""The sides of a handshake, played by noiseprotocol with given keys."""

import warnings
from dataclasses import dataclass

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from noise.connection import Keypair, NoiseConnection

import files

warnings.simplefilter("ignore")  # noiseprotocol warns about fixed ephemeral keys, which vectors need
SOURCE = [files.package("noiseprotocol"), files.package("cryptography")]
OTHER = {"init": "resp", "resp": "init"}
ROLES = {"init": "initiator", "resp": "responder"}
MESSAGES = {"XXpsk2": 3, "KKpsk0": 2}


def public_key(private):
    return X25519PrivateKey.from_private_bytes(private).public_key().public_bytes_raw()


def writer_of(index):
    return "init" if index % 2 == 0 else "resp"


def reader_of(index):
    return OTHER[writer_of(index)]


def draw_keys(random):
    names = ["initStatic", "initEphemeral", "respStatic", "respEphemeral", "psk"]
    return {name: random.randbytes(32) for name in names}


@dataclass(frozen=True)
class Options:
    """What one side starts with, named as in the vectors."""

    role: str  # "init" or "resp"
    pattern: str
    suite: str
    prologue: bytes
    psk: bytes
    staticKey: bytes
    ephemeralKey: bytes
    remoteStaticKey: bytes | None  # KKpsk0 only

    def fields(self):
        fields = {"role": ROLES[self.role], "pattern": self.pattern, "suite": self.suite}
        for name in ["prologue", "psk", "staticKey", "ephemeralKey", "remoteStaticKey"]:
            if getattr(self, name) is not None:
                fields[name] = getattr(self, name).hex()
        return fields


def options(role, pattern, suite, prologue, keys):
    """The options of one side, from keys named as `draw_keys` names them."""
    known = public_key(keys[OTHER[role] + "Static"]) if pattern == "KKpsk0" else None
    return Options(role, pattern, suite, prologue, keys["psk"], keys[role + "Static"], keys[role + "Ephemeral"], known)


def start(options):
    """A side ready for the first message."""
    side = NoiseConnection.from_name(f"Noise_{options.pattern}_{options.suite}".encode())
    side.set_as_initiator() if options.role == "init" else side.set_as_responder()
    side.set_prologue(options.prologue)
    side.set_psks(options.psk)
    side.set_keypair_from_private_bytes(Keypair.STATIC, options.staticKey)
    side.set_keypair_from_private_bytes(Keypair.EPHEMERAL, options.ephemeralKey)
    if options.remoteStaticKey is not None:
        side.set_keypair_from_public_bytes(Keypair.REMOTE_STATIC, options.remoteStaticKey)
    side.start_handshake()
    return side


def exchange(sides, payloads):
    """The messages of a whole handshake. Asserts that both sides agree."""
    messages = []
    for index, payload in enumerate(payloads):
        message = bytes(sides[writer_of(index)].write_message(payload))
        assert bytes(sides[reader_of(index)].read_message(message)) == payload
        messages.append(message)
    assert sides["init"].get_handshake_hash() == sides["resp"].get_handshake_hash()
    return messages

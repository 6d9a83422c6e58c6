"""Writes the vectors that other implementations fix: nothing here comes from hub-protocol itself.

Noise transcripts are noiseprotocol's over cryptography (OpenSSL), canonical JSON is Python's own json, and Argon2id
is argon2-cffi's (the reference implementation in C) and cryptography's (OpenSSL's), which must agree. The versions are
pinned in requirements.txt.

    npm run vectors          writes them, with the packages in a virtual environment
    npm run vectors:check    compares them byte for byte with those that are there
"""

import hashlib
import json
import platform
import random
import sys
import warnings
from importlib.metadata import version
from pathlib import Path

from argon2.low_level import Type, core, ffi
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from noise.connection import Keypair, NoiseConnection

warnings.simplefilter("ignore")  # noiseprotocol warns of ephemeral keys that are set, which is the point here
HERE = Path(__file__).parent
SUITES = ["25519_ChaChaPoly_SHA256", "25519_AESGCM_SHA256"]
RANDOM = random.Random("hub-protocol")


def package(name):
    return f"{name} {version(name)}"


def random_bytes(length):
    return RANDOM.randbytes(length)


def public_key(private):
    key = X25519PrivateKey.from_private_bytes(private).public_key()
    return key.public_bytes(Encoding.Raw, PublicFormat.Raw)


def canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def write(name, description, source, groups):
    count = 0
    for group in groups:
        for test in group["tests"]:
            count += 1
            test_id = {"tcId": count}
            test_id.update(test)
            test.clear()
            test.update(test_id)
    document = {
        "description": description,
        "generator": "vectors/generate.py",
        "source": source,
        "numberOfTests": count,
        "testGroups": groups,
    }
    text = json.dumps(document, indent=1, ensure_ascii=True) + "\n"
    if "--check" not in sys.argv:
        (HERE / name).write_text(text, encoding="ascii")
    elif (HERE / name).read_text(encoding="ascii") != text:
        sys.exit(f"{name} is not what this generator writes: run it, and look at the difference")
    print(f"{name}: {count} tests")


# Noise


def handshake(pattern, suite, comment, prologue, payloads, transport):
    name = f"Noise_{pattern}_{suite}"
    keys = {key: random_bytes(32) for key in ["initStatic", "initEphemeral", "respStatic", "respEphemeral", "psk"]}
    sides = {}
    for role, other in [("init", "resp"), ("resp", "init")]:
        side = NoiseConnection.from_name(name.encode())
        side.set_as_initiator() if role == "init" else side.set_as_responder()
        side.set_prologue(prologue)
        side.set_psks(keys["psk"])
        side.set_keypair_from_private_bytes(Keypair.STATIC, keys[role + "Static"])
        side.set_keypair_from_private_bytes(Keypair.EPHEMERAL, keys[role + "Ephemeral"])
        if pattern.startswith("KK"):
            side.set_keypair_from_public_bytes(Keypair.REMOTE_STATIC, public_key(keys[other + "Static"]))
        side.start_handshake()
        sides[role] = side
    messages = []
    for index, payload in enumerate(payloads):
        writer, reader = ("init", "resp") if index % 2 == 0 else ("resp", "init")
        message = bytes(sides[writer].write_message(payload))
        assert bytes(sides[reader].read_message(message)) == payload
        messages.append({"payload": payload.hex(), "message": message.hex()})
    hashes = [side.get_handshake_hash() for side in sides.values()]
    assert hashes[0] == hashes[1]
    sealed = []
    for sender, plaintext in transport:
        other = "resp" if sender == "init" else "init"
        message = bytes(sides[sender].encrypt(plaintext))
        assert bytes(sides[other].decrypt(message)) == plaintext
        sealed.append({"from": sender, "plaintext": plaintext.hex(), "message": message.hex()})
    return {
        "comment": comment,
        "pattern": pattern,
        "suite": suite,
        "prologue": prologue.hex(),
        **{key: value.hex() for key, value in keys.items()},
        "initStaticPublic": public_key(keys["initStatic"]).hex(),
        "respStaticPublic": public_key(keys["respStatic"]).hex(),
        "messages": messages,
        "handshakeHash": hashes[0].hex(),
        "transport": sealed,
        "result": "valid",
    }


def noise():
    groups = []
    for pattern, count in [("XXpsk2", 3), ("KKpsk0", 2)]:
        for suite in SUITES:
            prologue = canonical({"node_id": "hub"}) + canonical({"max_protocol_version": 3})
            prologue += f"Noise_{pattern}_{suite}".encode()
            first = canonical({"binarize": False, "encodings": []})
            both = [(sender, random_bytes(size)) for size in [1, 16, 17, 255, 1000] for sender in ["init", "resp"]]
            many = [("init", random_bytes(1)) for _ in range(258)] + [("resp", random_bytes(1)) for _ in range(258)]
            edges = [("init", b""), ("resp", b""), ("init", random_bytes(5000)), ("resp", random_bytes(5000))]
            empty = [b""] * count
            tests = [
                handshake(pattern, suite, "empty payloads, empty prologue", b"", empty, both),
                handshake(pattern, suite, "as in protocol 3", prologue, [first, b'{"encoding": "JSON-HEX"}', b""][:count], both),
                handshake(pattern, suite, "a payload in each message", prologue, [random_bytes(100)] * count, both),
                handshake(pattern, suite, "counters past one byte", prologue, empty, many),
                handshake(pattern, suite, "empty and long transport messages", prologue, empty, edges),
            ]
            groups.append({"type": "NoiseHandshake", "pattern": pattern, "suite": suite, "tests": tests})
    source = [package("noiseprotocol"), package("cryptography")]
    write("noise.json", "Noise XXpsk2 and KKpsk0: every message, the handshake hash, and transport messages.", source, groups)


# Canonical JSON

ALPHABET = (
    [chr(code) for code in range(0x20)]
    + list('abcXYZ 09"\\/<>&=')
    + ["\x7f", "\x80", "\xe9", "\u07ff", "\u0800", "\u2028", "\ud7ff", "\ue000", "\uffff", "\U00010000", "\U0001f600", "\U0010ffff"]
)


def random_text():
    return "".join(RANDOM.choice(ALPHABET) for _ in range(RANDOM.randrange(8)))


def random_number():
    kind = RANDOM.randrange(5)
    if kind == 0:
        return RANDOM.randrange(-1000, 1000)
    if kind == 1:
        return RANDOM.randrange(-(10**40), 10**40)
    if kind == 2:
        return float(RANDOM.randrange(-1000, 1000))
    if kind == 3:
        return RANDOM.uniform(-1, 1) * 10.0 ** RANDOM.randrange(-300, 300)
    return RANDOM.choice([2**53 - 1, 2**53, -(2**53) + 1, -(2**53), 0.0, -0.0, 5e-324, 1.7976931348623157e308, 1e16, 1e22])


def random_json(depth):
    kind = RANDOM.randrange(7 if depth else 4)
    if kind == 0:
        return RANDOM.choice([None, True, False])
    if kind == 1:
        return random_number()
    if kind in (2, 3):
        return random_text()
    if kind == 4:
        return [random_json(depth - 1) for _ in range(RANDOM.randrange(4))]
    return {random_text(): random_json(depth - 1) for _ in range(RANDOM.randrange(5))}


FIXED_JSON = {
    "keys by code point, not by UTF-16 unit": {"\U0001f600": 1, "\ue000": 2, "\uffff": 3, "\ud7ff": 4, "a": 5, "": 6},
    "a key that starts another": {"ab": 1, "a": 2, "abc": 3, "": 4},
    "digits as keys stay in code-point order": {"10": 1, "9": 2, "1": 3, "02": 4},
    "every control character": "".join(chr(code) for code in range(0x20)),
    "what is not escaped": "\x7f\x80/<>&'\u2028\u2029\U0010ffff",
    "floats and integers keep their form": [1.0, 1, -0.0, 0, 0.1, 1e22, 1e-7, 100.0, 2**53 + 1, -(10**39)],
    "keys that JavaScript objects have already": {"__proto__": {"a": 1}, "constructor": 2, "toString": 3, "hasOwnProperty": 4},
    "empty containers": [{}, [], "", {"a": {}}, {"a": []}],
    "a HELLO": {"pubkey": "", "peer": "pos::1", "node_id": "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----\n"},
}


def canonical_json():
    def test(comment, value):
        return {
            "comment": comment,
            "text": json.dumps(value),
            "literal": json.dumps(value, ensure_ascii=False, indent=2),
            "canonical": canonical(value).hex(),
            "result": "valid",
        }

    fixed = [test(comment, value) for comment, value in FIXED_JSON.items()]
    rand = [test("", random_json(4)) for _ in range(200)]
    pairs = []
    for suite in SUITES:
        for pattern in ["XXpsk2", "KKpsk0"]:
            name = f"Noise_{pattern}_{suite}"
            hello = {"node_id": "h\xfcb \U0001f3e0", "\ue000": 1.0, "\U0001f600": 12345678901234567890, "__proto__": None}
            offer = {"max_protocol_version": 3, "noise": {"suites": SUITES, "patterns": ["XXpsk2", "KKpsk0"]}, "x": 0.10}
            pairs.append(
                {
                    "comment": "fields that this library does not know are bound too",
                    "hello": json.dumps(hello),
                    "handshake": json.dumps(offer),
                    "protocolName": name,
                    "prologue": (canonical(hello) + canonical(offer) + name.encode()).hex(),
                    "result": "valid",
                }
            )
    source = [f"Python {platform.python_version().rsplit('.', 1)[0]} json"]
    groups = [
        {"type": "CanonicalJson", "tests": fixed},
        {"type": "CanonicalJson", "seed": "hub-protocol", "tests": rand},
        {"type": "Prologue", "tests": pairs},
    ]
    write("canonical-json.json", "JSON texts with their canonical form, and prologues made of them.", source, groups)


# Argon2id and the PSK


def argon2id_reference(password, salt, secret, associated_data, passes, memory, lanes, length):
    """The reference implementation in C, by its context, which alone takes a secret and associated data."""
    out = ffi.new("uint8_t[]", length)
    fields = {"version": 0x13, "out": out, "outlen": length, "t_cost": passes, "m_cost": memory, "lanes": lanes, "threads": 1}
    inputs = {"pwd": password, "salt": salt, "secret": secret, "ad": associated_data}
    buffers = {name: ffi.new("uint8_t[]", value) for name, value in inputs.items()}
    lengths = {name + "len": len(value) for name, value in inputs.items()}
    assert core(ffi.new("argon2_context *", {**fields, **buffers, **lengths}), Type.ID.value) == 0
    return bytes(ffi.buffer(out, length))


def argon2id_openssl(password, salt, secret, associated_data, passes, memory, lanes, length):
    """OpenSSL's own implementation."""
    parameters = {"salt": salt, "length": length, "iterations": passes, "lanes": lanes, "memory_cost": memory}
    return Argon2id(**parameters, ad=associated_data or None, secret=secret or None).derive(password)


def psk():
    tests = []
    for password, node_id in [("correct horse battery staple", "hub-1"), ("p\xe4ssw\xf6rd \U0001f511", "h\xfcb \U0001f3e0\n")]:
        salt = hashlib.sha256(node_id.encode()).digest()
        arguments = (password.encode(), salt, b"", b"", 3, 65536, 1, 32)
        tag = argon2id_reference(*arguments)
        assert tag == argon2id_openssl(*arguments)
        tests.append(
            {"comment": "", "password": password, "nodeId": node_id, "salt": salt.hex(), "psk": tag.hex(), "result": "valid"}
        )
    shapes = [
        (lanes, length, memory, passes)
        for lanes in [1, 2, 3, 4]
        for length in [4, 31, 32, 64, 65, 96, 97, 128, 200]
        for memory, passes in [(8 * lanes, 1), (8 * lanes + 3, 3), (130 * lanes + 1, 2)]
    ]
    shapes += [(1, 32, 1100, 2), (2, 32, 1200, 2), (3, 32, 4000, 1), (4, 32, 2500, 3)]  # more than 128 blocks a segment
    grid = []
    for lanes, length, memory, passes in shapes:
        password, salt = random_bytes(RANDOM.randrange(40)), random_bytes(RANDOM.randrange(8, 40))
        secret = random_bytes(RANDOM.choice([0, 0, 8, 33]))
        associated_data = random_bytes(RANDOM.choice([0, 0, 12, 70]))
        arguments = (password, salt, secret, associated_data, passes, memory, lanes, length)
        tag = argon2id_reference(*arguments)
        assert tag == argon2id_openssl(*arguments)
        grid.append(
            {
                "comment": "",
                "password": password.hex(),
                "salt": salt.hex(),
                "secret": secret.hex(),
                "associatedData": associated_data.hex(),
                "passes": passes,
                "memoryKiB": memory,
                "parallelism": lanes,
                "length": length,
                "tag": tag.hex(),
                "result": "valid",
            }
        )
    groups = [{"type": "Psk", "tests": tests}, {"type": "Argon2id", "tests": grid}]
    source = [package("argon2-cffi"), package("cryptography")]
    write("argon2id.json", "Argon2id, and the PSK of a password at a hub; two implementations agree.", source, groups)


if __name__ == "__main__":
    noise()
    canonical_json()
    psk()

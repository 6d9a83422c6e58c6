"""Argon2id, and the PSK derived from a password and a node id. Two implementations agree on each value."""

import base64
import hashlib
import textwrap

from argon2.low_level import Type, core, ffi
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id

import files
from files import group, invalid, package, valid

RANDOM = files.randomness("argon2id")
SOURCE = [package("argon2-cffi"), package("cryptography")]

NOTES = {
    "Lanes": (
        "More lanes than one: a block may then refer to one of another lane. A failure most likely lies in the area of "
        "reference, or fills the lanes in another order."
    ),
    "Limits": (
        "The least salt, tag, passes, lanes and memory that there may be, and less. A failure most likely leaves out a "
        "check."
    ),
    "LongSegment": (
        "Segments of more than 128 blocks, which need a second block of addresses. A failure most likely uses the "
        "first one again."
    ),
    "LongTag": (
        "Tags of more than 64 bytes, chained of halves of hashes. A failure most likely takes each hash whole, or does "
        "not fit the last one to what is left."
    ),
    "Memory": (
        "Memory that is no multiple of four blocks a lane: rounded down for the matrix, but hashed as it was given. A "
        "failure most likely hashes what it rounded."
    ),
    "NodeIdAsSent": "The node id is hashed as it came. A failure most likely trims or normalizes it, or changes its line feeds.",
    "Passes": (
        "More passes than one: from the second on a block is XORed over what was there. A failure most likely "
        "overwrites it, as version 0x10 did."
    ),
    "PasswordAsUtf8": (
        "The password is taken as UTF-8, as it is. A failure most likely normalizes or trims it, or takes other bytes."
    ),
    "SaltOfNodeId": (
        "The salt is SHA-256 of the hub's node id, its 32 bytes. A failure most likely took the node id itself, the "
        "hash in hexadecimal, or the client's own id or access key."
    ),
    "SecretAndData": "A secret value or associated data in the first hash. A failure most likely leaves out a length.",
    "ShortTag": (
        "Tags of up to 64 bytes are one BLAKE2b of that length. A failure most likely cuts a longer one short, or "
        "leaves out the length before the input."
    ),
}


def reference(password, salt, secret, associated_data, passes, memory, lanes, length):
    """The reference implementation in C, through its context: no other interface takes a secret and associated data."""
    out = ffi.new("uint8_t[]", length)
    sizes = {"outlen": length, "t_cost": passes, "m_cost": memory, "lanes": lanes, "threads": 1}
    inputs = {"pwd": password, "salt": salt, "secret": secret, "ad": associated_data}
    buffers = {name: ffi.new("uint8_t[]", value) for name, value in inputs.items()}
    lengths = {name + "len": len(value) for name, value in inputs.items()}
    context = ffi.new("argon2_context *", {"version": 0x13, "out": out, **sizes, **buffers, **lengths})
    if core(context, Type.ID.value) != 0:
        raise ValueError("the reference implementation refuses these arguments")
    return bytes(ffi.buffer(out, length))


def openssl(password, salt, secret, associated_data, passes, memory, lanes, length):
    """The implementation in OpenSSL."""
    sizes = {"length": length, "iterations": passes, "lanes": lanes, "memory_cost": memory}
    return Argon2id(salt=salt, **sizes, ad=associated_data or None, secret=secret or None).derive(password)


def agreed(*arguments):
    tag = reference(*arguments)
    assert tag == openssl(*arguments)
    return tag


# The PSK: 3 passes over 64 MiB, 1 lane, 32 bytes

PASSWORD = "correct horse battery staple"
PEM = "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A\n-----END PUBLIC KEY-----\n"
DIGITS = base64.b64encode(hashlib.shake_256(b"a key").digest(550)).decode()
RSA_PEM = "\n".join(["-----BEGIN PUBLIC KEY-----", *textwrap.wrap(DIGITS, 64), "-----END PUBLIC KEY-----", ""])
assert len(RSA_PEM) == 800  # as the PEM of a key of 4096 bits
PSKS = [
    ("ASCII", ["SaltOfNodeId"], PASSWORD, "hub-1"),
    ("another hub", ["SaltOfNodeId"], PASSWORD, "hub-2"),
    ("a password and a node id of other scripts", ["PasswordAsUtf8", "NodeIdAsSent"],
     "p\xe4ssw\xf6rd \U0001f511", " h\xfcb \U0001f3e0\n"),
    ("the umlauts of the password decomposed", ["PasswordAsUtf8"], "pa\u0308sswo\u0308rd \U0001f511", "hub-1"),
    ("blanks around the password", ["PasswordAsUtf8"], f" {PASSWORD}\n", "hub-1"),
    ("a password longer than a block of BLAKE2b", ["PasswordAsUtf8"], 50 * "\u20ac", "hub-1"),
    ("a node id of several lines", ["NodeIdAsSent"], PASSWORD, PEM),
    ("CR LF in the password", ["PasswordAsUtf8"], "correct\r\nhorse\r\n", "hub-1"),
    ("CR LF in the node id", ["NodeIdAsSent"], PASSWORD, PEM.replace("\n", "\r\n")),
    ("U+0000 in the password and at its end", ["PasswordAsUtf8"], "correct\0horse\0", "hub-1"),
    ("U+0000 in the node id and at its end", ["NodeIdAsSent"], PASSWORD, "hub\0one\0"),
    ("a node id as long as the PEM of an RSA key of 4096 bits", ["NodeIdAsSent"], PASSWORD, RSA_PEM),
    ("the umlaut of the node id decomposed", ["NodeIdAsSent"], PASSWORD, "hu\u0308b"),
    ("blanks at the end of the password", ["PasswordAsUtf8"], f"{PASSWORD}  ", "hub-1"),
]


def psk(comment, flags, password, node_id):
    salt = hashlib.sha256(node_id.encode()).digest()
    tag = agreed(password.encode(), salt, b"", b"", 3, 65536, 1, 32)
    return valid(comment, flags, password=password, nodeId=node_id, salt=salt.hex(), psk=tag.hex())


# Argon2id with other parameters

SHAPES = [
    (lanes, length, memory, passes)
    for lanes in [1, 2, 3, 4]
    for length in [4, 31, 32, 64, 65, 96, 97, 128, 200]
    for memory, passes in [(8 * lanes, 1), (8 * lanes + 3, 3), (130 * lanes + 1, 2)]
]
SHAPES += [(1, 32, 1100, 2), (2, 32, 1200, 2), (3, 32, 4000, 1), (4, 32, 2500, 3)]


def request(password, salt, secret, associated_data, passes, memory, lanes, length):
    inputs = {"password": password, "salt": salt, "secret": secret, "associatedData": associated_data}
    sizes = {"passes": passes, "memoryKiB": memory, "parallelism": lanes, "length": length}
    return {**{name: value.hex() for name, value in inputs.items()}, **sizes}


def derived(comment, flags, *arguments):
    return valid(comment, flags, **request(*arguments), tag=agreed(*arguments).hex())


def random_inputs(lanes, length, memory, passes):
    password, salt = RANDOM.randbytes(RANDOM.randrange(40)), RANDOM.randbytes(RANDOM.randrange(8, 40))
    secret = RANDOM.randbytes(RANDOM.choice([0, 0, 8, 33]))
    associated_data = RANDOM.randbytes(RANDOM.choice([0, 0, 12, 70]))
    kinds = {
        "LongTag" if length > 64 else "ShortTag": True,
        "Lanes": lanes > 1,
        "LongSegment": memory // (4 * lanes) > 128,
        "Memory": memory % (4 * lanes) != 0,
        "Passes": passes > 1,
        "SecretAndData": len(secret) + len(associated_data) > 0,
    }
    flags = [flag for flag, is_of_kind in kinds.items() if is_of_kind]
    comment = f"{length} bytes, passes {passes}, lanes {lanes}, {memory} KiB"
    return derived(comment, flags, password, salt, secret, associated_data, passes, memory, lanes, length)


LEAST = {"salt": bytes(range(8)), "passes": 1, "memory": 8, "lanes": 1, "length": 4}
BELOW = [
    ("a salt of 7 bytes", "bad-length", {"salt": bytes(range(7))}),
    ("no salt", "bad-length", {"salt": b""}),
    ("a tag of 3 bytes", "bad-argument", {"length": 3}),
    ("a tag of no bytes", "bad-argument", {"length": 0}),
    ("no pass", "bad-argument", {"passes": 0}),
    ("no lane", "bad-argument", {"lanes": 0}),
    ("7 KiB", "bad-argument", {"memory": 7}),
    ("no memory", "bad-argument", {"memory": 0}),
    ("two lanes in 15 KiB", "bad-argument", {"lanes": 2, "memory": 15}),
]


def with_limits(salt, passes, memory, lanes, length):
    return b"password", salt, b"", b"", passes, memory, lanes, length


def refused(comment, error, **change):
    arguments = with_limits(**{**LEAST, **change})
    for implementation in [reference, openssl]:
        try:
            implementation(*arguments)
        except ValueError:
            continue
        raise AssertionError(f"{implementation.__name__} takes {comment}")
    return invalid(comment, ["Limits"], error, **request(*arguments))


def build():
    least = [
        derived("the least of everything", ["Limits"], *with_limits(**LEAST)),
        derived("the least for two lanes", ["Limits", "Lanes"], *with_limits(**{**LEAST, "lanes": 2, "memory": 16})),
        derived("no password", ["Limits"], b"", *with_limits(**LEAST)[1:]),
    ]
    groups = [
        group("Psk", SOURCE, [psk(*case) for case in PSKS]),
        group("Argon2id", SOURCE, least + [refused(comment, error, **change) for comment, error, change in BELOW]),
        group("Argon2id", SOURCE, [random_inputs(*shape) for shape in SHAPES]),
    ]
    files.write("argon2id", "Argon2id, and the PSK of a password at a hub; two implementations agree.", NOTES, groups)

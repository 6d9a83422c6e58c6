"""The PSKs that common mistakes lead to, so that the judge can name the mistake behind a PSK without deriving any.

Every mistake is made with the first vector of type Psk. Those that show in some passwords and node ids alone are made
with the others.
"""

import base64
import hashlib
import unicodedata

from argon2.low_level import Type, hash_secret_raw
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id

import files

PATH = files.DIRECTORY.parent / "judge" / "src" / "mistakes" / "psk-mistakes.ts"
RIGHT = {"time_cost": 3, "memory_cost": 65536, "parallelism": 1, "hash_len": 32, "type": Type.ID, "version": 0x13}
# What libraries and guides take where nothing is said, if more than one parameter is wrong then.
DEFAULTS = [(1, 65536, 4), (2, 19456, 1), (1, 47104, 1), (4, 9216, 1), (5, 7168, 1), (2, 16384, 1), (2, 1024, 2)]
HEAD = """\
/** The first 16 bytes of the PSKs of mistakes. Written by vectors/generate/psk_mistakes.py with argon2-cffi and OpenSSL. */
export const PSK_MISTAKES: readonly string[] = [
"""


def sha256(text):
    return hashlib.sha256(text.encode()).digest()


def parameters():
    """Each parameter wrong by itself."""
    yield from ((f"passes {count}", {"time_cost": count}) for count in [1, 2, 4, 5, 6, 8, 10])
    memory = [8, 16, 32, 64, 128, 256, 512, 1000, 1024, 2048, 4096, 8192, 9216, 12288, 16384, 19456, 32768, 37888]
    memory += [47104, 62500, 64000, 65535, 65537, 100000, 102400, 131072, 262144]
    yield from ((f"memory {size}", {"memory_cost": size}) for size in memory)
    yield from ((f"lanes {count}", {"parallelism": count}) for count in [2, 3, 4, 6, 8, 16])
    yield from ((f"length {length}", {"hash_len": length}) for length in [16, 24, 64])
    for passes, memory, lanes in DEFAULTS:
        costs = {"time_cost": passes, "memory_cost": memory, "parallelism": lanes}
        yield f"costs {passes} {memory} {lanes}", costs
    yield "argon2i", {"type": Type.I}
    yield "argon2d", {"type": Type.D}
    yield "version 0x10", {"version": 0x10}


def inputs(password, node_id):
    """The password and the salt, with one thing wrong."""
    right, salt = password.encode(), sha256(node_id)
    yield "salt: node id", right, node_id.encode()
    yield "salt: hexadecimal", right, salt.hex().encode()
    yield "salt: half", right, salt[:16]
    yield "salt: password", right, sha256(password)
    yield "salt: zeros", right, bytes(32)
    yield "salt: reversed", right, salt[::-1]
    yield "salt: twice", right, hashlib.sha256(salt).digest()
    yield "salt: SHA-1", right, hashlib.sha1(node_id.encode()).digest()
    yield "salt: MD5", right, hashlib.md5(node_id.encode()).digest()
    yield "salt: SHA-512", right, hashlib.sha512(node_id.encode()).digest()
    yield "salt: 32 bytes of the SHA-512", right, hashlib.sha512(node_id.encode()).digest()[:32]
    yield "salt: BLAKE2b", right, hashlib.blake2b(node_id.encode(), digest_size=32).digest()
    yield "salt: base64", right, base64.b64encode(salt)
    yield "salt: with password", right, sha256(node_id + password)
    yield "salt: trimmed", right, sha256(node_id.strip())
    yield "salt: lower case", right, sha256(node_id.lower())
    yield "salt: NFC", right, sha256(unicodedata.normalize("NFC", node_id))
    yield "salt: NFD", right, sha256(unicodedata.normalize("NFD", node_id))
    yield "salt: line feeds", right, sha256(node_id.replace("\n", "\r\n"))
    yield "salt: with NUL", right, sha256(node_id + "\0")
    yield "salt: with a line feed", right, sha256(node_id + "\n")
    yield "salt: upper case", right, sha256(node_id.upper())
    yield "salt: upper-case hexadecimal", right, salt.hex().upper().encode()
    yield "salt: UTF-16", right, hashlib.sha256(node_id.encode("utf-16-le")).digest()
    yield "salt: 16 bytes, then zeros", right, salt[:16] + bytes(16)
    yield "salt: quoted", right, sha256(f'"{node_id}"')
    yield "salt: ends at U+0000", right, sha256(node_id.split("\0")[0])
    yield "salt: without U+0000", right, sha256(node_id.rstrip("\0"))
    yield "salt: BLAKE2b of 16 bytes", right, hashlib.blake2b(node_id.encode(), digest_size=16).digest()
    yield "salt: first line", right, sha256(node_id.split("\n")[0])
    yield "salt: last line feed", right, sha256(node_id.removesuffix("\n"))
    yield "salt: last line break", right, sha256(node_id.rstrip("\r\n"))
    yield "salt: trimmed at its end", right, sha256(node_id.rstrip())
    yield "salt: CR LF", right, sha256(node_id.replace("\r\n", "\n"))
    for length in [63, 64, 127, 128, 255, 256, 511, 512]:
        yield f"salt: first {length}", right, sha256(node_id[:length])
    yield "password: first line", password.split("\n")[0].encode(), salt
    yield "password: last line feed", password.removesuffix("\n").encode(), salt
    yield "password: last line break", password.rstrip("\r\n").encode(), salt
    yield "password: trimmed at its end", password.rstrip().encode(), salt
    yield "password: CR LF", password.replace("\r\n", "\n").encode(), salt
    for length in [31, 32, 63, 64, 71, 72, 99, 100, 127, 128]:
        yield f"password: first {length} bytes", right[:length], salt
    yield "password: ends at U+0000", password.split("\0")[0].encode(), salt
    yield "password: without U+0000", password.rstrip("\0").encode(), salt
    yield "password: trimmed", password.strip().encode(), salt
    yield "password: lower case", password.lower().encode(), salt
    yield "password: NFC", unicodedata.normalize("NFC", password).encode(), salt
    yield "password: NFD", unicodedata.normalize("NFD", password).encode(), salt
    yield "password: NFKC", unicodedata.normalize("NFKC", password).encode(), salt
    yield "password: Latin-1", password.encode("latin-1", "replace"), salt
    yield "password: low bytes", bytes(ord(unit) & 0xFF for unit in utf16(password)), salt
    yield "password: UTF-16", password.encode("utf-16-le"), salt
    yield "password: with NUL", (password + "\0").encode(), salt
    yield "password: hashed", sha256(password), salt
    yield "password: hashed in hexadecimal", sha256(password).hex().encode(), salt
    yield "password: hashed with SHA-512", hashlib.sha512(password.encode()).digest(), salt
    yield "password: base64", base64.b64encode(password.encode()), salt
    yield "password: with a line feed", (password + "\n").encode(), salt
    yield "password: upper case", password.upper().encode(), salt
    yield "password: quoted", f'"{password}"'.encode(), salt
    yield "password: big-endian UTF-16", password.encode("utf-16-be"), salt
    yield "password: after the node id", (node_id + password).encode(), salt
    yield "password: before the node id", (password + node_id).encode(), salt
    yield "password: hexadecimal", password.encode().hex().encode(), salt
    yield "arguments", salt, right
    yield "swapped", node_id.encode(), sha256(password)


def utf16(text):
    data = text.encode("utf-16-le")
    return [chr(data[at] + 256 * data[at + 1]) for at in range(0, len(data), 2)]


def derive(password, salt, **changes):
    return hash_secret_raw(password, salt, **{**RIGHT, **changes}).hex()


def build(tests):
    found = {}
    for index, test in enumerate(tests):
        password, node_id = test["password"], test["nodeId"]
        right = password.encode(), sha256(node_id)
        is_plain = index == 0
        changes = [(name, *right, change) for name, change in parameters()] if is_plain else []
        names = {}  # by the inputs: several mistakes may lead to the same ones
        for name, *wrong in inputs(password, node_id):
            if tuple(wrong) == right or len(wrong[1]) < 8 or not wrong[0]:
                continue
            if is_plain or shows_only_here(name, tests[0]):
                names.setdefault(tuple(wrong), []).append(name)
        changes += [(" | ".join(each), *wrong, {}) for wrong, each in names.items()]
        if is_plain:
            found[hashlib.sha256(bytes.fromhex(test["psk"])).hexdigest()[:32]] = "hashed"
            with_data = Argon2id(salt=right[1], length=32, iterations=3, lanes=1, memory_cost=65536, ad=node_id.encode())
            found[with_data.derive(right[0]).hex()[:32]] = "data: node id"
        for name, own_password, salt, change in changes:
            found[derive(own_password, salt, **change)[:32]] = name
    lines = [f"  '{psk} {name}',\n" for psk, name in found.items()]
    files.put_text(PATH, HEAD + "".join(lines) + "];\n")


def shows_only_here(name, first):
    """Whether a mistake makes no difference with the first vector, or Argon2id refuses its salt there."""
    password, node_id = first["password"], first["nodeId"]
    right = password.encode(), sha256(node_id)
    return any(
        other == name and ((own, salt) == right or len(salt) < 8) for other, own, salt in inputs(password, node_id)
    )

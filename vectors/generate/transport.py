"""Transport messages, sealed and opened at counters of all sizes, and messages that must not open.

noiseprotocol's CipherState, and cryptography's ciphers with nonces written out here, agree on each message.
"""

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM, ChaCha20Poly1305
from noise.connection import NoiseConnection
from noise.exceptions import NoiseMaxNonceError
from noise.state import CipherState

import files
from files import group, invalid, package, valid

RANDOM = files.randomness("transport")
SOURCE = [package("noiseprotocol"), package("cryptography")]
TAG = 16
MAX_MESSAGE = 65535
RESERVED = 2**64 - 1

NOTES = {
    "AfterFailure": (
        "What follows a message that did not open is honest, but nothing may open any more. For a session "
        "that is the protocol's rule; for a CipherState by itself it is a choice of this library, since Noise, section "
        "5.1, lets it go on. A failure most likely goes on with the next message."
    ),
    "FlippedBit": "One bit of a message is the other way round. Whoever accepts it does not check the tag.",
    "MessageLength": (
        "A message has 16 to 65535 bytes, so a plaintext at most 65519. A failure most likely lets more pass, or takes "
        "the limit without the tag."
    ),
    "NonceExhausted": (
        "The last nonce is 2^64 - 2; 2^64 - 1 is reserved (Noise spec, section 5.1), and there is no way past it. A "
        "failure most likely uses it, or starts again at 0."
    ),
    "NonceOrder": (
        "Nonces are four zeros and the counter, little-endian for ChaChaPoly, big-endian for AESGCM (Noise spec, "
        "section 12). A failure most likely has the other order, which shows at counter 1."
    ),
    "NonceWidth": (
        "The counter crosses the end of 8 to 63 bits. A failure most likely keeps it in a number that is too small: at "
        "2^53 floats stop counting, at 2^63 signed integers turn negative."
    ),
    "Reordered": "A message before its turn. Whoever accepts it takes the counter from elsewhere.",
    "Replayed": "A message for the second time. Whoever accepts it does not count what it opened.",
    "TruncatedMessage": "A message of another length than it was sealed to. Whoever accepts it does not check the tag.",
    "WrongKey": "Another key, cipher or associated data. Whoever accepts it does not check the tag.",
}

LENGTHS = [1, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 1000]
STARTS = [
    ("the end of 8 bits", 2**8 - 2),
    ("the end of 16 bits", 2**16 - 2),
    ("the end of 31 bits", 2**31 - 2),
    ("the end of 32 bits", 2**32 - 2),
    ("the end of 40 bits", 2**40 - 2),
    ("the end of 53 bits", 2**53 - 2),
    ("the end of 63 bits", 2**63 - 2),
    ("each byte of the counter another one", 0x0102030405060708),
]


def nonce(suite, counter):
    return bytes(4) + counter.to_bytes(8, "little" if suite == files.CHACHAPOLY else "big")


def cipher(suite, key):
    return (ChaCha20Poly1305 if suite == files.CHACHAPOLY else AESGCM)(key)


def cipher_state(suite, key, counter):
    state = CipherState(NoiseConnection.from_name(f"Noise_XXpsk2_{suite}".encode()).noise_protocol)
    state.initialize_key(key)
    state.set_nonce(counter)
    return state


def seal(suite, key, counter, plaintexts):
    """The sealed messages. Asserts that both implementations agree."""
    sealing, opening = cipher_state(suite, key, counter), cipher_state(suite, key, counter)
    messages = []
    for index, plaintext in enumerate(plaintexts):
        message = sealing.encrypt_with_ad(b"", plaintext)
        assert message == cipher(suite, key).encrypt(nonce(suite, counter + index), plaintext, None)
        assert opening.decrypt_with_ad(b"", message) == plaintext
        messages.append(message)
    return messages


def hexes(values):
    return [value.hex() for value in values]


def plaintexts(count, length=8):
    return [RANDOM.randbytes(length) for _ in range(count)]


def sealed_and_opened(suite, comment, flags, counter, texts):
    """A test of Seal and a test of Open with the same messages."""
    key = RANDOM.randbytes(32)
    messages = hexes(seal(suite, key, counter, texts))
    fields = {"suite": suite, "key": key.hex(), "counter": str(counter)}
    results = [{"message": message} for message in messages]
    seals = valid(comment, flags, **fields, plaintexts=hexes(texts), results=results)
    opens = valid(comment, flags, **fields, messages=messages, results=[{"plaintext": text.hex()} for text in texts])
    return seals, opens


def sealed_until(suite, comment, flags, error, counter, accepted, refused):
    """A test in which only the first messages can be sealed."""
    key = RANDOM.randbytes(32)
    results = [{"message": message.hex()} for message in seal(suite, key, counter, accepted)]
    if error == "nonce-exhausted":
        assert_exhausted(cipher_state(suite, key, counter + len(accepted)))
    results += [{"error": error} for _ in refused]
    fields = {"suite": suite, "key": key.hex(), "counter": str(counter)}
    return invalid(comment, flags, error, **fields, plaintexts=hexes(accepted + refused), results=results)


def opened_until(suite, comment, flags, error, key, counter, accepted, refused):
    """A test in which the first messages open, the next must not, and so the valid ones after it must not either."""
    state = cipher_state(suite, key, counter)
    results = [{"plaintext": state.decrypt_with_ad(b"", message).hex()} for message in accepted]
    assert_refused(state, refused[0], error)
    results += [{"error": error} for _ in refused]
    fields = {"suite": suite, "key": key.hex(), "counter": str(counter)}
    return invalid(comment, flags, error, **fields, messages=hexes(accepted + refused), results=results)


def assert_exhausted(state):
    try:
        state.encrypt_with_ad(b"", b"")
    except NoiseMaxNonceError:
        return
    raise AssertionError("noiseprotocol seals with the reserved nonce")


def assert_refused(state, message, error):
    """Asserts that noiseprotocol fails too. It accepts messages of any length."""
    if error == "message-too-long":
        state.decrypt_with_ad(b"", message)
        return
    try:
        state.decrypt_with_ad(b"", message)
    except NoiseMaxNonceError:
        assert error == "nonce-exhausted"
    except InvalidTag:
        assert error == ("message-too-short" if len(message) < TAG else "not-authentic")
    else:
        raise AssertionError("noiseprotocol opens this message")


def both_ways(suite):
    many_lengths = [RANDOM.randbytes(length) for length in LENGTHS]
    tests = [
        sealed_and_opened(suite, "counters 0 to 300", ["NonceOrder"], 0, plaintexts(301, 1)),
        sealed_and_opened(suite, "messages of many lengths", ["MessageLength"], 0, many_lengths),
        sealed_and_opened(suite, "no bytes, three times", ["MessageLength", "NonceOrder"], 0, [b""] * 3),
        sealed_and_opened(suite, "the same plaintext five times", ["NonceOrder"], 0, [bytes(16)] * 5),
    ]
    for comment, counter in STARTS:
        tests.append(sealed_and_opened(suite, comment, ["NonceWidth"], counter, plaintexts(5)))
    tests.append(sealed_and_opened(suite, "the last three nonces", ["NonceExhausted"], RESERVED - 3, plaintexts(3)))
    return [list(side) for side in zip(*tests, strict=True)]


def seal_refusals(suite):
    for comment, first in [("beyond the last nonce", RESERVED - 2), ("at the reserved nonce", RESERVED)]:
        texts = plaintexts(RESERVED - first + 2)
        accepted, refused = texts[: RESERVED - first], texts[RESERVED - first :]
        yield sealed_until(suite, comment, ["NonceExhausted"], "nonce-exhausted", first, accepted, refused)
    if suite == files.CHACHAPOLY:  # one message of this length makes the file large enough
        longest = RANDOM.randbytes(MAX_MESSAGE - TAG)
        comment = "65519 bytes, and one more"
        yield sealed_until(suite, comment, ["MessageLength"], "message-too-long", 0, [longest], [longest + b"\0"])


def open_refusals(suite):
    """Two messages that open, then something in place of the third, then the third and the fourth."""
    key = RANDOM.randbytes(32)
    messages = seal(suite, key, 0, plaintexts(5, 40))
    third = messages[2]
    [other_suite] = [name for name in files.SUITES if name != suite]

    def instead(message, flag, comment, error="not-authentic", following=messages[2:4]):
        accepted, refused = messages[:2], [message, *following]
        return opened_until(suite, comment, [flag, "AfterFailure"], error, key, 0, accepted, refused)

    def flipped(at, bit):
        return third[:at] + bytes([third[at] ^ bit]) + third[at + 1 :]

    def sealed(suite=suite, key=key, associated_data=None):
        return cipher(suite, key).encrypt(nonce(suite, 2), bytes(40), associated_data)

    last = len(third) - 1
    return [
        instead(flipped(0, 0x01), "FlippedBit", "a bit of the first byte"),
        instead(flipped(last - TAG, 0x80), "FlippedBit", "a bit of the last byte before the tag"),
        instead(flipped(last - TAG + 1, 0x01), "FlippedBit", "a bit of the tag's first byte"),
        instead(flipped(last, 0x80), "FlippedBit", "a bit of the tag's last byte"),
        instead(third[:-TAG], "TruncatedMessage", "no tag"),
        instead(third[:-1], "TruncatedMessage", "the last byte missing"),
        instead(third[1:], "TruncatedMessage", "the first byte missing"),
        instead(third + b"\0", "TruncatedMessage", "a byte more"),
        instead(third[:16], "TruncatedMessage", "16 bytes"),
        instead(third[:15], "TruncatedMessage", "15 bytes", "message-too-short"),
        instead(b"", "TruncatedMessage", "no bytes", "message-too-short"),
        instead(messages[1], "Replayed", "the message before, again"),
        instead(messages[0], "Replayed", "the first message, again"),
        instead(third[:-TAG] + messages[1][-TAG:], "Replayed", "the tag of the message before"),
        instead(messages[3], "Reordered", "two messages in each other's place", following=[third, messages[4]]),
        instead(messages[3], "Reordered", "a message lost", following=[messages[4]]),
        instead(sealed(key=RANDOM.randbytes(32)), "WrongKey", "sealed with another key"),
        instead(sealed(suite=other_suite), "WrongKey", "sealed with the other cipher"),
        instead(sealed(associated_data=b"x"), "WrongKey", "sealed with associated data"),
    ]


def reserved_nonce(suite):
    """Messages sealed with the reserved nonce."""
    key, texts = RANDOM.randbytes(32), plaintexts(3)
    first = RESERVED - 1
    accepted = seal(suite, key, first, texts[:1])
    refused = [cipher(suite, key).encrypt(nonce(suite, RESERVED), text, None) for text in texts[1:]]
    error, flags = "nonce-exhausted", ["NonceExhausted", "AfterFailure"]
    yield opened_until(suite, "sealed with the reserved nonce", flags, error, key, first, accepted, refused)
    wrapped = cipher(suite, key).encrypt(nonce(suite, 0), texts[0], None)
    yield opened_until(suite, "sealed with nonce 0 after the last one", flags, error, key, first, accepted, [wrapped])


def oversized(suite):
    key = RANDOM.randbytes(32)
    [longest] = seal(suite, key, 0, [RANDOM.randbytes(MAX_MESSAGE - TAG)])
    one_more = cipher(suite, key).encrypt(nonce(suite, 1), bytes(MAX_MESSAGE - TAG + 1), None)
    comment = "65535 bytes, and one more"
    yield opened_until(suite, comment, ["MessageLength"], "message-too-long", key, 0, [longest], [one_more])


def build():
    groups = []
    for suite in files.SUITES:
        seals, opens = both_ways(suite)
        groups.append(group("Seal", SOURCE, [*seals, *seal_refusals(suite)]))
        refusals = [*open_refusals(suite), *reserved_nonce(suite)]
        if suite == files.AESGCM:
            refusals += oversized(suite)
        groups.append(group("Open", SOURCE, [*opens, *refusals]))
    files.write("transport", "Transport messages, sealed and opened, and what must not open.", NOTES, groups)

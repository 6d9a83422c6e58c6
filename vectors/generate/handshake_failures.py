"""Handshakes that must fail. Each is one change away from a valid one, and noiseprotocol fails at the same step."""

from dataclasses import replace

from cryptography.exceptions import InvalidTag
from noise.constants import Empty
from noise.exceptions import NoiseValueError

import files
import handshake_sides as sides
from files import canonical, group, invalid

NOTES = {
    "FlippedBit": (
        "One bit of a message is the other way round. Whoever accepts it did not check a tag, did not hash the whole "
        "message, or masked the top bit of a key before hashing it."
    ),
    "OversizedMessage": (
        "A Noise message has at most 65535 bytes (Noise spec, section 3). This one has 65536 and would open. Whoever "
        "accepts it does not look."
    ),
    "ReplayedMessage": (
        "A message of another handshake, with the same keys but other ephemeral ones, or of an earlier step. Whoever "
        "accepts it does not mix in what belongs to this one."
    ),
    "SwappedRole": "A message comes back to who wrote it. Whoever accepts it has no direction in its keys.",
    "TrailingByte": "One byte more. Whoever accepts it ignores what follows the tag.",
    "TruncatedMessage": (
        "A message that was cut short: message-too-short where it is shorter than its keys and tags alone, otherwise "
        "its payload does not open. A failure most likely reads beyond the end."
    ),
    "WrongPinnedKey": "The other side's static key is not the pinned one. Whoever accepts it does not use the pin.",
    "WrongPrologue": (
        "The prologues differ. Whoever accepts it does not hash the prologue; it fails as a wrong password would, in "
        "XXpsk2 at the first payload or at the static key."
    ),
    "WrongPsk": (
        "The pre-shared keys differ. In XXpsk2 the static key of message 2 still opens, and only its payload does not. "
        "Whoever accepts it, or fails earlier, mixes the psk in at another place."
    ),
    "WrongStaticKey": (
        "One's own static key is not the one that the other side has pinned. Whoever accepts it does not use its own."
    ),
    "WrongSuite": "The other side uses another suite. Whoever accepts it does not hash the protocol name.",
}

# The fields of each message, in order. A tag follows s and the payload.
FIELDS = {
    "XXpsk2": [["e", "payload"], ["e", "s", "payload"], ["s", "payload"]],
    "KKpsk0": [["e", "payload"], ["e", "payload"]],
}
MAX_MESSAGE = 65535


class Base:
    """A valid handshake. Each failure changes it in one place."""

    def __init__(self, pattern, suite):
        self.random = files.randomness(f"handshake failures {pattern} {suite}")
        self.pattern, self.suite = pattern, suite
        self.keys = sides.draw_keys(self.random)
        self.hello, self.offer = canonical({"node_id": "hub"}), canonical({"max_protocol_version": 3})
        self.name = f"Noise_{pattern}_{suite}".encode()
        self.prologue = self.hello + self.offer + self.name
        self.payloads = [self.random.randbytes(20) for _ in FIELDS[pattern]]
        self.messages = self.exchange()

    def options(self, role):
        return sides.options(role, self.pattern, self.suite, self.prologue, self.keys)

    def exchange(self):
        both = {role: sides.start(self.options(role)) for role in ["init", "resp"]}
        return sides.exchange(both, self.payloads)

    def fields(self, index):
        """Name, start and end of each field of a message, tags included."""
        fields, at = [], 0
        for name in FIELDS[self.pattern][index]:
            length = len(self.payloads[index]) if name == "payload" else 32
            fields.append((name, at, at + length))
            at += length
            if name != "e":
                fields.append((f"tag of {name}", at, at + 16))
                at += 16
        assert at == len(self.messages[index])
        return fields

    def shortest(self, index):
        return len(self.messages[index]) - len(self.payloads[index])

    def failure(self, comment, flags, error, index, message=None, **changes):
        """A test in which the reader of message `index` fails, because its options or the message were changed."""
        options = replace(self.options(sides.reader_of(index)), **changes)
        side = sides.start(options)
        steps = []
        for earlier in range(index):
            payload, received = self.payloads[earlier], self.messages[earlier]
            if sides.writer_of(earlier) == options.role:
                steps.append({"do": "write", "payload": payload.hex(), "message": side.write_message(payload).hex()})
            else:
                assert side.read_message(received) == payload
                steps.append({"do": "read", "message": received.hex(), "payload": payload.hex()})
        if message is None:
            message = self.messages[index]
        steps.append({"do": "read", "message": message.hex()})
        self.assert_refused(side, index, message, error)
        return invalid(comment, flags, error, **options.fields(), steps=steps)

    def assert_refused(self, side, index, message, error):
        """Asserts that noiseprotocol fails at the field that the error names. It accepts messages of any length."""
        if error == "message-too-long":
            side.read_message(message)
            return
        handshake = side.noise_protocol.handshake_state
        try:
            side.read_message(message)
        except (InvalidTag, NoiseValueError):
            is_known = not isinstance(handshake.rs, Empty)
            found = "payload-not-authentic" if is_known else self.first_error(index)
            assert error == ("message-too-short" if len(message) < self.shortest(index) else found)
        else:
            raise AssertionError("noiseprotocol takes this message")

    def first_error(self, index):
        """The error if nothing in the message opens."""
        return "static-key-not-authentic" if "s" in FIELDS[self.pattern][index] else "payload-not-authentic"


def flipped(message, at, bit):
    return message[:at] + bytes([message[at] ^ bit]) + message[at + 1 :]


def flipped_bits(base):
    for index, message in enumerate(base.messages):
        for name, start, end in base.fields(index):
            error = base.first_error(index) if "payload" not in name else "payload-not-authentic"
            for at, bit, where in [(start, 0x01, "first"), (end - 1, 0x80, "last")]:
                comment = f"message {index + 1}: the {where} bit of its {name}"
                yield base.failure(comment, ["FlippedBit"], error, index, flipped(message, at, bit))


def truncated(base):
    for index, message in enumerate(base.messages):
        lengths = {0, base.shortest(index) - 1, base.shortest(index), len(message) - 1}
        for _, _, end in base.fields(index)[:-1]:
            lengths |= {end - 1, end}
        for length in sorted(lengths):
            error = "message-too-short" if length < base.shortest(index) else "payload-not-authentic"
            comment = f"message {index + 1}: {length} of {len(message)} bytes"
            yield base.failure(comment, ["TruncatedMessage"], error, index, message[:length])
        comment = f"message {index + 1}: a zero more"
        yield base.failure(comment, ["TrailingByte"], "payload-not-authentic", index, message + b"\0")


def disagreements(base):
    """Handshakes whose sides disagree about something: one reader differs from the valid handshake."""
    other_key = base.random.randbytes(32)
    prologues = {
        "the payloads in the other order": base.offer + base.hello + base.name,
        "without the protocol name": base.hello + base.offer,
        "with a line feed between its parts": b"\n".join([base.hello, base.offer, base.name]),
        "empty": b"",
    }
    [other_suite] = [suite for suite in files.SUITES if suite != base.suite]
    for index in [0, 1]:
        role = "the " + sides.ROLES[sides.reader_of(index)]
        error = base.first_error(index)
        for what, prologue in prologues.items():
            yield base.failure(f"{role}'s prologue {what}", ["WrongPrologue"], error, index, prologue=prologue)
        yield base.failure(f"{role} has the other suite", ["WrongSuite"], error, index, suite=other_suite)
        if base.pattern == "KKpsk0":
            pin = sides.public_key(other_key)
            yield base.failure(f"{role} pinned another key", ["WrongPinnedKey"], error, index, remoteStaticKey=pin)
            yield base.failure(f"{role} has another static key", ["WrongStaticKey"], error, index, staticKey=other_key)
    last = len(base.messages) - 1
    for index in [0, 1] if base.pattern == "KKpsk0" else [1, 2]:
        role = "the " + sides.ROLES[sides.reader_of(index)]
        error = base.first_error(index) if index == last else "payload-not-authentic"
        yield base.failure(f"{role} has another psk", ["WrongPsk"], error, index, psk=other_key)


def replayed(base):
    ephemeral = base.random.randbytes(32)
    for index in range(1, len(base.messages)):
        comment = f"message {index + 1} of another handshake"
        error = base.first_error(index)
        yield base.failure(comment, ["ReplayedMessage"], error, index, ephemeralKey=ephemeral)
    for index in range(1, len(base.messages)):
        own = base.messages[index - 1]
        error = "message-too-short" if len(own) < base.shortest(index) else base.first_error(index)
        comment = f"the reader's own message {index} comes back as message {index + 1}"
        yield base.failure(comment, ["SwappedRole"], error, index, own)
    if base.pattern == "XXpsk2":
        again = base.messages[0]
        yield base.failure("message 1 again as message 3", ["ReplayedMessage"], base.first_error(2), 2, again)


def swapped_with_long_payload(base):
    """Message 1 reflected as message 2, long enough not to fail by its length."""
    long = Base(base.pattern, base.suite)
    long.payloads[0] = base.random.randbytes(100)
    long.messages = long.exchange()
    comment = "the reader's own message 1, with a longer payload, comes back as message 2"
    return long.failure(comment, ["SwappedRole"], long.first_error(1), 1, long.messages[0])


def oversized(base):
    payload = bytes(MAX_MESSAGE + 1 - base.shortest(0))
    message = bytes(sides.start(base.options("init")).write_message(payload))
    return base.failure("message 1 of 65536 bytes", ["OversizedMessage"], "message-too-long", 0, message)


def failures(pattern, suite):
    base = Base(pattern, suite)
    tests = [*disagreements(base), *flipped_bits(base), *truncated(base), *replayed(base)]
    if pattern == "XXpsk2":
        tests.append(swapped_with_long_payload(base))
        if suite == files.CHACHAPOLY:
            tests.append(oversized(base))
    return group("HandshakeFailure", sides.SOURCE, tests)

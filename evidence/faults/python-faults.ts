/** Faults planted in ports/python: in its sources, and in noiseprotocol beneath it by faulty_adapter.py. */
import { type Fault, fault } from './fault.ts';
import { PORTER_PYTHON_FAULTS } from './porter-faults.ts';
import { PYTHON_SESSION_FAULTS } from './python-session-faults.ts';

/** Every cause in the report of each fault of faulty_adapter.py. */
const CAUSES: { readonly [fault: string]: string } = {
  'utf16-key-order': 'key order: keys are sorted by UTF-16 unit',
  'integer-for-float': 'numbers: a float without a fraction is written as an integer',
  'unicode-escape-for-b': 'escapes: \\u0008 is written instead of \\b',
  'big-endian-chachapoly': 'nonce order: ChaChaPoly',
  'little-endian-aesgcm': 'nonce order: ChaChaPoly',
  'hashed-aesgcm-name': 'protocol name: it is hashed',
  'psk-token-left-out': 'psk: the psk token is left out',
  'e-not-mixed-into-key': 'e is not mixed into the key',
  'prologue-parts-swapped': 'prologue: its parts are HANDSHAKE, HELLO, protocol name',
  'salt-from-client-id': 'psk: the salt is the SHA-256 of the hub’s node id',
  'chunk-limit-off-by-one': 'chunk limit: ',
  'missing-final-chunk': 'final chunk: the last chunk has the marker 4',
  'cap-off-by-one': 'cap: a message of exactly 32 MiB',
  'interleaving-accepted': 'interleaving: a new message is accepted while another is', // open, or being dropped
  'pin-not-enforced': 'pin: a hub whose key is not the pinned one is accepted',
  'continues-after-failed-open': 'a failure is final: ',
  'trimmed-password': 'psk: the password is trimmed',
  'other-time-cost': 'psk: Argon2id has a time cost of 2',
  'upper-case-hexadecimal': 'hexadecimal: the adapter writes upper-case digits',
  'no-associated-data': 'associated data: there is none',
  'counter-not-advanced': 'nonce: the counter does not advance',
  'split-swapped': 'split: each side sends with the other’s key',
  'two-outputs-for-psk': 'psk: MixKeyAndHash takes two outputs of HKDF',
  'pre-messages-swapped': 'pre-messages: the responder’s static key is hashed first',
  'dropped-message-closes': 'interleaving: a new message is accepted while another is being dropped',
};

/** Where those faults show that do not show in handshakes. */
const OPERATIONS: { readonly [fault: string]: readonly string[] } = {
  'utf16-key-order': ['canonical-json', 'prologue', 'session'],
  'integer-for-float': ['canonical-json', 'prologue', 'session'],
  'unicode-escape-for-b': ['canonical-json', 'prologue', 'session'],
  'prologue-parts-swapped': ['prologue', 'session'],
  'salt-from-client-id': ['psk', 'session'],
  'trimmed-password': ['psk'],
  'other-time-cost': ['psk'],
  'chunk-limit-off-by-one': ['split', 'session'],
  'missing-final-chunk': ['split', 'session'],
  'cap-off-by-one': ['reassemble', 'session'],
  'interleaving-accepted': ['reassemble', 'session'],
  'dropped-message-closes': ['reassemble', 'session'],
  'pin-not-enforced': ['session'],
};

export const NOISEPROTOCOL_FAULTS: readonly Fault[] = Object.entries(CAUSES).map(([name, says]) => ({
  name,
  patches: [],
  only: OPERATIONS[name] ?? ['handshake', 'seal', 'open', 'session'],
  says: [says],
}));

const PROTOCOL = 'hub_protocol.py';
const ENVELOPES = 'hub_envelopes.py';
const SESSION = 'hub_session.py';
const TOPICS = 'mqtt_topics.py';

export const PYTHON_FAULTS: readonly Fault[] = [
  fault(
    'ascii-escapes',
    'canonical-json prologue session',
    'escapes: U+007F and all characters beyond ASCII',
    [PROTOCOL, 'return json.dumps(value, ensure_ascii=False)', 'return json.dumps(value)'],
  ),
  fault(
    'white-space',
    'canonical-json prologue session',
    'white space: there is some after',
    [
      PROTOCOL,
      'return "[" + ",".join(write_json(item) for item in value) + "]"',
      'return "[" + ", ".join(write_json(item) for item in value) + "]"',
    ],
    [
      PROTOCOL,
      '"{" + ",".join(write_json(key) + ":" + write_json(value[key]) for key in sorted(value)) + "}"',
      '"{" + ", ".join(write_json(key) + ": " + write_json(value[key]) for key in sorted(value)) + "}"',
    ],
  ),
  fault('keys-as-they-came', 'canonical-json prologue session', 'key order: keys are not sorted', [
    PROTOCOL,
    'for key in sorted(value))',
    'for key in value)',
  ]),
  fault('slash-escaped', 'canonical-json prologue session', 'escapes: / is escaped', [
    PROTOCOL,
    'return json.dumps(value, ensure_ascii=False)',
    'return json.dumps(value, ensure_ascii=False).replace("/", "\\\\/")',
  ]),
  fault(
    'floats-only',
    'canonical-json prologue session',
    'numbers: floats are parsed and written again as Python writes them',
    [PROTOCOL, '"parse_float": Number,', '"parse_float": lambda token: Number(repr(float(token))),'],
  ),
  fault(
    'nan-accepted',
    'canonical-json prologue',
    [
      'JSON: NaN and Infinity are accepted',
      'accepts what has to be refused: NaN in the HELLO; NaN in the HANDSHAKE',
    ],
    [PROTOCOL, 'raise Refused("bad-json")  # NaN, Infinity, -Infinity', 'return Number(name)'],
  ),
  fault(
    'duplicates-accepted',
    'canonical-json prologue session',
    [
      'JSON: a repeated key is accepted',
      'accepts what has to be refused: a key twice in the HELLO; a key twice in the HANDSHAKE, once escaped',
    ],
    [PROTOCOL, 'if len(dict(pairs)) != len(pairs):', 'if len(dict(pairs)) > len(pairs):'],
  ),
  fault('depth-one-more', 'canonical-json', 'JSON: more than 64 open arrays and objects are accepted', [
    PROTOCOL,
    'if depth_left == 0:',
    'if depth_left < 0:',
  ]),
  fault('prologue-without-name', 'prologue session', 'prologue: its parts are HELLO, HANDSHAKE;', [
    PROTOCOL,
    'canonical_json(hello) + canonical_json(handshake) + name.encode()',
    'canonical_json(hello) + canonical_json(handshake)',
  ]),
  fault('raw-node-id-as-salt', 'psk', 'psk: the salt is the node id itself', [
    PROTOCOL,
    'return hashlib.sha256(encode(node_id)).digest()',
    'return encode(node_id)',
  ]),
  fault('hexadecimal-salt', 'psk', 'psk: the salt is the SHA-256 in hexadecimal', [
    PROTOCOL,
    'return hashlib.sha256(encode(node_id)).digest()',
    'return hashlib.sha256(encode(node_id)).hexdigest().encode()',
  ]),
  fault('latin-1-password', 'psk', 'psk: the password is encoded as Latin-1', [
    PROTOCOL,
    'return argon2id(encode(password), psk_salt',
    'return argon2id(password.encode("latin-1", "replace"), psk_salt',
  ]),
  fault('argon2i', 'psk', 'psk: the algorithm is Argon2i;', [
    PROTOCOL,
    'from cryptography.hazmat.primitives.kdf.argon2 import Argon2id',
    'from cryptography.hazmat.primitives.kdf.argon2 import Argon2i as Argon2id',
  ]),
  fault('argon2d', 'psk', 'psk: the algorithm is Argon2d;', [
    PROTOCOL,
    'from cryptography.hazmat.primitives.kdf.argon2 import Argon2id',
    'from cryptography.hazmat.primitives.kdf.argon2 import Argon2d as Argon2id',
  ]),
  fault('memory-in-mebibytes', 'psk', 'psk: Argon2id has 32768 KiB', [
    PROTOCOL,
    'passes=3, memory=65536',
    'passes=3, memory=32768',
  ]),
  fault(
    'short-psk',
    'psk',
    ['psk: Argon2id is asked for 16 bytes', 'psk: it has 16 bytes'],
    [PROTOCOL, 'lanes=1, length=KEY)', 'lanes=1, length=16)'],
  ),
  fault('hubs-preference', 'select session', 'selection: the hub’s list decides', [
    PROTOCOL,
    'suites = [suite for suite in own_suites if suite in offered_suites]',
    'suites = [suite for suite in offered_suites if suite in own_suites]',
  ]),
  fault('xx-although-pinned', 'select session', 'selection: KKpsk0 is never taken', [
    PROTOCOL,
    '["KKpsk0", "XXpsk2"] if pinned else ["XXpsk2"]',
    '["XXpsk2"]',
  ]),
  fault('markers-swapped', 'split session', 'markers: JSON and binary', [
    PROTOCOL,
    'single, first = (JSON, FIRST_JSON) if kind == "json" else (BINARY, FIRST_BINARY)',
    'single, first = (JSON, FIRST_JSON) if kind != "json" else (BINARY, FIRST_BINARY)',
  ]),
  fault('empty-final-chunk', 'split session', 'final chunk: an empty one follows', [
    PROTOCOL,
    'for start in range(0, len(payload), MAX_CHUNK)]',
    'for start in range(0, len(payload) + 1, MAX_CHUNK)]',
  ]),
  fault(
    'replacement-characters',
    'reassemble session',
    'UTF-8: a JSON message that is not UTF-8 is delivered',
    [PROTOCOL, '"text": payload.decode()}', '"text": payload.decode(errors="replace")}'],
  ),
  fault('hex-with-white-space', 'session', 'msg: hex is read without the white space in it', [
    PROTOCOL,
    'return binascii.unhexlify(text)  # either case; unlike bytes.fromhex, it rejects white space',
    'return bytes.fromhex(text)',
  ]),
  fault(
    'keys-case-insensitive',
    'canonical-json prologue session',
    'key order: keys are sorted without regard to case',
    [PROTOCOL, 'for key in sorted(value))', 'for key in sorted(value, key=str.lower))'],
  ),
  fault('shorter-keys-first', 'canonical-json prologue session', 'key order: shorter keys come first', [
    PROTOCOL,
    'for key in sorted(value))',
    'for key in sorted(value, key=lambda key: (len(key), key)))',
  ]),
  fault(
    'nulls-dropped',
    'canonical-json prologue session',
    ['fields: those that are null are left out', 'HELLO: the sealed HELLO lacks pubkey'],
    [PROTOCOL, 'for key in sorted(value))', 'for key in sorted(value) if value[key] is not None)'],
  ),
  fault('big-integers-rounded', 'canonical-json prologue session', 'numbers: long integers are rounded', [
    PROTOCOL,
    '"parse_int": Number,',
    '"parse_int": lambda token: Number(token if len(token) < 16 else str(int(float(token)))),',
  ]),
  fault('lower-case-exponent', 'canonical-json prologue session', 'numbers: the E of an exponent', [
    PROTOCOL,
    '"parse_float": Number,',
    '"parse_float": lambda token: Number(token.lower()),',
  ]),
  fault('byte-order-mark-accepted', 'canonical-json', 'JSON: a byte order mark is accepted', [
    PROTOCOL,
    'text = text.decode() if',
    'text = text.decode("utf-8-sig") if',
  ]),
  fault('prologue-hashed', 'handshake session', 'prologue: it is hashed before', [
    PROTOCOL,
    'noise.set_prologue(prologue)',
    'noise.set_prologue(hashlib.sha256(prologue).digest())',
  ]),
  fault(
    'prologue-with-short-name',
    'prologue session',
    'prologue: it ends with the protocol name without Noise_',
    [PROTOCOL, '+ name.encode()', '+ name[6:].encode()'],
  ),
  fault('pattern-before-suite', 'select', 'the error is "no-common-pattern" where it is "no-common-suite"', [
    PROTOCOL,
    '    suites = [suite for suite in own_suites if suite in offered_suites]\n',
    '    if not any(pattern in offered_patterns for pattern in PATTERNS):\n        raise Refused("no-common-pattern")\n    suites = [suite for suite in own_suites if suite in offered_suites]\n',
  ]),
  fault('one-pass', 'psk', 'psk: Argon2id has a time cost of 1;', [
    PROTOCOL,
    'passes=3, memory',
    'passes=1, memory',
  ]),
  fault('four-passes', 'psk', 'psk: Argon2id has a time cost of 4;', [
    PROTOCOL,
    'passes=3, memory',
    'passes=4, memory',
  ]),
  fault('memory-64', 'psk', 'psk: Argon2id has 64 KiB of memory: the library counts', [
    PROTOCOL,
    'memory=65536, lanes',
    'memory=64, lanes',
  ]),
  fault('memory-64000', 'psk', 'psk: Argon2id has 64000 KiB', [
    PROTOCOL,
    'memory=65536, lanes',
    'memory=64000, lanes',
  ]),
  fault('two-lanes', 'psk', 'psk: Argon2id has 2 lanes', [
    PROTOCOL,
    'lanes=1, length=KEY',
    'lanes=2, length=KEY',
  ]),
  fault('four-lanes', 'psk', 'psk: Argon2id has 4 lanes', [
    PROTOCOL,
    'lanes=1, length=KEY',
    'lanes=4, length=KEY',
  ]),
  fault('costs-of-go', 'psk', 'psk: Argon2id has a time cost of 1, 65536 KiB and 4 lanes', [
    PROTOCOL,
    'passes=3, memory=65536, lanes=1',
    'passes=1, memory=65536, lanes=4',
  ]),
  fault(
    'psk-of-64-bytes',
    'psk',
    ['psk: Argon2id is asked for 64 bytes', 'psk: it has 64 bytes'],
    [PROTOCOL, 'lanes=1, length=KEY)', 'lanes=1, length=64)'],
  ),
  fault('psk-hashed', 'psk', 'psk: it is hashed', [
    PROTOCOL,
    'return argon2id(encode(password), psk_salt(node_id), passes=3, memory=65536, lanes=1, length=KEY)',
    'return hashlib.sha256(argon2id(encode(password), psk_salt(node_id), passes=3, memory=65536, lanes=1, length=KEY)).digest()',
  ]),
  fault('arguments-of-argon2-swapped', 'psk', 'psk: password and salt are swapped', [
    PROTOCOL,
    'argon2id(encode(password), psk_salt(node_id)',
    'argon2id(psk_salt(node_id), encode(password)',
  ]),
  fault('salt-of-sha-512', 'psk', 'psk: the salt is 32 bytes of the SHA-512', [
    PROTOCOL,
    'return hashlib.sha256(encode(node_id)).digest()',
    'return hashlib.sha512(encode(node_id)).digest()[:32]',
  ]),
  fault('salt-in-base64', 'psk', 'psk: the salt is the SHA-256 in base64', [
    PROTOCOL,
    'return hashlib.sha256(encode(node_id)).digest()',
    'return binascii.b2a_base64(hashlib.sha256(encode(node_id)).digest(), newline=False)',
  ]),
  fault('salt-of-half', 'psk', 'psk: the salt is half', [
    PROTOCOL,
    'return hashlib.sha256(encode(node_id)).digest()',
    'return hashlib.sha256(encode(node_id)).digest()[:16]',
  ]),
  fault('node-id-trimmed', 'psk', 'psk: the node id is trimmed', [
    PROTOCOL,
    'return hashlib.sha256(encode(node_id)).digest()',
    'return hashlib.sha256(encode(node_id.strip())).digest()',
  ]),
  fault('password-in-utf-16', 'psk', 'psk: the password is encoded as UTF-16', [
    PROTOCOL,
    'return argon2id(encode(password), psk_salt',
    'return argon2id(password.encode("utf-16-le"), psk_salt',
  ]),
  fault('ephemeral-key-ignored', 'handshake session', 'ephemeral key: it is not the given one', [
    PROTOCOL,
    'if ephemeral_key is not None:',
    'if ephemeral_key == b"":',
  ]),
  fault('payloads-left-out', 'handshake', 'payload: it is left out', [
    PROTOCOL,
    'self.step(self.noise.write_message, payload,',
    'self.step(self.noise.write_message, b"",',
  ]),
  fault('handshake-hash-of-16-bytes', 'handshake', 'handshake hash: it has 16 bytes', [
    PROTOCOL,
    'return self.noise.get_handshake_hash()',
    'return self.noise.get_handshake_hash()[:16]',
  ]),
  fault('own-key-for-remote', 'handshake', 'remote static key: it is one’s own', [
    PROTOCOL,
    'return self.state.rs.public_bytes',
    'return self.state.s.public_bytes',
  ]),
  fault('split-halves-swapped', 'handshake session', 'split: each side sends with the other’s key', [
    PROTOCOL,
    'return Transport(protocol.cipher_state_encrypt, protocol.cipher_state_decrypt)',
    'return Transport(protocol.cipher_state_decrypt, protocol.cipher_state_encrypt)',
  ]),
  fault('split-one-half', 'handshake session', 'split: both sides send with the same key', [
    PROTOCOL,
    'return Transport(protocol.cipher_state_encrypt, protocol.cipher_state_decrypt)',
    'sending = protocol.cipher_state_encrypt if self.state.initiator else protocol.cipher_state_decrypt\n        return Transport(sending, sending)',
  ]),
  fault(
    'associated-data-of-a-byte',
    'handshake seal open',
    'associated data: transport messages have a byte of zero',
    [PROTOCOL, 'return operation(b"", data)', 'return operation(b"\\0", data)'],
  ),
  fault('counter-past-its-end', 'seal open', 'nonce: a message goes under a counter after 2^64 - 2', [
    PROTOCOL,
    '                check_length(message_length, TAG)\n',
    '                check_length(message_length, TAG)\n                import noise.state\n                noise.state.MAX_NONCE = 2**64\n',
  ]),
  fault('counter-of-four-bytes', 'seal open', 'nonce: the counter ends too early', [
    PROTOCOL,
    '                check_length(message_length, TAG)\n',
    '                check_length(message_length, TAG)\n                if operation.__self__.n >= 2**32:\n                    raise NoiseMaxNonceError()\n',
  ]),
  fault(
    'longer-messages-read',
    'handshake open',
    [
      'accepts what has to be refused, such as: message 1 of 65536 bytes',
      'limit: a plaintext of more than 65519 bytes is taken',
    ],
    [PROTOCOL, 'if message_length > MAX_NOISE_MESSAGE:', 'if message_length > 2 * MAX_NOISE_MESSAGE:'],
  ),
  fault('chunk-one-byte-less', 'split', 'chunk limit: a message of 65000 bytes begins with a chunk', [
    PROTOCOL,
    'if len(payload) <= MAX_CHUNK:',
    'if len(payload) < MAX_CHUNK:',
  ]),
  fault(
    'chunks-of-65518',
    'split',
    ['chunk limit: 65001 bytes are sent in one frame', 'chunk limit: chunks hold 65518 bytes'],
    [PROTOCOL, 'MAX_CHUNK = 65000', 'MAX_CHUNK = 65518'],
  ),
  fault(
    'cap-counts-markers',
    'reassemble',
    'cap: a message of exactly 32 MiB, 33554432 bytes, is delivered',
    [PROTOCOL, 'self.length += len(payload)', 'self.length += len(frame)'],
  ),
  fault('buffer-not-emptied', 'reassemble', 'reassembly: a message begins with', [
    PROTOCOL,
    'self.kind, self.buffer, self.length = KINDS[marker], bytearray(), 0',
    'self.kind, self.length = KINDS[marker], 0',
  ]),
  fault('kind-of-last-chunk', 'reassemble', 'kind: a message is delivered as one of the other kind', [
    PROTOCOL,
    'return completed(kind, bytes',
    'return completed("json" if marker == FINAL else kind, bytes',
  ]),
  fault('binary-decoded', 'reassemble session', 'binary: a message is decoded as text', [
    PROTOCOL,
    'return {"type": "message", "kind": kind, "bytes": payload}',
    'payload.decode()\n        return {"type": "message", "kind": kind, "bytes": payload}',
  ]),
  fault(
    'unknown-markers-accepted',
    'reassemble',
    'accepts what has to be refused, such as: marker 06 at the start',
    [PROTOCOL, 'raise Refused("unknown-marker")', 'return None'],
  ),
  // What is done in C, and tempting elsewhere
  fault(
    'integers-of-32-bits',
    'canonical-json prologue session',
    'numbers: integers are read as int of 32 bits',
    [
      PROTOCOL,
      'return value.token',
      'if not value.token.lstrip("-").isdigit():\n            return value.token\n        held = min(max(int(value.token), -(2**63)), 2**63 - 1)  # strtol\n        return str((held + 2**31) % 2**32 - 2**31)',
    ],
  ),
  fault('password-without-line-break', 'psk', 'psk: CR and LF at the end of the password are left out', [
    PROTOCOL,
    'argon2id(encode(password), psk_salt',
    'argon2id(encode(password.rstrip("\\r\\n")), psk_salt',
  ]),
  fault('message-as-c-string', 'reassemble', 'reassembly: a message ends before its first zero byte', [
    PROTOCOL,
    'return completed(kind, bytes(self.buffer), self.length, self.max_message)',
    'text = bytes(self.buffer).split(b"\\0")[0] if kind == "json" and self.length <= self.max_message else bytes(self.buffer)\n        return completed(kind, text, len(text) if kind == "json" and self.length <= self.max_message else self.length, self.max_message)',
  ]),
  fault('hex-with-blanks', 'session', 'msg: hex is read with int of Python', [
    PROTOCOL,
    'return binascii.unhexlify(text)',
    'return bytes(int(text[at : at + 2], 16) for at in range(0, len(text), 2)) if len(text) % 2 == 0 else binascii.unhexlify(text)',
  ]),
  fault('pin-of-eight-bytes', 'session', 'pin: only the first bytes of the key are compared', [
    SESSION,
    'if self.pin not in (None, hub_key) and not',
    'if self.pin is not None and self.pin[:8] != hub_key[:8] and not',
  ]),
  fault('scope-as-text', 'topics', 'topics: one is in scope if its text begins with the prefix', [
    TOPICS,
    'if not topic.startswith(scope) or not is_own',
    'if not topic.startswith(scope.rstrip("/") if is_current else scope) or not is_own',
  ]),
  fault('version-up-to-its-point', 'session', 'version: max_protocol_version is read up to the first', [
    ENVELOPES,
    'float(version.token) < 3',
    'int(version.token.lower().split("e")[0].split(".")[0][:9]) < 3',
  ]),
  fault('type-by-its-beginning', 'session', 'msg_type: it is compared by its beginning', [
    ENVELOPES,
    'kind = envelope["msg_type"]\n',
    'kind = next((name for name in ("hello", "shake", "handshake") if envelope["msg_type"].startswith(name)), envelope["msg_type"])\n',
  ]),
  ...PYTHON_SESSION_FAULTS,
  ...PORTER_PYTHON_FAULTS,
];

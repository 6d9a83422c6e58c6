/** Faults planted in examples/python: in its sources, and in noiseprotocol beneath it by faulty_adapter.py. */
import type { Fault, Patch } from './fault.ts';

/** Every cause in the report of each fault of faulty_adapter.py. */
const CAUSES: { readonly [fault: string]: RegExp } = {
  'utf16-key-order': /^cause: key order: keys are sorted by UTF-16 unit/,
  'integer-for-float': /^cause: numbers: /,
  'unicode-escape-for-b': /^cause: escapes: \\u0008/,
  'big-endian-chachapoly': /^cause: nonce order: ChaChaPoly/,
  'little-endian-aesgcm': /^cause: nonce order: ChaChaPoly.* AESGCM/,
  'hashed-aesgcm-name': /^cause: protocol name: it is hashed/,
  'psk-token-left-out': /^cause: psk: the psk token is left out/,
  'e-not-mixed-into-key': /^cause: e is not mixed into the key/,
  'prologue-parts-swapped': /^cause: prologue: its parts are HANDSHAKE, HELLO, protocol name/,
  'salt-from-client-id': /^cause: psk: the salt is the SHA-256 of the hub’s node id/,
  'chunk-limit-off-by-one': /^cause: chunk limit: (?:chunks hold 65001|65001 bytes are sent)/,
  'missing-final-chunk': /^cause: final chunk: the last chunk has the marker 4/,
  'cap-off-by-one': /^cause: cap: a message of exactly 32 MiB/,
  'interleaving-accepted': /^cause: interleaving: /,
  'pin-not-enforced': /^cause: pin: /,
  'continues-after-failed-open': /^cause: a failure is final/,
  'trimmed-password': /^cause: psk: the password is trimmed/,
  'other-time-cost': /^cause: psk: Argon2id has a time cost of 2/,
  'upper-case-hexadecimal': /^cause: hexadecimal: the adapter writes upper-case digits/,
  'no-associated-data': /^cause: associated data: there is none/,
  'counter-not-advanced': /^cause: nonce: the counter does not advance/,
  'split-swapped': /^cause: split: each side sends with the other’s key/,
  'two-outputs-for-psk': /^cause: psk: MixKeyAndHash takes two outputs of HKDF/,
  'pre-messages-swapped': /^cause: pre-messages: the responder’s static key is hashed first/,
  'dropped-message-closes': /^cause: interleaving: .* while another is being dropped/,
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
  says,
}));

function fault(name: string, only: string, says: RegExp, ...patches: Patch[]): Fault {
  return { name, patches, only: only.split(' '), says };
}

const PROTOCOL = 'hub_protocol.py';
const SESSION = 'hub_session.py';
const MQTT = 'mqtt_topics.py';

export const PYTHON_FAULTS: readonly Fault[] = [
  fault(
    'ascii-escapes',
    'canonical-json prologue session',
    /^cause: escapes: U\+007F and all characters beyond ASCII/,
    [PROTOCOL, 'return json.dumps(value, ensure_ascii=False)', 'return json.dumps(value)'],
  ),
  fault(
    'white-space',
    'canonical-json prologue session',
    /^cause: white space: there is some after/,
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
  fault(
    'keys-as-they-came',
    'canonical-json prologue session',
    /key order: keys are not sorted|Keys are sorted by code point/,
    [PROTOCOL, 'for key in sorted(value))', 'for key in value)'],
  ),
  fault('slash-escaped', 'canonical-json prologue session', /^cause: escapes: \/ is escaped/, [
    PROTOCOL,
    'return json.dumps(value, ensure_ascii=False)',
    'return json.dumps(value, ensure_ascii=False).replace("/", "\\\\/")',
  ]),
  fault('floats-only', 'canonical-json prologue session', /numbers: |A number is written back/, [
    PROTOCOL,
    '"parse_float": Number,',
    '"parse_float": lambda token: Number(repr(float(token))),',
  ]),
  fault('nan-accepted', 'canonical-json prologue', /Not JSON/, [
    PROTOCOL,
    'raise Refused("bad-json")  # NaN, Infinity, -Infinity',
    'return Number(name)',
  ]),
  fault('duplicates-accepted', 'canonical-json prologue session', /A key twice/, [
    PROTOCOL,
    'if len(dict(pairs)) != len(pairs):',
    'if len(dict(pairs)) > len(pairs):',
  ]),
  fault('depth-one-more', 'canonical-json', /64 arrays and objects/, [
    PROTOCOL,
    'if depth_left == 0:',
    'if depth_left < 0:',
  ]),
  fault('prologue-without-name', 'prologue session', /^cause: prologue: its parts are HELLO, HANDSHAKE;/, [
    PROTOCOL,
    'canonical_json(hello) + canonical_json(handshake) + name.encode()',
    'canonical_json(hello) + canonical_json(handshake)',
  ]),
  fault('raw-node-id-as-salt', 'psk', /^cause: psk: the salt is the node id itself/, [
    PROTOCOL,
    'return hashlib.sha256(encode(node_id)).digest()',
    'return encode(node_id)',
  ]),
  fault('hexadecimal-salt', 'psk', /^cause: psk: the salt is the SHA-256 in hexadecimal/, [
    PROTOCOL,
    'return hashlib.sha256(encode(node_id)).digest()',
    'return hashlib.sha256(encode(node_id)).hexdigest().encode()',
  ]),
  fault('latin-1-password', 'psk', /^cause: psk: the password is encoded as Latin-1/, [
    PROTOCOL,
    'return argon2id(encode(password), psk_salt',
    'return argon2id(password.encode("latin-1", "replace"), psk_salt',
  ]),
  fault('argon2i', 'psk', /^cause: psk: the algorithm is Argon2i;/, [
    PROTOCOL,
    'from cryptography.hazmat.primitives.kdf.argon2 import Argon2id',
    'from cryptography.hazmat.primitives.kdf.argon2 import Argon2i as Argon2id',
  ]),
  fault('argon2d', 'psk', /^cause: psk: the algorithm is Argon2d;/, [
    PROTOCOL,
    'from cryptography.hazmat.primitives.kdf.argon2 import Argon2id',
    'from cryptography.hazmat.primitives.kdf.argon2 import Argon2d as Argon2id',
  ]),
  fault('memory-in-mebibytes', 'psk', /^cause: psk: Argon2id has 32768 KiB/, [
    PROTOCOL,
    'passes=3, memory=65536',
    'passes=3, memory=32768',
  ]),
  fault('short-psk', 'psk', /^cause: psk: it has 16 bytes/, [
    PROTOCOL,
    'lanes=1, length=KEY)',
    'lanes=1, length=16)',
  ]),
  fault('hubs-preference', 'select session', /^cause: selection: the hub’s list decides/, [
    PROTOCOL,
    'suites = [suite for suite in own_suites if suite in offered_suites]',
    'suites = [suite for suite in offered_suites if suite in own_suites]',
  ]),
  fault('xx-although-pinned', 'select session', /^cause: selection: KKpsk0 is never taken/, [
    PROTOCOL,
    '["KKpsk0", "XXpsk2"] if pinned else ["XXpsk2"]',
    '["XXpsk2"]',
  ]),
  fault('markers-swapped', 'split session', /^cause: markers: JSON and binary/, [
    PROTOCOL,
    'single, first = (JSON, FIRST_JSON) if kind == "json" else (BINARY, FIRST_BINARY)',
    'single, first = (JSON, FIRST_JSON) if kind != "json" else (BINARY, FIRST_BINARY)',
  ]),
  fault('empty-final-chunk', 'split session', /final chunk: /, [
    PROTOCOL,
    'for start in range(0, len(payload), MAX_CHUNK)]',
    'for start in range(0, len(payload) + 1, MAX_CHUNK)]',
  ]),
  fault('replacement-characters', 'reassemble session', /not UTF-8/, [
    PROTOCOL,
    '"text": payload.decode()}',
    '"text": payload.decode(errors="replace")}',
  ]),
  fault('hex-with-white-space', 'session', /hexadecimal digits in pairs/, [
    PROTOCOL,
    'return binascii.unhexlify(text)  # either case; unlike bytes.fromhex, it rejects white space',
    'return bytes.fromhex(text)',
  ]),
  fault('case-of-types-folded', 'session', /msg_type is a text/, [
    'hub_envelopes.py',
    'kind = envelope["msg_type"]\n',
    'kind = envelope["msg_type"].lower()\n',
  ]),
  fault('repaired-payload', 'session', /The payload is an object/, [
    'hub_envelopes.py',
    'if not isinstance(envelope.get("payload"), dict):\n        raise Refused("bad-payload")',
    'if not isinstance(envelope.get("payload"), dict):\n        envelope["payload"] = {}',
  ]),
  fault('hub-key-compared-late', 'session', /compared once message 2 is authentic|pin: /, [
    SESSION,
    'self.enforce_pin(hub_key)  # before our own key leaves in message 3\n            if self.pin is None:\n                yield event("pin", nodeId=self.node_id, key=hub_key)\n            yield shake(msg=self.handshake.write().hex())',
    'if self.pin is None:\n                yield event("pin", nodeId=self.node_id, key=hub_key)\n            yield shake(msg=self.handshake.write().hex())\n            self.enforce_pin(hub_key)',
  ]),
  fault('psk-blamed-for-kk', 'session', /says nothing about the PSK|KKpsk0/, [
    SESSION,
    'yield from self.doubt_pin()\n                raise',
    'yield event("psk-suspect", nodeId=self.node_id)\n                raise',
  ]),
  fault('hub-takes-repeats', 'session', /changes nothing/, [
    SESSION,
    'elif what == "later message" and self.state == "awaiting-message-3":',
    'elif what in ("message 1", "later message") and self.state == "awaiting-message-3":',
  ]),
  fault('close-codes-ignored', 'session', /What a close means|close/i, [
    SESSION,
    'return "refusal" if code in REFUSALS else "loss"',
    'return "loss"',
  ]),
  fault('prefix-added-twice', 'topics', /hub id twice/, [
    MQTT,
    '"/".join(levels if hub_id in levels else [*levels, hub_id])',
    '"/".join([*levels, hub_id])',
  ]),
  fault('slashes-kept', 'topics', /trimmed/, [
    MQTT,
    'check_topic(levels.strip(WHITE_SPACE).strip("/"))',
    'check_topic(levels.strip(WHITE_SPACE))',
  ]),
  fault('credentials-in-urls', 'broker', /credentials/, [
    MQTT,
    '[A-Za-z]+)://({HOST})',
    '[A-Za-z]+)://(?:[^/@]*@)?({HOST})',
  ]),
  fault('client-id-in-bytes', 'client-id', /^cause: client id: /, [
    MQTT,
    're.sub("[^A-Za-z0-9_-]", "-", access_key)[:48]',
    're.sub(b"[^A-Za-z0-9_-]", b"-", access_key.encode())[:48].decode()',
  ]),
];

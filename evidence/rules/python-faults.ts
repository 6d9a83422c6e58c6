/** Faults planted in ports/python that a single vector, or two, show. */
import { type Fault, fault } from './fault.ts';

const PROTOCOL = 'hub_protocol.py';
const SESSION = 'hub_session.py';
const BINARY = 'binary_messages.py';
const MQTT = 'mqtt_topics.py';

export const PYTHON_FAULTS: readonly Fault[] = [
  fault('pattern-before-suite', 'select', [
    PROTOCOL,
    '    suites = [suite for suite in own_suites if suite in offered_suites]\n',
    '    if not any(pattern in offered_patterns for pattern in PATTERNS):\n        raise Refused("no-common-pattern")\n    suites = [suite for suite in own_suites if suite in offered_suites]\n',
  ]),
  fault('version-not-needed', 'session', [
    'hub_envelopes.py',
    'payload.get("max_protocol_version")\n',
    'payload.get("max_protocol_version", protocol.Number("3"))\n',
  ]),
  fault('hub-offers-kk-to-all', 'session', [
    SESSION,
    'if pattern != "KKpsk0" or client_key is not None]',
    'if True]',
  ]),
  fault('suites-by-case', 'select session', [
    PROTOCOL,
    'suites = [suite for suite in own_suites if suite in offered_suites]',
    'suites = [suite for suite in own_suites if suite.lower() in [name.lower() for name in offered_suites]]',
  ]),
  fault(
    'heard-with-a-whole-message',
    'session',
    [SESSION, '            self.heard = True\n', ''],
    [
      SESSION,
      '            if message is not None:\n',
      '            if message is not None:\n                self.heard = True\n',
    ],
  ),
  fault('plaintext-of-65535-sealed', 'seal', [
    PROTOCOL,
    'plaintext, len(plaintext) + TAG)',
    'plaintext, max(TAG, len(plaintext)))',
  ]),
  fault('message-of-65519-bytes', 'open', [
    PROTOCOL,
    'MAX_NOISE_MESSAGE = 65535',
    'MAX_NOISE_MESSAGE = 65519',
  ]),
  fault('binary-type-11-read', 'decode-binary', [
    BINARY,
    'type = TYPES.get(bits.take(5))',
    'type = {**TYPES, 11: "3rdparty"}.get(bits.take(5))',
  ]),
  fault('status-beside-any-in', 'topics', [
    MQTT,
    'elif levels[-1] == "in":\n        levels[-1] = "status"',
    'elif "in" in levels:\n        levels[levels.index("in")] = "status"',
  ]),
  fault('binary-bytes-inflated', 'decode-binary', [
    BINARY,
    'return type, metadata, payload, PAYLOAD_TYPES[payload_type]',
    'return type, metadata, inflate(payload, max_inflated) if is_compressed else payload, PAYLOAD_TYPES[payload_type]',
  ]),
  fault('binary-checksum-unread', 'decode-binary', [
    BINARY,
    'inflater = zlib.decompressobj()\n    try:\n        data = inflater.decompress(stream, most + 1)',
    'inflater = zlib.decompressobj(-15)\n    try:\n        if len(stream) < 2 or stream[0] & 15 != 8 or int.from_bytes(stream[:2]) % 31:\n            raise zlib.error\n        data = inflater.decompress(stream[2:], most + 1)',
  ]),
  fault('offer-without-noise', 'session', [
    SESSION,
    'noise = payload.get("noise", {})',
    'noise = payload.get("noise", {"patterns": ["XXpsk2"], "suites": ["25519_ChaChaPoly_SHA256"]})',
  ]),
  fault('json-point-first', 'canonical-json', [
    PROTOCOL,
    '        value = json.loads(text,',
    '        import re\n        text = re.sub(r"(?<![\\d\\w\\"\\\\])\\.(?=\\d)", "0.", text)\n        value = json.loads(text,',
  ]),
  fault('json-capital-u', 'canonical-json', [
    PROTOCOL,
    '        value = json.loads(text,',
    '        text = text.replace("\\\\U", "\\\\u")\n        value = json.loads(text,',
  ]),
  fault('half-taken-in-keys', 'canonical-json', [
    PROTOCOL,
    'for inner in [*value, *value.values()] if isinstance(value, dict) else value:',
    'for inner in value.values() if isinstance(value, dict) else value:',
  ]),
  fault('access-key-in-latin-1', 'authorization', [
    'authorization.py',
    'encode(f"{user_agent}:{access_key}")',
    'f"{user_agent}:{access_key}".encode("latin-1", "replace")',
  ]),
  fault('kk-offered-without-a-pin', 'session', [
    SESSION,
    'self.patterns = [pattern for pattern in patterns if pattern != "KKpsk0" or client_key is not None]',
    'self.patterns = list(patterns)',
  ]),
  fault('escape-with-sign', 'canonical-json', [
    PROTOCOL,
    '        value = json.loads(text,',
    '        import re\n        text = re.sub(r"\\\\u[+-]([0-9a-fA-F]{3})", r"\\\\u0\\1", text)\n        value = json.loads(text,',
  ]),
];

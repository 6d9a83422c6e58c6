/**
 * What a porter may do wrong, room by room: written from the rules of docs/reference/protocol.md by somebody who had not read which
 * mistakes the judge knows. Planted in ports/python.
 */
import { type Fault, fault, type Patch } from './fault.ts';

const PROTOCOL = 'hub_protocol.py';
const SESSION = 'hub_session.py';
const ENVELOPES = 'hub_envelopes.py';
const MQTT = 'mqtt_topics.py';
const AUTHORIZATION = 'authorization.py';
const BINARY = 'binary_messages.py';
const POLICY = 'connection_policy.py';

const JSON_ROOMS = 'canonical-json prologue session';
const WRITES_SCALARS = 'return json.dumps(value, ensure_ascii=False)';
const SEALS_HELLO =
  '        for message in self.seal("json", protocol.encode(write_envelope("hello", hello))):\n            yield event("transmit", bytes=message)\n';
const ENFORCES =
  '        self.enforce_pin(hub_key)  # before our own key leaves in message 3; under KKpsk0 it is the pin\n';
const ASKS_FOR_PSK = '        self.unproved_psk = psk\n';

/** Writes strings by another rule. */
const writes = (replaced: string): Patch => [PROTOCOL, WRITES_SCALARS, `${WRITES_SCALARS}${replaced}`];

export const PORTER_PYTHON_FAULTS: readonly Fault[] = [
  // JSON
  fault('json-html-escaped', JSON_ROOMS, /escapes?: .*(?:<|u003c)/i, [
    PROTOCOL,
    WRITES_SCALARS,
    'text = json.dumps(value, ensure_ascii=False)\n    return text.replace("<", "\\\\u003c").replace(">", "\\\\u003e").replace("&", "\\\\u0026")',
  ]),
  fault(
    'json-line-separators-escaped',
    JSON_ROOMS,
    /escapes?: .*2028/i,
    writes('.replace("\\u2028", "\\\\u2028").replace("\\u2029", "\\\\u2029")'),
  ),
  fault('json-normalized', JSON_ROOMS, /normali[sz]/i, [
    PROTOCOL,
    WRITES_SCALARS,
    'import unicodedata\n    return unicodedata.normalize("NFC", json.dumps(value, ensure_ascii=False))',
  ]),
  fault(
    'json-only-outer-keys-sorted',
    JSON_ROOMS,
    /key order: .*(?:nested|depth|inner|outer|top)/i,
    [PROTOCOL, 'def write_json(value):', 'def write_json(value, order=sorted):'],
    [
      PROTOCOL,
      '"[" + ",".join(write_json(item) for item in value) + "]"',
      '"[" + ",".join(write_json(item, list) for item in value) + "]"',
    ],
    [
      PROTOCOL,
      'write_json(key) + ":" + write_json(value[key]) for key in sorted(value)',
      'write_json(key) + ":" + write_json(value[key], list) for key in order(value)',
    ],
  ),
  fault('json-zero-without-sign', JSON_ROOMS, /minus before zero|minus zero/, [
    PROTOCOL,
    'return value.token',
    'return "0" if value.token == "-0" else value.token',
  ]),
  fault('json-exponent-without-plus', JSON_ROOMS, /numbers?: .*(?:\+|plus|exponent)|token/i, [
    PROTOCOL,
    'return value.token',
    'return value.token.replace("+", "")',
  ]),
  fault('json-numbers-as-doubles', JSON_ROOMS, /numbers?:|A number is written/, [
    PROTOCOL,
    'return value.token',
    'return json.dumps(float(value.token)) if set(value.token) & set(".eE") else value.token',
  ]),
  fault('json-surrogates-replaced', JSON_ROOMS, /surrogate/i, [
    PROTOCOL,
    '        return text.encode()\n    except UnicodeEncodeError',
    '        return text.encode("utf-8", "replace")\n    except UnicodeEncodeError',
  ]),
  fault('json-scalars-refused', 'canonical-json', /any type|scalar|value/i, [
    PROTOCOL,
    '    check_json(value, MAX_JSON_DEPTH)\n',
    '    if not isinstance(value, (dict, list)):\n        raise Refused("bad-json")\n    check_json(value, MAX_JSON_DEPTH)\n',
  ]),
  // Envelopes, HELLO and the offer
  fault('odd-hex-padded', 'session', /hexadecimal|hex/i, [
    PROTOCOL,
    'return binascii.unhexlify(text)',
    'return binascii.unhexlify("0" + text if len(text) % 2 else text)',
  ]),
  fault('envelopes-need-every-field', 'session', /Nothing else|other fields|envelope|msg_type/i, [
    ENVELOPES,
    'isinstance(envelope.get("msg_type"), str):',
    'isinstance(envelope.get("msg_type"), str) or "route" not in envelope:',
  ]),
  fault('handshake-is-no-shake', 'session', /handshake/, [
    ENVELOPES,
    'return "shake" if kind == "handshake" else kind, envelope["payload"]',
    'return kind, envelope["payload"]',
  ]),
  fault('message-2-must-not-repeat-names', 'session', /repeat|pattern/i, [
    SESSION,
    'elif what in ("message 1", "later message") and self.state == "awaiting-message-2":',
    'elif what == "later message" and self.state == "awaiting-message-2":',
  ]),
  fault('node-id-trimmed-by-sessions', 'session', /node.?id/i, [
    SESSION,
    '        self.hub_hello = payload\n',
    '        self.hub_hello, self.node_id = payload, self.node_id.strip()\n',
  ]),
  fault('version-read-as-integer', 'session', /max_protocol_version/, [
    ENVELOPES,
    'float(version.token) < 3',
    'int(version.token) < 3',
  ]),
  fault('version-in-quotes', 'session', /version/, [
    ENVELOPES,
    '    if not isinstance(version, protocol.Number)',
    '    version = protocol.Number(version) if version in ("3", "4") else version\n    if not isinstance(version, protocol.Number)',
  ]),
  fault('suite-not-required', 'session', /ChaChaPoly|offer/i, [
    SESSION,
    'if REQUIRED_PATTERN not in noise["patterns"] or REQUIRED_SUITE not in noise["suites"]:\n            raise Refused("bad-offer")  #',
    'if REQUIRED_PATTERN not in noise["patterns"]:\n            raise Refused("bad-offer")  #',
  ]),
  fault('second-offer-restarts', 'session', /repeat|changes nothing/i, [
    SESSION,
    'elif what == "offer" and self.state == "awaiting-offer":',
    'elif what == "offer" and self.state in ("awaiting-offer", "awaiting-message-2"):',
  ]),
  fault('repeats-refused', 'session', /repeat|changes nothing/i, [
    SESSION,
    '        elif self.state == "awaiting-offer" or what == "other":\n',
    '        else:\n',
  ]),
  fault('suites-by-case', 'select session', /suite|exact|name/i, [
    PROTOCOL,
    'suites = [suite for suite in own_suites if suite in offered_suites]',
    'suites = [suite for suite in own_suites if suite.lower() in [name.lower() for name in offered_suites]]',
  ]),
  // Prologue and PSK
  fault('prologue-ends-with-nul', 'prologue session', /prologue: /, [
    PROTOCOL,
    '+ canonical_json(handshake) + name.encode()',
    '+ canonical_json(handshake) + name.encode() + b"\\0"',
  ]),
  fault('prologue-with-lengths', 'prologue session', /prologue: /, [
    PROTOCOL,
    'return canonical_json(hello) + canonical_json(handshake) + name.encode()',
    'parts = [canonical_json(hello), canonical_json(handshake), name.encode()]\n    return b"".join(len(part).to_bytes(4) + part for part in parts)',
  ]),
  fault('prologue-with-noise-alone', 'prologue session', /prologue: /, [
    PROTOCOL,
    'canonical_json(hello) + canonical_json(handshake) + name',
    'canonical_json(hello) + canonical_json(handshake.get("noise", {}) if isinstance(handshake, dict) else handshake) + name',
  ]),
  fault('prologue-as-one-array', 'prologue session', /prologue: /, [
    PROTOCOL,
    'return canonical_json(hello) + canonical_json(handshake) + name.encode()',
    'return canonical_json([hello, handshake, name])',
  ]),
  fault('psk-node-id-in-lower-case', 'psk', /psk: .*(?:node id|case)/, [
    PROTOCOL,
    'return hashlib.sha256(encode(node_id)).digest()',
    'return hashlib.sha256(encode(node_id.lower())).digest()',
  ]),
  fault('psk-salt-hashed-twice', 'psk session', /psk: .*salt/, [
    PROTOCOL,
    'return hashlib.sha256(encode(node_id)).digest()',
    'return hashlib.sha256(hashlib.sha256(encode(node_id)).digest()).digest()',
  ]),
  fault('psk-associated-node-id', 'psk', /psk: .*(?:associated|node id)/, [
    PROTOCOL,
    'passes=3, memory=65536, lanes=1, length=KEY)',
    'passes=3, memory=65536, lanes=1, length=KEY, data=encode(node_id))',
  ]),
  fault('psk-in-hexadecimal', 'psk', /psk: .*hex/, [
    PROTOCOL,
    'return argon2id(encode(password), psk_salt(node_id), passes=3, memory=65536, lanes=1, length=KEY)',
    'return argon2id(encode(password), psk_salt(node_id), passes=3, memory=65536, lanes=1, length=KEY).hex().encode()[:KEY]',
  ]),
  fault('password-without-line-end', 'psk', /password/, [
    PROTOCOL,
    'return argon2id(encode(password), psk_salt',
    'return argon2id(encode(password.rstrip("\\n")), psk_salt',
  ]),
  // Transport messages, frames and messages
  fault(
    'one-counter-for-both-directions',
    'handshake session',
    /nonce|counter/i,
    [
      PROTOCOL,
      'return self.run(self.sending.encrypt_with_ad, plaintext, len(plaintext) + TAG)',
      'sealed = self.run(self.sending.encrypt_with_ad, plaintext, len(plaintext) + TAG)\n        if self.sending is not self.receiving:\n            self.receiving.n = self.sending.n\n        return sealed',
    ],
    [
      PROTOCOL,
      'return self.run(self.receiving.decrypt_with_ad, message, len(message))',
      'opened = self.run(self.receiving.decrypt_with_ad, message, len(message))\n        if self.sending is not self.receiving:\n            self.sending.n = self.receiving.n\n        return opened',
    ],
  ),
  fault('counters-from-one', 'handshake session', /nonce|counter/i, [
    PROTOCOL,
    '        protocol = self.noise.noise_protocol\n',
    '        protocol = self.noise.noise_protocol\n        protocol.cipher_state_encrypt.n = protocol.cipher_state_decrypt.n = 1\n',
  ]),
  fault('empty-message-has-no-frame', 'split session', /without bytes/, [
    PROTOCOL,
    '    if len(payload) <= MAX_CHUNK:\n',
    '    if not payload:\n        return []\n    if len(payload) <= MAX_CHUNK:\n',
  ]),
  fault('empty-chunks-refused', 'reassemble session', /frame: an empty chunk/, [
    PROTOCOL,
    '        if marker in KINDS:\n            if self.kind',
    '        if not payload and marker > BINARY:\n            raise Refused("empty-plaintext")\n        if marker in KINDS:\n            if self.kind',
  ]),
  fault('short-chunks-refused', 'reassemble session', /frame: a chunk of less/, [
    PROTOCOL,
    '        if marker in KINDS:\n            if self.kind',
    '        if 0 < len(payload) < MAX_CHUNK and FIRST_JSON <= marker <= MIDDLE:\n            raise Refused("bad-length")\n        if marker in KINDS:\n            if self.kind',
  ]),
  fault('frames-over-65001-refused', 'reassemble session', /frame: one of more/, [
    PROTOCOL,
    '        if marker in KINDS:\n            if self.kind',
    '        if len(payload) > MAX_CHUNK:\n            raise Refused("message-too-long")\n        if marker in KINDS:\n            if self.kind',
  ]),
  fault('utf8-by-chunk', 'reassemble session', /UTF-8/i, [
    PROTOCOL,
    '        self.length += len(payload)\n',
    '        if self.kind == "json":\n            payload = payload.decode("utf-8", "ignore").encode()\n        self.length += len(payload)\n',
  ]),
  fault('utf8-checked-by-chunk', 'reassemble session', /two chunks/, [
    PROTOCOL,
    '        self.length += len(payload)\n',
    '        if self.kind == "json":\n            try:\n                payload.decode()\n            except UnicodeDecodeError:\n                raise Refused("bad-utf8")\n        self.length += len(payload)\n',
  ]),
  fault('not-utf8-ends-the-session', 'reassemble session', /UTF-8/i, [
    PROTOCOL,
    'return {"type": "dropped", "kind": kind, "length": length, "reason": "not-utf8"}',
    'raise Refused("bad-utf8")',
  ]),
  fault('too-large-ends-the-session', 'reassemble session', /32 MiB|cap|dropped/i, [
    PROTOCOL,
    'return {"type": "dropped", "kind": kind, "length": length, "reason": "too-large"}',
    'raise Refused("message-too-long")',
  ]),
  fault('messages-read-and-written-again', 'session', /JSON messages|text that came|message/i, [
    SESSION,
    '    def take_message(self, message):\n        yield message\n',
    '    def take_message(self, message):\n        if "text" in message:\n            message["text"] = protocol.write_json(protocol.parse_json(message["text"]))\n        yield message\n',
  ]),
  // The handshake and the session
  fault('message-3-with-braces', 'session', /message 3/i, [
    SESSION,
    'yield shake(msg=self.handshake.write().hex())',
    'yield shake(msg=self.handshake.write(b"{}").hex())',
  ]),
  fault('message-3-as-an-object-of-its-own', 'session', /message 3|envelope|msg_type/i, [
    SESSION,
    'yield shake(msg=self.handshake.write().hex())',
    'yield event("transmit", text=write_envelope("shake", {"msg": self.handshake.write().hex()}))',
  ]),
  fault('message-1-with-white-space', 'session', /message 1: /, [
    SESSION,
    'protocol.canonical_json({"binarize": False, "encodings": []})',
    'b\'{"binarize": false, "encodings": []}\'',
  ]),
  fault('message-2-must-say-something', 'session', /message 2|empty/i, [
    ENVELOPES,
    'protocol.parse_json(data or b"{}")',
    'protocol.parse_json(data)',
  ]),
  fault('noise-told-apart', 'session', /PSK|JSON object|payload of message 2/i, [
    SESSION,
    'is_payload = refused.code in ("payload-not-authentic", "bad-handshake-payload")',
    'is_payload = refused.code == "payload-not-authentic"',
  ]),
  fault(
    'pin-overwritten',
    'session',
    /pin/i,
    [SESSION, ENFORCES, ''],
    [SESSION, 'if self.pin is None or self.is_suspect:', 'if self.pin != hub_key:'],
  ),
  fault('pin-suspect-if-another-key-comes', 'session', /pin/i, [
    SESSION,
    ENFORCES,
    `        if self.pin not in (None, hub_key):\n            yield event("pin-suspect", nodeId=self.node_id)\n${ENFORCES}`,
  ]),
  fault('never-pins', 'session', /pin/i, [SESSION, 'if self.pin is None or self.is_suspect:', 'if False:']),
  fault('pin-suspect-after-silence', 'session', /timeout|close|pin/i, [
    SESSION,
    'if error == "kk-refused" else []',
    'if self.pattern == "KKpsk0" and not self.established and not self.failure else []',
  ]),
  fault(
    'psk-stored-before-it-is-proved',
    'session',
    /psk/i,
    [SESSION, ASKS_FOR_PSK, '        self.pending = [event("psk", nodeId=self.node_id, key=psk)]\n'],
    [
      SESSION,
      'return self.collect(self.send_message_1(psk))',
      'return self.pending + self.collect(self.send_message_1(psk))',
    ],
  ),
  fault('psk-never-stored', 'session', /psk/i, [SESSION, ASKS_FOR_PSK, '']),
  fault('psk-never-doubted', 'session', /psk/i, [
    SESSION,
    '                yield event("psk-suspect", nodeId=self.node_id)\n',
    '',
  ]),
  fault('psk-always-asked-for', 'session', /psk/i, [
    SESSION,
    'psk = self.psks.get(self.node_id)',
    'psk = None',
  ]),
  fault('late-psk-refused', 'session', /psk/i, [
    SESSION,
    'return []  # too late, or twice',
    'raise Refused("wrong-state")',
  ]),
  fault('session-id-from-the-end', 'session', /session/i, [
    SESSION,
    'handshake_hash[:16].hex()',
    'handshake_hash[16:].hex()',
  ]),
  fault('hello-with-other-names', 'session', /HELLO: /, [
    SESSION,
    '{"pubkey": None, "site_id": site_id, **hello}',
    '{"pubkey": None, "siteId": site_id, **hello}',
  ]),
  fault('hello-with-an-empty-pubkey', 'session', /HELLO: |pubkey/, [
    SESSION,
    '{"pubkey": None, "site_id": site_id, **hello}',
    '{"pubkey": "", "site_id": site_id, **hello}',
  ]),
  fault('no-sealed-hello', 'session', /HELLO/, [SESSION, SEALS_HELLO, '']),
  fault('hello-in-clear', 'session', /HELLO/, [
    SESSION,
    SEALS_HELLO,
    '        yield event("transmit", text=write_envelope("hello", hello))\n',
  ]),
  fault('hello-as-bytes', 'session', /HELLO|kind|marker|binary/i, [
    SESSION,
    'self.seal("json", protocol.encode(write_envelope("hello", hello)))',
    'self.seal("binary", protocol.encode(write_envelope("hello", hello)))',
  ]),
  fault('always-1008', 'session', /close code: it is 1008/, [
    SESSION,
    'code=1002 if self.established else 1008',
    'code=1008',
  ]),
  fault('fails-again-after-a-failure', 'session', /final|fail/i, [
    SESSION,
    'if self.state in ("failed", "closed"):\n            return []\n        return self.collect(self.take(data))',
    'if self.state == "closed":\n            return []\n        return self.collect(self.take(data))',
  ]),
  fault('every-close-is-a-refusal', 'session', /What a close means/, [
    SESSION,
    'return "refusal" if code == REFUSAL else "loss"',
    'return "refusal"',
  ]),
  fault('a-heard-hub-can-refuse', 'session', /close/i, [
    SESSION,
    'if close == "loss" or self.heard:',
    'if close == "loss":',
  ]),
  fault('refused-client-key-is-any-refusal', 'session', /close/i, [
    SESSION,
    'return "client-key-refused", "later", "client-key-refused"',
    'return "refused", "later", "client-key-refused"',
  ]),
  // A hub
  fault('hub-pins-the-latest', 'session', /pin/i, [
    SESSION,
    '        if self.client_key is None:\n            yield event("pin", key=key)\n        elif self.client_key != key:\n            raise Refused("client-key-changed")\n',
    '        if self.client_key != key:\n            yield event("pin", key=key)\n',
  ]),
  fault('hub-needs-hello', 'session', /HELLO/i, [
    SESSION,
    '            yield hello\n            if hello.get("error") != "no-hello":\n                return\n',
    '            if hello.get("error") == "no-hello":\n                raise Refused("no-hello")\n            yield hello\n            return\n',
  ]),
  fault('hub-takes-every-hello', 'session', /HELLO/i, [
    SESSION,
    '            self.expects_hello = False\n',
    '',
  ]),
  fault('hub-needs-every-field-of-message-1', 'session', /message 1|default/i, [
    SESSION,
    'if binarize not in (None, True, False) or not (encodings is None or is_text_list(encodings)):',
    'if binarize not in (True, False) or not is_text_list(encodings):',
  ]),
  fault('hub-needs-the-version-of-a-client', 'session', /max_protocol_version|version/, [
    SESSION,
    'if "max_protocol_version" in payload:\n            check_version(payload)',
    'check_version(payload)',
  ]),
  // MQTT and addresses
  fault('status-without-key', 'topics', /topics?/i, [
    MQTT,
    'derived = {name: f"{scope}{level}/{last}" for name, level in names.items()} if last else {}',
    'derived = {name: f"{scope}{level}/{last}" for name, level in names.items()} if last else {}\n        derived = {**derived, "status": f"{scope}status"} if last else {}',
  ]),
  fault('wss-on-8084', 'broker', /port/i, [MQTT, '"wss": 443', '"wss": 8084']),
  fault('client-id-with-underscores', 'client-id', /client id/, [
    MQTT,
    're.sub("[^A-Za-z0-9_-]", "-", access_key)',
    're.sub("[^A-Za-z0-9_-]", "_", access_key)',
  ]),
  fault('presence-with-qos-0', 'presence', /presence: /, [MQTT, '"qos": 1, "retain"', '"qos": 0, "retain"']),
  fault('user-agent-with-colons', 'authorization', /user agent|colon/i, [
    AUTHORIZATION,
    ' or ":" in user_agent:',
    ':',
  ]),
  fault('access-key-in-latin-1', 'authorization', /beyond ASCII/, [
    AUTHORIZATION,
    'encode(f"{user_agent}:{access_key}")',
    'f"{user_agent}:{access_key}".encode("latin-1", "replace")',
  ]),
  fault('query-replaced', 'authorization', /rest of the URL|authorization: /i, [
    AUTHORIZATION,
    'if field and name_of(field) != "authorization"]',
    'if field == ""]',
  ]),
  // Binary messages
  fault('binary-zeros-at-the-end', 'encode-binary', /zeros|byte|start|padding/i, [
    BINARY,
    'return head.to_bytes((length + 7) // 8)',
    'return (head << -length % 8).to_bytes((length + 7) // 8)',
  ]),
  fault('binary-raw-deflate', 'decode-binary', /zlib|compress/i, [
    BINARY,
    'zlib.decompressobj()',
    'zlib.decompressobj(-15)',
  ]),
  fault('binary-needs-metadata', 'decode-binary', /metadata/i, [
    BINARY,
    'metadata = object_in(metadata, "bad-metadata") if metadata else {}',
    'metadata = object_in(metadata, "bad-metadata")',
  ]),
  fault('binary-version-2-read', 'decode-binary', /version/i, [
    BINARY,
    'bits.take(8) > 1:',
    'bits.take(8) > 2:',
  ]),
  // When to dial
  fault('pauses-do-not-grow', 'policy', /back.?off|pause/i, [
    POLICY,
    'self.limit = 2 * limit',
    'self.limit = limit',
  ]),
  fault('pauses-are-not-random', 'policy', /jitter|random|pause/i, [
    POLICY,
    'decision = self.dial(limit * draw >> 24, now)',
    'decision = self.dial(limit, now)',
  ]),
];

/**
 * What a porter may do wrong, room by room: written from the rules of docs/reference/protocol.md by somebody who had not read which
 * mistakes the judge knows. Planted in ports/python.
 */
import { type Fault, fault, type Patch } from './fault.ts';

const PROTOCOL = 'hub_protocol.py';
const SESSION = 'hub_session.py';
const ENVELOPES = 'hub_envelopes.py';
const MQTT = 'mqtt_topics.py';
const LINK = 'client_link.py';
const AUTHORIZATION = 'authorization.py';
const BINARY = 'binary_messages.py';
const POLICY = 'connection_policy.py';
const QUESTIONS = 'question_scheduler.py';

const JSON_ROOMS = 'canonical-json prologue session';
const WRITES_SCALARS = 'return json.dumps(value, ensure_ascii=False)';
const SEALS_HELLO =
  '        for message in self.seal("json", protocol.encode(write_envelope("hello", hello))):\n            yield event("transmit", bytes=message)\n';
const ENFORCES =
  '        self.enforce_pin(hub_key)  # before our own key leaves in message 3; under KKpsk0 it is the pin\n';
const KK_DOUBTS = '                yield from self.doubt_pin()\n';
const ASKS_FOR_PSK = '        self.unproved_psk = psk\n';

/** Writes strings by another rule. */
const writes = (replaced: string): Patch => [PROTOCOL, WRITES_SCALARS, `${WRITES_SCALARS}${replaced}`];

export const PORTER_PYTHON_FAULTS: readonly Fault[] = [
  // JSON
  fault('json-html-escaped', JSON_ROOMS, 'escapes: <, > and & are escaped', [
    PROTOCOL,
    WRITES_SCALARS,
    'text = json.dumps(value, ensure_ascii=False)\n    return text.replace("<", "\\\\u003c").replace(">", "\\\\u003e").replace("&", "\\\\u0026")',
  ]),
  fault(
    'json-line-separators-escaped',
    JSON_ROOMS,
    'escapes: U+2028 and U+2029 are escaped',
    writes('.replace("\\u2028", "\\\\u2028").replace("\\u2029", "\\\\u2029")'),
  ),
  fault('json-normalized', JSON_ROOMS, 'strings: they are normalized to NFC', [
    PROTOCOL,
    WRITES_SCALARS,
    'import unicodedata\n    return unicodedata.normalize("NFC", json.dumps(value, ensure_ascii=False))',
  ]),
  fault(
    'json-only-outer-keys-sorted',
    JSON_ROOMS,
    'key order: only the outermost object is sorted',
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
  fault('json-zero-without-sign', JSON_ROOMS, 'numbers: the integer -0 is written as 0', [
    PROTOCOL,
    'return value.token',
    'return "0" if value.token == "-0" else value.token',
  ]),
  fault('json-exponent-without-plus', JSON_ROOMS, 'numbers: the + of an exponent is left out', [
    PROTOCOL,
    'return value.token',
    'return value.token.replace("+", "")',
  ]),
  fault(
    'json-numbers-as-doubles',
    JSON_ROOMS,
    [
      'numbers: floats are parsed and written again as Python writes them',
      'numbers: they are parsed and written again as Python writes them',
    ],
    [
      PROTOCOL,
      'return value.token',
      'return json.dumps(float(value.token)) if set(value.token) & set(".eE") else value.token',
    ],
  ),
  fault('json-surrogates-replaced', JSON_ROOMS, 'JSON: half of a surrogate pair is accepted', [
    PROTOCOL,
    '        return text.encode()\n    except UnicodeEncodeError',
    '        return text.encode("utf-8", "replace")\n    except UnicodeEncodeError',
  ]),
  fault('json-scalars-refused', 'canonical-json', 'top level: only objects and arrays are accepted', [
    PROTOCOL,
    '    check_json(value, MAX_JSON_DEPTH)\n',
    '    if not isinstance(value, (dict, list)):\n        raise Refused("bad-json")\n    check_json(value, MAX_JSON_DEPTH)\n',
  ]),
  // Envelopes, HELLO and the offer
  fault('odd-hex-padded', 'session', 'msg: an odd number of digits is read', [
    PROTOCOL,
    'return binascii.unhexlify(text)',
    'return binascii.unhexlify("0" + text if len(text) % 2 else text)',
  ]),
  fault(
    'envelopes-need-metadata',
    'session',
    [
      'envelopes: one without `metadata` is refused',
      'envelopes: one whose `metadata` has another type is refused',
    ],
    [
      ENVELOPES,
      'isinstance(envelope.get("msg_type"), str):',
      'isinstance(envelope.get("msg_type"), str) or not isinstance(envelope.get("metadata"), dict):',
    ],
  ),
  fault(
    'metadata-of-another-type',
    'session',
    'envelopes: one whose `metadata` has another type is refused',
    [
      ENVELOPES,
      'isinstance(envelope.get("msg_type"), str):',
      'isinstance(envelope.get("msg_type"), str) or not isinstance(envelope.get("metadata", {}), dict):',
    ],
  ),
  fault('envelopes-need-every-field', 'session', 'envelopes: one without `route` is refused', [
    ENVELOPES,
    'isinstance(envelope.get("msg_type"), str):',
    'isinstance(envelope.get("msg_type"), str) or "route" not in envelope:',
  ]),
  fault(
    'handshake-is-no-shake',
    'session',
    [
      'msg_type: `handshake` is not accepted in place of `shake`',
      'repeats: a part of the handshake that is repeated is not ignored',
    ],
    [
      ENVELOPES,
      'return "shake" if kind == "handshake" else kind, envelope["payload"]',
      'return kind, envelope["payload"]',
    ],
  ),
  fault(
    'message-2-must-not-repeat-names',
    'session',
    'on message 2 a client gives nothing where pin, envelope, sealed message, ready are due',
    [
      SESSION,
      'elif what in ("message 1", "later message") and self.state == "awaiting-message-2":',
      'elif what == "later message" and self.state == "awaiting-message-2":',
    ],
  ),
  fault('node-id-trimmed-by-sessions', 'session', 'node id: it is taken without the white space around it', [
    SESSION,
    '        self.hub_hello = payload\n',
    '        self.hub_hello, self.node_id = payload, self.node_id.strip()\n',
  ]),
  fault('version-read-as-integer', 'session', 'refuses what has to be accepted', [
    ENVELOPES,
    'float(version.token) < 3',
    'int(version.token) < 3',
  ]),
  fault('version-in-quotes', 'session', 'version: max_protocol_version is read from a string, too', [
    ENVELOPES,
    '    if not isinstance(version, protocol.Number)',
    '    version = protocol.Number(version) if version in ("3", "4") else version\n    if not isinstance(version, protocol.Number)',
  ]),
  fault('suite-not-required', 'session', 'offer: one without 25519_ChaChaPoly_SHA256 is taken', [
    SESSION,
    'if REQUIRED_PATTERN not in noise["patterns"] or REQUIRED_SUITE not in noise["suites"]:\n            raise Refused("bad-offer")  #',
    'if REQUIRED_PATTERN not in noise["patterns"]:\n            raise Refused("bad-offer")  #',
  ]),
  fault('second-offer-restarts', 'session', 'repeats: a later HANDSHAKE is answered with another message 1', [
    SESSION,
    'elif what == "offer" and self.state == "awaiting-offer":',
    'elif what == "offer" and self.state in ("awaiting-offer", "awaiting-message-2"):',
  ]),
  fault('repeats-refused', 'session', 'repeats: a part of the handshake that is repeated is not ignored', [
    SESSION,
    '        elif self.state == "awaiting-offer" or what == "other":\n',
    '        else:\n',
  ]),
  fault(
    'suites-by-case',
    'select session',
    'accepts what has to be refused, such as: suites that are nearly ours',
    [
      PROTOCOL,
      'suites = [suite for suite in own_suites if suite in offered_suites]',
      'suites = [suite for suite in own_suites if suite.lower() in [name.lower() for name in offered_suites]]',
    ],
  ),
  // Prologue and PSK
  fault('prologue-ends-with-nul', 'prologue session', 'prologue: a NUL follows the protocol name', [
    PROTOCOL,
    '+ canonical_json(handshake) + name.encode()',
    '+ canonical_json(handshake) + name.encode() + b"\\0"',
  ]),
  fault(
    'prologue-with-lengths',
    'prologue session',
    'prologue: the length of each part stands before it, in 4 bytes',
    [
      PROTOCOL,
      'return canonical_json(hello) + canonical_json(handshake) + name.encode()',
      'parts = [canonical_json(hello), canonical_json(handshake), name.encode()]\n    return b"".join(len(part).to_bytes(4) + part for part in parts)',
    ],
  ),
  fault(
    'prologue-with-noise-alone',
    'prologue session',
    'prologue: it binds `noise` alone of the HANDSHAKE',
    [
      PROTOCOL,
      'canonical_json(hello) + canonical_json(handshake) + name',
      'canonical_json(hello) + canonical_json(handshake.get("noise", {}) if isinstance(handshake, dict) else handshake) + name',
    ],
  ),
  fault('prologue-as-one-array', 'prologue session', 'prologue: it is one JSON array of its parts', [
    PROTOCOL,
    'return canonical_json(hello) + canonical_json(handshake) + name.encode()',
    'return canonical_json([hello, handshake, name])',
  ]),
  fault('psk-node-id-in-lower-case', 'psk', 'psk: the node id is hashed in lower case', [
    PROTOCOL,
    'return hashlib.sha256(encode(node_id)).digest()',
    'return hashlib.sha256(encode(node_id.lower())).digest()',
  ]),
  fault(
    'psk-salt-hashed-twice',
    'psk session',
    [
      'psk: the salt is hashed twice',
      'psk: the salt is the SHA-256 of the hub’s node id as it came, in UTF-8, and nothing else',
    ],
    [
      PROTOCOL,
      'return hashlib.sha256(encode(node_id)).digest()',
      'return hashlib.sha256(hashlib.sha256(encode(node_id)).digest()).digest()',
    ],
  ),
  fault('psk-associated-node-id', 'psk', 'psk: Argon2id has the node id as its associated data', [
    PROTOCOL,
    'passes=3, memory=65536, lanes=1, length=KEY)',
    'passes=3, memory=65536, lanes=1, length=KEY, data=encode(node_id))',
  ]),
  fault('psk-in-hexadecimal', 'psk', 'psk: it is 32 digits of its own hexadecimal form', [
    PROTOCOL,
    'return argon2id(encode(password), psk_salt(node_id), passes=3, memory=65536, lanes=1, length=KEY)',
    'return argon2id(encode(password), psk_salt(node_id), passes=3, memory=65536, lanes=1, length=KEY).hex().encode()[:KEY]',
  ]),
  fault('password-without-line-end', 'psk', 'psk: the line feed at the end of the password is left out', [
    PROTOCOL,
    'return argon2id(encode(password), psk_salt',
    'return argon2id(encode(password.rstrip("\\n")), psk_salt',
  ]),
  // Transport messages, frames and messages
  fault(
    'one-counter-for-both-directions',
    'handshake session',
    'nonce: one counter serves both directions',
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
  fault('counters-from-one', 'handshake session', 'nonce: the counter starts at 1', [
    PROTOCOL,
    '        protocol = self.noise.noise_protocol\n',
    '        protocol = self.noise.noise_protocol\n        protocol.cipher_state_encrypt.n = protocol.cipher_state_decrypt.n = 1\n',
  ]),
  fault('empty-message-has-no-frame', 'split session', 'frames has fewer items than are due', [
    PROTOCOL,
    '    if len(payload) <= MAX_CHUNK:\n',
    '    if not payload:\n        return []\n    if len(payload) <= MAX_CHUNK:\n',
  ]),
  fault('empty-chunks-refused', 'reassemble session', 'frame: an empty chunk', [
    PROTOCOL,
    '        if marker in KINDS:\n            if self.kind',
    '        if not payload and marker > BINARY:\n            raise Refused("empty-plaintext")\n        if marker in KINDS:\n            if self.kind',
  ]),
  fault('short-chunks-refused', 'reassemble session', 'frame: a chunk of less', [
    PROTOCOL,
    '        if marker in KINDS:\n            if self.kind',
    '        if 0 < len(payload) < MAX_CHUNK and FIRST_JSON <= marker <= MIDDLE:\n            raise Refused("bad-length")\n        if marker in KINDS:\n            if self.kind',
  ]),
  fault('frames-over-65001-refused', 'reassemble session', 'frame: one of more', [
    PROTOCOL,
    '        if marker in KINDS:\n            if self.kind',
    '        if len(payload) > MAX_CHUNK:\n            raise Refused("message-too-long")\n        if marker in KINDS:\n            if self.kind',
  ]),
  fault('utf8-by-chunk', 'reassemble session', 'UTF-8: a JSON message that is not UTF-8 is delivered', [
    PROTOCOL,
    '        self.length += len(payload)\n',
    '        if self.kind == "json":\n            payload = payload.decode("utf-8", "ignore").encode()\n        self.length += len(payload)\n',
  ]),
  fault('utf8-checked-by-chunk', 'reassemble session', 'chunks: each is decoded as UTF-8 by itself', [
    PROTOCOL,
    '        self.length += len(payload)\n',
    '        if self.kind == "json":\n            try:\n                payload.decode()\n            except UnicodeDecodeError:\n                raise Refused("bad-utf8")\n        self.length += len(payload)\n',
  ]),
  fault(
    'not-utf8-ends-the-session',
    'reassemble session',
    'UTF-8: a JSON message that is not UTF-8 ends the session, or is lost',
    [
      PROTOCOL,
      'return {"type": "dropped", "kind": kind, "length": length, "reason": "not-utf8"}',
      'raise Refused("bad-utf8")',
    ],
  ),
  fault(
    'too-large-ends-the-session',
    'reassemble session',
    'cap: a message of more than 32 MiB is dropped with all its chunks, and the session goes on',
    [
      PROTOCOL,
      'return {"type": "dropped", "kind": kind, "length": length, "reason": "too-large"}',
      'raise Refused("message-too-long")',
    ],
  ),
  fault(
    'messages-read-and-written-again',
    'session',
    'messages: JSON is parsed and written again before it is delivered',
    [
      SESSION,
      '    def take_message(self, message):\n        yield message\n',
      '    def take_message(self, message):\n        if "text" in message:\n            message["text"] = protocol.write_json(protocol.parse_json(message["text"]))\n        yield message\n',
    ],
  ),
  // The handshake and the session
  fault('message-3-with-braces', 'session', 'message 3: its payload has 2 bytes', [
    SESSION,
    'yield shake(msg=self.handshake.write().hex())',
    'yield shake(msg=self.handshake.write(b"{}").hex())',
  ]),
  fault(
    'message-3-as-an-object-of-its-own',
    'session',
    'envelope: it has no `noise` in its payload, where a Noise message travels',
    [
      SESSION,
      'yield shake(msg=self.handshake.write().hex())',
      'yield event("transmit", text=write_envelope("shake", {"msg": self.handshake.write().hex()}))',
    ],
  ),
  fault(
    'message-1-with-white-space',
    'session',
    'message 1: its payload is {"binarize": false, "encodings": []}',
    [
      SESSION,
      'protocol.canonical_json({"binarize": False, "encodings": []})',
      'b\'{"binarize": false, "encodings": []}\'',
    ],
  ),
  fault(
    'message-2-must-say-something',
    'session',
    'message 2: an empty payload is refused; it counts as {}',
    [ENVELOPES, 'protocol.parse_json(data or b"{}")', 'protocol.parse_json(data)'],
  ),
  fault(
    'noise-told-apart',
    'session',
    'message 2: a payload that opens but is no JSON object has an error of its own',
    [
      SESSION,
      'is_payload = refused.code in ("payload-not-authentic", "bad-handshake-payload")',
      'is_payload = refused.code == "payload-not-authentic"',
    ],
  ),
  fault(
    'pin-overwritten',
    'session',
    [
      'pin: it does not come where XXpsk2 has shown that a suspect',
      'pin: a hub whose key is not the pinned one is accepted',
    ],
    [SESSION, ENFORCES, ''],
    [SESSION, 'if self.pin is None or self.is_suspect:', 'if self.pin != hub_key:'],
  ),
  fault('pin-suspect-if-another-key-comes', 'session', 'pin-suspect: the event comes where it is not due', [
    SESSION,
    ENFORCES,
    `        if self.pin not in (None, hub_key):\n            yield event("pin-suspect", nodeId=self.node_id)\n${ENFORCES}`,
  ]),
  fault(
    'suspect-pin-never-confirmed',
    'session',
    'pin: it does not come where XXpsk2 has shown that a suspect',
    [
      SESSION,
      'if self.pin is None or self.is_suspect:',
      'if self.pin is None or (self.is_suspect and self.pin != hub_key):',
    ],
  ),
  fault('failed-kk-doubts-the-psk', 'session', 'psk-suspect: it comes after a KKpsk0 that failed', [
    SESSION,
    KK_DOUBTS,
    `${KK_DOUBTS}                yield event("psk-suspect", nodeId=self.node_id)\n`,
  ]),
  fault(
    'bad-hex-is-no-failure-of-kk',
    'session',
    'pin-suspect: it does not come where KKpsk0 ends with bad-hex',
    [SESSION, KK_DOUBTS, `                if refused.code != "bad-hex":\n    ${KK_DOUBTS}`],
  ),
  fault('psk-of-any-hub', 'session', 'psk: the stored PSK of another hub is used', [
    SESSION,
    'psk = self.psks.get(self.node_id)',
    'psk = self.psks.get(self.node_id) or next(iter(self.psks.values()), None)',
  ]),
  fault('first-node-id-kept', 'session', 'HELLO: of several the node id of the first one is kept', [
    SESSION,
    'self.node_id = payload["node_id"]',
    'self.node_id = getattr(self, "node_id", payload["node_id"])',
  ]),
  fault('suspect-pin-asks-for-the-psk', 'session', 'psk: it is requested anew where the pin is suspect', [
    SESSION,
    'psk = self.psks.get(self.node_id)',
    'psk = None if self.is_suspect else self.psks.get(self.node_id)',
  ]),
  fault('text-that-is-no-envelope-ignored', 'session', 'after ready: text that is no envelope is ignored', [
    SESSION,
    '                raise Refused("text-after-ready")\n            return False',
    '                return True\n            return False',
  ]),
  fault('ready-counts-as-heard', 'session', 'endings: a session that is ready counts as one in which', [
    SESSION,
    '        self.established = True',
    '        self.established = self.heard = True',
  ]),
  fault('prologue-without-nulls', JSON_ROOMS, 'prologue: fields of the outermost object that are null', [
    PROTOCOL,
    'return canonical_json(hello) + canonical_json(handshake) + name.encode()',
    'payloads = [{key: each[key] for key in each if each[key] is not None} for each in (hello, handshake)]\n    return b"".join(map(canonical_json, payloads)) + name.encode()',
  ]),
  fault('prologue-without-any-nulls', JSON_ROOMS, 'prologue: fields that are null are left out', [
    PROTOCOL,
    'return canonical_json(hello) + canonical_json(handshake) + name.encode()',
    `def kept(value):
        if isinstance(value, list):
            return [kept(each) for each in value]
        return {key: kept(value[key]) for key in value if value[key] is not None} if isinstance(value, dict) else value

    return canonical_json(kept(hello)) + canonical_json(kept(handshake)) + name.encode()`,
  ]),
  fault('prologue-without-inner-nulls', JSON_ROOMS, 'prologue: fields inside other fields that are null', [
    PROTOCOL,
    'return canonical_json(hello) + canonical_json(handshake) + name.encode()',
    `def kept(value, depth=0):
        if isinstance(value, list):
            return [kept(each, depth + 1) for each in value]
        if not isinstance(value, dict):
            return value
        return {key: kept(value[key], depth + 1) for key in value if depth == 0 or value[key] is not None}

    return canonical_json(kept(hello)) + canonical_json(kept(handshake)) + name.encode()`,
  ]),
  fault('ssl-unknown', 'broker', 'broker: the scheme ssl: is not known', [MQTT, '"ssl": 8883, ', '']),
  fault(
    'provisioned-psk-doubted',
    'link',
    'psk: a provisioned PSK that did not open message 2 is derived anew',
    [LINK, 'if hub in self.psks and hub not in self.provisioned:', 'if hub in self.psks:'],
  ),
  fault('second-start-taken', 'session', 'start: a client takes a second one', [
    SESSION,
    'if self.announced or self.state != "awaiting-hello":',
    'if self.state != "awaiting-hello":',
  ]),
  fault('psk-of-any-length', 'session', 'psk: one that does not have 32 bytes is taken', [
    SESSION,
    '        protocol.check_key(psk)\n',
    '',
  ]),
  fault('json-sent-anew', 'session', 'messages: JSON is written anew before it is sealed', [
    SESSION,
    '    return protocol.encode(text)\n',
    '    return protocol.canonical_json(protocol.parse_json(text))\n',
  ]),
  fault(
    'first-error-forgotten',
    'session',
    'endings: after a failure the end tells how the transport closed',
    [
      SESSION,
      '        if self.failure in ("hub-key-changed", "unknown-hub"):',
      '        self.failure = None\n        if self.failure in ("hub-key-changed", "unknown-hub"):',
    ],
  ),
  fault(
    'heard-with-a-whole-message',
    'session',
    'endings: the hub counts as heard only once a whole message has arrived',
    [SESSION, '            self.heard = True\n', ''],
    [
      SESSION,
      '            if message is not None:\n',
      '            if message is not None:\n                self.heard = True\n',
    ],
  ),
  fault('envelope-of-256000-bytes', 'session', 'limit: an envelope of 256 KiB or less is refused', [
    ENVELOPES,
    '256 * 1024',
    '256 * 1000',
  ]),
  fault('node-id-of-1024-bytes', 'session', 'limit: a node id of 4096 bytes or fewer is refused', [
    SESSION,
    'MAX_NODE_ID = 4096',
    'MAX_NODE_ID = 1024',
  ]),
  fault('json-depth-of-63', JSON_ROOMS, 'limit: 64 arrays and objects', [
    PROTOCOL,
    'MAX_JSON_DEPTH = 64',
    'MAX_JSON_DEPTH = 63',
  ]),
  fault('matching-key-pinned-again', 'session', 'pin: it comes for a hub that is pinned', [
    SESSION,
    '            if self.pin is None or self.is_suspect:\n',
    '            if True:\n',
  ]),
  fault('fresh-key-of-accepted-client', 'session', 'static-key-fresh: it comes although a hub has accepted', [
    SESSION,
    'nodeId=self.node_id)] if self.key_is_fresh else []',
    'nodeId=self.node_id)]',
  ]),
  fault('stored-psk-told-as-new', 'session', 'psk: a stored PSK is told as if it were new', [
    SESSION,
    '        psk = self.psks.get(self.node_id)\n',
    '        psk = self.unproved_psk = self.psks.get(self.node_id)\n',
  ]),
  fault(
    'other-envelopes-ignored',
    'session',
    'after ready: an envelope of another type, such as bus, is ignored',
    [
      SESSION,
      'if what == "other" or (what in ("hello", "offer") and not is_text):',
      'if what in ("hello", "offer") and not is_text:',
    ],
  ),
  fault(
    'greeting-in-bytes-ignored',
    'session',
    'after ready: HELLO or HANDSHAKE that arrives as bytes is ignored',
    [SESSION, 'if what == "other" or (what in ("hello", "offer") and not is_text):', 'if what == "other":'],
  ),
  fault('empty-site-is-null', 'session', 'HELLO: its site_id is null', [
    SESSION,
    '{"pubkey": None, "site_id": site_id, **hello}',
    '{"pubkey": None, "site_id": site_id or None, **hello}',
  ]),
  fault('dropped-length-is-the-limit', 'reassemble', 'cap: the length of a dropped message is too small', [
    PROTOCOL,
    '"length": length, "reason": "too-large"',
    '"length": max_message, "reason": "too-large"',
  ]),
  fault('keys-by-bytes', JSON_ROOMS, 'key order: keys of fewer bytes come first', [
    PROTOCOL,
    'for key in sorted(value)',
    'for key in sorted(value, key=lambda key: (len(key.encode()), key))',
  ]),
  fault('plaintext-of-65535-sealed', 'seal', 'limit: a plaintext of more than 65519 bytes is taken', [
    PROTOCOL,
    'plaintext, len(plaintext) + TAG)',
    'plaintext, max(TAG, len(plaintext)))',
  ]),
  fault('message-of-65519-bytes', 'open', 'limit: a plaintext of 65519 bytes or fewer is refused', [
    PROTOCOL,
    'MAX_NOISE_MESSAGE = 65535',
    'MAX_NOISE_MESSAGE = 65519',
  ]),
  fault('empty-fields-unbound', JSON_ROOMS, 'prologue: fields whose value is empty are left out', [
    PROTOCOL,
    'return canonical_json(hello) + canonical_json(handshake) + name.encode()',
    'payloads = [{key: each[key] for key in each if each[key] not in ("", [])} for each in (hello, handshake)]\n    return b"".join(map(canonical_json, payloads)) + name.encode()',
  ]),
  fault('pauses-double-early', 'policy', 'pauses: their limit doubles before the first one', [
    POLICY,
    'self.dial(limit * draw >> 24, now)',
    'self.dial(min(2 * limit, self.times["maxPause"]) * draw >> 24, now)',
  ]),
  fault('steady-keeps-the-limit', 'policy', 'pauses: a steady connection does not bring their limit back', [
    POLICY,
    'self.limit, trusted = self.times["basePause"], True',
    'trusted = True',
  ]),
  fault('each-connection-derives', 'link', 'psk: it is derived anew although the derivation', [
    LINK,
    'if self.deriving_for != event["nodeId"]:',
    'if True:',
  ]),
  fault(
    'session-ids-by-their-end',
    'link',
    'orders: after `received` a link gives tell part where tell message is due',
    [QUESTIONS, 'self.session in (session, session.partition(":")[2])', 'session.endswith(self.session)'],
  ),
  fault(
    'failure-ends-a-question',
    'link',
    'orders: after `received` a link gives tell finish (unanswered), which is not due',
    ['question_scheduler.py', '"failure": ("unmatched",', '"failure": ("unanswered",'],
  ),
  fault('lost-questions-untold', 'link', 'orders: a link gives no more where tell unsent is due', [
    LINK,
    '        self.questions.remove(question)\n        self.unsent(question["envelope"], error)',
    '        self.questions.remove(question)',
  ]),
  fault('ready-under-xx-accepts-the-key', 'link', 'keyring: ready under XXpsk2 counts as acceptance', [
    LINK,
    'case {"type": "ready", "pattern": "KKpsk0"} | {',
    'case {"type": "ready"} | {',
  ]),
  fault('null-is-no-message', 'session', 'msg: one that is null counts as absent', [
    ENVELOPES,
    '"msg" not in noise',
    'noise.get("msg") is None',
  ]),
  fault('id-added-to-a-session', 'session', 'HELLO: an id is added to a session that the caller gives', [
    SESSION,
    '        for message in self.seal("json", protocol.encode(write_envelope("hello", hello))):\n',
    '        if isinstance(hello["session"], dict):\n            hello["session"] = {"session_id": handshake_hash[:16].hex(), **hello["session"]}\n        for message in self.seal("json", protocol.encode(write_envelope("hello", hello))):\n',
  ]),
  fault('json-keys-compared-without-case', JSON_ROOMS, 'JSON: keys that differ only in case are refused', [
    PROTOCOL,
    'len(dict(pairs)) != len(pairs)',
    'len({key.lower() for key, _ in pairs}) != len(pairs)',
  ]),
  fault('never-pins', 'session', 'pin: the expected event is missing', [
    SESSION,
    'if self.pin is None or self.is_suspect:',
    'if False:',
  ]),
  fault(
    'pin-suspect-after-silence',
    'session',
    'pin-suspect: it comes at an end that is no failure of KKpsk0',
    [
      SESSION,
      'if error == "kk-refused" else []',
      'if self.pattern == "KKpsk0" and not self.established and not self.failure else []',
    ],
  ),
  fault(
    'psk-stored-before-it-is-proved',
    'session',
    'psk: a provided PSK is told before it has opened message 2',
    [SESSION, ASKS_FOR_PSK, '        self.pending = [event("psk", nodeId=self.node_id, key=psk)]\n'],
    [
      SESSION,
      'return self.collect(self.send_message_1(psk))',
      'return self.pending + self.collect(self.send_message_1(psk))',
    ],
  ),
  fault('psk-never-stored', 'session', 'psk: it does not come for a provided PSK', [
    SESSION,
    ASKS_FOR_PSK,
    '',
  ]),
  fault('psk-never-doubted', 'session', 'psk-suspect: it does not come where the payload', [
    SESSION,
    '                yield event("psk-suspect", nodeId=self.node_id)\n',
    '',
  ]),
  fault('psk-always-asked-for', 'session', 'psk: it is requested although it is stored', [
    SESSION,
    'psk = self.psks.get(self.node_id)',
    'psk = None',
  ]),
  fault('late-psk-refused', 'session', 'psk: one that is provided late or twice is refused', [
    SESSION,
    'return []  # too late, or twice',
    'raise Refused("wrong-state")',
  ]),
  fault('session-id-from-the-end', 'session', 'session id: it is another one', [
    SESSION,
    'handshake_hash[:16].hex()',
    'handshake_hash[16:].hex()',
  ]),
  fault('hello-with-other-names', 'session', 'HELLO: the sealed HELLO lacks site_id', [
    SESSION,
    '{"pubkey": None, "site_id": site_id, **hello}',
    '{"pubkey": None, "siteId": site_id, **hello}',
  ]),
  fault('hello-with-an-empty-pubkey', 'session', 'HELLO: its pubkey is an empty string', [
    SESSION,
    '{"pubkey": None, "site_id": site_id, **hello}',
    '{"pubkey": "", "site_id": site_id, **hello}',
  ]),
  fault(
    'no-sealed-hello',
    'session',
    [
      'HELLO: there is no sealed HELLO',
      'envelopes: one that arrives as bytes before the session is not read',
    ],
    [SESSION, SEALS_HELLO, ''],
  ),
  fault(
    'hello-in-clear',
    'session',
    [
      'HELLO: it is sent in the clear once more',
      'envelopes: one that arrives as bytes before the session is not read',
    ],
    [SESSION, SEALS_HELLO, '        yield event("transmit", text=write_envelope("hello", hello))\n'],
  ),
  fault('hello-as-bytes', 'session', 'HELLO: it is sealed as a binary message', [
    SESSION,
    'self.seal("json", protocol.encode(write_envelope("hello", hello)))',
    'self.seal("binary", protocol.encode(write_envelope("hello", hello)))',
  ]),
  fault('always-1008', 'session', 'close code: it is 1008', [
    SESSION,
    'code=1002 if self.established else 1008',
    'code=1008',
  ]),
  fault(
    'fails-again-after-a-failure',
    'session',
    'a failure is final: after a failure the session still says something',
    [
      SESSION,
      'if self.state in ("failed", "closed"):\n            return []\n        return self.collect(self.take(data))',
      'if self.state == "closed":\n            return []\n        return self.collect(self.take(data))',
    ],
  ),
  fault(
    'every-close-is-a-refusal',
    'session',
    [
      'endings: close code 1000 is taken for a refusal',
      'endings: close code 1005 is taken for a refusal',
      'endings: close code 1001 is taken for a refusal',
      'endings: close code 1006 is taken for a refusal',
      'endings: close code 1011 is taken for a refusal',
      'endings: close code undefined is taken for a refusal',
      'endings: close code 1013 is taken for a refusal',
    ],
    [SESSION, 'return "refusal" if code == REFUSAL else "loss"', 'return "refusal"'],
  ),
  fault(
    'a-heard-hub-can-refuse',
    'session',
    'endings: close code 1008 is taken for a refusal once the hub was heard',
    [SESSION, 'if close == "loss" or self.heard:', 'if close == "loss":'],
  ),
  fault(
    'refused-client-key-is-any-refusal',
    'session',
    'closed, ended.reason is "refused" where it is "client-key-refus"',
    [
      SESSION,
      'return "client-key-refused", "later", "client-key-refused"',
      'return "refused", "later", "client-key-refused"',
    ],
  ),
  // A hub
  fault('hub-pins-the-latest', 'session', 'pin: a client whose key is not the pinned one is accepted', [
    SESSION,
    '        if self.client_key is None:\n            yield event("pin", key=key)\n        elif self.client_key != key:\n            raise Refused("client-key-changed")\n',
    '        if self.client_key != key:\n            yield event("pin", key=key)\n',
  ]),
  fault(
    'hub-needs-hello',
    'session',
    'refuses what has to be accepted, such as: a first message that is not HELLO',
    [
      SESSION,
      '            yield hello\n            if hello.get("error") != "no-hello":\n                return\n',
      '            if hello.get("error") == "no-hello":\n                raise Refused("no-hello")\n            yield hello\n            return\n',
    ],
  ),
  fault(
    'hub-takes-every-hello',
    'session',
    'HELLO: a later message of this type is taken for the client’s HELLO',
    [SESSION, '            self.expects_hello = False\n', ''],
  ),
  fault(
    'hub-needs-every-field-of-message-1',
    'session',
    'refuses what has to be accepted, such as: message 1 whose payload has no fields',
    [
      SESSION,
      'if binarize not in (None, True, False) or not (encodings is None or is_text_list(encodings)):',
      'if binarize not in (True, False) or not is_text_list(encodings):',
    ],
  ),
  fault(
    'hub-needs-the-version-of-a-client',
    'session',
    'message 1: a hub refuses it without max_protocol_version',
    [
      SESSION,
      'if "max_protocol_version" in payload:\n            check_version(payload)',
      'check_version(payload)',
    ],
  ),
  // MQTT and addresses
  fault('status-without-key', 'topics', 'refuses what has to be accepted, as topic-out-of-scope', [
    MQTT,
    'derived = {name: f"{scope}{level}/{last}" for name, level in names.items()} if last else {}',
    'derived = {name: f"{scope}{level}/{last}" for name, level in names.items()} if last else {}\n        derived = {**derived, "status": f"{scope}status"} if last else {}',
  ]),
  fault('wss-on-8084', 'broker', 'broker: the default port of wss is 8084', [
    MQTT,
    '"wss": 443',
    '"wss": 8084',
  ]),
  fault('client-id-with-underscores', 'client-id', 'client id: characters become _', [
    MQTT,
    're.sub("[^A-Za-z0-9_-]", "-", access_key)',
    're.sub("[^A-Za-z0-9_-]", "_", access_key)',
  ]),
  fault('presence-with-qos-0', 'presence', 'presence: qos is 0', [
    MQTT,
    '"qos": 1, "retain"',
    '"qos": 0, "retain"',
  ]),
  fault(
    'user-agent-with-colons',
    'authorization',
    'accepts what has to be refused, such as: a colon in the user agent',
    [AUTHORIZATION, ' or ":" in user_agent:', ':'],
  ),
  fault('access-key-in-latin-1', 'authorization', 'authorization: it is encoded as Latin-1', [
    AUTHORIZATION,
    'encode(f"{user_agent}:{access_key}")',
    'f"{user_agent}:{access_key}".encode("latin-1", "replace")',
  ]),
  fault(
    'query-replaced',
    'authorization',
    ['authorization: the other fields of the query are left out', 'url has "&", which is not due'],
    [AUTHORIZATION, 'if field and name_of(field) != "authorization"]', 'if field == ""]'],
  ),
  // Binary messages
  fault('binary-zeros-at-the-end', 'encode-binary', 'binary: 0 zeros come before the first bit that is set', [
    BINARY,
    'return head.to_bytes((length + 7) // 8)',
    'return (head << -length % 8).to_bytes((length + 7) // 8)',
  ]),
  fault('binary-raw-deflate', 'decode-binary', 'binary: what is compressed is read as DEFLATE alone', [
    BINARY,
    'zlib.decompressobj()',
    'zlib.decompressobj(-15)',
  ]),
  fault('binary-needs-metadata', 'decode-binary', 'binary: metadata of no bytes are refused', [
    BINARY,
    'metadata = object_in(metadata, "bad-metadata") if metadata else {}',
    'metadata = object_in(metadata, "bad-metadata")',
  ]),
  fault('binary-version-2-read', 'decode-binary', 'binary: the version 2 is read', [
    BINARY,
    'bits.take(8) > 1:',
    'bits.take(8) > 2:',
  ]),
  fault(
    'pattern-in-the-order-of-the-hub',
    'select',
    'selection: with a pin the hub’s list decides about the pattern',
    [
      PROTOCOL,
      '    for pattern in ["KKpsk0", "XXpsk2"] if pinned else ["XXpsk2"]:\n        if pattern in offered_patterns:\n',
      '    for pattern in offered_patterns:\n        if pattern == "XXpsk2" or (pinned and pattern == "KKpsk0"):\n',
    ],
  ),
  fault('binary-version-0-refused', 'decode-binary', 'binary: version 0 is refused', [
    BINARY,
    'bits.take(8) > 1:',
    'bits.take(8) != 1:',
  ]),
  fault('binary-type-11-read', 'decode-binary', 'binary: the type 11 is read', [
    BINARY,
    'type = TYPES.get(bits.take(5))',
    'type = {**TYPES, 11: "3rdparty"}.get(bits.take(5))',
  ]),
  // When to dial
  fault('pauses-do-not-grow', 'policy', 'pauses: their limit does not grow', [
    POLICY,
    'self.limit = 2 * limit',
    'self.limit = limit',
  ]),
  fault('pauses-are-not-random', 'policy', 'pauses: each is its whole limit', [
    POLICY,
    'decision = self.dial(limit * draw >> 24, now)',
    'decision = self.dial(limit, now)',
  ]),
  // Widths, parts and order, as languages and libraries suggest them
  fault(
    'depth-of-all-containers',
    'canonical-json',
    'limit: arrays and objects that are closed again count',
    [
      PROTOCOL,
      '    check_json(value, MAX_JSON_DEPTH)\n',
      '    check_json(value, MAX_JSON_DEPTH)\n    if isinstance(text, str) and sum(map(text.count, "[{")) > 64:\n        raise Refused("json-depth")\n',
    ],
  ),
  fault('prologue-of-the-envelope', 'session', 'prologue: it binds the whole envelope of HELLO', [
    SESSION,
    '        self.hub_hello = payload\n',
    '        rest = {"metadata": {}, "route": [], "node": None, "target_site_id": None, "target_pubkey": None, "source_peer": None}\n        self.hub_hello = {"msg_type": "hello", "payload": payload, **rest}\n',
  ]),
  fault('pins-by-their-beginning', 'session', 'pins: they are looked up by the beginning of the node id', [
    SESSION,
    'self.pin = self.pins.get(self.node_id)',
    'self.pin = next((key for hub, key in self.pins.items() if self.node_id.startswith(hub)), None)',
  ]),
  fault('pubkey-of-noise', 'session', 'HELLO: its pubkey is the static key of Noise', [
    SESSION,
    'self.own_hello = {"pubkey": None, "site_id": site_id, **hello}',
    'from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey\n        own = X25519PrivateKey.from_private_bytes(static_key).public_key().public_bytes_raw().hex()\n        self.own_hello = {"pubkey": own, "site_id": site_id, **hello}',
  ]),
  fault('pubkey-private', 'session', 'HELLO: its pubkey is the private static key', [
    SESSION,
    'self.own_hello = {"pubkey": None, "site_id": site_id, **hello}',
    'self.own_hello = {"pubkey": static_key.hex(), "site_id": site_id, **hello}',
  ]),
  fault(
    'hub-answers-again',
    'session',
    ['repeats: a repeated message 1 is answered with another message 2', 'repeats: a part of the handshake'],
    [
      SESSION,
      'if what in ("message 1", "later message") and self.state == "awaiting-message-1":',
      'if what == "message 1" and self.state == "awaiting-message-3" or what in ("message 1", "later message") and self.state == "awaiting-message-1":',
    ],
  ),
  fault(
    'broker-port-in-16-bits',
    'broker',
    'port: it is kept in 16 bits, so that 65537 is taken for 1',
    [MQTT, 'not 1 <= int(parts[3] or 1) <= 65535:', 'not 1 <= int(parts[3] or 1) & 0xFFFF <= 65535:'],
    [MQTT, 'parts[3] and int(parts[3]), parts[4]', 'parts[3] and int(parts[3]) & 0xFFFF, parts[4]'],
  ),
  fault(
    'port-in-32-bits',
    'authorization',
    'port: it is kept in 32 bits, so that 4294967297 is taken for 1',
    [
      AUTHORIZATION,
      'not 1 <= int(parts[2] or 1) <= 65535:',
      'not 1 <= int(parts[2] or 1) & 0xFFFFFFFF <= 65535:',
    ],
  ),
  fault('port-with-a-sign', 'authorization', 'port: one beyond 32767 is refused', [
    AUTHORIZATION,
    'not 1 <= int(parts[2] or 1) <= 65535:',
    'not 1 <= int(parts[2] or 1) <= 32767:',
  ]),
  fault('port-of-any-size', 'authorization', 'port: one beyond 65535 is taken', [
    AUTHORIZATION,
    'not 1 <= int(parts[2] or 1) <= 65535:',
    'not 1 <= int(parts[2] or 1):',
  ]),
  fault('tls-turned-off', 'broker', 'broker: `tls` that is false turns TLS off', [
    MQTT,
    '    if scheme in WITH_TLS and not allow_plaintext:',
    '    if flag_of(field_of(mqtt, ["tls"])) is False:\n        scheme = {"mqtts": "mqtt", "ssl": "mqtt", "wss": "ws"}.get(scheme, scheme)\n    if scheme in WITH_TLS and not allow_plaintext:',
  ]),
  fault('status-beside-any-in', 'topics', 'topics: a level `in` that is not the last one becomes `status`', [
    MQTT,
    'elif levels[-1] == "in":\n        levels[-1] = "status"',
    'elif "in" in levels:\n        levels[levels.index("in")] = "status"',
  ]),
  fault(
    'status-after-all',
    'topics',
    'topics: a status topic is made where the one to publish to has no level',
    [
      MQTT,
      '    else:\n        return None\n    return "/".join(levels)',
      '    elif len(levels) > 1:\n        levels[-1] = "status"\n    else:\n        return None\n    return "/".join(levels)',
    ],
  ),
  fault('binary-metadata-empty', 'encode-binary', 'binary: empty metadata are written as no bytes', [
    BINARY,
    'metadata = canonical_json(metadata)',
    'metadata = canonical_json(metadata) if metadata else b""',
  ]),
  fault('binary-metadata-as-is', 'decode-binary', 'binary: compressed metadata are not inflated', [
    BINARY,
    'inflate(text, max_inflated) if is_compressed else text',
    'inflate(text, max_inflated) if is_compressed and code == "bad-payload" else text',
  ]),
  fault('binary-payload-as-is', 'decode-binary', 'binary: a compressed JSON payload is not inflated', [
    BINARY,
    'inflate(text, max_inflated) if is_compressed else text',
    'inflate(text, max_inflated) if is_compressed and code == "bad-metadata" else text',
  ]),
  fault('binary-bit-unread', 'decode-binary', 'binary: the bit that tells compression is not read', [
    BINARY,
    'inflate(text, max_inflated) if is_compressed else text',
    'text',
  ]),
  fault(
    'binary-bytes-inflated',
    'decode-binary',
    'binary: the bytes of a message of the type bin are inflated',
    [
      BINARY,
      'return type, metadata, payload, PAYLOAD_TYPES[payload_type]',
      'return type, metadata, inflate(payload, max_inflated) if is_compressed else payload, PAYLOAD_TYPES[payload_type]',
    ],
  ),
  fault(
    'binary-checksum-unread',
    'decode-binary',
    'binary: the checksum of a zlib stream (Adler-32) is not',
    [
      BINARY,
      'inflater = zlib.decompressobj()\n    try:\n        data = inflater.decompress(stream, most + 1)',
      'inflater = zlib.decompressobj(-15)\n    try:\n        if len(stream) < 2 or stream[0] & 15 != 8 or int.from_bytes(stream[:2]) % 31:\n            raise zlib.error\n        data = inflater.decompress(stream[2:], most + 1)',
    ],
  ),
  fault('binary-stream-cut', 'decode-binary', 'binary: a zlib stream that ends early is taken', [
    BINARY,
    'if len(data) > most or not inflater.eof:',
    'if len(data) > most:',
  ]),
  fault(
    'binary-type-unknown',
    'decode-binary',
    ['binary: the code of the type cascade is refused as reserved', 'binary: the type 13 is read'],
    [BINARY, '8: "cascade", ', '13: "cascade", '],
  ),
  fault('deadline-begun-again', 'policy', 'policy: the deadline of a state counts from the question for it', [
    POLICY,
    '        if state != self.session_state[0]:\n            self.session_state = (state, now)',
    '        self.session_state = (state, now)',
  ]),
  fault('one-question-on-a-connection', 'link', 'questions: one waits for a question in another session', [
    QUESTIONS,
    'if each.sent_at is None and each.session not in busy:',
    'if each.sent_at is None and not busy:',
  ]),
  fault(
    'questions-without-turns',
    'link',
    'questions: one in a session in which another is in flight is sent',
    [QUESTIONS, 'if each.sent_at is None and each.session not in busy:', 'if each.sent_at is None:'],
  ),
  fault('turn-kept-by-the-ended', 'link', 'questions: the next one in a session is not sent', [
    QUESTIONS,
    '        busy = set()\n',
    '        self.ended = getattr(self, "ended", set()) | {each["requestId"][0] for each in decisions}\n        busy = {each.session for each in self.questions} if self.ended else set()\n',
  ]),
  fault('handled-before-speech', 'link', 'questions: `ovos.utterance.handled` ends one before any speech', [
    QUESTIONS,
    '"completion": ("completed", "handled"',
    '"completion": ("handled", "handled"',
  ]),
  fault('retry-after-ignored', 'link', 'pauses: the time for which a server wants to be left alone', [
    LINK,
    'max(decision["after"], min(retry_after, self.policy.times["maxPause"]))',
    'decision["after"]',
  ]),
  fault(
    'failed-psk-forgotten',
    'link',
    'psk: one that did not open message 2 is left out of what is stored',
    [
      LINK,
      'return self._replace(suspects=self.suspects | {hub})',
      'return self._replace(psks={name: key for name, key in self.psks.items() if name != hub})',
    ],
  ),
  fault('proved-psk-not-stored', 'link', 'keyring: a PSK is missing in what is stored', [
    LINK,
    'return self._replace(psks={**self.psks, hub: key}, suspects',
    'return self._replace(suspects',
  ]),
  fault('pin-in-place-of-all-others', 'link', 'keyring: a pin is missing in what is stored', [
    LINK,
    'return self._replace(pins={**self.pins, hub: key}',
    'return self._replace(pins={hub: key}',
  ]),
  fault('ephemeral-key-used-again', 'link', 'ephemeral key: that of an earlier connection is used again', [
    LINK,
    'ephemeral_key=self.draw_key(),',
    'ephemeral_key=self.__dict__.get("key") or self.__dict__.setdefault("key", self.draw_key()),',
  ]),
  fault(
    'correlation-id-unread',
    'link',
    'orders: after `received` a link gives tell message where tell part is due',
    [
      QUESTIONS,
      'ID_NAMES = ("request_id", "thalovant_request_id", "correlation_id")',
      'ID_NAMES = ("request_id", "thalovant_request_id")',
    ],
  ),
  fault('doubt-of-a-pin-forgotten', 'link', 'pin: a suspect pin is enforced after all', [
    LINK,
    '        self.is_gone = False\n        self.number += 1',
    '        self.keyring = self.keyring._replace(suspect_pins=frozenset())\n        self.is_gone = False\n        self.number += 1',
  ]),
  fault(
    'brace-in-the-clear',
    'session',
    'after ready: bytes that begin like JSON count as a message in the clear',
    [
      SESSION,
      '            if is_text:\n                raise',
      '            if is_text or data[:1] == b"{":\n                raise',
    ],
  ),
  fault('empty-message-2-refused', 'session', 'message 2: an empty payload is refused', [
    ENVELOPES,
    'payload = protocol.parse_json(data or b"{}")',
    'payload = protocol.parse_json(data)',
  ]),
  fault('offer-without-noise', 'session', 'offer: one without `noise` is taken', [
    SESSION,
    'noise = payload.get("noise", {})',
    'noise = payload.get("noise", {"patterns": ["XXpsk2"], "suites": ["25519_ChaChaPoly_SHA256"]})',
  ]),
  fault('json-point-first', 'canonical-json', 'JSON: a point without digits before it is accepted', [
    PROTOCOL,
    '        value = json.loads(text,',
    '        import re\n        text = re.sub(r"(?<![\\d\\w\\"\\\\])\\.(?=\\d)", "0.", text)\n        value = json.loads(text,',
  ]),
  fault('json-capital-u', 'canonical-json', 'JSON: the escape \\U is taken for \\u', [
    PROTOCOL,
    '        value = json.loads(text,',
    '        text = text.replace("\\\\U", "\\\\u")\n        value = json.loads(text,',
  ]),
  fault('psk-told-under-xx-alone', 'session', 'psk: it does not come under KKpsk0 for a provided PSK', [
    SESSION,
    'if self.unproved_psk is not None:',
    'if self.unproved_psk is not None and self.pattern == "XXpsk2":',
  ]),
  fault('ready-with-the-own-key', 'session', 'ready: its hubKey is the own private key', [
    SESSION,
    'hubKey=hub_key, sessionId',
    'hubKey=self.static_key, sessionId',
  ]),
  // Taken from a blind list for ports in Go and Python
  fault('half-taken-in-keys', 'canonical-json', 'JSON: half of a surrogate pair is accepted in keys', [
    PROTOCOL,
    'for inner in [*value, *value.values()] if isinstance(value, dict) else value:',
    'for inner in value.values() if isinstance(value, dict) else value:',
  ]),
  fault(
    'static-key-blamed',
    'handshake',
    'handshake: a payload that does not open is told as the static key',
    [
      PROTOCOL,
      'in_static_key = brings_static_key and isinstance(self.state.rs, Empty)',
      'in_static_key = brings_static_key',
    ],
  ),
  fault(
    'static-key-blamed-under-kk',
    'handshake',
    'KKpsk0: a message that does not open is told as its static key',
    [
      PROTOCOL,
      'in_static_key = brings_static_key and isinstance(self.state.rs, Empty)',
      'in_static_key = isinstance(self.state.rs, Empty) if brings_static_key else self.state.initiator and self.noise.noise_protocol.name.startswith(b"Noise_KK")',
    ],
  ),
  fault('message-1-without-tag', 'handshake', 'lengths: message 1 of XXpsk2 is read without a tag', [
    PROTOCOL,
    'return TAG + tokens.count("e")',
    'return (0 if tokens == ["e"] else TAG) + tokens.count("e")',
  ]),
  fault('lower-cap-forgotten', 'reassemble', 'cap: the lower limit is forgotten after the first message', [
    PROTOCOL,
    '        return completed(kind, bytes(self.buffer), self.length, self.max_message)',
    '        cap, self.max_message = self.max_message, MAX_MESSAGE\n        return completed(kind, bytes(self.buffer), self.length, cap)',
  ]),
  fault('cap-of-0-is-none', 'reassemble', 'cap: a limit of 0 counts as none', [
    PROTOCOL,
    'self.max_message = MAX_MESSAGE if max_message is None else max_message',
    'self.max_message = max_message or MAX_MESSAGE',
  ]),
  fault('lower-cap-ignored', 'reassemble', 'cap: the lower limit is not applied', [
    PROTOCOL,
    'self.max_message = MAX_MESSAGE if max_message is None else max_message',
    'self.max_message = MAX_MESSAGE',
  ]),
  fault('msg-of-another-type', 'session', 'msg: one that is no string counts as absent', [
    ENVELOPES,
    '"msg" not in noise',
    'not isinstance(noise.get("msg"), str)',
  ]),
  fault(
    'pin-doubted-for-payloads-alone',
    'session',
    'pin-suspect: it comes only where message 2 of KKpsk0 does not open',
    [
      SESSION,
      'if self.pattern == "KKpsk0":\n                yield from self.doubt_pin()\n                raise Refused("kk-failed") if is_payload else refused\n',
      'if self.pattern == "KKpsk0" and is_payload:\n                yield from self.doubt_pin()\n                raise Refused("kk-failed")\n',
    ],
  ),
  fault('silence-of-kk-paused', 'policy', 'pauses: one is drawn after an end with timeout under KKpsk0', [
    POLICY,
    'failed = event["reason"] in ("refused", "timeout") and',
    'failed = event["reason"] == "refused" and',
  ]),
  fault('speech-gives-no-time', 'link', 'questions: more speech does not give the hub more time', [
    QUESTIONS,
    'elif next_state != self.state or next_state == "speaking":',
    'elif next_state != self.state:',
  ]),
  fault(
    'ids-looked-up-by-name',
    'link',
    'orders: after `received` a link gives tell message where tell part is due',
    [
      QUESTIONS,
      '[place.get(name) for place in (context, session, data) for name in ID_NAMES]',
      '[place.get(name) for name in ID_NAMES for place in (context, session, data)]',
    ],
  ),
  fault(
    'encoded-name-kept',
    'authorization',
    'authorization: an earlier one whose name is percent-encoded stays',
    [AUTHORIZATION, 'return urllib.parse.unquote(field.split("=")[0])', 'return field.split("=")[0]'],
  ),
  fault(
    'inflation-cut',
    'decode-binary',
    'limit: what inflates to more than is allowed is cut there and read',
    [BINARY, 'inflater.decompress(stream, most + 1)', 'inflater.decompress(stream, most)'],
    [BINARY, 'if len(data) > most or not inflater.eof:', 'if len(data) < most and not inflater.eof:'],
  ),
  // Taken from a blind list for a port in C
  fault('offer-name-begun', 'session', 'offer: a name that only begins like a required one counts as that', [
    SESSION,
    'if REQUIRED_PATTERN not in noise["patterns"] or REQUIRED_SUITE not in noise["suites"]:',
    'noise = {**noise, "patterns": [REQUIRED_PATTERN if each.startswith(REQUIRED_PATTERN) else each for each in noise["patterns"]]}\n        noise["suites"] = [REQUIRED_SUITE if each.startswith(REQUIRED_SUITE) else each for each in noise["suites"]]\n        if REQUIRED_PATTERN not in noise["patterns"] or REQUIRED_SUITE not in noise["suites"]:',
  ]),
  fault('salt-up-to-nul', 'session', 'psk: the salt hashes the node id up to U+0000', [
    SESSION,
    'salt=protocol.psk_salt(self.node_id)',
    'salt=protocol.psk_salt(self.node_id.partition("\\0")[0])',
  ]),
  fault(
    'next-message-dropped',
    'reassemble',
    'cap: after a message that was too long, the next one is dropped, too',
    [
      PROTOCOL,
      'self.kind, self.buffer, self.length = KINDS[marker], bytearray(), 0',
      'self.kind, self.buffer, self.length = KINDS[marker], bytearray(), self.length if self.length > self.max_message else 0',
    ],
  ),
  fault(
    'kk-offered-without-a-pin',
    'session',
    'offer: a hub offers KKpsk0 to a client that it has not pinned',
    [
      SESSION,
      'self.patterns = [pattern for pattern in patterns if pattern != "KKpsk0" or client_key is not None]',
      'self.patterns = list(patterns)',
    ],
  ),
  fault(
    'bad-hello-delivered',
    'session',
    'HELLO: a first message that is a HELLO with wrong fields is delivered, too',
    [
      SESSION,
      'if hello.get("error") != "no-hello":',
      'if hello.get("error") not in ("no-hello", "bad-hello"):',
    ],
  ),
  fault(
    'protocol-name-cut',
    'session',
    'prologue: it ends with the protocol name without its last character',
    [SESSION, 'protocol.protocol_name(pattern, suite))', 'protocol.protocol_name(pattern, suite)[:-1])'],
  ),
  fault('keys-cut-to-a-pointer', 'link', 'keyring: 8 of the 32 bytes of a key are stored', [
    LINK,
    'self.order("store", keyring=changed)',
    'self.order("store", keyring=changed._replace(pins={hub: key[:8] + bytes(24) for hub, key in changed.pins.items()}))',
  ]),
  fault('nothing-held-while-storing', 'link', 'store: the link goes on before the keyring is stored', [
    LINK,
    'while self.storing is None and self.step(now):',
    'while self.step(now):',
  ]),
  fault(
    'psk-of-the-hub-before',
    'link',
    'orders: after `received` a link gives write an envelope where derive is due',
    [
      LINK,
      'if self.deriving_for != event["nodeId"]:',
      'if self.deriving_for is None or (self.deriving_for != event["nodeId"] and self.derived_psk is None):',
    ],
  ),
  fault('escape-read-by-strtol', 'canonical-json', 'JSON: the digits after \\u are read with strtol', [
    PROTOCOL,
    '        value = json.loads(text,',
    '        import re\n        text = re.sub(r"\\\\u[ \\t+-]([0-9a-fA-F]{3})", r"\\\\u0\\1", text)\n        value = json.loads(text,',
  ]),
  fault('anything-is-a-digit', 'canonical-json', 'JSON: anything after \\u counts as four digits', [
    PROTOCOL,
    '        value = json.loads(text,',
    '        import re\n        text = re.sub(r"\\\\u(?![0-9a-fA-F]{4})[^\\"]{4}", r"\\\\u0041", text)\n        value = json.loads(text,',
  ]),
  fault(
    'halves-joined-by-or',
    'canonical-json',
    'surrogates: the halves of an escaped pair are joined with |',
    [
      PROTOCOL,
      '        value = json.loads(text,',
      '        import re\n        pair = r"\\\\u([dD][89abAB][0-9a-fA-F]{2})\\\\u([dD][c-fC-F][0-9a-fA-F]{2})"\n        code = lambda found: 0x10000 | (int(found[1], 16) - 0xD800) << 10 | (int(found[2], 16) - 0xDC00)\n        text = re.sub(pair, lambda found: chr(code(found)), text)\n        value = json.loads(text,',
    ],
  ),
  fault('hex-skips-blanks-and-colons', 'session', 'msg: hex is read without the blanks in it', [
    PROTOCOL,
    'return binascii.unhexlify(text)',
    'return binascii.unhexlify(text.replace(" ", "").replace(":", ""))',
  ]),
  fault('protocol-name-with-nul', 'session', 'prologue: a NUL follows the protocol name', [
    SESSION,
    'protocol.protocol_name(pattern, suite))',
    'protocol.protocol_name(pattern, suite) + "\\0")',
  ]),
  fault('protocol-name-without-noise', 'session', 'prologue: it ends with the protocol name without Noise_', [
    SESSION,
    'protocol.protocol_name(pattern, suite))',
    'protocol.protocol_name(pattern, suite)[6:])',
  ]),
  fault(
    'tail-delivered',
    'reassemble',
    'cap: the end of a message that is too long is delivered as a message',
    [
      PROTOCOL,
      '            self.buffer.clear()  # the message is dropped, and the session goes on',
      '            self.buffer, self.length = bytearray(), 0',
    ],
  ),
  fault('escape-with-sign', 'canonical-json', 'JSON: a sign among the digits after \\u is accepted', [
    PROTOCOL,
    '        value = json.loads(text,',
    '        import re\n        text = re.sub(r"\\\\u[+-]([0-9a-fA-F]{3})", r"\\\\u0\\1", text)\n        value = json.loads(text,',
  ]),
  fault('low-order-key-blamed', 'handshake', 'low-order key: it is told as a static key that does not open', [
    PROTOCOL,
    '            self.failure = "low-order-key"',
    '            self.failure = "static-key-not-authentic" if brings_static_key and isinstance(self.state.rs, Empty) else "low-order-key"',
  ]),
];

/** Faults planted in the sessions of ports/python, and in what it says of addresses, topics and access keys. */
import { type Fault, fault } from './fault.ts';

const SESSION = 'hub_session.py';
const MQTT = 'mqtt_topics.py';

export const PYTHON_SESSION_FAULTS: readonly Fault[] = [
  fault('case-of-types-folded', 'session', 'msg_type: it is compared without regard to case', [
    'hub_envelopes.py',
    'kind = envelope["msg_type"]\n',
    'kind = envelope["msg_type"].lower()\n',
  ]),
  fault(
    'repaired-payload',
    'session',
    ['envelopes: one without payload is read', 'envelopes: a payload'],
    [
      'hub_envelopes.py',
      'if not isinstance(envelope.get("payload"), dict):\n        raise Refused("bad-payload")',
      'if not isinstance(envelope.get("payload"), dict):\n        envelope["payload"] = {}',
    ],
  ),
  fault(
    'hub-key-compared-late',
    'session',
    'pin: it is compared after message 3 has been sent, which shows the client’s key',
    [
      SESSION,
      'self.enforce_pin(hub_key)  # before our own key leaves in message 3; under KKpsk0 it is the pin\n',
      'pass\n',
    ],
    [
      SESSION,
      'yield shake(msg=self.handshake.write().hex())\n',
      'yield shake(msg=self.handshake.write().hex())\n            self.enforce_pin(hub_key)\n',
    ],
  ),
  fault('psk-blamed-for-kk', 'session', 'on message 2 a client gives psk-suspect where pin-suspect is due', [
    SESSION,
    'yield from self.doubt_pin()\n                raise',
    'yield event("psk-suspect", nodeId=self.node_id)\n                raise',
  ]),
  fault('hub-takes-repeats', 'session', 'repeats: a part of the handshake that is repeated is not ignored', [
    SESSION,
    'elif what == "later message" and self.state == "awaiting-message-3":',
    'elif what in ("message 1", "later message") and self.state == "awaiting-message-3":',
  ]),
  fault(
    'close-codes-ignored',
    'session',
    [
      'endings: close code 1000 is taken for a loss',
      'endings: close code 1005 is taken for a loss',
      'endings: close code 1008 is taken for a loss',
    ],
    [SESSION, 'return "refusal" if code == REFUSAL else "loss"', 'return "loss"'],
  ),
  fault('prefix-added-twice', 'topics', 'topics: the hub id is in them twice', [
    MQTT,
    '"/".join(levels if hub_id in levels else [*levels, hub_id])',
    '"/".join([*levels, hub_id])',
  ]),
  fault(
    'slashes-kept',
    'topics',
    'refuses what has to be accepted, such as: slashes around prefix and hub id',
    [MQTT, 'check_topic(levels.strip(WHITE_SPACE).strip("/"))', 'check_topic(levels.strip(WHITE_SPACE))'],
  ),
  fault(
    'credentials-in-urls',
    'broker',
    'accepts what has to be refused: mqtts://user:password@broker.example; mqtts://user@broker.example; mqtts://@broker.example',
    [MQTT, '[A-Za-z]+)://({HOST})', '[A-Za-z]+)://(?:[^/@]*@)?({HOST})'],
  ),
  fault('client-id-in-bytes', 'client-id', 'client id: bytes are counted', [
    MQTT,
    're.sub("[^A-Za-z0-9_-]", "-", access_key)[:48]',
    're.sub(b"[^A-Za-z0-9_-]", b"-", access_key.encode())[:48].decode()',
  ]),
  fault('message-1-without-payload', 'session', 'message 1: its payload is empty', [
    SESSION,
    'protocol.canonical_json({"binarize": False, "encodings": []})',
    'b""',
  ]),
  fault('message-1-asks-to-binarize', 'session', 'message 1: its payload is {"binarize":true', [
    SESSION,
    '{"binarize": False, "encodings": []}',
    '{"binarize": True, "encodings": []}',
  ]),
  fault('message-in-base64', 'session', 'msg: it is base64', [
    SESSION,
    'suite=self.suite, msg=message.hex())',
    'suite=self.suite, msg=__import__("base64").b64encode(message).decode())',
  ]),
  fault('suite-not-named', 'session', 'message 1: it does not name suite', [
    SESSION,
    'yield shake(pattern=self.pattern, suite=self.suite,',
    'yield shake(pattern=self.pattern,',
  ]),
  fault('message-2-without-payload', 'session', 'message 2: its payload is 2 bytes too short', [
    SESSION,
    'self.handshake.write(b"{}")',
    'self.handshake.write(b"")',
  ]),
  fault('session-id-of-32-bytes', 'session', 'session id: it has 32 bytes of the handshake hash', [
    SESSION,
    'handshake_hash[:16].hex()',
    'handshake_hash.hex()',
  ]),
  fault('version-3-exactly', 'session', 'version: max_protocol_version is read as one that must be 3', [
    'hub_envelopes.py',
    'float(version.token) < 3',
    'float(version.token) != 3',
  ]),
  fault('version-not-needed', 'session', 'a client takes HANDSHAKE that it refuses as protocol-version', [
    'hub_envelopes.py',
    'payload.get("max_protocol_version")\n',
    'payload.get("max_protocol_version", protocol.Number("3"))\n',
  ]),
  fault(
    'any-node-id',
    'session',
    [
      'limit: a node id of more than 4096 bytes of UTF-8 is taken',
      'node id: an empty one is taken',
      'node id: one that is no string is taken',
    ],
    [
      SESSION,
      'if not isinstance(self.node_id, str) or not 0 < len(protocol.encode(self.node_id)) <= MAX_NODE_ID:',
      'if self.node_id is None:',
    ],
  ),
  fault('pinned-before-the-psk', 'session', 'pin: it is reported before all of message 2 has decrypted', [
    SESSION,
    '            is_payload = refused.code in ("payload-not-authentic", "bad-handshake-payload")\n',
    '            is_payload = refused.code in ("payload-not-authentic", "bad-handshake-payload")\n            if is_payload and self.pin is None:\n                yield event("pin", nodeId=self.node_id, key=self.handshake.remote_static_key)\n',
  ]),
  fault(
    'pinned-after-message-3',
    'session',
    [
      'order: the events are transmit of an envelope, pin, transmit of a sealed message, ready',
      'order: the events are psk, transmit of an envelope, pin, transmit of a sealed message, ready',
    ],
    [
      SESSION,
      '            if self.pin is None or self.is_suspect:\n',
      '            yield shake(msg=self.handshake.write().hex())\n            if self.pin is None or self.is_suspect:\n',
    ],
    [
      SESSION,
      'key=hub_key, **replaces)\n            yield shake(msg=self.handshake.write().hex())',
      'key=hub_key, **replaces)',
    ],
  ),
  fault('hub-offers-kk-to-all', 'session', 'offer: a hub offers KKpsk0 to a client that it has not pinned', [
    SESSION,
    'if pattern != "KKpsk0" or client_key is not None]',
    'if True]',
  ]),
  fault('hub-takes-any-suite', 'session', 'negotiation: a hub takes a suite that it did not offer', [
    SESSION,
    'or self.suite not in self.suites:',
    'or self.suite not in protocol.SUITES:',
  ]),
  fault('hub-takes-any-key', 'session', 'pin: a client whose key is not the pinned one is accepted', [
    SESSION,
    'elif self.client_key != key:',
    'elif False:',
  ]),
  fault('hub-ready-at-message-2', 'session', 'ready: a hub is ready under KKpsk0', [
    SESSION,
    '            self.state = "awaiting-first-message"  # message 1 alone may be a replay',
    '            self.state = "ready"\n            yield self.ready',
  ]),
  fault('binarize-left-out-of-the-prologue', 'session', 'prologue: it lacks binarize of HANDSHAKE', [
    SESSION,
    '        self.offer = payload\n        self.state = "awaiting-psk"',
    '        self.offer = {name: payload[name] for name in payload if name != "binarize"}\n        self.state = "awaiting-psk"',
  ]),
  fault('hub-is-ready-twice', 'session', 'on message 3 a hub gives ready, which is not due', [
    SESSION,
    '        self.state = "ready"\n        yield self.ready\n\n    def finish',
    '        self.state = "ready"\n        yield self.ready\n        yield self.ready\n\n    def finish',
  ]),
  fault('lists-sorted', 'canonical-json', 'lists: their items stand in another order', [
    'hub_protocol.py',
    '",".join(write_json(item) for item in value) + "]"',
    '",".join(sorted(write_json(item) for item in value)) + "]"',
  ]),
  fault('keys-by-length', 'canonical-json', 'keys: they stand in another order', [
    'hub_protocol.py',
    'for key in sorted(value)) + "}"',
    'for key in sorted(value, key=lambda key: (-len(key), key))) + "}"',
  ]),
  fault('password-in-base64', 'psk', 'psk: the password is taken in base64', [
    'hub_protocol.py',
    'return argon2id(encode(password), psk_salt(node_id)',
    'return argon2id(binascii.b2a_base64(encode(password), newline=False), psk_salt(node_id)',
  ]),
  fault('too-large-dropped-at-once', 'reassemble', 'cap: a message is dropped at once', [
    'hub_protocol.py',
    '            self.buffer.clear()  # the message is dropped, and the session goes on\n',
    '            kind, self.kind = self.kind, None\n            return completed(kind, b"", self.length, self.max_message)\n',
  ]),
  fault('binary-type-11', 'encode-binary', 'binary: the code of the type is 11; it is 12', [
    'binary_messages.py',
    '10: "rendezvous", 12: "bin"}',
    '10: "rendezvous", 11: "bin"}',
  ]),
  fault('cause-of-no-connection-ignored', 'session', 'endings: the cause for which there is no connection', [
    SESSION,
    '    if cause is not None:\n        return cause\n',
    '',
  ]),
  fault('status-429-is-no-hub', 'session', 'endings: status 429 is taken for an answer of something else', [
    SESSION,
    'status in (408, 429)',
    'status == 408',
  ]),
  fault('status-408-is-no-hub', 'session', 'endings: status 408 is taken for an answer of something else', [
    SESSION,
    'status in (408, 429)',
    'status == 429',
  ]),
  fault(
    'psks-looked-up-in-lower-case',
    'session',
    'psk: stored ones are looked up by the node id in lower case',
    [SESSION, 'self.psks.get(self.node_id)', 'self.psks.get(self.node_id.lower())'],
  ),
  fault(
    'salt-of-a-normalized-node-id',
    'psk session',
    ['psk: the node id is normalized to NFC', 'psk: the salt hashes the node id in NFC'],
    [
      'hub_protocol.py',
      'return hashlib.sha256(encode(node_id)).digest()',
      'import unicodedata\n    return hashlib.sha256(encode(unicodedata.normalize("NFC", node_id))).digest()',
    ],
  ),
  fault('on-is-no-flag', 'topics broker', 'flags: the word "on" is not read as true', [
    MQTT,
    '("1", "true", "yes", "on")',
    '("1", "true", "yes")',
  ]),
  fault(
    'status-403-is-no-refusal',
    'session',
    'endings: status 403 is taken for an answer of something else',
    [SESSION, 'in (401, 403)', 'in (401,)'],
  ),
  fault('close-1005-is-a-refusal', 'session', 'endings: close code 1005 is taken for a refusal', [
    SESSION,
    'if code == REFUSAL else',
    'if code in (1005, REFUSAL) else',
  ]),
  fault(
    'topics-swapped',
    'topics',
    [
      'topics: the topics to publish on and to subscribe to are swapped',
      'topics: in stands where out does',
      'topics: out stands where in does',
    ],
    [
      MQTT,
      '"publish": f"{scope}in", "subscribe": f"{scope}out"',
      '"publish": f"{scope}out", "subscribe": f"{scope}in"',
    ],
  ),
  fault('topics-hashed-with-sha-1', 'topics', 'topics: the access key is hashed with sha1', [
    MQTT,
    'hashlib.sha256(encode(key)).hexdigest()[:16]',
    'hashlib.sha1(encode(key)).hexdigest()[:16]',
  ]),
  fault('other-default-prefix', 'topics', 'topics: thalovant stands where hivemind does', [
    MQTT,
    '(prefix or "hivemind")',
    '(prefix or "thalovant")',
  ]),
  fault('port-1883-with-tls', 'broker', 'broker: the default port of mqtts is 1883', [
    MQTT,
    '"mqtts": 8883',
    '"mqtts": 1883',
  ]),
  fault('port-0', 'broker', 'port: 0 is taken', [
    MQTT,
    'not 1 <= int(parts[3] or 1) <= 65535',
    'not 0 <= int(parts[3] or 1) <= 65535',
  ]),
  fault('presence-not-retained', 'presence', 'presence: retain is false', [
    MQTT,
    '"qos": 1, "retain": True',
    '"qos": 1, "retain": False',
  ]),
  fault('access-key-first', 'authorization', 'authorization: the access key comes first', [
    'authorization.py',
    'f"{user_agent}:{access_key}"',
    'f"{access_key}:{user_agent}"',
  ]),
  fault('access-key-not-escaped', 'authorization', 'authorization: it is not percent-encoded', [
    'authorization.py',
    "urllib.parse.quote(authorization, safe='')",
    'authorization',
  ]),
  fault('access-key-slash-kept', 'authorization', 'authorization: its / is not percent-encoded', [
    'authorization.py',
    "safe=''",
    "safe='/'",
  ]),
  fault('access-key-in-base64url', 'authorization', 'authorization: it is base64url', [
    'authorization.py',
    'base64.b64encode',
    'base64.urlsafe_b64encode',
  ]),
  fault('earlier-access-key-kept', 'authorization', 'authorization: an earlier one of the address stays', [
    'authorization.py',
    'and name_of(field) != "authorization"',
    '',
  ]),
  fault('pins-in-lower-case', 'session', 'pins: they are looked up by the node id in lower case', [
    SESSION,
    'self.pins.get(self.node_id)',
    'self.pins.get(self.node_id.lower())',
  ]),
  fault('prologue-names-xx', 'session', 'prologue: it names XXpsk2 where KKpsk0 is used', [
    SESSION,
    'protocol.protocol_name(pattern, suite))',
    'protocol.protocol_name("XXpsk2", suite))',
  ]),
  fault('suspect-pin-used', 'session', 'pin: KKpsk0 is used although the pin is suspect', [
    SESSION,
    'uses_pin = self.pin is not None and not self.is_suspect',
    'uses_pin = self.pin is not None',
  ]),
  fault('pin-not-kept', 'session', 'pin: a suspect pin is replaced where it is to be kept', [
    SESSION,
    'not (self.is_suspect and self.replaces_pins)',
    'not self.is_suspect',
  ]),
  fault('own-hello-fields-win', 'session', 'HELLO: a field that the caller gives does not replace', [
    SESSION,
    '{"session": {"session_id": handshake_hash[:16].hex()}, **self.own_hello}',
    '{**self.own_hello, "session": {"session_id": handshake_hash[:16].hex()}}',
  ]),
  fault('every-hub-is-new', 'session', 'new-hub: it comes where the client has no pins at all', [
    SESSION,
    'if self.pins and self.pin is None:',
    'if self.pin is None:',
  ]),
  fault('announcement-names-the-site', 'session', 'announcement: its site_id is "', [
    SESSION,
    '{"pubkey": None, "site_id": ""}',
    '{"pubkey": None, "site_id": self.own_hello["site_id"]}',
  ]),
  fault('first-hello-kept', 'session', 'HELLO: the first one is kept', [
    SESSION,
    '        if "node_id" not in payload:\n',
    '        if self.state == "awaiting-offer":\n            return\n        if "node_id" not in payload:\n',
  ]),
  fault(
    'bytes-before-the-session-refused',
    'session',
    'envelopes: one that arrives as bytes before the session',
    [
      SESSION,
      '        if self.transport is None:\n',
      '        if self.transport is None and isinstance(data, bytes):\n            raise Refused("not-authentic")\n        if self.transport is None:\n',
    ],
  ),
  fault('text-that-is-not-json-sent', 'session', 'send: a text that is not JSON is sent as JSON', [
    SESSION,
    'raise Refused("not-json")',
    'pass',
  ]),
  fault('message-2-payload-unread', 'session', 'message 2: its payload is not read', [
    SESSION,
    'fields = read_sealed_payload(self.handshake.read(message))',
    'fields = {} if self.handshake.read(message) else {}',
  ]),
  fault('encoding-not-told', 'session', 'ready: it does not tell the encoding', [
    SESSION,
    'encoding=encoding)',
    'encoding=None)',
  ]),
  fault('message-2-a-byte-less', 'session', 'limit: a payload of message 2 of 64 bytes or fewer', [
    SESSION,
    'len(message) > MESSAGE_2_FIELDS',
    'len(message) >= MESSAGE_2_FIELDS',
  ]),
  fault('message-1-of-one-name', 'session', 'message 1: one that names only the pattern or only the suite', [
    'hub_envelopes.py',
    '"pattern" in noise or "suite" in noise',
    '"pattern" in noise and "suite" in noise',
  ]),
  fault('first-message-swallowed', 'session', 'HELLO: a first message that is none is swallowed', [
    SESSION,
    '            if hello.get("error") != "no-hello":\n                return\n',
    '            return\n',
  ]),
  fault('hub-takes-any-pattern', 'session', 'negotiation: a hub takes a pattern that it did not offer', [
    SESSION,
    'if self.pattern not in self.patterns or',
    'if self.pattern not in protocol.PATTERNS or',
  ]),
  fault(
    'hub-binds-a-bare-offer',
    'session',
    'prologue: a hub binds only the fields of its HELLO or HANDSHAKE',
    [
      SESSION,
      'self.suite, self.hello, self.offer, self.psk',
      'self.suite, self.hello, {name: self.offer[name] for name in ("max_protocol_version", "noise")}, self.psk',
    ],
  ),
  fault('ends-of-hubs-swapped', 'session', 'closed, ended.reason is "', [
    SESSION,
    'return "dropped" if self.established else "refused", "never"',
    'return "refused" if self.established else "dropped", "never"',
  ]),
  fault('first-chunk-always-json', 'split', 'markers: the first chunk of a binary message has 2', [
    'hub_protocol.py',
    'else (BINARY, FIRST_BINARY)',
    'else (BINARY, FIRST_JSON)',
  ]),
  fault('escaped-slash-refused', 'canonical-json', 'JSON: the escape \\/ is refused', [
    'hub_protocol.py',
    '        hooks = {"parse_int"',
    '        if "\\\\/" in text.replace("\\\\\\\\", ""):\n            raise Refused("bad-json")\n        hooks = {"parse_int"',
  ]),
  fault('no-slash-before-the-query', 'authorization', 'authorization: an address without a path gets none', [
    'authorization.py',
    'path = "" if parts[3] else "/"',
    'path = ""',
  ]),
  fault('message-2-names-the-pattern', 'session', 'message 2: it names pattern or suite', [
    SESSION,
    'yield shake(msg=self.handshake.write(b"{}").hex())',
    'yield shake(pattern=self.pattern, msg=self.handshake.write(b"{}").hex())',
  ]),
  fault('xx-before-kk', 'select', 'selection: XXpsk2 is taken before KKpsk0', [
    'hub_protocol.py',
    'for pattern in ["KKpsk0", "XXpsk2"] if pinned',
    'for pattern in ["XXpsk2", "KKpsk0"] if pinned',
  ]),
  fault('broker-with-a-path', 'broker', 'broker: the URL has a path', [
    MQTT,
    '(path.removesuffix("/") if scheme[:2] == "ws" else "")',
    'path.removesuffix("/")',
  ]),
  fault('topics-with-dollar', 'topics', 'accepts what has to be refused, such as: ', [
    MQTT,
    '|^\\$|^/',
    '|^/',
  ]),
];

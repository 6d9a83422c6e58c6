/** Faults planted in the sessions of ports/python, and in what it says of addresses, topics and access keys. */
import { type Fault, fault } from './fault.ts';

const SESSION = 'hub_session.py';
const MQTT = 'mqtt_topics.py';

export const PYTHON_SESSION_FAULTS: readonly Fault[] = [
  fault('case-of-types-folded', 'session', 'accepts what has to be refused, such as: the type in capitals', [
    'hub_envelopes.py',
    'kind = envelope["msg_type"]\n',
    'kind = envelope["msg_type"].lower()\n',
  ]),
  fault(
    'repaired-payload',
    'session',
    [],
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
  fault('psk-blamed-for-kk', 'session', 'psk-suspect: the event comes where it is not due', [
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
  fault('version-3-exactly', 'session', 'refuses what has to be accepted, such as: version 4', [
    'hub_envelopes.py',
    'float(version.token) < 3',
    'float(version.token) != 3',
  ]),
  fault('version-not-needed', 'session', 'accepts what has to be refused: no version', [
    'hub_envelopes.py',
    'payload.get("max_protocol_version")\n',
    'payload.get("max_protocol_version", protocol.Number("3"))\n',
  ]),
  fault(
    'any-node-id',
    'session',
    [
      'accepts what has to be refused, such as: an empty node_id',
      'accepts what has to be refused: a node id of 4097 bytes; a node id of 4097 bytes, in fewer characters',
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
  fault(
    'hub-offers-kk-to-all',
    'session',
    [],
    [SESSION, 'if pattern != "KKpsk0" or client_key is not None]', 'if True]'],
  ),
  fault(
    'hub-takes-any-suite',
    'session',
    [],
    [SESSION, 'or self.suite not in self.suites:', 'or self.suite not in protocol.SUITES:'],
  ),
  fault(
    'hub-takes-any-key',
    'session',
    'accepts what has to be refused, such as: another client key than the pinned one',
    [SESSION, 'elif self.client_key != key:', 'elif False:'],
  ),
  fault('hub-ready-at-message-2', 'session', 'ready: a hub is ready under KKpsk0', [
    SESSION,
    '            self.state = "awaiting-first-message"  # message 1 alone may be a replay',
    '            self.state = "ready"\n            yield self.ready',
  ]),
  fault('status-403-is-a-loss', 'session', 'closed, ended.reason is "dropped" where it is "refused"', [
    SESSION,
    'in (401, 403)',
    'in (401,)',
  ]),
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
  fault(
    'port-0',
    'broker',
    'accepts what has to be refused: mqtts://broker.example:0; mqtts://broker.example:00; mqtts://[2001:db8::1]:0',
    [MQTT, 'not 1 <= int(parts[3] or 1) <= 65535', 'not 0 <= int(parts[3] or 1) <= 65535'],
  ),
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
  fault(
    'earlier-access-key-kept',
    'authorization',
    [],
    ['authorization.py', 'and name_of(field) != "authorization"', ''],
  ),
];

/**
 * What a porter may do wrong on a connection, and in the Noise that he writes himself: written from the rules of
 * docs/reference/protocol.md by somebody who had not read which mistakes the judge knows. Planted in this library and in peers.ts.
 */
import { type Fault, fault, type Patch } from './fault.ts';

const PEERS = 'test/judge/peers.ts';
const MQTT_PEERS = 'test/judge/mqtt-peers.ts';
const CLIENT = 'src/session/client-handshake.ts';
const HUB = 'src/session/hub-handshake.ts';
const CHANNEL = 'src/session/channel.ts';
const HANDSHAKE = 'src/noise/handshake.ts';
const SYMMETRIC = 'src/noise/symmetric-state.ts';
const CIPHER = 'src/noise/cipher-state.ts';
const URL = 'src/identity/authorized-url.ts';

const NOISE = 'handshake session';
const TALKS = 'first-contact messages';
const ECHOES =
  "event.kind === 'json' ? session.sendJson(write(event.text)) : session.sendBinary(event.bytes)";
const CLOSES = "if (event.type === 'close' && !stays) socket.close(event.code);";

/** Sends JSON back in binary messages. */
const ECHOES_BYTES: Patch = [
  PEERS,
  ECHOES,
  "session.sendBinary(event.kind === 'json' ? new TextEncoder().encode(event.text) : event.bytes)",
];
/** Sends back no more than the first chunk. */
const ECHOES_START: Patch = [
  PEERS,
  'session.sendBinary(event.bytes)',
  'session.sendBinary(event.bytes.slice(0, 65000))',
];
/** Sends back zeros. */
const ECHOES_ZEROS: Patch = [
  PEERS,
  'session.sendBinary(event.bytes)',
  'session.sendBinary(event.bytes.fill(0))',
];
/** Sends JSON back with the keys in another order, and numbers as it reads them. */
const ECHOES_READ: Patch = [
  PEERS,
  'session.sendJson(write(event.text))',
  'session.sendJson(JSON.stringify([event.text]))',
];
const SAYS_MORE: Patch = [
  PEERS,
  CLOSES,
  `if (event.type === 'close') socket.send('{"error":true}');\n    ${CLOSES}`,
];
const SAYS_WHY: Patch = [
  PEERS,
  CLOSES,
  "if (event.type === 'close' && !stays) socket.close(event.code, event.error.code);",
];
const ENVELOPES_AS_BYTES: Patch = [
  PEERS,
  'socket.send(change(event.data));',
  "socket.send(typeof event.data === 'string' ? Buffer.from(event.data) : event.data);",
];
const SEALED_AS_TEXT: Patch = [
  PEERS,
  'socket.send(change(event.data));',
  "socket.send(typeof event.data === 'string' ? event.data : Buffer.from(event.data).toString('hex'));",
];
const LARGE_CHUNKS: Patch = [
  'src/limits.ts',
  'export const MAX_CHUNK: number = 65000;',
  'export const MAX_CHUNK: number = 65518;',
];

export const PORTER_LIBRARY_FAULTS: readonly Fault[] = [
  fault('es-and-se-swapped-by-the-client', NOISE, 'keys: es and se are swapped by the initiator', [
    HANDSHAKE,
    "token.charAt(this.isInitiator ? 0 : 1) === 'e' ? this.e! : this.s;\n    const remote = token.charAt(this.isInitiator ? 1 : 0) ===",
    "(token === 'ee' || token === 'ss' || !this.isInitiator ? token : token === 'es' ? 'se' : 'es').charAt(this.isInitiator ? 0 : 1) === 'e' ? this.e! : this.s;\n    const remote = (token === 'ee' || token === 'ss' || !this.isInitiator ? token : token === 'es' ? 'se' : 'es').charAt(this.isInitiator ? 1 : 0) ===",
  ]),
  fault('chaining-key-from-zeros', NOISE, 'chaining key: it starts as zeros', [
    SYMMETRIC,
    'this.chainingKey = copyBytes(this.hash);',
    'this.chainingKey = new Uint8Array(KEY_LENGTH);',
  ]),
  fault('hash-after-data', NOISE, 'hash: MixHash hashes the data before h', [
    SYMMETRIC,
    'this.crypto.sha256(this.hash, data)',
    'this.crypto.sha256(data, this.hash)',
  ]),
  fault('split-of-32-zeros', NOISE, 'split: HKDF gets 32 zeros as its input', [
    SYMMETRIC,
    'this.mixKey(EMPTY); // with',
    'this.mixKey(new Uint8Array(32)); // with',
  ]),
  fault('tag-before-the-ciphertext', 'handshake seal open session', 'tag: it comes before the ciphertext', [
    CIPHER,
    'const sealed = this.cipher!.seal(this.nonce, associatedData, buffer);\n',
    'const last = this.cipher!.seal(this.nonce, associatedData, buffer);\n    const sealed = new Uint8Array([...last.subarray(-16), ...last.subarray(0, -16)]);\n',
  ]),
  fault(
    'first-payload-in-clear',
    NOISE,
    'payload: the payload of message 1 is sent in the clear',
    [
      SYMMETRIC,
      '    const temporaryKey = this.crypto',
      '    this.mixed++;\n    const temporaryKey = this.crypto',
    ],
    [
      SYMMETRIC,
      '  private chainingKey: Uint8Array;\n',
      '  private chainingKey: Uint8Array;\n  private mixed = 0;\n',
    ],
    [
      SYMMETRIC,
      '    const sealed = this.keyedCipherState().encryptWithAd(withRoom(plaintext), this.hash);\n',
      '    const sealed = this.mixed < 2 ? copyBytes(plaintext) : this.keyedCipherState().encryptWithAd(withRoom(plaintext), this.hash);\n',
    ],
    [
      SYMMETRIC,
      '    const plaintext = this.keyedCipherState().decryptWithAd(this.hash, sealed);\n',
      '    const plaintext = this.mixed < 2 ? copyBytes(sealed) : this.keyedCipherState().decryptWithAd(this.hash, sealed);\n',
    ],
  ),
  fault(
    'handshake-hash-too-early',
    NOISE,
    [
      'handshake hash: it is not h as it stands after the last message (Noise spec, section 11.2), though all messages are right',
      'session id: it is another one',
    ],
    [
      SYMMETRIC,
      '  private hash: Uint8Array;\n',
      '  private hash: Uint8Array;\n  private before: Uint8Array = EMPTY;\n',
    ],
    [
      SYMMETRIC,
      '    this.hash = this.crypto.sha256(this.hash, data);',
      '    this.before = this.hash;\n    this.hash = this.crypto.sha256(this.hash, data);',
    ],
    [SYMMETRIC, 'return copyBytes(this.hash);', 'return copyBytes(this.before);'],
  ),
  fault('low-order-keys-by-a-list', NOISE, 'low-order key: it is accepted', [
    HANDSHAKE,
    'if (isZero(sharedSecret)) {',
    'if (isZero(publicKey)) {',
  ]),
  fault('psk-at-both-ends', NOISE, 'psk: the psk token of XXpsk2 stands as in psk0', [
    'src/noise/patterns.ts',
    "messages: [['e'], ['e', 'ee', 's', 'es', 'psk'], ['s', 'se']]",
    "messages: [['psk', 'e'], ['e', 'ee', 's', 'es', 'psk'], ['s', 'se']]",
  ]),
  fault(
    'static-key-in-clear',
    NOISE,
    's is sent in the clear',
    [
      HANDSHAKE,
      'this.symmetricState.encryptAndHash(this.s.publicKey)',
      '(this.symmetricState.mixHash(this.s.publicKey), this.s.publicKey)',
    ],
    [
      HANDSHAKE,
      'this.rs = this.open(field, errors.staticKeyNotAuthentic);',
      'this.rs = copyBytes(field);\n        this.symmetricState.mixHash(this.rs);',
    ],
    [
      HANDSHAKE,
      "work.read += token === 'e' ? KEY_LENGTH : KEY_LENGTH + TAG_LENGTH;",
      'work.read += KEY_LENGTH;',
    ],
    [HANDSHAKE, 'length += KEY_LENGTH + TAG_LENGTH;', 'length += KEY_LENGTH;'],
  ),
  fault(
    'names-taken-from-message-3',
    'session',
    'message 3: it is refused as one without pattern and suite',
    [
      HUB,
      'const { handshake } = this;\n    if (handshake === undefined) throw errors.nothingChosen();',
      "const { handshake } = this;\n    if (handshake === undefined || ownField(readNoise(payload)!, 'pattern') === undefined) throw errors.nothingChosen();",
    ],
  ),
  fault('message-3-names-the-pattern', 'session', 'message 3: it names pattern or suite', [
    CLIENT,
    'this.sendNoise({ msg: bytesToHex(message) });',
    'this.sendNoise({ pattern: this.pattern!, msg: bytesToHex(message) });',
  ]),
];

export const PORTER_CLIENT_FAULTS: readonly Fault[] = [
  fault(
    'client-echoes-json-as-bytes',
    TALKS,
    'kind: a JSON message comes back as a binary one',
    ECHOES_BYTES,
  ),
  fault('client-echoes-the-start', TALKS, 'content: only the start of a message comes back', ECHOES_START),
  fault(
    'client-echoes-zeros',
    TALKS,
    'content: the message that comes back has another content than the one that was sent',
    ECHOES_ZEROS,
  ),
  fault(
    'client-echoes-wrapped-json',
    TALKS,
    'content: the message that comes back has another content than the one that was sent',
    ECHOES_READ,
  ),
  fault('client-has-no-user-agent', 'first-contact', 'authorization: it has no user agent', [
    URL,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is source
    'utf8ToBytes(`${userAgent}:${accessKey}`)',
    'utf8ToBytes(accessKey)',
  ]),
  fault('client-does-not-encode-its-access-key', 'first-contact', 'authorization: it is not base64', [
    URL,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is source
    'const base64 = bytesToBase64(utf8ToBytes(`${userAgent}:${accessKey}`));',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is source
    'bytesToBase64(utf8ToBytes(accessKey));\n  const base64 = `${userAgent}:${accessKey}`;',
  ]),
  fault(
    'client-forgets-its-pins',
    'first-contact reconnect changed-key',
    'the connection goes on where it must end: The hub has another key than the pinned one: it is refused.',
    [PEERS, "if (event.type === 'pin') pins.set(event.nodeId, event.key);", ''],
  ),
  fault('client-sends-no-hello', TALKS, 'HELLO: there is no sealed HELLO', [
    CLIENT,
    "for (let i = 0; i < messages.length; i++) channel.emit({ type: 'transmit', data: messages[i]! });",
    '',
  ]),
  fault('client-greets-in-clear', TALKS, 'HELLO: it is sent in the clear once more', [
    CLIENT,
    "const messages = channel.seal('json', jsonToBytes(composeEnvelope('hello', greeting)));",
    "const messages = [writeEnvelope('hello', greeting)];",
  ]),
  fault(
    'client-greets-before-message-3',
    TALKS,
    'order: a sealed message comes before the handshake is done',
    [
      CLIENT,
      '      this.sendNoise({ msg: bytesToHex(message) });\n      this.finish(handshake);',
      '      this.finish(handshake);\n      this.sendNoise({ msg: bytesToHex(message) });',
    ],
  ),
  fault(
    'client-says-why',
    'first-contact changed-key close-reasons',
    'close reason: it reveals to the hub why message 2 was refused',
    SAYS_WHY,
  ),
  fault(
    'client-goes-on-after-a-failure',
    'first-contact flipped-bit',
    'failure: a text message follows it',
    SAYS_MORE,
  ),
  fault(
    'client-sends-envelopes-as-bytes',
    TALKS,
    'envelopes: they are sent in binary messages of the WebSocket',
    ENVELOPES_AS_BYTES,
  ),
  fault(
    'client-sends-sealed-messages-as-text',
    TALKS,
    'transport: sealed messages are sent as text',
    SEALED_AS_TEXT,
  ),
  fault(
    'client-sends-large-chunks',
    TALKS,
    'chunk limit: a frame has more than 65000 bytes, not counting the marker',
    LARGE_CHUNKS,
  ),
  fault(
    'client-takes-a-new-site-for-a-new-password',
    'first-contact',
    'password: the client closes after message 2, as it must if its password is another one',
    [PEERS, 'hexToBytes(DERIVED)!', 'hexToBytes(DERIVED)!.reverse()'],
  ),
  fault(
    'client-counts-both-directions-together',
    TALKS,
    [],
    [
      CHANNEL,
      '    this.peerProved = true;\n',
      '    this.peerProved = true;\n    (this.cipherStates!.sending as never as { countUp(): void }).countUp();\n',
    ],
  ),
];

export const PORTER_HUB_FAULTS: readonly Fault[] = [
  fault('hub-echoes-json-as-bytes', TALKS, 'kind: a JSON message comes back as a binary one', ECHOES_BYTES),
  fault('hub-echoes-the-start', TALKS, 'content: only the start of a message comes back', ECHOES_START),
  fault(
    'hub-echoes-zeros',
    TALKS,
    'content: the message that comes back has another content than the one that was sent',
    ECHOES_ZEROS,
  ),
  fault(
    'hub-echoes-wrapped-json',
    TALKS,
    'content: the message that comes back has another content than the one that was sent',
    ECHOES_READ,
  ),
  fault(
    'hub-goes-on-after-a-failure',
    'first-contact flipped-bit',
    'failure: a text message follows it',
    SAYS_MORE,
  ),
  fault(
    'hub-sends-envelopes-as-bytes',
    TALKS,
    'envelopes: they are sent in binary messages of the WebSocket',
    ENVELOPES_AS_BYTES,
  ),
  fault(
    'hub-sends-large-chunks',
    TALKS,
    'chunk limit: a frame has more than 65000 bytes, not counting the marker',
    LARGE_CHUNKS,
  ),
  fault('hub-offers-before-it-greets', 'first-contact', 'order: the offer comes before HELLO', [
    'src/session/hub-options.ts',
    "[writeEnvelope('hello', helloPayload), writeEnvelope('shake', offer)]",
    "[writeEnvelope('shake', offer), writeEnvelope('hello', helloPayload)]",
  ]),
  fault(
    'hub-has-a-new-node-id-each-time',
    'first-contact still-there',
    'node id: the hub has a different one than before',
    [
      PEERS,
      'nodeId: NODE_ID, staticKey, randomBytes, psk: SHARED_PSK, clientKey }',
      'nodeId, staticKey, randomBytes, psk: SHARED_PSK, clientKey }',
    ],
    [
      PEERS,
      "  server.on('connection', (socket) => {\n",
      "  server.on('connection', (socket) => {\n    const nodeId = clientKey === undefined ? NODE_ID : NODE_ID + 2;\n",
    ],
  ),
  fault('hub-waits-for-the-client', 'first-contact', 'order: the hub waits for the client', [
    PEERS,
    'handle(session, socket, session.start(), faults);',
    "socket.once('message', () => handle(session, socket, session.start(), faults));",
  ]),
  fault(
    'hub-takes-the-access-key-for-the-user-agent',
    'first-contact',
    [],
    [
      PEERS,
      'admit(accessKeyOf(req.url!) === accessKey, 401)',
      'admit(accessKeyOf(req.url!) === "judge:".concat(accessKey), 401)',
    ],
  ),
  fault(
    'hub-accepts-low-order-keys-and-any-access-key',
    'first-contact unknown-access-key low-order-key',
    [
      'the connection goes on where it must end: The ephemeral key in message 1 is of low order.',
      'admission: an access key that was never issued is let in',
    ],
    [HANDSHAKE, 'if (isZero(sharedSecret)) {', 'if (sharedSecret.length === 0) {'],
    [PEERS, 'admit(accessKeyOf(req.url!) === accessKey, 401)', 'admit(req.url !== accessKeyOf, 401)'],
  ),
];

export const PORTER_MQTT_CLIENT_FAULTS: readonly Fault[] = [
  fault(
    'mqtt-client-has-a-new-id-each-time',
    'first-contact clean-session',
    'client id: it changes, so that the will of an earlier connection may end a later session',
    [MQTT_PEERS, "clientId: 'test-client',", 'clientId: String(Math.random()),'],
  ),
  fault(
    'mqtt-client-asks-for-an-old-session',
    'first-contact clean-session',
    'clean session: the broker keeps messages of one session for the next, which cannot decrypt them',
    [MQTT_PEERS, 'clean: true,', 'clean: false,'],
  ),
  fault(
    'mqtt-client-echoes-the-start',
    'first-contact messages',
    'content: only the start of a message comes back',
    [MQTT_PEERS, 'session.sendBinary(event.bytes)', 'session.sendBinary(event.bytes.slice(0, 65000))'],
  ),
];

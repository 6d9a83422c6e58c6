/** Faults that only a connection shows, one for each set of scenes: planted in this library and in the client and the hub of peers.ts. */
import { type Fault, fault, type Patch } from './fault.ts';

const SOME = 'first-contact small-chunks still-there';
const CLIENT = 'src/session/client-handshake.ts';
const HANDSHAKE = 'src/noise/handshake.ts';
const PEERS = 'test/judge/peers.ts';
const URL = 'src/identity/authorized-url.ts';
const ESCAPED = "base64.replace(/\\+/g, '%2B').replace(/\\//g, '%2F').replace(/=/g, '%3D')";
const SESSION = 'src/session/channel.ts';
const TALKS = 'first-contact messages';
const ECHOES =
  "event.kind === 'json' ? session.sendJson(write(event.text)) : session.sendBinary(event.bytes)";
const CLOSES = "if (event.type === 'close' && !stays) socket.close(event.code);";
const CREATES_EPHEMERAL = 'this.e ??= newEphemeral(this.crypto, this.randomBytes!, this.s);';
const HUB = 'src/session/hub-handshake.ts';
const CLIENT_REPEATED: Patch = [
  CLIENT,
  'newEphemeral(crypto, plan.options.randomBytes, this.staticKey)',
  'crypto.keyPair(new Uint8Array(32).fill(9))',
];
const ZEROS: Patch = [HANDSHAKE, 'if (isZero(sharedSecret))', 'if (sharedSecret.length === 0)'];
const STAYS: Patch = [PEERS, "event.type === 'close' && !stays", "event.type === 'close' && stays"];
const IGNORES_TEXT: Patch = [
  SESSION,
  "if (input !== undefined || typeof data === 'string') throw errors.textAfterReady();",
  "if (typeof data === 'string') return;",
];
const REWRITES: Patch = [PEERS, 'write(event.text)', 'JSON.stringify(JSON.parse(event.text))'];
/** Sends JSON back in binary messages. */
const ECHOES_BYTES: Patch = [
  PEERS,
  ECHOES,
  "session.sendBinary(event.kind === 'json' ? new TextEncoder().encode(event.text) : event.bytes)",
];
const SAYS_WHY: Patch = [
  PEERS,
  CLOSES,
  "if (event.type === 'close' && !stays) socket.close(event.code, event.error.code);",
];
const SAYS_MORE: Patch = [
  PEERS,
  CLOSES,
  `if (event.type === 'close') socket.send('{"error":true}');\n    ${CLOSES}`,
];
const REPEATED: Patch = [
  HANDSHAKE,
  CREATES_EPHEMERAL,
  'this.e = this.crypto.keyPair(new Uint8Array(32).fill(9));',
];

export const CLIENT_FAULTS: readonly Fault[] = [
  fault('client-repeats-ephemeral-key', SOME, CLIENT_REPEATED),
  fault('client-accepts-zeros', 'first-contact low-order-key', ZEROS),
  fault('client-ignores-its-pin', 'first-contact changed-key', [
    PEERS,
    'keyring: { staticKey, pins: entriesOf(pins, suspects),',
    'keyring: { staticKey, pins: [],',
  ]),
  fault('client-has-a-new-static-key-each-time', 'first-contact still-there', [
    PEERS,
    'keyring: { staticKey, pins',
    'keyring: { staticKey: randomBytes(32), pins',
  ]),
  fault('client-repeats-a-failed-kk', 'first-contact failed-kk after-failed-kk', [
    PEERS,
    "if (event.type === 'pin-suspect') suspects.add(event.nodeId);",
    '',
  ]),
  fault('client-drops-a-pin-that-differs', 'first-contact changed-key changed-key-again', [
    PEERS,
    "if (event.type === 'psk-suspect') psks.delete(event.nodeId);",
    "if (event.type === 'close' && event.error.code === 'hub-key-changed') pins.clear();",
  ]),
  fault('client-has-one-psk', 'first-contact another-hub', [
    PEERS,
    'faults.psk ?? pskFor(event.nodeId)',
    'faults.psk ?? SHARED_PSK',
  ]),
  fault('client-has-one-pin', 'first-contact another-hub-key', [
    CLIENT,
    'findHub(keyring.pins, nodeId)',
    'keyring.pins[0]',
  ]),
  fault('client-keeps-a-wrong-psk', 'first-contact forgotten-psk', [
    PEERS,
    "if (event.type === 'psk-suspect') psks.delete(event.nodeId);",
    '',
  ]),
  fault('client-does-not-close', 'first-contact flipped-bit', STAYS),
  fault('client-names-no-site', SOME, [
    CLIENT,
    'const greeting = mergeFields({ pubkey: null, session }, hello);',
    'const greeting = mergeFields({ pubkey: null, session }, { ...hello, site_id: null });',
  ]),
  fault('client-names-no-session', SOME, [
    CLIENT,
    'const greeting = mergeFields({ pubkey: null, session }, hello);',
    "const greeting = mergeFields({ pubkey: null, session: 'default' }, hello);",
  ]),
  fault('client-writes-base64url', 'first-contact', [
    URL,
    ESCAPED,
    "encodeURIComponent(base64.replace(/\\+/g, '-').replace(/\\x2f/g, '_'))",
  ]),
  fault('client-leaves-out-padding', 'first-contact', [
    URL,
    ESCAPED,
    "encodeURIComponent(base64.replace(/=+$/, ''))",
  ]),
  fault('client-escapes-no-plus', 'first-contact', [URL, ESCAPED, 'base64']),
  fault('client-takes-32-kib', 'first-contact messages', [
    PEERS,
    'new WebSocket(url, faults.socket)',
    'new WebSocket(url, { maxPayload: 32768 })',
  ]),
  fault('client-accepts-version-2', 'first-contact version', [
    'src/wire/handshake.ts',
    'number >= PROTOCOL_VERSION',
    'number >= 2',
  ]),
  fault('client-ignores-text', 'first-contact text', IGNORES_TEXT),
  fault('client-answers-no-ping', 'first-contact ping', [
    PEERS,
    'new WebSocket(url, faults.socket)',
    'new WebSocket(url, { autoPong: false })',
  ]),
  fault('client-masks-with-zeros', 'first-contact masks', [
    PEERS,
    'new WebSocket(url, faults.socket)',
    'new WebSocket(url, { generateMask: (mask) => { mask.fill(0); } })',
  ]),
  fault('client-rewrites-json', 'first-contact verbatim', REWRITES),
  fault('client-echoes-json-as-bytes', TALKS, ECHOES_BYTES),
  fault('client-has-no-user-agent', 'first-contact', [
    URL,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is source
    'utf8ToBytes(`${userAgent}:${accessKey}`)',
    'utf8ToBytes(accessKey)',
  ]),
  fault('client-forgets-its-pins', 'first-contact reconnect changed-key', [
    PEERS,
    "if (event.type === 'pin') pins.set(event.nodeId, event.key);",
    '',
  ]),
  fault('client-says-why', 'first-contact changed-key close-reasons', SAYS_WHY),
  fault('client-goes-on-after-a-failure', 'first-contact flipped-bit', SAYS_MORE),
];

export const HUB_FAULTS: readonly Fault[] = [
  fault('hub-repeats-ephemeral-key', SOME, REPEATED),
  fault('hub-accepts-zeros', 'first-contact low-order-key', ZEROS),
  fault('hub-lets-any-access-key-in', 'first-contact unknown-access-key', [
    PEERS,
    'admit(accessKeyOf(req.url!) === accessKey, 401)',
    'admit(req.url !== accessKeyOf, 401)',
  ]),
  fault('hub-closes-with-1000', 'first-contact other-prologue damaged-message-3', [
    PEERS,
    'socket.close(event.code);',
    'socket.close(1000);',
  ]),
  fault('hub-sends-no-close-frame', 'first-contact other-prologue', [
    PEERS,
    'socket.close(event.code);',
    'socket.terminate();',
  ]),
  fault('hub-takes-32-kib', 'first-contact messages', [
    PEERS,
    'port: 0,\n    verifyClient',
    'port: 0,\n    maxPayload: 32768,\n    verifyClient',
  ]),
  fault('hub-says-why', 'first-contact truncated-message-1 damaged-message-3 close-reasons', [
    PEERS,
    'socket.close(event.code);',
    'socket.close(event.code, event.error.code);',
  ]),
  fault('hub-accepts-any-static-key', 'first-contact other-static-key', [
    HUB,
    '} else if (!equalBytes(this.clientKey, key)) {',
    '} else if (this.clientKey.length !== key.length) {',
  ]),
  fault('hub-has-a-new-static-key-each-time', 'first-contact still-there', [
    PEERS,
    'nodeId: NODE_ID, staticKey,',
    'nodeId: NODE_ID, staticKey: randomBytes(32),',
  ]),
  fault('hub-does-not-close', 'first-contact flipped-bit', STAYS),
  fault('hub-ignores-text', 'first-contact text', IGNORES_TEXT),
  fault('hub-has-another-password', 'first-contact', [PEERS, 'hexToBytes(DERIVED)!', 'randomBytes(32)']),
  fault(
    'hub-offers-no-xx',
    'first-contact',
    [PEERS, 'psk: SHARED_PSK, clientKey };', "psk: SHARED_PSK, clientKey, patterns: ['KKpsk0'] };"],
    ['src/session/hub-options.ts', "assertIncludes(patterns, OFFERED_PATTERNS[0]!, 'patterns');", ''],
  ),
  fault('hub-sends-nothing-back', 'first-contact messages ping not-utf8', [
    PEERS,
    "event.type === 'message' && !silent",
    "event.type === 'message' && silent",
  ]),
  fault('hub-rewrites-json', 'first-contact verbatim', REWRITES),
  fault('hub-echoes-json-as-bytes', TALKS, ECHOES_BYTES),
  fault('hub-goes-on-after-a-failure', 'first-contact flipped-bit', SAYS_MORE),
  fault('hub-offers-before-it-greets', 'first-contact', [
    'src/session/hub-options.ts',
    "[writeEnvelope('hello', helloPayload), writeEnvelope('shake', offer)]",
    "[writeEnvelope('shake', offer), writeEnvelope('hello', helloPayload)]",
  ]),
  fault(
    'hub-has-a-new-node-id-each-time',
    'first-contact still-there',
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
  fault(
    'hub-accepts-low-order-keys-and-any-access-key',
    'first-contact unknown-access-key low-order-key',
    [HANDSHAKE, 'if (isZero(sharedSecret)) {', 'if (sharedSecret.length === 0) {'],
    [PEERS, 'admit(accessKeyOf(req.url!) === accessKey, 401)', 'admit(req.url !== accessKeyOf, 401)'],
  ),
];

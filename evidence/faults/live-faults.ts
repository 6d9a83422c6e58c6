/** Faults that only a connection shows: planted in this library and in the client and the hub of peers.ts. */
import { type Fault, fault, type Patch } from './fault.ts';
import { PORTER_CLIENT_FAULTS, PORTER_HUB_FAULTS } from './porter-live-faults.ts';

const PEERS = 'test/judge/peers.ts';
const CLIENT = 'src/session/client-handshake.ts';
const HUB = 'src/session/hub-handshake.ts';
const HANDSHAKE = 'src/noise/handshake.ts';
const SESSION = 'src/session/channel.ts';
const URL = 'src/identity/authorized-url.ts';

const SOME = 'first-contact small-chunks still-there';
const CREATES_EPHEMERAL = 'this.e ??= newEphemeral(this.crypto, this.randomBytes!, this.s);';
const REPEATED: Patch = [
  HANDSHAKE,
  CREATES_EPHEMERAL,
  'this.e = this.crypto.keyPair(new Uint8Array(32).fill(9));',
];
const CLIENT_REPEATED: Patch = [
  CLIENT,
  'newEphemeral(crypto, plan.options.randomBytes, this.staticKey)',
  'crypto.keyPair(new Uint8Array(32).fill(9))',
];
const CLIENT_STATIC: Patch = [
  CLIENT,
  'this.ephemeralKey = newEphemeral(crypto, plan.options.randomBytes, this.staticKey);',
  'this.ephemeralKey = this.staticKey;',
];
const STATIC: Patch = [HANDSHAKE, CREATES_EPHEMERAL, 'this.e = this.s;'];
const ZEROS: Patch = [HANDSHAKE, 'if (isZero(sharedSecret))', 'if (sharedSecret.length === 0)'];
const STAYS: Patch = [PEERS, "event.type === 'close' && !stays", "event.type === 'close' && stays"];
const ESCAPED = "base64.replace(/\\+/g, '%2B').replace(/\\//g, '%2F').replace(/=/g, '%3D')";
const IGNORES_TEXT: Patch = [
  SESSION,
  "if (input !== undefined || typeof data === 'string') throw errors.textAfterReady();",
  "if (typeof data === 'string') return;",
];

const SENDS = 'socket.send(change(event.data));';
const UNMASKED: Patch = [PEERS, SENDS, 'socket.send(change(event.data), { mask: false });'];
const MASKED: Patch = [PEERS, SENDS, 'socket.send(change(event.data), { mask: true });'];
const REWRITES: Patch = [PEERS, 'write(event.text)', 'JSON.stringify(JSON.parse(event.text))'];

export const CLIENT_FAULTS: readonly Fault[] = [
  fault('client-repeats-ephemeral-key', SOME, 'ephemeral key: it was used before', CLIENT_REPEATED),
  fault('client-uses-static-key-as-ephemeral', SOME, 'ephemeral key: it is the static key', CLIENT_STATIC),
  fault(
    'client-accepts-zeros',
    'first-contact low-order-key',
    'the connection goes on where it must end: The ephemeral key in message 2 is of low order.',
    ZEROS,
  ),
  fault(
    'client-ignores-its-pin',
    'first-contact changed-key',
    'the connection goes on where it must end: The hub has another key than the pinned one: it is refused.',
    [PEERS, 'keyring: { staticKey, pins: entriesOf(pins, suspects),', 'keyring: { staticKey, pins: [],'],
  ),
  fault(
    'client-has-a-new-static-key-each-time',
    'first-contact still-there',
    'static key: the client has a different one',
    [PEERS, 'keyring: { staticKey, pins', 'keyring: { staticKey: randomBytes(32), pins'],
  ),
  fault(
    'client-repeats-a-failed-kk',
    'first-contact failed-kk after-failed-kk',
    'pin: after a KKpsk0 that failed the client tries KKpsk0 again',
    [PEERS, "if (event.type === 'pin-suspect') suspects.add(event.nodeId);", ''],
  ),
  fault(
    'client-drops-a-pin-that-differs',
    'first-contact changed-key changed-key-again',
    'the connection goes on where it must end: The pin stays: another key is refused the next time, too.',
    [
      PEERS,
      "if (event.type === 'psk-suspect') psks.delete(event.nodeId);",
      "if (event.type === 'close' && event.error.code === 'hub-key-changed') pins.clear();",
    ],
  ),
  fault(
    'client-has-one-psk',
    'first-contact another-hub',
    'psk: the client uses the PSK of one hub for another',
    [PEERS, 'faults.psk ?? pskFor(event.nodeId)', 'faults.psk ?? SHARED_PSK'],
  ),
  fault(
    'client-stores-one-psk',
    'first-contact another-hub',
    'psk: the client uses the PSK of one hub for another',
    [CLIENT, 'findHub(keyring.psks, nodeId)', 'keyring.psks[0]'],
  ),
  fault(
    'client-has-one-pin',
    'first-contact another-hub-key',
    'pin: the client compares the key of one hub',
    [CLIENT, 'findHub(keyring.pins, nodeId)', 'keyring.pins[0]'],
  ),
  fault('client-dials-at-once', 'first-contact back-off', 'back-off: the client dials again immediately', [
    PEERS,
    'setTimeout(dial, wait);',
    'setTimeout(dial, wait & 0);',
  ]),
  fault('client-keeps-a-wrong-psk', 'first-contact forgotten-psk', 'psk: the client keeps a PSK', [
    PEERS,
    "if (event.type === 'psk-suspect') psks.delete(event.nodeId);",
    '',
  ]),
  fault(
    'client-does-not-close',
    'first-contact flipped-bit',
    'the connection goes on where it must end: Ends the session: a message with one bit changed.',
    STAYS,
  ),
  fault('client-names-no-site', SOME, 'HELLO: its site_id is null; it is a string', [
    CLIENT,
    'const greeting = mergeFields({ pubkey: null, session }, hello);',
    'const greeting = mergeFields({ pubkey: null, session }, { ...hello, site_id: null });',
  ]),
  fault('client-names-no-session', SOME, 'HELLO: the sealed HELLO lacks session.session_id', [
    CLIENT,
    'const greeting = mergeFields({ pubkey: null, session }, hello);',
    "const greeting = mergeFields({ pubkey: null, session: 'default' }, hello);",
  ]),
  fault('client-writes-base64url', 'first-contact', 'authorization: it is base64url', [
    URL,
    ESCAPED,
    "encodeURIComponent(base64.replace(/\\+/g, '-').replace(/\\x2f/g, '_'))",
  ]),
  fault('client-leaves-out-padding', 'first-contact', 'authorization: its padding is missing', [
    URL,
    ESCAPED,
    "encodeURIComponent(base64.replace(/=+$/, ''))",
  ]),
  fault('client-escapes-no-plus', 'first-contact', 'authorization: its + is not percent-encoded', [
    URL,
    ESCAPED,
    'base64',
  ]),
  fault('client-has-another-access-key', 'first-contact', 'access key: the client and the judge', [
    PEERS,
    "authorizedUrl(address, 'test', accessKey,",
    "authorizedUrl(address, 'test', accessKey.slice(1),",
  ]),
  fault('client-takes-32-kib', 'first-contact messages', 'close code 1009: a message was too big', [
    PEERS,
    'new WebSocket(url, faults.socket)',
    'new WebSocket(url, { maxPayload: 32768 })',
  ]),
  fault(
    'client-accepts-version-2',
    'first-contact version',
    'the connection goes on where it must end: The client refuses a hub below protocol 3.',
    ['src/wire/handshake.ts', 'number >= PROTOCOL_VERSION', 'number >= 2'],
  ),
  fault(
    'client-ignores-text',
    'first-contact text',
    'the connection goes on where it must end: Ends the session: a text message that repeats nothing of the handshake.',
    IGNORES_TEXT,
  ),
  fault(
    'client-has-another-password',
    'first-contact messages',
    'password: the client closes after message 2',
    [PEERS, 'hexToBytes(DERIVED)!', 'randomBytes(32)'],
  ),
  fault('client-answers-no-ping', 'first-contact ping', 'WebSocket: a ping is not answered', [
    PEERS,
    'new WebSocket(url, faults.socket)',
    'new WebSocket(url, { autoPong: false })',
  ]),
  fault(
    'client-masks-with-zeros',
    'first-contact masks',
    'WebSocket: frames of a client are masked with zeros',
    [
      PEERS,
      'new WebSocket(url, faults.socket)',
      'new WebSocket(url, { generateMask: (mask) => { mask.fill(0); } })',
    ],
  ),
  fault('client-does-not-mask', 'first-contact', 'WebSocket: a frame of the client is not masked', UNMASKED),
  fault(
    'client-rewrites-json',
    'first-contact verbatim',
    'messages: JSON is parsed and written again',
    REWRITES,
  ),
  ...PORTER_CLIENT_FAULTS,
];

export const HUB_FAULTS: readonly Fault[] = [
  fault('hub-repeats-ephemeral-key', SOME, 'ephemeral key: it was used before', REPEATED),
  fault('hub-uses-static-key-as-ephemeral', SOME, 'ephemeral key: it is the static key', STATIC),
  fault(
    'hub-accepts-zeros',
    'first-contact low-order-key',
    'the connection goes on where it must end: The ephemeral key in message 1 is of low order.',
    ZEROS,
  ),
  fault(
    'hub-lets-any-access-key-in',
    'first-contact unknown-access-key',
    'admission: an access key that was never issued is let in',
    [PEERS, 'admit(accessKeyOf(req.url!) === accessKey, 401)', 'admit(req.url !== accessKeyOf, 401)'],
  ),
  fault(
    'hub-closes-with-1000',
    'first-contact other-prologue damaged-message-3',
    'close code: a handshake that cannot be completed ends with 1008, not 1000',
    [PEERS, 'socket.close(event.code);', 'socket.close(1000);'],
  ),
  fault(
    'hub-sends-no-close-frame',
    'first-contact other-prologue',
    'close code: a handshake that cannot be completed ends with 1008, not 1006',
    [PEERS, 'socket.close(event.code);', 'socket.terminate();'],
  ),
  fault('hub-takes-32-kib', 'first-contact messages', 'close code 1009: a message was too big', [
    PEERS,
    'port: 0,\n    verifyClient',
    'port: 0,\n    maxPayload: 32768,\n    verifyClient',
  ]),
  fault(
    'hub-says-why',
    'first-contact truncated-message-1 damaged-message-3 close-reasons',
    'close reason: it reveals to the peer why the handshake failed',
    [PEERS, 'socket.close(event.code);', 'socket.close(event.code, event.error.code);'],
  ),
  fault(
    'hub-accepts-any-static-key',
    'first-contact other-static-key',
    'the connection goes on where it must end: The client has another static key than the pinned one.',
    [
      HUB,
      '} else if (!equalBytes(this.clientKey, key)) {',
      '} else if (this.clientKey.length !== key.length) {',
    ],
  ),
  fault(
    'hub-has-a-new-static-key-each-time',
    'first-contact still-there',
    'static key: the hub has another one',
    [PEERS, 'nodeId: NODE_ID, staticKey,', 'nodeId: NODE_ID, staticKey: randomBytes(32),'],
  ),
  fault(
    'hub-does-not-close',
    'first-contact flipped-bit',
    'the connection goes on where it must end: Ends the session: a message with one bit changed.',
    STAYS,
  ),
  fault(
    'hub-ignores-text',
    'first-contact text',
    'the connection goes on where it must end: Ends the session: a text message that repeats nothing of the handshake.',
    IGNORES_TEXT,
  ),
  fault('hub-has-another-password', 'first-contact', 'password: the payload of message 2', [
    PEERS,
    'hexToBytes(DERIVED)!',
    'randomBytes(32)',
  ]),
  fault(
    'hub-offers-no-xx',
    'first-contact',
    'offer: it lacks XXpsk2',
    [PEERS, 'psk: SHARED_PSK, clientKey };', "psk: SHARED_PSK, clientKey, patterns: ['KKpsk0'] };"],
    ['src/session/hub-options.ts', "assertIncludes(patterns, OFFERED_PATTERNS[0]!, 'patterns');", ''],
  ),
  fault('hub-masks-its-frames', 'first-contact', 'WebSocket: a frame of the hub is masked', MASKED),
  fault('hub-sends-nothing-back', 'first-contact messages ping not-utf8', 'echo: nothing is ever sent back', [
    PEERS,
    "event.type === 'message' && !silent",
    "event.type === 'message' && silent",
  ]),
  fault(
    'hub-rewrites-json',
    'first-contact verbatim',
    'messages: JSON is parsed and written again',
    REWRITES,
  ),
  ...PORTER_HUB_FAULTS,
];

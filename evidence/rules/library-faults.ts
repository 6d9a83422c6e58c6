/** Faults planted in the sources of this library, each of which breaks a rule (test/judge/faults). */
import { type Fault, fault } from './fault.ts';

const SYMMETRIC = 'src/noise/symmetric-state.ts';
const NOISE = 'handshake session';
const PATTERNS = 'src/noise/patterns.ts';
const HANDSHAKE = 'src/noise/handshake.ts';
const CIPHER = 'src/noise/cipher-state.ts';
const WRITE = 'src/wire/write-json.ts';
const PARSE = 'src/wire/parse-json.ts';
const CLIENT = 'src/session/client-handshake.ts';
const HUB = 'src/session/hub-handshake.ts';
const BROKER = 'src/mqtt-topics/broker-endpoint.ts';
const TOPICS = 'src/mqtt-topics/topics.ts';
const ENDPOINT = 'src/identity/endpoint.ts';
const FIELDS = 'src/issued/fields.ts';
const COLLECTOR = 'src/requests/reply-collector.ts';

export const LIBRARY_FAULTS: readonly Fault[] = [
  fault('psk0-instead-of-psk2', NOISE, [
    PATTERNS,
    "messages: [['e'], ['e', 'ee', 's', 'es', 'psk'], ['s', 'se']]",
    "messages: [['psk', 'e'], ['e', 'ee', 's', 'es'], ['s', 'se']]",
  ]),
  fault('e-not-in-the-key', NOISE, [
    HANDSHAKE,
    'this.symmetricState.mixHash(ephemeral);\n    this.symmetricState.mixKey(ephemeral);',
    'this.symmetricState.mixHash(ephemeral);',
  ]),
  fault('own-static-key-hashed-first', NOISE, [
    HANDSHAKE,
    'this.symmetricState.mixHash(this.isInitiator ? this.s.publicKey : this.rs);\n      this.symmetricState.mixHash(this.isInitiator ? this.rs : this.s.publicKey);',
    'this.symmetricState.mixHash(this.s.publicKey);\n      this.symmetricState.mixHash(this.rs);',
  ]),
  fault('prologue-not-hashed', NOISE, [HANDSHAKE, 'this.symmetricState.mixHash(prologue);', '']),
  fault('empty-prologue-skipped', NOISE, [
    HANDSHAKE,
    'this.symmetricState.mixHash(prologue);',
    'if (prologue.length > 0) this.symmetricState.mixHash(prologue);',
  ]),
  fault('name-always-hashed', NOISE, [SYMMETRIC, 'name.length <= KEY_LENGTH', 'name.length < KEY_LENGTH']),
  fault('counter-never-advances', NOISE, [
    CIPHER,
    'const byte = (this.nonce[at]! + 1) & 0xff;',
    'const byte = this.nonce[at]! & 0xff;',
  ]),
  fault('counter-of-one-byte', 'seal', [CIPHER, 'if (byte !== 0) return;', 'return;']),
  fault('counters-big-endian', NOISE, [
    CIPHER,
    "this.cipherName === 'ChaChaPoly' ? 4 + i : NONCE_LENGTH - 1 - i",
    'NONCE_LENGTH - 1 - i',
  ]),
  fault('counters-little-endian', NOISE, [
    CIPHER,
    "this.cipherName === 'ChaChaPoly' ? 4 + i : NONCE_LENGTH - 1 - i",
    '4 + i',
  ]),
  fault('split-swapped', NOISE, [
    SYMMETRIC,
    'initiator.initializeKey(copyBytes(this.chainingKey));\n      responder.initializeKey(this.output(2, this.chainingKey));',
    'responder.initializeKey(copyBytes(this.chainingKey));\n    initiator.initializeKey(this.output(2, this.chainingKey));',
  ]),
  fault('top-bit-masked', NOISE, [
    HANDSHAKE,
    'this.re = this.mixEphemeral(copyBytes(field));',
    'field[31]! &= 0x7f;\n        this.re = this.mixEphemeral(copyBytes(field));',
  ]),
  fault('trailing-bytes-ignored', NOISE, [
    HANDSHAKE,
    'this.open(work.input.subarray(work.read), errors.payloadNotAuthentic)',
    'this.open(this.pattern.staticKeysKnown || this.nextMessage < 2 ? work.input.subarray(work.read) : work.input.subarray(work.read, work.read + 16), errors.payloadNotAuthentic)',
  ]),
  fault(
    'oversized-messages-read',
    'handshake open',
    [
      'src/noise/cipher-state.ts',
      'assertMessageLength(message, TAG_LENGTH, MAX_NOISE_MESSAGE);',
      'assertMessageLength(message, TAG_LENGTH, 2 * MAX_NOISE_MESSAGE);',
    ],
    [
      'src/noise/handshake.ts',
      'Math.min(shortest + maxPayload, MAX_NOISE_MESSAGE)',
      'shortest + 2 * maxPayload',
    ],
  ),
  fault('goes-on-after-failure', 'open session', [
    'src/noise/transport.ts',
    'this.end();\n    return this.guard.fail(error);',
    'return error as RemoteError;',
  ]),
  fault('keys-by-utf16', 'canonical-json prologue session', [
    WRITE,
    'utf8Length(all) === all.length ? keys.sort() : sortByCodePoint(keys)',
    'keys.sort()',
  ]),
  fault('upper-case-escapes', 'canonical-json prologue', [
    WRITE,
    'bytesToHex(new Uint8Array([unit]))',
    'bytesToHex(new Uint8Array([unit])).toUpperCase()',
  ]),
  fault('tab-as-u0009', 'canonical-json prologue', [
    WRITE,
    'const at = ESCAPED.',
    'const at = unit === 9 ? -1 : ESCAPED.',
  ]),
  fault('delete-escaped', 'canonical-json prologue session', [
    'src/bytes.ts',
    'point > 0x5c\n          ? point < 0x80\n',
    'point > 0x5c\n          ? point < 0x7f || (point === 0x7f && escapeOf === undefined)\n',
  ]),
  fault('control-characters-in-strings', 'canonical-json', [
    PARSE,
    'if (byte < 0x20)\n',
    'if (byte === 0)\n',
  ]),
  fault('text-after-the-value', 'canonical-json session', [
    PARSE,
    "if (scanner.at < bytes.length) throw malformed(bytes, 'something follows the value', scanner);",
    '',
  ]),
  fault('prologue-name-first', 'prologue', [
    'src/wire/prologue.ts',
    '[canonicalJson(hello), canonicalJson(handshake), utf8ToBytes(protocolName)]',
    '[utf8ToBytes(protocolName), canonicalJson(hello), canonicalJson(handshake)]',
  ]),
  fault('hubs-order-of-suites', 'select session', [
    'src/session/negotiation.ts',
    'ownSuites.filter((name) => suites.indexOf(name) >= 0)[0]',
    '(suites as Suite[]).filter((name) => ownSuites.indexOf(name) >= 0)[0]',
  ]),
  fault('kk-without-a-pin', 'select session', [
    'src/session/negotiation.ts',
    "pinned && patterns.indexOf('KKpsk0') >= 0 ?",
    "patterns.indexOf('KKpsk0') >= 0 ?",
  ]),
  fault('kk-not-offered', 'select session', [
    'src/session/negotiation.ts',
    "pinned && patterns.indexOf('KKpsk0') >= 0 ? 'KKpsk0' : 'XXpsk2';\n  if (patterns.indexOf(pattern) < 0)",
    "pinned ? 'KKpsk0' : 'XXpsk2';\n  if (!pinned && patterns.indexOf(pattern) < 0)",
  ]),
  fault('xx-assumed', 'select session', [
    'src/session/negotiation.ts',
    'if (patterns.indexOf(pattern) < 0) throw errors.noCommonPattern();\n',
    '',
  ]),
  fault('psk-memory', 'psk', ['src/session/psk.ts', 'memoryKiB: 65536', 'memoryKiB: 19456']),
  fault('psk-passes', 'psk', ['src/session/psk.ts', 'passes: 3', 'passes: 1']),
  fault('psk-lanes', 'psk', ['src/session/psk.ts', 'parallelism: 1', 'parallelism: 4']),
  fault('psk-salt-cut', 'psk session', [
    'src/session/psk.ts',
    "salt: salt ?? pskSalt(crypto as Pick<CryptoProvider, 'sha256'>, nodeId as string)",
    "salt: salt ?? pskSalt(crypto as Pick<CryptoProvider, 'sha256'>, nodeId as string).slice(0, 16)",
  ]),
  fault('psk-password-normalized', 'psk', [
    'src/session/psk.ts',
    '    password,\n    salt: salt ??',
    '    password: (password as string).normalize(),\n    salt: salt ??',
  ]),
  fault('chunks-of-64000', 'split session', [
    'src/limits.ts',
    'MAX_CHUNK: number = 65000',
    'MAX_CHUNK: number = 64000',
  ]),
  fault('kinds-swapped', 'split session', [
    'src/wire/markers.ts',
    "return kind === 'json' ? MARKER_FIRST_JSON : MARKER_FIRST_BINARY;",
    "return kind === 'json' ? MARKER_FIRST_BINARY : MARKER_FIRST_JSON;",
  ]),
  fault('first-marker-repeated', 'split session', [
    'src/wire/markers.ts',
    'return index < count - 1 ? MARKER_MIDDLE : MARKER_FINAL;',
    "return index < count - 1 ? (kind === 'json' ? MARKER_FIRST_JSON : MARKER_FIRST_BINARY) : MARKER_FINAL;",
  ]),
  fault(
    'cap-one-too-many',
    'reassemble',
    [
      'src/wire/frame-joiner.ts',
      'if (length > this.maxMessage) return {',
      'if (length > this.maxMessage + 1) return {',
    ],
    [
      'src/wire/frame-joiner.ts',
      'if (this.length > this.maxMessage) this.destroy();',
      'if (this.length > this.maxMessage + 1) this.destroy();',
    ],
  ),
  fault('orphan-chunks-passed-over', 'reassemble session', [
    'src/wire/frame-joiner.ts',
    'if (kind === undefined) throw errors.chunkWithoutStart();',
    'if (kind === undefined) return undefined;',
  ]),
  fault('unknown-markers-ignored', 'reassemble session', [
    'src/wire/frame-joiner.ts',
    'if (marker > MARKER_FINAL) throw',
    'if (marker > MARKER_FINAL) return undefined;\n    if (false) throw',
  ]),
  fault('pin-not-compared', 'session', [
    CLIENT,
    'const isPinned = pin !== undefined && equalBytes(pin, key);',
    'const isPinned = pin !== undefined && pin.length === key.length;',
  ]),
  fault('pinned-at-every-xx', 'session', [
    CLIENT,
    'if (!isPinned || isSuspect) {',
    "if (this.pattern === 'XXpsk2') {",
  ]),
  fault('pin-kept-after-failed-kk', 'session', [
    CLIENT,
    "if (this.pattern === 'KKpsk0') this.doubtPin();\n",
    '',
  ]),
  fault('unknown-fields-not-bound', 'session', [
    CLIENT,
    'this.prologue = canonicalJson(payload);',
    'this.prologue = canonicalJson({ node_id: payload.node_id! });',
  ]),
  fault('pattern-in-message-3', 'session', [
    CLIENT,
    'this.sendNoise({ msg: bytesToHex(message) });',
    'this.sendNoise({ pattern: this.pattern!, suite: this.suite!, msg: bytesToHex(message) });',
  ]),
  fault('version-2-accepted', 'session', [
    'src/wire/handshake.ts',
    'number >= PROTOCOL_VERSION',
    'number >= 2',
  ]),
  fault('upper-case-hex-refused', 'session', [
    'src/wire/handshake.ts',
    'const bytes = message === undefined ? undefined : hexToBytes(message);',
    'const bytes = message === undefined || /[A-F]/.test(message) ? undefined : hexToBytes(message);',
  ]),
  fault('any-pattern-accepted', 'session', [
    HUB,
    'if (this.patterns.indexOf(pattern as Pattern) < 0 || this.suites.indexOf(suite as Suite) < 0) {',
    'if (this.suites.indexOf(suite as Suite) < 0) {',
  ]),
  fault('any-client-key', 'session', [
    HUB,
    '} else if (!equalBytes(this.clientKey, key)) {',
    '} else if (this.clientKey.length !== key.length) {',
  ]),
  fault('ready-at-message-2', 'session', [
    HUB,
    "this.channel.reach('written');\n    this.establish(handshake);",
    "this.channel.state = 'ready';\n    this.establish(handshake);\n    this.emitReady(this.message1Payload!);",
  ]),
  fault('text-delivered-after-ready', 'session', [
    'src/session/channel.ts',
    "if (input !== undefined || typeof data === 'string') throw errors.textAfterReady();",
    "if (input !== undefined) throw errors.textAfterReady();\n      if (typeof data === 'string') return;",
  ]),
  fault('lost-session-ignored', 'session', [
    'src/session/inputs.ts',
    "return isText ? input !== 'other' : input === 'noise-with-choice' || input === 'noise';",
    "return input !== 'other';",
  ]),
  fault('tls-flag-ignored', 'broker endpoint', [
    BROKER,
    'const scheme = tls && WITHOUT_TLS',
    'const scheme = tls === null && WITHOUT_TLS',
  ]),
  fault('wrong-default-port', 'broker endpoint', [
    BROKER,
    'port: parts.port ?? PORTS[scheme]!',
    'port: parts.port ?? PORTS[parts.scheme]!',
  ]),
  fault('topics-not-checked', 'topics', [
    TOPICS,
    'if (topic.indexOf(start) !== 0 || !isInside) {',
    "if (topic.indexOf(start) !== 0 && topic === '') {",
  ]),
  fault('topics-of-another-client', 'topics', [
    TOPICS,
    'const isInside =\n    ids === undefined ||',
    'const isInside =\n    true ||\n    ids === undefined ||',
  ]),
  fault('wildcards-accepted', 'topics', [TOPICS, "topic.indexOf('+') < 0 &&", '']),
  fault('hash-of-16-bytes', 'topics', [TOPICS, ".slice(0, 16) : ''", ".slice(0, 32) : ''"]),
  fault('client-id-whole-cut', 'client-id', [
    'src/mqtt-topics/client-id.ts',
    '.slice(0, MAX_CLIENT_ID_KEY)}`;',
    '}`.slice(0, MAX_CLIENT_ID_KEY);',
  ]),
  fault('https-before-wss', 'endpoint', [
    ENDPOINT,
    "= ['wss', 'https', 'mqtt'];",
    "= ['https', 'wss', 'mqtt'];",
  ]),
  fault('false-is-true', 'identity', [
    FIELDS,
    "const FALSE = ['0', 'false', 'no', 'off'];",
    "const FALSE = ['0', 'false'];",
  ]),
  fault('password-shown', 'identity', [
    'src/identity/redact.ts',
    'let secrets = [accessKey, password, cryptoKey];',
    'let secrets = [accessKey, cryptoKey];',
  ]),
  fault('session-ids-equal', 'session-ids reply', [
    'src/requests/session-ids.ts',
    "return returned === declared || returned.slice(returned.indexOf(':') + 1) === declared;",
    'return returned === declared;',
  ]),
  fault('soft-failure-ends', 'reply schedule', [
    COLLECTOR,
    "failure: 'unmatched',\n    completion: 'completed',",
    "failure: 'unanswered',\n    completion: 'completed',",
  ]),
  fault('every-refusal-is-policy', 'reply', [
    'src/requests/refusal.ts',
    'return NOT_BY_POLICY.indexOf(refusal.code) < 0;',
    'return true;',
  ]),
  fault('request-without-input', 'request', ['src/requests/build-request.ts', 'data.input = input;', '']),
  fault('argon2id-own-lane-only', 'argon2id', [
    'src/noise/argon2id.ts',
    'pass === 0 && slice === 0 ? lane : j2 % this.lanes',
    'lane',
  ]),
];

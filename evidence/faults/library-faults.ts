/** Faults planted in the sources of this library. */
import { type Fault, fault } from './fault.ts';
import { PORTER_LIBRARY_FAULTS } from './porter-live-faults.ts';

const SYMMETRIC = 'src/noise/symmetric-state.ts';
const CIPHER = 'src/noise/cipher-state.ts';
const HANDSHAKE = 'src/noise/handshake.ts';
const PATTERNS = 'src/noise/patterns.ts';
const PARSE = 'src/wire/parse-json.ts';
const WRITE = 'src/wire/write-json.ts';
const CLIENT = 'src/session/client-handshake.ts';
const HUB = 'src/session/hub-handshake.ts';
const TOPICS = 'src/mqtt-topics/topics.ts';
const BROKER = 'src/mqtt-topics/broker-endpoint.ts';
const ENDPOINT = 'src/identity/endpoint.ts';
const FIELDS = 'src/issued/fields.ts';
const COLLECTOR = 'src/requests/reply-collector.ts';
const SPEAKABLE = 'src/requests/speakable.ts';
const NOISE = 'handshake session';

export const LIBRARY_FAULTS: readonly Fault[] = [
  // Noise
  fault('hkdf-mixkey-third-output', NOISE, 'HKDF: MixKey takes the third output', [
    SYMMETRIC,
    'this.output(number, temporaryHash ?? this.chainingKey)',
    'this.output(3, temporaryHash ?? this.output(2, this.chainingKey))',
  ]),
  fault(
    'hkdf-mixkey-outputs-swapped',
    NOISE,
    'HKDF: MixKey takes the first output as the key',
    [
      SYMMETRIC,
      'this.chainingKey = this.output(1, EMPTY);\n  }',
      'this.chainingKey = this.output(1, EMPTY);\n    if (isPskOrSplit) return;\n    this.cipherState.initializeKey(this.chainingKey);\n    this.chainingKey = this.output(2, this.chainingKey);\n    this.forgetOutputs();\n  }',
    ],
    [
      SYMMETRIC,
      'mixKey(inputKeyMaterial: Uint8Array)',
      'mixKey(inputKeyMaterial: Uint8Array, isPskOrSplit = false)',
    ],
    [SYMMETRIC, 'this.mixKey(inputKeyMaterial);', 'this.mixKey(inputKeyMaterial, true);'],
    [SYMMETRIC, 'this.mixKey(EMPTY);', 'this.mixKey(EMPTY, true);'],
  ),
  fault('hkdf-not-chained', NOISE, 'HKDF: the outputs do not chain', [
    SYMMETRIC,
    'previous, new Uint8Array([number])',
    'EMPTY, new Uint8Array([number])',
  ]),
  fault('hkdf-from-zero', NOISE, 'HKDF: the outputs are numbered from 0', [
    SYMMETRIC,
    'new Uint8Array([number])',
    'new Uint8Array([number - 1])',
  ]),
  fault('hkdf-inputs-swapped', NOISE, 'HKDF: the input is the key of the first HMAC', [
    SYMMETRIC,
    'this.crypto.hmacSha256(this.chainingKey, inputKeyMaterial)',
    'this.crypto.hmacSha256(inputKeyMaterial, this.chainingKey)',
  ]),
  fault('hkdf-plain-hash', NOISE, 'HKDF: its outputs are plain SHA-256', [
    SYMMETRIC,
    'this.crypto.hmacSha256(this.temporaryKey!, previous, new Uint8Array([number]))',
    'this.crypto.sha256(this.temporaryKey!, new Uint8Array([...previous, number]))',
  ]),
  fault('psk-outputs-swapped', NOISE, 'psk: the second output of HKDF becomes the key', [
    SYMMETRIC,
    'this.mixHash(this.temporaryHash);',
    'this.mixHash(this.output(3, this.temporaryHash));\n    this.cipherState.initializeKey(this.temporaryHash);\n    this.temporaryKey = this.temporaryHash = undefined;',
  ]),
  fault('psk-not-hashed', NOISE, 'psk: it is mixed into the key alone', [
    SYMMETRIC,
    'this.mixHash(this.temporaryHash);',
    '',
  ]),
  fault('psk-hashed-itself', NOISE, 'psk: the psk itself is hashed', [
    SYMMETRIC,
    'this.mixHash(this.temporaryHash);',
    'this.mixHash(inputKeyMaterial);',
  ]),
  fault('psk0-instead-of-psk2', NOISE, 'psk: the psk token of XXpsk2 stands as in psk0;', [
    PATTERNS,
    "messages: [['e'], ['e', 'ee', 's', 'es', 'psk'], ['s', 'se']]",
    "messages: [['psk', 'e'], ['e', 'ee', 's', 'es'], ['s', 'se']]",
  ]),
  fault('psk3-instead-of-psk2', NOISE, 'psk: the psk token of XXpsk2 stands as in psk3;', [
    PATTERNS,
    "messages: [['e'], ['e', 'ee', 's', 'es', 'psk'], ['s', 'se']]",
    "messages: [['e'], ['e', 'ee', 's', 'es'], ['s', 'se', 'psk']]",
  ]),
  fault('psk1-instead-of-psk2', NOISE, 'psk: the psk token of XXpsk2 stands as in psk1;', [
    PATTERNS,
    "messages: [['e'], ['e', 'ee', 's', 'es', 'psk'], ['s', 'se']]",
    "messages: [['e', 'psk'], ['e', 'ee', 's', 'es'], ['s', 'se']]",
  ]),
  fault(
    'psk0-and-named-so',
    NOISE,
    'psk: the psk token of XXpsk2 stands as in psk0, and the protocol name has psk0 too',
    [
      PATTERNS,
      "messages: [['e'], ['e', 'ee', 's', 'es', 'psk'], ['s', 'se']]",
      "messages: [['psk', 'e'], ['e', 'ee', 's', 'es'], ['s', 'se']]",
    ],
    [
      HANDSHAKE,
      'new SymmetricState(crypto, nameOf(pattern, suite), cipherNameOf(suite))',
      "new SymmetricState(crypto, nameOf(pattern, suite).replace('psk2', 'psk0'), cipherNameOf(suite))",
    ],
  ),
  fault('kk-psk1-instead-of-psk0', NOISE, 'psk: the psk token of KKpsk0 stands as in psk1;', [
    PATTERNS,
    "['psk', 'e', 'es', 'ss']",
    "['e', 'es', 'ss', 'psk']",
  ]),
  fault(
    'kk-psk2-instead-of-psk0',
    NOISE,
    'psk: the psk token of KKpsk0 stands as in psk2;',
    [PATTERNS, "['psk', 'e', 'es', 'ss']", "['e', 'es', 'ss']"],
    [PATTERNS, "['e', 'ee', 'se'],", "['e', 'ee', 'se', 'psk'],"],
  ),
  fault('psk-before-es', NOISE, 'token order: psk comes before es', [
    PATTERNS,
    "['e', 'ee', 's', 'es', 'psk']",
    "['e', 'ee', 's', 'psk', 'es']",
  ]),
  fault('kk-psk-after-e', NOISE, 'token order: e comes before psk', [
    PATTERNS,
    "['psk', 'e', 'es', 'ss']",
    "['e', 'psk', 'es', 'ss']",
  ]),
  fault('kk-ss-before-es', NOISE, 'token order: ss comes before es', [
    PATTERNS,
    "'es', 'ss']",
    "'ss', 'es']",
  ]),
  fault('kk-without-ss', NOISE, 'keys: the token ss is left out', [PATTERNS, "'es', 'ss']", "'es']"]),
  fault('kk-se-before-ee', NOISE, 'token order: se comes before ee', [
    PATTERNS,
    "['e', 'ee', 'se'],",
    "['e', 'se', 'ee'],",
  ]),
  fault('xx-es-before-s', NOISE, 'token order: es comes before s', [
    PATTERNS,
    "['e', 'ee', 's', 'es', 'psk']",
    "['e', 'ee', 'es', 's', 'psk']",
  ]),
  fault(
    'e-not-in-the-key',
    NOISE,
    'e is not mixed into the key: in patterns with a psk, e is MixHash and MixKey (Noise spec, section 9.2)',
    [
      HANDSHAKE,
      'this.symmetricState.mixHash(ephemeral);\n    this.symmetricState.mixKey(ephemeral);',
      'this.symmetricState.mixHash(ephemeral);',
    ],
  ),
  fault(
    'e-not-hashed',
    NOISE,
    'e is not mixed into the hash: in patterns with a psk, e is MixHash and MixKey (Noise spec, section 9.2)',
    [
      HANDSHAKE,
      'this.symmetricState.mixHash(ephemeral);\n    this.symmetricState.mixKey(ephemeral);',
      'this.symmetricState.mixKey(ephemeral);',
    ],
  ),
  fault('own-static-key-hashed-first', NOISE, 'pre-messages: one’s own static key is hashed first', [
    HANDSHAKE,
    'this.symmetricState.mixHash(this.isInitiator ? this.s.publicKey : this.rs);\n      this.symmetricState.mixHash(this.isInitiator ? this.rs : this.s.publicKey);',
    'this.symmetricState.mixHash(this.s.publicKey);\n      this.symmetricState.mixHash(this.rs);',
  ]),
  fault('pre-messages-left-out', NOISE, 'pre-messages: the static keys are not hashed', [
    HANDSHAKE,
    'this.symmetricState.mixHash(this.isInitiator ? this.s.publicKey : this.rs);\n      this.symmetricState.mixHash(this.isInitiator ? this.rs : this.s.publicKey);',
    '',
  ]),
  fault('prologue-not-hashed', NOISE, 'prologue: it is not mixed into the hash', [
    HANDSHAKE,
    'this.symmetricState.mixHash(prologue);',
    '',
  ]),
  fault('empty-prologue-skipped', NOISE, 'prologue: an empty one is not mixed into the hash', [
    HANDSHAKE,
    'this.symmetricState.mixHash(prologue);',
    'if (prologue.length > 0) this.symmetricState.mixHash(prologue);',
  ]),
  fault('name-always-hashed', NOISE, 'protocol name: it is hashed although it fits', [
    SYMMETRIC,
    'name.length <= KEY_LENGTH',
    'name.length < KEY_LENGTH',
  ]),
  fault('name-cut', NOISE, 'protocol name: it is cut to 32 bytes', [
    SYMMETRIC,
    'this.hash = crypto.sha256(name);',
    'this.hash = copyBytes(name.subarray(0, KEY_LENGTH));',
  ]),
  fault(
    'no-associated-data',
    NOISE,
    'associated data: there is none',
    [SYMMETRIC, 'encryptWithAd(withRoom(plaintext), this.hash)', 'encryptWithAd(withRoom(plaintext))'],
    [SYMMETRIC, 'decryptWithAd(this.hash, sealed)', 'decryptWithAd(EMPTY, sealed)'],
  ),
  fault(
    'plaintext-hashed',
    NOISE,
    'hash: the plaintext is mixed into it',
    [SYMMETRIC, 'this.mixHash(sealed);\n    return sealed;', 'this.mixHash(plaintext);\n    return sealed;'],
    [
      SYMMETRIC,
      'this.mixHash(sealed);\n    return plaintext;',
      'this.mixHash(plaintext);\n    return plaintext;',
    ],
  ),
  fault(
    'ciphertext-not-hashed',
    NOISE,
    'hash: nothing is mixed into it after encrypting',
    [SYMMETRIC, 'this.mixHash(sealed);\n    return sealed;', 'return sealed;'],
    [SYMMETRIC, 'this.mixHash(sealed);\n    return plaintext;', 'return plaintext;'],
  ),
  fault('counter-not-reset', NOISE, 'nonce: MixKey does not reset the counter', [
    CIPHER,
    'this.destroy();\n    wipe(this.nonce);',
    'this.destroy();',
  ]),
  fault('counter-never-advances', NOISE, 'nonce: the counter does not advance', [
    CIPHER,
    'const byte = (this.nonce[at]! + 1) & 0xff;',
    'const byte = this.nonce[at]! & 0xff;',
  ]),
  fault('counter-of-one-byte', 'seal', 'nonce: the counter has one byte', [
    CIPHER,
    'if (byte !== 0) return;',
    'return;',
  ]),
  fault(
    'counters-big-endian',
    NOISE,
    'nonce order: ChaChaPoly’s counter is little-endian, AESGCM’s is big-endian (Noise spec, section 12)',
    [CIPHER, "this.cipherName === 'ChaChaPoly' ? 4 + i : NONCE_LENGTH - 1 - i", 'NONCE_LENGTH - 1 - i'],
  ),
  fault(
    'counters-little-endian',
    NOISE,
    'nonce order: ChaChaPoly’s counter is little-endian, AESGCM’s is big-endian (Noise spec, section 12)',
    [CIPHER, "this.cipherName === 'ChaChaPoly' ? 4 + i : NONCE_LENGTH - 1 - i", '4 + i'],
  ),
  fault('counter-at-the-start', NOISE, 'nonce: the four zeros follow the counter', [
    CIPHER,
    "this.cipherName === 'ChaChaPoly' ? 4 + i : NONCE_LENGTH - 1 - i",
    "this.cipherName === 'ChaChaPoly' ? i : 7 - i",
  ]),
  fault('split-swapped', NOISE, 'split: each side sends with the other’s key', [
    SYMMETRIC,
    'initiator.initializeKey(copyBytes(this.chainingKey));\n      responder.initializeKey(this.output(2, this.chainingKey));',
    'responder.initializeKey(copyBytes(this.chainingKey));\n    initiator.initializeKey(this.output(2, this.chainingKey));',
  ]),
  fault('split-swapped-by-the-initiator', NOISE, 'split: as the initiator it sends with the second key', [
    HANDSHAKE,
    'symmetricState.split(isInitiator ? sending : receiving, isInitiator ? receiving : sending);',
    'symmetricState.split(receiving, sending);',
  ]),
  fault('split-swapped-by-the-responder', NOISE, 'split: as the responder it sends with the first key', [
    HANDSHAKE,
    'symmetricState.split(isInitiator ? sending : receiving, isInitiator ? receiving : sending);',
    'symmetricState.split(sending, receiving);',
  ]),
  fault('split-one-key', NOISE, 'split: both sides send with the same key', [
    SYMMETRIC,
    'responder.initializeKey(this.output(2, this.chainingKey));',
    'responder.initializeKey(copyBytes(this.chainingKey));',
  ]),
  fault('split-with-the-hash', NOISE, 'split: the keys are derived from the handshake hash too', [
    SYMMETRIC,
    'this.mixKey(EMPTY);',
    'this.mixKey(this.hash);',
  ]),
  fault('payload-of-message-3-left-out', NOISE, 'payload: an empty payload is left out', [
    HANDSHAKE,
    'work.parts.push(this.symmetricState.encryptAndHash(work.input));',
    'if (work.input.length > 0) work.parts.push(this.symmetricState.encryptAndHash(work.input));',
  ]),
  fault('zeros-accepted', NOISE, 'low-order key: it is accepted', [
    HANDSHAKE,
    'if (isZero(sharedSecret))',
    'if (sharedSecret.length === 0)',
  ]),
  fault(
    'top-bit-masked',
    NOISE,
    ['keys: the unused top bit of a public key is cleared', 'accepts what has to be refused'],
    [
      HANDSHAKE,
      'this.re = this.mixEphemeral(copyBytes(field));',
      'field[31]! &= 0x7f;\n        this.re = this.mixEphemeral(copyBytes(field));',
    ],
  ),
  fault(
    'trailing-bytes-ignored',
    NOISE,
    'refuses what has to be accepted: payload of message 3 as payload-not-',
    [
      HANDSHAKE,
      'this.open(work.input.subarray(work.read), errors.payloadNotAuthentic)',
      'this.open(this.pattern.staticKeysKnown || this.nextMessage < 2 ? work.input.subarray(work.read) : work.input.subarray(work.read, work.read + 16), errors.payloadNotAuthentic)',
    ],
  ),
  fault(
    'oversized-messages-read',
    'handshake open',
    [
      'accepts what has to be refused, such as: message 1 of 65536 bytes',
      'limit: a plaintext of more than 65519 bytes is taken',
    ],
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
  fault(
    'goes-on-after-failure',
    'open session',
    'a failure is final: after a message that cannot be decrypted or encrypted, send and accept nothing more',
    [
      'src/noise/transport.ts',
      'this.end();\n    return this.guard.fail(error);',
      'return error as RemoteError;',
    ],
  ),

  // JSON and the prologue
  fault('keys-by-utf16', 'canonical-json prologue session', 'key order: keys are sorted by UTF-16 unit', [
    WRITE,
    'utf8Length(all) === all.length ? keys.sort() : sortByCodePoint(keys)',
    'keys.sort()',
  ]),
  fault('keys-not-sorted', 'canonical-json prologue session', 'key order: keys are not sorted', [
    WRITE,
    'if (!canonical) return keys;',
    'if (!canonical || keys.length > 0) return keys;',
  ]),
  fault('upper-case-escapes', 'canonical-json prologue', 'escapes: the digits after \\u are in upper case', [
    WRITE,
    'bytesToHex(new Uint8Array([unit]))',
    'bytesToHex(new Uint8Array([unit])).toUpperCase()',
  ]),
  fault('tab-as-u0009', 'canonical-json prologue', 'escapes: \\u0009 is written instead of \\t', [
    WRITE,
    'const at = ESCAPED.',
    'const at = unit === 9 ? -1 : ESCAPED.',
  ]),
  fault('delete-escaped', 'canonical-json prologue session', 'escapes: U+007F is escaped', [
    'src/bytes.ts',
    'point > 0x5c\n          ? point < 0x80\n',
    'point > 0x5c\n          ? point < 0x7f || (point === 0x7f && escapeOf === undefined)\n',
  ]),
  fault(
    'numbers-rewritten',
    'canonical-json prologue session',
    'numbers: they are parsed and written again (1.0 as 1, long integers rounded)',
    [WRITE, 'out.writeText(checkedToken(value.token));', 'out.writeText(String(Number(value.token)));'],
  ),
  fault('depth-of-63', 'canonical-json', 'limit: 64 arrays and objects that are open at once', [
    'src/limits.ts',
    'MAX_JSON_DEPTH: number = 64',
    'MAX_JSON_DEPTH: number = 63',
  ]),
  fault(
    'last-of-two-keys',
    'canonical-json prologue session',
    [
      'JSON: a repeated key is accepted',
      'accepts what has to be refused: a key twice in the HELLO; a key twice in the HANDSHAKE, once escaped',
    ],
    [
      PARSE,
      'if (ownField(object, key) !== undefined) {',
      "if (ownField(object, key) !== undefined && key === '\\0') {",
    ],
  ),
  fault(
    'control-characters-in-strings',
    'canonical-json',
    'accepts what has to be refused: a line feed in a text; a tab in a text; U+001F in a key',
    [PARSE, 'if (byte < 0x20)\n', 'if (byte === 0)\n'],
  ),
  fault(
    'text-after-the-value',
    'canonical-json session',
    [
      'JSON: text after the value is accepted',
      'send: a text that is not JSON is sent as JSON',
      'accepts what has to be refused: a first byte without what must follow, after the value',
    ],
    [
      PARSE,
      "if (scanner.at < bytes.length) throw malformed(bytes, 'something follows the value', scanner);",
      '',
    ],
  ),
  fault('prologue-name-first', 'prologue', 'prologue: its parts are protocol name, HELLO, HANDSHAKE', [
    'src/wire/prologue.ts',
    '[canonicalJson(hello), canonicalJson(handshake), utf8ToBytes(protocolName)]',
    '[utf8ToBytes(protocolName), canonicalJson(hello), canonicalJson(handshake)]',
  ]),
  fault('prologue-without-hello', 'prologue', 'prologue: its parts are HANDSHAKE, protocol name;', [
    'src/wire/prologue.ts',
    '[canonicalJson(hello), canonicalJson(handshake), utf8ToBytes(protocolName)]',
    '[canonicalJson(handshake), utf8ToBytes(protocolName)]',
  ]),
  fault('prologue-with-line-feeds', 'prologue', 'prologue: "\\n" stands between its parts', [
    'src/wire/prologue.ts',
    '[canonicalJson(hello), canonicalJson(handshake), utf8ToBytes(protocolName)]',
    '[canonicalJson(hello), new Uint8Array([10]), canonicalJson(handshake), new Uint8Array([10]), utf8ToBytes(protocolName)]',
  ]),

  // Negotiation and PSK
  fault('hubs-order-of-suites', 'select session', 'selection: the hub’s list decides', [
    'src/session/negotiation.ts',
    'ownSuites.filter((name) => suites.indexOf(name) >= 0)[0]',
    '(suites as Suite[]).filter((name) => ownSuites.indexOf(name) >= 0)[0]',
  ]),
  fault(
    'kk-without-a-pin',
    'select session',
    ['selection: KKpsk0 is taken without a pin', 'pin: KKpsk0 is used although the pin is suspect'],
    [
      'src/session/negotiation.ts',
      "pinned && patterns.indexOf('KKpsk0') >= 0 ?",
      "patterns.indexOf('KKpsk0') >= 0 ?",
    ],
  ),
  fault('kk-not-offered', 'select session', 'selection: KKpsk0 is taken although it is not offered', [
    'src/session/negotiation.ts',
    "pinned && patterns.indexOf('KKpsk0') >= 0 ? 'KKpsk0' : 'XXpsk2';\n  if (patterns.indexOf(pattern) < 0)",
    "pinned ? 'KKpsk0' : 'XXpsk2';\n  if (!pinned && patterns.indexOf(pattern) < 0)",
  ]),
  fault(
    'xx-assumed',
    'select session',
    [
      'selection: XXpsk2 is taken although it is not offered',
      'accepts what has to be refused: what is required, to a client without a pin that may only use KKpsk0',
    ],
    [
      'src/session/negotiation.ts',
      'if (patterns.indexOf(pattern) < 0) throw errors.noCommonPattern();\n',
      '',
    ],
  ),
  fault('never-kk', 'select session', 'selection: KKpsk0 is never taken', [
    'src/session/negotiation.ts',
    "pinned && patterns.indexOf('KKpsk0') >= 0 ?",
    "pinned && patterns.indexOf('KK') >= 0 ?",
  ]),
  fault('psk-memory', 'psk', 'psk: Argon2id has 19456 KiB', [
    'src/session/psk.ts',
    'memoryKiB: 65536',
    'memoryKiB: 19456',
  ]),
  fault(
    'psk-memory-in-mebibytes',
    'psk',
    'psk: Argon2id has 64 KiB of memory: the library counts in other units',
    ['src/session/psk.ts', 'memoryKiB: 65536', 'memoryKiB: 64'],
  ),
  fault('psk-passes', 'psk', 'psk: Argon2id has a time cost of 1', [
    'src/session/psk.ts',
    'passes: 3',
    'passes: 1',
  ]),
  fault('psk-lanes', 'psk', 'psk: Argon2id has 4 lanes', [
    'src/session/psk.ts',
    'parallelism: 1',
    'parallelism: 4',
  ]),
  fault('psk-salt-cut', 'psk session', 'psk: the salt is half of the SHA-256', [
    'src/session/psk.ts',
    "salt: salt ?? pskSalt(crypto as Pick<CryptoProvider, 'sha256'>, nodeId as string)",
    "salt: salt ?? pskSalt(crypto as Pick<CryptoProvider, 'sha256'>, nodeId as string).slice(0, 16)",
  ]),
  fault('psk-password-normalized', 'psk', 'psk: the password is normalized to NFC', [
    'src/session/psk.ts',
    '    password,\n    salt: salt ??',
    '    password: (password as string).normalize(),\n    salt: salt ??',
  ]),

  // Framing
  fault('chunks-of-64000', 'split session', 'chunk limit: chunks hold 64000 bytes', [
    'src/limits.ts',
    'MAX_CHUNK: number = 65000',
    'MAX_CHUNK: number = 64000',
  ]),
  fault(
    'kinds-swapped',
    'split session',
    'markers: those of the first chunks of JSON and binary are swapped',
    [
      'src/wire/markers.ts',
      "return kind === 'json' ? MARKER_FIRST_JSON : MARKER_FIRST_BINARY;",
      "return kind === 'json' ? MARKER_FIRST_BINARY : MARKER_FIRST_JSON;",
    ],
  ),
  fault(
    'first-marker-repeated',
    'split session',
    [
      'markers: middle chunks have the marker of the first one, 2',
      'markers: middle chunks have the marker of the first one, 3',
    ],
    [
      'src/wire/markers.ts',
      'return index < count - 1 ? MARKER_MIDDLE : MARKER_FINAL;',
      "return index < count - 1 ? (kind === 'json' ? MARKER_FIRST_JSON : MARKER_FIRST_BINARY) : MARKER_FINAL;",
    ],
  ),
  fault(
    'cap-one-too-many',
    'reassemble',
    'cap: a message one byte longer than the limit is delivered',
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
  fault(
    'orphan-chunks-passed-over',
    'reassemble session',
    'accepts what has to be refused, such as: a final chunk at the start',
    [
      'src/wire/frame-joiner.ts',
      'if (kind === undefined) throw errors.chunkWithoutStart();',
      'if (kind === undefined) return undefined;',
    ],
  ),
  fault(
    'unknown-markers-ignored',
    'reassemble session',
    'accepts what has to be refused, such as: marker 06 at the start',
    [
      'src/wire/frame-joiner.ts',
      'if (marker > MARKER_FINAL) throw',
      'if (marker > MARKER_FINAL) return undefined;\n    if (false) throw',
    ],
  ),
  fault(
    'replacement-characters-delivered',
    'reassemble session',
    'UTF-8: a JSON message that is not UTF-8 is delivered',
    [
      'src/wire/frame-joiner.ts',
      'return delivered(bytesToUtf8(bytes), length);',
      'return delivered(new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes), length);',
    ],
  ),

  // Sessions
  fault('pin-not-compared', 'session', 'pin: a hub whose key is not the pinned one is accepted', [
    CLIENT,
    'const isPinned = pin !== undefined && equalBytes(pin, key);',
    'const isPinned = pin !== undefined && pin.length === key.length;',
  ]),
  fault('pinned-at-every-xx', 'session', 'pin: it comes for a hub that is pinned', [
    CLIENT,
    'if (!isPinned || isSuspect) {',
    "if (this.pattern === 'XXpsk2') {",
  ]),
  fault(
    'pin-kept-after-failed-kk',
    'session',
    'pin-suspect: it comes only where message 2 of KKpsk0 does not open',
    [CLIENT, "if (this.pattern === 'KKpsk0') this.doubtPin();\n", ''],
  ),
  fault('first-hello-kept', 'session', 'prologue: it binds the first HELLO', [
    CLIENT,
    'this.prologue = canonicalJson(payload);',
    'this.prologue ??= canonicalJson(payload);',
  ]),
  fault(
    'unknown-fields-not-bound',
    'session',
    'prologue: it binds only the fields of HELLO that are needed',
    [
      CLIENT,
      'this.prologue = canonicalJson(payload);',
      'this.prologue = canonicalJson({ node_id: payload.node_id! });',
    ],
  ),
  fault('given-ephemeral-key-ignored', 'handshake', 'ephemeral key: it is not the given one', [
    'ports/typescript/adapter.ts',
    'randomBytes: () => hex(ephemeralKey)',
    'randomBytes: (length) => new Uint8Array(length).fill(7)',
  ]),
  fault('given-ephemeral-key-ignored-by-sessions', 'session', 'ephemeral key: it is not the given one', [
    'ports/typescript/values.ts',
    'randomBytes: () => hex(ephemeralKey)',
    'randomBytes: (length: number) => new Uint8Array(length).fill(7)',
  ]),
  fault('hello-without-session', 'session', 'HELLO: the sealed HELLO lacks session.session_id', [
    CLIENT,
    'const greeting = mergeFields({ pubkey: null, session }, hello);',
    'const greeting = mergeFields({ pubkey: null }, { site_id: hello.site_id! });',
  ]),
  fault('pattern-in-message-3', 'session', 'message 3: it names pattern or suite', [
    CLIENT,
    'this.sendNoise({ msg: bytesToHex(message) });',
    'this.sendNoise({ pattern: this.pattern!, suite: this.suite!, msg: bytesToHex(message) });',
  ]),
  fault(
    'hello-before-message-3',
    'session',
    [
      'order: the events are pin, transmit of a sealed message, ready, transmit of an envelope',
      'order: the events are psk, pin, transmit of a sealed message, ready, transmit of an envelope',
      'order: the events are transmit of a sealed message, ready, transmit of an envelope',
      'order: the events are psk, transmit of a sealed message, ready, transmit of an envelope',
    ],
    [
      CLIENT,
      'this.sendNoise({ msg: bytesToHex(message) });\n      this.finish(handshake);',
      'this.finish(handshake);\n      this.sendNoise({ msg: bytesToHex(message) });',
    ],
  ),
  fault('version-2-accepted', 'session', 'accepts what has to be refused, such as: version 2', [
    'src/wire/handshake.ts',
    'number >= PROTOCOL_VERSION',
    'number >= 2',
  ]),
  fault('upper-case-hex-refused', 'session', 'msg: hex is read in lower case alone', [
    'src/wire/handshake.ts',
    'const bytes = message === undefined ? undefined : hexToBytes(message);',
    'const bytes = message === undefined || /[A-F]/.test(message) ? undefined : hexToBytes(message);',
  ]),
  fault('any-pattern-accepted', 'session', 'negotiation: a hub takes a pattern that it did not offer', [
    HUB,
    'if (this.patterns.indexOf(pattern as Pattern) < 0 || this.suites.indexOf(suite as Suite) < 0) {',
    'if (this.suites.indexOf(suite as Suite) < 0) {',
  ]),
  fault('any-client-key', 'session', 'pin: a client whose key is not the pinned one is accepted', [
    HUB,
    '} else if (!equalBytes(this.clientKey, key)) {',
    '} else if (this.clientKey.length !== key.length) {',
  ]),
  fault(
    'ready-at-message-2',
    'session',
    'ready: a hub is ready under KKpsk0 before the client’s first transport message has decrypted',
    [
      HUB,
      "this.channel.reach('written');\n    this.establish(handshake);",
      "this.channel.state = 'ready';\n    this.establish(handshake);\n    this.emitReady(this.message1Payload!);",
    ],
  ),
  fault('text-delivered-after-ready', 'session', 'after ready: text that is no envelope is ignored', [
    'src/session/channel.ts',
    "if (input !== undefined || typeof data === 'string') throw errors.textAfterReady();",
    "if (input !== undefined) throw errors.textAfterReady();\n      if (typeof data === 'string') return;",
  ]),
  fault(
    'lost-session-ignored',
    'session',
    'after ready: HELLO or HANDSHAKE that arrives as bytes is ignored',
    [
      'src/session/inputs.ts',
      "return isText ? input !== 'other' : input === 'noise-with-choice' || input === 'noise';",
      "return input !== 'other';",
    ],
  ),

  // Identities, topics, requests
  fault('tls-flag-ignored', 'broker endpoint', 'broker: `tls` is ignored', [
    BROKER,
    'const scheme = tls && WITHOUT_TLS',
    'const scheme = tls === null && WITHOUT_TLS',
  ]),
  fault('plaintext-broker', 'broker', 'accepts what has to be refused, such as: ws:, not allowed', [
    BROKER,
    'if (!endpoint.tls && !allowPlaintext)',
    'if (!endpoint.tls && allowPlaintext === null)',
  ]),
  fault(
    'wrong-default-port',
    'broker endpoint',
    ['broker: the default port of mqtts is 1883', 'broker: the default port of wss is 80'],
    [BROKER, 'port: parts.port ?? PORTS[scheme]!', 'port: parts.port ?? PORTS[parts.scheme]!'],
  ),
  fault('topics-not-checked', 'topics', 'topics: an issued topic outside the scope of the client', [
    TOPICS,
    'if (topic.indexOf(start) !== 0 || !isInside) {',
    "if (topic.indexOf(start) !== 0 && topic === '') {",
  ]),
  fault('topics-of-another-client', 'topics', 'topics: an issued topic outside the scope of the client', [
    TOPICS,
    'const isInside =\n    ids === undefined ||',
    'const isInside =\n    true ||\n    ids === undefined ||',
  ]),
  fault(
    'wildcards-accepted',
    'topics',
    ['topics: an issued topic that is not valid', 'accepts what has to be refused'],
    [TOPICS, "topic.indexOf('+') < 0 &&", ''],
  ),
  fault('hash-of-16-bytes', 'topics', 'topics: the hash of the access key has 32 digits', [
    TOPICS,
    ".slice(0, 16) : ''",
    ".slice(0, 32) : ''",
  ]),
  fault('client-id-whole-cut', 'client-id', 'client id: the whole is cut to 48 characters', [
    'src/mqtt-topics/client-id.ts',
    '.slice(0, MAX_CLIENT_ID_KEY)}`;',
    '}`.slice(0, MAX_CLIENT_ID_KEY);',
  ]),
  fault('https-before-wss', 'endpoint', 'preference: https is preferred to wss', [
    ENDPOINT,
    "= ['wss', 'https', 'mqtt'];",
    "= ['https', 'wss', 'mqtt'];",
  ]),
  fault(
    'plaintext-endpoint',
    'endpoint',
    'plaintext: an address without TLS is taken although the caller does not allow it',
    [
      ENDPOINT,
      'if (!allowPlaintext) throw errors.plaintextAddress',
      'if (allowPlaintext === null) throw errors.plaintextAddress',
    ],
  ),
  fault(
    'false-is-true',
    'identity',
    ['identity.mqtt.tls is true where it is false', 'identity.protocols.wss is true where it is false'],
    [FIELDS, "const FALSE = ['0', 'false', 'no', 'off'];", "const FALSE = ['0', 'false'];"],
  ),
  fault('password-shown', 'identity', 'redaction: a redacted identity shows its password', [
    'src/identity/redact.ts',
    'let secrets = [accessKey, password, cryptoKey];',
    'let secrets = [accessKey, cryptoKey];',
  ]),
  fault('session-ids-equal', 'session-ids reply', 'session ids: they are compared for equality', [
    'src/requests/session-ids.ts',
    "return returned === declared || returned.slice(returned.indexOf(':') + 1) === declared;",
    'return returned === declared;',
  ]),
  fault(
    'first-completion-ends',
    'reply schedule',
    [
      'state is wrong: it is "done" where it is "completed"',
      'ending is wrong: it is "handled" where it is "denied"',
      'state has "done" where "completed" is due',
      'questions: `ovos.utterance.handled` ends one before any speech',
    ],
    [COLLECTOR, "completion: 'completed',", "completion: 'handled',"],
  ),
  fault(
    'soft-failure-ends',
    'reply schedule',
    [
      'state is wrong: it is "done" where it is "unmatched"',
      'ending is wrong: it is "unanswered" where it is "closed"',
    ],
    [
      COLLECTOR,
      "failure: 'unmatched',\n    completion: 'completed',",
      "failure: 'unanswered',\n    completion: 'completed',",
    ],
  ),
  fault(
    'unreadable-message-is-policy',
    'reply',
    'reply: a refusal with malformed_payload counts as one by policy',
    ['src/requests/refusal.ts', "['backend_unavailable', 'malformed_payload']", "['backend_unavailable']"],
  ),
  fault(
    'white-space-as-isspace',
    'canonical-json',
    'JSON: form feed and vertical tab between tokens are accepted',
    [
      'src/wire/parse-json.ts',
      'byte !== 0x0d && byte !== 0x09)',
      'byte !== 0x0d && byte !== 0x09 && byte !== 0x0b && byte !== 0x0c)',
    ],
  ),
  fault('port-as-atoi', 'identity', 'numbers: one in a string is read up to the first character', [
    'src/issued/fields.ts',
    "typeof value === 'string' && String(Number(value)) === value ? Number(value) : value",
    "typeof value === 'string' && /^\\s*[+-]?\\d/.test(value) ? Number.parseInt(value, 10) : value",
  ]),
  fault('every-refusal-is-policy', 'reply', 'reply: every refusal counts as one by policy', [
    'src/requests/refusal.ts',
    'return NOT_BY_POLICY.indexOf(refusal.code) < 0;',
    'return true;',
  ]),
  fault('request-without-input', 'request', 'request: `input` is not in the data of a code', [
    'src/requests/build-request.ts',
    "if (input !== undefined && ownField(input, 'exact') === true) data.input = input;",
    '',
  ]),
  fault('argon2id-own-lane-only', 'argon2id', 'Argon2id: tags are wrong with several lanes alone', [
    'src/noise/argon2id.ts',
    'pass === 0 && slice === 0 ? lane : j2 % this.lanes',
    'lane',
  ]),
  fault(
    'argon2id-short-tag',
    'argon2id',
    [],
    [
      'src/noise/argon2id.ts',
      'const head = [parallelism, length, memoryKiB, passes, VERSION, TYPE_ARGON2ID];',
      'const head = [parallelism, Math.min(length, 64), memoryKiB, passes, VERSION, TYPE_ARGON2ID];',
    ],
  ),
  fault('entities-by-number-kept', 'reply', 'speech: entities by number, such as', [
    'src/requests/speakable.ts',
    '/&(#x[0-9a-f]{1,6}|#[0-9]{1,7}|[a-z]+);/gi',
    '/&([a-z]+);/gi',
  ]),
  fault('choices-need-a-payload', 'reply', 'display items: a choice that has only a title', [
    'src/requests/display-items.ts',
    "stringIn(fields, ['payload', 'value']) ?? title;",
    "stringIn(fields, ['payload', 'value']);",
  ]),
  fault('refusal-of-any-type', 'reply', 'refusal: one without a request id ends the only request whatever', [
    'src/requests/reply-collector.ts',
    "readArgument('message', () => ownField(data, 'denied_type')) === this.type;",
    "(readArgument('message', () => ownField(data, 'denied_type')) === this.type || data !== undefined);",
  ]),
  fault('id-in-the-data-first', 'reply', 'request id: it is looked for in the order data, context, session', [
    'src/requests/hub-event.ts',
    'stringIn(context, REQUEST_IDS) ?? stringIn(session, REQUEST_IDS) ?? stringIn(data, REQUEST_IDS)',
    'stringIn(data, REQUEST_IDS) ?? stringIn(context, REQUEST_IDS) ?? stringIn(session, REQUEST_IDS)',
  ]),
  fault(
    'french-without-a-region',
    'disclosure',
    'disclosure: a tag with a region, such as fr-CA, is taken for',
    ['src/identity/disclosure.ts', '/^fr([^a-z0-9]|$)/i', '/^fr$/i'],
  ),
  fault('unsupported-protocol-taken', 'endpoint', 'preference: a requested protocol is taken although', [
    'src/identity/endpoint.ts',
    'if (requested !== undefined && supported.indexOf(requested) < 0) {',
    'if (requested !== undefined && PREFERENCE.indexOf(requested) < 0) {',
  ]),
  fault('issued-topics-unread', 'topics', 'topics: issued topics are not used where others can be derived', [
    'src/mqtt-topics/topics.ts',
    'const { c2sTopic, s2cTopic, statusTopic } = issued;\n  const scope = scopeOf(issued, accessKey);',
    'const scope = scopeOf(issued, accessKey);\n  const { c2sTopic, s2cTopic, statusTopic } = scope.topics ? ({} as IssuedMqtt) : issued;',
  ]),
  fault('no-turn-after-a-timeout', 'schedule', 'questions: the next one in a session is not sent', [
    'src/requests/request-scheduler.ts',
    'if (at < queue.length) next.push(queue[at]!);',
    "if (at < queue.length && request.collector.ending !== 'timeout') next.push(queue[at]!);",
  ]),
  fault('utterances-joined', 'reply', 'speech: several utterances are joined', [
    SPEAKABLE,
    "return typeof first === 'string' ? first : '';",
    "return typeof first === 'string' ? (utterances as string[]).join(' ') : '';",
  ]),
  fault('last-utterance-said', 'reply', 'speech: the last of several utterances is taken', [
    SPEAKABLE,
    'Array.isArray(utterances) ? utterances[0] : undefined',
    'Array.isArray(utterances) ? utterances[utterances.length - 1] : undefined',
  ]),
  fault('asks-if-truthy', 'reply', 'speech: expect_response counts though it is not true', [
    SPEAKABLE,
    "expectsAnswer: ownField(data, 'expect_response') === true",
    "expectsAnswer: Boolean(ownField(data, 'expect_response'))",
  ]),
  fault('never-asks', 'reply', 'speech: expect_response is not read', [
    SPEAKABLE,
    "expectsAnswer: ownField(data, 'expect_response') === true",
    "expectsAnswer: ownField(data, 'expectResponse') === true",
  ]),
  fault('markup-without-spaces', 'reply', 'speech: markup that parts words', [
    SPEAKABLE,
    "SEPARATING.test(segment.slice(0, end)) ? ' ' : ''",
    "SEPARATING.test(segment.slice(0, end)) ? '' : ''",
  ]),
  fault('markup-as-spaces', 'reply', 'speech: all markup leaves a space', [
    SPEAKABLE,
    "SEPARATING.test(segment.slice(0, end)) ? ' ' : ''",
    "SEPARATING.test(segment.slice(0, end)) ? ' ' : ' '",
  ]),
  fault('completion-is-the-last-event', 'reply', 'reply: its raw event is the completion', [
    COLLECTOR,
    'this.rawEvent ??= payload;',
    'this.rawEvent = payload;',
  ]),
  fault('action-with-input-as-data', 'request', 'request: `input` is in the data of an action, too', [
    'src/requests/build-request.ts',
    "if (input !== undefined && ownField(input, 'exact') === true) data.input = input;",
    'if (input !== undefined) data.input = input;',
  ]),
  fault('request-without-kind', 'request', 'request: `input` is not in the context', [
    'src/requests/build-request.ts',
    '  if (input !== undefined) context.input = input;\n',
    '',
  ]),
  fault('request-id-under-one-name', 'request', 'request: its id is not sent as thalovant_request_id', [
    'src/requests/build-request.ts',
    '  context.thalovant_request_id = requestId;\n',
    '',
  ]),
  fault('default-path-with-its-slash', 'endpoint', 'address: the slash at the end of default_path is kept', [
    ENDPOINT,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the source has it
    '${path && `/${path}`}',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: so has what replaces it
    "${path && `/${path}`}${/\\/\\s*$/.test(identity.defaultPath) ? '/' : ''}",
  ]),
  fault('null-is-a-value', 'identity', 'fields: one that is null counts as a value', [
    FIELDS,
    'if (fields[name] !== undefined && fields[name] !== null) return name;',
    'if (fields[name] !== undefined) return fields[name] === null ? undefined : name;',
  ]),
  fault('https-by-default', 'identity', 'protocols: https is on by default', [
    'src/identity/read-identity.ts',
    'fields.enabled(PROTOCOLS.https) ?? false',
    'fields.enabled(PROTOCOLS.https) ?? true',
  ]),
  fault('base64-shown', 'identity', 'redaction: a redacted identity shows its accessKey in base64', [
    'src/identity/redact.ts',
    'needles.push(searchable(bytes), folded(base64), bytesToHex(bytes));',
    'needles.push(searchable(bytes), bytesToHex(bytes));',
  ]),
  fault(
    'counter-kept-in-sealing',
    'handshake',
    'nonce: the counter does not advance; it counts every message under its key (only in messages that it writes)',
    [
      SYMMETRIC,
      '    const sealed = this.keyedCipherState().encryptWithAd(withRoom(plaintext), this.hash);\n',
      '    const state = this.keyedCipherState() as unknown as { nonce: Uint8Array; encryptWithAd(buffer: Uint8Array, ad: Uint8Array): Uint8Array };\n    const kept = state.nonce.slice();\n    const sealed = state.encryptWithAd(withRoom(plaintext), this.hash);\n    state.nonce.set(kept);\n',
    ],
  ),
  fault('code-before-reason', 'session', 'endings: close code 1008 counts before the reason', [
    'src/session/endings.ts',
    "  if (status !== undefined || reason === 'connection_limit') return 'unavailable';\n  return code === 1008 ? 'refusal' : 'loss';",
    "  if (status !== undefined) return 'unavailable';\n  if (code === 1008) return 'refusal';\n  return reason === 'connection_limit' ? 'unavailable' : 'loss';",
  ]),
  fault('scope-anywhere', 'topics', 'topics: one is in scope if the prefix is anywhere in it', [
    TOPICS,
    'topic.indexOf(start) !== 0',
    'topic.indexOf(start) < 0',
  ]),
  fault('empty-metadata-refused', 'decode-binary', 'binary: metadata of no bytes are refused', [
    'src/binary/binary-message.ts',
    'encoded.length === 0 ? {} : parseJson(textOf(encoded))',
    'parseJson(textOf(encoded))',
  ]),
  fault('retry-after-added', 'link', 'pauses: the time for which a server wants to be left alone is added', [
    'src/link/machine.ts',
    'Math.max(decision.after, Math.min(retryAfter, maxPause))',
    'decision.after + Math.min(retryAfter, maxPause)',
  ]),
  fault('first-slash-encoded', 'authorization', 'authorization: only the first / is percent-encoded', [
    'src/identity/authorized-url.ts',
    ".replace(/\\//g, '%2F')",
    ".replace('/', '%2F')",
  ]),
  ...PORTER_LIBRARY_FAULTS,
];

/**
 * All errors in one table: for each code its class, meaning and advice, and the functions that make the errors with their
 * sentences. The library throws their results. The files for devices are built with functions of the same names that make
 * errors without sentences (tools/sentences.ts).
 *
 * A sentence that starts with the quoted name of an argument keeps the name on devices: `bad-argument: crypto`. If the name
 * varies, it is the first parameter.
 */

import { damageIn } from './damage.ts';
import { type EndingCode, type LocalCode, LocalError, type RemoteCode, RemoteError } from './errors.ts';

/** The meaning of a code, and the advice for it. */
export interface ErrorRow {
  /** A heading for this code and those after it. */
  readonly group?: string;
  readonly means: string;
  readonly todo: string;
}

/** Faults of this side. */
export const LOCAL_ERRORS: { readonly [code in LocalCode]: ErrorRow } = {
  'bad-argument': {
    means: 'an argument of the wrong type, or out of range',
    todo: 'Pass what the message asks for. An option that does not exist is an error, too: look for a misspelling.',
  },
  'bad-length': {
    means: 'a key, pin, PSK, salt or buffer of the wrong length in bytes',
    todo: 'Pass as many bytes as the message says. A key that was stored as hex or base64 has to be decoded first.',
  },
  'bad-random': {
    means:
      'randomBytes() did not return as many bytes as it was asked for, or returned zeros only, or the static key once more',
    todo: 'Repair the random generator, or its seed. Do not connect without one.',
  },
  'not-json': {
    means: 'a value that JSON cannot represent',
    todo:
      'Pass plain data: null, booleans, finite numbers, strings, arrays and objects. A string that is passed to `sendJson` must ' +
      'be JSON: wrap other text in an object.',
  },
  'unsafe-number': {
    means: 'a number that JSON, or canonical JSON, cannot represent exactly',
    todo: 'Pass the number as a string, or as a `JsonNumber` with the exact token.',
  },
  'lone-surrogate': {
    means: 'a string with a lone surrogate, which UTF-8 cannot encode',
    todo: 'Repair the string, most likely where it was cut: half a surrogate pair is not a character.',
  },
  'json-depth': {
    means: 'a value nested deeper than MAX_JSON_DEPTH, or inside itself',
    todo: 'Nest less deeply. An object that contains itself cannot be sent.',
  },
  'suite-unavailable': {
    means: 'the injected crypto has no cipher for the suite',
    todo: 'Inject a crypto that has the cipher, or leave the suite out.',
  },
  'blake2b-unavailable': {
    means: 'the injected crypto has no blake2b, which argon2id needs',
    todo: 'Add `blake2b` or a native `argon2id` to the crypto, or provision the PSK.',
  },
  'out-of-memory': {
    means: 'the engine has no memory left, or less than argon2id needs',
    todo:
      'On a device, free memory, or send and accept shorter messages (`maxMessage`), and connect again: a session has ended. For argon2id, ' +
      'pass `memory`, derive on another machine, or provision the 32 bytes: `storePsk` with `isProvisioned: true`.',
  },
  'crypto-failed': {
    means:
      'the injected crypto or randomBytes() threw, or crypto returned a value of the wrong type or length',
    todo: 'Look at `cause`: the injected code failed, not the peer. The pin and the PSK are still good.',
  },
  'low-order-key': {
    means: 'a stored public key that is a low-order point, which no real key is',
    todo: 'Restore the stored key: it was damaged or replaced.',
  },
  'message-too-long': {
    means:
      'more bytes than one Noise message can carry, than the peer accepts, or than fit into the metadata of a binary message',
    todo: 'Pass fewer bytes. Sessions cut messages of up to 32 MiB by themselves.',
  },
  'nonce-exhausted': {
    means: '2^64 - 1 messages were sealed under one key',
    todo: 'Close the connection and connect again.',
  },
  'wrong-state': {
    means: 'a method called in a state that does not allow it',
    todo: 'Call the method when its turn comes, and never from a callback of the same object. Nothing has changed.',
  },
  'session-over': {
    means: 'sending on a session that failed or closed',
    todo: 'Make a new session on a new connection.',
  },
  'too-many-requests': {
    means: 'a request or a question while 10,000 have not ended',
    todo: 'Ask again later: the hub answers more slowly than questions are asked. Nothing has changed.',
  },
  'identity-not-json': {
    means: 'an identity that is not JSON, or was not written completely',
    todo: 'Pass the identity as it was issued.',
  },
  'identity-not-an-object': {
    means: 'an identity that is not a JSON object',
    todo: 'Pass the identity itself, not a list of identities or an answer that contains one.',
  },
  'identity-access-key': { means: 'an identity without an access key', todo: 'Issue the identity again.' },
  'identity-password': {
    means: 'an identity without a password',
    todo: 'Issue the identity again. One that was written by `JSON.stringify` has lost its secrets: use `serializeIdentity`.',
  },
  'identity-field': {
    means: 'a field that is needed and has the wrong type',
    todo: 'Issue the identity again with this field as the message says.',
  },
  'keyring-not-json': {
    means: 'a keyring that is not JSON, or was not written completely',
    todo:
      'Restore the keyring from a copy. Do not start with an empty one: the client would trust any hub that knows the password, and ' +
      'its hub would refuse the new static key.',
  },
  'keyring-version': {
    means: 'a keyring written by another version of this library',
    todo: 'Use the version of this library that wrote the keyring.',
  },
  'keyring-field': {
    means: 'a keyring field that is missing, unknown or malformed',
    todo: 'As for `keyring-not-json`.',
  },
  'keyring-other-identity': {
    means: 'a keyring that belongs to another access key',
    todo: 'Load the keyring of this access key. Each identity has its own.',
  },
  'keyring-not-readable': {
    means: 'a keyring’s file that the client cannot read',
    todo: 'Do what the message says.',
  },
  'keyring-not-writable': {
    means: 'a place where the client cannot store its keyring',
    todo: 'Do what the message says.',
  },
  'keyring-not-private': {
    means: 'a file system on which others can read every file',
    todo: 'Keep the keyring elsewhere.',
  },
  'keyring-replaced': {
    means: 'a static key that was stored in place of that of the connection',
    todo: 'Nothing: the client connects again with it.',
  },
  'slots-unreadable': {
    means: 'neither of the two slots of a device is complete',
    todo:
      'Restore one from a copy. The static key is not in them. The slots as they were provisioned have no pins that were stored later: ' +
      'compare the hub’s fingerprint before you use them.',
  },
  'pin-differs': {
    means: 'a pin to be stored for a hub that already has another one',
    todo: 'End the session. Another program has pinned another key of this hub in the meantime: find out which one is right.',
  },
  'keyring-full': {
    means: 'a pin or a PSK of another hub, while the keyring has those of MAX_HUBS (16)',
    todo:
      'Find out why there are so many hubs: whoever knows the password can answer under a new node id each time. Remove those that are ' +
      'gone with `dropPin`, and their PSKs with `forgetPsks`.',
  },
  'static-key-fresh': {
    means: 'a known hub has refused KKpsk0, and no hub has accepted the static key yet',
    todo: 'Warn the person. Restore the lost static key, share one key between programs, or ask the hub’s operator to reset it.',
  },
  'unsupported-protocol': {
    means: 'a requested protocol that the caller does not support',
    todo: 'Request another protocol, or add this one to `supported`.',
  },
  'no-endpoint': {
    means: 'the identity has no address for a protocol that both sides support',
    todo: 'Issue the identity with an address, or support one of the protocols that it has.',
  },
  'bad-endpoint': {
    means: 'an address that is not a URL, or whose scheme is refused',
    todo: 'Correct the address in the identity.',
  },
  'plaintext-endpoint': {
    means: 'an address without TLS, which was not allowed',
    todo: 'Use an address with TLS. Pass `allowPlaintext: true` only where nobody else is on the network.',
  },
  'bad-topic': {
    means: 'a topic, or a part of one, that breaks the rules of MQTT or of the hub',
    todo: 'Issue the identity again.',
  },
  'topic-out-of-scope': {
    means: 'an issued topic outside of this client’s scope',
    todo: 'Issue the identity again, or pass its `accessKey`. Do not use the topic: it is another client’s.',
  },
  'no-topics': {
    means: 'no topics were issued, and there is nothing to derive them from',
    todo: 'Issue the identity with a `topic_prefix`.',
  },
};

const NEW_CONNECTION = 'Connect again with a new session. The pin and the PSK are still good.';
const NOT_PROTOCOL_3 = 'Check that the address belongs to a hub, and update the peer.';
const FRAMES = {
  means: 'the other side broke the rules for frames. Its messages decrypt, so the handshake succeeded',
  todo: 'Connect again. If it happens again, the peer cuts its messages differently: see [Frames and chunks](protocol.md#frames-and-chunks).',
};
const BINARY =
  'Drop the message: the session goes on. See [Binary messages](protocol.md#binary-messages) for what peers send.';

const KK_FAILED = {
  means:
    'KKpsk0 failed: a new password, a stale PSK, a new hub key, another static key of this client at the hub, or interference. ' +
    'The next attempt, with XXpsk2, shows which',
  todo: 'Connect again: the next attempt uses XXpsk2 and shows the cause.',
};

/** Faults in what the peer sent or did. */
export const REMOTE_ERRORS: { readonly [code in RemoteCode]: ErrorRow } = {
  'bad-utf8': { group: 'JSON', means: 'the other side sent bytes that are not UTF-8', todo: NOT_PROTOCOL_3 },
  'bad-json': { means: 'the other side sent text that is not JSON', todo: NOT_PROTOCOL_3 },
  'duplicate-key': {
    means: 'the other side sent JSON with the same key twice in one object',
    todo: NOT_PROTOCOL_3,
  },
  'lone-surrogate': { means: 'the other side sent JSON with a lone surrogate', todo: NOT_PROTOCOL_3 },
  'json-depth': { means: 'the other side sent JSON nested deeper than MAX_JSON_DEPTH', todo: NOT_PROTOCOL_3 },
  'envelope-too-large': {
    group: 'Cleartext envelopes',
    means: 'the other side sent an envelope longer than any part of a handshake',
    todo: 'Find out who sends it: no greeting and no handshake message is that long.',
  },
  'bad-envelope': { means: 'the other side sent JSON that is not an envelope', todo: NOT_PROTOCOL_3 },
  'bad-payload': {
    means: 'the other side sent a message whose payload has the wrong form',
    todo: NOT_PROTOCOL_3,
  },
  'unexpected-message': {
    means: 'a message arrived that this state does not allow',
    todo: 'Connect again. If it happens again, the peer speaks out of turn: see [Order and repeats](protocol.md#order-and-repeats).',
  },
  'handshake-before-hello': {
    group: 'Negotiation',
    means: 'the hub sent HANDSHAKE before HELLO, or HELLO was lost',
    todo: 'Connect again. A polled carrier may hold messages of an earlier attempt: discard them first.',
  },
  'missing-node-id': {
    means: 'the HELLO of the hub has no node_id',
    todo: 'Check that the address belongs to a hub.',
  },
  'bad-node-id': {
    means: 'the HELLO of the hub has a node_id that is not a string, or is too long',
    todo: NOT_PROTOCOL_3,
  },
  'protocol-version': {
    means: 'the other side does not speak protocol 3: update it',
    todo: 'Update the peer: it has no protocol 3. There is no older protocol to fall back to. HiveMind’s hub has it from hivemind-core 4.7 on, a pre-release: `pip install --upgrade --pre hivemind-core`, and its protocol plugins.',
  },
  'bad-offer': {
    means:
      'the offer of the hub cannot be read, or lacks XXpsk2 or 25519_ChaChaPoly_SHA256, which every hub offers',
    todo: 'Update the hub: it has no Noise handshake, offers it in another form, or lacks XXpsk2 or 25519_ChaChaPoly_SHA256.',
  },
  'no-common-suite': {
    means: 'the crypto of the client has none of the ciphers that the hub offers',
    todo: 'Inject a crypto with a cipher that the hub offers. Every hub offers 25519_ChaChaPoly_SHA256.',
  },
  'no-common-pattern': {
    means: 'the client may use none of the handshake patterns that the hub offers',
    todo: 'Allow XXpsk2 in `patterns`, or update the hub: every hub offers it.',
  },
  'not-offered': {
    means: 'the client chose a pattern or a suite that the hub did not offer',
    todo: 'Update the client: it may choose only what the hub offers.',
  },
  'bad-hex': {
    group: 'The Noise handshake',
    means: 'the other side sent a Noise message that is not hex',
    todo: NOT_PROTOCOL_3,
  },
  'message-too-short': {
    means:
      'the other side sent a Noise message that is too short: each part that is sealed has a tag of 16 bytes, an empty payload too',
    todo: 'Connect again: a message was cut short on its way.',
  },
  'message-too-long': { means: 'the other side sent a Noise message that is too long', todo: NOT_PROTOCOL_3 },
  'low-order-key': {
    means: 'the other side sent a low-order public key, which would make the shared secret public',
    todo: 'Do not trust this peer: anyone could compute the shared secret.',
  },
  'static-key-not-authentic': {
    means: 'message 2 was damaged on its way',
    todo: 'Connect again: a message was damaged on its way. If it happens again, somebody interferes.',
  },
  'payload-not-authentic': {
    means: 'the payload of a handshake message does not decrypt',
    todo: 'Connect again. Sessions usually give a code that names the cause.',
  },
  'prologue-differs': {
    means: 'the two sides bound a different HELLO or HANDSHAKE',
    todo:
      'Look at what HELLO and HANDSHAKE contain: the client’s JSON library writes some of it differently. ' +
      '[Serve every client](../guides/hub.md#5-serve-every-client) has the rules.',
  },
  'psk-differs': {
    means:
      'the payload of message 2 did not decrypt: the passwords differ, a stored PSK is stale, or a third party interfered',
    todo: 'Derive the PSK again. If the next connection ends in the same way, check the password of the identity.',
  },
  'kk-failed': KK_FAILED,
  'bad-handshake-payload': {
    means: 'the payload of a handshake message is not the expected JSON object',
    todo: 'Update the peer: it knows the password, but sends a payload that protocol 3 does not have.',
  },
  'unknown-hub': {
    means:
      'the hub is not pinned, and the client trusts pinned hubs only, or has met three others within an hour that were not pinned ' +
      'either: provision its pin',
    todo: 'Find out which hub this is, then provision its pin.',
  },
  'hub-key-changed': {
    means:
      'the hub knows the password and has a static key other than the pinned one: it was reinstalled, or it is another hub. ' +
      'Find out which, and pin the new key only if it is the same hub',
    todo: 'Find out whether this is the same hub with a new key, then pin its `hubKey` with `pinHub`. If nobody knows of a new key, do not.',
  },
  'client-key-changed': {
    means:
      'the client has a static key other than the one that the hub has pinned: it lost its key, or another program uses the ' +
      'identity. Restore the key, or let the operator reset it at the hub',
    todo: 'Find out whether the client got a new static key, then reset its pin at the hub.',
  },
  'text-after-ready': {
    group: 'Transport messages and frames',
    means:
      'cleartext arrived on the encrypted session: the other side has lost the session, as hubs on MQTT do after minutes of silence',
    todo: NEW_CONNECTION,
  },
  'not-authentic': {
    means:
      'a transport message does not decrypt: it was damaged, lost, repeated, or written by somebody else',
    todo: NEW_CONNECTION,
  },
  'nonce-exhausted': { means: 'the peer sealed 2^64 - 1 messages under one key', todo: NEW_CONNECTION },
  'frame-too-long': {
    means: 'a transport message is longer than the option `maxFrame`. It was not decrypted',
    todo: 'Ask the hub’s operator for shorter messages or chunks, or raise `maxFrame` as far as the device’s watchdog allows.',
  },
  'empty-plaintext': FRAMES,
  'unknown-marker': FRAMES,
  'chunk-without-start': FRAMES,
  'message-while-open': FRAMES,
  'bad-binary-message': {
    group: 'Binary messages',
    means: 'not a valid binary message, or a truncated one',
    todo: BINARY,
  },
  'binary-version': {
    means: 'a version of binary messages that this library does not know',
    todo: 'Update this library, or ask the hub’s operator which version it sends.',
  },
  'reserved-code': {
    means: 'a type of message or payload that is not assigned',
    todo: 'Drop the message: the session goes on. Update this library, if a newer version knows the type.',
  },
  'bad-metadata': { means: 'metadata that is not an object', todo: BINARY },
  compressed: {
    means: 'a compressed message, which cannot be read without `inflate`',
    todo: 'Pass `inflate` to `decodeBinary`, or do not ask the hub for binary messages with `binarize`.',
  },
  'bad-compression': { means: 'a compressed message that is damaged or too long', todo: BINARY },
  'no-hello': {
    group: 'The first transport message at a hub',
    means: 'the first message of the client is not its HELLO',
    todo: 'The session goes on, and the message follows as a separate event. Update the client.',
  },
  'bad-hello': {
    means: 'the HELLO of the client has a field of the wrong type',
    todo: 'The session goes on. Update the client.',
  },
  'not-reachable': {
    group: 'How a connection ended',
    means:
      'no connection could be made: no such host, nothing listens there, no answer in time, or the connection was cut before anything was said',
    todo: 'Check the address, the network, and whether the hub is running. The client dials on.',
  },
  'certificate-refused': {
    means:
      'the certificate of the server cannot be verified: it has expired, is for another host, or its authority is not known',
    todo: 'Check the clock of this side first. Then renew the certificate, or pass its authority.',
  },
  'not-a-hub': {
    means:
      'the server does not answer as a hub: with another HTTP status, without TLS, or in another protocol',
    todo: 'Check the port and the path of the address, and any proxy in between.',
  },
  'broker-refused': {
    means: 'the MQTT broker refuses the account, or its access to the topics',
    todo: 'Ask the operator of the broker to check the account. Try again later.',
  },
  'access-refused': {
    means:
      'the connection was closed with 1008 before message 1, or the upgrade answered with 401 or 403: the access key is unknown, or not admitted yet',
    todo: 'Check the access key. A new one may take minutes until the hub admits it: try again later.',
  },
  'negotiation-refused': {
    means:
      'the connection was closed with 1008 on message 1 of XXpsk2: the hub refuses the access key, the pattern or the suite',
    todo: 'Check the access key, then what the hub and this client offer each other. Try again later.',
  },
  'kk-refused': KK_FAILED,
  'client-key-refused': {
    means:
      'the connection was closed with 1008 on message 3, and no hub has accepted this static key yet: most likely the hub has another one',
    todo:
      'Restore the static key that the hub has pinned, share it with the other program that uses this identity, or ask the hub’s ' +
      'operator to reset it. ConnectionPolicy asks a person if it happens twice in a row.',
  },
  refused: {
    means:
      'the connection was closed with 1008 after the handshake, before the hub sent anything: the access key was revoked, the hub has another ' +
      'static key for this client now, or it accepts no more clients',
    todo: 'Ask the hub’s operator whether the access key was revoked or the client’s key changed. Try again later.',
  },
  unavailable: {
    means: 'the hub is not accepting connections: HTTP status 408, 429 or from 500 on, or `connection_limit`',
    todo: 'Try again later.',
  },
  dropped: { means: 'the connection was lost', todo: 'Connect again.' },
  timeout: {
    means: 'no message arrived before the deadline',
    todo: 'Try again later. Over MQTT a hub refuses by not answering: see [what silence means](mqtt.md#what-silence-means).',
  },
};

// bad-argument

/** Names the type of a value for a sentence, without showing the value. Never throws. */
export function kindOf(value: unknown): string {
  if (value === null) return 'null';
  try {
    return Array.isArray(value) ? 'array' : typeof value;
  } catch {
    return 'revoked Proxy';
  }
}

/** An argument that is not as expected. */
export const expected = (name: string, what: string): LocalError =>
  new LocalError('bad-argument', `"${name}" expected ${what}`);

/** An argument of the wrong type. */
export const expectedType = (name: string, type: string, value: unknown): LocalError =>
  new LocalError('bad-argument', `"${name}" expected ${type}, got ${kindOf(value)}`);

export function expectedString(name: string, value: unknown): LocalError {
  const got = value === '' ? 'an empty one' : kindOf(value);
  return new LocalError('bad-argument', `"${name}" expected a non-empty string, got ${got}`);
}

export function expectedInteger(name: string, least: number, most: number, value: unknown): LocalError {
  const got = typeof value === 'number' ? value : kindOf(value);
  return new LocalError('bad-argument', `"${name}" expected an integer from ${least} to ${most}, got ${got}`);
}

export const expectedSize = (name: string, most: number): LocalError =>
  new LocalError('bad-argument', `"${name}" expected a number of bytes from 0 to ${most}`);
export const expectedChoice = (name: string, choices: readonly string[]): LocalError =>
  new LocalError('bad-argument', `"${name}" expected "${choices.join('" or "')}"`);
export const transferred = (name: string): LocalError =>
  new LocalError(
    'bad-argument',
    `"${name}" expected Uint8Array, got one that was transferred to a worker: pass a copy`,
  );
export const unreadable = (name: string, error: unknown): LocalError =>
  new LocalError('bad-argument', `"${name}" cannot be read: pass a plain object`, error);

/**
 * @param name - of the option, after that of the argument and a dot
 * @param known - has the names of the options that there are
 */
export const unknownName = (name: string, known: object): LocalError => {
  const meant = Object.keys(known).filter((one) => isLike(name.slice(name.lastIndexOf('.') + 1), one))[0];
  return new LocalError(
    'bad-argument',
    `"${name}" does not exist${meant === undefined ? '' : `: did you mean "${meant}"?`}`,
  );
};

/** @returns the name without capitals and underscores */
const plainName = (name: string): string => name.toLowerCase().replace(/_/g, '');

/** Whether two names are the same but for one letter, two that changed places, or capitals and underscores. */
function isLike(one: string, other: string): boolean {
  const a = plainName(one);
  const b = plainName(other);
  for (let i = 0; i <= a.length; i++) {
    for (let j = 0; j <= b.length; j++) {
      if (a.slice(0, i) + a.slice(i + 1) === b.slice(0, j) + b.slice(j + 1)) return true;
    }
  }
  return false;
}
export const zeroKey = (name: string): LocalError =>
  new LocalError('bad-argument', `"${name}" is all zeros: restore the stored key, or make a new one`);
export const keyIsTransmitted = (): LocalError =>
  new LocalError(
    'bad-argument',
    '"remoteStaticKey" is transmitted in XXpsk2: compare it after the handshake',
  );
export const noPrivateKey = (): LocalError =>
  new LocalError('bad-argument', '"ephemeralKey" has no private key');
export const typeIsNotBin = (): LocalError =>
  new LocalError('bad-argument', '"bin_type" is for messages of the type bin');
export const notInBinary = (name: string): LocalError =>
  new LocalError('bad-argument', `"${name}" does not fit into a binary message: use sendJson`);
export const repeatedRequest = (): LocalError =>
  new LocalError(
    'bad-argument',
    '"envelope" has the request id of a request that has not ended: use a new one',
  );
export const tooManyRequests = (): LocalError =>
  new LocalError(
    'too-many-requests',
    'too many requests have not ended: the hub answers more slowly than you ask',
  );

export const reservedFields = (): LocalError =>
  new LocalError('bad-argument', '"hello" and "handshake" expected further fields, not node_id or noise');
export const badSelection = (): LocalError =>
  new LocalError(
    'bad-argument',
    '"offer.patterns", "offer.suites" and "own.suites" expected arrays of strings',
  );

// bad-length

export const expectedBytes = (name: string, length: number, bytes: Uint8Array): LocalError =>
  new LocalError('bad-length', `"${name}" expected ${length} bytes, got ${bytes.length}`);
export const tooShort = (name: string, least: number, bytes: Uint8Array): LocalError =>
  new LocalError('bad-length', `"${name}" expected at least ${least} bytes, got ${bytes.length}`);
export const memoryTooSmall = (least: number): LocalError =>
  new LocalError('bad-length', `"memory" expected at least ${least} bytes, aligned to 4`);

// bad-random, crypto-failed

export const badRandom = (length: number): LocalError =>
  new LocalError('bad-random', `randomBytes(${length}) did not return ${length} random bytes`);
export const injectedThrew = (error: unknown, name: string): LocalError =>
  new LocalError('crypto-failed', `the injected ${name}() threw: see the cause`, error);
export const wrongResult = (name: string, length: number): LocalError =>
  new LocalError('crypto-failed', `the injected ${name}() did not return ${length} bytes`);
export const wrongPlaintext = (): LocalError =>
  new LocalError('crypto-failed', 'the injected open() did not return the plaintext or undefined');
export const cryptoIncomplete = (error: unknown): LocalError =>
  new LocalError('crypto-failed', 'the cryptography could not be completed: see the cause', error);

// Values that JSON cannot represent

export const unreadableValue = (error: unknown): LocalError =>
  new LocalError('not-json', 'a field of the value threw when it was read: pass plain data', error);
export const notJson = (value: unknown): LocalError =>
  new LocalError('not-json', `JSON cannot represent a value of type ${kindOf(value)}`);
export const notNumberToken = (): LocalError =>
  new LocalError('not-json', '"token" expected a string that is a JSON number');
export const stringIsNotJson = (): LocalError =>
  new LocalError('not-json', 'a string is sent as it is, so it must be JSON: wrap other text in an object');
export const unsafeNumber = (number: string): LocalError =>
  new LocalError(
    'unsafe-number',
    `expected ${number}; to write another number, pass its token in a JsonNumber`,
  );
export const loneSurrogate = (): LocalError =>
  new LocalError('lone-surrogate', 'a string with a lone surrogate cannot be encoded as UTF-8');
export const expectedUnicode = (name: string): LocalError =>
  new LocalError('lone-surrogate', `"${name}" expected well-formed Unicode, got a lone surrogate`);
export const valueTooDeep = (deepest: number): LocalError =>
  new LocalError('json-depth', `the value is nested deeper than ${deepest}, or in itself`);

// Functions that the injected cryptography lacks

export const suiteUnavailable = (cipherName: string): LocalError =>
  new LocalError(
    'suite-unavailable',
    `the injected crypto has no ${cipherName}: inject one, or use another suite`,
  );
export const suitesUnavailable = (): LocalError =>
  new LocalError('suite-unavailable', '"suites" expected suites whose cipher the injected crypto has');
export const blake2bUnavailable = (): LocalError =>
  new LocalError(
    'blake2b-unavailable',
    'Argon2id needs a crypto with blake2b: inject one, or derive the bytes elsewhere',
  );
export const outOfMemory = (blocks: number): LocalError =>
  new LocalError(
    'out-of-memory',
    `${blocks} KiB cannot be allocated: pass memory, or derive the bytes elsewhere`,
  );
export const noMemoryLeft = (error?: unknown): LocalError =>
  new LocalError('out-of-memory', 'the engine has no memory left: see the cause', error);
export const storedLowOrderKey = (): LocalError =>
  new LocalError(
    'low-order-key',
    '"remoteStaticKey" is a low-order point, which no real key is: restore the stored key',
  );

// message-too-long, nonce-exhausted

export const tooLong = (name: string, longest: number, bytes: Uint8Array): LocalError =>
  new LocalError('message-too-long', `"${name}" expected at most ${longest} bytes, got ${bytes.length}`);
export const messageTooLong = (bytes: Uint8Array, longest: number): LocalError =>
  new LocalError(
    'message-too-long',
    `a message of ${bytes.length} bytes, which the peer would drop: send at most ${longest}`,
  );
export const metadataTooLong = (bytes: Uint8Array, longest: number): LocalError =>
  new LocalError(
    'message-too-long',
    `metadata of ${bytes.length} bytes: a binary message has room for ${longest}`,
  );
export const nonceExhausted = (): LocalError =>
  new LocalError('nonce-exhausted', 'every nonce of this session is used: close it and connect again');

// wrong-state, session-over

/** A session, for the name of its state. */
interface HasState {
  readonly state: string;
}

export const calledInside = (): LocalError =>
  new LocalError(
    'wrong-state',
    'injected code called the object that called it: call it after the callback has returned',
  );
export const handshakeOver = (): LocalError =>
  new LocalError('wrong-state', 'the handshake or transport is over: make a new HandshakeState');
export const notDue = (method: string, due: string): LocalError =>
  new LocalError('wrong-state', `${method}() was called, but ${due}() is next`);
export const nothingToResume = (): LocalError =>
  new LocalError('wrong-state', 'resume() was called, but nothing is paused');
export const splitTooEarly = (): LocalError =>
  new LocalError('wrong-state', 'split() before the last handshake message');
export const resultTooEarly = (): LocalError =>
  new LocalError('wrong-state', 'result() before run() has returned true');
export const derivationOver = (): LocalError =>
  new LocalError('wrong-state', 'this derivation is over: make a new Argon2id');
export const reassemblerOver = (): LocalError =>
  new LocalError('wrong-state', 'this reassembler is destroyed: make a new one');
export const clientStarted = (session: HasState): LocalError =>
  new LocalError('wrong-state', `start() in state ${session.state}: each attempt is a new session`);
export const hubStarted = (session: HasState): LocalError =>
  new LocalError('wrong-state', `start() in state ${session.state}`);
export const hubNotStarted = (): LocalError =>
  new LocalError('wrong-state', 'receive() before start(): the hub speaks first');
export const pskTooEarly = (): LocalError =>
  new LocalError('wrong-state', 'providePsk() before psk-needed: a stored PSK goes into the keyring');
export const notReady = (session: HasState): LocalError =>
  new LocalError('wrong-state', `sending in state ${session.state}: wait for the ready event`);
export const lateQuestion = (): LocalError =>
  new LocalError(
    'wrong-state',
    'the question could not be sent in time: there was no connection, or an earlier question was still open. Ask again',
  );
export const noQuestions = (): LocalError =>
  new LocalError('wrong-state', 'ask() without "requests": pass a function that makes a RequestScheduler');
export const nothingToTrust = (): LocalError =>
  new LocalError('wrong-state', 'trust() while no hub has presented another key');
export const linkEnded = (): LocalError =>
  new LocalError('session-over', 'the client has ended, because end() was called');
export const sessionOver = (failure: unknown): LocalError =>
  new LocalError('session-over', 'the session is over: connect again with a new one', failure);
export const connectionEnded = (): LocalError =>
  new LocalError('session-over', 'the connection ended: create a new RequestScheduler for the next one');

// Identities

export const identityNotJson = (input: unknown): LocalError =>
  new LocalError('identity-not-json', `the identity ${damageIn(input)}`);
export const identityNotAnObject = (kind: string): LocalError =>
  new LocalError(
    'identity-not-an-object',
    `the identity is not an object but of type ${kind}: is this the right file?`,
  );
export const noAccessKey = (): LocalError => new LocalError('identity-access-key', missing('access_key'));
export const noPassword = (): LocalError => new LocalError('identity-password', missing('password'));

function missing(name: string): string {
  return `the identity’s ${name} is missing, empty or not a string: issue it again, or pass the identity and not a copy`;
}

/** A required field of the wrong type. */
export const badField = (name: string, what: string): LocalError =>
  new LocalError('identity-field', `the identity’s field ${name} is not ${what}`);

// Keyrings

export const keyringNotJson = (input: unknown, isJson: boolean): LocalError =>
  new LocalError(
    'keyring-not-json',
    `the keyring ${isJson ? 'is not a JSON object' : damageIn(input)}: restore it from a copy`,
  );
export const keyringVersion = (version: number): LocalError =>
  new LocalError(
    'keyring-version',
    `the keyring does not have version ${version}: find out which program wrote it`,
  );
export const badKeyring = (fault: string): LocalError =>
  new LocalError('keyring-field', `the keyring cannot be used, because a field ${fault}: restore it`);
export const badStoredKey = (name: string): LocalError =>
  badKeyring(`${name} is not a key of 32 bytes in hex`);
export const otherIdentity = (): LocalError =>
  new LocalError(
    'keyring-other-identity',
    'the keyring belongs to another access key: each identity has its own, with its own static key',
  );
export const slotsUnreadable = (): LocalError =>
  new LocalError(
    'slots-unreadable',
    'neither slot is complete, so pins may be lost: restore one of them from a copy',
  );
export const pinDiffers = (): LocalError =>
  new LocalError(
    'pin-differs',
    'another key of this hub was pinned in the meantime: close this session, and find out which hub it is',
  );
export const keyringFull = (): LocalError =>
  new LocalError(
    'keyring-full',
    'the keyring has the keys of 16 hubs, and this is another one: find out why there are so many, then remove those that are ' +
      'gone with dropPin() and forgetPsks()',
  );
export const staticKeyFresh = (): LocalError =>
  new LocalError(
    'static-key-fresh',
    'this pinned hub has refused KKpsk0, and no hub has accepted the present static key yet. If the hub holds another key ' +
      'for this client, it will refuse this one: restore the lost key, share one key between programs, or ask the ' +
      'operator of the hub to reset it',
  );

// Addresses and topics

export const unsupportedProtocol = (): LocalError =>
  new LocalError('unsupported-protocol', 'the requested protocol is not among the supported ones');

/** @param misnomersIn - finds the fields that look as if they were meant for an address */
export function noEndpoint(misnomersIn: () => readonly string[]): LocalError {
  const names = misnomersIn();
  const misnomers = names.length === 0 ? '' : `. Unknown fields: ${names.join(', ')}`;
  return new LocalError(
    'no-endpoint',
    'the identity has no address for a protocol that the hub serves and that may be used here: expected ' +
      `data_plane_endpoints with wss, default_master, or mqtt with endpoint, username and password${misnomers}`,
  );
}

export const badAddress = (address: string, fault: string): LocalError =>
  new LocalError('bad-endpoint', `${address} ${fault}`);
export const badIdentityAddress = (protocol: string): LocalError =>
  badAddress(`the identity’s address for ${protocol}`, 'is not a URL for that protocol');
export const unreadableAddress = (name: string): LocalError =>
  badAddress(`the identity’s field ${name}`, 'has no value that can be used: issue it again');
export const badUrl = (): LocalError =>
  new LocalError('bad-endpoint', '"url" expected a WebSocket URL without a fragment');

/** An address without TLS. */
export const plaintextEndpoint = (what: string): LocalError =>
  new LocalError(
    'plaintext-endpoint',
    `${what} does not use TLS, so anyone on the network path could read the credentials: issue one with TLS, or pass allowPlaintext: true if the network is trusted`,
  );
export const plaintextAddress = ({ protocol }: { readonly protocol: string }): LocalError =>
  plaintextEndpoint(`the identity’s address for ${protocol}`);
export const badTopic = (what: string): LocalError =>
  new LocalError(
    'bad-topic',
    `${what} is empty or too long, or contains a wildcard, white space, a control character or an empty level`,
  );
export const badTopicField = (name: string): LocalError => badTopic(`the identity’s field mqtt.${name}`);
export const topicOutOfScope = (): LocalError =>
  new LocalError(
    'topic-out-of-scope',
    'a topic of the identity’s mqtt lies outside this client’s scope: issue the identity again, or pass its access key',
  );
export const noTopics = (): LocalError =>
  new LocalError(
    'no-topics',
    'the identity’s mqtt has no topics, and too little to derive them: issue it again with a topic_prefix',
  );

// JSON of the peer

/** A place in JSON. */
interface Place {
  readonly at: number;
}

export const badUtf8 = (): RemoteError => new RemoteError('bad-utf8', 'not JSON: the bytes are not UTF-8');

export const badJson = (fault: string, { at }: Place): RemoteError =>
  new RemoteError('bad-json', `not JSON: ${fault} after ${at} bytes`);
export const duplicateKey = ({ at }: Place): RemoteError =>
  new RemoteError('duplicate-key', `JSON with the same key twice in one object before byte ${at}`);
export const receivedLoneSurrogate = ({ at }: Place): RemoteError =>
  new RemoteError('lone-surrogate', `JSON with a lone surrogate before byte ${at}`);
export const notUnicode = (): RemoteError =>
  new RemoteError('lone-surrogate', 'not JSON: a string with a lone surrogate cannot be encoded as UTF-8');
export const jsonTooDeep = (deepest: number): RemoteError =>
  new RemoteError('json-depth', `JSON nested deeper than ${deepest}`);

// Cleartext envelopes

export const envelopeTooLarge = (longest: number): RemoteError =>
  new RemoteError('envelope-too-large', `a cleartext envelope is longer than ${longest} bytes`);
export const notAnEnvelope = (): RemoteError =>
  new RemoteError('bad-envelope', 'a cleartext message is not a JSON object');
export const badMessageType = (): RemoteError =>
  new RemoteError('bad-envelope', 'the msg_type of an envelope is not a string');

/** @param of - an envelope or a binary message */
export const badPayload = (of: string): RemoteError =>
  new RemoteError('bad-payload', `the payload of ${of} is not an object`);
export const noNoiseField = (): RemoteError =>
  new RemoteError('bad-payload', 'the noise field of the HANDSHAKE is not an object');
export const nothingChosen = (): RemoteError =>
  new RemoteError('bad-payload', 'message 1 lacks noise.pattern or noise.suite');
export const unexpectedMessage = (state: string): RemoteError =>
  new RemoteError('unexpected-message', `a cleartext message arrived that state ${state} does not allow`);

// Negotiation

export const handshakeBeforeHello = (): RemoteError =>
  new RemoteError('handshake-before-hello', 'the hub sent a HANDSHAKE before the HELLO that it belongs to');
export const noNodeId = (): RemoteError =>
  new RemoteError('missing-node-id', 'the HELLO has no node_id: check that the address belongs to a hub');
export const badNodeId = (longest: number): RemoteError =>
  new RemoteError(
    'bad-node-id',
    `the node_id of the HELLO is not a string, is empty, or is longer than ${longest} bytes`,
  );
export const protocolVersion = (): RemoteError =>
  new RemoteError(
    'protocol-version',
    'the peer does not speak protocol 3: update it (HiveMind’s hub to hivemind-core 4.7 or later: pip install --upgrade --pre hivemind-core)',
  );
export const badOffer = (): RemoteError =>
  new RemoteError('bad-offer', 'noise.patterns or noise.suites of the HANDSHAKE is not a list of strings');
export const incompleteOffer = (patterns: readonly string[], suites: readonly string[]): RemoteError =>
  new RemoteError(
    'bad-offer',
    `the hub does not offer ${patterns[0]} and ${suites[0]}, as every hub has to: update it`,
  );
export const noCommonPattern = (): RemoteError =>
  new RemoteError('no-common-pattern', 'the hub offers no handshake pattern that this client may use');
export const noCommonSuite = (): RemoteError =>
  new RemoteError(
    'no-common-suite',
    'the hub offers no cipher suite that the crypto of this client supports',
  );
export const notOffered = (): RemoteError =>
  new RemoteError('not-offered', 'message 1 names a pattern or a suite that was not offered');

// The Noise handshake

export const badHex = (): RemoteError =>
  new RemoteError('bad-hex', 'noise.msg of the HANDSHAKE is not a string of hex digits');
export const receivedTooShort = (): RemoteError =>
  new RemoteError('message-too-short', 'a Noise message that was cut short');
export const receivedTooLong = (longest: number): RemoteError =>
  new RemoteError('message-too-long', `a Noise message of more than ${longest} bytes`);
export const receivedLowOrderKey = (): RemoteError =>
  new RemoteError(
    'low-order-key',
    'the peer sent a low-order public key, which would make the shared secret public',
  );
export const staticKeyNotAuthentic = (): RemoteError =>
  new RemoteError('static-key-not-authentic', 'a handshake message whose static key is not authentic');
export const payloadNotAuthentic = (): RemoteError =>
  new RemoteError('payload-not-authentic', 'a handshake message whose payload is not authentic');
export const prologueDiffers = (): RemoteError =>
  new RemoteError(
    'prologue-differs',
    'the client has another prologue: it bound a different HELLO or HANDSHAKE',
  );
export const pskDiffers = (): RemoteError =>
  new RemoteError(
    'psk-differs',
    'the hub has another password for this client, or a third party interfered: check the password of the identity',
  );

const KK_SENTENCE =
  'the handshake with the pinned key failed: the hub has another password, a new static key, or another ' +
  'static key for this client; or a third party interfered. The pin is kept; the next attempt with XXpsk2 shows which';

export const kkFailed = (): RemoteError => new RemoteError('kk-failed', KK_SENTENCE);
export const kkFailedAtHub = (): RemoteError =>
  new RemoteError('kk-failed', 'KKpsk0 failed: the client has another password, pin, static key or prologue');
export const badHandshakePayload = (fault: string): RemoteError =>
  new RemoteError('bad-handshake-payload', `the payload of a handshake message cannot be read: ${fault}`);
export const unknownHub = (nodeId: string): RemoteError =>
  new RemoteError(
    'unknown-hub',
    'the hub is not pinned, and only pinned hubs are trusted: find out which hub this is, then provision its pin',
    { nodeId },
  );
export const anotherHub = (nodeId: string): RemoteError =>
  new RemoteError(
    'unknown-hub',
    'three other hubs that are not pinned have answered within an hour, and now this one: find out who answers at this address, ' +
      'then provision the pin of the right one',
    { nodeId },
  );

/** @param show - writes the fingerprint of a key */
export const hubKeyChanged = (
  nodeId: string,
  pinnedKey: Uint8Array,
  hubKey: Uint8Array,
  show: (key: Uint8Array) => string,
): RemoteError =>
  new RemoteError(
    'hub-key-changed',
    `the hub presents the key ${show(hubKey)}, and ${show(pinnedKey)} is pinned: ask the hub’s operator whether the hub ` +
      'itself shows the new key, and pin it only then',
    { nodeId, pinnedKey, hubKey },
  );
export const clientKeyChanged = (): RemoteError =>
  new RemoteError(
    'client-key-changed',
    'the client has a different static key from the one that is pinned for its access key',
  );

// Transport messages and frames

export const textAfterReady = (): RemoteError =>
  new RemoteError(
    'text-after-ready',
    'a cleartext message arrived on the encrypted session: the peer has lost the session, as a hub on MQTT does after ' +
      'minutes without a message, or a third party wrote it. Connect again',
  );
export const notAuthentic = (): RemoteError =>
  new RemoteError(
    'not-authentic',
    'a message that is not authentic: damaged, out of order, or not written by the peer',
  );
export const peerNonceExhausted = (): RemoteError =>
  new RemoteError('nonce-exhausted', 'the peer used every nonce of this session: connect again');
export const frameTooLong = (longest: number): RemoteError =>
  new RemoteError('frame-too-long', `a transport message of more than ${longest} bytes, the option maxFrame`);
export const emptyPlaintext = (): RemoteError =>
  new RemoteError('empty-plaintext', 'a transport message has no marker');
export const unknownMarker = (marker: number): RemoteError =>
  new RemoteError('unknown-marker', `a transport message has the unknown marker ${marker}`);
export const chunkWithoutStart = (): RemoteError =>
  new RemoteError('chunk-without-start', 'a chunk arrived, and no message was started');
export const messageWhileOpen = (): RemoteError =>
  new RemoteError('message-while-open', 'a message started before the previous one ended');

// Binary messages

export const badBinary = (fault: string): RemoteError =>
  new RemoteError('bad-binary-message', `a binary message ${fault}`);
export const binaryVersion = (version: number): RemoteError =>
  new RemoteError('binary-version', `a binary message has version ${version}`);
export const reservedType = (code: number): RemoteError =>
  new RemoteError('reserved-code', `a binary message has the reserved type ${code}`);
export const reservedPayloadType = (code: number): RemoteError =>
  new RemoteError('reserved-code', `a binary message has the reserved payload type ${code}`);
export const badMetadata = (): RemoteError =>
  new RemoteError('bad-metadata', 'the metadata of a binary message is not an object');
export const compressed = (): RemoteError =>
  new RemoteError('compressed', 'a binary message is compressed: pass inflate to decodeBinary');
export const badCompression = (): RemoteError =>
  new RemoteError('bad-compression', 'a binary message cannot be inflated within the limit');
export const inflatedTooLong = (longest: number): RemoteError =>
  new RemoteError('bad-compression', `a binary message holds more than ${longest} bytes when inflated`);

// The first transport message at a hub

export const noHello = (): RemoteError =>
  new RemoteError('no-hello', 'the first message of the client is not its HELLO');
export const badHello = (): RemoteError =>
  new RemoteError('bad-hello', 'the HELLO of the client has a session, site_id or pubkey of the wrong type');

// How a connection ended

/** The state in which a connection ended, and what the transport knows. */
interface Facts {
  readonly state: string;
  readonly status?: number | undefined;
  readonly platformCode?: string | undefined;
}

/** The error of a client's ending. Its message says what an operator can do. */
export const clientEnding = (code: EndingCode, { state, status, platformCode }: Facts): RemoteError =>
  new RemoteError(code, clientEndingSentence(code, state), { status, platformCode });

function clientEndingSentence(code: EndingCode, state: string): string {
  switch (code) {
    case 'timeout':
      return `no message arrived in state ${state}: the hub is slow, or ignores this client, and its log may say why`;
    case 'unavailable':
      return 'the hub accepts no connection at the moment: it may be starting, or full; connect again later';
    case 'not-reachable':
      return 'no connection to the hub can be made: check the address, the network, and whether the hub is running';
    case 'certificate-refused':
      return 'the certificate of the hub cannot be verified: check the clock, the name in the certificate, and its authority';
    case 'not-a-hub':
      return 'the server does not answer as a hub: check the port and the path of the address';
    case 'broker-refused':
      return 'the broker refuses this client: ask its operator to check the account and its access to the topics';
    case 'access-refused':
      return 'the connection was refused: the hub may not know the access key, not have admitted it yet, or accept no more clients';
    case 'negotiation-refused':
      return (
        'the connection was refused after message 1: the hub may refuse the access key, the pattern or the suite, or have bound ' +
        'a different HELLO or HANDSHAKE'
      );
    case 'kk-refused':
      return KK_SENTENCE;
    case 'client-key-refused':
      return (
        'the connection was refused after message 3. Most likely the hub has another static key for this client: another ' +
        'program may use the identity, or the key was lost. Share the key or restore it, or ask the operator of the hub ' +
        'to reset it or to issue a new identity. A hub that failed for another reason, or a third party, looks the same'
      );
    case 'refused':
      return (
        'the connection was refused before the hub sent anything: it may have revoked the access key, have another static ' +
        'key for this client now, or accept no more clients'
      );
    case 'dropped':
      return 'the connection was lost: connect again';
  }
}

/** The error of a hub's ending. */
export const hubEnding = (code: EndingCode, { state }: Facts): RemoteError =>
  new RemoteError(code, hubEndingSentence(code, state));

function hubEndingSentence(code: EndingCode, state: string): string {
  if (code === 'timeout') return `no message arrived from the client in state ${state}`;
  return state === 'awaiting-message-3'
    ? 'the client closed the connection instead of sending message 3: it may have another password or pin for this hub'
    : `the client closed the connection in state ${state}`;
}

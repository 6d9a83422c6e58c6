/** The options of a HandshakeState. */
import { readOptions } from '../arguments.ts';
import { assertBytes, kindOf } from '../bytes.ts';
import { assertStaticKey, CheckedCrypto } from '../crypto/checked.ts';
import type { Crypto, KeyPair, RandomBytes } from '../crypto/crypto.ts';
import { LocalError } from '../errors.ts';
import { KEY_LENGTH } from '../limits.ts';
import { type HandshakePatternName, isPattern, isSuite, PATTERNS, SUITES, type Suite } from './patterns.ts';

export interface HandshakeOptions {
  crypto: Crypto;
  role: 'initiator' | 'responder';
  pattern: HandshakePatternName;
  suite: Suite;
  /** Of any length; it must be the same on both sides. */
  prologue: Uint8Array;
  /** The pre-shared key; 32 bytes. */
  psk: Uint8Array;
  /**
   * Our static key: the private key, 32 bytes; or a key pair whose private key is kept elsewhere. If that has no
   * `sharedSecret`, use `write`, `read` and `resume`.
   */
  staticKey: Uint8Array | KeyPair;
  /** The peer's static public key, 32 bytes: required for KKpsk0, refused for XXpsk2, which transmits it. */
  remoteStaticKey?: Uint8Array | undefined;
  /** Called once, for the 32 bytes of the ephemeral private key. */
  randomBytes: RandomBytes;
}

const NAMES: readonly (keyof HandshakeOptions)[] = [
  'crypto',
  'role',
  'pattern',
  'suite',
  'prologue',
  'psk',
  'staticKey',
  'remoteStaticKey',
  'randomBytes',
];

/** The options, read once and checked. */
export interface HandshakeInputs extends Omit<HandshakeOptions, 'crypto'> {
  readonly crypto: CheckedCrypto;
}

/** @throws LocalError `bad-argument`, `bad-length`, `suite-unavailable` */
export function readHandshakeOptions(options: HandshakeOptions): HandshakeInputs {
  const read = readOptions(options, 'options', NAMES);
  const crypto = new CheckedCrypto(read.crypto);
  const { role, pattern, suite, prologue, psk, staticKey, remoteStaticKey, randomBytes } = read;
  if (role !== 'initiator' && role !== 'responder') {
    throw new LocalError('bad-argument', '"role" expected "initiator" or "responder"');
  }
  if (!isPattern(pattern)) throw new LocalError('bad-argument', '"pattern" expected "XXpsk2" or "KKpsk0"');
  if (!isSuite(suite))
    throw new LocalError('bad-argument', '"suite" expected a suite such as "25519_ChaChaPoly_SHA256"');
  const cipherName = SUITES[suite];
  if (!crypto.hasCipher(cipherName)) {
    throw new LocalError(
      'suite-unavailable',
      `the injected crypto has no ${cipherName}: inject one, or use another suite`,
    );
  }
  assertBytes(prologue, 'prologue');
  assertBytes(psk, 'psk', KEY_LENGTH);
  assertStaticKey(staticKey);
  if (typeof randomBytes !== 'function') {
    throw new LocalError('bad-argument', `"randomBytes" expected function, got ${kindOf(randomBytes)}`);
  }
  if (PATTERNS[pattern].staticKeysKnown) assertBytes(remoteStaticKey, 'remoteStaticKey', KEY_LENGTH);
  else if (remoteStaticKey !== undefined) {
    throw new LocalError(
      'bad-argument',
      '"remoteStaticKey" is transmitted in XXpsk2: compare it after the handshake',
    );
  }
  return { crypto, role, pattern, suite, prologue, psk, staticKey, remoteStaticKey, randomBytes };
}

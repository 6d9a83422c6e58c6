/** The options of a HandshakeState, and their checks. */
import { assertBytes, assertFlag, type OptionNames, readOptions } from '../arguments.ts';
import { CheckedCrypto, type CheckedKeyPair } from '../crypto/checked.ts';
import type { CryptoProvider, KeyPair, RandomBytes } from '../crypto/crypto.ts';
import * as errors from '../errors-table.ts';
import { KEY_LENGTH } from '../limits.ts';
import type { HandshakeInputs } from './handshake.ts';
import { cipherNameOf, isPattern, isSuite, PATTERNS, type Pattern, type Suite } from './patterns.ts';

/** The options of a HandshakeState. */
export interface HandshakeOptions {
  /** The cryptography. It must have the cipher of the suite. */
  crypto: CryptoProvider;
  /** Which side this is. The initiator writes the first message. */
  role: 'initiator' | 'responder';
  /** The handshake pattern, the same on both sides. */
  pattern: Pattern;
  /** The cipher suite, the same on both sides. */
  suite: Suite;
  /** Any length; the same on both sides. */
  prologue: Uint8Array;
  /** The pre-shared key; 32 bytes. */
  psk: Uint8Array;
  /**
   * Our static key: the private key, 32 bytes; or a key pair, whose public key need not be computed. If the pair has
   * neither `privateKey` nor `sharedSecret`, pass the shared secrets to `resume`.
   */
  staticKey: Uint8Array | KeyPair;
  /** The peer's static public key, 32 bytes: required for KKpsk0, refused for XXpsk2, which transmits it (default none). */
  remoteStaticKey?: Uint8Array | undefined;
  /** Called once, for the 32 bytes of the ephemeral private key. Required without `ephemeralKey` (default none). */
  randomBytes?: RandomBytes | undefined;
  /**
   * Our ephemeral key, if it was made ahead (default: made by `randomBytes` with the first message): 32 new random bytes, or their key
   * pair, with `privateKey` or `sharedSecret`. Never use it for a second handshake, which would lose its secrecy.
   */
  ephemeralKey?: Uint8Array | KeyPair | undefined;
  /**
   * Whether each `resume()` does only one step (default false), for callers with other work to do in between: it computes one shared
   * secret, processes one token of the pattern, or seals or opens the payload. Missing public keys are computed as usual: the static one in
   * the constructor, the ephemeral one with its token.
   */
  paced?: boolean | undefined;
}

const NAMES: OptionNames<HandshakeOptions> = {
  crypto: true,
  role: true,
  pattern: true,
  suite: true,
  prologue: true,
  psk: true,
  staticKey: true,
  remoteStaticKey: true,
  randomBytes: true,
  ephemeralKey: true,
  paced: true,
};

/**
 * Reads and checks the options.
 * @throws LocalError `bad-argument`, `bad-length`, `suite-unavailable`, `crypto-failed`
 */
export function readHandshakeOptions(options: HandshakeOptions): HandshakeInputs {
  const read = readOptions(options, 'options', NAMES);
  const crypto = new CheckedCrypto(read.crypto);
  const { role, pattern, suite, prologue, psk, remoteStaticKey, randomBytes } = read;
  if (role !== 'initiator' && role !== 'responder') {
    throw errors.expectedChoice('role', ['initiator', 'responder']);
  }
  if (!isPattern(pattern)) throw errors.expectedChoice('pattern', ['XXpsk2', 'KKpsk0']);
  if (!isSuite(suite)) throw errors.expected('suite', 'a suite such as "25519_ChaChaPoly_SHA256"');
  const cipherName = cipherNameOf(suite);
  if (crypto.ciphers[cipherName] === undefined) {
    throw errors.suiteUnavailable(cipherName);
  }
  assertBytes(prologue, 'prologue');
  assertBytes(psk, 'psk', KEY_LENGTH);
  if (read.ephemeralKey === undefined && typeof randomBytes !== 'function') {
    throw errors.expectedType('randomBytes', 'function', randomBytes);
  }
  if (PATTERNS[pattern].staticKeysKnown) assertBytes(remoteStaticKey, 'remoteStaticKey', KEY_LENGTH);
  else if (remoteStaticKey !== undefined) {
    throw errors.keyIsTransmitted();
  }
  const isPaced = assertFlag(read.paced, 'paced');
  const staticKey = crypto.ownKey(read.staticKey, 'staticKey');
  let ephemeralKey: CheckedKeyPair | undefined;
  try {
    if (read.ephemeralKey !== undefined) ephemeralKey = crypto.ownKey(read.ephemeralKey, 'ephemeralKey');
    if (ephemeralKey?.isAsynchronous) {
      throw errors.noPrivateKey();
    }
    return {
      crypto,
      isInitiator: role === 'initiator',
      pattern,
      suite,
      prologue,
      psk,
      staticKey,
      remoteStaticKey,
      randomBytes,
      ephemeralKey,
      isPaced,
    };
  } catch (error) {
    staticKey.destroy();
    ephemeralKey?.destroy();
    throw error;
  }
}

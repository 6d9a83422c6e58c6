/**
 * A handshake of the Noise framework (Noise spec, section 5.3) for XXpsk2 and KKpsk0, in either role. Patterns are data; one
 * loop processes their tokens, whether a message is written or read. It can stop at a token, for a static key outside
 * JavaScript or a caller that paces it.
 *
 * Sessions use it directly. They pass checked arguments, call methods in the right order, and destroy it after the first
 * error. For all other callers, HandshakeState ensures this.
 */
import { assertBytes } from '../arguments.ts';
import { type Bytes, concatBytes, copyBytes, equalBytes, isZero, wipe } from '../bytes.ts';
import { type CheckedCrypto, type CheckedKeyPair, randomKey } from '../crypto/checked.ts';
import type { RandomBytes } from '../crypto/crypto.ts';
import { RemoteError } from '../errors.ts';
import * as errors from '../errors-table.ts';
import { KEY_LENGTH, MAX_NOISE_MESSAGE, TAG_LENGTH } from '../limits.ts';
import { opaque } from '../opaque.ts';
import { assertMessageLength, type CipherState } from './cipher-state.ts';
import {
  cipherNameOf,
  type HandshakePattern,
  nameOf,
  PATTERNS,
  type Pattern,
  type Suite,
  type Token,
} from './patterns.ts';
import { SymmetricState } from './symmetric-state.ts';

type DhToken = 'ee' | 'es' | 'se' | 'ss';

/** Shared secrets that are computed and not yet mixed in, by their tokens. */
export type SharedSecrets = { [token in DhToken]: Uint8Array | undefined };

/** Has every field from the start: if adding one failed for lack of memory, nothing would wipe the secret meant for it. */
export function noSecrets(): SharedSecrets {
  return { ee: undefined, es: undefined, se: undefined, ss: undefined };
}

export function wipeSecrets(secrets: SharedSecrets): void {
  wipe(secrets.ee); // one by one: to enumerate them takes memory, and there may be none left
  wipe(secrets.es);
  wipe(secrets.se);
  wipe(secrets.ss);
  secrets.ee = secrets.es = secrets.se = secrets.ss = undefined;
}

/** The inputs of a handshake. */
export interface HandshakeInputs {
  readonly crypto: CheckedCrypto;
  readonly isInitiator: boolean;
  readonly pattern: Pattern;
  readonly suite: Suite;
  readonly prologue: Uint8Array;
  /** Copied. */
  readonly psk: Uint8Array;
  /** Wiped by `destroy`, as is the ephemeral key. */
  readonly staticKey: CheckedKeyPair;
  /** For KKpsk0 alone; copied. */
  readonly remoteStaticKey: Uint8Array | undefined;
  /** Required without `ephemeralKey`. */
  readonly randomBytes?: RandomBytes | undefined;
  readonly ephemeralKey?: CheckedKeyPair | undefined;
  readonly isPaced: boolean;
}

/** The result of a handshake (Noise spec, section 5.3, Split). */
export interface SessionKeys {
  /** This side seals with it. */
  readonly sending: CipherState;
  /** The peer seals with it. */
  readonly receiving: CipherState;
  /** The handshake hash h; 32 bytes. */
  readonly handshakeHash: Bytes;
  /** The peer's static public key; 32 bytes. */
  readonly remoteStaticKey: Bytes;
}

/** A message that is being written or read. */
interface MessageInProgress {
  /** The payload to be written, or the message to be read. */
  readonly input: Uint8Array;
  /** The parts of the message written so far. */
  readonly parts: Uint8Array[];
  /** How many bytes of the message have been read. */
  read: number;
  nextToken: number;
  /** The public key for which `resume` needs the shared secret with our static key. */
  awaited: Uint8Array | undefined;
}

/**
 * Makes an ephemeral key pair.
 * @throws LocalError `bad-random` also for the static key: a generator that starts with the same seed made both
 */
export function newEphemeral(
  crypto: CheckedCrypto,
  randomBytes: RandomBytes,
  staticKey: CheckedKeyPair,
): CheckedKeyPair {
  const pair = crypto.keyPair(randomKey(randomBytes));
  if (!equalBytes(pair.publicKey, staticKey.publicKey)) return pair;
  pair.destroy();
  throw errors.badRandom(KEY_LENGTH);
}

export class Handshake {
  /** The peer's static public key; under XXpsk2, authentic once the message that contains it is read. */
  rs: Bytes | undefined = undefined; // the four keys have their names in the Noise spec
  /** The unfinished message, if there is one. */
  work: MessageInProgress | undefined = undefined;
  /** Wiped by `destroy`. An initiator that knows `rs` may set `es` and `ss`, if it computed them before. */
  ahead: SharedSecrets = noSecrets();
  private readonly crypto: CheckedCrypto;
  private readonly isInitiator: boolean;
  private readonly pattern: HandshakePattern;
  private readonly randomBytes: RandomBytes | undefined;
  private readonly isPaced: boolean;
  private readonly symmetricState: SymmetricState;
  private readonly psk: Uint8Array;
  private readonly s: CheckedKeyPair;
  private e: CheckedKeyPair | undefined;
  private re: Uint8Array | undefined = undefined;
  private nextMessage = 0;

  /** @throws LocalError `crypto-failed` */
  constructor(inputs: HandshakeInputs) {
    const { crypto, isInitiator, pattern, suite, prologue, staticKey, remoteStaticKey } = inputs;
    this.crypto = crypto;
    this.isInitiator = isInitiator;
    this.pattern = PATTERNS[pattern];
    this.randomBytes = inputs.randomBytes;
    this.isPaced = inputs.isPaced;
    this.s = staticKey;
    this.e = inputs.ephemeralKey;
    this.symmetricState = new SymmetricState(crypto, nameOf(pattern, suite), cipherNameOf(suite));
    this.symmetricState.mixHash(prologue);
    if (remoteStaticKey !== undefined) {
      this.rs = copyBytes(remoteStaticKey);
      this.symmetricState.mixHash(this.isInitiator ? this.s.publicKey : this.rs);
      this.symmetricState.mixHash(this.isInitiator ? this.rs : this.s.publicKey);
    }
    this.psk = copyBytes(inputs.psk); // last, since it would not be wiped if the above threw
  }

  /** Whether all messages are written and read, and only `split` remains. */
  get isFinished(): boolean {
    return this.nextMessage === this.pattern.messages.length;
  }

  /** Whether this side writes the next message. */
  get isOurTurn(): boolean {
    return (this.nextMessage % 2 === 0) === this.isInitiator;
  }

  /** As in HandshakeState. */
  get dhNeeded(): Bytes | undefined {
    const awaited = this.work?.awaited;
    return awaited && copyBytes(awaited);
  }

  /** Writes the next message, with a payload that fits. Returns `undefined` if `resume` must be called first. */
  writeMessage(payload: Uint8Array): Bytes | undefined {
    return this.begin(payload);
  }

  /**
   * Reads the next message. Returns its payload, or `undefined` if `resume` must be called first.
   * @param maxPayload - the longest payload to open, in bytes
   */
  readMessage(message: Uint8Array, maxPayload: number): Bytes | undefined {
    const shortest = this.shortestMessage();
    assertMessageLength(message, shortest, Math.min(shortest + maxPayload, MAX_NOISE_MESSAGE));
    return this.begin(message);
  }

  /** Continues the message for which `writeMessage` or `readMessage` returned `undefined`. */
  resume(sharedSecret: Uint8Array | undefined): Bytes | undefined {
    const work = this.work!;
    const { awaited } = work;
    if (awaited === undefined) return this.step(work);
    work.awaited = undefined;
    this.mixSharedSecret(copyBytes(sharedSecret!), awaited);
    return this.advance(work);
  }

  /**
   * Checks that `resume` may be called with this shared secret.
   * @throws LocalError `bad-argument`, `bad-length`
   */
  assertAwaited(sharedSecret: Uint8Array | undefined): void {
    if (this.work?.awaited !== undefined) assertBytes(sharedSecret, 'sharedSecret', KEY_LENGTH);
    else if (sharedSecret !== undefined) {
      throw errors.expected('sharedSecret', 'nothing, since no public key was given for one');
    }
  }

  /** The keys of the session, which the caller owns, and wipes. */
  split(): SessionKeys {
    const { symmetricState, isInitiator } = this;
    const sending = symmetricState.cipherStateToCome();
    const receiving = symmetricState.cipherStateToCome();
    const handshakeHash = symmetricState.handshakeHash();
    const keys = { sending, receiving, handshakeHash, remoteStaticKey: this.rs! };
    symmetricState.split(isInitiator ? sending : receiving, isInitiator ? receiving : sending);
    return keys;
  }

  /** Ends the handshake, and wipes every key. */
  destroy(): void {
    this.work = undefined;
    wipeSecrets(this.ahead);
    wipe(this.psk);
    this.s.destroy();
    this.e?.destroy();
    this.symmetricState.destroy();
  }

  /**
   * The length of the next message with an empty payload. Every pattern in the table has mixed in a key before its
   * first `s` and its first payload, so both have tags.
   */
  shortestMessage(): number {
    const tokens = this.tokens();
    let length = TAG_LENGTH;
    for (let i = 0; i < tokens.length; i++) {
      if (tokens[i] === 'e') length += KEY_LENGTH;
      if (tokens[i] === 's') length += KEY_LENGTH + TAG_LENGTH;
    }
    return length;
  }

  private tokens(): readonly Token[] {
    return this.pattern.messages[this.nextMessage]!;
  }

  private begin(input: Uint8Array): Bytes | undefined {
    // While the message is unfinished, the caller may reuse the array.
    const kept = this.isPaced || this.s.isAsynchronous ? copyBytes(input) : input;
    this.work = { input: kept, parts: [], read: 0, nextToken: 0, awaited: undefined };
    return this.advance(this.work);
  }

  /** Unless it is paced, continues to the end of the message, or until a shared secret is needed. */
  private advance(work: MessageInProgress): Bytes | undefined {
    let result: Bytes | undefined;
    while (result === undefined && !this.isPaced && work.awaited === undefined) result = this.step(work);
    return result;
  }

  private finishMessage(work: MessageInProgress): Bytes {
    let result: Bytes;
    if (this.isOurTurn) {
      work.parts.push(this.symmetricState.encryptAndHash(work.input));
      result = concatBytes(work.parts);
    } else {
      result = this.open(work.input.subarray(work.read), errors.payloadNotAuthentic);
    }
    this.work = undefined;
    this.nextMessage++;
    return result;
  }

  /** Processes the next token, or ends the message if there is none. */
  private step(work: MessageInProgress): Bytes | undefined {
    const tokens = this.tokens();
    const token = tokens[work.nextToken++];
    if (token === undefined) return this.finishMessage(work);
    if (token === 'psk') {
      this.symmetricState.mixKeyAndHash(this.psk);
    } else if (token !== 'e' && token !== 's') {
      this.mixDh(token, work);
    } else if (this.isOurTurn) {
      if (token === 's') {
        work.parts.push(this.symmetricState.encryptAndHash(this.s.publicKey));
      } else {
        this.e ??= newEphemeral(this.crypto, this.randomBytes!, this.s);
        work.parts.push(this.mixEphemeral(this.e.publicKey));
      }
    } else {
      const from = work.read;
      work.read += token === 'e' ? KEY_LENGTH : KEY_LENGTH + TAG_LENGTH;
      const field = work.input.subarray(from, work.read);
      if (token === 's') {
        this.rs = this.open(field, errors.staticKeyNotAuthentic);
      } else {
        this.re = this.mixEphemeral(copyBytes(field));
      }
    }
    // Prepares the cipher for the payload here, since the last step has the most work.
    if (work.nextToken === tokens.length) this.symmetricState.keyedCipherState();
    return undefined;
  }

  /** In patterns with a pre-shared key, an ephemeral key is mixed into the chaining key too (section 9.2). */
  private mixEphemeral(ephemeral: Uint8Array): Uint8Array {
    this.symmetricState.mixHash(ephemeral);
    this.symmetricState.mixKey(ephemeral);
    return ephemeral;
  }

  /** Diffie-Hellman tokens name the initiator's key first. */
  private mixDh(token: DhToken, work: MessageInProgress): void {
    const own = token.charAt(this.isInitiator ? 0 : 1) === 'e' ? this.e! : this.s;
    const remote = token.charAt(this.isInitiator ? 1 : 0) === 'e' ? this.re! : this.rs!;
    const secret = this.ahead[token];
    if (own.isAsynchronous) work.awaited = remote;
    else if (secret !== undefined) this.mixSharedSecret(secret, remote);
    else {
      this.ahead[token] = own.sharedSecret(remote);
      work.nextToken--; // the next step mixes it in
    }
  }

  /** Wipes the shared secret. */
  private mixSharedSecret(sharedSecret: Uint8Array, publicKey: Uint8Array): void {
    if (isZero(sharedSecret)) {
      // Of low order: anyone would know the shared secret. The peer sent the key, or it was given locally.
      const isGiven = this.pattern.staticKeysKnown && publicKey === this.rs;
      throw isGiven ? errors.storedLowOrderKey() : errors.receivedLowOrderKey();
    }
    try {
      this.symmetricState.mixKey(sharedSecret);
    } finally {
      wipe(sharedSecret);
    }
  }

  private open(sealed: Uint8Array, notAuthentic: () => RemoteError): Bytes {
    try {
      return this.symmetricState.decryptAndHash(sealed);
    } catch (error) {
      if (!(error instanceof RemoteError)) throw error;
      throw notAuthentic();
    }
  }
}
opaque(Handshake.prototype, 'Handshake');

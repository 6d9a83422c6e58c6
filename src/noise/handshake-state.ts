/**
 * HandshakeState (Noise spec, section 5.3) for XXpsk2 and KKpsk0, in either role. The pattern is data; one loop
 * writes it and one reads it.
 */
import { assertBytes, concatBytes, copyBytes, isZero, kindOf, wipe } from '../bytes.ts';
import { CheckedCrypto, failureOf, randomKey } from '../crypto/checked.ts';
import type { Crypto, RandomBytes } from '../crypto/crypto.ts';
import { LocalError, RemoteError } from '../errors.ts';
import { KEY_LENGTH, MAX_NOISE_MESSAGE, TAG_LENGTH } from '../limits.ts';
import { opaque } from '../opaque.ts';
import {
  isPattern,
  isSuite,
  PATTERNS,
  type Pattern,
  protocolName,
  SUITES,
  type Suite,
  type Token,
} from './patterns.ts';
import { SymmetricState } from './symmetric-state.ts';
import { assertMessageLength, Transport } from './transport.ts';

export interface HandshakeOptions {
  crypto: Crypto;
  role: 'initiator' | 'responder';
  pattern: Pattern;
  suite: Suite;
  /** Of any length; both sides must have the same. */
  prologue: Uint8Array;
  /** The pre-shared key; 32 bytes. */
  psk: Uint8Array;
  /** Our static private key; 32 bytes. */
  staticKey: Uint8Array;
  /** The peer's static public key; 32 bytes. KKpsk0 needs it, XXpsk2 learns it and takes none. */
  remoteStaticKey?: Uint8Array | undefined;
  /** Asked once, for the 32 bytes of the ephemeral private key. */
  randomBytes: RandomBytes;
}

const EMPTY = new Uint8Array(0);

/**
 * One handshake. Keys given are copied, and the copies wiped when it ends or fails.
 *
 * A throw from `writeMessage` or `readMessage` is final, and is thrown again ever after; the exception is a
 * LocalError about an argument or the turn, found before anything changed.
 */
export class HandshakeState {
  private readonly crypto: CheckedCrypto;
  private readonly isInitiator: boolean;
  private readonly messages: readonly (readonly Token[])[];
  private readonly randomBytes: RandomBytes;
  private readonly symmetricState: SymmetricState;
  private readonly isRsGiven: boolean;
  private readonly psk: Uint8Array;
  private readonly s: Uint8Array; // private keys, and public keys beside them, by the names of the Noise spec
  private readonly sPublic: Uint8Array;
  private e: Uint8Array | undefined;
  private rs: Uint8Array | undefined;
  private re: Uint8Array | undefined;
  private next = 0; // the message that is due
  private failure: LocalError | RemoteError | undefined;

  /** @throws LocalError `bad-argument`, `bad-length`, `suite-unavailable`, `crypto-failed` */
  constructor(options: HandshakeOptions) {
    const { role, pattern, suite, prologue, psk, staticKey, remoteStaticKey, randomBytes } = options;
    const crypto = new CheckedCrypto(options.crypto);
    if (role !== 'initiator' && role !== 'responder') {
      throw new LocalError('bad-argument', '"role" expected "initiator" or "responder"');
    }
    if (!isPattern(pattern)) throw new LocalError('bad-argument', '"pattern" expected "XXpsk2" or "KKpsk0"');
    if (!isSuite(suite)) throw new LocalError('bad-argument', '"suite" expected one of protocol 3');
    const cipherName = SUITES[suite];
    if (!crypto.hasCipher(cipherName)) {
      throw new LocalError('suite-unavailable', `the injected crypto has no ${cipherName}`);
    }
    assertBytes(prologue, 'prologue');
    assertBytes(psk, 'psk', KEY_LENGTH);
    assertBytes(staticKey, 'staticKey', KEY_LENGTH);
    if (isZero(staticKey)) {
      throw new LocalError(
        'bad-argument',
        '"staticKey" is all zeros: restore the stored key, or make a new one',
      );
    }
    if (typeof randomBytes !== 'function') {
      throw new LocalError('bad-argument', `"randomBytes" expected function, got ${kindOf(randomBytes)}`);
    }
    const { staticKeysKnown, messages } = PATTERNS[pattern];
    if (staticKeysKnown) assertBytes(remoteStaticKey, 'remoteStaticKey', KEY_LENGTH);
    else if (remoteStaticKey !== undefined) {
      throw new LocalError(
        'bad-argument',
        '"remoteStaticKey" is learned in XXpsk2: compare it after the handshake',
      );
    }

    this.crypto = crypto;
    this.isInitiator = role === 'initiator';
    this.messages = messages;
    this.randomBytes = randomBytes;
    this.isRsGiven = remoteStaticKey !== undefined;
    this.psk = copyBytes(psk);
    this.s = copyBytes(staticKey);
    try {
      this.sPublic = crypto.publicKey(this.s);
      this.symmetricState = new SymmetricState(crypto, protocolName(pattern, suite), cipherName);
      this.symmetricState.mixHash(prologue);
      if (remoteStaticKey !== undefined) {
        this.rs = copyBytes(remoteStaticKey);
        this.symmetricState.mixHash(this.isInitiator ? this.sPublic : this.rs);
        this.symmetricState.mixHash(this.isInitiator ? this.rs : this.sPublic);
      }
    } catch (error) {
      wipe(this.psk);
      wipe(this.s);
      throw failureOf(error);
    }
  }

  /** Whether all messages are written and read, so that `split` is what is left. */
  get isFinished(): boolean {
    return this.failure === undefined && this.next === this.messages.length;
  }

  /** The peer's static public key, 32 bytes, once a message that carried it was read whole. */
  get remoteStaticKey(): Uint8Array | undefined {
    return this.failure === undefined && this.rs !== undefined ? copyBytes(this.rs) : undefined;
  }

  /**
   * Writes the message that is due.
   * @param payload - at most 65535 bytes less the keys and tags before it
   * @throws LocalError `wrong-state` or `message-too-long`, which change nothing; `bad-random`, `crypto-failed`
   * @throws RemoteError `low-order-key` where the peer's earlier key turns out worthless
   */
  writeMessage(payload: Uint8Array = EMPTY): Uint8Array {
    assertBytes(payload, 'payload');
    this.assertTurn(true);
    const longest = MAX_NOISE_MESSAGE - this.shortestMessage();
    if (payload.length > longest) {
      throw new LocalError(
        'message-too-long',
        `"payload" expected at most ${longest} bytes, got ${payload.length}`,
      );
    }
    try {
      const parts: Uint8Array[] = [];
      const tokens = this.messages[this.next]!;
      for (let i = 0; i < tokens.length; i++) {
        const token = tokens[i]!;
        if (token === 'e') {
          parts.push(this.createEphemeral());
        } else if (token === 's') {
          parts.push(this.symmetricState.encryptAndHash(this.sPublic));
        } else {
          this.mix(token);
        }
      }
      parts.push(this.symmetricState.encryptAndHash(payload));
      this.next++;
      return concatBytes(parts);
    } catch (error) {
      throw this.fail(error);
    }
  }

  /**
   * Reads the message that is due.
   * @returns its payload
   * @throws LocalError `wrong-state`, which changes nothing
   * @throws RemoteError `message-too-short`, `message-too-long`, `low-order-key`, `static-key-not-authentic`,
   *   `payload-not-authentic`
   */
  readMessage(message: Uint8Array): Uint8Array {
    assertBytes(message, 'message');
    this.assertTurn(false);
    try {
      assertMessageLength(message, this.shortestMessage());
      const tokens = this.messages[this.next]!;
      let at = 0;
      for (let i = 0; i < tokens.length; i++) {
        const token = tokens[i]!;
        if (token === 'e') {
          this.re = copyBytes(message.subarray(at, at + KEY_LENGTH));
          at += KEY_LENGTH;
          this.mixEphemeral(this.re);
        } else if (token === 's') {
          const end = at + KEY_LENGTH + TAG_LENGTH;
          this.rs = this.open(message.subarray(at, end), 'static-key-not-authentic');
          at = end;
        } else {
          this.mix(token);
        }
      }
      const payload = this.open(message.subarray(at), 'payload-not-authentic');
      this.next++;
      return payload;
    } catch (error) {
      throw this.fail(error);
    }
  }

  /**
   * Ends the handshake and gives the keys of the session. The handshake is over then.
   * @throws LocalError `wrong-state` before the last message and after the first call; `crypto-failed`
   */
  split(): Transport {
    if (this.failure !== undefined) throw this.failure;
    if (!this.isFinished) throw new LocalError('wrong-state', 'split() before the last handshake message');
    try {
      const handshakeHash = this.symmetricState.handshakeHash();
      const { initiator, responder } = this.symmetricState.split();
      const transport = this.isInitiator
        ? new Transport(initiator, responder, handshakeHash, this.rs!)
        : new Transport(responder, initiator, handshakeHash, this.rs!);
      this.destroy();
      return transport;
    } catch (error) {
      throw this.fail(error);
    }
  }

  /** Wipes every key. The handshake is over then. */
  destroy(): void {
    this.fail(new LocalError('wrong-state', 'this handshake is over: make a new HandshakeState'));
  }

  private assertTurn(isWriting: boolean): void {
    if (this.failure !== undefined) throw this.failure;
    const isOurs = (this.next % 2 === 0) === this.isInitiator;
    if (this.isFinished || isOurs !== isWriting) {
      const due = this.isFinished ? 'split()' : isOurs ? 'writeMessage()' : 'readMessage()';
      throw new LocalError(
        'wrong-state',
        `${isWriting ? 'writeMessage' : 'readMessage'}() where ${due} is due`,
      );
    }
  }

  /** The length of the message that is due, with an empty payload. Each pattern has a key by its first payload. */
  private shortestMessage(): number {
    const tokens = this.messages[this.next]!;
    let length = TAG_LENGTH;
    for (let i = 0; i < tokens.length; i++) {
      if (tokens[i] === 'e') length += KEY_LENGTH;
      if (tokens[i] === 's') length += KEY_LENGTH + TAG_LENGTH;
    }
    return length;
  }

  private createEphemeral(): Uint8Array {
    this.e = randomKey(this.randomBytes);
    const ePublic = this.crypto.publicKey(this.e);
    this.mixEphemeral(ePublic);
    return ePublic;
  }

  /** In patterns with a pre-shared key an ephemeral key is mixed into the chaining key too (section 9.2). */
  private mixEphemeral(ephemeral: Uint8Array): void {
    this.symmetricState.mixHash(ephemeral);
    this.symmetricState.mixKey(ephemeral);
  }

  /** The tokens that send nothing: `psk`, and the Diffie-Hellmans, named initiator's key first. */
  private mix(token: Exclude<Token, 'e' | 's'>): void {
    if (token === 'psk') {
      this.symmetricState.mixKeyAndHash(this.psk);
      return;
    }
    const own = token.charAt(this.isInitiator ? 0 : 1) === 'e' ? this.e : this.s;
    const remote = token.charAt(this.isInitiator ? 1 : 0) === 'e' ? this.re : this.rs;
    const secret = this.crypto.sharedSecret(own!, remote!);
    if (isZero(secret)) throw lowOrderKey(remote === this.rs && this.isRsGiven);
    this.symmetricState.mixKey(secret);
    wipe(secret);
  }

  private open(sealed: Uint8Array, code: 'static-key-not-authentic' | 'payload-not-authentic'): Uint8Array {
    try {
      return this.symmetricState.decryptAndHash(sealed);
    } catch (error) {
      if (!(error instanceof RemoteError)) throw error;
      const part = code === 'payload-not-authentic' ? 'payload' : 'static key';
      throw new RemoteError(code, `a handshake message whose ${part} does not open`);
    }
  }

  /** Ends it all, with what every later call will throw. */
  private fail(error: unknown): LocalError | RemoteError {
    this.failure ??= failureOf(error);
    wipe(this.psk);
    wipe(this.s);
    wipe(this.e);
    this.symmetricState.destroy();
    return this.failure;
  }
}
opaque(HandshakeState.prototype, 'HandshakeState');

/** A public key of low order makes the shared secret known to everybody. The peer sent it, or it was given locally. */
function lowOrderKey(isGiven: boolean): LocalError | RemoteError {
  return isGiven
    ? new LocalError('low-order-key', '"remoteStaticKey" has low order, as no key of a peer has: restore it')
    : new RemoteError(
        'low-order-key',
        'the peer sent a public key of low order, with which no secret is shared',
      );
}

/**
 * HandshakeState (Noise spec, section 5.3) for XXpsk2 and KKpsk0, in either role. Patterns are data; one loop processes
 * their tokens, whether a message is written or read. It can stop at a token, for a static key outside of JavaScript and
 * for a caller who paces it.
 */
import { assertBytes } from '../arguments.ts';
import { type Bytes, concatBytes, copyBytes, isZero, wipe } from '../bytes.ts';
import { type CheckedCrypto, type CheckedKeyPair, randomKey } from '../crypto/checked.ts';
import type { RandomBytes } from '../crypto/crypto.ts';
import { failureOf, LocalError, RemoteError } from '../errors.ts';
import { Guard } from '../guard.ts';
import { KEY_LENGTH, MAX_NOISE_MESSAGE, TAG_LENGTH } from '../limits.ts';
import { hideFields, opaque } from '../opaque.ts';
import { type HandshakeOptions, readHandshakeOptions } from './handshake-options.ts';
import { type HandshakePattern, PATTERNS, protocolName, SUITES, type Token } from './patterns.ts';
import { SymmetricState } from './symmetric-state.ts';
import { assertMessageLength, Transport } from './transport.ts';

const EMPTY = new Uint8Array(0);

/** A message that is being written or read. */
interface MessageInProgress {
  /** The payload to be written, or the message to be read. */
  readonly input: Uint8Array;
  /** What is written of the message. */
  readonly parts: Uint8Array[];
  /** How many bytes are read of the message. */
  read: number;
  nextToken: number;
  /** The public key whose shared secret with our static key `resume` has to be given. */
  awaited: Uint8Array | undefined;
}

/**
 * One handshake. It copies the keys it is given, and wipes the copies when it ends or fails.
 *
 * An error while a message is written or read is final: every later call throws it again. The exception is a LocalError
 * about an argument or the order of calls, which changes nothing.
 * @see Noise spec, section 5.3
 *
 * @example
 * import { HandshakeState } from 'hub-protocol';
 * import { nodeCrypto as crypto, randomBytes } from 'hub-protocol/node';
 *
 * const shared = { crypto, randomBytes, pattern: 'XXpsk2', suite: '25519_ChaChaPoly_SHA256' } as const;
 * const secret = { prologue: new Uint8Array(0), psk: randomBytes(32) };
 * const initiator = new HandshakeState({ ...shared, ...secret, role: 'initiator', staticKey: randomBytes(32) });
 * const responder = new HandshakeState({ ...shared, ...secret, role: 'responder', staticKey: randomBytes(32) });
 * responder.readMessage(initiator.writeMessage());
 * initiator.readMessage(responder.writeMessage());
 * responder.readMessage(initiator.writeMessage());
 * const [sender, receiver] = [initiator.split(), responder.split()];
 * console.log(receiver.decrypt(sender.encrypt(new Uint8Array([1, 2, 3]))).join()); // 1,2,3
 */
export class HandshakeState<Unfinished extends undefined = never> {
  private readonly crypto: CheckedCrypto;
  private readonly isInitiator: boolean;
  private readonly pattern: HandshakePattern;
  private readonly randomBytes: RandomBytes | undefined;
  private readonly isPaced: boolean;
  private readonly symmetricState: SymmetricState;
  private readonly psk: Uint8Array;
  private readonly s: CheckedKeyPair; // the four keys, by their names in the Noise spec
  private e: CheckedKeyPair | undefined = undefined;
  private rs: Uint8Array | undefined = undefined;
  private re: Uint8Array | undefined = undefined;
  private nextMessage = 0;
  private work: MessageInProgress | undefined = undefined;
  private readonly guard = new Guard();

  /** @throws LocalError `bad-argument`, `bad-length`, `suite-unavailable`, `crypto-failed` */
  constructor(options: HandshakeOptions) {
    const inputs = readHandshakeOptions(options);
    const { crypto, role, pattern, suite, prologue, psk, staticKey, remoteStaticKey } = inputs;
    const cipherName = SUITES[suite];

    this.crypto = crypto;
    this.isInitiator = role === 'initiator';
    this.pattern = PATTERNS[pattern];
    this.randomBytes = inputs.randomBytes;
    this.isPaced = inputs.paced;
    this.s = crypto.ownKey(staticKey, 'staticKey');
    this.psk = copyBytes(psk);
    try {
      if (inputs.ephemeralKey !== undefined) {
        this.e = crypto.ownKey(inputs.ephemeralKey, 'ephemeralKey');
        if (this.e.isAsynchronous) throw new LocalError('bad-argument', '"ephemeralKey" has no private key');
      }
      this.symmetricState = new SymmetricState(crypto, protocolName(pattern, suite), cipherName);
      this.symmetricState.mixHash(prologue);
      if (remoteStaticKey !== undefined) {
        this.rs = copyBytes(remoteStaticKey);
        this.symmetricState.mixHash(this.isInitiator ? this.s.publicKey : this.rs);
        this.symmetricState.mixHash(this.isInitiator ? this.rs : this.s.publicKey);
      }
    } catch (error) {
      this.wipeKeys();
      throw failureOf(error);
    }
    hideFields(this);
  }

  /** Whether all messages are written and read, so that only `split` remains. */
  get isFinished(): boolean {
    return this.guard.failure === undefined && this.nextMessage === this.pattern.messages.length;
  }

  /** The peer's static public key, 32 bytes, if it was given or a whole message that contains it was read. */
  get remoteStaticKey(): Bytes | undefined {
    const isSettled = this.pattern.staticKeysKnown || this.work === undefined;
    return this.guard.failure === undefined && isSettled && this.rs !== undefined
      ? copyBytes(this.rs)
      : undefined;
  }

  /**
   * The public key, 32 bytes, whose shared secret with our static key `resume` has to be given; a copy. `undefined` if
   * `resume` needs none.
   */
  get dhNeeded(): Bytes | undefined {
    const awaited = this.work?.awaited;
    return awaited && copyBytes(awaited);
  }

  /**
   * Writes the next message.
   * @param payload - at most 65535 bytes less the keys and tags of the message (default: empty)
   * @returns the message; `undefined` if `resume` has to be called first, which happens only if the handshake is paced or
   *   its static private key is kept elsewhere
   * @throws LocalError `bad-argument`, `wrong-state` or `message-too-long`, which change nothing; `bad-random`,
   *   `crypto-failed`; `low-order-key` if `remoteStaticKey` is of low order
   * @throws RemoteError `low-order-key` if a public key in an earlier message of the peer is of low order
   */
  writeMessage(payload: Uint8Array = EMPTY): Bytes | Unfinished {
    assertBytes(payload, 'payload');
    this.assertTurn(true);
    const longest = MAX_NOISE_MESSAGE - this.shortestMessage();
    if (payload.length > longest) {
      throw new LocalError(
        'message-too-long',
        `"payload" expected at most ${longest} bytes, got ${payload.length}`,
      );
    }
    return this.begin(payload, longest);
  }

  /**
   * Reads the next message.
   * @param message - at most 65535 bytes
   * @param maxPayload - the longest payload to open, in bytes (default: what fits into a message)
   * @returns its payload; `undefined` as from `writeMessage`
   * @throws LocalError `bad-argument` or `wrong-state`, which change nothing; `crypto-failed`, `low-order-key`
   * @throws RemoteError `message-too-short`, `message-too-long`, `low-order-key`, `static-key-not-authentic`,
   *   `payload-not-authentic`
   */
  readMessage(message: Uint8Array, maxPayload: number = MAX_NOISE_MESSAGE): Bytes | Unfinished {
    assertBytes(message, 'message');
    this.assertTurn(false);
    return this.begin(message, maxPayload);
  }

  /**
   * Goes on with the message for which `writeMessage` or `readMessage` returned `undefined`.
   * @param sharedSecret - of our static key with the public key of `dhNeeded`: 32 bytes, which stay yours to wipe. Omit it
   *   if `dhNeeded` is `undefined`
   * @returns the message or its payload; `undefined` if `resume` has to be called again
   * @throws LocalError `wrong-state` if there is no such message, `bad-argument`, `bad-length`: these change nothing;
   *   otherwise as `writeMessage` or `readMessage`
   * @throws RemoteError `low-order-key` for zeros, which X25519 returns for no other public keys; otherwise as
   *   `writeMessage` or `readMessage`
   */
  resume(sharedSecret?: Uint8Array): Bytes | Unfinished {
    const { awaited } = this.assertResumable(sharedSecret);
    return this.run((work) => {
      if (awaited === undefined) return this.step(work);
      work.awaited = undefined;
      this.mixSharedSecret(copyBytes(sharedSecret!), awaited);
      return undefined;
    });
  }

  /**
   * Checks that `resume` may be called with this shared secret. Used by sessions, which check it before anything changes.
   * @param sharedSecret - as for `resume`
   * @returns the public key of `dhNeeded`, as `awaited`
   * @throws LocalError `wrong-state`, `bad-argument`, `bad-length`
   */
  assertResumable(sharedSecret: Uint8Array | undefined): { readonly awaited: Uint8Array | undefined } {
    this.guard.assertUsable();
    if (this.work === undefined) {
      throw new LocalError('wrong-state', 'resume() where no message is unfinished');
    }
    if (this.work.awaited !== undefined) assertBytes(sharedSecret, 'sharedSecret', KEY_LENGTH);
    else if (sharedSecret !== undefined) {
      throw new LocalError(
        'bad-argument',
        '"sharedSecret" expected nothing, since no public key was given for one',
      );
    }
    return this.work;
  }

  /**
   * Ends the handshake, and returns the keys of the session.
   * @returns what seals and opens transport messages
   * @throws LocalError `wrong-state` before the last message and after the first call; `crypto-failed`
   */
  split(): Transport {
    this.guard.assertUsable();
    if (!this.isFinished) throw new LocalError('wrong-state', 'split() before the last handshake message');
    this.guard.enter();
    try {
      const handshakeHash = this.symmetricState.handshakeHash();
      const { initiator, responder } = this.symmetricState.split();
      const transport = this.isInitiator
        ? new Transport(initiator, responder, handshakeHash, this.rs!)
        : new Transport(responder, initiator, handshakeHash, this.rs!);
      this.end();
      return transport;
    } catch (error) {
      throw this.fail(error);
    } finally {
      this.guard.leave();
    }
  }

  /**
   * Ends the handshake, and wipes every key.
   * @throws LocalError `wrong-state` when called by injected code, during another method
   */
  destroy(): void {
    this.guard.assertIdle();
    this.end();
  }

  private assertTurn(isWriting: boolean): void {
    this.guard.assertUsable();
    const due = this.isFinished
      ? 'split'
      : this.work !== undefined
        ? 'resume'
        : this.isOurTurn()
          ? 'writeMessage'
          : 'readMessage';
    const method = isWriting ? 'writeMessage' : 'readMessage';
    if (due !== method) throw new LocalError('wrong-state', `${method}() where ${due}() is due`);
  }

  private isOurTurn(): boolean {
    return (this.nextMessage % 2 === 0) === this.isInitiator;
  }

  /**
   * The length of the next message with an empty payload. Every pattern in the table has mixed in a key before its
   * first `s` and its first payload, so both have tags.
   */
  private shortestMessage(): number {
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

  private begin(input: Uint8Array, maxPayload: number): Bytes | Unfinished {
    // While the message is unfinished, the caller may reuse the array.
    const kept = this.isPaced || this.s.isAsynchronous ? copyBytes(input) : input;
    this.work = { input: kept, parts: [], read: 0, nextToken: 0, awaited: undefined };
    return this.run((work) => {
      if (!this.isOurTurn()) {
        const shortest = this.shortestMessage();
        assertMessageLength(work.input, shortest, Math.min(shortest + maxPayload, MAX_NOISE_MESSAGE));
      }
      return undefined;
    });
  }

  /** Goes on to the end of the message, or until `resume` has to be called: if it is paced, after the first step. */
  private run(first: (work: MessageInProgress) => Bytes | undefined): Bytes | Unfinished {
    this.guard.enter();
    try {
      const work = this.work!;
      let result = first(work);
      while (result === undefined && !this.isPaced && work.awaited === undefined) result = this.step(work);
      return result as Bytes | Unfinished;
    } catch (error) {
      throw this.fail(error);
    } finally {
      this.guard.leave();
    }
  }

  private finishMessage(work: MessageInProgress): Bytes {
    let result: Bytes;
    if (this.isOurTurn()) {
      work.parts.push(this.symmetricState.encryptAndHash(work.input));
      result = concatBytes(work.parts);
    } else {
      result = this.open(work.input.subarray(work.read), 'payload-not-authentic');
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
    } else if (this.isOurTurn()) {
      work.parts.push(
        token === 'e' ? this.createEphemeral() : this.symmetricState.encryptAndHash(this.s.publicKey),
      );
    } else {
      const from = work.read;
      work.read += token === 'e' ? KEY_LENGTH : KEY_LENGTH + TAG_LENGTH;
      const field = work.input.subarray(from, work.read);
      if (token === 's') {
        this.rs = this.open(field, 'static-key-not-authentic');
      } else {
        this.re = copyBytes(field);
        this.mixEphemeral(this.re);
      }
    }
    // What the payload needs is computed here, since the last step has most to do.
    if (work.nextToken === tokens.length) this.symmetricState.keyedCipherState();
    return undefined;
  }

  private createEphemeral(): Uint8Array {
    this.e ??= this.crypto.keyPair(randomKey(this.randomBytes!));
    this.mixEphemeral(this.e.publicKey);
    return this.e.publicKey;
  }

  /** In patterns with a pre-shared key, an ephemeral key is mixed into the chaining key too (section 9.2). */
  private mixEphemeral(ephemeral: Uint8Array): void {
    this.symmetricState.mixHash(ephemeral);
    this.symmetricState.mixKey(ephemeral);
  }

  /** The tokens of a Diffie-Hellman name the initiator's key first. */
  private mixDh(token: 'ee' | 'es' | 'se' | 'ss', work: MessageInProgress): void {
    const own = token.charAt(this.isInitiator ? 0 : 1) === 'e' ? this.e! : this.s;
    const remote = token.charAt(this.isInitiator ? 1 : 0) === 'e' ? this.re! : this.rs!;
    if (own.isAsynchronous) work.awaited = remote;
    else if (this.isPaced && own.computeAhead(remote))
      work.nextToken--; // and mix the shared secret in at the next step
    else this.mixSharedSecret(own.sharedSecret(remote), remote);
  }

  /** Wipes the shared secret. */
  private mixSharedSecret(sharedSecret: Uint8Array, publicKey: Uint8Array): void {
    if (isZero(sharedSecret)) throw lowOrderKey(this.pattern.staticKeysKnown && publicKey === this.rs);
    try {
      this.symmetricState.mixKey(sharedSecret);
    } finally {
      wipe(sharedSecret);
    }
  }

  private open(sealed: Uint8Array, code: 'static-key-not-authentic' | 'payload-not-authentic'): Bytes {
    try {
      return this.symmetricState.decryptAndHash(sealed);
    } catch (error) {
      if (!(error instanceof RemoteError)) throw error;
      const part = code === 'payload-not-authentic' ? 'payload' : 'static key';
      throw new RemoteError(code, `a handshake message whose ${part} is not authentic`);
    }
  }

  /** Ends everything for good; returns what every later call throws. */
  private fail(error: unknown): LocalError | RemoteError {
    const failure = this.guard.fail(error);
    this.end();
    return failure;
  }

  private end(): void {
    this.guard.end();
    this.work = undefined;
    this.wipeKeys();
    this.symmetricState.destroy();
  }

  private wipeKeys(): void {
    wipe(this.psk);
    this.s.destroy();
    if (this.e !== undefined) this.e.destroy();
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

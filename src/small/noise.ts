/**
 * The initiator's side of XXpsk2 and KKpsk0 (Noise spec, sections 5, 7.5 and 9.4) with ChaChaPoly, written out. The caller calls its
 * methods in their order, and destroys it after the first error.
 */
import { type Bytes, concatBytes, copyBytes, EMPTY, isBytesOf, isZero, utf8ToBytes, wipe } from '../bytes.ts';
import type { CryptoProvider } from '../crypto/crypto.ts';
import type { RemoteError } from '../errors.ts';
import * as errors from '../errors-table.ts';
import { KEY_LENGTH, MAX_NOISE_MESSAGE, TAG_LENGTH } from '../limits.ts';
import type { Pattern, Suite } from '../noise/patterns.ts';

export const SUITE: Suite = '25519_ChaChaPoly_SHA256';

/** What injected code returns, if it has the length that it must have. @throws LocalError `crypto-failed` */
function checked(bytes: unknown, length: number = KEY_LENGTH): Bytes {
  if (!isBytesOf(bytes, length)) throw errors.wrongResult('crypto', length);
  return bytes as Bytes;
}

/** A key and the counter of its messages (Noise spec, section 5.1). */
export class CipherKey {
  private readonly key: Bytes;
  private readonly cipher: ReturnType<NonNullable<CryptoProvider['ciphers']['ChaChaPoly']>>;
  private readonly nonce: Bytes = new Uint8Array(12);

  constructor(crypto: CryptoProvider, key: Bytes) {
    this.key = key;
    this.cipher = crypto.ciphers.ChaChaPoly!(key);
  }

  /** @throws LocalError `nonce-exhausted`, `crypto-failed` */
  seal(associatedData: Uint8Array, plaintext: Uint8Array): Bytes {
    if (this.isExhausted()) throw errors.nonceExhausted();
    const sealed = this.cipher.seal(this.nonce, associatedData, plaintext);
    this.countUp();
    return checked(sealed, plaintext.length + TAG_LENGTH);
  }

  /** @throws RemoteError `message-too-short`, `message-too-long`, `nonce-exhausted`, or the error given */
  open(associatedData: Uint8Array, sealed: Uint8Array, notAuthentic: () => RemoteError): Bytes {
    if (sealed.length < TAG_LENGTH) throw errors.receivedTooShort();
    if (sealed.length > MAX_NOISE_MESSAGE) throw errors.receivedTooLong(MAX_NOISE_MESSAGE);
    if (this.isExhausted()) throw errors.peerNonceExhausted();
    const plaintext = this.cipher.open(this.nonce, associatedData, sealed);
    if (plaintext === undefined) throw notAuthentic();
    this.countUp();
    return checked(plaintext, sealed.length - TAG_LENGTH);
  }

  destroy(): void {
    wipe(this.key);
  }

  /** Whether only the nonce 2^64 - 1 is left, which is reserved. */
  private isExhausted(): boolean {
    let sum = 0;
    for (let i = 4; i < 12; i++) sum += this.nonce[i]!;
    return sum === 8 * 0xff;
  }

  private countUp(): void {
    for (let i = 4; i < 12; i++) {
      this.nonce[i] = this.nonce[i]! + 1;
      if (this.nonce[i] !== 0) return;
    }
  }
}

/** A private key, which `destroy` wipes, and its public key. */
export interface OwnKey {
  readonly privateKey: Bytes;
  readonly publicKey: Bytes;
}

/** Copies a private key. @throws LocalError `crypto-failed` */
export function ownKey(crypto: CryptoProvider, key: Uint8Array, publicKey?: Uint8Array): OwnKey {
  const privateKey = copyBytes(key);
  try {
    return { privateKey, publicKey: copyBytes(checked(publicKey ?? crypto.x25519.publicKey(privateKey))) };
  } catch (error) {
    wipe(privateKey);
    throw error;
  }
}

export class Initiator {
  /** The hub's static key. Under XXpsk2 it is authentic once message 2 is read. */
  rs: Bytes | undefined;
  private readonly crypto: CryptoProvider;
  private readonly isKk: boolean;
  private readonly psk: Bytes;
  private readonly s: OwnKey;
  private readonly e: OwnKey;
  private re: Bytes = EMPTY;
  private h: Bytes;
  private ck: Bytes;
  private k: CipherKey | undefined = undefined;

  constructor(
    crypto: CryptoProvider,
    pattern: Pattern,
    prologue: Uint8Array,
    psk: Uint8Array,
    s: OwnKey,
    e: OwnKey,
    rs: Bytes | undefined,
  ) {
    this.crypto = crypto;
    this.isKk = pattern === 'KKpsk0';
    this.s = s;
    this.e = e;
    this.rs = rs;
    this.psk = copyBytes(psk);
    this.h = checked(crypto.sha256(utf8ToBytes(nameOf(pattern))));
    this.ck = copyBytes(this.h);
    this.mixHash(prologue);
    if (this.isKk) {
      this.mixHash(s.publicKey);
      this.mixHash(rs!);
    }
  }

  writeFirst(payload: Uint8Array): Bytes {
    const { e, s, rs, isKk } = this;
    if (isKk) this.mixPsk();
    this.mixEphemeral(e.publicKey);
    if (isKk) {
      this.mixDh(e, rs!);
      this.mixDh(s, rs!);
    }
    return concatBytes([e.publicKey, this.seal(payload)]);
  }

  /** @returns the payload */
  readSecond(message: Uint8Array, maxPayload: number): Bytes {
    const { e, s, isKk } = this;
    const at = isKk ? KEY_LENGTH : 2 * KEY_LENGTH + TAG_LENGTH;
    if (message.length < at + TAG_LENGTH) throw errors.receivedTooShort();
    const longest = at + TAG_LENGTH + maxPayload;
    if (message.length > longest) throw errors.receivedTooLong(longest);
    const re = copyBytes(message.subarray(0, KEY_LENGTH));
    this.re = re;
    this.mixEphemeral(re);
    this.mixDh(e, re);
    if (isKk) this.mixDh(s, re);
    else {
      this.rs = this.open(message.subarray(KEY_LENGTH, at), errors.staticKeyNotAuthentic);
      this.mixDh(e, this.rs);
      this.mixPsk();
    }
    return this.open(message.subarray(at), errors.payloadNotAuthentic);
  }

  /** Of XXpsk2. */
  writeThird(payload: Uint8Array): Bytes {
    const { s, re } = this;
    const sealed = this.seal(s.publicKey);
    this.mixDh(s, re);
    return concatBytes([sealed, this.seal(payload)]);
  }

  /** Split. */
  split(): { sending: CipherKey; receiving: CipherKey; handshakeHash: Bytes } {
    const { crypto, h } = this;
    const keys = this.outputs(EMPTY, 2);
    const sending = new CipherKey(crypto, keys[0]!);
    const receiving = new CipherKey(crypto, keys[1]!);
    return { sending, receiving, handshakeHash: copyBytes(h) };
  }

  destroy(): void {
    wipe(this.psk);
    wipe(this.ck);
    wipe(this.h);
    this.k?.destroy();
  }

  private mixHash(data: Uint8Array): void {
    this.h = checked(this.crypto.sha256(this.h, data));
  }

  /** MixKey. */
  private mixKey(inputKeyMaterial: Uint8Array): void {
    const outputs = this.outputs(inputKeyMaterial, 2);
    this.take(outputs[0]!, outputs[1]!);
  }

  /** MixKeyAndHash. */
  private mixPsk(): void {
    const outputs = this.outputs(this.psk, 3);
    this.take(outputs[0]!, outputs[2]!);
    this.mixHash(outputs[1]!);
    wipe(outputs[1]);
  }

  private take(chainingKey: Bytes, key: Bytes): void {
    wipe(this.ck);
    this.ck = chainingKey;
    this.k?.destroy();
    this.k = new CipherKey(this.crypto, key);
  }

  /** HKDF (section 4.3). */
  private outputs(inputKeyMaterial: Uint8Array, count: number): Bytes[] {
    const { crypto } = this;
    const key = checked(crypto.hmacSha256(this.ck, inputKeyMaterial));
    const all: Bytes[] = [];
    let last = EMPTY;
    for (let i = 1; i <= count; i++) {
      last = checked(crypto.hmacSha256(key, last, new Uint8Array([i])));
      all.push(last);
    }
    wipe(key);
    return all;
  }

  /** In patterns with a pre-shared key, an ephemeral key is mixed into the chaining key too (section 9.2). */
  private mixEphemeral(key: Uint8Array): void {
    this.mixHash(key);
    this.mixKey(key);
  }

  private mixDh({ privateKey }: OwnKey, publicKey: Bytes): void {
    const secret = checked(this.crypto.x25519.sharedSecret(privateKey, publicKey));
    // Of low order: anyone would know it. The peer sent the key, or it is the pin.
    if (isZero(secret))
      throw this.isKk && publicKey === this.rs ? errors.storedLowOrderKey() : errors.receivedLowOrderKey();
    this.mixKey(secret);
    wipe(secret);
  }

  private seal(plaintext: Uint8Array): Bytes {
    const sealed = this.k!.seal(this.h, plaintext);
    this.mixHash(sealed);
    return sealed;
  }

  private open(sealed: Uint8Array, notAuthentic: () => RemoteError): Bytes {
    const plaintext = this.k!.open(this.h, sealed, notAuthentic);
    this.mixHash(sealed);
    return plaintext;
  }
}

export const nameOf = (pattern: Pattern): string => `Noise_${pattern}_${SUITE}`;

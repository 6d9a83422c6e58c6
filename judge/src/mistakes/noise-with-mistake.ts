/**
 * The SymmetricState of a Noise handshake (Noise spec, section 5.2) with one mistake, or none: the judge writes messages with
 * it, and `explain` opens recorded ones. Never use this to communicate.
 */
import {
  bytesToHex,
  cipherNameOf,
  concatBytes,
  nodeCrypto,
  PATTERNS,
  type Pattern,
  protocolName,
  type Suite,
  type Token,
  utf8ToBytes,
} from '../protocol.ts';
import type { Mistake } from './noise-mistakes.ts';

export type Side = 'init' | 'resp';

const NO_BYTES = new Uint8Array(0);
const TAG = 16;
const { sha256, hmacSha256, x25519 } = nodeCrypto;

export class NoiseWithMistake {
  private readonly mistake: Partial<Mistake>;
  private readonly suite: Suite;
  private chainingKey: Uint8Array;
  private hash: Uint8Array;
  private key: Uint8Array | undefined;
  private counter = 0n;

  /** InitializeSymmetric. */
  constructor(mistake: Partial<Mistake>, pattern: Pattern, suite: Suite) {
    this.mistake = mistake;
    this.suite = suite;
    this.hash = hashOfName(pattern, suite, mistake);
    this.chainingKey = this.hash;
  }

  /** HasKey. */
  get hasKey(): boolean {
    return this.key !== undefined;
  }

  /** Its values, in hexadecimal: h, ck, and once there is a key k, with the number of messages under it. */
  get state(): { readonly [field: string]: string } {
    const [h, ck] = [bytesToHex(this.hash), bytesToHex(this.chainingKey)];
    return this.key === undefined ? { h, ck } : { h, ck, k: bytesToHex(this.key), n: `${this.counter}` };
  }

  /** GetHandshakeHash. */
  get handshakeHash(): Uint8Array {
    return this.hash;
  }

  /** The associated data of transport messages. */
  get transportData(): Uint8Array {
    return this.mistake.associatedData === 'in-transport' ? this.hash : NO_BYTES;
  }

  /** Mixes the prologue and the public keys of the pre-messages into the hash. */
  mixPrologue(prologue: Uint8Array, preMessages: readonly Uint8Array[]): void {
    if (this.mistake.prologue === undefined) this.mixHash(prologue);
    for (const key of preMessages) this.mixHash(key);
  }

  mixHash(data: Uint8Array): void {
    this.hash = sha256(this.hash, data);
  }

  mixKey(input: Uint8Array): void {
    const [first, second] = hkdf(this.chainingKey, input, this.mistake);
    const isFirst = this.mistake.hkdf === 'first-is-key';
    this.chainingKey = isFirst ? second : first;
    this.initializeKey(isFirst ? first : second);
  }

  mixKeyAndHash(psk: Uint8Array): void {
    const [chainingKey, hashed, key] = hkdf(this.chainingKey, psk, this.mistake);
    this.chainingKey = chainingKey;
    if (this.mistake.psk === undefined) this.mixHash(hashed);
    this.initializeKey(key);
  }

  /** The token `e` of a pattern with a psk (section 9.2). */
  mixEphemeral(publicKey: Uint8Array): void {
    if (this.mistake.ephemeral !== 'not-hashed') this.mixHash(publicKey);
    if (this.mistake.ephemeral !== 'not-mixed') this.mixKey(publicKey);
  }

  encryptAndHash(plaintext: Uint8Array): Uint8Array {
    const { key, mistake, suite, counter, handshakeData } = this;
    const sealed =
      key === undefined ? plaintext : sealWith(mistake, suite, key, counter, handshakeData, plaintext);
    this.mixSealed(plaintext, sealed);
    return sealed;
  }

  /** DecryptAndHash. Returns `undefined` if the ciphertext does not open. */
  decryptAndHash(sealed: Uint8Array): Uint8Array | undefined {
    const { key, mistake, suite, counter, handshakeData } = this;
    if (key !== undefined && sealed.length < TAG) return undefined;
    const plaintext =
      key === undefined ? sealed : openWith(mistake, suite, key, counter, handshakeData, sealed);
    if (plaintext !== undefined) this.mixSealed(plaintext, sealed);
    return plaintext;
  }

  /** DecryptAndHash of a ciphertext whose plaintext is known, without opening it. */
  mixSealed(plaintext: Uint8Array, sealed: Uint8Array): void {
    const { mixes, nonce } = this.mistake;
    if (this.key !== undefined && nonce !== 'never-advanced') this.counter++;
    if (mixes !== 'nothing') this.mixHash(mixes === 'plaintext' ? plaintext : sealed);
  }

  /** Split: the keys of a side that makes the mistake. */
  split(side: Side): { sendKey: Uint8Array; receiveKey: Uint8Array } {
    const { split: mistake } = this.mistake;
    const input = mistake === 'with-hash' ? this.hash : NO_BYTES;
    const [first, second] = hkdf(this.chainingKey, input, this.mistake);
    return (side === 'init') === (mistake === 'swapped')
      ? { sendKey: second, receiveKey: first }
      : { sendKey: first, receiveKey: second };
  }

  /** InitializeKey. */
  private initializeKey(key: Uint8Array): void {
    this.key = key;
    if (this.mistake.nonce !== 'never-reset') this.counter = 0n;
  }

  private get handshakeData(): Uint8Array {
    return this.mistake.associatedData === 'left-out' ? NO_BYTES : this.hash;
  }
}

/** The tokens of each message, with a token out of place if the mistake says so. */
export function tokensWith({ without, pskOf, pskAt }: Partial<Mistake>, pattern: Pattern): Token[][] {
  const { messages } = PATTERNS[pattern];
  if (pskOf !== pattern)
    return messages.map((tokens: readonly Token[]) => tokens.filter((token) => token !== without));
  const moved: Token[][] = messages.map((tokens: readonly Token[]) =>
    tokens.filter((token) => token !== 'psk'),
  );
  if (pskAt === 0) moved[0]!.unshift('psk');
  else moved[pskAt! - 1]!.push('psk');
  return moved;
}

/** The owners of the static keys in the pre-messages, in the order in which a side mixes them. */
export function preMessagesWith(
  { preMessages }: Partial<Mistake>,
  pattern: Pattern,
  side: Side,
): readonly Side[] {
  if (!PATTERNS[pattern].staticKeysKnown || preMessages === 'left-out') return [];
  const isSwapped = preMessages === 'swapped' || (preMessages === 'own-first' && side !== 'init');
  return isSwapped ? ['resp', 'init'] : ['init', 'resp'];
}

/** The initiator's and the responder's key of a Diffie-Hellman token. */
export function dhKeysWith(
  { dhSwapped }: Partial<Mistake>,
  token: Exclude<Token, 'e' | 's' | 'psk'>,
): readonly ['s' | 'e', 's' | 'e'] {
  const [init, resp] = [...token] as ['s' | 'e', 's' | 'e'];
  return dhSwapped ? [resp, init] : [init, resp];
}

/** Results of X25519 by their inputs: mistakes are tried by the dozen with the same keys. */
const results = new Map<string, Uint8Array>();

function memoized(inputs: string, compute: () => Uint8Array): Uint8Array {
  const result = results.get(inputs) ?? compute();
  results.set(inputs, result);
  return result;
}

export function publicKeyOf(privateKey: Uint8Array): Uint8Array {
  return memoized(bytesToHex(privateKey), () => x25519.publicKey(privateKey));
}

export function sharedSecretOf(privateKey: Uint8Array, publicKey: Uint8Array): Uint8Array {
  return memoized(`${bytesToHex(privateKey)} ${bytesToHex(publicKey)}`, () =>
    x25519.sharedSecret(privateKey, publicKey),
  );
}

/** Seals as a CipherState does, with this mistake in its nonce. */
export function sealWith(
  mistake: Partial<Mistake>,
  suite: Suite,
  key: Uint8Array,
  counter: bigint,
  associatedData: Uint8Array,
  plaintext: Uint8Array,
): Uint8Array {
  const nonce = nonceWith(mistake, suite, counter);
  return nodeCrypto.ciphers[cipherNameOf(suite)]!(key).seal(nonce, associatedData, plaintext);
}

/** Opens a message that was sealed with this mistake; `undefined` for any other. */
export function openWith(
  mistake: Partial<Mistake>,
  suite: Suite,
  key: Uint8Array,
  counter: bigint,
  associatedData: Uint8Array,
  sealed: Uint8Array,
): Uint8Array | undefined {
  const nonce = nonceWith(mistake, suite, counter);
  return nodeCrypto.ciphers[cipherNameOf(suite)]!(key).open(nonce, associatedData, sealed);
}

function nonceWith({ nonce: mistake }: Partial<Mistake>, suite: Suite, counter: bigint): Uint8Array {
  const littleEndian = (cipherNameOf(suite) === 'ChaChaPoly') !== (mistake === 'other-order');
  const counted =
    mistake === 'one-ahead' ? counter + 1n : mistake === 'four-bytes' ? counter & 0xffffffffn : counter;
  const nonce = new Uint8Array(12);
  new DataView(nonce.buffer).setBigUint64(4, BigInt.asUintN(64, counted), littleEndian);
  return nonce;
}

/** h at the start: the name of the protocol, or its hash if it is longer. */
function hashOfName(pattern: Pattern, suite: Suite, { name: mistake }: Partial<Mistake>): Uint8Array {
  const whole = protocolName(pattern, suite);
  const ascii = utf8ToBytes(mistake === 'without-psk' ? whole.replace(/psk\d/, '') : whole);
  if (ascii.length > 32) return mistake === 'cut' ? ascii.slice(0, 32) : sha256(ascii);
  return mistake === 'hashed' ? sha256(ascii) : concatBytes([ascii, new Uint8Array(32 - ascii.length)]);
}

/** HKDF with three outputs (Noise spec, section 4.3). */
function hkdf(
  chainingKey: Uint8Array,
  input: Uint8Array,
  { hkdf: mistake }: Partial<Mistake>,
): [Uint8Array, Uint8Array, Uint8Array] {
  const secret = hmacSha256(chainingKey, input);
  const numbered = (number: number, previous: Uint8Array): Uint8Array =>
    hmacSha256(secret, mistake === 'not-chained' ? NO_BYTES : previous, Uint8Array.of(number));
  const first = numbered(1, NO_BYTES);
  const second = numbered(2, first);
  return [first, second, numbered(3, second)];
}

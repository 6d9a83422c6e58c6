/**
 * The SymmetricState of a Noise handshake (Noise spec, section 5.2) with one mistake, or none: the judge writes messages with
 * it, and `explain` opens recorded ones. Never use this to communicate.
 */
import {
  bytesToHex,
  type Cipher,
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
import { otherCipher, otherHash, otherHmac, otherSecret } from './other-primitives.ts';

export type Side = 'init' | 'resp';

const NO_BYTES = new Uint8Array(0);
const TAG = 16;
const { sha256, hmacSha256, x25519 } = nodeCrypto;

export class NoiseWithMistake {
  /** The mistake, and the part of it that is made in the current message. */
  private readonly made: Partial<Mistake>;
  private mistake: Partial<Mistake>;
  private readonly suite: Suite;
  private chainingKey: Uint8Array;
  private hash: Uint8Array;
  private key: Uint8Array | undefined;
  private counter = 0n;
  /** The counter of each part that was sealed or opened. */
  readonly counters: bigint[] = [];

  /** InitializeSymmetric. */
  constructor(mistake: Partial<Mistake>, pattern: Pattern, suite: Suite) {
    this.made = mistake;
    this.mistake = mistake.only === undefined ? mistake : {};
    this.suite = suite;
    this.hash = hashOfName(nameOf(pattern, suite, mistake), mistake);
    this.chainingKey = mistake.chainingKey === 'zeros' ? new Uint8Array(32) : this.hash;
  }

  /** Begins a message that this side writes or reads. */
  begin(what: 'writing' | 'reading'): void {
    this.mistake = this.made.only === undefined || this.made.only === what ? this.made : {};
  }

  /** Whether `begin` was called for a message in which the mistake is made. */
  get isMade(): boolean {
    return this.mistake === this.made;
  }

  /** HasKey. */
  get hasKey(): boolean {
    return this.key !== undefined;
  }

  /** GetHandshakeHash. */
  get handshakeHash(): Uint8Array {
    return this.hash;
  }

  /** The associated data of transport messages. */
  get transportData(): Uint8Array {
    const { associatedData } = this.mistake;
    if (associatedData === 'zero-in-transport') return new Uint8Array(1);
    return associatedData === 'in-transport' ? this.hash : NO_BYTES;
  }

  /** Mixes the prologue and the public keys of the pre-messages into the hash. */
  mixPrologue(prologue: Uint8Array, preMessages: readonly Uint8Array[]): void {
    const { prologue: mistake } = this.mistake;
    const isSkipped = mistake === 'left-out' || (mistake === 'skipped-if-empty' && prologue.length === 0);
    const parts = isSkipped ? [] : [mistake === 'hashed-before' ? this.sha256(prologue) : prologue];
    const isLate = mistake === 'after-pre-messages';
    for (const part of isLate ? [...preMessages, ...parts] : [...parts, ...preMessages]) this.mixHash(part);
  }

  mixHash(data: Uint8Array): void {
    const isFirst = this.mistake.mixHash === 'data-first';
    this.hash = isFirst ? this.sha256(data, this.hash) : this.sha256(this.hash, data);
  }

  private sha256(...parts: Uint8Array[]): Uint8Array {
    const { hashedWith } = this.mistake;
    return hashedWith === undefined ? sha256(...parts) : otherHash(hashedWith, ...parts);
  }

  mixKey(input: Uint8Array): void {
    const outputs = hkdf(this.chainingKey, input, this.mistake);
    const { hkdf: mistake } = this.mistake;
    const keyAt = mistake === 'third-is-key' ? 2 : mistake === 'first-is-key' ? 0 : 1;
    this.chainingKey = outputs[keyAt === 0 ? 1 : 0];
    this.initializeKey(outputs[keyAt]);
  }

  mixKeyAndHash(psk: Uint8Array): void {
    const { psk: mistake } = this.mistake;
    if (mistake === 'left-out') return;
    const mixed = mistake === 'zeros' ? new Uint8Array(32) : psk;
    const [chainingKey, second, third] = hkdf(this.chainingKey, mixed, this.mistake);
    this.chainingKey = chainingKey;
    if (mistake === 'hashed-itself') this.mixHash(mixed);
    else if (mistake !== 'not-hashed') this.mixHash(mistake === 'outputs-swapped' ? third : second);
    this.initializeKey(mistake === 'two-outputs' || mistake === 'outputs-swapped' ? second : third);
  }

  /** The token `e` of a pattern with a psk (section 9.2). */
  mixEphemeral(publicKey: Uint8Array): void {
    if (!this.mistake.ephemeralNotHashed) this.mixHash(publicKey);
    if (!this.mistake.ephemeralNotMixed) this.mixKey(publicKey);
  }

  encryptAndHash(plaintext: Uint8Array, what?: 'static' | 'payload'): Uint8Array {
    const { key } = this;
    const sealed =
      key === undefined
        ? plaintext
        : sealWith(this.mistake, this.suite, key, this.counter, this.handshakeData, plaintext);
    this.mixSealed(plaintext, sealed, what);
    return sealed;
  }

  /** DecryptAndHash. Returns `undefined` if the ciphertext does not open. */
  decryptAndHash(sealed: Uint8Array): Uint8Array | undefined {
    const { key } = this;
    if (key !== undefined && sealed.length < TAG) return undefined;
    const plaintext =
      key === undefined
        ? sealed
        : openWith(this.mistake, this.suite, key, this.counter, this.handshakeData, sealed);
    if (plaintext !== undefined) this.mixSealed(plaintext, sealed);
    return plaintext;
  }

  /** DecryptAndHash of a ciphertext whose plaintext is known, without opening it. */
  mixSealed(plaintext: Uint8Array, sealed: Uint8Array, what?: 'static' | 'payload'): void {
    const { mixes, nonce } = this.mistake;
    this.counters.push(this.counter);
    if (this.key !== undefined && nonce !== 'never-advanced') this.counter++;
    if (mixes !== 'nothing' && mixes !== `nothing-of-${what}`)
      this.mixHash(mixes === 'plaintext' ? plaintext : sealed);
  }

  /** Split: the keys of a side that makes the mistake. */
  split(side: Side): { sendKey: Uint8Array; receiveKey: Uint8Array } {
    const { split: mistake } = this.mistake;
    const input =
      mistake === 'of-zeros' ? new Uint8Array(32) : mistake === 'with-hash' ? this.hash : NO_BYTES;
    const [first, second, third] = hkdf(this.chainingKey, input, this.mistake);
    const keys = mistake === 'second-and-third' ? [second, third] : [first, second];
    const swapper = side === 'init' ? 'swapped-by-initiator' : 'swapped-by-responder';
    const isSwapped = mistake === 'swapped' || mistake === swapper;
    if (mistake === 'one-key') return { sendKey: keys[0]!, receiveKey: keys[0]! };
    const [sendKey, receiveKey] = (side === 'init') === isSwapped ? keys.reverse() : keys;
    return { sendKey: sendKey!, receiveKey: receiveKey! };
  }

  /** InitializeKey. */
  private initializeKey(key: Uint8Array): void {
    this.key = key;
    if (this.mistake.nonce !== 'never-reset') this.counter = 0n;
  }

  /** X25519, with what the mistake does to its result. */
  sharedSecret(privateKey: Uint8Array, publicKey: Uint8Array): Uint8Array {
    const secret = sharedSecretOf(privateKey, publicKey);
    const { secret: mistake } = this.mistake;
    return mistake === undefined ? secret : otherSecret(mistake, secret);
  }

  private get handshakeData(): Uint8Array {
    const { associatedData } = this.mistake;
    if (associatedData === 'chaining-key') return this.chainingKey;
    return associatedData === 'left-out' ? NO_BYTES : this.hash;
  }
}

/** The tokens of each message, with a token out of place if the mistake says so. */
export function tokensWith(
  { without, order, pskOf, pskAt, pskBefore }: Partial<Mistake>,
  pattern: Pattern,
): Token[][] {
  const messages = PATTERNS[pattern].messages.map((tokens: readonly Token[]) =>
    tokens.filter((token) => token !== without),
  );
  for (const tokens of order === undefined ? [] : messages) {
    const at = tokens.indexOf(order![0]);
    if (at >= 0 && tokens[at + 1] === order![1]) tokens.splice(at, 2, order![1], order![0]);
  }
  if (pskOf !== pattern) return messages;
  const moved: Token[][] = messages.map((tokens) => tokens.filter((token) => token !== 'psk'));
  if (pskBefore !== undefined) moved[1]!.splice(moved[1]!.indexOf(pskBefore), 0, 'psk');
  if (pskAt === undefined) return moved;
  if (pskAt === 0) moved[0]!.unshift('psk');
  else moved[pskAt - 1]!.push('psk');
  return moved;
}

/**
 * The owners of the static keys in the pre-messages, in the order in which a side mixes them.
 * @param side - the side; `undefined` if it is not known: any mistake then swaps the two
 */
export function preMessagesWith(
  { preMessages }: Partial<Mistake>,
  pattern: Pattern,
  side: Side | undefined,
): readonly Side[] {
  if (!PATTERNS[pattern].staticKeysKnown || preMessages === 'left-out') return [];
  const isSwapped =
    preMessages === 'swapped' ||
    (preMessages === 'own-first' && side !== 'init') ||
    (preMessages === 'own-last' && side !== 'resp');
  return isSwapped ? ['resp', 'init'] : ['init', 'resp'];
}

/**
 * The initiator's and the responder's key of a Diffie-Hellman token.
 * @param side - the side that makes the mistake; `undefined` if it is not known
 */
export function dhKeysWith(
  { dhSwapped }: Partial<Mistake>,
  token: Exclude<Token, 'e' | 's' | 'psk'>,
  side: Side | undefined,
): readonly ['s' | 'e', 's' | 'e'] {
  const [init, resp] = [...token] as ['s' | 'e', 's' | 'e'];
  const isSwapped = dhSwapped === true || (dhSwapped !== undefined && dhSwapped === side);
  return isSwapped ? [resp, init] : [init, resp];
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
  const sealed = cipherOf(mistake, suite, key).seal(
    nonceWith(mistake, suite, counter),
    associatedData,
    plaintext,
  );
  return mistake.tagFirst ? concatBytes([sealed.subarray(-TAG), sealed.subarray(0, -TAG)]) : sealed;
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
  const usual = mistake.tagFirst ? concatBytes([sealed.subarray(TAG), sealed.subarray(0, TAG)]) : sealed;
  return cipherOf(mistake, suite, key).open(nonceWith(mistake, suite, counter), associatedData, usual);
}

function cipherOf({ cipher }: Partial<Mistake>, suite: Suite, key: Uint8Array): Cipher {
  if (cipher !== undefined && cipherNameOf(suite) === 'ChaChaPoly') return otherCipher(cipher, key);
  return nodeCrypto.ciphers[cipherNameOf(suite)]!(key);
}

function nonceWith(mistake: Partial<Mistake>, suite: Suite, counter: bigint): Uint8Array {
  const littleEndian = (cipherNameOf(suite) === 'ChaChaPoly') !== (mistake.nonce === 'other-order');
  const nonce = new Uint8Array(12);
  const view = new DataView(nonce.buffer);
  if (mistake.nonce === 'last-four') {
    view.setUint32(8, Number(counter & 0xffffffffn), littleEndian);
    return nonce;
  }
  const at = mistake.nonce === 'counter-first' ? 0 : 4;
  view.setBigUint64(at, BigInt.asUintN(64, countedAs(counter, mistake.nonce)), littleEndian);
  if (mistake.nonce === 'prefix-one') nonce[0] = 1;
  if (mistake.nonce === 'prefix-ones') nonce.fill(0xff, 0, 4);
  return nonce;
}

export function countedAs(counter: bigint, mistake: Mistake['nonce']): bigint {
  if (mistake === 'one-ahead') return counter + 1n;
  if (mistake === 'one-byte') return counter & 0xffn;
  if (mistake === 'signed-byte') return BigInt.asIntN(8, counter);
  if (mistake === 'signed-int') return BigInt.asIntN(32, counter);
  if (mistake === 'two-bytes') return counter & 0xffffn;
  if (mistake === 'four-bytes') return counter & 0xffffffffn;
  return mistake === 'float' ? BigInt(Number(counter)) : counter;
}

/** The name of the Noise protocol. */
function nameOf(pattern: Pattern, suite: Suite, { name, pskOf, pskAt }: Partial<Mistake>): string {
  const whole = protocolName(pattern, suite);
  if (name === 'as-placed' && pskOf === pattern) return whole.replace(/psk\d/, `psk${pskAt}`);
  if (name === 'with-nul' || (name === 'long-with-nul' && whole.length > 32)) return `${whole}\0`;
  return name === 'without-psk' ? whole.replace(/psk\d/, '') : whole;
}

function hashOfName(name: string, { name: mistake, hashedWith, only }: Partial<Mistake>): Uint8Array {
  const ascii = utf8ToBytes(name);
  const hashed = (): Uint8Array =>
    hashedWith === undefined || only !== undefined ? sha256(ascii) : otherHash(hashedWith, ascii);
  if (ascii.length > 32) return mistake === 'cut' ? ascii.slice(0, 32) : hashed();
  return mistake === 'hashed' ? hashed() : concatBytes([ascii, new Uint8Array(32 - ascii.length)]);
}

/** HKDF with three outputs (Noise spec, section 4.3). */
function hkdf(
  chainingKey: Uint8Array,
  input: Uint8Array,
  { hkdf: mistake, hmac, hashedWith }: Partial<Mistake>,
): [Uint8Array, Uint8Array, Uint8Array] {
  const keyed = (key: Uint8Array, ...parts: Uint8Array[]): Uint8Array => {
    if (hmac !== undefined) return otherHmac(hmac, key, ...parts);
    if (hashedWith?.endsWith('-everywhere')) return otherHmac(hashedWith, key, ...parts);
    return mistake === 'hashed' ? sha256(key, ...parts) : hmacSha256(key, ...parts);
  };
  const secret = mistake === 'inputs-swapped' ? keyed(input, chainingKey) : keyed(chainingKey, input);
  const numbered = (number: number, previous: Uint8Array): Uint8Array => {
    const parts = [
      mistake === 'not-chained' ? NO_BYTES : previous,
      Uint8Array.of(mistake === 'from-zero' ? number - 1 : number),
    ];
    return mistake === 'outputs-hashed' ? sha256(secret, ...parts) : keyed(secret, ...parts);
  };
  const first = numbered(1, NO_BYTES);
  const second = numbered(2, first);
  return [first, second, numbered(3, second)];
}

/**
 * Ciphertexts that open under many keys, as in Len, Grubbs, Ristenpart, "Partitioning Oracle Attacks" (USENIX Security 2021).
 * The tags of AES-GCM and of ChaCha20-Poly1305 are polynomials over a field, whose coefficients are the blocks of the ciphertext.
 * So as many blocks as keys can be chosen so that each key computes the same tag.
 */
import { createCipheriv } from 'node:crypto';
import type { CipherName } from '../../src/crypto/crypto.ts';

/** A key for one message, and what is authenticated with it: 32 bytes, the handshake hash. The nonce is 12 zeros. */
export interface Guess {
  readonly key: Uint8Array;
  readonly associatedData: Uint8Array;
}

/** The field of a tag: GF(2^128) as in GHASH, or the integers modulo 2^130 - 5. */
interface Field {
  readonly one: bigint;
  add(a: bigint, b: bigint): bigint;
  subtract(a: bigint, b: bigint): bigint;
  multiply(a: bigint, b: bigint): bigint;
  invert(a: bigint): bigint;
}

const ZERO_NONCE = new Uint8Array(12);
const BLOCK = 16;
const LIMIT = 1n << 128n;

/** A field of so many elements, in which x^(size - 2) is 1/x. */
function fieldOf(size: bigint, one: bigint, operations: Pick<Field, 'add' | 'subtract' | 'multiply'>): Field {
  const { multiply } = operations;
  const invert = (a: bigint): bigint => {
    let result = one;
    for (let rest = size - 2n, square = a; rest > 0n; rest >>= 1n, square = multiply(square, square)) {
      if (rest & 1n) result = multiply(result, square);
    }
    return result;
  };
  return { one, ...operations, invert };
}

/** NIST SP 800-38D, section 6.3: the highest bit is the coefficient of x^0. */
const GHASH = fieldOf(LIMIT, 1n << 127n, {
  add: (a, b) => a ^ b,
  subtract: (a, b) => a ^ b,
  multiply(a, b) {
    let product = 0n;
    for (let bit = 127n, v = b; bit >= 0n; bit--) {
      if ((a >> bit) & 1n) product ^= v;
      v = v & 1n ? (v >> 1n) ^ (0xe1n << 120n) : v >> 1n;
    }
    return product;
  },
});

/** RFC 8439, section 2.5. */
const PRIME = (1n << 130n) - 5n;
const POLY1305 = fieldOf(PRIME, 1n, {
  add: (a, b) => (a + b) % PRIME,
  subtract: (a, b) => (a - b + PRIME) % PRIME,
  multiply: (a, b) => (a * b) % PRIME,
});

/** The polynomials, highest coefficient first, of which each is 1 at one of the points and 0 at the others (Lagrange). */
function basisOf({ one, add, subtract, multiply, invert }: Field, points: readonly bigint[]): bigint[][] {
  let product = [one]; // of all (x - point)
  for (const point of points) {
    const times = [0n, ...product.map((coefficient) => multiply(point, coefficient))];
    product = [...product, 0n].map((coefficient, i) => subtract(coefficient, times[i]!));
  }
  return points.map((point) => {
    // Horner's rule divides by (x - point), and evaluates the quotient there.
    const horner = (sum: bigint, coefficient: bigint): bigint => add(multiply(sum, point), coefficient);
    const quotient: bigint[] = [];
    for (const coefficient of product.slice(0, -1)) quotient.push(horner(quotient.at(-1) ?? 0n, coefficient));
    const factor = invert(quotient.reduce(horner));
    return quotient.map((coefficient) => multiply(coefficient, factor));
  });
}

/** The polynomial with these values at the points of a basis. */
function interpolate(
  { add, multiply }: Field,
  basis: readonly bigint[][],
  values: readonly bigint[],
): bigint[] {
  return basis[0]!.map((_, i) =>
    values.reduce((sum, value, j) => add(sum, multiply(value, basis[j]![i]!)), 0n),
  );
}

/** A ciphertext with its tag that opens under all of these keys: as many blocks as keys, and the tag. */
export function sealForAll(cipher: CipherName, guesses: readonly Guess[]): Uint8Array {
  return cipher === 'AESGCM' ? sealWithGcm(guesses) : sealWithPoly1305(guesses);
}

function sealWithGcm(guesses: readonly Guess[]): Uint8Array {
  const lengths = (256n << 64n) | BigInt(8 * BLOCK * guesses.length); // in bits
  const tag = toNumber(Buffer.alloc(BLOCK, 0x5a)); // any
  const points: bigint[] = [];
  const values = guesses.map((guess) => {
    const aes = createCipheriv('aes-256-ecb', guess.key, null).setAutoPadding(false);
    const h = toNumber(aes.update(new Uint8Array(BLOCK)));
    const mask = toNumber(aes.update(Buffer.concat([ZERO_NONCE, Buffer.of(0, 0, 0, 1)])));
    points.push(h);
    return valueAt(GHASH, h, halvesOf(guess).map(toNumber), lengths, guesses.length)(tag ^ mask);
  });
  const blocks = interpolate(GHASH, basisOf(GHASH, points), values);
  return Buffer.concat([...blocks, tag].map(toBlock));
}

/**
 * A block of Poly1305 counts as a number from 2^128 to 2^129, and the field has 2^130, so a solution has a chance of 1 in 4 for
 * each block to be one. Other tags are tried until it is: 256 for four keys.
 */
function sealWithPoly1305(guesses: readonly Guess[]): Uint8Array {
  const lengths = fromLittleEndian(BigUint64Array.of(32n, BigInt(BLOCK * guesses.length))) + LIMIT;
  const keys = guesses.map((guess) => {
    const start = Buffer.concat([Buffer.alloc(4), ZERO_NONCE]);
    const stream = createCipheriv('chacha20', guess.key, start).update(new Uint8Array(32));
    const r = fromLittleEndian(stream.subarray(0, BLOCK)) & 0x0ffffffc0ffffffc0ffffffc0fffffffn;
    const halves = halvesOf(guess).map((half) => fromLittleEndian(half) + LIMIT);
    return {
      r,
      s: fromLittleEndian(stream.subarray(BLOCK)),
      value: valueAt(POLY1305, r, halves, lengths, guesses.length),
    };
  });
  const points = keys.map(({ r }) => r);
  const basis = basisOf(POLY1305, points);
  for (let tag = 0n; ; tag = (tag + 0x9e3779b97f4a7c15n) % LIMIT) {
    const values = keys.map(({ s, value }) => value((tag - s + LIMIT) % LIMIT)); // s is added modulo 2^128
    const blocks = interpolate(POLY1305, basis, values);
    if (!blocks.every((block) => block >= LIMIT && block < 2n * LIMIT)) continue;
    return Buffer.concat(
      [...blocks.map((block) => block - LIMIT), tag].map((block) => toBlock(block).reverse()),
    );
  }
}

/**
 * What the polynomial of the ciphertext has to be at x for a tag. With the blocks a1, a2 of associated data and n blocks of
 * ciphertext, the tag is a1 x^(n+3) + a2 x^(n+2) + c1 x^(n+1) + … + cn x^2 + lengths x.
 */
function valueAt(
  { add, subtract, multiply, invert }: Field,
  x: bigint,
  [a1, a2]: readonly bigint[],
  lengths: bigint,
  blocks: number,
): (tag: bigint) => bigint {
  const square = multiply(x, x);
  let power = square;
  for (let i = 0; i < blocks; i++) power = multiply(power, x); // x^(n+2)
  const known = add(multiply(add(multiply(a1!, x), a2!), power), multiply(lengths, x));
  const factor = invert(square);
  return (tag) => multiply(subtract(tag, known), factor);
}

/** The two blocks of associated data. */
function halvesOf({ associatedData }: Guess): Uint8Array[] {
  return [associatedData.subarray(0, BLOCK), associatedData.subarray(BLOCK)];
}

function toNumber(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
}

function fromLittleEndian({ buffer, byteOffset, byteLength }: Uint8Array | BigUint64Array): bigint {
  return toNumber(new Uint8Array(buffer, byteOffset, byteLength).slice().reverse());
}

function toBlock(number: bigint): Buffer {
  return Buffer.from(number.toString(16).padStart(2 * BLOCK, '0'), 'hex');
}

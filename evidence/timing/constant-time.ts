/**
 * Shows whether a time depends on a secret, as far as measuring can: the test of dudect (Reparaz, Balasch, Verbauwhede,
 * "Dude, is my code constant time?", 2017), in Node.
 *
 *     evidence/timing/constant-time --seconds 60  for each line, 10 by default
 *     evidence/timing/constant-time --write       draws the table of docs/evidence/timing.md, too
 *
 * A function gets inputs of two classes in random order. Welch's t says how sure it is that their mean times differ: below 4.5
 * nothing was found, above 10 they differ. It cannot show that there is no difference, and it says nothing about other engines.
 */
import { randomBytes, randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { equalBytes, isZero } from '../../dist/bytes.js';
import { deviceCrypto } from '../../dist/crypto/device.js';
import { jsCrypto } from '../../dist/crypto/js.js';
import { nobleCrypto } from '../../dist/crypto/noble.js';
import { nodeCrypto } from '../../dist/crypto/node.js';
import type { CryptoProvider } from '../../dist/index.js';
import { table } from '../../tools/draw.ts';
import { writeMeasured } from '../../tools/measured.ts';

interface Case {
  readonly what: string;
  /** What the two classes are. */
  readonly classes: readonly [string, string];
  /** Whether a difference is known, and documented. */
  readonly isKnown: boolean;
  /** Makes an input. */
  readonly make: (ofClass: 0 | 1) => Uint8Array;
  readonly run: (input: Uint8Array) => unknown;
  /** How often it runs for one measurement. */
  readonly times: number;
}

const SECRET = randomBytes(32);

/** What no comparison of secrets should be. */
function naive(a: Uint8Array, b: Uint8Array): boolean {
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/** Bytes that are wrong in one place. What a comparison returns is public, and takes a branch: so all are wrong. */
const wrongAt = (bytes: Uint8Array, at: number): Uint8Array => {
  const wrong = new Uint8Array(bytes);
  wrong[at]! ^= 1 + randomInt(255);
  return wrong;
};

/** A sealed message of 64 bytes whose tag is wrong in its first or in its last byte. */
function wrongTag(name: string, { ciphers }: CryptoProvider): Case {
  const nonce = new Uint8Array(12);
  const nothing = new Uint8Array(0);
  const cipher = ciphers.ChaChaPoly!(SECRET);
  const sealed = cipher.seal(nonce, nothing, new Uint8Array(64));
  return {
    what: `tag of ChaChaPoly, ${name}`,
    classes: ['wrong first byte', 'wrong last byte'],
    isKnown: false,
    make: (ofClass) => wrongAt(sealed, ofClass === 0 ? 64 : 79),
    run: (wrong) => cipher.open(nonce, nothing, wrong),
    times: 2,
  };
}

/** A scalar multiplication by a private key with two bits, or by a random one. */
function scalar(name: string, { x25519 }: CryptoProvider, isKnown: boolean): Case {
  const publicKey = x25519.publicKey(randomBytes(32));
  return {
    what: `X25519, ${name}`,
    classes: ['key with two bits', 'random key'],
    isKnown,
    make: (ofClass) => (ofClass === 0 ? Uint8Array.of(1, ...new Uint8Array(31)) : randomBytes(32)),
    run: (privateKey) => x25519.sharedSecret(privateKey, publicKey),
    times: 1,
  };
}

const comparison = (what: string, right: Uint8Array, run: Case['run'], isKnown = false): Case => ({
  ...{ what, classes: ['wrong first byte', 'wrong last byte'], isKnown, run, times: 400 },
  make: (ofClass) => wrongAt(right, ofClass === 0 ? 0 : 31),
});

const CASES: Case[] = [
  comparison('a naive comparison, which this must find', SECRET, (input) => naive(input, SECRET), true),
  comparison('equalBytes, 32 bytes', SECRET, (input) => equalBytes(input, SECRET)),
  comparison('isZero, 32 bytes', new Uint8Array(32), isZero),
  wrongTag('js', jsCrypto),
  wrongTag('noble', nobleCrypto),
  wrongTag('device', deviceCrypto),
  wrongTag('node', nodeCrypto),
  scalar('js, doubles', jsCrypto, false),
  scalar('node', nodeCrypto, false),
  scalar('noble, BigInt', nobleCrypto, true),
  scalar('device, BigInt', deviceCrypto, true),
];

/** Welch's t of two samples. */
function welch(samples: readonly [number[], number[]]): number {
  const [a, b] = samples.map((values) => {
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1);
    return { mean, error: variance / values.length };
  });
  return (a!.mean - b!.mean) / Math.sqrt(a!.error + b!.error);
}

/** The largest t of all measurements, and of those below several times: the slowest ones were disturbed. */
function largestT(times: readonly number[], ofClass: readonly number[]): number {
  const sorted = [...times].sort((a, b) => a - b);
  let largest = 0;
  for (const part of [0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 0.99, 1]) {
    const most = sorted[Math.ceil(part * sorted.length) - 1]!;
    const samples: [number[], number[]] = [[], []];
    for (const [i, time] of times.entries()) if (time <= most) samples[ofClass[i]!]!.push(time);
    const t = Math.abs(welch(samples));
    if (samples.every(({ length }) => length > 100) && t > largest) largest = t;
  }
  return largest;
}

function measure({ make, run, times }: Case, seconds: number): { t: number; count: number; ratio: number } {
  const [taken, classes]: [number[], number[]] = [[], []];
  const end = performance.now() + seconds * 1000;
  const input = new Uint8Array(make(0).length);
  const inputs = [new Uint8Array(input.length), new Uint8Array(input.length)] as const;
  while (performance.now() < end) {
    for (let i = 0; i < 100; i++) {
      const ofClass = randomInt(2) as 0 | 1;
      // Both classes are made each time, and are copied in the same way to the same place.
      for (const other of [0, 1] as const) inputs[other].set(make(other));
      input.set(inputs[ofClass]);
      const began = process.hrtime.bigint();
      for (let j = 0; j < times; j++) run(input);
      taken.push(Number(process.hrtime.bigint() - began));
      classes.push(ofClass);
    }
  }
  // The first tenth warmed up.
  const from = Math.floor(taken.length / 10);
  const [measured, ofClass] = [taken.slice(from), classes.slice(from)];
  const median = (wanted: number): number => {
    const sorted = measured.filter((_, i) => ofClass[i] === wanted).sort((a, b) => a - b);
    return sorted[sorted.length >> 1]!;
  };
  return { t: largestT(measured, ofClass), count: measured.length, ratio: median(0) / median(1) };
}

const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '10' }, write: { type: 'boolean', default: false } },
});
const COLUMNS = ['', 'classes', 'measurements', '|t|', 'ratio of medians', 'result'];
const WIDTHS = [42, 38, 13, 8, 17, 0];
const say = (cells: readonly string[]): void =>
  console.log(cells.map((cell, i) => cell.padEnd(WIDTHS[i]!)).join(' '));

console.log(`${CASES.length} lines, ${values.seconds} seconds each\n`);
say(COLUMNS);
let isSurprising = false;
const rows = CASES.map((one) => {
  const { t, count, ratio } = measure(one, Number(values.seconds));
  const found = t > 10 ? 'differs' : t > 4.5 ? 'may differ' : 'nothing found';
  if (one === CASES[0] ? t < 10 : t > 10 && !one.isKnown) isSurprising = true;
  const result = one.isKnown ? `${found}, as known` : found;
  const row = [one.what, one.classes.join(', '), String(count), t.toFixed(1), ratio.toFixed(4), result];
  say(row);
  return row;
});
if (values.write) {
  const heading = COLUMNS.map((column) => column.split('|').join('\\|'));
  writeMeasured('docs/evidence/timing.md', { 'constant-time': table(heading, rows) });
}
if (isSurprising) {
  console.log(
    '\nA line is not as it should be. On a busy machine, run it again for longer before you believe it.',
  );
  process.exitCode = 1;
}

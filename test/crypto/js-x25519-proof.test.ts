/** Proves that the X25519 in doubles rounds nothing that it should not, computes the right products, and hides its secrets. */
import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Cells, Machine, type Range } from './ranges.ts';

const SOURCE = ['limbs', 'js-x25519']
  .map((name) => readFileSync(new URL(`../../src/crypto/${name}.ts`, import.meta.url), 'utf8'))
  .join('\n');

const P = 2n ** 255n - 19n;
/** (A - 2) / 4 of the curve (RFC 7748, section 4.1). */
const A24 = 121665n;
const LIMBS = 12;
const positionOf = (k: number): number => Math.ceil(21.25 * k);

const PURE = ['multiply', 'square', 'timesA24Plus', 'add', 'subtract', 'cswap', 'raise'];
const load = (source: string, pure: readonly string[]): Machine =>
  new Machine(source, P, pure, { KEY_LENGTH: 32 });

/** Any limbs that a carry leaves, or so many times as large. */
function anyLimbs(machine: Machine, times: bigint): Cells {
  const limbs = Array.from({ length: LIMBS }, (_, k): Range => {
    const half = times << BigInt(positionOf(k + 1) - positionOf(k) - 1);
    return machine.unknown(-half - 256n, half + 256n, positionOf(k));
  });
  return new Cells(limbs, false);
}

function powerModulo(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  for (let x = base, n = exponent; n > 0n; n >>= 1n, x = (x * x) % P) if (n & 1n) result = (result * x) % P;
  return result;
}

/** Throws if a limb has left its place, or is larger than a carry leaves it. */
function assertCarried(machine: Machine, limbs: Cells): void {
  const bounds = anyLimbs(machine, 1n).all();
  for (const [k, { low, high, step }] of limbs.all().entries()) {
    if (step < positionOf(k)) throw new Error(`limb ${k} is no multiple of 2^${positionOf(k)}`);
    if (low < bounds[k]!.low || high > bounds[k]!.high) throw new Error(`limb ${k} is too large`);
  }
}

/** Throws if a function does not compute what it should, for any limbs. */
function checkArithmetic(machine: Machine): void {
  const expect = (what: string, h: Cells, expected: bigint): void => {
    assertCarried(machine, h);
    if (machine.sum(h) !== ((expected % P) + P) % P) throw new Error(`${what} computes something else`);
  };
  const [f, g, h] = [anyLimbs(machine, 2n), anyLimbs(machine, 2n), anyLimbs(machine, 1n)];
  const [x, y] = [machine.sum(f), machine.sum(g)];
  machine.call('multiply', h, f, g);
  expect('multiply', h, x * y);
  machine.call('square', h, f);
  expect('square', h, x * x);
  machine.call('timesA24Plus', h, f, g);
  expect('timesA24Plus', h, A24 * x + y);
  for (const [swap, first, second] of [
    [0n, f, g],
    [1n, g, f],
  ] as const) {
    const expected = [machine.sum(first), machine.sum(second)];
    machine.call('cswap', machine.point(swap), f, g);
    if (`${[machine.sum(f), machine.sum(g)]}` !== `${expected}`) throw new Error('cswap is wrong');
    machine.call('cswap', machine.point(swap), f, g);
  }
  machine.call('invert', h, f);
  expect('invert', h, powerModulo(x, P - 2n));
  const u = machine.bytes(32);
  u.cells[31] = machine.unknown(0n, 127n);
  machine.call('decode', h, u);
  const value = u.cells.reduce((sum, { residue }, i) => sum + (residue << BigInt(8 * i)), 0n);
  expect('decode', h, value);
}

/** The limbs of a known number, whose limbs are signed. */
function limbsOf(machine: Machine, value: bigint): Cells {
  let rest = value;
  const limbs: Range[] = [];
  for (let k = LIMBS - 1; k >= 0; k--) {
    const unit = 1n << BigInt(positionOf(k));
    const count = k === 0 ? rest : (2n * rest + (rest < 0n ? -unit : unit)) / (2n * unit);
    limbs.unshift(machine.point(count * unit));
    rest -= count * unit;
  }
  return new Cells(limbs, false);
}

/** Throws if the bytes of numbers at the edges are wrong. */
function checkEncoding(machine: Machine): void {
  for (const value of [0n, 1n, -1n, 18n, 19n, -19n, -20n, P / 2n, -P / 2n, P - 1n, 1n - P]) {
    const { cells } = machine.call('encode', limbsOf(machine, value)) as Cells;
    const bytes = cells.reduce((sum, { low }, i) => sum + (low << BigInt(8 * i)), 0n) >> 700n;
    if (bytes !== (value + P) % P) throw new Error(`${value} is encoded as ${bytes}`);
  }
}

/** Throws if anything is rounded, cut off, or leaks into a branch or an index, for any two arrays of 32 bytes. */
function checkExactness(machine: Machine): void {
  machine.call('x25519', machine.bytes(32), machine.bytes(32));
}

function prove(source: string): Machine {
  const machine = load(source, []);
  checkEncoding(machine);
  checkArithmetic(machine);
  const faster = load(source, PURE);
  checkExactness(faster);
  return faster;
}

test('computes every product modulo 2^255 - 19, and no sum reaches 2^53, whatever the keys are', () => {
  assert.ok(prove(SOURCE).largest < 2n ** 53n);
});

for (const [what, text, changed, reason] of [
  ['the rounding of limb 0', '51 + 22)', '52 + 22)', 'limb 0 is too large'],
  ['the rounding of limb 5', '51 + 128)', '51 + 127)', 'limb 6 is no multiple'],
  ['the rounding of limb 11', '51 + 255)', '51 + 254)', 'limb 0 is no multiple'],
  ['the factor of a rounding', 'ROUND_7 = 3 *', 'ROUND_7 = 1 *', 'is rounded'],
  ['19', 'WRAP = 19 /', 'WRAP = 18 /', 'multiply computes something else'],
  ['the power of 19 * 2^-255', 'power(255)', 'power(256)', 'limb 0 is no multiple'],
  ['a24', '121665 *', '121666 *', 'timesA24Plus computes something else'],
  ['a position', '64, 85, 107', '64, 86, 107', 'a fraction is cut off'],
  [
    'a power of the inversion',
    'raise(r, r50, 50, r50)',
    'raise(r, r50, 49, r50)',
    'invert computes something else',
  ],
  ['19 in the last reduction', 'UNITS, 19,', 'UNITS, 18,', '-1 is encoded as'],
  ['what a byte is worth', 'place *= 256', 'place *= 128', 'limb 1 is no multiple'],
  ['the weight of a number that is kept', 'keep = 1 - swap', 'keep = 2 - swap', 'cswap is wrong'],
  ['which limbs are multiplied', 'd3 * m11', 'd3 * m10', 'is rounded'],
  ['where a carry goes', 'h6 += c;', 'h7 += c;', 'limb 7 is no multiple'],
  ['how often a carry wraps', 'c * WRAP;', 'c * WRAP * WRAP;', 'is rounded'],
  ['what an index depends on', 'const x = f[i]!', 'const x = f[i]! + f[f[0]!]!', 'an index depends'],
  ['what a branch depends on', 'swap ^= kt;', 'swap ^= kt < 1 ? 0 : 1;', 'a branch depends'],
] as const) {
  test(`the proof fails if ${what} is changed`, () => {
    const parts = SOURCE.split(text);
    assert.is(parts.length, 2, `${text} is there ${parts.length - 1} times`);
    assert.throws(() => prove(parts.join(changed)), new RegExp(reason));
  });
}

test.run();

/** Proves that the Poly1305 in doubles rounds nothing that it should not, and computes the right sums. */
import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Cells, Machine, type Range } from './ranges.ts';

const SOURCE = ['limbs', 'js-poly1305']
  .map((name) => readFileSync(new URL(`../../src/crypto/${name}.ts`, import.meta.url), 'utf8'))
  .join('\n');

const P = 2n ** 130n - 5n;
const LIMBS = 6;
const positionOf = (k: number): number => Math.ceil((130 * k) / LIMBS);

/** Any limbs that a block leaves. */
const anyLimbs = (machine: Machine): Range[] =>
  Array.from({ length: LIMBS }, (_, k) => {
    const half = 1n << BigInt(positionOf(k + 1) - positionOf(k) - 1);
    return machine.unknown(-half - 256n, half + 256n, positionOf(k));
  });

/**
 * Throws if a block is not added and multiplied as it should be, whatever the sum and the key are, or if the new sum is larger
 * than the old one may be. So the same holds for all blocks that follow.
 */
function checkBlocks(machine: Machine): void {
  const [sum, r] = [machine.array('sum'), machine.array('r')];
  for (const byte of [0n, 1n, 0x55n, 0xffn]) {
    machine.call('startMac', machine.bytes(32));
    const limits = anyLimbs(machine);
    sum.become(limits);
    const block = Array.from({ length: 16 }, (_, i) => (i % 3 === 0 ? 255n - byte : byte));
    const n = block.reduce((value, each, i) => value + (each << BigInt(8 * i)), 2n ** 128n);
    const expected = ((machine.sum(sum) + n) * machine.sum(r)) % P;
    machine.call(
      'addBlocks',
      new Cells(
        block.map((each) => machine.point(each)),
        true,
      ),
      machine.point(16n),
    );
    if (machine.sum(sum) !== expected) throw new Error('addBlocks computes something else');
    machine.call('addBlocks', machine.bytes(16), machine.point(16n));
    for (const [k, { low, high, step }] of sum.all().entries()) {
      if (step < positionOf(k)) throw new Error(`limb ${k} is no multiple of 2^${positionOf(k)}`);
      if (low < limits[k]!.low || high > limits[k]!.high) throw new Error(`limb ${k} is too large`);
    }
  }
}

/** Throws if anything is rounded, cut off, or leaks into a branch or an index, for any key and message. */
function checkExactness(machine: Machine): void {
  machine.call('startMac', machine.bytes(32));
  machine.call('updateMac', machine.bytes(37), machine.point(37n));
  machine.call('updateMac', machine.bytes(48), machine.point(48n));
  machine.call('updateMacWithLengths', machine.point(37n), machine.point(48n));
  machine.call('finishMac', machine.bytes(16));
}

/** Throws if the tag of a sum at an edge is wrong. */
function checkEnd(machine: Machine): void {
  for (const value of [0n, 1n, -1n, -5n, -6n, 2n ** 128n, 2n ** 128n - 1n]) {
    const limbs = Array.from({ length: LIMBS }, () => machine.point(0n));
    limbs[0] = machine.point(value % 2n ** 22n);
    limbs[5] = machine.point(value - (value % 2n ** 22n));
    if (value === 2n ** 128n - 1n) [limbs[0], limbs[5]] = [machine.point(-1n), machine.point(2n ** 128n)];
    machine.array('sum').become(limbs);
    machine.array('s').fill(machine.point(0xffn));
    const tag = new Cells(
      Array.from({ length: 16 }, () => machine.point(0n)),
      true,
    );
    machine.call('finishMac', tag);
    const bytes = tag.all().reduce((sum, { low }, i) => sum + (low << BigInt(8 * i)), 0n) >> 700n;
    const expected = (((value + P) % P) + 2n ** 128n - 1n) % 2n ** 128n;
    if (bytes !== expected) throw new Error(`the tag of ${value} is ${bytes}`);
  }
}

function prove(source: string): Machine {
  const machine = new Machine(source, P, [], { TAG_LENGTH: 16 });
  checkBlocks(machine);
  checkEnd(machine);
  checkExactness(machine);
  return machine;
}

test('computes every product modulo 2^130 - 5, and no sum reaches 2^53, whatever key and message are', () => {
  assert.ok(prove(SOURCE).largest < 2n ** 53n);
});

for (const [what, text, changed, reason] of [
  ['the rounding of a limb', '51 + 65)', '51 + 66)', 'limb 2 is too large'],
  ['the factor of a rounding', 'ROUND_4 = 3 *', 'ROUND_4 = 1 *', 'is rounded'],
  ['5', 'WRAP = 5 /', 'WRAP = 6 /', 'addBlocks computes something else'],
  ['the power of 5 * 2^-130', '/ power(130)', '/ power(129)', 'addBlocks computes something else'],
  [
    'where a word is cut',
    'w1 >>> 12) | ((w2 & 1) << 20)) * UNIT_2;\n    const f3',
    'w1 >>> 11) | ((w2 & 1) << 20)) * UNIT_2;\n    const f3',
    'addBlocks computes something else',
  ],
  ['the bit after a block', '0x80000', '0x40000', 'addBlocks computes something else'],
  ['5 in the last reduction', 'UNITS, 5,', 'UNITS, 4,', 'the tag of -1 is'],
  ['what limbs are multiplied', 'f4 * m4', 'f4 * m3', 'is rounded'],
] as const) {
  test(`the proof fails if ${what} is changed`, () => {
    const parts = SOURCE.split(text);
    assert.is(parts.length, 2, `${text} is there ${parts.length - 1} times`);
    assert.throws(() => prove(parts.join(changed)), new RegExp(reason));
  });
}

test.run();

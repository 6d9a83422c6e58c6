/** Numbers in limbs, written modulo p, beside BigInt: at the borders of limbs and of p, where no random key leads. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { encodeModulo, power } from '../../src/crypto/limbs.ts';
import { Random } from '../world/random.ts';

const LAYOUTS = {
  X25519: { positions: [0, 22, 43, 64, 85, 107, 128, 149, 170, 192, 213, 234, 255], excess: 19 },
  Poly1305: { positions: [0, 22, 44, 65, 87, 109, 130], excess: 5 },
};

function littleEndian(value: bigint, length: number): string {
  const hex = value.toString(16).padStart(2 * length, '0');
  return Buffer.from(hex, 'hex').reverse().toString('hex');
}

test('computes powers of two', () => {
  for (const exponent of [0, 1, 2, 22, 52, 255]) assert.is(power(exponent), 2 ** exponent);
});

for (const [name, { positions, excess }] of Object.entries(LAYOUTS)) {
  const limbs = positions.length - 1;
  const units = positions.slice(0, -1).map(power);
  const p = 2n ** BigInt(positions[limbs]!) - BigInt(excess);
  const length = Math.ceil(positions[limbs]! / 8);

  /** Writes a number whose limbs have these values, each times its unit. */
  const encode = (values: readonly number[]): [written: string, expected: string] => {
    const given = new Float64Array(values.map((value, k) => value * units[k]!));
    const bytes = new Uint8Array(length);
    encodeModulo(given, positions, units, excess, bytes);
    const value = values.reduce((sum, each, k) => sum + BigInt(each) * 2n ** BigInt(positions[k]!), 0n);
    return [Buffer.from(bytes).toString('hex'), littleEndian(((value % p) + p) % p, length)];
  };

  test(`${name} writes a number with one limb that is not 0, down to -1`, () => {
    for (let k = 0; k < limbs; k++) {
      for (const value of [1, -1, 2, -2, 1000, -1000]) {
        const [written, expected] = encode(Array.from({ length: limbs }, (_, i) => (i === k ? value : 0)));
        assert.is(written, expected, `limb ${k} is ${value}`);
      }
    }
  });

  test(`${name} writes numbers with limbs of either sign`, () => {
    const random = new Random(limbs);
    for (let i = 0; i < 1000; i++) {
      const values = Array.from({ length: limbs }, (_, k) => {
        const most = power(positions[k + 1]! - positions[k]! - 1);
        return random.below(2 * most - 1) - (most - 1);
      });
      const [written, expected] = encode(values);
      assert.is(written, expected, String(values));
    }
  });
}

test.run();

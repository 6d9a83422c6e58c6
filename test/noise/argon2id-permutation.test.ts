import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { permutation } from '../../tools/permutation.ts';

test('the generated permutation is what its generator writes: after a change, node --import tsx tools/permutation.ts', () => {
  const current = readFileSync(new URL('../../src/noise/argon2id-permutation.ts', import.meta.url), 'utf8');
  assert.is(current, permutation());
});

test.run();

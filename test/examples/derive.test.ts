/** The examples that derive a PSK without blocking: in slices on the event loop, and in a worker. */
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { deriveInWorker } from '../../client/dist/derive-on-node.js';
import { derive } from '../../examples/derive.ts';
import { nodeCrypto } from '../../src/crypto/node.ts';
import { hex, readVectors, toHex } from '../world/vectors.ts';

/** One that Node has since 24.7 reports no progress before the end. */
const isNative = nodeCrypto.argon2id !== undefined;
const [vector] = readVectors('argon2id', 'Psk');
const { password, salt, psk } = vector!;

test('lets timers fire while it derives in slices', async () => {
  const progress: number[] = [];
  let ticks = 0;
  const timer = setInterval(() => ticks++, 20);
  const derived = await derive(password, hex(salt), (done) => progress.push(done));
  clearInterval(timer);
  assert.is(toHex(derived), psk);
  assert.ok(ticks > 5);
  assert.equal(
    progress,
    [...progress].sort((a, b) => a - b),
  );
  assert.is(progress.at(-1), 1);
});

test('reports the progress of a worker', async () => {
  const progress: number[] = [];
  const derived = await deriveInWorker(
    password,
    hex(salt),
    (done) => progress.push(done),
    new AbortController().signal,
  );
  assert.is(toHex(derived), psk);
  assert.ok(isNative ? progress.length >= 1 : progress.length > 10);
  assert.is(progress.at(-1), 1);
});

for (const name of ['browser.js', 'derive-worker-in-browser.js']) {
  test(`a bundler finds nothing of Node in client/dist/${name}`, async () => {
    const { errors, warnings } = await build({
      entryPoints: [fileURLToPath(new URL(`../../client/dist/${name}`, import.meta.url))],
      bundle: true,
      write: false,
      format: 'esm',
      platform: 'browser',
    });
    assert.equal([errors, warnings], [[], []]);
  });
}

test.run();

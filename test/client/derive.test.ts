/** How the client derives a PSK without blocking: in a worker of Node.js or of a browser. */
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { derive } from 'hub-protocol-client/hub';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nodeCrypto } from '../../src/crypto/node.ts';
import { hex, readVectors, toHex } from '../world/vectors.ts';

/** One that Node has since 24.7 reports no progress before the end. */
const isNative = nodeCrypto.argon2id !== undefined;
const [vector] = readVectors('argon2id', 'Psk');
const { password, salt, psk } = vector!;

test('reports the progress of a worker, and lets timers fire', async () => {
  const progress: number[] = [];
  let ticks = 0;
  const timer = setInterval(() => ticks++, 20);
  const derived = await derive(password, hex(salt), (done) => progress.push(done));
  clearInterval(timer);
  assert.ok(ticks > 1);
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

/**
 * Compares Argon2id with other implementations: time, slices and memory, in Node, XS and QuickJS.
 *
 *     npm run bench        some two minutes
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { argon2id as nobleArgon2id } from '@noble/hashes/argon2.js';
import { hashRawSync } from '@node-rs/argon2';
import { buildSync } from 'esbuild';
import { argon2id as wasmArgon2id } from 'hash-wasm';
import { nobleCrypto } from '../dist/crypto/noble.js';
import { Argon2id, argon2id } from '../dist/index.js';
import { startQuickJs, startXs } from '../test/engines/engines.ts';
import { paired, report } from './paired.ts';

const password = new Uint8Array(8).fill(1);
const salt = new Uint8Array(16).fill(2);
const PROTOCOL = {
  crypto: nobleCrypto,
  password,
  salt,
  passes: 3,
  memoryKiB: 65536,
  parallelism: 1,
  length: 32,
};
const KIB = 1024;

const ours = (): Uint8Array => argon2id(PROTOCOL);
const nobles = (): Uint8Array => nobleArgon2id(password, salt, { t: 3, m: 65536, p: 1, dkLen: 32 });
const wasm = (): Promise<Uint8Array> =>
  wasmArgon2id({
    password,
    salt,
    iterations: 3,
    memorySize: 65536,
    parallelism: 1,
    hashLength: 32,
    outputType: 'binary',
  });
const native = (): Uint8Array =>
  hashRawSync(password, {
    salt,
    timeCost: 3,
    memoryCost: 65536,
    parallelism: 1,
    outputLen: 32,
    algorithm: 2,
  });

const expected = Buffer.from(ours()).toString('hex');
for (const peer of [nobles, wasm, native]) assert.equal(Buffer.from(await peer()).toString('hex'), expected);

const memory = new Uint8Array(65536 * KIB);
report(
  `Argon2id, 3 passes over 64 MiB, Node ${process.versions.node}`,
  await paired(
    [
      { name: 'hub-protocol', run: ours },
      { name: 'hub-protocol, memory reused', run: () => argon2id({ ...PROTOCOL, memory }) },
      { name: 'noble', run: nobles },
      { name: 'hash-wasm, WebAssembly', run: wasm },
      { name: '@node-rs/argon2, native', run: native },
    ],
    7,
  ),
);

/** Derives in slices of at least `sliceMs` milliseconds, as a caller does that watches the clock. */
function sliced(sliceMs: number): void {
  const derivation = new Argon2id({ ...PROTOCOL, memory });
  for (let done = false; !done; ) {
    const until = performance.now() + sliceMs;
    do done = derivation.run(16);
    while (!done && performance.now() < until);
  }
  derivation.result();
}
report(
  'The same in slices',
  await paired(
    [
      { name: 'in one go', run: () => argon2id({ ...PROTOCOL, memory }) },
      { name: 'slices of 1 ms', run: () => sliced(1) },
    ],
    7,
  ),
);

const derivation = new Argon2id({ ...PROTOCOL, memory });
derivation.run(65536);
const times: number[] = [];
for (let i = 0; i < 10_000; i++) {
  const began = performance.now();
  derivation.run(1);
  times.push(performance.now() - began);
}
times.sort((a, b) => a - b);
console.log(
  `  run(1): ${(1000 * times[5000]!).toFixed(1)} µs, and ${(1000 * times[9900]!).toFixed(1)} µs for 99 of 100`,
);

const heap = (): number => process.memoryUsage().heapUsed;
const buffers = (): number => process.memoryUsage().arrayBuffers;
global.gc!();
const [heapBefore, buffersBefore] = [heap(), buffers()];
derivation.run(100_000);
const perBlock = (heap() - heapBefore) / 100_000;
derivation.destroy();
global.gc!();
const own = new Argon2id(PROTOCOL);
own.run(1000);
console.log('\nMemory');
console.log(`  on the JavaScript heap, for each block: ${perBlock.toFixed(2)} bytes`);
console.log(
  `  buffers: 65536 KiB of blocks and ${((buffers() - buffersBefore) / KIB - 65536).toFixed(1)} KiB`,
);
own.destroy();

const folder = mkdtempSync(join(tmpdir(), 'hub-protocol-'));
const script = join(folder, 'argon2id.js');
buildSync({
  entryPoints: [new URL('argon2id-in-engines.ts', import.meta.url).pathname],
  bundle: true,
  format: 'iife',
  target: 'es2020',
  outfile: script,
});
for (const start of [startXs, startQuickJs]) {
  const engine = await start([{ script }]);
  await engine.run('if (ours(64) !== nobles(64)) throw new Error("they differ")');
  report(
    `Argon2id, 3 passes over 512 KiB, ${engine.name}`,
    await paired(
      [
        { name: 'hub-protocol', run: () => engine.run('ours(512)') },
        { name: 'noble', run: () => engine.run('nobles(512)') },
      ],
      9,
    ),
  );
  engine.stop();
}
rmSync(folder, { recursive: true });

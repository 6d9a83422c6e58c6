/** Deriving a PSK beside other implementations, in one go and in slices. */
import assert from 'node:assert/strict';
import nodeModule from 'node:crypto';
import { argon2id as nobleArgon2id } from '@noble/hashes/argon2.js';
import { nobleCrypto } from '../../dist/crypto/noble.js';
import { nodeCrypto } from '../../dist/crypto/node.js';
import { Argon2id, argon2id } from '../../dist/parts.js';
import { earlierBuild } from './both-ends.ts';
import { awaited, calls } from './paired.ts';
import { hashRawSync, wasmArgon2id } from './peers/index.js';
import { type Benchmark, compare, type Peer } from './rows.ts';

const password = new Uint8Array(8).fill(1);
const salt = new Uint8Array(16).fill(2);
const PARAMETERS = { password, salt, passes: 3, memoryKiB: 65536, parallelism: 1, length: 32 };
const WHAT = 'argon2id, 64 MiB, 3 passes';

const ours = (): Uint8Array => argon2id({ ...PARAMETERS, crypto: nobleCrypto });
const nobles = (): Uint8Array => nobleArgon2id(password, salt, { t: 3, m: 65536, p: 1, dkLen: 32 });
const wasm = (): Promise<Uint8Array> =>
  wasmArgon2id({
    ...{ password, salt, iterations: 3, memorySize: 65536, parallelism: 1, hashLength: 32 },
    outputType: 'binary',
  });
const native = (): Uint8Array =>
  hashRawSync(password, {
    ...{ salt, timeCost: 3, memoryCost: 65536, parallelism: 1, outputLen: 32 },
    algorithm: 2,
  });

/** Derives in slices of a millisecond, as a caller does that watches the clock. */
function sliced(memory: Uint8Array): void {
  const derivation = new Argon2id({ ...PARAMETERS, crypto: nobleCrypto, memory });
  for (let done = false; !done; ) {
    const until = performance.now() + 1;
    do done = derivation.run(16);
    while (!done && performance.now() < until);
  }
  derivation.result();
}

export const derivation = (before: string | undefined): Benchmark => ({
  name: 'argon2id',
  seconds: 35,
  async run() {
    const expected = Buffer.from(ours()).toString('hex');
    for (const peer of [nobles, wasm, native])
      assert.equal(Buffer.from(await peer()).toString('hex'), expected);
    const name = 'Node’s own, by nodeCrypto';
    const nodes: Peer =
      'argon2Sync' in nodeModule
        ? { name, time: calls(() => argon2id({ ...PARAMETERS, crypto: nodeCrypto })) }
        : { name, missing: `Node has it from 24.7 on, this is ${process.versions.node}` };
    const peers: Peer[] = [
      { name: 'noble', time: calls(nobles) },
      { name: 'hash-wasm, WebAssembly', time: awaited(wasm) },
      { name: '@node-rs/argon2, native', time: calls(native) },
      nodes,
    ];
    if (before !== undefined) {
      const { argon2id: past, nobleCrypto: crypto } = await earlierBuild(before);
      peers.push({ name: 'an earlier build', time: calls(() => past({ ...PARAMETERS, crypto })) });
    }
    const memory = new Uint8Array(65536 * 1024);
    const reused = calls(() => argon2id({ ...PARAMETERS, crypto: nobleCrypto, memory }));
    const slices = calls(() => sliced(memory));
    return [
      ...(await compare(WHAT, calls(ours), peers, 20)),
      ...(await compare(
        'argon2id, memory reused',
        reused,
        [
          { name: 'new memory', time: calls(ours) },
          { name: 'in slices of 1 ms', time: slices },
        ],
        10,
      )),
    ];
  },
});

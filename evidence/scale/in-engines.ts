/** Bundled for the engines by slow-engines.ts: our implementations and noble's as global functions. */
import { x25519 } from '@noble/curves/ed25519.js';
import { argon2id as nobleArgon2id } from '@noble/hashes/argon2.js';
import { deviceX25519 } from '../../dist/crypto/device-x25519.js';
import { nobleCrypto } from '../../dist/crypto/noble.js';
import { argon2id } from '../../dist/parts.js';

const password = new Uint8Array(8).fill(1);
const salt = new Uint8Array(16).fill(2);
const privateKey = new Uint8Array(32).fill(3);
const publicKey = deviceX25519.publicKey(new Uint8Array(32).fill(4));

/** Each returns bytes, which have to be equal. */
const PAIRS: { readonly [name: string]: readonly [ours: () => Uint8Array, nobles: () => Uint8Array] } = {
  argon2id: [
    () =>
      argon2id({ crypto: nobleCrypto, password, salt, passes: 3, memoryKiB: 64, parallelism: 1, length: 32 }),
    () => nobleArgon2id(password, salt, { t: 3, m: 64, p: 1, dkLen: 32 }),
  ],
  x25519: [
    () => deviceX25519.sharedSecret(privateKey, publicKey),
    () => x25519.getSharedSecret(privateKey, publicKey),
  ],
};

const shown = (bytes: Uint8Array): string => Array.prototype.join.call(bytes, ' ');

Object.assign(globalThis, {
  compute(name: string, side: 0 | 1, count: number) {
    for (let i = 0; i < count; i++) PAIRS[name]![side]();
  },
  check(name: string) {
    const [ours, nobles] = PAIRS[name]!.map((run) => shown(run()));
    if (ours !== nobles) throw new Error(`${name}: ours and noble’s differ`);
  },
});

/** Bundled for the engines by argon2id.ts: both implementations as global functions that return strings. */
import { argon2id as nobleArgon2id } from '@noble/hashes/argon2.js';
import { nobleCrypto } from '../dist/crypto/noble.js';
import { argon2id } from '../dist/index.js';

const password = new Uint8Array(8).fill(1);
const salt = new Uint8Array(16).fill(2);

function shown(bytes: Uint8Array): string {
  return Array.prototype.join.call(bytes, ' ');
}

Object.assign(globalThis, {
  ours: (memoryKiB: number) =>
    shown(
      argon2id({ crypto: nobleCrypto, password, salt, passes: 3, memoryKiB, parallelism: 1, length: 32 }),
    ),
  nobles: (m: number) => shown(nobleArgon2id(password, salt, { t: 3, m, p: 1, dkLen: 32 })),
});

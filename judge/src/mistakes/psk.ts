/** PSKs with one wrong parameter, to name the mistake behind an implementation's PSK. Each takes up to a second to derive. */
import { argon2id, bytesToHex, nodeCrypto, utf8ToBytes } from '../protocol.ts';

const sha256 = (string: string): Uint8Array => nodeCrypto.sha256(utf8ToBytes(string));

/** The PSK that a mistake leads to, from a password and a node id. */
export interface MistakenPsk {
  readonly cause: string;
  /** The PSK in hex; `undefined` if Argon2id refuses these parameters. */
  derive(): string | undefined;
}

/** The PSKs that the likeliest mistakes lead to. */
export function mistakenPsks(password: string, nodeId: string): MistakenPsk[] {
  const salt = sha256(nodeId);
  const right = { password: utf8ToBytes(password), salt, passes: 3, memoryKiB: 65536, parallelism: 1 };
  const mistakes: readonly (readonly [what: string, change: Partial<typeof right>])[] = [
    ['Argon2id has 64 KiB of memory; it has 65536 KiB, which are 64 MiB', { memoryKiB: 64 }],
    ['the salt is the node id itself; it is its SHA-256', { salt: utf8ToBytes(nodeId) }],
    ['the salt is the SHA-256 in hexadecimal; it is the 32 bytes', { salt: utf8ToBytes(bytesToHex(salt)) }],
    ['the salt is half of the SHA-256; it is all 32 bytes', { salt: salt.slice(0, 16) }],
    ['the salt is the SHA-256 of the password; it is that of the node id', { salt: sha256(password) }],
    ['Argon2id has a time cost of 1; it has 3', { passes: 1 }],
    ['Argon2id has 4 lanes; it has 1', { parallelism: 4 }],
    ['Argon2id has 64000 KiB of memory; it has 65536 KiB, which are 64 MiB', { memoryKiB: 64000 }],
  ];
  return mistakes.map(([what, change]) => ({
    cause: `psk: ${what}`,
    derive() {
      const parameters = { ...right, ...change };
      if (parameters.salt.length < 8) return undefined; // too short for Argon2id
      return bytesToHex(argon2id({ crypto: nodeCrypto, ...parameters, length: 32 }));
    },
  }));
}

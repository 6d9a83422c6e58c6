/** PSKs with one wrong parameter, to name the mistake behind an implementation's PSK. */
import { argon2id, bytesToHex, equalBytes, nodeCrypto, utf8ToBytes } from '../protocol.ts';

interface Parameters {
  readonly password: Uint8Array;
  readonly salt: Uint8Array;
  readonly passes: number;
  readonly memoryKiB: number;
  readonly parallelism: number;
}

interface Mistake {
  readonly cause: string;
  /** The parameters under this mistake, given the right ones. */
  change(right: Parameters, password: string, nodeId: string): Partial<Parameters>;
}

const sha256 = (string: string): Uint8Array => nodeCrypto.sha256(utf8ToBytes(string));

/** Mistakes that show only in unusual passwords and node ids, or in long ones. */
const STRINGS: readonly Mistake[] = [
  {
    cause: 'psk: the password is trimmed; it is taken as it is',
    change: (_right, password) => ({ password: utf8ToBytes(password.trim()) }),
  },
  {
    cause: 'psk: the password is normalized to NFC; it is taken as it is',
    change: (_right, password) => ({ password: utf8ToBytes(password.normalize('NFC')) }),
  },
  {
    cause: 'psk: the password is normalized to NFD; it is taken as it is',
    change: (_right, password) => ({ password: utf8ToBytes(password.normalize('NFD')) }),
  },
  {
    cause: 'psk: the password is encoded as Latin-1; it is encoded as UTF-8',
    change: (_right, password) => ({ password: new Uint8Array(Buffer.from(password, 'latin1')) }),
  },
  {
    cause: 'psk: the node id is trimmed; it is hashed as it came',
    change: (_right, _password, nodeId) => ({ salt: sha256(nodeId.trim()) }),
  },
  {
    cause: 'psk: the line feeds of the node id are changed; it is hashed as it came',
    change: (_right, _password, nodeId) => ({ salt: sha256(nodeId.replace(/\n/g, '\r\n')) }),
  },
  {
    cause: 'psk: the salt is the node id itself; it is its SHA-256',
    change: (_right, _password, nodeId) => ({ salt: utf8ToBytes(nodeId) }),
  },
];

const PARAMETERS: readonly Mistake[] = [
  {
    cause: 'psk: the salt is the SHA-256 in hexadecimal; it is the 32 bytes',
    change: ({ salt }) => ({ salt: utf8ToBytes(bytesToHex(salt)) }),
  },
  {
    cause: 'psk: the salt is half of the SHA-256; it is all 32 bytes',
    change: ({ salt }) => ({ salt: salt.slice(0, 16) }),
  },
  {
    cause: 'psk: the salt is the SHA-256 of the password; it must be the SHA-256 of the node id',
    change: (_right, password) => ({ salt: sha256(password) }),
  },
  ...[1, 2, 4].map((passes) => ({
    cause: `psk: Argon2id has a time cost of ${passes}; it has 3`,
    change: () => ({ passes }),
  })),
  ...[4096, 8192, 16384, 19456, 32768, 47104, 64000, 65535, 131072].map((memoryKiB) => ({
    cause: `psk: Argon2id has ${memoryKiB} KiB of memory; it has 65536 KiB, which are 64 MiB`,
    change: () => ({ memoryKiB }),
  })),
  ...[2, 4, 8].map((parallelism) => ({
    cause: `psk: Argon2id has ${parallelism} lanes; it has 1`,
    change: () => ({ parallelism }),
  })),
];

/** The PSK that a mistake leads to, from a password and a node id. */
export interface MistakenPsk {
  readonly cause: string;
  /** The PSK in hex, which takes up to a second; `undefined` if Argon2id refuses these parameters. */
  derive(): string | undefined;
}

/**
 * The PSKs that known mistakes lead to, from this password and node id: mistakes about strings only if they show in
 * these strings, and all mistakes about parameters.
 */
export function mistakenPsks(
  password: string,
  nodeId: string,
): { strings: MistakenPsk[]; parameters: MistakenPsk[] } {
  const right: Parameters = {
    password: utf8ToBytes(password),
    salt: sha256(nodeId),
    passes: 3,
    memoryKiB: 65536,
    parallelism: 1,
  };
  const changed = (mistake: Mistake): Parameters => ({
    ...right,
    ...mistake.change(right, password, nodeId),
  });
  const toPsk = (mistake: Mistake): MistakenPsk => ({
    cause: mistake.cause,
    derive: () => derive(changed(mistake)),
  });
  return {
    strings: STRINGS.filter((mistake) => !isSame(changed(mistake), right)).map(toPsk),
    parameters: PARAMETERS.map(toPsk),
  };
}

function isSame(a: Parameters, b: Parameters): boolean {
  return equalBytes(a.password, b.password) && equalBytes(a.salt, b.salt);
}

function derive(parameters: Parameters): string | undefined {
  if (parameters.salt.length < 8) return undefined; // too short for Argon2id
  return bytesToHex(argon2id({ crypto: nodeCrypto, ...parameters, length: 32 }));
}

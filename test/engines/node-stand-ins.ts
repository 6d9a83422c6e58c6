/** ES5 replacements for what the judge's adapter uses of Node and of newer engines. bundle-suite.ts puts them in. */
import { bytesToHex, bytesToUtf8, concatBytes, hexToBytes, utf8ToBytes } from '../../src/bytes.ts';
import { sha256 } from '../../src/crypto/sha256.ts';

export const Buffer = {
  from(content: string | Uint8Array, encoding?: 'hex'): Uint8Array {
    if (content === undefined) throw new TypeError('expected a text or bytes'); // as Node does
    const bytes =
      typeof content !== 'string'
        ? new Uint8Array(content)
        : encoding === 'hex'
          ? hexToBytes(content)!
          : utf8ToBytes(content);
    return Object.defineProperty(bytes, 'toString', {
      value: (encoding?: 'hex') => (encoding === 'hex' ? bytesToHex(bytes) : bytesToUtf8(bytes)),
    });
  },
  concat: (parts: Uint8Array[]): Uint8Array => concatBytes(parts),
};

export function createHash(_name: 'sha256'): {
  update(bytes: Uint8Array): { digest(encoding: 'hex'): string };
} {
  return { update: (bytes) => ({ digest: () => bytesToHex(sha256(bytes)) }) };
}

export function uint8ArrayOf(...numbers: number[]): Uint8Array {
  return new Uint8Array(numbers);
}

export function fromEntries(entries: [string, unknown][]): object {
  const fields: { [name: string]: unknown } = {};
  for (const [name, value] of entries) fields[name] = value;
  return fields;
}

export function objectEntries<Value>(object: { readonly [name: string]: Value }): [string, Value][] {
  return Object.keys(object).map((name) => [name, object[name]!]);
}

/** Stands for BigInt(): the digits are enough for `setBigUint64`. */
export function bigInt(digits: string): string {
  return digits;
}

export class BigIntView {
  private readonly bytes: Uint8Array;

  constructor(buffer: ArrayBuffer) {
    this.bytes = new Uint8Array(buffer);
  }

  setBigUint64(start: number, digits: string, isLittleEndian: boolean): void {
    for (let i = 0; i < digits.length; i++) {
      let carry = digits.charCodeAt(i) - 48;
      for (let byte = 0; byte < 8; byte++) {
        const at = isLittleEndian ? start + byte : start + 7 - byte;
        carry += 10 * this.bytes[at]!;
        this.bytes[at] = carry;
        carry >>= 8;
      }
    }
  }
}

/** Bytes for tests of cryptography. */
import * as assert from 'uvu/assert';
import { copyBytes } from '../../src/bytes.ts';

/** 1, 2, 3, … from a start. */
export function series(length: number, start = 1): Uint8Array {
  return Uint8Array.from({ length }, (_, i) => start + i);
}

export function flipped(bytes: Uint8Array, at: number): Uint8Array {
  const copy = copyBytes(bytes);
  copy[at]! ^= 1;
  return copy;
}

/** Asserts that a result is a plain Uint8Array with memory of its own. */
export function assertPlain(bytes: Uint8Array, length: number): void {
  assert.is(bytes.constructor, Uint8Array);
  assert.is(bytes.length, length);
  assert.is(bytes.buffer.byteLength, length);
}

/**
 * Reads binary messages, compressed ones too, in pages and in React Native. Their DecompressionStream, if there is one, is
 * asynchronous, and a message is read before the next one: hence a library.
 */
import { Unzlib } from 'fflate/browser';
import type { ReadBinary } from 'hub-protocol/binary';
import { type BinaryBudget, readerWith } from './binary-reader.ts';
import { GrowingBuffer } from './growing-buffer.ts';

/** How much is inflated before the length is checked: it becomes at most 1032 times as long, half a MiB. */
const PIECE = 512;

const CHECKSUM = 4;

export function binaryReader(budget: BinaryBudget): ReadBinary {
  return readerWith(inflate, budget);
}

function inflate(compressed: Uint8Array, maxLength: number): Uint8Array {
  const inflated = new GrowingBuffer(maxLength);
  const stream = new Unzlib((part) => {
    if (!inflated.add(part)) throw new Error('the zlib stream inflates to too much');
  });
  let isLast = false;
  for (let at = 0; !isLast; at += PIECE) {
    isLast = at + PIECE + CHECKSUM >= compressed.length; // of a last piece with a checksum alone, no error would be thrown
    stream.push(compressed.subarray(at, isLast ? undefined : at + PIECE), isLast);
  }
  return inflated.bytes;
}

/** Reads binary messages, compressed ones too, on Node.js, Bun and Deno. */
import type { ReadBinary } from 'hub-protocol/binary';
import { type BinaryBudget, readerWith } from './binary-reader.ts';

const zlib = process.getBuiltinModule('node:zlib'); // as in atomic-file.ts

export function binaryReader(budget: BinaryBudget): ReadBinary {
  return readerWith(
    (compressed, maxOutputLength) => zlib.inflateSync(compressed, { maxOutputLength }),
    budget,
  );
}

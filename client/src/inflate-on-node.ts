/** Reads binary messages, compressed ones too, on Node.js, Bun and Deno. */
import { inflateSync } from 'node:zlib';
import type { ReadBinary } from 'hub-protocol/binary';
import { readerWith } from './binary-reader.ts';

export function binaryReader(maxInflated: number): ReadBinary {
  return readerWith(
    (compressed, maxOutputLength) => inflateSync(compressed, { maxOutputLength }),
    maxInflated,
  );
}

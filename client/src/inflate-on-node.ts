/** Reads binary messages, compressed ones too, on Node.js, Bun and Deno. */
import { inflateSync } from 'node:zlib';
import { binaryReader, type ReadBinary } from 'hub-protocol/binary';

export const readBinary: ReadBinary = binaryReader({
  inflate: (bytes, maxOutputLength) => inflateSync(bytes, { maxOutputLength }),
});

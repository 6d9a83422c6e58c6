/** Reads binary messages, compressed ones too, on Node.js, Bun and Deno. */
import { inflateSync } from 'node:zlib';
import { binaryReader, type ReadBinary } from 'hub-protocol/binary';

/** What a compressed envelope may become: a message of a kilobyte can contain a thousand times as much. Speech is not compressed. */
const MAX_INFLATED = 1024 * 1024;

export const readBinary: ReadBinary = binaryReader({
  inflate: (bytes, maxOutputLength) => inflateSync(bytes, { maxOutputLength }),
  maxInflated: MAX_INFLATED,
});

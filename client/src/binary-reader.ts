/** Reads binary messages, compressed ones too, with the inflater of a platform. */
import { binaryReader, type Inflate, type ReadBinary } from 'hub-protocol/binary';

/**
 * Refuses what does not end with the checksum of what came out: zlib ignores what follows a stream, and other inflaters ignore the
 * checksum.
 * @param maxInflated - what a compressed envelope may become, in bytes. Speech is not compressed
 */
export function readerWith(inflate: Inflate, maxInflated: number): ReadBinary {
  return binaryReader({
    inflate(compressed, maxLength) {
      const bytes = inflate(compressed, maxLength);
      const { buffer, byteOffset, length } = compressed;
      if (new DataView(buffer, byteOffset, length).getUint32(length - 4) !== adler32(bytes))
        throw new Error('the zlib stream does not end with its checksum');
      return bytes;
    },
    maxInflated,
  });
}

/** RFC 1950, section 9. */
function adler32(bytes: Uint8Array): number {
  let [a, b] = [1, 0];
  for (const byte of bytes) {
    a = (a + byte) % 65521;
    b = (b + a) % 65521;
  }
  return b * 65536 + a;
}

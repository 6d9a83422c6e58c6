/** Reads binary messages, compressed ones too, with the inflater of a platform. */
import { binaryReader, type Inflate, type ReadBinary } from 'hub-protocol/binary';

/**
 * Refuses what does not end with the checksum of what came out: zlib ignores what follows a stream, and other inflaters ignore the
 * checksum.
 * @param maxInflated - what a compressed envelope may become, in bytes. Speech is not compressed. Outside of strings it may have an eighth of
 *   that: a MiB of short values takes a quarter of a second
 */
export function readerWith(inflate: Inflate, maxInflated: number): ReadBinary {
  return binaryReader({
    inflate(compressed, maxLength) {
      const bytes = inflate(compressed, maxLength);
      const { buffer, byteOffset, length } = compressed;
      if (new DataView(buffer, byteOffset, length).getUint32(length - 4) !== adler32(bytes))
        throw new Error('the zlib stream does not end with its checksum');
      if (lengthOutsideStrings(bytes) > maxLength / 8)
        throw new Error('the zlib stream inflates to too many values');
      return bytes;
    },
    maxInflated,
  });
}

/** RFC 1950, section 9. The sums stay below 2^31 for as many bytes as it takes between two divisions. */
function adler32(bytes: Uint8Array): number {
  let [a, b] = [1, 0];
  for (let at = 0; at < bytes.length; ) {
    for (const end = Math.min(at + 3800, bytes.length); at < end; at++) {
      a += bytes[at]!;
      b += a;
    }
    a %= 65521;
    b %= 65521;
  }
  return b * 65536 + a;
}

const QUOTATION_MARK = 0x22;
const REVERSE_SOLIDUS = 0x5c;

/** Counts the bytes of JSON outside of strings, since `JSON.parse` takes seconds and a gigabyte for millions of small values. */
export function lengthOutsideStrings(json: Uint8Array): number {
  let length = 0;
  let isInside = false;
  for (let i = 0; i < json.length; i++) {
    const byte = json[i];
    if (!isInside) length++;
    if (byte === QUOTATION_MARK) isInside = !isInside;
    else if (byte === REVERSE_SOLIDUS && isInside) i++;
  }
  return length;
}

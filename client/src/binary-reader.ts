/** Reads binary messages, compressed ones too, with the inflater of a platform. */
import { binaryReader, type Inflate, type ReadBinary } from 'hub-protocol/binary';
import type { Budget } from './budget.ts';
import { hasTooManyValues, lengthOutsideStrings } from './values.ts';

/** The bounds of binary messages. */
export type BinaryBudget = Pick<Budget, 'inflated' | 'values'>;

/**
 * Refuses what does not end with the checksum of what came out: zlib ignores what follows a stream, and other inflaters ignore the
 * checksum.
 * @param budget - what a compressed envelope may become, in bytes. Speech is not compressed. Outside of strings it may have an eighth of
 *   that: a MiB of short values takes a quarter of a second
 */
export function readerWith(inflate: Inflate, { inflated, values }: BinaryBudget): ReadBinary {
  const read = binaryReader({
    inflate(compressed, maxLength) {
      const bytes = inflate(compressed, maxLength);
      const { buffer, byteOffset, length } = compressed;
      if (new DataView(buffer, byteOffset, length).getUint32(length - 4) !== adler32(bytes))
        throw new Error('the zlib stream does not end with its checksum');
      if (lengthOutsideStrings(bytes) > maxLength / 8)
        throw new Error('the zlib stream inflates to too many values');
      return bytes;
    },
    maxInflated: inflated,
  });
  return (bytes) =>
    hasTooManyValues(bytes, values)
      ? { type: 'dropped', kind: 'binary', bytes: bytes.length, reason: 'too-many-values' }
      : read(bytes);
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

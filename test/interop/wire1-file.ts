/**
 * A file in HiveMind's WIRE-1 framing, to be sent as a binary message: the bits 0000 1 0 01100 0 (padding, start,
 * unversioned, type 12, uncompressed), the length of the metadata as a byte, the metadata, the bits 0011 (a file), the file.
 */
export function wire1File(file: Uint8Array): Uint8Array {
  const metadata = Buffer.from('{"file_name": "a.bin"}');
  const length = metadata.length.toString(16).padStart(2, '0');
  return Buffer.from(`098${length}${metadata.toString('hex')}3${Buffer.from(file).toString('hex')}`, 'hex');
}

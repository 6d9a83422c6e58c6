/** Reads bits from left to right: the highest bit of each byte comes first. */
import * as errors from '../errors-table.ts';

export class BitReader {
  /** The number of bits that were read. */
  at = 0;
  private readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  /**
   * Reads at most eight bits as a number.
   * @throws RemoteError `bad-binary-message` if fewer are left
   */
  take(count: number): number {
    const { bytes, at } = this;
    this.skip(count);
    const index = at >> 3;
    const pair = (bytes[index]! << 8) | bytes[index + 1]!; // at the end there is no second byte, and no need for one
    return (pair >> (16 - (at & 7) - count)) & ((1 << count) - 1);
  }

  /**
   * Copies bytes, wherever they start.
   * @throws RemoteError `bad-binary-message` if fewer are left
   */
  takeBytes(length: number): Uint8Array {
    const { bytes, at } = this;
    this.skip(8 * length);
    const index = at >> 3;
    const shift = at & 7;
    const copy = new Uint8Array(length);
    for (let i = 0; i < length; i++) {
      copy[i] = (bytes[index + i]! << shift) | (bytes[index + i + 1]! >> (8 - shift));
    }
    return copy;
  }

  private skip(count: number): void {
    this.at += count;
    if (this.at > 8 * this.bytes.length) {
      throw errors.badBinary('ends too early');
    }
  }
}

/**
 * The byte that starts the plaintext of every transport message, and the cutting of messages into such plaintexts,
 * called frames here. Spec, "Data-plane transport framing".
 */
import { assertBytes } from '../arguments.ts';
import type { Bytes } from '../bytes.ts';
import * as errors from '../errors-table.ts';
import { MAX_CHUNK } from '../limits.ts';

export const MARKER_JSON = 0x00;
export const MARKER_BINARY = 0x01;
export const MARKER_FIRST_JSON = 0x02;
export const MARKER_FIRST_BINARY = 0x03;
export const MARKER_MIDDLE = 0x04;
export const MARKER_FINAL = 0x05;

/** The content of a message: JSON in UTF-8, or any bytes. */
export type MessageKind = 'json' | 'binary';

/** The number of frames that a payload of this many bytes takes: one up to 65000 bytes, then one for each 65000. */
export function countFrames(length: number): number {
  return length <= MAX_CHUNK ? 1 : Math.ceil(length / MAX_CHUNK);
}

/**
 * Makes one frame of a payload: its marker, at most 65000 bytes of the payload, and room for the tag to seal the frame in
 * place. A caller that makes frames as the transport drains holds one at a time.
 * @param index - from 0 to `countFrames(payload.length) - 1`
 * @param room - bytes to leave at the end, zeroed (default 0; TAG_LENGTH to seal in place)
 * @returns a new array
 */
export function frameAt(kind: MessageKind, payload: Uint8Array, index: number, room = 0): Bytes {
  const start = index * MAX_CHUNK;
  const part = payload.subarray(start, Math.min(start + MAX_CHUNK, payload.length)); // Espruino reads on beyond the end
  const frame = new Uint8Array(1 + part.length + room);
  frame[0] = markerAt(kind, index, countFrames(payload.length));
  frame.set(part, 1);
  return frame;
}

function markerAt(kind: MessageKind, index: number, count: number): number {
  if (count === 1) return kind === 'json' ? MARKER_JSON : MARKER_BINARY;
  if (index === 0) return kind === 'json' ? MARKER_FIRST_JSON : MARKER_FIRST_BINARY;
  return index < count - 1 ? MARKER_MIDDLE : MARKER_FINAL;
}

/**
 * Cuts a message into frames, each the plaintext of one transport message. They must be sealed and sent in order, with
 * nothing between them.
 * @param kind - `json` for JSON in UTF-8, `binary` for anything
 * @param payload - of any length, zero included
 * @returns at least one frame: a marker byte and at most 65000 bytes of the payload each
 * @throws LocalError `bad-argument`
 * @see spec, "Data-plane transport framing"
 *
 * @example
 * import { splitMessage } from 'hub-protocol/parts';
 *
 * const frames = splitMessage('binary', new Uint8Array(130_001));
 * console.log(frames.map((frame) => `${frame[0]}: ${frame.length}`).join(', ')); // 3: 65001, 4: 65001, 5: 2
 */
export function splitMessage(kind: MessageKind, payload: Uint8Array): Bytes[] {
  if (kind !== 'json' && kind !== 'binary') {
    throw errors.expectedChoice('kind', ['json', 'binary']);
  }
  assertBytes(payload, 'payload');
  const frames: Bytes[] = [];
  const count = countFrames(payload.length);
  for (let i = 0; i < count; i++) frames.push(frameAt(kind, payload, i));
  return frames;
}

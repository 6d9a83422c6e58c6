/**
 * Decodes a long message while its chunks arrive, with the engine's TextDecoder. Its bytes are never all in memory: in
 * addition to its text there is one buffer of the length below.
 */
import { type Bytes, bytesToUtf8, wipe } from '../bytes.ts';
import { engine } from '../engine.ts';
import { hideFields } from '../hide-fields.ts';
import { delivered, FrameJoiner, type ReadBinary, type Reassembled } from './frame-joiner.ts';
import type { MessageKind } from './markers.ts';

const BUFFER = 65536;

/** The text of a message that arrives in chunks. */
class GrowingText {
  private readonly buffer = new Uint8Array(BUFFER);
  private length = 0; // of the data in the buffer
  private text: string | undefined = '';

  push(chunk: Uint8Array): void {
    for (let from = 0; from < chunk.length; ) {
      if (this.length === BUFFER) this.decode(lastCharacter(this.buffer));
      const part = chunk.subarray(from, Math.min(from + BUFFER - this.length, chunk.length));
      this.buffer.set(part, this.length);
      this.length += part.length;
      from += part.length;
    }
  }

  /** Returns the text, or `undefined` if the bytes are not UTF-8. */
  finish(): string | undefined {
    this.decode(this.length);
    this.destroy();
    return this.text;
  }

  destroy(): void {
    wipe(this.buffer);
  }

  /** Decodes the buffer up to an index, and keeps the rest. */
  private decode(end: number): void {
    const { buffer } = this;
    if (this.text !== undefined) {
      const text = bytesToUtf8(buffer.subarray(0, end));
      this.text = text === undefined ? undefined : this.text + text;
    }
    const rest = this.length - end;
    for (let i = 0; i < rest; i++) buffer[i] = buffer[end + i]!;
    this.length = rest;
  }
}

/** Where the last character starts, if it takes several bytes and some may be missing; otherwise the length. */
function lastCharacter(bytes: Uint8Array): number {
  const { length } = bytes;
  for (let i = length - 1; i >= length - 3; i--) if (bytes[i]! >= 0xc0) return i;
  return length;
}

/** Decodes an unfinished message of JSON instead of keeping its bytes. */
class DecodingJoiner extends FrameJoiner {
  private text: GrowingText | undefined = undefined;

  constructor(maxMessage: number | undefined, readBinary: ReadBinary | undefined) {
    super(maxMessage, readBinary);
    hideFields(this);
  }

  override destroy(): void {
    super.destroy();
    this.text?.destroy();
    this.text = undefined;
  }

  protected override keep(kind: MessageKind, payload: Bytes, end: number): void {
    if (kind === 'binary') super.keep(kind, payload, end);
    else {
      this.text ??= new GrowingText();
      this.text.push(payload);
    }
  }

  protected override finish(kind: MessageKind, length: number): Reassembled {
    const { text } = this;
    this.text = undefined;
    return text === undefined ? super.finish(kind, length) : delivered(text.finish(), length);
  }
}

/** Joins frames with the engine's decoder, if it has one. Files for devices have the FrameJoiner alone. */
export function frameJoiner(maxMessage: number | undefined, readBinary?: ReadBinary): FrameJoiner {
  const Joiner = engine().codec === undefined ? FrameJoiner : DecodingJoiner;
  return new Joiner(maxMessage, readBinary);
}

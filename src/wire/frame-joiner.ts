/** What a Reassembler does: the messages in frames, the plaintexts of transport messages. Spec, "Data-plane transport framing", rule 3. */
import { assertSize } from '../arguments.ts';
import { type Bytes, bytesToUtf8, EMPTY, wipe } from '../bytes.ts';
import type { RemoteError } from '../errors.ts';
import * as errors from '../errors-table.ts';
import { MAX_MESSAGE } from '../limits.ts';
import type { JsonObject } from './json.ts';
import { MARKER_FINAL, MARKER_FIRST_JSON, MARKER_JSON, MARKER_MIDDLE, type MessageKind } from './markers.ts';

/**
 * The purpose of a payload of bytes. To a hub: `raw_audio` for a microphone, `stt_audio_transcribe` for speech to turn into
 * text, `stt_audio_handle` for speech to answer, `numpy_image` for a camera. To a client: `tts_audio` for speech to play.
 * Either way: `file`; `undefined` for anything else.
 */
export type BinaryPayloadType =
  | 'undefined'
  | 'raw_audio'
  | 'numpy_image'
  | 'file'
  | 'stt_audio_transcribe'
  | 'stt_audio_handle'
  | 'tts_audio';

/** Handle a complete message: `text` if `kind` is `json`, `bytes` if it is `binary`. */
export type DeliveredEvent =
  | {
      readonly type: 'message';
      readonly kind: 'json';
      /** The JSON, as the peer wrote it. It is valid UTF-8, but not checked to be JSON: use `parseJson` or `JSON.parse`. */
      readonly text: string;
    }
  | {
      readonly type: 'message';
      readonly kind: 'binary';
      /** The message, or with `readBinary` its payload. With `inPlace`, a view of the received bytes. */
      readonly bytes: Bytes;
      /** With `readBinary`: what the payload is. */
      readonly bin_type?: BinaryPayloadType;
      /** With `readBinary`: such as `sample_rate` of `raw_audio`, or `file_name` of a `file`. */
      readonly metadata?: JsonObject;
    };

/** Log it, or ignore it: a message was too large or not UTF-8, and was not delivered. The session goes on. */
export interface DroppedEvent {
  readonly type: 'dropped';
  /** The kind of the message. */
  readonly kind: MessageKind;
  /** Length of the whole message, in bytes. */
  readonly bytes: number;
  /**
   * `too-large`: longer than `maxMessage`. `not-utf8`: a JSON message that is not UTF-8. `unreadable`: bytes that `readBinary`
   * cannot read. `too-many-values`: more than `maxValues` of `hub-protocol-client`.
   */
  readonly reason: 'too-large' | 'not-utf8' | 'unreadable' | 'too-many-values';
  /** Why the message is `unreadable`. */
  readonly error?: RemoteError;
}

/** The event for a completed message. */
export type Reassembled = DeliveredEvent | DroppedEvent;

/**
 * Reads a binary message. Returns an event for it, even if it cannot be read.
 * @param bytes - the message, which the event may contain views of
 */
export type ReadBinary = (bytes: Bytes) => Reassembled;

/** Joins frames, and keeps the bytes of an unfinished message. Sessions use it directly, and destroy it after the first error. */
export class FrameJoiner {
  private readonly maxMessage: number;
  private readonly readBinary: ReadBinary | undefined;
  private kind: MessageKind | undefined = undefined; // of the open message
  private kept: Bytes = EMPTY; // starts with the part that has arrived
  private length = 0; // of the part that has arrived, even if it is too long to keep

  /** @throws LocalError `bad-argument` */
  constructor(maxMessage: number | undefined, readBinary?: ReadBinary) {
    this.maxMessage = assertSize(maxMessage, 'maxMessage', MAX_MESSAGE);
    this.readBinary = readBinary;
  }

  /** As {@link Reassembler.push}. */
  push(frame: Uint8Array): Reassembled | undefined {
    if (frame.length === 0) throw errors.emptyPlaintext();
    const marker = frame[0]!;
    const payload = frame.subarray(1) as Bytes;
    if (marker > MARKER_FINAL) throw errors.unknownMarker(marker);
    if (marker < MARKER_MIDDLE) {
      if (this.kind !== undefined) throw errors.messageWhileOpen();
      const kind = marker === MARKER_JSON || marker === MARKER_FIRST_JSON ? 'json' : 'binary';
      if (marker < MARKER_FIRST_JSON) return this.complete(kind, payload, payload.length);
      this.kind = kind;
    }
    const { kind } = this;
    if (kind === undefined) throw errors.chunkWithoutStart();
    this.length += payload.length;
    if (this.length > this.maxMessage) this.destroy();
    else this.keep(payload, this.length);
    if (marker !== MARKER_FINAL) return undefined;

    const { length } = this;
    this.kind = undefined;
    this.length = 0;
    return this.finish(kind, length);
  }

  /** Wipes the kept part of an unfinished message. Allocates nothing. */
  destroy(): void {
    wipe(this.kept);
    this.kept = EMPTY;
  }

  /**
   * Keeps a chunk of the open message.
   * @param end - its end in the message
   */
  private keep(payload: Bytes, end: number): void {
    if (end > this.kept.length) {
      const double = 2 * this.kept.length;
      // A buffer of nearly the maximum becomes the maximum, to avoid another copy for a few bytes.
      const room = double > this.maxMessage / 1.1 ? this.maxMessage : double;
      const larger = new Uint8Array(Math.max(end, room));
      larger.set(this.kept);
      wipe(this.kept);
      this.kept = larger;
    }
    this.kept.set(payload, end - payload.length);
  }

  /** Ends the open message. */
  private finish(kind: MessageKind, length: number): Reassembled {
    const { kept } = this;
    this.kept = EMPTY;
    // Nothing is kept of a message that is too long, and a view must not reach beyond its array: Espruino would read on.
    return this.complete(kind, kept.subarray(0, Math.min(length, kept.length)), length);
  }

  /** Makes the event for the end of a message, whose content is `bytes`. */
  private complete(kind: MessageKind, bytes: Bytes, length: number): Reassembled {
    if (length > this.maxMessage) return { type: 'dropped', kind, bytes: length, reason: 'too-large' };
    if (kind === 'json') return delivered(bytesToUtf8(bytes), length);
    const { readBinary } = this;
    return readBinary === undefined ? { type: 'message', kind, bytes } : readBinary(bytes);
  }
}

/** The event for JSON of this length in bytes; without a text, it was not UTF-8. */
function delivered(text: string | undefined, length: number): Reassembled {
  if (text === undefined) return { type: 'dropped', kind: 'json', bytes: length, reason: 'not-utf8' };
  return { type: 'message', kind: 'json', text };
}

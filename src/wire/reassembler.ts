/**
 * Puts messages together again from frames: the plaintexts of transport messages, in order.
 * Spec, "Data-plane transport framing", rule 3.
 */
import { assertBytes, assertFlag, bytesToUtf8, wipe } from '../bytes.ts';
import { LocalError, RemoteError } from '../errors.ts';
import { MAX_MESSAGE } from '../limits.ts';
import { opaque } from '../opaque.ts';
import {
  MARKER_BINARY,
  MARKER_FINAL,
  MARKER_FIRST_JSON,
  MARKER_JSON,
  MARKER_MIDDLE,
  type MessageKind,
} from './markers.ts';

/** A complete message. */
export type MessageEvent =
  | { readonly type: 'message'; readonly kind: 'json'; readonly text: string }
  | { readonly type: 'message'; readonly kind: 'binary'; readonly bytes: Uint8Array };

/** A message that ended and could not be kept. The session goes on. */
export interface DroppedEvent {
  readonly type: 'dropped';
  readonly kind: MessageKind;
  /** The length of the whole message, in bytes. */
  readonly bytes: number;
  readonly reason: 'too-large' | 'not-utf8';
}

/** A part of a message as it came, where messages are streamed. */
export interface ChunkEvent {
  readonly type: 'chunk';
  readonly kind: MessageKind;
  /** Of JSON, these may end inside a character. They are a view of the frame. */
  readonly bytes: Uint8Array;
  /** Whether it ends the message. */
  readonly last: boolean;
}

export type Reassembled = MessageEvent | DroppedEvent | ChunkEvent;

export interface ReassemblerOptions {
  /** The longest message to take, in bytes: at most, and by default, 32 MiB. */
  maxMessage?: number | undefined;
  /** Whether to hand over each part as it comes and keep nothing (default false). */
  streams?: boolean | undefined;
}

const EMPTY = new Uint8Array(0);

/**
 * Takes frames, gives messages. Chunks gather in one buffer that doubles when it is full: the cost of a message is
 * linear in its bytes, and its memory is bounded by them, however small the chunks are.
 *
 * A message of more than 32 MiB, or of more than a lower cap, is dropped: what came of it is let go at once, the rest
 * is counted and thrown away, and its final chunk yields a `dropped` event. Every other breach of the rules is final.
 *
 * Where messages are streamed, each frame yields a `chunk` event instead, and nothing is kept; who gets `dropped` in
 * place of the last one throws away what it made of the others.
 */
export class Reassembler {
  private readonly maxMessage: number;
  private readonly streams: boolean;
  private kind: MessageKind | undefined; // of the message that is open
  private buffer: Uint8Array = EMPTY; // starts with what has come of it
  private length = 0; // of what has come of it, also once it is too large to keep
  private failure: LocalError | RemoteError | undefined;

  /** @throws LocalError `bad-argument` */
  constructor(options: ReassemblerOptions = {}) {
    const { maxMessage = MAX_MESSAGE, streams } = options;
    if (typeof maxMessage !== 'number' || !(maxMessage >= 0 && maxMessage <= MAX_MESSAGE)) {
      throw new LocalError('bad-argument', `"maxMessage" expected a number from 0 to ${MAX_MESSAGE}`);
    }
    this.maxMessage = maxMessage;
    this.streams = assertFlag(streams, 'streams');
  }

  /**
   * Takes one frame.
   * @param frame - marker and payload; a binary message of one frame is a view of it
   * @returns the message or the drop that this frame completes, if it does, or the chunk that it is
   * @throws RemoteError `empty-plaintext`, `unknown-marker`, `chunk-without-start` or `message-while-open`,
   *   and the same again ever after
   * @throws LocalError `wrong-state` after `destroy`
   */
  push(frame: Uint8Array): Reassembled | undefined {
    assertBytes(frame, 'frame');
    if (this.failure !== undefined) throw this.failure;
    if (frame.length === 0) throw this.fail('empty-plaintext', 'a transport message without a marker');
    const marker = frame[0]!;
    const payload = frame.subarray(1);
    if (marker > MARKER_FINAL) {
      throw this.fail('unknown-marker', `a transport message with the unknown marker ${marker}`);
    }
    if (marker === MARKER_MIDDLE || marker === MARKER_FINAL) {
      if (this.kind === undefined) {
        throw this.fail('chunk-without-start', 'a chunk of a message that never started');
      }
      return this.take(this.kind, payload, marker === MARKER_FINAL);
    }
    if (this.kind !== undefined) {
      throw this.fail('message-while-open', 'a new message before the last one ended');
    }
    if (marker === MARKER_JSON) return this.complete('json', payload, payload.length);
    if (marker === MARKER_BINARY) return this.complete('binary', payload, payload.length);
    this.kind = marker === MARKER_FIRST_JSON ? 'json' : 'binary';
    return this.take(this.kind, payload, false);
  }

  /** Wipes what is kept of an unfinished message. Nothing can be pushed any more. */
  destroy(): void {
    this.failure ??= new LocalError('wrong-state', 'this reassembler is destroyed: make a new one');
    this.forget();
  }

  private forget(): void {
    wipe(this.buffer);
    this.buffer = EMPTY;
  }

  /** Takes a chunk of the message that is open. */
  private take(kind: MessageKind, payload: Uint8Array, last: boolean): Reassembled | undefined {
    const start = this.length;
    this.length += payload.length;
    if (this.length > this.maxMessage) this.forget();
    else if (!this.streams) this.keep(payload, start);
    else if (!last) return { type: 'chunk', kind, bytes: payload, last };
    if (!last) return undefined;

    const length = this.length;
    const message = this.streams ? payload : this.buffer.subarray(0, length);
    this.kind = undefined;
    this.buffer = EMPTY;
    this.length = 0;
    return this.complete(kind, message, length);
  }

  private keep(payload: Uint8Array, start: number): void {
    if (this.length > this.buffer.length) {
      const larger = new Uint8Array(Math.max(this.length, Math.min(2 * this.buffer.length, this.maxMessage)));
      larger.set(this.buffer);
      wipe(this.buffer);
      this.buffer = larger;
    }
    this.buffer.set(payload, start);
  }

  /** The event of a message that has ended, of which these bytes are all, or the last. */
  private complete(kind: MessageKind, bytes: Uint8Array, length: number): Reassembled {
    if (length > this.maxMessage) return { type: 'dropped', kind, bytes: length, reason: 'too-large' };
    if (this.streams) return { type: 'chunk', kind, bytes, last: true };
    if (kind === 'binary') return { type: 'message', kind, bytes };
    const text = bytesToUtf8(bytes);
    if (text === undefined) return { type: 'dropped', kind, bytes: length, reason: 'not-utf8' };
    return { type: 'message', kind, text };
  }

  private fail(
    code: 'empty-plaintext' | 'unknown-marker' | 'chunk-without-start' | 'message-while-open',
    what: string,
  ): RemoteError {
    this.forget();
    this.failure = new RemoteError(code, what);
    return this.failure;
  }
}
opaque(Reassembler.prototype, 'Reassembler');

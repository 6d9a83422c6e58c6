/**
 * Puts messages together again from frames: the plaintexts of transport messages, in order.
 * Spec, "Data-plane transport framing", rule 3.
 */
import { assertBytes, bytesToUtf8, wipe } from '../bytes.ts';
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

export type Reassembled = MessageEvent | DroppedEvent;

const EMPTY = new Uint8Array(0);

/**
 * Takes frames, gives messages. Chunks gather in one buffer that doubles when it is full: the cost of a message is
 * linear in its bytes, and its memory is bounded by them, however small the chunks are.
 *
 * A message of more than 32 MiB is dropped: what came of it is let go at once, the rest is counted and thrown
 * away, and its final chunk yields a `dropped` event. Every other breach of the rules is final.
 */
export class Reassembler {
  private kind: MessageKind | undefined; // of the message that is open
  private buffer: Uint8Array = EMPTY; // starts with what has come of it
  private length = 0; // of what has come of it, also once it is too large to keep
  private failure: LocalError | RemoteError | undefined;

  /**
   * Takes one frame.
   * @param frame - marker and payload; a binary message of one frame is a view of it
   * @returns the message or the drop that this frame completes, if it does
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
      this.keep(payload);
      return marker === MARKER_FINAL ? this.complete(this.kind) : undefined;
    }
    if (this.kind !== undefined) {
      throw this.fail('message-while-open', 'a new message before the last one ended');
    }
    if (marker === MARKER_JSON) return deliver('json', payload);
    if (marker === MARKER_BINARY) return deliver('binary', payload);
    this.kind = marker === MARKER_FIRST_JSON ? 'json' : 'binary';
    this.keep(payload);
    return undefined;
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

  private keep(payload: Uint8Array): void {
    const start = this.length;
    this.length += payload.length;
    if (this.length > MAX_MESSAGE) {
      this.forget();
      return;
    }
    if (this.length > this.buffer.length) {
      const larger = new Uint8Array(Math.max(this.length, Math.min(2 * this.buffer.length, MAX_MESSAGE)));
      larger.set(this.buffer);
      wipe(this.buffer);
      this.buffer = larger;
    }
    this.buffer.set(payload, start);
  }

  private complete(kind: MessageKind): Reassembled {
    const bytes = this.length;
    const message = this.buffer.subarray(0, bytes);
    this.kind = undefined;
    this.buffer = EMPTY;
    this.length = 0;
    return bytes > MAX_MESSAGE
      ? { type: 'dropped', kind, bytes, reason: 'too-large' }
      : deliver(kind, message);
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

function deliver(kind: MessageKind, payload: Uint8Array): Reassembled {
  if (kind === 'binary') return { type: 'message', kind, bytes: payload };
  const text = bytesToUtf8(payload);
  if (text === undefined) return { type: 'dropped', kind, bytes: payload.length, reason: 'not-utf8' };
  return { type: 'message', kind, text };
}

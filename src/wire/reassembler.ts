/**
 * Reassembles messages from frames, the plaintexts of transport messages. Spec, "Data-plane transport framing", rule 3.
 */
import { assertBytes, readOptions } from '../arguments.ts';
import * as errors from '../errors-table.ts';
import { hideFields } from '../hide-fields.ts';
import { opaque } from '../opaque.ts';
import { FrameJoiner, type Reassembled } from './frame-joiner.ts';

/** The options of a Reassembler. */
export interface ReassemblerOptions {
  /** The longest message to accept, in bytes (default 32 MiB, which is the maximum). A longer one is dropped. */
  maxMessage?: number | undefined;
}

/**
 * Turns frames into messages. Chunks are collected in one buffer that doubles when it is full, so a message takes time
 * linear in its length and memory bounded by it, however small its chunks are.
 *
 * A message longer than `maxMessage` is dropped: the part that has arrived is freed immediately, the rest is counted and
 * discarded, and its final chunk yields a `dropped` event. Any other breach of the framing rules is final.
 * @see spec, "Data-plane transport framing"
 *
 * @example
 * import { Reassembler, splitMessage } from 'hub-protocol/parts';
 *
 * const reassembler = new Reassembler({ maxMessage: 1024 * 1024 });
 * for (const frame of splitMessage('binary', new Uint8Array(100_000))) {
 *   const done = reassembler.push(frame);
 *   if (done?.type === 'message' && done.kind === 'binary') console.log(done.bytes.length); // 100000
 * }
 */
export class Reassembler {
  private readonly frames: FrameJoiner;
  private failure: unknown = undefined;
  private isDestroyed = false;

  /** @throws LocalError `bad-argument` */
  constructor(options: ReassemblerOptions = {}) {
    const { maxMessage } = readOptions(options, 'options', { maxMessage: true });
    this.frames = new FrameJoiner(maxMessage);
    hideFields(this);
  }

  /**
   * Processes one frame.
   * @param frame - marker and payload; a binary message of one frame is a view of it
   * @returns the message or the drop that this frame completes, if it does
   * @throws RemoteError `empty-plaintext`, `unknown-marker`, `chunk-without-start` or `message-while-open`, and the same
   *   again from every later call
   * @throws LocalError `bad-argument`, which changes nothing; `wrong-state` after `destroy`
   */
  push(frame: Uint8Array): Reassembled | undefined {
    assertBytes(frame, 'frame');
    if (this.failure !== undefined) throw this.failure;
    if (this.isDestroyed) throw errors.reassemblerOver();
    try {
      return this.frames.push(frame);
    } catch (error) {
      this.frames.destroy();
      this.failure = error;
      throw error;
    }
  }

  /** Wipes the kept part of an unfinished message. After this, `push` throws. Allocates nothing. */
  destroy(): void {
    this.isDestroyed = true;
    this.frames.destroy();
  }
}
opaque(Reassembler.prototype, 'Reassembler');

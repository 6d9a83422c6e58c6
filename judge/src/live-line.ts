/** One WebSocket connection as a queue: what a live scene sends, and waits for. */
import type { RawData, WebSocket } from 'ws';
import { bytesToHex } from '../../src/bytes.ts';
import { Failed } from './failed.ts';

/** How long a port may take to answer, in milliseconds; and how long where it has much to do first. */
export interface Patience {
  readonly answer: number;
  readonly long: number;
}

export class Line {
  readonly #socket: WebSocket;
  readonly #patience: Patience;
  readonly #queue: (string | Uint8Array)[] = [];
  #wake: (() => void) | undefined;
  #isClosed = false;

  constructor(socket: WebSocket, patience: Patience) {
    this.#socket = socket;
    this.#patience = patience;
    socket.on('message', (data: RawData, isBinary: boolean) => {
      this.#queue.push(isBinary ? new Uint8Array(data as Buffer) : data.toString());
      this.#wake?.();
    });
    socket.on('error', () => {}); // `close` follows
    socket.on('close', () => {
      this.#isClosed = true;
      this.#wake?.();
    });
  }

  send(data: string | Uint8Array): void {
    if (!this.#isClosed) this.#socket.send(data);
  }

  /** What comes next, of which there must be something. */
  async receive(what: string, isLong = false): Promise<string | Uint8Array> {
    const milliseconds = isLong ? this.#patience.long : this.#patience.answer;
    const data = await this.#next(milliseconds);
    if (data === 'closed') throw new Failed({ where: what, expected: 'it', got: 'the connection closed' });
    if (data === 'late') {
      throw new Failed({ where: what, expected: 'it', got: `nothing within ${milliseconds / 1000} s` });
    }
    return data.message;
  }

  /** Waits until the other side closes, without another word. */
  async expectClose(after: string): Promise<void> {
    const data = await this.#next(this.#patience.answer);
    if (data === 'closed') return;
    const expected = 'the connection closed, and nothing said';
    const got =
      data === 'late'
        ? `still open after ${this.#patience.answer / 1000} s`
        : `a message, ${show(data.message)}`;
    throw new Failed({ where: `after ${after}`, expected, got });
  }

  close(code: number): void {
    this.#socket.close(code);
  }

  async #next(milliseconds: number): Promise<{ message: string | Uint8Array } | 'closed' | 'late'> {
    if (this.#queue.length === 0 && !this.#isClosed) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, milliseconds);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    const message = this.#queue.shift();
    if (message !== undefined) return { message };
    return this.#isClosed ? 'closed' : 'late';
  }
}

function show(message: string | Uint8Array): string {
  return typeof message === 'string'
    ? JSON.stringify(message.slice(0, 200))
    : `${message.length} bytes, ${bytesToHex(message.subarray(0, 16))}…`;
}

/** One WebSocket connection as a queue: what a scene sends, and what it waits for. */
import type { RawData, WebSocket } from 'ws';
import { bytesToHex } from '../protocol.ts';
import { type Causes, Failure } from '../verdict.ts';

/** How long to wait, in milliseconds: for an ordinary message, and where the other side has much to do first. */
export interface Patience {
  readonly message: number;
  readonly long: number;
}

const TOO_BIG = 1009;
const LIMIT =
  'close code 1009: a message was too big for the WebSocket library; raise its limit to 262144 bytes, since some are 32768 or less';

type Received = { readonly data: string | Uint8Array } | 'closed' | 'late';

export class Connection {
  isClosed = false;
  /** The close code and reason of the other side; 1006 where there was no close frame. */
  closing: { readonly code: number; readonly reason: string } = { code: 1006, reason: '' };
  readonly #socket: WebSocket;
  readonly #patience: Patience;
  readonly #queue: (string | Uint8Array)[] = [];
  #wake: (() => void) | undefined;

  constructor(socket: WebSocket, patience: Patience) {
    this.#socket = socket;
    this.#patience = patience;
    socket.on('message', (data: RawData, isBinary: boolean) => {
      this.#queue.push(isBinary ? new Uint8Array(data as Buffer) : data.toString());
      this.#wake?.();
    });
    socket.on('error', () => {}); // `close` follows
    socket.on('close', (code, reason) => {
      this.isClosed = true;
      this.closing = { code, reason: reason.toString() };
      this.#wake?.();
    });
  }

  send(data: string | Uint8Array): void {
    if (!this.isClosed) this.#socket.send(data);
  }

  /**
   * Returns the next message.
   * @param what - its name in the report
   * @param causes - the mistakes to name if the other side closes the connection instead
   */
  async receive(what: string, isLong = false, causes?: Causes): Promise<string | Uint8Array> {
    const milliseconds = isLong ? this.#patience.long : this.#patience.message;
    const received = await this.#next(milliseconds);
    if (received === 'closed') {
      const { code, reason } = this.closing;
      const got = `the connection closed, with ${code}${reason && ` ${JSON.stringify(reason)}`}`;
      throw new Failure({ where: what, expected: 'this message', got }, code === TOO_BIG ? [LIMIT] : causes);
    }
    if (received === 'late') {
      const got = `nothing within ${milliseconds / 1000} s`;
      throw new Failure({ where: what, expected: 'this message', got });
    }
    return received.data;
  }

  /** Waits until the other side closes the connection. It must not send anything before it does. */
  async expectClose(after: string): Promise<void> {
    const received = await this.#next(this.#patience.message);
    if (received === 'closed') return;
    const got =
      received === 'late'
        ? `still open after ${this.#patience.message / 1000} s`
        : `a message, ${show(received.data)}`;
    throw new Failure({ where: `after ${after}`, expected: 'the connection closed without a message', got });
  }

  close(code: number): void {
    this.#socket.close(code);
  }

  async #next(milliseconds: number): Promise<Received> {
    if (this.#queue.length === 0 && !this.isClosed) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, milliseconds);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    const data = this.#queue.shift();
    if (data !== undefined) return { data };
    return this.isClosed ? 'closed' : 'late';
  }
}

function show(data: string | Uint8Array): string {
  return typeof data === 'string'
    ? JSON.stringify(data.slice(0, 200))
    : `${data.length} bytes, ${bytesToHex(data.subarray(0, 16))}…`;
}

/** What a WebSocket of `ws` holds of a message that is not complete. */
import { costOf } from './account.ts';

/** The state of a WebSocket before it is open. */
const CONNECTING = 0;

/**
 * How many fragments a message may come in, and how many pieces of it may wait for the rest of one: each costs more than its bytes. And how
 * long the other side may take to close, in milliseconds.
 */
export const LIMITS: { maxFragments: number; maxBufferedChunks: number; closeTimeout: number } = {
  maxFragments: 64,
  maxBufferedChunks: 1024,
  closeTimeout: 5000,
};

/** What is told how many bytes of a message that is not complete are held, as they lie in memory. */
interface Holding {
  arriving(bytes: number): void;
}

/** What has arrived on a socket. Its listeners are the same functions for all sockets: an idle connection has none of its own. */
const ARRIVED: unique symbol = Symbol('arrived');

interface Counted {
  [ARRIVED]?: { readonly holding: Holding; bytes: number };
}

/** A WebSocket of `ws`, as far as counting needs it. */
export interface CountedSocket extends Counted {
  /** The socket below. */
  readonly _socket?: (Counted & { on(event: 'data', listener: (piece: Uint8Array) => void): unknown }) | null;
  readonly readyState: number;
  on(event: 'open' | 'message' | 'pong', listener: () => void): unknown;
}

/**
 * Counts what a WebSocket holds of a message that is not complete. Never throws.
 * @param socket - a WebSocket of `ws`
 * @param holding - is told before any other listener hears of the message
 */
export function watchArriving(socket: CountedSocket, holding: Holding): void {
  socket[ARRIVED] = { holding, bytes: 0 };
  if (socket.readyState === CONNECTING) socket.on('open', watch);
  else watch.call(socket);
  socket.on('pong', pong);
  socket.on('message', whole);
}

function watch(this: CountedSocket): void {
  const raw = this._socket;
  if (!raw) return;
  raw[ARRIVED] = this[ARRIVED]!;
  raw.on('data', piece);
}

function piece(this: Counted, { length }: Uint8Array): void {
  count(this, this[ARRIVED]!.bytes + costOf(length));
}

/** A pong alone was held, or the bytes of a message came with it. */
function pong(this: Counted): void {
  if (this[ARRIVED]!.bytes <= costOf(0)) count(this, 0);
}

function whole(this: Counted): void {
  count(this, 0);
}

function count({ [ARRIVED]: arrived }: Counted, bytes: number): void {
  arrived!.bytes = bytes;
  arrived!.holding.arriving(bytes);
}

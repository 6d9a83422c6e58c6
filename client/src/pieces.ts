/** What a WebSocket of `ws` holds of a message that is not complete. */
import { costOf } from './account.ts';

/** The state of a WebSocket before it is open. */
const CONNECTING = 0;

/** How many fragments a message may come in, and how many pieces of it may wait for the rest of one: each costs more than its bytes. */
export const MAX_PIECES: { maxFragments: number; maxBufferedChunks: number } = {
  maxFragments: 64,
  maxBufferedChunks: 1024,
};

/** A WebSocket of `ws`, as far as counting needs it. */
export interface CountedSocket {
  /** The socket below. */
  readonly _socket?: { on(event: 'data', listener: (piece: Uint8Array) => void): unknown } | null;
  readonly readyState: number;
  on(event: 'open' | 'message' | 'pong', listener: () => void): unknown;
}

/**
 * Counts what a WebSocket holds of a message that is not complete. Never throws.
 * @param socket - a WebSocket of `ws`
 * @param arriving - is told the bytes, as they lie in memory, before any other listener hears of the message
 */
export function watchArriving(socket: CountedSocket, arriving: (bytes: number) => void): void {
  let arrived = 0;
  const arrive = (bytes: number): void => {
    arrived = bytes;
    arriving(bytes);
  };
  const watch = (): void => {
    socket._socket?.on('data', (piece) => arrive(arrived + costOf(piece.length)));
  };
  if (socket.readyState === CONNECTING) socket.on('open', watch);
  else watch();
  socket.on('pong', () => arrived <= costOf(0) && arrive(0)); // or the bytes of a message came with it
  socket.on('message', () => arrive(0));
}

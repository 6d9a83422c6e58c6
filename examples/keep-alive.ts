/** Pings a WebSocket's other end, and terminates the socket if one ping is not answered before the next. */
import WebSocket from 'ws';

/** @param every - the time between pings, in milliseconds */
export function keepAlive(socket: WebSocket, every = 30_000): void {
  let isAlive = true;
  const pings = setInterval(() => {
    if (!isAlive) socket.terminate();
    isAlive = false;
    if (socket.readyState === WebSocket.OPEN) socket.ping();
  }, every);
  socket.on('pong', () => {
    isAlive = true;
  });
  socket.on('close', () => clearInterval(pings));
  socket.on('error', () => {}); // `close` follows; the message may contain the URL, so it is not logged
}

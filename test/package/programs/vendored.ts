// A single file that was copied here, with its types.
import { type ClientSession, deviceCrypto, type SessionEvent } from './hub-protocol.js';

declare const session: ClientSession, socket: WebSocket;
const pieces: Uint8Array[] = session.sendJson({ a: [1] });
session.receive('').forEach((event: SessionEvent) => {
  if (event.type === 'transmit') socket.send(event.data);
});

export { deviceCrypto, pieces };

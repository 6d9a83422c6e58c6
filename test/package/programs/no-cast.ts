// What the library hands out and takes, in a browser, without a cast.
import { derivePsk, type Keyring, type PskOptions } from 'hub-protocol';
import { randomBytes } from 'hub-protocol/node';
import type { Argon2id, ClientSession, HandshakeState, SessionEvent, Transport } from 'hub-protocol/parts';

interface Order {
  id: number;
  items: { name: string }[];
}
declare const session: ClientSession,
  handshake: HandshakeState,
  transport: Transport,
  order: Order,
  keyring: Keyring,
  options: PskOptions,
  slices: Argon2id,
  socket: WebSocket;
socket.onmessage = ({ data }) => {
  const events: SessionEvent[] = session.receive(typeof data === 'string' ? data : new Uint8Array(data));
  for (const event of events) if (event.type === 'transmit') socket.send(event.data);
};
for (const message of session.sendJson(order)) socket.send(message);
export const taken: BufferSource[] = [
  derivePsk(options),
  slices.result(),
  randomBytes(32),
  keyring.pins[0]!.key,
  handshake.writeMessage(),
  handshake.readMessage(randomBytes(1)),
  transport.encrypt(randomBytes(1)),
  transport.decrypt(randomBytes(17)),
  transport.handshakeHash,
];
// @ts-expect-error -- undefined is no JSON
session.sendJson(undefined);

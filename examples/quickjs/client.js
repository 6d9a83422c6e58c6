/**
 * A client inside QuickJS. The program around it has the socket, the storage and the randomness, as `host`; see host.ts
 * for one in Node, which for a program in C is the same.
 */
import {
  ClientSession,
  createDevice,
  deviceOptions,
  nobleCrypto,
  parseDevice,
  parseIdentity,
  serializeDevice,
  updateDevice,
} from './hub-protocol.js';

const randomBytes = (length) => new Uint8Array(host.random(length));
const bytesOf = (data) => (typeof data === 'string' ? data : new Uint8Array(data));
/** In memory that is its own, to be handed to the host. */
const bufferOf = (data) => (typeof data === 'string' ? data : new Uint8Array(data).buffer);

const identity = parseIdentity(host.load('identity'));
const stored = host.load('device');
const { accessKey } = identity;
let device =
  stored === undefined
    ? createDevice({ accessKey, staticKey: randomBytes(32) })
    : parseDevice(stored, accessKey);

let session;

function handle(events) {
  for (const event of events) {
    const updated = updateDevice(device, event);
    if (updated !== device) host.save('device', serializeDevice(updated));
    device = updated;
    if (event.type === 'transmit') host.send(bufferOf(event.data));
    if (event.type === 'psk-needed') host.derivePsk(event.nodeId); // answers with providePsk
    if (event.type === 'ready') host.say(`ready: ${event.pattern}`);
    if (event.type === 'message') host.say(event.kind === 'json' ? event.text : 'bytes');
    if (event.type === 'close' || event.type === 'ended') host.say(`${event.type}: ${event.error.code}`);
  }
}

globalThis.client = {
  connected() {
    session = new ClientSession({ crypto: nobleCrypto, identity, randomBytes, ...deviceOptions(device) });
  },
  received: (data) => handle(session.receive(bytesOf(data))),
  providePsk: (psk) => handle(session.providePsk(new Uint8Array(psk))),
  send: (value) => {
    for (const message of session.sendJson(value)) host.send(bufferOf(message));
  },
  disconnected: (code) => handle(session.closed(code)),
};

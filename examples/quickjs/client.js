/**
 * A client inside QuickJS. The program around it provides the socket, the storage and the randomness as the global `host`.
 * host.ts is such a program for Node.js; one in C provides the same functions.
 */
import {
  ClientSession,
  createKeyring,
  deviceCrypto,
  parseKeyring,
  serializeKeyring,
  updateKeyring,
} from './hub-protocol.js';

const randomBytes = (length) => new Uint8Array(host.random(length));
const bytesOf = (data) => (typeof data === 'string' ? data : new Uint8Array(data));
/** Copies bytes into an ArrayBuffer for the host. */
const bufferOf = (data) => (typeof data === 'string' ? data : new Uint8Array(data).buffer);

const { access_key: accessKey, site_id: siteId } = JSON.parse(host.load('connection'));
const stored = host.load('keyring');
let keyring =
  stored === undefined
    ? createKeyring({ accessKey, staticKey: randomBytes(32), crypto: deviceCrypto })
    : parseKeyring(stored, accessKey);

/** @type {ClientSession} */
let session;

/** @param {import('./hub-protocol.js').SessionEvent[]} events */
function handle(events) {
  for (const event of events) {
    const updated = updateKeyring(keyring, event);
    if (updated !== keyring) host.save('keyring', serializeKeyring(updated));
    keyring = updated;
    if (event.type === 'transmit') host.send(bufferOf(event.data));
    if (event.type === 'psk-needed') host.derivePsk(event.nodeId); // this calls client.providePsk
    if (event.type === 'ready') host.say(`ready: ${event.pattern}`);
    if (event.type === 'message') host.say(event.kind === 'json' ? event.text : 'bytes');
    if (event.type === 'close' || event.type === 'ended') host.say(`${event.type}: ${event.error.code}`);
  }
}

globalThis.client = {
  connected() {
    session = new ClientSession({
      crypto: deviceCrypto,
      siteId,
      randomBytes,
      keyring,
    });
  },
  received: (data) => handle(session.receive(bytesOf(data))),
  providePsk: (psk) => handle(session.providePsk(new Uint8Array(psk))),
  send: (value) => {
    for (const message of session.sendJson(value)) host.send(bufferOf(message));
  },
  disconnected: (code) => handle(session.closed(code)),
};

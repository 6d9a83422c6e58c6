// What the emulated microcontroller runs: a client that meets a recorded hub. `host` is the program in machine.c.
import {
  ClientSession,
  canonicalJson,
  createKeyring,
  deviceCrypto,
  parseJson,
  parseKeyring,
  serializeKeyring,
} from './hub-protocol.js';
import recorded from './recorded.js';

function bytes(hex) {
  const all = new Uint8Array(hex.length / 2);
  for (let at = 0; at < hex.length; at += 64) {
    const piece = hex.slice(at, at + 64); // XS finds a character by counting from the start
    for (let i = 0; i < piece.length; i += 2) all[(at + i) / 2] = parseInt(piece.slice(i, i + 2), 16);
  }
  return all;
}

function step(name, run) {
  host.start();
  const result = run();
  host.stop(name);
  return result;
}

/** Makes a call of a session, and those to `resume` that it asks for. */
function drive(session, name, run, expected) {
  let events = step(name, run);
  let seen = events;
  for (let count = 1; events.some(({ type }) => type === 'waiting'); count++) {
    events = step(`${name}, resumed ${count}`, () => session.resume());
    seen = seen.concat(events);
  }
  if (expected !== undefined && !seen.some(({ type }) => type === expected))
    throw new Error(`no ${expected} of ${name}`);
}

/** Opens a session as a device does, which has the keys in its keyring. */
function connect({ name, isPaced, keys, hello, offer, message2 }) {
  const [privateKey, publicKey, ephemeralKey, psk] = [
    keys.privateKey,
    keys.publicKey,
    keys.ephemeralKey,
    keys.psk,
  ].map(bytes);
  const nodeId = 'hub-1';
  const options = {
    crypto: deviceCrypto,
    siteId: 'lobby',
    randomBytes: () => ephemeralKey.slice(),
    keyring: {
      staticKey: { privateKey, publicKey },
      pins: keys.pin === undefined ? [] : [{ nodeId, key: bytes(keys.pin) }],
      psks: [{ nodeId, key: psk }],
    },
    inPlace: true,
    paced: isPaced,
  };
  const session = step(`${name}: new ClientSession`, () => new ClientSession(options));
  drive(session, `${name}: HELLO`, () => session.receive(hello));
  drive(session, `${name}: offer, to message 1`, () => session.receive(offer), 'transmit');
  drive(session, `${name}: message 2, to ready`, () => session.receive(message2), 'ready');
  return session;
}

function talk(session, { length, sealed }) {
  step(`${length} bytes sent`, () => session.sendBinary(new Uint8Array(length)));
  const incoming = bytes(sealed);
  drive(session, `${length} bytes received`, () => session.receive(incoming), 'message');
}

function useKeyring(text, accessKey) {
  const keyring = step('parseKeyring', () => parseKeyring(text, accessKey));
  step('serializeKeyring', () => serializeKeyring(keyring));
  const staticKey = new Uint8Array(32).fill(1);
  step('createKeyring', () => createKeyring({ accessKey, staticKey, crypto: deviceCrypto }));
}

export default function () {
  for (const connection of recorded.connections) {
    const session = connect(connection);
    for (const message of connection.messages) talk(session, message);
  }
  for (const [name, text] of Object.entries(recorded.json)) {
    const value = step(`parseJson, ${name}`, () => parseJson(text));
    step(`canonicalJson, ${name}`, () => canonicalJson(value));
  }
  if (recorded.keyring !== undefined) useKeyring(recorded.keyring, recorded.accessKey);
  const [privateKey, publicKey] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)];
  step('a public key', () => deviceCrypto.x25519.publicKey(privateKey));
  step('an X25519', () => deviceCrypto.x25519.sharedSecret(privateKey, publicKey));
}

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

/** An object whose methods are steps when they are called. */
function counted(object, names, connection) {
  const all = {};
  for (const name of names) {
    all[name] = (...args) => step(`${connection} by ${name}`, () => object[name](...args));
  }
  return all;
}

/** The cryptography, each call of which is a step. */
function countedCrypto(connection) {
  const { x25519, ciphers } = deviceCrypto;
  const ChaChaPoly = (key) => counted(ciphers.ChaChaPoly(key), ['seal', 'open', 'openInPlace'], connection);
  return {
    ...counted(deviceCrypto, ['sha256', 'hmacSha256'], connection),
    x25519: counted(x25519, ['publicKey', 'sharedSecret'], connection),
    ciphers: { ChaChaPoly },
  };
}

/** Opens a session as a device does, which has the keys in its keyring. */
function connect({ name, isPaced, keys, hello, offer, message2 }, crypto = deviceCrypto) {
  const [privateKey, publicKey, ephemeralKey, psk] = [
    keys.privateKey,
    keys.publicKey,
    keys.ephemeralKey,
    keys.psk,
  ].map(bytes);
  const nodeId = 'hub-1';
  const options = {
    crypto,
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
  if (crypto !== deviceCrypto) {
    const session = new ClientSession(options);
    const events = [hello, offer, message2].flatMap((message) => session.receive(message));
    if (!events.some(({ type }) => type === 'ready')) throw new Error(`no ready of ${name}`);
    return session;
  }
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
  for (const connection of recorded.counted ?? []) connect(connection, countedCrypto(connection.name));
  const [privateKey, publicKey] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)];
  const { sha256, hmacSha256, ciphers } = deviceCrypto;
  const block = new Uint8Array(64).fill(3);
  step('SHA-256, 64 bytes', () => sha256(block));
  step('HMAC-SHA-256, 32 bytes', () => hmacSha256(privateKey, publicKey));
  step('HKDF, two outputs', () => {
    const key = hmacSha256(privateKey, publicKey);
    const first = hmacSha256(key, new Uint8Array([1]));
    return hmacSha256(key, first, new Uint8Array([2]));
  });
  const cipher = ciphers.ChaChaPoly(privateKey);
  step('ChaChaPoly, 64 bytes', () => cipher.seal(new Uint8Array(12), new Uint8Array(0), block));
  step('a public key', () => deviceCrypto.x25519.publicKey(privateKey));
  step('an X25519', () => deviceCrypto.x25519.sharedSecret(privateKey, publicKey));
}

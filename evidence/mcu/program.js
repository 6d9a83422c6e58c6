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

/** An object whose methods are others. */
function mapped(object, names, map) {
  const all = {};
  for (const name of names) all[name] = map(name, (...args) => object[name](...args));
  return all;
}

/** The cryptography, each function of which is another one. */
function cryptoOf(map) {
  const { x25519, ciphers } = deviceCrypto;
  return {
    ...mapped(deviceCrypto, HASHES, map),
    x25519: mapped(x25519, X25519, map),
    ciphers: { ChaChaPoly: (key) => mapped(ciphers.ChaChaPoly(key), CIPHER, map) },
  };
}
const HASHES = ['sha256', 'hmacSha256'];
const X25519 = ['publicKey', 'sharedSecret'];
const CIPHER = ['seal', 'open', 'openInPlace'];

/** Makes a connection for which a chip computes some functions. Their results come from a connection before. */
function connectWithChip(connection, chip, names) {
  const results = {};
  const record =
    (name, run) =>
    (...args) => {
      const result = run(...args);
      results[name] = (results[name] ?? []).concat(result.slice());
      return result;
    };
  connect(
    connection,
    cryptoOf((name, run) => (names.includes(name) ? record(name, run) : run)),
    false,
  );
  const places = {};
  const replay = (name) => {
    const all = results[name] ?? [];
    places[name] = 0;
    return () => all[places[name]++];
  };
  const { x25519, ciphers, sha256, hmacSha256 } = deviceCrypto;
  const chosen = (object, all) => {
    const own = { ...object };
    for (const name of all) if (names.includes(name)) own[name] = replay(name);
    return own;
  };
  const crypto = { ...chosen({ sha256, hmacSha256 }, HASHES), x25519: chosen(x25519, X25519), ciphers };
  connect({ ...connection, name: `${connection.name} with ${chip}` }, crypto);
}

/** Opens a session as a device does, which has the keys in its keyring. */
function connect({ name, isPaced, keys, hello, offer, message2 }, crypto = deviceCrypto, isCounted = true) {
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
  if (!isCounted) {
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

function talk(session, { length, sealed, isJson }) {
  const what = `${length} ${isJson ? 'characters' : 'bytes'}`;
  const utterance = isJson ? 'x'.repeat(length - '{"utterance":""}'.length) : '';
  step(`${what} sent`, () =>
    isJson ? session.sendJson({ utterance }) : session.sendBinary(new Uint8Array(length)),
  );
  const incoming = bytes(sealed);
  drive(session, `${what} received`, () => session.receive(incoming), 'message');
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
  for (const connection of recorded.counted ?? []) {
    connectWithChip(connection, 'hashes', HASHES);
    connectWithChip(connection, 'hashes and X25519', [...HASHES, ...X25519]);
  }
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

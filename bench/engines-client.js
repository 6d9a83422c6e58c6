// The client that engines.ts drives in an engine, loaded before measuring begins. Input is in the globals `incoming` and
// `outgoing`.
let session;
let seen;
let isPaused = false;

globalThis.bytes = (hex) => {
  const all = new Uint8Array(hex.length / 2);
  for (let at = 0; at < hex.length; at += 256) {
    const piece = hex.slice(at, at + 256); // XS finds a character by counting from the start
    for (let i = 0; i < piece.length; i += 2) all[(at + i) / 2] = parseInt(piece.slice(i, i + 2), 16);
  }
  return all;
};

let options;
/** Makes the options, as a device has them from its keyring: with the public key of its own, and the hub it expects. */
globalThis.prepare = ({ privateKey, publicKey, ephemeralKey, psk, pin, ...further }) => {
  const [ephemeral, preShared] = [bytes(ephemeralKey), bytes(psk)];
  const hubKey = pin && bytes(pin);
  options = {
    crypto: hubProtocol.deviceCrypto,
    siteId: 'lobby',
    staticKey: { privateKey: bytes(privateKey), publicKey: bytes(publicKey) },
    randomBytes: () => ephemeral.slice(),
    psk: () => preShared,
    pin: () => hubKey,
    expectedHubKey: hubKey,
    ...further,
  };
  seen = { chunks: 0, bytes: 0, lasts: 0, others: [] };
};

globalThis.open = () => {
  session = undefined;
  session = new hubProtocol.ClientSession(options);
};

/** Passes all of `incoming` to the session, and releases it. */
globalThis.receive = (expected) => {
  let events = [];
  for (let i = 0; i < incoming.length; i++) {
    const data = incoming[i];
    incoming[i] = undefined;
    events = session.receive(data);
  }
  incoming = undefined;
  notePause(events);
  if (expected !== undefined && !events.some(({ type }) => type === expected))
    throw new Error(`no ${expected}`);
};

const notePause = (events) => {
  isPaused = events.some(({ type }) => type === 'paused');
};

globalThis.resume = () => notePause(session.resume());

globalThis.expectPaused = () => {
  if (!isPaused) throw new Error('not paused');
};

globalThis.state = () => session.state;

/** Passes one transport message to the session, and counts the events. */
globalThis.handleCommand = (buffer) => {
  for (const event of session.receive(new Uint8Array(buffer))) {
    if (event.type === 'chunk') {
      seen.chunks++;
      seen.bytes += event.bytes.length;
      if (event.last) seen.lasts++;
    } else if (event.type === 'dropped') {
      seen.others.push(`dropped ${event.reason} ${event.bytes}`);
    } else {
      seen.others.push(event.type);
    }
  }
};

globalThis.expectSeen = (expected) => {
  const got = JSON.stringify(seen);
  if (got !== expected) throw new Error(`expected ${expected}, got ${got}`);
};

globalThis.send = () => {
  if (session.sendJson(outgoing).length === 0) throw new Error('nothing was sent');
  outgoing = undefined;
};

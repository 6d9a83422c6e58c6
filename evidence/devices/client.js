// The client that engines.ts drives in an engine, loaded before measuring begins. Input is in the globals `incoming` and
// `outgoing`.
let session;
let seen;

globalThis.bytes = (hex) => {
  const all = new Uint8Array(hex.length / 2);
  for (let at = 0; at < hex.length; at += 256) {
    const piece = hex.slice(at, at + 256); // XS finds a character by counting from the start
    for (let i = 0; i < piece.length; i += 2) all[(at + i) / 2] = parseInt(piece.slice(i, i + 2), 16);
  }
  return all;
};

let options;
/** Makes the options, with a keyring that has the public key too, as that of a device does. */
globalThis.prepare = ({ privateKey, publicKey, ephemeralKey, psk, pin, ...further }) => {
  const ephemeral = bytes(ephemeralKey);
  const nodeId = 'hub-1';
  options = {
    crypto: hubProtocol.deviceCrypto,
    siteId: 'lobby',
    randomBytes: () => ephemeral.slice(),
    keyring: {
      staticKey: { privateKey: bytes(privateKey), publicKey: bytes(publicKey) },
      pins: pin === undefined ? [] : [{ nodeId, key: bytes(pin) }],
      psks: [{ nodeId, key: bytes(psk) }],
    },
    ...further,
  };
  seen = [];
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
  if (expected !== undefined && !events.some(({ type }) => type === expected))
    throw new Error(`no ${expected}`);
};

/** Passes one transport message to the session, and notes the events. */
globalThis.handleCommand = (buffer) => {
  for (const event of session.receive(new Uint8Array(buffer))) {
    seen.push(event.type === 'dropped' ? `dropped ${event.reason} ${event.bytes}` : event.type);
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

// A client in an engine, fed by heap.ts: loaded before the measuring begins. Its globals are `incoming` and `outgoing`.
let session;

globalThis.bytes = (hex) => {
  const all = new Uint8Array(hex.length / 2);
  for (let at = 0; at < hex.length; at += 256) {
    const piece = hex.slice(at, at + 256); // in XS, a character costs its distance from the start
    for (let i = 0; i < piece.length; i += 2) all[(at + i) / 2] = parseInt(piece.slice(i, i + 2), 16);
  }
  return all;
};

globalThis.open = ({ staticKey, ephemeralKey, psk, streams, maxMessage }) => {
  session = new hubProtocol.ClientSession({
    crypto: hubProtocol.nobleCrypto,
    identity: { siteId: 'lobby' },
    staticKey: bytes(staticKey),
    randomBytes: () => bytes(ephemeralKey),
    psk: () => bytes(psk),
    streams,
    maxMessage,
  });
};

/** Gives the session what came in, and forgets it. */
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

globalThis.send = () => {
  if (session.sendJson(outgoing).length === 0) throw new Error('nothing was sent');
  outgoing = undefined;
};

/** A hub for the clients that are named when it is started. docs/guides/hub.md explains it. */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { derivePsk } from 'hub-protocol';
import { nodeCrypto as crypto, randomBytes } from 'hub-protocol/node';
import { serveHub } from 'hub-protocol-client/hub';

const nodeId = 'hub.example'; // every pre-shared key depends on this name
const port = 5678;
const wss = `ws://localhost:${port}`;
const hex = (bytes) => Buffer.from(bytes).toString('hex');
const fromHex = (text) => text && Buffer.from(text, 'hex');
const read = (path) => JSON.parse(readFileSync(path, 'utf8'));
function write(path, value) {
  writeFileSync(`${path}.new`, JSON.stringify(value), { mode: 0o600 }); // only its owner may read it
  renameSync(`${path}.new`, path); // a power failure leaves the old file or the new one
}

const stored = existsSync('hub.json') ? read('hub.json') : { staticKey: hex(randomBytes(32)), clients: {} };
for (const accessKey of process.argv.slice(2)) {
  if (accessKey in stored.clients) continue;
  const password = hex(randomBytes(16));
  write(`${accessKey}.json`, {
    access_key: accessKey,
    password,
    site_id: 'home',
    data_plane_endpoints: { wss },
  });
  stored.clients[accessKey] = { psk: hex(derivePsk({ crypto, password, nodeId })) };
}
write('hub.json', stored);

const clients = {
  get(accessKey) {
    if (!Object.hasOwn(stored.clients, accessKey)) return undefined;
    const { psk, clientKey } = stored.clients[accessKey];
    return { psk: fromHex(psk), clientKey: fromHex(clientKey) };
  },
  pin(accessKey, key) {
    const client = stored.clients[accessKey];
    if (client.clientKey) return client.clientKey === hex(key);
    const pinned = { ...client, clientKey: hex(key) };
    write('hub.json', { ...stored, clients: { ...stored.clients, [accessKey]: pinned } });
    stored.clients[accessKey] = pinned;
    return true;
  },
};
const hub = await serveHub({
  ...{ nodeId, port, clients, staticKey: fromHex(stored.staticKey) },
  answer: (utterance, { accessKey }) => `Hello ${accessKey}, you said: ${utterance}`,
  onRefused: (error, state, accessKey = 'a stranger') => console.error(accessKey, state, error.message),
  onFault: (error) => console.error(error),
});
console.log(`the hub is at ${hub.url}`);

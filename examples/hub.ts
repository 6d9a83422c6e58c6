/**
 * A hub for one client, that answers its questions. It stores its key, and the client's once that is known:
 *
 *     PASSWORD='correct horse' node --import tsx examples/hub.ts STORED.json KEY.pem CERTIFICATE.pem
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { derivePsk } from 'hub-protocol';
import { nodeCrypto as crypto, randomBytes } from 'hub-protocol/node';
import { type HubClient, serveHub } from 'hub-protocol-client/hub';

const [path, key, cert] = process.argv.slice(2) as [string, string, string];
const nodeId = 'hub.example';
const psk = derivePsk({ crypto, password: process.env.PASSWORD!, nodeId });

interface Stored {
  staticKey: string;
  clientKey?: string;
}
const stored: Stored = existsSync(path)
  ? JSON.parse(readFileSync(path, 'utf8'))
  : { staticKey: Buffer.from(randomBytes(32)).toString('hex') };
const store = (): void => writeFileSync(path, JSON.stringify(stored), { mode: 0o600 });
store();

const kiosk: HubClient = { psk };
if (stored.clientKey !== undefined) kiosk.clientKey = Buffer.from(stored.clientKey, 'hex');

const hub = await serveHub({
  tls: { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') },
  nodeId,
  staticKey: Buffer.from(stored.staticKey, 'hex'),
  clients: new Map([['kiosk-7', kiosk]]), // by access key
  answer: (utterance) => (/time/.test(utterance) ? new Date().toTimeString() : `You said: ${utterance}`),
  onPinned() {
    stored.clientKey = Buffer.from(kiosk.clientKey!).toString('hex');
    store();
  },
  onRefused: ({ message }) => console.error(`refused a client: ${message}`),
});
console.log(`the hub is at ${hub.url}`);

/**
 * Shows the whole protocol on loopback: a hub and a client over WebSocket with TLS, from first contact to a hub that has
 * lost its key. `npm run demo`
 */
import { createHash } from 'node:crypto';
import { parseIdentity } from 'hub-protocol';
import { randomBytes } from 'hub-protocol/node';
import { localhostCertificate } from './certificate.ts';
import { Client, type ClientOptions } from './client.ts';
import { derive } from './derive.ts';
import { startHub } from './hub.ts';
import { Store } from './store.ts';
import { Timeline } from './timeline.ts';

const NODE_ID = 'hub.example';
const issued = { access_key: 'kiosk-7', password: 'correct horse battery staple', site_id: 'lobby' };
const MEBIBYTE = 1024 * 1024;
const DERIVATION = 'argon2id, 3 passes over 64 MiB';

const timeline = new Timeline();
timeline.legend();
const tls = await localhostCertificate();

timeline.chapter('The hub derives the pre-shared key from the client’s password');
const salt = createHash('sha256').update(NODE_ID).digest();
const hubPsk = await timeline.progress('hub', DERIVATION, (onProgress) =>
  derive(issued.password, salt, onProgress),
);
const clients = new Map([[issued.access_key, { psk: hubPsk }]]);
let hub = await startHub({ tls, nodeId: NODE_ID, staticKey: randomBytes(32), clients });

const store = new Store(issued.access_key);
function connect(options: Partial<ClientOptions> & { password?: string } = {}): Client {
  const password = options.password ?? issued.password;
  timeline.start('the client connects');
  return new Client({
    url: hub.url,
    ca: tls.cert,
    identity: parseIdentity({ ...issued, password }),
    store,
    derivePsk: (salt) =>
      timeline.progress('client', DERIVATION, (onProgress) => derive(password, salt, onProgress)),
    observe: (what) => timeline.event(what),
    ...options,
  });
}

timeline.chapter(
  'First contact: with XXpsk2 both sides prove the password, and the client pins the hub’s key',
);
let client = connect();
await client.ready;
const reply = await client.request({ utterance: 'What is on today?' });
timeline.note(`the hub replies ${reply.kind === 'json' ? reply.text : ''}`);
const sent = randomBytes(MEBIBYTE);
const returned = await client.request(sent);
const isSame = returned.kind === 'binary' && Buffer.compare(returned.bytes, sent) === 0;
timeline.note(
  `1 MiB there and back in chunks of 65000 bytes: ${isSame ? 'the same bytes' : 'DIFFERENT BYTES'}`,
);
await client.close();

timeline.chapter('Reconnect: KKpsk0 uses the pinned keys and the stored pre-shared key');
client = connect();
await client.ready;
await client.request({ utterance: 'And tomorrow?' });
await client.close();

timeline.chapter('A wrong password: message 2 shows it to the client, and nobody else learns anything');
const stranger = new Store(issued.access_key);
const wrongPassword = await connect({ password: 'wrong horse', store: stranger }).ended;

timeline.chapter('The hub has lost its key: KKpsk0 fails, and XXpsk2 with the kept pin tells why');
await hub.stop();
hub = await startHub({ tls, nodeId: NODE_ID, staticKey: randomBytes(32), clients });
const failedKk = await connect({ onKkFailure: 'keep-pin' }).ended;
const changedKey = await connect({ onKkFailure: 'keep-pin', patterns: ['XXpsk2'] }).ended;
await hub.stop();

timeline.chapter('The end');
const asExpected =
  isSame &&
  wrongPassword.error.code === 'psk-differs' &&
  failedKk.error.code === 'kk-refused' &&
  changedKey.error.code === 'hub-key-changed';
timeline.note(asExpected ? 'Everything went as it should.' : 'Something went wrong: see above.');
process.exitCode = asExpected ? 0 : 1;

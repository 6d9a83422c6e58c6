/**
 * Shows the protocol over MQTT on loopback: a broker, a hub and a client, from first contact to a hub that does not
 * answer; then the same client over WebSocket. `npm run demo:mqtt`
 */
import { createHash } from 'node:crypto';
import { forgetPsks, parseIdentity } from 'hub-protocol';
import { randomBytes } from 'hub-protocol/node';
import { localhostCertificate } from '../certificate.ts';
import { Client as WebSocketClient } from '../client.ts';
import { derive } from '../derive.ts';
import { startHub as startWebSocketHub } from '../hub.ts';
import { Store } from '../store.ts';
import { Timeline } from '../timeline.ts';
import { startBroker } from './broker.ts';
import { type Client, type ClientOptions, connect, type Ended } from './client.ts';
import { startHub } from './hub.ts';

const NODE_ID = 'hub.example';
const BASE = 'hivemind/hub-1';
const MEBIBYTE = 1024 * 1024;
const DERIVATION = 'argon2id, 3 passes over 64 MiB';
const DEADLINE = 2500; // milliseconds

const timeline = new Timeline();
timeline.legend();
const tls = await localhostCertificate();
const ca = tls.cert;

const accounts = new Map([
  ['hub', 'broker password of the hub'],
  ['kiosk-7', 'broker password of the kiosk'],
]);
const broker = await startBroker({ tls, base: BASE, accounts, hub: 'hub' });
const issued = {
  access_key: 'kiosk-7',
  password: 'correct horse battery staple',
  site_id: 'lobby',
  protocols: { wss: false, mqtt: true },
  mqtt: {
    endpoint: broker.url,
    username: 'kiosk-7',
    password: accounts.get('kiosk-7'),
    topic_prefix: `${BASE}/kiosk-7`,
  },
};

const store = new Store(issued.access_key);

function attempt(options: Partial<ClientOptions> & { password?: string } = {}): Promise<Client> {
  const password = options.password ?? issued.password;
  timeline.start('the client connects');
  return connect({
    identity: parseIdentity({ ...issued, password }),
    store,
    ca,
    derivePsk: (salt) =>
      timeline.progress('client', DERIVATION, (onProgress) => derive(password, salt, onProgress)),
    deadline: DEADLINE,
    observe: (what) => timeline.event(what),
    ...options,
  });
}

timeline.chapter('The hub derives the pre-shared key from the client’s password');
const salt = createHash('sha256').update(NODE_ID).digest();
const psk = await timeline.progress('hub', DERIVATION, (onProgress) =>
  derive(issued.password, salt, onProgress),
);
const options = {
  broker: { url: broker.url, ca, username: 'hub', password: accounts.get('hub')! },
  base: BASE,
  nodeId: NODE_ID,
  staticKey: randomBytes(32),
  clients: new Map([[issued.access_key, { psk }]]),
};
let hub = await startHub(options);

timeline.chapter('First contact: the client sends HELLO first; the rest is the same as over a WebSocket');
let client = await attempt();
const reply = await client.request({ utterance: 'What is on today?' });
timeline.note(`the hub replies ${reply.kind === 'json' ? reply.text : ''}`);
const sent = randomBytes(MEBIBYTE);
const returned = await client.request(sent);
const isSame = returned.kind === 'binary' && Buffer.compare(returned.bytes, sent) === 0;
timeline.note(
  `1 MiB there and back in chunks of 65000 bytes: ${isSame ? 'the same bytes' : 'DIFFERENT BYTES'}`,
);
await client.close();

timeline.chapter('Reconnect with the stored keyring: KKpsk0, and nothing to derive');
client = await attempt();

timeline.chapter(
  'The hub restarts and has lost the session: it greets the client anew, and the client connects again',
);
await hub.stop();
hub = await startHub(options);
timeline.start('the client sends a request on the old session');
const forgotten = await client.request({ utterance: 'Are you there?' }).catch((ended: Ended) => ended);
await client.ended;
if ('error' in forgotten) timeline.note(forgotten.error.message);
client = await attempt();
await client.request({ utterance: 'And now?' });
await client.close();

timeline.chapter('A wrong password: KKpsk0 meets silence, and one attempt with XXpsk2 tells why');
timeline.note(
  `Over MQTT a hub refuses by not answering. The client will wait ${DEADLINE / 1000} s for message 2.`,
);
const mistaken = new Store(issued.access_key, forgetPsks(store.load())); // required when a password changes
const refused = await attempt({ password: 'wrong horse', store: mistaken }).catch((ended: Ended) => ended);

timeline.chapter('The same keyring over WebSocket: the hub knows the client, whichever way it connects');
await hub.stop();
const webSocketHub = await startWebSocketHub({ ...options, tls });
timeline.start('the client connects');
const webSocketClient = new WebSocketClient({
  url: webSocketHub.url,
  ca,
  identity: parseIdentity(issued),
  store,
  derivePsk: () => Promise.reject(new Error('there is nothing to derive')),
  observe: (what) => timeline.event(what),
});
await webSocketClient.ready;
const last = await webSocketClient.request({ utterance: 'Do you know me?' });
timeline.note(`the hub replies ${last.kind === 'json' ? last.text : ''}`);
await webSocketClient.close();
await webSocketHub.stop();
await broker.stop();

timeline.chapter('The end');
const codeOf = (what: object): unknown => (what as Partial<Ended>).error?.code;
const asExpected = isSame && codeOf(forgotten) === 'text-after-ready' && codeOf(refused) === 'psk-differs';
timeline.note(asExpected ? 'Everything went as it should.' : 'Something went wrong: see above.');
process.exitCode = asExpected ? 0 : 1;

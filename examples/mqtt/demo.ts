/**
 * Shows the protocol over MQTT on loopback: a broker, a hub and a client, from first contact to a hub that does not
 * answer; then the same client over WebSocket. `npm run demo -- mqtt`
 */
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseIdentity } from 'hub-protocol';
import { randomBytes } from 'hub-protocol/node';
import { localhostCertificate } from 'hub-protocol-cli/certificate';
import {
  type Client,
  connect as connectOverWebSocket,
  KeyringFile,
  type NodeOptions,
  type Traced,
} from 'hub-protocol-client';
import { derive, serveHub } from 'hub-protocol-client/hub';
import { serveHub as serveMqttHub } from 'hub-protocol-client/hub/mqtt';
import { connect as connectOverMqtt } from 'hub-protocol-client/mqtt';
import { startBroker } from '../../test/world/mqtt-broker.ts';
import { Timeline } from '../timeline.ts';

const NODE_ID = 'hub.example';
const BASE = 'hivemind/hub-1';
const PASSWORD = 'correct horse battery staple';
const DERIVATION = 'derives the pre-shared key: argon2id, 3 passes over 64 MiB';
const DEADLINE = 2500; // milliseconds

const timeline = new Timeline();
const folder = mkdtempSync(join(tmpdir(), 'hub-protocol-demo-'));
const { ca, ...tls } = await localhostCertificate();
const accounts = new Map([
  ['hub', 'broker password of the hub'],
  ['kiosk-7', 'broker password of the kiosk'],
]);
const broker = await startBroker({ tls, base: BASE, accounts, hub: 'hub' });
const keyring = new KeyringFile(join(folder, 'kiosk-7'), 'kiosk-7');

function connect(start: (options: NodeOptions) => Client, endpoint: object) {
  const observe = (what: Traced): void => {
    timeline.event(what);
    if (isRefused && 'type' in what && what.type === 'transmit' && String(what.data).includes('pattern')) {
      timeline.wait(
        'client',
        `waits up to ${DEADLINE / 1000} s, since over MQTT a hub refuses by not answering`,
      );
    }
  };
  timeline.line('client', 'connects');
  return start({
    identity: parseIdentity({ access_key: 'kiosk-7', password: PASSWORD, site_id: 'lobby', ...endpoint }),
    keyring,
    socket: { ca },
    derive: (password, salt) =>
      timeline.progress('client', DERIVATION, (onProgress) => derive(password, salt, onProgress)),
    policy: { basePause: 400, maxPause: 2000, deadlines: { 'awaiting-message-2': DEADLINE } },
  })
    .on('trace', ({ what }) => observe(what))
    .on('disclosure', () => timeline.line('client', 'tells people that an AI answers'));
}
let isRefused = false; // whether the hub will not answer

const overMqtt = {
  protocols: { wss: false, mqtt: true },
  mqtt: {
    endpoint: broker.url,
    username: 'kiosk-7',
    password: accounts.get('kiosk-7'),
    topic_prefix: `${BASE}/kiosk-7`,
  },
};

timeline.chapter('The hub knows its clients by access key, with a pre-shared key from each one’s password');
const salt = createHash('sha256').update(NODE_ID).digest();
const psk = await timeline.progress('hub', DERIVATION, (onProgress) => derive(PASSWORD, salt, onProgress));
const keys = {
  nodeId: NODE_ID,
  staticKey: randomBytes(32),
  clients: new Map<string, { psk: Uint8Array }>([['kiosk-7', { psk }]]),
};
const account = { url: broker.url, ca, username: 'hub', password: accounts.get('hub')! };
const options = { ...keys, broker: account, base: BASE };
let hub = await serveMqttHub(options);

timeline.chapter('First contact: the client sends HELLO first; the rest is the same as over a WebSocket');
const kiosk = connect(connectOverMqtt, overMqtt);
await timeline.next('ready');
timeline.answer(await kiosk.ask('What is on today?'));
const sent = 'x'.repeat(1024 * 1024);
const isSame = (await kiosk.ask(sent)).reply.text === `You said: ${sent}`;
timeline.line(
  '',
  `1 MiB there and back in chunks of 65000 bytes: ${isSame ? 'the same text' : 'ANOTHER TEXT'}`,
);

timeline.chapter('The hub restarts and has lost the session: at the next request it greets the client anew');
await hub.stop();
hub = await serveMqttHub(options);
timeline.line('hub', 'is back');
const lost = kiosk.ask('Are you there?').catch(({ code }) => code);
await timeline.next('ready');
timeline.line('', `the request ended with ${await lost}; on the next connection it is made again`);
timeline.answer(await kiosk.ask('And now?'));

timeline.chapter('The password was changed at the hub: KKpsk0 meets silence, and XXpsk2 shows why');
await hub.stop();
hub = await serveMqttHub({
  ...options,
  clients: new Map([['kiosk-7', { ...options.clients.get('kiosk-7')!, psk: randomBytes(32) }]]),
});
timeline.line('hub', 'is back with another password for the client');
isRefused = true;
const refusal = timeline.next('psk-suspect');
kiosk.ask('Are you there?').catch(() => {}); // the hub has lost the session, too
await refusal;
isRefused = false;
kiosk.end();

timeline.chapter('The same keyring over WebSocket: the hub knows the client, whichever way it connects');
await hub.stop();
const webSocketHub = await serveHub({ ...keys, tls });
const overWebSocket = { data_plane_endpoints: { wss: webSocketHub.url } };
const another = connect(connectOverWebSocket, overWebSocket);
await timeline.next('ready');
timeline.answer(await another.ask('Do you know me?'));
another.end();
await webSocketHub.stop();
await broker.stop();
rmSync(folder, { recursive: true });

timeline.chapter('The end');
const expected = 'XXpsk2 text-after-ready KKpsk0 text-after-ready timeout psk-differs KKpsk0 dropped';
const isAsExpected = isSame && timeline.outcome.join(' ') === expected;
timeline.line('', isAsExpected ? 'Everything went as it should.' : 'Something went wrong: see above.');
process.exitCode = isAsExpected ? 0 : 1;

/**
 * Shows the whole protocol on loopback: a hub and clients over WebSocket with TLS, from first contact to a hub with
 * another key. `npm run demo`
 */
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseIdentity, storePsk } from 'hub-protocol';
import { randomBytes } from 'hub-protocol/node';
import { localhostCertificate } from 'hub-protocol-cli/certificate';
import { type AskEvent, connect as connectClient, KeyringFile } from 'hub-protocol-client';
import { derive, type HubServer, serveHub } from 'hub-protocol-client/hub';
import { Timeline } from './timeline.ts';

const NODE_ID = 'hub.example';
const PASSWORD = 'correct horse battery staple';
const DERIVATION = 'derives the pre-shared key: argon2id, 3 passes over 64 MiB';
const timeline = new Timeline();
const folder = mkdtempSync(join(tmpdir(), 'hub-protocol-demo-'));
const { ca, ...tls } = await localhostCertificate();
const staticKey = randomBytes(32);
let question: AskEvent | undefined; // the last question to a person

timeline.chapter('The hub knows its clients by access key, with a pre-shared key from each one’s password');
const salt = createHash('sha256').update(NODE_ID).digest();
const psk = await timeline.progress('hub', DERIVATION, (onProgress) => derive(PASSWORD, salt, onProgress));
const clients = new Map(['kiosk-7', 'kiosk-8', 'sensor-1'].map((accessKey) => [accessKey, { psk }]));
let hub = await serveHub({ tls, nodeId: NODE_ID, staticKey, clients });
const port = Number(new URL(hub.url).port);
const start = (key: Uint8Array): Promise<HubServer> =>
  serveHub({ tls, port, nodeId: NODE_ID, staticKey: key, clients });

function connect(accessKey: string, options: { password?: string; psk?: Uint8Array } = {}) {
  const { password = PASSWORD } = options;
  const keyring = new KeyringFile(join(folder, accessKey), accessKey);
  if (options.psk !== undefined) {
    keyring.update((fresh) => storePsk(fresh, NODE_ID, options.psk!, { isProvisioned: true }));
  }
  timeline.line('client', `connects as ${accessKey}`);
  const client = connectClient({
    identity: parseIdentity({
      access_key: accessKey,
      password,
      site_id: 'lobby',
      data_plane_endpoints: { wss: hub.url },
    }),
    keyring,
    socket: { ca },
    plays: true, // the timeline counts messages
    derive: (password, salt) =>
      timeline.progress('client', DERIVATION, (onProgress) => derive(password, salt, onProgress)),
    policy: { basePause: 400, maxPause: 1500, onKkFailure: 'keep-pin' }, // milliseconds, shorter than usual
  });
  client.on('trace', ({ what }) => timeline.event(what));
  client.on('disclosure', () => timeline.line('client', 'tells people that an AI answers'));
  client.on('ask', (event) => {
    question = event;
  });
  return client;
}

timeline.chapter(
  'First contact: with XXpsk2 both sides prove the password, and the client pins the hub’s key',
);
const kiosk = connect('kiosk-7');
await timeline.next('ready');
timeline.answer(await kiosk.ask('What is on today?'));
const sent = 'x'.repeat(1024 * 1024);
const isSame = (await kiosk.ask(sent)).reply.text === `You said: ${sent}`;
timeline.line(
  '',
  `1 MiB there and back in chunks of 65000 bytes: ${isSame ? 'the same text' : 'ANOTHER TEXT'}`,
);

timeline.chapter(
  'The hub restarts: the client dials after random, growing pauses, and KKpsk0 uses the pinned keys',
);
timeline.line('hub', 'stops');
await hub.stop();
await sleep(1200);
hub = await start(staticKey);
timeline.line('hub', 'is back');
await timeline.next('ready');
timeline.answer(await kiosk.ask('And tomorrow?'));

timeline.chapter(
  'A hub with another key: KKpsk0 fails, XXpsk2 with the kept pin shows why, and a person must decide',
);
await hub.stop();
hub = await start(randomBytes(32));
timeline.line('hub', 'is back with another key');
await timeline.next('ask');
await sleep(500);
timeline.line('', 'a person has made sure that this is the hub’s new key, and pins it');
if (question?.act === 'trust') kiosk.trust(question);
await timeline.next('ready');
kiosk.end();

timeline.chapter(
  'A wrong password: message 2 shows it to the client, which derives once more before it asks; nobody else learns anything',
);
const mistaken = connect('kiosk-8', { password: 'wrong horse' });
await timeline.next('ask');
mistaken.end();

timeline.chapter('A device that was provisioned with the 32 bytes: nothing to derive');
const sensor = connect('sensor-1', { psk });
await timeline.next('ready');
timeline.answer(await sensor.ask('It is 21 degrees'));
sensor.end();
await hub.stop();
rmSync(folder, { recursive: true });

timeline.chapter('The end');
const expected = [
  ...['XXpsk2', 'KKpsk0', 'kk-refused', 'hub-key-changed', 'KKpsk0'],
  ...['psk-differs', 'psk-differs', 'XXpsk2'],
];
// Whether the client dials while there is no hub depends on the pauses.
const outcome = timeline.outcome.filter((code) => code !== 'dropped' && code !== 'not-reachable');
const isAsExpected = isSame && outcome.join() === expected.join();
timeline.line('', isAsExpected ? 'Everything went as it should.' : 'Something went wrong: see above.');
process.exitCode = isAsExpected ? 0 : 1;

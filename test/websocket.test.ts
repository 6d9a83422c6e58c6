/** The example hub and client over a real WebSocket with TLS: behaviour that only a socket shows. */

import { createKeyring, forgetPsks, storePsk } from 'hub-protocol';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { localhostCertificate } from '../examples/certificate.ts';
import { Client, type ClientOptions } from '../examples/client.ts';
import { type Hub, startHub } from '../examples/hub.ts';
import { Store } from '../examples/store.ts';
import { randomBytes } from '../src/crypto/node.ts';
import { parseIdentity } from '../src/index.ts';

const NODE_ID = 'hub.example';
const issued = { access_key: 'kiosk-7/é+', password: 'correct horse', site_id: 'lobby' };
const psk = randomBytes(32);
const hubStatic = randomBytes(32);
const clients = new Map<string, { psk: Uint8Array; clientKey?: Uint8Array }>();
const tls = await localhostCertificate();
let hub: Hub;
let store: Store;

test.before.each(async () => {
  clients.clear();
  clients.set(issued.access_key, { psk });
  store = newStore();
  hub = await startHub({ tls, nodeId: NODE_ID, staticKey: hubStatic, clients });
});
test.after.each(() => hub.stop());

/** The store of a new client that already has the PSK. */
function newStore(): Store {
  const device = createKeyring({ accessKey: issued.access_key, staticKey: randomBytes(32) });
  return new Store(issued.access_key, storePsk(device, NODE_ID, psk));
}

function connect(options: Partial<ClientOptions> = {}): Client {
  return new Client({
    url: hub.url,
    ca: tls.cert,
    identity: parseIdentity(issued),
    store,
    derivePsk: async () => psk,
    ...options,
  });
}

test('answers a request on first contact and after reconnecting', async () => {
  for (let i = 0; i < 3; i++) {
    const client = connect();
    await client.ready;
    const reply = await client.request({ utterance: 'é\u{1f600}' });
    assert.is(reply.kind === 'json' && reply.text, '{"speech":"You said: é\u{1f600}"}');
    assert.is((await client.close()).reason, 'dropped');
  }
});

test('refuses an unknown access key before the handshake', async () => {
  const identity = parseIdentity({ ...issued, access_key: 'unknown' });
  const ended = await connect({ identity }).ended;
  assert.is(ended.reason, 'refused');
  assert.is(ended.error.code, 'access-refused');
});

test('refuses a client that lost its static key, which must never retry', async () => {
  const first = connect();
  await first.ready;
  await first.close();
  store = newStore();
  const ended = await connect().ended;
  assert.is(ended.reason, 'client-key-refused');
  assert.is(ended.retry, 'never');
});

test('keeps pin and PSK when the hub goes away', async () => {
  const client = connect();
  await client.ready;
  await hub.stop();
  const ended = await client.ended;
  assert.is(ended.reason, 'dropped');
  assert.is(ended.retry, 'now');
  const { pins, psks } = store.load();
  assert.equal([pins.length, psks.length], [1, 1]);
});

test('rejects requests in flight when the connection ends', async () => {
  const client = connect();
  await client.ready;
  const reply = client.request(randomBytes(10));
  const stopping = hub.stop(); // before it reads anything
  const rejection = await reply.then(
    () => assert.unreachable('a reply came'),
    (error) => error,
  );
  assert.ok(rejection instanceof Error);
  assert.is((rejection as unknown as { error: unknown }).error, (await client.ended).error);
  await stopping;
});

test('keeps the session after JSON that is no utterance', async () => {
  const client = connect();
  await client.ready;
  for (const text of ['7', 'null', '[]']) {
    const reply = await client.request(text);
    assert.is(reply.kind === 'json' && reply.text, '{"error":"not understood"}');
  }
  const reply = await client.request({ utterance: 'still there?' });
  assert.is(reply.kind === 'json' && reply.text, '{"speech":"You said: still there?"}');
});

test('ends the connection when the derivation fails', async () => {
  store.update(forgetPsks);
  const client = connect({ derivePsk: () => Promise.reject(new Error('no memory')) });
  assert.is((await client.ended).type, 'ended');
});

test('reports a drop when nobody listens', async () => {
  await hub.stop();
  const ended = await connect().ended;
  assert.is(ended.reason, 'dropped');
});

test.run();

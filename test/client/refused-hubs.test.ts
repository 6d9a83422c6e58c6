/** Which hubs the clients refuse. That they talk to the others is in the demos. */
import { createKeyring, type Keyring, parseIdentity, storePsk, updateKeyring } from 'hub-protocol';
import { nodeCrypto as crypto, randomBytes } from 'hub-protocol/node';
import { connect } from 'hub-protocol-client';
import { connect as connectInPage } from 'hub-protocol-client/browser';
import { connect as connectOverHttps } from 'hub-protocol-client/https';
import { serveHub } from 'hub-protocol-client/hub';
import { connect as connectOverMqtt } from 'hub-protocol-client/mqtt';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { WebSocket } from 'ws';
import { inMemory } from '../world/hub.ts';
import { closeAll, webSockets } from '../world/servers.ts';
import { soon } from './world.ts';

test.after.each(closeAll);

const ISSUED = { access_key: 'kiosk-7', password: 'correct horse', site_id: 'lobby' };

/** How the first connection of a client ends that trusts pinned hubs only: `ready`, or the code of an error. */
function outcome(url: string, stored: Keyring): Promise<string> {
  const ended = new Promise<string>((resolve) => {
    const client = connect({
      identity: parseIdentity({ ...ISSUED, data_plane_endpoints: { wss: url } }),
      keyring: inMemory(stored),
      session: { trust: 'pinned-only' },
      allowPlaintext: true,
    });
    client.on('ask', ({ error }) => {
      resolve((error as Error & { code: string }).code);
      client.end();
    });
    client.on('connect', () => {
      resolve('ready');
      client.end();
    });
  });
  return soon(ended);
}

test('a client that trusts only pinned hubs connects to no other hub', async () => {
  const [psk, staticKey] = [randomBytes(32), randomBytes(32)];
  const hub = await serveHub({ nodeId: 'hub-1', staticKey, clients: new Map([['kiosk-7', { psk }]]) });
  const created = createKeyring({ accessKey: 'kiosk-7', staticKey: randomBytes(32), crypto });
  const provisioned = storePsk(created, 'hub-1', psk);
  const pinned = updateKeyring(provisioned, {
    type: 'pin',
    nodeId: 'hub-1',
    key: new Uint8Array(crypto.x25519.publicKey(staticKey)),
  });
  assert.is(await soon(outcome(hub.url, provisioned)), 'unknown-hub');
  assert.is(await soon(outcome(hub.url, pinned)), 'ready');
  await soon(hub.stop());
});

/** What a client shows its user of the first connection to a server that does something with each WebSocket. */
async function told(serve: (socket: WebSocket) => void): Promise<{ code: string; advice: string }> {
  const wss = `ws://127.0.0.1:${await webSockets(serve)}`;
  const client = connect({
    identity: parseIdentity({ ...ISSUED, data_plane_endpoints: { wss } }),
    keyring: inMemory(),
    allowPlaintext: true,
  });
  const { error, advice } = await soon(
    new Promise<{ error: { code: string }; advice: string }>((resolve) => client.on('close', resolve)),
  );
  client.end();
  return { code: error.code, advice };
}

for (const [reason, sentence] of [
  [
    'BROADCAST is not allowed for this client',
    /may not send broadcast envelopes.*make-admin and allow-broadcast/,
  ],
  ['PROPAGATE is not allowed for this client', /may not send propagate envelopes.*allow-propagate/],
  ['ESCALATE is not allowed for this client', /may not send escalate envelopes.*allow-escalate/],
  ['QUERY is not allowed for this client', /may not send query envelopes.*allow-escalate/],
  ['CASCADE is not allowed for this client', /may not send cascade envelopes.*allow-propagate/],
  ['constructor', /policy forbids something that this client has sent/],
  ['', /policy forbids something that this client has sent/],
  ['kiosk-7 is \u001b[31mbad', /policy forbids something/],
] as const) {
  test(`a client says what it may not send, if a hub closes with 4003 and “${reason}”`, async () => {
    const { code, advice } = await told((socket) => socket.close(4003, reason));
    assert.is(code, 'dropped');
    assert.match(advice, sentence);
    assert.not.match(advice, /kiosk-7|\[31m/);
  });
}

test('a client says which hubs end the connection before they say anything', async () => {
  const { code, advice } = await told((socket) => socket.terminate());
  assert.is(code, 'dropped');
  assert.match(advice, /before the hub said anything.*hivemind-core 4\.7/);
  const after = await told((socket) => {
    socket.send('{"msg_type":"hello","payload":{"node_id":"hub-1"}}', () => socket.terminate());
  });
  assert.is(after.code, 'dropped');
  assert.not.match(after.advice, 'hivemind-core');
});

test('a client names the entry for the protocol that the identity has', () => {
  const load = (): never => {
    throw new Error('the keyring was read');
  };
  const keyring = { load, update: () => {} };
  const mqtt = { endpoint: 'mqtts://hub.example', username: 'kiosk-7', password: 'secret' };
  const [overWebSocket, overHttps, overMqtt] = [
    { data_plane_endpoints: { wss: 'wss://hub.example' } },
    { protocols: { https: true }, data_plane_endpoints: { https: 'https://hub.example' } },
    { mqtt },
  ].map((fields) => parseIdentity({ ...ISSUED, ...fields }));
  const named = [
    [connectOverMqtt, overWebSocket, 'connect from hub-protocol-client '],
    [connectOverHttps, overMqtt, 'hub-protocol-client/mqtt'],
    [connect, overMqtt, 'hub-protocol-client/mqtt'],
    [connectInPage, overHttps, 'hub-protocol-client/https'],
  ] as const;
  for (const [connectBy, identity, entry] of named) {
    assert.throws(
      () => connectBy({ identity: identity!, keyring }),
      (error: Error & { code: string }) =>
        error.code === 'unsupported-protocol' && error.message.includes(entry),
    );
  }
  // Also if that address has no TLS, which only the entry that is named has to allow.
  const plain = parseIdentity({ ...ISSUED, data_plane_endpoints: { wss: 'ws://hub.example' } });
  assert.throws(
    () => connectOverMqtt({ identity: plain, keyring }),
    ({ code }: { code?: string }) => code === 'unsupported-protocol',
  );
  assert.throws(
    () => connect({ identity: parseIdentity(ISSUED), keyring }),
    (error: Error & { code: string }) => error.code === 'no-endpoint',
  );
});

test.run();

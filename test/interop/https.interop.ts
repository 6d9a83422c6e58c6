/** The client over HTTPS, at HiveMind's hub with its HTTP protocol. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { type Json, parseIdentity } from 'hub-protocol';
import { type Client, type ClientEvent, connect } from 'hub-protocol-client/https';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { authority, folder } from './certificate.ts';
import { HivemindHub } from './hivemind.ts';
import { compare } from './matrix.ts';
import { versionOf } from './python-peer.ts';

const PASSWORD = 'correct horse battery staple';
const LONG = `ä${'x'.repeat(200_000)}`;
const test = suite('the client over HTTPS at HiveMind’s hub');
const hub = await HivemindHub.create('"allow_broadcast":true', { carrier: 'http' });
const clients: Client[] = [];
test.before(async () => {
  const words = ['--access-key', 'https-1', '--password', PASSWORD, '--allow', 'recognizer_loop:utterance'];
  await hub.command('add-client', ...words);
  await hub.start();
});
test.after(() => {
  for (const client of clients) client.end();
  return hub.stop();
});

/** A client with its events. */
function dial(given: Record<string, Json> = {}, keyring = 'https.keyring.json') {
  const identity = parseIdentity({
    access_key: 'https-1',
    password: PASSWORD,
    site_id: 'lobby',
    protocols: { https: true },
    data_plane_endpoints: { https: `https://localhost:${hub.port}` },
    ...given,
  });
  const client = connect({ identity, keyring: join(folder, keyring), socket: { ca: authority } });
  clients.push(client);
  const events: ClientEvent[] = [];
  let wake = (): void => {};
  for (const type of ['connect', 'close', 'ask', 'bytes'] as const) {
    client.on(type, (event) => {
      events.push(event);
      wake();
    });
  }
  return {
    client,
    /** The next event of a type. */
    async next<Type extends ClientEvent['type']>(type: Type): Promise<ClientEvent & { type: Type }> {
      const deadline = AbortSignal.timeout(20_000);
      deadline.onabort = () => wake();
      for (;;) {
        if (deadline.aborted) throw new Error(`no ${type} came`);
        const at = events.findIndex((event) => event.type === type);
        if (at !== -1) return events.splice(at, 1)[0] as ClientEvent & { type: Type };
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}

const row = {
  peer: 'hivemind-http-protocol',
  version: versionOf('hivemind-http-protocol'),
  role: 'hub' as const,
  suite: '25519_ChaChaPoly_SHA256',
};

compare(
  test,
  { ...row, pattern: 'XXpsk2', what: 'first contact over HTTPS, a request and its reply' },
  async () => {
    const { client, next } = dial();
    const { reply } = await client.ask('what time is it?');
    assert.is(reply.text, 'You said: what time is it?');
    assert.is((await next('connect')).pattern, 'XXpsk2');
    client.end();
    return undefined;
  },
);

compare(
  test,
  { ...row, pattern: 'KKpsk0', what: 'reconnect over HTTPS; 200 kB of JSON and of bytes each way' },
  async () => {
    const { client, next } = dial();
    assert.is((await next('connect')).pattern, 'KKpsk0');
    assert.is((await client.ask(LONG)).reply.text, `You said: ${LONG}`);
    const file = randomBytes(200_000);
    client.sendBytes(file, 'file', { file_name: 'a.bin' });
    assert.equal(Buffer.from((await next('bytes')).bytes), file);
    client.end();
    return undefined;
  },
);

compare(test, { ...row, pattern: 'KKpsk0', what: 'the hub restarts while the client polls' }, async () => {
  const { client, next } = dial();
  await next('connect');
  await client.ask('are you there?');
  await hub.stop();
  assert.is((await next('close')).error.code, 'dropped');
  await hub.start();
  assert.is((await next('connect')).pattern, 'KKpsk0');
  assert.is((await client.ask('are you there?')).reply.text, 'You said: are you there?');
  client.end();
  return undefined;
});

compare(
  test,
  { ...row, pattern: 'KKpsk0', what: 'another connection of the access key ended the session' },
  async () => {
    const first = dial();
    await first.next('connect');
    await first.client.ask('are you there?');
    const second = dial();
    await second.next('connect');
    void first.client.ask('am I still there?').catch(() => {});
    const { code } = (await first.next('close')).error;
    assert.ok(code === 'unavailable' || code === 'dropped', code); // on a busy machine a poll is sooner, with status 409
    first.client.end();
    second.client.end();
    return 'answers the next message with status 500; the client reconnects';
  },
);

compare(test, { ...row, pattern: 'none', what: 'unknown access key, over HTTPS' }, async () => {
  const { client, next } = dial({ access_key: 'nobody' }, 'nobody.keyring.json');
  assert.is((await next('close')).error.code, 'access-refused');
  client.end();
  return undefined;
});

compare(
  test,
  { ...row, pattern: 'XXpsk2', what: 'wrong password over HTTPS: noticed at message 2' },
  async () => {
    const { client, next } = dial({ password: 'another passphrase altogether' }, 'wrong.keyring.json');
    assert.is((await next('close')).error.code, 'psk-differs');
    client.end();
    return undefined;
  },
);

compare(test, { ...row, pattern: 'XXpsk2', what: 'lost static key over HTTPS: refused' }, async () => {
  const { client, next } = dial({}, 'reinstalled.keyring.json');
  for (let times = 1; times < 3; times++) assert.is((await next('close')).error.code, 'dropped');
  assert.match((await next('close')).advice, /ended 3 connections in a row .* refuse like this/);
  client.end();
  return 'ends the session as if it had lost it; the client says so after three in a row';
});

test.run();

/** The client in Go over flynn/noise, which shares no code with this library, against its hubs and its Noise. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Hub, type HubOptions, startHub } from '../../examples/hub.ts';
import { nodeCrypto, randomBytes } from '../../src/crypto/node.ts';
import { buildUtterance, derivePsk, HandshakeState, type Suite } from '../../src/index.ts';
import { certificate, certificateKey, folder } from './certificate.ts';
import { buildGo, GoProgram, versionOf } from './go.ts';
import { compare } from './matrix.ts';

const PASSWORD = 'p\u00e4ssw\u00f6rd \u{1f511} of the kiosk';
const NODE_ID = 'h\u00fcb \u{1f3e0}\nline two';
const ACCESS_KEY = 'kiosk+??>-7';
const JUDGE = fileURLToPath(new URL('../../judge/dist/cli.js', import.meta.url));

interface ClientLine {
  type: string;
  pattern?: string;
  suite?: string;
  error?: string;
  text?: string;
}

const test = suite('the client in Go');
const version = versionOf('github.com/flynn/noise');
const row = { peer: 'flynn/noise', version, suite: '25519_ChaChaPoly_SHA256' };
const check = (pattern: string, what: string, body: () => Promise<void>) =>
  compare(test, { ...row, role: 'client', pattern, what }, async () => {
    await body();
    return undefined;
  });

const heard: string[] = [];
const options: HubOptions = {
  tls: { key: certificateKey, cert: certificate },
  nodeId: NODE_ID,
  staticKey: randomBytes(32),
  clients: new Map([
    [ACCESS_KEY, { psk: derivePsk({ crypto: nodeCrypto, password: PASSWORD, nodeId: NODE_ID }) }],
  ]),
  hear: (utterance) => heard.push(utterance),
};
let hub: Hub;

test.before(async () => {
  buildGo();
  hub = await startHub(options);
});
test.after(() => hub?.stop());

const dial = (url: string, store: string, accessKey: string, password: string, ...more: string[]) =>
  new GoProgram(
    'client',
    ...['-url', url, '-access-key', accessKey, '-password', password],
    ...['-store', join(folder, store), '-site', 'lobby', ...more],
  );

/** Connects, says something short and something long, and expects the hub's answers to both. */
async function talk(): Promise<ClientLine> {
  heard.length = 0;
  const client = dial(hub.url, 'store.json', ACCESS_KEY, PASSWORD);
  const ready = await client.read<ClientLine>();
  const texts = ['\u00e4', `\u00e4${'x'.repeat(200_000)}`];
  for (const text of texts) {
    client.write(buildUtterance({ text, siteId: 'lobby', sessionId: 's-1', requestId: text.slice(0, 9) }));
    assert.match((await client.read<ClientLine>()).text!, '"speak"');
    assert.match((await client.read<ClientLine>()).text!, '"ovos.utterance.handled"');
  }
  await client.end();
  assert.equal(heard, texts);
  return ready;
}

check('XXpsk2', 'first contact with the example hub; 200 kB of JSON', async () => {
  const ready = await talk();
  assert.is(ready.pattern, 'XXpsk2');
  assert.ok(options.clients.get(ACCESS_KEY)!.clientKey);
});

check('KKpsk0', 'reconnect to the example hub; 200 kB of JSON', async () => {
  assert.is((await talk()).pattern, 'KKpsk0');
});

check('XXpsk2', 'wrong password', async () => {
  const client = dial(hub.url, 'wrong.json', ACCESS_KEY, 'wrong');
  assert.is((await client.read<ClientLine>()).error, 'psk-differs');
  await client.end();
});

check('none', 'an access key that the hub does not know', async () => {
  const client = dial(hub.url, 'unknown.json', 'unknown', PASSWORD);
  assert.is((await client.read<ClientLine>()).error, 'access-refused');
  await client.end();
});

check('both', 'every scene of the judge, which plays a hub', async () => {
  const asked = ['--listen', '--access-key', ACCESS_KEY, '--password', PASSWORD];
  const judge = spawn(process.execPath, [JUDGE, ...asked, '--report', join(folder, 'report')], {
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: 120_000,
  });
  const exit = new Promise((resolve) => judge.once('exit', resolve));
  let client: GoProgram | undefined;
  const report: string[] = [];
  for await (const line of createInterface({ input: judge.stdout })) {
    report.push(line);
    const url = /ws:\S+/.exec(line)?.[0];
    if (url !== undefined)
      client ??= dial(url, 'judge.json', ACCESS_KEY, PASSWORD, '-allow-plaintext', '-echo');
  }
  assert.is(await exit, 0, report.join('\n'));
  await client?.kill();
});

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

/** Asks the adapter, as the judge does. */
async function ask(adapter: GoProgram, request: object): Promise<Record<string, string>> {
  adapter.write({ id: 1, ...request });
  return adapter.read();
}

for (const pattern of ['XXpsk2', 'KKpsk0'] as const) {
  for (const suiteName of ['25519_ChaChaPoly_SHA256', '25519_AESGCM_SHA256'] as Suite[]) {
    for (const role of ['initiator', 'responder'] as const) {
      const what = '25 random handshakes, and messages both ways';
      const peer = role === 'initiator' ? 'client' : 'hub';
      compare(test, { ...row, suite: suiteName, role: peer, pattern, what }, async () => {
        const adapter = new GoProgram('adapter');
        for (let i = 0; i < 25; i++) await shakeHands(adapter, role, pattern, suiteName);
        await adapter.end();
        return undefined;
      });
    }
  }
}

/** One handshake with random keys, prologue and payloads, in which the adapter has this role. */
async function shakeHands(
  adapter: GoProgram,
  role: 'initiator' | 'responder',
  pattern: 'XXpsk2' | 'KKpsk0',
  suiteName: Suite,
): Promise<void> {
  const [psk, ourKey, theirKey] = [randomBytes(32), randomBytes(32), randomBytes(32)];
  const some = () => randomBytes(Math.floor(Math.random() * 300));
  const prologue = some();
  const { publicKey } = nodeCrypto.x25519;
  const ours = new HandshakeState({
    crypto: nodeCrypto,
    role: role === 'initiator' ? 'responder' : 'initiator',
    pattern,
    suite: suiteName,
    prologue,
    psk,
    staticKey: ourKey,
    randomBytes,
    ...(pattern === 'KKpsk0' ? { remoteStaticKey: publicKey(theirKey) } : {}),
  });
  await ask(adapter, {
    ...{ op: 'handshake', do: 'start', role, pattern, suite: suiteName },
    ...{
      prologue: hex(prologue),
      psk: hex(psk),
      staticKey: hex(theirKey),
      ephemeralKey: hex(randomBytes(32)),
    },
    ...(pattern === 'KKpsk0' ? { remoteStaticKey: hex(publicKey(ourKey)) } : {}),
  });
  for (let theyWrite = role === 'initiator'; !ours.isFinished; theyWrite = !theyWrite) {
    const payload = hex(some());
    if (theyWrite) {
      const { message } = await ask(adapter, { op: 'handshake', do: 'write', payload });
      assert.is(hex(ours.readMessage(Buffer.from(message!, 'hex'))), payload);
    } else {
      const message = hex(ours.writeMessage(Buffer.from(payload, 'hex')));
      assert.is((await ask(adapter, { op: 'handshake', do: 'read', message })).payload, payload);
    }
  }
  const transport = ours.split();
  const theirs = await ask(adapter, { op: 'handshake', do: 'split' });
  assert.is(theirs.handshakeHash, hex(transport.handshakeHash));
  assert.is(theirs.remoteStaticKey, hex(publicKey(ourKey)));
  assert.is(hex(transport.remoteStaticKey), hex(publicKey(theirKey)));

  const plaintexts = [hex(some()), hex(some())];
  const sealed: unknown = (await ask(adapter, { op: 'seal', plaintexts })).results;
  const received = (sealed as { message: string }[]).map(({ message }) =>
    hex(transport.decrypt(Buffer.from(message, 'hex'))),
  );
  assert.equal(received, plaintexts);
  const messages = plaintexts.map((plaintext) => hex(transport.encrypt(Buffer.from(plaintext, 'hex'))));
  const opened: unknown = (await ask(adapter, { op: 'open', messages })).results;
  assert.equal(
    opened,
    plaintexts.map((plaintext) => ({ plaintext })),
  );
}

test.run();

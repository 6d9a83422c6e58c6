/** The client in Go over flynn/noise, which shares no code with this library, against its hubs and its Noise. */
import { execFileSync, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type HubClient, type HubServer, type HubServerOptions, serveHub } from 'hub-protocol-client/hub';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { nodeCrypto, randomBytes } from '../../src/crypto/node.ts';
import { buildUtterance, derivePsk } from '../../src/index.ts';
import { certificate, certificateKey, folder } from './certificate.ts';
import { LineProgram } from './line-program.ts';
import { compare } from './matrix.ts';
import { compareHandshakes } from './random-handshakes.ts';

const PASSWORD = 'p\u00e4ssw\u00f6rd \u{1f511} of the kiosk';
const NODE_ID = 'h\u00fcb \u{1f3e0}\nline two';
const ACCESS_KEY = 'kiosk+??>-7';
const JUDGE = fileURLToPath(new URL('../../judge/dist/cli.js', import.meta.url));
const FOLDER = new URL('../../ports/go/', import.meta.url);

interface ClientLine {
  type: string;
  pattern?: string;
  suite?: string;
  error?: string;
  text?: string;
}

/** The version of a Go module that is pinned in `go.mod`. */
function versionOf(module: string): string {
  const text = readFileSync(new URL('go.mod', FOLDER), 'utf8');
  return new RegExp(`^\\s*(?:require )?${module} v(\\S+)`, 'm').exec(text)![1]!;
}

/** Compiles the programs. Throws if there is no Go. */
function buildGo(): void {
  execFileSync('go', ['build', '-o', 'dist/', './cmd/...'], { cwd: FOLDER, stdio: 'inherit' });
}

function startGo(name: 'adapter' | 'client', ...options: string[]): LineProgram {
  return new LineProgram(fileURLToPath(new URL(`dist/${name}`, FOLDER)), ...options);
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
const clients = new Map<string, HubClient>([
  [ACCESS_KEY, { psk: derivePsk({ crypto: nodeCrypto, password: PASSWORD, nodeId: NODE_ID }) }],
]);
const options: HubServerOptions = {
  tls: { key: certificateKey, cert: certificate },
  nodeId: NODE_ID,
  staticKey: randomBytes(32),
  clients,
  answer(utterance) {
    heard.push(utterance);
    return `You said: ${utterance}`;
  },
};
let hub: HubServer;

test.before(async () => {
  buildGo();
  hub = await serveHub(options);
});
test.after(() => hub?.stop());

const dial = (url: string, store: string, accessKey: string, password: string, ...more: string[]) =>
  startGo(
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
  assert.ok(clients.get(ACCESS_KEY)!.clientKey);
});

check('KKpsk0', 'reconnect to the example hub; 200 kB of JSON', async () => {
  assert.is((await talk()).pattern, 'KKpsk0');
});

check('XXpsk2', 'wrong password', async () => {
  const client = dial(hub.url, 'wrong.json', ACCESS_KEY, 'wrong');
  assert.is((await client.read<ClientLine>()).error, 'psk-differs');
  await client.end();
});

check('none', 'unknown access key', async () => {
  const client = dial(hub.url, 'unknown.json', 'unknown', PASSWORD);
  assert.is((await client.read<ClientLine>()).error, 'access-refused');
  await client.end();
});

check('both', 'all of the judge’s scenes for clients', async () => {
  const identity = join(folder, 'judged.json');
  writeFileSync(identity, JSON.stringify({ access_key: ACCESS_KEY, password: PASSWORD }));
  const asked = ['--listen', '--identity', identity];
  const judge = spawn(process.execPath, [JUDGE, ...asked, '--report', join(folder, 'report')], {
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: 120_000,
  });
  const exit = new Promise((resolve) => judge.once('exit', resolve));
  let client: LineProgram | undefined;
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

compareHandshakes(test, row, () => startGo('adapter'));

test.run();

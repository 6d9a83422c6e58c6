/** examples/hub.js, run as it stands, but for its port. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseIdentity } from 'hub-protocol';
import { connect } from 'hub-protocol-client';
import { serveHub } from 'hub-protocol-client/hub';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { randomBytes } from '../../src/crypto/node.ts';
import { freePort } from '../world/free-port.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const folder = mkdtempSync(join(ROOT, 'dist/hub-')); // inside the project, so that it finds the packages
test.after(() => rmSync(folder, { recursive: true }));
const port = await freePort();
const program = readFileSync(join(ROOT, 'examples/hub.js'), 'utf8');
writeFileSync(join(folder, 'hub.mjs'), program.replace('5678', String(port)));

let hub: ChildProcess | undefined;
test.after(() => void hub?.kill());

/** Starts the hub. Resolves with it when it listens. */
async function start(...names: string[]): Promise<void> {
  const args = ['hub.mjs', ...names];
  hub = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
  assert.match(String(await once(hub.stdout!, 'data')), `the hub is at ws://localhost:${port}`);
}

/** The answer to a question, and the handshake pattern. */
async function answerTo(name: string, derive?: () => Promise<Uint8Array>): Promise<string[]> {
  const client = connect({
    identity: parseIdentity(readFileSync(join(folder, `${name}.json`), 'utf8')),
    keyring: join(folder, `${name}.keyring.json`),
    allowPlaintext: true,
    derive,
  });
  const patterns: string[] = [];
  client.on('connect', ({ pattern }) => patterns.push(pattern));
  const { reply } = await client.ask('good morning');
  client.end();
  return [reply.text, ...patterns];
}

/** What the hub has derived, so that its client need not. */
async function derived(name: string): Promise<Uint8Array> {
  const { clients } = JSON.parse(readFileSync(join(folder, 'hub.json'), 'utf8'));
  return Buffer.from(clients[name].psk, 'hex');
}

const said = (name: string): string => `Hello ${name}, you said: good morning`;

test('makes identities for its clients, and answers them', async () => {
  await start('kiosk-7', 'kiosk-8');
  assert.equal(await answerTo('kiosk-7'), [said('kiosk-7'), 'XXpsk2']);
  assert.equal(await answerTo('kiosk-8', () => derived('kiosk-8')), [said('kiosk-8'), 'XXpsk2']);
  hub!.kill();
  await once(hub!, 'exit');
});

test('knows its clients after a restart, and lets their identities be', async () => {
  await start('kiosk-8', 'sensor-1');
  assert.equal(await answerTo('kiosk-7'), [said('kiosk-7'), 'KKpsk0']);
  assert.equal(await answerTo('kiosk-8'), [said('kiosk-8'), 'KKpsk0']);
  hub!.kill();
});

test('only its owner can read what it stores', () => {
  for (const name of ['hub', 'kiosk-7', 'sensor-1'])
    assert.is(statSync(join(folder, `${name}.json`)).mode & 0o777, 0o600, name);
});

test('clients trust a certificate that is made as the guide on failures says', async () => {
  const page = readFileSync(join(ROOT, 'docs/guides/it-does-not-connect.md'), 'utf8');
  const commands = page.match(/^openssl .*$/gm)!;
  assert.is(commands.length, 2);
  for (const command of commands)
    execFileSync('sh', ['-c', command.replace(/hub\.example/g, 'localhost')], {
      cwd: folder,
      stdio: 'pipe',
    });
  const [ca, key, cert] = ['ca', 'key', 'cert'].map((name) =>
    readFileSync(join(folder, `${name}.pem`), 'utf8'),
  );
  const psk = randomBytes(32);
  const hub = await serveHub({
    nodeId: 'hub-1',
    staticKey: randomBytes(32),
    clients: new Map([['kiosk-7', { psk }]]),
    tls: { key: key!, cert: cert! },
  });
  const client = connect({
    identity: parseIdentity({
      access_key: 'kiosk-7',
      password: 'correct horse',
      site_id: 'lobby',
      data_plane_endpoints: { wss: hub.url },
    }),
    keyring: join(folder, 'keyring.json'),
    socket: { ca },
    derive: async () => psk,
  });
  assert.is((await client.ask('hello')).reply.text, 'You said: hello');
  client.end();
  await hub.stop();
});

test.run();

/** examples/hub.ts, run as it stands. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseIdentity } from 'hub-protocol';
import { localhostCertificate } from 'hub-protocol-cli/certificate';
import { connect } from 'hub-protocol-client';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const folder = mkdtempSync(join(tmpdir(), 'hub-protocol-'));
test.after(() => rmSync(folder, { recursive: true }));
const PASSWORD = 'correct horse';
const tls = await localhostCertificate();
const files = ['hub.json', 'key.pem', 'cert.pem'].map((name) => join(folder, name));
writeFileSync(files[1]!, tls.key);
writeFileSync(files[2]!, tls.cert);
let hub: ChildProcess;

async function start(): Promise<string> {
  hub = spawn(process.execPath, ['--import', 'tsx', 'examples/hub.ts', ...files], {
    env: { ...process.env, PASSWORD },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(hub.stdout!, 'data');
  return /wss:\S+/.exec(String(line))![0];
}

/** The answer to a question, and the handshake pattern. */
async function answerAt(url: string): Promise<string[]> {
  const client = connect({
    identity: parseIdentity({
      access_key: 'kiosk-7',
      password: PASSWORD,
      site_id: 'lobby',
      data_plane_endpoints: { wss: url },
    }),
    keyring: join(folder, 'keyring.json'),
    ca: tls.ca,
  });
  const patterns: string[] = [];
  client.on('connect', ({ pattern }) => patterns.push(pattern));
  const { reply } = await client.ask('hello');
  client.end();
  return [reply.text, ...patterns];
}

test('answers a client, and knows it after a restart', async () => {
  assert.equal(await answerAt(await start()), ['You said: hello', 'XXpsk2']);
  hub.kill();
  assert.equal(await answerAt(await start()), ['You said: hello', 'KKpsk0']);
  hub.kill();
});

test.run();

/** HiveMind's own hub and client before the judge. */
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { folder } from './certificate.ts';
import { HivemindHub, homeIn } from './hivemind.ts';
import { compare } from './matrix.ts';
import { HIVEMIND, PythonPeer, versionOf } from './python-peer.ts';

const JUDGE = fileURLToPath(new URL('../../judge/dist/cli.js', import.meta.url));
const PASSWORD = 'p\u00e4ssw\u00f6rd \u{1f511} of the kiosk';
const ACCESS_KEY = 'kiosk+??>-7';

const test = suite('HiveMind before the judge');
const hub = await HivemindHub.create('"allowed_ciphers":[]');
test.after(() => hub.stop());

/** Runs the judge with --spec-only. `onLine` hears what it prints. Returns the scenes that failed or were not played. */
async function judge(place: string, words: string[], onLine?: (line: string) => void): Promise<string[]> {
  const report = join(folder, place);
  const identity = join(folder, 'identity.json'); // secrets are no arguments, which other users can see
  writeFileSync(identity, JSON.stringify({ access_key: ACCESS_KEY, password: PASSWORD }), { mode: 0o600 });
  const asked = ['--spec-only', '--identity', identity, '--report', report];
  const child = spawn(process.execPath, [JUDGE, ...words, ...asked], {
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: 180_000,
  });
  for await (const line of createInterface({ input: child.stdout })) {
    console.log(line);
    onLine?.(line);
  }
  const { verdicts } = JSON.parse(readFileSync(join(report, 'judge.json'), 'utf8'));
  assert.ok(verdicts.length > 20);
  return verdicts
    .filter(({ result }: { result: string }) => result !== 'passed')
    .map(({ name, result }: { name: string; result: string }) => `${name} ${result}`);
}

compare(
  test,
  {
    peer: 'hivemind-core',
    version: versionOf('hivemind-core'),
    role: 'hub',
    pattern: 'both',
    suite: 'both',
    what: 'the judge’s scenes for hubs, with `--spec-only`',
  },
  async () => {
    await hub.command('add-client', '--access-key', ACCESS_KEY, '--password', PASSWORD);
    await hub.start('--echo');
    assert.equal(await judge('hub', ['--connect', `wss://localhost:${hub.port}`]), []);
    return undefined;
  },
);

compare(
  test,
  {
    peer: 'hivemind-bus-client',
    version: versionOf('hivemind_bus_client'),
    role: 'client',
    pattern: 'both',
    suite: 'both',
    what: 'the judge’s scenes for clients, with `--spec-only`',
  },
  async () => {
    let client: PythonPeer<never> | undefined;
    const others = await judge('client', ['--listen'], (line) => {
      const port = Number(/ws:\/\/[^:]+:(\d+)/.exec(line)?.[1]);
      if (client !== undefined || Number.isNaN(port)) return;
      const options = JSON.stringify({ port, accessKey: ACCESS_KEY, password: PASSWORD });
      const script = fileURLToPath(new URL('clients.py', import.meta.url));
      const words = [...HIVEMIND, 'python', script, 'hivemind-bus-client-echo', options];
      client = new PythonPeer(words, homeIn('judged'));
    });
    await client?.stop();
    // The PSK has the node id in its salt, so without one there is none. The client takes an empty text.
    assert.equal(others, ['no-node-id failed']);
    return 'sends message 1 to a hub without a node id';
  },
);

test.run();

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
/** The hub pins the judge, which has another static key in each run. */
const ACCESS_KEYS = ['kiosk+??>-7', 'kiosk+??>-8'] as const;

const test = suite('HiveMind before the judge');
const hub = await HivemindHub.create('"allowed_ciphers":[]');
test.after(() => hub.stop());

/** Scenes that the rules leave open: what a WebSocket does with the faults of the other, and messages as they are. */
const OPEN = {
  hub: ['verbatim', 'unmasked-client'],
  client: ['large-offer', 'verbatim', 'masked-hub', 'wrong-accept'],
};

/**
 * Runs the judge with --spec-only, or with some scenes. `onLine` hears what it prints. Returns the scenes that failed or were
 * not played.
 */
async function judge(
  place: 'hub' | 'client',
  words: string[],
  isOpen: boolean,
  onLine?: (line: string) => void,
): Promise<string[]> {
  const report = join(folder, place);
  const identity = join(folder, 'identity.json'); // secrets are no arguments, which other users can see
  writeFileSync(identity, JSON.stringify({ access_key: ACCESS_KEYS[isOpen ? 1 : 0], password: PASSWORD }), {
    mode: 0o600,
  });
  const scenes = isOpen ? ['--only', `first-contact,${OPEN[place]}`] : ['--spec-only'];
  const asked = [...scenes, '--identity', identity, '--report', report];
  const child = spawn(process.execPath, [JUDGE, ...words, ...asked], {
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: 180_000,
  });
  for await (const line of createInterface({ input: child.stdout })) {
    console.log(line);
    onLine?.(line);
  }
  const { verdicts } = JSON.parse(readFileSync(join(report, 'judge.json'), 'utf8'));
  assert.ok(isOpen || verdicts.length > 20);
  return verdicts
    .filter(({ result }: { result: string }) => result !== 'passed')
    .map(({ name, result }: { name: string; result: string }) => `${name} ${result}`);
}

for (const accessKey of ACCESS_KEYS) {
  await hub.command('add-client', '--access-key', accessKey, '--password', PASSWORD);
}
await hub.start('--echo');

/** Judges HiveMind's own client, which dials as soon as the judge listens. */
async function judgeClient(isOpen: boolean): Promise<string[]> {
  let client: PythonPeer<never> | undefined;
  const others = await judge('client', ['--listen'], isOpen, (line) => {
    const port = Number(/ws:\/\/[^:]+:(\d+)/.exec(line)?.[1]);
    if (client !== undefined || Number.isNaN(port)) return;
    const options = JSON.stringify({ port, accessKey: ACCESS_KEYS[isOpen ? 1 : 0], password: PASSWORD });
    const script = fileURLToPath(new URL('clients.py', import.meta.url));
    const words = [...HIVEMIND, 'python', script, 'hivemind-bus-client-echo', options];
    client = new PythonPeer(words, homeIn('judged'));
  });
  await client?.stop();
  return others;
}

for (const isOpen of [false, true]) {
  const how = (scenes: readonly string[]): string =>
    isOpen ? `\`${scenes.join('`, `')}\`` : 'with `--spec-only`';
  const row = { pattern: 'both', suite: 'both' };
  const core = { ...row, peer: 'hivemind-core', version: versionOf('hivemind-core'), role: 'hub' as const };
  compare(test, { ...core, what: `the judge’s scenes for hubs, ${how(OPEN.hub)}` }, async () => {
    const others = await judge('hub', ['--connect', `wss://localhost:${hub.port}`], isOpen);
    assert.equal(others, isOpen ? ['unmasked-client failed'] : []);
    return isOpen ? 'takes frames without a mask' : undefined;
  });
  const version = versionOf('hivemind_bus_client');
  const bus = { ...row, peer: 'hivemind-bus-client', version, role: 'client' as const };
  compare(test, { ...bus, what: `the judge’s scenes for clients, ${how(OPEN.client)}` }, async () => {
    // The PSK has the node id in its salt, so without one there is none. The client takes an empty text.
    // It pins the key of an address, since many hubs have the default node id. The spec pins it under the node id.
    const breaches = ['no-node-id failed', 'another-hub-key failed'];
    assert.equal(await judgeClient(isOpen), isOpen ? ['masked-hub failed'] : breaches);
    return isOpen
      ? 'takes masked frames of a hub'
      : 'sends message 1 to a hub without a node id; pins the key of an address, not of a node id';
  });
}

test.run();

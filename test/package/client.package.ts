/**
 * The client where users run it: the kiosk of examples/ in each Node.js that `engines` names, Bun and Deno, over WebSocket
 * and over MQTT, strictly typed.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transform } from 'esbuild';
import { derivePsk } from 'hub-protocol';
import { nodeCrypto as crypto, randomBytes } from 'hub-protocol/node';
import { localhostCertificate } from 'hub-protocol-cli/certificate';
import { serveHub } from 'hub-protocol-client/hub';
import { serveHub as serveMqttHub } from 'hub-protocol-client/hub/mqtt';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import manifest from '../../package.json' with { type: 'json' };
import { startBroker } from '../world/mqtt-broker.ts';
import { emptyFolder, install, run, TOOLS } from './packed.ts';

const test = suite('the client');
const packages = fileURLToPath(new URL('../../node_modules/', import.meta.url));
const KIOSK = readFileSync(new URL('../../examples/kiosk.ts', import.meta.url), 'utf8');
const OVER_MQTT = KIOSK.replace("from 'hub-protocol-client'", "from 'hub-protocol-client/mqtt'");
const RUNTIMES: [string, ...string[]][] = [
  ...['node-20', 'node-22', 'node-24', 'node-26'].map((name): [string, string] => [
    name,
    `${TOOLS}${name}/bin/node`,
  ]),
  ['Bun', `${TOOLS}@oven/bun-linux-x64/bin/bun`],
  ['Deno', `${TOOLS}@deno/linux-x64-glibc/deno`, 'run', '-A'],
];

const folder = emptyFolder('client');
const inFolder = (name: string): string => join(folder, name);
const PASSWORD = 'correct horse';
const psk = derivePsk({ crypto, password: PASSWORD, nodeId: 'hub-1' });
const { ca, ...tls } = await localhostCertificate();
const clients = new Map<string, { psk: Uint8Array }>();
const accounts = new Map([['hub', 'secret']]);
const broker = await startBroker({ tls, base: 'hivemind/hub-1', accounts, hub: 'hub' });
const common = { nodeId: 'hub-1', staticKey: randomBytes(32), clients };
const hubs = [
  await serveHub({ ...common, tls }),
  await serveMqttHub({
    ...common,
    broker: { url: broker.url, ca, username: 'hub', password: 'secret' },
    base: 'hivemind/hub-1',
  }),
] as const;

test.before(async () => {
  const types = `@types/node@${manifest.devDependencies['@types/node']}`;
  await install(folder, 'hub-protocol', 'hub-protocol-client', 'mqtt', types);
  writeFileSync(inFolder('ca.pem'), ca);
  for (const [file, code] of [
    ['kiosk.js', KIOSK],
    ['kiosk-mqtt.js', OVER_MQTT],
  ] as const) {
    writeFileSync(inFolder(file), (await transform(code, { loader: 'ts' })).code);
  }
});
test.after(async () => {
  for (const hub of hubs) await hub.stop();
  await broker.stop();
});

/** Runs a kiosk, asks it, and returns what it printed until it left. */
async function converse(command: string[], file: string, name: string, question: string): Promise<string> {
  clients.set(name, { psk, ...clients.get(name) });
  accounts.set(name, 'secret');
  const mqtt = {
    ...{ endpoint: broker.url, username: name, password: 'secret' },
    topic_prefix: `hivemind/hub-1/${name}`,
  };
  const issued = { access_key: name, password: PASSWORD, site_id: 'lobby', mqtt };
  const identity = { ...issued, data_plane_endpoints: { wss: hubs[0].url } };
  writeFileSync(inFolder(`${name}.json`), JSON.stringify(identity));
  const [program, ...args] = [...command, file, `${name}.json`, `${name}.keyring.json`, 'ca.pem'] as const;
  const child = spawn(program!, args, { cwd: folder, stdio: ['pipe', 'pipe', 'inherit'] });
  let printed = '';
  child.stdin.write(`${question}\n`);
  child.stdout.on('data', (data) => {
    printed += data;
    if (printed.includes(`You said: ${question}`)) child.stdin.end();
  });
  const limit = setTimeout(() => child.kill('SIGKILL'), 30_000);
  await once(child, 'close');
  clearTimeout(limit);
  return printed;
}

for (const [name, ...command] of RUNTIMES) {
  for (const file of ['kiosk.js', 'kiosk-mqtt.js']) {
    test(`${file} derives in a worker, asks, and comes back with its keyring in ${name}`, async () => {
      const accessKey = `${name}-${file.length}`;
      const first = await converse(command, file, accessKey, 'one');
      assert.match(first, 'Computing: 100 %');
      assert.match(first, 'You said: one');
      const second = await converse(command, file, accessKey, 'two');
      assert.not.match(second, 'Computing');
      assert.match(second, 'You said: two');
    });
  }
}

test('the kiosk compiles strictly, over either transport, with the oldest compiler and the newest', async () => {
  writeFileSync(inFolder('kiosk.ts'), KIOSK);
  writeFileSync(inFolder('kiosk-mqtt.ts'), OVER_MQTT);
  const options = ['--noEmit', '--strict', '--target', 'es2022', '--module', 'nodenext', '--types', 'node'];
  for (const compiler of [`${TOOLS}typescript-5.4/`, `${packages}typescript/`]) {
    await run(folder, process.execPath, [
      `${compiler}bin/tsc`,
      ...options,
      '--skipLibCheck',
      'kiosk.ts',
      'kiosk-mqtt.ts',
    ]).catch(({ stdout }: { stdout: string }) => assert.unreachable(`${compiler}: ${stdout}`));
  }
});

test.run();

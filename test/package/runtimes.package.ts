/**
 * The package where users run it, from README.md alone: its programs as modules, as scripts and with a single file, in the oldest
 * Node.js that it supports, the newest with long-term support, Bun, Deno and workerd. The hub is on loopback, with TLS.
 */
import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { derivePsk } from 'hub-protocol';
import { nodeCrypto, randomBytes } from 'hub-protocol/node';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { localhostCertificate } from '../../examples/certificate.ts';
import { type Hub, startHub } from '../../examples/hub.ts';
import { emptyFolder, install, library, run, TOOLS } from './packed.ts';
import {
  asCommonJs,
  CLIENT,
  PROGRAM,
  SCRIPT,
  SINGLE_FILE_PROGRAM,
  withNoble,
  withSingleFile,
} from './readme.ts';

const test = suite('runtimes');
const NODES = ['node-20', 'node-24'].map((name) => [name, `${TOOLS}${name}/bin/node`] as const);
const BUN = `${TOOLS}@oven/bun-linux-x64/bin/bun`;
const DENO = `${TOOLS}@deno/linux-x64-glibc/deno`;
const WORKERD = `${TOOLS}@cloudflare/workerd-linux-64/bin/workerd`;
const WS = "import WebSocket from 'ws';\n"; // Node.js has a WebSocket of its own from version 22 on
const PRINTED = 'the hub says {"echo":"{\\"say\\":\\"hello\\"}"}\n';
const HEARD = JSON.stringify(['XXpsk2', 'You said: hello', 'KKpsk0', 'You said: hello']);

let folder: string;
let hub: Hub;
let env: NodeJS.ProcessEnv;
const clients: Parameters<typeof startHub>[0]['clients'] = new Map();

test.before(async () => {
  const tls = await localhostCertificate();
  const psk = derivePsk({ crypto: nodeCrypto, password: 'correct horse', nodeId: 'hub-1' });
  hub = await startHub({ tls, nodeId: 'hub-1', staticKey: randomBytes(32), clients });
  folder = emptyFolder('runtimes');
  await install(folder, await library());
  symlinkSync(
    fileURLToPath(new URL('../../node_modules/ws', import.meta.url)),
    join(folder, 'node_modules/ws'),
  );
  writeFileSync(join(folder, 'ca.pem'), tls.ca);
  env = { NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem'), DENO_CERT: join(folder, 'ca.pem') };
  newIdentity = (accessKey) => {
    clients.set(accessKey, { psk });
    return JSON.stringify({
      access_key: accessKey,
      password: 'correct horse',
      site_id: 'lobby',
      data_plane_endpoints: { wss: hub.url },
    });
  };
});
test.after(() => hub.stop());

/** An identity of its own for each client, since the hub pins its key. */
let newIdentity: (accessKey: string) => string;

/** Runs a client with a runtime. Returns what it heard. */
async function converse(file: string, code: string, ...command: string[]): Promise<string> {
  const program = `${code}
    converse(process.env.IDENTITY).then((heard) => console.log(JSON.stringify(heard)));`;
  writeFileSync(join(folder, file), program);
  const IDENTITY = newIdentity(`${command[0]} ${file}`);
  const { stdout } = await run(folder, command[0]!, [...command.slice(1), file], { ...env, IDENTITY });
  return stdout.trim();
}

for (const [name, node] of NODES) {
  test(`README’s program runs in ${name}, as a module and as a script`, async () => {
    writeFileSync(join(folder, 'program.js'), PROGRAM);
    writeFileSync(join(folder, 'program.cjs'), SCRIPT);
    for (const file of ['program.js', 'program.cjs']) {
      assert.equal((await run(folder, node, [file])).stdout, PRINTED);
    }
  });

  test(`a client connects in ${name} over WSS, as a module and as a script`, async () => {
    assert.is(await converse('node.js', WS + CLIENT, node), HEARD);
    assert.is(await converse('node.cjs', asCommonJs(WS + CLIENT), node), HEARD);
  });
}

test('README’s program and a client run with a single file in an empty folder', async () => {
  const [[, node20], [, node24]] = NODES as [[string, string], [string, string]];
  const single = join(folder, 'single');
  mkdirSync(single);
  writeFileSync(join(single, 'package.json'), '{ "type": "module" }');
  copyFileSync(
    join(folder, 'node_modules/hub-protocol/dist/hub-protocol.full.js'),
    join(single, 'hub-protocol.full.js'),
  );
  writeFileSync(join(single, 'program.js'), SINGLE_FILE_PROGRAM);
  assert.is((await run(single, node20, ['program.js'])).stdout, PRINTED);
  assert.is(await converse('single/client.js', withSingleFile(CLIENT), node24), HEARD);
});

test('a client connects in Bun over WSS, with either provider', async () => {
  assert.is(await converse('bun.js', CLIENT, BUN), HEARD);
  assert.is(await converse('bun-noble.js', withNoble(CLIENT), BUN), HEARD);
});

test('a client connects in Deno over WSS, with either provider', async () => {
  assert.is(await converse('deno.js', CLIENT, DENO, 'run', '-A'), HEARD);
  assert.is(await converse('deno-noble.js', withNoble(CLIENT), DENO, 'run', '-A'), HEARD);
});

test('a client connects in workerd over WSS', async () => {
  const { outputFiles } = await build({
    stdin: {
      contents: `${withNoble(CLIENT)}
        export default {
          async test(_, { IDENTITY }) { console.log(JSON.stringify(await converse(IDENTITY))); },
        };`,
      resolveDir: folder,
    },
    bundle: true,
    format: 'esm',
    conditions: ['workerd', 'worker', 'browser'],
    write: false,
  });
  writeFileSync(join(folder, 'worker.js'), outputFiles[0]!.text);
  writeFileSync(join(folder, 'identity.json'), newIdentity('workerd'));
  writeFileSync(
    join(folder, 'worker.capnp'),
    `using Workerd = import "/workerd/workerd.capnp";
    const config :Workerd.Config = (
      services = [
        (name = "main", worker = (
          modules = [(name = "worker.js", esModule = embed "worker.js")],
          bindings = [(name = "IDENTITY", text = embed "identity.json")],
          compatibilityDate = "2026-11-01")),
        (name = "internet", network = (allow = ["private"], tlsOptions = (trustedCertificates = [embed "ca.pem"]))),
      ],
    );`,
  );
  const { stdout, stderr } = await run(folder, WORKERD, ['test', 'worker.capnp']);
  assert.ok((stdout + stderr).includes(HEARD), stdout + stderr);
});

test.run();

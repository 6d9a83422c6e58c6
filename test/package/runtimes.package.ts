/**
 * The package where users run it, from docs alone: the program of the core, with both sides of a session, and its client over a WebSocket,
 * with either provider, in each Node.js that `engines` names, Bun, Deno and workerd. The hub is on loopback, with TLS.
 */
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { derivePsk } from 'hub-protocol';
import { nodeCrypto, randomBytes } from 'hub-protocol/node';
import { localhostCertificate } from 'hub-protocol-cli/certificate';
import { type HubClient, type HubServer, serveHub } from 'hub-protocol-client/hub';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import manifest from '../../package.json' with { type: 'json' };
import { emptyFolder, install, run, TOOLS } from './packed.ts';
import {
  asCommonJs,
  CLIENT,
  PROGRAM,
  SCRIPT,
  SINGLE_FILE_PROGRAM,
  withJs,
  withNoble,
  withSingleFile,
} from './readme.ts';

const test = suite('runtimes');
/** The names of the runtimes, and the commands that run a program. */
const NODES: [string, ...string[]][] = ['node-20', 'node-22', 'node-24', 'node-26'].map((name) => [
  name,
  `${TOOLS}${name}/bin/node`,
]);
const RUNTIMES: [string, ...string[]][] = [
  ...NODES,
  ['Bun', `${TOOLS}@oven/bun-linux-x64/bin/bun`],
  ['Deno', `${TOOLS}@deno/linux-x64-glibc/deno`, 'run', '-A'],
];
/** What makes the programs use each of the providers. */
const PROVIDERS: [string, (code: string) => string][] = [
  ['node', (code) => code],
  ['noble', withNoble],
  ['js', withJs],
];
const WORKERD = `${TOOLS}@cloudflare/workerd-linux-64/bin/workerd`;
const WS = "import WebSocket from 'ws';\n"; // Node.js has a WebSocket of its own from version 22 on
const PRINTED = 'the hub says {"echo":"{\\"say\\":\\"hello\\"}"}\n';
const HEARD = JSON.stringify(['XXpsk2', 'You said: hello', 'KKpsk0', 'You said: hello']);

let folder: string;
let hub: HubServer;
let env: NodeJS.ProcessEnv;
const clients = new Map<string, HubClient>();

test.before(async () => {
  const { ca, ...tls } = await localhostCertificate();
  const psk = derivePsk({ crypto: nodeCrypto, password: 'correct horse', nodeId: 'hub-1' });
  hub = await serveHub({ tls, nodeId: 'hub-1', staticKey: randomBytes(32), clients });
  folder = emptyFolder('runtimes');
  await install(folder, 'hub-protocol', 'ws');
  writeFileSync(join(folder, 'ca.pem'), ca);
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

test('package.json names the versions of Node.js that are tried', () => {
  assert.equal(
    manifest.engines.node.match(/(?<=[\^=])\d+/g)?.map((major) => `node-${major}`),
    NODES.map(([name]) => name),
  );
});

/** Runs a client with a runtime. Returns what it heard. */
async function converse(file: string, code: string, ...command: string[]): Promise<string> {
  const program = `${code}
    converse(process.env.IDENTITY).then((heard) => console.log(JSON.stringify(heard)));`;
  writeFileSync(join(folder, file), program);
  const IDENTITY = newIdentity(`${command[0]} ${file}`);
  const { stdout } = await run(folder, command[0]!, [...command.slice(1), file], { ...env, IDENTITY });
  return stdout.trim();
}

for (const [name, ...command] of RUNTIMES) {
  const socket = name === 'node-20' ? WS : '';
  for (const [provider, using] of PROVIDERS) {
    test(`the core’s program runs in ${name} with the provider ${provider}`, async () => {
      writeFileSync(join(folder, 'program.js'), using(PROGRAM));
      const { stdout } = await run(folder, command[0]!, [...command.slice(1), 'program.js']);
      assert.is(stdout, PRINTED);
    });

    test(`a client connects in ${name} over WSS with the provider ${provider}`, async () => {
      assert.is(await converse(`${provider}.js`, socket + using(CLIENT), ...command), HEARD);
    });
  }
}

for (const [name, node] of NODES as [string, string][]) {
  test(`the core’s program and a client run in ${name} as scripts`, async () => {
    writeFileSync(join(folder, 'program.cjs'), SCRIPT);
    assert.is((await run(folder, node, ['program.cjs'])).stdout, PRINTED);
    assert.is(await converse('client.cjs', asCommonJs(WS + CLIENT), node), HEARD);
  });
}

test('the core’s program and a client run with a single file in an empty folder', async () => {
  const [[, oldest], [, newest]] = [NODES[0]!, NODES.at(-1)!];
  const single = join(folder, 'single');
  mkdirSync(single);
  writeFileSync(join(single, 'package.json'), '{ "type": "module" }');
  copyFileSync(
    join(folder, 'node_modules/hub-protocol/dist/hub-protocol.full.js'),
    join(single, 'hub-protocol.full.js'),
  );
  writeFileSync(join(single, 'program.js'), SINGLE_FILE_PROGRAM);
  assert.is((await run(single, oldest!, ['program.js'])).stdout, PRINTED);
  assert.is(await converse('single/client.js', withSingleFile(CLIENT), newest!), HEARD);
});

/** Runs modules as a test of workerd, where only functions get random bytes. Returns what they print. */
async function runInWorkerd(code: string, body: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: {
      contents: `${code}\nexport default { async test(_, { IDENTITY }) { ${body} } };`,
      resolveDir: folder,
    },
    bundle: true,
    format: 'esm',
    conditions: ['workerd', 'worker', 'browser'],
    external: ['node:*'],
    write: false,
  });
  writeFileSync(join(folder, 'worker.js'), outputFiles[0]!.text);
  writeFileSync(join(folder, 'identity.json'), newIdentity(`workerd ${clients.size}`));
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
  const { stdout } = await run(folder, WORKERD, ['test', 'worker.capnp']);
  return stdout;
}

for (const [provider, using] of PROVIDERS) {
  test(`the core’s program runs in workerd with the provider ${provider}`, async () => {
    const program = using(PROGRAM);
    const imports = program.match(/^import .*\n/gm)!.join('');
    assert.is(await runInWorkerd(imports, program.replace(/^import .*\n/gm, '')), PRINTED);
  });

  test(`a client connects in workerd over WSS with the provider ${provider}`, async () => {
    const printed = await runInWorkerd(
      using(CLIENT),
      'console.log(JSON.stringify(await converse(IDENTITY)));',
    );
    assert.is(printed.trim(), HEARD);
  });
}

test.run();

/**
 * Four processes of a hub behind HAProxy, with clients in Redis or PostgreSQL, each killed in turn while all clients talk:
 * evidence/scale/processes redis|postgresql [--clients 5000] [--trials 10000] [--processes 4]
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { cpus, tmpdir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createKeyring, type Keyring, parseIdentity, storePsk } from 'hub-protocol';
import { nodeCrypto as crypto, randomBytes } from 'hub-protocol/node';
import { type Client, connect } from 'hub-protocol-client';
import type { HubClients } from 'hub-protocol-client/hub';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    clients: { type: 'string', default: '5000' },
    trials: { type: 'string', default: '10000' },
    processes: { type: 'string', default: '4' },
  },
});
const [store = 'redis'] = positionals;
const [count, trials, processes] = [values.clients, values.trials, values.processes].map(Number) as [
  number,
  number,
  number,
];
const [STORE, FRONT, FIRST] = [16_379, 15_678, 15_679];
const folder = mkdtempSync(`${tmpdir()}/hub-processes-`);
chmodSync(folder, 0o777);
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const running = new Set<ChildProcess>();

/** Starts a program, and waits until something can connect to its port. */
async function start(port: number, program: string, args: string[]): Promise<ChildProcess> {
  const child = spawn(program, args, { cwd: folder, stdio: ['ignore', 'pipe', 'ignore'] });
  running.add(child);
  child.once('exit', () => running.delete(child));
  child.stdout!.setEncoding('utf8').on('data', (text: string) => {
    for (const line of text.split('\n').filter((each) => /^(refused|fault)/.test(each)))
      told.set(line, (told.get(line) ?? 0) + 1);
  });
  while (!(await isOpen(port))) {
    if (child.exitCode !== null) throw new Error(`${program} has ended`);
    await sleep(50);
  }
  return child;
}

const told = new Map<string, number>();

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(port, '127.0.0.1');
    socket.on('connect', () => resolve(true)).on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });
}

async function startStore(): Promise<{ url: string; child: ChildProcess }> {
  const port = String(STORE);
  if (store === 'redis') {
    const child = await start(STORE, 'redis-server', ['--port', port, '--save', '', '--dir', folder]);
    return { url: `redis://127.0.0.1:${port}`, child };
  }
  const bin = `/usr/lib/postgresql/${readdirSync('/usr/lib/postgresql')[0]}/bin`;
  // PostgreSQL refuses to run as root. setpriv becomes the server, which a signal then reaches.
  const data = `${folder}/data`;
  const own = (...command: string[]): [string, string[]] =>
    process.getuid!() === 0
      ? ['setpriv', ['--reuid=postgres', '--regid=postgres', '--clear-groups', ...command]]
      : [command[0]!, command.slice(1)];
  execFileSync(...own(`${bin}/initdb`, '-D', data, '-U', 'postgres', '-A', 'trust'), { stdio: 'ignore' });
  return {
    url: `postgresql://postgres@127.0.0.1:${port}/postgres`,
    child: await start(STORE, ...own(`${bin}/postgres`, '-D', data, '-p', port, '-k', folder)),
  };
}

/** Puts clients into the store. */
function seed(url: string, accessKeys: readonly string[]): void {
  const [program, args, line]: [string, string[], (accessKey: string) => string] =
    store === 'redis'
      ? ['redis-cli', ['-u', url], (accessKey) => `HSET client:${accessKey} psk ${hex(PSK)}`]
      : [
          'psql',
          ['-q', url],
          (accessKey) => `insert into clients values ('${accessKey}', '\\x${hex(PSK)}');`,
        ];
  const table =
    'create table if not exists clients (access_key text primary key, psk bytea not null, client_key bytea);';
  const lines = [...(store === 'redis' ? [] : [table]), ...accessKeys.map(line)];
  execFileSync(program, args, { input: lines.join('\n'), stdio: ['pipe', 'ignore', 'ignore'] });
}

const seconds = (from: number): string => `${((performance.now() - from) / 1000).toFixed(1)} s`;
/** User and system time, in seconds. */
const cpuOf = ({ pid }: ChildProcess): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
};

/** A signal to a program and its children: a server of PostgreSQL has one for each connection. */
function signal({ pid }: ChildProcess, name: NodeJS.Signals): void {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
  for (const each of [pid!, ...children.map(Number)]) process.kill(each, name);
}

interface Talker {
  readonly accessKey: string;
  readonly client: Client;
  readonly publicKey: Uint8Array;
  answered: number;
}

const PSK = randomBytes(32);
let wrong = 0;
const asked = new Map<string, number>();

function talker(accessKey: string, port: number, staticKey = randomBytes(32)): Talker {
  const fresh = createKeyring({ accessKey, staticKey, crypto });
  let keyring: Keyring = storePsk(fresh, 'hub.example', PSK, { isProvisioned: true });
  const client = connect({
    identity: parseIdentity({
      ...{ access_key: accessKey, password: 'secret', site_id: 'home' },
      data_plane_endpoints: { wss: `ws://localhost:${port}` },
    }),
    keyring: {
      load: () => keyring,
      update(change) {
        keyring = change(keyring);
      },
    },
    allowPlaintext: true,
  });
  client.on('ask', ({ advice }) => asked.set(advice, (asked.get(advice) ?? 0) + 1));
  return { accessKey, client, publicKey: crypto.x25519.publicKey(staticKey), answered: 0 };
}

async function ask(one: Talker): Promise<void> {
  const { reply } = await one.client.ask('who am I?').catch(() => ({ reply: undefined }));
  if (reply === undefined) return;
  if (reply.text === `Hello ${one.accessKey}, you said: who am I?`) one.answered++;
  else wrong++;
}

/** Waits until all have an answer to a question that they ask from now on. */
async function allAnswered(talkers: readonly Talker[]): Promise<void> {
  const before = talkers.map(({ answered }) => answered);
  await Promise.all(
    talkers.map(async (one, i) => {
      while (one.answered === before[i]) await ask(one);
    }),
  );
}

try {
  const { url, child: database } = await startStore();
  const accessKeys = Array.from({ length: count }, (_, i) => `kiosk-${i}`);
  seed(url, [...accessKeys, 'rival', 'late']);
  writeFileSync(`${folder}/hub.json`, JSON.stringify({ staticKey: hex(randomBytes(32)) }));
  const program = fileURLToPath(new URL('../../examples/stores/process.mjs', import.meta.url));
  const startHub = (i: number): Promise<ChildProcess> =>
    start(FIRST + i, process.execPath, [program, store, url, String(FIRST + i)]);
  const hubs = await Promise.all(Array.from({ length: processes }, (_, i) => startHub(i)));
  const servers = hubs.map((_, i) => `  server hub${i} 127.0.0.1:${FIRST + i} check inter 200 fall 1 rise 1`);
  writeFileSync(
    `${folder}/haproxy.cfg`,
    `defaults
  mode tcp
  timeout connect 1s
  timeout client 1h
  timeout server 1h
  option redispatch
frontend all
  bind 127.0.0.1:${FRONT}
  maxconn 20000
  default_backend hubs
backend hubs
  balance leastconn
${servers.join('\n')}\n`,
  );
  await start(FRONT, 'haproxy', ['-f', `${folder}/haproxy.cfg`, '-db']);

  let began = performance.now();
  const talkers = accessKeys.map((accessKey) => talker(accessKey, FRONT));
  await allAnswered(talkers);
  const first = hubs.reduce((sum, hub) => sum + cpuOf(hub), 0);
  console.log(
    `${count} clients, ${processes} processes, ${store}, ${cpus().length} cores: first contact and an answer in ${seconds(began)}`,
  );
  console.log(`  ${((1000 * first) / count).toFixed(2)} ms of CPU a client in the hubs`);
  await allAnswered(talkers);
  const more = hubs.reduce((sum, hub) => sum + cpuOf(hub), 0) - first;
  console.log(`  ${((1000 * more) / count).toFixed(2)} ms of CPU a question in the hubs`);

  for (const [i, hub] of hubs.entries()) {
    let isOver = false;
    const talking = talkers.map(async (one) => {
      while (!isOver) await Promise.all([ask(one), sleep(2000 * Math.random())]);
    });
    await sleep(500);
    began = performance.now();
    hub.kill('SIGKILL');
    hubs[i] = await startHub(i);
    await allAnswered(talkers);
    console.log(`process ${i} killed and started again: all have an answer after ${seconds(began)}`);
    isOver = true;
    await Promise.all(talking);
  }

  const { openClients } = (await import(`../../examples/stores/${store}.mjs`)) as {
    openClients(url: string): Promise<Required<HubClients>>;
  };
  const [one, other] = [await openClients(url), await openClients(url)];
  let foreign = 0;
  for (const { accessKey, publicKey } of talkers) {
    const { clientKey } = (await one.get(accessKey))!;
    if (Buffer.compare(clientKey!, publicKey) !== 0) foreign++;
  }
  console.log(`other keys than the clients' in the store: ${foreign}; answers to the wrong client: ${wrong}`);

  let twice = 0;
  seed(
    url,
    Array.from({ length: trials }, (_, i) => `trial-${i}`),
  );
  for (let i = 0; i < trials; i++) {
    const keys = [randomBytes(32), randomBytes(32)];
    const pinned = await Promise.all([one, other].map((each, at) => each.pin(`trial-${i}`, keys[at]!)));
    const { clientKey } = (await one.get(`trial-${i}`))!;
    const winner = pinned.indexOf(true);
    if (pinned[0] === pinned[1] || Buffer.compare(clientKey!, keys[winner]!) !== 0) twice++;
  }
  console.log(`${trials} first contacts of two devices at the same time: ${twice} without exactly one key`);

  if (processes > 1) {
    const key = randomBytes(32);
    const older = talker('rival', FIRST, key);
    const ended = new Promise<string>((resolve) =>
      older.client.once('close', ({ advice }) => resolve(advice)),
    );
    await allAnswered([older]);
    const newer = talker('rival', FIRST + 1, key);
    const end = await Promise.race([ended, sleep(10_000)]);
    console.log('an access key connects to another process:', end ?? 'both stay');
    if (end === undefined) process.exitCode = 1;
    for (const { client } of [older, newer]) client.end();
  }

  signal(database, 'SIGSTOP');
  began = performance.now();
  const late = talker('late', FIRST);
  const refusal = new Promise<string>((resolve) =>
    late.client.once('close', ({ error }) => resolve(error.code)),
  );
  const code = await Promise.race([refusal, sleep(7000)]);
  console.log(`  a store that stands still: ${code ?? 'nobody was told'} after ${seconds(began)}`);
  if (code === undefined) process.exitCode = 1;
  signal(database, 'SIGCONT');
  began = performance.now();
  await allAnswered([late]);
  console.log(`  an answer ${seconds(began)} after it goes on`);
  for (const { client } of [...talkers, late]) client.end();
  console.log('a person was asked:', Object.fromEntries(asked), '; the hubs told:', Object.fromEntries(told));
  if (foreign + wrong + twice + asked.size > 0) process.exitCode = 1;
} finally {
  for (const child of running) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
  process.exit();
}

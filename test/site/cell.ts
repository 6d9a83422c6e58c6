/**
 * One cell, in namespaces of its own, where this is the server's machine and 10.9.0.2 the kiosk's. Prints what was seen, as JSON.
 *
 *     unshare --net --mount --pid --fork --mount-proc node CELL ORDER
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { cpSync, createWriteStream, openSync, readFileSync, writeFileSync } from 'node:fs';
import { connect, createServer, isIPv6, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createServer as createTlsServer } from 'node:tls';
import { serveHub } from 'hub-protocol-client/hub/mqtt';
import { startBroker } from '../world/mqtt-broker.ts';
import { BROKERS, type Cell, DISKS, FRONTS, NETWORKS } from './axes.ts';

/** What the cell is told: the values, and the kiosk's command. */
export interface Order {
  readonly cell: Cell;
  readonly command: readonly string[];
  /** Whether the command's program reads a pipe instead of its standard input. */
  readonly isRunner: boolean;
}

export interface Seen {
  readonly isRight: boolean;
  /** `connected`, or the sentence. */
  readonly what: string;
  readonly seconds: number;
  /** Whether the bed, and not the kiosk, has failed. */
  readonly isOfBed?: boolean;
}

const { cell, command, isRunner }: Order = JSON.parse(process.argv[2]!);
const [network, front, broker, disk] = [
  NETWORKS[cell[0]!]!,
  FRONTS[cell[1]!]!,
  BROKERS[cell[2]!]!,
  DISKS[cell[3]!]!,
];
const NAME = 'hub.test';
/** The port of the command `hub` on loopback. */
const HUB = 5679;
/** The folder of this cell, and that of all cells. */
const HOME = '/mnt/home';
const BED = '/mnt/bed';
/** Of the server. */
const ADDRESSES = ['10.9.0.1', 'fd00:9::1'];
const SERVER = network.isOnly6 ? 'fd00:9::1' : '10.9.0.1';
const CERTIFICATE = {
  key: readFileSync(`${BED}/hub.key`, 'utf8'),
  cert: readFileSync(`${BED}/hub.pem`, 'utf8'),
};

const sh = (script: string, env = {}): string =>
  execFileSync('bash', ['-euo', 'pipefail', '-c', script], {
    cwd: HOME,
    encoding: 'utf8',
    env: { PATH: `${process.env.PATH}:/usr/sbin`, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });

function start(program: string, args: readonly string[], cwd = HOME): ChildProcess {
  const log = openSync(`${HOME}/log`, 'a');
  const child = spawn(program, args, { cwd, stdio: ['ignore', log, log] });
  child.on('error', (error) => writeFileSync(log, `${error}\n`));
  return child;
}

async function listening(port: number, host = '127.0.0.1'): Promise<void> {
  for (let tries = 0; tries < 400; tries++) {
    const socket = connect(port, host);
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isOpen) return;
    await sleep(50);
  }
  throw new Error(`nothing listens at ${port}: ${readFileSync(`${HOME}/log`, 'utf8').slice(-500)}`);
}

/** Passes connections on, and ends each that has been idle for so many milliseconds. */
function forward(
  host: string,
  port: number,
  to: number,
  { at = '127.0.0.1', idle = 0, tls }: { at?: string; idle?: number; tls?: typeof CERTIFICATE } = {},
): void {
  const pass = (left: Socket): void => {
    const right = connect(to, at);
    for (const [one, other] of [
      [left, right],
      [right, left],
    ] as [Socket, Socket][]) {
      one.pipe(other);
      one.setTimeout(idle, () => other.destroy());
      one.on('error', () => {});
      one.on('close', () => other.destroy());
    }
  };
  (tls === undefined ? createServer(pass) : createTlsServer(tls, pass)).listen(port, host);
}

/** A resolver that knows one name. */
async function startResolver(): Promise<void> {
  const { dns = 0, addresses = ['10.9.0.1'] } = network;
  if (dns === 'no answer') return;
  const socket = createSocket(network.isOnly6 ? 'udp6' : 'udp4');
  socket.on('message', async (query, { address, port }) => {
    let end = 12;
    const labels: string[] = [];
    for (; query[end] !== 0; end += query[end]! + 1)
      labels.push(query.toString('latin1', end + 1, end + 1 + query[end]!));
    const wants = { 1: 4, 28: 16 }[query.readUInt16BE(end + 1)];
    const isKnown = labels.join('.').toLowerCase() === NAME && dns !== 'no such name';
    const answers = addresses.map(bytesOf).filter(({ length }) => isKnown && length === wants);
    const counts = [0, 1, 0, answers.length, 0, 0, 0, 0];
    const head = Buffer.from([...query.subarray(0, 2), 0x81, isKnown ? 0x80 : 0x83, ...counts]);
    const records = answers.map((bytes) =>
      Buffer.from([0xc0, 12, 0, bytes.length === 4 ? 1 : 28, 0, 1, 0, 0, 0, 9, 0, bytes.length, ...bytes]),
    );
    await sleep(typeof dns === 'number' ? 1000 * dns : 0);
    socket.send(Buffer.concat([head, query.subarray(12, end + 5), ...records]), port, address);
  });
  socket.bind(53, SERVER);
  await once(socket, 'listening');
}

function bytesOf(address: string): number[] {
  if (!isIPv6(address)) return address.split('.').map(Number);
  const [before, after] = address.split('::').map((part) => part.split(':').filter((each) => each !== ''));
  const groups = [...before!, ...Array(8 - before!.length - after!.length).fill('0'), ...after!];
  return groups.flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255]);
}

/** Makes the kiosk's machine and the line to it. Returns what begins a command there. */
async function startLine(): Promise<string[]> {
  const holder = spawn('unshare', ['--net', 'sleep', '1d'], { stdio: 'ignore' });
  await sleep(200);
  const [delay, loss] = network.line ?? [0, 0];
  const args = [`${BED}/link.py`, holder.pid, delay, loss, network.isOnly6 ? '6' : '46'].map(String);
  const line = spawn('python3', args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let told = '';
  line.stderr.on('data', (data) => (told += data));
  line.on('exit', () => {
    throw new Error(`no line: ${told}`);
  });
  await once(line.stdout, 'data');
  writeFileSync(`${HOME}/resolv.conf`, `nameserver ${SERVER}\n`);
  sh('mount --bind resolv.conf /etc/resolv.conf');
  return ['nsenter', `--net=/proc/${holder.pid}/ns/net`];
}

/** The folder of the hub, which knows the kiosk's key if the disk has one that it knows. Returns the identity. */
function placeHub(): Record<string, unknown> {
  cpSync(`${BED}/${disk.isPinned ? 'pinned' : 'fresh'}`, `${HOME}/hub`, { recursive: true });
  const stored = JSON.parse(readFileSync(`${HOME}/hub/hub.json`, 'utf8'));
  writeFileSync(`${HOME}/hub/hub.json`, JSON.stringify({ ...stored, tls: CERTIFICATE }));
  return JSON.parse(readFileSync(`${HOME}/hub/identity.json`, 'utf8'));
}

async function startServer(): Promise<object> {
  const identity = placeHub();
  if (broker.program !== undefined) return startBehindBroker(identity);
  start('node', ['/mnt/app/node_modules/hub-protocol-cli/dist/cli.js', 'hub', 'hub']);
  await listening(HUB);
  if (front.program === undefined) for (const address of ADDRESSES) forward(address, 443, HUB);
  else {
    const given = { FOLDER: BED, PORT: String(HUB) };
    const file = `${HOME}/${front.program}.conf`;
    writeFileSync(
      file,
      front.configuration!.replace(/\$(FOLDER|PORT)\b/g, (_, name: 'PORT') => given[name]),
    );
    if (front.program === 'nginx') sh('mount -t tmpfs tmpfs /var/lib/nginx');
    if (front.program === 'nginx') start('nginx', ['-c', file]);
    if (front.program === 'haproxy') start('haproxy', ['-db', '-f', file]);
    if (front.program === 'caddy') start('caddy', ['run', '--adapter', 'caddyfile', '--config', file]);
    await listening(443, ADDRESSES[0]);
  }
  const host = front.isByAddress ? SERVER.replace(/.*:.*/, '[$&]') : NAME;
  return { ...identity, data_plane_endpoints: { wss: `wss://${host}${front.path ?? ''}` } };
}

const BASE = broker.base ?? 'hivemind/hub';

async function startBehindBroker(identity: Record<string, unknown>): Promise<object> {
  const key = String(identity.access_key);
  let url = 'mqtt://127.0.0.1:1883';
  if (broker.program === 'aedes') {
    const accounts = new Map([key, 'hub'].map((name) => [name, 'secret']));
    ({ url } = await startBroker({ base: BASE, accounts, hub: 'hub' }));
    for (const address of ADDRESSES) forward(address, 8883, Number(new URL(url).port), { tls: CERTIFICATE });
  } else if (broker.program === 'mochi') {
    start(`${BED}/mochi`, ['127.0.0.1:1883']);
    await listening(1883);
    for (const address of ADDRESSES) forward(address, 8883, 1883, { tls: CERTIFICATE });
  } else if (broker.program === 'rabbitmq') await startRabbit(key);
  else {
    sh(`touch accounts; mosquitto_passwd -b accounts ${key} secret; mosquitto_passwd -b accounts hub secret`);
    writeFileSync(
      `${HOME}/mosquitto.conf`,
      `user root
per_listener_settings true
${broker.general ?? ''}
listener 1883 127.0.0.1
allow_anonymous true
${ADDRESSES.map(
  (address) => `
listener 8883 ${address}
${/anonymous/.test(broker.configuration ?? '') ? '' : `password_file ${HOME}/accounts`}
certfile ${BED}/hub.pem
keyfile ${BED}/hub.key
cafile ${BED}/ca.pem
${broker.configuration ?? ''}`,
).join('')}
`,
    );
    start('mosquitto', ['-c', `${HOME}/mosquitto.conf`]);
    await listening(1883);
  }
  const { psk, staticKey } = JSON.parse(readFileSync(`${HOME}/hub/hub.json`, 'utf8'));
  const clients = new Map([[key, { psk: Buffer.from(psk, 'hex') }]]);
  const account = { username: 'hub', password: 'secret' };
  const keys = { nodeId: 'hub.localhost', staticKey: Buffer.from(staticKey, 'hex'), clients };
  await serveHub({ ...keys, base: BASE, broker: { url, ...account } });
  await listening(8883, ADDRESSES[0]);
  const mqtt = { endpoint: `mqtts://${NAME}:8883`, topic_prefix: `${BASE}/${key}`, ...broker.mqtt };
  return { ...identity, mqtt: { ...account, username: key, ...mqtt } };
}

async function startRabbit(key: string): Promise<void> {
  const users = [key, 'hub'].map((name) => ({ name, password: 'secret', tags: '' }));
  const all = { vhost: '/', configure: '.*', write: '.*', read: '.*' };
  const permissions = users.map(({ name }) => ({ ...all, user: name }));
  writeFileSync(`${HOME}/all.json`, JSON.stringify({ vhosts: [{ name: '/' }], users, permissions }));
  writeFileSync(
    `${HOME}/rabbitmq.conf`,
    `load_definitions = ${HOME}/all.json
listeners.tcp = none
mqtt.listeners.tcp.1 = 127.0.0.1:1883
mqtt.listeners.ssl.1 = 10.9.0.1:8883
mqtt.listeners.ssl.2 = fd00:9::1:8883
ssl_options.certfile = ${BED}/hub.pem
ssl_options.keyfile = ${BED}/hub.key
ssl_options.cacertfile = ${BED}/ca.pem
mqtt.allow_anonymous = false
`,
  );
  writeFileSync(`${HOME}/plugins`, '[rabbitmq_mqtt].');
  const variables = `HOME=${HOME} RABBITMQ_NODENAME=rabbit@localhost RABBITMQ_CONFIG_FILE=${HOME}/rabbitmq.conf RABBITMQ_ENABLED_PLUGINS_FILE=${HOME}/plugins RABBITMQ_MNESIA_BASE=${HOME}/rabbit RABBITMQ_LOG_BASE=${HOME}/rabbit`;
  start('env', [...variables.split(' '), '/usr/lib/rabbitmq/bin/rabbitmq-server']);
  while (!readFileSync(`${HOME}/log`, 'utf8').includes('completed with')) await sleep(50); // it listens before
}

/** Of the kiosk. */
const ARGUMENTS = ['identity.json', 'place/keyring.json', 'ca.pem'];
/** What the kiosk prints that is no complaint. */
const QUIET = /^(?:Computing|Connected to|You are talking to|Hello\. Ask me|You said: )/;

/** Of what a test runner prints, which has much to say, the kiosk’s complaints. */
const TELLING = /Check |Ask |[Cc]onnecting again|\bError\b/;

/** Runs the kiosk until it is answered, or has said what is wrong. */
async function runKiosk(before: readonly string[], says: RegExp | undefined): Promise<Seen> {
  const began = performance.now();
  const clock = network.clock === undefined ? [] : ['faketime', network.clock];
  const user = ['setpriv', '--reuid=4242', '--regid=4242', '--clear-groups'];
  const [program, ...args] = [
    ...before,
    ...user,
    ...clock,
    ...command,
    ...(isRunner ? [] : ARGUMENTS),
  ] as const;
  const [PATH, on] = [process.env.PATH, '1'];
  const env = {
    ...{ PATH, HOME, FAKETIME_DONT_FAKE_MONOTONIC: on, NODE_NO_WARNINGS: on, NO_COLOR: on },
    ...{ DENO_NO_UPDATE_CHECK: on, SITE_ARGUMENTS: JSON.stringify(ARGUMENTS), SITE_INPUT: `${HOME}/input` },
  };
  if (isRunner) sh('rm -f input; mkfifo input; chmod 666 input');
  const child = spawn(program!, args, { cwd: HOME, env, stdio: ['pipe', 'pipe', 'pipe'] });
  const exit = once(child, 'exit');
  const input = isRunner ? createWriteStream(`${HOME}/input`, { flags: 'r+' }) : child.stdin;
  input.on('error', () => {});
  let printed = '';
  let asked = 0;
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (printed += data));
  /** Without lines of a bundle, which has every sentence: Node.js shows the one that an error comes from. */
  const shown = (): string => printed.replace(/^.{2000,}$/gm, '');
  const has = (pattern: RegExp): boolean => pattern.test(shown().replace(/\n/g, ' '));
  const isOver = (): boolean =>
    child.exitCode !== null ||
    (asked > 0 && has(/Hello\. Ask me|You said: /)) ||
    (says !== undefined && has(says));
  for (let waited = 0; waited < 1800 && !isOver(); waited++) {
    await sleep(50);
    if (asked === 0 && /Connected to/.test(printed)) {
      if (network.addresses?.includes('10.9.0.3')) await sleep(11_000);
      input.write(`${broker.question ?? 'hello'}\n`);
      asked = performance.now();
    }
  }
  const wasAnswered = has(/Hello\. Ask me|You said: /);
  await sleep(network.line === undefined ? 300 : 3000); // until the answer is complete
  input.end();
  const ended = (await Promise.race([exit, sleep(15_000, false)])) !== false;
  if (process.env.SITE_SHOW) console.error(printed);
  const complaints = shown()
    .split('\n')
    .map((text) => text.trim())
    .filter((text) => text !== '' && !QUIET.test(text) && (!isRunner || TELLING.test(text)));
  const seconds = Math.round((performance.now() - began) / 100) / 10;
  const isLate = says !== undefined && says === disk.says && has(/Computing|Connected to/); // what a disk cannot do
  const isRight = says === undefined ? wasAnswered && ended && complaints.length === 0 : has(says) && !isLate;
  const said = complaints.find((text) => isRight && says?.test(text)) ?? complaints.join(' ').slice(0, 500);
  const what = isRight && says === undefined ? 'connected' : said || 'nothing was said';
  return { isRight, what: ended ? what : `${what} (and did not end)`, seconds };
}

async function main(): Promise<Seen> {
  sh('mount -t tmpfs tmpfs .');
  sh('ip link set lo up; chown 4242 .; cp /mnt/bed/ca.pem .');
  writeFileSync(`${HOME}/log`, '');
  const before = await startLine();
  await startResolver();
  const identity = await startServer();
  writeFileSync(`${HOME}/identity.json`, JSON.stringify(identity));
  sh('chmod 600 identity.json; chown 4242 identity.json');
  for (const port of [443, 8883]) forward('10.9.0.3', port, port, { at: ADDRESSES[0]!, idle: 10_000 });
  const portal = { key: readFileSync(`${BED}/portal.key`), cert: readFileSync(`${BED}/portal.pem`) };
  for (const port of [443, 8883])
    createTlsServer(portal, (socket) =>
      socket.end('HTTP/1.1 302 Found\r\nLocation: http://login.test/\r\n\r\n'),
    )
      .on('tlsClientError', () => {})
      .listen(port, '10.9.0.4');
  sh(disk.script, { PINNED: `${BED}/pinned/keyring.json`, NEW: `${BED}/new.json` });
  const { says } = [disk, network, front, broker].find((value) => value.says !== undefined) ?? {};
  const first = await runKiosk(before, says);
  if (!first.isRight || says !== undefined) return first;
  try {
    sh(disk.between ?? 'true');
  } catch {
    return { ...first, isRight: false, what: `after the first start it is not so: ${disk.between}` };
  }
  const next = await runKiosk(before, disk.saysNext);
  return {
    ...next,
    what: next.isRight ? (disk.saysNext ? `connected; then: ${next.what}` : next.what) : `next: ${next.what}`,
    seconds: first.seconds + next.seconds,
  };
}

const seen = await main().catch(
  (error: Error): Seen => ({
    isRight: false,
    isOfBed: true,
    what: `${error.message} ${(error as { stderr?: string }).stderr ?? ''}`,
    seconds: 0,
  }),
);
process.stdout.write(JSON.stringify(seen), () => process.exit());

/**
 * Runs the library for long, and with much of everything: docs/evidence/searches.md.
 *
 *     evidence/searches/soak/run
 *     evidence/searches/soak/run --over MQTT --messages 10000 --reconnects 100 --sessions 100
 *     evidence/searches/soak/run --write
 */
import { type ChildProcess, fork } from 'node:child_process';
import { parseArgs } from 'node:util';
import { randomBytes } from 'hub-protocol/node';
import { grouped, table } from '../../../tools/draw.ts';
import { writeMeasured } from '../../../tools/measured.ts';
import { Client, clients, type Over, reset } from './client.ts';
import { floods } from './floods.ts';
import type { HubReport, HubTask } from './hub.ts';
import { fillCacheOfLengths, memoryInUse, Samples } from './memory.ts';

const MIB = 2 ** 20;
/** By how much the memory in use may grow, in bytes. What leaks 8 bytes with each message is found in a million. */
const SLACK = 4 * MIB;
/** How many devices connect at the same time. */
const DEVICES = 20;

const { values: options } = parseArgs({
  options: {
    over: { type: 'string', multiple: true, default: ['WebSocket', 'MQTT'] },
    messages: { type: 'string', default: '1000000' },
    reconnects: { type: 'string', default: '10000' },
    sessions: { type: 'string', default: '10000' },
    'flood-minutes': { type: 'string', default: '60' },
    'flood-clients': { type: 'string', default: '600' },
    write: { type: 'boolean', default: false },
  },
});
/** By how much the memory of a flooded hub may grow, and for how long it may stand still. */
const MOST_FLOODED = 128 * MIB;
const MOST_LAG = 200;

const psk = randomBytes(32);
const rows: string[][] = [];
let told = Date.now();

for (const over of options.over) {
  if (over !== 'WebSocket' && over !== 'MQTT') throw new Error('"over" is WebSocket or MQTT');
  reset();
  const broker = over === 'MQTT' ? start('broker.ts') : undefined;
  const url = broker && (await answer<string>(broker));
  if (over === 'MQTT') fillCacheOfLengths();
  const hub = start('hub.ts');
  hub.send({
    psk: Buffer.from(psk).toString('hex'),
    ...(url !== undefined && { broker: url }),
  } satisfies HubTask);
  const at = await answer<string>(hub);
  for (const [part, count] of [
    [messages, Number(options.messages)],
    [reconnects, Number(options.reconnects)],
    [sessions, Number(options.sessions)],
  ] as const)
    if (count > 0) await part(over, at, hub, count); // 0 leaves a part out, here and below
  hub.kill();
  broker?.kill();
}
if (Number(options['flood-minutes']) > 0) await flooded(Number(options['flood-minutes']));
if (options.write) {
  const soak = `${table(['what', 'over', '', 'memory'], rows)}\n\nWith Node.js ${process.versions.node}.`;
  writeMeasured('docs/evidence/searches.md', Number(options.messages) > 0 ? { soak } : { flood: soak });
}
process.exit();

/** Messages through one session, each of which the hub answers. */
async function messages(over: Over, url: string, hub: ChildProcess, count: number): Promise<void> {
  const began = Date.now();
  const client = new Client(over, url, psk, 'talker');
  const [own, theirs] = [new Samples(), new Samples()];
  await client.connect();
  const portion = Math.ceil(count / 30);
  for (let sent = 0; sent < count; sent += portion) {
    await client.exchange(Math.min(portion, count - sent));
    own.add(await memoryInUse());
    theirs.add((await ask(hub)).memory);
    progress(`messages over ${over}`, sent / count);
  }
  await client.end('close');
  await settle(hub);
  done(
    `${grouped(count)} messages and as many answers, through one session`,
    over,
    began,
    '',
    growth(own.growth, theirs.growth),
  );
}

/** Connections of devices that have two messages each, and are closed or cut. */
async function reconnects(over: Over, url: string, hub: ChildProcess, count: number): Promise<void> {
  const began = Date.now();
  const before = clients.kkpsk0;
  const devices = Array.from(
    { length: Math.min(DEVICES, count) },
    (_, i) => new Client(over, url, psk, `device-${i}`),
  );
  const [own, theirs] = [new Samples(), new Samples()];
  const rounds = Math.ceil(count / devices.length);
  for (let round = 0; round < rounds; round++) {
    await Promise.all(
      devices.map(async (device, i) => {
        await device.connect();
        await device.exchange(2);
        await device.end((round + i) % 2 === 0 ? 'close' : 'cut');
      }),
    );
    if (round % Math.ceil(rounds / 30) === 0) {
      theirs.add((await settle(hub)).memory);
      own.add(await memoryInUse());
    }
    progress(`reconnects over ${over}`, round / rounds);
  }
  await settle(hub);
  if (clients.kkpsk0 - before !== (rounds - 1) * devices.length)
    throw new Error('a device did not use the pinned key');
  const what = `${grouped(rounds * devices.length)} connections of ${devices.length} devices`;
  done(what, over, began, 'all but the first of each with KKpsk0', growth(own.growth, theirs.growth));
}

/** Sessions at the same time; a tenth as many before them, so that what is allocated once is there already. */
async function sessions(over: Over, url: string, hub: ChildProcess, count: number): Promise<void> {
  const began = Date.now();
  await atOnce(over, url, hub, Math.ceil(count / 10));
  const before = [await memoryInUse(), (await ask(hub)).memory] as const;
  const open = await atOnce(over, url, hub, count);
  const after = [await memoryInUse(), (await ask(hub)).memory] as const;
  const sizeOf = (i: 0 | 1): string => `${((open[i] - before[i]) / count / 1024).toFixed(1)} KiB`;
  const left = growth(after[0] - before[0], after[1] - before[1]);
  const size = `for each ${sizeOf(0)} at the clients and ${sizeOf(1)} at the hub, with its socket; afterwards ${left}`;
  done(`${grouped(count)} sessions at once, with ten messages and answers each`, over, began, '', size);
}

/** Connects so many clients, exchanges ten messages with each, and closes all. Returns the memory in use while all were ready, of both sides. */
async function atOnce(
  over: Over,
  url: string,
  hub: ChildProcess,
  count: number,
): Promise<readonly [number, number]> {
  const all = Array.from({ length: count }, (_, i) => new Client(over, url, psk, `session-${i}`));
  await each(all, `sessions over ${over}`, (client) => client.connect());
  const { open, memory } = await ask(hub);
  if (open !== count) throw new Error(`the hub has ${open} sessions`);
  const own = await memoryInUse();
  await each(all, `messages of the sessions over ${over}`, (client) => client.exchange(10));
  await each(all, `ends over ${over}`, (client) => client.end('close'));
  hub.send('forget'); // the keys of the clients, which it would keep
  await settle(hub);
  return [own, memory];
}

/** A hub that strangers flood while a client goes on asking. */
async function flooded(minutes: number): Promise<void> {
  const began = Date.now();
  const others = Number(options['flood-clients']);
  const { attacks, answers, slowest, memory, lag, lost } = await floods(minutes, others);
  if (lost > 0) throw new Error(`${lost} connections of clients that were ready have ended`);
  if (memory > MOST_FLOODED) throw new Error(`the memory of the flooded hub has grown by ${memory} bytes`);
  if (lag > MOST_LAG) throw new Error(`the flooded hub stood still for ${lag} ms`);
  const what = `a hub with ${grouped(others)} other clients, at which strangers have done ${grouped(attacks)} attacks`;
  const figures = `${grouped(answers)} answers, the slowest in ${(slowest / 1000).toFixed(1)} s`;
  done(
    what,
    'WebSocket',
    began,
    figures,
    `${signed(memory)} at the hub, which stood still for ${lag.toFixed()} ms`,
  );
}

/** Does something with all clients, a hundred at a time. */
async function each(
  all: readonly Client[],
  what: string,
  act: (client: Client) => Promise<void>,
): Promise<void> {
  for (let i = 0; i < all.length; i += 100) {
    await Promise.all(all.slice(i, i + 100).map(act));
    progress(what, i / all.length);
  }
}

/** Waits until the hub knows that all has ended, and compares what both sides have counted. */
async function settle(hub: ChildProcess): Promise<HubReport> {
  for (let tries = 0; ; tries++) {
    const seen = await ask(hub);
    const { sessions, ready, ended, received, sent, open } = seen;
    const counted = [sessions, ready, ended, received, sent, open].join();
    const expected = [clients.dials, clients.ready, clients.ended, clients.sent, clients.received, 0].join();
    if (counted === expected) return seen;
    if (tries === 100) throw new Error(`the hub counted ${counted}, the clients ${expected}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

function start(program: string): ChildProcess {
  const child = fork(new URL(program, import.meta.url));
  child.on('exit', (code) => code && process.exit(code));
  return child;
}

function ask(hub: ChildProcess): Promise<HubReport> {
  hub.send('report');
  return answer<HubReport>(hub);
}

function answer<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve) => child.once('message', (message) => resolve(message as T)));
}

function growth(client: number, hub?: number): string {
  for (const bytes of [client, hub ?? 0])
    if (bytes > SLACK) throw new Error(`the memory in use has grown by ${bytes} bytes`);
  const own = signed(client);
  return hub === undefined ? own : `${own} at the clients, ${signed(hub)} at the hub`;
}

function signed(bytes: number): string {
  return `${bytes < 0 ? '−' : '+'}${(Math.abs(bytes) / MIB).toFixed(2)} MiB`;
}

function progress(what: string, share: number): void {
  const text = `${what}: ${Math.round(100 * share)} %`;
  if (process.stdout.isTTY) process.stdout.write(`\r\x1b[K${text}`);
  else if (Date.now() - told > 300_000) {
    told = Date.now();
    console.log(text);
  }
}

function done(what: string, over: Over, began: number, figures: string, memory: string): void {
  const seconds = `${Math.ceil((Date.now() - began) / 1000)} s`;
  const row = [what, over, figures === '' ? seconds : `${figures}; ${seconds}`, memory];
  rows.push(row);
  progress(what, 1);
  if (process.stdout.isTTY) process.stdout.write('\r\x1b[K');
  console.log(row.join(' | '));
}

/** What can happen next in a world: what happens by itself or by chance, and what an attacker does. */
import type { Data, Side } from '../../../test/world/line.ts';
import type { Item } from './connection.ts';
import { HUB_KEY } from './scenarios.ts';
import type { Act as NamedAct } from './search.ts';
import type { World } from './world.ts';

type Act = NamedAct<World>;

const SIDES = ['client', 'hub'] as const;

/**
 * What happens by itself or by chance. The first is what happens if nobody interferes: messages arrive in order, who waits in
 * vain gives up, and who may dial does.
 */
export function freeActs(world: World): Act[] {
  const { connection, policy, scenario } = world;
  if (connection === undefined) {
    const restart: Act = ['restart', (world) => world.restart()];
    if (policy.state === 'resting') return [['resume', (world) => world.policy.resume()], restart];
    const dial: Act = ['dial', (world) => world.dial()];
    if (world.asked === undefined) return [dial];
    const person: Act = ['a person acts', (world) => world.consult()];
    return scenario.isForPerson ? [person, dial, restart] : [dial, person, restart];
  }
  const { queues, pending, client, isSteady } = connection;
  const acts: Act[] = [];
  if (pending !== undefined) acts.push(['answer', (world) => world.answer()]);
  for (const side of SIDES) {
    if (queues[side].length > 0) acts.push([`deliver to ${side}`, (world) => arrive(world, side)]);
  }
  const isSilent = acts.length === 0;
  if (client.state !== 'ready') {
    if (isSilent || (scenario.overMqtt && pending === undefined))
      acts.push(['time-out', (world) => world.end('timeout')]);
  } else if (isSilent && !world.isConnected) acts.push(['no answer', (world) => world.end('timeout')]);
  else if (isSilent && !isSteady) acts.push(['time passes', (world) => world.pass()]);
  if (scenario.overMqtt) {
    for (const side of SIDES) {
      if (queues[side].length > 0)
        acts.push([`lose for ${side}`, (world) => void world.connection!.queues[side].shift()]);
    }
  }
  acts.push(['break', (world) => world.end(1006)]);
  acts.push(['restart', (world) => world.restart()]);
  return acts;
}

function arrive(world: World, side: Side): void {
  world.deliver(side, world.connection!.queues[side].shift()!);
}

/** What an attacker can do, or the client’s user, and what goes wrong on either side. */
export function attacks(world: World): Act[] {
  const { connection, policy } = world;
  const acts: Act[] = [];
  if (policy.state !== 'resting' && policy.state !== 'leaving')
    acts.push(['goodbye', (world) => world.policy.goodbye()]);
  if (policy.state === 'leaving' || policy.state === 'waiting')
    acts.push(['resume', (world) => world.policy.resume()]);
  if (connection === undefined) {
    if (policy.state === 'idle' || policy.state === 'waiting')
      acts.push(['divert', (world) => world.dial(true)]);
    return acts;
  }
  if (connection.pending !== undefined)
    acts.push(['answer with a fault', (world) => world.fault(() => world.answer())]);
  for (const [name, closing] of CLOSINGS) acts.push([name, (world) => world.end(closing)]);
  for (const side of SIDES) {
    onQueue(world, side, acts);
    for (const [label, data] of forgeries(world)) {
      acts.push([`send ${label} to ${side}`, (world) => inject(world, side, label, data)]);
    }
    const old = Object.entries(world.recorded).map(([place, item]) => ({
      ...item,
      label: `an earlier ${place}`,
    }));
    for (const item of [
      ...connection.sent.filter(({ kind }) => kind === 'message' || kind === 'frame'),
      ...old,
    ]) {
      acts.push([
        `replay ${item.label} to ${side}`,
        (world) => world.deliver(side, { ...item, label: `again ${item.label}` }),
      ]);
    }
  }
  return acts;
}

const CLOSINGS = [
  ['close with 1008', 1008],
  ['close with 1002', 1002],
  ['answer 401', { status: 401 }],
  ['answer 503', { status: 503 }],
] as const;

function inject(world: World, side: Side, label: string, data: Data): void {
  world.deliver(side, { label, kind: 'message', data, from: side === 'client' ? 'hub' : 'client' });
}

/** Messages that anybody can write. */
function forgeries(world: World): [string, Data][] {
  const forged: [string, string][] = [
    ['garbage', 'x'],
    ['a bus message', '{"msg_type":"bus","payload":{}}'],
    ['a HELLO', '{"msg_type":"hello","payload":{"node_id":"hub-1"}}'],
    ['another HELLO', '{"msg_type":"hello","payload":{"node_id":"hub-2"}}'],
    ['an offer', '{"msg_type":"shake","payload":{"max_protocol_version":3,"noise":{"patterns":["XXpsk2"],"suites":["25519_ChaChaPoly_SHA256"]}}}'],
    ['an empty message', '{"msg_type":"shake","payload":{"noise":{"msg":""}}}'],
  ]; // biome-ignore format: a list
  const texts: [string, Data][] = forged.map(([name, text]) => [
    name,
    world.scenario.overMqtt ? Buffer.from(text) : text,
  ]);
  texts.push(
    ['a HELLO as bytes', Buffer.from(forged[2]![1])],
    ['random bytes', new Uint8Array(40).fill(0xa5)],
  );
  return texts;
}

/** What can be done to the next message: it is lost, repeated, overtaken, or changed. */
function onQueue(world: World, side: Side, acts: Act[]): void {
  const queue = world.connection!.queues[side];
  const item = queue[0];
  if (item === undefined || item.kind === 'close') return;
  acts.push([`fault at ${side}`, (world) => world.fault(() => arrive(world, side))]);
  const act = (name: string, happens: (queue: Item[], world: World) => void): void => {
    acts.push([`${name} ${item.label}`, (world) => happens(world.connection!.queues[side], world)]);
  };
  act('lose', (queue) => void queue.shift());
  act('repeat', (queue, world) => world.deliver(side, queue[0]!));
  if (queue.length > 1) act('delay', (queue) => void queue.splice(1, 0, queue.shift()!));
  for (const [name, data] of changes(item)) {
    act(name, (queue) => void queue.splice(0, 1, { ...item, data, label: `${name} ${item.label}` }));
  }
}

interface Payload {
  node_id?: string;
  max_protocol_version?: number;
  added?: number;
  noise?: { patterns?: string[]; suites?: string[]; pattern?: string; suite?: string; msg?: string };
}

/** The changes of a message that make a difference of their own. */
function changes({ kind, data }: Item): [string, Data][] {
  if (kind === 'frame') {
    const bytes = data as Uint8Array;
    return [['flip', flipped(bytes, 0)], ['cut', bytes.slice(0, 15)]]; // biome-ignore format: pairs
  }
  const text = typeof data === 'string' ? data : Buffer.from(data).toString();
  const changed = (name: string, change: (payload: Payload) => void): [string, Data] => {
    const envelope = JSON.parse(text) as { payload: Payload };
    change(envelope.payload);
    const result = JSON.stringify(envelope);
    return [name, typeof data === 'string' ? result : Buffer.from(result)];
  };
  const added = changed('add a field to', (payload) => Object.assign(payload, { added: 1 }));
  if (kind === 'hello')
    return [added, changed('rename', (payload) => Object.assign(payload, { node_id: 'hub-2' }))];
  if (kind === 'offer') {
    return [
      added,
      changed('remove KKpsk0 from', ({ noise }) => Object.assign(noise!, { patterns: ['XXpsk2'] })),
      changed('remove XXpsk2 from', ({ noise }) => Object.assign(noise!, { patterns: ['KKpsk0'] })),
      changed('leave AESGCM alone in', ({ noise }) =>
        Object.assign(noise!, { suites: ['25519_AESGCM_SHA256'] }),
      ),
      changed('lower the version of', (payload) => Object.assign(payload, { max_protocol_version: 2 })),
    ];
  }
  const message = (name: string, change: (bytes: Buffer) => Uint8Array): [string, Data] =>
    changed(name, ({ noise }) => {
      noise!.msg = Buffer.from(change(Buffer.from(noise!.msg!, 'hex'))).toString('hex');
    });
  return [
    added,
    message('damage the key of', (bytes) => flipped(bytes, 0)),
    message('put zeros for the key of', (bytes) => bytes.fill(0, 0, Math.min(32, bytes.length))),
    message('put the key of the hub for the key of', (bytes) => Buffer.concat([HUB_KEY, bytes.subarray(32)])),
    message('damage the static key of', (bytes) => flipped(bytes, 40)),
    message('damage the end of', (bytes) => flipped(bytes, bytes.length - 1)),
    message('cut', (bytes) => bytes.subarray(0, 20)),
    changed('rename the pattern of', ({ noise }) => {
      noise!.pattern = noise!.pattern === 'XXpsk2' ? 'KKpsk0' : 'XXpsk2';
      if (noise!.suite === undefined) noise!.suite = '25519_ChaChaPoly_SHA256';
    }),
    changed('rename the suite of', ({ noise }) => Object.assign(noise!, { suite: '25519_AESGCM_SHA256' })),
    changed('take the pattern from', ({ noise }) => {
      delete noise!.pattern;
      delete noise!.suite;
    }),
  ];
}

function flipped(bytes: Uint8Array, at: number): Uint8Array {
  const copy = Uint8Array.from(bytes);
  copy[Math.min(at, copy.length - 1)]! ^= 0x80;
  return copy;
}

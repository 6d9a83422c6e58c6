/** What can happen next in a world: what happens by itself or by chance, and what an attacker does, the program or a person. */
import { forgetPsks, type Keyring, pinHub } from '../../../src/index.ts';
import type { Data, Side } from '../../../test/world/line.ts';
import { toyCrypto } from '../../../test/world/toy-crypto.ts';
import { violation } from './laws.ts';
import {
  CLIENT_KEY,
  CLIENT_STATIC,
  GUESSED_PSK,
  HUB_KEY,
  IMPOSTOR_STATIC,
  keyOf,
  NODE_ID,
  PSK,
} from './scenarios.ts';
import type { Item } from './transport.ts';
import { insideOf, type World } from './world.ts';

/** Something that can happen, by its name. */
export type Act = readonly [name: string, happens: (world: World) => void];

const SIDES = ['client', 'hub'] as const;

/**
 * What happens by itself or by chance, in any order. The first is what happens if nobody interferes. Time passes only where nothing
 * else can happen.
 */
export function freeActs(world: World): Act[] {
  const { link, connection, storing, deriving, computing } = world;
  const acts: Act[] = [];
  const persons: Act[] = [];
  const isShown = link.state === 'waiting' && connection === undefined && world.shown === 'refused';
  if (isShown && world.pinned !== undefined) persons.push(['a person resets the client at the hub', forget]);
  const isAsked = link.state === 'asking' && connection === undefined && storing === undefined;
  if (isAsked) persons.push(['a person acts', consult]);
  const isForPerson = world.scenario.isForPerson || world.hasTrustedAnother;
  if (isForPerson) acts.push(...persons);
  if (storing !== undefined) acts.push(['the store answers', (own) => own.answerStore()]);
  if (deriving !== undefined) acts.push(['derived', (own) => answerDerivation(own, PSK)]);
  if (computing !== undefined) acts.push(['computed', compute]);
  if (connection !== undefined) {
    const { hub, queues } = connection;
    if (hub === undefined) acts.push(['the hub greets', (own) => own.greet()]);
    if (queues.client.length > 0) acts.push(['deliver to client', (own) => arrive(own, 'client')]);
    if (hub !== undefined && queues.hub.length > 0)
      acts.push(['deliver to hub', (own) => arrive(own, 'hub')]);
  }
  if (link.state === 'ended') acts.push(['start', (own) => own.call('start')]);
  const { deadline } = link;
  const isDue = deadline !== undefined && deadline <= world.now;
  if (isDue || (acts.length === 0 && deadline !== undefined)) acts.push(['wake', (own) => wake(own, 0)]);
  if (acts.length === 0 && connection !== undefined && !world.isConnected)
    acts.push(['the network gives up', (own) => own.end({ code: 1006 })]);
  if (connection !== undefined) acts.push(['break', (own) => own.end({ code: 1006 })]);
  if (world.scenario.overMqtt && connection !== undefined) {
    for (const side of SIDES)
      if (connection.queues[side].length > 0)
        acts.push([`lose for ${side}`, (own) => own.queue(side, own.connection!.queues[side].slice(1))]);
  }
  if (acts.length === 0 && persons.length > 0) acts.push(['nobody comes', () => undefined]);
  if (!isForPerson) acts.push(...persons);
  acts.push(['restart', (own) => own.restart()]);
  return acts;
}

/** What an attacker can do, the program and the person wish, and what goes wrong on either side. */
export function attacks(world: World): Act[] {
  const { link, connection, storing, deriving, computing, connections, derivations, now } = world;
  const acts: Act[] = [
    ['ask', (own) => own.call('ask', own.question())],
    ['ask, for 5 seconds', (own) => own.call('ask', own.question(), 5000)],
    ['send', (own) => own.call('send', { a: 1 })],
    ['send what cannot be sent', (own) => own.call('send', { a: Number.NaN })],
    ['change', (own) => own.call('change', forgetPsks)],
    ['trust', (own) => own.call('trust')],
    ['start again', (own) => own.call('start')],
    ['wake early', (own) => own.call('wake')],
    [
      'a store answers that was not asked',
      (own) => own.storing === undefined && own.call('stored', undefined),
    ],
    ['a minute passes', (own) => own.pass(60_000)],
  ];
  const { unsent, sent } = insideOf(link).questions;
  const [question] = [...unsent, ...Object.values(sent)];
  if (question !== undefined) acts.push(['cancel', (own) => own.call('cancel', question.envelope)]);
  if (link.state !== 'ended') acts.push(['end', (own) => own.call('end')]);
  if (link.deadline !== undefined && link.deadline > now)
    acts.push(['wake late', (own) => wake(own, 60_000)]);
  if (link.deadline !== undefined)
    acts.push(['wake without entropy', (own) => own.withFault('entropy', () => wake(own, 0))]);
  if (storing !== undefined)
    acts.push(['the store fails', (own) => own.answerStore(new Error('the disk is full'))]);
  if (deriving !== undefined) {
    acts.push(['the derivation fails', (own) => answerDerivation(own, new Error('no memory'))]);
    acts.push(['derived with another password', (own) => answerDerivation(own, keyOf('another psk'))]);
    acts.push(['derived with another length', (own) => answerDerivation(own, new Uint8Array(31))]);
  } else if (derivations > 0) acts.push(['derived late', (own) => own.call('derived', own.derivations, PSK)]);
  if (derivations > 1)
    acts.push(['derived too late', (own) => own.call('derived', own.derivations - 1, PSK)]);
  if (computing !== undefined)
    acts.push(['the chip fails', (own) => answerComputation(own, new Error('no chip'))]);
  if (storing ?? deriving ?? computing)
    acts.push(['answer with a fault', (own) => own.withFault('cryptography', () => answer(own))]);
  const old = connection === undefined ? connections : connections - 1;
  if (old > 0) {
    acts.push(['late text', (own) => own.call('received', old, '{}')]);
    acts.push(['late end', (own) => own.call('closed', old, { code: 1008 })]);
    acts.push(['computed late', (own) => own.call('computed', old, new Uint8Array(32).fill(9))]);
    acts.push(['opened late', (own) => own.call('opened', old)]);
  }
  if (connection === undefined) return acts;
  const { hub, queues, number } = connection;
  for (const code of [1000, 1008, 1002]) acts.push([`close ${code}`, (own) => own.end({ code })]);
  acts.push(['no transport', (own) => own.end(new Error('this address cannot be opened'))]);
  acts.push(['refused', (own) => own.end({ status: 401 })]);
  acts.push(['busy', (own) => own.end({ status: 503, retryAfter: 30_000 })]);
  acts.push(['break without entropy', (own) => own.withFault('entropy', () => own.end(undefined))]);
  acts.push(['break twice', (own) => {
    own.end({ code: 1006 });
    own.call('closed', number, { code: 1008 });
  }]); // biome-ignore format: one act
  if (hub === undefined) {
    acts.push(['another hub greets', (own) => own.greet({ nodeId: 'hub-2', staticKey: HUB_2 })]);
    acts.push(['a hub with another key greets', (own) => own.greet({ staticKey: IMPOSTOR_STATIC })]);
    acts.push(['a hub with another password greets', (own) => own.greet({ psk: keyOf('another psk') })]);
    const impostor = { staticKey: IMPOSTOR_STATIC, clientKey: CLIENT_KEY };
    acts.push(['an impostor greets', (own) => own.greet({ ...impostor, psk: GUESSED_PSK })]);
    acts.push(['an impostor who knows the password greets', (own) => own.greet(impostor)]);
  } else acts.push(['opened', (own) => own.call('opened', number)]);
  for (const side of SIDES) {
    if (side === 'hub' && hub === undefined) continue;
    onQueue(world, side, acts);
    for (const [label, data] of forgeries(world)) {
      const from = side === 'client' ? 'hub' : 'client';
      const item: Item = { label, kind: 'message', data, from };
      acts.push([`send ${label} to ${side}`, (own) => own.deliver(side, item)]);
    }
    const sent = connection.sent.filter(({ kind }) => kind === 'message' || kind === 'frame');
    const old = Object.entries(world.recorded).map(([place, item]) => ({
      ...item,
      label: `an earlier ${place}`,
    }));
    for (const item of [...sent, ...old])
      acts.push([
        `replay ${item.label} to ${side}`,
        (own) => own.deliver(side, { ...item, label: `again ${item.label}` }),
      ]);
  }
  if (queues.client.length + queues.hub.length > 0 && link.deadline !== undefined)
    acts.push(['a slow network', (own) => wake(own, 0)]);
  return acts;
}

const HUB_2 = keyOf('hub-2');

/** What is waited for is answered. */
function answer(world: World): void {
  if (world.storing !== undefined) world.answerStore();
  else if (world.deriving !== undefined) answerDerivation(world, PSK);
  else compute(world);
}

function wake(world: World, late: number): void {
  world.now = Math.max(world.now, world.link.deadline! + late);
  world.call('wake');
}

function answerDerivation(world: World, answer: Uint8Array | Error): void {
  const { derivation } = world.deriving!;
  world.deriving = undefined;
  world.call('derived', derivation, answer);
}

/** The chip computes, with which the link always goes on. */
function compute(world: World): void {
  const { publicKey } = world.computing!;
  const { link, connection } = world;
  const { session } = insideOf(link);
  const before = session?.state;
  answerComputation(world, toyCrypto.x25519.sharedSecret(CLIENT_STATIC, publicKey));
  const after = insideOf(link);
  const isHeld = after.inputs.length > 0 || world.storing !== undefined;
  const goesOn = after.session !== session || session?.state !== before || after.isPaced || world.computing;
  if (connection !== undefined && !isHeld && !goesOn) violation('an answer changed nothing');
}

function answerComputation(world: World, answer: Uint8Array | Error): void {
  const { connection } = world.computing!;
  world.computing = undefined;
  world.call('computed', connection, answer);
}

/** A person sees why a link dials on, and lets the hub forget its key. */
function forget(world: World): void {
  world.pinned = undefined;
}

/** A person does what the error says. */
function consult(world: World): void {
  const { asked } = world;
  if (asked === 'client-key-refused') forget(world);
  if (asked === 'hub-key-changed') world.call('trust');
  else if (asked === 'unknown-hub' && world.scenario.trust) world.call('change', pinTheHub);
  else world.call('start');
}

function pinTheHub(keyring: Keyring): Keyring {
  return pinHub(keyring, NODE_ID, HUB_KEY);
}

function arrive(world: World, side: Side): void {
  const [first, ...others] = world.connection!.queues[side];
  world.queue(side, others);
  world.deliver(side, first!);
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
function onQueue({ connection }: World, side: Side, acts: Act[]): void {
  const [item, second, ...others] = connection!.queues[side];
  if (item === undefined || item.kind === 'close') return;
  acts.push([`fault at ${side}`, (own) => own.withFault('cryptography', () => arrive(own, side))]);
  const after = (second === undefined ? [] : [second, ...others]) as Item[];
  const act = (name: string, items: readonly Item[]): void => {
    acts.push([`${name} ${item.label}`, (own) => own.queue(side, items)]);
  };
  act('lose', after);
  act('repeat', [item, item, ...after]);
  if (second !== undefined) act('delay', [second, item, ...others]);
  for (const [name, data] of changes(item))
    act(name, [{ ...item, data, label: `${name} ${item.label}` }, ...after]);
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

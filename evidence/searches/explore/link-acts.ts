/** What can happen next around a ClientLink, and which of its worlds are alike. */
import { forgetPsks } from '../../../src/index.ts';
import { toyCrypto } from '../../../test/world/toy-crypto.ts';
import { isRecent } from './describe.ts';
import { insideOf, type LinkWorld, type Sent } from './link-world.ts';
import { CLIENT_STATIC, IMPOSTOR_STATIC, keyOf, PSK, short, storedLabel } from './scenarios.ts';
import type { Act } from './search.ts';

type LinkAct = Act<LinkWorld>;

/**
 * What happens by itself, in any order. The first is what happens if nobody interferes. Time passes only where nothing else can
 * happen.
 */
export function freeLinkActs(world: LinkWorld): LinkAct[] {
  const { link, connection, storing, deriving, computing } = world;
  const acts: LinkAct[] = [];
  const persons: LinkAct[] = [];
  const isShown = link.state === 'waiting' && connection === undefined && world.shown === 'refused';
  if (isShown && world.pinned !== undefined) persons.push(['a person resets the client at the hub', forget]);
  const isAsked = link.state === 'asking' && connection === undefined && storing === undefined;
  if (isAsked) persons.push(['a person acts', consult]);
  const isForPerson = world.scenario.isForPerson || world.hasTrustedAnother;
  if (isForPerson) acts.push(...persons);
  if (storing !== undefined) acts.push(['the store answers', (own) => own.answerStore()]);
  if (deriving !== undefined) acts.push(['derived', (own) => answerDerivation(own, PSK)]);
  if (computing !== undefined) {
    const secret = toyCrypto.x25519.sharedSecret(CLIENT_STATIC, computing.publicKey);
    acts.push(['computed', (own) => answerComputation(own, secret)]);
  }
  if (connection !== undefined) {
    const { hub, toLink, toHub } = connection;
    if (hub === undefined) acts.push(['the hub greets', (own) => own.greet()]);
    if (toLink.length > 0) acts.push(['deliver to link', (own) => deliver(own, 'toLink')]);
    if (hub !== undefined && toHub.length > 0) acts.push(['deliver to hub', (own) => deliver(own, 'toHub')]);
  }
  if (link.state === 'ended') acts.push(['start', (own) => own.call('start')]);
  const { deadline } = link;
  const isDue = deadline !== undefined && deadline <= world.now;
  if (isDue || (acts.length === 0 && deadline !== undefined && !world.isConnected))
    acts.push(['wake', (own) => wake(own, 0)]);
  if (acts.length === 0 && connection !== undefined && !world.isConnected)
    acts.push(['the network gives up', (own) => own.end({ code: 1006 })]);
  if (connection !== undefined) acts.push(['break', (own) => own.end({ code: 1006 })]);
  if (isForPerson) return acts;
  if (acts.length === 0 && persons.length > 0) acts.push(['nobody comes', () => undefined]);
  return [...acts, ...persons];
}

/** What goes wrong, and what the program and the person wish. */
export function linkAttacks(world: LinkWorld): LinkAct[] {
  const { link, connection, storing, deriving, computing, connections, derivations, now } = world;
  const acts: LinkAct[] = [
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
    acts.push(['wake without entropy', (own) => own.withoutEntropy(() => wake(own, 0))]);
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
  const old = connection === undefined ? connections : connections - 1;
  if (old > 0) {
    acts.push(['late text', (own) => own.call('received', old, '{}')]);
    acts.push(['late end', (own) => own.call('closed', old, { code: 1008 })]);
    acts.push(['computed late', (own) => own.call('computed', old, new Uint8Array(32).fill(9))]);
    acts.push(['opened late', (own) => own.call('opened', old)]);
  }
  if (connection === undefined) return acts;
  const { hub, toLink, toHub, number } = connection;
  for (const code of [1000, 1008]) acts.push([`close ${code}`, (own) => own.end({ code })]);
  acts.push(['no transport', (own) => own.end(new Error('this address cannot be opened'))]);
  acts.push(['busy', (own) => own.end({ status: 503, retryAfter: 30_000 })]);
  acts.push(['break without entropy', (own) => own.withoutEntropy(() => own.end(undefined))]);
  acts.push(['break twice', (own) => {
    own.end({ code: 1006 });
    own.call('closed', number, { code: 1008 });
  }]); // biome-ignore format: one act
  if (hub === undefined) {
    acts.push(['refused', (own) => own.end({ status: 401 })]);
    acts.push(['another hub greets', (own) => own.greet('hub-2', HUB_2)]);
    acts.push(['a hub with another key greets', (own) => own.greet(undefined, IMPOSTOR_STATIC)]);
    acts.push([
      'a hub with another password greets',
      (own) => own.greet(undefined, undefined, keyOf('another psk')),
    ]);
    return acts;
  }
  acts.push(['opened', (own) => own.call('opened', number)]);
  for (const to of ['toLink', 'toHub'] as const) {
    const [first, second, ...others] = connection[to];
    if (first === undefined) continue;
    acts.push([`lose ${to}`, (own) => own.change({ [to]: own.connection![to].slice(1) })]);
    acts.push([
      `damage ${to}`,
      (own) => own.change({ [to]: [damaged(first), ...own.connection![to].slice(1)] }),
    ]);
    acts.push([`repeat ${to}`, (own) => own.change({ [to]: [first, ...own.connection![to]] })]);
    if (second !== undefined)
      acts.push([`reorder ${to}`, (own) => own.change({ [to]: [second, first, ...others] })]);
  }
  if (toLink.length + toHub.length > 0 && link.deadline !== undefined)
    acts.push(['a slow network', (own) => wake(own, 0)]);
  return acts;
}

const HUB_2 = keyOf('hub-2');

/** Worlds with the same description go on in the same ways. */
export function describeLink(world: LinkWorld): string {
  const { link, connection, storing, deriving, computing, stored, pinned, now, laws, asked } = world;
  const inside = insideOf(link);
  const { store, derivation, questions, session, events, inputs } = inside;
  const since = (time: unknown): unknown =>
    typeof time === 'number' ? Math.min(Math.max(-60_000, time - now), 3_600_000) : time;
  const policy = inside.policy as { [field: string]: unknown };
  const { requests, refusableUntil, saysHandled } = (questions.scheduler ?? {}) as {
    requests?: { all(): { sentAt?: number; since: number; collector: { state: string } }[] };
    refusableUntil?: number;
    saysHandled?: boolean;
  };
  const facts: unknown[] = [
    link.state, since(link.deadline), inside.isReady, inside.isCut, inside.isPaced, since(inside.dialAt), inside.failures,
    inside.isOn, session?.state, session === undefined || since(inside.usedAt), events.map(({ type }) => type), inputs.length, world.heldNames,
    codeOf(inside.asked), codeOf(inside.cause), asked, world.shown,
    policy.phase, policy.hasOldTimer, policy.hasHeard, policy.doubt, isRecent(policy.differedAt, now),
    policy.leavesOutKk, policy.lastCode, since(policy.readyAt), since(policy.dueAt), policy.sessionState,
    session === undefined || since(policy.sessionStateSince),
    storedLabel(link.keyring), storedLabel(stored), store.changes.length, store.isNeeded, store.isRead,
    storing?.keyring && storedLabel(storing.keyring), derivation.nodeId, derivation.psk && short(derivation.psk),
    deriving?.nodeId, computing && short(computing.publicKey), pinned && short(pinned),
    questions.unsent.map(({ until }, i) => (until < Infinity ? `${since(until)} ${i < questions.handed}` : '')).join(), Object.values(questions.sent).map((one) => one.isForgotten).join(), since(refusableUntil), saysHandled, Object.values(questions.hubs).map((hub) => hub.saysHandled).join(),
    (requests?.all() ?? []).map((one) => `${since(one.sentAt)} ${since(one.since)} ${one.collector.state}`),
    Math.min(2, world.connections), Math.min(2, world.derivations), laws.facts,
  ]; // biome-ignore format: facts
  if (connection !== undefined) {
    const { history, hub, nodeId, toLink, toHub } = connection;
    facts.push(nodeId, history, hub?.state, toLink.map(labelOf).join(), '|', toHub.map(labelOf).join());
  }
  return facts.join('\n');
}

const labelOf = ({ label }: Sent): string => label;

function codeOf(error: unknown): unknown {
  const { code, message } = (error ?? {}) as { code?: string; message?: string };
  return code ?? message;
}

function damaged({ label, data }: Sent): Sent {
  if (typeof data === 'string') return { label: `damaged ${label}`, data: data.slice(1) };
  const bytes = new Uint8Array(data);
  bytes[bytes.length >> 1]! ^= 1;
  return { label: `damaged ${label}`, data: bytes };
}

function deliver(world: LinkWorld, to: 'toLink' | 'toHub'): void {
  const [first, ...others] = world.connection![to];
  world.change({ [to]: others });
  const { data } = first!;
  if (to === 'toHub') world.toHub(first!);
  else if (typeof data === 'string' && data.startsWith('close ')) world.end({ code: Number(data.slice(6)) });
  else world.toLink(first!);
}

function wake(world: LinkWorld, late: number): void {
  world.now = Math.max(world.now, world.link.deadline! + late);
  world.call('wake');
}

function answerDerivation(world: LinkWorld, answer: Uint8Array | Error): void {
  const { derivation } = world.deriving!;
  world.deriving = undefined;
  world.call('derived', derivation, answer);
}

function answerComputation(world: LinkWorld, answer: Uint8Array | Error): void {
  const { connection } = world.computing!;
  world.computing = undefined;
  world.call('computed', connection, answer);
}

/** A person sees why a link dials on, and lets the hub forget its key. */
function forget(world: LinkWorld): void {
  world.pinned = undefined;
}

/** A person does what the error says. */
function consult(world: LinkWorld): void {
  if (world.asked === 'client-key-refused') world.pinned = undefined;
  world.call(world.asked === 'hub-key-changed' ? 'trust' : 'start');
}

/**
 * A small world: one client with its link, its hub, at most one transport between them, a store, a worker that derives, a chip
 * that computes, a person, and an attacker who can write to the transport and has recorded earlier ones. What they do is an act of
 * acts.ts, so the search tries it at every moment. The link and the hub's sessions are the real ones, and each event is checked
 * when it is emitted.
 */
import {
  buildUtterance,
  ClientLink,
  type Closing,
  HubSession,
  type HubSessionEvent,
  type JsonObject,
  type Keyring,
  type LinkClosing,
  type LinkEvent,
  type LinkOptions,
  type Order,
  RemoteError,
  RequestScheduler,
  serializeKeyring,
} from '../../../src/index.ts';
import type { ClientSession, SessionEvent } from '../../../src/parts.ts';
import { type Input, invoke, Laws } from '../../../test/link/laws.ts';
import { shownKeys } from '../../../test/link/world.ts';
import type { Data, Side } from '../../../test/world/line.ts';
import { outOfOrder, toyCrypto } from '../../../test/world/toy-crypto.ts';
import { copied, hashOf, isEqual } from './copy.ts';
import { checkHub, checkReady, checkStored, same, violation } from './laws.ts';
import { HUB_KEY, HUB_STATIC, keyOf, NODE_ID, PSK, type Scenario, short, storedLabel } from './scenarios.ts';
import type { Item, Server, Transport } from './transport.ts';

type Ordered<Do extends Order['do']> = Extract<Order, { do: Do }>;

/** What of a side's own fails. */
type Fault = 'entropy' | 'cryptography' | undefined;

/** An input, and what it ordered: the same inputs must give the same orders. */
interface Call {
  readonly name: Input;
  readonly args: readonly unknown[];
  readonly now: number;
  readonly number: number;
  readonly fault: Fault;
  readonly answer: number;
  readonly before: Call | undefined;
}

/** What a session expects to take in. */
const EXPECTED = /^(?:(?:client|hub) \d+|derived|computed|wake)$/;

/** What the random bytes of a link depend on, so that a copy and a repetition draw the same ones, and what fails. */
const draws: { number: number; fault: Fault } = { number: 0, fault: undefined };

function randomBytes(length: number): Uint8Array {
  if (draws.fault === 'entropy') throw new Error('no entropy');
  return length === 3 ? new Uint8Array([128, 0, 0]) : keyOf(`link ${draws.number}`).slice(0, length);
}

/** Calls a side, whose cryptography may fail. */
function withCryptography<T>(call: () => T): T {
  outOfOrder.now = draws.fault === 'cryptography';
  try {
    return call();
  } finally {
    outOfOrder.now = false;
  }
}

export class World {
  readonly scenario: Scenario;
  link: ClientLink;
  laws: Laws;
  now = 0;
  connection: Transport | undefined = undefined;
  /** The latest transport, also when it is over. */
  private latest: Transport | undefined = undefined;
  /** The client's key as the hub has pinned it. */
  pinned: Uint8Array | undefined;
  stored: Keyring;
  storing: Ordered<'store'> | undefined = undefined;
  deriving: Ordered<'derive'> | undefined = undefined;
  computing: Ordered<'compute'> | undefined = undefined;
  /** What the attacker has recorded: one of each message, by its place in a connection and its pattern. */
  recorded: { readonly [place: string]: Item } = {};
  /** The numbers of what is over. */
  connections = 0;
  derivations = 0;
  questions = 0;
  /** What a person is asked. */
  asked: string | undefined = undefined;
  /** What a person is shown while the link dials on. */
  shown: string | undefined = undefined;
  /** The keyring that the link began with, and what it has taken in since. */
  private begun: Keyring;
  private calls: Call | undefined = undefined;
  private isBehind = false;
  private count = 0;

  constructor(scenario: Scenario) {
    this.scenario = scenario;
    this.stored = this.begun = scenario.keyring;
    this.pinned = scenario.pinned;
    this.link = this.newLink();
    this.laws = new Laws(30_000, violation);
    this.call('start');
  }

  /** A world like this one, in which something else can happen. */
  copy(): World {
    const copy = Object.assign(Object.create(World.prototype) as World, this);
    copy.laws = this.laws.copy();
    copy.link = this.copyLink();
    return copy;
  }

  private newLink(): ClientLink {
    const { isPaced, trust, onKkFailure = 'keep-pin' } = this.scenario;
    const options: LinkOptions = {
      crypto: toyCrypto,
      randomBytes,
      siteId: '',
      keyring: this.begun,
      session: { paced: isPaced === true, trust },
      policy: { onKkFailure, basePause: 20_000, maxPause: 20_000 },
      requests: ({ sessionId }) => new RequestScheduler({ sessionId }),
      trace: true,
    };
    return new ClientLink(options);
  }

  /** Whether both sides are ready, have heard each other, and nobody waits for anything. */
  get isConnected(): boolean {
    const { connection, link, storing, laws } = this;
    return (
      link.state === 'ready' &&
      connection?.hub?.state === 'ready' &&
      connection.server?.nodeId === NODE_ID &&
      connection.news === 'heard' &&
      connection.queues.client.length + connection.queues.hub.length === 0 &&
      storing === undefined &&
      laws.areAllDone &&
      !link.keyring.staticKeyIsFresh
    );
  }

  /** Whether a person has trusted another key of the hub, which only a person can undo. */
  get hasTrustedAnother(): boolean {
    return this.stored.pins.some(({ nodeId, key }) => nodeId === NODE_ID && !same(key, HUB_KEY));
  }

  /** Gives the link an input, and does what it orders. */
  call(name: Input, ...args: readonly unknown[]): void {
    draws.number = ++this.count;
    const machine = insideOf(this.link);
    const { session } = machine;
    const isStep = name === 'derived' || name === 'computed' || (name === 'wake' && machine.isPaced === true);
    if (isStep && this.connection !== undefined) this.note('client', name);
    const orders = withCryptography(() => this.laws.call(this.link, name, args, this.now));
    const { number, fault } = draws;
    const answer = hashOf(textOf(orders));
    this.calls = { name, args, now: this.now, number, fault, answer, before: this.calls };
    for (const order of orders) this.carryOut(order);
    if (this.link.state !== 'asking') this.asked = undefined;
    if (session !== undefined && machine.session !== session) checkOver(session);
    this.check(machine);
  }

  private check({ session }: Inside): void {
    const { link, storing, laws } = this;
    if (storing !== undefined) return;
    if (link.state === 'ended' && !laws.areAllDone) violation('a question waits in a link that has ended');
    if (this.texts(link.keyring) !== this.texts(this.stored)) violation('the keyring is not what is stored');
    if (/^awaiting-(?!psk)/.test(session?.state ?? '') && link.deadline === undefined)
      violation(`no deadline in state ${session!.state}`);
  }

  /** A keyring as it is stored; only its keys, if the latest store has failed: what is known of them may then be in memory alone. */
  private texts(keyring: Keyring): string {
    return this.isBehind ? shownKeys(keyring) : serializeKeyring(keyring);
  }

  /** Does something while something of a side's own fails. That costs neither pin nor PSK. */
  withFault(fault: Fault, happens: () => void): void {
    draws.fault = fault;
    if (this.connection !== undefined) this.change({ isFaulty: true });
    try {
      happens();
    } finally {
      draws.fault = undefined;
    }
  }

  /** Time passes. */
  pass(time: number): void {
    this.now += time;
  }

  /** A new question. */
  question(): JsonObject {
    return buildUtterance({ requestId: `q${++this.questions}`, text: 'x' });
  }

  /** The transport is there, and a server greets, which is the hub but for what is said of it. */
  greet(other: Partial<Server> = {}): void {
    const { nodeId = NODE_ID } = other;
    const clientKey = nodeId === NODE_ID ? this.pinned : undefined;
    const server = { nodeId, staticKey: HUB_STATIC, psk: PSK, clientKey, ...other };
    const key = keyOf(`hub ${this.count}`);
    const hub = new HubSession({
      crypto: toyCrypto,
      randomBytes: (length) => key.slice(0, length),
      ...server,
    });
    this.change({ hub, server });
    const { staticKey, psk } = server;
    this.note(
      'hub',
      `${nodeId} ${short(staticKey)} ${short(psk)} ${server.clientKey && short(server.clientKey)}`,
    );
    if (this.scenario.overMqtt) this.call('opened', this.connection!.number);
    else this.hubDoes(hub.start());
  }

  /** Hands over an item. What changes nothing leaves no trace. */
  deliver(to: Side, item: Item): void {
    const connection = this.connection!;
    const { number, history } = connection;
    const label = draws.fault === undefined ? item.label : `fault at ${item.label}`;
    // What was expected is never ignored. Not to find out whether it was costs states, if at all, and no correctness.
    const mayBeIgnored = !EXPECTED.test(label) || history[to].includes(label);
    if (item.kind === 'close') this.end({ code: Number(item.data) });
    else {
      const take = to === 'client' ? this.toClient : this.toHub;
      const hasChanged = take.call(this, item, mayBeIgnored);
      if (hasChanged && this.connection?.number === number) this.note(to, label);
    }
  }

  /** The link receives a message. Returns whether that has changed anything. */
  private toClient({ data }: Item, mayBeIgnored: boolean): boolean {
    const machine = insideOf(this.link);
    const before = mayBeIgnored && copied(machine.session);
    this.call('received', this.connection!.number, copyOf(data));
    return !mayBeIgnored || machine.inputs.length > 0 || !isEqual(before, machine.session);
  }

  /** The hub receives a message. Returns whether that has changed anything. */
  private toHub({ data }: Item, mayBeIgnored: boolean): boolean {
    const { hub } = this.connection!;
    const own = copied(hub!);
    this.change({ hub: own });
    const events = withCryptography(() => (own.state === 'new' ? own.start() : own.receive(copyOf(data))));
    if (hub!.state === 'failed' && events.length > 0) violation('a hub that has failed did something');
    this.hubDoes(events);
    return !mayBeIgnored || events.length > 0 || !isEqual(hub, own);
  }

  /** The transport ends. */
  end(closing: Closing | LinkClosing | Error | undefined): void {
    const { number } = this.connection!;
    this.leave();
    this.call('closed', number, closing);
  }

  /** The device restarts: what is stored is kept, and nothing else. */
  restart(): void {
    this.leave();
    this.storing = this.deriving = this.asked = this.shown = this.calls = undefined;
    this.connections = this.derivations = 0;
    this.isBehind = false;
    this.begun = this.stored;
    this.link = this.newLink();
    this.laws = new Laws(30_000, violation);
    this.call('start');
  }

  /** Changes what is known of the transport. Copies share the old facts. */
  change(facts: Partial<Transport>): void {
    this.latest = { ...this.latest!, ...facts };
    if (this.connection !== undefined) this.connection = this.latest;
  }

  /** Changes what a side has to read. */
  queue(side: Side, items: readonly Item[]): void {
    this.change({ queues: { ...this.connection!.queues, [side]: items } });
  }

  private note(side: Side, label: string): void {
    const { history } = this.connection!;
    this.change({ history: { ...history, [side]: `${history[side]};${label}` } });
  }

  /** The store answers. */
  answerStore(error?: Error): void {
    const { keyring } = this.storing!;
    this.storing = undefined;
    if (error === undefined) this.stored = keyring;
    this.isBehind = error !== undefined;
    this.call('stored', error);
  }

  private carryOut(order: Order): void {
    switch (order.do) {
      case 'open':
        this.open(order.connection);
        break;
      case 'write':
        if (this.connection !== undefined) this.send('client', order.data);
        break;
      case 'close':
        this.leave();
        break;
      case 'store': {
        const isWish = insideOf(this.link).store.changes.length > 0; // of a person
        if (!isWish) checkStored(this.scenario, this.latest!, this.stored, order.keyring);
        this.storing = order;
        break;
      }
      case 'derive':
        this.deriving = order;
        this.derivations = order.derivation;
        break;
      case 'stop-deriving':
        this.deriving = undefined;
        break;
      case 'compute':
        this.computing = order;
        break;
      case 'tell':
        this.hear(order.event);
        break;
      default:
        order satisfies never; // an order that is new
    }
  }

  private open(number: number): void {
    const { keyring } = this.link;
    const { leavesOutKk } = insideOf(this.link).policy;
    this.connections = number;
    this.connection = this.latest = {
      number,
      server: undefined,
      hub: undefined,
      queues: { client: [], hub: [] },
      sent: [],
      history: { client: `${storedLabel(keyring)} ${leavesOutKk}`, hub: '' },
      pins: keyring.pins,
      leavesOutKk,
    };
    this.computing = undefined;
  }

  /** The transport is over. What both sides sent on it is recorded, if nothing was done to them, and it was ready. */
  private leave(): void {
    const { connection } = this;
    this.connection = this.computing = undefined;
    if (connection?.ready === undefined || connection.server!.staticKey !== HUB_STATIC) return;
    const { client, hub } = connection.history;
    const isPlain = (history: string, own: number): boolean =>
      history
        .split(';')
        .slice(own)
        .every((label) => EXPECTED.test(label));
    if (!isPlain(client, 1) || !isPlain(hub, 2)) return;
    for (const item of connection.sent) {
      if (item.kind === 'message' || item.kind === 'frame')
        this.recorded = { ...this.recorded, [`${connection.ready.pattern} ${item.label}`]: item };
    }
  }

  private hear(event: LinkEvent): void {
    if (event.type === 'ask') this.asked = event.error.code ?? 'local';
    else if (event.type === 'reconnect') this.shown = event.error?.code;
    else if (event.type === 'message' && event.message.type === 'news') {
      if (this.latest?.news !== 'sent') violation('a message that was not sent so');
      this.change({ news: 'heard' });
    } else if (event.type === 'trace' && 'type' in event.what && event.what.type !== 'sent')
      this.see(event.what);
  }

  /** Sees an event of the client's session. */
  private see(event: Exclude<SessionEvent, { type: 'transmit' }>): void {
    const latest = this.latest!;
    if (event.type === 'ready') {
      checkReady(this.scenario, latest, event, this.stored);
      this.change({ ready: event });
    } else if (event.type === 'dropped') violation('a client dropped a message');
    else if (event.type === 'close') this.checkBlame('client', event);
    else if (event.type === 'ended' && event.pattern !== undefined && event.reason === 'client-key-refused') {
      if (latest.ready === undefined)
        violation('a client that was not ready is told that its key was refused');
    }
  }

  private checkBlame(side: Side, { error }: { readonly error: { readonly code: string } }): void {
    if (this.latest!.isFaulty === undefined && !(error instanceof RemoteError))
      violation(`a ${side} blamed itself: ${error.code}`);
  }

  private hubDoes(events: readonly HubSessionEvent[]): void {
    for (const event of events) {
      switch (event.type) {
        case 'transmit':
          this.send('hub', event.data);
          break;
        case 'pin':
          this.pin(event.key);
          break;
        case 'ready':
          checkHub(this.connection!, event);
          this.change({ news: 'sent' });
          this.saySealed({ msg_type: 'bus', payload: { type: 'news', data: {}, context: {} } });
          break;
        case 'message':
          if (event.kind === 'json') this.reply(event.text);
          break;
        case 'hello':
          if (event.error !== undefined) violation('the HELLO of the client was refused');
          break;
        case 'close':
          this.checkBlame('hub', event);
          if (!this.scenario.overMqtt) this.send('hub', String(event.code), 'close');
          break;
        default:
          violation(`a hub emitted ${event.type}`);
      }
    }
  }

  private pin(key: Uint8Array): void {
    const { nodeId } = this.connection!.server!;
    if (!this.stored.pins.some((pin) => pin.nodeId === nodeId))
      violation('a hub sees the static key before its pin is stored');
    if (nodeId !== NODE_ID) return;
    if (this.pinned !== undefined) violation('a hub pinned a second key');
    this.pinned = key;
  }

  private reply(text: string): void {
    const { payload } = JSON.parse(text) as { payload?: { context?: { request_id?: string } } };
    const request_id = payload?.context?.request_id;
    if (request_id === undefined) return;
    for (const type of ['speak', 'ovos.utterance.handled']) {
      const payload = { type, data: { utterance: 'y' }, context: { request_id } };
      this.saySealed({ msg_type: 'bus', payload });
    }
  }

  private saySealed(message: JsonObject): void {
    const { hub } = this.connection!;
    if (hub!.state === 'ready')
      for (const data of withCryptography(() => hub!.sendJson(message))) this.send('hub', data);
  }

  private send(from: Side, data: Data, kind: Item['kind'] = kindOf(data)): void {
    const { sent, history, queues } = this.connection!;
    const to = from === 'client' ? 'hub' : 'client';
    const number = sent.filter((item) => item.from === from).length + 1;
    const arrives = this.scenario.overMqtt && typeof data === 'string' ? Buffer.from(data) : copyOf(data);
    const item: Item = {
      label: `${from} ${number}`,
      kind,
      data: arrives,
      from,
      origin: hashOf(history[from]),
    };
    this.change({ sent: [...sent, item], queues: { ...queues, [to]: [...queues[to], item] } });
  }

  /** The same inputs, given to a new link, give the same orders. */
  checkRepetition(): void {
    const calls: Call[] = [];
    for (let call = this.calls; call !== undefined; call = call.before) calls.push(call);
    const link = this.newLink();
    for (const { name, args, now, number, fault, answer } of calls.reverse()) {
      Object.assign(draws, { number, fault });
      let orders: Order[] = [];
      try {
        orders = withCryptography(() => invoke(link, name, args, now));
      } catch {
        if (name !== 'trust') throw new Error(`${name} threw when it was repeated`);
      } finally {
        draws.fault = undefined;
      }
      if (hashOf(textOf(orders)) !== answer) violation('the same inputs gave other orders');
    }
  }

  /** Copies the link with all that it refers to. Its parts refer to the machine by functions, which are made anew. */
  private copyLink(): ClientLink {
    const from = insideOf(this.link);
    const { scheduler, unsent, sent, hubs, hub } = from.questions;
    const { policy, session, ...parts } = copied({
      ...{ policy: from.policy, session: from.session },
      ...{ scheduler, hubs, hub },
    });
    const inputs = from.inputs.map((input) =>
      input.session === from.session ? { ...input, session } : input,
    );
    const to = withFields(from, { policy, session, inputs, events: from.events.slice(), orders: [] });
    const order = (one: Order): void => to.order(one);
    to.store = withFields(from.store, { order, changes: from.store.changes.slice() });
    to.derivation = withFields(from.derivation, { order, psk: from.derivation.psk?.slice() });
    to.questions = withFields(from.questions, {
      ...parts,
      unsent: unsent.map((question) => ({ ...question })),
      sent: Object.fromEntries(Object.entries(sent).map(([id, question]) => [id, { ...question }])),
      tell: (event) => to.tell(event),
      write: (message, onError) => to.write(message, onError),
    });
    return withFields(this.link, { machine: to } as object);
  }
}

interface Question {
  readonly until: number;
  readonly envelope: JsonObject;
  readonly isForgotten: boolean;
}

/** What a link consists of. */
export interface Inside {
  inputs: { readonly session: ClientSession | undefined; readonly take: { name: string }; data: unknown }[];
  orders: Order[];
  events: { type: string }[];
  policy: { leavesOutKk: boolean };
  session: ClientSession | undefined;
  store: { changes: unknown[]; order(one: Order): void; [field: string]: unknown };
  derivation: { psk: Uint8Array | undefined; nodeId: string | undefined; order(one: Order): void };
  questions: {
    scheduler: object | undefined;
    unsent: Question[];
    handed: number;
    sent: { [id: string]: Question };
    hubs: { [id: string]: { saysHandled?: boolean | undefined } };
    hub: object | undefined;
    tell(event: LinkEvent): void;
    write(message: unknown, onError: unknown): boolean;
  };
  order(one: Order): void;
  tell(event: LinkEvent): void;
  write(message: unknown, onError: unknown): boolean;
  [field: string]: unknown;
}

export function insideOf(link: ClientLink): Inside {
  return (link as unknown as { machine: Inside }).machine;
}

/** An object with the fields of another one, also those that do not enumerate, but for some. */
function withFields<T extends object>(from: T, others: Partial<T>): T {
  const to = Object.create(Object.getPrototypeOf(from)) as T;
  for (const name of Object.getOwnPropertyNames(from) as (keyof T)[]) to[name] = from[name];
  return Object.assign(to, others);
}

/** A session that the link has left does nothing any more. */
function checkOver(session: ClientSession): void {
  const late = [
    ...session.receive('{"msg_type":"hello","payload":{"node_id":"x"}}'),
    ...session.receive(new Uint8Array(40)),
    ...session.closed(),
  ];
  if (late.length > 0) violation('an event after the end');
}

function kindOf(data: Data): Item['kind'] {
  if (typeof data !== 'string') return 'frame';
  if (data.includes('"msg"')) return 'message';
  return data.startsWith('{"msg_type":"hello"') ? 'hello' : 'offer';
}

function copyOf(data: Data): Data {
  return typeof data === 'string' ? data : new Uint8Array(data);
}

/** Orders as a text: what does not enumerate is left out. */
function textOf(orders: readonly Order[]): string {
  return JSON.stringify(orders, (_, part) => (part instanceof Uint8Array ? part.join() : part));
}

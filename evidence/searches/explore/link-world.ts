/**
 * A small world around a ClientLink: its hub, a network, a store, a worker that derives, a chip that computes, and a person. What
 * they do is an act of link-acts.ts, so the search tries it at every moment. The laws are those of the random lives.
 */
import {
  buildUtterance,
  ClientLink,
  type Closing,
  createKeyring,
  HubSession,
  type HubSessionEvent,
  type JsonObject,
  type Keyring,
  type LinkClosing,
  type LinkOptions,
  type Order,
  pinHub,
  RequestScheduler,
  serializeKeyring,
  storePsk,
} from '../../../src/index.ts';
import { type Input, invoke, Laws } from '../../../test/link/laws.ts';
import { shownKeys } from '../../../test/link/world.ts';
import type { Data } from '../../../test/world/line.ts';
import { toyCrypto } from '../../../test/world/toy-crypto.ts';
import { copied } from './connection.ts';
import { hashOf } from './copy.ts';
import { same, violation } from './laws.ts';
import {
  CLIENT_STATIC,
  HUB_KEY,
  HUB_STATIC,
  keyOf,
  NODE_ID,
  PSK,
  type Scenario,
  storedLabel,
} from './scenarios.ts';

type Ordered<Do extends Order['do']> = Extract<Order, { do: Do }>;

/** A message on its way. Messages of the same label have the same part in all that follows. */
export interface Sent {
  readonly label: string;
  readonly data: Data;
}

/** The transport that was opened last, until the link knows that it is over. */
export interface Transport {
  readonly number: number;
  readonly nodeId: string;
  /** The server, once it has answered. */
  readonly hub: HubSession | undefined;
  readonly toLink: readonly Sent[];
  readonly toHub: readonly Sent[];
  /** What the session and the hub began with, and what they have taken in. */
  readonly history: string;
}

/** An input, and what it ordered: the same inputs must give the same orders. */
interface Call {
  readonly name: Input;
  readonly args: readonly unknown[];
  readonly now: number;
  readonly isBroken: boolean;
  readonly answer: number;
  readonly before: Call | undefined;
}

/** What the random bytes of a link depend on, so that a copy and a repetition draw the same ones. */
const draws = { number: 0, isBroken: false };

function randomBytes(length: number): Uint8Array {
  if (draws.isBroken) throw new Error('no entropy');
  return length === 3 ? new Uint8Array([128, 0, 0]) : keyOf(`link ${draws.number}`).slice(0, length);
}

function optionsOf({ keyring, isPaced, isKeyElsewhere, onKkFailure }: Scenario): LinkOptions {
  return {
    crypto: toyCrypto,
    randomBytes,
    siteId: '',
    keyring: isKeyElsewhere ? elsewhere(keyring) : keyring,
    session: { paced: isPaced === true },
    policy: { onKkFailure: onKkFailure ?? 'keep-pin', basePause: 20_000, maxPause: 20_000 },
    requests: ({ sessionId }) => new RequestScheduler({ sessionId }),
  };
}

/** A keyring without the private key. */
function elsewhere({ pins, psks }: Keyring): Keyring {
  const staticKey = { publicKey: toyCrypto.x25519.publicKey(CLIENT_STATIC) };
  const known = pins.reduce(
    (keyring, { nodeId, key }) => pinHub(keyring, nodeId, key),
    createKeyring({ accessKey: 'key', staticKey }),
  );
  return psks.reduce((keyring, { nodeId, key }) => storePsk(keyring, nodeId, key), known);
}

export class LinkWorld {
  readonly scenario: Scenario;
  link: ClientLink;
  laws: Laws;
  now = 0;
  connection: Transport | undefined = undefined;
  /** The client's key as the hub has pinned it. */
  pinned: Uint8Array | undefined;
  stored: Keyring;
  storing: Ordered<'store'> | undefined = undefined;
  deriving: Ordered<'derive'> | undefined = undefined;
  computing: Ordered<'compute'> | undefined = undefined;
  /** The numbers of what is over. */
  connections = 0;
  derivations = 0;
  questions = 0;
  /** What a person is asked. */
  asked: string | undefined = undefined;
  /** What a person is shown while the link dials on. */
  shown: string | undefined = undefined;
  /** What the link holds until the store answers. */
  private held: readonly Call[] = [];
  private calls: Call | undefined = undefined;
  private isBehind = false;
  private count = 0;

  constructor(scenario: Scenario) {
    this.scenario = scenario;
    const options = optionsOf(scenario);
    this.link = new ClientLink(options);
    this.laws = new Laws(30_000, violation);
    this.stored = options.keyring;
    this.pinned = scenario.pinned;
    this.call('start');
  }

  /** A world like this one, in which something else can happen. */
  copy(): LinkWorld {
    const copy = Object.assign(Object.create(LinkWorld.prototype) as LinkWorld, this);
    copy.laws = this.laws.copy();
    copy.link = this.copyLink();
    return copy;
  }

  /** Whether both sides are ready, have heard each other, and nobody waits for anything. */
  get isConnected(): boolean {
    const { connection, link, storing, laws } = this;
    return (
      link.state === 'ready' &&
      connection?.hub?.state === 'ready' &&
      connection.nodeId === NODE_ID &&
      connection.toHub.length + connection.toLink.length === 0 &&
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
    const before = machine.inputs.length;
    const isStep = name === 'derived' || name === 'computed' || (name === 'wake' && machine.isPaced === true);
    if (isStep && this.connection !== undefined)
      this.change({ history: `${this.connection.history};${name}` });
    const orders = this.laws.call(this.link, name, args, this.now);
    const { isBroken } = draws;
    const answer = hashOf(shown(orders));
    this.calls = { name, args, now: this.now, isBroken, answer, before: this.calls };
    if (machine.inputs.length > before) this.held = [...this.held, this.calls];
    this.held = machine.inputs.length === 0 ? [] : this.held.slice(-machine.inputs.length);
    for (const order of orders) this.carryOut(order);
    const { state } = this.link;
    if (state !== 'asking') this.asked = undefined;
    if (state === 'ended' && this.storing === undefined && !this.laws.areAllDone)
      violation('a question waits in a link that has ended');
    if (this.storing === undefined && this.texts(this.link.keyring) !== this.texts(this.stored))
      violation('the keyring is not what is stored');
  }

  /** A keyring as it is stored; only its keys, if the latest store has failed: what is known of them may then be in memory alone. */
  private texts(keyring: Keyring): string {
    return this.isBehind ? shownKeys(keyring) : serializeKeyring(keyring);
  }

  /** Does something while randomBytes fails. */
  withoutEntropy(happens: () => void): void {
    draws.isBroken = true;
    try {
      happens();
    } finally {
      draws.isBroken = false;
    }
  }

  /** The names of the inputs that the link holds. */
  get heldNames(): string {
    return this.held.map(({ name, args }) => `${name} ${String(args[0])}`).join();
  }

  /** Time passes. */
  pass(time: number): void {
    this.now += time;
  }

  /** A new question. */
  question(): JsonObject {
    return buildUtterance({ requestId: `q${++this.questions}`, text: 'x' });
  }

  /** The transport is there, and the server greets. */
  greet(nodeId: string = NODE_ID, staticKey: Uint8Array = HUB_STATIC, psk: Uint8Array = PSK): void {
    const hub = new HubSession({
      crypto: toyCrypto,
      nodeId,
      staticKey,
      randomBytes: (length) => keyOf(`hub ${this.connections}`).slice(0, length),
      psk,
      clientKey: nodeId === NODE_ID ? this.pinned : undefined,
    });
    const how = `${nodeId} ${staticKey[0]} ${psk[0]} ${this.pinned === undefined}`;
    this.change({ hub, nodeId, history: `${this.connection!.history};${how}` });
    if (this.scenario.overMqtt) this.call('opened', this.connection!.number);
    else this.hubDoes(hub.start());
  }

  /** The link receives a message. */
  toLink(sent: Sent): void {
    const { number, history } = this.connection!;
    this.change({ history: `${history};${sent.label}` });
    this.call('received', number, copyOf(sent.data));
  }

  /** The hub receives a message. */
  toHub(sent: Sent): void {
    const { hub, history } = this.connection!;
    const own = copied(hub!);
    this.change({ hub: own, history: `${history};${sent.label}` });
    this.hubDoes(own.state === 'new' ? own.start() : own.receive(copyOf(sent.data)));
  }

  /** The transport ends. */
  end(closing: Closing | LinkClosing | Error | undefined): void {
    const { number } = this.connection!;
    this.connection = undefined;
    this.call('closed', number, closing);
  }

  /** Changes what is known of the transport. Copies share the old facts. */
  change(facts: Partial<Transport>): void {
    this.connection = { ...this.connection!, ...facts };
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
      case 'open': {
        this.connections = order.connection;
        const history = storedLabel(this.link.keyring);
        const { connection: number } = order;
        this.connection = { number, nodeId: '', hub: undefined, toLink: [], toHub: [], history };
        this.computing = undefined;
        break;
      }
      case 'write': {
        const { connection } = this;
        if (connection === undefined) return;
        const label = `link ${connection.history.length}.${connection.toHub.length}`;
        this.change({ toHub: [...connection.toHub, { label, data: order.data }] });
        break;
      }
      case 'close':
        this.connection = undefined;
        break;
      case 'store':
        this.storing = order;
        break;
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
        if (order.event.type === 'ask') this.asked = order.event.error.code ?? 'local';
        if (order.event.type === 'reconnect') this.shown = order.event.error?.code;
        if (order.event.type === 'connect') this.checkReady(order.event);
        break;
      default:
        order satisfies never; // an order that is new
    }
  }

  private checkReady({ nodeId, hubKey }: { nodeId: string; hubKey: Uint8Array }): void {
    if (!this.stored.pins.some((pin) => pin.nodeId === nodeId && same(pin.key, hubKey)))
      violation('a link is ready with a hub whose pin is not stored');
  }

  private hubDoes(events: readonly HubSessionEvent[]): void {
    for (const event of events) {
      if (event.type === 'transmit') this.say(event.data);
      else if (event.type === 'pin') this.pin(event.key);
      else if (event.type === 'ready')
        this.saySealed({ msg_type: 'bus', payload: { type: 'news', data: {}, context: {} } });
      else if (event.type === 'message' && event.kind === 'json') this.reply(event.text);
      else if (event.type === 'close' && !this.scenario.overMqtt) this.say(`close ${event.code}`);
    }
  }

  private pin(key: Uint8Array): void {
    const { nodeId } = this.connection!;
    if (!this.stored.pins.some((pin) => pin.nodeId === nodeId))
      violation('a hub sees the static key before its pin is stored');
    if (nodeId === NODE_ID) this.pinned = key;
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
    if (hub!.state === 'ready') for (const data of hub!.sendJson(message)) this.say(data);
  }

  private say(data: Data): void {
    const { toLink, history } = this.connection!;
    const arrives = this.scenario.overMqtt && typeof data === 'string' ? Buffer.from(data) : data;
    this.change({ toLink: [...toLink, { label: `hub ${history.length}.${toLink.length}`, data: arrives }] });
  }

  /** The same inputs, given to a new link, give the same orders. */
  checkRepetition(): void {
    const calls: Call[] = [];
    for (let call = this.calls; call !== undefined; call = call.before) calls.push(call);
    const link = new ClientLink(optionsOf(this.scenario));
    calls.reverse().forEach(({ name, args, now, isBroken, answer }, i) => {
      Object.assign(draws, { number: i + 1, isBroken });
      let orders: Order[] = [];
      try {
        orders = invoke(link, name, args, now);
      } catch {
        if (name !== 'trust') throw new Error(`${name} threw when it was repeated`);
      }
      draws.isBroken = false;
      if (hashOf(shown(orders)) !== answer) violation('the same inputs gave other orders');
    });
  }

  /** Copies the link with all that it refers to. Its closures refer to the machine, so a new one gets the fields of this one. */
  private copyLink(): ClientLink {
    const link = new ClientLink(optionsOf(this.scenario));
    const [from, to] = [insideOf(this.link), insideOf(link)];
    const { policy, session } = from;
    const { scheduler, unsent, sent, hubs } = from.questions;
    const parts = copied({ policy, session, scheduler });
    assignFields(from, to, [
      'options',
      'policy',
      'store',
      'derivation',
      'questions',
      'orders',
      'inputs',
      'session',
    ]);
    for (const part of ['store', 'derivation', 'questions'] as const)
      assignFields(from[part], to[part], ['order', 'tell', 'write']);
    to.policy = parts.policy;
    to.session = parts.session;
    to.questions.scheduler = parts.scheduler;
    to.questions.unsent = unsent.map((question) => ({ ...question }));
    to.questions.sent = Object.fromEntries(
      Object.entries(sent).map(([id, question]) => [id, { ...question }]),
    );
    to.questions.hubs = Object.fromEntries(Object.entries(hubs).map(([id, hub]) => [id, { ...hub }]));
    const hubId = Object.keys(hubs).find((id) => hubs[id] === from.questions.hub);
    to.questions.hub = hubId === undefined ? undefined : to.questions.hubs[hubId];
    to.events = from.events.slice();
    to.store.changes = from.store.changes.slice();
    const { psk, nodeId } = from.derivation;
    to.derivation.psk = psk?.slice();
    for (const { name, args, now } of this.held) {
      if (name === 'derived') Object.assign(to.derivation, { psk: undefined, nodeId: 'any' });
      invoke(link, name, args, now);
    }
    Object.assign(to.derivation, { nodeId });
    to.deadline = from.deadline;
    return link;
  }
}

interface Question {
  readonly until: number;
  readonly envelope: JsonObject;
  readonly isForgotten: boolean;
}

/** What a link consists of. */
export interface Inside {
  inputs: unknown[];
  orders: Order[];
  events: { type: string }[];
  policy: object;
  session: { state: string } | undefined;
  deadline: number | undefined;
  store: { changes: unknown[]; [field: string]: unknown };
  derivation: { psk: Uint8Array | undefined; nodeId: string | undefined };
  questions: {
    scheduler: object | undefined;
    unsent: Question[];
    handed: number;
    sent: { [id: string]: Question };
    hubs: { [id: string]: { saysHandled?: boolean | undefined } };
    hub: object | undefined;
  };
  [field: string]: unknown;
}

export function insideOf(link: ClientLink): Inside {
  return (link as unknown as { machine: Inside }).machine;
}

function assignFields(from: object, to: object, but: readonly string[]): void {
  for (const name of Object.getOwnPropertyNames(from)) {
    if (!but.includes(name))
      (to as { [name: string]: unknown })[name] = (from as { [name: string]: unknown })[name];
  }
}

function copyOf(data: Data): Data {
  return typeof data === 'string' ? data : new Uint8Array(data);
}

/** Orders as a text: what does not enumerate is left out. */
function shown(orders: readonly Order[]): string {
  return JSON.stringify(orders, (_, part) => (part instanceof Uint8Array ? part.join() : part));
}

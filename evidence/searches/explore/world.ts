/**
 * A small world: one client with its keyring and policy, its hub, at most one connection between them, and an attacker who
 * can write to it and has recorded earlier ones. The sessions and the policy are the real ones; each event is checked when
 * it is emitted.
 */
import {
  type Closing,
  HubSession,
  type Keyring,
  type Pattern,
  pinHub,
  RemoteError,
  updateKeyring,
} from '../../../src/index.ts';
import type { HubPin } from '../../../src/keyring/keyring.ts';
import {
  type ClientOptions,
  ClientSession,
  ConnectionPolicy,
  type SessionEvent,
} from '../../../src/parts.ts';
import type { Data, Side } from '../../../test/world/line.ts';
import { outOfOrder, toyCrypto } from '../../../test/world/toy-crypto.ts';
import {
  type Connection,
  copied,
  copyConnection,
  type Event,
  type Item,
  type Sessions,
} from './connection.ts';
import { hashOf, isEqual } from './copy.ts';
import {
  checkClient,
  checkHub,
  checkStored,
  type ReadyClient,
  type ReadyHub,
  same,
  violation,
} from './laws.ts';
import {
  CLIENT_KEY,
  CLIENT_STATIC,
  GUESSED_PSK,
  HUB_KEY,
  HUB_STATIC,
  IMPOSTOR_STATIC,
  keyOf,
  NODE_ID,
  PSK,
  type Scenario,
  short,
  storedLabel,
} from './scenarios.ts';

/** What a session expects to take in. */
const EXPECTED = /^(?:(?:client|hub) \d+|start|psk|dh|resume)$/;

export class World {
  readonly scenario: Scenario;
  keyring: Keyring;
  policy: ConnectionPolicy;
  /** The client's key as the hub has pinned it. */
  pinned: Uint8Array | undefined;
  connection: Connection | undefined = undefined;
  /** What the attacker has recorded: one of each message, by its place in a connection and its pattern. */
  recorded: { readonly [place: string]: Item } = {};
  private isOutOfOrder = false;
  private hasBlamedItself = false;
  /** Why a person is asked. */
  asked: string | undefined = undefined;
  now = 0;
  connections = 0;

  constructor(scenario: Scenario) {
    this.scenario = scenario;
    this.keyring = scenario.keyring;
    this.pinned = scenario.pinned;
    this.policy = this.newPolicy();
  }

  /** A world like this one, in which something else can happen. */
  copy(): World {
    return Object.assign(Object.create(World.prototype) as World, this, {
      policy: copied(this.policy),
      connection: this.connection && copyConnection(this.connection),
    });
  }

  private get onKkFailure(): 'replace-pin' | 'keep-pin' {
    return this.scenario.onKkFailure ?? 'keep-pin';
  }

  private newPolicy(): ConnectionPolicy {
    const { onKkFailure } = this;
    return new ConnectionPolicy({ randomBytes: (length) => new Uint8Array(length), onKkFailure });
  }

  /** Whether both sides are ready, and have heard each other. */
  get isConnected(): boolean {
    const connection = this.connection;
    return (
      connection !== undefined &&
      !connection.isImpostor &&
      connection.ready.hub !== undefined &&
      connection.client.state === 'ready' &&
      connection.hub.state === 'ready' &&
      connection.delivered.client > 0 &&
      connection.delivered.hub > 0 &&
      connection.queues.client.length + connection.queues.hub.length === 0
    );
  }

  /** @param isImpostor - whether the attacker has the client connect to a hub of its own */
  dial(isImpostor: boolean = false): void {
    this.now += 600_000;
    const dialled = this.policy.begin(this.now);
    if (dialled === undefined) violation('begin() returned nothing where a connection was due');
    const { scenario, keyring } = this;
    const { trust, isKeyElsewhere, isPaced, isInsider } = scenario;
    const { staticKey, staticKeyIsFresh, pins, psks } = keyring;
    const id = ++this.connections;
    const options: ClientOptions = {
      crypto: toyCrypto,
      siteId: '',
      randomBytes: () => keyOf(`client ${id}`),
      keyring: {
        staticKey: isKeyElsewhere ? { publicKey: CLIENT_KEY } : staticKey,
        staticKeyIsFresh,
        pins,
        psks,
      },
      ...(isPaced && { paced: true }),
      trust,
      ...dialled,
    };
    if (dialled.onKkFailure !== this.onKkFailure) violation('the policy changes what happens to the pin');
    const { key: pin, isSuspect = false }: Partial<HubPin> = pinOf(keyring) ?? {};
    const hub = new HubSession({
      crypto: toyCrypto,
      nodeId: NODE_ID,
      staticKey: isImpostor ? IMPOSTOR_STATIC : HUB_STATIC,
      randomBytes: () => keyOf(`hub ${id}`),
      psk: isImpostor && !isInsider ? GUESSED_PSK : PSK,
      clientKey: isImpostor ? CLIENT_KEY : this.pinned,
    });
    const patterns = dialled.patterns ?? ['XXpsk2', 'KKpsk0'];
    const stored = storedLabel(keyring);
    this.connection = {
      client: new ClientSession(options),
      hub,
      isImpostor,
      queues: { client: [], hub: [] },
      sent: [],
      history: {
        client: `${stored} ${patterns} ${isImpostor}`,
        hub: `${isImpostor} ${this.pinned && short(this.pinned)}`,
      },
      ready: {},
      delivered: { client: 0, hub: 0 },
      pending: undefined,
      pendingKey: undefined,
      derivedPsk: false,
      pin,
      isSuspect,
      patterns,
      isSteady: false,
    };
    if (scenario.overMqtt) this.step('client', 'start', (client) => client.start());
    this.step('hub', 'start', (hub) => hub.start());
  }

  /** Hands over an item, which is a message or the end of the transport. */
  deliver(to: Side, item: Item): void {
    if (item.kind === 'close') this.end(Number(item.data));
    else this.step(to, item.label, (session) => session.receive(copyOf(item.data)));
  }

  /** Gives the client what it waits for. */
  answer(): void {
    const connection = this.connection!;
    const { pending, pendingKey } = connection;
    const { state } = connection.client;
    connection.pending = undefined;
    if (pending === 'psk-needed') {
      connection.derivedPsk = true;
      this.step('client', 'psk', (client) => client.providePsk(PSK));
    } else {
      const secret = pendingKey && toyCrypto.x25519.sharedSecret(CLIENT_STATIC, pendingKey);
      this.step('client', secret ? 'dh' : 'resume', (client) => client.resume(secret));
    }
    const { connection: after } = this;
    if (after !== undefined && after.client.state === state && after.pending === undefined)
      violation('an answer changed nothing');
  }

  /** So much time passes that the policy counts the connection as steady. */
  pass(): void {
    this.connection!.isSteady = true;
  }

  /** Something happens while the cryptography of the session that is called throws. That costs neither pin nor PSK. */
  fault(happens: () => void): void {
    const { pins, psks } = this.keyring;
    this.isOutOfOrder = true;
    this.hasBlamedItself = false;
    happens();
    this.isOutOfOrder = false;
    const isLess = this.keyring.pins.length < pins.length || this.keyring.psks.length < psks.length;
    if (this.hasBlamedItself && isLess) violation('a fault of its own cost the client a pin or a PSK');
  }

  /** The transport closes at both ends. */
  end(closing: Closing | undefined): void {
    const connection = this.connection!;
    const { ready } = connection;
    const client = copied(connection.client);
    const hub = copied(connection.hub);
    const waits = /^awaiting-(?!psk)/.test(client.state);
    if (waits && this.policy.deadline(client.state, this.now) === undefined)
      violation(`no deadline in state ${client.state}`);
    if (connection.isSteady) this.now += 3_600_000;
    const events = client.closed(closing);
    if (events.at(-1)?.type !== 'ended') violation('closed() returned no ended event');
    for (const event of events) {
      this.store(event);
      const decision = this.policy.take(event, this.now);
      if ((event.type === 'ended') !== (decision !== undefined))
        violation('the policy decided at another event than ended');
      this.asked = decision?.do === 'ask' ? decision.error.code : this.asked;
      if (
        event.type === 'ended' &&
        event.pattern !== undefined &&
        event.reason === 'client-key-refused' &&
        ready.client === undefined
      ) {
        violation('a client that was not ready is told that its key was refused');
      }
    }
    hub.closed(closing === 'timeout' ? 'timeout' : undefined);
    for (const session of [client, hub]) {
      const late = [
        ...session.receive('{"msg_type":"hello","payload":{"node_id":"x"}}'),
        ...session.receive(new Uint8Array(40)),
        ...session.closed(),
      ];
      if (late.length > 0) violation('an event after the end');
    }
    this.record(connection);
    this.connection = undefined;
  }

  /** The device restarts: what is stored is kept, and nothing else. */
  restart(): void {
    if (this.connection !== undefined) this.end(1006);
    this.policy = this.newPolicy();
    this.asked = undefined;
  }

  /** A person looks into what the policy asks, and does what docs/reference/policy.md says. */
  consult(): void {
    const pin = pinOf(this.keyring)?.key;
    if (this.asked === 'hub-key-changed' && pin && !same(pin, HUB_KEY))
      this.keyring = pinHub(this.keyring, NODE_ID, HUB_KEY);
    if (this.asked === 'unknown-hub')
      this.keyring = updateKeyring(this.keyring, {
        type: 'pin',
        nodeId: NODE_ID,
        key: new Uint8Array(HUB_KEY),
      });
    if (this.asked === 'client-key-refused' && this.pinned && !same(this.pinned, CLIENT_KEY))
      this.pinned = undefined;
    this.asked = undefined;
    this.policy.resume();
  }

  /** Calls a session, checks what it emits, and notes what it did something with. */
  step<S extends Side>(side: S, label: string, call: (session: Sessions[S]) => readonly Event[]): void {
    const connection = this.connection!;
    const before: Sessions[S] = connection[side];
    const session = copied(before);
    (connection as Sessions)[side] = session;
    outOfOrder.now = this.isOutOfOrder;
    let events: readonly Event[];
    try {
      events = call(session);
    } finally {
      outOfOrder.now = false;
    }
    // What was expected is never ignored. Not to find out whether it was costs states, if at all, and no correctness.
    const mayBeIgnored = !EXPECTED.test(label) || connection.history[side].includes(label);
    const isIgnored = mayBeIgnored && events.length === 0 && isEqual(before, session);
    if (!isIgnored) connection.history[side] += this.isOutOfOrder ? `;fault at ${label}` : `;${label}`;
    if ((before.state === 'failed' || before.state === 'closed') && events.length > 0)
      violation(`a ${side} that is ${before.state} did something`);
    for (const event of events) this.take(side, event);
    if (events.length > 0 && connection === this.connection) this.converse(side, events);
  }

  private take(side: Side, event: Event): void {
    const connection = this.connection;
    if (connection === undefined) violation(`a ${side} emitted ${event.type} after close`);
    if (side === 'client') {
      this.store(event as SessionEvent);
      if (this.policy.take(event as SessionEvent, this.now) !== undefined)
        violation('the policy decided before the end');
    }
    switch (event.type) {
      case 'transmit':
        this.transmit(side, event.data);
        break;
      case 'psk-needed':
      case 'waiting':
        connection.pending = event.type;
        connection.pendingKey = event.type === 'waiting' ? event.publicKey : undefined;
        break;
      case 'ready':
        connection.ready[side] = event;
        if (side === 'client') this.asked = undefined;
        if (side === 'client') checkClient(this.scenario, connection, event as ReadyClient, this.keyring);
        else if (!connection.isImpostor) checkHub(connection, event as ReadyHub);
        break;
      case 'message': {
        const from = side === 'client' ? 'hub' : 'client';
        const text = event.kind === 'json' ? event.text : '';
        if (text !== `{"n":${connection.delivered[side]++},"from":"${from}"}`)
          violation(`a message that was not sent so: ${text}`);
        break;
      }
      case 'pin':
        if (side === 'hub' && !connection.isImpostor) {
          if (this.pinned !== undefined) violation('a hub pinned a second key');
          this.pinned = event.key;
        }
        break;
      case 'hello':
        if (event.error !== undefined) violation('the HELLO of the client was refused');
        break;
      case 'dropped':
      case 'ended':
        violation(`a ${side} emitted ${event.type}`);
        break;
      case 'close':
        this.hasBlamedItself = !(event.error instanceof RemoteError);
        if (this.hasBlamedItself && !this.isOutOfOrder)
          violation(`a ${side} blamed itself: ${event.error.code}`);
        this.hangUp(side, event.code);
    }
  }

  /** A side that failed closes the transport. Over MQTT a hub cannot. */
  private hangUp(side: Side, code: number): void {
    if (side === 'client') this.end(undefined);
    else if (!this.scenario.overMqtt) {
      const { queues } = this.connection!;
      queues.client.push({ label: `close ${code}`, kind: 'close', data: String(code), from: 'hub' });
    }
  }

  /** Each side sends one message when it is ready. */
  private converse(side: Side, events: readonly Event[]): void {
    if (!events.some(({ type }) => type === 'ready')) return;
    const session = this.connection![side];
    for (const data of session.sendJson(`{"n":0,"from":"${side}"}`)) this.transmit(side, data);
  }

  private transmit(from: Side, data: Data): void {
    const connection = this.connection!;
    const { sent, queues } = connection;
    const number = sent.filter((item) => item.from === from).length + 1;
    const arrives = this.scenario.overMqtt && typeof data === 'string' ? Buffer.from(data) : data;
    const history = connection.history[from];
    const origin = hashOf(history);
    const isGenuine =
      !connection.isImpostor &&
      history
        .split(';')
        .slice(1)
        .every((label) => EXPECTED.test(label));
    const item: Item = {
      label: `${from} ${number}`,
      kind: kindOf(data),
      data: copyOf(arrives),
      from,
      origin,
      isGenuine,
    };
    sent.push(item);
    queues[from === 'client' ? 'hub' : 'client'].push(item);
  }

  /** What a client stores. */
  private store(event: SessionEvent): void {
    const before = this.keyring;
    this.keyring = updateKeyring(before, event);
    checkStored(this.scenario, this.connection!, before, this.keyring);
  }

  /** Records what each side sent before anything was done to it. */
  private record({ client, sent }: Connection): void {
    const { side } = client as unknown as { side: { pattern: Pattern | undefined } };
    for (const item of sent) {
      const isCleartext = item.kind === 'hello' || item.kind === 'offer';
      if (item.isGenuine && !isCleartext)
        this.recorded = { ...this.recorded, [`${side.pattern} ${item.label}`]: item };
    }
  }
}

/** The pin of the hub. */
function pinOf({ pins }: Keyring): HubPin | undefined {
  return pins.find(({ nodeId }) => nodeId === NODE_ID);
}

function kindOf(data: Data): Item['kind'] {
  if (typeof data !== 'string') return 'frame';
  if (data.includes('"msg"')) return 'message';
  return data.startsWith('{"msg_type":"hello"') ? 'hello' : 'offer';
}

function copyOf(data: Data): Data {
  return typeof data === 'string' ? data : new Uint8Array(data);
}

/** One connection of the sessions target, and the model with which its events are compared. */
import type { ReadBinary } from '../../../../src/binary.ts';
import {
  type Closing,
  dropPin,
  type HubOptions,
  HubSession,
  type HubSessionEvent,
  type Keyring,
  LocalError,
  type Pattern,
  RemoteError,
  updateKeyring,
} from '../../../../src/index.ts';
import type { HubPsk } from '../../../../src/keyring/keyring.ts';
import { type ClientOptions, ClientSession, type SessionEvent } from '../../../../src/parts.ts';
import {
  CLIENT_TRANSITIONS,
  HUB_TRANSITIONS,
  type Input,
  type TransitionTable,
} from '../../../../src/session/transitions.ts';
import { bytesIn, nextStates } from '../../../../test/session/reachable.ts';
import type { Data, Side } from '../../../../test/world/line.ts';
import type { Random } from '../../../../test/world/random.ts';
import { breach, showsNone, tally } from '../law.ts';
import { anyJson, anyText } from '../mutate.ts';
import { type Item, tampered } from '../wire.ts';
import type { Home } from './home.ts';

type Event = SessionEvent | HubSessionEvent;
type Ready = Extract<Event, { type: 'ready' }>;
/** A message that one side has sent and the other has not delivered. */
type Sent = { readonly kind: 'json' | 'binary'; readonly bytes: Uint8Array };

const CLOSINGS: readonly (Closing | undefined)[] = [
  undefined, 1000, 1005, 1006, 1008, 1002, 'timeout', { status: 401 }, { status: 503 }, { code: 1000, reason: 'connection_limit' },
]; // biome-ignore format: a list
const asItIs: ReadBinary = (bytes) => ({ type: 'message', kind: 'binary', bytes });
const PATTERN_CHOICES: readonly (Pattern[] | undefined)[] = [
  undefined,
  undefined,
  ['XXpsk2'],
  ['KKpsk0'],
  ['KKpsk0', 'XXpsk2'],
];
const TABLES: { readonly [side in Side]: TransitionTable<string> } = {
  client: CLIENT_TRANSITIONS,
  hub: HUB_TRANSITIONS,
};
/** What a table has beside inputs. */
const NO_INPUTS = ['written', 'read', 'done', 'repeat'];
const SUITES = ['25519_ChaChaPoly_SHA256', '25519_AESGCM_SHA256'] as const;

export class Connection {
  isMutated = false;
  readonly #random: Random;
  readonly #home: Home;
  readonly #client: ClientSession;
  readonly #hub: HubSession;
  readonly #clientOptions: ClientOptions;
  readonly #hubOptions: HubOptions;
  readonly #hubKey: Uint8Array;
  /** Who has what to read. */
  readonly #queues: { readonly [side in Side]: Item[] } = { client: [], hub: [] };
  /** What each side has sent and the other has not delivered. */
  readonly #sent: { readonly [side in Side]: Sent[] } = { client: [], hub: [] };
  readonly #ready: { [side in Side]?: Ready } = {};
  #clientPsk: Uint8Array | undefined;
  #pin: Uint8Array | undefined;
  #isSuspect = false;
  /** What the client waits for from its program. */
  #pending: SessionEvent | undefined;
  #received = 0;
  /** Whether the hub has sent message 2. */
  #hasAnswered = false;
  readonly #secrets: Set<string> | undefined;

  constructor(random: Random, home: Home) {
    this.#random = random;
    this.#home = home;
    this.#secrets = home.forms && new Set();
    this.#clientOptions = this.#chooseClientOptions();
    this.#hubOptions = this.#chooseHubOptions();
    this.#hubKey = home.crypto.x25519.publicKey(home.hubStatic);
    this.#client = new ClientSession(this.#clientOptions);
    this.#hub = new HubSession(this.#hubOptions);
  }

  run(): void {
    if (this.#random.oneIn(6)) this.#step('client', () => this.#client.start());
    this.#step('hub', () => this.#hub.start());
    for (let steps = 80; steps > 0 && this.#advance(); steps--);
    this.#assertAlive();
    this.#end();
  }

  #chooseClientOptions(): ClientOptions {
    const random = this.#random;
    const { keyring, policy, clientKey, clientStatic, nodeId } = this.#home;
    const { staticKeyIsFresh, pins, psks } = keyring;
    const dial = policy?.begin(this.#home.now) ?? {};
    const isPaced = random.oneIn(8);
    const staticKey = isPaced
      ? { publicKey: clientKey, privateKey: clientStatic }
      : random.oneIn(8)
        ? { publicKey: clientKey }
        : keyring.staticKey;
    const elsewhere = { nodeId: `${nodeId}'s other name`, key: new Uint8Array(clientKey) };
    const pin = pins.find((each) => each.nodeId === nodeId);
    this.#pin = pin?.key;
    this.#isSuspect = pin?.isSuspect === true;
    const onKkFailure = random.pick([undefined, 'replace-pin', 'keep-pin'] as const);
    return {
      crypto: this.#crypto(),
      siteId: random.pick(['', 'lobby']),
      randomBytes: (length) => this.#noted(random.bytes(length)),
      keyring: {
        staticKey,
        staticKeyIsFresh,
        pins: random.oneIn(8) ? [...pins, elsewhere] : pins, // nothing is computed ahead with two
        psks,
      },
      paced: isPaced,
      trust: random.pick([undefined, 'first-use', this.#pin ? 'pinned-only' : undefined]),
      ...(random.oneIn(4) && { hello: { extra: anyText(random, 8).replace(/[\ud800-\udfff]/g, '') } }),
      ...(random.oneIn(4) && { encodings: ['json'], binarize: true, readBinary: asItIs }),
      ...(random.oneIn(8) && { maxMessage: random.length(70_000) }),
      ...(random.oneIn(8) && { inPlace: true }),
      patterns: random.pick(PATTERN_CHOICES),
      onKkFailure,
      ...dial,
    };
  }

  #chooseHubOptions(): HubOptions {
    const random = this.#random;
    const { crypto, hubStatic, hubPsk, pinned, nodeId } = this.#home;
    return {
      crypto,
      nodeId,
      staticKey: hubStatic,
      randomBytes: (length) => random.bytes(length),
      psk: hubPsk,
      clientKey: pinned,
      patterns: random.oneIn(8) ? ['XXpsk2'] : undefined,
      suites: random.oneIn(4) ? [SUITES[0]] : undefined,
      ...(random.oneIn(4) && { hello: { extra: 1 }, handshake: { handshake: true } }),
      ...(random.oneIn(8) && { maxMessage: 400 + random.length(70_000) }), // room for the client's HELLO
      ...(random.oneIn(8) && { inPlace: true }),
    };
  }

  /** The client's crypto. If this case looks for secrets, it notes all that are computed. */
  #crypto(): Home['crypto'] {
    const { crypto } = this.#home;
    if (this.#secrets === undefined) return crypto;
    const { x25519 } = crypto;
    return {
      sha256: crypto.sha256,
      hmacSha256: (key, ...parts) => this.#noted(crypto.hmacSha256(key, ...parts)),
      x25519: {
        publicKey: x25519.publicKey,
        sharedSecret: (...keys) => this.#noted(x25519.sharedSecret(...keys)),
      },
      ciphers: crypto.ciphers,
    };
  }

  #noted(secret: Uint8Array): Uint8Array {
    this.#secrets?.add(String(secret));
    return secret;
  }

  /** Lets something happen. Returns false if there is nothing left to do. */
  #advance(): boolean {
    const random = this.#random;
    const { rate } = this.#home;
    const sides = (['client', 'hub'] as const).filter((side) => this.#queues[side].length > 0);
    if (this.#pending !== undefined && (sides.length === 0 || random.oneIn(2))) return this.#answer();
    if (sides.length === 0) return this.#converse();
    const to = random.pick(sides);
    const queue = this.#queues[to];
    const item = queue.shift()!;
    if (rate === 0 || !random.oneIn(rate)) {
      this.#deliver(to, item.data);
      return true;
    }
    this.#attack(to, item);
    return true;
  }

  #attack(to: Side, item: Item): void {
    const random = this.#random;
    const queue = this.#queues[to];
    const { recorded } = this.#home;
    this.isMutated = true;
    switch (random.below(9)) {
      case 0: // lost
        break;
      case 1: // repeated
        queue.unshift(item, item);
        break;
      case 2: // late
        queue.splice(random.below(queue.length + 1), 0, item);
        break;
      case 3: // something else before it
        this.#deliver(to, this.#forged());
        queue.unshift(item);
        break;
      case 4: // reflected
        this.#deliver(item.from, item.data);
        queue.unshift(item);
        break;
      case 5: // replayed
        if (recorded.length > 0) queue.unshift(random.pick(recorded), item);
        break;
      default:
        this.#deliver(to, tampered(random, item, recorded));
    }
  }

  #forged(): Data {
    const random = this.#random;
    const envelope = {
      msg_type: random.pick(['hello', 'shake', 'handshake', 'bus']),
      payload: anyJson(random),
    };
    const text = random.oneIn(3) ? anyText(random, 30) : JSON.stringify(envelope);
    return random.oneIn(2) ? text : random.oneIn(2) ? Buffer.from(text) : random.bytes(random.length(70_000));
  }

  /** Does what the client waits for, or sends a message where a side is ready. */
  #answer(): boolean {
    const event = this.#pending!;
    const { crypto, devicePsk, clientStatic } = this.#home;
    this.#pending = undefined;
    const { isMutated } = this;
    if (event.type === 'psk-needed') {
      this.#clientPsk = devicePsk;
      this.#step('client', () => this.#client.providePsk(devicePsk));
    } else if (event.type === 'waiting') {
      const secret = event.publicKey && crypto.x25519.sharedSecret(clientStatic, event.publicKey);
      if (secret && isMutated && this.#random.oneIn(16)) secret[0]! ^= 1;
      this.#step('client', () => this.#client.resume(secret));
    }
    return true;
  }

  #converse(): boolean {
    const random = this.#random;
    const from = random.pick(['client', 'hub'] as const);
    const session = this.#session(from);
    if (session.state !== 'ready' || random.oneIn(3)) return false;
    const isJson = random.oneIn(2);
    const length = random.oneIn(64) ? random.length(200_000) : random.length(80);
    const text = JSON.stringify('x'.repeat(length));
    const bytes = isJson ? Buffer.from(text) : random.bytes(length);
    tally.inputs++;
    const messages = isJson ? session.sendJson(text) : session.sendBinary(bytes);
    this.#sent[from].push({ kind: isJson ? 'json' : 'binary', bytes });
    for (const message of messages) this.#transmit(from, message);
    return true;
  }

  #session(side: Side): ClientSession | HubSession {
    return side === 'client' ? this.#client : this.#hub;
  }

  #transmit(from: Side, data: Data): void {
    if (from === 'hub' && this.#hub.state !== 'awaiting-message-1') this.#hasAnswered = true;
    const item: Item = { from, data: typeof data === 'string' ? data : data.slice() };
    this.#queues[from === 'client' ? 'hub' : 'client'].push(item);
    const { recorded } = this.#home;
    if (recorded.length < 64) recorded.push(item);
    else recorded[this.#random.below(64)] = item;
  }

  #deliver(to: Side, data: Data): void {
    this.#received += data.length;
    const given = typeof data === 'string' ? data : new Uint8Array(data);
    this.#step(to, () => this.#session(to).receive(given));
  }

  /** Calls a session, and compares what it does with the tables and the model. */
  #step(side: Side, call: () => readonly Event[]): void {
    const session = this.#session(side);
    const before = session.state;
    tally.inputs++;
    let events: readonly Event[];
    try {
      events = call();
    } catch (error) {
      breach(`a ${side} threw in state ${before}`, error);
    }
    const after = session.state;
    if (before === 'failed' || before === 'closed') {
      if (events.length > 0) breach(`a ${side} that is ${before} emitted ${events[0]!.type}`);
      return;
    }
    if (after !== before && after !== 'failed' && !statesAfter(side, before).includes(after)) {
      breach(`a ${side} went from ${before} to ${after}`);
    }
    if ((after === 'failed') !== (events.at(-1)?.type === 'close'))
      breach(`a ${side} failed without close, or the reverse`);
    if (events.length > 8) breach(`a ${side} emitted ${events.length} events for one input`);
    for (const [i, event] of events.entries()) {
      if (event.type === 'close' && i < events.length - 1) breach(`a ${side} emitted events after close`);
      this.#check(side, event);
    }
  }

  #check(side: Side, event: Event): void {
    const { forms } = this.#home;
    if (forms !== undefined && event.type !== 'transmit') showsNone(event, forms, `the event ${event.type}`);
    if (side === 'client') this.#keep(event as SessionEvent);
    switch (event.type) {
      case 'transmit':
        this.#transmit(side, event.data);
        return;
      case 'ready':
        this.#ready[side] = event;
        if (side === 'client') this.#checkClient(event as never);
        else this.#checkHub(event as never);
        return;
      case 'message':
      case 'dropped':
        this.#checkMessage(side, event);
        return;
      case 'hello':
        if (event.error !== undefined) breach('the HELLO of an honest client was refused', event.error);
        return;
      case 'close':
        if (!(event.error instanceof RemoteError))
          breach(`a ${side} blamed itself for what it received`, event.error);
        return;
      case 'psk-needed':
      case 'waiting':
        this.#pending = event;
        return;
      case 'pin':
        if (side === 'client' && this.#pin !== undefined && !this.#isSuspect)
          breach('pin, though the hub is pinned');
        if (
          'replaces' in event &&
          event.replaces !== undefined &&
          this.#clientOptions.onKkFailure === 'keep-pin'
        )
          breach('a pin was replaced, though it was to be kept');
        if (side === 'hub') this.#home.pinned = event.key;
    }
  }

  /** What a client stores. */
  #keep(event: SessionEvent): void {
    const home = this.#home;
    const before = home.keyring;
    home.keyring = updateKeyring(before, event);
    const after = home.keyring;
    if (after.pins !== before.pins && event.type !== 'pin' && event.type !== 'pin-suspect')
      breach(`${event.type} changed a pin`);
    if (new Set(after.pins.map(({ nodeId }) => nodeId)).size < after.pins.length)
      breach('two pins for one hub');
    for (const { nodeId, key } of after.psks) {
      const isNew = !before.psks.some((psk) => psk.nodeId === nodeId && same(psk.key, key));
      const isProved = event.type === 'psk' && this.#hasAnswered && same(key, this.#hubOptions.psk);
      if (isNew && !(isProved && nodeId === home.nodeId)) breach('a PSK was stored that was not proved');
    }
    if (after.psks.length < before.psks.length) breach('a PSK is gone');
    if (before.psks.some(isProvisioned) && !after.psks.some(isProvisioned))
      breach('a provisioned PSK is gone');
    home.policy?.take(event, home.now);
  }

  /** Whether another key takes the place of the pin. */
  get #mayReplace(): boolean {
    const { onKkFailure, trust } = this.#clientOptions;
    return this.#isSuspect && onKkFailure !== 'keep-pin' && trust !== 'pinned-only';
  }

  #checkClient(event: Extract<SessionEvent, { type: 'ready' }>): void {
    const home = this.#home;
    const { patterns = ['XXpsk2', 'KKpsk0'] } = this.#clientOptions;
    const hubPatterns = this.#hubOptions.patterns ?? ['XXpsk2', 'KKpsk0'];
    const isKk =
      this.#pin &&
      !this.#isSuspect &&
      this.#hubOptions.clientKey !== undefined &&
      patterns.includes('KKpsk0') &&
      hubPatterns.includes('KKpsk0');
    const psk = this.#clientPsk ?? pskOf(home.keyring, home.nodeId);
    if (event.nodeId !== home.nodeId) breach('ready with a hub of another name');
    if (!same(event.hubKey, this.#hubKey)) breach('ready with another hub than the one that proved its key');
    if (this.#pin && !same(event.hubKey, this.#pin) && !this.#mayReplace)
      breach('ready with another hub than the one that is pinned');
    if (!psk || !same(psk, this.#hubOptions.psk)) breach('ready with a hub that has another PSK');
    if (event.pattern !== (isKk ? 'KKpsk0' : 'XXpsk2')) breach(`ready with ${event.pattern}: a downgrade`);
    if (event.suite !== SUITES[0]) breach(`ready with ${event.suite}: a downgrade`);
    if (this.#clientOptions.trust === 'pinned-only' && !this.#pin)
      breach('ready with a hub that is not pinned');
  }

  #checkHub(event: Extract<HubSessionEvent, { type: 'ready' }>): void {
    const client = this.#ready.client;
    if (client === undefined) breach('a hub is ready, and its client is not');
    if (!same(client.handshakeHash, event.handshakeHash))
      breach('client and hub are ready with different channels');
    if (client.pattern !== event.pattern || client.suite !== event.suite)
      breach('client and hub differ in pattern or suite');
    if (!same(event.clientKey, this.#home.clientKey)) breach('a hub is ready with another client');
    const { clientKey } = this.#hubOptions;
    if (clientKey && !same(clientKey, event.clientKey))
      breach('a hub is ready with a client that is not the pinned one');
  }

  #checkMessage(side: Side, event: Extract<Event, { type: 'message' | 'dropped' }>): void {
    const from = side === 'client' ? 'hub' : 'client';
    const { maxMessage = Infinity } = side === 'client' ? this.#clientOptions : this.#hubOptions;
    const sent = this.#sent[from].shift();
    if (sent === undefined) breach('a message was delivered that nobody sent');
    if (event.kind !== sent.kind) breach('a message was delivered as one of another kind');
    if (event.type === 'dropped') {
      if (event.reason !== 'too-large' || event.bytes !== sent.bytes.length || event.bytes <= maxMessage) {
        breach('a message was dropped without reason');
      }
    } else {
      const bytes = event.kind === 'json' ? Buffer.from(event.text) : event.bytes;
      if (!same(bytes, sent.bytes)) breach('a message was delivered that was not sent so');
      if (bytes.length > maxMessage) breach('a message was delivered that is too long');
    }
  }

  /** Two sides that fit, and whose messages nobody touched, are connected, and everything has arrived. */
  #assertAlive(): void {
    const home = this.#home;
    const { patterns = ['XXpsk2', 'KKpsk0'] } = this.#clientOptions;
    const psk = this.#clientPsk ?? pskOf(home.keyring, home.nodeId);
    const fits =
      psk !== undefined &&
      same(psk, this.#hubOptions.psk) &&
      (this.#pin === undefined || same(this.#pin, this.#hubKey) || this.#mayReplace) &&
      (this.#hubOptions.clientKey === undefined || same(this.#hubOptions.clientKey, home.clientKey)) &&
      patterns.includes('XXpsk2');
    if (this.isMutated || !fits || this.#pending !== undefined) return;
    if (this.#queues.client.length > 0 || this.#queues.hub.length > 0) return; // the case ran out of steps
    if (this.#client.state !== 'ready' || this.#hub.state !== 'ready') {
      breach(`an honest pair ended in ${this.#client.state} and ${this.#hub.state}`);
    }
    if (this.#sent.client.length + this.#sent.hub.length > 0)
      breach('a message of an honest pair did not arrive');
  }

  #end(): void {
    const random = this.#random;
    const home = this.#home;
    const held = this.#secrets && random.oneIn(4) ? this.#heldBytes() : 0;
    if (held > 2 * this.#received + 400_000)
      breach(`a connection holds ${held} bytes after ${this.#received} were received`);
    for (const side of random.oneIn(2) ? (['client', 'hub'] as const) : (['hub', 'client'] as const)) {
      const session = this.#session(side);
      const before = session.state;
      const closing = random.pick(CLOSINGS);
      tally.inputs++;
      const events: readonly Event[] = session.closed(closing);
      if (session.state !== 'closed') breach(`a ${side} is ${session.state} after closed()`);
      if (events.at(-1)?.type !== 'ended' || events.length > 3)
        breach(`closed() of a ${side} returned ${events.length} events`);
      for (const event of events) {
        if (side === 'client') this.#keep(event as SessionEvent);
        if (!['static-key-fresh', 'pin-suspect', 'ended'].includes(event.type))
          breach(`closed() of a ${side} emitted ${event.type}`);
        if (
          event.type === 'ended' &&
          !(event.error instanceof LocalError || event.error instanceof RemoteError)
        ) {
          breach(`a ${side} ended without an error in state ${before}`);
        }
      }
      this.#step(side, () =>
        session.receive(random.oneIn(2) ? '{"msg_type":"hello","payload":{}}' : random.bytes(40)),
      );
      this.#step(side, () => session.closed());
    }
    this.#assertWiped();
    home.now += random.pick([1, 1000, 60_000, 3_600_000]);
    if (home.policy !== undefined && home.policy.state !== 'waiting') home.policy.resume();
    if (home.policy?.state === 'waiting') home.now += 600_000;
    if (this.#pin && !same(this.#pin, this.#hubKey) && random.oneIn(2))
      home.keyring = dropPin(home.keyring, home.nodeId);
  }

  #heldBytes(): number {
    return [...bytesIn(this.#client), ...bytesIn(this.#hub)].reduce((sum, { length }) => sum + length, 0);
  }

  #assertWiped(): void {
    if (this.#secrets === undefined) return;
    for (const bytes of bytesIn(this.#client)) {
      if (this.#secrets.has(String(bytes))) breach('a client that is over still holds a key');
    }
  }
}

function isProvisioned({ isProvisioned }: HubPsk): boolean {
  return isProvisioned;
}

/** The stored PSK, unless it is in doubt. */
function pskOf({ psks }: Keyring, hub: string): Uint8Array | undefined {
  return psks.find(({ nodeId, isSuspect }) => nodeId === hub && !isSuspect)?.key;
}

/** Where any input may lead. */
function statesAfter(side: Side, state: string): string[] {
  const table = TABLES[side];
  const inputs = Object.keys(table[state]!).filter((name) => !NO_INPUTS.includes(name)) as Input[];
  return inputs.flatMap((input) => nextStates(table, state, input));
}

function same(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}

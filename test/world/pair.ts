/**
 * A client and a hub in one process: each message is handed to the other side, and all messages and events are recorded.
 * Also the keys, options and inputs that most tests of sessions share.
 */
import * as assert from 'uvu/assert';
import type { Bytes } from '../../src/bytes.ts';
import { nodeCrypto, randomBytes } from '../../src/crypto/node.ts';
import { type HubOptions, HubSession, type HubSessionEvent, type Keyring } from '../../src/index.ts';
import type { SessionKeys } from '../../src/noise/handshake.ts';
import { Transport } from '../../src/noise/transport.ts';
import { type ClientOptions, ClientSession, type KeyringFields, type SessionEvent } from '../../src/parts.ts';
import type { ClientState, HubState } from '../../src/session/transitions.ts';
import { CLIENT_KEY, CLIENT_STATIC, HUB_PIN, HUB_PSK, HUB_STATIC, NODE_ID, PSK } from './keys.ts';
import type { Data, Side } from './line.ts';
import { raisesLocal } from './raises.ts';

/** Sees each message on its way, and returns what arrives in its place. Messages are counted from 1. */
export type Wire = (to: Side, data: Data, count: number) => Data[];

/** The options of a client, with the fields of its keyring among them. */
export type ClientAndKeyring = Partial<Omit<ClientOptions, 'keyring'> & KeyringFields>;

/** Options with defaults, in which the client knows the PSK and no pin. */
export function clientOptions(options: ClientAndKeyring = {}): ClientOptions {
  const { staticKey = CLIENT_STATIC, staticKeyIsFresh, pins, psks = [HUB_PSK], ...others } = options;
  const keyring = { staticKey, staticKeyIsFresh, pins, psks };
  return { crypto: nodeCrypto, siteId: 'lobby', randomBytes, keyring, ...others };
}

/** The fields of a keyring, which do not enumerate, as options. */
export function fieldsOf({ staticKey, staticKeyIsFresh, pins, psks }: Keyring): KeyringFields {
  return { staticKey, staticKeyIsFresh, pins, psks };
}

/** Seals and opens with the keys of a session that is ready, what no session would. */
export function transportOf(session: ClientSession | HubSession): Transport {
  const { cipherStates } = (session as unknown as { channel: { cipherStates: SessionKeys } }).channel;
  const none = new Uint8Array(32);
  return new Transport({ ...cipherStates, handshakeHash: none, remoteStaticKey: none });
}

export function newClient(options: ClientAndKeyring = {}): ClientSession {
  return new ClientSession(clientOptions(options));
}

export function newHub(options: Partial<HubOptions> = {}): HubSession {
  return new HubSession({
    crypto: nodeCrypto,
    nodeId: NODE_ID,
    staticKey: HUB_STATIC,
    randomBytes,
    psk: PSK,
    ...options,
  });
}

export interface PairOptions {
  client?: ClientAndKeyring;
  hub?: Partial<HubOptions>;
  wire?: Wire;
  /** The number of messages that are handed over; later ones are held back until `release`. */
  stopAfter?: number;
  /** How often `waiting` is answered (default always). */
  answers?: number;
}

/** Options with which each side holds the key of the other, so that KKpsk0 is chosen. */
export const KK: { client: ClientAndKeyring; hub: Partial<HubOptions> } = {
  client: { pins: [HUB_PIN] },
  hub: { clientKey: CLIENT_KEY },
};

/** The client's static key without its private key, so that the client has to ask for shared secrets. */
export const LATER: { staticKey: { publicKey: Uint8Array } } = { staticKey: { publicKey: CLIENT_KEY } };

/** Options of a client that is paced: its static key has to come with its public key. */
export const PACED: { staticKey: { publicKey: Uint8Array; privateKey: Uint8Array }; paced: true } = {
  staticKey: { publicKey: CLIENT_KEY, privateKey: CLIENT_STATIC },
  paced: true,
};

/** The shared secret that the holder of that private key computes. */
export function sharedSecretOf(publicKey: Uint8Array): Uint8Array {
  return nodeCrypto.x25519.sharedSecret(CLIENT_STATIC, publicKey);
}

export class Pair {
  readonly client: ClientSession;
  readonly hub: HubSession;
  readonly clientEvents: SessionEvent[] = [];
  readonly hubEvents: HubSessionEvent[] = [];
  /** What was put on the wire, in order. */
  readonly sent: { to: Side; data: Data }[] = [];
  /** What was put on the wire and held back. */
  readonly held: { to: Side; data: Data }[] = [];
  readonly #wire: Wire;
  #stopAfter: number;
  #answers: number;

  constructor(options: PairOptions = {}) {
    this.client = newClient(options.client);
    this.hub = newHub(options.hub);
    this.#wire = options.wire ?? ((_to, data) => [data]);
    this.#stopAfter = options.stopAfter ?? Number.POSITIVE_INFINITY;
    this.#answers = options.answers ?? Number.POSITIVE_INFINITY;
  }

  /** Starts the hub, and hands messages over until neither side has more to say. */
  run(): this {
    return this.advance('hub', this.hub.start());
  }

  /** Records the events of one side, and hands messages over until neither side has more to say. */
  advance(from: Side, events: readonly (SessionEvent | HubSessionEvent)[]): this {
    const queue = events.map((event) => ({ from, event }));
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const { from, event } = next;
      if (from === 'hub') this.hubEvents.push(event as HubSessionEvent);
      else this.clientEvents.push(event as SessionEvent);
      if (event.type === 'waiting' && this.#answers-- > 0) {
        for (const answered of this.#answer(event)) queue.push({ from, event: answered });
      }
      if (event.type !== 'transmit') continue;
      const to = from === 'hub' ? 'client' : 'hub';
      const { data } = event;
      this.sent.push({ to, data });
      if (this.sent.length > this.#stopAfter) {
        this.held.push({ to, data });
        continue;
      }
      for (const arrived of this.#wire(to, data, this.sent.length)) {
        for (const event of this[to].receive(arrived)) queue.push({ from: to, event });
      }
    }
    return this;
  }

  /** Answers what the client waits for from its integrator, and hands over what was held back and all that follows. */
  release(): this {
    this.#stopAfter = Number.POSITIVE_INFINITY;
    this.#answers = Number.POSITIVE_INFINITY;
    const last = this.clientEvents.at(-1);
    if (last?.type === 'psk-needed') this.advance('client', this.client.providePsk(PSK));
    if (last?.type === 'waiting') this.advance('client', this.#answer(last));
    for (const { to, data } of this.held.splice(0)) this.advance(to, this[to].receive(data));
    return this;
  }

  #answer({ publicKey }: SessionEvent & { type: 'waiting' }): SessionEvent[] {
    return this.client.resume(publicKey && sharedSecretOf(publicKey));
  }

  /** Hands transport messages to one side. */
  toHub(messages: Uint8Array[]): HubSessionEvent[] {
    return messages.flatMap((message) => this.hub.receive(message));
  }

  toClient(messages: Uint8Array[]): SessionEvent[] {
    return messages.flatMap((message) => this.client.receive(message));
  }
}

/** A pair that is ready on both sides. */
export function readyPair(options: PairOptions = {}): Pair {
  const pair = new Pair(options).run();
  assert.is(pair.client.state, 'ready');
  assert.is(pair.hub.state, 'ready');
  return pair;
}

type Recipe = PairOptions & { readonly stopAfter: number };
const KK_LATER: PairOptions = { client: { ...KK.client, ...LATER }, hub: KK.hub };

const CLIENT_RECIPES: { readonly [state in ClientState]: Recipe } = {
  'awaiting-hello': { stopAfter: 0 },
  'awaiting-offer': { stopAfter: 1 },
  'awaiting-psk': { stopAfter: 2, client: { psks: [] } },
  'sealing-message-1': { stopAfter: 2, answers: 0, ...KK_LATER },
  'awaiting-message-2': { stopAfter: 3 },
  'opening-message-2': { stopAfter: 4, answers: 1, ...KK_LATER },
  'sealing-message-3': { stopAfter: 4, answers: 0, client: { ...LATER, patterns: ['XXpsk2'] } },
  ready: { stopAfter: Number.POSITIVE_INFINITY },
};
const HUB_RECIPES: { readonly [state in HubState]: Recipe } = {
  new: { stopAfter: 0 },
  'awaiting-message-1': { stopAfter: 2 },
  'awaiting-message-3': { stopAfter: 4 },
  'awaiting-first-message': { stopAfter: 4, ...KK },
  ready: { stopAfter: Number.POSITIVE_INFINITY },
};
export const CLIENT_STATES: ClientState[] = Object.keys(CLIENT_RECIPES) as ClientState[];
export const HUB_STATES: HubState[] = Object.keys(HUB_RECIPES) as HubState[];

/** A pair for a recipe, with further options. */
function pairFor(recipe: Recipe, options: PairOptions): Pair {
  return new Pair({
    ...options,
    ...recipe,
    client: { ...options.client, ...recipe.client },
    hub: { ...options.hub, ...recipe.hub },
  });
}

/** A pair whose client is in this state. What comes next is held back. */
export function pairWithClientIn(state: ClientState, options: PairOptions = {}): Pair {
  const pair = pairFor(CLIENT_RECIPES[state], options).run();
  assert.is(pair.client.state, state);
  return pair;
}

/** A pair whose hub is in this state. What comes next is held back. */
export function pairWithHubIn(state: HubState, options: PairOptions = {}): Pair {
  const pair = pairFor(HUB_RECIPES[state], options);
  if (state !== 'new') pair.run();
  assert.is(pair.hub.state, state);
  return pair;
}

export function types(events: readonly { type: string }[]): string[] {
  return events.map(({ type }) => type);
}

/** The first event of a type. Throws if there is none. */
export function find<Event extends { type: string }, Type extends Event['type']>(
  events: readonly Event[],
  type: Type,
): Extract<Event, { type: Type }> {
  const event = events.find((event) => event.type === type);
  if (event === undefined) throw new Error(`no ${type} among ${types(events)}`);
  return event as Extract<Event, { type: Type }>;
}

/** The string of a cleartext envelope that is to be transmitted. */
export function textOf(event: { type: string } | undefined): string {
  const { data } = event as { type: string; data?: Data };
  if (typeof data !== 'string') throw new Error('not a cleartext envelope');
  return data;
}

/** The code of the error in the first `close` or `ended` event. */
export function codeOf(
  events: readonly { type: string; error?: { code: string } | undefined }[],
): string | undefined {
  return events.find(({ type }) => type === 'close' || type === 'ended')?.error?.code;
}

/** Type, reason, retry and error code of the last event, which is `ended`. */
export function outcomeOf(events: readonly { type: string }[]): unknown[] {
  const ended = events.at(-1) as SessionEvent & { type: 'ended' };
  return [ended.type, ended.reason, ended.retry, ended.error.code];
}

/** An envelope as JSON. */
export function envelope(type: unknown, payload: unknown): string {
  return JSON.stringify({ msg_type: type, payload, metadata: {}, route: [] });
}

export const HELLO: string = envelope('hello', { node_id: NODE_ID });
export const OFFER_PAYLOAD: {
  max_protocol_version: number;
  noise: { patterns: string[]; suites: string[] };
} = {
  max_protocol_version: 3,
  noise: {
    patterns: ['XXpsk2', 'KKpsk0'],
    suites: ['25519_ChaChaPoly_SHA256', '25519_AESGCM_SHA256'],
  },
};
export const OFFER: string = envelope('shake', OFFER_PAYLOAD);

export function bytesOf(text: string): Bytes {
  return new Uint8Array(Buffer.from(text));
}

/** Asserts that an input fails a session with this code, permanently, and that nothing is transmitted. */
export function fails(session: ClientSession | HubSession, data: Data, code: string, closeCode = 1008): void {
  const events = session.receive(data);
  assert.is(codeOf(events), code, `${data}`.slice(0, 100));
  assert.is(types(events).includes('transmit'), false, 'something is transmitted');
  const close = find(events as SessionEvent[], 'close');
  assert.is(events.at(-1), close);
  assert.is(close.code, closeCode);
  assert.ok(close.error.message.length > 10);
  assert.is(session.state, 'failed');
  assert.equal(session.receive(HELLO), []);
  assert.equal(session.receive(OFFER), []);
  assert.equal(session.receive(new Uint8Array(20)), []);
  raisesLocal(() => session.sendJson({}), 'session-over');
}

/** Changes the Noise message inside a handshake envelope. */
export function changeMessage(data: Data, change: (message: Buffer) => Buffer): string {
  const envelope = JSON.parse(data as string);
  const { noise } = envelope.payload;
  noise.msg = change(Buffer.from(noise.msg, 'hex')).toString('hex');
  return JSON.stringify(envelope);
}

/** Flips a bit of one byte. A negative index counts from the end. */
export function flip(at: number): (bytes: Buffer) => Buffer {
  return (bytes) => {
    bytes[at < 0 ? bytes.length + at : at]! ^= 1;
    return bytes;
  };
}

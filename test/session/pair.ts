/** A client and a hub whose messages are handed over in memory, and everything that happened on both sides. */
import * as assert from 'uvu/assert';
import { nodeCrypto, randomBytes } from '../../src/crypto/node.ts';
import {
  type ClientOptions,
  ClientSession,
  type HubOptions,
  HubSession,
  type HubSessionEvent,
  type Identity,
  parseIdentity,
  type SessionEvent,
} from '../../src/index.ts';
import { raisesLocal } from '../raises.ts';

export const NODE_ID = 'hub-1';
export const PSK: Uint8Array = new Uint8Array(32).fill(5);
export const CLIENT_STATIC: Uint8Array = new Uint8Array(32).fill(1);
export const HUB_STATIC: Uint8Array = new Uint8Array(32).fill(2);
export const CLIENT_KEY: Uint8Array = nodeCrypto.x25519.publicKey(CLIENT_STATIC);
export const HUB_KEY: Uint8Array = nodeCrypto.x25519.publicKey(HUB_STATIC);
export const IDENTITY: Identity = parseIdentity({
  access_key: 'kiosk-7',
  password: 'correct horse',
  site_id: 'lobby',
});

export type Data = string | Uint8Array;
/** Sees each message on its way and says what arrives instead: nothing, itself, or others. */
export type Wire = (to: 'client' | 'hub', data: Data, count: number) => Data[];

export function newClient(options: Partial<ClientOptions> = {}): ClientSession {
  return new ClientSession({
    crypto: nodeCrypto,
    siteId: IDENTITY.siteId,
    staticKey: CLIENT_STATIC,
    randomBytes,
    psk: () => PSK,
    ...options,
  });
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

/** Options with which both sides hold the other's key, so that KKpsk0 is chosen. */
export const KK: { client: Partial<ClientOptions>; hub: Partial<HubOptions> } = {
  client: { pin: () => HUB_KEY },
  hub: { clientKey: CLIENT_KEY },
};

export interface PairOptions {
  client?: Partial<ClientOptions>;
  hub?: Partial<HubOptions>;
  wire?: Wire;
}

export class Pair {
  readonly client: ClientSession;
  readonly hub: HubSession;
  readonly clientEvents: SessionEvent[] = [];
  readonly hubEvents: HubSessionEvent[] = [];
  /** What was put on the wire, in order. */
  readonly sent: { to: 'client' | 'hub'; data: Data }[] = [];
  readonly #wire: Wire;

  constructor(options: PairOptions = {}) {
    this.client = newClient(options.client);
    this.hub = newHub(options.hub);
    this.#wire = options.wire ?? ((_to, data) => [data]);
  }

  /** Lets the hub speak, and hands messages over until nobody has more to say. */
  run(): this {
    this.#deliver('client', this.hub.start());
    return this;
  }

  /** Sends transport messages of one side to the other, whose events it answers. */
  toHub(messages: Uint8Array[]): HubSessionEvent[] {
    return messages.flatMap((message) => this.hub.receive(message));
  }

  toClient(messages: Uint8Array[]): SessionEvent[] {
    return messages.flatMap((message) => this.client.receive(message));
  }

  #deliver(to: 'client' | 'hub', events: (SessionEvent | HubSessionEvent)[]): void {
    const queue = events.map((event) => ({ to, event }));
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const { to, event } = next;
      if (to === 'client') this.hubEvents.push(event as HubSessionEvent);
      else this.clientEvents.push(event as SessionEvent);
      if (event.type !== 'transmit') continue;
      this.sent.push({ to, data: event.data });
      for (const data of this.#wire(to, event.data, this.sent.length)) {
        const answers = to === 'client' ? this.client.receive(data) : this.hub.receive(data);
        for (const answer of answers) queue.push({ to: to === 'client' ? 'hub' : 'client', event: answer });
      }
    }
  }
}

/** A pair that is ready on both sides. */
export function readyPair(options: PairOptions = {}): Pair {
  const pair = new Pair(options).run();
  if (pair.client.state !== 'ready' || pair.hub.state !== 'ready')
    throw new Error('the pair did not get ready');
  return pair;
}

export function types(events: readonly { type: string }[]): string[] {
  return events.map(({ type }) => type);
}

/** The first event of a type, which there must be. */
export function find<Event extends { type: string }, Type extends Event['type']>(
  events: readonly Event[],
  type: Type,
): Extract<Event, { type: Type }> {
  const event = events.find((event) => event.type === type);
  if (event === undefined) throw new Error(`no ${type} among ${types(events)}`);
  return event as Extract<Event, { type: Type }>;
}

/** The text of a cleartext envelope that is to be transmitted. */
export function textOf(event: { type: string } | undefined): string {
  const { data } = event as { type: string; data?: Data };
  if (typeof data !== 'string') throw new Error('not a cleartext envelope');
  return data;
}

/** The code of the error that these events close or end with. */
export function codeOf(
  events: readonly { type: string; error?: { code: string } | undefined }[],
): string | undefined {
  return events.find(({ type }) => type === 'close' || type === 'ended')?.error?.code;
}

/** An envelope as text. */
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

/** Asserts that an input ends a session with this code, silently and for good. */
export function fails(session: ClientSession | HubSession, data: Data, code: string, closeCode = 1008): void {
  const events = session.receive(data);
  assert.is(codeOf(events), code, `${data}`.slice(0, 100));
  assert.is(types(events).includes('transmit'), false, 'the peer is told something');
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

/** Flips a bit of the byte at an index, counted from the end where it is negative. */
export function flip(at: number): (bytes: Buffer) => Buffer {
  return (bytes) => {
    bytes[at < 0 ? bytes.length + at : at]! ^= 1;
    return bytes;
  };
}

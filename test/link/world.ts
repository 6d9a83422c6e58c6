/**
 * A random world around a ClientLink: hubs, a network, a disk, a worker, a person and a clock, which lose, delay, repeat, damage
 * and refuse things. `live` runs one life and checks the laws after every order. The same seed makes the same life.
 */
import {
  buildUtterance,
  ClientLink,
  type Closing,
  createKeyring,
  forgetPsks,
  HubSession,
  type HubSessionEvent,
  type JsonObject,
  type Keyring,
  type LinkClosing,
  type LinkEvent,
  type LinkOptions,
  type Order,
  parseKeyring,
  type RemoteError,
  RequestScheduler,
  serializeKeyring,
} from '../../src/index.ts';
import { Clock } from '../world/clock.ts';
import { Random, seeded } from '../world/random.ts';
import { toyCrypto } from '../world/toy-crypto.ts';
import { type Input, invoke, Laws } from './laws.ts';

/** What happened in a life, or in many. */
export interface Counts {
  [name: string]: number;
}

type Call = { readonly name: Input; readonly args: readonly unknown[]; readonly now: number };

interface Connection {
  readonly number: number;
  hub: HubSession | undefined;
  nodeId: string;
  /** Whether the link knows that the transport has gone. */
  isOver: boolean;
  /** When the latest message of the hub arrives. */
  arrives: number;
}

interface Hub {
  staticKey: Uint8Array;
  /** The key of the client that it has pinned. */
  clientKey: Uint8Array | undefined;
  password: string;
  /** Its latest event that belongs to no question. */
  count: number;
}

/** Options of a life that are the same in each. */
export interface WorldOptions {
  /** Makes the link (default a ClientLink): a changed one must break a law. */
  readonly makeLink?: (options: LinkOptions) => ClientLink;
  /** How long people and programs do something, in milliseconds (default some minutes). */
  readonly horizon?: number;
  /** Prints inputs and orders. */
  readonly log?: (line: string) => void;
}

/** How a dial may fail. */
const FAILED_DIALS: readonly (Closing | LinkClosing | undefined)[] = [
  undefined,
  { code: 1006 },
  { code: 1008 },
  { status: 401 },
  { status: 503, retryAfter: 3000 },
];

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Runs a life. @throws Error with the name of the law that was broken */
export function live(seed: number, options: WorldOptions = {}): Counts {
  return new Life(seed, options).run();
}

class Life {
  readonly #seed: number;
  readonly #random: Random;
  readonly #clock = new Clock();
  readonly #options: WorldOptions;
  readonly #counts: Counts = {};
  readonly #link: ClientLink;
  readonly #makeLink: () => ClientLink;
  readonly #hubs = new Map<string, Hub>();
  readonly #connections = new Map<number, Connection>();
  readonly #laws = new Laws(30_000, (law) => this.#broken(law));
  #questions = 0;
  /** What the link was told, and what it answered: the same inputs must give the same orders. */
  readonly #calls: Call[] = [];
  readonly #answers: string[] = [];
  // How this life goes.
  readonly #isMqtt: boolean;
  readonly #isPaced: boolean;
  readonly #isElsewhere: boolean;
  /** One fault in so many chances. */
  readonly #trouble: number;
  readonly #isMute: boolean;
  readonly #horizon: number;
  readonly #privateKey: Uint8Array;
  #password: string;
  #disk: string;
  #store: { order: Extract<Order, { do: 'store' }>; isRisky: boolean } | undefined;
  #deriving: number | undefined;
  /** What the person was asked about last. */
  #asked: RemoteError | undefined;
  #wasEnded = true;
  #timer: number | undefined;
  #computing = 0;
  #dhs = 0;
  #told = 0;
  #steps = 0;

  constructor(seed: number, options: WorldOptions) {
    this.#seed = seed;
    this.#options = options;
    const random = new Random(seed);
    this.#random = random;
    this.#trouble = random.pick([4, 8, 30, 200]);
    this.#isMqtt = random.oneIn(4);
    this.#isElsewhere = random.oneIn(6);
    this.#isPaced = random.oneIn(3);
    this.#isMute = random.oneIn(8);
    this.#horizon = options.horizon ?? random.pick([200_000, 600_000]);
    this.#password = random.oneIn(6) ? 'wrong' : 'right';
    this.#privateKey = random.bytes(32);
    const publicKey = toyCrypto.x25519.publicKey(this.#privateKey);
    const staticKey = this.#isElsewhere ? { publicKey } : this.#privateKey;
    const keyring = createKeyring({ accessKey: 'kiosk-7', staticKey, crypto: toyCrypto });
    this.#disk = serializeKeyring(keyring);
    const onKkFailure = random.pick(['replace-pin', 'keep-pin'] as const);
    const x25519 = {
      publicKey: toyCrypto.x25519.publicKey,
      sharedSecret: (a: Uint8Array, b: Uint8Array) => {
        this.#dhs++;
        return toyCrypto.x25519.sharedSecret(a, b);
      },
    };
    this.#makeLink = () => {
      const draws = new Random(seed ^ 0x5bd1e995);
      const given: LinkOptions = {
        crypto: { ...toyCrypto, x25519 },
        randomBytes: (length) => {
          if (draws.oneIn(this.#trouble * 25)) throw new Error('no entropy');
          return draws.bytes(length);
        },
        siteId: 'lobby',
        keyring,
        session: { paced: this.#isPaced },
        policy: { onKkFailure },
        requests: ({ sessionId }) => new RequestScheduler({ sessionId }),
        trace: true,
      };
      return options.makeLink?.(given) ?? new ClientLink(given);
    };
    this.#link = this.#makeLink();
  }

  run(): Counts {
    this.#wasEnded = false;
    this.#call('start');
    this.#after(5000, () => this.#act());
    this.#clock.runUntil(this.#horizon + 200_000);
    this.#law(this.#laws.areAllDone, 'every question ends');
    const { state, deadline } = this.#link;
    const isBusy = this.#store !== undefined || this.#deriving !== undefined || this.#computing > 0;
    const needsTimer = (state === 'waiting' || state === 'connecting') && !isBusy;
    this.#law(!needsTimer || deadline !== undefined, `a link that is ${state} is not stuck`);
    this.#replay();
    return this.#counts;
  }

  /** The same inputs must give the same orders. */
  #replay(): void {
    const link = this.#makeLink();
    this.#calls.forEach(({ name, args, now }, i) => {
      this.#law(
        shown(invoke(link, name, args, now)) === this.#answers[i],
        'the same inputs give the same orders',
      );
    });
  }

  #law(holds: boolean, law: string): void {
    if (!holds) this.#broken(`broken law: ${law}`);
  }

  #broken(what: string): never {
    throw new Error(`seed ${this.#seed}, ${Math.round(this.#clock.now)} ms: ${what}`);
  }

  #count(what: string): void {
    this.#counts[what] = (this.#counts[what] ?? 0) + 1;
  }

  #after(most: number, run: () => void): void {
    this.#clock.after(this.#random.below(most + 1), () => {
      this.#law(++this.#steps < 200_000, 'there is no storm');
      run();
    });
  }

  #isTrouble(rarity = 1): boolean {
    return this.#random.oneIn(this.#trouble * rarity);
  }

  /** Gives the link an input, and carries out its orders. */
  #call(name: Input, ...args: unknown[]): Order[] {
    const { now } = this.#clock;
    this.#options.log?.(`${Math.round(now)} > ${name} ${args.map(shown).join(' ').slice(0, 100)}`);
    this.#dhs = 0;
    const orders = this.#laws.call(this.#link, name, args, now);
    this.#law(!this.#isPaced || this.#dhs <= 2, 'a paced link computes one step in a call');
    this.#calls.push({ name, args, now });
    this.#answers.push(shown(orders));
    if (name === 'end') this.#wasEnded = true;
    if (name === 'start' || name === 'change' || name === 'trust') this.#wasEnded = false;
    for (const order of orders) this.#carryOut(order);
    this.#setTimer();
    return orders;
  }

  #setTimer(): void {
    this.#clock.clear(this.#timer);
    const { deadline } = this.#link;
    if (deadline === undefined) return;
    const late = this.#isTrouble(3) ? this.#random.below(5000) : 0;
    this.#timer = this.#clock.after(Math.max(0, deadline - this.#clock.now) + late, () => {
      this.#law(++this.#steps < 200_000, 'there is no storm');
      this.#call('wake');
    });
  }

  #carryOut(order: Order): void {
    this.#options.log?.(`      ${shown(order).slice(0, 160)}`);
    this.#count(order.do);
    switch (order.do) {
      case 'open':
        this.#dial(order.connection);
        break;
      case 'write': {
        const connection = this.#connections.get(order.connection)!;
        const { data } = order;
        this.#after(100, () =>
          this.#arriveAtHub(connection, this.#isTrouble(20) ? this.#damaged(data) : data),
        );
        break;
      }
      case 'close': {
        const connection = this.#connections.get(order.connection)!;
        this.#drop(connection);
        this.#after(300, () => this.#late(connection));
        break;
      }
      case 'store':
        this.#keep(order);
        break;
      case 'derive':
        this.#derive(order);
        break;
      case 'stop-deriving':
        this.#deriving = undefined;
        break;
      case 'compute': {
        const { connection, publicKey } = order;
        this.#computing++;
        this.#after(200, () => {
          this.#computing--;
          const isBroken = this.#isTrouble(10);
          this.#call(
            'computed',
            connection,
            isBroken ? new Error('no chip') : toyCrypto.x25519.sharedSecret(this.#privateKey, publicKey),
          );
        });
        break;
      }
      case 'tell':
        this.#hear(order.event);
        break;
      default:
        order satisfies never; // an order that is new
    }
  }

  #hear(event: LinkEvent): void {
    this.#count(`told ${event.type}`);
    if (event.type === 'message') {
      const { n } = event.message.data as { n?: number };
      if (n === undefined) return; // a late answer
      this.#law(n > this.#told, 'messages are told once and in order');
      this.#told = n;
    } else if (event.type === 'ask') {
      this.#asked = event.error as RemoteError;
      this.#after(60_000, () => this.#decide());
    }
  }

  /** A person answers. */
  #decide(): void {
    if (this.#link.state !== 'asking') return;
    const way = this.#random.below(3);
    if (way === 0 && this.#asked?.hubKey !== undefined) this.#call('trust');
    else if (way === 1) {
      this.#password = 'right';
      this.#call('change', forgetPsks);
    } else this.#call('start');
    if (this.#link.state === 'asking') this.#after(10_000, () => this.#decide());
  }

  #stored(): Keyring {
    return parseKeyring(this.#disk, 'kiosk-7');
  }

  #keep(order: Extract<Order, { do: 'store' }>): void {
    const before = this.#stored();
    const isRisky =
      before.pins.length !== order.keyring.pins.length || shownKeys(before) !== shownKeys(order.keyring);
    this.#store = { order, isRisky };
    const fails = this.#isTrouble(2);
    this.#after(this.#random.oneIn(2) ? 0 : 3000, () => {
      this.#store = undefined;
      if (!fails) {
        this.#disk = serializeKeyring(order.change(this.#stored()));
        this.#call('stored', undefined);
        if (this.#store === undefined) {
          this.#law(
            shownKeys(this.#link.keyring) === shownKeys(this.#stored()),
            'the keyring is what is stored',
          );
        }
        return;
      }
      this.#count('failed store');
      const orders = this.#call('stored', new Error('the disk is full'));
      const ends = orders.some(
        (one) => one.do === 'tell' && one.event.type === 'close' && isDiskFull(one.event),
      );
      if (!isRisky) this.#law(!ends, 'a store that nothing depends on ends nothing');
    });
  }

  #derive({ derivation, salt }: Extract<Order, { do: 'derive' }>): void {
    this.#deriving = derivation;
    const password = this.#password;
    this.#after(this.#random.oneIn(4) ? 20_000 : 1500, () => {
      const isStopped = this.#deriving !== derivation;
      if (isStopped && this.#random.oneIn(2)) return;
      if (!isStopped) this.#deriving = undefined;
      const answer = this.#isTrouble(5) ? new Error('no memory') : pskOf(password, salt);
      this.#call('derived', derivation, answer);
    });
  }

  #hub(nodeId: string): Hub {
    let hub = this.#hubs.get(nodeId);
    if (hub === undefined) {
      hub = { staticKey: this.#random.bytes(32), clientKey: undefined, password: 'right', count: 0 };
      this.#hubs.set(nodeId, hub);
    }
    return hub;
  }

  #dial(number: number): void {
    const connection: Connection = { number, hub: undefined, nodeId: '', isOver: false, arrives: 0 };
    this.#connections.set(number, connection);
    this.#after(400, () => {
      if (connection.isOver) return;
      if (this.#isTrouble()) {
        this.#end(connection, this.#random.pick(FAILED_DIALS));
        return;
      }
      if (this.#isTrouble(4)) return; // silence
      connection.nodeId = this.#isTrouble(4) ? 'hub-2' : 'hub-1';
      const hub = this.#hub(connection.nodeId);
      if (this.#isTrouble(8)) hub.staticKey = this.#random.bytes(32);
      if (this.#isTrouble(20)) hub.password = hub.password === 'right' ? 'wrong' : 'right';
      connection.hub = new HubSession({
        crypto: toyCrypto,
        nodeId: connection.nodeId,
        staticKey: hub.staticKey,
        psk: pskOf(hub.password, toyCrypto.sha256(bytesOf(connection.nodeId))),
        randomBytes: seeded(this.#random.next()),
        clientKey: hub.clientKey,
      });
      if (this.#isMqtt) this.#call('opened', number);
      else this.#hubDoes(connection, connection.hub.start());
      this.#after(5000, () => this.#wear(connection));
    });
  }

  /** Lets a connection live or die. */
  #wear(connection: Connection): void {
    if (connection.isOver) return;
    if (this.#isTrouble())
      this.#end(connection, { code: this.#random.pick([1000, 1001, 1005, 1006, 1008, 4003]) });
    else {
      const { hub, nodeId } = connection;
      if (hub?.state === 'ready') {
        const n = Math.max(this.#told, this.#hub(nodeId).count) + 1;
        for (const one of this.#hubs.values()) one.count = n;
        this.#hubSends(connection, { type: 'news', data: { n }, context: {} });
      }
      this.#after(20_000, () => this.#wear(connection));
    }
  }

  /** The transport ends. */
  #end(connection: Connection, closing: Closing | LinkClosing | undefined): void {
    if (connection.isOver) return;
    this.#drop(connection);
    this.#call('closed', connection.number, closing);
    this.#late(connection);
  }

  #drop(connection: Connection): void {
    connection.isOver = true;
    connection.hub = undefined;
  }

  /** Events of a transport that is over. */
  #late(connection: Connection): void {
    for (let i = 0; i < 3; i++) {
      if (!this.#random.oneIn(3)) continue;
      this.#after(4000, () => {
        this.#count('late call');
        if (this.#random.oneIn(2)) this.#call('closed', connection.number, { code: 1006 });
        else this.#call('received', connection.number, this.#random.oneIn(2) ? '{}' : this.#random.bytes(40));
      });
    }
  }

  #arriveAtHub(connection: Connection, data: string | Uint8Array): void {
    const { hub } = connection;
    if (hub === undefined) return;
    if (hub.state === 'new') this.#hubDoes(connection, hub.start());
    else this.#hubDoes(connection, hub.receive(data));
  }

  #hubDoes(connection: Connection, events: readonly HubSessionEvent[]): void {
    for (const event of events) {
      if (event.type === 'transmit') {
        const { data } = event;
        const arrives = Math.max(connection.arrives, this.#clock.now + this.#random.below(100));
        connection.arrives = arrives;
        const said = this.#isTrouble(20) ? this.#damaged(data) : data;
        const arrived = this.#isMqtt && typeof said === 'string' ? bytesOf(said) : said;
        this.#clock.after(arrives - this.#clock.now, () => {
          if (!connection.isOver) this.#call('received', connection.number, arrived);
        });
      } else if (event.type === 'pin') {
        const { pins } = this.#stored();
        this.#law(
          pins.some(({ nodeId }) => nodeId === connection.nodeId),
          'the pin is stored before the hub sees the static key',
        );
        if (!this.#isTrouble(3)) this.#hub(connection.nodeId).clientKey = event.key;
      } else if (event.type === 'close') {
        const { code } = event;
        this.#after(100, () => this.#end(connection, { code }));
      } else if (event.type === 'message' && event.kind === 'json') this.#answer(connection, event.text);
    }
  }

  #answer(connection: Connection, text: string): void {
    const { payload } = JSON.parse(text) as { payload?: { context?: { request_id?: string } } };
    const request_id = payload?.context?.request_id;
    if (request_id === undefined || this.#isMute || this.#isTrouble(2)) return;
    for (const type of ['speak', 'ovos.utterance.handled']) {
      this.#after(3000, () =>
        this.#hubSends(connection, {
          type,
          data: { utterance: `re ${request_id}`, expect_response: this.#random.oneIn(4) },
          context: { request_id },
        }),
      );
    }
  }

  #hubSends(connection: Connection, payload: JsonObject): void {
    const { hub } = connection;
    if (hub?.state !== 'ready') return;
    for (const data of hub.sendJson({ msg_type: 'bus', payload })) {
      this.#hubDoes(connection, [{ type: 'transmit', data }]);
    }
  }

  #damaged(data: string | Uint8Array): string | Uint8Array {
    if (typeof data === 'string')
      return this.#random.pick(['{', '{}', data.slice(1), '{"msg_type":"bus"}', data]);
    const damaged = data.slice();
    damaged[this.#random.below(damaged.length)]! ^= 1 << this.#random.below(8);
    return damaged;
  }

  /** The program or the person does something. */
  #act(): void {
    const way = this.#random.below(20);
    if (way < 9) {
      const id = `q${this.#questions++}`;
      const text = this.#random.oneIn(30) ? 'x'.repeat(70_000) : 'x';
      const envelope = buildUtterance({ requestId: id, text });
      if (this.#random.oneIn(8)) this.#call('ask', envelope, 3000);
      else this.#call('ask', envelope);
      if (this.#random.oneIn(5)) this.#after(5000, () => this.#call('cancel', envelope));
    } else if (way < 11)
      this.#call('send', this.#random.pick<JsonObject | Uint8Array>([{ a: 1 }, bytesOf('b')]));
    else if (way === 11) this.#call('send', { bad: Number.NaN });
    else if (way < 14) {
      if (!this.#wasEnded) this.#call('end');
    } else if (way < 16) this.#call('wake');
    else if (way === 16) this.#call('change', forgetPsks);
    else this.#call('start');
    if (this.#clock.now < this.#horizon) this.#after(20_000, () => this.#act());
  }
}

function pskOf(password: string, salt: Uint8Array): Uint8Array {
  return toyCrypto.sha256(bytesOf(password), salt);
}

function isDiskFull(event: { error: Error }): boolean {
  return /disk/.test(event.error.message);
}

/** What keyrings have in common, in whatever order. */
export function shownKeys({ pins, psks }: Keyring): string {
  const entries = (list: readonly { nodeId: string; key: Uint8Array }[]) =>
    list.map(({ nodeId, key }) => `${nodeId} ${key.join(' ')}`).sort();
  return JSON.stringify([entries(pins), entries(psks)]);
}

/** A value as a text: what does not enumerate is left out. */
function shown(value: unknown): string {
  return String(
    JSON.stringify(value, (_, part) =>
      part instanceof Uint8Array ? `bytes ${Buffer.from(part).toString('hex')}` : part,
    ),
  );
}

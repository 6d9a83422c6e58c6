/** A hub that behaves badly whenever its choices say so, on any transport: what it says, and when. */
import { deflateSync } from 'node:zlib';
import { HubSession, type HubSessionEvent, type JsonObject } from 'hub-protocol';
import { nodeCrypto as crypto } from 'hub-protocol/node';
import { Assistant } from 'hub-protocol-client/assistant';
import { type Random, seeded } from '../../../test/world/random.ts';

export type Data = string | Uint8Array;

/** Calls a function of the hub later. */
export type After = (delay: number, run: () => void) => void;

/** What a hub can do with a connection. */
export interface Wire {
  /** Sends a message as the transport does. */
  say(data: Data): void;
  /** What this transport can do badly, below its messages. */
  readonly harms: readonly (() => void)[];
}

export const PSK: Uint8Array = new Uint8Array(32).fill(7);
const STATIC_KEY = new Uint8Array(32).fill(9);
const NODE_ID = 'hub-1';
const KIB = 1024;

/** Chooses a name, by the weights. */
export type Menu<Name extends string> = { readonly [name in Name]: number };

/** What all connections to a server have in common. */
export class Mind {
  readonly random: Random;
  readonly after: After;
  /** The randomness of the hub, and of the client's sessions. */
  readonly randomBytes: (length: number) => Uint8Array;
  /** Whether it behaves as a hub should, from now on. */
  isHonest = false;
  /** How much was chosen so far. */
  choices = 0;
  /** Whether it knows the password. */
  readonly knowsPassword: boolean;
  /** Ends the connections that there are. */
  readonly ends: Set<() => void> = new Set();
  /** Messages of all connections. */
  readonly #heard: Data[] = [];

  constructor(random: Random, after: After) {
    this.random = random;
    this.after = after;
    this.randomBytes = seeded(random.next());
    this.knowsPassword = !random.oneIn(3);
  }

  choose<Name extends string>(menu: Menu<Name>): Name {
    this.choices++;
    const entries = Object.entries(menu) as [Name, number][];
    let at = this.random.below(entries.reduce((sum, [, weight]) => sum + weight, 0));
    for (const [name, weight] of entries) {
      if (at < weight) return name;
      at -= weight;
    }
    return entries[0]![0];
  }

  pick<T>(all: readonly T[]): T {
    this.choices++;
    return this.random.pick(all);
  }

  /** Keeps a message, to send it again. */
  keep(data: Data): void {
    if (this.#heard.length > 30) this.#heard.splice(0, 20);
    this.#heard.push(data);
  }

  /** A message that is none, or one of another connection. */
  lie(): Data {
    const { random } = this;
    const heard = this.#heard.length === 0 ? '{}' : random.pick(this.#heard);
    switch (random.below(6)) {
      case 0:
        return heard;
      case 1:
        return damaged(heard, random);
      case 2:
        return random.bytes(random.length(300));
      case 3:
        return nasty(random, random.pick([20, 300, 4000, 60 * KIB, 255 * KIB]));
      case 4:
        return greeting(random);
      default:
        return typeof heard === 'string' ? Buffer.from(heard) : Buffer.from(heard).toString('latin1');
    }
  }
}

/** A message with something else in one place. */
function damaged(data: Data, random: Random): Data {
  const bytes = Buffer.from(data as string);
  const at = random.below(bytes.length + 1);
  if (random.oneIn(3)) return typeof data === 'string' ? data.slice(0, at) : bytes.subarray(0, at);
  if (at < bytes.length) bytes[at]! ^= 1 << random.below(8);
  return typeof data === 'string' ? bytes.toString('latin1') : bytes;
}

const fill = (unit: string, length: number): string =>
  unit.repeat(Math.max(0, Math.floor(length / unit.length)));
const UNITS = ['{}', '[]', '""', '0', '1e9', '1.5', '{"a":{"a":[]}}', '"\\u0041"'];

/** JSON that takes much time or memory to read. */
export function nasty(random: Random, length: number): string {
  switch (random.below(5)) {
    case 0:
      return `[${fill(`${random.pick(UNITS)},`, length)}0]`;
    case 1:
      return `${fill('[', length / 2)}${fill(']', length / 2)}`;
    case 2:
      return `"${fill(random.pick(['\\u0041', 'é', 'x', '\\ud800']), length / 2)}"`;
    case 3:
      return `{${Array.from({ length: Math.ceil(length / 12) }, (_, i) => `"${i.toString().padStart(7, '0')}":0`).join()}}`;
    default:
      return `${fill('{"a":', (5 * length) / 6)}0${fill('}', length / 6)}`;
  }
}

function greeting(random: Random): string {
  const value = nasty(random, random.pick([10, 1000, 250 * KIB]));
  return random.pick([
    `{"msg_type":"hello","payload":{"node_id":${value}}}`,
    `{"msg_type":"hello","payload":{"node_id":"hub-1","x":${value}}}`,
    `{"msg_type":"hello","payload":{"node_id":"${fill('x', random.pick([1, 4096, 4097, 100_000]))}"}}`,
    `{"msg_type":"shake","payload":{"max_protocol_version":3,"noise":${value}}}`,
    `{"msg_type":"shake","payload":{"max_protocol_version":${random.pick(['1', '2', '4', '1e400', '"3"'])}}}`,
    `{"msg_type":"shake","payload":{"noise":{"msg":"${fill('ab', random.pick([0, 96, 200, 130_000]))}"}}}`,
  ]);
}

/** A compressed message that becomes this long. */
const bomb = (unit: string, length: number): Uint8Array =>
  Buffer.concat([Buffer.from([0x83, 0]), deflateSync(`{"a":[${fill(unit, length)}0]}`)]);
const BOMBS = [
  bomb('0,', KIB * KIB - 100),
  bomb('{},', KIB * KIB - 100),
  bomb('1e9,', 900 * KIB),
  bomb('"",', 3 * KIB * KIB),
];

/** What a hub that knows the password can say on a session that is ready. */
function insider(random: Random): JsonObject | Uint8Array {
  // Long texts cost as much as ten other choices.
  const isLong = random.oneIn(8);
  const long = fill('x', random.pick([0, 10, 1000, isLong ? 100_000 : 100]));
  const session = { session_id: random.pick(['default', 'x', '', long]) };
  const payload = (type: string, data: unknown): JsonObject =>
    ({ msg_type: 'bus', payload: { type, data, context: { session } } }) as never;
  switch (random.below(9)) {
    case 0:
      return payload('speak', {
        utterance: random.pick<unknown>([long, 7, null, { a: [] }, `<speak>${long}`]),
      });
    case 1:
      return payload(
        random.pick(['ovos.utterance.handled', 'complete_intent_failure', 'hive.policy.denied']),
        {},
      );
    case 2:
      return payload(long, nasty(random, 30));
    case 3:
      return {
        msg_type: random.pick(['ping', 'query', 'cascade', 'propagate', 'intercom', 'hello', 'shake', long]),
        payload: nasty(random, 20),
      };
    case 4:
      return payload('speak', {
        utterance: fill('a <b> ', random.pick([100, isLong ? 200_000 : 2000])),
        expect_response: true,
      });
    case 5:
      return random.oneIn(30) ? random.pick(BOMBS) : random.bytes(random.length(2000));
    case 6:
      return random.bytes(random.length(200));
    case 7:
      return new Uint8Array(random.pick([0, 1, 65_000, 3 * KIB * KIB]));
    default:
      return payload(
        'gui.show',
        Object.fromEntries([['items', new Array(random.length(3000)).fill({ text: 'x' })]]),
      );
  }
}

/** What to do with what a hub would say. */
const ACTS: Menu<'honest' | 'silent' | 'late' | 'lie' | 'add' | 'twice' | 'flood' | 'harm' | 'swap'> = {
  honest: 34,
  silent: 2,
  late: 3,
  lie: 3,
  add: 3,
  twice: 1,
  flood: 1,
  harm: 5,
  swap: 1,
};

/** One connection of a client, as a hub sees it. */
export class Hub {
  readonly #mind: Mind;
  readonly #wire: Wire;
  readonly #session: HubSession;
  readonly #assistant: Assistant;
  #isReady = false;

  constructor(mind: Mind, wire: Wire) {
    const { random, isHonest, knowsPassword } = mind;
    this.#mind = mind;
    this.#wire = wire;
    const odd = (times: number): boolean => !isHonest && random.oneIn(times);
    this.#session = new HubSession({
      crypto,
      randomBytes: mind.randomBytes,
      nodeId: odd(6) ? `hub-${random.below(1000)}` : NODE_ID,
      staticKey: odd(10) ? new Uint8Array(32).fill(1 + random.below(5)) : STATIC_KEY,
      psk: isHonest || knowsPassword ? PSK : new Uint8Array(32).fill(8),
    });
    this.#assistant = new Assistant(this.#session);
  }

  start(): void {
    this.#do(() => this.#session.start());
  }

  /** Whether its session has ended, such as by a message that it could not decrypt. */
  get isOver(): boolean {
    return this.#session.state === 'failed' || this.#session.state === 'closed';
  }

  hear(data: Data): void {
    this.#mind.keep(data);
    this.#do(() => this.#session.receive(data));
  }

  /** Says something on its own initiative. */
  speak(): void {
    if (!this.#isReady || this.#mind.isHonest) return;
    this.#mind.choices++;
    const message = insider(this.#mind.random);
    const many = this.#mind.random.oneIn(40) ? 50 : 1;
    try {
      for (let i = 0; i < many; i++) {
        const frames =
          message instanceof Uint8Array ? this.#session.sendBinary(message) : this.#session.sendJson(message);
        for (const data of frames) this.#wire.say(data);
        if (frames.some(({ length }) => length > 5000)) break;
      }
    } catch {
      // It has no session any more.
    }
  }

  #do(input: () => HubSessionEvent[]): void {
    const { random, after } = this.#mind;
    const said = this.#saidAfter(input);
    const say = (): void => {
      for (const data of said) this.#wire.say(data);
    };
    if (this.#mind.isHonest) {
      say();
      return;
    }
    for (const data of said) this.#mind.keep(data);
    switch (this.#mind.choose(ACTS)) {
      case 'honest':
        say();
        return;
      case 'silent':
        return;
      case 'late':
        after(random.pick([1, 100, 1000, 10_000, 29_000, 31_000, 200_000]), say);
        return;
      case 'lie':
        this.#wire.say(this.#mind.lie());
        return;
      case 'add':
        if (random.oneIn(2)) say();
        this.#wire.say(this.#mind.lie());
        if (random.oneIn(2)) say();
        return;
      case 'twice':
        say();
        say();
        return;
      case 'flood': {
        const data = random.oneIn(2) ? this.#mind.lie() : (said[0] ?? '{}');
        const times = Math.min(400, Math.ceil((2 * KIB * KIB) / (data.length + 20)));
        for (let i = 0; i < times; i++) this.#wire.say(data);
        say();
        return;
      }
      case 'swap':
        said.reverse();
        say();
        return;
      default:
        if (random.oneIn(2)) say();
        this.#mind.pick(this.#wire.harms)();
    }
  }

  #saidAfter(input: () => HubSessionEvent[]): Data[] {
    const said: Data[] = [];
    try {
      for (const event of input()) {
        if (event.type === 'transmit') said.push(event.data);
        if (event.type === 'ready') this.#isReady = true;
        said.push(...this.#assistant.handle(event));
      }
    } catch {
      // It has no session any more.
    }
    return said;
  }
}

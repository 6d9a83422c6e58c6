/** A client over a transport in memory, a store of its keyring, and a hub for each connection. */
import {
  createKeyring,
  HubSession,
  type HubSessionEvent,
  type Identity,
  type JsonObject,
  type Keyring,
  parseIdentity,
} from 'hub-protocol';
import { binaryReader, encodeBinary } from 'hub-protocol/binary';
import { nodeCrypto as crypto, randomBytes } from 'hub-protocol/node';
import { Assistant } from 'hub-protocol-client/assistant';
import { Client } from '../../client/dist/client.js';
import type { ClientEvent, ConnectOptions, KeyringStore } from '../../client/dist/options.js';
import type { Platform } from '../../client/dist/platform.js';
import { DERIVED, PASSWORD } from '../world/keys.ts';
import { replacing } from '../world/replacing.ts';

export { DERIVED as PSK };
export const HUB_STATIC: Uint8Array = randomBytes(32);
export const identity: Identity = parseIdentity({
  access_key: 'kiosk-7',
  password: PASSWORD,
  site_id: 'lobby',
});
export const POLICY = { basePause: 5, maxPause: 5 };

export class Store implements KeyringStore {
  keyring: Keyring = createKeyring({ accessKey: 'kiosk-7', staticKey: randomBytes(32), crypto });
  /** What the next update throws, as a full disk does. */
  fault: Error | undefined;
  /** Called once, while a change is being stored. */
  whileStoring: () => void = () => {};

  load(): Keyring {
    return this.keyring;
  }

  update(change: (stored: Keyring) => Keyring): void | Promise<void> {
    const changed = change(this.keyring);
    if (changed === this.keyring) return;
    if (this.fault !== undefined) throw this.fault;
    const { whileStoring } = this;
    this.whileStoring = () => {};
    whileStoring();
    this.keyring = changed;
  }
}

/** A hub in memory, to which each connection of a client goes. */
export class World {
  readonly store: Store = new Store();
  readonly events: ClientEvent[] = [];
  derivations = 0;
  dials = 0;
  /** How many questions the hub has heard. */
  questions = 0;
  /** The contexts of what the client says that it has played. */
  readonly played: JsonObject[] = [];
  /** The context of the latest question. */
  asked: JsonObject = {};
  /** Whether the hub answers no question by itself. */
  isMute = false;
  /** Whether the certificate of the server has expired. */
  refusesCertificate = false;
  /** Whether connections stay silent. */
  isSilent = false;
  /** Whether connections end before anything arrives. */
  isDown = false;
  hub: HubSession | undefined;
  /** What the hub was told when the session was ready. */
  ready: Extract<HubSessionEvent, { type: 'ready' }> | undefined;
  /** The static key of the hub. */
  hubStatic: Uint8Array = HUB_STATIC;
  /** The close code that the next connection meets, in place of message 2. */
  refusesWith: number | undefined;
  clientKey: Uint8Array | undefined;
  #carryOut: (events: HubSessionEvent[]) => void = () => {};
  #lose: World['lose'] = () => {};
  /** The session in each HELLO of a client. */
  readonly greetings: unknown[] = [];
  readonly #clients: Client[] = [];

  readonly platform: Platform = {
    crypto,
    randomBytes,
    readBinary: binaryReader(),
    keyring: this.store,
    derive: async () => {
      this.derivations++;
      return DERIVED;
    },
    open: (connection) => this.#open(connection),
  };

  start(options: Partial<ConnectOptions> = {}, platform: Partial<Platform> = {}): Client {
    const client = impatient(
      new Client({ identity, policy: POLICY, ...options }, { ...this.platform, ...platform }),
    );
    for (const type of ['connect', 'close', 'reconnect', 'ask', 'end'] as const) {
      client.on(type, (event) => this.events.push(event));
    }
    client.on('disclosure', () => {});
    this.#clients.push(client);
    return client;
  }

  /** The types of the events so far. */
  get types(): string[] {
    return this.events.map(({ type }) => type);
  }

  /** Says something unasked. */
  say(utterance: string): void {
    this.tell('speak', { utterance }, {});
  }

  /** Sends an event of the hub's bus, by default in answer to the latest question. */
  tell(type: string, data: JsonObject = {}, context: JsonObject = this.asked): void {
    this.send(this.hub!.sendJson({ msg_type: 'bus', payload: { type, data, context } }));
  }

  /** Sends bytes, by default a file. */
  sendBytes(
    message: Uint8Array = encodeBinary({ msg_type: 'bin', bin_type: 'file', payload: Uint8Array.of(1) }),
  ): void {
    this.send(this.hub!.sendBinary(message));
  }

  /** Sends transport messages. */
  send(messages: readonly Uint8Array[]): void {
    for (const message of messages) this.#send(message);
  }

  drop(): void {
    this.#lose(1006);
  }

  /** Ends the connection in some way. */
  lose(closing: Parameters<Parameters<Platform['open']>[0]['closed']>[0]): void {
    this.#lose(closing);
  }

  end(): void {
    for (const client of this.#clients) client.end();
  }

  #send: (data: string | Uint8Array) => void = () => {};

  #open(connection: Parameters<Platform['open']>[0]): ReturnType<Platform['open']> {
    const received = connection.received.bind(connection);
    const closed = connection.closed.bind(connection);
    this.dials++;
    const hub = new HubSession({
      ...{ crypto, randomBytes, nodeId: 'hub-1', staticKey: this.hubStatic, psk: DERIVED },
      clientKey: this.clientKey,
    });
    this.hub = hub;
    const assistant = new Assistant(hub);
    const send = (data: string | Uint8Array): void => queueMicrotask(() => received(data));
    const carryOut = (events: HubSessionEvent[]): void => {
      for (const event of events) {
        if (
          event.type === 'transmit' &&
          this.refusesWith !== undefined &&
          String(event.data).includes('"msg"')
        ) {
          const code = this.refusesWith;
          this.refusesWith = undefined;
          queueMicrotask(() => closed(code));
        } else if (event.type === 'transmit') send(event.data);
        else if (event.type === 'hello') this.greetings.push(event.payload!.session);
        else if (event.type === 'pin') this.clientKey = event.key;
        else if (event.type === 'ready') this.ready = event;
        else if (event.type === 'close') queueMicrotask(() => closed(event.code));
        else if (event.type === 'message' && event.kind === 'json') {
          const { type, context } = JSON.parse(event.text).payload;
          if (type === 'recognizer_loop:audio_output_end') this.played.push(context);
          else {
            this.asked = context;
            this.questions++;
          }
        }
        if (!this.isMute) assistant.handle(event).forEach(send);
      }
    };
    this.#send = send;
    this.#carryOut = carryOut;
    this.#lose = closed;
    const expired = { cause: 'certificate-refused', platformCode: 'CERT_HAS_EXPIRED' } as const;
    if (this.isDown) queueMicrotask(() => closed({ status: 503 }));
    else if (this.refusesCertificate) queueMicrotask(() => closed(expired));
    else if (!this.isSilent) queueMicrotask(() => carryOut(hub.start()));
    return {
      write: (data) => this.#carryOut(hub.receive(data)),
      close() {},
    };
  }
}

/** Whether a test of this file has waited in vain. */
let hasWaited = false;

/**
 * How long something may take that a test waits for, in milliseconds: nearly as long as tools/test.ts lets a test wait, so that the
 * test can say what does not come. When one test has waited in vain, the others of its file wait a tenth of that.
 */
export function longestWait(): number {
  return hasWaited ? 5000 : 50_000;
}

/** The error of a test that has waited in vain. */
export function late(message: string): Error {
  hasWaited = true;
  return new Error(message);
}

/** What a promise resolves to. Rejects if it does not settle, before the test would be ended. */
export async function soon<T>(promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const waited = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late('what this test waits for does not come')), longestWait());
  });
  try {
    return await Promise.race([promise, waited]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Makes each question of a client fail if no answer comes, before the test would be ended. A question for which a test that has
 * failed no longer waits may reject: it would end the process, and hide what has failed.
 */
export function impatient<Own extends Pick<Client, 'ask' | 'query' | 'cascade'>>(client: Own): Own {
  const [ask, query, cascade] = [client.ask, client.query, client.cascade];
  const expected = <T>(answer: Promise<T>): Promise<T> => {
    const inTime = soon(answer);
    inTime.catch(() => {});
    return inTime;
  };
  return Object.assign(client, {
    ask: (...given: Parameters<typeof ask>) => expected(ask.apply(client, given)),
    query: (...given: Parameters<typeof query>) => expected(query.apply(client, given)),
    cascade: (...given: Parameters<typeof cascade>) => expected(cascade.apply(client, given)),
  });
}

/** The messages that a client receives, and the other work of the event loop between them, in the order in which they come. */
export function turnsOf(client: Pick<Client, 'on'>): string[] {
  const turns: string[] = [];
  client.on('trace', ({ what }) => {
    if (!('type' in what) || what.type !== 'received') return;
    turns.push('message');
    setImmediate(() => turns.push('other work'));
  });
  return turns;
}

/** Waits until something holds, and throws if it does not come to hold. */
export async function until(holds: () => boolean): Promise<void> {
  for (const began = performance.now(); !holds(); ) {
    if (performance.now() - began > longestWait()) throw late(`it never holds that ${holds}`);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

/** Sets a timer in the place of `setTimeout`, which it gets as `original`. */
export type TimerSetter = (
  run: () => void,
  time: number | undefined,
  original: (run: () => void, time?: number) => NodeJS.Timeout,
) => NodeJS.Timeout;

/** Runs `body` while `set` sets the timers of this process. */
export async function withTimers<T>(set: TimerSetter, body: () => Promise<T>): Promise<T> {
  const { setTimeout: original } = globalThis;
  const other = (run: (...given: unknown[]) => void, time?: number, ...given: unknown[]): NodeJS.Timeout =>
    set(() => run(...given), time, original);
  return replacing(globalThis, { setTimeout: other }, body);
}

/** Counts how often a timer begins again. */
export function onRefresh(timer: NodeJS.Timeout, count: () => void): NodeJS.Timeout {
  const { refresh } = timer;
  timer.refresh = () => {
    count();
    return refresh.call(timer);
  };
  return timer;
}

const worlds: World[] = [];

/** A world that ends with the test, if `endWorlds` is called after each. */
export function newWorld(): World {
  const world = new World();
  worlds.push(world);
  return world;
}

/** A client in a world that ends with the test. */
export function started(
  options: Partial<ConnectOptions> = {},
  platform: Partial<Platform> = {},
): { world: World; client: Client } {
  const world = newWorld();
  return { world, client: world.start(options, platform) };
}

/** The same, whose hub answers nothing by itself. */
export function mute(options: Partial<ConnectOptions> = {}): { world: World; client: Client } {
  const { world, client } = started(options);
  world.isMute = true;
  return { world, client };
}

export function endWorlds(): void {
  for (const world of worlds.splice(0)) world.end();
}

interface Timer {
  readonly time: number;
  /** The module of the client that set it; `undefined` for the modules of others. */
  readonly module: string | undefined;
  isRunning: boolean;
}

const { setTimeout, setInterval, clearTimeout, clearInterval } = globalThis;

/** The timers that are set while it watches: how long they are, and which of the client’s own are still running. */
export class Timers {
  readonly #byHandle = new Map<unknown, Timer>();
  readonly #all: Timer[] = [];
  readonly #signalAfter = AbortSignal.timeout;

  watch(): void {
    const add = (time: number, isRunning: boolean): Timer => {
      const caller = new Error().stack!.split('\n')[3] ?? '';
      const [, module] = /\/client\/dist\/([\w-]+)\.js/.exec(caller) ?? [];
      const timer = { time, module, isRunning };
      this.#all.push(timer);
      return timer;
    };
    const clear = (handle: unknown): void => {
      const timer = this.#byHandle.get(handle);
      if (timer !== undefined) timer.isRunning = false;
    };
    Object.assign(globalThis, {
      setTimeout: (run: (...given: unknown[]) => void, time = 0, ...given: unknown[]) => {
        const timer = add(time, true);
        const handle = setTimeout(() => {
          timer.isRunning = false;
          run(...given);
        }, time);
        this.#byHandle.set(handle, timer);
        return handle;
      },
      setInterval: (run: (...given: unknown[]) => void, time = 0, ...given: unknown[]) => {
        const timer = add(time, true);
        const handle = setInterval(run, time, ...given);
        this.#byHandle.set(handle, timer);
        return handle;
      },
      clearTimeout: (handle: NodeJS.Timeout) => {
        clear(handle);
        clearTimeout(handle);
      },
      clearInterval: (handle: NodeJS.Timeout) => {
        clear(handle);
        clearInterval(handle);
      },
    });
    AbortSignal.timeout = (time) => {
      add(time, false); // it keeps no process running
      return this.#signalAfter.call(AbortSignal, time);
    };
  }

  leave(): void {
    Object.assign(globalThis, { setTimeout, setInterval, clearTimeout, clearInterval });
    AbortSignal.timeout = this.#signalAfter;
  }

  /** Forgets all timers so far. */
  forget(): void {
    this.#all.length = 0;
    this.#byHandle.clear();
  }

  /**
   * The times of all timers, or of those of one module, in milliseconds; of those of a second or more, rounded up to seconds.
   */
  times(module?: string): number[] {
    return this.#all
      .filter((timer) => module === undefined || timer.module === module)
      .map(({ time }) => (time < 1000 ? time : 1000 * Math.ceil(time / 1000)));
  }

  /** The modules of the client whose timers are running. */
  get running(): string[] {
    return this.#all.flatMap(({ module, isRunning }) => (isRunning && module !== undefined ? [module] : []));
  }

  /** Waits until the client has no timer any more. */
  async areOver(): Promise<void> {
    await until(() => this.running.length === 0).catch(() => {
      throw new Error(`timers are left of ${this.running}`);
    });
  }
}

/** Watches the timers that are set while `body` runs. */
export async function watchingTimers(body: (timers: Timers) => Promise<void>): Promise<void> {
  const timers = new Timers();
  timers.watch();
  try {
    await body(timers);
  } finally {
    timers.leave();
  }
}

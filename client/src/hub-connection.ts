/** One connection of a client to a hub in Node.js, over any transport: its session, the pin of its key, its events. */
import {
  type HubOptions,
  HubSession,
  type HubSessionEvent,
  type Json,
  LocalError,
  RemoteError,
} from 'hub-protocol';
import { nodeCrypto, randomBytes } from 'hub-protocol/node';
import { Account, costOf, type Entry, type Holder, type Holding, Joining, weightOf } from './account.ts';
import { Admission, type AdmissionLimits, type Guest } from './admission.ts';
import { REPLACED } from './advice.ts';
import { Assistant } from './assistant.ts';
import { type Budget, budgetOf } from './budget.ts';
import { inTime, isLater } from './later.ts';
import { ANY, FUNCTION, type Kinds, LIMITS, TIME, within } from './read-options.ts';
import { Reports } from './reports.ts';
import { tooManyValues } from './values.ts';

/** The options of a hub over any transport. */
export interface ServedOptions {
  /** The name of the hub. Every PSK depends on it. */
  nodeId: string;
  /** The hub's X25519 private key, 32 bytes. */
  staticKey: Uint8Array;
  /** The clients by access key: a `Map`, or what asks a database. Changes apply to the next connection. */
  clients: HubClients;
  /**
   * Answers an utterance of a client, at once or later (default: repeats it). Without `onEvent`, all other requests are denied, and
   * binary messages are sent back.
   */
  answer?: ((utterance: string, client: HubConnection) => string | Promise<string>) | undefined;
  /** Called with everything that happens on a connection (default: none). Utterances are then answered only if `answer` is passed, too. */
  onEvent?: ((event: HubConnectionEvent, client: HubConnection) => void) | undefined;
  /**
   * Called when a connection ends before it is ready, with the cause, the state that the session was in, and the access key if this
   * hub knows it (default: none). It is called at most 20 times a second: then with the latest, and with how many others went untold. A client whose password is wrong is `dropped` in the state `awaiting-message-3`: message 2 shows it to the client,
   * and to nobody else.
   */
  onRefused?:
    | ((
        error: LocalError | RemoteError,
        state: HubSession['state'],
        accessKey: string | undefined,
        untold: number,
      ) => void)
    | undefined;
  /**
   * Called with an error that `clients` or one of these functions threw, or about a client that is stored wrongly, such as a PSK of
   * another length (default: none). The error ends only that connection. It is called as often as `onRefused`, with how many others went untold.
   */
  onFault?: ((error: unknown, untold: number) => void) | undefined;
  /**
   * About how much memory clients can make the hub take, in bytes, from 1 MiB to 1 GiB (default 256 MiB): with messages that are not complete,
   * answers that they do not read or that your program has not given yet. Beyond it, the access key that holds most loses its largest connection,
   * with the close code 1013. A message may have half of it, and at most 32 MiB.
   */
  maxMemory?: number | undefined;
  /**
   * How many bytes a message of a client may have outside of its strings, which is what its values take (default a 64th of `maxMemory`, at
   * most 1 MiB). One with more is `dropped` before anything reads it.
   */
  maxValues?: number | undefined;
  /**
   * The time from the connection until it is ready, in milliseconds (default 120 000: a slow client derives its PSK meanwhile). While several
   * connections of one access key are not ready, each has at most ten seconds for its first message.
   */
  handshakeTimeout?: number | undefined;
  /** Options of the HubSession, such as `maxMessage`, the longest message of a client in bytes (default: its own, and that of `maxMemory`). */
  session?: Pick<HubOptions, 'maxMessage' | 'patterns' | 'suites' | 'hello' | 'handshake'> | undefined;
}

/** What these options have to be: the session refuses the first two, and what is in the last. */
export const SERVED: Kinds<ServedOptions> = {
  nodeId: ANY,
  staticKey: ANY,
  clients: [
    'an object with the function get, such as a Map',
    (value) => typeof (value as Map<string, unknown> | null | undefined)?.get === 'function',
  ],
  answer: FUNCTION,
  onEvent: FUNCTION,
  onRefused: FUNCTION,
  onFault: FUNCTION,
  ...LIMITS,
  handshakeTimeout: TIME,
  session: within<NonNullable<ServedOptions['session']>>({
    maxMessage: ANY,
    patterns: ANY,
    suites: ANY,
    hello: ANY,
    handshake: ANY,
  }),
};

/**
 * The clients of a hub. If a function throws, returns something else, or has no answer within five seconds, the connection that waits for it ends
 * (`unavailable` for the client, which tries again later), and `onFault` is called.
 */
export interface HubClients {
  /**
   * Finds a client, before its connection is accepted.
   * @param accessKey - its access key
   * @returns what is stored of it; `undefined` if it is not known
   */
  get(accessKey: string): HubClient | undefined | Promise<HubClient | undefined>;
  /**
   * Stores a client's key at first contact, if none is stored yet: compare and set (default: sets `clientKey` of what `get` returns, which is as
   * much as a `Map` of one process needs). Nothing is sent to the client or taken from it before the answer.
   * @param accessKey - its access key
   * @param clientKey - its static public key, 32 bytes
   * @returns whether this key is stored now; false if another is, or the client is not known any more
   */
  pin?(accessKey: string, clientKey: Uint8Array): boolean | Promise<boolean>;
  /**
   * Called when a connection is ready, for hubs of several processes (default: none).
   * @param accessKey - its access key
   * @param replace - call it once the access key is claimed in another process: its connection here ends, as if a newer one had come here
   * @returns nothing, at once or later
   */
  claim?(accessKey: string, replace: () => void): void | Promise<void>;
}

/** What a hub stores of a client. It may have further fields. */
export interface HubClient {
  /** 32 bytes: `derivePsk` of the client's password. */
  psk: Uint8Array;
  /** The client's static public key, 32 bytes, since first contact. */
  clientKey?: Uint8Array | undefined;
}

/** What happens on a connection: `ready`, `hello`, `message`, `dropped`, and once, at last, `ended`. {@link HubSessionEvent} has their fields. */
export type HubConnectionEvent = Exclude<HubSessionEvent, { type: 'transmit' | 'pin' | 'close' }>;

/** A connection of a client. */
export interface HubConnection {
  /** The access key of the client. */
  readonly accessKey: string;
  /** `ready` when messages can be sent. */
  readonly state: HubSession['state'];
  /**
   * Sends a JSON message.
   * @param envelope - plain data, such as an envelope; a string has to be JSON text, and is sent unchanged
   * @returns false if the connection is not ready
   * @throws LocalError `message-too-long`, or another code for a value that cannot be written as JSON
   */
  send(envelope: Json | object): boolean;
  /**
   * Sends a binary message.
   * @param bytes - such as what `encodeBinary` returns
   * @returns false if the connection is not ready
   */
  sendBytes(bytes: Uint8Array): boolean;
  /**
   * Closes the connection. It is over at once; `ended` follows.
   * @param code - the WebSocket close code (default 1000)
   */
  close(code?: number): void;
}

/** The transport of a connection. */
export interface Line {
  write(data: string | Uint8Array): void;
  /** Closes the transport. It then calls `closed` of the connection. */
  close(code: number, reason?: string): void;
  /** Ends the transport without a farewell. It then calls `closed` of the connection. */
  cut(): void;
  /** What was written and has not left, in bytes. */
  unsent(): number;
}

/** What the connections of a hub share. */
export interface Shared {
  readonly options: ServedOptions;
  readonly budget: Budget;
  readonly account: Account;
  readonly admission: Admission;
  readonly reports: Reports;
}

/** Who makes a connection. */
export type Caller =
  | { readonly is: 'known'; readonly accessKey: string; readonly client: HubClient }
  | { readonly is: 'unknown'; readonly accessKey: string | undefined }
  | { readonly is: 'in-doubt' }; // the store has failed

const HANDSHAKE_TIMEOUT = 120_000; // milliseconds
/** For a first message, if another connection of the access key is not ready either, in milliseconds. */
const FIRST_MESSAGE_TIMEOUT = 10_000;
/** So much may wait in front of a farewell, in bytes. */
const LITTLE = 65_536;
const MAX_MEMORY = 256 * 2 ** 20; // bytes
/** RFC 6455, section 7.4, and the registry of IANA: try again later. */
const TRY_AGAIN_LATER = 1013;
/** Clients read this reason as the HTTP status 503. */
const CONNECTION_LIMIT = 'connection_limit';

function sessionOf({ psk, clientKey }: HubClient, { nodeId, staticKey, session }: ServedOptions): HubSession {
  const own = { crypto: nodeCrypto, randomBytes, nodeId, staticKey, psk, clientKey };
  return new HubSession({ ...session, ...own });
}

/**
 * Looks up who makes a connection, before anything is spent on it. An error is reported.
 * @param accessKey - what the client says it is; `undefined` if it does not say
 */
export async function callerOf(accessKey: string | undefined, { options, reports }: Shared): Promise<Caller> {
  try {
    if (accessKey === undefined) return { is: 'unknown', accessKey };
    const found = options.clients.get(accessKey);
    const client = isLater(found) ? await inTime('clients.get', found) : found;
    return client === undefined ? { is: 'unknown', accessKey } : { is: 'known', accessKey, client };
  } catch (error) {
    reports.fault(error);
    return { is: 'in-doubt' };
  }
}

/** Pins a key in memory. */
function pinInMemory(accessKey: string, key: Uint8Array, { clients }: ServedOptions): boolean {
  const client = clients.get(accessKey);
  if (isLater(client)) {
    client.then(undefined, () => {}); // its own error would end the process
    throw new LocalError('bad-argument', '"clients" expected the function pin, since get returns a promise');
  }
  if (client === undefined) return false;
  client.clientKey ??= key;
  return Buffer.compare(client.clientKey, key) === 0;
}

/** Reports that an unknown client is refused. */
export function tellUnknown(accessKey: string | undefined, { reports }: Shared): void {
  const message =
    accessKey === undefined ? 'it names no access key' : 'this hub does not know its access key';
  reports.refused(new RemoteError('access-refused', message), 'new', undefined);
}

/** A hub over MQTT has a connection for each topic, and so for each access key. */
const ONE_EACH: AdmissionLimits = { maxConnections: Number.POSITIVE_INFINITY, maxConnectionsPerKey: 1 };

/**
 * @param given - as they were read, which inherit nothing
 * @throws LocalError if no client could be served with these options, as HubSession throws it
 */
export function share(given: ServedOptions, limits: AdmissionLimits = ONE_EACH): Shared {
  const { maxMemory = MAX_MEMORY, maxValues } = given;
  const budget = budgetOf({ maxMemory, maxValues });
  const session = { maxMessage: budget.message, ...given.session };
  const options = Object.assign(given, { session }); // another object would inherit options
  sessionOf({ psk: new Uint8Array(32) }, options);
  const [account, admission] = [new Account(maxMemory), new Admission(limits)];
  return { options, budget, account, admission, reports: new Reports(options, account, admission) };
}

/** A connection, with what its transport calls. */
export class ServedConnection implements HubConnection, Guest, Holder {
  readonly accessKey: string;
  readonly #options: ServedOptions;
  readonly #line: Line;
  readonly #session: HubSession;
  readonly #onEvent: NonNullable<ServedOptions['onEvent']>;
  #deadline: NodeJS.Timeout;
  readonly #shared: Shared;
  readonly #held: Entry;
  readonly #joining: Joining;
  #isReady = false;
  #isOlder = false;
  #isOver = false;
  #isHurried = false;
  /** What has to wait until the client's key is stored. */
  #waiting: (() => HubSessionEvent[])[] | undefined;
  isSilent = true;
  /** The state before the latest input, or before the one at which the session has failed. */
  #before!: HubSession['state'];

  /** Serves a connection, or refuses it. */
  static of(caller: Caller, shared: Shared, line: Line): ServedConnection | undefined {
    const { admission, reports } = shared;
    try {
      if (caller.is === 'known') {
        if (admission.hasPlace(caller.accessKey)) return new ServedConnection(caller, shared, line);
        line.close(TRY_AGAIN_LATER, CONNECTION_LIMIT);
      } else if (caller.is === 'unknown') {
        line.close(1008);
        tellUnknown(caller.accessKey, shared);
      } else line.close(TRY_AGAIN_LATER, CONNECTION_LIMIT);
    } catch (error) {
      line.close(TRY_AGAIN_LATER, CONNECTION_LIMIT);
      reports.fault(error);
    }
    return undefined;
  }

  private constructor({ accessKey, client }: Extract<Caller, { is: 'known' }>, shared: Shared, line: Line) {
    const { options, account, admission } = shared;
    this.accessKey = accessKey;
    this.#options = options;
    this.#line = line;
    this.#session = sessionOf(client, options);
    this.#shared = shared;
    this.#joining = new Joining(options.session!.maxMessage!);
    this.#held = account.open(accessKey, this);
    this.#onEvent = this.#listener();
    this.#deadline = this.#cutAfter(this.#handshakeTimeout);
    admission.enter(this);
  }

  get #handshakeTimeout(): number {
    return this.#options.handshakeTimeout ?? HANDSHAKE_TIMEOUT;
  }

  /** Cuts the connection unless it is ready in time, in milliseconds. */
  #cutAfter(time: number): NodeJS.Timeout {
    clearTimeout(this.#deadline);
    return setTimeout(() => {
      if (!this.#isReady) this.#line.cut();
    }, time);
  }

  hurry(): void {
    if (!this.isSilent || this.#isHurried) return;
    this.#isHurried = true;
    this.#deadline = this.#cutAfter(Math.min(this.#handshakeTimeout, FIRST_MESSAGE_TIMEOUT));
  }

  giveWay(): void {
    this.#leave(TRY_AGAIN_LATER, CONNECTION_LIMIT);
  }

  replace(): void {
    this.#leave(1000, REPLACED);
  }

  /** Nobody waits for a peer to close that may be gone. */
  #leave(code: number, reason: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#line.close(code, reason);
    setImmediate(() => this.#line.cut());
  }

  get state(): HubSession['state'] {
    if (this.#isOver) return 'closed';
    return this.#waiting === undefined ? this.#session.state : this.#before;
  }

  send(envelope: Json | object): boolean {
    return this.#write((session) => session.sendJson(envelope));
  }

  sendBytes(bytes: Uint8Array): boolean {
    return this.#write((session) => session.sendBinary(bytes));
  }

  close(code = 1000): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#line.close(code);
  }

  start(): void {
    this.#handle(() => this.#session.start());
  }

  receive(data: string | Uint8Array): void {
    if (this.#isOver) return;
    if (this.isSilent && this.#isHurried) this.#deadline = this.#cutAfter(this.#handshakeTimeout);
    this.isSilent = false;
    const input = (): HubSessionEvent[] => {
      const events = this.#session.receive(data);
      if (typeof data !== 'string') this.#join(data, events);
      // The session ignores a HANDSHAKE without `noise`.
      const isIgnored = this.#before === 'awaiting-message-1' && this.#session.state === this.#before;
      if (isIgnored && JSON.parse(String(data)).msg_type === 'shake') this.#isOlder = true;
      return events;
    };
    if (this.#waiting === undefined) this.#handle(input);
    else {
      this.#waiting.push(input);
      this.#held.add('waiting', costOf(data.length));
    }
  }

  /** The transport has ended. */
  closed(code?: number): void {
    clearTimeout(this.#deadline);
    this.#shared.account.close(this.#held);
    this.#shared.admission.leave(this);
    this.#handle(() => this.#session.closed(code));
    this.#isOver = true;
    this.#waiting = undefined;
    this.#shared.reports.connection('ended', this.accessKey);
  }

  /** @param bytes - what the transport holds of a message that is not complete */
  arriving(bytes: number): void {
    this.#hold('arriving', bytes);
  }

  #hold(what: Holding, bytes: number): void {
    if (!this.#isOver) this.#held.set(what, bytes);
  }

  /** A transport message has come: the session keeps it, unless it completes a message. */
  #join(data: Uint8Array, events: readonly HubSessionEvent[]): void {
    const isWhole = events.some(({ type }) => type === 'message' || type === 'dropped' || type === 'hello');
    if (isWhole) this.#joining.end();
    this.#hold('partial', isWhole ? 0 : this.#joining.add(data.length));
  }

  unsent(): number {
    return this.#line.unsent();
  }

  /** This connection holds most, and the hub has no memory for it. The session frees at once what it holds. */
  end(): void {
    const reason = 'this hub has no memory for what the client makes it hold';
    this.#handle(() => this.#session.closed({ code: TRY_AGAIN_LATER, reason }));
    this.#isOver = true;
    this.#line.close(TRY_AGAIN_LATER, reason);
    if (this.#line.unsent() > LITTLE) this.#line.cut(); // nobody reads the farewell
  }

  /** The hub's own code has thrown an error: it ends this connection, and no other. */
  #fail(error: unknown): void {
    if (!this.#isOver) {
      this.#isOver = true;
      this.#line.cut();
    }
    this.#shared.reports.fault(error);
  }

  #write(seal: (session: HubSession) => Uint8Array[]): boolean {
    if (this.state !== 'ready') return false;
    for (const data of seal(this.#session)) this.#send(data);
    return true;
  }

  #send(data: string | Uint8Array): void {
    if (this.#isOver) return;
    this.#line.write(data);
    this.#hold('unsent', this.#line.unsent());
  }

  #handle(input: () => HubSessionEvent[]): void {
    const { state } = this.#session;
    if (state !== 'failed' && this.#waiting === undefined) this.#before = state;
    try {
      const events = input();
      for (let event = events.shift(); event !== undefined; event = events.shift()) {
        if (this.#isOver && event.type !== 'ended') continue;
        if (event.type !== 'pin') this.#carryOut(event);
        else if (!this.#pin(event.key, events)) return;
      }
    } catch (error) {
      this.#fail(error);
    }
  }

  #carryOut(event: Exclude<HubSessionEvent, { type: 'pin' }>): void {
    if (event.type === 'transmit') this.#send(event.data);
    else if (event.type === 'close') this.#line.close(event.code);
    else {
      if (event.type === 'ready') this.#enter();
      if (event.type === 'ended') this.#refused(event.error);
      const isText = event.type === 'message' && event.kind === 'json';
      this.#onEvent((isText && tooManyValues(event.text, this.#shared.budget.values)) || event, this);
    }
  }

  #enter(): void {
    const { options, admission, reports } = this.#shared;
    const { accessKey } = this;
    this.#isReady = true;
    admission.ready(this);
    reports.connection('ready', accessKey);
    const claimed = options.clients.claim?.(accessKey, () => admission.replace(accessKey));
    if (isLater(claimed)) claimed.then(undefined, (error) => reports.fault(error));
  }

  /**
   * Stores the client's key. Another connection of this access key may have stored another one since this session began.
   * @param rest - what follows once it is stored
   * @returns whether that is so now
   */
  #pin(key: Uint8Array, rest: HubSessionEvent[]): boolean {
    const { clients } = this.#options;
    try {
      const answer = clients.pin
        ? clients.pin(this.accessKey, key)
        : pinInMemory(this.accessKey, key, this.#options);
      if (!isLater(answer)) return this.#pinned(answer);
      this.#waiting = [() => rest];
      inTime('clients.pin', answer)
        .then((isPinned) => this.#goOn(isPinned))
        .catch((error) => this.#doubt(error));
    } catch (error) {
      this.#doubt(error);
    }
    return false;
  }

  #pinned(isPinned: boolean): boolean {
    if (typeof isPinned !== 'boolean') {
      throw new LocalError('bad-argument', '"clients.pin" expected to return true or false');
    }
    if (!isPinned) {
      const message = 'another key of this client is stored by now, or its access key was removed';
      this.#refuse(new RemoteError('client-key-changed', message));
    }
    return isPinned;
  }

  /** The store has answered. */
  #goOn(isPinned: boolean): void {
    if (this.#isOver || !this.#pinned(isPinned)) return;
    const waiting = this.#waiting!;
    this.#waiting = undefined;
    this.#held.set('waiting', 0);
    for (const input of waiting) this.#handle(input);
  }

  /** The store has failed, and may be there again later. */
  #doubt(error: unknown): void {
    this.#isReady = true; // it is reported once
    this.giveWay();
    this.#shared.reports.fault(error);
  }

  #refuse(error: RemoteError): void {
    this.#refused(error);
    this.close(1008);
  }

  #refused(error: LocalError | RemoteError): void {
    if (this.#isReady) return;
    this.#isReady = true; // it is reported once
    const message = 'the client does not speak protocol 3: update it';
    const cause = this.#isOlder ? new RemoteError('protocol-version', message) : error;
    this.#shared.reports.refused(cause, this.#before, this.accessKey);
  }

  /** What hears all events: `onEvent`, and then `answer`, of the utterances. */
  #listener(): NonNullable<ServedOptions['onEvent']> {
    const { answer, onEvent } = this.#options;
    if (onEvent === undefined) return this.#assist();
    if (answer === undefined) return onEvent;
    const assist = this.#assist();
    return (event, client) => {
      onEvent(event, client);
      if (!this.#isOver) assist(event, client);
    };
  }

  /** Answers utterances. */
  #assist(): NonNullable<ServedOptions['onEvent']> {
    const { answer, onEvent } = this.#options;
    const assistant = new Assistant(
      this.#session,
      answer && ((utterance) => answer(utterance, this)),
      (sealing, request) => {
        const weight = costOf(weightOf(request));
        this.#held.add('answers', weight);
        sealing
          .finally(() => this.#held.add('answers', -weight))
          .then((seal) => this.#write(seal))
          .catch((error) => this.#fail(error));
      },
      onEvent === undefined,
    );
    return (event) => {
      for (const data of assistant.handle(event)) this.#send(data);
    };
  }
}

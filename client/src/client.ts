/// <reference lib="esnext.disposable" preserve="true" />
/**
 * A client that stays connected, whatever the transport: a shell around a ClientLink, which decides everything. Here are its inputs,
 * and a table of its orders. `ws.ts`, `mqtt.ts`, `https.ts` and `page-socket.ts` supply the transport and the platform's functions.
 */
import {
  ClientLink,
  type HubEvent,
  type Json,
  type JsonObject,
  type Keyring,
  type LinkEvent,
  LocalError,
  type Order,
  pinHub,
  RemoteError,
  RequestScheduler,
  readHubEvent,
  readRefusal,
  type SchedulerOptions,
} from 'hub-protocol';
import { type BinaryPayloadType, encodeBinary } from 'hub-protocol/binary';
import type { SessionEvent } from 'hub-protocol/parts';
import { Account, costOf, type Entry, type Holder, Joining, Share, weightOf } from './account.ts';
import { cannotOpen } from './address.ts';
import {
  type HubClosing,
  LOSSES,
  pointOf,
  REPLACED,
  type Telling,
  tellingOf,
  tellingOfClosing,
  tellingOfDropped,
  tellingOfReplacement,
} from './advice.ts';
import { Answers, errorOf, reasonOf } from './answers.ts';
import { type Budget, budgetOf } from './budget.ts';
import { Conversation, greetingOf, isOther } from './conversation.ts';
import { Derivations, outcomeOf, toError } from './derivations.ts';
import { inTime, isLater } from './later.ts';
import { Listeners } from './listeners.ts';
import type {
  Answer,
  AskError,
  AskEvent,
  AskOptions,
  BusMessages,
  CascadeOptions,
  ClientEvent,
  ConnectOptions,
  KeyringStore,
  MeshAnswer,
  QueryOptions,
  Question,
  Traced,
} from './options.ts';
import type { Connection, Platform, Transport } from './platform.ts';
import { collectAnswers, isLasting, type Query } from './queries.ts';
import { assertOptions, readAskOptions, readQueryOptions, readVoiceOptions } from './read-options.ts';
import { Shown } from './shown.ts';
import { type Reading, readOnce } from './values.ts';
import { ended, Voice } from './voice.ts';

/** A listener; for messages, the type of the messages may come first. */
type To<Type extends ClientEvent['type'], Name extends string> =
  | [listener: Listener<Type>]
  | (Type extends 'message' ? [name: Name, listener: (event: Typed<Name>) => void] : never);
type Listener<Type extends ClientEvent['type']> = (event: Extract<ClientEvent, { type: Type }>) => void;
type Typed<Name extends string> = {
  readonly type: 'message';
  readonly message: Omit<HubEvent, 'type' | 'data'> & {
    readonly type: Name;
    readonly data: Name extends keyof BusMessages ? BusMessages[Name] & JsonObject : JsonObject;
  };
};
type Orders = { readonly [Do in Order['do']]: (this: Client, order: Extract<Order, { do: Do }>) => void };
type Text = Extract<SessionEvent, { type: 'message'; kind: 'json' }>;
type Hearing = {
  readonly [Type in LinkEvent['type']]?: (this: Client, event: Extract<LinkEvent, { type: Type }>) => void;
};

/** A question that could not be sent in time is no mistake of the program. */
const late = (error: Error & { code?: string }): Error =>
  error.code === 'wrong-state' ? new RemoteError('timeout', error.message) : error;

/** After a failed allocation, in milliseconds: then there may be memory again. */
const PAUSE = 2000;

/** A connection that is lost sooner after it was ready is one of those that another may have taken over, in milliseconds. */
const SOON = 90_000;

/** How long a client pauses then: two that take turns are connected for as long. In milliseconds. */
const TURN = 60_000;

/** How often questions may end a pause, in milliseconds: at most once in this time. */
const HURRY = 2000;

/** How long the hub may take for a question by default, in milliseconds. */
const IDLE = 60_000;

/** What tells an assistant that its sentence was played. */
const PLAYED = 'recognizer_loop:audio_output_end';

/** An editor, a copy or another system may have changed it, and nobody sees it. */
const UNSEEN = 'The password is not in Unicode NFC, or begins or ends with white space, which is part of it.';

/** If one of these ends two connections in a row, a person is asked. Questions do not end the pause between the two. */
const COUNTED: readonly unknown[] = ['psk-differs', 'client-key-refused'];

/** The length of an id, in bytes. */
const ID = 16;
/** Random bytes for ids, and the function that has made them: one call for many ids. */
const POOL = 64 * ID;
let pool: { readonly from: Platform['randomBytes']; readonly bytes: Uint8Array; at: number } | undefined;

/** A client that stays connected until `end` is called. `connect` returns it. */
export class Client {
  /** The store of the keyring: to read its pins, or to change them. */
  readonly keyring: KeyringStore;
  readonly #options: ConnectOptions;
  readonly #platform: Platform;
  readonly #newLink: () => ClientLink;
  #link: ClientLink;
  readonly #budget: Budget;
  readonly #account: Account;
  /** What the connection holds that was opened last. */
  #held: Entry | undefined;
  /** Whether the bytes that arrived last completed a message. */
  #isWhole = false;
  readonly #listeners = new Listeners();
  readonly #answers = new Answers();
  readonly #conversation: Conversation;
  readonly #derivations: Derivations;
  readonly #voice = new Voice();
  /** The transport of the connection that was opened last, until it is closed. */
  #transport: Transport | undefined;
  /** How the transport closed that was open last. */
  #closing: HubClosing = {};
  /** Why there is no connection; `undefined` from a connection on until it ends. */
  #obstacle: Error | undefined;
  /** What a person was asked last. */
  #question: Error | undefined;
  /** Whether the hub of this connection has not denied it. */
  #mayTellPlayed = true;
  /** When something arrived last. */
  #heardAt = 0;
  /** The connection that was opened last. */
  #line: Connection | undefined;
  /** When a connection became ready last. */
  #readyAt = 0;
  /** How many texts were written to the connection that was opened last. */
  #written = 0;
  /** Orders that were not carried out yet. */
  #left: Order[] = [];
  /** What the link has read, and not told yet. */
  readonly #readings: Reading[] = [];
  /** The length of the latest message of the hub. */
  #length = 0;
  /** How many questions have not ended. */
  #asking = 0;
  #isBusy = false;
  /** Whether the store has not answered. What the hub sends waits until then. */
  #isStoring = false;
  #at = 0;
  /** Whether a failed allocation has ended the link, and another one follows after a pause. */
  #isOver = false;
  /** Whether nobody has called `resume` or `end`. */
  #isNew = true;
  /** When a question has ended a pause. */
  #hurriedAt = -Infinity;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** A question that came too early to end another pause does so then, unless that is over. */
  #wish: ReturnType<typeof setTimeout> | undefined;

  /** Call `connect` instead. It connects in the next microtask, after listeners are added. */
  constructor(options: ConnectOptions, platform: Platform) {
    assertOptions(options, platform);
    this.#options = options;
    this.#platform = platform;
    this.#budget = budgetOf(options);
    this.#account = new Account(this.#budget.all);
    const { identity, policy, requests, derive = platform.derive } = options;
    const { crypto, randomBytes, ...session } = {
      crypto: platform.crypto,
      randomBytes: platform.randomBytes,
      readBinary: platform.readBinary,
      maxMessage: this.#budget.message,
      ...options.session,
      ...greetingOf(options, () => this.#newId()),
    };
    this.#conversation = new Conversation(options, this.#account);
    this.keyring = platform.keyring;
    this.#newLink = () =>
      new ClientLink({
        crypto,
        randomBytes,
        siteId: identity.siteId,
        keyring: platform.keyring.load(),
        session,
        policy,
        requests: ({ sessionId }) =>
          new Reader(
            { ...requests, sessionId },
            (text) => this.#read(text),
            (requestId) => this.#replies((error) => this.#answers.end(requestId, error)),
            (decision) => this.#answers.stopped(decision),
          ),
        shared: true,
        trace: true,
      });
    this.#link = this.#newLink();
    const { staticKey } = this.#link.keyring;
    const hasKey = staticKey.privateKey !== undefined || 'sharedSecret' in staticKey;
    if (!hasKey && options.sharedSecret === undefined) {
      throw new LocalError(
        'bad-argument',
        '"sharedSecret" expected a function: the keyring has no private key',
      );
    }
    this.#derivations = new Derivations(identity.password, derive, (progress) =>
      this.#listeners.emit({ type: 'deriving', progress }),
    );
    queueMicrotask(() => {
      if (this.#isNew) this.resume();
    });
  }

  /**
   * Calls a listener with each event of a type. If it throws, the error is reported as uncaught, and does not end the
   * connection. What a person has to know and nobody listens to is written to the console, once: the text of `disclosure`, and the
   * sentences of `hub-replaced`, `ask`, and `close` or `reconnect`.
   * @param type - the `type` of one of the events of {@link ClientEvent}
   * @param to - the listener, which is called with the event. After `message` the type of the messages may come first, such as
   *   `mycroft.skill.handler.start`: {@link BusMessages} has the data of the common ones
   * @returns the client
   * @throws LocalError `bad-argument` for an event that does not exist, and for a listener that is no function
   */
  on<Type extends ClientEvent['type'], Name extends string>(type: Type, ...to: To<Type, Name>): this {
    const [listener, name] = to.reverse() as [Listener<Type>, string?];
    this.#listeners.add(type, listener, false, name);
    return this;
  }

  /**
   * Calls a listener with the next event of a type, and not again.
   * @param type - the `type` of the event
   * @param to - as for `on`
   * @returns the client
   * @throws LocalError as `on`
   */
  once<Type extends ClientEvent['type'], Name extends string>(type: Type, ...to: To<Type, Name>): this {
    const [listener, name] = to.reverse() as [Listener<Type>, string?];
    this.#listeners.add(type, listener, true, name);
    return this;
  }

  /**
   * Removes a listener that `on` or `once` has added. Without effect for any other.
   * @param type - the `type` of the event
   * @param to - the same as for `on`
   * @returns the client
   * @throws LocalError as `on`
   */
  off<Type extends ClientEvent['type'], Name extends string>(type: Type, ...to: To<Type, Name>): this {
    const [listener, name] = to.reverse() as [Listener<Type>, string?];
    this.#listeners.remove(type, listener, name);
    return this;
  }

  /**
   * What the client is doing: `connecting`; `ready`, when a question is sent at once; `waiting`, in a pause before it connects again;
   * `asking`, from a question to a person until it is `ready`, while it dials on; `ended`.
   */
  get state(): ClientLink['state'] {
    return this.#isOver ? 'waiting' : this.#link.state;
  }

  /**
   * Iterates over the messages that the hub sends on its own initiative, until `end` is called: `for await (const message of client)`.
   * Messages with an eighth of `maxMemory` together wait for the loop, and each counts for at least a KiB. When the loop ends, those
   * that still wait are dropped; the next loop receives what arrives after its start.
   * @returns the messages
   * @throws LocalError `wrong-state` after those that wait, if there are more
   */
  async *[Symbol.asyncIterator](): AsyncGenerator<HubEvent, void> {
    if (this.state !== 'ended') yield* this.#listeners.messages(this.#budget.waiting, () => this.#length);
  }

  /**
   * Asks the hub, as soon as the connection is ready: the call waits while the client connects. It ends a pause, at most once in two
   * seconds. Rejects with an
   * {@link AskError}: the error of the `close` event if the connection ends before the hub has answered anything, the latest one, or
   * `timeout`, if no connection is ready within `timeout`, and `bad-argument` for a question that is none. From the event `ask` until it
   * is ready, questions reject with the cause, unless its code is `certificate-refused` or `protocol-version`, or a listener of `ask` may
   * call `trust`: then they wait for that. After an abort it rejects with the reason of the signal. A question that was not sent by then never is.
   * @param question - a text, such as `What time is it?`, or a {@link Question} of another form
   * @param options - how to ask
   * @returns the answer, once the request has ended: `ending` says how, `reply.text` is the text, and `tell` says why it is missing or
   *   incomplete: show it, too, and log `advice`
   */
  async ask(question: Question, options: AskOptions = {}): Promise<Answer> {
    let requestId = this.#newId();
    let signal: AskOptions['signal'];
    this.#asking++;
    try {
      const asked = readAskOptions(options);
      requestId = asked.requestId ?? requestId;
      signal = asked.signal;
      this.#answers.assertNew(requestId);
      const envelope = this.#conversation.envelopeOf(question, requestId);
      if (signal?.aborted) throw reasonOf(signal);
      if (this.#asked !== undefined) throw this.#asked;
      if (asked.interrupt) this.#answers.interrupt(readHubEvent(envelope)!.sessionId);
      const orders = this.#take((at) => this.#link.ask(envelope, at, asked.timeout));
      const answer = this.#answers.to(envelope, requestId, asked, () =>
        this.#input((at) => this.#link.cancel(envelope, at)),
      );
      this.#run(orders);
      this.#hurry();
      return await answer;
    } catch (error) {
      if (signal?.aborted) throw reasonOf(signal);
      throw this.#errorOf(error as Error, requestId);
    } finally {
      this.#asking--;
    }
  }

  /**
   * Asks the hub and, if it has no answer, the hubs above it. The answer must be complete within `timeout`. Rejects as `ask`, and
   * with the reason of `signal`.
   * @param question - as for `ask`
   * @param options - how to ask
   * @returns the first answer
   */
  async query(question: Question, options: QueryOptions = {}): Promise<MeshAnswer> {
    const [answer] = await this.#collect('query', question, options);
    return answer!;
  }

  /**
   * Asks all hubs of the mesh. Rejects as `query`.
   * @param question - as for `ask`
   * @param options - how to ask
   * @returns the answers, when `timeout` has passed: an empty list if no hub has answered
   */
  cascade(question: Question, options: CascadeOptions = {}): Promise<MeshAnswer[]> {
    return this.#collect('cascade', question, options);
  }

  /**
   * Sends bytes, such as speech.
   * @param payload - such as the samples of a microphone
   * @param binType - what the hub should do with them, such as `stt_audio_handle`
   * @param metadata - such as `{ lang: 'en-us' }`, at most 255 bytes as JSON
   * @returns what `send` returns
   * @throws LocalError as `encodeBinary` and `sendBinary`
   */
  sendBytes(payload: Uint8Array, binType: BinaryPayloadType, metadata: JsonObject = {}): boolean {
    return this.#send(encodeBinary({ msg_type: 'bin', bin_type: binType, metadata, payload }));
  }

  /**
   * Lets the hub turn speech into text, without acting on it. The hub needs a protocol for speech. Rejects with the error of a connection that
   * ends, with a refusal, with `timeout`, and with the reason of `signal`.
   * @param samples - 16-bit little-endian PCM with one channel, 16,000 samples a second
   * @param options - the language of the speech (default: that of `connect`), `timeout` (default 60000 ms) and `signal`
   * @returns the text; empty if the hub understood nothing
   */
  async transcribe(
    samples: Uint8Array,
    options: QueryOptions & { lang?: string | undefined } = {},
  ): Promise<string> {
    const given = readVoiceOptions(options);
    const { lang = this.#options.lang ?? 'en-us' } = given;
    const metadata = { sample_rate: 16_000, sample_width: 2, lang };
    if (this.state === 'ended') throw ended();
    return this.#voice.transcribe(() => this.sendBytes(samples, 'stt_audio_transcribe', metadata), given);
  }

  /**
   * Lets the hub speak a text. It must allow this client the message type `speak:synth`. Rejects as `transcribe`.
   * @param text - the text, of any length
   * @param options - as for `transcribe`
   * @returns the sounds, WAV files as a rule: play one after the other. They are not told as `bytes`
   */
  async synthesize(
    text: string,
    options: QueryOptions & { lang?: string | undefined } = {},
  ): Promise<Uint8Array[]> {
    const given = readVoiceOptions(options);
    const { lang = this.#options.lang ?? 'en-us' } = given;
    if (typeof text !== 'string') throw new LocalError('bad-argument', '"text" expected a string');
    if (this.state === 'ended') throw ended();
    const send = (utterance: string): boolean =>
      this.#send({
        msg_type: 'bus',
        payload: { type: 'speak:synth', data: { utterance, lang }, context: {} },
      });
    return this.#voice.synthesize(text, send, given);
  }

  /**
   * Sends an envelope that is not a question, such as the bus message `speak:synth`, or an envelope that `wrap` returns.
   * @param envelope - the envelope
   * @returns false without a connection: the envelope is dropped. True if it was sent, or, in a listener, is sent once the keyring
   *   is stored. If that then fails, the client emits `unsent`
   * @throws LocalError as `sendJson`
   */
  send(envelope: JsonObject): boolean {
    return this.#send(envelope);
  }

  /**
   * Tells the hub that what it said was played to the end. A skill of OVOS may wait for that, up to fifteen seconds for each
   * sentence. The hub must allow this client the message type `recognizer_loop:audio_output_end`. A client that plays no sound does this
   * by itself while the answer goes on, until the hub denies it.
   * @param message - the `speak` that was played (default: any in the session of this conversation)
   * @returns what `send` returns
   */
  spoken(message?: Pick<HubEvent, 'payload'>): boolean {
    const { context = this.#conversation.context } = message?.payload ?? {};
    return this.#send({ msg_type: 'bus', payload: { type: PLAYED, data: {}, context } });
  }

  /**
   * Ends the open questions of this conversation with the parts that have come (`ending` is `interrupted`), and asks the assistant to stop.
   * The hub must allow this client the message type `mycroft.stop`; where it does not, ask `stop` with the option `interrupt`.
   * @returns what `send` returns
   */
  stop(): boolean {
    const { sessionId, context } = this.#conversation;
    this.#answers.interrupt(sessionId);
    return this.#send({ msg_type: 'bus', payload: { type: 'mycroft.stop', data: {}, context } });
  }

  /**
   * Pins the key that the hub presented when a person was asked, in place of the old one, and connects again.
   * Questions that wait are then asked.
   * @param event - the event `ask` whose `act` is `trust`
   * @throws LocalError `bad-argument` for any other: there is no key to trust
   */
  trust(event: Extract<AskEvent, { act: 'trust' }>): void {
    const { nodeId, hubKey } = event.error as Partial<typeof event.error>;
    if (hubKey === undefined) {
      throw new LocalError(
        'bad-argument',
        '"event" expected "ask" with the act trust: no other has a key to trust. Call resume() or end()',
      );
    }
    this.#input((at) => this.#link.change((stored) => pinHub(stored, nodeId!, hubKey), at));
  }

  /** Connects again immediately: after a person has acted, when the network is back, or after `end`. */
  resume(): void {
    this.#isNew = false;
    if (this.#isOver) this.#link = this.#newLink();
    this.#isOver = false;
    this.#input((at) => this.#link.start(at));
  }

  /**
   * Begins another conversation: call it on a shared device when another person may have come. If the options of the disclosure say
   * so, the disclosure is due again. Questions then belong to a new session, so the hub does not go on with the old one.
   */
  newConversation(): void {
    this.#conversation.renew(this.#newId());
  }

  /** Ends the connection for good, as `end` does: for `using`. */
  [Symbol.dispose](): void {
    this.end();
  }

  /** Ends the connection for good, as `end` does: for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.end();
  }

  /** Ends the connection for good. May be called in any listener. */
  end(): void {
    this.#isNew = false;
    clearTimeout(this.#timer);
    clearTimeout(this.#wish);
    this.#shown.clear();
    if (this.#isOver) this.#tell({ type: 'end' });
    this.#isOver = false;
    if (this.#link.state === 'ended') return;
    this.#input((at) => {
      const orders = this.#link.end(at);
      this.#readings.length = 0;
      this.#left = this.#left.filter((order) => this.#outlasts(order));
      return orders;
    });
  }

  /** How to carry out each order. */
  static readonly #carryOut: Orders = {
    open({ connection }) {
      this.#open(connection);
    },
    write({ data }) {
      if (typeof data === 'string') this.#written++;
      this.#listeners.emit({ type: 'trace', what: { type: 'transmit', data } });
      this.#transport?.write(data);
      this.#held?.set('unsent', this.#transport?.unsent?.() ?? 0);
    },
    close({ code }) {
      this.#close(code);
    },
    store({ change }) {
      const link = this.#link;
      let failure: Error | undefined;
      try {
        const update = this.keyring.update((stored) => {
          if (this.#transport !== undefined) assertSameKey(link.keyring, stored);
          return change(stored);
        });
        if (isLater(update)) {
          this.#isStoring = true;
          inTime('keyring.update', update).then(
            () => this.#stored(link),
            (error) => this.#stored(link, toError(error)),
          );
          return;
        }
      } catch (error) {
        failure = toError(error);
      }
      this.#stored(link, failure);
    },
    derive({ derivation, salt }) {
      const link = this.#link;
      this.#derivations.start(salt, (psk) => {
        if (link === this.#link) this.#input((at) => link.derived(derivation, psk, at));
      });
    },
    'stop-deriving'() {
      this.#derivations.stop();
    },
    async compute({ connection, publicKey }) {
      const link = this.#link;
      const secret = await outcomeOf(() => this.#options.sharedSecret!(publicKey));
      if (link === this.#link) this.#input((at) => link.computed(connection, secret, at));
    },
    tell({ event }) {
      if (event.type === 'trace' && isComplete(event.what)) this.#isWhole = true;
      if (event.type === 'trace' && isText(event.what)) return this.#heard(event.what);
      const told = 'message' in event && event.type !== 'unsent' ? withNumbers(event) : event;
      (Client.#hear[told.type] ?? this.#tell).call(this, told as never);
    },
  };

  /** Tells the link what is stored now. */
  #stored(link: ClientLink, failure?: Error): void {
    if (link !== this.#link) return;
    let stored: Keyring | Error;
    try {
      stored = failure ?? this.keyring.load();
    } catch (error) {
      stored = toError(error);
    }
    this.#isStoring = false;
    this.#held?.set('waiting', 0);
    this.#input((at) =>
      stored instanceof Error ? link.stored(stored, at) : link.stored(undefined, at, stored),
    );
  }

  /** What is told to those who have asked. The listeners are told the rest. */
  static readonly #hear: Hearing = {
    part(event) {
      this.#answers.add(event);
      if (event.text !== '') this.#show(event.message);
    },
    finish(event) {
      if (event.ending === 'handled') this.#shown.end(event.requestId);
      this.#answers.finish(event);
      if (event.ending === 'timeout' && event.reply.rawEvent === null) this.#doubt();
    },
    unsent(event) {
      if (!this.#answers.fail(event)) this.#tell(event);
    },
  };

  /** Calls listeners. An error gets its sentences, and a message that was dropped. */
  #tell(event: LinkEvent): void {
    const error = 'error' in event ? event.error : undefined;
    const telling =
      event.type === 'dropped'
        ? tellingOfDropped(event)
        : event.type === 'hub-replaced'
          ? tellingOfReplacement(event)
          : event.type === 'reconnect' && this.#closing.losses === LOSSES
            ? tellingOfClosing(this.#closing)
            : error && this.#tellingOf(error);
    if (['close', 'reconnect', 'ask'].includes(event.type)) this.#obstacle = error ?? this.#obstacle;
    if (event.type === 'ask') {
      this.#question = event.error;
      if (this.#asked !== undefined) this.#answers.failAll(this.#asked);
    }
    if (event.type === 'connect') {
      this.#obstacle = undefined;
      this.#mayTellPlayed = true;
      this.#readyAt = this.#at;
      this.#conversation.ownSessionId = event.sessionId;
    }
    const said = event.type === 'message' ? this.#conversation.speechIn(event.message) : undefined;
    const speech = said && !this.#answers.isInterrupted(said.message) ? said : undefined;
    if (speech !== undefined || (event.type === 'bytes' && event.bin_type === 'tts_audio')) {
      this.#emit(this.#conversation.disclose());
    }
    const act = event.type === 'ask' && { act: this.#hasKey ? 'trust' : 'resume' };
    if (event.type === 'close' || event.type === 'end')
      this.#voice.lost(error ?? ended(), event.type === 'end');
    if (event.type === 'message' && this.#voice.takeMessage(event.message)) return;
    if (event.type === 'bytes' && this.#voice.takeBytes(event)) return;
    this.#listeners.emit((telling === undefined ? event : { ...event, ...telling, ...act }) as ClientEvent);
    if (event.type === 'connect') this.#voice.flush();
    this.#emit(speech);
    if (said !== undefined) this.#show(said.message);
    if (event.type === 'message' && readRefusal(event.message.payload)?.deniedType === PLAYED)
      this.#mayTellPlayed = false;
    if (event.type === 'trace' && 'type' in event.what && event.what.type === 'sent') {
      this.#emit(this.#conversation.begin(event.what.envelope));
    }
  }

  /** A hub behind a broker that has restarted is silent until it greets again, and so is a network that has gone. The next question waits. */
  #doubt(): void {
    const { idle = IDLE } = this.#options.requests?.deadlines ?? {};
    if (!this.#platform.isBlind || this.#link.state !== 'ready') return;
    if (performance.now() - this.#heardAt >= idle) this.#line?.closed({ retryAfter: 0 });
    else this.#send({ msg_type: 'ping', payload: {} });
  }

  /** What is shown is played. */
  readonly #shown = new Shown((session) => {
    if (!this.#mayTellPlayed) return;
    try {
      this.spoken({ payload: { context: session === undefined ? {} : { session } } });
    } catch {
      // such as a session that is too long to be returned
    }
  });

  #show(message: HubEvent): void {
    const { disclosure, plays = disclosure?.isVoice } = this.#options;
    if (!plays && this.#mayTellPlayed) this.#shown.add(message, this.#length);
  }

  /** Reads a message of the hub for the link, and once for all. */
  #read(text: string): Json | undefined {
    const reading = readOnce(text, this.#budget.values);
    this.#readings.push(reading);
    return 'dropped' in reading ? undefined : reading.envelope;
  }

  /** What listeners are told of a message of the hub that the link has read. */
  #heard(what: Text): void {
    const reading = this.#readings.shift()!;
    if ('dropped' in reading) {
      this.#tell({ type: 'trace', what: reading.dropped });
      return void this.#tell(reading.dropped);
    }
    this.#listeners.emit({ type: 'trace', what });
    const { envelope } = reading;
    this.#length = what.text.length;
    if (isOther(envelope)) this.#listeners.emit({ type: 'envelope', envelope });
    else if (envelope !== undefined) this.#conversation.keepState(envelope, what.text.length);
  }

  /** What a reply may take, or the answers to a cascade together. */
  #replies(end: (error: LocalError) => void): Share {
    return new Share(this.#account, 'replies', this.#budget.replies, () => end(heldTooMuch()));
  }

  #emit(event: ClientEvent | undefined): void {
    if (event !== undefined) this.#listeners.emit(event);
  }

  /** Asks a mesh of hubs. */
  async #collect(type: Query['type'], question: Question, given: CascadeOptions): Promise<MeshAnswer[]> {
    const queryId = this.#newId();
    let options: CascadeOptions = {};
    this.#asking++;
    try {
      options = readQueryOptions(type, given);
      const envelope = this.#conversation.wrapped(type, question, queryId);
      const isAlone = (): boolean => this.#asking === 1;
      this.#hurry();
      return await collectAnswers(
        this,
        {
          ...{ type, queryId, envelope, isAlone, obstacle: this.#obstacle, asked: this.#asked },
          share: (end) => this.#replies(end),
        },
        options,
      );
    } catch (error) {
      if (options.signal?.aborted) throw reasonOf(options.signal);
      throw this.#errorOf(error as Error, queryId);
    } finally {
      this.#asking--;
    }
  }

  /** What a question rejects with. */
  #errorOf(cause: Error, requestId: string): AskError {
    const telling = this.#tellingOf(cause);
    const { scheme, at } = this.#platform.place ?? {};
    this.#listeners.unheard.told(telling.advice);
    return errorOf(late(cause), { requestId, ...telling, endpoint: scheme && `${scheme}://${at}` });
  }

  /** Whoever asks does not wait for the end of a pause, but at most until another may be ended. */
  #hurry(): void {
    const now = performance.now();
    const error = this.#obstacle;
    const isOfHub = error instanceof RemoteError && !COUNTED.includes(error.code);
    if (this.#link.state !== 'waiting' || !isOfHub) return;
    const wait = this.#hurriedAt + HURRY - now;
    clearTimeout(this.#wish);
    if (wait > 0) {
      this.#wish = setTimeout(() => this.#hurry(), wait);
      return;
    }
    this.#hurriedAt = now;
    this.resume();
  }

  /** Why questions do not wait. */
  get #asked(): Error | undefined {
    const error = this.#question;
    if (this.#link.state !== 'asking' || error === undefined || !isLasting(error)) return undefined;
    return this.#hasKey && this.#listeners.isHeard('ask') ? undefined : error;
  }

  /** Whether a person was asked about another key of the hub. */
  get #hasKey(): boolean {
    return (this.#question as RemoteError | undefined)?.hubKey !== undefined;
  }

  #newId(): string {
    const { randomBytes } = this.#platform;
    if (pool?.from !== randomBytes || pool.at === POOL)
      pool = { from: randomBytes, bytes: randomBytes(POOL), at: 0 };
    const { bytes, at } = pool;
    pool.at = at + ID;
    return bytes.subarray(at, pool.at).join('.');
  }

  #tellingOf(error: Error): Telling {
    const { code } = error as { code?: string };
    const ofClosing = code === 'dropped' ? tellingOfClosing(this.#closing) : undefined;
    const told = ofClosing ?? tellingOf(error, this.#link.keyring, this.#platform);
    const { password } = this.#options.identity;
    const isOdd = code === 'psk-differs' && password !== password.trim().normalize();
    return isOdd ? { ...told, advice: `${told.advice} ${UNSEEN}` } : told;
  }

  /** The time of an input. Time stands still while orders are carried out: a store that answers at once takes none. */
  #now(): number {
    if (!this.#isBusy) this.#at = performance.now();
    return this.#at;
  }

  /** Carries out orders, in order: those of an input that an order causes come after those that are left. */
  #run(orders: readonly Order[]): void {
    this.#left.push(...orders);
    if (this.#isBusy) return;
    this.#isBusy = true;
    for (let order = this.#left.shift(); order !== undefined; order = this.#left.shift()) {
      this.#attempt(order);
    }
    this.#isBusy = false;
    if (this.#isOver) return;
    clearTimeout(this.#timer);
    const { deadline } = this.#link;
    if (deadline === undefined) return;
    const wait = Math.max(0, Math.ceil(deadline - performance.now()));
    this.#timer = setTimeout(() => this.#input((at) => this.#link.wake(at)), wait);
  }

  /** Gives the link an input, and carries out what it orders. */
  #input(input: (now: number) => Order[]): void {
    let orders: Order[];
    try {
      orders = this.#take(input);
    } catch (error) {
      if (this.#isOver) return;
      throw error;
    }
    this.#run(orders);
  }

  /** What the link orders. If an allocation has failed, the link is over, and another one follows, from the store. */
  #take(input: (now: number) => Order[]): Order[] {
    const { state } = this.#link;
    try {
      return input(this.#now());
    } catch (error) {
      if (state !== 'ended' && this.#link.state === 'ended') this.#restart(error as LocalError);
      throw error;
    }
  }

  #restart(error: LocalError): void {
    this.#isOver = true;
    this.#isStoring = false;
    this.#left.length = this.#readings.length = 0;
    this.#close(1000);
    this.#derivations.stop();
    this.#answers.failAll(error);
    this.#tell({ type: 'close', error });
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      try {
        this.resume();
      } catch (later) {
        this.#restart(later as LocalError); // there is no memory for another link either, or no keyring
      }
    }, PAUSE);
  }

  /** A transport that fails ends its connection. */
  #attempt(order: Order): void {
    try {
      Client.#carryOut[order.do].call(this, order as never);
    } catch (error) {
      this.#close(1000);
      const { connection } = order as Extract<Order, { do: 'write' }>;
      this.#input((at) => this.#link.closed(connection, toError(error), at));
    }
  }

  #open(connection: number): void {
    this.#written = 0;
    clearTimeout(this.#wish);
    const line = new Client.#Line(this, connection);
    this.#line = line;
    this.#held = line.held;
    try {
      line.transport = this.#platform.open(line);
    } catch (error) {
      throw cannotOpen(error);
    }
    this.#transport = line.transport;
  }

  /** A connection, for its transport and for the account. */
  static readonly #Line = class implements Connection, Holder {
    readonly #client: Client;
    readonly #its: ClientLink; // the client may have another one later
    readonly #connection: number;
    readonly #joining: Joining;
    readonly held: Entry;
    transport: Transport | undefined;
    #isSilent = true;
    #isHeard = false;

    constructor(client: Client, connection: number) {
      this.#client = client;
      this.#its = client.#link;
      this.#connection = connection;
      this.#joining = new Joining(client.#budget.message);
      this.held = client.#account.open(undefined, this);
    }

    get #isOpen(): boolean {
      return this.transport !== undefined && this.transport === this.#client.#transport;
    }

    #pass(orders: (now: number) => Order[]): void {
      if (this.#its === this.#client.#link && !this.#client.#isOver) this.#client.#input(orders);
    }

    isReady(): boolean {
      return this.#isOpen && this.#its.state === 'ready';
    }

    send(envelope: JsonObject): void {
      if (this.isReady()) this.#pass((at) => this.#its.send(envelope, at));
    }

    opened(): void {
      this.#pass((at) => this.#its.opened(this.#connection, at));
    }

    arriving(bytes: number): void {
      this.held.set('arriving', bytes);
    }

    received(data: string | Uint8Array): void {
      if (!this.#isOpen) return;
      const client = this.#client;
      this.#isSilent = false;
      client.#heardAt = performance.now();
      this.#isHeard ||= this.isReady();
      client.#listeners.emit({ type: 'trace', what: { type: 'received', data } });
      client.#isWhole = false;
      this.#pass((at) => this.#its.received(this.#connection, data, at));
      if (client.#isStoring) this.held.add('waiting', costOf(data.length));
      if (typeof data === 'string') return;
      if (client.#isWhole) this.#joining.end();
      this.held.set('partial', client.#isWhole ? 0 : this.#joining.add(data.length));
    }

    closed(closing?: Parameters<Connection['closed']>[0]): void {
      const client = this.#client;
      if (this.#isOpen) {
        const given = closing as HubClosing | undefined;
        const isReady = this.isReady();
        const point = this.#isHeard ? undefined : pointOf(given?.code, client.#written, isReady);
        const times = point === undefined ? 0 : (client.#closing.times ?? 0) + 1;
        const losses = client.#losses(isReady && (closing === undefined || given?.reason === REPLACED));
        client.#close(1000);
        client.#closing = { ...given, isSilent: this.#isSilent, point, times, losses };
        if (losses >= LOSSES && isReady) closing = { retryAfter: TURN };
      }
      this.#pass((at) => this.#its.closed(this.#connection, closing, at));
    }

    unsent(): number {
      return this.transport?.unsent?.() ?? 0;
    }

    end(): void {
      queueMicrotask(() => this.closed(heldTooMuch())); // the link may be at work
    }
  };

  /** @param isLoss - whether a connection is lost that was ready. One that was not changes nothing */
  #losses(isLoss: boolean): number {
    const { losses = 0 } = this.#closing;
    if (!isLoss) return losses;
    const isSoon = performance.now() - this.#readyAt < SOON;
    return isSoon && this.#platform.place?.partner === 'broker' ? losses + 1 : 0;
  }

  #close(code: number): void {
    const transport = this.#transport;
    if (this.#held !== undefined) this.#account.close(this.#held);
    this.#transport = this.#held = undefined;
    transport?.close(code);
  }

  #send(message: JsonObject | Uint8Array): boolean {
    if (this.#link.state !== 'ready') return false;
    const orders = this.#take((at) => this.#link.send(message, at));
    const told = orders.flatMap((order) => (order.do === 'tell' ? order.event : []));
    const unsent = told.find((event) => event.type === 'unsent' && event.message === message);
    this.#run(orders.filter((order) => order.do !== 'tell' || order.event !== unsent));
    if (unsent?.type === 'unsent') throw unsent.error;
    return true;
  }

  /** Whether an order is carried out although `end` was called after it: nothing is opened, and only what was not sent is told. */
  #outlasts(order: Order): boolean {
    return order.do === 'tell' ? order.event.type in Client.#hear : order.do !== 'open';
  }
}

type Decisions = ReturnType<RequestScheduler['receive']>;
type Finish = Extract<Decisions[number], { do: 'finish' }>;

/** A scheduler whose messages are read elsewhere, and which ends a request whose reply takes too much. */
class Reader extends RequestScheduler {
  readonly #read: (text: string) => Json | undefined;
  readonly #newShare: (requestId: string) => Share;
  readonly #stopped: (finish: Finish) => void;
  /** What the replies take, by request id. */
  readonly #shares = new Map<string, Share>();

  constructor(
    options: SchedulerOptions,
    read: (text: string) => Json | undefined,
    newShare: (requestId: string) => Share,
    stopped: (finish: Finish) => void,
  ) {
    super(options);
    this.#stopped = stopped;
    this.#read = read;
    this.#newShare = newShare;
  }

  override receive(message: string, now: number): Decisions {
    const envelope = this.#read(message);
    if (envelope === undefined) return [];
    const decisions = super.receive(envelope, now);
    for (const decision of [...decisions]) {
      if (decision.do !== 'part') continue;
      const { requestId, event } = decision;
      const share = this.#shares.get(requestId) ?? this.#newShare(requestId);
      this.#shares.set(requestId, share);
      if (share.add(costOf(weightOf(event.payload)))) continue;
      for (const ended of super.cancel(requestId, now))
        decisions.push(ended.do === 'finish' ? { ...ended, isTruncated: true } : ended);
    }
    return this.#settle(decisions);
  }

  override expire(now: number): Decisions {
    return this.#settle(super.expire(now));
  }

  override cancel(requestId: string, now: number): Decisions {
    const decisions = super.cancel(requestId, now);
    const [ended] = decisions;
    if (ended?.do === 'finish') this.#stopped(ended);
    return this.#settle(decisions);
  }

  override closed(): ReturnType<RequestScheduler['closed']> {
    return this.#settle(super.closed());
  }

  #settle<Some extends Decisions>(decisions: Some): Some {
    for (const decision of decisions) {
      if (decision.do !== 'finish') continue;
      this.#shares.get(decision.requestId)?.close();
      this.#shares.delete(decision.requestId);
    }
    return decisions;
  }
}

function heldTooMuch(): LocalError {
  const message =
    'this held most of what is more than "maxMemory" in all: raise it, or send and ask for less at a time';
  return new LocalError('out-of-memory', message);
}

/** Two tabs that start at the same moment may both make a keyring. A hub may only see the static key that is stored. */
function assertSameKey(own: Keyring, stored: Keyring): void {
  const keyOf = ({ staticKey: { publicKey, privateKey } }: Keyring): string =>
    String(publicKey ?? privateKey);
  if (keyOf(own) === keyOf(stored)) return;
  throw new LocalError('keyring-replaced', 'another tab or program has stored a keyring with another key');
}

/** Whether a message is complete, in place of which the session held parts of it. */
function isComplete(what: Traced): boolean {
  return 'type' in what && (what.type === 'message' || what.type === 'dropped');
}

function isText(what: Traced): what is Text {
  return 'type' in what && what.type === 'message' && what.kind === 'json';
}

/** The message with JavaScript's numbers in its data. */
function withNumbers<Told extends { readonly message: HubEvent }>(event: Told): Told {
  return { ...event, message: readHubEvent({ msg_type: 'bus', payload: event.message.payload })! };
}

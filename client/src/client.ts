/**
 * A client that stays connected, whatever the transport: a session for each connection, the policy's decisions and deadlines,
 * the keyring, and requests. `ws.ts`, `mqtt.ts` and `browser.ts` supply the transport and the platform functions.
 */
import {
  ClientSession,
  ConnectionPolicy,
  type DialOptions,
  type EndedEvent,
  type HubEvent,
  type JsonObject,
  type Keyring,
  type LocalError,
  type PolicyDecision,
  pinHub,
  type RemoteError,
  type SessionEvent,
  updateKeyring,
} from 'hub-protocol';
import { type BinaryPayloadType, encodeBinary } from 'hub-protocol/binary';
import { cannotOpen } from './address.ts';
import { sentenceFor } from './advice.ts';
import { Derivations } from './derivations.ts';
import { Listeners } from './listeners.ts';
import type {
  Answer,
  AskEvent,
  ClientEvent,
  Connection,
  ConnectOptions,
  KeyringStore,
  Platform,
  Question,
  Transport,
} from './options.ts';
import { assertOptions } from './read-options.ts';
import { envelopeOf, Requests } from './requests.ts';
import { readRetryAfter } from './retry-after.ts';

/** A connection, as the client sees it. */
interface Line extends Connection {
  /** `undefined` until the platform has opened it. */
  transport: Transport | undefined;
  /** Whether the event `ended` has come, after which nothing is carried out. */
  isOver: boolean;
  /** Whether the keyring marks the static key as fresh. */
  isKeyFresh: boolean;
  /** The pause that the server asks for, in milliseconds. */
  retryAfter: number;
}

/** The end of a connection whose session could not be made. */
const NEVER_BEGUN = {
  type: 'ended',
  reason: 'dropped',
  retry: 'never',
  pattern: undefined,
  code: undefined,
  status: undefined,
  closeReason: undefined,
} as const;

export class Client {
  /** The store of the keyring: to read its pins, or to change them. */
  readonly keyring: KeyringStore;
  readonly #options: ConnectOptions;
  readonly #platform: Platform;
  readonly #policy: ConnectionPolicy;
  readonly #listeners = new Listeners();
  /** The callers that wait for the connection that is being made. */
  #waiting: { resolve(requests: Requests): void; reject(error: Error): void }[] = [];
  /** The requests of the ready connection. */
  #requests: Requests | undefined;
  /** Why no connection is being made. */
  #failure: Error | undefined;
  #hangUp: () => void = () => {};
  /** Seals a binary message and writes it. */
  #sendBinary: (message: Uint8Array) => void = () => {};
  readonly #derivations: Derivations;
  /** Whether `end` was called, and `resume` was not called since. */
  #hasEnded = false;

  /** Call `connect` instead. It connects in the next microtask, after listeners are added. */
  constructor(options: ConnectOptions, platform: Platform) {
    this.#options = options;
    this.#platform = platform;
    this.keyring = platform.keyring;
    this.#policy = new ConnectionPolicy({ randomBytes: platform.randomBytes, ...options.policy });
    assertOptions(options, platform);
    const { identity, derive = platform.derive } = options;
    this.#derivations = new Derivations(identity.password, derive, (progress) =>
      this.#emit({ type: 'deriving', progress }),
    );
    queueMicrotask(() => this.#connect());
  }

  /**
   * Calls a listener with each event of a type. If it throws, the error is reported as uncaught, and does not end the
   * connection.
   */
  on<Type extends ClientEvent['type']>(
    type: Type,
    listener: (event: Extract<ClientEvent, { type: Type }>) => void,
  ): this {
    this.#listeners.add(type, listener);
    return this;
  }

  /**
   * Iterates over the hub's unsolicited events, until `end` is called. At most 1000 messages wait for the loop.
   * @throws LocalError `wrong-state` after those, if there are more
   */
  [Symbol.asyncIterator](): AsyncGenerator<HubEvent, void> {
    return this.#listeners.messages();
  }

  /**
   * Asks the hub, as soon as the connection is ready. Resolves when the request has ended: `ending` says how, `reply.text` is
   * the answer, and `tell` says why it is missing or incomplete. Rejects with the error of the `close` event if the connection
   * ends before the hub has answered anything, and with the cause if there is no connection and none is being made.
   */
  async ask(question: Question): Promise<Answer> {
    const requests = this.#requests ?? (await this.#untilReady());
    const requestId = this.#platform.randomBytes(16).join('.');
    const said = typeof question === 'string' ? { text: question } : question;
    const request = { siteId: this.#options.identity.siteId, ...said, requestId };
    return requests.request(requestId, envelopeOf(request));
  }

  /**
   * Sends bytes, such as speech.
   * @param payload - such as the samples of a microphone
   * @param binType - what the hub should do with them, such as `stt_audio_handle`
   * @param metadata - such as `{ lang: 'en-us' }`, at most 255 bytes as JSON
   * @returns whether they were sent; without a connection they are dropped
   * @throws LocalError as `encodeBinary` and `sendBinary`
   */
  sendBytes(payload: Uint8Array, binType: BinaryPayloadType, metadata: JsonObject = {}): boolean {
    const message = encodeBinary({ msg_type: 'bin', bin_type: binType, metadata, payload });
    if (this.#requests === undefined) return false;
    this.#sendBinary(message);
    return true;
  }

  /**
   * Sends an envelope that is not a question, such as a bus message that the hub answers in another form.
   * @returns whether it was sent; without a connection it is dropped
   * @throws LocalError as `sendJson`
   */
  send(envelope: JsonObject): boolean {
    if (this.#requests === undefined) return false;
    this.#requests.send(envelope);
    return true;
  }

  /** Pins the key that the hub presented when a person was asked, in place of the old one, and connects again. */
  trust({ error }: AskEvent): void {
    const { nodeId, hubKey } = error as RemoteError;
    this.keyring.update((stored) => pinHub(stored, nodeId!, hubKey!)); // throws if no key was presented
    this.resume();
  }

  /** Connects again immediately: after a person has acted, when the network is back, or after `end`. */
  resume(): void {
    if (this.#policy.state === 'waiting') this.#hangUp(); // which stops the timer of the pause
    this.#hasEnded = false;
    this.#policy.resume();
    this.#connect();
  }

  /** Ends the connection for good. May be called in any listener. */
  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#leave(new Error('the client has left, because end() was called'));
    this.#emit({ type: 'end' });
  }

  #emit(event: ClientEvent): void {
    this.#listeners.emit(event);
  }

  #leave(reason: Error): void {
    this.#policy.goodbye();
    this.#fail(reason);
    this.#derivations.stop();
    this.#hangUp();
  }

  /** Rejects the callers that wait for the connection. */
  #fail(reason: Error): void {
    this.#failure = reason;
    for (const { reject } of this.#waiting.splice(0)) reject(reason);
  }

  #untilReady(): Promise<Requests> {
    return new Promise((resolve, reject) => {
      if (this.#failure === undefined) this.#waiting.push({ resolve, reject });
      else reject(this.#failure);
    });
  }

  #ask(error: Error): void {
    this.#emit({ type: 'ask', error, tell: this.#sentence(error) });
  }

  #sentence(error: Error): string {
    let keyring: Keyring | undefined;
    try {
      keyring = this.keyring.load();
    } catch {
      // It cannot be read, which may be the error.
    }
    return sentenceFor(error, keyring, this.#platform.advice);
  }

  /** Disconnects because of an error that the policy does not know, such as a full disk, and asks a person. */
  #giveUp(error: Error): void {
    this.#leave(error);
    this.#ask(error);
  }

  #connect(): void {
    const begun = this.#begin();
    if (begun === undefined) return;
    const { session } = begun;
    this.#failure = undefined;
    let deadline: ReturnType<typeof setTimeout> | undefined;
    const run = (events: SessionEvent[]): void => {
      let failure: unknown;
      for (const event of events) {
        if (line.isOver) break; // a listener has called `end`
        // After a failure to store, nothing is sent.
        if (failure !== undefined && event.type !== 'ended') continue;
        try {
          this.#carryOut(event, line);
        } catch (error) {
          failure = error;
        }
      }
      clearTimeout(deadline);
      const wait = line.isOver ? undefined : this.#policy.deadline(session.state, performance.now());
      if (wait !== undefined) deadline = setTimeout(line.closed, wait, 'timeout');
      if (failure !== undefined) this.#giveUp(failure as Error);
    };
    const write = (sealed: Uint8Array<ArrayBuffer>[]): void => {
      for (const data of sealed) {
        this.#emit({ type: 'trace', what: { type: 'transmit', data } });
        if (!line.isOver) line.transport!.write(data);
      }
    };
    this.#sendBinary = (message) => write(session.sendBinary(message));
    const line: Line = {
      ...begun,
      transport: undefined,
      isOver: false,
      retryAfter: 0,
      run,
      send: (envelope) => {
        write(session.sendJson(envelope));
        this.#emit({ type: 'trace', what: { type: 'sent', envelope } });
      },
      received: (data) => {
        if (line.isOver) return;
        this.#emit({ type: 'trace', what: { type: 'received', data } });
        if (!line.isOver) run(session.receive(data));
      },
      closed: (closing, retryAfter) => {
        line.retryAfter = readRetryAfter(retryAfter, this.#options.policy?.maxPause);
        run(session.closed(closing));
      },
    };
    this.#hangUp = line.closed; // without a code: the hub did not close
    this.#emit({ type: 'connecting' });
    if (line.isOver) return;
    try {
      line.transport = this.#platform.open(line);
    } catch (error) {
      this.#giveUp(cannotOpen(error));
      return;
    }
    run([]); // sets the first deadline
  }

  /** The session of the next connection, if it is due. */
  #begin(): Pick<Line, 'session' | 'isKeyFresh'> | undefined {
    const { crypto, randomBytes, readBinary } = this.#platform;
    let dialOptions: DialOptions | undefined;
    try {
      const keyring = this.keyring.load();
      dialOptions = this.#policy.begin(performance.now());
      if (dialOptions === undefined) return undefined; // there is a connection, or an old timer called
      const { siteId } = this.#options.identity;
      const options = {
        crypto,
        randomBytes,
        readBinary,
        siteId,
        keyring,
        ...this.#options.session,
        ...dialOptions,
      };
      return { session: new ClientSession(options), isKeyFresh: keyring.staticKeyIsFresh };
    } catch (error) {
      if (dialOptions !== undefined) this.#rest({ ...NEVER_BEGUN, error: error as LocalError });
      this.#giveUp(error as Error);
      return undefined;
    }
  }

  /** Lets the policy rest after the end of a connection that it cannot decide about. */
  #rest(event: EndedEvent): void {
    this.#policy.goodbye();
    this.#policy.take(event, performance.now());
  }

  #carryOut(event: SessionEvent, line: Line): void {
    const { session, send, run, transport } = line;
    this.#store(event, line); // before anything more is sent
    this.#emit({ type: 'trace', what: event });
    if (line.isOver) return;
    if (event.type === 'transmit') transport!.write(event.data);
    else if (event.type === 'psk-needed') {
      this.#answer(line, async () => session.providePsk(await this.#derivations.pskFor(event)));
    } else if (event.type === 'waiting') {
      const { publicKey } = event;
      this.#answer(line, async () =>
        session.resume(publicKey && (await this.#options.sharedSecret!(publicKey))),
      );
    } else if (event.type === 'psk' || event.type === 'psk-suspect') this.#derivations.forget();
    else if (event.type === 'ready') {
      const { sessionId, nodeId, hubKey, pattern, suite } = event;
      const requests = new Requests({ ...this.#options.requests, sessionId }, send, (message) =>
        this.#emit({ type: 'message', message }),
      );
      this.#requests = requests;
      transport!.ready?.();
      for (const { resolve } of this.#waiting.splice(0)) resolve(requests);
      this.#emit({ type: 'connect', nodeId, hubKey, pattern, suite });
    } else if (event.type === 'message') {
      if (event.kind === 'json') this.#requests!.receive(event.text);
      else this.#emit({ ...event, type: 'bytes' });
    } else if (event.type === 'close') {
      transport!.close(event.code);
      run(session.closed());
    } else if (event.type === 'ended') {
      this.#ended(event, line);
      return;
    }
    if (!line.isOver) this.#policy.take(event, performance.now());
  }

  /** Stores what an event changes in the keyring. A ready session changes nothing, so messages do not touch the disk. */
  #store(event: SessionEvent, line: Line): void {
    const update = (): void => this.keyring.update((stored) => updateKeyring(stored, event));
    const { type } = event;
    if (type === 'pin' || type === 'unpin' || type === 'psk' || type === 'psk-suspect') update();
    const isProof =
      type === 'message' || type === 'dropped' || (type === 'ready' && event.pattern === 'KKpsk0');
    if (!isProof || !line.isKeyFresh) return;
    line.isKeyFresh = false;
    try {
      update();
    } catch {
      // The key stays marked as fresh in the store. No message is held up for that: the next connection tries again.
    }
  }

  #ended(event: EndedEvent, line: Line): void {
    line.isOver = true;
    line.transport?.close(1000);
    const isOwnWish = this.#policy.state === 'leaving';
    this.#requests?.closed(isOwnWish ? this.#failure! : event.error);
    this.#requests = undefined;
    if (!isOwnWish) this.#emit({ type: 'close', error: event.error, tell: this.#sentence(event.error) });
    let decision: PolicyDecision | undefined;
    try {
      decision = this.#policy.take(event, performance.now());
    } catch (error) {
      this.#rest(event); // there was no randomness for a pause
      throw error;
    }
    this.#follow(decision!, event.error, line.retryAfter);
  }

  /** Carries out the policy's decision after the end of a connection. */
  #follow(decision: PolicyDecision, error: Error, retryAfter: number): void {
    this.#emit({ type: 'trace', what: decision });
    if (decision.do === 'rest') return; // the reason was passed to #leave
    if (decision.do === 'ask') {
      this.#fail(error);
      this.#ask(error);
      return;
    }
    const { tell } = decision;
    const after = Math.max(decision.after, retryAfter);
    if (after > 0) this.#fail(error);
    const redial = setTimeout(() => this.#connect(), after);
    this.#hangUp = () => clearTimeout(redial);
    this.#emit({ type: 'reconnect', after, tell: tell && this.#sentence(tell) });
  }

  /** Answers the session's question, which may take a while. */
  async #answer({ session, run }: Line, compute: () => Promise<SessionEvent[]>): Promise<void> {
    try {
      run(await compute());
    } catch (error) {
      if (session.state !== 'closed') this.#giveUp(error as Error); // such as: no memory
    }
  }
}

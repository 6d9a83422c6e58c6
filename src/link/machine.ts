/**
 * What a link does, one step at a time: sessions one after another, and the policy, the keyring, the derivation and the questions
 * that outlive them.
 *
 *     input ──► inputs ──► session ──► events ──► orders            One loop (`proceed`) empties both queues, the events of
 *                 ▲                      │                          the session first. It stops as soon as a keyring is
 *                 └─── held while a keyring is being stored ◄───────┘  being stored, so nothing overtakes it.
 */
import { assertTime } from '../arguments.ts';
import { type Bytes, isBytes } from '../bytes.ts';
import type { LocalError, RemoteError } from '../errors.ts';
import * as errors from '../errors-table.ts';
import { hideFields } from '../hide-fields.ts';
import type { Keyring } from '../keyring/keyring.ts';
import { failureOf } from '../memory.ts';
import { ConnectionPolicy, type PolicyDecision, TIMES } from '../policy/connection-policy.ts';
import { ClientSession } from '../session/client-session.ts';
import type { Closing } from '../session/endings.ts';
import type { EndedEvent, SessionEvent } from '../session/events.ts';
import type { JsonObject } from '../wire/json.ts';
import { Derivation } from './derivation.ts';
import { endedBy, isAcceptance, merged, retyped, type Update, updateBy, updatesOf } from './events.ts';
import type { LinkOptions, LinkState } from './options.ts';
import type { LinkEvent, Order, TraceTold } from './orders.ts';
import { Questions, type Write } from './questions.ts';
import { StoredKeyring } from './stored-keyring.ts';

/** How often in a row this side may fail, such as with a full disk, until a person is asked. */
const ATTEMPTS = 3;
/** The pause after a keyring could not be stored while there was no connection, in milliseconds. */
const STORE_PAUSE = 2000;

/** How a connection ends. */
interface Leaving {
  /** How the transport ended. */
  readonly closing?: Closing | undefined;
  /** The close code, if the transport must be closed. */
  readonly code?: number;
  /** The server's wish, in milliseconds. */
  readonly retryAfter?: number | undefined;
  /** A failure of this side, in place of the session's error. */
  readonly failure?: LocalError;
  /** Whether a person must act first. */
  readonly isHopeless?: boolean;
  /** What ends the questions that were sent, in place of the session's error. */
  readonly cause?: LocalError | undefined;
}

/** An input that was not taken yet. */
interface Input {
  readonly take: (now: number) => void;
  /** It will never be taken. */
  readonly drop?: ((error: LocalError | RemoteError) => void) | undefined;
}

export class LinkMachine {
  private readonly options: LinkOptions;
  private readonly policy: ConnectionPolicy;
  readonly store: StoredKeyring;
  readonly derivation: Derivation;
  private readonly questions: Questions;
  private orders: Order[] = [];
  /** The number of the latest connection, and its session until its end. */
  connection = 0;
  private session: ClientSession | undefined = undefined;
  /** From the event `ready` until the end of the connection. */
  private isReady = false;
  /** Whether the transport has gone: nothing is written any more. */
  private isCut = false;
  /** Whether the session is paced, and waits for the next `wake`. */
  private isPaced = false;
  /** When to dial. */
  private dialAt: number | undefined = undefined;
  /** Events of the session that were not carried out yet. */
  private events: SessionEvent[] = [];
  /** Inputs that were not taken yet, since a keyring is being stored. */
  private inputs: Input[] = [];
  /** What a person is asked about. */
  asked: LocalError | RemoteError | undefined = undefined;
  /** The error of the latest connection that was not ready. */
  private cause: LocalError | RemoteError | undefined = undefined;
  /** How many attempts in a row this side has failed. */
  private failures = 0;
  private isOn = true;
  /** When to call `wake`. */
  deadline: number | undefined = undefined;

  constructor(options: LinkOptions) {
    const order = (one: Order): void => this.order(one);
    const tell = (event: LinkEvent): void => this.tell(event);
    this.options = options;
    this.policy = new ConnectionPolicy(merged(options.policy ?? {}, { randomBytes: options.randomBytes }));
    this.store = new StoredKeyring(options.keyring, options.shared === true, order);
    this.derivation = new Derivation(order);
    this.questions = new Questions(tell, (message, onError) => this.write(message, onError));
    hideFields(this);
  }

  get state(): LinkState {
    if (!this.isOn) return 'ended';
    if (this.asked !== undefined) return 'asking';
    if (this.session === undefined) return 'waiting';
    return this.isReady ? 'ready' : 'connecting';
  }

  start(now: number): void {
    if (this.session !== undefined) return;
    this.isOn = true;
    this.asked = undefined;
    this.failures = 0;
    this.policy.resume();
    this.dialAt = now;
  }

  /** Nothing more is written to the transport of a connection. */
  cut(connection: number): void {
    if (connection === this.connection) this.isCut = true;
  }

  stored(error: unknown, keyring: Keyring | undefined, now: number): void {
    if (this.store.stored(error, keyring) && this.isOn) this.fail(error, now);
  }

  /** Does the next step of a paced session. */
  doPaced(): void {
    if (!this.isPaced) return;
    this.isPaced = false;
    this.take(this.session!.resume());
  }

  ask(envelope: JsonObject, until: number): void {
    if (this.options.requests === undefined) {
      throw errors.noQuestions();
    }
    const error = this.isOn ? this.asked : errors.linkEnded();
    if (error === undefined) this.questions.ask(envelope, until);
    else this.tell({ type: 'unsent', message: envelope, error });
  }

  send(message: JsonObject | Uint8Array, now: number): Order[] {
    const onError = (error: LocalError | RemoteError): void => this.tell({ type: 'unsent', message, error });
    if (!this.isReady) {
      onError(errors.notReady(this));
      return this.proceed(now);
    }
    const send = (_session: ClientSession, then: number): void => {
      // The transport has gone: its end is held as well.
      if (this.isCut) this.hold(send, onError);
      // No hub refuses a ping.
      else if (this.write(message, onError) && (isBytes(message) || message.msg_type !== 'ping')) {
        this.questions.noteSent(then);
      }
    };
    this.hold(send, onError);
    return this.proceed(now);
  }

  change(update: Update): void {
    const take = (now: number): void => {
      this.quit(now);
      this.derivation.forget();
      this.store.change(update);
      this.start(now);
    };
    this.inputs.push({ take });
  }

  end(now: number): void {
    if (!this.isOn) return;
    const error = errors.linkEnded();
    const { inputs } = this;
    this.inputs = [];
    this.quit(now, error);
    this.isOn = false;
    this.asked = undefined;
    this.store.dropChanges();
    this.derivation.forget();
    for (let i = 0; i < inputs.length; i++) inputs[i]!.drop?.(error);
    this.questions.dropAll(error);
    this.tell({ type: 'end' });
  }

  /** Takes an input of a connection, unless that connection is over. */
  input(connection: number, now: number, call: (session: ClientSession, now: number) => void): Order[] {
    const at = assertTime(now, 'now');
    if (connection === this.connection && this.session !== undefined) this.hold(call);
    return this.proceed(at);
  }

  /** Keeps an input of the connection until it can be taken; drops it if the connection is then over. */
  private hold(call: (session: ClientSession, now: number) => void, drop?: Input['drop']): void {
    const session = this.session!;
    const take = (now: number): void => {
      if (session === this.session) call(session, now);
      else drop?.(this.cause ?? errors.notReady(this));
    };
    this.inputs.push({ take, drop });
  }

  /** Does all that can be done, and returns the orders. */
  proceed(now: number): Order[] {
    this.questions.dropUntil(now, this.cause ?? errors.notReady(this));
    while (!this.store.isBusy && this.step(now));
    this.setDeadline(now);
    const { orders } = this;
    this.orders = [];
    return orders;
  }

  /** Does the next thing. Returns whether there was one. */
  private step(now: number): boolean {
    try {
      const event = this.events[0];
      const input = this.inputs[0];
      if (event !== undefined) {
        this.events = this.events.slice(1);
        this.carryOut(event, now);
      } else if (input !== undefined) {
        this.inputs = this.inputs.slice(1);
        input.take(now);
      } else return this.doDue(now);
    } catch (error) {
      this.fail(error, now); // such as: no memory, or another program has pinned another key
    }
    return true;
  }

  private doDue(now: number): boolean {
    if (this.dialAt !== undefined && this.dialAt <= now) this.dial(now);
    else if (this.wait(now) === 0) this.leave(now, { closing: 'timeout', code: 1000 });
    else return this.questions.doDue(now);
    return true;
  }

  private setDeadline(now: number): void {
    const times = this.questions.lateTimes;
    if (!this.store.isBusy) {
      const wait = this.wait(now);
      const next = this.questions.nextDeadline(now);
      if (this.dialAt !== undefined) times.push(this.dialAt);
      if (this.isPaced) times.push(now);
      if (wait !== undefined) times.push(now + wait);
      if (next !== undefined) times.push(now + next);
    }
    this.deadline = times.length === 0 ? undefined : Math.min.apply(Math, times);
  }

  /** How long the session still waits for the hub. */
  private wait(now: number): number | undefined {
    return this.session && this.policy.deadline(this.session.state, now);
  }

  /** Begins a connection. What a person has changed is stored first. */
  private dial(now: number): void {
    if (this.store.begin()) return;
    this.dialAt = undefined;
    const dialOptions = this.policy.begin(now)!; // there is no connection, and no old timer
    const { crypto, randomBytes, siteId, session = {} } = this.options;
    const own = { crypto, randomBytes, siteId, keyring: this.store.kept };
    this.session = new ClientSession(merged(session, dialOptions, own));
    this.isCut = false;
    this.tell({ type: 'connecting' });
    this.order({ do: 'open', connection: ++this.connection });
  }

  /** Takes what the session returned. Its keys are stored first. */
  take(events: readonly SessionEvent[]): void {
    this.events = this.events.concat(events);
    this.store.store(updatesOf(events));
  }

  private carryOut(event: SessionEvent, now: number): void {
    if (event.type !== 'transmit') this.trace(event); // the order shows it
    switch (event.type) {
      case 'transmit':
        this.transmit(event.data);
        break;
      case 'psk-needed':
        this.providePsk(this.derivation.pskFor(event));
        break;
      case 'psk':
      case 'psk-suspect':
        this.derivation.forget();
        break;
      case 'waiting':
        if (event.publicKey === undefined) this.isPaced = true;
        else this.order({ do: 'compute', connection: this.connection, publicKey: event.publicKey });
        break;
      case 'ready':
        this.isReady = true;
        this.failures = 0;
        this.cause = undefined;
        this.questions.begin(this.options.requests?.(event));
        this.tell(retyped(event, 'connect'));
        break;
      case 'message':
        if (event.kind === 'binary') this.tell(retyped(event, 'bytes'));
        else this.questions.receive(event.text, now);
        break;
      case 'dropped':
      case 'new-hub':
      case 'static-key-fresh':
        this.tell(event);
    }
    this.policy.take(event, now);
    if (event.type === 'close') this.leave(now, { code: event.code });
    // Nothing depends on the fact that a hub has accepted the static key, so it is stored last.
    else if (isAcceptance(event)) this.store.accept(updateBy(event));
  }

  private providePsk(psk: Bytes | undefined): void {
    if (psk !== undefined) this.take(this.session!.providePsk(psk));
  }

  /** Seals a message and writes it. Returns whether that could be done. */
  private write(message: Parameters<Write>[0], onError: Parameters<Write>[1]): boolean {
    const session = this.session!;
    let sealed: Bytes[];
    try {
      sealed = isBytes(message) ? session.sendBinary(message) : session.sendJson(message);
    } catch (error) {
      onError(error as LocalError);
      return false;
    }
    for (let i = 0; i < sealed.length; i++) this.transmit(sealed[i]!);
    if (!isBytes(message)) this.trace({ type: 'sent', envelope: message });
    return true;
  }

  private transmit(data: string | Bytes): void {
    if (!this.isCut) this.order({ do: 'write', connection: this.connection, data });
  }

  /** Ends the connection on our own wish, or the pause. */
  private quit(now: number, cause?: LocalError): void {
    this.policy.goodbye();
    this.dialAt = undefined;
    if (this.session !== undefined) this.leave(now, { code: 1000, cause });
  }

  /** This side has failed: no memory, a full disk, a broken random generator. */
  private fail(error: unknown, now: number): void {
    const failure = (error instanceof Error ? error : failureOf(error)) as LocalError;
    const isHopeless = ++this.failures >= ATTEMPTS;
    const { state } = this.policy;
    if (state === 'connecting' || state === 'ready') this.leave(now, { code: 1000, failure, isHopeless });
    else if (isHopeless) {
      this.quit(now);
      this.askPerson(failure);
    } else if (this.dialAt !== undefined) {
      this.dialAt = Math.max(this.dialAt, now + this.failures * STORE_PAUSE);
      this.tell({ type: 'reconnect', after: this.dialAt - now, error: failure });
    }
  }

  /** Ends the connection, and decides what comes next. */
  leave(now: number, { closing, code, retryAfter = 0, failure, isHopeless, cause }: Leaving): void {
    const { session, policy } = this;
    if (code !== undefined && session !== undefined && !this.isCut) {
      this.order({ do: 'close', connection: this.connection, code });
    }
    const events = session === undefined ? [] : session.closed(closing);
    const last = events[events.length - 1] as EndedEvent;
    const ended = failure === undefined ? last : endedBy(failure, isHopeless!);
    this.session = undefined;
    this.isReady = this.isPaced = false;
    this.events = [];
    this.questions.close(cause ?? ended.error, now);
    for (let i = 0; i < events.length - 1; i++) this.trace(events[i] as EndedEvent);
    this.trace(ended);
    if (policy.state !== 'leaving') {
      this.cause = ended.error;
      this.tell({ type: 'close', error: ended.error });
    }
    const decision = this.decide(ended, now);
    this.trace(decision);
    if (decision.do === 'dial') {
      const { maxPause = TIMES.maxPause! } = this.options.policy ?? {};
      const after = Math.max(decision.after, Math.min(retryAfter, maxPause));
      this.dialAt = now + after;
      this.tell({ type: 'reconnect', after, error: decision.tell });
    } else if (decision.do === 'ask') this.askPerson(decision.error);
    this.store.store(updatesOf(events));
  }

  private decide(ended: EndedEvent, now: number): PolicyDecision {
    try {
      return this.policy.take(ended, now)!;
    } catch (error) {
      // There are no random bytes for the length of a pause.
      this.policy.goodbye();
      this.policy.take(ended, now);
      return { do: 'ask', error: error as LocalError };
    }
  }

  private askPerson(error: LocalError | RemoteError): void {
    this.asked = error;
    this.questions.dropAll(error);
    this.tell({ type: 'ask', error });
  }

  private trace(what: TraceTold['what']): void {
    if (this.options.trace) this.tell({ type: 'trace', what });
  }

  private tell(event: LinkEvent): void {
    this.order({ do: 'tell', event });
  }

  private order(order: Order): void {
    this.orders.push(order);
  }
}

/**
 * What a link does, one step at a time: sessions one after another, and the policy, the keyring, the derivation and the questions
 * that outlive them.
 *
 *     input ──► inputs ──► session ──► events ──► orders            One loop (`proceed`) empties both queues, the events of
 *                 ▲                      │                          the session first. It stops as soon as a keyring is
 *                 └─── held while a keyring is being stored ◄───────┘  being stored, so nothing overtakes it.
 *
 * A failed allocation ends the link: it wipes its keys, and takes no input any more.
 */
import { assertFunction, assertTime, assertWait, membersOf } from '../arguments.ts';
import { type Bytes, isBytes, wipe } from '../bytes.ts';
import type { LocalError, RemoteError } from '../errors.ts';
import * as errors from '../errors-table.ts';
import { hideFields } from '../hide-fields.ts';
import { assertKeyring, type Keyring, pinHub } from '../keyring/keyring.ts';
import { assertNotFull, failureOf, outOfMemory } from '../memory.ts';
import { ConnectionPolicy, type PolicyDecision, REFUSED, TIMES } from '../policy/connection-policy.ts';
import { ClientSession } from '../session/client-session.ts';
import type { Closing } from '../session/endings.ts';
import type { EndedEvent, SessionEvent } from '../session/events.ts';
import type { JsonObject } from '../wire/json.ts';
import { Derivation } from './derivation.ts';
import { endedBy, merged, retyped, type Update, updateBy } from './events.ts';
import type { LinkClosing, LinkOptions, LinkState } from './options.ts';
import type { LinkEvent, Order, ReconnectEvent, TraceEvent } from './orders.ts';
import { Questions, type Write } from './questions.ts';
import { StoredKeyring } from './stored-keyring.ts';

/** How often in a row this side may fail, such as with a full disk, until a person is asked. */
const ATTEMPTS = 3;
/** The pause after a failure of this side while there was no connection, in milliseconds. */
const PAUSE = 2000;
/** So many hubs that are not pinned may answer in an hour, in milliseconds, before a person is asked. */
const STRANGERS = 3;
const HOUR = 3600000;
/** How long a question without a timeout waits to be sent, and an old connection must be quiet, in milliseconds. */
const MINUTE = 60000;

/** How a connection ends. */
interface Leaving {
  /** How the transport ended. */
  readonly closing?: Closing | undefined;
  /** The close code, if the transport must be closed. */
  readonly code?: number;
  /** The server's wish, in milliseconds. */
  readonly retryAfter?: number | undefined;
  /** A failure of this side, in place of the session's error. */
  readonly failure?: LocalError | RemoteError;
  /** Whether a person is asked. */
  readonly isHopeless?: boolean;
  /** What ends the questions that were sent, in place of the session's error. */
  readonly cause?: LocalError | undefined;
}

/** Takes an input of a connection. */
type Take<Data> = (this: LinkMachine, now: number, data: Data, session: ClientSession) => void;

/** An input that was not taken yet. */
interface Input {
  /** The session that it is for; `undefined` for a change of the keyring. */
  readonly session: ClientSession | undefined;
  readonly take: Take<never>;
  readonly data: unknown;
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
  /** When something came or was sent last, but for pings. */
  private usedAt = 0;
  /** Whether the session is paced, and waits for the next `wake`. */
  private isPaced = false;
  /** When to dial. */
  private dialAt: number | undefined = undefined;
  /** Events of the session that were not carried out yet. */
  private events: SessionEvent[] = [];
  /** Inputs that were not taken yet, since a keyring is being stored. */
  private inputs: Input[] = [];
  /** What a person is asked about, until a connection is ready. */
  asked: LocalError | RemoteError | undefined = undefined;
  /** Whether a PSK is derived for a hub that is not known, while another is: anybody can bring that about. */
  private isOfStranger = false;
  /** The error of the latest connection that was not ready. */
  private cause: LocalError | RemoteError | undefined = undefined;
  /** How this side has failed, until the connection has ended. */
  private failure: LocalError | RemoteError | undefined = undefined;
  /** How many attempts in a row this side has failed. */
  private failures = 0;
  /** The node ids of hubs that were not pinned, and since when. */
  private strangers: readonly string[] = [];
  private strangersSince = -Infinity;
  private isOn = true;
  /** The failed allocation that has ended the link. */
  private full: LocalError | undefined = undefined;
  /** The latest time, and how far the clock was set back since the first, in milliseconds. */
  private latest = -Infinity;
  private setBack = 0;
  /** When to call `wake`, on the clock of the caller. */
  deadline: number | undefined = undefined;

  constructor(options: LinkOptions) {
    const order = (one: Order): void => this.order(one);
    const tell = (event: LinkEvent): void => this.tell(event);
    this.options = options;
    this.policy = new ConnectionPolicy(merged(options.policy!, { randomBytes: options.randomBytes }));
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

  /**
   * Takes an input, does all that can be done, and returns the orders.
   * @throws LocalError the caller's mistake, which has changed nothing; `out-of-memory`, which is final
   */
  run<A, B, C>(
    now: number,
    input: (this: LinkMachine, now: number, a: A, b: B, c: C) => void,
    a?: A,
    b?: B,
    c?: C,
  ): Order[] {
    if (this.full !== undefined) throw this.full;
    try {
      const at = this.read(assertTime(now, 'now'));
      input.call(this, at, a!, b!, c!);
      return this.proceed(at);
    } catch (error) {
      throw this.over(error);
    }
  }

  /** The time, which never goes back: a clock that was set back goes on from where it was. */
  private read(now: number): number {
    this.setBack = Math.max(this.setBack, this.latest - now);
    this.latest = now + this.setBack;
    return this.latest;
  }

  /** Ends the link if there was no memory. Returns the error to throw. */
  private over(error: unknown): unknown {
    this.full = outOfMemory(error);
    if (this.full === undefined) return error;
    this.isOn = false;
    this.deadline = undefined;
    wipe(this.derivation.psk);
    try {
      this.session?.closed();
    } catch {
      // There is no memory for its end either, but it has wiped its keys.
    }
    return this.full;
  }

  start(now: number): void {
    this.asked = undefined;
    if (this.session !== undefined) return;
    this.isOn = true;
    this.failures = 0;
    this.policy.resume();
    this.dialAt = now;
  }

  /** An input of a connection, unless that is over. It is kept until it can be taken. */
  input<Data>(_now: number, connection: number, take: Take<Data>, data?: Data): void {
    const { session } = this;
    if (connection !== this.connection || session === undefined) return;
    this.inputs.push({ session, take, data });
  }

  open(_now: number, _data: unknown, session: ClientSession): void {
    // A message that the broker had kept may have come first.
    if (session.state === 'awaiting-hello') this.take(session.start());
  }

  receive(now: number, data: string | Uint8Array, session: ClientSession): void {
    this.usedAt = now;
    this.take(session.receive(data));
  }

  computed(_now: number, sharedSecret: Uint8Array | Error, session: ClientSession): void {
    if (isBytes(sharedSecret)) this.take(session.resume(sharedSecret));
    else this.fail(sharedSecret);
  }

  /** Nothing more is written to the transport of a connection. */
  closed(now: number, connection: number, closing: Closing | LinkClosing | Error | undefined): void {
    if (connection === this.connection) this.isCut = true;
    this.input(now, connection, this.lose, closing);
  }

  private lose(now: number, closing: Closing | LinkClosing | Error | undefined): void {
    if (closing instanceof Error) this.fail(closing);
    else this.leave(now, { closing, retryAfter: (closing as LinkClosing | undefined)?.retryAfter });
  }

  stored(_now: number, error: unknown, keyring: Keyring | undefined): void {
    if (keyring !== undefined) assertKeyring(keyring);
    if (this.store.stored(error ?? undefined, keyring) && this.isOn) this.fail(error);
  }

  derived(now: number, derivation: number, psk: Uint8Array | Error): void {
    const answer = this.derivation.take(derivation, psk);
    if (answer !== false) this.input(now, this.connection, this.answerPsk, answer ?? psk);
  }

  private answerPsk(_now: number, psk: unknown, session: ClientSession): void {
    if (session.state !== 'awaiting-psk') return;
    if (isBytes(psk)) this.take(session.providePsk(psk));
    else {
      this.fail(psk);
      if (this.isOfStranger) this.failures--;
    }
  }

  wake(now: number): void {
    if (this.isPaced) this.input(now, this.connection, this.doPaced);
  }

  /** Does the next step of a paced session. */
  private doPaced(_now: number, _data: unknown, session: ClientSession): void {
    this.isPaced = false;
    this.take(session.resume());
  }

  ask(now: number, envelope: JsonObject, timeout: number | undefined): void {
    if (timeout !== undefined) assertWait(timeout, 'timeout');
    if (this.options.requests === undefined) {
      throw errors.noQuestions();
    }
    if (this.isOn) this.questions.ask(envelope, now + (timeout ?? MINUTE), timeout !== undefined);
    else this.tellUnsent(envelope, errors.linkEnded());
  }

  /** The link forgets the question at once. If it was sent, the next one in its session has its turn once a keyring is stored. */
  cancel(_now: number, envelope: JsonObject): void {
    const question = this.questions.questionOf(envelope);
    if (question === undefined) return;
    const { id } = question;
    if (id !== undefined) this.inputs.push({ session: this.session, take: this.free, data: id });
    this.questions.forget(question);
  }

  private free(now: number, id: string): void {
    this.questions.free(id, now);
  }

  send(_now: number, message: JsonObject | Uint8Array): void {
    if (this.isReady) this.hold(this.session!, message);
    else this.tellUnsent(message, errors.notReady(this));
  }

  private hold(session: ClientSession, data: JsonObject | Uint8Array): void {
    this.inputs.push({ session, take: this.sendNow, data });
  }

  private sendNow(now: number, message: JsonObject | Uint8Array, session: ClientSession): void {
    // The transport has gone: its end is held as well.
    if (this.isCut) this.hold(session, message);
    // No hub refuses a ping.
    else if (
      this.write(message, (error) => this.tellUnsent(message, error)) &&
      (isBytes(message) || message.msg_type !== 'ping')
    ) {
      this.usedAt = now;
      this.questions.noteSent(now);
    }
  }

  trust(now: number): void {
    const { nodeId, hubKey } = (this.asked ?? {}) as Partial<RemoteError>;
    if (hubKey === undefined) {
      throw errors.nothingToTrust();
    }
    this.change(now, (keyring) => pinHub(keyring, nodeId!, hubKey));
  }

  change(_now: number, data: Update): void {
    assertFunction(data, 'update');
    assertKeyring(data(this.store.kept));
    this.inputs.push({ session: undefined, take: this.applyChange, data });
  }

  private applyChange(now: number, update: Update): void {
    this.quit(now);
    this.derivation.forget();
    this.store.change(update);
    this.start(now);
  }

  end(now: number): void {
    if (!this.isOn) return;
    this.isOn = false;
    const error = errors.linkEnded();
    const { inputs } = this;
    this.quit(now, error);
    this.asked = undefined;
    this.store.dropChanges();
    this.derivation.forget();
    for (let i = 0; i < inputs.length; i++) this.drop(inputs[i]!, error);
    inputs.length = 0;
    this.questions.dropAll(error);
    this.tell({ type: 'end' });
    this.failure = undefined;
  }

  /** An input will never be taken. */
  private drop({ take, data }: Input, error: LocalError | RemoteError): void {
    if (take === this.sendNow) this.tellUnsent(data as JsonObject | Uint8Array, error);
  }

  /** Does all that can be done, and returns the orders. */
  private proceed(now: number): Order[] {
    if (this.questions.lateAt <= now) this.questions.dropUntil(now, this.cause ?? errors.lateQuestion());
    while (!this.store.isBusy && this.step(now));
    this.setDeadline(now);
    const { orders } = this;
    this.orders = [];
    return orders;
  }

  /** Does the next thing. Returns whether there was one. */
  private step(now: number): boolean {
    const { failure } = this;
    if (failure !== undefined) this.giveUp(failure, now);
    try {
      const event = this.events.shift();
      if (event !== undefined) {
        this.carryOut(event, now);
        return true;
      }
      const input = this.inputs.shift();
      if (input === undefined) return this.doDue(now);
      const { session, take, data } = input;
      if (session === undefined || session === this.session) {
        (take as Take<unknown>).call(this, now, data, session!);
      } else this.drop(input, this.cause ?? errors.notReady(this));
    } catch (error) {
      assertNotFull(error);
      this.fail(error); // such as: another program has pinned another key
    }
    return true;
  }

  private doDue(now: number): boolean {
    if (this.dialAt !== undefined && this.dialAt <= now) this.dial(now);
    else if (this.questions.doDue(now)) return true;
    else if (this.wait(now) !== 0) return false;
    else if (!this.isReady) this.leave(now, { closing: 'timeout', code: 1000 });
    else {
      // It is old.
      this.quit(now);
      this.start(now);
    }
    return true;
  }

  private setDeadline(now: number): void {
    let at = this.questions.lateAt;
    if (!this.store.isBusy) {
      const wait = this.isPaced ? 0 : (this.wait(now) ?? Infinity);
      at = Math.min(at, this.dialAt ?? Infinity, now + wait);
    }
    this.deadline = at === Infinity ? undefined : at - this.setBack;
  }

  /** How long to wait for the hub; if it is ready and owes nothing, how long its keys are still used. */
  private wait(now: number): number | undefined {
    const next = this.questions.nextDeadline(now);
    if (next !== undefined || this.session === undefined) return next;
    const wait = this.policy.deadline(this.session.state, now);
    return this.isReady ? Math.max(wait!, this.usedAt + MINUTE - now) : wait;
  }

  /** Begins a connection. What a person has changed is stored first. */
  private dial(now: number): void {
    if (this.store.begin()) return;
    const dialOptions = this.policy.begin(now)!; // there is no connection, and no old timer
    this.dialAt = undefined;
    const { crypto, randomBytes, siteId, session = {} } = this.options;
    const own = { crypto, randomBytes, siteId, keyring: this.store.kept };
    this.session = new ClientSession(merged(session, dialOptions, own));
    this.tell({ type: 'connecting' });
    this.order({ do: 'open', connection: ++this.connection });
    this.isCut = false;
  }

  /** Takes what the session returned. Its keys are stored first. */
  take(events: readonly SessionEvent[]): void {
    this.events = this.events.concat(events);
    this.store.store(events.map(updateBy));
  }

  private carryOut(event: SessionEvent, now: number): void {
    if (event.type !== 'transmit') this.trace(event); // the order shows it
    switch (event.type) {
      case 'transmit':
        this.transmit(event.data);
        break;
      case 'psk-needed': {
        const { pins, psks } = this.store.kept;
        this.isOfStranger =
          pins.length + psks.length > 0 && pins.every(({ nodeId }) => nodeId !== event.nodeId);
        this.providePsk(this.derivation.pskFor(event));
        break;
      }
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
        this.cause = this.asked = undefined;
        this.questions.begin(this.options.requests?.(event), event.nodeId);
        this.tell(retyped(event, 'connect'));
        break;
      case 'message':
        if (event.kind === 'binary') this.tell(retyped(event, 'bytes'));
        else this.questions.receive(event.text, now);
        break;
      case 'dropped':
        this.tell(event);
        break;
      case 'new-hub':
        this.tell(event);
        this.meet(event.nodeId, now);
        break;
      case 'pin': // `take` has stored it
        if (event.replaces !== undefined) this.tell(retyped(event, 'hub-replaced'));
        break;
      default: // a close is below, and the others come with an end
        event satisfies EndedEvent | { type: 'pin-suspect' | 'static-key-fresh' | 'close' };
    }
    this.policy.take(event, now);
    if (event.type === 'close') this.leave(now, { code: event.code });
  }

  /** Whoever knows the password can answer under a new node id each time: after a few, a person is asked. */
  private meet(nodeId: string, now: number): void {
    if (now - this.strangersSince >= HOUR) {
      this.strangers = [];
      this.strangersSince = now;
    }
    if (this.strangers.indexOf(nodeId) >= 0) return;
    if (this.strangers.length < STRANGERS) this.strangers = this.strangers.concat(nodeId);
    else this.fail(errors.anotherHub(nodeId));
  }

  private providePsk(psk: Bytes | undefined): void {
    if (psk !== undefined) this.take(this.session!.providePsk(psk));
  }

  /** Seals a message and writes it. Returns whether that could be done. If not, nothing of it is written. */
  private write(message: Parameters<Write>[0], onError: Parameters<Write>[1]): boolean {
    const session = this.session!;
    try {
      const sealed = isBytes(message) ? session.sendBinary(message) : session.sendJson(message);
      for (let i = 0; i < sealed.length; i++) this.transmit(sealed[i]!);
      if (!isBytes(message)) this.trace({ type: 'sent', envelope: message });
      return true;
    } catch (error) {
      assertNotFull(error);
      if (session.state !== 'ready') this.fail(error);
      onError(error as LocalError);
      return false;
    }
  }

  private transmit(data: string | Bytes): void {
    if (!this.isCut) this.order({ do: 'write', connection: this.connection, data });
  }

  /** Ends the connection on our own wish, or the pause. */
  private quit(now: number, cause?: LocalError): void {
    this.policy.goodbye();
    this.dialAt = undefined;
    if (this.policy.state === 'leaving') this.leave(now, { code: 1000, cause });
  }

  /** This side has failed: a full disk, a broken random generator. Wipes the keys of the session. */
  private fail(error: unknown): void {
    if (this.failure !== undefined) return;
    this.failure = (error instanceof Error ? error : failureOf(error)) as LocalError;
    this.failures++;
    this.session?.closed();
  }

  /** Ends what this side has failed. */
  private giveUp(failure: LocalError | RemoteError, now: number): void {
    const { code } = failure;
    const isHopeless = this.failures >= ATTEMPTS || code === 'keyring-full' || code === 'unknown-hub';
    if (this.dialAt === undefined) this.leave(now, { code: 1000, failure, isHopeless });
    else {
      const after = isHopeless ? this.maxPause : this.failures * PAUSE;
      this.pause(now, Math.max(this.dialAt - now, after), failure, isHopeless);
    }
    this.failure = undefined;
  }

  /** Ends the connection, and decides what comes next. */
  private leave(now: number, { closing, code, retryAfter = 0, failure, isHopeless, cause }: Leaving): void {
    const { session } = this;
    const events = session === undefined ? [] : session.closed(closing);
    const last = events[events.length - 1];
    if (last?.type === 'close') throw last.error; // there was no memory for its end
    const ended =
      failure === undefined && last?.type === 'ended'
        ? last
        : endedBy(failure ?? cause!, isHopeless === true);
    if (code !== undefined && session !== undefined && !this.isCut) {
      this.order({ do: 'close', connection: this.connection, code });
    }
    this.session = undefined;
    this.isReady = this.isPaced = false;
    this.events.length = 0;
    this.questions.close(cause ?? ended.error, now);
    const decision = this.decide(ended, now);
    for (let i = 0; i < events.length - 1; i++) {
      const event = events[i]!;
      this.trace(event as EndedEvent);
      if (event.type === 'static-key-fresh') this.tell(event);
    }
    this.trace(ended);
    this.dialAt = undefined;
    this.trace(decision);
    if (decision.do !== 'rest') {
      this.cause = ended.error;
      this.tell({ type: 'close', error: ended.error });
      const isAsked = decision.do === 'ask';
      const after = Math.max(decision.after, Math.min(retryAfter, REFUSED * this.maxPause));
      this.pause(now, after, isAsked ? decision.error : decision.tell, isAsked);
    }
    this.store.store(events.map(updateBy));
  }

  private decide(ended: EndedEvent, now: number): PolicyDecision {
    try {
      return this.policy.take(ended, now)!;
    } catch (error) {
      assertNotFull(error);
      // There are no random bytes for the length of a pause.
      this.policy.goodbye();
      this.policy.take(ended, now);
      this.policy.resume();
      return { do: 'ask', error: error as LocalError, after: this.maxPause };
    }
  }

  private get maxPause(): number {
    return membersOf(this.options.policy ?? {}, ['maxPause']).maxPause ?? TIMES.maxPause!;
  }

  /** Says when the link dials on, in milliseconds from now, and asks a person meanwhile, or shows an error. */
  private pause(now: number, after: number, error: ReconnectEvent['error'], isAsked: boolean): void {
    this.dialAt = now + after;
    if (isAsked) this.asked = error;
    this.tell({ type: isAsked ? 'ask' : 'reconnect', after, error } as ReconnectEvent);
  }

  private tellUnsent(message: JsonObject | Uint8Array, error: LocalError | RemoteError): void {
    this.tell({ type: 'unsent', message, error });
  }

  private trace(what: TraceEvent['what']): void {
    if (this.options.trace) this.tell({ type: 'trace', what });
  }

  private tell(event: LinkEvent): void {
    this.order({ do: 'tell', event });
  }

  private order(order: Order): void {
    this.orders.push(order);
  }
}

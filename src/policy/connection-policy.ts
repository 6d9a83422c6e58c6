/**
 * ConnectionPolicy: when a client dials, how long it waits for the hub, and when it asks a person. No I/O, no clock and no
 * randomness of its own: the caller passes them in. docs/reference/policy.md lists the rules.
 */

import {
  assertChoice,
  assertFunction,
  assertObject,
  assertTime,
  assertWait,
  membersOf,
  type OptionNames,
  readArgument,
  readOptions,
} from '../arguments.ts';
import { drawBytes } from '../crypto/checked.ts';
import type { RandomBytes } from '../crypto/crypto.ts';
import type { LocalError, RemoteError } from '../errors.ts';
import type { ClientOptions } from '../session/client-options.ts';
import { findRow } from '../session/endings.ts';
import type { EndedEvent, SessionEvent } from '../session/events.ts';
import { CLIENT_TRANSITIONS, type ClientState } from '../session/transitions.ts';
import { POLICY_ENDINGS, POLICY_STATES, type PolicyState } from './tables.ts';

/** Call `begin` after this many milliseconds, and connect if it returns options. */
export interface DialDecision {
  readonly do: 'dial';
  /** The pause in milliseconds, a whole number; 0 means immediately. */
  readonly after: number;
  /**
   * An error to show to a person meanwhile: the connection's, if the one before ended with the same code and neither was
   * ready for long; `kk-refused` between the two does not count. The first failure is often over before anyone has read about it. If
   * no connection was made since the start, or since `resume`, the first is shown too.
   */
  readonly tell: LocalError | RemoteError | undefined;
}

/**
 * Ask a person, and dial on: anybody may have forged the cause, or it goes away without the client. If the person removes it, call
 * `resume`, then connect; if the person gives up, call `goodbye`.
 */
export interface AskDecision {
  readonly do: 'ask';
  /** The error of the connection that ended. Its message says what an operator can do. */
  readonly error: LocalError | RemoteError;
  /** Call `begin` after this many milliseconds: at least half of the longest pause. */
  readonly after: number;
}

/** Do nothing: the connection was ended by `goodbye`. */
export interface RestDecision {
  readonly do: 'rest';
}

/** What to do next, by `do`. */
export type PolicyDecision = DialDecision | AskDecision | RestDecision;

/** The options of a ClientSession that the policy decides. */
export type DialOptions = Pick<ClientOptions, 'patterns' | 'onKkFailure'>;

/** The states of a ClientSession that wait for the hub, until the handshake is done. */
export type AwaitingState = Extract<ClientState, `awaiting-${'hello' | 'offer' | 'message-2'}`>;

/** The options of a ConnectionPolicy. All times are in milliseconds, greater than 0 and at most a day. */
export interface PolicyOptions {
  /** The random number generator, called for 3 bytes for each pause. */
  randomBytes: RandomBytes;
  /**
   * The limit of the first pause (default 2000). Each pause is random, from 0 to its limit, and each limit is twice the
   * previous one.
   */
  basePause?: number | undefined;
  /** The highest limit of a pause (default 60000). It is ten times as high after the hub has refused the client. */
  maxPause?: number | undefined;
  /** How long a connection must be ready before the pauses restart at `basePause` (default 30000). */
  steadyAfter?: number | undefined;
  /**
   * How old a connection that is ready may get (default 86400000, a day): its keys do not change. A ClientLink then ends it and makes
   * another one at once, as soon as no question is open, and for a minute nothing but pings was sent and nothing came.
   */
  maxAge?: number | undefined;
  /**
   * What to do if a KKpsk0 has failed and the hub has another key (default `replace-pin`, as in the spec): see the option of
   * ClientSession. Use `keep-pin` if many know the password; a person is then asked when a hub has a new key.
   */
  onKkFailure?: 'replace-pin' | 'keep-pin' | undefined;
  /** How long to wait for the hub, by the state of the session (default 30000 each). */
  deadlines?: { readonly [state in AwaitingState]?: number | undefined } | undefined;
}

const POLICY_OPTIONS: OptionNames<PolicyOptions> = {
  randomBytes: true,
  basePause: true,
  maxPause: true,
  steadyAfter: true,
  maxAge: true,
  onKkFailure: true,
  deadlines: true,
};
const DEADLINES: OptionNames<{ [state in AwaitingState]: number }> = {
  'awaiting-hello': true,
  'awaiting-offer': true,
  'awaiting-message-2': true,
};

const SESSION_STATES: readonly string[] = /* @__PURE__ */ Object.keys(CLIENT_TRANSITIONS);

/** Times in milliseconds, by the names of their options. */
interface Times {
  readonly [name: string]: number;
}

/** The times, unless the options say otherwise. */
export const TIMES: Times = { basePause: 2000, maxPause: 60000, steadyAfter: 30000, maxAge: 86400000 };

/** How long to wait for the hub in each state, unless the options say otherwise. */
export const DEADLINE = 30000;

/** How long the pauses do not grow at a start, if the hub cannot be reached, in milliseconds. */
const SHORT_FOR = 60000;

/** After a refusal, and after a password that may have been tested, the longest pause is so many times as long. */
export const REFUSED = 10;

/** How long a `psk-differs` counts, in milliseconds. */
const HOUR = 3600000;

/** How early a timer may fire while timers of pauses that were cut short may still be running. */
const EARLY = 1000;

/**
 * Decides when a client connects. `now` is the time in milliseconds, from a clock that never goes back, such as
 * `performance.now()`.
 *
 * @example
 * import { ClientSession, ConnectionPolicy } from 'hub-protocol/parts';
 * import { nodeCrypto as crypto, randomBytes } from 'hub-protocol/node';
 *
 * const policy = new ConnectionPolicy({ randomBytes, maxPause: 60_000 });
 * const now = () => performance.now();
 *
 * const options = policy.begin(now()); // then connect
 * const session = new ClientSession({ crypto, randomBytes, siteId: 'lobby', keyring: { staticKey: randomBytes(32) }, ...options });
 * console.log(policy.deadline(session.state, now())! > 29_000); // true: close the transport after half a minute
 *
 * for (const event of session.closed(1006)) { // the connection was lost
 *   const decision = policy.take(event, now());
 *   if (decision?.do === 'dial') console.log(decision.after <= 2000); // true: call begin after that pause
 * }
 * console.log(policy.state); // waiting
 */
export class ConnectionPolicy {
  private readonly randomBytes: RandomBytes;
  /** By the names of the options, and by the states that have a deadline. */
  private readonly times: { [name: string]: number } = {};
  private phase: PolicyState = 'idle';
  /** The limit of the next pause. */
  private limit!: number;
  /** When `begin` is due. */
  private dueAt!: number;
  /** When `dueAt` was decided: an earlier time shows that the clock was set back. */
  private decidedAt = -Infinity;
  /** Whether the timer of a pause that was cut short may still be running. */
  private hasOldTimer = false;
  /** When the connection became ready; Infinity if it did not. */
  private readyAt = Infinity;
  /** Whether the hub has sent a message on the connection. */
  private hasHeard = false;
  /**
   * The code that the latest connection ended with that was ready; `undefined` if the hub was heard on it, or if it was
   * steady.
   */
  private doubt: string | undefined;
  /** When a connection ended with `psk-differs`. A person's wish does not change it: it bounds how often a password is tested. */
  private differedAt = -Infinity;
  /** Whether no connection was ready since the start, or since `resume`. */
  private isStarting!: boolean;
  /** When the first of several ends with `not-reachable` in a row was, at a start; `undefined` if the latest was another one. */
  private unreachedSince: number | undefined;
  /** The code that the latest connection ended with, without `kk-refused`, unless a steady one came after it. */
  private lastCode: string | undefined;
  private readonly onKkFailure: 'replace-pin' | 'keep-pin';
  /** Whether KKpsk0 is left out. */
  private leavesOutKk = false;
  private sessionState = '';
  private sessionStateSince = 0;

  /** @throws LocalError `bad-argument`, also for an unknown option */
  constructor(options: PolicyOptions) {
    const own = readOptions(options, 'options', POLICY_OPTIONS);
    const { deadlines = {} } = own;
    assertFunction(own.randomBytes, 'randomBytes');
    this.randomBytes = own.randomBytes;
    readTimes(this.times, own, Object.keys(TIMES), '');
    readTimes(
      this.times,
      readOptions(deadlines, 'deadlines', DEADLINES),
      Object.keys(DEADLINES),
      'deadlines.',
    );
    this.restart();
    this.onKkFailure = assertChoice(own.onKkFailure, 'onKkFailure', ['replace-pin', 'keep-pin']);
  }

  /** The name of the current state, for logs and displays. */
  get state(): PolicyState {
    return this.phase;
  }

  /**
   * Announces a connection. Call it just before you connect: the first time, when the pause of a `dial` decision is over,
   * and after `resume`.
   * @param now - the time, in milliseconds
   * @returns the options of the next ClientSession. `undefined` if you must not connect now: a connection exists, `goodbye`
   *   was called, or the call comes from the timer of a pause that was cut short
   * @throws LocalError `bad-argument`
   */
  begin(now: number): DialOptions | undefined {
    const at = assertTime(now, 'now');
    const next = POLICY_STATES[this.phase].begin;
    const isEarly = at < this.dueAt - EARLY && at >= this.decidedAt;
    if (next === undefined || (isEarly && this.hasOldTimer)) return undefined;
    const { onKkFailure } = this;
    const options: DialOptions = this.leavesOutKk ? { patterns: ['XXpsk2'], onKkFailure } : { onKkFailure };
    if (isEarly) this.hasOldTimer = true;
    this.phase = next;
    this.sessionState = 'awaiting-hello';
    this.sessionStateSince = at;
    return options;
  }

  /**
   * Returns how long to wait for the hub. Call it after each call of the session, and replace the timer with one of this
   * length. When it fires, close the transport and call `closed('timeout')`. The first deadline starts with `begin`, so it
   * also covers the connection of the transport; each further one starts when the state changes. That of
   * `ready` is `maxAge`: when it fires, do so as soon as the connection is idle.
   * @param state - the `state` of the session
   * @param now - the time, in milliseconds
   * @returns milliseconds from now; `undefined` if the session is over, or waits for you
   * @throws LocalError `bad-argument`
   */
  deadline(state: string, now: number): number | undefined {
    const at = assertTime(now, 'now');
    if (SESSION_STATES.indexOf(state) < 0) return undefined; // an older session, which is over
    if (state !== this.sessionState || at < this.sessionStateSince) {
      this.sessionState = state;
      this.sessionStateSince = at;
    }
    const deadline = this.times[state === 'ready' ? 'maxAge' : state];
    return deadline === undefined ? undefined : Math.max(0, this.sessionStateSince + deadline - at);
  }

  /**
   * Takes an event of the session. Pass every event, after carrying it out.
   * @param event - the event
   * @param now - the time, in milliseconds
   * @returns the decision, after `ended`; `undefined` after other events
   * @throws LocalError `bad-argument`; `bad-random` or `crypto-failed` if `randomBytes` fails, which changes nothing
   */
  take(event: SessionEvent, now: number): PolicyDecision | undefined {
    const at = assertTime(now, 'now');
    return readArgument('event', () => {
      assertObject(event as unknown, 'event');
      const { type } = event;
      if (type === 'ended') return this.end(event as EndedEvent, at);
      if (type === 'message' || type === 'dropped') this.hasHeard = true;
      const next = POLICY_STATES[this.phase].ready;
      if (type === 'ready' && next !== undefined) {
        this.phase = next;
        this.readyAt = at;
        this.isStarting = this.leavesOutKk = false;
      }
      return undefined;
    });
  }

  /**
   * Stops connecting. Call it before you close the transport. `begin` then returns `undefined` until `resume` is
   * called.
   */
  goodbye(): void {
    this.cutShort();
    this.phase = POLICY_STATES[this.phase].goodbye ?? this.phase;
  }

  /**
   * Allows the client to connect again, without a pause: a person has acted after an `ask`, or wants the connection back
   * after `goodbye`, or the network has come back during a pause. Call `begin` next. Pauses restart at `basePause`.
   */
  resume(): void {
    const next = POLICY_STATES[this.phase].resume;
    if (next === undefined) return;
    this.cutShort();
    this.phase = next;
    this.restart();
  }

  /** Forgets how connections have ended. */
  private restart(): void {
    this.dueAt = -Infinity;
    this.limit = this.times.basePause!;
    this.isStarting = true;
    this.doubt = this.lastCode = this.unreachedSince = undefined;
  }

  private cutShort(): void {
    if (this.phase === 'waiting') this.hasOldTimer = true;
  }

  private end({ retry, reason, pattern, error }: EndedEvent, now: number): PolicyDecision {
    const code = error?.code; // an event that was written by hand may lack the error
    const wasReady = this.readyAt < Infinity;
    const isSteady = now - this.readyAt >= this.times.steadyAfter!;
    const isTrusted = isSteady || this.hasHeard;
    if (isSteady) this.limit = this.times.basePause!;
    const { verdict, isRefusal, usesXxAlone } = findRow(POLICY_ENDINGS, {
      state: this.phase,
      retry,
      reason,
      pattern,
      error: code,
      wasReady,
      isRepeated: code === 'psk-differs' ? now - this.differedAt < HOUR : !isTrusted && code === this.doubt,
    });
    const isUnreached = this.isStarting && code === 'not-reachable';
    const unreachedSince = isUnreached ? (this.unreachedSince ?? now) : undefined;
    const isShort = unreachedSince !== undefined && now - unreachedSince < SHORT_FOR;
    const after =
      verdict === 'pause' || verdict === 'ask' ? this.drawPause(verdict === 'ask', isShort, isRefusal) : 0;
    const isUnmade = this.isStarting && reason === 'dropped' && retry === 'later';
    const tell = !isSteady && (code === this.lastCode || isUnmade) ? error : undefined;
    // Made before anything changes, since there may be no memory for it.
    const decision: PolicyDecision =
      verdict === 'rest'
        ? { do: 'rest' }
        : verdict === 'ask'
          ? { do: 'ask', error, after }
          : { do: 'dial', after, tell };
    if (isSteady) this.lastCode = undefined;
    else if (code !== 'kk-refused') this.lastCode = code; // XXpsk2 follows at once, and its end says more
    this.phase = verdict === 'rest' ? 'resting' : 'waiting';
    this.decidedAt = now;
    this.dueAt = now + after;
    this.unreachedSince = unreachedSince;
    this.readyAt = Infinity;
    this.hasHeard = false;
    if (code === 'psk-differs') this.differedAt = now;
    if (wasReady) this.doubt = isTrusted ? undefined : code;
    this.leavesOutKk = usesXxAlone ?? (this.leavesOutKk && retry !== 'never');
    return decision;
  }

  /**
   * A random pause ("full jitter"): clients that lost their hub together come back one by one. While a person is asked, it is at
   * least half as long as it may be.
   */
  private drawPause(isAsked: boolean, isShort: boolean, isRefusal: true | undefined): number {
    const random = drawBytes(this.randomBytes, 3);
    const { basePause, maxPause } = this.times;
    const longest = maxPause! * (isRefusal ? REFUSED : 1);
    const limit = isAsked ? longest : Math.min(isShort ? basePause! : this.limit, longest);
    if (!isShort) this.limit = 2 * limit;
    const pause = (limit * ((random[0]! << 16) | (random[1]! << 8) | random[2]!)) / 0x1000000;
    return Math.floor(isAsked ? (limit + pause) / 2 : pause);
  }
}

/** @throws LocalError `bad-argument` for anything but milliseconds, greater than 0 and at most a day */
function readTimes(
  times: { [name: string]: number },
  given: object,
  names: readonly string[],
  prefix: string,
): void {
  for (let i = 0; i < names.length; i++) {
    const name = names[i]!;
    const { [name]: time = membersOf(TIMES, [name])[name] ?? DEADLINE } = given as Times;
    times[name] = assertWait(time, prefix + name);
  }
}

/**
 * RequestScheduler: the requests in flight on one connection, one in each session. It decides when to send each, which
 * reply an event belongs to, and when to stop waiting. No I/O and no clock: the caller passes the time.
 * docs/reference/requests.md lists the rules.
 */

import { assertFlag, assertTime, assertWait, readOptions } from '../arguments.ts';
import type { LocalError } from '../errors.ts';
import * as errors from '../errors-table.ts';
import { MAX_REQUESTS } from '../limits.ts';
import { outOfMemory } from '../memory.ts';
import { isJsonObject, type Json, type JsonObject, ownField } from '../wire/json.ts';
import { Deadlines, inOrder, remove, type Timed } from './deadlines.ts';
import { type HubEvent, readHubEvent } from './hub-event.ts';
import { CAUSES, type Reply, ReplyCollector, type ReplyEnding } from './reply-collector.ts';
import type { Speech } from './speakable.ts';
import { assertNotBlank } from './white-space.ts';

/** Pass `envelope` to `sendJson`, and write everything that it returns. */
export interface SendDecision {
  readonly do: 'send';
  /** The id of the request. */
  readonly requestId: string;
  /** The envelope as it was passed to `request`. */
  readonly envelope: JsonObject;
}

/** Say or show what the hub has just added to its reply. The parts of a request together are its reply. */
export interface PartDecision extends Speech {
  readonly do: 'part';
  /** The id of the request. */
  readonly requestId: string;
  /** The event that carried the part. */
  readonly event: HubEvent;
}

/** Hand the reply to the part of the program that made the request. */
export interface FinishDecision {
  readonly do: 'finish';
  /** The id of the request. */
  readonly requestId: string;
  /** How the request ended. */
  readonly ending: ReplyEnding;
  /** The reply; with an empty text if the hub said nothing. */
  readonly reply: Reply;
  /** Whether the hub said or showed more than a reply keeps. */
  readonly isTruncated: boolean;
  /** Whether the request was sent. If not, it can be sent on another connection without being carried out twice. */
  readonly wasSent: boolean;
}

/** Handle an event that belongs to no request in flight, such as unsolicited speech. */
export interface HandleDecision {
  readonly do: 'handle';
  /** The event. */
  readonly event: HubEvent;
}

/** What to do next, by `do`. */
export type RequestDecision = SendDecision | PartDecision | FinishDecision | HandleDecision;

/** How long to wait for the hub, in milliseconds: more than 0, and at most a day. */
export interface ReplyDeadlines {
  /**
   * From sending the request, until anything comes; and from the latest speech, until a hub that says
   * `ovos.utterance.handled` says something more (default 60000).
   */
  readonly idle: number;
  /** From the latest speech, while it is not known whether the hub says `ovos.utterance.handled` (default 5000). */
  readonly unsure: number;
  /** From the latest speech, if the hub omits `ovos.utterance.handled` or waits for an answer of the person (default 250). */
  readonly speaking: number;
  /** From the first event that reports that no intent matched, for the speech of a fallback (default 5000). */
  readonly unmatched: number;
  /** From a completion before any speech, for late speech, unless the hub is known to speak first (default 5000). */
  readonly completed: number;
}

/** The last three are those of the public clients. */
export const DEADLINES: ReplyDeadlines = {
  idle: 60000,
  unsure: 5000,
  speaking: 250,
  unmatched: 5000,
  completed: 5000,
};
const DEADLINE_NAMES = {
  idle: true,
  unsure: true,
  speaking: true,
  unmatched: true,
  completed: true,
} as const;

/**
 * How long a message may still be refused after it was sent, in milliseconds. Hubs refuse within milliseconds; the
 * public clients wait this long.
 */
const REFUSAL_WINDOW = 10000;

/** The options of a RequestScheduler. */
export interface SchedulerOptions {
  /** The id of the connection's session, from the `ready` event. Requests that declare no session belong to it (default none). */
  sessionId?: string | undefined;
  /** The deadlines that differ from the defaults (default none: see ReplyDeadlines). */
  deadlines?: Partial<ReplyDeadlines> | undefined;
  /**
   * Whether the hub says `ovos.utterance.handled` at the end of a reply (default: not known, so the scheduler finds out). See
   * the property of the same name.
   */
  saysHandled?: boolean | undefined;
}

interface Scheduled extends Timed {
  readonly requestId: string;
  /** Its key, and that of its session. */
  readonly key: string;
  readonly sessionKey: string;
  readonly envelope: JsonObject;
  readonly collector: ReplyCollector;
  /** When it was sent; `undefined` while it waits for its turn. */
  sentAt: number | undefined;
  /** When its state began; in the state `speaking`, when its latest event came. */
  since: number;
  /** When its time is up, whatever its state. */
  readonly until: number;
  /** Whether the hub has said that it is done, before any speech. */
  wasCompleted: boolean;
  /** The request id that the latest speech carried. */
  heardAs: string | undefined;
}

/** A request that has ended after speech, although the hub has not said that it is done. */
interface Unhandled {
  readonly sessionKey: string;
  readonly collector: ReplyCollector;
  /** The id under which the hub goes on, if it waits for an answer of the person. */
  readonly goesOnAs: string | undefined;
}

/** Of how many such requests a scheduler knows, each in a session of its own. */
const MOST_UNHANDLED = 100;

/**
 * Schedules the requests of one connection. Carry out the decisions that its methods return, in order, and call
 * `expire` when `nextDeadline` has passed. `now` is the time in milliseconds, from a clock that never goes back, such
 * as `performance.now()`. If an allocation has failed, the scheduler is over: each further call throws the same `out-of-memory`.
 * @see spec, "Client library contract"
 *
 * @example
 * import { buildUtterance, RequestScheduler } from 'hub-protocol';
 *
 * const scheduler = new RequestScheduler({ sessionId: 'lobby' });
 * const envelope = buildUtterance({ requestId: 'r1', text: 'What is on today?' });
 * for (const decision of scheduler.request(envelope, 0)) {
 *   if (decision.do === 'send') console.log('send', decision.requestId); // send r1
 * }
 * const context = { request_id: 'r1' };
 * const speak = { type: 'speak', data: { utterance: 'Nothing.' }, context };
 * scheduler.receive(JSON.stringify({ msg_type: 'bus', payload: speak }), 100);
 * console.log(scheduler.nextDeadline(100)); // 5000
 * for (const decision of scheduler.expire(5100)) {
 *   if (decision.do === 'finish') console.log(decision.ending, decision.reply.text); // spoken Nothing.
 * }
 * console.log(scheduler.saysHandled); // false
 */
export class RequestScheduler {
  /**
   * Whether the hub says `ovos.utterance.handled` at the end of a reply; `undefined` if that is not known. Set it to what an
   * earlier scheduler for the same hub has found out.
   */
  saysHandled: boolean | undefined;
  private readonly ownSession: string | undefined;
  private readonly deadlines: ReplyDeadlines;
  /** All requests that have not ended. */
  private readonly requests = new Deadlines<Scheduled>();
  private readonly byId: { [key: string]: Scheduled } = {};
  /** The requests of each session, in the order in which they were made. Only the first was sent. */
  private readonly bySession: { [key: string]: Scheduled[] } = {};
  private inFlight = 0;
  /** The requests in flight that continue an earlier one. */
  private heirs: Scheduled[] = [];
  /** The `saysHandled` that the deadlines of the requests rely on. */
  private assumed: boolean | undefined = undefined;
  /** Until this time, a refusal without a request id may refuse a message that is not in `requests`. */
  private refusableUntil = -Infinity;
  private isOver = false;
  /** The failed allocation that has ended the scheduler. */
  private full: LocalError | undefined = undefined;
  private unhandled: Unhandled[] = [];

  /** @throws LocalError `bad-argument`, also for an unknown option */
  constructor(options: SchedulerOptions = {}) {
    const { sessionId, deadlines, saysHandled } = readOptions(options, 'options', {
      sessionId: true,
      deadlines: true,
      saysHandled: true,
    });
    this.ownSession = sessionId === undefined ? undefined : assertNotBlank(sessionId, 'sessionId');
    this.deadlines = readDeadlines(deadlines);
    assertFlag(saysHandled, 'saysHandled');
    this.saysHandled = saysHandled;
  }

  /**
   * Schedules a request: it is sent immediately, or when its session is free.
   * @param envelope - the result of `buildUtterance`, `buildAction` or `buildCode`, or another bus message with a
   *   request id that no unfinished request has
   * @param now - the time, in milliseconds
   * @param timeout - how long the request may take in all, in milliseconds (default: as long as the deadlines let it). Then it
   *   ends as with `cancel`
   * @returns the decisions to carry out, in order
   * @throws LocalError `bad-argument`; `session-over` after `closed`; `too-many-requests` if 10,000 have not ended
   */
  request(envelope: JsonObject, now: number, timeout?: number): RequestDecision[] {
    return this.run(() => {
      const at = assertTime(now, 'now');
      const until = timeout === undefined ? Infinity : at + assertTime(timeout, 'timeout');
      if (this.isOver) {
        throw errors.connectionEnded();
      }
      const event = isJsonObject(envelope) ? readHubEvent(envelope) : undefined;
      const requestId = event?.requestId;
      if (event === undefined || requestId === undefined) {
        throw errors.expected('envelope', 'a bus message that carries a request id');
      }
      if (this.byId[key(requestId)] !== undefined) {
        throw errors.repeatedRequest();
      }
      if (this.requests.length >= MAX_REQUESTS) {
        throw errors.tooManyRequests();
      }
      const { type, sessionId = this.ownSession } = event;
      const collector = new ReplyCollector({ requestId, sessionId, type });
      const request = {
        requestId,
        key: key(requestId),
        sessionKey: key(sessionId ?? ''),
        envelope,
        collector,
        sentAt: undefined,
        since: 0,
        until,
        wasCompleted: false,
        heardAs: undefined,
        dueAt: until,
        place: 0,
        number: 0,
      } as Scheduled;
      this.requests.insert(request);
      this.byId[request.key] = request;
      const queue = this.bySession[request.sessionKey] ?? [];
      queue.push(request);
      this.bySession[request.sessionKey] = queue;
      return this.decide(at, [], queue.length === 1 ? [request] : []);
    });
  }

  /**
   * Notes that you sent a message without waiting for a reply. For 10 seconds, a refusal without a request id may
   * refuse that message, so it ends no request.
   * @param now - the time, in milliseconds
   * @throws LocalError `bad-argument`
   */
  noteSent(now: number): void {
    this.mayBeRefused(assertTime(now, 'now'));
  }

  /**
   * Takes a message from the hub. A message after a deadline still counts, unless `expire` was called in between.
   * @param message - the `text` of a `message` event, or the value parsed from it
   * @param now - the time, in milliseconds
   * @returns the decisions to carry out, in order; none for a message that is not an event of the hub's bus
   * @throws LocalError `bad-argument`
   */
  receive(message: string | Json, now: number): RequestDecision[] {
    const at = assertTime(now, 'now');
    return this.run(() => {
      const event = readHubEvent(message);
      if (event === undefined || this.isOver) return [];
      const sole = this.inFlight === 1 && at >= this.refusableUntil;
      const owners = this.candidates(event, sole).filter(({ collector }) => collector.owns(event, sole));
      if (owners.length !== 1) {
        if (isCompletion(event)) this.handleLate(event);
        return [{ do: 'handle', event }];
      }
      const owner = owners[0]!;
      const { collector, requestId } = owner;
      const before = collector.state;
      const state = collector.push(event, sole);
      if (state !== before || state === 'speaking') owner.since = at;
      if (state === 'completed') {
        owner.wasCompleted = true;
        if (this.saysHandled === true) collector.timeout(); // it has said all before
      } else if (before === 'speaking' && collector.ending === 'handled' && !owner.wasCompleted) {
        this.saysHandled = true;
      }
      const { part } = collector;
      const decisions: RequestDecision[] = [];
      if (part !== undefined) {
        owner.heardAs = event.requestId;
        const { text, speech, displayItems, expectsAnswer } = part;
        decisions.push({ do: 'part', requestId, text, speech, displayItems, expectsAnswer, event });
      }
      if (collector.ending === undefined) {
        this.requests.move(owner, this.deadlineOf(owner));
        return decisions;
      }
      return decisions.concat(this.decide(at, [owner]));
    });
  }

  /**
   * Ends the requests whose deadline has passed. Does nothing if it is called too early.
   * @param now - the time, in milliseconds
   * @returns the decisions to carry out, in order
   * @throws LocalError `bad-argument`
   */
  expire(now: number): RequestDecision[] {
    const at = assertTime(now, 'now');
    return this.run(() => {
      const ended: Scheduled[] = [];
      for (let request = this.due(at); request !== undefined; request = this.due(at)) {
        ended.push(request);
        if (at >= request.until) request.collector.stop();
        else this.timeOut(request);
        this.requests.move(request, Infinity);
      }
      return this.decide(at, inOrder(ended));
    });
  }

  /**
   * Returns when to call `expire`.
   * @param now - the time, in milliseconds
   * @returns milliseconds from now; `undefined` if there is nothing to wait for
   * @throws LocalError `bad-argument`
   */
  nextDeadline(now: number): number | undefined {
    const at = assertTime(now, 'now');
    return this.run(() => {
      this.update();
      const next = this.requests.earliest;
      return next === Infinity ? undefined : Math.max(0, next - at);
    });
  }

  /**
   * Ends a request, with what has come, because its time is up or nobody waits for it. Any further reply of the hub becomes
   * unsolicited speech or, if the hub returns no request ids, part of the reply to the next request in the session.
   * @param requestId - of a request that is in flight or waits; with any other, nothing happens
   * @param now - the time, in milliseconds
   * @returns the decisions to carry out, in order
   * @throws LocalError `bad-argument`
   */
  cancel(requestId: string, now: number): RequestDecision[] {
    const at = assertTime(now, 'now');
    return this.run(() => {
      const request = this.byId[key(requestId)];
      if (request === undefined) return [];
      request.collector.stop();
      return this.decide(at, [request]);
    });
  }

  /**
   * Ends all requests, including those that wait, because the connection ended. Do not resend one without asking,
   * unless its `wasSent` is false: the hub may have acted on it.
   * @returns the decisions to carry out, in order
   */
  closed(): FinishDecision[] {
    return this.run(() => {
      this.isOver = true;
      const all = this.requests.all();
      for (let i = 0; i < all.length; i++) all[i]!.collector.closed();
      return this.decide(0, all) as FinishDecision[];
    });
  }

  /** Runs a method. Without memory, the scheduler is over. */
  private run<T>(method: () => T): T {
    if (this.full !== undefined) throw this.full;
    try {
      return method();
    } catch (error) {
      throw this.over(error);
    }
  }

  private over(error: unknown): unknown {
    this.full = outOfMemory(error);
    return this.full ?? error;
  }

  /** The requests in flight that an event may belong to. */
  private candidates({ requestId, sessionId = '' }: HubEvent, sole: boolean): Scheduled[] {
    const { bySession, heirs } = this;
    if (requestId !== undefined) {
      const request = this.byId[key(requestId)];
      return request === undefined || request.sentAt === undefined || heirs.indexOf(request) >= 0
        ? heirs
        : heirs.concat(request);
    }
    // A refusal names no session.
    const keys = sole
      ? Object.keys(bySession)
      : [key(sessionId), key(sessionId.slice(sessionId.indexOf(':') + 1))];
    return keys
      .filter((each, i) => bySession[each] !== undefined && keys.indexOf(each) === i)
      .map((each) => bySession[each]![0]!);
  }

  /** The first request whose time is up. */
  private due(now: number): Scheduled | undefined {
    this.update();
    return this.requests.earliest <= now ? this.requests.first : undefined;
  }

  /** How long replies take has changed if it is known now whether the hub says that it is done, or no longer. */
  private update(): void {
    if (this.saysHandled === this.assumed) return;
    const all = this.requests.all();
    for (let i = 0; i < all.length; i++) {
      const request = all[i]!;
      if (request.collector.ending === undefined) this.requests.move(request, this.deadlineOf(request));
    }
    this.assumed = this.saysHandled;
  }

  private deadlineOf({ sentAt, since, until, collector }: Scheduled): number {
    return sentAt === undefined ? until : Math.min(until, since + this.patience(collector));
  }

  private patience({ state, expectsAnswer }: ReplyCollector): number {
    if (state === 'waiting') return this.deadlines.idle;
    // A hub that waits for the person is not done until the next request.
    if (state !== 'speaking' || expectsAnswer || this.saysHandled === false) {
      return this.deadlines[state as 'speaking' | 'unmatched' | 'completed'];
    }
    return this.saysHandled === true ? this.deadlines.idle : this.deadlines.unsure;
  }

  /** The hub has been silent for too long. After speech, that shows whether the hub says that it is done. */
  private timeOut({ collector }: Scheduled): void {
    if (collector.state === 'speaking' && !collector.expectsAnswer) {
      // A hub that always said it until now may have become another one.
      this.saysHandled = this.saysHandled === true ? undefined : false;
    }
    collector.timeout();
  }

  /** A completion that comes after the end of its request: the hub says it after all. */
  private handleLate(event: HubEvent): void {
    const left = this.unhandled.filter(({ collector }) => !collector.owns(event, false));
    if (left.length < this.unhandled.length) this.saysHandled = true;
    this.unhandled = left;
  }

  /** The next request in a session is the answer to what the hub has asked: the hub goes on under the id of the earlier one. */
  private goOn(request: Scheduled): void {
    const { sessionKey, collector } = request;
    const earlier = this.unhandled.filter((one) => one.sessionKey === sessionKey)[0];
    if (earlier === undefined || earlier.goesOnAs === undefined) return;
    const others = this.unhandled.filter((one) => one !== earlier);
    this.heirs.push(request);
    collector.continues = earlier.goesOnAs;
    this.unhandled = others;
  }

  private mayBeRefused(sentAt: number): void {
    this.refusableUntil = Math.max(this.refusableUntil, sentAt + REFUSAL_WINDOW);
  }

  private finish(request: Scheduled, ending: ReplyEnding): FinishDecision {
    const { requestId, sessionKey, collector, sentAt, wasCompleted, heardAs } = request;
    const { reply, isTruncated } = collector;
    this.heirs = this.heirs.filter((one) => one !== request);
    const wasSent = sentAt !== undefined;
    const isTimeout = ending === 'timeout';
    if (wasSent && isTimeout && reply.rawEvent === null) this.mayBeRefused(sentAt);
    if ((ending === 'spoken' || (isTimeout && reply.rawEvent !== null)) && !wasCompleted) {
      const others = this.unhandled.filter((one) => one.sessionKey !== sessionKey).slice(1 - MOST_UNHANDLED);
      this.unhandled = others.concat({
        sessionKey,
        collector,
        goesOnAs: reply.expectsAnswer ? heardAs : undefined,
      });
    }
    return { do: 'finish', requestId, ending, reply, isTruncated, wasSent };
  }

  /**
   * Removes requests that have ended, and sends those whose turn has come.
   * @param ended - in the order in which they were made
   * @param next - a request that is alone in its session
   */
  private decide(now: number, ended: readonly Scheduled[], next: Scheduled[] = []): RequestDecision[] {
    const decisions: RequestDecision[] = [];
    for (let i = 0; i < ended.length; i++) {
      const request = ended[i]!;
      const { sessionKey, sentAt, collector } = request;
      decisions.push(this.finish(request, collector.ending!));
      this.requests.remove(request);
      delete this.byId[request.key];
      const queue = this.bySession[sessionKey]!;
      remove(queue, request);
      if (queue.length === 0) delete this.bySession[sessionKey];
      if (sentAt === undefined) continue;
      this.inFlight--;
      let at = 0;
      while (queue[at]?.collector.ending !== undefined) at++;
      if (at < queue.length) next.push(queue[at]!);
    }
    inOrder(next);
    for (let i = 0; i < next.length; i++) {
      const request = next[i]!;
      const { requestId, envelope } = request;
      decisions.push({ do: 'send', requestId, envelope });
      this.goOn(request);
      request.sentAt = request.since = now;
      this.requests.move(request, this.deadlineOf(request));
    }
    this.inFlight += next.length;
    return decisions;
  }
}

/** Prefixed, since a request or a session may be called `__proto__`. Nothing else than a string names a request. */
function key(id: string): string {
  return typeof id === 'string' ? `:${id}` : '';
}

function isCompletion({ type }: HubEvent): boolean {
  return ownField(CAUSES, type) === 'completion';
}

function readDeadlines(given: unknown): ReplyDeadlines {
  if (given === undefined) return DEADLINES;
  const states = Object.keys(DEADLINES) as (keyof ReplyDeadlines)[];
  const own = readOptions(given as Partial<ReplyDeadlines>, 'deadlines', DEADLINE_NAMES);
  const deadlines: { [state: string]: number } = {};
  for (let i = 0; i < states.length; i++) {
    const state = states[i]!;
    const time = own[state];
    deadlines[state] = time === undefined ? DEADLINES[state] : assertWait(time, `deadlines.${state}`);
  }
  return deadlines as unknown as ReplyDeadlines;
}

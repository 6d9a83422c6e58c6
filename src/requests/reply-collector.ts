/**
 * ReplyCollector: assembles the hub's reply to one request from the events of its bus. It has no I/O and no clock:
 * messages in, a reply out, and the caller says when a deadline has passed. Spec, "Reply object (client libraries)".
 */

import { readArgument, readOptions } from '../arguments.ts';
import { MAX_REPLY_PARTS, MAX_REPLY_SIZE } from '../limits.ts';
import { type JsonObject, ownField } from '../wire/json.ts';
import { UTTERANCE } from './build-request.ts';
import { type DisplayItem, sizeOf } from './display-items.ts';
import { copyOf, type HubEvent, readHubEvent } from './hub-event.ts';
import { isByPolicy, readRefusal } from './refusal.ts';
import { sessionIdsMatch } from './session-ids.ts';
import { type Speech, speechIn } from './speakable.ts';
import { assertNotBlank, collapse } from './white-space.ts';

/** The reply to a request: the spec's Reply object. */
export interface Reply {
  /** The hub's words, with white space collapsed; empty if the hub said nothing (spec: `text`). */
  readonly text: string;
  /** The same for a voice: without markup, entities resolved (spec: `speech`). */
  readonly speech: string;
  /** Choices, tables, images and attachments in the order received (spec: `display_items`). */
  readonly displayItems: DisplayItem[];
  /** Whether the hub waits for an answer of the person after what it said last (on the wire: `expect_response`). */
  readonly expectsAnswer: boolean;
  /** The session id that the hub returned first, else the declared one, else null (spec: `session_id`). */
  readonly sessionId: string | null;
  /** The id of the request (spec: `request_id`). */
  readonly requestId: string;
  /**
   * Whether access policy blocked the request (spec: `policy_denied`). False if the hub's bus was down or the hub could
   * not read the request, although the `ending` is `denied` then too. `readRefusal` distinguishes them.
   */
  readonly policyDenied: boolean;
  /**
   * `{type, data, context}` of the last event that said something or failed, as received; if there is none, of the
   * completion, else null (spec: `raw_event`).
   */
  readonly rawEvent: JsonObject | null;
}

/**
 * The state of a request. `waiting`: nothing has come yet. `speaking`: the hub has said something and may say more.
 * `unmatched`: no intent matched, but a fallback may still speak. `completed`: the hub is done and has said nothing,
 * but some hubs speak a moment later. `done`: the request has ended, and nothing counts any more.
 */
export type ReplyState = 'waiting' | 'speaking' | 'unmatched' | 'completed' | 'done';

/**
 * How a request ended. `handled`: the hub reported that it is done. `spoken`: the hub spoke, and then said nothing more
 * until the deadline. `unanswered`: no intent matched, and no fallback spoke. `denied`: the hub refused the request.
 * `query-timeout`: the hub gave up. `timeout`: nothing came before the deadline, or the time of the request was up while the
 * hub still spoke. `closed`: the connection ended first.
 */
export type ReplyEnding =
  | 'handled'
  | 'spoken'
  | 'unanswered'
  | 'denied'
  | 'query-timeout'
  | 'timeout'
  | 'closed';

type Cause =
  | 'speech'
  | 'failure'
  | 'completion'
  | 'refusal'
  | 'query-timeout'
  | 'timeout'
  | 'stop'
  | 'closed';

/** The meaning of events, by type. All others are ignored. */
export const CAUSES: { readonly [type: string]: Cause } = {
  speak: 'speech',
  'ovos.utterance.speak': 'speech',
  complete_intent_failure: 'failure',
  'ovos.intent.unmatched': 'failure',
  'ovos.utterance.handled': 'completion',
  'hive.policy.denied': 'refusal',
  'hive.query.timeout': 'query-timeout',
};

/** The next state, or the ending of the request. */
type Next = ReplyState | ReplyEnding;
type Row = { readonly [cause in Cause]: Next };

/** The transitions from each state but `done`, which is final. docs/reference/requests.md shows the same table. */
export const TRANSITIONS: { readonly [state: string]: Row } = {
  waiting: {
    speech: 'speaking',
    failure: 'unmatched',
    completion: 'completed',
    refusal: 'denied',
    'query-timeout': 'query-timeout',
    timeout: 'timeout',
    stop: 'timeout',
    closed: 'closed',
  },
  speaking: {
    speech: 'speaking',
    failure: 'speaking',
    completion: 'handled',
    refusal: 'denied',
    'query-timeout': 'query-timeout',
    timeout: 'spoken',
    stop: 'timeout',
    closed: 'closed',
  },
  unmatched: {
    speech: 'speaking',
    failure: 'unmatched',
    completion: 'unanswered',
    refusal: 'denied',
    'query-timeout': 'query-timeout',
    timeout: 'unanswered',
    stop: 'unanswered',
    closed: 'closed',
  },
  completed: {
    speech: 'speaking',
    failure: 'completed',
    completion: 'handled',
    refusal: 'denied',
    'query-timeout': 'query-timeout',
    timeout: 'handled',
    stop: 'handled',
    closed: 'handled',
  },
};

/** The options of a ReplyCollector. */
export interface CollectorOptions {
  /** The id of the request. */
  requestId: string;
  /**
   * The session id that the request declares; if it declares none, the id of the connection's session, which the
   * `ready` event carries. If neither is known, only events that carry the request id count (default none).
   */
  sessionId?: string | undefined;
  /** The type of the bus message that was sent (default `recognizer_loop:utterance`, which the builders send). */
  type?: string | undefined;
}

/**
 * Collects the reply to one request. Create one for each request before you send it. A RequestScheduler does this, and
 * keeps the deadlines.
 *
 * A reply keeps at most 1000 parts (speech, display items and choices; MAX_REPLY_PARTS) and 4 Mi UTF-16 units of text
 * and items (MAX_REPLY_SIZE). The first part that exceeds either limit and all later ones are left out, and
 * `isTruncated` is true. The events still change the state.
 *
 * @example
 * import { ReplyCollector } from 'hub-protocol/parts';
 *
 * const collector = new ReplyCollector({ requestId: 'r1' });
 * const context = { request_id: 'r1' };
 * const bus = (type: string, data: object) => JSON.stringify({ msg_type: 'bus', payload: { type, data, context } });
 * console.log(collector.push(bus('speak', { utterance: 'Hello!' }), true)); // speaking
 * console.log(collector.push(bus('ovos.utterance.handled', {}), true)); // done
 * console.log(collector.ending, collector.reply.text); // handled Hello!
 */
export class ReplyCollector {
  /**
   * The id of an earlier request in the same session, under which the hub goes on with this one: it waited for an answer of the
   * person, and this request is the answer (default none).
   */
  continues: string | undefined;
  private readonly requestId: string;
  private readonly declaredSession: string | undefined;
  private readonly type: string;
  private current: ReplyState = 'waiting';
  private endedBy: ReplyEnding | undefined;
  private readonly said: string[] = [];
  private readonly spoken: string[] = [];
  private readonly items: DisplayItem[] = [];
  private partsLeft: number = MAX_REPLY_PARTS;
  private sizeLeft: number = MAX_REPLY_SIZE;
  private isFull = false;
  private lastSpeech:
    | { readonly type: string; readonly text: string; readonly expectsAnswer: boolean }
    | undefined;
  private added: Speech | undefined;
  private returnedSession: string | undefined;
  private rawEvent: JsonObject | null = null;
  private isDeniedByPolicy = false;

  /** @throws LocalError `bad-argument`, also for an unknown option */
  constructor(options: CollectorOptions) {
    const {
      requestId,
      sessionId,
      type = UTTERANCE,
    } = readOptions(options, 'options', { requestId: true, sessionId: true, type: true });
    this.requestId = assertNotBlank(requestId, 'requestId');
    this.declaredSession = sessionId === undefined ? undefined : assertNotBlank(sessionId, 'sessionId');
    this.type = assertNotBlank(type, 'type');
  }

  /** The state of the request. */
  get state(): ReplyState {
    return this.current;
  }

  /** How the request ended; `undefined` until then. */
  get ending(): ReplyEnding | undefined {
    return this.endedBy;
  }

  /** Whether the hub said or showed more than a reply keeps. */
  get isTruncated(): boolean {
    return this.isFull;
  }

  /** Whether the hub waits for an answer of the person after what it said last. */
  get expectsAnswer(): boolean {
    return this.lastSpeech?.expectsAnswer === true;
  }

  /** What the latest `push` added to the reply; `undefined` if it added nothing. The parts together are the reply. */
  get part(): Speech | undefined {
    return this.added;
  }

  /**
   * The reply so far. Takes time linear in the size of the reply, so read it once at the end and not after each event.
   */
  get reply(): Reply {
    return {
      text: this.said.join(' '),
      speech: collapse(this.spoken.join(' ')),
      displayItems: this.items.slice(),
      expectsAnswer: this.expectsAnswer,
      sessionId: this.returnedSession ?? this.declaredSession ?? null,
      requestId: this.requestId,
      policyDenied: this.isDeniedByPolicy,
      rawEvent: this.rawEvent,
    };
  }

  /**
   * Takes a message from the hub. A message that cannot be read, or does not belong to this request, changes nothing.
   * @param message - the `text` of a `message` event, or the result of `readHubEvent` for it
   * @param sole - whether this is the only request in flight, which a refusal without a request id then belongs to. A
   *   message sent without waiting for a reply counts as in flight for 10 seconds.
   * @returns the state after the message
   * @throws LocalError `bad-argument` if `message` is neither
   */
  push(message: string | HubEvent, sole: boolean): ReplyState {
    this.added = undefined;
    if (this.current === 'done') return 'done';
    const event = typeof message === 'string' ? readHubEvent(message) : copyOf(message, 'message');
    if (event !== undefined && this.matches(event, sole)) this.accept(event, causeOf(event)!);
    return this.current;
  }

  /**
   * Whether an event belongs to this request and matters to its reply. The request id decides if the event carries one,
   * otherwise the session id. A refusal without a request id belongs to the request if `sole` is true and it names the
   * type that was sent.
   * @param event - what `readHubEvent` returned
   * @param sole - as for `push`
   * @returns whether `push` would take the event
   * @throws LocalError `bad-argument`
   */
  owns(event: HubEvent, sole: boolean): boolean {
    return this.matches(copyOf(event, 'message'), sole);
  }

  /**
   * Ends the request because a deadline has passed. The reply keeps all speech so far. Does nothing if the request has
   * ended.
   */
  timeout(): void {
    this.advance('timeout');
  }

  /**
   * Ends the request because its time is up, or nobody waits for the reply any longer. The reply keeps all speech so far. Does
   * nothing if the request has ended.
   */
  stop(): void {
    this.advance('stop');
  }

  /**
   * Ends the request because the connection ended: no other connection can answer it. Does nothing if the request has
   * ended.
   */
  closed(): void {
    this.advance('closed');
  }

  private matches(event: HubEvent, sole: boolean): boolean {
    const { requestId, sessionId, data } = event;
    const cause = causeOf(event);
    if (cause === undefined) return false;
    if (requestId !== undefined) return requestId === this.requestId || requestId === this.continues;
    if (cause !== 'refusal') return sessionIdsMatch(this.declaredSession, sessionId);
    return sole === true && readArgument('message', () => ownField(data, 'denied_type')) === this.type;
  }

  private accept({ type, data, payload, sessionId }: HubEvent, cause: Cause): void {
    // Everything is read before anything changes: a caller's own event may throw.
    const speech = cause === 'speech' ? readArgument('message', () => speechIn(data)) : undefined;
    const sizes = speech && readArgument('message', () => speech.displayItems.map(sizeIn));
    const refusal = readRefusal(payload);
    this.returnedSession ??= sessionId;
    if (speech !== undefined) {
      if (!this.hear(type, speech, sizes!)) return;
      this.rawEvent = payload;
    } else if (cause === 'completion') {
      this.rawEvent ??= payload;
    } else if (cause !== 'failure' || this.current !== 'speaking') {
      this.rawEvent = payload;
    }
    this.isDeniedByPolicy = refusal !== null && isByPolicy(refusal);
    this.advance(cause);
  }

  /**
   * Keeps speech and items. Returns false if there are none, or if the other event type has just said the same.
   */
  private hear(type: string, speech: Speech, sizes: readonly number[]): boolean {
    const { text, displayItems: items, expectsAnswer } = speech;
    if (text === '' && items.length === 0) return false;
    const isRepeated = this.lastSpeech?.text === text;
    if (isRepeated && this.lastSpeech?.type !== type) return false;
    const isAdded = text !== '' && !isRepeated && this.hasRoom(1, text.length);
    if (isAdded) {
      this.said.push(text);
      this.spoken.push(speech.speech);
    }
    const kept: DisplayItem[] = [];
    for (let i = 0; i < items.length; i++) {
      const item = items[i]!;
      const parts = item.kind === 'choices' ? item.choices.length : 1;
      if (this.hasRoom(parts, sizes[i]!)) kept.push(item);
    }
    this.items.push.apply(this.items, kept);
    this.lastSpeech = { type, text, expectsAnswer };
    if (isAdded || kept.length > 0) {
      this.added = {
        text: isAdded ? text : '',
        speech: isAdded ? speech.speech : '',
        displayItems: kept,
        expectsAnswer,
      };
    }
    return true;
  }

  private hasRoom(parts: number, size: number): boolean {
    this.partsLeft -= parts;
    this.sizeLeft -= size;
    if (this.partsLeft < 0 || this.sizeLeft < 0) this.isFull = true;
    return !this.isFull;
  }

  private advance(cause: Cause): void {
    const row = TRANSITIONS[this.current];
    if (row === undefined) return; // done
    const next = row[cause];
    if (TRANSITIONS[next] === undefined) {
      this.endedBy = next as ReplyEnding;
      this.current = 'done';
    } else {
      this.current = next as ReplyState;
    }
  }
}

function sizeIn(item: DisplayItem): number {
  return sizeOf(item, MAX_REPLY_SIZE);
}

function causeOf({ type }: HubEvent): Cause | undefined {
  return ownField(CAUSES, type) as Cause | undefined;
}

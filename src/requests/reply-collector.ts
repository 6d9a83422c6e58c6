/**
 * ReplyCollector: the hub's answer to one request, put together from its events. Sans I/O: messages in, a reply out;
 * the deadline is the integrator's. Spec, "Reply object (client libraries)".
 */
import { kindOf } from '../bytes.ts';
import { LocalError } from '../errors.ts';
import { isJsonObject, type Json, type JsonObject, ownField } from '../wire/json.ts';
import { UTTERANCE } from './build-request.ts';
import { type DisplayItem, readDisplayItems } from './display-items.ts';
import { type HubEvent, readHubEvent, textIn } from './hub-event.ts';
import { sessionIdsMatch } from './session-ids.ts';
import { speakable } from './speakable.ts';
import { collapse, notBlank } from './white-space.ts';

/** The spec's Reply object. */
export interface Reply {
  /** What the hub said, as it said it, white space collapsed; empty where it said nothing (spec: `text`). */
  readonly text: string;
  /** The same to be said aloud: without markup, entities resolved (spec: `speech`). */
  readonly speech: string;
  /** Choices, tables, images and attachments, in the order in which they came (spec: `display_items`). */
  readonly displayItems: DisplayItem[];
  /** The session as the hub first named it, else as it was declared, else null (spec: `session_id`). */
  readonly sessionId: string | null;
  /** The request that this answers (spec: `request_id`). */
  readonly requestId: string;
  /** Whether policy refused the request (spec: `policy_denied`); `readRefusal` reads why. */
  readonly policyDenied: boolean;
  /**
   * `{type, data, context}` of the last event that said something or failed, as it came; where there was none, of the
   * one that completed the request; else null (spec: `raw_event`).
   */
  readonly rawEvent: JsonObject | null;
}

/**
 * `waiting`: for speech, or for its end. `settled`: a soft failure came, or the hub is done without having said a word,
 * and most likely nothing more will come; but speech still counts. `done`: nothing counts any more.
 */
export type ReplyState = 'waiting' | 'settled' | 'done';

/**
 * How a request ended. `handled`: by the hub's own word. `unanswered`: the hub has nothing to say to it. `denied`:
 * refused by policy. `query-timeout`: the hub gave up. `timeout`: the integrator did. `closed`: the connection died.
 * The reply holds what was said until then.
 */
export type ReplyEnding = 'handled' | 'unanswered' | 'denied' | 'query-timeout' | 'timeout' | 'closed';

type Effect = 'speech' | 'soft-failure' | 'denied' | 'query-timeout' | 'handled';

/** What events do, by their type; all others are ignored. */
const EFFECTS: { readonly [type: string]: Effect } = {
  speak: 'speech',
  'ovos.utterance.speak': 'speech',
  complete_intent_failure: 'soft-failure',
  'ovos.intent.unmatched': 'soft-failure',
  'hive.policy.denied': 'denied',
  'hive.query.timeout': 'query-timeout',
  'ovos.utterance.handled': 'handled',
};

export interface CollectorOptions {
  /** As the request has it. */
  requestId: string;
  /** As the request declared it, if it did. */
  sessionId?: string | undefined;
  /** The type of the bus message that was sent; that of the builders by default. */
  type?: string | undefined;
}

/** Collects the reply to one request. One for each request in flight, made before it is sent. */
export class ReplyCollector {
  private readonly requestId: string;
  private readonly declaredSession: string | undefined;
  private readonly type: string;
  private phase: ReplyState = 'waiting';
  /** Whether the hub said that it is done before it said anything else: what it then says is late, and all. */
  private isHandled = false;
  private endedBy: ReplyEnding | undefined;
  private readonly said: string[] = [];
  private readonly items: DisplayItem[] = [];
  private lastSpeech: { readonly type: string; readonly text: string } | undefined;
  private returnedSession: string | undefined;
  private rawEvent: JsonObject | null = null;

  /** @throws LocalError `bad-argument` */
  constructor(options: CollectorOptions) {
    if (!isJsonObject(options)) {
      throw new LocalError('bad-argument', `"options" expected an object, got ${kindOf(options)}`);
    }
    const { requestId, sessionId, type = UTTERANCE } = options;
    this.requestId = notBlank(requestId, 'requestId');
    this.declaredSession = sessionId === undefined ? undefined : notBlank(sessionId, 'sessionId');
    this.type = notBlank(type, 'type');
  }

  get state(): ReplyState {
    return this.phase;
  }

  /** How the request ended; `undefined` until it did. */
  get ending(): ReplyEnding | undefined {
    return this.endedBy;
  }

  /** What was gathered so far. */
  get reply(): Reply {
    return {
      text: this.said.join(' '),
      speech: collapse(this.said.map(speakable).join(' ')),
      displayItems: this.items.slice(),
      sessionId: this.returnedSession ?? this.declaredSession ?? null,
      requestId: this.requestId,
      policyDenied: this.endedBy === 'denied',
      rawEvent: this.rawEvent,
    };
  }

  /**
   * Takes a message that the session delivered, whatever it is: what cannot be read or belongs elsewhere changes
   * nothing, and nothing is ever thrown.
   * @param message - JSON, as text or parsed
   * @param sole - whether this is the only request in flight, so that a refusal which names no request must be its own.
   *   What was sent without waiting for an answer counts as in flight for some 10 seconds.
   * @returns the state after it
   */
  push(message: string | Json, sole: boolean): ReplyState {
    if (this.phase === 'done') return 'done';
    const event = readHubEvent(message);
    if (event === undefined) return this.phase;
    const effect = ownField(EFFECTS as JsonObject, event.type) as Effect | undefined;
    if (effect !== undefined && this.owns(event, effect, sole)) {
      this.returnedSession ??= event.sessionId;
      this.take(event, effect);
    }
    return this.phase;
  }

  /** The integrator waits no longer; what was gathered stays. The first end counts. */
  timeout(): void {
    this.end('timeout');
  }

  /** The connection died, and the request with it: nothing will answer it on another. The first end counts. */
  closed(): void {
    this.end('closed');
  }

  /** A request id decides. Without one a session does, but for refusals, which name neither. */
  private owns({ requestId, sessionId, data }: HubEvent, effect: Effect, sole: boolean): boolean {
    if (requestId !== undefined) return requestId === this.requestId;
    if (effect === 'denied') return sole && ownField(data, 'denied_type') === this.type;
    return sessionIdsMatch(this.declaredSession, sessionId);
  }

  private take(event: HubEvent, effect: Effect): void {
    if (effect === 'speech') {
      this.hear(event);
    } else if (effect === 'soft-failure') {
      if (this.lastSpeech !== undefined) return; // something has answered it
      this.rawEvent = event.payload;
      this.phase = 'settled';
    } else if (effect === 'handled') {
      this.rawEvent ??= event.payload;
      if (this.phase === 'waiting' && this.lastSpeech === undefined) {
        this.isHandled = true;
        this.phase = 'settled';
      } else {
        this.end(effect);
      }
    } else {
      this.rawEvent = event.payload;
      this.end(effect);
    }
  }

  private hear({ type, data, payload }: HubEvent): void {
    const text = collapse(textOf(data));
    const items = readDisplayItems(data);
    if (text === '' && items.length === 0) return;
    const repeats = this.lastSpeech?.text === text;
    if (repeats && this.lastSpeech?.type !== type) return; // some hubs say everything under both names
    if (text !== '' && !repeats) this.said.push(text);
    for (let i = 0; i < items.length; i++) this.items.push(items[i]!);
    this.lastSpeech = { type, text };
    this.rawEvent = payload;
    this.phase = 'waiting';
    if (this.isHandled) this.end('handled');
  }

  private end(by: ReplyEnding): void {
    if (this.phase === 'done') return;
    if (by === 'denied' || by === 'query-timeout') this.endedBy = by;
    else if (this.isHandled) this.endedBy = 'handled';
    else if (this.phase === 'settled' && by !== 'closed') this.endedBy = 'unanswered';
    else this.endedBy = by;
    this.phase = 'done';
  }
}

/** The text of speech; of several utterances the first, for the others are alternatives to it. */
function textOf(data: JsonObject): string {
  const text = textIn(data, ['utterance', 'text', 'utterances']);
  if (text !== undefined) return text;
  const utterances = ownField(data, 'utterances');
  const first = Array.isArray(utterances) ? utterances[0] : undefined;
  return typeof first === 'string' ? first : '';
}

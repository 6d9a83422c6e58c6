/**
 * A conversation of a client with one person: what the hub says unasked, when the AI disclosure is due, and the session of the
 * questions. It outlives connections. Spec, "AI-disclosure client rules".
 */
import {
  canonicalJson,
  disclosureDue,
  type HubEvent,
  type Json,
  type JsonObject,
  parseJson,
  readHubEvent,
  wrap,
} from 'hub-protocol';
import { ReplyCollector, sessionIdsMatch } from 'hub-protocol/parts';
import { Account, costOf, type Entry, type Holder } from './account.ts';
import { envelopeOf } from './answers.ts';
import { budgetOf } from './budget.ts';
import type { ClientEvent, ConnectOptions, Question } from './options.ts';

type Given = Parameters<typeof disclosureDue>[1]['lastGiven'];
type DisclosureEvent = Extract<ClientEvent, { type: 'disclosure' }>;

/**
 * The fields of a session that the hub's assistant keeps with its client: whom it waits for, and what was spoken of. The first four
 * are those of OpenVoiceOS 3, the others those of OpenVoiceOS 2.
 */
const STATE = [
  'active_handlers',
  'converse_handlers',
  'response_mode',
  'intent_context',
  'active_skills',
  'utterance_states',
  'context',
] as const;

const NO_STATE = canonicalJson({});

/** The longest message of the hub of which a state is kept. */
const LONGEST_STATE = 65_536;

/** The language of each question of all clients that was not sent yet. */
const languages = new WeakMap<JsonObject, string>();

export class Conversation implements Holder {
  readonly #options: ConnectOptions;
  #lastGiven: Given;
  /** The session of questions that name none; `undefined` for the session of the connection. */
  #sessionId: string | undefined;
  /** The session of the connection. */
  ownSessionId: string | undefined;
  /** The state of sessions as JSON, by the id that the hub returned, the latest last. */
  readonly #states = new Map<string, Uint8Array>();
  readonly #account: Account;
  readonly #most: number;
  #held: Entry;
  /** The speech that was told last. */
  #last: { readonly type: string; readonly text: string } | undefined;

  constructor(options: ConnectOptions, account: Account = new Account(budgetOf(options).all)) {
    this.#options = options;
    this.#account = account;
    this.#most = budgetOf(options).states;
    this.#held = account.open(undefined, this);
    this.#lastGiven = options.disclosure?.lastGiven ?? 'never';
  }

  unsent(): number {
    return 0;
  }

  /** The states take most of all that is held: they are forgotten. */
  end(): void {
    this.#states.clear();
    this.#held = this.#account.open(undefined, this);
  }

  /** The session of questions that name none. */
  get sessionId(): string | undefined {
    return this.#sessionId;
  }

  /** The context of messages that are no questions. */
  get context(): JsonObject {
    return this.#sessionId === undefined ? {} : { session: { session_id: this.#sessionId } };
  }

  /** Another conversation begins, perhaps with another person. */
  renew(sessionId: string): void {
    this.#sessionId = sessionId;
    if (this.#lastGiven === 'this-session') this.#lastGiven = 'earlier-session';
  }

  /**
   * The envelope of a question.
   * @throws LocalError `bad-argument`
   */
  envelopeOf(question: Question, requestId: string): JsonObject {
    const { identity, lang } = this.#options;
    const { siteId } = identity;
    const envelope = envelopeOf(question, requestId, { siteId, lang, sessionId: this.#sessionId });
    this.returnState(envelope);
    languages.set(envelope, readHubEvent(envelope)!.data.lang as string);
    return envelope;
  }

  /**
   * The envelope of a question to a mesh of hubs.
   * @throws LocalError `bad-argument`
   */
  wrapped(type: 'query' | 'cascade', question: Question, queryId: string): JsonObject {
    const inner = this.envelopeOf(question, queryId);
    const envelope = wrap(type, inner, { queryId });
    languages.set(envelope, languages.get(inner)!);
    return envelope;
  }

  /** An envelope was sent. Returns what `disclose` returns if it is a question. */
  begin(envelope: JsonObject): DisclosureEvent | undefined {
    const language = languages.get(envelope);
    return language === undefined ? undefined : this.disclose(language);
  }

  /** Keeps the state of the session that a message of the hub carries. */
  keepState(message: Json, length: number): void {
    const event = length > LONGEST_STATE ? undefined : readHubEvent(message);
    if (event?.sessionId === undefined) return;
    const session = sessionOf(event.payload);
    const state = STATE.filter((name) => session[name] !== undefined).map((name) => [name, session[name]]);
    this.#forget(event.sessionId);
    this.#states.set(
      event.sessionId,
      state.length === 0 ? NO_STATE : canonicalJson(Object.fromEntries(state)),
    );
    this.#held.add('states', this.#costOf(event.sessionId));
    for (const oldest of this.#states.keys()) {
      if (this.#held.total <= this.#most) break;
      this.#forget(oldest);
    }
  }

  #costOf(sessionId: string): number {
    return costOf(this.#states.get(sessionId)!.length) + costOf(2 * sessionId.length);
  }

  #forget(sessionId: string): void {
    if (!this.#states.has(sessionId)) return;
    this.#held.add('states', -this.#costOf(sessionId));
    this.#states.delete(sessionId);
  }

  /** Gives the hub's assistant its state back with the next question of a session, unless the program does. */
  returnState({ payload }: JsonObject): void {
    const session = sessionOf(payload as JsonObject);
    const { session_id = this.ownSessionId } = session as { session_id?: string };
    // The hub returns another id on each connection, so the latest one counts.
    const latestFirst = [...this.#states].reverse();
    const [, kept] = latestFirst.find(([returned]) => sessionIdsMatch(session_id, returned)) ?? [];
    const state = kept && (parseJson(kept) as JsonObject);
    if (state === undefined || STATE.some((name) => session[name] !== undefined)) return;
    const { expires_at } = Object(state.response_mode);
    const isExpired = expires_at !== null && Number(expires_at) * 1000 <= Date.now();
    for (const name of STATE) {
      if (state[name] !== undefined && !(isExpired && name === 'response_mode')) session[name] = state[name];
    }
  }

  /**
   * Somebody is about to hear or read something of the hub.
   * @param language - of the question, if it is one
   * @returns the event, if the disclosure was not given yet
   */
  disclose(language: string | undefined = this.#options.lang): DisclosureEvent | undefined {
    const { identity, disclosure: { isVoice, isShared } = {} } = this.#options;
    const situation = { language, isVoice, isShared, lastGiven: this.#lastGiven };
    const disclosure = disclosureDue(identity, situation);
    if (!disclosure.due) return undefined;
    this.#lastGiven = 'this-session';
    return { type: 'disclosure', text: disclosure.text, language: disclosure.language };
  }

  /**
   * Reads unsolicited speech as a reply is read.
   * @returns `undefined` if the message is no speech, or if the other type of speech has just said the same
   */
  speechIn(message: HubEvent): Extract<ClientEvent, { type: 'speak' }> | undefined {
    const requestId = 'unsolicited';
    const collector = new ReplyCollector({ requestId });
    collector.push({ ...message, requestId }, false);
    const { text, speech, displayItems, expectsAnswer } = collector.reply;
    if (text === '' && displayItems.length === 0) return undefined;
    if (this.#last?.text === text && this.#last.type !== message.type) return undefined;
    this.#last = { type: message.type, text };
    return { type: 'speak', text, speech, displayItems, expectsAnswer, message };
  }
}

/** The options of a session that tell the hub the language of this client, which the session of its HELLO has. */
export function greetingOf(
  { lang, session: { hello } = {} }: ConnectOptions,
  newId: () => string,
): { hello?: JsonObject } {
  if (lang === undefined) return {};
  return { hello: { ...hello, session: { session_id: newId(), lang, ...Object(hello?.session) } } };
}

/** The session in a bus message. */
function sessionOf({ context }: JsonObject): JsonObject {
  return Object(Object(context).session);
}

/** Whether a message of the hub is an envelope, and no bus message, which the link reads. */
export function isOther(envelope: Json | undefined): envelope is JsonObject {
  const { msg_type } = Object(envelope) as JsonObject;
  return typeof msg_type === 'string' && msg_type !== 'bus';
}

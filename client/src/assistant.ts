/**
 * The application of a hub. It speaks the bus: it answers an utterance with speech and a completion, needs not be told when speech was
 * played, denies any other type, and returns binary messages. One for each connection.
 */
import {
  type HubSession,
  type HubSessionEvent,
  type Json,
  type JsonObject,
  LocalError,
  readHubEvent,
} from 'hub-protocol';

const UTTERANCE = 'recognizer_loop:utterance';
const PLAYED = 'recognizer_loop:audio_output_end';

export class Assistant {
  readonly #session: HubSession;
  /** Hubs keep their clients apart by a namespace in the session ids that they return. */
  readonly #namespace: string = Math.random().toString(16).slice(2, 10);
  readonly #answer: (utterance: string) => string | Promise<string>;
  readonly #later: (sealing: Promise<() => Uint8Array[]>, request: JsonObject) => void;
  readonly #isAlone: boolean;
  /** The session of requests that declare none, from the client's HELLO. */
  #sessionId = 'unknown';

  /**
   * @param answer - answers an utterance, at once or later (default: repeats it)
   * @param later - sends what the function returns that a later answer resolves to, or deals with the error; `request` is kept until then
   * @param isAlone - whether nobody else answers: what is no utterance is then denied or returned, too
   */
  constructor(
    session: HubSession,
    answer: (utterance: string) => string | Promise<string> = (utterance) => `You said: ${utterance}`,
    later: (sealing: Promise<() => Uint8Array[]>, request: JsonObject) => void = () => {},
    isAlone: boolean = true,
  ) {
    this.#session = session;
    this.#answer = answer;
    this.#later = later;
    this.#isAlone = isAlone;
  }

  /** Handles an event of the hub's session. Returns the transport messages to send, in order. */
  handle(event: HubSessionEvent): Uint8Array[] {
    if (event.type === 'hello') {
      this.#sessionId = textOf(objectOf(event.payload?.session).session_id) ?? 'unknown';
    }
    if (event.type !== 'message') return [];
    if (event.kind === 'binary') return this.#isAlone ? this.#session.sendBinary(event.bytes) : [];
    const request = readHubEvent(event.text);
    if (request === undefined) return []; // an unknown message does not end the session
    const { type, data, payload } = request;
    if (type === PLAYED) return [];
    if (type !== UTTERANCE) {
      if (!this.#isAlone) return [];
      const reason = `this hub answers ${UTTERANCE} only`;
      const denial = {
        denied_type: type,
        code: 'acl_disallowed_type',
        reason,
        data: { allowed: [UTTERANCE] },
      };
      return this.#emit('hive.policy.denied', denial, payload);
    }
    const [utterance] = Array.isArray(data.utterances) ? data.utterances.map(textOf) : [];
    if (utterance === undefined) return this.#emit('complete_intent_failure', {}, payload);
    const answer: string | PromiseLike<string> | undefined = this.#answer(utterance);
    if (typeof answer !== 'object' || typeof answer?.then !== 'function') return this.#speak(answer, payload);
    const { context = {} } = payload;
    const kept = { context };
    this.#later(
      Promise.resolve(answer).then((text) => () => this.#speak(text, kept)),
      kept,
    );
    return [];
  }

  /** @throws LocalError `bad-argument` for an answer that is no text */
  #speak(utterance: unknown, payload: JsonObject): Uint8Array[] {
    if (typeof utterance !== 'string') {
      const got = utterance === null ? 'null' : typeof utterance;
      throw new LocalError(
        'bad-argument',
        `"answer" has to return a string or a promise of one, and returned ${got}`,
      );
    }
    return [
      ...this.#emit('speak', { utterance }, payload),
      ...this.#emit('ovos.utterance.handled', {}, payload),
    ];
  }

  /** Answers a request: with its context, and so with its request id. */
  #emit(type: string, data: JsonObject, { context }: JsonObject): Uint8Array[] {
    const asked = objectOf(context);
    const session = objectOf(asked.session);
    const session_id = `${this.#namespace}:${textOf(session.session_id) ?? this.#sessionId}`;
    const payload = { type, data, context: { ...asked, session: { ...session, session_id } } };
    return this.#session.sendJson({ msg_type: 'bus', payload });
  }
}

/** A client may send anything in place of a text, such as an object that throws when it is converted to a string. */
function textOf(value: Json | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function objectOf(value: Json | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}

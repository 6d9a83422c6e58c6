/** Questions as envelopes, and their answers as promises. */
import {
  type ActionRequest,
  buildAction,
  buildCode,
  buildUtterance,
  type CodeRequest,
  type HubEvent,
  type JsonObject,
  type LinkEvent,
  LocalError,
  readHubEvent,
  type UtteranceRequest,
} from 'hub-protocol';
import { type OptionNames, ReplyCollector, readOptions } from 'hub-protocol/parts';
import { COMPLETE, type Telling, tellingOfAnswer } from './advice.ts';
import { asUncaught } from './listeners.ts';
import type { Answer, AskError, AskOptions, Part, Question } from './options.ts';

type Told<Type extends LinkEvent['type']> = Extract<LinkEvent, { type: Type }>;

interface Waiting {
  /** Cancels the question: nobody waits for the answer any more. */
  readonly cancel: () => void;
  readonly onPart: AskOptions['onPart'];
  readonly envelope: JsonObject;
  resolve(answer: Answer): void;
  reject(error: unknown): void;
}

type Stopped = Pick<Told<'finish'>, 'requestId' | 'reply' | 'isTruncated' | 'wasSent'>;

interface Stopping {
  readonly requestId: string;
  ended?: Stopped;
}

/** Of how many questions it is known that they were interrupted. */
const MOST_INTERRUPTED = 100;

/** The questions of all clients, by their envelopes. */
const byEnvelope = new WeakMap<object, Waiting>();

export class Answers {
  readonly #byRequestId = new Map<string, Waiting>();
  /** The question that is being interrupted, and what has come of its answer. */
  #stopping: Stopping | undefined;
  /** The ids of questions that were interrupted, the latest last. */
  readonly #interrupted: string[] = [];

  /**
   * The answer to a question that was passed to the link.
   * @param cancel - cancels the question: nobody waits for the answer any more
   */
  to(
    envelope: JsonObject,
    requestId: string,
    { signal, onPart }: AskOptions,
    cancel: () => void,
  ): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const end = (): void => {
        this.#byRequestId.delete(requestId);
        signal?.removeEventListener('abort', abort);
      };
      const abort = (): void => {
        end();
        reject(reasonOf(signal!));
        cancel();
      };
      const waiting: Waiting = {
        ...{ cancel, onPart, envelope },
        resolve: (answer) => {
          end();
          resolve(answer);
        },
        reject: (error) => {
          end();
          reject(error);
        },
      };
      byEnvelope.set(envelope, waiting);
      this.#byRequestId.set(requestId, waiting);
      signal?.addEventListener('abort', abort);
    });
  }

  /** @throws LocalError `bad-argument` for the id of a question that is open */
  assertNew(requestId: string): void {
    if (!this.#byRequestId.has(requestId)) return;
    throw new LocalError('bad-argument', '"requestId" is that of a question that is open: choose another');
  }

  /** A part of an answer has come. */
  add({ type, ...part }: Told<'part'>): void {
    asUncaught(() => this.#byRequestId.get(part.requestId)?.onPart?.(part satisfies Part));
  }

  /** A question that was sent has ended. A part of an answer is delivered even if the connection has ended. */
  finish(event: Told<'finish'>): void {
    const { requestId, ending, reply, error } = event;
    const waiting = this.#byRequestId.get(requestId);
    const isEmpty = reply.text === '' && reply.displayItems.length === 0;
    if (ending === 'closed' && isEmpty) waiting?.reject(error);
    else waiting?.resolve({ ...event, ...tellingOfAnswer(event) });
  }

  /** A question has no answer any more. */
  end(requestId: string, error: Error): void {
    const waiting = this.#byRequestId.get(requestId);
    waiting?.reject(error);
    waiting?.cancel();
  }

  /**
   * Ends the questions of a session with what has come, the latest first: none of them gets its turn.
   * @param sessionId - `undefined` for that of the connection
   */
  interrupt(sessionId: string | undefined): void {
    for (const [requestId, { envelope, cancel, resolve }] of [...this.#byRequestId].reverse()) {
      const { type, sessionId: own } = readHubEvent(envelope)!;
      if (own !== sessionId) continue;
      const stopping: Stopping = { requestId };
      this.#stopping = stopping;
      cancel();
      this.#stopping = undefined;
      const { reply } = new ReplyCollector({ requestId, type }); // that of a question that was not sent
      const ended = stopping.ended ?? { requestId, reply, isTruncated: false, wasSent: false };
      this.#interrupted.push(requestId);
      if (this.#interrupted.length > MOST_INTERRUPTED) this.#interrupted.shift();
      resolve({ ...ended, error: undefined, ending: 'interrupted', ...COMPLETE });
    }
  }

  /** A question is cancelled, and this has come of its answer. */
  stopped({ requestId, reply, isTruncated, wasSent }: Stopped): void {
    if (this.#stopping?.requestId === requestId)
      this.#stopping.ended = { requestId, reply, isTruncated, wasSent };
  }

  /** Whether a message of the hub belongs to an answer that was interrupted. */
  isInterrupted({ requestId }: HubEvent): boolean {
    return requestId !== undefined && this.#interrupted.includes(requestId);
  }

  /** No question has an answer any more. */
  failAll(error: Error): void {
    for (const requestId of [...this.#byRequestId.keys()]) this.end(requestId, error);
  }

  /** A question was not sent. Returns false if the message is no question. */
  fail({ message, error }: Told<'unsent'>): boolean {
    const waiting = byEnvelope.get(message as object);
    waiting?.reject(error);
    return waiting !== undefined;
  }
}

/** Why a signal was aborted. Signals of older platforms do not say. */
export function reasonOf({ reason }: AbortSignal): unknown {
  return reason ?? Object.assign(new Error('the question was aborted'), { name: 'AbortError' });
}

/** The error of one question: a copy of the cause, which other questions and the events share. */
export function errorOf(
  cause: Error,
  fields: Pick<AskError, 'requestId' | 'endpoint' | keyof Telling>,
): AskError {
  const own = Object.entries(fields).map(([name, value]) => [name, { value, enumerable: true }]);
  return Object.create(Object.getPrototypeOf(cause), {
    ...Object.getOwnPropertyDescriptors(cause),
    stack: { value: cause.stack, writable: true, configurable: true }, // some engines compute it for the cause alone
    ...Object.fromEntries(own),
  });
}

/** The fields of all questions. */
const FIELDS: OptionNames<Omit<UtteranceRequest & ActionRequest & CodeRequest, 'requestId'>> = {
  text: true,
  payload: true,
  title: true,
  value: true,
  kind: true,
  label: true,
  sessionId: true,
  siteId: true,
  lang: true,
  context: true,
};

/**
 * The envelope of a question. Fields that its object inherits do not count.
 * @param defaults - the fields of the client, which the question may replace
 * @throws LocalError `bad-argument`
 */
export function envelopeOf(
  question: Question,
  requestId: string,
  defaults: Pick<UtteranceRequest, 'siteId' | 'lang' | 'sessionId'>,
): JsonObject {
  const given = typeof question === 'string' ? { text: question } : question;
  const said = readOptions<object>(given, 'question', FIELDS);
  const has = (name: string): boolean => Object.prototype.hasOwnProperty.call(said, name);
  const request = { ...said, requestId } as UtteranceRequest;
  for (const name of ['siteId', 'lang', 'sessionId'] as const) request[name] ??= defaults[name];
  if (has('payload')) return buildAction(request as object as ActionRequest);
  if (has('value')) return buildCode(request as object as CodeRequest);
  return buildUtterance(request);
}

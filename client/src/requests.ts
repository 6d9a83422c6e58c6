/** The requests of one connection: a RequestScheduler with a timer, and a promise for each request. */
import {
  type ActionRequest,
  buildAction,
  buildCode,
  buildUtterance,
  type CodeRequest,
  type FinishDecision,
  type HubEvent,
  type JsonObject,
  type RequestDecision,
  RequestScheduler,
  type SchedulerOptions,
  type UtteranceRequest,
} from 'hub-protocol';
import { sentenceForAnswer } from './advice.ts';
import type { Answer } from './options.ts';

interface Waiting {
  resolve(answer: Answer): void;
  reject(error: unknown): void;
}

export class Requests {
  readonly #scheduler: RequestScheduler;
  readonly #send: (envelope: JsonObject) => void;
  readonly #handle: (event: HubEvent) => void;
  readonly #waiting = new Map<string, Waiting>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Why the connection has ended. */
  #reason: Error | undefined;

  /**
   * @param send - sends an envelope with `sendJson`
   * @param handle - called with the hub's unsolicited events
   */
  constructor(
    options: SchedulerOptions,
    send: (envelope: JsonObject) => void,
    handle: (event: HubEvent) => void,
  ) {
    this.#scheduler = new RequestScheduler(options);
    this.#send = send;
    this.#handle = handle;
  }

  /** Resolves when the request has ended. Rejects if the connection ends before the hub has answered anything. */
  request(requestId: string, envelope: JsonObject): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (this.#reason !== undefined) throw this.#reason;
      const decisions = this.#scheduler.request(envelope, performance.now());
      this.#waiting.set(requestId, { resolve, reject });
      this.#carryOut(decisions);
    });
  }

  /** Sends an envelope without waiting for an answer. */
  send(envelope: JsonObject): void {
    this.#send(envelope);
    this.#scheduler.noteSent(performance.now()); // if the hub refuses this message, no request ends
  }

  /** Takes a message of the hub. */
  receive(text: string): void {
    this.#carryOut(this.#scheduler.receive(text, performance.now()));
  }

  /**
   * Ends all requests, because the connection has ended.
   * @param reason - why
   */
  closed(reason: Error): void {
    this.#reason = reason;
    this.#carryOut(this.#scheduler.closed());
  }

  #carryOut(decisions: RequestDecision[]): void {
    for (const decision of decisions) {
      if (decision.do === 'send') this.#sendOne(decision.requestId, decision.envelope);
      else if (decision.do === 'handle') this.#handle(decision.event);
      else this.#finish(decision);
    }
    clearTimeout(this.#timer);
    const wait = this.#scheduler.nextDeadline(performance.now());
    if (wait === undefined) return;
    this.#timer = setTimeout(() => this.#carryOut(this.#scheduler.expire(performance.now())), wait);
  }

  /** A part of an answer is delivered even if the connection has ended. */
  #finish(decision: FinishDecision): void {
    const { requestId, ending, reply } = decision;
    const waiting = this.#waiting.get(requestId);
    this.#waiting.delete(requestId);
    const isEmpty = reply.text === '' && reply.displayItems.length === 0;
    if (ending === 'closed' && isEmpty) waiting?.reject(this.#reason);
    else waiting?.resolve({ ...decision, tell: sentenceForAnswer(decision) });
  }

  /** A request that cannot be sent, such as one that is too long, fails alone. */
  #sendOne(requestId: string, envelope: JsonObject): void {
    try {
      this.#send(envelope);
    } catch (error) {
      this.#waiting.get(requestId)?.reject(error);
      this.#waiting.delete(requestId);
      this.#carryOut(this.#scheduler.cancel(requestId, performance.now()));
    }
  }
}

/** The envelope of a question. Fields that its object inherits do not count. */
export function envelopeOf(request: UtteranceRequest | ActionRequest | CodeRequest): JsonObject {
  const has = (name: string): boolean => Object.prototype.hasOwnProperty.call(request, name);
  if (has('payload')) return buildAction(request as ActionRequest);
  if (has('value')) return buildCode(request as CodeRequest);
  return buildUtterance(request as UtteranceRequest);
}

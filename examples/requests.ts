/** The requests of one connection: a RequestScheduler with a timer, and a promise for each request. */
import { randomUUID } from 'node:crypto';
import {
  buildUtterance,
  type FinishDecision,
  type HubEvent,
  type JsonObject,
  type RequestDecision,
  RequestScheduler,
} from 'hub-protocol';

export class Requests {
  readonly #scheduler: RequestScheduler;
  readonly #send: (envelope: JsonObject) => void;
  readonly #handle: ((event: HubEvent) => void) | undefined;
  readonly #waiting = new Map<string, (finished: FinishDecision) => void>();
  #timer: NodeJS.Timeout | undefined;

  /**
   * @param sessionId - from the `ready` event
   * @param send - sends an envelope with `sendJson`
   * @param handle - is called with what the hub says unasked
   */
  constructor(
    sessionId: string | undefined,
    send: (envelope: JsonObject) => void,
    handle?: (event: HubEvent) => void,
  ) {
    this.#scheduler = new RequestScheduler({ sessionId });
    this.#send = send;
    this.#handle = handle;
  }

  /** Resolves when the request has ended. `ending` says how: with a reply, without one, or with the connection. */
  ask(text: string): Promise<FinishDecision> {
    const requestId = randomUUID();
    return new Promise((resolve) => {
      this.#waiting.set(requestId, resolve);
      this.#carryOut(this.#scheduler.request(buildUtterance({ requestId, text }), performance.now()));
    });
  }

  /** Takes a message of the hub. */
  receive(text: string): void {
    this.#carryOut(this.#scheduler.receive(text, performance.now()));
  }

  /** Ends all requests, because the connection has ended. */
  closed(): void {
    this.#carryOut(this.#scheduler.closed());
  }

  #carryOut(decisions: RequestDecision[]): void {
    for (const decision of decisions) {
      if (decision.do === 'send') this.#send(decision.envelope);
      else if (decision.do === 'handle') this.#handle?.(decision.event);
      else {
        this.#waiting.get(decision.requestId)?.(decision);
        this.#waiting.delete(decision.requestId);
      }
    }
    clearTimeout(this.#timer);
    const wait = this.#scheduler.nextDeadline(performance.now());
    if (wait === undefined) return;
    this.#timer = setTimeout(() => this.#carryOut(this.#scheduler.expire(performance.now())), wait);
  }
}

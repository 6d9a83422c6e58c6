/** The requests of one connection: a RequestScheduler with a timer, and a promise for each request. */
import {
  type FinishDecision,
  type HubEvent,
  type JsonObject,
  type RequestDecision,
  RequestScheduler,
  type SchedulerOptions,
} from 'hub-protocol';

interface Waiting {
  resolve(finished: FinishDecision): void;
  reject(error: unknown): void;
}

export class Requests {
  readonly #scheduler: RequestScheduler;
  readonly #send: (envelope: JsonObject) => void;
  readonly #handle: (event: HubEvent) => void;
  readonly #waiting = new Map<string, Waiting>();
  #timer: ReturnType<typeof setTimeout> | undefined;

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

  /** Resolves when the request has ended. `ending` says how: with a reply, without one, or because the connection ended. */
  request(requestId: string, envelope: JsonObject): Promise<FinishDecision> {
    return new Promise((resolve, reject) => {
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

  /** Ends all requests, because the connection has ended. */
  closed(): void {
    this.#carryOut(this.#scheduler.closed());
  }

  #carryOut(decisions: RequestDecision[]): void {
    for (const decision of decisions) {
      if (decision.do === 'send') this.#sendOne(decision.requestId, decision.envelope);
      else if (decision.do === 'handle') this.#handle(decision.event);
      else {
        this.#waiting.get(decision.requestId)?.resolve(decision);
        this.#waiting.delete(decision.requestId);
      }
    }
    clearTimeout(this.#timer);
    const wait = this.#scheduler.nextDeadline(performance.now());
    if (wait === undefined) return;
    this.#timer = setTimeout(() => this.#carryOut(this.#scheduler.expire(performance.now())), wait);
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

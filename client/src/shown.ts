/** What a program has shown of the hub's answers, and the hub is to be told of: a skill may wait until it was played. */
import type { HubEvent, Json } from 'hub-protocol';

/**
 * How long to wait for the end of the answer, in milliseconds: nobody waits for a sentence that it follows. Most answers end with
 * their last sentence, and need no message then.
 */
const PAUSE = 20;

/** How many texts may wait, and how long the message of one may be, in UTF-16 code units: others are told of at once. */
const MOST = 8;
const LONGEST = 4096;

type Played = { readonly requestId: string | undefined; readonly session: Json | undefined };

export class Shown {
  readonly #tell: (session: Json | undefined) => void;
  #waiting: Played[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param tell - tells the hub that a text was played, with the session of its message */
  constructor(tell: (session: Json | undefined) => void) {
    this.#tell = tell;
  }

  /**
   * A text was shown.
   * @param length - of its message, in UTF-16 code units
   */
  add({ requestId, payload }: HubEvent, length: number): void {
    // The request's id stays out of what is told: a denial with it would end the answer.
    const { session } = Object(payload.context);
    this.#waiting.push({ requestId, session });
    if (length > LONGEST || this.#waiting.length > MOST) this.#flush();
    else this.#timer ??= setTimeout(() => this.#flush(), PAUSE);
  }

  /** An answer has ended. */
  end(requestId: string): void {
    this.#waiting = this.#waiting.filter((played) => played.requestId !== requestId);
  }

  /** There is nobody to tell any more. */
  clear(): void {
    this.#waiting = [];
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #flush(): void {
    const waiting = this.#waiting;
    this.clear();
    for (const { session } of waiting) this.#tell(session);
  }
}

/** What a person has to know and no listener hears is written to the console, as Node.js does with an `error`. */
import type { ErrorCode } from 'hub-protocol';
import type { ClientEvent } from './options.ts';

type Type = ClientEvent['type'];

/** Who listens to one of these is told. */
const HEARD_BY: { readonly [type in Type]?: readonly Type[] } = {
  disclosure: ['disclosure'],
  'hub-replaced': ['hub-replaced'],
  close: ['close', 'reconnect', 'trace'],
  reconnect: ['close', 'reconnect', 'trace'],
  ask: ['close', 'ask', 'trace'],
};

/** Ends that happen on good days, too: the next attempt follows at once, or says more. */
const USUAL: readonly (ErrorCode | undefined)[] = ['dropped', 'timeout', 'kk-refused', 'kk-failed'];

/** A hub chooses some of its sentences: more than so many are not kept. */
const MOST_TOLD = 100;

const NO_TEXT =
  'The identity has no text that says that an AI answers (ai_disclosure): tell whoever asks, and ask the hub’s operator for the text.';

export class Unheard {
  /** What was told since the client was connected last. */
  #told: Set<string> | undefined;
  #isDisclosed = false;

  /** @param isHeard - whether an event of a type has a listener */
  take(event: ClientEvent, isHeard: (type: Type) => boolean): void {
    if (event.type === 'connect') this.#told = undefined;
    const { advice } = event as { advice?: string };
    if (HEARD_BY[event.type]?.some(isHeard) !== false) return void (advice && this.told(advice));
    if (event.type === 'disclosure') this.#disclose(event.text ?? NO_TEXT);
    else if (event.type === 'hub-replaced') warn(event.advice);
    else if (!isUsual(event)) setTimeout(() => this.#once(advice));
  }

  /** A listener is told this, or whoever asks. */
  told(advice: string): void {
    if (this.#told === undefined || this.#told.size === MOST_TOLD) this.#told = new Set();
    this.#told.add(advice);
  }

  /** A console is no conversation: once is enough. */
  #disclose(text: string): void {
    if (!this.#isDisclosed) warn(text);
    this.#isDisclosed = true;
  }

  #once(advice: string | undefined): void {
    if (advice === undefined || this.#told?.has(advice)) return;
    this.told(advice);
    warn(advice.includes('Connecting again') ? advice : `${advice} The client tries again.`);
  }
}

function isUsual(event: ClientEvent): boolean {
  return event.type === 'close' && USUAL.includes(event.error.code);
}

/** Without a console nobody reads it. */
function warn(sentence: string): void {
  globalThis.console?.warn(sentence);
}

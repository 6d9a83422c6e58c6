/**
 * The tab of a page: of all tabs of a browser with one access key, one is connected at a time, and it connects at once when the
 * network, the person, or the page itself is back. What a platform lacks is left out: a page over plain HTTP has no locks, and React
 * Native has no events of a page either.
 */

/**
 * How long a tab waits until it connects with a new static key, in milliseconds: what two tabs see in their storage may differ for a
 * moment, in which both make one.
 */
const SETTLING = 500;

/** What a tab asks and tells its client. */
interface Told {
  /** Whether no hub knows the static key yet. */
  isNew(): boolean;
  /** Connect, if there is a pause. */
  back(): void;
  /** The network has gone, or the page is left: it may be kept, and come back. */
  left(): void;
}

export class Tab {
  readonly #name: string;
  readonly #told: Told;
  #enter: () => void = () => {};
  /** Whether this tab may connect. */
  #isIn = false;
  /** Lets the lock go, or waits for it no longer. */
  #lock: AbortController | undefined;
  /** Ends the listening to the page. */
  #page: AbortController | undefined;

  constructor(accessKey: string, told: Told) {
    this.#name = `hub-keyring ${accessKey}`;
    this.#told = told;
  }

  /** @param enter - called soon, if this tab may connect, or when it may. Only the latest is called */
  enter(enter: () => void): void {
    this.#enter = enter;
    this.#listen();
    if (this.#isIn) queueMicrotask(enter);
    else if (this.#lock === undefined) this.#request();
  }

  /** Lets another tab connect. */
  leave(): void {
    this.#page?.abort();
    this.#page = undefined;
    this.#let();
  }

  #listen(): void {
    if (this.#page !== undefined || typeof addEventListener !== 'function') return;
    this.#page = new AbortController();
    const { signal } = this.#page;
    const back = ({ type }: Event): void => {
      if (type !== 'visibilitychange' || document.visibilityState === 'visible') this.#told.back();
    };
    for (const type of ['online', 'pageshow', 'visibilitychange']) addEventListener(type, back, { signal });
    addEventListener('offline', () => this.#told.left(), { signal });
    // Browsers do not keep a page that has a connection or a lock.
    const left = (): void => {
      this.#told.left();
      this.#let();
    };
    addEventListener('pagehide', left, { signal });
  }

  #request(): void {
    this.#lock = new AbortController();
    const { signal } = this.#lock;
    const admit = (): void => {
      const enter = (): void => {
        if (signal.aborted) return;
        this.#isIn = true;
        this.#enter();
      };
      setTimeout(enter, this.#page !== undefined && this.#told.isNew() ? SETTLING : 0);
    };
    const locks = globalThis.navigator?.locks as LockManager | undefined;
    if (locks === undefined) return void admit();
    const held = (): Promise<unknown> => {
      admit();
      return new Promise((resolve) => signal.addEventListener('abort', resolve));
    };
    locks.request(this.#name, { signal }, held).catch(admit); // a page without an origin has no locks
  }

  #let(): void {
    this.#isIn = false;
    this.#lock?.abort();
    this.#lock = undefined;
  }
}

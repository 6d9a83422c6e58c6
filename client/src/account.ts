/**
 * How much memory a peer makes a hub or a client hold, sans I/O: limits of single messages do not bound the sum. What is held is counted as it
 * lies in memory. A hub counts by access key, and a client has one hub.
 */
import { type Json, JsonNumber } from 'hub-protocol';

/** What can grow, by what makes it grow. */
export type Holding =
  | 'arriving' // a message of a WebSocket, a packet of MQTT, a response of HTTPS
  | 'partial' // a message in the transport messages that have come of it
  | 'unsent' // what the peer does not read
  | 'waiting' // messages that come while a store is asked
  | 'answers' // requests for which the hub's program has no answer yet
  | 'replies' // what a hub has said to a question
  | 'states'; // of sessions, which a hub gives its client

/** What a piece costs at least, in bytes: its object, and its place in a list. */
const LEAST_PIECE = 256;

/** @param length - in bytes */
export function costOf(length: number): number {
  return Math.max(length, LEAST_PIECE);
}

/** What a value costs, in bytes. */
const VALUE = 32;

/** What parsed JSON costs, in bytes. */
export function weightOf(json: Json | undefined): number {
  const values = [json];
  let weight = 0;
  for (let value = values.pop(); value !== undefined; value = values.pop()) {
    weight += VALUE;
    if (typeof value === 'string') weight += 2 * value.length;
    else if (value instanceof JsonNumber) weight += VALUE + value.token.length;
    else if (typeof value === 'object' && value !== null) {
      for (const [name, member] of Object.entries(value)) {
        weight += Array.isArray(value) ? 0 : VALUE + name.length;
        values.push(member as Json);
      }
    }
  }
  return weight;
}

/** A connection or something else that grows, as far as an account needs it. */
export interface Holder {
  /** What was written and has not left, in bytes: it becomes less without a word. */
  unsent(): number;
  /** It holds most, and all together hold too much. */
  end(): void;
}

/** What one connection holds. */
export class Entry {
  readonly #account: Account;
  /** `undefined` for nothing: most connections are idle. */
  #amounts: { [what in Holding]?: number } | undefined;
  readonly key: string | undefined;
  readonly holder: Holder;
  /** In bytes. */
  total = 0;

  constructor(account: Account, key: string | undefined, holder: Holder) {
    this.#account = account;
    this.key = key;
    this.holder = holder;
  }

  /** @param bytes - what is held of it now */
  set(what: Holding, bytes: number): void {
    const by = bytes - (this.#amounts?.[what] ?? 0);
    if (by === 0) return;
    this.total += by;
    if (this.total === 0) this.#amounts = undefined;
    else {
      this.#amounts ??= {};
      this.#amounts[what] = bytes;
    }
    this.#account.change(this, by);
  }

  /** @param bytes - what is held of it in addition, or less */
  add(what: Holding, bytes: number): void {
    this.set(what, (this.#amounts?.[what] ?? 0) + bytes);
  }
}

/** All connections of a hub, or all that a client holds. */
export class Account {
  readonly #maxMemory: number;
  #isRelieving = false;
  readonly #entries = new Set<Entry>();
  /** In bytes. What was written and has not left is counted as it was when more was written. */
  total = 0;

  /** @param maxMemory - in bytes */
  constructor(maxMemory: number) {
    this.#maxMemory = maxMemory;
  }

  /** @param key - of the client. All that name no known key are one */
  open(key: string | undefined, holder: Holder): Entry {
    const entry = new Entry(this, key, holder);
    this.#entries.add(entry);
    return entry;
  }

  /** An entry holds more, or less. One that is closed does not count. */
  change(entry: Entry, by: number): void {
    if (!this.#entries.has(entry)) return;
    this.total += by;
    if (by > 0 && this.total > this.#maxMemory && !this.#isRelieving) this.#relieve();
  }

  /** A connection has ended, and holds nothing any more. */
  close(entry: Entry): void {
    if (this.#entries.delete(entry)) this.total -= entry.total;
  }

  /** Ends the largest connections of those who hold most. */
  #relieve(): void {
    this.#isRelieving = true;
    const totals = new Map<string | undefined, number>();
    for (const entry of this.#entries) {
      entry.set('unsent', entry.holder.unsent());
      totals.set(entry.key, (totals.get(entry.key) ?? 0) + entry.total);
    }
    while (this.total > this.#maxMemory) {
      const [most, total] = largest(totals, ([, total]) => total);
      const entry = largest(this.#entries, ({ key, total }) => (key === most ? total : -1));
      totals.set(most, total - entry.total);
      this.close(entry);
      entry.holder.end();
    }
    this.#isRelieving = false;
  }
}

/** A part of a client's account with a bound of its own. Once it is full, nothing more is kept. */
export class Share {
  readonly #account: Account;
  readonly #entry: Entry;
  readonly #what: Holding;
  readonly #most: number;
  isFull = false;

  /**
   * @param most - in bytes
   * @param end - called in the next microtask when it holds most, and all together hold too much
   */
  constructor(account: Account, what: Holding, most: number, end: () => void) {
    this.#account = account;
    this.#what = what;
    this.#most = most;
    this.#entry = account.open(undefined, { unsent: () => 0, end: () => queueMicrotask(end) });
  }

  /**
   * @param bytes - what is held in addition
   * @returns whether there is room for it
   */
  add(bytes: number): boolean {
    this.isFull ||= this.#entry.total + bytes > this.#most;
    if (!this.isFull) this.#entry.add(this.#what, bytes);
    return !this.isFull;
  }

  /** Nothing of it is held any more. */
  close(): void {
    this.#account.close(this.#entry);
  }
}

function largest<Each>(all: Iterable<Each>, sizeOf: (each: Each) => number): Each {
  let [found, most] = [undefined as Each | undefined, -2];
  for (const each of all) {
    const size = sizeOf(each);
    if (size > most) [found, most] = [each, size];
  }
  return found!;
}

/** How long the buffer is in which a session joins a message (`src/wire/frame-joiner.ts`), in bytes. */
export class Joining {
  readonly #maxMessage: number;
  #length = 0;
  #room = 0;

  constructor(maxMessage: number) {
    this.#maxMessage = maxMessage;
  }

  /** @param length - of a transport message that has completed none, in bytes */
  add(length: number): number {
    this.#length += length - TRANSPORT;
    if (this.#length > this.#maxMessage)
      this.#room = 0; // it is dropped, and nothing is kept of it
    else if (this.#length > this.#room) {
      const double = 2 * this.#room;
      this.#room = Math.max(this.#length, double > this.#maxMessage / 1.1 ? this.#maxMessage : double);
    }
    return this.#room;
  }

  /** A message is complete. */
  end(): void {
    this.#length = this.#room = 0;
  }
}

/** What a transport message has in addition to its part of a message: the marker, and the tag of the cipher. */
const TRANSPORT = 17;

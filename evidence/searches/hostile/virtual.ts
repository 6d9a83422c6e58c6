/**
 * A machine of which the client sees nothing real: time passes when nothing else can happen, and sockets lead to another end in the
 * same process. What uses them is real: `ws`, MQTT.js, and Node's HTTP client. Import this before them.
 */
import http from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import { Duplex } from 'node:stream';

/** The machine's own functions, before they are replaced. */
export const real: {
  readonly setInterval: typeof setInterval;
  readonly setImmediate: typeof setImmediate;
  readonly now: () => number;
} = { setInterval, setImmediate, now: performance.now.bind(performance) };

/** What a socket reads at once, in bytes. */
const MOST_AT_ONCE = 64 * 1024;

/** Made once, since each request over HTTPS has a limit. */
const TIMED_OUT = new DOMException('The operation timed out', 'TimeoutError');

/** How often the loop may turn until nothing happens any more. */
const MOST_TURNS = 200_000;

class Timer {
  at: number;
  readonly every: number | undefined;
  readonly run: () => void;
  /** Whether the client has set it. */
  readonly isClients: boolean;
  isLive = true;

  constructor(at: number, every: number | undefined, run: () => void, isClients: boolean) {
    this.at = at;
    this.every = every;
    this.run = run;
    this.isClients = isClients;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  hasRef(): boolean {
    return this.isLive;
  }

  refresh(): this {
    return this;
  }
}

/** Virtual time in milliseconds. */
export class Time {
  now = 1000;
  #timers: Timer[] = [];
  #activity = 0;
  #immediates = 0;

  /** Notes that something has happened. */
  note(): void {
    this.#activity++;
  }

  /** Calls a function of the peer or of the world later. */
  after(delay: number, run: () => void): void {
    this.#add(delay, undefined, run, false);
  }

  /** How many timers of the client are set. */
  get clients(): number {
    return this.#timers.filter(({ isClients }) => isClients).length;
  }

  /** What the timers of the client do, to find one that was not cleared. */
  get shown(): string {
    const own = this.#timers.filter(({ isClients }) => isClients);
    return own.map(({ at, every, run }) => `${every ?? ''} in ${at - this.now}: ${run}`.slice(0, 200)).join();
  }

  /** Forgets all timers. */
  clear(): void {
    for (const timer of this.#timers) timer.isLive = false;
    this.#timers = [];
  }

  /** Lets time pass. If it passes late, as on a device that was asleep, all that is due is due at its end. */
  async pass(duration: number, isLate = false): Promise<void> {
    await this.settle();
    const end = this.now + duration;
    if (isLate) this.now = end;
    for (let timer = this.#next(end); timer !== undefined; timer = this.#next(end)) {
      this.now = Math.max(this.now, timer.at);
      if (timer.every === undefined || isLate) this.#remove(timer);
      if (timer.every === undefined) timer.isLive = false;
      else {
        timer.at = this.now + timer.every;
        if (isLate) this.#timers.push(timer);
      }
      timer.run();
      await this.settle();
    }
    this.now = Math.max(this.now, end);
  }

  /** Waits until nothing happens unless time passes. */
  async settle(): Promise<void> {
    for (let before = -1, turns = 0; before !== this.#activity || this.#immediates > 0; turns++) {
      if (turns > MOST_TURNS) throw new Error('broken law: the event loop comes to rest');
      before = this.#activity;
      await new Promise((resolve) => real.setImmediate(resolve));
    }
  }

  /** Replaces the functions that read or set a clock. */
  install(): void {
    const set =
      (isRepeated: boolean) =>
      (run: (...all: unknown[]) => void, delay?: unknown, ...all: unknown[]) => {
        // A timer of Node.js takes at least one millisecond, and one that is too long or no number takes one.
        const wait = Number(delay) >= 1 && Number(delay) <= 2 ** 31 - 1 ? Number(delay) : 1;
        return this.#add(wait, isRepeated ? wait : undefined, () => run(...all), true);
      };
    const clear = (timer: unknown): void => {
      if (timer instanceof Timer) this.#remove(timer);
    };
    const replaced = {
      setTimeout: set(false),
      setInterval: set(true),
      clearTimeout: clear,
      clearInterval: clear,
      setImmediate: (run: (...all: unknown[]) => void, ...all: unknown[]) => {
        this.#immediates++;
        return real.setImmediate(() => {
          this.#immediates--;
          this.#activity++;
          run(...all);
        });
      },
    };
    Object.assign(globalThis, replaced);
    performance.now = () => this.now;
    Date.now = () => 1_700_000_000_000 + this.now;
    AbortSignal.timeout = (delay: number) => {
      const stopper = new AbortController();
      this.after(delay, () => stopper.abort(TIMED_OUT));
      return stopper.signal;
    };
  }

  #add(delay: number, every: number | undefined, run: () => void, isClients: boolean): Timer {
    const timer = new Timer(this.now + delay, every, run, isClients);
    this.#timers.push(timer);
    return timer;
  }

  #remove(timer: Timer): void {
    timer.isLive = false;
    const at = this.#timers.indexOf(timer);
    if (at >= 0) this.#timers.splice(at, 1);
  }

  #next(end: number): Timer | undefined {
    let first: Timer | undefined;
    for (const timer of this.#timers)
      if (timer.at <= end && (first === undefined || timer.at < first.at)) first = timer;
    return first;
  }
}

export const time: Time = new Time();

/** The time that the peer takes in this process, which is not the client's, in milliseconds. */
export const peers = { spent: 0 };
let depth = 0;

/** Does the work of a peer. */
export function asPeer<Result>(work: () => Result): Result {
  const began = real.now();
  depth++;
  try {
    return work();
  } finally {
    if (--depth === 0) peers.spent += real.now() - began;
  }
}

function failure(code: string): Error {
  return Object.assign(new Error(`connect ${code} 127.0.0.1:1`), { code, syscall: 'connect' });
}

/** How many writes there were. */
let writes = 0;
/** One in so many writes is done only when the other end has read it, as over TLS. */
const LATE_WRITE = 61;

/** How often bytes were delivered. */
let deliveries = 0;
/** One in so many deliveries has one write only. The others have what a socket would read at once. */
const LONE_DELIVERY = 3;

/** An end of a socket. */
export class End extends Duplex {
  connecting = false;
  other!: End;
  readonly remoteAddress = '127.0.0.1';
  #taken: (() => void) | undefined;
  /** What is on its way to this end, and what to call when it has arrived. */
  readonly #parts: [part: Buffer, done: () => void][] = [];
  #waiting = 0;
  readonly #unblock: (() => void)[] = [];
  #atEnd: (() => void) | undefined;

  constructor() {
    super({ allowHalfOpen: false });
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error) => void): void {
    time.note();
    if (this.connecting) this.once('connect', () => this._write(chunk, _encoding, done));
    else if (this.other.destroyed || this.other.readableEnded) done(failure('EPIPE'));
    else if (++writes % LATE_WRITE === 0) this.other.#take(chunk, done);
    else {
      this.other.#take(chunk, () => {});
      if (this.other.#waiting < MOST_AT_ONCE) done();
      else this.other.#unblock.push(done);
    }
  }

  /** Delivers what has come in a later turn of the loop, as a socket does. */
  #take(chunk: Buffer, done: () => void): void {
    this.#waiting += chunk.length;
    this.#parts.push([chunk, done]);
    if (this.#parts.length === 1) setImmediate(() => this.#deliver());
  }

  #deliver(): void {
    const [part] = this.#parts;
    if (part === undefined || this.destroyed) {
      for (const [, done] of this.#parts.splice(0)) done();
      for (const unblock of this.#unblock.splice(0)) unblock();
      return;
    }
    const now = ++deliveries % LONE_DELIVERY === 0 ? this.#cut(part) : this.#joined();
    this.#waiting -= now.length;
    const isTaken = this.push(now);
    if (this.#waiting < MOST_AT_ONCE) for (const unblock of this.#unblock.splice(0)) unblock();
    if (this.#parts.length === 0) this.#atEnd?.();
    else if (isTaken) setImmediate(() => this.#deliver());
    else this.#taken = () => setImmediate(() => this.#deliver());
  }

  /** Takes one part, or its start. */
  #cut(part: [part: Buffer, done: () => void]): Buffer {
    const now = part[0].subarray(0, MOST_AT_ONCE);
    part[0] = part[0].subarray(MOST_AT_ONCE);
    if (part[0].length === 0) {
      this.#parts.shift();
      part[1]();
    }
    return now;
  }

  /** Takes as many parts as a socket reads at once. */
  #joined(): Buffer {
    const taken: Buffer[] = [];
    for (let length = 0; ; ) {
      const [part] = this.#parts;
      if (part === undefined || (length > 0 && length + part[0].length > MOST_AT_ONCE)) break;
      taken.push(this.#cut(part));
      length += taken.at(-1)!.length;
    }
    return taken.length === 1 ? taken[0]! : Buffer.concat(taken);
  }

  /** Delivers the end, after what is on its way. */
  #finish(): void {
    const finish = (): void => {
      if (!this.destroyed && !this.readableEnded) this.push(null);
    };
    if (this.#parts.length === 0) finish();
    else this.#atEnd = finish;
  }

  override _read(): void {
    const taken = this.#taken;
    if (taken === undefined) return;
    this.#taken = undefined;
    time.note();
    taken();
  }

  override _final(done: () => void): void {
    time.note();
    const finish = (): void => {
      setImmediate(() => {
        this.other.#finish();
        done();
      });
    };
    if (this.connecting) this.once('connect', finish);
    else finish();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    time.note();
    open.delete(this);
    const { other } = this;
    if (!other.destroyed && !other.readableEnded && !other.connecting) {
      // What was not read yet is lost, as after a reset.
      if (error === null) setImmediate(() => other.#finish());
      else other.reset();
    }
    this.#deliver();
    done(error);
  }

  /** The connection breaks, at this end. */
  reset(): void {
    this.destroy(failure('ECONNRESET'));
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  setTimeout(): this {
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  destroySoon(): void {
    this.end(() => this.destroy());
  }
}

/** The client's ends of sockets that are not closed. */
export const open: Set<End> = new Set();

/** How a server takes a connection: it never answers, refuses, or serves it. */
export type Accept = () => 'silence' | 'refuse' | ((end: Duplex) => void);

/** Leads all sockets of this process to a server. */
export function leadTo(accept: Accept): void {
  const dial = (): End => {
    const [own, theirs] = [new End(), new End()];
    own.other = theirs;
    theirs.other = own;
    own.connecting = true;
    open.add(own);
    theirs.on('error', () => {});
    setImmediate(() => {
      if (own.destroyed) return;
      const serve = accept();
      if (serve === 'silence') return;
      own.connecting = false;
      if (serve === 'refuse') {
        own.destroy(failure('ECONNREFUSED'));
        return;
      }
      serve(theirs);
      own.emit('connect');
      own.emit('ready');
    });
    return own;
  };
  Object.assign(net, { connect: dial, createConnection: dial });
  Object.assign(http.Agent.prototype, { createConnection: dial });
  syncBuiltinESMExports();
}

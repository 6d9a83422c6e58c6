/**
 * What must hold of a ClientLink, whatever happens to it: checked at each input and each order. The random lives, the exploration
 * and the fuzzer pass all inputs through it.
 */
import {
  type ClientLink,
  type JsonObject,
  type Keyring,
  type LinkEvent,
  type Order,
  serializeKeyring,
} from '../../src/index.ts';

/** The inputs of a link, by the names of its methods. */
export type Input =
  | 'start'
  | 'opened'
  | 'received'
  | 'closed'
  | 'stored'
  | 'derived'
  | 'computed'
  | 'wake'
  | 'ask'
  | 'cancel'
  | 'send'
  | 'trust'
  | 'change'
  | 'end';

/** A question, and whether it has ended. */
interface Asked {
  readonly envelope: JsonObject;
  readonly id: string;
  /** When it is too late to send it. */
  readonly until: number;
  /** What was told of its answer. */
  readonly parts: readonly string[];
  isDone: boolean;
}

/** Calls a link. `args` has all arguments but the time. */
export function invoke(link: ClientLink, name: Input, args: readonly unknown[], now: number): Order[] {
  if (name === 'ask') return link.ask(args[0] as JsonObject, now, args[1] as number | undefined);
  if (name === 'stored') return link.stored(args[0], now);
  return (link[name] as (...all: unknown[]) => Order[]).call(link, ...args, now);
}

export class Laws {
  /** How long a hub has for each of its messages, in milliseconds. */
  private readonly patience: number;
  private readonly broken: (law: string) => never;
  /** The number of the latest connection, whether its transport is there, and when it was opened. */
  private connection = 0;
  private isOpen = false;
  private openedAt = 0;
  private isStoring = false;
  /** The number of the latest derivation, and whether it runs. */
  private derivation = 0;
  private isDeriving = false;
  /** Since `end`, or before the first `start`. */
  private isOver = false;
  /** Since a person was asked. */
  private isAsking = false;
  /** No dial is due before. */
  private dueAt = -Infinity;
  /** Whether a wish of the program or the person is held while a keyring is being stored. */
  private holdsWish = false;
  private questions: Asked[] = [];

  constructor(patience: number, broken: (law: string) => never) {
    this.patience = patience;
    this.broken = broken;
  }

  copy(): Laws {
    const questions = this.questions.map((question) => ({ ...question }));
    return Object.assign(Object.create(Laws.prototype) as Laws, this, { questions });
  }

  /** Gives a link an input, and checks its orders. */
  call(link: ClientLink, name: Input, args: readonly unknown[], now: number): Order[] {
    const { deadline } = link;
    const wasDue = deadline !== undefined && deadline <= now;
    const isLate = this.note(name, args, now);
    let orders: Order[];
    try {
      orders = invoke(link, name, args, now);
    } catch (error) {
      if (name === 'trust' && (error as { code?: string }).code === 'wrong-state') return [];
      throw Object.assign(new Error(`${name} threw`), { cause: error });
    }
    this.law(!isLate || wasDue || orders.length === 0, 'what comes late changes nothing');
    orders.forEach((order, i) => {
      this.check(order, now, link.keyring);
      this.law(order.do !== 'store' || i === orders.length - 1, 'store is the last order of its batch');
    });
    if (!this.isStoring) this.holdsWish = false;
    if (this.isOver) this.law(link.state === 'ended', 'end is final');
    this.law(
      link.state !== 'asking' || this.isAsking || this.holdsWish,
      'a person is told what they are asked',
    );
    this.law(link.deadline === undefined || Number.isFinite(link.deadline), 'the deadline is a time');
    return orders;
  }

  /** Whether all questions have ended. */
  get areAllDone(): boolean {
    return this.questions.every(({ isDone }) => isDone);
  }

  /** Facts about what may still happen, to tell states apart. */
  get facts(): string {
    const open = this.questions.filter(({ isDone }) => !isDone).length;
    return `${this.isOpen} ${this.isStoring} ${this.isDeriving} ${this.isOver} ${this.isAsking} ${this.holdsWish} ${open}`;
  }

  private law(holds: boolean, law: string): void {
    if (!holds) this.broken(`broken law: ${law}`);
  }

  /** Notes what an input means. Returns whether it comes from something that is over. */
  private note(name: Input, args: readonly unknown[], now: number): boolean {
    const [number] = args;
    switch (name) {
      case 'received':
      case 'opened':
      case 'computed':
        return number !== this.connection || !this.isOpen;
      case 'closed': {
        const isLate = number !== this.connection || !this.isOpen;
        if (!isLate) this.isOpen = false;
        return isLate;
      }
      case 'derived': {
        const isLate = number !== this.derivation || !this.isDeriving;
        if (!isLate) this.isDeriving = false;
        return isLate;
      }
      case 'stored': {
        const isLate = !this.isStoring;
        this.isStoring = false;
        return isLate;
      }
      case 'ask': {
        const envelope = args[0] as JsonObject;
        const { context } = (envelope.payload ?? {}) as { context?: { request_id?: string } };
        const until = now + ((args[1] as number | undefined) ?? 60_000);
        this.questions.push({ envelope, id: context?.request_id ?? '', until, parts: [], isDone: false });
        return false;
      }
      case 'cancel':
        for (const one of this.questions) if (one.envelope === args[0]) one.isDone = true;
        return false;
      case 'end':
        this.isOver = true;
        this.isAsking = this.holdsWish = false;
        return false;
      case 'start':
      case 'change':
      case 'trust':
        if (this.isStoring && name !== 'start') this.holdsWish = true;
        this.isOver = this.isAsking = false;
        this.dueAt = -Infinity;
        return false;
      default:
        return false;
    }
  }

  private check(order: Order, now: number, stored: Keyring): void {
    const isHeld = this.isStoring;
    if (this.isOver) {
      const isAnswer = order.do === 'tell' && ['finish', 'unsent', 'end', 'trace'].includes(order.event.type);
      const isEnd = isAnswer || order.do === 'close' || order.do === 'stop-deriving';
      this.law(isEnd, 'after end nothing is ordered');
    }
    switch (order.do) {
      case 'open':
        this.law(!isHeld, 'nothing is opened while a keyring is being stored');
        this.law(order.connection > this.connection, 'numbers of connections grow');
        this.law(!this.isOpen, 'there is one connection');
        this.law(this.holdsWish || now >= this.dueAt, 'it dials when the policy says');
        this.connection = order.connection;
        this.isOpen = true;
        this.openedAt = now;
        break;
      case 'write':
        this.law(!isHeld, 'nothing is written while a keyring is being stored');
        this.law(this.isOpen && order.connection === this.connection, 'what is over is not written to');
        break;
      case 'close':
        this.law(this.isOpen && order.connection === this.connection, 'a connection is closed once');
        this.isOpen = false;
        break;
      case 'store':
        this.law(!isHeld, 'one keyring is stored at a time');
        this.law(serializeKeyring(order.keyring) !== serializeKeyring(stored), 'what is stored has changed');
        this.isStoring = true;
        break;
      case 'derive':
        this.law(!this.isDeriving, 'one derivation runs at a time');
        this.law(order.derivation > this.derivation, 'numbers of derivations grow');
        this.derivation = order.derivation;
        this.isDeriving = true;
        break;
      case 'stop-deriving':
        this.law(this.isDeriving, 'only a running derivation is stopped');
        this.isDeriving = false;
        break;
      case 'compute':
        this.law(order.connection === this.connection, 'it computes for the latest connection');
        break;
      case 'tell':
        this.hear(order.event, now);
        break;
      default:
        order satisfies never; // an order that is new
    }
  }

  private hear(event: LinkEvent, now: number): void {
    if (event.type === 'finish') {
      const { requestId, reply, isTruncated } = event;
      const parts = this.finish((one) => one.id === requestId, 'only questions finish')?.parts ?? [];
      this.law(isTruncated || parts.join(' ') === reply.text, 'the parts together are the reply');
    } else if (event.type === 'part') {
      const index = this.questions.findIndex(({ id, isDone }) => id === event.requestId && !isDone);
      this.law(index >= 0, 'only questions have parts');
      const question = this.questions[index]!;
      this.questions[index] = { ...question, parts: [...question.parts, event.text] };
    } else if (event.type === 'trace' && 'envelope' in event.what) {
      const { envelope } = event.what;
      const question = this.questions.find((one) => one.envelope === envelope);
      this.law(question === undefined || (!question.isDone && now < question.until), 'nothing stale is sent');
    } else if (event.type === 'unsent') this.finish((one) => one.envelope === event.message);
    else if (event.type === 'connect') this.isAsking = false;
    else if (event.type === 'reconnect' || event.type === 'ask') {
      this.dueAt = now + event.after;
      if (event.type === 'ask') this.isAsking = true;
    } else if (event.type === 'close' && event.error.code === 'timeout') {
      this.law(now >= this.openedAt + this.patience, 'a hub has its time');
    }
  }

  /** @param law - if there must be such a question */
  private finish(isIt: (one: Asked) => boolean, law?: string): Asked | undefined {
    const question = this.questions.filter(isIt).find(({ isDone }) => !isDone);
    if (question !== undefined) question.isDone = true;
    else this.law(law === undefined && !this.questions.some(isIt), law ?? 'a question ends once');
    return question;
  }
}

/**
 * The questions of a link. Each waits here until a connection is ready, and then in the scheduler of that connection until its
 * session is free. One that was not sent when the connection ends waits for the next.
 */
import type { LocalError, RemoteError } from '../errors.ts';
import type { RequestDecision, SendDecision } from '../requests/request-scheduler.ts';
import type { JsonObject } from '../wire/json.ts';
import { merged, retyped } from './events.ts';
import type { LinkOptions } from './options.ts';
import type { FinishTold, LinkEvent } from './orders.ts';

/** Seals a message and writes it. Returns whether that could be done. */
export type Write = (
  message: JsonObject | Uint8Array,
  onError: (error: LocalError | RemoteError) => void,
) => boolean;

/** Says which reply belongs to which question. */
type Scheduler = ReturnType<NonNullable<LinkOptions['requests']>>;

/** A question that has not been sent. */
interface Question {
  readonly envelope: JsonObject;
  /** When it is too late to send it. */
  readonly until: number;
  /** Whether the scheduler has it. */
  isHanded: boolean;
}

export class Questions {
  private waiting: Question[] = [];
  private scheduler: Scheduler | undefined = undefined;
  private readonly tell: (event: LinkEvent) => void;
  private readonly write: Write;

  constructor(tell: (event: LinkEvent) => void, write: Write) {
    this.tell = tell;
    this.write = write;
  }

  /** @param until - when it is too late to send the question */
  ask(envelope: JsonObject, until: number): void {
    this.waiting.push({ envelope, until, isHanded: false });
  }

  /** A connection is ready. */
  begin(scheduler: Scheduler | undefined): void {
    this.scheduler = scheduler;
  }

  /** Something that is not a question was sent. */
  noteSent(now: number): void {
    this.scheduler?.noteSent(now);
  }

  /** Takes a message of the hub. */
  receive(text: string, now: number): void {
    if (this.scheduler === undefined) this.tell({ type: 'text', text });
    else this.follow(this.scheduler.receive(text, now), now);
  }

  /** The connection has ended. What was sent ends with it. */
  close(error: LocalError | RemoteError, now: number): void {
    const { scheduler, waiting } = this;
    this.scheduler = undefined;
    for (let i = 0; i < waiting.length; i++) waiting[i]!.isHanded = false;
    if (scheduler !== undefined) this.follow(scheduler.closed(), now, error);
  }

  /** Drops all questions that were not sent. */
  dropAll(error: LocalError | RemoteError): void {
    this.dropUntil(Infinity, error);
  }

  /** Drops the questions that should have been sent by `now`. */
  dropUntil(now: number, error: LocalError | RemoteError): void {
    const late = this.waiting.filter(({ until }) => until <= now);
    for (let i = 0; i < late.length; i++) this.drop(late[i]!, error);
  }

  /** Sends the next question, or ends questions that the hub has not answered. Returns whether there was anything to do. */
  doDue(now: number): boolean {
    const { scheduler } = this;
    if (scheduler === undefined) return false;
    const question = this.waiting.filter(({ isHanded }) => !isHanded)[0];
    if (question !== undefined) this.hand(question, scheduler, now);
    else if (scheduler.nextDeadline(now) === 0) this.follow(scheduler.expire(now), now);
    else return false;
    return true;
  }

  /** When the questions that were not sent are late. */
  get lateTimes(): number[] {
    return this.waiting.map(({ until }) => until);
  }

  /** How long until `doDue` has something to do, in milliseconds. */
  nextDeadline(now: number): number | undefined {
    return this.scheduler?.nextDeadline(now);
  }

  private hand(question: Question, scheduler: Scheduler, now: number): void {
    question.isHanded = true;
    let decisions: RequestDecision[];
    try {
      decisions = scheduler.request(question.envelope, now);
    } catch (error) {
      this.drop(question, error as LocalError);
      return;
    }
    this.follow(decisions, now);
  }

  /** The question was not sent, and will not be. */
  private drop(question: Question, error: LocalError | RemoteError): void {
    this.waiting = this.waiting.filter((other) => other !== question);
    this.tell({ type: 'unsent', message: question.envelope, error });
  }

  /** Carries out the scheduler's decisions. */
  private follow(decisions: readonly RequestDecision[], now: number, error?: LocalError | RemoteError): void {
    for (let i = 0; i < decisions.length; i++) {
      const decision = decisions[i]!;
      if (decision.do === 'handle') this.tell({ type: 'message', message: decision.event });
      else if (decision.do === 'send') this.send(decision, now);
      else if (decision.wasSent) this.tell(merged(retyped<FinishTold>(decision, 'finish'), { error }));
    }
  }

  /** Sends a question, unless it was dropped while its session was busy. */
  private send({ envelope, requestId }: SendDecision, now: number): void {
    const question = this.waiting.filter((one) => one.envelope === envelope)[0];
    let isSent = false;
    if (question !== undefined) {
      isSent = this.write(envelope, (error) => this.drop(question, error));
      this.waiting = this.waiting.filter((other) => other !== question);
    }
    if (isSent) return;
    const next = this.scheduler!.cancel(requestId, now);
    this.follow(
      next.filter((decision) => decision.do !== 'finish'),
      now,
    );
  }
}

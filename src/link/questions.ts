/**
 * The questions of a link. Each waits here until a connection is ready, and then in the scheduler of that connection until its
 * session is free. One that was not sent when the connection ends waits for the next.
 */
import type { LocalError, RemoteError } from '../errors.ts';
import { assertNotFull } from '../memory.ts';
import type { HubEvent } from '../requests/hub-event.ts';
import type {
  FinishDecision,
  PartDecision,
  RequestDecision,
  SendDecision,
} from '../requests/request-scheduler.ts';
import type { JsonObject } from '../wire/json.ts';
import { merged, remove, retyped } from './events.ts';
import type { LinkOptions } from './options.ts';
import type { FinishTold, LinkEvent, PartTold } from './orders.ts';

/** Seals a message and writes it. Returns whether that could be done. */
export type Write = (
  message: JsonObject | Uint8Array,
  onError: (error: LocalError | RemoteError) => void,
) => boolean;

/** Says which reply belongs to which question. */
type Scheduler = ReturnType<NonNullable<LinkOptions['requests']>>;

/** A question that has not ended. */
interface Question {
  readonly envelope: JsonObject;
  /** When it is too late to send it. */
  until: number;
  /** Whether it is then too late for its answer, too. */
  readonly isLimited: boolean;
  /** Whether the scheduler has it. */
  isHanded: boolean;
  /** The id of its request, once it was sent. */
  id: string | undefined;
}

/** A hub, and what its replies have shown: see `RequestScheduler`. */
interface KnownHub {
  readonly nodeId: string;
  saysHandled: boolean | undefined;
}

const NONE: readonly RequestDecision[] = [];

export class Questions {
  private readonly open: Question[] = [];
  private scheduler: Scheduler | undefined = undefined;
  /** The hubs that were connected, and the one of the scheduler. */
  private readonly hubs: KnownHub[] = [];
  private hub: KnownHub | undefined = undefined;
  /** What the scheduler has decided, and was perhaps not carried out: memory may have ended. */
  private decisions: readonly RequestDecision[] = NONE;
  private readonly tell: (event: LinkEvent) => void;
  private readonly write: Write;

  constructor(tell: (event: LinkEvent) => void, write: Write) {
    this.tell = tell;
    this.write = write;
  }

  /**
   * @param until - when it is too late to send the question
   * @param isLimited - whether it is then too late for its answer, too
   */
  ask(envelope: JsonObject, until: number, isLimited: boolean): void {
    this.open.push({ envelope, until, isLimited, isHanded: false, id: undefined });
  }

  /** The id of the request of a question that was sent, and has not ended. */
  idOf(envelope: JsonObject): string | undefined {
    return this.questionOf(envelope)?.id;
  }

  /** Forgets a question, without memory. */
  forget(envelope: JsonObject): void {
    const { open } = this;
    for (let i = 0; i < open.length; i++) if (open[i]!.envelope === envelope) remove(open, open[i]!);
  }

  /** Lets the next question of a session have its turn, since nobody waits for this one. */
  free(id: string, now: number): void {
    if (this.scheduler !== undefined) this.follow(this.scheduler.cancel(id, now), now);
  }

  /** A connection is ready. What an earlier one to the same hub has shown is known. */
  begin(scheduler: Scheduler | undefined, nodeId: string): void {
    if (scheduler !== undefined) {
      const known = this.hubs.filter((one) => one.nodeId === nodeId)[0];
      const hub = known ?? { nodeId, saysHandled: undefined };
      if (known === undefined) this.hubs.push(hub);
      scheduler.saysHandled = hub.saysHandled ?? scheduler.saysHandled;
      this.hub = hub;
    }
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
    const { scheduler, open } = this;
    if (scheduler !== undefined) {
      this.hub!.saysHandled = scheduler.saysHandled;
      this.follow(this.decisions, now, error);
      this.follow(scheduler.closed(), now, error);
    }
    this.scheduler = undefined;
    for (let i = 0; i < open.length; i++) open[i]!.isHanded = false;
  }

  /** Drops all questions that were not sent. */
  dropAll(error: LocalError | RemoteError): void {
    this.dropUntil(Infinity, error);
  }

  /** Drops the questions that should have been sent by `now`. */
  dropUntil(now: number, error: LocalError | RemoteError): void {
    const { open } = this;
    for (let i = 0; i < open.length; ) {
      if (open[i]!.until <= now) this.drop(open[i]!, error);
      else i++;
    }
  }

  /** Sends the next question, or ends questions that the hub has not answered. Returns whether there was anything to do. */
  doDue(now: number): boolean {
    const { scheduler } = this;
    if (scheduler === undefined) return false;
    const question = this.open.filter(({ isHanded }) => !isHanded)[0];
    if (question !== undefined) this.hand(question, scheduler, now);
    else if (scheduler.nextDeadline(now) === 0) this.follow(scheduler.expire(now), now);
    else return false;
    return true;
  }

  /** When the first question that was not sent is late; Infinity if there is none. */
  get lateAt(): number {
    let at = Infinity;
    for (let i = 0; i < this.open.length; i++) at = Math.min(at, this.open[i]!.until);
    return at;
  }

  /** How long until `doDue` has something to do, in milliseconds. */
  nextDeadline(now: number): number | undefined {
    return this.scheduler?.nextDeadline(now);
  }

  private hand(question: Question, scheduler: Scheduler, now: number): void {
    question.isHanded = true;
    let decisions: RequestDecision[];
    try {
      const timeout = question.isLimited ? question.until - now : undefined;
      decisions = scheduler.request(question.envelope, now, timeout);
    } catch (error) {
      assertNotFull(error);
      this.drop(question, error as LocalError);
      return;
    }
    this.follow(decisions, now);
  }

  /** The question was not sent, and will not be. */
  private drop(question: Question, error: LocalError | RemoteError): void {
    this.tell({ type: 'unsent', message: question.envelope, error });
    remove(this.open, question);
  }

  /** Carries out the scheduler's decisions; after the end of the connection, only which questions have ended. */
  private follow(decisions: readonly RequestDecision[], now: number, error?: LocalError | RemoteError): void {
    this.decisions = decisions;
    for (let i = 0; i < decisions.length; i++) {
      const decision = decisions[i]!;
      if (decision.do === 'finish') this.finish(decision, error);
      else if (error !== undefined) continue;
      else if (decision.do === 'handle') this.tell({ type: 'message', message: decision.event });
      else if (decision.do === 'part') this.tellPart(decision);
      else this.send(decision, now);
    }
    this.decisions = NONE;
  }

  private tellPart(decision: PartDecision): void {
    if (this.sent(decision.requestId) === undefined) return; // nobody waits for it
    const told = retyped<PartTold & { event?: HubEvent }>(decision, 'part');
    delete told.event;
    this.tell(merged(told, { message: decision.event }));
  }

  /** A question has ended. One that was not sent waits for the next connection. */
  private finish(decision: FinishDecision, error: LocalError | RemoteError | undefined): void {
    const question = this.sent(decision.requestId);
    if (question === undefined) return;
    this.tell(merged(retyped<FinishTold>(decision, 'finish'), { error }));
    remove(this.open, question);
  }

  private sent(requestId: string): Question | undefined {
    return this.open.filter(({ id }) => id === requestId)[0];
  }

  private questionOf(envelope: JsonObject): Question | undefined {
    return this.open.filter((one) => one.envelope === envelope)[0];
  }

  /** Sends a question, unless it was dropped while its session was busy. */
  private send({ envelope, requestId }: SendDecision, now: number): void {
    const question = this.questionOf(envelope);
    if (question !== undefined) {
      question.id = requestId;
      question.until = Infinity;
      if (this.write(envelope, (error) => this.drop(question, error))) return;
    }
    this.follow(this.scheduler!.cancel(requestId, now), now);
  }
}

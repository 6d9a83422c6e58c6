/**
 * The questions of a link. Each waits here until a connection is ready, and then in the scheduler of that connection until its
 * session is free. One that was not sent when the connection ends waits for the next.
 */
import type { LocalError, RemoteError } from '../errors.ts';
import * as errors from '../errors-table.ts';
import { MAX_REQUESTS } from '../limits.ts';
import { assertNotFull } from '../memory.ts';
import { remove } from '../requests/deadlines.ts';
import type { HubEvent } from '../requests/hub-event.ts';
import type {
  FinishDecision,
  PartDecision,
  RequestDecision,
  SendDecision,
} from '../requests/request-scheduler.ts';
import type { JsonObject } from '../wire/json.ts';
import { merged, retyped } from './events.ts';
import type { LinkOptions } from './options.ts';
import type { FinishEvent, LinkEvent, PartEvent } from './orders.ts';

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
  readonly until: number;
  /** Whether it is then too late for its answer, too. */
  readonly isLimited: boolean;
  /** The id of its request, once it was sent. */
  id: string | undefined;
  /** Whether nobody waits for its answer. */
  isForgotten: boolean;
}

/** What the replies of a hub have shown: see `RequestScheduler`. */
interface KnownHub {
  saysHandled: boolean | undefined;
}

export class Questions {
  /** Those that were not sent, in the order in which they were asked. */
  private readonly unsent: Question[] = [];
  /** How many of them, from the first, the scheduler has. */
  private handed = 0;
  /** Whether each is late after those before it, as without timeouts of their own. */
  private isInOrder = true;
  /** Those that were sent, by their ids. */
  private sent: { [key: string]: Question | undefined } = {};
  private scheduler: Scheduler | undefined = undefined;
  /** The hubs that were connected, by their ids, and the one of the scheduler. */
  private readonly hubs: { [key: string]: KnownHub | undefined } = {};
  private hub: KnownHub | undefined = undefined;
  private readonly tell: (event: LinkEvent) => void;
  private readonly write: Write;

  constructor(tell: (event: LinkEvent) => void, write: Write) {
    this.tell = tell;
    this.write = write;
  }

  /**
   * @param until - when it is too late to send the question
   * @param isLimited - whether it is then too late for its answer, too
   * @throws LocalError `too-many-requests`
   */
  ask(envelope: JsonObject, until: number, isLimited: boolean): void {
    if (this.unsent.length >= MAX_REQUESTS) {
      throw errors.tooManyRequests();
    }
    const { unsent } = this;
    const last = unsent[unsent.length - 1];
    this.isInOrder = last === undefined || (this.isInOrder && last.until <= until);
    unsent.push({ envelope, until, isLimited, id: undefined, isForgotten: false });
  }

  /** The question that an envelope asks. */
  questionOf(envelope: JsonObject): Question | undefined {
    const { sent } = this;
    const all = Object.keys(sent).map((id) => sent[id]!);
    return (
      unsentOf(this.unsent, envelope) ?? all.filter((one) => one.envelope === envelope && !one.isForgotten)[0]
    );
  }

  /** Forgets a question. */
  forget(question: Question): void {
    if (question.id === undefined) this.leave(question);
    else question.isForgotten = true;
  }

  /** Lets the next question of a session have its turn, since nobody waits for this one. */
  free(id: string, now: number): void {
    if (this.scheduler !== undefined) this.follow(this.scheduler.cancel(id, now), now);
  }

  /** A connection is ready. What an earlier one to the same hub has shown is known. */
  begin(scheduler: Scheduler | undefined, nodeId: string): void {
    if (scheduler !== undefined) {
      this.hub = this.hubs[key(nodeId)] ??= { saysHandled: undefined };
      scheduler.saysHandled = this.hub.saysHandled ?? scheduler.saysHandled;
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
    const { scheduler } = this;
    if (scheduler !== undefined) {
      this.hub!.saysHandled = scheduler.saysHandled;
      this.follow(scheduler.closed(), now, error);
    }
    this.scheduler = undefined;
    this.handed = 0;
  }

  /** Drops all questions that were not sent. */
  dropAll(error: LocalError | RemoteError): void {
    this.dropUntil(Infinity, error);
  }

  /** Drops the questions that should have been sent by `now`. */
  dropUntil(now: number, error: LocalError | RemoteError): void {
    const { unsent } = this;
    for (let i = 0; i < unsent.length; ) {
      if (unsent[i]!.until <= now) this.drop(unsent[i]!, error);
      else i++;
    }
  }

  /** Sends the next question, or ends questions that the hub has not answered. Returns whether there was anything to do. */
  doDue(now: number): boolean {
    const { scheduler } = this;
    if (scheduler === undefined) return false;
    const question = this.unsent[this.handed];
    if (question !== undefined) this.hand(question, scheduler, now);
    else if (scheduler.nextDeadline(now) === 0) this.follow(scheduler.expire(now), now);
    else return false;
    return true;
  }

  /** When the first question that was not sent is late; Infinity if there is none. */
  get lateAt(): number {
    const { unsent } = this;
    let at = Infinity;
    for (let i = 0; i < unsent.length; i++) {
      at = Math.min(at, unsent[i]!.until);
      if (this.isInOrder) break;
    }
    return at;
  }

  /** How long until `doDue` has something to do, in milliseconds. */
  nextDeadline(now: number): number | undefined {
    return this.scheduler?.nextDeadline(now);
  }

  private hand(question: Question, scheduler: Scheduler, now: number): void {
    this.handed++;
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
    if (question.id === undefined) this.leave(question);
    else delete this.sent[key(question.id)];
  }

  /** A question is no longer among those that were not sent. */
  private leave(question: Question): void {
    if (this.unsent.indexOf(question) < this.handed) this.handed--;
    remove(this.unsent, question);
  }

  /** Carries out the scheduler's decisions; after the end of the connection, only which questions have ended. */
  private follow(decisions: readonly RequestDecision[], now: number, error?: LocalError | RemoteError): void {
    for (let i = 0; i < decisions.length; i++) {
      const decision = decisions[i]!;
      if (decision.do === 'finish') this.finish(decision, error);
      else if (error !== undefined) continue;
      else if (decision.do === 'handle') this.tell({ type: 'message', message: decision.event });
      else if (decision.do === 'part') this.tellPart(decision);
      else this.send(decision, now);
    }
  }

  private tellPart(decision: PartDecision): void {
    if (this.sent[key(decision.requestId)]?.isForgotten !== false) return; // nobody waits for it
    const told = retyped<PartEvent & { event?: HubEvent }>(decision, 'part');
    delete told.event;
    this.tell(merged(told, { message: decision.event }));
  }

  /** A question has ended. One that was not sent waits for the next connection. */
  private finish(decision: FinishDecision, error: LocalError | RemoteError | undefined): void {
    const id = key(decision.requestId);
    const question = this.sent[id];
    if (question === undefined) return;
    if (!question.isForgotten) this.tell(merged(retyped<FinishEvent>(decision, 'finish'), { error }));
    delete this.sent[id];
  }

  /** Sends a question, unless it was dropped while its session was busy. */
  private send({ envelope, requestId }: SendDecision, now: number): void {
    const question = unsentOf(this.unsent, envelope);
    if (question !== undefined) {
      this.sent[key(requestId)] = question;
      this.leave(question);
      question.id = requestId;
      if (this.write(envelope, (error) => this.drop(question, error))) return;
    }
    this.follow(this.scheduler!.cancel(requestId, now), now);
  }
}

/** Prefixed, since an id may be `__proto__`. */
function key(id: string): string {
  return `:${id}`;
}

/** The first question with an envelope. It is near the front, unless other sessions are busy. */
function unsentOf(unsent: readonly Question[], envelope: JsonObject): Question | undefined {
  for (let i = 0; i < unsent.length; i++) if (unsent[i]!.envelope === envelope) return unsent[i];
  return undefined;
}

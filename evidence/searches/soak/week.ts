/**
 * A week of clock through ConnectionPolicy, with real sessions: each hour the hub is in another trouble, or in none. What a
 * person is asked is answered at the next full hour.
 */
import { ConnectionPolicy, type PolicyDecision, type SessionEvent } from '../../../src/index.ts';
import { Clock } from '../../../test/world/clock.ts';
import type { Policy } from '../../../test/world/device.ts';
import type { Hub, Transport } from '../../../test/world/network.ts';
import { seeded } from '../../../test/world/random.ts';
import { startClient } from '../simulate/client.ts';
import { TROUBLES } from '../simulate/hubs.ts';
import { memoryInUse, Samples } from './memory.ts';

const HOUR = 3_600_000;

/** The troubles that depend on no hour, and the hub without any, which a proxy cuts off each minute. */
const HUBS: readonly Hub[] = TROUBLES.filter(({ name }) => !name.startsWith('restarts')).map(
  ({ hub }) => hub,
);
const STEADY = TROUBLES.find(({ name }) => name.includes('proxy'))!.hub;

/** A policy with a person. */
class Attended implements Policy {
  readonly #policy = new ConnectionPolicy({ randomBytes: seeded(1) });
  questions = 0;

  begin(now: number): ReturnType<Policy['begin']> {
    if (this.#policy.state === 'asking') this.#policy.resume();
    return this.#policy.begin(now);
  }

  deadline(state: string, now: number): number | undefined {
    return this.#policy.deadline(state, now);
  }

  take(event: SessionEvent, now: number): PolicyDecision | undefined {
    const decision = this.#policy.take(event, now);
    if (decision?.do !== 'ask') return decision;
    this.questions++;
    return { do: 'dial', after: HOUR - (now % HOUR), tell: undefined };
  }
}

export interface Week {
  readonly dials: number;
  readonly questions: number;
  /** The part of the time in which the client was ready. */
  readonly ready: number;
  readonly growth: number;
}

/** Throws if the client dials more than 120 times in an hour, or is not back at the end, after two hours without trouble. */
export async function week(
  days: number,
  transport: Transport,
  progress: (share: number) => void,
): Promise<Week> {
  const clock = new Clock();
  const random = seeded(7);
  let hub = STEADY;
  const changing: Hub = {
    isUp: (now) => hub.isUp?.(now) ?? true,
    get status() {
      return hub.status as number;
    },
    accept: (link, clock) => hub.accept(link, clock),
  };
  const policy = new Attended();
  const report = startClient(clock, transport, changing, policy, true);
  const samples = new Samples();
  const hours = 24 * days;
  for (let hour = 1; hour <= hours; hour++) {
    const before = report.dials;
    clock.runUntil(hour * HOUR);
    if (report.dials - before > 120) throw new Error(`${report.dials - before} dials in an hour`);
    hub = hour >= hours - 2 || random(1)[0]! % 2 === 0 ? STEADY : HUBS[random(1)[0]! % HUBS.length]!;
    samples.add(await memoryInUse());
    progress(hour / hours);
  }
  if (report.readySince === undefined && report.readyFor === 0) throw new Error('the client was never ready');
  if (report.readySince === undefined || clock.now - report.readySince > 120_000)
    throw new Error('the client is not back');
  const ready = report.readyFor + clock.now - report.readySince;
  return {
    dials: report.dials,
    questions: policy.questions,
    ready: ready / clock.now,
    growth: samples.growth,
  };
}

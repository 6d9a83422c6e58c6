/**
 * A week of clock through a ClientLink: each hour the hub is in another trouble, or in none. What a person is asked is answered at
 * the next full hour.
 */
import { Clock } from '../../../test/world/clock.ts';
import type { Hub, HubLink, Transport } from '../../../test/world/network.ts';
import { seeded } from '../../../test/world/random.ts';
import { startClient } from '../simulate/client.ts';
import { TROUBLES } from '../simulate/hubs.ts';
import { memoryInUse, Samples } from './memory.ts';

const HOUR = 3_600_000;
/** In an hour: a hub that is up for a minute and down for half of one is dialled some five times in each of its 40 turns. */
const MOST_DIALS = 300;

/** The troubles that depend on no hour, and the hub without any, which a proxy cuts off each minute. */
const HUBS: readonly Hub[] = TROUBLES.filter(({ name }) => !name.startsWith('restarts')).map(
  ({ hub }) => hub,
);
const STEADY = TROUBLES.find(({ name }) => name.includes('proxy'))!.hub;

export interface Week {
  readonly dials: number;
  readonly questions: number;
  /** The part of the time in which the client was ready. */
  readonly ready: number;
  readonly growth: number;
}

/** Throws if the client dials more than `MOST_DIALS` times in an hour, or is not back at the end, after two hours without trouble. */
export async function week(days: number, over: Transport, progress: (share: number) => void): Promise<Week> {
  const clock = new Clock();
  const random = seeded(7);
  let hub = STEADY;
  let connection: HubLink | undefined;
  const changing: Hub = {
    isUp: (now) => hub.isUp?.(now) ?? true,
    get status() {
      return hub.status as number;
    },
    accept(link, clock) {
      connection = link;
      return hub.accept(link, clock);
    },
  };
  const report = startClient({
    clock,
    over,
    hub: changing,
    isKnown: true,
    seed: 1,
    hear({ type }, client) {
      if (type === 'ask') clock.after(HOUR - (clock.now % HOUR), () => client.call('start'));
    },
  });
  const samples = new Samples();
  const hours = 24 * days;
  for (let hour = 1; hour <= hours; hour++) {
    const before = report.dials;
    clock.runUntil(hour * HOUR);
    if (report.dials - before > MOST_DIALS) throw new Error(`${report.dials - before} dials in an hour`);
    connection?.breakDown(); // some hubs in trouble never end it
    hub = hour >= hours - 2 || random(1)[0]! % 2 === 0 ? STEADY : HUBS[random(1)[0]! % HUBS.length]!;
    samples.add(await memoryInUse());
    progress(hour / hours);
  }
  if (report.readySince === undefined && report.readyFor === 0) throw new Error('the client was never ready');
  if (report.readySince === undefined || clock.now - report.readySince > 120_000)
    throw new Error('the client is not back');
  report.client.call('end');
  if (!report.client.laws.areAllDone) throw new Error('broken law: every question ends');
  const ready = report.readyFor + clock.now - report.readySince;
  return {
    dials: report.dials,
    questions: report.questions,
    ready: ready / clock.now,
    growth: samples.growth,
  };
}

/** An hour of a client and a hub in trouble, and how the table in docs/reference/policy.md reports it. */
import type { ClientLink } from '../../../src/index.ts';
import { ConnectionPolicy, type PolicyDecision, type SessionEvent } from '../../../src/parts.ts';
import { Clock } from '../../../test/world/clock.ts';
import type { Transport } from '../../../test/world/network.ts';
import { seeded } from '../../../test/world/random.ts';
import { type Report, startClient } from './client.ts';
import type { Trouble } from './hubs.ts';

const HOUR = 3_600_000;
const SEEDS = [1, 2, 3, 4, 5];

/** No policy but the deadlines: does what `retry` says, `now` at once, `later` after a second. */
class ObeysRetry extends ConnectionPolicy {
  override begin(now: number): object {
    this.resume();
    super.begin(now);
    return {};
  }

  override take(event: SessionEvent, now: number): PolicyDecision | undefined {
    const decision = super.take(event, now);
    if (event.type !== 'ended' || decision?.do === 'rest') return decision;
    if (event.retry === 'never') return { do: 'ask', error: event.error, after: HOUR };
    return { do: 'dial', after: event.retry === 'now' ? 0 : 1000, tell: undefined };
  }
}

/** Hours of a client with ConnectionPolicy and its defaults, each with other random pauses. */
export function hoursWithPolicy(trouble: Trouble, over: Transport): Report[] {
  return SEEDS.map((seed) => hour(trouble, over, seed));
}

/** An hour of a client that does what `retry` says. */
export function hourWithRetry(trouble: Trouble, over: Transport): Report {
  return hour(trouble, over, 1, (link) => {
    const { machine } = link as unknown as { machine: { policy: ConnectionPolicy } };
    machine.policy = new ObeysRetry({ randomBytes: seeded(1) });
  });
}

function hour(
  { hub, isKnown }: Trouble,
  over: Transport,
  seed: number,
  prepare?: (link: ClientLink) => void,
): Report {
  const clock = new Clock();
  const report = startClient({ clock, over, hub, isKnown, seed, prepare });
  clock.runUntil(HOUR);
  report.readyFor += HOUR - (report.readySince ?? HOUR);
  report.client.call('end');
  if (!report.client.laws.areAllDone) throw new Error('broken law: every question ends');
  return report;
}

/** A cell of the table: what happened in all of these hours. */
export function cellOf(reports: readonly Report[]): string {
  const [first] = reports;
  const dials = rangeOf(reports.map(({ dials }) => dials));
  const share = rangeOf(reports.map(({ readyFor }) => Math.round((100 * readyFor) / HOUR)));
  const parts = [counted(dials, 'dial')];
  if (first!.derivations > 0)
    parts.push(counted(rangeOf(reports.map(({ derivations }) => derivations)), 'derivation'));
  if (share !== '0') parts.push(`ready ${share} %`);
  if (first!.asked !== undefined) parts.push(`asks: \`${first!.asked}\``);
  return parts.join(', ');
}

const counted = (range: string, noun: string): string => `${range} ${noun}${range === '1' ? '' : 's'}`;

function rangeOf(values: readonly number[]): string {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  return least === most ? String(least) : `${least} to ${most}`;
}

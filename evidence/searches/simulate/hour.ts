/** An hour of a client and a hub in trouble, and how the table in docs/reference/policy.md reports it. */
import { ConnectionPolicy } from '../../../src/index.ts';
import { Clock } from '../../../test/world/clock.ts';
import type { Policy } from '../../../test/world/device.ts';
import type { Transport } from '../../../test/world/network.ts';
import { seeded } from '../../../test/world/random.ts';
import { ObeysRetry, type Report, startClient } from './client.ts';
import type { Trouble } from './hubs.ts';

const HOUR = 3_600_000;
const SEEDS = [1, 2, 3, 4, 5];

/** Hours of a client with ConnectionPolicy and its defaults, each with other random pauses. */
export function hoursWithPolicy(trouble: Trouble, transport: Transport): Report[] {
  return SEEDS.map((seed) => hour(trouble, transport, new ConnectionPolicy({ randomBytes: seeded(seed) })));
}

/** An hour of a client that does what `retry` says. */
export function hourWithRetry(trouble: Trouble, transport: Transport): Report {
  return hour(trouble, transport, new ObeysRetry());
}

function hour({ hub, isKnown }: Trouble, transport: Transport, policy: Policy): Report {
  const clock = new Clock();
  const report = startClient(clock, transport, hub, policy, isKnown);
  clock.runUntil(HOUR);
  report.readyFor += HOUR - (report.readySince ?? HOUR);
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

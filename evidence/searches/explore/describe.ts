/** What decides all that can follow in a world. Two worlds of the same description have the same future, and are one state. */
import { short, storedLabel } from './scenarios.ts';
import type { World } from './world.ts';

/** Whether a `psk-differs` counts. */
export function isRecent(differedAt: unknown, now: number): boolean {
  return now - (differedAt as number) < 3_600_000;
}

/** @param isWatched - whether the attacker can still act; otherwise it makes no difference what is recorded */
export function describe(world: World, isWatched: boolean): string {
  const { connection, keyring, policy, recorded, pinned, asked } = world;
  const { phase, hasOldTimer, hasHeard, doubt, differedAt, leavesOutKk, readyAt } = policy as unknown as {
    [field: string]: unknown;
  };
  const facts: unknown[] = [
    storedLabel(keyring), pinned && short(pinned), asked,
    phase, hasOldTimer, hasHeard, doubt, isRecent(differedAt, world.now), leavesOutKk,
    readyAt === Infinity,
  ]; // biome-ignore format: facts
  if (isWatched) facts.push(...Object.keys(recorded).sort());
  if (connection !== undefined) {
    const { history, queues, pending, client, hub, delivered, isSteady, sent } = connection;
    // Of a hub that has failed, only what it has sent can still do anything.
    const last = hub.state === 'failed' ? sent.filter(({ from }) => from === 'hub').at(-1) : undefined;
    facts.push(
      history.client,
      last === undefined ? history.hub : last.origin,
      pending,
      client.state,
      hub.state,
    );
    facts.push(delivered.client, delivered.hub, isSteady);
    for (const side of ['client', 'hub'] as const) facts.push(...queues[side].map(({ label }) => label), '|');
  }
  return facts.join('\n');
}

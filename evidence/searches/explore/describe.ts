/** What decides all that can follow in a world. Two worlds of the same description have the same future, and are one state. */
import { short, storedLabel } from './scenarios.ts';
import type { Item } from './transport.ts';
import { type Inside, insideOf, type World } from './world.ts';

/** Whether a `psk-differs` counts. */
export function isRecent(differedAt: unknown, now: number): boolean {
  return now - (differedAt as number) < 3_600_000;
}

/** @param isWatched - whether the attacker can still act; otherwise it makes no difference what is recorded */
export function describe(world: World, isWatched: boolean): string {
  const { link, connection, storing, deriving, computing, stored, pinned, now, laws, asked } = world;
  const inside = insideOf(link);
  const { store, derivation, questions, session, events, inputs } = inside;
  const since = (time: unknown): unknown =>
    typeof time === 'number' ? Math.min(Math.max(-60_000, time - now), 3_600_000) : time;
  const policy = inside.policy as { [field: string]: unknown };
  const { requests, refusableUntil, saysHandled } = (questions.scheduler ?? {}) as {
    requests?: { all(): { sentAt?: number; since: number; collector: { state: string } }[] };
    refusableUntil?: number;
    saysHandled?: boolean;
  };
  const facts: unknown[] = [
    link.state, since(link.deadline), inside.isReady, inside.isCut, inside.isPaced, since(inside.dialAt), inside.failures,
    inside.isOn, session?.state, session === undefined || since(inside.usedAt), events.map(({ type }) => type), inputs.map(inputOf),
    codeOf(inside.asked), codeOf(inside.cause), asked, world.shown,
    policy.phase, policy.hasOldTimer, policy.hasHeard, policy.doubt, isRecent(policy.differedAt, now),
    policy.leavesOutKk, policy.lastCode, since(policy.readyAt), since(policy.dueAt), policy.sessionState,
    session === undefined || since(policy.sessionStateSince),
    storedLabel(link.keyring), storedLabel(stored), store.changes.length, store.isNeeded, store.isRead,
    storing?.keyring && storedLabel(storing.keyring), derivation.nodeId, derivation.psk && short(derivation.psk),
    deriving?.nodeId, computing && short(computing.publicKey), pinned && short(pinned),
    questions.unsent.map(({ until }, i) => (until < Infinity ? `${since(until)} ${i < questions.handed}` : '')).join(), Object.values(questions.sent).map((one) => one.isForgotten).join(), since(refusableUntil), saysHandled, Object.values(questions.hubs).map((hub) => hub.saysHandled).join(),
    (requests?.all() ?? []).map((one) => `${since(one.sentAt)} ${since(one.since)} ${one.collector.state}`),
    Math.min(2, world.connections), Math.min(2, world.derivations), laws.facts,
  ]; // biome-ignore format: facts
  if (isWatched) facts.push(Object.keys(world.recorded).sort().join());
  if (connection !== undefined) {
    const { history, hub, news, queues } = connection;
    // Of a hub that has failed, only what it has sent can still do anything.
    facts.push(history.client, hub?.state === 'failed' ? '' : history.hub, hub?.state, news);
    facts.push(queues.client.map(labelOf).join(), '|', queues.hub.map(labelOf).join());
  }
  return facts.join('\n');
}

/** An input that the link holds. What a message is, is in the history. */
function inputOf({ session, take, data }: Inside['inputs'][number]): string {
  return `${take.name} ${session?.state} ${typeof data === 'string' || data instanceof Uint8Array ? '' : JSON.stringify(data)}`;
}

const labelOf = ({ label, origin }: Item): string => `${label} ${origin}`;

function codeOf(error: unknown): unknown {
  const { code, message } = (error ?? {}) as { code?: string; message?: string };
  return code ?? message;
}

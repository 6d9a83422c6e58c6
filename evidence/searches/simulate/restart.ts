/** The clients of a hub that restarts: when they come back, as a histogram. */
import { ConnectionPolicy, type EndedEvent, RemoteError, type SessionEvent } from '../../../src/index.ts';
import { Clock } from '../../../test/world/clock.ts';
import { seeded } from '../../../test/world/random.ts';

export const CLIENTS = 10_000;
/** How long the hub is away, in seconds. */
export const AWAY = 30;
/** Milliseconds until a client knows that the hub is away. */
const REFUSAL = 50;

const LOSS: EndedEvent = {
  type: 'ended',
  reason: 'dropped',
  retry: 'now',
  error: new RemoteError('dropped', 'the connection was lost'),
  pattern: undefined,
  code: 1006,
  status: undefined,
  closeReason: undefined,
};

/** What a hub sees of its clients after it went away, by the second. */
export interface Return {
  /** Dials while it was away. */
  readonly refused: number[];
  /** Dials once it was back. */
  readonly accepted: number[];
}

/** 10,000 clients, all of them ready, lose their hub at once. */
export function returnOf(clients: number, seconds: number): Return {
  const clock = new Clock();
  const refused: number[] = Array(seconds).fill(0);
  const accepted: number[] = Array(seconds).fill(0);
  const lose = (policy: ConnectionPolicy): void => {
    const decision = policy.take(LOSS, clock.now);
    if (decision?.do !== 'dial') throw new Error('a lost connection is dialled again');
    clock.after(decision.after, () => {
      policy.begin(clock.now);
      const second = Math.floor(clock.now / 1000);
      if (second >= AWAY) {
        accepted[second]!++;
        return;
      }
      refused[second]!++;
      clock.after(REFUSAL, () => lose(policy));
    });
  };
  for (let seed = 1; seed <= clients; seed++) {
    const policy = new ConnectionPolicy({ randomBytes: seeded(seed) });
    policy.begin(-100_000);
    policy.take({ type: 'ready' } as SessionEvent, -99_000);
    clock.after(0, () => lose(policy));
  }
  clock.runUntil(seconds * 1000 - 1);
  return { refused, accepted };
}

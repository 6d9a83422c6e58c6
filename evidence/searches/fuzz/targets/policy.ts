/** ConnectionPolicy: any course of calls, with events that sessions may emit and some that none emits. */
import { ConnectionPolicy, RemoteError, type SessionEvent } from '../../../../src/index.ts';
import { AFTER_VERDICT, POLICY_STATES, type PolicyState } from '../../../../src/policy/tables.ts';
import { CLIENT_TRANSITIONS } from '../../../../src/session/transitions.ts';
import type { Random } from '../../../../test/world/random.ts';
import { hostile } from '../hostile.ts';
import { ask, breach } from '../law.ts';
import { mutatedJson } from '../mutate.ts';

const CODES = [
  'access-refused', 'negotiation-refused', 'kk-refused', 'kk-failed', 'refused', 'client-key-refused', 'unavailable',
  'dropped', 'timeout', 'text-after-ready', 'hub-key-changed', 'psk-differs', 'not-authentic',
] as const; // biome-ignore format: a list
const TYPES = ['ready', 'message', 'chunk', 'dropped', 'transmit', 'close', 'pin'];
const STATES = [...Object.keys(CLIENT_TRANSITIONS), 'failed', 'closed', 'no such state'];
const AFTER_END: readonly string[] = Object.values(AFTER_VERDICT);

export function policy(random: Random): void {
  const maxPause = random.pick([undefined, 10, 5000, 600_000]);
  const own = new ConnectionPolicy({
    randomBytes: (length) => random.bytes(length),
    maxPause,
    basePause: random.pick([undefined, 1, 60_000]),
  });
  let now = random.below(1000);
  for (let i = random.below(40); i > 0; i--) {
    now += random.pick([0, 0, 1, 500, 31_000, 700_000]);
    const before = own.state;
    let row: PolicyState | undefined;
    switch (random.below(9)) {
      case 0:
      case 1: {
        const { value } = ask('begin', () => own.begin(now)) as { value?: object };
        row = POLICY_STATES[before].begin;
        if (value !== undefined && row === undefined) breach(`begin() in state ${before} returned options`);
        if ((value !== undefined) !== (own.state !== before))
          breach('begin() returned options and did not begin, or the reverse');
        break;
      }
      case 2:
        own.goodbye();
        row = POLICY_STATES[before].goodbye;
        break;
      case 3:
        own.resume();
        row = POLICY_STATES[before].resume;
        break;
      case 4: {
        const { value } = ask('deadline', () => own.deadline(random.pick(STATES), now)) as { value?: number };
        if (value !== undefined && !(value >= 0 && value <= 86_400_000)) breach(`a deadline of ${value}`);
        break;
      }
      case 5:
        end(random, own, now, maxPause ?? 600_000);
        continue;
      case 6:
        ask('take', () =>
          own.take(hostile(random) as SessionEvent, random.oneIn(4) ? (hostile(random) as number) : now),
        );
        continue;
      default: {
        const type = random.pick(TYPES);
        const outcome = ask('take', () => own.take({ type } as SessionEvent, now));
        if (outcome.error !== undefined || outcome.value !== undefined)
          breach(`take() of ${type} decided something`, outcome.error);
        if (type === 'ready') row = POLICY_STATES[before].ready;
      }
    }
    if (own.state !== before && own.state !== row) breach(`the policy went from ${before} to ${own.state}`);
  }
}

function end(random: Random, own: ConnectionPolicy, now: number, maxPause: number): void {
  const before = own.state;
  const honest = {
    type: 'ended',
    retry: random.pick(['never', 'later', 'now']),
    reason: random.pick(['refused', 'client-key-refused', 'dropped', 'timeout']),
    pattern: random.pick(['XXpsk2', 'KKpsk0', undefined]),
    error: new RemoteError(random.pick(CODES), 'x'),
  };
  const event = (random.oneIn(6) ? mutatedJson(random, honest) : honest) as SessionEvent;
  const { value, error } = ask('take', () => own.take(event, now)) as {
    value?: ReturnType<ConnectionPolicy['take']>;
    error?: Error;
  };
  if (error !== undefined || event.type !== 'ended') return;
  if (value === undefined) breach('take() of ended decided nothing');
  if (!AFTER_END.includes(own.state)) breach(`the policy is ${own.state} after an end`);
  if (
    value.do === 'dial' &&
    !(value.after >= 0 && value.after <= maxPause && Number.isInteger(value.after))
  ) {
    breach(`a pause of ${value.after}`);
  }
  if ((before === 'leaving' || before === 'resting') && value.do !== 'rest')
    breach('a policy that rests dials or asks');
  if (before === 'asking' && value.do !== 'ask') breach('a policy that asks dials unasked');
}

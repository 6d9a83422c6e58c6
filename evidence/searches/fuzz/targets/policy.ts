/** ConnectionPolicy and ClientLink: any course of calls, with events that sessions may emit and some that none emits. */
import {
  ClientLink,
  createKeyring,
  forgetPsks,
  LocalError,
  RemoteError,
  RequestScheduler,
} from '../../../../src/index.ts';
import { ConnectionPolicy, type SessionEvent } from '../../../../src/parts.ts';
import { POLICY_STATES, type PolicyState } from '../../../../src/policy/tables.ts';
import { CLIENT_TRANSITIONS } from '../../../../src/session/transitions.ts';
import { type Input, Laws } from '../../../../test/link/laws.ts';
import { live } from '../../../../test/link/world.ts';
import { type Random, seeded } from '../../../../test/world/random.ts';
import { toyCrypto } from '../../../../test/world/toy-crypto.ts';
import { hostile } from '../hostile.ts';
import { ask, breach, tally } from '../law.ts';
import { mutatedJson } from '../mutate.ts';

const CODES = [
  'access-refused', 'negotiation-refused', 'kk-refused', 'kk-failed', 'refused', 'client-key-refused', 'unavailable',
  'dropped', 'timeout', 'text-after-ready', 'hub-key-changed', 'psk-differs', 'not-authentic',
] as const; // biome-ignore format: a list
const TYPES = ['ready', 'message', 'chunk', 'dropped', 'transmit', 'close', 'pin'];
const STATES = [...Object.keys(CLIENT_TRANSITIONS), 'failed', 'closed', 'no such state'];
const AFTER_END: readonly string[] = ['waiting', 'resting'];

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
        end(random, own, now, maxPause ?? 60_000);
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
    value.do !== 'rest' &&
    !(value.after >= 0 && value.after <= 10 * maxPause && Number.isInteger(value.after))
  ) {
    breach(`a pause of ${value.after}`);
  }
  if ((before === 'leaving' || before === 'resting') && value.do !== 'rest')
    breach('a policy that rests dials or asks');
}

/** Why something failed, as some programs say it. */
const FAILURES = [undefined, null, 'x', 7, new Error('x')];
const HELLO = { msg_type: 'hello', payload: { node_id: 'hub-1' } };

/** Whether an error is the answer to a caller's mistake. */
function isLocal(error: unknown): boolean {
  return error instanceof LocalError || (error as { cause?: unknown }).cause instanceof LocalError;
}

/** A link: a random life, or any course of calls with numbers, times and values of all kinds. Both keep the laws of the lives. */
export function link(random: Random): void {
  const seed = random.next();
  if (random.oneIn(8)) {
    tally.inputs += Object.values(live(seed, { horizon: 20_000 })).reduce((sum, count) => sum + count, 0);
    return;
  }
  const keyring = createKeyring({ accessKey: 'a', staticKey: random.bytes(32), crypto: toyCrypto });
  const own = new ClientLink({
    crypto: toyCrypto,
    randomBytes: seeded(seed),
    siteId: '',
    keyring,
    requests: () => new RequestScheduler(),
  });
  const laws = new Laws(30_000, (law) => breach(law));
  let now = 0;
  const number = (): unknown =>
    random.oneIn(8) ? random.pick([NaN, -1, 2 ** 53, '1', null, {}]) : random.below(4);
  const value = (): unknown =>
    random.oneIn(2) ? hostile(random) : random.bytes(random.pick([0, 16, 32, 65]));
  const text = (): string => JSON.stringify(mutatedJson(random, HELLO));
  let asked: object = {};
  const inputs: { readonly [name in Input]: () => readonly unknown[] } = {
    start: () => [],
    opened: () => [number()],
    received: () => [number(), random.oneIn(2) ? text() : value()],
    closed: () => [number(), random.oneIn(2) ? { code: 1000 + random.below(12) } : value()],
    stored: () => [random.pick(FAILURES)],
    derived: () => [number(), random.oneIn(2) ? random.bytes(32) : random.pick(FAILURES)],
    computed: () => [number(), random.oneIn(2) ? random.bytes(32) : random.pick(FAILURES)],
    wake: () => [],
    ask: () => {
      asked = { n: random.next(), payload: { data: value() } };
      return [asked, random.below(70_000)];
    },
    cancel: () => [random.oneIn(4) ? value() : asked],
    send: () => [value()],
    trust: () => [],
    change: () => [random.oneIn(4) ? number() : forgetPsks],
    end: () => [],
  };
  for (let i = random.below(60); i > 0; i--) {
    now += random.pick([0, 0, 1, 500, 31_000, 700_000]);
    const name = random.pick(Object.keys(inputs) as Input[]);
    tally.inputs++;
    try {
      laws.call(own, name, inputs[name](), now);
    } catch (error) {
      if (!isLocal(error)) throw error;
      return; // the laws have noted an input that was none
    }
  }
}

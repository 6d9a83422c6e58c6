/** ClientLink: a random life, or any course of calls. */
import {
  ClientLink,
  createKeyring,
  forgetPsks,
  LocalError,
  RequestScheduler,
} from '../../../../src/index.ts';
import { type Input, Laws } from '../../../../test/link/laws.ts';
import { live } from '../../../../test/link/world.ts';
import { type Random, seeded } from '../../../../test/world/random.ts';
import { toyCrypto } from '../../../../test/world/toy-crypto.ts';
import { hostile } from '../hostile.ts';
import { breach, tally } from '../law.ts';
import { mutatedJson } from '../mutate.ts';

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

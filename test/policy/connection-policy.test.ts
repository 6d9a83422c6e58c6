/** ConnectionPolicy: its calls, their arguments, and what no vector can show. The rules are in vectors/policy.json. */
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  ConnectionPolicy,
  LocalError,
  type PolicyDecision,
  type PolicyOptions,
  RemoteError,
  type SessionEvent,
} from '../../src/index.ts';
import type { EndedEvent } from '../../src/parts.ts';
import { raisesLocal } from '../raises.ts';
import { seeded } from '../world/random.ts';

const MOST = (length: number): Uint8Array => new Uint8Array(length).fill(0xff);
const HALF = (length: number): Uint8Array => new Uint8Array(length).fill(0x80, 0, 1);

function newPolicy(options: Partial<PolicyOptions> = {}): ConnectionPolicy {
  return new ConnectionPolicy({ randomBytes: HALF, ...options });
}

function ended(fields: Partial<EndedEvent> = {}): EndedEvent {
  return {
    type: 'ended',
    reason: 'dropped',
    retry: 'now',
    error: new RemoteError('dropped', 'lost'),
    pattern: undefined,
    code: undefined,
    status: undefined,
    closeReason: undefined,
    ...fields,
  };
}

const READY = { type: 'ready' } as SessionEvent;

test('announces the first connection with both patterns, and drops a pin whose KKpsk0 failed, as in the spec', () => {
  assert.equal(newPolicy().begin(0), { onKkFailure: 'unpin' });
});

test('keeps such a pin if that is asked for', () => {
  const policy = newPolicy({ onKkFailure: 'keep-pin' });
  assert.equal(policy.begin(0), { onKkFailure: 'keep-pin' });
  policy.take(ended({ reason: 'refused', retry: 'later', pattern: 'KKpsk0' }), 1);
  assert.equal(policy.begin(1), { patterns: ['XXpsk2'], onKkFailure: 'keep-pin' });
  raisesLocal(() => newPolicy({ onKkFailure: 'drop' as never }), 'bad-argument');
});

const DIFFERS = ended({
  reason: 'refused',
  retry: 'later',
  pattern: 'XXpsk2',
  error: new RemoteError('psk-differs', 'another password'),
});
const PSK_NEEDED = { type: 'psk-needed' } as SessionEvent;

/** What follows connections that end because the PSK differs: `fresh` if it was derived, or `ready` in between. */
function afterDiffering(
  policy: ConnectionPolicy,
  steps: readonly ('fresh' | 'stored' | 'ready')[],
): string[] {
  return steps.map((step, index) => {
    policy.begin(index * 1e6);
    if (step === 'fresh') policy.take(PSK_NEEDED, index * 1e6);
    if (step === 'ready') policy.take(READY, index * 1e6);
    return policy.take(step === 'ready' ? ended() : DIFFERS, index * 1e6)!.do;
  });
}

test('asks a person when the PSK differs a second time, although it was derived for that connection', () => {
  assert.equal(afterDiffering(newPolicy(), ['fresh', 'fresh']), ['dial', 'ask']);
  assert.equal(afterDiffering(newPolicy(), ['stored', 'fresh']), ['dial', 'ask']);
});

test('does not ask while only a stored PSK differs, since anybody can make it seem so', () => {
  assert.equal(afterDiffering(newPolicy(), ['stored', 'stored', 'stored']), ['dial', 'dial', 'dial']);
  assert.equal(afterDiffering(newPolicy(), ['fresh', 'stored']), ['dial', 'dial']);
});

test('does not ask if a connection was ready in between, or a person has acted', () => {
  assert.equal(afterDiffering(newPolicy(), ['fresh', 'ready', 'fresh']), ['dial', 'dial', 'dial']);
  const policy = newPolicy();
  afterDiffering(policy, ['fresh', 'fresh']);
  policy.resume();
  assert.equal(afterDiffering(policy, ['fresh']), ['dial']);
});

test('takes a close with 1000 for a refusal of the client’s key only if it comes early', () => {
  const refused = ended({
    reason: 'client-key-refused',
    retry: 'never',
    pattern: 'XXpsk2',
    error: new RemoteError('client-key-refused', 'another key'),
  });
  for (const [after, decision] of [
    [29_999, 'ask'],
    [30_000, 'dial'],
  ] as const) {
    const policy = newPolicy();
    policy.begin(0);
    policy.take(READY, 10);
    assert.is(policy.take(refused, 10 + after)?.do, decision);
  }
});

test('goes on dialling if the clock is set back, however often', () => {
  const policy = newPolicy({ basePause: 60_000 });
  let now = 1e9;
  for (let i = 0; i < 4; i++) {
    assert.ok(policy.begin(now));
    policy.take(ended(), now);
    now -= 3_600_000;
  }
});

test('allows one connection at a time', () => {
  const policy = newPolicy();
  policy.begin(0);
  assert.is(policy.begin(1), undefined);
  policy.take(READY, 2);
  assert.is(policy.begin(3), undefined);
});

test('dials after a random pause whose limit doubles up to the highest', () => {
  const policy = newPolicy();
  let now = 0;
  const pauses = Array.from({ length: 12 }, () => {
    assert.ok(policy.begin(now));
    const decision = policy.take(ended(), now);
    assert.ok(decision?.do === 'dial');
    now += decision.after;
    return decision.after;
  });
  const highest = 300_000;
  assert.equal(pauses, [
    1000,
    2000,
    4000,
    8000,
    16_000,
    32_000,
    64_000,
    128_000,
    256_000,
    ...Array(3).fill(highest),
  ]);
});

test('never waits as long as the limit of the pause', () => {
  const policy = newPolicy({ randomBytes: MOST, basePause: 1, maxPause: 1 });
  policy.begin(0);
  assert.equal(policy.take(ended(), 0), { do: 'dial', after: 0, tell: undefined });
});

test('asks a person, and goes on after resume', () => {
  const policy = newPolicy();
  const error = new RemoteError('hub-key-changed', 'another key');
  policy.begin(0);
  assert.equal(policy.take(ended({ reason: 'refused', retry: 'never', error }), 5), { do: 'ask', error });
  assert.is(policy.begin(1e9), undefined);
  policy.resume();
  assert.ok(policy.begin(1e9));
});

test('uses XXpsk2 at once after a KKpsk0 that was refused, until a connection is ready', () => {
  const policy = newPolicy();
  const error = new RemoteError('kk-refused', 'refused');
  policy.begin(0);
  const refused = ended({ reason: 'refused', retry: 'later', pattern: 'KKpsk0', error });
  assert.equal(policy.take(refused, 5), { do: 'dial', after: 0, tell: undefined });
  assert.equal(policy.begin(5), { patterns: ['XXpsk2'], onKkFailure: 'unpin' });
  policy.take(READY, 6);
  policy.take(ended(), 7);
  assert.equal(policy.begin(10_000), { onKkFailure: 'unpin' });
});

test('names its state', () => {
  const policy = newPolicy();
  assert.is(policy.state, 'idle');
  policy.begin(0);
  assert.is(policy.state, 'connecting');
  policy.take(READY, 1);
  assert.is(policy.state, 'ready');
  policy.goodbye();
  assert.is(policy.state, 'leaving');
});

test('is ready after a ready event and no other', () => {
  const policy = newPolicy();
  policy.begin(0);
  for (const type of ['transmit', 'pin', 'message', 'dropped']) policy.take({ type } as SessionEvent, 1);
  assert.is(policy.state, 'connecting');
});

test('gives each state of the session that waits for the hub a deadline, which does not restart within it', () => {
  const policy = newPolicy({ deadlines: { 'awaiting-offer': 500 } });
  policy.begin(1000);
  assert.is(policy.deadline('awaiting-hello', 1200), 29_800);
  assert.is(policy.deadline('awaiting-offer', 2000), 500);
  assert.is(policy.deadline('awaiting-offer', 2400), 100);
  assert.is(policy.deadline('awaiting-offer', 9000), 0);
  for (const state of ['awaiting-psk', 'sealing-message-1', 'ready', 'failed', 'closed', 'constructor']) {
    assert.is(policy.deadline(state, 9000), undefined, state);
  }
});

test('refuses options of the wrong type, out of range and unknown ones', () => {
  const wrong: object[] = [
    { randomBytes: undefined },
    { basePause: 0 },
    { basePause: '1' },
    { basePause: null },
    { deadlines: null },
    { maxPause: -1 },
    { maxPause: 86_400_001 },
    { steadyAfter: Number.NaN },
    { deadlines: 5 },
    { deadlines: { ready: 5 } },
    { deadlines: { 'awaiting-hello': Infinity } },
    { basepause: 5 },
  ];
  for (const options of wrong) raisesLocal(() => newPolicy(options), 'bad-argument');
  newPolicy({ maxPause: 86_400_000, basePause: 1, steadyAfter: undefined, deadlines: undefined });
});

test('refuses a time that is no number, and an event that is no object', () => {
  const policy = newPolicy();
  for (const now of [undefined, '5', Number.NaN, Infinity]) {
    raisesLocal(() => policy.begin(now as number), 'bad-argument');
    raisesLocal(() => policy.deadline('ready', now as number), 'bad-argument');
    raisesLocal(() => policy.take(READY, now as number), 'bad-argument');
  }
  for (const event of [undefined, null, 'ended', []]) {
    raisesLocal(() => policy.take(event as never, 0), 'bad-argument');
  }
});

test('refuses an event that cannot be read, and changes nothing', () => {
  const policy = newPolicy();
  policy.begin(0);
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  const events = ['type', 'retry', 'error'].map((name) =>
    Object.defineProperty({ type: 'ended' }, name, {
      get() {
        throw new Error('it is gone');
      },
    }),
  );
  for (const event of [proxy, ...events]) raisesLocal(() => policy.take(event as never, 0), 'bad-argument');
  assert.is(policy.state, 'connecting');
});

test('decides nothing if randomBytes fails, and decides when it works again', () => {
  let random: () => Uint8Array = () => new Uint8Array(2);
  const policy = newPolicy({ randomBytes: () => random() });
  policy.begin(0);
  raisesLocal(() => policy.take(ended(), 1), 'bad-random');
  random = () => {
    throw new Error('no entropy');
  };
  raisesLocal(() => policy.take(ended(), 1), 'crypto-failed');
  assert.is(policy.state, 'connecting');
  random = () => HALF(3);
  assert.equal(policy.take(ended(), 1), { do: 'dial', after: 1000, tell: undefined });
});

test('tells what a person could be told from the second failure with one code on', () => {
  const policy = newPolicy();
  const error = new RemoteError('unavailable', 'busy');
  const fail = (at: number, failure: LocalError | RemoteError = error): PolicyDecision | undefined => {
    policy.begin(at);
    return policy.take(ended({ error: failure }), at);
  };
  const tellOf = (decision: PolicyDecision | undefined): unknown => decision?.do === 'dial' && decision.tell;
  assert.is(tellOf(fail(0)), undefined);
  assert.is(tellOf(fail(10_000)), error);
  assert.is(tellOf(fail(20_000)), error);
  assert.is(tellOf(fail(30_000, new RemoteError('timeout', 'slow'))), undefined);
  policy.resume();
  assert.is(tellOf(fail(60_000, new RemoteError('timeout', 'slow'))), undefined);
});

test('a connection that was ready for long is no failure, so its end tells a person nothing', () => {
  const policy = newPolicy();
  for (const at of [0, 100_000, 200_000]) {
    policy.begin(at);
    policy.take(READY, at);
    const decision = policy.take(ended({ error: new RemoteError('dropped', 'lost') }), at + 60_000);
    assert.is(decision?.do === 'dial' && decision.tell, undefined);
  }
});

test('takes an ended event without an error, as one that was written by hand may be', () => {
  const policy = newPolicy();
  policy.begin(0);
  const event = { type: 'ended', reason: 'dropped', retry: 'now' } as EndedEvent;
  assert.equal(policy.take(event, 1), { do: 'dial', after: 1000, tell: undefined });
});

test('asks with the error of this side too', () => {
  const policy = newPolicy();
  const error = new LocalError('crypto-failed', 'restore it');
  policy.begin(0);
  assert.equal(policy.take(ended({ reason: 'refused', retry: 'never', error }), 5), { do: 'ask', error });
});

const ENDINGS: readonly Partial<EndedEvent>[] = [
  {},
  { reason: 'timeout', retry: 'later', pattern: 'KKpsk0' },
  { reason: 'refused', retry: 'later', pattern: 'KKpsk0', error: new RemoteError('kk-refused', 'refused') },
  { reason: 'refused', retry: 'never', error: new RemoteError('unknown-hub', 'not pinned') },
  { error: new RemoteError('text-after-ready', 'lost') },
];
const CALL = fc.oneof(
  fc.constantFrom('begin', 'ready', 'message', 'goodbye', 'resume'),
  fc.nat(ENDINGS.length - 1),
);

test('never allows two connections, nor any while a person is asked or after a goodbye, whatever the calls', () => {
  const calls = fc.array(fc.tuple(fc.nat(40_000), CALL), { maxLength: 60 });
  fc.assert(
    fc.property(calls, fc.noShrink(fc.integer()), (calls, seed) => {
      const policy = newPolicy({ randomBytes: seeded(seed) });
      let now = 0;
      let isConnected = false;
      let isForbidden = false;
      for (const [wait, call] of calls) {
        now += wait;
        if (call === 'begin') {
          const options = policy.begin(now);
          if (isConnected || isForbidden) assert.is(options, undefined);
          isConnected ||= options !== undefined;
        } else if (call === 'goodbye' || call === 'resume') {
          policy[call]();
          if (call === 'goodbye' || !isConnected) isForbidden = call === 'goodbye';
        } else if (typeof call === 'string') {
          assert.is(policy.take({ type: call } as SessionEvent, now), undefined);
        } else {
          const decision = policy.take(ended(ENDINGS[call]), now)!;
          isConnected = false;
          isForbidden = decision.do !== 'dial';
          if (decision.do === 'dial') assert.ok(decision.after >= 0 && decision.after < 600_000);
        }
      }
    }),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 500) },
  );
});

test.run();

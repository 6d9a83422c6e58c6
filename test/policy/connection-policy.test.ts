/** ConnectionPolicy: its calls, their arguments, and what no vector can show. The rules are in vectors/policy.json. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { LocalError, RemoteError } from '../../src/index.ts';
import {
  ConnectionPolicy,
  type PolicyDecision,
  type PolicyOptions,
  type SessionEvent,
} from '../../src/parts.ts';
import type { EndedEvent } from '../../src/session/events.ts';
import { revoked } from '../world/hostile.ts';
import { fc, runs } from '../world/property.ts';
import { raisesLocal } from '../world/raises.ts';
import { seeded } from '../world/random.ts';

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

test('has no deadline for a state in which the client is awaited', () => {
  assert.is(newPolicy().deadline('awaiting-psk', 0), undefined); // not NaN
});

test('takes at most 14 connections on which a password may be tested in an hour, whatever the program and other hubs do', () => {
  const policy = newPolicy({ randomBytes: (length) => new Uint8Array(length) });
  const error = new RemoteError('psk-differs', 'another PSK');
  const at: number[] = [];
  for (let now = 0; now < 7_200_000; ) {
    policy.begin(now);
    const decision = policy.take(ended({ error }), now);
    at.push(now);
    now += decision?.do === 'dial' || decision?.do === 'ask' ? decision.after : 0;
    policy.begin(now);
    policy.take(READY, now);
    now += 60_000;
    policy.take(ended(), now);
    policy.resume();
  }
  for (const from of at) assert.ok(at.filter((time) => time >= from && time < from + 3_600_000).length <= 14);
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

test('refuses the timer of a pause that was cut short as soon as it began', () => {
  const policy = newPolicy({ basePause: 60_000 });
  policy.begin(0);
  const cutShort = policy.take(ended(), 0);
  assert.ok(policy.begin(0));
  policy.take(ended({ reason: 'refused', error: new RemoteError('access-refused', '') }), 0);
  assert.ok(cutShort?.do === 'dial');
  assert.is(policy.begin(cutShort.after), undefined);
});

test('does not show a person an error from before a steady connection', () => {
  const policy = newPolicy();
  const tells: boolean[] = [];
  let now = 0;
  for (const isSteady of [false, true, false, false]) {
    policy.begin(now);
    if (isSteady) policy.take(READY, now);
    now += 60_000;
    const decision = policy.take(
      ended({ error: new RemoteError(isSteady ? 'dropped' : 'access-refused', '') }),
      now,
    );
    tells.push(decision?.do === 'dial' && decision.tell !== undefined);
    now += 60_000;
  }
  assert.equal(tells, [false, false, false, true]);
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

test('refuses a time that is not a number, and an event that is not an object', () => {
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
  const events = ['type', 'retry', 'error'].map((name) =>
    Object.defineProperty({ type: 'ended' }, name, {
      get() {
        throw new Error('it is gone');
      },
    }),
  );
  for (const event of [revoked({}), ...events])
    raisesLocal(() => policy.take(event as never, 0), 'bad-argument');
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

test('reports what to show a person from the second failure with the same code on', () => {
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

test('shows a second refusal although a KKpsk0 was refused between the two', () => {
  const policy = newPolicy();
  const refused = new RemoteError('refused', 'the hub has another key of this client');
  const refuse = (at: number): unknown => {
    policy.begin(at);
    policy.take(READY, at);
    const decision = policy.take(
      ended({ reason: 'refused', retry: 'later', pattern: 'XXpsk2', error: refused }),
      at,
    );
    return decision?.do === 'dial' && decision.tell;
  };
  assert.is(refuse(0), undefined);
  policy.begin(10_000);
  const kk = ended({ reason: 'refused', pattern: 'KKpsk0', error: new RemoteError('kk-refused', 'no') });
  assert.equal(policy.take(kk, 10_000), { do: 'dial', after: 0, tell: undefined });
  assert.is(refuse(10_000), refused);
});

test('the loss of a connection that was ready for long is not a failure to show a person', () => {
  const policy = newPolicy();
  for (const at of [0, 100_000, 200_000]) {
    policy.begin(at);
    policy.take(READY, at);
    const decision = policy.take(ended({ error: new RemoteError('dropped', 'lost') }), at + 60_000);
    assert.is(decision?.do === 'dial' && decision.tell, undefined);
  }
});

test('a failure after a connection that was ready for long is the first with its code', () => {
  const policy = newPolicy();
  policy.begin(0);
  policy.take(READY, 0);
  policy.take(ended(), 60_000);
  policy.begin(100_000);
  const decision = policy.take(ended(), 100_000);
  assert.is(decision?.do === 'dial' && decision.tell, undefined);
});

test('shows at once why there has been no connection since the start, or since a person has acted', () => {
  const policy = newPolicy();
  const error = new RemoteError('not-reachable', 'nobody there', { platformCode: 'ECONNREFUSED' });
  const fail = (at: number): unknown => {
    policy.begin(at);
    const decision = policy.take(ended({ retry: 'later', error }), at);
    return decision?.do === 'dial' && decision.tell;
  };
  assert.is(fail(0), error);
  policy.begin(10_000);
  policy.take(READY, 10_000);
  policy.take(ended(), 11_000);
  assert.is(fail(20_000), undefined);
  policy.resume();
  assert.is(fail(30_000), error);
});

test('accepts an ended event without an error', () => {
  const policy = newPolicy();
  policy.begin(0);
  const event = { type: 'ended', reason: 'dropped', retry: 'now' } as EndedEvent;
  assert.equal(policy.take(event, 1), { do: 'dial', after: 1000, tell: undefined });
});

test('asks with the error of this side too', () => {
  const policy = newPolicy();
  const error = new LocalError('crypto-failed', 'restore it');
  policy.begin(0);
  assert.equal(policy.take(ended({ reason: 'refused', retry: 'never', error }), 5), {
    do: 'ask',
    error,
    after: 45_000,
  });
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

test('never allows two connections, nor any after a goodbye, whatever the calls', () => {
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
          isForbidden = decision.do === 'rest';
          if (decision.do !== 'rest') assert.ok(decision.after >= 0 && decision.after < 600_000);
        }
      }
    }),
    runs(500),
  );
});

test.run();

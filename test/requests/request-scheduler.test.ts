/** What the recorded lives of the vectors leave out: misuse, a session, any course of events, and some lives. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { MAX_REQUESTS } from '../../src/limits.ts';
import { buildUtterance } from '../../src/requests/build-request.ts';
import { Deadlines, type Timed } from '../../src/requests/deadlines.ts';
import { readHubEvent } from '../../src/requests/hub-event.ts';
import {
  type FinishDecision,
  type PartDecision,
  type RequestDecision,
  RequestScheduler,
  type SchedulerOptions,
} from '../../src/requests/request-scheduler.ts';
import type { JsonObject } from '../../src/wire/json.ts';
import { UNREADABLE, withThrowing } from '../world/hostile.ts';
import { find, readyPair } from '../world/pair.ts';
import { fc, runs } from '../world/property.ts';
import { raisesLocal } from '../world/raises.ts';

const RUNS = runs(100);

const request = (requestId: string, sessionId?: string): JsonObject =>
  buildUtterance({ requestId, sessionId, text: 'hello' });

const event = (type: string, context: object, data: object = {}): string =>
  JSON.stringify({ msg_type: 'bus', payload: { type, data, context } });

test('sends a request over a session, and finishes it with the reply', () => {
  const { client, hub, clientEvents } = readyPair();
  const scheduler = new RequestScheduler({ sessionId: find(clientEvents, 'ready').sessionId });
  const envelope = request('r');
  assert.equal(scheduler.request(envelope, 0), [{ do: 'send', requestId: 'r', envelope }]);
  const [asked] = client.sendJson(envelope).flatMap((data) => hub.receive(data));
  assert.is(readHubEvent((asked as { text: string }).text)!.requestId, 'r');
  const decisions: RequestDecision[] = [];
  for (const [type, data] of [
    ['speak', { utterance: 'It is noon.' }],
    ['ovos.utterance.handled', {}],
  ] as const) {
    for (const message of hub
      .sendJson(event(type, { request_id: 'r' }, data))
      .flatMap((data) => client.receive(data))) {
      decisions.push(...scheduler.receive((message as { text: string }).text, 100));
    }
  }
  const [part, finish] = decisions;
  const { event: carrier, ...said } = part as PartDecision;
  assert.is(carrier.type, 'speak');
  assert.equal(said, {
    do: 'part',
    requestId: 'r',
    text: 'It is noon.',
    speech: 'It is noon.',
    displayItems: [],
    expectsAnswer: false,
  });
  const { reply, ...decision } = finish as FinishDecision;
  assert.is(reply.text, 'It is noon.');
  assert.equal(decision, {
    do: 'finish',
    requestId: 'r',
    ending: 'handled',
    isTruncated: false,
    wasSent: true,
  });
  assert.is(decisions.length, 2);
});

test('returns an event that belongs to no reply unchanged', () => {
  const text = event('speak', {}, { utterance: 'Your timer has ended.' });
  assert.equal(new RequestScheduler().receive(text, 0), [{ do: 'handle', event: readHubEvent(text) }]);
});

test('refuses a request after the end of the connection', () => {
  const scheduler = new RequestScheduler();
  scheduler.closed();
  raisesLocal(() => scheduler.request(request('r'), 0), 'session-over');
});

test('sends a request without a session beside one with any session', () => {
  for (const session of ['s', '?', ':']) {
    const scheduler = new RequestScheduler();
    assert.is(scheduler.request(request('a'), 0).length, 1);
    assert.is(scheduler.request(request('b', session), 0).length, 1);
  }
});

test('refuses envelopes without a request id, and anything but an envelope', () => {
  const scheduler = new RequestScheduler();
  const payload = { type: 'x', context: {} };
  const envelopes = [
    undefined,
    null,
    'x',
    JSON.stringify(request('r')),
    {},
    { msg_type: 'bus' },
    { msg_type: 'bus', payload },
    { msg_type: 'bus', payload: withThrowing('type') },
    ...UNREADABLE,
  ];
  for (const envelope of envelopes) {
    raisesLocal(() => scheduler.request(envelope as JsonObject, 0), 'bad-argument');
  }
  assert.is(scheduler.nextDeadline(0), undefined);
});

test('refuses a time that is not a finite number, and does not change', () => {
  const scheduler = new RequestScheduler();
  scheduler.request(request('r'), 0);
  for (const now of [undefined, null, '0', Number.NaN, Number.POSITIVE_INFINITY, new Date(0), 0n]) {
    const time = now as number;
    for (const call of [
      () => scheduler.request(request('x'), time),
      () => scheduler.request(request('x'), 0, time ?? Number.NaN),
      () => scheduler.noteSent(time),
      () => scheduler.receive(event('speak', { request_id: 'r' }, { utterance: 'x' }), time),
      () => scheduler.expire(time),
      () => scheduler.nextDeadline(time),
      () => scheduler.cancel('r', time),
    ]) {
      raisesLocal(call, 'bad-argument');
    }
  }
  assert.is(scheduler.nextDeadline(0), 60000);
});

test('refuses options of the wrong type', () => {
  const refuse = (options: unknown) =>
    raisesLocal(() => new RequestScheduler(options as SchedulerOptions), 'bad-argument');
  for (const options of [null, 'x', 7, [], ...UNREADABLE, withThrowing('sessionId')]) refuse(options);
  for (const sessionId of [null, '', ' ', 7]) refuse({ sessionId });
  for (const deadlines of [null, 7, [], ...UNREADABLE]) refuse({ deadlines });
  for (const saysHandled of [null, 0, 'yes']) refuse({ saysHandled });
  for (const idle of [null, '1', Number.NaN, Number.POSITIVE_INFINITY, 3e9, 86_400_001, 0, -1])
    refuse({ deadlines: { idle } });
});

test('refuses an unknown option by its name', () => {
  const error = raisesLocal(() => new RequestScheduler({ sesionId: 's' } as never), 'bad-argument');
  assert.match(error.message, 'sesionId');
  raisesLocal(() => new RequestScheduler({ deadlines: { settled: 1 } as never }), 'bad-argument');
});

test('ignores messages that cannot be read', () => {
  const scheduler = new RequestScheduler();
  for (const message of ['', '{', 'null', ...([undefined, null, 7, {}, ...UNREADABLE] as never[])]) {
    assert.equal(scheduler.receive(message, 0), []);
  }
});

test('refuses a request while 10,000 have not ended', () => {
  const scheduler = new RequestScheduler();
  const ask = (id: number) => scheduler.request(request(`${id}`), 0);
  assert.is(MAX_REQUESTS, 10_000);
  for (let i = 0; i < MAX_REQUESTS; i++) ask(i);
  raisesLocal(() => ask(MAX_REQUESTS), 'too-many-requests');
  scheduler.cancel('5000', 0);
  ask(MAX_REQUESTS);
  raisesLocal(() => ask(MAX_REQUESTS + 1), 'too-many-requests');
});

test('ends and sends requests in the order in which they were made, whichever was due first', () => {
  const scheduler = new RequestScheduler();
  const times = [500, 300, 400, 200, 900];
  const sessions = ['s', 't', 's', 't', 't'];
  times.forEach((time, i) => {
    scheduler.request(request(`${i}`, sessions[i]), 0, time);
  });
  scheduler.request(request('5', 's'), 0);
  const told = (decisions: readonly RequestDecision[]): string[] =>
    decisions.map((decision) => `${decision.do} ${(decision as FinishDecision).requestId}`);
  assert.is(scheduler.nextDeadline(0), 200);
  const expected = ['finish 0', 'finish 1', 'finish 2', 'finish 3', 'send 4', 'send 5'];
  assert.equal(told(scheduler.expire(600)), expected);
  assert.is(scheduler.nextDeadline(600), 300);
  assert.equal(told(scheduler.closed()), ['finish 4', 'finish 5']);
});

test('waits as long as the caller’s knowledge of the hub implies', () => {
  const scheduler = new RequestScheduler();
  for (const id of ['a', 'b']) scheduler.request(request(id, id), 0);
  scheduler.receive(event('speak', { request_id: 'a' }, { utterance: 'One.' }), 0);
  scheduler.request(request('c', 'a'), 0, 2000);
  for (const [saysHandled, deadline] of [
    [true, 2000],
    [false, 250],
    [undefined, 2000],
  ] as const) {
    scheduler.saysHandled = saysHandled;
    assert.is(scheduler.nextDeadline(0), deadline);
  }
});

test('learns while it waits how long replies take, and no request that waits for its turn is late', () => {
  const scheduler = new RequestScheduler();
  for (const id of ['a', 'b']) scheduler.request(request(id), 100_000);
  scheduler.receive(event('speak', { request_id: 'a' }, { utterance: 'One.' }), 100_000);
  scheduler.saysHandled = true;
  assert.equal(scheduler.expire(106_000), []);
  assert.is(scheduler.nextDeadline(106_000), 54_000);
});

test('a request that was cancelled before its turn keeps no other from its turn', () => {
  const scheduler = new RequestScheduler();
  for (const id of ['a', 'b']) scheduler.request(request(id), 0);
  for (const id of ['b', 'a']) scheduler.cancel(id, 0);
  assert.is(scheduler.request(request('c'), 0)[0]?.do, 'send');
});

test('knows of a hundred requests, each in a session of its own, that the hub may still complete', () => {
  for (const [count, isKnown] of [
    [100, true],
    [101, false],
  ] as const) {
    const scheduler = new RequestScheduler();
    for (let i = 0; i < count; i++) {
      scheduler.request(request(`${i}`, `s${i}`), 0);
      scheduler.receive(event('speak', { request_id: `${i}` }, { utterance: 'One.' }), 0);
    }
    scheduler.expire(5000);
    assert.is(scheduler.saysHandled, false);
    scheduler.receive(event('ovos.utterance.handled', { request_id: '0' }), 5000);
    assert.is(scheduler.saysHandled, isKnown);
  }
});

test('knows the earliest deadline of many', () => {
  interface Item extends Timed {
    readonly id: number;
  }
  const time = fc.integer({ min: 0, max: 20 });
  const change = fc.record({ do: fc.constantFrom('add', 'add', 'move', 'remove'), which: fc.nat(99), time });
  fc.assert(
    fc.property(fc.array(change, { maxLength: 80 }), (changes) => {
      const deadlines = new Deadlines<Item>();
      let all: Item[] = [];
      for (const [id, { do: what, which, time }] of changes.entries()) {
        const one = all[which % all.length];
        if (what === 'add' || one === undefined) {
          all.push({ id, dueAt: time, place: 0, number: 0 });
          deadlines.insert(all.at(-1)!);
        } else if (what === 'move') deadlines.move(one, time);
        else {
          deadlines.remove(one);
          all = all.filter((each) => each !== one);
        }
        assert.is(deadlines.length, all.length);
        assert.is(deadlines.earliest, Math.min(Infinity, ...all.map(({ dueAt }) => dueAt)));
        assert.equal(deadlines.all(), all);
      }
    }),
    RUNS,
  );
});

const IDS = ['a', 'b', 'c', '__proto__'];
const id = fc.constantFrom(...IDS);
const session = fc.constantFrom(undefined, 's', 't', '__proto__');
const type = fc.constantFrom(
  'speak',
  'ovos.utterance.handled',
  'ovos.intent.unmatched',
  'hive.policy.denied',
  'hive.query.timeout',
  'mic.level',
);
const step = fc.record({
  wait: fc.integer({ min: 0, max: 6000 }),
  call: fc.constantFrom('request', 'receive', 'receive', 'receive', 'expire', 'cancel', 'noteSent'),
  id,
  session,
  type,
  isNamed: fc.boolean(),
});

test('finishes each request once, one in flight in a session, whatever happens', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const scheduler = new RequestScheduler();
      const waiting = new Map<string, string>(); // the sessions of requests that are not sent yet
      const inFlight = new Map<string, string>();
      const obey = (decisions: readonly RequestDecision[]): void => {
        for (const decision of decisions) {
          if (decision.do === 'send') {
            const session = waiting.get(decision.requestId)!;
            assert.not.ok([...inFlight.values()].includes(session));
            waiting.delete(decision.requestId);
            inFlight.set(decision.requestId, session);
          }
          if (decision.do === 'finish') {
            const requests = decision.wasSent ? inFlight : waiting;
            assert.ok(requests.delete(decision.requestId), 'finished without having been asked');
          }
        }
        for (const session of waiting.values()) assert.ok([...inFlight.values()].includes(session));
      };
      let now = 0;
      for (const { wait, call, id, session, type, isNamed } of steps) {
        now += wait;
        if (call === 'request' && !waiting.has(id) && !inFlight.has(id)) {
          waiting.set(id, session ?? '');
          obey(scheduler.request(request(id, session), now));
        }
        if (call === 'receive') {
          const ids = { ...(isNamed && { request_id: id }), session: { session_id: `n:${session}` } };
          const data = { utterance: 'One.', denied_type: 'recognizer_loop:utterance' };
          const before = inFlight.size + waiting.size;
          const decisions = scheduler.receive(event(type, ids, data), now);
          obey(decisions);
          assert.ok(before - inFlight.size - waiting.size <= 1, 'an event ends one request at most');
        }
        if (call === 'noteSent') scheduler.noteSent(now);
        if (call === 'cancel') obey(scheduler.cancel(id, now));
        if (call === 'expire') {
          const deadline = scheduler.nextDeadline(now);
          assert.is(deadline === undefined, inFlight.size === 0);
          if (deadline !== undefined) {
            if (deadline > 0) assert.equal(scheduler.expire(now + deadline - 1), []);
            now += deadline;
            const before = inFlight.size + waiting.size;
            obey(scheduler.expire(now));
            assert.ok(inFlight.size + waiting.size < before, 'something ends at a deadline');
          }
        }
      }
      obey(scheduler.closed());
      assert.is(inFlight.size + waiting.size, 0);
      assert.is(scheduler.nextDeadline(now), undefined);
    }),
    RUNS,
  );
});

/** Calls a function in which one of the calls of methods that need memory fails, as in an engine whose heap is full. */
function inFullHeap<T>(fails: { at: number }, call: () => T): T {
  const methods = Array.prototype as unknown as { [name: string]: (...args: unknown[]) => unknown };
  const own = ['push', 'concat', 'filter', 'slice'].map((name) => [name, methods[name]!] as const);
  for (const [name, method] of own) {
    methods[name] = function (this: unknown, ...args: unknown[]) {
      if (--fails.at === 0) throw new RangeError('Array buffer allocation failed');
      return method.apply(this, args);
    };
  }
  try {
    return call();
  } finally {
    for (const [name, method] of own) methods[name] = method;
  }
}

test('a failed allocation ends the scheduler: each further call throws the same error', () => {
  const speak = event('speak', { request_id: 'c' }, { utterance: 'One.', meta: {}, expect_response: true });
  let allocations = 0;
  for (let n = 0; n <= allocations; n++) {
    const fails = { at: n };
    const scheduler = new RequestScheduler({ sessionId: 'lobby', deadlines: { idle: 1000 } });
    const calls = [
      () => scheduler.request(request('a'), 0),
      () => scheduler.request(request('b'), 1),
      () => scheduler.request(request('c', 'elsewhere'), 2),
      () => scheduler.receive(speak, 4),
      () => scheduler.nextDeadline(5),
      () => scheduler.cancel('a', 6),
      () => scheduler.expire(1500),
      () => scheduler.request(request('d', 'elsewhere'), 1600), // the answer to what the hub has asked
      () => scheduler.closed(),
    ];
    const life = (): void => inFullHeap(fails, () => calls.forEach((call) => void call()));
    if (n === 0) {
      life();
      allocations = -fails.at;
    } else {
      const failure = raisesLocal(life, 'out-of-memory');
      for (const call of calls) assert.is(raisesLocal(call, 'out-of-memory'), failure);
    }
  }
});

/** Lives of a scheduler: time, input, decisions, and the next deadline from then. What the vectors recorded leaves out. */
const LIVES: readonly (readonly [
  name: string,
  saysHandled: boolean | undefined,
  steps: readonly (readonly [at: number, input: string, expected: string, deadline: number | undefined])[],
])[] = [
  [
    'after a request of which nothing was heard',
    false,
    [
      [0, 'ask a', 'send a', 60000],
      [1000, 'cancel a', 'finish a timeout', undefined],
      [1000, 'ask b', 'send b', 60000],
      [9999, 'hive.policy.denied -', 'handle hive.policy.denied -', 51001],
      [10000, 'hive.policy.denied -', 'finish b denied', undefined],
    ],
  ],
  [
    'after a request that was never sent',
    false,
    [
      [0, 'ask a', 'send a', 60000],
      [0, 'ask b', 'nothing', 60000],
      [10, 'cancel b', 'finish b timeout unsent', 59990],
      [20, 'hive.policy.denied -', 'finish a denied', undefined],
    ],
  ],
  [
    'two sessions',
    false,
    [
      [0, 'ask a in s', 'send a', 60000],
      [100, 'ask b in t', 'send b', 59900],
      [1000, 'speak - in n:t: Two.', 'part b Two.', 250],
      [1100, 'speak - in n:s: One.', 'part a One.', 150],
      [1350, 'expire', 'finish a spoken One., finish b spoken Two.', undefined],
    ],
  ],
  [
    'the request after that does not go on',
    true,
    [
      [0, 'ask a in s', 'send a', 60000],
      [1000, 'asks a: Which colour?', 'part a Which colour?', 250],
      [1250, 'expire', 'finish a spoken Which colour?', undefined],
      [9000, 'ask b in s', 'send b', 60000],
      [9200, 'ovos.utterance.handled b', 'finish b handled', undefined],
      [9300, 'ask c in s', 'send c', 60000],
      [9400, 'speak a: Still there?', 'handle speak a', 59900],
    ],
  ],
  [
    'the hub has handled the question before the answer',
    true,
    [
      [0, 'ask a in s', 'send a', 60000],
      [1000, 'asks a: Which colour?', 'part a Which colour?', 250],
      [1250, 'expire', 'finish a spoken Which colour?', undefined],
      [2000, 'ovos.utterance.handled a', 'handle ovos.utterance.handled a', undefined],
      [9000, 'ask b in s', 'send b', 60000],
      [9100, 'speak a: One moment.', 'handle speak a', 59900],
    ],
  ],
  [
    'late, after one that came before speech',
    false,
    [
      [0, 'ask a', 'send a', 60000],
      [1000, 'ovos.utterance.handled a', 'nothing', 5000],
      [1500, 'speak a: One.', 'part a One.', 250],
      [1750, 'expire', 'finish a spoken One.', undefined],
      [2000, 'ovos.utterance.handled a', 'handle ovos.utterance.handled a', undefined],
    ],
  ],
  [
    'late, after a reply without speech',
    false,
    [
      [0, 'ask a', 'send a', 60000],
      [60000, 'expire', 'finish a timeout', undefined],
      [61000, 'ovos.utterance.handled a', 'handle ovos.utterance.handled a', undefined],
    ],
  ],
  [
    'a hub that does not say it any more is not known again',
    true,
    [
      [0, 'ask a', 'send a', 60000],
      [1000, 'speak a: One.', 'part a One.', 60000],
      [60999, 'expire', 'nothing', 1],
      [61000, 'expire', 'finish a spoken One.; says undefined', undefined],
      [70000, 'ask b', 'send b', 60000],
      [71000, 'speak b: Two.', 'part b Two.', 5000],
      [76000, 'expire', 'finish b spoken Two.; says false', undefined],
    ],
  ],
  [
    'a pause of more than five seconds: it comes late, and corrects what the silence has shown',
    undefined,
    [
      [0, 'ask a', 'send a', 60000],
      [1000, 'speak a: One.', 'part a One.', 5000],
      [6000, 'expire', 'finish a spoken One.; says false', undefined],
      [9000, 'speak a: Two.', 'handle speak a', undefined],
      [9001, 'ovos.utterance.handled a', 'handle ovos.utterance.handled a; says true', undefined],
    ],
  ],
  [
    'late, while another request is in flight',
    undefined,
    [
      [0, 'ask a', 'send a', 60000],
      [1000, 'speak a: One.', 'part a One.', 5000],
      [6000, 'expire', 'finish a spoken One.; says false', undefined],
      [7000, 'ask b', 'send b', 60000],
      [9001, 'ovos.utterance.handled a', 'handle ovos.utterance.handled a; says true', 57999],
      [9002, 'speak b: Two.', 'part b Two.', 60000],
    ],
  ],
  [
    'its time is up while the hub speaks',
    true,
    [
      [0, 'ask a for 3000', 'send a', 3000],
      [1000, 'speak a: One.', 'part a One.', 2000],
      [3000, 'expire', 'finish a timeout One.', undefined],
    ],
  ],
  [
    'speech under both names',
    false,
    [
      [0, 'ask a', 'send a', 60000],
      [1000, 'speak a: One.', 'part a One.', 250],
      [1100, 'ovos.utterance.speak a: One.', 'nothing', 250],
      [1350, 'expire', 'finish a spoken One.', undefined],
    ],
  ],
  [
    'two soft failures',
    false,
    [
      [0, 'ask a', 'send a', 60000],
      [1000, 'ovos.intent.unmatched a', 'nothing', 5000],
      [2000, 'complete_intent_failure a', 'nothing', 4000],
      [6000, 'expire', 'finish a unanswered', undefined],
    ],
  ],
  [
    'after completion',
    false,
    [
      [0, 'ask a', 'send a', 60000],
      [1000, 'ovos.utterance.handled a', 'nothing', 5000],
      [1100, 'closed', 'finish a handled', undefined],
    ],
  ],
  [
    'three in one session, and a refusal without an id or a session',
    false,
    [
      [0, 'ask a in s', 'send a', 60000],
      [0, 'ask b in s', 'nothing', 60000],
      [0, 'ask c in s', 'nothing', 60000],
      [500, 'hive.policy.denied a', 'finish a denied, send b', 60000],
      [600, 'hive.policy.denied -', 'finish b denied, send c', 60000],
    ],
  ],
];

const DEADLINES = { idle: 60_000, unsure: 5000, speaking: 250, unmatched: 5000, completed: 5000 };

/** `ask ID in SESSION for MS`, `TYPE ID in SESSION: TEXT` for an event of the hub, whose ID may be `-`, `cancel ID`, `expire` or `closed`. */
function decided(scheduler: RequestScheduler, input: string, at: number): readonly RequestDecision[] {
  const [, type, id = '-', session, timeout, utterance] =
    /^(\S+?)(?: ([^ :]+))?(?: in (\S+?))?(?: for (\d+))?(?:: (.*))?$/.exec(input)!;
  if (type === 'expire') return scheduler.expire(at);
  if (type === 'closed') return scheduler.closed();
  const envelope = request(id, session);
  if (type === 'ask')
    return scheduler.request(envelope, at, timeout === undefined ? undefined : Number(timeout));
  if (type === 'cancel') return scheduler.cancel(id, at);
  const context = {
    ...(id !== '-' && { request_id: id }),
    ...(session && { session: { session_id: session } }),
  };
  const denied_type = 'recognizer_loop:utterance';
  const data = {
    utterance,
    expect_response: type === 'asks',
    ...(type!.endsWith('denied') && { denied_type }),
  };
  return scheduler.receive(event(type === 'asks' ? 'speak' : type!, context, data), at);
}

function inWords(decision: RequestDecision): string {
  if (decision.do === 'handle') return `handle ${decision.event.type} ${decision.event.requestId ?? '-'}`;
  const words = [decision.do, decision.requestId];
  if (decision.do === 'part') words.push(decision.text);
  if (decision.do === 'finish')
    words.push(decision.ending, decision.reply.text, decision.wasSent ? '' : 'unsent');
  return words.filter(Boolean).join(' ');
}

for (const [name, saysHandled, steps] of LIVES) {
  test(`a life: ${name}`, () => {
    const scheduler = new RequestScheduler({ deadlines: DEADLINES, saysHandled });
    let says = saysHandled;
    for (const [at, input, expected, deadline] of steps) {
      const words = decided(scheduler, input, at).map(inWords).join(', ') || 'nothing';
      const changed = scheduler.saysHandled === says ? '' : `; says ${scheduler.saysHandled}`;
      says = scheduler.saysHandled;
      assert.is(`${words}${changed}`, expected, `${at} ${input}`);
      assert.is(scheduler.nextDeadline(at), deadline, `${at} ${input}`);
    }
  });
}

test.run();

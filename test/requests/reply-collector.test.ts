import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { buildUtterance } from '../../src/requests/build-request.ts';
import { type CollectorOptions, ReplyCollector } from '../../src/requests/reply-collector.ts';
import type { Json } from '../../src/wire/json.ts';
import { parseJson } from '../../src/wire/parse-json.ts';
import { raisesLocal } from '../raises.ts';
import { readyPair } from '../session/pair.ts';

const OWN = { request_id: 'req-1' };
const event = (type: string, data: Json = {}, context: Json = OWN): string =>
  JSON.stringify({ msg_type: 'bus', payload: { type, data, context } });
const speak = (utterance: string, context?: Json): string => event('speak', { utterance }, context);
const HANDLED = event('ovos.utterance.handled');
const DENIED = event('hive.policy.denied', { denied_type: 'recognizer_loop:utterance' }, {});

const collect = (...events: string[]): ReplyCollector => {
  const collector = new ReplyCollector({ requestId: 'req-1', sessionId: 'sess-1' });
  for (const event of events) collector.push(event, true);
  return collector;
};

test('answers a request over a session', () => {
  const { client, hub } = readyPair();
  const request = { requestId: 'req-1', sessionId: 'sess-1' };
  const collector = new ReplyCollector(request);
  client.sendJson(buildUtterance({ ...request, text: 'what time is it' })).map((data) => hub.receive(data));
  for (const text of [speak('It is <emphasis>noon</emphasis>.'), HANDLED]) {
    for (const message of hub.sendJson(text).flatMap((data) => client.receive(data))) {
      collector.push((message as { text: string }).text, true);
    }
  }
  assert.is(collector.state, 'done');
  assert.is(collector.ending, 'handled');
  assert.equal(collector.reply, {
    text: 'It is <emphasis>noon</emphasis>.',
    speech: 'It is noon.',
    displayItems: [],
    sessionId: 'sess-1',
    requestId: 'req-1',
    policyDenied: false,
    rawEvent: JSON.parse(speak('It is <emphasis>noon</emphasis>.')).payload,
  });
});

test('takes messages that are parsed already', () => {
  for (const parse of [JSON.parse, parseJson]) {
    const collector = collect();
    assert.is(collector.push(parse(speak('One.')), true), 'waiting');
    assert.is(collector.push(parse(HANDLED), true), 'done');
    assert.is(collector.reply.text, 'One.');
  }
});

test('takes numbers as ids and as words', () => {
  const collector = new ReplyCollector({ requestId: '7.0' });
  const spoken = event('speak', { utterance: 12 }, { request_id: 'x' }).replace('"x"', '7.0');
  collector.push(spoken, true);
  assert.is(collector.reply.text, '12');
});

test('waits, settles softly, waits again, and is done', () => {
  const collector = collect();
  assert.is(collector.state, 'waiting');
  assert.is(collector.push(event('ovos.intent.unmatched'), true), 'settled');
  assert.is(collector.push(speak('After all.'), true), 'waiting');
  assert.is(collector.ending, undefined);
  assert.is(collector.push(HANDLED, true), 'done');
  assert.is(collector.ending, 'handled');
});

test('leaves a refusal that may be another’s, and one whose owner nobody told', () => {
  const collector = collect();
  assert.is(collector.push(DENIED, false), 'waiting');
  assert.is((collector.push as (message: string) => string).call(collector, DENIED), 'waiting');
  assert.is(collector.push(DENIED, true), 'done');
  assert.is(collector.reply.policyDenied, true);
});

test('ends once, whatever follows', () => {
  const endings: [string, (collector: ReplyCollector) => unknown][] = [
    ['handled', (collector) => collector.push(HANDLED, true)],
    ['denied', (collector) => collector.push(DENIED, true)],
    ['query-timeout', (collector) => collector.push(event('hive.query.timeout'), true)],
    ['timeout', (collector) => collector.timeout()],
    ['closed', (collector) => collector.closed()],
  ];
  for (const [ending, end] of endings) {
    const collector = collect(speak('One.'));
    end(collector);
    const { reply } = collector;
    for (const [, endAgain] of endings) endAgain(collector);
    collector.push(speak('Two.'), true);
    assert.is(collector.ending, ending);
    assert.is(collector.state, 'done');
    assert.equal(collector.reply, reply);
    assert.is(reply.text, 'One.');
  }
});

test('fails all that is in flight when the connection dies', () => {
  const inFlight = ['a', 'b'].map((requestId) => new ReplyCollector({ requestId }));
  for (const collector of inFlight) collector.push(speak('Half', { request_id: 'a' }), false);
  for (const collector of inFlight) collector.closed();
  assert.equal(
    inFlight.map(({ state, ending, reply }) => [state, ending, reply.text]),
    [
      ['done', 'closed', 'Half'],
      ['done', 'closed', ''],
    ],
  );
});

test('answers a reply that later events do not change', () => {
  const collector = collect(event('speak', { image: 'a.png' }));
  const { displayItems } = collector.reply;
  collector.push(event('speak', { image: 'b.png' }), true);
  assert.is(displayItems.length, 1);
  assert.is(collector.reply.displayItems.length, 2);
});

test('refuses options that tie no event to it', () => {
  const refuse = (options: unknown) =>
    raisesLocal(() => new ReplyCollector(options as CollectorOptions), 'bad-argument');
  for (const options of [undefined, null, 'req-1', []]) refuse(options);
  for (const id of [undefined, null, '', ' ', 7]) refuse({ requestId: id });
  for (const id of [null, '', ' ', 7]) {
    refuse({ requestId: 'req-1', sessionId: id });
    refuse({ requestId: 'req-1', type: id });
  }
});

const RUNS = { numRuns: Number(process.env.FUZZ_RUNS ?? 100) };

/** The fields that are read, holding anything. */
function fields(names: string[], value: fc.Arbitrary<unknown>): fc.Arbitrary<object> {
  return fc.record(Object.fromEntries(names.map((name) => [name, value])), { requiredKeys: [] });
}

const MEDIA = ['table', 'attachment', 'attachments', 'quick_replies', 'buttons', 'image', 'images'];
const anything = fc.oneof(fc.string({ unit: 'binary' }), fc.jsonValue(), fc.json());
const media = fields(
  MEDIA,
  fc.oneof(anything, fields(['src', 'title', 'payload', 'type', 'value'], anything)),
);
const data = fc.oneof(
  anything,
  media,
  fields(['utterance', 'text', 'utterances', 'denied_type', 'data', 'display'], fc.oneof(anything, media)),
);
const context = fc.oneof(
  anything,
  fc.constant(OWN),
  fields(['request_id', 'session', 'session_id'], fc.oneof(anything, fc.constant('req-1'), fc.constant(OWN))),
);
const type = fc.constantFrom(
  'speak',
  'complete_intent_failure',
  'hive.policy.denied',
  'mic.level',
  '__proto__',
);
const message = fc.record({ msg_type: fc.constant('bus'), payload: fc.record({ type, data, context }) });

test('throws nothing, whatever comes, and answers a reply of the same form', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(anything, message)), fc.boolean(), (messages, sole) => {
      const collector = new ReplyCollector({ requestId: 'req-1' });
      for (const message of messages) {
        collector.push(message as Json, sole);
        collector.push(JSON.stringify(message), sole);
      }
      const { reply } = collector;
      assert.type(reply.text, 'string');
      assert.type(reply.speech, 'string');
      assert.is(reply.requestId, 'req-1');
      assert.is(reply.policyDenied, collector.ending === 'denied');
      for (const { kind } of reply.displayItems) {
        assert.ok(['choices', 'table', 'image', 'attachment'].includes(kind));
      }
    }),
    RUNS,
  );
});

test('throws nothing at what is no JSON value either', () => {
  for (const message of [undefined, () => 1, Symbol('x'), new Uint8Array(3), new Date(), 10n]) {
    assert.is(collect().push(message as never, true), 'waiting');
  }
});

test.run();

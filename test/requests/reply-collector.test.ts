import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { buildUtterance } from '../../src/requests/build-request.ts';
import { type HubEvent, readHubEvent } from '../../src/requests/hub-event.ts';
import { ReplyCollector } from '../../src/requests/reply-collector.ts';
import type { Json } from '../../src/wire/json.ts';
import { UNREADABLE, withThrowing } from '../world/hostile.ts';
import { readyPair } from '../world/pair.ts';
import { fc, runs } from '../world/property.ts';
import { raisesLocal } from '../world/raises.ts';

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

test('collects the reply to a request over a session', () => {
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
    expectsAnswer: false,
    sessionId: 'sess-1',
    requestId: 'req-1',
    policyDenied: false,
    rawEvent: JSON.parse(speak('It is <emphasis>noon</emphasis>.')).payload,
  });
});

test('accepts an event that was already parsed', () => {
  const collector = collect();
  assert.is(collector.push(readHubEvent(speak('One.'))!, true), 'speaking');
  assert.is(collector.push(readHubEvent(HANDLED)!, true), 'done');
  assert.is(collector.reply.text, 'One.');
});

test('reports which events belong to the request', () => {
  const owns = (text: string, sole = true): boolean => collect().owns(readHubEvent(text)!, sole);
  assert.is(owns(speak('One.')), true);
  assert.is(owns(speak('One.', { session: { session_id: 'n:sess-1' } })), true);
  assert.is(owns(speak('One.', { request_id: 'req-2' })), false);
  assert.is(owns(event('mycroft.mic.listen')), false);
  assert.is(owns(DENIED), true);
  assert.is(owns(DENIED, false), false);
});

test('a repeated speech adds nothing to say, but what it shows that is new', () => {
  const choices = (...names: string[]) => event('speak', { utterance: 'Which?', quick_replies: names });
  const collector = collect(choices('One'));
  const { speech } = collector.part!;
  collector.push(choices('Two'), true);
  const { part } = collector;
  assert.equal([speech, part?.speech, part?.text, part?.displayItems.length], ['Which?', '', '', 1]);
});

test('ends once', () => {
  const endings: [string, (collector: ReplyCollector) => unknown][] = [
    ['handled', (collector) => collector.push(HANDLED, true)],
    ['denied', (collector) => collector.push(DENIED, true)],
    ['query-timeout', (collector) => collector.push(event('hive.query.timeout'), true)],
    ['spoken', (collector) => collector.timeout()],
    ['timeout', (collector) => collector.stop()],
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

test('refuses an unknown option', () => {
  raisesLocal(() => new ReplyCollector({ requestId: 'req-1', sesionId: 's' } as never), 'bad-argument');
});

test('refuses a message that is neither a string nor an event, and does not change', () => {
  const collector = collect();
  const messages = [null, 7, {}, [], () => 1, JSON.parse(speak('One.')), ...UNREADABLE];
  for (const message of messages) raisesLocal(() => collector.push(message, true), 'bad-argument');
  const spoken: HubEvent = readHubEvent(speak('One.'))!;
  for (const field of ['type', 'data', 'requestId', 'sessionId', 'payload']) {
    raisesLocal(() => collector.push(withThrowing(field, spoken) as HubEvent, true), 'bad-argument');
    raisesLocal(() => collector.owns(withThrowing(field, spoken) as HubEvent, true), 'bad-argument');
  }
  for (const field of ['type', 'data', 'payload']) {
    raisesLocal(() => collector.push({ ...spoken, [field]: 7 } as HubEvent, true), 'bad-argument');
  }
  for (const data of [...UNREADABLE, withThrowing('utterance')]) {
    raisesLocal(() => collector.push({ ...spoken, data } as HubEvent, true), 'bad-argument');
  }
  const refused: HubEvent = { ...readHubEvent(DENIED)!, data: withThrowing('denied_type') as never };
  raisesLocal(() => collector.push(refused, true), 'bad-argument');
  assert.is(collector.state, 'waiting');
  assert.is(collector.reply.rawEvent, null);
});

const RUNS = runs(100);

/** An object with any of these fields. */
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

test('does not throw whatever the hub sends, and returns a reply of the same form', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(anything, message)), fc.boolean(), (messages, sole) => {
      const collector = new ReplyCollector({ requestId: 'req-1' });
      for (const message of messages) collector.push(JSON.stringify(message), sole);
      const { reply } = collector;
      assert.type(reply.text, 'string');
      assert.type(reply.speech, 'string');
      assert.is(reply.requestId, 'req-1');
      assert.is(reply.policyDenied && collector.ending !== 'denied', false);
      for (const { kind } of reply.displayItems) {
        assert.ok(['choices', 'table', 'image', 'attachment'].includes(kind));
      }
    }),
    RUNS,
  );
});

test.run();

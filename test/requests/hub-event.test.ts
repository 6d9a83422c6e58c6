import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { readDisplayItems } from '../../src/requests/display-items.ts';
import { readHubEvent } from '../../src/requests/plain-event.ts';
import { readRefusal } from '../../src/requests/refusal.ts';
import type { JsonObject } from '../../src/wire/json.ts';
import { parseJson } from '../../src/wire/parse-json.ts';
import { UNREADABLE, withThrowing } from '../world/hostile.ts';
import { raisesLocal } from '../world/raises.ts';

/** An object inside itself. */
function endless(): JsonObject {
  const object: JsonObject = {};
  object.inside = object;
  return object;
}

const SPOKEN = {
  msg_type: 'bus',
  payload: {
    type: 'speak',
    data: { utterance: 'Your timer has ended.' },
    context: { session: { session_id: 'n:kitchen' } },
  },
};

test('accepts a message that was already parsed', () => {
  const text = JSON.stringify(SPOKEN);
  for (const parse of [JSON.parse, parseJson]) assert.equal(readHubEvent(parse(text)), readHubEvent(text));
});

test('returns JavaScript’s numbers in data, and numbers in the payload as they are written', () => {
  const data = '{"percent":0.35,"list":[{"whole":1.0}],"__proto__":1e2,"count":3,"none":null}';
  const event = readHubEvent(`{"msg_type":"bus","payload":{"type":"speak","data":${data}}}`)!;
  assert.equal(event.data, JSON.parse(data));
  assert.is(String((event.payload.data as JsonObject).percent), '0.35');
  assert.is(readHubEvent({ msg_type: 'bus', payload: { type: 'speak', data: endless() } }), undefined);
});

test('returns numbers in ids as they are written', () => {
  const text = '{"msg_type":"bus","payload":{"type":"speak","context":{"request_id":7.0,"session_id":12}}}';
  const event = readHubEvent(text)!;
  assert.is(event.requestId, '7.0');
  assert.is(event.sessionId, '12');
});

test('returns undefined for a payload that is not an object, and for a type that is not a string', () => {
  for (const payload of ['speak', 7, null, Object.assign([], { type: 'speak' }), { type: 7 }, {}])
    assert.is(readHubEvent({ msg_type: 'bus', payload } as never), undefined);
});

test('says that there is no memory, which does not show that a message is none', () => {
  const message = Object.defineProperty({}, 'msg_type', {
    get() {
      throw new RangeError('Array buffer allocation failed'); // as V8 says it
    },
  });
  raisesLocal(() => readHubEvent(message), 'out-of-memory');
});

test('does not read a field named `undefined` in place of a missing one', () => {
  const context = { undefined: 'req-1' };
  const event = readHubEvent({ msg_type: 'bus', payload: { type: 'speak', context } })!;
  assert.equal([event.requestId, event.sessionId], [undefined, undefined]);
  const media = { table: [1] };
  assert.equal(readDisplayItems({ undefined: media }), []);
  assert.equal(readDisplayItems({ display: { undefined: 'a.png' } }), []);
});

test('does not throw at values that are not JSON', () => {
  for (const message of [
    undefined,
    () => 1,
    Symbol('x'),
    new Uint8Array(3),
    new Date(),
    10n,
    ...UNREADABLE,
  ]) {
    assert.is(readHubEvent(message as never), undefined);
    assert.is(readRefusal(message as never), null);
  }
  assert.is(readHubEvent({ msg_type: 'bus', payload: withThrowing('type') as never }), undefined);
  assert.is(readRefusal({ type: 'hive.policy.denied', data: withThrowing('code') as never }), null);
});

test.run();

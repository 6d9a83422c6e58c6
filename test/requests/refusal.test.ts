import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { readRefusal } from '../../src/requests/refusal.ts';
import { type Json, JsonNumber } from '../../src/wire/json.ts';

const denied = (data: Json): Json => ({ type: 'hive.policy.denied', data });
const quotaOf = (policy: Json) =>
  readRefusal(denied({ code: 'intent_quota_exceeded', data: policy }))!.quota!;

test('reads figures from 0 to 2^53 - 1 as numbers, tokens or digits, and anything else as 0', () => {
  const figures: [Json, number][] = [
    [7, 7],
    ['7', 7],
    [new JsonNumber('7.0'), 7],
    [new JsonNumber('9007199254740991'), 9007199254740991],
    [new JsonNumber('9007199254740992'), 0],
    [new JsonNumber('-0'), 0],
    [-1, 0],
    ['-1', 0],
    ['', 0],
    ['1e3', 0],
    [1.5, 0],
    [Number.NaN, 0],
    [true, 0],
    [[7], 0],
    [null, 0],
  ];
  for (const [value, figure] of figures) {
    assert.equal(quotaOf({ limit: value, used: value, reset_after: value }), {
      period: '',
      limit: figure,
      used: figure,
      resetAfter: figure,
    });
  }
});

test('reads a negative zero as 0', () => {
  assert.ok(Object.is(quotaOf({ limit: -0 }).limit, 0));
});

test.run();

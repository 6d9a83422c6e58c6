import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { readRefusal } from '../../src/requests/refusal.ts';
import { type Json, JsonNumber } from '../../src/wire/json.ts';

const denied = (data: Json): Json => ({ type: 'hive.policy.denied', data });
const quotaOf = (policy: Json) =>
  readRefusal(denied({ code: 'intent_quota_exceeded', data: policy }))!.quota!;

test('reads why a message was refused', () => {
  const policy = { allowed: ['speak'], limit: 5 };
  assert.equal(
    readRefusal(denied({ denied_type: 'x', code: 'acl_disallowed_type', reason: 'no', data: policy })),
    {
      deniedType: 'x',
      code: 'acl_disallowed_type',
      reason: 'no',
      allowed: ['speak'],
      quota: null,
    },
  );
});

test('reads nothing in what is no refusal', () => {
  for (const payload of [null, undefined, 'hive.policy.denied', [], {}, { type: 'speak' }]) {
    assert.is(readRefusal(payload as Json), null);
  }
});

test('counts with whole numbers from 0 to 2^53 - 1, however they are written', () => {
  const counted: [Json, number][] = [
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
  for (const [value, expected] of counted) {
    assert.equal(quotaOf({ limit: value, used: value, reset_after: value }), {
      period: '',
      limit: expected,
      used: expected,
      resetAfter: expected,
    });
  }
});

test('has no figures where the policy is no object', () => {
  for (const policy of [null, 7, 'daily', ['daily']]) {
    assert.equal(quotaOf(policy), { period: '', limit: 0, used: 0, resetAfter: 0 });
  }
  assert.equal(readRefusal({ type: 'hive.policy.denied' })!.allowed, []);
});

test.run();

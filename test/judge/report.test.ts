/** Differences and reports: what a porter, and a porter's CI, get to see. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { firstDifference } from '../../judge/src/difference.ts';
import type { Verdict } from '../../judge/src/judge.ts';
import { hasPassed, summarize, toJson, toJunit, toText } from '../../judge/src/report.ts';

const PASSED: Verdict = {
  capability: 'seal',
  name: 'transport 1',
  comment: '',
  result: 'passed',
  milliseconds: 1,
};
const DECLINED: Verdict = { ...PASSED, capability: 'psk', result: 'declined' };
const FAILED: Verdict = {
  ...PASSED,
  name: 'transport 2',
  comment: 'at the limit',
  result: 'failed',
  milliseconds: 1500,
  failure: {
    difference: { where: 'results[1]', offset: 3, expected: 'aa', got: '\u0000<&>"' },
    cause: 'nonce order',
    isFound: false,
  },
};

test('finds the first byte in which hexadecimal texts differ', () => {
  assert.equal(firstDifference('message', '00112233445566778899', '0011223344556677ff99'), {
    where: 'message',
    offset: 8,
    expected: '…445566778899',
    got: '…44556677ff99',
  });
});

test('says that a text ends where the other goes on', () => {
  assert.equal(firstDifference('message', 'aabb', 'aa'), {
    where: 'message',
    offset: 1,
    expected: 'aabb',
    got: 'aa (ends)',
  });
  assert.match(firstDifference('message', 'aa', 'aabb')!.expected, /\(ends\)/);
});

test('finds the first character in which other texts differ', () => {
  assert.equal(firstDifference('url', 'wss://a', 'wss://b'), {
    where: 'url',
    offset: 6,
    expected: '…"s://a"',
    got: '…"s://b"',
  });
});

test('finds a difference by its path, in lists and objects', () => {
  const expected = { results: [{ message: '00' }, { message: '01' }] };
  const got = { results: [{ message: '00' }, { message: '02' }] };
  assert.is(firstDifference('', expected, got)!.where, 'results[1].message');
  assert.equal(firstDifference('frames', [1, 2], [1]), { where: 'frames', expected: '2 of them', got: '1' });
  assert.equal(firstDifference('tls', true, undefined), { where: 'tls', expected: 'true', got: 'nothing' });
});

test('takes no offence at fields that only the answer has', () => {
  assert.is(firstDifference('', { a: 1, b: [null] }, { a: 1, b: [null], c: 2 }), undefined);
});

test('finds what only an answer has that is to be exact, at any depth', () => {
  assert.equal(firstDifference('reply', { a: [{}] }, { a: [{ b: 1 }] }, true), {
    where: 'reply.a[0].b',
    expected: 'nothing',
    got: '1',
  });
});

test('cuts what is too long to read', () => {
  const { expected } = firstDifference('x', { a: 'y'.repeat(1000) }, null)!;
  assert.ok(expected.length < 250);
});

test('counts by capability, in order', () => {
  assert.equal(summarize([PASSED, DECLINED, FAILED]), [
    { capability: 'seal', passed: 1, failed: 1, declined: 0 },
    { capability: 'psk', passed: 0, failed: 0, declined: 1 },
  ]);
});

test('has passed only where something passed, and nothing failed', () => {
  assert.is(hasPassed([PASSED, DECLINED]), true);
  assert.is(hasPassed([PASSED, FAILED]), false);
  assert.is(hasPassed([DECLINED]), false);
  assert.is(hasPassed([]), false);
});

test('groups failures by their cause and shows a few of each', () => {
  const many = [1, 2, 3, 4, 5].map((tcId) => ({ ...FAILED, name: `transport ${tcId}` }));
  const text = toText(many);
  assert.is(text.split('about: nonce order').length, 2);
  assert.match(text, /transport 3 \(at the limit\)/);
  assert.not.match(text, /transport 4/);
  assert.match(text, /… and 2 more/);
  assert.match(text, /results\[1\], differs at 3/);
});

test('shows only causes that were found where there are such, and counts the rest', () => {
  const found = { ...FAILED, failure: { ...FAILED.failure!, cause: 'big-endian', isFound: true } };
  const text = toText([FAILED, found, FAILED, { ...found, capability: 'open' }]);
  assert.match(text, /FAILED 1 of seal, 1 of open\n {2}cause: big-endian\n/);
  assert.not.match(text, /nonce order/);
  assert.match(text, /2 other failures may well follow/);
});

test('shows ten causes, and how many there are beside them', () => {
  const many = Array.from({ length: 13 }, (_, i) => ({
    ...FAILED,
    failure: { ...FAILED.failure!, cause: `no. ${i}` },
  }));
  const text = toText(many);
  assert.match(text, /about: no. 9\n/);
  assert.not.match(text, /about: no. 10/);
  assert.match(text, /and 3 more causes/);
});

test('writes JSON that holds every verdict', () => {
  const report = JSON.parse(toJson('my port', [PASSED, FAILED]));
  assert.is(report.subject, 'my port');
  assert.is(report.passed, false);
  assert.equal(report.verdicts, [PASSED, FAILED]);
});

test('writes JUnit’s XML, in which nothing is taken for markup or forbidden', () => {
  const xml = toJunit('a "port"', [PASSED, DECLINED, FAILED]);
  assert.match(xml, /<testsuites name="a &#34;port&#34;">/);
  assert.match(xml, /<testcase classname="seal" name="transport 1" time="0.001"\/>/);
  assert.match(xml, /<testcase classname="psk" [^>]*><skipped\/><\/testcase>/);
  assert.match(
    xml,
    /<failure message="nonce order">results\[1\] at 3: expected aa, got \\u0000&#60;&#38;&#62;&#34;<\/failure>/,
  );
});

test.run();

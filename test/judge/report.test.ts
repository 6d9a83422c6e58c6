/** How the judge presents verdicts: differences, groups of failures, the table, JSON and the exit status. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { commonChange, firstDifference } from '../../judge/src/difference.ts';
import { summarize } from '../../judge/src/groups.ts';
import { changesSince, fixedOf, isTestName, toJunit, withKnown, wordOf } from '../../judge/src/known.ts';
import {
  applies,
  badgeOf,
  gapsIn,
  lineOf,
  PROFILES,
  type Profile,
  profileOf,
  readProfile,
} from '../../judge/src/profile.ts';
import { beginWith, exitStatus, toJson, toText } from '../../judge/src/report.ts';
import { listTasks, runVectors } from '../../judge/src/run-vectors.ts';
import { vectorsId } from '../../judge/src/vectors.ts';
import {
  checkFields,
  Declined,
  Failure,
  narrowCauses,
  runTest,
  type Verdict,
} from '../../judge/src/verdict.ts';

const KEY = '0011223344556677';
const OTHER_KEY = 'ff11223344556677';
const PASSED: Verdict = {
  operation: 'topics',
  name: 'mqtt-topics 1',
  comment: '',
  notes: { Plain: 'Nothing special.' },
  result: 'passed',
  milliseconds: 1,
};
const DECLINED: Verdict = { ...PASSED, operation: 'psk', result: 'declined' };
const FAILED: Verdict = {
  ...PASSED,
  name: 'mqtt-topics 2',
  comment: 'at the limit',
  result: 'failed',
  failure: { difference: { where: 'publish', offset: 0, expected: KEY, got: OTHER_KEY }, causes: [] },
};
const EXPLAINED: Verdict = { ...FAILED, failure: { ...FAILED.failure!, causes: ['big-endian'] } };
const DEFECT: Verdict = { ...PASSED, result: 'defect', defect: 'Error: oops\n at x' };

test('a difference of long values does not keep them in memory', () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc');
  const differences: unknown[] = [];
  collect();
  const before = process.memoryUsage().heapUsed;
  for (let i = 0; i < 100; i++) {
    const long = `${i} ${'x'.repeat(2 ** 20)}`;
    differences.push(firstDifference('x', 'short', long), firstDifference('x', null, long));
    differences.push(firstDifference('x', '00', '11'.repeat(2 ** 19) + i.toString().padStart(2, '0')));
  }
  collect();
  const growth = process.memoryUsage().heapUsed - before;
  assert.is(differences.length, 300);
  assert.ok(growth < 20 * 2 ** 20, `${growth} bytes`);
});

test('truncates long lines of an implementation', () => {
  const difference = { where: 'publish', expected: 'aa', got: 'b'.repeat(1e6) };
  const text = toText([{ ...FAILED, failure: { difference, causes: ['c'.repeat(1e6)] } }]);
  assert.ok(text.length < 5000);
});

test('finds the first byte in which hexadecimal strings differ', () => {
  assert.equal(firstDifference('message', '00112233445566778899', '0011223344556677ff99'), {
    where: 'message',
    offset: 8,
    expected: '…445566778899',
    got: '…44556677ff99',
    caret: 9,
    whole: { expected: '00112233445566778899', got: '0011223344556677ff99' },
  });
});

test('reports where a string ends too early', () => {
  assert.equal(firstDifference('message', 'aabb', 'aa'), {
    where: 'message',
    offset: 1,
    expected: 'aabb',
    got: 'aa (ends)',
    caret: 2,
  });
  assert.match(firstDifference('message', 'aa', 'aabb')!.expected, /\(ends\)/);
});

test('finds the first character in which other strings differ', () => {
  assert.equal(firstDifference('url', 'wss://a', 'wss://b'), {
    where: 'url',
    offset: 6,
    expected: '…"s://a"',
    got: '…"s://b"',
    whole: { expected: 'wss://a', got: 'wss://b' },
  });
});

test('gives the path of a difference in arrays and objects', () => {
  const expected = { results: [{ message: '00' }, { message: '01' }] };
  const got = { results: [{ message: '00' }, { message: '02' }] };
  assert.is(firstDifference('', expected, got)!.where, 'results[1].message');
  assert.equal(firstDifference('frames', [1, 2], [1]), { where: 'frames', expected: '2 of them', got: '1' });
  assert.equal(firstDifference('tls', true, undefined), { where: 'tls', expected: 'true', got: 'nothing' });
});

test('finds fields that only the response has, at any depth, if the match is to be exact', () => {
  assert.equal(firstDifference('reply', { a: [{}] }, { a: [{ b: 1 }] }, true), {
    where: 'reply.a[0].b',
    expected: 'nothing',
    got: '1',
  });
});

test('names upper-case digits as the cause if nothing else is wrong', () => {
  const causesOf = (got: string): string => {
    try {
      checkFields({ results: [{ message: got }] }, { results: [{ message: 'ab12' }] });
    } catch (error) {
      return (error as Failure).causes.join();
    }
    return 'none thrown';
  };
  assert.match(causesOf('AB12'), /upper-case/);
  assert.is(causesOf('AC12'), '');
});

test('turns anything that a check throws into a verdict', async () => {
  const test = { operation: 'live', name: 'scene', comment: '' };
  const run = (check: () => Promise<void>) => runTest(test, check);
  assert.is((await run(async () => {})).result, 'passed');
  assert.is((await run(() => Promise.reject(new Declined()))).result, 'declined');
  const difference = { where: 'a', expected: 'b', got: 'c' };
  const failed = await run(() => Promise.reject(new Failure(difference, ['why'])));
  assert.equal(failed.failure, { difference, causes: ['why'] });
  const defect = await run(() => Promise.reject(new TypeError('undefined is not a function')));
  assert.is(defect.result, 'defect');
  assert.match(defect.defect!, /undefined is not a function/);
});

test('counts by operation, in order', () => {
  assert.equal(summarize([PASSED, DECLINED, FAILED]), [
    { operation: 'topics', passed: 1, failed: 1, declined: 0 },
    { operation: 'psk', passed: 0, failed: 0, declined: 1 },
  ]);
});

test('exits with 0 if something passed and nothing failed, with 1 if something failed, else with 2', () => {
  assert.is(exitStatus([PASSED, DECLINED]), 0);
  assert.is(exitStatus([PASSED, FAILED, DEFECT]), 1);
  assert.is(exitStatus([DECLINED]), 2);
  assert.is(exitStatus([PASSED, DEFECT]), 2);
  assert.is(exitStatus([]), 2);
});

test('keeps the causes that explain the most failures, including all ties', () => {
  const withCauses = (...causes: string[]): Verdict => ({
    ...FAILED,
    failure: { ...FAILED.failure!, causes },
  });
  const narrowed = narrowCauses([PASSED, withCauses('a', 'b'), withCauses('a'), withCauses('c', 'd')]);
  assert.equal(
    narrowed.map(({ failure }) => failure?.causes),
    [undefined, ['a'], ['a'], ['c', 'd']],
  );
  assert.match(toText(narrowed), /cause: c; or d\n/);
});

test('groups failures by cause and shows the plainest three', () => {
  const sizes = [5, 1, 4, 2, 3];
  const text = toText(sizes.map((size) => ({ ...EXPLAINED, name: `vector of ${size}`, size })));
  assert.is(text.split('cause: big-endian').length, 2);
  assert.match(text, /of 1 [\s\S]*of 2 [\s\S]*of 3 [\s\S]*… and 2 more/);
  assert.not.match(text, /vector of 4/);
  assert.match(text, /publish, differs at 0\n {4}expected 0011223344556677\n {4}got {6}ff11223344556677/);
});

test('shows a cause instead of the failures that may follow from it, and counts these', () => {
  const [failed, explained] = [FAILED, EXPLAINED].map((verdict) => ({ ...verdict, operation: 'handshake' }));
  const text = toText([failed!, explained!, failed!]);
  assert.match(text, /FAILED 1 of handshake\n {2}cause: big-endian\n/);
  assert.match(text, /2 other failures may follow/);
});

test('shows unexplained failures beside a cause if the tests are unrelated', () => {
  const text = toText([FAILED, EXPLAINED, FAILED]);
  assert.match(text, /FAILED 1 of topics\n {2}cause: big-endian\n/);
  assert.match(text, /FAILED 2 of topics\n {2}about: at the limit\n/);
  assert.not.match(text, /may follow/);
});

test('shows wrongly accepted inputs beside a cause that explains most failures', () => {
  const accepts = { ...FAILED, failure: { ...FAILED.failure!, accepts: true } };
  const text = toText([EXPLAINED, EXPLAINED, accepts]);
  assert.match(
    text,
    /FAILED 1 of topics\n {2}about: an implementation accepts what has to be refused: at the limit\n/,
  );
  assert.not.match(text, /may follow/);
});

test('names the plainest of the failures that may follow, by operation', () => {
  const follower = { ...FAILED, operation: 'session', name: 'session 7' };
  const text = toText([{ ...EXPLAINED, operation: 'handshake' }, { ...follower, size: 2 }, follower]);
  assert.match(
    text,
    /2 other failures may follow[^\n]*\n {2}2 of session, the simplest: session 7 \(at the limit\)/,
  );
});

test('shows a scene that failed beside those that have a cause', () => {
  const scene = { ...FAILED, operation: 'live', notes: {} };
  const explained = { ...scene, failure: EXPLAINED.failure! };
  const text = toText([explained, explained, { ...scene, name: 'low-order-key' }]);
  assert.match(text, /low-order-key/);
  assert.not.match(text, /may follow/);
});

test('distinguishes failures of choices from failures of the protocol', () => {
  const text = toText([FAILED, { ...FAILED, isChoice: true }]);
  assert.match(text, /FAILED 1 of topics\n {2}about: at the limit\n {2}mqtt-topics 2/);
  assert.match(text, /FAILED 1 of topics\n {2}about: at the limit\n {2}a choice of hub-protocol/);
});

test('shows the unexplained failures of operations that have nothing to do with a cause', () => {
  const text = toText([
    { ...EXPLAINED, operation: 'reassemble' },
    FAILED,
    { ...FAILED, operation: 'session' },
  ]);
  assert.match(text, /FAILED 1 of reassemble\n {2}cause: /);
  assert.match(text, /FAILED 1 of topics\n {2}about: at the limit\n/);
  assert.not.match(text, /FAILED 1 of session/); // a session reassembles
  assert.match(text, /1 other failure may follow/);
});

test('names the subject of failures that share a flag which no passing test has', () => {
  const scoped = { ...FAILED, notes: { Scope: 'Topics end with the client.' } };
  assert.match(toText([PASSED, scoped, scoped]), /about: Topics end with the client\./);
  assert.not.match(toText([scoped, scoped]), /about: Topics/);
  assert.not.match(toText([{ ...PASSED, notes: scoped.notes }, scoped]), /about: Topics/);
  assert.not.match(toText([PASSED, scoped, FAILED]), /about: Topics/);
});

test('names the subject of each of a few failures, and of many only if it is known', () => {
  const other = { ...FAILED, comment: 'past the limit' };
  assert.match(toText([FAILED, other, other]), /about: at the limit; past the limit\n/);
  assert.match(toText([FAILED, other, other, other]), /no known mistake explains them; the simplest:\n/);
});

test('treats names that objects inherit, such as toString, as missing fields', () => {
  assert.equal(firstDifference('', { constructor: 1 }, {}), {
    where: 'constructor',
    expected: '1',
    got: 'nothing',
  });
});

test('shows every scene that failed in live mode', () => {
  const scenes = [1, 2, 3, 4, 5].map((number) => ({
    ...FAILED,
    operation: 'live',
    name: `scene-${number}`,
    notes: {},
  }));
  assert.match(toText(scenes), /scene-5/);
});

test('shows ten groups and the number of others', () => {
  const many = Array.from({ length: 13 }, (_, i) => ({
    ...FAILED,
    failure: { ...FAILED.failure!, causes: [`no. ${i}`] },
  }));
  const text = toText(many);
  assert.match(text, /cause: no. 9\n/);
  assert.not.match(text, /cause: no. 10/);
  assert.match(text, /and 3 more groups/);
});

test('reports a defect of the judge as such', () => {
  assert.match(toText([PASSED, DEFECT]), /DEFECT of the judge in mqtt-topics 1: [\s\S]*Error: oops/);
});

test('writes JSON that holds every verdict', () => {
  const report = JSON.parse(toJson({ judge: '1.2.3', subject: 'my port' }, [PASSED, FAILED]));
  assert.is(report.judge, '1.2.3');
  assert.is(report.subject, 'my port');
  assert.is(report.passed, false);
  assert.equal(report.verdicts, [PASSED, FAILED]);
  assert.equal(report.vectors, vectorsId());
});

test('shows bytes that are UTF-8 as text, with a caret below the difference', () => {
  const [right, wrong] = ['{"":"x\\\\u000b"}', '{"":"x\\\\v"}'].map((text) =>
    Buffer.from(text).toString('hex'),
  );
  const difference = firstDifference('canonical', right, wrong)!;
  assert.match(difference.text!.expected, /^\{\\"\\":\\"x/);
  const lines = toText([{ ...FAILED, failure: { difference, causes: [] } }]).split('\n');
  const at = lines.findIndex((line) => /^ +\^$/.test(line));
  const caret = lines[at]!.indexOf('^');
  assert.is.not(lines[at - 2]![caret], lines[at - 1]![caret]);
  assert.is(lines[at - 2]!.slice(13, caret), lines[at - 1]!.slice(13, caret));
  assert.is(firstDifference('key', 'ff00', 'ff01')!.text, undefined);
});

test('ends by saying where to begin: with the first operation, what its failures have in common, and the plainest of them', () => {
  const earlier = { ...EXPLAINED, operation: 'handshake', name: 'handshake 7', comment: 'at the limit' };
  const lines = beginWith([FAILED, { ...earlier, size: 2 }, { ...earlier, name: 'handshake 9', size: 1 }]);
  assert.equal(lines, [
    'Begin with what 2 failures have in common:',
    '  cause: big-endian',
    '  It shows in handshake 9: run it alone with --only handshake-9',
  ]);
});

test('begins with the difference where no cause is known, with a scene in live mode, and says nothing of what is known', () => {
  const many = Array.from({ length: 9 }, (_, i) => ({ ...FAILED, comment: `no. ${i}`, notes: {} }));
  assert.match(
    beginWith(many).join('\n'),
    /^Begin with the simplest of 9 failures:\n {2}publish: expected 0011223344556677, got ff11223344556677\n/,
  );
  const scene = { ...FAILED, operation: 'live', name: 'suite A', notes: {} };
  assert.match(beginWith([scene]).join('\n'), /^Begin with this failure:\n.*\n.*--only "suite A"$/);
  assert.equal(beginWith([PASSED, { ...FAILED, isKnown: true }]), []);
});

test('names the rule that all failures of a group are about, if it is one, and if most of its tests fail', () => {
  const about = (...rules: string[]): Verdict => ({ ...EXPLAINED, rules });
  const passed: Verdict = { ...PASSED, rules: ['P-1'] };
  assert.match(toText([about('P-1', 'P-2'), about('P-2', 'P-3')]), /\n {2}rule: P-2\n/);
  assert.match(toText([about('P-1', 'P-2'), passed]), /\n {2}rule: P-2\n/);
  for (const verdicts of [
    [about('P-1'), about('P-2')],
    [about('P-1', 'P-2')],
    [about('P-1'), passed, passed],
  ])
    assert.not.match(toText(verdicts), /rule/);
});

test('says what is accepted, or refused, if that is the same in all failures', () => {
  const failing = (effect: object): Verdict => ({ ...FAILED, failure: { ...FAILED.failure!, ...effect } });
  assert.match(
    toText([PASSED, failing({ accepts: true })]),
    /cause: accepts what has to be refused: at the limit\n/,
  );
  assert.match(
    toText([PASSED, failing({ refuses: true })]),
    /cause: refuses what has to be accepted: at the limit\n/,
  );
  const coded = {
    ...FAILED.failure!.difference,
    code: 'duplicate-key',
    expected: 'the error "bad-json", or "refused"',
  };
  assert.match(
    toText([PASSED, failing({ refuses: true, difference: coded })]),
    /accepted: at the limit \(refused as duplicate-key\)\n/,
  );
  assert.match(
    toText([PASSED, failing({ accepts: true, difference: coded })]),
    /refused: at the limit \(bad-json\)\n/,
  );
  const flagged = {
    ...failing({ accepts: true }),
    notes: { Scope: 'Topics end with the client. A failure does not.' },
  };
  assert.match(
    toText([PASSED, flagged, flagged]),
    /cause: accepts what has to be refused, such as: at the limit\. Topics end with the client\.\n/,
  );
  assert.match(toText([PASSED, { ...FAILED, notes: flagged.notes }]), /about: Topics end/);
});

test('says what is wrong in all responses, if it is the same', () => {
  const differing = (where: string, got: string): Verdict => ({
    ...FAILED,
    failure: { difference: { where, expected: 'false', got }, causes: [] },
    notes: { Policy: 'Not every refusal is one of policy. A failure sets it.' },
  });
  const failed = [differing('reply.policyDenied', 'true'), differing('reply.policyDenied', 'true')];
  assert.match(
    toText([PASSED, ...failed]),
    /cause: reply\.policyDenied is true where it is false\. Not every refusal is one of policy\.\n/,
  );
  const missing = [differing('events[1].reply', 'nothing'), differing('events[2].reply', 'nothing')];
  assert.match(toText([PASSED, ...missing]), /cause: events\.reply is missing\. Not/);
  const several = [...'abcdef'].map((name) => differing(`reply.${name}`, 'true'));
  assert.match(toText([PASSED, ...several]), /about: Not every/);
});

test('says what is wrong in many responses by what comes instead of each value', () => {
  const differing = (expected: string, got: string, comment: string): Verdict => ({
    ...FAILED,
    comment,
    failure: { difference: { where: 'ended.reason', expected, got }, causes: [] },
  });
  const swapped = [differing('"a"', '"b"', 'one'), differing('"b"', '"a"', 'two')];
  assert.match(
    toText([PASSED, ...swapped, ...swapped]),
    /cause: ended\.reason is "b" where it is "a", and "a" where it is "b", such as: one\n/,
  );
  assert.match(
    toText([PASSED, differing('"a"', 'null', 'one'), differing('"b"', 'null', 'two')]),
    /cause: ended\.reason is null where it has a value: one; two\n/,
  );
  assert.match(
    toText([PASSED, ...swapped, differing('"c"', '"d"', 'three')]),
    /cause: ended\.reason is wrong: it is "b" where it is "a": one; two; three\n/,
  );
  assert.match(
    toText([PASSED, differing('"a"', 'nothing', 'one'), ...swapped]),
    /cause: ended\.reason is missing where it is "a": one; two\n/,
  );
  assert.match(
    toText([PASSED, differing('the error "a", or "refused"', 'the error "b"', 'one')]),
    /cause: ended\.reason is "b" where it is "a": one\n/,
  );
});

test('says what is done to a field in all responses, if it is the same', () => {
  for (const [change, ...pairs] of [
    ['is in upper case', ['kiosk', 'KIOSK'], ['a', 'A']],
    ['is trimmed', [' a', 'a'], ['b ', 'b']],
    ['is cut to 2 characters', ['abc', 'ab'], ['xyz', 'xy']],
    ['has "/x", which is not due', ['a', 'a/x'], ['b', 'b/x']],
    ['lacks "b"', ['abc', 'ac'], ['bx', 'x']],
    ['has "out" where "in" is due', ['a/in', 'a/out'], ['in', 'out']],
    ['has more items than are due, such as 2 in place of 1', ['1 of them', 2], ['3 of them', 7]],
    ['has fewer items than are due, such as 0 in place of 1', ['1 of them', 0]],
    ['has "\\n" where " " is due', ['a b c', 'a\nb\nc'], ['d e', 'd\ne']],
    [undefined, ['1 of them', 2], ['3 of them', 2]],
    ['is 3 too large, such as 5 where it is 2', [2, 5], [7, 10]],
    ['is 2 times what is due, such as 500 where it is 250', [250, 500], [10, 20]],
    ['is too large, such as 9 where it is 1', [1, 9], [5, 6]],
    ['is too small, such as 1 where it is 9', [9, 1], [6, 5]],
    [undefined, ['abc', 'x'], ['abd', 'y']],
    [undefined, [1, 2], [3, 1]],
    [undefined, [1, 'a'], ['a', 1]],
  ] as [string | undefined, ...[unknown, unknown][]][]) {
    assert.is(commonChange(pairs), change);
  }
});

test('says which part of a message is refused, also with a code that a wrong key leads to', () => {
  const refuses = (where: string): Verdict => ({
    ...FAILED,
    comment: 'a payload',
    notes: {},
    failure: {
      difference: { where, expected: 'success', got: 'the error', code: 'payload-not-authentic' },
      causes: [],
      refuses: true,
    },
  });
  const many = Array(40).fill(PASSED);
  assert.match(
    toText([...many, ...Array(5).fill(refuses('payload of message 3'))]),
    /cause: refuses what has to be accepted: payload of message 3 as payload-not-authentic, such as: a payload\n/,
  );
  const several = ['one', 'two', 'three', 'four', 'five', 'six'].map(refuses);
  assert.match(toText([...many, ...several]), /no known mistake explains them/);
});

test('shows failures of several kinds by what is wrong in each', () => {
  const failing = (where: string, says?: string, notes = {}): Verdict => ({
    ...FAILED,
    comment: where,
    notes,
    failure: { difference: { where, expected: KEY, got: OTHER_KEY, ...(says && { says }) }, causes: [] },
  });
  const early = ['one', 'two', 'three'].map((where) => failing(where, 'a client gives pin early'));
  const late = ['four', 'five'].map((where) => failing(where, 'a hub closes late'));
  const text = toText([...Array(40).fill(PASSED), ...early, ...late, failing('six')]);
  assert.match(text, /FAILED 3 of topics\n {2}cause: a client gives pin early: one; two; three\n/);
  assert.match(text, /FAILED 2 of topics\n {2}cause: a hub closes late: four; five\n/);
  assert.match(text, /1 other failure may follow/);
  const few = toText([
    ...Array(40).fill(PASSED),
    ...late,
    ...'abcdef'.split('').map((where) => failing(where)),
  ]);
  assert.match(few, /FAILED 8 of topics\n {2}no known mistake/);
});

test('names a limit by the code of the refusals, and a check that is left out though another one refuses the same', () => {
  const failing = (code: string | undefined, effect: object): Verdict => ({
    ...FAILED,
    isRefusal: true,
    failure: {
      difference: { where: 'error', expected: 'the error "x"', got: '', ...(code && { code }) },
      causes: [],
      ...effect,
    },
  });
  const refused = failing('message-too-long', { refuses: true });
  const limit = [refused, refused, refused, failing('message-too-long', {})];
  assert.match(
    toText([PASSED, ...limit]),
    /cause: refuses what has to be accepted, as message-too-long, such as: at the limit\n/,
  );
  const keyed = limit.map((verdict) => ({
    ...verdict,
    failure: { ...verdict.failure!, difference: { ...verdict.failure!.difference, code: 'not-authentic' } },
  }));
  assert.match(toText([PASSED, ...keyed]), /no known mistake explains them/);
  const checked = [failing(undefined, { accepts: true }), failing('bad-topic', {}), failing('bad-topic', {})];
  assert.match(
    toText([PASSED, ...checked, ...checked]),
    /cause: accepts what has to be refused, such as: at the limit\n/,
  );
});

test('does not count failures that are known, and says which of them pass', () => {
  const known = withKnown([PASSED, FAILED], [wordOf(FAILED)]);
  assert.is(exitStatus(known), 0);
  assert.match(toText(known), /1 failure is known/);
  assert.is(exitStatus(withKnown([PASSED, FAILED], [])), 1);
  assert.equal(fixedOf([PASSED, FAILED], [wordOf(PASSED), wordOf(FAILED)]), ['mqtt-topics-1']);
});

test('says what changed since the last run', () => {
  assert.is(
    changesSince({ 'mqtt-topics-1': 'failed', 'mqtt-topics-2': 'passed' }, [PASSED, FAILED]),
    'since the last run: 1 fixed, 1 new: mqtt-topics-2',
  );
  assert.is(changesSince({ 'mqtt-topics-2': 'failed' }, [PASSED, FAILED]), '');
  assert.is(changesSince({}, [PASSED, FAILED]), ''); // it did not run before
});

test('writes JUnit with what failed, without characters that XML does not have', () => {
  const xml = toJunit([PASSED, { ...FAILED, comment: '<\u0000&' }, DECLINED, DEFECT]);
  assert.match(xml, /tests="4" failures="1" errors="1" skipped="1"/);
  assert.match(xml, /name="mqtt-topics-2 &#60;\?&#38;"/);
  assert.match(xml, /<property name="vectors" value="[\d.]+ [\da-f]{64}"\/>/);
  assert.match(
    xml,
    /<failure message="publish">publish\nexpected 0011223344556677\ngot ff11223344556677<\/failure>/,
  );
});

test('takes the name of a test for one, and the name of an operation for another', () => {
  assert.ok(isTestName('session-178') && isTestName('canonical-json-1'));
  assert.not.ok(isTestName('canonical-json') || isTestName('nothing-1'));
  assert.equal(
    listTasks(['session-1', 'psk']).map(({ operation }) => operation),
    [...listTasks(['psk']).map(() => 'psk'), 'session'],
  );
});

const appliesTo = (profile: Profile) => listTasks().filter((task) => applies(task, profile));

test('a minimal client is asked for nothing of a hub, of KKpsk0, of AESGCM and of the PSK', () => {
  const tasks = appliesTo(profileOf('minimal-client'));
  assert.ok(tasks.length > 800);
  for (const { operation, test, pattern, suite } of tasks) {
    assert.is.not(operation, 'psk');
    assert.is.not(test.steps?.[0].role, 'hub');
    assert.is.not(test.pattern ?? pattern, 'KKpsk0');
    assert.is.not(test.suite ?? suite, '25519_AESGCM_SHA256');
  }
  assert.ok(appliesTo(profileOf('client')).length > tasks.length);
  assert.ok(appliesTo(profileOf('hub')).every(({ test }) => test.steps?.[0].role !== 'client'));
});

test('a lower cap leaves out longer messages', () => {
  const small = { ...PROFILES.client!, maxMessage: 2 ** 20 };
  const lengths = appliesTo(small)
    .filter(({ operation }) => operation === 'reassemble')
    .map(({ test }) =>
      test.frames.reduce((sum: number, frame: { length?: number }) => sum + (frame.length ?? 0), 0),
    );
  assert.ok(Math.max(...lengths) <= 2 ** 20);
});

test('reads what an adapter says of itself, and refuses what it does not know', () => {
  assert.is(readProfile({ declined: true }), undefined);
  const about = {
    roles: ['client'],
    patterns: ['XXpsk2'],
    psk: 'provisioned',
    maxMessage: 1000,
    groups: ['mqtt'],
  };
  assert.is(
    lineOf(readProfile({ about })!, [PASSED]),
    'minimal-client, XXpsk2, ChaChaPoly, messages up to 1,000 bytes, mqtt: 1 of 1',
  );
  assert.throws(() => readProfile({ about: { patterns: ['NN'] } }), /about\.patterns/);
  assert.throws(() => readProfile({ about: { maxMessage: 'all' } }), /about\.maxMessage/);
  assert.throws(() => profileOf('server'), /minimal-client, client, hub/);
});

test('counts a test that applies and is declined as a gap', () => {
  const sealing: Verdict = { ...DECLINED, operation: 'seal' }; // few implementations take a key
  assert.equal(gapsIn([PASSED, DECLINED, sealing]), [DECLINED]);
  const both = { ...PROFILES.client!, roles: ['client', 'hub'] };
  assert.is(
    lineOf(both, [PASSED, FAILED, DECLINED], true),
    'client and hub, KKpsk0, ChaChaPoly, spec-only: 1 of 3',
  );
  const badge = JSON.parse(badgeOf(PROFILES.hub!, [PASSED, PASSED]));
  assert.is(badge.message, 'hub, KKpsk0, ChaChaPoly: 2 of 2');
  assert.is(badge.color, 'brightgreen');
  assert.equal(badge.vectors, vectorsId());
});

test('sends only the tests that apply, as the adapter says', async () => {
  const asked: unknown[] = [];
  const send = async ({ op, role }: { readonly [field: string]: unknown }) => {
    asked.push(role);
    return op === 'about' ? { about: { roles: ['hub'] } } : { declined: true };
  };
  let outside = 0;
  const onProfile = (_profile: Profile, count: number): void => {
    outside = count;
  };
  const verdicts = await runVectors({
    adapter: { send, stop: async () => {} },
    only: ['session', 'psk'],
    onProfile,
  });
  assert.ok(outside > 200 && verdicts.length > 200);
  assert.not.ok(asked.includes('client'));
});

test.run();

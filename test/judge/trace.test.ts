/** The trace: what a right adapter gives agrees with the judge's values, and the first wrong value is found where it is. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Fields } from '../../judge/src/adapter.ts';
import { toText } from '../../judge/src/report.ts';
import { listTasks, runVector, runVectors } from '../../judge/src/run-vectors.ts';
import { firstWrongValue, type Seen, type Step, seenIn, stepsOf, traceLines } from '../../judge/src/trace.ts';
import { createAdapter, tracing } from '../../ports/typescript/adapter.ts';
import { nodeCrypto } from '../../src/crypto/node.ts';
import { readVectors } from '../world/vectors.ts';

/** This library with a trace, which `change` may falsify. */
function adapter(change = (_trace: Fields[]): unknown => undefined) {
  const trace: Fields[] = [];
  const respond = createAdapter(tracing(nodeCrypto, trace));
  return {
    async send(request: Fields): Promise<Fields> {
      const response = respond({ id: 1, ...request });
      const entries = trace.splice(0);
      change(entries);
      return { ...response, trace: entries };
    },
    stop: async () => {},
  };
}

test('the trace of this library has no wrong value in any handshake or session', async () => {
  let count = 0;
  for (const task of listTasks(['handshake', 'session']).filter(({ test }) => test.tcId % 3 === 0)) {
    const runs: { request: Fields; trace: Fields[] }[] = [];
    const { send, stop } = adapter();
    const watching = async (request: Fields): Promise<Fields> => {
      const response = await send(request);
      if (request.do === 'start' || request.do === 'open') runs.push({ request, trace: [] });
      runs.at(-1)?.trace.push(...(response.trace as Fields[]));
      return response;
    };
    await runVector(task, { send: watching, stop });
    for (const { request, trace } of runs) {
      const seen = seenIn(task.test, request);
      if (seen === undefined) continue;
      assert.is(firstWrongValue(seen, trace), undefined, `${task.file} ${task.test.tcId}`);
      count += trace.length;
    }
  }
  assert.ok(count > 4000);
});

const [KK] = readVectors('handshake', 'Handshake').filter(({ pattern }) => pattern === 'KKpsk0');
const SEEN: Seen = seenIn(KK as never, {
  ...{ op: 'handshake', role: 'responder', pattern: KK!.pattern, suite: KK!.suite },
  ...{ prologue: KK!.prologue, psk: KK!.psk, remoteStaticKey: KK!.initStaticPublic },
  ...{ staticKey: KK!.respStatic, ephemeralKey: KK!.respEphemeral },
})!;
const STEPS = stepsOf(SEEN);
const entriesOf = (steps: readonly Step[]): Fields[] => steps.map(({ fields }) => fields);
const whereOf = (trace: readonly Fields[]): string | undefined =>
  firstWrongValue(SEEN, trace)?.difference.where;

test('finds each value that is wrong, and what it is made of', () => {
  const last: { [field: string]: string } = {};
  for (const [at, { where, isCall, fields }] of STEPS.entries()) {
    for (const [field, value] of Object.entries(fields)) {
      if (!isCall && last[field] === value) continue;
      if (!isCall) last[field] = value;
      if (field === 'prologue' || where === 'start') continue; // see below
      const trace = entriesOf(STEPS);
      trace[at] = { ...fields, [field]: field === 'n' || field === 'nonce' ? '7' : 'ff'.repeat(32) };
      assert.is(whereOf(trace), `${field} ${isCall ? 'of the AEAD in' : 'after'} ${where}`);
    }
  }
  const { h } = STEPS[0]!.fields;
  const swapped = entriesOf(STEPS).map((entry) => (entry.ad ? { ...entry, ad: h } : entry));
  assert.match(
    firstWrongValue(SEEN, swapped)!.says,
    /^ad of the AEAD in message 1, payload\. It is h after message 1, e\. What came instead is h after start$/,
  );
});

test('finds a value that is not computed, and a prologue that is not mixed in', () => {
  const without = (where: string): string | undefined =>
    whereOf(entriesOf(STEPS.filter((step) => step.isCall || step.where !== where)));
  assert.is(without('message 1, psk'), 'h after message 1, psk');
  assert.is(without('message 1, ss'), 'ck after message 1, ss');
  const later = entriesOf(STEPS.slice(4)).map(({ h, ...entry }) => entry);
  assert.is(whereOf(later), undefined);
  const { h } = STEPS[0]!.fields;
  assert.is(whereOf([{ h }, { h: 'ff' }, { h: 'ee' }]), 'h after start');
  assert.is(whereOf([{ ck: 'ff' }]), 'ck after message 1, psk');
  const kept = entriesOf(STEPS.filter(({ where, isCall }) => isCall || where !== 'message 1, ss'));
  assert.is(firstWrongValue(SEEN, kept)!.difference.got, 'no new value');
  const other = entriesOf(STEPS).map((entry) =>
    entry.prologue === undefined ? entry : { ...entry, prologue: 'ff' },
  );
  assert.match(
    firstWrongValue(SEEN, other)!.says,
    /^prologue after start\. It is the first input of MixHash/,
  );
});

test('finds a call of the AEAD that a message lacks', () => {
  const at = STEPS.findIndex(({ isCall, where }) => isCall && where === 'message 2, payload');
  const trace = entriesOf(STEPS.slice(0, at));
  assert.is(firstWrongValue(SEEN, trace, 1), undefined);
  const { difference, says } = firstWrongValue(SEEN, trace, 2)!;
  assert.is(says, 'k of the AEAD in message 2, payload. It is k after message 2, se');
  assert.is(difference.got, 'nothing');
});

test('follows a trace that leaves values out at its start up to a PSK that is not known', () => {
  const { psk, ...unknown } = SEEN;
  const calls = entriesOf(STEPS.slice(1)).map(({ n, ck, ...entry }) => entry);
  assert.is(firstWrongValue(unknown, calls), undefined);
  const [name, prologue] = STEPS.map(({ fields }) => fields.h);
  const other = calls.map((entry) => (entry.h === prologue ? { ...entry, h: name } : entry));
  assert.is(firstWrongValue(unknown, other)!.difference.where, 'h after start');
});

test('takes a trace of states alone, of calls alone, and nonces as bytes', () => {
  const calls = STEPS.filter(({ isCall }) => isCall).map(({ fields }) => fields);
  const states = entriesOf(STEPS.filter(({ isCall }) => !isCall));
  assert.is(whereOf(states), undefined);
  const { ck } = STEPS.find(({ where }) => where === 'message 2, se')!.fields;
  const spoilt = states.map((entry) => (entry.ck === ck ? { ...entry, ck: 'ff' } : entry));
  assert.is(whereOf(spoilt), 'ck after message 2, se');
  assert.is(whereOf(calls), undefined);
  const littleEndian = calls.map((call) => ({
    ...call,
    nonce: `00000000${call.nonce!.padStart(2, '0')}`.padEnd(24, '0'),
  }));
  assert.is(whereOf(littleEndian), undefined);
  const bigEndian = calls.map((call) => ({ ...call, nonce: call.nonce!.padStart(24, '0') }));
  assert.match(whereOf(bigEndian)!, /^nonce of the AEAD in sealed message 2$/);
});

test('the report names the first wrong value before the difference that follows from it', async () => {
  const spoilt = (trace: Fields[]): void => {
    for (const entry of trace) if (entry.ad === '') Object.assign(entry, { ad: '00' });
  };
  const right = await runVectors({ adapter: adapter(spoilt), only: ['handshake-18'] });
  assert.is(right[0]!.result, 'passed'); // a wrong trace is no failure
  const { send, stop } = adapter(spoilt);
  const wrong = async (request: Fields): Promise<Fields> => {
    const response = await send(request);
    return request.op === 'seal' ? { ...response, results: [] } : response;
  };
  const verdicts = await runVectors({ adapter: { send: wrong, stop }, only: ['handshake-18'] });
  assert.match(
    toText(verdicts),
    /cause: first wrong value: ad of the AEAD in sealed message 1\. It is empty after Split\n.*\n {4}ad of the AEAD in sealed message 1, differs at 0\n/,
  );
});

test('puts no refusal down to what all handshakes have', async () => {
  const { send, stop } = adapter();
  const unfinished = async (request: Fields): Promise<Fields> =>
    request.do === 'split' ? { error: 'wrong-state' } : await send(request);
  const text = toText(await runVectors({ adapter: { send: unfinished, stop }, only: ['handshake'] }));
  assert.match(text, /FAILED 26 of handshake\n/);
  assert.not.match(text, /every e is mixed into the hash/);
});

test('prints the values of a handshake, and of no test without one', () => {
  const [first, second] = traceLines(KK as never)!;
  assert.match(first!, /^h after start: [\da-f]{64}$/);
  assert.match(second!, /^ck after start: /);
  const session = listTasks(['session-263'])[0]!.test;
  assert.match(
    traceLines(session)!.join('\n'),
    /\nprologue after start: 7b22.*\n(?:.*\n)+send after split: /,
  );
});

test.run();

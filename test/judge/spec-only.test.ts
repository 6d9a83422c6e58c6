/** What --spec-only leaves out: choices of this library, and nothing that the protocol demands. */
import { nodeCrypto } from 'hub-protocol/node';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Fields } from '../../judge/src/adapter.ts';
import { listTasks, runVector, runVectors } from '../../judge/src/run-vectors.ts';
import type { Verdict } from '../../judge/src/verdict.ts';
import { createAdapter } from '../../ports/typescript/adapter.ts';

const respond = createAdapter(nodeCrypto);
/** The right responses by their requests. The operations below keep nothing from one request to the next. */
const RESPONSES = new Map<string, Fields>();

function responseTo(request: Fields): Fields {
  const key = JSON.stringify(request);
  const response = RESPONSES.get(key) ?? respond({ id: 1, ...request });
  RESPONSES.set(key, response);
  return response;
}

/** Judges this library, with some responses changed. */
function judge(
  only: string,
  isSpecOnly: boolean,
  change: (request: Fields, response: Fields) => Fields,
): Promise<Verdict[]> {
  const send = async (request: Fields) => change(request, responseTo(request));
  return runVectors({ adapter: { send, stop: async () => {} }, only: [only], isSpecOnly });
}

const failed = (verdicts: readonly Verdict[]): Verdict[] =>
  verdicts.filter(({ result }) => result === 'failed');

test('skips exactly the tests with an acceptable result', () => {
  const all = listTasks();
  const demanded = listTasks(undefined, true);
  const acceptable = all.filter(({ test }) => test.result === 'acceptable');
  assert.ok(acceptable.length > 100);
  assert.is(demanded.length, all.length - acceptable.length);
});

test('accepts any text as a refusal, but not a crash', async () => {
  const withError = (text: string) => (_request: Fields, response: Fields) =>
    response.error === undefined ? response : { ...response, error: text };
  assert.ok(failed(await judge('select', false, withError('nothing-in-common'))).length > 0);
  assert.is(failed(await judge('select', true, withError('nothing-in-common'))).length, 0);
  assert.is(failed(await judge('select', true, withError('Nothing in common.'))).length, 0);
  assert.ok(failed(await judge('select', true, withError('raised KeyError'))).length > 0);
  assert.ok(failed(await judge('select', true, withError(''))).length > 0);
});

test('names the expected code if a port refuses with its own', async () => {
  const ownWord = (_request: Fields, response: Fields) =>
    response.error === undefined ? response : { ...response, error: 'InvalidTag' };
  const verdicts = failed(await judge('select', false, ownWord));
  assert.ok(verdicts.length > 0);
  for (const { failure } of verdicts) {
    assert.match(failure!.causes.join(), /^refusals: .* "refused"/);
    assert.match(failure!.difference.expected, /or "refused"$/);
  }
  const otherCode = (_request: Fields, response: Fields) =>
    response.error === undefined ? response : { ...response, error: 'low-order-key' }; // which no vector has
  const causes = failed(await judge('select', false, otherCode)).flatMap(({ failure }) => failure!.causes);
  assert.not.ok(causes.some((cause) => cause.startsWith('refusals: ')));
});

test('takes a field of a request that is null for an absent one', async () => {
  const withTitle = (_request: Fields, response: Fields): Fields => {
    const copy = structuredClone(response) as {
      envelope?: { payload: { context: { input?: { title?: unknown } } } };
    };
    const input = copy.envelope?.payload.context.input;
    if (input !== undefined) input.title ??= null;
    return copy as Fields;
  };
  assert.ok(failed(await judge('request', false, withTitle)).length > 0);
  assert.equal(failed(await judge('request', true, withTitle)), []);
});

test('marks a failure as a choice', async () => {
  const verdicts = failed(
    await judge('policy', false, (_request, response) => ({ ...response, results: [] })),
  );
  assert.ok(verdicts.length > 10 && verdicts.every(({ isChoice }) => isChoice));
  assert.is((await judge('policy', true, (_request, response) => response)).length, 0);
});

test('allows a CipherState to go on after a failure, but not to hide one', async () => {
  const goesOn = (_request: Fields, { results, ...response }: Fields): Fields => {
    if (results === undefined) return response;
    const all = results as Fields[];
    const at = all.findIndex(({ error }) => error !== undefined);
    return {
      ...response,
      results: all.map((result, i) => (at >= 0 && i > at ? { plaintext: 'ff' } : result)),
    };
  };
  assert.ok(failed(await judge('open', false, goesOn)).length > 0);
  assert.is(failed(await judge('open', true, goesOn)).length, 0);
});

test('a message of more than 32 MiB may end the session, but not arrive', async () => {
  const lengthOf = ({ bytes, length }: Fields) => (length as number) ?? String(bytes).length / 2 - 1;
  const isTooLong = ({ frames }: Fields) =>
    (frames as Fields[]).reduce((sum, frame) => sum + lengthOf(frame), 0) > 32 * 1024 * 1024;
  const ends = (request: Fields, response: Fields): Fields =>
    isTooLong(request) ? { events: [], error: 'refused' } : response;
  const arrives = (request: Fields, { events, ...response }: Fields): Fields => ({
    ...response,
    events: (events as Fields[])?.map((event) =>
      isTooLong(request) && event.reason === 'too-large' ? { ...event, type: 'message' } : event,
    ),
  });
  assert.ok(failed(await judge('reassemble', false, ends)).length > 0);
  assert.is(failed(await judge('reassemble', true, ends)).length, 0);
  assert.ok(failed(await judge('reassemble', true, arrives)).length > 0);
});

test('accepts either code if there are two faults', async () => {
  const other = { 'duplicate-key': 'bad-json', 'bad-json': 'duplicate-key' };
  const swap = (request: Fields, response: Fields) =>
    request.text === '{"a":1,"a":2,}' ? { error: other[response.error as 'bad-json'] } : response;
  assert.is(failed(await judge('canonical-json', false, swap)).length, 0);
});

test('names a session that goes on after a failure', async () => {
  const [task] = listTasks(['session']).filter(({ test }) => test.flags.includes('Damaged'));
  const answer = createAdapter(nodeCrypto);
  let isOver = false;
  const send = async (request: Fields): Promise<Fields> => {
    const response = answer({ id: 1, ...request });
    if (isOver && request.do === 'receive') return { events: [{ type: 'close', error: 'bad-json' }] };
    isOver ||= JSON.stringify(response.events ?? null).includes('"close"');
    return response;
  };
  const { failure } = await runVector(task!, { send, stop: async () => {} });
  assert.match(failure!.causes.join(), /^a failure is final: /);
});

test('lets a port compare the pin late, and write JSON again, with --spec-only', async () => {
  const [changed] = listTasks(['session'], true).filter(({ test }) => test.flags.includes('HubKeyChanged'));
  const answer = createAdapter(nodeCrypto);
  const send = async (request: Fields) => {
    const response = answer({ id: 1, ...request });
    const isLate = JSON.stringify(response.events ?? null).includes('"close"');
    return isLate
      ? { events: [{ type: 'transmit', text: '{}' }, ...(response.events as Fields[])] }
      : response;
  };
  const adapter = { send, stop: async () => {} };
  assert.is((await runVector(changed!, adapter, true)).result, 'passed');
  assert.is((await runVector(changed!, adapter)).result, 'failed');
});

test('takes a HANDSHAKE with all eight fields, as HiveMind writes it, and no HELLO with four (P-24)', async () => {
  const nulls = { node: null, target_site_id: null, target_pubkey: null, source_peer: null };
  const four = ({ msg_type, payload, metadata, route }: Fields): Fields => ({
    msg_type,
    payload,
    metadata,
    route,
  });
  const failedOf = async (type: string, change: (envelope: Fields) => Fields): Promise<number> => {
    let count = 0;
    for (const task of listTasks(['session'], true).filter(({ test }) =>
      test.flags.includes('FirstContact'),
    )) {
      const answer = createAdapter(nodeCrypto);
      const send = async (request: Fields): Promise<Fields> =>
        JSON.parse(JSON.stringify(answer({ id: 1, ...request })), (name, value) => {
          const envelope = name === 'text' && JSON.parse(value);
          return envelope?.msg_type === type ? JSON.stringify(change(envelope)) : value;
        });
      const { result } = await runVector(task, { send, stop: async () => {} }, true);
      if (result === 'failed') count++;
    }
    return count;
  };
  assert.is(await failedOf('shake', (envelope) => ({ ...envelope, ...nulls })), 0);
  assert.ok((await failedOf('hello', four)) > 0);
});

test.run();

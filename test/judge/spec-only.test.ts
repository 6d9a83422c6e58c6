/** What --spec-only leaves out: choices of this library, and nothing that the protocol demands. */
import { rmSync } from 'node:fs';
import { nodeCrypto } from 'hub-protocol/node';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Patch } from '../../evidence/faults/fault.ts';
import { plantInLibrary, temporaryFolder } from '../../evidence/faults/plant.ts';
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
    response.error === undefined ? response : { ...response, error: 'bad-hex' };
  const causes = failed(await judge('select', false, otherCode)).flatMap(({ failure }) => failure!.causes);
  assert.not.ok(causes.some((cause) => cause.startsWith('refusals: ')));
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

/** Files in which a port may decide otherwise. */
const CHANNEL = 'src/session/channel.ts';
const CLIENT = 'src/session/client-handshake.ts';
const LIMITS = 'src/limits.ts';

const IS_UNKNOWN = "if (row.repeat === undefined || input === 'other') throw unexpected(input, this.state);";
const CAP = 'export const MAX_ENVELOPE: number = 256 * 1024;';

/** What a port may decide otherwise, by the rules that are choices, and the operations that show it. */
const VARIANTS: readonly (readonly [what: string, operations: string, ...patches: Patch[]])[] = [
  [
    'ignores other envelopes during the handshake',
    'session',
    [
      CHANNEL,
      IS_UNKNOWN,
      "if (row.repeat === undefined && input !== 'other') throw unexpected(input, this.state);",
    ],
  ],
  [
    'ignores a HANDSHAKE before HELLO',
    'session',
    [CHANNEL, IS_UNKNOWN, `if (this.state !== 'awaiting-hello' || input === 'other') ${IS_UNKNOWN}`],
  ],
  [
    'compares the pin after message 3',
    'session',
    [
      CLIENT,
      'throw errors.hubKeyChanged(nodeId, copyBytes(pin), copyBytes(key), fingerprint);',
      'this.late = errors.hubKeyChanged(nodeId, copyBytes(pin), copyBytes(key), fingerprint);\n      return;',
    ],
    [
      CLIENT,
      '      this.sendNoise({ msg: bytesToHex(message) });\n',
      '      this.sendNoise({ msg: bytesToHex(message) });\n      if (this.late) throw this.late;\n',
    ],
  ],
  [
    'reads no number from a string, and no flag from a word',
    'identity endpoint broker topics',
    [
      'src/issued/fields.ts',
      "typeof value === 'string' && String(Number(value)) === value ? Number(value) : value",
      'value',
    ],
    [
      'src/issued/fields.ts',
      "typeof value === 'object' ? '' : String(value).toLowerCase()",
      "typeof value === 'boolean' ? String(value) : ''",
    ],
  ],
  [
    'trims an address before it is authorized',
    'authorization',
    [
      'src/identity/authorized-url.ts',
      'const parts = splitUrl(url);',
      'url = url.trim();\n  const parts = splitUrl(url);',
    ],
  ],
  [
    'takes messages of at most 1 MiB',
    'reassemble session',
    [LIMITS, 'MAX_MESSAGE: number = 32 * 1024 * 1024;', 'MAX_MESSAGE: number = 1024 * 1024;'],
  ],
  ['takes envelopes of at most 4 KiB', 'session', [LIMITS, CAP, CAP.replace('256', '4')]],
  ['takes envelopes of at most 8 KiB', 'session', [LIMITS, CAP, CAP.replace('256', '8')]],
  [
    'takes JSON of at most 8 levels',
    'canonical-json prologue session',
    [LIMITS, 'MAX_JSON_DEPTH: number = 64;', 'MAX_JSON_DEPTH: number = 8;'],
  ],
  [
    'ends the session at JSON that is not UTF-8',
    'reassemble session',
    [
      'src/wire/frame-joiner.ts',
      "if (text === undefined) return { type: 'dropped', kind: 'json', bytes: length, reason: 'not-utf8' };",
      'if (text === undefined) throw errors.emptyPlaintext();',
    ],
  ],
  [
    'ends the session at a repeated HANDSHAKE',
    'session',
    [
      CHANNEL,
      IS_UNKNOWN,
      "if (row.repeat === undefined || input !== 'hello') throw unexpected(input, this.state);",
    ],
    [CHANNEL, "if (input !== undefined && isLateRepeat(input, typeof data === 'string')) return;", ''],
  ],
];

for (const [what, operations, ...patches] of VARIANTS) {
  test(`a port that ${what} passes with --spec-only`, async () => {
    const folder = temporaryFolder();
    try {
      const planted = await plantInLibrary('ports/typescript/adapter.ts', { patches }, folder);
      const answer = (await import(planted)).createAdapter(nodeCrypto);
      const adapter = {
        send: async (request: Fields) => answer({ id: 1, ...request }),
        stop: async () => {},
      };
      const names: string[] = [];
      for (const task of listTasks(operations.split(' '), true)) {
        const { result, name, comment } = await runVector(task, adapter, true);
        if (result === 'failed') names.push(`${name}: ${comment}`);
      }
      assert.equal(names, []);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
}

test.run();

/** docs/reference/requests.md: runs its example, unchanged except for the import, and compares its tables with the code. */
import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { MAX_REPLY_PARTS, MAX_REPLY_SIZE } from '../../src/limits.ts';
import { buildUtterance } from '../../src/requests/build-request.ts';
import { isByPolicy } from '../../src/requests/refusal.ts';
import { CAUSES, TRANSITIONS } from '../../src/requests/reply-collector.ts';
import { DEADLINES, RequestScheduler } from '../../src/requests/request-scheduler.ts';

const page = readFileSync(new URL('../../docs/reference/requests.md', import.meta.url), 'utf8');
const [imports, ...code] = /```js\n(.*?)```/s.exec(page)![1]!.split('\n');

/** The cells of the rows of a section's first table, without its header. */
function tableIn(heading: string): string[][] {
  const section = page.slice(page.indexOf(`\n${heading}\n`));
  const [, , ...rows] = /(?:^\|.*\n)+/m.exec(section)![0].trimEnd().split('\n');
  return rows.map((row) =>
    row
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim()),
  );
}

/** Names in code in a cell. */
const namesIn = (cell: string): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name!);

type Example = Record<'onReady' | 'ask' | 'onMessage' | 'onClose', (...args: unknown[]) => void>;

/** Runs the example on a clock of its own, and returns what it prints and sends. */
function run(use: (example: Example, passTime: (milliseconds: number) => void) => void): string[] {
  const lines: string[] = [];
  const log = (...words: string[]) => lines.push(words.join(' '));
  let now = 0;
  let timer: { at: number; call: () => void } | undefined;
  const world: { [name: string]: unknown } = {
    buildUtterance,
    RequestScheduler,
    console: { log },
    client: { sendJson: ({ payload }: { payload: { context: object } }) => [payload] },
    socket: {
      send: ({ context }: { context: { request_id: string } }) => log(`send ${context.request_id}`),
    },
    performance: { now: () => now },
    setTimeout: (call: () => void, wait: number) => {
      timer = { at: now + wait, call };
    },
    clearTimeout: () => {
      timer = undefined;
    },
  };
  const passTime = (milliseconds: number): void => {
    now += milliseconds;
    if (timer === undefined || timer.at > now) return;
    const { call } = timer;
    timer = undefined;
    call();
  };
  const body = `${code.join('\n')}; return { onReady, ask, onMessage, onClose };`;
  use(new Function(...Object.keys(world), body)(...Object.values(world)), passTime);
  return lines;
}

const event = (type: string, context: object, data: object = {}) => ({
  text: JSON.stringify({ msg_type: 'bus', payload: { type, data, context } }),
});

test('the example imports everything that it uses', () => {
  assert.is(imports, "import { buildUtterance, RequestScheduler } from 'hub-protocol';");
});

test('the example asks, waits, expires, and ends with the connection', () => {
  const lines = run(({ onReady, ask, onMessage, onClose }, passTime) => {
    onReady({ sessionId: 'own' });
    ask('a', 'hello');
    ask('b', 'and then?');
    onMessage(event('speak', { session: { session_id: 'n:own' } }, { utterance: 'Hello a' }));
    onMessage(event('ovos.utterance.handled', { session: { session_id: 'n:own' } }));
    passTime(59_999);
    passTime(1);
    onMessage(event('speak', {}, { utterance: 'Your timer' }));
    ask('c', 'hello');
    onClose();
    passTime(60_000);
  });
  assert.equal(lines, [
    'send a',
    'part Hello a',
    'handled Hello a',
    'send b',
    'timeout (nothing)',
    'unsolicited speak',
    'send c',
    'closed (nothing)',
  ]);
});

test('the table of events lists the types that matter, with their meaning', () => {
  const documented: { [type: string]: string } = {};
  for (const [types, meaning] of tableIn('### Which events count')) {
    for (const type of namesIn(types!)) documented[type] = meaning!;
  }
  assert.equal(documented, { ...CAUSES });
});

test('the table of states matches the code', () => {
  const states = Object.keys(TRANSITIONS);
  const documented = tableIn('### States').map(([cause, ...cells]) => [
    cause,
    cells.map((cell) => cell.replace(/^`(.*)`$|^\*(.*)\*$/, '$1$2')),
  ]);
  const causes = Object.keys(TRANSITIONS.waiting!) as (keyof (typeof TRANSITIONS)['waiting'])[];
  assert.equal(
    documented,
    causes.map((cause) => [cause, states.map((state) => TRANSITIONS[state]![cause])]),
  );
  const header = /\n\| +\| (`waiting`.*)\|\n/.exec(page)![1]!;
  assert.equal(namesIn(header), states);
  for (const row of tableIn('### States')) {
    for (const cell of row.slice(1)) assert.is(cell.startsWith('`'), states.includes(cell.slice(1, -1)));
  }
});

test('the table of deadlines matches the code, with the ending at each deadline', () => {
  const milliseconds = (text: string): number => Number.parseFloat(text) * (text.endsWith('ms') ? 1 : 1000);
  const documented = tableIn('### Deadlines').map(([state, time, , ending, option]) => {
    assert.is(TRANSITIONS[namesIn(state!)[0]!]!.timeout, namesIn(ending!)[0]!);
    return [namesIn(option!)[0]!, milliseconds(time!)];
  });
  assert.equal(Object.fromEntries(documented), DEADLINES);
  assert.equal(
    [...new Set(tableIn('### Deadlines').map(([state]) => namesIn(state!)[0]!))],
    Object.keys(TRANSITIONS),
  );
});

test('the table of refusals says which are by policy', () => {
  const rows = [...page.matchAll(/^\| (?:`(\w+)`|any other) +\| (true|false) +\|/gm)];
  assert.is(rows.length, 5);
  for (const [, code = 'another', policyDenied] of rows) {
    const refusal = { deniedType: '', code, reason: '', allowed: [], quota: null };
    assert.is(String(isByPolicy(refusal)), policyDenied, code);
  }
});

test('the page states the limits of a reply', () => {
  assert.match(page, `at most ${MAX_REPLY_PARTS} parts`);
  assert.match(page, `${MAX_REPLY_SIZE / 2 ** 20} MiB`);
});

test('shows a request as buildUtterance writes it', () => {
  const [, json] = /```json\n(.*?)```/s.exec(page)!;
  const request = { requestId: 'r-1', sessionId: 's-1', siteId: 'lobby', text: 'what time is it' };
  assert.is(JSON.stringify(JSON.parse(json!)), JSON.stringify(buildUtterance(request)));
});

test.run();

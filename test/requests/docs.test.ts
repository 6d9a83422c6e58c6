/** The example of docs/requests.md, run as it stands but for its import. */
import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { buildUtterance } from '../../src/requests/build-request.ts';
import { ReplyCollector } from '../../src/requests/reply-collector.ts';

const page = readFileSync(new URL('../../docs/requests.md', import.meta.url), 'utf8');
const [imports, ...code] = /```js\n(.*?)```/s.exec(page)![1]!.split('\n');

/** What the example's functions print, in order. */
function run(
  use: (example: { [name: string]: (...args: unknown[]) => unknown }) => void,
): [string, string][] {
  const lines: [string, string][] = [];
  const console = { log: (ending: string, text: string) => lines.push([ending, text]) };
  const body = `${code.join('\n')}; return { ask, onMessage, onTimer, onClose };`;
  const example = new Function('buildUtterance', 'ReplyCollector', 'console', body);
  use(example(buildUtterance, ReplyCollector, console));
  return lines;
}

const client = { sendJson: (envelope: object) => [envelope] };
const event = (type: string, context: object, data: object = {}) =>
  JSON.stringify({ msg_type: 'bus', payload: { type, data, context } });

test('imports what it uses', () => {
  assert.is(imports, "import { buildUtterance, ReplyCollector } from 'hub-protocol';");
});

test('answers, waits no longer, and fails what is in flight', () => {
  const lines = run(({ ask, onMessage, onTimer, onClose }) => {
    for (const id of ['a', 'b', 'c']) ask!(client, id, `session-${id}`, 'hello');
    onMessage!(event('hive.policy.denied', {}, { denied_type: 'recognizer_loop:utterance' }));
    onMessage!(event('speak', { session: { session_id: 'n:session-a' } }, { utterance: 'Hello a' }));
    onMessage!(event('ovos.utterance.handled', { request_id: 'a' }));
    onTimer!('a');
    onTimer!('b');
    onClose!();
    ask!(client, 'd', 'session-d', 'hello');
    onMessage!(event('hive.policy.denied', {}, { denied_type: 'recognizer_loop:utterance' }));
  });
  assert.equal(lines, [
    ['handled', 'Hello a'],
    ['timeout', '(nothing)'],
    ['closed', '(nothing)'],
    ['denied', '(nothing)'],
  ]);
});

test.run();

/** Random lives of a ClientLink, whose laws are in laws.ts. More of them are a search: docs/evidence/searches.md. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type LinkOptions, RequestScheduler } from '../../src/index.ts';
import { readyShell } from './shell.ts';
import { type Counts, live } from './world.ts';

test('40 random lives break no law, and meet everything that a link can order and tell', () => {
  const total: Counts = {};
  for (let seed = 1; seed <= 40; seed++) {
    const counts = live(seed);
    for (const name of Object.keys(counts)) total[name] = (total[name] ?? 0) + counts[name]!;
  }
  const met = [
    'open',
    'write',
    'close',
    'store',
    'failed store',
    'derive',
    'stop-deriving',
    'compute',
    'late call',
  ];
  const told = [
    'connecting',
    'connect',
    'message',
    'close',
    'reconnect',
    'ask',
    'finish',
    'unsent',
    'end',
    'new-hub',
  ];
  for (const name of [...met, ...told.map((type) => `told ${type}`)]) assert.ok(total[name], name);
});

test('an error of a scheduler that is not about memory is thrown', () => {
  let calls = 0;
  const nextDeadline = (): undefined => {
    if (++calls === 3) throw new Error('a scheduler with a bug'); // in the first two, it would end the connection
  };
  const requests: LinkOptions['requests'] = ({ sessionId }) =>
    Object.assign(new RequestScheduler({ sessionId }), { nextDeadline });
  assert.throws(() => readyShell({ requests }), /a scheduler with a bug/);
});

test.run();

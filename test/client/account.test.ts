/** The account of the bytes that are held: who must go when it is too much. */
import { parseJson } from 'hub-protocol';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Account, costOf, Joining, weightOf } from '../../client/dist/account.js';

/** An account, and who had to go. */
function accountOf(maxMemory: number) {
  const account = new Account(maxMemory);
  const ended: string[] = [];
  const open = (name: string, key: string | undefined, unsent = (): number => 0) =>
    account.open(key, { unsent, end: () => ended.push(name) });
  return { account, ended, open };
}

test('ends the largest connection of the key that holds most, and no more than it must', () => {
  const { ended, open } = accountOf(1000);
  const large = open('large', 'honest');
  large.set('partial', 400);
  const small = Array.from({ length: 6 }, (_, i) => open(`small ${i}`, 'other'));
  for (const [i, one] of small.entries()) one.set('partial', 95 + i);
  assert.equal(ended, []);
  small[0]!.add('answers', 20);
  assert.equal(ended, ['small 0']);
  large.set('partial', 500); // all of them hold 990 now
  assert.equal(ended, ['small 0']);
});

test('counts all connections without a known key as one', () => {
  const { ended, open } = accountOf(1000);
  const one = open('one', 'known');
  one.set('partial', 300);
  for (let i = 0; i < 8; i++) open(`stranger ${i}`, undefined).set('arriving', 90);
  assert.equal(ended, ['stranger 0']);
});

test('looks again at what was written before it ends anybody', () => {
  const { ended, open } = accountOf(1000);
  const read = open('read', 'a', () => 100);
  read.set('unsent', 900);
  open('other', 'b').set('partial', 200);
  assert.equal(ended, []);
  open('third', 'c').set('partial', 800);
  assert.equal(ended, ['third']);
});

test('a connection that has ended holds nothing, whatever comes of it later', () => {
  const { account, ended, open } = accountOf(1000);
  const gone = open('gone', 'a');
  gone.set('answers', 900);
  account.close(gone);
  account.close(gone);
  gone.add('answers', -900);
  const next = open('next', 'b');
  next.set('partial', 1000);
  assert.equal(ended, []);
  next.add('partial', 1);
  assert.equal(ended, ['next']);
});

test('a piece costs at least 256 bytes, and a value at least 32', () => {
  assert.equal([costOf(0), costOf(256), costOf(257)], [256, 256, 257]);
  assert.is(weightOf(parseJson('[0,true,null,[],{}]')), 6 * 32);
  assert.is(weightOf(parseJson('{"ab":"cde"}')), 32 + 32 + 2 + 32 + 6);
  assert.ok(weightOf(parseJson('1e400')) > 64);
  assert.is(weightOf(undefined), 0);
});

test('knows how long the buffer of a partial message is, which doubles, and that nothing is kept of one that is too long', () => {
  const joining = new Joining(1000);
  const rooms = [100, 50, 100, 200, 500, 50, 10].map((part) => joining.add(part + 17));
  assert.equal(rooms, [100, 200, 400, 800, 1000, 1000, 0]);
  joining.end();
  assert.is(joining.add(117), 100);
});

test.run();

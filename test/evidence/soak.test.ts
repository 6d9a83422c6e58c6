/** What the soak holds messages and memory to. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Samples } from '../../evidence/searches/soak/memory.ts';
import { check, messageOf, type Sender } from '../../evidence/searches/soak/messages.ts';

test('accepts each message in its turn, and no other', () => {
  for (const from of ['client', 'hub'] satisfies Sender[]) {
    for (let number = 0; number < 1000; number++) {
      check(messageOf(from, number), from, number);
      assert.throws(() => check(messageOf(from, number + 2), from, number));
      assert.throws(() => check(messageOf(from === 'hub' ? 'client' : 'hub', number), from, number));
    }
  }
});

test('notices a byte that was changed, and one that is missing', () => {
  const bytes = messageOf('hub', 7) as Uint8Array;
  const changed = bytes.map((byte, i) => (i === 9 ? byte ^ 1 : byte));
  assert.throws(() => check(changed, 'hub', 7));
  assert.throws(() => check(bytes.slice(0, -1), 'hub', 7));
});

test('has messages that take several frames, and many that are short', () => {
  const sizes = Array.from({ length: 10_000 }, (_, i) => messageOf('client', i).length);
  assert.ok(sizes.some((size) => size > 150_000));
  assert.ok(sizes.filter((size) => size < 400).length > 8000);
});

test('memory that grows with each measurement is noticed, and memory that is taken once is not', () => {
  const growth = (bytesAt: (i: number) => number): number => {
    const samples = new Samples();
    for (let i = 0; i < 30; i++) samples.add(bytesAt(i));
    return samples.growth;
  };
  assert.is(
    growth((i) => 1000 * i),
    10_000,
  );
  assert.is(
    growth((i) => (i < 5 ? 0 : 1000)),
    0,
  );
  assert.is(
    growth((i) => (i === 29 ? 9999 : 0)),
    0,
  ); // what one measurement happened upon
});

test.run();

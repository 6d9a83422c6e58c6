import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { speakable } from '../../src/requests/speakable.ts';
import { collapse } from '../../src/requests/white-space.ts';

test('takes tags out, resolves entities, collapses white space', () => {
  assert.is(
    speakable('<speak>It&apos;s\n <b>3&nbsp;&lt; 4</b><break/>o&#8217;clock</speak>'),
    "It's 3 < 4 o’clock",
  );
});

test('leaves what it has cleaned as it is, where nothing was escaped', () => {
  for (const text of ['Hello', 'AT&T', '3 < 4 and 5 > 2', 'a <b', '&#0 x', '']) {
    assert.is(speakable(text), text);
    assert.is(speakable(speakable(`<s>${text}</s>`)), text);
  }
});

test('collapses no other white space than what is listed', () => {
  const listed = '\t\n\v\f\r \u00a0';
  assert.is(collapse(`${listed}a${listed}b${listed}`), 'a b');
  for (const other of ['\u0085', '\u1680', '\u2003', '\u2028', '\u3000', '\ufeff']) {
    assert.is(collapse(`${other}a${other}`), `${other}a${other}`);
  }
});

test('takes time linear in the length of what is no markup', () => {
  for (const piece of ['<', '<a', '<a "', "<!'", '&', '&a', '&#1', ' \t', '<a b="', '<p>']) {
    const text = piece.repeat(500_000);
    const start = process.hrtime.bigint();
    speakable(text);
    const milliseconds = Number(process.hrtime.bigint() - start) / 1e6;
    assert.ok(milliseconds < 2000, `${milliseconds} ms for ${piece}`); // quadratic time would be minutes
  }
});

test.run();

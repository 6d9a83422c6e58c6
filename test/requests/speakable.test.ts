import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type HubEvent, readHubEvent } from '../../src/requests/hub-event.ts';
import { readSpeech, speakable } from '../../src/requests/speakable.ts';
import { collapse } from '../../src/requests/white-space.ts';
import { UNREADABLE, withThrowing } from '../world/hostile.ts';
import { raisesLocal } from '../world/raises.ts';

test('collapses only the listed white space', () => {
  const listed = '\t\n\v\f\r \u00a0';
  assert.is(collapse(`${listed}a${listed}b${listed}`), 'a b');
  for (const other of ['\u0085', '\u1680', '\u2003', '\u2028', '\u3000', '\ufeff']) {
    assert.is(collapse(`${other}a${other}`), `${other}a${other}`);
  }
});

/** Processor time, which other programs on the machine do not lengthen; the least of three. */
function microseconds(run: () => unknown): number {
  const times = [1, 2, 3].map(() => {
    const start = process.cpuUsage();
    run();
    const { user, system } = process.cpuUsage(start);
    return user + system;
  });
  return Math.min(...times);
}

for (const piece of ['<', '<a', '<a "', "<!'", '&', '&a', '&#1', ' \t', '<a b="', '<p>', 'a"']) {
  test(`needs linear time for repeated ${JSON.stringify(piece)}`, () => {
    const time = (count: number) => {
      const text = `<a ${piece.repeat(count)}`;
      return microseconds(() => speakable(text));
    };
    time(5_000); // compiles
    assert.ok(time(160_000) < 512 * Math.max(time(5_000), 100)); // 32 times as long, whose square is 1024
  });
}

const eventOf = (type: string, data: object): HubEvent =>
  readHubEvent(JSON.stringify({ msg_type: 'bus', payload: { type, data } }))!;

test('reads nothing from an event that is no speech, or says and shows nothing', () => {
  assert.is(readSpeech(eventOf('mycroft.mic.listen', { utterance: 'One.' })), undefined);
  assert.is(readSpeech(eventOf('speak', { utterance: ' ' })), undefined);
  assert.is(readSpeech(eventOf('speak', { image: 'a.png' }))!.text, '');
});

test('refuses anything but an event', () => {
  const event = eventOf('speak', { utterance: 'One.' });
  for (const given of [undefined, null, 'speak', {}, ...UNREADABLE, withThrowing('data', event)]) {
    raisesLocal(() => readSpeech(given as HubEvent), 'bad-argument');
  }
  raisesLocal(() => readSpeech({ ...event, data: withThrowing('utterance') as never }), 'bad-argument');
});

test.run();

/** How much a reply keeps: at each limit, one past it, and from a hub that never stops speaking. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { MAX_REPLY_PARTS, MAX_REPLY_SIZE } from '../../src/limits.ts';
import { type DisplayItem, sizeOf } from '../../src/requests/display-items.ts';
import { ReplyCollector } from '../../src/requests/reply-collector.ts';
import { type Json, JsonNumber } from '../../src/wire/json.ts';

const speak = (data: Json): string =>
  JSON.stringify({ msg_type: 'bus', payload: { type: 'speak', data, context: { request_id: 'r' } } });

const collect = (...events: Json[]): ReplyCollector => {
  const collector = new ReplyCollector({ requestId: 'r' });
  for (const data of events) collector.push(speak(data), true);
  return collector;
};

const utterances = (count: number): Json[] =>
  Array.from({ length: count }, (_, i) => ({ utterance: String(i) }));
const images = (count: number): string[] => Array.from({ length: count }, (_, i) => `${i}.png`);

test('counts display items and choices as parts', () => {
  const parts = [{ utterance: 'Choose.', quick_replies: images(499) }, { images: images(500) }];
  const full = collect(...parts);
  assert.is(full.isTruncated, false);
  assert.is(full.reply.displayItems.length, 501);
  full.push(speak({ table: [1] }), true);
  assert.is(full.isTruncated, true);
  assert.is(full.reply.displayItems.length, 501);
});

test('leaves out a list of more choices than a reply keeps, and the images of a list beyond that', () => {
  const choices = collect({ utterance: 'Choose.', buttons: images(2000) });
  assert.equal([choices.reply.displayItems.length, choices.isTruncated], [0, true]);
  const shown = collect({ images: images(2000) });
  assert.equal([shown.reply.displayItems.length, shown.isTruncated], [1000, true]);
});

test('keeps 4 MiB of text, and says that more came', () => {
  assert.is(MAX_REPLY_SIZE, 4 * 1024 * 1024);
  const half = 'x'.repeat(MAX_REPLY_SIZE / 2);
  const full = collect({ utterance: half }, { utterance: `y${half.slice(1)}` });
  assert.is(full.isTruncated, false);
  full.push(speak({ utterance: 'z' }), true);
  assert.is(full.isTruncated, true);
  assert.is(full.reply.text.length, MAX_REPLY_SIZE + 1); // with the space between the two
});

test('keeps no display item that does not fit', () => {
  const data = 'x'.repeat(MAX_REPLY_SIZE);
  const collector = collect({ utterance: 'Look.', attachment: { data } });
  assert.is(collector.reply.text, 'Look.');
  assert.is(collector.reply.displayItems.length, 0);
  assert.is(collector.isTruncated, true);
});

test('keeps nothing after a part that did not fit', () => {
  const collector = collect({ utterance: 'x'.repeat(MAX_REPLY_SIZE + 1) }, { utterance: 'short' });
  assert.is(collector.reply.text, '');
  assert.is(collector.isTruncated, true);
});

test('still reacts to the hub when nothing more is kept', () => {
  const collector = collect(...utterances(1001));
  assert.is(collector.state, 'speaking');
  assert.equal(collector.reply.rawEvent!.data, { utterance: '1000' });
  const context = { request_id: 'r' };
  const handled = { msg_type: 'bus', payload: { type: 'ovos.utterance.handled', context } };
  assert.is(collector.push(JSON.stringify(handled), true), 'done');
  assert.is(collector.ending, 'handled');
});

test('measures what an item keeps: values, keys, strings and numbers', () => {
  const item = (data: Json): DisplayItem => ({ kind: 'table', data });
  const empty = sizeOf(item([]), 1000);
  assert.is(empty, 1 + (1 + 'data'.length) + (1 + 'kind'.length) + 'table'.length);
  assert.is(sizeOf(item(['abc', 7, null]), 1000) - empty, 3 + 3 + 1 + 4);
  assert.is(sizeOf(item({ key: 'abc' }), 1000) - empty, 1 + 3 + 3);
  assert.is(sizeOf(item([new JsonNumber('1.50')]), 1000) - empty, 1 + 4);
});

test('stops measuring at the limit, even for values that contain themselves', () => {
  const data: Json[] = [];
  data.push(data, data);
  assert.ok(sizeOf({ kind: 'table', data }, 1000) > 1000);
});

test('keeps little from a hub that never stops speaking, in little time', () => {
  const collector = new ReplyCollector({ requestId: 'r' });
  for (let i = 0; i < 10_000; i++) collector.push(speak({ utterance: `part ${i}`, image: `${i}.png` }), true);
  const { text, displayItems } = collector.reply;
  assert.is(displayItems.length + (text.match(/part/g) ?? []).length, MAX_REPLY_PARTS);
  assert.ok(JSON.stringify(collector).length < 200_000);
});

test.run();

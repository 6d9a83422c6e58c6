/** Messages of many small values, which take many times their length and seconds to read: client and hub drop them before anybody does. */
import { inflateSync } from 'node:zlib';
import { decodeBinary } from 'hub-protocol/binary';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Traced } from '../../client/dist/options.js';
import { hasTooManyValues, lengthOutsideStrings, readOnce, tooManyValues } from '../../client/dist/values.js';
import { readVectorFile } from '../../judge/src/vectors.ts';
import { hex } from '../world/vectors.ts';
import { endWorlds, started, until } from './world.ts';

test.after.each(endWorlds);

const SHORT = 65_536;
/** An envelope with this many characters outside of its strings, and a string of letters, quotation marks or backslashes. */
const withValues = (outside: number, letter = 'x'): string => {
  const start = `{"msg_type":"query","a":"${letter.repeat(SHORT)}","b":[`;
  return `${start}${'0,'.repeat((outside - 14) / 2)}0]}`;
};

for (const letter of ['x', '\\"', '\\\\', 'ü', '€', '\u{1f600}']) {
  test(`counts what is outside of a string of ${letter}`, () => {
    const text = withValues(1000, letter);
    const outside = lengthOutsideStrings(Buffer.from(text));
    assert.ok(outside > 900 && outside < 1100, String(outside));
    assert.is(tooManyValues(text, outside), undefined);
    assert.equal(tooManyValues(text, outside - 1), {
      type: 'dropped',
      kind: 'json',
      bytes: Buffer.byteLength(text),
      reason: 'too-many-values',
    });
  });
}

test('does not count a message below 64 KiB', () => {
  assert.is(tooManyValues('['.repeat(SHORT - 1), 0), undefined);
  assert.ok(tooManyValues('['.repeat(SHORT), 0));
  assert.ok(tooManyValues(`${'['.repeat(SHORT)}"`, 0), 'a string without an end');
});

test('reads JSON once, and what is none or ambiguous as nothing', () => {
  assert.equal(readOnce('{"a":1}', 0), { envelope: { a: 1 } });
  for (const text of ['', '{"a"', '{"a":1,"a":1}']) assert.equal(readOnce(text, 0), { envelope: undefined });
});

test('counts the values of binary envelopes, and not speech', () => {
  const counts = { true: 0, false: 0 };
  for (const { type, tests } of readVectorFile('binary').testGroups) {
    for (const { message, error } of tests) {
      if (type !== 'DecodeBinary' || error !== undefined) continue;
      const long = Buffer.concat([hex(message), Buffer.from('[""'.repeat(SHORT / 2))]);
      const isSpeech =
        decodeBinary(hex(message), { inflate: (bytes) => inflateSync(bytes) }).msg_type === 'bin';
      assert.is(hasTooManyValues(long, 1000), !isSpeech, message);
      counts[`${isSpeech}`]++;
    }
  }
  assert.ok(counts.true > 5 && counts.false > 5);
});

test('a client drops a message of many values before anything reads it', async () => {
  const { world, client } = started({ maxValues: 1000 });
  const told: unknown[] = [];
  const traced: Traced[] = [];
  client.on('dropped', ({ reason, advice }) => told.push(reason, advice));
  client.on('envelope', ({ envelope }) => told.push(envelope.msg_type));
  client.on('trace', ({ what }) => {
    if ('type' in what && (what.type === 'message' || what.type === 'dropped')) traced.push(what);
  });
  await client.ask('hello');
  traced.length = 0;
  for (const text of [withValues(2000), withValues(500)]) world.send(world.hub!.sendJson(text));
  await until(() => told.length === 3);
  assert.equal([told[0], told[2]], ['too-many-values', 'query']);
  assert.match(String(told[1]), /raise the option maxValues/);
  assert.equal(
    traced.map((what) => 'type' in what && what.type),
    ['dropped', 'message'],
  );
});

test.run();

// What the engine's TextEncoder and TextDecoder help with is compared with the library's own code, over generated input.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { utf8ToBytes } from '../../src/bytes.ts';
import { Reassembler } from '../../src/wire/reassembler.ts';
import { canonicalJson } from '../../src/wire/write-json.ts';
import { withoutEngine } from '../world/both-ways.ts';
import { fc } from '../world/property.ts';

test('writes long strings as the library’s own code does', () => {
  const unit = fc.constantFrom(...'abcdefgh"\\\u0000\u001f\n\u007fé汉😀\u2028'.match(/./gsu)!);
  fc.assert(
    fc.property(fc.string({ unit, minLength: 40, maxLength: 120 }), fc.nat(80), (text, plain) => {
      const string = 'x'.repeat(plain) + text;
      assert.equal(
        canonicalJson(string),
        withoutEngine(() => canonicalJson(string)),
      );
    }),
    { numRuns: 2000 },
  );
});

test('writes documents of all sizes as the library’s own code does', () => {
  for (const count of [1, 10, 100, 1000, 10_000]) {
    const value = Array.from({ length: count }, (_, i) => ({ [`k${i % 7}`]: 'x'.repeat(i % 300), n: i }));
    const bytes = canonicalJson(value);
    assert.is(
      Buffer.from(bytes).toString(),
      Buffer.from(withoutEngine(() => canonicalJson(value))).toString(),
    );
    assert.is(bytes.length, bytes.buffer.byteLength);
  }
});

test('sorts keys of any length by code point, in which surrogates come after all other units', () => {
  for (const length of [0, 63, 64, 65, 1000]) {
    const start = 'k'.repeat(length);
    const [astral, high] = [`${start}\u{1f600}`, `${start}\uffee`];
    const json = Buffer.from(canonicalJson({ [astral]: 1, [high]: 2 })).toString(); // UTF-16 has it the other way round
    assert.is(json, `{"${high}":2,"${astral}":1}`);
  }
});

/** What a reassembler makes of bytes that arrive in chunks of these lengths, and of the same again. */
function reassembled(bytes: Uint8Array, lengths: readonly number[]): string {
  const reassembler = new Reassembler();
  reassembler.push(new Uint8Array([2]));
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const end = at + lengths[i % lengths.length]!;
    reassembler.push(new Uint8Array([4, ...bytes.subarray(at, end)]));
    at = end;
  }
  return JSON.stringify([reassembler.push(new Uint8Array([5])), reassembler.push(new Uint8Array([0, 0x61]))]);
}

test('decodes a character that is split anywhere between buffers', () => {
  for (const character of ['é', '汉', '😀']) {
    for (let shift = 0; shift < 4; shift++) {
      const text = 'a'.repeat(shift) + character.repeat(70_000);
      const [message] = JSON.parse(reassembled(utf8ToBytes(text), [40_000]));
      assert.ok(message.text === text, `${shift} before ${character}`);
    }
  }
});

test('decodes chunks to the same text as the whole', () => {
  const unit = fc.constantFrom('a', 'é', '汉', '😀', '\ufeff', '\ufffd');
  const lengths = fc.array(fc.integer({ min: 1, max: 40_000 }), { minLength: 1, maxLength: 4 });
  const damage = fc.option(fc.tuple(fc.nat(), fc.nat(255)), { freq: 2 });
  fc.assert(
    fc.property(
      fc.string({ unit, minLength: 1, maxLength: 20 }),
      lengths,
      damage,
      (text, lengths, damaged) => {
        const bytes = utf8ToBytes(text.repeat(Math.ceil(200_000 / text.length / 2)));
        if (damaged !== null) bytes[damaged[0] % bytes.length] = damaged[1];
        const steps = lengths.map((length) => length + 5000);
        const outcome = reassembled(bytes, steps);
        assert.ok(outcome === withoutEngine(() => reassembled(bytes, steps)));
        assert.ok(damaged !== null || outcome.includes('"type":"message"'));
      },
    ),
    { numRuns: 60 },
  );
});

test.run();

/** The mistakes that the judge knows: none of them writes what is right, and without one, everything is. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { mistakeInCanonicalJson, mistakeInPrologue } from '../../judge/src/json-mistakes.ts';
import {
  handshakeWith,
  MISTAKES,
  type Mistake,
  mistakeInMessage,
  mistakeInSealing,
  sealWith,
  type Transcript,
} from '../../judge/src/mistakes.ts';
import type { Suite } from '../../src/noise/patterns.ts';
import { hex, readVectors, toHex, type Vector } from '../vectors.ts';

const HANDSHAKES = readVectors('handshake', 'Handshake');
const SIDES = ['init', 'resp'] as const;

function written(vector: Vector, side: 'init' | 'resp'): (string | undefined)[] {
  return vector.messages.map(({ message }: { message: string }, index: number) =>
    (index % 2 === 0) === (side === 'init') ? message : undefined,
  );
}

test('without a mistake, both sides write what noiseprotocol wrote, and leave its handshake hash', () => {
  for (const vector of HANDSHAKES) {
    for (const side of SIDES) {
      const { messages, handshakeHash } = handshakeWith({ cause: '' }, side, vector as unknown as Transcript);
      assert.equal(messages, written(vector, side), `tcId ${vector.tcId}`);
      assert.is(handshakeHash, vector.handshakeHash);
    }
  }
});

test('without a mistake, sealing answers what noiseprotocol answered', () => {
  for (const { tcId, suite, key, counter, plaintexts, results } of readVectors('transport', 'Seal')) {
    plaintexts.forEach((plaintext: string, index: number) => {
      const sealed = sealWith(
        {},
        suite,
        hex(key),
        BigInt(counter) + BigInt(index),
        new Uint8Array(0),
        hex(plaintext),
      );
      assert.is(toHex(sealed), results[index].message, `tcId ${tcId}`);
    });
  }
});

/** Whether a mistake shows in anything that a side writes, or only in how it splits. */
function shows(mistake: Mistake, vector: Vector): boolean {
  return SIDES.some((side) => {
    const { messages } = handshakeWith(mistake, side, vector as unknown as Transcript);
    return (
      JSON.stringify(messages) !== JSON.stringify(written(vector, side).map((message) => message ?? null))
    );
  });
}

for (const mistake of MISTAKES) {
  test(`recognises: ${mistake.cause}`, () => {
    const vector = HANDSHAKES.find((vector) => shows(mistake, vector));
    if (vector === undefined) {
      assert.ok(mistake.splitSwapped, 'it shows in no handshake');
      return;
    }
    const transcript = vector as unknown as Transcript;
    for (const side of SIDES) {
      const { messages } = handshakeWith(mistake, side, transcript);
      const index = messages.findIndex((message, at) => message !== written(vector, side)[at] && message);
      if (index < 0) continue;
      assert.is(mistakeInMessage(side, transcript, index, messages[index]!), mistake.cause);
    }
  });
}

test('recognises each mistake in nonces by what is sealed, and nothing in what is right or unknown', () => {
  const key = new Uint8Array(32).fill(7);
  const plaintext = hex('00ff');
  for (const suite of ['25519_ChaChaPoly_SHA256', '25519_AESGCM_SHA256'] as Suite[]) {
    const seal = (mistake: Partial<Mistake>, counter: bigint) =>
      sealWith(mistake, suite, key, counter, new Uint8Array(0), plaintext);
    const find = (got: Uint8Array) => mistakeInSealing(suite, key, 300n, plaintext, got);
    for (const mistake of MISTAKES.filter(({ nonce }) => nonce !== undefined)) {
      assert.is(find(seal(mistake, 300n)), mistake.cause);
    }
    assert.is(find(seal({}, 300n)), undefined);
    assert.is(find(seal({}, 7n)), undefined);
  }
});

const CANONICAL: [name: string, text: string, written: string][] = [
  ['key order: keys are sorted by UTF-16', '{"\ue000":1,"\ud83d\ude00":2}', '{"\ud83d\ude00":2,"\ue000":1}'],
  ['key order: keys are not sorted', '{"b":1,"a":2}', '{"b":1,"a":2}'],
  ['numbers: they are parsed', '[1.0,12345678901234567890]', '[1,12345678901234567000]'],
  ['numbers: a float', '[1.0,12345678901234567890]', '[1,12345678901234567890]'],
  ['escapes: \\\\u0008 and \\\\u000c', '"\\b\\f"', '"\\u0008\\u000c"'],
  ['escapes: \\\\u0008 is', '"\\b\\f"', '"\\u0008\\f"'],
  ['escapes: characters beyond ASCII', '"\u00fc\ud83d\ude00"', '"\\u00fc\\ud83d\\ude00"'],
  ['escapes: / is', '"a/b"', '"a\\/b"'],
  ['escapes: U\\+007F', '"\u007f"', '"\\u007f"'],
  ['escapes: U\\+2028', '"\u00fc\u2028"', '"\u00fc\\u2028"'],
  ['escapes: <', '"<a>"', '"\\u003ca\\u003e"'],
  ['white space', '{"a":[1,2]}', '{"a": [1, 2]}'],
];

for (const [cause, text, written] of CANONICAL) {
  test(`recognises in canonical JSON: ${cause}`, () => {
    assert.match(mistakeInCanonicalJson(text, toHex(Buffer.from(written)))!, new RegExp(`^${cause}`));
  });
}

test('recognises the parts of a prologue in another order, parted, or not canonical', () => {
  const find = (got: string) => mistakeInPrologue('{"b": 1}', '{"c": 2.0}', 'name', toHex(Buffer.from(got)));
  assert.match(find('{"c":2.0}{"b":1}name')!, /parts are HANDSHAKE, HELLO, protocol name/);
  assert.match(find('name{"b":1}{"c":2.0}')!, /parts are protocol name, HELLO, HANDSHAKE/);
  assert.match(find('{"b":1}{"c":2.0}')!, /parts are HELLO, HANDSHAKE;/);
  assert.match(find('{"b":1}\n{"c":2.0}\nname')!, /stands between/);
  assert.match(find('{"b": 1}{"c": 2.0}name')!, /as they came/);
  assert.match(find('{"b":1}{"c":2}name')!, /^numbers/);
  assert.is(find('something else'), undefined);
});

test('finds nothing in an answer that is no text of hexadecimal digits', () => {
  assert.is(mistakeInCanonicalJson('{}', undefined), undefined);
  assert.is(mistakeInPrologue('{}', '{}', 'name', 7), undefined);
  assert.is(mistakeInPrologue('{}', '{}', 'name', 'xyz'), undefined);
});

test.run();

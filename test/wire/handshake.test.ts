/** Envelopes and payloads: what vectors/envelopes.json and session.json cannot say. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { MAX_ENVELOPE } from '../../src/limits.ts';
import { parseEnvelope, writeEnvelope } from '../../src/wire/envelope.ts';
import {
  composePayload,
  isStringArray,
  mergeFields,
  readMessage1Payload,
  readMessage2Payload,
} from '../../src/wire/handshake.ts';
import type { Json, JsonObject } from '../../src/wire/json.ts';
import { parseJson } from '../../src/wire/parse-json.ts';
import { raisesLocal, raisesRemote } from '../world/raises.ts';

const object = (text: string): JsonObject => parseJson(text) as JsonObject;

test('composes a payload of two objects, with the second overriding the first', () => {
  assert.equal(composePayload({ a: 1, b: 2 }, { b: 3, c: [4] }), { a: 1, b: 3, c: [4] });
  assert.equal(Object.keys(composePayload({ a: 1, b: 2 }, { b: 3, c: 4 })), ['a', 'b', 'c']);
});

test('composes a payload that shares no memory with either object', () => {
  const shared = { a: 1 };
  const sources: JsonObject[] = [{ x: shared }, { y: [shared] }];
  const payload = composePayload(sources[0]!, sources[1]!);
  shared.a = 2;
  assert.equal(payload, { x: { a: 1 }, y: [{ a: 1 }] });
  assert.equal(sources.map(Object.keys), [['x'], ['y']]);
});

test('merges own fields of two objects without copying their values', () => {
  const shared = { a: 1 };
  const merged = mergeFields({ x: 1, y: shared }, { x: 2, ['__proto__']: shared } as unknown as JsonObject);
  assert.equal(Object.entries(merged), [
    ['x', 2],
    ['y', shared],
    ['__proto__', shared],
  ]);
  assert.is(merged.y, shared);
  assert.equal(Object.keys(mergeFields(Object.create({ inherited: 1 }), {})), []);
});

test('composes a payload of own fields only, __proto__ among them', () => {
  const payload = composePayload(Object.create({ inherited: 1 }), object('{"__proto__":{"a":1}}'));
  assert.equal(Object.keys(payload), ['__proto__']);
  assert.is(payload.a, undefined);
});

test('refuses to compose a payload that JSON cannot represent', () => {
  raisesLocal(() => composePayload({}, { a: undefined as unknown as Json }), 'not-json');
  raisesLocal(() => composePayload({ a: Number.NaN }, {}), 'unsafe-number');
  raisesLocal(() => composePayload({ '\ud800': 1 }, {}), 'lone-surrogate');
});

test('accepts only an object as a sealed payload', () => {
  const bytes = (text: string) => new Uint8Array(Buffer.from(text));
  for (const payload of ['null', '[]', '{', ' ', '"{}"']) {
    raisesRemote(() => readMessage1Payload(bytes(payload)), 'bad-handshake-payload');
    assert.is(readMessage2Payload(bytes(payload)), undefined);
  }
  for (const payload of ['', '{}', '{"binarize":null,"encodings":null,"encoding":null}']) {
    assert.equal(readMessage1Payload(bytes(payload)), { binarize: false, encodings: [] });
    assert.equal(readMessage2Payload(bytes(payload)), { encoding: undefined });
  }
  raisesRemote(() => readMessage1Payload(bytes('{"encodings":[1]}')), 'bad-handshake-payload');
  raisesRemote(() => readMessage2Payload(bytes('{"encoding":7}')), 'bad-handshake-payload');
});

test('refuses an envelope that is too large without parsing it', () => {
  raisesRemote(() => parseEnvelope('['.repeat(MAX_ENVELOPE + 1)), 'envelope-too-large');
  raisesRemote(() => parseEnvelope(new Uint8Array(MAX_ENVELOPE + 1).fill(0xff)), 'envelope-too-large');
});

test('reads an envelope of 256 KiB in characters of any length, and refuses a byte more', () => {
  for (const character of ['x', 'é', '€', '😀']) {
    const size = Buffer.byteLength(character);
    const room = MAX_ENVELOPE - '{"msg_type":"hello","payload":{"a":""}}'.length;
    const text = character.repeat(Math.floor(room / size)) + '.'.repeat(room % size);
    for (const form of [String, Buffer.from]) {
      const envelope = (a: string) => form(`{"msg_type":"hello","payload":{"a":"${a}"}}`);
      assert.is(parseEnvelope(envelope(text)).type, 'hello');
      raisesRemote(() => parseEnvelope(envelope(`${text}.`)), 'envelope-too-large');
    }
  }
});

test('writes a HANDSHAKE with four fields, and HELLO with eight', () => {
  const four = '"payload":{},"metadata":{},"route":[]';
  assert.is(writeEnvelope('shake', {}), `{"msg_type":"shake",${four}}`);
  const further = '"node":null,"target_site_id":null,"target_pubkey":null,"source_peer":null';
  assert.is(writeEnvelope('hello', {}), `{"msg_type":"hello",${four},${further}}`);
});

test('refuses to write a payload that JSON cannot represent', () => {
  raisesLocal(() => writeEnvelope('hello', { a: undefined as unknown as Json }), 'not-json');
});

test('distinguishes lists of strings from all other values', () => {
  assert.equal([isStringArray([]), isStringArray(['']), isStringArray(['a', 'b'])], [true, true, true]);
  for (const value of [undefined, null, 'a', {}, [1], ['a', null], new Array(1)])
    assert.is(isStringArray(value), false);
  const { proxy, revoke } = Proxy.revocable([], {});
  revoke();
  assert.is(isStringArray(proxy), false);
});

test('memory that runs out while a payload is read is not reported as a bad payload', () => {
  const full = new RangeError('Array buffer allocation failed');
  const payload = new TextEncoder().encode('{"encoding":"a"}');
  const decode = TextDecoder.prototype.decode;
  const { fromCharCode } = String;
  const raise = (): never => {
    throw full;
  };
  TextDecoder.prototype.decode = raise;
  String.fromCharCode = raise;
  try {
    for (const read of [readMessage1Payload, readMessage2Payload]) {
      assert.throws(
        () => read(payload),
        (error: unknown) => error === full,
      );
    }
  } finally {
    TextDecoder.prototype.decode = decode;
    String.fromCharCode = fromCharCode;
  }
});

test.run();

import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { parseEnvelope, writeEnvelope } from '../../src/wire/envelope.ts';
import type { Json } from '../../src/wire/json.ts';
import { JsonNumber } from '../../src/wire/json.ts';
import { raisesLocal, raisesRemote } from '../raises.ts';

const CAP = 262144;

/** An envelope of this many bytes in UTF-8, most of them copies of one character. */
function envelopeOf(length: number, character: string): string {
  const room = length - '{"msg_type":"hello","payload":{"a":""}}'.length;
  const size = Buffer.byteLength(character);
  const filler = character.repeat(Math.floor(room / size)) + '.'.repeat(room % size);
  const text = `{"msg_type":"hello","payload":{"a":"${filler}"}}`;
  assert.is(Buffer.byteLength(text), length);
  return text;
}

test('reads type and payload, and nothing else', () => {
  const text = '{"payload":{"node_id":"hub"},"msg_type":"hello","metadata":null,"route":"?","x":[1.0]}';
  assert.equal(parseEnvelope(text), { type: 'hello', payload: { node_id: 'hub' } });
});

test('reads bytes as it reads a string', () => {
  const text = '{"msg_type":"hello","payload":{"node_id":"hüb"}}';
  assert.equal(parseEnvelope(Buffer.from(text)), { type: 'hello', payload: { node_id: 'hüb' } });
});

test('reads the type handshake as shake', () => {
  for (const type of ['shake', 'handshake']) {
    assert.equal(parseEnvelope(`{"msg_type":"${type}","payload":{}}`), { type: 'shake', payload: {} });
  }
});

test('keeps any other type unchanged', () => {
  for (const type of ['bus', 'Handshake', 'hello ', '']) {
    assert.is(parseEnvelope(`{"msg_type":"${type}","payload":{}}`).type, type);
  }
});

test('keeps number tokens and the names that objects inherit in the payload', () => {
  const { payload } = parseEnvelope('{"msg_type":"hello","payload":{"__proto__":1.0,"constructor":2}}');
  assert.equal(Object.keys(payload), ['__proto__', 'constructor']);
  assert.equal(Object.values(payload), [new JsonNumber('1.0'), 2]);
});

test('refuses a message that is not an object', () => {
  for (const text of ['null', '[]', '"{}"', '1', '1.0', 'true', '[{"msg_type":"hello","payload":{}}]']) {
    raisesRemote(() => parseEnvelope(text), 'bad-envelope');
  }
});

test('refuses a type that is missing or not a string', () => {
  for (const type of [
    '',
    '"msg_type":null,',
    '"msg_type":1,',
    '"msg_type":["hello"],',
    '"toString":"hello",',
  ]) {
    raisesRemote(() => parseEnvelope(`{${type}"payload":{}}`), 'bad-envelope');
  }
});

test('refuses a payload that is missing or not an object, JSON in a string included', () => {
  raisesRemote(() => parseEnvelope('{"msg_type":"hello"}'), 'bad-payload');
  for (const payload of ['null', '[]', '[{}]', '"{}"', '"{\\"node_id\\":\\"hub\\"}"', '1', '1.0', 'false']) {
    raisesRemote(() => parseEnvelope(`{"msg_type":"hello","payload":${payload}}`), 'bad-payload');
  }
});

test('reads no field that the object inherits', () => {
  raisesRemote(() => parseEnvelope('{"__proto__":{"msg_type":"hello","payload":{}}}'), 'bad-envelope');
});

test('refuses what parseJson refuses', () => {
  raisesRemote(() => parseEnvelope('{"msg_type":"hello"'), 'bad-json');
  raisesRemote(() => parseEnvelope(''), 'bad-json');
  raisesRemote(() => parseEnvelope('{"msg_type":"a","msg_type":"b","payload":{}}'), 'duplicate-key');
  raisesRemote(() => parseEnvelope('{"msg_type":"\ud800","payload":{}}'), 'lone-surrogate');
  raisesRemote(() => parseEnvelope(new Uint8Array([0xff])), 'bad-utf8');
  raisesRemote(() => parseEnvelope('['.repeat(65)), 'json-depth');
});

for (const character of ['x', 'é', '€', '😀']) {
  test(`reads an envelope of 262144 bytes of ${character}, as a string and as bytes`, () => {
    const text = envelopeOf(CAP, character);
    assert.is(parseEnvelope(text).type, 'hello');
    assert.is(parseEnvelope(Buffer.from(text)).type, 'hello');
  });

  test(`refuses an envelope of 262145 bytes of ${character}, as a string and as bytes`, () => {
    const text = envelopeOf(CAP + 1, character);
    raisesRemote(() => parseEnvelope(text), 'envelope-too-large');
    raisesRemote(() => parseEnvelope(Buffer.from(text)), 'envelope-too-large');
  });
}

test('refuses an envelope of as many units as the limit has bytes, but more bytes', () => {
  const text = envelopeOf(CAP, 'x');
  const longer = text.replace('xx', 'xé');
  assert.is(longer.length, text.length);
  raisesRemote(() => parseEnvelope(longer), 'envelope-too-large');
});

test('refuses an envelope that is too large without parsing it', () => {
  raisesRemote(() => parseEnvelope('['.repeat(CAP + 1)), 'envelope-too-large');
  raisesRemote(() => parseEnvelope(new Uint8Array(CAP + 1).fill(0xff)), 'envelope-too-large');
});

test('writes hello with eight fields in order', () => {
  assert.is(
    writeEnvelope('hello', { pubkey: '', site_id: 'Küche' }),
    '{"msg_type":"hello","payload":{"pubkey":"","site_id":"Küche"},"metadata":{},"route":[],' +
      '"node":null,"target_site_id":null,"target_pubkey":null,"source_peer":null}',
  );
});

test('writes shake with four fields in order', () => {
  assert.is(
    writeEnvelope('shake', { noise: { msg: '00ff' } }),
    '{"msg_type":"shake","payload":{"noise":{"msg":"00ff"}},"metadata":{},"route":[]}',
  );
});

test('writes the payload as ordinary JSON, and keeps number tokens', () => {
  const text = writeEnvelope('shake', { b: new JsonNumber('1.0'), a: 0.5 });
  assert.is(text, '{"msg_type":"shake","payload":{"b":1.0,"a":0.5},"metadata":{},"route":[]}');
});

test('refuses to write a payload that JSON cannot represent', () => {
  raisesLocal(() => writeEnvelope('hello', { a: undefined as unknown as Json }), 'not-json');
});

test.run();

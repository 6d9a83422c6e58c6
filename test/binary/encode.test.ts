// The vectors of binary.json show the bytes. This is about what callers may pass.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { decodeBinary, encodeBinary } from '../../src/binary.ts';
import { buildUtterance } from '../../src/requests/build-request.ts';
import { readHubEvent } from '../../src/requests/hub-event.ts';
import { JsonNumber } from '../../src/wire/json.ts';
import { raisesAbout, raisesLocal } from '../world/raises.ts';

const encode = encodeBinary as (message: unknown) => Uint8Array;
const BYTES = Uint8Array.of(1, 2, 3);

test('writes a request’s envelope, whose empty fields take no space', () => {
  const envelope = buildUtterance({ requestId: 'r1', text: 'What is on today?' });
  const { msg_type, metadata, payload } = envelope;
  const read = decodeBinary(encodeBinary(envelope));
  assert.equal(read, { msg_type, metadata, payload });
  if (read.msg_type !== 'bin') assert.is(readHubEvent(read)?.requestId, 'r1');
});

test('refuses an envelope with a field that a binary message cannot carry', () => {
  const envelope = { msg_type: 'bus', payload: {} };
  for (const field of [
    { target_site_id: 'lobby' },
    { route: [{ source: 'a' }] },
    { node: '' },
    { other: {} },
  ]) {
    raisesLocal(() => encode({ ...envelope, ...field }), 'bad-argument');
  }
});

test('writes no metadata as an empty object', () => {
  const message = { msg_type: 'bus', payload: {} };
  assert.equal(encode(message), encode({ ...message, metadata: {} }));
  assert.equal(encode(message), encode({ ...message, metadata: undefined }));
});

test('writes bytes with the type "undefined" unless a type is given', () => {
  const message = { msg_type: 'bin', payload: BYTES };
  assert.equal(encode(message), encode({ ...message, bin_type: 'undefined' }));
  assert.equal(decodeBinary(encode(message)), { ...message, bin_type: 'undefined', metadata: {} });
});

test('writes fractions, and writes JsonNumber tokens unchanged', () => {
  const bytes = encodeBinary({ msg_type: 'bus', payload: { a: 0.5, b: new JsonNumber('1.50') } });
  assert.is(Buffer.from(bytes.subarray(4)).toString(), '{"a":0.5,"b":1.50}');
});

test('does not change its argument', () => {
  const payload = Uint8Array.from(BYTES);
  const metadata = { lang: 'en-us' };
  encodeBinary({ msg_type: 'bin', payload, metadata });
  assert.equal(payload, BYTES);
  assert.equal(metadata, { lang: 'en-us' });
});

test('refuses types that have no binary form', () => {
  for (const msg_type of ['intercom', '3rdparty', 'handshake', 'BUS', '', undefined, null, 1]) {
    raisesLocal(() => encode({ msg_type, payload: {} }), 'bad-argument');
  }
});

test('refuses unknown payload types, and any payload type for JSON', () => {
  for (const bin_type of ['RAW_AUDIO', 'audio', '', 1, null]) {
    raisesLocal(() => encode({ msg_type: 'bin', bin_type, payload: BYTES }), 'bad-argument');
  }
  raisesLocal(() => encode({ msg_type: 'bus', bin_type: 'file', payload: {} }), 'bad-argument');
});

test('refuses JSON payloads and metadata that are not objects', () => {
  for (const value of [[], null, 'a', 1, BYTES, new JsonNumber('1')]) {
    raisesLocal(() => encode({ msg_type: 'bus', payload: value }), 'bad-argument');
    raisesLocal(() => encode({ msg_type: 'bus', metadata: value, payload: {} }), 'bad-argument');
  }
  raisesLocal(() => encode({ msg_type: 'bus' }), 'bad-argument');
});

test('refuses a payload that is not a Uint8Array', () => {
  for (const payload of [undefined, {}, 'abc', [1, 2]]) {
    raisesLocal(() => encode({ msg_type: 'bin', payload }), 'bad-argument');
  }
});

test('refuses arguments that are not objects, or that throw when read', () => {
  for (const message of [undefined, null, 'bus', 7, []]) raisesLocal(() => encode(message), 'bad-argument');
  const hostile = Object.defineProperty({}, 'msg_type', {
    enumerable: true,
    get: () => assert.unreachable(),
  });
  raisesLocal(() => encode(hostile), 'bad-argument');
});

test('refuses values that JSON cannot represent', () => {
  raisesLocal(() => encode({ msg_type: 'bus', payload: { a: NaN } }), 'unsafe-number');
  raisesLocal(() => encode({ msg_type: 'bus', payload: {}, metadata: { a: '\ud800' } }), 'lone-surrogate');
});

test('names the argument that is wrong', () => {
  raisesAbout('message', () => encode(7));
  raisesAbout('msg_type', () => encode({ msg_type: 'intercom', payload: {} }));
  raisesAbout('bin_type', () => encode({ msg_type: 'bin', bin_type: 'mp3', payload: BYTES }));
  raisesAbout('bin_type', () => encode({ msg_type: 'bus', bin_type: 'file', payload: {} }));
  raisesAbout('metadata', () => encode({ msg_type: 'bus', metadata: [], payload: {} }));
  raisesAbout('payload', () => encode({ msg_type: 'bus', payload: [] }));
  raisesAbout('payload', () => encode({ msg_type: 'bin', payload: [] }));
  const hostile = Object.defineProperty({}, 'msg_type', {
    enumerable: true,
    get: () => assert.unreachable(),
  });
  raisesAbout('message', () => encode(hostile));
});

test.run();

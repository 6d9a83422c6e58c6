import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  assertProtocolVersion,
  composePayload,
  isStringArray,
  mergeFields,
  readMessage1Payload,
  readMessage2Payload,
  readNodeId,
  readNoise,
  readNoiseMessage,
  readOffer,
} from '../../src/wire/handshake.ts';
import type { Json, JsonObject } from '../../src/wire/json.ts';
import { JsonNumber } from '../../src/wire/json.ts';
import { parseJson } from '../../src/wire/parse-json.ts';
import { raisesLocal, raisesRemote } from '../raises.ts';

const object = (text: string): JsonObject => parseJson(text) as JsonObject;
const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text));

const NOISE = '"noise":{"patterns":["XXpsk2"],"suites":["25519_AESGCM_SHA256"]}';

test('reads the node id unchanged', () => {
  for (const nodeId of ['hub', ' ', '__proto__', '-----BEGIN PUBLIC KEY-----\nMIIB\n', 'hüb 🏠']) {
    assert.is(readNodeId({ node_id: nodeId }), nodeId);
  }
});

test('refuses a HELLO without a node id', () => {
  raisesRemote(() => readNodeId({}), 'missing-node-id');
  raisesRemote(() => readNodeId({ nodeId: 'hub' }), 'missing-node-id');
  raisesRemote(() => readNodeId(object('{"__proto__":{"node_id":"hub"}}')), 'missing-node-id');
});

test('refuses a node id that is empty or not a string', () => {
  for (const nodeId of ['""', 'null', '1', '1.0', '["hub"]', '{}', 'true']) {
    raisesRemote(() => readNodeId(object(`{"node_id":${nodeId}}`)), 'bad-node-id');
  }
});

for (const version of ['3', '4', '3.0', '3e0', '3.5', '1000', '1e400']) {
  test(`accepts protocol version ${version}`, () => {
    assertProtocolVersion(object(`{"max_protocol_version":${version}}`));
    assert.equal(readOffer(object(`{"max_protocol_version":${version},${NOISE}}`)).patterns, ['XXpsk2']);
  });
}

for (const version of ['2', '0', '-3', '2.9', '-1e400', '"3"', 'true', 'null', '[3]', '{}', '""']) {
  test(`refuses protocol version ${version}`, () => {
    raisesRemote(
      () => assertProtocolVersion(object(`{"max_protocol_version":${version}}`)),
      'protocol-version',
    );
    raisesRemote(() => readOffer(object(`{"max_protocol_version":${version},${NOISE}}`)), 'protocol-version');
  });
}

test('refuses a payload without max_protocol_version, whatever other version it has', () => {
  raisesRemote(() => assertProtocolVersion({}), 'protocol-version');
  raisesRemote(() => assertProtocolVersion({ min_protocol_version: 3, version: 3 }), 'protocol-version');
});

test('reads the patterns and suites of an offer, unknown ones included', () => {
  const payload = object(
    '{"max_protocol_version":3,"noise":{"patterns":["XXpsk2","Q"],"suites":[],"x":1.0},"y":null}',
  );
  assert.equal(readOffer(payload), { patterns: ['XXpsk2', 'Q'], suites: [] });
});

test('refuses an offer whose patterns or suites are not lists of strings', () => {
  const offers = [
    '{}',
    '{"patterns":[]}',
    '{"suites":[]}',
    '{"patterns":"XXpsk2","suites":[]}',
    '{"patterns":[],"suites":"a"}',
    '{"patterns":[null],"suites":[]}',
    '{"patterns":["XXpsk2",1],"suites":[]}',
    '{"patterns":[],"suites":[["a"]]}',
    '{"patterns":{"0":"XXpsk2","length":1},"suites":[]}',
    '{"patterns":null,"suites":null}',
  ];
  for (const noise of offers) {
    raisesRemote(() => readOffer(object(`{"max_protocol_version":3,"noise":${noise}}`)), 'bad-offer');
  }
});

test('refuses an offer without noise', () => {
  raisesRemote(() => readOffer({ max_protocol_version: 3 }), 'bad-offer');
});

test('refuses a noise field that is not an object', () => {
  for (const noise of ['null', '[]', '"{}"', '1', '1.0', 'true']) {
    raisesRemote(() => readNoise(object(`{"noise":${noise}}`)), 'bad-payload');
    raisesRemote(() => readOffer(object(`{"max_protocol_version":3,"noise":${noise}}`)), 'bad-payload');
  }
});

test('returns the noise object, or undefined where there is none', () => {
  assert.equal(readNoise({ noise: { msg: '00' } }), { msg: '00' });
  assert.is(readNoise({}), undefined);
});

test('reads a Noise message in hex of either case', () => {
  assert.equal(readNoiseMessage({ noise: { msg: '00fFAb' } }), new Uint8Array([0, 255, 171]));
  raisesRemote(() => readNoiseMessage({}), 'bad-hex');
  assert.equal(readNoiseMessage({ noise: { msg: '' } }), new Uint8Array(0));
});

test('refuses a Noise message that is not a string of hex digits', () => {
  for (const noise of ['{}', '{"msg":null}', '{"msg":10}', '{"msg":["00"]}', '{"msg":"0"}', '{"msg":"0g"}']) {
    raisesRemote(() => readNoiseMessage(object(`{"noise":${noise}}`)), 'bad-hex');
  }
});

test('reads the payload of message 1', () => {
  const payload = bytes('{"binarize":true,"encodings":["JSON-HEX","X"],"more":1.0}');
  assert.equal(readMessage1Payload(payload), { binarize: true, encodings: ['JSON-HEX', 'X'] });
});

test('uses the defaults for an empty payload, missing fields and null in message 1', () => {
  for (const payload of ['', '{}', ' {} ', '{"binarize":null,"encodings":null}']) {
    assert.equal(readMessage1Payload(bytes(payload)), { binarize: false, encodings: [] });
  }
});

test('refuses fields of message 1 of the wrong type', () => {
  for (const fields of [
    '"binarize":1',
    '"binarize":"true"',
    '"encodings":"a"',
    '"encodings":[1]',
    '"encodings":{}',
  ]) {
    raisesRemote(() => readMessage1Payload(bytes(`{${fields}}`)), 'bad-handshake-payload');
  }
});

test('reads the encoding of message 2, written as Python writes it', () => {
  assert.equal(readMessage2Payload(bytes('{"encoding": "JSON-HEX"}')), { encoding: 'JSON-HEX' });
});

test('returns no encoding if message 2 names none', () => {
  for (const payload of ['', '{}', '{"encoding":null}', '{"x":1}']) {
    assert.equal(readMessage2Payload(bytes(payload)), { encoding: undefined });
  }
});

test('refuses an encoding in message 2 that is not a string', () => {
  for (const encoding of ['1', '1.0', 'true', '[]', '["JSON-HEX"]', '{}']) {
    raisesRemote(() => readMessage2Payload(bytes(`{"encoding":${encoding}}`)), 'bad-handshake-payload');
  }
});

test('refuses every payload of message 1, and reads none in message 2, that is not a JSON object', () => {
  const payloads = ['null', '[]', '"{}"', '1', '1.0', '{', '{"a":1,"a":1}', '"\\ud800"', '['.repeat(65), ' '];
  for (const payload of [...payloads.map(bytes), new Uint8Array([0xff])]) {
    raisesRemote(() => readMessage1Payload(payload), 'bad-handshake-payload');
    assert.is(readMessage2Payload(payload), undefined);
  }
});

test('composes a payload of two objects, of which the second overrides the first', () => {
  assert.equal(composePayload({ a: 1, b: 2 }, { b: 3, c: [4] }), { a: 1, b: 3, c: [4] });
  assert.equal(Object.keys(composePayload({ a: 1, b: 2 }, { b: 3, c: 4 })), ['a', 'b', 'c']);
});

test('composes a payload as the peer will read it', () => {
  const payload = composePayload(
    { half: 0.5, large: 1e21, kept: new JsonNumber('1.0'), one: new JsonNumber('1') },
    {},
  );
  const expected = {
    half: new JsonNumber('0.5'),
    large: new JsonNumber('1e+21'),
    kept: new JsonNumber('1.0'),
    one: 1,
  };
  assert.equal(payload, expected);
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

test('tells a list of strings from anything else', () => {
  assert.equal([isStringArray([]), isStringArray(['']), isStringArray(['a', 'b'])], [true, true, true]);
  for (const value of [undefined, null, 'a', {}, [1], ['a', null], new Array(1)])
    assert.is(isStringArray(value), false);
  const { proxy, revoke } = Proxy.revocable([], {});
  revoke();
  assert.is(isStringArray(proxy), false);
});

test.run();

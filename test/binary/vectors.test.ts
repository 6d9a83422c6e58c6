/** The vectors of binary.json. */
import { inflateSync } from 'node:zlib';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { readVectorFile, type Vector } from '../../judge/src/vectors.ts';
import { type BinaryMessage, decodeBinary, encodeBinary, type Inflate } from '../../src/binary.ts';
import type { LocalCode, RemoteCode } from '../../src/errors.ts';
import { raisesLocal, raisesRemote } from '../world/raises.ts';
import { hex, toHex } from '../world/vectors.ts';

const inflate: Inflate = (bytes, maxOutputLength) => inflateSync(bytes, { maxOutputLength });

/** The message of a vector, whose metadata and payload are JSON texts or values. */
function messageOf({ msgType: msg_type, binType: bin_type, bytes, ...fields }: Vector): BinaryMessage {
  const read = (json: unknown) => (typeof json === 'string' ? JSON.parse(json) : json);
  const metadata = read(fields.metadata);
  if (msg_type === 'bin') return { msg_type, bin_type, metadata, payload: hex(bytes) as never };
  return { msg_type, metadata, payload: read(fields.payload) };
}

const TYPES: { [type: string]: (vector: Vector) => void } = {
  EncodeBinary(vector) {
    const encode = () => encodeBinary(messageOf(vector));
    if (vector.error !== undefined) raisesLocal(encode, vector.error as LocalCode);
    else assert.is(toHex(encode()), vector.message);
  },

  DecodeBinary(vector) {
    const message = hex(vector.message);
    const decode = () => decodeBinary(message, { inflate, maxInflated: vector.maxInflated });
    if (vector.otherErrors !== undefined) raisesRemote(() => decodeBinary(message), 'compressed');
    if (vector.error !== undefined) raisesRemote(decode, vector.error as RemoteCode);
    else assert.equal(JSON.parse(JSON.stringify(decode())), JSON.parse(JSON.stringify(messageOf(vector))));
    assert.is(toHex(message), vector.message); // as it was
  },
};

for (const { type, tests } of readVectorFile('binary').testGroups) {
  for (const vector of tests) {
    test(`${type} ${vector.tcId} ${vector.comment}`, () => TYPES[type]!(vector));
  }
}

test.run();

/**
 * Compressed messages, as the clients of Node.js and of pages read them: both refuse what is damaged with the same code, and never
 * read different things.
 */
import { deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import type { ReadBinary } from 'hub-protocol/binary';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { binaryReader as inPage } from '../../client/dist/inflate-in-page.js';
import { binaryReader as onNode } from '../../client/dist/inflate-on-node.js';
import { readVectorFile } from '../../judge/src/vectors.ts';
import { seeded } from '../world/random.ts';
import { hex } from '../world/vectors.ts';

const BUDGET = { inflated: 2 ** 20, values: 2 ** 17 };
const readInPage = inPage(BUDGET);
const readOnNode = onNode(BUDGET);

interface Bytes {
  readonly bin_type?: string;
  readonly bytes: Uint8Array;
}

/** What a client reads: the code of the error, JSON, or bytes. */
function read(readBinary: ReadBinary, message: Uint8Array): string | Bytes {
  const event = readBinary(Uint8Array.from(message));
  if (event.type === 'dropped') return event.error!.code;
  return event.kind === 'json' ? event.text : event;
}

/** What both clients read. */
function readByBoth(message: Uint8Array): string | Bytes {
  const onNode = read(readOnNode, message);
  const inPage = read(readInPage, message);
  if (typeof onNode === 'string') assert.ok(inPage === onNode, `${onNode} and ${inPage}`.slice(0, 300));
  else assert.equal(inPage, onNode);
  return onNode;
}

/** What both clients read of a compressed payload. */
const readPayload = (stream: Uint8Array): string | Bytes => readByBoth(Uint8Array.of(0x83, 0, ...stream));

const jsonOf = (length: number): string => JSON.stringify({ text: 'x'.repeat(length - 11) });

/** JSON that becomes a stream of several pieces: letters of three kinds, in no order. */
const LETTERS = JSON.stringify({ text: Array.from(seeded(7)(3000), (byte) => 'abc'[byte % 3]).join('') });

const STREAMS: { readonly [name: string]: Uint8Array } = {
  'of a few bytes': deflateSync('{"lang":"en-us"}'),
  'of several pieces': deflateSync(LETTERS),
  'with flushes': deflateSync(LETTERS, { level: 1, memLevel: 1 }),
  'that is stored': deflateSync(LETTERS, { level: 0 }),
};

test('both clients read the vectors', () => {
  let count = 0;
  for (const { type, tests } of readVectorFile('binary').testGroups) {
    for (const { message, error, maxInflated } of tests) {
      if (type !== 'DecodeBinary' || maxInflated !== undefined) continue;
      const event = readByBoth(hex(message));
      if (error === undefined) assert.ok(typeof event !== 'string' || event.startsWith('{'));
      else assert.is(event, error);
      count++;
    }
  }
  assert.ok(count > 50);
});

for (const [name, stream] of Object.entries(STREAMS)) {
  test(`both clients read a stream ${name}, but none that ends early`, () => {
    assert.match(String(readPayload(stream)), /^\{/);
    for (let length = 0; length < stream.length; length += length < stream.length - 20 ? 7 : 1) {
      assert.is(readPayload(stream.subarray(0, length)), 'bad-compression', String(length));
    }
  });

  test(`a wrong bit in a stream ${name} is refused by both clients, or changes nothing`, () => {
    const whole = readPayload(stream);
    let refused = 0;
    for (let bit = 0; bit < 8 * stream.length; bit += stream.length > 100 && bit > 600 ? 97 : 1) {
      const damaged = Uint8Array.of(0x83, 0, ...stream);
      damaged[2 + (bit >> 3)]! ^= 1 << (bit & 7);
      const [onNode, inPage] = [read(readOnNode, damaged), read(readInPage, damaged)];
      if (onNode === 'bad-compression' && inPage === onNode) refused++;
      // zlib refuses flaws of lengths and of codes that are not used, too.
      else assert.ok(inPage === whole && (onNode === whole || onNode === 'bad-compression'), String(bit));
    }
    assert.ok(refused > 100);
  });

  test(`both clients refuse what follows a stream ${name}`, () => {
    for (const rest of [Uint8Array.of(0), Uint8Array.of(1, 2, 3, 4, 5), deflateSync('{}'), seeded(1)(1000)]) {
      assert.is(readPayload(Buffer.concat([stream, rest])), 'bad-compression');
    }
  });
}

test('both clients refuse what is no zlib stream', () => {
  const text = '{"lang":"en-us"}';
  const dictionary = Buffer.from('{"lang":"');
  for (const stream of [
    deflateRawSync(text),
    gzipSync(text),
    deflateSync(text, { dictionary }),
    Buffer.from(text),
  ])
    assert.is(readPayload(stream), 'bad-compression');
});

test('both clients refuse a stream without a last block, although its checksum is right', () => {
  const stream = deflateSync(jsonOf(505), { level: 0 }); // the checksum is the second piece
  assert.is(stream.length, 516);
  stream[2] = 0;
  assert.is(readPayload(stream), 'bad-compression');
});

test('both clients read a stream wherever its pieces end', () => {
  for (let length = 490; length < 530; length++) {
    const text = String(readPayload(deflateSync(jsonOf(length), { level: 0 })));
    assert.ok(text.startsWith('{') && text.includes('x'.repeat(length - 11)), String(length));
  }
});

test('both clients read 128 KiB outside of texts, and not a byte more', () => {
  const json = `{"a":[${'0,'.repeat(2 ** 16 - 4)}0]}`;
  const spaces = ' '.repeat(2 ** 17 - (json.length - 2)); // the letter and the second quotation mark are inside
  assert.ok(String(readPayload(deflateSync(json + spaces))).startsWith('{'));
  assert.is(readPayload(deflateSync(`${json + spaces} `)), 'bad-compression');
});

test('both clients read an envelope of 1 MiB, and no longer one', () => {
  assert.match(String(readPayload(deflateSync(jsonOf(2 ** 20)))), /^\{/);
  assert.is(readPayload(deflateSync(jsonOf(2 ** 20 + 1))), 'bad-compression');
});

test('both clients read speech of 5 MiB, which is not compressed, although its metadata are', () => {
  const [metadata, payload] = [deflateSync('{"lang":"en"}'), Buffer.alloc(5 * 2 ** 20)];
  const head = `099${Buffer.of(metadata.length).toString('hex')}${metadata.toString('hex')}6`;
  const event = readByBoth(Buffer.concat([Buffer.from(head, 'hex'), payload]));
  const { bin_type, bytes } = event as Bytes;
  assert.equal([bin_type, bytes.length], ['tts_audio', payload.length]);
});

test('a page stops inflating with the piece that exceeds the limit', () => {
  const taken: number[] = [];
  class Watched extends Uint8Array<ArrayBuffer> {
    override subarray(begin?: number, end: number = this.length): Uint8Array<ArrayBuffer> {
      taken.push(end);
      return super.subarray(begin, end);
    }
  }
  const bomb = Uint8Array.of(0x83, 0, ...deflateSync(Buffer.alloc(64 * 2 ** 20)));
  assert.is(read(readInPage, bomb), 'bad-compression');
  readInPage(Watched.from(bomb) as Watched);
  const [payload, ...pieces] = taken;
  assert.is(payload, bomb.length); // 64 KB
  assert.is(Math.max(...pieces), 1536); // the third of the pieces, which exceeds a MiB
});

test('both clients refuse a message of short values, which take long to read, and read a text of the same length', () => {
  for (const unit of ['1e9,', '{},', '"",']) {
    const json = `{"a":[${unit.repeat(900_000 / unit.length)}0]}`;
    assert.is(readPayload(deflateSync(json)), 'bad-compression', unit);
  }
  assert.match(String(readPayload(deflateSync(jsonOf(900_000)))), /^\{/);
});

for (const escaped of ['\\"', '\\\\', '\\\\\\"', '\\"\\"', '\\u0022']) {
  test(`both clients know where a text with ${escaped} ends`, () => {
    const text = 'x'.repeat(800_000);
    for (const json of [`{"a":"${escaped}${text}"}`, `{"a":"${escaped}","b":"${text}"}`]) {
      assert.match(String(readPayload(deflateSync(json))), /^\{/);
    }
    const values = `[${'1e9,'.repeat(200_000)}0]`;
    assert.is(readPayload(deflateSync(`{"a":"${escaped}","b":${values}}`)), 'bad-compression');
  });
}

test.run();

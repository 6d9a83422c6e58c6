/** Binary messages, written, changed at random, and read: compared with a model that looks for the fields in a string of bits. */
import { deflateSync, inflateSync } from 'node:zlib';
import {
  type BinaryMessage,
  binaryReader,
  decodeBinary,
  encodeBinary,
  type Inflate,
} from '../../../../src/binary.ts';
import { type JsonObject, parseJson, RemoteError } from '../../../../src/index.ts';
import type { Random } from '../../../../test/world/random.ts';
import { hostile, spoiled } from '../hostile.ts';
import { ask, breach, read } from '../law.ts';
import { anyJson, mutatedBytes, mutatedText } from '../mutate.ts';

const TYPES =
  'shake bus shared_bus broadcast propagate escalate hello query cascade ping rendezvous - bin'.split(' ');
const PAYLOAD_TYPES =
  'undefined raw_audio numpy_image file stt_audio_transcribe stt_audio_handle tts_audio'.split(' ');

const MAX_INFLATED = 4000;
let allowed = MAX_INFLATED; // what the present call may inflate to
let wasAllowedOther = false; // decodeBinary catches what inflate throws

const inflate: Inflate = (compressed, maxOutputLength) => {
  if (maxOutputLength !== allowed) wasAllowedOther = true;
  return inflateSync(compressed, { maxOutputLength });
};

export function binary(random: Random): void {
  if (random.oneIn(16)) {
    misuse(random);
    return;
  }
  let message = random.oneIn(2) ? written(random) : composed(random);
  for (let i = random.below(3); i > 0; i--) message = mutatedBytes(random, message, composed(random));
  if (random.oneIn(32)) message = random.bytes(random.length(40));
  const before = Buffer.from(message).toString('latin1');
  allowed = random.pick([0, 1, 20, MAX_INFLATED]);
  const outcome = read('decodeBinary', () => decodeBinary(message, { inflate, maxInflated: allowed }));
  if (wasAllowedOther) breach('inflate is called with another limit');
  if (Buffer.from(message).toString('latin1') !== before) breach('decodeBinary changes what it reads');
  if (outcome.error !== undefined && !(outcome.error instanceof RemoteError))
    breach('decodeBinary takes a bad message for misuse', outcome.error);
  const event = binaryReader({ inflate, maxInflated: allowed })(Uint8Array.from(message));
  if ((event.type === 'dropped') !== (outcome.error !== undefined))
    breach('binaryReader and decodeBinary differ');
  if (outcome.error !== undefined) compare(message, outcome.error.code, undefined);
  else compare(message, undefined, outcome.value);
}

/** An object without lone surrogates. */
function objectOf(random: Random): JsonObject {
  const outcome = read('parseJson', () => parseJson(JSON.stringify({ a: anyJson(random, 2) })));
  return outcome.error === undefined ? (outcome.value as JsonObject) : {};
}

/** What encodeBinary writes, which decodeBinary must read. */
function written(random: Random): Uint8Array {
  const metadata = random.oneIn(2) ? {} : { a: 'x'.repeat(random.below(260)) };
  const type = random.pick(TYPES.filter((name) => name !== '-'));
  const message =
    type === 'bin'
      ? {
          msg_type: type,
          bin_type: random.pick(PAYLOAD_TYPES),
          metadata,
          payload: random.bytes(random.length(2000)),
        }
      : { msg_type: type, metadata, payload: objectOf(random) };
  const outcome = read('encodeBinary', () => encodeBinary(message as BinaryMessage));
  const isTooLong = JSON.stringify(metadata).length > 255;
  if ((outcome.error?.code === 'message-too-long') !== isTooLong)
    breach('encodeBinary has another limit for metadata', outcome.error);
  if (outcome.error !== undefined) return new Uint8Array(0);
  if (shown(decodeBinary(outcome.value)) !== shown(message))
    breach('a binary message changes when it is written and read');
  return outcome.value;
}

function shown(message: object): string {
  return JSON.stringify(message, (_key, value) =>
    value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value,
  );
}

/** Fields that may be wrong, put together as bits. */
function composed(random: Random): Uint8Array {
  const type = random.oneIn(4) ? random.below(32) : random.pick([1, 1, 7, 12, 12]);
  const isCompressed = random.oneIn(3);
  const isVersioned = random.oneIn(4);
  const textOf = (text: string): Buffer => (isCompressed ? deflateSync(text) : Buffer.from(text));
  const json = (): Buffer => textOf(mayBeMutated(random, JSON.stringify(anyJson(random, 2))));
  const metadata = random.oneIn(3)
    ? textOf('{}')
    : random.oneIn(4)
      ? Buffer.alloc(0)
      : json().subarray(0, 255);
  const payload =
    type === 12 ? Buffer.from(random.bytes(random.length(60))) : random.oneIn(2) ? textOf('{}') : json();
  const padding = random.oneIn(8) ? random.below(20) : type === 12 ? 4 : 0;
  const length = random.oneIn(16) ? random.below(256) : metadata.length;
  const head = `${'0'.repeat(padding)}1${isVersioned ? `1${bitsOf(random.pick([0, 1, 1, 2, 200]), 8)}` : '0'}`;
  const flags = `${bitsOf(type, 5)}${isCompressed ? 1 : 0}${bitsOf(length, 8)}`;
  const kind = type === 12 ? bitsOf(random.oneIn(4) ? random.below(16) : random.below(7), 4) : '';
  const bits = head + flags + allBits(metadata) + kind + allBits(payload);
  return Uint8Array.from(bits.match(/.{1,8}/g)!, (byte) => parseInt(byte.padEnd(8, '0'), 2));
}

function mayBeMutated(random: Random, text: string): string {
  return random.oneIn(4) ? mutatedText(random, text, '{"a":1}') : text;
}

function bitsOf(value: number, count: number): string {
  return value.toString(2).padStart(count, '0');
}

function allBits(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => bitsOf(byte, 8)).join('');
}

const HEAD = /^(0{0,7})1(?:0|1(.{8}))(.{5})(.)(.{8})/;

/** Finds the fields in another way, and compares what came of them. */
function compare(message: Uint8Array, code: string | undefined, decoded: BinaryMessage | undefined): void {
  const expected = expectedOf(message);
  if (typeof expected === 'string') {
    if (code !== expected) breach(`decodeBinary says ${code ?? 'nothing'} where ${expected} is due`);
    return;
  }
  if (code !== undefined) {
    const isJson = ['bad-utf8', 'bad-json', 'duplicate-key', 'lone-surrogate', 'json-depth'].includes(code);
    const isContent = ['bad-metadata', 'bad-payload', ...(expected.isCompressed ? ['bad-compression'] : [])];
    if (!isJson && !isContent.includes(code))
      breach(`decodeBinary refuses a message that is none the worse: ${code}`);
    if (expected.isPlain) breach(`decodeBinary refuses metadata and payload that are right: ${code}`);
    return;
  }
  if (decoded!.msg_type !== expected.type) breach('decodeBinary reads another type');
  if (decoded!.msg_type !== 'bin') return;
  if (decoded!.bin_type !== expected.payloadType) breach('decodeBinary reads another type of payload');
  if (Buffer.compare(decoded!.payload, expected.payload) !== 0) breach('decodeBinary reads another payload');
  if (decoded!.payload.buffer !== message.buffer) breach('decodeBinary copies the payload');
}

interface Expected {
  readonly type: string;
  readonly payloadType: string;
  readonly payload: Uint8Array;
  readonly isCompressed: boolean;
  /** Whether it is not compressed, and both parts are small objects of JSON without anything to refuse. */
  readonly isPlain: boolean;
}

/** What is in a message; or the code of what its bits have wrong. */
function expectedOf(message: Uint8Array): Expected | string {
  const bits = allBits(message.subarray(0, 270));
  const found = HEAD.exec(bits);
  // What is cut short may show its version or a reserved type before it ends.
  const early = /^(0{0,7})1(?:0|1(.{8}))(.{5})?/.exec(bits);
  if (early?.[2] !== undefined && parseInt(early[2], 2) > 1) return 'binary-version';
  if (early?.[3] !== undefined && ['-', undefined].includes(TYPES[parseInt(early[3], 2)]))
    return 'reserved-code';
  if (found === null) return 'bad-binary-message';
  const [head, , , type, compressed, count] = found;
  const isBytes = TYPES[parseInt(type!, 2)] === 'bin';
  const length = parseInt(count!, 2);
  const end = head.length + 8 * length + (isBytes ? 4 : 0);
  if (end > bits.length) return 'bad-binary-message';
  const payloadType = isBytes ? PAYLOAD_TYPES[parseInt(bits.slice(end - 4, end), 2)] : 'undefined';
  if (payloadType === undefined) return 'reserved-code';
  if (end % 8 !== 0) return 'bad-binary-message';
  const metadata = bits.slice(head.length, head.length + 8 * length);
  const payload = message.subarray(end / 8);
  const isCompressed = compressed === '1';
  const isEmpty = (text: string): boolean => text === allBits(Buffer.from('{}'));
  const isPlain =
    !isCompressed &&
    (length === 0 || isEmpty(metadata)) &&
    (isBytes || isEmpty(allBits(payload.subarray(0, 9))));
  return { type: TYPES[parseInt(type!, 2)]!, payloadType, payload, isCompressed, isPlain };
}

/** Arguments that no caller should pass. */
function misuse(random: Random): void {
  const [message] = spoiled(random, [
    { msg_type: 'bin', bin_type: 'file', metadata: { a: 1 }, payload: random.bytes(5) },
  ]);
  ask('encodeBinary', () => encodeBinary(message as JsonObject));
  ask('encodeBinary', () => encodeBinary(hostile(random) as JsonObject));
  const bytes = composed(random);
  const options = random.oneIn(2)
    ? hostile(random)
    : { inflate: hostile(random), maxInflated: hostile(random) };
  read('decodeBinary', () => decodeBinary(bytes, options as object));
  read('decodeBinary', () =>
    decodeBinary(hostile(random) as Uint8Array, { inflate: () => new Uint8Array(0) }),
  );
}

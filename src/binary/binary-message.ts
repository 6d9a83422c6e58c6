/**
 * HiveMind's binary messages, which its own documents call WIRE-1: the content of messages that are not JSON.
 *
 *     bits
 *     0 or 4   zeros, for the rest to end at a byte boundary
 *     1        one: the start
 *     1        whether a version follows
 *     (8)      the version
 *     5        the type
 *     1        whether metadata and payload are compressed (zlib, RFC 1950)
 *     8        the length of the metadata, in bytes
 *     …        the metadata, a JSON object
 *     (4)      the type of the payload: only in messages of the type `bin`, whose payload is never compressed
 *     …        the payload: bytes in messages of the type `bin`, and a JSON object in all others
 *
 * docs/reference/protocol.md, "Binary messages".
 */
import {
  assertBytes,
  assertFunction,
  assertInteger,
  assertObject,
  type OptionNames,
  readArgument,
  readOptions,
} from '../arguments.ts';
import { type Bytes, isBytes } from '../bytes.ts';
import * as errors from '../errors-table.ts';
import { MAX_MESSAGE, MAX_METADATA } from '../limits.ts';
import { assertNotFull } from '../memory.ts';
import type { BinaryPayloadType } from '../wire/frame-joiner.ts';
import { isJsonObject, type JsonObject } from '../wire/json.ts';
import { parseJson } from '../wire/parse-json.ts';
import { jsonToBytes } from '../wire/write-json.ts';
import { BitReader } from './bits.ts';

/** By their codes. 11 is reserved: it was the type `3rdparty`, which HiveMind has removed. */
const TYPES = [
  'shake',
  'bus',
  'shared_bus',
  'broadcast',
  'propagate',
  'escalate',
  'hello',
  'query',
  'cascade',
  'ping',
  'rendezvous',
  undefined,
  'bin',
] as const;

/** By their codes. */
const PAYLOAD_TYPES: readonly BinaryPayloadType[] = [
  'undefined',
  'raw_audio',
  'numpy_image',
  'file',
  'stt_audio_transcribe',
  'stt_audio_handle',
  'tts_audio',
];

const BIN = 12;

/** The type of a binary message. HiveMind's type `intercom` has no binary form. */
export type BinaryMessageType = NonNullable<(typeof TYPES)[number]>;

/** A message whose payload is JSON. It has the fields of an envelope, so `readHubEvent` reads it. */
export type BinaryEnvelope = {
  /** The type of the envelope. */
  readonly msg_type: Exclude<BinaryMessageType, 'bin'>;
  /** Empty if the message has none. */
  readonly metadata: JsonObject;
  /** The payload of the envelope. */
  readonly payload: JsonObject;
};

/** A message whose payload is bytes. */
export interface BinaryPayload {
  readonly msg_type: 'bin';
  /** What the payload is. */
  readonly bin_type: BinaryPayloadType;
  /** Such as `sample_rate` and `sample_width` of `raw_audio`, or `file_name` of a `file`. */
  readonly metadata: JsonObject;
  /** A view of the message that was read. */
  readonly payload: Bytes;
}

/** A binary message. */
export type BinaryMessage = BinaryEnvelope | BinaryPayload;

/**
 * Decompresses a zlib stream (RFC 1950). It throws if the stream is damaged, or if more than `maxLength` bytes come out, and
 * does not allocate much more than these.
 *
 * @example
 * import { inflateSync } from 'node:zlib';
 * import { readHubEvent } from 'hub-protocol';
 * import { decodeBinary, type Inflate } from 'hub-protocol/binary';
 *
 * const inflate: Inflate = (bytes, maxOutputLength) => inflateSync(bytes, { maxOutputLength });
 *
 * function typeOf(bytes: Uint8Array): string | undefined {
 *   const message = decodeBinary(bytes, { inflate });
 *   return message.msg_type === 'bus' ? readHubEvent(message)?.type : undefined;
 * }
 *
 * const hex = '830a789cabae0500017500f9789cab562aa92c4855b252502a2e484dcc56aa0500336005b1';
 * console.log(typeOf(Buffer.from(hex, 'hex'))); // speak
 */
export type Inflate = (compressed: Uint8Array, maxLength: number) => Uint8Array;

/** The options of `decodeBinary`. */
export interface DecodeOptions {
  /** Reads compressed messages (default none: they are refused). */
  inflate?: Inflate | undefined;
  /** The most that `inflate` may return, in bytes (default 32 MiB, which is the maximum). */
  maxInflated?: number | undefined;
}

/**
 * Writes a binary message. It is never compressed.
 * @param message - an envelope, such as those that `buildUtterance` returns; or a payload of bytes, of the type `undefined`
 *   unless `bin_type` names another. Metadata are optional.
 * @returns the message, to be passed to `sendBinary`
 * @throws LocalError `bad-argument`, also for a field of an envelope that has no place in a binary message, such as
 *   `target_site_id`; `message-too-long` for more than 255 bytes of metadata; and as `canonicalJson` for what JSON cannot
 *   represent, although numbers with a fraction are welcome
 *
 * @example
 * import { encodeBinary } from 'hub-protocol/binary';
 *
 * const metadata = { sample_rate: 16000 };
 * const message = encodeBinary({
 *   msg_type: 'bin',
 *   bin_type: 'raw_audio',
 *   metadata,
 *   payload: new Uint8Array(32_000),
 * });
 * console.log(message.length); // 32024
 */
export function encodeBinary(
  message:
    | JsonObject
    | (Partial<Pick<BinaryPayload, 'bin_type' | 'metadata'>> & {
        readonly msg_type: 'bin';
        readonly payload: Uint8Array;
      }),
): Bytes {
  const { type, payloadType, metadata, payload } = readArgument('message', () => partsOf(message));
  const { length } = metadata;
  const first = 0x80 | (type << 1);
  if (type !== BIN) {
    const whole = new Uint8Array(2 + length + payload.length);
    whole[0] = first;
    whole[1] = length;
    whole.set(metadata, 2);
    whole.set(payload, 2 + length);
    return whole;
  }
  // Half a byte of zeros comes first, and half a byte with the type of the payload last, so metadata lie across bytes.
  const whole = new Uint8Array(3 + length + payload.length);
  whole[0] = first >> 4;
  whole[1] = (first << 4) | (length >> 4);
  let before = length;
  for (let i = 0; i < length; i++) {
    whole[2 + i] = (before << 4) | (metadata[i]! >> 4);
    before = metadata[i]!;
  }
  whole[2 + length] = (before << 4) | payloadType;
  whole.set(payload, 3 + length);
  return whole;
}

interface Parts {
  readonly type: number;
  readonly payloadType: number;
  readonly metadata: Uint8Array;
  readonly payload: Uint8Array;
}

/** Checks a message, and encodes its fields. */
function partsOf(message: object): Parts {
  const fields = fieldsOf(message);
  const { msg_type, bin_type = 'undefined', metadata = {}, payload } = fields;
  const type = codeOf(TYPES, msg_type, 'msg_type');
  if (type !== BIN && fields.bin_type !== undefined) {
    throw errors.typeIsNotBin();
  }
  const payloadType = codeOf(PAYLOAD_TYPES, bin_type, 'bin_type');
  const encoded = encodeObject(metadata, 'metadata');
  if (encoded.length > MAX_METADATA) {
    throw errors.metadataTooLong(encoded, MAX_METADATA);
  }
  if (type !== BIN)
    return { type, payloadType, metadata: encoded, payload: encodeObject(payload, 'payload') };
  assertBytes(payload, 'payload');
  return { type, payloadType, metadata: encoded, payload };
}

/** The fields that a binary message can hold. */
const FIELDS = ['msg_type', 'bin_type', 'metadata', 'payload'];

/** Reads each field of a message once. A field that a binary message cannot hold must be empty: the peer would never see it. */
function fieldsOf(message: object): { [field: string]: unknown } {
  assertObject(message, 'message');
  const fields = Object.create(null) as { [field: string]: unknown };
  const names = Object.keys(message);
  for (let i = 0; i < names.length; i++) {
    const name = names[i]!;
    const value = message[name];
    if (FIELDS.indexOf(name) >= 0) fields[name] = value;
    else if (value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0)) {
      throw errors.notInBinary(`message.${name}`);
    }
  }
  return fields;
}

function encodeObject(value: unknown, name: string): Bytes {
  if (isJsonObject(value)) return jsonToBytes(value);
  throw errors.expectedType(name, 'object', value);
}

function codeOf(names: readonly (string | undefined)[], name: unknown, field: string): number {
  const code = typeof name === 'string' ? names.indexOf(name) : -1;
  if (code < 0) throw errors.expected(field, 'a name that binary messages know');
  return code;
}

const OPTIONS: OptionNames<DecodeOptions> = { inflate: true, maxInflated: true };

export function readDecodeOptions(options: DecodeOptions): DecodeOptions & { maxInflated: number } {
  const { inflate, maxInflated = MAX_MESSAGE } = readOptions(options, 'options', OPTIONS);
  if (inflate !== undefined) assertFunction(inflate, 'options.inflate');
  assertInteger(maxInflated, 'options.maxInflated', 0, MAX_MESSAGE);
  return { inflate, maxInflated };
}

/**
 * Reads a binary message. Time and memory grow linearly with it, and with what `inflate` returns.
 * @param bytes - the `bytes` of a `message` event; a payload of bytes is a view of them
 * @param options - how to read compressed messages
 * @returns an envelope, or a payload of bytes
 * @throws RemoteError `bad-binary-message` for bits that are not a binary message; `binary-version` for a version after 1;
 *   `reserved-code` for a type of message or payload that is not assigned; `bad-metadata` and `bad-payload` for JSON that is
 *   not an object; `bad-utf8`, `bad-json`, `duplicate-key`, `lone-surrogate`, `json-depth`; `compressed` for a compressed
 *   message without `inflate`; `bad-compression` if `inflate` throws, or returns more than `maxInflated`
 * @throws LocalError `bad-argument`, also if `inflate` returns anything but bytes; `out-of-memory` if it has no memory for them
 *
 * @example
 * import { decodeBinary, encodeBinary } from 'hub-protocol/binary';
 *
 * const bytes = encodeBinary({
 *   msg_type: 'bin',
 *   bin_type: 'tts_audio',
 *   metadata: { lang: 'en-us' },
 *   payload: Uint8Array.of(1, 2, 3),
 * });
 * const message = decodeBinary(bytes);
 * if (message.msg_type === 'bin') console.log(message.bin_type, message.payload.length); // tts_audio 3
 * else console.log(message.msg_type, message.payload);
 */
export function decodeBinary(bytes: Uint8Array, options: DecodeOptions = {}): BinaryMessage {
  assertBytes(bytes, 'bytes');
  const { inflate, maxInflated } = readDecodeOptions(options);

  const bits = new BitReader(bytes);
  for (let padding = 0; bits.take(1) === 0; padding++) {
    if (padding === 7) throw errors.badBinary('begins with a whole zero byte');
  }
  const isVersioned = bits.take(1) === 1;
  const version = isVersioned ? bits.take(8) : 1;
  if (version > 1) throw errors.binaryVersion(version);
  const code = bits.take(5);
  const type = TYPES[code];
  if (type === undefined) throw errors.reservedType(code);
  const isCompressed = bits.take(1) === 1;
  const encoded = bits.takeBytes(bits.take(8));
  const payloadCode = type === 'bin' ? bits.take(4) : 0;
  const bin_type = PAYLOAD_TYPES[payloadCode];
  if (bin_type === undefined) {
    throw errors.reservedPayloadType(payloadCode);
  }
  if (bits.at % 8 !== 0) throw errors.badBinary('ends in the middle of a byte');
  const rest = bytes.subarray(bits.at / 8) as Bytes;

  const textOf = (json: Uint8Array): Uint8Array =>
    isCompressed ? inflated(json, inflate, maxInflated) : json;
  const metadata = encoded.length === 0 ? {} : parseJson(textOf(encoded));
  if (!isJsonObject(metadata)) {
    throw errors.badMetadata();
  }
  if (type === 'bin') return { msg_type: type, bin_type, metadata, payload: rest };
  const payload = parseJson(textOf(rest));
  if (!isJsonObject(payload)) {
    throw errors.badPayload('a binary message');
  }
  return { msg_type: type, metadata, payload };
}

function inflated(compressed: Uint8Array, inflate: Inflate | undefined, maxLength: number): Uint8Array {
  if (inflate === undefined) {
    throw errors.compressed();
  }
  let bytes: unknown;
  try {
    bytes = inflate(compressed, maxLength);
  } catch (error) {
    assertNotFull(error);
    throw errors.badCompression();
  }
  if (!isBytes(bytes)) {
    throw errors.expectedType('inflate', 'to return Uint8Array', bytes);
  }
  if (bytes.length > maxLength) {
    throw errors.inflatedTooLong(maxLength);
  }
  return bytes;
}

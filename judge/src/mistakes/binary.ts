/** What is wrong in the head of a binary message, which is not made of whole bytes. */
import { inflateRawSync, inflateSync } from 'node:zlib';
import type { Fields } from '../adapter.ts';
import type { Vector } from '../vectors.ts';
import type { Causes } from '../verdict.ts';

const PART: readonly (readonly [name: string, bits: number])[] = [
  ['the bit that tells of a version', 1],
  ['the code of the type', 5],
  ['the bit that tells compression', 1],
];

/** The first part of the head that is wrong; none if only what follows it is. */
export function mistakesInBinary(test: Vector, { message: got }: Fields): Causes {
  if (test.error === 'message-too-long' && typeof got === 'string')
    return isInCharacters(test) ? [TOO_LONG, CHARACTERS] : [TOO_LONG];
  const { message: right } = test;
  if (typeof right !== 'string' || typeof got !== 'string') return [];
  const [a, b] = [bitsOf(right), bitsOf(got)];
  const [blank, other] = [a.indexOf('1'), b.indexOf('1')];
  if (other < 0) return [];
  if (blank !== other)
    return [
      `binary: ${other} zeros come before the first bit that is set; ${blank} are due, so that the message ends with a whole byte`,
    ];
  let at = blank + 1;
  for (const [name, bits] of PART) {
    const [due, is] = [a, b].map((text) => Number.parseInt(text.slice(at, at + bits), 2));
    if (due !== is) return [`binary: ${name} is ${is}; it is ${due}`];
    at += bits;
  }
  const length = Number.parseInt(a.slice(at, at + 8), 2);
  if (test.metadata === '{}' && Number.parseInt(b.slice(at, at + 8), 2) === 0) return [EMPTY_LEFT_OUT];
  return length === Number.parseInt(b.slice(at, at + 8), 2)
    ? []
    : ['binary: the length of the metadata is wrong; it is that of its JSON, in bytes'];
}

const EMPTY_LEFT_OUT = 'binary: empty metadata are written as no bytes; they are written as {}';
const MOST = 255;
const TOO_LONG = 'binary: metadata of more than 255 bytes is written; its length has one byte';
const CHARACTERS =
  'binary: the length of the metadata is counted in characters; it is that of its JSON in UTF-8, at most 255 bytes';

/** Whether the metadata is too long in bytes alone. */
function isInCharacters({ metadata }: Vector): boolean {
  return typeof metadata === 'string' && metadata.length <= MOST;
}

/** Whether refusing this metadata rules out the cause. */
export function refutesBinary(test: Vector, cause: string): boolean {
  if (test.error !== 'message-too-long') return false;
  return cause === TOO_LONG ? !isInCharacters(test) : cause === CHARACTERS && isInCharacters(test);
}

function bitsOf(digits: string): string {
  return digits.replace(/../g, (byte) => Number.parseInt(byte, 16).toString(2).padStart(8, '0'));
}

const RAW =
  'binary: what is compressed is read as DEFLATE alone (RFC 1951); it is a zlib stream (RFC 1950), with a head and a checksum';
const RAW_TOO =
  'binary: DEFLATE alone is read too (RFC 1951); what is compressed is a zlib stream (RFC 1950)';
const NOT_INFLATED = 'binary: what is compressed is refused; it is a zlib stream (RFC 1950)';
const TOO_MUCH =
  'limit: a stream that inflates to no more than is allowed is refused; the limit itself is allowed';

const CUT_AT_LIMIT =
  'limit: what inflates to more than is allowed is cut there and read; it is refused as bad-compression';

const EACH = 'the metadata and a JSON payload are a zlib stream each';
const METADATA_AS_IS = `binary: compressed metadata are not inflated; ${EACH}`;
const PAYLOAD_AS_IS = `binary: a compressed JSON payload is not inflated; ${EACH}`;
const BIT_UNREAD = `binary: the bit that tells compression is not read; ${EACH} if it is set`;
const BYTES_INFLATED =
  'binary: the bytes of a message of the type bin are inflated; with the bit set, its metadata alone are compressed';
const STORED =
  'binary: a zlib stream with a stored block is refused; its length begins at the next whole byte (RFC 1951, section 3.2.4)';

/** Whether a zlib stream in a message begins with a stored block, or has an empty one. */
function hasStored(digits: unknown): boolean {
  const bytes = Buffer.from(String(digits), 'hex');
  const begins = (at: number): boolean =>
    isHead(bytes.subarray(at, at + 2)) && ((bytes[at + 2] ?? 6) & 6) === 0;
  return bytes.includes(Buffer.from([0, 0, 0xff, 0xff])) || begins(2) || begins(2 + (bytes[1] ?? 0));
}

const EMPTY_METADATA = 'binary: metadata of no bytes are refused; they count as {}';
/** What metadata of no bytes are refused as. */
const EMPTY_REFUSED: readonly unknown[] = ['bad-json', 'bad-metadata', 'bad-compression'];

const isWithoutMetadata = ({ message }: Vector): boolean => {
  const { head, from } = typeAt(bitsOf(String(message)));
  return Number.parseInt(head.slice(from + 6, from + 14), 2) === 0;
};

const CHECKSUM = 'binary: the checksum of a zlib stream (Adler-32) is not compared; a wrong one is refused';
const CUT_TAKEN = 'binary: a zlib stream that ends early is taken; it ends with a checksum of 4 bytes';

/** What JSON is refused as that is still compressed. */
const AS_JSON: readonly unknown[] = ['bad-utf8', 'bad-json', 'bad-metadata', 'bad-payload'];

/** What is not inflated where that is refused as JSON. */
function notInflated({ message, msgType }: Vector): Causes {
  if (msgType === BYTES) return [METADATA_AS_IS, BIT_UNREAD];
  const isAlone = String(message).slice(2, 4) === '00'; // no metadata
  return [...(isAlone ? [] : [METADATA_AS_IS]), PAYLOAD_AS_IS, BIT_UNREAD];
}

const BYTES = 'bin';

/** The mistakes in reading a message that is compressed. */
export function mistakesInReadingBinary(test: Vector, { error }: Fields): Causes {
  const { message, flags } = test;
  const right = test.error;
  if (flags.includes('InflateLimit') && AS_JSON.includes(error)) return [CUT_AT_LIMIT, ...notInflated(test)];
  const isOfBit = flags.includes('Compressed') && AS_JSON.includes(error);
  if (isOfBit && (right === undefined || right === 'bad-compression'))
    return [...(faultIn(message) === CUT_TAKEN ? [CUT_TAKEN] : []), ...notInflated(test)];
  if (right === 'bad-compression' && error === undefined) {
    const fault = faultIn(message);
    return fault !== undefined ? [...new Set([fault, CHECKSUM])] : isRaw(message) ? [RAW, RAW_TOO] : [];
  }
  const isRefused = right === undefined && EMPTY_REFUSED.includes(error);
  if (isRefused && isWithoutMetadata(test))
    return [
      EMPTY_METADATA,
      ...(error === 'bad-compression' ? [RAW, NOT_INFLATED, ...(hasStored(message) ? [STORED] : [])] : []),
    ];
  const ofHead = mistakesInHead(message, right, error);
  if (ofHead.length > 0) return ofHead;
  if (right === undefined && error === 'reserved-code') return reservedTypes(test);
  if (right !== undefined || error !== 'bad-compression') return [];
  if (test.msgType === BYTES) return [BYTES_INFLATED, RAW, NOT_INFLATED];
  return test.maxInflated !== undefined ? [TOO_MUCH, RAW, NOT_INFLATED] : [RAW, NOT_INFLATED];
}

/** Whether the right response to this message rules out the cause. */
export function refutesReadingBinary(test: Vector, cause: string): boolean {
  const { message, flags, error, msgType } = test;
  if (cause === EMPTY_METADATA) return error === undefined && isWithoutMetadata(test);
  if (error === undefined && cause === STORED) return hasStored(message);
  if (error === undefined && flags.includes('Compressed')) {
    const isOfBytes = cause === BYTES_INFLATED && msgType === BYTES;
    return cause === RAW || cause === NOT_INFLATED || isOfBytes || notInflated(test).includes(cause);
  }
  if (error === undefined && reservedTypes(test).includes(cause)) return true;
  if (error !== 'bad-compression') return false;
  return cause === faultIn(message) || (isRaw(message) && (cause === RAW || cause === RAW_TOO));
}

const VERSION_0 =
  'binary: version 0 is refused; a message without a version has version 1, and both are read alike';

/** The version in the head of a message, and where its type stands: 5 bits, then one for compression and 8 for the metadata. */
function typeAt(head: string): { head: string; from: number; version: number | undefined } {
  const at = head.indexOf('1') + 1;
  const version = head[at] === '1' ? Number.parseInt(head.slice(at + 1, at + 9), 2) : undefined;
  return { head, from: at + (version === undefined ? 1 : 9), version };
}

/** A version or a type in the head that is refused or taken. */
function mistakesInHead(digits: unknown, right: unknown, error: unknown): Causes {
  const { head, from, version } = typeAt(bitsOf(String(digits)));
  const type = Number.parseInt(head.slice(from, from + 5), 2);
  if (right === 'reserved-code' && error === undefined && isReserved(type))
    return [`binary: the type ${type} is read; 11 and 13 to 31 are reserved, and refused`];
  if (right === 'binary-version' && error === undefined)
    return [`binary: the version ${version} is read; 0 and 1 are, and any other is refused`];
  return right === undefined && error === 'binary-version' && version === 0 ? [VERSION_0] : [];
}

const isReserved = (type: number): boolean => type === 11 || type > 12;

/** What is taken for a reserved code. */
function reservedTypes({ msgType, binType }: Vector): Causes {
  const types = [`the type ${msgType}`, ...(binType === undefined ? [] : [`the payload type ${binType}`])];
  return types.map((type) => `binary: the code of ${type} is refused as reserved`);
}

/** What is wrong in the last zlib stream of a message. */
function faultIn(digits: unknown): string | undefined {
  const bytes = Buffer.from(String(digits), 'hex');
  const heads = Array.from(bytes, (_byte, at) => at).filter((at) => isHead(bytes.subarray(at, at + 2)));
  const at = heads.at(-1);
  if (at === undefined) return undefined;
  try {
    inflateSync(bytes.subarray(at));
    return undefined;
  } catch (error) {
    const { code, message } = error as { readonly code?: string; readonly message: string };
    if (code === 'Z_BUF_ERROR') return CUT_TAKEN;
    return /data check/.test(message) ? CHECKSUM : undefined;
  }
}

const GZIP = Buffer.from([0x1f, 0x8b, 8]);

/** Whether DEFLATE without the head of zlib stands in a message. */
function isRaw(digits: unknown): boolean {
  const bytes = Buffer.from(String(digits), 'hex');
  if (bytes.includes(GZIP)) return false;
  return Array.from(bytes.subarray(0, MOST), (_byte, at) => at + 2).some((at) => {
    try {
      return /^{.*}$/s.test(inflateRawSync(bytes.subarray(at)).toString()) && !isHead(bytes.subarray(at - 2));
    } catch {
      return false;
    }
  });
}

/** Whether these bytes begin with the head of zlib (RFC 1950, section 2.2). */
const isHead = ([first = 0, second = 0]: Uint8Array): boolean =>
  (first & 0x0f) === 8 && ((first << 8) | second) % 31 === 0;

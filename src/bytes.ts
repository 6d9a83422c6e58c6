/**
 * Bytes: copies, constant-time comparison, wiping, hex, base64 and UTF-8, using only ES5 and typed arrays. Many engines
 * that run this lack TextEncoder, Buffer and half of the methods of Uint8Array.
 */
import { decodeByEngine, encodeByEngine } from './engine.ts';
import * as errors from './errors-table.ts';

/**
 * A Uint8Array over an ArrayBuffer, never over a SharedArrayBuffer: the type of everything this library allocates, and
 * what `WebSocket.send` expects. It is plain `Uint8Array` for TypeScript before 5.7, where that type is not generic.
 */
export type Bytes = ReturnType<Uint8ArrayConstructor['of']>;

export const EMPTY: Bytes = /* @__PURE__ */ new Uint8Array(0);

/**
 * Whether a value is a Uint8Array, of this realm or of another. Proxies and objects that only inherit from
 * Uint8Array.prototype are not: every operation on them would throw.
 */
export function isBytes(value: unknown): value is Uint8Array {
  if (typeof ArrayBuffer.isView === 'function' && !ArrayBuffer.isView(value)) return false;
  return value instanceof Uint8Array || Object.prototype.toString.call(value) === '[object Uint8Array]';
}

/** Whether a value is a Uint8Array of this length. */
export function isBytesOf(value: unknown, length: number): value is Uint8Array {
  return isBytes(value) && value.length === length;
}

/**
 * A copy with its own memory. The ArrayBuffer is made explicitly because it then lies outside V8's heap. V8 keeps a
 * `new Uint8Array(n)` of up to 64 bytes inside its heap, where the garbage collector moves it, and copies it out for
 * native code: copies of a key that no `wipe` reaches.
 */
export function copyBytes(bytes: Uint8Array): Bytes {
  const copy = new Uint8Array(new ArrayBuffer(bytes.length));
  copy.set(bytes);
  return copy;
}

/** Concatenates byte arrays into a new one. */
export function concatBytes(parts: readonly Uint8Array[]): Bytes {
  let length = 0;
  for (let i = 0; i < parts.length; i++) length += parts[i]!.length;
  const all = new Uint8Array(length);
  let at = 0;
  for (let i = 0; i < parts.length; i++) {
    all.set(parts[i]!, at);
    at += parts[i]!.length;
  }
  return all;
}

/** Compares two arrays in a time that depends on their lengths alone. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  let difference = 0;
  for (let i = 0; i < a.length; i++) difference |= a[i]! ^ b[i]!;
  return difference === 0;
}

/** Whether all bytes are zero, in a time that depends on the length alone. */
export function isZero(bytes: Uint8Array): boolean {
  let seen = 0;
  for (let i = 0; i < bytes.length; i++) seen |= bytes[i]!;
  return seen === 0;
}

/**
 * Overwrites bytes with zeros. Copies that the engine made on its own are beyond JavaScript's reach.
 *
 * It never throws, whatever it is given: it cleans up after failures, and a second one would leave the rest unwiped.
 */
export function wipe(bytes: Uint8Array | undefined): void {
  try {
    if (isBytes(bytes)) clear(bytes);
  } catch {
    // Its memory was transferred: there is nothing left here to wipe.
  }
}

/** Overwrites with zeros. Duktape's typed arrays have no `fill`. */
export function clear(numbers: Uint8Array | Int32Array | Float64Array): void {
  if (typeof numbers.fill === 'function') numbers.fill(0);
  else for (let i = 0; i < numbers.length; i++) numbers[i] = 0;
}

/** The 32 bits at an index, the lowest byte first. */
export function wordAt(bytes: Uint8Array, at: number): number {
  return bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
}

const DIGITS = '0123456789abcdef';

/** Encodes as lower-case hex, in few pieces: in XS, each string in an array takes 16 bytes, and 32 more while they are joined. */
export function bytesToHex(bytes: Uint8Array): string {
  const pieces: string[] = [];
  let piece = '';
  for (let i = 0; i < bytes.length; i++) {
    piece += DIGITS[bytes[i]! >> 4]! + DIGITS[bytes[i]! & 15]!;
    if (piece.length === 64) {
      pieces.push(piece);
      piece = '';
    }
  }
  pieces.push(piece);
  return pieces.join('');
}

/** Decodes hex of either case; `undefined` for another character or an odd number of digits. */
export function hexToBytes(hex: string): Bytes | undefined {
  const digits = encodeUtf8(hex);
  if (digits === undefined || digits.length % 2 !== 0) return undefined;
  const bytes = new Uint8Array(digits.length / 2);
  for (let i = 0; i < bytes.length; i++) {
    const high = hexDigit(digits[2 * i]!);
    const low = hexDigit(digits[2 * i + 1]!);
    if (high < 0 || low < 0) return undefined;
    bytes[i] = (high << 4) | low;
  }
  return bytes;
}

/** The value of an ASCII hex digit; -1 for any other byte. */
export function hexDigit(byte: number): number {
  if (byte >= 48 && byte <= 57) return byte - 48; // 0-9
  const letter = byte | 32;
  return letter >= 97 && letter <= 102 ? letter - 87 : -1; // a-f, A-F
}

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** Encodes as base64 with padding (RFC 4648, section 4). */
export function bytesToBase64(bytes: Uint8Array): string {
  const pieces: string[] = [];
  for (let i = 0; i < bytes.length; i += 3) {
    const left = bytes.length - i;
    const group = (bytes[i]! << 16) | ((bytes[i + 1] ?? 0) << 8) | (bytes[i + 2] ?? 0);
    pieces.push(
      BASE64.charAt(group >> 18) +
        BASE64.charAt((group >> 12) & 63) +
        (left > 1 ? BASE64.charAt((group >> 6) & 63) : '=') +
        (left > 2 ? BASE64.charAt(group & 63) : '='),
    );
  }
  return pieces.join('');
}

/** Decodes base64, with padding or without it; `undefined` for another character or a length that no bytes have. */
export function base64ToBytes(base64: string): Bytes | undefined {
  const digits = encodeUtf8(base64.replace(/={1,2}$/, ''));
  if (digits === undefined || digits.length % 4 === 1) return undefined;
  const bytes = new Uint8Array(Math.floor((digits.length * 3) / 4));
  let group = 0;
  let at = 0;
  for (let i = 0; i < digits.length; i++) {
    const value = BASE64.indexOf(String.fromCharCode(digits[i]!));
    if (value < 0) return undefined;
    group = ((group << 6) | value) & 0xffffff;
    if (i % 4 > 0) bytes[at++] = group >> (6 - 2 * (i % 4));
  }
  return bytes;
}

const PAGE = 1024;
const PIECE = 64;

/**
 * Calls a function with the pieces of a string, in order. XS finds a place in a string by counting from its start, so
 * reading a long string unit by unit takes quadratic time there. Cutting off a piece counts too, so the string is cut in
 * two steps: as good as linear for the strings that a device can hold.
 */
export function forEachPiece(text: string, visit: (piece: string) => void): void {
  const { length } = text; // which XS counts as well
  if (length <= PIECE) {
    visit(text);
    return;
  }
  for (let start = 0; start < length; start += PAGE) {
    const page = text.slice(start, start + PAGE);
    for (let at = 0; at < PAGE && start + at < length; at += PIECE) visit(page.slice(at, at + PIECE));
  }
}

/** The length of a string in UTF-8, in bytes; -1 for a string with a lone surrogate, which UTF-8 cannot encode. */
export function utf8Length(text: string): number {
  return writeUtf8(text, EMPTY, 0);
}

/**
 * Encodes a string as UTF-8, as `encodeUtf8`.
 * @throws LocalError `lone-surrogate`
 */
export function utf8ToBytes(text: string, before?: number, after?: number): Bytes {
  const bytes = encodeUtf8(text, before, after);
  if (bytes !== undefined) return bytes;
  throw errors.loneSurrogate();
}

/**
 * Encodes a string as UTF-8; `undefined` for a string with a lone surrogate.
 * @param before - how many zeros to put before it
 * @param after - how many zeros to put after it
 */
export function encodeUtf8(text: string, before = 0, after = 0): Bytes | undefined {
  return (
    (encodeByEngine(text, undefined, before, after) as Bytes | undefined) ?? encodeAny(text, before, after)
  );
}

/** Encodes any string: ASCII in one pass, which most texts are, others in two. */
function encodeAny(text: string, before: number, after: number): Bytes | undefined {
  let bytes = new Uint8Array(before + text.length + after);
  const end = writeUtf8(text, bytes, before);
  if (end < 0) return undefined;
  if (end + after > bytes.length) {
    bytes = new Uint8Array(end + after);
    writeUtf8(text, bytes, before);
  }
  return bytes;
}

/**
 * Writes a string as UTF-8. It is read as UTF-16 units. In an engine that counts in code points, as XS does on microcontrollers, a
 * unit may be one above U+FFFF.
 * @param bytes - where to write what fits there
 * @param escapeOf - for a string in JSON: how a character is written that JSON escapes: a quotation mark, a reverse solidus or a control
 * @returns the index after it, even if it does not fit; -1 for a string with a lone surrogate
 */
export function writeUtf8(
  text: string,
  bytes: Uint8Array,
  start: number,
  escapeOf?: (unit: number) => string,
): number {
  let end = start;
  let high = 0; // the first half of a pair
  let afterHigh = -1; // the index after its three bytes, which the pair replaces
  let open = 0; // how many pairs have no second half
  const room = bytes.length; // in XS a call, as is a string's, which counts
  const { length } = text;
  let page = text;
  let piece = text;
  let count = length;
  let point: number; // declared here, since XS would make it anew for each character
  for (let from = 0; from < length; from += PIECE) {
    if (length > PIECE) {
      const at = from % PAGE;
      if (at === 0) page = text.slice(from, from + PAGE);
      piece = page.slice(at, at + PIECE);
      count = piece.length;
    }
    for (let i = 0; i < count; i++) {
      point = piece.charCodeAt(i);
      if (
        point > 0x5c
          ? point < 0x80
          : escapeOf === undefined || (point > 0x22 && point !== 0x5c) || point === 0x21 || point === 0x20
      ) {
        if (end < room) bytes[end] = point;
        end++;
      } else if (point < 0x80) {
        end = writeUtf8(escapeOf!(point), bytes, end);
      } else {
        let whole = point;
        if (point >= 0xdc00 && point <= 0xdfff) {
          if (end !== afterHigh) return -1;
          whole = joinSurrogates(high, point);
          end -= 3;
          open--;
        }
        end = writePoint(bytes, end, whole);
        if (point >= 0xd800 && point < 0xdc00) {
          high = point;
          afterHigh = end;
          open++;
        }
      }
    }
  }
  return open === 0 ? end : -1;
}

/** The code point of a surrogate pair. */
export function joinSurrogates(high: number, low: number): number {
  return 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
}

/**
 * Writes a code point as UTF-8.
 * @param bytes - where to write it, if it fits there
 * @returns the index after it
 */
export function writePoint(bytes: Uint8Array, at: number, point: number): number {
  const further = point < 0x80 ? 0 : point < 0x800 ? 1 : point < 0x10000 ? 2 : 3; // bytes after the first
  if (at + further >= bytes.length) return at + 1 + further;
  bytes[at++] = further === 0 ? point : ((0xf0 << (3 - further)) & 0xff) | (point >> (6 * further));
  for (let shift = 6 * (further - 1); shift >= 0; shift -= 6) bytes[at++] = 0x80 | ((point >> shift) & 0x3f);
  return at;
}

/** How many UTF-16 units become a string at a time: XS takes 16 bytes for each in an array, and as much again on its stack. */
const UNITS_AT_ONCE = 32;

/** Decodes UTF-8 (RFC 3629: shortest form, no surrogates, at most U+10FFFF); `undefined` for anything else. */
export function bytesToUtf8(bytes: Uint8Array): string | undefined {
  return decodeByEngine(bytes) ?? decodeAny(bytes);
}

function decodeAny(bytes: Uint8Array): string | undefined {
  const pieces: string[] = []; // two of one length are joined at once
  let made = 0;
  let units: number[] = [];
  let count = 0; // of units; push() would take XS a third more time
  let i = 0;
  let first: number; // declared here, since XS would make both anew for each character
  let point: number;
  while (i < bytes.length) {
    first = bytes[i++]!;
    point = first;
    if (first >= 0x80) {
      const extra = first < 0xc2 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : first < 0xf5 ? 3 : 0;
      if (extra === 0) return undefined;
      point = first & (0x3f >> extra);
      for (const end = i + extra; i < end; i++) {
        if ((bytes[i]! & 0xc0) !== 0x80) return undefined; // also past the end
        point = (point << 6) | (bytes[i]! & 63);
      }
      if (extra === 2 && (point < 0x800 || (point >= 0xd800 && point <= 0xdfff))) return undefined;
      if (extra === 3 && (point < 0x10000 || point > 0x10ffff)) return undefined;
    }
    if (point < 0x10000) {
      units[count++] = point;
    } else {
      units[count++] = 0xd800 + ((point - 0x10000) >> 10);
      units[count++] = 0xdc00 + (point & 0x3ff);
    }
    if (count >= UNITS_AT_ONCE) {
      let piece = String.fromCharCode.apply(null, units);
      for (let n = ++made; n % 2 === 0; n /= 2) piece = pieces.pop()! + piece;
      pieces.push(piece);
      units = [];
      count = 0;
    }
  }
  let text = String.fromCharCode.apply(null, units);
  while (pieces.length > 0) text = pieces.pop()! + text;
  return text;
}

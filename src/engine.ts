/**
 * The engine's TextEncoder and TextDecoder, which are faster than this library for long texts. Many devices lack them, and
 * polyfills differ from the standards. So they are used only if they handle the edge cases below correctly, which is
 * tested once, before their first use. Otherwise the library's own code does the work, with the same results and the
 * same errors.
 */

// As they are used here: the core is compiled without the types of any host.
declare const TextEncoder: new () => { encode(text: string): Uint8Array };
declare const TextDecoder: new (
  label: 'utf-8',
  options: { fatal: true; ignoreBOM: true },
) => { decode(bytes?: Uint8Array, options?: { stream: true }): string };

/** The engine's UTF-8. */
export interface EngineCodec {
  /** Encodes a string. A lone surrogate becomes U+FFFD. */
  encode(text: string): Uint8Array;
  /** Decodes UTF-8 (RFC 3629), a byte order mark included. Throws for anything else. */
  decode(bytes: Uint8Array): string;
}

export interface Engine {
  codec: EngineCodec | undefined;
}

function unlessItThrows<T>(make: () => T | undefined): T | undefined {
  try {
    return make();
  } catch {
    return undefined;
  }
}

// The first and the last code point of each length in UTF-8 and next to the surrogates; a byte order mark; U+FFFD.
const EDGES = '\ufeff\0\x7f\x80\u07ff\u0800\ud7ff\ue000\ufffd\uffff\ud800\udc00\udbff\udfff\ufeff';
const EDGES_IN_UTF8 =
  'efbbbf 00 7f c280 dfbf e0a080 ed9fbf ee8080 efbfbd efbfbf f0908080 f48fbfbf efbbbf'.replace(/ /g, '');

/** UTF-16 units with lone surrogates, and their encoding with U+FFFD in place of them. */
const REPLACED: readonly { readonly units: readonly number[]; readonly hex: string }[] = [
  { units: [0x61, 0xdbff, 0x21], hex: '61efbfbd21' },
  { units: [0xdfff], hex: 'efbfbd' },
  { units: [0xdc00, 0xd800], hex: 'efbfbdefbfbd' },
  { units: [0xd800, 0xd800, 0xdc00], hex: 'efbfbdf0908080' },
];

/**
 * Lone continuation bytes, longer forms than needed, cut and damaged ones, surrogates, and code points above U+10FFFF.
 */
const NOT_UTF8 =
  '80 bf c080 c1bf c2 c241 e08080 e09fbf e282 e28241 e2e282ac eda080 edbfbf f0808080 f08fbfbf f09080 f0908041 f4908080 ' +
  'f5808080 f888808080 fe ff';

/** The prefixes of each case, since engines have a separate path for long runs of ASCII. */
const RUNS = ['', 'abcdefghijklmnopqrstuvwxyz abcdefghijklmnopqrstuvwxyz 123456789'];

/** From this length on, in bytes, a separate decoder for a text that is not ASCII pays off in V8. */
const LONG = 16384;

/** @param long - from how many bytes on a text is long */
function codecOf(long: number): EngineCodec {
  const encoder = new TextEncoder();
  const Decoder = TextDecoder; // the tested one, whatever the name refers to later
  const makeDecoder = () => new Decoder('utf-8', { fatal: true, ignoreBOM: true });
  const decoder = makeDecoder();
  return {
    encode: (text) => encoder.encode(text),
    decode(bytes) {
      if (bytes.length < long || isAscii(bytes)) return decoder.decode(bytes);
      // As the start of a stream and its end, with nothing left over. This takes V8 half the time.
      const streaming = makeDecoder();
      return streaming.decode(bytes, { stream: true }) + streaming.decode();
    },
  };
}

/** Whether UTF-8 is ASCII. Checking every second byte is enough, since any other character takes at least two. */
function isAscii(utf8: Uint8Array): boolean {
  let seen = 0;
  for (let i = 0; i < utf8.length; i += 2) seen |= utf8[i]!;
  return seen < 0x80;
}

function testedCodec(): EngineCodec | undefined {
  const codec = codecOf(LONG);
  return isSound(codec) && isSound(codecOf(0)) ? codec : undefined;
}

function isSound(codec: EngineCodec): boolean {
  const damaged = NOT_UTF8.split(' ');
  for (let i = 0; i < RUNS.length; i++) {
    const run = RUNS[i]!;
    const ascii = hexOf(bytesOf(run));
    if (hexOf(codec.encode(run + EDGES)) !== ascii + EDGES_IN_UTF8) return false;
    if (codec.decode(bytesOf(run, EDGES_IN_UTF8)) !== run + EDGES) return false;
    for (let j = 0; j < REPLACED.length; j++) {
      const { units, hex } = REPLACED[j]!;
      const text = run + String.fromCharCode.apply(null, units as number[]);
      if (hexOf(codec.encode(text)) !== ascii + hex) return false;
    }
    for (let j = 0; j < damaged.length; j++) {
      if (unlessItThrows(() => codec.decode(bytesOf(run, damaged[j]))) !== undefined) return false;
    }
  }
  // Nothing of a refused text is left over.
  const view = bytesOf('', '41c3a942').subarray(1, 3);
  return codec.decode(view) === '\xe9' && codec.decode(view.subarray(2)) === '';
}

/** ASCII, followed by bytes in hex, within a larger array. */
function bytesOf(ascii: string, hex = ''): Uint8Array {
  const bytes = new Uint8Array(3 + ascii.length + hex.length / 2);
  for (let i = 0; i < ascii.length; i++) bytes[3 + i] = ascii.charCodeAt(i);
  for (let i = 0; i < hex.length; i += 2) {
    bytes[3 + ascii.length + i / 2] = Number(`0x${hex.slice(i, i + 2)}`);
  }
  return bytes.subarray(3);
}

function hexOf(bytes: Uint8Array): string {
  let hex = '';
  for (let i = 0; i < bytes.length; i++) hex += (bytes[i]! + 256).toString(16).slice(1);
  return hex;
}

let tested: Engine | undefined;

/** The engine. The first call tests it: a program that only imports the library does not wait for that. */
export function engine(): Engine {
  tested = tested ?? testedEngine();
  return tested;
}

/** Tests the engine with the edge cases. */
export function testedEngine(): Engine {
  return { codec: unlessItThrows(testedCodec) };
}

/** From this length on, in UTF-16 units, a call of the engine's encoder costs less than it saves. */
const WORTH_A_CALL = 48;

/**
 * Encodes a string with the engine's encoder; `undefined` if there is none, or it is not worth the call, or its result
 * is in doubt.
 * @param visit - gets the result without zeros
 * @param before - how many zeros to put before it
 * @param after - how many zeros to put after it
 */
export function encodeByEngine(
  text: string,
  visit?: (utf8: Uint8Array) => void,
  before = 0,
  after = 0,
): Uint8Array | undefined {
  if (text.length < WORTH_A_CALL) return undefined;
  const { codec } = engine();
  if (codec === undefined) return undefined;
  const utf8 = codec.encode(text);
  const isAscii = utf8.length === text.length;
  if (!isAscii && hasReplacement(utf8)) return undefined;
  visit?.(utf8);
  if (before + after === 0) return utf8;
  const bytes = new Uint8Array(before + utf8.length + after);
  bytes.set(utf8, before);
  return bytes;
}

/** Whether U+FFFD is in UTF-8, the bytes EF BF BD: it was in the string, or stands for a lone surrogate. */
function hasReplacement(bytes: Uint8Array): boolean {
  for (let i = 2; i < bytes.length; i++) {
    if (bytes[i] === 0xbd && bytes[i - 1] === 0xbf && bytes[i - 2] === 0xef) return true;
  }
  return false;
}

/** Decodes UTF-8 with the engine's decoder; `undefined` if there is none, or if it refuses the bytes. */
export function decodeByEngine(bytes: Uint8Array): string | undefined {
  try {
    return engine().codec?.decode(bytes);
  } catch {
    return undefined; // not UTF-8, or memory that the engine's decoder does not accept: the library's own code finds out
  }
}

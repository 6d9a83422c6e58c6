/**
 * The engine's TextEncoder and TextDecoder, which are faster than this library for long texts. Many devices lack them, and some
 * are not those of the standard: an early Bun and Boa ignore `fatal`, polyfills remove a byte order mark, and polyfills encode
 * half of a surrogate pair as it is. One that does so is found before its first use: then the library's own code does the work.
 */

// As they are used here: the core is compiled without the types of any host.
declare const TextEncoder: new () => {
  encode(text: string): Uint8Array;
  encodeInto?(text: string, bytes: Uint8Array): { readonly read: number };
};
declare const TextDecoder: new (
  label: 'utf-8',
  options: { fatal: true; ignoreBOM: true },
) => { decode(bytes: Uint8Array): string };

/** The engine's UTF-8. */
export interface EngineCodec {
  /** Encodes a string. A lone surrogate becomes U+FFFD. */
  encode(text: string): Uint8Array;
  /** Encodes a string of ASCII into as many bytes. Returns whether it has: not for other strings, nor in an early engine. */
  encodeAscii(text: string, bytes: Uint8Array): boolean;
  /** Decodes UTF-8 (RFC 3629), a byte order mark included. Throws for anything else. */
  decode(bytes: Uint8Array): string;
}

export interface Engine {
  codec: EngineCodec | undefined;
  /** Whether its JSON.parse refuses what is no JSON, and its JSON.stringify escapes what must be escaped. */
  hasJson: boolean;
}

function codecOf(): EngineCodec {
  const encoder = new TextEncoder();
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  return {
    encode: (text) => encoder.encode(text),
    encodeAscii: (text, bytes) => encoder.encodeInto?.(text, bytes).read === text.length,
    decode: (bytes) => decoder.decode(bytes),
  };
}

/** U+FEFF and U+FFFD, and what a lone surrogate becomes, in UTF-8. */
const MARKED = [0xef, 0xbb, 0xbf, 0xef, 0xbf, 0xbd];

function isSound({ encode, encodeAscii, decode }: EngineCodec): boolean {
  const two = new Uint8Array(2);
  if (encodeAscii('é!', two) || (encodeAscii('\0!', two) && two[1] !== 0x21)) return false;
  const encoded = encode('\ufeff\ud800');
  if (encoded.length !== MARKED.length || MARKED.some((byte, i) => byte !== encoded[i])) return false;
  if (decode(encoded) !== '\ufeff\ufffd') return false;
  try {
    decode(new Uint8Array([0xf0, 0x80, 0x80]));
    return false;
  } catch {
    return true;
  }
}

let tested: Engine | undefined;

/** The engine. The first call tests it: a program that only imports the library does not wait for that. */
export function engine(): Engine {
  tested = tested ?? testedEngine();
  return tested;
}

/** Tests the engine. */
export function testedEngine(): Engine {
  const hasJson = !NOT_JSON.some(isRead) && JSON.stringify('"\\/\b\n\u001f\u007f\u2028') === ESCAPED;
  try {
    const codec = codecOf();
    return { codec: isSound(codec) ? codec : undefined, hasJson };
  } catch {
    return { codec: undefined, hasJson }; // it has none, or one without these options
  }
}

/** What this library writes for these characters. */
const ESCAPED = '"\\"\\\\/\\b\\n\\u001f\u007f\u2028"';
/** What a lax reader would take for JSON. */
const NOT_JSON = [
  '"\u0001"',
  '"\\x"',
  '01',
  '1.',
  '+1',
  '[1,]',
  '{"a":1,}',
  "'a'",
  '\ufeff0',
  '\u00a00',
  '0\u2028',
  'NaN',
];

function isRead(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const SURROGATE = /[\ud800-\udfff]/;

/** Whether a string has no lone surrogate; in an engine that does not tell, whether it has none at all. */
export function isWellFormed(text: string): boolean {
  return (text as { isWellFormed?(): boolean }).isWellFormed?.() ?? !SURROGATE.test(text);
}

/** From this length on, in UTF-16 units, a call of the engine's encoder costs less than it saves. */
const WORTH_A_CALL = 48;

/**
 * Encodes a string with the engine's encoder; `undefined` if there is none, or it is not worth the call, or the string
 * may have a lone surrogate.
 * @param visit - gets the result without zeros
 * @param before - how many zeros to put before it, at most 16
 * @param after - how many zeros to put after it, at most 16
 */
export function encodeByEngine(
  text: string,
  visit?: (utf8: Uint8Array) => void,
  before = 0,
  after = 0,
): Uint8Array | undefined {
  if (text.length < WORTH_A_CALL) return undefined;
  const { codec } = engine();
  if (codec === undefined || !isWellFormed(text)) return undefined;
  if (before + after > 0) {
    const bytes = new Uint8Array(before + text.length + after);
    if (codec.encodeAscii(text, bytes.subarray(before, before + text.length))) return bytes;
  }
  const padded = before + after === 0 ? text : ZEROS.slice(0, before) + text + ZEROS.slice(0, after);
  const utf8 = codec.encode(padded);
  visit?.(utf8);
  return utf8;
}

const ZEROS = '\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0';

/** Decodes UTF-8 with the engine's decoder; `undefined` if there is none, or if it refuses the bytes. */
export function decodeByEngine(bytes: Uint8Array): string | undefined {
  try {
    return engine().codec?.decode(bytes);
  } catch {
    return undefined; // not UTF-8, or memory that the engine's decoder does not accept: the library's own code finds out
  }
}

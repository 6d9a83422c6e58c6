import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Engine, engine, testedEngine } from '../../src/engine.ts';

/** The engine while globals are these. */
function engineWith(globals: Record<string, unknown>, find: () => Engine = testedEngine): Engine {
  const originals = Object.keys(globals).map((name) => Object.getOwnPropertyDescriptor(globalThis, name)!);
  try {
    for (const [name, value] of Object.entries(globals)) {
      Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
    }
    return find();
  } finally {
    Object.keys(globals).forEach((name, i) => {
      Object.defineProperty(globalThis, name, originals[i]!);
    });
  }
}

/** Whether the codec passes the self-test while globals are these. */
function passesWith(globals: Record<string, unknown>): boolean {
  return engineWith(globals).codec !== undefined;
}

test('uses the codec of this engine', () => {
  const { codec } = engine();
  assert.is(codec?.decode(codec.encode('é😀')), 'é😀');
});

test('tests the engine at the first use, and once', async () => {
  const fresh: { engine(): Engine } = await import(`../../src/engine.ts${'?fresh'}`);
  const lacking = engineWith({ TextDecoder: undefined }, fresh.engine);
  assert.is(lacking.codec, undefined);
  assert.is(fresh.engine(), lacking);
});

test('finds it again', () => {
  assert.is(passesWith({}), true);
});

test('uses no codec if the engine lacks TextEncoder or TextDecoder', () => {
  for (const name of ['TextEncoder', 'TextDecoder']) {
    assert.is(passesWith({ [name]: undefined }), false, name);
  }
});

type Encode = (text: string) => Uint8Array;
const encode: Encode = (text) => new Uint8Array(Buffer.from(text));
const lone = (text: string): boolean => Buffer.from(text).toString() !== text;

const FAULTY_ENCODERS: Record<string, Encode> = {
  'leaves out a byte order mark': (text) => encode(text.replace(/\ufeff/g, '')),
  'throws at a lone surrogate': (text) => {
    if (lone(text)) throw new TypeError();
    return encode(text);
  },
  'leaves out a lone surrogate': (text) => encode(text.replace(/[\ud800-\udfff]/gu, '')),
  'encodes a lone surrogate as three bytes': (text) => {
    const bytes: number[] = [];
    for (const character of text) {
      const point = character.codePointAt(0)!;
      if (point < 0xd800 || point > 0xdfff) bytes.push(...Buffer.from(character));
      else bytes.push(0xed, 0x80 | ((point >> 6) & 63), 0x80 | (point & 63));
    }
    return new Uint8Array(bytes);
  },
  'leaves out what follows half of a pair': (text) =>
    encode(text.replace(/[\ud800-\udbff](?![\ud800-\udfff])./g, '\ufffd')),
  'encodes each half of a pair': (text) =>
    encode(text.replace(/[\u{10000}-\u{10ffff}]/gu, () => '\ufffd\ufffd')),
  'ends at U+0000': (text) => encode(text.split('\0')[0]!),
  'is wrong only after a long run of ASCII': (text) => encode(text.length > 50 ? text.slice(0, -1) : text),
};
for (const [fault, faulty] of Object.entries(FAULTY_ENCODERS)) {
  test(`refuses a TextEncoder that ${fault}`, () => {
    const TextEncoder = class {
      encode = faulty;
    };
    assert.is(passesWith({ TextEncoder }), false);
  });
}

type Decode = (bytes: Uint8Array) => string;
const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const withoutMark = new TextDecoder('utf-8', { fatal: true });
const decode: Decode = (bytes) => strict.decode(bytes);

/** Decodes as ours does, but for what some pattern of bytes, in latin1, becomes. */
const lenient =
  (pattern: RegExp): Decode =>
  (bytes) =>
    decode(
      new Uint8Array(Buffer.from(Buffer.from(bytes).toString('latin1').replace(pattern, '?'), 'latin1')),
    );

const FAULTY_DECODERS: Record<string, Decode> = {
  'is not fatal': (bytes) => Buffer.from(bytes).toString(),
  'leaves out a byte order mark': (bytes) => withoutMark.decode(bytes),
  'takes longer forms than needed': lenient(/[\xc0\xc1][\x80-\xbf]|\xe0[\x80-\x9f][\x80-\xbf]/g),
  'takes surrogates': lenient(/\xed[\xa0-\xbf][\x80-\xbf]/g),
  'takes what is above U+10FFFF': lenient(/\xf4[\x90-\xbf][\x80-\xbf]{2}/g),
  'takes five bytes': lenient(/\xf8[\x80-\xbf]{4}/g),
  'takes the byte 80': lenient(/(?<![\x80-\xff])\x80/g),
  'takes lone continuation bytes': lenient(/(?<![\x80-\xff])[\x80-\xbf]/g),
  'takes a sequence cut at the end': lenient(
    /[\xc2-\xdf]$|[\xe0-\xef][\x80-\xbf]?$|[\xf0-\xf4][\x80-\xbf]{0,2}$/,
  ),
  'decodes latin1': (bytes) => Buffer.from(bytes).toString('latin1'),
  'decodes the memory around a view': (bytes) => decode(new Uint8Array(bytes.buffer)),
  'returns the empty string after a refusal': (() => {
    let hasRefused = false;
    return (bytes: Uint8Array) => {
      try {
        return hasRefused ? '' : decode(bytes);
      } catch (error) {
        hasRefused = true;
        throw error;
      }
    };
  })(),
  'returns something for no bytes': (bytes) => decode(bytes) || (bytes.byteOffset > 4 ? '?' : ''),
  'is wrong only after a long run of ASCII': (bytes) =>
    bytes.length > 50 ? Buffer.from(bytes).toString() : decode(bytes),
};
for (const [fault, faulty] of Object.entries(FAULTY_DECODERS)) {
  test(`refuses a TextDecoder that ${fault}`, () => {
    const TextDecoder = class {
      decode = (bytes?: Uint8Array) => (bytes === undefined ? '' : faulty(bytes));
    };
    assert.is(passesWith({ TextDecoder }), false);
  });
}

test('refuses a TextDecoder that is wrong only in a stream', () => {
  const NativeDecoder = TextDecoder;
  /** Does not notice what is left over at the end. */
  class Careless extends NativeDecoder {
    override decode(bytes?: Uint8Array, options?: { stream: true }): string {
      return bytes === undefined ? '' : super.decode(bytes, options);
    }
  }
  assert.is(passesWith({ TextDecoder: Careless }), false);
});

test('keeps using the TextDecoder that was tested, even if the global is replaced', () => {
  const text = 'é'.repeat(10_000);
  const { codec } = testedEngine();
  const NativeDecoder = TextDecoder;
  try {
    globalThis.TextDecoder = class extends NativeDecoder {
      override decode = () => '?';
    };
    assert.is(codec!.decode(encode(text)), text);
  } finally {
    globalThis.TextDecoder = NativeDecoder;
  }
});

test('decodes long non-ASCII text as a stream, which takes V8 half the time', () => {
  const NativeDecoder = TextDecoder;
  let streams = 0;
  class Counting extends NativeDecoder {
    override decode(bytes?: Uint8Array, options?: { stream: true }): string {
      if (options?.stream) streams++;
      return super.decode(bytes, options);
    }
  }
  const codec = engineWith({ TextDecoder: Counting }).codec!;
  const isStream = (text: string): boolean => {
    streams = 0;
    assert.is(codec.decode(encode(text)), text);
    return streams > 0;
  };
  const long = 'a'.repeat(16_382);
  for (const text of [`${long}é`, `é${long}`, `a${long}é`, `aa${long}é`, `é${long}a`, `a${long}éa`]) {
    assert.is(isStream(text), true);
  }
  for (const text of [`é${long.slice(1)}`, `${long}aa`, `${long}aaa`]) assert.is(isStream(text), false);
});

test.run();

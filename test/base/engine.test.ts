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

const encode = (text: string): Uint8Array => new Uint8Array(Buffer.from(text));
const encoder = new TextEncoder();
const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const lax = new TextDecoder('utf-8', { ignoreBOM: true });
const withoutMark = new TextDecoder('utf-8', { fatal: true });
const utf16 = (text: string): number[] => Array.from(text, (unit) => unit.charCodeAt(0));

/** What engines and polyfills were seen to do. */
const FAULTY: Record<string, Record<string, unknown>> = {
  'is not fatal': { decode: (bytes: Uint8Array) => lax.decode(bytes) },
  'refuses an option': { decode: undefined },
  'leaves out a byte order mark': { decode: (bytes: Uint8Array) => withoutMark.decode(bytes) },
  'throws at a lone surrogate': { encode: (text: string) => encodeURIComponent(text) },
  'leaves out a lone surrogate': { encode: () => new Uint8Array([0xef, 0xbb, 0xbf]) },
  'encodes a lone surrogate as three bytes': {
    encode: () => new Uint8Array([0xef, 0xbb, 0xbf, 0xed, 0xa0, 0x80]),
  },
  'encodes part of a text, and says that it was all': {
    encodeInto: (text: string) => ({ read: text.length }),
  },
  'encodes nothing, and says that it has': {
    encodeInto: (text: string) => ({ read: text === '\0!' ? 2 : 0 }),
  },
  'encodes units': { encode: (text: string) => new Uint8Array(utf16(text)) },
};
for (const [fault, faulty] of Object.entries(FAULTY)) {
  test(`refuses a codec that ${fault}`, () => {
    const native = {
      encode: (text: string) => encode(text),
      encodeInto: (text: string, bytes: Uint8Array) => encoder.encodeInto(text, bytes),
      decode: (bytes: Uint8Array) => strict.decode(bytes),
    };
    const Codec = class {
      constructor() {
        Object.assign(this, native, faulty);
      }
    };
    assert.is(passesWith({ TextEncoder: Codec, TextDecoder: Codec }), false);
  });
}

test('does not use a JSON.parse that reads what is no JSON, or a JSON.stringify that escapes more', () => {
  const { parse, stringify } = JSON;
  const lax = { parse: (text: string) => parse(text === '[1,]' ? '[1]' : text), stringify };
  const ascii = { parse, stringify: (value: unknown) => stringify(value).replace('\u2028', '\\u2028') };
  const made = [{}, { JSON: lax }, { JSON: ascii }].map((globals) => engineWith(globals).hasJson);
  assert.equal(made, [true, false, false]);
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

test.run();

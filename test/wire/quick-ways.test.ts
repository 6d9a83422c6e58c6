/** What saves time and changes no result: only these tests notice if it is not done any more. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { utf8ToBytes } from '../../src/bytes.ts';
import { engine } from '../../src/engine.ts';
import { escapeByEngine, PlainRuns, sortKeys } from '../../src/wire/engine-strings.ts';
import { parseJson } from '../../src/wire/parse-json.ts';
import { canonicalJson, stringifyJson } from '../../src/wire/write-json.ts';

/** A typed array that counts how many of its elements are read. */
function counted<T extends Uint8Array | Int32Array>(array: T, count: () => void): T {
  return new Proxy(array, {
    get(target, name) {
      if (typeof name === 'string' && /^\d+$/.test(name)) count();
      return target[name as keyof T];
    },
  });
}

/** How many bytes and how many words are read to find that all bytes from a place on are plain. */
function readsOf(bytes: Uint8Array, at: number): { bytes: number; words: number } {
  const reads = { bytes: 0, words: 0 };
  const { Int32Array: original } = globalThis;
  try {
    globalThis.Int32Array = new Proxy(original, {
      construct: (target, args: [ArrayBuffer, number, number]) =>
        counted(new target(...args), () => reads.words++),
    });
    const runs = new PlainRuns(counted(bytes, () => reads.bytes++));
    assert.is(runs.end(at), bytes.length);
  } finally {
    globalThis.Int32Array = original;
  }
  return reads;
}

/** All bytes that are plain, again and again. */
function plainBytes(place: number, length: number): Uint8Array {
  const all = new Uint8Array(place + length);
  for (let i = 0, byte = 0x20; i < all.length; byte = byte === 0xff ? 0x20 : byte + 1) {
    if (byte !== 0x22 && byte !== 0x5c) all[i++] = byte;
  }
  return all.subarray(place);
}

test('reads long plain strings by words, wherever in memory they lie, and each byte once', () => {
  for (const place of [0, 1, 2, 3]) {
    for (const at of [0, 1, 2, 3, 4, 5]) {
      const reads = readsOf(plainBytes(place, 1000), at);
      assert.is(reads.bytes + 4 * reads.words, 1000 - at);
      assert.ok(reads.bytes <= 12 + 3, `${reads.bytes} bytes`);
    }
  }
});

test('reads strings of up to 8 bytes by none', () => {
  for (const place of [0, 1, 2, 3]) {
    for (let length = 0; length <= 8; length++) {
      assert.equal(readsOf(plainBytes(place, length), 0), { bytes: length, words: 0 });
    }
  }
});

test('copies no string in which nothing is escaped', () => {
  const { codec } = engine;
  let encoded: Uint8Array | undefined;
  const encode = (text: string) => {
    encoded = codec!.encode(text);
    return encoded;
  };
  try {
    engine.codec = { ...codec!, encode };
    const escaped = escapeByEngine('nothing to escape, and long enough for the encoder of the engine');
    assert.ok(escaped !== undefined && escaped === encoded);
  } finally {
    engine.codec = codec;
  }
});

/** Calls a function, and returns how many arrays were sorted by the engine. */
function sortsIn(call: () => unknown): number {
  const { sort } = Array.prototype;
  let sorts = 0;
  // biome-ignore lint/suspicious/noExplicitAny: the type of the method of all arrays
  Array.prototype.sort = function (this: any[], ...args: any[]) {
    sorts++;
    return sort.apply(this, args as []);
  };
  try {
    call();
  } finally {
    Array.prototype.sort = sort;
  }
  return sorts;
}

test('sorts up to 12 keys without the engine', () => {
  const keys = (count: number) => Array.from({ length: count }, (_, i) => String(count - i));
  assert.is(
    sortsIn(() => sortKeys(keys(12))),
    0,
  );
  assert.is(
    sortsIn(() => sortKeys(keys(13))),
    1,
  );
});

test('compares keys as UTF-8 only if one has a unit from U+D800 on', () => {
  for (const key of ['', 'a', 'é', '\ud7ff']) {
    assert.is(
      sortsIn(() => canonicalJson({ b: 1, [key]: 2 })),
      0,
      key,
    );
  }
  for (const key of ['\ue000', '😀', 'a\ufffd'])
    assert.is(
      sortsIn(() => canonicalJson({ b: 1, [key]: 2 })),
      1,
    );
});

/** What JSON.parse is given by parseJson(), and whether bytes were decoded for it. */
function given(input: string | Uint8Array): { text: string | undefined; isDecoded: boolean } {
  const { codec, parseJson: original } = engine;
  const seen = { text: undefined as string | undefined, isDecoded: false };
  try {
    engine.parseJson = (text) => {
      seen.text = text;
      return original!(text);
    };
    engine.codec = {
      ...codec!,
      decode(bytes) {
        seen.isDecoded = true;
        return codec!.decode(bytes);
      },
    };
    parseJson(input);
  } finally {
    Object.assign(engine, { codec, parseJson: original });
  }
  return seen;
}

test('gives JSON.parse a string as it is if no number in it needs its token', () => {
  const texts = ['{"a":[1,-2,"é",null]}', '123456789012345', '[-12345678901234,0]', '"-0 1.5"', '[]'];
  for (const text of texts) assert.equal(given(text), { text, isDecoded: false }, text);
});

test('decodes bytes for JSON.parse', () => {
  assert.equal(given(utf8ToBytes('{"a":1}')), { text: '{"a":1}', isDecoded: true });
});

test('gives JSON.parse negative integers for numbers that need their tokens, unless there is one', () => {
  assert.is(given('{"a":1.50,"b":7}').text, '{"a":-1,"b":7}');
  assert.is(given('{"a":1.50,"b":-7}').text, '{"a":1.5,"b":-7}');
});

test('sets the fields of objects by assignment, but for those that objects inherit', () => {
  const { defineProperty } = Object;
  const defined: PropertyKey[] = [];
  Object.defineProperty = ((object: object, name: PropertyKey, descriptor: PropertyDescriptor) => {
    defined.push(name);
    return defineProperty(object, name, descriptor);
  }) as typeof Object.defineProperty;
  try {
    const { parseJson: original } = engine;
    engine.parseJson = undefined;
    parseJson('{"a":1,"__proto__":2,"toString":3}');
    engine.parseJson = original;
  } finally {
    Object.defineProperty = defineProperty;
  }
  assert.equal(defined, ['__proto__', 'toString']);
});

test('makes a new array of numbers, which takes V8 a third of the time, and changes any other', () => {
  const { map } = Array.prototype;
  let maps = 0;
  const mapsIn = (json: string): number => {
    maps = 0;
    // biome-ignore lint/suspicious/noExplicitAny: the type of the method of all arrays
    Array.prototype.map = function (this: any[], ...args: any[]) {
      maps++;
      return map.apply(this, args as never);
    } as typeof map;
    try {
      parseJson(json);
    } finally {
      Array.prototype.map = map;
    }
    return maps;
  };
  assert.equal([mapsIn('[1,2.50]'), mapsIn('["a",2.50]'), mapsIn('[null]')], [1, 0, 0]);
});

/** The lengths of the byte arrays that are made in a call. */
function lengthsMade(call: () => void): number[] {
  const lengths: number[] = [];
  const { Uint8Array: original } = globalThis;
  try {
    globalThis.Uint8Array = new Proxy(original, {
      construct(target, args: [number]) {
        if (typeof args[0] === 'number') lengths.push(args[0]);
        return new target(...args);
      },
    });
    call();
  } finally {
    globalThis.Uint8Array = original;
  }
  return lengths;
}

test('makes room for the longest escape of each character that is escaped, and no more', () => {
  const text = `${'x'.repeat(50)}"y\n`;
  assert.equal(
    lengthsMade(() => escapeByEngine(text)),
    [53 + 2 * 5],
  );
});

test('makes room for placeholders, and for tokens and commas between them, and no more', () => {
  const json = `[${Array(1000).fill('1.50000').join()}]`;
  assert.equal(lengthsMade(() => parseJson(utf8ToBytes(json))).slice(-2), [1001 + 1000 * 6, 7000 + 1000]);
});

test('writes 512 bytes into one block', () => {
  assert.equal(
    lengthsMade(() => stringifyJson([10, ...Array(254).fill(1)])),
    [512, 512],
  ); // the block and the result
});

test('writes long documents into blocks that grow up to 64 KiB', () => {
  const lengths = lengthsMade(() => stringifyJson(Array.from({ length: 150_000 }, (_, i) => i % 10)));
  assert.equal(lengths.slice(0, 11), [
    ...[512, 1024, 2048, 4096, 8192, 16_384, 32_768],
    ...Array(4).fill(65_536),
  ]);
});

test.run();

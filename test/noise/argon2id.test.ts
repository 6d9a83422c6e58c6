/** Argon2id against RFC 9106, the reference implementation and OpenSSL's, and the derivation in slices. */
import { inspect } from 'node:util';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { isZero } from '../../src/bytes.ts';
import type { CryptoProvider } from '../../src/crypto/crypto.ts';
import { nobleCrypto } from '../../src/crypto/noble.ts';
import type { LocalCode } from '../../src/errors.ts';
import { Argon2id, argon2id } from '../../src/noise/argon2id.ts';
import type { Argon2idOptions } from '../../src/noise/argon2id-options.ts';
import { raisesLocal } from '../world/raises.ts';
import { hex, readVectors, toHex, type Vector } from '../world/vectors.ts';
import { wipedIn } from '../world/wiped.ts';

const [RFC] = readVectors('rfc', 'Argon2id');
const GRID = readVectors('argon2id', 'Argon2id');

function optionsOf(vector: Vector): Argon2idOptions {
  const { passes, memoryKiB, parallelism, length, password, salt, secret, associatedData } = vector;
  const options: Argon2idOptions = {
    crypto: nobleCrypto,
    password: hex(password),
    salt: hex(salt),
    passes,
    memoryKiB,
    parallelism,
    length,
  };
  if (secret !== undefined) options.secret = hex(secret);
  if (associatedData !== undefined) options.associatedData = hex(associatedData);
  return options;
}

/** The RFC's example, with changes. */
function rfc(changes: object = {}): Argon2idOptions {
  return { ...optionsOf(RFC!), ...changes };
}

/** 512 blocks, filled once. */
const WIDE = { passes: 1, memoryKiB: 512, parallelism: 1 };

for (const vector of [RFC!, ...GRID]) {
  const { tcId, passes, memoryKiB, parallelism, length, tag } = vector;
  const parameters = `t=${passes} m=${memoryKiB} p=${parallelism} T=${length}`;
  test(`derives the tag of ${vector === RFC ? 'the RFC' : 'argon2-cffi and OpenSSL'} (${tcId}, ${parameters})`, () => {
    assert.is(toHex(argon2id(optionsOf(vector))), tag);
  });

  test(`derives the same tag block by block (${tcId}, ${parameters})`, () => {
    const derivation = new Argon2id(optionsOf(vector));
    const blocks = 4 * parallelism * Math.floor(memoryKiB / (4 * parallelism));
    let runs = 1;
    while (!derivation.run(1)) runs++;
    // The first two blocks of each lane are made beforehand; where a slice has no more than two, it is skipped.
    assert.is(runs, passes * blocks - 2 * parallelism);
    assert.is(toHex(derivation.result()), tag);
  });
}

test('returns a new array of the requested length', () => {
  for (const length of [4, 64, 65, 200]) {
    const tag = argon2id(rfc({ length }));
    assert.is(tag.constructor, Uint8Array);
    assert.is(tag.length, length);
    assert.is(tag.buffer.byteLength, length);
  }
});

test('looks up no global for each block, which takes 30 times as long in Jest', () => {
  const { Math: own } = globalThis;
  const lookUps = ({ memoryKiB }: { memoryKiB: number }): number => {
    let count = 0;
    const get = (target: Math, name: PropertyKey): unknown => {
      count++;
      return Reflect.get(target, name);
    };
    globalThis.Math = new Proxy(own, { get });
    argon2id(rfc({ memoryKiB }));
    globalThis.Math = own;
    return count;
  };
  assert.ok(lookUps({ memoryKiB: 256 }) - lookUps({ memoryKiB: 128 }) < 128);
});

test('encodes a password given as a string in UTF-8', () => {
  const text = 'pässwörd 🔑';
  const asBytes = argon2id(rfc({ password: new Uint8Array(Buffer.from(text, 'utf8')) }));
  assert.equal(argon2id(rfc({ password: text })), asBytes);
  assert.is.not(toHex(asBytes), RFC!.tag);
});

test('run() accepts more blocks than are left, and Infinity', () => {
  const derivation = new Argon2id(rfc());
  assert.is(derivation.run(5), false);
  assert.is(derivation.run(Infinity), true);
  assert.is(derivation.run(1), true);
  assert.is(toHex(derivation.result()), RFC!.tag);
});

test('progress rises with every block, up to 1', () => {
  const derivation = new Argon2id(rfc(WIDE));
  let before = derivation.progress;
  assert.is(before, 2 / 512);
  for (let isDone = false; !isDone; before = derivation.progress) {
    isDone = derivation.run(1);
    assert.ok(derivation.progress > before);
    assert.is(derivation.progress === 1, isDone);
  }
});

test('calls onProgress about a hundred times, the last time with 1', () => {
  const reports: number[] = [];
  argon2id(rfc({ ...WIDE, onProgress: (progress: number) => reports.push(progress) }));
  assert.ok(reports.length >= 80 && reports.length <= 101, `${reports.length} reports`);
  assert.equal(
    reports,
    [...reports].sort((a, b) => a - b),
  );
  assert.ok(reports[0]! > 0);
  assert.is(reports.filter((progress) => progress === 1).length, 1);
  assert.is(reports.at(-1), 1);
});

test('works in the caller’s memory, whatever its contents, and wipes the part that it used', () => {
  const all = new Uint8Array(4 + 32 * 1024 + 4).fill(0xff);
  const memory = all.subarray(4);
  const derivation = new Argon2id(rfc({ memory }));
  assert.ok(memory.subarray(0, 1024).some((byte) => byte !== 0xff));
  while (!derivation.run(7));
  assert.is(toHex(derivation.result()), RFC!.tag);
  assert.ok(isZero(memory.subarray(0, 32 * 1024)));
  assert.equal([...all.subarray(0, 4), ...all.subarray(-4)], Array(8).fill(0xff));
});

test('wipes the caller’s memory when it is destroyed midway', () => {
  const memory = new Uint8Array(32 * 1024).fill(0xff);
  const derivation = new Argon2id(rfc({ memory }));
  derivation.run(10);
  derivation.destroy();
  derivation.destroy();
  assert.ok(isZero(memory));
});

test('wipes the caller’s memory when onProgress throws, and rethrows the error', () => {
  const memory = new Uint8Array(32 * 1024).fill(0xff);
  const thrown = new Error('the display is gone');
  const onProgress = () => {
    throw thrown;
  };
  let caught: unknown;
  try {
    argon2id(rfc({ memory, onProgress }));
  } catch (error) {
    caught = error;
  }
  assert.is(caught, thrown);
  assert.ok(isZero(memory));
});

test('wipes its own copies of the password', () => {
  const seen: Uint8Array[] = [];
  const blake2b: CryptoProvider['blake2b'] = (length, ...parts) => {
    seen.push(...parts);
    return nobleCrypto.blake2b!(length, ...parts);
  };
  const password = new Uint8Array(28).fill(7);
  for (const given of [password, Buffer.from(password).toString()]) {
    new Argon2id(rfc({ password: given, crypto: { ...nobleCrypto, blake2b } }));
  }
  assert.ok(seen.length > 2 && seen.every((part) => part.every((byte) => byte === 0)));
  assert.is(password[0], 7);
});

/** What a derivation wipes, in hex, until it ends or throws. */
function wipedBy(changes: object, code?: LocalCode): string[] {
  return wipedIn(() => {
    if (code === undefined) argon2id(rfc(changes));
    else raisesLocal(() => new Argon2id(rfc(changes)), code);
  });
}

test('wipes its copy of the password whether it succeeds or fails', () => {
  const password = new Uint8Array(28).fill(7);
  const failing: CryptoProvider['blake2b'] = () => {
    throw new Error('accelerator is off');
  };
  const { password: _, ...others } = rfc();
  const endings: [object, LocalCode?][] = [
    [{}],
    [{ crypto: {} }, 'blake2b-unavailable'],
    [{ crypto: { blake2b: failing } }, 'crypto-failed'],
  ];
  for (const [changes, code] of endings) {
    assert.ok(wipedBy({ ...others, ...changes, password }, code).includes(toHex(password)), code);
  }
  const copies = wipedIn(() => withoutMemory(() => new Argon2id(rfc({ password }))));
  assert.ok(copies.includes(toHex(password)));
  assert.is(password[0], 7);
});

test('wipes the first two blocks of each lane, and the last block, once they are hashed', () => {
  const blocks = wipedBy({}).filter((hex) => hex.length === 2 * 1024 && /[^0]/.test(hex));
  assert.is(blocks.length, 2 * RFC!.parallelism + 1);
});

test('leaves nothing in the block that it works with', () => {
  const derivation = new Argon2id(rfc());
  const { q } = derivation as unknown as { q: Int32Array };
  derivation.run(10);
  assert.ok(q.some((word) => word !== 0));
  derivation.destroy();
  assert.ok(q.every((word) => word === 0));
});

test('leaves the caller’s memory alone once it is over', () => {
  const memory = new Uint8Array(32 * 1024);
  const derivation = new Argon2id(rfc({ memory }));
  derivation.destroy();
  memory.fill(1);
  derivation.destroy();
  assert.ok(memory.every((byte) => byte === 1));
});

test('treats a missing secret and missing associated data as empty', () => {
  const none = new Uint8Array(0);
  const [without, empty] = [undefined, none].map((bytes) => rfc({ secret: bytes, associatedData: bytes }));
  assert.equal(argon2id(without!), argon2id(empty!));
});

test('does not change password, salt, secret and associated data', () => {
  const options = rfc();
  argon2id(options);
  assert.equal(options, rfc());
});

test('refuses result() before it is done, and goes on', () => {
  const derivation = new Argon2id(rfc());
  raisesLocal(() => derivation.result(), 'wrong-state');
  derivation.run(87); // of 88
  raisesLocal(() => derivation.result(), 'wrong-state');
  derivation.run(1000);
  assert.is(toHex(derivation.result()), RFC!.tag);
});

test('is over after result()', () => {
  const derivation = new Argon2id(rfc());
  derivation.run(1000);
  derivation.result();
  raisesLocal(() => derivation.result(), 'wrong-state');
  raisesLocal(() => derivation.run(1), 'wrong-state');
});

test('is over once destroyed, done or not', () => {
  for (const blocks of [1, 1000]) {
    const derivation = new Argon2id(rfc());
    derivation.run(blocks);
    derivation.destroy();
    raisesLocal(() => derivation.run(1), 'wrong-state');
    raisesLocal(() => derivation.result(), 'wrong-state');
  }
});

for (const blocks of [0, -1, 1.5, NaN, '1', undefined]) {
  test(`refuses to run ${inspect(blocks)} blocks, and goes on`, () => {
    const derivation = new Argon2id(rfc());
    raisesLocal(() => derivation.run(blocks as number), 'bad-argument');
    derivation.run(1000);
    assert.is(toHex(derivation.result()), RFC!.tag);
  });
}

const REFUSED: [string, object, LocalCode][] = [
  ['a password that is neither text nor bytes', { password: 17 }, 'bad-argument'],
  ['no password', { password: undefined }, 'bad-argument'],
  ['a password with a lone surrogate', { password: 'a\ud800' }, 'lone-surrogate'],
  ['a salt that is text', { salt: 'somesalt' }, 'bad-argument'],
  ['a salt of 7 bytes', { salt: new Uint8Array(7) }, 'bad-length'],
  ['a secret that is no bytes', { secret: 'secret' }, 'bad-argument'],
  ['associated data that are no bytes', { associatedData: [1] }, 'bad-argument'],
  ['no passes', { passes: 0 }, 'bad-argument'],
  ['half a pass', { passes: 1.5 }, 'bad-argument'],
  ['passes as text', { passes: '3' }, 'bad-argument'],
  ['passes over 32 bits', { passes: 2 ** 32 }, 'bad-argument'],
  ['passes that are not a number', { passes: NaN }, 'bad-argument'],
  ['no lanes', { parallelism: 0 }, 'bad-argument'],
  ['2^24 lanes', { parallelism: 2 ** 24, memoryKiB: 2 ** 27 }, 'bad-argument'],
  ['31 KiB for 4 lanes', { memoryKiB: 31 }, 'bad-argument'],
  ['memory of 8 GiB', { memoryKiB: 2 ** 23 }, 'bad-argument'],
  ['a tag of 3 bytes', { length: 3 }, 'bad-argument'],
  ['a tag over 32 bits', { length: 2 ** 32 }, 'bad-argument'],
  ['memory that is no bytes', { memory: new Uint32Array(8192) }, 'bad-argument'],
  ['memory one byte too small', { memory: new Uint8Array(32 * 1024 - 1) }, 'bad-length'],
  ['memory off by one byte', { memory: new Uint8Array(32 * 1024 + 4).subarray(1) }, 'bad-length'],
  ['a crypto without blake2b', { crypto: { ...nobleCrypto, blake2b: undefined } }, 'blake2b-unavailable'],
];
for (const [what, changes, code] of REFUSED) {
  test(`refuses ${what}`, () => {
    raisesLocal(() => new Argon2id(rfc(changes)), code);
    raisesLocal(() => argon2id(rfc(changes)), code);
  });
}

/** Calls a function where the engine cannot allocate the memory of a derivation. */
function withoutMemory(call: () => unknown): void {
  const { Int32Array: original } = globalThis;
  globalThis.Int32Array = class extends original {
    constructor(length: number) {
      if (length > 1000) throw new RangeError('Array buffer allocation failed');
      super(length);
    }
  } as typeof original;
  try {
    raisesLocal(call, 'out-of-memory');
  } finally {
    globalThis.Int32Array = original;
  }
}

test('throws out-of-memory if the engine cannot allocate the memory', () => {
  withoutMemory(() => new Argon2id(rfc()));
});

test('accepts a salt of 8 bytes and a tag of 4', () => {
  assert.is(argon2id(rfc({ salt: new Uint8Array(8), length: 4 })).length, 4);
});

test('shows only its name', () => {
  const derivation = new Argon2id(rfc());
  derivation.run(10);
  assert.is(JSON.stringify({ derivation }), '{"derivation":"[Argon2id]"}');
  assert.is(inspect(derivation, { showHidden: true, depth: Infinity }), '[Argon2id]');
});

/** A native Argon2id that is made of the library's own. */
function native(calls: object[] = []): CryptoProvider {
  return {
    ...nobleCrypto,
    blake2b: undefined as never,
    argon2id(parameters) {
      calls.push(parameters);
      return argon2id({ ...optionsOf(RFC!), length: parameters.length });
    },
  };
}

test('argon2id() passes all parameters to the native Argon2id of the crypto', () => {
  const calls: { password: Uint8Array; secret: Uint8Array }[] = [];
  const reports: number[] = [];
  const onProgress = (progress: number) => reports.push(progress);
  const { crypto, ...options } = rfc({ crypto: native(calls), onProgress });
  const { secret, associatedData } = options;
  assert.is(toHex(argon2id({ crypto, ...options })), RFC!.tag);
  assert.is(toHex(argon2id({ crypto: native(), ...options, onProgress: undefined })), RFC!.tag);
  assert.is(calls.length, 1);
  const { password, ...given } = calls[0]!;
  const { passes, memoryKiB, parallelism, length, salt } = options;
  const expected = { passes, memoryKiB, parallelism, length, salt, secret, associatedData };
  for (const [name, value] of Object.entries(expected)) {
    assert.equal((given as Record<string, unknown>)[name], value, name);
  }
  assert.ok(isZero(password), 'the copy of the password is wiped');
  assert.equal(reports, [1]);
});

test('argon2id() checks arguments before it calls a native Argon2id', () => {
  const calls: object[] = [];
  for (const [changes, code] of [
    [{ salt: new Uint8Array(7) }, 'bad-length'],
    [{ passes: 0 }, 'bad-argument'],
    [{ memory: new Uint8Array(16) }, 'bad-length'],
    [{ onProgress: 'yes' }, 'bad-argument'],
    [{ password: '\ud800' }, 'lone-surrogate'],
    [{ passess: 1 }, 'bad-argument'],
  ] as const) {
    raisesLocal(() => argon2id(rfc({ crypto: native(calls), ...changes })), code);
  }
  assert.equal(calls, []);
});

test('a native Argon2id that throws or returns another length is crypto-failed', () => {
  const cause = new Error('no power');
  for (const [broken, expected] of [
    [() => new Uint8Array(31), undefined],
    [() => 'tag', undefined],
    [
      () => {
        throw cause;
      },
      cause,
    ],
  ] as const) {
    const crypto = { argon2id: broken as unknown as () => Uint8Array };
    assert.is(raisesLocal(() => argon2id(rfc({ crypto })), 'crypto-failed').cause, expected);
  }
});

test('the class Argon2id never uses a native Argon2id', () => {
  const calls: object[] = [];
  const crypto = { ...native(calls), blake2b: nobleCrypto.blake2b! };
  const derivation = new Argon2id(rfc({ crypto }));
  while (!derivation.run(100));
  assert.is(toHex(derivation.result()), RFC!.tag);
  assert.equal(calls, []);
  raisesLocal(() => new Argon2id(rfc({ crypto: native() })), 'blake2b-unavailable');
});

test('has no fields that enumerate', () => {
  assert.equal(Object.keys(new Argon2id(rfc())), []);
});

test.run();

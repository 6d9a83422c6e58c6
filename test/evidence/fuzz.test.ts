/** The search of `evidence/searches/fuzz/run`, for a moment: it finds nothing in the library, and something where a fault is planted. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Choices, Corpus } from '../../evidence/searches/fuzz/guided.ts';
import { COUNTERS, instrumented } from '../../evidence/searches/fuzz/instrument.ts';
import { ask, Breach, formsOf, read, showsNone } from '../../evidence/searches/fuzz/law.ts';
import { TARGETS } from '../../evidence/searches/fuzz/targets.ts';
import { type CryptoProvider, LocalError, RemoteError } from '../../src/index.ts';
import { ClientSession } from '../../src/parts.ts';
import { ClientHandshake } from '../../src/session/client-handshake.ts';
import { Random } from '../world/random.ts';
import { toyCrypto } from '../world/toy-crypto.ts';

/** The first breach in some cases of a target. */
function search(name: string, cases: number): Breach | undefined {
  for (let seed = 1; seed <= cases; seed++) {
    try {
      TARGETS[name]!.run(new Random(seed));
    } catch (error) {
      if (error instanceof Breach) return error;
      throw error;
    }
  }
  return undefined;
}

for (const name of Object.keys(TARGETS)) {
  test(`finds no breach in some cases of ${name}`, () => {
    assert.is(search(name, 40)?.message, undefined);
  });
}

/** Runs a search while a method is another one. */
function withFault<T extends object>(target: T, name: keyof T, fault: T[keyof T], run: () => void): void {
  const original = target[name];
  target[name] = fault;
  try {
    run();
  } finally {
    target[name] = original;
  }
}

test('finds a cipher that opens forged messages', () => {
  const { ChaChaPoly } = toyCrypto.ciphers;
  const careless: CryptoProvider['ciphers']['ChaChaPoly'] = (key) => {
    const cipher = ChaChaPoly!(key);
    return {
      seal: (...args) => cipher.seal(...args),
      open: (nonce, ad, sealed) => cipher.open(nonce, ad, sealed) ?? sealed.slice(0, -16),
    };
  };
  withFault(toyCrypto.ciphers, 'ChaChaPoly', careless, () =>
    assert.instance(search('sessions', 400), Breach),
  );
});

test('finds a session that throws, goes on after its end, or emits what it should not', () => {
  const { receive } = ClientSession.prototype;
  const faults: (typeof receive)[] = [
    function (this: ClientSession, data) {
      if (data.length === 40) throw new TypeError('no such method');
      return receive.call(this, data);
    },
    function (this: ClientSession, data) {
      const events = receive.call(this, data);
      return this.state === 'closed' ? [{ type: 'new-hub', nodeId: 'hub-1' }] : events;
    },
    function (this: ClientSession, data) {
      return receive
        .call(this, data)
        .concat(this.state === 'ready' ? [{ type: 'psk', nodeId: 'hub-1', key: new Uint8Array(32) }] : []);
    },
    function (this: ClientSession, data) {
      return receive.call(this, data).filter(({ type }) => type !== 'message');
    },
  ];
  for (const fault of faults) {
    withFault(ClientSession.prototype, 'receive', fault, () =>
      assert.instance(search('sessions', 400), Breach),
    );
  }
});

test('finds a client that stores a PSK before the hub has proved it', () => {
  const { receive } = ClientSession.prototype;
  const stores: typeof receive = function (this: ClientSession, data) {
    const events = receive.call(this, data);
    const asked = events.find((event) => event.type === 'psk-needed');
    return asked ? [...events, { type: 'psk', nodeId: asked.nodeId, key: new Uint8Array(32) }] : events;
  };
  withFault(ClientSession.prototype, 'receive', stores, () => {
    for (const name of ['sessions', 'outsiders'])
      assert.match(search(name, 400)?.message ?? '', /not proved|changed the PSKs/);
  });
});

test('finds a client that distinguishes noise from messages that do not open', () => {
  type Take = (this: unknown, bytes: Uint8Array, key: Uint8Array) => void;
  const { prototype } = ClientHandshake as unknown as { prototype: { takePayload: Take } };
  const { takePayload } = prototype;
  const telling: Take = function (bytes, key) {
    try {
      takePayload.call(this, bytes, key);
    } catch {
      throw new RemoteError('payload-not-authentic', 'x');
    }
  };
  withFault(prototype, 'takePayload', telling, () =>
    assert.match(search('outsiders', 400)?.message ?? '', /guess that is right shows/),
  );
});

test('accepts only the documented errors of each call', () => {
  const throwing = (error: unknown) => (): never => {
    throw error;
  };
  const local = new LocalError('bad-argument', 'x');
  const remote = new RemoteError('bad-json', 'x');
  assert.is(ask('call', throwing(local)).error, local);
  assert.is(read('call', throwing(remote)).error, remote);
  for (const error of [remote, new TypeError('x'), 'x', undefined]) {
    assert.throws(
      () => ask('call', throwing(error)),
      (caught: unknown) => caught instanceof Breach,
    );
  }
  assert.throws(
    () => read('call', throwing(new RangeError('x'))),
    (caught: unknown) => caught instanceof Breach,
  );
});

test('finds a secret in any form in which tools print it', () => {
  const key = new Uint8Array(32).map((_, i) => 7 * i + 3);
  for (const shown of [
    { key },
    { hex: Buffer.from(key).toString('hex') },
    { list: [...key] },
    new Error('pw4711'),
  ]) {
    assert.throws(
      () => showsNone(shown, [...formsOf(key), ...formsOf('pw4711')], 'it'),
      (error: unknown) => error instanceof Breach,
    );
  }
  showsNone({ key: new Uint8Array(32) }, formsOf(key), 'it');
});

test('makes the same choices from the same seed', () => {
  const choices = (seed: number): number[] => {
    const random = new Random(seed);
    return Array.from({ length: 20 }, () => random.next());
  };
  assert.equal(choices(7), choices(7));
  assert.not.equal(choices(7), choices(8));
});

/** Compiles a function with counters. Returns both. */
function counted<T>(source: string): { value: T; counters: Uint8Array } {
  let branches = 0;
  const code = instrumented(`var f = ${source};`, () => branches++);
  const counters = new Uint8Array(branches);
  return { value: new Function(COUNTERS, `${code}\nreturn f;`)(counters) as T, counters };
}

test('counts the branches that are taken', () => {
  const { value: f, counters } = counted<(x: number) => unknown>(`(x) => {
    if (x > 2) x--; else if (x < 0) return [];
    if (x === 7) if (x > 1) x = 0; else x = 1;
    switch (x) { case 0: return 'zero'; case 1: default: x = x && x + 1; }
    const double = (y) => y ?? 2 * x;
    for (const i of [1, 2]) x += i;
    return x > 3 ? double() : x;
  }`);
  assert.is(f(5), 16);
  const once = counters.slice();
  assert.equal(f(-1), []);
  assert.is(f(8), 'zero');
  assert.is(f(0), 'zero');
  assert.equal([...once].filter((count) => count > 0).sort(), [1, 1, 1, 1, 1, 1, 1, 1, 2]);
  const never = counters.filter((count) => count === 0).length;
  assert.is(never, 2); // `x = 1`, and the last `x`
});

test('finds five choices in turn, each with odds of one in 256, because each reaches more code', () => {
  const { value: maze, counters } = counted<(random: Random) => boolean>(`(random) => {
    const is = (byte) => random.below(256) === byte;
    if (is(104)) if (is(117)) if (is(98)) if (is(33)) if (is(10)) return true;
    return false;
  }`);
  const random = new Random(1);
  let isFound = false;
  const corpus = new Corpus(counters, (choices) => {
    isFound = maze(choices) || isFound;
  });
  let cases = 0;
  for (; !isFound && cases < 1_000_000; cases++) corpus.try(corpus.next(random));
  assert.ok(isFound);
  const smallest = corpus.smallest();
  assert.ok(smallest.length <= 7);
  assert.ok(smallest.some((input) => maze(new Choices(input))));
});

test('makes other bytes of the same input at another place, so that no message has a key in it', () => {
  const random = new Choices(new Uint8Array(64));
  assert.not.equal(random.bytes(32), random.bytes(32));
});

test('makes the choices that the bytes encode, and repeats them after the last byte', () => {
  const choices = (bytes: number[]): unknown[] => {
    const random = new Choices(new Uint8Array(bytes));
    return [
      random.below(10),
      random.pick(['a', 'b']),
      random.bytes(2),
      random.next(),
      random.next(),
      random.below(9),
    ];
  };
  const made = choices([7, 3, 9, 8, 0, 0, 1, 0]);
  assert.equal([made[0], made[1], made[3]], [7, 'b', 256]);
  assert.equal(choices([7, 3, 9, 8, 0, 0, 1, 0]), made);
});

test.run();

/** The search of `evidence/searches/fuzz/run`, for a moment: it finds nothing in the library, and something where a fault is planted. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ask, Breach, formsOf, read, showsNone } from '../../evidence/searches/fuzz/law.ts';
import { TARGETS } from '../../evidence/searches/fuzz/targets.ts';
import { type CryptoProvider, LocalError, RemoteError } from '../../src/index.ts';
import { ClientSession } from '../../src/parts.ts';
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
    assert.match(search('sessions', 400)?.message ?? '', /not proved/);
  });
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

test.run();

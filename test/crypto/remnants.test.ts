/** What ciphers leave in memory: no key, no keystream, and nothing that was decrypted without being authentic. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { blake2b } from '../../src/crypto/blake2b.ts';
import { block } from '../../src/crypto/chacha20.ts';
import { deviceCrypto } from '../../src/crypto/device.ts';
import { chacha20InRows, chacha20InWords } from '../../src/crypto/device-chacha20.ts';
import { chaChaPolyOf } from '../../src/crypto/device-chachapoly.ts';
import { jsCrypto } from '../../src/crypto/js.ts';
import { nobleCrypto } from '../../src/crypto/noble.ts';
import { nodeCrypto } from '../../src/crypto/node.ts';
import { raisesAbout } from '../world/raises.ts';
import { toHex } from '../world/vectors.ts';
import { wipedIn } from '../world/wiped.ts';
import { flipped, series } from './series.ts';

for (const [form, chacha20] of [
  ['compiled', chacha20InWords],
  ['interpreted', chacha20InRows],
] as const) {
  test(`the device file, ${form}, leaves neither key nor keystream in an array after a message`, () => {
    const cipher = chaChaPolyOf(chacha20)(series(32));
    for (const length of [0, 1, 64, 65, 500]) {
      const made: (Int32Array | Uint8Array)[] = [];
      let sealed: Uint8Array | undefined;
      let opened: Uint8Array | undefined;
      recording('Int32Array', made, () =>
        recording('Uint8Array', made, () => {
          sealed = cipher.seal(series(12), series(3), new Uint8Array(length));
          opened = cipher.open(series(12), series(3), sealed);
        }),
      );
      const states = made.filter((array) => array instanceof Int32Array);
      const blocks = made.filter((array) => array.byteLength === 64 && array !== sealed && array !== opened);
      assert.ok(blocks.length > 1);
      assert.is(states.length > 0, form === 'compiled');
      for (const array of [...states, ...blocks]) assert.ok(array.every((word) => word === 0));
    }
  });

  test(`the device file, ${form}, shows no key, and refuses keys and nonces of other lengths by name`, () => {
    const createCipher = chaChaPolyOf(chacha20);
    assert.equal(Object.keys(createCipher(series(32))), []);
    for (const length of [0, 11, 13, 24]) {
      raisesAbout('nonce', () => createCipher(series(32)).seal(series(length), series(1), series(1)));
    }
    raisesAbout('key', () => createCipher(series(33)).seal(series(12), series(1), series(1)));
  });
}

test('BLAKE2b leaves nothing in an array that it computes with', () => {
  const made: (Int32Array | Uint8Array)[] = [];
  const message = series(200, 1);
  let digest: Uint8Array | undefined;
  recording('Int32Array', made, () =>
    recording('Uint8Array', made, () => {
      digest = blake2b(32, message);
    }),
  );
  const rooms = made.filter((array) => array !== digest);
  assert.is(rooms.length, 4); // state, block, words, working vector
  for (const array of rooms) assert.ok(array.every((word) => word === 0));
});

test('the device file leaves nothing in an array that HMAC-SHA-256 is computed from', () => {
  const made: (Int32Array | Uint8Array)[] = [];
  const [key, message] = [series(32), series(20, 100)];
  let tag: Uint8Array | undefined;
  recording('Int32Array', made, () =>
    recording('Uint8Array', made, () => {
      tag = deviceCrypto.hmacSha256(key, message);
    }),
  );
  assert.is(made.length, 4); // two states, the padded message, the tag
  assert.ok(made.includes(tag!));
  for (const array of made) assert.ok(array === tag || array.every((byte) => byte === 0));
});

test('noble’s HMAC, of which the caller gets a copy, is wiped', () => {
  const [key, message] = [series(32), series(20, 100)];
  let copy: Uint8Array | undefined;
  const wiped = wipedIn(() => {
    copy = nobleCrypto.hmacSha256(key, message);
  });
  assert.ok(wiped.includes(toHex(copy!)));
});

for (const [name, crypto] of [
  ['noble', nobleCrypto],
  ['js', jsCrypto],
] as const) {
  test(`${name}’s ChaChaPoly leaves no keystream behind, whether it seals, opens or does not`, () => {
    const cipher = crypto.ciphers.ChaChaPoly!(series(32));
    const keystream = cipher.seal(series(12), series(1), new Uint8Array(64)).subarray(0, 64);
    const sealed = cipher.seal(series(12), series(1), new Uint8Array(20));
    for (const call of [
      () => cipher.seal(series(12), series(1), new Uint8Array(20)),
      () => cipher.open(series(12), series(1), sealed),
      () => cipher.open(series(12), series(1), flipped(sealed, 30)),
    ]) {
      assert.ok(wipedIn(call).some((bytes) => bytes !== '00'.repeat(bytes.length / 2)));
      assert.ok(block.every((byte) => byte === 0));
    }
    assert.ok(
      wipedIn(() => cipher.seal(series(12), series(1), new Uint8Array(20))).includes(toHex(keystream)),
    );
  });
}

/** How often each key of 32 bytes is in the memory of a process, on Linux. */
function copiesIn(pid: number, keys: readonly Uint8Array[]): number[] {
  const copies = keys.map(() => 0);
  const memory = openSync(`/proc/${pid}/mem`, 'r');
  const piece = Buffer.alloc(2 ** 24);
  for (const line of readFileSync(`/proc/${pid}/maps`, 'utf8').split('\n')) {
    const [, start, end] =
      /^(\w+)-(\w+) rw/.exec(line)?.map((hexadecimal) => parseInt(hexadecimal, 16)) ?? [];
    for (let at = start!; at < end!; at += piece.length - 31) {
      const length = Math.min(piece.length, end! - at);
      let read: Buffer;
      try {
        read = piece.subarray(0, readSync(memory, piece, 0, length, at));
      } catch {
        break; // released since the list was read
      }
      for (const [i, key] of keys.entries()) {
        for (let found = read.indexOf(key); found >= 0; found = read.indexOf(key, found + 1)) copies[i]!++;
      }
    }
  }
  closeSync(memory);
  return copies;
}

const OF_CIPHERS = [
  ['noble', 'nobleCrypto.ciphers.ChaChaPoly'],
  ['noble-aesgcm', 'nobleCryptoWithAesGcm.ciphers.AESGCM'],
  ['js', 'jsCrypto.ciphers.ChaChaPoly'],
  ['node', 'nodeCrypto.ciphers.ChaChaPoly'],
  ['node', 'nodeCrypto.ciphers.AESGCM'],
  ['device', 'deviceCrypto.ciphers.ChaChaPoly'],
] as const;

if (process.platform === 'linux') {
  test('no cipher leaves a copy of a key in memory once its array is wiped', async () => {
    const program = `
      import { once } from 'node:events';
      const keys = [];
      for (const [file, name] of ${JSON.stringify(OF_CIPHERS)}) {
        const provider = await import('./dist/crypto/' + file + '.js');
        const create = name.split('.').reduce((object, member) => object[member], provider);
        const key = new Uint8Array(new ArrayBuffer(32));
        for (let i = 0; i < 32; i++) key[i] = 73 * i + 41 + keys.length;
        const cipher = create(key);
        const nonce = new Uint8Array(12);
        for (; nonce[4] < 250; nonce[4]++) {
          cipher.open(nonce, nonce, cipher.seal(nonce, nonce, new Uint8Array(100)));
        }
        keys.push(key);
      }
      console.log('used');
      await once(process.stdin, 'data');
      for (const key of keys) key.fill(0);
      console.log('wiped');`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program]);
    try {
      const keys = OF_CIPHERS.map((_, index) =>
        Uint8Array.from({ length: 32 }, (_, i) => 73 * i + 41 + index),
      );
      await once(child.stdout, 'data');
      for (const [i, copies] of copiesIn(child.pid!, keys).entries())
        assert.ok(copies > 0, OF_CIPHERS[i]![1]);
      child.stdin.write('wipe');
      await once(child.stdout, 'data');
      for (const [i, copies] of copiesIn(child.pid!, keys).entries()) assert.is(copies, 0, OF_CIPHERS[i]![1]);
    } finally {
      child.kill();
    }
  });

  test('no session leaves a copy of a transport key in memory once it is closed, whatever its provider', async () => {
    const providers = ['nobleCrypto', 'jsCrypto', 'nodeCrypto', 'deviceCrypto'];
    const program = `
      import { setTimeout as sleep } from 'node:timers/promises';
      import { Pair } from './test/world/pair.ts';
      globalThis.kept = [];
      const all = [];
      for (const name of ${JSON.stringify(providers)}) {
        const { [name]: provider } = await import('./src/crypto/' + name.replace('Crypto', '') + '.ts');
        const masked = [];
        const ChaChaPoly = (key) => {
          masked.push(key.reduce((hex, byte) => hex + (byte ^ 0xa5).toString(16).padStart(2, '0'), ''));
          return provider.ciphers.ChaChaPoly(key);
        };
        const crypto = { ...provider, ciphers: { ChaChaPoly } };
        const { client, hub } = new Pair({ client: { crypto }, hub: { crypto } }).run();
        for (let i = 0; i < 500; i++) for (const message of client.sendJson({ i })) hub.receive(message);
        client.closed(1006);
        hub.closed(1006);
        globalThis.kept.push(client, hub);
        all.push(...masked.slice(-4));
      }
      for (let i = 0; i < 3; i++) await sleep(30, gc());
      console.log(all.join());
      process.stdin.resume();`;
    const child = spawn(process.execPath, [
      '--expose-gc',
      '--import',
      'tsx',
      '--input-type=module',
      '--eval',
      program,
    ]);
    try {
      const [line] = (await once(child.stdout, 'data')) as [Buffer];
      const masked = line.toString().trim().split(',');
      assert.is(masked.length, 4 * providers.length);
      const keys = masked.map((digits) => Buffer.from(digits, 'hex').map((byte) => byte ^ 0xa5));
      for (const [i, copies] of copiesIn(child.pid!, keys).entries()) {
        assert.is(copies, 0, providers[Math.floor(i / 4)]);
      }
    } finally {
      child.kill();
    }
  });
}

test('node wipes the decrypted bytes if the tag does not verify', () => {
  const cipher = nodeCrypto.ciphers.AESGCM!(series(32));
  const sealed = cipher.seal(series(12), series(1), series(20));
  const wiped = wipedIn(() => cipher.open(series(12), series(1), flipped(sealed, 30)));
  assert.ok(wiped.includes(toHex(series(20))));
});

/** Calls a function, and collects the typed arrays that are made while it runs. */
function recording(name: 'Int32Array' | 'Uint8Array', made: object[], call: () => void): void {
  const original = globalThis[name];
  const construct = (target: never, args: unknown[], newTarget: never) => {
    const array = Reflect.construct(target, args, newTarget) as object;
    made.push(array);
    return array;
  };
  Object.assign(globalThis, { [name]: new Proxy(original, { construct } as ProxyHandler<never>) });
  try {
    call();
  } finally {
    Object.assign(globalThis, { [name]: original });
  }
}

test.run();

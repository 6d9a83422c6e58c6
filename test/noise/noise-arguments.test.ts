/** An error about an argument of the Noise framework, or about injected cryptography, starts with the argument’s name. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Cipher, KeyPair } from '../../src/crypto/crypto.ts';
import { nodeCrypto } from '../../src/crypto/node.ts';
import type { Transport } from '../../src/noise/transport.ts';
import { Argon2id, type Argon2idOptions, argon2id, HandshakeState, protocolName } from '../../src/parts.ts';
import { raisesAbout, raisesLocal } from '../world/raises.ts';
import { type Changes, create, EPHEMERAL, key, optionsOf, publicKey, upTo } from './handshakes.ts';

const { x25519 } = nodeCrypto;
const PAIR = { publicKey: publicKey(key(1)) };
const NOT_BYTES = 'aa' as never;
const TOO_LONG = new Uint8Array(65_536);

/** What is wrong with the options of a HandshakeState, by the name that the error starts with. */
const HANDSHAKE_FAULTS: [name: string, changes: Changes][] = [
  ['options.unknown', { unknown: 1 } as never],
  ['role', { role: 'client' }],
  ['pattern', { pattern: 'XX' }],
  ['suite', { suite: '25519_ChaChaPoly_BLAKE2s' }],
  ['prologue', { prologue: 'aa' }],
  ['psk', { psk: key(1).subarray(1) }],
  ['staticKey', { staticKey: key(0) }],
  ['staticKey.publicKey', { staticKey: { publicKey: key(0) } }],
  ['staticKey.privateKey', { staticKey: { ...PAIR, privateKey: key(0) } }],
  ['staticKey.sharedSecret', { staticKey: { ...PAIR, sharedSecret: 1 } }],
  ['ephemeralKey', { ephemeralKey: key(0) }],
  ['randomBytes', { randomBytes: 1 }],
  ['remoteStaticKey', { remoteStaticKey: key(1) }],
  ['paced', { paced: 1 }],
  ['crypto', { crypto: 1 }],
  ['crypto.sha256', { crypto: { ...nodeCrypto, sha256: 1 } }],
  ['crypto.hmacSha256', { crypto: { ...nodeCrypto, hmacSha256: 1 } }],
  ['crypto.x25519', { crypto: { ...nodeCrypto, x25519: 1 } }],
  ['crypto.x25519.publicKey', { crypto: { ...nodeCrypto, x25519: { ...x25519, publicKey: 1 } } }],
  ['crypto.x25519.sharedSecret', { crypto: { ...nodeCrypto, x25519: { ...x25519, sharedSecret: 1 } } }],
  ['crypto.x25519.importKey', { crypto: { ...nodeCrypto, x25519: { ...x25519, importKey: 1 } } }],
  ['crypto.ciphers', { crypto: { ...nodeCrypto, ciphers: 1 } }],
  ['crypto.ciphers.ChaChaPoly', { crypto: { ...nodeCrypto, ciphers: { ChaChaPoly: 1 } } }],
  ['crypto.ciphers.AESGCM', { crypto: { ...nodeCrypto, ciphers: { AESGCM: 1 } } }],
  ['crypto.blake2b', { crypto: { ...nodeCrypto, blake2b: 1 } }],
  ['crypto.argon2id', { crypto: { ...nodeCrypto, argon2id: 1 } }],
];
for (const [name, changes] of HANDSHAKE_FAULTS) {
  test(`HandshakeState names ${name}`, () => raisesAbout(name, () => create('initiator', 'XXpsk2', changes)));
}

test('HandshakeState names the missing key of the peer', () => {
  raisesAbout('remoteStaticKey', () => create('initiator', 'KKpsk0', { remoteStaticKey: undefined }));
});

test('protocolName() names a pattern that cannot be written', () => {
  raisesAbout('pattern', () => protocolName(Symbol('XXpsk2') as never, '25519_ChaChaPoly_SHA256'));
});

test('errors of HandshakeState’s methods name the argument', () => {
  raisesAbout('payload', () => create('initiator', 'XXpsk2').writeMessage(NOT_BYTES));
  raisesAbout('payload', () => create('initiator', 'XXpsk2').writeMessage(TOO_LONG));
  raisesAbout('message', () => create('responder', 'XXpsk2').readMessage(NOT_BYTES));
  const state = new HandshakeState({
    ...optionsOf('initiator', 'KKpsk0'),
    staticKey: { publicKey: publicKey(key(0x51)) },
    ephemeralKey: EPHEMERAL.initiator,
  });
  state.writeMessage();
  raisesAbout('sharedSecret', () => state.resume(NOT_BYTES));
  raisesAbout('sharedSecret', () => state.resume(new Uint8Array(31)));
  const paced = create('initiator', 'KKpsk0', { paced: true });
  paced.writeMessage();
  raisesAbout('sharedSecret', () => paced.resume(key(1)));
});

test('errors of Transport’s methods name the argument', () => {
  const state = upTo(3, 'initiator', 'XXpsk2');
  const transport = state.split();
  raisesAbout('plaintext', () => transport.encrypt(NOT_BYTES));
  raisesAbout('plaintext', () => transport.encrypt(TOO_LONG));
  raisesAbout('buffer', () => transport.encryptInPlace(NOT_BYTES));
  raisesAbout('buffer', () => transport.encryptInPlace(TOO_LONG));
  raisesAbout('buffer', () => transport.encryptInPlace(new Uint8Array(15)));
  raisesAbout('message', () => transport.decrypt(NOT_BYTES));
});

/** A derivation that takes no time. */
function derivation(changes: object): Argon2idOptions {
  const salt = new Uint8Array(8);
  return {
    crypto: nodeCrypto,
    password: 'pw',
    salt,
    passes: 1,
    memoryKiB: 8,
    parallelism: 1,
    length: 4,
    ...changes,
  };
}

const DERIVATION_FAULTS: [name: string, changes: object][] = [
  ['options.unknown', { unknown: 1 }],
  ['crypto', { crypto: 1 }],
  ['crypto.blake2b', { crypto: { blake2b: 1 } }],
  ['crypto.argon2id', { crypto: { argon2id: 1 } }],
  ['password', { password: 1 }],
  ['salt', { salt: 'salt' }],
  ['salt', { salt: new Uint8Array(7) }],
  ['passes', { passes: 0 }],
  ['memoryKiB', { memoryKiB: 7 }],
  ['parallelism', { parallelism: 0 }],
  ['length', { length: 3 }],
  ['secret', { secret: 'secret' }],
  ['associatedData', { associatedData: 'data' }],
  ['memory', { memory: 'memory' }],
  ['onProgress', { onProgress: 1 }],
];
for (const [name, changes] of DERIVATION_FAULTS) {
  test(`argon2id() names ${name}`, () => raisesAbout(name, () => argon2id(derivation(changes))));
}

test('HandshakeState names the part of the crypto that cannot be read', () => {
  for (const name of ['x25519', 'ciphers'] as const) {
    const crypto = Object.defineProperty({ ...nodeCrypto }, name, {
      get() {
        throw new Error('it is gone');
      },
    });
    raisesAbout(`crypto.${name}`, () => create('initiator', 'XXpsk2', { crypto }));
  }
});

/** Injected functions that throw or return the wrong thing, by the names that errors give them. */
const FAILING: [name: string, call: (fail: () => never) => unknown][] = [
  ['sha256', (fail) => create('initiator', 'XXpsk2', { crypto: { ...nodeCrypto, sha256: fail } })],
  [
    'hmacSha256',
    (fail) => create('initiator', 'XXpsk2', { crypto: { ...nodeCrypto, hmacSha256: fail } }).writeMessage(),
  ],
  [
    'x25519.importKey',
    (fail) =>
      create('initiator', 'XXpsk2', { crypto: { ...nodeCrypto, x25519: { ...x25519, importKey: fail } } }),
  ],
  [
    'x25519.sharedSecret',
    (fail) => create('initiator', 'KKpsk0', { staticKey: { ...PAIR, sharedSecret: fail } }).writeMessage(),
  ],
  [
    'ChaChaPoly',
    (fail) =>
      create('initiator', 'XXpsk2', {
        crypto: { ...nodeCrypto, ciphers: { ChaChaPoly: fail } },
      }).writeMessage(),
  ],
  ['seal', (fail) => transportWith({ seal: fail, open: fail }).encrypt(new Uint8Array(1))],
  [
    'sealInPlace',
    (fail) => transportWith({ seal: fail, open: fail, sealInPlace: fail }).encryptInPlace(new Uint8Array(16)),
  ],
  ['open', (fail) => transportWith({ seal: fail, open: fail }).decrypt(new Uint8Array(16))],
  ['open', () => transportWith({ seal: () => key(1), open: () => key(1) }).decrypt(new Uint8Array(16))],
  ['x25519.publicKey', () => createWithImported({ publicKey: key(1).subarray(1) })],
  [
    'x25519.sharedSecret',
    (fail) => createWithImported(Object.defineProperty({ ...PAIR }, 'sharedSecret', { get: fail })),
  ],
  ['randomBytes', (fail) => create('initiator', 'XXpsk2', { randomBytes: fail }).writeMessage()],
  ['blake2b', (fail) => argon2id(derivation({ crypto: { blake2b: fail } }))],
  ['argon2id', (fail) => argon2id(derivation({ crypto: { argon2id: fail } }))],
];
for (const [i, [name, call]] of FAILING.entries()) {
  test(`an error names the injected ${name}() (${i})`, () => {
    const fail = () => {
      throw new Error('accelerator is off');
    };
    assert.ok(raisesLocal(() => call(fail), 'crypto-failed').message.includes(` ${name}() `));
  });
}

/** A HandshakeState whose crypto imports keys as this pair. */
function createWithImported(pair: KeyPair): HandshakeState {
  const crypto = { ...nodeCrypto, x25519: { ...x25519, importKey: () => pair } };
  return create('initiator', 'XXpsk2', { crypto });
}

/** A Transport with this cipher. */
function transportWith(cipher: Cipher): Transport {
  let create = nodeCrypto.ciphers.ChaChaPoly!;
  const ciphers = { ChaChaPoly: (key: Uint8Array) => create(key) };
  const state = upTo(3, 'initiator', 'XXpsk2', { crypto: { ...nodeCrypto, ciphers } });
  create = () => cipher;
  return state.split();
}

test('errors of Argon2id’s methods name the argument', () => {
  raisesAbout('blocks', () => new Argon2id(derivation({})).run(0));
});

test.run();

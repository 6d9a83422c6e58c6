/** Injected code that starts to fail at some moment: the error names it as the cause, and everything is wiped. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { isZero } from '../../src/bytes.ts';
import type { CryptoProvider } from '../../src/crypto/crypto.ts';
import { nobleCrypto } from '../../src/crypto/noble.ts';
import { nodeCrypto, randomBytes } from '../../src/crypto/node.ts';
import type { LocalError } from '../../src/errors.ts';
import { Argon2id, argon2id } from '../../src/noise/argon2id.ts';
import type { Argon2idOptions } from '../../src/noise/argon2id-options.ts';
import { HandshakeState } from '../../src/noise/handshake-state.ts';
import { raisesLocal } from '../world/raises.ts';
import { create, EPHEMERAL, FIELDS, type Role, readerOf, writerOf } from './handshakes.ts';

/** Crypto that throws from the call of `breakNow` on. */
function breakable(): { crypto: CryptoProvider; breakNow: () => Error } {
  let defect: Error | undefined;
  const guarded =
    <Arguments extends unknown[], Answer>(call: (...args: Arguments) => Answer) =>
    (...args: Arguments): Answer => {
      if (defect !== undefined) throw defect;
      return call(...args);
    };
  const { sha256, hmacSha256, x25519, ciphers } = nodeCrypto;
  return {
    crypto: {
      sha256: guarded(sha256),
      hmacSha256: guarded(hmacSha256),
      x25519: { publicKey: guarded(x25519.publicKey), sharedSecret: x25519.sharedSecret },
      ciphers,
      blake2b: guarded(nobleCrypto.blake2b!),
    },
    breakNow: () => {
      defect = new Error('accelerator is off');
      return defect;
    },
  };
}

function handshake(role: 'initiator' | 'responder', crypto: CryptoProvider): HandshakeState {
  return new HandshakeState({
    crypto,
    role,
    pattern: 'XXpsk2',
    suite: '25519_ChaChaPoly_SHA256',
    prologue: new Uint8Array(1),
    psk: new Uint8Array(32).fill(1),
    staticKey: randomBytes(32),
    randomBytes,
  });
}

test('a handshake cannot be made with crypto that throws', () => {
  const { crypto, breakNow } = breakable();
  const defect = breakNow();
  assert.is(raisesLocal(() => handshake('initiator', crypto), 'crypto-failed').cause, defect);
});

test('a handshake whose split() fails returns no transport, then or later', () => {
  const { crypto, breakNow } = breakable();
  const [initiator, responder] = [handshake('initiator', crypto), handshake('responder', nodeCrypto)];
  responder.readMessage(initiator.writeMessage());
  initiator.readMessage(responder.writeMessage());
  responder.readMessage(initiator.writeMessage());
  const defect = breakNow();
  assert.is(raisesLocal(() => initiator.split(), 'crypto-failed').cause, defect);
  raisesLocal(() => initiator.split(), 'crypto-failed');
});

/** Crypto of which one call throws, and the secret arrays that it was given or has returned. */
function failingAt(call: number): { crypto: CryptoProvider; secrets: Uint8Array[] } {
  const secrets: Uint8Array[] = [];
  let calls = 0;
  const counted =
    <Arguments extends Uint8Array[], Answer>(own: (...args: Arguments) => Answer, takesSecret: boolean) =>
    (...args: Arguments): Answer => {
      if (takesSecret) secrets.push(args[0]!);
      if (++calls === call) throw new Error('accelerator is off');
      const answer = own(...args);
      if (answer instanceof Uint8Array) secrets.push(answer);
      return answer;
    };
  const { sha256, hmacSha256, x25519, ciphers } = nodeCrypto;
  const importKey = counted((key: Uint8Array) => {
    const { publicKey, sharedSecret } = x25519.importKey!(key);
    return { publicKey, sharedSecret: counted(sharedSecret!, false) };
  }, true);
  const hash = counted((first: Uint8Array, second: Uint8Array) => [sha256(first, second)], false);
  const crypto = {
    sha256: (...parts: [Uint8Array, Uint8Array]) => hash(...parts)[0]!,
    hmacSha256: counted(hmacSha256, false),
    x25519: { ...x25519, importKey },
    ciphers: { ChaChaPoly: counted(ciphers.ChaChaPoly!, true) },
  };
  return { crypto, secrets };
}

for (const pattern of ['XXpsk2', 'KKpsk0'] as const) {
  for (const role of ['initiator', 'responder'] as const) {
    test(`whichever call of the crypto fails, the ${role} of ${pattern} has wiped all keys`, () => {
      const ephemeralKey = EPHEMERAL[role];
      for (let call = 1, isDone = false; !isDone; call++) {
        const { crypto, secrets } = failingAt(call);
        const ends: { [end in Role]?: HandshakeState } = {};
        let failure: unknown;
        try {
          ends[role] = create(role, pattern, { crypto, ephemeralKey });
          const peer = role === 'initiator' ? 'responder' : 'initiator';
          ends[peer] = create(peer, pattern);
          FIELDS[pattern].forEach((_, i) => {
            ends[readerOf(i)]!.readMessage(ends[writerOf(i)]!.writeMessage());
          });
          ends[role].split().destroy();
          isDone = true;
        } catch (error) {
          failure = error;
          assert.is((error as LocalError).code, 'crypto-failed');
        }
        assert.ok(isDone || failure !== undefined);
        assert.ok(secrets.every(isZero), `call ${call}`);
      }
    });
  }
}

const DERIVATION = {
  password: 'secret',
  salt: new Uint8Array(8),
  passes: 1,
  memoryKiB: 8,
  parallelism: 1,
  length: 32,
};

function derivation(crypto: CryptoProvider, memory: Uint8Array): Argon2idOptions {
  return { ...DERIVATION, crypto, memory };
}

test('a derivation that fails to start wipes the caller’s memory', () => {
  const memory = new Uint8Array(8 * 1024);
  let calls = 0;
  const blake2b: CryptoProvider['blake2b'] = (...args) => {
    if (++calls > 40) throw new Error('accelerator is off'); // after the first block was made
    return nobleCrypto.blake2b!(...args);
  };
  raisesLocal(() => new Argon2id(derivation({ ...nobleCrypto, blake2b }, memory)), 'crypto-failed');
  assert.ok(memory.every((byte) => byte === 0));
});

test('a derivation wipes every input and output of BLAKE2b except the tag', () => {
  for (const length of [32, 64, 100]) {
    const results: Uint8Array[] = [];
    const inputs: Uint8Array[] = [];
    const blake2b: CryptoProvider['blake2b'] = (size, ...parts) => {
      inputs.push(...parts);
      const result = nobleCrypto.blake2b!(size, ...parts);
      results.push(result);
      return result;
    };
    argon2id({ ...DERIVATION, length, crypto: { ...nobleCrypto, blake2b } });
    for (const bytes of [...results, ...inputs]) assert.ok(bytes.every((byte) => byte === 0));
  }
});

test('a derivation whose last step fails is over, and its memory wiped', () => {
  const { crypto, breakNow } = breakable();
  const memory = new Uint8Array(8 * 1024);
  const state = new Argon2id(derivation(crypto, memory));
  state.run(8);
  const defect = breakNow();
  assert.is(raisesLocal(() => state.result(), 'crypto-failed').cause, defect);
  assert.ok(memory.every((byte) => byte === 0));
  raisesLocal(() => state.result(), 'wrong-state');
});

test.run();

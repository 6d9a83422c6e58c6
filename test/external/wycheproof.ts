/**
 * Wycheproof's JSON, `testvectors` and `testvectors_v1`, for the protocol's primitives: the two ciphers, X25519 with raw
 * keys, HMAC-SHA-256, and HKDF as Noise has it. Each test is run with every provider that has the algorithm, those of X25519
 * also with a key of WebCrypto, which can be the static key of a client.
 */
import { webcrypto } from 'node:crypto';
import { webSharedSecret } from '../../examples/external-key.ts';
import { bytesToHex, concatBytes, isZero } from '../../src/bytes.ts';
import { CheckedCrypto } from '../../src/crypto/checked.ts';
import type { CipherName, CryptoProvider } from '../../src/crypto/crypto.ts';
import { HandshakeState } from '../../src/noise/handshake-state.ts';
import { SymmetricState } from '../../src/noise/symmetric-state.ts';
import {
  bytes,
  checkAead,
  count,
  expectError,
  expectResult,
  type Fields,
  isObject,
  Mismatch,
  type Runs,
  type Vector,
  type VectorSet,
  withProviders,
} from './vector-set.ts';

/** An algorithm of Wycheproof that the library uses. */
interface Algorithm {
  readonly kind: string;
  /** Returns why this library cannot run a test of a group, or `undefined` if it can. */
  skip(group: Fields, test: Fields): string | undefined;
  runs(test: Fields, group: Fields): Runs;
}

function aead(kind: string, cipherName: CipherName): Algorithm {
  return {
    kind,
    skip({ keySize, ivSize, tagSize }) {
      if (keySize !== 256) return 'other key length';
      if (ivSize !== 96) return 'other nonce length';
      return tagSize === 128 ? undefined : 'other tag length';
    },
    runs: ({ key, iv, aad, msg, ct, tag, result }) =>
      withProviders((crypto, provider) => {
        const plaintext = result === 'invalid' ? undefined : msg;
        checkAead(crypto.ciphers[cipherName]!, provider, { key, nonce: iv, aad, plaintext, ct, tag });
      }, cipherName),
  };
}

const X25519: Algorithm = {
  kind: 'Wycheproof X25519',
  skip: ({ type, curve }) =>
    curve !== 'curve25519'
      ? 'other curve'
      : type !== 'XdhComp'
        ? 'keys in an encoding not used here'
        : undefined,
  runs: (test) =>
    withProviders((crypto, provider) => {
      const [privateKey, publicKey, shared] = [bytes(test.private), bytes(test.public), bytes(test.shared)];
      if (isZero(shared)) {
        checkLowOrder(privateKey, publicKey, crypto, provider);
      } else {
        // "acceptable" counts as valid: RFC 7748 accepts points on the twist and non-canonical ones.
        expectResult(`${provider}, sharedSecret`, test.shared, () =>
          crypto.x25519.sharedSecret(privateKey, publicKey),
        );
      }
    }).set('WebCrypto', () => checkWebCrypto(test)),
};

/** The bytes of PKCS #8 before a private key of X25519 (RFC 8410). */
const PKCS8 = bytes('302e020100300506032b656e04220420');

/** WebCrypto returns the shared secret, or rejects a key of low order itself. */
async function checkWebCrypto(test: Fields): Promise<void> {
  const pkcs8 = concatBytes([PKCS8, bytes(test.private)]);
  const key = await webcrypto.subtle.importKey('pkcs8', pkcs8, { name: 'X25519' }, false, ['deriveBits']);
  const isLowOrder = isZero(bytes(test.shared));
  const shared = await webSharedSecret(key, bytes(test.public)).then(bytesToHex, () => 'rejected');
  const expected = isLowOrder ? 'rejected' : test.shared;
  if (shared !== expected) throw new Mismatch('WebCrypto, sharedSecret', expected, shared);
}

/** A provider must return zeros, and a handshake must reject the key, whether it was pinned or received. */
function checkLowOrder(
  privateKey: Uint8Array,
  publicKey: Uint8Array,
  crypto: CryptoProvider,
  provider: string,
): void {
  expectResult(`${provider}, sharedSecret`, '00'.repeat(32), () =>
    crypto.x25519.sharedSecret(privateKey, publicKey),
  );
  const options = {
    crypto,
    role: 'initiator',
    suite: '25519_ChaChaPoly_SHA256',
    prologue: new Uint8Array(0),
    psk: new Uint8Array(32),
    staticKey: privateKey,
    randomBytes: (length: number) => new Uint8Array(length).fill(7),
  } as const;
  expectError(`${provider}, a remoteStaticKey of KKpsk0`, 'LocalError [low-order-key]', () =>
    new HandshakeState({ ...options, pattern: 'KKpsk0', remoteStaticKey: publicKey }).writeMessage(),
  );
  expectError(`${provider}, an ephemeral key in message 2 of XXpsk2`, 'RemoteError [low-order-key]', () => {
    const state = new HandshakeState({ ...options, pattern: 'XXpsk2' });
    state.writeMessage();
    return state.readMessage(concatBytes([publicKey, new Uint8Array(64)]));
  });
}

const HMAC: Algorithm = {
  kind: 'Wycheproof HMAC-SHA-256',
  skip: () => undefined,
  runs: (test, { tagSize }) =>
    withProviders((crypto, provider) => {
      const mac = () => crypto.hmacSha256(bytes(test.key), bytes(test.msg)).subarray(0, tagSize / 8);
      if (test.result !== 'invalid') {
        expectResult(`${provider}, hmacSha256`, test.tag, mac);
      } else if (Buffer.from(mac()).equals(bytes(test.tag))) {
        throw new Mismatch(`${provider}, hmacSha256`, 'another tag', test.tag);
      }
    }),
};

/** Where SymmetricState has the three outputs of HKDF after MixKeyAndHash. */
interface Outputs {
  chainingKey: Uint8Array;
  readonly temporaryHash: Uint8Array;
  mixKeyAndHash(inputKeyMaterial: Uint8Array): void;
  keyedCipherState(): { readonly key: Uint8Array };
}

/** The HKDF of Noise is that of RFC 5869 with the chaining key as salt, without info, and with at most three outputs. */
const HKDF: Algorithm = {
  kind: 'Wycheproof HKDF-SHA-256',
  skip: (_, { info, size }) =>
    info !== '' ? 'info, which Noise does not have' : size > 96 ? 'more than three outputs' : undefined,
  runs: ({ ikm, salt, size, okm }) =>
    withProviders((crypto, provider) => {
      const state = new SymmetricState(new CheckedCrypto(crypto), '', 'ChaChaPoly') as unknown as Outputs;
      const output = () => {
        state.chainingKey = bytes(salt);
        state.mixKeyAndHash(bytes(ikm));
        const first = concatBytes([state.chainingKey, state.temporaryHash]);
        return concatBytes([first, state.keyedCipherState().key]).subarray(0, size);
      };
      expectResult(`${provider}, HKDF`, okm, output);
    }),
};

const ALGORITHMS = new Map<string, Algorithm>([
  ['CHACHA20-POLY1305', aead('Wycheproof ChaCha20-Poly1305', 'ChaChaPoly')],
  ['AES-GCM', aead('Wycheproof AES-GCM', 'AESGCM')],
  ['XDH', X25519],
  ['HMACSHA256', HMAC],
  ['HKDF-SHA-256', HKDF],
]);

/** Reads Wycheproof's JSON. Returns `undefined` for anything else. */
export function wycheproof(json: unknown): VectorSet | undefined {
  if (!isObject(json) || typeof json.algorithm !== 'string' || !Array.isArray(json.testGroups)) {
    return undefined;
  }
  if (!json.testGroups.every((group) => isObject(group) && Array.isArray(group.tests))) return undefined;
  const algorithm = ALGORITHMS.get(json.algorithm);
  const vectors: Vector[] = [];
  const skipped = new Map<string, number>();
  for (const group of json.testGroups) {
    for (const test of group.tests) {
      const reason = algorithm === undefined ? 'algorithm not used here' : algorithm.skip(group, test);
      if (reason !== undefined) {
        count(skipped, reason);
        continue;
      }
      const name = `tcId ${test.tcId}${test.comment ? `, ${test.comment}` : ''}`;
      vectors.push({ name, runs: algorithm!.runs(test, group) });
    }
  }
  if (vectors.length === 0) return { kind: 'Wycheproof, others', vectors, skipped, isPartOfMany: true };
  return { kind: algorithm!.kind, vectors, skipped };
}

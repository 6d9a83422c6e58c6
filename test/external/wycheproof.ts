/**
 * Wycheproof's JSON, `testvectors` and `testvectors_v1`, for the protocol's primitives: the two ciphers, X25519 with raw
 * keys, and HMAC-SHA-256. Each test is run with every provider that has the algorithm.
 */
import { concatBytes, copyBytes, isZero } from '../../src/bytes.ts';
import type { CipherName, Crypto } from '../../src/crypto/crypto.ts';
import { HandshakeState } from '../../src/noise/handshake-state.ts';
import {
  bytes,
  count,
  expectError,
  expectResult,
  type Fields,
  isObject,
  Mismatch,
  PROVIDERS,
  type Vector,
  type VectorSet,
} from './vector-set.ts';

/** An algorithm of Wycheproof that the library uses. */
interface Algorithm {
  readonly kind: string;
  /** Returns why this library cannot run the tests of a group, or `undefined` if it can. */
  skip(group: Fields): string | undefined;
  check(test: Fields, group: Fields, crypto: Crypto, provider: string): void;
}

function aead(kind: string, cipherName: CipherName): Algorithm {
  return {
    kind,
    skip({ keySize, ivSize, tagSize }) {
      if (keySize !== 256) return 'other key length';
      if (ivSize !== 96) return 'other nonce length';
      return tagSize === 128 ? undefined : 'other tag length';
    },
    check(test, _group, crypto, provider) {
      const createCipher = crypto.ciphers[cipherName];
      if (createCipher === undefined) return;
      const [nonce, associatedData] = [bytes(test.iv), bytes(test.aad)];
      const sealed = concatBytes([bytes(test.ct), bytes(test.tag)]);
      const cipher = createCipher(bytes(test.key));
      const open = () => cipher.open(nonce, associatedData, sealed);
      if (test.result === 'invalid') {
        expectResult(`${provider}, open`, 'undefined', open);
      } else {
        const seal = () => cipher.seal(nonce, associatedData, bytes(test.msg));
        expectResult(`${provider}, seal`, test.ct + test.tag, seal);
        expectResult(`${provider}, open`, test.msg, open);
      }
    },
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
  check(test, _group, crypto, provider) {
    const [privateKey, publicKey, shared] = [bytes(test.private), bytes(test.public), bytes(test.shared)];
    if (isZero(shared)) {
      checkLowOrder(privateKey, publicKey, crypto, provider);
    } else {
      // "acceptable" counts as valid: RFC 7748 accepts points on the twist and non-canonical ones.
      expectResult(`${provider}, sharedSecret`, test.shared, () =>
        crypto.x25519.sharedSecret(privateKey, publicKey),
      );
    }
  },
};

/** A provider must return zeros, and a handshake must reject the key, whether it was pinned or received. */
function checkLowOrder(
  privateKey: Uint8Array,
  publicKey: Uint8Array,
  crypto: Crypto,
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
    randomBytes: () => copyBytes(privateKey),
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
  check(test, { tagSize }, crypto, provider) {
    const mac = () => crypto.hmacSha256(bytes(test.key), bytes(test.msg)).subarray(0, tagSize / 8);
    if (test.result !== 'invalid') {
      expectResult(`${provider}, hmacSha256`, test.tag, mac);
    } else if (Buffer.from(mac()).equals(bytes(test.tag))) {
      throw new Mismatch(`${provider}, hmacSha256`, 'another tag', test.tag);
    }
  },
};

const ALGORITHMS = new Map<string, Algorithm>([
  ['CHACHA20-POLY1305', aead('Wycheproof ChaCha20-Poly1305', 'ChaChaPoly')],
  ['AES-GCM', aead('Wycheproof AES-GCM', 'AESGCM')],
  ['XDH', X25519],
  ['HMACSHA256', HMAC],
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
    const reason = algorithm === undefined ? 'algorithm not used here' : algorithm.skip(group);
    if (reason !== undefined) {
      count(skipped, reason, group.tests.length);
      continue;
    }
    for (const test of group.tests) {
      const name = `tcId ${test.tcId}${test.comment ? `, ${test.comment}` : ''}`;
      const run = () => {
        for (const [provider, crypto] of PROVIDERS) algorithm!.check(test, group, crypto, provider);
      };
      vectors.push({ name, run });
    }
  }
  if (vectors.length === 0) return { kind: 'Wycheproof, others', vectors, skipped, isPartOfMany: true };
  return { kind: algorithm!.kind, vectors, skipped };
}

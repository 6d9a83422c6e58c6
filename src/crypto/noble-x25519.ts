/** X25519 from noble's Montgomery curve. It needs BigInt. */

import { pow2 } from '@noble/curves/abstract/modular.js';
import { montgomery } from '@noble/curves/abstract/montgomery.js';
import { assertBytes } from '../arguments.ts';
import { KEY_LENGTH } from '../limits.ts';
import type { CryptoProvider } from './crypto.ts';
import { isLowOrder } from './low-order.ts';

/** 2^255 - 19 (RFC 7748, section 4.1). */
const P = 2n ** 255n - 19n;

/** x^(P - 2), the inverse of x, by the usual chain of 254 squarings and 11 multiplications. */
function invert(x: bigint): bigint {
  const times = (a: bigint, b: bigint) => (a * b) % P;
  const x2 = pow2(x, 1n, P);
  const x9 = times(pow2(x2, 2n, P), x);
  const x11 = times(x9, x2);
  const b5 = times(pow2(x11, 1n, P), x9); // x^(2^5 - 1), and so on
  const b10 = times(pow2(b5, 5n, P), b5);
  const b20 = times(pow2(b10, 10n, P), b10);
  const b40 = times(pow2(b20, 20n, P), b20);
  const b50 = times(pow2(b40, 10n, P), b10);
  const b100 = times(pow2(b50, 50n, P), b50);
  const b200 = times(pow2(b100, 100n, P), b100);
  const b250 = times(pow2(b200, 50n, P), b50);
  return times(pow2(b250, 5n, P), x11);
}

/** decodeScalar25519 (RFC 7748, section 5), in place. */
function clamp(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  bytes[0]! &= 248;
  bytes[31]! &= 127;
  bytes[31]! |= 64;
  return bytes as Uint8Array<ArrayBuffer>;
}

/** noble's `ed25519.js` has X25519 too, and computes public keys faster, but takes four times the size and memory. */
const curve = /* @__PURE__ */ montgomery({
  P,
  type: 'x25519',
  powPminus2: invert,
  adjustScalarBytes: clamp,
});

export const nobleX25519: CryptoProvider['x25519'] = {
  publicKey(privateKey) {
    assertBytes(privateKey, 'privateKey', KEY_LENGTH);
    return curve.getPublicKey(privateKey);
  },
  sharedSecret(privateKey, publicKey) {
    assertBytes(privateKey, 'privateKey', KEY_LENGTH);
    assertBytes(publicKey, 'publicKey', KEY_LENGTH);
    try {
      return curve.getSharedSecret(privateKey, publicKey);
    } catch (error) {
      /* c8 ignore next -- lack of memory or of stack, which no test can bring about reliably */
      if (!isLowOrder(publicKey)) throw error;
      return new Uint8Array(KEY_LENGTH);
    }
  },
};

/**
 * Handshake messages with an ephemeral key of zeros. They are valid for a side that accepts the resulting shared secret
 * of zeros, and do not differ from other messages otherwise: a side that does not check cannot fail for another reason.
 */

import { concatBytes, nodeCrypto, type Suite } from '../protocol.ts';
import { SymmetricState } from '../symmetric-state.ts';

const ZEROS = new Uint8Array(32);
const EPHEMERAL = 32;
const { x25519 } = nodeCrypto;

function start(suite: Suite, prologue: Uint8Array): SymmetricState {
  const noise = new SymmetricState('XXpsk2', suite);
  noise.mixHash(prologue);
  return noise;
}

/** Message 1 of XXpsk2: `e`, and its payload. */
export function message1OfZeros(suite: Suite, prologue: Uint8Array, payload: Uint8Array): Uint8Array {
  const noise = start(suite, prologue);
  noise.mixEphemeral(ZEROS);
  return concatBytes([ZEROS, noise.encryptAndHash(payload)]);
}

/** Message 2 of XXpsk2, in reply to this message 1: `e, ee, s, es, psk`, and its payload. */
export function message2OfZeros(
  suite: Suite,
  prologue: Uint8Array,
  message1: Uint8Array,
  { staticKey, psk, payload }: { staticKey: Uint8Array; psk: Uint8Array; payload: Uint8Array },
): Uint8Array {
  const noise = start(suite, prologue);
  const theirs = message1.slice(0, EPHEMERAL);
  noise.mixEphemeral(theirs);
  noise.decryptAndHash(message1.slice(EPHEMERAL));
  noise.mixEphemeral(ZEROS);
  noise.mixKey(ZEROS); // ee
  const key = noise.encryptAndHash(x25519.publicKey(staticKey));
  noise.mixKey(x25519.sharedSecret(staticKey, theirs)); // es
  noise.mixKeyAndHash(psk);
  return concatBytes([ZEROS, key, noise.encryptAndHash(payload)]);
}

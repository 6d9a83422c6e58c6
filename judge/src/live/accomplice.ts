/**
 * Handshake messages with an ephemeral key of zeros. They are valid for a side that accepts the resulting shared secret
 * of zeros, and do not differ from other messages otherwise: a side that does not check cannot fail for another reason.
 */
import {
  CheckedCrypto,
  concatBytes,
  nodeCrypto,
  protocolName,
  SUITES,
  type Suite,
  SymmetricState,
} from '../protocol.ts';

const ZEROS = new Uint8Array(32);
const EPHEMERAL = 32;
const { x25519 } = nodeCrypto;

function start(suite: Suite, prologue: Uint8Array): SymmetricState {
  const name = protocolName('XXpsk2', suite);
  const state = new SymmetricState(new CheckedCrypto(nodeCrypto), name, SUITES[suite]);
  state.mixHash(prologue);
  return state;
}

function mixEphemeral(state: SymmetricState, ephemeral: Uint8Array): void {
  state.mixHash(ephemeral);
  state.mixKey(ephemeral.slice());
}

/** Message 1 of XXpsk2: `e`, and its payload. */
export function message1OfZeros(suite: Suite, prologue: Uint8Array, payload: Uint8Array): Uint8Array {
  const state = start(suite, prologue);
  mixEphemeral(state, ZEROS);
  return concatBytes([ZEROS, state.encryptAndHash(payload)]);
}

/** Message 2 of XXpsk2, in reply to this message 1: `e, ee, s, es, psk`, and its payload. */
export function message2OfZeros(
  suite: Suite,
  prologue: Uint8Array,
  message1: Uint8Array,
  { staticKey, psk, payload }: { staticKey: Uint8Array; psk: Uint8Array; payload: Uint8Array },
): Uint8Array {
  const state = start(suite, prologue);
  const theirs = message1.slice(0, EPHEMERAL);
  mixEphemeral(state, theirs);
  state.decryptAndHash(message1.slice(EPHEMERAL));
  mixEphemeral(state, ZEROS);
  state.mixKey(ZEROS.slice()); // ee
  const key = state.encryptAndHash(x25519.publicKey(staticKey));
  state.mixKey(x25519.sharedSecret(staticKey, theirs)); // es
  state.mixKeyAndHash(psk);
  return concatBytes([ZEROS, key, state.encryptAndHash(payload)]);
}

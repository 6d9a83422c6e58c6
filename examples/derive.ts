/** Derives the PSK without blocking the event loop: in slices of a few milliseconds, between which the loop runs. */
import { pskDerivation } from 'hub-protocol';
import { nodeCrypto } from 'hub-protocol/node';

const BLOCKS_AT_ONCE = 1024; // about 5 ms on a desktop

/**
 * @param password - the password of the identity
 * @param salt - the `salt` of the `psk-needed` event, 32 bytes
 * @param onProgress - called after each slice with the progress, from 0 to 1
 * @param signal - aborted when nobody needs the PSK any more
 * @returns the PSK, 32 bytes
 */
export async function derive(
  password: string,
  salt: Uint8Array,
  onProgress: (progress: number) => void,
  signal?: AbortSignal,
): Promise<Uint8Array> {
  const derivation = pskDerivation({ crypto: nodeCrypto, password, salt });
  try {
    while (!derivation.run(BLOCKS_AT_ONCE)) {
      onProgress(derivation.progress);
      await new Promise(setImmediate);
      signal?.throwIfAborted();
    }
    onProgress(1);
    return derivation.result();
  } finally {
    derivation.destroy();
  }
}

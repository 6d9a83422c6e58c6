/**
 * The adapter of ports/typescript with `seal` and `open` at any counter, by means that are not public: the adapter itself
 * declines counters that it cannot reach by counting.
 */

import { createAdapter } from '../../ports/typescript/adapter.ts';
import { hex, toHex } from '../../ports/typescript/values.ts';
import { CheckedCrypto } from '../../src/crypto/checked.ts';
import type { LocalError, RemoteError } from '../../src/errors.ts';
import type { CryptoProvider } from '../../src/index.ts';
import { CipherState } from '../../src/noise/cipher-state.ts';
import { cipherNameOf, type Suite } from '../../src/noise/patterns.ts';
import { Transport } from '../../src/noise/transport.ts';

// biome-ignore lint/suspicious/noExplicitAny: requests and responses have the fields of their operation
type Fields = Record<string, any>;

export function createAdapterWithAnyCounter(crypto: CryptoProvider): (request: Fields) => Fields {
  const respond = createAdapter(crypto);
  return (request) => {
    const { id, op, key, plaintexts, messages } = request;
    if (key === undefined || (op !== 'seal' && op !== 'open')) return respond(request);
    const transport = transportAt(crypto, request);
    const attempt = (message: string): Fields =>
      op === 'seal'
        ? { message: toHex(transport.encrypt(hex(message))) }
        : { plaintext: toHex(transport.decrypt(hex(message))) };
    const results = (plaintexts ?? messages).map((message: string) => {
      try {
        return attempt(message);
      } catch (error) {
        return { error: (error as LocalError | RemoteError).code };
      }
    });
    return { id, results };
  };
}

function transportAt(crypto: CryptoProvider, { suite, key, counter }: Fields): Transport {
  const cipher = cipherNameOf(suite as Suite);
  const states = [0, 1].map(() => {
    const state = new CipherState(new CheckedCrypto(crypto), cipher);
    state.initializeKey(hex(key));
    const { nonce } = state as unknown as { nonce: Uint8Array };
    new DataView(nonce.buffer).setBigUint64(4, BigInt(counter), cipher === 'ChaChaPoly');
    return state;
  });
  return new Transport({
    sending: states[0]!,
    receiving: states[1]!,
    handshakeHash: new Uint8Array(32),
    remoteStaticKey: new Uint8Array(32),
  });
}

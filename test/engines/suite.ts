/**
 * The part of the tests that runs in an engine: sends recorded requests to the judge's adapter, which uses the file under
 * test, and compares the responses with those that the judge accepted. Bundled and lowered to ES5 once for all engines;
 * `hubProtocol` is loaded before it.
 */
import type { CryptoProvider } from '../../src/crypto/crypto.ts';
import { createAdapterWithAnyCounter } from '../vectors/any-counter.ts';
import { plainCrypto, type X25519Results } from './plain-crypto.ts';

// biome-ignore lint/suspicious/noExplicitAny: requests and responses have the fields of their operation
type Fields = Record<string, any>;

/** One vector: what the judge sent for it, and the responses that it accepted. */
export interface Dialogue {
  readonly name: string;
  readonly turns: readonly { readonly request: Fields; readonly response: Fields }[];
}

declare const hubProtocol: { deviceCrypto?: CryptoProvider; nobleCryptoWithAesGcm?: CryptoProvider };

let crypto: CryptoProvider = (hubProtocol.deviceCrypto ?? hubProtocol.nobleCryptoWithAesGcm)!;

/** Provides cryptography to a file that has none. */
export function providePlainCrypto(results: X25519Results): void {
  crypto = plainCrypto(results);
}

const { subarray } = Uint8Array.prototype;

/** Throws where Espruino's `subarray` would read beyond the end of the array. */
function strictSubarray(this: Uint8Array, start?: number, end?: number): Uint8Array<ArrayBuffer> {
  if ((end ?? 0) > this.length) throw new Error(`subarray(${start}, ${end}) of ${this.length} bytes`);
  return subarray.call(this, start, end) as Uint8Array<ArrayBuffer>;
}

/** @throws Error that names the dialogues with a wrong response */
export function check(dialogues: readonly Dialogue[]): void {
  Uint8Array.prototype.subarray = strictSubarray;
  try {
    checkAll(dialogues);
  } finally {
    Uint8Array.prototype.subarray = subarray;
  }
}

function checkAll(dialogues: readonly Dialogue[]): void {
  const failures: string[] = [];
  for (const { name, turns } of dialogues) {
    const adapter = createAdapterWithAnyCounter(crypto);
    for (const { request, response } of turns) {
      const expected = JSON.stringify(sorted(response));
      const got = responseOf(adapter, request);
      if (got === expected) continue;
      failures.push(`${name}, ${JSON.stringify(request)}: expected ${expected}, got ${got}`);
      break;
    }
  }
  if (failures.length > 0) throw new Error(`${failures.length} failed; ${failures.slice(0, 3).join('; ')}`);
}

function responseOf(adapter: (request: Fields) => Fields, request: Fields): string {
  try {
    return JSON.stringify(sorted(adapter(request)));
  } catch (error) {
    return `${error} ${(error as Error).stack}`;
  }
}

/** Sorts the fields of all objects. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  if (typeof (value as Fields).toJSON === 'function') return sorted((value as Fields).toJSON());
  const fields: Fields = {};
  for (const name of Object.keys(value).sort()) fields[name] = sorted((value as Fields)[name]);
  return fields;
}

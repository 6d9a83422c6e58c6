/**
 * What runs in an engine: the judge's adapter over the file under test, asked what the judge asked, and held to the
 * answers that it accepted. Bundled and lowered to ES5 once for all engines; `hubProtocol` is loaded before it.
 */
import type { Crypto } from '../../src/crypto/crypto.ts';
import { createAdapterWithAnyCounter } from '../judge/any-counter.ts';
import { plainCrypto, type X25519Answers } from './plain-crypto.ts';

// biome-ignore lint/suspicious/noExplicitAny: requests and answers have the fields of their operation
type Fields = Record<string, any>;

/** A test of a vector file. */
export interface Dialogue {
  readonly name: string;
  readonly turns: readonly { readonly request: Fields; readonly answer: Fields }[];
}

declare const hubProtocol: { deviceCrypto?: Crypto; nobleCryptoWithAesGcm?: Crypto };

let crypto: Crypto = (hubProtocol.deviceCrypto ?? hubProtocol.nobleCryptoWithAesGcm)!;

/** For a file without cryptography. */
export function useAnswers(answers: X25519Answers): void {
  crypto = plainCrypto(answers);
}

const { subarray } = Uint8Array.prototype;

/** Espruino's reads on beyond the end of the array. */
function strictSubarray(this: Uint8Array, start?: number, end?: number): Uint8Array<ArrayBuffer> {
  if ((end ?? 0) > this.length) throw new Error(`subarray(${start}, ${end}) of ${this.length} bytes`);
  return subarray.call(this, start, end) as Uint8Array<ArrayBuffer>;
}

/** @throws Error that names the dialogues in which another answer was given */
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
    for (const { request, answer } of turns) {
      const expected = JSON.stringify(sorted(answer));
      const got = answerOf(adapter, request);
      if (got === expected) continue;
      failures.push(`${name}, ${JSON.stringify(request)}: expected ${expected}, got ${got}`);
      break;
    }
  }
  if (failures.length > 0) throw new Error(`${failures.length} failed; ${failures.slice(0, 3).join('; ')}`);
}

function answerOf(adapter: (request: Fields) => Fields, request: Fields): string {
  try {
    return JSON.stringify(sorted(adapter(request)));
  } catch (error) {
    return `${error} ${(error as Error).stack}`;
  }
}

/** With the fields of all objects in one order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  if (typeof (value as Fields).toJSON === 'function') return sorted((value as Fields).toJSON());
  const fields: Fields = {};
  for (const name of Object.keys(value).sort()) fields[name] = sorted((value as Fields)[name]);
  return fields;
}

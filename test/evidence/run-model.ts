/**
 * Runs a model of proofs/ with real cryptography: each statement computes bytes, each message hands them over, and a check that
 * fails stops its principal, as in Verifpal. Nobody interferes, except where a test replaces a value on its way.
 */
import type { Bytes } from '../../src/bytes.ts';
import { nodeCrypto } from '../../src/crypto/node.ts';

/** The values that a principal holds, by their names in the model. */
export type Values = Map<string, Uint8Array>;

/** What happened. */
export interface Course {
  readonly principals: { readonly [name: string]: Values };
  /** The values of each message, in order. */
  readonly messages: readonly { readonly from: string; readonly values: Values }[];
  /** The statement whose check failed. Nothing happens after it. */
  readonly halted: string | undefined;
}

/** Runs a model as `withSettings` returns it. Values that are given are not computed. */
export function runModel(
  text: string,
  given: { readonly [principal: string]: { readonly [name: string]: Uint8Array } },
  replaced: { readonly [name: string]: Uint8Array } = {},
): Course {
  const principals = Object.fromEntries(
    Object.entries(given).map(([name, values]) => [name, new Map(Object.entries(values))]),
  );
  const messages: { from: string; values: Values }[] = [];
  let held: Values = new Map();
  for (const line of text.slice(0, text.search(/^(?:phase|queries)\[/m)).split('\n')) {
    const [, principal] = /^principal (\w+)\[$/.exec(line) ?? [];
    const [, from, to, sent] = /^(\w+) -> (\w+): (.*)$/.exec(line) ?? [];
    const [, assigned, primitive, args, check] = /^(.*) = (\w+)\((.*)\)(\??)$/.exec(line) ?? [];
    if (principal !== undefined) held = principals[principal]!;
    else if (from !== undefined) {
      const names = sent!.replace(/[[\]]/g, '').split(', ');
      const values: Values = new Map(names.map((name) => [name, get(principals[from]!, name)]));
      messages.push({ from, values });
      for (const [name, value] of values) principals[to!]!.set(name, replaced[name] ?? value);
    } else if (assigned !== undefined) {
      const names = assigned.split(', ');
      if (held.has(names[0]!)) continue;
      const inputs = args!.split(', ').map((name) => (name === 'nil' ? EMPTY : get(held, name)));
      const results = PRIMITIVES[primitive!]!(inputs, names.length);
      if (results === undefined) {
        if (check === '') throw new Error(`nothing checks: ${line}`);
        return { principals, messages, halted: line };
      }
      for (const [i, name] of names.entries()) held.set(name, results[i]!);
    } else if (!/^(?:attacker\[active\]|(?:knows|generates|leaks) .*|\]|)$/.test(line)) {
      throw new Error(`a statement that this does not know: ${line}`);
    }
  }
  return { principals, messages, halted: undefined };
}

const EMPTY = new Uint8Array(0);

function get(held: Values, name: string): Uint8Array {
  const value = held.get(name);
  if (value === undefined) throw new Error(`the model uses ${name}, which was not given`);
  return value;
}

/** What each primitive of Verifpal stands for. `undefined` if its check fails. */
const PRIMITIVES: {
  readonly [name: string]: (inputs: Uint8Array[], outputs: number) => Uint8Array[] | undefined;
} = {
  ASSERT: ([a, b]) => (Buffer.compare(a!, b!) === 0 ? [EMPTY] : undefined),
  CONCAT: (parts) => [Buffer.concat(parts)],
  HASH: (parts) => [nodeCrypto.sha256(...parts)],
  HKDF: ([salt, material], outputs) => {
    const key = nodeCrypto.hmacSha256(salt!, material!);
    const results: Uint8Array[] = [];
    for (let i = 1; i <= outputs; i++) {
      results.push(nodeCrypto.hmacSha256(key, results.at(-1) ?? EMPTY, new Uint8Array([i])));
    }
    return results;
  },
  PUBKEY: ([privateKey]) => [nodeCrypto.x25519.publicKey(privateKey!)],
  DH_KEX: ([publicKey, privateKey]) => [nodeCrypto.x25519.sharedSecret(privateKey!, publicKey!)],
  AEAD_ENC: ([key, nonce, plaintext, data]) => [cipher(key!).seal(nonce!, data!, plaintext!)],
  AEAD_DEC: ([key, nonce, sealed, data]) => {
    const plaintext = cipher(key!).open(nonce!, data!, sealed!);
    return plaintext && [plaintext];
  },
};

function cipher(key: Uint8Array): ReturnType<NonNullable<typeof nodeCrypto.ciphers.ChaChaPoly>> {
  return nodeCrypto.ciphers.ChaChaPoly!(key);
}

/** A nonce of ChaChaPoly. */
export function nonce(counter: number): Bytes {
  const bytes = new Uint8Array(12);
  bytes[4] = counter;
  return bytes;
}

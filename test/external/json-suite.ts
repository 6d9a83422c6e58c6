/**
 * Suites of files for JSON parsers, as JSONTestSuite: `y_….json` must be read, `n_….json` must be refused, and
 * `i_….json` is left to the parser. What was read must keep its canonical form when that is read again.
 */
import { bytesToHex } from '../../src/bytes.ts';
import { RemoteError } from '../../src/errors.ts';
import { parseJson } from '../../src/wire/parse-json.ts';
import { canonicalJson } from '../../src/wire/write-json.ts';
import { answers, Mismatch, refuses, type Vector, type VectorSet } from './vector-set.ts';

/** Reads one file of a suite, known by its name; `undefined` where it is something else. */
export function jsonSuite(name: string, content: Uint8Array): VectorSet | undefined {
  const [, verdict] = /^([yni])_.*\.json$/.exec(name) ?? [];
  if (verdict === undefined) return undefined;
  const set = { kind: 'JSON parsing', skipped: new Map<string, number>(), isPartOfMany: true };
  return { ...set, vectors: [vector(name, verdict, content)] };
}

function vector(name: string, verdict: string, content: Uint8Array): Vector {
  // RFC 8259 leaves duplicate keys to the reader. What is signed and compared must not read differently elsewhere.
  if (/^y_object_duplicated_key/.test(name)) {
    return {
      name,
      remark: 'stricter on purpose: a duplicate key is refused',
      run: () => refuses('parseJson', 'RemoteError [duplicate-key]', () => canonicalJson(parseJson(content))),
    };
  }
  return { name, run: () => check(verdict, content) };
}

function check(verdict: string, content: Uint8Array): void {
  let canonical: Uint8Array;
  try {
    canonical = canonicalJson(parseJson(content));
  } catch (error) {
    if (error instanceof RemoteError && verdict !== 'y') return;
    throw new Mismatch('parseJson', verdict === 'y' ? 'a value' : 'a value, or a RemoteError', `${error}`);
  }
  if (verdict === 'n') throw new Mismatch('parseJson', 'a RemoteError', Buffer.from(canonical).toString());
  answers('canonicalJson, read and written again', bytesToHex(canonical), () =>
    canonicalJson(parseJson(canonical)),
  );
}

/**
 * Test suites for JSON parsers, in the form of JSONTestSuite: `y_….json` must be accepted, `n_….json` rejected, and
 * `i_….json` may be either. The canonical form of what was accepted must not change when it is parsed again.
 */
import { bytesToHex } from '../../src/bytes.ts';
import { RemoteError } from '../../src/errors.ts';
import { parseJson } from '../../src/wire/parse-json.ts';
import { canonicalJson } from '../../src/wire/write-json.ts';
import {
  expectError,
  expectResult,
  Mismatch,
  type Vector,
  type VectorSet,
  withoutProvider,
} from './vector-set.ts';

/** Reads one file of a suite, recognised by its name. Returns `undefined` for other files. */
export function jsonSuite(name: string, content: Uint8Array): VectorSet | undefined {
  const [, verdict] = /^([yni])_.*\.json$/.exec(name) ?? [];
  if (verdict === undefined) return undefined;
  const set = { kind: 'JSON parsing', skipped: new Map<string, number>(), isPartOfMany: true };
  return { ...set, vectors: [vector(name, verdict, content)] };
}

function vector(name: string, verdict: string, content: Uint8Array): Vector {
  // RFC 8259 leaves duplicate keys to the parser. What is authenticated must not mean something else elsewhere.
  if (/^y_object_duplicated_key/.test(name)) {
    return {
      name,
      remark: 'stricter on purpose: duplicate keys are rejected',
      runs: withoutProvider(() =>
        expectError('parseJson', 'RemoteError [duplicate-key]', () => canonicalJson(parseJson(content))),
      ),
    };
  }
  return { name, runs: withoutProvider(() => check(verdict, content)) };
}

function check(verdict: string, content: Uint8Array): void {
  let canonical: Uint8Array;
  try {
    canonical = canonicalJson(parseJson(content));
  } catch (error) {
    if (error instanceof RemoteError && verdict !== 'y') return;
    throw new Mismatch('parseJson', verdict === 'y' ? 'a value' : 'a value or a RemoteError', `${error}`);
  }
  if (verdict === 'n') throw new Mismatch('parseJson', 'a RemoteError', Buffer.from(canonical).toString());
  expectResult('canonicalJson, parsed and written again', bytesToHex(canonical), () =>
    canonicalJson(parseJson(canonical)),
  );
}

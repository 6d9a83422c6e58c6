/**
 * The matrix of `test/interop/run`: each test of a peer is a row. matrix.json has the result of each, which the tests require
 * and docs/evidence/interop.md shows. The rows of a run are printed when all tests have run, with their times.
 */
import { readFileSync } from 'node:fs';
import * as assert from 'uvu/assert';

/** What a test is about. */
interface Subject {
  readonly peer: string;
  readonly version: string;
  /** The role of the peer. */
  readonly role: 'client' | 'hub' | 'both';
  readonly pattern: string;
  /** What the test does. */
  readonly what: string;
}

export interface Row extends Subject {
  readonly suite: string;
  /** The seed of random inputs, for the name of the test. */
  readonly seed?: number | string;
}

/** Tests with the same result under each of the suites. */
export interface Known extends Subject {
  readonly suites: readonly string[];
  /** `agrees` if the peer follows the spec. A list if it depends on timing. */
  readonly result: string | readonly string[];
}

export const MATRIX: readonly Known[] = JSON.parse(
  readFileSync(new URL('matrix.json', import.meta.url), 'utf8'),
);

const HEAD = ['peer', 'version', 'role', 'pattern', 'suite', 'what', 'result', 'ms'];
const rows: string[][] = [];

/** The results that matrix.json has for a test. */
function resultsOf({ suite, ...subject }: Row): readonly string[] {
  const fields = ['peer', 'version', 'role', 'pattern', 'what'] as const;
  const found = MATRIX.filter(
    (known) => known.suites.includes(suite) && fields.every((field) => known[field] === subject[field]),
  );
  return found.flatMap(({ result }) => result);
}

/** Adds a test that is also a row. `run` returns how the peer differs from the spec, if the test shows that it does. */
export function compare(
  test: (name: string, run: () => Promise<void>) => void,
  row: Row,
  run: () => Promise<string | undefined>,
): void {
  const { peer, version, role, pattern, suite, what, seed } = row;
  const name = `${peer} as ${role}, ${pattern}, ${suite}: ${what}`;
  test(seed === undefined ? name : `${name}, with seed ${seed}`, async () => {
    const start = performance.now();
    let result = 'FAILED';
    try {
      result = (await run()) ?? 'agrees';
      assert.ok(
        resultsOf(row).includes(result),
        `matrix.json has another result for this row: it is now "${result}"`,
      );
    } finally {
      rows.push([peer, version, role, pattern, suite, what, result, (performance.now() - start).toFixed(0)]);
    }
  });
}

process.on('exit', () => {
  if (rows.length === 0) return;
  console.log();
  for (const cells of [HEAD, HEAD.map(() => '---'), ...rows]) console.log(`| ${cells.join(' | ')} |`);
});

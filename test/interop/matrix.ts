/** The matrix of `npm run test:interop`: every test of a stranger is one row, printed when all have run. */

export interface Row {
  /** Who it is, and the version that ran. */
  peer: string;
  version: string;
  /** What the stranger is; we are the other side. */
  role: 'client' | 'hub';
  pattern: string;
  suite: string;
  /** What was done, in a few words. */
  what: string;
}

const HEAD = ['peer', 'version', 'role', 'pattern', 'suite', 'what', 'result', 'ms'];
const rows: string[][] = [];

/** A uvu test that is also a row; `run` answers how the peer disagrees, where it is known to and the test shows it. */
export function compare(
  test: (name: string, run: () => Promise<void>) => void,
  row: Row,
  run: () => Promise<string | undefined>,
): void {
  const { peer, version, role, pattern, suite, what } = row;
  test(`${peer} as ${role}, ${pattern}, ${suite}: ${what}`, async () => {
    const start = performance.now();
    let result = 'FAILED';
    try {
      result = (await run()) ?? 'agrees';
    } finally {
      rows.push([peer, version, role, pattern, suite, what, result, (performance.now() - start).toFixed(0)]);
    }
  });
}

process.on('exit', () => {
  console.log();
  for (const cells of [HEAD, HEAD.map(() => '---'), ...rows]) console.log(`| ${cells.join(' | ')} |`);
});

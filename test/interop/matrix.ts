/** The matrix of `npm run test:interop`: each test of a peer is a row. It is printed when all tests have run. */

export interface Row {
  peer: string;
  version: string;
  /** The role of the peer. */
  role: 'client' | 'hub' | 'both';
  pattern: string;
  suite: string;
  /** What the test does. */
  what: string;
}

const HEAD = ['peer', 'version', 'role', 'pattern', 'suite', 'what', 'result', 'ms'];
const rows: string[][] = [];

/** Adds a test that is also a row. `run` returns how the peer differs from the spec, if the test shows that it does. */
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

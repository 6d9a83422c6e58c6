/** Failures that are known, single tests, and what changed since the last run. */
import { readFileSync } from 'node:fs';
import { CannotRun } from './adapter.ts';
import { vectorFiles, vectorsId } from './vectors.ts';
import type { Verdict } from './verdict.ts';

/** Whether this names one test, such as `session-178`: its file and its tcId. */
export function isTestName(name: string): boolean {
  const [, file] = /^(.+)-\d+$/.exec(name) ?? [];
  return file !== undefined && vectorFiles().includes(file);
}

/** The name of a test in one word, as for --only and in a file of known failures. */
export function wordOf({ name }: Pick<Verdict, 'name'>): string {
  return name.replace(' ', '-');
}

/**
 * Reads the names of known failures, one a line, with comments after #.
 * @throws CannotRun if there is no such file
 */
export function readKnown(path: string): string[] {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new CannotRun(`--known: ${(error as Error).message}`);
  }
  const lines = text.split('\n').map((line) => line.replace(/#.*/, '').trim());
  return lines.filter((line) => line !== '');
}

/** Marks the failures that are known. */
export function withKnown(verdicts: readonly Verdict[], known: readonly string[]): Verdict[] {
  return verdicts.map((verdict) =>
    verdict.result === 'failed' && known.includes(wordOf(verdict)) ? { ...verdict, isKnown: true } : verdict,
  );
}

/** The known failures that pass now, so that the file need not have them. */
export function fixedOf(verdicts: readonly Verdict[], known: readonly string[]): string[] {
  const passed = new Set(verdicts.filter(({ result }) => result === 'passed').map(wordOf));
  return known.filter((name) => passed.has(name));
}

/** The last result of each test, by its name, in this run and earlier ones of the same kind. */
export interface Results {
  readonly [name: string]: Verdict['result'];
}

/** The results of an earlier judge.json; none if there is no such file, or if it is of another command or another --spec-only. */
export function resultsIn(path: string, subject: string, isSpecOnly: boolean): Results {
  try {
    const report = JSON.parse(readFileSync(path, 'utf8'));
    return report.subject === subject && report.isSpecOnly === isSpecOnly ? Object(report.results) : {};
  } catch {
    return {};
  }
}

/** The results with those of this run. */
export function withResults(earlier: Results, verdicts: readonly Verdict[]): Results {
  return {
    ...earlier,
    ...Object.fromEntries(verdicts.map((verdict) => [wordOf(verdict), verdict.result])),
  };
}

const MOST_NAMED = 10;

/** One line for the tests whose result is another one than the last time; empty if there are none. */
export function changesSince(earlier: Results, verdicts: readonly Verdict[]): string {
  const fixed = verdicts.filter(
    (verdict) => verdict.result === 'passed' && earlier[wordOf(verdict)] === 'failed',
  );
  const fresh = verdicts
    .filter(
      (verdict) => verdict.result === 'failed' && !['failed', undefined].includes(earlier[wordOf(verdict)]),
    )
    .map(wordOf);
  if (fixed.length + fresh.length === 0) return '';
  const names = fresh.slice(0, MOST_NAMED).join(', ');
  const more = fresh.length > MOST_NAMED ? ', …' : '';
  return `since the last run: ${fixed.length} fixed, ${fresh.length} new${names && `: ${names}${more}`}`;
}

const escaped = (text: string): string =>
  text
    .replace(/[<>&"]/g, (character) => `&#${character.charCodeAt(0)};`)
    .replace(/[^\t\n -\ud7ff\ue000-\ufffd]/g, '?');

/** The verdicts as JUnit writes them, for CI, with the vectors that were used. A known failure is skipped. */
export function toJunit(verdicts: readonly Verdict[]): string {
  const cases = verdicts.map((verdict) => {
    const { operation, comment, result, failure, defect, milliseconds, isKnown } = verdict;
    const inner = (): string => {
      if (result === 'declined') return '<skipped message="declined"/>';
      if (isKnown) return '<skipped message="a known failure"/>';
      if (result === 'defect') return `<error>${escaped(defect ?? '')}</error>`;
      if (failure === undefined) return '';
      const { where, expected, got } = failure.difference;
      const cause = failure.causes.join('; or ') || where;
      return `<failure message="${escaped(cause)}">${escaped(`${where}\nexpected ${expected}\ngot ${got}`)}</failure>`;
    };
    const name = escaped(`${wordOf(verdict)} ${comment}`);
    return `<testcase classname="${operation}" name="${name}" time="${milliseconds / 1000}">${inner()}</testcase>`;
  });
  const count = (result: Verdict['result']): number =>
    verdicts.filter((verdict) => verdict.result === result).length;
  const { version, sha256 } = vectorsId();
  const counts = `tests="${verdicts.length}" failures="${count('failed')}" errors="${count('defect')}" skipped="${count('declined')}"`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuite name="hub-protocol-judge" ${counts}>\n<properties><property name="vectors" value="${version} ${sha256}"/></properties>\n${cases.join('\n')}\n</testsuite>\n`;
}

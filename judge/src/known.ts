/** Failures that are known, single tests, and what changed since the last run. */
import { readFileSync } from 'node:fs';
import { CannotRun } from './adapter.ts';
import { vectorFiles } from './vectors.ts';
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

/** The names of the failures in an earlier judge.json; `undefined` if there is none. */
export function failuresIn(path: string): string[] | undefined {
  try {
    const { verdicts } = JSON.parse(readFileSync(path, 'utf8')) as { verdicts: readonly Verdict[] };
    return verdicts.filter(({ result }) => result === 'failed').map(wordOf);
  } catch {
    return undefined;
  }
}

const MOST_NAMED = 10;

/** One line for what changed since an earlier run; empty if nothing did. */
export function changesSince(earlier: readonly string[], verdicts: readonly Verdict[]): string {
  const failed = verdicts.filter(({ result }) => result === 'failed').map(wordOf);
  const fixed = fixedOf(verdicts, earlier);
  const fresh = failed.filter((name) => !earlier.includes(name));
  if (fixed.length + fresh.length === 0) return '';
  const names = fresh.slice(0, MOST_NAMED).join(', ');
  const more = fresh.length > MOST_NAMED ? ', …' : '';
  return `since the last run: ${fixed.length} fixed, ${fresh.length} new${names && `: ${names}${more}`}`;
}

const escaped = (text: string): string =>
  text
    .replace(/[<>&"]/g, (character) => `&#${character.charCodeAt(0)};`)
    .replace(/[^\t\n -\ud7ff\ue000-\ufffd]/g, '?');

/** The verdicts as JUnit writes them, for CI. A known failure is skipped. */
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
  const counts = `tests="${verdicts.length}" failures="${count('failed')}" errors="${count('defect')}" skipped="${count('declined')}"`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuite name="hub-protocol-judge" ${counts}>\n${cases.join('\n')}\n</testsuite>\n`;
}

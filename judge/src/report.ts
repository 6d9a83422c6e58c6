/** Verdicts as a table to read, as JSON, and as JUnit's XML. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Verdict } from './judge.ts';

const CAUSES = 10; // that are shown
const TESTS = 3; // that are shown of each

export interface Summary {
  readonly capability: string;
  readonly passed: number;
  readonly failed: number;
  readonly declined: number;
}

/** A line for each capability, in the order in which they came. */
export function summarize(verdicts: readonly Verdict[]): Summary[] {
  const capabilities = [...new Set(verdicts.map(({ capability }) => capability))];
  return capabilities.map((capability) => {
    const count = (result: Verdict['result']): number =>
      verdicts.filter((verdict) => verdict.capability === capability && verdict.result === result).length;
    return { capability, passed: count('passed'), failed: count('failed'), declined: count('declined') };
  });
}

/** Passed where something was judged, and nothing failed. */
export function hasPassed(verdicts: readonly Verdict[]): boolean {
  return (
    verdicts.some(({ result }) => result === 'passed') && verdicts.every(({ result }) => result !== 'failed')
  );
}

/** The failures, a few of each cause, and then the table. */
export function toText(verdicts: readonly Verdict[]): string {
  const lines = failuresToLines(verdicts);
  const summary = summarize(verdicts);
  const width = Math.max(...summary.map(({ capability }) => capability.length), 'capability'.length);
  const row = (name: string, ...cells: unknown[]): string =>
    name.padEnd(width) + cells.map((cell) => String(cell).padStart(10)).join('');
  lines.push(row('capability', 'passed', 'failed', 'declined'));
  for (const { capability, passed, failed, declined } of summary) {
    lines.push(row(capability, passed, failed, declined));
  }
  const total = (field: 'passed' | 'failed' | 'declined'): number =>
    summary.reduce((sum, line) => sum + line[field], 0);
  lines.push(row('all', total('passed'), total('failed'), total('declined')));
  return `${lines.join('\n')}\n`;
}

/**
 * By cause. Where causes were found by their effects, only those are shown: most other failures follow from them, and
 * whoever has set them right runs the judge again.
 */
function failuresToLines(verdicts: readonly Verdict[]): string[] {
  const failed = verdicts.filter(({ result }) => result === 'failed');
  const found = failed.filter(({ failure }) => failure!.isFound);
  const explained = found.length > 0 ? found : failed;
  const lines: string[] = [];
  const causes = [...new Set(explained.map(({ failure }) => failure!.cause))];
  for (const cause of causes.slice(0, CAUSES)) {
    const same = explained.filter(({ failure }) => failure!.cause === cause);
    const capabilities = summarize(same).map(({ capability, failed }) => `${failed} of ${capability}`);
    lines.push(`FAILED ${capabilities.join(', ')}`, `  ${found.length > 0 ? 'cause' : 'about'}: ${cause}`);
    for (const { name, comment, failure } of same.slice(0, TESTS)) {
      const { where, offset, expected, got } = failure!.difference;
      lines.push(
        `  ${name}${comment && ` (${comment})`}`,
        `    ${where}${offset === undefined ? '' : `, differs at ${offset}`}`,
        `    expected ${expected}`,
        `    got      ${got}`,
      );
    }
    if (same.length > TESTS) lines.push(`  … and ${same.length - TESTS} more`);
    lines.push('');
  }
  if (causes.length > CAUSES) lines.push(`… and ${causes.length - CAUSES} more causes`, '');
  const others = failed.length - explained.length;
  if (others > 0)
    lines.push(`${others} other failures may well follow from these: set these right first`, '');
  return lines;
}

export function toJson(subject: string, verdicts: readonly Verdict[]): string {
  const report = { subject, passed: hasPassed(verdicts), summary: summarize(verdicts), verdicts };
  return `${JSON.stringify(report, undefined, 1)}\n`;
}

/** A test suite for each capability, a test case for each verdict. */
export function toJunit(subject: string, verdicts: readonly Verdict[]): string {
  const lines = ['<?xml version="1.0" encoding="UTF-8"?>', `<testsuites name="${escapeXml(subject)}">`];
  for (const { capability, passed, failed, declined } of summarize(verdicts)) {
    const tests = passed + failed + declined;
    lines.push(
      ` <testsuite name="${escapeXml(capability)}" tests="${tests}" failures="${failed}" skipped="${declined}">`,
    );
    for (const verdict of verdicts) {
      if (verdict.capability !== capability) continue;
      const { name, comment, milliseconds, result, failure } = verdict;
      const title = `${name}${comment && ` (${comment})`}`;
      const attributes = `classname="${escapeXml(capability)}" name="${escapeXml(title)}" time="${milliseconds / 1000}"`;
      if (result === 'passed') {
        lines.push(`  <testcase ${attributes}/>`);
      } else if (result === 'declined') {
        lines.push(`  <testcase ${attributes}><skipped/></testcase>`);
      } else {
        const { where, offset, expected, got } = failure!.difference;
        const place = `${where}${offset === undefined ? '' : ` at ${offset}`}`;
        lines.push(
          `  <testcase ${attributes}>`,
          `   <failure message="${escapeXml(failure!.cause)}">${escapeXml(`${place}: expected ${expected}, got ${got}`)}</failure>`,
          '  </testcase>',
        );
      }
    }
    lines.push(' </testsuite>');
  }
  return `${lines.join('\n')}\n</testsuites>\n`;
}

/** As XML can hold it: what XML forbids, and what it reads as markup, goes in escaped form. */
function escapeXml(text: string): string {
  return text.replace(/[^\t\n\x20-\ud7ff\ue000-\ufffd]|[<>&"]/gu, (character) => {
    const code = character.codePointAt(0)!;
    const allowed = code >= 0x20 && (code < 0xd800 || code > 0xdfff) && code !== 0xfffe && code !== 0xffff;
    return allowed ? `&#${code};` : `\\u${code.toString(16).padStart(4, '0')}`;
  });
}

/** Writes judge.json and judge.xml into a folder. */
export function writeReports(folder: string, subject: string, verdicts: readonly Verdict[]): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'judge.json'), toJson(subject, verdicts));
  writeFileSync(join(folder, 'judge.xml'), toJunit(subject, verdicts));
}

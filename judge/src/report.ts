/** Verdicts as text for people, and as JSON. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { OPERATIONS } from './checks/checks.ts';
import type { Difference } from './difference.ts';
import {
  byPlainness,
  type Group,
  groupFailures,
  LIVE,
  MAX_TESTS,
  SCENES,
  type Summary,
  summarize,
  UNKNOWN,
} from './groups.ts';
import { wordOf } from './known.ts';
import { printable } from './printable.ts';
import { vectorsId } from './vectors.ts';
import type { Verdict } from './verdict.ts';

const MAX_GROUPS = 10; // shown
const MAX_LINE = 1000; // characters shown

const CHOICE = 'a choice of hub-protocol, which a port may make otherwise: --spec-only leaves it out';

/** 0: something passed and nothing failed. 1: something failed. 2: nothing was tested, or the judge has a defect. */
export function exitStatus(verdicts: readonly Verdict[]): 0 | 1 | 2 {
  const has = (result: Verdict['result']): boolean => verdicts.some((verdict) => verdict.result === result);
  if (verdicts.some(({ result, isKnown }) => result === 'failed' && !isKnown)) return 1;
  return has('passed') && !has('defect') ? 0 : 2;
}

/** The failures in groups, a few of each, and the table of operations. */
export function toText(verdicts: readonly Verdict[]): string {
  const known = verdicts.filter(({ isKnown }) => isKnown).length;
  const shown = verdicts.filter(({ isKnown }) => !isKnown);
  const lines = [...failuresToLines(shown), ...defectsToLines(verdicts)];
  if (known > 0) lines.push(known === 1 ? '1 failure is known' : `${known} failures are known`, '');
  const summary = summarize(verdicts);
  const width = Math.max(...summary.map(({ operation }) => operation.length), 'operation'.length);
  const row = (name: string, ...cells: unknown[]): string =>
    name.padEnd(width) + cells.map((cell) => String(cell).padStart(10)).join('');
  lines.push(row('operation', 'passed', 'failed', 'declined'));
  for (const { operation, passed, failed, declined } of summary) {
    lines.push(row(operation, passed, failed, declined));
  }
  const total = (field: 'passed' | 'failed' | 'declined'): number =>
    summary.reduce((sum, line) => sum + line[field], 0);
  lines.push(row('all', total('passed'), total('failed'), total('declined')));
  const isNothing = verdicts.every(({ result }) => result === 'declined');
  if (isNothing && verdicts.length > 0) lines.push('', nothingTested(summary));
  return `${lines.map(cut).join('\n')}\n`;
}

/** The last lines of a run: where to begin. A terminal shows the end of a long report, and its causes are above. */
export function beginWith(verdicts: readonly Verdict[]): string[] {
  const names = OPERATIONS.map(({ name }) => name);
  const placeOf = ({ verdicts }: Group): number =>
    Math.min(...verdicts.map(({ operation }) => names.indexOf(operation)));
  const groups = groupFailures(verdicts.filter(({ isKnown }) => !isKnown));
  const [first] = groups.sort((a, b) => placeOf(a) - placeOf(b));
  if (first === undefined) return [];
  const [plainest] = [...first.verdicts].sort(byPlainness) as [Verdict];
  const isLive = plainest.operation === LIVE;
  const { where, expected, got } = plainest.failure!.difference;
  const isSaid = first.title !== UNKNOWN && first.title !== SCENES;
  const what = isSaid ? first.title : `${where}: expected ${expected}, got ${got}`;
  const name = isLive ? plainest.name : wordOf(plainest);
  const { length } = first.verdicts;
  const which =
    length === 1
      ? 'this failure'
      : isSaid
        ? `what ${length} failures have in common`
        : `the simplest of ${length} failures`;
  return [
    `Begin with ${which}:`,
    `  ${what}`,
    `  It shows in ${plainest.name}: run it alone with --only ${isLive ? JSON.stringify(name) : name}`,
  ].map(cut);
}

/** What to do after a run in which the adapter declined everything. */
function nothingTested([first, ...others]: readonly Summary[]): string {
  const next =
    others.length === 0 ? `implement ${first!.operation}` : `begin with --only ${first!.operation}`;
  return `Nothing was tested, since the adapter declined everything: ${next}`;
}

/** Any line may contain an implementation's text. */
function cut(line: string): string {
  return line.length > MAX_LINE ? `${line.slice(0, MAX_LINE)}…` : line;
}

function failuresToLines(all: readonly Verdict[]): string[] {
  const failed = all.filter(({ result }) => result === 'failed');
  const groups = groupFailures(all);
  const lines: string[] = [];
  for (const { title, verdicts } of groups.slice(0, MAX_GROUPS)) {
    const counts = summarize(verdicts).map(({ operation, failed }) => `${failed} of ${operation}`);
    lines.push(`FAILED ${counts.join(', ')}`, `  ${title}`);
    const rule = ruleIn(verdicts, all);
    if (rule !== undefined) lines.push(`  rule: ${rule}`);
    if (verdicts.every(({ isChoice }) => isChoice)) lines.push(`  ${CHOICE}`);
    const plainest = [...verdicts].sort(byPlainness);
    const shown = verdicts[0]!.operation === LIVE ? plainest : plainest.slice(0, MAX_TESTS);
    for (const verdict of shown) lines.push(...failureToLines(verdict));
    if (verdicts.length > shown.length) lines.push(`  … and ${verdicts.length - shown.length} more`);
    lines.push('');
  }
  if (groups.length > MAX_GROUPS) lines.push(`… and ${groups.length - MAX_GROUPS} more groups`, '');
  const shown = new Set(groups.flatMap(({ verdicts }) => verdicts));
  lines.push(...followersToLines(failed.filter((verdict) => !shown.has(verdict))));
  return lines;
}

/** The rule that all of these tests are about, if it is one, and if most of its tests fail. */
function ruleIn(verdicts: readonly Verdict[], all: readonly Verdict[]): string | undefined {
  const isCommon = (rule: string): boolean => verdicts.every(({ rules }) => rules?.includes(rule));
  const isBroken = (rule: string): boolean => {
    const own = all.filter(({ rules }) => rules?.includes(rule));
    return 2 * own.filter(({ result }) => result === 'failed').length > own.length;
  };
  const rules = (verdicts[0]!.rules ?? []).filter((rule) => isCommon(rule) && isBroken(rule));
  return rules.length === 1 ? rules[0] : undefined;
}

/** The number of other failures of each operation, and the plainest of them. */
function followersToLines(others: readonly Verdict[]): string[] {
  if (others.length === 0) return [];
  const lines = summarize(others).map(({ operation, failed }) => {
    const [{ name, comment }] = others
      .filter((verdict) => verdict.operation === operation)
      .sort(byPlainness) as [Verdict];
    return `  ${failed} of ${operation}, the simplest: ${name}${comment && ` (${comment})`}`;
  });
  return [
    `${others.length} other failure${others.length === 1 ? '' : 's'} may follow from these: fix these first`,
    ...lines,
    '',
  ];
}

function failureToLines({ name, comment, failure }: Verdict): string[] {
  const { difference, wrongValue } = failure!;
  const value = wrongValue === undefined ? [] : differenceToLines(wrongValue);
  return [`  ${name}${comment && ` (${comment})`}`, ...value, ...differenceToLines(difference)];
}

function differenceToLines({ where, offset, expected, got, caret, text }: Difference): string[] {
  const both = (expected: string, got: string, caret: number | undefined): string[] => [
    `    expected ${expected}`,
    `    got      ${got}`,
    ...(caret === undefined ? [] : [`             ${' '.repeat(caret)}^`]),
  ];
  return [
    `    ${where}${offset === undefined ? '' : `, differs at ${offset}`}`,
    ...(text === undefined ? [] : both(text.expected, text.got, text.caret)),
    ...both(expected, got, caret),
  ];
}

function defectsToLines(verdicts: readonly Verdict[]): string[] {
  const defects = verdicts.filter(({ result }) => result === 'defect');
  if (defects.length === 0) return [];
  const names = defects.map(({ name }) => name).join(', ');
  return [
    `DEFECT of the judge in ${names}: this says nothing about your implementation. Please report it:`,
    `  ${defects[0]!.defect!.split('\n').slice(0, 4).join('\n  ')}`,
    '',
  ];
}

/** @param run - what was run: the version of the judge, the subject, and the last result of each test */
export function toJson(run: { readonly [field: string]: unknown }, verdicts: readonly Verdict[]): string {
  const passed = exitStatus(verdicts) === 0;
  const report = { ...run, vectors: vectorsId(), passed, summary: summarize(verdicts), verdicts };
  return printable(`${JSON.stringify(report, undefined, 1)}\n`);
}

/** The file with every verdict. */
export const REPORT = 'judge.json';

/** Writes judge.json into a folder and returns its path. */
export function writeReport(folder: string, json: string): string {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, REPORT);
  writeFileSync(path, json);
  return path;
}

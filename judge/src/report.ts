/** Verdicts as text for people, and as JSON. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { OPERATIONS } from './checks/checks.ts';
import { wordOf } from './known.ts';
import { printable } from './printable.ts';
import type { Verdict } from './verdict.ts';

const MAX_GROUPS = 10; // shown
const MAX_TESTS = 3; // shown of each group
const MAX_LINE = 1000; // characters shown
const MAX_CAUSES = 3; // named if several explain the same failures

const CHOICE = 'a choice of hub-protocol, which a port may make otherwise: --spec-only leaves it out';

/** Shown in full, since each scene is about something else. */
const LIVE = 'live';

export interface Summary {
  readonly operation: string;
  readonly passed: number;
  readonly failed: number;
  readonly declined: number;
}

/** One line per operation, in the order of the verdicts. */
export function summarize(verdicts: readonly Verdict[]): Summary[] {
  const operations = [...new Set(verdicts.map(({ operation }) => operation))];
  return operations.map((operation) => {
    const count = (result: Verdict['result']): number =>
      verdicts.filter((verdict) => verdict.operation === operation && verdict.result === result).length;
    return { operation, passed: count('passed'), failed: count('failed'), declined: count('declined') };
  });
}

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
  if (known > 0) lines.push(`${known} failures are known`, '');
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
  const isSaid = first.title !== UNKNOWN && first.title !== ACCEPTED && first.title !== SCENES;
  const what = isSaid ? first.title : `${where}: expected ${expected}, got ${got}`;
  const name = isLive ? plainest.name : wordOf(plainest);
  const { length } = first.verdicts;
  const which =
    length === 1
      ? 'this failure'
      : isSaid
        ? `what ${length} failures have in common`
        : `the plainest of ${length} failures`;
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

export interface Group {
  /** The cause of the failures, or what they have in common. */
  readonly title: string;
  readonly verdicts: readonly Verdict[];
}

/** The causes of a failure in one string, empty if none is known. */
function causeOf({ failure }: Verdict): string {
  const causes = failure?.causes ?? [];
  const others = causes.length - MAX_CAUSES;
  return [...causes.slice(0, MAX_CAUSES), ...(others > 0 ? [`${others} others`] : [])].join('; or ');
}

function failuresToLines(verdicts: readonly Verdict[]): string[] {
  const failed = verdicts.filter(({ result }) => result === 'failed');
  const groups = groupFailures(verdicts);
  const lines: string[] = [];
  for (const { title, verdicts } of groups.slice(0, MAX_GROUPS)) {
    const counts = summarize(verdicts).map(({ operation, failed }) => `${failed} of ${operation}`);
    lines.push(`FAILED ${counts.join(', ')}`, `  ${title}`);
    const rules = rulesIn(verdicts, failed);
    if (rules.length > 0) lines.push(`  ${rules.length > 1 ? 'rules' : 'rule'}: ${rules.join(', ')}`);
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

const MAX_RULES = 3; // shown

/** The rules that all of these tests are about, those of the fewest failures first. */
function rulesIn(verdicts: readonly Verdict[], failed: readonly Verdict[]): string[] {
  const [first, ...others] = verdicts;
  const common = (first?.rules ?? []).filter((rule) => others.every(({ rules }) => rules?.includes(rule)));
  const count = (rule: string): number => failed.filter(({ rules }) => rules?.includes(rule)).length;
  return common.sort((a, b) => count(a) - count(b)).slice(0, MAX_RULES);
}

/** The number of other failures of each operation, and the plainest of them. */
function followersToLines(others: readonly Verdict[]): string[] {
  if (others.length === 0) return [];
  const lines = summarize(others).map(({ operation, failed }) => {
    const [{ name, comment }] = others
      .filter((verdict) => verdict.operation === operation)
      .sort(byPlainness) as [Verdict];
    return `  ${failed} of ${operation}, the plainest: ${name}${comment && ` (${comment})`}`;
  });
  return [`${others.length} other failures may follow from these: fix these first`, ...lines, ''];
}

/** Required actions come before required refusals, and short tests before long ones. */
function byPlainness(a: Verdict, b: Verdict): number {
  return Number(a.isRefusal ?? false) - Number(b.isRefusal ?? false) || (a.size ?? 0) - (b.size ?? 0);
}

function failureToLines({ name, comment, failure }: Verdict): string[] {
  const { where, offset, expected, got, text } = failure!.difference;
  const asText =
    text === undefined
      ? []
      : [
          `    expected ${text.expected}`,
          `    got      ${text.got}`,
          `             ${' '.repeat(text.caret)}^`,
        ];
  return [
    `  ${name}${comment && ` (${comment})`}`,
    `    ${where}${offset === undefined ? '' : `, differs at ${offset}`}`,
    ...asText,
    `    expected ${expected}`,
    `    got      ${got}`,
  ];
}

/** The failures to show, grouped by cause. */
export function groupFailures(verdicts: readonly Verdict[]): Group[] {
  const failed = verdicts.filter(({ result }) => result === 'failed');
  const groups = [...groupByCause(failed), ...groupByOperation(verdicts)];
  const shown = new Set(groups.flatMap(({ verdicts }) => verdicts));
  return [...groups, ...groupAcceptances(failed.filter((verdict) => !shown.has(verdict)))];
}

const SCENES = 'scenes:';
const UNKNOWN = 'no known mistake explains them; the plainest:';
const ACCEPTED =
  'no known mistake explains these, in which something is accepted that has to be refused; the plainest:';

/** Failures that cannot follow from others: an implementation with another mistake still refuses. */
function groupAcceptances(failed: readonly Verdict[]): Group[] {
  const accepting = failed.filter(({ failure }) => failure!.accepts);
  return summarize(accepting).map(({ operation }) => {
    const verdicts = accepting.filter((verdict) => verdict.operation === operation);
    return { title: ACCEPTED, verdicts };
  });
}

function groupByCause(failed: readonly Verdict[]): Group[] {
  const causes = new Set(failed.map(causeOf).filter((cause) => cause !== ''));
  return [...causes].map((cause) => ({
    title: `cause: ${cause}`,
    verdicts: failed.filter((verdict) => causeOf(verdict) === cause),
  }));
}

/** The failures of each operation without a known cause, unless they may follow from the failures of another operation. */
function groupByOperation(verdicts: readonly Verdict[]): Group[] {
  const failuresOf = (operation: string): Verdict[] =>
    verdicts.filter((verdict) => verdict.operation === operation && verdict.result === 'failed');
  const isExplained = (operation: string): boolean => failuresOf(operation).some(causeOf);
  /** Whether most failures have a cause, from which the others may follow. */
  const isMostlyExplained = (failed: readonly Verdict[]): boolean =>
    2 * failed.filter(causeOf).length >= failed.length;
  const groups: Group[] = [];
  const seen = new Set<string>();
  for (const { operation } of summarize(verdicts)) {
    const failed = failuresOf(operation);
    seen.add(operation);
    const uses = OPERATIONS.find(({ name }) => name === operation)?.uses ?? [];
    const fails = (used: string): boolean =>
      seen.has(used) && used !== operation && failuresOf(used).length > 0;
    if (uses.some((used) => isExplained(used) || fails(used))) continue;
    if (operation !== LIVE && isMostlyExplained(failed)) continue; // each scene is about something else
    const unexplained = failed.filter((verdict) => causeOf(verdict) === '');
    const all = verdicts.filter((verdict) => verdict.operation === operation);
    let isUnknown = false; // then choices most likely fail for the same reason
    for (const isChoice of [false, true]) {
      const part = unexplained.filter((verdict) => isChoice === (verdict.isChoice ?? false));
      if (part.length === 0) continue;
      groups.push({ title: isUnknown ? UNKNOWN : titleOf(part, all), verdicts: part });
      isUnknown = groups.at(-1)!.title === UNKNOWN;
      // Failures of choices may follow from the others.
      const isMany = part.length > MAX_TESTS && part.length > MANY * all.length;
      if (uses.includes(operation) || isMany) break;
    }
  }
  return groups;
}

/** A flag's note is shown if at least this share of failures has the flag, and at most this share of the passed tests. */
const MOST = 0.8;
const FEW = 0.25;
/** The flag of tests that go on after a failure. */
const AFTERWARDS = 'AfterFailure';
/** If a larger share of an operation's tests fails, they fail for one reason rather than several. */
const MANY = 0.25;
/** How many tests with the flag may pass for each one that fails. */
const ODDS = 8;

/**
 * The notes of flags that nearly all failures have, and few of the tests that passed. Otherwise the names of the tests, as
 * when one mistake makes most tests fail, since a flag then says little.
 */
function titleOf(failed: readonly Verdict[], all: readonly Verdict[]): string {
  const passed = all.filter(({ result }) => result === 'passed');
  const count = (verdicts: readonly Verdict[], flag: string): number =>
    verdicts.filter(({ notes }) => notes?.[flag] !== undefined).length;
  const uses = OPERATIONS.find(({ name }) => name === failed[0]!.operation)?.uses ?? [];
  const follow = uses.includes(failed[0]!.operation);
  // The flags of handshakes say how keys and payloads were chosen, which explains few failures and never many.
  const isHandshake = failed[0]!.operation === 'handshake';
  const odds = isHandshake ? 0 : ODDS;
  const isAfterwards = failed.every(({ failure }) => failure!.difference.where.startsWith('results'));
  const isBroad = failed.length > all.length * (follow ? 0.1 : MANY);
  const flags = new Map(failed.flatMap(({ notes }) => Object.entries(notes ?? {})));
  const notes = [...flags].filter(([flag]) => {
    if (flag === AFTERWARDS) return false; // the failure before it is what matters
    const others = count(passed, flag);
    const isCommon = others > FEW * passed.length || passed.length === 0;
    const isChance = others > (isBroad ? 1 : odds) * failed.length;
    if (isHandshake && (isBroad || isAfterwards)) return false;
    return count(failed, flag) >= (isBroad ? 1 : MOST) * failed.length && !isCommon && !isChance;
  });
  const effect = effectOf(failed);
  if (notes.length > 0 && effect !== undefined) {
    // Of several subjects, the one that the fewest other tests have says the most.
    const [, note] = [...notes].sort(([a], [b]) => count(passed, a) - count(passed, b))[0]!;
    const example = [...failed].sort(byPlainness)[0]!.comment;
    return `cause: ${effect}${example && `, such as: ${example}`}. ${firstOf(note)}`;
  }
  const difference = commonDifference(failed);
  const comments = commentsOf(failed);
  const isLive = failed[0]!.operation === LIVE;
  if (difference !== undefined && !isLive) {
    const [note] = notes.filter(([flag]) => !OF_CLOSING.test(flag)).map(([, text]) => text);
    return `cause: ${difference}${note === undefined ? exampleOf(failed, comments) : `. ${firstOf(note)}`}`;
  }
  if (notes.length > 0) return `about: ${notes.map(([, note]) => note).join(' ')}`;
  if (isLive) return SCENES;
  if (effect === ACCEPTS) return `cause: ${effect}${exampleOf(failed, comments)}`;
  const code = formCodeOf(failed);
  if (effect === REFUSES && comments !== undefined) return `cause: ${effect}: ${comments}`;
  if (code !== undefined) return `cause: ${REFUSES}, as ${code}${exampleOf(failed, undefined)}`;
  return comments === undefined ? UNKNOWN : `about: ${comments}`;
}

/** The notes about how a connection ended. */
const OF_CLOSING = /^(?:close code|status) /;

/** The first sentence of a note. */
const firstOf = (note: string): string => note.replace(/(?<=\.) .*/s, '');

const MAX_VALUE = 100; // characters of two values
const MAX_PAIRS = 2; // of what is expected and what comes instead

/** What is wrong in all of these responses, if it is the same. */
function commonDifference(failed: readonly Verdict[]): string | undefined {
  const differences = failed.map(({ failure }) => failure!.difference);
  const names = differences.map(({ where }) => where.replace(/^step \d+, |\[\d+\]/g, ''));
  const [name] = names as [string];
  const isOne = names.every((other) => other === name);
  if (!isOne || !/\./.test(name) || /bytes|text/.test(name)) return undefined; // a field of a structure
  const isAlways = (value: string): boolean => differences.every(({ got }) => got === value);
  if (isAlways('nothing')) return `${name} is missing`;
  const pairs = new Map(differences.map(({ expected, got }) => [expected, got]));
  if (isAlways('null') && pairs.size > 1) return `${name} is null where it has a value`;
  const isSame = differences.every(({ expected, got }) => pairs.get(expected) === got);
  const isShort = differences.every(({ expected, got }) => expected.length + got.length <= MAX_VALUE);
  if (!isSame || !isShort || pairs.size > MAX_PAIRS) return undefined;
  const all = [...pairs].map(([expected, got]) => `${got} where it is ${expected}`);
  return `${name} is ${all.join(', and ')}`;
}

/** What the failures are about: all of them if they are few, else the plainest that shows the effect. */
function exampleOf(failed: readonly Verdict[], comments: string | undefined): string {
  if (comments !== undefined) return `: ${comments}`;
  const shown = failed.filter(({ failure }) => failure!.accepts || failure!.refuses);
  const [plainest] = [...(shown.length > 0 ? shown : failed)].sort(byPlainness) as [Verdict];
  return plainest.comment && `, such as: ${plainest.comment}`;
}

/** Codes of refusals that say what a message looks like, which no wrong key leads to. */
const OF_FORM =
  /^(?:bad-(?!handshake)|duplicate-|envelope-|json-|lone-|message-too-|missing-|protocol-|unexpected-|unknown-)/;

/** The code with which an implementation refuses in all of these tests, if some of them must be accepted. */
function formCodeOf(failed: readonly Verdict[]): string | undefined {
  const codes = new Set(failed.map(({ failure }) => failure!.difference.code));
  const [code] = codes;
  const isSo = codes.size === 1 && code !== undefined && OF_FORM.test(code);
  return isSo && failed.some(({ failure }) => failure!.refuses) ? code : undefined;
}

const ACCEPTS = 'accepts what has to be refused';
const REFUSES = 'refuses what has to be accepted';

/** What an implementation does wrong in all of these tests, if it is the same. */
function effectOf(failed: readonly Verdict[]): string | undefined {
  if (failed.every(({ failure }) => failure!.accepts)) return ACCEPTS;
  // Where the check is left out, another one may refuse the same.
  const [first] = failed as [Verdict];
  const isOneRefusal = failed.every(
    ({ isRefusal, failure }) =>
      isRefusal && !failure!.refuses && failure!.difference.expected === first.failure!.difference.expected,
  );
  if (isOneRefusal && failed.some(({ failure }) => failure!.accepts)) return ACCEPTS;
  return failed.every(({ failure }) => failure!.refuses) ? REFUSES : undefined;
}

/** What a few tests are about, one by one. */
function commentsOf(failed: readonly Verdict[]): string | undefined {
  const comments = [...new Set(failed.map(({ comment }) => comment).filter((comment) => comment !== ''))];
  return failed.length <= MAX_TESTS && comments.length > 0 ? comments.join('; ') : undefined;
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

export function toJson(judge: string, subject: string, verdicts: readonly Verdict[]): string {
  const passed = exitStatus(verdicts) === 0;
  const report = { judge, subject, passed, summary: summarize(verdicts), verdicts };
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

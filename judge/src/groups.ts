/** Groups of failures, and what each has in common: a known mistake, or what the implementation does wrong in all of them. */
import { OPERATIONS } from './checks/checks.ts';
import { commonChange, type Difference } from './difference.ts';
import type { Verdict } from './verdict.ts';

/** Shown in full, since each scene is about something else. */
export const LIVE = 'live';
export const MAX_TESTS = 3; // shown of each group
const MAX_CAUSES = 3; // named if several explain the same failures

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

/** The failures to show, grouped by cause. */
export function groupFailures(verdicts: readonly Verdict[]): Group[] {
  const failed = verdicts.filter(({ result }) => result === 'failed');
  const groups = [...groupByCause(failed), ...groupByOperation(verdicts)];
  const shown = new Set(groups.flatMap(({ verdicts }) => verdicts));
  return [...groups, ...groupAcceptances(failed.filter((verdict) => !shown.has(verdict)))];
}

export const SCENES = 'scenes:';
export const UNKNOWN = 'no known mistake explains them; the simplest:';

/** Failures that cannot follow from others: an implementation with another mistake still refuses. */
function groupAcceptances(failed: readonly Verdict[]): Group[] {
  const accepting = failed.filter(({ failure }) => failure!.accepts);
  return summarize(accepting).map(({ operation }) => {
    const verdicts = accepting.filter((verdict) => verdict.operation === operation);
    const title = `about: an implementation ${ACCEPTS}${exampleOf(verdicts, commentsOf(verdicts))}`;
    return { title, verdicts };
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
      const own: Group[] = isUnknown ? [{ title: UNKNOWN, verdicts: part }] : divided(part, all);
      groups.push(...own);
      isUnknown = own.at(-1)!.title === UNKNOWN;
      // Failures of choices may follow from the others.
      const isMany = part.length > MAX_TESTS && part.length > MANY * all.length;
      if (uses.includes(operation) || isMany) break;
    }
  }
  return groups;
}

const MAX_KINDS = 3; // into which failures are divided
/** The least share of the failures that one kind of them must have. */
const LEAST = 0.2;

/**
 * The failures in one group, or in several if they have nothing in common but each kind of them has. What is left then most likely
 * follows from these.
 */
function divided(failed: readonly Verdict[], all: readonly Verdict[]): Group[] {
  const whole = { title: titleOf(failed, all), verdicts: failed };
  if (isNamed(whole) || failed[0]!.operation === LIVE) return [whole];
  return kindsOf(failed, all, 'says') ?? kindsOf(failed, all, 'gist') ?? [whole];
}

/** The kinds of failures that have something in common, if most have. */
function kindsOf(
  failed: readonly Verdict[],
  all: readonly Verdict[],
  how: 'says' | 'gist',
): Group[] | undefined {
  const kinds = new Map<string, Verdict[]>();
  for (const verdict of failed) {
    const kind = kindOf(verdict, how);
    kinds.set(kind, [...(kinds.get(kind) ?? []), verdict]);
  }
  const groups = [...kinds.values()]
    .filter((verdicts) => verdicts.length >= LEAST * failed.length && !isOfKeys(verdicts[0]!))
    .map((verdicts) => ({ title: titleOf(verdicts, all), verdicts }))
    .filter(isNamed)
    .sort((a, b) => b.verdicts.length - a.verdicts.length)
    .slice(0, MAX_KINDS);
  const count = groups.reduce((sum, { verdicts }) => sum + verdicts.length, 0);
  return 2 * count >= failed.length ? groups : undefined;
}

/** Whether something was refused with a code that a wrong key leads to as well. */
const isOfKeys = ({ failure }: Verdict): boolean =>
  failure!.refuses === true && OF_KEYS.test(String(failure!.difference.code));

const isNamed = ({ title }: Group): boolean => title.startsWith('cause: ');

/** What is wrong in a failure, without its values. */
function kindOf({ failure }: Verdict, how: 'says' | 'gist'): string {
  const { accepts, refuses, difference } = failure!;
  const said = difference[how];
  if (said !== undefined) return said;
  return accepts ? 'accepts' : refuses ? `refuses as ${difference.code}` : fieldOf(difference);
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
    // Nor does a flag that all handshakes have which must not fail.
    const isOfAll = all.every(({ isRefusal, notes }) => isRefusal || notes?.[flag] !== undefined);
    if (isHandshake && (isBroad || isAfterwards || isOfAll)) return false;
    return count(failed, flag) >= (isBroad ? 1 : MOST) * failed.length && !isCommon && !isChance;
  });
  const effect = effectOf(failed);
  if (notes.length > 0 && effect !== undefined) {
    // Of several subjects, the one that the fewest other tests have says the most.
    const [, note] = [...notes].sort(([a], [b]) => count(passed, a) - count(passed, b))[0]!;
    const example = [...failed].sort(byPlainness)[0]!.comment;
    return `cause: ${effect}${example && `, such as: ${example}`}${refusedAs(failed, effect)}. ${firstOf(note)}`;
  }
  const difference = commonDifference(failed);
  const comments = commentsOf(failed);
  const isLive = failed[0]!.operation === LIVE;
  if (difference !== undefined && !isLive) {
    const [note] = notes.filter(([flag]) => !OF_CLOSING.test(flag)).map(([, text]) => text);
    return `cause: ${difference}${note === undefined ? exampleOf(failed, comments) : `. ${firstOf(note)}`}`;
  }
  const said = isLive
    ? undefined
    : (saidOf(failed, 'says') ?? saidOf(failed, 'gist') ?? changeIn(failed) ?? wrongIn(failed));
  if (said !== undefined) {
    // A note of which few tests fail is about something else.
    const isOwn = (flag: string): boolean => count(failed, flag) >= count(passed, flag);
    const [note] = notes.filter(([flag]) => !OF_CLOSING.test(flag) && isOwn(flag)).map(([, text]) => text);
    return `cause: ${said}${note === undefined ? exampleOf(failed, comments) : `. ${firstOf(note)}`}`;
  }
  if (notes.length > 0) return `about: ${notes.map(([, note]) => note).join(' ')}`;
  if (isLive) return SCENES;
  if (effect === ACCEPTS) return `cause: ${effect}${exampleOf(failed, comments)}${refusedAs(failed, effect)}`;
  const code = formCodeOf(failed);
  if (effect === REFUSES && comments !== undefined)
    return `cause: ${effect}: ${comments}${refusedAs(failed, effect)}`;
  if (code !== undefined) return `cause: ${REFUSES}, as ${code}${exampleOf(failed, undefined)}`;
  const refusal = isBroad ? undefined : refusalIn(failed);
  if (refusal !== undefined) return `cause: ${refusal}${exampleOf(failed, comments)}`;
  return comments === undefined ? UNKNOWN : `about: ${comments}`;
}

/** What the implementation does wrong in all of these tests, if each check says the same. */
function saidOf(failed: readonly Verdict[], how: 'says' | 'gist'): string | undefined {
  const [said, ...others] = new Set(failed.map(({ failure }) => failure!.difference[how]));
  return others.length === 0 ? said : undefined;
}

/** How one field differs in all of these responses. */
function changeIn(failed: readonly Verdict[]): string | undefined {
  const differences = failed.map(({ failure }) => failure!.difference);
  const names = new Set(differences.map(fieldOf));
  if (names.size !== 1 || !failed.every(({ failure }) => isOfField(failure!))) return undefined;
  const change = commonChange(
    differences.map(({ expected, got, whole }) => [
      parsedValue(whole?.expected ?? expected),
      parsedValue(whole?.got ?? got),
    ]),
  );
  return change === undefined ? undefined : `${[...names][0]} ${change}`;
}

/** The field that is wrong in all of these responses, each time in another way. */
function wrongIn(failed: readonly Verdict[]): string | undefined {
  const names = new Set(failed.map(({ failure }) => fieldOf(failure!.difference)));
  if (names.size !== 1 || !failed.every(({ failure }) => isOfField(failure!))) return undefined;
  const { expected, got } = [...failed].sort(byPlainness)[0]!.failure!.difference;
  const wrong =
    got === 'nothing' ? 'is missing' : failed.length === 1 ? `is ${got}` : `is wrong: it is ${got}`;
  return `${[...names][0]} ${wrong} where it is ${expected}`;
}

/** The name of the field in a difference. */
const fieldOf = ({ where }: Difference): string => where.replace(/^step \d+, |\[\d+\]/g, '');

/** Whether one field has another value that says something, which keys and sealed messages do not. */
function isOfField({ accepts, refuses, difference }: NonNullable<Verdict['failure']>): boolean {
  const { code, where, expected, got } = difference;
  const isOfWhole =
    where === 'adapter' || /^(?:the error |events: |success)/.test(expected) || / the error /.test(got);
  return !accepts && !refuses && code === undefined && !isOfWhole && !isBytes(expected) && !isBytes(got);
}

const isBytes = (text: string): boolean => /^…?(?:[\da-f]{2}){8,}/.test(text);

/** A value from the text that a difference has of it. */
function parsedValue(text: string): unknown {
  try {
    return JSON.parse(text.replace(/ \(ends\)$/, ''));
  } catch {
    return text;
  }
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
  const names = differences.map(fieldOf);
  const [name] = names as [string];
  const isOne = names.every((other) => other === name);
  if (!isOne || !/\./.test(name) || /\b(?:bytes|text)\b/.test(name)) return undefined; // a field of a structure
  if (differences.every(({ gist }) => gist !== undefined)) return undefined; // which says more
  const isAlways = (value: string): boolean => differences.every(({ got }) => got === value);
  if (isAlways('nothing')) return `${name} is missing`;
  const pairs = new Map(differences.map(({ expected, got }) => [expected, got]));
  if (isAlways('null') && pairs.size > 1) return `${name} is null where it has a value`;
  const isSame = differences.every(({ expected, got }) => pairs.get(expected) === got);
  const isShort = differences.every(({ expected, got }) => expected.length + got.length <= MAX_VALUE);
  if (!isSame || !isShort || pairs.size > MAX_PAIRS) return undefined;
  const all = [...pairs]
    .map((pair) => pair.map(plainOf))
    .map(([right, got]) => `${got} where it is ${right}`);
  return `${name} is ${all.join(', and ')}`;
}

/** A value without what says that it is a code. */
const plainOf = (value: string): string => value.replace(/^the error ("[^"]*").*$/, '$1');

/** What the failures are about: all of them if they are few, else the plainest that shows the effect. */
function exampleOf(failed: readonly Verdict[], comments: string | undefined): string {
  if (comments !== undefined) return `: ${comments}`;
  const shown = failed.filter(({ failure }) => failure!.accepts || failure!.refuses);
  const [plainest] = [...(shown.length > 0 ? shown : failed)].sort(byPlainness) as [Verdict];
  return plainest.comment && `, such as: ${plainest.comment}`;
}

/** Codes that a wrong key leads to as well, and words that say nothing. */
const OF_KEYS =
  /^(?:.*-(?:authentic|differs)|kk-failed|low-order-key|nonce-exhausted|bad-handshake-payload|crypto-failed|refused)$/;

/** Codes of refusals that say what a message looks like, which no wrong key leads to. */
const OF_FORM =
  /^(?:bad-(?!handshake)|duplicate-|envelope-|identity-|json-|lone-|message-too-|missing-|no-|plaintext-|protocol-|topic-|unexpected-|unknown-|unsupported-)/;

/** The code with which an implementation refuses in all of these tests, if some of them must be accepted. */
function formCodeOf(failed: readonly Verdict[]): string | undefined {
  const codes = new Set(failed.map(({ failure }) => failure!.difference.code));
  const [code] = codes;
  const isSo = codes.size === 1 && code !== undefined && OF_FORM.test(code);
  return isSo && failed.some(({ failure }) => failure!.refuses) ? code : undefined;
}

/** The code with which all of these are refused, or have to be, in brackets; nothing if they differ. */
function refusedAs(failed: readonly Verdict[], effect: string): string {
  const [code, ...others] = new Set(
    failed.map(({ failure }) => {
      const { code, expected } = failure!.difference;
      return effect === REFUSES ? code : /^the error "([^"]+)"/.exec(expected)?.[1];
    }),
  );
  if (code === undefined || others.length > 0 || !OF_FORM.test(code)) return '';
  return effect === REFUSES ? ` (refused as ${code})` : ` (${code})`;
}

/** One part of a message that is refused with one code, even if a wrong key leads to it as well. */
function refusalIn(failed: readonly Verdict[]): string | undefined {
  const said = failed.map(({ failure }) => {
    const { refuses, difference } = failure!;
    return refuses && difference.code !== undefined ? `${fieldOf(difference)} as ${difference.code}` : '';
  });
  const [one, ...others] = new Set(said);
  return one && others.length === 0 ? `refuses what has to be accepted: ${one}` : undefined;
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

/** Required actions come before required refusals, and short tests before long ones. */
export function byPlainness(a: Verdict, b: Verdict): number {
  return Number(a.isRefusal ?? false) - Number(b.isRefusal ?? false) || (a.size ?? 0) - (b.size ?? 0);
}

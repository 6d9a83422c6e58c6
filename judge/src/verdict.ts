/** The outcome of one test, and how a check reports anything but success. */
import { CannotRun, type Fields } from './adapter.ts';
import { type Difference, firstDifference, show } from './difference.ts';
import { LOCAL_ERRORS, REMOTE_ERRORS } from './protocol.ts';
import { refusalCodes, type Vector } from './vectors.ts';

/** The description of a test before it runs. */
export interface TestCase {
  /** The operation under test, or `live`. */
  readonly operation: string;
  /** File and tcId of a vector, or the name of a scene. */
  readonly name: string;
  /** Of a vector. */
  readonly file?: string;
  readonly tcId?: number;
  readonly comment: string;
  /** The subject of the test, and the meaning of each of these flags. */
  readonly notes?: { readonly [flag: string]: string };
  /** Orders failures for the reader: the plainest first. Length of the vector in characters. */
  readonly size?: number;
  /** Whether the protocol leaves the outcome open, and hub-protocol has chosen one. */
  readonly isChoice?: boolean;
  /** The rules of docs/reference/protocol.md that it tests. */
  readonly rules?: readonly string[];
  /** Whether the implementation must refuse something. Required actions come first in a report. */
  readonly isRefusal?: boolean;
}

/** Known mistakes, each of which explains the effect. */
export type Causes = readonly string[];

export interface Verdict extends TestCase {
  /** `defect`: the judge itself failed, not the implementation. */
  readonly result: 'passed' | 'failed' | 'declined' | 'defect';
  readonly milliseconds: number;
  /** Whether the failure is in the file of known ones. */
  readonly isKnown?: true;
  /** Why a scene was declined. */
  readonly reason?: string;
  readonly failure?: {
    readonly difference: Difference;
    /** The first value that the adapter has traced and that is wrong. */
    readonly wrongValue?: Difference;
    /** The known mistakes that explain the difference. */
    readonly causes: Causes;
    /** Whether something was accepted that must be refused. No mistake about correct input leads to that. */
    readonly accepts?: boolean;
    /** Whether something was refused that must be accepted. */
    readonly refuses?: boolean;
  };
  /** Stack of the judge's own error. */
  readonly defect?: string;
}

/** Thrown by a check: the implementation did not do what the test expects. */
export class Failure extends Error {
  readonly difference: Difference;
  readonly causes: Causes;
  /** Whether something was accepted that must be refused. */
  readonly accepts: boolean;
  /** Whether something was refused that must be accepted. */
  readonly refuses: boolean;

  /** In live mode: whether the other side goes on after what must end the connection. */
  get isGoingOn(): boolean {
    return this.difference.where.startsWith('after ');
  }

  constructor(difference: Difference, causes: Causes = [], accepts = false, refuses = false) {
    super(`${difference.where}: expected ${difference.expected}, got ${difference.got}`);
    this.difference = difference;
    this.causes = causes;
    this.accepts = accepts;
    this.refuses = refuses;
  }
}

/** Thrown by a check: the implementation does not offer a feature that the test needs. The message may say why. */
export class Declined extends Error {}

/**
 * Runs one check. Anything that it throws becomes a verdict: a run always continues.
 * @throws CannotRun
 */
export async function runTest(test: TestCase, check: () => Promise<void>): Promise<Verdict> {
  const start = performance.now();
  const verdict = (outcome: Pick<Verdict, 'result' | 'failure' | 'defect' | 'reason'>): Verdict => ({
    ...test,
    ...outcome,
    milliseconds: Math.round(performance.now() - start),
  });
  try {
    await check();
    return verdict({ result: 'passed' });
  } catch (error) {
    if (error instanceof CannotRun) throw error;
    if (error instanceof Declined)
      return verdict({ result: 'declined', ...(error.message !== '' && { reason: error.message }) });
    if (error instanceof Failure) {
      const { difference, causes, accepts, refuses } = error;
      const failure = { difference, causes, ...(accepts && { accepts }), ...(refuses && { refuses }) };
      return verdict({ result: 'failed', failure });
    }
    return verdict({ result: 'defect', defect: (error as Error)?.stack ?? String(error) });
  }
}

/**
 * Keeps, of the causes of each failure, those that explain the most failures of all: one mistake is likelier than several.
 * Causes that no failure distinguishes all stay.
 */
export function narrowCauses(verdicts: readonly Verdict[]): Verdict[] {
  const counts = new Map<string, number>();
  for (const { failure } of verdicts) {
    for (const cause of failure?.causes ?? []) counts.set(cause, (counts.get(cause) ?? 0) + 1);
  }
  return verdicts.map((verdict) => {
    if (verdict.failure === undefined) return verdict;
    const { causes } = verdict.failure;
    const most = Math.max(...causes.map((cause) => counts.get(cause)!));
    const likeliest = causes.filter((cause) => counts.get(cause) === most);
    return { ...verdict, failure: { ...verdict.failure, causes: likeliest } };
  });
}

/** Checks a response against what a test expects: these fields, or a refusal. */
export function checkResponse(
  test: Pick<Vector, 'error' | 'otherErrors'>,
  response: Fields,
  expected: Fields,
  findCauses?: () => Causes,
): void {
  if (test.otherErrors?.includes(String(response.error))) return;
  if (test.error !== undefined) checkRefusal(test.error, response, 'error', findCauses);
  else checkFields(response, expected, findCauses);
}

export function checkFields(response: Fields, expected: Fields, findCauses?: () => Causes): void {
  if (response.error !== undefined) {
    const where = Object.keys(expected).join(', ') || 'response';
    const got = `the error ${show(response.error)}`;
    const difference = { where, expected: 'success', got, ...codeOf(response.error) };
    throw new Failure(difference, findCauses?.(), false, refuses(response.error));
  }
  checkValue('', expected, response, findCauses);
}

const UPPER_CASE =
  'hexadecimal: the adapter writes upper-case digits; the adapter protocol has lower-case ones';

/** Compares two JSON values. Fields that only `got` has are ignored. */
export function checkValue(where: string, expected: unknown, got: unknown, findCauses?: () => Causes): void {
  const difference = firstDifference(where, expected, got);
  if (difference === undefined) return;
  // In an envelope, a sealed message and a session id the implementation has written the digits, not the adapter.
  const isOfAdapter = !/\btext\b|the sealed message|sessionId$/.test(where);
  const isUpperCase = isOfAdapter && firstDifference(where, expected, withLowerCaseHex(got)) === undefined;
  throw new Failure(difference, isUpperCase ? [UPPER_CASE] : findCauses?.());
}

function withLowerCaseHex(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value ?? null), (_name, inner) =>
    typeof inner === 'string' && /^[\da-fA-F]+$/.test(inner) ? inner.toLowerCase() : inner,
  );
}

const OWN_WORDS =
  'refusals: the adapter answers with its own words; it should answer with the code of the vector or, if the implementation does not distinguish causes, with "refused" (--spec-only takes any words)';

/** Whether this is a refusal, not a crash of the implementation, which adapters report as `raised …`. */
export function refuses(error: unknown): error is string {
  return typeof error === 'string' && error !== '' && !error.startsWith('raised ');
}

/** The code of a refusal, for a difference. */
export function codeOf(error: unknown): { readonly code?: string } {
  return refuses(error) ? { code: error } : {};
}

function isOwnWord(error: unknown): boolean {
  return refuses(error) && !refusalCodes().has(error) && !(error in MEANINGS);
}

/** The sentence for another code than the right one. */
function saidOf(code: string, error: unknown, where: string): { readonly says?: string } {
  if (!refuses(error)) return {};
  const what = /, (\w+\.error)$/.exec(where)?.[1] ?? 'the error';
  const means = MEANINGS[code]?.means;
  return {
    says: `${what} is ${show(error)} where it is ${show(code)}${means === undefined ? '' : ` (${means})`}`,
  };
}

const MEANINGS: { readonly [code: string]: { readonly means: string } } = {
  ...LOCAL_ERRORS,
  ...REMOTE_ERRORS,
};

/** An implementation refuses with the code of the vector, or with `refused` if it does not distinguish causes. */
export function checkRefusal(
  code: string,
  { id, ...response }: Fields,
  where = 'error',
  findCauses?: () => Causes,
): void {
  if (response.error === code || response.error === 'refused') return;
  const { error } = response;
  const got = error === undefined ? show(response) : `the error ${show(error)}`;
  const causes = isOwnWord(error) ? [OWN_WORDS] : findCauses?.();
  throw new Failure(
    {
      where,
      expected: `the error ${show(code)}, or "refused"`,
      got,
      ...codeOf(error),
      ...saidOf(code, error, where),
    },
    causes,
    error === undefined,
  );
}

/**
 * Sends a request to the adapter.
 * @throws Declined if the adapter declines, Failure if it gives no valid response
 */
export type Ask = (request: Fields) => Promise<Fields>;

/** The check of a vector: what it asks the adapter, and what its result rules out. */
export interface Check {
  readonly operation: string;
  /** @throws Failure, Declined */
  check(test: Vector, ask: Ask): Promise<void>;
  /** Whether passing this test, or failing it in this way, rules out the mistake of this cause. */
  refutes?(test: Vector, verdict: Verdict, cause: string): boolean;
}

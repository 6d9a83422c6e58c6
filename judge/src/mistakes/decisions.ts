/** Decisions with one mistake: the choice of an implementation that makes it. */
import type { Fields } from '../adapter.ts';
import { OFFERED_SUITES } from '../protocol.ts';
import type { Vector } from '../vectors.ts';
import type { Causes } from '../verdict.ts';
import { TLS_IGNORED } from './addresses.ts';

interface Mistake {
  readonly cause: string;
  /** The choice, or undefined for a refusal. */
  choose(test: Vector): unknown;
}

const KK = 'KKpsk0';
const XX = 'XXpsk2';

const firstCommon = ({ own, suites }: Vector): string | undefined =>
  own.find((suite: string) => suites.includes(suite));
const patternOf = ({ patterns, pinned }: Vector): string | undefined =>
  pinned && patterns.includes(KK) ? KK : patterns.includes(XX) ? XX : undefined;

/** A selection with a suite and a pattern, each chosen in some way. */
function selection(
  cause: string,
  { suite = firstCommon, pattern = patternOf }: { [part in 'suite' | 'pattern']?: (test: Vector) => unknown },
): Mistake {
  return {
    cause: `selection: ${cause}`,
    choose(test) {
      const [name, chosen] = [suite(test), pattern(test)];
      return name === undefined || chosen === undefined ? undefined : `${chosen} ${name}`;
    },
  };
}

const SELECTIONS: readonly Mistake[] = [
  selection('the hub’s list decides about the suite; the client’s does, in its order', {
    suite: ({ own, suites }) => suites.find((suite: string) => own.includes(suite)),
  }),
  selection('the client’s last suite is taken; the first that the hub offers too is', {
    suite: ({ own, suites }) => own.findLast((suite: string) => suites.includes(suite)),
  }),
  selection('the client’s first suite is taken although it is not offered', { suite: ({ own }) => own[0] }),
  selection('the required suite is taken whatever is offered', { suite: () => OFFERED_SUITES[0] }),
  selection('the required suite is taken where there is none in common', {
    suite: (test) => firstCommon(test) ?? OFFERED_SUITES[0],
  }),
  selection('names are compared without regard to case', {
    suite: ({ own, suites }) =>
      own.find((name: string) => suites.some((other: string) => other.toLowerCase() === name.toLowerCase())),
    pattern: ({ patterns, pinned }) => {
      const lower = patterns.map((name: string) => name.toLowerCase());
      return pinned && lower.includes('kkpsk0') ? KK : lower.includes('xxpsk2') ? XX : undefined;
    },
  }),
  selection('KKpsk0 is taken without a pin', {
    pattern: ({ patterns }) => (patterns.includes(KK) ? KK : patterns.includes(XX) ? XX : undefined),
  }),
  selection('KKpsk0 is taken although it is not offered', {
    pattern: ({ patterns, pinned }) => (pinned ? KK : patterns.includes(XX) ? XX : undefined),
  }),
  selection('XXpsk2 is taken although it is not offered', {
    pattern: ({ patterns, pinned }) => (pinned && patterns.includes(KK) ? KK : XX),
  }),
  selection('XXpsk2 is taken before KKpsk0; with a pin KKpsk0 is, wherever it is offered', {
    pattern: ({ patterns, pinned }) =>
      patterns.includes(XX) ? XX : pinned && patterns.includes(KK) ? KK : undefined,
  }),
  selection('KKpsk0 is never taken; it is where the hub offers it and is pinned', {
    pattern: ({ patterns }) => (patterns.includes(XX) ? XX : undefined),
  }),
  selection('the hub’s first pattern is taken; a pin decides', {
    pattern: ({ patterns }) => patterns.find((name: string) => name === KK || name === XX),
  }),
];

/** The known mistakes that lead to this selection, or to a refusal. */
export function mistakesInSelection(test: Vector, { pattern, suite, error }: Fields): Causes {
  const got = error === undefined ? `${pattern} ${suite}` : undefined;
  return fitting(SELECTIONS, test, got);
}

/** An endpoint of the wrong protocol. */
export function mistakesInPreference(
  { protocol, requested, tls, text }: Vector,
  { protocol: got }: Fields,
): Causes {
  if (protocol === undefined || typeof got !== 'string' || got === protocol) return [];
  const isByFlag = protocol === 'mqtt' && tls && /"tls": ?(?:true|1|"(?:yes|on|true)")/i.test(text);
  if (isByFlag) return [TLS_IGNORED];
  return requested === undefined
    ? [`preference: ${got} is preferred to ${protocol}; first come addresses with TLS: WSS, HTTPS, MQTT`]
    : [`preference: ${got} is taken where ${requested} was requested`];
}

const replaced = (text: string): string => text.replace(/[^A-Za-z0-9_-]/gu, '-');
const cut = (text: string, count = 48): string => [...text].slice(0, count).join('');

/** A client id from the program's name and a mistaken form of the access key. */
function clientId(cause: string, ofKey: (key: string) => string): Mistake {
  return {
    cause: `client id: ${cause}`,
    choose: ({ error, name, accessKey }) => (error === undefined ? `${name}-${ofKey(accessKey)}` : undefined),
  };
}

const CLIENT_IDS: readonly Mistake[] = [
  {
    cause: 'client id: the whole is cut to 48 characters; 48 of the access key are taken',
    choose: ({ error, name, accessKey }) =>
      error === undefined ? `${name}-${replaced(accessKey)}`.slice(0, 48) : undefined,
  },
  clientId('UTF-16 units are counted; a code point is one character', (key) =>
    key.replace(/[^A-Za-z0-9_-]/g, '-').slice(0, 48),
  ),
  clientId('bytes are counted; a code point is one character', (key) =>
    Buffer.from(key)
      .toString('latin1')
      .replace(/[^A-Za-z0-9_-]/g, '-')
      .slice(0, 48),
  ),
  clientId('the access key is not cut to 48 characters', replaced),
  ...[23, 24, 30, 32, 36, 40, 44, 45, 46, 47, 49, 50, 60, 63, 64].map((count) =>
    clientId(`the access key is cut to ${count} characters; 48 are taken`, (key) =>
      cut(replaced(key), count),
    ),
  ),
  clientId('characters are taken as they are; all but letters, digits, _ and - become hyphens', (key) =>
    cut(key),
  ),
  clientId('characters become _; they become hyphens', (key) => cut(key.replace(/[^A-Za-z0-9_-]/gu, '_'))),
  clientId('characters are left out; they become hyphens', (key) => cut(key.replace(/[^A-Za-z0-9_-]/gu, ''))),
  clientId('_ becomes a hyphen; it stays', (key) => cut(key.replace(/[^A-Za-z0-9-]/gu, '-'))),
  clientId('letters of other scripts are kept; keep only ASCII letters', (key) =>
    cut(key.replace(/[^\p{L}\p{N}_-]/gu, '-')),
  ),
  clientId('it is in lower case; letters stay as they are', (key) => cut(replaced(key)).toLowerCase()),
];

/** The known mistakes that lead to this client id. */
export function mistakesInClientId(test: Vector, { clientId: got }: Fields): Causes {
  return fitting(CLIENT_IDS, test, got);
}

const afterColon = (text: string): string => text.slice(text.indexOf(':') + 1);

/** A comparison of two session ids that are strings and not blank. */
function matching(cause: string, compare: (declared: string, returned: string) => boolean): Mistake {
  return {
    cause: `session ids: ${cause}`,
    choose: ({ declared, returned }) =>
      typeof declared === 'string' &&
      typeof returned === 'string' &&
      declared.trim() !== '' &&
      compare(declared, returned),
  };
}

const MATCHES: readonly Mistake[] = [
  matching(
    'they are compared for equality; a hub puts a namespace and a colon before one',
    (declared, returned) => declared === returned,
  ),
  matching('any end of the returned id matches; what follows the first colon does', (declared, returned) =>
    returned.endsWith(declared),
  ),
  matching(
    'what follows the last colon is compared; what follows the first one is',
    (declared, returned) => returned === declared || returned.split(':').at(-1) === declared,
  ),
  matching(
    'the declared id is cut at its colon too; only the returned one is',
    (declared, returned) => afterColon(declared) === afterColon(returned),
  ),
  matching(
    'only what follows a colon is compared; the whole id may match too',
    (declared, returned) => returned.includes(':') && afterColon(returned) === declared,
  ),
  matching('case is ignored', (declared, returned) =>
    [returned, afterColon(returned)].some((id) => id.toLowerCase() === declared.toLowerCase()),
  ),
  {
    cause: 'session ids: blanks match; an id of white space counts as missing',
    choose: ({ declared, returned }) => returned === declared || afterColon(String(returned)) === declared,
  },
];

/** The known mistakes that make these session ids match, or not. */
export function mistakesInMatching(test: Vector, { matches }: Fields): Causes {
  return fitting(MATCHES, test, matches);
}

function fitting(mistakes: readonly Mistake[], test: Vector, got: unknown): Causes {
  return mistakes.filter((mistake) => mistake.choose(test) === got).map(({ cause }) => cause);
}

type Refutes = (test: Vector, cause: string) => boolean;

/** Whether passing a test rules out a mistake, which would have led to another choice. */
const refutedBy =
  (mistakes: readonly Mistake[], right: (test: Vector) => unknown) =>
  (test: Vector, cause: string): boolean => {
    const mistake = mistakes.find((mistake) => mistake.cause === cause);
    return mistake !== undefined && mistake.choose(test) !== right(test);
  };

export const refutesSelection: Refutes = refutedBy(SELECTIONS, ({ error, pattern, suite }) =>
  error === undefined ? `${pattern} ${suite}` : undefined,
);
export const refutesClientId: Refutes = refutedBy(CLIENT_IDS, ({ clientId }) => clientId);
export const refutesMatching: Refutes = refutedBy(MATCHES, ({ matches }) => matches);

const NO_GROWTH = 'pauses: their limit does not grow; it doubles with each connection that ends early';
const NO_CHANCE = 'pauses: each is its whole limit; it is a random part of the limit';
const DRAWS = 2 ** 24;

/** The known mistakes that lead to these pauses of a policy. */
export function mistakesInPauses({ random = [], results = [] }: Vector, { results: got }: Fields): Causes {
  if (!Array.isArray(got)) return [];
  const [rights, others] = [results as Fields[], got as Fields[]].map((all) =>
    all.map((result) => (result?.decision as Fields | null | undefined)?.after).filter(isPause),
  ) as [number[], number[]];
  const isSame = rights.length === others.length && rights.every((pause, at) => pause === others[at]);
  if (isSame || rights.length !== others.length || rights.length === 0) return [];
  const draws = (random as string[]).map((draw) => Number.parseInt(draw, 16));
  const isPart = (part: number, whole: number): boolean =>
    draws.some((draw) => Math.floor((whole * draw) / DRAWS) === part);
  if (rights.every((pause, at) => isPart(pause, others[at]!))) return [NO_CHANCE];
  const isFlat = others.every((pause) => pause === rights[0]) && new Set(random).size === 1;
  return isFlat && rights.length > 1 ? [NO_GROWTH] : [];
}

function isPause(after: unknown): after is number {
  return typeof after === 'number' && after > 0;
}

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
const DRAWS = 2 ** 24;

/** Pauses that are made of the limit and the draw in another way. */
const PAUSES: readonly { readonly cause: string; pause(limit: number, draw: number): number }[] = [
  { cause: 'each is its whole limit; it is a random part of the limit', pause: (limit) => limit },
  {
    cause: 'the three random bytes are read in the other order; the first is the highest',
    pause: (limit, draw) => (limit * (((draw & 0xff) << 16) | (draw & 0xff00) | (draw >> 16))) / DRAWS,
  },
  {
    cause: 'each is at least half of its limit; it may be any part of the limit, from 0 on',
    pause: (limit, draw) => limit / 2 + (limit * draw) / (2 * DRAWS),
  },
  {
    cause: 'each is up to half of its limit; it may be any part of the limit',
    pause: (limit, draw) => (limit * draw) / (2 * DRAWS),
  },
  {
    cause: 'each is the rest of its limit; it is the part that the draw is of 2^24',
    pause: (limit, draw) => limit - (limit * draw) / DRAWS,
  },
  {
    cause: 'only two of the three random bytes are read',
    pause: (limit, draw) => (limit * (draw >> 8)) / 2 ** 16,
  },
  {
    cause: 'only one of the three random bytes is read',
    pause: (limit, draw) => (limit * (draw >> 16)) / 2 ** 8,
  },
];
const RUNS_OUT =
  'pauses: the policy fails; random bytes run out if it draws a pause where it dials at once or asks a person';
const BEYOND = 'pauses: their limit has no maximum; it grows up to maxPause';

/** Whether a policy that fails, with words that are no code, may have drawn more than it is given. */
function runsOut(results: unknown, random: readonly string[], error: unknown): boolean {
  const decisions = (results as Fields[]).filter(
    ({ decision }) => decision !== undefined && decision !== null,
  );
  return typeof error === 'string' && /\s/.test(error) && decisions.length > random.length;
}

/** The pauses of a policy that are not 0, with the draw of each. */
function pausesIn(results: unknown, random: readonly string[]): number[] | undefined {
  if (!Array.isArray(results)) return undefined;
  const pauses = (results as Fields[]).map(
    (result) => (result?.decision as Fields | null | undefined)?.after,
  );
  return pauses.filter((after): after is number => typeof after === 'number').slice(0, random.length);
}

/** A pause with the limit and the draw of which it was made; none for a draw that says too little about the limit. */
function drawn(pause: number, random: string): { limit: number; draw: number; inexact: number } | undefined {
  const draw = Number.parseInt(random, 16);
  return draw < LEAST_DRAW || pause === 0
    ? undefined
    : { limit: (pause * DRAWS) / draw, draw, inexact: 1 + DRAWS / draw };
}

const LEAST_DRAW = 2 ** 20;

/** The known mistakes that lead to these pauses of a policy. */
export function mistakesInPauses(
  { random = [], results = [], options }: Vector,
  { results: got, error }: Fields,
): Causes {
  if (error !== undefined) return runsOut(results, random, error) ? [RUNS_OUT] : [];
  const [rights, others] = [pausesIn(results, random), pausesIn(got, random)];
  if (rights === undefined || others === undefined || rights.length !== others.length) return [];
  if (rights.length === 0 || rights.every((pause, at) => pause === others[at])) return [];
  const all = rights.map((pause, at) => drawn(pause, random[at]));
  const found = PAUSES.filter((mistake) =>
    all.every((one, at) => one && Math.abs(mistake.pause(one.limit, one.draw) - others[at]!) <= one.inexact),
  );
  if (found.length > 0) return found.map(({ cause }) => `pauses: ${cause}`);
  const isFlat = others.every((pause) => pause === rights[0]) && new Set(random).size === 1;
  if (isFlat && rights.length > 1) return [NO_GROWTH];
  const { maxPause = 600_000 } = options ?? {};
  const isBeyond = all.every((one, at) => {
    const isMost = one !== undefined && Math.abs(one.limit - maxPause) <= one.inexact;
    return others[at] === rights[at] || (isMost && others[at]! > rights[at]!);
  });
  return isBeyond ? [BEYOND] : [];
}

/** Whether right pauses in this test rule out the mistake. */
export function refutesPauses({ random = [], results = [] }: Vector, cause: string): boolean {
  const mistake = PAUSES.find((other) => cause === `pauses: ${other.cause}`);
  const pauses = pausesIn(results, random) ?? [];
  if (cause === NO_GROWTH) return new Set(random).size === 1 && new Set(pauses).size > 1;
  const isOther = (pause: number, at: number): boolean => {
    const one = drawn(pause, random[at]);
    return one !== undefined && Math.abs(mistake!.pause(one.limit, one.draw) - pause) > one.inexact;
  };
  return mistake !== undefined && pauses.some(isOther);
}

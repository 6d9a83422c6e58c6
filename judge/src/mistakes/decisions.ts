/** Decisions with one mistake: the choice of an implementation that makes it. */
import type { Fields } from '../adapter.ts';
import { OFFERED_SUITES } from '../protocol.ts';
import type { Vector } from '../vectors.ts';
import type { Causes } from '../verdict.ts';
import { mistakesInPort, TLS_IGNORED } from './addresses.ts';

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
  selection('with a pin the hub’s list decides about the pattern; KKpsk0 is taken wherever it stands', {
    pattern: ({ patterns, pinned }) =>
      patterns.find((name: string) => name === XX || (pinned && name === KK)),
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

const UNSUPPORTED_TAKEN =
  'preference: a requested protocol is taken although the caller does not support it; it is refused';
const UNSUPPORTED_REPLACED =
  'preference: another protocol takes the place of a requested one that the caller does not support; it is refused';
const SLASH_KEPT = 'address: the slash at the end of default_path is kept; the address has none';
const PLAINTEXT_TAKEN = 'plaintext: an address without TLS is taken although the caller does not allow it';

/** An endpoint of the wrong protocol. */
export function mistakesInPreference(test: Vector, { protocol: got, error: refused, url }: Fields): Causes {
  const { protocol, requested, tls, text, error } = test;
  const ofPort = mistakesInPort(test, { error: refused, url });
  if (ofPort.length > 0) return ofPort;
  if (error === 'unsupported-protocol' && typeof got === 'string')
    return [got === requested ? UNSUPPORTED_TAKEN : UNSUPPORTED_REPLACED];
  if (
    typeof url === 'string' &&
    url === `${test.url}/` &&
    /"(?:default_path|defaultPath|hub_http_path|path|uri_path)":\s*"[^"]*\/\s*"/.test(text)
  )
    return [SLASH_KEPT];
  if (error === 'plaintext-endpoint' && typeof got === 'string') return [PLAINTEXT_TAKEN];
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
const drawnAtOnce = (end: string): string =>
  `pauses: one is drawn after ${end}, where the policy dials at once and draws nothing`;

/** The ends after which a policy dials at once. */
function atOnceIn(steps: readonly Fields[], results: readonly Fields[]): string[] {
  const ends = steps.map(({ event }, index) => {
    const { do: what, after } = Object(results[index]?.decision) as Fields;
    const { type, error, pattern } = Object(event) as Fields;
    const isAtOnce = type === 'ended' && what === 'dial' && after === 0;
    return isAtOnce ? `an end with ${error}${pattern === undefined ? '' : ` under ${pattern}`}` : undefined;
  });
  return [...new Set(ends.filter((end) => end !== undefined))];
}

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
export function mistakesInPauses(test: Vector, { results: got, error }: Fields): Causes {
  const { random = [], results = [], options, steps = [] } = test;
  if (error !== undefined)
    return runsOut(results, random, error) ? [RUNS_OUT, ...atOnceIn(steps, results).map(drawnAtOnce)] : [];
  const inDeciding = mistakesInDeciding(test, got);
  if (inDeciding.length > 0) return inDeciding;
  const [rights, others] = [pausesIn(results, random), pausesIn(got, random)];
  if (rights === undefined || others === undefined || rights.length !== others.length) return [];
  if (rights.length === 0 || rights.every((pause, at) => pause === others[at])) return [];
  const all = rights.map((pause, at) => drawn(pause, random[at]));
  const found = PAUSES.filter((mistake) =>
    all.every((one, at) =>
      one
        ? Math.abs(mistake.pause(one.limit, one.draw) - others[at]!) <= one.inexact
        : others[at] === rights[at],
    ),
  );
  const { maxPause = MAX_PAUSE, steadyAfter = 30_000 } = options ?? {};
  const isDoubled =
    all.some((one) => one !== undefined) &&
    all.every((one, at) => {
      if (one === undefined) return true;
      const limit = Math.min(2 * one.limit, maxPause);
      return Math.abs((limit * one.draw) / DRAWS - others[at]!) <= one.inexact;
    });
  if (found.length > 0 || isDoubled)
    return [...found.map(({ cause }) => `pauses: ${cause}`), ...(isDoubled ? [DOUBLED_EARLY] : [])];
  const isFlat = others.every((pause) => pause === rights[0]) && new Set(random).size === 1;
  if (isFlat && rights.length > 1) return [NO_GROWTH];
  const isBeyond = all.every((one, at) => {
    const isMost = one !== undefined && Math.abs(one.limit - maxPause) <= one.inexact;
    return others[at] === rights[at] || (isMost && others[at]! > rights[at]!);
  });
  if (isBeyond) return [BEYOND];
  const at = rights.findIndex((pause, index) => pause !== others[index]);
  return mistakesInGrowth(steps, results, at, others[at]! > rights[at]!, steadyAfter);
}

/** What the first wrong result decides, if it is no pause. */
function mistakesInDeciding({ steps = [], results = [], options }: Vector, got: unknown): Causes {
  const deadlines = options?.deadlines as Fields | undefined;
  if (!Array.isArray(got)) return [];
  const index = (results as Fields[]).findIndex(
    (result, at) => JSON.stringify(result) !== JSON.stringify(got[at]),
  );
  const [step, due, is] = [steps[index], results[index], got[index] as Fields | null | undefined];
  if (step === undefined || due === undefined || !is) return [];
  if (step.do === 'begin') return mistakesInBeginning(due.options, is.options);
  if (step.do === 'deadline' && due.deadline !== is.deadline)
    return [
      ...(isAnew(deadlines, steps, results, got) ? [COUNTS_ANEW] : []),
      `policy: the deadline in ${step.state} is ${is.deadline} where it is ${due.deadline}`,
    ];
  const { type, error } = (step.event ?? {}) as Fields;
  const [right, wrong] = [due, is].map(
    ({ decision }) => (decision as Fields | null | undefined)?.do ?? 'nothing',
  );
  if (step.do !== 'take' || right === wrong) return [];
  return [
    `policy: after ${type === 'ended' ? `an end with ${error}` : type} it says ${wrong} where ${right} is due`,
  ];
}

const COUNTS_ANEW =
  'policy: the deadline of a state counts from the question for it; it counts from when the state began';

const DEADLINE = 30_000; // by default, in milliseconds

const wholeOf = (deadlines: Fields | undefined, state: unknown): unknown =>
  deadlines?.[String(state)] ?? DEADLINE;

/** Whether each deadline that is wrong is a whole one. */
function isAnew(
  deadlines: Fields | undefined,
  steps: readonly Fields[],
  results: readonly Fields[],
  got: readonly unknown[],
): boolean {
  return steps.every(({ do: what, state }: Fields, at: number) => {
    const [due, is] = [results[at], got[at]].map((result) => (result as Fields | null)?.deadline);
    return what !== 'deadline' || due === is || is === wholeOf(deadlines, state);
  });
}

function mistakesInBeginning(right: unknown, wrong: unknown): Causes {
  if (right === null && wrong) return ['policy: `begin` allows a connection where none may be made'];
  if (right && wrong === null) return ['policy: `begin` allows no connection where one may be made'];
  const [due, is] = [right, wrong].map((options) => (options as Fields | undefined)?.patterns !== undefined);
  if (due && !is)
    return ['policy: KKpsk0 is used again where XXpsk2 alone is due, after a KKpsk0 that failed'];
  return is && !due ? ['policy: XXpsk2 alone is used where KKpsk0 may be used again'] : [];
}

const MAX_PAUSE = 600_000; // by default, in milliseconds

const DOUBLED_EARLY =
  'pauses: their limit doubles before the first one; the first limit is basePause, and it doubles after each pause';
const STEADY_KEPT =
  'pauses: a steady connection does not bring their limit back to basePause; one that was ready for steadyAfter does';
const RESUMED_KEPT = 'pauses: `resume` does not bring their limit back to basePause';
const READY_RESETS =
  'pauses: a connection that was ready for less than steadyAfter brings their limit back; only a steady one does';
const STARTING_GROWS =
  'pauses: their limit grows although the hub has not been reachable since the start; for a minute it stays basePause';
const STARTING_STAYS =
  'pauses: their limit does not grow after a minute, or after another end than not-reachable; only then it stays basePause';

/**
 * Why the limit of a pause is another one.
 * @param wrong - the index of the first wrong pause
 * @param isMore - whether it is too long
 */
function mistakesInGrowth(
  steps: readonly Fields[],
  results: readonly Fields[],
  wrong: number,
  isMore: boolean,
  steadyAfter: number,
): Causes {
  let [pauses, readyAt, hasBeenReady] = [0, undefined as number | undefined, false];
  let [wasSteady, wasShort, wasResumed, unreached, others] = [false, false, false, 0, 0];
  for (const [index, { do: what, event: given, at }] of steps.entries()) {
    const event = (given ?? {}) as Fields;
    if (what === 'resume') wasResumed = true;
    if (what !== 'take') continue;
    if (event.type === 'ready') [readyAt, hasBeenReady] = [Number(at), true];
    if (event.type !== 'ended') continue;
    if (readyAt !== undefined) {
      if (Number(at) - readyAt >= steadyAfter) wasSteady = true;
      else wasShort = true;
    }
    readyAt = undefined;
    if (event.error === 'not-reachable') unreached++;
    else others++;
    if (typeof (results[index]?.decision as Fields | null)?.after !== 'number') continue;
    if (pauses++ < wrong) continue;
    if (isMore && !hasBeenReady && unreached > 1 && others === 0) return [STARTING_GROWS];
    if (isMore) return [...(wasSteady ? [STEADY_KEPT] : []), ...(wasResumed ? [RESUMED_KEPT] : [])];
    if (!hasBeenReady && unreached > 0) return [NO_GROWTH, STARTING_STAYS];
    return wasShort && !wasSteady ? [READY_RESETS] : [];
  }
  return [];
}

/** Whether right pauses in this test rule out the mistake. */
export function refutesPauses(
  { random = [], steps = [], results = [], options }: Vector,
  cause: string,
): boolean {
  if (cause === COUNTS_ANEW)
    return steps.some(({ do: what, state }: Fields, at: number) => {
      const due = results[at]?.deadline;
      return what === 'deadline' && typeof due === 'number' && due !== wholeOf(options?.deadlines, state);
    });
  if (atOnceIn(steps, results).some((end) => drawnAtOnce(end) === cause)) return true;
  const mistake = PAUSES.find((other) => cause === `pauses: ${other.cause}`);
  const pauses = pausesIn(results, random) ?? [];
  if (cause === DOUBLED_EARLY)
    return pauses.some(
      (pause, at) => 1.5 * (drawn(pause, random[at])?.limit ?? Infinity) < (options?.maxPause ?? MAX_PAUSE),
    );
  if (cause === NO_GROWTH) return new Set(random).size === 1 && new Set(pauses).size > 1;
  const isOther = (pause: number, at: number): boolean => {
    const one = drawn(pause, random[at]);
    return one !== undefined && Math.abs(mistake!.pause(one.limit, one.draw) - pause) > one.inexact;
  };
  return mistake !== undefined && pauses.some(isOther);
}

const LANGUAGES: { readonly [language: string]: string } = { en: 'English', fr: 'French' };

/** What is wrong in telling people that they talk to an AI. */
export function mistakesInDisclosure(
  { due, text, language, tag = '', lastGiven, isVoice, isShared, aiDisclosure }: Vector,
  response: Fields,
): Causes {
  if (response.error !== undefined) return [];
  if (response.due !== due) {
    const who = isVoice ? 'a voice client' : isShared ? 'a shared device' : 'a client';
    const is = response.due ? 'due' : 'not due';
    return [
      `disclosure: it is ${is} on ${who} that gave it last: ${lastGiven}; it is ${due ? 'due' : 'not due'}`,
    ];
  }
  const [right, got] = [language, response.language].map((code) => LANGUAGES[String(code)]);
  if (right !== got && got !== undefined) {
    const form =
      right === 'English'
        ? 'that only begins with fr, or that has FR as its region,'
        : /^fr.+/i.test(tag)
          ? 'with a region, such as fr-CA,'
          : tag === tag.toLowerCase()
            ? 'of French'
            : 'of French in capitals';
    return [`disclosure: a tag ${form} is taken for ${got}; it is ${right}`];
  }
  if (text === null && typeof response.text === 'string' && response.text !== '') {
    const isOther = typeof aiDisclosure === 'object' || language === 'fr';
    return isOther
      ? ['disclosure: a missing text is replaced by one of another language; it has to be fetched']
      : [];
  }
  return text !== null && response.text === text.trim()
    ? ['disclosure: its text is trimmed; it is kept word for word']
    : [];
}

const ID_NAMES = ['request_id', 'thalovant_request_id', 'correlation_id'];
const ID_PLACES = ['context', 'session', 'data'];
const ORDERS = ['012', '021', '102', '120', '201', '210'];

/** The ids of an event, by place and name, that are not blank. */
function idsIn(
  message: string,
): { type: string; said: string; ids: { [place: string]: Fields } } | undefined {
  try {
    const { type, data = {}, context = {} } = JSON.parse(message).payload;
    const { session = {} } = context;
    return { type, said: String(data.utterance ?? ''), ids: { context, session, data } };
  } catch {
    return undefined;
  }
}

/** The first id in these places, by their names. */
function firstId(
  ids: { [place: string]: Fields },
  places: readonly string[],
  names: readonly string[],
): unknown {
  const found = places.flatMap((place) => names.map((name) => ids[place]?.[name]));
  return found.find((id) => (typeof id === 'string' && id.trim() !== '') || typeof id === 'number');
}

const inOrder = (names: readonly string[], order: string): string[] =>
  [...order].map((index) => names[Number(index)]!);

/** Orders in which the request id of an event may be looked for, and the cause of each wrong one. */
const LOOKUPS: readonly { readonly cause: string; find(ids: { [place: string]: Fields }): unknown }[] = [
  ...ORDERS.slice(1).map((order) => ({
    cause: `request id: it is looked for in the order ${inOrder(ID_PLACES, order).join(', ')}; the order is context, its session, data`,
    find: (ids: { [place: string]: Fields }) => firstId(ids, inOrder(ID_PLACES, order), ID_NAMES),
  })),
  ...ORDERS.slice(1).map((order) => ({
    cause: `request id: its names are looked for in the order ${inOrder(ID_NAMES, order).join(', ')}; the order is ${ID_NAMES.join(', ')}`,
    find: (ids: { [place: string]: Fields }) => firstId(ids, ID_PLACES, inOrder(ID_NAMES, order)),
  })),
  ...ID_PLACES.map((place) => ({
    cause: `request id: it is not looked for in the ${place}; an event may have it in its context, the session or the data`,
    find: (ids: { [place: string]: Fields }) =>
      firstId(
        ids,
        ID_PLACES.filter((other) => other !== place),
        ID_NAMES,
      ),
  })),
  ...ID_NAMES.map((name) => ({
    cause: `request id: it is not read under the name ${name}`,
    find: (ids: { [place: string]: Fields }) =>
      firstId(
        ids,
        ID_PLACES,
        ID_NAMES.filter((other) => other !== name),
      ),
  })),
];

/** What is spoken by the events that belong to the request, if ids alone decide. */
function spoken(
  { request, events }: Vector,
  find: (ids: { [place: string]: Fields }) => unknown,
): string | undefined {
  const said: string[] = [];
  for (const event of (events as string[]).map(idsIn)) {
    if (event === undefined) return undefined;
    if (event.type !== 'speak' || event.said === '') continue;
    const id = find(event.ids);
    if (id === undefined) return undefined; // the session decides
    if (String(id) === request.requestId) said.push(event.said);
  }
  return said.join(' ');
}

const rightId = (ids: { [place: string]: Fields }): unknown => firstId(ids, ID_PLACES, ID_NAMES);

const ANY_TYPE =
  'refusal: one without a request id ends the only request whatever its denied_type; it ends the one whose type it names';
const NOT_SOLE =
  'refusal: one without a request id ends a request although others are in flight; it ends a request only if no other is';
const BY_NUMBER = 'speech: entities by number, such as &#233;, are not resolved';
const BY_NAME = 'speech: entities by name, such as &amp;, are not resolved';
const TAGS = 'speech: markup is not removed';
const FALLS_BACK =
  'display items: a choice that has only a title or only a payload is left out, or lacks one of them; either serves for the other';

const AT_LAST =
  'reply: its raw event is the completion although there was another; the completion counts only if nothing came before it';
const JOINED = 'speech: several utterances are joined; they are alternatives, of which the first counts';
const LAST_TAKEN =
  'speech: the last of several utterances is taken; they are alternatives, of which the first counts';
const ASKS_ANYHOW = 'speech: expect_response counts though it is not true, such as a text or a number';
const NEVER_ASKS = 'speech: expect_response is not read; if it is true, the hub waits for an answer';
const UNPARTED =
  'speech: markup that parts words, such as <p>, <s> and <break>, leaves no space; other markup leaves none';
const PARTED = 'speech: all markup leaves a space; only <p>, <s>, <break>, <audio> and <speak> do';
const HANDLED = 'ovos.utterance.handled';

const dataIn = (message: unknown): Fields => {
  try {
    return JSON.parse(String(message)).payload.data ?? {};
  } catch {
    return {};
  }
};

/** What is wrong in the text of a reply with several utterances in one event. */
function mistakesInUtterances(events: readonly unknown[], right: unknown, got: unknown): Causes {
  const lists = events.map((event) => dataIn(event).utterances);
  const list = lists.find((list): list is string[] => Array.isArray(list) && list.length > 1);
  if (list === undefined || typeof got !== 'string' || right === got) return [];
  const [first, last] = [String(list[0]), String(list.at(-1))];
  if (list.every((utterance) => got.includes(String(utterance)))) return [JOINED];
  return got.includes(last) && !got.includes(first) ? [LAST_TAKEN] : [];
}

/** What else is wrong in what a reply tells of its events. */
function mistakesInTold(events: readonly unknown[], right: Fields, got: Fields): Causes {
  const [due, is] = [right, got].map(({ rawEvent }) => (rawEvent as Fields | null | undefined)?.type);
  if (is === HANDLED && due !== undefined && due !== HANDLED) return [AT_LAST];
  if (right.expectsAnswer === got.expectsAnswer) return [];
  const asks = events.map((event) => dataIn(event).expect_response).filter((asked) => asked !== undefined);
  if (got.expectsAnswer === true) return asks.length > 0 && !asks.includes(true) ? [ASKS_ANYHOW] : [];
  return got.expectsAnswer === false && asks.includes(true) ? [NEVER_ASKS] : [];
}

/** What is wrong in a reply. */
export function mistakesInReply(test: Vector, response: Fields): Causes {
  const { reply: right, ending, request, events } = test;
  const got = (response.reply ?? {}) as Fields;
  if (response.error !== undefined || test.error !== undefined) return [];
  if (ending === null && response.ending === 'denied') {
    const isNamed = (events as string[]).some(
      (event) => event.includes('hive.policy.denied') && rightId(idsIn(event)?.ids ?? {}) !== undefined,
    );
    if (!isNamed) return [request.sole === true ? ANY_TYPE : NOT_SOLE];
  }
  const inUtterances = mistakesInUtterances(events, right.text, got.text);
  if (inUtterances.length > 0) return inUtterances;
  if (got.text !== right.text && spoken(test, rightId) === right.text)
    return LOOKUPS.filter(({ find }) => spoken(test, find) === got.text).map(({ cause }) => cause);
  if (got.text !== right.text || response.ending !== ending) return [];
  if (typeof got.speech === 'string' && got.speech !== right.speech) {
    if (/&#\w+;/.test(got.speech) && !/&#\w+;/.test(right.speech)) return [BY_NUMBER];
    if (/&[a-z]+;/i.test(got.speech) && !/&[a-z]+;/i.test(right.speech)) return [BY_NAME];
    const inSpaces = mistakesInSpaces(right.speech, got.speech, got.text);
    if (inSpaces.length > 0) return inSpaces;
    return /<[a-z/]/i.test(got.speech) && !/<[a-z/]/i.test(right.speech) ? [TAGS] : [];
  }
  const inTold = mistakesInTold(events, right, got);
  return inTold.length > 0 ? inTold : mistakesInItems(right.displayItems as Fields[], got.displayItems);
}

/** Spaces that markup leaves in speech, or does not. */
function mistakesInSpaces(right: string, got: string, text: unknown): Causes {
  const bare = (speech: string): string => speech.replace(/\s/g, '');
  if (!/<[a-z/]/i.test(String(text)) || bare(right) !== bare(got)) return [];
  return [got.length < right.length ? UNPARTED : PARTED];
}

const BUILDERS_OF_INPUT = ['action', 'code'];

/** What is wrong in the envelope of a request. */
export function mistakesInRequest({ builder, envelope }: Vector, { envelope: got }: Fields): Causes {
  const [right, wrong] = [envelope, got].map(
    (each) => (each as Fields | undefined)?.payload as Fields | undefined,
  );
  if (right === undefined || wrong === undefined) return [];
  const [data, otherData] = [right, wrong].map((payload) => (payload.data ?? {}) as Fields);
  const [context, otherContext] = [right, wrong].map((payload) => (payload.context ?? {}) as Fields);
  if (data!.input === undefined && otherData!.input !== undefined)
    return [
      `request: \`input\` is in the data of ${builder === 'action' ? 'an action' : 'words'}, too; only a code has it there`,
    ];
  if (data!.input !== undefined && otherData!.input === undefined)
    return ['request: `input` is not in the data of a code; a code has it in its data and in its context'];
  if (BUILDERS_OF_INPUT.includes(builder) && otherContext!.input === undefined)
    return [
      'request: `input` is not in the context, which says that an action or a code is no natural language',
    ];
  const session = (fields: Fields): Fields => (fields.session ?? {}) as Fields;
  const ids = [
    ['request_id in the context', context!.request_id, otherContext!.request_id],
    [
      'thalovant_request_id in the context',
      context!.thalovant_request_id,
      otherContext!.thalovant_request_id,
    ],
    ['request_id in the session', session(context!).request_id, session(otherContext!).request_id],
  ] as const;
  return ids
    .filter(([, due, is]) => due !== undefined && due !== is)
    .slice(0, 1)
    .map(
      ([where]) =>
        `request: its id is not sent as ${where}; hubs look for it in the context under two names, and in the session`,
    );
}

/** What is wrong in display items: a kind that is missing or taken for another one, or choices. */
function mistakesInItems(right: readonly Fields[], got: unknown): Causes {
  if (!Array.isArray(got) || JSON.stringify(right) === JSON.stringify(got)) return [];
  const choicesIn = (items: readonly Fields[]): Fields[] =>
    items.flatMap((item) => (Array.isArray(item?.choices) ? (item.choices as Fields[]) : []));
  const isOfOne = ({ title, payload }: Fields): boolean => title === payload;
  const [due, is] = [choicesIn(right), choicesIn(got as Fields[])];
  const others = due.filter(
    (choice) => !is.some((other) => other?.title === choice.title && other?.payload === choice.payload),
  );
  if (others.length > 0 && others.every(isOfOne)) return [FALLS_BACK];
  const [kinds, gotKinds] = [right, got as Fields[]].map((items) => items.map((item) => String(item?.kind)));
  const missing = kinds!.filter((kind) => !gotKinds!.includes(kind));
  const extra = gotKinds!.filter((kind) => !kinds!.includes(kind));
  if (missing.length === 0 && extra.length === 0) return [];
  if (missing.length > 0 && extra.length > 0)
    return [`display items: the kind ${missing[0]} is told as ${extra[0]}`];
  return missing.length > 0
    ? [`display items: the kind ${missing[0]} is left out`]
    : [`display items: the kind ${extra[0]} is told where there is none`];
}

/** Whether the right reply rules out the cause. */
export function refutesReply(test: Vector, cause: string): boolean {
  const lookup = LOOKUPS.find((other) => other.cause === cause);
  if (lookup === undefined) return false;
  const right = spoken(test, rightId);
  return right !== undefined && spoken(test, lookup.find) !== right;
}

/** Whether pauses that are wrong in another way rule out that their limit doubles too early. */
export function contradictsPauses(
  _test: Vector,
  { causes }: { readonly causes: Causes },
  cause: string,
): boolean {
  return cause === DOUBLED_EARLY && causes.length > 0 && !causes.includes(cause);
}

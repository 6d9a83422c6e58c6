/**
 * What an implementation is: the adapter says it in answer to `about`, or `--profile` names it. The judge sends the tests that
 * apply; a test of these that is declined is a gap.
 */
import type { Fields } from './adapter.ts';
import { CannotRun } from './adapter.ts';
import { type Vector, vectorsId } from './vectors.ts';
import type { Verdict } from './verdict.ts';

export interface Profile {
  readonly roles: readonly string[];
  readonly patterns: readonly string[];
  readonly suites: readonly string[];
  /** Whether it derives the PSK from a password, or is given its 32 bytes. */
  readonly psk: 'derived' | 'provisioned';
  /** The longest message that it takes, in bytes. */
  readonly maxMessage: number;
  /** Further parts: names of GROUPS. */
  readonly groups: readonly string[];
}

const MAX_MESSAGE = 32 * 1024 * 1024;
const CHACHAPOLY = '25519_ChaChaPoly_SHA256';
const AESGCM = '25519_AESGCM_SHA256';

/** The operations of the parts that a port may leave out, by the name of the part. */
export const GROUPS: { readonly [group: string]: readonly string[] } = {
  websocket: ['authorization'],
  identity: ['identity', 'endpoint', 'disclosure'],
  mqtt: ['topics', 'broker', 'client-id', 'presence'],
  requests: ['request', 'session-ids', 'reply', 'schedule'],
  policy: ['policy'],
  link: ['link'],
  binary: ['encode-binary', 'decode-binary'],
  argon2id: ['argon2id'],
};

const LEAST: Profile = {
  roles: ['client'],
  patterns: ['XXpsk2'],
  suites: [CHACHAPOLY],
  psk: 'provisioned',
  maxMessage: MAX_MESSAGE,
  groups: [],
};

/** Profiles with a name, the smallest first. */
export const PROFILES: { readonly [name: string]: Profile } = {
  'minimal-client': LEAST,
  client: { ...LEAST, patterns: ['XXpsk2', 'KKpsk0'], psk: 'derived' },
  hub: { ...LEAST, roles: ['hub'], patterns: ['XXpsk2', 'KKpsk0'], psk: 'derived' },
};

/** @throws CannotRun if no profile has this name */
export function profileOf(name: string): Profile {
  const profile = Object.keys(PROFILES).includes(name) ? PROFILES[name] : undefined;
  if (profile !== undefined) return profile;
  throw new CannotRun(`there is no profile ${name}: expected one of ${Object.keys(PROFILES).join(', ')}`);
}

/**
 * Reads what an adapter says of itself. What it leaves out is as in the profile `client`; `undefined` if it says nothing.
 * @throws CannotRun if it says something else
 */
export function readProfile({ about }: Fields): Profile | undefined {
  if (typeof about !== 'object' || about === null) return undefined;
  const fields = about as Fields;
  const { client } = PROFILES as { client: Profile };
  const list = (
    name: 'roles' | 'patterns' | 'suites' | 'groups',
    known: readonly string[],
  ): readonly string[] => {
    const value = fields[name] ?? client[name];
    if (Array.isArray(value) && value.every((item) => known.includes(item))) return value;
    throw new CannotRun(`about.${name} of the adapter: expected a list of ${known.join(', ')}`);
  };
  const maxMessage = Number(fields.maxMessage ?? MAX_MESSAGE);
  if (!(Number.isInteger(maxMessage) && maxMessage >= 0 && maxMessage <= MAX_MESSAGE))
    throw new CannotRun(
      `about.maxMessage of the adapter: expected a number of bytes, at most ${MAX_MESSAGE}`,
    );
  return {
    roles: list('roles', ['client', 'hub']),
    patterns: list('patterns', ['XXpsk2', 'KKpsk0']),
    suites: list('suites', [CHACHAPOLY, AESGCM]),
    psk: fields.psk === 'provisioned' ? 'provisioned' : 'derived',
    maxMessage,
    groups: list('groups', Object.keys(GROUPS)),
  };
}

/** What decides whether a test applies. */
interface Subject {
  readonly operation: string;
  /** Type, pattern and suite of its group. */
  readonly type: string;
  readonly pattern?: string | undefined;
  readonly suite?: string | undefined;
  readonly test: Vector;
}

/** Whether a test is about something that the implementation has. */
export function applies({ operation, type, pattern, suite, test }: Subject, profile: Profile): boolean {
  const { roles, patterns, suites, psk, maxMessage, groups } = profile;
  const group = Object.keys(GROUPS).find((name) => GROUPS[name]!.includes(operation));
  if (group !== undefined) return groups.includes(group);
  if (operation === 'psk') return psk === 'derived';
  if (operation === 'select') {
    const isChosen = test.pattern === undefined || patterns.includes(test.pattern);
    const hasChoice = patterns.length + suites.length > 2;
    return (
      hasChoice &&
      roles.includes('client') &&
      isChosen &&
      test.own.every((name: string) => suites.includes(name))
    );
  }
  const used = { pattern: test.pattern ?? pattern, suite: test.suite ?? suite };
  if (used.pattern !== undefined && !patterns.includes(used.pattern)) return false;
  if (used.suite !== undefined && !suites.includes(used.suite)) return false;
  if (type === 'HandshakeFailure') return roles.includes(test.role === 'initiator' ? 'client' : 'hub');
  if (operation === 'reassemble') {
    if (maxMessage === MAX_MESSAGE) return true; // it must drop what is longer
    const lengths = test.frames.map(({ length, bytes }: Fields) => length ?? String(bytes).length / 2 - 1);
    return Math.max(sum(lengths), test.maxMessage ?? 0) <= maxMessage;
  }
  if (operation !== 'session') return true;
  const { role, suites: own = [] } = test.steps[0];
  if (psk === 'provisioned' && test.steps.some((step: Fields) => step.do === 'psk')) return false;
  return roles.includes(role) && own.every((name: string) => suites.includes(name));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** Few implementations let a caller set a key or a counter, so that declining these is no gap. */
const OPTIONAL = ['seal', 'open'];

/** The tests that apply and were declined. */
export function gapsIn(verdicts: readonly Verdict[]): Verdict[] {
  return verdicts.filter(({ result, operation }) => result === 'declined' && !OPTIONAL.includes(operation));
}

function isWithin(small: Profile, large: Profile): boolean {
  const has = (name: 'roles' | 'patterns' | 'suites'): boolean =>
    small[name].every((item) => large[name].includes(item));
  return (
    has('roles') && has('patterns') && has('suites') && (small.psk === large.psk || large.psk === 'derived')
  );
}

/** The names of all profiles that this one covers, the largest of each role first. */
function namesOf(profile: Profile): string[] {
  const names = Object.keys(PROFILES).filter((name) => isWithin(PROFILES[name]!, profile));
  return names.filter((name) => !(name === 'minimal-client' && names.includes('client')));
}

const count = (number: number): string => String(number).replace(/\B(?=(?:\d{3})+$)/g, ',');

/** What was judged, and how it did, in one line: `client, KKpsk0, ChaChaPoly: 1,204 of 1,204`. */
export function lineOf(profile: Profile, verdicts: readonly Verdict[], isSpecOnly = false): string {
  const passed = verdicts.filter(({ result }) => result === 'passed').length;
  const asked =
    passed + verdicts.filter(({ result }) => result === 'failed').length + gapsIn(verdicts).length;
  const names = namesOf(profile);
  const { maxMessage } = profile;
  const words = [
    names.length > 0 ? names.join(' and ') : profile.roles.join(' and '),
    profile.patterns.at(-1),
    ...profile.suites.map((suite) => suite.split('_')[1]),
    ...(maxMessage < MAX_MESSAGE ? [`messages up to ${count(maxMessage)} bytes`] : []),
    ...profile.groups,
    ...(isSpecOnly ? ['spec-only'] : []),
  ];
  return `${words.join(', ')}: ${count(passed)} of ${count(asked)}`;
}

/** The same for programs; shields.io draws a badge of it. */
export function badgeOf(profile: Profile, verdicts: readonly Verdict[], isSpecOnly = false): string {
  const line = lineOf(profile, verdicts, isSpecOnly);
  const isWhole = !verdicts.some(({ result }) => result === 'failed') && gapsIn(verdicts).length === 0;
  const color = isWhole ? 'brightgreen' : 'orange';
  const badge = {
    schemaVersion: 1,
    label: 'HiveMind protocol 3',
    message: line,
    color,
    profile,
    isSpecOnly,
    vectors: vectorsId(),
  };
  return `${JSON.stringify(badge, undefined, 1)}\n`;
}

/** Reads the options of an entry as the core reads its own: each once, own properties only, and none that is unknown. */
import { disclosureDue, LocalError, RequestScheduler } from 'hub-protocol';
import { ClientSession, type OptionNames, readOptions } from 'hub-protocol/parts';
import { budgetOf } from './budget.ts';
import { readCertificate } from './causes.ts';
import type { AskOptions, CascadeOptions, ConnectOptions, NodeOptions, QueryOptions } from './options.ts';
import type { Platform } from './platform.ts';

/** The names of the options of all entries. */
export const CONNECT_OPTIONS: OptionNames<ConnectOptions> = {
  identity: true,
  lang: true,
  disclosure: true,
  userAgent: true,
  allowPlaintext: true,
  pingEvery: true,
  maxMemory: true,
  maxValues: true,
  derive: true,
  sharedSecret: true,
  session: true,
  policy: true,
  requests: true,
};

const NODE_OPTIONS: OptionNames<NodeOptions> = { ...CONNECT_OPTIONS, keyring: true, ca: true };

/** The names of the options in these options. */
export const NESTED: {
  readonly [name in 'disclosure' | 'session' | 'policy' | 'requests']: OptionNames<
    NonNullable<ConnectOptions[name]>
  >;
} = {
  disclosure: { isVoice: true, isShared: true, lastGiven: true },
  session: {
    crypto: true,
    randomBytes: true,
    maxFrame: true,
    inPlace: true,
    trust: true,
    hello: true,
    binarize: true,
    encodings: true,
    patterns: true,
    onKkFailure: true,
    paced: true,
  },
  policy: {
    basePause: true,
    maxPause: true,
    steadyAfter: true,
    maxAge: true,
    onKkFailure: true,
    deadlines: true,
  },
  requests: { deadlines: true, saysHandled: true },
};

/** The longest time that an option may name: a day, in milliseconds. */
const DAY = 86_400_000;

/** @throws LocalError `bad-argument` */
export function readNodeOptions(options: NodeOptions): NodeOptions {
  const given = readConnectOptions(options, NODE_OPTIONS);
  return Object.assign(given, { ca: readAuthority(given.ca, 'ca') }); // another object would inherit options
}

/**
 * @param name - of the option
 * @throws LocalError `bad-argument`
 */
export function readAuthority(ca: string | undefined, name: string): string | undefined {
  const pem = ca === undefined ? undefined : readCertificate(ca);
  if (ca === undefined || pem !== undefined) return pem;
  throw new LocalError(
    'bad-argument',
    `"${name}" expected a certificate as PEM: pass what is in its file, not the path, and convert other forms, such as DER, to PEM`,
  );
}

/**
 * @param names - the names of all options of the entry
 * @throws LocalError `bad-argument`
 */
export function readConnectOptions<Options extends ConnectOptions>(
  options: Options,
  names: OptionNames<Options>,
): Options {
  const given = readOptions(options, 'options', names);
  const { pingEvery, lang } = given;
  budgetOf(given);
  if (lang !== undefined && !(typeof lang === 'string' && lang.trim() !== '')) {
    throw new LocalError('bad-argument', '"lang" expected a language tag such as "de-de"');
  }
  if (pingEvery !== undefined && !(typeof pingEvery === 'number' && pingEvery > 0 && pingEvery <= DAY)) {
    throw new LocalError('bad-argument', '"pingEvery" expected more than 0 and at most a day');
  }
  if (typeof given.identity?.accessKey !== 'string' || typeof given.identity.password !== 'string') {
    throw new LocalError('bad-argument', '"identity" expected the result of parseIdentity');
  }
  for (const name of ['disclosure', 'session', 'policy', 'requests'] as const) {
    const value: object | undefined = given[name];
    if (value !== undefined) readOptions(value, name, NESTED[name] as OptionNames<object>);
  }
  for (const name of ['derive', 'sharedSecret'] as const) {
    if (given[name] !== undefined && typeof given[name] !== 'function') {
      throw new LocalError('bad-argument', `"${name}" expected a function`);
    }
  }
  return given;
}

/** @throws LocalError `bad-argument` */
export function readAskOptions(options: AskOptions): AskOptions {
  const given = readOptions(options, 'options', { timeout: true, signal: true, onPart: true });
  const { signal, onPart } = given;
  assertSignal(signal);
  if (onPart !== undefined && typeof onPart !== 'function') {
    throw new LocalError('bad-argument', '"onPart" expected a function');
  }
  return given;
}

function assertSignal(signal: AbortSignal | undefined): void {
  if (signal !== undefined && typeof signal?.addEventListener !== 'function') {
    throw new LocalError('bad-argument', '"signal" expected an AbortSignal');
  }
}

const QUERY_OPTIONS: OptionNames<QueryOptions> = { timeout: true, signal: true };
const CASCADE_OPTIONS: OptionNames<CascadeOptions> = { ...QUERY_OPTIONS, onAnswer: true };

/** @throws LocalError `bad-argument` */
export function readQueryOptions(type: 'query' | 'cascade', options: CascadeOptions): CascadeOptions {
  const names = type === 'query' ? QUERY_OPTIONS : CASCADE_OPTIONS;
  const given = readOptions(options, 'options', names as OptionNames<CascadeOptions>);
  const { timeout = 1, signal, onAnswer } = given;
  if (!(typeof timeout === 'number' && timeout > 0 && timeout <= DAY)) {
    throw new LocalError('bad-argument', '"timeout" expected more than 0 and at most a day');
  }
  assertSignal(signal);
  if (onAnswer !== undefined && typeof onAnswer !== 'function') {
    throw new LocalError('bad-argument', '"onAnswer" expected a function');
  }
  return given;
}

/**
 * Checks the options of the sessions and of their requests, which are made only when the client connects.
 * @throws LocalError `bad-argument`
 */
export function assertOptions(options: ConnectOptions, platform: Platform): void {
  const { identity, session, requests, disclosure = {} } = options;
  new RequestScheduler(requests);
  for (const name of ['isVoice', 'isShared'] as const) {
    if (typeof (disclosure[name] ?? false) !== 'boolean') {
      throw new LocalError('bad-argument', `"disclosure.${name}" expected a boolean`);
    }
  }
  disclosureDue(identity, { lastGiven: disclosure.lastGiven ?? 'never' });
  if (session === undefined) return; // a session makes a key, which takes a while
  const { crypto, readBinary } = platform;
  const unused = new ClientSession({
    crypto,
    readBinary,
    ...session,
    randomBytes: (length) => new Uint8Array(length).fill(1),
    siteId: identity.siteId,
    keyring: { staticKey: { publicKey: new Uint8Array(32).fill(9) } },
  });
  unused.closed();
}

/**
 * Reads the options of all entries as the core reads its own: each once, own properties only, and none that is unknown or cannot be. Each
 * entry has a table of them. What the core reads and refuses by itself may be anything here.
 */
import { LocalError, RequestScheduler } from 'hub-protocol';
import { ClientSession, type OptionNames, readOptions } from 'hub-protocol/parts';
import { LEAST_MEMORY, MOST_MEMORY } from './budget.ts';
import { readCertificate } from './causes.ts';
import type {
  AskOptions,
  CascadeOptions,
  ConnectOptions,
  MqttOptions,
  NodeOptions,
  QueryOptions,
  SocketOptions,
} from './options.ts';
import type { Platform } from './platform.ts';

/** What an option has to be; `undefined` passes wherever it means the default. If it has options itself, their table. */
export type Kind = readonly [
  expected: string,
  holds: (value: unknown) => boolean,
  inner?: Kinds<object> | undefined,
];
export type Kinds<Options> = { readonly [name in keyof Required<Options>]: Kind };

/** The table of the options of `connect` that have options themselves. */
type Nested = { readonly [name in 'disclosure' | 'session' | 'policy' | 'requests']: Kind };
type In<Name extends keyof Nested> = NonNullable<ConnectOptions[Name]>;

const optional = (expected: string, holds: Kind[1], inner?: Kinds<object>): Kind => [
  expected,
  (value) => value === undefined || holds(value),
  inner,
];
const isObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';
const isWithin = (value: unknown, least: number, most: number): boolean =>
  typeof value === 'number' && value >= least && value <= most;
const has = (value: unknown, method: string): boolean =>
  typeof (value as { [method: string]: unknown } | null | undefined)?.[method] === 'function';

export const ANY: Kind = ['', () => true];
const FLAG: Kind = optional('a boolean', (value) => typeof value === 'boolean');
export const FUNCTION: Kind = optional('a function', (value) => typeof value === 'function');
export const TEXT: Kind = ['a string that is not empty', isText];
export const NAME: Kind = optional('a string that is not empty', isText);
/** A day is the longest time that an option may name, in milliseconds. */
export const TIME: Kind = optional('more than 0 and at most a day', (value) =>
  isWithin(value, Number.MIN_VALUE, 86_400_000),
);
const counted = (expected: string, most: number): Kind =>
  optional(expected, (value) => Number.isSafeInteger(value) && isWithin(value, 0, most));
export const COUNT: Kind = counted('an integer from 0', Number.MAX_SAFE_INTEGER);
export const PORT: Kind = counted('an integer from 0 to 65535', 0xffff);
const PEM: Kind = [
  'the content of a file, as PEM',
  (value) => (typeof value === 'string' || value instanceof Uint8Array) && /-----BEGIN /.test(String(value)),
];
const OPTIONAL_PEM: Kind = optional(PEM[0], PEM[1]);
const GIVEN: Kind = optional('"never", "earlier-session" or "this-session"', (value) =>
  /^(?:never|earlier-session|this-session)$/.test(String(value)),
);
const SIGNAL: Kind = optional('an AbortSignal', (value) => has(value, 'addEventListener'));

/** Options that have options themselves. */
export const within = <Options extends object>(inner: Kinds<Options>): Kind =>
  optional('an object', isObject, inner);
export const required = <Options extends object>(expected: string, inner: Kinds<Options>): Kind => [
  expected,
  isObject,
  inner,
];

const LANG: Kind = optional(
  'a language tag such as "de-de"',
  (value) => isText(value) && String(value).trim() !== '',
);
export const PAIR: Kinds<{ key: string; cert: string }> = { key: PEM, cert: PEM };
/** How much a peer may make this side hold. */
export const LIMITS: Kinds<Pick<ConnectOptions, 'maxMemory' | 'maxValues'>> = {
  maxMemory: optional('a number of bytes from 1 MiB to 1 GiB', (value) =>
    isWithin(value, LEAST_MEMORY, MOST_MEMORY),
  ),
  maxValues: optional('a number of bytes up to 1 GiB', (value) => isWithin(value, 0, MOST_MEMORY)),
};

/** The keyring of a page or an app. */
export const STORE: Kind = optional(
  'an object with load() and update(): there are no files here',
  (value) => has(value, 'load') && has(value, 'update'),
);

/** Of all entries of the client. */
export const CONNECT: Kinds<ConnectOptions> & Nested = {
  identity: [
    'the result of parseIdentity',
    (value) => {
      const { accessKey, password } = Object(value);
      return typeof accessKey === 'string' && typeof password === 'string';
    },
  ],
  lang: LANG,
  disclosure: within<In<'disclosure'>>({ isVoice: FLAG, isShared: FLAG, lastGiven: GIVEN }),
  plays: FLAG,
  userAgent: NAME,
  allowPlaintext: FLAG,
  pingEvery: TIME,
  ...LIMITS,
  derive: FUNCTION,
  sharedSecret: FUNCTION,
  session: within<In<'session'>>({
    crypto: ANY,
    randomBytes: ANY,
    maxFrame: ANY,
    inPlace: ANY,
    trust: ANY,
    hello: ANY,
    binarize: ANY,
    encodings: ANY,
    patterns: ANY,
    onKkFailure: ANY,
    paced: ANY,
  }),
  policy: within<In<'policy'>>({
    basePause: TIME,
    maxPause: TIME,
    steadyAfter: TIME,
    maxAge: TIME,
    onKkFailure: ANY,
    deadlines: within<NonNullable<In<'policy'>['deadlines']>>({
      'awaiting-hello': TIME,
      'awaiting-offer': TIME,
      'awaiting-message-2': TIME,
    }),
  }),
  requests: within<In<'requests'>>({ deadlines: ANY, saysHandled: FLAG }),
};

const SOCKET: Kinds<SocketOptions> = {
  ...{ ca: ANY, cert: OPTIONAL_PEM, key: OPTIONAL_PEM, passphrase: NAME, servername: NAME },
  headers: optional(
    'an object of strings',
    (value) =>
      isObject(value) &&
      Object.entries(value as object).every(
        ([name, held]) => /^[\w!#$%&'*+.^`|~-]+$/.test(name) && /^[\t\x20-\x7e\x80-\xff]*$/.test(held),
      ),
  ),
  agent: optional('an agent of node:http or node:https', (value) => has(value, 'createSocket')),
  lookup: FUNCTION,
  family: optional('4 or 6', (value) => value === 4 || value === 6),
  localAddress: NAME,
};
const NODE: Kinds<NodeOptions> = { ...CONNECT, keyring: ANY, socket: within(SOCKET) };
export const OF_MQTT: Kinds<Pick<MqttOptions, 'clientId' | 'will'>> = { clientId: NAME, will: FLAG };
const QUERY: Kinds<QueryOptions> = { timeout: TIME, signal: SIGNAL };

/**
 * @param name - of the argument
 * @param kinds - what its options have to be
 * @returns a copy, which inherits nothing, and neither do the options in it
 * @throws LocalError `bad-argument`
 */
export function readKinds<Options extends object>(
  options: Options,
  name: string,
  kinds: Kinds<Options>,
): Options {
  const names = Object.fromEntries(Object.keys(kinds).map((option) => [option, true]));
  const given = readOptions(options, name, names as OptionNames<Options>);
  for (const [option, [expected, holds, inner]] of Object.entries<Kind>(kinds)) {
    const value = given[option as keyof Options];
    const path = name === 'options' ? option : `${name}.${option}`;
    if (!holds(value)) throw new LocalError('bad-argument', `"${path}" expected ${expected}`);
    if (inner !== undefined && value !== undefined) {
      given[option as keyof Options] = readKinds(value as object, path, inner) as Options[keyof Options];
    }
  }
  return given;
}

/** @throws LocalError `bad-argument` */
export function readNodeOptions<Options extends NodeOptions>(
  options: Options,
  more?: Kinds<object>,
): Options {
  if (Object.prototype.hasOwnProperty.call(Object(options), 'ca'))
    throw new LocalError('bad-argument', '"ca" expected to be in the option socket: socket: { ca }');
  const given = readKinds(options, 'options', { ...NODE, ...more } as unknown as Kinds<Options>);
  const { socket } = given;
  if (socket?.ca !== undefined) socket.ca = readAuthority(socket.ca, 'socket.ca');
  if ((socket?.cert === undefined) !== (socket?.key === undefined))
    throw new LocalError('bad-argument', '"socket" expected both "cert" and "key", or neither');
  return given;
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

/** @throws LocalError `bad-argument` */
export function readAskOptions(options: AskOptions): AskOptions {
  return readKinds(options, 'options', { ...QUERY, requestId: NAME, onPart: FUNCTION, interrupt: FLAG });
}

/** @throws LocalError `bad-argument` */
export function readQueryOptions(type: 'query' | 'cascade', options: CascadeOptions): CascadeOptions {
  const kinds = type === 'query' ? QUERY : { ...QUERY, onAnswer: FUNCTION };
  return readKinds(options, 'options', kinds as Kinds<CascadeOptions>);
}

/** @throws LocalError `bad-argument` */
export function readVoiceOptions<Options extends QueryOptions & { lang?: string | undefined }>(
  options: Options,
): Options {
  return readKinds(options, 'options', { ...QUERY, lang: LANG } as Kinds<Options>);
}

/**
 * Checks the options of the sessions and of their requests, which are made only when the client connects.
 * @throws LocalError `bad-argument`
 */
export function assertOptions(options: ConnectOptions, platform: Platform): void {
  const { identity, session, requests } = options;
  new RequestScheduler(requests);
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

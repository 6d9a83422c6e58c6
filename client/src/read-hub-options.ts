/** Reads the options of a hub as `read-options.ts` reads those of a client: each once, own properties only, none unknown or out of range. */
import { LocalError } from 'hub-protocol';
import { type OptionNames, readOptions } from 'hub-protocol/parts';
import type { ServedOptions } from './hub-connection.ts';

/** What an option has to be. `undefined` passes wherever it means the default. */
type Kind = readonly [expected: string, holds: (value: unknown) => boolean];
type Kinds<Options> = { readonly [name in keyof Required<Options>]: Kind };

const optional = (expected: string, holds: (value: unknown) => boolean): Kind => [
  expected,
  (value) => value === undefined || holds(value),
];

const ANY: Kind = ['', () => true];
export const FUNCTION: Kind = optional('a function', (value) => typeof value === 'function');
export const TEXT: Kind = [
  'a string that is not empty',
  (value) => typeof value === 'string' && value !== '',
];
export const HOST: Kind = optional(...TEXT);
/** A day is the longest time that an option may name, in milliseconds. */
export const TIME: Kind = optional(
  'more than 0 and at most a day',
  (value) => typeof value === 'number' && value > 0 && value <= 86_400_000,
);
export const COUNT: Kind = optional(
  'an integer from 0',
  (value) => Number.isSafeInteger(value) && (value as number) >= 0,
);
export const PORT: Kind = optional(
  'an integer from 0 to 65535',
  (value) => Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 0xffff,
);
export const CERTIFICATE: Kind = optional('key and cert, both as PEM', (value) => {
  const { key, cert } = (value ?? {}) as { key?: unknown; cert?: unknown };
  return Boolean(key && cert);
});

/** The session reads the first two, and what is in the last. The budget reads its own two. */
const SERVED: Kinds<ServedOptions> = {
  nodeId: ANY,
  staticKey: ANY,
  clients: [
    'an object with the function get, such as a Map',
    (value) => typeof (value as Map<string, unknown> | undefined)?.get === 'function',
  ],
  answer: FUNCTION,
  onEvent: FUNCTION,
  onRefused: FUNCTION,
  onFault: FUNCTION,
  maxMemory: ANY,
  maxValues: ANY,
  handshakeTimeout: TIME,
  session: ANY,
};
const SESSION: OptionNames<NonNullable<ServedOptions['session']>> = {
  maxMessage: true,
  patterns: true,
  suites: true,
  hello: true,
  handshake: true,
};

/**
 * @param own - what the options of this transport have to be
 * @throws LocalError `bad-argument`
 */
export function readHubOptions<Options extends ServedOptions>(
  options: Options,
  own: Kinds<Omit<Options, keyof ServedOptions>>,
): Options {
  const kinds: { readonly [name: string]: Kind } = { ...SERVED, ...own };
  const names = Object.fromEntries(Object.keys(kinds).map((name) => [name, true]));
  const given = readOptions(options, 'options', names as OptionNames<Options>);
  for (const [name, [expected, holds]] of Object.entries(kinds)) {
    if (holds(given[name as keyof Options])) continue;
    throw new LocalError('bad-argument', `"${name}" expected ${expected}`);
  }
  if (given.session !== undefined) given.session = readOptions(given.session, 'session', SESSION);
  return given;
}

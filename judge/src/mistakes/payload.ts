/**
 * What a handshake message shows whatever the keys are: its ephemeral key and the length of its payload; the fields of HELLO; and
 * parts of an envelope that are read in a wrong way.
 */
import type { Fields } from '../adapter.ts';
import { isJsonObject, type Json, REMOTE_ERRORS } from '../protocol.ts';
import type { Causes } from '../verdict.ts';

const TAG = 16; // bytes: a difference of this length is more likely a tag than a payload

/** The excess length of a message in hexadecimal, in bytes, if it can be its payload; else 0. */
export function excessOf(right: string, got: string): number {
  const excess = (got.length - right.length) / 2;
  return /^(?:[\da-f]{2})*$/.test(got) && excess % TAG !== 0 ? excess : 0;
}

/** The mistakes that show in the length of a message whose payload was given, in bytes. */
export function mistakesInPayload(right: string, got: string, length: number): Causes {
  const excess = excessOf(right, got);
  if (excess === 0 || length + excess < 0) return [];
  return [
    length + excess === 0
      ? 'payload: it is left out; a handshake message ends with it'
      : 'payload: it is not the given one, since its length differs',
  ];
}

/** The mistakes in a HELLO; none if it has all fields that a hub needs. */
export function mistakesInHello(value: unknown): Causes {
  const { msg_type: type, payload } = (value ?? {}) as { msg_type?: unknown; payload?: Json };
  const fields = isJsonObject(payload) ? payload : {};
  const { session, site_id: siteId, pubkey } = fields;
  const sessionId = isJsonObject(session) ? session.session_id : undefined;
  // Clients without an RSA key send an empty string, or null.
  const wrong = Object.entries({
    pubkey: pubkey === null ? '' : pubkey,
    'session.session_id': sessionId,
    site_id: siteId,
  }).filter(([, field]) => typeof field !== 'string');
  if (type !== 'hello') return ['HELLO: the first sealed message of a client has msg_type hello'];
  const lacks = wrong.filter(([, field]) => field === undefined).map(([name]) => name);
  if (lacks.length > 0) return [`HELLO: the sealed HELLO lacks ${lacks.join(', ')}`];
  return wrong.map(([name, field]) => `HELLO: its ${name} is ${JSON.stringify(field)}; it is a string`);
}

const KEY_DIGITS = 64;

const OTHER_KEY =
  'ephemeral key: it is not the given one; the adapter hands ephemeralKey to the implementation, whose random bytes it may be';
const REVERSED = 'ephemeral key: its bytes are in reverse order';

/**
 * The mistakes in the ephemeral public key at the start of a handshake message, which no mistake in Noise itself changes.
 * @param right - the correct message in hexadecimal
 * @param got - the message that was written
 */
export function mistakesInEphemeralKey(right: string, got: string): Causes {
  const [key, other] = [right, got].map((digits) => digits.slice(0, KEY_DIGITS)) as [string, string];
  if (key === other || got.length !== right.length) return [];
  return [other === key.match(/../g)!.reverse().join('') ? REVERSED : OTHER_KEY];
}

/** A wrong way to read a part of an envelope, which accepts other values than the right one, or fewer. */
interface Reader {
  readonly cause: string;
  accepts(value: string): boolean;
}

interface Part {
  /** The part as it stands in the envelope; of a string that is nothing else, what is between its quotation marks. */
  readonly shows: RegExp;
  /** Whether it is a string and nothing else. */
  readonly isText?: true;
  /** The code of its refusal. */
  readonly code: string;
  accepts(value: string): boolean;
  readonly readers: readonly Reader[];
}

const readers = (
  sentence: (how: string) => string,
  ways: { readonly [how: string]: (value: string) => boolean },
): Reader[] => Object.entries(ways).map(([how, accepts]) => ({ cause: sentence(how), accepts }));

/** As the atoi of C, which takes an integer of 64 bits for one of 32. */
const atoi = (token: string): number => {
  const digits = /^\s*[+-]?\d+/.exec(token)?.[0].trim() ?? '0';
  const [least, most] = [-(2n ** 63n), 2n ** 63n - 1n];
  const value = BigInt(digits.replace('+', ''));
  return Number(BigInt.asIntN(32, value < least ? least : value > most ? most : value));
};
const isNumber = (token: string): boolean => /^-?\d/.test(token);
const textIn = (token: string): string => token.replace(/^"|"$/g, '');
const pairsIn = (text: string): string[] => text.match(/../gs) ?? [];
const TYPES = ['hello', 'shake', 'handshake'];

const PARTS: readonly Part[] = [
  {
    shows: /"max_protocol_version":\s*("[^"]*"|[^\s,}\]]+)/,
    code: 'protocol-version',
    accepts: (token) => isNumber(token) && Number(token) >= 3,
    readers: readers(
      (how) => `version: max_protocol_version is read ${how}; it is a number of at least 3, in any notation`,
      {
        'up to the first character that is no digit (atoi of C)': (token) =>
          isNumber(token) && atoi(token) >= 3,
        'up to the first character that is no digit (parseInt of JavaScript)': (token) =>
          isNumber(token) && Number.parseInt(token, 10) >= 3,
        'as an integer in digits alone': (token) => /^-?\d+$/.test(token) && Number(token) >= 3,
        'as a number without an exponent': (token) => /^-?[\d.]+$/.test(token) && Number(token) >= 3,
        'as one that must be 3': (token) => isNumber(token) && Number(token) === 3,
        'as a number that is rounded': (token) => isNumber(token) && Math.round(Number(token)) >= 3,
        'from a string, too': (token) => Number(textIn(token)) >= 3,
      },
    ),
  },
  {
    shows: /"noise":\s*\{[^}]*"msg":\s*"((?:[^"\\]|\\.)*)"/,
    isText: true,
    code: 'bad-hex',
    accepts: (value) => /^(?:[\da-f]{2})*$/i.test(value),
    readers: readers(
      (how) => `msg: hex is read ${how}; it is pairs of digits, and anything else is refused`,
      {
        'with sscanf or strtol of C, which pass over blanks and signs': (value) =>
          value.length % 2 === 0 && pairsIn(value).every((pair) => /^[\s+-]?[\da-f]/i.test(pair)),
        'with int of Python, which takes blanks, signs and digits of other scripts': (value) => {
          const text = value.normalize('NFKC');
          const isInt = (pair: string): boolean =>
            /^(?:\s[\da-f]|[\da-f]\s|[+-][\da-f]|[\da-f]{2})$/i.test(pair);
          return text.length % 2 === 0 && pairsIn(text).every(isInt);
        },
        'without the white space in it': (value) => /^(?:[\da-f]{2})+$/i.test(value.replace(/\s/g, '')),
        'without the blanks in it, such as with sodium_hex2bin and ": " to ignore': (value) =>
          /^(?:[\da-f]{2})+$/i.test(value.replace(/[: ]/g, '')),
        'up to the first character that is no digit': (value) => /^[\da-f]{2}/i.test(value),
        'with 0x before it': (value) => /^(?:0x)?(?:[\da-f]{2})+$/i.test(value),
        'in lower case alone': (value) => /^(?:[\da-f]{2})*$/.test(value),
      },
    ),
  },
  {
    shows: /"msg_type":\s*"((?:[^"\\]|\\.)*)"/,
    isText: true,
    code: 'unexpected-message',
    accepts: (type) => TYPES.includes(type),
    readers: readers((how) => `msg_type: it is compared ${how}; names are compared exactly`, {
      'by its beginning (strncmp of C)': (type) => TYPES.some((name) => type.startsWith(name)),
      'up to U+0000 (strcmp of C)': (type) => TYPES.includes(type.replace(/\0.*/s, '')),
      'without regard to case': (type) => TYPES.includes(type.toLowerCase()),
      'without the white space around it': (type) => TYPES.includes(type.trim()),
    }),
  },
];

/** The value of the part in this envelope, if it has one of this form. */
function valueIn({ shows, isText }: Part, text: unknown): string | undefined {
  const value = shows.exec(String(text))?.[1];
  if (value === undefined || !isText) return value;
  try {
    return JSON.parse(`"${value}"`);
  } catch {
    return undefined; // the envelope is not JSON
  }
}

/** How a step ends: with this code, with another one that says what was read, or not at all. */
interface Outcome {
  readonly closes: boolean;
  readonly code: unknown;
}

/**
 * The readers under which an envelope is refused, or is not.
 * @param others - the codes that are as good as the right one
 */
export function mistakesInParts(
  text: unknown,
  right: Outcome,
  got: Outcome,
  others: readonly string[] = [],
): Causes {
  if (right.closes && right.code === undefined) return []; // any code is right
  const { code } = got; // `refused` does not say why
  const isOther =
    typeof code === 'string' && code !== 'refused' && code in REMOTE_ERRORS && !others.includes(code);
  return PARTS.flatMap((part) => {
    const value = valueIn(part, text);
    const [isDue, isRefused] = [right, got].map(({ code }) => code === part.code) as [boolean, boolean];
    const isTaken = !got.closes || (isOther && !isRefused);
    if (value === undefined || part.accepts(value) === isDue || isRefused === isDue || isRefused === isTaken)
      return [];
    return part.readers.filter(({ accepts }) => accepts(value) === isTaken).map(({ cause }) => cause);
  });
}

/** Whether a session that fails in these steps takes what the reader of this cause refuses, too. */
export function contradictsParts(steps: readonly Fields[], cause: string): boolean {
  return PARTS.some((part) => {
    const reader = part.readers.find((reader) => reader.cause === cause);
    return steps.some(({ text, events }) => {
      const list = Array.isArray(events) ? (events as Fields[]) : [];
      const value = list.some(({ error }) => error === part.code) ? valueIn(part, text) : undefined;
      return reader !== undefined && value !== undefined && !part.accepts(value) && !reader.accepts(value);
    });
  });
}

/** Whether a session that does the right thing in these steps cannot have the reader of this cause. */
export function refutesParts(steps: readonly Fields[], cause: string): boolean {
  for (const part of PARTS) {
    const reader = part.readers.find((reader) => reader.cause === cause);
    if (reader === undefined) continue;
    return steps.some(({ do: what, text, events }) => {
      const value = what === 'receive' ? valueIn(part, text) : undefined;
      const list = Array.isArray(events) ? (events as Fields[]) : [];
      if (value === undefined || list.length === 0) return false; // what is ignored may not be read
      const code = list.find(({ type }) => type === 'close')?.error;
      const isRead = part.accepts(value) ? code === undefined : code === part.code;
      return isRead && reader.accepts(value) !== part.accepts(value);
    });
  }
  return false;
}

/** MQTT topics, brokers and authorized URLs with one thing wrong. */
import { createHash } from 'node:crypto';
import type { Fields } from '../adapter.ts';
import type { Vector } from '../vectors.ts';
import type { Causes } from '../verdict.ts';

const TOPICS = ['publish', 'subscribe', 'status'];
const OWN_LEVELS = ['in', 'out', 'status', 'c2s', 's2c', 'hivemind'];
const HASH_DIGITS = 16;

const SWAPPED =
  'topics: the topics to publish on and to subscribe to are swapped; a client publishes on in or c2s';

const WORDS = '1, true, yes and on are true, and 0, false, no and off are false, in either case';
const HASH_TOPICS = ['hash_topics', 'hashTopics'];

/** The flag of a test that decides about TLS or hashed topics, if it is a word. */
function wordIn({ mqtt }: Vector): string | undefined {
  const flags = [mqtt?.tls, ...HASH_TOPICS.map((name) => mqtt?.[name])];
  return flags.find((flag) => typeof flag === 'string' && /^(?:[01]|true|false|yes|no|on|off)$/i.test(flag));
}

const isTrue = (word: string): boolean => /^(?:1|true|yes|on)$/i.test(word);

/** The causes of a flag that is not read as the word that it is; the likeliest explains the most failures. */
function mistakesInWord(test: Vector): string[] {
  const word = wordIn(test);
  if (word === undefined) return [];
  return [
    isTrue(word) ? 'words are not read' : 'every word is taken for true',
    ...(isTrue(word) && word !== word.toLowerCase() ? ['words are read in lower case alone'] : []),
    `the word ${JSON.stringify(word.toLowerCase())} is not read as ${isTrue(word)}`,
  ].map((cause) => `flags: ${cause}; ${WORDS}`);
}

/** Whether the right response to this test rules out a cause about flags, or that all of them are ignored. */
export function refutesFlags(test: Vector, cause: string): boolean {
  if (test.error !== undefined) return false;
  const { mqtt, flags } = test;
  const isOfTls = mqtt?.tls !== undefined && /^(?:mqtt|ws):/i.test(mqtt.endpoint);
  if (!isOfTls && !flags.includes('HashedTopics')) return false;
  const ignored = isOfTls ? cause === TLS_IGNORED : cause.startsWith(NOT_HASHED);
  if (ignored) return isOfTls ? mqtt.tls === true : HASH_TOPICS.some((name) => mqtt?.[name] === true);
  return mistakesInWord(test).includes(cause);
}

/** The known mistakes that lead to these wrong topics. */
export function mistakesInTopics(test: Vector, response: Fields): Causes {
  const ofSibling = mistakesInSibling(test, response);
  if (ofSibling.length > 0) return ofSibling;
  const ofIssued = mistakesInIssued(test, response);
  if (ofIssued.length > 0)
    return ofIssued.includes(OUT_OF_SCOPE) ? [...ofIssued, ...mistakesInScope(test)] : ofIssued;
  if (test.error !== undefined) return [];
  if (response.error !== undefined) return response.error === 'identity-field' ? mistakesInWord(test) : [];
  const inHash = mistakesInLevels(test, response);
  return isHashedOtherwise(test, response) ? [...inHash, ...mistakesInWord(test)] : inHash;
}

const ISSUED: { readonly [topic: string]: readonly string[] } = {
  publish: ['c2s_topic', 'c2sTopic'],
  subscribe: ['s2c_topic', 's2cTopic'],
  status: ['status_topic', 'statusTopic'],
};
const ISSUED_UNREAD =
  'topics: issued topics are not used where others can be derived; an issued one takes precedence';
const OUT_OF_SCOPE = 'topics: an issued topic outside the scope of the client is used; it is refused';
const BAD_ISSUED = 'topics: an issued topic that is not valid for publishing is used; it is refused';

const SIBLING_ANYWHERE =
  'topics: a level `in` that is not the last one becomes `status`; only the first c2s does, or a last level in';
const SIBLING_NONE =
  'topics: a status topic is made where the one to publish to has no level c2s, and no last level in; then there is none';

/** A status topic that is made of the one to publish to, although it cannot be. */
function mistakesInSibling({ error, mqtt }: Vector, { status }: Fields): Causes {
  const publish = ISSUED.publish!.map((field) => mqtt?.[field]).find((value) => typeof value === 'string');
  if (error !== 'no-topics' || typeof status !== 'string' || publish === undefined) return [];
  const levels = levelsOf(publish);
  const at = levels.indexOf('in');
  if (levels.includes('c2s') || at === levels.length - 1) return [];
  const isReplaced =
    levelsOf(status).join() === levels.map((level) => (level === 'in' ? 'status' : level)).join();
  const isFirst =
    levelsOf(status).join() === levels.map((level, index) => (index === at ? 'status' : level)).join();
  return at >= 0 && (isReplaced || isFirst) ? [SIBLING_ANYWHERE] : [SIBLING_NONE];
}

/** Issued topics that are not used, or used although they must not be. */
function mistakesInIssued({ mqtt, error, ...test }: Vector, response: Fields): Causes {
  if (response.error !== undefined) return [];
  const issued = TOPICS.map((name) => ({
    name,
    topic: ISSUED[name]!.map((field) => mqtt?.[field]).find((value) => typeof value === 'string'),
  })).filter(({ topic }) => topic !== undefined);
  if (issued.length === 0) return [];
  const isUnread = issued.every(({ name, topic }) => response[name] !== topic);
  if (error === undefined)
    return isUnread && issued.some(({ name, topic }) => test[name] === topic) ? [ISSUED_UNREAD] : [];
  if (error === 'topic-out-of-scope') return [isUnread ? ISSUED_UNREAD : OUT_OF_SCOPE];
  return error === 'bad-topic' ? [isUnread ? ISSUED_UNREAD : BAD_ISSUED] : [];
}

/** Ways to read a number from a string that take more than its digits alone. */
const NUMBERS: { readonly [how: string]: (text: string) => number } = {
  'up to the first character that is no digit (atoi of C)': (text) =>
    Number(/^\s*[+-]?\d+/.exec(text)?.[0] ?? Number.NaN),
  'with leading zeros': (text) => (/^0+\d+$/.test(text) ? Number(text) : Number.NaN),
  'with a sign': (text) => (/^[+-]\d+$/.test(text) ? Number(text) : Number.NaN),
  'with white space around it': (text) => (/^\d+$/.test(text.trim()) ? Number(text) : Number.NaN),
  'as a number of JavaScript, with point, exponent or 0x': (text) =>
    text === '' ? Number.NaN : Number(text),
  'as Python does, with blanks, signs and digits of other scripts': (text) => {
    const ascii = text.normalize('NFKC').trim();
    return /^[+-]?\d+$/.test(ascii) ? Number(ascii) : Number.NaN;
  },
};
const numberCause = (how: string): string =>
  `numbers: one in a string is read ${how}; the string is its digits alone, without a leading zero`;

/** The one number in a string of this identity's text that is none by the rules. */
function badNumberOf({ text }: Vector): string | undefined {
  const [, value] = /"(?:default_port|qos)":"([^"]*)"/.exec(String(text)) ?? [];
  if (value === undefined || /^(?:0|[1-9]\d*)$/.test(value)) return undefined;
  return JSON.parse(`"${value}"`);
}

/** The wrong ways under which a string is the number that was read. */
export function mistakesInNumber(test: Vector, got: unknown): string[] {
  const value = badNumberOf(test);
  if (value === undefined || got === rightNumberOf(test)) return []; // something else is wrong
  return Object.keys(NUMBERS)
    .filter((how) => NUMBERS[how]!(value) === got)
    .map(numberCause);
}

/** The number of this identity, rightly read. */
function rightNumberOf({ text, identity }: Vector): unknown {
  return /"qos"/.test(String(text)) ? identity?.mqtt?.qos : identity?.defaultPort;
}

/** Whether this identity, rightly read, rules out that its number is read in the way of this cause. */
export function refutesNumber(test: Vector, cause: string): boolean {
  const how = Object.keys(NUMBERS).find((how) => numberCause(how) === cause);
  const value = badNumberOf(test);
  if (how === undefined || value === undefined) return false;
  const [least, most] = /"qos"/.test(String(test.text)) ? [0, 2] : [1, 65535];
  const number = NUMBERS[how]!(value);
  return Number.isInteger(number) && number >= least && number <= most && number !== rightNumberOf(test);
}

const SCOPE_BEGINS =
  'topics: one is in scope if its text begins with the prefix (strncmp of C); levels are compared, and whole';
const SCOPE_ANYWHERE =
  'topics: one is in scope if the prefix is anywhere in it (strstr of C); it begins with the prefix';
const LEVEL_BEGINS =
  'topics: the client’s own level is looked for as a part of the text; levels are compared, and whole';
const ISSUED_TOPICS = ['c2s_topic', 's2c_topic', 'status_topic'];

/** Why a topic out of scope is taken: it has the prefix or the access key as text, and not as its first levels. */
function mistakesInScope({ error, mqtt }: Vector): string[] {
  if (error !== 'topic-out-of-scope') return [];
  const [prefix, key] = [mqtt.topic_prefix, mqtt.access_key];
  const topics = ISSUED_TOPICS.map((name) => mqtt[name]).filter((topic) => typeof topic === 'string');
  const isBegun = (topic: string): boolean =>
    typeof prefix === 'string' && topic.startsWith(prefix) && topic[prefix.length] !== '/';
  const isPart = (topic: string): boolean => topic.includes(key) && !levelsOf(topic).includes(key);
  return [
    ...(topics.some(isBegun) ? [SCOPE_BEGINS] : []),
    ...(topics.some((topic) => topic.indexOf(`${prefix}/`) > 0) ? [SCOPE_ANYWHERE] : []),
    ...(prefix === undefined && topics.some(isPart) ? [LEVEL_BEGINS] : []),
  ];
}

/** Whether a topic is taken that is out of scope in another way than these. */
export function contradictsTopics(
  test: Vector,
  { accepts }: { readonly accepts?: boolean },
  cause: string,
): boolean {
  const isOfScope = [SCOPE_BEGINS, SCOPE_ANYWHERE, LEVEL_BEGINS].includes(cause);
  const isTaken = accepts === true && test.error === 'topic-out-of-scope';
  return isOfScope && isTaken && mistakesInScope(test).length === 0;
}

/** Whether the right response to this test rules out the cause. */
export function refutesTopics(test: Vector, cause: string): boolean {
  // A length may be compared too, so that the prefix itself is refused.
  const isPrefix = ISSUED_TOPICS.some((name) => test.mqtt?.[name] === (test.mqtt?.topic_prefix ?? ''));
  return (!isPrefix && mistakesInScope(test).includes(cause)) || refutesFlags(test, cause);
}

/** Whether the key stands where its hash is due in all topics, or the hash where the key is. */
function isHashedOtherwise(test: Vector, response: Fields): boolean {
  const fields: readonly unknown[] = Object.values(test.mqtt ?? {});
  const isKey = (key: unknown): boolean => {
    if (typeof key !== 'string') return false;
    const hash = digest('sha256', key).slice(0, HASH_DIGITS);
    const isSwapped = (right: string, got: string): boolean =>
      TOPICS.every(
        (name) =>
          String(response[name]) !== test[name] && test[name].split(right).join(got) === response[name],
      );
    return isSwapped(key, hash) || isSwapped(hash, key);
  };
  return fields.some(isKey);
}

function mistakesInLevels(test: Vector, response: Fields): Causes {
  const [publish, subscribe] = [response.publish, response.subscribe];
  if (publish === test.subscribe && subscribe === test.publish && response.status === test.status) {
    return [SWAPPED];
  }
  const inLevels = mistakenLevels(test, response);
  if (inLevels !== undefined) return [`topics: ${inLevels}`];
  const substitutions = new Map<string, string>();
  for (const name of TOPICS) {
    const right = levelsOf(test[name]);
    const got = levelsOf(response[name]);
    if (right.length !== got.length) return [];
    for (const [index, level] of right.entries())
      if (level !== got[index]) substitutions.set(level, got[index]!);
  }
  const rights = [...substitutions.keys()];
  if (rights.length === 1) {
    const hash = mistakenHash(rights[0]!, substitutions.get(rights[0]!)!, Object.values(test.mqtt ?? {}));
    if (hash !== undefined) return [`topics: ${hash}`];
  }
  if (rights.length === 0 || !rights.every((level) => OWN_LEVELS.includes(level))) return [];
  const gots = [...substitutions.values()];
  const verbs = rights.length === 1 ? ['stands', 'does'] : ['stand', 'do'];
  return [`topics: ${gots.join(', ')} ${verbs[0]} where ${rights.join(', ')} ${verbs[1]}`];
}

/** A mistake in the number of levels, if it is the same in all topics that are wrong. */
function mistakenLevels(test: Vector, response: Fields): string | undefined {
  const pairs = TOPICS.map((name) => [String(test[name]), String(response[name])] as const);
  const wrong = pairs.filter(([right, got]) => right !== got);
  const all = (isSo: (right: string[], got: string[]) => boolean): boolean =>
    wrong.length > 0 && wrong.every(([right, got]) => isSo(levelsOf(right), levelsOf(got)));
  const same = (a: string[], b: string[]): boolean => a.join('/') === b.join('/');
  if (
    all((right, got) =>
      same(
        right,
        got.filter((level) => level !== ''),
      ),
    )
  ) {
    return 'slashes or empty levels stay; they are trimmed from the prefix and the hub id';
  }
  if (
    all((right, got) =>
      same(
        right,
        got.filter((level, at) => level !== got[at - 1]),
      ),
    )
  ) {
    return 'the hub id is in them twice; a prefix that ends with it has it already';
  }
  const lacks = (right: string[], got: string[]): boolean =>
    right.some((_level, at) => at > 0 && same([...right.slice(0, at), ...right.slice(at + 1)], got));
  if (all(lacks)) {
    return 'a level is missing';
  }
  return undefined;
}

const KEY_ITSELF = 'the access key is not hashed';
const NOT_HASHED = `topics: ${KEY_ITSELF}`;
const levelsOf = (topic: unknown): string[] => String(topic).split('/');
const digest = (algorithm: string, text: string): string => createHash(algorithm).update(text).digest('hex');

/** The mistake in a level that is not the hash of the access key. */
function mistakenHash(right: string, got: string, fields: readonly unknown[]): string | undefined {
  const texts = fields.filter((field) => typeof field === 'string');
  const key = texts.find((text) => digest('sha256', text).startsWith(right));
  if (key === undefined || right.length !== HASH_DIGITS) return undefined;
  const rule = `it is the first ${HASH_DIGITS} digits of its SHA-256`;
  if (got === key) return `${KEY_ITSELF}; with hash_topics, ${rule}`;
  if (digest('sha256', key).startsWith(got))
    return `the hash of the access key has ${got.length} digits; ${rule}`;
  if (digest('sha256', key).toUpperCase().startsWith(got)) {
    return `the hash of the access key is in upper case; ${rule}, in lower case`;
  }
  const algorithm = ['sha1', 'md5', 'sha512', 'sha3-256', 'blake2b512'].find((name) =>
    digest(name, key).startsWith(got),
  );
  if (algorithm !== undefined) return `the access key is hashed with ${algorithm}; ${rule}`;
  const other = texts.find((text) => digest('sha256', text).startsWith(got));
  return other === undefined ? undefined : `another field than the access key is hashed; ${rule}`;
}

const MOST_PORT = 65535n;
const MOST_SIGNED = 32767n;
const PORT_TAKEN = 'port: one beyond 65535 is taken; ports are 1 to 65535';
const PORT_SIGNED = 'port: one beyond 32767 is refused, as in 16 bits with a sign; ports go up to 65535';
const PORT_ZERO = 'port: 0 is taken; ports are 1 to 65535';
const WIDTHS = [16, 32, 64];
const portWraps = (bits: number): string =>
  `port: it is kept in ${bits} bits, so that ${2n ** BigInt(bits) + 1n} is taken for 1; a port beyond 65535 is refused`;
const MOST_DIGITS = 5; // of a port, which an implementation may count

/** The port in the address of a test. */
function portIn({ address, mqtt, text }: Vector): bigint | undefined {
  const given = [address, mqtt?.endpoint, text].find((value) => typeof value === 'string');
  const [, digits] = /:\/\/[^/?#"\s]*:(\d+)(?=[/?#"]|$)/.exec(given ?? '') ?? [];
  return digits === undefined ? undefined : BigInt(digits);
}

/** Whether a port becomes a port of these bits. */
function isWrapped(port: bigint, bits: number, most = MOST_PORT): boolean {
  const wrapped = BigInt.asUintN(bits, port);
  return port > MOST_PORT && wrapped > 0n && wrapped <= most;
}

/** Why an address is taken, or refused, for its port. */
export function mistakesInPort(test: Vector, { error, port: got, url }: Fields): string[] {
  const port = portIn(test);
  if (port === undefined) return [];
  if (test.error === undefined) return error === BAD && port > MOST_SIGNED ? [PORT_SIGNED] : [];
  if (test.error !== BAD || error !== undefined) return [];
  const shown = portIn({ address: url } as unknown as Vector);
  const isOther = got === undefined && shown !== port; // as where another address is chosen
  if (isOther && !WIDTHS.some((bits) => BigInt.asUintN(bits, port) === shown)) return [];
  if (port === 0n) return [PORT_ZERO];
  if (port <= MOST_PORT) return [];
  const fitting = WIDTHS.filter(
    (bits) => isWrapped(port, bits) && (got === undefined || got === Number(BigInt.asUintN(bits, port))),
  );
  const isTold = got !== undefined && fitting.length > 0;
  return [...(isTold ? [] : [PORT_TAKEN]), ...fitting.map(portWraps)];
}

/** Whether the right response to this test rules out the cause. */
export function refutesPort(test: Vector, cause: string): boolean {
  const port = portIn(test);
  if (port === undefined) return false;
  if (test.error === undefined) return cause === PORT_SIGNED && port > MOST_SIGNED;
  if (test.error !== BAD) return false;
  if (port <= MOST_PORT) return port === 0n && cause === PORT_ZERO;
  const bits = WIDTHS.find((bits) => portWraps(bits) === cause);
  if (bits === undefined) return cause === PORT_TAKEN;
  const isLong = bits === 16 && String(port).length > MOST_DIGITS;
  return !isLong && isWrapped(port, bits, MOST_SIGNED);
}

const BAD = 'bad-endpoint';

export const TLS_IGNORED = 'broker: `tls` is ignored; it turns mqtt: into mqtts: and ws: into wss:';

const PORTS: Readonly<Record<string, number>> = { mqtt: 1883, mqtts: 8883, ws: 80, wss: 443 };

const givenScheme = ({ mqtt }: Vector): string =>
  /[a-z]+(?=:)/i.exec(String(mqtt?.endpoint))?.[0].toLowerCase() ?? '';

const unknownScheme = (test: Vector): string =>
  `broker: the scheme ${givenScheme(test)}: is not known; mqtt:, mqtts:, ssl:, ws: and wss: are`;
const isOfScheme = (cause: string): boolean => cause.startsWith('broker: the scheme ');

/** Whether the right response to this test rules out a cause about brokers. */
export function refutesBroker(test: Vector, cause: string): boolean {
  return (
    (test.error === undefined && unknownScheme(test) === cause) ||
    (cause === TURNED_OFF && isTurnedOff(test, { tls: false })) ||
    refutesFlags(test, cause) ||
    refutesPort(test, cause)
  );
}

/** Whether this test is refused although its address has another scheme than the one of the cause. */
export function contradictsBroker(
  test: Vector,
  { refuses }: { readonly refuses?: boolean },
  cause: string,
): boolean {
  return isOfScheme(cause) && refuses === true && unknownScheme(test) !== cause;
}

const TURNED_OFF = 'broker: `tls` that is false turns TLS off; it turns nothing off, and the scheme decides';

/** Whether a flag that is false has made the address one without TLS. */
function isTurnedOff({ mqtt, tls, error }: Vector, response: Fields): boolean {
  const isPlain = response.error === 'plaintext-endpoint' || response.tls === false;
  const isFalse = mqtt?.tls === false || /^(?:0|false|no|off)$/i.test(String(mqtt?.tls));
  return error === undefined && tls === true && isPlain && isFalse;
}

/** The known mistakes that lead to this wrong broker. */
export function mistakesInBroker(test: Vector, response: Fields): Causes {
  const ofPort = mistakesInPort(test, response);
  if (test.error !== undefined) return ofPort;
  if (isTurnedOff(test, response)) return [TURNED_OFF];
  const isPlain = response.error === 'plaintext-endpoint' || (response.tls !== test.tls && !response.error);
  const isUnread = isPlain && /^(?:mqtt|ws):/i.test(test.mqtt?.endpoint);
  const inFlag = [...(test.tls && test.mqtt?.tls ? [TLS_IGNORED] : []), ...mistakesInWord(test)];
  if (isUnread && inFlag.length > 0) return inFlag;
  if (response.error === BAD) return [...ofPort, unknownScheme(test)];
  if (response.error !== undefined) return response.error === 'identity-field' ? mistakesInWord(test) : [];
  const wrong = ['url', 'host', 'port', 'tls'].filter((name) => response[name] !== test[name]);
  const scheme = test.url.replace(/:.*/, '');
  if (test.mqtt?.tls && !response.tls && test.tls) return [TLS_IGNORED];
  const [name] = wrong;
  if (wrong.length !== 1) return [];
  if (name === 'port' && !/:\d+(?:\/|$)/.test(test.url)) {
    const given = String(test.mqtt.endpoint).replace(/:.*/, '').toLowerCase();
    const isOfGiven = given !== scheme && response.port === PORTS[given];
    return [
      `broker: the default port of ${scheme} is ${response.port}; it is ${test.port}`,
      ...(isOfGiven ? [`broker: the default port is that of ${given}, from before TLS was asked for`] : []),
    ];
  }
  if (name === 'tls') return [`broker: tls is ${response.tls} with ${scheme}; it is ${test.tls}`];
  if (name === 'url' && String(response.url).startsWith(`${test.url}/`) && !/^wss?:/.test(test.url))
    return ['broker: the URL has a path; only ws: and wss: have one'];
  if (name === 'url' && String(response.url).replace(/:\d+(?=\/|$)/, '') === test.url) {
    return ['broker: the URL names the default port; it has the port that was given, if one was'];
  }
  return [];
}

/** The known mistakes in a client's presence messages. */
export function mistakesInPresence(test: Vector, response: Fields): Causes {
  for (const message of ['will', 'online', 'offline']) {
    for (const [name, right] of Object.entries(test[message])) {
      const got = (response[message] as Fields | undefined)?.[name];
      if (got !== right && name !== 'topic') {
        return [`presence: ${name} is ${JSON.stringify(got) ?? 'missing'}; it is ${JSON.stringify(right)}`];
      }
    }
  }
  return [];
}

interface Mistake {
  readonly cause: string;
  /** The field of the query, which is otherwise `authorization=` and the percent-encoded base64. */
  write(userAgent: string, accessKey: string): string;
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const field = (value: string): string => `authorization=${encodeURIComponent(value)}`;
const both = (userAgent: string, accessKey: string): string => base64(`${userAgent}:${accessKey}`);

const AUTHORIZATIONS: readonly Mistake[] = [
  {
    cause: 'it is not percent-encoded; the +, / and = of base64 are',
    write: (...names) => `authorization=${both(...names)}`,
  },
  {
    cause: 'its + is not percent-encoded, and means a space then',
    write: (...names) => field(both(...names)).replace(/%2B/g, '+'),
  },
  {
    cause: 'its / is not percent-encoded; encode all characters except letters, digits and -._~',
    write: (...names) => field(both(...names)).replace(/%2F/g, '/'),
  },
  {
    cause: 'only the first / is percent-encoded (replace of JavaScript with a string); all are',
    write: (...names) => {
      const [first, ...rest] = field(both(...names)).split('%2F');
      return [first, rest.join('/')].filter((_, at) => at === 0 || rest.length > 0).join('%2F');
    },
  },
  {
    cause: 'its = is not percent-encoded; encode all characters except letters, digits and -._~',
    write: (...names) => field(both(...names)).replace(/%3D/g, '='),
  },
  {
    cause: 'its + and = are not percent-encoded; encode all characters except letters, digits and -._~',
    write: (...names) =>
      field(both(...names))
        .replace(/%2B/g, '+')
        .replace(/%3D/g, '='),
  },
  {
    cause: 'it is percent-encoded twice',
    write: (...names) => field(encodeURIComponent(both(...names))),
  },
  {
    cause: 'it is base64url; it is base64, with + and /',
    write: (...names) =>
      field(
        both(...names)
          .replace(/\+/g, '-')
          .replace(/\//g, '_'),
      ),
  },
  {
    cause: 'it is base64url without padding; it is base64, with +, / and =',
    write: (...names) => field(Buffer.from(names.join(':')).toString('base64url')),
  },
  {
    cause: 'its padding is missing; base64 ends with = here',
    write: (...names) => field(both(...names).replace(/=+$/, '')),
  },
  {
    cause: 'the access key comes first; the user agent does',
    write: (userAgent, accessKey) => field(both(accessKey, userAgent)),
  },
  {
    cause: 'it holds the access key alone; the user agent and a colon come before it',
    write: (_userAgent, accessKey) => field(base64(accessKey)),
  },
  {
    cause: 'it is not base64',
    write: (...names) => field(names.join(':')),
  },
  {
    cause: 'it is encoded as Latin-1, with ? for other characters; it is UTF-8',
    write: (...names) =>
      field(Buffer.from(names.join(':').replace(/[^\0-\xff]/gu, '?'), 'latin1').toString('base64')),
  },
  {
    cause: 'it is encoded as ASCII, with ? for other characters; it is UTF-8',
    write: (...names) => field(base64(names.join(':').replace(/[^\0-\x7f]/gu, '?'))),
  },
  {
    cause: 'it is encoded as Latin-1; it is UTF-8',
    write: (...names) => field(Buffer.from(names.join(':'), 'latin1').toString('base64')),
  },
];

const upperCaseEscapes = (url: string): string =>
  url.replace(/%[0-9a-f]{2}/gi, (octet) => octet.toUpperCase());

function isWrittenWith({ write }: Mistake, test: Vector, got: string): boolean {
  if (test.url === undefined) return false;
  const right = field(both(test.userAgent, test.accessKey));
  const wrong = test.url.replace(right, () => write(test.userAgent, test.accessKey));
  return upperCaseEscapes(wrong) === upperCaseEscapes(got);
}

/** The whole URL with a mistake around the field, whose address may have a query. */
const URLS: readonly { readonly cause: string; write(base: string, query: string, field: string): string }[] =
  [
    {
      cause: 'an address without a path gets none; a slash comes before the query',
      write: (base, query, field) => `${base}?${before(others(query), '&')}${field}`,
    },
    {
      cause: 'a second question mark begins it; & does after another field',
      write: (base, query, field) => `${withPath(base)}?${before(others(query), '?')}${field}`,
    },
    {
      cause: 'an earlier one of the address stays; it is replaced',
      write: (base, query, field) => `${withPath(base)}?${before(query, '&')}${field}`,
    },
    {
      cause: 'an earlier one whose name is percent-encoded stays; it is replaced',
      write: (base, query, field) =>
        `${withPath(base)}?${before(
          others(query, (name) => name),
          '&',
        )}${field}`,
    },
    {
      cause:
        'the query is read and written again, in the order of its names; its other fields stay as they are',
      write: (base, query, field) => `${withPath(base)}?${writtenAnew(query, field, true)}`,
    },
    {
      cause: 'the query is read and written again; its other fields stay as they are',
      write: (base, query, field) => `${withPath(base)}?${writtenAnew(query, field, false)}`,
    },
    {
      cause: 'it comes before the other fields of the query; it comes last',
      write: (base, query, field) => `${withPath(base)}?${field}${others(query) && `&${others(query)}`}`,
    },
  ];

const before = (query: string, separator: string): string => query && `${query}${separator}`;

const decoded = (name: string): string =>
  name.replace(/%([\da-f]{2})/gi, (_, code) => String.fromCharCode(Number.parseInt(code, 16)));

/** The fields of a query that do not name the client. */
function others(query: string, read = decoded): string {
  const isOther = (field: string): boolean => {
    const [name] = field.split('=') as [string];
    return field !== '' && read(name) !== 'authorization';
  };
  return query.split('&').filter(isOther).join('&');
}

/** The fields as forms are written (application/x-www-form-urlencoded). */
function writtenAnew(query: string, field: string, isSorted: boolean): string {
  const fields = new URLSearchParams(others(query));
  if (isSorted) fields.append('authorization', decodeURIComponent(field.replace(/^[^=]*=/, '')));
  if (isSorted) fields.sort();
  return isSorted ? fields.toString() : [fields.toString(), field].filter((part) => part !== '').join('&');
}

const withPath = (base: string): string => (/^\w+:\/\/[^/]*$/.test(base) ? `${base}/` : base);

/** The mistakes around the field that lead to this URL, if they lead to another one than the right one. */
function mistakesInUrl({ url, address, userAgent, accessKey }: Vector, got: string): Causes {
  if (url === undefined || typeof address !== 'string') return [];
  const [base, query] = [address.replace(/\?.*/s, ''), address.replace(/^[^?]*\??/s, '')];
  const right = field(both(userAgent, accessKey));
  return URLS.filter(
    ({ write }) => upperCaseEscapes(write(base, query, right)) === upperCaseEscapes(got),
  ).map(({ cause }) => `authorization: ${cause}`);
}

const QUERY_LOST = 'authorization: the other fields of the query are left out; they stay as they are';

/** The known mistakes in the authorization in this URL. */
export function mistakesInAuthorization(test: Vector, { url, error }: Fields): Causes {
  const ofPort = mistakesInPort(test, { error, url });
  if (typeof url !== 'string' || ofPort.length > 0) return ofPort;
  const alone = String(test.url).replace(/\?.*/, '?') + field(both(test.userAgent, test.accessKey));
  if (test.url !== undefined && upperCaseEscapes(alone) === upperCaseEscapes(url)) return [QUERY_LOST];
  const inField = AUTHORIZATIONS.filter((mistake) => isWrittenWith(mistake, test, url));
  if (inField.length > 0) return inField.map(({ cause }) => `authorization: ${cause}`);
  return upperCaseEscapes(url) === upperCaseEscapes(String(test.url)) ? [] : mistakesInUrl(test, url);
}

/** Whether writing the right URL of this test rules out the mistake. */
export function refutesAuthorization(test: Vector, cause: string): boolean {
  if (refutesPort(test, cause)) return true;
  const mistake = AUTHORIZATIONS.find((mistake) => cause === `authorization: ${mistake.cause}`);
  if (test.url === undefined) return false;
  if (mistake !== undefined) return !isWrittenWith(mistake, test, test.url);
  const isOfUrl = URLS.some((other) => cause === `authorization: ${other.cause}`);
  return isOfUrl && !mistakesInUrl(test, test.url).includes(cause);
}

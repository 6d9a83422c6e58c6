/** The operations of the adapter protocol, and the check for each type of vector. */
import type { Fields } from '../adapter.ts';
import { firstDifference } from '../difference.ts';
import {
  contradictsBroker,
  contradictsTopics,
  mistakesInAuthorization,
  mistakesInBroker,
  mistakesInNumber,
  mistakesInPresence,
  mistakesInTopics,
  refutesAuthorization,
  refutesBroker,
  refutesNumber,
  refutesPort,
  refutesTopics,
} from '../mistakes/addresses.ts';
import {
  mistakesInBinary,
  mistakesInReadingBinary,
  refutesBinary,
  refutesReadingBinary,
} from '../mistakes/binary.ts';
import {
  contradictsPauses,
  mistakesInClientId,
  mistakesInDisclosure,
  mistakesInMatching,
  mistakesInPauses,
  mistakesInPreference,
  mistakesInReply,
  mistakesInRequest,
  mistakesInSelection,
  refutesClientId,
  refutesMatching,
  refutesPauses,
  refutesReply,
  refutesSelection,
} from '../mistakes/decisions.ts';
import {
  contradictsCanonicalJson,
  mistakesInAccepting,
  mistakesInCanonicalJson,
  mistakesInEmptyFields,
  mistakesInPrologue,
  refutesCanonicalJson,
  refutesPrologue,
  saidOfJson,
} from '../mistakes/json.ts';
import { mistakesInPsk, refutesPsk } from '../mistakes/known-psks.ts';
import { HUB_PROLOGUE } from '../mistakes/message-1.ts';
import type { Vector } from '../vectors.ts';
import { type Ask, type Causes, type Check, checkResponse, Failure } from '../verdict.ts';
import {
  checkReassemble,
  checkSplit,
  contradictsReassembly,
  refutesReassembly,
  refutesSplit,
} from './framing.ts';
import { checkLink, checkSchedule } from './link.ts';
import {
  checkHandshake,
  checkHandshakeFailure,
  checkOpen,
  checkSeal,
  contradictsHandshake,
  contradictsSeal,
  refutesCode,
  refutesHandshake,
  refutesSeal,
} from './noise.ts';
import { checkSession, contradictsSession, NOT_JSON, refutesSession } from './session.ts';

export interface Operation {
  readonly name: string;
  /** The subject of its vectors. */
  readonly shows: string;
  /** Operations whose mistakes make tests of this one fail too; itself, if one mistake makes most of its tests fail. */
  readonly uses: readonly string[];
}

/** In the order in which to implement them. vectors/README.md has the same table. */
export const OPERATIONS: readonly Operation[] = [
  operation('canonical-json', 'key order, escapes, number tokens, and what is not JSON'),
  operation('prologue', 'the order of its three parts', 'canonical-json'),
  operation('select', 'suite first, then pattern'),
  operation('psk', 'the salt, and the parameters of Argon2id', 'psk'),
  operation(
    'handshake',
    'XXpsk2 and KKpsk0, both roles, both suites, and what must fail',
    ...['handshake', 'seal', 'open'],
  ),
  operation('seal', 'nonces and their limit', 'handshake', 'seal'),
  operation('open', 'nonces and their limit, and that a failure is final', 'handshake', 'seal', 'open'),
  operation('split', 'markers and chunks', 'split'),
  operation('reassemble', 'markers, chunks, and the cap of 32 MiB', 'reassemble'),
  operation(
    'session',
    'whole connections, message by message, in both roles',
    ...['canonical-json', 'prologue', 'select', 'psk', 'handshake', 'seal', 'open', 'split', 'reassemble'],
    'session',
  ),
  operation('identity', 'aliases, defaults, refusals, redaction'),
  operation('endpoint', 'the choice of an endpoint', 'identity', 'endpoint'),
  operation('authorization', 'the URL of a WebSocket, with the access key in its query'),
  operation('disclosure', 'when people are told that they talk to an AI, and in which language'),
  operation('topics', 'MQTT topics'),
  operation('broker', 'the address of the MQTT broker'),
  operation('client-id', 'the MQTT client id'),
  operation('presence', 'what a client publishes about itself'),
  operation('request', 'the envelopes of requests'),
  operation('session-ids', 'whether two session ids match'),
  operation('reply', 'which events belong to a request, and what reply they make', 'session-ids'),
  operation('schedule', 'requests in flight and their deadlines', 'reply'),
  operation('policy', 'when to dial, how long to wait, when to ask a person'),
  operation('link', 'a client across all its connections', 'session', 'session-ids', 'schedule', 'policy'),
  operation('encode-binary', 'types, metadata and payloads of binary messages, bit by bit'),
  operation('decode-binary', 'the same, compressed messages, and bytes that are not a binary message'),
  operation('argon2id', 'Argon2id with other parameters, if you implement it yourself', 'argon2id'),
];

function operation(name: string, shows: string, ...uses: string[]): Operation {
  return { name, shows, uses };
}

interface PlainOptions {
  /** Whether the response may have only the fields of the vector, at any depth. */
  readonly isExact?: boolean;
  /** The known mistakes that lead to this response, including a refusal. */
  readonly mistakesIn?: (test: Vector, response: Fields) => Causes;
  /** As in Check. */
  readonly refutes?: (test: Vector, cause: string) => boolean;
  readonly contradicts?: NonNullable<Check['contradicts']>;
}

const EXACT: PlainOptions = { isExact: true };

/** By the type of the vector's group. */
export const CHECKS: { readonly [type: string]: Check } = {
  CanonicalJson: {
    operation: 'canonical-json',
    check: checkCanonicalJson,
    refutes: refutesCanonicalJson,
    contradicts: (test, failure, cause) =>
      // A parser that takes too much lets a session send it.
      (cause === NOT_JSON && failure.accepts === true) || contradictsCanonicalJson(test, failure, cause),
  },
  Prologue: {
    operation: 'prologue',
    check: checkPrologue,
    refutes: refutesPrologue,
    // A prologue that is wrong by itself is so in a hub, too.
    contradicts: (_test, _failure, cause) => cause === HUB_PROLOGUE,
  },
  SelectNoise: plain(
    'select',
    ['patterns', 'suites', 'own', 'pinned'],
    ['pattern', 'suite', 'protocolName'],
    { mistakesIn: mistakesInSelection, refutes: refutesSelection },
  ),
  Psk: { operation: 'psk', check: checkPsk, refutes: refutesPsk },
  Handshake: {
    operation: 'handshake',
    check: checkHandshake,
    refutes: refutesHandshake,
    contradicts: contradictsHandshake,
  },
  HandshakeFailure: { operation: 'handshake', check: checkHandshakeFailure, refutes: refutesCode },
  Seal: { operation: 'seal', check: checkSeal, refutes: refutesSeal, contradicts: contradictsSeal },
  Open: { operation: 'open', check: checkOpen },
  Split: { operation: 'split', check: checkSplit, refutes: refutesSplit },
  Reassemble: {
    operation: 'reassemble',
    check: checkReassemble,
    refutes: refutesReassembly,
    contradicts: contradictsReassembly,
  },
  Session: {
    operation: 'session',
    check: checkSession,
    refutes: refutesSession,
    contradicts: contradictsSession,
  },
  Identity: {
    operation: 'identity',
    check: checkIdentity,
    refutes: refutesNumber,
    // What is wrong elsewhere, too, does not come from a null.
    contradicts: (test, _failure, cause) => cause === NULL_COUNTS && !test.flags.includes(NULL_ABSENT),
  },
  SelectEndpoint: plain(
    'endpoint',
    ['text', 'supported', 'requested', 'allowPlaintext'],
    ['protocol', 'url', 'tls'],
    { mistakesIn: mistakesInPreference, refutes: refutesPort },
  ),
  AuthorizedUrl: { operation: 'authorization', check: checkAuthorizedUrl, refutes: refutesAuthorization },
  Disclosure: plain(
    'disclosure',
    ['aiDisclosure', 'lastGiven', 'tag', 'isVoice', 'isShared'],
    ['due', 'text', 'language'],
    { ...EXACT, mistakesIn: mistakesInDisclosure },
  ),
  Topics: plain('topics', ['mqtt'], ['publish', 'subscribe', 'status'], {
    mistakesIn: mistakesInTopics,
    refutes: refutesTopics,
    contradicts: contradictsTopics,
  }),
  BrokerEndpoint: plain('broker', ['mqtt', 'allowPlaintext'], ['url', 'host', 'port', 'tls'], {
    mistakesIn: mistakesInBroker,
    refutes: refutesBroker,
    contradicts: contradictsBroker,
  }),
  ClientId: plain('client-id', ['name', 'accessKey'], ['clientId'], {
    mistakesIn: mistakesInClientId,
    refutes: refutesClientId,
  }),
  Presence: plain('presence', ['status'], ['will', 'online', 'offline'], {
    ...EXACT,
    mistakesIn: mistakesInPresence,
  }),
  Request: plain('request', ['builder', 'arguments'], ['envelope'], {
    ...EXACT,
    mistakesIn: mistakesInRequest,
  }),
  SessionIdsMatch: plain('session-ids', ['declared', 'returned'], ['matches'], {
    mistakesIn: mistakesInMatching,
    refutes: refutesMatching,
  }),
  Reply: plain('reply', ['request', 'events', 'end'], ['state', 'ending', 'reply', 'refusal'], {
    ...EXACT,
    mistakesIn: (test, response) => {
      const inPolicy = mistakesInPolicy(test, response);
      return inPolicy.length > 0 ? inPolicy : mistakesInReply(test, response);
    },
    refutes: (test, cause) =>
      (cause === ANY_REFUSAL && test.flags.includes(NOT_BY_POLICY)) || refutesReply(test, cause),
  }),
  RequestScheduler: { operation: 'schedule', check: checkSchedule },
  ConnectionPolicy: plain('policy', ['options', 'random', 'steps'], ['results'], {
    ...EXACT,
    mistakesIn: mistakesInPauses,
    refutes: refutesPauses,
    contradicts: contradictsPauses,
  }),
  ClientLink: { operation: 'link', check: checkLink },
  EncodeBinary: plain('encode-binary', ['msgType', 'metadata', 'payload', 'binType', 'bytes'], ['message'], {
    mistakesIn: mistakesInBinary,
    refutes: refutesBinary,
  }),
  DecodeBinary: plain(
    'decode-binary',
    ['message', 'maxInflated'],
    ['msgType', 'metadata', 'payload', 'binType', 'bytes'],
    { ...EXACT, mistakesIn: mistakesInReadingBinary, refutes: refutesReadingBinary },
  ),
  Argon2id: plain(
    'argon2id',
    ['password', 'salt', 'secret', 'associatedData', 'passes', 'memoryKiB', 'parallelism', 'length'],
    ['tag'],
    { mistakesIn: mistakesInTag, contradicts: contradictsTag },
  ),
};

const NOT_BY_POLICY = 'NotByPolicy';
const ANY_REFUSAL =
  'reply: every refusal counts as one by policy; policyDenied is false with backend_unavailable and malformed_payload';

/** A refusal that is taken for a decision of policy. */
function mistakesInPolicy({ flags, reply }: Vector, response: Fields): Causes {
  const { policyDenied, rawEvent } = (response.reply ?? {}) as Fields;
  if (!flags.includes(NOT_BY_POLICY) || policyDenied !== true || reply.policyDenied !== false) return [];
  const code = (rawEvent as { data?: Fields } | undefined)?.data?.code;
  return [
    ANY_REFUSAL,
    `reply: a refusal with ${code} counts as one by policy; policyDenied is false with it`,
  ];
}

const LANES = 'Argon2id: tags are wrong with several lanes alone, in which a block may refer to another lane';

const TAG_64 =
  'Argon2id: tags of exactly 64 bytes are wrong; up to 64 bytes they are one BLAKE2b (RFC 9106, section 3.3)';
const isOf64 = (tag: string): boolean => tag.length === 2 * 64;

/** The cause of a wrong tag, if those of one lane, or of other lengths, are right. */
function mistakesInTag({ error, parallelism, tag }: Vector, response: Fields): Causes {
  const isTag = error === undefined && String(response.tag).length === tag.length;
  return [...(isTag && parallelism > 1 ? [LANES] : []), ...(isTag && isOf64(tag) ? [TAG_64] : [])];
}

function contradictsTag({ error, parallelism, tag }: Vector, _failure: unknown, cause: string): boolean {
  if (cause === TAG_64) return error === undefined && !isOf64(tag);
  return cause === LANES && error === undefined && parallelism === 1;
}

/**
 * One request with some fields of the vector, one response with others.
 */
function plain(
  operation: string,
  requestFields: readonly string[],
  responseFields: readonly string[],
  {
    isExact = false,
    mistakesIn = () => [],
    refutes = () => false,
    contradicts = () => false,
  }: PlainOptions = {},
): Check {
  return {
    operation,
    refutes,
    contradicts,
    async check(test, ask) {
      const response = await ask({ op: operation, ...pick(test, requestFields) });
      checkResponse(test, response, pick(test, responseFields), () => mistakesIn(test, response));
      if (isExact && test.error === undefined)
        checkExact(test, response, responseFields, () => mistakesIn(test, response));
    },
  };
}

/** Finds members of these fields of a response that the vector lacks, at any depth. */
function checkExact(
  test: Vector,
  response: Fields,
  fields: readonly string[],
  findCauses: () => Causes = () => [],
): void {
  for (const field of fields.filter((field) => test[field] !== undefined)) {
    const difference = firstDifference(field, test[field], response[field], true);
    if (difference !== undefined) throw new Failure(difference, findCauses());
  }
}

function pick(test: Vector, names: readonly string[]): Fields {
  return Object.fromEntries(
    names.filter((name) => test[name] !== undefined).map((name) => [name, test[name]]),
  );
}

/** Whether a text was accepted that then could not be written. */
const isUnwritable = ({ error }: Vector, response: Fields): boolean =>
  error === 'lone-surrogate' && String(response.error).startsWith('raised ');

async function checkCanonicalJson(test: Vector, ask: Ask): Promise<void> {
  const response = await ask({ op: 'canonical-json', ...pick(test, ['text', 'bytes']) });
  const { text, canonical } = test;
  try {
    checkResponse(test, response, { canonical }, () =>
      test.error === undefined
        ? mistakesInCanonicalJson(text, response.canonical, response.error)
        : response.error === undefined || isUnwritable(test, response)
          ? mistakesInAccepting(test)
          : [],
    );
  } catch (error) {
    if (!(error instanceof Failure) || test.error !== undefined) throw error;
    const { difference, causes, accepts, refuses } = error;
    const said = saidOfJson(canonical, response.canonical);
    throw new Failure({ ...difference, ...said }, causes, accepts, refuses);
  }
}

function inPrologue({ hello, handshake, protocolName, prologue }: Vector, got: unknown): Causes {
  const known = mistakesInPrologue(hello, handshake, protocolName, got);
  const isPlain = known.length > 0 && !known.some((cause) => cause.includes('omitempty'));
  const causes = isPlain ? known : [...known, ...mistakesInEmptyFields(hello, handshake, protocolName, got)];
  const isCut = typeof got === 'string' && got.length > SHORT && prologue.startsWith(got);
  return causes.length === 0 && isCut
    ? [`prologue: it is cut to ${got.length / 2} bytes; it has all of HELLO, HANDSHAKE and the protocol name`]
    : causes;
}

const SHORT = 256; // digits, which no buffer is too small for

async function checkPrologue(test: Vector, ask: Ask): Promise<void> {
  const { hello, handshake, protocolName, prologue } = test;
  const response = await ask({ op: 'prologue', hello, handshake, protocolName });
  checkResponse(test, response, { prologue }, () =>
    test.error === undefined
      ? inPrologue(test, response.prologue)
      : response.error === undefined || isUnwritable(test, response)
        ? [...new Set([hello, handshake].flatMap((text) => mistakesInAccepting({ ...test, text })))]
        : [],
  );
}

async function checkPsk(test: Vector, ask: Ask): Promise<void> {
  const { password, nodeId, psk } = test;
  const response = await ask({ op: 'psk', password, nodeId });
  checkResponse(test, response, { psk }, () => mistakesInPsk(psk, response.psk));
}

/** The digits of percent-encoding may have either case (RFC 3986, section 2.1). */
async function checkAuthorizedUrl(test: Vector, ask: Ask): Promise<void> {
  const { url, ...request } = pick(test, ['address', 'userAgent', 'accessKey', 'allowPlaintext', 'url']);
  const response = await ask({ op: 'authorization', ...request });
  const isSame =
    typeof response.url === 'string' && withUpperCaseEscapes(response.url) === withUpperCaseEscapes(test.url);
  checkResponse(test, isSame ? { ...response, url } : response, { url }, () =>
    mistakesInAuthorization(test, response),
  );
}

function withUpperCaseEscapes(url = ''): string {
  return url.replace(/%[0-9a-f]{2}/gi, (octet) => octet.toUpperCase());
}

const NULL_ABSENT = 'NullIsAbsent';
const NULL_COUNTS =
  'fields: one that is null counts as a value; null is absent, and the next name of the field that has a value counts';
const PROTOCOLS: { readonly [name: string]: readonly string[] } = {
  wss: ['wss', 'websocket'],
  https: ['https', 'http'],
  mqtt: ['mqtt'],
};

/** What an identity says about protocols. */
function protocolsIn(text: string): object {
  try {
    return JSON.parse(text).protocols ?? {};
  } catch {
    return {}; // it is refused
  }
}

/** A protocol that is on or off by default, against the rules. */
function mistakesInProtocols({ text, identity }: Vector, got: unknown): Causes {
  const [due, is] = [identity, got].map((read) => ((read as Fields | undefined)?.protocols ?? {}) as Fields);
  const wrong = Object.keys(PROTOCOLS).filter(
    (name) => typeof is![name] === 'boolean' && is![name] !== due![name],
  );
  const named = Object.keys(protocolsIn(text));
  const isNamed = (name: string): boolean => PROTOCOLS[name]!.some((alias) => named.includes(alias));
  return wrong
    .filter((name) => !isNamed(name))
    .map(
      (name) =>
        `protocols: ${name} is ${is![name] ? 'on' : 'off'} by default; without a word about it, wss is on, https is off, and mqtt is on with a broker`,
    );
}

/** An identity as read; and its redacted form, which must not contain a secret in any encoding. */
async function checkIdentity(test: Vector, ask: Ask): Promise<void> {
  const { text, identity, secrets } = test;
  const response = await ask({ op: 'identity', text });
  checkResponse(test, response, { identity }, () => {
    const read = response.identity as { defaultPort?: unknown; mqtt?: { qos?: unknown } } | undefined;
    const inNumber = [read?.mqtt?.qos, read?.defaultPort].flatMap((got) => mistakesInNumber(test, got));
    if (inNumber.length > 0) return inNumber;
    const inDefaults = mistakesInProtocols(test, response.identity);
    if (inDefaults.length > 0) return inDefaults;
    return test.error === undefined && test.flags.includes(NULL_ABSENT) ? [NULL_COUNTS] : [];
  });
  if (test.error !== undefined) return;
  checkExact(test, response, ['identity']);
  const shown = JSON.stringify(response.redacted ?? null);
  for (const secret of secrets as string[]) {
    const form = formsOf(secret).find(([, text]) => shown.includes(text));
    if (form === undefined) continue;
    const got = `the secret ${JSON.stringify(secret)} of this test`;
    const name = nameIn(identity, secret);
    const [how] = form;
    const cause =
      name === undefined
        ? `redaction: a redacted identity contains one of its secrets ${how}; no form of it is shown`
        : `redaction: a redacted identity shows its ${name} ${how}; no form of it is shown`;
    throw new Failure({ where: 'redacted', expected: 'no secrets', got }, [cause]);
  }
}

/** The field of an identity that is, or contains, this secret: `mqtt.username`. */
function nameIn(identity: Fields, secret: string): string | undefined {
  for (const [name, value] of Object.entries(identity)) {
    if (typeof value === 'string' && value === secret) return name;
    const inner = typeof value === 'object' && value !== null ? nameIn(value as Fields, secret) : undefined;
    if (inner !== undefined) return `${name}.${inner}`;
  }
  return undefined;
}

/** The forms of a secret, the plain one first. */
function formsOf(secret: string): [how: string, text: string][] {
  const bytes = Buffer.from(secret);
  return [
    ['as it is', secret],
    ['as it is', JSON.stringify(secret).slice(1, -1)],
    ['in hexadecimal', bytes.toString('hex')],
    ['in base64', bytes.toString('base64')],
    ['percent-encoded', encodeURIComponent(secret)],
  ];
}

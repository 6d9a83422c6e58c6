/** The operations of the adapter protocol, and the check for each type of vector. */
import { inflateSync } from 'node:zlib';
import type { Fields } from '../adapter.ts';
import { firstDifference } from '../difference.ts';
import { mistakenPrologues, saidOfJson } from '../mistakes/json.ts';
import { mistakenPsks } from '../mistakes/psk.ts';
import { bytesToHex, bytesToUtf8, canonicalJson, decodeBinary, hexToBytes, type Json } from '../protocol.ts';
import type { Vector } from '../vectors.ts';
import { type Ask, type Check, checkResponse, Failure, type Verdict } from '../verdict.ts';
import { checkReassemble, checkSplit } from './framing.ts';
import { checkLink, checkSchedule } from './link.ts';
import { checkHandshake, checkHandshakeFailure, checkOpen, checkSeal } from './noise.ts';
import { checkSession } from './session.ts';

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

const EXACT = true;

function operation(name: string, shows: string, ...uses: string[]): Operation {
  return { name, shows, uses };
}

/** By the type of the vector's group. */
export const CHECKS: { readonly [type: string]: Check } = {
  CanonicalJson: { operation: 'canonical-json', check: checkCanonicalJson },
  Prologue: { operation: 'prologue', check: checkPrologue, refutes: refutesPrologue },
  SelectNoise: plain('select', ['patterns', 'suites', 'own', 'pinned'], ['pattern', 'suite', 'protocolName']),
  Psk: { operation: 'psk', check: checkPsk },
  Handshake: { operation: 'handshake', check: checkHandshake },
  HandshakeFailure: { operation: 'handshake', check: checkHandshakeFailure },
  Seal: { operation: 'seal', check: checkSeal },
  Open: { operation: 'open', check: checkOpen },
  Split: { operation: 'split', check: checkSplit },
  Reassemble: { operation: 'reassemble', check: checkReassemble },
  Session: { operation: 'session', check: checkSession },
  Identity: { operation: 'identity', check: checkIdentity },
  SelectEndpoint: plain(
    'endpoint',
    ['text', 'supported', 'requested', 'allowPlaintext'],
    ['protocol', 'url', 'tls'],
  ),
  AuthorizedUrl: { operation: 'authorization', check: checkAuthorizedUrl },
  Disclosure: plain(
    'disclosure',
    ['aiDisclosure', 'lastGiven', 'tag', 'isVoice', 'isShared'],
    ['due', 'text', 'language'],
    EXACT,
  ),
  Topics: plain('topics', ['mqtt'], ['publish', 'subscribe', 'status']),
  BrokerEndpoint: plain('broker', ['mqtt', 'allowPlaintext'], ['url', 'host', 'port', 'tls']),
  ClientId: plain('client-id', ['name', 'accessKey'], ['clientId']),
  Presence: plain('presence', ['status'], ['will', 'online', 'offline'], EXACT),
  Request: plain('request', ['builder', 'arguments'], ['envelope'], EXACT),
  SessionIdsMatch: plain('session-ids', ['declared', 'returned'], ['matches']),
  Reply: plain('reply', ['request', 'events', 'end'], ['state', 'ending', 'reply', 'refusal'], EXACT),
  RequestScheduler: { operation: 'schedule', check: checkSchedule },
  ConnectionPolicy: plain('policy', ['options', 'random', 'steps'], ['results'], EXACT),
  ClientLink: { operation: 'link', check: checkLink },
  EncodeBinary: { operation: 'encode-binary', check: checkEncodeBinary },
  DecodeBinary: plain(
    'decode-binary',
    ['message', 'maxInflated'],
    ['msgType', 'metadata', 'payload', 'binType', 'bytes'],
    EXACT,
  ),
  Argon2id: plain(
    'argon2id',
    ['password', 'salt', 'secret', 'associatedData', 'passes', 'memoryKiB', 'parallelism', 'length'],
    ['tag'],
  ),
};

/**
 * One request with some fields of the vector, one response with others.
 * @param isExact - whether the response may have only the fields of the vector, at any depth
 */
function plain(
  operation: string,
  requestFields: readonly string[],
  responseFields: readonly string[],
  isExact = false,
): Check {
  return {
    operation,
    async check(test, ask) {
      const response = await ask({ op: operation, ...pick(test, requestFields) });
      checkResponse(test, response, pick(test, responseFields));
      if (isExact && test.error === undefined) checkExact(test, response, responseFields);
    },
  };
}

/** Finds members of these fields of a response that the vector lacks, at any depth. */
function checkExact(test: Vector, response: Fields, fields: readonly string[]): void {
  for (const field of fields.filter((field) => test[field] !== undefined)) {
    const difference = firstDifference(field, test[field], response[field], true);
    if (difference !== undefined) throw new Failure(difference);
  }
}

function pick(test: Vector, names: readonly string[]): Fields {
  return Object.fromEntries(
    names.filter((name) => test[name] !== undefined).map((name) => [name, test[name]]),
  );
}

async function checkCanonicalJson(test: Vector, ask: Ask): Promise<void> {
  const response = await ask({ op: 'canonical-json', ...pick(test, ['text', 'bytes']) });
  const { canonical } = test;
  try {
    checkResponse(test, response, { canonical });
  } catch (error) {
    if (!(error instanceof Failure) || test.error !== undefined) throw error;
    const { difference, causes, accepts, refuses } = error;
    const said = saidOfJson(canonical, response.canonical);
    throw new Failure({ ...difference, ...said }, causes, accepts, refuses);
  }
}

async function checkPrologue(test: Vector, ask: Ask): Promise<void> {
  const { hello, handshake, protocolName, prologue } = test;
  const response = await ask({ op: 'prologue', hello, handshake, protocolName });
  checkResponse(test, response, { prologue }, () =>
    test.error === undefined ? prologuesOf(test, (other) => other === response.prologue) : [],
  );
}

/** The mistakes that lead to one of these prologues. */
function prologuesOf(
  { hello, handshake, protocolName }: Vector,
  is: (prologue: string) => boolean,
): string[] {
  return mistakenPrologues(hello, handshake, protocolName)
    .filter(({ prologue }) => is(bytesToHex(prologue)))
    .map(({ cause }) => cause);
}

/** Whether this test, by passing or failing otherwise, rules out the mistake, which would show in it. */
function refutesPrologue(test: Vector, { failure }: Verdict, cause: string): boolean {
  if (test.error !== undefined || failure?.causes.includes(cause)) return false;
  return prologuesOf(test, (other) => other !== test.prologue).includes(cause);
}

async function checkPsk(test: Vector, ask: Ask): Promise<void> {
  const { password, nodeId, psk } = test;
  const response = await ask({ op: 'psk', password, nodeId });
  checkResponse(test, response, { psk }, () => (test.tcId === 1 ? pskOf(test, response.psk) : []));
}

/** The mistake that leads to this PSK. Only one test is tried, since each mistake takes up to a second. */
function pskOf({ password, nodeId }: Vector, got: unknown): string[] {
  const mistake = mistakenPsks(password, nodeId).find(({ derive }) => derive() === got);
  return mistake === undefined ? [] : [mistake.cause];
}

/** With --spec-only a message may be written in any form that is read as the same. */
async function checkEncodeBinary(test: Vector, ask: Ask): Promise<void> {
  const { message, isSpecOnly, ...fields } = test;
  const request = pick(fields, ['msgType', 'metadata', 'payload', 'binType', 'bytes']);
  const response = await ask({ op: 'encode-binary', ...request });
  const [due, got] = [message, response.message].map(isSpecOnly ? readBinary : String);
  checkResponse(test, due === got ? { ...response, message } : response, { message });
}

/** What a binary message holds, as canonical JSON; its digits if it cannot be read. */
function readBinary(message: unknown): string {
  try {
    const inflate = (bytes: Uint8Array): Uint8Array => inflateSync(bytes);
    const { payload, ...read } = decodeBinary(hexToBytes(String(message))!, { inflate });
    const isBytes = payload instanceof Uint8Array;
    return bytesToUtf8(canonicalJson({ ...read, payload: isBytes ? bytesToHex(payload) : payload } as Json))!;
  } catch {
    return String(message);
  }
}

/** The digits of percent-encoding may have either case (RFC 3986, section 2.1). */
async function checkAuthorizedUrl(test: Vector, ask: Ask): Promise<void> {
  const { url, ...request } = pick(test, ['address', 'userAgent', 'accessKey', 'allowPlaintext', 'url']);
  const response = await ask({ op: 'authorization', ...request });
  const isSame =
    typeof response.url === 'string' && withUpperCaseEscapes(response.url) === withUpperCaseEscapes(test.url);
  checkResponse(test, isSame ? { ...response, url } : response, { url });
}

function withUpperCaseEscapes(url = ''): string {
  return url.replace(/%[0-9a-f]{2}/gi, (octet) => octet.toUpperCase());
}

/** An identity as read; and its redacted form, which must not contain a secret in any encoding. */
async function checkIdentity(test: Vector, ask: Ask): Promise<void> {
  const { text, identity, secrets } = test;
  const response = await ask({ op: 'identity', text });
  checkResponse(test, response, { identity });
  if (test.error !== undefined) return;
  checkExact(test, response, ['identity']);
  const shown = JSON.stringify(response.redacted ?? null);
  for (const secret of secrets as string[]) {
    const form = formsOf(secret).find(([, text]) => shown.includes(text));
    if (form === undefined) continue;
    const got = `the secret ${JSON.stringify(secret)} of this test`;
    const says = `redaction: a redacted identity shows a secret ${form[0]}; no form of it is shown`;
    throw new Failure({ where: 'redacted', expected: 'no secrets', got, says });
  }
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

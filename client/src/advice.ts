/** Sentences for people. */

import type { ErrorCode, LinkEvent } from 'hub-protocol';
import { fingerprint, type Keyring, readRefusal } from 'hub-protocol';
import { isCause, type Place, sentenceOfCause } from './causes.ts';

/** The sentences of a transport, by the code of the error. */
export type Advice = { readonly [code in ErrorCode]?: string };

/** Says nothing of handshake patterns, and of the possible causes: the next attempt names the one. */
const KK_FAILED = 'The stored keys did not work. Trying another way.';

/** @returns what a person must know when a hub that knows the password has another key than the one that was pinned */
export function sentenceForReplacement({
  key,
  replaces,
}: Extract<LinkEvent, { type: 'hub-replaced' }>): string {
  return `The hub’s key was ${fingerprint(replaces!)} and is now ${fingerprint(key)}. It was accepted, because this hub knows the password. Ask the hub’s operator whether the key has changed. If not, somebody else who knows the password is in the hub’s place.`;
}

/** If a question or a message is late, and the connection for it has not failed. */
export const NOT_READY: string =
  'The question could not be sent in time: the client was still connecting, or an earlier question was still open. Try again.';

/** Instructions for the hub's operator. The library cannot give them, since its errors do not name this client. */
const TO_THE_OPERATOR: { readonly [code in ErrorCode]?: (key: string) => string } = {
  'client-key-refused': (key) =>
    `The connection was refused when this client had shown its key, ${key}. Most likely the hub knows this client by another key, or another device uses this access key: ask its operator, who can forget the other key (on HiveMind's hub: hivemind-core reset-noise-pin with the number of the client).`,
  'kk-refused': () => KK_FAILED,
  'kk-failed': () => KK_FAILED,
  refused: (key) =>
    `The connection was refused right after the handshake. Ask the hub’s operator whether the access key was revoked, and whether the hub knows this client by another key than ${key}.`,
  'psk-differs': (key) =>
    `The hub’s answer does not fit the password: most likely the hub has another one for this client. Ask its operator, and name this client’s key, ${key}.`,
};

/**
 * @param keyring - `undefined` if it cannot be read
 * @param platform - the sentences of the transport, which come before all others, and where it leads
 * @returns a sentence, with the fingerprint of this client’s key if an operator needs it
 */
export function sentenceFor(
  error: Error & { code?: string; platformCode?: string },
  keyring: Keyring | undefined,
  { advice = {}, place }: { advice?: Advice | undefined; place?: Place | undefined } = {},
): string {
  const code = error.code as ErrorCode;
  if (place !== undefined && isCause(code))
    return sentenceOfCause({ cause: code, platformCode: error.platformCode }, place);
  if (advice[code] !== undefined) return advice[code];
  const tell = TO_THE_OPERATOR[code];
  const publicKey = keyring?.staticKey.publicKey;
  if (tell !== undefined && publicKey !== undefined) return tell(fingerprint(publicKey));
  const message = error.message || `the client failed without a message (${error.name})`;
  const sentence = `${message.slice(0, 1).toUpperCase()}${message.slice(1)}.`;
  const [, status, wants] = /^HTTP_(\d+)(_LOGIN)?$/.exec(error.platformCode ?? '') ?? [];
  if (code === 'unavailable' && status !== undefined && place !== undefined)
    return sentenceOfCause({ cause: 'not-reachable', platformCode: `HTTP_${status}` }, place);
  if (wants !== undefined)
    return `A server in front of the hub at ${place?.at} wants a login (HTTP ${status}). Ask its operator for one, and pass it: socket: { headers: { authorization } }.`;
  if (code !== 'access-refused' || status === undefined) return sentence;
  return `${sentence} The answer was HTTP ${status}, which may also come from a server in front of the hub, such as a firewall.`;
}

/** The close code with which HiveMind's hub ends a connection after an envelope that the client may not send. */
const FORBIDDEN = 4003;

/** What the operator of HiveMind's hub does to allow an envelope, by the reason in the close frame. */
const TO_ALLOW: { readonly [reason: string]: readonly [type: string, commands: string] } = {
  'BROADCAST is not allowed for this client': ['broadcast', 'make-admin and allow-broadcast'],
  'PROPAGATE is not allowed for this client': ['propagate', 'allow-propagate'],
  'ESCALATE is not allowed for this client': ['escalate', 'allow-escalate'],
  'QUERY is not allowed for this client': ['query', 'allow-escalate'],
  'CASCADE is not allowed for this client': ['cascade', 'allow-propagate'],
};

/** How the hub closed a connection that had been opened. */
export interface HubClosing {
  readonly code?: number | undefined;
  readonly reason?: string | undefined;
  /** Whether the hub had said nothing. */
  readonly isSilent?: boolean;
  /** Where older hubs refuse with such a code, and hubs over HTTPS. */
  readonly point?: keyof typeof MAY_BE_REFUSED | undefined;
  /** How many connections in a row have ended at such a point. */
  readonly times?: number;
  /** How many connections to a broker in a row were lost soon after they were ready. */
  readonly losses?: number;
}

/** From how many of these on another connection may use the access key. */
export const LOSSES = 3;

/** What may be refused, by how far the connection had come. */
const MAY_BE_REFUSED = {
  'before message 1': 'not know the access key, or not admit this client yet',
  'before message 2': 'have another password or another key for this client, or not know the access key',
  'before a message': 'know this client by another key',
} as const;

/** With 1000 and 1005 older hubs refuse, and others say goodbye. */
const AMBIGUOUS: readonly unknown[] = [1000, 1005];

/**
 * @param written - how many texts this client has written; it writes bytes once it is ready
 * @returns where the connection ended, if a hub may have refused it there
 */
export function pointOf(code: unknown, written: number, isReady: boolean): HubClosing['point'] {
  if (!AMBIGUOUS.includes(code)) return undefined;
  if (isReady) return 'before a message';
  return written > 0 ? 'before message 2' : 'before message 1';
}

/** @returns a sentence if more is known than that the connection was lost. The hub's text is not shown */
export function sentenceForClosing({
  code,
  reason = '',
  isSilent = false,
  point,
  times = 0,
  losses = 0,
}: HubClosing): string | undefined {
  if (losses >= LOSSES) {
    return 'The broker ends one connection after the other soon after it is ready. Another connection may use this access key, and a broker keeps only the latest: let each program and device have an identity of its own.';
  }
  if (point !== undefined && times >= 3) {
    return `The hub has ended ${times} connections in a row before it said anything on them that is encrypted. Older hubs, and hubs over HTTPS, refuse like this: the hub may ${MAY_BE_REFUSED[point]}. Ask its operator.`;
  }
  if (code === 1006 && isSilent) {
    return 'The connection was lost before the hub said anything. Look into the log of the hub, and of a proxy in front of it. HiveMind’s hub must be hivemind-core 4.7 or later.';
  }
  if (code !== FORBIDDEN) return undefined;
  const known = Object.prototype.hasOwnProperty.call(TO_ALLOW, reason) ? TO_ALLOW[reason] : undefined;
  return known === undefined
    ? 'The hub ended the connection because its policy forbids something that this client has sent. Ask its operator what this client may send.'
    : `The hub ended the connection because this client may not send ${known[0]} envelopes. Ask its operator to allow it (on HiveMind's hub: hivemind-core ${known[1]}).`;
}

/** @returns a sentence that says why a message of the hub was dropped, and what helps */
export function sentenceForDropped({
  reason,
  bytes,
  error,
}: Pick<Extract<LinkEvent, { type: 'dropped' }>, 'reason' | 'bytes' | 'error'>): string {
  const dropped = `A message of the hub with ${bytes} bytes was dropped`;
  if (reason === 'too-large')
    return `${dropped}: it is longer than this program accepts. Let the hub send less. A message may have half of the option maxMemory, and at most 32 MiB.`;
  if (reason === 'too-many-values')
    return `${dropped}: it has more values than this program accepts. Let the hub send fewer, or raise the option maxValues.`;
  if (reason === 'not-utf8') return `${dropped}: it is not UTF-8. Report this to the makers of the hub.`;
  switch (error?.code) {
    case 'bad-compression':
      return `${dropped}: it is damaged, or inflates to more than this program accepts, which is a 64th of the option maxMemory.`;
    default:
      return `${dropped}: this program cannot read it (${error?.code}). Update this program, or the hub.`;
  }
}

/** @returns a sentence that says why an answer is missing or incomplete; `undefined` if it is complete */
export function sentenceForAnswer({
  ending,
  isTruncated,
  reply,
}: Pick<Extract<LinkEvent, { type: 'finish' }>, 'ending' | 'isTruncated' | 'reply'>): string | undefined {
  switch (ending) {
    case 'handled':
    case 'spoken':
      return isTruncated ? 'The answer is too long: a part of it was left out.' : undefined;
    case 'unanswered':
      return 'The hub has no answer to that. Try other words.';
    case 'denied':
      return sentenceForRefusal(readRefusal(reply.rawEvent)?.code);
    case 'query-timeout':
      return 'The hub asked others, and had no complete answer from them in time.';
    case 'timeout':
      return reply.rawEvent === null
        ? 'The hub did not answer in time.'
        : 'The hub did not complete its answer in time.';
    case 'closed':
      return 'The connection ended before the answer was complete.';
  }
}

/** The hub chooses the code. */
function sentenceForRefusal(code: string | undefined): string {
  switch (code) {
    case 'backend_unavailable':
      return 'The hub could not process the question: its message bus is down. Tell its operator.';
    case 'malformed_payload':
      return 'The hub could not read the question. Update this program, or the hub.';
    case 'intent_quota_exceeded':
      return 'This client has asked as often as the hub allows. Ask again later.';
    default:
      return 'The hub refused the question. Ask its operator why.';
  }
}

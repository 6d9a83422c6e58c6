/** What a person is told, and what an operator. */

import type { ErrorCode, LinkEvent } from 'hub-protocol';
import { fingerprint, type Keyring, readRefusal } from 'hub-protocol';
import type { Answer, AskError } from './options.ts';
import type { Failure, Platform } from './platform.ts';

export type Telling = Pick<AskError, 'tell' | 'advice' | 'who'>;
type Said = readonly [who: Telling['who'], tell: string];
type Told<Type extends LinkEvent['type']> = Extract<LinkEvent, { type: Type }>;

const AGAIN = 'Connecting again.';
const CALL = 'Please tell the operator.';
const CALL_DEVELOPER = 'Please tell its developer.';
const LASTS = `${AGAIN} If this goes on, tell the operator.`;

const LOST: Said = ['nobody', `The connection was lost. ${AGAIN}`];
const LOST_OFTEN: Said = ['operator', `The connection was lost. ${LASTS}`];
const NO_CONNECTION: Said = ['operator', `There is no connection to the hub. ${LASTS}`];
const REFUSED: Said = ['operator', `The connection was refused. ${CALL}`];
const STRANGE: Said = ['operator', `This device does not recognise its hub. ${CALL}`];
const KEYS: Said = ['nobody', `The stored keys did not work. ${AGAIN}`];
const NO_KEYS: Said = ['operator', `This device cannot read or save its keys. ${CALL}`];
const UNUSABLE: Said = ['operator', `The hub sent something that this program cannot use. ${LASTS}`];
const UNSENDABLE: Said = ['developer', 'This program cannot send that.'];
const FAILED: Said = ['developer', `This program does not work here. ${CALL_DEVELOPER}`];

/** Who has to act, and what a person is told, by the code of the error, or of the platform. */
const TOLD: { readonly [code in ErrorCode | 'ANOTHER_TAB' | 'CONNECT_SRC']?: Said } = {
  dropped: LOST,
  'text-after-ready': LOST_OFTEN, // over MQTT, of a hub that knows this client by another key, too
  'kk-refused': KEYS,
  'kk-failed': KEYS,
  'static-key-fresh': KEYS,
  'keyring-replaced': KEYS,
  'wrong-state': ['nobody', 'The question could not be sent in time. Ask again.'],
  'session-over': ['nobody', 'This program has disconnected.'],
  ANOTHER_TAB: ['nobody', 'This is open in another tab or window: go on there, or close it.'],
  CONNECT_SRC: FAILED,
  'not-reachable': NO_CONNECTION,
  'not-a-hub': NO_CONNECTION,
  unavailable: NO_CONNECTION,
  'bad-endpoint': NO_CONNECTION,
  timeout: ['operator', `The hub does not answer. ${LASTS}`],
  'protocol-version': ['operator', `This program and the hub do not fit together. ${CALL}`],
  'certificate-refused': ['operator', `This device cannot verify the hub. ${CALL}`],
  'broker-refused': NO_CONNECTION, // the account, the topic, a message, or just now
  'access-refused': REFUSED,
  'negotiation-refused': REFUSED,
  'client-key-refused': REFUSED,
  refused: REFUSED,
  'out-of-memory': ['developer', `This program has run out of memory. ${CALL_DEVELOPER}`],
  'psk-differs': STRANGE,
  'hub-key-changed': STRANGE,
  'unknown-hub': STRANGE,
  'pin-differs': STRANGE,
  'slots-unreadable': NO_KEYS,
};

/** A mistake in what was to be sent. A hub's mistakes have some of these codes, too. */
const OF_QUESTIONS =
  /^(bad-argument|not-json|unsafe-number|lone-surrogate|json-depth|message-too-long|too-many-requests)$/;

const telling = ([who, tell]: Said, advice: string): Telling => ({ tell, advice, who });

const KK_FAILED = 'KKpsk0 failed. The next attempt, with XXpsk2, works, or names the cause.';

/** What is known without the message of an error, which does not name this client. */
const ADVICE: { readonly [code in ErrorCode]?: (key: string) => string } = {
  'client-key-refused': (key) =>
    `The connection was refused when this client had shown its key, ${key}. Most likely the hub knows this client by another key, or another device uses this access key: ask its operator, who can forget the other key (on HiveMind's hub: hivemind-core reset-noise-pin with the number of the client).`,
  'kk-refused': () => KK_FAILED,
  'kk-failed': () => KK_FAILED,
  refused: (key) =>
    `The connection was refused right after the handshake. Ask the hub’s operator whether the access key was revoked, whether the hub knows this client by another key than ${key}, and whether it is full.`,
  'psk-differs': (key) =>
    `The hub’s answer does not fit the password: most likely the hub has another one for this client. Ask its operator, and name this client’s key, ${key}.`,
  'wrong-state': () =>
    'The client was still connecting, which takes longer at first contact, or an earlier question was still open. Let questions wait longer (option timeout).',
  dropped: () =>
    'The hub, the network or something in between ended the connection. If that happens while nothing is asked, lower the option pingEvery.',
};

/**
 * @param keyring - `undefined` if it cannot be read
 * @param advise - what the transport knows comes before all else
 * @returns what to tell of an error, with the fingerprint of this client’s key if an operator needs it
 */
export function tellingOf(
  error: Failure,
  keyring: Keyring | undefined,
  { advise }: Pick<Platform, 'advise'> = {},
): Telling {
  const { code, platformCode, message, name } = error;
  const publicKey = keyring?.staticKey.publicKey;
  const own = publicKey && ownField(ADVICE, code)?.(fingerprint(publicKey));
  const advice =
    advise?.(error) ?? own ?? asSentence(message || `the client failed without a message (${name})`);
  const kind = name === 'RemoteError' ? UNUSABLE : OF_QUESTIONS.test(`${code}`) ? UNSENDABLE : FAILED;
  const others = /^keyring-/.test(`${code}`) ? NO_KEYS : kind;
  return telling(ownField(TOLD, platformCode) ?? ownField(TOLD, code) ?? others, advice);
}

/** A field that is not inherited: others choose the names. */
function ownField<Value>(table: { readonly [name: string]: Value }, name = ''): Value | undefined {
  return Object.prototype.hasOwnProperty.call(table, name) ? table[name] : undefined;
}

export function asSentence(message: string): string {
  return `${message.slice(0, 1).toUpperCase()}${message.slice(1)}.`;
}

/** What to tell when a hub that knows the password has another key than the one that was pinned. */
export function tellingOfReplacement({ key, replaces }: Told<'hub-replaced'>): Telling {
  return telling(
    ['operator', `The hub has a new key. ${CALL}`],
    `The hub’s key was ${fingerprint(replaces!)} and is now ${fingerprint(key)}. It was accepted, because this hub knows the password. Ask the hub’s operator whether the key has changed. If not, somebody else who knows the password is in the hub’s place.`,
  );
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

/** With this reason a hub ends a connection whose access key has another one. */
export const REPLACED = 'this access key has connected again';

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

/** What to tell if more is known than that the connection was lost. The hub's text is not shown. */
export function tellingOfClosing(closing: HubClosing): Telling | undefined {
  const advice = adviceOfClosing(closing);
  return advice === '' ? undefined : telling(LOST_OFTEN, advice);
}

function adviceOfClosing({
  code,
  reason = '',
  isSilent = false,
  point,
  times = 0,
  losses = 0,
}: HubClosing): string {
  if (reason === REPLACED)
    return 'Another connection has used this access key, and only the latest is kept: let each program and device have an identity of its own.';
  if (losses >= LOSSES)
    return 'One connection to the broker after the other is lost soon after it is ready. Another connection may use this access key, and a broker keeps only the latest: let each program and device have an identity of its own. Otherwise check the network.';
  if (point !== undefined && times >= 3)
    return `The hub has ended ${times} connections in a row before it sent anything encrypted. Older hubs, and hubs over HTTPS, refuse like this: the hub may ${MAY_BE_REFUSED[point]}. Ask its operator.`;
  if (code === 1006 && isSilent)
    return 'The connection was lost before the hub said anything. Look into the log of the hub, and of a proxy in front of it. HiveMind’s hub must be hivemind-core 4.7 or later.';
  if (code !== FORBIDDEN) return '';
  const known = ownField(TO_ALLOW, reason);
  return known === undefined
    ? 'The hub ended the connection because its policy forbids something that this client has sent. Ask its operator what this client may send.'
    : `The hub ended the connection because this client may not send ${known[0]} envelopes. Ask its operator to allow it (on HiveMind's hub: hivemind-core ${known[1]}).`;
}

/** Why a message of the hub was dropped, and what helps. */
export function tellingOfDropped({
  reason,
  bytes,
  error,
}: Pick<Told<'dropped'>, 'reason' | 'bytes' | 'error'>): Telling {
  const say = (who: 'operator' | 'developer', advice: string): Telling =>
    telling(
      [who, `A message of the hub could not be read. ${who === 'operator' ? CALL : CALL_DEVELOPER}`],
      `A message of the hub with ${bytes} bytes was dropped: ${advice}.`,
    );
  if (reason === 'too-large')
    return say(
      'operator',
      'it is longer than this program accepts. Let the hub send less. A message may have half of the option maxMemory, and at most 32 MiB',
    );
  if (reason === 'too-many-values')
    return say(
      'developer',
      'it has more values than this program accepts. Let the hub send fewer, or raise the option maxValues',
    );
  if (reason === 'not-utf8') return say('operator', 'it is not UTF-8. Report this to the makers of the hub');
  if (error?.code === 'bad-compression')
    return say(
      'developer',
      'it is damaged, or inflates to more than this program accepts, which is a 64th of the option maxMemory',
    );
  return say('developer', `this program cannot read it (${error?.code}). Update this program, or the hub`);
}

/** Why an answer is missing or incomplete; all is `undefined` if it is complete. */
export function tellingOfAnswer({
  ending,
  isTruncated,
  reply,
}: Pick<Told<'finish'>, 'ending' | 'isTruncated' | 'reply'>): Pick<Answer, keyof Telling> {
  if (ending === 'handled' || ending === 'spoken') return isTruncated ? TRUNCATED : COMPLETE;
  if (ending === 'timeout' && reply.rawEvent !== null) return PARTLY;
  if (ending !== 'denied') return MISSING[ending];
  return ownField<Telling>(REFUSALS, readRefusal(reply.rawEvent)?.code) ?? DENIED;
}

export const COMPLETE = { tell: undefined, advice: undefined, who: undefined } as const;
const TRUNCATED = telling(
  ['nobody', 'The answer is incomplete.'],
  'A client keeps 4 MiB, or less by maxMemory.',
);
const SLOW =
  'Check whether the hub’s assistant is running, or slow (option requests.deadlines), and the network.';
const SLOWLY = 'in time. Ask again. If this goes on, tell the operator.';
const PARTLY = telling(['operator', `The hub did not complete its answer ${SLOWLY}`], SLOW);
const DENIED = telling(
  ['operator', `The hub refused the question. ${CALL}`],
  'The hub’s policy does not allow it: most often this client may not send the type of message (on HiveMind’s hub: hivemind-core allow-msg).',
);

const MISSING = {
  timeout: telling(['operator', `The hub did not answer ${SLOWLY}`], SLOW),
  unanswered: telling(
    ['nobody', 'The hub has no answer to that. Try other words.'],
    'Check whether the hub has a skill for that, in the language of the question.',
  ),
  'query-timeout': telling(
    ['nobody', 'The other hubs have not answered in time. Ask again.'],
    'Check whether the hubs that this hub asks are running.',
  ),
  closed: telling(
    ['nobody', 'The connection ended before the answer was complete. Ask again.'],
    'Check the network, and what stands between this client and the hub.',
  ),
};

const REFUSALS = {
  backend_unavailable: telling(
    ['operator', `The hub cannot answer at the moment. ${CALL}`],
    'The message bus of the hub is down: start it.',
  ),
  malformed_payload: telling(
    ['developer', `The hub cannot read the question. ${CALL_DEVELOPER}`],
    'Update this program, or the hub.',
  ),
  intent_quota_exceeded: telling(
    ['nobody', 'This device has asked as often as it may. Ask again later.'],
    'The quota of this client at the hub is used up: reply.rawEvent says when it is renewed.',
  ),
};

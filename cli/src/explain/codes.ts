/** The causes that a failed session's own error code shows. */
import {
  isJsonObject,
  type Json,
  type JsonObject,
  ownField,
  REMOTE_ERRORS,
  type RemoteCode,
  stringifyJson,
} from 'hub-protocol-judge/internals';
import { shownList } from '../shown.ts';
import type { Case, Cause, CauseName } from './evidence.ts';
import type { Failure, Recording } from './recording.ts';

const codes = (name: CauseName, ...of: RemoteCode[]): { [code: string]: CauseName } =>
  Object.fromEntries(of.map((code) => [code, name]));

/** The cause for each code of a session's own failure, if the code is unambiguous. */
export const SPEAKING: { readonly [code: string]: CauseName } = {
  ...codes('bad-envelope', 'bad-utf8', 'bad-json', 'duplicate-key', 'lone-surrogate', 'json-depth'),
  ...codes('bad-envelope', 'envelope-too-large', 'bad-envelope', 'bad-payload'),
  ...codes('bad-message', 'bad-hex', 'message-too-short', 'message-too-long', 'low-order-key'),
  ...codes('bad-message', 'bad-handshake-payload', 'empty-plaintext', 'unknown-marker'),
  ...codes('bad-message', 'chunk-without-start', 'message-while-open'),
  ...codes('offer', 'missing-node-id', 'bad-node-id', 'protocol-version', 'bad-offer', 'not-offered'),
  ...codes('message-order', 'handshake-before-hello', 'unexpected-message'),
  ...codes('session-lost', 'text-after-ready'),
  ...codes('unknown-hub', 'unknown-hub'),
  ...codes('hub-replaced', 'hub-key-changed'),
  ...codes('client-key-lost', 'client-key-changed'),
};

/** What was authenticated before it was read: nobody on the way can have changed it. */
const AUTHENTIC: readonly string[] = [
  'bad-handshake-payload',
  'empty-plaintext',
  'unknown-marker',
  'chunk-without-start',
  'message-while-open',
  'hub-key-changed',
  'client-key-changed',
];

/** What else explains a message that cannot be read. */
export const ON_THE_WAY = 'a message was changed, lost, repeated or overtaken on the way';

/** Names the cause if the code of the failure is unambiguous. */
export function codeThatSpeaks(examined: Case): Cause | undefined {
  for (const { recording, failure } of examined.failures) {
    const cause = speaking(examined, recording, failure) ?? counter(recording, failure);
    if (cause !== undefined) return cause;
  }
  return undefined;
}

function speaking(examined: Case, recording: Recording, { code, state }: Failure): Cause | undefined {
  const { role, offer, header } = recording;
  const other = role === 'client' ? 'hub' : 'client';
  const name = isNoCommon(code) ? 'offer' : (ownField(SPEAKING, code) as CauseName | undefined);
  if (name === undefined) return undefined;
  const isInGreeting = role === 'client' && (name === 'offer' || name === 'unknown-hub');
  const isSure =
    AUTHENTIC.includes(code) ||
    (name !== 'session-lost' && examined.agrees('messages')) ||
    (isInGreeting && examined.agrees('payloads'));
  const text = isNoCommon(code)
    ? noCommon(code, offer?.payload, header)
    : `${REMOTE_ERRORS[code as RemoteCode].means} (${code}, at the ${role} in state ${state})`;
  if (isSure) return { name, certainty: 'certain', text };
  const others = examined.recordings.length > 1 ? '' : `: the ${other}'s recording shows whether`;
  return { name, certainty: 'likely', text: `${text}. Or ${ON_THE_WAY}${others}` };
}

function isNoCommon(code: string): boolean {
  return code === 'no-common-suite' || code === 'no-common-pattern';
}

function noCommon(code: string, offer: JsonObject | undefined, header: JsonObject): string {
  const list = code === 'no-common-suite' ? 'suites' : 'patterns';
  const noise = offer && ownField(offer, 'noise');
  return `no common ${list.slice(0, -1)}: the hub offers ${shownList(namesIn(noise, list))}, and the client may use ${shownList(namesIn(header, list))}`;
}

/** The names in a list of an object, if it is one. */
function namesIn(object: Json | undefined, list: string): string[] {
  const names = isJsonObject(object) ? ownField(object, list) : undefined;
  return Array.isArray(names)
    ? names.map((name) => (typeof name === 'string' ? name : stringifyJson(name)))
    : [];
}

/** A transport message that does not open although earlier ones did. */
function counter({ opened }: Recording, { code }: Failure): Cause | undefined {
  if (code !== 'not-authentic' || opened === 0) return undefined;
  const text = `${opened === 1 ? 'a transport message' : `${opened} transport messages`} opened, and the next did not: one was lost, repeated, changed, or arrived out of order; or the other side counts wrongly. The counters of both sides run without gaps`;
  return { name: 'message-order', certainty: 'likely', text };
}

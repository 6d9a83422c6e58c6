/** The causes that a failed session's own error code shows. */
import { type JsonObject, ownField, REMOTE_ERRORS, type RemoteCode } from 'hub-protocol-judge/internals';
import { shownList } from '../shown.ts';
import { namesIn } from './differences.ts';
import type { Case, Cause, CauseName } from './evidence.ts';
import type { Failure, Recording } from './recording.ts';

/** The cause for each code of a session's own failure, if the code is unambiguous. */
export const SPEAKING: { readonly [code in RemoteCode]?: CauseName } = {
  'bad-utf8': 'bad-envelope',
  'bad-json': 'bad-envelope',
  'duplicate-key': 'bad-envelope',
  'lone-surrogate': 'bad-envelope',
  'json-depth': 'bad-envelope',
  'envelope-too-large': 'bad-envelope',
  'bad-envelope': 'bad-envelope',
  'bad-payload': 'bad-envelope',
  'bad-hex': 'bad-message',
  'message-too-short': 'bad-message',
  'message-too-long': 'bad-message',
  'low-order-key': 'bad-message',
  'bad-handshake-payload': 'bad-message',
  'empty-plaintext': 'bad-message',
  'unknown-marker': 'bad-message',
  'chunk-without-start': 'bad-message',
  'message-while-open': 'bad-message',
  'missing-node-id': 'offer',
  'bad-node-id': 'offer',
  'protocol-version': 'offer',
  'bad-offer': 'offer',
  'not-offered': 'offer',
  'handshake-before-hello': 'message-order',
  'unexpected-message': 'message-order',
  'text-after-ready': 'session-lost',
  'unknown-hub': 'unknown-hub',
  'hub-key-changed': 'hub-replaced',
  'client-key-changed': 'client-key-lost',
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
    const cause =
      sealedTooEarly(recording, failure) ??
      speaking(examined, recording, failure) ??
      counter(recording, failure);
    if (cause !== undefined) return cause;
  }
  return undefined;
}

/** Bytes that are not an envelope, where message 3 is due. */
function sealedTooEarly({ role, hidden }: Recording, { state }: Failure): Cause | undefined {
  const isBytes = hidden.some((one) => !one.isText && one.state === state);
  if (role !== 'hub' || state !== 'awaiting-message-3' || !isBytes) return undefined;
  return {
    name: 'message-order',
    certainty: 'likely',
    text: 'bytes arrived where message 3 was due, and they are not an envelope: most likely an encrypted message that the client sent after message 3, which was lost or overtaken. Or message 3 was changed on the way, or the client sent something else',
  };
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

/** A transport message that does not open although earlier ones did. */
function counter({ role, opened }: Recording, { code }: Failure): Cause | undefined {
  if (code !== 'not-authentic' || opened === 0) return undefined;
  const text =
    opened === 1
      ? `the first transport message that the ${role} received opened, and the second did not. Either the other side counts wrongly (ChaChaPoly’s counter is little-endian, AESGCM’s is big-endian; it counts every message), or that message was lost, repeated, changed or arrived out of order`
      : `${opened} transport messages opened, and the next did not: one was lost, repeated, changed, or arrived out of order. The counters of both sides run without gaps`;
  return { name: opened === 1 ? 'counter' : 'message-order', certainty: 'likely', text };
}

/** The causes that a failed session's own error code shows. */
import { isJsonObject, ownField, REMOTE_ERRORS, type RemoteCode } from '../protocol.ts';
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

/** Names the cause if the code of the failure is unambiguous. */
export function codeThatSpeaks(examined: Case): Cause | undefined {
  for (const { recording, failure } of examined.failures) {
    if (failure.isOwn) {
      const cause = speaking(recording, failure) ?? counter(recording, failure);
      if (cause !== undefined) return cause;
    }
  }
  return undefined;
}

function speaking({ role, offer, header }: Recording, { code, state }: Failure): Cause | undefined {
  if (code === 'no-common-suite' || code === 'no-common-pattern') {
    const list = code === 'no-common-suite' ? 'suites' : 'patterns';
    const noise = offer && ownField(offer.payload, 'noise');
    const offered = isJsonObject(noise) ? namesIn(noise, list) : [];
    const text = `the hub offers ${shownList(offered)}, and the client may use ${shownList(namesIn(header, list))}`;
    return { name: 'offer', certainty: 'certain', text: `no common ${list.slice(0, -1)}: ${text}` };
  }
  const name = ownField(SPEAKING, code) as CauseName | undefined;
  if (name === undefined) return undefined;
  const { means } = REMOTE_ERRORS[code as RemoteCode];
  return { name, certainty: 'certain', text: `${means} (${code}, at the ${role} in state ${state})` };
}

/** A transport message that does not open although earlier ones did. */
function counter({ role, opened }: Recording, { code }: Failure): Cause | undefined {
  if (code !== 'not-authentic' || opened === 0) return undefined;
  const text =
    opened === 1
      ? `the first transport message that the ${role} received opened, and the second did not. Either the other side counts wrongly (ChaChaPoly’s counter is little-endian, AESGCM’s is big-endian; it counts every message), or that message was lost, changed or sent out of order`
      : `${opened} transport messages opened, and the next did not: one was lost, changed, or arrived out of order. The counters of both sides run without gaps`;
  return { name: opened === 1 ? 'counter' : 'message-order', certainty: 'likely', text };
}

/** What the error codes of the sessions say that failed themselves. */
import { isJsonObject, ownField } from '../protocol.ts';
import { shownList } from '../shown.ts';
import { namesIn } from './differences.ts';
import type { Case, Cause, CauseName } from './evidence.ts';
import type { Failure, Recording } from './recording.ts';

type Speaking = readonly [name: CauseName, text: string];

const BAD_ENVELOPE: Speaking = [
  'bad-envelope',
  'the other side sent something that is not an envelope, or not JSON',
];
const BAD_MESSAGE: Speaking = ['bad-message', 'the other side sent a Noise message of the wrong form'];
const BAD_FRAMES: Speaking = [
  'bad-message',
  'the other side broke the rules of frames: its messages open, so the handshake was right',
];
const BAD_OFFER: Speaking = ['offer', 'HELLO or HANDSHAKE of the hub lacks something that protocol 3 needs'];

/** Codes of a session's own failure that leave nothing open. */
export const SPEAKING: { readonly [code: string]: Speaking } = {
  'bad-utf8': BAD_ENVELOPE,
  'bad-json': BAD_ENVELOPE,
  'duplicate-key': BAD_ENVELOPE,
  'lone-surrogate': BAD_ENVELOPE,
  'json-depth': BAD_ENVELOPE,
  'envelope-too-large': BAD_ENVELOPE,
  'bad-envelope': BAD_ENVELOPE,
  'bad-payload': BAD_ENVELOPE,
  'bad-hex': BAD_MESSAGE,
  'message-too-short': [
    'bad-message',
    'the other side sent a Noise message that is too short: each part that is sealed has a tag of 16 bytes, an empty payload too',
  ],
  'message-too-long': BAD_MESSAGE,
  'low-order-key': BAD_MESSAGE,
  'bad-handshake-payload': [
    'bad-message',
    'the payload of a handshake message is not the JSON object that it should be',
  ],
  'empty-plaintext': BAD_FRAMES,
  'unknown-marker': BAD_FRAMES,
  'chunk-without-start': BAD_FRAMES,
  'message-while-open': BAD_FRAMES,
  'missing-node-id': BAD_OFFER,
  'bad-node-id': BAD_OFFER,
  'protocol-version': ['offer', 'the other side does not speak protocol 3: update it'],
  'bad-offer': [
    'offer',
    'the offer of the hub cannot be read, or lacks XXpsk2 or 25519_ChaChaPoly_SHA256, which every hub offers',
  ],
  'not-offered': ['offer', 'the client chose a pattern or a suite that the hub did not offer'],
  'handshake-before-hello': ['message-order', 'the hub sent HANDSHAKE before HELLO, or HELLO was lost'],
  'unexpected-message': ['message-order', 'a message arrived that has no place in this state'],
  'text-after-ready': [
    'session-lost',
    'cleartext arrived on the encrypted session: the other side has lost the session, as hubs on MQTT do after minutes of silence',
  ],
  'unknown-hub': [
    'unknown-hub',
    'the client trusts pinned hubs only, and this one is not pinned: provision its pin',
  ],
  'hub-key-changed': [
    'hub-replaced',
    'the hub knows the password and has another static key than the one that is pinned: it was set up anew, or it is another hub. Make sure which, then drop the pin',
  ],
  'client-key-changed': [
    'client-key-lost',
    'the client has another static key than the one that the hub has pinned: it lost its key, or another program uses the identity. Restore the key, or let the operator reset it at the hub',
  ],
};

/** Names the cause where the code of the failure leaves nothing open. */
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
  const known = Object.prototype.hasOwnProperty.call(SPEAKING, code) ? SPEAKING[code] : undefined;
  if (known === undefined) return undefined;
  return {
    name: known[0],
    certainty: 'certain',
    text: `${known[1]} (${code}, at the ${role} in state ${state})`,
  };
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

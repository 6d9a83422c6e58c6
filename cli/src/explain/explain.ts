/**
 * Why did this handshake fail? Each step looks for one kind of cause, the surest first; the first cause found is the
 * answer. Where no step finds one, the answer is that it cannot be told, and what would help.
 */
import { bytesToHex, equalBytes, isJsonObject, nodeCrypto, ownField } from '../protocol.ts';
import { shownList } from '../shown.ts';
import { payloadDifference } from './differences.ts';
import { Case, type Cause, type CauseName, type Evidence } from './evidence.ts';
import type { Failure, Passed, Recording, Role } from './recording.ts';
import { comparePsks, tryMistakes } from './trials.ts';

export interface Explanation {
  readonly verdict: 'no-fault' | 'fault' | 'unknown';
  readonly cause: Cause | undefined;
  /** What each side recorded about the end. */
  readonly happened: readonly string[];
  readonly checked: readonly string[];
  readonly wouldHelp: readonly string[];
}

const STEPS: readonly ((examined: Case) => Cause | undefined)[] = [
  ownFault,
  changedPayload,
  changedMessage,
  codeThatSpeaks,
  differentKeys,
  comparePsks,
  tryMistakes,
  byElimination,
];

export function explain(evidence: Evidence): Explanation {
  const examined = new Case(evidence);
  const happened = examined.recordings.map(whatHappened);
  const finish = (verdict: Explanation['verdict'], cause?: Cause): Explanation => ({
    verdict,
    cause,
    happened,
    checked: examined.checked,
    wouldHelp: verdict === 'unknown' ? [...examined.wouldHelp] : [],
  });
  if (examined.failures.length === 0) return finish('no-fault');
  for (const step of STEPS) {
    const cause = step(examined);
    if (cause !== undefined) return finish('fault', cause);
  }
  const { client, hub } = evidence;
  if (hub === undefined)
    examined.wouldHelp.add(
      "the hub's recording, or the HELLO and HANDSHAKE as it sent them (--hello, --offer)",
    );
  if (client === undefined)
    examined.wouldHelp.add(
      "the client's recording, or the HELLO and HANDSHAKE as it saw them (--hello, --offer)",
    );
  return finish('unknown');
}

function whatHappened({ role, failure, isReady }: Recording): string {
  if (failure === undefined) {
    return isReady
      ? `the ${role}'s handshake was done`
      : `the ${role}'s recording ends in the middle of the handshake`;
  }
  const { code, isOwn, state, closeCode, status } = failure;
  const how =
    status === undefined ? (closeCode === undefined ? '' : `, with ${closeCode}`) : `, with HTTP ${status}`;
  return isOwn
    ? `the ${role} gave up in state ${state}: ${code}`
    : `the connection ended while the ${role} was in state ${state}${how}: ${code}`;
}

function ownFault({ failures }: Case): Cause | undefined {
  for (const { recording, failure } of failures) {
    if (!failure.isLocal) continue;
    return {
      name: 'own-fault',
      certainty: 'certain',
      text: `the ${recording.role} itself failed, with ${failure.code}: nothing is known to be wrong with the other side`,
    };
  }
  return undefined;
}

/** What the hub sent and what the client saw, where both are known. */
function changedPayload(examined: Case): Cause | undefined {
  const { client, hub } = examined.views;
  if (client === undefined || hub === undefined) return undefined;
  const difference =
    payloadDifference('HELLO', hub.hello, client.hello) ??
    payloadDifference('HANDSHAKE', hub.offer, client.offer);
  if (difference === undefined) {
    examined.agree('payloads', 'the client saw HELLO and HANDSHAKE as the hub sent them');
    return undefined;
  }
  const { name, text, ...place } = difference;
  const where = `The first byte that differs is byte ${place.offset} of the canonical JSON of ${place.payload}`;
  return { name, certainty: 'certain', text: `${text}. ${where}`, place };
}

/** Messages of one recording that arrived in the other one changed, in another order, twice, or not at all. */
function changedMessage(examined: Case): Cause | undefined {
  const { client, hub } = examined.evidence;
  if (client === undefined || hub === undefined) return undefined;
  for (let index = 0; index < 3; index++) {
    const [sent, arrived] = [client.messages[index], hub.messages[index]];
    if (sent === undefined || arrived === undefined || equalBytes(sent, arrived)) continue;
    let offset = 0;
    while (sent[offset] === arrived[offset]) offset++;
    const text = `message ${index + 1} was changed on the way, from byte ${offset} on`;
    return { name: 'message-changed', certainty: 'certain', text };
  }
  const cause = disordered(hub, client) ?? disordered(client, hub);
  if (cause === undefined)
    examined.agree('messages', 'the cleartext messages arrived as they were sent, and in that order');
  return cause;
}

function disordered(writer: Recording, reader: Recording): Cause | undefined {
  const order = reader.received.map(({ text }) => writer.sent.findIndex((sent) => sent.text === text));
  for (let i = 1; i < order.length; i++) {
    if (order[i]! < 0 || order[i]! > Math.max(...order.slice(0, i))) continue;
    const how = order.indexOf(order[i]!) < i ? 'twice' : 'after one that was sent later';
    const text = `a message of the ${writer.role} arrived ${how}: ${describe(reader.received[i]!)}`;
    if (how === 'twice' && reader.failure?.isOwn !== true) continue; // repeats change nothing
    return { name: 'message-order', certainty: 'certain', text };
  }
  const skipped = writer.sent.findIndex((_, index) => !order.includes(index) && index < Math.max(...order));
  const isWaiting = reader.failure !== undefined && !reader.failure.isOwn;
  const missing =
    skipped >= 0 ? skipped : isWaiting ? writer.sent.findIndex((_, index) => !order.includes(index)) : -1;
  if (missing < 0) return undefined;
  const message = describe(writer.sent[missing]!);
  return reader.failure?.isOwn
    ? {
        name: 'message-order',
        certainty: 'certain',
        text: `a message of the ${writer.role} had not arrived when the next one did: ${message}`,
      }
    : {
        name: 'message-lost',
        certainty: 'certain',
        text: `a message of the ${writer.role} never arrived: ${message}`,
      };
}

function describe({ type }: Passed): string {
  return {
    hello: 'HELLO',
    offer: 'HANDSHAKE with the offer',
    message: 'a Noise message',
    other: 'an envelope',
  }[type];
}

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
const SPEAKING: { readonly [code: string]: Speaking } = {
  'bad-utf8': BAD_ENVELOPE,
  'bad-json': BAD_ENVELOPE,
  'duplicate-key': BAD_ENVELOPE,
  'lone-surrogate': BAD_ENVELOPE,
  'json-depth': BAD_ENVELOPE,
  'envelope-too-large': BAD_ENVELOPE,
  'bad-envelope': BAD_ENVELOPE,
  'bad-payload': BAD_ENVELOPE,
  'bad-hex': BAD_MESSAGE,
  'message-too-short': BAD_MESSAGE,
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
  'bad-offer': BAD_OFFER,
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

function codeThatSpeaks(examined: Case): Cause | undefined {
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
    const offered = isJsonObject(noise) ? strings(noise[list]) : [];
    const text = `the hub offers ${shownList(offered)}, and the client may use ${shownList(strings(header[list]))}`;
    return { name: 'offer', certainty: 'certain', text: `no common ${list.slice(0, -1)}: ${text}` };
  }
  const known = SPEAKING[code];
  if (known === undefined) return undefined;
  return {
    name: known[0],
    certainty: 'certain',
    text: `${known[1]} (${code}, at the ${role} in state ${state})`,
  };
}

function strings(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
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

/** The static keys that one side has pinned, and those that the other side has. */
function differentKeys(examined: Case): Cause | undefined {
  const { client, hub, clientStatic, hubStatic } = examined.evidence;
  const brokenPair = otherPair(client, clientStatic) ?? otherPair(hub, hubStatic);
  if (brokenPair !== undefined) return brokenPair;
  const hubKey = examined.publicKey('hub');
  if (client?.pin !== undefined && hubKey !== undefined) {
    if (client.pin !== hubKey) {
      const [name, text] = SPEAKING['hub-key-changed']!;
      return { name, certainty: 'certain', text: `${text}. Pinned: ${client.pin}; the hub's: ${hubKey}` };
    }
    examined.agree('hub-key', 'the client has pinned the static key of this hub');
  }
  const pinned = hub === undefined ? undefined : ownField(hub.header, 'clientKey');
  const clientKey = examined.publicKey('client');
  if (typeof pinned === 'string' && clientKey !== undefined) {
    if (pinned !== clientKey) {
      const [name, text] = SPEAKING['client-key-changed']!;
      return { name, certainty: 'certain', text: `${text}. Pinned: ${pinned}; the client's: ${clientKey}` };
    }
    examined.agree('client-key', 'the hub has pinned the static key of this client');
  }
  return undefined;
}

/** A private key that does not belong to the public key that a side recorded. */
function otherPair(recording: Recording | undefined, privateKey: Uint8Array | undefined): Cause | undefined {
  if (recording === undefined || privateKey === undefined) return undefined;
  const publicKey = bytesToHex(nodeCrypto.x25519.publicKey(privateKey));
  if (publicKey === recording.publicKey) return undefined;
  return {
    name: 'key-pair',
    certainty: 'likely',
    text: `the ${recording.role} used the public key ${recording.publicKey}, and the private key given has another, ${publicKey}: its stored public key is not that of its private key, with which no handshake succeeds; or the key given is of another ${recording.role}`,
  };
}

/** What is left, and what the hub said by closing. */
function byElimination(examined: Case): Cause | undefined {
  const { failures, wouldHelp, evidence } = examined;
  for (const { recording, failure } of failures) {
    const cause = leftOver(recording, failure, examined);
    if (cause !== undefined) return cause;
  }
  const code = failures[0]!.failure.code;
  if (/^kk-/.test(code)) {
    wouldHelp.add(
      "a recording of the next attempt with patterns: ['XXpsk2'], which tells password, pin and static key apart",
    );
  }
  if (evidence.password === undefined && /^kk-|^psk-differs$/.test(code)) {
    wouldHelp.add('the password (--password or --identity), or the PSKs (--psk, --hub-psk)');
  }
  return undefined;
}

function leftOver(
  { role, staticKeyIsFresh }: Recording,
  failure: Failure,
  examined: Case,
): Cause | undefined {
  const { evidence } = examined;
  const { code, isOwn, state, closeCode, status } = failure;
  const likely = (name: CauseName, text: string): Cause => ({ name, certainty: 'likely', text });
  if (isOwn && code === 'psk-differs' && !examined.agrees('psks')) {
    return likely(
      'psk-differs',
      'the hub’s static key opened and the payload after it did not, so the PSKs differ: the password is wrong on one side, a stored PSK is stale, or one side derives it or mixes it in wrongly. With the password and an ephemeral key, explain tells which',
    );
  }
  if (isOwn && code === 'static-key-not-authentic' && role === 'client' && evidence.hub !== undefined) {
    return likely(
      'noise-mistake',
      'message 2 arrived as it was sent, and its static key does not open: one side makes a mistake before the token s. hub-protocol-judge names it',
    );
  }
  if (
    isOwn &&
    code === 'kk-failed' &&
    examined.agrees('payloads', 'hub-key', 'client-key') &&
    !examined.agrees('psks')
  ) {
    return likely(
      'psk-differs',
      'prologue, pin and static keys agree, so the PSKs differ: the password is wrong on one side, or a stored PSK is stale. A mistake in the Noise handshake looks the same',
    );
  }
  if (isOwn || role === 'hub') return undefined;
  if (staticKeyIsFresh) {
    return likely(
      'client-key-lost',
      `${SPEAKING['client-key-changed']![1]}: the client warned that its key was new (static-key-fresh)`,
    );
  }
  const closed =
    status === undefined ? `closed the connection with ${closeCode}` : `answered with HTTP ${status}`;
  if (code === 'access-refused') {
    return likely(
      'access-refused',
      `the hub ${closed} before message 1, in state ${state}: it does not know the access key, has not admitted it yet, or accepts no more clients`,
    );
  }
  if (code === 'unavailable')
    return likely('unavailable', `the hub ${closed}: it accepts no connection at the moment`);
  if (code === 'client-key-refused') {
    return likely(
      'client-key-lost',
      'the hub closed after message 3: most likely it has pinned another static key of this client. A hub that reads message 3 wrongly, or that failed for reasons of its own, looks the same; its recording tells',
    );
  }
  if (code === 'refused')
    return likely(
      'refused',
      `the hub ${closed} after the handshake, before it sent anything: it may have revoked the access key`,
    );
  return undefined;
}

export type { Cause, Evidence, Role };

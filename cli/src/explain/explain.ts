/**
 * Why did this handshake fail? Each step looks for one kind of cause, the surest first; the first cause found is the
 * answer. If no step finds one, the answer is `unknown`, and lists evidence that would help.
 */
import { type ErrorCode, REMOTE_ERRORS, type RemoteCode } from 'hub-protocol-judge/internals';
import { codeThatSpeaks, ON_THE_WAY, SPEAKING } from './codes.ts';
import { changedMessage, changedPayload } from './compare.ts';
import { Case, type Cause, type CauseName, type Evidence } from './evidence.ts';
import type { Failure, Recording, Role } from './recording.ts';
import { askForPsk, comparePsks, computeAgain, wrongValue } from './secrets.ts';

export interface Explanation {
  /** `unfinished`: a recording ends in the middle of the handshake, without evidence that it failed. */
  readonly verdict: 'no-fault' | 'fault' | 'unknown' | 'unfinished';
  readonly cause: Cause | undefined;
  /** Each side's record of the end. */
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
  wrongValue,
  computeAgain,
  byElimination,
];

export function explain(evidence: Evidence): Explanation {
  const examined = new Case(evidence);
  const happened = [
    ...examined.recordings.filter(({ sessions }) => sessions > 1).map(howMany),
    ...examined.recordings.map(whatHappened),
  ];
  const finish = (verdict: Explanation['verdict'], cause?: Cause): Explanation => ({
    verdict,
    cause,
    happened,
    checked: examined.checked,
    wouldHelp: [...examined.wouldHelp],
  });
  const isUnfinished = examined.failures.length === 0;
  if (isUnfinished && examined.recordings.every(({ isReady }) => isReady)) return finish('no-fault');
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
  if (!isUnfinished) return finish('unknown');
  examined.wouldHelp.add(
    'the rest of the recording: a session records its end if the program calls closed() when the connection has gone',
  );
  return finish('unfinished');
}

function howMany({ role, sessions }: Recording): string {
  return `the ${role}'s recording has ${sessions} sessions: this is about the last one`;
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

/** Compares the static keys that one side has pinned with the other side's own. */
function differentKeys(examined: Case): Cause | undefined {
  const [hubKey, clientKey] = [examined.publicKey('hub'), examined.publicKey('client')];
  const [pinnedHub, pinnedClient] = [examined.pinnedKey('hub'), examined.pinnedKey('client')];
  const differ = (code: RemoteCode, pinned: string, key: string, role: Role): Cause => {
    const { means } = REMOTE_ERRORS[code];
    return {
      name: SPEAKING[code]!,
      certainty: 'certain',
      text: `${means}. Pinned: ${pinned}; the ${role}'s: ${key}`,
    };
  };
  if (pinnedHub !== undefined && hubKey !== undefined) {
    if (pinnedHub !== hubKey) return differ('hub-key-changed', pinnedHub, hubKey, 'hub');
    examined.agree('hub-key', 'the client has pinned the static key of this hub');
  }
  if (pinnedClient !== undefined && clientKey !== undefined) {
    if (pinnedClient !== clientKey) return differ('client-key-changed', pinnedClient, clientKey, 'client');
    examined.agree('client-key', 'the hub has pinned the static key of this client');
  }
  return undefined;
}

/**
 * Whether the hub's recording refutes a client's conclusion from a connection that closed: the hub recorded a different
 * failure, or it accepted the client's static key. Keys that differ have been compared before.
 */
function isRefutedByHub({ evidence: { hub } }: Case, code: ErrorCode): boolean {
  return hub !== undefined && (hub.failure?.isOwn === true || code === 'client-key-refused');
}

/** The remaining causes, and the meaning of the hub's close. */
function byElimination(examined: Case): Cause | undefined {
  const { failures, wouldHelp } = examined;
  for (const { recording, failure } of failures) {
    const cause = leftOver(recording, failure, examined);
    if (cause !== undefined) return cause;
  }
  const code = String(failures[0]?.failure.code);
  if (/^kk-/.test(code)) {
    wouldHelp.add(
      "a recording of the next attempt with patterns: ['XXpsk2'], which distinguishes password, pin and static key",
    );
  }
  if (/^kk-|^psk-differs$/.test(code)) askForPsk(examined);
  return undefined;
}

function leftOver(
  { pattern, staticKeyIsFresh }: Recording,
  failure: Failure,
  examined: Case,
): Cause | undefined {
  const { code, isOwn, state, closeCode, status } = failure;
  /** Unless both recordings show the messages, one of them may be at fault. */
  const likely = (name: CauseName, text: string): Cause => ({
    name,
    certainty: 'likely',
    text: examined.agrees('messages') ? text : `${text}. Or ${ON_THE_WAY}`,
  });
  if (code === 'prologue-differs') {
    return likely(
      'prologue',
      examined.agrees('payloads')
        ? 'client and hub have the same HELLO and HANDSHAKE, and message 1 does not open: one side builds the prologue otherwise (order, canonical JSON, protocol name), or makes a mistake in message 1'
        : `${REMOTE_ERRORS[code].means}. The client's recording, or HELLO and HANDSHAKE as it saw them, shows what differs`,
    );
  }
  if (code === 'psk-differs' && !examined.agrees('psks')) {
    askForPsk(examined);
    return likely(
      'psk-differs',
      'the hub’s static key opened and the payload after it did not, so the PSKs differ: the password is wrong on one side, a stored PSK is stale, or one side derives it or mixes it in wrongly. With the password, --password shows more',
    );
  }
  if (
    code === 'kk-failed' &&
    examined.agrees('payloads', 'hub-key', 'client-key') &&
    !examined.agrees('psks')
  ) {
    return likely(
      'psk-differs',
      'prologue, pin and static keys agree, so the PSKs differ: the password is wrong on one side, or a stored PSK is stale. A mistake in the Noise handshake looks the same',
    );
  }
  if (isOwn || isRefutedByHub(examined, code)) return undefined;
  if (staticKeyIsFresh && code === 'kk-refused') {
    return likely(
      'client-key-lost',
      `${REMOTE_ERRORS['client-key-changed'].means}: the client warned that its key was new (static-key-fresh)`,
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
    examined.wouldHelp.add("the hub's recording");
    return likely(
      'refused',
      'the hub closed with 1008 after message 3: if it does so each time, it has most likely pinned another static key of this client. Or it reads message 3 wrongly, or failed for another reason; or somebody between client and hub closed',
    );
  }
  if (code === 'refused') {
    const unread = pattern === 'XXpsk2' ? 'message 3 or the first message' : 'the first message';
    const replaced = pattern === 'XXpsk2' ? ', or it may know this client by another key since' : '';
    return likely(
      'refused',
      `the hub ${closed} after the handshake, before it sent anything: it may have revoked the access key, or it could not open ${unread} of the client${replaced}`,
    );
  }
  return undefined;
}

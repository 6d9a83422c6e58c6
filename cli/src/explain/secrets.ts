/** Compares the PSKs of both sides, and computes the handshake again where the evidence suffices. */
import {
  buildPrologue,
  bytesToHex,
  equalBytes,
  firstUnequalValue,
  firstWrongValue,
  follow,
  hexToBytes,
  openWith,
  protocolName,
  type Seen,
  type Stop,
} from 'hub-protocol-judge/internals';
import type { Case, Cause, Point } from './evidence.ts';
import type { Role } from './recording.ts';

const OTHER: { readonly [role in Role]: Role } = { client: 'hub', hub: 'client' };
const NAMES = ['message 1', 'message 2', 'message 3', 'the first transport message'];

/** Compares the known PSKs of both sides, and the password's. */
export function comparePsks(examined: Case): Cause | undefined {
  const { derivedPsk: derived, checked, evidence } = examined;
  const { clientPsk, hubPsk } = evidence;
  for (const role of ['client', 'hub'] as const) {
    const psk = evidence[`${role}Psk`];
    if (psk === undefined || derived === undefined) continue;
    if (equalBytes(psk, derived)) {
      checked.push(`the PSK of the ${role} was derived from the password`);
      continue;
    }
    return {
      name: evidence[role]?.foundPsk ? 'psk-stale' : 'psk-differs',
      certainty: 'certain',
      text: `the PSK of the ${role} was not derived from the password for this hub: it belongs to another password or another hub, or was derived in another way`,
    };
  }
  if (clientPsk === undefined || hubPsk === undefined) return undefined;
  if (equalBytes(clientPsk, hubPsk)) {
    examined.agree('psks', 'the PSKs of both sides agree');
    return undefined;
  }
  return {
    name: 'psk-differs',
    certainty: 'certain',
    text: 'the two sides have different PSKs: one of them has another password, or derived it wrongly. With the password, --password shows which',
  };
}

/** Asks for the PSK that a computation lacks, unless the password was given. */
export function askForPsk({ wouldHelp, evidence }: Case): void {
  if (evidence.password === undefined)
    wouldHelp.add('the password (--password or --identity), or the PSKs (--psk, --hub-psk)');
}

const NEEDS_KEYS =
  'the private keys that the handshake needs: a recording of the next failure with ephemeralKey: true, and the static ' +
  'key of the side that made it (--keyring of the client, --hub-key of the hub)';

/** Whether the message that was not accepted is right, and with which PSK, if the evidence suffices to compute up to it. */
export function computeAgain(examined: Case): Cause | undefined {
  const { point, evidence, checked, wouldHelp, derivedPsk } = examined;
  if (point === undefined) return undefined;
  const { index, reader, isRecorded } = point;
  const readersPsk = evidence[`${reader}Psk`];
  const psk = readersPsk ?? derivedPsk ?? evidence[`${OTHER[reader]}Psk`];
  const result = replay(examined, point, psk);
  if (result === undefined) return undefined;
  if (result === 'lacks a key') wouldHelp.add(NEEDS_KEYS);
  else if (result === 'lacks the PSK') askForPsk(examined);
  if (result !== 'opens' && result !== 'does not open') return undefined;
  const isRight = result === 'opens';
  checked.push(
    `${NAMES[index]} ${isRight ? 'is right: it opens' : result} with the keys known of both sides`,
  );
  const isAtPsk = index < 2 && !(index === 0 && examined.pattern === 'XXpsk2');
  if (!isRight || !isRecorded || !isAtPsk || readersPsk !== undefined) {
    wouldHelp.add(
      `hub-protocol-judge, if the ${isRight ? reader : OTHER[reader]} is an implementation that was never tested with it: a mistake there looks like this`,
    );
    return undefined;
  }
  const isStored = evidence[reader]?.foundPsk;
  return {
    name: isStored ? 'psk-stale' : 'psk-differs',
    certainty: 'likely', // it may mix in the same PSK wrongly
    text:
      `${NAMES[index]} opens with the PSK ${psk === derivedPsk ? 'of the password given' : 'given'}, so the ${OTHER[reader]} uses that; the ${reader} used another` +
      `${isStored ? ', which it had stored: forget it, and derive it again. A mistake in how it mixes the PSK in looks the same' : ': it has another password, derives the PSK wrongly, or mixes it in wrongly'}`,
  };
}

type Result = 'opens' | Stop;

/** The handshake up to a message, as a side sees it: with what is known of the keys of both; `undefined` if a message is not known. */
function seenBy(examined: Case, role: Role, count: number, psk: Uint8Array | undefined): Seen | undefined {
  const { pattern, suite, views, evidence } = examined;
  const view = views[role] ?? views[OTHER[role]];
  if (pattern === undefined || suite === undefined || view === undefined) return undefined;
  const messages = Array.from({ length: Math.min(count, pattern === 'XXpsk2' ? 3 : 2) }, (_, at) =>
    hexOf(examined.message(at)),
  );
  if (messages.includes(undefined)) return undefined;
  const keysOf = (of: Role): { s: string | undefined; e: string | undefined } => ({
    s: hexOf(evidence[`${of}Static`]),
    e: hexOf(evidence[of]?.ephemeralKey),
  });
  const own = keysOf(role);
  return {
    side: role === 'client' ? 'init' : 'resp',
    pattern,
    suite,
    prologue: bytesToHex(buildPrologue(view.hello, view.offer, protocolName(pattern, suite))),
    psk: hexOf(psk),
    staticKey: own.s,
    ephemeralKey: own.e,
    publicKey: examined.publicKey(role) ?? examined.pinnedKey(role),
    remoteStaticKey: examined.publicKey(OTHER[role]) ?? examined.pinnedKey(OTHER[role]),
    remote: keysOf(OTHER[role]),
    messages: messages as string[],
  };
}

const hexOf = (bytes: Uint8Array | undefined): string | undefined => bytes && bytesToHex(bytes);

/** Computes the handshake up to the message that was not accepted, and opens each part of each message. */
function replay(examined: Case, { index, reader }: Point, psk: Uint8Array | undefined): Result | undefined {
  const seen = seenBy(examined, reader, index + 1, psk);
  const sealed = examined.evidence[reader]?.sealed;
  if (seen === undefined || (index === 3 && sealed === undefined)) return undefined;
  const { steps, stop } = follow(seen);
  if (stop !== undefined || index < 3) return stop ?? 'opens';
  const key = hexToBytes(steps[steps.length - 1]!.fields.receive!)!;
  return openWith(seen.suite, key, 0n, new Uint8Array(0), sealed!) === undefined ? 'does not open' : 'opens';
}

/** The first value that an implementation has noted in its recording, as to the judge, and that is wrong. */
export function wrongValue(examined: Case): Cause | undefined {
  const { evidence, derivedPsk, wouldHelp } = examined;
  const count = [0, 1, 2].findIndex((at) => examined.message(at) === undefined);
  const known = count < 0 ? 3 : count;
  let lacksKey = false;
  for (const { role, trace } of examined.recordings.filter(({ trace }) => trace.length > 0)) {
    const psk = evidence[`${role}Psk`] ?? derivedPsk ?? evidence[`${OTHER[role]}Psk`];
    const seen = seenBy(examined, role, known, psk);
    if (seen === undefined) continue;
    lacksKey ||= follow(seen).stop === 'lacks a key';
    const wrong = firstWrongValue(seen, trace);
    if (wrong === undefined) continue;
    const { expected, got } = wrong.difference;
    return {
      name: 'wrong-value',
      certainty: 'certain',
      text: `first wrong value of the ${role}: ${wrong.says}. The ${role} has ${got}, and ${expected} is due`,
    };
  }
  const unequal = unequalValue(examined, known);
  if (lacksKey && unequal === undefined) wouldHelp.add(NEEDS_KEYS);
  return unequal;
}

/** The first value in which both differ, if both have noted what they computed: it tells the place, and not whose is wrong. */
function unequalValue(examined: Case, known: number): Cause | undefined {
  const { client, hub } = examined.evidence;
  const seen = seenBy(examined, 'client', known, undefined);
  const unequal = seen && client && hub && firstUnequalValue(seen, client.trace, hub.trace);
  if (unequal === undefined) return undefined;
  const { expected, got } = unequal.difference;
  return {
    name: 'wrong-value',
    certainty: 'certain',
    text: `first value that differs: ${unequal.says}. The client has ${got}, and the hub ${expected}`,
  };
}

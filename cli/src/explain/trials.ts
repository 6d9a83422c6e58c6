/** Recomputes the handshake with each known mistake. If the messages open, that mistake is the cause. */
import {
  buildPrologue,
  bytesToHex,
  equalBytes,
  hexToBytes,
  MISTAKES,
  mistakenPrologues,
  nodeCrypto,
  protocolName,
  stringifyJson,
} from 'hub-protocol-judge/internals';
import { strippedPayloads } from './differences.ts';
import type { Case, Cause, Point, View } from './evidence.ts';
import type { Role } from './recording.ts';
import { type Handshake, replay } from './replay.ts';

/** More candidates than this are not informative. */
const FEW = 7;

const OTHER: { readonly [role in Role]: Role } = { client: 'hub', hub: 'client' };
const NAMES = ['message 1', 'message 2', 'message 3', 'the first transport message'];

/** Finds the cause by trial, if the evidence suffices to compute up to the message that was not accepted. */
export function tryMistakes(examined: Case): Cause | undefined {
  const { point } = examined;
  const handshake = point && handshakeOf(examined, point);
  if (point === undefined || handshake === undefined) return undefined;
  const { opened, lacks, other } = replay({}, handshake);
  const { clientStatic, hubStatic } = examined.evidence;
  const broken =
    other && otherPair(other.owner, other.publicKey, other.owner === 'client' ? clientStatic : hubStatic);
  if (broken !== undefined) return broken;
  if (lacks !== undefined) {
    if (lacks === 'psk') askForPsk(examined);
    else askForKeys(examined);
    return undefined;
  }
  const isCorrect = opened > last(handshake);
  return (isCorrect ? faultOfReader : faultOfWriter)(examined, point, handshake);
}

/** A private key that does not belong to the public key that a side presented. */
export function otherPair(
  role: Role,
  seen: string | undefined,
  privateKey: Uint8Array | undefined,
): Cause | undefined {
  if (seen === undefined || privateKey === undefined) return undefined;
  const publicKey = bytesToHex(nodeCrypto.x25519.publicKey(privateKey));
  if (publicKey === seen) return undefined;
  return {
    name: 'key-pair',
    certainty: 'likely',
    text: `the ${role} used the public key ${seen}, and the private key given has another, ${publicKey}: its stored public key does not match its private key, so every handshake fails; or the evidence contradicts itself, because the key given belongs to another ${role}`,
  };
}

/** The handshake up to the message that was not accepted. */
function handshakeOf(examined: Case, { index, reader }: Point): Handshake | undefined {
  const { pattern, suite, views, evidence } = examined;
  const view = views[reader] ?? views[OTHER[reader]];
  if (pattern === undefined || suite === undefined || view === undefined) return undefined;
  const count = Math.min(index + 1, pattern === 'XXpsk2' ? 3 : 2);
  const messages = Array.from({ length: count }, (_, at) => examined.message(at));
  if (!messages.every((message) => message !== undefined)) return undefined;
  const { client, hub, clientStatic, hubStatic } = evidence;
  const sealed = evidence[reader]?.sealed;
  if (index === 3 && sealed === undefined) return undefined;
  const publicKey = (role: Role): Uint8Array | undefined => {
    const key = examined.publicKey(role) ?? examined.pinnedKey(role);
    return key === undefined ? undefined : hexToBytes(key);
  };
  return {
    pattern,
    suite,
    prologue: buildPrologue(view.hello, view.offer, protocolName(pattern, suite)),
    psk: pskOf(examined, reader) ?? examined.derivedPsk ?? pskOf(examined, OTHER[reader]),
    client: { s: clientStatic, e: client?.ephemeralKey, publicKey: publicKey('client') },
    hub: { s: hubStatic, e: hub?.ephemeralKey, publicKey: publicKey('hub') },
    messages: messages as Uint8Array[],
    sealed: index === 3 ? { from: OTHER[reader], message: sealed!, counter: 0n } : undefined,
  };
}

/** The index of the message that was not accepted. */
function last({ messages, sealed }: Handshake): number {
  return sealed === undefined ? messages.length - 1 : messages.length;
}

export function pskOf({ evidence }: Case, role: Role): Uint8Array | undefined {
  return evidence[`${role}Psk`];
}

/** Asks for the PSK that a computation lacks, unless the password was given. */
export function askForPsk({ wouldHelp, evidence }: Case): void {
  if (evidence.password !== undefined) return;
  wouldHelp.add('the password (--password or --identity), or the PSKs (--psk, --hub-psk)');
}

function askForKeys({ wouldHelp }: Case): void {
  wouldHelp.add(
    'the private keys that the handshake needs: a recording of the next failure with ephemeralKey: true, and the static ' +
      'key of the side that made it (--keyring of the client, --hub-key of the hub)',
  );
}

/** The message is correct, so its reader erred, or refused it for another reason. */
function faultOfReader(examined: Case, point: Point, handshake: Handshake): Cause | undefined {
  const { index, reader, isRecorded } = point;
  const { checked } = examined;
  checked.push(`${NAMES[index]} is correct: it decrypts with the keys known of both sides`);
  const readersPsk = pskOf(examined, reader);
  const used = handshake.psk;
  const isAtPsk = index < 2 && !(index === 0 && handshake.pattern === 'XXpsk2');
  if (isRecorded && isAtPsk && readersPsk === undefined && used !== undefined) {
    const source = equalBytes(used, examined.derivedPsk ?? new Uint8Array())
      ? 'of the password given'
      : 'given';
    const isStored = examined.evidence[reader]?.foundPsk;
    return {
      name: isStored ? 'psk-stale' : 'psk-differs',
      certainty: 'likely', // it may mix in the same PSK wrongly
      text:
        `${NAMES[index]} opens with the PSK ${source}, so the ${OTHER[reader]} uses that; the ${reader} used another` +
        `${isStored ? ', which it had stored: forget it, and derive it again. A mistake in how it mixes the PSK in looks the same' : ': it has another password, derives the PSK wrongly, or mixes it in wrongly'}`,
    };
  }
  examined.wouldHelp.add(
    `hub-protocol-judge, if the ${reader} is an implementation that was never tested with it: a mistake there looks like this`,
  );
  if (!isRecorded || index === 0) return undefined;
  const fits = MISTAKES.filter((mistake) => replay(mistake, handshake).opened === last(handshake));
  if (fits.length > FEW) return undefined;
  return {
    name: 'noise-mistake',
    certainty: 'likely',
    text: `the ${reader} reads ${NAMES[index]} wrongly, which a correct implementation can open. It may make one of these mistakes: ${fits.map(({ cause }) => cause).join('; or ')}`,
  };
}

function faultOfWriter(examined: Case, point: Point, handshake: Handshake): Cause | undefined {
  const writer = OTHER[point.reader];
  const opens = (changed: Partial<Handshake>): boolean =>
    replay({}, { ...handshake, ...changed }).opened > last(handshake);
  const view = examined.views[point.reader] ?? examined.views[writer];
  return (
    (point.index === 3 ? laterMessage(writer, handshake) : undefined) ??
    wrongNoise(writer, point, handshake) ??
    (point.index === 0 ? wrongPrologue(writer, view!, handshake, opens) : undefined) ??
    wrongPsk(examined, writer, opens)
  );
}

/** How many transport messages may have been lost or overtaken before one that is still recognized. */
const AHEAD = 64n;

function laterMessage(writer: Role, handshake: Handshake): Cause | undefined {
  const { sealed } = handshake;
  for (let counter = 1n; counter < AHEAD; counter++) {
    if (replay({}, { ...handshake, sealed: { ...sealed!, counter } }).opened <= last(handshake)) continue;
    return {
      name: 'message-order',
      certainty: 'certain',
      text: `the transport message of the ${writer} with the counter ${counter} arrived first: those before it were lost, or it overtook them`,
    };
  }
  return undefined;
}

function wrongPrologue(
  writer: Role,
  { hello, offer }: View,
  { pattern, suite }: Handshake,
  opens: (changed: Partial<Handshake>) => boolean,
): Cause | undefined {
  const name = protocolName(pattern, suite);
  for (const stripped of strippedPayloads(hello, offer)) {
    if (opens({ prologue: buildPrologue(stripped.hello, stripped.offer, name) })) {
      return { name: stripped.name, certainty: 'certain', text: stripped.text };
    }
  }
  for (const { cause, prologue } of mistakenPrologues(stringifyJson(hello), stringifyJson(offer), name)) {
    if (opens({ prologue })) {
      return {
        name: 'prologue',
        certainty: 'certain',
        text: `the ${writer} computes the prologue wrongly: ${cause}`,
      };
    }
  }
  return undefined;
}

function wrongNoise(writer: Role, { index }: Point, handshake: Handshake): Cause | undefined {
  const fits = MISTAKES.filter((mistake) => replay(mistake, handshake).opened > last(handshake));
  if (fits.length === 0) return undefined;
  const causes = fits.map(({ cause }) => cause).join('; or ');
  return {
    name: 'noise-mistake',
    certainty: 'certain',
    text: `the ${writer} makes a mistake in the Noise handshake, with which ${NAMES[index]} opens: ${causes}`,
  };
}

/** The PSK of the password itself was already compared with the reader's. */
function wrongPsk(
  examined: Case,
  writer: Role,
  opens: (changed: Partial<Handshake>) => boolean,
): Cause | undefined {
  const { evidence } = examined;
  const { password, onAttempt } = evidence;
  if (password === undefined || examined.nodeId === undefined) return undefined;
  const all = evidence.mistakenPsks(password, examined.nodeId);
  for (const [index, { cause, derive }] of all.entries()) {
    onAttempt?.(index, all.length);
    const psk = hexToBytes(derive() ?? '');
    if (psk?.length === 32 && opens({ psk })) return wrongDerivation(writer, cause);
  }
  examined.checked.push(
    `the ${writer} uses none of ${all.length + 1} PSKs that are made of the password given, rightly or not`,
  );
  return undefined;
}

function wrongDerivation(role: Role, cause: string): Cause {
  return {
    name: 'psk-derivation',
    certainty: 'certain',
    text: `the ${role} derives the PSK wrongly: ${cause}`,
  };
}

/** Compares the known PSKs of both sides, and the password's. */
export function comparePsks(examined: Case): Cause | undefined {
  const { derivedPsk: derived, checked, evidence } = examined;
  const { clientPsk, hubPsk, password } = evidence;
  for (const role of ['client', 'hub'] as const) {
    const psk = pskOf(examined, role);
    if (psk === undefined || derived === undefined) continue;
    if (equalBytes(psk, derived)) {
      checked.push(`the PSK of the ${role} was derived from the password`);
      continue;
    }
    const all = evidence.mistakenPsks(password!, examined.nodeId!);
    const mistake = all.find(({ derive }, index) => {
      evidence.onAttempt?.(index, all.length);
      return derive() === bytesToHex(psk);
    });
    if (mistake !== undefined) return wrongDerivation(role, mistake.cause);
    return {
      name: evidence[role]?.foundPsk ? 'psk-stale' : 'psk-differs',
      certainty: 'certain',
      text: `the PSK of the ${role} was not derived from the password for this hub: it belongs to another password or another hub, or was derived in an unknown way`,
    };
  }
  if (clientPsk === undefined || hubPsk === undefined) return undefined;
  if (equalBytes(clientPsk, hubPsk)) {
    examined.agree('psks', 'the PSKs of both sides agree');
    if (examined.failures.some(({ failure }) => failure.code === 'psk-differs')) {
      checked.push(
        'what only the PSK seals did not open, though the PSKs given agree: one of them is not the one that was used, one side mixes it in wrongly, or the message was changed',
      );
    }
    return undefined;
  }
  return {
    name: 'psk-differs',
    certainty: 'certain',
    text: 'the two sides have different PSKs: one of them has another password, or derived it wrongly. With the password, --password shows which',
  };
}

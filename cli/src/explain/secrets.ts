/** Compares the PSKs of both sides, and computes the handshake again where the evidence suffices. */
import {
  buildPrologue,
  dhKeysWith,
  equalBytes,
  hexToBytes,
  NoiseWithMistake,
  openWith,
  preMessagesWith,
  protocolName,
  publicKeyOf,
  sharedSecretOf,
  tokensWith,
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

/** Whether the message that was not accepted is right, and with which PSK, if the evidence suffices to compute up to it. */
export function computeAgain(examined: Case): Cause | undefined {
  const { point, evidence, checked, wouldHelp, derivedPsk } = examined;
  if (point === undefined) return undefined;
  const { index, reader, isRecorded } = point;
  const readersPsk = evidence[`${reader}Psk`];
  const psk = readersPsk ?? derivedPsk ?? evidence[`${OTHER[reader]}Psk`];
  const result = replay(examined, point, psk);
  if (result === undefined) return undefined;
  if (result === 'lacks a key')
    wouldHelp.add(
      'the private keys that the handshake needs: a recording of the next failure with ephemeralKey: true, and the static ' +
        'key of the side that made it (--keyring of the client, --hub-key of the hub)',
    );
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

type Result = 'opens' | 'does not open' | 'lacks the PSK' | 'lacks a key';

/**
 * Computes the handshake up to the message that was not accepted, and opens each part of each message. It needs only one private
 * key of each Diffie-Hellman pair.
 */
function replay(examined: Case, { index, reader }: Point, psk: Uint8Array | undefined): Result | undefined {
  const { pattern, suite, views, evidence } = examined;
  const view = views[reader] ?? views[OTHER[reader]];
  if (pattern === undefined || suite === undefined || view === undefined) return undefined;
  const count = Math.min(index + 1, pattern === 'XXpsk2' ? 3 : 2);
  const messages = Array.from({ length: count }, (_, at) => examined.message(at));
  const sealed = evidence[reader]?.sealed;
  if (messages.includes(undefined) || (index === 3 && sealed === undefined)) return undefined;
  const { client, hub, clientStatic, hubStatic } = evidence;
  const own: Keys = {
    'init s': clientStatic,
    'init e': client?.ephemeralKey,
    'resp s': hubStatic,
    'resp e': hub?.ephemeralKey,
  };
  const publicOf = (role: Role, key: Uint8Array | undefined): Uint8Array | undefined =>
    key ? publicKeyOf(key) : hexToBytes(examined.publicKey(role) ?? examined.pinnedKey(role) ?? '-');
  const publicKeys: Keys = {
    'init s': publicOf('client', clientStatic),
    'resp s': publicOf('hub', hubStatic),
  };
  const noise = new NoiseWithMistake({}, pattern, suite);
  const preMessages = preMessagesWith({}, pattern, 'init').map((owner) => publicKeys[`${owner} s`]);
  if (preMessages.includes(undefined)) return 'lacks a key';
  const prologue = buildPrologue(view.hello, view.offer, protocolName(pattern, suite));
  noise.mixPrologue(prologue, preMessages as Uint8Array[]);
  const tokens = tokensWith({}, pattern);
  for (const [index, message] of (messages as Uint8Array[]).entries()) {
    const writer = index % 2 === 0 ? 'init' : 'resp';
    let at = 0;
    for (const token of tokens[index]!) {
      if (token === 'e') {
        publicKeys[`${writer} e`] = message.subarray(at, at + 32);
        noise.mixEphemeral(message.subarray(at, at + 32));
        at += 32;
      } else if (token === 's') {
        const opened = noise.decryptAndHash(message.subarray(at, at + 48));
        if (opened?.length !== 32) return 'does not open';
        publicKeys[`${writer} s`] = opened;
        at += 48;
      } else if (token === 'psk') {
        if (psk === undefined) return 'lacks the PSK';
        noise.mixKeyAndHash(psk);
      } else {
        const [init, resp] = dhKeysWith({}, token);
        const secret =
          shared(own[`init ${init}`], publicKeys[`resp ${resp}`]) ??
          shared(own[`resp ${resp}`], publicKeys[`init ${init}`]);
        if (secret === undefined) return 'lacks a key';
        noise.mixKey(secret);
      }
    }
    if (noise.decryptAndHash(message.subarray(at)) === undefined) return 'does not open';
  }
  if (index < 3) return 'opens';
  const { sendKey } = noise.split(reader === 'hub' ? 'init' : 'resp');
  return openWith({}, suite, sendKey, 0n, noise.transportData, sealed!) === undefined
    ? 'does not open'
    : 'opens';
}

interface Keys {
  [name: string]: Uint8Array | undefined;
}

function shared(own: Uint8Array | undefined, other: Uint8Array | undefined): Uint8Array | undefined {
  return own === undefined || other?.length !== 32 ? undefined : sharedSecretOf(own, other);
}

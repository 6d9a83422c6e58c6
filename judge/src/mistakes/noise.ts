/**
 * The mistakes in a handshake, and in the transport messages after it. A known mistake leads to predictable bytes: if an
 * implementation writes them, the mistake is found.
 */
import { bytesToHex, concatBytes, equalBytes, hexToBytes, type Pattern, type Suite } from '../protocol.ts';
import type { Causes } from '../verdict.ts';
import { MISTAKES, type Mistake, ONE_SIDED_MISTAKES } from './noise-mistakes.ts';
import {
  countedAs,
  dhKeysWith,
  NoiseWithMistake,
  preMessagesWith,
  publicKeyOf,
  type Side,
  sealWith,
  tokensWith,
} from './noise-with-mistake.ts';
import { mistakesInEphemeralKey, mistakesInPayload } from './payload.ts';

/** The keys and messages of a vector of type Handshake, in hexadecimal. */
export interface Transcript {
  readonly pattern: Pattern;
  readonly suite: Suite;
  readonly prologue: string;
  readonly psk: string;
  readonly initStatic: string;
  readonly initEphemeral: string;
  readonly respStatic: string;
  readonly respEphemeral: string;
  readonly messages: readonly { readonly payload: string; readonly message: string }[];
}

export interface Outcome {
  /** This side's message at each index, in hexadecimal; the other side's messages are as in the transcript. */
  readonly messages: readonly (string | undefined)[];
  readonly handshakeHash: string;
  readonly sendKey: Uint8Array;
  readonly receiveKey: Uint8Array;
  /** The counter of each part that is sealed or opened, in order. */
  readonly counters: readonly bigint[];
  /** The associated data of transport messages. */
  readonly transportData: Uint8Array;
}

function bytes(hex: string): Uint8Array {
  return hexToBytes(hex)!;
}

const outcomes = new WeakMap<Transcript, Map<string, Outcome>>();

/** The output of one side of a handshake that makes this mistake, or none. */
export function handshakeWith(mistake: Partial<Mistake>, side: Side, transcript: Transcript): Outcome {
  const known = outcomes.get(transcript) ?? new Map<string, Outcome>();
  outcomes.set(transcript, known);
  const name = `${side} ${JSON.stringify(mistake)}`;
  const outcome = known.get(name) ?? play(mistake, side, transcript);
  known.set(name, outcome);
  return outcome;
}

function play(mistake: Partial<Mistake>, side: Side, transcript: Transcript): Outcome {
  const { pattern, suite } = transcript;
  const privateKeys = {
    init: { s: bytes(transcript.initStatic), e: bytes(transcript.initEphemeral) },
    resp: { s: bytes(transcript.respStatic), e: bytes(transcript.respEphemeral) },
  };
  const noise = new NoiseWithMistake(mistake, pattern, suite);
  const preMessages = preMessagesWith(mistake, pattern, side).map((owner) =>
    publicKeyOf(privateKeys[owner].s),
  );
  noise.mixPrologue(bytes(transcript.prologue), preMessages);
  const [tokens, usual] = [tokensWith(mistake, pattern), tokensWith({}, pattern)];
  const messages = transcript.messages.map(({ payload, message }, index) => {
    const writer = index % 2 === 0 ? 'init' : 'resp';
    const read = bytes(message);
    const parts: Uint8Array[] = [];
    let at = 0;
    noise.begin(writer === side ? 'writing' : 'reading');
    const made = noise.isMade ? mistake : {};
    /** Writes our own part of a message, or skips the other side's, which enters the hash as it came. */
    const put = (plaintext: Uint8Array, length: number, what: 'static' | 'payload'): void => {
      if (writer === side) parts.push(noise.encryptAndHash(plaintext, what));
      else noise.mixSealed(plaintext, read.subarray(at, at + length), what);
      at += length;
    };
    for (const token of noise.isMade ? tokens[index]! : usual[index]!) {
      if (token === 'psk') {
        noise.mixKeyAndHash(bytes(transcript.psk));
      } else if (token === 'e') {
        const ephemeral = publicKeyOf(privateKeys[writer].e);
        noise.mixEphemeral(ephemeral);
        parts.push(ephemeral);
        at += 32;
      } else if (token === 's') {
        const key = publicKeyOf(privateKeys[writer].s);
        if (made.staticInClear) {
          noise.mixHash(key);
          parts.push(key);
          at += 48;
        } else {
          put(key, 48, 'static');
        }
      } else {
        const [init, resp] = dhKeysWith(made, token, side);
        noise.mixKey(noise.sharedSecret(privateKeys.init[init], publicKeyOf(privateKeys.resp[resp])));
      }
    }
    if (payload !== '' || made.emptyPayload !== 'left-out') put(bytes(payload), read.length - at, 'payload');
    return writer === side ? bytesToHex(concatBytes(parts)) : undefined;
  });
  const { handshakeHash, transportData, counters } = noise;
  return {
    messages,
    handshakeHash: bytesToHex(handshakeHash),
    counters,
    transportData,
    ...noise.split(side),
  };
}

const ALL_MISTAKES: readonly Mistake[] = [...MISTAKES, ...ONE_SIDED_MISTAKES];
const byCause = new Map(ALL_MISTAKES.map((mistake) => [mistake.cause, mistake]));

/** How many searches for one-sided mistakes in a row may be in vain: each takes some milliseconds. */
const MOST_IN_VAIN = 40;
let inVain = 0;

/** The mistakes that fit; those on one side only if no other does. */
function causesOf(fits: (mistake: Mistake) => boolean, seeksOneSided = true): Causes {
  const found = MISTAKES.filter(fits);
  if (found.length > 0 || !seeksOneSided || inVain >= MOST_IN_VAIN) return found.map(({ cause }) => cause);
  const oneSided = ONE_SIDED_MISTAKES.filter(fits);
  inVain = oneSided.length === 0 ? inVain + 1 : 0;
  return oneSided.map(({ cause }) => cause);
}

/** The parts that a mistake leaves correct on a side. */
interface Spared {
  /** All messages, the handshake hash, and the counters of messages that are read. */
  readonly handshake: boolean;
  readonly sendKey: boolean;
  readonly receiveKey: boolean;
}

const spared = new WeakMap<Transcript, Map<string, Spared>>();

function sparedBy(mistake: Mistake, side: Side, transcript: Transcript): Spared {
  const known = spared.get(transcript) ?? new Map<string, Spared>();
  spared.set(transcript, known);
  const name = `${side} ${mistake.cause}`;
  const result = known.get(name) ?? compare(mistake, side, transcript);
  known.set(name, result);
  return result;
}

function compare(mistake: Mistake, side: Side, transcript: Transcript): Spared {
  const right = handshakeWith({}, side, transcript);
  const { messages, handshakeHash, counters, sendKey, receiveKey } = handshakeWith(mistake, side, transcript);
  return {
    handshake:
      messages.every((message, index) => message === right.messages[index]) &&
      handshakeHash === right.handshakeHash &&
      (mistake.nonce === undefined || counters.join() === right.counters.join()),
    sendKey: equalBytes(sendKey, right.sendKey),
    receiveKey: equalBytes(receiveKey, right.receiveKey),
  };
}

/** Whether the mistake of this cause leaves everything right on a side. */
export function spares(cause: string, side: Side, transcript: Transcript): boolean {
  const mistake = byCause.get(cause);
  if (mistake === undefined) return true;
  const { handshake, sendKey, receiveKey } = sparedBy(mistake, side, transcript);
  return handshake && sendKey && receiveKey;
}

/** Whether a side that makes the mistake of this cause writes another handshake message. */
export function changesMessages(cause: string, side: Side, transcript: Transcript): boolean {
  const mistake = byCause.get(cause);
  if (mistake === undefined) return false;
  const right = handshakeWith({}, side, transcript).messages;
  return handshakeWith(mistake, side, transcript).messages.some((message, index) => message !== right[index]);
}

/** Whether the mistake of this cause prevents a side from opening transport messages, though all that it writes is right. */
export function preventsOpening(cause: string, side: Side, transcript: Transcript): boolean {
  const mistake = byCause.get(cause);
  if (mistake === undefined) return false;
  const { handshake, sendKey, receiveKey } = sparedBy(mistake, side, transcript);
  return handshake && sendKey && !receiveKey;
}

/** The known mistakes that change something on this side, though no message before this index, and nothing on the other. */
export function causesOnOneSide(
  side: Side,
  transcript: Transcript,
  index: number,
  isRefused: boolean,
): Causes {
  const other = side === 'init' ? 'resp' : 'init';
  const right = handshakeWith({}, side, transcript).messages;
  const fits = (mistake: Mistake): boolean => {
    const { messages } = handshakeWith(mistake, side, transcript);
    // Made on both sides, by the cipher; or nothing opens.
    if (mistake.nonce !== undefined && (mistake.only === undefined || !isRefused)) return false;
    if (isLater(mistake, transcript.pattern, index)) return false;
    const isRightBefore = messages.every((message, at) => at >= index || message === right[at]);
    const { cause } = mistake;
    const changesHandshake = !sparedBy(mistake, side, transcript).handshake;
    return isRightBefore && changesHandshake && spares(cause, other, transcript);
  };
  const found = MISTAKES.filter(fits);
  return (found.length > 0 ? found : ONE_SIDED_MISTAKES.filter(fits)).map(({ cause }) => cause);
}

/** Whether a mistake in the order of tokens is made only after the message of this index. */
function isLater(mistake: Mistake, pattern: Pattern, index: number): boolean {
  if (mistake.order === undefined && mistake.without === undefined && mistake.pskOf === undefined)
    return false;
  const upTo = (made: Partial<Mistake>): string =>
    tokensWith(made, pattern)
      .slice(0, index + 1)
      .join(';');
  return upTo(mistake) === upTo({});
}

/** The known mistakes that make a side write `got` at this index. */
export function mistakesInMessage(side: Side, transcript: Transcript, index: number, got: string): Causes {
  const hasKey = tokensWith({}, transcript.pattern)[index]!.includes('e');
  const inKey = hasKey ? mistakesInEphemeralKey(transcript.messages[index]!.message, got) : [];
  if (inKey.length > 0) return inKey;
  const causes = causesOf((mistake) => handshakeWith(mistake, side, transcript).messages[index] === got);
  const { message, payload } = transcript.messages[index]!;
  if (index === 0 && got === message.slice(0, 64) + payload) return [...causes, IN_CLEAR];
  if (causes.length > 0) return causes;
  return mistakesInPayload(message, got, payload.length / 2);
}

const IN_CLEAR =
  'payload: the payload of message 1 is sent in the clear; in patterns with a psk, e gives a key, which encrypts it';

/** The known mistakes that leave a side with the handshake hash `got`. */
export function mistakesInHandshakeHash(
  side: Side,
  transcript: Transcript,
  right: string,
  got: string,
): Causes {
  const causes = causesOf((mistake) => handshakeWith(mistake, side, transcript).handshakeHash === got);
  if (causes.length > 0 || !/^(?:[\da-f]{2})+$/.test(got)) return causes;
  return [right.startsWith(got) ? `handshake hash: it has ${got.length / 2} bytes; it has 32` : OTHER_HASH];
}

/** Ends a cause that no message may contradict. */
export const ALL_RIGHT = 'though all messages are right';
const OTHER_HASH = `handshake hash: it is not h as it stands after the last message (Noise spec, section 11.2), ${ALL_RIGHT}`;

/** The known mistakes that make a side seal `got` as its first, second, … transport message. */
export function mistakesInTransport(
  side: Side,
  transcript: Transcript,
  index: number,
  plaintext: Uint8Array,
  got: Uint8Array,
): Causes {
  const { suite } = transcript;
  const { sendKey } = handshakeWith({}, side, transcript);
  const isKept = isSealed({ cause: COUNTER_KEPT }, suite, sendKey, 1n, index, plaintext, got);
  const causes = causesOf((mistake) => {
    const { sendKey, transportData } = handshakeWith(mistake, side, transcript);
    return isSealed(mistake, suite, sendKey, 0n, index, plaintext, got, transportData);
  }, !isKept);
  return isKept ? [...causes, COUNTER_KEPT] : causes;
}

/** The last message of a handshake has one sealed part under its last key. */
const COUNTER_KEPT =
  'nonce: the counter of the handshake goes on in transport messages, which begin with 1; Split gives new CipherStates, which begin with 0';

const RESERVED = 0xffff_ffff_ffff_ffffn;

/** Rekey (Noise spec, section 11.3), which a session never does. */
function rekeyed(suite: Suite, key: Uint8Array): Uint8Array {
  return sealWith({}, suite, key, RESERVED, new Uint8Array(0), new Uint8Array(32)).slice(0, 32);
}

/** The known mistakes under which `key` seals to `got`, as the message after `index` others since `counter`. */
export function mistakesInSealing(
  suite: Suite,
  key: Uint8Array,
  counter: bigint,
  index: number,
  plaintext: Uint8Array,
  got: Uint8Array,
): Causes {
  const next = rekeyed(suite, key);
  const isRekeyed = [counter + BigInt(index), 0n].some((at) =>
    equalBytes(sealWith({}, suite, next, at, new Uint8Array(0), plaintext), got),
  );
  if (isRekeyed)
    return [`rekey: the key is replaced after ${index} messages; a session keeps its keys (no Rekey)`];
  return causesOf(
    (mistake) =>
      ((mistake.nonce !== undefined && mistake.nonce !== 'never-reset') ||
        mistake.tagFirst === true ||
        mistake.associatedData === 'zero-in-transport' ||
        (mistake.cipher !== undefined && suite.includes('ChaChaPoly'))) &&
      isSealed(
        mistake,
        suite,
        key,
        counter,
        index,
        plaintext,
        got,
        new Uint8Array(mistake.associatedData === undefined ? 0 : 1),
      ),
    false,
  );
}

/** Whether messages that are sealed under these counters rule out the mistake. */
export function refutesSealing(counter: bigint, count: number, cause: string): boolean {
  const nonce = byCause.get(cause)?.nonce;
  return Array.from({ length: count }, (_, index) => counter + BigInt(index)).some(
    (right) => BigInt.asUintN(64, countedAs(right, nonce)) !== right,
  );
}

function isSealed(
  mistake: Mistake,
  suite: Suite,
  key: Uint8Array,
  counter: bigint,
  index: number,
  plaintext: Uint8Array,
  got: Uint8Array,
  associatedData: Uint8Array = new Uint8Array(0),
): boolean {
  const at = mistake.nonce === 'never-advanced' ? counter : counter + BigInt(index);
  return equalBytes(sealWith(mistake, suite, key, at, associatedData, plaintext), got);
}

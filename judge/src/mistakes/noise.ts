/**
 * Noise with one mistake. A known mistake leads to predictable bytes: if an implementation writes them, the mistake is
 * found. Never use this to communicate.
 */
import {
  bytesToHex,
  type Cipher,
  concatBytes,
  equalBytes,
  hexToBytes,
  nodeCrypto,
  PATTERNS,
  type Pattern,
  protocolName,
  SUITES,
  type Suite,
  type Token,
  utf8ToBytes,
} from '../protocol.ts';
import type { Causes } from '../verdict.ts';
import { mistakesInEphemeralKey } from './ephemeral-key.ts';
import { MISTAKES, type Mistake } from './noise-mistakes.ts';
import { mistakesInPayload } from './payload.ts';

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

export type Side = 'init' | 'resp';

export interface Outcome {
  /** This side's message at each index, in hexadecimal; the other side's messages are as in the transcript. */
  readonly messages: readonly (string | undefined)[];
  readonly handshakeHash: string;
  readonly sendKey: Uint8Array;
  readonly receiveKey: Uint8Array;
  /** The handshake hash as bytes. */
  readonly hash: Uint8Array;
}

const NO_BYTES = new Uint8Array(0);
const { sha256, hmacSha256, x25519 } = nodeCrypto;

function bytes(hex: string): Uint8Array {
  return hexToBytes(hex)!;
}

/** Results of X25519 by their inputs: mistakes are tried by the dozen with the same keys. */
const results = new Map<string, Uint8Array>();

export function memoized(inputs: string, compute: () => Uint8Array): Uint8Array {
  const result = results.get(inputs) ?? compute();
  results.set(inputs, result);
  return result;
}

/** The output of one side of a handshake that makes this mistake, or none. */
export function handshakeWith(mistake: Partial<Mistake>, side: Side, transcript: Transcript): Outcome {
  const { pattern, suite } = transcript;
  const privateKeys = {
    init: { s: transcript.initStatic, e: transcript.initEphemeral },
    resp: { s: transcript.respStatic, e: transcript.respEphemeral },
  };
  const publicKey = (owner: Side, key: 's' | 'e'): Uint8Array =>
    memoized(privateKeys[owner][key], () => x25519.publicKey(bytes(privateKeys[owner][key])));

  let key: Uint8Array | undefined;
  let counter = 0;
  let hash = nameHash(nameOf(pattern, suite, mistake), mistake);
  let chainingKey: Uint8Array = mistake.chainingKey === 'zeros' ? new Uint8Array(32) : hash;
  const mixHash = (data: Uint8Array): void => {
    hash = mistake.mixHash === 'data-first' ? sha256(data, hash) : sha256(hash, data);
  };
  const setKey = (next: Uint8Array): void => {
    key = next;
    if (mistake.nonce !== 'never-reset') counter = 0;
  };
  const mixKey = (input: Uint8Array): void => {
    const outputs = hkdf(chainingKey, input, 3, mistake);
    const keyAt = mistake.hkdf === 'third-is-key' ? 2 : mistake.hkdf === 'first-is-key' ? 0 : 1;
    chainingKey = outputs[keyAt === 0 ? 1 : 0]!;
    setKey(outputs[keyAt]!);
  };
  const mixPsk = (): void => {
    if (mistake.psk === 'left-out') return;
    const psk = mistake.psk === 'zeros' ? new Uint8Array(32) : bytes(transcript.psk);
    const outputs = hkdf(chainingKey, psk, 3, mistake);
    chainingKey = outputs[0]!;
    if (mistake.psk === 'hashed-itself') mixHash(psk);
    else if (mistake.psk !== 'not-hashed') mixHash(outputs[mistake.psk === 'outputs-swapped' ? 2 : 1]!);
    const isSecond = mistake.psk === 'two-outputs' || mistake.psk === 'outputs-swapped';
    setKey(outputs[isSecond ? 1 : 2]!);
  };
  const mixSharedSecret = (token: Token): void => {
    const isOwn = mistake.dhSwapped === true || mistake.dhSwapped === side;
    const isSwapped = isOwn && (token === 'es' || token === 'se');
    const [init, resp] = (isSwapped ? token[1]! + token[0]! : token) as unknown as ['s' | 'e', 's' | 'e'];
    const secret = privateKeys.init[init];
    mixKey(
      memoized(`${secret} ${privateKeys.resp[resp]}`, () =>
        x25519.sharedSecret(bytes(secret), publicKey('resp', resp)),
      ),
    );
  };
  const countUp = (): void => {
    if (mistake.nonce !== 'never-advanced') counter++;
  };
  const encryptAndHash = (plaintext: Uint8Array): Uint8Array => {
    if (key === undefined) {
      mixHash(plaintext);
      return plaintext;
    }
    const associatedData = mistake.associatedData === 'left-out' ? NO_BYTES : hash;
    const sealed = sealWith(mistake, suite, key, BigInt(counter), associatedData, plaintext);
    countUp();
    if (mistake.mixes !== 'nothing') mixHash(mistake.mixes === 'plaintext' ? plaintext : sealed);
    return sealed;
  };

  const isSkipped = transcript.prologue === '' && mistake.prologue === 'skipped-if-empty';
  const mixPrologue = (isLate: boolean): void => {
    if (isLate !== (mistake.prologue === 'after-pre-messages')) return;
    if (mistake.prologue === 'left-out' || isSkipped) return;
    const prologue = bytes(transcript.prologue);
    mixHash(mistake.prologue === 'hashed-before' ? sha256(prologue) : prologue);
  };
  mixPrologue(false);
  if (PATTERNS[pattern].staticKeysKnown && mistake.preMessages !== 'left-out') {
    const other = side === 'init' ? 'resp' : 'init';
    const orders: { readonly [mistake: string]: readonly Side[] } = {
      swapped: ['resp', 'init'],
      'own-first': [side, other],
      'own-last': [other, side],
    };
    for (const owner of orders[mistake.preMessages ?? ''] ?? ['init', 'resp']) mixHash(publicKey(owner, 's'));
  }
  mixPrologue(true);
  const tokens = tokensWith(mistake, pattern);
  const messages = transcript.messages.map(({ payload, message }, index) => {
    const writer = index % 2 === 0 ? 'init' : 'resp';
    const read = bytes(message);
    const parts: Uint8Array[] = [];
    let at = 0;
    /** Writes our own part of a message, or skips the other side's, which enters the hash as it came. */
    const put = (plaintext: Uint8Array, length: number): void => {
      if (writer === side) {
        parts.push(encryptAndHash(plaintext));
        return;
      }
      if (mistake.mixes !== 'nothing') {
        mixHash(mistake.mixes === 'plaintext' ? plaintext : read.subarray(at, at + length));
      }
      if (key !== undefined) countUp();
      at += length;
    };
    for (const token of tokens[index]!) {
      if (token === 'e') {
        const ephemeral = publicKey(writer, 'e');
        if (!mistake.ephemeralNotHashed) mixHash(ephemeral);
        if (!mistake.ephemeralNotMixed) mixKey(ephemeral);
        parts.push(ephemeral);
        at += 32;
      } else if (token === 's') {
        if (mistake.staticInClear) {
          mixHash(publicKey(writer, 's'));
          if (writer === side) parts.push(publicKey(writer, 's'));
          at += 48;
        } else {
          put(publicKey(writer, 's'), 48);
        }
      } else if (token === 'psk') {
        mixPsk();
      } else {
        mixSharedSecret(token);
      }
    }
    if (payload !== '' || mistake.emptyPayload !== 'left-out') put(bytes(payload), read.length - at);
    return writer === side ? bytesToHex(concatBytes(parts)) : undefined;
  });
  const keys = hkdf(chainingKey, splitInput(mistake, hash), 3, mistake);
  if (mistake.split === 'second-and-third') keys.shift();
  const swapper = side === 'init' ? 'swapped-by-initiator' : 'swapped-by-responder';
  const isSwapped = mistake.split === 'swapped' || mistake.split === swapper;
  const [own, other] = (side === 'init') === isSwapped ? [1, 0] : [0, 1];
  const isOne = mistake.split === 'one-key';
  const [sendKey, receiveKey] = [keys[isOne ? 0 : own]!, keys[isOne ? 0 : other]!];
  return { messages, handshakeHash: bytesToHex(hash), sendKey, receiveKey, hash };
}

/** Split's input to HKDF in addition to the chaining key. */
export function splitInput({ split }: Partial<Mistake>, hash: Uint8Array): Uint8Array {
  if (split === 'of-zeros') return new Uint8Array(32);
  return split === 'with-hash' ? hash : NO_BYTES;
}

/** The tokens of each message, with a token out of place if the mistake says so. */
export function tokensWith({ without, order, pskOf, pskAt }: Partial<Mistake>, pattern: Pattern): Token[][] {
  const messages = PATTERNS[pattern].messages.map((tokens: readonly Token[]) =>
    tokens.filter((token) => token !== without),
  );
  for (const tokens of order === undefined ? [] : messages) {
    const at = tokens.indexOf(order![0]);
    if (at >= 0 && tokens[at + 1] === order![1]) tokens.splice(at, 2, order![1], order![0]);
  }
  if (pskAt === undefined || pskOf !== pattern) return messages;
  const moved: Token[][] = messages.map((tokens) => tokens.filter((token) => token !== 'psk'));
  if (pskAt === 0) moved[0]!.unshift('psk');
  else moved[pskAt - 1]!.push('psk');
  return moved;
}

function causesOf(fits: (mistake: Mistake) => boolean): Causes {
  return MISTAKES.filter(fits).map(({ cause }) => cause);
}

/** The parts that a mistake leaves correct on a side. */
interface Spared {
  /** All messages and the handshake hash. */
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
  const { messages, handshakeHash, sendKey, receiveKey } = handshakeWith(mistake, side, transcript);
  return {
    handshake:
      messages.every((message, index) => message === right.messages[index]) &&
      handshakeHash === right.handshakeHash,
    sendKey: equalBytes(sendKey, right.sendKey),
    receiveKey: equalBytes(receiveKey, right.receiveKey),
  };
}

/** Whether the mistake of this cause leaves everything right on a side. */
export function spares(cause: string, side: Side, transcript: Transcript): boolean {
  const mistake = MISTAKES.find((mistake) => mistake.cause === cause);
  if (mistake === undefined) return true;
  const { handshake, sendKey, receiveKey } = sparedBy(mistake, side, transcript);
  return handshake && sendKey && receiveKey;
}

/** Whether a side that makes the mistake of this cause writes another handshake message. */
export function changesMessages(cause: string, side: Side, transcript: Transcript): boolean {
  const mistake = MISTAKES.find((mistake) => mistake.cause === cause);
  if (mistake === undefined) return false;
  const right = handshakeWith({}, side, transcript).messages;
  return handshakeWith(mistake, side, transcript).messages.some((message, index) => message !== right[index]);
}

/** Whether the mistake of this cause prevents a side from opening transport messages, though all that it writes is right. */
export function preventsOpening(cause: string, side: Side, transcript: Transcript): boolean {
  const mistake = MISTAKES.find((mistake) => mistake.cause === cause);
  if (mistake === undefined) return false;
  const { handshake, sendKey, receiveKey } = sparedBy(mistake, side, transcript);
  return handshake && sendKey && !receiveKey;
}

/** The known mistakes that change something on this side, though no message before this index, and nothing on the other. */
export function causesOnOneSide(side: Side, transcript: Transcript, index: number): Causes {
  const other = side === 'init' ? 'resp' : 'init';
  const right = handshakeWith({}, side, transcript).messages;
  return MISTAKES.filter((mistake) => {
    const { messages } = handshakeWith(mistake, side, transcript);
    if (mistake.nonce !== undefined) return false; // made on both sides, by the cipher
    if (isLater(mistake, transcript.pattern, index)) return false;
    const isRightBefore = messages.every((message, at) => at >= index || message === right[at]);
    const { cause } = mistake;
    const changesHandshake = !sparedBy(mistake, side, transcript).handshake;
    return isRightBefore && changesHandshake && spares(cause, other, transcript);
  }).map(({ cause }) => cause);
}

/** Whether a mistake in the order of tokens is made only after the message of this index. */
function isLater(mistake: Mistake, pattern: Pattern, index: number): boolean {
  if (mistake.order === undefined && mistake.without === undefined && mistake.pskAt === undefined)
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
  'payload: that of message 1 is sent in the clear; in patterns with a psk there is a key after e, which seals it';

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
  return causesOf((mistake) => {
    const { sendKey, hash } = handshakeWith(mistake, side, transcript);
    const associatedData = mistake.associatedData === 'in-transport' ? hash : NO_BYTES;
    return isSealed(mistake, transcript.suite, sendKey, 0n, index, plaintext, got, associatedData);
  });
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
  return causesOf(
    (mistake) =>
      ((mistake.nonce !== undefined && mistake.nonce !== 'never-reset') || mistake.tagFirst === true) &&
      isSealed(mistake, suite, key, counter, index, plaintext, got),
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
  associatedData: Uint8Array = NO_BYTES,
): boolean {
  const at = mistake.nonce === 'never-advanced' ? counter : counter + BigInt(index);
  return equalBytes(sealWith(mistake, suite, key, at, associatedData, plaintext), got);
}

/** Seals as a CipherState does, with this mistake in its nonce. */
export function sealWith(
  mistake: Partial<Mistake>,
  suite: Suite,
  key: Uint8Array,
  counter: bigint,
  associatedData: Uint8Array,
  plaintext: Uint8Array,
): Uint8Array {
  const sealed = cipherOf(suite, key).seal(nonceWith(mistake, suite, counter), associatedData, plaintext);
  return mistake.tagFirst ? concatBytes([sealed.subarray(-16), sealed.subarray(0, -16)]) : sealed;
}

/** Opens a message that was sealed with this mistake; `undefined` for any other. */
export function openWith(
  mistake: Partial<Mistake>,
  suite: Suite,
  key: Uint8Array,
  counter: bigint,
  associatedData: Uint8Array,
  sealed: Uint8Array,
): Uint8Array | undefined {
  const usual = mistake.tagFirst ? concatBytes([sealed.subarray(16), sealed.subarray(0, 16)]) : sealed;
  return cipherOf(suite, key).open(nonceWith(mistake, suite, counter), associatedData, usual);
}

function cipherOf(suite: Suite, key: Uint8Array): Cipher {
  return nodeCrypto.ciphers[SUITES[suite]]!(key);
}

function nonceWith(mistake: Partial<Mistake>, suite: Suite, counter: bigint): Uint8Array {
  const littleEndian = (SUITES[suite] === 'ChaChaPoly') !== (mistake.nonce === 'other-order');
  const nonce = new Uint8Array(12);
  const at = mistake.nonce === 'counter-first' ? 0 : 4;
  const value = BigInt.asUintN(64, countedAs(counter, mistake.nonce));
  new DataView(nonce.buffer).setBigUint64(at, value, littleEndian);
  return nonce;
}

function countedAs(counter: bigint, mistake: Mistake['nonce']): bigint {
  if (mistake === 'one-ahead') return counter + 1n;
  if (mistake === 'one-byte') return counter & 0xffn;
  if (mistake === 'four-bytes') return counter & 0xffffffffn;
  return mistake === 'float' ? BigInt(Number(counter)) : counter;
}

/** The name of the Noise protocol. */
export function nameOf(pattern: Pattern, suite: Suite, mistake: Partial<Mistake>): string {
  const { name, pskOf, pskAt } = mistake;
  const whole = protocolName(pattern, suite);
  if (name === 'as-placed' && pskOf === pattern) return whole.replace(/psk\d/, `psk${pskAt}`);
  return name === 'without-psk' ? whole.replace(/psk\d/, '') : whole;
}

/** InitializeSymmetric's hash of the protocol name. */
export function nameHash(name: string, { name: mistake }: Partial<Mistake>): Uint8Array {
  const ascii = utf8ToBytes(name);
  if (ascii.length > 32) return mistake === 'cut' ? ascii.slice(0, 32) : sha256(ascii);
  return mistake === 'hashed' ? sha256(ascii) : concatBytes([ascii, new Uint8Array(32 - ascii.length)]);
}

/** HKDF (Noise spec, section 4.3). */
export function hkdf(
  chainingKey: Uint8Array,
  input: Uint8Array,
  count: number,
  { hkdf: mistake }: Partial<Mistake>,
): Uint8Array[] {
  const keyed = (key: Uint8Array, ...parts: Uint8Array[]): Uint8Array =>
    mistake === 'hashed' ? sha256(key, ...parts) : hmacSha256(key, ...parts);
  const secret = mistake === 'inputs-swapped' ? keyed(input, chainingKey) : keyed(chainingKey, input);
  const first = mistake === 'from-zero' ? 0 : 1;
  const outputs: Uint8Array[] = [];
  for (let i = 0; i < count; i++) {
    const previous = mistake === 'not-chained' ? NO_BYTES : (outputs[i - 1] ?? NO_BYTES);
    const number = Uint8Array.of(first + i);
    outputs.push(
      mistake === 'outputs-hashed' ? sha256(secret, previous, number) : keyed(secret, previous, number),
    );
  }
  return outputs;
}

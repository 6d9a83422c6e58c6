/**
 * Noise with one thing wrong. An implementation that makes a known mistake writes bytes that can be foretold: if its bytes
 * are those of a mistake, the mistake is found. Nothing here is used to talk to anyone.
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
import { MISTAKES, type Mistake } from './noise-mistakes.ts';

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
  /** What this side writes at each index, in hexadecimal; the other side's messages are as in the transcript. */
  readonly messages: readonly (string | undefined)[];
  readonly handshakeHash: string;
  readonly sendKey: Uint8Array;
}

const NO_BYTES = new Uint8Array(0);
const { sha256, hmacSha256, x25519 } = nodeCrypto;

function bytes(hex: string): Uint8Array {
  return hexToBytes(hex)!;
}

/** Results of X25519 by their inputs: mistakes are tried by the dozen, over the same keys. */
const results = new Map<string, Uint8Array>();

function memoized(inputs: string, compute: () => Uint8Array): Uint8Array {
  const result = results.get(inputs) ?? compute();
  results.set(inputs, result);
  return result;
}

/** What one side of a handshake writes that makes this mistake, or none. */
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
  let hash = nameHash(protocolName(pattern, suite), mistake);
  let chainingKey = hash;
  const mixHash = (data: Uint8Array): void => {
    hash = sha256(hash, data);
  };
  const setKey = (next: Uint8Array): void => {
    key = next;
    if (mistake.nonce !== 'never-reset') counter = 0;
  };
  const mixKey = (input: Uint8Array): void => {
    const outputs = hkdf(chainingKey, input, 3, mistake);
    chainingKey = outputs[0]!;
    setKey(mistake.hkdf === 'third-is-key' ? outputs[2]! : outputs[1]!);
  };
  const mixPsk = (): void => {
    if (mistake.psk === 'left-out') return;
    const psk = mistake.psk === 'zeros' ? new Uint8Array(32) : bytes(transcript.psk);
    const outputs = hkdf(chainingKey, psk, 3, mistake);
    chainingKey = outputs[0]!;
    if (mistake.psk !== 'not-hashed') mixHash(outputs[mistake.psk === 'outputs-swapped' ? 2 : 1]!);
    const isSecond = mistake.psk === 'two-outputs' || mistake.psk === 'outputs-swapped';
    setKey(outputs[isSecond ? 1 : 2]!);
  };
  const mixSharedSecret = (token: Token): void => {
    const isSwapped = mistake.dhSwapped && (token === 'es' || token === 'se');
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

  if (mistake.prologue !== 'left-out') mixHash(bytes(transcript.prologue));
  if (PATTERNS[pattern].staticKeysKnown && mistake.preMessages !== 'left-out') {
    const order: readonly Side[] = mistake.preMessages === 'swapped' ? ['resp', 'init'] : ['init', 'resp'];
    for (const owner of order) mixHash(publicKey(owner, 's'));
  }
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
        mixHash(ephemeral);
        if (!mistake.ephemeralNotMixed) mixKey(ephemeral);
        parts.push(ephemeral);
        at += 32;
      } else if (token === 's') {
        put(publicKey(writer, 's'), 48);
      } else if (token === 'psk') {
        mixPsk();
      } else {
        mixSharedSecret(token);
      }
    }
    if (payload !== '' || mistake.emptyPayload !== 'left-out') put(bytes(payload), read.length - at);
    return writer === side ? bytesToHex(concatBytes(parts)) : undefined;
  });
  const keys = hkdf(chainingKey, NO_BYTES, 2, mistake);
  const isFirst = (side === 'init') !== (mistake.splitSwapped === true);
  return { messages, handshakeHash: bytesToHex(hash), sendKey: keys[isFirst ? 0 : 1]! };
}

/** The tokens of each message, with a token out of place where the mistake says so. */
export function tokensWith({ without, order, pskAt }: Partial<Mistake>, pattern: Pattern): Token[][] {
  const messages = PATTERNS[pattern].messages.map((tokens: readonly Token[]) =>
    tokens.filter((token) => token !== without),
  );
  for (const tokens of order === undefined ? [] : messages) {
    const at = tokens.indexOf(order![0]);
    if (at >= 0 && tokens[at + 1] === order![1]) tokens.splice(at, 2, order![1], order![0]);
  }
  if (pskAt === undefined || pskAt > messages.length) return messages;
  const moved: Token[][] = messages.map((tokens) => tokens.filter((token) => token !== 'psk'));
  if (pskAt === 0) moved[0]!.unshift('psk');
  else moved[pskAt - 1]!.push('psk');
  return moved;
}

function causesOf(fits: (mistake: Mistake) => boolean): Causes {
  return MISTAKES.filter(fits).map(({ cause }) => cause);
}

/** The known mistakes that make a side write `got` at this index. */
export function mistakesInMessage(side: Side, transcript: Transcript, index: number, got: string): Causes {
  return causesOf((mistake) => handshakeWith(mistake, side, transcript).messages[index] === got);
}

/** The known mistakes that leave a side with the handshake hash `got`. */
export function mistakesInHandshakeHash(side: Side, transcript: Transcript, got: string): Causes {
  return causesOf((mistake) => handshakeWith(mistake, side, transcript).handshakeHash === got);
}

/** The known mistakes that make a side seal `got` as its first, second, … transport message. */
export function mistakesInTransport(
  side: Side,
  transcript: Transcript,
  index: number,
  plaintext: Uint8Array,
  got: Uint8Array,
): Causes {
  return causesOf((mistake) => {
    const { sendKey } = handshakeWith(mistake, side, transcript);
    return isSealed(mistake, transcript.suite, sendKey, 0n, index, plaintext, got);
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
      mistake.nonce !== undefined &&
      mistake.nonce !== 'never-reset' &&
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
): boolean {
  const at = mistake.nonce === 'never-advanced' ? counter : counter + BigInt(index);
  return equalBytes(sealWith(mistake, suite, key, at, NO_BYTES, plaintext), got);
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
  return cipherOf(suite, key).seal(nonceWith(mistake, suite, counter), associatedData, plaintext);
}

/** Opens what was sealed with this mistake; `undefined` for anything else. */
export function openWith(
  mistake: Partial<Mistake>,
  suite: Suite,
  key: Uint8Array,
  counter: bigint,
  associatedData: Uint8Array,
  sealed: Uint8Array,
): Uint8Array | undefined {
  return cipherOf(suite, key).open(nonceWith(mistake, suite, counter), associatedData, sealed);
}

function cipherOf(suite: Suite, key: Uint8Array): Cipher {
  return nodeCrypto.ciphers[SUITES[suite]]!(key);
}

function nonceWith(mistake: Partial<Mistake>, suite: Suite, counter: bigint): Uint8Array {
  const littleEndian = (SUITES[suite] === 'ChaChaPoly') !== (mistake.nonce === 'other-order');
  const nonce = new Uint8Array(12);
  const at = mistake.nonce === 'counter-first' ? 0 : 4;
  const value = BigInt.asUintN(64, counter + (mistake.nonce === 'one-ahead' ? 1n : 0n));
  new DataView(nonce.buffer).setBigUint64(at, value, littleEndian);
  return nonce;
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
  const secret =
    mistake === 'inputs-swapped' ? hmacSha256(input, chainingKey) : hmacSha256(chainingKey, input);
  const first = mistake === 'from-zero' ? 0 : 1;
  const outputs: Uint8Array[] = [];
  for (let i = 0; i < count; i++) {
    const previous = mistake === 'not-chained' ? NO_BYTES : (outputs[i - 1] ?? NO_BYTES);
    outputs.push(hmacSha256(secret, previous, Uint8Array.of(first + i)));
  }
  return outputs;
}

/**
 * Noise with one thing wrong. Whoever makes a known mistake writes bytes that can be foretold: if a port's bytes are
 * those of a mistake and not those of the specification, the mistake is found. Nothing here is used to talk to anyone.
 */
import { bytesToHex, concatBytes, equalBytes, hexToBytes, utf8ToBytes } from '../../src/bytes.ts';
import { nodeCrypto } from '../../src/crypto/node.ts';
import {
  PATTERNS,
  type Pattern,
  protocolName,
  SUITES,
  type Suite,
  type Token,
} from '../../src/noise/patterns.ts';

export interface Mistake {
  /** What is wrong, and what would be right. */
  readonly cause: string;
  /** How the counter of a nonce is written: in the other byte order, before the four zeros, or one ahead. */
  readonly nonce?: 'other-order' | 'counter-first' | 'one-ahead';
  /** A name of 32 bytes or less is hashed; a longer one is cut. */
  readonly name?: 'hashed' | 'cut';
  readonly psk?: 'left-out' | 'not-hashed' | 'zeros';
  /** `e` is mixed into the hash alone, as in patterns without a pre-shared key. */
  readonly ephemeralNotMixed?: true;
  readonly prologue?: 'left-out';
  /** `es` and `se` taken for one another. */
  readonly dhSwapped?: true;
  /** The pre-messages of KK: the responder's first, or none. */
  readonly preMessages?: 'swapped' | 'left-out';
  /** Each side sends with the other's key. */
  readonly splitSwapped?: true;
}

export const MISTAKES: readonly Mistake[] = [
  {
    cause: 'psk: the psk token is left out of the pattern, so the password proves nothing',
    psk: 'left-out',
  },
  {
    cause:
      'psk: it is mixed into the key alone; MixKeyAndHash also mixes it into the hash (Noise spec, section 9)',
    psk: 'not-hashed',
  },
  { cause: 'psk: all zeros are used in place of the key that was given', psk: 'zeros' },
  {
    cause:
      'e is not mixed into the key: in patterns with a psk, e is MixHash and MixKey (Noise spec, section 9.2)',
    ephemeralNotMixed: true,
  },
  { cause: 'prologue: it is not mixed into the hash', prologue: 'left-out' },
  {
    cause:
      'nonce order: ChaChaPoly’s counter is little-endian, AESGCM’s big-endian (Noise spec, section 12); here it is the other',
    nonce: 'other-order',
  },
  {
    cause: 'nonce: the four zeros come before the counter, not after it (Noise spec, section 12)',
    nonce: 'counter-first',
  },
  { cause: 'nonce: the counter starts at 1; it starts at 0', nonce: 'one-ahead' },
  {
    cause:
      'protocol name: it is hashed although it has no more than 32 bytes; AESGCM’s names have exactly 32 (Noise spec, section 5.2)',
    name: 'hashed',
  },
  {
    cause: 'protocol name: it is cut to 32 bytes; a longer one is hashed (Noise spec, section 5.2)',
    name: 'cut',
  },
  { cause: 'static key: es and se are taken for one another', dhSwapped: true },
  {
    cause: 'static key: the pre-messages of KK are mixed the responder’s first; the initiator’s comes first',
    preMessages: 'swapped',
  },
  { cause: 'static key: the pre-messages of KK are not mixed into the hash', preMessages: 'left-out' },
  {
    cause: 'split: each side sends with the other’s key; the first key is the initiator’s',
    splitSwapped: true,
  },
];

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
  /** What this side writes at each index, in hexadecimal; the other side's messages are as in the transcript. */
  readonly messages: readonly (string | undefined)[];
  readonly handshakeHash: string;
  /** The key that this side sends with. */
  readonly sendKey: Uint8Array;
  readonly receiveKey: Uint8Array;
}

const NO_BYTES = new Uint8Array(0);
const { sha256, hmacSha256, x25519 } = nodeCrypto;

function bytes(hex: string): Uint8Array {
  return hexToBytes(hex)!;
}

/** What one side of a handshake writes that makes this mistake. */
export function handshakeWith(mistake: Mistake, side: 'init' | 'resp', transcript: Transcript): Outcome {
  const { pattern, suite } = transcript;
  const privateKeys = {
    init: { s: bytes(transcript.initStatic), e: bytes(transcript.initEphemeral) },
    resp: { s: bytes(transcript.respStatic), e: bytes(transcript.respEphemeral) },
  };
  const publicKey = (who: 'init' | 'resp', key: 's' | 'e'): Uint8Array =>
    x25519.publicKey(privateKeys[who][key]);

  let key: Uint8Array | undefined;
  let counter = 0;
  let hash = nameHash(protocolName(pattern, suite), mistake);
  let chainingKey = hash;
  const mixHash = (data: Uint8Array): void => {
    hash = sha256(hash, data);
  };
  const mixKey = (input: Uint8Array): void => {
    const outputs = hkdf(chainingKey, input, 2);
    chainingKey = outputs[0]!;
    key = outputs[1]!;
    counter = 0;
  };
  const mixPsk = (): void => {
    if (mistake.psk === 'left-out') return;
    const psk = mistake.psk === 'zeros' ? new Uint8Array(32) : bytes(transcript.psk);
    const outputs = hkdf(chainingKey, psk, 3);
    chainingKey = outputs[0]!;
    if (mistake.psk !== 'not-hashed') mixHash(outputs[1]!);
    key = outputs[2]!;
    counter = 0;
  };
  const diffieHellman = (token: Token): void => {
    const letters = mistake.dhSwapped && (token === 'es' || token === 'se') ? token[1]! + token[0]! : token;
    mixKey(
      x25519.sharedSecret(
        privateKeys.init[letters[0] as 's' | 'e'],
        publicKey('resp', letters[1] as 's' | 'e'),
      ),
    );
  };
  const encryptAndHash = (plaintext: Uint8Array): Uint8Array => {
    const sealed =
      key === undefined ? plaintext : sealWith(mistake, suite, key, BigInt(counter++), hash, plaintext);
    mixHash(sealed);
    return sealed;
  };

  if (mistake.prologue !== 'left-out') mixHash(bytes(transcript.prologue));
  if (PATTERNS[pattern].staticKeysKnown && mistake.preMessages !== 'left-out') {
    const order =
      mistake.preMessages === 'swapped' ? (['resp', 'init'] as const) : (['init', 'resp'] as const);
    for (const who of order) mixHash(publicKey(who, 's'));
  }
  const messages = transcript.messages.map(({ payload, message }, index) => {
    const writer = index % 2 === 0 ? 'init' : 'resp';
    const read = bytes(message);
    const parts: Uint8Array[] = [];
    let at = 0;
    /** Adds what we write, or passes over what the other side wrote, which counts as it came. */
    const take = (ours: () => Uint8Array, length: number): void => {
      if (writer === side) {
        parts.push(ours());
      } else {
        mixHash(read.subarray(at, at + length));
        if (key !== undefined) counter++;
        at += length;
      }
    };
    for (const token of PATTERNS[pattern].messages[index]!) {
      if (token === 'e') {
        const ephemeral = publicKey(writer, 'e');
        mixHash(ephemeral);
        if (!mistake.ephemeralNotMixed) mixKey(ephemeral);
        parts.push(ephemeral);
        at += 32;
      } else if (token === 's') {
        take(() => encryptAndHash(publicKey(writer, 's')), 48);
      } else if (token === 'psk') {
        mixPsk();
      } else {
        diffieHellman(token);
      }
    }
    take(() => encryptAndHash(bytes(payload)), read.length - at);
    return writer === side ? bytesToHex(concatBytes(parts)) : undefined;
  });
  const keys = hkdf(chainingKey, NO_BYTES, 2);
  const first = (side === 'init') !== (mistake.splitSwapped === true);
  return {
    messages,
    handshakeHash: bytesToHex(hash),
    sendKey: first ? keys[0]! : keys[1]!,
    receiveKey: first ? keys[1]! : keys[0]!,
  };
}

/** The cause of the first mistake that makes a side write `got` at this index, if one does. */
export function mistakeInMessage(
  side: 'init' | 'resp',
  transcript: Transcript,
  index: number,
  got: string,
): string | undefined {
  return MISTAKES.find((mistake) => handshakeWith(mistake, side, transcript).messages[index] === got)?.cause;
}

/** The cause of the first mistake under which `key` seals to `got` at this counter, if one does. */
export function mistakeInSealing(
  suite: Suite,
  key: Uint8Array,
  counter: bigint,
  plaintext: Uint8Array,
  got: Uint8Array,
): string | undefined {
  return MISTAKES.find(
    (mistake) =>
      mistake.nonce && equalBytes(sealWith(mistake, suite, key, counter, NO_BYTES, plaintext), got),
  )?.cause;
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
  const cipher = SUITES[suite];
  const littleEndian = (cipher === 'ChaChaPoly') !== (mistake.nonce === 'other-order');
  const nonce = new Uint8Array(12);
  const view = new DataView(nonce.buffer);
  const at = mistake.nonce === 'counter-first' ? 0 : 4;
  view.setBigUint64(
    at,
    BigInt.asUintN(64, counter + (mistake.nonce === 'one-ahead' ? 1n : 0n)),
    littleEndian,
  );
  return nodeCrypto.ciphers[cipher]!(key).seal(nonce, associatedData, plaintext);
}

function nameHash(name: string, { name: mistake }: Mistake): Uint8Array {
  const text = utf8ToBytes(name);
  if (text.length > 32) return mistake === 'cut' ? text.slice(0, 32) : sha256(text);
  return mistake === 'hashed' ? sha256(text) : concatBytes([text, new Uint8Array(32 - text.length)]);
}

/** HKDF of the Noise spec, section 4.3. */
function hkdf(chainingKey: Uint8Array, input: Uint8Array, count: number): Uint8Array[] {
  const secret = hmacSha256(chainingKey, input);
  const outputs: Uint8Array[] = [];
  for (let i = 1; i <= count; i++) {
    outputs.push(hmacSha256(secret, outputs[i - 2] ?? NO_BYTES, Uint8Array.of(i)));
  }
  return outputs;
}

/** The mistakes that implementations of Noise make, as data: the change that each makes, and its name. */
import type { Pattern, Token } from '../protocol.ts';
import type { OtherCipher, OtherHash, OtherSecret } from './other-primitives.ts';

export interface Mistake {
  /** The mistake, and the correct form. */
  readonly cause: string;
  readonly nonce?:
    | 'other-order'
    | 'counter-first'
    | 'one-ahead'
    | 'never-advanced'
    | 'never-reset'
    | 'one-byte'
    | 'signed-byte'
    | 'signed-int'
    | 'two-bytes'
    | 'four-bytes'
    | 'prefix-one'
    | 'prefix-ones'
    | 'last-four'
    | 'float';
  /** A name of 32 bytes or less is hashed; a longer one is cut; the modifier is missing, or gives the place of the psk; a NUL ends it. */
  readonly name?: 'hashed' | 'cut' | 'without-psk' | 'as-placed' | 'with-nul' | 'long-with-nul';
  readonly psk?: 'left-out' | 'not-hashed' | 'hashed-itself' | 'zeros' | 'two-outputs' | 'outputs-swapped';
  /** The place of the psk token of this pattern: before the first message, or after message 1, 2 or 3. */
  readonly pskAt?: 0 | 1 | 2 | 3;
  /** The token of message 2 that follows the psk token of XXpsk2. */
  readonly pskBefore?: Token;
  readonly pskOf?: Pattern;
  readonly hkdf?:
    | 'first-is-key'
    | 'third-is-key'
    | 'not-chained'
    | 'from-zero'
    | 'inputs-swapped'
    | 'outputs-hashed'
    | 'hashed';
  /** The initial chaining key in place of h. */
  readonly chainingKey?: 'zeros';
  /** `e` is mixed into the hash alone, as in patterns without a psk. */
  readonly ephemeralNotMixed?: true;
  /** `e` is mixed into the key alone. */
  readonly ephemeralNotHashed?: true;
  /** `s` is sent without being sealed. */
  readonly staticInClear?: true;
  readonly prologue?: 'left-out' | 'hashed-before' | 'skipped-if-empty' | 'after-pre-messages';
  /** Missing in the handshake, or the handshake hash in transport messages. */
  readonly associatedData?: 'left-out' | 'chaining-key' | 'in-transport' | 'zero-in-transport';
  /** The input that EncryptAndHash mixes into the hash in place of the ciphertext. */
  readonly mixes?: 'plaintext' | 'nothing' | 'nothing-of-static' | 'nothing-of-payload';
  /** An empty payload is sent as nothing rather than as a tag. */
  readonly emptyPayload?: 'left-out';
  /** es and se are swapped: on both sides, or on one. */
  readonly dhSwapped?: true | 'init' | 'resp';
  /** MixHash hashes the data before h. */
  readonly mixHash?: 'data-first';
  /** A token that is left out, and two that are swapped. */
  readonly without?: Token;
  readonly order?: readonly [Token, Token];
  /** The pre-messages of KK: the responder's first, one's own first or last, or none. */
  readonly preMessages?: 'swapped' | 'own-first' | 'own-last' | 'left-out';
  /** The keys are swapped, on both sides or on one; both are the first; h is an input too; the second and third output. */
  readonly split?:
    | 'swapped'
    | 'swapped-by-initiator'
    | 'swapped-by-responder'
    | 'one-key'
    | 'with-hash'
    | 'of-zeros'
    | 'second-and-third';
  /** In place of ChaCha20-Poly1305, of the result of X25519, of SHA-256, and of HMAC-SHA-256. */
  readonly cipher?: OtherCipher;
  readonly secret?: OtherSecret;
  readonly hashedWith?: OtherHash;
  readonly hmac?: 'sha-512-256';
  /** Made only in messages that the side writes, or only in those that it reads. */
  readonly only?: 'writing' | 'reading';
  /** The tag of a sealed message comes first. */
  readonly tagFirst?: true;
}

export const MISTAKES: readonly Mistake[] = [
  { cause: 'psk: the psk token is left out, so the password proves nothing', psk: 'left-out' },
  {
    cause:
      'psk: it is mixed into the key alone; MixKeyAndHash also mixes it into the hash (Noise spec, section 5.2)',
    psk: 'not-hashed',
  },
  {
    cause:
      'psk: the psk itself is hashed; MixKeyAndHash hashes the second output of HKDF (Noise spec, section 5.2)',
    psk: 'hashed-itself',
  },
  { cause: 'psk: all zeros are used in place of the psk', psk: 'zeros' },
  {
    cause:
      'psk: MixKeyAndHash takes two outputs of HKDF; it takes three, the third of which is the key (Noise spec, section 5.2)',
    psk: 'two-outputs',
  },
  {
    cause:
      'psk: the second output of HKDF becomes the key and the third is hashed; it is the other way round (Noise spec, section 5.2)',
    psk: 'outputs-swapped',
  },
  ...(
    [
      ['XXpsk2', 0],
      ['XXpsk2', 1],
      ['XXpsk2', 3],
      ['KKpsk0', 1],
      ['KKpsk0', 2],
    ] as const
  ).flatMap(([pattern, pskAt]) => {
    const place = pattern === 'XXpsk2' ? 'end of message 2' : 'start of message 1';
    const right = `it stands at the ${place} (Noise spec, section 9.4)`;
    const placed = `psk: the psk token of ${pattern} stands as in psk${pskAt}`;
    return [
      { cause: `${placed}; ${right}`, pskOf: pattern, pskAt },
      {
        cause: `${placed}, and the protocol name has psk${pskAt} too; ${right}`,
        pskOf: pattern,
        pskAt,
        name: 'as-placed' as const,
      },
    ];
  }),
  ...(['e', 'ee', 's', 'es'] as const).map((pskBefore) => ({
    cause: `psk: the psk token of XXpsk2 stands before ${pskBefore} in message 2; it stands at the end of message 2 (Noise spec, section 9.4)`,
    pskOf: 'XXpsk2' as const,
    pskBefore,
  })),
  {
    cause:
      'e is not mixed into the key: in patterns with a psk, e is MixHash and MixKey (Noise spec, section 9.2)',
    ephemeralNotMixed: true,
  },
  {
    cause:
      'e is not mixed into the hash: in patterns with a psk, e is MixHash and MixKey (Noise spec, section 9.2)',
    ephemeralNotHashed: true,
  },
  { cause: 's is sent in the clear; it is sealed with EncryptAndHash', staticInClear: true },
  {
    cause:
      'HKDF: MixKey takes the first output as the key; the first is the chaining key, the second the key (Noise spec, section 5.2)',
    hkdf: 'first-is-key',
  },
  {
    cause: 'HKDF: its outputs are plain SHA-256, not HMAC (Noise spec, section 4.3)',
    hkdf: 'outputs-hashed',
  },
  { cause: 'HKDF: it is SHA-256 where HMAC is due (Noise spec, section 4.3)', hkdf: 'hashed' },
  {
    cause: 'chaining key: it starts as zeros; it starts as h (Noise spec, section 5.2)',
    chainingKey: 'zeros',
  },
  {
    cause: 'HKDF: MixKey takes the third output as the key; it takes the second (Noise spec, section 5.2)',
    hkdf: 'third-is-key',
  },
  {
    cause:
      'HKDF: the outputs do not chain; each is the HMAC of the one before it and its number (Noise spec, section 4.3)',
    hkdf: 'not-chained',
  },
  {
    cause: 'HKDF: the outputs are numbered from 0; they are numbered from 1 (Noise spec, section 4.3)',
    hkdf: 'from-zero',
  },
  {
    cause: 'HKDF: the input is the key of the first HMAC; the chaining key is (Noise spec, section 4.3)',
    hkdf: 'inputs-swapped',
  },
  { cause: 'prologue: it is not mixed into the hash', prologue: 'left-out' },
  {
    cause:
      'prologue: it is hashed before it is mixed into the hash; MixHash takes it as it is (Noise spec, section 5.3)',
    prologue: 'hashed-before',
  },
  {
    cause: 'prologue: an empty one is not mixed into the hash; MixHash of no bytes changes it too',
    prologue: 'skipped-if-empty',
  },
  {
    cause:
      'prologue: it is mixed into the hash after the pre-messages; it comes before them (Noise spec, section 5.3)',
    prologue: 'after-pre-messages',
  },
  {
    cause: 'associated data: there is none; EncryptAndHash passes the hash h (Noise spec, section 5.2)',
    associatedData: 'left-out',
  },
  {
    cause:
      'associated data: handshake messages have the chaining key; they have the handshake hash (Noise spec, section 5.2)',
    associatedData: 'chaining-key',
  },
  {
    cause:
      'associated data: transport messages have the handshake hash; they have none (Noise spec, section 5.2)',
    associatedData: 'in-transport',
  },
  {
    cause:
      'associated data: transport messages have a byte of zero; they have none (Noise spec, section 5.2)',
    associatedData: 'zero-in-transport',
  },
  {
    cause:
      'hash: the plaintext is mixed into it; EncryptAndHash mixes the ciphertext (Noise spec, section 5.2)',
    mixes: 'plaintext',
  },
  {
    cause:
      'hash: nothing is mixed into it after encrypting; EncryptAndHash mixes the ciphertext (Noise spec, section 5.2)',
    mixes: 'nothing',
  },
  {
    cause: 'hash: a sealed static key is not mixed into it; EncryptAndHash mixes every ciphertext',
    mixes: 'nothing-of-static',
  },
  {
    cause: 'hash: a sealed payload is not mixed into it; EncryptAndHash mixes every ciphertext',
    mixes: 'nothing-of-payload',
  },
  {
    cause:
      'cipher: it is ChaCha20-Poly1305 with a nonce of 8 bytes (crypto_aead_chacha20poly1305 of libsodium); it is that of RFC 8439 (crypto_aead_chacha20poly1305_ietf)',
    cipher: 'original',
  },
  {
    cause:
      'cipher: it is XChaCha20-Poly1305, with the nonce at the start of its 24 bytes; it is ChaCha20-Poly1305 of RFC 8439',
    cipher: 'extended',
  },
  {
    cause:
      'cipher: it is XChaCha20-Poly1305, with the nonce at the end of its 24 bytes; it is ChaCha20-Poly1305 of RFC 8439',
    cipher: 'extended-at-end',
  },
  {
    cause:
      'keys: HSalsa20 is applied to the result of X25519 (crypto_box_beforenm of libsodium); use it as it is (crypto_scalarmult)',
    secret: 'hsalsa20',
  },
  { cause: 'keys: the result of X25519 is hashed; use it as it is', secret: 'hashed' },
  {
    cause:
      'HKDF: HMAC is HMAC-SHA-512-256 (crypto_auth of libsodium); it is HMAC-SHA-256 (crypto_auth_hmacsha256)',
    hmac: 'sha-512-256',
  },
  ...(
    [
      ['blake2b', 'BLAKE2b with 32 bytes (crypto_generichash of libsodium)'],
      ['blake2s', 'BLAKE2s'],
      ['sha-512', 'SHA-512 cut to 32 bytes'],
    ] as const
  ).map(([hashedWith, name]) => ({
    cause: `hash: it is ${name}; it is SHA-256 (Noise spec, section 12)`,
    hashedWith,
  })),
  ...(['blake2b', 'blake2s'] as const).map((name) => ({
    cause: `hash: it is ${name === 'blake2b' ? 'BLAKE2b' : 'BLAKE2s'} everywhere, in HMAC too; it is SHA-256 (Noise spec, section 12)`,
    hashedWith: `${name}-everywhere` as const,
  })),
  {
    cause: 'payload: an empty payload is left out; once there is a key it is sent as its tag, 16 bytes',
    emptyPayload: 'left-out',
  },
  {
    cause:
      'nonce order: ChaChaPoly’s counter is little-endian, AESGCM’s is big-endian (Noise spec, section 12); here it is the other way round',
    nonce: 'other-order',
  },
  {
    cause: 'nonce: the four zeros follow the counter; they come before it (Noise spec, section 12)',
    nonce: 'counter-first',
  },
  { cause: 'nonce: the counter starts at 1; it starts at 0', nonce: 'one-ahead' },
  {
    cause: 'nonce: the counter does not advance; it counts every message under its key',
    nonce: 'never-advanced',
  },
  { cause: 'nonce: the counter has one byte; it has eight', nonce: 'one-byte' },
  {
    cause: 'nonce: the counter is a byte with a sign, which is negative from 128 on; it has eight bytes',
    nonce: 'signed-byte',
  },
  {
    cause: 'nonce: the counter has four bytes with a sign, and is negative from 2^31 on; it has eight',
    nonce: 'signed-int',
  },
  { cause: 'nonce: the counter has two bytes; it has eight', nonce: 'two-bytes' },
  { cause: 'nonce: the counter has four bytes; it has eight', nonce: 'four-bytes' },
  { cause: 'nonce: its first four bytes are 01 00 00 00; they are zero', nonce: 'prefix-one' },
  { cause: 'nonce: its first four bytes are ff ff ff ff; they are zero', nonce: 'prefix-ones' },
  { cause: 'nonce: the counter is in its last four bytes; it has eight, from byte 4 on', nonce: 'last-four' },
  { cause: 'nonce: the counter is a float, which counts to 2^53 only', nonce: 'float' },
  { cause: 'nonce: MixKey does not reset the counter; a new key starts at 0', nonce: 'never-reset' },
  {
    cause:
      'protocol name: it is hashed although it fits; AESGCM’s names have exactly 32 bytes, and h starts as the name (Noise spec, section 5.2)',
    name: 'hashed',
  },
  {
    cause: 'protocol name: it is cut to 32 bytes; a longer one is hashed (Noise spec, section 5.2)',
    name: 'cut',
  },
  {
    cause:
      'protocol name: it names the pattern without psk2 or psk0, which belong to it (Noise spec, section 8)',
    name: 'without-psk',
  },
  {
    cause: 'protocol name: the NUL after it is hashed, too (sizeof of C); it is not part of the name',
    name: 'long-with-nul',
  },
  {
    cause:
      'protocol name: the NUL after it counts (sizeof of C), so that AESGCM’s names are hashed, too; it is not part of the name',
    name: 'with-nul',
  },
  { cause: 'keys: es and se are swapped', dhSwapped: true },
  {
    cause: 'keys: es and se are swapped by the initiator; the first letter is the initiator’s key',
    dhSwapped: 'init',
  },
  {
    cause: 'keys: es and se are swapped by the responder; the first letter is the initiator’s key',
    dhSwapped: 'resp',
  },
  {
    cause: 'hash: MixHash hashes the data before h; h comes first (Noise spec, section 5.2)',
    mixHash: 'data-first',
  },
  {
    cause: 'split: HKDF gets 32 zeros as its input; it gets no bytes (Noise spec, section 5.2)',
    split: 'of-zeros',
  },
  ...(['ee', 'es', 'se', 'ss'] as const).map((without) => ({
    cause: `keys: the token ${without} is left out`,
    without,
  })),
  ...(
    [
      ['es', 'psk'],
      ['psk', 'e'],
      ['es', 'ss'],
      ['ee', 'se'],
      ['ee', 's'],
      ['s', 'es'],
      ['s', 'se'],
    ] as const
  ).map((order) => ({
    cause: `token order: ${order[1]} comes before ${order[0]}; it comes after it`,
    order,
  })),
  {
    cause:
      'pre-messages: the responder’s static key is hashed first; the initiator’s comes first, whoever you are',
    preMessages: 'swapped',
  },
  {
    cause: 'pre-messages: one’s own static key is hashed first; the initiator’s comes first, whoever you are',
    preMessages: 'own-first',
  },
  {
    cause: 'pre-messages: one’s own static key is hashed last; the responder’s comes last, whoever you are',
    preMessages: 'own-last',
  },
  {
    cause: 'pre-messages: the static keys are not hashed; KK hashes both before message 1',
    preMessages: 'left-out',
  },
  {
    cause: 'split: each side sends with the other’s key; the first key is the initiator’s',
    split: 'swapped',
  },
  {
    cause:
      'split: as the initiator it sends with the second key and opens with the first; the first is to send',
    split: 'swapped-by-initiator',
  },
  {
    cause:
      'split: as the responder it sends with the first key and opens with the second; the second is to send',
    split: 'swapped-by-responder',
  },
  {
    cause: 'split: both sides send with the same key; HKDF gives one to each (Noise spec, section 5.2)',
    split: 'one-key',
  },
  {
    cause:
      'split: the keys are derived from the handshake hash too; HKDF gets no input but the chaining key (Noise spec, section 5.2)',
    split: 'with-hash',
  },
  {
    cause:
      'split: the second and the third output of HKDF become the keys; the first and the second do (Noise spec, section 5.2)',
    split: 'second-and-third',
  },
  { cause: 'tag: it comes before the ciphertext; it comes after it', tagFirst: true },
];

/** What may be done wrongly in writing a message and rightly in reading one, or the other way round. */
const ONE_SIDED: readonly (keyof Mistake)[] = [
  ...([
    'psk',
    'hkdf',
    'ephemeralNotMixed',
    'ephemeralNotHashed',
    'staticInClear',
    'mixes',
    'mixHash',
  ] as const),
  ...([
    'dhSwapped',
    'without',
    'order',
    'secret',
    'hashedWith',
    'hmac',
    'cipher',
    'tagFirst',
    'emptyPayload',
  ] as const),
];

const isOneSided = (mistake: Mistake): boolean =>
  mistake.nonce === 'never-advanced' ||
  mistake.associatedData === 'left-out' ||
  mistake.associatedData === 'chaining-key' ||
  (mistake.dhSwapped !== 'init' &&
    mistake.dhSwapped !== 'resp' &&
    ONE_SIDED.some((name) => mistake[name] !== undefined));

/** The mistakes that a side makes only in messages that it writes, or only in those that it reads. */
export const ONE_SIDED_MISTAKES: readonly Mistake[] = MISTAKES.filter(isOneSided).flatMap((mistake) => [
  { ...mistake, only: 'writing', cause: `${mistake.cause} (only in messages that it writes)` },
  { ...mistake, only: 'reading', cause: `${mistake.cause} (only in messages that it reads)` },
]);

/** What stands in a prologue in place of the protocol name. */
export function mistakenNames(protocolName: string): { cause: string; name: string }[] {
  const [pattern, suite] = protocolName.replace('Noise_', '').split(/_(.*)/) as [string, string];
  const others = [
    ['the protocol name without Noise_', `${pattern}_${suite}`],
    ['the protocol name in lower case', protocolName.toLowerCase()],
    ['the name of the pattern alone', pattern],
    ['the name of the suite alone', suite],
    ['the protocol name without psk2 or psk0', protocolName.replace(/psk\d/, '')],
    ['the protocol name without its last character', protocolName.slice(0, -1)],
  ] as const;
  return [
    ...others.map(([words, name]) => ({
      cause: `prologue: it ends with ${words}; it ends with the whole protocol name`,
      name,
    })),
    { cause: 'prologue: a NUL follows the protocol name; nothing does', name: `${protocolName}\0` },
  ];
}

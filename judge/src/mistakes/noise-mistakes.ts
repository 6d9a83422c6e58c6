/** The mistakes in Noise that are tried, as data: the change that each makes, and its sentence. */
import type { Pattern, Token } from '../protocol.ts';

export interface Mistake {
  /** The mistake, and the correct form. */
  readonly cause: string;
  readonly nonce?: 'other-order' | 'one-ahead' | 'never-advanced' | 'never-reset' | 'four-bytes';
  /** A name of 32 bytes or less is hashed; a longer one is cut; the modifier is missing. */
  readonly name?: 'hashed' | 'cut' | 'without-psk';
  readonly psk?: 'not-hashed';
  /** The place of the psk token of this pattern: before the first message, or after message 1, 2 or 3. */
  readonly pskAt?: 0 | 1 | 2 | 3;
  readonly pskOf?: Pattern;
  readonly hkdf?: 'first-is-key' | 'not-chained';
  /** `e` is mixed into the hash alone, as in patterns without a psk; or into the key alone. */
  readonly ephemeral?: 'not-mixed' | 'not-hashed';
  readonly prologue?: 'left-out';
  /** Missing in the handshake, or the handshake hash in transport messages. */
  readonly associatedData?: 'left-out' | 'in-transport';
  /** The input that EncryptAndHash mixes into the hash in place of the ciphertext. */
  readonly mixes?: 'plaintext' | 'nothing';
  /** An empty payload is sent as nothing rather than as a tag. */
  readonly emptyPayload?: 'left-out';
  /** es and se are swapped. */
  readonly dhSwapped?: true;
  /** A token that is left out. */
  readonly without?: Token;
  /** The pre-messages of KK: the responder's first, one's own first, or none. */
  readonly preMessages?: 'swapped' | 'own-first' | 'left-out';
  readonly split?: 'swapped' | 'with-hash';
}

const places = [
  ['XXpsk2', 0],
  ['XXpsk2', 1],
  ['XXpsk2', 3],
  ['KKpsk0', 1],
  ['KKpsk0', 2],
] as const;

export const MISTAKES: readonly Mistake[] = [
  ...(['e', 'ee', 's', 'es', 'se', 'ss', 'psk'] as const).map((without) => ({
    cause: `tokens: ${without} is left out`,
    without,
  })),
  { cause: 'tokens: es and se are swapped; the first letter is the initiator’s key', dhSwapped: true },
  ...places.map(([pskOf, pskAt]) => ({
    cause: `tokens: the psk of ${pskOf} stands as in psk${pskAt} (Noise spec, section 9.4)`,
    pskOf,
    pskAt,
  })),
  {
    cause:
      'psk: it is mixed into the key alone; MixKeyAndHash also mixes it into the hash (Noise spec, section 5.2)',
    psk: 'not-hashed',
  },
  {
    cause:
      'e is not mixed into the key: in patterns with a psk, e is MixHash and MixKey (Noise spec, section 9.2)',
    ephemeral: 'not-mixed',
  },
  {
    cause:
      'e is not mixed into the hash: in patterns with a psk, e is MixHash and MixKey (Noise spec, section 9.2)',
    ephemeral: 'not-hashed',
  },
  {
    cause: 'HKDF: MixKey takes the first output as the key; it takes the second (Noise spec, section 5.2)',
    hkdf: 'first-is-key',
  },
  {
    cause:
      'HKDF: its outputs do not chain; each is the HMAC of the one before it and its number (Noise spec, section 4.3)',
    hkdf: 'not-chained',
  },
  { cause: 'prologue: it is not mixed into the hash (Noise spec, section 5.3)', prologue: 'left-out' },
  {
    cause: 'associated data: there is none; EncryptAndHash passes the hash h (Noise spec, section 5.2)',
    associatedData: 'left-out',
  },
  {
    cause:
      'associated data: transport messages have the handshake hash; they have none (Noise spec, section 5.2)',
    associatedData: 'in-transport',
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
    cause: 'payload: an empty one is left out; once there is a key it is sent as its tag, 16 bytes',
    emptyPayload: 'left-out',
  },
  {
    cause:
      'nonce: the byte order is the other one; ChaChaPoly’s counter is little-endian, AESGCM’s is big-endian (Noise spec, section 12)',
    nonce: 'other-order',
  },
  { cause: 'nonce: the counter starts at 1; it starts at 0', nonce: 'one-ahead' },
  {
    cause: 'nonce: the counter does not advance; it counts every message under its key',
    nonce: 'never-advanced',
  },
  { cause: 'nonce: MixKey does not reset the counter; a new key starts at 0', nonce: 'never-reset' },
  { cause: 'nonce: the counter has four bytes; it has eight', nonce: 'four-bytes' },
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
    cause:
      'pre-messages: the responder’s static key is hashed first; the initiator’s comes first, whoever you are',
    preMessages: 'swapped',
  },
  {
    cause: 'pre-messages: one’s own static key is hashed first; the initiator’s comes first, whoever you are',
    preMessages: 'own-first',
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
    cause: 'split: h is an input of HKDF; it gets no input but the chaining key (Noise spec, section 5.2)',
    split: 'with-hash',
  },
];

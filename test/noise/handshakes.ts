import * as assert from 'uvu/assert';
import { copyBytes, isZero } from '../../src/bytes.ts';
import type { CryptoProvider } from '../../src/crypto/crypto.ts';
import { nodeCrypto } from '../../src/crypto/node.ts';
import type { LocalCode, RemoteCode } from '../../src/errors.ts';
import type { HandshakeOptions } from '../../src/noise/handshake-options.ts';
import { HandshakeState } from '../../src/noise/handshake-state.ts';
import type { Pattern, Suite } from '../../src/noise/patterns.ts';
import { raisesLocal, raisesRemote } from '../world/raises.ts';

export type Role = HandshakeOptions['role'];
export type Changes = Partial<{ [name in keyof HandshakeOptions]: unknown }>;

export const publicKey: CryptoProvider['x25519']['publicKey'] = nodeCrypto.x25519.publicKey;
export const sharedSecret: CryptoProvider['x25519']['sharedSecret'] = nodeCrypto.x25519.sharedSecret;
export const CHACHA: Suite = '25519_ChaChaPoly_SHA256';
export const AES: Suite = '25519_AESGCM_SHA256';
export const key = (byte: number): Uint8Array => new Uint8Array(32).fill(byte);
export const PSK: Uint8Array = key(0x33);
export const STATIC: { [role in Role]: Uint8Array } = { initiator: key(0x51), responder: key(0x52) };
export const EPHEMERAL: { [role in Role]: Uint8Array } = { initiator: key(0xe1), responder: key(0xe2) };
export const PAYLOADS: Uint8Array[] = [
  new Uint8Array([1, 2]),
  new Uint8Array([3, 4, 5]),
  new Uint8Array([6]),
];

/** The offsets of the fields in each message. */
export const FIELDS: { [pattern in Pattern]: { [field: string]: number; payload: number }[] } = {
  XXpsk2: [
    { e: 0, payload: 32 },
    { e: 0, s: 32, payload: 80 },
    { s: 0, payload: 48 },
  ],
  KKpsk0: [
    { e: 0, payload: 32 },
    { e: 0, payload: 32 },
  ],
};

export const writerOf = (index: number): Role => (index % 2 === 0 ? 'initiator' : 'responder');
export const readerOf = (index: number): Role => (index % 2 === 0 ? 'responder' : 'initiator');

export function optionsOf(role: Role, pattern: Pattern, suite: Suite = CHACHA): HandshakeOptions {
  const peer = STATIC[role === 'initiator' ? 'responder' : 'initiator'];
  return {
    crypto: nodeCrypto,
    role,
    pattern,
    suite,
    prologue: new Uint8Array([7, 7, 7]),
    psk: copyBytes(PSK),
    staticKey: copyBytes(STATIC[role]),
    remoteStaticKey: pattern === 'KKpsk0' ? publicKey(peer) : undefined,
    randomBytes: () => copyBytes(EPHEMERAL[role]),
  };
}

export function create(role: Role, pattern: Pattern, changes: Changes = {}): HandshakeState {
  return new HandshakeState({ ...optionsOf(role, pattern), ...changes } as HandshakeOptions);
}

const transcripts: { [name: string]: Uint8Array[] } = {};

/** The messages of a handshake. Since the randomness is fixed, they are always the same. */
export function transcriptOf(pattern: Pattern, suite: unknown = CHACHA): Uint8Array[] {
  const name = `${pattern} ${suite}`;
  if (transcripts[name] === undefined) {
    const initiator = create('initiator', pattern, { suite });
    const ends = { initiator, responder: create('responder', pattern, { suite }) };
    transcripts[name] = FIELDS[pattern].map((_, i) => {
      const message = ends[writerOf(i)].writeMessage(PAYLOADS[i]);
      ends[readerOf(i)].readMessage(message);
      return message;
    });
  }
  return transcripts[name].map(copyBytes);
}

/** One side of a handshake, with all messages before the given one written and read. */
export function upTo(due: number, role: Role, pattern: Pattern, changes: Changes = {}): HandshakeState {
  const state = create(role, pattern, changes);
  const transcript = transcriptOf(pattern, changes.suite);
  for (let i = 0; i < due; i++) {
    if (writerOf(i) === role) state.writeMessage(PAYLOADS[i]);
    else state.readMessage(transcript[i]!);
  }
  return state;
}

/** All byte arrays that can be reached through own properties, whether they enumerate or not. */
export function bytesIn(value: unknown, seen: Set<unknown> = new Set()): Uint8Array[] {
  if (value instanceof Uint8Array) return [value];
  if (value === null || !['object', 'function'].includes(typeof value) || seen.has(value)) return [];
  seen.add(value);
  return Object.values(Object.getOwnPropertyDescriptors(value)).flatMap((own) => bytesIn(own.value, seen));
}

// biome-ignore lint/suspicious/noExplicitAny: what a test of wiping has to look at is private
export const internals = (state: HandshakeState): any => (state as any).handshake;

/** The arrays in a state that must be wiped: all but the public keys and the nonce. */
export function secretsIn(state: HandshakeState): Uint8Array[] {
  const { s, e, rs, re, symmetricState } = internals(state);
  const open = [
    s.publicKey,
    s.pair.publicKey,
    e?.publicKey,
    e?.pair.publicKey,
    rs,
    re,
    symmetricState.cipherState.nonce,
  ];
  return bytesIn(state).filter((bytes) => !open.includes(bytes));
}

/** Asserts that a state throws this error object from every method, and holds no secret any more. */
export function assertDead(state: HandshakeState, failure: unknown): void {
  for (const call of [() => state.writeMessage(), () => state.readMessage(key(0)), () => state.split()]) {
    let caught: unknown;
    try {
      call();
    } catch (error) {
      caught = error;
    }
    assert.is(caught, failure);
  }
  assert.is(state.isFinished, false);
  assert.is(state.remoteStaticKey, undefined);
  assert.ok(secretsIn(state).every(isZero), 'a secret is left');
}

export function assertWriteEnds(state: HandshakeState, code: LocalCode): void {
  const failure = raisesLocal(() => state.writeMessage(), code);
  assertDead(state, failure);
}

export function assertReadEnds(state: HandshakeState, message: Uint8Array, code: RemoteCode): void {
  const failure = raisesRemote(() => state.readMessage(message), code);
  assertDead(state, failure);
}

/** Crypto with another function for shared secrets. */
export function withSharedSecret(
  compute: (privateKey: Uint8Array, remote: Uint8Array) => unknown,
): CryptoProvider {
  return { ...nodeCrypto, x25519: { publicKey, sharedSecret: compute as typeof sharedSecret } };
}

/** Handshakes of other implementations, and the bare cryptography of one. */
import {
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  type KeyObject,
} from 'node:crypto';
import { randomBytes } from '../../dist/crypto/node.js';
import { type Contender, calls } from './paired.ts';
import {
  defaultCrypto,
  generateKeyPair,
  NoiseHandshake,
  wrapCrypto,
  XXHandshakeState,
} from './peers/index.js';

export const PATTERNS = ['XXpsk2', 'KKpsk0'] as const;
type Pattern = (typeof PATTERNS)[number];

/**
 * Makes an ephemeral key in the fastest way: it imports a random key, where Node.js computes the public key itself, and otherwise
 * generates one. Node 20.19 can hang when it exports a generated key as a JWK while it collects the garbage of the generation.
 */
const newKey: () => KeyObject = (() => {
  const imported = (): KeyObject => {
    const d = Buffer.from(randomBytes(32)).toString('base64url');
    return createPrivateKey({ key: { kty: 'OKP', crv: 'X25519', d, x: '' }, format: 'jwk' });
  };
  try {
    imported();
    return imported;
  } catch {
    return () => generateKeyPairSync('x25519').privateKey;
  }
})();

/** What no implementation on node:crypto can do without: two ephemeral key pairs, the public keys received, all DHs. */
export function rawNode(pattern: Pattern): Contender {
  const exported = (key: KeyObject): string => createPublicKey(key).export({ format: 'jwk' }).x!;
  const received = (x: string): KeyObject =>
    createPublicKey({ key: { kty: 'OKP', crv: 'X25519', x }, format: 'jwk' });
  const keys = [newKey(), newKey()].map((staticKey) => ({ staticKey, x: exported(staticKey) }));
  const known = keys.map(({ x }) => received(x));
  const time = calls(() => {
    const ephemerals = [newKey(), newKey()];
    const sent = ephemerals.map(exported);
    for (const [side, peer] of [0, 1].entries()) {
      const [staticKey, ephemeral] = [keys[side]!.staticKey, ephemerals[side]!];
      const remoteEphemeral = received(sent[1 - peer]!);
      const remoteStatic = pattern === 'XXpsk2' ? received(keys[1 - peer]!.x) : known[1 - peer]!;
      diffieHellman({ privateKey: ephemeral, publicKey: remoteEphemeral });
      diffieHellman({ privateKey: ephemeral, publicKey: remoteStatic });
      diffieHellman({ privateKey: staticKey, publicKey: remoteEphemeral });
      if (pattern === 'KKpsk0') diffieHellman({ privateKey: staticKey, publicKey: remoteStatic });
    }
  });
  return { name: 'raw node:crypto, the same DHs', time };
}

/** noise-handshake, on libsodium. It has neither XXpsk2 nor KKpsk0; XX has the same Diffie-Hellmans as XXpsk2. */
export function noiseHandshake(): Contender {
  const [own, peer] = [generateKeyPair(), generateKeyPair()];
  const prologue = Buffer.alloc(200);
  const run = (): void => {
    const [initiator, responder] = [
      new NoiseHandshake('XX', true, own),
      new NoiseHandshake('XX', false, peer),
    ];
    initiator.initialise(prologue);
    responder.initialise(prologue);
    responder.recv(initiator.send());
    initiator.recv(responder.send());
    responder.recv(initiator.send());
    if (!initiator.complete || !responder.complete) throw new Error('noise-handshake is not done');
  };
  return { name: 'noise-handshake XX, libsodium', time: calls(run) };
}

/** libp2p's Noise, on node:crypto, without the streams and the signatures of libp2p. */
export function libp2pNoise(): Contender {
  const crypto = wrapCrypto(defaultCrypto);
  const [own, peer] = [crypto.generateKeypair(), crypto.generateKeypair()];
  const nothing = new Uint8Array(0);
  const protocolName = 'Noise_XX_25519_ChaChaPoly_SHA256';
  const side = (initiator: boolean, s: typeof own): XXHandshakeState =>
    new XXHandshakeState({ crypto, protocolName, initiator, s, prologue: new Uint8Array(200) });
  const run = (): void => {
    const [initiator, responder] = [side(true, own), side(false, peer)];
    responder.readMessageA(initiator.writeMessageA(nothing));
    initiator.readMessageB(responder.writeMessageB(nothing));
    responder.readMessageC(initiator.writeMessageC(nothing));
    initiator.ss.split();
    responder.ss.split();
  };
  return { name: 'libp2p-noise XX, node:crypto', time: calls(run) };
}

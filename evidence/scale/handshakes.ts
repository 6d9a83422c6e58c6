/** Handshakes with both sides in this process, PSK given, beside other implementations and the bare cryptography. */
import { type ChildProcess, spawn } from 'node:child_process';
import {
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  type KeyObject,
} from 'node:crypto';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { x25519 } from '@noble/curves/ed25519.js';
import { nobleCrypto } from '../../dist/crypto/noble.js';
import { nodeCrypto, randomBytes } from '../../dist/crypto/node.js';
import { build, connect, earlierBuild, handshake, newImportedKeys, newKeys } from './both-ends.ts';
import { type Contender, calls, cpuTime, type Timer } from './paired.ts';
import {
  defaultCrypto,
  generateKeyPair,
  NoiseHandshake,
  wrapCrypto,
  XXHandshakeState,
} from './peers/index.js';
import { type Benchmark, compare, type Peer, type Row } from './rows.ts';

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

/** The Diffie-Hellmans that each side does in a handshake. */
const DHS: { readonly [pattern in Pattern]: number } = { XXpsk2: 3, KKpsk0: 4 };

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

function rawNoble(pattern: Pattern): Timer {
  const [own, remote] = [randomBytes(32), x25519.getPublicKey(randomBytes(32))];
  return calls(() => {
    for (let i = 0; i < 2; i++) x25519.getPublicKey(randomBytes(32));
    for (let i = 0; i < 2 * DHS[pattern]; i++) x25519.getSharedSecret(own, remote);
  });
}

/** noise-handshake, on libsodium. It has neither XXpsk2 nor KKpsk0; XX has the same Diffie-Hellmans as XXpsk2. */
export function noiseHandshake(): Peer {
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
export function libp2pNoise(): Peer {
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

/** snow, in a process of its own, which measures its own CPU time. */
function snow(): { peer(pattern: Pattern): Peer; stop(): void } {
  const name = 'snow, Rust';
  const program = fileURLToPath(new URL('snow/target/release/hub-protocol-bench-snow', import.meta.url));
  if (!existsSync(program)) {
    const missing = 'no cargo, or crates.io is out of reach';
    return { peer: () => ({ name, missing }), stop() {} };
  }
  const child: ChildProcess = spawn(program, { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
  const time =
    (pattern: Pattern): Timer =>
    async (count) => {
      child.stdin!.write(`${pattern} ${count}\n`);
      return Number((await lines.next()).value) / 1e6;
    };
  return { peer: (pattern) => ({ name, time: time(pattern) }), stop: () => void child.kill() };
}

/** The handshakes of an earlier build, which had no keys to import. */
async function earlier(dist: string | undefined, pattern: Pattern): Promise<Contender[]> {
  if (dist === undefined) return [];
  const { HandshakeState, nodeCrypto: crypto } = await earlierBuild(dist);
  const [own, peer] = [newKeys(nodeCrypto), newKeys(nodeCrypto)];
  const time = calls(() => handshake({ HandshakeState, crypto }, pattern, own, peer));
  return [{ name: 'an earlier build', time }];
}

export function handshakes(before: string | undefined): Benchmark[] {
  const patterns = (name: string, seconds: number, run: (pattern: Pattern) => Promise<Row[]>): Benchmark => ({
    name,
    seconds: PATTERNS.length * seconds,
    run: async () => (await run('XXpsk2')).concat(await run('KKpsk0')),
  });
  return [
    patterns('handshakes, node', 8, async (pattern) => {
      const [own, peer] = [newKeys(nodeCrypto), newKeys(nodeCrypto)];
      const rust = snow();
      const peers: Peer[] = [rawNode(pattern)];
      if (pattern === 'XXpsk2') peers.push(noiseHandshake(), libp2pNoise());
      peers.push(rust.peer(pattern));
      peers.push(...(await earlier(before, pattern)));
      const ours = calls(() => handshake(build(nodeCrypto), pattern, own, peer));
      try {
        return await compare(`${pattern}, node`, ours, peers, 8);
      } finally {
        rust.stop();
      }
    }),
    patterns('handshakes, static keys imported once', 3, async (pattern) => {
      const [own, peer] = [newImportedKeys(), newImportedKeys()];
      const ours = calls(() => handshake(build(nodeCrypto), pattern, own, peer));
      const peers = [rawNode(pattern), ...(await earlier(before, pattern))];
      return compare(`${pattern}, node, keys imported once`, ours, peers, 3);
    }),
    patterns('handshakes, noble', 3, (pattern) => {
      const [own, peer] = [newKeys(nobleCrypto), newKeys(nobleCrypto)];
      const ours = calls(() => handshake(build(nobleCrypto), pattern, own, peer));
      const raw = { name: 'raw noble, the same DHs', time: rawNoble(pattern) };
      return compare(`${pattern}, noble`, ours, [raw], 3);
    }),
    patterns('connections', 3, async (pattern) => {
      let spent = 0;
      const atHub = <T>(work: () => T): T => {
        const began = cpuTime();
        const result = work();
        spent += cpuTime() - began;
        return result;
      };
      const half: Timer = (count) => {
        spent = 0;
        for (let i = 0; i < count; i++) connect(pattern, atHub);
        return spent;
      };
      const whole = { name: 'both sessions', time: calls(() => connect(pattern)) };
      return compare(`a hub’s half of a connection, ${pattern}`, half, [whole], 3);
    }),
  ];
}

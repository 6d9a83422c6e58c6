/**
 * Handshakes and transport messages compared with the cryptography they consist of, by CPU time in one run.
 * `npm run bench`, or after `npm run build`: node --import tsx bench/handshakes.ts
 */
import { createCipheriv, createDecipheriv, diffieHellman, generateKeyPairSync } from 'node:crypto';
import { chacha20poly1305 } from '@noble/ciphers/chacha.js';
import { nobleCrypto } from '../dist/crypto/noble.js';
import { importKey, nodeCrypto, randomBytes } from '../dist/crypto/node.js';
import { type Crypto, HandshakeState, type KeyPair, type Transport } from '../dist/index.js';
import { type Contender, cpuTime, paired, report } from './paired.ts';

const SUITE = '25519_ChaChaPoly_SHA256';
const prologue = randomBytes(200);
const psk = randomBytes(32);

type Keys = { readonly staticKey: Uint8Array | KeyPair; readonly publicKey: Uint8Array };

function keysOf(crypto: Crypto): Keys {
  const staticKey = randomBytes(32);
  return { staticKey, publicKey: crypto.x25519.publicKey(staticKey) };
}

/** A handshake with both sides in this process. */
function handshake(
  crypto: Crypto,
  pattern: 'XXpsk2' | 'KKpsk0',
  own: Keys,
  peer: Keys,
): [Transport, Transport] {
  const side = (role: 'initiator' | 'responder', { staticKey }: Keys, { publicKey }: Keys) =>
    new HandshakeState({
      crypto,
      role,
      pattern,
      suite: SUITE,
      prologue,
      psk,
      staticKey,
      remoteStaticKey: pattern === 'KKpsk0' ? publicKey : undefined,
      randomBytes,
    });
  const initiator = side('initiator', own, peer);
  const responder = side('responder', peer, own);
  responder.readMessage(initiator.writeMessage());
  initiator.readMessage(responder.writeMessage());
  if (pattern === 'XXpsk2') responder.readMessage(initiator.writeMessage());
  return [initiator.split(), responder.split()];
}

/** Runs a thing several times, so that each measurement is long enough. */
const times = (count: number, run: () => unknown) => () => {
  for (let i = 0; i < count; i++) run();
};

const COUNT = 40;
const ROUNDS = 31;

async function handshakes(name: string, crypto: Crypto): Promise<void> {
  const [own, peer] = [keysOf(crypto), keysOf(crypto)];
  const contenders: Contender[] = [];
  if (crypto === nodeCrypto) {
    const [a, b] = [generateKeyPairSync('x25519'), generateKeyPairSync('x25519')];
    const run = () => diffieHellman({ privateKey: a.privateKey, publicKey: b.publicKey });
    contenders.push({ name: 'six raw Diffie-Hellmans', run: times(6 * COUNT, run) });
  } else {
    const run = () => crypto.x25519.sharedSecret(own.staticKey as Uint8Array, peer.publicKey);
    contenders.push({ name: 'six raw Diffie-Hellmans', run: times(6 * COUNT, run) });
  }
  for (const pattern of ['XXpsk2', 'KKpsk0'] as const) {
    contenders.push({ name: pattern, run: times(COUNT, () => handshake(crypto, pattern, own, peer)) });
  }
  if (crypto === nodeCrypto) {
    const imported = ({ staticKey, publicKey }: Keys) => ({
      staticKey: importKey(staticKey as Uint8Array),
      publicKey,
    });
    const [a, b] = [imported(own), imported(peer)];
    for (const pattern of ['XXpsk2', 'KKpsk0'] as const) {
      const run = () => handshake(crypto, pattern, a, b);
      contenders.push({ name: `${pattern}, static keys imported once`, run: times(COUNT, run) });
    }
  }
  const results = await paired(contenders, ROUNDS, cpuTime);
  report(`${COUNT} handshakes, both sides, ${name}`, results);
  for (const { name: what, ms } of results.slice(1)) {
    console.log(`  ${what}: ${Math.round((1000 * COUNT) / ms)} a second`);
  }
}

type Length = 64 | 1024 | 65000;
const MESSAGES: { [length in Length]: number } = { 64: 1000, 1024: 1000, 65000: 100 };

/** Seals and opens as a program would that calls node:crypto itself, the tag apart or joined to the ciphertext. */
function rawNode(plaintext: Uint8Array, joins: boolean): () => void {
  const key = randomBytes(32);
  const nonce = new Uint8Array(12);
  const options = { authTagLength: 16 };
  return () => {
    const cipher = createCipheriv('chacha20-poly1305', key, nonce, options);
    let ciphertext = cipher.update(plaintext);
    cipher.final();
    let tag = cipher.getAuthTag();
    if (joins) {
      const message = Buffer.concat([ciphertext, tag]);
      ciphertext = message.subarray(0, -16);
      tag = message.subarray(-16);
    }
    const decipher = createDecipheriv('chacha20-poly1305', key, nonce, options);
    decipher.setAuthTag(tag);
    decipher.update(ciphertext);
    decipher.final();
  };
}

function rawNoble(plaintext: Uint8Array): () => void {
  const key = randomBytes(32);
  const nonce = new Uint8Array(12);
  return () => {
    chacha20poly1305(key, nonce).decrypt(chacha20poly1305(key, nonce).encrypt(plaintext));
  };
}

async function messages(name: string, crypto: Crypto): Promise<void> {
  const keys = keysOf(crypto);
  const [sending, receiving] = handshake(crypto, 'XXpsk2', keys, keys);
  const [sendingInPlace, receivingInPlace] = handshake(crypto, 'XXpsk2', keys, keys);
  for (const length of [64, 1024, 65000] as const) {
    const plaintext = randomBytes(length);
    const count = MESSAGES[length];
    const inPlace = () => {
      const buffer = new Uint8Array(length + 16);
      buffer.set(plaintext);
      receivingInPlace.decrypt(sendingInPlace.encryptInPlace(buffer), true);
    };
    const results = await paired(
      [
        ...(crypto === nodeCrypto
          ? [
              { name: 'node:crypto, the tag apart', run: times(count, rawNode(plaintext, false)) },
              { name: 'node:crypto, joined', run: times(count, rawNode(plaintext, true)) },
            ]
          : [{ name: 'noble’s chacha20poly1305', run: times(count, rawNoble(plaintext)) }]),
        { name: 'encrypt, decrypt', run: times(count, () => receiving.decrypt(sending.encrypt(plaintext))) },
        { name: 'in place, with one copy', run: times(count, inPlace) },
      ],
      ROUNDS,
      cpuTime,
    );
    report(`${count} messages of ${length} bytes sealed and opened, ${name}`, results);
  }
}

await handshakes('node', nodeCrypto);
await handshakes('noble', nobleCrypto);
await messages('node', nodeCrypto);
await messages('noble', nobleCrypto);

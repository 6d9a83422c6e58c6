/**
 * A static key whose private key never enters JavaScript's memory: a KeyObject of Node.js, which computes shared secrets
 * synchronously, and a non-extractable WebCrypto key, which computes them asynchronously. A secure element works like one of
 * the two.
 *
 *     node --import tsx examples/external-key.ts
 */
import { createPublicKey, diffieHellman, generateKeyPairSync, type KeyObject, webcrypto } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { derivePsk, HubSession, type HubSessionEvent, type StaticKey } from 'hub-protocol';
import { nodeCrypto, randomBytes } from 'hub-protocol/node';
import { ClientSession, type KeyPair, type SessionEvent } from 'hub-protocol/parts';

const { subtle } = webcrypto;
const X25519 = { name: 'X25519' };

/** The key pair of a KeyObject, for the `staticKey` of a keyring. */
export function nodeKey(privateKey: KeyObject): KeyPair {
  // SPKI, not JWK: Node 20.19 can hang if it collects garbage while it exports a generated key as a JWK.
  const spki = createPublicKey(privateKey).export({ format: 'der', type: 'spki' });
  return {
    publicKey: new Uint8Array(spki.subarray(-32)),
    sharedSecret(publicKey) {
      const jwk = { kty: 'OKP', crv: 'X25519', x: Buffer.from(publicKey).toString('base64url') };
      const peer = createPublicKey({ key: jwk, format: 'jwk' });
      return new Uint8Array(diffieHellman({ privateKey, publicKey: peer }));
    },
  };
}

/** Computes the shared secret for `resume`, with a WebCrypto key. */
export async function webSharedSecret(
  privateKey: webcrypto.CryptoKey,
  publicKey: Uint8Array,
): Promise<Uint8Array> {
  const peer = await subtle.importKey('raw', publicKey, X25519, true, []);
  return new Uint8Array(await subtle.deriveBits({ ...X25519, public: peer }, privateKey, 256));
}

/** Connects to a hub in the same process, and returns what the hub pinned. */
async function connect(
  staticKey: StaticKey | KeyPair,
  sharedSecret?: (publicKey: Uint8Array) => Promise<Uint8Array>,
): Promise<Uint8Array> {
  const psk = derivePsk({ crypto: nodeCrypto, password: 'correct horse', nodeId: 'hub-1' });
  const common = { crypto: nodeCrypto, randomBytes };
  const hub = new HubSession({ ...common, nodeId: 'hub-1', staticKey: randomBytes(32), psk });
  const keyring = { staticKey, psks: [{ nodeId: 'hub-1', key: psk }] };
  const client = new ClientSession({ ...common, siteId: 'lobby', keyring });
  let pinned: Uint8Array | undefined;

  const onHub = (events: HubSessionEvent[]): SessionEvent[] =>
    events.flatMap((event) => {
      if (event.type === 'pin') pinned = event.key;
      return event.type === 'transmit' ? client.receive(event.data) : [];
    });
  const queue = onHub(hub.start());
  for (let event = queue.shift(); event !== undefined; event = queue.shift()) {
    if (event.type === 'transmit') queue.push(...onHub(hub.receive(event.data)));
    if (event.type === 'waiting') queue.push(...client.resume(await sharedSecret!(event.publicKey!)));
    if (event.type === 'close') throw event.error;
  }
  if (client.state !== 'ready' || pinned === undefined) throw new Error('the handshake did not complete');
  return pinned;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { privateKey } = generateKeyPairSync('x25519');
  const own = nodeKey(privateKey);
  const isOwn = Buffer.from(await connect(own)).equals(own.publicKey);
  console.log(`KeyObject: ready, and the hub pinned ${isOwn ? 'its public key' : 'ANOTHER KEY'}`);

  const pair = (await subtle.generateKey(X25519, false, ['deriveBits'])) as webcrypto.CryptoKeyPair;
  const publicKey = new Uint8Array(await subtle.exportKey('raw', pair.publicKey));
  const pinned = await connect({ publicKey }, (peer) => webSharedSecret(pair.privateKey, peer));
  const isSame = Buffer.from(pinned).equals(publicKey);
  console.log(`WebCrypto: ready, and the hub pinned ${isSame ? 'its public key' : 'ANOTHER KEY'}`);
}

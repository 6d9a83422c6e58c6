/** Both ends of a connection in this process: of the Noise handshake alone, and of whole sessions. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { importKey, nodeCrypto, randomBytes } from '../../dist/crypto/node.js';
import { type CryptoProvider, HubSession, type Pattern } from '../../dist/index.js';
import {
  type argon2id,
  ClientSession,
  HandshakeState,
  type KeyPair,
  type Transport,
} from '../../dist/parts.js';

export const SUITE = '25519_ChaChaPoly_SHA256';
const prologue = randomBytes(200);
export const psk: Uint8Array = randomBytes(32);

export interface Keys {
  readonly staticKey: Uint8Array | KeyPair;
  readonly publicKey: Uint8Array;
}

export interface ImportedKeys extends Keys {
  readonly staticKey: KeyPair;
}

export function newKeys(crypto: CryptoProvider): Keys {
  const staticKey = randomBytes(32);
  return { staticKey, publicKey: crypto.x25519.publicKey(staticKey) };
}

/** Static keys as a gateway keeps them: imported once. */
export function newImportedKeys(): ImportedKeys {
  const staticKey = importKey(randomBytes(32));
  return { staticKey, publicKey: staticKey.publicKey };
}

/** What a build of the library exports, ours or an earlier one. */
export interface Build {
  readonly HandshakeState: typeof HandshakeState;
  readonly crypto: CryptoProvider;
}

export function handshake(
  { HandshakeState, crypto }: Build,
  pattern: Pattern,
  own: Keys,
  peer: Keys,
): [initiator: Transport, responder: Transport] {
  const side = (role: 'initiator' | 'responder', { staticKey }: Keys, { publicKey }: Keys) =>
    new HandshakeState({
      ...{ crypto, role, pattern, suite: SUITE, prologue, psk, staticKey, randomBytes },
      ...(pattern === 'KKpsk0' ? { remoteStaticKey: publicKey } : {}),
    });
  const initiator = side('initiator', own, peer);
  const responder = side('responder', peer, own);
  responder.readMessage(initiator.writeMessage());
  initiator.readMessage(responder.writeMessage());
  if (pattern === 'XXpsk2') responder.readMessage(initiator.writeMessage());
  return [initiator.split(), responder.split()];
}

export const build = (crypto: CryptoProvider): Build => ({ HandshakeState, crypto });

/** What is compared of an earlier build of the library, whose folder dist/ the option --before names. */
export interface EarlierBuild {
  readonly HandshakeState: typeof HandshakeState;
  readonly argon2id: typeof argon2id;
  readonly nodeCrypto: CryptoProvider;
  readonly nobleCrypto: CryptoProvider;
}

export async function earlierBuild(dist: string): Promise<EarlierBuild> {
  const load = (file: string) => import(pathToFileURL(resolve(dist, file)).href);
  const folder = existsSync(join(dist, 'crypto')) ? 'crypto' : 'noise';
  const parts = await Promise.all(
    ['index.js', 'parts.js', `${folder}/node.js`, `${folder}/noble.js`].map(load),
  );
  return Object.assign({}, ...parts);
}

export const hubKeys: ImportedKeys = newImportedKeys();
export const clientKeys: ImportedKeys = newImportedKeys();

export interface Ends {
  readonly client: ClientSession;
  readonly hub: HubSession;
}

/**
 * Connects a client to a hub, up to the client's first message. The static keys are imported once, as on a gateway.
 * @param atHub - called with each piece of the hub's work
 */
export function connect(
  pattern: Pattern = 'KKpsk0',
  atHub: <T>(work: () => T) => T = (work) => work(),
  crypto: CryptoProvider = nodeCrypto,
): Ends {
  const hub = atHub(
    () =>
      new HubSession({
        ...{ crypto, randomBytes, nodeId: 'hub-1', staticKey: hubKeys.staticKey, psk },
        clientKey: pattern === 'KKpsk0' ? clientKeys.publicKey : undefined,
      }),
  );
  const client = new ClientSession({
    ...{ crypto, randomBytes, siteId: 'lobby' },
    keyring: {
      staticKey: clientKeys.staticKey,
      pins: pattern === 'KKpsk0' ? [{ nodeId: 'hub-1', key: hubKeys.publicKey }] : [],
      psks: [{ nodeId: 'hub-1', key: psk }],
    },
  });
  const toClient = (events: ReturnType<HubSession['start']>): void => {
    for (const event of events) {
      if (event.type !== 'transmit') continue;
      for (const reply of client.receive(event.data)) {
        if (reply.type === 'transmit') toClient(atHub(() => hub.receive(reply.data)));
      }
    }
  };
  toClient(atHub(() => hub.start()));
  if (client.state !== 'ready' || hub.state !== 'ready') throw new Error('the sessions are not ready');
  return { client, hub };
}

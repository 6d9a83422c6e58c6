/** Both ends of a connection in this process: of the Noise handshake alone, and of whole sessions. */
import { importKey, nodeCrypto, randomBytes } from '../../dist/crypto/node.js';
import { type CryptoProvider, HubSession, type Pattern } from '../../dist/index.js';
import { ClientSession, HandshakeState, type KeyPair, type Transport } from '../../dist/parts.js';

const SUITE = '25519_ChaChaPoly_SHA256';
const prologue = randomBytes(200);
const psk = randomBytes(32);

interface Keys {
  readonly staticKey: Uint8Array | KeyPair;
  readonly publicKey: Uint8Array;
}

export function newKeys(crypto: CryptoProvider): Keys {
  const staticKey = randomBytes(32);
  return { staticKey, publicKey: crypto.x25519.publicKey(staticKey) };
}

/** Static keys as a gateway keeps them: imported once. */
function newImportedKeys(): Keys & { readonly staticKey: KeyPair } {
  const staticKey = importKey(randomBytes(32));
  return { staticKey, publicKey: staticKey.publicKey };
}

export function handshake(
  crypto: CryptoProvider,
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

const hubKeys = newImportedKeys();
const clientKeys = newImportedKeys();

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

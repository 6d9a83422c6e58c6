/** An error about an argument of a session, a keyring or a recording starts with the argument’s name in quotes. */
import { test } from 'uvu';
import { nodeCrypto } from '../../src/crypto/node.ts';
import {
  createKeyring,
  derivePsk,
  fingerprint,
  forgetPsks,
  type Keyring,
  parseKeyring,
  pinHub,
  serializeKeyring,
  storePsk,
  updateKeyring,
} from '../../src/index.ts';
import { type ClientOptions, ClientSession, selectNoise } from '../../src/parts.ts';
import { recordClientSession, recordHubSession } from '../../src/recording/recording.ts';
import { CLIENT_KEY, CLIENT_STATIC, HUB_KEY, NODE_ID, PSK } from '../world/keys.ts';
import { newClient, newHub, pairWithClientIn, readyPair } from '../world/pair.ts';
import { raisesAbout } from '../world/raises.ts';

const given = (value: unknown): never => value as never;
const SHORT = new Uint8Array(31);
const accessKey = 'kiosk-7';
const keyring: Keyring = createKeyring({ accessKey, staticKey: CLIENT_STATIC });
const unreadable = (field: string): never =>
  Object.defineProperty({}, field, {
    enumerable: true,
    get() {
      throw new TypeError('hostile');
    },
  }) as never;
const { client, hub } = readyPair();
const write = (): void => {};
const OPTIONS: ClientOptions = {
  crypto: nodeCrypto,
  siteId: 'lobby',
  keyring: { staticKey: CLIENT_STATIC },
  randomBytes: () => PSK,
};

const FAULTS: [name: string, call: () => unknown][] = [
  // sessions; client-options.test.ts and hub-options.test.ts have options of the wrong type
  ['keyring.staticKey', () => newClient({ paced: true })],
  ['hello', () => newClient({ hello: unreadable('session') })],
  ['keyring', () => new ClientSession({ ...OPTIONS, keyring: given(unreadable('pins')) })],
  ['staticKey', () => newHub({ staticKey: unreadableTwice('publicKey') })],
  ['staticKey', () => newHub({ staticKey: SHORT })],
  ['psk', () => newHub({ psk: SHORT })],
  ['clientKey', () => newHub({ clientKey: SHORT })],
  ['patterns', () => newHub({ patterns: ['KKpsk0'], clientKey: CLIENT_KEY })],
  ['suites', () => newHub({ suites: ['25519_AESGCM_SHA256'] })],
  ['psk', () => pairWithClientIn('awaiting-psk').client.providePsk(SHORT)],
  ['sharedSecret', () => pairWithClientIn('sealing-message-3').client.resume(SHORT)],
  ['data', () => hub.receive(given(1))],
  ['bytes', () => client.sendBinary(given('text'))],
  ['closing', () => client.closed(unreadable('code'))],
  ['closing', () => client.closed(given('lost'))],
  ['offer', () => selectNoise(unreadable('patterns'), { suites: [], pinned: false })],
  // keyrings
  ['options.unknown', () => createKeyring(given({ unknown: 1 }))],
  ['accessKey', () => createKeyring({ accessKey: '', staticKey: CLIENT_STATIC })],
  ['staticKey', () => createKeyring({ accessKey, staticKey: SHORT })],
  ['staticKey.publicKey', () => createKeyring({ accessKey, staticKey: unreadable('publicKey') })],
  ['keyring', () => serializeKeyring(unreadable('pins'))],
  ['keyring', () => forgetPsks(given(1))],
  ['event', () => updateKeyring(keyring, unreadable('type'))],
  ['event', () => updateKeyring(keyring, given({}))],
  ['keyring', () => pinHub(given({ pins: [] }), NODE_ID, HUB_KEY)],
  ['key', () => fingerprint(SHORT)],
  ['nodeId', () => updateKeyring(keyring, { type: 'pin', nodeId: '', key: HUB_KEY })],
  ['key', () => updateKeyring(keyring, { type: 'pin', nodeId: NODE_ID, key: given(SHORT) })],
  ['nodeId', () => storePsk(keyring, '', PSK)],
  ['psk', () => storePsk(keyring, NODE_ID, SHORT)],
  ['options.unknown', () => storePsk(keyring, NODE_ID, PSK, given({ unknown: 1 }))],
  ['isProvisioned', () => storePsk(keyring, NODE_ID, PSK, { isProvisioned: given(1) })],
  ['accessKey', () => parseKeyring(serializeKeyring(keyring), '')],
  // PSKs
  ['options.unknown', () => derivePsk(given({ unknown: 1 }))],
  ['password', () => derivePsk({ crypto: nodeCrypto, password: '', nodeId: NODE_ID })],
  ['nodeId', () => derivePsk({ crypto: nodeCrypto, password: 'secret', nodeId: '' })],
  ['nodeId', () => derivePsk(given({ crypto: nodeCrypto, password: 'secret', nodeId: NODE_ID, salt: PSK }))],
  ['salt', () => derivePsk({ crypto: nodeCrypto, password: 'secret', salt: SHORT })],
  ['crypto.sha256', () => derivePsk({ crypto: given({}), password: 'secret', nodeId: NODE_ID })],
  // recordings
  ['options.unknown', () => recordClientSession(given({ unknown: 1 }), { write })],
  ['options.unknown', () => recordHubSession(given({ unknown: 1 }), { write })],
  ['recording.unknown', () => recordClientSession(OPTIONS, given({ unknown: 1 }))],
  ['write', () => recordClientSession(OPTIONS, given({}))],
  ['ephemeralKey', () => recordClientSession(OPTIONS, { write, ephemeralKey: given(1) })],
];

/** A key pair with a field that can be read only once. */
function unreadableTwice(field: string): never {
  let reads = 0;
  return Object.defineProperty({}, field, {
    get() {
      if (reads++ > 0) throw new TypeError('hostile');
      return HUB_KEY;
    },
  }) as never;
}

for (const [i, [name, call]] of FAULTS.entries()) {
  test(`an error about "${name}" starts with its name (${i})`, () => raisesAbout(name, call));
}

test.run();

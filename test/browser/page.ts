/**
 * A page: the client's static key is a non-extractable key of WebCrypto, so the session asks for shared secrets with
 * the event `waiting`. The hub is in the page too. The outcome is posted to /result.
 */

import { nobleCrypto as crypto } from '../../src/crypto/noble.ts';
import { HubSession, type HubSessionEvent } from '../../src/index.ts';
import { ClientSession, type SessionEvent } from '../../src/parts.ts';

type Bytes = Uint8Array<ArrayBuffer>;
declare const window: { crypto: WebCrypto };
declare function fetch(path: string, options: { method: 'POST'; body: string }): Promise<unknown>;
interface WebCrypto {
  getRandomValues(bytes: Bytes): Bytes;
  subtle: {
    generateKey(
      name: string,
      isExtractable: boolean,
      usages: string[],
    ): Promise<{ publicKey: object; privateKey: object }>;
    exportKey(format: 'raw', key: object): Promise<ArrayBuffer>;
    importKey(
      format: 'raw',
      key: Bytes,
      name: string,
      isExtractable: boolean,
      usages: string[],
    ): Promise<object>;
    deriveBits(algorithm: { name: string; public: object }, key: object, bits: number): Promise<ArrayBuffer>;
  };
}

const { subtle } = window.crypto;
const randomBytes = (length: number) => window.crypto.getRandomValues(new Uint8Array(length));
const psk = new Uint8Array(32).fill(5);

async function connect(
  clientKey?: Uint8Array,
  hubKey?: Uint8Array,
): Promise<{ pattern: string; asked: number }> {
  const hub = new HubSession({ crypto, randomBytes, nodeId: 'hub-1', staticKey: hubStatic, psk, clientKey });
  const client = new ClientSession({
    crypto,
    randomBytes,
    siteId: 'page',
    keyring: {
      staticKey: { publicKey },
      pins: hubKey === undefined ? [] : [{ nodeId: 'hub-1', key: hubKey as Bytes }],
      psks: [{ nodeId: 'hub-1', key: psk }],
    },
  });
  let asked = 0;
  let pattern = 'none';
  const fromHub = (events: HubSessionEvent[]): SessionEvent[] =>
    events.flatMap((event) => (event.type === 'transmit' ? client.receive(event.data) : []));
  const queue = fromHub(hub.start());
  for (let event = queue.shift(); event !== undefined; event = queue.shift()) {
    if (event.type === 'transmit') queue.push(...fromHub(hub.receive(event.data)));
    if (event.type === 'ready') pattern = event.pattern;
    if (event.type === 'close') throw event.error;
    if (event.type === 'waiting') {
      asked++;
      const peer = await subtle.importKey('raw', event.publicKey!, 'X25519', true, []);
      const secret = await subtle.deriveBits({ name: 'X25519', public: peer }, pair.privateKey, 256);
      queue.push(...client.resume(new Uint8Array(secret)));
    }
  }
  return { pattern: hub.state === 'ready' ? pattern : 'not ready', asked };
}

const pair = await subtle.generateKey('X25519', false, ['deriveBits']);
const publicKey = new Uint8Array(await subtle.exportKey('raw', pair.publicKey));
const hubStatic = randomBytes(32);
let result: unknown;
try {
  result = [await connect(), await connect(publicKey, crypto.x25519.publicKey(hubStatic))];
} catch (error) {
  result = String(error);
}
await fetch('/result', { method: 'POST', body: JSON.stringify(result) });

/** The hub that the client in heap-client.js talks to. */

import { nodeCrypto, randomBytes } from '../dist/crypto/node.js';
import { ClientSession, HubSession } from '../dist/index.js';

export const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const keys = { staticKey: randomBytes(32), ephemeralKey: randomBytes(32), psk: randomBytes(32) };

/** Talks to a client in Node that has the same keys as the one in the engine, and so sends the same. */
export class Peer {
  readonly #crypto = { ...nodeCrypto, ciphers: { ChaChaPoly: nodeCrypto.ciphers.ChaChaPoly! } };
  readonly #client = new ClientSession({
    crypto: this.#crypto,
    siteId: 'lobby',
    staticKey: keys.staticKey,
    randomBytes: () => new Uint8Array(keys.ephemeralKey),
    psk: () => keys.psk,
  });
  readonly #hub = new HubSession({
    crypto: this.#crypto,
    nodeId: 'hub-1',
    staticKey: randomBytes(32),
    randomBytes,
    psk: keys.psk,
  });

  /** Returns statements that open a session in the engine; after the last one it must be ready. */
  handshake(options: object = {}): [open: string, ...received: string[]] {
    const sent: string[] = [];
    const toClient = (events: ReturnType<HubSession['start']>): void => {
      for (const event of events) {
        if (event.type !== 'transmit') continue;
        sent.push(event.data as string);
        for (const reply of this.#client.receive(event.data)) {
          if (reply.type === 'transmit') toClient(this.#hub.receive(reply.data));
        }
      }
    };
    toClient(this.#hub.start());
    const { staticKey, ephemeralKey, psk } = keys;
    const hexKeys = { staticKey: hex(staticKey), ephemeralKey: hex(ephemeralKey), psk: hex(psk) };
    return [
      `open(${JSON.stringify({ ...hexKeys, ...options })}); 0`,
      ...sent.map(
        (text, i) =>
          `incoming = [${JSON.stringify(text)}]; receive(${['undefined', "'transmit'", "'ready'"][i]}); 0`,
      ),
    ];
  }

  /** Returns the transport messages of a binary message of `length` bytes. */
  binary(length: number): Uint8Array[] {
    return this.#hub.sendBinary(new Uint8Array(length));
  }

  /** Returns the transport messages of `count` JSON messages of `length` bytes each. */
  json(count: number, length: number): Uint8Array[] {
    const text = textOf(length);
    return Array.from({ length: count }, () => this.#hub.sendJson(text)).flat();
  }
}

/** Returns JSON text of `length` bytes. */
export const textOf = (length: number): string => JSON.stringify('x'.repeat(length - 2));

/** The hub of the client in heap-client.js. */

import { nodeCrypto, randomBytes } from '../dist/crypto/node.js';
import { ClientSession, HubSession } from '../dist/index.js';

export const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const keys = { staticKey: randomBytes(32), ephemeralKey: randomBytes(32), psk: randomBytes(32) };

/** It talks to a client in Node with the same keys as the one in the engine, which says the same. */
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

  /** Statements that open a session in the engine, the last of which has to make it ready. */
  handshake(options: object = {}): [open: string, ...received: string[]] {
    const said: string[] = [];
    const toClient = (events: ReturnType<HubSession['start']>): void => {
      for (const event of events) {
        if (event.type !== 'transmit') continue;
        said.push(event.data as string);
        for (const answer of this.#client.receive(event.data)) {
          if (answer.type === 'transmit') toClient(this.#hub.receive(answer.data));
        }
      }
    };
    toClient(this.#hub.start());
    const { staticKey, ephemeralKey, psk } = keys;
    const hexKeys = { staticKey: hex(staticKey), ephemeralKey: hex(ephemeralKey), psk: hex(psk) };
    return [
      `open(${JSON.stringify({ ...hexKeys, ...options })}); 0`,
      ...said.map(
        (text, i) =>
          `incoming = [${JSON.stringify(text)}]; receive(${['undefined', "'transmit'", "'ready'"][i]}); 0`,
      ),
    ];
  }

  /** The transport messages of a binary message of so many bytes. */
  binary(length: number): Uint8Array[] {
    return this.#hub.sendBinary(new Uint8Array(length));
  }

  /** The transport messages of so many messages of so many bytes. */
  json(count: number, length: number): Uint8Array[] {
    const text = textOf(length);
    return Array.from({ length: count }, () => this.#hub.sendJson(text)).flat();
  }
}

/** JSON text of so many bytes. */
export const textOf = (length: number): string => JSON.stringify('x'.repeat(length - 2));

/** A client on Node.js, Bun and Deno, over any of their transports. */
import { nodeCrypto as crypto, randomBytes } from 'hub-protocol/node';
import { budgetOf } from './budget.ts';
import { Client } from './client.ts';
import { deriveInWorker as derive } from './derive-on-node.ts';
import { binaryReader } from './inflate-on-node.ts';
import { KeyringFile } from './keyring-file.ts';
import type { NodeOptions } from './options.ts';
import type { Platform } from './platform.ts';

/** @throws LocalError `bad-argument`, or `keyring-…` if the keyring cannot be read or stored */
export function clientOnNode(
  options: NodeOptions,
  transport: Pick<Platform, 'open' | 'place' | 'advice'>,
): Client {
  const keyring = KeyringFile.of(options.keyring, options.identity.accessKey);
  const readBinary = binaryReader(budgetOf(options));
  return new Client(options, { crypto, randomBytes, readBinary, derive, keyring, ...transport });
}

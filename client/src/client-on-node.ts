/** A client on Node.js, Bun and Deno, over any of their transports. */
import type { ErrorCode } from 'hub-protocol';
import { nodeCrypto as crypto, randomBytes } from 'hub-protocol/node';
import { budgetOf } from './budget.ts';
import { adviceOf } from './causes.ts';
import { Client } from './client.ts';
import { deriveInWorker as derive } from './derive-on-node.ts';
import { binaryReader } from './inflate-on-node.ts';
import { KeyringFile } from './keyring-file.ts';
import type { NodeOptions } from './options.ts';
import type { Place } from './place.ts';
import type { Platform } from './platform.ts';

/** A transport, where it leads, and what its errors mean beyond those of connections that cannot be made. */
interface NodeTransport extends Pick<Platform, 'open' | 'isBlind'> {
  readonly place: Place;
  readonly advice?: { readonly [code in ErrorCode]?: string };
}

/** @throws LocalError `bad-argument`, or `keyring-…` if the keyring cannot be read or stored */
export function clientOnNode(options: NodeOptions, { place, advice, ...transport }: NodeTransport): Client {
  const keyring = KeyringFile.of(options.keyring, options.identity.accessKey);
  const readBinary = binaryReader(budgetOf(options));
  const advise: Platform['advise'] = (error) => adviceOf(error, place) ?? advice?.[error.code as ErrorCode];
  return new Client(options, {
    crypto,
    randomBytes,
    readBinary,
    derive,
    keyring,
    place,
    advise,
    ...transport,
  });
}

/**
 * Clients and hubs with keyrings over several connections, and an attacker on the path: messages are lost, repeated,
 * reordered, cut, damaged, spliced, reflected, and replayed from earlier connections and from the other direction; the
 * negotiation is tampered with; keys and passwords differ or change; the transport closes at any time.
 *
 * A model knows what was sent and who proved what, and every event is compared with it.
 */
import { nodeCrypto } from '../../../src/crypto/node.ts';
import { ConnectionPolicy, type Crypto, createKeyring, type Keyring, storePsk } from '../../../src/index.ts';
import type { Random } from '../../world/random.ts';
import { toyCrypto } from '../../world/toy-crypto.ts';
import { formsOf, tally } from '../law.ts';
import type { Item } from '../wire.ts';
import { Connection } from './connection.ts';

/** A device and its hub, for as long as a case lasts. */
export interface Home {
  readonly crypto: Crypto;
  readonly isToy: boolean;
  readonly nodeId: string;
  readonly clientStatic: Uint8Array;
  readonly clientKey: Uint8Array;
  hubStatic: Uint8Array;
  hubPsk: Uint8Array;
  /** The client's key as the hub has pinned it. */
  pinned: Uint8Array | undefined;
  keyring: Keyring;
  /** The PSK that the client derives. */
  readonly devicePsk: Uint8Array;
  readonly policy: ConnectionPolicy | undefined;
  readonly recorded: Item[];
  /** The forms of every secret, if this case looks for them in what is shown. */
  readonly forms: readonly string[] | undefined;
  /** One message in so many is tampered with; never, if 0. */
  readonly rate: number;
  now: number;
}

export function sessions(random: Random): void {
  const isToy = !random.oneIn(64);
  const crypto = isToy ? toyCrypto : nodeCrypto;
  const clientStatic = random.bytes(32);
  const psk = random.bytes(32);
  const home: Home = {
    crypto,
    isToy,
    nodeId: random.pick(['hub-1', 'hub-1', 'hub-2', '__proto__', 'ключ🔑']),
    clientStatic,
    clientKey: new Uint8Array(crypto.x25519.publicKey(clientStatic)),
    hubStatic: random.bytes(32),
    hubPsk: psk,
    pinned: undefined,
    keyring: createKeyring({ accessKey: 'key', staticKey: clientStatic, ...(random.oneIn(2) && { crypto }) }),
    devicePsk: psk,
    policy: random.oneIn(2)
      ? new ConnectionPolicy({
          randomBytes: (length) => random.bytes(length),
          onKkFailure: random.pick([undefined, 'unpin', 'keep-pin']),
        })
      : undefined,
    recorded: [],
    forms: undefined,
    rate: random.oneIn(24) ? 0 : random.pick([2, 2, 3, 3, 4, 4, 5, 6]),
    now: 0,
  };
  if (random.oneIn(3))
    home.keyring = storePsk(home.keyring, home.nodeId, psk, { isProvisioned: random.oneIn(2) });
  if (random.oneIn(64)) Object.assign(home, { forms: [clientStatic, psk, home.hubStatic].flatMap(formsOf) });
  for (let i = 1 + random.below(4); i > 0; i--) {
    const connection = new Connection(random, home);
    connection.run();
    tally.sessions += 2;
    if (connection.isMutated) tally.mutated += 2;
    if (random.oneIn(8)) home.hubStatic = random.bytes(32);
    if (random.oneIn(12)) home.hubPsk = random.bytes(32);
    else if (random.oneIn(3)) home.hubPsk = psk;
    if (random.oneIn(12)) home.pinned = random.pick([undefined, random.bytes(32), home.clientKey]);
  }
}

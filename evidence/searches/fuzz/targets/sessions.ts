/**
 * Clients and hubs with keyrings over several connections, and an attacker on the path: messages are lost, repeated,
 * reordered, cut, damaged, spliced, reflected, and replayed from earlier connections and from the other direction; the
 * negotiation is tampered with; keys and passwords differ or change; the transport closes at any time.
 *
 * A model knows what was sent and who proved what, and every event is compared with it.
 */
import { nodeCrypto } from '../../../../src/crypto/node.ts';
import { createKeyring, storePsk } from '../../../../src/index.ts';
import { ConnectionPolicy } from '../../../../src/parts.ts';
import type { Random } from '../../../../test/world/random.ts';
import { toyCrypto } from '../../../../test/world/toy-crypto.ts';
import { formsOf, tally } from '../law.ts';
import { Connection } from './connection.ts';
import type { Home } from './home.ts';

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
          onKkFailure: random.pick([undefined, 'replace-pin', 'keep-pin']),
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

/** Faults that only a connection shows: planted in this library and in the client and the hub of peers.ts. */
import type { Fault, Patch } from './fault.ts';

function fault(name: string, only: string, says: RegExp, ...patches: Patch[]): Fault {
  return { name, patches, only: only.split(' '), says };
}

const HANDSHAKE = 'src/noise/handshake-state.ts';

const REPEATED_EPHEMERAL: Patch = [
  HANDSHAKE,
  'this.e = this.crypto.keyPair(randomKey(this.randomBytes));',
  'this.e = this.crypto.keyPair(new Uint8Array(32).fill(9));',
];
export const CLIENT_FAULTS: readonly Fault[] = [
  fault(
    'client-repeats-ephemeral-key',
    'first-contact small-chunks still-there',
    /ephemeral key: /,
    REPEATED_EPHEMERAL,
  ),
];

export const HUB_FAULTS: readonly Fault[] = [
  fault(
    'hub-repeats-ephemeral-key',
    'first-contact small-chunks still-there',
    /ephemeral key: /,
    REPEATED_EPHEMERAL,
  ),
];

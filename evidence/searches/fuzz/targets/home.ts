/** What the connections of one case share. */
import type { CryptoProvider, Keyring } from '../../../../src/index.ts';
import type { ConnectionPolicy } from '../../../../src/parts.ts';
import type { Item } from '../wire.ts';

/** A device and its hub, for as long as a case lasts. */
export interface Home {
  readonly crypto: CryptoProvider;
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

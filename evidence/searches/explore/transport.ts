/** The transport between a client and its hub, and what is on its way. */
import type { HubSession, Keyring } from '../../../src/index.ts';
import type { SessionEvent } from '../../../src/parts.ts';
import type { Data, Side } from '../../../test/world/line.ts';

export type ReadyClient = Extract<SessionEvent, { type: 'ready' }>;

/** Something on its way: a message, or the end of the transport. */
export interface Item {
  /** Where it comes from and what was done to it. */
  readonly label: string;
  readonly kind: 'hello' | 'offer' | 'message' | 'frame' | 'close';
  readonly data: Data;
  readonly from: Side;
  /** What its contents depend on, beside fresh keys: how its sender came to send it. */
  readonly origin?: number;
}

/** Who answers. */
export interface Server {
  readonly nodeId: string;
  readonly staticKey: Uint8Array;
  readonly psk: Uint8Array;
  /** The client's key as it has pinned it. */
  readonly clientKey: Uint8Array | undefined;
}

/** The transport that was opened last. */
export interface Transport {
  readonly number: number;
  /** The server, once it has answered, and its session. */
  readonly server: Server | undefined;
  readonly hub: HubSession | undefined;
  /** What each side has to read. */
  readonly queues: { readonly [side in Side]: readonly Item[] };
  /** All that was sent. */
  readonly sent: readonly Item[];
  /** What each session began with, and what it did something with. */
  readonly history: { readonly [side in Side]: string };
  /** The pins with which the client began, and whether it left out KKpsk0. */
  readonly pins: Keyring['pins'];
  readonly leavesOutKk: boolean;
  /** How the client became ready. */
  readonly ready?: ReadyClient;
  /** Whether the hub's one message of its own was sent, and heard. */
  readonly news?: 'sent' | 'heard';
  /** Whether cryptography or randomness has failed meanwhile. */
  readonly isFaulty?: true;
}

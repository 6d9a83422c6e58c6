/** One connection of the small world, with its two sessions. */
import type { HubSession, HubSessionEvent, Pattern } from '../../../src/index.ts';
import { PATTERNS } from '../../../src/noise/patterns.ts';
import { type ClientSession, ReplyCollector, type SessionEvent } from '../../../src/parts.ts';
import { CLIENT_ENDINGS, CLIENT_FAILURES, HUB_ENDINGS, HUB_FAILURES } from '../../../src/session/endings.ts';
import { CLIENT_TRANSITIONS, HUB_TRANSITIONS } from '../../../src/session/transitions.ts';
import type { Data, Side } from '../../../test/world/line.ts';
import { toyCrypto } from '../../../test/world/toy-crypto.ts';
import { copier } from './copy.ts';

export type Event = SessionEvent | HubSessionEvent;
export type Ready = Extract<Event, { type: 'ready' }>;

/** Something on its way: a message, or the end of the transport. */
export interface Item {
  /** Where it comes from and what was done to it. Two items of the same label have the same part in all that follows. */
  readonly label: string;
  readonly kind: 'hello' | 'offer' | 'message' | 'frame' | 'close';
  readonly data: Data;
  readonly from: Side;
  /** What its contents depend on, beside fresh keys: how its sender came to send it. */
  readonly origin?: number;
  /** Whether nothing had been done to its sender. */
  readonly isGenuine?: boolean;
}

export interface Sessions {
  client: ClientSession;
  hub: HubSession;
}

/** One connection. Copies share the sessions, so a session is copied before it is called. */
export interface Connection extends Sessions {
  /** Whether the hub is the attacker’s. */
  readonly isImpostor: boolean;
  /** What each side has to read. */
  readonly queues: { readonly [side in Side]: Item[] };
  /** All that was sent. */
  readonly sent: Item[];
  /** What each session was created with, and what it did something with. */
  readonly history: { [side in Side]: string };
  readonly ready: { [side in Side]?: Ready };
  /** The messages that each side has delivered. */
  readonly delivered: { [side in Side]: number };
  /** What the client waits for from its program. */
  pending: 'psk-needed' | 'waiting' | undefined;
  /** The public key that it waits with. */
  pendingKey: Uint8Array | undefined;
  derivedPsk: boolean;
  /** The pin and the patterns with which the client began. */
  readonly pin: Uint8Array | undefined;
  /** Whether that pin is suspect. */
  readonly isSuspect: boolean;
  readonly patterns: readonly Pattern[];
  isSteady: boolean;
}

/** Copies a session, or another object. */
export const copied: <T>(value: T) => T = copier(
  [
    toyCrypto,
    CLIENT_ENDINGS,
    CLIENT_FAILURES,
    HUB_ENDINGS,
    HUB_FAILURES,
    CLIENT_TRANSITIONS,
    HUB_TRANSITIONS,
    PATTERNS,
  ],
  ['plan'],
  [ReplyCollector.prototype],
);

export function copyConnection(connection: Connection): Connection {
  const { queues, sent, history, ready, delivered } = connection;
  return {
    ...connection,
    queues: { client: queues.client.slice(), hub: queues.hub.slice() },
    sent: sent.slice(),
    history: { ...history },
    ready: { ...ready },
    delivered: { ...delivered },
  };
}

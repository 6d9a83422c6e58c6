/** What a ClientLink orders, and what it tells. The first sentence of a docstring says what to do. */
import type { Bytes } from '../bytes.ts';
import type { LocalError, RemoteError } from '../errors.ts';
import type { Keyring } from '../keyring/keyring.ts';
import type { PolicyDecision } from '../policy/connection-policy.ts';
import type { HubEvent } from '../requests/hub-event.ts';
import type { FinishDecision, PartDecision } from '../requests/request-scheduler.ts';
import type {
  NewHubEvent,
  PinEvent,
  ReadyEvent,
  SessionEvent,
  StaticKeyFreshEvent,
  TransmitEvent,
} from '../session/events.ts';
import type { DeliveredEvent, DroppedEvent } from '../wire/frame-joiner.ts';
import type { JsonObject } from '../wire/json.ts';

/** Open a transport to the hub. Then pass what it receives to `received`, and its end to `closed`. */
export interface OpenOrder {
  readonly do: 'open';
  /** The number of the connection. Numbers grow: what an older connection receives changes nothing. */
  readonly connection: number;
}

/** Write `data` to the transport: a string as text, bytes as one binary message. If that fails, call `closed`. */
export interface WriteOrder {
  readonly do: 'write';
  /** The number of the connection. */
  readonly connection: number;
  /** A cleartext envelope as a string, or a transport message as bytes. */
  readonly data: string | Bytes;
}

/** Close the transport. You need not call `closed` afterwards. */
export interface ShutOrder {
  readonly do: 'close';
  /** The number of the connection. */
  readonly connection: number;
  /** A WebSocket close code: 1000, 1002 or 1008. Browsers accept only 1000 of them. */
  readonly code: number;
}

/**
 * Store the keyring, then call `stored`. Until then the link orders nothing that depends on it. This is the last order of its
 * batch.
 */
export interface StoreOrder {
  readonly do: 'store';
  /** The keyring with the change. */
  readonly keyring: Keyring;
  /** The change alone, for a store that others write to: apply it to what is stored now, and pass the result to `stored`. */
  readonly change: (stored: Keyring) => Keyring;
}

/** Derive the PSK from the password (`pskDerivation`) or fetch it, then call `derived`. At most one derivation runs at a time. */
export interface DeriveOrder {
  readonly do: 'derive';
  /** The number of the derivation. */
  readonly derivation: number;
  /** The hub's node id. */
  readonly nodeId: string;
  /** SHA-256 of the node id, 32 bytes. */
  readonly salt: Bytes;
}

/** Stop the derivation that runs: nobody waits for its result. */
export interface StopDerivingOrder {
  readonly do: 'stop-deriving';
}

/** Compute X25519 of the client's static private key, which is kept elsewhere, and `publicKey`. Then call `computed`. */
export interface ComputeOrder {
  readonly do: 'compute';
  /** The number of the connection. */
  readonly connection: number;
  /** A public key of the hub, 32 bytes. */
  readonly publicKey: Bytes;
}

/** Pass `event` to the program or to the person. */
export interface TellOrder {
  readonly do: 'tell';
  /** What has happened. */
  readonly event: LinkEvent;
}

/** What a shell must do, by `do`. Carry orders out in their order. */
export type Order =
  | OpenOrder
  | WriteOrder
  | ShutOrder
  | StoreOrder
  | DeriveOrder
  | StopDerivingOrder
  | ComputeOrder
  | TellOrder;

/** A connection is being made. */
export interface ConnectingEvent {
  readonly type: 'connecting';
}

/** The connection is ready. The other fields are those of the event `ready`. */
export interface ConnectEvent extends Omit<ReadyEvent, 'type'> {
  readonly type: 'connect';
}

/** The hub sent an event that belongs to no question. */
export interface HubMessageEvent {
  readonly type: 'message';
  /** The event. */
  readonly message: HubEvent;
}

/** The hub sent a JSON message. Only told without `requests`. */
export interface TextEvent {
  readonly type: 'text';
  /** The message, as JSON text. */
  readonly text: string;
}

/** The hub sent bytes. The other fields are those of the event `message`. */
export type BytesEvent = Omit<Extract<DeliveredEvent, { kind: 'binary' }>, 'type' | 'kind'> & {
  readonly type: 'bytes';
};

/**
 * Tell the person that the hub has a new key, and the fingerprints of both: an impostor who knows the password looks the same. The
 * new key is stored, and `connect` follows.
 */
export interface HubReplacedEvent extends Omit<PinEvent, 'type'> {
  readonly type: 'hub-replaced';
}

/** The connection ended, or could not be made. */
export interface CloseEvent {
  readonly type: 'close';
  /** Why. */
  readonly error: LocalError | RemoteError;
}

/** The link connects again after this many milliseconds. */
export interface ReconnectEvent {
  readonly type: 'reconnect';
  /** The length of the pause, in milliseconds. */
  readonly after: number;
  /** An error to show to a person meanwhile: see `tell` of the policy's decision. */
  readonly error: LocalError | RemoteError | undefined;
}

/** Ask a person to act, while the link dials on. Then call `start`, `trust` or `change`, or `end`. */
export interface AskEvent {
  readonly type: 'ask';
  /** What the person must know. */
  readonly error: LocalError | RemoteError;
  /** The link connects again after this many milliseconds all the same. */
  readonly after: number;
}

/** The hub has said or shown a part of the answer to a question. The other fields are those of the scheduler's decision. */
export interface PartEvent extends Omit<PartDecision, 'do' | 'event'> {
  readonly type: 'part';
  /** The event that carried the part. */
  readonly message: HubEvent;
}

/** A question that was sent has ended. The other fields are those of the scheduler's decision. */
export interface FinishEvent extends Omit<FinishDecision, 'do'> {
  readonly type: 'finish';
  /** Why the connection ended, if the ending is `closed`. */
  readonly error: LocalError | RemoteError | undefined;
}

/** A question or a message was not sent, and will not be. */
export interface UnsentEvent {
  readonly type: 'unsent';
  /** As it was passed to `ask` or `send`. */
  readonly message: JsonObject | Uint8Array;
  /** Why: the caller's mistake, the error of the latest connection, or that there is none. */
  readonly error: LocalError | RemoteError;
}

/** `end` was called. */
export interface EndEvent {
  readonly type: 'end';
}

/** An envelope was sealed, and the orders to write it precede. */
export interface SentTrace {
  readonly type: 'sent';
  /** The envelope. */
  readonly envelope: JsonObject;
}

/** Something happened inside. Only told with the option `trace`. */
export interface TraceEvent {
  readonly type: 'trace';
  /** An event of the session, a decision of the policy, or an envelope that was sent. */
  readonly what: Exclude<SessionEvent, TransmitEvent> | PolicyDecision | SentTrace;
}

/** What a link tells, by `type`. */
export type LinkEvent =
  | ConnectingEvent
  | ConnectEvent
  | HubMessageEvent
  | TextEvent
  | BytesEvent
  | DroppedEvent
  | NewHubEvent
  | StaticKeyFreshEvent
  | HubReplacedEvent
  | CloseEvent
  | ReconnectEvent
  | AskEvent
  | PartEvent
  | FinishEvent
  | UnsentEvent
  | EndEvent
  | TraceEvent;

/** What a session asks of its integrator, in order: one union for each side, told apart by `type`. */
import type { LocalError, RemoteError } from '../errors.ts';
import type { Pattern, Suite } from '../noise/patterns.ts';
import type { JsonObject } from '../wire/json.ts';
import type { Reassembled } from '../wire/reassembler.ts';

/** Write this, all of it and in order: a cleartext envelope as text, or a transport message as bytes. */
export interface TransmitEvent {
  readonly type: 'transmit';
  readonly data: string | Uint8Array;
}

/** Derive the PSK (`derivePsk`) or fetch it, then call `providePsk`. */
export interface PskNeededEvent {
  readonly type: 'psk-needed';
  readonly nodeId: string;
  /** SHA-256 of the node id; 32 bytes. */
  readonly salt: Uint8Array;
}

/** Forget a stored PSK of this hub: a handshake that used it failed. */
export interface PskSuspectEvent {
  readonly type: 'psk-suspect';
  readonly nodeId: string;
}

/** Store the hub's static key with the identity, before anything else is done. */
export interface PinEvent {
  readonly type: 'pin';
  readonly nodeId: string;
  /** 32 bytes. */
  readonly key: Uint8Array;
}

/** Drop the stored key of this hub: a KKpsk0 against it failed, and the next attempt is to use XXpsk2. */
export interface UnpinEvent {
  readonly type: 'unpin';
  readonly nodeId: string;
}

/**
 * A hub that is pinned is about to see a static key that was never used: most likely the key that it knows was lost, or
 * is another program's, and it will refuse this one. The session goes on; `error` says what an operator can do.
 */
export interface StaticKeyFreshEvent {
  readonly type: 'static-key-fresh';
  readonly nodeId: string;
  readonly error: LocalError;
}

/** Messages may be sent. A hub that pinned another key for this client may still close: see `closed`. */
export interface ReadyEvent {
  readonly type: 'ready';
  readonly pattern: Pattern;
  readonly suite: Suite;
  /** The hub's static public key; 32 bytes. */
  readonly hubKey: Uint8Array;
  /** For channel binding; 32 bytes. */
  readonly handshakeHash: Uint8Array;
  /** The JSON encoding that the hub fixed for the session, if it named one. */
  readonly encoding: string | undefined;
}

/**
 * Close the transport. The code is advice: 1008 while the handshake is not done, 1002 after it. WebSocket clients
 * after WHATWG take 1000 and 3000 to 4999 only; there, 1000 or 4008 will do.
 */
export interface CloseEvent {
  readonly type: 'close';
  readonly code: 1008 | 1002;
  readonly error: LocalError | RemoteError;
}

/** How the connection ended, from `closed`. */
export interface EndedEvent {
  readonly type: 'ended';
  readonly reason: 'refused' | 'client-key-refused' | 'dropped' | 'timeout';
  /** Whether to dial again: not before a person did something, after a pause, or at once. */
  readonly retry: 'never' | 'later' | 'now';
  /** What is known about the cause, with what an operator can do. The first failure, where there was one. */
  readonly error: LocalError | RemoteError;
  /**
   * The pattern in use, once there was one. Over MQTT, where silence is the only refusal, a timeout of KKpsk0 calls for
   * one attempt with `patterns: ['XXpsk2']`.
   */
  readonly pattern: Pattern | undefined;
}

/** Store the client's static key with its access key: one such key for each. */
export interface PinClientEvent {
  readonly type: 'pin';
  /** 32 bytes. */
  readonly key: Uint8Array;
}

/** The handshake is done: this client knows the password, and has this key. */
export interface HubReadyEvent {
  readonly type: 'ready';
  readonly pattern: Pattern;
  readonly suite: Suite;
  /** The client's static public key; 32 bytes. */
  readonly clientKey: Uint8Array;
  /** For channel binding; 32 bytes. */
  readonly handshakeHash: Uint8Array;
  /** What the client asked for in message 1. */
  readonly binarize: boolean;
  readonly encodings: readonly string[];
}

/**
 * The client's first transport message: the payload of its HELLO, or why it is none. What was no HELLO at all
 * follows as a message.
 */
export type HelloEvent =
  | { readonly type: 'hello'; readonly payload: JsonObject; readonly error: undefined }
  | { readonly type: 'hello'; readonly payload: undefined; readonly error: RemoteError };

/** What both sides have. */
export type CommonEvent = TransmitEvent | CloseEvent | EndedEvent | Reassembled;

/** The events of a ClientSession. */
export type SessionEvent =
  | CommonEvent
  | PskNeededEvent
  | PskSuspectEvent
  | PinEvent
  | UnpinEvent
  | StaticKeyFreshEvent
  | ReadyEvent;

/** The events of a HubSession. */
export type HubSessionEvent = CommonEvent | PinClientEvent | HubReadyEvent | HelloEvent;

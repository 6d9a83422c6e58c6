/**
 * The events of sessions: one union for each side, discriminated by `type`. The first sentence of a docstring says what to do:
 * the tables of events in README.md and docs/reference/sessions.md are drawn from it.
 */
import type { Bytes } from '../bytes.ts';
import type { LocalError, RemoteError } from '../errors.ts';
import type { Pattern, Suite } from '../noise/patterns.ts';
import type { Reassembled } from '../wire/frame-joiner.ts';
import type { JsonObject } from '../wire/json.ts';

/** Write `data` to the transport: a string as text, bytes as one binary message. Write all of it, and in order. */
export interface TransmitEvent {
  readonly type: 'transmit';
  /** A cleartext envelope as a string, or a transport message as bytes. */
  readonly data: string | Bytes;
}

/**
 * Derive the PSK (`derivePsk`) or fetch it, then call `providePsk`: the session waits as long as it takes. Do not store the
 * PSK yet: the event `psk` says when.
 */
export interface PskNeededEvent {
  readonly type: 'psk-needed';
  /** The hub's node id, to which the PSK is bound. */
  readonly nodeId: string;
  /** SHA-256 of the node id, 32 bytes. */
  readonly salt: Bytes;
}

/**
 * Store `key`, the PSK, under `nodeId`: it has opened a message of this hub, so the hub knows the password. Before this
 * event, store nothing for a hub: any server can name a node id and have a PSK derived for it.
 */
export interface PskEvent {
  readonly type: 'psk';
  /** The hub's node id. */
  readonly nodeId: string;
  /** The PSK, 32 bytes. This field does not enumerate. */
  readonly key: Bytes;
}

/**
 * Derive the PSK again for the next connection, and keep the stored one until `psk` brings another. Message 2 of XXpsk2 did
 * not open with the PSK that was used for this hub: either the password differs, or a third party interfered, which takes no
 * secret. A provisioned PSK stays in use, since the device may be unable to derive it.
 */
export interface PskSuspectEvent {
  readonly type: 'psk-suspect';
  /** The hub's node id. */
  readonly nodeId: string;
}

/**
 * Call `resume`, and pass it the shared secret if the event has a `publicKey`. That is X25519 of the client's static private
 * key and `publicKey`: the keyring has no private key, since it is kept elsewhere, such as in a secure element. Without a
 * `publicKey` the session is paced: call `resume` as soon as there is time for the next step.
 */
export interface WaitingEvent {
  readonly type: 'waiting';
  /** A public key of the hub, 32 bytes. */
  readonly publicKey: Bytes | undefined;
}

/**
 * Warn the person: this hub is not pinned, although other hubs are. It is a new hub, a known hub under a new name, or an
 * impostor who knows the password. The session goes on, unless you call `closed()` before you write anything.
 */
export interface NewHubEvent {
  readonly type: 'new-hub';
  /** The hub's node id. */
  readonly nodeId: string;
}

/**
 * Store `key`, the hub's static public key, under `nodeId`, before you carry out the events that follow. It confirms a suspect pin
 * if it is the same key. With `replaces` it takes the place of another one: tell the person, with both fingerprints.
 */
export interface PinEvent {
  readonly type: 'pin';
  /** The hub's node id. */
  readonly nodeId: string;
  /** The hub's static public key, 32 bytes. */
  readonly key: Bytes;
  /** The key that was pinned, 32 bytes, if it is stale: the hub, which knows the password, has another key now. */
  readonly replaces?: Bytes | undefined;
}

/**
 * Keep the pin, and make the next attempt with XXpsk2 alone, as a session does whose pin `isSuspect`. A KKpsk0 with the pin
 * failed: either the hub has a new key, or a third party interfered, which takes no secret.
 */
export interface PinSuspectEvent {
  readonly type: 'pin-suspect';
  /** The hub's node id. */
  readonly nodeId: string;
}

/**
 * Warn the person: a pinned hub has refused KKpsk0, and no hub has accepted the static key yet. If the hub has pinned another
 * key of this client, which was lost or belongs to another program, it will refuse this one. The message of `error` says what
 * an operator can do.
 */
export interface StaticKeyFreshEvent {
  readonly type: 'static-key-fresh';
  /** The hub's node id. */
  readonly nodeId: string;
  /** A LocalError with the code `static-key-fresh`. */
  readonly error: LocalError;
}

/** Send with `sendJson` and `sendBinary`. A hub that has pinned another key for this client may still close: see `closed`. */
export interface ReadyEvent {
  readonly type: 'ready';
  /** The node id of the hub, which has proved that it holds `hubKey`. */
  readonly nodeId: string;
  /** The handshake pattern that was used. */
  readonly pattern: Pattern;
  /** The cipher suite that was used. */
  readonly suite: Suite;
  /** The hub's static public key, 32 bytes. */
  readonly hubKey: Bytes;
  /** The handshake hash, for channel binding (Noise spec, section 11.2), 32 bytes. */
  readonly handshakeHash: Bytes;
  /** The session id in the client's HELLO; `undefined` if the `session` of the `hello` option has none. */
  readonly sessionId: string | undefined;
  /** The JSON encoding that the hub chose, if it named one. For information only: JSON frames are plain UTF-8. */
  readonly encoding: string | undefined;
  /** The hub's name for this client, if its HELLO has one: replies name it in their `context`. */
  readonly peer: string | undefined;
  /** Whether the hub offers to write bus messages in a binary form, as the option `binarize` requests. */
  readonly binarize: boolean;
}

/**
 * Close the transport: `error.code` says why. The WebSocket close code is advice: 1008 until the handshake is done, 1002 afterwards. The `close()` of a
 * browser's WebSocket takes 1000 and 3000 to 4999 only; use 1000 or 4008 there.
 */
export interface FailedEvent {
  readonly type: 'close';
  /** The WebSocket close code. */
  readonly code: 1008 | 1002;
  /** Why the session failed. The message says what an operator can do. */
  readonly error: LocalError | RemoteError;
}

/** Connect again as `retry` says, with growing pauses. `closed` returns this event, once the transport has closed. */
export interface EndedEvent {
  readonly type: 'ended';
  /**
   * `refused`: the hub does not want this client, or this side does not want the hub. `client-key-refused`: most likely the hub
   * has pinned another static key for this client. `dropped`: the connection was lost. `timeout`: the integrator gave up.
   */
  readonly reason: 'refused' | 'client-key-refused' | 'dropped' | 'timeout';
  /**
   * When to dial again: `never` until a person has acted, `later` after a pause, `now` without one. Repeated attempts
   * always need growing pauses: see ConnectionPolicy.
   */
  readonly retry: 'never' | 'later' | 'now';
  /** The cause, as far as known. If the session had failed, its first error. */
  readonly error: LocalError | RemoteError;
  /** The handshake pattern, if one had been chosen. */
  readonly pattern: Pattern | undefined;
  /** The WebSocket close code given to `closed`. */
  readonly code: number | undefined;
  /** The HTTP status given to `closed`. */
  readonly status: number | undefined;
  /** The reason given to `closed`. The peer wrote it. */
  readonly closeReason: string | undefined;
}

/** Store `key`, the client's static public key, with its access key. Each access key has one such key. */
export interface PinClientEvent {
  readonly type: 'pin';
  /** The client's static public key, 32 bytes. */
  readonly key: Bytes;
}

/** Send messages: this client knows the password, holds `clientKey`, and takes part in this very connection. */
export interface HubReadyEvent {
  readonly type: 'ready';
  /** The handshake pattern that was used. */
  readonly pattern: Pattern;
  /** The cipher suite that was used. */
  readonly suite: Suite;
  /** The client's static public key, 32 bytes. */
  readonly clientKey: Bytes;
  /** The handshake hash, for channel binding (Noise spec, section 11.2), 32 bytes. */
  readonly handshakeHash: Bytes;
  /** Whether the client prefers binary frames, from message 1. */
  readonly binarize: boolean;
  /** The JSON encodings that the client understands, from message 1. */
  readonly encodings: readonly string[];
}

/**
 * Read who the client is: this is the payload of its HELLO, its first transport message, or a RemoteError: `bad-hello` if the
 * HELLO is not valid, `no-hello` if it is not a HELLO at all. In the latter case it follows as a message too.
 */
export type HelloEvent =
  | {
      readonly type: 'hello';
      /** The payload: `pubkey`, `session`, `site_id`, and whatever else the client sent. */
      readonly payload: JsonObject;
      readonly error: undefined;
    }
  | {
      readonly type: 'hello';
      readonly payload: undefined;
      /** `bad-hello` or `no-hello`. */
      readonly error: RemoteError;
    };

/** The events that both sessions emit. */
export type CommonEvent = TransmitEvent | FailedEvent | EndedEvent | Reassembled;

/** The events of a ClientSession. */
export type SessionEvent =
  | CommonEvent
  | PskNeededEvent
  | PskEvent
  | PskSuspectEvent
  | WaitingEvent
  | NewHubEvent
  | PinEvent
  | PinSuspectEvent
  | StaticKeyFreshEvent
  | ReadyEvent;

/** The events of a HubSession. */
export type HubSessionEvent = CommonEvent | PinClientEvent | HubReadyEvent | HelloEvent;

/** What the client and its transports agree on: the platform's part of a client. */
import type { Closing, CryptoProvider, JsonObject, LinkClosing, RandomBytes } from 'hub-protocol';
import type { ReadBinary } from 'hub-protocol/binary';
import type { Derive, KeyringStore } from './options.ts';
import type { Place } from './place.ts';

/** A connection, for its transport. After the end of the connection none of these functions does anything. */
export interface Connection {
  /** Whether the connection is ready. */
  isReady(): boolean;
  /** Sends an envelope if the connection is ready. */
  send(envelope: JsonObject): void;
  /** Called over MQTT when the client may announce itself. */
  opened(): void;
  /**
   * Counts what the transport holds of a message that has not arrived whole.
   * @param bytes - as it lies in memory
   */
  arriving(bytes: number): void;
  /** A message arrived. */
  received(data: string | Uint8Array): void;
  /** The transport has ended, or was not opened. It is then closed, too. An Error means that this side has failed. */
  closed(closing?: Closing | LinkClosing | Error): void;
}

/** A transport of one connection. */
export interface Transport {
  /** Writes a message. If that fails, it calls `closed`, since the nonce is spent. */
  write(data: string | Uint8Array): void;
  /** What was written and has not left, in bytes (default: it is not known). */
  unsent?(): number;
  /** Closes, once. */
  close(code: number): void;
}

/** An error of a client. */
export type Failure = Error & { code?: string; platformCode?: string };

/** The platform's part. */
export interface Platform {
  readonly crypto: CryptoProvider;
  readonly randomBytes: RandomBytes;
  readonly readBinary: ReadBinary;
  readonly derive: Derive;
  readonly keyring: KeyringStore;
  /** What an operator must know of an error, if it lies in this transport. */
  advise?(error: Failure): string | undefined;
  /** Where the connections lead, for sentences. */
  readonly place?: Place | undefined;
  /** Whether the transport may not see that the hub has gone: it cannot ping it. */
  readonly isBlind?: boolean;
  /** Opens a transport. It does not call any function of the connection before it has returned. */
  open(connection: Connection): Transport;
}

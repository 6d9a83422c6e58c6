/** What a client takes and tells, and what a platform brings to it. */
import type {
  ClientOptions,
  ClientSession,
  Closing,
  Crypto,
  HubEvent,
  Identity,
  JsonObject,
  Keyring,
  LocalError,
  PolicyDecision,
  PolicyOptions,
  RandomBytes,
  RemoteError,
  SchedulerOptions,
  SessionEvent,
} from 'hub-protocol';
import type { BinaryPayloadType, ReadBinary } from 'hub-protocol/binary';
import type { ActionRequest, CodeRequest, ReadyEvent, UtteranceRequest } from 'hub-protocol/parts';

/** What all transports take. */
export interface ConnectOptions {
  /** From `parseIdentity`. */
  identity: Identity;
  /** The name of the program, for the logs of the hub (default `hub-protocol-client`). */
  userAgent?: string | undefined;
  /** Whether the server may be without TLS (default false). Everybody on the way then reads the access key. */
  allowPlaintext?: boolean | undefined;
  /** The time between pings, in milliseconds (default 30000; over MQTT 120000, in browsers 60000), or over HTTPS between polls (1000). */
  pingEvery?: number | undefined;
  /** Derives the PSK (default: in a worker). */
  derive?: Derive | undefined;
  /** Computes X25519 of the static private key and a public key, 32 bytes each, for a keyring without the private key. */
  sharedSecret?: ((publicKey: Uint8Array) => Promise<Uint8Array>) | undefined;
  /** Options of the ClientSession, such as `trust: 'pinned-only'`. */
  session?: Partial<Omit<ClientOptions, 'keyring' | 'siteId'>> | undefined;
  /** Options of the ConnectionPolicy, such as `onKkFailure: 'keep-pin'`. */
  policy?: Partial<PolicyOptions> | undefined;
  /** Options of the RequestScheduler, such as its deadlines. */
  requests?: Omit<SchedulerOptions, 'sessionId'> | undefined;
}

/** What `connect` takes on Node.js. */
export interface NodeOptions extends ConnectOptions {
  /** The path of the keyring's file, which is created if it is not there, or where else the keyring is kept. */
  keyring: string | KeyringStore;
  /** The certificate authority of the server's certificate as PEM, if it is not a public one. */
  ca?: string | undefined;
}

/**
 * @param salt - 32 bytes
 * @param onProgress - is called with the progress, from 0 to 1
 * @returns the PSK, 32 bytes
 */
export type Derive = (
  password: string,
  salt: Uint8Array,
  onProgress: (progress: number) => void,
) => Promise<Uint8Array>;

/** Where a keyring is kept. */
export interface KeyringStore {
  /** Throws if the keyring cannot be read. It makes no new one in place of a keyring that is there. */
  load(): Keyring;
  /** Applies a change to what is stored now, and stores the result before it returns. */
  update(change: (stored: Keyring) => Keyring): void;
}

/** What a request says: a text, or a text with a language and other fields, or a command, or a code that was scanned. */
export type Question =
  | string
  | WithoutId<UtteranceRequest>
  | WithoutId<ActionRequest>
  | WithoutId<CodeRequest>;
type WithoutId<Request> = Omit<Request, 'requestId'>;

/** A person has to act. Then call `resume`, or `trust` with this event, or `end`. */
export interface AskEvent {
  readonly type: 'ask';
  /** The cause. If the code is `hub-key-changed`, it has `nodeId`, `pinnedKey` and `hubKey`. */
  readonly error: Error | LocalError | RemoteError;
  /** What to tell the person. */
  readonly tell: string;
}

/** A message arrived. The session takes it next. */
export interface ReceivedEvent {
  readonly type: 'received';
  readonly data: string | Uint8Array;
}

/** An envelope was sealed and written, as the `transmit` events before tell. */
export interface SentEvent {
  readonly type: 'sent';
  readonly envelope: JsonObject;
}

/** What happens, by `type`. */
export type ClientEvent =
  // A connection is being made.
  | { readonly type: 'connecting' }
  // The PSK is being derived, which takes a second or several. `progress` goes from 0 to 1.
  | { readonly type: 'deriving'; readonly progress: number }
  // The connection is ready.
  | ({ readonly type: 'connect' } & Pick<ReadyEvent, 'nodeId' | 'hubKey' | 'pattern' | 'suite'>)
  // The hub said something unasked.
  | { readonly type: 'message'; readonly message: HubEvent }
  // The hub sent bytes, such as speech: `bin_type` says what they are.
  | {
      readonly type: 'bytes';
      readonly bytes: Uint8Array;
      readonly bin_type?: BinaryPayloadType;
      readonly metadata?: JsonObject;
    }
  // The connection ended, or could not be made. `tell` says why, for a person.
  | { readonly type: 'close'; readonly error: LocalError | RemoteError; readonly tell: string }
  // After so many milliseconds the client connects again. From the second failure of a kind on, `tell` is for a person.
  | { readonly type: 'reconnect'; readonly after: number; readonly tell: string | undefined }
  | AskEvent
  // `end` was called.
  | { readonly type: 'end' }
  // For a log or a display: everything that happens.
  | { readonly type: 'trace'; readonly what: Traced };

/** What the session emits and is given, and what the policy decides. */
export type Traced = SessionEvent | PolicyDecision | ReceivedEvent | SentEvent;

/** A connection, for its transport. */
export interface Connection {
  readonly session: ClientSession;
  /** Seals an envelope and writes it. */
  send(envelope: JsonObject): void;
  received(data: string | Uint8Array): void;
  closed(closing?: Closing): void;
  /** Carries out what a method of the session has returned. */
  run(events: SessionEvent[]): void;
}

export interface Transport {
  /** Writes a message. If that fails, it calls `closed`, since the nonce is spent. */
  write(data: string | Uint8Array): void;
  /** Is called when the session is ready. */
  ready?(): void;
  /** Closes. Further calls do nothing. */
  close(code: number): void;
}

/** What a platform brings. */
export interface Platform {
  readonly crypto: Crypto;
  readonly randomBytes: RandomBytes;
  readonly readBinary: ReadBinary;
  readonly derive: Derive;
  readonly keyring: KeyringStore;
  /** Opens a transport. It calls nothing of the connection before it has returned. */
  open(connection: Connection): Transport;
}

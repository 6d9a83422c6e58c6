/** The options and events of a client. */
import type {
  ActionRequest,
  CodeRequest,
  HubEvent,
  Identity,
  JsonObject,
  Keyring,
  LinkEvent,
  LocalError,
  RemoteError,
  Reply,
  SchedulerOptions,
  UtteranceRequest,
} from 'hub-protocol';
import type { BinaryPayloadType } from 'hub-protocol/binary';
import type { ClientOptions, PolicyDecision, PolicyOptions, SessionEvent } from 'hub-protocol/parts';

/** The options of all transports. */
export interface ConnectOptions {
  /** From `parseIdentity`. */
  identity: Identity;
  /**
   * The language of the person, as a tag such as `de-de`: of each question that names none (default `en-us`), of speech, and of the
   * AI disclosure.
   */
  lang?: string | undefined;
  /** What the program knows about the person, for the event `disclosure` (default: one person, who reads, and begins now). */
  disclosure?:
    | {
        /** Whether the client speaks (default false): it then speaks the disclosure in each conversation. */
        isVoice?: boolean | undefined;
        /**
         * Whether the client is a shared device, a kiosk or a public page (default false). Call `newConversation` when another person may
         * have come: the disclosure is then due again.
         */
        isShared?: boolean | undefined;
        /**
         * When the program last gave the disclosure to this person (default `never`): `earlier-session` if it has stored that it did so
         * before this start.
         */
        lastGiven?: 'never' | 'earlier-session' | 'this-session' | undefined;
      }
    | undefined;
  /**
   * Whether the program plays what the hub says, and calls `spoken` then (default: `disclosure.isVoice`). A client that only shows it tells
   * the hub 20 ms later that it was played, unless the answer has ended: a skill may wait for that.
   */
  plays?: boolean | undefined;
  /** The name of the program, for the logs of the hub (default `hub-protocol-client`). */
  userAgent?: string | undefined;
  /** Whether the server may be without TLS (default false). Anyone on the network path can then read the access key. */
  allowPlaintext?: boolean | undefined;
  /** The time between pings, in milliseconds (default 15000; over MQTT 120000, in browsers 60000), or over HTTPS between polls (1000). */
  pingEvery?: number | undefined;
  /**
   * About how much memory a hub can make the client take, in bytes, from 1 MiB to 1 GiB (default 64 MiB), besides the 64 MiB for deriving a
   * PSK. The bounds of messages, responses and queues follow from it.
   */
  maxMemory?: number | undefined;
  /**
   * How many bytes a message of the hub may have outside of its strings, which is what its values take (default a 64th of `maxMemory`, at most
   * 1 MiB). One with more is `dropped` before anything reads it.
   */
  maxValues?: number | undefined;
  /** Derives the PSK (default: in a worker; React Native has none, so it is required there). */
  derive?: Derive | undefined;
  /**
   * Computes X25519 of the static private key and a public key, 32 bytes each, if the private key is in a secure element (default:
   * from the keyring).
   */
  sharedSecret?: ((publicKey: Uint8Array) => Promise<Uint8Array>) | undefined;
  /** Options of the ClientSession ({@link ClientOptions}), such as `trust: 'pinned-only'` (default: its defaults). */
  session?: Partial<Omit<ClientOptions, 'keyring' | 'siteId' | 'maxMessage' | 'readBinary'>> | undefined;
  /**
   * Options of the ConnectionPolicy ({@link PolicyOptions}), such as `onKkFailure: 'keep-pin'`, which asks a person before another key of a pinned hub is trusted
   * (default: its defaults).
   */
  policy?: Partial<Omit<PolicyOptions, 'randomBytes'>> | undefined;
  /** Options of the RequestScheduler ({@link SchedulerOptions}), such as `deadlines` (default: its defaults). */
  requests?: Omit<SchedulerOptions, 'sessionId'> | undefined;
}

/** The options of `connect` on Node.js. */
export interface NodeOptions extends ConnectOptions {
  /** The path of the keyring's file, which is created if it does not exist, or another store. */
  keyring: string | KeyringStore;
  /** How to reach the server (default: as Node.js reaches any). */
  socket?: SocketOptions | undefined;
}

/** How to reach the server, over any transport of Node.js. */
export interface SocketOptions {
  /** The certificate authority of the server's certificate as PEM (default: the public ones). */
  ca?: string | undefined;
  /** The certificate of this client as PEM, if the server wants one (default: none). */
  cert?: string | undefined;
  /** The private key of `cert` as PEM (default: none). */
  key?: string | undefined;
  /** What `key` is encrypted with (default: it is not). */
  passphrase?: string | undefined;
  /** The name that the server's certificate must have (default: that of the address). */
  servername?: string | undefined;
  /** More headers of each HTTP request, such as a `cookie` or `authorization` for what stands in front of the hub (default: none). */
  headers?: { readonly [name: string]: string } | undefined;
  /** An agent of `node:http`, or of `node:https` if the address has TLS, such as one for a proxy (default: the proxy of the environment). */
  agent?: object | undefined;
  /** Resolves names, as `dns.lookup` does (default: that). */
  lookup?:
    | ((
        hostname: string,
        options: { all?: boolean; family?: number | 'IPv4' | 'IPv6' },
        callback: (
          error: Error | null,
          address: string | { address: string; family: number }[],
          family?: number,
        ) => void,
      ) => void)
    | undefined;
  /** The version of IP, if only one may be used (default: any). */
  family?: 4 | 6 | undefined;
  /** The address of this machine to connect from (default: the system chooses). */
  localAddress?: string | undefined;
}

/** The options of `connect` over MQTT. */
export interface MqttOptions extends NodeOptions {
  /** What the broker is to know this client by, the same at every start (default: made of `userAgent` and the access key). */
  clientId?: string | undefined;
  /** Whether the broker tells the hub if this client is lost (default true). A broker may allow no such will. */
  will?: boolean | undefined;
}

/**
 * Derives a PSK.
 * @param password - the password of the identity
 * @param salt - 32 bytes
 * @param onProgress - called with the progress, from 0 to 1
 * @param signal - aborted when nobody needs the PSK any more: then stop, and reject. No other derivation starts before that
 * @returns the PSK, 32 bytes
 */
export type Derive = (
  password: string,
  salt: Uint8Array,
  onProgress: (progress: number) => void,
  signal: AbortSignal,
) => Promise<Uint8Array>;

/** A store of a keyring. */
export interface KeyringStore {
  /**
   * Reads the keyring. It never replaces an existing keyring with a new one.
   * @returns the keyring that is stored now
   * @throws an error if it cannot be read
   */
  load(): Keyring;
  /**
   * Applies a change to the stored keyring, and stores the result before it returns, or later, within five seconds: what depends on it waits.
   * @param change - returns the changed keyring, or the same one
   * @returns nothing, or a promise for the time when the result is stored
   */
  update(change: (stored: Keyring) => Keyring): void | Promise<void>;
}

/** The content of a request: a text, or `{ text, lang, … }`, or a command `{ payload }`, or a scanned code `{ value }`. */
export type Question =
  | string
  | WithoutId<UtteranceRequest>
  | WithoutId<ActionRequest>
  | WithoutId<CodeRequest>;
type WithoutId<Request> = Omit<Request, 'requestId'>;

/** How to ask. */
export interface AskOptions {
  /**
   * How long the question may take in all, in milliseconds, at most a day. Then it rejects if it was not sent, or else ends with what
   * has come (default: it waits a minute for a connection that is ready, and then as long as the hub answers).
   */
  timeout?: number | undefined;
  /** The id of the request in the hub's messages and logs (default: a random one). No open question may have it. */
  requestId?: string | undefined;
  /** Cancels the question: `ask` rejects with the reason (default: none). The hub may act on a question that was sent. */
  signal?: AbortSignal | undefined;
  /** Is called with each part of the answer, as it comes (default: none). The parts together are the answer. */
  onPart?: ((part: Part) => void) | undefined;
  /**
   * Whether the open questions of the same session end before this one is put, with the parts that have come, and `ending` `interrupted`
   * (default false: it waits for their answers). What the hub adds to those answers is told as `message`.
   */
  interrupt?: boolean | undefined;
}

/** A part of an answer: what the hub has just said or shown, with the `message` that carried it. */
export type Part = Omit<Told<'part'>, 'type'>;

/** How a request ended. */
export interface Answer extends Omit<Told<'finish'>, 'type' | 'ending'> {
  /** `closed` only if the connection ended after the hub had given a part of the answer; `interrupted` by the option of {@link AskOptions}, or by `stop`. */
  readonly ending: Told<'finish'>['ending'] | 'interrupted';
  /** If the answer is missing or incomplete, such as a truncated one, what to say to whoever stands in front; otherwise `undefined`. */
  readonly tell: string | undefined;
  /** The same for the operator or the developer. */
  readonly advice: string | undefined;
  /** Who has to act, as in {@link AskError}. */
  readonly who: 'nobody' | 'operator' | 'developer' | undefined;
}

/** What `ask` rejects with: the cause, which is a `LocalError`, a `RemoteError`, or an error of the keyring's store. */
export interface AskError extends Error {
  /** What went wrong, as in the `close` event. An error of a store of your own has its code, or none. */
  readonly code?: string;
  /** The id of the request, as in its envelope. */
  readonly requestId: string;
  /** For whoever stands in front: what happens now, and whom to call. */
  readonly tell: string;
  /** For the operator or the developer: the cause, with codes, fingerprints and commands, and what to check. */
  readonly advice: string;
  /** Who has to act: the `operator` of the hub, the network or the device, the `developer` of the program, or `nobody`, since it passes. */
  readonly who: 'nobody' | 'operator' | 'developer';
  /** Scheme, host and port of the hub, such as `wss://hub.example:443`, or of the broker. */
  readonly endpoint: string | undefined;
}

/** How to ask the hubs above. */
export interface QueryOptions {
  /** How long to wait for a connection and for the answer together, in milliseconds, at most a day (default 60000). */
  timeout?: number | undefined;
  /** Ends the waiting: the promise rejects with its reason (default: none). */
  signal?: AbortSignal | undefined;
}

/** How to ask all hubs. */
export interface CascadeOptions extends QueryOptions {
  /** How long to collect answers, in milliseconds, at most a day (default 10000). Nobody knows how many come. */
  timeout?: number | undefined;
  /** Called with each answer as soon as it is complete (default: none). */
  onAnswer?: ((answer: MeshAnswer) => void) | undefined;
}

/** The answer of one hub to `query` or `cascade`. */
export interface MeshAnswer
  extends Pick<Told<'finish'>, 'ending' | 'reply' | 'isTruncated'>,
    Pick<Answer, 'tell' | 'advice' | 'who'> {
  /** The node id of the hub that answers; `undefined` if it does not say. */
  readonly hub: string | undefined;
}

type Told<Type extends LinkEvent['type']> = Extract<LinkEvent, { type: Type }>;

/** A person is asked to act, while the client dials on. `act` is what the person can do; `resume` and `end` can be called in any case. */
export type AskEvent = {
  /** A person is asked to act, while the client dials on. `act` is what the person can do; `resume` and `end` can be called in any case. */
  readonly type: 'ask';
  /** The client connects again after this many milliseconds all the same. */
  readonly after: number;
} & Pick<AskError, 'tell' | 'advice' | 'who'> &
  (
    | {
        /** `trust`: confirm the hub’s new key with its operator, then pass this event to `trust`. */
        readonly act: 'trust';
        /** The cause, `hub-key-changed`, with both keys. */
        readonly error: RemoteError & Required<Pick<RemoteError, 'nodeId' | 'pinnedKey' | 'hubKey'>>;
      }
    | {
        /** `resume`: remove the cause, then call `resume` to connect at once. */
        readonly act: 'resume';
        /** The cause. */
        readonly error: Error | LocalError | RemoteError;
      }
  );

/**
 * The data of common messages of OpenVoiceOS and HiveMind, by their type: as they send it, which nothing checks. Any field may be missing.
 */
export interface BusMessages {
  /** What the assistant says, in OpenVoiceOS 2. */
  readonly speak: Said;
  /** What the assistant says, in OpenVoiceOS 3. */
  readonly 'ovos.utterance.speak': Said;
  /** A skill begins. */
  readonly 'mycroft.skill.handler.start': Skill;
  /** A skill has ended. */
  readonly 'mycroft.skill.handler.complete': Skill;
  /** A sound is to be played, whose file the hub has. */
  readonly 'mycroft.audio.play_sound': {
    /** Where the hub has it. */
    uri?: string;
  };
  /** What the hub has understood, or another client has asked. */
  readonly 'recognizer_loop:utterance': {
    /** The text, and others that are less likely. */
    utterances?: string[];
    /** Its language. */
    lang?: string;
  };
  /** The hub has understood nothing. */
  readonly 'recognizer_loop:speech.recognition.unknown': {
    /** Why, such as `unsupported_audio_format`. */
    error?: string;
  };
  /** The volume, which was asked for with `mycroft.volume.get`. */
  readonly 'mycroft.volume.get.response': {
    /** From 0 to 1. */
    percent?: number;
  };
  /** The hub refuses a message: `readRefusal` reads all of it. */
  readonly 'hive.policy.denied': {
    /** The type of that message. */
    denied_type?: string;
    /** The reason, for programs. */
    code?: string;
  };
}

interface Said {
  /** The text. */
  utterance?: string;
  /** Its language. */
  lang?: string;
  /** Whether it waits for an answer of the person. */
  expect_response?: boolean;
}

interface Skill {
  /** The skill and its handler, such as `Stories.tell`. */
  name?: string;
}

/** The events of a client, by `type`. */
export type ClientEvent =
  | {
      /** A connection is being made. */
      readonly type: 'connecting';
    }
  | {
      /** The PSK is being derived, which takes a second or more. */
      readonly type: 'deriving';
      /** From 0 to 1. */
      readonly progress: number;
    }
  | ({
      /** The connection is ready. */
      readonly type: 'connect';
    } & Pick<Extract<SessionEvent, { type: 'ready' }>, 'nodeId' | 'hubKey' | 'pattern' | 'suite'>)
  | {
      /**
       * A conversation begins: show or speak `text` where it takes place, before or with the answer, whole and word for word. It comes
       * when the first question is sent, or before the hub speaks on its own initiative; not again after a reconnect.
       */
      readonly type: 'disclosure';
      /** The text from the identity. `undefined` if that has none in this language: fetch it (docs/reference/identity.md). */
      readonly text: string | undefined;
      /** The language of the text, or the language to fetch. */
      readonly language: 'en' | 'fr';
    }
  | {
      /** The hub sent a bus message that is no part of an answer, such as that a skill has started. */
      readonly type: 'message';
      /** The message, as `HubEvent` describes it. Its `requestId` is that of the question to which it belongs, if the hub says so. */
      readonly message: HubEvent;
    }
  | {
      /** The hub spoke on its own initiative, or after the end of an answer. */
      readonly type: 'speak';
      /** What it said, with white space collapsed. Empty if it only showed something. */
      readonly text: string;
      /** The same for a speech synthesizer, without markup. */
      readonly speech: string;
      /** What it showed, as in `reply.displayItems`. */
      readonly displayItems: Reply['displayItems'];
      /** Whether the hub waits for an answer of the person: ask that next. */
      readonly expectsAnswer: boolean;
      /** The message itself. */
      readonly message: HubEvent;
    }
  | {
      /**
       * An envelope arrived that is no bus message: an answer to `query` or `cascade`, or a `propagate`, `ping`, `rendezvous` or
       * `intercom`, which is not decrypted.
       */
      readonly type: 'envelope';
      /** The envelope, with `msg_type`, `payload` and `metadata`. Read a bus message inside with `readHubEvent(envelope.payload)`. */
      readonly envelope: JsonObject;
    }
  | {
      /** The hub sent bytes, such as speech or a file. */
      readonly type: 'bytes';
      /** The bytes as they were sent. */
      readonly bytes: Uint8Array;
      /** The type of the bytes, if the hub sent it. */
      readonly bin_type?: BinaryPayloadType;
      /** The fields that describe the bytes, such as `sample_rate`. */
      readonly metadata?: JsonObject;
    }
  | ({
      /** The connection ended, or could not be made. */
      readonly type: 'close';
      /** The cause: branch on its `code`. */
      readonly error: LocalError | RemoteError;
    } & Pick<AskError, 'tell' | 'advice' | 'who'>)
  | ({
      /** The client connects again after a pause. */
      readonly type: 'reconnect';
      /** The pause, in milliseconds. */
      readonly after: number;
      /** The cause, from the second failure of the same kind on; at a start, if there is no connection, from the first one on. */
      readonly error: Error | undefined;
    } & Pick<Answer, 'tell' | 'advice' | 'who'>)
  | AskEvent
  | ({
      /** A message that `send` or `sendBytes` has accepted was not sent, and will not be. */
      readonly type: 'unsent';
      /** As it was passed to `send`, or the bytes that `sendBytes` made. */
      readonly message: JsonObject | Uint8Array;
      /** The cause. */
      readonly error: LocalError | RemoteError;
    } & Pick<AskError, 'tell' | 'advice' | 'who'>)
  | ({
      /** A message of the hub was dropped: it is too long, not UTF-8, or a binary message that cannot be read. */
      readonly type: 'dropped';
    } & Pick<AskError, 'tell' | 'advice' | 'who'> &
      Omit<Told<'dropped'>, 'type'>)
  | ({
      /** The hub is not pinned, although others are: a new hub, one with a new name, or an impostor who knows the password. */
      readonly type: 'new-hub';
    } & Omit<Told<'new-hub'>, 'type'>)
  | ({
      /** A pinned hub has refused KKpsk0, and no hub has accepted the key of this client yet: it may refuse it. */
      readonly type: 'static-key-fresh';
    } & Pick<AskError, 'tell' | 'advice' | 'who'> &
      Omit<Told<'static-key-fresh'>, 'type'>)
  | ({
      /**
       * The hub knows the password, and has another key than the one that was pinned: the new key is pinned now. An impostor who knows the
       * password looks the same.
       */
      readonly type: 'hub-replaced';
    } & Pick<AskError, 'tell' | 'advice' | 'who'> &
      Omit<Told<'hub-replaced'>, 'type'>)
  | {
      /** `end` was called. */
      readonly type: 'end';
    }
  | {
      /** Everything that happens, for a log or a display. It contains decrypted messages. */
      readonly type: 'trace';
      /** An input or an event of the session, or a decision of the policy. */
      readonly what: Traced;
    };

/** The inputs and events of the session, and the decisions of the policy. */
export type Traced =
  | SessionEvent
  | PolicyDecision
  | {
      /** A message arrived. It is passed to the session next. */
      readonly type: 'received';
      /** The message: text in the handshake, bytes on the encrypted session. */
      readonly data: string | Uint8Array;
    }
  | {
      /** An envelope was sealed and written. */
      readonly type: 'sent';
      /** The envelope, with the content of a question and its `request_id`. */
      readonly envelope: JsonObject;
    };

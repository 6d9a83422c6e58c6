/** What the example clients take, and what they can do. */
import type {
  FinishDecision,
  HubEvent,
  Identity,
  PolicyDecision,
  PolicyOptions,
  SessionEvent,
} from 'hub-protocol';
import type { KeyringFile } from './keyring-file.ts';

export interface ClientOptions {
  identity: Identity;
  keyring: Pick<KeyringFile, 'load' | 'update'>;
  /** Is called when a person has to act, as the error's message says. `resume` connects again. */
  ask: (error: Error) => void;
  /** Is called with what the hub says unasked. */
  handle?: (event: HubEvent) => void;
  /** Is told everything that happens, for a log or a display. */
  observe?: (what: Observed) => void;
  /** The certificate authority of the server's certificate as PEM, if it is not a public one. */
  ca?: string;
  /** Whether the server may be without TLS. */
  allowPlaintext?: boolean;
  /** `pinned-only`: connect to no hub whose key is not in the keyring, as `hub-protocol provision --pin` puts it there. */
  trust?: 'first-use' | 'pinned-only';
  derive?: (password: string, salt: Uint8Array) => Promise<Uint8Array>;
  /** Options of the policy: its times, and what to do with the pin after a failed KKpsk0. */
  times?: Omit<PolicyOptions, 'randomBytes'>;
  /** The time between pings, in milliseconds. */
  pingEvery?: number;
}

/** `received` is what arrived, before the session takes it. */
export type Observed = SessionEvent | PolicyDecision | { type: 'received'; data: string | Uint8Array };

export interface Client {
  /** Resolves when the request has ended; `ending` says how. Rejects if there is no connection that is ready. */
  ask(text: string): Promise<FinishDecision>;
  /** Ends the connection, and makes no other. */
  goodbye(): void;
  /** Connects again at once: after a person has acted, or after `goodbye`. */
  resume(): void;
}

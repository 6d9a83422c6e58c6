/**
 * A client's identity, as it is read from what was issued: what names the client to a hub, what proves it, and where the
 * hub is. Spec, "Client identity".
 */
import type { Mqtt } from '../mqtt-topics/mqtt.ts';

/** Explicit addresses of the hub, as issued. They may contain credentials. */
export interface Endpoints {
  readonly wss?: string;
  readonly https?: string;
  readonly mqtt?: string;
}

/** Whether the hub serves each protocol. */
export interface Protocols {
  /** Default true. */
  readonly wss: boolean;
  /** Default false. */
  readonly https: boolean;
  /** Default: whether `mqtt` is there. */
  readonly mqtt: boolean;
}

/**
 * Fields that hold a secret do not enumerate, so spread, Object.keys and structuredClone pass over them: read them by
 * their names. These are the credentials, the topics, and every string with one of them, or with credentials of a URL,
 * inside.
 */
export interface Identity {
  /** What the hub knows the client by. */
  readonly accessKey: string;
  /** What the PSK is derived from. */
  readonly password: string;
  /** A label for the client, service, device or runtime, which it sends to the hub; empty by default. */
  readonly siteId: string;
  /** As issued. Protocol 3 does not use it. */
  readonly cryptoKey?: string;
  /** As issued. Protocol 3 does not use it. */
  readonly publicKey?: string;
  /** The hub's host, or a URL, for protocols without an address in `dataPlaneEndpoints`. It may contain credentials. */
  readonly defaultMaster?: string;
  /** For a `defaultMaster` without a port (default 5679). */
  readonly defaultPort: number;
  /** For `defaultMaster`; empty by default. */
  readonly defaultPath: string;
  readonly dataPlaneEndpoints: Endpoints;
  readonly protocols: Protocols;
  /** Present if an address, a user name and a password were issued for the broker. */
  readonly mqtt?: Mqtt;
  /** The text to show at first contact: in English, or one for each language. */
  readonly aiDisclosure?: string | { readonly [language: string]: string };
}

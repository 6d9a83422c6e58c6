/**
 * A client's identity as parseIdentity() returns it: its name, the secrets that prove it, and the hub's address. Spec,
 * "Client identity".
 */
import type { Mqtt } from '../mqtt-topics/mqtt.ts';

/** Explicit addresses of the hub, as issued. They may contain credentials. */
export interface Endpoints {
  /** A wss: or ws: URL. */
  readonly wss?: string;
  /** An https: or http: URL. */
  readonly https?: string;
  /** The broker's address, used if `mqtt` has none. */
  readonly mqtt?: string;
}

/** Whether the hub serves each protocol. */
export interface Protocols {
  /** WebSocket, with or without TLS (default true). */
  readonly wss: boolean;
  /** HTTP, with or without TLS (default: true if `dataPlaneEndpoints` has an address for it). */
  readonly https: boolean;
  /** MQTT (default: true if the identity has an `mqtt` object with the broker's credentials). */
  readonly mqtt: boolean;
}

/**
 * A client's identity. Fields that hold a secret do not enumerate, so spread, Object.keys and structuredClone skip
 * them: read them by name. These fields are the credentials, the topics, and every string that contains one of them or
 * the credentials of a URL.
 */
export interface Identity {
  /** The name by which the hub knows the client. It is a secret. */
  readonly accessKey: string;
  /** The password from which the PSK is derived. */
  readonly password: string;
  /** A label of the client, service, device or runtime, which the client sends to the hub; empty by default. */
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
  /** The explicit addresses that were issued; empty by default. */
  readonly dataPlaneEndpoints: Endpoints;
  /** Which protocols the hub serves. */
  readonly protocols: Protocols;
  /** The MQTT broker. Present if an address, a user name and a password were issued for the broker. */
  readonly mqtt?: Mqtt;
  /** The text to show at first contact: an English text, or one text for each language, by language tag. */
  readonly aiDisclosure?: string | { readonly [language: string]: string };
}

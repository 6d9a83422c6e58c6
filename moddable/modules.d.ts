/** The types of the modules of moddable/manifest.json and those beside it, for projects in TypeScript. */

declare module 'hub-crypto' {
  import type { CryptoProvider } from 'hub-protocol';

  const crypto: CryptoProvider;
  export default crypto;
}

declare module 'hub-keyring' {
  import type { Keyring } from 'hub-protocol';
  export class KeyringStore {
    readonly keyring: Keyring;
    /** @throws if there is no keyring, or neither slot can be read: a person has to restore them */
    constructor(accessKey: string);
    /** @throws if it was not stored: close the session, and send nothing more */
    update(keyring: Keyring): void;
  }
}

declare module 'hub-socket' {
  /** @param url - with the authorization in its query: do not log it */
  export function open(
    url: string,
    handlers: {
      onmessage(event: { data: string | ArrayBuffer }): void;
      onclose(event: { code: number }): void;
      onerror(): void;
    },
  ): void;
  export function write(data: string | Uint8Array): void;
  export function close(): void;
}

declare module 'hub-protocol-requests' {
  export * from 'hub-protocol/bundles/hub-protocol.requests.js';
}

declare module 'hub-protocol-binary' {
  export * from 'hub-protocol/bundles/hub-protocol.binary.js';
}

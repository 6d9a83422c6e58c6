/** A keyring record as it lies in storage: text, that each attempt reads anew. Really a file that only the client can read. */
import { createKeyring, type Keyring, parseKeyring, serializeKeyring } from 'hub-protocol';
import { randomBytes } from 'hub-protocol/node';

export class Store {
  readonly #accessKey: string;
  text: string;

  /** @param keyring - the record to begin with; a new one for who never had any */
  constructor(
    accessKey: string,
    keyring: Keyring = createKeyring({ accessKey, staticKey: randomBytes(32) }),
  ) {
    this.#accessKey = accessKey;
    this.text = serializeKeyring(keyring);
  }

  load(): Keyring {
    return parseKeyring(this.text, this.#accessKey);
  }

  save(keyring: Keyring): void {
    this.text = serializeKeyring(keyring);
  }
}

/** A device record as it lies in storage: text, that each attempt reads anew. Really a file that only the client can read. */
import { createDevice, type Device, parseDevice, serializeDevice } from 'hub-protocol';
import { randomBytes } from 'hub-protocol/node';

export class Store {
  readonly #accessKey: string;
  text: string;

  /** @param device - the record to begin with; a new one for who never had any */
  constructor(accessKey: string, device: Device = createDevice({ accessKey, staticKey: randomBytes(32) })) {
    this.#accessKey = accessKey;
    this.text = serializeDevice(device);
  }

  load(): Device {
    return parseDevice(this.text, this.#accessKey);
  }

  save(device: Device): void {
    this.text = serializeDevice(device);
  }
}

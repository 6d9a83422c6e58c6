/**
 * The example for React Native and a hub in one realm of Hermes: a first contact, a question, and a reconnect with the
 * keyring that was stored. What React Native has and Hermes alone lacks is in `react-native.ts`.
 */
import { AbortController } from 'abort-controller'; // React Native's own
import { HubSession, type HubSessionEvent } from 'hub-protocol';
import { jsCrypto } from 'hub-protocol/js';
import { Assistant } from 'hub-protocol-client/assistant';
import type { Client } from 'hub-protocol-client/react-native';
import { connectToHub } from '../../examples/react-native/hub.ts';

globalThis.AbortController = AbortController as typeof globalThis.AbortController;

type Data = string | Uint8Array;

const randomBytes = (length: number): Uint8Array => globalThis.crypto.getRandomValues(new Uint8Array(length));

const psk = new Uint8Array(32).fill(7); // what the stand-in for `react-native-argon2` answers
const staticKey = randomBytes(32);
let clientKey: Uint8Array | undefined;

/** React Native's WebSocket, with the hub at its other end. */
class HubSocket {
  binaryType = 'blob';
  readonly bufferedAmount = 0;
  onmessage: (event: { data: string | ArrayBuffer }) => void = () => {};
  onclose: (event: { code: number; reason: string }) => void = () => {};
  readonly #session = new HubSession({
    crypto: jsCrypto,
    nodeId: 'hub-1',
    staticKey,
    randomBytes,
    psk,
    clientKey,
  });
  readonly #assistant = new Assistant(this.#session);

  constructor() {
    setTimeout(() => this.#handle(this.#session.start()));
  }

  send(data: Data): void {
    const copy = typeof data === 'string' ? data : data.slice();
    setTimeout(() => this.#handle(this.#session.receive(copy)));
  }

  close(): void {
    this.#session.closed(1000);
    setTimeout(() => this.onclose({ code: 1000, reason: '' }));
  }

  #handle(events: HubSessionEvent[]): void {
    for (const event of events) {
      if (event.type === 'transmit') this.#deliver(event.data);
      else if (event.type === 'pin') clientKey = event.key;
      else if (event.type === 'close') this.onclose({ code: event.code, reason: '' });
      for (const message of this.#assistant.handle(event)) this.#deliver(message);
    }
  }

  #deliver(data: Data): void {
    const delivered = typeof data === 'string' ? data : (data.slice().buffer as ArrayBuffer);
    setTimeout(() => this.onmessage({ data: delivered }));
  }
}
Object.assign(globalThis, { WebSocket: HubSocket });

/** Starts the app. Returns the pattern of its connection, and the reply. */
async function visit(): Promise<string> {
  const client: Client = connectToHub(
    JSON.stringify({
      access_key: 'phone 7',
      password: 'correct horse',
      data_plane_endpoints: { wss: 'wss://hub.example:5678' },
    }),
  );
  let pattern = '';
  client.on('connect', (event) => {
    pattern = event.pattern;
  });
  client.on('ask', ({ error }) => {
    pattern = String(error);
  });
  const { reply } = await client.ask('hello');
  client.end();
  return `${pattern}: ${reply.text}`;
}

/** What two visits of one phone said. */
export async function visits(): Promise<string> {
  return `${await visit()}; ${await visit()}`;
}

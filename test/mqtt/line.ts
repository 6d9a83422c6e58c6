/** A client whose steps a test controls, for orders and client ids that client/src/mqtt.ts avoids. */
import { setTimeout as sleep } from 'node:timers/promises';
import { presence, updateKeyring } from 'hub-protocol';
import { nodeCrypto, randomBytes } from 'hub-protocol/node';
import { ClientSession, type SessionEvent } from 'hub-protocol/parts';
import type { IClientOptions, MqttClient } from 'mqtt';
import { connectTo, PORT } from './broker.ts';
import type { Kiosk } from './kiosk.ts';

export class Line {
  readonly broker: MqttClient;
  readonly #kiosk: Kiosk;
  session!: ClientSession;
  /** The events of the current session. */
  events: SessionEvent[] = [];

  /** Connects with a will, and subscribes. */
  static async open(
    kiosk: Kiosk,
    options: IClientOptions & { clientId: string; port?: number },
  ): Promise<Line> {
    const { will } = presence({ status: `${kiosk.topics}/status` });
    const broker = await connectTo(options.port ?? PORT, {
      ...kiosk.account,
      will: { ...will, payload: Buffer.from(will.payload) },
      ...options,
      port: options.port ?? PORT,
    });
    await broker.subscribeAsync(`${kiosk.topics}/out`, { qos: 1 });
    return new Line(kiosk, broker);
  }

  private constructor(kiosk: Kiosk, broker: MqttClient) {
    this.#kiosk = kiosk;
    this.broker = broker;
    broker.on('message', (_topic, data) => this.#handle(this.session.receive(data)));
  }

  /** Starts a new session, which sends HELLO. */
  hello(): void {
    this.events = [];
    this.session = new ClientSession({
      crypto: nodeCrypto,
      siteId: this.#kiosk.identity().siteId,
      randomBytes,
      keyring: this.#kiosk.keyring,
    });
    this.#handle(this.session.start());
  }

  /** Answers `psk-needed`, which this client does not do by itself. */
  providePsk(): void {
    this.#handle(this.session.providePsk(this.#kiosk.derive()));
  }

  sendBinary(bytes: Uint8Array): void {
    this.#handle(this.session.sendBinary(bytes).map((data) => ({ type: 'transmit', data })));
  }

  async offline(): Promise<void> {
    const { topic, payload, ...options } = presence({ status: `${this.#kiosk.topics}/status` }).offline;
    await this.broker.publishAsync(topic, payload, options);
  }

  /** Waits until the session is in a state. Returns whether it got there in time. */
  async reaches(state: ClientSession['state'], within = 5000): Promise<boolean> {
    return waitFor(() => this.session.state === state, within);
  }

  #handle(events: SessionEvent[]): void {
    for (const event of events) {
      this.events.push(event);
      // So that each connection asks for the PSK, and waits until the test provides it.
      if (event.type !== 'psk') this.#kiosk.keyring = updateKeyring(this.#kiosk.keyring, event);
      if (event.type !== 'transmit') continue;
      const data = typeof event.data === 'string' ? event.data : Buffer.from(event.data);
      this.broker.publish(`${this.#kiosk.topics}/in`, data, { qos: 1 });
    }
  }
}

/** Waits until something is true. Returns whether that happened in time. */
export async function waitFor(isTrue: () => boolean, within = 5000): Promise<boolean> {
  for (const began = performance.now(); performance.now() - began < within; ) {
    if (isTrue()) return true;
    await sleep(5);
  }
  return isTrue();
}

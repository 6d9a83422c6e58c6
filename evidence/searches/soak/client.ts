/** A client of the soak, with its keyring and its policy, over either transport. */
import type { EndedEvent } from 'hub-protocol';
import mqtt from 'mqtt';
import { WebSocket } from 'ws';
import { nodeCrypto, randomBytes } from '../../../src/crypto/node.ts';
import {
  type Closing,
  ConnectionPolicy,
  createKeyring,
  type SessionEvent,
  storePsk,
} from '../../../src/index.ts';
import { Device, type DeviceLine } from '../../../test/world/device.ts';
import { NODE_ID } from '../../../test/world/keys.ts';
import type { Data } from '../../../test/world/line.ts';
import { check, messageOf } from './messages.ts';

export const BASE = 'hivemind/hub-1';

export type Transport = 'WebSocket' | 'MQTT';

/** What all clients have seen. */
export const clients = { dials: 0, ready: 0, ended: 0, received: 0, sent: 0, kkpsk0: 0 };

/** Counts anew. */
export function reset(): void {
  Object.assign(clients, { dials: 0, ready: 0, ended: 0, received: 0, sent: 0, kkpsk0: 0 });
}

/** How many messages are on their way at most. */
const WINDOW = 32;

interface Link {
  write(data: Data): void;
  /** Says goodbye to the transport. */
  close(): void;
  /** Cuts it. */
  cut(): void;
}

interface Callbacks {
  opened(): void;
  received(data: Data): void;
  closed(closing?: Closing): void;
}

export class Client {
  readonly #transport: Transport;
  readonly #url: string;
  readonly #name: string;
  readonly #device: Device;
  /** The clock of the policy, in milliseconds. Pauses pass at once. */
  #now = 0;
  #line!: DeviceLine;
  #link!: Link;
  #received = 0;
  #sent = 0;
  #wake: (() => void) | undefined;
  #fail: ((error: Error) => void) | undefined;

  constructor(transport: Transport, url: string, psk: Uint8Array, name: string) {
    this.#transport = transport;
    this.#url = url;
    this.#name = name;
    const keyring = createKeyring({ accessKey: name, staticKey: randomBytes(32), crypto: nodeCrypto });
    this.#device = new Device({
      keyring: storePsk(keyring, NODE_ID, psk, { isProvisioned: true }),
      policy: new ConnectionPolicy({ randomBytes }),
      now: () => this.#now,
      derive: () => this.#fail?.(new Error('a client with a provisioned PSK asked for it')),
    });
  }

  /** Connects. Resolves when the session is ready. */
  async connect(): Promise<void> {
    const line = this.#device.dial({
      send: (data) => this.#link.write(data),
      see: (event) => this.#see(event),
      decided: (decision) => {
        if (decision.do === 'dial') this.#now += decision.after;
        else this.#fail?.(new Error('the policy gave up'));
      },
      settled: () => this.#wake?.(),
    });
    if (line === undefined) throw new Error('the policy does not dial');
    clients.dials++;
    this.#received = 0;
    this.#sent = 0;
    this.#line = line;
    this.#link = (this.#transport === 'WebSocket' ? openWebSocket : openMqtt)(this.#url, this.#name, {
      opened: () => this.#transport === 'MQTT' && line.start(),
      received: (data) => line.receive(data),
      closed: (closing) => line.closed(closing),
    });
    await this.#until(() => line.session.state === 'ready');
  }

  /** Sends so many messages, and waits for the answers. */
  async exchange(count: number): Promise<void> {
    const target = this.#sent + count;
    while (this.#received < target) {
      while (this.#sent < target && this.#sent - this.#received < WINDOW) this.#send();
      const before = this.#received;
      await this.#until(() => this.#received > before);
    }
  }

  /** Ends the connection, in one of two ways, and waits until it has ended. */
  async end(how: 'close' | 'cut'): Promise<void> {
    this.#link[how]();
    await this.#until(() => this.#line.session.state === 'closed');
  }

  #send(): void {
    clients.sent++;
    this.#line.say(messageOf('client', this.#sent++));
  }

  #see(event: SessionEvent): void {
    if (event.type === 'ready') {
      clients.ready++;
      if (event.pattern === 'KKpsk0') clients.kkpsk0++;
    } else if (event.type === 'message') {
      try {
        check(event, 'hub', this.#received++);
      } catch (error) {
        this.#fail?.(error as Error);
      }
      clients.received++;
    } else if (event.type === 'ended') this.#ended(event);
    else if (event.type === 'close' || event.type === 'dropped' || event.type === 'psk-needed')
      this.#fail?.(new Error(`a client emitted ${event.type}: ${JSON.stringify(event)}`));
  }

  #ended({ error }: EndedEvent): void {
    clients.ended++;
    if (this.#line.session.state !== 'closed' || error.code === 'client-key-refused') this.#fail?.(error);
  }

  /** Waits until something is true. What it depends on changes with events. */
  #until(isTrue: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#fail?.(new Error('a client waited for two minutes')), 120_000);
      const stop = (): void => {
        clearTimeout(timer);
        this.#wake = undefined;
        this.#fail = undefined;
      };
      this.#wake = () => {
        if (!isTrue()) return;
        stop();
        resolve();
      };
      this.#fail = (error) => {
        stop();
        reject(error);
      };
      this.#wake();
    });
  }
}

function openWebSocket(url: string, name: string, { received, closed }: Callbacks): Link {
  const socket = new WebSocket(`${url}/${name}`, { perMessageDeflate: false });
  socket.on('message', (data, isBinary) => received(isBinary ? (data as Buffer) : String(data)));
  socket.on('close', (code) => closed(code));
  socket.on('error', () => {}); // `close` follows
  return {
    write: (data) => socket.send(data),
    close: () => socket.close(1000),
    cut: () => socket.terminate(),
  };
}

function openMqtt(url: string, name: string, { opened, received, closed }: Callbacks): Link {
  const topic = `${BASE}/${name}`;
  const offline = {
    topic: `${topic}/status`,
    payload: Buffer.from('offline'),
    qos: 1,
    retain: false,
  } as const;
  const broker = mqtt.connect(url, { clientId: name, reconnectPeriod: 0, will: offline });
  const leave = (then: () => void): void => {
    broker.publish(offline.topic, offline.payload, { qos: 1 }, then);
  };
  broker.on('connect', () => broker.subscribe(`${topic}/out`, { qos: 1 }, () => leave(opened)));
  broker.on('message', (_topic, data) => received(data));
  broker.on('close', () => closed());
  broker.on('error', () => {}); // `close` follows
  return {
    write(data) {
      const payload = typeof data === 'string' ? data : Buffer.from(data);
      broker.publish(`${topic}/in`, payload, { qos: 1 });
    },
    close: () => leave(() => broker.end()),
    cut: () => broker.stream.destroy(),
  };
}

/** A client of the soak over either transport, and the counts of all clients. Its pauses pass at once. */
import mqtt from 'mqtt';
import { WebSocket } from 'ws';
import { nodeCrypto, randomBytes } from '../../../src/crypto/node.ts';
import { type Closing, createKeyring, type LinkEvent, storePsk } from '../../../src/index.ts';
import { Clock } from '../../../test/world/clock.ts';
import { NODE_ID } from '../../../test/world/keys.ts';
import type { Data } from '../../../test/world/line.ts';
import type { ClientLink as Transport } from '../../../test/world/network.ts';
import { Client as Shell } from '../simulate/client.ts';
import { check, messageOf } from './messages.ts';

export const BASE = 'hivemind/hub-1';

export type Over = 'WebSocket' | 'MQTT';

/** What all clients have seen. */
export const clients = { dials: 0, ready: 0, ended: 0, received: 0, sent: 0, kkpsk0: 0 };

/** Counts anew. */
export function reset(): void {
  Object.assign(clients, { dials: 0, ready: 0, ended: 0, received: 0, sent: 0, kkpsk0: 0 });
}

/** How many messages are on their way at most. */
const WINDOW = 32;

interface Cuttable extends Transport {
  cut(): void;
}

interface Callbacks {
  opened(): void;
  received(data: Data): void;
  closed(closing?: Closing): void;
}

export class Client {
  readonly #clock = new Clock();
  readonly #shell: Shell;
  #transport!: Cuttable;
  /** How many transports have closed. */
  #closed = 0;
  #received = 0;
  #sent = 0;
  #wake: (() => void) | undefined;
  #fail: ((error: Error) => void) | undefined;

  constructor(over: Over, url: string, psk: Uint8Array, name: string) {
    const fresh = createKeyring({ accessKey: name, staticKey: randomBytes(32), crypto: nodeCrypto });
    const keyring = storePsk(fresh, NODE_ID, psk, { isProvisioned: true });
    const open = over === 'WebSocket' ? openWebSocket : openMqtt;
    this.#shell = new Shell({ crypto: nodeCrypto, randomBytes, keyring }, this.#clock, {
      open: (connection) => {
        clients.dials++;
        this.#received = this.#sent = 0;
        this.#transport = open(url, name, {
          opened: () => over === 'MQTT' && this.#shell.call('opened', connection),
          received: (data) => this.#shell.call('received', connection, data),
          closed: (closing) => {
            clients.ended++;
            this.#closed++;
            this.#shell.call('closed', connection, closing);
            this.#wake?.();
          },
        });
        return this.#transport;
      },
      derive: () => this.#fail?.(new Error('a client with a provisioned PSK asked for it')),
      hear: (event) => this.#hear(event),
    });
  }

  /** Connects. Resolves when the session is ready. */
  async connect(): Promise<void> {
    const { deadline, state } = this.#shell.link;
    if (deadline === undefined) this.#shell.call('start');
    else if (state === 'waiting') this.#clock.runUntil(deadline);
    await this.#until(() => this.#shell.link.state === 'ready');
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

  /** Ends the connection, in one of two ways, and waits until its transport has closed. */
  async end(how: 'close' | 'cut'): Promise<void> {
    const before = this.#closed;
    if (how === 'cut') this.#transport.cut();
    else this.#shell.call('end');
    await this.#until(() => this.#closed > before);
  }

  #send(): void {
    clients.sent++;
    const message = messageOf('client', this.#sent++);
    this.#shell.call('send', typeof message === 'string' ? JSON.parse(message) : message);
  }

  #hear(event: LinkEvent): void {
    if (event.type === 'connect') {
      clients.ready++;
      if (event.pattern === 'KKpsk0') clients.kkpsk0++;
    } else if (event.type === 'text' || event.type === 'bytes') {
      try {
        check(event.type === 'text' ? event.text : event.bytes, 'hub', this.#received++);
      } catch (error) {
        this.#fail?.(error as Error);
      }
      clients.received++;
    } else if (event.type === 'ask') this.#fail?.(event.error);
    else if (event.type === 'unsent' || event.type === 'dropped')
      this.#fail?.(new Error(`a client told ${event.type}: ${JSON.stringify(event)}`));
    this.#wake?.();
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

function openWebSocket(url: string, name: string, { received, closed }: Callbacks): Cuttable {
  const socket = new WebSocket(`${url}/${name}`, { perMessageDeflate: false });
  socket.on('message', (data, isBinary) => received(isBinary ? (data as Buffer) : String(data)));
  socket.on('close', (code) => closed(code));
  socket.on('error', () => {}); // `close` follows
  return {
    send: (data) => socket.send(data),
    close: () => socket.close(1000),
    cut: () => socket.terminate(),
  };
}

function openMqtt(url: string, name: string, { opened, received, closed }: Callbacks): Cuttable {
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
    send(data) {
      const payload = typeof data === 'string' ? data : Buffer.from(data);
      broker.publish(`${topic}/in`, payload, { qos: 1 });
    },
    close: () => leave(() => broker.end()),
    cut: () => broker.stream.destroy(),
  };
}

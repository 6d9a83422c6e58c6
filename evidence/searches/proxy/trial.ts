/** One client behind a proxy, with faults in its first connections. */
import { createKeyring, type Keyring, storePsk } from 'hub-protocol';
import { randomBytes } from 'hub-protocol/node';
import type { PolicyOptions } from 'hub-protocol/parts';
import type { Client, NodeOptions, Traced } from 'hub-protocol-client';
import { type Fault, FaultyProxy } from './faulty-proxy.ts';

export const NODE_ID = 'hub.example';
export const PSK: Uint8Array = randomBytes(32);

/** A transport to test: a hub, and clients for it. */
export interface World {
  readonly name: string;
  /** The port of the hub or of the broker. */
  readonly port: number;
  /** What the hub has heard. */
  readonly heard: string[];
  /** Makes a new client known to the hub, and returns its access key. */
  admit(): string;
  start(accessKey: string, port: number, options: Omit<NodeOptions, 'identity'>): Client;
  stop(): Promise<void>;
}

const DEADLINE = 4000; // milliseconds; a busy machine takes seconds for 64 handshakes at once

/** A hundredth of the usual pauses, so that minutes pass in seconds. */
const TIMES: Omit<PolicyOptions, 'randomBytes'> = {
  basePause: 20,
  maxPause: 6000,
  steadyAfter: 1200,
  deadlines: { 'awaiting-hello': DEADLINE, 'awaiting-offer': DEADLINE, 'awaiting-message-2': DEADLINE },
};

let count = 0;

export class Trial {
  readonly #world: World;
  readonly #accessKey: string;
  readonly #proxy: FaultyProxy;
  #keyring: Keyring;
  #client: Client | undefined;
  #listeners: ((what: Traced) => void)[] = [];
  /** The codes of the errors with which a person was asked. */
  readonly asked: string[] = [];
  /** What went wrong. */
  readonly broken: string[] = [];

  static async begin(world: World): Promise<Trial> {
    return new Trial(world, await FaultyProxy.open(world.port));
  }

  private constructor(world: World, proxy: FaultyProxy) {
    this.#world = world;
    this.#proxy = proxy;
    const accessKey = world.admit();
    this.#accessKey = accessKey;
    this.#keyring = storePsk(createKeyring({ accessKey, staticKey: randomBytes(32) }), NODE_ID, PSK);
  }

  get carried(): FaultyProxy['carried'] {
    return this.#proxy.carried;
  }

  get dials(): number {
    return this.#proxy.dials;
  }

  /** Starts the client, with these faults in its next connections. */
  start(...faults: Fault[]): void {
    this.#proxy.faults = faults;
    this.#proxy.dials = 0;
    this.#client = this.#world.start(this.#accessKey, this.#proxy.port, {
      keyring: {
        load: () => this.#keyring,
        update: (change) => {
          this.#keyring = change(this.#keyring);
        },
      },
      allowPlaintext: true,
      derive: async () => PSK,
      policy: TIMES,
      pingEvery: 700,
    });
    this.#client.on('ask', ({ error }) => {
      this.asked.push((error as { code?: string }).code ?? String(error));
      setTimeout(() => this.#client!.resume(), 1); // the person says: try again
    });
    this.#client.on('trace', ({ what }) => {
      for (const listener of this.#listeners.splice(0)) listener(what);
    });
  }

  /** Asks until there is a reply, and checks what is reported. */
  async talk(length = 20, limit = 20_000): Promise<void> {
    const end = performance.now() + limit;
    while (performance.now() < end) {
      const text = `${++count} ${'x'.repeat(length)}`;
      const finished = await this.#client!.ask(text).catch(() => undefined);
      const isHeard = this.#world.heard.includes(text);
      if (finished?.ending === 'handled') {
        if (finished.reply.text !== `You said: ${text}`) this.broken.push('the reply is to something else');
        if (!isHeard) this.broken.push('a reply to what the hub has not heard');
        return;
      }
      if (finished?.wasSent === false && isHeard) this.broken.push('the hub heard what was not sent');
      if (finished === undefined) {
        const wait = Math.min(50, end - performance.now());
        await new Promise((resolve) => {
          this.#listeners.push(resolve);
          setTimeout(resolve, wait);
        });
      }
    }
    this.broken.push(`no reply within ${limit} ms`);
  }

  goodbye(): void {
    this.#client!.end();
  }

  async end(): Promise<void> {
    this.goodbye();
    await this.#proxy.close();
  }
}

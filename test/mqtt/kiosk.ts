/** A client for the tests: its identity as it was issued, and its stored keyring. */

import type { RemoteError } from 'hub-protocol';
import {
  createKeyring,
  derivePsk,
  type Identity,
  type Keyring,
  parseIdentity,
  parseKeyring,
  serializeKeyring,
} from 'hub-protocol';
import { nodeCrypto, randomBytes } from 'hub-protocol/node';
import type { SessionEvent } from 'hub-protocol/parts';
import type { Client, NodeOptions, Traced } from 'hub-protocol-client';
import { connect } from 'hub-protocol-client/mqtt';
import { BASE, CA, closeLater, NODE_ID, newAccount, PASSWORD, PORT, PSK } from './broker.ts';

export type Ended = SessionEvent & { type: 'ended' };

/** A client that a test has started. */
export interface Started extends Client {
  /** Resolves when a connection ends. */
  readonly ended: Promise<Ended>;
  /** Ends the client, and resolves when the connection has ended. */
  close(): Promise<Ended>;
}

export class Kiosk {
  readonly account: { username: string; password: string } = newAccount();
  readonly name: string = this.account.username;
  readonly topics: string = `${BASE}/${this.name}`;
  /** The stored keyring. */
  stored: string = serializeKeyring(createKeyring({ accessKey: this.name, staticKey: randomBytes(32) }));
  /** How many times the PSK was derived. */
  derivations = 0;
  password: string = PASSWORD;
  /** All events since the last client was started. */
  seen: SessionEvent[] = [];

  get keyring(): Keyring {
    return parseKeyring(this.stored, this.name);
  }

  set keyring(keyring: Keyring) {
    this.stored = serializeKeyring(keyring);
  }

  identity(mqtt: object = {}): Identity {
    return parseIdentity({
      access_key: this.name,
      password: this.password,
      site_id: 'lobby',
      protocols: { wss: true, mqtt: true },
      mqtt: {
        endpoint: `mqtts://localhost:${PORT}`,
        ...this.account,
        topic_prefix: this.topics,
        ...mqtt,
      },
    });
  }

  derive(): Uint8Array {
    this.derivations++;
    const { password } = this;
    return password === PASSWORD ? PSK : derivePsk({ crypto: nodeCrypto, password, nodeId: NODE_ID });
  }

  /** The options of a program that has just started: it reads the keyring from storage. */
  options(options: Partial<NodeOptions> = {}): NodeOptions {
    return {
      identity: this.identity(),
      keyring: {
        load: () => this.keyring,
        update: (change) => {
          this.keyring = change(this.keyring);
        },
      },
      socket: { ca: CA },
      derive: async () => this.derive(),
      ...options,
    };
  }

  /**
   * Starts a client.
   * @param wait - how long it waits in each step of the handshake, in milliseconds
   * @param basePause - the limit of its first pause, in milliseconds
   * @param observe - is told everything that happens, and may use the client
   */
  start(
    { wait = 5000, basePause = 20, ...options }: Partial<NodeOptions> & { wait?: number; basePause?: number },
    observe: (what: Traced, client: Started) => void,
  ): Started {
    this.seen = [];
    let onEnded!: (event: Ended) => void;
    const ended = new Promise<Ended>((resolve) => {
      onEnded = resolve;
    });
    const client = connect({
      ...this.options(options),
      policy: {
        basePause,
        maxPause: 5 * basePause,
        deadlines: { 'awaiting-hello': wait, 'awaiting-offer': wait, 'awaiting-message-2': wait },
      },
    });
    client.on('trace', ({ what }) => {
      if ('type' in what && what.type !== 'received' && what.type !== 'sent') this.seen.push(what);
      if ('type' in what && what.type === 'ended') onEnded(what);
      queueMicrotask(() => observe(what, started));
    });
    const close = (): Promise<Ended> => {
      client.end();
      return ended;
    };
    const started: Started = Object.assign(client, { ended, close });
    closeLater(close);
    return started;
  }

  /** Makes one attempt. */
  dial(options: Partial<NodeOptions> & { wait?: number } = {}): Started {
    return this.start(options, (what, client) => {
      if ('type' in what && what.type === 'ended') client.end();
    });
  }

  /** Connects, however many attempts that takes, and returns a client that is ready. */
  connect(options: Partial<NodeOptions> & { wait?: number } = {}): Promise<Started> {
    return new Promise((resolve) => {
      this.start(options, (what, client) => {
        if ('type' in what && what.type === 'ready') resolve(client);
      });
    });
  }

  /** Makes attempts until the policy pauses or asks a person. Returns how the last one ended. */
  refusal(options: Partial<NodeOptions> & { wait?: number } = {}): Promise<Ended> {
    return new Promise((resolve, reject) => {
      // A pause of 0 ms would look like an attempt without a pause. A random pause of up to 20 ms is 0 once in 20 times.
      this.start({ ...options, basePause: 10_000_000 }, (what, client) => {
        if ('type' in what && what.type === 'ready') reject(new Error('the client became ready'));
        if (!('do' in what) || (what.do === 'dial' && what.after === 0)) return;
        resolve(this.events('ended').at(-1)!);
        client.end();
      });
    });
  }

  /** All events of one type since the last client was started. */
  events<Type extends SessionEvent['type']>(type: Type): (SessionEvent & { type: Type })[] {
    return this.seen.filter((event) => event.type === type) as (SessionEvent & { type: Type })[];
  }
}

/** The hub's reply to a request. */
export async function ask(client: Client, text: string): Promise<string> {
  try {
    const { ending, reply } = await client.ask(text);
    return ending === 'handled' ? reply.text : ending;
  } catch (error) {
    return (error as RemoteError).code; // the connection ended before an answer
  }
}

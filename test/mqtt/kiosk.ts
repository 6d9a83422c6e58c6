/** A device of the tests: its identity as it was issued, and its keyring as it lies in storage. */
import {
  createKeyring,
  derivePsk,
  type Identity,
  type Keyring,
  parseIdentity,
  parseKeyring,
  type SessionEvent,
  serializeKeyring,
} from 'hub-protocol';
import { nodeCrypto, randomBytes } from 'hub-protocol/node';
import { Client, type ClientOptions, connect, type Ended, type Message } from '../../examples/mqtt/client.ts';
import { BASE, CA, closeLater, NODE_ID, newAccount, PASSWORD, PORT, PSK } from './broker.ts';

export class Kiosk {
  readonly account: { username: string; password: string } = newAccount();
  readonly name: string = this.account.username;
  readonly topics: string = `${BASE}/${this.name}`;
  /** The keyring. */
  stored: string = serializeKeyring(createKeyring({ accessKey: this.name, staticKey: randomBytes(32) }));
  /** How often the PSK was derived. */
  derivations = 0;
  password: string = PASSWORD;
  /** All events since options() were asked for. */
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

  /** The options of a program that starts with nothing in memory: the keyring is read from storage. */
  options(options: Partial<ClientOptions> = {}): ClientOptions {
    this.seen = [];
    return {
      identity: this.identity(),
      store: {
        load: () => this.keyring,
        update: (change) => {
          this.keyring = change(this.keyring);
        },
      },
      ca: CA,
      derivePsk: async () => this.derive(),
      deadline: 5000,
      observe: (what) => {
        if (what.type !== 'received') this.seen.push(what);
      },
      ...options,
    };
  }

  derive(): Uint8Array {
    this.derivations++;
    const { password } = this;
    return password === PASSWORD ? PSK : derivePsk({ crypto: nodeCrypto, password, nodeId: NODE_ID });
  }

  /** One attempt. */
  dial(options: Partial<ClientOptions> = {}): Client {
    const client = new Client(this.options(options));
    closeLater(() => client.close());
    return client;
  }

  /** One attempt, and another where silence asks for it: a client that is ready. */
  async connect(options: Partial<ClientOptions> = {}): Promise<Client> {
    const client = await connect(this.options(options));
    closeLater(() => client.close());
    return client;
  }

  /** The same, where it must come to nothing: how it ended. */
  refusal(options: Partial<ClientOptions> = {}): Promise<Ended> {
    return connect(this.options(options)).then(
      (client) => {
        client.close();
        throw new Error('it became ready');
      },
      (ended) => ended,
    );
  }

  /** The events of one type that were seen. */
  events<Type extends SessionEvent['type']>(type: Type): (SessionEvent & { type: Type })[] {
    return this.seen.filter((event) => event.type === type) as (SessionEvent & { type: Type })[];
  }
}

/** The text of an answer. */
export function textOf(message: Message): string | undefined {
  return message.kind === 'json' ? message.text : undefined;
}

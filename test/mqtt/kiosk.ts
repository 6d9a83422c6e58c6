/** A client for the tests: its identity as it was issued, and its stored keyring. */
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
  /** The stored keyring. */
  stored: string = serializeKeyring(createKeyring({ accessKey: this.name, staticKey: randomBytes(32) }));
  /** How many times the PSK was derived. */
  derivations = 0;
  password: string = PASSWORD;
  /** All events since the last call of options(). */
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

  /** The options of a program that has just started: it reads the keyring from storage. */
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

  /** Makes one attempt. */
  dial(options: Partial<ClientOptions> = {}): Client {
    const client = new Client(this.options(options));
    closeLater(() => client.close());
    return client;
  }

  /** Connects, with a second attempt if the hub does not answer a KKpsk0, and returns a client that is ready. */
  async connect(options: Partial<ClientOptions> = {}): Promise<Client> {
    const client = await connect(this.options(options));
    closeLater(() => client.close());
    return client;
  }

  /** The same for attempts that must fail. Returns how they ended. */
  refusal(options: Partial<ClientOptions> = {}): Promise<Ended> {
    return connect(this.options(options)).then(
      (client) => {
        client.close();
        throw new Error('the client became ready');
      },
      (ended) => ended,
    );
  }

  /** All events of one type since the last call of options(). */
  events<Type extends SessionEvent['type']>(type: Type): (SessionEvent & { type: Type })[] {
    return this.seen.filter((event) => event.type === type) as (SessionEvent & { type: Type })[];
  }
}

/** The text of a JSON message. */
export function textOf(message: Message): string | undefined {
  return message.kind === 'json' ? message.text : undefined;
}

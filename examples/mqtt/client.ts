/** A client over MQTT: ClientSession between the client's topics at a broker and an application that asks. */
import {
  brokerEndpoint,
  ClientSession,
  clientId,
  deriveTopics,
  type Identity,
  type Keyring,
  keyringOptions,
  type Pattern,
  presence,
  type SessionEvent,
  selectEndpoint,
  storePsk,
  type Topics,
  updateKeyring,
} from 'hub-protocol';
import { nodeCrypto, randomBytes } from 'hub-protocol/node';
import mqtt, { ErrorWithReasonCode, ErrorWithSubackPacket, type MqttClient } from 'mqtt';
import type { Store } from '../store.ts';

export interface ClientOptions {
  identity: Identity;
  /** Keeps the device record: each attempt reads it, and writes it where it changes, before anything else is sent. */
  store: Pick<Store, 'load' | 'save'>;
  /** PEM of who signed the broker's certificate. */
  ca: string;
  derivePsk: (salt: Uint8Array) => Promise<Uint8Array>;
  patterns?: Pattern[];
  onKkFailure?: 'unpin' | 'keep-pin';
  /** How many milliseconds the broker, and the hub at each step and for each reply, may take; 30 000 by default. */
  deadline?: number;
  /** Sees every event, and what came from the hub, for a log or a timeline. */
  observe?: (what: SessionEvent | { type: 'received'; data: string | Uint8Array }) => void;
}

/** The states in which it is the hub's turn. */
const FOR_THE_HUB = ['awaiting-hello', 'awaiting-offer', 'awaiting-message-2'];

export type Message = SessionEvent & { type: 'message' };
export type Ended = SessionEvent & { type: 'ended' };

/** The `ended` event as what is thrown where a session, or an answer, will never be. */
function toThrow(event: Ended): Error & Ended {
  return Object.assign(new Error(event.error.message), event);
}

/**
 * Connects. After a KKpsk0 that met silence, which over MQTT is the only refusal, it tries once with XXpsk2: that tells
 * a message that was lost from another password and from another hub, and enforces the pin just the same.
 */
export async function connect(options: ClientOptions): Promise<Client> {
  const client = new Client(options);
  try {
    await client.ready;
    return client;
  } catch (error) {
    const { reason, pattern } = error as Ended;
    if (reason !== 'timeout' || pattern !== 'KKpsk0') throw error;
  }
  const second = new Client({ ...options, patterns: ['XXpsk2'] });
  await second.ready;
  return second;
}

export class Client {
  readonly #session: ClientSession;
  readonly #broker: MqttClient;
  readonly #topics: Topics;
  readonly #options: ClientOptions;
  readonly #waiting: { resolve: (message: Message) => void; reject: (error: unknown) => void }[] = [];
  #keyring: Keyring;
  #timer: NodeJS.Timeout | undefined;
  /** Fulfilled when messages may be sent; rejected when that will never be. */
  readonly ready: Promise<void>;
  /** Fulfilled when the connection is gone. */
  readonly ended: Promise<Ended>;
  #onReady!: () => void;
  #end!: Ended;

  /** Throws before anything is connected where the identity's broker or topics must not be used. */
  constructor(options: ClientOptions) {
    const { identity, store, ca } = options;
    const { url } = selectEndpoint(identity, { requested: 'mqtt' });
    const { username, password } = identity.mqtt!;
    if (!brokerEndpoint(identity.mqtt!).tls) throw new Error('no password goes to a broker without TLS');
    this.#topics = deriveTopics(identity.mqtt!);
    this.#options = options;
    this.#keyring = store.load();
    this.#session = new ClientSession({
      crypto: nodeCrypto,
      randomBytes,
      siteId: identity.siteId,
      ...keyringOptions(this.#keyring),
      patterns: options.patterns,
      onKkFailure: options.onKkFailure,
    });

    const { will } = presence(this.#topics);
    this.#broker = mqtt.connect(url, {
      ca,
      username,
      password,
      clientId: clientId('example', identity.accessKey),
      will: { ...will, payload: Buffer.from(will.payload) },
      clean: true, // a session has no use for what was sent to another
      reconnectPeriod: 0, // a new connection is a new session
    });
    this.ended = new Promise((resolve) => {
      this.#broker.on('close', () => {
        this.#leave();
        clearTimeout(this.#timer);
        resolve(this.#end);
      });
    });
    this.ready = new Promise((resolve, reject) => {
      this.#onReady = resolve;
      this.ended.then((event) => reject(toThrow(event)));
    });
    this.ready.catch(() => {}); // who does not wait for it need not handle it

    this.#broker.on('error', (error) => this.#fail(error));
    this.#broker.on('connect', () => this.#announce().catch((error) => this.#fail(error)));
    this.#broker.on('message', (_topic, data, { retain }) => {
      const { state } = this.#session;
      if (retain || state === 'closed') return; // nor for what was left for any other
      options.observe?.({ type: 'received', data: state === 'ready' ? data : data.toString() });
      this.#handle(this.#session.receive(data));
    });
    this.#watch();
  }

  /** Sends JSON or bytes and answers the next message that comes. */
  request(value: Parameters<ClientSession['sendJson']>[0] | Uint8Array): Promise<Message> {
    const messages =
      value instanceof Uint8Array ? this.#session.sendBinary(value) : this.#session.sendJson(value);
    const reply = new Promise<Message>((resolve, reject) => this.#waiting.push({ resolve, reject }));
    this.#handle(messages.map((data) => ({ type: 'transmit', data })));
    return reply;
  }

  close(): Promise<Ended> {
    this.#leave();
    return this.ended;
  }

  /** In this order: we can hear the hub, it has forgotten whom it knew under our name, it meets us. */
  async #announce(): Promise<void> {
    await this.#broker.subscribeAsync(this.#topics.subscribe, { qos: this.#qos });
    await this.#say('offline');
    this.#handle(this.#session.start());
  }

  #handle(events: SessionEvent[]): void {
    const { derivePsk, observe } = this.#options;
    for (const event of events) {
      observe?.(event);
      this.#keep(updateKeyring(this.#keyring, event));
      if (event.type === 'transmit') {
        const data = typeof event.data === 'string' ? event.data : Buffer.from(event.data);
        this.#broker.publish(this.#topics.publish, data, { qos: this.#qos });
      } else if (event.type === 'ready') {
        this.#say('online').catch(() => {}); // `close` follows
        this.#onReady();
      } else if (event.type === 'message') this.#waiting.shift()?.resolve(event);
      else if (event.type === 'close') this.#leave();
      else if (event.type === 'psk-needed') {
        derivePsk(event.salt).then(
          (psk) => {
            if (this.#session.state !== 'awaiting-psk') return; // it took longer than the connection lived
            this.#keep(storePsk(this.#keyring, event.nodeId, psk));
            this.#handle(this.#session.providePsk(psk));
          },
          () => this.#leave(), // without a key there is nothing to wait for
        );
      } else if (event.type === 'ended') {
        for (const { reject } of this.#waiting) reject(toThrow(event)); // what was in flight dies with the session
        this.#end = event;
      }
    }
    this.#watch();
  }

  #keep(keyring: Keyring): void {
    if (keyring === this.#keyring) return;
    this.#keyring = keyring;
    this.#options.store.save(keyring);
  }

  /** A deadline for what is due: silence is all that a hub says to what it refuses. */
  #watch(): void {
    clearTimeout(this.#timer);
    const { state } = this.#session;
    const isDue = state === 'ready' ? this.#waiting.length > 0 : FOR_THE_HUB.includes(state);
    if (!isDue) return;
    this.#timer = setTimeout(() => this.#leave('timeout'), this.#options.deadline ?? 30_000);
  }

  /** A broker refuses the account in CONNACK (codes 4 and 5), or the topic in SUBACK; all else is a lost connection. */
  #fail(error: Error): void {
    const isAccount = error instanceof ErrorWithReasonCode && [4, 5].includes(error.code);
    this.#leave(isAccount || error instanceof ErrorWithSubackPacket ? 1008 : undefined);
  }

  #leave(code?: number | 'timeout'): void {
    if (this.#session.state === 'closed') return;
    this.#handle(this.#session.closed(code));
    const goodbye = this.#broker.connected ? this.#say('offline') : Promise.resolve();
    goodbye.then(
      () => this.#broker.end(),
      () => {},
    );
    this.#timer = setTimeout(() => this.#broker.stream.destroy(), 1000); // then the will says it
  }

  async #say(what: 'online' | 'offline'): Promise<void> {
    const { topic, payload, ...options } = presence(this.#topics)[what];
    await this.#broker.publishAsync(topic, payload, options);
  }

  get #qos(): 0 | 1 | 2 {
    return this.#options.identity.mqtt!.qos;
  }
}

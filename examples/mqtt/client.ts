/** A client over MQTT: ClientSession between the client's topics at a broker and an application that sends requests. */
import {
  ClientSession,
  clientId,
  deriveTopics,
  type Identity,
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
  /** Keeps the keyring. */
  store: Pick<Store, 'load' | 'update'>;
  /** The certificate authority of the broker's certificate, as PEM. */
  ca: string;
  derivePsk: (salt: Uint8Array) => Promise<Uint8Array>;
  patterns?: Pattern[];
  onKkFailure?: 'unpin' | 'keep-pin';
  /** How long to wait for the broker, for each step of the hub and for each reply, in milliseconds (default 30 000). */
  deadline?: number;
  /** Is told of every event and of everything that arrives, for a log or a timeline. */
  observe?: (what: SessionEvent | { type: 'received'; data: string | Uint8Array }) => void;
}

/** The states that wait for the hub. */
const FOR_THE_HUB = ['awaiting-hello', 'awaiting-offer', 'awaiting-message-2'];

export type Message = SessionEvent & { type: 'message' };
export type Ended = SessionEvent & { type: 'ended' };

/** An Error with the fields of the `ended` event. */
function toThrow(event: Ended): Error & Ended {
  return Object.assign(new Error(event.error.message), event);
}

/**
 * Connects. Over MQTT silence is the only refusal, so after a KKpsk0 that met silence it makes one attempt with XXpsk2.
 * That attempt tells a lost message from another password or another hub, and the pin still holds in it.
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
  /** A PSK that was derived for this connection. It is stored once the hub has proved that it knows the password. */
  #derivedPsk: Uint8Array | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Resolves when messages may be sent; rejects if the connection ends before. */
  readonly ready: Promise<void>;
  /** Resolves when the connection has ended. */
  readonly ended: Promise<Ended>;
  #onReady!: () => void;
  #end!: Ended;

  /** Throws before it connects if the broker or the topics of the identity must not be used. */
  constructor(options: ClientOptions) {
    const { identity, store, ca } = options;
    const { url } = selectEndpoint(identity, { requested: 'mqtt' });
    const { username, password } = identity.mqtt!;
    this.#topics = deriveTopics(identity.mqtt!);
    this.#options = options;
    this.#session = new ClientSession({
      crypto: nodeCrypto,
      randomBytes,
      siteId: identity.siteId,
      ...keyringOptions(store.load()),
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
      clean: true, // messages for an earlier session are useless to this one
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
    this.ready.catch(() => {}); // callers that do not wait for it need not handle it

    this.#broker.on('error', (error) => this.#fail(error));
    this.#broker.on('connect', () => this.#announce().catch((error) => this.#fail(error)));
    this.#broker.on('message', (_topic, data, { retain }) => {
      const { state } = this.#session;
      if (retain || state === 'closed') return; // a retained message belongs to no session
      options.observe?.({ type: 'received', data });
      this.#handle(this.#session.receive(data));
    });
    this.#watch();
  }

  /** Sends JSON or bytes, and returns the next message that arrives. */
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

  /** The order matters: subscribe, make the hub forget an earlier session, then announce this one. */
  async #announce(): Promise<void> {
    await this.#broker.subscribeAsync(this.#topics.subscribe, { qos: this.#qos });
    await this.#say('offline');
    this.#handle(this.#session.start());
  }

  #handle(events: SessionEvent[]): void {
    const { derivePsk, observe, store } = this.#options;
    for (const event of events) {
      observe?.(event);
      store.update((keyring) => updateKeyring(keyring, event)); // before anything more is sent
      if (event.type === 'transmit') {
        const data = typeof event.data === 'string' ? event.data : Buffer.from(event.data);
        this.#broker.publish(this.#topics.publish, data, { qos: this.#qos });
      } else if (event.type === 'ready') {
        this.#say('online').catch(() => {}); // `close` follows
        this.#becomeReady(event.nodeId);
      } else if (event.type === 'message') this.#waiting.shift()?.resolve(event);
      else if (event.type === 'close') this.#leave();
      else if (event.type === 'psk-needed') {
        derivePsk(event.salt).then(
          (psk) => {
            if (this.#session.state !== 'awaiting-psk') return; // the derivation outlived the connection
            this.#derivedPsk = psk;
            this.#handle(this.#session.providePsk(psk));
          },
          () => this.#leave(), // without a PSK there is nothing to wait for
        );
      } else if (event.type === 'ended') {
        for (const { reject } of this.#waiting) reject(toThrow(event)); // requests in flight will not be answered
        this.#end = event;
      }
    }
    this.#watch();
  }

  #becomeReady(nodeId: string): void {
    const psk = this.#derivedPsk;
    if (psk !== undefined) this.#options.store.update((keyring) => storePsk(keyring, nodeId, psk));
    this.#onReady();
  }

  /** Sets the deadline of the present state. Over MQTT a hub refuses by silence. */
  #watch(): void {
    clearTimeout(this.#timer);
    const { state } = this.#session;
    const isDue = state === 'ready' ? this.#waiting.length > 0 : FOR_THE_HUB.includes(state);
    if (!isDue) return;
    this.#timer = setTimeout(() => this.#leave('timeout'), this.#options.deadline ?? 30_000);
  }

  /** A broker refuses the account in CONNACK (codes 4 and 5) or the topic in SUBACK; otherwise the connection was lost. */
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
    this.#timer = setTimeout(() => this.#broker.stream.destroy(), 1000); // then the broker publishes the will
  }

  async #say(what: 'online' | 'offline'): Promise<void> {
    const { topic, payload, ...options } = presence(this.#topics)[what];
    await this.#broker.publishAsync(topic, payload, options);
  }

  get #qos(): 0 | 1 | 2 {
    return this.#options.identity.mqtt!.qos;
  }
}

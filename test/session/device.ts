/**
 * A client as docs/guides and the examples write it: its keyring takes each event, its policy decides when it connects, and
 * the PSK that it derived last is kept in memory until the hub has proved or spoiled it. It notes all that can be seen from
 * outside, and what it stores and asks.
 */
import {
  type ClientOptions,
  ClientSession,
  type Closing,
  ConnectionPolicy,
  type Crypto,
  createKeyring,
  type Keyring,
  type PolicyDecision,
  type SessionEvent,
  serializeKeyring,
  updateKeyring,
} from '../../src/index.ts';
import { CLIENT_STATIC, type Data } from './pair.ts';

/** The other end of a connection: what it sends first, and in answer to each message. */
export interface Peer {
  start(): Data[];
  receive(data: Data): Data[];
}

export interface DeviceOptions {
  crypto: Crypto;
  /** What it derives for any node id. */
  psk: Uint8Array;
  keyring?: ((fresh: Keyring) => Keyring) | undefined;
  onKkFailure?: ClientOptions['onKkFailure'];
  /** Further options of its sessions. */
  client?: Partial<ClientOptions>;
}

export class Device {
  psk: Uint8Array;
  keyring: Keyring;
  derivations = 0;
  /** What happened, with nothing in it that is random or secret. */
  readonly log: string[] = [];
  readonly #crypto: Crypto;
  readonly #policy: ConnectionPolicy;
  readonly #client: Partial<ClientOptions>;
  #unproved: { nodeId: string; psk: Uint8Array } | undefined;
  #now = 0;

  constructor({ crypto, psk, keyring = (fresh) => fresh, onKkFailure, client = {} }: DeviceOptions) {
    this.psk = psk;
    this.#crypto = crypto;
    this.#client = client;
    this.keyring = keyring(createKeyring({ accessKey: 'kiosk-7', staticKey: CLIENT_STATIC, crypto }));
    this.#policy = new ConnectionPolicy({
      randomBytes: (length) => new Uint8Array(length).fill(0x80),
      onKkFailure,
    });
  }

  /** The keyring as it is stored. */
  get stored(): string {
    return serializeKeyring(this.keyring);
  }

  /** Connects once. Returns what the policy decides at the end. */
  connect(peer: Peer, closing: Closing = 'timeout'): PolicyDecision {
    const dialOptions = this.#policy.begin(this.#now);
    if (dialOptions === undefined) throw new Error(`the policy does not dial: it is ${this.#policy.state}`);
    const session = new ClientSession({
      crypto: this.#crypto,
      siteId: 'lobby',
      randomBytes: (length) => new Uint8Array(length).fill(0x42),
      keyring: this.keyring,
      ...this.#client,
      ...dialOptions,
    });
    let decision: PolicyDecision | undefined;
    const received = peer.start();
    const take = (events: SessionEvent[]): void => {
      for (const event of events) {
        this.keyring = updateKeyring(this.keyring, event);
        this.log.push(noteOf(event));
        if (event.type === 'transmit') received.push(...peer.receive(event.data));
        if (event.type === 'psk-needed') take(session.providePsk(this.#derive(event.nodeId)));
        if (event.type === 'waiting') {
          const { publicKey } = event;
          take(session.resume(publicKey && this.#crypto.x25519.sharedSecret(CLIENT_STATIC, publicKey)));
        }
        if (event.type === 'psk' || event.type === 'psk-suspect') this.#unproved = undefined;
        decision = this.#policy.take(event, this.#now) ?? decision;
      }
    };
    for (let data = received.shift(); data !== undefined; data = received.shift())
      take(session.receive(data));
    take(session.closed(closing));
    if (decision?.do === 'dial') this.#now += decision.after;
    this.log.push(decision?.do === 'dial' ? `dial after ${decision.after}` : `${decision?.do}`);
    return decision!;
  }

  /** A person has looked into what the policy asks, and changed nothing. */
  resume(): void {
    this.#policy.resume();
  }

  #derive(nodeId: string): Uint8Array {
    if (this.#unproved?.nodeId !== nodeId) {
      this.derivations++;
      this.log.push('derives');
      this.#unproved = { nodeId, psk: this.psk };
    }
    return this.#unproved.psk;
  }
}

function noteOf(event: SessionEvent): string {
  if (event.type === 'close') return `close ${event.code} ${event.error.code}`;
  if (event.type === 'ended') return `ended ${event.reason} ${event.retry} ${event.error.code}`;
  if (event.type !== 'transmit' || typeof event.data !== 'string') return event.type;
  const { pattern, suite, msg } = JSON.parse(event.data).payload.noise;
  return `transmit ${pattern} ${suite} ${msg.length}`;
}

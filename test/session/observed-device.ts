/** A device that notes all that can be seen from outside, and what it stores and asks. */
import { nodeCrypto } from '../../src/crypto/node.ts';
import {
  type Closing,
  type CryptoProvider,
  createKeyring,
  type Keyring,
  serializeKeyring,
} from '../../src/index.ts';
import {
  type ClientOptions,
  ConnectionPolicy,
  type PolicyDecision,
  type SessionEvent,
} from '../../src/parts.ts';
import { Device, type DeviceLine } from '../world/device.ts';
import { CLIENT_STATIC } from '../world/keys.ts';
import type { Data } from '../world/line.ts';

/** The other end of a connection: what it sends first, and in answer to each message. */
export interface Peer {
  start(): Data[];
  receive(data: Data): Data[];
}

export interface WatchedOptions {
  crypto?: CryptoProvider;
  /** What it derives for any node id. */
  psk: Uint8Array;
  keyring?: ((fresh: Keyring) => Keyring) | undefined;
  onKkFailure?: ClientOptions['onKkFailure'];
  /** Further options of its sessions. */
  client?: Partial<ClientOptions>;
}

export class WatchedDevice {
  psk: Uint8Array;
  /** What happened, with nothing in it that is random or secret. */
  readonly log: string[] = [];
  readonly #device: Device;
  readonly #policy: ConnectionPolicy;
  #now = 0;

  constructor({ crypto = nodeCrypto, psk, keyring = (fresh) => fresh, onKkFailure, client }: WatchedOptions) {
    this.psk = psk;
    this.#policy = new ConnectionPolicy({
      randomBytes: (length) => new Uint8Array(length).fill(0x80),
      onKkFailure,
    });
    this.#device = new Device({
      keyring: keyring(createKeyring({ accessKey: 'kiosk-7', staticKey: CLIENT_STATIC, crypto })),
      policy: this.#policy,
      now: () => this.#now,
      derive: (_nodeId, provide) => {
        this.log.push('derives');
        provide(this.psk);
      },
      client: { crypto, randomBytes: (length) => new Uint8Array(length).fill(0x42), ...client },
    });
  }

  get keyring(): Keyring {
    return this.#device.keyring;
  }

  get derivations(): number {
    return this.#device.derivations;
  }

  /** The keyring as it is stored. */
  get stored(): string {
    return serializeKeyring(this.keyring);
  }

  /** Connects once. Returns what the policy decides at the end. */
  connect(peer: Peer, closing: Closing = 'timeout'): PolicyDecision {
    let decision: PolicyDecision | undefined;
    const received = peer.start();
    const line: DeviceLine | undefined = this.#device.dial({
      send: (data) => received.push(...peer.receive(data)),
      see: (event) => this.log.push(noteOf(event)),
      decided: (decided) => {
        decision = decided;
      },
    });
    if (line === undefined) throw new Error(`the policy does not dial: it is ${this.#policy.state}`);
    for (let data = received.shift(); data !== undefined; data = received.shift()) line.receive(data);
    line.closed(closing);
    if (decision?.do === 'dial') this.#now += decision.after;
    this.log.push(decision?.do === 'dial' ? `dial after ${decision.after}` : `${decision?.do}`);
    return decision!;
  }

  /** A person has looked into what the policy asks, and changed nothing. */
  resume(): void {
    this.#policy.resume();
  }
}

function noteOf(event: SessionEvent): string {
  if (event.type === 'close') return `close ${event.code} ${event.error.code}`;
  if (event.type === 'ended') return `ended ${event.reason} ${event.retry} ${event.error.code}`;
  if (event.type !== 'transmit' || typeof event.data !== 'string') return event.type;
  const { pattern, suite, msg } = JSON.parse(event.data).payload.noise;
  return `transmit ${pattern} ${suite} ${msg.length}`;
}

/**
 * A client as docs/guides and the examples write it: its keyring takes each event, its policy decides when it connects, and
 * the PSK that it derived last is kept in memory until the hub has proved or spoiled it.
 */
import { nodeCrypto, randomBytes } from '../../src/crypto/node.ts';
import { type Keyring, updateKeyring } from '../../src/index.ts';
import {
  type ClientOptions,
  ClientSession,
  type ConnectionPolicy,
  type PolicyDecision,
  type SessionEvent,
} from '../../src/parts.ts';
import { CLIENT_STATIC } from './keys.ts';
import { Line, type Wire } from './line.ts';

/** The calls of ConnectionPolicy that a client needs. */
export type Policy = Pick<ConnectionPolicy, 'begin' | 'deadline' | 'take'>;

export interface DeviceOptions {
  readonly keyring: Keyring;
  readonly policy: Policy;
  /** The clock of the policy, in milliseconds. */
  readonly now: () => number;
  /** Provides the PSK for a hub, now or later. */
  readonly derive: (nodeId: string, provide: (psk: Uint8Array) => void) => void;
  /** Further options of its sessions. */
  readonly client?: Partial<ClientOptions>;
}

/** What a client does with a connection. */
export interface DeviceWire extends Wire<SessionEvent> {
  /** Takes what the policy decides at the end. */
  decided(decision: PolicyDecision): void;
}

export type DeviceLine = Line<SessionEvent, ClientSession>;

export class Device {
  keyring: Keyring;
  derivations = 0;
  readonly #options: DeviceOptions;
  #unproved: { nodeId: string; psk: Uint8Array } | undefined;

  constructor(options: DeviceOptions) {
    this.#options = options;
    this.keyring = options.keyring;
  }

  /** Opens a session, unless the policy does not dial. */
  dial(wire: DeviceWire): DeviceLine | undefined {
    const { policy, now, client } = this.#options;
    const dialOptions = policy.begin(now());
    if (dialOptions === undefined) return undefined;
    const { crypto = nodeCrypto, ...others } = client ?? {};
    const session = new ClientSession({
      crypto,
      randomBytes,
      siteId: 'lobby',
      keyring: this.keyring,
      ...others,
      ...dialOptions,
    });
    const line: DeviceLine = new Line(session, {
      ...wire,
      see: (event) => {
        this.keyring = updateKeyring(this.keyring, event);
        if (event.type === 'psk' || event.type === 'psk-suspect') this.#unproved = undefined;
        wire.see?.(event);
        const decision = policy.take(event, now());
        if (decision !== undefined) wire.decided(decision);
        if (event.type === 'psk-needed')
          this.#derive(event.nodeId, (psk) => line.take(session.providePsk(psk)));
        if (event.type === 'waiting') {
          const secret = event.publicKey && crypto.x25519.sharedSecret(CLIENT_STATIC, event.publicKey);
          line.take(session.resume(secret));
        }
      },
    });
    return line;
  }

  #derive(nodeId: string, provide: (psk: Uint8Array) => void): void {
    if (this.#unproved?.nodeId === nodeId) {
      provide(this.#unproved.psk);
      return;
    }
    this.derivations++;
    this.#options.derive(nodeId, (psk) => {
      this.#unproved = { nodeId, psk };
      provide(psk);
    });
  }
}

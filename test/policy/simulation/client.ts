/** A client under virtual time, which connects as its policy says, and counts what it does. */
import { nodeCrypto, randomBytes } from '../../../src/crypto/node.ts';
import {
  ClientSession,
  type Closing,
  type ConnectionPolicy,
  createKeyring,
  type Keyring,
  type PolicyDecision,
  type SessionEvent,
  storePsk,
  updateKeyring,
} from '../../../src/index.ts';
import { CLIENT_STATIC, HUB_KEY, NODE_ID, PSK } from './hubs.ts';
import { type ClientLink, dial, type Hub, type Transport } from './network.ts';
import type { World } from './world.ts';

/** The calls of ConnectionPolicy that a client needs. */
export type Policy = Pick<ConnectionPolicy, 'begin' | 'deadline' | 'take'>;

/** A client that does what `retry` says: `now` at once, `later` after a second. */
export class ObeysRetry implements Policy {
  #state = '';
  #since = 0;

  begin(): object {
    return {};
  }

  deadline(state: string, now: number): number | undefined {
    if (state !== this.#state) this.#since = now;
    this.#state = state;
    return /^awaiting-(?!psk)/.test(state) ? Math.max(0, this.#since + 30_000 - now) : undefined;
  }

  take(event: SessionEvent): PolicyDecision | undefined {
    if (event.type !== 'ended') return undefined;
    this.#state = '';
    if (event.retry === 'never') return { do: 'ask', error: event.error };
    return { do: 'dial', after: event.retry === 'now' ? 0 : 1000, tell: undefined };
  }
}

export interface Report {
  dials: number;
  derivations: number;
  /** The code of the error about which a person was asked, after which the client waits. */
  asked: string | undefined;
  /** How long its sessions were ready, in milliseconds, up to the present one. */
  readyFor: number;
  /** Since when the present session is ready. */
  readySince: number | undefined;
}

/** How long a client takes to derive a PSK, in milliseconds. */
const DERIVATION = 1000;

export function startClient(
  world: World,
  transport: Transport,
  hub: Hub,
  policy: Policy,
  isKnown: boolean,
): Report {
  const report: Report = { dials: 0, derivations: 0, asked: undefined, readyFor: 0, readySince: undefined };
  let keyring: Keyring = createKeyring({ accessKey: 'key', staticKey: CLIENT_STATIC });
  let unproved: Uint8Array | undefined; // derived, and not yet proved by the hub
  if (isKnown) {
    keyring = updateKeyring(keyring, { type: 'pin', nodeId: NODE_ID, key: HUB_KEY } as SessionEvent);
    keyring = storePsk(keyring, NODE_ID, PSK);
  }

  const connect = (): void => {
    const options = policy.begin(world.now);
    if (options === undefined) return;
    report.dials++;
    const session = new ClientSession({
      crypto: nodeCrypto,
      randomBytes,
      siteId: 'lobby',
      keyring,
      ...options,
    });
    let timer: number | undefined;
    let link: ClientLink;
    const hangUp = (why?: Closing): void => {
      link.close();
      handle(session.closed(why));
    };
    const handle = (events: SessionEvent[]): void => {
      for (const event of events) {
        keyring = updateKeyring(keyring, event);
        if (event.type === 'transmit') link.send(event.data);
        if (event.type === 'psk-needed') {
          if (unproved === undefined) report.derivations++;
          world.after(unproved === undefined ? DERIVATION : 0, () => {
            unproved = PSK;
            handle(session.providePsk(PSK));
          });
        }
        if (event.type === 'psk' || event.type === 'psk-suspect') unproved = undefined;
        if (event.type === 'close') hangUp();
        const decision = policy.take(event, world.now);
        if (decision?.do === 'dial') world.after(decision.after, connect);
        if (decision?.do === 'ask') report.asked = decision.error.code;
      }
      if (session.state === 'ready') {
        report.readySince ??= world.now;
      } else if (report.readySince !== undefined) {
        report.readyFor += world.now - report.readySince;
        report.readySince = undefined;
      }
      world.clear(timer);
      const wait = policy.deadline(session.state, world.now);
      timer = wait === undefined ? undefined : world.after(wait, () => hangUp('timeout'));
    };
    link = dial(world, transport, hub, {
      onOpen: () => handle(transport === 'MQTT' ? session.start() : []),
      onData: (data) => handle(session.receive(data)),
      onClose: (closing) => handle(session.closed(closing)),
    });
    handle([]);
  };
  connect();
  return report;
}

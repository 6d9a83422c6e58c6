/** A client under virtual time, which connects as its policy says, and counts what it does. */
import { nodeCrypto } from '../../../src/crypto/node.ts';
import {
  type Closing,
  createKeyring,
  type PolicyDecision,
  type SessionEvent,
  storePsk,
  updateKeyring,
} from '../../../src/index.ts';
import type { Clock } from '../../../test/world/clock.ts';
import { Device, type Policy } from '../../../test/world/device.ts';
import { CLIENT_STATIC, HUB_KEY, NODE_ID, PSK } from '../../../test/world/keys.ts';
import { dial, type Hub, type Transport } from '../../../test/world/network.ts';

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
  clock: Clock,
  transport: Transport,
  hub: Hub,
  policy: Policy,
  isKnown: boolean,
): Report {
  let keyring = createKeyring({ accessKey: 'key', staticKey: CLIENT_STATIC, crypto: nodeCrypto });
  if (isKnown) {
    keyring = updateKeyring(keyring, { type: 'pin', nodeId: NODE_ID, key: HUB_KEY });
    keyring = storePsk(keyring, NODE_ID, PSK);
  }
  const report: Report = { dials: 0, derivations: 0, asked: undefined, readyFor: 0, readySince: undefined };
  const device = new Device({
    keyring,
    policy,
    now: () => clock.now,
    derive(_nodeId, provide) {
      report.derivations++;
      clock.after(DERIVATION, () => provide(PSK));
    },
  });
  const connect = (): void => {
    let timer: number | undefined;
    const line = device.dial({
      send: (data) => link.send(data),
      close: () => hangUp(),
      decided(decision) {
        if (decision.do === 'dial') clock.after(decision.after, connect);
        if (decision.do === 'ask') report.asked = decision.error.code;
      },
      settled() {
        const { state } = line!.session;
        if (state === 'ready') {
          report.readySince ??= clock.now;
        } else if (report.readySince !== undefined) {
          report.readyFor += clock.now - report.readySince;
          report.readySince = undefined;
        }
        clock.clear(timer);
        const wait = policy.deadline(state, clock.now);
        timer = wait === undefined ? undefined : clock.after(wait, () => hangUp('timeout'));
      },
    });
    if (line === undefined) return;
    report.dials++;
    const link = dial(clock, transport, hub, {
      onOpen: () => (transport === 'MQTT' ? line.start() : line.take([])),
      onData: (data) => line.receive(data),
      onClose: (closing) => line.closed(closing),
    });
    const hangUp = (why?: Closing): void => {
      link.close();
      line.closed(why);
    };
    line.take([]);
  };
  connect();
  return report;
}

/** Sessions of a client and a hub that are recorded. */
import * as assert from 'uvu/assert';
import { nodeCrypto, randomBytes } from '../../src/crypto/node.ts';
import type { HubOptions, HubSession } from '../../src/index.ts';
import type { ClientSession } from '../../src/parts.ts';
import {
  type Recorded as Observed,
  type RecordingOptions,
  recordClientSession,
  recordHubSession,
} from '../../src/recording/recording.ts';
import { HUB_STATIC, NODE_ID, PSK } from '../world/keys.ts';
import { type ClientAndKeyring, clientOptions } from '../world/pair.ts';

export type Line = { readonly [field: string]: unknown };

export interface Recorded {
  client: Observed<ClientSession>;
  hub: Observed<HubSession>;
  clientLines: string[];
  hubLines: string[];
}

export const OTHER_PSK: Uint8Array = new Uint8Array(32).fill(9);
export const EPHEMERAL: Uint8Array = new Uint8Array(32).fill(7);
export const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
export const parse = (lines: string[]): Line[] => lines.map((line) => JSON.parse(line));

export function record(
  client: ClientAndKeyring = {},
  hub: Partial<HubOptions> = {},
  recording: Partial<RecordingOptions> = {},
): Recorded {
  const clientLines: string[] = [];
  const hubLines: string[] = [];
  return {
    clientLines,
    hubLines,
    client: recordClientSession(clientOptions({ randomBytes: () => EPHEMERAL.slice(), ...client }), {
      write: (line) => clientLines.push(line),
      ...recording,
    }),
    hub: recordHubSession(
      { crypto: nodeCrypto, nodeId: NODE_ID, staticKey: HUB_STATIC, randomBytes, psk: PSK, ...hub },
      { write: (line) => hubLines.push(line), ...recording },
    ),
  };
}

/** Hands messages over until neither side has more to say. */
export function connect({ client, hub }: Recorded): void {
  const queue: { to: Recorded['client'] | Recorded['hub']; data: string | Uint8Array }[] = [];
  const pass = (to: Recorded['client'] | Recorded['hub'], events: readonly { type: string }[]): void => {
    for (const event of events) {
      if (event.type === 'transmit')
        queue.push({ to, data: (event as { data?: string | Uint8Array }).data! });
    }
  };
  pass(client, hub.start());
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    pass(next.to === client ? hub : client, next.to.receive(next.data));
  }
}

export function ready(...options: Parameters<typeof record>): Recorded {
  const recorded = record(...options);
  connect(recorded);
  assert.is(recorded.client.state, 'ready');
  assert.is(recorded.hub.state, 'ready');
  return recorded;
}

/** The lines of one kind. */
export function linesWith(lines: string[], field: string): Line[] {
  return parse(lines).filter((line) => field in line);
}

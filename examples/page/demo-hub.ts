/**
 * A hub with one client, which on request simulates the faults of hubs and networks. Identity and keys are new at each
 * start.
 */
import { derivePsk } from 'hub-protocol';
import { nodeCrypto as crypto, randomBytes } from 'hub-protocol/node';
import { type Hub, startHub } from '../hub.ts';

const NODE_ID = 'hub.example';

export interface DemoHub {
  /** The identity of its client, as issued. */
  readonly identity: object;
  readonly isRunning: boolean;
  readonly switches: ReadonlyMap<string, () => Promise<void>>;
}

export async function startDemoHub(): Promise<DemoHub> {
  const [access_key, password] = [secret(), secret()];
  const psk = derivePsk({ crypto, password, nodeId: NODE_ID });
  const clients = new Map([[access_key, { psk }]]);
  let staticKey = randomBytes(32);
  let hub: Hub | undefined = await startHub({ nodeId: NODE_ID, staticKey, clients });
  const { url } = hub;
  const port = Number(new URL(url).port);

  const start = async (): Promise<void> => {
    hub ??= await startHub({ port, nodeId: NODE_ID, staticKey, clients });
  };
  const stop = async (): Promise<void> => {
    await hub?.stop();
    hub = undefined;
  };
  const renew = async (): Promise<void> => {
    await stop();
    staticKey = randomBytes(32);
    await start();
  };
  return {
    identity: { access_key, password, site_id: 'lobby', data_plane_endpoints: { wss: url } },
    get isRunning() {
      return hub !== undefined;
    },
    switches: new Map([
      ['start', start],
      ['stop', stop],
      ['cut', async () => hub?.cut()],
      ['new-key', renew],
    ]),
  };
}

function secret(): string {
  return Buffer.from(randomBytes(18)).toString('base64url');
}

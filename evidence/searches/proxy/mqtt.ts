/** The client and the example hub over MQTT, without TLS; the proxy is between client and broker. */
import { parseIdentity } from 'hub-protocol';
import { randomBytes } from 'hub-protocol/node';
import { serveHub } from 'hub-protocol-client/hub/mqtt';
import { connect } from 'hub-protocol-client/mqtt';
import { startBroker } from '../../../test/world/mqtt-broker.ts';
import { NODE_ID, PSK, type World } from './trial.ts';

const BASE = 'hivemind/hub-1';

export async function startMqttWorld(): Promise<World> {
  const heard: string[] = [];
  const accounts = new Map([['hub', 'secret']]);
  const clients = new Map<string, { psk: Uint8Array }>();
  const broker = await startBroker({ base: BASE, accounts, hub: 'hub' });
  const hub = await serveHub({
    broker: { url: broker.url, username: 'hub', password: 'secret' },
    base: BASE,
    nodeId: NODE_ID,
    staticKey: randomBytes(32),
    clients,
    answer(utterance) {
      heard.push(utterance);
      return `You said: ${utterance}`;
    },
  });
  return {
    name: 'MQTT',
    port: Number(new URL(broker.url).port),
    heard,
    admit() {
      const accessKey = `kiosk-${clients.size}`.padEnd(12, '-');
      clients.set(accessKey, { psk: PSK });
      accounts.set(accessKey, 'secret');
      return accessKey;
    },
    start(access_key, port, options) {
      const mqtt = {
        endpoint: `mqtt://localhost:${port}`,
        username: access_key,
        password: 'secret',
        topic_prefix: `${BASE}/${access_key}`,
      };
      return connect({
        ...options,
        pingEvery: 2000,
        identity: parseIdentity({ access_key, password: 'secret', site_id: 'lobby', mqtt }),
      });
    },
    async stop() {
      await hub.stop();
      await broker.stop();
    },
  };
}

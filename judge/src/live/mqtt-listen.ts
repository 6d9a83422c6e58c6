/** Plays a hub over MQTT, and the broker: another broker would not show the will. */

import { show } from '../difference.ts';
import { startBroker } from '../mqtt/broker.ts';
import { Failure, type Verdict } from '../verdict.ts';
import { Arrivals } from './arrivals.ts';
import { JudgeHub } from './hub.ts';
import type { ListenOptions } from './listen.ts';
import { ClientConnection } from './mqtt-client.ts';
import { MQTT_HUB_SCENES } from './mqtt-hub-scenes.ts';
import { topicsOf } from './mqtt-topics.ts';
import { chooseScenes, playScenes } from './play.ts';

/** The client's password at the broker. Its user name is the access key. */
export const BROKER_PASSWORD = 'judge';

const OTHER_ACCOUNT =
  'account: the client has another user name or password at the broker than the judge printed';

/** @throws CannotRun before any connection: an unknown scene, an access key that fits no topic, a port that is taken */
export async function listenOverMqtt(options: ListenOptions): Promise<Verdict[]> {
  const { nodeId, accessKey, derivePsk, patience, port, onListening } = options;
  const scenes = chooseScenes(MQTT_HUB_SCENES, options);
  const topics = topicsOf(accessKey);
  const arrivals = new Arrivals<{ connection: ClientConnection }>(patience.long);
  const broker = await startBroker({
    port,
    onWrong: (failure) => arrivals.fail(failure),
    admits({ username, password }) {
      const own = password?.toString();
      const isRight = username === accessKey && own === BROKER_PASSWORD;
      const got = `${show(username ?? null)} and ${own === BROKER_PASSWORD ? 'the right' : 'another'} password`;
      const difference = { where: 'CONNECT', expected: `the account ${JSON.stringify(accessKey)}`, got };
      if (!isRight) arrivals.fail(new Failure(difference, [OTHER_ACCOUNT]));
      return isRight;
    },
    onPeer(peer) {
      hub.clientIds.push(peer.connect.clientId);
      arrivals.add({ connection: new ClientConnection(peer, topics, patience) });
    },
  });
  onListening(broker.url);
  const hub = new JudgeHub(nodeId, derivePsk); // takes a second, while the first client connects
  const connect = async (): Promise<ClientConnection> => {
    const { connection } = await arrivals.next();
    try {
      await connection.announced();
      return connection;
    } catch (error) {
      connection.close(1000);
      throw error;
    }
  };
  try {
    return await playScenes(scenes, hub, connect, options);
  } finally {
    broker.stop();
  }
}

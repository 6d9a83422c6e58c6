/** Plays a client over MQTT, and the broker that the hub under test connects to. */
import { type Peer, startBroker } from '../mqtt/broker.ts';
import { Failure, type Verdict } from '../verdict.ts';
import { JudgeClient } from './client.ts';
import { MQTT_CLIENT_SCENES } from './mqtt-client-scenes.ts';
import { HubConnection } from './mqtt-hub.ts';
import { topicsOf } from './mqtt-topics.ts';
import { chooseScenes, type LiveOptions, playScenes } from './play.ts';

export interface MqttConnectOptions extends LiveOptions {
  port: number;
  accessKey: string;
  /** Called once a hub may connect. */
  onListening: (url: string) => void;
}

/** @throws CannotRun before any connection: an unknown scene, an access key that fits no topic, a port that is taken */
export async function connectOverMqtt(options: MqttConnectOptions): Promise<Verdict[]> {
  const { derivePsk, patience, port, accessKey, onListening } = options;
  const scenes = chooseScenes(MQTT_CLIENT_SCENES, options);
  const topics = topicsOf(accessKey);
  const client = new JudgeClient(derivePsk);
  let hub: Peer | undefined;
  let wrong: Failure | undefined;
  let wake = (): void => {};
  const broker = await startBroker({
    port,
    admits: () => true,
    onWrong(failure) {
      wrong = failure;
      wake();
    },
    onPeer(peer) {
      peer.onSubscription = () => {
        if (!peer.isSubscribed(topics.in)) return;
        hub = peer;
        wake();
      };
    },
  });
  onListening(broker.url);

  let isGone = false; // do not wait again for a hub that does not come
  const subscribed = async (): Promise<Peer> => {
    if (hub?.isClosed) hub = undefined;
    if (hub === undefined && wrong === undefined && !isGone) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, patience.long);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    const failure = wrong;
    wrong = undefined;
    if (failure !== undefined) throw failure;
    if (hub !== undefined) return hub;
    isGone = true;
    const got = `none within ${patience.long / 1000} s`;
    throw new Failure({ where: `subscription to ${topics.in}`, expected: 'the hub’s', got });
  };
  const connect = async (key: string = accessKey): Promise<HubConnection> => {
    const connection = new HubConnection(await subscribed(), topicsOf(key), patience);
    await connection.start();
    return connection;
  };
  try {
    return await playScenes(scenes, client, connect, options);
  } finally {
    broker.stop();
  }
}

/**
 * `hub-protocol-client/hub/mqtt`: a hub over MQTT for Node.js, with MQTT.js. It has one connection to a broker, and a HubSession for
 * each client that sends HELLO.
 */
import { brokerEndpoint, RemoteError } from 'hub-protocol';
import { ErrorWithReasonCode, type MqttClient } from 'mqtt';
import { costOf } from './account.ts';
import { Broker, type Limits, UNHEARD, UNKNOWN_REASON } from './broker.ts';
import { sentenceOfCause } from './causes.ts';
import {
  callerOf,
  type HubConnection,
  SERVED,
  ServedConnection,
  type ServedOptions,
  share,
} from './hub-connection.ts';
import { limitPackets } from './limit-packets.ts';
import { ANY, FUNCTION, readAuthority, readKinds, required, TEXT, TIME } from './read-options.ts';
import { routeTo } from './sockets.ts';

/** The options of a hub over MQTT. */
export interface MqttHubOptions extends ServedOptions {
  /** The broker, and the hub's account there. */
  broker: {
    /** The address, such as `mqtts://broker.example`. */
    url: string;
    /** The certificate authority of the broker's certificate as PEM (default: the public ones). */
    ca?: string;
    /** The name of the account. */
    username: string;
    /** The password of the account. */
    password: string;
  };
  /** The levels that the topics of all clients start with: `<base>/<access key>/in`, `/out` and `/status`. */
  base: string;
  /** The time without a message after which a client is forgotten, in milliseconds (default 300 000). */
  idle?: number | undefined;
  /** The pause before the hub connects again to a broker that it has lost, in milliseconds (default 1000). */
  reconnectAfter?: number | undefined;
  /** Called with the reason, if there is one, when the broker is lost, or cannot be reached again (default: none). */
  onLost?: ((error: Error | undefined) => void) | undefined;
}

/** A hub over MQTT. */
export interface MqttHub {
  /** The connections of clients, also those that are not ready yet. */
  readonly connections: ReadonlySet<HubConnection>;
  /** Disconnects from the broker. */
  stop(): Promise<void>;
}

/** How long a broker may take to answer CONNECT, and then SUBSCRIBE, in milliseconds. */
const ANSWER_TIMEOUT = 30_000;

const OPTIONS = {
  ...SERVED,
  broker: required<MqttHubOptions['broker']>('an object with url, username and password', {
    url: TEXT,
    ca: ANY,
    username: TEXT,
    password: TEXT,
  }),
  base: TEXT,
  idle: TIME,
  reconnectAfter: TIME,
  onLost: FUNCTION,
};

/** MQTT.js keeps what it publishes twice: as a packet, and as the bytes of one. */
const COPIES = 2;

interface Peer {
  connection: ServedConnection;
  idle: NodeJS.Timeout;
}

/**
 * Starts a hub. When it loses the broker, all its sessions end, and it connects again.
 * @param options - the clients, what to do with their messages, and the broker
 * @returns the hub, when it is connected to the broker
 * @throws LocalError as `createHub`, and for `broker.ca`; the error of `mqtt` if it cannot connect to the broker
 */
export async function serveHub(options: MqttHubOptions): Promise<MqttHub> {
  const given = readKinds(options, 'options', OPTIONS);
  const shared = share(given);
  const { broker, base, nodeId, idle = 300_000, reconnectAfter = 1000, onLost } = given;
  const { url: endpoint, ca: authority, ...account } = broker;
  const ca = readAuthority(authority, 'broker.ca');
  const { url } = brokerEndpoint({ endpoint }, { allowPlaintext: true });
  const route = routeTo(url, { socket: { ca } }, ANSWER_TIMEOUT, 'broker');
  const dialled = new Broker(url, route, {
    ...account,
    clientId: `hub-${nodeId}`,
    keepalive: 30, // seconds
    connectTimeout: ANSWER_TIMEOUT,
  });
  const peers = new Map<string, Peer>();
  const connections = new Set<HubConnection>();
  /** Who has sent HELLO, and is being looked up. */
  const lookups = new Map<string, symbol>();
  let connection: MqttClient;
  let publish: (topic: string, data: string | Uint8Array, refused: () => void) => void;
  let again: NodeJS.Timeout | undefined;
  let isStopped = false;

  /** The broker restricts each client to its own topics, so the topic identifies the client. */
  const receive = (accessKey: string, payload: Uint8Array): void => {
    const peer = peers.get(accessKey);
    if (peer === undefined) {
      if (!lookups.has(accessKey)) create(accessKey);
      return;
    }
    peer.idle.refresh();
    const isReady = peer.connection.state === 'ready';
    peer.connection.receive(payload);
    // What begins like JSON, and ends a session, is the HELLO of a client whose `offline` the broker did not take.
    if (isReady && !peers.has(accessKey) && payload[0] === 0x7b) create(accessKey);
  };
  /** The message itself does not matter: nothing in a HELLO is needed, and others belong to a lost session. */
  const create = async (accessKey: string): Promise<void> => {
    const lookup = Symbol();
    lookups.set(accessKey, lookup);
    const caller = await callerOf(accessKey, shared);
    if (lookups.get(accessKey) !== lookup) return; // it has gone, or the broker has
    lookups.delete(accessKey);
    let served: ServedConnection | undefined;
    const end = (): void => {
      if (peers.get(accessKey)?.connection === served) forget(accessKey);
    };
    served = ServedConnection.of(caller, shared, {
      unsent: () => 0,
      write: (data) => publish(`${base}/${accessKey}/out`, data, end),
      close: end,
      cut: end,
    });
    if (served === undefined) return; // over MQTT silence is the only refusal
    peers.set(accessKey, { connection: served, idle: setTimeout(end, idle) });
    connections.add(served);
    served.start();
  };
  const forget = (accessKey: string): void => {
    lookups.delete(accessKey);
    const peer = peers.get(accessKey);
    if (peer === undefined) return;
    peers.delete(accessKey);
    connections.delete(peer.connection);
    clearTimeout(peer.idle);
    peer.connection.closed();
  };
  const told = (platformCode: string): RemoteError =>
    new RemoteError(
      'broker-refused',
      sentenceOfCause({ cause: 'broker-refused', platformCode }, route.place),
    );
  // When the connection to the broker is lost, all sessions are lost with it, and no message may be sent again: so it is not `mqtt`
  // that connects again.
  const open = async (): Promise<void> => {
    const limits = await new Promise<Limits>((resolve, reject) => {
      dialled.dial({
        isPatient: true,
        begun: (begun) => limitPackets(begun, shared.budget.packet, { isShared: true }),
        opened(opened, limits) {
          connection = opened;
          resolve(limits);
        },
        failed: (_, error) => reject(error),
      });
    });
    const { stream } = connection;
    // What a broker does not acknowledge stays, also after the end of the connection for which it was.
    const held = shared.account.open(undefined, { unsent: () => held.total, end: () => stream.destroy() });
    publish = (topic, data, refused) => {
      if (stream.destroyed) return; // MQTT.js would keep it for another connection
      const payload = Buffer.from(data as Uint8Array);
      const refuse = (platformCode: string): void => {
        shared.reports.fault(told(platformCode));
        refused(); // no session outlives the loss of a message
      };
      if (!limits.takes(topic, payload)) return void setImmediate(refuse, 'DISCONNECT_149');
      const cost = COPIES * costOf(payload.length);
      held.add('unsent', cost);
      limits.publish(topic, payload, { qos: limits.levelOf(1), retain: false }, (error) => {
        held.add('unsent', -cost);
        if (!(error instanceof ErrorWithReasonCode)) return;
        if (error.code === UNHEARD) refused();
        else refuse(`PUBACK_${error.code}`);
      });
    };
    let why: Error | undefined;
    connection.on('close', () => shared.account.close(held));
    connection.on('disconnect', ({ reasonCode }) => {
      why = told(`DISCONNECT_${reasonCode}`);
    });
    connection.on('error', (error) => {
      if (UNKNOWN_REASON.test(error.message)) dialled.stepDown(); // or each long message would end all sessions
      stream.destroy(); // MQTT.js would read on after what is not MQTT; `close` follows
    });
    connection.on('message', (topic, payload, { retain }) => {
      if (retain) return; // a retained message belongs to no session
      const [accessKey, kind] = topic.slice(base.length + 1).split('/') as [string, string];
      if (kind === 'in') receive(accessKey, payload);
      else if (payload.toString() === 'offline') forget(accessKey);
    });
    connection.on('close', () => lost(why));
    if (isStopped) connection.end(true);
    const subscribed = connection.subscribeAsync([`${base}/+/in`, `${base}/+/status`], { qos: 1 });
    let late: NodeJS.Timeout | undefined;
    const isLate = new Promise<never>((_, reject) => {
      late = setTimeout(() => reject(new Error('suback timeout')), ANSWER_TIMEOUT); // MQTT.js would wait forever
    });
    await Promise.race([subscribed, isLate])
      .catch((error) => {
        connection.end(true);
        throw error;
      })
      .finally(() => clearTimeout(late));
  };
  const lost = (error?: Error): void => {
    [...lookups.keys(), ...peers.keys()].forEach(forget);
    clearTimeout(again);
    if (isStopped) return;
    onLost?.(error);
    again = setTimeout(() => open().catch(lost), reconnectAfter);
  };
  const stop = async (): Promise<void> => {
    isStopped = true;
    clearTimeout(again);
    if (!connection?.connected) return;
    const closed = new Promise<void>((resolve) => connection.once('close', () => resolve()));
    connection.end(); // when the broker has acknowledged what it was sent
    const late = setTimeout(() => connection.stream.destroy(), 1000); // if it does not
    await closed;
    clearTimeout(late);
  };

  await open().catch(async (error) => {
    await stop();
    throw error;
  });
  return { connections, stop };
}

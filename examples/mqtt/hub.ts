/** A hub over MQTT: one connection to a broker, and a HubSession for each access key that says HELLO. */
import { HubSession, type HubSessionEvent } from 'hub-protocol';
import { nodeCrypto, randomBytes } from 'hub-protocol/node';
import mqtt from 'mqtt';
import { answer } from '../hub.ts';

export interface HubOptions {
  /** Where the broker is, by TLS; PEM of who signed its certificate; and the hub’s account there. */
  broker: { url: string; ca: string; username: string; password: string };
  /** What the topics of all clients start with: `<base>/<access key>/in`, `/out` and `/status`. */
  base: string;
  nodeId: string;
  staticKey: Uint8Array;
  /** What was provisioned for each access key: the PSK, and the client's static key once it is pinned. */
  clients: Map<string, { psk: Uint8Array; clientKey?: Uint8Array }>;
  /** After how many milliseconds without a message from it a client is forgotten; 300 000 by default. */
  idle?: number;
}

export interface Hub {
  stop(): Promise<void>;
}

interface Peer {
  session: HubSession;
  idle: NodeJS.Timeout;
}

export async function startHub(options: HubOptions): Promise<Hub> {
  const { broker, base, nodeId, staticKey, clients, idle = 300_000 } = options;
  const { url, ...account } = broker;
  // Where the broker is lost, so are all sessions, and nothing of them is sent again.
  const connection = await mqtt.connectAsync(url, {
    ...account,
    clientId: `hub-${nodeId}`,
    reconnectPeriod: 0,
  });
  connection.on('error', () => {}); // `close` follows
  const peers = new Map<string, Peer>();

  /** The broker lets each client at its own topics only, so the topic says who it is. */
  const receive = (accessKey: string, payload: Uint8Array): void => {
    const peer = peers.get(accessKey);
    if (peer === undefined) {
      create(accessKey);
      return;
    }
    peer.idle.refresh();
    handle(accessKey, peer.session, peer.session.receive(payload));
  };
  /** What came only wakes us: a HELLO says nothing that we need, and anything else belongs to a session that is gone. */
  const create = (accessKey: string): void => {
    const client = clients.get(accessKey);
    if (client === undefined) return; // there is no refusal but silence
    const session = new HubSession({ crypto: nodeCrypto, randomBytes, nodeId, staticKey, ...client });
    peers.set(accessKey, { session, idle: setTimeout(() => forget(accessKey), idle) });
    handle(accessKey, session, session.start());
  };
  const forget = (accessKey: string): void => {
    const peer = peers.get(accessKey);
    if (peer === undefined) return;
    peers.delete(accessKey);
    clearTimeout(peer.idle);
    peer.session.closed();
  };
  const handle = (accessKey: string, session: HubSession, events: HubSessionEvent[]): void => {
    const send = (data: string | Uint8Array): void => {
      const payload = typeof data === 'string' ? data : Buffer.from(data);
      connection.publish(`${base}/${accessKey}/out`, payload, { qos: 1 });
    };
    for (const event of events) {
      if (event.type === 'transmit') send(event.data);
      else if (event.type === 'pin') clients.get(accessKey)!.clientKey = event.key;
      else if (event.type === 'close') forget(accessKey);
      else if (event.type === 'message') answer(session, event).forEach(send);
    }
  };

  connection.on('message', (topic, payload, { retain }) => {
    if (retain) return; // left over from before we came
    const [accessKey, kind] = topic.slice(base.length + 1).split('/') as [string, string];
    if (kind === 'in') receive(accessKey, payload);
    else if (payload.toString() === 'offline') forget(accessKey);
  });
  connection.on('close', () => [...peers.keys()].forEach(forget));
  await connection.subscribeAsync([`${base}/+/in`, `${base}/+/status`], { qos: 1 });
  return {
    async stop() {
      await connection.endAsync();
    },
  };
}

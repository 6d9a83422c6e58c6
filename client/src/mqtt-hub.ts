/**
 * `hub-protocol-client/hub/mqtt`: a hub over MQTT for Node.js, with `mqtt`. It has one connection to a broker, and a HubSession for
 * each client that sends HELLO.
 */
import { HubSession, type HubSessionEvent } from 'hub-protocol';
import { nodeCrypto, randomBytes } from 'hub-protocol/node';
import mqtt from 'mqtt';
import { Assistant } from './assistant.ts';
import { type HubServerOptions, pin } from './hub.ts';

export interface MqttHubOptions
  extends Pick<HubServerOptions, 'nodeId' | 'staticKey' | 'clients' | 'answer' | 'onPinned' | 'onFault'> {
  /** The broker's URL, the certificate authority of its certificate as PEM, and the hub's account. */
  broker: { url: string; ca?: string; username: string; password: string };
  /** The levels that the topics of all clients start with: `<base>/<access key>/in`, `/out` and `/status`. */
  base: string;
  /** The time without a message after which a client is forgotten, in milliseconds (default 300 000). */
  idle?: number | undefined;
}

export interface MqttHub {
  stop(): Promise<void>;
}

interface Peer {
  session: HubSession;
  assistant: Assistant;
  idle: NodeJS.Timeout;
}

/**
 * Starts a hub.
 * @throws the error of `mqtt` if it cannot connect to the broker
 */
export async function serveHub(options: MqttHubOptions): Promise<MqttHub> {
  const { broker, base, nodeId, staticKey, clients, answer, onPinned, onFault, idle = 300_000 } = options;
  const { url, ...account } = broker;
  // When the connection to the broker is lost, all sessions are lost with it, and no message may be sent again.
  const connection = await mqtt.connectAsync(url, {
    ...account,
    clientId: `hub-${nodeId}`,
    reconnectPeriod: 0,
  });
  connection.on('error', () => {}); // `close` follows
  const peers = new Map<string, Peer>();

  /** The broker restricts each client to its own topics, so the topic identifies the client. */
  const receive = (accessKey: string, payload: Uint8Array): void => {
    const peer = peers.get(accessKey);
    if (peer === undefined) {
      create(accessKey);
      return;
    }
    peer.idle.refresh();
    handle(accessKey, peer.assistant, peer.session.receive(payload));
  };
  /** The message itself does not matter: nothing in a HELLO is needed, and others belong to a lost session. */
  const create = (accessKey: string): void => {
    const client = clients.get(accessKey);
    if (client === undefined) return; // over MQTT silence is the only refusal
    const session = new HubSession({ crypto: nodeCrypto, randomBytes, nodeId, staticKey, ...client });
    const assistant = new Assistant(session, answer);
    peers.set(accessKey, { session, assistant, idle: setTimeout(() => forget(accessKey), idle) });
    handle(accessKey, assistant, session.start());
  };
  const forget = (accessKey: string): void => {
    const peer = peers.get(accessKey);
    if (peer === undefined) return;
    peers.delete(accessKey);
    clearTimeout(peer.idle);
    peer.session.closed();
  };
  const handle = (accessKey: string, assistant: Assistant, events: HubSessionEvent[]): void => {
    const send = (data: string | Uint8Array): void => {
      const payload = typeof data === 'string' ? data : Buffer.from(data);
      connection.publish(`${base}/${accessKey}/out`, payload, { qos: 1 });
    };
    try {
      for (const event of events) {
        if (event.type === 'transmit') send(event.data);
        else if (event.type === 'pin' && !pin(clients.get(accessKey)!, event.key)) {
          forget(accessKey); // a faster session of this access key has pinned another key
          return;
        } else if (event.type === 'pin') onPinned?.(accessKey);
        else if (event.type === 'close') forget(accessKey);
        assistant.handle(event).forEach(send);
      }
    } catch (error) {
      forget(accessKey); // one client's messages must not end the sessions of the others
      onFault?.(error);
    }
  };

  connection.on('message', (topic, payload, { retain }) => {
    if (retain) return; // a retained message belongs to no session
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

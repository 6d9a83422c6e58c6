/** The client and the hub of peers.ts over MQTT, with MQTT.js. */
import mqtt from 'mqtt';
import { nodeCrypto, randomBytes } from '../../src/crypto/node.ts';
import { deriveTopics, HubSession, type HubSessionEvent, presence } from '../../src/index.ts';
import { type ClientOptions, ClientSession, type SessionEvent } from '../../src/parts.ts';
import { entriesOf, NODE_ID, Pause, type Faults as PeerFaults, pskFor, SHARED_PSK } from './peers.ts';

export interface Faults extends PeerFaults<ClientOptions> {
  /** Options of the connection to the broker, in place of the right ones. */
  connection?: () => Partial<mqtt.IClientOptions>;
}

export const BROKER_PASSWORD = 'judge';
const DEADLINE = 1000; // milliseconds without an answer, after which the client gives up

const toPayload = (data: string | Uint8Array): string | Buffer =>
  typeof data === 'string' ? data : Buffer.from(data);

/** What the session sends back for a message. */
function echoOf(session: ClientSession | HubSession, event: SessionEvent | HubSessionEvent): Uint8Array[] {
  if (event.type !== 'message') return [];
  return event.kind === 'json' ? session.sendJson(event.text) : session.sendBinary(event.bytes);
}

/** Starts a client that connects to the broker, again after each connection. Returns how to stop it. */
export function startClient(url: string, accessKey: string, faults: Faults = {}): () => void {
  const { stays, silent, change = (data) => data } = faults;
  const topics = deriveTopics({ username: accessKey, topic_prefix: `hivemind/judge/${accessKey}` });
  const { will, online, offline } = presence(topics);
  const staticKey = randomBytes(32);
  const pins = new Map<string, Uint8Array>();
  const psks = new Map<string, Uint8Array>();
  const pause = new Pause();
  let isOver = false;
  const suspects = new Set<string>();
  let onlyXx = false;
  const dial = (): void => {
    if (isOver) return;
    const broker = mqtt.connect(url, {
      username: accessKey,
      password: BROKER_PASSWORD,
      clientId: 'test-client',
      will: { ...will, payload: Buffer.from(will.payload) },
      clean: true,
      reconnectPeriod: 0,
      ...faults.connection?.(),
    });
    const own: ClientOptions = {
      crypto: nodeCrypto,
      siteId: 'lobby',
      randomBytes,
      keyring: { staticKey, pins: entriesOf(pins, suspects), psks: entriesOf(psks) },
      ...(onlyXx && { patterns: ['XXpsk2'] }),
    };
    const session = new ClientSession({ ...own, ...faults.options?.(own) });
    const say = ({ topic, payload, ...rest }: typeof will) => broker.publish(topic, payload, rest);
    let pattern: string | undefined;
    let deadline: NodeJS.Timeout | undefined;
    const take = (events: SessionEvent[]): void => {
      for (const event of events) {
        if (event.type === 'transmit') {
          pattern ??=
            typeof event.data === 'string' ? JSON.parse(event.data).payload.noise?.pattern : undefined;
          broker.publish(topics.publish, toPayload(change(event.data)), { qos: 1 });
        }
        if (event.type === 'pin') pins.set(event.nodeId, event.key);
        if (event.type === 'pin') suspects.delete(event.nodeId);
        if (event.type === 'pin-suspect') suspects.add(event.nodeId);
        if (event.type === 'psk-suspect') psks.delete(event.nodeId);
        if (event.type === 'psk-needed') {
          const psk = pskFor(event.nodeId);
          psks.set(event.nodeId, psk);
          take(session.providePsk(psk));
        }
        if (event.type === 'ready') say(online);
        if (!silent) {
          for (const message of echoOf(session, event)) {
            broker.publish(topics.publish, toPayload(message), { qos: 1 });
          }
        }
        if (event.type === 'close' && !stays) {
          say(offline);
          broker.end();
        }
      }
      clearTimeout(deadline);
      if (['ready', 'closed', 'failed'].includes(session.state)) return;
      deadline = setTimeout(() => {
        onlyXx = pattern === 'KKpsk0';
        take(session.closed('timeout'));
        say(offline);
        broker.end();
      }, DEADLINE);
    };
    broker.on('connect', () => {
      onlyXx = false;
      broker.subscribe(topics.subscribe, { qos: 1 }, (error) => {
        if (error) return;
        say(offline);
        take(session.start());
      });
    });
    broker.on('message', (_topic, data, { retain }) => {
      if (!retain) take(session.receive(data));
    });
    broker.on('error', () => {}); // `close` follows
    broker.on('close', () => {
      const wait = pause.after(session.state);
      take(session.closed());
      clearTimeout(deadline);
      setTimeout(dial, wait);
    });
  };
  dial();
  return () => {
    isOver = true;
  };
}

export interface HubFaults {
  connection?: Partial<mqtt.IClientOptions>;
  /** Leaves the broker in place of silence. */
  leaves?: true;
  /** Does not end sessions. */
  stays?: true;
  /** Takes every access key for that of its client. */
  admitsAll?: true;
}

/** Starts a hub with one client on the broker. Returns how to stop it. */
export function startHub(url: string, accessKey: string, faults: HubFaults = {}): () => void {
  const { stays, admitsAll, leaves, connection } = faults;
  const staticKey = randomBytes(32);
  const psk = SHARED_PSK;
  let clientKey: Uint8Array | undefined;
  const sessions = new Map<string, HubSession>();
  const broker = mqtt.connect(url, { clientId: 'test-hub', reconnectPeriod: 0, ...connection });
  const take = (client: string, session: HubSession, events: HubSessionEvent[]): void => {
    const publish = (data: string | Uint8Array) =>
      broker.publish(`hivemind/judge/${client}/out`, toPayload(data), { qos: 1 });
    for (const event of events) {
      if (event.type === 'transmit') publish(event.data);
      if (event.type === 'pin') clientKey = event.key;
      if (event.type === 'pin' && leaves) broker.end();
      if (event.type === 'close' && !stays) sessions.delete(client);
      echoOf(session, event).forEach(publish);
    }
  };
  broker.on('message', (topic, data, { retain }) => {
    const [client, kind] = topic.split('/').slice(-2) as [string, string];
    if (kind === 'status') {
      if (data.toString() === 'offline') sessions.delete(client);
      return;
    }
    if (retain || (client !== accessKey && !admitsAll)) return;
    const session = sessions.get(client);
    if (session !== undefined) return take(client, session, session.receive(data));
    const next = new HubSession({
      crypto: nodeCrypto,
      nodeId: NODE_ID,
      staticKey,
      randomBytes,
      psk,
      clientKey,
    });
    sessions.set(client, next);
    take(client, next, next.start());
  });
  broker.on('error', () => {});
  broker.on('connect', () => {
    broker.subscribe(['hivemind/judge/+/in', 'hivemind/judge/+/status'], { qos: 1 });
  });
  return () => broker.end(true);
}

/** `hub-protocol-client/mqtt`: a client over MQTT for Node.js, with MQTT.js. docs/reference/mqtt.md has the reasons for the order of things. */
import { clientId, deriveTopics, presence } from 'hub-protocol';
import mqtt, { ErrorWithReasonCode, ErrorWithSubackPacket, type IClientOptions, MqttClient } from 'mqtt';
import { costOf } from './account.ts';
import { addressOf } from './address.ts';
import { budgetOf } from './budget.ts';
import { causeOfOpening, type Finding, openingTimeout } from './causes.ts';
import type { Client } from './client.ts';
import { clientOnNode } from './client-on-node.ts';
import { limitPackets } from './limit-packets.ts';
import type { MqttOptions } from './options.ts';
import { MAX_PIECES } from './pieces.ts';
import type { Connection, Transport } from './platform.ts';
import { OF_MQTT, readNodeOptions } from './read-options.ts';
import { type Route, routeTo } from './sockets.ts';

export type { Client } from './client.ts';
export { KeyringFile } from './keyring-file.ts';
export type * from './options.ts';

/**
 * Connects to the broker of an identity, and to its hub, and stays connected until `end` is called.
 * @param options - the identity, where to keep the keyring, and what may differ from the defaults
 * @returns the client. It connects once the code that called this has ended, so listeners that you add at once hear everything
 * @throws LocalError if the identity has no MQTT, or a broker or topics that must not be used; otherwise as `connect` over
 *   WebSocket
 * @example
 * import { parseIdentity } from 'hub-protocol';
 * import { connect } from 'hub-protocol-client/mqtt';
 *
 * const identity = parseIdentity({
 *   access_key: 'kiosk-7',
 *   password: 'correct horse',
 *   mqtt: { endpoint: 'mqtts://broker.example', username: 'kiosk-7', password: 'b', topic_prefix: 'hivemind/hub-1/kiosk-7' },
 * });
 * const client = connect({ identity, keyring: 'kiosk-7.mqtt.keyring.json' });
 * client.on('connect', ({ nodeId }) => console.log('connected to', nodeId));
 * client.on('ask', ({ advice }) => console.error(advice)); // only a person can help
 * client.on('end', () => console.log('ended')); // ended
 * client.end(); // when the program ends
 */
export function connect(options: MqttOptions): Client {
  const given = readNodeOptions(options, OF_MQTT);
  const budget = budgetOf(given);
  const {
    identity,
    allowPlaintext,
    pingEvery = 120_000,
    userAgent = 'hub-protocol-client',
    policy,
    will: hasWill = true,
  } = given;
  const { url } = addressOf(identity, 'mqtt', { allowPlaintext });
  const { username, password, qos } = identity.mqtt!;
  const topics = deriveTopics(identity.mqtt!);
  const { will, online, offline } = presence(topics);

  const timeout = openingTimeout(policy?.deadlines);
  const route = routeTo(url, given, timeout, 'broker');
  const { place } = route;
  let isRenamed = false;
  /** A hub on MQTT refuses a client by its silence, which a hub that is off keeps too. */
  const advice = {
    'text-after-ready': `The hub behind the broker at ${place.at} does not know this connection: it was restarted, or knows this client by another key. Connecting again. If this goes on, ask the hub’s operator.`,
    'not-authentic': `A message of the hub was lost or damaged on its way through the broker at ${place.at}. Most likely it was longer than the broker allows: ask its operator to allow packets of 66 kB. Connecting again.`,
    get timeout() {
      return isRenamed
        ? `The broker at ${place.at} delivers messages under other topics than they were published to. Let it keep topics as they are, or choose names without a dot for the hub and the access key.`
        : `The hub does not answer through the broker at ${place.at}. Ask the hub’s operator whether it is running, and whether it knows the access key and this client’s key.`;
    },
  };
  let sayOnline = (): void => {};
  const all: Terms = {
    protocolVersion: 5,
    will: hasWill ? { ...will, payload: Buffer.from(will.payload) } : undefined,
  };
  /** As last accepted. */
  let terms = all;

  /** Opens a connection on these terms, or else on lesser ones. */
  function open(connection: Connection): Transport {
    let isOver = false;
    const attempt = (tried: Terms): Transport =>
      dial(connection, tried, (finding) => {
        const next = isOver ? undefined : lesser(tried, finding);
        if (next !== undefined) transport = attempt(next);
        else if (finding.platformCode === 'ETIMEDOUT') terms = { ...all, protocolVersion: 4 };
        return next !== undefined;
      });
    let transport = attempt(terms);
    return {
      write: (data) => transport.write(data),
      unsent: () => transport.unsent!(),
      close(code) {
        isOver = true;
        transport.close(code);
      },
    };
  }

  /** @param goesOn - whether a refusal leads to another attempt */
  function dial(connection: Connection, agreed: Terms, goesOn: (finding: Finding) => boolean): Transport {
    let isConnected = place.scheme.startsWith('ws'); // whether more than a socket has failed
    let isOpen = false;
    let isLeft = false;
    let unsent = 0; // in bytes
    /** What the broker takes. */
    let limits: { retain: boolean; qos: number; size: number } = { retain: true, qos: 2, size: Infinity };
    const broker = connectTo(url, route, {
      connectTimeout: timeout,
      username,
      password,
      clientId: given.clientId ?? clientId(userAgent, identity.accessKey), // the same at every start
      ...agreed,
      clean: true, // this session cannot use messages for an earlier one
      reconnectPeriod: 0, // a new connection is a new session
      keepalive: Math.ceil(pingEvery / 2000), // seconds between pings of the broker
      wsOptions: {
        ...route.options,
        agent: route.agent,
        headers: route.headers,
        maxPayload: budget.packet,
        ...MAX_PIECES,
      },
    });
    limitPackets(broker, budget.packet, { arriving: (bytes) => connection.arriving(bytes) });
    broker.handleMessage = (_, done) => setImmediate(done); // one message, then whatever else waits in the event loop
    const levelOf = (wanted: number) => Math.min(wanted, limits.qos) as typeof qos;
    /** What a broker answers to a message about the status changes nothing. */
    const say = async ({ topic, payload, qos: level, retain }: typeof will): Promise<void> => {
      try {
        await broker.publishAsync(topic, payload, { qos: levelOf(level), retain: retain && limits.retain });
      } catch (error) {
        if (!(error instanceof ErrorWithReasonCode)) throw error;
      }
    };
    // A hub forgets a client that is silent for minutes. MQTT's own pings do not reach it.
    const pings = setInterval(() => connection.send({ msg_type: 'ping', payload: {} }), pingEvery);
    sayOnline = () => void say(online).catch(() => {}); // `close` follows

    const announce = async (): Promise<void> => {
      await broker.subscribeAsync(topics.subscribe, { qos: levelOf(qos) });
      await say(offline); // makes the hub forget an earlier session
      connection.opened();
    };
    const leave = (): void => {
      isLeft = true;
      clearInterval(pings);
      broker.end(true);
    };
    const end = (closing?: Finding): void => {
      if (isLeft) return;
      if (!isOpen && isConnected && goesOn(closing!)) leave();
      else connection.closed(closing);
    };
    /** CONNACK refuses the account, SUBACK the topic. */
    const fail = (error: Error): void => {
      const refused = (platformCode: string): void => end({ cause: 'broker-refused', platformCode });
      if (error instanceof ErrorWithSubackPacket) refused(`SUBACK_${error.packet?.granted?.[0] ?? 128}`);
      else if (error instanceof ErrorWithReasonCode)
        refused(`${isOpen ? 'PUBACK' : 'CONNACK'}_${error.code}`);
      else if (isOpen && UNKNOWN_REASON.test(error.message)) refused('PUBACK_149');
      else end(isOpen ? undefined : causeOfOpening(error, isConnected));
    };
    broker.stream.once('connect', () => {
      isConnected = true;
    });
    broker.stream.prependListener('error', fail); // MQTT.js passes on only some of them
    // A broker of 3.1.1 that takes any version for its own.
    broker.on('packetreceive', ({ cmd, length }) => {
      if (cmd === 'connack' && agreed.protocolVersion === 5 && length === 2 && !isOpen)
        end({ cause: 'broker-refused', platformCode: 'CONNACK_1' });
    });
    broker.on(
      'connect',
      ({ properties: { retainAvailable = true, maximumQoS = 2, maximumPacketSize = Infinity } = {} }) => {
        if (isLeft) return;
        isOpen = true;
        terms = agreed;
        limits = { retain: retainAvailable, qos: maximumQoS, size: maximumPacketSize };
        announce().catch(fail);
      },
    );
    broker.on('disconnect', ({ reasonCode = 0 }) => {
      if (REFUSALS.includes(reasonCode))
        end({ cause: 'broker-refused', platformCode: `DISCONNECT_${reasonCode}` });
    });
    broker.on('message', (topic, data, { retain }) => {
      if (topic === topics.subscribe && !retain)
        connection.received(data); // a retained message belongs to no session
      else isRenamed ||= topic !== topics.subscribe;
    });
    broker.on('error', (error) => {
      fail(error);
      // What is not MQTT: MQTT.js would read on, from another place in the stream than limitPackets.
      if (!(error instanceof ErrorWithReasonCode)) broker.stream.destroy();
    });
    broker.on('close', () => {
      clearTimeout(lastWait);
      end(isOpen ? undefined : { cause: 'not-reachable', platformCode: 'ECONNRESET' });
    });
    let lastWait: ReturnType<typeof setTimeout> | undefined;
    return {
      write(data) {
        const payload = typeof data === 'string' ? data : Buffer.from(data);
        const cost = costOf(payload.length);
        if (payload.length + topics.publish.length + HEAD > limits.size)
          return end({ cause: 'broker-refused', platformCode: 'DISCONNECT_149' });
        unsent += cost;
        broker.publish(topics.publish, payload, { qos: levelOf(qos) }, (error) => {
          unsent -= cost;
          if (error) fail(error);
        });
      },
      unsent: () => unsent,
      close() {
        clearInterval(pings);
        if (!broker.connected) return void broker.end(true);
        say(offline).then(
          () => broker.end(),
          () => {},
        );
        lastWait = setTimeout(() => broker.stream.destroy(), 1000); // if the broker does not answer, it publishes the will
      },
    };
  }

  const client = clientOnNode(given, { open, advice, place, isBlind: true });
  return client.on('connect', () => sayOnline());
}

/** What is asked of a broker: first all, then what brokers with limits accept. */
type Terms = Pick<IClientOptions, 'will'> & { readonly protocolVersion: 4 | 5 };

/** Retain, and the level of QoS, are not supported (MQTT 5, section 3.2.2.2). */
const WILL_REFUSED = ['CONNACK_154', 'CONNACK_155'];
/** So brokers refuse a version that they do not know, as far as they say it. */
const VERSION_REFUSED = ['CONNACK_1', 'CONNACK_132', 'ECONNRESET', undefined];
/** Why a broker ends a connection for good (MQTT 5, section 3.14.2.1): the next would end like this one. */
const REFUSALS = [0x87, 0x8f, 0x90, 0x93, 0x94, 0x95, 0x96, 0x97, 0x99, 0x9a, 0x9b];
/** mosquitto refuses a message that is too long by a reason that MQTT has for connections only. */
const UNKNOWN_REASON = /^Invalid pub(?:ack|rec) reason code/;
/** The most bytes of a PUBLISH besides its topic and payload. */
const HEAD = 16;

function lesser({ protocolVersion, will }: Terms, { cause, platformCode }: Finding): Terms | undefined {
  if (protocolVersion !== 5 || cause === 'certificate-refused') return undefined;
  if (will?.retain && WILL_REFUSED.includes(platformCode!))
    return { protocolVersion, will: { ...will, qos: 0, retain: false } };
  return VERSION_REFUSED.includes(platformCode) ? { protocolVersion: 4, will } : undefined;
}

/** Connects as MQTT.js does, which passes not all options to a socket. */
function connectTo(url: string, { dial }: Route, options: IClientOptions): MqttClient {
  return /^wss?:/i.test(url) ? mqtt.connect(url, options) : new MqttClient(() => dial(), options);
}

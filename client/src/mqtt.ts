/** `hub-protocol-client/mqtt`: a client over MQTT for Node.js, with MQTT.js. docs/reference/mqtt.md has the reasons for the order of things. */
import { clientId, deriveTopics, presence } from 'hub-protocol';
import { ErrorWithReasonCode, ErrorWithSubackPacket, type MqttClient } from 'mqtt';
import { costOf } from './account.ts';
import { addressOf } from './address.ts';
import { REPLACED } from './advice.ts';
import { Broker, type Limits, UNHEARD, UNKNOWN_REASON } from './broker.ts';
import { budgetOf } from './budget.ts';
import { causeOfSilence, openingTimeout, sentenceOfCause } from './causes.ts';
import type { Client } from './client.ts';
import { clientOnNode } from './client-on-node.ts';
import { limitPackets } from './limit-packets.ts';
import type { MqttOptions } from './options.ts';
import { LIMITS } from './pieces.ts';
import type { Connection, Transport } from './platform.ts';
import { OF_MQTT, readNodeOptions } from './read-options.ts';
import { routeTo } from './sockets.ts';

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
  let isAnnounced = false;
  /** A hub on MQTT refuses a client by its silence, which a hub that is off keeps too. */
  const advice = {
    'text-after-ready': `The hub behind the broker at ${place.at} does not know this connection: it was restarted, has heard nothing from this client for minutes, or knows it by another key. Connecting again. If this goes on, ask the hub’s operator.`,
    'not-authentic': `A message of the hub was lost or damaged on its way through the broker at ${place.at}. Most likely it was longer than the broker allows, or its queue was full: ask its operator to allow packets of 66 kB, and longer queues. Connecting again.`,
    get timeout() {
      return isRenamed
        ? `The broker at ${place.at} delivers messages under other topics than they were published to. Let it keep topics as they are, or choose names without a dot for the hub and the access key.`
        : isAnnounced
          ? `The hub does not answer through the broker at ${place.at}. Ask the hub’s operator whether it is running, and whether it knows the access key and this client’s key, and ask the broker’s whether the accounts of both may use this client’s topics (in, out, status), and whether it renames topics (mount points).`
          : sentenceOfCause(causeOfSilence(true), place);
    },
  };
  let sayOnline = (): void => {};
  const broker = new Broker(url, route, {
    connectTimeout: timeout,
    username,
    password,
    clientId: given.clientId ?? clientId(userAgent, identity.accessKey), // the same at every start
    ...(hasWill && { will: { ...will, payload: Buffer.from(will.payload) } }),
    keepalive: Math.ceil(pingEvery / 4000), // seconds between pings of the broker
    wsOptions: { maxPayload: budget.packet, ...LIMITS },
  });

  function open(connection: Connection): Transport {
    let transport: Transport | undefined;
    const giveUp = broker.dial({
      begun: (begun) =>
        limitPackets(begun, budget.packet, { arriving: (bytes) => connection.arriving(bytes) }),
      opened(opened, limits) {
        transport = serve(connection, opened, limits);
      },
      failed: (finding) => connection.closed(finding),
    });
    return {
      write: (data) => transport!.write(data),
      unsent: () => transport?.unsent?.() ?? 0,
      close: (code) => (transport === undefined ? giveUp() : transport.close(code)),
    };
  }

  function serve(connection: Connection, broker: MqttClient, limits: Limits): Transport {
    let unsent = 0; // in bytes
    /** What a broker answers to a message about the status changes nothing. */
    const say = ({ topic, payload, qos: level, retain }: typeof will): Promise<void> =>
      new Promise((resolve, reject) => {
        const options = { qos: limits.levelOf(level), retain: retain && limits.retain };
        limits.publish(topic, payload, options, (error) =>
          !error || error instanceof ErrorWithReasonCode ? resolve() : reject(error),
        );
      });
    // A hub forgets a client that is silent for minutes. MQTT's own pings do not reach it.
    const pings = setInterval(() => connection.send({ msg_type: 'ping', payload: {} }), pingEvery);
    sayOnline = () => void say(online).catch(() => {}); // `close` follows

    const announce = async (): Promise<void> => {
      isAnnounced = false;
      await broker.subscribeAsync(topics.subscribe, { qos: limits.levelOf(qos) });
      await say(offline); // makes the hub forget an earlier session
      isAnnounced = true;
      connection.opened();
    };
    const refused = (platformCode: string): void => {
      const cause = platformCode === `PUBACK_${UNHEARD}` ? 'not-reachable' : 'broker-refused';
      connection.closed({ cause, platformCode });
    };
    /** SUBACK refuses the topic, PUBACK a message. */
    const fail = (error: Error): void => {
      if (error instanceof ErrorWithSubackPacket) refused(`SUBACK_${error.packet?.granted?.[0] ?? 128}`);
      else if (error instanceof ErrorWithReasonCode) refused(`PUBACK_${error.code}`);
      else if (UNKNOWN_REASON.test(error.message)) refused('PUBACK_149');
      else connection.closed();
    };
    broker.stream.prependListener('error', fail);
    announce().catch(fail);
    broker.on('disconnect', ({ reasonCode = 0 }) => {
      if (REFUSALS.includes(reasonCode)) refused(`DISCONNECT_${reasonCode}`);
      else if (reasonCode === 0x8e) connection.closed({ reason: REPLACED }); // session taken over
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
      connection.closed();
    });
    let lastWait: ReturnType<typeof setTimeout> | undefined;
    return {
      write(data) {
        const payload = Buffer.from(data as Uint8Array);
        const cost = costOf(payload.length);
        if (!limits.takes(topics.publish, payload)) return refused('DISCONNECT_149');
        unsent += cost;
        limits.publish(topics.publish, payload, { qos: limits.levelOf(qos), retain: false }, (error) => {
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

/** Why a broker ends a connection for good (MQTT 5, section 3.14.2.1): the next would end like this one. */
const REFUSALS = [0x87, 0x8f, 0x90, 0x93, 0x94, 0x95, 0x96, 0x97, 0x99, 0x9a, 0x9b];

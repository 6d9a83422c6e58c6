/** `hub-protocol-client/mqtt`: a client over MQTT for Node.js, with MQTT.js. docs/reference/mqtt.md has the reasons for the order of things. */
import { connect as connectTcp } from 'node:net';
import { clientId, deriveTopics, presence } from 'hub-protocol';
import mqtt, { ErrorWithReasonCode, ErrorWithSubackPacket, type IClientOptions, MqttClient } from 'mqtt';
import { costOf } from './account.ts';
import { addressOf, userAgentHeader } from './address.ts';
import type { Advice } from './advice.ts';
import { budgetOf } from './budget.ts';
import { causeOfOpening, openingTimeout, placeOf, socketOptions } from './causes.ts';
import type { Client } from './client.ts';
import { clientOnNode } from './client-on-node.ts';
import { limitPackets } from './limit-packets.ts';
import type { NodeOptions } from './options.ts';
import { MAX_PIECES } from './pieces.ts';
import type { Connection, Transport } from './platform.ts';
import { readNodeOptions } from './read-options.ts';

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
 * client.on('ask', ({ tell }) => console.error(tell)); // only a person can help
 * client.on('end', () => console.log('ended')); // ended
 * client.end(); // when the program ends
 */
export function connect(options: NodeOptions): Client {
  const given = readNodeOptions(options);
  const budget = budgetOf(given);
  const {
    identity,
    ca,
    allowPlaintext,
    pingEvery = 120_000,
    userAgent = 'hub-protocol-client',
    policy,
  } = given;
  const { url } = addressOf(identity, 'mqtt', { allowPlaintext });
  const { username, password, qos } = identity.mqtt!;
  const topics = deriveTopics(identity.mqtt!);
  const { will, online, offline } = presence(topics);

  const timeout = openingTimeout(policy?.deadlines);
  const place = placeOf(url, 'broker');
  /** A hub on MQTT refuses a client by its silence, which a hub that is off keeps too. */
  const advice: Advice = {
    timeout: `The hub does not answer through the broker at ${place.at}. Ask the hub’s operator whether it is running, and whether it knows the access key and this client’s key.`,
  };
  let sayOnline = (): void => {};

  function open({ send, opened, arriving, received, closed }: Connection): Transport {
    let isConnected = place.scheme.startsWith('ws'); // whether more than a socket has failed
    let isOpen = false;
    let unsent = 0; // in bytes
    const broker = connectTo(url, {
      connectTimeout: timeout,
      ...socketOptions(timeout),
      ...(ca !== undefined && { ca }),
      username,
      password,
      clientId: clientId(userAgent, identity.accessKey), // the same at every start
      will: { ...will, payload: Buffer.from(will.payload) },
      clean: true, // this session cannot use messages for an earlier one
      reconnectPeriod: 0, // a new connection is a new session
      keepalive: Math.ceil(pingEvery / 2000), // seconds between pings of the broker
      wsOptions: {
        maxPayload: budget.packet,
        ...MAX_PIECES,
        headers: userAgentHeader(userAgent),
        ...socketOptions(timeout),
      },
    });
    limitPackets(broker, budget.packet, { arriving });
    broker.handleMessage = (_, done) => setImmediate(done); // one message, then whatever else waits in the event loop
    const say = ({ topic, payload, ...rest }: typeof will) => broker.publishAsync(topic, payload, rest);
    // A hub forgets a client that is silent for minutes. MQTT's own pings do not reach it.
    const pings = setInterval(() => send({ msg_type: 'ping', payload: {} }), pingEvery);
    sayOnline = () => void say(online).catch(() => {}); // `close` follows

    const announce = async (): Promise<void> => {
      await broker.subscribeAsync(topics.subscribe, { qos });
      await say(offline); // makes the hub forget an earlier session
      opened();
    };
    /** CONNACK refuses the account, SUBACK the topic. */
    const fail = (error: Error): void => {
      const refused = (platformCode: string): void => closed({ cause: 'broker-refused', platformCode });
      if (error instanceof ErrorWithSubackPacket) refused('SUBACK_128');
      else if (error instanceof ErrorWithReasonCode) refused(`CONNACK_${error.code}`);
      else closed(isOpen ? undefined : causeOfOpening(error, isConnected));
    };
    broker.stream.once('connect', () => {
      isConnected = true;
    });
    broker.stream.prependListener('error', fail); // MQTT.js passes on only some of them
    broker.on('connect', () => {
      isOpen = true;
      announce().catch(fail);
    });
    broker.on('message', (topic, data, { retain }) => {
      if (topic === topics.subscribe && !retain) received(data); // a retained message belongs to no session
    });
    broker.on('error', (error) => {
      fail(error);
      // What is not MQTT: MQTT.js would read on, from another place in the stream than limitPackets.
      if (!(error instanceof ErrorWithReasonCode)) broker.stream.destroy();
    });
    broker.on('close', () => {
      clearTimeout(lastWait);
      closed(isOpen ? undefined : { cause: 'not-reachable', platformCode: 'ECONNRESET' });
    });
    let lastWait: ReturnType<typeof setTimeout> | undefined;
    return {
      write(data) {
        const payload = typeof data === 'string' ? data : Buffer.from(data);
        const cost = costOf(payload.length);
        unsent += cost;
        broker.publish(topics.publish, payload, { qos }, (error) => {
          unsent -= cost;
          if (error) closed();
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

  const client = clientOnNode(given, { open, advice, place });
  return client.on('connect', () => sayOnline());
}

/** Connects as MQTT.js does, which passes no options to a socket without TLS. */
function connectTo(url: string, options: IClientOptions): MqttClient {
  const { protocol, hostname, port } = new URL(url);
  if (protocol !== 'mqtt:') return mqtt.connect(url, options);
  const host = hostname.replace(/^\[|\]$/g, '');
  return new MqttClient(
    () => connectTcp({ ...socketOptions(options.connectTimeout!), host, port: Number(port || 1883) }),
    options,
  );
}

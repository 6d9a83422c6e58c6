/**
 * A client over MQTT for Node.js. To be copied, with the files that it and `stay-connected.ts` import. docs/mqtt.md has the
 * reasons for the order of things.
 */
import { clientId, deriveTopics, presence, selectEndpoint } from 'hub-protocol';
import mqtt, { ErrorWithReasonCode, ErrorWithSubackPacket } from 'mqtt';
import type { Client, ClientOptions } from '../client-options.ts';
import { stayConnected } from '../stay-connected.ts';

/** Throws if the identity has no MQTT, or a broker or topics that must not be used. */
export function startClient(options: ClientOptions): Client {
  const { identity, ca, allowPlaintext, pingEvery = 120_000 } = options;
  const { url } = selectEndpoint(identity, { requested: 'mqtt', allowPlaintext });
  const { username, password, qos } = identity.mqtt!;
  const topics = deriveTopics(identity.mqtt!);
  const { will, online, offline } = presence(topics);

  return stayConnected(options, ({ session, received, closed, run }) => {
    const broker = mqtt.connect(url, {
      ...(ca !== undefined && { ca }),
      username,
      password,
      clientId: clientId('example', identity.accessKey), // the same at every start
      will: { ...will, payload: Buffer.from(will.payload) },
      clean: true, // messages for an earlier session are useless to this one
      reconnectPeriod: 0, // a new connection is a new session
      keepalive: Math.ceil(pingEvery / 2000), // seconds between pings of the broker
    });
    const say = ({ topic, payload, ...rest }: typeof will) => broker.publishAsync(topic, payload, rest);
    const write = (data: string | Uint8Array): void => {
      const payload = typeof data === 'string' ? data : Buffer.from(data);
      broker.publish(topics.publish, payload, { qos }, (error) => error && closed());
    };
    // A hub forgets a client that is silent for minutes. MQTT's own pings do not reach it.
    const pings = setInterval(() => {
      if (session.state === 'ready') session.sendJson({ msg_type: 'ping', payload: {} }).forEach(write);
    }, pingEvery);

    const announce = async (): Promise<void> => {
      await broker.subscribeAsync(topics.subscribe, { qos });
      await say(offline); // so that the hub forgets an earlier session
      run(session.start());
    };
    /** CONNACK refuses the account with 4 or 5, SUBACK the topic. Otherwise the connection was lost. */
    const fail = (error: Error): void => {
      const isAccount = error instanceof ErrorWithReasonCode && [4, 5].includes(error.code);
      closed(isAccount || error instanceof ErrorWithSubackPacket ? 1008 : undefined);
    };
    broker.on('connect', () => announce().catch(fail));
    broker.on('message', (_topic, data, { retain }) => {
      if (!retain) received(data); // a retained message belongs to no session
    });
    broker.on('error', fail);
    broker.on('close', () => {
      clearInterval(pings);
      closed();
    });
    let isClosing = false;
    return {
      write,
      ready: () => void say(online).catch(() => {}), // `close` follows
      close() {
        if (isClosing) return;
        isClosing = true;
        if (!broker.connected) return void broker.end(true);
        say(offline).then(
          () => broker.end(),
          () => {},
        );
        setTimeout(() => broker.stream.destroy(), 1000); // if the broker does not answer, it publishes the will
      },
    };
  });
}

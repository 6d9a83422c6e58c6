/** How clients and hubs reach a broker: with MQTT 5, which gives reasons and limits, or else with 3.1.1. */
import mqtt, {
  ErrorWithReasonCode,
  type IClientOptions,
  type IConnackPacket,
  type IPublishPacket,
  MqttClient,
} from 'mqtt';
import { causeOfOpening, type Finding, refusesVersion } from './causes.ts';
import type { Route } from './sockets.ts';

/** What is asked of a broker: first all, then what brokers with limits accept. */
type Terms = Pick<IClientOptions, 'will'> & { readonly protocolVersion: 4 | 5 };

/** Retain, and the level of QoS, are not supported (MQTT 5, section 3.2.2.2). */
const WILL_REFUSED = ['CONNACK_154', 'CONNACK_155'];
/** mosquitto refuses a message that is too long by a reason that MQTT has for connections only. */
export const UNKNOWN_REASON: RegExp = /^Invalid pub(?:ack|rec) reason code/;

/** The broker has accepted a message, and nobody has subscribed to its topic (MQTT 5, section 3.4.2.1). */
export const UNHEARD = 16;

/** What a broker takes. One of 3.1.1 does not tell it. */
export interface Limits {
  readonly retain: boolean;
  levelOf(qos: number): 0 | 1 | 2;
  takes(topic: string, payload: Uint8Array): boolean;
  /**
   * Publishes now, or when the broker has acknowledged enough of what was published before: MQTT.js does not wait for that, and takes
   * what nobody hears for a success.
   */
  publish(
    topic: string,
    payload: string | Buffer,
    options: Pick<IPublishPacket, 'qos' | 'retain'>,
    done: (error?: Error) => void,
  ): void;
}

function limitsOf(
  broker: MqttClient,
  {
    retainAvailable = true,
    maximumQoS = 2,
    maximumPacketSize = Infinity,
    receiveMaximum = Infinity,
  }: IConnackPacket['properties'] = {},
): Limits {
  const waiting: (() => void)[] = [];
  let room = receiveMaximum;
  let reason: number | undefined;
  broker.on('packetreceive', (packet) => {
    reason = packet.cmd === 'puback' ? packet.reasonCode : 0;
  });
  return {
    publish(topic, payload, options, done) {
      const send = (): void => {
        room--;
        broker.publish(topic, payload, options, (error) => {
          room++;
          if (!broker.disconnecting) waiting.shift()?.(); // or each would fail in the callback of the one before
          done(
            error ?? (reason === UNHEARD ? new ErrorWithReasonCode('nobody listens', UNHEARD) : undefined),
          );
        });
      };
      if (room > 0) send();
      else waiting.push(send);
    },
    retain: retainAvailable,
    levelOf: (qos) => Math.min(qos, maximumQoS) as 0 | 1 | 2,
    takes: (topic, { length }) => length + topic.length + 16 <= maximumPacketSize, // 16: the most besides
  };
}

interface Dialled {
  /** Called with each connection that is begun. */
  begun(broker: MqttClient): void;
  /** The broker has accepted one of them. */
  opened(broker: MqttClient, limits: Limits): void;
  failed(finding: Finding, error: Error): void;
  /** Whether there is time for another attempt after one that was not answered. */
  readonly isPatient?: boolean;
}

export class Broker {
  readonly #begin: (terms: Terms) => MqttClient;
  readonly #isWebSocket: boolean;
  readonly #all: Terms;
  /** As last accepted. */
  #terms: Terms;

  constructor(url: string, route: Route, { will, wsOptions, ...given }: IClientOptions) {
    this.#isWebSocket = route.place.scheme.startsWith('ws');
    this.#all = { protocolVersion: 5, ...(will && { will }) };
    this.#terms = this.#all;
    const options: IClientOptions = {
      ...given,
      clean: true, // no session can use messages for an earlier one
      reconnectPeriod: 0, // a new connection is a new session
      wsOptions: { ...route.options, agent: route.agent, headers: route.headers, ...wsOptions } as object,
    };
    // MQTT.js passes not all options to a socket.
    this.#begin = (terms) =>
      this.#isWebSocket
        ? mqtt.connect(url, { ...options, ...terms })
        : new MqttClient(() => route.dial(), { ...options, ...terms });
  }

  /** From now on asks for less: something is wrong with what was accepted. */
  stepDown(): void {
    this.#terms = { ...this.#all, protocolVersion: 4 };
  }

  /**
   * Opens a connection on the terms that were last accepted, or else on lesser ones.
   * @returns what gives that up
   */
  dial({ begun, opened, failed, isPatient = false }: Dialled): () => void {
    let isOver = false;
    const attempt = (terms: Terms): MqttClient => {
      const broker = this.#begin(terms);
      let isConnected = this.#isWebSocket; // whether more than a socket has failed
      let isSettled = false;
      const fail = (error: Error, given?: Finding): void => {
        if (isSettled) return;
        const refused = error instanceof ErrorWithReasonCode ? `CONNACK_${error.code}` : undefined;
        const finding: Finding =
          given ??
          (refused ? { cause: 'broker-refused', platformCode: refused } : causeOfOpening(error, isConnected));
        isSettled = true;
        broker.end(true);
        const isSilent = isConnected && finding.platformCode === 'ETIMEDOUT';
        const next = isConnected && !isOver ? lesser(terms, finding, isPatient && isSilent) : undefined;
        if (next !== undefined) current = attempt(next);
        else {
          if (isSilent) this.stepDown();
          failed(finding, error);
        }
      };
      begun(broker);
      broker.handleMessage = (_, done) => setImmediate(done); // one message, then whatever else waits in the event loop
      broker.stream.once('connect', () => {
        isConnected = true;
      });
      broker.stream.prependListener('error', (error) => fail(error)); // MQTT.js passes on only some of them
      broker.on('error', (error) => fail(error));
      broker.once('close', () =>
        fail(new Error('the broker hung up'), { cause: 'not-reachable', platformCode: 'ECONNRESET' }),
      );
      broker.on('packetreceive', ({ cmd, length }) => {
        // A broker of 3.1.1 that takes any version for its own.
        if (cmd === 'connack' && length === 2 && terms.protocolVersion === 5)
          fail(new ErrorWithReasonCode('the broker speaks MQTT 3.1.1', 1));
      });
      broker.once('connect', ({ properties }) => {
        if (isSettled) return;
        isSettled = true;
        this.#terms = terms;
        opened(broker, limitsOf(broker, properties));
      });
      return broker;
    };
    let current = attempt(this.#terms);
    return () => {
      isOver = true;
      current.end(true);
    };
  }
}

/** What to ask of a broker that has refused more; `undefined` if it would refuse that, too. */
function lesser({ protocolVersion, will }: Terms, finding: Finding, isSilent: boolean): Terms | undefined {
  if (protocolVersion !== 5 || finding.cause === 'certificate-refused') return undefined;
  if (will?.retain && WILL_REFUSED.includes(finding.platformCode!))
    return { protocolVersion, will: { ...will, qos: 0, retain: false } };
  return isSilent || refusesVersion(finding) ? { protocolVersion: 4, will } : undefined;
}

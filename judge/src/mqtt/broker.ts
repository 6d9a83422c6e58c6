/**
 * An MQTT broker for the implementation under test alone: the judge is its other side, and sees everything that a real
 * broker hides, such as the will. Like a real one it ends a connection at the first packet that MQTT forbids.
 */
import { createServer, type Server, type Socket } from 'node:net';
import { generate, type IConnectPacket, type ISubscription, type Packet, parser } from 'mqtt-packet';
import { CannotRun } from '../adapter.ts';
import { Failure } from '../verdict.ts';

/** A message to publish. */
export interface Publication {
  readonly topic: string;
  readonly payload: Uint8Array;
  readonly qos: number;
  readonly retain: boolean;
}

/** One connection of the implementation under test, and its messages so far. */
export class Peer {
  readonly connect: IConnectPacket;
  isClosed = false;
  /** Whether it sent DISCONNECT, after which a broker publishes no will. */
  hasDisconnected = false;
  /** It has sent a packet that MQTT forbids. */
  onWrong: (failure: Failure) => void;
  onPublication: (publication: Publication) => void = () => {};
  onSubscription: () => void = () => {};
  onClose: () => void = () => {};
  readonly #socket: Socket;
  readonly #filters: Map<string, ISubscription> = new Map();
  readonly #acknowledged: Map<number, () => void> = new Map();
  #lastId = 0;

  constructor(socket: Socket, connect: IConnectPacket, onWrong: (failure: Failure) => void) {
    this.#socket = socket;
    this.connect = connect;
    this.onWrong = onWrong;
    socket.on('close', () => {
      this.isClosed = true;
      for (const resolve of this.#acknowledged.values()) resolve();
      this.onClose();
    });
  }

  /** Whether it has subscribed to a topic. */
  isSubscribed(topic: string): boolean {
    return this.#filterFor(topic) !== undefined;
  }

  /** Whether it acknowledges messages published on a topic. */
  acknowledges(topic: string): boolean {
    return (this.#filterFor(topic)?.qos ?? 0) > 0;
  }

  /**
   * Publishes, if it has subscribed to the topic.
   * @returns when it has acknowledged the message; immediately with QoS 0
   */
  async publish(topic: string, payload: Uint8Array, retain = false): Promise<void> {
    const filter = this.#filterFor(topic);
    if (filter === undefined || this.isClosed) return;
    const qos = filter.qos === 0 ? 0 : 1;
    this.#lastId = (this.#lastId % 0xffff) + 1;
    const messageId = this.#lastId;
    const acknowledged =
      qos === 0 ? undefined : new Promise<void>((resolve) => this.#acknowledged.set(messageId, resolve));
    this.#write({ cmd: 'publish', topic, payload: Buffer.from(payload), qos, retain, dup: false, messageId });
    await acknowledged;
  }

  /** Ends the connection, like a broker that fails. */
  close(): void {
    this.#socket.destroy();
  }

  /** Handles a packet as a broker does. */
  take(packet: Packet): void {
    const { cmd, messageId = 0 } = packet;
    if (cmd === 'publish') {
      if (packet.qos === 1) this.#write({ cmd: 'puback', messageId });
      if (packet.qos === 2) this.#write({ cmd: 'pubrec', messageId });
      this.onPublication({ ...packet, payload: new Uint8Array(packet.payload as Buffer) });
    } else if (cmd === 'pubrel') {
      this.#write({ cmd: 'pubcomp', messageId });
    } else if (cmd === 'puback') {
      this.#acknowledged.get(messageId)?.();
      this.#acknowledged.delete(messageId);
    } else if (cmd === 'subscribe') {
      const { subscriptions } = packet;
      for (const filter of subscriptions) this.#filters.set(filter.topic, filter);
      this.#write({ cmd: 'suback', messageId, granted: subscriptions.map(({ qos }) => qos) });
      this.onSubscription();
    } else if (cmd === 'unsubscribe') {
      for (const filter of packet.unsubscriptions) this.#filters.delete(filter);
      this.#write({ cmd: 'unsuback', messageId, granted: packet.unsubscriptions.map(() => 0) });
      this.onSubscription();
    } else if (cmd === 'pingreq') {
      this.#write({ cmd: 'pingresp' });
    } else if (cmd === 'disconnect') {
      this.hasDisconnected = true;
      this.#socket.end();
    }
  }

  #write(packet: Packet): void {
    this.#socket.write(generate(packet, this.connect));
  }

  #filterFor(topic: string): ISubscription | undefined {
    return [...this.#filters.values()].find((filter) => matches(filter.topic, topic));
  }
}

/** Whether a topic filter matches a topic (MQTT 5.0, section 4.7). */
export function matches(filter: string, topic: string): boolean {
  const levels = topic.split('/');
  const parts = filter.split('/');
  const isOpen = parts.at(-1) === '#';
  if (isOpen ? levels.length < parts.length - 1 : levels.length !== parts.length) return false;
  return parts.every((part, at) => part === '#' || part === '+' || part === levels[at]);
}

export interface BrokerOptions {
  /** 0 for any free port. */
  readonly port: number;
  /** Whether to admit this account. */
  readonly admits: (connect: IConnectPacket) => boolean;
  /** Called for each connection that is admitted, before CONNACK. */
  readonly onPeer: (peer: Peer) => void;
  /** Called for a packet that MQTT forbids, unless its connection has another listener. */
  readonly onWrong: (failure: Failure) => void;
}

export interface Broker {
  readonly url: string;
  stop(): void;
}

/** What MQTT forbids besides what `mqtt-packet` does not read, or `undefined`. A name of a topic was read as UTF-8. */
function faultIn(packet: Packet, isFirst: boolean): string | undefined {
  const { cmd, messageId } = packet;
  if (isFirst !== (cmd === 'connect')) return isFirst ? `${cmd} before CONNECT` : 'a second CONNECT';
  if (messageId === 0) return `${cmd} with packet identifier 0`;
  if (cmd === 'publish' && !/^[^+#\0\ufffd]+$/.test(packet.topic)) {
    return `publish to ${JSON.stringify(packet.topic)}, which is no topic name`;
  }
  return cmd === 'subscribe' && packet.subscriptions.length === 0 ? 'subscribe to nothing' : undefined;
}

/** @throws CannotRun if the port cannot be opened */
export async function startBroker({ port, admits, onPeer, onWrong }: BrokerOptions): Promise<Broker> {
  const sockets = new Set<Socket>();
  const peers = new Set<Peer>();
  const server: Server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {}); // `close` follows
    let peer: Peer | undefined;
    const wrong = (got: string): void => {
      const difference = { where: 'a packet over MQTT', expected: 'one that MQTT allows', got };
      const failure = new Failure(difference, [
        'packet: it breaks a rule of MQTT; brokers end the connection',
      ]);
      socket.destroy();
      if (peer === undefined) onWrong(failure);
      else peer.onWrong(failure);
    };
    const packets = parser();
    packets.on('error', ({ message }: Error) => wrong(message));
    packets.on('packet', (packet) => {
      if (socket.destroyed) return;
      const fault = faultIn(packet, peer === undefined);
      if (fault !== undefined) wrong(fault);
      else if (packet.cmd !== 'connect') peer!.take(packet);
      else {
        const isAdmitted = admits(packet);
        if (isAdmitted) {
          for (const other of peers) if (other.connect.clientId === packet.clientId) other.close();
          const own = new Peer(socket, packet, onWrong);
          peer = own;
          peers.add(own);
          socket.on('close', () => peers.delete(own));
          onPeer(own);
        }
        const refusal = isAdmitted ? { returnCode: 0, reasonCode: 0 } : { returnCode: 4, reasonCode: 0x86 };
        socket.write(generate({ cmd: 'connack', sessionPresent: false, ...refusal }, packet));
        if (!isAdmitted) socket.end();
      }
    });
    socket.on('data', (data) => packets.parse(data));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', ({ message }) => {
      reject(new CannotRun(`cannot listen on port ${port}: ${message}`));
    });
    server.listen(port, '127.0.0.1', resolve);
  });
  return {
    url: `mqtt://127.0.0.1:${(server.address() as { port: number }).port}`,
    stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

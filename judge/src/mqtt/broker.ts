/**
 * An MQTT broker for the implementation under test alone: the judge is its other side, and sees everything that a real
 * broker hides, such as the will.
 */
import { createServer, type Server, type Socket } from 'node:net';
import { CannotRun } from '../adapter.ts';
import {
  type Connect,
  type Filter,
  Malformed,
  type Packet,
  PacketReader,
  type Publication,
  writeAcknowledgement,
  writeConnack,
  writePingresp,
  writePublish,
  writeSuback,
} from './packets.ts';

/** One connection of the implementation under test, and its messages so far. */
export class Peer {
  readonly connect: Connect;
  isClosed = false;
  /** Whether it sent DISCONNECT, after which a broker publishes no will. */
  hasDisconnected = false;
  onPublication: (publication: Publication) => void = () => {};
  onSubscription: () => void = () => {};
  onClose: () => void = () => {};
  readonly #socket: Socket;
  readonly #filters: Map<string, Filter> = new Map();
  readonly #acknowledged: Map<number, () => void> = new Map();
  #lastId = 0;

  constructor(socket: Socket, connect: Connect) {
    this.#socket = socket;
    this.connect = connect;
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
    const qos = Math.min(filter.qos, 1);
    this.#lastId = (this.#lastId % 0xffff) + 1;
    const id = this.#lastId;
    const acknowledged =
      qos === 0 ? undefined : new Promise<void>((resolve) => this.#acknowledged.set(id, resolve));
    this.#socket.write(writePublish(this.connect.version, { topic, payload, qos, retain }, id));
    await acknowledged;
  }

  /** Ends the connection, like a broker that fails. */
  close(): void {
    this.#socket.destroy();
  }

  /** Handles a packet as a broker does. */
  take(packet: Packet): void {
    const { version } = this.connect;
    const write = (bytes: Uint8Array): boolean => this.#socket.write(bytes);
    if (packet.type === 'publish') {
      if (packet.qos === 1) write(writeAcknowledgement('puback', packet.id));
      if (packet.qos === 2) write(writeAcknowledgement('pubrec', packet.id));
      this.onPublication(packet);
    } else if (packet.type === 'pubrel') {
      write(writeAcknowledgement('pubcomp', packet.id));
    } else if (packet.type === 'puback') {
      this.#acknowledged.get(packet.id)?.();
      this.#acknowledged.delete(packet.id);
    } else if (packet.type === 'subscribe' || packet.type === 'unsubscribe') {
      for (const filter of packet.filters) {
        if (packet.type === 'subscribe') this.#filters.set(filter.filter, filter);
        else this.#filters.delete(filter.filter);
      }
      write(writeSuback(version, packet.type, packet.id, packet.filters));
      this.onSubscription();
    } else if (packet.type === 'pingreq') {
      write(writePingresp());
    } else if (packet.type === 'disconnect') {
      this.hasDisconnected = true;
      this.#socket.end();
    }
  }

  #filterFor(topic: string): Filter | undefined {
    return [...this.#filters.values()].find(({ filter }) => matches(filter, topic));
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
  readonly admits: (connect: Connect) => boolean;
  /** Called for each connection that is admitted, before CONNACK. */
  readonly onPeer: (peer: Peer) => void;
}

export interface Broker {
  readonly url: string;
  stop(): void;
}

/** @throws CannotRun if the port cannot be opened */
export async function startBroker({ port, admits, onPeer }: BrokerOptions): Promise<Broker> {
  const sockets = new Set<Socket>();
  const peers = new Set<Peer>();
  const server: Server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {}); // `close` follows
    const reader = new PacketReader();
    let peer: Peer | undefined;
    const take = (packet: Packet): void => {
      if (peer !== undefined) {
        peer.take(packet);
        return;
      }
      if (packet.type !== 'connect') throw new Malformed('the first packet is CONNECT');
      const isAdmitted = admits(packet);
      if (isAdmitted) {
        for (const other of peers) if (other.connect.clientId === packet.clientId) other.close();
        peer = new Peer(socket, packet);
        peers.add(peer);
        socket.on('close', () => peers.delete(peer!));
        onPeer(peer);
      }
      socket.write(writeConnack(packet.version, isAdmitted));
      if (!isAdmitted) socket.end();
    };
    socket.on('data', (data) => {
      try {
        for (const packet of reader.push(data)) take(packet);
      } catch (error) {
        if (!(error instanceof Malformed)) throw error;
        socket.destroy();
      }
    });
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

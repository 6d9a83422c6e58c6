/** An MQTT broker in this process, with accounts, and an ACL that restricts each client to its own topics. */
import { type AddressInfo, createServer as createPlainServer, type Socket } from 'node:net';
import { createServer } from 'node:tls';
import { Aedes, type Client } from 'aedes';

export interface BrokerOptions {
  /** PEM. Without it anyone on the network path can read the passwords: only for tests on loopback. */
  tls?: { key: string; cert: string };
  /** The levels that the topics of all clients start with. */
  base: string;
  /** The passwords, by account. The account of a client has the name of its access key. */
  accounts: Map<string, string>;
  /** The name of the hub's account. */
  hub: string;
}

export interface Broker {
  url: string;
  /** Waits until somebody subscribes to a topic filter. */
  subscribed(filter: string): Promise<void>;
  /** Calls back with the id of each client that disconnects. */
  left(heard: (clientId: string) => void): void;
  /** Drops all connections. */
  drop(): void;
  /** Whether it acknowledges no PUBLISH of the hub, and reads nothing more from it. */
  isStalled: boolean;
  /** How many connections there are. */
  readonly connections: number;
  /** The QoS of each filter that the hub has subscribed to. */
  readonly subscriptions: ReadonlyMap<string, number>;
  /** The QoS of what the hub has published, and whether the broker is to retain it. */
  readonly published: readonly (readonly [qos: number, isRetained: boolean])[];
  /** Answers no CONNECT until the function that it returns is called. */
  pause(): () => void;
  /** Whether it grants subscriptions. */
  grants: boolean;
  /** Whether it answers no SUBSCRIBE. */
  isSilent: boolean;
  stop(): Promise<void>;
}

export async function startBroker({ tls, base, accounts, hub }: BrokerOptions): Promise<Broker> {
  const users = new WeakMap<Client, string>();
  const subscriptions = new Map<string, number>();
  const published: [number, boolean][] = [];
  let gate = Promise.resolve();
  const may = (client: Client | null, topic: string, kinds: string[]): boolean => {
    const user = users.get(client!)!;
    return user === hub
      ? topic.startsWith(`${base}/`)
      : kinds.some((kind) => topic === `${base}/${user}/${kind}`);
  };
  const broker = await Aedes.createBroker({
    authenticate(client, username = '', password, done) {
      users.set(client, username);
      void gate.then(() =>
        done(null, password !== undefined && accounts.get(username) === password.toString()),
      );
    },
    authorizePublish(client, { topic, qos, retain }, done) {
      if (users.get(client!) === hub) published.push([qos, retain]);
      if (users.get(client!) === hub && handle.isStalled) return;
      done(may(client, topic, ['in', 'status']) ? null : new Error('not this client’s topic'));
    },
    authorizeSubscribe(client, subscription, done) {
      if (users.get(client!) === hub) subscriptions.set(subscription.topic, subscription.qos);
      if (handle.isSilent) return;
      done(null, handle.grants && may(client, subscription.topic, ['out']) ? subscription : null); // null: refused in the SUBACK
    },
  });
  const sockets = new Set<Socket>();
  const drop = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const serve = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    broker.handle(socket);
  };
  const server =
    tls === undefined
      ? createPlainServer({ noDelay: true }, serve)
      : createServer({ ...tls, noDelay: true }, serve);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const handle: Broker = {
    url: `${tls === undefined ? 'mqtt' : 'mqtts'}://localhost:${port}`,
    subscribed: (filter) =>
      new Promise((resolve) => {
        broker.on('subscribe', function heard(subscriptions) {
          if (!subscriptions.some(({ topic }) => topic === filter)) return;
          broker.off('subscribe', heard);
          resolve();
        });
      }),
    left: (heard) => void broker.on('clientDisconnect', ({ id }) => heard(id)),
    drop,
    subscriptions,
    published,
    get connections() {
      return sockets.size;
    },
    pause() {
      let open = (): void => {};
      gate = new Promise((resolve) => {
        open = resolve;
      });
      return open;
    },
    grants: true,
    isSilent: false,
    isStalled: false,
    async stop() {
      drop();
      await new Promise((resolve) => server.close(resolve));
      await new Promise<void>((resolve) => broker.close(resolve));
    },
  };
  return handle;
}

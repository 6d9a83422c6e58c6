/** A ClientLink, a hub and what is between them, step by step: each test answers the orders that it is about. */
import {
  ClientLink,
  createKeyring,
  HubSession,
  type HubSessionEvent,
  type JsonObject,
  type LinkEvent,
  type LinkOptions,
  type Order,
  RequestScheduler,
} from '../../src/index.ts';
import { CLIENT_STATIC, HUB_STATIC, NODE_ID } from '../world/keys.ts';
import { seeded } from '../world/random.ts';
import { toyCrypto } from '../world/toy-crypto.ts';

type Told<Type extends LinkEvent['type']> = Extract<LinkEvent, { type: Type }>;
type Ordered<Do extends Order['do']> = Extract<Order, { do: Do }>;

/** The PSK that hubs of the test world have for a node id. */
export const pskFor = (nodeId: string): Uint8Array => toyCrypto.sha256(new TextEncoder().encode(nodeId));

export class Shell {
  readonly link: ClientLink;
  now = 0;
  /** All orders, in order. */
  readonly orders: Order[] = [];
  /** Orders that answer themselves (default all). */
  readonly answers: Set<string>;
  hub: HubSession | undefined;
  readonly hubEvents: HubSessionEvent[] = [];
  clientKey: Uint8Array | undefined;

  constructor(options: Partial<LinkOptions> = {}, answers: readonly string[] = ['store', 'derive', 'write']) {
    const keyring = createKeyring({ accessKey: 'kiosk-7', staticKey: CLIENT_STATIC, crypto: toyCrypto });
    this.link = new ClientLink({
      crypto: toyCrypto,
      randomBytes: seeded(1),
      siteId: 'lobby',
      keyring,
      requests: ({ sessionId }) => new RequestScheduler({ sessionId }),
      ...options,
    });
    this.answers = new Set(answers);
  }

  /** Takes the orders of an input, and answers those that answer themselves. Returns the orders of this input alone. */
  run(orders: Order[]): Order[] {
    for (const order of orders) {
      this.orders.push(order);
      if (!this.answers.has(order.do)) continue;
      if (order.do === 'store') this.run(this.link.stored(undefined, this.now));
      if (order.do === 'derive')
        this.run(this.link.derived(order.derivation, pskFor(order.nodeId), this.now));
      if (order.do === 'write') this.toHub(order.data);
    }
    return orders;
  }

  start(): Order[] {
    return this.run(this.link.start(this.now));
  }

  /** A hub answers the connection that was opened last. */
  connect(options: Partial<ConstructorParameters<typeof HubSession>[0]> = {}): this {
    const { nodeId = NODE_ID } = options;
    this.hub = new HubSession({
      crypto: toyCrypto,
      nodeId,
      staticKey: HUB_STATIC,
      psk: pskFor(nodeId),
      randomBytes: seeded(2),
      clientKey: this.clientKey,
      ...options,
    });
    this.fromHub(this.hub.start());
    return this;
  }

  toHub(data: string | Uint8Array): void {
    this.fromHub(this.hub?.receive(data) ?? []);
  }

  fromHub(events: readonly HubSessionEvent[]): void {
    for (const event of events) {
      this.hubEvents.push(event);
      if (event.type === 'pin') this.clientKey = event.key;
      if (event.type === 'transmit') this.run(this.link.received(this.connection, event.data, this.now));
    }
  }

  /** The hub sends a bus message. */
  says(type: string, data: JsonObject = {}, context: JsonObject = {}): void {
    for (const sealed of this.hub!.sendJson({ msg_type: 'bus', payload: { type, data, context } })) {
      this.run(this.link.received(this.connection, sealed, this.now));
    }
  }

  closed(closing?: Parameters<ClientLink['closed']>[1]): Order[] {
    this.hub = undefined;
    return this.run(this.link.closed(this.connection, closing, this.now));
  }

  /** Lets time pass until the deadline, and wakes the link. */
  wake(): Order[] {
    this.now = this.link.deadline ?? this.now;
    return this.run(this.link.wake(this.now));
  }

  /** Loses the connection, and dials again. */
  redial(closing: Parameters<ClientLink['closed']>[1] = { code: 1006 }): this {
    this.closed(closing);
    this.wake();
    return this;
  }

  get connection(): number {
    return this.ordered('open').length;
  }

  ordered<Do extends Order['do']>(what: Do): Ordered<Do>[] {
    return this.orders.filter((order): order is Ordered<Do> => order.do === what);
  }

  told<Type extends LinkEvent['type']>(type: Type): Told<Type>[] {
    return this.ordered('tell')
      .map(({ event }) => event)
      .filter((event): event is Told<Type> => event.type === type);
  }

  /** What the hub has received since it was ready. */
  get heard(): string[] {
    return this.hubEvents.flatMap((event) =>
      event.type === 'message' && event.kind === 'json' ? [event.text] : [],
    );
  }
}

/** A link that is ready after first contact. */
export function readyShell(options: Partial<LinkOptions> = {}, answers?: readonly string[]): Shell {
  const shell = new Shell(options, answers);
  shell.start();
  return shell.connect();
}

/** What orders do, and what is told, by name. */
export function names(orders: readonly Order[]): string[] {
  return orders.map((order) => (order.do === 'tell' ? `tell ${order.event.type}` : order.do));
}

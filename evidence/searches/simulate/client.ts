/** A client: a shell around a ClientLink, which checks the laws of the link at each input and each order. */
import { nodeCrypto, randomBytes } from '../../../src/crypto/node.ts';
import {
  buildUtterance,
  ClientLink,
  createKeyring,
  type LinkEvent,
  type LinkOptions,
  type Order,
  pinHub,
  type RandomBytes,
  RequestScheduler,
  storePsk,
} from '../../../src/index.ts';
import type { ReadyEvent } from '../../../src/session/events.ts';
import { type Input, Laws } from '../../../test/link/laws.ts';
import type { Clock } from '../../../test/world/clock.ts';
import { CLIENT_STATIC, HUB_KEY, NODE_ID, PSK } from '../../../test/world/keys.ts';
import {
  dial,
  type Hub,
  type Transport as Over,
  type ClientLink as Transport,
} from '../../../test/world/network.ts';
import { seeded } from '../../../test/world/random.ts';

/** What is around a client. */
export interface Outside {
  /** Opens a transport, which passes what happens to `call`. */
  open(connection: number): Transport;
  derive(provide: (psk: Uint8Array) => void): void;
  hear(event: LinkEvent): void;
}

export class Client {
  readonly link: ClientLink;
  readonly laws: Laws = new Laws(30_000, (law) => {
    throw new Error(law);
  });
  readonly #clock: Clock;
  readonly #outside: Outside;
  #transport: Transport | undefined;
  /** Orders that were not carried out yet. */
  readonly #left: Order[] = [];
  #isBusy = false;
  #timer: number | undefined;

  constructor(options: Omit<LinkOptions, 'siteId'>, clock: Clock, outside: Outside) {
    this.link = new ClientLink({ siteId: 'lobby', ...options });
    this.#clock = clock;
    this.#outside = outside;
  }

  /** Gives the link an input, and carries out its orders: after those that are left. */
  call(name: Input, ...args: unknown[]): void {
    this.#left.push(...this.laws.call(this.link, name, args, this.#clock.now));
    if (this.#isBusy) return;
    this.#isBusy = true;
    for (let order = this.#left.shift(); order !== undefined; order = this.#left.shift())
      this.#carryOut(order);
    this.#isBusy = false;
    this.#clock.clear(this.#timer);
    const { deadline } = this.link;
    if (deadline === undefined) this.#timer = undefined;
    else this.#timer = this.#clock.after(Math.max(0, deadline - this.#clock.now), () => this.#wake());
  }

  #wake(): void {
    this.#timer = undefined; // the clock would keep the number of a timer that is cleared too late
    this.call('wake');
  }

  #carryOut(order: Order): void {
    if (order.do === 'open') this.#transport = this.#outside.open(order.connection);
    else if (order.do === 'write') this.#transport!.send(order.data);
    else if (order.do === 'close') this.#transport!.close();
    else if (order.do === 'store') this.call('stored', undefined);
    else if (order.do === 'derive')
      this.#outside.derive((psk) => this.call('derived', order.derivation, psk));
    else if (order.do === 'tell') this.#outside.hear(order.event);
  }
}

/** Random bytes of which those for the pauses have a seed. */
export function withPauses(seed: number, others: RandomBytes): RandomBytes {
  const pauses = seeded(seed);
  return (length) => (length === 3 ? pauses : others)(length);
}

export interface Report {
  dials: number;
  derivations: number;
  /** How often a person was asked, and the code of the last error about which they were. */
  questions: number;
  asked: string | undefined;
  /** How long its sessions were ready, in milliseconds, up to the present one. */
  readyFor: number;
  /** Since when the present session is ready. */
  readySince: number | undefined;
}

/** How long a client takes to derive a PSK, in milliseconds. */
const DERIVATION = 1000;
/** How often it asks the hub something, which hubs in trouble do not answer, in milliseconds. */
const QUESTION = 600_000;

/** A hub in trouble, as a client meets it. */
export interface Meeting {
  readonly clock: Clock;
  readonly over: Over;
  readonly hub: Hub;
  /** Whether the client has the key of the hub and its PSK. */
  readonly isKnown: boolean;
  /** The seed of its pauses. */
  readonly seed: number;
  /** Changes the link before it starts. */
  readonly prepare?: ((link: ClientLink) => void) | undefined;
  /** Is called with each event, and the client that tells it. */
  readonly hear?: (event: LinkEvent, client: Client) => void;
}

/** Starts a client that asks the hub something every ten minutes. */
export function startClient({
  clock,
  over,
  hub,
  isKnown,
  seed,
  prepare,
  hear,
}: Meeting): Report & { client: Client } {
  const fresh = createKeyring({ accessKey: 'key', staticKey: CLIENT_STATIC, crypto: nodeCrypto });
  const keyring = isKnown ? storePsk(pinHub(fresh, NODE_ID, HUB_KEY), NODE_ID, PSK) : fresh;
  const options = {
    crypto: nodeCrypto,
    keyring,
    randomBytes: withPauses(seed, randomBytes),
    requests: ({ sessionId }: ReadyEvent) => new RequestScheduler({ sessionId }),
  };
  const client = new Client(options, clock, {
    open(connection) {
      report.dials++;
      return dial(clock, over, hub, {
        onOpen: () => over === 'MQTT' && client.call('opened', connection),
        onData: (data) => client.call('received', connection, data),
        onClose: (closing) => client.call('closed', connection, closing),
      });
    },
    derive(provide) {
      report.derivations++;
      clock.after(DERIVATION, () => provide(PSK));
    },
    hear(event) {
      hear?.(event, client);
      if (event.type === 'connect') report.readySince ??= clock.now;
      else if (event.type === 'close' && report.readySince !== undefined) {
        report.readyFor += clock.now - report.readySince;
        report.readySince = undefined;
      } else if (event.type === 'ask') {
        report.asked = event.error.code;
        report.questions++;
      }
    },
  });
  const report = {
    client,
    dials: 0,
    derivations: 0,
    questions: 0,
    asked: undefined as string | undefined,
    readyFor: 0,
    readySince: undefined as number | undefined,
  };
  prepare?.(client.link);
  const ask = (number: number): void => {
    client.call('ask', buildUtterance({ requestId: `q${number}`, text: 'x' }));
    clock.after(QUESTION, () => ask(number + 1));
  };
  client.call('start');
  ask(1);
  return report;
}

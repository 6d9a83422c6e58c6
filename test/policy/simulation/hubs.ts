/** The hubs of the simulation. Each is in trouble of one kind. */
import { nodeCrypto, randomBytes } from '../../../src/crypto/node.ts';
import { HubSession } from '../../../src/index.ts';
import type { Hub, HubLink } from './network.ts';
import type { World } from './world.ts';

export const NODE_ID = 'hub-1';
export const CLIENT_STATIC: Uint8Array = new Uint8Array(32).fill(1);
const HUB_STATIC = new Uint8Array(32).fill(2);
const OTHER_STATIC = new Uint8Array(32).fill(3);
export const HUB_KEY: Uint8Array = nodeCrypto.x25519.publicKey(HUB_STATIC);
const CLIENT_KEY = nodeCrypto.x25519.publicKey(CLIENT_STATIC);
export const PSK: Uint8Array = new Uint8Array(32).fill(5);

interface ServeOptions {
  readonly staticKey?: Uint8Array;
  readonly psk?: Uint8Array;
  /** What happens when the session is ready at the hub. */
  readonly onReady?: (link: HubLink, world: World) => void;
}

/** A hub that does its part of the protocol, and sends a message when it is ready. */
function serving({ staticKey = HUB_STATIC, psk = PSK, onReady = greet }: ServeOptions = {}): Hub['accept'] {
  return (link, world) => {
    const session = new HubSession({
      crypto: nodeCrypto,
      nodeId: NODE_ID,
      staticKey,
      randomBytes,
      psk,
      clientKey: CLIENT_KEY,
    });
    const handle = (events: ReturnType<typeof session.start>): void => {
      for (const event of events) {
        if (event.type === 'transmit') link.send(event.data);
        if (event.type === 'close') link.refuse(1008);
        if (event.type === 'ready') {
          onReady({ ...link, send: (data) => session.sendJson(data as string).forEach(link.send) }, world);
        }
      }
    };
    handle(session.start());
    return (data) => handle(session.receive(data));
  };
}

function greet(link: HubLink): void {
  link.send('{"msg_type":"bus","payload":{"type":"hello"}}');
}

/** A hub that breaks every connection at some times. */
function goingDown(isUp: (now: number) => boolean, next: (now: number) => number): Hub {
  return {
    isUp,
    accept: serving({
      onReady(link, world) {
        greet(link);
        world.after(next(world.now) - world.now, () => link.breakDown());
      },
    }),
  };
}

/** A hub that is up and down in turns, for these numbers of milliseconds. */
function flapping(up: number, down: number): Hub {
  const period = up + down;
  return goingDown(
    (now) => now % period < up,
    (now) => now - (now % period) + up,
  );
}

const MINUTE = 60_000;

export interface Trouble {
  readonly name: string;
  readonly hub: Hub;
  /** Whether the client has the key of the hub and its PSK, so that it begins with KKpsk0. */
  readonly isKnown: boolean;
  /** Without it, the trouble is the same as silence over MQTT, or does not exist there. */
  readonly isForMqtt: boolean;
}

export const TROUBLES: readonly Trouble[] = [
  {
    name: 'breaks after `ready`',
    hub: { accept: serving({ onReady: (link, world) => world.after(500, () => link.breakDown()) }) },
    isKnown: true,
    isForMqtt: true,
  },
  {
    name: 'has another password',
    hub: { accept: serving({ psk: new Uint8Array(32).fill(6) }) },
    isKnown: false,
    isForMqtt: true,
  },
  {
    name: 'has changed the password',
    hub: { accept: serving({ psk: new Uint8Array(32).fill(6) }) },
    isKnown: true,
    isForMqtt: true,
  },
  { name: 'is silent', hub: { accept: () => () => {} }, isKnown: true, isForMqtt: true },
  {
    name: 'has a new key',
    hub: { accept: serving({ staticKey: OTHER_STATIC }) },
    isKnown: true,
    isForMqtt: true,
  },
  {
    name: 'forgets the session',
    hub: {
      accept(link, world) {
        const forget = () => link.send('{"msg_type":"hello","payload":{"node_id":"hub-1"}}');
        const curse = () => link.send('{"msg_type":"bus","payload":{}}');
        return serving({
          onReady: () =>
            void world.after(500, () => {
              forget();
              curse(); // over WebSocket, a HELLO that is text counts as a repeat
            }),
        })(link, world);
      },
    },
    isKnown: true,
    isForMqtt: true,
  },
  {
    name: 'restarts, for a minute',
    hub: goingDown(
      (now) => now < 10 * MINUTE || now >= 11 * MINUTE,
      (now) => (now < 10 * MINUTE ? 10 * MINUTE : 100 * MINUTE),
    ),
    isKnown: true,
    isForMqtt: true,
  },
  {
    name: 'is behind a proxy that closes after a minute',
    hub: { accept: serving({ onReady: (link, world) => world.after(MINUTE, () => link.breakDown()) }) },
    isKnown: true,
    isForMqtt: true,
  },
  {
    name: 'is up for 60 s, down for 30 s, and so on',
    hub: flapping(60_000, 30_000),
    isKnown: true,
    isForMqtt: true,
  },
  {
    name: 'is up for 20 s, down for 10 s, and so on',
    hub: flapping(20_000, 10_000),
    isKnown: true,
    isForMqtt: true,
  },
  {
    name: 'refuses the access key',
    hub: {
      accept(link) {
        link.refuse(1008);
        return () => {};
      },
    },
    isKnown: true,
    isForMqtt: false,
  },
  {
    name: 'is full (HTTP 503)',
    hub: { status: 503, accept: () => () => {} },
    isKnown: true,
    isForMqtt: false,
  },
];

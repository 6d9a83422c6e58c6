/** The hubs of the simulation. Each is in trouble of one kind. */
import { nodeCrypto, randomBytes } from '../../../src/crypto/node.ts';
import { HubSession } from '../../../src/index.ts';
import type { Clock } from '../../../test/world/clock.ts';
import { CLIENT_KEY, HUB_STATIC, NODE_ID, PSK } from '../../../test/world/keys.ts';
import { Line } from '../../../test/world/line.ts';
import type { Hub, HubLink } from '../../../test/world/network.ts';

const OTHER_STATIC = new Uint8Array(32).fill(3);

interface ServeOptions {
  readonly staticKey?: Uint8Array;
  readonly psk?: Uint8Array;
  /** What happens when the session is ready at the hub. */
  readonly onReady?: (link: HubLink, clock: Clock) => void;
}

/** A hub that does its part of the protocol, and sends a message when it is ready. */
export function serving({
  staticKey = HUB_STATIC,
  psk = PSK,
  onReady = greet,
}: ServeOptions = {}): Hub['accept'] {
  return (link, clock) => {
    const session = new HubSession({
      crypto: nodeCrypto,
      nodeId: NODE_ID,
      staticKey,
      randomBytes,
      psk,
      clientKey: CLIENT_KEY,
    });
    const line = new Line(session, {
      send: link.send,
      close: link.refuse,
      see({ type }) {
        if (type === 'ready') onReady({ ...link, send: (data) => line.say(data) }, clock);
      },
    });
    line.start();
    return (data) => line.receive(data);
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
      onReady(link, clock) {
        greet(link);
        clock.after(next(clock.now) - clock.now, () => link.breakDown());
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
    hub: { accept: serving({ onReady: (link, clock) => clock.after(500, () => link.breakDown()) }) },
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
      accept(link, clock) {
        const forget = () => link.send('{"msg_type":"hello","payload":{"node_id":"hub-1"}}');
        const curse = () => link.send('{"msg_type":"bus","payload":{}}');
        return serving({
          onReady: () =>
            void clock.after(500, () => {
              forget();
              curse(); // over WebSocket, a HELLO that is text counts as a repeat
            }),
        })(link, clock);
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
    hub: { accept: serving({ onReady: (link, clock) => clock.after(MINUTE, () => link.breakDown()) }) },
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

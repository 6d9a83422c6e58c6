/**
 * A network under virtual time: clients dial hubs, over WebSocket or MQTT. Over MQTT a hub cannot close the connection, which
 * is one to the broker, and everything arrives as bytes.
 */
import type { Closing } from '../../src/index.ts';
import type { Clock } from './clock.ts';
import type { Data } from './line.ts';

export type Transport = 'WebSocket' | 'MQTT';

/** What a hub holds of a connection. */
export interface HubLink {
  send(data: Data): void;
  /** Refuses the client: with a close code, or over MQTT with silence. */
  refuse(code: number): void;
  /** The connection breaks. */
  breakDown(): void;
}

/** How a hub treats connections. */
export interface Hub {
  /** Whether it, or its broker, can be reached. */
  isUp?(now: number): boolean;
  /** The HTTP status with which it refuses an upgrade to WebSocket. */
  readonly status?: number;
  /** Accepts a connection: over WebSocket when it opens, over MQTT when the client announces itself. */
  accept(link: HubLink, clock: Clock): (data: Data) => void;
}

/** What a client does with its connection. */
export interface Callbacks {
  onOpen(): void;
  onData(data: Data): void;
  onClose(closing: Closing | undefined): void;
}

/** What a client holds of a connection. */
export interface ClientLink {
  send(data: Data): void;
  close(): void;
}

/** Milliseconds until a connection stands, and until a message arrives. */
const SETUP = 300;
const LATENCY = 25;

export function dial(clock: Clock, transport: Transport, hub: Hub, callbacks: Callbacks): ClientLink {
  let isOpen = false;
  let isOver = false;
  let hubReceive: ((data: Data) => void) | undefined;
  let hubRefused = false;
  const end = (closing: Closing | undefined, delay: number): void => {
    clock.after(delay, () => {
      if (isOver) return;
      isOver = true;
      callbacks.onClose(closing);
    });
  };
  const link: HubLink = {
    send(data) {
      const arrives =
        transport === 'MQTT' && typeof data === 'string' ? new TextEncoder().encode(data) : data;
      clock.after(LATENCY, () => {
        if (!isOver) callbacks.onData(arrives);
      });
    },
    refuse(code) {
      hubRefused = true;
      if (transport === 'WebSocket') end({ code, reason: '' }, LATENCY);
    },
    breakDown: () => end({ code: 1006 }, LATENCY),
  };
  const isUp = (): boolean => hub.isUp?.(clock.now) ?? true;
  clock.after(SETUP, () => {
    if (isOver) return;
    if (!isUp() || (transport === 'WebSocket' && hub.status !== undefined)) {
      end({ code: 1006, ...(isUp() && { status: hub.status }) }, 0);
      return;
    }
    isOpen = true;
    if (transport === 'WebSocket') hubReceive = hub.accept(link, clock);
    callbacks.onOpen();
  });
  return {
    send(data) {
      if (!isOpen || isOver) throw new Error('the socket is not open');
      clock.after(LATENCY, () => {
        if (isOver || hubRefused) return;
        if (hubReceive === undefined) hubReceive = hub.accept(link, clock);
        else hubReceive(data);
      });
    },
    close() {
      end({ code: 1000 }, 0);
    },
  };
}

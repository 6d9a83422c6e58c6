/** One end of a connection: a session, and the wire that takes what it sends. */
import type { Closing, JsonObject } from '../../src/index.ts';

export type Side = 'client' | 'hub';
export type Data = string | Uint8Array;

/** What ClientSession and HubSession have in common. */
interface Session<Event> {
  start(): Event[];
  receive(data: Data): Event[];
  sendJson(value: JsonObject | string): Uint8Array[];
  sendBinary(bytes: Uint8Array): Uint8Array[];
  closed(closing?: Closing): Event[];
}

/** What an end does with its connection. */
export interface Wire<Event> {
  send(data: Data): void;
  /** Hangs up: the session failed. */
  close?(code: number): void;
  /** Sees each event before it is acted on. */
  see?(event: Event): void;
  /** Is called once all events of an input have been acted on. */
  settled?(): void;
}

/** An end of a connection that does what every integrator does: it sends what is to be transmitted, and closes on failure. */
export class Line<Event extends { type: string; data?: unknown; code?: unknown }, S extends Session<Event>> {
  readonly session: S;
  readonly #wire: Wire<Event>;

  constructor(session: S, wire: Wire<Event>) {
    this.session = session;
    this.#wire = wire;
  }

  start(): void {
    this.take(this.session.start());
  }

  receive(data: Data): void {
    this.take(this.session.receive(data));
  }

  closed(closing?: Closing): void {
    this.take(this.session.closed(closing));
  }

  /** Sends a message. */
  say(message: JsonObject | string | Uint8Array): void {
    const { session } = this;
    const frames = message instanceof Uint8Array ? session.sendBinary(message) : session.sendJson(message);
    for (const frame of frames) this.#wire.send(frame);
  }

  take(events: readonly Event[]): void {
    for (const event of events) {
      this.#wire.see?.(event);
      if (event.type === 'transmit') this.#wire.send(event.data as Data);
      if (event.type === 'close') this.#wire.close?.(event.code as number);
    }
    this.#wire.settled?.();
  }
}

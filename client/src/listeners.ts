/** The listeners to the events of a client. */
import { type HubEvent, LocalError, readOptions } from 'hub-protocol';
import type { ClientEvent } from './options.ts';

type Listener = (event: never) => void;

/** How many messages wait for a loop over the client. */
const MOST_WAITING = 1000;

const EVENTS: { readonly [type in ClientEvent['type']]: true } = {
  connecting: true,
  deriving: true,
  connect: true,
  disclosure: true,
  message: true,
  speak: true,
  envelope: true,
  bytes: true,
  close: true,
  reconnect: true,
  ask: true,
  unsent: true,
  dropped: true,
  'new-hub': true,
  'static-key-fresh': true,
  'hub-replaced': true,
  end: true,
  trace: true,
};

export class Listeners {
  /** Whether each listener is called only once, by type. */
  readonly #byType = new Map<string, Map<Listener, boolean>>();

  /** @throws LocalError `bad-argument` for an event that does not exist, and for a listener that is no function */
  add(type: ClientEvent['type'], listener: Listener, isOnce = false): void {
    assertListener(type, listener);
    const listeners = this.#byType.get(type) ?? new Map();
    this.#byType.set(type, listeners.set(listener, isOnce));
  }

  /** @throws LocalError as `add` */
  remove(type: ClientEvent['type'], listener: Listener): void {
    assertListener(type, listener);
    this.#byType.get(type)?.delete(listener);
  }

  /** An error that a listener throws is reported as uncaught, after the client has finished its work. */
  emit(event: ClientEvent): void {
    const listeners = this.#byType.get(event.type);
    for (const [listener, isOnce] of [...(listeners ?? [])]) {
      if (isOnce) listeners!.delete(listener);
      try {
        listener(event as never);
      } catch (error) {
        setTimeout(() => {
          throw error;
        });
      }
    }
  }

  /**
   * Iterates over the hub's unsolicited events, until the client ends.
   * @throws LocalError `wrong-state` after the messages that wait, if the loop is too slow and more than 1000 would wait
   */
  async *messages(): AsyncGenerator<HubEvent, void> {
    const queue: HubEvent[] = [];
    let isOver = false;
    let isTooSlow = false;
    let wake = (): void => {};
    const hear = ({ message }: { message: HubEvent }): void => {
      if (queue.length < MOST_WAITING) queue.push(message);
      else {
        isTooSlow = true;
        stop();
        this.remove('message', hear);
      }
      wake();
    };
    const stop = (): void => {
      isOver = true;
      wake();
    };
    this.add('message', hear);
    this.add('end', stop);
    try {
      while (queue.length > 0 || !isOver) {
        if (queue.length > 0) yield queue.shift()!;
        else
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
      }
      if (isTooSlow) {
        throw new LocalError(
          'wrong-state',
          `more than ${MOST_WAITING} messages of the hub wait for this loop: do slow work outside of it`,
        );
      }
    } finally {
      this.remove('message', hear);
      this.remove('end', stop);
    }
  }
}

function assertListener(type: ClientEvent['type'], listener: unknown): void {
  readOptions({ [type]: true }, 'event', EVENTS);
  if (typeof listener !== 'function') {
    throw new LocalError('bad-argument', `the listener of "${type}" expected a function`);
  }
}

/** The listeners to the events of a client. */
import { type HubEvent, LocalError } from 'hub-protocol';
import { readOptions } from 'hub-protocol/parts';
import type { ClientEvent } from './options.ts';
import { Unheard } from './unheard.ts';

type Listener = (event: never) => void;

/** What a message that waits takes besides its text, in bytes. */
const OVERHEAD = 1024;

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

/** Calls a function of the program. An error that it throws is reported as uncaught. */
export function asUncaught(call: () => void): void {
  try {
    call();
  } catch (error) {
    setTimeout(() => {
      throw error;
    });
  }
}

export class Listeners {
  /** Whether each listener is called only once, by type. */
  readonly #byType = new Map<string, Map<Listener, boolean>>();
  /** Whether somebody has listened to messages of one type. */
  #isByType = false;
  /** What is told to nobody. */
  readonly unheard: Unheard = new Unheard();

  /**
   * @param name - the type of the messages
   * @throws LocalError `bad-argument` for an event that does not exist, and for a listener that is no function
   */
  add(type: ClientEvent['type'], listener: Listener, isOnce = false, name?: string): void {
    assertListener(type, listener);
    const key = keyOf(type, name);
    this.#isByType ||= name !== undefined;
    const listeners = this.#byType.get(key) ?? new Map();
    this.#byType.set(key, listeners.set(listener, isOnce));
  }

  /** @throws LocalError as `add` */
  remove(type: ClientEvent['type'], listener: Listener, name?: string): void {
    assertListener(type, listener);
    this.#byType.get(keyOf(type, name))?.delete(listener);
  }

  /** Whether an event of a type has a listener. */
  isHeard(type: ClientEvent['type']): boolean {
    return (this.#byType.get(type)?.size ?? 0) > 0;
  }

  /** An error that a listener throws is reported as uncaught, after the client has finished its work. */
  emit(event: ClientEvent): void {
    this.unheard.take(event, (type) => this.isHeard(type));
    this.#call(event.type, event);
    if (this.#isByType && event.type === 'message') this.#call(`message ${event.message.type}`, event);
  }

  #call(key: string, event: ClientEvent): void {
    const listeners = this.#byType.get(key);
    for (const [listener, isOnce] of [...(listeners ?? [])]) {
      if (isOnce) listeners!.delete(listener);
      asUncaught(() => listener(event as never));
    }
  }

  /**
   * Iterates over the hub's unsolicited events, until the client ends.
   * @param most - how much may wait, in bytes
   * @param lengthOf - the length of the message that is told
   * @throws LocalError `wrong-state` after the messages that wait, if the loop is too slow and more would wait
   */
  async *messages(most: number, lengthOf: () => number): AsyncGenerator<HubEvent, void> {
    const queue: { readonly message: HubEvent; readonly size: number }[] = [];
    let waiting = 0;
    let isOver = false;
    let isTooSlow = false;
    let wake = (): void => {};
    const hear = ({ message }: { message: HubEvent }): void => {
      const size = lengthOf() + OVERHEAD;
      if (queue.length === 0 || waiting + size <= most) {
        queue.push({ message, size });
        waiting += size;
      } else {
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
        const next = queue.shift();
        if (next !== undefined) {
          waiting -= next.size;
          yield next.message;
        } else
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
      }
      if (isTooSlow) {
        throw new LocalError(
          'wrong-state',
          'too many messages of the hub wait for this loop: do slow work outside of it, or raise the option maxMemory, of which they may take an eighth',
        );
      }
    } finally {
      this.remove('message', hear);
      this.remove('end', stop);
    }
  }
}

/** @throws LocalError `bad-argument` for a name of other events than messages */
function keyOf(type: ClientEvent['type'], name: string | undefined): string {
  if (name === undefined) return type;
  if (type === 'message' && typeof name === 'string') return `message ${name}`;
  throw new LocalError('bad-argument', 'only "message" takes the type of the messages, which is a string');
}

function assertListener(type: ClientEvent['type'], listener: unknown): void {
  readOptions({ [type]: true }, 'event', EVENTS);
  if (typeof listener !== 'function') {
    throw new LocalError('bad-argument', `the listener of "${type}" expected a function`);
  }
}

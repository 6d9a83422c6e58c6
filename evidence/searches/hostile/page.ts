/** The WebSocket of a page, with the rules of browsers, and a hub that behaves badly at its other end. */
import { type Data, Hub, type Mind } from './hub.ts';
import { asPeer, time } from './virtual.ts';

type Event = Record<string, unknown>;

/** Sockets that are not closed. */
export const pageSockets: Set<object> = new Set();

/** Makes the class that a page calls. */
export function pageSocket(mindOf: () => Mind): unknown {
  return class PageSocket {
    binaryType = 'blob';
    readyState = 0;
    bufferedAmount = 0;
    onmessage: (event: Event) => void = () => {};
    onopen: (event: Event) => void = () => {};
    onerror: (event: Event) => void = () => {};
    onclose: (event: Event) => void = () => {};
    #isStalled = false;
    /** What has come and was not shown yet. */
    readonly #shown: unknown[] = [];
    #hub: Hub | undefined;
    readonly #mind = mindOf();

    constructor() {
      const mind = this.#mind;
      pageSockets.add(this);
      mind.ends.add(this.#end);
      mind.after(1, () => {
        const how = mind.isHonest ? 'open' : mind.choose({ open: 30, never: 1, late: 1, fail: 4, error: 1 });
        if (how === 'fail') this.#close(1006);
        else if (how === 'error') this.onerror({});
        else if (how === 'late') mind.after(mind.random.pick([100, 29_000, 31_000]), () => this.#open());
        else if (how === 'open') this.#open();
      });
    }

    readonly #end = (): void => {
      if (this.#mind.random.oneIn(3)) this.#isStalled = true;
      else this.#close(1006);
    };

    #open(): void {
      if (this.readyState !== 0) return;
      this.readyState = 1;
      this.onopen({});
      const { random } = this.#mind;
      const harms = [
        ...[1000, 1001, 1005, 1006, 1008, 1009, 1011, 1015, 4000].map((code) => () => this.#close(code)),
        () => {
          this.#isStalled = true;
        },
        () => this.onerror({}),
        () => this.#say(new Uint8Array(random.pick([0, 65_535, 65_536, 2 ** 20]))),
        () => {
          for (let i = 0; i < 300; i++) this.#say('{"msg_type":"hello","payload":{"node_id":"hub-2"}}');
        },
      ];
      this.#hub = new Hub(this.#mind, { say: (data) => this.#say(data), harms });
      this.#hub.start();
      this.#mind.after(5000, this.#speak);
    }

    readonly #speak = (): void => {
      if (this.readyState > 1 || this.#mind.isHonest) return;
      this.#hub?.speak();
      this.#mind.after(this.#mind.random.pick([10, 1000, 20_000]), this.#speak);
    };

    /** Events come one by one, in tasks of their own, between which a browser does other things. */
    #say(data: Data): void {
      if (this.#isStalled) return;
      const shown =
        typeof data === 'string'
          ? data
          : this.binaryType === 'arraybuffer'
            ? Uint8Array.from(data).buffer
            : new Blob([]);
      if (this.#shown.push(shown) === 1) setImmediate(this.#show);
    }

    readonly #show = (): void => {
      const data = this.#shown.shift();
      if (this.#shown.length > 0) setImmediate(this.#show);
      if (this.readyState === 1) this.onmessage({ data });
    };

    #close(code: number): void {
      if (this.readyState === 3) return;
      this.readyState = 2;
      setImmediate(() => {
        if (this.readyState === 3) return;
        this.readyState = 3;
        pageSockets.delete(this);
        this.#mind.ends.delete(this.#end);
        if (code === 1006) this.onerror({});
        this.onclose({ code, reason: code === 1006 ? '' : 'bye' });
      });
    }

    send(data: Data): void {
      if (this.readyState === 0) throw new DOMException('Still in CONNECTING state', 'InvalidStateError');
      time.note();
      const copy = typeof data === 'string' ? data : Uint8Array.from(data);
      if (this.readyState > 1 || this.#isStalled) this.bufferedAmount += copy.length;
      else
        setImmediate(() => asPeer(() => !this.#isStalled && this.readyState === 1 && this.#hub?.hear(copy)));
    }

    close(code?: number): void {
      if (code !== undefined && code !== 1000 && !(code >= 3000 && code <= 4999)) {
        throw new DOMException('The code is not one that a page may use', 'InvalidAccessError');
      }
      // A server that does not answer keeps the socket for as long as a browser waits.
      if (this.#isStalled && this.readyState === 1) {
        this.readyState = 2;
        this.#mind.after(20_000, () => this.#close(1006));
      } else this.#close(this.readyState === 0 ? 1006 : 1005);
    }
  };
}

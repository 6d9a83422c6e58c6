/** A TCP proxy on loopback that plants one fault in one connection, at a byte of one direction. */
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

export type Direction = 'to hub' | 'to client';

/** What may go wrong. The other connections are passed on as they are. */
export const KINDS = ['cut', 'stall', 'corrupt', 'split', 'join'] as const;

export interface Fault {
  /**
   * `cut`: both sockets are closed at this byte. `stall`: from it on, nothing passes in its direction. `corrupt`: one bit of it
   * differs. `split`: it comes in a packet of its own. `join`: from it on, what comes within some milliseconds is one packet.
   */
  kind: (typeof KINDS)[number];
  direction: Direction;
  /** The byte, counted from 0 in the direction. */
  at: number;
}

const JOINED = 3; // milliseconds

export class FaultyProxy {
  readonly #server: Server;
  readonly #target: number;
  readonly #sockets = new Set<Socket>();
  /** The faults of the next connections, one each. `undefined` for a connection without a fault. */
  faults: (Fault | undefined)[] = [];
  /** How many connections there were. */
  dials = 0;
  /** How many bytes the latest connection has carried. */
  carried: { [direction in Direction]: number } = { 'to hub': 0, 'to client': 0 };

  static async open(target: number): Promise<FaultyProxy> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new FaultyProxy(server, target);
  }

  private constructor(server: Server, target: number) {
    this.#server = server;
    this.#target = target;
    server.on('connection', (near) => this.#carry(near));
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #carry(near: Socket): void {
    this.dials++;
    this.carried = { 'to hub': 0, 'to client': 0 };
    const { carried } = this;
    const fault = this.faults.shift();
    const far = connect({ port: this.#target, host: '127.0.0.1' });
    for (const [from, to, direction] of [
      [near, far, 'to hub'],
      [far, near, 'to client'],
    ] as const) {
      this.#sockets.add(from);
      from.setNoDelay();
      from.on('error', () => {});
      from.on('close', () => {
        this.#sockets.delete(from);
        to.destroy();
      });
      const pass =
        fault?.direction === direction ? faulty(fault, from, to) : (data: Buffer) => to.write(data);
      from.on('data', (data) => {
        pass(data, carried[direction]);
        carried[direction] += data.length;
      });
    }
  }
}

/** Passes data on, with a fault. */
function faulty({ kind, at }: Fault, from: Socket, to: Socket): (data: Buffer, start: number) => void {
  let held: Buffer[] = [];
  let isStalled = false;
  return (data, start) => {
    const i = at - start;
    const isHere = i >= 0 && i < data.length;
    if (isStalled) return;
    if (kind === 'join' && i < data.length) {
      if (held.length === 0) {
        setTimeout(() => {
          to.write(Buffer.concat(held));
          held = [];
        }, JOINED);
      }
      held.push(data);
    } else if (!isHere) to.write(data);
    else if (kind === 'cut') to.write(data.subarray(0, i), () => to.destroy());
    else if (kind === 'stall') {
      isStalled = true;
      to.write(data.subarray(0, i));
    } else if (kind === 'corrupt') {
      data[i]! ^= 1 << (at % 8);
      to.write(data);
    } else {
      from.pause(); // so that nothing overtakes the rest
      to.write(data.subarray(0, i));
      setTimeout(() => {
        to.write(data.subarray(i, i + 1));
        setTimeout(() => {
          to.write(data.subarray(i + 1));
          from.resume();
        }, 1);
      }, 1);
    }
  };
}

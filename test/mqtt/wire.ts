/** The way to the broker: it sees what a connection begins with, and can go dead or break without anybody noticing. */
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { closeLater, PORT } from './broker.ts';

export class Wire {
  readonly port: number;
  /** The first byte on each connection: 0x16 where it begins with TLS, 0x10 with an MQTT CONNECT. */
  readonly began: number[] = [];
  readonly #server: Server;
  readonly #pairs: { near: Socket; far: Socket }[] = [];

  static async open(): Promise<Wire> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const wire = new Wire(server);
    closeLater(() => wire.#close());
    return wire;
  }

  private constructor(server: Server) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
    server.on('connection', (near) => {
      const far = connect({ port: PORT, host: '127.0.0.1', noDelay: true });
      near.setNoDelay();
      near.once('data', (data) => this.began.push(data[0]!));
      near.pipe(far).pipe(near);
      for (const [one, other] of [
        [near, far],
        [far, near],
      ] as const) {
        one.on('error', () => {});
        one.on('close', () => other.destroy());
      }
      this.#pairs.push({ near, far });
    });
  }

  /** From now on nothing gets through on the connections there are, and neither end is told. */
  freeze(): void {
    for (const { near, far } of this.#pairs) {
      near.unpipe();
      far.unpipe();
      near.pause();
      far.pause();
      near.removeAllListeners('close');
      far.removeAllListeners('close');
    }
  }

  /** The broker learns that a connection is dead. */
  tellBroker(): void {
    for (const { far } of this.#pairs) far.resetAndDestroy();
  }

  /** The client learns it. */
  tellClient(): void {
    for (const { near } of this.#pairs) near.destroy();
  }

  #close(): void {
    for (const { near, far } of this.#pairs) {
      near.destroy();
      far.destroy();
    }
    this.#server.close();
  }
}

/** A TCP proxy to the broker. It records how each connection begins, and can freeze or cut connections on either side. */
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { closeLater, PORT } from './broker.ts';

export class Wire {
  readonly port: number;
  /** The first byte on each connection: 0x16 for TLS, 0x10 for an MQTT CONNECT. */
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

  /** From now on the existing connections pass nothing on, and neither side notices. */
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

  /** Cuts the connections on the side of the broker. */
  cutFromBroker(): void {
    for (const { far } of this.#pairs) far.resetAndDestroy();
  }

  /** Cuts the connections on the side of the client. */
  cutFromClient(): void {
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

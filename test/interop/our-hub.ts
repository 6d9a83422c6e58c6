/** HubSession over a WebSocket server, for one client. It records everything that it sees. */
import { createServer as createHttpServer, type Server } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';
import { nodeCrypto, randomBytes } from '../../src/crypto/node.ts';
import {
  type CryptoProvider,
  type ErrorCode,
  HubSession,
  type HubSessionEvent,
  type JsonObject,
  parseJson,
  type Suite,
} from '../../src/index.ts';
import { buildPrologue, HandshakeState, protocolName } from '../../src/parts.ts';
import { certificate, certificateKey } from './certificate.ts';

export interface HubOptions {
  nodeId: string;
  staticKey: Uint8Array;
  psk: Uint8Array;
  /** The only suite on offer. */
  suite: Suite;
  /** For clients that trust public authorities only. */
  withoutTls?: boolean;
  hello?: JsonObject;
  handshake?: JsonObject;
  /** Returns the messages to send back, in order. */
  answer: (message: Message) => (JsonObject | string | Uint8Array)[];
}

export type Message = HubSessionEvent & { type: 'message' };

/**
 * The cryptography and the output of a hub that offers a single suite. A HubSession always offers ChaChaPoly too, so the list is
 * replaced in what it sends and in what it hashes, which has the list only in the prologue.
 */
function offering(suite: Suite) {
  const replace = (text: string): string => text.replace(/"suites":\[.*?\]/, `"suites":["${suite}"]`);
  const crypto: CryptoProvider = {
    ...nodeCrypto,
    sha256: (hash, data) => {
      const text = replace(Buffer.from(data!).toString('latin1'));
      return nodeCrypto.sha256(hash!, Buffer.from(text, 'latin1'));
    },
  };
  return { crypto, sent: (data: string | Uint8Array) => (typeof data === 'string' ? replace(data) : data) };
}

export class OurHub {
  /** The client's pinned static key. A test may drop it. */
  clientKey: Uint8Array | undefined;
  /** The last connection: path and query of its request, the text messages from the client, and the session's events. */
  seen: { url: string; cleartext: string[]; events: HubSessionEvent[] } = {
    url: '',
    cleartext: [],
    events: [],
  };
  /** The error codes of the `close` events of all connections. */
  readonly refusals: ErrorCode[] = [];
  options: HubOptions;
  readonly #server: Server;
  readonly #sockets: WebSocketServer;

  static async start(options: HubOptions): Promise<OurHub> {
    const hub = new OurHub(options);
    await new Promise<void>((resolve) => hub.#server.listen(0, '127.0.0.1', resolve));
    return hub;
  }

  private constructor(options: HubOptions) {
    this.options = options;
    this.#server = options.withoutTls
      ? createHttpServer()
      : createServer({ key: certificateKey, cert: certificate });
    this.#sockets = new WebSocketServer({ server: this.#server }).on('connection', (socket, request) => {
      const { nodeId, staticKey, psk, suite, hello, handshake, answer } = this.options;
      const seen = { url: request.url ?? '', cleartext: [] as string[], events: [] as HubSessionEvent[] };
      this.seen = seen;
      const { crypto, sent } = offering(suite);
      const session = new HubSession({
        crypto,
        nodeId,
        staticKey,
        randomBytes,
        psk,
        clientKey: this.clientKey,
        hello,
        handshake,
      });
      const handle = (events: HubSessionEvent[]): void => {
        for (const event of events) {
          seen.events.push(event);
          if (event.type === 'transmit') socket.send(sent(event.data));
          if (event.type === 'pin') this.clientKey = event.key;
          if (event.type === 'close') {
            this.refusals.push(event.error.code);
            socket.close(event.code);
          }
          if (event.type === 'message') {
            for (const value of answer(event)) {
              const sealed =
                value instanceof Uint8Array ? session.sendBinary(value) : session.sendJson(value);
              for (const message of sealed) socket.send(message);
            }
          }
        }
      };
      socket.on('message', (data, isBinary) => {
        if (!isBinary) seen.cleartext.push(String(data));
        handle(session.receive(isBinary ? (data as Buffer) : String(data)));
      });
      socket.on('close', (code) => handle(session.closed(code)));
      handle(session.start());
    });
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** The first event of a type on the last connection; `undefined` if there was none. */
  first<Type extends HubSessionEvent['type']>(type: Type): (HubSessionEvent & { type: Type }) | undefined {
    return this.seen.events.find((event) => event.type === type) as
      | (HubSessionEvent & { type: Type })
      | undefined;
  }

  /**
   * Reads message 1 of the last connection, of XXpsk2 with the only suite on offer, as if the hub had sent these payloads.
   * Throws if they are not those that the client bound.
   */
  readMessage1(hello: string, offer: string): void {
    const { psk, staticKey, suite } = this.options;
    const { payload } = JSON.parse(this.seen.cleartext[0]!);
    const handshake = new HandshakeState({
      crypto: nodeCrypto,
      role: 'responder',
      pattern: 'XXpsk2',
      suite,
      prologue: buildPrologue(parseJson(hello), parseJson(offer), protocolName('XXpsk2', suite)),
      psk,
      staticKey,
      randomBytes,
    });
    handshake.readMessage(Buffer.from(payload.noise.msg, 'hex'));
  }

  /** Ends all connections without a close frame. */
  drop(): void {
    for (const socket of this.#sockets.clients) socket.terminate();
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

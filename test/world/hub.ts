/**
 * A server that is a hub over every transport, on one port, with or without TLS: over WebSocket, for clients that poll, and over MQTT
 * with its own broker, also if that is reached over WebSocket. It keeps what it learns of each client.
 */
import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createServer as createTlsServer } from 'node:tls';
import {
  createKeyring,
  HubSession,
  type HubSessionEvent,
  type Identity,
  type JsonObject,
  type Keyring,
  parseIdentity,
  readAuthorization,
} from 'hub-protocol';
import { nodeCrypto as crypto, randomBytes } from 'hub-protocol/node';
import { Assistant } from 'hub-protocol-client/assistant';
import { generate, type IConnectPacket, type Packet, parser } from 'mqtt-packet';
import { createWebSocketStream, WebSocketServer } from 'ws';
import { DERIVED, NODE_ID, PASSWORD } from './keys.ts';

/** What a client has shown to the hub. */
export class Seen {
  /** The access key and the name of the program, however the transport carries them. */
  readonly names: (readonly [accessKey: string | undefined, program: string | undefined])[] = [];
  /** The payload of each HELLO. */
  readonly hellos: JsonObject[] = [];
  /** Each envelope on a session. */
  readonly envelopes: JsonObject[] = [];
  /** Pings: frames of a WebSocket, and envelopes. */
  readonly pings: ('frame' | 'envelope')[] = [];
  /** How each connection ended: the close code, `disconnect` over HTTPS, or what MQTT was told last. */
  readonly goodbyes: (number | string)[] = [];
  /** The keep-alive of each CONNECT, in seconds, and the account. */
  readonly accounts: (readonly [keepAlive: number, username: string, password: string])[] = [];
  /** The will of each CONNECT, and whether it asked for a clean session. */
  readonly wills: object[] = [];
  /** Over MQTT: the QoS of what was subscribed to, and the flags of what was published, and said of the status. */
  readonly flags: { readonly [use in 'subscribe' | 'publish' | 'status']: Set<number> } = {
    subscribe: new Set(),
    publish: new Set(),
    status: new Set(),
  };
  /** Over MQTT: what the status said, when it was subscribed to the hub’s topic, and when the hub was greeted. */
  readonly statuses: string[] = [];
  /** The last parts of the paths that were requested. */
  readonly requests: string[] = [];
  /** The whole paths, with their queries. */
  readonly targets: string[] = [];
  /** How many connections were made to the server. */
  connections = 0;
}

/** How the hub behaves from now on. */
export interface Behaviour {
  /** Answers each request of HTTP with this status, and each CONNECT of MQTT with the code; without a code, the upgrade before it, too. */
  refusal?: { readonly status: number; readonly connack?: number; readonly headers?: string } | undefined;
  /** Answers no upgrade, no request and no CONNECT. */
  isStuck?: boolean;
  /** Accepts the connection, and says nothing on it. */
  isSilent?: boolean;
  /** Answers no question. */
  isMute?: boolean;
  /** Ends each connection when it is open, with this code and reason. */
  closesWith?: readonly [code: number, reason: string] | undefined;
  /** Sends this in place of its HELLO. */
  greeting?: string | undefined;
  /** Is asked before the hub what to answer a client that polls: a status and a body, or the members of a JSON object. */
  answer?: ((path: string, hub: AnyHub) => Response | undefined | Promise<Response | undefined>) | undefined;
}

export type Response = { status: number; body: string; retryAfter?: string } | Record<string, unknown>;

/** A keyring in memory, as a client stores it. */
export interface KeptKeyring {
  load(): Keyring;
  update(change: (stored: Keyring) => Keyring): void;
}

export function inMemory(
  stored: Keyring = createKeyring({ accessKey: 'kiosk-7', staticKey: randomBytes(32), crypto }),
): KeptKeyring {
  let kept = stored;
  return {
    load: () => kept,
    update(change) {
      kept = change(kept);
    },
  };
}

/** A connection, as the hub uses it. */
interface Line {
  send(data: string | Uint8Array): void;
  close(code: number, reason: string): void;
}

interface Peer {
  receive(data: string | Uint8Array): void;
  closed(): void;
}

/** The last part of the path. */
function pathOf({ url }: IncomingMessage): string {
  return new URL(url!, 'http://localhost').pathname.split('/').at(-1)!;
}

export class AnyHub {
  readonly seen: Seen = new Seen();
  behaviour: Behaviour = {};
  /** The hub’s X25519 private key. */
  staticKey: Uint8Array = randomBytes(32);
  psk: Uint8Array = DERIVED;
  clientKey: Uint8Array | undefined;
  readonly sockets: Set<Socket> = new Set();
  /** Over MQTT: publishes something to the latest client. */
  publish: (data: string, options: { topic?: string; isRetained?: boolean }) => void = () => {};
  readonly #server: Server;
  readonly #isTls: boolean;
  readonly #http = createHttpServer({ keepAliveTimeout: 120_000 }, (request, response) =>
    this.#answer(request, response),
  );
  readonly #webSockets = new WebSocketServer({ noServer: true });
  /** The client that polls. */
  #polling: { readonly peer: Peer; readonly texts: string[]; readonly bytes: string[] } | undefined;
  /** The sessions that are ready. */
  readonly #sessions = new Set<HubSession>();
  readonly #lines = new Map<HubSession, Line>();

  private constructor(tls: { key: string; cert: string } | undefined) {
    this.#isTls = tls !== undefined;
    const serve = (socket: Socket): void => this.#serve(socket);
    this.#server = tls === undefined ? createServer(serve) : createTlsServer(tls, serve);
    this.#http.on('upgrade', (request, socket, head) => {
      const { refusal, isStuck } = this.behaviour;
      this.seen.requests.push(pathOf(request));
      this.seen.targets.push(request.url!);
      const refuse = (): void =>
        void socket.end(
          `HTTP/1.1 ${refusal!.status} no\r\n${refusal!.headers ?? ''}content-length: 0\r\n\r\n`,
        );
      if (request.headers['sec-websocket-protocol'] === 'mqtt') {
        if (refusal?.connack === undefined && refusal !== undefined) return refuse();
        this.#webSockets.handleUpgrade(request, socket, head, (accepted) =>
          this.#serveMqtt(createWebSocketStream(accepted).on('error', () => {})),
        );
        return;
      }
      this.#name(request);
      if (isStuck) return;
      if (refusal === undefined) {
        this.#webSockets.handleUpgrade(request, socket, head, (accepted) => this.#serveWebSocket(accepted));
      } else refuse();
    });
  }

  static async start(tls?: { key: string; cert: string }): Promise<AnyHub> {
    const hub = new AnyHub(tls);
    hub.#server.listen(0, '127.0.0.1');
    await once(hub.#server, 'listening');
    return hub;
  }

  stop(): void {
    this.cut();
    this.#server.close();
    this.#http.close();
    this.#webSockets.close();
  }

  /** Loses all connections, as a network does. */
  cut(): void {
    for (const socket of this.sockets) socket.destroy();
    this.#polling = undefined;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /**
   * Sends something to the clients that are ready.
   * @param isWhole - whether the last part of it is sent, too
   */
  say(envelope: JsonObject | Uint8Array, isWhole: boolean = true): void {
    for (const session of this.#sessions) {
      const messages =
        envelope instanceof Uint8Array ? session.sendBinary(envelope) : session.sendJson(envelope);
      for (const message of isWhole ? messages : messages.slice(0, -1))
        this.#lines.get(session)!.send(message);
    }
  }

  /**
   * The identity of a client of this hub.
   * @param scheme - how its broker is reached, without TLS
   */
  identity({ qos, ...fields }: { qos?: number } & object = {}, scheme: 'mqtt' | 'ws' = 'mqtt'): Identity {
    const { port } = this;
    const secure = this.#isTls ? 's' : '';
    return parseIdentity({
      access_key: 'kiosk-7',
      password: PASSWORD,
      site_id: 'lobby',
      protocols: { wss: true, https: true, mqtt: true },
      data_plane_endpoints: {
        wss: `ws${secure}://localhost:${port}`,
        https: `http${secure}://localhost:${port}`,
      },
      mqtt: {
        endpoint: `${scheme}${secure}://localhost:${port}`,
        username: 'account',
        password: 'of the broker',
        topic_prefix: 'hm/t1/kiosk-7',
        qos,
      },
      ai_disclosure: { en: 'An AI answers.', fr: 'Une IA répond.' },
      ...fields,
    });
  }

  /** What comes first tells MQTT from HTTP. */
  #serve(socket: Socket): void {
    this.sockets.add(socket);
    this.seen.connections++;
    socket.on('close', () => this.sockets.delete(socket)).on('error', () => {});
    socket.once('data', (first: Buffer) => {
      socket.pause();
      socket.unshift(first);
      if (first[0] === 0x10) this.#serveMqtt(socket);
      else this.#http.emit('connection', socket);
      process.nextTick(() => socket.resume());
    });
  }

  #name({ url }: IncomingMessage): void {
    const { accessKey, userAgent } = readAuthorization(url!) ?? {};
    this.seen.names.push([accessKey, userAgent]);
  }

  /** A client has come. */
  #begin(line: Line): Peer {
    const { closesWith, greeting, isSilent } = this.behaviour;
    const session = new HubSession({
      ...{ crypto, randomBytes, nodeId: NODE_ID, staticKey: this.staticKey, psk: this.psk },
      clientKey: this.clientKey,
    });
    const assistant = new Assistant(session);
    this.#lines.set(session, line);
    const carryOut = (events: readonly HubSessionEvent[]): void => {
      for (const event of events) {
        if (event.type === 'transmit') line.send(event.data);
        else if (event.type === 'hello') this.seen.hellos.push(event.payload!);
        else if (event.type === 'pin') this.clientKey = event.key;
        else if (event.type === 'ready') this.#sessions.add(session);
        else if (event.type === 'ended') this.#sessions.delete(session);
        else if (event.type === 'close') line.close(event.code, '');
        else if (event.type === 'message' && event.kind === 'json') this.#hear(JSON.parse(event.text));
        if (!this.behaviour.isMute) for (const data of assistant.handle(event)) line.send(data);
      }
    };
    if (closesWith !== undefined) line.close(...closesWith);
    else if (greeting !== undefined) line.send(greeting);
    else if (isSilent !== true) carryOut(session.start());
    return {
      receive: (data) => carryOut(session.receive(data)),
      closed: () => carryOut(session.closed()),
    };
  }

  #hear(envelope: JsonObject): void {
    const isPing = envelope.msg_type === 'ping' && JSON.stringify(envelope.payload) === '{}';
    if (isPing) this.seen.pings.push('envelope');
    else this.seen.envelopes.push(envelope);
  }

  #serveWebSocket(socket: import('ws').WebSocket): void {
    const peer = this.#begin({
      send: (data) => socket.send(data),
      close: (code, reason) => socket.close(code, reason),
    });
    socket.on('ping', () => this.seen.pings.push('frame'));
    socket.on('message', (data, isBinary) => peer.receive(isBinary ? (data as Buffer) : data.toString()));
    socket.on('close', (code) => {
      this.seen.goodbyes.push(code);
      peer.closed();
    });
  }

  /** Answers a client that polls. */
  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const { refusal, isStuck, answer } = this.behaviour;
    const path = pathOf(request);
    const given = await answer?.(path, this);
    if (given !== undefined) {
      const { status = 200, body = JSON.stringify(given), retryAfter = '0' } = given as Partial<Response>;
      return void response.writeHead(status as number, { 'retry-after': retryAfter as string }).end(body);
    }
    this.seen.requests.push(path);
    const isAllowed = path.startsWith('get_')
      ? request.method === 'GET'
      : request.method === 'POST' && request.headers['content-type'] === 'application/x-www-form-urlencoded';
    if (!isAllowed) return void response.writeHead(405).end();
    if (path === 'connect') this.#name(request);
    this.seen.targets.push(request.url!);
    if (isStuck) return;
    if (refusal !== undefined) {
      const [name, value] = (refusal.headers ?? 'x-none: 0').trim().split(': ') as [string, string];
      response.writeHead(refusal.status, { [name]: value }).end();
      return;
    }
    response.end(JSON.stringify(this.#poll(path, new URLSearchParams(Buffer.concat(parts).toString()))));
  }

  #poll(path: string, fields: URLSearchParams): object {
    if (path === 'connect') {
      const [texts, bytes]: [string[], string[]] = [[], []];
      const peer = this.#begin({
        send: (data) =>
          typeof data === 'string' ? texts.push(data) : bytes.push(Buffer.from(data).toString('base64')),
        close: () => {
          this.#polling = undefined;
        },
      });
      this.#polling = this.behaviour.closesWith === undefined ? { peer, texts, bytes } : undefined;
      return { status: 'Connected' };
    }
    const polling = this.#polling;
    if (path === 'disconnect') {
      if (polling !== undefined) this.seen.goodbyes.push(path);
      polling?.peer.closed();
      this.#polling = undefined;
      return { status: 'Disconnected' };
    }
    if (polling === undefined) return { error: 'Client is not connected' };
    if (path === 'get_messages') return { messages: polling.texts.splice(0) };
    if (path === 'get_binary_messages') return { b64_messages: polling.bytes.splice(0) };
    const message = fields.get('message')!;
    polling.peer.receive(fields.get('binary') === '1' ? Buffer.from(message, 'base64') : message);
    return { status: 'message sent' };
  }

  /** A broker with one client, and the hub behind it. */
  #serveMqtt(socket: Duplex): void {
    let topic = '';
    let peer: Peer | undefined;
    let last = 'nothing';
    let protocolVersion = 4;
    const write = (packet: Packet): boolean => socket.write(generate(packet, { protocolVersion }));
    const publish = (data: string | Uint8Array, to = topic, retain = false): void => {
      const payload = Buffer.from(data as string);
      write({ cmd: 'publish', topic: to, payload, qos: 0, dup: false, retain });
    };
    this.publish = (data, { topic, isRetained }) => publish(data, topic, isRetained);
    const take = (packet: Packet): void => {
      const { cmd, messageId = 0 } = packet;
      if (cmd === 'connect') {
        const returnCode = this.behaviour.refusal?.connack ?? 0;
        if (returnCode === 0) protocolVersion = packet.protocolVersion!;
        else if (packet.protocolVersion === 5)
          return void write({ cmd: 'connack', returnCode: 1, sessionPresent: false });
        this.#connect(packet);
        if (!this.behaviour.isStuck)
          write({ cmd: 'connack', returnCode, reasonCode: 0, sessionPresent: false });
      } else if (cmd === 'subscribe') {
        const [wanted] = packet.subscriptions;
        topic = wanted!.topic;
        this.seen.flags.subscribe.add(wanted!.qos);
        this.seen.statuses.push('subscribed');
        write({ cmd: 'suback', messageId, granted: [0] });
      } else if (cmd === 'pubrel') write({ cmd: 'pubcomp', messageId });
      else if (cmd === 'pingreq') write({ cmd: 'pingresp' });
      else if (cmd === 'disconnect') this.seen.goodbyes.push(last);
      else if (cmd === 'publish') {
        const { qos, retain } = packet;
        if (qos !== 0) write({ cmd: qos === 1 ? 'puback' : 'pubrec', messageId });
        const data = packet.payload as Buffer;
        const isStatus = packet.topic.endsWith('/status');
        this.seen.flags[isStatus ? 'status' : 'publish'].add((qos << 1) | Number(retain));
        if (isStatus) {
          last = data.toString();
          this.seen.statuses.push(last);
        } else if (peer !== undefined) peer.receive(data);
        else {
          this.seen.statuses.push('greeting');
          peer = this.#begin({ send: publish, close: () => {} }); // what HELLO says does not matter
        }
      }
    };
    const packets = parser().on('packet', take);
    socket.on('data', (part: Buffer) => packets.parse(part));
    socket.on('close', () => peer?.closed());
  }

  #connect({ clientId, will, keepalive, username = '', password, clean }: IConnectPacket): void {
    this.seen.wills.push({ ...will, payload: String(will?.payload), clean });
    this.seen.names.push([undefined, clientId]);
    this.seen.accounts.push([keepalive!, username, String(password)]);
  }
}

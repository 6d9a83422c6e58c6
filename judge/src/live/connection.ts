/** One connection as a queue: the messages that a scene sends, and those that it waits for. */
import type { RawData, WebSocket } from 'ws';
import { bytesToHex, bytesToUtf8, parseEnvelope } from '../protocol.ts';
import { type Causes, Failure } from '../verdict.ts';

/** How long to wait, in milliseconds: for an ordinary message, and for one that needs long work first. */
export interface Patience {
  readonly message: number;
  readonly long: number;
  /** How long to wait for silence; 1500 unless given. */
  readonly silence?: number;
}

interface Closing {
  readonly code: number;
  readonly reason: string;
}

const SILENCE = 1500;
const MAX_QUEUED = 128 * 1024 * 1024; // bytes not yet waited for; one message may have 32 MiB
const OVERHEAD = 100; // bytes of memory that a message takes in addition to its own
const OPENING_BRACE = 0x7b;
const TOO_BIG = 1009;
const LIMIT =
  'close code 1009: a message was too big for the WebSocket library; raise its limit to 262144 bytes: some libraries allow 32768 or less';

const AS_BYTES = 'envelopes: they are sent in binary messages of the WebSocket; each is one text message';
const SEALED = 'order: a sealed message comes before the handshake is done';
const TEXT_AFTER =
  'failure: a text message follows it; the other side learns nothing but that the connection ends';

type Received = { readonly data: string | Uint8Array } | 'closed' | 'late';

/** The transport of a connection. */
export interface Line {
  send(data: string | Uint8Array): void;
  close(code: number): void;
  /**
   * Whether the other side ends a session by silence, since it has no connection to close: a hub over MQTT. It may greet
   * the next client that speaks.
   */
  readonly isSilent?: true;
  /** Whether it distinguishes text from bytes, which MQTT does not. */
  readonly tellsText?: true;
  /** Sends a message in fragments, with a ping between them. */
  sendSplit?(data: string | Uint8Array): void;
  /** Sends a ping, and waits for the pong. */
  ping?(): Promise<boolean>;
  /** Sends a message with a mask if it must have none, and without if it must have one. */
  sendMismasked?(data: Uint8Array): void;
}

export class Connection {
  isClosed = false;
  /** The close code and reason of the other side; 1006 if there was no close frame. None over MQTT. */
  closing: Closing | undefined;
  /** Whether a message came back. */
  hasEchoed = false;
  /** Sends the next message in fragments, if the transport has them. */
  splitsNext = false;
  /** The masks of the frames that have arrived from a client, in hexadecimal. */
  masks: readonly string[] = [];
  readonly #line: Line;
  readonly #patience: Patience;
  readonly #queue: (string | Uint8Array)[] = [];
  #queued = 0;
  #failure: Failure | undefined;
  #wake: (() => void) | undefined;

  constructor(line: Line, patience: Patience) {
    this.#line = line;
    this.#patience = patience;
  }

  /** Takes a message of the other side. */
  received(data: string | Uint8Array): void {
    this.#queued += data.length + OVERHEAD;
    if (this.#queued <= MAX_QUEUED) {
      this.#queue.push(data);
      this.#wake?.();
      return;
    }
    this.forget();
    this.#line.close(1008);
    const got = `more than ${MAX_QUEUED / 2 ** 20} MiB of them`;
    this.fail(new Failure({ where: 'messages', expected: 'those that are due', got }));
  }

  /** The other side has closed the connection. */
  closed(closing?: Closing): void {
    this.isClosed = true;
    this.closing = closing;
    this.#wake?.();
  }

  /** Fails the scene, whatever it waits for: the other side broke a rule. */
  fail(failure: Failure): void {
    this.#failure ??= failure;
    this.#wake?.();
  }

  /** Forgets messages that have arrived but were not waited for. */
  forget(): void {
    this.#queue.length = 0;
    this.#queued = 0;
  }

  send(data: string | Uint8Array): void {
    if (this.isClosed) return;
    if (this.splitsNext && this.#line.sendSplit !== undefined) this.#line.sendSplit(data);
    else this.#line.send(data);
    this.splitsNext = false;
  }

  sendMismasked(data: Uint8Array): void {
    if (!this.isClosed) this.#line.sendMismasked?.(data);
  }

  /** @returns whether a ping was answered */
  ping(): Promise<boolean> {
    return this.#line.ping?.() ?? Promise.resolve(true);
  }

  /**
   * Returns the next message.
   * @param what - its name in the report
   * @param causes - the mistakes to name if the other side closes the connection instead
   * @param late - the mistakes to name if nothing comes
   */
  async receive(what: string, isLong = false, causes?: Causes, late?: Causes): Promise<string | Uint8Array> {
    const milliseconds = isLong ? this.#patience.long : this.#patience.message;
    const received = await this.#next(milliseconds);
    if (received === 'closed') {
      const { code, reason = '' } = this.closing ?? {};
      const how = code === undefined ? '' : `, with ${code}${reason && ` ${JSON.stringify(reason)}`}`;
      const got = `the connection closed${how}`;
      throw new Failure({ where: what, expected: 'this message', got }, code === TOO_BIG ? [LIMIT] : causes);
    }
    if (received === 'late') {
      const got = `nothing within ${milliseconds / 1000} s`;
      throw new Failure({ where: what, expected: 'this message', got }, late);
    }
    return received.data;
  }

  /** As `receive`, for an envelope: text, if the connection distinguishes text from bytes. */
  async receiveEnvelope(
    what: string,
    isLong = false,
    causes?: Causes,
    late?: Causes,
  ): Promise<string | Uint8Array> {
    const data = await this.receive(what, isLong, causes, this.#line.tellsText ? late : undefined);
    if (this.#line.tellsText && typeof data !== 'string') {
      const got = `a binary message, ${show(data)}`;
      throw new Failure(
        { where: what, expected: 'a text message', got },
        isEnvelope(data) ? [AS_BYTES] : [SEALED],
      );
    }
    return data;
  }

  /** Returns the next message; undefined if the other side closes the connection instead. */
  async receiveOrClose(after: string): Promise<string | Uint8Array | undefined> {
    try {
      return await this.receive(`close, or a message after ${after}`);
    } catch (error) {
      if (this.isClosed) return undefined;
      throw error;
    }
  }

  /**
   * Waits until the other side closes the connection, or is silent. It must not send anything before it does.
   * @param isEncrypted - whether text is no longer allowed
   */
  async expectClose(after: string, isLong = false, isEncrypted = false): Promise<void> {
    const { message: short, long, silence = SILENCE } = this.#patience;
    const message = isLong ? long : short;
    const received = await this.#next(this.#line.isSilent ? silence : message);
    if (received === 'closed') return;
    if (this.#line.isSilent && (received === 'late' || isGreeting(received.data))) return;
    const got =
      received === 'late' ? `still open after ${message / 1000} s` : `a message, ${show(received.data)}`;
    const expected = this.#line.isSilent
      ? 'silence, or a greeting'
      : 'the connection closed without a message';
    const isText = isEncrypted && received !== 'late' && typeof received.data === 'string';
    throw new Failure({ where: `after ${after}`, expected, got }, isText ? [TEXT_AFTER] : []);
  }

  /**
   * Waits, and the other side must not send anything at all.
   * @param least - the shortest wait, in milliseconds
   */
  async expectNothing(after: string, least = 0): Promise<void> {
    const received = await this.#next(Math.max(least, this.#patience.silence ?? SILENCE));
    if (received === 'closed' || received === 'late') return;
    const got = `a message, ${show(received.data)}`;
    throw new Failure({ where: `after ${after}`, expected: 'silence', got });
  }

  close(code: number): void {
    this.#line.close(code);
  }

  async #next(milliseconds: number): Promise<Received> {
    if (this.#queue.length === 0 && !this.isClosed && this.#failure === undefined) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, milliseconds);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    if (this.#failure !== undefined) throw this.#failure;
    const data = this.#queue.shift();
    if (data !== undefined) {
      this.#queued -= data.length + OVERHEAD;
      return { data };
    }
    return this.isClosed ? 'closed' : 'late';
  }
}

const PING = 'judge';

/** What a peer's frames break, by the code that `ws` gives it. */
const BROKEN: { readonly [code: string]: string } = {
  WS_ERR_EXPECTED_MASK: 'a frame of the client is not masked (RFC 6455, section 5.3)',
  WS_ERR_UNEXPECTED_MASK:
    'a frame of the hub is masked; only a client masks its frames (RFC 6455, section 5.1)',
  WS_ERR_INVALID_UTF8: 'a text message is not UTF-8 (RFC 6455, section 8.1)',
  WS_ERR_UNEXPECTED_RSV_1:
    'a frame has its first reserved bit set without agreed compression (RFC 6455, section 5.2)',
  WS_ERR_UNEXPECTED_RSV_2_3: 'a frame has reserved bits set (RFC 6455, section 5.2)',
  WS_ERR_INVALID_OPCODE:
    'a frame has an unknown opcode, or continues no message, or starts one inside another (RFC 6455, section 5.4)',
  WS_ERR_EXPECTED_FIN: 'a ping, pong or close is fragmented (RFC 6455, section 5.5)',
  WS_ERR_INVALID_CONTROL_PAYLOAD_LENGTH:
    'a ping, pong or close has more than 125 bytes, or a close has one (RFC 6455, section 5.5)',
  WS_ERR_UNSUPPORTED_DATA_PAYLOAD_LENGTH:
    'a frame names a length beyond 2^53; its eight bytes are in network order (RFC 6455, section 5.2)',
};

/**
 * A connection over a WebSocket.
 * @param isServer - whether the judge accepted it, so that its own frames have no mask
 */
export function overWebSocket(socket: WebSocket, patience: Patience, isServer = false): Connection {
  const line: Line = {
    tellsText: true,
    send: (data: string | Uint8Array) => socket.send(data),
    sendSplit(data) {
      const [bytes, binary] = [Buffer.from(data), typeof data !== 'string'];
      const third = Math.ceil(bytes.length / 3);
      socket.send(bytes.subarray(0, third), { fin: false, binary });
      socket.ping('between');
      socket.send(bytes.subarray(third, 2 * third), { fin: false, binary });
      socket.send(bytes.subarray(2 * third), { fin: true, binary });
    },
    sendMismasked: (data: Uint8Array) => socket.send(data, { mask: isServer }),
    ping: () =>
      new Promise((resolve) => {
        const timer = setTimeout(() => resolve(false), patience.message);
        const heard = (data: Buffer): void => {
          if (data.toString() !== PING) return;
          clearTimeout(timer);
          socket.off('pong', heard);
          resolve(true);
        };
        socket.on('pong', heard);
        socket.ping(PING);
      }),
    close: (code: number) => {
      socket.close(code);
      setTimeout(() => socket.terminate(), patience.message).unref(); // the other side may never close its own
    },
  };
  const connection = new Connection(line, patience);
  socket.on('message', (data: RawData, isBinary: boolean) => {
    connection.received(isBinary ? new Uint8Array(data as Buffer) : data.toString());
  });
  socket.on('error', ({ message, code = '' }: Error & { code?: string }) => {
    const rule = BROKEN[code]; // of other errors `close` tells
    if (rule === undefined) return;
    const difference = { where: 'WebSocket', expected: 'frames as in RFC 6455', got: message };
    connection.fail(new Failure(difference, [`WebSocket: ${rule}`]));
  });
  socket.on('close', (code, reason) => connection.closed({ code, reason: reason.toString() }));
  return connection;
}

/** Whether a hub greets a client that it does not know. */
function isGreeting(data: string | Uint8Array): boolean {
  return typeOf(data) === 'hello';
}

function isEnvelope(data: string | Uint8Array): boolean {
  return typeOf(data) !== undefined;
}

/** The type of an envelope; `undefined` for anything else. */
function typeOf(data: string | Uint8Array): string | undefined {
  try {
    return parseEnvelope(data).type;
  } catch {
    return undefined;
  }
}

/** Over MQTT an envelope arrives as bytes. */
function show(data: string | Uint8Array): string {
  if (typeof data !== 'string' && data[0] === OPENING_BRACE) return show(bytesToUtf8(data) ?? 'no UTF-8');
  return typeof data === 'string'
    ? JSON.stringify(data.slice(0, 200))
    : `${data.length} bytes, ${bytesToHex(data.subarray(0, 16))}…`;
}

/** A live connection after the handshake, on which the judge follows the rules or breaks them. */
import {
  bytesToUtf8,
  concatBytes,
  equalBytes,
  MAX_CHUNK,
  type MessageKind,
  type Pattern,
  Reassembler,
  RemoteError,
  splitMessage,
  type Transport,
  utf8ToBytes,
} from '../protocol.ts';
import { type Causes, Failure } from '../verdict.ts';
import type { Connection } from './connection.ts';

interface Message {
  readonly kind: MessageKind;
  readonly bytes: Uint8Array;
}

export class Talk {
  readonly pattern: Pattern;
  readonly #connection: Connection;
  readonly #transport: Transport;
  readonly #reassembler: Reassembler = new Reassembler();

  constructor(connection: Connection, transport: Transport, pattern: Pattern) {
    this.#connection = connection;
    this.#transport = transport;
    this.pattern = pattern;
  }

  /** Seals and sends plaintexts unchanged, with any markers. */
  sendFrames(frames: readonly Uint8Array[]): void {
    for (const frame of frames) this.#connection.send(this.#transport.encrypt(frame));
  }

  sendJson(text: string): void {
    this.sendFrames(splitMessage('json', utf8ToBytes(text)));
  }

  /** Seals a JSON message and sends the result of `change`. */
  sendChanged(text: string, change: (sealed: Uint8Array) => Uint8Array[]): void {
    const sealed = this.#transport.encrypt(frame(0x00, text));
    for (const message of change(sealed)) this.#connection.send(message);
  }

  sendText(text: string): void {
    this.#connection.send(text);
  }

  /** The client's first message. */
  async receiveHello(): Promise<unknown> {
    const what = 'the sealed HELLO';
    const { kind, bytes } = await this.#receive(what, false, { late: [NO_HELLO], text: HELLO_IN_CLEAR });
    const value = kind === 'json' ? parse(bytes) : undefined;
    if (value !== undefined) return value;
    const got = kind === 'json' ? 'a JSON message that is not JSON' : 'a binary message';
    throw new Failure({ where: what, expected: 'JSON', got }, kind === 'binary' ? [HELLO_AS_BYTES] : []);
  }

  /** Sends a message of this length, which the other side must send back. */
  async expectEcho(kind: MessageKind, length: number, isLong = false): Promise<void> {
    const bytes = payloadOf(kind, length);
    this.sendFrames(splitMessage(kind, bytes));
    await this.expectBack(kind, bytes, isLong);
  }

  /** Sends JSON, which must come back unchanged. */
  async expectText(text: string): Promise<void> {
    const bytes = utf8ToBytes(text);
    this.sendFrames(splitMessage('json', bytes));
    const where = `the JSON message${SENT_BACK}`;
    const back = await this.#receiveBack(where);
    if (equalBytes(back.bytes, bytes)) return;
    const isSame = isSameJson(back.bytes, bytes);
    const got = JSON.stringify(bytesToUtf8(back.bytes) ?? 'no UTF-8');
    throw new Failure({ where, expected: JSON.stringify(text), got }, isSame ? [REWRITTEN] : []);
  }

  async expectBack(kind: MessageKind, bytes: Uint8Array, isLong = false): Promise<void> {
    const where = `the ${kind} message of ${bytes.length} bytes${SENT_BACK}`;
    const back = await this.#receiveBack(where, isLong);
    const isSame = kind === 'binary' ? equalBytes(back.bytes, bytes) : isSameJson(back.bytes, bytes);
    if (back.kind === kind && isSame) return;
    const got = `a different ${back.kind} message of ${back.bytes.length} bytes`;
    throw new Failure(
      { where, expected: 'the message that was sent', got },
      mistakesInEcho(kind, bytes, back),
    );
  }

  async #receiveBack(what: string, isLong = false): Promise<Message> {
    const message = await this.#receive(what, isLong);
    this.#connection.hasEchoed = true;
    return message;
  }

  async #receive(
    what: string,
    isLong = false,
    { late, text }: { late?: Causes; text?: string } = {},
  ): Promise<Message> {
    for (;;) {
      const data = await this.#connection.receive(what, isLong, undefined, late);
      if (typeof data === 'string') {
        const isSealed = /^(?:[\da-f]{2})+$/i.test(data);
        const causes = isSealed ? [SEALED_AS_TEXT] : text === undefined ? [] : [text];
        throw new Failure({ where: what, expected: 'a sealed message', got: 'a text message' }, causes);
      }
      const message = this.#open(what, data);
      if (message !== undefined) return message;
    }
  }

  #open(what: string, sealed: Uint8Array): Message | undefined {
    try {
      const frame = this.#transport.decrypt(sealed);
      if (frame.length > MAX_CHUNK + 1) {
        const got = `one of ${frame.length - 1} bytes`;
        throw new Failure({ where: what, expected: `chunks of ${MAX_CHUNK} bytes`, got }, [LONG_CHUNKS]);
      }
      const message = this.#reassembler.push(frame);
      if (message === undefined) return undefined;
      if (message.type !== 'message') {
        throw new Failure({ where: what, expected: 'a message', got: `one that is ${message.reason}` });
      }
      const bytes = message.kind === 'json' ? utf8ToBytes(message.text) : message.bytes;
      return { kind: message.kind, bytes };
    } catch (error) {
      if (!(error instanceof RemoteError)) throw error;
      const got = `${error.code}: ${error.message}`;
      throw new Failure({ where: what, expected: 'a message that opens', got });
    }
  }
}

/** Ends what is waited for where a message must come back. */
export const SENT_BACK = ', sent back';
const NO_HELLO = 'HELLO: there is no sealed HELLO; the first sealed message of a client must be one';
const HELLO_IN_CLEAR =
  'HELLO: it is sent in the clear once more; the first sealed message of a client is its HELLO';
const HELLO_AS_BYTES = 'HELLO: it is sealed as a binary message; it is JSON';
const SEALED_AS_TEXT =
  'transport: sealed messages are sent as text; each is one binary message of the WebSocket';
const REWRITTEN =
  'messages: JSON is parsed and written again before it is sent back; deliver and send the text as it is';
const LONG_CHUNKS = `chunk limit: a frame has more than ${MAX_CHUNK} bytes, not counting the marker; longer messages are cut there`;

/** The mistakes in a message that was sent back. */
function mistakesInEcho(kind: MessageKind, bytes: Uint8Array, back: Message): Causes {
  if (back.kind !== kind) {
    const [sent, got] = kind === 'json' ? ['JSON', 'binary'] : ['binary', 'JSON'];
    return equalBytes(back.bytes, bytes)
      ? [`kind: a ${sent} message comes back as a ${got} one; send back JSON as JSON and binary as binary`]
      : [];
  }
  const { length } = back.bytes;
  const isStart = length < bytes.length && equalBytes(back.bytes, bytes.subarray(0, length));
  return isStart
    ? ['content: only the start of a message comes back; send all of it']
    : ['content: the message that comes back has another content than the one that was sent'];
}

/** Bytes of many values; for JSON, a string of letters with its quotation marks. */
function payloadOf(kind: MessageKind, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let i = 0; i < length; i++) bytes[i] = kind === 'binary' ? i % 251 : 0x61 + (i % 26);
  if (kind === 'json') {
    bytes[0] = 0x22;
    bytes[length - 1] = 0x22;
  }
  return bytes;
}

function parse(json: Uint8Array): unknown {
  try {
    return JSON.parse(bytesToUtf8(json)!);
  } catch {
    return undefined;
  }
}

function isSameJson(a: Uint8Array, b: Uint8Array): boolean {
  const first = parse(a);
  return first !== undefined && JSON.stringify(first) === JSON.stringify(parse(b));
}

export function frame(marker: number, text = ''): Uint8Array {
  return concatBytes([Uint8Array.of(marker), utf8ToBytes(text)]);
}

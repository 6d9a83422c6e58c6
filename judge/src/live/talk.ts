/** A live connection after the handshake, on which the judge sends as a peer should, or not. */
import {
  bytesToUtf8,
  concatBytes,
  equalBytes,
  type MessageKind,
  type Pattern,
  Reassembler,
  RemoteError,
  splitMessage,
  type Transport,
  utf8ToBytes,
} from '../protocol.ts';
import { Failure } from '../verdict.ts';
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

  /** Seals and sends plaintexts as they are, with whatever markers they have. */
  sendFrames(frames: readonly Uint8Array[]): void {
    for (const frame of frames) this.#connection.send(this.#transport.encrypt(frame));
  }

  sendJson(text: string): void {
    this.sendFrames(splitMessage('json', utf8ToBytes(text)));
  }

  /** Seals a JSON message and sends what `change` makes of it. */
  sendChanged(text: string, change: (sealed: Uint8Array) => Uint8Array[]): void {
    const sealed = this.#transport.encrypt(frame(0x00, text));
    for (const message of change(sealed)) this.#connection.send(message);
  }

  sendText(text: string): void {
    this.#connection.send(text);
  }

  async receiveJson(what: string): Promise<unknown> {
    const { kind, bytes } = await this.#receive(what);
    const value = kind === 'json' ? parse(bytes) : undefined;
    if (value !== undefined) return value;
    const got = kind === 'json' ? 'a JSON message that is not JSON' : 'a binary message';
    throw new Failure({ where: what, expected: 'JSON', got });
  }

  /** Sends a message of this length, which the other side is to send back. */
  async expectEcho(kind: MessageKind, length: number, isLong = false): Promise<void> {
    const bytes = payloadOf(kind, length);
    this.sendFrames(splitMessage(kind, bytes));
    await this.expectBack(kind, bytes, isLong);
  }

  async expectBack(kind: MessageKind, bytes: Uint8Array, isLong = false): Promise<void> {
    const where = `the ${kind} message of ${bytes.length} bytes, sent back`;
    const back = await this.#receive(where, isLong);
    const isSame = kind === 'binary' ? equalBytes(back.bytes, bytes) : isSameJson(back.bytes, bytes);
    if (back.kind === kind && isSame) return;
    const got = `a different ${back.kind} message of ${back.bytes.length} bytes`;
    throw new Failure({ where, expected: 'the message that was sent', got });
  }

  async #receive(what: string, isLong = false): Promise<Message> {
    for (;;) {
      const data = await this.#connection.receive(what, isLong);
      if (typeof data === 'string') {
        throw new Failure({ where: what, expected: 'a sealed message', got: 'a text message' });
      }
      const message = this.#open(what, data);
      if (message !== undefined) return message;
    }
  }

  #open(what: string, sealed: Uint8Array): Message | undefined {
    try {
      const message = this.#reassembler.push(this.#transport.decrypt(sealed));
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

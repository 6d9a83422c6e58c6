/** The control packets of MQTT 3.1.1 and 5.0 (section 3 of both) that a broker reads and writes for one client. */
import { bytesToUtf8, concatBytes, utf8ToBytes } from '../protocol.ts';

/** A message to publish. */
export interface Publication {
  readonly topic: string;
  readonly payload: Uint8Array;
  readonly qos: number;
  readonly retain: boolean;
}

export interface Connect {
  readonly type: 'connect';
  /** 4 is MQTT 3.1.1, 5 is MQTT 5.0. */
  readonly version: number;
  readonly clean: boolean;
  readonly clientId: string;
  readonly will: Publication | undefined;
  readonly username: string | undefined;
  readonly password: string | undefined;
}

export type Packet =
  | Connect
  | ({ readonly type: 'publish'; readonly id: number } & Publication)
  | { readonly type: 'puback' | 'pubrec' | 'pubrel' | 'pubcomp'; readonly id: number }
  | { readonly type: 'subscribe' | 'unsubscribe'; readonly id: number; readonly filters: readonly Filter[] }
  | { readonly type: 'pingreq' | 'disconnect' };

export interface Filter {
  readonly filter: string;
  readonly qos: number;
}

/** A packet that cannot be read ends the connection (MQTT 5.0, section 4.13). */
export class Malformed extends Error {}

const CONNECT = 1;
const CONNACK = 2;
const PUBLISH = 3;
const ACKNOWLEDGEMENTS = ['puback', 'pubrec', 'pubrel', 'pubcomp'] as const; // from 4 on
const SUBSCRIBE = 8;
const UNSUBSCRIBE = 10;
const PINGREQ = 12;
const DISCONNECT = 14;

/** Reads the fields of one packet, one after the other. */
class Fields {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  take(length: number): Uint8Array {
    if (this.#at + length > this.#bytes.length) throw new Malformed('a packet ends too early');
    this.#at += length;
    return this.#bytes.slice(this.#at - length, this.#at);
  }

  rest(): Uint8Array {
    return this.take(this.#bytes.length - this.#at);
  }

  byte(): number {
    return this.take(1)[0]!;
  }

  number(): number {
    return this.byte() * 256 + this.byte();
  }

  data(): Uint8Array {
    return this.take(this.number());
  }

  text(): string {
    const text = bytesToUtf8(this.data());
    if (text === undefined) throw new Malformed('a string is not UTF-8');
    return text;
  }

  /** MQTT 5.0 has properties, none of which matters here. */
  skipProperties(version: number): void {
    if (version < 5) return;
    let length = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.byte();
      length += (byte & 0x7f) << shift;
      if (byte < 0x80) break;
      if (shift === 21) throw new Malformed('a length has more than four bytes');
    }
    this.take(length);
  }
}

function readConnect(fields: Fields): Connect {
  fields.text(); // MQTT
  const version = fields.byte();
  if (version !== 4 && version !== 5) throw new Malformed(`version ${version}; MQTT 3.1.1 is 4, 5.0 is 5`);
  const flags = fields.byte();
  fields.number(); // the keepalive
  fields.skipProperties(version);
  const clientId = fields.text();
  let will: Publication | undefined;
  if (flags & 0x04) {
    fields.skipProperties(version);
    const topic = fields.text();
    will = { topic, payload: fields.data(), qos: (flags >> 3) & 3, retain: (flags & 0x20) !== 0 };
  }
  const username = flags & 0x80 ? fields.text() : undefined;
  const password = flags & 0x40 ? bytesToUtf8(fields.data()) : undefined;
  return { type: 'connect', version, clean: (flags & 0x02) !== 0, clientId, will, username, password };
}

function readPacket(first: number, body: Uint8Array, version: number): Packet {
  const fields = new Fields(body);
  const type = first >> 4;
  if (type === CONNECT) return readConnect(fields);
  if (type === PUBLISH) {
    const qos = (first >> 1) & 3;
    const topic = fields.text();
    const id = qos > 0 ? fields.number() : 0;
    fields.skipProperties(version);
    return { type: 'publish', topic, id, qos, retain: (first & 1) !== 0, payload: fields.rest() };
  }
  const acknowledgement = ACKNOWLEDGEMENTS[type - 4];
  if (acknowledgement !== undefined) return { type: acknowledgement, id: fields.number() };
  if (type === SUBSCRIBE || type === UNSUBSCRIBE) {
    const id = fields.number();
    fields.skipProperties(version);
    const filters: Filter[] = [];
    while (!fields.isAtEnd) {
      filters.push({ filter: fields.text(), qos: type === SUBSCRIBE ? fields.byte() & 3 : 0 });
    }
    return { type: type === SUBSCRIBE ? 'subscribe' : 'unsubscribe', id, filters };
  }
  if (type === PINGREQ) return { type: 'pingreq' };
  if (type === DISCONNECT) return { type: 'disconnect' };
  throw new Malformed(`a packet of type ${type}`);
}

/** Assembles the packets of one connection from the data of its socket. */
export class PacketReader {
  /** The version in CONNECT, which the packets after it follow. */
  version = 4;
  #parts: Uint8Array[] = [];
  #length = 0;
  /** The least length at which there may be a whole packet. */
  #wanted = 2;

  /** @throws Malformed */
  *push(part: Uint8Array): Generator<Packet> {
    this.#parts.push(part);
    this.#length += part.length;
    if (this.#length < this.#wanted) return;
    let bytes = concatBytes(this.#parts);
    for (;;) {
      const header = headerOf(bytes);
      const end = header === undefined ? bytes.length + 1 : header.start + header.length;
      this.#parts = [bytes];
      this.#length = bytes.length;
      this.#wanted = end;
      if (end > bytes.length) return;
      const packet = readPacket(bytes[0]!, bytes.subarray(header!.start, end), this.version);
      if (packet.type === 'connect') this.version = packet.version;
      bytes = bytes.subarray(end);
      yield packet;
    }
  }
}

/**
 * The start of the body of the first packet, and its length, if the whole header has arrived.
 * @throws Malformed
 */
export function headerOf(bytes: Uint8Array): { start: number; length: number } | undefined {
  let length = 0;
  for (let at = 1; at < bytes.length; at++) {
    length += (bytes[at]! & 0x7f) << (7 * (at - 1));
    if (bytes[at]! < 0x80) return { start: at + 1, length };
    if (at === 4) throw new Malformed('a length has more than four bytes');
  }
  return undefined;
}

/** A packet, with the length of its parts in seven bits a byte (section 2.2.3 of MQTT 3.1.1). */
export function packet(first: number, ...parts: Uint8Array[]): Uint8Array {
  const body = concatBytes(parts);
  const header = [first];
  let length = body.length;
  do {
    header.push((length & 0x7f) | (length > 0x7f ? 0x80 : 0));
    length >>= 7;
  } while (length > 0);
  return concatBytes([Uint8Array.from(header), body]);
}

const number = (value: number): Uint8Array => Uint8Array.of(value >> 8, value & 0xff);
const noProperties = (version: number): Uint8Array => new Uint8Array(version < 5 ? 0 : 1);

/** CONNACK: accepted, or bad user name or password. */
export function writeConnack(version: number, isAccepted: boolean): Uint8Array {
  const refusal = version < 5 ? 4 : 0x86;
  return packet(CONNACK << 4, Uint8Array.of(0, isAccepted ? 0 : refusal), noProperties(version));
}

export function writePublish(version: number, message: Publication, id: number): Uint8Array {
  const { topic, payload, qos, retain } = message;
  const name = utf8ToBytes(topic);
  const first = (PUBLISH << 4) | (qos << 1) | (retain ? 1 : 0);
  const idOf = qos > 0 ? number(id) : new Uint8Array(0);
  return packet(first, number(name.length), name, idOf, noProperties(version), payload);
}

export function writeAcknowledgement(type: (typeof ACKNOWLEDGEMENTS)[number], id: number): Uint8Array {
  const flags = type === 'pubrel' ? 2 : 0;
  return packet(((ACKNOWLEDGEMENTS.indexOf(type) + 4) << 4) | flags, number(id));
}

/** SUBACK, which grants the request, or UNSUBACK. */
export function writeSuback(
  version: number,
  type: 'subscribe' | 'unsubscribe',
  id: number,
  filters: readonly Filter[],
): Uint8Array {
  const isSubscribe = type === 'subscribe';
  const codes = isSubscribe ? filters.map(({ qos }) => qos) : version < 5 ? [] : filters.map(() => 0);
  const first = ((isSubscribe ? SUBSCRIBE : UNSUBSCRIBE) + 1) << 4;
  return packet(first, number(id), noProperties(version), Uint8Array.from(codes));
}

export function writePingresp(): Uint8Array {
  return packet((PINGREQ + 1) << 4);
}

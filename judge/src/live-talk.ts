/** What the judge says on a live connection once the handshake is done: as a peer should, or not. */
import { bytesToUtf8, concatBytes, equalBytes, utf8ToBytes } from '../../src/bytes.ts';
import { RemoteError } from '../../src/errors.ts';
import { MAX_CHUNK, MAX_MESSAGE } from '../../src/limits.ts';
import type { Pattern } from '../../src/noise/patterns.ts';
import type { Transport } from '../../src/noise/transport.ts';
import { type MessageKind, splitMessage } from '../../src/wire/markers.ts';
import { Reassembler } from '../../src/wire/reassembler.ts';
import { Failed } from './failed.ts';
import type { Line } from './live-line.ts';

const CHANGED = '{"changed":true}';

export class Talk {
  readonly #line: Line;
  readonly #transport: Transport;
  readonly #reassembler: Reassembler = new Reassembler();

  readonly pattern: Pattern;

  constructor(line: Line, transport: Transport, pattern: Pattern) {
    this.#line = line;
    this.#transport = transport;
    this.pattern = pattern;
  }

  /** Sends plaintexts as they are, markers and all. */
  sendFrames(frames: readonly Uint8Array[]): void {
    for (const frame of frames) this.#line.send(this.#transport.encrypt(frame));
  }

  sendJson(text: string): void {
    this.sendFrames(splitMessage('json', utf8ToBytes(text)));
  }

  /** Seals a message, and changes what was sealed before it is sent. */
  sendChanged(change: (sealed: Uint8Array) => Uint8Array[]): void {
    const sealed = this.#transport.encrypt(frame(0x00, CHANGED));
    for (const message of change(sealed)) this.#line.send(message);
  }

  sendText(text: string): void {
    this.#line.send(text);
  }

  async receive(what: string, isLong = false): Promise<{ kind: MessageKind; bytes: Uint8Array }> {
    for (;;) {
      const data = await this.#line.receive(what, isLong);
      if (typeof data === 'string')
        throw new Failed({ where: what, expected: 'a sealed message', got: 'a text' });
      try {
        const message = this.#reassembler.push(this.#transport.decrypt(data));
        if (message === undefined) continue;
        if (message.type !== 'message') {
          throw new Failed({ where: what, expected: 'a message', got: message.type });
        }
        return message.kind === 'json'
          ? { kind: 'json', bytes: utf8ToBytes(message.text) }
          : { kind: 'binary', bytes: message.bytes };
      } catch (error) {
        if (!(error instanceof RemoteError)) throw error;
        throw new Failed({
          where: what,
          expected: 'a sealed message',
          got: `${error.code}: ${error.message}`,
        });
      }
    }
  }

  async receiveJson(what: string): Promise<unknown> {
    const { kind, bytes } = await this.receive(what);
    try {
      if (kind === 'json') return JSON.parse(bytesToUtf8(bytes)!);
    } catch {
      // and if it is none, that is what is wrong with it
    }
    throw new Failed({ where: what, expected: 'JSON', got: `${kind} that is none` });
  }

  /** Sends a message that the port is to send back. */
  async expectEcho(kind: MessageKind, length: number, isLong = false): Promise<void> {
    const bytes = payloadOf(kind, length);
    this.sendFrames(splitMessage(kind, bytes));
    await this.expectBack(kind, bytes, isLong);
  }

  async expectBack(kind: MessageKind, bytes: Uint8Array, isLong = false): Promise<void> {
    const where = `the ${kind} message of ${bytes.length} bytes, sent back`;
    const back = await this.receive(where, isLong);
    const isSame =
      back.kind === kind &&
      (kind === 'binary' ? equalBytes(back.bytes, bytes) : isSameJson(back.bytes, bytes));
    if (isSame) return;
    throw new Failed({ where, expected: 'what was sent', got: `${back.kind} of ${back.bytes.length} bytes` });
  }
}

/** Bytes of any value; or, for JSON, a text of letters, quotation marks included. */
function payloadOf(kind: MessageKind, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let i = 0; i < length; i++) bytes[i] = kind === 'binary' ? i % 251 : 0x61 + (i % 26);
  if (kind === 'json') {
    bytes[0] = 0x22;
    bytes[length - 1] = 0x22;
  }
  return bytes;
}

function isSameJson(a: Uint8Array, b: Uint8Array): boolean {
  try {
    return JSON.stringify(JSON.parse(bytesToUtf8(a)!)) === JSON.stringify(JSON.parse(bytesToUtf8(b)!));
  } catch {
    return false;
  }
}

export function frame(marker: number, text = ''): Uint8Array {
  return concatBytes([Uint8Array.of(marker), utf8ToBytes(text)]);
}

/** A scene after the handshake. */
export interface TalkScene {
  readonly name: string;
  readonly comment: string;
  /** @throws Failed */
  play(talk: Talk, line: Line): Promise<void>;
}

const JSON_SIZES = [2, 1000, 65000, 65001, 130001];
const BINARY_SIZES = [0, 1, 64999, 65000, 65001, 130000, 130001, 200000];

/** What a port must live with. */
const GOOD: readonly TalkScene[] = [
  {
    name: 'messages',
    comment: 'JSON and binary messages of all sizes at the edges are sent back as they came.',
    async play(talk) {
      for (const size of JSON_SIZES) await talk.expectEcho('json', size);
      for (const size of BINARY_SIZES) await talk.expectEcho('binary', size);
    },
  },
  {
    name: 'small-chunks',
    comment: 'Chunks may be of any size, empty first and final ones included.',
    async play(talk) {
      const chunks = [frame(0x03), frame(0x04, 'small '), frame(0x04), frame(0x04, 'chunks'), frame(0x05)];
      talk.sendFrames(chunks);
      await talk.expectBack('binary', utf8ToBytes('small chunks'));
    },
  },
  {
    name: 'repeats',
    comment: 'A HELLO and an offer that come again on an established session change nothing.',
    async play(talk) {
      talk.sendText(JSON.stringify({ msg_type: 'hello', payload: { node_id: 'another' } }));
      talk.sendText(JSON.stringify({ msg_type: 'shake', payload: { max_protocol_version: 3 } }));
      await talk.expectEcho('json', 100);
    },
  },
  {
    name: 'too-large',
    comment: 'A message of more than 32 MiB is dropped, and the session goes on.',
    async play(talk) {
      const chunk = new Uint8Array(MAX_CHUNK + 1);
      chunk[0] = 0x03;
      talk.sendFrames([chunk]);
      chunk[0] = 0x04;
      for (let sent = MAX_CHUNK; sent <= MAX_MESSAGE; sent += MAX_CHUNK) talk.sendFrames([chunk]);
      talk.sendFrames([frame(0x05)]);
      await talk.expectEcho('binary', 10, true);
    },
  },
  {
    name: 'not-utf8',
    comment: 'A JSON message that is not UTF-8 is dropped, and the session goes on.',
    async play(talk) {
      talk.sendFrames([Uint8Array.of(0x00, 0x22, 0xff, 0x22)]);
      await talk.expectEcho('json', 10);
    },
  },
];

/** What must end the session: each is followed by a good message, which must find nobody. */
const BREACHES: readonly [name: string, comment: string, breach: (talk: Talk) => unknown][] = [
  [
    'text',
    'Text that is no repeat of the handshake ends an encrypted session.',
    (talk) => talk.sendText('{"msg_type":"bus","payload":{}}'),
  ],
  ['flipped-bit', 'A message that does not open ends the session.', (talk) => talk.sendChanged(flipLast)],
  [
    'replay',
    'A message that comes twice does not open the second time, which ends the session.',
    async (talk) => {
      let once: Uint8Array[] = [];
      talk.sendChanged((sealed) => {
        once = [sealed];
        return once;
      });
      await talk.expectBack('json', utf8ToBytes(CHANGED));
      talk.sendChanged(() => once);
    },
  ],
  [
    'truncated',
    'A message that was cut short ends the session.',
    (talk) => talk.sendChanged((sealed) => [sealed.subarray(0, 10)]),
  ],
  ['empty', 'A plaintext without a marker ends the session.', (talk) => talk.sendFrames([new Uint8Array(0)])],
  [
    'unknown-marker',
    'A plaintext with an unknown marker ends the session.',
    (talk) => talk.sendFrames([frame(0x06)]),
  ],
  [
    'middle-chunk',
    'A middle chunk with nothing open ends the session.',
    (talk) => talk.sendFrames([frame(0x04, 'x')]),
  ],
  [
    'final-chunk',
    'A final chunk with nothing open ends the session.',
    (talk) => talk.sendFrames([frame(0x05, 'x')]),
  ],
  [
    'interleaved',
    'A new message while one is open ends the session.',
    (talk) => talk.sendFrames([frame(0x03, 'x'), frame(0x01, 'y')]),
  ],
];

function flipLast(sealed: Uint8Array): Uint8Array[] {
  const flipped = sealed.slice();
  flipped[flipped.length - 1]! ^= 1;
  return [flipped];
}

export const TALK_SCENES: readonly TalkScene[] = [
  ...GOOD,
  ...BREACHES.map(([name, comment, breach]): TalkScene => {
    const play = async (talk: Talk, line: Line): Promise<void> => {
      await talk.expectEcho('json', 10);
      await breach(talk);
      talk.sendFrames([frame(0x01, 'after')]);
      await line.expectClose(name);
    };
    return { name, comment, play };
  }),
];

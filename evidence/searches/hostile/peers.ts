/**
 * Servers of each transport, as bytes on a socket, which is one of this machine or one in memory. Each behaves as it should, or badly:
 * below the messages of the protocol here, and with these in hub.ts.
 */
import { createHash } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { type Data, Hub, type Menu, type Mind, nasty } from './hub.ts';

export type Peer = (socket: Duplex, mind: Mind) => void;

/** Does the work of a peer: in memory it is timed. */
export const works: { run: (work: () => void) => void } = { run: (work) => work() };

const KIB = 1024;
/** How much a server keeps for a client that does not read, in bytes. */
const MOST_WAITING = 2 * KIB * KIB;
const GARBAGE = Buffer.alloc(KIB, 0xff);
/** A packet this short costs the client as much as a long one, so a flood of them is mostly shorter, in bytes. */
const SHORT = 16;

/** A socket that may be cut, or not read any more. */
class Wired {
  readonly socket: Duplex;
  readonly mind: Mind;
  /** Nothing is heard or answered any more. */
  isDead = false;
  readonly #gone: (() => void)[] = [];

  constructor(socket: Duplex, mind: Mind) {
    this.socket = socket;
    this.mind = mind;
    socket.on('error', () => {});
    const end = (): void => {
      if (mind.random.oneIn(3)) this.stall();
      else if (mind.random.oneIn(2)) this.reset();
      else this.cut();
    };
    mind.ends.add(end);
    socket.on('close', () => {
      mind.ends.delete(end);
      for (const gone of this.#gone) gone();
    });
  }

  onGone(run: () => void): void {
    this.#gone.push(run);
  }

  write(bytes: Uint8Array | string): void {
    const { destroyed, writableEnded, writableLength } = this.socket;
    if (!destroyed && !writableEnded && writableLength < MOST_WAITING) this.socket.write(bytes);
  }

  /** As fast as the other side reads, even if it has closed. */
  flood(bytes: Buffer): void {
    const { random } = this.mind;
    const isBrief = bytes.length <= SHORT && !random.oneIn(50);
    const many = Buffer.concat(new Array(Math.ceil(((isBrief ? 4 : 64) * KIB) / bytes.length)).fill(bytes));
    let left = random.pick([1, 4, 32]);
    const go = (): void => {
      if (left-- <= 0 || this.socket.destroyed || this.socket.writableEnded || this.isDead) return;
      this.socket.write(many, () => this.mind.after(0, go));
    };
    go();
  }

  /** Stops reading, and says nothing more. */
  stall(): void {
    this.isDead = true;
    this.socket.pause();
  }

  end(): void {
    this.socket.end();
  }

  cut(): void {
    this.isDead = true;
    this.socket.destroy();
  }

  reset(): void {
    this.isDead = true;
    const { socket } = this as { socket: { resetAndDestroy?: () => void; other?: { reset(): void } } };
    if (socket.other !== undefined) socket.other.reset();
    else socket.resetAndDestroy?.();
  }

  /** Bytes of which each comes by itself, or only the first ones. */
  slowly(bytes: Buffer): void {
    const count = this.mind.random.oneIn(2) ? bytes.length : this.mind.random.below(bytes.length);
    for (let i = 0; i < Math.min(count, 300); i++)
      this.mind.after(i, () => this.write(bytes.subarray(i, i + 1)));
    if (count >= 300) this.mind.after(300, () => this.write(bytes.subarray(300, count)));
  }

  /** What any socket can do. */
  get harms(): (() => void)[] {
    return [
      () => this.stall(),
      () => this.end(),
      () => this.cut(),
      () => this.reset(),
      () => this.write(GARBAGE.subarray(0, 1 + this.mind.random.below(300))),
      () => this.flood(GARBAGE),
    ];
  }
}

/** Takes as many bytes as a reader wants, again and again. */
function readWith(wired: Wired, read: (bytes: Buffer) => number): void {
  let kept: Buffer = Buffer.alloc(0);
  const take = (part: Buffer): void => {
    kept = kept.length === 0 ? part : Buffer.concat([kept, part]);
    for (let taken = 1; taken > 0 && kept.length > 0 && !wired.isDead; ) {
      taken = read(kept);
      kept = kept.subarray(taken);
    }
  };
  wired.socket.on('data', (part: Buffer) => works.run(() => take(part)));
}

/** A frame of a server's WebSocket. */
function frame(first: number, payload: Data): Buffer {
  const body = Buffer.from(payload as string);
  const { length } = body;
  if (length < 126) return Buffer.concat([Buffer.from([first, length]), body]);
  const head = Buffer.from([first, 127, 0, 0, 0, 0, 0, 0, 0, 0]);
  head.writeUInt32BE(length, 6);
  return Buffer.concat([head, body]);
}

const [TEXT, BINARY, CLOSE, PING, PONG] = [0x81, 0x82, 0x88, 0x89, 0x8a] as const;
const WS_FLOODS = [
  frame(TEXT, '{"msg_type":"hello","payload":{"node_id":"hub-2"}}'),
  frame(TEXT, '{}'),
  frame(TEXT, 'x'.repeat(300 * KIB)),
  frame(BINARY, new Uint8Array(250 * KIB)),
  frame(BINARY, ''),
  frame(PING, new Uint8Array(125)),
  frame(PONG, ''),
  frame(0x01, ''), // the first fragment of a text
  Buffer.concat([frame(0x01, 'x'), ...new Array(10_000).fill(frame(0x00, 'x'))]),
];

const UPGRADES: Menu<
  'honest' | 'silent' | 'late' | 'status' | 'accept' | 'header' | 'slow' | 'twice' | 'harm'
> = {
  honest: 40,
  silent: 1,
  late: 1,
  status: 4,
  accept: 1,
  header: 2,
  slow: 2,
  twice: 1,
  harm: 3,
};
const STATUSES = [
  '200 OK',
  '302 Found',
  '401 No',
  '403 No',
  '404 No',
  '426 No',
  '429 No',
  '500 No',
  '503 No',
  '100 Go on',
  '999 No',
  '42',
];
const HEADERS = [
  'Sec-WebSocket-Protocol: x',
  'Sec-WebSocket-Extensions: permessage-deflate',
  'Set-Cookie: a=b',
  'Location: http://localhost:1/',
  `X: ${'x'.repeat(20_000)}`,
  'Content-Length: 9999999999',
  'Transfer-Encoding: chunked',
  '\u0000: \u0001',
];
const CLOSE_CODES = [1000, 1001, 1002, 1005, 1008, 1009, 1011, 1015, 3000, 4000, 4999, 0, 65_535];

export const webSocketPeer: Peer = (socket, mind) => {
  const wired = new Wired(socket, mind);
  let hub: Hub | undefined;
  const closing = (code: number): Buffer =>
    frame(CLOSE, Buffer.from([code >> 8, code & 255, ...Buffer.from('bye')]));
  const harms = [
    ...wired.harms,
    ...CLOSE_CODES.map((code) => () => wired.write(closing(code))),
    () => wired.write(frame(CLOSE, '')),
    () => wired.flood(mind.random.pick(WS_FLOODS)),
    () => wired.flood(mind.random.pick(WS_FLOODS)),
    () => wired.write(Buffer.from([TEXT, 127, 0, 0, 0, 1, 0, 0, 0, 0])), // four GiB follow
    () => wired.write(Buffer.from([TEXT, 127, 0, 0, 0, 0, 0, 3, 0, 0])), // 192 KiB follow
    () => wired.write(Buffer.from([0xf1, 0])), // reserved bits
    () => wired.write(Buffer.from([TEXT, 0x80, 0, 0, 0, 0])), // masked
    () => wired.write(frame(TEXT, Buffer.from([0xff, 0xfe]))), // not UTF-8
    () => wired.slowly(frame(TEXT, '{"msg_type":"hello","payload":{"node_id":"hub-3"}}')),
    () => {
      wired.write(closing(1000));
      wired.flood(frame(TEXT, '{}'));
    },
  ];
  const say = (data: Data): void => {
    const bytes = frame(typeof data === 'string' ? TEXT : BINARY, data);
    if (!mind.isHonest && mind.random.oneIn(50)) wired.slowly(bytes);
    else wired.write(bytes);
  };
  const accepted = (key: string, header = ''): string => {
    const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
    return `HTTP/1.1 101 Go\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n${header}\r\n`;
  };
  const begin = (): void => {
    hub = new Hub(mind, { say, harms });
    hub.start();
  };
  const upgrade = (key: string): void => {
    const go = (): void => {
      wired.write(accepted(key));
      begin();
    };
    switch (mind.isHonest ? 'honest' : mind.choose(UPGRADES)) {
      case 'honest':
        go();
        return;
      case 'silent':
        return;
      case 'late':
        mind.after(mind.random.pick([100, 19_000, 21_000, 60_000]), go);
        return;
      case 'status':
        wired.write(
          `HTTP/1.1 ${mind.pick(STATUSES)}\r\nRetry-After: ${mind.pick(['1', '99999999', '-1', 'x'])}\r\nContent-Length: 0\r\n\r\n`,
        );
        return;
      case 'accept':
        wired.write(accepted(`${key}x`));
        begin();
        return;
      case 'header':
        wired.write(accepted(key, `${mind.pick(HEADERS)}\r\n`));
        begin();
        return;
      case 'slow':
        wired.slowly(Buffer.from(accepted(key)));
        return;
      case 'twice':
        wired.write(accepted(key) + accepted(key));
        begin();
        return;
      default:
        mind.pick(harms)();
    }
  };
  const speaking = (): void => {
    if (wired.isDead || socket.destroyed || mind.isHonest) return;
    hub?.speak();
    mind.after(mind.random.pick([10, 1000, 20_000]), speaking);
  };
  mind.after(5000, speaking);
  readWith(wired, (bytes) => {
    if (hub === undefined) {
      const end = bytes.indexOf('\r\n\r\n');
      if (end < 0) return 0;
      upgrade(/sec-websocket-key: (.*)\r/i.exec(bytes.toString())?.[1] ?? '');
      return end + 4;
    }
    if (bytes.length < 2) return 0;
    const short = bytes[1]! & 127;
    const head = short < 126 ? 2 : short === 126 ? 4 : 10;
    if (bytes.length < head + 4) return 0;
    const length = short < 126 ? short : short === 126 ? bytes.readUInt16BE(2) : bytes.readUInt32BE(6);
    const end = head + 4 + length;
    if (bytes.length < end) return 0;
    const mask = bytes.subarray(head, head + 4);
    const payload = Buffer.from(bytes.subarray(head + 4, end));
    for (let i = 0; i < length; i++) payload[i]! ^= mask[i & 3]!;
    const kind = bytes[0]!;
    if (kind === TEXT) hub.hear(payload.toString());
    else if (kind === BINARY) hub.hear(payload);
    else if (kind === PING && (mind.isHonest || !mind.random.oneIn(20))) wired.write(frame(PONG, payload));
    else if (kind === CLOSE && (mind.isHonest || !mind.random.oneIn(5))) {
      wired.write(frame(CLOSE, payload));
      wired.end();
    }
    return end;
  });
};

/** The length of the rest of an MQTT packet. */
function lengthOf(rest: number): number[] {
  return rest < 128 ? [rest] : [(rest % 128) + 128, ...lengthOf(Math.floor(rest / 128))];
}

/** A PUBLISH, or the start of one that is longer than its payload. */
function publish(topic: string, data: Data, first = 0x30, length?: number): Buffer {
  const [name, payload] = [Buffer.from(topic), Buffer.from(data as string)];
  const id = (first & 6) === 0 ? [] : [0, 9];
  const head = [
    first,
    ...lengthOf(2 + name.length + id.length + (length ?? payload.length)),
    name.length >> 8,
    name.length & 255,
  ];
  return Buffer.concat([Buffer.from(head), name, Buffer.from(id), payload]);
}

const ANSWERS: Menu<'honest' | 'silent' | 'late' | 'twice' | 'wrong' | 'refuse' | 'harm'> = {
  honest: 60,
  silent: 1,
  late: 2,
  twice: 1,
  wrong: 1,
  refuse: 2,
  harm: 2,
};

export const mqttPeer: Peer = (socket, mind) => {
  const wired = new Wired(socket, mind);
  let hub: Hub | undefined;
  let topic = 'hivemind/hub-1/egress';
  const floods = (): Buffer[] => [
    publish(topic, ''),
    publish(topic, '{"msg_type":"hello","payload":{"node_id":"hub-1"}}'),
    publish('elsewhere', 'x'.repeat(100)),
    publish('elsewhere', new Uint8Array(400 * KIB)),
    publish(topic, new Uint8Array(400 * KIB)),
    Buffer.from([0xd0, 0]), // PINGRESP
    Buffer.from([0x40, 2, 0, 1]), // PUBACK
    Buffer.from([0x20, 2, 0, 0]), // CONNACK
  ];
  const harms = [
    ...wired.harms,
    () => wired.flood(mind.random.pick(floods())),
    () => wired.flood(mind.random.pick(floods())),
    () => wired.flood(Buffer.from([0xd0, 0])), // many short packets
    () => wired.flood(Buffer.from([0x40, 2, 0, 1])),
    () => wired.write(publish(topic, '{}', 0x31)), // retained
    () => wired.write(publish(topic, '{}', 0x34)), // with QoS 2
    () => wired.write(publish(topic, '{}', 0x36)), // with QoS 3
    () => wired.write(publish('#', '{}')),
    () => wired.write(publish('', '{}')),
    () => wired.write(publish(topic, '', 0x30, 250 * KIB * KIB)),
    () => wired.write(publish(topic, '', 0x30, 300 * KIB)),
    () => wired.write(Buffer.from([0xe0, 0])), // DISCONNECT, which a broker of MQTT 3.1.1 does not send
    () => wired.write(Buffer.from([0x10, 0])),
    () => wired.write(Buffer.from([0x30, 0xff, 0xff, 0xff, 0xff, 0xff])),
    () => wired.slowly(publish(topic, '{"msg_type":"hello","payload":{"node_id":"hub-3"}}')),
  ];
  const say = (data: Data): void => {
    const bytes = publish(topic, data, mind.random.oneIn(2) ? 0x30 : 0x32);
    if (!mind.isHonest && mind.random.oneIn(50)) wired.slowly(bytes);
    else wired.write(bytes);
  };
  const answer = (honest: number[], wrong: number[], refusal: number[]): void => {
    const go = (): void => wired.write(Buffer.from(honest));
    switch (mind.isHonest ? 'honest' : mind.choose(ANSWERS)) {
      case 'honest':
        go();
        return;
      case 'silent':
        return;
      case 'late':
        mind.after(mind.random.pick([100, 19_000, 21_000, 40_000]), go);
        return;
      case 'twice':
        go();
        go();
        return;
      case 'wrong':
        wired.write(Buffer.from(wrong));
        return;
      case 'refuse':
        wired.write(Buffer.from(refusal));
        return;
      default:
        mind.pick(harms)();
    }
  };
  const speaking = (): void => {
    if (wired.isDead || socket.destroyed || mind.isHonest) return;
    hub?.speak();
    mind.after(mind.random.pick([10, 1000, 20_000]), speaking);
  };
  mind.after(5000, speaking);
  readWith(wired, (bytes) => {
    let length = 0;
    let at = 1;
    for (let shift = 0; ; shift += 7) {
      if (at >= bytes.length) return 0;
      length += (bytes[at]! & 127) << shift;
      if (bytes[at++]! < 128) break;
    }
    const end = at + length;
    if (bytes.length < end) return 0;
    const packet = bytes.subarray(at, end);
    const kind = bytes[0]! >> 4;
    if (kind === 1) answer([0x20, 2, 0, 0], [0x90, 3, 0, 1, 0], [0x20, 2, 0, mind.random.below(7)]);
    else if (kind === 8) {
      topic = packet.subarray(4, 4 + packet.readUInt16BE(2)).toString();
      const [high, low] = [packet[0]!, packet[1]!];
      answer([0x90, 3, high, low, 0], [0x90, 3, high, low ^ 1, 0], [0x90, 3, high, low, 0x80]);
    } else if (kind === 3) {
      const name = packet.readUInt16BE(0);
      const isKept = (bytes[0]! & 6) === 0;
      const body = packet.subarray(2 + name + (isKept ? 0 : 2));
      if (!isKept) {
        const [high, low] = [packet[2 + name]!, packet[3 + name]!];
        answer([0x40, 2, high, low], [0x40, 2, high, low ^ 1], [0x40, 2, 0, 0]);
      }
      if (
        packet
          .subarray(2, 2 + name)
          .toString()
          .endsWith('/status')
      ) {
        if (body.toString() === 'offline') hub = undefined;
      } else if (hub === undefined) {
        hub = new Hub(mind, { say, harms });
        hub.start();
      } else hub.hear(Buffer.from(body));
    } else if (kind === 12) answer([0xd0, 0], [0xd0, 1, 0], [0xe0, 0]);
    else if (kind === 14) wired.end();
    return end;
  });
};

const RESPONSES: Menu<
  'honest' | 'silent' | 'late' | 'status' | 'body' | 'cut' | 'slow' | 'twice' | 'endless' | 'page' | 'harm'
> = {
  honest: 120,
  silent: 1,
  late: 2,
  status: 4,
  body: 6,
  cut: 2,
  slow: 2,
  twice: 1,
  endless: 1,
  page: 1,
  harm: 2,
};

/** The hub's side of all requests of a client. */
export function httpsPeer(mind: Mind): Peer {
  let hub: Hub | undefined;
  let texts: string[] = [];
  let bins: Uint8Array[] = [];
  mind.ends.add(() => {
    hub = undefined;
  });
  return (socket) => {
    const wired = new Wired(socket, mind);
    const queue = { say: (data: Data) => void (typeof data === 'string' ? texts : bins).push(data as never) };
    const respond = (body: string, status = '200 OK', header = ''): Buffer =>
      Buffer.from(`HTTP/1.1 ${status}\r\n${header}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
    const honest = (path: string, form: URLSearchParams): string => {
      const message = form.get('message');
      // Two clients with one access key end each other's sessions, and a hub forgets a client whose session has ended.
      if (mind.isHonest && hub?.isOver) hub = undefined;
      if (path === 'disconnect') hub = undefined;
      else if (path === 'connect') {
        [texts, bins] = [[], []];
        hub = new Hub(mind, { ...queue, harms: wired.harms });
        hub.start();
      } else if (hub === undefined) return '{"error":"Client is not connected"}';
      else if (message !== null) hub.hear(form.has('binary') ? Buffer.from(message, 'base64') : message);
      else if (path === 'get_messages') return JSON.stringify({ messages: texts.splice(0, 256) });
      else {
        if (mind.random.oneIn(10)) hub.speak();
        return JSON.stringify({
          b64_messages: bins.splice(0, 256).map((data) => Buffer.from(data).toString('base64')),
        });
      }
      return '{}';
    };
    const odd = (): string => {
      const value = nasty(
        mind.random,
        mind.random.pick([10, 1000, 590 * KIB, mind.random.oneIn(4) ? 4 * KIB * KIB : 10]),
      );
      return mind.pick([
        value,
        `{"messages":${value}}`,
        `{"b64_messages":${value}}`,
        `{"messages":["${value.slice(1, 1000).replace(/"/g, '')}"]}`,
        `{"error":${value}}`,
        'null',
        '',
        '{"messages":[{"toString":1}]}',
        '{"__proto__":{"messages":["x"]}}',
        '<html>',
      ]);
    };
    readWith(wired, (bytes) => {
      const head = bytes.indexOf('\r\n\r\n');
      if (head < 0) return 0;
      const text = bytes.subarray(0, head).toString();
      const end = head + 4 + Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
      if (bytes.length < end) return 0;
      const path = /^\S+ \/?([a-z_]*)/.exec(text)?.[1] ?? '';
      const body = honest(path, new URLSearchParams(bytes.subarray(head + 4, end).toString()));
      const go = (): void => wired.write(respond(body));
      switch (mind.isHonest ? 'honest' : mind.choose(RESPONSES)) {
        case 'honest':
          go();
          break;
        case 'silent':
          break;
        case 'late':
          mind.after(mind.random.pick([100, 14_000, 16_000, 40_000]), go);
          break;
        case 'status':
          wired.write(
            respond(
              mind.random.oneIn(2) ? body : odd(),
              mind.pick([...STATUSES, '409 Conflict', '201 OK', '204 No']),
              `Retry-After: ${mind.pick(['1', '99999999', '-1', 'x'])}\r\n`,
            ),
          );
          break;
        case 'body':
          wired.write(respond(odd()));
          break;
        case 'cut':
          wired.write(respond(body).subarray(0, mind.random.below(60)));
          mind.pick(wired.harms)();
          break;
        case 'slow':
          wired.slowly(respond(body));
          break;
        case 'twice':
          go();
          go();
          break;
        case 'endless':
          wired.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
          wired.flood(Buffer.from(`1000\r\n${'['.repeat(0x1000)}\r\n`));
          break;
        case 'page':
          wired.write(`HTTP/1.1 200 OK\r\n${mind.pick(HEADERS)}\r\n\r\n<html>`);
          wired.end();
          break;
        default:
          mind.pick(wired.harms)();
      }
      return end;
    });
  };
}

/**
 * The line between a bridge and its devices: 9,600 baud in virtual time, bytes that get lost, double and change, and devices that
 * do not read while they compute.
 */
import { EventEmitter } from 'node:events';
import { createRequire } from 'node:module';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Device, SerialLine } from '../../examples/bridge/serial-line.ts';
import { Clock } from '../world/clock.ts';
import { Random } from '../world/random.ts';

const { encode, openLine } = createRequire(import.meta.url)('../../examples/bridge/line.cjs');

const BAUD = 9600;
const BUFFER = 256; // bytes that a device keeps while it computes
const MINUTE = 60_000;

/** Bytes as they arrive: one in `rate` is not there, twice, or another one. */
function damaged(random: Random, rate: number, bytes: string): string {
  return bytes.replace(/./gs, (byte) => {
    if (!random.oneIn(rate)) return byte;
    return random.pick(['', byte + byte, String.fromCharCode(random.below(256))]);
  });
}

/** A line on which everybody hears everybody. */
class World {
  readonly clock = new Clock();
  readonly random: Random;
  readonly rate: number;
  bytes = 0;
  #freeAt = 0;
  readonly #ears: ((bytes: string) => void)[] = [];

  constructor(seed: number, rate: number) {
    this.random = new Random(seed);
    this.rate = rate;
  }

  /** @returns what writes to the line, after some milliseconds */
  join(hear: (bytes: string) => void): (bytes: string, after?: number) => void {
    this.#ears.push(hear);
    return (bytes, after = 0) => {
      this.bytes += bytes.length;
      this.#freeAt = Math.max(this.#freeAt, this.clock.now + after) + (bytes.length * 10_000) / BAUD;
      const arrived = damaged(this.random, this.rate, bytes);
      this.clock.after(this.#freeAt - this.clock.now, () => {
        for (const ear of this.#ears) if (ear !== hear) ear(arrived);
      });
    };
  }

  bridge(): SerialLine {
    const stream = new EventEmitter();
    const write = this.join((bytes) => stream.emit('data', Buffer.from(bytes, 'latin1')));
    const { clock } = this;
    return new SerialLine(
      Object.assign(stream, {
        destroyed: false,
        write: (bytes: Buffer) => write(bytes.toString('latin1')),
      }),
      {
        baud: BAUD,
        clock: {
          now: () => clock.now,
          setTimeout: (run, milliseconds) => clock.after(milliseconds, run),
          clearTimeout: (timer) => clock.clear(timer as number | undefined),
        },
      },
    );
  }

  /** A device that computes for up to three seconds after a message. @returns what it was sent, and what sends and restarts it */
  device(address: number, begin: (send: (message: string) => void) => void) {
    const received: string[] = [];
    let busyUntil = 0;
    let buffer = '';
    const receive = (message: string): void => {
      received.push(message);
      if (this.random.oneIn(4)) busyUntil = this.clock.now + this.random.below(3000);
    };
    const write = this.join((bytes) => {
      if (this.clock.now >= busyUntil) device.received(bytes);
      else if (buffer !== '') buffer = (buffer + bytes).slice(0, BUFFER);
      else {
        buffer = bytes;
        this.clock.after(busyUntil - this.clock.now, () => {
          device.received(buffer.slice(0, BUFFER));
          buffer = '';
        });
      }
    });
    const start = () =>
      openLine({
        ...{ address, receive, longest: 70_000 },
        begin: () => begin((message) => device.send(message)),
        write: (bytes: string) => write(bytes, busyUntil - this.clock.now),
      });
    let device = start();
    return {
      received,
      restart: () => {
        device = start();
      },
    };
  }
}

const texts = (random: Random, count: number): string[] =>
  Array.from({ length: count }, () => Buffer.from(random.bytes(1 + random.length(1200))).toString('latin1'));

for (const rate of [Infinity, 1000, 300]) {
  test(`every message of two devices arrives once and in order if one byte in ${rate} is damaged`, () => {
    for (let seed = 1; seed <= 20; seed++) {
      const world = new World(seed, rate);
      const line = world.bridge();
      const all = [1, 2].map((address) => {
        const [down, up] = [texts(world.random, 12), texts(world.random, 12)];
        const arrived: string[] = [];
        const { received } = world.device(address, (send) => up.forEach(send));
        let begun = 0;
        const device: Device = line.add(address, {
          begun() {
            begun++;
            down.forEach(device.send);
          },
          received: (message) => arrived.push(message),
          drained() {},
        });
        return {
          isDone: () => received.length >= down.length && arrived.length >= up.length,
          check() {
            assert.is(begun, 1);
            assert.equal(received, down);
            assert.equal(arrived, up);
          },
        };
      });
      for (let minute = 1; minute <= 30 && !all.every(({ isDone }) => isDone()); minute++)
        world.clock.runUntil(minute * MINUTE);
      for (const { check } of all) check();
    }
  });
}

test('this noise loses messages of lines in hexadecimal', () => {
  const random = new Random(1);
  const sent = texts(random, 100).map((text) => Buffer.from(text, 'latin1').toString('hex'));
  const arrived = damaged(random, 1000, sent.map((text) => `${text}\n`).join('')).split('\n');
  assert.ok(sent.filter((text) => arrived.includes(text)).length < sent.length - 10);
});

test('a device or a bridge that restarts begins once, and nothing of before arrives', () => {
  for (let seed = 1; seed <= 20; seed++) {
    const world = new World(seed, 300);
    const begun: string[] = [];
    const arrived: string[] = [];
    const device = world.device(1, (send) => {
      begun.push('bridge');
      send(`after ${begun.length}`);
    });
    const connect = (line: SerialLine): void => {
      line.add(1, {
        begun: () => begun.push('device'),
        received: (message) => arrived.push(message),
        drained() {},
      });
    };
    connect(world.bridge());
    world.clock.runUntil(MINUTE);
    device.restart();
    world.clock.runUntil(2 * MINUTE);
    assert.equal(begun, ['bridge', 'device', 'bridge', 'device']);
    assert.equal(arrived, ['after 1', 'after 3']);
  }
});

test('a device with nothing to say is asked at most five times a second', () => {
  const world = new World(1, Infinity);
  world.device(1, () => {});
  world.bridge().add(1, { begun() {}, received() {}, drained() {} });
  world.clock.runUntil(MINUTE);
  const before = world.bytes;
  world.clock.runUntil(2 * MINUTE);
  assert.ok(world.bytes - before <= 60 * 5 * 2 * 10);
});

test('after a failure of the device’s program the line begins anew', () => {
  const world = new World(1, Infinity);
  let begun = 0;
  const { received } = world.device(1, () => begun++);
  received.push = () => {
    throw new Error('no memory');
  };
  const device = world.bridge().add(1, {
    begun() {
      if (begun === 1) device.send('x');
    },
    received() {},
    drained() {},
  });
  assert.throws(() => world.clock.runUntil(1000), 'no memory');
  world.clock.runUntil(MINUTE);
  assert.is(begun, 2);
});

test('a frame is COBS, with the CRC-32 that others compute', () => {
  assert.is(encode('123456789'), '\x0e123456789\xcb\xf4\x39\x26\0');
  assert.is(encode('\0' + '\0').slice(0, 3), '\x01\x01\x05');
});

/** A device that has begun, its answers, and what asks it. */
function begunDevice(receive: (message: string) => void) {
  const answers: string[] = [];
  const write = (bytes: string) => answers.push(bytes);
  const device = openLine({ address: 1, longest: 100, begin() {}, write, receive });
  const question = (kind: string, number: number, address = 1): string =>
    encode(String.fromCharCode(address) + kind + String.fromCharCode(number, 240) + 'x'.repeat(70));
  device.received(question('b', 0));
  return { device, answers, question };
}

test('of a message that is too long for a device, no more than its limit is kept', () => {
  let kept = '';
  const { device, answers, question } = begunDevice((message) => {
    kept = message;
  });
  device.received(question('m', 1));
  device.received(question('e', 2));
  assert.is(answers.length, 3);
  assert.is(kept.length, 100);
});

test('of questions that waited, a device answers the last one, unless another device is asked already', () => {
  const { device, answers, question } = begunDevice(() => {});
  device.received(question('q', 1) + question('q', 1));
  assert.is(answers.length, 2);
  device.received(question('q', 1) + question('q', 1, 2));
  device.received(question('q', 1) + question('q', 1, 2).slice(0, 10));
  assert.is(answers.length, 2);
});

test.run();

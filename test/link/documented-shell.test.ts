/** The shell of docs/reference/sessions.md: run under virtual time, unchanged. */
import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { TROUBLES } from '../../evidence/searches/simulate/hubs.ts';
import { nodeCrypto, randomBytes } from '../../src/crypto/node.ts';
import { ClientLink, createKeyring, type Keyring, type LinkEvent, type Order } from '../../src/index.ts';
import { Clock } from '../world/clock.ts';
import { CLIENT_STATIC, PSK } from '../world/keys.ts';
import type { Data } from '../world/line.ts';
import { dial, type Hub, type ClientLink as Wire } from '../world/network.ts';
import { seeded } from '../world/random.ts';

const page = readFileSync(new URL('../../docs/reference/sessions.md', import.meta.url), 'utf8');
const section = page.slice(page.indexOf('\n## The link\n'));
const code = /```js\n(.*?)```/s.exec(section)![1]!;

interface Program {
  readonly link: ClientLink;
  readonly run: (orders: Order[]) => void;
  readonly now: () => number;
}

interface Run extends Program {
  readonly clock: Clock;
  readonly sockets: FakeSocket[];
  /** What the link told, and what a person was asked. */
  readonly log: string[];
  /** What was stored. */
  readonly saved: Keyring[];
}

/** A WebSocket as browsers have it, as far as the shell uses it. */
class FakeSocket {
  onmessage: (event: { data: unknown }) => void = () => {};
  onclose: (event: { code: number; reason: string }) => void = () => {};
  binaryType = 'blob';
  readonly #link: Wire;
  #isClosed = false;

  constructor(clock: Clock, hub: Hub) {
    this.#link = dial(clock, 'WebSocket', hub, {
      onOpen() {},
      onData: (data) => this.onmessage({ data: typeof data === 'string' ? data : this.#asSet(data) }),
      onClose: (closing) => this.onclose({ code: 1005, reason: '', ...(closing as object) }),
    });
  }

  send(data: Data): void {
    assert.not.ok(this.#isClosed, 'written after the end');
    this.#link.send(data);
  }

  close(): void {
    this.#isClosed = true;
    this.#link.close();
  }

  #asSet(data: Uint8Array): ArrayBuffer {
    assert.is(this.binaryType, 'arraybuffer');
    return data.slice().buffer as ArrayBuffer;
  }
}

/**
 * Starts the shell against a hub.
 * @param disk - answers a keyring that is to be stored
 * @param onEvent - takes what the link tells
 */
function start(
  hub: Hub,
  disk: (done: (error?: Error) => void) => void = (done) => done(),
  onEvent: (event: LinkEvent) => void = () => {},
): Run {
  const clock = new Clock();
  const sockets: FakeSocket[] = [];
  const log: string[] = [];
  const saved: Keyring[] = [];
  const pauses = seeded(7);
  const names: { readonly [name: string]: unknown } = {
    ClientLink,
    crypto: nodeCrypto,
    randomBytes: (length: number) => (length === 3 ? pauses : randomBytes)(length),
    siteId: 'lobby',
    keyring: createKeyring({ accessKey: 'key', staticKey: CLIENT_STATIC }),
    url: 'wss://hub',
    performance: { now: () => clock.now },
    setTimeout: (run: () => void, delay: number) => clock.after(delay, run),
    clearTimeout: (timer: number | undefined) => clock.clear(timer),
    WebSocket: function FakeWebSocket() {
      const socket = new FakeSocket(clock, hub);
      sockets.push(socket);
      return socket;
    },
    save(keyring: Keyring, done: (error?: Error) => void) {
      saved.push(keyring);
      disk(done);
    },
    derive: (_nodeId: string, done: (psk: Uint8Array) => void) => done(PSK),
    onEvent(event: LinkEvent) {
      onEvent(event);
      log.push(event.type === 'ask' ? `asks ${event.error.code}` : event.type);
      if (event.type === 'connect')
        program.run(program.link.send({ msg_type: 'ping', payload: {} }, clock.now));
    },
  };
  // The shell starts at once, so what it calls gets at it before it has returned.
  const program = {} as { -readonly [name in keyof Program]: Program[name] };
  const body = code.replace(/^run\(link\.start/m, 'Object.assign(program, { link, run, now }); $&');
  new Function('program', ...Object.keys(names), body)(program, ...Object.values(names));
  return { ...program, clock, sockets, log, saved };
}

const troubleOf = (start: string): Hub => TROUBLES.find(({ name }) => name.startsWith(start))!.hub;

test('has at most 35 lines', () => {
  assert.ok(code.trim().split('\n').length <= 35);
});

test('connects, stores the pin and the PSK at once, and hears the hub', () => {
  const { clock, log, sockets, link, saved } = start(troubleOf('restarts'));
  clock.runUntil(60_000);
  assert.is(link.state, 'ready');
  assert.is(sockets.length, 1);
  assert.equal([saved[0]!.pins.length, saved[0]!.psks.length], [1, 1]);
  assert.is(log.at(-1), 'text');
});

test('comes back when the hub does', () => {
  const { clock, sockets, link } = start(troubleOf('restarts'));
  clock.runUntil(3_600_000);
  assert.is(link.state, 'ready');
  assert.ok(sockets.length > 2 && sockets.length < 15, `${sockets.length} sockets`);
});

test('hangs up on a silent hub, and dials again after a pause', () => {
  const { clock, sockets, link } = start(troubleOf('is silent'));
  clock.runUntil(30_000);
  assert.is(link.state, 'waiting');
  clock.runUntil(3_600_000);
  assert.ok(sockets.length > 10 && sockets.length <= 70, `${sockets.length} sockets`);
});

test('asks a person, dials on, and dials at once when the person has acted', () => {
  const { clock, log, link, sockets, run } = start(troubleOf('has another password'));
  clock.runUntil(60_000);
  assert.match(log.at(-1)!, /^asks /);
  assert.is(sockets.length, 2);
  run(link.start(clock.now));
  assert.is(sockets.length, 3);
  clock.runUntil(3_600_000);
  assert.ok(sockets.length > 6, `${sockets.length} sockets`);
});

test('sends nothing before a slow disk has answered', () => {
  const done: ((error?: Error) => void)[] = [];
  const { clock, log, saved } = start(troubleOf('restarts'), (one) => done.push(one));
  clock.runUntil(20_000);
  assert.is(saved.length, 1);
  assert.not.ok(log.includes('connect'));
  done[0]!();
  clock.runUntil(21_000);
  assert.ok(log.includes('connect'));
});

test('ends the connection of a keyring that a disk refuses, and tries again', () => {
  let isFull = true;
  const { clock, log, link } = start(troubleOf('restarts'), (done) => {
    done(isFull ? new Error('full') : undefined);
    isFull = false;
  });
  clock.runUntil(60_000);
  assert.equal(log.slice(0, 3), ['connecting', 'close', 'reconnect']);
  assert.is(link.state, 'ready');
});

test('carries out what an order causes behind the orders that are left', () => {
  const { clock, log, run, link } = start(troubleOf('restarts'), undefined, ({ type }) => {
    if (type === 'close') run(link.end(clock.now)); // `reconnect` is left
  });
  clock.runUntil(3_600_000);
  assert.equal(log, ['connecting', 'connect', 'text', 'close', 'reconnect', 'end']);
});

test('outlives an error of the program, and carries out the orders that are left', () => {
  let errors = 0;
  const { clock, link, log } = start(troubleOf('restarts'), undefined, ({ type }) => {
    if (type === 'close' && errors++ === 0) throw new Error('of the program');
  });
  assert.throws(() => clock.runUntil(3_600_000), /of the program/);
  clock.runUntil(3_600_000);
  assert.equal(log.slice(2, 5), ['text', 'reconnect', 'connecting']);
  assert.is(link.state, 'ready');
});

test('stays offline after end(), whatever timers are left', () => {
  for (const trouble of ['is silent', 'restarts']) {
    const { clock, link, sockets, run } = start(troubleOf(trouble));
    clock.runUntil(trouble === 'restarts' ? 60_000 : 30_000);
    run(link.end(clock.now));
    clock.runUntil(3_600_000);
    assert.is(link.state, 'ended');
    assert.is(sockets.length, 1);
  }
});

test.run();

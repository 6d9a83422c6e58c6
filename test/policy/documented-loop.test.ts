/** The loop of docs/reference/policy.md: run under virtual time, unchanged. */
import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { TROUBLES } from '../../evidence/searches/simulate/hubs.ts';
import { nodeCrypto, randomBytes } from '../../src/crypto/node.ts';
import { ClientSession, ConnectionPolicy, createKeyring, type SessionEvent } from '../../src/index.ts';
import { Clock } from '../world/clock.ts';
import { CLIENT_STATIC, PSK } from '../world/keys.ts';
import type { Data } from '../world/line.ts';
import { type ClientLink, dial, type Hub } from '../world/network.ts';
import { seeded } from '../world/random.ts';

const page = readFileSync(new URL('../../docs/reference/policy.md', import.meta.url), 'utf8');
const section = page.slice(page.indexOf('\n## The loop\n'));
const code = /```js\n(.*?)```/s.exec(section)![1]!;

interface Loop {
  readonly policy: ConnectionPolicy;
  readonly connect: () => void;
}

/** What the loop hands to `onEvent`. */
interface Connection {
  readonly session: ClientSession;
  handle(events: SessionEvent[]): void;
}

interface Run extends Loop {
  readonly clock: Clock;
  readonly sockets: FakeSocket[];
  /** The types of events, and what a person was asked. */
  readonly log: string[];
}

/** A WebSocket as browsers have it, as far as the loop uses it. */
class FakeSocket {
  onmessage: (event: { data: unknown }) => void = () => {};
  onclose: (event: { code: number; reason: string }) => void = () => {};
  binaryType = 'blob';
  readonly #link: ClientLink;

  constructor(clock: Clock, hub: Hub) {
    this.#link = dial(clock, 'WebSocket', hub, {
      onOpen() {},
      onData: (data) => this.onmessage({ data: typeof data === 'string' ? data : this.#asSet(data) }),
      onClose: (closing) => this.onclose({ code: 1005, reason: '', ...(closing as object) }),
    });
  }

  send(data: Data): void {
    this.#link.send(data);
  }

  close(): void {
    this.#link.close();
  }

  #asSet(data: Uint8Array): ArrayBuffer {
    assert.is(this.binaryType, 'arraybuffer');
    return data.slice().buffer as ArrayBuffer;
  }
}

/** Starts the loop against a hub. */
function start(hub: Hub): Run {
  const clock = new Clock();
  const sockets: FakeSocket[] = [];
  const log: string[] = [];
  const pauses = seeded(7);
  const names: { readonly [name: string]: unknown } = {
    ClientSession,
    ConnectionPolicy,
    crypto: nodeCrypto,
    randomBytes: (length: number) => (length === 3 ? pauses : randomBytes)(length),
    siteId: 'lobby',
    keyring: createKeyring({ accessKey: 'key', staticKey: CLIENT_STATIC }),
    url: 'wss://hub',
    performance: { now: () => clock.now },
    setTimeout: (run: (why?: unknown) => void, delay: number, why?: unknown) =>
      clock.after(delay, () => run(why)),
    clearTimeout: (timer: number | undefined) => clock.clear(timer),
    WebSocket: function FakeWebSocket() {
      const socket = new FakeSocket(clock, hub);
      sockets.push(socket);
      return socket;
    },
    onEvent(event: SessionEvent, { session, handle }: Connection) {
      log.push(event.type);
      if (event.type === 'psk-needed') handle(session.providePsk(PSK));
    },
    askPerson: ({ code }: { code: string }) => log.push(`asks ${code}`),
  };
  const body = `${code}; return { policy, connect };`;
  const loop = new Function(...Object.keys(names), body)(...Object.values(names)) as Loop;
  loop.connect();
  return { ...loop, clock, sockets, log };
}

const troubleOf = (start: string): Hub => TROUBLES.find(({ name }) => name.startsWith(start))!.hub;

test('has at most 40 lines', () => {
  assert.ok(code.trim().split('\n').length <= 40);
});

test('connects, and hears the hub', () => {
  const { clock, log, sockets, policy } = start(troubleOf('restarts'));
  clock.runUntil(60_000);
  assert.is(policy.state, 'ready');
  assert.is(sockets.length, 1);
  assert.is(log.at(-1), 'message');
});

test('comes back when the hub does', () => {
  const { clock, sockets, policy } = start(troubleOf('restarts'));
  clock.runUntil(3_600_000);
  assert.is(policy.state, 'ready');
  assert.ok(sockets.length > 2 && sockets.length < 15, `${sockets.length} sockets`);
});

test('hangs up on a silent hub, and dials again after a pause', () => {
  const { clock, sockets, policy } = start(troubleOf('is silent'));
  clock.runUntil(30_000);
  assert.is(policy.state, 'waiting');
  clock.runUntil(3_600_000);
  assert.ok(sockets.length > 10 && sockets.length <= 30, `${sockets.length} sockets`);
});

test('asks a person, and goes on when the person has acted', () => {
  const { clock, log, policy, sockets, connect } = start(troubleOf('forgets'));
  clock.runUntil(3_600_000);
  assert.is(log.at(-2), 'asks text-after-ready');
  assert.is(sockets.length, 2);
  policy.resume();
  connect();
  assert.is(sockets.length, 3);
});

test('stays offline after goodbye(), whatever timers are left', () => {
  const { clock, policy, sockets } = start(troubleOf('is silent'));
  clock.runUntil(30_000);
  policy.goodbye();
  clock.runUntil(3_600_000);
  assert.is(sockets.length, 1);

  const other = start(troubleOf('restarts'));
  other.clock.runUntil(60_000);
  other.policy.goodbye();
  other.sockets[0]!.close();
  other.clock.runUntil(3_600_000);
  assert.is(other.policy.state, 'resting');
  assert.is(other.sockets.length, 1);
});

test.run();

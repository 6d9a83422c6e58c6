/** Derivations of the PSK: one at a time, since each takes 64 MiB, none that nobody needs, and in a worker. */
import { fileURLToPath } from 'node:url';
import workers from 'node:worker_threads';
import { build } from 'esbuild';
import { HubSession } from 'hub-protocol';
import { nodeCrypto as crypto, randomBytes } from 'hub-protocol/node';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { deriveInWorker as deriveInPage } from '../../client/dist/derive-in-browser.js';
import { deriveInWorker } from '../../client/dist/derive-on-node.js';
import type { Derive } from '../../client/dist/options.js';
import type { Platform } from '../../client/dist/platform.js';
import { PASSWORD } from '../world/keys.ts';
import { replacing } from '../world/replacing.ts';
import { hex, readVectors, toHex } from '../world/vectors.ts';
import { endWorlds, HUB_STATIC, newWorld, PSK, soon, until } from './world.ts';

test.after.each(endWorlds);

const { Worker } = workers;

/** Derivations that take until they are finished by hand. */
class Slow {
  running = 0;
  most = 0;
  started = 0;
  /** Of the latest one. */
  password = '';
  salt: Uint8Array = new Uint8Array(0);
  finish: () => void = () => {};
  readonly #heedsSignal: boolean;

  constructor(heedsSignal: boolean) {
    this.#heedsSignal = heedsSignal;
  }

  readonly derive: Derive = (password, salt, _onProgress, signal) => {
    this.started++;
    this.password = password;
    this.salt = salt;
    this.running++;
    this.most = Math.max(this.most, this.running);
    return new Promise<Uint8Array>((resolve, reject) => {
      this.finish = () => {
        this.running--;
        resolve(PSK);
      };
      if (!this.#heedsSignal) return;
      signal.addEventListener('abort', () => {
        this.running--;
        reject(signal.reason);
      });
    });
  };
}

/** Opens connections to a server that names a new node id each time, without any secret. */
class Impostor {
  dials = 0;
  #connection: Parameters<Platform['open']>[0] | undefined;

  readonly open: Platform['open'] = (connection) => {
    const nodeId = `hub ${this.dials++}`;
    this.#connection = connection;
    const hub = new HubSession({ crypto, randomBytes, nodeId, staticKey: HUB_STATIC, psk: PSK });
    queueMicrotask(() => {
      for (const event of hub.start()) if (event.type === 'transmit') connection.received(event.data);
    });
    return { write: () => {}, close: () => {} };
  };

  drop(): void {
    this.#connection?.closed(1006);
  }
}

for (const heedsSignal of [true, false]) {
  test(`one derivation at a time, with a function that ${heedsSignal ? 'stops' : 'does not stop'} when told`, async () => {
    const world = newWorld();
    const slow = new Slow(heedsSignal);
    const impostor = new Impostor();
    world.start({ derive: slow.derive }, { open: impostor.open });
    for (let i = 1; i <= 5; i++) {
      await until(() => impostor.dials === i);
      await until(() => slow.started === (heedsSignal ? i : 1));
      impostor.drop();
    }
    await until(() => impostor.dials === 6);
    assert.is(slow.most, 1);
    if (!heedsSignal) slow.finish();
    await until(() => slow.started === (heedsSignal ? 6 : 2));
    assert.equal(slow.salt, crypto.sha256(new TextEncoder().encode('hub 5'))); // the one that is needed
    assert.is(slow.password, PASSWORD);
    assert.is(slow.most, 1);
  });
}

test('a derivation stops when the client ends, and starts again after resume', async () => {
  const world = newWorld();
  const slow = new Slow(true);
  const client = world.start({ derive: slow.derive });
  await until(() => slow.running === 1);
  client.end();
  await until(() => slow.running === 0);
  client.resume();
  await until(() => slow.running === 1);
  slow.finish();
  assert.is((await client.ask('hello')).ending, 'handled');
});

test('a stopped derivation reports no further progress', async () => {
  const world = newWorld();
  let report: (progress: number) => void = () => {};
  let isStopped = false;
  const derive: Derive = (_password, _salt, onProgress, signal) => {
    report = onProgress;
    signal.addEventListener('abort', () => {
      isStopped = true;
    });
    return new Promise(() => {});
  };
  const client = world.start({ derive });
  const told: number[] = [];
  client.on('deriving', ({ progress }) => told.push(progress));
  await until(() => world.hub?.state === 'awaiting-message-1' && told.length === 0);
  report(0.25);
  client.end();
  report(0.5);
  assert.equal([told, isStopped], [[0.25], true]);
});

test('all progress of a derivation is told, from 0 to 1', async () => {
  const told: number[] = [];
  const client = newWorld().start({
    derive: async (_password, _salt, onProgress) => {
      for (const progress of [0, 0.5, 1]) onProgress(progress);
      return PSK;
    },
  });
  client.on('deriving', ({ progress }) => told.push(progress));
  await client.ask('hello');
  assert.equal(told, [0, 0.5, 1]);
});

test('a PSK that the hub has not proved yet is kept while a person is asked, and not after the end', async () => {
  const world = newWorld();
  world.store.fault = new Error('the disk is full');
  const client = world.start();
  await until(() => world.types.includes('ask'));
  client.resume();
  await until(() => world.types.filter((type) => type === 'ask').length === 2);
  assert.is(world.derivations, 1);
  world.store.fault = undefined;
  client.end();
  client.resume();
  assert.is((await client.ask('hello')).ending, 'handled');
  assert.is(world.derivations, 2);
});

test('the worker on Node.js ends when its derivation is stopped', async () => {
  const stopper = new AbortController();
  const derived = deriveInWorker('correct horse', new Uint8Array(32), () => stopper.abort(), stopper.signal);
  setTimeout(() => stopper.abort(), 50);
  await derived.then(
    () => assert.unreachable(),
    () => {},
  );
  assert.is(process.getActiveResourcesInfo().includes('Worker'), false);
});

test('a derivation on Node.js is over when its worker has ended, with its memory', async () => {
  const { terminate } = Worker.prototype;
  let hasEnded = false;
  const noting = async function (this: InstanceType<typeof Worker>) {
    this.once('exit', () => {
      hasEnded = true;
    });
    return terminate.call(this);
  };
  const stopper = new AbortController();
  await replacing(Worker.prototype, { terminate: noting }, async () => {
    const derived = deriveInWorker(PASSWORD, randomBytes(32), () => stopper.abort(), stopper.signal);
    await soon(derived.catch(() => {}));
  });
  assert.ok(hasEnded);
});

test('the worker on Node.js passes on what went wrong in it', async () => {
  const error: Error = await deriveInWorker('correct horse', new Uint8Array(3)).then(
    () => assert.unreachable(),
    (error) => error,
  );
  assert.match(error.message, /salt/);
});

test('a page passes on what went wrong in its worker, or names its file if it did not load', async () => {
  const messageFor = async (message: string): Promise<string> => {
    class Failing {
      onerror = (_: { message: string }): void => {};
      postMessage = (): void => this.onerror({ message });
      terminate(): void {}
    }
    return replacing(globalThis, { Worker: Failing }, () =>
      deriveInPage('correct horse', new Uint8Array(32), () => {}, new AbortController().signal).then(
        () => 'derived',
        (error) => error.message,
      ),
    );
  };
  assert.is(await messageFor('no memory'), 'no memory');
  assert.match(await messageFor(''), /^the browser cannot load derive-worker-in-browser\.js: .*worker-src$/);
});

test('the worker on Node.js computes nothing if its derivation is stopped at once', async () => {
  const stopper = new AbortController();
  const derived = deriveInWorker('correct horse', new Uint8Array(32), undefined, stopper.signal);
  stopper.abort();
  await derived.then(
    () => assert.unreachable(),
    (error) => assert.match(error.message, 'stopped'),
  );
});

/** One that Node has since 24.7 reports no progress before the end. */
const isNative = crypto.argon2id !== undefined;
const [vector] = readVectors('argon2id', 'Psk');
const { password, salt, psk } = vector!;

async function assertDerives(least: number): Promise<void> {
  const progress: number[] = [];
  let ticks = 0;
  const timer = setInterval(() => ticks++, 20);
  const derived = await deriveInWorker(password, hex(salt), (done) => progress.push(done));
  clearInterval(timer);
  assert.ok(ticks > 1);
  assert.is(toHex(derived), psk);
  assert.ok(progress.length >= least);
  assert.is(progress.at(-1), 1);
}

test('reports the progress of a worker, and lets timers fire', () => assertDerives(isNative ? 1 : 10));

test('the same where no worker can be made', async () => {
  class Missing {
    constructor() {
      throw new Error('a bundler has left out the file');
    }
  }
  await replacing(workers, { Worker: Missing }, () => assertDerives(10));
});

test('the worker of a page tells its progress, and then the PSK', async () => {
  const told: { progress: number; psk?: Uint8Array }[] = [];
  const self: { onmessage?: (event: object) => void; postMessage(message: (typeof told)[0]): void } = {
    postMessage: (message) => told.push(message),
  };
  await replacing(globalThis, { self }, async () => {
    await import(`${new URL('../../client/dist/derive-worker-in-browser.js', import.meta.url)}`);
    self.onmessage!({ data: { password, salt: hex(salt) } });
  });
  const last = told.at(-1)!;
  assert.equal([last.progress, toHex(last.psk!)], [1, psk]);
  assert.ok(told.length > 10 && told.slice(0, -1).every(({ psk }) => psk === undefined));
});

for (const name of ['browser.js', 'derive-worker-in-browser.js']) {
  test(`a bundler finds nothing of Node in client/dist/${name}`, async () => {
    const { errors, warnings } = await build({
      entryPoints: [fileURLToPath(new URL(`../../client/dist/${name}`, import.meta.url))],
      bundle: true,
      write: false,
      format: 'esm',
      platform: 'browser',
    });
    assert.equal([errors, warnings], [[], []]);
  });
}

test.run();

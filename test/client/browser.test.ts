/** The client of a page, with stand-ins for what a browser provides that behave as Chromium does. */
import { createKeyring, parseIdentity } from 'hub-protocol';
import { randomBytes } from 'hub-protocol/node';
import { type BrowserOptions, connect } from 'hub-protocol-client/browser';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { sentenceFor } from '../../client/dist/advice.js';

const { deriveInWorker } = await import(
  `${new URL('../../client/dist/derive-in-browser.js', import.meta.url)}`
);

const identity = parseIdentity({
  access_key: 'kiosk-7',
  password: 'correct horse',
  data_plane_endpoints: { wss: 'wss://hub.example' },
});
const stored = createKeyring({ accessKey: 'kiosk-7', staticKey: randomBytes(32) });
const keyring = { load: () => stored, update: () => {} };

/** Replaces a global while a function runs. */
async function withGlobal<T>(name: string, value: unknown, run: () => Promise<T>): Promise<T> {
  const before = Object.getOwnPropertyDescriptor(globalThis, name);
  Object.defineProperty(globalThis, name, { value, configurable: true });
  try {
    return await run();
  } finally {
    if (before === undefined) delete (globalThis as Record<string, unknown>)[name];
    else Object.defineProperty(globalThis, name, before);
  }
}

test('a WebSocket that only reports an error, as when a policy blocks it, ends the connection', async () => {
  class Blocked {
    onerror = (): void => {};
    constructor() {
      setTimeout(() => this.onerror());
    }
    close(): void {}
  }
  const code = await withGlobal('WebSocket', Blocked, async () => {
    const client = connect({ identity, keyring });
    return new Promise((resolve) =>
      client.on('close', ({ error }) => {
        client.end();
        resolve(error.code);
      }),
    );
  });
  assert.is(code, 'not-reachable');
});

test('a worker that cannot be loaded is named, since the browser gives no message', async () => {
  let isTerminated = false;
  class Missing {
    onerror = (_: { message: string }): void => {};
    postMessage(): void {
      setTimeout(() => this.onerror({ message: '' }));
    }
    terminate(): void {
      isTerminated = true;
    }
  }
  const derive = (): Promise<string> =>
    deriveInWorker('correct horse', randomBytes(32), () => {}, new AbortController().signal).then(
      () => 'derived',
      ({ message }: Error) => message,
    );
  assert.match(await withGlobal('Worker', Missing, derive), 'derive-worker-in-browser.js');
  assert.ok(isTerminated);
});

test('an error without a message has a sentence, too', () => {
  assert.is(sentenceFor(new TypeError(), stored), 'The client failed without a message (TypeError).');
});

test('a page refuses options that only Node.js has', () => {
  const wrong: [object, string][] = [
    [{ keyring: 'keyring.json' }, 'keyring'],
    [{ keyring, ca: 'PEM' }, 'ca'],
  ];
  for (const [options, name] of wrong) {
    const isNamed = (error: Error & { code?: string }): boolean =>
      error.code === 'bad-argument' && error.message.includes(name);
    assert.throws(() => connect({ identity, ...options } as BrowserOptions), isNamed);
  }
});

test.run();

/** The client of a page, with stand-ins for what a browser provides that behave as Chromium does. */

import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import {
  createKeyring,
  derivePsk,
  fingerprint,
  HubSession,
  type HubSessionEvent,
  parseIdentity,
  RemoteError,
  readAuthorization,
} from 'hub-protocol';
import { nodeCrypto as crypto, randomBytes } from 'hub-protocol/node';
import { Assistant } from 'hub-protocol-client/assistant';
import { type BrowserOptions, type Client, connect } from 'hub-protocol-client/browser';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { tellingOf } from '../../client/dist/advice.js';
import { LOCAL_ERRORS, REMOTE_ERRORS } from '../../src/errors-table.ts';
import { replacing } from '../world/replacing.ts';
import { soon, until } from './world.ts';

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

const PSK = derivePsk({ crypto, password: 'correct horse', nodeId: 'hub-1' });

/** A WebSocket of a page, with a hub at its other end. */
class HubSocket {
  binaryType = 'blob';
  /** What was sent is in the buffer until the end of the task at least. */
  bufferedAmount = 0;
  /** Whether the hub reads nothing. */
  isStalled = false;
  /** Whether all that is sent is lost, since the network has gone without a word. */
  isGone = false;
  onmessage: (event: { data: unknown }) => void = () => {};
  readonly url: string;
  readonly heard: string[] = [];
  /** The arguments of each call of `close`. */
  readonly closes: unknown[][] = [];
  readonly #session = new HubSession({
    ...{ crypto, randomBytes, nodeId: 'hub-1', staticKey: randomBytes(32), psk: PSK },
  });
  readonly #assistant = new Assistant(this.#session);

  constructor(url: string, opened: (socket: HubSocket) => void) {
    this.url = url;
    opened(this);
    setTimeout(() => this.#carryOut(this.#session.start()));
  }

  send(data: string | Uint8Array): void {
    const copy = typeof data === 'string' ? data : data.slice();
    this.bufferedAmount += data.length;
    if (this.isGone) this.bufferedAmount = 0;
    if (this.isStalled || this.isGone) return;
    setTimeout(() => {
      this.bufferedAmount -= data.length;
      this.#carryOut(this.#session.receive(copy));
    });
  }

  close(...args: unknown[]): void {
    this.closes.push(args);
  }

  #carryOut(events: HubSessionEvent[]): void {
    for (const event of events) {
      if (event.type === 'transmit') this.#deliver(event.data);
      if (event.type === 'message' && event.kind === 'json') this.heard.push(event.text);
      for (const data of this.#assistant.handle(event)) this.#deliver(data);
    }
  }

  #deliver(data: string | Uint8Array): void {
    const isSet = typeof data !== 'string' && this.binaryType === 'arraybuffer';
    const shown = isSet ? data.slice().buffer : typeof data === 'string' ? data : new Blob([data.slice()]);
    setTimeout(() => this.onmessage({ data: shown }));
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
  assert.is(await endingAt(Blocked), 'not-reachable');
});

test('a WebSocket that reports an error after it was open has lost the connection', async () => {
  class Lost {
    onopen = (): void => {};
    onerror = (): void => {};
    constructor() {
      setTimeout(() => {
        this.onopen();
        this.onerror();
      });
    }
    close(): void {}
  }
  assert.is(await endingAt(Lost), 'dropped');
});

/** The code of the error with which the first connection of a page with some kind of WebSocket ends. */
function endingAt(Socket: new () => object): Promise<string> {
  return replacing(globalThis, { WebSocket: Socket }, async () => {
    const client = connect({ identity, keyring });
    const closed = new Promise<string>((resolve) =>
      client.on('close', ({ error }) => {
        client.end();
        resolve(error.code);
      }),
    );
    return soon(closed);
  });
}

interface Pings {
  readonly ping: () => void;
  readonly every: number;
  isOver: boolean;
}

/** What a page does that is connected to a hub, and has asked it. */
interface Visit {
  readonly client: Client;
  readonly socket: HubSocket;
  readonly pings: Pings;
  /** The codes of the errors with which connections have ended. */
  readonly codes: readonly string[];
}

async function visit(
  body: (visit: Visit) => Promise<void>,
  options: Partial<BrowserOptions> = {},
): Promise<void> {
  const sockets: HubSocket[] = [];
  const timers: Pings[] = [];
  function Socket(url: string): HubSocket {
    return new HubSocket(url, (socket) => sockets.push(socket));
  }
  const setInterval = (ping: () => void, every: number): Pings => {
    const own = { ping, every, isOver: false };
    timers.push(own);
    return own;
  };
  const clearInterval = (own: Pings): void => {
    own.isOver = true;
  };
  let client: Client | undefined;
  const ask = async (): Promise<void> => {
    client = connect({ identity, keyring, derive: async () => PSK, plays: true, ...options });
    const codes: string[] = [];
    client.on('close', ({ error }) => codes.push(error.code));
    assert.is((await client.ask('hello')).reply.text, 'You said: hello');
    await body({ client, socket: sockets[0]!, pings: timers[0]!, codes });
  };
  await replacing(globalThis, { WebSocket: Socket, setInterval, clearInterval }, ask).finally(() =>
    client?.end(),
  );
}

test('a page names itself to a hub, asks it, pings it each minute, and hangs up if nothing has left its buffer since the last ping', () =>
  visit(async ({ socket, pings, codes }) => {
    assert.is(readAuthorization(socket.url)?.userAgent, 'hub-protocol-client');
    assert.is(pings.every, 60_000);
    const { length } = socket.heard;
    pings.ping();
    await new Promise((resolve) => setTimeout(resolve, 5));
    assert.match(socket.heard[length]!, '"ping"');
    assert.equal([codes, socket.closes, pings.isOver], [[], [], false]);
    socket.isStalled = true;
    pings.ping();
    assert.equal([codes, socket.closes, pings.isOver], [[], [], false]);
    pings.ping();
    assert.equal([codes, socket.closes, pings.isOver], [['timeout'], [[]], true]);
  }));

test('a page does not hang up while only what it has sent since its last ping is in the buffer', () =>
  visit(async ({ client, socket, pings, codes }) => {
    pings.ping();
    await until(() => socket.bufferedAmount === 0);
    socket.isStalled = true;
    assert.ok(client.sendBytes(new Uint8Array(3200), 'raw_audio'));
    pings.ping();
    assert.equal([socket.bufferedAmount > 3200, codes], [true, []]);
    assert.ok(client.sendBytes(new Uint8Array(3200), 'raw_audio'));
    pings.ping();
    assert.equal(codes, ['timeout']);
  }));

test('a page does not hang up while bytes leave its buffer, although its last ping waits behind others', () =>
  visit(async ({ client, socket, pings, codes }) => {
    socket.isStalled = true;
    assert.ok(client.sendBytes(new Uint8Array(100_000), 'file'));
    pings.ping();
    for (let times = 0; times < 3; times++) {
      assert.ok(client.sendBytes(new Uint8Array(3200), 'raw_audio'));
      socket.bufferedAmount -= 2000;
      pings.ping();
    }
    assert.equal([socket.bufferedAmount > 94_000, codes], [true, []]);
  }));

test('a page whose network has gone without a word loses one question: the next one is put on another connection', () =>
  visit(
    async ({ client, socket, codes }) => {
      socket.isGone = true;
      assert.is((await client.ask('one')).ending, 'timeout');
      assert.is((await client.ask('two')).reply.text, 'You said: two');
      assert.equal([codes, socket.closes.length], [['dropped'], 1]);
    },
    { requests: { deadlines: { idle: 300 } } },
  ));

test('the worker of a page gets the password and the salt, and its progress and PSK are told before it ends', async () => {
  const did: unknown[] = [];
  class Working {
    onmessage = (_: { data: object }): void => {};
    constructor(url: URL, options: object) {
      did.push([url.pathname.split('/').at(-1), options]);
    }
    postMessage(message: object): void {
      did.push(message);
      for (const data of [{ progress: 0.25 }, { progress: 0.5 }, { progress: 1, psk: PSK }]) {
        setTimeout(() => this.onmessage({ data }));
      }
    }
    terminate(): void {
      did.push('terminated');
    }
  }
  const salt = randomBytes(32);
  const derived = await replacing(globalThis, { Worker: Working }, () =>
    soon(
      deriveInWorker(
        'correct horse',
        salt,
        (progress: number) => did.push(progress),
        new AbortController().signal,
      ),
    ),
  );
  const worker = ['derive-worker-in-browser.js', { type: 'module' }];
  assert.equal(did, [worker, { password: 'correct horse', salt }, 0.25, 0.5, 1, 'terminated']);
  assert.is(derived, PSK);
});

test('a page that needs no PSK any more ends its worker', async () => {
  let isTerminated = false;
  class Endless {
    postMessage(): void {}
    terminate(): void {
      isTerminated = true;
    }
  }
  const stopper = new AbortController();
  const stopped = replacing(globalThis, { Worker: Endless }, () => {
    const derived = deriveInWorker('correct horse', randomBytes(32), () => {}, stopper.signal);
    stopper.abort();
    return derived.then(
      () => 'derived',
      ({ message }: Error) => message,
    );
  });
  assert.equal([await soon(stopped), isTerminated], ['the derivation was stopped', true]);
});

const known = createKeyring({ accessKey: 'kiosk-7', staticKey: randomBytes(32), crypto });
const KEY = fingerprint(known.staticKey.publicKey!);
const NOT_REACHED = 'KKpsk0 failed. The next attempt, with XXpsk2, works, or names the cause.';
/** What only the operator of a hub can help with, in whole sentences. */
const TO_THE_OPERATOR: { readonly [code: string]: string } = {
  'client-key-refused': `The connection was refused when this client had shown its key, ${KEY}. Most likely the hub knows this client by another key, or another device uses this access key: ask its operator, who can forget the other key (on HiveMind's hub: hivemind-core reset-noise-pin with the number of the client).`,
  'kk-refused': NOT_REACHED,
  'kk-failed': NOT_REACHED,
  refused: `The connection was refused right after the handshake. Ask the hub’s operator whether the access key was revoked, whether the hub knows this client by another key than ${KEY}, and whether it is full.`,
  'psk-differs': `The hub’s answer does not fit the password: most likely the hub has another one for this client. Ask its operator, and name this client’s key, ${KEY}.`,
};

for (const [code, sentence] of Object.entries(TO_THE_OPERATOR)) {
  test(`the advice for ${code} says what its operator has to know, and needs the keyring for that`, () => {
    const error = Object.assign(new Error('what the error says'), { code });
    assert.is(tellingOf(error, known).advice, sentence);
    assert.is(tellingOf(error, undefined).advice, 'What the error says.');
    assert.is(
      tellingOf(error, known, { advise: () => 'What the transport says.' }).advice,
      'What the transport says.',
    );
  });
}

test('an error without a message has advice, too', () => {
  assert.is(tellingOf(new TypeError(), stored).advice, 'The client failed without a message (TypeError).');
});

test('whoever stands in front is told no code, key, option or command, and whom to call', () => {
  const ask = {
    nobody: /Connecting again\.|Ask again\.|disconnected\.|close it\.$/,
    operator: / tell the operator\.$/,
    developer: / tell its developer\.$| send that\.$/,
  };
  const codes = [...Object.keys(LOCAL_ERRORS), 'ENOSPC', 'constructor', 'ANOTHER_TAB', 'CONNECT_SRC'];
  const errors = [
    ...codes.map((code) =>
      Object.assign(new Error('x'), /[A-Z]/.test(code) ? { platformCode: code } : { code }),
    ),
    ...Object.keys(REMOTE_ERRORS).map((code) => new RemoteError(code as keyof typeof REMOTE_ERRORS, 'x')),
  ];
  for (const error of errors) {
    const { tell, who } = tellingOf(error, known);
    assert.match(tell, ask[who]);
    assert.match(tell, /^[A-Z][a-z ,:.]+(?:[A-Z][a-z ,:.]+)*$/);
    assert.is(/Connecting again/.test(tell) && who === 'developer', false);
  }
});

test('a page refuses options that only Node.js has', () => {
  const wrong: [object, string][] = [
    [{ keyring: 'keyring.json' }, 'keyring'],
    [{ keyring: null }, 'keyring'],
    [{ keyring, socket: {} }, 'socket'],
  ];
  for (const [options, name] of wrong) {
    const isNamed = (error: Error & { code?: string }): boolean =>
      error.code === 'bad-argument' && error.message.includes(name);
    assert.throws(() => connect({ identity, ...options } as BrowserOptions), isNamed);
  }
});

for (const half of ['load', 'update'] as const) {
  test(`a page refuses a store of the keyring that has only ${half}()`, () => {
    const isNamed = ({ code }: { code?: string }): boolean => code === 'bad-argument';
    const options = { identity, keyring: { [half]: keyring[half] } };
    assert.throws(() => connect(options as unknown as BrowserOptions), isNamed);
  });
}

test('a bundle for pages that imports the package gets the client for pages', async () => {
  const { metafile } = await build({
    stdin: {
      contents: "export { connect } from 'hub-protocol-client';",
      resolveDir: fileURLToPath(new URL('.', import.meta.url)),
    },
    ...{ bundle: true, platform: 'browser', format: 'esm', write: false, metafile: true, logLevel: 'silent' },
  });
  const files = Object.keys(metafile.inputs).filter((file) => /client\/dist\/(?:ws|browser)\.js$/.test(file));
  assert.equal(files.length, 1);
  assert.ok(files[0]!.endsWith('browser.js'));
});

test.run();

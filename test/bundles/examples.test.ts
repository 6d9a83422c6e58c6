/**
 * The examples for devices. The one for QuickJS runs in QuickJS, the one for Moddable in Node with stand-ins for Moddable's
 * modules, which shows only that it uses the library rightly. bridge.test.ts has the one for Espruino.
 */
import { type Cipher, createCipheriv, createHash, type Hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'acorn';
import { build } from 'esbuild';
import {
  ClientSession,
  type Crypto,
  createKeyring,
  derivePsk,
  HubSession,
  type HubSessionEvent,
  parseIdentity,
  parseKeyring,
  type SessionEvent,
  serializeKeyring,
  storePsk,
} from 'hub-protocol';
import { nobleCrypto } from 'hub-protocol/noble';
import { nodeCrypto, randomBytes } from 'hub-protocol/node';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { connectionOf } from '../../cli/src/connection.ts';
import { compactAesGcm } from '../../examples/aes-gcm.ts';
import { Assistant } from '../../examples/assistant.ts';
import { startClient } from '../../examples/quickjs/host.ts';
import { walk } from '../../tools/syntax.ts';

const example = (name: string): string => fileURLToPath(new URL(`../../examples/${name}`, import.meta.url));
const IDENTITY = {
  access_key: 'kiosk-7',
  password: 'correct horse',
  site_id: 'lobby',
  default_master: 'wss://hub.example',
};
const CONNECTION = connectionOf(parseIdentity(IDENTITY), { name: 'kiosk', allowPlaintext: false });
const PSK = derivePsk({ crypto: nodeCrypto, password: IDENTITY.password, nodeId: 'hub-1' });
const hubKey = randomBytes(32);
let clientKey: Uint8Array | undefined;

/** A hub at the other end of a connection, which answers over the bus or echoes JSON messages. */
function hubAt(send: (data: string | Uint8Array) => void, speaksBus = false) {
  const { ChaChaPoly } = nodeCrypto.ciphers;
  const options = {
    crypto: { ...nodeCrypto, ciphers: { ChaChaPoly: ChaChaPoly! } },
    nodeId: 'hub-1',
    hello: { name: 'Küche' },
  };
  const hub = new HubSession({ ...options, staticKey: hubKey, randomBytes, psk: PSK, clientKey });
  const seen: HubSessionEvent[] = [];
  const assistant = new Assistant(hub);
  const handle = (events: HubSessionEvent[]): void => {
    for (const event of events) {
      seen.push(event);
      if (event.type === 'transmit') send(event.data);
      if (event.type === 'pin') clientKey = event.key;
      if (speaksBus) assistant.handle(event).forEach(send);
      else if (event.type === 'message' && event.kind === 'json')
        hub.sendJson({ echo: event.text }).forEach(send);
    }
  };
  return {
    seen,
    start: () => handle(hub.start()),
    receive: (data: string | Uint8Array) => handle(hub.receive(data)),
    sendBinary: (bytes: Uint8Array) => hub.sendBinary(bytes).forEach(send),
    typesSeen: () => seen.map(({ type }) => type),
  };
}

/** Waits for queued callbacks. */
const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20));

test('the QuickJS example makes first contact, reconnects with its pin, and sends messages', async () => {
  clientKey = undefined;
  const store = new Map([['connection', JSON.stringify(CONNECTION)]]);
  const { password } = IDENTITY;
  const printed: string[] = [];
  for (const pattern of ['XXpsk2', 'KKpsk0']) {
    let hub: ReturnType<typeof hubAt> | undefined;
    const send = (data: string | Uint8Array) => queueMicrotask(() => hub!.receive(data));
    const client = await startClient({ store, password, send, say: (text) => printed.push(text) });
    hub = hubAt((data) => queueMicrotask(() => client.received(data)));
    client.connected();
    hub.start();
    await settled();
    assert.equal(printed.splice(0), [`ready: ${pattern}`]);
    client.send({ say: 'hello' });
    await settled();
    assert.equal(printed.splice(0), ['{"echo":"{\\"say\\":\\"hello\\"}"}']);
    client.disconnected(1006);
    assert.equal(printed.splice(0), ['ended: dropped']);
    client.stop();
  }
  const device = parseKeyring(store.get('keyring')!, IDENTITY.access_key);
  assert.equal(device.pins.length, 1);
  assert.is(device.staticKeyIsFresh, false);
});

/** What the example uses of Moddable's module `crypt`. */
const crypt = {
  Digest: class {
    private readonly hash: Hash;
    constructor(name: string) {
      this.hash = createHash(name);
    }
    write(data: Uint8Array): void {
      this.hash.update(data);
    }
    close(): ArrayBuffer {
      return new Uint8Array(this.hash.digest()).buffer;
    }
  },
  StreamCipher: class {
    private readonly cipher: Cipher;
    constructor(name: string, key: ArrayBuffer, nonce: ArrayBuffer, counter: number) {
      assert.equal([name, nonce.byteLength, counter], ['ChaCha', 12, 0]);
      const start = Buffer.concat([new Uint8Array(4), new Uint8Array(nonce)]);
      this.cipher = createCipheriv('chacha20', new Uint8Array(key), start);
      this.decrypt = this.encrypt;
    }
    encrypt(data: Uint8Array, result: Uint8Array): void {
      result.set(this.cipher.update(data));
    }
    decrypt: (data: Uint8Array, result: Uint8Array) => void;
  },
};

interface Moddable {
  preferences: Map<string, string>;
  sockets: ModdableSocket[];
  traced: string[];
  /** The timers that are set, by how long they run. */
  timers: { call: () => void; wait: number }[];
  /** Lets the timers of some length fire. */
  fire(wait: (wait: number) => boolean): Promise<void>;
}
interface ModdableSocket {
  options: { url: string; wss?: { socket: { secure: { certificate: { name: string } } } } };
  readyState: number;
  hub: ReturnType<typeof hubAt>;
  open(): void;
  onopen?(): void;
  onmessage?(event: { data: string | ArrayBuffer }): void;
  onclose?(event: { code: number }): void;
}

/** Starts the Moddable example as at power-up. */
async function startModdable(preferences: Moddable['preferences'], isReachable = true): Promise<Moddable> {
  const sockets: ModdableSocket[] = [];
  class Socket implements ModdableSocket {
    options: ModdableSocket['options'];
    readyState = 0;
    hub: ReturnType<typeof hubAt>;
    onopen?: () => void;
    onmessage?: (event: { data: string | ArrayBuffer }) => void;
    onclose?: (event: { code: number }) => void;
    constructor(options: ModdableSocket['options']) {
      this.options = options;
      sockets.push(this);
      const bytes = (data: string | Uint8Array) =>
        typeof data === 'string' ? data : new Uint8Array(data).buffer;
      this.hub = hubAt((data) => queueMicrotask(() => this.onmessage?.({ data: bytes(data) })), true);
      if (isReachable) queueMicrotask(() => this.open());
    }
    open(): void {
      this.readyState = 1;
      this.onopen?.();
      if (this.readyState === 1) this.hub.start();
    }
    send(data: string | Uint8Array): void {
      queueMicrotask(() => this.hub.receive(data));
    }
    close(): void {
      if (this.readyState === 1) this.readyState = 3; // while it connects, it does nothing
    }
  }
  const traced: string[] = [];
  let timers: Moddable['timers'] = [];
  const timer = {
    set(call: () => void, wait: number) {
      const own = { call, wait };
      timers.push(own);
      return own;
    },
    clear(own: Moddable['timers'][number]) {
      assert.ok(timers.includes(own), 'a timer that has fired or was cleared');
      timers = timers.filter((one) => one !== own);
    },
  };
  const modules: { readonly [name: string]: unknown } = {
    preference: {
      get: (domain: string, key: string) => preferences.get(`${domain}/${key}`),
      set: (domain: string, key: string, value: string) => preferences.set(`${domain}/${key}`, value),
    },
    rng: { get: (length: number) => randomBytes(length).buffer },
    timer,
    crypt,
    time: { ticks: 2 ** 31 - 5 },
    Resource: class {
      static exists = () => true;
      readonly name: string;
      constructor(name: string) {
        this.name = name;
      }
    },
    WebSocket: Socket,
  };
  const script = await bundled('main', Object.keys(modules));
  const device = { network: { wss: { io: 'wss', socket: { io: 'tls' } } } };
  new Function('modules', 'trace', 'device', script)(modules, (text: string) => traced.push(text), device);
  const fire = async (is: (wait: number) => boolean): Promise<void> => {
    const due = timers.filter(({ wait }) => is(wait));
    timers = timers.filter((one) => !due.includes(one));
    for (const { call } of due) call();
    await settled();
  };
  await settled();
  return {
    preferences,
    sockets,
    traced,
    fire,
    get timers() {
      return timers;
    },
  };
}

/** The preferences of a device that was provisioned. */
function provisioned(): Moddable['preferences'] {
  const accessKey = IDENTITY.access_key;
  const fresh = createKeyring({ accessKey, staticKey: randomBytes(32) });
  return new Map([
    ['hub/connection', JSON.stringify(CONNECTION)],
    ['hub/keyring', serializeKeyring(storePsk(fresh, 'hub-1', PSK))],
  ]);
}
const isPause = (wait: number): boolean => wait < 2000;

test('the Moddable example makes first contact, asks, stores the pin, and reconnects with it', async () => {
  clientKey = undefined;
  const device = await startModdable(provisioned());
  const [first] = device.sockets;
  const { url, wss } = first!.options;
  assert.ok(new URL(url).searchParams.has('authorization'));
  assert.is(wss!.socket.secure.certificate.name, 'hub-ca.der');
  assert.equal(
    first!.hub.typesSeen().filter((type) => type !== 'transmit'),
    ['pin', 'ready', 'hello', 'message', 'message'], // a ping and a request
  );
  assert.equal(device.traced.splice(0), ['handled: You said: hello\n']);
  first!.hub.sendBinary(new Uint8Array(100_000));
  await settled();
  assert.equal(device.traced.splice(0), ['a message of 100000 bytes was dropped\n']);

  first!.onclose!({ code: 1006 });
  assert.equal(device.traced.splice(0), ['ended: dropped\n']);
  await device.fire(isPause);
  const ready = device.sockets[1]!.hub.seen.find((event) => event.type === 'ready');
  assert.is(ready?.type === 'ready' && ready.pattern, 'KKpsk0');
});

test('the Moddable example keeps its keyring when the power fails between erasing and setting a preference', async () => {
  clientKey = undefined;
  const { preferences } = await startModdable(provisioned());
  const slots = ['hub/keyring', 'hub/keyring2'];
  const pinsIn = (slot: string): number => {
    const text = preferences.get(slot)!;
    return parseKeyring(text.slice(text.indexOf('{')), IDENTITY.access_key).pins.length;
  };
  assert.equal(slots.map(pinsIn), [1, 1]); // the pin, and then that the static key is not fresh any more
  for (const slot of slots) {
    const afterwards = new Map(preferences);
    afterwards.delete(slot);
    const device = await startModdable(afterwards);
    const ready = device.sockets[0]!.hub.seen.find((event) => event.type === 'ready');
    assert.is(ready?.type === 'ready' && ready.pattern, 'KKpsk0');
  }
  preferences.clear();
  preferences.set('hub/connection', JSON.stringify(CONNECTION));
  assert.instance(await startModdable(preferences).catch((error) => error), Error);
});

test('the Moddable example stores what provision wrote once, and keeps what is stored', async () => {
  const files: { readonly [name: string]: string } = {
    'connection.json': '{"url": 1}',
    'keyring.json': '{"pins": []}',
  };
  const preferences = new Map([['hub/keyring', 'a keyring with a pin']]);
  const modules = {
    preference: {
      get: (domain: string, key: string) => preferences.get(`${domain}/${key}`),
      set: (domain: string, key: string, value: string) => preferences.set(`${domain}/${key}`, value),
    },
    Resource: class {
      readonly text: string;
      constructor(name: string) {
        this.text = files[name]!;
      }
      slice(): string {
        return this.text;
      }
    },
  };
  const script = await bundled('provision', Object.keys(modules));
  const strings = { fromArrayBuffer: (text: string) => text };
  new Function('modules', 'trace', 'String', script)(modules, () => {}, strings);
  assert.is(preferences.get('hub/connection'), '{"url": 1}');
  assert.is(preferences.get('hub/keyring'), 'a keyring with a pin');
});

test('the Moddable example has no second socket while one that it gave up is still connecting', async () => {
  clientKey = undefined;
  const device = await startModdable(provisioned(), false);
  await device.fire((wait) => wait === 30_000); // the deadline
  assert.equal(device.traced.splice(0), ['ended: timeout\n']);
  await device.fire(isPause);
  await device.fire(isPause);
  assert.is(device.sockets.length, 1);
  const [given] = device.sockets;
  given!.open();
  assert.is(given!.readyState, 3);
  await device.fire(isPause);
  assert.is(device.sockets.length, 2);
});

test('the Moddable example stops when it lacks the PSK, which only a person can change', async () => {
  clientKey = undefined;
  const preferences = provisioned();
  const fresh = createKeyring({ accessKey: IDENTITY.access_key, staticKey: randomBytes(32) });
  preferences.set('hub/keyring', serializeKeyring(fresh));
  const device = await startModdable(preferences);
  assert.equal(device.traced, ['no PSK for this hub: provision the device again\n', 'ended: dropped\n']);
  assert.equal(device.timers, []);
});

/** Bundles a file of the Moddable example into one script, with its modules taken from `modules`. */
async function bundled(name: string, names: string[]): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [example(`moddable/${name}.js`)],
    bundle: true,
    write: false,
    format: 'iife',
    globalName: 'bundle',
    plugins: [
      {
        name: 'modules',
        setup({ onResolve, onLoad }) {
          onResolve({ filter: /^hub-protocol$/ }, () => ({
            path: fileURLToPath(new URL('../../dist/hub-protocol.js', import.meta.url)),
          }));
          onResolve({ filter: /^hub-protocol-requests$/ }, () => ({
            path: fileURLToPath(new URL('../../dist/hub-protocol.requests.js', import.meta.url)),
          }));
          onResolve({ filter: /^hub-(?:crypto|keyring|socket)$/ }, ({ path }) => ({
            path: example(`moddable/${path}.js`),
          }));
          onResolve({ filter: new RegExp(`^(?:${names.join('|')})$`) }, ({ path }) => ({
            path,
            namespace: 'modules',
          }));
          onLoad({ filter: /./, namespace: 'modules' }, ({ path }) => ({
            // A class is its own default, whichever way esbuild takes the module for.
            contents: `const given = modules.${path};
              module.exports = Object.assign(given, { __esModule: true, default: given });`,
          }));
        },
      },
    ],
  });
  return outputFiles[0]!.text;
}

test('the cryptography of the Moddable example computes what that of Node.js does', async () => {
  const script = await bundled('hub-crypto', ['crypt']);
  const crypto: Crypto = new Function('modules', `${script}; return bundle.default;`)({ crypt });
  const text = randomBytes(200);
  const [key, nonce] = [randomBytes(32), randomBytes(12)];
  const own = crypto.ciphers.ChaChaPoly!(key);
  const nodes = nodeCrypto.ciphers.ChaChaPoly!(key);
  for (const length of [0, 1, 15, 16, 17, 64, 65, 200]) {
    const [part, rest] = [text.subarray(0, length), text.subarray(length)];
    assert.equal(crypto.sha256(part, rest), nodeCrypto.sha256(text));
    assert.equal(crypto.hmacSha256(part, rest), nodeCrypto.hmacSha256(part, rest));
    const sealed = nodes.seal(nonce, rest, part);
    assert.equal(own.seal(nonce, rest, part), sealed);
    assert.equal(own.open(nonce, rest, sealed), new Uint8Array(part));
    const damaged = new Uint8Array(sealed);
    damaged[length]! ^= 1; // of the tag
    assert.is(own.openInPlace!(nonce, rest, damaged), undefined);
    damaged[length]! ^= 1;
    assert.equal(damaged, sealed);
    assert.equal(own.openInPlace!(nonce, rest, damaged), new Uint8Array(part));
  }
});

test('a client that has only the compact AESGCM talks to a hub', () => {
  const staticKey = randomBytes(32);
  const hub = new HubSession({
    randomBytes,
    staticKey,
    crypto: nodeCrypto,
    nodeId: 'hub-1',
    psk: PSK,
  });
  const client = new ClientSession({
    randomBytes,
    crypto: { ...nobleCrypto, ciphers: { AESGCM: compactAesGcm } },
    siteId: 'lobby',
    keyring: { staticKey, psks: [{ nodeId: 'hub-1', key: PSK }] },
  });
  const toHub = (events: SessionEvent[]): HubSessionEvent[] =>
    events.flatMap((event) => (event.type === 'transmit' ? hub.receive(event.data) : []));
  const toClient = (events: HubSessionEvent[]): SessionEvent[] =>
    events.flatMap((event) => (event.type === 'transmit' ? client.receive(event.data) : []));
  toHub(toClient(toHub(toClient(hub.start()))));
  assert.is(client.state, 'ready');
  const text = JSON.stringify('x'.repeat(5000));
  assert.equal(hub.receive(client.sendJson(text)[0]!), [{ type: 'message', kind: 'json', text }]);
  assert.equal(client.receive(hub.sendJson(text)[0]!), [{ type: 'message', kind: 'json', text }]);
  const damaged = hub.sendJson(text)[0]!;
  damaged[100]! ^= 1;
  const [close] = client.receive(damaged);
  assert.is(close?.type === 'close' && close.error.code, 'not-authentic');
});

test('the Moddable manifest names hub-protocol.js and preloads it', () => {
  const manifest = JSON.parse(readFileSync(example('moddable/manifest.json'), 'utf8'));
  // Moddable has modules such as `socket`, and of two with one name it takes either.
  for (const path of manifest.modules['*']) assert.match(path, /^\.\/(?:main|hub-\w+)$/);
  assert.is(manifest.modules['hub-protocol'], '../../dist/hub-protocol');
  assert.is(manifest.modules['hub-protocol-requests'], '../../dist/hub-protocol.requests');
  assert.equal(manifest.preload, ['hub-protocol', 'hub-protocol-requests']);
});

test('the Espruino example has no syntax that Espruino lacks', () => {
  const lacking = ['RestElement', 'SpreadElement', 'AssignmentPattern', 'ObjectPattern', 'ArrayPattern'];
  const found: string[] = [];
  walk(parse(readFileSync(example('espruino/main.js'), 'utf8'), { ecmaVersion: 2015 }), ({ type }) => {
    if (lacking.includes(type)) found.push(type);
    return true;
  });
  assert.equal(found, []);
});

test.run();

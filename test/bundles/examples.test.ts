/**
 * The examples for devices. The one for QuickJS runs in QuickJS, the one for Moddable in Node with stand-ins for Moddable's
 * modules, which shows only that it uses the library rightly. bridge.test.ts has the one for Espruino.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'acorn';
import { build } from 'esbuild';
import {
  ClientSession,
  createKeyring,
  derivePsk,
  HubSession,
  type HubSessionEvent,
  parseKeyring,
  type SessionEvent,
  serializeKeyring,
  storePsk,
} from 'hub-protocol';
import { nobleCrypto } from 'hub-protocol/noble';
import { nodeCrypto, randomBytes } from 'hub-protocol/node';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { compactAesGcm } from '../../examples/aes-gcm.ts';
import { startClient } from '../../examples/quickjs/host.ts';
import { walk } from '../../tools/syntax.ts';

const example = (name: string): string => fileURLToPath(new URL(`../../examples/${name}`, import.meta.url));
const IDENTITY = {
  access_key: 'kiosk-7',
  password: 'correct horse',
  site_id: 'lobby',
  default_master: 'wss://hub.example',
};
const PSK = derivePsk({ crypto: nodeCrypto, password: IDENTITY.password, nodeId: 'hub-1' });
const hubKey = randomBytes(32);
let clientKey: Uint8Array | undefined;

/** A hub at the other end of a connection, which echoes JSON messages. */
function hubAt(send: (data: string | Uint8Array) => void) {
  const { ChaChaPoly } = nodeCrypto.ciphers;
  const options = {
    crypto: { ...nodeCrypto, ciphers: { ChaChaPoly: ChaChaPoly! } },
    nodeId: 'hub-1',
    hello: { name: 'Küche' },
  };
  const hub = new HubSession({ ...options, staticKey: hubKey, randomBytes, psk: PSK, clientKey });
  const seen: HubSessionEvent[] = [];
  const handle = (events: HubSessionEvent[]): void => {
    for (const event of events) {
      seen.push(event);
      if (event.type === 'transmit') send(event.data);
      if (event.type === 'pin') clientKey = event.key;
      if (event.type === 'message' && event.kind === 'json') hub.sendJson({ echo: event.text }).forEach(send);
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
  const store = new Map([['identity', JSON.stringify(IDENTITY)]]);
  const printed: string[] = [];
  for (const pattern of ['XXpsk2', 'KKpsk0']) {
    let hub: ReturnType<typeof hubAt> | undefined;
    const send = (data: string | Uint8Array) => queueMicrotask(() => hub!.receive(data));
    const client = await startClient({ store, send, say: (text) => printed.push(text) });
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

test('the Moddable example makes first contact, stores the pin, and reconnects with it', async () => {
  clientKey = undefined;
  const fresh = createKeyring({
    accessKey: IDENTITY.access_key,
    staticKey: randomBytes(32),
    crypto: nodeCrypto,
  });
  const preferences = new Map([
    ['hub/identity', JSON.stringify(IDENTITY)],
    ['hub/keyring', serializeKeyring(storePsk(fresh, 'hub-1', PSK))],
  ]);
  let hub: ReturnType<typeof hubAt> | undefined;
  const sockets: { url: string; close(): void; onclose(event: { code: number }): void }[] = [];
  class Socket {
    binaryType = '';
    readonly url: string;
    isClosed = false;
    constructor(url: string) {
      this.url = url;
      sockets.push(this);
      const bytes = (data: string | Uint8Array) =>
        typeof data === 'string' ? data : new Uint8Array(data).buffer;
      hub = hubAt((data) => queueMicrotask(() => this.onmessage({ data: bytes(data) })));
      queueMicrotask(() => hub!.start());
    }
    send(data: string | Uint8Array): void {
      queueMicrotask(() => hub!.receive(data));
    }
    close(): void {
      this.isClosed = true;
    }
    onmessage(_event: { data: string | ArrayBuffer }): void {}
    onclose(_event: { code: number }): void {}
  }
  const traced: string[] = [];
  const again: (() => void)[] = [];
  const timer = {
    set: (callback: () => void, milliseconds: number) => {
      if (milliseconds === 0) queueMicrotask(callback);
      if (milliseconds === 1000) again.push(callback);
      return callback;
    },
    clear: () => {},
  };
  const modules: { readonly [name: string]: unknown } = {
    preference: {
      get: (domain: string, key: string) => preferences.get(`${domain}/${key}`),
      set: (domain: string, key: string, value: string) => preferences.set(`${domain}/${key}`, value),
    },
    rng: { get: (length: number) => randomBytes(length).buffer },
    timer,
    WebSocket: Socket,
  };
  const script = await bundleMain(Object.keys(modules));
  new Function('modules', 'trace', script)(modules, (text: string) => traced.push(text));
  await settled();
  assert.equal(
    sockets.map(({ url }) => new URL(url).searchParams.has('authorization')),
    [true],
  );
  assert.equal(
    hub!.typesSeen().filter((type) => type !== 'transmit'),
    ['pin', 'ready', 'hello', 'message'],
  );
  assert.equal(traced.splice(0), ['json message\n']);
  hub!.sendBinary(new Uint8Array(100_000));
  await settled();
  assert.equal(traced.splice(0), ['a message of 100000 bytes was dropped\n']);
  const device = parseKeyring(preferences.get('hub/keyring')!, IDENTITY.access_key);
  assert.is(device.pins.length, 1);

  sockets[0]!.onclose({ code: 1006 });
  assert.equal(traced.splice(0), ['dropped: dropped\n']);
  again.pop()!();
  await settled();
  const ready = hub!.seen.find((event) => event.type === 'ready');
  assert.is(ready?.type === 'ready' && ready.pattern, 'KKpsk0');
});

/** Bundles the Moddable example into one script, with its modules taken from `modules`. */
async function bundleMain(names: string[]): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [example('moddable/main.js')],
    bundle: true,
    write: false,
    format: 'iife',
    plugins: [
      {
        name: 'modules',
        setup({ onResolve, onLoad }) {
          onResolve({ filter: /^hub-protocol$/ }, () => ({
            path: fileURLToPath(new URL('../../dist/hub-protocol.js', import.meta.url)),
          }));
          onResolve({ filter: new RegExp(`^(?:${names.join('|')})$`) }, ({ path }) => ({
            path,
            namespace: 'modules',
          }));
          onLoad({ filter: /./, namespace: 'modules' }, ({ path }) => ({
            contents: `export default modules[${JSON.stringify(path)}];`,
          }));
        },
      },
    ],
  });
  return outputFiles[0]!.text;
}

test('a client with the compact AESGCM talks to a hub that has only AESGCM', () => {
  const { AESGCM } = nodeCrypto.ciphers;
  const common = { randomBytes, staticKey: randomBytes(32) };
  const hub = new HubSession({
    ...common,
    crypto: { ...nodeCrypto, ciphers: { AESGCM: AESGCM! } },
    allowIncompleteOffer: true,
    nodeId: 'hub-1',
    psk: PSK,
  });
  const client = new ClientSession({
    ...common,
    crypto: { ...nobleCrypto, ciphers: { AESGCM: compactAesGcm } },
    siteId: 'lobby',
    psk: () => PSK,
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
  assert.is(manifest.modules['hub-protocol'], '../../dist/hub-protocol');
  assert.equal(manifest.preload, ['hub-protocol']);
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

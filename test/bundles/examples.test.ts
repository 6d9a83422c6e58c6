/**
 * The examples for devices. The one for QuickJS runs in QuickJS, the one for Moddable in Node with stand-ins for Moddable's
 * modules, which shows only that it uses the library rightly. bridge.test.ts has the one for Espruino, and storage.test.ts what
 * both store.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'acorn';
import {
  type CryptoProvider,
  createKeyring,
  HubSession,
  type HubSessionEvent,
  parseKeyring,
} from 'hub-protocol';
import { nobleCrypto } from 'hub-protocol/noble';
import { nodeCrypto, randomBytes } from 'hub-protocol/node';
import { ClientSession, type SessionEvent } from 'hub-protocol/parts';
import { localhostCertificate } from 'hub-protocol-cli/certificate';
import { serveHub } from 'hub-protocol-client/hub';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { compactAesGcm } from '../../examples/aes-gcm.ts';
import { startClient } from '../../examples/quickjs/host.ts';
import { walk } from '../../tools/syntax.ts';
import { builtInsOf, namedTooEarly } from './built-ins.ts';
import {
  bundled,
  CONNECTION,
  crypt,
  type DeviceHub,
  example,
  forgetClient,
  hubAt,
  IDENTITY,
  isPause,
  PSK,
  preferencesOf,
  provisioned,
  settled,
  startModdable,
} from './moddable.ts';

test('the QuickJS example makes first contact, reconnects with its pin, and sends messages', async () => {
  forgetClient();
  const store = new Map([['connection', JSON.stringify(CONNECTION)]]);
  const { password } = IDENTITY;
  const printed: string[] = [];
  for (const pattern of ['XXpsk2', 'KKpsk0']) {
    const hub: DeviceHub = hubAt((data) => {
      const received = typeof data === 'string' ? data : Buffer.from(data); // part of a larger buffer, as from `ws`
      queueMicrotask(() => client.received(received));
    });
    const client = await startClient({
      store,
      password,
      open: () => setTimeout(() => hub.start()),
      send: (data) => queueMicrotask(() => hub.receive(data)),
      close() {},
      say: (text) => printed.push(text),
    });
    await settled();
    assert.equal(printed.splice(0), [`ready: ${pattern}`]);
    client.send({ say: 'hello' });
    await settled();
    assert.equal(printed.splice(0), ['{"echo":"{\\"say\\":\\"hello\\"}"}']);
    client.closed(1006);
    assert.equal(printed.splice(0), ['ended: dropped']);
    client.stop();
  }
  const device = parseKeyring(store.get('keyring')!, IDENTITY.access_key);
  assert.equal(device.pins.length, 1);
  assert.is(device.staticKeyIsFresh, false);
});

test('the program around QuickJS asks a hub over TLS', async () => {
  const { ca, ...tls } = await localhostCertificate();
  const clients = new Map([['kiosk-7', { psk: PSK }]]);
  const hub = await serveHub({ tls, clients, nodeId: 'hub-1', staticKey: randomBytes(32) });
  const folder = mkdtempSync(join(tmpdir(), 'hub-protocol-'));
  const identity = {
    access_key: 'kiosk-7',
    password: IDENTITY.password,
    site_id: 'lobby',
    data_plane_endpoints: { wss: hub.url },
  };
  writeFileSync(join(folder, 'identity.json'), JSON.stringify(identity));
  writeFileSync(join(folder, 'ca.pem'), ca);
  try {
    for (const pattern of ['XXpsk2', 'KKpsk0']) {
      const { stdout } = await promisify(execFile)(process.execPath, [
        '--import',
        'tsx',
        'examples/quickjs/host.ts',
        folder,
        'hello',
      ]);
      assert.is(stdout, `ready: ${pattern}\nYou said: hello\n`);
    }
  } finally {
    await hub.stop();
    rmSync(folder, { recursive: true });
  }
});

test('the QuickJS example does not answer a hub whose pin the host did not store', async () => {
  forgetClient();
  class FullStore extends Map<string, string> {
    override set(): never {
      throw new Error('full');
    }
  }
  const store = new FullStore();
  Map.prototype.set.call(store, 'connection', JSON.stringify(CONNECTION));
  const printed: string[] = [];
  const hub: DeviceHub = hubAt((data) => queueMicrotask(() => client.received(data)));
  const client = await startClient({
    store,
    password: IDENTITY.password,
    open: () => setTimeout(() => hub.start()),
    send: (data) => queueMicrotask(() => hub.receive(data)),
    close: () => printed.push('the socket was closed'),
    say: (text) => printed.push(text),
  });
  await settled();
  client.stop();
  assert.equal(printed, ['the socket was closed', 'ended: Error: full']);
  assert.not.ok(hub.typesSeen().includes('ready'));
});

test('the Moddable example makes first contact, asks, stores the pin, and reconnects with it', async () => {
  forgetClient();
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

test('the Moddable example stores what was provisioned once, and keeps what is stored', async () => {
  const files: { readonly [name: string]: string } = {
    'connection.json': '{"url": 1}',
    'keyring.json': '{"pins": []}',
    'slot.txt': '1 1 {}',
  };
  const preferences = new Map<string, string>();
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
  const provision = () => new Function('modules', 'trace', 'String', script)(modules, () => {}, strings);
  provision();
  assert.equal(
    [...preferences],
    [
      ['hub/connection', '{"url": 1}'],
      ['hub/slot0', '1 1 {}'],
      ['hub/slot1', '1 1 {}'],
      ['hub/keyring', '{"pins": []}'], // last, so that an interrupted run is repeated
    ],
  );
  preferences.set('hub/slot0', 'a pin');
  provision();
  assert.is(preferences.get('hub/slot0'), 'a pin');
});

test('the Moddable example has no second socket while one that it gave up is still connecting', async () => {
  forgetClient();
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

test('the Moddable example pings each minute while it is connected', async () => {
  forgetClient();
  const device = await startModdable(provisioned());
  const [first] = device.sockets;
  const count = () => first!.hub.typesSeen().filter((type) => type === 'message').length;
  const before = count();
  await device.fire((wait) => wait === 60_000);
  assert.is(count(), before + 1);
  first!.onclose!({ code: 1006 });
  await device.fire((wait) => wait === 60_000);
  assert.is(count(), before + 1);
  assert.equal(device.crashes, []);
});

test('the Moddable example dials on when it lacks the PSK of the hub that it is told of, which anybody can name', async () => {
  forgetClient();
  const preferences = preferencesOf(
    createKeyring({ accessKey: IDENTITY.access_key, staticKey: randomBytes(32) }),
  );
  const device = await startModdable(preferences);
  assert.equal(device.traced, [
    'no PSK for this hub: provision the device again\n',
    'ended: Error: no PSK\n',
  ]);
  assert.is(device.timers.length, 1);
});

test('the Moddable example’s cryptography computes the same values as Node.js', async () => {
  const script = await bundled('hub-crypto', ['crypt']);
  const crypto: CryptoProvider = new Function('modules', `${script}; return bundle.default;`)({ crypt });
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

for (const [file, ecmaVersion] of [
  ['espruino/main.js', 2015],
  ['bridge/line.cjs', 5],
] as const) {
  test(`${file} has no syntax that Espruino lacks`, () => {
    const lacking = ['RestElement', 'SpreadElement', 'AssignmentPattern', 'ObjectPattern', 'ArrayPattern'];
    const found: string[] = [];
    walk(parse(readFileSync(example(file), 'utf8'), { ecmaVersion }), ({ type }) => {
      if (lacking.includes(type)) found.push(type);
      return true;
    });
    assert.equal(found, []);
  });

  test(`${file} uses no name before its declaration, also in what it calls, and only built-ins of ES5`, () => {
    const source = readFileSync(example(file), 'utf8');
    assert.equal(namedTooEarly(source), []);
    const ofEspruino =
      'E E.hwRand Serial1 Serial1.on Serial1.setup Serial1.write console console.log module.exports module require';
    const ofEs5 =
      '.charCodeAt .filter .forEach .indexOf .lastIndexOf .length .map .pop .push .reduce .set .shift .split .substr .substring .toString .trim Error JSON JSON.parse JSON.stringify String String.fromCharCode Uint8Array parseInt';
    const known = `${ofEspruino} ${ofEs5}`.split(' ');
    assert.equal(
      builtInsOf(source, 'script').filter((name) => !known.includes(name)),
      [],
    );
  });
}

test.run();

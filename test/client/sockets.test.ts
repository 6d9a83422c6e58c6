/** The option `socket`, and the proxy of the environment, over each transport of Node.js. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import http, { createServer as createHttpServer, type Server as HttpServer } from 'node:http';
import https from 'node:https';
import { type AddressInfo, connect as connectTcp, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { storePsk } from 'hub-protocol';
import { localhostCertificate } from 'hub-protocol-cli/certificate';
import { type Client, KeyringFile, type NodeOptions, connect as websocket } from 'hub-protocol-client';
import { connect as overHttps } from 'hub-protocol-client/https';
import { serveHub } from 'hub-protocol-client/hub/mqtt';
import { connect as mqtt } from 'hub-protocol-client/mqtt';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { proxyFor } from '../../client/dist/sockets.js';
import { AnyHub } from '../world/hub.ts';
import { DERIVED, NODE_ID } from '../world/keys.ts';
import { startBroker } from '../world/mqtt-broker.ts';
import { soon, until } from './world.ts';

const { ca, ...tls } = await localhostCertificate();
const own = await localhostCertificate();
const folder = mkdtempSync(join(tmpdir(), 'hub-protocol-'));
const clients: Client[] = [];
const hubs: AnyHub[] = [];
const proxies: HttpServer[] = [];
const saved = { ...process.env };
test.after.each(() => {
  for (const client of clients.splice(0)) client.end();
  for (const hub of hubs.splice(0)) hub.stop();
  for (const proxy of proxies.splice(0)) proxy.close().closeAllConnections();
  for (const name of ['NODE_USE_ENV_PROXY', 'HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY'])
    delete process.env[name];
  Object.assign(process.env, saved);
});
test.after(() => rmSync(folder, { recursive: true }));

const CONNECT = { websocket, https: overHttps, mqtt };
const ENTRIES = Object.keys(CONNECT) as (keyof typeof CONNECT)[];

async function start(options: Parameters<typeof AnyHub.start>[0] = tls): Promise<AnyHub> {
  const hub = await AnyHub.start(options);
  hubs.push(hub);
  return hub;
}

/** How the first connection ends: `connect`, or the code and the sentence. */
async function outcome(
  entry: keyof typeof CONNECT,
  hub: AnyHub,
  options: Partial<NodeOptions> = {},
): Promise<string> {
  const keyring = join(folder, `${entry}.json`);
  rmSync(keyring, { force: true });
  new KeyringFile(keyring, 'kiosk-7').update((kept) => storePsk(kept, NODE_ID, DERIVED));
  const client = CONNECT[entry]({ identity: hub.identity(), allowPlaintext: true, keyring, ...options });
  clients.push(client);
  return soon(
    new Promise((resolve) => {
      client.on('connect', () => resolve('connect'));
      client.on('close', ({ error, advice }) => resolve(`${error.code}: ${advice}`));
    }),
  );
}

/** A proxy that lets connections through, and what it was asked for. */
async function startProxy(status = 200): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = [];
  const proxy = createHttpServer();
  proxies.push(proxy);
  proxy.on('connect', ({ url, headers }: http.IncomingMessage, socket: Socket) => {
    asked.push(`${url} ${headers['proxy-authorization'] ?? ''}`.trim());
    if (status !== 200) return void socket.end(`HTTP/1.1 ${status} no\r\n\r\n`);
    const to = connectTcp(Number(url!.split(':')[1]), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      to.pipe(socket).pipe(to);
    });
    for (const each of [to, socket])
      each.on('error', () => {}).on('close', () => [to, socket].map((end) => end.destroy()));
  });
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  return { url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, asked };
}

for (const entry of ['websocket', 'mqtt'] as const) {
  test(`${entry}: resumes its TLS session when it connects again`, async () => {
    const hub = await start();
    const isReused = (): unknown => ([...hub.sockets].at(-1) as TLSSocket).isSessionReused();
    assert.is(await outcome(entry, hub, { socket: { ca } }), 'connect');
    assert.is(isReused(), false);
    for (let times = 0; times < 2; times++) {
      const again = new Promise((resolve) => clients[0]!.once('connect', resolve));
      hub.cut();
      await soon(again);
      assert.is(isReused(), true);
    }
  });
}

for (const entry of ENTRIES) {
  test(`${entry}: shows a server that wants one the certificate of the client`, async () => {
    const hub = await start({ ...tls, requestCert: true, ca: own.ca } as typeof tls);
    const { key, cert } = own;
    assert.is(await outcome(entry, hub, { socket: { ca, key, cert } }), 'connect');
    assert.match(await outcome(entry, hub, { socket: { ca } }), /wants a client certificate/);
    Object.assign(process.env, { HTTPS_PROXY: (await startProxy()).url, NODE_USE_ENV_PROXY: '1' });
    assert.match(await outcome(entry, hub, { socket: { ca } }), /wants a client certificate/);
  });

  test(`${entry}: resolves names by the function lookup`, async () => {
    const names: string[] = [];
    const lookup: NonNullable<NonNullable<NodeOptions['socket']>['lookup']> = (name, { all }, callback) => {
      names.push(name);
      if (all) callback(null, [{ address: '127.0.0.1', family: 4 }]);
      else callback(null, '127.0.0.1', 4);
    };
    assert.is(await outcome(entry, await start(), { socket: { ca, lookup } }), 'connect');
    assert.is(names[0], 'localhost');
  });

  for (const isTls of [true, false]) {
    test(`${entry}: goes through an agent, ${isTls ? 'with' : 'without'} TLS`, async () => {
      const made: string[] = [];
      const agent = new (isTls ? https : http).Agent({ keepAlive: true });
      const make = agent.createConnection.bind(agent);
      agent.createConnection = (options: { host?: string | null }, done: () => void) => {
        made.push(`${options.host}`);
        return make(options as never, done);
      };
      const hub = await AnyHub.start(isTls ? tls : undefined);
      hubs.push(hub);
      assert.is(await outcome(entry, hub, { socket: { ca, agent } }), 'connect');
      assert.is(made[0], 'localhost');
      agent.destroy();
    });

    test(`${entry}: goes through the proxy of the environment, ${isTls ? 'with' : 'without'} TLS`, async () => {
      const { url, asked } = await startProxy();
      const hub = await AnyHub.start(isTls ? tls : undefined);
      hubs.push(hub);
      process.env[isTls ? 'HTTPS_PROXY' : 'HTTP_PROXY'] = url.replace('//', '//me:p%40ss@');
      process.env.NODE_USE_ENV_PROXY = '1';
      assert.is(await outcome(entry, hub, { socket: { ca } }), 'connect');
      const account = `Basic ${Buffer.from('me:p@ss').toString('base64')}`;
      assert.match(asked[0]!, /^localhost:\d+ Basic /);
      assert.ok(asked[0]!.endsWith(account));
    });
  }

  test(`${entry}: says that the proxy refuses, and what it wants`, async () => {
    const { url } = await startProxy(407);
    Object.assign(process.env, { HTTPS_PROXY: url, NODE_USE_ENV_PROXY: '1' });
    assert.match(
      await outcome(entry, await start(), { socket: { ca } }),
      /^not-reachable: The proxy at 127\.0\.0\.1:\d+ wants a login/,
    );
  });

  test(`${entry}: says that the proxy cannot be reached`, async () => {
    Object.assign(process.env, { HTTPS_PROXY: 'http://127.0.0.1:9', NODE_USE_ENV_PROXY: '1' });
    assert.match(
      await outcome(entry, await start(), { socket: { ca } }),
      /The proxy at 127\.0\.0\.1:9 .*ECONNREFUSED/,
    );
  });

  test(`${entry}: says that an agent’s proxy may be what cannot be reached`, async () => {
    const hub = await start();
    const agent = new https.Agent();
    agent.createConnection = () => connectTcp(9, '127.0.0.1');
    assert.match(
      await outcome(entry, hub, { socket: { ca, agent } }),
      /^not-reachable: Nothing listens .* leads through socket: \{ agent \}: the fault may be there\.$/,
    );
  });
}

test('a hub over MQTT goes through the proxy of the environment', async () => {
  const { url, asked } = await startProxy();
  const broker = await startBroker({ tls, base: 'b', accounts: new Map([['hub', 'secret']]), hub: 'hub' });
  Object.assign(process.env, { HTTPS_PROXY: url, NODE_USE_ENV_PROXY: '1' });
  const account = { url: broker.url, ca, username: 'hub', password: 'secret' };
  const keys = { nodeId: 'hub-1', staticKey: DERIVED, clients: new Map() };
  const hub = await soon(serveHub({ ...keys, base: 'b', broker: account }));
  await hub.stop();
  await broker.stop();
  assert.match(asked[0]!, /^localhost:\d+$/);
});

test('sends the headers of the option with each request of HTTP', async () => {
  const server = createHttpServer((request, response) => {
    seen.push(request.headers);
    response.writeHead(404).end();
  }).on('upgrade', (request: http.IncomingMessage, socket: Socket) => {
    seen.push(request.headers);
    socket.end('HTTP/1.1 404 no\r\n\r\n');
  });
  proxies.push(server);
  const seen: http.IncomingHttpHeaders[] = [];
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const at = { wss: `ws://localhost:${port}`, https: `http://localhost:${port}` };
  const hub = await AnyHub.start();
  hubs.push(hub);
  const identity = hub.identity({ data_plane_endpoints: at } as object);
  for (const entry of ['websocket', 'https'] as const)
    await outcome(entry, hub, { identity, socket: { headers: { 'X-Door': 'open', 'user-agent': 'mine' } } });
  await until(() => seen.length > 1);
  for (const headers of seen) assert.equal([headers['x-door'], headers['user-agent']], ['open', 'mine']);
});

const bad: readonly (readonly [object, RegExp])[] = [
  [{ headers: { 'a b': 'c' } }, /"socket\.headers" expected/],
  [{ headers: { a: 'c\r\nd' } }, /"socket\.headers" expected/],
  [{ cert: own.cert }, /"socket" expected both "cert" and "key"/],
  [{ cert: own.cert, key: tls.key }, /"socket" expected a certificate \(cert\) and its private key/],
  [{ agent: {} }, /"socket\.agent" expected an agent/],
  [{ family: 5 }, /"socket\.family" expected 4 or 6/],
  [{ proxy: 'http://a' }, /socket\.proxy.* does not exist/],
];
for (const [socket, expected] of bad) {
  test(`refuses at once ${Object.keys(socket)} that cannot be`, async () => {
    const hub = await start();
    assert.throws(
      () => websocket({ identity: hub.identity(), keyring: join(folder, 'k.json'), socket } as never),
      ({ code, message }: { code: string; message: string }) =>
        code === 'bad-argument' && expected.test(message),
    );
  });
}

test('says where the option ca has gone', async () => {
  const hub = await start();
  const options = { identity: hub.identity(), keyring: join(folder, 'k.json'), ca };
  assert.throws(
    () => websocket(options as never),
    /"ca" expected to be in the option socket: socket: \{ ca \}/,
  );
});

test('NO_PROXY excepts names, domains, ports, addresses and ranges, as Node.js reads it', () => {
  const env = (NO_PROXY: string): NodeJS.ProcessEnv => ({ HTTPS_PROXY: 'proxy:3128', NO_PROXY });
  const isProxied = (host: string, no: string): boolean =>
    proxyFor({ isTls: true, host, port: 443 }, env(no)) !== undefined;
  const direct = [
    ...['hub.example *', 'hub.example a, hub.example', 'hub.example .example', 'HUB.example *.example'],
    ...['hub.example hub.example:443', '10.0.0.7 10.0.0.1-10.0.0.9', '10.0.0.7 10.0.0.7'],
  ];
  const proxied = [
    'hub.example ',
    'hub.example example',
    'hub.example hub.example:80',
    '10.0.0.10 10.0.0.1-10.0.0.9',
  ];
  const seen = [...direct, ...proxied].filter((each) =>
    isProxied(...(/^(\S+) (.*)/.exec(each)!.slice(1) as [string, string])),
  );
  assert.equal(seen, proxied);
});

test.run();

/** Our sessions against a client and a hub in Python that share no code and no library with them. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { generate } from 'selfsigned';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { WebSocket, WebSocketServer } from 'ws';
import {
  ClientSession,
  derivePsk,
  HubSession,
  type HubSessionEvent,
  parseIdentity,
  type SessionEvent,
  type Suite,
} from '../../src/index.ts';
import { nodeCrypto, randomBytes } from '../../src/noise/node.ts';

const PYTHON = new URL('python', import.meta.url).pathname;
const PEER = new URL('peer.py', import.meta.url).pathname;
const SIZES = [0, 1, 64999, 65000, 65001, 130000, 130001, 200000];
const SUITES: Suite[] = ['25519_ChaChaPoly_SHA256', '25519_AESGCM_SHA256'];
const NODE_ID = 'h\u00fcb \u{1f3e0}\nline two';
const PASSWORD = 'p\u00e4ssw\u00f6rd \u{1f511}';

interface Report {
  outcome: string;
  port: number;
  code: number | null;
  pattern: string;
  hubKey: string;
  clientKey: string;
  handshakeHash: string;
  echoed: number[];
  greeting: { msg_type: string; payload: { [name: string]: unknown } };
}

const folder = mkdtempSync(join(tmpdir(), 'hub-protocol-'));
const certificate = await generate([{ name: 'commonName', value: 'localhost' }], {
  keyType: 'ec',
  algorithm: 'sha256',
  extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: 'localhost' }] }],
});
const files = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };
writeFileSync(files.cert, certificate.cert);
writeFileSync(files.key, certificate.private, { mode: 0o600 });
const psk = derivePsk({ crypto: nodeCrypto, password: PASSWORD, nodeId: NODE_ID });

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
const publicKey = (key: Uint8Array) => hex(nodeCrypto.x25519.publicKey(key));

/** A Python peer and the lines that it reports. */
class Peer {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  constructor(role: 'client' | 'hub', options: object) {
    this.#child = spawn('bash', [PYTHON, PEER, role, JSON.stringify(options)], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.#lines = createInterface({ input: this.#child.stdout! })[Symbol.asyncIterator]();
  }

  async report(): Promise<Report> {
    const { value, done } = await this.#lines.next();
    if (done) throw new Error('the Python peer ended without a report');
    return JSON.parse(value);
  }

  stop(): void {
    this.#child.kill();
  }
}

const test = suite('interoperation with Python');
test.after(() => rmSync(folder, { recursive: true }));

/** Our hub, which echoes; answers its URL, what it saw, and how to stop it. */
async function startHub(staticKey: Uint8Array, name: Suite) {
  const seen: HubSessionEvent[] = [];
  let clientKey: Uint8Array | undefined;
  const server = createServer({ key: certificate.private, cert: certificate.cert });
  new WebSocketServer({ server }).on('connection', (socket) => {
    const session = new HubSession({
      crypto: nodeCrypto,
      nodeId: NODE_ID,
      staticKey,
      randomBytes,
      psk,
      clientKey,
      suites: [name],
    });
    const handle = (events: HubSessionEvent[]): void => {
      for (const event of events) {
        seen.push(event);
        if (event.type === 'transmit') socket.send(event.data);
        if (event.type === 'pin') clientKey = event.key;
        if (event.type === 'close') socket.close(event.code);
        if (event.type === 'message') {
          const echo = event.kind === 'json' ? session.sendJson(event.text) : session.sendBinary(event.bytes);
          for (const message of echo) socket.send(message);
        }
      }
    };
    socket.on('message', (data, isBinary) =>
      handle(session.receive(isBinary ? (data as Buffer) : String(data))),
    );
    socket.on('close', (code) => handle(session.closed(code)));
    handle(session.start());
  });
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
  const { port } = server.address() as AddressInfo;
  const stop = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `wss://localhost:${port}/`, seen, stop };
}

for (const name of SUITES) {
  test(`a Python client at our hub: XXpsk2, then KKpsk0, with ${name}`, async () => {
    const [hubStatic, clientStatic] = [randomBytes(32), randomBytes(32)];
    const hub = await startHub(hubStatic, name);
    const options = {
      url: hub.url,
      ca: files.cert,
      suite: name,
      password: PASSWORD,
      staticKey: hex(clientStatic),
      sizes: SIZES,
    };
    let pin: string | undefined;
    for (const pattern of ['XXpsk2', 'KKpsk0']) {
      hub.seen.length = 0;
      const report = await new Peer('client', { ...options, pin }).report();
      assert.is(report.outcome, 'ready');
      assert.is(report.pattern, pattern);
      assert.is(report.hubKey, publicKey(hubStatic));
      assert.equal(report.echoed, [...SIZES, ...SIZES]);
      const ready = hub.seen.find(({ type }) => type === 'ready') as HubSessionEvent & { type: 'ready' };
      assert.is(report.handshakeHash, hex(ready.handshakeHash));
      assert.is(hex(ready.clientKey), publicKey(clientStatic));
      assert.equal(ready.encodings, ['JSON-HEX']);
      assert.is(hub.seen.find(({ type }) => type === 'hello')?.type, 'hello');
      pin = report.hubKey;
    }
    const wrong = await new Peer('client', { ...options, password: 'wrong' }).report();
    assert.is(wrong.outcome, 'failed'); // at message 2, where XXpsk2 shows it
    const refused = await new Peer('client', { ...options, password: 'wrong', pin }).report();
    assert.is(refused.outcome, 'closed'); // on message 1, where KKpsk0 does
    assert.is(refused.code, 1008);
    hub.stop();
  });

  test(`our client at a Python hub: XXpsk2, then KKpsk0, with ${name}`, async () => {
    const [hubStatic, clientStatic] = [randomBytes(32), randomBytes(32)];
    const hub = new Peer('hub', {
      ...files,
      suite: name,
      password: PASSWORD,
      nodeId: NODE_ID,
      staticKey: hex(hubStatic),
    });
    const { port } = await hub.report();
    const url = `wss://localhost:${port}/`;
    let pin: Uint8Array | undefined;
    for (const pattern of ['XXpsk2', 'KKpsk0']) {
      const events = await converse(url, clientStatic, psk, pin);
      const ready = events.find(({ type }) => type === 'ready') as SessionEvent & { type: 'ready' };
      assert.is(ready.pattern, pattern);
      assert.is(ready.suite, name);
      assert.is(ready.encoding, 'JSON-HEX');
      assert.is(hex(ready.hubKey), publicKey(hubStatic));
      const report = await hub.report();
      assert.is(report.outcome, 'ready');
      assert.is(report.handshakeHash, hex(ready.handshakeHash));
      assert.is(report.clientKey, publicKey(clientStatic));
      assert.is(report.greeting.msg_type, 'hello');
      assert.equal(Object.keys(report.greeting.payload), ['pubkey', 'session', 'site_id']);
      assert.is((await hub.report()).outcome, 'closed');
      pin = ready.hubKey;
    }
    const wrong = await converse(url, clientStatic, randomBytes(32), undefined);
    const close = wrong.find(({ type }) => type === 'close') as SessionEvent & { type: 'close' };
    assert.is(close.error.code, 'psk-differs');
    assert.is((await hub.report()).code, 1008);
    const refused = await converse(url, clientStatic, randomBytes(32), pin);
    assert.equal(
      refused.map(({ type }) => type),
      ['transmit', 'psk-suspect', 'unpin', 'ended'],
    );
    hub.stop();
  });
}

/** Connects, has every size echoed as bytes and as JSON, closes; answers all events. */
function converse(
  url: string,
  staticKey: Uint8Array,
  key: Uint8Array,
  pin: Uint8Array | undefined,
): Promise<SessionEvent[]> {
  const session = new ClientSession({
    crypto: nodeCrypto,
    identity: parseIdentity({ access_key: 'kiosk-7', password: PASSWORD, site_id: 'lobby' }),
    staticKey,
    randomBytes,
    pin: () => pin,
    psk: () => key,
  });
  const socket = new WebSocket(url, { ca: certificate.cert });
  const payloads = SIZES.flatMap((size) => [randomBytes(size), 'x'.repeat(size)]);
  const all: SessionEvent[] = [];
  return new Promise((resolve, reject) => {
    const send = (payload: Uint8Array | string): void => {
      const messages = typeof payload === 'string' ? session.sendJson(payload) : session.sendBinary(payload);
      for (const message of messages) socket.send(message);
    };
    const handle = (events: SessionEvent[]): void => {
      for (const event of events) {
        all.push(event);
        if (event.type === 'transmit') socket.send(event.data);
        if (event.type === 'ready') send(payloads[0]!);
        if (event.type === 'close') socket.close(event.code);
        if (event.type === 'message') {
          const expected = payloads.shift()!;
          assert.equal(event.kind === 'json' ? event.text : event.bytes, expected);
          if (payloads.length > 0) send(payloads[0]!);
          else socket.close(1000);
        }
        if (event.type === 'ended') resolve(all);
      }
    };
    const guarded = (events: () => SessionEvent[]) => () => {
      try {
        handle(events());
      } catch (error) {
        reject(error);
      }
    };
    socket.on('message', (data, isBinary) =>
      guarded(() => session.receive(isBinary ? (data as Buffer) : String(data)))(),
    );
    socket.on('close', (code) => guarded(() => session.closed(code))());
    socket.on('error', reject);
  });
}

test.run();

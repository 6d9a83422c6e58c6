/** `hub-protocol inspect`: hubs on loopback that greet, refuse, stay silent or talk nonsense. */
import { lstatSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { localhostCertificate } from 'hub-protocol-cli/certificate';
import { serveHub } from 'hub-protocol-client/hub';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type WebSocket, WebSocketServer } from 'ws';
import { randomBytes } from '../../src/crypto/node.ts';
import { Folder, IDENTITY, type Run, run, SECRETS } from './run.ts';

const test = suite('inspect');
const folder = new Folder();
test.after(() => folder.remove());
const identity = folder.write('identity.json', IDENTITY);

const HELLO = '{"msg_type":"hello","payload":{"node_id":"hub-1","peer":"AKEY-12345 at 1.0","pubkey":""}}';
const OFFER_PAYLOAD = {
  max_protocol_version: 3,
  noise: { patterns: ['XXpsk2', 'KKpsk0'], suites: ['25519_ChaChaPoly_SHA256'] },
};
const offer = (payload: object): string => JSON.stringify({ msg_type: 'shake', payload });

/** Inspects a hub that does this with each connection. */
async function inspect(greet: (socket: WebSocket) => void, ...args: string[]): Promise<Run> {
  return inspectWith(identity, greet, ...args);
}

async function inspectWith(
  identity: string,
  greet: (socket: WebSocket) => void,
  ...args: string[]
): Promise<Run> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  server.on('connection', greet);
  await new Promise((resolve) => server.once('listening', resolve));
  const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const result = await run(['inspect', identity, url, '--allow-plaintext', ...args]);
  for (const socket of server.clients) socket.terminate();
  server.close();
  for (const secret of SECRETS) assert.not.ok((result.stdout + result.stderr).includes(secret));
  return result;
}

const says =
  (...messages: string[]) =>
  (socket: WebSocket): void => {
    for (const message of messages) socket.send(message);
  };

const keyring = (pins: object[], fresh: boolean): string =>
  folder.write('keyring.json', {
    version: 1,
    access_key: 'AKEY-12345',
    static_key: '11'.repeat(32),
    static_key_is_fresh: fresh,
    pins,
    psks: [],
  });
const PIN = { node_id: 'hub-1', key: '22'.repeat(32) };

test('shows what the hub says over TLS, and what would be chosen', async () => {
  const tls = await localhostCertificate();
  const hub = await serveHub({
    tls,
    nodeId: 'hub-1',
    staticKey: randomBytes(32),
    clients: new Map([['AKEY-12345', { psk: new Uint8Array(32) }]]),
  });
  const ca = folder.write('ca.pem', tls.ca);
  const there = folder.write('there.json', { ...IDENTITY, data_plane_endpoints: { wss: hub.url } });
  const { code, stdout, stderr } = await run(['inspect', there, '--ca', ca]);
  const untrusted = await run(['inspect', there]);
  await hub.stop();
  assert.is(code, 0, stderr);
  assert.match(stdout, /^node id {3}"hub-1"$/m);
  assert.match(stdout, /^suites {4}25519_ChaChaPoly_SHA256, 25519_AESGCM_SHA256$/m);
  assert.match(stdout, /^chosen {4}XXpsk2 with 25519_ChaChaPoly_SHA256$/m);
  assert.is(untrusted.code, 1);
  assert.match(untrusted.stdout, /comes from a private authority/);
});

test('chooses KKpsk0 for a hub that the keyring pins, and hides the access key that a hub repeats', async () => {
  const { stdout } = await inspect(
    says(HELLO, offer(OFFER_PAYLOAD)),
    '--keyring',
    keyring([PIN], false),
    '--json',
  );
  const { chosen, hello, fault, notes } = JSON.parse(stdout);
  assert.equal(chosen, { pattern: 'KKpsk0', suite: '25519_ChaChaPoly_SHA256' });
  assert.match(hello, /"\[access key\] at 1\.0"/);
  assert.is(fault, undefined);
  assert.equal(notes, []);
});

test('warns that the hub has pinned another static key than a fresh one', async () => {
  const { code, stdout } = await inspect(says(HELLO, offer(OFFER_PAYLOAD)), '--keyring', keyring([], true));
  assert.is(code, 0);
  assert.match(stdout, /^note .*will probably be refused/m);
  assert.match(stdout, /^pin {7}none in the keyring$/m);
});

test('saves both messages byte for byte', async () => {
  const text = offer(OFFER_PAYLOAD).replace('3', '3.0');
  await inspect(says(HELLO, text), '--save', folder.at('seen'));
  assert.is(readFileSync(folder.at('seen/hello.json'), 'utf8'), HELLO);
  assert.is(readFileSync(folder.at('seen/offer.json'), 'utf8'), text);
});

test('saves the messages for their owner alone, and through no link', async () => {
  mkdirSync(folder.at('linked'));
  const victim = folder.write('victim.json', 'mine');
  symlinkSync(victim, folder.at('linked/hello.json'));
  await inspect(says(HELLO, offer(OFFER_PAYLOAD)), '--save', folder.at('linked'));
  assert.is(readFileSync(victim, 'utf8'), 'mine');
  for (const name of ['linked/hello.json', 'linked/offer.json']) {
    assert.is(lstatSync(folder.at(name)).mode & 0o777, 0o600);
    assert.ok(lstatSync(folder.at(name)).isFile());
  }
  const { code, stderr } = await inspect(says(HELLO, offer(OFFER_PAYLOAD)), '--save', victim);
  assert.is(code, 2);
  assert.match(stderr, /cannot write to .*victim/);
});

test('hangs up on a hub that never closes its side', async () => {
  const sockets: WebSocket[] = [];
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  const ended = new Promise((resolve) => {
    server.on('connection', (socket) => {
      sockets.push(socket);
      const { _socket: raw } = socket as unknown as { _socket: Socket };
      says(HELLO, offer(OFFER_PAYLOAD))(socket);
      raw.removeAllListeners('data'); // so that it reads no close frame
      raw.on('data', () => {}).on('close', resolve);
    });
  });
  await new Promise((resolve) => server.once('listening', resolve));
  const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { setTimeout } = globalThis;
  // The time after which ws itself would give up never comes.
  const patient = (call: () => void, delay?: number): NodeJS.Timeout =>
    setTimeout(call, delay === 30_000 ? 0x7fffffff : delay);
  globalThis.setTimeout = Object.assign(patient, setTimeout);
  try {
    await run(['inspect', identity, url, '--allow-plaintext']);
    await ended;
  } finally {
    globalThis.setTimeout = setTimeout;
  }
  for (const socket of sockets) socket.terminate();
  server.close();
});

for (const [what, greet, code, node] of [
  ['closes with 1008', (socket: WebSocket) => socket.close(1008, 'AKEY-12345'), 'access-refused', false],
  ['drops the connection', (socket: WebSocket) => socket.terminate(), 'dropped', false],
  ['stays silent', () => {}, 'timeout', false],
  ['makes no offer', says(HELLO), 'timeout', true],
  ['makes its offer without a HELLO', says(offer(OFFER_PAYLOAD)), 'handshake-before-hello', false],
  [
    'has no node id',
    says('{"msg_type":"hello","payload":{}}', offer(OFFER_PAYLOAD)),
    'missing-node-id',
    false,
  ],
  ['speaks an older protocol', says(HELLO, offer({ max_protocol_version: 2 })), 'protocol-version', true],
  [
    'offers an unknown suite only',
    says(HELLO, offer({ ...OFFER_PAYLOAD, noise: { patterns: ['XXpsk2'], suites: ['\u001b[31m'] } })),
    'no-common-suite',
    true,
  ],
  ['is no hub', says('Welcome!'), 'bad-json', false],
  ['sends bytes', (socket: WebSocket) => socket.send(Buffer.of(1)), 'unexpected-message', false],
] as const) {
  test(`names the fault of a hub that ${what}`, async () => {
    const { code: status, stdout } = await inspect(greet, '--json', '--timeout', '0.5');
    assert.is(status, 1);
    const { fault, node_id } = JSON.parse(stdout);
    assert.is(fault.code, code);
    assert.is(node_id !== undefined, node);
  });
}

test('shows no control character that the hub sent, in text or in JSON', async () => {
  const hostile = '\u001b[31m\u009b\u202e\u2028\u061c\u200f';
  const noise = { patterns: ['XXpsk2', hostile], suites: [hostile] };
  const hello = `{"msg_type":"hello","payload":{"node_id":"${hostile.slice(1)}","\u009b":"\u202e"}}`;
  for (const args of [[], ['--json']]) {
    const { code, stdout } = await inspect(says(hello, offer({ ...OFFER_PAYLOAD, noise })), ...args);
    assert.is(code, 1);
    assert.not.match(stdout, /[^\P{C}\n]|[\u2028\u2029]/u);
    if (args.length > 0) assert.equal(JSON.parse(stdout).suites, noise.suites);
  }
});

test('names only some of a thousand suites', async () => {
  const suites = Array.from({ length: 1000 }, (_, index) => `suite-${index}`);
  const noise = { patterns: ['XXpsk2'], suites };
  const { stdout } = await inspect(says(HELLO, offer({ ...OFFER_PAYLOAD, noise })));
  assert.match(stdout, /and 980 more$/m);
});

const KEY = 'AKEY-12345';
const authorization = Buffer.from(`hub-protocol:${KEY}`).toString('base64');
for (const [form, text, shown] of [
  ['percent-encoded in part', 'AKEY%2d1234%35', '[access key]'],
  ['percent-encoded as a whole', [...Buffer.from(KEY)].map((byte) => `%${byte.toString(16)}`).join(''), ''],
  ['in hex', `<${Buffer.from(KEY).toString('hex').toUpperCase()}>`, '<[access key]>'],
  ['in base64', Buffer.from(KEY).toString('base64'), ''],
  ['in base64 after one byte', Buffer.from(`:${KEY}:`).toString('base64'), ''],
  ['in the authorization', `/?authorization=${encodeURIComponent(authorization)}`, '/?authorization=aHV'],
  ['in lower case', 'akey-12345', '[access key]'],
] as const) {
  test(`hides the access key that a hub repeats ${form}`, async () => {
    const hello = { msg_type: 'hello', payload: { node_id: `at ${text}`, [text]: [text], pubkey: '' } };
    for (const args of [[], ['--json']]) {
      const { stdout } = await inspect(says(JSON.stringify(hello), offer(OFFER_PAYLOAD)), ...args);
      assert.match(stdout, /\[access key\]/);
      assert.ok(stdout.includes(shown));
      assert.not.ok(stdout.includes(text));
      assert.not.ok(decodings(stdout).some((decoded) => decoded.includes('12345')));
    }
  });
}

/** What may be read in a text in which something is encoded. */
function decodings(text: string): string[] {
  const runs = text.match(/[\w+/-]{4,}/g) ?? [];
  return runs.flatMap((run) => [
    Buffer.from(run, 'hex').toString(),
    ...[0, 1, 2, 3].map((start) => Buffer.from(run.slice(start), 'base64').toString('latin1')),
  ]);
}

test('hides the access key that a hub repeats with escapes of JSON, and as a number', async () => {
  const hello = (key: string): string => `{"msg_type":"hello","payload":{"node_id":"hub-1","x":"${key}"}}`;
  const { stdout } = await inspect(says(hello('\\u0041KEY-12345'), offer(OFFER_PAYLOAD)), '--json');
  assert.match(JSON.parse(stdout).hello, /"x":"\[access key\]"/);
  const digits = folder.write('digits.json', { ...IDENTITY, access_key: '1234567890' });
  const text = hello('').replace('""', '[1234567890,12345678901.50,7]');
  const second = await inspectWith(digits, says(text, offer(OFFER_PAYLOAD)), '--json');
  assert.match(JSON.parse(second.stdout).hello, /"x":\["\[access key\]","\[access key\]",7\]/);
});

for (const [status, code] of [
  [403, 'access-refused'],
  [404, 'not-a-hub'],
  [503, 'unavailable'],
] as const) {
  test(`names HTTP status ${status}`, async () => {
    const server = createServer((_, response) => response.writeHead(status).end('AKEY-12345'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { stdout } = await run(['inspect', identity, url, '--allow-plaintext', '--json']);
    server.close();
    assert.is(JSON.parse(stdout).fault.code, code);
    assert.not.ok(stdout.includes('AKEY'));
  });
}

test('reports that nothing listens', async () => {
  const { code, stdout } = await run(['inspect', identity, 'wss://127.0.0.1:1']);
  assert.is(code, 1);
  assert.match(stdout, /Nothing listens at 127\.0\.0\.1:1\./);
});

for (const [what, args, message] of [
  ['no identity', ['wss://hub'], /expected an identity/],
  ['two URLs', [identity, 'wss://a', 'wss://b'], /at most one URL/],
  ['a URL with credentials', [identity, 'wss://AKEY-12345@hub'], /contains credentials/],
  ['a URL with an authorization', [identity, 'wss://hub?Authorization=AKEY'], /contains credentials/],
  ['a URL without TLS', [identity, 'ws://hub'], /plaintext-endpoint/],
  ['a URL for another protocol', [identity, 'https://hub'], /bad-endpoint/],
  ['what is no URL', [identity, 'hub'], /expected a URL/],
  ['a timeout that is no number', [identity, '--timeout', 'soon'], /number of seconds/],
  ['a timeout that is longer than timers take', [identity, '--timeout', '1e99'], /at most 86400/],
  ['a certificate that is missing', [identity, '--ca', '/nowhere.pem'], /no such file/],
] as const) {
  test(`refuses ${what}`, async () => {
    const { code, stdout, stderr } = await run(['inspect', ...args]);
    assert.is(code, 2);
    assert.is(stdout, '');
    assert.match(stderr, message);
    assert.not.ok(stderr.includes('AKEY'));
  });
}

test.run();

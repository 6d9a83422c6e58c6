/** Live mode against sessions of this library, which pass, and against faulty ones, which do not. */
import { connect } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import WebSocket from 'ws';
import { connectTo } from '../../judge/src/live/connect.ts';
import { Connection } from '../../judge/src/live/connection.ts';
import { listen } from '../../judge/src/live/listen.ts';
import { playScenes, type Scene } from '../../judge/src/live/play.ts';
import { Failure, type Verdict } from '../../judge/src/verdict.ts';
import { nodeCrypto, randomBytes } from '../../src/crypto/node.ts';
import { authorizedUrl } from '../../src/identity/authorized-url.ts';
import type { ClientOptions, HubOptions, KeyringFields } from '../../src/index.ts';
import {
  NODE_ID,
  type Peer,
  type Faults as PeerFaults,
  pskFor,
  SHARED_PSK,
  startClient,
  startHub,
  waitsOf,
} from './peers.ts';

const ACCESS_KEY = 'kiosk+7/ü';
const PATIENCE = { message: 10_000, long: 60_000 };
const IMPATIENT = { message: 1000, long: 60_000 };
const COMMON = { derivePsk: pskFor, patience: PATIENCE };

interface Faults<Options> extends PeerFaults<Options> {
  accessKey?: string;
  patience?: typeof PATIENCE;
  only?: string[];
}

/** Judges a client that connects again after each close. */
async function judgeClient(faults: Faults<ClientOptions> = {}): Promise<Verdict[]> {
  let client: Peer | undefined;
  const onListening = (address: string): void => {
    client = startClient(address, faults.accessKey ?? ACCESS_KEY, 'lobby', faults);
  };
  const { patience = PATIENCE, only } = faults;
  const hub = { port: 0, nodeId: NODE_ID, accessKey: ACCESS_KEY, onListening };
  try {
    return await listen({ ...COMMON, patience, only, ...hub });
  } finally {
    client?.stop();
  }
}

/** Puts other keys into the keyring of a client. */
function withKeys(keys: Partial<KeyringFields>): (own: ClientOptions) => Partial<ClientOptions> {
  return ({ keyring }) => ({ keyring: { ...keyring, ...keys } });
}

/** Judges a hub with one client. */
async function judgeHub(faults: Faults<HubOptions> = {}): Promise<Verdict[]> {
  const hub = await startHub(ACCESS_KEY, faults);
  const urlOf = (accessKey: string = ACCESS_KEY): string =>
    authorizedUrl(hub.url, 'judge', accessKey, { allowPlaintext: true });
  try {
    const { patience = PATIENCE, only } = faults;
    return await connectTo({ ...COMMON, patience, only, urlOf });
  } finally {
    hub.stop();
  }
}

/** The names of the scenes with this result. */
function scenes(verdicts: readonly Verdict[], result: Verdict['result']): string[] {
  return verdicts.filter((verdict) => verdict.result === result).map(({ name }) => name);
}

function failures(verdicts: readonly Verdict[]): string {
  return JSON.stringify(
    verdicts.filter(({ result }) => result === 'failed'),
    undefined,
    1,
  );
}

test('fails an implementation that sends more than expected', async () => {
  let closed: number | undefined;
  const line = { send: () => {}, close: (code: number) => (closed = code) };
  const connection = new Connection(line, PATIENCE);
  const message = new Uint8Array(2 ** 20);
  for (let count = 0; count < 120; count++) connection.received(message);
  assert.is(await connection.receive('a message'), message);
  assert.is(closed, undefined);
  for (let count = 0; count < 10; count++) connection.received(message);
  assert.is(closed, 1008);
  const error = await connection.receive('a message').catch((error) => error);
  assert.instance(error, Failure);
});

/** An offer without the required suite, which the client of this library refuses. */
const AESGCM_ALONE = 'suite 25519_AESGCM_SHA256';

test('the client of this library passes every scene of --listen', async () => {
  const verdicts = await judgeClient();
  assert.equal(scenes(verdicts, 'failed'), [], failures(verdicts));
  assert.equal(scenes(verdicts, 'declined'), [AESGCM_ALONE]);
  assert.ok(verdicts.length > 30);
});

test('the hub of this library passes every scene of --connect', async () => {
  const verdicts = await judgeHub();
  assert.equal(scenes(verdicts, 'failed'), [], failures(verdicts));
  assert.equal(scenes(verdicts, 'declined'), []);
  assert.ok(verdicts.length > 25);
});

test('--listen finds a client that does not enforce its pin', async () => {
  const verdicts = await judgeClient({ options: withKeys({ pins: [] }) });
  assert.equal(scenes(verdicts, 'failed'), ['changed-key', 'changed-key-again', 'changed-key-early']);
  assert.equal(scenes(verdicts, 'declined'), ['reconnect', AESGCM_ALONE, 'failed-kk']); // KKpsk0 is optional
});

test('--listen finds a client with a new static key on each connection', async () => {
  const only = ['first-contact', 'still-there'];
  const verdicts = await judgeClient({
    options: (own) => withKeys({ staticKey: randomBytes(32) })(own),
    only,
  });
  assert.ok(scenes(verdicts, 'failed').includes('still-there'), failures(verdicts));
});

test('--listen goes on if a client asks for KKpsk0 before any handshake has succeeded', async () => {
  let isFirst = true;
  const change = (data: string | Uint8Array): string | Uint8Array => {
    const noise = typeof data === 'string' ? JSON.parse(data).payload.noise : undefined;
    if (!isFirst || noise === undefined || noise.pattern !== undefined) return data;
    isFirst = false; // the first message 3 cannot be read, so the judge never learns the key in it
    const msg = `${noise.msg.slice(0, -2)}${noise.msg.endsWith('00') ? '01' : '00'}`;
    return (data as string).replace(noise.msg, msg);
  };
  const verdicts = await judgeClient({ change, only: ['first-contact', 'reconnect', 'still-there'] });
  assert.equal(scenes(verdicts, 'failed'), ['first-contact', 'reconnect'], failures(verdicts));
  assert.match(verdicts[1]!.failure!.difference.got, /no such scene has succeeded/);
  assert.equal(scenes(verdicts, 'passed'), ['still-there']);
});

test('--listen lets a client refuse an optional suite, but not the required one', async () => {
  const suites = ['suite 25519_ChaChaPoly_SHA256', 'suite 25519_AESGCM_SHA256'];
  for (const [index, suite] of suites.entries()) {
    const { ChaChaPoly, AESGCM } = nodeCrypto.ciphers;
    const ciphers = index === 0 ? { AESGCM: AESGCM! } : { ChaChaPoly: ChaChaPoly! };
    const crypto = { ...nodeCrypto, ciphers };
    const verdicts = await judgeClient({ options: () => ({ crypto }), only: [suite] });
    assert.is(verdicts[0]!.result, index === 0 ? 'failed' : 'declined');
  }
});

test('--listen names the password of a client as the cause', async () => {
  const only = ['first-contact', 'version'];
  const psks = [{ nodeId: NODE_ID, key: randomBytes(32) }];
  const verdicts = await judgeClient({ options: withKeys({ psks }), only });
  assert.equal(scenes(verdicts, 'failed'), ['first-contact']);
  assert.match(verdicts[0]!.failure!.causes.join(), /^password: the client closes after message 2/);
});

test('--connect names the password of a hub as the cause', async () => {
  const verdicts = await judgeHub({ options: () => ({ psk: randomBytes(32) }), only: ['first-contact'] });
  assert.match(verdicts[0]!.failure!.causes.join(), /^password: the payload of message 2 does not open/);
});

test('--listen finds a client with another access key', async () => {
  const verdicts = await judgeClient({ accessKey: 'another' });
  assert.is(scenes(verdicts, 'failed').length, verdicts.length);
  const { difference, causes } = verdicts[0]!.failure!;
  assert.equal(difference, { where: 'access key', expected: JSON.stringify(ACCESS_KEY), got: '"another"' });
  assert.match(causes.join(), /^access key: the client and the judge have different ones/);
});

test('--listen goes on after a request whose URL cannot be read', async () => {
  const patience = { message: 50, long: 2000 };
  const onListening = (address: string): void => {
    const { port } = new URL(address);
    const socket = new WebSocket(address, {
      createConnection: () => connect(Number(port), '127.0.0.1'),
      finishRequest: (request) => {
        request.path = '//';
        request.end();
      },
    });
    socket.on('error', () => {});
  };
  const hub = { port: 0, nodeId: NODE_ID, accessKey: ACCESS_KEY, onListening };
  const verdicts = await listen({ ...COMMON, patience, only: ['first-contact'], ...hub });
  assert.match(verdicts[0]!.failure!.difference.got, /^"\/\/", which holds none/);
});

test('finds an implementation that does not close the connection after a breach', async () => {
  const breaches = ['text', 'flipped-bit', 'replay', 'unknown-marker', 'interleaved', 'low-order-key'];
  const faults = { stays: true as const, patience: IMPATIENT, only: ['first-contact', ...breaches] };
  for (const verdicts of [await judgeClient(faults), await judgeHub(faults)]) {
    assert.equal(scenes(verdicts, 'passed'), ['first-contact']);
    for (const { failure } of verdicts.slice(1)) assert.match(failure!.difference.got, /^still open/);
  }
});

test('finds an implementation that does not send messages back', async () => {
  const faults = { silent: true as const, patience: IMPATIENT, only: ['messages', 'low-order-key'] };
  for (const verdicts of [await judgeClient(faults), await judgeHub(faults)]) {
    assert.equal(scenes(verdicts, 'failed'), ['messages']);
  }
});

test('lists the scenes if one is asked for that does not exist', async () => {
  for (const judge of [judgeClient, judgeHub]) {
    await judge({ only: ['scene'] }).then(
      () => assert.unreachable(),
      (error) => assert.match(error.message, /no scene scene; there are first-contact, /),
    );
  }
});

test('reports its own defect as such, and goes on with the next scene', async () => {
  const scene = (name: string, play: Scene<undefined>['play']): Scene<undefined> => ({
    name,
    comment: '',
    play,
  });
  const broken = scene('broken', () => Promise.reject(new TypeError('oops')));
  const fine = scene('fine', async () => {});
  const seen: string[] = [];
  const connection = { close: () => {} } as unknown as Connection;
  const onVerdict = ({ name, result }: Verdict, number: number, total: number) =>
    seen.push(`${number}/${total} ${name} ${result}`);
  await playScenes([broken, fine], undefined, async () => connection, { ...COMMON, onVerdict });
  assert.equal(seen, ['1/2 broken defect', '2/2 fine passed']);
});

test('--listen waits only once for a client that does not come', async () => {
  const patience = { message: 50, long: 480 };
  const hub = { port: 0, nodeId: NODE_ID, accessKey: ACCESS_KEY, onListening: () => {} };
  const waits = await waitsOf(patience.long, async () => {
    const verdicts = await listen({ ...COMMON, patience, ...hub });
    assert.is(scenes(verdicts, 'failed').length, verdicts.length);
    assert.ok(verdicts.length > 5);
  });
  assert.is(waits, 1);
});

test('--listen does not guess what is stored by a client that has one PSK for all hubs', async () => {
  const only = ['forgotten-psk'];
  const verdicts = await judgeClient({ psk: SHARED_PSK, only });
  assert.equal(scenes(verdicts, 'declined'), only, failures(verdicts));
});

test('--connect finds a hub that accepts any static key', async () => {
  const only = ['first-contact', 'reconnect', 'other-static-key', 'still-there'];
  const verdicts = await judgeHub({ options: () => ({ clientKey: undefined }), only, patience: IMPATIENT });
  assert.equal(scenes(verdicts, 'failed'), ['other-static-key']);
  assert.equal(scenes(verdicts, 'declined'), ['reconnect']);
});

test('--connect finds a hub with a new static key on each connection', async () => {
  const only = ['first-contact', 'still-there'];
  const verdicts = await judgeHub({ options: () => ({ staticKey: randomBytes(32) }), only });
  assert.ok(scenes(verdicts, 'failed').includes('still-there'));
});

test('--connect asks whether the address is right if there is no hub', async () => {
  const verdicts = await connectTo({ ...COMMON, urlOf: () => 'ws://127.0.0.1:1/' });
  assert.is(scenes(verdicts, 'failed').length, verdicts.length);
  assert.match(verdicts[0]!.failure!.difference.got, /address/);
});

test.run();

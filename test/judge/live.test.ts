/** Live mode against sessions of this library, which pass, and against faulty ones, which do not. */
import { createHash } from 'node:crypto';
import { connect } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import WebSocket from 'ws';
import { connectTo } from '../../judge/src/live/connect.ts';
import { Connection } from '../../judge/src/live/connection.ts';
import { listen } from '../../judge/src/live/listen.ts';
import { playScenes, type Scene } from '../../judge/src/live/play.ts';
import { MaskReader } from '../../judge/src/live/websocket-scenes.ts';
import { Failure, type Verdict } from '../../judge/src/verdict.ts';
import { nodeCrypto, randomBytes } from '../../src/crypto/node.ts';
import { authorizedUrl } from '../../src/identity/authorized-url.ts';
import type { HubOptions } from '../../src/index.ts';
import type { ClientOptions, KeyringFields } from '../../src/parts.ts';
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

test('reaches the optional suite with a client that prefers it', async () => {
  const { AESGCM, ChaChaPoly } = nodeCrypto.ciphers;
  const crypto = { ...nodeCrypto, ciphers: { AESGCM: AESGCM!, ChaChaPoly: ChaChaPoly! } };
  const verdicts = await judgeClient({ only: [AESGCM_ALONE], options: () => ({ crypto }) });
  assert.equal(scenes(verdicts, 'passed'), [AESGCM_ALONE]);
});

type Ways = Pick<Faults<never>, 'socket' | 'tune' | 'write'>;

/** What the judge says of one scene with this client, or this hub. */
async function said(
  only: string,
  faults: Ways,
  judge: (faults: Ways & Pick<Faults<never>, 'only' | 'patience'>) => Promise<Verdict[]> = judgeClient,
): Promise<string> {
  const [verdict] = await judge({ only: [only], patience: IMPATIENT, ...faults });
  return `${verdict!.result}: ${verdict!.failure?.causes ?? verdict!.reason}`;
}

test('names a peer that does not answer pings, or writes JSON again', async () => {
  const deaf = (socket: WebSocket): void => {
    Object.assign(socket, { _autoPong: false });
  };
  const write = (text: string): string => JSON.stringify(JSON.parse(text));
  for (const judge of [judgeClient, judgeHub]) {
    assert.match(await said('ping', { tune: deaf }, judge), /^failed: WebSocket: a ping is not answered/);
    assert.match(await said('verbatim', { write }, judge), /^failed: messages: JSON is parsed and written/);
  }
});

test('names no pong as the cause if a hub has closed the connection', async () => {
  const clientKey = nodeCrypto.x25519.publicKey(randomBytes(32));
  const [verdict] = await judgeHub({ only: ['ping'], options: () => ({ clientKey }) });
  assert.equal(verdict!.failure!.causes, []);
  assert.match(verdict!.failure!.difference!.got, /^the connection closed/);
});

test('names a client that masks with zeros, with one mask, or not at all', async () => {
  const masks = (value: number) => ({ generateMask: (mask: Buffer) => mask.fill(value) });
  assert.match(await said('masks', { socket: masks(7) }), /^failed: WebSocket: all frames .* the same mask/);
  assert.match(await said('masks', { socket: masks(0) }), /^failed: WebSocket: frames .* masked with zeros/);
  const bare = (socket: WebSocket): void => {
    const { send } = socket;
    socket.send = (data: string | Uint8Array) => send.call(socket, data, { mask: false }, () => {});
  };
  assert.match(
    await said('first-contact', { tune: bare }),
    /^failed: WebSocket: a frame of the client is not/,
  );
});

/** Takes frames with and without a mask. */
function lenient(socket: WebSocket): void {
  const { _receiver } = socket as unknown as { _receiver: { _masked: boolean } };
  Object.defineProperty(_receiver, '_isServer', { get: () => _receiver._masked });
}

test('names a peer that takes frames with the wrong mask, and a hub that masks', async () => {
  assert.match(
    await said('masked-hub', { tune: lenient }),
    /^failed: WebSocket: a masked frame of a hub is taken/,
  );
  const taken = await said('unmasked-client', { tune: lenient }, judgeHub);
  assert.match(taken, /^failed: WebSocket: a frame of a client without a mask is taken/);
  const masking = (socket: WebSocket): void => {
    const { send } = socket;
    socket.send = (data: string | Uint8Array) => send.call(socket, data, { mask: true }, () => {});
  };
  const masked = await said('first-contact', { tune: masking }, judgeHub);
  assert.match(masked, /^failed: WebSocket: a frame of the hub is masked/);
});

test('names a client that does not check the accept key', async () => {
  const finishRequest: WebSocket.ClientOptions['finishRequest'] = (request) => {
    const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'; // RFC 6455, section 1.3
    const accept = createHash('sha1').update(`${request.getHeader('sec-websocket-key')}${GUID}`);
    request.prependListener('upgrade', ({ headers }) => {
      headers['sec-websocket-accept'] = accept.digest('base64');
    });
    request.end();
  };
  const text = await said('wrong-accept', { socket: { finishRequest } });
  assert.match(text, /^failed: WebSocket: the client does not check Sec-WebSocket-Accept/);
});

test('does not wait long for a client that ends at a masked frame, and says what was not reached', async () => {
  const tune = (socket: WebSocket): void => {
    socket.on('error', () => client?.stop());
  };
  let client: Peer | undefined;
  const onListening = (address: string): void => {
    client = startClient(address, ACCESS_KEY, 'lobby', { tune });
  };
  const patience = { message: 100, long: 60_000 };
  const only = ['masked-hub', 'wrong-accept'];
  const hub = { port: 0, nodeId: NODE_ID, accessKey: ACCESS_KEY, onListening };
  const [first, second] = await listen({ ...COMMON, patience, only, ...hub });
  assert.is(first!.result, 'passed', failures([first!]));
  assert.match(
    `${second!.result}: ${second!.reason}`,
    /^declined: not reached: the client did not come back/,
  );
});

test('reads the masks of frames of all lengths, in any pieces', () => {
  const frame = (length: number, mask: number): Buffer => {
    const long = Buffer.alloc(8);
    long.writeBigUInt64BE(BigInt(length));
    const head =
      length < 126
        ? [0x82, 0x80 | length]
        : length < 65536
          ? [0x82, 0xfe, ...long.subarray(6)]
          : [0x82, 0xff, ...long];
    return Buffer.from([...head, mask, mask, mask, mask, ...new Uint8Array(length)]);
  };
  const stream = Buffer.concat([frame(0, 1), frame(3, 2), frame(300, 3), frame(70000, 4), frame(1, 5)]);
  for (const size of [1, 7, 100000]) {
    const reader = new MaskReader();
    for (let at = 0; at < stream.length; at += size) reader.push(stream.subarray(at, at + size));
    assert.equal(reader.masks, ['01010101', '02020202', '03030303', '04040404', '05050505']);
  }
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
    assert.match(verdicts[0]!.failure!.causes.join(), /^echo: nothing is ever sent back/);
  }
});

test('does not say that nothing comes back if one message did', async () => {
  const late = { where: 'the JSON message, sent back', expected: 'this message', got: 'nothing within 1 s' };
  const silent: Scene<undefined> = {
    name: 'silent',
    comment: '',
    play: () => Promise.reject(new Failure(late)),
  };
  const echoes: Scene<undefined> = { name: 'echoes', comment: '', play: async () => {} };
  const connect = async (): Promise<Connection> =>
    ({ close: () => {}, hasEchoed: true }) as unknown as Connection;
  const [verdict] = await playScenes([silent, echoes], undefined, connect, COMMON);
  assert.equal(verdict!.failure!.causes, []);
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

/** The client of `hub-protocol.core.js`: the vectors of the profile `minimal-client`, and what no vector can show. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { applies, gapsIn, readProfile } from '../../judge/src/profile.ts';
import { listTasks, runVector } from '../../judge/src/run-vectors.ts';
import type { Verdict } from '../../judge/src/verdict.ts';
import { lineOf } from '../../ports/typescript/adapter.ts';
import { createSmallAdapter } from '../../ports/typescript/small.ts';
import { copyBytes, utf8ToBytes } from '../../src/bytes.ts';
import { nodeCrypto } from '../../src/crypto/node.ts';
import { HubSession, type HubSessionEvent, type LocalError } from '../../src/index.ts';
import { HandshakeState } from '../../src/parts.ts';
import { canonicalize } from '../../src/small/canonical.ts';
import { type ClientOptions, ClientSession, type SessionEvent } from '../../src/small/client-session.ts';

const bytes = (value: number): Uint8Array<ArrayBuffer> => new Uint8Array(32).fill(value);
const PSK = bytes(3);
const HUB_KEY = bytes(2);
const HUB_PUBLIC = nodeCrypto.x25519.publicKey(HUB_KEY);
const OPTIONS: ClientOptions = {
  crypto: nodeCrypto,
  randomBytes: () => bytes(9),
  siteId: 'lobby',
  keyring: {
    staticKey: bytes(1),
    pins: [{ nodeId: 'hub-1', key: HUB_PUBLIC }],
    psks: [{ nodeId: 'hub-1', key: PSK }],
  },
};

/** Opens a session with a hub of the library, and returns both and all events of the client. */
function connected(
  further: Partial<ClientOptions> = {},
  isReady = true,
): { session: ClientSession; hub: HubSession; events: SessionEvent[] } {
  const session = new ClientSession({ ...OPTIONS, ...further });
  const clientKey = nodeCrypto.x25519.publicKey(bytes(1));
  const hub = new HubSession({
    crypto: nodeCrypto,
    nodeId: 'hub-1',
    staticKey: HUB_KEY,
    randomBytes: () => bytes(8),
    psk: PSK,
    clientKey,
  });
  const events: SessionEvent[] = [];
  let toClient = sentBy(hub.start());
  while (toClient.length > 0) {
    const answers = toClient.flatMap((data) => session.receive(data));
    events.push(...answers);
    toClient = sentBy(answers).flatMap((data) => sentBy(hub.receive(data)));
  }
  if (isReady) assert.is(session.state, 'ready');
  return { session, hub, events };
}

const sentBy = (events: readonly (SessionEvent | HubSessionEvent)[]): (string | Uint8Array)[] =>
  events.flatMap((event) => (event.type === 'transmit' ? [event.data] : []));

function codeOf(call: () => unknown): string | undefined {
  try {
    call();
    return undefined;
  } catch (error) {
    return (error as LocalError).code;
  }
}

const throws = (code: string, call: () => unknown): void => assert.is(codeOf(call), code);

/** The error with which events close. */
const closes = (events: readonly SessionEvent[]): string | undefined =>
  events.flatMap((event) => (event.type === 'close' ? [event.error.code] : []))[0];

const endedBy = (session: ClientSession, closing?: unknown): string =>
  session
    .closed(closing as number)
    .flatMap((event) =>
      event.type === 'ended' ? [`${event.reason} ${event.retry} ${event.error.code}`] : [],
    )
    .join();

test('the smallest client passes every vector of the profile minimal-client, with KKpsk0', async () => {
  const ask = createSmallAdapter();
  const profile = readProfile(ask({ id: 1, op: 'about' }))!;
  const verdicts: Verdict[] = [];
  for (const task of listTasks().filter((one) => applies(one, profile))) {
    const own = { ...task, test: { ...task.test, roles: profile.roles } };
    const send = async (request: object) => JSON.parse(lineOf(ask({ id: 1, ...request })));
    verdicts.push(await runVector(own, { send, stop: async () => {} }));
  }
  const failed = verdicts.filter(({ result }) => result === 'failed');
  assert.equal(
    failed.map(({ name }) => name),
    [],
  );
  assert.equal(
    gapsIn(verdicts).map(({ name }) => name),
    [],
  );
  assert.ok(verdicts.length > 1000);
});

test('the smallest client is ready with KKpsk0, and talks both ways', () => {
  const { session, hub, events } = connected();
  assert.is(events.at(-1)!.type, 'ready');
  const [sealed] = hub.sendJson({ a: 1.5 });
  assert.equal(session.receive(sealed!), [{ type: 'message', kind: 'json', text: '{"a":1.5}' }]);
  for (const value of [{ a: 'é' }, '{"a":"é"}']) {
    const [message] = session.sendJson(value).flatMap((data) => hub.receive(data));
    assert.equal(message, { type: 'message', kind: 'json', text: '{"a":"é"}' });
  }
});

const keyringWith = (fields: object): ClientOptions['keyring'] => ({ ...OPTIONS.keyring, ...fields });
for (const [what, further] of Object.entries<Partial<ClientOptions>>({
  'no site id': { siteId: undefined! },
  'a misspelt option': { patern: [] } as object,
  'another kind of trust': { trust: 'all' as 'first-use' },
  'no pins': { keyring: keyringWith({ pins: undefined }) },
  'a short pin': { keyring: keyringWith({ pins: [{ nodeId: 'hub-1', key: PSK.slice(1) }] }) },
  'a short PSK': { keyring: keyringWith({ psks: [{ nodeId: 'hub-1', key: PSK.slice(1) }] }) },
  'a static key of zeros': { keyring: keyringWith({ staticKey: bytes(0) }) },
  'no private key': { keyring: keyringWith({ staticKey: { publicKey: bytes(1) } }) },
})) {
  test(`the smallest client refuses ${what}`, () => {
    throws('bad-argument', () => new ClientSession({ ...OPTIONS, ...further }));
  });
}

test('the smallest client takes no random bytes that are zeros, too few, or the static key', () => {
  for (const random of [bytes(0), bytes(5).slice(1), bytes(1)])
    throws('bad-random', () => new ClientSession({ ...OPTIONS, randomBytes: () => copyBytes(random) }));
});

test('a session of the smallest client that cannot be made wipes its copy of the static key', () => {
  const seen: Uint8Array[] = [];
  const publicKey = (key: Uint8Array): Uint8Array => {
    seen.push(key);
    if (seen.length === 2) throw new Error('the chip failed');
    return nodeCrypto.x25519.publicKey(key);
  };
  const crypto = { ...nodeCrypto, x25519: { ...nodeCrypto.x25519, publicKey } };
  throws('crypto-failed', () => new ClientSession({ ...OPTIONS, crypto }));
  assert.equal(seen, [bytes(0), bytes(0)]);
});

test('the smallest client wipes its private keys once the session is encrypted', () => {
  const keys: Uint8Array[] = [];
  const sharedSecret = (own: Uint8Array, other: Uint8Array): Uint8Array => {
    keys.push(own);
    return nodeCrypto.x25519.sharedSecret(own, other);
  };
  connected({ crypto: { ...nodeCrypto, x25519: { ...nodeCrypto.x25519, sharedSecret } } });
  assert.equal([keys.length, keys.every((key) => key.every((byte) => byte === 0))], [4, true]);
});

test('a failure of the smallest client is final, and wipes its keys', () => {
  const keys: Uint8Array[] = [];
  const cipher = (key: Uint8Array) => {
    keys.push(key);
    return nodeCrypto.ciphers.ChaChaPoly!(key);
  };
  const { session, hub } = connected({ crypto: { ...nodeCrypto, ciphers: { ChaChaPoly: cipher } } });
  const [sealed] = hub.sendJson({});
  assert.is(closes(session.receive(sealed!.map((byte) => byte ^ 1))), 'not-authentic');
  assert.equal(
    keys,
    keys.map(() => bytes(0)),
  );
  assert.equal(session.receive(hub.sendJson({})[0]!), []);
  throws('session-over', () => session.sendBinary(bytes(1)));
  assert.is(endedBy(session, 1000), 'dropped now not-authentic');
  assert.equal(session.closed(), []);
  assert.equal(session.receive('{}'), []);
  throws('session-over', () => session.sendBinary(bytes(1)));
});

test('a result of the wrong length ends a session of the smallest client', () => {
  const { session } = connected({ crypto: { ...nodeCrypto, hmacSha256: () => bytes(1).slice(1) } }, false);
  assert.is(endedBy(session), 'dropped later crypto-failed');
});

test('injected code cannot call the session of the smallest client that called it', () => {
  let inner: string | undefined;
  let session: ClientSession | undefined;
  const sha256 = (...parts: Uint8Array[]): Uint8Array => {
    inner = codeOf(() => session!.receive(''));
    return nodeCrypto.sha256(...parts);
  };
  session = new ClientSession({ ...OPTIONS, crypto: { ...nodeCrypto, sha256 } });
  const hub = connected().hub;
  assert.ok(hub);
  const whole = new HubSession({
    crypto: nodeCrypto,
    nodeId: 'hub-1',
    staticKey: HUB_KEY,
    randomBytes: () => bytes(8),
    psk: PSK,
  });
  for (const data of sentBy(whole.start())) session.receive(data);
  assert.is(inner, 'wrong-state');
});

test('a full heap ends a session of the smallest client', () => {
  const { session } = connected();
  const full = {
    toJSON: () => {
      throw new Error('out of memory');
    },
  };
  throws('out-of-memory', () => session.sendJson(full));
  assert.is(session.state, 'failed');
});

test('what the smallest client cannot send changes nothing', () => {
  const { session, hub } = connected();
  const cyclic: { [name: string]: unknown } = {};
  cyclic.cyclic = cyclic;
  for (const value of [cyclic, '{', '"\ud800"', undefined!])
    throws('not-json', () => session.sendJson(value));
  throws('bad-argument', () => session.sendBinary('x' as never));
  throws('message-too-long', () => session.sendBinary(new Uint8Array(32 * 1024 * 1024 + 1)));
  throws('bad-argument', () => session.receive(7 as never));
  throws('wrong-state', () => session.start());
  assert.is(hub.receive(session.sendJson({})[0]!)[0]!.type, 'message');
});

test('the smallest client uses no nonce twice, and not the last one', () => {
  const { session } = connected();
  const { sending } = session as unknown as { sending: { nonce: Uint8Array } };
  sending.nonce.fill(0xff, 4);
  sending.nonce[4] = 0xfe;
  session.sendBinary(bytes(1));
  throws('nonce-exhausted', () => session.sendBinary(bytes(1)));
  const other = connected().session;
  const { receiving } = other as unknown as { receiving: { nonce: Uint8Array } };
  receiving.nonce.fill(0xff, 4);
  assert.is(closes(other.receive(bytes(1))), 'nonce-exhausted');
});

test('the smallest client opens no longer frame than maxFrame, nor than Noise has', () => {
  assert.is(closes(connected({ maxFrame: 100 }).session.receive(new Uint8Array(101))), 'frame-too-long');
  assert.is(closes(connected().session.receive(new Uint8Array(65536))), 'message-too-long');
});

test('a pin of low order is a fault of the keyring, and the same key from the hub is one of the hub', () => {
  const low = new Uint8Array(32);
  low[0] = 1;
  const { session } = connected({ keyring: keyringWith({ pins: [{ nodeId: 'hub-1', key: low }] }) }, false);
  assert.is(endedBy(session, 1000), 'dropped later low-order-key');
});

for (const [closing, expected] of [
  [{ cause: 'not-reachable' }, 'dropped later not-reachable'],
  [{ status: 503 }, 'dropped later unavailable'],
  [{ status: 408 }, 'dropped later unavailable'],
  [{ status: 429 }, 'dropped later unavailable'],
  [{ reason: 'connection_limit', code: 1008 }, 'dropped later unavailable'],
  [{ status: 404 }, 'dropped later not-a-hub'],
  [{ status: 401 }, 'refused later access-refused'],
  [{ status: 403 }, 'refused later access-refused'],
  [null, 'dropped now dropped'],
] as const) {
  test(`the smallest client that meets ${JSON.stringify(closing)} says: ${expected}`, () => {
    assert.is(endedBy(new ClientSession(OPTIONS), closing), expected);
  });
}

test('the smallest client whose KKpsk0 a hub refuses warns if no hub has accepted its key yet', () => {
  const session = new ClientSession({ ...OPTIONS, keyring: keyringWith({ staticKeyIsFresh: true }) });
  for (const data of [HELLO, offer()]) session.receive(data);
  assert.equal(
    session.closed(1008).map(({ type }) => type),
    ['static-key-fresh', 'pin-suspect', 'ended'],
  );
});

const HELLO = '{"msg_type":"hello","payload":{"node_id":"hub-1"}}';
const offer = (patterns: readonly string[] = ['XXpsk2', 'KKpsk0']): string => {
  const noise = { patterns, suites: ['25519_ChaChaPoly_SHA256'] };
  return JSON.stringify({ msg_type: 'shake', payload: { max_protocol_version: 3, noise } });
};
const message2 = (hex: string): string => `{"msg_type":"shake","payload":{"noise":{"msg":"${hex}"}}}`;

for (const [code, ...messages] of [
  ['envelope-too-large', ' '.repeat(262_145)],
  ['bad-payload', '{"msg_type":"hello","payload":[]}'],
  ['bad-envelope', '[]'],
  ['duplicate-key', '{"msg_type":"hello","a":{"b":1,"b":2},"payload":{}}'],
  ['unexpected-message', '{"msg_type":"bus","payload":{}}'],
  ['handshake-before-hello', offer()],
  ['unexpected-message', HELLO, message2('00')],
  ['message-too-short', HELLO, offer(), message2('00')],
  ['message-too-long', HELLO, offer(), message2('00'.repeat(200))],
  ['bad-hex', HELLO, offer(), '{"msg_type":"shake","payload":{"noise":{"msg":7}}}'],
  ['low-order-key', HELLO, offer(), message2('00'.repeat(60))],
] as const) {
  test(`the smallest client closes with ${code} for ${messages.at(-1)!.slice(0, 60)}`, () => {
    const session = new ClientSession(OPTIONS);
    assert.is(closes(messages.flatMap((data) => session.receive(data))), code);
  });
}

test('the smallest client that trusts pinned hubs only sends no other one a message', () => {
  const session = new ClientSession({ ...OPTIONS, keyring: keyringWith({ pins: [] }), trust: 'pinned-only' });
  const events = [HELLO, offer()].flatMap((data) => session.receive(data));
  assert.equal([events.map(({ type }) => type), closes(events)], [['close'], 'unknown-hub']);
  assert.is(endedBy(session, 1000), 'refused never unknown-hub');
});

test('the smallest client sends nothing before it is ready, and greets as it is told', () => {
  throws('wrong-state', () => new ClientSession(OPTIONS).sendBinary(bytes(1)));
  const { events } = connected({ hello: { session: 'none' } });
  const [ready] = events.slice(-1);
  assert.is(ready!.type === 'ready' && ready.sessionId, undefined);
});

test('after the handshake the smallest client ignores its repeats alone', () => {
  for (const [data, code] of [
    [HELLO, undefined],
    [offer(), undefined],
    [utf8ToBytes(message2('00')), undefined],
    [utf8ToBytes(HELLO), 'text-after-ready'],
    [utf8ToBytes(offer()), 'text-after-ready'],
    ['{"msg_type":"bus","payload":{}}', 'text-after-ready'],
    ['{', 'text-after-ready'],
    [utf8ToBytes('{ no envelope, but long enough'), 'not-authentic'],
  ] as const)
    assert.is(closes(connected().session.receive(data)), code);
});

test('an error that is not the hub’s is not taken for one while cleartext is read', () => {
  const { parse } = JSON;
  const { session } = connected();
  JSON.parse = () => {
    throw new Error('out of memory');
  };
  try {
    assert.is(closes(session.receive(utf8ToBytes(HELLO))), 'out-of-memory');
  } finally {
    JSON.parse = parse;
  }
});

test('a payload of message 2 that is JSON, but no object, counts as one that does not open', () => {
  const session = new ClientSession(OPTIONS);
  const sent = [HELLO, offer()].flatMap((data) => sentBy(session.receive(data)));
  const payloads = [HELLO, offer()].map((text) => canonicalize(utf8ToBytes(text)).payload);
  const hub = new HandshakeState({
    crypto: nodeCrypto,
    role: 'responder',
    pattern: 'KKpsk0',
    suite: '25519_ChaChaPoly_SHA256',
    prologue: utf8ToBytes(`${payloads.join('')}Noise_KKpsk0_25519_ChaChaPoly_SHA256`),
    psk: PSK,
    staticKey: HUB_KEY,
    remoteStaticKey: nodeCrypto.x25519.publicKey(bytes(1)),
    randomBytes: () => bytes(8),
  });
  const { msg } = JSON.parse(sent[0] as string).payload.noise;
  hub.readMessage(Buffer.from(msg, 'hex'));
  const answer = Buffer.from(hub.writeMessage(utf8ToBytes('[]'))).toString('hex');
  assert.is(closes(session.receive(message2(answer))), 'kk-failed');
});

test('cryptography that fails at message 2 puts no pin in doubt', () => {
  const open = (): never => {
    throw new Error('the chip failed');
  };
  const seal = (key: Uint8Array) => (nonce: Uint8Array, associatedData: Uint8Array, plaintext: Uint8Array) =>
    nodeCrypto.ciphers.ChaChaPoly!(key).seal(nonce, associatedData, plaintext);
  const ciphers = { ChaChaPoly: (key: Uint8Array) => ({ seal: seal(key), open }) };
  const { events } = connected({ crypto: { ...nodeCrypto, ciphers } }, false);
  assert.equal(
    events.map(({ type }) => type),
    ['transmit', 'close'],
  );
});

test('the smallest client that cannot even make the event of its failure throws, and stays failed', () => {
  const { session } = connected();
  const { frames } = session as unknown as { frames: { destroy(): void } };
  const { destroy } = frames;
  frames.destroy = () => {
    frames.destroy = destroy;
    throw new Error('out of memory');
  };
  throws('out-of-memory', () => session.receive('{'));
  assert.is(session.state, 'failed');
});

test('canonical JSON has the payload of an envelope, and nothing where there is none', () => {
  assert.equal(canonicalize(utf8ToBytes(' {"payload" : {"b":1.0,"a":[]}} ')), {
    text: '{"payload":{"a":[],"b":1.0}}',
    payload: '{"a":[],"b":1.0}',
  });
  assert.is(canonicalize(utf8ToBytes('[{"payload":1}]')).payload, undefined);
});

test.run();

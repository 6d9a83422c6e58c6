/** `query` and `cascade`: questions to a mesh of hubs, and how their answers are collected. */
import { getEventListeners } from 'node:events';
import type { JsonObject } from 'hub-protocol';
import type { AskError, AskEvent, Client, ConnectOptions } from 'hub-protocol-client';
import { adviceOf } from 'hub-protocol-client/causes';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { endWorlds, newWorld, soon, started, until, type World, watchingTimers } from './world.ts';

test.after.each(endWorlds);

/** The envelope that the hub has heard last. */
interface Heard {
  readonly msg_type: string;
  readonly metadata: { readonly query_id: string };
  readonly payload: {
    readonly msg_type: string;
    readonly payload: { data: JsonObject; context: JsonObject };
  };
}

/** A client, and the answers of its hub to what it has heard last. */
function start(options: Partial<ConnectOptions> = {}): {
  world: World;
  client: Client;
  heard: Heard[];
  answer: (hub: string | undefined, type: string, data?: JsonObject, other?: JsonObject) => void;
  ready: () => Promise<void>;
} {
  const { world, client } = started({ plays: true, ...options });
  const heard: Heard[] = [];
  client.on('trace', ({ what }) => {
    if ('type' in what && what.type === 'sent') heard.push(what.envelope as unknown as Heard);
  });
  const answer = (
    hub: string | undefined,
    type: string,
    data: JsonObject = {},
    other: JsonObject = {},
  ): void => {
    const { msg_type, metadata } = heard.at(-1)!;
    const { query_id } = metadata;
    const named = hub === undefined ? {} : { responder_peer: hub };
    const inner = { msg_type: 'bus', payload: { type, data, context: { query_id } } };
    const envelope = { msg_type, metadata: { query_id, is_response: true, ...named }, payload: inner };
    world.send(world.hub!.sendJson({ ...envelope, ...other }));
  };
  return { world, client, heard, answer, ready: () => until(() => client.state === 'ready') };
}

const failure = (promise: Promise<unknown>): Promise<AskError> =>
  promise.then(
    () => Promise.reject(new Error('there was an answer')),
    (error) => error,
  );

test('a query is sent as soon as a connection is ready, and resolves with the whole answer of the hub', async () => {
  const { client, heard, answer } = start();
  const answered = client.query({ text: 'Who is at home?', lang: 'de-de' });
  await until(() => heard.length === 1);
  const [{ msg_type, metadata, payload }] = heard as [Heard];
  assert.equal([msg_type, payload.msg_type], ['query', 'bus']);
  assert.equal(payload.payload.data, { utterances: ['Who is at home?'], lang: 'de-de' });
  assert.is(payload.payload.context.request_id, metadata.query_id);
  answer('hub-2', 'speak', { utterance: 'Ann.' });
  answer('hub-2', 'speak', { utterance: 'And Bob.', image: 'bob.png' });
  answer('hub-2', 'hive.query.complete');
  const { reply, advice, who, ...rest } = await answered;
  assert.equal([advice, who], [undefined, undefined]);
  assert.equal([reply.text, reply.displayItems.length], ['Ann. And Bob.', 1]);
  assert.equal(rest, { hub: 'hub-2', ending: 'handled', isTruncated: false, tell: undefined });
});

test('the disclosure comes before the answer to a query', async () => {
  const { client, heard, answer } = start();
  const log: unknown[] = [];
  client.on('disclosure', ({ language }) => log.push(language));
  const answered = client
    .query({ text: 'Qui est là ?', lang: 'fr-fr' })
    .then(({ reply }) => log.push(reply.text))
    .catch((error) => log.push(error)); // the end of the client, if the test fails before the answer
  await until(() => heard.length === 1);
  assert.equal(log, ['fr']);
  answer('hub-2', 'speak', { utterance: 'Ann.' });
  answer('hub-2', 'hive.query.complete');
  await answered;
  assert.equal(log, ['fr', 'Ann.']);
});

test('only answers to this query count', async () => {
  const { client, heard, answer } = start();
  const answered = client.query('Who is at home?');
  await until(() => heard.length === 1);
  const { query_id } = heard[0]!.metadata;
  const others: JsonObject[] = [
    { msg_type: 'cascade' },
    { metadata: { query_id: 'other', is_response: true, responder_peer: 'hub-2' } },
    { metadata: { query_id, responder_peer: 'hub-2' } },
    { metadata: { query_id, responder_peer: 'hub-2', is_response: 1 } },
    { metadata: null },
    { payload: { type: 'speak', data: { utterance: 'No.' } } },
    { payload: 'No.' },
  ];
  for (const other of others) answer('hub-2', 'speak', { utterance: 'No.' }, other);
  answer('hub-2', 'speak', { utterance: 'Yes.' });
  answer('hub-2', 'hive.query.complete');
  assert.is((await answered).reply.text, 'Yes.');
});

test('a query resolves with what has come when its time is over, and says so', async () => {
  const { client, ready, answer } = start();
  await ready();
  const silent = await client.query('Who is at home?', { timeout: 20 });
  assert.equal([silent.ending, silent.reply.text, silent.hub], ['timeout', '', undefined]);
  assert.match(silent.tell!, 'in time');
  const begun = client.query('Who is at home?', { timeout: 200 });
  answer('hub-2', 'speak', { utterance: 'Ann.' });
  const { ending, reply, hub, tell } = await begun;
  assert.equal([ending, reply.text, hub], ['timeout', 'Ann.', 'hub-2']);
  assert.match(tell!, 'in time');
});

/** How a query ends, and what is told of it, by what the hub answers. */
const ENDINGS: readonly (readonly [type: string, data: JsonObject, ending: string, tell?: string])[] = [
  ['hive.query.complete', {}, 'handled'],
  ['hive.query.timeout', {}, 'query-timeout', 'The other hubs have not answered in time. Ask again.'],
  [
    ...(['hive.policy.denied', { denied_type: 'recognizer_loop:utterance' }, 'denied'] as const),
    'The hub refused the question. Please tell the operator.',
  ],
];

for (const [type, data, ending, tell] of ENDINGS) {
  for (const name of [undefined, 'hub-2']) {
    test(`a query ends with ${type} of ${name ?? 'a hub without a name'}`, async () => {
      const { client, ready, answer } = start();
      await ready();
      const answered = client.query('Who is at home?', { timeout: 5000 });
      answer(name, type, data);
      const { reply, advice, who, ...rest } = await answered;
      assert.equal([advice, who].includes(undefined), tell === undefined);
      assert.equal({ ...rest, text: reply.text }, { hub: name, ending, isTruncated: false, tell, text: '' });
    });
  }
}

test('an answer to a query that is too long is marked as truncated, and its length hides no other end', async () => {
  for (const [type, end, sentence] of [
    ['hive.query.complete', 'handled', 'The answer is incomplete.'],
    ['hive.query.timeout', 'query-timeout', 'The other hubs have not answered in time. Ask again.'],
  ] as const) {
    const { client, ready, answer } = start();
    await ready();
    const answered = client.query('Who is at home?');
    answer('hub-2', 'speak', { utterance: 'x'.repeat(5 * 1024 * 1024) });
    answer('hub-2', type);
    const { ending, isTruncated, tell } = await answered;
    assert.equal([ending, isTruncated, tell], [end, true, sentence]);
  }
});

test('a cascade whose connection ends resolves with the answers that were complete, and with parts of others', async () => {
  for (const isBegun of [false, true]) {
    const { world, client, ready, answer } = start();
    await ready();
    const told: unknown[] = [];
    const answered = client.cascade('Who is at home?', {
      onAnswer: ({ hub, tell }) => told.push([hub, tell]),
    });
    answer('hub-1', 'hive.query.complete');
    if (isBegun) answer('hub-2', 'speak', { utterance: 'Bob …' });
    await until(() => told.length === 1);
    await new Promise(setImmediate);
    world.drop();
    const answers = (await answered).map(({ hub, tell }) => [hub, tell]);
    const begun = ['hub-2', 'The connection ended before the answer was complete. Ask again.'];
    assert.equal(answers, [['hub-1', undefined], ...(isBegun ? [begun] : [])]);
    assert.equal(told, answers);
  }
});

test('a cascade resolves with the answers of all hubs, and tells each when it is complete', async () => {
  const { client, ready, answer } = start();
  await ready();
  const told: unknown[] = [];
  const answered = client.cascade('Who is at home?', {
    timeout: 500,
    onAnswer: ({ hub, reply }) => told.push([hub, reply.text]),
  });
  answer('hub-1', 'speak', { utterance: 'Ann.' });
  answer('hub-2', 'speak', { utterance: 'Bob.' });
  answer('hub-3', 'speak', { utterance: 'Cleo …' });
  answer('hub-2', 'hive.query.complete');
  answer('hub-1', 'speak', { utterance: 'And Dan.' });
  answer('hub-1', 'hive.query.complete');
  answer('hub-2', 'speak', { utterance: 'late' });
  await until(() => told.length === 2);
  assert.equal(told, [
    ['hub-2', 'Bob.'],
    ['hub-1', 'Ann. And Dan.'],
  ]);
  const answers = (await answered).map(({ hub, ending, reply }) => [hub, ending, reply.text]);
  assert.equal(answers, [
    ['hub-2', 'handled', 'Bob.'],
    ['hub-1', 'handled', 'Ann. And Dan.'],
    ['hub-3', 'timeout', 'Cleo …'],
  ]);
});

test('a hub whose name is no text is one that does not say its name', async () => {
  const { client, heard, answer } = start();
  const answered = client.query('Who is at home?');
  await until(() => heard.length === 1);
  const metadata = { query_id: heard[0]!.metadata.query_id, is_response: true, responder_peer: 7 };
  answer('', 'hive.query.complete', {}, { metadata });
  assert.is((await soon(answered)).hub, undefined);
});

test('a cascade that nobody answers resolves with no answer', async () => {
  const { client, ready } = start();
  await ready();
  assert.equal(await client.cascade('Who is at home?', { timeout: 20 }), []);
});

test('a cascade keeps the answers of no more than 256 hubs, complete or not', async () => {
  const { client, ready, answer } = start();
  await ready();
  const answered = client.cascade('Who is at home?', { timeout: 1500 });
  for (let i = 0; i < 300; i++) {
    answer(`hub-${i}`, 'speak', { utterance: String(i) });
    if (i % 2 === 0) answer(`hub-${i}`, 'hive.query.complete');
  }
  assert.is((await answered).length, 256);
});

test('the answers to a cascade have a quarter of maxMemory together, and what is more is left out', async () => {
  const { client, ready, answer } = start({ maxMemory: 2 ** 20 });
  await ready();
  const answered = client.cascade('Who is at home?', { timeout: 500 });
  for (const hub of ['hub-1', 'hub-2', 'hub-3']) answer(hub, 'speak', { utterance: 'x'.repeat(100_000) });
  const all = (await answered).map(({ isTruncated, reply }) => [isTruncated, reply.text.length]);
  assert.equal(all, [
    [false, 100_000],
    [true, 0],
    [true, 0],
  ]);
});

test('a reply that takes more than a quarter of maxMemory is truncated, and ends', async () => {
  const { world, client, ready, heard } = start({ maxMemory: 2 ** 20 });
  await ready();
  world.isMute = true;
  const answered = client.ask('Tell me everything');
  await until(() => heard.length === 1);
  for (const letter of ['x', 'y', 'z']) {
    const { context } = (heard[0] as unknown as { payload: JsonObject }).payload;
    const data = { utterance: letter.repeat(100_000) };
    world.send(
      world.hub!.sendJson({ msg_type: 'bus', payload: { type: 'speak', data, context } as JsonObject }),
    );
  }
  const { isTruncated, reply } = await soon(answered);
  assert.equal([isTruncated, reply.text.length], [true, 200_001]);
});

test('an error in onAnswer is reported as uncaught, and the cascade goes on', async () => {
  const { client, ready, answer } = start();
  await ready();
  const uncaught = new Promise((resolve) => process.once('uncaughtException', resolve));
  const onAnswer = (): never => {
    throw new Error('of the program');
  };
  const answered = client.cascade('Who is at home?', { timeout: 200, onAnswer });
  answer('hub-1', 'speak', { utterance: 'Ann.' });
  answer('hub-1', 'hive.query.complete');
  assert.match(String(await soon(uncaught)), 'of the program');
  assert.is((await answered).length, 1);
});

test('an error in onAnswer is reported as uncaught when the time is over, too, and all answers come', async () => {
  const { client, ready, answer } = start();
  await ready();
  const uncaught = new Promise((resolve) => process.once('uncaughtException', resolve));
  let calls = 0;
  const onAnswer = (): void => {
    if (++calls === 1) throw new Error('of the program');
  };
  const answered = client.cascade('Who is at home?', { timeout: 200, onAnswer });
  answer('hub-1', 'speak', { utterance: 'Ann …' });
  answer('hub-2', 'speak', { utterance: 'Bob …' });
  assert.equal(
    (await answered).map(({ hub, ending }) => [hub, ending]),
    [
      ['hub-1', 'timeout'],
      ['hub-2', 'timeout'],
    ],
  );
  assert.match(String(await soon(uncaught)), 'of the program');
  assert.is(calls, 2);
});

test('a refusal ends the only question, and says why', async () => {
  const { world, client, ready } = start();
  await ready();
  await client.ask('an earlier question, which does not count any more');
  for (const wrong of [{ timeout: 0 }, { signal: AbortSignal.abort() }]) {
    for (const method of ['ask', 'query', 'cascade'] as const) await failure(client[method]('one', wrong));
  }
  for (const denied_type of ['recognizer_loop:utterance', 'query']) {
    const answered = client.query('Who is at home?');
    world.tell('hive.policy.denied', { denied_type: 'speak:synth' }, {});
    world.tell('hive.policy.denied', { denied_type: 'cascade' }, {});
    world.tell('hive.policy.allowed', { denied_type }, {});
    world.tell('hive.policy.denied', { denied_type, code: 'backend_unavailable' }, {});
    const { ending, hub, advice } = await answered;
    assert.equal([ending, hub], ['denied', undefined]);
    assert.match(advice!, 'message bus of the hub is down');
  }
});

test('a refusal ends a cascade at once, with the answer of the hub that refuses', async () => {
  const { world, client, ready, answer } = start();
  await ready();
  const answered = client.cascade('Who is at home?', { timeout: 86_400_000 });
  answer('hub-2', 'speak', { utterance: 'Ann.' });
  world.tell('hive.policy.denied', { denied_type: 'cascade' }, {});
  const answers = await soon(answered);
  assert.equal(
    answers.map(({ hub, ending }) => [hub, ending]),
    [
      [undefined, 'denied'],
      ['hub-2', 'closed'],
    ],
  );
});

test('a refusal does not end a query while another question is open', async () => {
  const { world, client, ready } = start();
  world.isMute = true;
  await ready();
  const both = [client.query('one', { timeout: 300 }), client.query('two', { timeout: 300 })];
  world.tell('hive.policy.denied', { denied_type: 'recognizer_loop:utterance' }, {});
  assert.equal(
    (await Promise.all(both)).map(({ ending }) => ending),
    ['timeout', 'timeout'],
  );
  const asked = client.ask('three');
  const third = client.query('four', { timeout: 300 });
  await until(() => world.questions === 4);
  world.tell('hive.policy.denied', { denied_type: 'recognizer_loop:utterance' }, {});
  assert.is((await third).ending, 'timeout');
  client.end();
  await failure(asked);
});

test('a query rejects if the connection ends before an answer, and resolves with a part of one', async () => {
  const { world, client, heard, ready, answer } = start();
  await ready();
  const lost = failure(client.query('one'));
  world.drop();
  const { code, requestId, advice } = await lost;
  assert.equal([code, requestId, typeof advice], ['dropped', heard.at(-1)!.metadata.query_id, 'string']);
  await ready();
  const begun = client.query('two');
  answer('hub-2', 'speak', { utterance: 'Ann.' });
  await new Promise(setImmediate);
  world.drop();
  const { ending, reply, tell: why } = await begun;
  assert.equal([ending, reply.text], ['closed', 'Ann.']);
  assert.match(why!, 'before the answer was complete');
});

test('a query rejects with the latest cause if no connection is ready in time', async () => {
  const world = newWorld();
  world.isDown = true;
  const client = world.start();
  assert.is((await failure(client.query('one', { timeout: 200 }))).code, 'unavailable');
  const slow = newWorld();
  const never = slow.start({}, { open: () => ({ write() {}, close() {} }) });
  assert.is((await failure(never.query('one', { timeout: 20 }))).code, 'timeout');
});

test('a question or a query that is late tells all that is known of a certificate that is refused', async () => {
  const world = newWorld();
  world.refusesCertificate = true;
  const place = { scheme: 'wss', host: 'hub.example', at: 'hub.example:443', partner: 'hub' } as const;
  const client = world.start({}, { place, advise: (error) => adviceOf(error, place) });
  await until(() => world.types.includes('ask'));
  for (const ask of [client.ask, client.query]) {
    const failed = await failure(ask('hello', { timeout: 50 }));
    const { code, advice, ...rest } = failed as AskError & { platformCode?: string };
    assert.equal([code, rest.platformCode], ['certificate-refused', 'CERT_HAS_EXPIRED']);
    assert.match(advice, /^The certificate of hub\.example:443, or of its authority, has expired/);
  }
});

test('a query that is late after a pause tells the cause of the pause, as a question does', async () => {
  const { world, client } = started({ policy: { basePause: 60_000, maxPause: 60_000 } });
  await client.ask('hello');
  world.isSilent = true;
  world.drop();
  await until(() => client.state === 'waiting');
  const { code, advice } = await failure(client.query('hello', { timeout: 20 }));
  const asked = await failure(client.ask('hello', { timeout: 20 }));
  assert.equal([code, advice], [asked.code, asked.advice]);
  assert.is(code, 'dropped');
});

test('a query that is late before any connection has failed since the last one says what to do', async () => {
  const world = newWorld();
  world.isDown = true;
  const client = world.start();
  await until(() => world.types.includes('close'));
  world.isDown = false;
  await client.ask('hello');
  world.isSilent = true;
  client.end();
  client.resume();
  const { code, advice } = await failure(client.query('hello', { timeout: 20 }));
  assert.is(code, 'timeout');
  assert.match(advice, /an earlier question was still open/);
});

test('a query rejects at once while a person is asked, also in the listener, as a question does', async () => {
  const { world, client, heard, answer } = start();
  world.store.fault = new Error('the disk is full');
  const failed: Promise<AskError>[] = [];
  client.on('ask', () => {
    failed.push(failure(client.query('one')), failure(client.cascade('two')), failure(client.ask('three')));
  });
  await until(() => client.state === 'asking');
  failed.push(failure(client.query('four')), failure(client.ask('five')));
  let count = 0;
  for (const one of failed) one.then(() => count++);
  await new Promise(setImmediate);
  assert.is(count, 5);
  const errors = await Promise.all(failed);
  assert.equal(
    errors.map(({ message, advice }) => [message, advice]),
    errors.map(() => ['the disk is full', 'The disk is full.']),
  );
  world.store.fault = undefined;
  client.resume();
  const later = client.query('six'); // the client connects
  await Promise.race([later, until(() => heard.length === 1)]);
  answer('hub-1', 'hive.query.complete');
  assert.is((await later).ending, 'handled');
});

test('a query rejects if a person must act', async () => {
  const world = newWorld();
  world.clientKey = new Uint8Array(32).fill(9); // the hub knows this client by another key
  const client = world.start({ session: { trust: 'pinned-only' } });
  const { code } = await failure(client.query('one'));
  const asked = world.events.find((event) => event.type === 'ask');
  assert.is(code, (asked!.error as AskError).code);
});

test('a query rejects after end, and when end is called', async () => {
  const { client, ready } = start();
  await ready();
  const open = failure(client.query('one'));
  client.end();
  for (const error of [await open, await failure(client.cascade('two'))]) {
    const { code, advice } = error;
    assert.equal([code, advice], ['session-over', 'The client has ended, because end() was called.']);
  }
});

test('a query rejects with the reason of its signal', async () => {
  const { client, heard, ready } = start();
  await ready();
  const reason = new Error('nobody waits');
  const stopper = new AbortController();
  const open = client.query('one', { signal: stopper.signal }).catch((error) => error);
  stopper.abort(reason);
  assert.is(await open, reason);
  assert.is(heard.length, 1);
  assert.is(await client.query('two', { signal: AbortSignal.abort(reason) }).catch((error) => error), reason);
  assert.is(heard.length, 1);
});

test('a query that cannot be sent rejects with the mistake, at once or when a connection is ready', async () => {
  const { client, ready } = start();
  const bad = { text: 'one', context: { bad: Number.NaN } };
  const early = failure(client.query(bad));
  await ready();
  for (const { code } of [await early, await failure(client.query(bad))]) assert.is(code, 'unsafe-number');
});

test('questions that are wrong are refused', async () => {
  const { client } = start();
  for (const question of ['', { txt: 'one' }] as never[])
    assert.is((await failure(client.query(question))).code, 'bad-argument');
});

test('a query waits for a minute, a cascade for ten seconds, and neither keeps its timer', async () => {
  const { client, ready } = start();
  await ready();
  await watchingTimers(async (timers) => {
    for (const [ask, time] of [
      [() => client.query('hello'), 60_000],
      [() => client.cascade('hello'), 10_000],
      [() => client.query('hello', { timeout: 7000 }), 7000],
      [() => client.cascade('hello', { timeout: 7000 }), 7000],
    ] as const) {
      timers.forget();
      const failed = failure(ask());
      assert.equal(timers.times('queries'), [time]);
      client.end();
      assert.is((await failed).code, 'session-over');
      assert.not.ok(timers.running.includes('queries'));
      client.resume();
      await ready();
    }
  });
});

for (const when of ['before', 'just before', 'while'] as const) {
  test(`a query goes on that was asked ${when} a person is asked about what can go away by itself`, async () => {
    const { client, world, heard, answer } = start();
    world.refusesCertificate = true;
    let early = when === 'before' ? client.query('hello') : undefined;
    client.once('close', () => {
      if (when === 'just before') early = client.query('hello');
    });
    const { after } = await soon(new Promise<AskEvent>((resolve) => client.once('ask', resolve)));
    assert.type(after, 'number'); // 0 too, at random
    const answered = early ?? client.query('hello');
    world.refusesCertificate = false;
    client.resume();
    await Promise.race([answered, until(() => heard.length === 1)]);
    answer('hub-1', 'speak', { utterance: 'Here.' });
    answer('hub-1', 'hive.query.complete');
    assert.is((await answered).reply.text, 'Here.');
  });
}

test('a query leaves no listener behind', async () => {
  const { client, ready, answer } = start();
  await ready();
  const added: string[] = [];
  const on = client.on.bind(client);
  const off = client.off.bind(client);
  client.on = (type, ...to) => {
    added.push(type);
    return on(type, ...to);
  };
  client.off = (type, ...to) => {
    added.splice(added.indexOf(type), 1);
    return off(type, ...to);
  };
  const { signal } = new AbortController();
  const answered = client.query('one', { signal });
  const counts = (): number[] => [added.length, getEventListeners(signal, 'abort').length];
  assert.ok(counts().every((count) => count > 0));
  answer('hub-2', 'hive.query.complete');
  await answered;
  assert.equal(counts(), [0, 0]);
});

test('a query that is asked while the keyring is being stored, and cannot be sent afterwards, rejects', async () => {
  const { client, world, ready } = start();
  await ready();
  let asked: Promise<AskError> | undefined;
  world.store.whileStoring = () => {
    asked = failure(client.query({ text: 'hello', context: { bad: Number.NaN } }));
  };
  world.say('one');
  await until(() => asked !== undefined);
  assert.is((await soon(asked!)).code, 'unsafe-number');
});

test('a query goes on if another message is not sent', async () => {
  const { client, world, ready, answer } = start();
  await ready();
  const answered = client.query('Who is at home?');
  world.store.whileStoring = () => client.send({ msg_type: 'bus', payload: { bad: Number.NaN } });
  const unsent = new Promise((resolve) => client.once('unsent', resolve));
  world.say('one');
  await soon(unsent);
  answer(undefined, 'speak', { utterance: 'Ann.' });
  answer(undefined, 'hive.query.complete');
  assert.is((await soon(answered)).reply.text, 'Ann.');
});

test('a hub whose response cannot be read has given no answer', async () => {
  const { client, heard, answer, ready } = start();
  await ready();
  const answered = client.cascade('hello', { timeout: 200 });
  await until(() => heard.length === 1);
  answer('lobby', 'speak', {}, { payload: { msg_type: 'bus', payload: 5 } });
  assert.equal(await soon(answered), []);
});

test.run();

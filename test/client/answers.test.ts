/** How the promise of `ask` ends: with an answer, with a sentence that says what is missing, or with an error. */
import { getEventListeners } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { AbortController as PolyfilledController } from 'abort-controller';
import { RemoteError } from 'hub-protocol';
import type { AskError, Client, Part } from 'hub-protocol-client';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { endWorlds, mute, newWorld, soon, started, until } from './world.ts';

test.after.each(endWorlds);

const AGAIN = 'Ask again. If this goes on, tell the operator.';
const codeOf = (error: Error & { code?: string }): string => error.code ?? error.message;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
type Weak = { deref(): object | undefined };
const { WeakRef: Reference } = globalThis as unknown as { WeakRef: new (target: object) => Weak };

/** The error of a question that gets no answer. */
const errorOf = (answer: Promise<unknown>): Promise<AskError> =>
  answer.then(
    () => Promise.reject(new Error('the question was answered')),
    (error) => error,
  );

test('a question rejects with the error of the connection that ended before an answer', async () => {
  const world = newWorld();
  world.clientKey = new Uint8Array(32).fill(9); // the hub knows this client by another key
  const client = world.start();
  assert.is(await client.ask('hello').catch(codeOf), 'client-key-refused');
  await until(() => world.types.includes('ask'));
});

test('a question that waits for its turn is asked on the next connection', async () => {
  const { world, client } = mute();
  const [first, second] = [client.ask('one'), client.ask('two')];
  await until(() => world.questions === 1);
  world.drop();
  assert.is(await first!.catch(codeOf), 'dropped');
  await until(() => world.questions === 2);
  world.tell('speak', { utterance: 'Two.' });
  world.tell('ovos.utterance.handled');
  assert.is((await second!).reply.text, 'Two.');
});

test('a question rejects with the cause if no connection is ready in time', async () => {
  const world = newWorld();
  world.isDown = true;
  const client = world.start();
  assert.is(await client.ask('hello', { timeout: 1000 }).catch(codeOf), 'unavailable');
  assert.ok(world.dials > 1);
  world.isDown = false;
  assert.is((await client.ask('hello')).ending, 'handled');
});

test('a question that is late before any connection has failed says so to a person', async () => {
  const world = newWorld();
  world.isSilent = true;
  const client = world.start();
  const late = await errorOf(client.ask('hello', { timeout: 20 }));
  assert.is(late.code, 'timeout');
  assert.match(late.advice, /an earlier question was still open/);
});

test('each question that a lost connection ends rejects with an error of its own', async () => {
  const { world, client } = mute();
  const sent: string[] = [];
  client.on('trace', ({ what }) => {
    if ('envelope' in what && what.envelope.msg_type === 'bus') {
      sent.push(
        (what.envelope as { payload: { context: { request_id: string } } }).payload.context.request_id,
      );
    }
  });
  const answers = ['kitchen', 'lobby'].map((sessionId) => errorOf(client.ask({ text: 'hello', sessionId })));
  await until(() => world.questions === 2);
  world.drop();
  const errors = await Promise.all(answers);
  assert.equal(
    errors.map(({ requestId }) => requestId),
    sent,
  );
  assert.is.not(sent[0], sent[1]);
  const closed = world.events.find((event) => event.type === 'close')!;
  for (const error of errors) {
    assert.instance(error, RemoteError);
    assert.equal([error.code, error.message], [closed.error.code, closed.error.message]);
    assert.is(error.advice, closed.advice);
    assert.is(error.stack, closed.error.stack);
  }
  assert.not.ok('requestId' in closed.error);
});

test('a question that is none, or has an unknown field, rejects with its request id and a message', async () => {
  const client = newWorld().start();
  for (const question of [undefined, null, 7, '', [], {}, { text: 'hello', language: 'de' }]) {
    const { code, requestId, advice } = await errorOf(client.ask(question as never));
    assert.is(code, 'bad-argument', String(question));
    assert.match(requestId, /^\d+(\.\d+){15}$/);
    assert.match(advice, /^".+\.$/);
  }
  const error = await errorOf(client.ask('hello', { timeuot: 1 } as never));
  assert.is(error.message, '"options.timeuot" does not exist: did you mean "timeout"?');
  assert.equal(Object.keys(error).slice(-5), ['requestId', 'tell', 'advice', 'who', 'endpoint']); // so that a log shows them
});

test('a question rejects when end is called before an answer', async () => {
  const { world, client } = mute();
  const answer = client.ask('hello').catch(({ code, message }) => `${code}: ${message}`);
  await until(() => world.questions === 1);
  client.end();
  assert.is(await answer, 'session-over: the client has ended, because end() was called');
});

test('a partial answer is delivered when the connection ends, and marked as partial', async () => {
  const { world, client } = mute();
  const answer = client.ask('hello');
  await until(() => world.questions === 1);
  world.tell('speak', { utterance: 'One moment.' });
  await new Promise(setImmediate);
  world.drop();
  const { ending, reply, tell } = await answer;
  assert.equal(
    [ending, reply.text, tell],
    ['closed', 'One moment.', 'The connection ended before the answer was complete. Ask again.'],
  );
});

test('what a hub has shown is a partial answer, too', async () => {
  const { world, client } = mute();
  const answer = client.ask('hello');
  await until(() => world.questions === 1);
  world.tell('speak', { image: 'map.png' });
  await new Promise(setImmediate);
  world.drop();
  const { ending, reply } = await answer;
  assert.equal([ending, reply.text, reply.displayItems.length], ['closed', '', 1]);
});

test('an answer that is too long is marked as truncated', async () => {
  const { world, client } = mute();
  const answer = client.ask('hello');
  await until(() => world.questions === 1);
  world.tell('speak', { utterance: 'x'.repeat(5 * 1024 * 1024) });
  world.tell('ovos.utterance.handled');
  const { ending, reply, isTruncated, tell } = await answer;
  assert.equal([ending, reply.text, isTruncated], ['handled', '', true]);
  assert.match(tell!, 'incomplete');
});

for (const [type, data, sentence] of [
  ['complete_intent_failure', {}, 'no answer to that'],
  ['hive.policy.denied', { denied_type: 'recognizer_loop:utterance', reason: 'acl' }, 'refused the question'],
  ['hive.policy.denied', { code: 'backend_unavailable' }, 'cannot answer at the moment'],
  ['hive.policy.denied', { code: 'malformed_payload' }, 'cannot read the question'],
  ['hive.policy.denied', { code: 'intent_quota_exceeded' }, 'as often as it may'],
  ['hive.policy.denied', { code: 'constructor' }, 'refused the question'],
  ['hive.query.timeout', {}, 'have not answered in time'],
] as const) {
  test(`an answer that ends with ${type} ${JSON.stringify(data)} tells a person, “${sentence}”`, async () => {
    const world = newWorld();
    world.isMute = true;
    const client = world.start({ requests: { deadlines: { unmatched: 10 } } });
    const answer = client.ask('hello');
    await until(() => world.questions === 1);
    world.tell(type, { denied_type: 'recognizer_loop:utterance', ...data });
    assert.match((await answer).tell!, sentence);
  });
}

test('a question has its own site, or else that of the identity', async () => {
  const sites: unknown[] = [];
  const client = newWorld().start({ plays: true });
  client.on('trace', ({ what }) => {
    if ('envelope' in what) sites.push(/"site_id":"(\w+)"/.exec(JSON.stringify(what.envelope))?.[1]);
  });
  await client.ask('hello');
  await client.ask({ text: 'hello', siteId: 'kitchen' });
  assert.equal(sites, ['lobby', 'kitchen']);
});

test('an empty field of a question does not count as a missing one', async () => {
  const { world, client } = started({ lang: 'de-de' });
  await client.ask({ text: 'hello', siteId: '' });
  assert.not.ok('site_id' in (world.asked.session as object)); // it names no site
  for (const empty of [{ lang: '' }, { sessionId: '' }]) {
    assert.is(await client.ask({ text: 'hello', ...empty }).catch(codeOf), 'bad-argument');
  }
});

test('a question that the hub does not answer tells a person', async () => {
  const { client } = mute({ requests: { deadlines: { idle: 10 } } });
  const { ending, tell } = await client.ask('hello');
  assert.equal([ending, tell], ['timeout', `The hub did not answer in time. ${AGAIN}`]);
});

test('each part of an answer is passed on as it comes, with the message that carried it', async () => {
  const { world, client } = mute();
  const parts: Part[] = [];
  const answer = client.ask('hello', { onPart: (part) => parts.push(part) });
  await until(() => world.questions === 1);
  world.tell('speak', { utterance: 'Which <b>colour</b>?', image: 'c.png', expect_response: true });
  await until(() => parts.length === 1);
  world.tell('ovos.utterance.speak', { utterance: 'Red?' });
  world.tell('ovos.utterance.handled');
  const { reply } = await answer;
  const [first, second] = parts;
  assert.equal(
    parts.map(({ text }) => text),
    ['Which <b>colour</b>?', 'Red?'],
  );
  assert.equal(
    [first!.speech, first!.displayItems.length, first!.expectsAnswer, first!.message.type, first!.requestId],
    ['Which colour?', 1, true, 'speak', reply.requestId],
  );
  assert.equal([second!.displayItems, second!.expectsAnswer, reply.expectsAnswer], [[], false, false]);
  assert.is(reply.text, 'Which <b>colour</b>? Red?');
});

test('an answer and each of its parts have these fields, and no others', async () => {
  const { world, client } = mute();
  const parts: Part[] = [];
  const answer = client.ask('hello', { onPart: (part) => parts.push(part) });
  await until(() => world.questions === 1);
  const { request_id: requestId } = world.asked as { request_id: string };
  world.tell('speak', { utterance: 'One.' });
  world.tell('ovos.utterance.handled');
  const { reply, ...rest } = await answer;
  assert.equal(rest, {
    ...{
      type: 'finish',
      requestId,
      ending: 'handled',
      isTruncated: false,
      error: undefined,
      tell: undefined,
      advice: undefined,
      who: undefined,
    },
    wasSent: true,
  } as never);
  assert.equal([reply.text, reply.requestId], ['One.', requestId]);
  const [{ message, ...part }] = parts as [Part];
  assert.equal(part, { requestId, text: 'One.', speech: 'One.', displayItems: [], expectsAnswer: false });
  assert.equal([parts.length, message.type, message.data], [1, 'speak', { utterance: 'One.' }]);
});

test('an error in the function for parts is reported as uncaught, and the answer comes', async () => {
  const thrown = new Error('thrown in onPart');
  const caught = new Promise((resolve) => process.once('uncaughtException', resolve));
  const client = newWorld().start();
  const onPart = (): void => {
    throw thrown;
  };
  assert.is((await client.ask('hello', { onPart })).ending, 'handled');
  assert.is(await soon(caught), thrown);
});

test('an abort rejects with its reason, and nothing of the question is sent afterwards', async () => {
  const { world, client } = mute();
  const [aborter, reason] = [new AbortController(), new Error('the person has left')];
  const [first, second] = [client.ask('one'), client.ask('two', { signal: aborter.signal })];
  await until(() => world.questions === 1);
  aborter.abort(reason);
  assert.is(await second!.catch((error) => error), reason);
  world.tell('speak', { utterance: 'One.' });
  world.tell('ovos.utterance.handled');
  assert.is((await first!).reply.text, 'One.');
  world.isMute = false;
  assert.is((await client.ask('three')).reply.text, 'You said: three');
  assert.is(world.questions, 2);
});

/** Asks a question that the program forgets: nobody but the client may keep the function for its parts. */
function forgotten(
  client: Client,
  question: string | object,
  signal?: AbortSignal,
): [kept: Weak, asked: Promise<unknown>] {
  const onPart = (): void => {};
  const asked = client.ask(question as string, { onPart, signal });
  return [new Reference(onPart), asked.catch(() => {}).then(() => {})];
}

test('a client keeps nothing of a question that has ended, was aborted or was not sent', async () => {
  const client = newWorld().start();
  const aborter = new AbortController();
  const asked = [
    forgotten(client, 'hello'),
    forgotten(client, 'hello', aborter.signal),
    forgotten(client, { text: 'hello', context: { bad: Number.NaN } }),
  ];
  aborter.abort();
  await Promise.all(asked.map(([, end]) => end));
  const counts = (): number[] => asked.map(([kept]) => (kept.deref() === undefined ? 0 : 1));
  for (let turns = 0; turns < 20 && counts().includes(1); turns++) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    collect();
  }
  assert.equal(counts(), [0, 0, 0]);
});

test('an abort before there is a connection sends nothing', async () => {
  const world = newWorld();
  world.isDown = true;
  const client = world.start();
  const aborter = new AbortController();
  const answer = client.ask('one', { signal: aborter.signal }).catch((error) => error);
  await until(() => world.dials > 0);
  aborter.abort();
  assert.is((await answer).name, 'AbortError');
  world.isDown = false;
  assert.is((await client.ask('two')).reply.text, 'You said: two');
  assert.is(world.questions, 1);
});

test('after an abort no further part arrives, and the next question gets its turn', async () => {
  const { world, client } = mute();
  const aborter = new AbortController();
  const parts: string[] = [];
  const onPart = ({ text }: Part): void => {
    parts.push(text);
    aborter.abort('enough');
  };
  const answer = client.ask('one', { signal: aborter.signal, onPart }).catch((error) => error);
  const next = client.ask('two');
  await until(() => world.questions === 1);
  const one = world.asked;
  world.tell('speak', { utterance: 'One.' });
  assert.ok((await answer) === 'enough'); // uvu cannot show a copy of a text
  await until(() => world.questions === 2);
  world.tell('speak', { utterance: 'And so on.' }, one);
  world.tell('speak', { utterance: 'Two.' });
  world.tell('ovos.utterance.handled');
  assert.is((await next).reply.text, 'Two.');
  assert.equal(parts, ['One.']);
});

test('a question that interrupts is sent at once, and ends the others with what has come', async () => {
  const { world, client } = mute();
  const [heard, spoken]: [string[], string[]] = [[], []];
  client.on('message', ({ message }) => heard.push(message.data.utterance as string));
  client.on('speak', ({ text }) => spoken.push(text));
  const parts: string[] = [];
  const others = ['one', 'two', 'three'].map((question) =>
    client.ask(question, { onPart: ({ text }) => parts.push(text) }),
  );
  await until(() => world.questions === 1);
  const one = world.asked;
  world.tell('speak', { utterance: 'One.' });
  await until(() => parts.length === 1);
  const elsewhere = client.ask({ text: 'four', sessionId: 'another' });
  await until(() => world.questions === 2);
  const stop = client.ask('stop', { interrupt: true });
  const ended = await Promise.all(others);
  assert.equal(
    ended.map(({ ending, reply, wasSent, tell }) => [ending, reply.text, wasSent, tell]),
    [
      ['interrupted', 'One.', true, undefined],
      ['interrupted', '', false, undefined],
      ['interrupted', '', false, undefined],
    ],
  );
  await until(() => world.questions === 3);
  world.tell('speak', { utterance: 'And so on.' }, one);
  world.tell('speak', { utterance: 'Stopped.' });
  world.tell('ovos.utterance.handled');
  assert.is((await stop).reply.text, 'Stopped.');
  assert.equal([heard, spoken], [['And so on.'], []]);
  client.end();
  assert.is(await elsewhere.catch(codeOf), 'session-over');
});

test('stop ends what is asked, and tells the assistant', async () => {
  const { world, client } = mute();
  const sent: unknown[] = [];
  client.on('trace', ({ what }) => {
    if ('type' in what && what.type === 'sent') sent.push((what.envelope as { payload: unknown }).payload);
  });
  assert.is(client.stop(), false);
  const answer = client.ask('count');
  await until(() => world.questions === 1);
  assert.is(client.stop(), true);
  assert.is((await answer).ending, 'interrupted');
  const stop = { type: 'mycroft.stop', data: {} };
  assert.equal(sent.at(-1), { ...stop, context: {} });
  client.newConversation();
  const other = client.ask('count');
  await until(() => world.questions === 3);
  client.stop();
  assert.is((await other).ending, 'interrupted');
  const { session } = world.asked as { session: { session_id: string } };
  assert.equal(sent.at(-1), { ...stop, context: { session: { session_id: session.session_id } } });
});

test('a question may have an id of its own, unless an open one has it', async () => {
  const { world, client } = mute();
  const asked = client.ask('hello', { requestId: 'mine' });
  await until(() => world.questions === 1);
  assert.is(world.asked.request_id, 'mine');
  const error = await errorOf(client.ask('hello', { requestId: 'mine' }));
  assert.equal([error.code, error.requestId], ['bad-argument', 'mine']);
  world.tell('speak', { utterance: 'Hello.' });
  world.tell('ovos.utterance.handled');
  assert.is((await asked).requestId, 'mine');
});

test('the error of a question names the scheme, the host and the port', async () => {
  const world = newWorld();
  world.isDown = true;
  const place = { scheme: 'wss', host: 'hub.example', at: 'hub.example:443', partner: 'hub' } as const;
  const error = await errorOf(world.start({}, { place }).ask('hello', { timeout: 20 }));
  assert.is(error.endpoint, 'wss://hub.example:443');
});

test('a signal that was aborted before, also one that does not say why, sends nothing', async () => {
  const { world, client } = started();
  const polyfilled = new PolyfilledController();
  polyfilled.abort();
  for (const signal of [AbortSignal.abort(), polyfilled.signal as unknown as AbortSignal]) {
    assert.is(await client.ask('one', { signal }).catch(({ name }) => name), 'AbortError');
  }
  await client.ask('two');
  assert.is(world.questions, 1);
});

test('an abort after the answer changes nothing, and the signal has no listener any more', async () => {
  const aborter = new AbortController();
  const { signal } = aborter;
  const count = (): number => getEventListeners(signal, 'abort').length;
  const asked = newWorld().start().ask('one', { signal });
  await until(() => count() === 1);
  const answer = await asked;
  assert.is(count(), 0);
  aborter.abort();
  assert.is(answer.ending, 'handled');
});

test('a timeout ends a question that the hub is still answering, with what has arrived', async () => {
  const { world, client } = mute();
  const answer = client.ask('one', { timeout: 300 });
  await until(() => world.questions === 1);
  world.tell('speak', { utterance: 'Once upon a time.' });
  const { ending, reply, tell } = await answer;
  assert.equal([ending, reply.text], ['timeout', 'Once upon a time.']);
  assert.is(tell, `The hub did not complete its answer in time. ${AGAIN}`);
});

test('an answer that has only shown something is incomplete when its time is over, not missing', async () => {
  const { world, client } = mute();
  const answer = client.ask('one', { timeout: 300 });
  await until(() => world.questions === 1);
  world.tell('speak', { image: 'map.png' });
  const { reply, tell } = await answer;
  assert.equal([reply.text, reply.displayItems.length], ['', 1]);
  assert.is(tell, `The hub did not complete its answer in time. ${AGAIN}`);
});

test('a hub that has said that it is done may pause, also after a reconnect', async () => {
  const { world, client } = mute();
  const story = async (): Promise<string> => {
    const { questions } = world;
    const answer = client.ask('hello');
    await until(() => world.questions > questions);
    world.tell('speak', { utterance: 'One.' });
    await new Promise((resolve) => setTimeout(resolve, 400)); // longer than the pause of a hub that omits it
    world.tell('speak', { utterance: 'Two.' });
    world.tell('ovos.utterance.handled');
    return (await answer).reply.text;
  };
  assert.is(await story(), 'One. Two.');
  world.drop();
  assert.is(await story(), 'One. Two.');
});

test.run();

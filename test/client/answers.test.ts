/** How the promise of `ask` ends: with an answer, with a sentence that says what is missing, or with an error. */
import { RemoteError } from 'hub-protocol';
import type { AskError } from 'hub-protocol-client';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { endWorlds, newWorld, until } from './world.ts';

test.after.each(endWorlds);

const codeOf = (error: Error & { code?: string }): string => error.code ?? error.message;

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
  const world = newWorld();
  world.isMute = true;
  const client = world.start();
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
  assert.is(await client.ask('hello', { timeout: Number.NaN }).catch(codeOf), 'bad-argument');
  assert.is(await client.ask('hello', { timeOut: 1 } as object).catch(codeOf), 'bad-argument');
  world.isDown = false;
  assert.is((await client.ask('hello')).ending, 'handled');
});

test('each question that a lost connection ends rejects with an error of its own', async () => {
  const world = newWorld();
  world.isMute = true;
  const client = world.start();
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
    assert.is(error.tell, closed.tell);
    assert.is(error.stack, closed.error.stack);
  }
  assert.not.ok('requestId' in closed.error);
});

test('a question that is none, or has an unknown field, rejects with its request id and a message', async () => {
  const client = newWorld().start();
  for (const question of [undefined, null, 7, '', [], {}, { text: 'hello', language: 'de' }]) {
    const { code, requestId, tell } = await errorOf(client.ask(question as never));
    assert.is(code, 'bad-argument', String(question));
    assert.match(requestId, /^\d+(\.\d+){15}$/);
    assert.match(tell, /^".+\.$/);
  }
});

test('a question rejects when end is called before an answer', async () => {
  const world = newWorld();
  world.isMute = true;
  const client = world.start();
  const answer = client.ask('hello').catch(({ code, message }) => `${code}: ${message}`);
  await until(() => world.questions === 1);
  client.end();
  assert.is(await answer, 'session-over: the client has ended, because end() was called');
});

test('a partial answer is delivered when the connection ends, and marked as partial', async () => {
  const world = newWorld();
  world.isMute = true;
  const client = world.start();
  const answer = client.ask('hello');
  await until(() => world.questions === 1);
  world.tell('speak', { utterance: 'One moment.' });
  await new Promise(setImmediate);
  world.drop();
  const { ending, reply, tell } = await answer;
  assert.equal(
    [ending, reply.text, tell],
    ['closed', 'One moment.', 'The connection ended before the answer was complete.'],
  );
});

test('what a hub has shown is a partial answer, too', async () => {
  const world = newWorld();
  world.isMute = true;
  const client = world.start();
  const answer = client.ask('hello');
  await until(() => world.questions === 1);
  world.tell('speak', { image: 'map.png' });
  await new Promise(setImmediate);
  world.drop();
  const { ending, reply } = await answer;
  assert.equal([ending, reply.text, reply.displayItems.length], ['closed', '', 1]);
});

test('an answer that is too long is marked as truncated', async () => {
  const world = newWorld();
  world.isMute = true;
  const client = world.start();
  const answer = client.ask('hello');
  await until(() => world.questions === 1);
  world.tell('speak', { utterance: 'x'.repeat(5 * 1024 * 1024) });
  world.tell('ovos.utterance.handled');
  const { ending, reply, isTruncated, tell } = await answer;
  assert.equal([ending, reply.text, isTruncated], ['handled', '', true]);
  assert.match(tell!, 'too long');
});

for (const [type, data, sentence] of [
  ['complete_intent_failure', {}, 'did not understand'],
  ['hive.policy.denied', { denied_type: 'recognizer_loop:utterance', reason: 'acl' }, 'does not allow'],
  ['hive.policy.denied', { code: 'backend_unavailable' }, 'hub’s agent is running'],
  ['hive.policy.denied', { code: 'malformed_payload' }, 'could not read the question'],
  ['hive.policy.denied', { code: 'intent_quota_exceeded' }, 'as often as the hub allows'],
  ['hive.policy.denied', { code: 'constructor' }, 'does not allow'],
  ['hive.query.timeout', {}, 'none of them answered'],
] as const) {
  test(`an answer that ends with ${type} ${JSON.stringify(data)} has a message for a person, “${sentence}”`, async () => {
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
  const client = newWorld().start();
  client.on('trace', ({ what }) => {
    if ('envelope' in what) sites.push(/"site_id":"(\w+)"/.exec(JSON.stringify(what.envelope))?.[1]);
  });
  await client.ask('hello');
  await client.ask({ text: 'hello', siteId: 'kitchen' });
  assert.equal(sites, ['lobby', 'kitchen']);
});

test('a question that the hub does not answer has a message for a person', async () => {
  const world = newWorld();
  world.isMute = true;
  const client = world.start({ requests: { deadlines: { idle: 10 } } });
  const { ending, tell } = await client.ask('hello');
  assert.equal([ending, tell], ['timeout', 'The hub did not answer in time.']);
});

test('a complete answer has no message', async () => {
  assert.is((await newWorld().start().ask('hello')).tell, undefined);
});

test.run();

/** Speech to text and back: which answer of the hub belongs to what. */
import type { JsonObject } from 'hub-protocol';
import { encodeBinary } from 'hub-protocol/binary';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Client } from '../../client/dist/client.js';
import { endWorlds, mute, soon, until, type World } from './world.ts';

test.after.each(endWorlds);

const SPEECH = new Uint8Array(3200);
const codeOf = (error: Error & { code?: string }): string => error.code ?? error.message;

/** A client of a hub that says nothing by itself, and what it has asked for: texts, and speech as its language. */
function start(): { world: World; client: Client; asked: unknown[] } {
  const { world, client } = mute({ plays: true });
  const asked: unknown[] = [];
  client.on('trace', ({ what }) => {
    if (!('type' in what) || what.type !== 'sent') return;
    const { payload, metadata } = what.envelope as never as {
      payload?: { data?: object };
      metadata?: object;
    };
    asked.push(Object(payload?.data).utterance ?? Object(metadata).lang ?? 'speech');
  });
  return { world, client, asked };
}

function sound(world: World, utterance: string, byte: number): void {
  const payload = Uint8Array.of(byte);
  world.sendBytes(encodeBinary({ msg_type: 'bin', bin_type: 'tts_audio', metadata: { utterance }, payload }));
}

const understand = (world: World, text: string): void =>
  world.tell('recognizer_loop:transcribe.response', { transcriptions: [[text, 0.9]] }, {});

test('sounds go to their texts in any order, also of a long text, and are not told as bytes', async () => {
  const { world, client, asked } = start();
  const told: unknown[] = [];
  client.on('bytes', ({ bytes }) => told.push([...bytes]));
  const long = 'sixty '.repeat(20).trim();
  const sounds = Promise.all([client.synthesize('One.'), client.synthesize(long), client.synthesize(' ')]);
  await until(() => asked.length === 3);
  const pieces = asked as string[];
  assert.equal([pieces.slice(1).join(' '), Math.max(...pieces.map(({ length }) => length))], [long, 95]);
  for (const at of [2, 0, 1]) sound(world, pieces[at]!, at);
  assert.equal(await soon(sounds), [[Uint8Array.of(0)], [Uint8Array.of(1), Uint8Array.of(2)], []]);
  sound(world, 'unasked', 9);
  await until(() => told.length > 0);
  assert.equal(told, [[9]]);
});

test('a hub that changes a text before it speaks it answers what was asked for first', async () => {
  const { world, client, asked } = start();
  const sounds = client.synthesize('Dr. No', { lang: 'en-gb' });
  await until(() => asked.length === 1);
  sound(world, 'Doctor No', 1);
  assert.equal(await soon(sounds), [Uint8Array.of(1)]);
});

test('the answer to speech that was given up is not that to the next', async () => {
  const { world, client } = start();
  const messages: string[] = [];
  client.on('message', ({ message }) => messages.push(message.type));
  const abort = new AbortController();
  const [first, second] = [client.transcribe(SPEECH, { signal: abort.signal }), client.transcribe(SPEECH)];
  first.catch(() => {});
  await until(() => client.state === 'ready');
  abort.abort(new Error('given up'));
  assert.is(await first.catch(codeOf), 'given up');
  understand(world, 'one');
  await new Promise((resolve) => setTimeout(resolve, 10));
  understand(world, 'two');
  assert.is(await soon(second), 'two');
  assert.equal(messages, []);
  world.tell('recognizer_loop:transcribe.response', {}, {});
  await until(() => messages.length === 1);
});

for (const [what, type, data, ended] of [
  ['nothing', 'recognizer_loop:speech.recognition.unknown', {}, ''],
  ['another format', 'recognizer_loop:speech.recognition.unknown', { error: 'x' }, 'bad-payload'],
  ['that it may not', 'hive.policy.denied', { denied_type: 'binary' }, 'access-refused'],
  ['no text', 'recognizer_loop:transcribe.response', { transcriptions: [] }, ''],
] as const) {
  test(`speech of which the hub understands ${what} ends`, async () => {
    const { world, client } = start();
    const text = client.transcribe(SPEECH).catch(codeOf);
    await until(() => client.state === 'ready');
    world.tell(type, { ...data } as JsonObject, {});
    assert.is(await soon(text), ended);
  });
}

test('speech and texts end with their connection, a denial, their time or the client, and wait for a connection', async () => {
  const { world, client, asked } = start();
  const lost = client.synthesize('one').catch(codeOf);
  await until(() => asked.length === 1);
  world.drop();
  assert.is(await soon(lost), 'dropped');
  const denied = client.synthesize('two').catch(codeOf);
  await until(() => asked.length === 2);
  world.tell('hive.policy.denied', { denied_type: 'speak:synth' }, {});
  assert.is(await soon(denied), 'access-refused');
  assert.is(await soon(client.transcribe(SPEECH, { timeout: 5 }).catch(codeOf)), 'timeout');
  const over = client.synthesize('three').catch(codeOf);
  client.end();
  assert.is(await soon(over), 'session-over');
  assert.is(await soon(client.transcribe(SPEECH).catch(codeOf)), 'session-over');
  assert.is(await client.synthesize(7 as never).catch(codeOf), 'bad-argument');
});

test.run();

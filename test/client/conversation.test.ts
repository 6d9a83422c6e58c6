/** What a client tells beside answers: the AI disclosure and when it is due, unsolicited speech, envelopes; and its listeners. */
import { type Identity, type JsonObject, parseIdentity, wrap } from 'hub-protocol';
import { encodeBinary } from 'hub-protocol/binary';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Client } from '../../client/dist/client.js';
import { Conversation } from '../../client/dist/conversation.js';
import type { ClientEvent, ConnectOptions } from '../../client/dist/options.js';
import { PASSWORD } from '../world/keys.ts';
import { replacing } from '../world/replacing.ts';
import { endWorlds, newWorld, started, until, type World } from './world.ts';

test.after.each(endWorlds);

const ENGLISH = 'You are talking to an AI. ';
const FRENCH = 'Vous parlez à une IA.';

function issuedWith(ai_disclosure: unknown): Identity {
  return parseIdentity({ access_key: 'kiosk-7', password: PASSWORD, site_id: 'lobby', ai_disclosure });
}

/** A client, and what it tells: disclosures by language and text, speech by text, answers. */
function listen(
  options: Partial<ConnectOptions> = {},
  texts: unknown = { en: ENGLISH, fr: FRENCH },
): { world: World; client: Client; told: unknown[]; ask: (question: string | object) => Promise<void> } {
  const { world, client } = started({ identity: issuedWith(texts), ...options });
  const told: unknown[] = [];
  client.on('disclosure', ({ language, text }) => told.push([language, text]));
  client.on('speak', ({ text }) => told.push(text));
  client.on('bytes', ({ bin_type }) => told.push(bin_type));
  const ask = async (question: string | object): Promise<void> => {
    told.push((await client.ask(question as string)).reply.text);
  };
  return { world, client, told, ask };
}

test('the disclosure comes before the first answer, whole, and not again', async () => {
  const { told, ask } = listen();
  await ask('one');
  await ask('two');
  assert.equal(told, [['en', ENGLISH], 'You said: one', 'You said: two']);
});

test('the disclosure does not come again after a reconnect, also for a voice client on a shared device', async () => {
  const { world, client, told, ask } = listen({ disclosure: { isVoice: true, isShared: true } });
  for (const question of ['one', 'two', 'three']) {
    await ask(question);
    world.drop();
    await until(() => client.state !== 'ready');
  }
  assert.equal(told, [['en', ENGLISH], 'You said: one', 'You said: two', 'You said: three']);
});

/** What the assistants of OpenVoiceOS 3 and 2 keep with a client. */
const STATE = {
  active_handlers: [{ skill_id: 'timer' }],
  converse_handlers: [{ skill_id: 'timer' }],
  response_mode: { skill_id: 'timer' },
  intent_context: [{ key: 'Duration' }],
  active_skills: [['timer', 1795649873.1167028]],
  utterance_states: { timer: 'intent' },
  context: { frame_stack: [] },
};

/**
 * What each question returns of the state of its session, after a hub has told it a state with each answer, in a namespace of the
 * connection. The one after a lost connection is asked as soon as the client has connected again.
 */
async function returned(
  states: readonly object[],
  questions: readonly (string | object)[],
  dropsAfter?: number,
): Promise<unknown[]> {
  const { world, client } = started();
  const sent: unknown[] = [];
  world.isMute = true;
  let next: Promise<unknown> | undefined;
  for (const [i, question] of questions.entries()) {
    const answer = next ?? client.ask(question as string);
    await until(() => world.questions > i);
    const { session, ...context } = world.asked as { session: JsonObject };
    const { session_id = (world.greetings.at(-1) as JsonObject).session_id!, ...asked } = session;
    const { site_id, lang, request_id, ...state } = asked;
    sent.push(state);
    const told = { session_id: `n${world.dials}:${session_id}`, pipeline: ['stop'], ...states[i] };
    world.tell('speak', { utterance: 'Which?' }, { ...context, session: told as JsonObject });
    world.tell('ovos.utterance.handled', {}, { ...context, session: told as JsonObject });
    await answer;
    next = undefined;
    if (i !== dropsAfter) continue;
    next = new Promise((resolve) =>
      client.once('connect', () => resolve(client.ask(questions[i + 1] as string))),
    );
    world.drop();
  }
  client.end();
  return sent;
}

const inSession = (sessionId: string, context?: object): object => ({ text: 'hello', sessionId, context });

test('the next question of a session returns the state that the hub’s assistant keeps with the client', async () => {
  const questions = [inSession('a'), inSession('a'), inSession('b'), inSession('a')];
  const sent = await returned([STATE, { active_skills: [] }], questions);
  assert.equal(sent, [{}, STATE, {}, { active_skills: [] }]);
});

test('a state that the hub no longer tells is not returned', async () => {
  const questions = [inSession('a'), inSession('a'), inSession('a')];
  assert.equal(await returned([STATE, {}], questions), [{}, STATE, {}]);
});

test('the session of the connection has a state, too', async () => {
  assert.equal(await returned([STATE], ['one', 'two']), [{}, STATE]);
});

test('the session of the next connection does not begin with the state of the last one', async () => {
  assert.equal(await returned([STATE, STATE], ['one', 'two', 'three'], 0), [{}, {}, STATE]);
});

test('on the next connection the state is the one that the hub told last, too', async () => {
  const questions = [inSession('a'), inSession('a'), inSession('a')];
  const sent = await returned([STATE, { active_skills: [] }], questions, 0);
  assert.equal(sent, [{}, STATE, { active_skills: [] }]);
});

test('a state that the program gives is not replaced', async () => {
  const own = { active_skills: [['alarm', 1]] };
  assert.equal(await returned([STATE], [inSession('a'), inSession('a', { session: own })]), [{}, own]);
});

test('a state in which the hub waited for an answer is returned without that when it has expired', async () => {
  const states = [-10, 10].map((seconds) => ({
    active_skills: [],
    response_mode: { skill_id: 'timer', expires_at: Date.now() / 1000 + seconds },
  }));
  const sent = await returned(states, [inSession('a'), inSession('a'), inSession('a')]);
  assert.equal(sent, [{}, { active_skills: [] }, states[1]]);
});

test('states are kept in a 64th of maxMemory, of the sessions that were used last', () => {
  const conversation = new Conversation({ identity: issuedWith(null), maxMemory: 2 ** 20 });
  const keep = (session_id: string): void => {
    const context = { session: { session_id: `n:${session_id}`, context: 'x'.repeat(1100) } };
    conversation.keepState({ msg_type: 'bus', payload: { type: 'x', data: {}, context } }, 2000);
  };
  const ids = Array.from({ length: 12 }, (_, i) => `s${i}`); // of 16 KiB each takes 1.4
  for (const id of [...ids.slice(0, 11), 's0', 's11']) keep(id);
  const kept = ids.filter((session_id) => {
    const envelope = { payload: { context: { session: { session_id } as JsonObject } } };
    conversation.returnState(envelope);
    return envelope.payload.context.session.context !== undefined;
  });
  assert.equal(kept, ['s0', ...ids.slice(2)]);
});

test('no state of a long message is kept', async () => {
  assert.equal(await returned([{ context: 'x'.repeat(70_000) }], [inSession('a'), inSession('a')]), [{}, {}]);
});

test('a state is kept of a message of 64 KiB, and its wait for an answer until the moment at which it expires', () => {
  replacing(Date, { now: () => 1_795_649_873_000 }, () => {
    for (const [length, expires_at, expected] of [
      [65_536, 1_795_649_874, ['response_mode', 'active_skills']],
      [65_536, 1_795_649_873, ['active_skills']],
      [65_536, null, ['response_mode', 'active_skills']], // it does not expire
      [65_537, 1_795_649_874, []],
    ] as const) {
      const conversation = new Conversation({ identity: issuedWith(null) });
      const state = { active_skills: [], response_mode: { expires_at } };
      const context = { session: { session_id: 'n:a', ...state } };
      conversation.keepState({ msg_type: 'bus', payload: { type: 'speak', data: {}, context } }, length);
      const session: JsonObject = { session_id: 'a' };
      conversation.returnState({ payload: { context: { session } } });
      assert.equal(Object.keys(session), ['session_id', ...expected]);
    }
  });
});

test('no disclosure is shown while there is no conversation', async () => {
  const { world, client, told } = listen();
  const ready = (): boolean => client.state === 'ready';
  await until(ready);
  world.tell('mycroft.skill.handler.start', {}, {});
  assert.ok(client.send({ msg_type: 'bus', payload: { type: 'speak:synth', data: {}, context: {} } }));
  world.drop();
  await until(() => world.dials === 2 && ready());
  assert.equal(told, []);
});

test('the disclosure comes before unsolicited speech', async () => {
  const { world, client, told } = listen({ lang: 'fr-ca' });
  await until(() => client.state === 'ready');
  world.say('Le minuteur sonne.');
  await until(() => told.length >= 2);
  assert.equal(told, [['fr', FRENCH], 'Le minuteur sonne.']);
});

test('the disclosure comes before what the hub shows unasked, without a word', async () => {
  const { world, client, told } = listen();
  await until(() => client.state === 'ready');
  world.tell('speak', { image: 'map.png' }, {});
  await until(() => told.length >= 2);
  assert.equal(told, [['en', ENGLISH], '']);
});

test('the disclosure comes before the sound of speech, and before no other bytes', async () => {
  const { world, client, told } = listen();
  await until(() => client.state === 'ready');
  world.sendBytes();
  await until(() => told.length >= 1);
  const speech = { msg_type: 'bin', bin_type: 'tts_audio', metadata: {}, payload: Uint8Array.of(1) } as const;
  world.send(world.hub!.sendBinary(encodeBinary(speech)));
  await until(() => told.length >= 3);
  assert.equal(told, ['file', ['en', ENGLISH], 'tts_audio']);
});

for (const [who, disclosure, due] of [
  ['one person who reads', {}, false],
  ['a voice client', { isVoice: true }, true],
  ['a shared device', { isShared: true }, true],
] as const) {
  test(`in a new conversation the disclosure is ${due ? '' : 'not '}due again for ${who}`, async () => {
    const { client, told, ask } = listen({ disclosure });
    client.newConversation(); // the first one begins
    await ask('one');
    client.newConversation();
    await ask('two');
    const again = due ? [['en', ENGLISH]] : [];
    assert.equal(told, [['en', ENGLISH], 'You said: one', ...again, 'You said: two']);
  });
}

test('a program that has stored that it gave the disclosure gives it no more, unless others use it or it speaks', async () => {
  const counts: number[] = [];
  for (const who of [{}, { isVoice: true }, { isShared: true }]) {
    const { told, ask } = listen({ disclosure: { lastGiven: 'earlier-session', ...who } });
    await ask('one');
    counts.push(told.length - 1);
  }
  assert.equal(counts, [0, 1, 1]);
});

test('the disclosure is in the language of the client, or in that of the question that begins the conversation', async () => {
  const languages: unknown[] = [];
  for (const [lang, question] of [
    [undefined, 'one'],
    ['de-de', 'one'],
    ['fr-fr', 'one'],
    ['fr-fr', { text: 'one', lang: 'en-ca' }],
    [undefined, { payload: '/one', lang: 'fr-ca' }],
  ] as const) {
    const { told, ask } = listen(lang === undefined ? {} : { lang });
    await ask(question);
    languages.push((told[0] as string[])[0]);
  }
  assert.equal(languages, ['en', 'en', 'fr', 'en', 'fr']);
});

test('without a text in the language of the client, the disclosure says which one to fetch', async () => {
  for (const [texts, lang, language] of [
    [null, 'en-us', 'en'],
    [ENGLISH, 'fr-fr', 'fr'],
    [{ en: ENGLISH }, 'fr-fr', 'fr'],
  ] as const) {
    const { told, ask } = listen({ lang }, texts);
    await ask('one');
    assert.equal(told[0], [language, undefined]);
  }
});

test('questions of a new conversation belong to a new session', async () => {
  const { world, client, ask } = listen({ plays: true });
  const sessions: unknown[] = [];
  client.on('trace', ({ what }) => {
    if (!('type' in what && what.type === 'sent')) return;
    const { context } = what.envelope.payload as { context: { session: JsonObject } };
    sessions.push(context.session.session_id);
  });
  await ask('one');
  client.newConversation();
  await ask('two');
  world.drop();
  await ask('three');
  client.newConversation();
  await ask('four');
  await ask({ text: 'five', sessionId: 'mine' });
  const [one, two, three, four, five] = sessions;
  assert.equal([one, three, five], [undefined, two, 'mine']);
  assert.ok(typeof two === 'string' && typeof four === 'string' && two !== four);
});

test('the language of connect is that of the session, and of each question that names none', async () => {
  const { world, client, ask } = listen({ lang: 'de-de', plays: true });
  const sent: unknown[] = [];
  client.on('trace', ({ what }) => {
    if ('type' in what && what.type === 'sent') {
      sent.push((what.envelope as { payload: { data: JsonObject } }).payload.data.lang);
    }
  });
  await ask('one');
  await ask({ text: 'two', lang: 'fr-fr' });
  await ask({ text: 'three', lang: undefined });
  assert.equal(sent, ['de-de', 'fr-fr', 'de-de']);
  const [first] = world.greetings as { session_id: string; lang: string }[];
  assert.is(first!.lang, 'de-de');
  assert.match(first!.session_id, /^\d+(\.\d+){15}$/);
  world.drop();
  await ask('four');
  assert.equal(world.greetings[1], first);
});

test('a session of the caller keeps its id, and its language', async () => {
  const hello = { session: { session_id: 'mic-1', system_unit: 'metric' } };
  const { world, ask } = listen({ lang: 'de-de', session: { hello } });
  await ask('one');
  assert.equal(world.greetings, [{ session_id: 'mic-1', lang: 'de-de', system_unit: 'metric' }]);
});

test('speech is told as the message, and as an answer is read', async () => {
  const { world, client } = listen();
  await until(() => client.state === 'ready');
  const log: unknown[] = [];
  client.on('message', ({ message }) => log.push(message.type));
  client.on('speak', ({ message, ...speech }) => log.push([speech, message.data.utterance]));
  const utterance = '<speak>Tea or\n<b>coffee</b>?</speak>';
  const choices = [{ title: 'Tea' }];
  world.tell('speak', { utterance, expect_response: true, quick_replies: choices }, {});
  world.tell('speak', { image: 'map.png' }, {});
  world.tell('mycroft.audio.play_sound', { utterance: 'beep' }, {});
  world.tell('speak', { utterance: ' ' }, {});
  await until(() => log.length >= 6);
  const [first, told, second, map, ...rest] = log as [string, [object, string], string, [object, unknown]];
  assert.equal([first, second, rest], ['speak', 'speak', ['mycroft.audio.play_sound', 'speak']]);
  const { displayItems, ...words } = told[0] as Extract<ClientEvent, { type: 'speak' }>;
  const text = '<speak>Tea or <b>coffee</b>?</speak>';
  assert.equal(words, { type: 'speak', text, speech: 'Tea or coffee?', expectsAnswer: true } as never);
  assert.equal([told[1], displayItems.map(({ kind }) => kind)], [utterance, ['choices']]);
  const shown = map[0] as Extract<ClientEvent, { type: 'speak' }>;
  assert.equal([shown.text, shown.displayItems.length, shown.expectsAnswer], ['', 1, false]);
});

test('speech that a hub sends under both names is reported once, and repeated speech is reported again', async () => {
  const { world, client, told } = listen({}, null);
  await until(() => client.state === 'ready');
  const types: string[] = [];
  client.on('speak', ({ message }) => types.push(message.type));
  for (const type of ['speak', 'ovos.utterance.speak', 'speak', 'speak']) {
    world.tell(type, { utterance: 'Wake up!' }, {});
  }
  for (const type of ['speak', 'ovos.utterance.speak']) world.tell(type, { utterance: 'Done.' }, {});
  world.say('That is all.');
  await until(() => told.includes('That is all.'));
  assert.equal(told.slice(1), ['Wake up!', 'Wake up!', 'Wake up!', 'Done.', 'That is all.']);
  assert.equal(new Set(types), new Set(['speak']));
});

test('an answer is not told as unsolicited speech', async () => {
  const { told, ask } = listen({}, null);
  await ask('one');
  assert.equal(told, [['en', undefined], 'You said: one']);
});

test('envelopes that are no bus messages are told, as they came', async () => {
  const { world, client } = listen();
  await until(() => client.state === 'ready');
  const heard: JsonObject[] = [];
  const messages: string[] = [];
  client.on('envelope', ({ envelope }) => heard.push(envelope));
  client.on('message', ({ message }) => messages.push(message.type));
  const speech = { msg_type: 'bus', payload: { type: 'speak', data: { utterance: 'One.' }, context: {} } };
  const envelopes: JsonObject[] = [
    wrap('propagate', speech),
    { msg_type: 'ping', payload: { flood_id: '1' } },
    { msg_type: 'rendezvous', payload: { status: 'error' } },
    { msg_type: 'query', payload: speech, metadata: { query_id: 'q1', is_response: true } },
    { msg_type: 'intercom', payload: { ciphertext: '00' } },
  ];
  const others = [speech, { payload: speech }, ['ping'], { msg_type: 7 }, { msg_type: 'bus' }, null];
  for (const sent of [...others, ...envelopes]) world.send(world.hub!.sendJson(sent as JsonObject));
  world.say('Two.');
  await until(() => messages.length === 2);
  assert.equal(heard, envelopes);
});

test('a message that is no object with a type is not an envelope', async () => {
  const { world, client } = listen();
  const types: unknown[] = [];
  client.on('envelope', ({ envelope }) => types.push(envelope.msg_type));
  await until(() => client.state === 'ready');
  const texts = ['"ping"', 'null', '{"msg_type":1}', '{"msg_type":"query"}'];
  for (const text of texts) world.send(world.hub!.sendJson(text));
  await until(() => types.length > 0);
  assert.equal(types, ['query']);
});

test('a listener can be called once, and be removed', async () => {
  const { world, client } = listen();
  await until(() => client.state === 'ready');
  const log: string[] = [];
  const on = ({ text }: { text: string }): void => void log.push(`on ${text}`);
  const once = ({ text }: { text: string }): void => void log.push(`once ${text}`);
  const never = (): void => void log.push('never');
  const twice = ({ text }: { text: string }): void => void log.push(`twice ${text}`);
  client.on('speak', twice).once('speak', twice); // the later call counts
  assert.is(client.on('speak', on).once('speak', once).once('speak', never).off('speak', never), client);
  world.say('one');
  world.say('two');
  await until(() => log.includes('on two'));
  client.off('speak', on).off('speak', never);
  client.on('message', () => log.push('message'));
  world.say('three');
  await until(() => log.includes('message'));
  assert.equal(log, ['twice one', 'on one', 'once one', 'on two', 'message']);
});

test('a listener that adds itself again is called again', async () => {
  const { world, client, told } = listen({}, null);
  await until(() => client.state === 'ready');
  let calls = 0;
  const again = (): void => {
    if (++calls < 10) client.once('speak', again); // one that heard the same event again would hear it for ever
  };
  client.once('speak', again);
  world.say('one');
  await until(() => told.includes('one'));
  const first = calls;
  world.say('two');
  await until(() => told.includes('two'));
  assert.equal([first, calls], [1, 2]);
});

test('the state is that of the connection', async () => {
  const world = newWorld();
  world.isDown = true;
  const client = world.start({ policy: { basePause: 60_000, maxPause: 60_000 } });
  const states = [client.state];
  client.once('connecting', () => states.push(client.state));
  await until(() => world.types.includes('reconnect'));
  states.push(client.state);
  world.isDown = false;
  client.resume();
  await client.ask('hello');
  states.push(client.state);
  client.end();
  states.push(client.state);
  assert.equal(states, ['waiting', 'connecting', 'waiting', 'ready', 'ended']);
});

test('a client that is disposed of has ended', async () => {
  for (const dispose of [Symbol.dispose, Symbol.asyncDispose] as const) {
    const world = newWorld();
    const client = world.start();
    await client.ask('hello');
    await client[dispose]();
    assert.equal([client.state, world.types.at(-1)], ['ended', 'end']);
  }
});

test.run();

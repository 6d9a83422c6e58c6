/** The client of hub-protocol-client over a transport in memory: what a socket, a disk and a person can do to it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { createKeyring, type HubEvent, type JsonObject, pinHub, storePsk } from 'hub-protocol';
import { nodeCrypto as crypto, randomBytes } from 'hub-protocol/node';
import type { AskEvent } from 'hub-protocol-client';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { tellingOfDropped } from '../../client/dist/advice.js';
import { Client } from '../../client/dist/client.js';
import { binaryReader as readOnNode } from '../../client/dist/inflate-on-node.js';
import { Listeners } from '../../client/dist/listeners.js';
import {
  endWorlds,
  identity,
  mute,
  newWorld,
  POLICY,
  PSK,
  soon,
  started,
  until,
  type World,
} from './world.ts';

const MIB = 2 ** 20;
const codeOf = (error: Error & { code?: string }): string => error.code ?? error.message;

test.after.each(endWorlds);

test('iterates over unsolicited messages until the client ends', async () => {
  const { world, client } = started();
  await client.ask('hello');
  const heard: unknown[] = [];
  const listening = (async () => {
    for await (const { data } of client) heard.push(data.utterance);
  })();
  world.say('one');
  world.say('two');
  await until(() => heard.length === 2);
  client.end();
  await soon(listening);
  assert.equal(heard, ['one', 'two']);
});

test('a loop over a client that has ended is over', async () => {
  const client = newWorld().start();
  const begun = client[Symbol.asyncIterator]();
  client.end();
  for (const loop of [begun, client[Symbol.asyncIterator]()]) assert.ok((await soon(loop.next())).done);
});

test('a loop that is too slow receives what may wait, then an error', async () => {
  const { world, client } = started({ maxMemory: 8 * MIB });
  await client.ask('hello');
  const loop = client[Symbol.asyncIterator]();
  const first = loop.next().then(
    ({ value }) => value!.data.utterance,
    ({ code }) => code,
  );
  let heard = 0;
  client.on('message', () => heard++);
  for (let i = 0; i < 1100; i++) world.say(String(i));
  await until(() => heard === 1100);
  assert.is(await soon(first), '0');
  assert.is((await client.ask('hello')).ending, 'handled');
  client.end(); // a loop with room for all would end now
  let count = 1;
  const reading = (async () => {
    for await (const { data } of loop) assert.is(data.utterance, String(count++));
  })();
  const error = await soon(reading).catch((reason) => reason);
  assert.is(error?.code, 'wrong-state');
  // A MiB may wait. Each of these has some hundred bytes, and takes a KiB more.
  assert.ok(count > 600 && count < 1024, String(count));
});

/** Emits messages of the hub, and counts how many of them a listener reads. */
function emitter(): { listeners: Listeners; emit: (count: number) => number } {
  const listeners = new Listeners();
  const emit = (count: number): number => {
    let reads = 0;
    for (let i = 0; i < count; i++) {
      const event = {
        type: 'message',
        get message() {
          reads++;
          return i;
        },
      };
      listeners.emit(event as never);
    }
    return reads;
  };
  return { listeners, emit };
}

test('a loop lets messages wait that fit, and listens to none after one more', async () => {
  for (const [count, read] of [
    [1000, 1000],
    [1001, 1001],
    [1100, 1001],
  ] as const) {
    const { listeners, emit } = emitter();
    const loop = listeners.messages(1000 * (1024 + 10), () => 10);
    const first = loop.next();
    assert.is(emit(count), read);
    assert.is((await soon(first)).value, 0);
    for (let i = 1; i < 1000; i++) assert.is((await soon(loop.next())).value, i);
    if (count > 1000) {
      assert.is(await soon(loop.next()).catch(({ code }) => code), 'wrong-state');
    } else {
      const last = loop.next();
      listeners.emit({ type: 'end' });
      assert.is((await soon(last)).done, true);
    }
    assert.is(emit(1), 0);
  }
});

test('a loop gets one message that is longer than all that may wait', async () => {
  const { listeners, emit } = emitter();
  const loop = listeners.messages(1000, () => 10);
  for (let i = 0; i < 3; i++) {
    const next = loop.next();
    emit(1);
    assert.is((await soon(next)).value, 0);
  }
});

test('a loop that keeps up never ends, however much it reads in all', async () => {
  const { listeners, emit } = emitter();
  const loop = listeners.messages(10 * (1024 + 10), () => 10);
  let next = loop.next();
  for (let i = 0; i < 100; i++) {
    assert.is(emit(5), 5);
    for (let at = 0; at < 5; at++) {
      assert.is((await soon(next)).value, at);
      next = loop.next();
    }
  }
});

test('a loop that was left no longer listens for messages', async () => {
  const { listeners, emit } = emitter();
  const loop = listeners.messages(1000 * (1024 + 10), () => 10);
  const first = loop.next();
  assert.is(emit(1), 1);
  await soon(first);
  const removed: string[] = [];
  const { remove } = listeners;
  listeners.remove = (type, listener) => {
    removed.push(type);
    remove.call(listeners, type, listener);
  };
  await loop.return();
  assert.is(emit(1), 0);
  assert.equal(removed, ['message', 'end']);
});

test('messages that wait for a loop are dropped when it ends, and the next one hears only later messages', async () => {
  const { world, client } = started();
  await client.ask('hello');
  const loop = client[Symbol.asyncIterator]();
  const first = loop.next();
  let heard = 0;
  client.on('message', () => heard++);
  for (const text of ['one', 'two', 'three']) world.say(text);
  await until(() => heard === 3);
  assert.is((await soon(first)).value!.data.utterance, 'one');
  await loop.return();
  const next = client[Symbol.asyncIterator]().next();
  world.say('four');
  assert.is((await soon(next)).value!.data.utterance, 'four');
});

test('asks a text, a text with its language, a command and a code', async () => {
  const client = newWorld().start();
  for (const question of [
    'hello',
    { text: 'bonjour', lang: 'fr-fr' },
    { payload: '/x' },
    { value: '4711' },
  ]) {
    assert.is((await client.ask(question)).ending, 'handled');
  }
});

test('sends bytes, hears bytes with their type, and reads bus messages in binary form', async () => {
  const { client } = started();
  assert.not(client.sendBytes(Uint8Array.of(1), 'raw_audio'));
  await client.ask('hello');
  const heard: unknown[] = [];
  client.on('bytes', ({ bytes, bin_type, metadata }) => heard.push([[...bytes], bin_type, metadata]));
  assert.ok(client.sendBytes(Uint8Array.of(1, 2), 'raw_audio', { rate: 16000 })); // the hub echoes it
  await until(() => heard.length === 1);
  assert.equal(heard, [[[1, 2], 'raw_audio', { rate: 16000 }]]);
  client.end();
  assert.not(client.sendBytes(Uint8Array.of(1), 'raw_audio'));
});

test('sends an envelope without waiting, and a refusal of it ends no question', async () => {
  const { client } = started();
  const sent = {
    msg_type: 'bus',
    payload: { type: 'speak:synth', data: { utterance: 'One.' }, context: {} },
  };
  assert.not(client.send(sent));
  await client.ask('hello');
  const heard: unknown[] = [];
  client.on('message', ({ message }) => heard.push([message.type, message.data.denied_type]));
  assert.ok(client.send(sent)); // the hub denies every type that is no utterance
  assert.is((await client.ask('hello again')).ending, 'handled');
  assert.equal(heard, [['hive.policy.denied', 'speak:synth']]);
});

test('a message that cannot be sent is an exception of send, and is not told as well', async () => {
  const client = newWorld().start();
  const told: unknown[] = [];
  client.on('unsent', ({ message }) => told.push(message));
  await client.ask('hello');
  assert.throws(
    () => client.send({ bad: Number.NaN }),
    ({ code }: { code?: string }) => code === 'unsafe-number',
  );
  assert.is((await client.ask('hello')).ending, 'handled');
  assert.equal(told, []);
});

/** A client that sends something while the keyring is being stored, at the first message of a new hub. */
async function sendWhileStored(message: JsonObject, then: (client: Client) => void): Promise<unknown[]> {
  const { world, client } = started();
  const log: unknown[] = [];
  client.on('unsent', ({ message, error, advice }) => log.push(message, error.code, advice));
  client.on('end', () => log.push('end'));
  client.on('connect', () => {
    world.store.whileStoring = () => {
      log.push(client.send(message));
      then(client);
    };
    setTimeout(() => world.say('one'));
  });
  await until(() => log.length > 3);
  return log;
}

test('reports a message that send accepted but that was not sent', async () => {
  const ping = { msg_type: 'ping', payload: {} };
  const [isAccepted, message, code, advice, last] = await sendWhileStored(ping, (client) => client.end());
  assert.equal([isAccepted, message, code, last], [true, ping, 'session-over', 'end']);
  assert.is(advice, 'The client has ended, because end() was called.');
});

test('tells that a message which send has accepted cannot be sent', async () => {
  const bad = { bad: Number.NaN };
  const [isAccepted, message, code] = await sendWhileStored(bad, () => {});
  assert.ok(isAccepted && message === bad);
  assert.is(code, 'unsafe-number');
});

test('a transport that throws ends its connection, and the client connects again', async () => {
  const world = newWorld();
  let isBroken = true;
  const open: typeof world.platform.open = (connection) => {
    const { write, close } = world.platform.open(connection);
    const fail = (data: string | Uint8Array): void => {
      if (isBroken) {
        isBroken = false;
        throw new Error('no buffer');
      }
      write(data);
    };
    return { write: fail, close };
  };
  const client = world.start({}, { open });
  assert.is((await client.ask('hello')).ending, 'handled');
  const first = world.events[0]!;
  assert.ok(first.type === 'close' && first.error.message === 'no buffer');
});

test('a transport that cannot write is closed', async () => {
  const world = newWorld();
  const log: string[] = [];
  const write = (): void => {
    throw new Error('no buffer');
  };
  const open: typeof world.platform.open = (connection) => {
    log.push('open');
    world.platform.open(connection);
    return { write, close: (code) => log.push(`close ${code}`) };
  };
  world.start({}, { open });
  await until(() => world.dials === 2);
  assert.equal(log.slice(0, 3), ['open', 'close 1000', 'open']);
});

test('a transport that has ended is closed, and what arrives on it later is neither traced nor counts', async () => {
  const world = newWorld();
  const codes: number[] = [];
  const late: (() => void)[] = [];
  const open: typeof world.platform.open = (connection) => {
    late.push(() => connection.received('late'));
    return { ...world.platform.open(connection), close: (code) => codes.push(code) };
  };
  const client = world.start({}, { open });
  await client.ask('hello');
  world.drop();
  assert.equal([codes, client.state], [[1000], 'waiting']);
  const traces: unknown[] = [];
  client.on('trace', ({ what }) => traces.push(what));
  late[0]!();
  assert.equal([traces, client.state], [[], 'waiting']);
  await until(() => client.state === 'ready');
  traces.length = 0;
  late[0]!();
  assert.equal([traces, codes, client.state], [[], [1000], 'ready']);
});

test('a transport is closed with the code of the session, and with 1000 at the end', async () => {
  const world = newWorld();
  const codes: number[] = [];
  const open: typeof world.platform.open = (connection) => {
    const { write } = world.platform.open(connection);
    if (codes.length === 0) queueMicrotask(() => connection.received('no envelope'));
    return { write, close: (code) => codes.push(code) };
  };
  const client = world.start({}, { open });
  await client.ask('hello');
  client.end();
  assert.equal(codes, [1008, 1000]);
});

test('bytes whose metadata are not an object are refused, also without a connection', () => {
  const client = newWorld().start();
  assert.throws(
    () => client.sendBytes(Uint8Array.of(1), 'raw_audio', 'loud' as never),
    ({ code }: { code?: string }) => code === 'bad-argument',
  );
});

test('code of the caller may throw a text, or return nothing', async () => {
  for (const derive of [() => Promise.reject('no memory'), async () => undefined as never]) {
    const world = newWorld();
    const client = world.start({ derive });
    assert.match(await client.ask('hello').catch(({ message }) => message), /^(no memory|undefined)$/);
  }
});

test('a message of the hub has JavaScript’s numbers, so it survives structuredClone', async () => {
  const { world, client } = started();
  await client.ask('hello');
  const told = new Promise<HubEvent>((resolve) => client.once('message', ({ message }) => resolve(message)));
  world.tell('mycroft.volume.get.response', { percent: 0.35 }, {});
  assert.equal(structuredClone((await soon(told)).data), { percent: 0.35 });
});

test('a question that comes while the hub has another key is asked after trust, and without a listener rejects', async () => {
  for (const isHeard of [true, false]) {
    const world = newWorld();
    world.store.keyring = pinHub(world.store.keyring, 'hub-1', randomBytes(32));
    const client = new Client({ identity, policy: POLICY }, world.platform);
    const acts: string[] = [];
    if (isHeard) {
      client.on('ask', (event) => {
        acts.push(event.act);
        // @ts-expect-error: only a question with the act "trust" has a key to trust
        if (acts.length > 9) client.trust(event);
        if (event.act === 'trust' && acts.length === 1) setTimeout(() => client.trust(event), 20);
      });
    }
    const asked = await Promise.all(
      ['early', 'late'].map((text) => client.ask(text).then(({ ending }) => ending, codeOf)),
    );
    assert.equal(asked, isHeard ? ['handled', 'handled'] : ['hub-key-changed', 'hub-key-changed']);
    assert.is(acts[0], isHeard ? 'trust' : undefined);
    client.end();
  }
});

/** What ends in a question to a person, the act that it names, and what removes the cause. */
const ASKED: { readonly [cause: string]: readonly [act: string, ...changes: ((world: World) => void)[]] } = {
  'hub-key-changed': [
    'trust',
    (world) => {
      world.store.keyring = pinHub(world.store.keyring, 'hub-1', randomBytes(32));
    },
  ],
  'certificate-refused': [
    'resume',
    (world) => {
      world.refusesCertificate = true;
    },
    (world) => {
      world.refusesCertificate = false;
    },
  ],
  'client-key-refused': [
    'resume',
    (world) => {
      world.clientKey = new Uint8Array(32).fill(9);
    },
    (world) => {
      world.clientKey = undefined;
    },
  ],
  'the disk is full': [
    'resume',
    (world) => {
      world.store.fault = new Error('the disk is full');
    },
    (world) => {
      world.store.fault = undefined;
    },
  ],
};

for (const [cause, [named, plant, remove = () => {}]] of Object.entries(ASKED)) {
  for (const act of ['trust', 'resume', 'end', 'ask'] as const) {
    test(`a person may ${act} when asked about ${cause}, as far as the event offers it`, async () => {
      const world = newWorld();
      plant!(world);
      const client = world.start();
      const event = await soon(new Promise<AskEvent>((resolve) => client.once('ask', resolve)));
      assert.equal([event.act, codeOf(event.error)], [named, cause]);
      remove(world);
      if (act === 'trust' && event.act === 'trust') client.trust(event);
      else if (act === 'trust') assert.throws(() => client.trust(event as never));
      else if (act !== 'ask') client[act]();
      else client.ask('hello').catch(() => {});
      const { dials } = world;
      if (act === 'end') assert.is(client.state, 'ended');
      else if (act === named) await until(() => world.dials >= dials && client.state !== 'waiting');
      if (act === named) assert.is((await client.ask('hello')).ending, 'handled');
    });
  }
}

test('messages of one type have listeners of their own, with the question to which they belong', async () => {
  const { world, client } = mute();
  const heard: unknown[] = [];
  const all: string[] = [];
  const hear = ({
    message: { requestId, data },
  }: {
    message: Pick<HubEvent, 'requestId' | 'data'>;
  }): void => {
    heard.push([requestId, data.name]);
  };
  client.on('message', ({ message }) => all.push(message.type));
  client.on('message', 'mycroft.skill.handler.start', hear);
  client.once('message', 'mycroft.volume.get.response', ({ message: { data } }) => {
    const percent: number | undefined = data.percent;
    // @ts-expect-error: it is no text
    const text: string | undefined = data.percent;
    heard.push([percent, text]);
  });
  const asked = client.ask('hello', { requestId: 'r-1' });
  await until(() => world.questions === 1);
  world.tell('mycroft.skill.handler.start', { name: 'Stories.tell' });
  world.tell('mycroft.volume.get.response', { percent: 0.5 }, {});
  world.tell('mycroft.volume.get.response', { percent: 0.6 }, {});
  await until(() => all.length === 3);
  client.off('message', 'mycroft.skill.handler.start', hear);
  world.tell('mycroft.skill.handler.start', { name: 'Stories.tell' });
  world.tell('ovos.utterance.handled');
  await asked;
  assert.equal(heard, [
    ['r-1', 'Stories.tell'],
    [0.5, 0.5],
  ]);
  for (const args of [
    ['speak', 'x', () => {}],
    ['message', 7, () => {}],
    ['message', 'x'],
  ] as const)
    assert.throws(
      () => client.on(...(args as never as ['end', () => void])),
      /^LocalError|bad-argument|expected|only/,
    );
});

const BROKER = { isBlind: true };

test('a hub behind a broker that stays silent costs one question: the next one waits for a new session', async () => {
  const { world, client } = started({ requests: { deadlines: { idle: 30 } } }, BROKER);
  await until(() => client.state === 'ready');
  const deaf = world.hub!;
  world.isMute = true; // it has restarted, and knows no client
  assert.is((await client.ask('one')).ending, 'timeout');
  world.isMute = false;
  assert.is((await client.ask('two')).ending, 'handled');
  assert.is.not(world.hub, deaf);
});

test('a question that ends before a hub behind a broker has had its time ends no session, and asks whether it is there', async () => {
  const { world, client } = started({}, BROKER);
  await until(() => client.state === 'ready');
  const sent: unknown[] = [];
  client.on(
    'trace',
    ({ what }) => 'type' in what && what.type === 'sent' && sent.push(what.envelope.msg_type),
  );
  world.isMute = true;
  assert.is((await client.ask('one', { timeout: 30 })).ending, 'timeout');
  await until(() => sent.length === 2);
  assert.equal([sent, world.dials], [['bus', 'ping'], 1]);
});

test('trusts no key if none was presented', async () => {
  const client = newWorld().start();
  await client.ask('hello');
  const event = { type: 'ask', error: new Error('the disk is full'), after: 60_000, advice: '' } as const;
  assert.throws(
    () => client.trust(event as never),
    ({ code, message }: Error & { code?: string }) =>
      code === 'bad-argument' && message.includes('Call resume() or end()'),
  );
  assert.is((await client.ask('hello')).ending, 'handled');
});

test('a transport sends pings while its own connection is ready, and none afterwards', async () => {
  const world = newWorld();
  const pings: (() => void)[] = [];
  const client = world.start(
    {},
    {
      open: (connection) => {
        pings.push(() => connection.send({ msg_type: 'ping', payload: {} }));
        return world.platform.open(connection);
      },
    },
  );
  await client.ask('hello');
  let sent = 0;
  client.on('trace', ({ what }) => {
    if ('type' in what && what.type === 'sent' && what.envelope.msg_type === 'ping') sent++;
  });
  pings[0]!();
  assert.is(sent, 1);
  world.drop();
  await until(() => world.types.filter((type) => type === 'connect').length === 2);
  pings[0]!();
  assert.is(sent, 1);
  pings[1]!();
  assert.is(sent, 2);
});

test('an error from a listener is reported as uncaught, and the conversation goes on', async () => {
  const fault = new Error('a fault of the application');
  const uncaught: unknown[] = [];
  const listeners = process.rawListeners('uncaughtException');
  process.removeAllListeners('uncaughtException');
  process.once('uncaughtException', (error) => uncaught.push(error));
  const client = newWorld().start();
  client.on('connect', () => {
    throw fault;
  });
  assert.is((await client.ask('hello')).ending, 'handled');
  await until(() => uncaught.length > 0);
  for (const listener of listeners) process.on('uncaughtException', listener as () => void);
  assert.equal(uncaught, [fault]);
});

test('sends nothing more when the keyring cannot be stored, asks a person, and goes on after resume', async () => {
  const world = newWorld();
  world.store.fault = Object.assign(new Error('the disk is full'), { code: 'ENOSPC' });
  const client = world.start();
  assert.is(await client.ask('hello').catch((error) => error.code), 'ENOSPC');
  assert.is(world.hub!.state, 'awaiting-message-3');
  await until(() => world.types.includes('ask'));
  assert.is(world.dials, 3); // it was tried again twice
  world.store.fault = undefined;
  client.resume();
  assert.is((await client.ask('hello')).ending, 'handled');
  assert.is(world.derivations, 1); // the PSK that was not stored is kept in memory
});

const fail = (): never => {
  throw new Error('damaged');
};

test('a keyring that cannot be read at first is an exception of connect', () => {
  const world = newWorld();
  assert.throws(() => world.start({}, { keyring: { update: () => {}, load: fail } }), /damaged/);
});

test('a keyring that cannot be read later raises a question, not an exception in a timer or of resume', async () => {
  const world = newWorld();
  const store = { update: fail, load: () => world.store.keyring };
  const client = world.start({}, { keyring: store });
  client.resume();
  await new Promise((resolve) => client.on('ask', resolve)); // after 6 s: longer than a test waits once another has waited in vain
  assert.match(await client.ask('hello').catch((error) => error.message), 'damaged');
  assert.equal(world.types, ['reconnect', 'reconnect', 'ask']);
});

test('a question ends a pause, and another one the next pause, but two seconds later', async () => {
  const world = newWorld();
  world.isDown = true;
  const client = world.start({ policy: { basePause: 60_000 } });
  await until(() => world.types.includes('reconnect'));
  for (const question of ['one', 'two']) client.ask(question).catch(() => {});
  await until(() => client.state === 'waiting');
  client.query('three').catch(() => {});
  assert.is(world.dials, 2);
  await until(() => world.dials === 3);
});

test('a question does not end the pause before a second failure that a person is asked about', async () => {
  const { world, client } = started({ policy: { basePause: 60_000 }, derive: async () => randomBytes(32) });
  await until(() => client.state === 'waiting' && world.types.includes('reconnect'));
  client.ask('hello').catch(() => {});
  assert.is(world.dials, 1);
});

test('reports a failure to a person from its second occurrence on, and at a start from the first', async () => {
  const world = newWorld();
  world.isDown = true;
  const client = world.start();
  const tells = () =>
    world.events.flatMap((event) => (event.type === 'reconnect' ? [event.advice !== undefined] : []));
  await until(() => tells().length >= 2); // it goes on dialling, so there may be more
  assert.equal(tells().slice(0, 2), [true, true]);
  world.isDown = false;
  await client.ask('hello');
  world.events.length = 0;
  world.isDown = true;
  world.drop();
  await until(() => tells().length >= 4);
  assert.equal(tells().slice(0, 4), [false, false, true, true]); // lost, then refused
});

test('says of each message of the hub that it drops what helps', async () => {
  const { world, client } = started({ maxMemory: 2 ** 20 });
  const tells: string[] = [];
  client.on('dropped', ({ advice }) => tells.push(advice));
  await client.ask('hello');
  world.say('x'.repeat(2 ** 19));
  world.sendBytes(Uint8Array.of(0)); // no binary message
  const other = world.start({}, { readBinary: readOnNode({ inflated: 2 ** 20, values: 2 ** 20 }) });
  other.on('dropped', ({ advice }) => tells.push(advice));
  await other.ask('hello');
  world.sendBytes(Uint8Array.of(0x83, 0));
  await until(() => tells.length === 3);
  for (const [i, expected] of [
    /half of the option maxMemory/,
    /Update this program, or the hub/,
    /inflates to more than this program accepts/,
  ].entries()) {
    assert.match(tells[i]!, expected);
  }
  assert.match(tellingOfDropped({ reason: 'not-utf8', bytes: 7 }).advice, /7 bytes .* not UTF-8/);
});

test('a message of the hub may have half of maxMemory, and not a byte more', async () => {
  const { world, client } = started({ maxMemory: MIB });
  const lengths: number[] = [];
  client.on('dropped', ({ bytes }) => lengths.push(-bytes));
  client.on('envelope', ({ envelope }) => lengths.push(JSON.stringify(envelope).length));
  await client.ask('hello');
  const start = '{"msg_type":"ping","payload":"';
  for (const length of [MIB / 2, MIB / 2 + 1]) {
    world.send(world.hub!.sendJson(`${start}${'x'.repeat(length - start.length - 2)}"}`));
  }
  await until(() => lengths.length === 2);
  assert.equal(lengths, [MIB / 2, -(MIB / 2 + 1)]);
});

test('a transport that tells its end while it is closed is closed once', async () => {
  for (const cause of ['no envelope', undefined]) {
    const world = newWorld();
    const codes: number[] = [];
    const open: typeof world.platform.open = (connection) => {
      const { write } = world.platform.open(connection);
      if (cause !== undefined && codes.length === 0) queueMicrotask(() => connection.received(cause));
      const close = (code: number): void => {
        codes.push(code);
        if (codes.length < 5) connection.closed({ code });
      };
      return { write, close };
    };
    const client = world.start({}, { open });
    await client.ask('hello');
    client.end();
    assert.equal(codes, cause === undefined ? [1000] : [1008, 1000]);
  }
});

test('tells the hub that a message was spoken, with the context of that message', async () => {
  const { world, client } = started({ plays: true });
  assert.is(client.spoken(), false); // there is no connection yet
  await client.ask('hello');
  const sent: unknown[] = [];
  client.on('trace', ({ what }) => {
    if ('type' in what && what.type === 'sent') sent.push(what.envelope.payload);
  });
  const messages: string[] = [];
  client.on('message', ({ message }) => messages.push(message.type));
  client.once('message', ({ message }) => client.spoken(message));
  const context = { session: { session_id: 's-1' }, skill_id: 'stories' };
  world.tell('speak', { utterance: 'Once upon a time.' }, context);
  await until(() => sent.length === 1);
  assert.is(client.spoken(), true);
  client.newConversation();
  client.spoken();
  await client.ask('hello');
  const { session_id } = world.asked.session as JsonObject;
  const type = 'recognizer_loop:audio_output_end';
  assert.equal(sent.slice(0, 3), [
    { type, data: {}, context },
    { type, data: {}, context: {} },
    { type, data: {}, context: { session: { session_id } } },
  ]);
  world.say('And so on.');
  await until(() => messages.at(-1) === 'speak' && messages.length > 1);
  assert.equal(messages, ['speak', 'speak']); // the hub denies none of that
});

test('what a client only shows is played at once, in its session, also what it says after an interruption', async () => {
  const { world, client } = mute();
  const asked = client.ask('tell a story');
  await until(() => world.questions === 1);
  const session = { session_id: 's-1', converse_handlers: [['stories', 1]] };
  const context = { ...world.asked, session };
  world.tell('speak', { utterance: 'Once upon a time.' }, context);
  await until(() => world.played.length === 1);
  client.stop();
  await asked;
  world.tell('speak', { utterance: 'There was a hub.' }, context);
  world.say('Dinner is ready.');
  await until(() => world.played.length === 3);
  assert.equal(world.played, [{ session }, { session }, {}]);
});

for (const options of [{ plays: true }, { disclosure: { isVoice: true } }]) {
  test(`a client with ${JSON.stringify(options)} says itself when it has played something`, async () => {
    const world = newWorld();
    const client = world.start(options);
    await client.ask('one');
    world.say('Dinner is ready.');
    await sleep(50);
    assert.equal(world.played, []);
  });
}

test('says that a password which the hub does not have ends with white space, or has accents apart', async () => {
  const world = newWorld();
  for (const password of ['correct horse\n', 'Zoe\u0308', 'Zo\u00eb', 'correct horse']) {
    const given = { ...identity, password };
    const client = world.start({ identity: given, derive: async () => randomBytes(32) });
    const { error, advice } = await new Promise<{ error: Error & { code?: string }; advice: string }>(
      (resolve) => client.once('close', resolve),
    );
    assert.is(error.code, 'psk-differs');
    assert.is(advice.endsWith(' with white space, which is part of it.'), /(?:\n|\u0308)$/.test(password));
    client.end();
  }
});

test('what the end of its answer follows is not reported as played: nobody waits for it', async () => {
  const world = newWorld();
  const client = world.start();
  await client.ask('one');
  await client.ask('two');
  world.say('Dinner is ready.');
  await until(() => world.played.length > 0);
  assert.equal(world.played, [{}]);
});

test('a hub that denies to be told what was played is not told again on that connection', async () => {
  const { world, client } = started();
  await client.ask('one');
  const say = async (): Promise<void> => {
    world.say('Dinner is ready.');
    await sleep(50);
  };
  await say();
  world.tell('hive.policy.denied', { denied_type: 'recognizer_loop:audio_output_end' }, {});
  await say();
  assert.is(world.played.length, 1);
  world.drop();
  await client.ask('two');
  await say();
  assert.is(world.played.length, 2);
});

test('a message that was spoken keeps its session in a later conversation', async () => {
  const { world, client } = started();
  await client.ask('hello');
  client.newConversation();
  const sent: JsonObject[] = [];
  client.on('trace', ({ what }) => {
    if ('type' in what && what.type === 'sent') sent.push(what.envelope.payload as JsonObject);
  });
  const context = { session: { session_id: 's-1' } };
  assert.is(client.spoken({ payload: { context } }), true);
  assert.is(client.spoken({ payload: {} }), true);
  await client.ask('hello');
  const { session_id } = world.asked.session as JsonObject;
  assert.equal(
    sent.slice(0, 2).map(({ context }) => context),
    [context, { session: { session_id } }],
  );
});

test('two connections that need the PSK share one derivation', async () => {
  const world = newWorld();
  let provide!: (psk: Uint8Array) => void;
  const derive = () => {
    world.derivations++;
    return new Promise<Uint8Array>((resolve) => {
      provide = resolve;
    });
  };
  const client = world.start({ derive });
  await until(() => world.derivations === 1);
  world.drop();
  await until(() => world.dials === 2);
  await until(() => world.hub!.state === 'awaiting-message-1');
  provide(PSK);
  await until(() => world.types.includes('connect'));
  assert.is((await client.ask('hello')).ending, 'handled');
  assert.is(world.derivations, 1);
});

test('a failed allocation ends the questions, and another link connects from the store after a pause', async () => {
  const world = newWorld();
  let isFull = false;
  const client = world.start(
    {},
    {
      randomBytes: (length) => {
        if (!isFull || length !== 32) return randomBytes(length);
        isFull = false;
        throw new RangeError('Array buffer allocation failed');
      },
    },
  );
  await client.ask('hello');
  isFull = true; // for the ephemeral key of the next connection
  world.drop();
  const late = client.ask('later').catch(({ code }) => code);
  assert.is(await late, 'out-of-memory');
  assert.is(client.state, 'waiting');
  assert.is(await client.ask('in the pause').catch(({ code }) => code), 'out-of-memory');
  await until(() => client.state === 'ready');
  assert.is((await client.ask('hello')).ending, 'handled');
  assert.is(world.derivations, 1); // the PSK came from the store
});

test('a secure element that fails asks a person, and is tried again after resume', async () => {
  const world = newWorld();
  const staticKey = randomBytes(32);
  const publicKey = new Uint8Array(crypto.x25519.publicKey(staticKey));
  const created = createKeyring({ accessKey: 'kiosk-7', staticKey: { publicKey } });
  world.store.keyring = storePsk(created, 'hub-1', PSK);
  let isLocked = true;
  const sharedSecret = async (key: Uint8Array) => {
    if (isLocked) throw new Error('the element is locked');
    return new Uint8Array(crypto.x25519.sharedSecret(staticKey, key));
  };
  const client = world.start({ sharedSecret });
  const { message, advice } = await client.ask('hello').catch((error) => error);
  assert.equal([message, advice], ['the element is locked', 'The element is locked.']);
  await until(() => world.types.includes('ask'));
  isLocked = false;
  client.resume();
  assert.is((await client.ask('hello')).ending, 'handled');
  assert.equal(world.clientKey, publicKey);
});

test('each message is traced before it is written, or before anything comes of it', async () => {
  const world = newWorld();
  const log: string[] = [];
  const open: typeof world.platform.open = (connection) => {
    const { write, close } = world.platform.open(connection);
    return {
      close,
      write(data) {
        log.push('write');
        write(data);
      },
    };
  };
  const client = world.start({ plays: true }, { open });
  client.on('trace', ({ what }) => 'type' in what && log.push(what.type));
  client.on('connect', () => log.push('connect'));
  client.on('message', () => log.push('told'));
  await client.ask('hello');
  const writes = log.flatMap((type, at) => (type === 'write' ? [log[at - 1]] : []));
  assert.equal(new Set(writes), new Set(['transmit']));
  assert.is(writes.length, log.filter((type) => type === 'transmit').length);
  const own = log.filter((type) => ['transmit', 'received', 'connect', 'sent'].includes(type));
  assert.equal(own, [
    ...['received', 'received', 'transmit', 'received', 'transmit', 'transmit', 'connect'],
    ...['transmit', 'sent', 'received', 'received'],
  ]);
  log.length = 0;
  world.say('one');
  await until(() => log.includes('told'));
  assert.equal(log, ['received', 'message', 'told']);
});

test('speech in the session of the connection answers its question, and speech in another one does not', async () => {
  const { world, client } = mute({ session: { hello: { session: { session_id: 'own' } } } });
  const unasked: unknown[] = [];
  client.on('speak', ({ text }) => unasked.push(text));
  const answer = client.ask('hello');
  await until(() => world.questions === 1);
  for (const session_id of ['n:other', 'n:own']) {
    world.tell('speak', { utterance: session_id }, { session: { session_id } });
  }
  world.tell('ovos.utterance.handled', {}, { session: { session_id: 'n:own' } });
  assert.equal([(await answer).reply.text, unasked], ['n:own', ['n:other']]);
});

test.run();

/** `hub-protocol chat` in a pipe and on a terminal, and the questions that `ask` and `chat` put to a person. */
import { EventEmitter } from 'node:events';
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Interface } from 'node:readline/promises';
import workers from 'node:worker_threads';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WebSocket } from 'ws';
import { answerTo } from '../../cli/src/answers.ts';
import { show } from '../../cli/src/derive.ts';
import { Client } from '../../client/dist/client.js';
import { nodeCrypto, randomBytes } from '../../src/crypto/node.ts';
import { HubSession, type HubSessionEvent, readAuthorization } from '../../src/index.ts';
import { onRefresh, type TimerSetter, until, withTimers } from '../client/world.ts';
import { freePort } from '../world/free-port.ts';
import { replacing } from '../world/replacing.ts';
import { closeAll, stopListening, webSockets } from '../world/servers.ts';
import { HubProgram } from './hub-program.ts';
import {
  deriveQuickly,
  Folder,
  IDENTITY,
  quickly,
  run,
  runHere,
  runOnTerminal,
  runProgram,
  runProgramOnTerminal,
  shownOnTerminal,
} from './run.ts';

const test = suite('chat');
const folder = new Folder();
const identity = folder.at('hub/identity.json');
const hub = new HubProgram(folder.at('hub'));
/** Whether a derivation may end, which tells its first progress at once. */
let mayEnd = (): boolean => true;
const deriveAgain = deriveQuickly(() => mayEnd());
await hub.start('--port', String(await freePort()));
const DISCLOSURE: string = JSON.parse(readFileSync(identity, 'utf8')).ai_disclosure.en;
test.before.each(() => {
  mayEnd = () => true;
});
test.after(() => {
  deriveAgain();
  hub.kill();
  folder.remove();
});

/** Runs with a standard error that is a terminal. `written` returns what was written to it. */
function onTerminal(action: (written: () => readonly string[]) => void): void {
  const all: string[] = [];
  replacing(process.stderr, { write: (text: string) => all.push(text), isTTY: true, columns: 80 }, () =>
    action(() => all),
  );
}

/** What is on the lines of a terminal, without escape sequences. */
function linesOf(received: string): string[] {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences
  return received.replace(/\u001b\[[0-9;?]*[A-Za-z]/g, '\r').split(/[\r\n]+/);
}

test('a progress bar is shorter than a line of the terminal, and drawn when it has changed', async () => {
  const { code, stdout } = await runOnTerminal(['ask', identity, 'parrot'], [], 30);
  assert.is(code, 0, stdout);
  const bars = linesOf(stdout).filter((line) => /[█░]/.test(line));
  assert.ok(bars.length > 1 && bars.length <= 21, String(bars.length));
  for (const bar of bars) assert.is(bar.length, 29);
});

test('Ctrl+C removes the progress bar, and ends the program', async () => {
  const keyring = folder.at('cancelled.json');
  const steps = [['█', '\u0003']] as const;
  const { NODE_OPTIONS } = process.env;
  // Node's own Argon2id, which it has from version 24.7 on, leaves no time for what happens during a derivation.
  process.env.NODE_OPTIONS = `--require ${folder.write('slowly.cjs', "require('node:crypto').argon2Sync = undefined")}`;
  const ended = runProgramOnTerminal(['ask', identity, 'x', '--keyring', keyring], steps);
  process.env.NODE_OPTIONS = NODE_OPTIONS;
  const { code, stdout } = await ended;
  assert.is(code, 128 + 2);
  assert.ok(stdout.endsWith('\r\u001b[K'));
});

test('chat answers line by line, and ends with its input', async () => {
  const { code, stdout, stderr } = await runProgram(['chat', identity], 'hello\n\nhelp\n');
  assert.is(code, 0);
  assert.match(stdout, /^Hello\. [^\n]*\nI know the time[^\n]*\n$/);
  assert.is(stderr, `connected to hub.localhost\n${DISCLOSURE}\n`); // once
});

test('chat goes on after a blank line that it reads when its input has ended', async () => {
  const there = await playHub('hub-1', answers);
  // As Node.js 24 does, and earlier versions do not.
  const prompt = function (this: { closed?: boolean }): void {
    if (this.closed === true) throw new Error('ERR_USE_AFTER_CLOSE');
  };
  const { code, stdout } = await replacing(Interface.prototype, { prompt }, () =>
    run(['chat', there, '--json', '--allow-plaintext'], 'hello\n\nhello\n'),
  );
  assert.equal([code, JSON.parse(stdout).answers.length], [0, 2]);
});

test('a line interrupts the answer to the last, Ctrl+C interrupts an answer, and then ends chat', async () => {
  const heard: unknown[] = [];
  const there = await playHub('hub-1', (event, say) => {
    if (event.type !== 'message' || event.kind !== 'json') return;
    const { type, data } = JSON.parse(event.text).payload;
    if (type !== 'recognizer_loop:audio_output_end') heard.push(data.utterances?.[0] ?? type);
    say('speak', { utterance: `On ${heard.at(-1)} …` }); // and no end
  });
  const { code, stdout } = await runOnTerminal(
    ['chat', there, '--allow-plaintext'],
    [
      ['connected', 'count\r'],
      ['On count …', 'stop\r'],
      ['On stop …', '\u0003'],
      ['On mycroft.stop …', '\u0003'],
    ],
  );
  assert.is(code, 0, stdout);
  assert.equal(heard, ['count', 'stop', 'mycroft.stop']);
});

test('lines that are pasted together are asked one after the other, and none interrupts another', async () => {
  const heard: unknown[] = [];
  const there = await playHub('hub-1', (event, say) => {
    if (event.type !== 'message' || event.kind !== 'json') return;
    const [text] = JSON.parse(event.text).payload.data.utterances ?? [];
    if (text === undefined) return;
    heard.push(text);
    setTimeout(() => {
      say('speak', { utterance: `On ${text} …` });
      say('ovos.utterance.handled', {});
    }, 50);
  });
  const { code, stdout } = await runOnTerminal(
    ['chat', there, '--allow-plaintext', '--json'],
    [
      ['connected', 'one\rtwo\rthree\r'],
      ['On three …', '\u0004'],
    ],
  );
  assert.is(code, 0, stdout);
  assert.equal(heard, ['one', 'two', 'three']);
  assert.equal(stdout.match(/"ending": ?"\w+"/g)?.length, 3, stdout);
  assert.not.match(stdout, 'interrupted');
});

test('chat draws no prompt after Enter and Ctrl+D', async () => {
  const { code, stdout } = await runOnTerminal(['chat', identity], [['connected', '\r\u0004']]);
  assert.is(code, 0);
  const [, after] = stdout.split('connected');
  assert.is(linesOf(after!).filter((line) => line === '> ').length, 1, stdout); // at which they are typed
});

test('chat leaves the cursor behind what was pasted after a blank line', async () => {
  const steps = [
    ['connected', '\rparro'],
    ['> parro', 't'], // a key
    ['t', '\r'],
    ['You said', '\u0004'],
  ] as const;
  const { stdout } = await runOnTerminal(['chat', identity], steps);
  assert.match(stdout, 'You said: parrot\r');
});

test('chat --json prints the answers as JSON, and nothing else', async () => {
  const { code, stdout } = await runHere(['chat', identity, '--json'], 'parrot\n');
  assert.is(code, 0);
  const answers = [{ question: 'parrot', ending: 'handled', text: 'You said: parrot', expectsAnswer: false }];
  assert.equal(JSON.parse(stdout), { disclosure: { language: 'en', text: DISCLOSURE }, answers });
});

test('chat prints events above the prompt, and keeps the text typed so far', async () => {
  const { code, stdout } = await runOnTerminal(
    ['chat', identity],
    [
      ['> ', 'par'],
      ['connected to hub.localhost', 'rot\r'],
      ['You said: parrot', '\u0004'],
    ],
  );
  assert.is(code, 0);
  const lines = linesOf(stdout);
  const at = lines.indexOf('connected to hub.localhost');
  // Between what was typed and the answer is the disclosure, which is longer than a line.
  const said = new RegExp(`^> (?:par)?\\|.*rot\\|${DISCLOSURE.slice(0, 70)}.*\\|You said: parrot\\|> \\|`);
  assert.match(lines.slice(at + 1).join('|'), said);
});

test('Ctrl+C ends chat, and asks nothing that was typed before', async () => {
  const steps = [
    ['connected to hub.localhost', 'par\u0003\r'],
    ['You said', '\u0004'], // if it goes on
  ] as const;
  const { code, stdout } = await runOnTerminal(['chat', identity], steps);
  assert.is(code, 0);
  assert.not.match(stdout, 'You said');
});

test('chat shows the AI disclosure before what the hub says unasked', async () => {
  const there = await playHub('hub-1', (event, say, socket) => {
    if (event.type !== 'ready') return;
    say('speak', { utterance: 'Good morning.' });
    say('speak', { utterance: 'It is eight.' });
    setTimeout(() => socket.terminate(), 500);
  });
  const issued = JSON.parse(readFileSync(there, 'utf8'));
  writeFileSync(there, JSON.stringify({ ...issued, ai_disclosure: 'An AI\nanswers.' }));
  const { stdout } = await runOnTerminal(['chat', there, '--allow-plaintext'], [['eight.', '\u0004']]);
  const lines = linesOf(stdout).filter((line) => /^(?:An AI|answers|hub: )/.test(line));
  assert.equal(lines.slice(0, 4), ['An AI', 'answers.', 'hub: Good morning.', 'hub: It is eight.']);
  assert.is(lines.filter((line) => line === 'An AI').length, 1);
});

test('chat fails if a question was not answered', async () => {
  const elsewhere = folder.write('elsewhere.json', {
    ...IDENTITY,
    data_plane_endpoints: { wss: `ws://127.0.0.1:${await freePort()}` },
  });
  const told: string[] = [];
  const write = (text: string): unknown => told.push(text);
  const { code, stdout } = await replacing(process.stderr, { write }, () =>
    withTimers(
      (again, time, set) => set(again, time === 15_000 ? 300 : time),
      () => run(['chat', elsewhere, '--json', '--allow-plaintext'], 'hello\n'),
    ),
  );
  const [{ ending, message }] = JSON.parse(stdout).answers;
  assert.equal([code, ending], [1, 'closed']);
  assert.match(message, /^There is no connection to the hub\. .* Nothing listens at /);
  const lines = told
    .join('')
    .replace(/:\d+/g, '')
    .replace(/\d+ s$/gm, 'N s')
    .trim()
    .split('\n');
  const cause =
    'There is no connection to the hub. Connecting again. If this goes on, tell the operator. Nothing listens at 127.0.0.1, or a firewall refuses the connection. Check the address and the port, and whether the hub is running.';
  assert.equal([...new Set(lines)], [cause, 'connecting again in N s']);
  assert.is(lines.at(-1), cause); // of the question, which is told last
});

test('chat fails if any question was not answered, whatever becomes of the later ones', async () => {
  let questions = 0;
  const there = await playHub('hub-1', (event, say, socket) => {
    if (event.type === 'message' && ++questions === 1) say('complete_intent_failure', {});
    else answers(event, say, socket);
  });
  const args = ['chat', there, '--json', '--allow-plaintext'];
  const { code, stdout } = await runHere(args, 'hello\nhello again\n');
  const endings = JSON.parse(stdout).answers.map(({ ending }: { ending: string }) => ending);
  assert.equal([code, endings], [1, ['unanswered', 'handled']]);
});

/** What the client of a played hub derives. */
const PLAYED_PSK = quickly(IDENTITY.password as string, nodeCrypto.sha256(Buffer.from('hub-1')));
/** The connections of the hub that is played. */
let played: WebSocket[] = [];
test.after.each(() => {
  played = [];
  return closeAll();
});

/** Starts a hub that a test plays, and writes the identity of its client. `play` gets each event, and a function that sends a bus message. */
async function playHub(
  nodeId: string,
  play: (event: HubSessionEvent, say: (type: string, data: object) => void, socket: WebSocket) => void,
  heard: (url: string, socket: WebSocket) => void = () => {},
  psk: Uint8Array = new Uint8Array(32),
): Promise<string> {
  const keys = { staticKey: randomBytes(32), psk };
  const port = await webSockets((socket, { url }) => {
    played.push(socket);
    heard(url!, socket);
    const session = new HubSession({ ...keys, crypto: nodeCrypto, randomBytes, nodeId });
    let context = {};
    const say = (type: string, data: object): void => {
      const message = { msg_type: 'bus', payload: { type, data, context } } as never;
      for (const bytes of session.sendJson(message)) socket.send(bytes);
    };
    const handle = (events: HubSessionEvent[]): void => {
      for (const event of events) {
        if (event.type === 'transmit') socket.send(event.data);
        if (event.type === 'message' && event.kind === 'json') ({ context } = JSON.parse(event.text).payload);
        play(event, say, socket);
      }
    };
    socket.on('message', (data, isBinary) =>
      handle(session.receive(isBinary ? (data as Buffer) : data.toString())),
    );
    handle(session.start());
  });
  const wss = `ws://127.0.0.1:${port}`;
  const there = folder.write('there.json', { ...IDENTITY, data_plane_endpoints: { wss } });
  folder.write('there.keyring.json', {
    version: 1,
    access_key: IDENTITY.access_key,
    static_key: '11'.repeat(32),
    static_key_is_fresh: true,
    pins: [],
    psks: [{ node_id: nodeId, key: Buffer.from(psk).toString('hex'), is_provisioned: true }],
  });
  return there;
}

test('chat shows once what a hub says in two ways, and a text under each of its names', async () => {
  const there = await playHub('hub-1', (event, say, socket) => {
    if (event.type !== 'ready') return;
    say('speak', { utterance: 'one' });
    say('ovos.utterance.speak', { utterance: 'one' });
    say('speak', { text: 'two' });
    setTimeout(() => socket.terminate(), 500);
  });
  const { stdout } = await runHere(['chat', there, '--allow-plaintext'], 'hello\n');
  assert.is(stdout, 'hub: one\nhub: two\n');
});

test('chat shows each message of a hub on one line, and its key in place of a long name', async () => {
  const play: Parameters<typeof playHub>[1] = (event, say, socket) => {
    if (event.type !== 'ready') return;
    say('speak', { utterance: 'one\n> \r\u2028Is this the new key?\u0085\ttwo' });
    setTimeout(() => socket.terminate(), 500);
  };
  for (const [nodeId, line] of [
    ['hub\n1', /^connected to hub 1$/m],
    ['P'.repeat(451), /^connected to the hub with the key [0-9a-f]{16}$/m], // the length of HiveMind's
  ] as const) {
    const there = await playHub(nodeId, play);
    const { stdout, stderr } = await runHere(['chat', there, '--allow-plaintext'], 'hello\n');
    assert.is(stdout, 'hub: one > Is this the new key? two\n');
    assert.match(stderr, line);
  }
});

test('chat waits longer for a hub’s answer than for a connection', async () => {
  let giveUp = (): void => assert.unreachable();
  const there = await playHub('hub-1', (event, say) => {
    if (event.type !== 'message') return;
    giveUp(); // 15 seconds have passed
    say('speak', { utterance: 'Hi.' });
    say('ovos.utterance.handled', {});
  });
  const set: TimerSetter = (late, time, original) => {
    if (time === 15_000) giveUp = late;
    return original(late, time);
  };
  const { code, stdout } = await withTimers(set, () =>
    run(['chat', there, '--json', '--allow-plaintext'], 'hello\n'),
  );
  assert.equal([code, JSON.parse(stdout).answers[0].ending], [0, 'handled']);
});

const answers: Parameters<typeof playHub>[1] = (event, say) => {
  if (event.type !== 'message') return;
  say('speak', { utterance: 'Hi.' });
  say('ovos.utterance.handled', {});
};

test('ask and chat tell the hub which program they are, in which language they ask, and that they leave', async () => {
  const agents: unknown[] = [];
  const languages: unknown[] = [];
  const codes: number[] = [];
  const there = await playHub(
    'hub-1',
    (event, say, socket) => {
      if (event.type === 'ready') socket.once('close', (code) => codes.push(code));
      if (event.type === 'message' && event.kind === 'json')
        languages.push(JSON.parse(event.text).payload.data.lang);
      answers(event, say, socket);
    },
    (url) => agents.push(readAuthorization(url)?.userAgent),
  );
  for (const [runs, ...args] of [
    [runProgram, 'ask', there, 'hello'],
    [runProgram, 'chat', there],
    [runHere, 'ask', there, 'hello', '--lang', 'fr-ca'],
    [runHere, 'chat', there, '--lang', 'fr-ca'],
  ] as const) {
    await runs([...args, '--allow-plaintext'], 'hello\n');
  }
  await until(() => codes.length === 4);
  assert.equal(agents, new Array(4).fill('hub-protocol-cli'));
  assert.equal(codes, new Array(4).fill(1000));
  assert.equal(languages.filter(Boolean), ['en-us', 'en-us', 'fr-ca', 'fr-ca']);
});

test('ask --json has the disclosure also if the question failed after it', async () => {
  const there = await playHub('hub-1', ({ type }, _say, socket) => type === 'message' && socket.terminate());
  const { code, stdout } = await runHere(['ask', there, 'hello', '--json', '--allow-plaintext']);
  const { message, ...json } = JSON.parse(stdout);
  assert.equal([code, json], [1, { disclosure: { language: 'en' }, error: 'dropped' }]);
  assert.match(message, /connection was lost/);
});

test('ask says that the PSK cannot be derived', async () => {
  const there = await playHub('hub-1', answers);
  forgetPsk(there.replace('.json', '.keyring.json'));
  class Worker extends EventEmitter {
    terminate = () => {};
    constructor() {
      super();
      setImmediate(
        () => this.emit('message', { progress: 0 }) && this.emit('error', new Error('the thread ended')),
      );
    }
  }
  const asked = await replacing(workers, { Worker }, () =>
    run(['ask', there, 'hello', '--json', '--allow-plaintext']),
  );
  const message = 'The thread ended.';
  assert.equal([asked.code, JSON.parse(asked.stdout)], [1, { error: 'other', message }]);
});

test('ask and chat print no line for a part that only shows something', async () => {
  const there = await playHub('hub-1', (event, say) => {
    if (event.type !== 'message') return;
    say('speak', { utterance: '', table: [['a', 'b']] });
    say('speak', { utterance: 'Hi.' });
    say('ovos.utterance.handled', {});
  });
  for (const command of ['ask', 'chat']) {
    const args = [command, there, ...(command === 'ask' ? ['hello'] : []), '--allow-plaintext'];
    assert.is((await runHere(args, 'hello\n')).stdout, 'Hi.\n', command);
  }
});

test('chat says that there is no connection if it has not heard why', async () => {
  const wss = `ws://127.0.0.1:${await webSockets()}`; // it says nothing
  const silent = folder.write('silent.json', { ...IDENTITY, data_plane_endpoints: { wss } });
  const { code, stdout } = await withTimers(
    (again, time, set) => set(again, time === 15_000 ? 300 : time),
    () => run(['chat', silent, '--json', '--allow-plaintext'], 'hello\n'),
  );
  const [{ message }] = JSON.parse(stdout).answers;
  assert.equal([code, message], [1, 'There is no connection to the hub.']);
});

test('ask and chat wait a day for an answer', async () => {
  const there = await playHub('hub-1', answers);
  const original = Client.prototype.ask;
  const times: unknown[] = [];
  const ask: typeof original = function (this: Client, question, options) {
    times.push(options?.timeout);
    return original.call(this, question, options);
  };
  await replacing(Client.prototype, { ask }, async () => {
    await run(['ask', there, 'hello', '--json', '--allow-plaintext']);
    await run(['chat', there, '--json', '--allow-plaintext'], 'hello\n');
  });
  assert.equal(times, [86_400_000, 86_400_000]);
});

test('chat into a file writes the answers alone there, and what happens on the terminal', async () => {
  const { code, stdout, stderr } = await runOnTerminal(
    ['chat', identity],
    [
      ['connected to hub.localhost', 'parrot\r'],
      ['parrot', '\u0004'],
    ],
    80,
    true,
  );
  assert.equal([code, stdout], [0, 'You said: parrot\n']);
  for (const text of ['> ', '\u001b[0J', 'You said']) assert.not.ok(stderr.includes(text), stderr);
});

test('Ctrl+D ends a question that waits, and tells nothing more', async () => {
  const there = await playHub('hub-1', (event, say) => {
    if (event.type === 'message') say('speak', { utterance: 'I think.' });
  });
  const { code, stdout } = await runOnTerminal(
    ['chat', there, '--allow-plaintext'],
    [
      ['connected to hub-1', 'hello\r'],
      ['I think.', '\u0004'],
    ],
  );
  assert.is(code, 0, stdout);
  assert.match(linesOf(stdout).join('|'), /\|I think\.\|(?:> \|)*$/);
});

test('chat shows what a hub says unasked, and no other event of its bus', async () => {
  const there = await playHub('hub-1', (event, say, socket) => {
    if (event.type !== 'ready') return;
    say('mycroft.mic.listen', {});
    say('speak', { image: 'https://hub.example/a.png' });
    say('speak', { utterance: 'Good morning.' });
    setTimeout(() => socket.terminate(), 500);
  });
  const { code, stdout } = await runHere(['chat', there, '--allow-plaintext'], 'hello\n');
  assert.equal([code, stdout], [1, 'hub: Good morning.\n']);
});

/** What rejects at the second call of `connected`. */
function onlyOnce(): { again: Promise<never>; connected: () => void } {
  let connections = 0;
  let reject = (_: Error): void => {};
  const again = new Promise<never>((...settle) => {
    [, reject] = settle;
  });
  const connected = (): void => {
    if (++connections > 1) reject(new Error('it connects again'));
  };
  return { again, connected };
}

test('ask does not wait for a second connection', async () => {
  const { again, connected } = onlyOnce();
  const there = await playHub('hub-1', (_event, _say, socket) => socket.terminate(), connected);
  const asked = runHere(['ask', there, 'hello', '--allow-plaintext']);
  assert.is((await Promise.race([asked, again])).code, 1);
});

test('ask does not wait for a hub that goes when the PSK is derived', async () => {
  const { again, connected } = onlyOnce();
  const leave = (_: string, socket: WebSocket): void => {
    connected();
    socket.on('message', () => socket.terminate()); // message 1, before the hub reads it
  };
  const there = await playHub('hub-1', () => {}, leave);
  forgetPsk(there.replace('.json', '.keyring.json'));
  const asked = runHere(['ask', there, 'hello', '--allow-plaintext']);
  assert.is((await Promise.race([asked, again])).code, 1);
});

/** Calls `act` when a derivation tells its first progress, before the client hears of that. */
async function atFirstProgress<T>(act: () => void, body: () => Promise<T>): Promise<T> {
  const Own = workers.Worker;
  class Worker extends Own {
    constructor(...given: ConstructorParameters<typeof Own>) {
      super(...given);
      this.once('message', act);
    }
  }
  return replacing(workers, { Worker }, body);
}

for (const command of ['ask', 'chat']) {
  test(`${command} does not give up a derivation, either after a minute or when the hub does not wait for it`, async () => {
    const { now } = performance;
    let isLate = false;
    let connections = 0;
    let begun = 0;
    let giveUp = (): void => {};
    const there = await playHub('hub-1', answers, () => connections++, PLAYED_PSK);
    forgetPsk(there.replace('.json', '.keyring.json'));
    mayEnd = () => connections > 1 || begun > 20;
    const lose = (): void => {
      isLate = true;
      for (const socket of played) socket.terminate();
      // What comes after this message has been heard: 15 seconds have passed.
      setImmediate(() => giveUp());
    };
    const later = (): number => now.call(performance) + (isLate ? 61_000 : 0);
    const set: TimerSetter = (late, time, original) => {
      if (time !== 15_000) return original(late, time);
      giveUp = late;
      return onRefresh(original(late, time), () => begun++);
    };
    const args = [command, there, ...(command === 'ask' ? ['hello'] : []), '--json', '--allow-plaintext'];
    const { code, stdout } = await replacing(performance, { now: later }, () =>
      atFirstProgress(lose, () => withTimers(set, () => run(args, 'hello\n'))),
    );
    const json = JSON.parse(stdout);
    const { ending } = command === 'ask' ? json : json.answers[0];
    assert.equal([code, ending, connections], [0, 'handled', 2]);
    assert.is(begun > 1, command === 'chat'); // also when the derivation ends
  });
}

test('ask gives up a derivation when the hub has sent what is not JSON', async () => {
  let connections = 0;
  const there = await playHub('hub-1', answers, () => connections++, PLAYED_PSK);
  forgetPsk(there.replace('.json', '.keyring.json'));
  const disturb = (): void => {
    if (connections === 1) for (const socket of played) socket.send('{');
  };
  const { code, stdout } = await atFirstProgress(disturb, () =>
    run(['ask', there, 'hello', '--json', '--allow-plaintext']),
  );
  assert.equal([code, JSON.parse(stdout).error, connections], [1, 'bad-json', 1]);
});

/** What a hub sends after a question, and what is told of it. */
const ENDINGS: readonly (readonly [
  ending: string,
  messages: readonly (readonly [type: string, data: object])[],
  text: string,
  message?: string,
])[] = [
  ['handled', [['speak', { utterance: 'Hi.' }]], 'Hi.'],
  ['handled', [['speak', { utterance: 'Which one?', expect_response: true }]], 'Which one?'],
  ['handled', [], ''],
  [
    'unanswered',
    [['complete_intent_failure', {}]],
    '',
    'The hub has no answer to that. Try other words. Check whether the hub has a skill for that, in the language of the question.',
  ],
  [
    'denied',
    [['hive.policy.denied', { denied_type: 'recognizer_loop:utterance', code: 'backend_unavailable' }]],
    '',
    'The hub cannot answer at the moment. Please tell the operator. The message bus of the hub is down: start it.',
  ],
  [
    'query-timeout',
    [
      ['speak', { utterance: 'Wait.' }],
      ['hive.query.timeout', {}],
    ],
    'Wait.',
    'The other hubs have not answered in time. Ask again. Check whether the hubs that this hub asks are running.',
  ],
];

for (const [ending, messages, text, message] of ENDINGS) {
  const what = `an answer that is ${ending}, with ${text === '' ? 'no text' : `the text “${text}”`}`;
  test(`ask and chat tell ${what}, and exit with ${message === undefined ? 0 : 1}`, async () => {
    const there = await playHub('hub-1', (event, say) => {
      if (event.type !== 'message') return;
      for (const [type, data] of messages) say(type, data);
      say('ovos.utterance.handled', {});
    });
    const code = message === undefined ? 0 : 1;
    const expectsAnswer = text.endsWith('?');
    const shown = { ending, text, expectsAnswer, ...(message !== undefined && { message }) };
    const asked = await run(['ask', there, 'hello', '--json', '--allow-plaintext']);
    const { disclosure, ...answer } = JSON.parse(asked.stdout);
    assert.equal([asked.code, answer], [code, shown]);
    const chatted = await run(['chat', there, '--json', '--allow-plaintext'], 'hello\n');
    const { answers } = JSON.parse(chatted.stdout);
    assert.equal([chatted.code, answers], [code, [{ question: 'hello', ...shown }]]);
    const lines = [text, message ?? (text === '' ? 'The answer has no text.' : '')];
    const { stdout } = await runHere(['ask', there, 'hello', '--allow-plaintext']);
    assert.is(stdout, lines.map((line) => (line === '' ? '' : `${line}\n`)).join(''));
  });
}

test('ask and chat say that an answer is incomplete', async () => {
  const there = await playHub('hub-1', (event, say, socket) => {
    if (event.type !== 'message') return;
    say('speak', { utterance: 'One moment.' });
    setTimeout(() => socket.terminate(), 50);
  });
  const sentence =
    'The connection ended before the answer was complete. Ask again. Check the network, and what stands between this client and the hub.';
  const asked = await runHere(['ask', there, 'hello', '--allow-plaintext']);
  assert.equal([asked.code, asked.stdout], [1, `One moment.\n${sentence}\n`]);
  const { code, stdout, stderr } = await runHere(['chat', there, '--allow-plaintext'], 'hello\n');
  assert.equal([code, stdout], [1, 'One moment.\n']);
  assert.match(stderr, sentence);
});

const QUESTION = 'Type yes only then: ';

/** Answers to the question, and whether the other key is trusted. After the last one the key is the pinned one. */
const ANSWERS: readonly (readonly [keys: string, isTrusted: boolean])[] = [
  ...(
    ['y\r', 'YES\r', 'yes please\r', ' yes\r', 'no\r', '\r', 'ye\u007f\r', '\u0003', '\u0004'] as const
  ).map((keys) => [keys, false] as const),
  ['yes\r', true],
];

test('a yes that comes before the question, or through a pipe, does not make ask trust another key', async () => {
  await hub.stop();
  hub.changeKey();
  await hub.start();
  const issued = folder.at('early.keyring.json');
  copyFileSync(folder.at('hub/identity.keyring.json'), issued);
  forgetPsk(issued);
  mayEnd = () => shownOnTerminal().includes('yes');
  const typed = await runOnTerminal(
    ['ask', identity, 'hello', '--keyring', issued],
    [
      ['█', 'yes\r'],
      [QUESTION, '\u0004'],
    ],
  );
  assert.is(typed.code, 1, typed.stdout);
  assert.is((await run(['ask', identity, 'hello'], 'yes\n')).code, 1);
});

for (const [keys, isTrusted] of ANSWERS) {
  const outcome = isTrusted ? 'makes ask trust another key' : 'does not';
  test(`the answer ${JSON.stringify(keys)} ${outcome}, and the question is not on standard output`, async () => {
    const { code, stdout, stderr } = await runOnTerminal(
      ['ask', identity, 'hello'],
      [[QUESTION, keys]],
      80,
      true,
    );
    assert.is(code, isTrusted ? 0 : 1, keys);
    assert.match(stderr, /presents the key [0-9a-f]{16}, and [0-9a-f]{16} is pinned/);
    assert.ok(stderr.includes(QUESTION));
    if (isTrusted) assert.match(stdout, /^Hello\. .*\n$/);
    else assert.match(stdout, /^The hub [^\n]*presents the key[^\n]*\n$/, keys);
  });
}

/** Removes the PSKs from the file of a keyring, so that the client derives one. */
function forgetPsk(path: string): void {
  writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), psks: [] }), {
    mode: 0o600,
  });
}

test('a "yes" addressed to the hub does not make chat trust another key', async () => {
  await hub.stop();
  hub.changeKey();
  await hub.start();
  const { code, stdout } = await runOnTerminal(
    ['chat', identity],
    [
      ['> ', 'yes'],
      [QUESTION, '\r'],
      ['> ', 'hello\r'],
      ['presents the key', '\u0004'],
    ],
  );
  assert.is(code, 1);
  assert.not.match(stdout, /Hello\.|yyee|connected/);
  assert.ok(linesOf(stdout).includes('connecting again'), stdout); // at once
});

test('chat into a file does not ask whether to trust another key, neither there nor out of sight', async () => {
  const { stdout, stderr } = await runOnTerminal(
    ['chat', identity],
    [['presents the key', '\u0004']],
    80,
    true,
  );
  assert.is(stdout, '');
  assert.not.ok(stderr.includes(QUESTION), stderr);
});

test('yes makes chat trust another key, and is not a question for the hub', async () => {
  const { code, stdout } = await runOnTerminal(
    ['chat', identity],
    [
      [QUESTION, 'yes\r'],
      ['connected', 'hello\r'],
      ['Hello.', '\u0004'],
    ],
  );
  assert.is(code, 0);
  assert.not.match(stdout, /You said: yes|yyee/);
  assert.is(stdout.split('presents the key').length, 2); // it is told once
});

test('yes makes ask trust another key, and ask again', async () => {
  await hub.stop();
  hub.changeKey();
  await hub.start();
  const { code, stdout } = await runOnTerminal(['ask', identity, 'parrot'], [[QUESTION, 'yes\r']]);
  assert.is(code, 0);
  assert.match(stdout, /You said: parrot\r\n$/);
});

/** The identity of a hub that has another key than the pinned one, and accepts one connection. */
async function changedHub(connected: () => void = () => {}): Promise<string> {
  const there = await playHub('hub-1', stopListening, connected);
  const keyring = there.replace('.json', '.keyring.json');
  const stored = JSON.parse(readFileSync(keyring, 'utf8'));
  const pins = [{ node_id: 'hub-1', key: '22'.repeat(32) }];
  writeFileSync(keyring, JSON.stringify({ ...stored, pins }));
  return there;
}

test('chat says which keyring could not store another key that a person has trusted, why, and what to do', async () => {
  const keyring = folder.at('there.keyring.json');
  const there = await changedHub(() => {
    rmSync(keyring);
    mkdirSync(keyring); // what was read cannot be replaced
  });
  const { code, stdout } = await runOnTerminal(
    ['chat', there, '--allow-plaintext'],
    [
      [QUESTION, 'yes\r'],
      [
        `${keyring}: the keyring cannot be read (EISDIR): its path is that of a folder. Name a file in it.`,
        '\u0004',
      ],
    ],
  );
  rmSync(keyring, { recursive: true });
  assert.is(code, 0, stdout);
});

test('ask says that a hub is gone whose new key was trusted', async () => {
  const args = ['ask', await changedHub(), 'hello', '--allow-plaintext'];
  const { code, stdout } = await runOnTerminal(args, [[QUESTION, 'yes\r']]);
  assert.is(code, 1);
  assert.match(stdout, /Nothing listens at /);
});

test('ask puts no question where nobody can read it, or answer it', async () => {
  for (const isTTY of [true, false]) {
    const args = ['ask', await changedHub(), 'hello', '--allow-plaintext', '--json'];
    const { code, stdout } = await replacing(process.stdin, { isTTY }, () =>
      replacing(process.stderr, { isTTY: !isTTY }, () => run(args)),
    );
    assert.equal([code, JSON.parse(stdout).error], [1, 'hub-key-changed']);
  }
});

test('the hub of the command tells the time and the day of this machine', () => {
  const { TZ } = process.env;
  const timeZone = 'Pacific/Kiritimati'; // 14 hours before UTC
  process.env.TZ = timeZone;
  try {
    const shown = (): string[] => {
      const at = (options: object): string =>
        new Intl.DateTimeFormat('en-GB', { timeZone, ...options }).format();
      return [`It is ${at({ hour: '2-digit', minute: '2-digit' })}.`, at({ day: '2-digit' })];
    };
    const before = shown();
    const said = [answerTo('Time?'), answerTo('Which day?').slice(-8, -6)];
    assert.ok(
      [before, shown()].some((now) => now.join() === said.join()),
      said.join(),
    );
  } finally {
    if (TZ === undefined) delete process.env.TZ;
    else process.env.TZ = TZ;
  }
});

for (const [question, answer] of [
  ['What time is it?', /^It is \d\d:\d\d\.$/],
  ['Time, please', /^It is \d\d:\d\d\.$/],
  ['Which date is it?', /^Today is [A-Z]\w\w [A-Z]\w\w \d\d \d{4}\.$/],
  ['What day is it today?', /^Today is /],
  ['HELLO', /^Hello\. Ask me what time it is\.$/],
  ['hi', /^Hello\./],
  ['today', /^Today is /],
  ['Hello, what time is it today?', /^It is /],
  ['good morning', /^Hello\./],
  ['Good evening!', /^Hello\./],
  ['Who are you?', /^I am the hub of hub-protocol-cli, and I run on your machine\.$/],
  ['what are you', /^I am the hub/],
  ['Tell me a joke', /^I would tell you a UDP joke, but you might not get it\.$/],
  ['Make me laugh', /^I would tell you/],
  ['help', /^I know the time, the day and a joke\. I repeat everything else\.$/],
  // A part of a word is not the word.
  ...['sometimes', 'daylight', 'this', 'goods', 'jokers', 'helpful'].map(
    (word) => [word, new RegExp(`^You said: ${word}$`)] as const,
  ),
] as const) {
  test(`the hub of the command has an answer to “${question}”`, () => {
    assert.match(answerTo(question), answer);
  });
}

test('a progress bar that is full is removed, and leaves Ctrl+C to the program', () => {
  const listeners = process.listeners('SIGINT');
  onTerminal((written) => {
    show(0.5, 'deriving');
    assert.is(process.listeners('SIGINT').length, listeners.length + 1);
    show(1, 'deriving');
    assert.equal(process.listeners('SIGINT'), listeners);
    assert.is(written().at(-1), '\r\u001b[K');
  });
});

test('Ctrl+C during a derivation removes the progress bar, and is passed on', () => {
  const listeners = process.listeners('SIGINT');
  const killed: unknown[] = [];
  onTerminal((written) => {
    show(0.5, 'deriving');
    const kill = (...given: unknown[]): unknown => killed.push(given);
    replacing(process, { kill }, () => process.listeners('SIGINT').at(-1)!('SIGINT'));
    assert.equal(killed, [[process.pid, 'SIGINT']]);
    assert.equal(process.listeners('SIGINT'), listeners);
    assert.is(written().at(-1), '\r\u001b[K');
    show(1, 'deriving');
  });
});

test('chat shows the prompt again after a derivation, with what was typed meanwhile', async () => {
  const keyring = folder.at('derived.keyring.json');
  copyFileSync(folder.at('hub/identity.keyring.json'), keyring);
  forgetPsk(keyring);
  mayEnd = () => shownOnTerminal().includes('par');
  const { code, stdout } = await runOnTerminal(
    ['chat', identity, '--keyring', keyring],
    [
      ['█', 'par'],
      ['connected to hub.localhost', 'rot\r'],
      ['You said: parrot', '\u0004'],
    ],
  );
  assert.is(code, 0, stdout);
  const lines = linesOf(stdout);
  const bars = lines.map((line) => /[█░]/.test(line)).lastIndexOf(true);
  assert.is(
    lines.slice(bars + 1).find((line) => line !== ''),
    '> par',
  );
});

test('chat writes what happens above all lines of what was typed', async () => {
  const keyring = folder.at('above.keyring.json');
  copyFileSync(folder.at('hub/identity.keyring.json'), keyring);
  forgetPsk(keyring);
  const steps = [
    ['█', 'x'.repeat(50)],
    ['connected to hub.localhost', '\u0003'],
  ] as const;
  mayEnd = () => shownOnTerminal().includes('x'.repeat(10));
  const { stdout } = await runOnTerminal(['chat', identity, '--keyring', keyring], steps, 40);
  const up = '\u001b[1A\u001b[1G\u001b[0J'; // to the first of two lines
  assert.ok(stdout.includes(`${up}connected to hub.localhost`), JSON.stringify(stdout));
});

test('chat writes what happens from the first column of the terminal', async () => {
  const { stdout } = await runOnTerminal(['chat', identity], [['connected to hub.localhost', '\u0004']]);
  assert.ok(stdout.includes('\u001b[1G\u001b[0Jconnected to hub.localhost'), JSON.stringify(stdout));
});

test.run();

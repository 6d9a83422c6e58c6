/** `hub-protocol hub` and `ask`: a conversation in two commands, in an empty folder. */
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, Server } from 'node:net';
import { authorizedUrl } from 'hub-protocol';
import { bytesToHex, fingerprint, hexToBytes, nodeCrypto } from 'hub-protocol-judge/internals';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { WebSocket } from 'ws';
import { until } from '../client/world.ts';
import { freePort } from '../world/free-port.ts';
import { replacing } from '../world/replacing.ts';
import { HubProgram } from './hub-program.ts';
import { deriveQuickly, Folder, run, runHere, runProgram } from './run.ts';

const test = suite('a conversation');
const folder = new Folder();
const identity = folder.at('hub/identity.json');
const hub = new HubProgram(folder.at('hub'));

const port = await freePort();
let mayDerive = (): boolean => true;
const deriveAgain = deriveQuickly(() => mayDerive());
test.after(async () => {
  deriveAgain();
  hub.kill();
  folder.remove();
});

test('a hub makes an identity, answers, and is the same one when it is started again', async () => {
  await hub.start('--port', String(port));
  for (const file of ['identity.json', 'ca.pem', 'hub.json']) {
    assert.is(statSync(folder.at(`hub/${file}`)).mode & 0o777, 0o600);
  }
  const { staticKey } = JSON.parse(readFileSync(folder.at('hub/hub.json'), 'utf8'));
  const hubKey = fingerprint(new Uint8Array(nodeCrypto.x25519.publicKey(hexToBytes(staticKey)!)));
  const said = `\
the hub hub.localhost is at wss://localhost:${port}, and its key is ${hubKey}

the identity of its client is in ${identity}. In another terminal:

    npx hub-protocol-cli ask ${identity} "What time is it?"
    npx hub-protocol-cli chat ${identity}

Ctrl+C ends the hub.
`;
  await hub.prints('ends the hub');
  assert.is(hub.printed.trim(), said.trim());
  assert.is(statSync(folder.at('hub')).mode & 0o777, 0o700);
  const asked = await runProgram(['ask', identity, 'What day is it?']);
  assert.is(asked.code, 0, asked.stderr);
  assert.match(asked.stdout, /^Today is \w+/);
  const { static_key } = JSON.parse(readFileSync(folder.at('hub/identity.keyring.json'), 'utf8'));
  const key = bytesToHex(nodeCrypto.x25519.publicKey(hexToBytes(static_key)!));
  const stored = JSON.parse(readFileSync(folder.at('hub/hub.json'), 'utf8'));
  assert.is(stored.clientKey, key); // at once: the hub may be killed
  const pinned = `pinned the client with the key ${fingerprint(hexToBytes(key)!)}\n`;
  const heard = `heard "What day is it?", and answered ${JSON.stringify(asked.stdout.trim())}\n`;
  await hub.prints(heard);
  assert.is(hub.printed.replace(/^\s+/, '').replace(said.trim(), '').trimStart(), pinned + heard);
  const { access_key, password, ...issued } = JSON.parse(readFileSync(identity, 'utf8'));
  for (const secret of [access_key, password]) assert.match(secret, /^[\w-]{24}$/); // 18 bytes
  assert.is.not(access_key, password);
  assert.match(issued.ai_disclosure.en, /^You are talking to a program that .* emergency decisions\.$/);
  assert.match(issued.ai_disclosure.fr, /^Vous parlez à un programme qui .* ou urgentes\.$/);
  delete issued.ai_disclosure;
  assert.equal(issued, { site_id: 'home', data_plane_endpoints: { wss: `wss://localhost:${port}` } });
  const names = ['port', 'accessKey', 'psk', 'tls', 'staticKey', 'clientKey'];
  assert.equal([Object.keys(stored), stored.accessKey, stored.port], [names, access_key, port]);
  assert.not.ok(readFileSync(folder.at('hub/hub.json'), 'utf8').includes(password));
  assert.is(await hub.stop(), 0);
  await hub.start();
  const other = await run(['ask', identity, 'hello', '--keyring', folder.at('first.json')]);
  assert.equal([other.code, /refused/.test(other.stdout)], [1, true]); // although it comes first
  const again = await run(['ask', identity, 'parrot', '--json']);
  const { disclosure, ...answer } = JSON.parse(again.stdout);
  assert.equal(answer, { ending: 'handled', text: 'You said: parrot', expectsAnswer: false });
});

test('ask prints the AI disclosure of the identity once, before the answer, in the language of the questions', async () => {
  const { ai_disclosure, ...issued } = JSON.parse(readFileSync(identity, 'utf8'));
  const asked = await runHere(['ask', identity, 'parrot']);
  assert.equal([asked.stderr, asked.stdout], [`${ai_disclosure.en}\n`, 'You said: parrot\n']);
  const inFrench = await runHere(['ask', identity, 'perroquet', '--lang', 'fr-ca', '--json']);
  assert.is(inFrench.stderr, `${ai_disclosure.fr}\n`);
  assert.equal(JSON.parse(inFrench.stdout).disclosure, { language: 'fr', text: ai_disclosure.fr });
  const keyring = ['--keyring', folder.at('hub/identity.keyring.json')];
  for (const [language, name, there] of [
    ['fr', 'French', { en: 'An AI answers.' }],
    ['en', 'English', { fr: 'Une IA répond.' }],
  ] as const) {
    const other = folder.write('hub/other.json', { ...issued, ai_disclosure: there });
    const missing = await run(['ask', other, 'perroquet', '--lang', language, '--json', ...keyring]);
    const { disclosure, text } = JSON.parse(missing.stdout);
    assert.equal([disclosure, text], [{ language }, 'You said: perroquet']);
    const { stderr } = await runHere(['ask', other, 'perroquet', '--lang', language, ...keyring]);
    assert.is(stderr, `${other} has no text in ${name} that says that an AI answers (ai_disclosure)\n`);
  }
});

test('ask accepts a question without quotes, or on standard input', async () => {
  const words = await runHere(['ask', identity, 'two', 'parrots']);
  assert.equal([words.code, words.stdout], [0, 'You said: two parrots\n']);
  const dash = await runHere(['ask', identity, '-', 'parrot'], 'parrots\n');
  assert.equal([dash.code, dash.stdout], [0, 'You said: - parrot\n']);
  const piped = await runProgram(['ask', identity, '-'], 'parrots\n');
  assert.equal([piped.code, piped.stdout], [0, 'You said: parrots\n']);
  await hub.prints('heard "parrots"'); // without the line feed
  const latin1 = await runProgram(['ask', identity, '-'], Uint8Array.of(0x70, 0xe9));
  assert.equal([latin1.code, latin1.stdout], [2, '']);
  assert.match(latin1.stderr, /is not UTF-8/);
});

test('ask says what to do if the client’s key is not the pinned one', async () => {
  for (let attempt = 1; attempt <= 2; attempt++) {
    const { code, stdout } = await run(['ask', identity, 'hi', '--keyring', folder.at('another.json')]);
    assert.is(code, 1);
    assert.match(
      stdout,
      /^The connection was refused when this client had shown its key, [0-9a-f]{16}\. .*another key, .*: ask its operator/,
    );
  }
});

test('the authority file next to an identity is trusted only if the hub wrote it', async () => {
  const [ca, stored] = [folder.at('hub/ca.pem'), folder.at('hub/hub.json')];
  const isTrusted = async (): Promise<boolean> => {
    const { stdout, stderr } = await runHere(['ask', identity, 'parrot']);
    const isAnswered = stdout === 'You said: parrot\n';
    assert.is(stderr.includes(`${ca} is not trusted`), !isAnswered && existsSync(ca));
    if (!isAnswered) assert.match(stdout, '(--ca)');
    return isAnswered;
  };
  assert.ok(await isTrusted());
  for (const path of [ca, stored]) {
    chmodSync(path, 0o644); // as a browser stores a file
    assert.not.ok(await isTrusted());
    chmodSync(path, 0o600);
  }
  for (const path of [ca, stored]) {
    renameSync(path, `${path}.away`);
    assert.not.ok(await isTrusted());
    symlinkSync(`${path}.away`, path); // as an archive may have them
    assert.not.ok(await isTrusted());
    renameSync(`${path}.away`, path);
  }
  assert.ok(await isTrusted());
});

test('the hub prints received text without cursor control characters', async () => {
  await runHere(['ask', identity, 'a\u001b[2Jb']);
  assert.ok(hub.printed.includes('heard "a\\u001b[2Jb"'));
  assert.not.ok(hub.printed.includes('\u001b'));
});

test('reports that the hub’s port is in use, and writes nothing', async () => {
  const files = ['identity.json', 'ca.pem', 'hub.json'];
  const read = (): string[] => files.map((name) => readFileSync(folder.at(`hub/${name}`), 'utf8'));
  const before = read();
  for (const name of ['new', 'hub']) {
    const { code, stdout, stderr } = await run(['hub', folder.at(name), '--port', String(port)]);
    assert.equal([code, stdout], [2, '']);
    assert.match(stderr, new RegExp(`^hub-protocol: port ${port} is in use: [^\\n]*--port\\n$`));
  }
  assert.not.ok(existsSync(folder.at('new')));
  const { stderr } = await run(['hub', folder.at('hub')]); // its own port
  assert.match(stderr, /is in use/);
  assert.equal(read(), before);
});

test('a hub that cannot write its files ends, and does not listen any more', async () => {
  writeFileSync(folder.at('file'), '');
  const port = await freePort();
  const { code, stderr } = await run(['hub', folder.at('file/hub'), '--port', String(port)]);
  assert.is(code, 2);
  assert.match(stderr, /a part of its path is not a directory/);
  const next = createServer().listen(port, '127.0.0.1');
  await once(next, 'listening'); // an error if the port is in use
  next.close();
});

test('a hub whose folder has one of its files already writes none of the others', async () => {
  mkdirSync(folder.at('half'), { mode: 0o700 });
  folder.write('half/ca.pem', 'mine');
  const { code, stderr } = await run(['hub', folder.at('half'), '--port', String(await freePort())]);
  assert.is(code, 2);
  assert.match(stderr, /ca\.pem exists, and .*hub\.json does not: name another folder/);
  assert.equal(readdirSync(folder.at('half')), ['ca.pem']);
});

test('a hub that could write only some of its files leaves no hub.json, which would make its folder complete', async () => {
  mayDerive = () => existsSync(folder.at('torn/ca.pem'));
  const started = run(['hub', folder.at('torn'), '--port', String(await freePort())]);
  await until(() => existsSync(folder.at('torn'))); // it has found none of its files, and derives the PSK
  folder.write('torn/ca.pem', 'mine');
  const { code, stderr } = await started;
  assert.is(code, 2);
  mayDerive = () => true;
  assert.match(stderr, /ca\.pem exists/);
  assert.equal(readdirSync(folder.at('torn')).sort(), ['ca.pem', 'identity.json']);
});

test('a hub with another --port moves there, with its identity', async () => {
  await hub.stop();
  const issued = JSON.parse(readFileSync(identity, 'utf8'));
  writeFileSync(identity, JSON.stringify({ ...issued, site_id: 'kitchen' }));
  const moved = await freePort();
  await hub.start('--port', String(moved));
  assert.match(hub.printed, new RegExp(`moved from port ${port} to ${moved}`));
  const { site_id, data_plane_endpoints } = JSON.parse(readFileSync(identity, 'utf8'));
  assert.equal([site_id, data_plane_endpoints.wss], ['kitchen', `wss://localhost:${moved}`]);
  const { code, stdout } = await runHere(['ask', identity, 'parrot']);
  assert.equal([code, stdout], [0, 'You said: parrot\n']);
  assert.is(await hub.stop('SIGTERM'), 0);
  await hub.start(); // which remembers the port
  assert.match(hub.printed, new RegExp(`is at wss://localhost:${moved},`));
});

test('a hub moves to another --port although its identity is elsewhere', async () => {
  const other = new HubProgram(folder.at('other'));
  await other.start('--port', String(await freePort()));
  await other.stop();
  rmSync(folder.at('other/identity.json'));
  await other.start('--port', String(await freePort()));
  assert.match(other.printed, /moved from port/);
  await other.stop();
});

/** Connects to the hub with the access key of an identity, says something, and leaves. */
async function knock(accessKey: string, ...messages: string[]): Promise<void> {
  const url = `wss://localhost:${JSON.parse(readFileSync(folder.at('hub/hub.json'), 'utf8')).port}`;
  const ca = readFileSync(folder.at('hub/ca.pem'));
  const socket = new WebSocket(authorizedUrl(url, 'test', accessKey), { ca });
  const closed = once(socket, 'close');
  await Promise.race([once(socket, 'message'), closed]); // a stranger gets no message
  for (const message of messages) socket.send(message);
  socket.close();
  await closed;
}

test('the hub says in a line why a client could not connect', async () => {
  const issued = JSON.parse(readFileSync(identity, 'utf8'));
  const ca = folder.at('hub/ca.pem');
  const files = { stranger: { access_key: 'of-another-hub' }, mistaken: { password: 'wrong' } };
  for (const [name, fields] of Object.entries(files)) {
    const path = folder.write(`${name}.json`, { ...issued, ...fields });
    await run(['ask', path, 'hello', '--ca', ca]);
  }
  await run(['ask', identity, 'hello', '--keyring', folder.at('lost.json')]);
  await knock(issued.access_key);
  await knock(issued.access_key, '{"msg_type":"shake","payload":{"envelope":"secret of an older client"}}');
  await knock(issued.access_key, '{"secret');
  for (const line of [
    'this hub does not know its access key',
    'it left after message 2: its password is wrong, or it was “doctor”, which leaves there',
    `it has another static key than the pinned one. To admit it, remove clientKey from ${folder.at('hub/hub.json')}, and start the hub again`,
    'it left without a handshake: it only looked, has an older protocol, or refuses this hub',
    'it has an older protocol: update it',
    'it sent what no client of protocol 3 sends (bad-json)',
  ]) {
    await hub.prints(`a client could not connect: ${line}\n`);
  }
  for (const secret of ['secret', issued.access_key, 'of-another-hub']) {
    assert.not.ok(hub.printed.includes(secret), secret);
  }
});

test('the hub says that a client has other keys, and why it could not store the key of another', async () => {
  await hub.stop();
  const path = folder.at('hub/hub.json');
  const stored = readFileSync(path, 'utf8');
  writeFileSync(path, JSON.stringify({ ...JSON.parse(stored), psk: '11'.repeat(32) }));
  await hub.start();
  const { code } = await run(['ask', identity, 'hello']);
  assert.is(code, 1);
  await hub.prints(
    'a client could not connect: its password, its keys or its pin of this hub have changed: the next attempt shows which\n',
  );
  await hub.stop();
  const { clientKey: _, ...unpinned } = JSON.parse(stored);
  writeFileSync(path, JSON.stringify(unpinned));
  await hub.start();
  chmodSync(folder.at('hub'), 0o777); // so the hub cannot store the client's key
  try {
    await run([
      'ask',
      identity,
      'hello',
      '--ca',
      folder.at('hub/ca.pem'),
      '--keyring',
      folder.at('fresh.json'),
    ]);
    await hub.stop(); // it says nothing more
    const [, ...said] = hub.printed.split('a client could not connect: ');
    assert.is(said.length, 1); // the client is not blamed
    assert.match(said[0]!, /^others may write to the directory [^\n]*: chmod go-w it, or choose another\n$/);
    assert.not.match(hub.printed, /pinned/);
    assert.equal(JSON.parse(readFileSync(path, 'utf8')), unpinned);
  } finally {
    chmodSync(folder.at('hub'), 0o700);
    writeFileSync(path, stored);
    await hub.start();
  }
});

/** Runs the hub in this process. `print` gets each text that it prints, and `body` reads all of them. */
async function hubHere(
  print: (text: string) => void,
  body: (printed: () => string) => Promise<void>,
): Promise<void> {
  await hub.stop();
  let printed = '';
  const write = (text: string): boolean => {
    printed += text;
    print(text);
    return true;
  };
  await replacing(process.stdout, { write }, async () => {
    const ended = run(['hub', folder.at('hub')]);
    await until(() => printed.includes('Ctrl+C ends the hub.\n\n'));
    await body(() => printed).finally(() => process.emit('SIGINT'));
    assert.equal(await ended, { code: 0, stdout: '', stderr: '' });
  });
  await hub.start();
}

test('the hub says that it could not handle what a client sent', async () => {
  await hubHere(
    (text) => assert.not.ok(text.startsWith('heard')),
    async (printed) => {
      assert.is((await run(['ask', identity, 'hello'])).code, 1);
      assert.match(printed(), /"\nended a connection that sent something it could not handle\n$/);
    },
  );
});

test('the hub prints no more than ten refusals in a minute', async () => {
  const refusal = 'a client could not connect: this hub does not know its access key\n';
  await hubHere(
    () => {},
    async (printed) => {
      const { length } = printed();
      for (let i = 0; i < 12; i++) await knock('of-another-hub');
      const said = `${refusal.repeat(10)}for a minute from the first of these, no more are shown\n`;
      assert.is(printed().slice(length), said);
      const now = performance.now() + 61_000;
      await replacing(performance, { now: () => now }, () => knock('of-another-hub'));
      assert.ok(printed().endsWith(`no more are shown\n${refusal}`), printed());
    },
  );
});

test('ask says that the password is wrong, with the fingerprint that the operator sees', async () => {
  const issued = JSON.parse(readFileSync(identity, 'utf8'));
  const wrong = folder.write('wrong.json', { ...issued, password: 'wrong' });
  const { code, stdout } = await run(['ask', wrong, 'hello', '--ca', folder.at('hub/ca.pem')]);
  const { static_key } = JSON.parse(readFileSync(folder.at('wrong.keyring.json'), 'utf8'));
  assert.is(code, 1);
  assert.match(stdout, /^The hub’s answer does not fit the password/);
  const own = nodeCrypto.x25519.publicKey(hexToBytes(static_key.private_key ?? static_key)!);
  assert.ok(stdout.includes(fingerprint(new Uint8Array(own))));
});

test('ask shows both fingerprints when the hub has another key, and connects to it no more', async () => {
  await hub.stop();
  hub.changeKey();
  await hub.start();
  const { code, stdout } = await runHere(['ask', identity, 'hello']);
  assert.is(code, 1);
  assert.match(stdout, /presents the key [0-9a-f]{16}, and [0-9a-f]{16} is pinned/);
});

test('ask says when no hub is there', async () => {
  await hub.stop();
  const { code, stdout } = await runHere(['ask', identity, 'hello']);
  assert.is(code, 1);
  assert.match(stdout, /^Nothing listens at localhost:\d+, or/);
  const { stdout: json } = await runHere(['ask', identity, 'hello', '--json']);
  assert.equal(JSON.parse(json), { error: 'not-reachable', message: stdout.trim() });
});

/** A hub that does not refuse its arguments cannot start there either, so that no test waits for its end. */
const NO_FOLDER = '/dev/null/hub';

test('a hub listens on port 5679 unless it is told otherwise', async () => {
  const taken = createServer().listen(5679, '127.0.0.1');
  await once(taken, 'listening').catch(() => {}); // another program has it
  try {
    const { code, stderr } = await run(['hub', NO_FOLDER]);
    const said =
      'port 5679 is in use: end the other hub or program that uses it, or choose another with --port';
    assert.equal([code, stderr], [2, `hub-protocol: ${said}\n`]);
  } finally {
    taken.close();
  }
});

test('a hub listens for this machine alone, and says which port it cannot listen on, and why', async () => {
  let given: unknown[] = [];
  const listen = function (this: Server, ...args: unknown[]) {
    given = args;
    const denied = Object.assign(new Error('denied'), { code: 'EACCES', syscall: 'listen' });
    queueMicrotask(() => this.emit('error', denied));
    return this;
  };
  const { code, stderr } = await replacing(Server.prototype, { listen }, () =>
    run(['hub', NO_FOLDER, '--port', '80']),
  );
  assert.equal(given, [80, '127.0.0.1']); // for this machine alone
  const said = 'cannot listen on port 80 (EACCES): choose another with --port';
  assert.equal([code, stderr], [2, `hub-protocol: ${said}\n`]);
});

test('a damaged hub folder is left unchanged, also the one that is taken by default', async () => {
  const path = folder.at('hub/hub.json');
  const stored = JSON.parse(readFileSync(path, 'utf8'));
  const damaged = [
    ...['', '{', 'null', '[]', '{}'],
    ...[{ psk: 'short' }, { psk: 7 }, { staticKey: undefined }, { clientKey: 'short' }, { accessKey: 7 }].map(
      (changed) => JSON.stringify({ ...stored, ...changed }),
    ),
  ];
  const there = process.cwd();
  process.chdir(folder.path);
  try {
    for (const contents of damaged) {
      writeFileSync(path, contents);
      const { code, stderr } = await run(['hub']);
      const said =
        'hub/hub.json is not what this command has written: name another folder, or remove this one';
      assert.equal([code, stderr], [2, `hub-protocol: ${said}\n`], contents);
      assert.is(readFileSync(path, 'utf8'), contents);
    }
  } finally {
    process.chdir(there);
  }
  rmSync(folder.at('hub'), { recursive: true });
});

test.run();

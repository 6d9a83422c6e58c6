/** The judge as a program: its output and exit status for adapters that are right, wrong, broken or missing. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { AdapterError, type Fields, parseResponse } from '../../judge/src/adapter.ts';
import { OPERATIONS } from '../../judge/src/checks/checks.ts';
import { credentialsOf } from '../../judge/src/live/credentials.ts';
import { main } from '../../judge/src/main.ts';
import { parseOptions } from '../../judge/src/options.ts';
import { runVectors } from '../../judge/src/run-vectors.ts';
import { vectorsId } from '../../judge/src/vectors.ts';
import { startClient } from './peers.ts';

const CLI = fileURLToPath(new URL('../../judge/dist/cli.js', import.meta.url));
const test = suite('judge');
let folder = '';

test.before.each(() => {
  folder = mkdtempSync(join(tmpdir(), 'judge-'));
});
test.after.each(() => rmSync(folder, { recursive: true }));

interface Run {
  code: number;
  stdout: string;
  stderr: string;
}

const start = (...args: string[]) => spawn(process.execPath, [CLI, ...args]);

/** Runs the judge in this process. */
async function run(...args: string[]): Promise<Run> {
  const output = { stdout: '', stderr: '' };
  const writers = (['stdout', 'stderr'] as const).map((name) => {
    const { write } = process[name];
    const keep = (text: string): boolean => {
      output[name] += text;
      return true;
    };
    Object.assign(process[name], { write: keep });
    return () => Object.assign(process[name], { write });
  });
  try {
    const code = await main(args);
    return { code, ...output };
  } finally {
    for (const restore of writers) restore();
  }
}

/** Judges an adapter in JavaScript. `code` handles each request. */
function judge(code: string, ...options: string[]): Promise<Run> {
  const adapter = `
    require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const request = JSON.parse(line);
      const say = (fields) => console.log(JSON.stringify({ id: request.id, ...fields }));
      ${code}
    });`;
  return run('--report', folder, ...options, '--', process.execPath, '-e', adapter);
}

interface Report {
  passed: boolean;
  summary: { passed: number; failed: number; declined: number }[];
  verdicts: { result: string; failure?: { difference: { got: string } } }[];
}

const report = (): Report => JSON.parse(readFileSync(join(folder, 'judge.json'), 'utf8'));

/** What the report says that it got, for each test that failed. */
const failures = (): string[] =>
  report().verdicts.flatMap(({ result, failure }) => (result === 'failed' ? [failure!.difference.got] : []));

const COUNT = JSON.parse(
  readFileSync(new URL('../../vectors/negotiation.json', import.meta.url), 'utf8'),
).numberOfTests;
const SELECT = ['--only', 'select'];
const DECLINE = 'say({ declined: true });';
/** Selection done right, in a few lines. */
const RIGHT = `
  const { patterns, suites, own, pinned } = request;
  const suite = own.find((name) => suites.includes(name));
  const pattern = pinned && patterns.includes('KKpsk0') ? 'KKpsk0' : patterns.find((name) => name === 'XXpsk2');
  if (!suite) say({ error: 'no-common-suite' });
  else if (!pattern) say({ error: 'no-common-pattern' });
  else say({ pattern, suite, protocolName: 'Noise_' + pattern + '_' + suite });`;

/** Answers the tests after the first as these lines of code do, and the others right. The first request asks what it is. */
function answering(codes: readonly string[]): string {
  const cases = codes.map((code, i) => `case ${i + 3}: { ${code} break; }`);
  return `switch (request.id) { ${cases.join(' ')} default: { ${RIGHT} } }`;
}

const NOISY = `console.error('a word'); ${RIGHT}`;

test('passes a correct adapter, and exits with 0', async () => {
  const { code, stdout, stderr } = await judge(NOISY, ...SELECT);
  assert.is(code, 0, stderr);
  assert.not.match(stderr, /a word/);
  assert.match(stdout, new RegExp(`select +${COUNT} +0 +0\n`));
  assert.equal(report().summary, [{ operation: 'select', passed: COUNT, failed: 0, declined: 0 }]);
  assert.is(report().passed, true);
});

test('shows the expected and the actual value, and exits with 1', async () => {
  const { code, stdout } = await judge(RIGHT.replace('pinned &&', ''), ...SELECT);
  assert.is(code, 1);
  assert.match(stdout, /FAILED \d+ of select/);
  assert.match(stdout, /pattern, differs at 0\n +expected "XXpsk2".*\n +got +"KKpsk0"/);
});

test('counts what an adapter declines, exits with 2 if that is everything, and says how to begin', async () => {
  const { code, stdout } = await judge(DECLINE, ...SELECT);
  assert.is(code, 2);
  assert.match(stdout, /Nothing was tested.*: implement select\n/);
  assert.match(stdout, new RegExp(`select +0 +0 +${COUNT}\n`));
  assert.is(report().passed, false);
});

test('restarts an adapter that crashed, and fails only that test', async () => {
  const dies = `if (request.id % 12 === 0) process.exit(1);`;
  const { code, stdout } = await judge(`${dies} ${RIGHT}`, ...SELECT);
  assert.is(code, 1);
  assert.match(stdout, /got +exited without a response/);
  const { passed, failed } = report().summary[0]!;
  assert.is(failed, Math.floor(COUNT / 12));
  assert.is(passed, COUNT - failed);
});

test('waits for a response as long as --timeout says', async () => {
  const { code, stdout } = await judge(`if (request.id !== 3) { ${RIGHT} }`, ...SELECT, '--timeout', '3');
  assert.is(code, 1);
  assert.match(stdout, /no response within 3 s/);
});

test('shows no control character of an adapter, in text or in the report', async () => {
  const hostile = '\\u001b[31m\\u009b\\u202e\\u2028';
  const codes = [
    `say({ error: "${hostile}" });`,
    `console.log("${hostile}");`,
    `say({ ["${hostile}"]: 1, pattern: "${hostile}" });`,
    `console.error("${hostile}"); say({ id: "${hostile}" });`,
  ];
  const { stdout, stderr } = await judge(answering(codes), ...SELECT, '--verbose');
  const written = readFileSync(join(folder, 'judge.json'), 'utf8');
  for (const text of [stdout, stderr, written]) assert.not.match(text, /[^\P{C}\n]|[\u2028\u2029]/u);
  assert.is(failures().filter((got) => got.includes('\u009b')).length, codes.length, failures().join('\n'));
});

/** Lines that are no response, and what the report says of each. */
const WRONG_LINES: readonly [what: string, code: string, fault: RegExp][] = [
  [
    'that never ends',
    `process.stdout.write('x'.repeat(2 ** 24 + 1));`,
    /more than 16 MiB without a line feed/,
  ],
  [
    'with a thousand levels',
    `process.stdout.write('{"a":' + '['.repeat(1000) + ']'.repeat(1000) + '}\\n');`,
    /more than 200 levels/,
  ],
  [
    'with an error that is no string',
    `say({ error: { toString: 1, valueOf: 1 } });`,
    /the error \{"toString":1/,
  ],
  ['with an id of a million characters', `say({ id: 'x'.repeat(1e6) });`, /id "x{199}… to request/],
  ['that is not JSON', `console.log('oops');`, /not JSON: oops/],
  ['that is not an object', `console.log('[1]');`, /not a JSON object/],
  ['with another id', `say({ id: 'x' });`, /id "x" to request/],
  [
    'of an earlier request, without end',
    `setInterval(() => process.stdout.write('{"id":1}\\n'.repeat(1000)), 1);`,
    /id 1 to request/,
  ],
];

test('fails exactly the tests with an invalid response line', async () => {
  const { code } = await judge(answering(WRONG_LINES.map(([, each]) => each)), ...SELECT);
  assert.is(code, 1);
  assert.is(failures().length, WRONG_LINES.length);
  for (const [i, [what, , fault]] of WRONG_LINES.entries()) {
    assert.match(failures()[i]!, fault, what);
  }
});

test('exits with 2 if the command cannot be started, and says how to find out why', async () => {
  const { code, stderr } = await run('--report', folder, '--', 'no-such-command');
  assert.is(code, 2);
  assert.match(stderr, /no-such-command cannot be started: there is no such program\n$/);
});

test('shows the last lines of an adapter that ends at once', async () => {
  const { code, stderr } = await run('--report', folder, '--', process.execPath, '/nowhere/adapter.js');
  assert.is(code, 2);
  assert.match(
    stderr,
    /exited without a response \(exit status 1\)\. [\s\S]*\nIt wrote to its standard error:\n[\s\S]*Cannot find module/,
  );
});

test('prints a header of C with the vectors of an operation, and refuses others', async () => {
  const { stdout } = await run('--c', '--only', 'psk,split');
  assert.match(stdout, /#define HP_MAX_CHUNK 65000\n[\s\S]*#define HP_ERROR_BAD_HEX "bad-hex"\n/);
  assert.match(stdout, /hp_psk_vectors\[\] = \{\n\{1, \{\(const unsigned char\[\]\)\{99,/);
  assert.not.match(stdout, /hp_session_vectors/);
  const { code, stderr } = await run('--c', '--only', 'identity');
  assert.is(code, 2);
  assert.match(stderr, /--c has no identity/);
});

test('asks nothing more of an adapter that has left five requests in a row without any response', async () => {
  let asked = 0;
  const send = async ({ op }: Fields): Promise<Fields> => {
    if (op === 'about') return {};
    asked++;
    throw new AdapterError('no response within 30 s');
  };
  const verdicts = await runVectors({ adapter: { send, stop: async () => {} }, only: ['psk', 'select'] });
  assert.is(asked, 5);
  assert.match(
    verdicts.at(-1)!.failure!.difference.got,
    /^not asked, since 5 requests in a row had no response/,
  );
});

test('ends at once if an adapter does not say what it is, nor anything else', async () => {
  const { code, stderr } = await judge('', ...SELECT, '--timeout', '1');
  assert.is(code, 2);
  assert.match(stderr, /no response within 1 s\. Does it flush/);
});

test('stops testing an operation after 20 requests without an answer, and goes on with the next', async () => {
  const asked: unknown[] = [];
  const send = async ({ op }: Fields): Promise<Fields> => {
    asked.push(op);
    if (op === 'select') throw new AdapterError('no response');
    return { error: 'refused' };
  };
  const verdicts = await runVectors({ adapter: { send, stop: async () => {} }, only: ['psk', 'select'] });
  const inVain = verdicts.filter(({ failure }) =>
    /^not asked, since 20 requests in a row/.test(failure?.difference.got ?? ''),
  );
  assert.is(inVain.length, COUNT - 20);
  assert.is(asked.filter((op) => op === 'select').length, 20);
  assert.is(asked.length, 1 + 20 + verdicts.length - COUNT); // the first asks what it is
});

test('stops after 40 requests without an answer, whatever the operation', async () => {
  let asked = 0;
  const send = async (): Promise<Fields> => {
    if (asked++ > 0) throw new AdapterError('a response with id 1 to request 2');
    return {};
  };
  await runVectors({ adapter: { send, stop: async () => {} } });
  assert.is(asked, 1 + 40); // the first asks what it is
});

test('judge.json names the vector, and has both values whole', async () => {
  await judge(`say({ psk: 'ab'.repeat(40) })`, '--only', 'psk');
  const { verdicts } = JSON.parse(readFileSync(join(folder, 'judge.json'), 'utf8'));
  const { file, tcId, name, failure } = verdicts.find(
    ({ result }: { result: string }) => result === 'failed',
  );
  assert.is(name, `${file} ${tcId}`);
  assert.match(failure.difference.got, /…$/);
  assert.is(failure.difference.whole.got, 'ab'.repeat(40));
  assert.match(failure.difference.whole.expected, /^[0-9a-f]{64}$/);
});

test('reads response fields named like methods', () => {
  const { error, events } = parseResponse(
    '{"id":1,"error":{"toString":1,"valueOf":1},"events":[{"toString":null}]}',
  );
  assert.not.throws(() => `${error} ${events}`);
});

test('ends although a process that the adapter has started keeps its output open', async () => {
  const [pid, over] = [join(folder, 'pid'), join(folder, 'over')];
  const sleeps = `setTimeout(() => require('node:fs').writeFileSync(${JSON.stringify(over)}, ''), 60000)`;
  const sleeper = `
    const { spawn } = require('node:child_process');
    const sleeping = spawn(process.execPath, ['-e', ${JSON.stringify(sleeps)}], { stdio: 'inherit' });
    require('node:fs').writeFileSync(${JSON.stringify(pid)}, String(sleeping.pid));
    sleeping.unref();`;
  const { code } = await judge(`if (request.id === 1) {${sleeper}} ${RIGHT}`, ...SELECT, '--verbose');
  assert.is(existsSync(over), false);
  process.kill(Number(readFileSync(pid, 'utf8')), 'SIGKILL');
  assert.is(code, 0);
});

/** What the judge prints until it waits for the other side. */
async function startListening(...args: string[]): Promise<{ stdout: string; stderr: string }> {
  const child = start(...args);
  const output = { stdout: '', stderr: '' };
  await new Promise<void>((resolve) => {
    child.stdout.on('data', (data) => (output.stdout += data));
    child.stderr.on('data', (data) => {
      output.stderr += data;
      resolve();
    });
  });
  child.kill();
  return output;
}

test('--listen prints the address, the access key and the password, and shows that it waits', async () => {
  const { stdout, stderr } = await startListening('--listen');
  assert.match(
    stdout,
    /ws:\/\/127\.0\.0\.1:\d+\/\n +access key judge-~~~~~\?\?\?\?\?\n +password +correct horse/,
  );
  assert.match(stderr, /waiting for your client/);
});

for (const [subject, stdout, stderr] of [
  [
    'client',
    /"endpoint":"mqtt:\/\/127\.0\.0\.1:\d+","username":"judge-.*","password":"judge","topic_prefix":"hivemind\/judge\/judge-/,
    /your client/,
  ],
  ['hub', /mqtt:\/\/127\.0\.0\.1:\d+\n +subscribe to hivemind\/judge\/\+\/in and /, /your hub to subscribe/],
] as const) {
  test(`--mqtt ${subject} prints what the other side needs, and shows that it waits`, async () => {
    const printed = await startListening('--mqtt', subject);
    assert.match(printed.stdout, stdout);
    assert.match(printed.stderr, stderr);
  });
}

test('--listen talks to a client that has its access key and its password', async () => {
  const child = start('--listen', '--only', 'first-contact', '--report', folder);
  let stdout = '';
  child.stdout.on('data', (data) => (stdout += data));
  await once(child.stdout, 'data');
  const client = startClient(/ws:\S+/.exec(stdout)![0], /access key (\S+)/.exec(stdout)![1]!, 'lobby');
  const [code] = await once(child, 'close');
  client.stop();
  assert.is(code, 0, stdout);
});

/** Writes an identity, and returns the arguments that name it. */
function identity(fields: object): string[] {
  const path = join(folder, 'identity.json');
  writeFileSync(path, JSON.stringify(fields));
  return ['--identity', path];
}

for (const mode of [['--listen'], ['--mqtt', 'client'], ['--mqtt', 'hub']]) {
  test(`${mode.join(' ')} reads the access key and the password from an identity, and shows neither`, async () => {
    const args = identity({ access_key: 'AKEY-7', password: 'correct battery' });
    const { stdout } = await startListening(...mode, ...args);
    assert.match(stdout, /\[of .*identity\.json\]/);
    assert.not.match(stdout, /AKEY|battery/);
  });
}

test('--listen checks the names of scenes before it opens its port', async () => {
  const { code, stdout, stderr } = await run('--listen', '--only', 'first-contcat');
  assert.is(code, 2);
  assert.is(stdout, '');
  assert.match(stderr, /no scene first-contcat: did you mean first-contact\?/);
});

test('--listen exits with 2 if its port is taken', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  const { code, stderr } = await run('--listen', '--port', `${port}`, '--report', folder);
  server.close();
  assert.is(code, 2);
  assert.match(stderr, /cannot listen on port \d+: .*EADDRINUSE/);
});

test('--connect fails every scene if there is no hub, and shows progress', async () => {
  const { code, stdout, stderr } = await run('--connect', 'ws://127.0.0.1:1/', '--report', folder);
  assert.is(code, 1);
  assert.match(stdout, /is the address right\?/);
  assert.match(stdout, /live +0 +[1-9]\d* +0\n/);
  assert.match(stderr, / 1\/\d+ failed +first-contact\n/);
});

test('--help explains how to begin, with the adapter of the README, on standard output', async () => {
  const { code, stdout } = await run('--help');
  assert.is(code, 0);
  assert.match(stdout, /hub-protocol-judge \[options\] -- COMMAND/);
  for (const { name } of OPERATIONS) assert.ok(stdout.includes(`  ${name} `), name);
  const readme = readFileSync(new URL('../../judge/README.md', import.meta.url), 'utf8');
  const adapter = /```python\n([\s\S]*?)```/.exec(readme)![1]!;
  assert.ok(stdout.replace(/^ {4}/gm, '').includes(adapter));
  for (const line of stdout.split('\n')) assert.ok(line.length <= 80, line);
});

test('--only suggests the operation or scene that was meant', async () => {
  for (const [mode, only, meant] of [
    ['--jsonl', 'canonical', 'canonical-json'],
    ['--jsonl', 'clientid', 'client-id'],
    ['--listen', 'first', 'first-contact'],
  ] as const) {
    const { code, stderr } = await run(mode, '--only', only);
    assert.is(code, 2);
    assert.match(stderr, new RegExp(` ${only}: did you mean ${meant}\\?\n$`));
  }
});

test('--jsonl prints every test on a line of its own, with its file and its operation', async () => {
  const { code, stdout } = await run('--jsonl', '--only', 'select,client-id');
  assert.is(code, 0);
  const [{ vectors }, ...tests] = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.equal(vectors, vectorsId());
  assert.is(tests.filter(({ operation }) => operation === 'select').length, COUNT);
  const clientIds = tests.filter(({ type }) => type === 'ClientId');
  assert.ok(clientIds.length > 10);
  for (const { file, tcId, comment, result } of clientIds) {
    assert.is(file, 'mqtt-topics');
    assert.ok(tcId > 0 && comment !== '' && result !== undefined);
  }
  const demanded = await run('--jsonl', '--only', 'client-id', '--spec-only');
  assert.not.match(demanded.stdout, /"acceptable"/);
});

test('--jsonl and --text print the tests that apply to a profile', async () => {
  const hub = await run('--jsonl', '--profile', 'hub', '--only', 'select,psk');
  const operations = hub.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).operation);
  assert.equal([...new Set(operations)], [undefined, 'psk']);
  assert.is((await run('--text', '--profile', 'minimal-client', '--only', 'psk')).stdout, '');
});

test('says what changed since the last run of each test, whatever ran in between', async () => {
  const fault = join(folder, 'fault');
  const adapter = `if (require('fs').existsSync(${JSON.stringify(fault)})) say({}); else { ${RIGHT} }`;
  const changes = async (...only: string[]): Promise<string | undefined> =>
    /since the last run: .*/.exec((await judge(adapter, ...only)).stdout)?.[0];
  assert.is(await changes(...SELECT), undefined);
  writeFileSync(fault, '');
  assert.is(await changes('--only', 'negotiation-1'), 'since the last run: 0 fixed, 1 new: negotiation-1');
  rmSync(fault);
  assert.is(await changes(...SELECT), 'since the last run: 1 fixed, 0 new');
  assert.is(await changes(...SELECT, '--spec-only'), undefined);
});

test('--text prints a step a line, what follows from it below, and long values by their beginning', async () => {
  const { code, stdout } = await run('--text', '--only', 'session-1,requests-388,canonical-json-3');
  assert.is(code, 0);
  assert.match(
    stdout,
    /^canonical-json-3 CanonicalJson: a key that starts another: escaped \(KeyOrder, valid\)\n/,
  );
  assert.match(stdout, /\n {2}2\. receive {2}text: hello \{pubkey: "", peer: "hub::1", node_id: "hub-1"\}\n/);
  assert.match(stdout, /\n {2}4\. psk {2}psk: \w{8}… \(32 bytes\)\n {5}> transmit {2}text: shake \{noise: /);
  assert.match(
    stdout,
    /\n {2}\d+\. expire {2}at: 2073\n {5}> finish {2}requestId: "r-1".*\n {5}= deadline: null /,
  );
});

test('--jsonl stops when its reader closes the pipe', async () => {
  const child = start('--jsonl');
  let stderr = '';
  child.stderr.on('data', (data) => (stderr += data));
  child.stdout.once('data', () => child.stdout.destroy());
  const [code] = await once(child, 'close');
  assert.equal([code, stderr], [0, '']);
});

test('--version prints the version of the package', async () => {
  const { version } = JSON.parse(readFileSync(new URL('../../judge/package.json', import.meta.url), 'utf8'));
  assert.equal(await run('--version'), { code: 0, stdout: `hub-protocol-judge ${version}\n`, stderr: '' });
});

for (const [what, args, message] of [
  [
    'nothing to judge',
    [],
    /expected one of -- COMMAND, --listen, --connect URL, --mqtt, --jsonl, --text, --trace NAME and --c/,
  ],
  ['two things to judge', ['--listen', '--', 'x'], /expected one of/],
  ['a command without --', ['python3', 'adapter.py'], /unexpected python3: write -- before the command/],
  [
    'a peer over MQTT that is neither',
    ['--mqtt', 'broker'],
    /client or hub, which is what you test, got broker/,
  ],
  ['a password as an argument', ['--listen', '--password', 'correct horse'], /Unknown option '--password'/],
  [
    'an option that has no effect',
    ['--jsonl', '--junit', 'x'],
    /--junit has no effect with --jsonl: leave it out/,
  ],
  ['a port for an adapter', ['--port', '1', '--', 'x'], /--port has no effect on an adapter/],
  ['a timeout that is longer than timers take', ['--timeout', '1e99', '--', 'x'], /at most 86400, got 1e99/],
  ['a timeout that is not a number', ['--timeout', 'soon', '--', 'x'], /number of seconds.*got soon/],
  ['a port that is not one', ['--listen', '--port', '65536'], /0 to 65535, got 65536/],
] as const) {
  test(`refuses ${what}`, () => {
    assert.throws(() => parseOptions([...args]), message);
  });
}

for (const [what, path, message] of [
  ['an identity that never ends', '/dev/zero', /too long for an identity/],
  ['what is no identity', '/dev/null', /cannot read the identity, \/dev\/null: \w/],
] as const) {
  test(`refuses ${what}`, () => {
    assert.throws(() => credentialsOf(path), message);
  });
}

// What ends the program: an error of the parser, one before the mode starts, and one of the mode.
for (const [what, args, message] of [
  ['an unknown option', ['--listne'], /--listne/],
  ['an unknown operation', ['--only', 'selekt', '--', 'x'], /no operation selekt: did you mean select\?/],
  ['a trace of a test without a handshake', ['--trace', 'mqtt-topics-1'], /a test with a handshake, such as/],
  [
    'an identity that is missing',
    ['--listen', '--identity', '/nowhere.json'],
    /identity, \/nowhere.json: ENOENT/,
  ],
] as const) {
  test(`exits with 2 for ${what}, and prints nothing on standard output`, async () => {
    const { code, stdout, stderr } = await run(...args);
    assert.is(code, 2);
    assert.is(stdout, '');
    assert.match(stderr, message);
  });
}

test.run();

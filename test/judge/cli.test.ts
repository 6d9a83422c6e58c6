/** The judge as a program: what it says of adapters that are right, wrong, broken or missing, and how it exits. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const CLI = fileURLToPath(new URL('../../judge/src/cli.ts', import.meta.url));
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

function run(...args: string[]): Promise<Run> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, ['--import', 'tsx', CLI, ...args]);
    const output = { stdout: '', stderr: '' };
    child.stdout.on('data', (data) => (output.stdout += data));
    child.stderr.on('data', (data) => (output.stderr += data));
    child.on('close', (code) => resolve({ code: code!, ...output }));
  });
}

/** Judges an adapter in JavaScript, of which `answer` answers the fields of each answer. */
function judge(answer: string, ...options: string[]): Promise<Run> {
  const adapter = `
    require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const request = JSON.parse(line);
      const say = (fields) => console.log(JSON.stringify({ id: request.id, ...fields }));
      ${answer}
    });`;
  return run('judge', '--report', folder, ...options, '--', process.execPath, '-e', adapter);
}

function report(): { passed: boolean; summary: { passed: number; failed: number; declined: number }[] } {
  return JSON.parse(readFileSync(join(folder, 'judge.json'), 'utf8'));
}

const COUNT = JSON.parse(
  readFileSync(new URL('../../vectors/negotiation.json', import.meta.url), 'utf8'),
).numberOfTests;
const SELECT = ['--only', 'select'];
/** Selection as it should be, in a few lines. */
const RIGHT = `
  const { patterns, suites, own, pinned } = request;
  const suite = own.find((name) => suites.includes(name));
  const pattern = pinned && patterns.includes('KKpsk0') ? 'KKpsk0' : patterns.find((name) => name === 'XXpsk2');
  if (!suite) say({ error: 'no-common-suite' });
  else if (!pattern) say({ error: 'no-common-pattern' });
  else say({ pattern, suite, protocolName: 'Noise_' + pattern + '_' + suite });`;

test('passes an adapter that answers rightly, and exits with 0', async () => {
  const { code, stdout, stderr } = await judge(RIGHT, ...SELECT);
  assert.is(code, 0, stderr);
  assert.match(stdout, new RegExp(`select +${COUNT} +0 +0\n`));
  assert.equal(report().summary, [{ capability: 'select', passed: COUNT, failed: 0, declined: 0 }]);
  assert.is(report().passed, true);
});

test('shows what is expected, what was got and the probable cause, and exits with 1', async () => {
  const { code, stdout } = await judge(RIGHT.replace('pinned &&', ''), ...SELECT);
  assert.is(code, 1);
  assert.match(stdout, /FAILED \d+ of select/);
  assert.match(stdout, /about: \w/);
  assert.match(stdout, /pattern, differs at 0\n +expected "XXpsk2".*\n +got +"KKpsk0"/);
  const junit = readFileSync(join(folder, 'judge.xml'), 'utf8');
  assert.match(junit, /<testsuite name="select" tests="\d+" failures="[1-9]\d*" skipped="0">/);
  assert.match(
    junit,
    /<failure message="[^"]+">pattern at 0: expected &#34;XXpsk2&#34;, got &#34;KKpsk0&#34;<\/failure>/,
  );
});

test('counts what an adapter declines, and does not call it passed', async () => {
  const { code, stdout } = await judge('say({ declined: true });', ...SELECT);
  assert.is(code, 1);
  assert.match(stdout, new RegExp(`select +0 +0 +${COUNT}\n`));
  assert.is(report().passed, false);
});

test('starts an adapter again that died of a request, which costs that one test', async () => {
  const dies = `if (request.id % 7 === 0) process.exit(1);`;
  const { code, stdout } = await judge(`${dies} ${RIGHT}`, ...SELECT);
  assert.is(code, 1);
  assert.match(stdout, /got +exited without an answer/);
  const { passed, failed } = report().summary[0]!;
  assert.is(failed, Math.floor(COUNT / 7));
  assert.is(passed, COUNT - failed);
});

test('gives up on an answer after the time that it was given', async () => {
  const { code, stdout } = await judge(`if (request.id !== 3) { ${RIGHT} }`, ...SELECT, '--timeout', '0.3');
  assert.is(code, 1);
  assert.match(stdout, /no answer within 0.3 s/);
});

for (const [what, answer, fault] of [
  ['that is not JSON', `console.log('oops');`, /not JSON: oops/],
  ['that is not an object', `console.log('[1]');`, /not an object/],
  ['with another id', `say({ id: 'x' });`, /id "x" where/],
] as const) {
  test(`fails a test whose answer is a line ${what}`, async () => {
    const { code, stdout } = await judge(`if (request.id % 2) { ${RIGHT} } else { ${answer} }`, ...SELECT);
    assert.is(code, 1);
    assert.match(stdout, fault);
  });
}

test('cannot judge a command that is not there, and says how to look into it', async () => {
  const { code, stderr } = await run('judge', '--report', folder, '--', 'no-such-command');
  assert.is(code, 2);
  assert.match(stderr, /^no-such-command: exited without an answer. Run it by hand/);
});

test('passes the adapter’s standard error on where that is asked for', async () => {
  const noisy = `console.error('a word'); ${RIGHT}`;
  assert.not.match((await judge(noisy, ...SELECT)).stderr, /a word/);
  assert.match((await judge(noisy, ...SELECT, '--verbose')).stderr, /a word/);
});

test('--listen says where, and as whom, a client is to connect', async () => {
  const child = spawn(process.execPath, [
    '--import',
    'tsx',
    CLI,
    'judge',
    '--listen',
    '--access-key',
    'kiosk-7',
  ]);
  const text = await new Promise<string>((resolve) =>
    child.stdout.once('data', (data) => resolve(`${data}`)),
  );
  child.kill();
  assert.match(text, /ws:\/\/127\.0\.0\.1:\d+\/\n +access key kiosk-7\n +password +\w/);
});

test('--connect judges a hub, if only to say that there is none', async () => {
  const { code, stdout } = await run('judge', '--connect', 'ws://127.0.0.1:1/', '--report', folder);
  assert.is(code, 1);
  assert.match(stdout, /is the address right\?/);
  assert.match(stdout, /live +0 +[1-9]\d* +0\n/);
});

test('explains itself: to who asks on standard output, to who is wrong on standard error', async () => {
  const asked = await run('judge', '--help');
  assert.is(asked.code, 0);
  assert.match(asked.stdout, /hub-protocol judge \[options\] -- COMMAND/);
  for (const args of [[], ['judge'], ['jugde', '--', 'x'], ['judge', '--listen', '--', 'x']]) {
    const { code, stdout, stderr } = await run(...args);
    assert.is(code, 2);
    assert.is(stdout, '');
    assert.is(stderr, asked.stdout);
  }
});

test('refuses options that it does not know, or cannot use', async () => {
  for (const args of [
    ['judge', '--listne'],
    ['judge', '--only', 'selekt', '--', 'x'],
    ['judge', '--timeout', 'soon', '--', 'x'],
  ]) {
    const { code, stderr } = await run(...args);
    assert.is(code, 2);
    assert.match(stderr, /listne|selekt|number of seconds/);
  }
});

test.run();

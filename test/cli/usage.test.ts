/** What all commands have in common: help, usage errors, exit status. */
import { readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { run, runProgram } from './run.ts';

const NAMES = ['hub', 'ask', 'chat', 'psk', 'provision', 'topics', 'redact', 'doctor', 'explain'];

test('--help lists the commands, and help on each has examples, options and exit status', async () => {
  const { code, stdout } = await run(['--help']);
  assert.is(code, 0);
  for (const name of NAMES) {
    assert.match(stdout, new RegExp(`^  ${name} `, 'm'));
    const help = await run([name, '--help']);
    assert.is(help.code, 0);
    assert.match(help.stdout, new RegExp(`^  hub-protocol ${name} `, 'm'));
    assert.match(help.stdout, /^ {2}--json /m);
    assert.match(help.stdout, /^Exit status$/m);
    assert.equal(await run(['help', name]), help);
    assert.equal(await run([name, '-h']), help);
  }
});

test('help fits the width of a terminal', async () => {
  for (const name of [undefined, ...NAMES]) {
    const { stdout } = await run(['help', ...(name === undefined ? [] : [name])]);
    for (const line of stdout.split('\n')) assert.ok(line.length <= 80, `${name}: ${line}`);
  }
});

test('--version prints the version of the package', async () => {
  const { version } = JSON.parse(readFileSync(new URL('../../cli/package.json', import.meta.url), 'utf8'));
  assert.equal(await runProgram(['--version']), { code: 0, stdout: `hub-protocol ${version}\n`, stderr: '' });
});

for (const [what, args, message] of [
  ['no command', [], /expected a command: hub, /],
  ['an unknown command', ['horse'], /^hub-protocol: there is no command "horse"; there are hub, /],
  ['a misspelt command', ['aks'], /^hub-protocol: there is no command "aks": did you mean ask\?\n$/],
  ['the beginning of a command', ['prov'], /"prov": did you mean provision\?\n$/],
  ['a long word', ['x'.repeat(60)], /"x{57}…"; there are hub, /],
  ['a password as an option', ['psk', '--password', 'x'], /a password is never an argument/],
  ['an unknown option', ['psk', '--passwrod'], /Unknown option '--passwrod': see --help/],
] as const) {
  test(`refuses ${what}`, async () => {
    const { code, stdout, stderr } = await run(args);
    assert.is(code, 2);
    assert.is(stdout, '');
    assert.match(stderr, message);
  });
}

for (const args of [
  ...[['hub', '/dev/null/a', 'b'], ['ask'], ['ask', 'a'], ['chat'], ['chat', 'a', 'b'], ['psk', 'a']],
  ...[['provision'], ['provision', 'a', 'b', '--out', 'c'], ['topics'], ['topics', 'a', 'b']],
  ...[['redact'], ['redact', 'a', 'b'], ['doctor'], ['doctor', 'a', 'wss://b', 'c']],
  ...[['explain'], ['explain', 'a', 'b', 'c']],
]) {
  test(`refuses “${args.join(' ')}”, which has too few or too many arguments`, async () => {
    const { code, stdout, stderr } = await run(args, '');
    assert.equal([code, stdout], [2, '']);
    assert.match(stderr, /^hub-protocol: expected .*\n$/);
  });
}

test('shows no control character of an argument in an error', async () => {
  const { code, stderr } = await run(['redact', '/nowhere\u001b[2J\u009b.json']);
  assert.is(code, 2);
  assert.not.match(stderr, /[^\P{C}\n]/u);
});

test('shows of an error that is not its own neither the message nor what that quotes', async () => {
  const stdin = Object.getOwnPropertyDescriptor(process, 'stdin')!;
  const broken = new Readable({ read: () => broken.destroy(new RangeError('correct horse')) });
  Object.defineProperty(process, 'stdin', { ...stdin, get: () => broken });
  try {
    const { code, stderr } = await run(['psk', '--node-id', 'hub-1']);
    assert.is(code, 2);
    assert.match(stderr, /a defect of hub-protocol-cli, please report it: RangeError/);
    assert.not.match(stderr, 'correct horse');
  } finally {
    Object.defineProperty(process, 'stdin', stdin);
  }
});

test('exits with the status of the command, as a program', async () => {
  const { code, stdout, stderr } = await runProgram(['redact', '/nowhere.json']);
  assert.is(code, 2);
  assert.is(stdout, '');
  assert.match(stderr, /^hub-protocol: cannot read the identity or keyring, \/nowhere\.json/);
});

test('adds nothing to an error that is not its own and has no place', async () => {
  const stdin = Object.getOwnPropertyDescriptor(process, 'stdin')!;
  const error = new RangeError('correct horse');
  error.stack = 'RangeError: correct horse';
  const broken = new Readable({ read: () => broken.destroy(error) });
  Object.defineProperty(process, 'stdin', { ...stdin, get: () => broken });
  try {
    assert.match((await run(['psk', '--node-id', 'hub-1'])).stderr, /report it: RangeError\s*$/);
  } finally {
    Object.defineProperty(process, 'stdin', stdin);
  }
});

test.run();

/** The prompt for a password, on a stream that stands for a terminal. */
import { PassThrough, Readable } from 'node:stream';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CannotRun } from '../../cli/src/command.ts';
import { type Input, readPassword } from '../../cli/src/password.ts';
import { soon } from '../client/world.ts';

/** Types keys at a prompt. Returns what was shown, what was read, and when echo was off. */
async function type(...keys: string[]): Promise<{ shown: string; password: string; modes: boolean[] }> {
  const modes: boolean[] = [];
  const input = Object.assign(new PassThrough(), {
    isTTY: true as const,
    setRawMode: (mode: boolean) => modes.push(mode),
  });
  const output = new PassThrough({ encoding: 'utf8' });
  const reading = readPassword('Password', input as unknown as Input, output);
  for (const key of keys) input.write(key);
  try {
    return { password: await soon(reading), modes, shown: output.read() };
  } finally {
    assert.is(modes.at(-1), false, 'the terminal echoes again');
    assert.ok(input.isPaused(), 'nothing reads the terminal any more, so that the program can end');
  }
}

async function cannotRun(...keys: string[]): Promise<void> {
  const error = await type(...keys).then(
    () => undefined,
    (error) => error,
  );
  assert.instance(error, CannotRun);
}

test('reads a password up to Enter, and shows nothing of it', async () => {
  const { password, shown, modes } = await type('corr', 'ect hörse 🐎', '\r', 'later');
  assert.is(password, 'correct hörse 🐎');
  assert.is(shown, 'Password: \n');
  assert.equal(modes, [true, false]);
});

test('deletes a character with Backspace, and all of them with Ctrl-U', async () => {
  assert.is((await type('x🐎\u007f\u007f\u007fright!\b\r')).password, 'right');
  assert.is((await type('wrong\u0015right\n')).password, 'right');
});

test('passes over arrow keys and control characters', async () => {
  assert.is((await type('a', '\u001b[D', '\u0001', 'b\u0004')).password, 'ab');
});

test('ends with an error on Ctrl-C, and on Enter alone', async () => {
  for (const typed of ['', 'c', 'corr']) await cannotRun(`${typed}\u0003`);
  await cannotRun('\r');
});

test('reads a password from a pipe, with or without a line feed', async () => {
  for (const end of ['', '\n', '\r\n']) {
    assert.is(await readPassword('', Readable.from([`correct hörse${end}`])), 'correct hörse');
  }
});

test('keeps the spaces of a password, typed or from a pipe', async () => {
  for (const password of [' a b ', '  ', '\t', 'a\u00a0']) {
    assert.is(await readPassword('', Readable.from([`${password}\n`])), password);
  }
  assert.is((await type(' a b ', '\r')).password, ' a b ');
});

test('reads a password of 64 KiB from a pipe', async () => {
  const password = 'a'.repeat(65_535);
  assert.is(await readPassword('', Readable.from([`${password}\n`])), password);
});

test('refuses piped input that is not UTF-8', async () => {
  const input = new PassThrough();
  input.end(Buffer.of(0xff, 0x0a));
  const error = await readPassword('', input).catch((error) => error);
  assert.instance(error, CannotRun);
});

test('reads no more of a pipe than a password can have', async () => {
  let taken = 0;
  function* endless(): Generator<Buffer> {
    for (; taken < 1000; taken++) yield Buffer.alloc(65536, 'a');
  }
  const error = await readPassword('', Readable.from(endless())).catch((error) => error);
  assert.instance(error, CannotRun);
  assert.ok(taken < 100, `${taken} times 64 KiB`);
});

test.run();

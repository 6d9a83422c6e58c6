/** The prompt for a password, on a stream that stands for a terminal. */
import { PassThrough, Readable, Writable } from 'node:stream';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CannotRun } from '../../cli/src/command.ts';
import { type Input, readPassword } from '../../cli/src/password.ts';
import { soon } from '../client/world.ts';

/** Types keys at a prompt. Returns what was shown, what was read, and when echo was off. */
async function type(
  ...keys: (string | Uint8Array)[]
): Promise<{ shown: string; password: string; modes: boolean[] }> {
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

/** The message of the error that a reading ends with. */
async function refusal(reading: Promise<unknown>): Promise<string> {
  const error = await reading.then(
    () => undefined,
    (error) => error,
  );
  assert.instance(error, CannotRun);
  return error.message;
}

const NO_PASSWORD = 'no password was given: type it, or pipe it in, as in: hub-protocol psk … < FILE';

test('reads a password up to Enter, and shows nothing of it', async () => {
  const { password, shown, modes } = await type('corr', 'ect hörse 🐎', '\r', 'later');
  assert.is(password, 'correct hörse 🐎');
  assert.is(shown, 'Password: \n');
  assert.equal(modes, [true, false]);
});

test('reads a character of which the terminal delivers one byte after the other', async () => {
  const bytes = [...Buffer.from('hörse 🐎\r')].map((byte) => Uint8Array.of(byte));
  assert.is((await type(...bytes)).password, 'hörse 🐎');
});

test('deletes a character with Backspace, and all of them with Ctrl-U', async () => {
  assert.is((await type('x🐎\u007f\u007f\u007fright!\b\r')).password, 'right');
  assert.is((await type('wrong\u0015right\n')).password, 'right');
});

test('passes over arrow keys and control characters', async () => {
  assert.is((await type('a', '\u001b[D', '\u0001', 'b\u0004')).password, 'ab');
});

test('ends with an error on Ctrl-C, and on Enter alone', async () => {
  for (const typed of ['', 'c', 'corr']) assert.is(await refusal(type(`${typed}\u0003`)), 'cancelled');
  for (const typed of ['\r', '\n', '\u0004', 'a\u0015\r']) assert.is(await refusal(type(typed)), NO_PASSWORD);
});

test('ends the echo before it asks, and begins it again before it goes to the next line', async () => {
  const order: unknown[] = [];
  const input = Object.assign(new PassThrough(), {
    isTTY: true as const,
    setRawMode: (mode: boolean) => order.push(mode),
  });
  const output = new Writable({
    write(chunk, _encoding, done) {
      order.push(String(chunk));
      done();
    },
  });
  const reading = readPassword('Password at \u001b', input as unknown as Input, output);
  input.write('horse\r');
  assert.is(await soon(reading), 'horse');
  assert.equal(order, [true, 'Password at \\u001b: ', false, '\n']);
});

test('asks twice on one terminal, and each time goes to the next line once', async () => {
  const terminal = { isTTY: true as const, setRawMode: () => {} };
  const input = Object.assign(new PassThrough(), terminal) as unknown as Input & PassThrough;
  const output = new PassThrough({ encoding: 'utf8' });
  for (const password of ['horse', 'battery']) {
    const reading = readPassword('Password', input, output);
    input.write(`${password}\r`);
    assert.is(await soon(reading), password);
    assert.is(output.read(), 'Password: \n');
  }
});

test('asks nothing where there is no terminal', async () => {
  const output = new PassThrough({ encoding: 'utf8' });
  assert.is(await readPassword('Password', Readable.from(['horse\n']), output), 'horse');
  assert.is(output.read(), null);
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
  assert.is(await refusal(readPassword('', input)), 'the password on standard input is not UTF-8');
});

test('refuses piped input that is not one line, or none', async () => {
  const said = 'standard input has more than one line: it must contain the password and nothing else';
  for (const text of ['a\nb', 'a\n\n', 'a\rb\n'])
    assert.is(await refusal(readPassword('', Readable.from([text]))), said);
  for (const text of ['', '\n', '\r\n'])
    assert.is(await refusal(readPassword('', Readable.from([text]))), NO_PASSWORD);
});

test('reads no more of a pipe than a password can have', async () => {
  let taken = 0;
  function* endless(): Generator<Buffer> {
    for (; taken < 1000; taken++) yield Buffer.alloc(65536, 'a');
  }
  const said = 'standard input has more than 65536 bytes, which is too long for a password';
  assert.is(await refusal(readPassword('', Readable.from(endless()))), said);
  assert.ok(taken < 100, `${taken} times 64 KiB`);
  const password = 'a'.repeat(65_536);
  assert.is(await refusal(readPassword('', Readable.from([`${password}\n`]))), said);
});

test.run();

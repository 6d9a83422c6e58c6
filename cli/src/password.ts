/** Asks for a password without showing it, or reads it from standard input. It is never an argument. */
import type { ReadStream } from 'node:tty';
import { bytesToUtf8, printable } from 'hub-protocol-judge/internals';
import { CannotRun } from './command.ts';

/** The input: a terminal, or a pipe. */
export type Input = NodeJS.ReadableStream & Pick<Partial<ReadStream>, 'isTTY' | 'setRawMode'>;

/**
 * @param prompt - the prompt, on a terminal only
 * @returns the password as typed; from a pipe, its only line without the line feed
 */
export async function readPassword(
  prompt: string,
  input: Input = process.stdin,
  output: NodeJS.WritableStream = process.stderr,
): Promise<string> {
  const password = input.isTTY ? await ask(prompt, input, output) : await readLine(input);
  if (password === '') {
    throw new CannotRun('no password was given: type it, or pipe it in, as in: hub-protocol psk … < FILE');
  }
  return password;
}

const LONGEST = 65536; // bytes read from standard input, which may never end

async function readLine(input: Input): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of input) {
    chunks.push(Buffer.from(chunk));
    length += chunk.length;
    if (length > LONGEST)
      throw new CannotRun(`standard input has more than ${LONGEST} bytes, which is too long for a password`);
  }
  const text = bytesToUtf8(Buffer.concat(chunks));
  if (text === undefined) throw new CannotRun('the password on standard input is not UTF-8');
  const line = text.replace(/\r?\n$/, '');
  if (/[\r\n]/.test(line)) {
    throw new CannotRun(
      'standard input has more than one line: it must contain the password and nothing else',
    );
  }
  return line;
}

const END = ['\r', '\n', '\u0004']; // Enter, Ctrl-D
const CANCEL = '\u0003'; // Ctrl-C
const ERASE = ['\u007f', '\b'];
const ERASE_ALL = '\u0015'; // Ctrl-U
const ESCAPE = '\u001b'; // arrow keys and the like

function ask(prompt: string, input: Input, output: NodeJS.WritableStream): Promise<string> {
  input.setRawMode!(true); // before the prompt appears
  output.write(printable(`${prompt}: `));
  input.setEncoding('utf8');
  let typed: string[] = [];
  return new Promise((resolve, reject) => {
    const end = (error: CannotRun | undefined): void => {
      input.off('data', take);
      input.setRawMode!(false);
      input.pause();
      output.write('\n');
      if (error === undefined) resolve(typed.join(''));
      else reject(error);
    };
    const take = (keys: string | Buffer): void => {
      if (String(keys).startsWith(ESCAPE)) return;
      for (const key of String(keys)) {
        if (END.includes(key) || key === CANCEL) {
          end(key === CANCEL ? new CannotRun('cancelled') : undefined);
          return;
        }
        if (ERASE.includes(key)) typed.pop();
        else if (key === ERASE_ALL) typed = [];
        else if (key >= ' ') typed.push(key);
      }
    };
    input.on('data', take);
    input.resume();
  });
}

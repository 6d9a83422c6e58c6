/** Runs the commands, in this process or as programs, and keeps their files in a folder of their own. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import * as assert from 'uvu/assert';
import { main } from '../../cli/src/main.ts';
import { late, longestWait, soon } from '../client/world.ts';

/** The program that was built. */
export const CLI: string = fileURLToPath(new URL('../../cli/dist/cli.js', import.meta.url));

export interface Run {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs a command in this process. `input` is what a password is read from; a file named `-` takes a program. */
export async function run(args: readonly string[], input?: string): Promise<Run> {
  const stdin = Object.getOwnPropertyDescriptor(process, 'stdin')!;
  if (input !== undefined) {
    Object.defineProperty(process, 'stdin', { ...stdin, get: () => Readable.from([input]) });
  }
  try {
    const { status: code, stdout, stderr } = await soon(main(args));
    return { code, stdout, stderr };
  } finally {
    Object.defineProperty(process, 'stdin', stdin);
  }
}

/** Runs a command in this process, and takes what it prints before its end, too. */
export async function runHere(args: readonly string[], input = ''): Promise<Run> {
  const { stdout, stderr } = process;
  const [out, err] = [stdout.write, stderr.write];
  const printed = ['', ''];
  const taking = (stream: 0 | 1) => (text: string) => {
    printed[stream] += text;
    return true;
  };
  Object.assign(stdout, { write: taking(0) });
  Object.assign(stderr, { write: taking(1) });
  try {
    const { code, ...rest } = await run(args, input);
    return { code, stdout: printed[0] + rest.stdout, stderr: printed[1] + rest.stderr };
  } finally {
    Object.assign(stdout, { write: out });
    Object.assign(stderr, { write: err });
  }
}

/**
 * Lets the programs that a test starts compute another function in the place of Argon2id, at once.
 * @returns what ends that
 */
export function deriveQuickly(folder: Folder): () => void {
  const { NODE_OPTIONS } = process.env;
  const quickly = `require('node:crypto').argon2Sync = (_, { message, nonce }) =>
    require('node:crypto').createHash('sha256').update(message).update(nonce).digest();`;
  process.env.NODE_OPTIONS = [NODE_OPTIONS, '--require', folder.write('quickly.cjs', quickly)].join(' ');
  return () => {
    if (NODE_OPTIONS === undefined) delete process.env.NODE_OPTIONS;
    else process.env.NODE_OPTIONS = NODE_OPTIONS;
  };
}

export function runProgram(args: readonly string[], input: string | Uint8Array = ''): Promise<Run> {
  return runChild(process.execPath, [CLI, ...args], input);
}

/** Keys to type on a terminal, after a text has appeared there. */
export type Step = readonly [text: string, keys: string];

/**
 * Runs the program on a pseudo-terminal. Returns what that received as `stdout`. Whatever happens, the program leaves the cursor
 * at the start of a line, for the prompt of the shell.
 */
export async function runOnTerminal(
  args: readonly string[],
  steps: readonly Step[],
  columns = 80,
  output = '',
): Promise<Run> {
  const given = [TERMINAL, String(columns), JSON.stringify(steps), output, process.execPath, CLI, ...args];
  const result = await runChild('python3', given, '');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the escape sequence that clears a line
  assert.match(result.stdout, /(?:\n|\r\u001b\[K)$/, `the last line stays: ${JSON.stringify(result.stdout)}`);
  return result;
}

/** The same with standard output in a file: returns what was written there, and as `stderr` what the terminal received. */
export async function runIntoFile(
  args: readonly string[],
  steps: readonly Step[],
  file: string,
): Promise<Run> {
  const { code, stdout: stderr } = await runOnTerminal(args, steps, 80, file);
  return { code, stdout: readFileSync(file, 'utf8'), stderr };
}

const TERMINAL = fileURLToPath(new URL('terminal.py', import.meta.url));

/** Rejects if the program does not end by itself. */
function runChild(program: string, args: readonly string[], input: string | Uint8Array): Promise<Run> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args);
    const output = { stdout: '', stderr: '' };
    const giveUp = setTimeout(() => {
      child.kill(); // the terminal hangs up on its program
      reject(late(`has not ended: ${args.slice(1).join(' ')}\n${output.stdout}${output.stderr}`));
    }, longestWait());
    child.stdout.on('data', (data) => (output.stdout += data));
    child.stderr.on('data', (data) => (output.stderr += data));
    child.stdin.on('error', () => {}); // a program that does not read its input may have ended
    child.stdin.end(input);
    child.on('close', (code) => {
      clearTimeout(giveUp);
      resolve({ code: code!, ...output });
    });
  });
}

/** A folder that only its owner may use. */
export class Folder {
  readonly path: string = mkdtempSync(join(tmpdir(), 'hub-protocol-cli-'));

  at(name: string): string {
    return join(this.path, name);
  }

  write(name: string, contents: string | object): string {
    writeFileSync(this.at(name), typeof contents === 'string' ? contents : JSON.stringify(contents));
    return this.at(name);
  }

  remove(): void {
    rmSync(this.path, { recursive: true });
  }
}

/** The secrets of this identity. No output may contain one of them. */
export const SECRETS: string[] = ['AKEY-12345', 'correct horse', 'mqtt-password', 'mqtt-user'];

export const IDENTITY: { [field: string]: unknown; mqtt: object } = {
  access_key: 'AKEY-12345',
  password: 'correct horse battery staple',
  site_id: 'lobby',
  data_plane_endpoints: { wss: 'wss://hub.example:5678' },
  mqtt: {
    endpoint: 'mqtts://broker.example',
    username: 'mqtt-user',
    password: 'mqtt-password',
    topic_prefix: 'hivemind/hub-1/AKEY-12345',
  },
};

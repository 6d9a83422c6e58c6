/** Runs the commands, in this process or as programs, and keeps their files in a folder of their own. */
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { constants, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { ReadStream, WriteStream } from 'node:tty';
import { fileURLToPath } from 'node:url';
import workers from 'node:worker_threads';
import { nodeCrypto } from 'hub-protocol-judge/internals';
import * as assert from 'uvu/assert';
import { main } from '../../cli/src/main.ts';
import { late, longestWait, soon, until } from '../client/world.ts';
import { replacing } from '../world/replacing.ts';

/** The program that was built. */
export const CLI: string = fileURLToPath(new URL('../../cli/dist/cli.js', import.meta.url));

export interface Run {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs a command in this process. `input` is what a password is read from; a file named `-` takes a program. */
export async function run(args: readonly string[], input?: string): Promise<Run> {
  const stdin = input === undefined ? {} : { stdin: Readable.from([input]) };
  const { status: code, stdout, stderr } = await replacing(process, stdin, () => soon(main(args)));
  return { code, stdout, stderr };
}

/** Runs a command in this process, and takes what it prints before its end, too. */
export async function runHere(args: readonly string[], input = ''): Promise<Run> {
  const printed = ['', ''];
  const taking = (stream: 0 | 1) => ({
    write: (text: string) => {
      printed[stream] += text;
      return true;
    },
  });
  const { code, ...rest } = await replacing(process.stdout, taking(0), () =>
    replacing(process.stderr, taking(1), () => run(args, input)),
  );
  return { code, stdout: printed[0] + rest.stdout, stderr: printed[1] + rest.stderr };
}

const QUICKLY = fileURLToPath(new URL('quickly.cjs', import.meta.url));

/** What is computed in the place of Argon2id. */
export const quickly = (password: Uint8Array | string, salt: Uint8Array): Buffer =>
  createHash('sha256').update(password).update(salt).digest();

/**
 * Lets the commands of this process, and the programs that it starts, compute another function in the place of Argon2id, at once.
 * @param mayEnd - a derivation in this process waits until this is true
 * @returns what ends that
 */
export function deriveQuickly(mayEnd: () => boolean = () => true): () => void {
  const { NODE_OPTIONS } = process.env;
  process.env.NODE_OPTIONS = [NODE_OPTIONS, '--require', QUICKLY].join(' ');
  const { argon2id } = nodeCrypto;
  Object.assign(nodeCrypto, {
    argon2id: ({ password, salt }: { password: Uint8Array; salt: Uint8Array }) => quickly(password, salt),
  });
  const { Worker } = workers;
  workers.Worker = class extends EventEmitter {
    constructor(_: URL, { workerData }: { workerData: { password: string; salt: Uint8Array } }) {
      super();
      this.#run(workerData);
    }
    async #run({ password, salt }: { password: string; salt: Uint8Array }): Promise<void> {
      for (const progress of [0.2, 0.4, 0.6, 0.8]) {
        await new Promise(setImmediate);
        this.emit('message', { progress });
      }
      await until(mayEnd);
      this.emit('message', { progress: 1, psk: quickly(password, salt) });
    }
    terminate(): void {}
  } as never;
  syncBuiltinESMExports();
  return () => {
    if (NODE_OPTIONS === undefined) delete process.env.NODE_OPTIONS;
    else process.env.NODE_OPTIONS = NODE_OPTIONS;
    if (argon2id === undefined) Reflect.deleteProperty(nodeCrypto, 'argon2id');
    else Object.assign(nodeCrypto, { argon2id });
    workers.Worker = Worker;
    syncBuiltinESMExports();
  };
}

export function runProgram(args: readonly string[], input: string | Uint8Array = ''): Promise<Run> {
  return runChild(process.execPath, [CLI, ...args], ({ stdin }) => stdin.end(input));
}

/** Keys to type on a terminal, after a text has appeared there. */
export type Step = readonly [text: string, keys: string];

const TERMINAL = fileURLToPath(new URL('terminal.py', import.meta.url));

/** Types keys. Returns what reads what the terminal has received since. */
function type({ stdin, stdout }: ChildProcessWithoutNullStreams, steps: readonly Step[]): () => string {
  const left = [...steps];
  let [shown, searched] = ['', 0];
  stdout.removeAllListeners('data').setEncoding('utf8');
  stdout.on('data', (data: string) => {
    shown += data;
    for (; left[0] !== undefined; left.shift()) {
      const [text, keys] = left[0];
      const at = shown.indexOf(text, searched);
      if (at < 0) return;
      searched = at + text.length;
      stdin.write(keys);
    }
  });
  return () => shown;
}

/** Whatever happens, a program leaves the cursor at the start of a line, for the prompt of the shell. */
function assertLeft(shown: string): void {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the escape sequence that clears a line
  assert.match(shown, /(?:\n|\r\u001b\[K)$/, `the last line stays: ${JSON.stringify(shown)}`);
}

/** Runs the program on a pseudo-terminal. Returns what that received as `stdout`. */
export async function runProgramOnTerminal(
  args: readonly string[],
  steps: readonly Step[],
  columns = 80,
): Promise<Run> {
  let shown: (() => string) | undefined;
  const result = await runChild(
    'python3',
    [TERMINAL, String(columns), process.execPath, CLI, ...args],
    (child) => {
      shown = type(child, steps);
    },
  );
  assertLeft(shown!());
  return { ...result, stdout: shown!() };
}

let terminal: { readonly relay: ChildProcessWithoutNullStreams; readonly device: string } | undefined;
/** What the terminal of this process has received in this run. */
export let shownOnTerminal = (): string => '';
/** What marks that all was received. */
const END = '\u001f';

async function startTerminal(): Promise<NonNullable<typeof terminal>> {
  const relay = spawn('python3', [TERMINAL]);
  const shown = type(relay, []);
  await until(() => shown().includes('\n'));
  relay.unref(); // it ends with this process
  for (const stream of [relay.stdin, relay.stdout, relay.stderr]) (stream as Socket).unref();
  return { relay, device: shown().trim() };
}

/**
 * Runs a command in this process, on a pseudo-terminal. Returns what that received as `stdout`; with `isPiped` as `stderr`, since the
 * standard output is no terminal then.
 */
export async function runOnTerminal(
  args: readonly string[],
  steps: readonly Step[],
  columns = 80,
  isPiped = false,
): Promise<Run> {
  terminal ??= await startTerminal();
  const { relay, device } = terminal;
  const open = (): number => openSync(device, constants.O_RDWR | constants.O_NOCTTY);
  const input = open();
  spawnSync('stty', ['sane', 'rows', '24', 'cols', String(columns)], { stdio: [input] });
  const stdin = new ReadStream(input);
  const stderr = new WriteStream(open());
  let piped = '';
  const stdout = isPiped
    ? new Writable({
        write(data, _, done) {
          piped += data;
          done();
        },
      })
    : stderr;
  const shown = type(relay, steps);
  shownOnTerminal = shown;
  return replacing(process, { stdin, stdout, stderr }, async () => {
    const outcome = await soon(main(args));
    stdout.write(outcome.stdout);
    stderr.write(outcome.stderr + END);
    await until(() => shown().endsWith(END));
    const received = shown().slice(0, -END.length);
    assertLeft(received);
    const code = outcome.status;
    return isPiped ? { code, stdout: piped, stderr: received } : { code, stdout: received, stderr: '' };
  }).finally(() => {
    stdin.destroy();
    stderr.destroy();
  });
}

/** Rejects if the program does not end by itself. */
function runChild(
  program: string,
  args: readonly string[],
  use: (child: ChildProcessWithoutNullStreams) => void,
): Promise<Run> {
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
    use(child);
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

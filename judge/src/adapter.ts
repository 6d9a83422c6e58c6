/** The implementation under test: a process that answers with JSON lines. */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { show, start } from './difference.ts';
import { printable } from './printable.ts';

/** The fields of a request or a response. */
export type Fields = { readonly [field: string]: unknown };

export interface Adapter {
  /** @throws AdapterError, CannotRun */
  send(request: Fields): Promise<Fields>;
  stop(): Promise<void>;
}

/** The adapter gave no valid response. It is restarted for the next test. */
export class AdapterError extends Error {}

/** The tests cannot run at all; the message says why and what to do. */
export class CannotRun extends Error {}

/** The adapter is no program, or it answers nothing at all. */
export class CannotStart extends CannotRun {}

/** How the message of an AdapterError begins if there was no response in time. */
export const LATE = 'no response within';
const NO_RESPONSE = 'exited without a response';
const BUFFERED =
  'Does it flush its output after each line? Output to a pipe is buffered (C: fflush; Python: flush=True). ';
const MAX_RESPONSE = 16 * 1024 * 1024; // bytes
const MAX_SAID = 2000; // characters of standard error
const MAX_LINES = 15; // of these
/** For a process that gave no valid response, in milliseconds. It may have more to say about the reason. */
const PATIENCE_AFTER_FAULT = 200;
/** How long what a process has written may take to arrive after its exit, in milliseconds. */
const REST = 500;
const MAX_DEPTH = 200; // nested arrays and objects in a response

export interface ProcessOptions {
  command: string;
  args: string[];
  /** Longest wait for a response, in milliseconds. */
  timeout: number;
  /** Whether to pass on the standard error of the adapter. */
  verbose: boolean;
}

export class ProcessAdapter implements Adapter {
  readonly #options: ProcessOptions;
  #child: ChildProcess | undefined;
  #lines: AsyncIterator<string> | undefined;
  #lastId = 0;
  #hasResponded = false;
  /** The end of what the adapter has written to its standard error, and how it exited. */
  #said = '';
  #exit = '';
  /** Why there is no process. */
  #notStarted: string | undefined;

  constructor(options: ProcessOptions) {
    this.#options = options;
  }

  async send(request: Fields): Promise<Fields> {
    this.#start();
    const id = ++this.#lastId;
    try {
      this.#child!.stdin!.write(`${JSON.stringify({ id, ...request })}\n`);
      const response = parseResponse(await this.#readLine());
      if (response.id !== id) {
        throw new AdapterError(`a response with id ${show(response.id)} to request ${id}`);
      }
      this.#hasResponded = true;
      return response;
    } catch (error) {
      await this.stop(PATIENCE_AFTER_FAULT);
      const { command, verbose } = this.#options;
      if (this.#notStarted !== undefined)
        throw new CannotStart(`${command} cannot be started: ${this.#notStarted}`);
      const lines = verbose ? [] : this.#said.trim().split('\n').slice(-MAX_LINES);
      const { message } = error as Error;
      const how = message === NO_RESPONSE ? `${message}${this.#exit}` : message;
      if (this.#hasResponded) {
        const last = message === NO_RESPONSE && lines.at(-1) ? `; its last words: ${lines.at(-1)}` : '';
        throw new AdapterError(`${how}${last}`);
      }
      const said = lines.join('\n  ');
      const isLate = message.startsWith(LATE);
      throw new (isLate ? CannotStart : CannotRun)(
        `${command}: ${how}. ${isLate ? BUFFERED : ''}Start it by hand and type {"id":1,"op":"select"}; it should print {"id":1,"declined":true}, or better.${said && `\nIt wrote to its standard error:\n  ${said}`}`,
      );
    }
  }

  /**
   * Ends the process: closes its standard input, and kills it if it is still running some time later. A process that it
   * has started may hold its output open for ever.
   * @param patience - the time until then, in milliseconds
   */
  async stop(patience = 1000): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    this.#lines = undefined;
    if (child === undefined) return;
    child.stdout!.destroy();
    child.stdin!.end();
    const isGone = child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
    if (!isGone) {
      await new Promise<void>((resolve) => {
        let timer = setTimeout(() => child.kill('SIGKILL'), patience);
        const end = (): void => {
          clearTimeout(timer);
          resolve();
        };
        child.once('close', end);
        child.once('exit', () => {
          clearTimeout(timer);
          timer = setTimeout(end, REST); // for the rest of its standard error
        });
      });
    }
    child.stderr?.destroy();
  }

  #start(): void {
    if (this.#child !== undefined) return;
    const { command, args, verbose } = this.#options;
    const child = spawn(command, args, { stdio: 'pipe' });
    child.stdin!.on('error', () => {}); // the process died: reading its response fails, and says so
    child.once('exit', (code, signal) => {
      this.#exit = signal === null ? ` (exit status ${code})` : ` (${signal})`;
      // A process that it has started may hold its output open: then the stream would not end.
      setTimeout(() => child.stdout!.destroy(), REST).unref();
    });
    child.on('error', ({ code, message }: NodeJS.ErrnoException) => {
      this.#notStarted = code === 'ENOENT' ? 'there is no such program' : message;
      child.stdout!.destroy();
    });
    [this.#said, this.#exit] = ['', ''];
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      if (verbose) process.stderr.write(printable(text));
      else this.#said = (this.#said + text).slice(-MAX_SAID);
    });
    this.#child = child;
    this.#lines = linesOf(child.stdout!);
  }

  async #readLine(): Promise<string> {
    const { timeout } = this.#options;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      const error = new AdapterError(`${LATE} ${timeout / 1000} s`);
      timer = setTimeout(() => reject(error), timeout);
    });
    try {
      const { value, done } = await Promise.race([this.#lines!.next(), late]);
      if (done) throw new AdapterError(NO_RESPONSE);
      return value;
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Reads no further than the requested line. */
async function* linesOf(stream: Readable): AsyncGenerator<string> {
  let parts: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      let from = 0;
      for (let end = chunk.indexOf('\n'); end >= 0; end = chunk.indexOf('\n', from)) {
        yield Buffer.concat([...parts, chunk.subarray(from, end)]).toString();
        [parts, length, from] = [[], 0, end + 1];
      }
      parts.push(chunk.subarray(from));
      length += chunk.length - from;
      if (length > MAX_RESPONSE) {
        throw new AdapterError(`a response of more than ${MAX_RESPONSE / 2 ** 20} MiB without a line feed`);
      }
    }
  } catch (error) {
    if (error instanceof AdapterError) throw error;
    return; // the stream was destroyed
  }
  if (length > 0) yield Buffer.concat(parts).toString();
}

export function parseResponse(line: string): Fields {
  let response: unknown;
  try {
    response = JSON.parse(line);
  } catch {
    throw new AdapterError(`a response that is not JSON: ${start(line, 100)}`);
  }
  if (typeof response !== 'object' || response === null || Array.isArray(response)) {
    throw new AdapterError(`a response that is not a JSON object: ${start(line, 100)}`);
  }
  makeHarmless(response, MAX_DEPTH);
  return response as Fields;
}

/** Prevents the checks from throwing when they use a part of a response. */
function makeHarmless(value: unknown, depth: number): void {
  if (typeof value !== 'object' || value === null) return;
  if (depth === 0)
    throw new AdapterError(`a response with more than ${MAX_DEPTH} levels of arrays and objects`);
  // An object with a field of this name cannot become a string.
  if (Object.prototype.hasOwnProperty.call(value, 'toString'))
    Object.defineProperty(value, Symbol.toPrimitive, { value: () => '[object]' });
  for (const inner of Object.values(value)) makeHarmless(inner, depth - 1);
}

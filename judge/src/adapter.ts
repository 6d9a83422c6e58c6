/** The implementation under test: a process that answers with JSON lines. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

/** The fields of a request or a response. */
export type Fields = { readonly [field: string]: unknown };

export interface Adapter {
  /** @throws AdapterError, CannotRun */
  send(request: Fields): Promise<Fields>;
  stop(): Promise<void>;
}

/** The adapter gave no valid response. It is started again for the next test. */
export class AdapterError extends Error {}

/** Nothing can be tested at all; the message says why and what to do. */
export class CannotRun extends Error {}

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
        throw new AdapterError(`a response with id ${JSON.stringify(response.id)} to request ${id}`);
      }
      this.#hasResponded = true;
      return response;
    } catch (error) {
      await this.stop();
      if (this.#hasResponded) throw error;
      const { command } = this.#options;
      throw new CannotRun(
        `${command}: ${(error as Error).message}. Start it by hand and type {"id":1,"op":"select"}; it should print {"id":1,"declined":true}, or better.`,
      );
    }
  }

  /** Ends the process: closes its standard input, and kills it if it is still there a second later. */
  async stop(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    this.#lines = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    await new Promise<void>((resolve) => {
      child.once('close', () => resolve());
      child.stdin!.end();
      setTimeout(() => child.kill('SIGKILL'), 1000).unref();
    });
  }

  #start(): void {
    if (this.#child !== undefined) return;
    const { command, args, verbose } = this.#options;
    const child = spawn(command, args, { stdio: ['pipe', 'pipe', verbose ? 'inherit' : 'ignore'] });
    child.stdin.on('error', () => {}); // the process died: reading its response fails, and says so
    const lines = createInterface({ input: child.stdout });
    child.on('error', () => lines.close()); // the process could not be started: the same
    this.#child = child;
    this.#lines = lines[Symbol.asyncIterator]();
  }

  async #readLine(): Promise<string> {
    const { timeout } = this.#options;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      const error = new AdapterError(`no response within ${timeout / 1000} s`);
      timer = setTimeout(() => reject(error), timeout);
    });
    try {
      const { value, done } = await Promise.race([this.#lines!.next(), late]);
      if (done) throw new AdapterError('exited without a response');
      return value;
    } finally {
      clearTimeout(timer);
    }
  }
}

function parseResponse(line: string): Fields {
  let response: unknown;
  try {
    response = JSON.parse(line);
  } catch {
    throw new AdapterError(`a response that is not JSON: ${line.slice(0, 100)}`);
  }
  if (typeof response !== 'object' || response === null || Array.isArray(response)) {
    throw new AdapterError(`a response that is not a JSON object: ${line.slice(0, 100)}`);
  }
  return response as Fields;
}

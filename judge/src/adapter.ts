/** The port under judgement: a process that answers JSON lines, or a function in this one. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

/** The fields of a request or an answer. */
export type Fields = { readonly [field: string]: unknown };

export interface Adapter {
  /** Asks one thing. Whatever goes wrong with the asking itself is an AdapterError. */
  ask(request: Fields): Promise<Fields>;
  stop(): Promise<void>;
}

/** The adapter broke its contract: no answer, or one that is none. It is started anew for the next test. */
export class AdapterError extends Error {}

/** The adapter cannot be run at all, so nothing can be judged. */
export class CannotRun extends Error {}

export interface ProcessOptions {
  command: string;
  args: string[];
  /** How long an answer may take, in milliseconds. */
  timeout: number;
  /** Whether the adapter's standard error is passed on. */
  verbose: boolean;
}

export class ProcessAdapter implements Adapter {
  readonly #options: ProcessOptions;
  #child: ChildProcess | undefined;
  #lines: AsyncIterator<string> | undefined;
  #lastId = 0;
  #hasAnswered = false;

  constructor(options: ProcessOptions) {
    this.#options = options;
  }

  async ask(request: Fields): Promise<Fields> {
    this.#start();
    const id = ++this.#lastId;
    try {
      this.#child!.stdin!.write(`${JSON.stringify({ id, ...request })}\n`);
      const answer = parseAnswer(await this.#readLine());
      if (answer.id !== id) {
        throw new AdapterError(`answered with id ${JSON.stringify(answer.id)} where ${id} was asked`);
      }
      this.#hasAnswered = true;
      return answer;
    } catch (error) {
      await this.stop();
      if (this.#hasAnswered) throw error;
      const { command } = this.#options;
      throw new CannotRun(
        `${command}: ${(error as Error).message}. Run it by hand and give it {"id":1,"op":"select"}`,
      );
    }
  }

  /** Ends the process: by closing its input, and by force where that does not help. */
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
    child.stdin.on('error', () => {}); // it died; the line that does not come says so
    const lines = createInterface({ input: child.stdout });
    child.on('error', () => lines.close()); // it could not be started
    this.#child = child;
    this.#lines = lines[Symbol.asyncIterator]();
  }

  async #readLine(): Promise<string> {
    const { timeout } = this.#options;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new AdapterError(`no answer within ${timeout / 1000} s`)), timeout);
    });
    try {
      const { value, done } = await Promise.race([this.#lines!.next(), late]);
      if (done) throw new AdapterError('exited without an answer');
      return value;
    } finally {
      clearTimeout(timer);
    }
  }
}

function parseAnswer(line: string): Fields {
  let answer: unknown;
  try {
    answer = JSON.parse(line);
  } catch {
    throw new AdapterError(`answered a line that is not JSON: ${line.slice(0, 100)}`);
  }
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) {
    throw new AdapterError(`answered JSON that is not an object: ${line.slice(0, 100)}`);
  }
  return answer as Fields;
}

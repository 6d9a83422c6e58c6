/** A peer that reads and writes lines of JSON. It trusts the certificate of the tests. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { files } from './certificate.ts';

export class LineProgram {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  readonly #exit: Promise<unknown>;

  constructor(path: string, ...options: string[]) {
    this.#child = spawn(path, options, {
      stdio: ['pipe', 'pipe', 'inherit'],
      timeout: 120_000,
      env: { ...process.env, SSL_CERT_FILE: files.ca },
    });
    this.#exit = once(this.#child, 'exit');
    this.#lines = createInterface({ input: this.#child.stdout! })[Symbol.asyncIterator]();
  }

  write(line: object): void {
    this.#child.stdin!.write(`${JSON.stringify(line)}\n`);
  }

  /** The next line. Rejects if the program ends without one. */
  async read<Line>(): Promise<Line> {
    const { value, done } = await this.#lines.next();
    if (done) throw new Error('the program ended without a line');
    return JSON.parse(value);
  }

  /** Ends its input, and waits until it has exited. */
  async end(): Promise<void> {
    this.#child.stdin!.end();
    await this.#exit;
  }

  /** Ends the program, and waits until it has exited. */
  async kill(): Promise<void> {
    this.#child.kill();
    await this.#exit;
  }
}

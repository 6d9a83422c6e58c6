/** The programs of the client in Go (`examples/go`), which read and write lines. They trust the certificate of the tests. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { files } from './certificate.ts';

const FOLDER = new URL('../../examples/go/', import.meta.url);

/** The version of a Go module that is pinned in `go.mod`. */
export function versionOf(module: string): string {
  const text = readFileSync(new URL('go.mod', FOLDER), 'utf8');
  return new RegExp(`^\\s*(?:require )?${module} v(\\S+)`, 'm').exec(text)![1]!;
}

/** Compiles the programs. Throws if there is no Go. */
export function buildGo(): void {
  execFileSync('go', ['build', '-o', 'dist/', './cmd/...'], { cwd: FOLDER, stdio: 'inherit' });
}

export class GoProgram {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  readonly #exit: Promise<unknown>;

  constructor(name: 'adapter' | 'client', ...options: string[]) {
    this.#child = spawn(fileURLToPath(new URL(`dist/${name}`, FOLDER)), options, {
      stdio: ['pipe', 'pipe', 'inherit'],
      timeout: 120_000,
      env: { ...process.env, SSL_CERT_FILE: files.cert },
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
    if (done) throw new Error('the Go program ended without a line');
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

/** A Python program in this directory that reports in lines of JSON. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

export const PYTHON: string[] = ['bash', new URL('python', import.meta.url).pathname];
export const HIVEMIND: string[] = ['bash', new URL('hivemind', import.meta.url).pathname];

const REQUIREMENTS = ['requirements-hivemind.txt', '../../vectors/requirements.txt'];

/** The version of a Python package that is pinned in the requirements: in those that are given, or else in the usual ones. */
export function versionOf(name: string, ...files: string[]): string {
  const pins = [...files, ...REQUIREMENTS].map((file) =>
    readFileSync(new URL(file, import.meta.url), 'utf8'),
  );
  return new RegExp(`^${name}==(.*)$`, 'im').exec(pins.join(''))![1]!;
}

export class PythonPeer<Report> {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  constructor(command: string[], environment: NodeJS.ProcessEnv = {}) {
    this.#child = spawn(command[0]!, command.slice(1), {
      stdio: ['pipe', 'pipe', 'inherit'],
      timeout: 120_000,
      env: { ...process.env, ...environment },
    });
    this.#lines = createInterface({ input: this.#child.stdout! })[Symbol.asyncIterator]();
  }

  /** The next report. Rejects if the program ends without one. */
  async report(): Promise<Report> {
    const { value, done } = await this.#lines.next();
    if (done) throw new Error('the Python peer ended without a report');
    return JSON.parse(value);
  }

  /** Writes a line of JSON, and returns the report that follows. */
  ask(line: unknown): Promise<Report> {
    this.#child.stdin!.write(`${JSON.stringify(line)}\n`);
    return this.report();
  }

  /** Ends the program, and waits until it has exited. */
  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const gone = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.kill();
    await gone;
  }
}

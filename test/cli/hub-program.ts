/** The command `hub`, as a program. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bytesToHex, randomBytes } from 'hub-protocol-judge/internals';
import { until } from '../client/world.ts';
import { CLI } from './run.ts';

export class HubProgram {
  readonly #folder: string;
  #child: ChildProcess | undefined;
  /** What it has printed since it was started. */
  printed = '';

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Starts the hub, and waits until it says where it is. */
  async start(...options: string[]): Promise<void> {
    const child = spawn(process.execPath, [CLI, 'hub', this.#folder, ...options]);
    this.#child = child;
    this.printed = '';
    child.stdout.on('data', (data) => {
      this.printed += data;
    });
    const failed = once(child.stderr, 'data').then(([data]) => {
      throw new Error(String(data));
    });
    failed.catch(() => {}); // what it says later is for nobody
    await Promise.race([this.prints('Ctrl+C'), failed]);
  }

  /** Waits until it has printed a text. */
  async prints(text: string): Promise<void> {
    await until(() => this.printed.includes(text));
  }

  /** @returns its exit status */
  async stop(signal: NodeJS.Signals = 'SIGINT'): Promise<number> {
    const child = this.#child;
    if (child === undefined) throw new Error('an earlier test has not started the hub again');
    const ended = once(child, 'close');
    child.kill(signal);
    await until(() => child.exitCode !== null || child.signalCode !== null);
    this.#child = undefined;
    return (await ended)[0];
  }

  kill(): void {
    this.#child?.kill('SIGKILL');
  }

  /** Gives the stopped hub another static key. */
  changeKey(): void {
    const path = join(this.#folder, 'hub.json');
    const stored = JSON.parse(readFileSync(path, 'utf8'));
    writeFileSync(path, JSON.stringify({ ...stored, staticKey: bytesToHex(randomBytes(32)) }));
  }
}

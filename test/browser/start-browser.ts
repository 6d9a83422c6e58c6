/** Starts a browser without a window, and installs it if it is missing. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';

export interface Started {
  readonly child: ChildProcess;
  /** The browser's file descriptors 3 and 4. */
  readonly input: Writable;
  readonly output: Readable;
  /** Rejects if the browser ends. */
  readonly ended: Promise<never>;
  stop(): Promise<void>;
}

/** What can show pages. */
export interface Browser {
  navigate(url: string): Promise<void>;
  stop(): Promise<void>;
}

/** @param flags - for the browser */
export function startBrowser(name: 'chromium' | 'firefox', flags: string[] = []): Started {
  const script = fileURLToPath(new URL(name, import.meta.url));
  const folder = mkdtempSync(join(tmpdir(), 'hub-protocol-'));
  const child = spawn('bash', [script, folder, ...flags], {
    stdio: ['pipe', 'ignore', 'inherit', 'pipe', 'pipe'],
    detached: true,
  });
  const exit = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const ended = exit.then((code) => Promise.reject(new Error(`${name} ended with ${code}`)));
  ended.catch(() => {}); // whoever waits for the browser is told
  return {
    child,
    input: child.stdio[3] as Writable,
    output: child.stdio[4] as Readable,
    ended,
    async stop() {
      child.stdin!.end(); // which ends the browser
      await exit;
      rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

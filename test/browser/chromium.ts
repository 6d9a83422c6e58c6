/** Starts headless Chromium, and installs it if it is missing. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';

export interface Chromium {
  /** Its file descriptors 3 and 4 are pipes. */
  readonly child: ChildProcess;
  stop(): Promise<void>;
}

/** @param args - flags and a URL */
export function startChromium(args: string[]): Chromium {
  const script = fileURLToPath(new URL('chromium', import.meta.url));
  const folder = mkdtempSync(join(tmpdir(), 'hub-protocol-'));
  const child = spawn('bash', [script, folder, ...args], {
    stdio: ['pipe', 'ignore', 'inherit', 'pipe', 'pipe'],
    detached: true,
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  return {
    child,
    async stop() {
      (child.stdin as Writable).end(); // which ends Chromium
      await ended;
      rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

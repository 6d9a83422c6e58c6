/** Derives PSKs, and shows progress on a terminal. */

import { derive } from 'hub-protocol-client/hub';
import { derivePsk, nodeCrypto, printable, utf8ToBytes } from 'hub-protocol-judge/internals';

const CLEAR_LINE = '\r\x1b[K';

/** @param label - shown next to the bar */
export function deriveWithProgress(password: string, nodeId: string, label: string): Promise<Uint8Array> {
  const salt = nodeCrypto.sha256(utf8ToBytes(nodeId));
  return derive(password, salt, (progress) => show(progress, label));
}

/** The same at once: Ctrl+C ends the program where it is. */
export function deriveAtOnce(password: string, nodeId: string, label: string): Uint8Array {
  const onProgress = (progress: number): void => draw(progress, label);
  return derivePsk({ crypto: nodeCrypto, password, nodeId, onProgress });
}

/** Shows progress from 0 to 1 on a terminal; 1 removes it, and so does Ctrl+C. */
export function show(progress: number, label: string): void {
  const { stderr } = process;
  if (!stderr.isTTY) return;
  // Without the listener for a moment, the system would drop the signal.
  if (progress === 1) process.off('SIGINT', interrupt);
  else if (!process.listeners('SIGINT').includes(interrupt)) process.on('SIGINT', interrupt);
  draw(progress, label);
}

let drawn = '';

/** Shows progress while the event loop stands still. */
export function draw(progress: number, label: string): void {
  const { stderr } = process;
  if (!stderr.isTTY) return;
  const bar = `${'█'.repeat(Math.round(20 * progress)).padEnd(20, '░')} ${printable(label)}`;
  // A line that is as long as the terminal is wide would wrap, and stay.
  const line = progress === 1 ? '' : bar.slice(0, stderr.columns - 1);
  if (line !== drawn) stderr.write(CLEAR_LINE + line);
  drawn = line;
}

function interrupt(): void {
  process.off('SIGINT', interrupt);
  process.stderr.write(CLEAR_LINE);
  process.kill(process.pid, 'SIGINT');
}

/** Derives PSKs, and shows progress on a terminal. */
import { printable } from '../../judge/src/printable.ts';
import { derivePsk, nodeCrypto } from './protocol.ts';

const CLEAR_LINE = '\r\x1b[K';

/** @param label - shown next to the bar */
export function deriveWithProgress(password: string, nodeId: string, label: string): Uint8Array {
  const onProgress = (progress: number): void => show(progress, label);
  return derivePsk({ crypto: nodeCrypto, password, nodeId, onProgress });
}

/** Shows progress from 0 to 1 on a terminal; 1 removes it. */
export function show(progress: number, label: string): void {
  if (!process.stderr.isTTY) return;
  const bar = '█'.repeat(Math.round(20 * progress)).padEnd(20, '░');
  process.stderr.write(progress === 1 ? CLEAR_LINE : `${CLEAR_LINE}${bar} ${printable(label)}`);
}

/** Derives PSKs, and shows progress on a terminal. */
import { derivePsk, nodeCrypto } from './protocol.ts';

const CLEAR_LINE = '\r\x1b[K';

/** @param label - what is shown beside the bar */
export function deriveWithProgress(password: string, nodeId: string, label: string): Uint8Array {
  const onProgress = process.stderr.isTTY ? (progress: number) => show(progress, label) : undefined;
  return derivePsk({ crypto: nodeCrypto, password, nodeId, onProgress });
}

function show(progress: number, label: string): void {
  const bar = '█'.repeat(Math.round(20 * progress)).padEnd(20, '░');
  process.stderr.write(progress === 1 ? CLEAR_LINE : `${CLEAR_LINE}${bar} ${label}`);
}

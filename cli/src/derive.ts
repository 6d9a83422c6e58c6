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

/** A node id on one line, cut: it may be a PEM of many lines, and the hub wrote it. */
export function shownNodeId(nodeId: string): string {
  const quoted = JSON.stringify(nodeId).replace(/[\u007f-\u009f\u2028-\u202e]/g, '?');
  return quoted.length > 60 ? `${quoted.slice(0, 57)}…"` : quoted;
}

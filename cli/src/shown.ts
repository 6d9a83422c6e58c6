/** Shows strings that a peer wrote: quoted, on one line, without control characters, and cut. */
import { printable } from 'hub-protocol-judge/internals';

const LONGEST = 60;
const MOST = 20;

/** @param text - such as a node id, which may be a PEM of many lines */
export function shown(text: string): string {
  const quoted = printable(JSON.stringify(text));
  return quoted.length > LONGEST ? `${quoted.slice(0, LONGEST - 2)}…"` : quoted;
}

/** @param texts - such as the patterns of an offer */
export function shownList(texts: readonly string[]): string {
  if (texts.length === 0) return 'none';
  const all = texts
    .slice(0, MOST)
    .map((text) => (/^\w+$/.test(text) && text.length <= LONGEST ? text : shown(text)));
  return [...all, ...(texts.length > MOST ? [`and ${texts.length - MOST} more`] : [])].join(', ');
}

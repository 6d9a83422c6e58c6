/** Shows strings that a peer wrote: quoted, on one line, without control characters, and cut. */

const LONGEST = 60;

/** @param text - such as a node id, which may be a PEM of many lines */
export function shown(text: string): string {
  const quoted = JSON.stringify(text).replace(/[\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g, '?');
  return quoted.length > LONGEST ? `${quoted.slice(0, LONGEST - 2)}…"` : quoted;
}

/** @param texts - such as the patterns of an offer */
export function shownList(texts: readonly string[]): string {
  if (texts.length === 0) return 'none';
  return texts.map((text) => (/^\w+$/.test(text) && text.length <= LONGEST ? text : shown(text))).join(', ');
}

const WIDTH = 110;

/** Breaks a text into lines of at most 110 characters. The first line starts with `start`, the others are indented alike. */
export function wrapped(start: string, text: string): string {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && start.length + line.length + 1 + word.length > WIDTH) {
      lines.push(line);
      line = word;
    } else line += line === '' ? word : ` ${word}`;
  }
  return start + [...lines, line].join(`\n${' '.repeat(start.length)}`);
}

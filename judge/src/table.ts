/** Text for terminals of 80 columns. */

const WIDTH = 80; // characters

/** Two columns, the second of which has as many lines as it needs. */
export function table(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([name]) => name.length)) + 4;
  return rows.map(([name, text]) => `${wrapped(`  ${name}`.padEnd(width), text, WIDTH)}\n`).join('');
}

/** Breaks a text into lines of at most `width` characters. The first line starts with `start`, the others are indented alike. */
export function wrapped(start: string, text: string, width: number): string {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && start.length + line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line += line === '' ? word : ` ${word}`;
  }
  return start + [...lines, line].join(`\n${' '.repeat(start.length)}`);
}

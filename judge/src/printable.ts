/**
 * Text for terminals: in columns, and made safe. Text of a peer, a file or an adapter may contain characters that move the cursor, send
 * commands to the terminal, reverse text, or are invisible.
 */

/** Controls (C0 and C1), format characters (such as direction marks), line and paragraph separators, lone surrogates. */
const UNSAFE = /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/**
 * Writes each unsafe character as `\u` and four digits. Line feeds and tabs stay. JSON remains JSON with the same value,
 * since such characters occur only in its strings.
 */
export function printable(text: string): string {
  return text.replace(UNSAFE, (character) => {
    const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
    return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
  });
}

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

/** Draws the worked example of docs/reference/protocol.md from what the generator of the vectors computes (worked_example.py). */
import { readFileSync } from 'node:fs';
import { type Drawn, pageWith } from './draw.ts';

/** A line of the example: a name, and its text or its bytes in hex. */
export type Line = { readonly name: string } & ({ readonly text: string } | { readonly bytes: string });

const FILE = new URL('../vectors/generate/worked-example.json', import.meta.url);

/** The parts of the example, by their names in the comments of the page. */
export const WORKED_EXAMPLE: { readonly [part: string]: readonly Line[] } = JSON.parse(
  readFileSync(FILE, 'utf8'),
);

const INDENT = 20;
const HEX_WIDTH = 64;
const TEXT_WIDTH = 100;

/** The lines as text: each value wrapped below itself. */
function block(lines: readonly Line[]): string {
  const drawn = lines.map((line) => {
    const [text, width] = 'text' in line ? [line.text, TEXT_WIDTH] : [line.bytes, HEX_WIDTH];
    const pieces = text.match(new RegExp(`.{1,${width}}`, 'g'))!;
    return line.name.padEnd(INDENT) + pieces.join(`\n${' '.repeat(INDENT)}`);
  });
  return ['```text', ...drawn, '```'].join('\n');
}

export function workedExample(): Drawn {
  const parts = Object.entries(WORKED_EXAMPLE).map(([name, lines]) => [`worked ${name}`, block(lines)]);
  return pageWith('docs/reference/protocol.md', Object.fromEntries(parts));
}

/**
 * Writes figures into the documents, and the commit at which they were measured. A part of a page that was measured is between
 * `<!-- measured: its name -->` and `<!-- end -->`, and ends with that sentence.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { withParts } from './draw.ts';

const ROOT = new URL('../', import.meta.url);

function git(...words: string[]): string {
  const { status, stdout } = spawnSync('git', words, { cwd: ROOT, encoding: 'utf8' });
  return status === 0 ? stdout.trim() : '';
}

/** The sentence for what this program measures. It names the commit at which the program started, since some take hours. */
export const MEASURED: string = sentence();

function sentence(): string {
  const commit = git('rev-parse', '--short=7', 'HEAD');
  const changes = git('status', '--porcelain', '--', ':!*.md', ':!*.svg');
  const of = `${commit === '' ? 'an unknown commit' : `commit \`${commit}\``}${changes === '' ? '' : ' with changes'}`;
  return `Measured at ${of} on ${new Date().toISOString().slice(0, 10)}.`;
}

/**
 * Writes measured parts into a page of the project.
 * @param path - from the root of the project
 * @param measured - the sentence, if another program measured them
 */
export function writeMeasured(
  path: string,
  parts: { readonly [name: string]: string },
  measured: string = MEASURED,
): void {
  const page = new URL(path, ROOT);
  const texts = Object.entries(parts).map(([name, text]) => [name, `${text}\n\n${measured}`]);
  writeFileSync(page, withParts(readFileSync(page, 'utf8'), Object.fromEntries(texts), 'measured'));
}

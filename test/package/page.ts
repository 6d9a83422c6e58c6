/** What a page tells its reader to do, in the page's order: commands to run, and code to save in files. */
import { readFileSync } from 'node:fs';

export type Step =
  | { readonly do: 'run'; readonly line: string }
  | { readonly do: 'append'; readonly file: string; readonly code: string };

/** A block of code, or a command to install in the text; blocks in lists are indented. */
const PARTS = /^( *)```(\w+)\n(.*?)^ *```$|`(npm install [^`]*)`/gms;
/** "Save it as `kiosk.mjs`", or "one below the other in `kiosk.mjs`". */
const FILE = /(?:[Ss]ave (?:this|it) as|one below the other in)\s+`([\w.]+)`/g;

/**
 * The steps of a page. A block of code belongs to the file that the text above it names; further blocks in the same language
 * continue the file.
 */
export function stepsOf(page: string): Step[] {
  const text = readFileSync(new URL(`../../${page}`, import.meta.url), 'utf8');
  const steps: Step[] = [];
  let language: string | undefined;
  for (const part of text.matchAll(PARTS)) {
    const [, , written, code, inText] = part;
    const lines = inText === undefined ? (written === 'sh' ? code!.split('\n') : []) : [inText];
    for (const line of lines.map((text) => text.replace(/ +#.*/, '').trim())) {
      if (line !== '') steps.push({ do: 'run', line });
    }
    const before = text.slice(0, part.index);
    const named = [...before.matchAll(FILE)].pop();
    if (inText !== undefined || written === 'sh' || named === undefined) continue;
    const isFirst = !/^ *```(?!sh)\w/m.test(before.slice(named.index));
    if (isFirst) language = written;
    if (written === language) steps.push({ do: 'append', file: named[1]!, code: code! });
  }
  return steps;
}

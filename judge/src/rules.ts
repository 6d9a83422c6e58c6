/** The rules of docs/reference/protocol.md that a vector tests. The build writes them from the page. */
import { readFileSync } from 'node:fs';
import type { Vector } from './vectors.ts';

/** The rules that name a flag, a type of group or a tcId, by file and name. */
type Rules = { readonly [file: string]: { readonly [name: string]: readonly string[] } };

let rules: Rules | undefined;

function read(): Rules {
  try {
    return JSON.parse(readFileSync(new URL('../dist/rules.json', import.meta.url), 'utf8'));
  } catch {
    return {}; // the sources without a build
  }
}

export function rulesOf(file: string, type: string, { tcId, flags }: Vector): string[] {
  rules ??= read();
  const own = rules[file] ?? {};
  return [...new Set([...flags, type, String(tcId)].flatMap((name) => own[name] ?? []))];
}

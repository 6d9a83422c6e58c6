/** Draws parts of pages, such as Mermaid diagrams and Markdown tables, from the tables of the code. */
import { readFileSync } from 'node:fs';

/** The texts of files by their paths in the project. */
export type Drawn = { readonly [path: string]: string };

/** A state diagram in Mermaid. The first state is the initial one. */
export function mermaid(states: readonly string[], edges: readonly string[]): string {
  const lines = [
    'stateDiagram-v2',
    ...states.map((state) => `    state "${state}" as ${idOf(state)}`),
    `    [*] --> ${idOf(states[0]!)}`,
    ...edges,
  ];
  return ['```mermaid', ...lines, '```'].join('\n');
}

export function idOf(state: string): string {
  return state.replace(/-/g, '_');
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

export function code(text: string): string {
  return `\`${text}\``;
}

/** A number, rounded, with a comma after each group of three digits. */
export function grouped(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: 0 });
}

/** A page with its generated parts up to date. A part is between `<!-- drawn: its name -->` and `<!-- end -->`. */
export function withParts(
  page: string,
  parts: { readonly [name: string]: string },
  kind: 'drawn' | 'measured' = 'drawn',
): string {
  let result = page;
  for (const [name, text] of Object.entries(parts)) {
    const [start, end] = [`<!-- ${kind}: ${name} -->`, '<!-- end -->'];
    const from = result.indexOf(start);
    const to = result.indexOf(end, from);
    if (from < 0 || to < 0) throw new Error(`the page has no place for the ${name}`);
    result = `${result.slice(0, from + start.length)}\n${text}\n${result.slice(to)}`;
  }
  return result;
}

/** A page of the project with its generated parts up to date. */
export function pageWith(path: string, parts: { readonly [name: string]: string }): Drawn {
  return { [path]: withParts(readFileSync(new URL(`../${path}`, import.meta.url), 'utf8'), parts) };
}

/** JavaScript syntax trees: parsing, walking and editing. */
import { type AnyNode, parse } from 'acorn';

export function parseModule(code: string): AnyNode {
  return parse(code, { ecmaVersion: 2022, sourceType: 'module' });
}

/** Visits a node, and its children where `visit` returns true. */
export function walk(node: AnyNode, visit: (node: AnyNode) => boolean): void {
  if (!visit(node)) return;
  for (const child of Object.values(node)) {
    for (const item of Array.isArray(child) ? child : [child]) {
      if (typeof item?.type === 'string') walk(item, visit);
    }
  }
}

export function isFunction({ type }: AnyNode): boolean {
  return /Function/.test(type);
}

/** A replacement for a range of the code. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Applies edits, except those inside others. Shorter replacements are padded with spaces, for the source map. */
export function edited(code: string, edits: readonly Edit[]): string {
  let result = '';
  let at = 0;
  for (const { start, end, text } of [...edits].sort((a, b) => a.start - b.start)) {
    if (start < at) continue;
    result += code.slice(at, start) + text + code.slice(start + text.length, end).replace(/[^\n]/g, ' ');
    at = end;
  }
  return result + code.slice(at);
}

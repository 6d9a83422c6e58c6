/** The rules of docs/reference/protocol.md, and the vectors that they name. */
import { readFileSync } from 'node:fs';
import type { Vector, VectorFile } from 'hub-protocol-judge/internals';

export const PAGE: string = readFileSync(new URL('../docs/reference/protocol.md', import.meta.url), 'utf8');

export interface Rule {
  readonly id: string;
  readonly mark: string;
  /** The text in italics at the end. */
  readonly vectors: string;
}

/** The rules of the page: each is an item of a list that starts with an id. */
export function rulesOf(page: string): Rule[] {
  const items = page.match(/^- \*\*P-[\s\S]*?(?=\n(?:- |\n|$))/gm) ?? [];
  return items.map((item) => {
    const [, id, mark] = /^- \*\*(P-\d+)\*\* \(([^)]+)\) /.exec(item) ?? [];
    const [, vectors] = /\*((?:Vectors|No vector): [^*]+)\.\*$/.exec(item.replace(/\s+/g, ' ')) ?? [];
    return { id: id ?? item, mark: mark ?? '', vectors: vectors ?? '' };
  });
}

/** A file and the names in it that a rule refers to: flags, types of groups, `tcId`s. */
export interface Reference {
  readonly rule: string;
  readonly file: string;
  readonly names: readonly string[];
}

export function referencesOf({ id, vectors }: Rule): Reference[] {
  if (!vectors.startsWith('Vectors: ')) return [];
  return vectors
    .slice('Vectors: '.length)
    .split('; ')
    .map((reference) => {
      const [file, ...names] = reference.split(/,? /) as [string, ...string[]];
      return { rule: id, file, names };
    });
}

/** The names under which rules can refer to the tests of a file. */
export function namesIn({ notes, testGroups }: VectorFile): {
  flags: string[];
  types: string[];
  ids: string[];
} {
  return {
    flags: Object.keys(notes ?? {}),
    types: [...new Set(testGroups.map(({ type }) => type))],
    ids: testGroups.flatMap(({ tests }) => tests.map(({ tcId }) => String(tcId))),
  };
}

/** Whether a reference names a test of a group of this type, in the referenced file. */
export function isNamed({ names }: Reference, type: string, { tcId, flags }: Vector): boolean {
  return [...flags, type, String(tcId)].some((name) => names.includes(name));
}

/** Lists the members that can have shorter names in single files for devices, which a minifier cannot know. */
import { readdirSync, readFileSync } from 'node:fs';
import swc from '@swc/core';
import type { ObjectExpression } from 'acorn';
import { parseModule, walk } from './syntax.ts';

/**
 * Returns the members that can have shorter names. Private members can if the bundle uses them only as methods and after
 * `this` or in `const { … } = this`, and no class has a public member of that name. Members of internal classes can if no type for users and no
 * built-in object has the name. A name in a string literal, which could be used for access, or a key of an object always
 * stays.
 * @param known - the names visible to users
 */
export function shortenedNames(sources: string, bundle: string, known: ReadonlySet<string>): string[] {
  const privateNames = new Set<string>();
  const publicNames = new Set<string>();
  for (const path of readdirSync(sources, { recursive: true, encoding: 'utf8' })) {
    if (!path.endsWith('.ts')) continue;
    for (const { name, isPublic } of membersIn(readFileSync(`${sources}/${path}`, 'utf8'))) {
      (isPublic ? publicNames : privateNames).add(name);
    }
  }
  for (const name of publicNames) privateNames.delete(name);
  const internalNames = new Set([...publicNames].filter((name) => !known.has(name) && !BUILT_IN.has(name)));
  const ofThis = new Set<unknown>(); // the properties of `const { … } = this`
  walk(parseModule(bundle), (node) => {
    if (node.type === 'VariableDeclarator' && node.init?.type === 'ThisExpression') {
      if (node.id.type === 'ObjectPattern') for (const property of node.id.properties) ofThis.add(property);
    }
    if (node.type === 'Literal') {
      privateNames.delete(String(node.value));
      internalNames.delete(String(node.value));
    }
    if (node.type === 'ObjectExpression') for (const name of keysOf(node)) internalNames.delete(name);
    if (node.type === 'Property' && node.key.type === 'Identifier' && !ofThis.has(node)) {
      privateNames.delete(node.key.name);
    }
    if (node.type === 'MemberExpression' && node.property.type === 'Identifier') {
      if (node.object.type !== 'ThisExpression') privateNames.delete(node.property.name);
    }
    return true;
  });
  return [...privateNames, ...internalNames];
}

function keysOf({ properties }: ObjectExpression): string[] {
  return properties.flatMap((property) =>
    property.type === 'Property' && property.key.type === 'Identifier' ? [property.key.name] : [],
  );
}

/** The names of the members of built-in objects. */
const BUILT_IN = new Set(
  Object.getOwnPropertyNames(globalThis).flatMap((name) => {
    const value: unknown = (globalThis as Record<string, unknown>)[name];
    const members = (object: unknown): string[] =>
      object === null || object === undefined ? [] : Object.getOwnPropertyNames(Object(object));
    return [...members(value), ...members((value as { prototype?: unknown } | undefined)?.prototype)];
  }),
);

/** The members of the classes in a source. */
function membersIn(source: string): { name: string; isPublic: boolean }[] {
  const members: { name: string; isPublic: boolean }[] = [];
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    const { type, key, accessibility } = node as Partial<swc.ClassMethod>;
    if (/^Class(?:Method|Property)$/.test(type ?? '') && key?.type === 'Identifier') {
      members.push({ name: key.value, isPublic: !accessibility || accessibility === 'public' });
    }
    Object.values(node).forEach(visit);
  };
  visit(swc.parseSync(source, { syntax: 'typescript' }));
  return members;
}

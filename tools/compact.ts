/** Lists the members that can have shorter names in single files for devices, which a minifier cannot know. */
import { readdirSync, readFileSync } from 'node:fs';
import swc from '@swc/core';
import type { AnyNode, ObjectExpression, ObjectPattern } from 'acorn';
import { parseModule, walk } from './syntax.ts';

/**
 * Returns the members that can have shorter names.
 *
 * - Private members can if the bundle uses them only as methods and after `this` or in `const { … } = this`, and no class has
 *   a public member of that name.
 * - Members of internal classes and object types can if no type for users and no built-in object has the name. Where an object
 *   is made or taken apart, one type in `sources` must declare all of its fields that users do not know: a field
 *   of a message is not declared in a type.
 *
 * A name in a string literal, which could be used for access, always stays.
 * @param known - the names visible to users
 */
export function shortenedNames(sources: string, bundle: string, known: ReadonlySet<string>): string[] {
  const { privateNames, publicNames, types } = declaredIn(sources);
  for (const name of publicNames) privateNames.delete(name);
  const declared = [...publicNames, ...types.flatMap((type) => [...type])];
  const internalNames = new Set(declared.filter((name) => !known.has(name) && !BUILT_IN.has(name)));
  const ofThis = new Set<unknown>(); // the patterns of `const { … } = this`, and their properties
  walk(parseModule(bundle), (node) => {
    if (node.type === 'VariableDeclarator' && node.init?.type === 'ThisExpression') {
      ofThis.add(node.id);
      if (node.id.type === 'ObjectPattern') for (const property of node.id.properties) ofThis.add(property);
    }
    if (node.type === 'Literal') {
      privateNames.delete(String(node.value));
      internalNames.delete(String(node.value));
    }
    if (node.type === 'ObjectExpression' || (node.type === 'ObjectPattern' && !ofThis.has(node))) {
      const unknown = keysOf(node).filter((name) => !known.has(name));
      const isDeclared = types.some((type) => unknown.every((name) => type.has(name)));
      if (!isDeclared) for (const name of unknown) internalNames.delete(name);
    }
    if (node.type === 'Property' && !node.computed && node.key.type === 'Identifier' && !ofThis.has(node)) {
      privateNames.delete(node.key.name);
    }
    if (node.type === 'MemberExpression' && !node.computed && node.property.type === 'Identifier') {
      if (node.object.type !== 'ThisExpression') privateNames.delete(node.property.name);
    }
    return true;
  });
  return [...new Set([...privateNames, ...internalNames])];
}

/** Throws if a bundle still has a name that was to be shortened: one part of it would not find what another part wrote. */
export function assertShortened(code: string, names: readonly string[]): void {
  const shortened = new Set(names);
  const left = new Set<string>();
  walk(parseModule(code), (node) => {
    for (const name of namesUsedBy(node)) if (shortened.has(name)) left.add(name);
    return true;
  });
  if (left.size > 0) throw new Error(`names that could not be shortened: ${[...left].join(', ')}`);
}

/** The members that a node names: as a key, after a dot, or in a string. */
function namesUsedBy(node: AnyNode): string[] {
  if (node.type === 'Literal' && typeof node.value === 'string') return [node.value];
  if (node.type === 'MemberExpression') return nameOf(node.property, node.computed);
  const isMember =
    node.type === 'Property' || node.type === 'MethodDefinition' || node.type === 'PropertyDefinition';
  return isMember ? nameOf(node.key, node.computed) : [];
}

function nameOf(key: AnyNode, isComputed: boolean): string[] {
  if (isComputed) return [];
  return key.type === 'Identifier' ? [key.name] : key.type === 'Literal' ? [String(key.value)] : [];
}

function keysOf({ properties }: ObjectExpression | ObjectPattern): string[] {
  return properties.flatMap((property: AnyNode) =>
    property.type === 'Property' ? nameOf(property.key, property.computed) : [],
  );
}

/** Objects that the language makes or takes: descriptors, iterators, matches and errors. */
const OF_THE_LANGUAGE: readonly unknown[] = [
  ...[
    { a: 0 },
    {
      get a() {
        return 0;
      },
    },
  ].map((object) => Object.getOwnPropertyDescriptor(object, 'a')),
  [0].values().next(),
  Object.getPrototypeOf([0].values()),
  Object.getPrototypeOf(Uint8Array.prototype),
  Object.getPrototypeOf(Object.getPrototypeOf((function* () {})())),
  /(?<a>)/.exec(''),
  Object.assign(new Error(), { cause: 0 }),
];

/** The names of the members of built-in objects. */
const BUILT_IN = new Set(
  [
    ...OF_THE_LANGUAGE,
    ...Object.getOwnPropertyNames(globalThis).flatMap((name) => {
      const value: unknown = (globalThis as Record<string, unknown>)[name];
      return [value, (value as { prototype?: unknown } | undefined)?.prototype];
    }),
  ].flatMap((object) =>
    object === null || object === undefined ? [] : Object.getOwnPropertyNames(Object(object)),
  ),
);

/** A node of a syntax tree of swc. */
// biome-ignore lint/suspicious/noExplicitAny: the fields of a node depend on its type
type SwcNode = any;

/** What the sources declare: the members of their classes, and the fields of each object type. */
interface Declared {
  readonly privateNames: Set<string>;
  readonly publicNames: Set<string>;
  readonly types: readonly Set<string>[];
}

function declaredIn(sources: string): Declared {
  const [privateNames, publicNames] = [new Set<string>(), new Set<string>()];
  const types: Set<string>[] = [];
  const named = new Map<string, Set<string>>();
  const inheriting: { readonly type: Set<string>; readonly parents: readonly string[] }[] = [];
  const visit = (node: SwcNode): void => {
    if (typeof node !== 'object' || node === null) return;
    if (/^Class(?:Method|Property)$/.test(node.type ?? '') && node.key?.type === 'Identifier') {
      const isPublic = !node.accessibility || node.accessibility === 'public';
      (isPublic ? publicNames : privateNames).add(node.key.value);
    }
    if (node.type === 'TsInterfaceDeclaration' || node.type === 'TsTypeLiteral') {
      const members: readonly SwcNode[] = node.members ?? node.body.body;
      const type = new Set<string>(
        members.flatMap(({ key }) => (key?.type === 'Identifier' ? [key.value] : [])),
      );
      types.push(type);
      if (node.id !== undefined) {
        named.set(node.id.value, type);
        inheriting.push({ type, parents: node.extends.map(({ expression }: SwcNode) => expression.value) });
      }
    }
    Object.values(node).forEach(visit);
  };
  for (const path of readdirSync(sources, { recursive: true, encoding: 'utf8' })) {
    if (!path.endsWith('.ts')) continue;
    visit(swc.parseSync(readFileSync(`${sources}/${path}`, 'utf8'), { syntax: 'typescript' }));
  }
  const inherit = (type: Set<string>): void => {
    for (const { parents } of inheriting.filter((one) => one.type === type)) {
      for (const parent of parents.flatMap((name) => named.get(name) ?? [])) {
        inherit(parent);
        for (const name of parent) type.add(name);
      }
    }
  };
  types.forEach(inherit);
  return { privateNames, publicNames, types };
}

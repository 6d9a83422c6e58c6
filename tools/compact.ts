/**
 * Makes single files for devices smaller than a minifier can: removes error messages, a sixth of the file, and lists the
 * members that can have shorter names. Programs read `error.code`, which stays.
 *
 * Messages are identified by position, never by content. A message is
 *
 * 1. the second argument of `new LocalError(code, message, cause)` or `new RemoteError(code, message)`;
 * 2. the argument of a plain error that is thrown, as in `throw new RangeError(message)`, which only noble does;
 * 3. an argument or the value of a variable that is used in messages only, like `fault` if its only use is
 *    ``new LocalError('bad-endpoint', `the URL ${fault}`)``.
 *
 * A message that starts with the quoted name of an argument is reduced to code and name: `"crypto" expected object`
 * becomes `bad-argument: crypto`. test/bundles/compact.test.ts shows that nothing else changes.
 */
import { readdirSync, readFileSync } from 'node:fs';
import swc from '@swc/core';
import type { AnyNode, CallExpression, NewExpression, ObjectExpression } from 'acorn';
import { type Edit, edited, isNamed, Names, parseModule, walk } from './syntax.ts';

/** The replacement for a message, and the expressions of the original that it contains. */
interface Kept {
  readonly text: string;
  readonly expressions?: readonly AnyNode[];
}

/** Removes the messages from a bundled module. Line numbers stay the same, for the source map. */
export function withoutMessages(code: string): string {
  const tree = parseModule(code);
  const names = new Names(tree);
  const edits: Edit[] = [];
  const inMessages = new Set<AnyNode>();
  const areInMessages = (reads: readonly AnyNode[]): boolean => reads.every((read) => inMessages.has(read));
  const cut = (message: AnyNode, kept: Kept = { text: '""' }, start: number = message.start): void => {
    if (inMessages.has(message)) return;
    walk(message, (node) => !kept.expressions?.includes(node) && inMessages.add(node).size > 0);
    edits.push({ start, end: message.end, text: kept.text });
  };
  const cutArgument = ({ arguments: all }: CallExpression | NewExpression, index: number): void => {
    const argument = all[index];
    if (argument === undefined) return;
    if (index < all.length - 1) cut(argument);
    else cut(argument, { text: '' }, all[index - 1]?.end);
  };

  walk(tree, (node) => {
    if (node.type === 'NewExpression' && isNamed(node.callee, 'LocalError', 'RemoteError')) {
      const kept = codeAndName(node);
      if (kept === undefined) cutArgument(node, 1);
      else cut(node.arguments[1]!, kept);
    }
    if (node.type === 'ThrowStatement' && node.argument.type === 'NewExpression') {
      if (isNamed(node.argument.callee, 'Error', 'TypeError', 'RangeError')) cutArgument(node.argument, 0);
    }
    return true;
  });

  // Removing a message may remove the last other use of an argument or variable, so repeat until no more are found.
  for (let found = -1; found < edits.length; ) {
    found = edits.length;
    for (const { definitions, calls } of names.callables.values()) {
      for (let i = 0; definitions.some(({ params }) => i < params.length); i++) {
        if (!definitions.every((definition) => areInMessages(names.readsOfArgument(i, definition)))) continue;
        for (const call of calls) cutArgument(call, i);
      }
    }
    for (const { value, reads } of names.variables) {
      if (reads.length > 0 && areInMessages(reads) && !actsOrCalls(value)) cut(value);
    }
  }
  return edited(code, edits);
}

/** The code of an error with the quoted name that its message starts with: a literal name, or variables with dots between them. */
function codeAndName({ arguments: [code, message] }: NewExpression): Kept | undefined {
  if (code?.type !== 'Literal') return undefined;
  let start = '';
  if (message?.type === 'Literal') start = String(message.value);
  if (message?.type === 'TemplateLiteral') {
    const parts = message.quasis.map(({ value }) => value.raw);
    const end = parts.findIndex((part, i) => i > 0 && part !== '.');
    const expressions = message.expressions.slice(0, Math.max(end, 0));
    const names = expressions.map((name) => (name.type === 'Identifier' ? `\${${name.name}}` : ''));
    if (parts[0] === '"' && parts[end]?.startsWith('" ') && !names.includes('')) {
      return { text: `\`${code.value}: ${names.join('.')}\``, expressions };
    }
    start = parts[0]!;
  }
  const [, name] = /^"([\w.]+)" /.exec(start) ?? [];
  return name === undefined ? undefined : { text: `"${code.value}: ${name}"` };
}

function actsOrCalls(value: AnyNode): boolean {
  let found = false;
  walk(value, ({ type }) => {
    found ||= /Call|New|Tagged|Await|Yield|Assignment|Update|Function|Class/.test(type);
    return !found;
  });
  return found;
}

/**
 * Returns the members that can have shorter names. Those of private members do if the bundle uses them only as methods and
 * after `this`, and no class has them as public ones. Those of classes that users do not get do if they are in no type that
 * users get and in no built-in object. None is in a string literal, which could be used to access it, or a key of an object.
 * @param known - the names in all that users get
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
  walk(parseModule(bundle), (node) => {
    if (node.type === 'Literal') {
      privateNames.delete(String(node.value));
      internalNames.delete(String(node.value));
    }
    if (node.type === 'ObjectExpression') for (const name of keysOf(node)) internalNames.delete(name);
    if (node.type === 'Property' && node.key.type === 'Identifier') privateNames.delete(node.key.name);
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

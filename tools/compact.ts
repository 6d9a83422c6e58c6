/**
 * Makes a device's single file smaller than a minifier can: takes the error messages out, a sixth of the file, and lists
 * the private members that may have shorter names. Programs read `error.code`, which stays.
 *
 * A message is known by its position, never by its looks. It is
 *
 * 1. the second argument of `new LocalError(code, message, cause)` and `new RemoteError(code, message)`,
 * 2. the argument of a plain error that is thrown, as in `throw new RangeError(message)`: only noble has these, and
 * 3. what is read in messages alone: the argument for a parameter, and the value of a variable, such as `fault` where
 *    ``new LocalError('bad-endpoint', `the URL ${fault}`)`` is all that is done with it.
 *
 * A message that starts with the quoted name of an argument is cut down to code and name: `"crypto" expected object`
 * becomes `bad-argument: crypto`. test/bundles/compact.test.ts shows that nothing else changes.
 */
import { readdirSync, readFileSync } from 'node:fs';
import type { AnyNode, CallExpression, NewExpression } from 'acorn';
import { type Edit, edited, isNamed, Names, parseModule, walk } from './syntax.ts';

/** What stays of a message, and the expression of the original that is in it, if any. */
interface Kept {
  readonly text: string;
  readonly expression?: AnyNode;
}

/** Takes the messages out of a bundled module. Lines stay where they are, for the source map. */
export function withoutMessages(code: string): string {
  const tree = parseModule(code);
  const names = new Names(tree);
  const edits: Edit[] = [];
  const inMessages = new Set<AnyNode>();
  const areInMessages = (reads: readonly AnyNode[]): boolean => reads.every((read) => inMessages.has(read));
  const cut = (message: AnyNode, kept: Kept = { text: '""' }, start: number = message.start): void => {
    if (inMessages.has(message)) return;
    walk(message, (node) => node !== kept.expression && inMessages.add(node).size > 0);
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

  // One that is cut may have been all that read another, so until no more are found.
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

/** The code of an error and the quoted name that its message starts with: a word, or a variable between the quotes. */
function codeAndName({ arguments: [code, message] }: NewExpression): Kept | undefined {
  if (code?.type !== 'Literal') return undefined;
  let start = '';
  if (message?.type === 'Literal') start = String(message.value);
  if (message?.type === 'TemplateLiteral') {
    const [first, second] = message.quasis.map(({ value }) => value.raw);
    const [expression] = message.expressions;
    if (first === '"' && second?.startsWith('" ') && expression?.type === 'Identifier') {
      return { text: `\`${code.value}: \${${expression.name}}\``, expression };
    }
    start = first!;
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
 * The private members that may have shorter names: those that appear in the bundle as methods and after `this` only, and
 * in no string, by which they could be called.
 */
export function privateNames(sources: string, bundle: string): string[] {
  const names = new Set<string>();
  const member = /^\s+(?:private|protected)\s+(?:(?:override|abstract|readonly|get)\s+)*(\w+)/gm;
  for (const path of readdirSync(sources, { recursive: true, encoding: 'utf8' })) {
    if (!path.endsWith('.ts')) continue;
    for (const [, name] of readFileSync(`${sources}/${path}`, 'utf8').matchAll(member)) names.add(name!);
  }
  walk(parseModule(bundle), (node) => {
    if (node.type === 'Literal') names.delete(String(node.value));
    if (node.type === 'Property' && node.key.type === 'Identifier') names.delete(node.key.name);
    if (node.type === 'MemberExpression' && node.property.type === 'Identifier') {
      if (node.object.type !== 'ThisExpression') names.delete(node.property.name);
    }
    return true;
  });
  return [...names];
}

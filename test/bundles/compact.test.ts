/**
 * The compactor takes error messages out and leaves everything else as it is: shown on samples, and on the real sources by
 * comparing their syntax trees before and after.
 */

import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import type { AnyNode, Expression, FunctionDeclaration } from 'acorn';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { bundleModule, FILES, namesForUsers } from '../../tools/bundles.ts';
import { shortenedNames, withoutMessages } from '../../tools/compact.ts';
import { isFunction, parseModule, walk } from '../../tools/syntax.ts';

const SAMPLES: readonly [what: string, before: string, after: string][] = [
  ['the message of an error', "new LocalError('a', 'b c');", "new LocalError('a');"],
  ['a message before a cause', "new LocalError('a', 'b c', d);", 'new LocalError(\'a\', "", d);'],
  ['a message that is composed', "new RemoteError('a', b ? c(d) : e + f);", "new RemoteError('a');"],
  [
    'all of a message but the name that it starts with',
    `new LocalError('a', '"b" expected c');`,
    `new LocalError('a', "a: b");`,
  ],
  [
    'all of a message but the variable name that it starts with',
    `new LocalError('a', \`"\${b}" expected c\`);`,
    `new LocalError('a', \`a: \${b}\`);`,
  ],
  [
    'all of a message but the variable names that it starts with, and the dot between them',
    `new LocalError('a', \`"\${b}.\${c}" expected \${d}\`);`,
    `new LocalError('a', \`a: \${b}.\${c}\`);`,
  ],
  [
    'a message that starts with what is no name',
    `new LocalError('a', \`"\${b.c}" expected d\`); new LocalError('a', \`"\${b}\${c}" expected d\`);`,
    `new LocalError('a'); new LocalError('a');`,
  ],
  ['the message of a plain error that is thrown', "throw new TypeError('b c');", 'throw new TypeError();'],
  [
    'what a function only puts into a message',
    "function f(a, b) { return new LocalError(a, b); } f('a', 'b');",
    "function f(a, b) { return new LocalError(a); } f('a');",
  ],
  [
    'what a method only puts into a message',
    "class A { f(a, b) { this.c = new LocalError('c', a); g(b); } h() { this.f('a', 'b'); } }",
    "class A { f(a, b) { this.c = new LocalError('c'); g(b); } h() { this.f(\"\", 'b'); } }",
  ],
  [
    'what is only passed on into a message',
    "function f(a) { throw g('b', a); } function g(a, b) { return new LocalError(a, b); } f('c');",
    "function f(a) { throw g('b'); } function g(a, b) { return new LocalError(a); } f();",
  ],
  [
    'a constant for messages',
    "const A = 'b c'; new LocalError('a', A);",
    'const A = ""; new LocalError(\'a\');',
  ],
];

const withoutBlanks = (code: string): string => code.replace(/ /g, '');

for (const [what, before, after] of SAMPLES) {
  test(`takes out ${what}`, () => {
    assert.is(withoutBlanks(withoutMessages(before)), withoutBlanks(after));
  });
}

for (const code of [
  "said.join(' ');",
  "const a = 'b c'; f(a);",
  `const text = \`\${a} \${b}\`;`,
  "new Problem('a', 'b c');",
  "const stack = new Error('b c').stack;",
  "function f(a) { return a.length; } f('b c');",
  "function f(a) { f = a; throw new LocalError('a'); } f('b c');",
  "function f(a) { log(arguments); throw new LocalError('a'); } f('b c');",
  "function f({ a }) { throw new LocalError('a'); } f('b c');",
  "function f(a) { throw new LocalError('a'); } function g(f) { f('b c'); }",
  "class A { f(a) {} } class B { f(a) { g(a); } h() { this.f('b c'); } }",
  "class A { f(a) {} h() { this.f = g; this.f('b c'); } }",
]) {
  test(`leaves ${code}`, () => assert.is(withoutMessages(code), code));
}

/** Where two trees differ: the node of each, after those that are around it. */
type Place = readonly [before: AnyNode, after: AnyNode | undefined][];

function differences(before: AnyNode, after: AnyNode | undefined, around: Place = []): Place[] {
  const place: Place = [...around, [before, after]];
  if (after?.type !== before.type) return [place];
  const found: Place[] = [];
  for (const [key, value] of Object.entries(before)) {
    if (key === 'start' || key === 'end' || key === 'raw') continue;
    const other = after[key as keyof AnyNode] as unknown;
    for (const [i, child] of (Array.isArray(value) ? value : [value]).entries()) {
      const twin = Array.isArray(other) ? other[i] : other;
      if (typeof child?.type === 'string') found.push(...differences(child, twin, place));
      else if (!isDeepStrictEqual(child, twin)) return [place];
    }
  }
  return found;
}

const nameOf = (node: AnyNode): string =>
  node.type === 'Identifier' ? node.name : node.type === 'MemberExpression' ? nameOf(node.property) : '';

function countOf(name: string, tree: AnyNode): number {
  let count = 0;
  walk(tree, (node) => (node.type === 'Identifier' && node.name === name ? count++ : 0) >= 0);
  return count;
}

/** The functions and methods of this name that do not read their parameter at this index. */
function nonReaders(name: string, index: number, tree: AnyNode): number {
  let count = 0;
  walk(tree, (node) => {
    const key =
      node.type === 'MethodDefinition'
        ? node.key
        : node.type === 'FunctionDeclaration'
          ? node.id!
          : undefined;
    if (key === undefined || nameOf(key) !== name) return true;
    const { params, body } = (node.type === 'MethodDefinition' ? node.value : node) as FunctionDeclaration;
    const parameter = params[index]?.type === 'AssignmentPattern' ? params[index].left : params[index];
    if (parameter && countOf(nameOf(parameter), body) === 0) count++;
    return true;
  });
  return count;
}

/** Whether the node at a place, or one around it, was a message, as the second tree shows. */
function isInMessage(place: Place, after: AnyNode): boolean {
  return place.some(([node], depth) => {
    const [[parent], [grandparent]] = [place[depth - 1] ?? [], place[depth - 2] ?? []];
    if (parent?.type === 'VariableDeclarator') {
      const scope =
        place
          .slice(0, depth)
          .filter(([outer]) => isFunction(outer))
          .at(-1)?.[1] ?? after;
      return node === parent.init && countOf(nameOf(parent.id), scope) === 1;
    }
    if (parent?.type !== 'NewExpression' && parent?.type !== 'CallExpression') return false;
    const index = parent.arguments.indexOf(node as Expression);
    const callee = nameOf(parent.callee);
    if (parent.type === 'CallExpression') return index >= 0 && nonReaders(callee, index, after) > 0;
    if (/^(?:Local|Remote)Error$/.test(callee)) return index === 1;
    return index === 0 && grandparent?.type === 'ThrowStatement' && /^(?:Type|Range)?Error$/.test(callee);
  });
}

for (const entry of new Set(FILES.filter(({ isCompact }) => isCompact).map(({ entry }) => entry))) {
  test(`takes nothing but messages out of ${entry}`, async () => {
    const { code } = await bundleModule(`bundles/${entry}.ts`, true);
    const [before, after] = [parseModule(code), parseModule(withoutMessages(code))];
    const places = differences(before, after);
    assert.ok(places.length > 20);
    for (const place of places) {
      const { start, end } = place.at(-1)![0];
      assert.ok(isInMessage(place, after), `${code.slice(start - 100, end)} is no message`);
    }
  });

  test(`takes no call out of ${entry} that does something`, async () => {
    const { code } = await bundleModule(`bundles/${entry}.ts`, true);
    const calls = new Set<string>();
    for (const place of differences(parseModule(code), parseModule(withoutMessages(code)))) {
      walk(place.at(-1)![0], (node) => {
        assert.not.match(node.type, /Assignment|Update|Await|Yield|Tagged/);
        if (node.type === 'CallExpression') calls.add(nameOf(node.callee));
        return true;
      });
    }
    assert.equal(
      [...calls]
        .filter(
          (name) =>
            !['atitle', 'fingerprint', 'join', 'kindOf', 'misnomersIn', 'namesOf', 'sentenceOf'].includes(
              name,
            ),
        )
        .sort(),
      [],
    );
  });
}

test('renames private members, and those of internal classes, but none that users or engines know', async () => {
  const { code } = await bundleModule('bundles/device.ts', true);
  const names = shortenedNames(fileURLToPath(new URL('../../src', import.meta.url)), code, namesForUsers());
  for (const name of ['takeSealed', 'assertIdle', 'computeAhead', 'writeByte'])
    assert.ok(names.includes(name), name);
  for (const name of ['providePsk', 'sharedSecret', 'call', 'length', 'hello', 'destroy']) {
    assert.not.ok(names.includes(name), name);
  }
});

test.run();

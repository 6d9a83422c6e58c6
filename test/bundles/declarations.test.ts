/** tools/declarations.ts: one file of types from many. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { FILES } from '../../tools/bundles.ts';
import { flatDeclarations } from '../../tools/declarations.ts';

const test = suite('declarations in one file');
const folder = mkdtempSync(join(tmpdir(), 'declarations-'));
test.after(() => rmSync(folder, { recursive: true }));

/** Writes `.d.ts` files, the entry first; returns the path of the entry. */
function write(...texts: string[]): string {
  for (const [i, text] of texts.entries()) writeFileSync(join(folder, `${'abcd'[i]}.d.ts`), text);
  return join(folder, 'a.d.ts');
}

test('brings what an export uses, with its comment, and nothing else', () => {
  const entry = write(
    "export { f } from './b.ts';\n",
    "import { type T } from './c.ts';\n/** Does. */\nexport declare function f(t: T): void;\nexport type Unused = 1;\n",
    '/** A type, é. */\nexport interface T { t: 1 }\n',
  );
  const f = '/** Does. */\ndeclare function f(t: T): void;';
  assert.is(flatDeclarations(entry), `${f}\n/** A type, é. */\ninterface T { t: 1 }\nexport { f };\n`);
  assert.is(flatDeclarations(entry, join(folder, 'c.d.ts'), false).split('\n').at(-2), 'export { T, f };');
});

test('keeps one of two declarations that are the same, and refuses two that are not', () => {
  const entry = "export * from './b.ts';\nexport type * from './c.ts';\n";
  const b = "type T = '/* 1 */';\nexport type B = T;\n";
  assert.is(
    flatDeclarations(write(entry, b, "/** The same. */\ntype T = '/* 1 */';\nexport type C = T;\n")).match(
      /type T/g,
    )?.length,
    1,
  );
  assert.throws(
    () => flatDeclarations(write(entry, b, "type T = '/* 2 */';\nexport type C = T;\n")),
    /declares T/,
  );
});

test('refuses imports of packages and of namespaces', () => {
  assert.throws(() => flatDeclarations(write("import { A } from 'a';\nexport type B = A;\n")), /imports a/);
  const namespace = "import * as b from './b.ts';\nexport type B = b.T;\n";
  assert.throws(() => flatDeclarations(write(namespace, 'export type T = 1;\n')), /ImportNamespace/);
});

test('every single file has its types beside it, without imports', () => {
  for (const { name } of FILES) {
    const types = readFileSync(new URL(`../../dist/${name.replace(/js$/, 'd.ts')}`, import.meta.url), 'utf8');
    assert.not.match(types, /\bimport\b|\bfrom '/, name);
    assert.match(types, /^export \{ /m, name);
  }
});

test.run();

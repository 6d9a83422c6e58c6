/** The types of the entries and of the single files: one `.d.ts` each, which tools/build.ts makes from many. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { FILES } from '../../tools/bundles.ts';
import { publicNames, withoutComments } from '../../tools/declared.ts';

const test = suite('declarations in one file');
const DIST = fileURLToPath(new URL('../../dist/', import.meta.url));
const TSC = fileURLToPath(new URL('../../node_modules/typescript/bin/tsc', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'declarations-'));
test.after(() => rmSync(folder, { recursive: true }));

const require = createRequire(import.meta.url);
const typesOf = (name: string): string => readFileSync(DIST + name.replace(/js$/, 'd.ts'), 'utf8');
const exportsOf = (types: string): string[] =>
  /^export \{ (.*) \};$/m
    .exec(types)![1]!
    .split(', ')
    .map((name) => name.replace(/^type /, ''));
// Only HandshakeState makes a Transport, so the class is exported as a type.
const isType = (types: string, name: string): boolean =>
  name === 'Transport' || new RegExp(`^(?:interface|type) ${name}\\b`, 'm').test(types);

for (const name of [
  'types.js',
  ...['js', 'noble', 'noble-aesgcm', 'node'].map((one) => `crypto/${one}.js`),
]) {
  test(`the types of ${name} import nothing but Node.js, and rename nothing`, () => {
    const types = withoutComments(typesOf(name));
    assert.not.match(types, /\bfrom ['"](?!node:)|\bimport\(|\w\$\d/);
    assert.match(types, /^export \{ /m);
  });
}

for (const { name, syntax } of FILES) {
  test(`the types of ${name} import nothing, and rename nothing`, () => {
    assert.not.match(typesOf(name), /\bimport\b|\bfrom ['"]|\w\$\d/);
  });

  test(`the types of ${name} export the values of the file`, async () => {
    const values = syntax === 'es5' ? require(DIST + name) : await import(DIST + name);
    const types = typesOf(name);
    const declared = exportsOf(types).filter((one) => !isType(types, one));
    assert.equal(declared.sort(), Object.keys(values).sort());
  });

  test(`the types of ${name} export each public type that they use`, () => {
    const types = typesOf(name);
    const exported = exportsOf(types);
    const used = publicNames().filter((one) => one.entry === 'hub-protocol' && isType(types, one.name));
    assert.equal(
      used.map((one) => one.name).filter((one) => !exported.includes(one)),
      [],
    );
  });
}

test('strict programs compile with the types of each single file alone, and without types of a host', () => {
  for (const { name, syntax, global = 'hubProtocol' } of FILES) {
    const types = name.replace(/js$/, 'd.ts');
    copyFileSync(DIST + types, join(folder, types));
    const [value] = exportsOf(typesOf(name)).filter((one) => !isType(typesOf(name), one));
    const program =
      syntax === 'es5'
        ? `/// <reference path="./${types}" />\nconst value = ${global}.${value};\n`
        : `import { ${value} } from './${name}';\nexport const value = ${value};\n`;
    const path = join(folder, `use-${name.replace(/js$/, 'ts')}`);
    writeFileSync(path, program);
    const options =
      '--strict --noEmit --skipLibCheck false --target es2020 --lib es2020 --module nodenext --moduleDetection auto';
    const { stdout } = spawnSync(process.execPath, [TSC, ...options.split(' '), '--ignoreConfig', path]);
    assert.is(String(stdout), '', name);
  }
});

test.run();

/** The programs that build the library and draw its documents say what is wrong with their input. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { membersTable } from '../../tools/api.ts';
import { assertKeptApart } from '../../tools/bundles.ts';
import type { Member, PublicName } from '../../tools/declared.ts';
import { replaceFolders } from '../../tools/replace.ts';

const temporary = mkdtempSync(join(tmpdir(), 'hub-protocol-tools-'));
test.after(() => rmSync(temporary, { recursive: true }));

/** A build of two folders, of which the second was never built. Returns what is there afterwards. */
async function buildIn(name: string, build: (write: (file: string) => void) => void): Promise<string[]> {
  const root = join(temporary, name);
  const write = (file: string): void => {
    mkdirSync(join(root, file, '..'), { recursive: true });
    writeFileSync(join(root, file), '');
  };
  write('first/old.js');
  const folders = [join(root, 'first'), join(root, 'second')];
  await replaceFolders(folders, async () => {
    assert.not(existsSync(folders[0]!));
    build(write);
  }).catch(() => {});
  return readdirSync(root, { recursive: true, encoding: 'utf8' }).sort();
}

test('a build replaces its folders', async () => {
  const files = await buildIn('whole', (write) => ['first/new.js', 'second/new.js'].forEach(write));
  assert.equal(files, ['first', 'first/new.js', 'second', 'second/new.js']);
});

test('a build that fails leaves its folders as they were', async () => {
  const files = await buildIn('failed', (write) => {
    ['first/new.js', 'second/new.js'].forEach(write);
    throw new Error('a type error');
  });
  assert.equal(files, ['first', 'first/old.js']);
});

test('a bundle for devices without a function that must stay apart is an error that names it', () => {
  const code = 'function rowsOf() {}\nvar chaChaPolyOf = () => 1;\n';
  assert.throws(
    () => assertKeptApart(code),
    (error: Error) =>
      /\bcompress\b.*\bsortByCodePoint\b/.test(error.message) &&
      !/\b(?:rowsOf|chaChaPolyOf)\b/.test(error.message),
  );
});

test('a public method without a docstring is an error that names it and its file', () => {
  const method: Member = {
    ...{ name: 'send', kind: 'method', isOptional: false, type: '', signature: 'send(): void' },
    ...{ params: [], paramTypes: [], doc: undefined, members: [] },
  };
  const port: PublicName = {
    ...{ name: 'Port', kind: 'interface', entry: 'hub-protocol', source: 'session/port.ts', code: '' },
    ...{ doc: undefined, params: [], paramTypes: [], members: [method], events: [] },
  };
  assert.throws(() => membersTable(port), /src\/session\/port\.ts: Port\.send has no docstring/);
});

test.run();

/** What is drawn from the code is up to date, and no error code is missing. */
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { drawnFiles } from '../../tools/docs.ts';
import { CODES } from '../../tools/errors.ts';

const ROOT = new URL('../../', import.meta.url);
const FILES = drawnFiles();

for (const [path, text] of Object.entries(FILES)) {
  test(`${path} is up to date: run npm run docs`, () => {
    assert.is(readFileSync(new URL(path, ROOT), 'utf8'), text);
  });
}

test('docs/reference/api/ has no page that is not drawn', () => {
  const pages = readdirSync(new URL('docs/reference/api/', ROOT)).map((name) => `docs/reference/api/${name}`);
  assert.equal(
    pages.filter((path) => !(path in FILES)),
    [],
  );
});

test('docs/reference/errors.md has a heading for every code', () => {
  const headings = [...FILES['docs/reference/errors.md']!.matchAll(/^### `(.*)`$/gm)].map(([, code]) => code);
  assert.equal(
    headings,
    CODES.map((key) => key.split(' ')[1]),
  );
  assert.ok(CODES.length > 80);
});

test('every code has a function that makes its error, but for those of the keyring file', () => {
  const [, functions] = readFileSync(new URL('src/errors-table.ts', ROOT), 'utf8').split(
    'export function kindOf',
  );
  const unmade = CODES.map((key) => key.split(' ')[1]!).filter((code) => !functions!.includes(`'${code}'`));
  assert.ok(unmade.every((code) => code.startsWith('keyring-')));
});

test.run();

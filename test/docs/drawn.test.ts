/** What is drawn from the code is up to date. */
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { drawnFiles } from '../../tools/docs.ts';

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

test.run();

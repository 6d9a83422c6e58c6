import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const DOCS = new URL('../../docs/', import.meta.url);

test('docs/README.md leads to every page of docs/', () => {
  const index = readFileSync(new URL('README.md', DOCS), 'utf8');
  const pages = readdirSync(DOCS).filter((name) => name.endsWith('.md') && name !== 'README.md');
  assert.equal(
    pages.filter((name) => !index.includes(`](${name})`)),
    [],
  );
});

test.run();

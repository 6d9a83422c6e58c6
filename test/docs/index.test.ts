import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const DOCS = new URL('../../docs/', import.meta.url);

test('docs/api/README.md leads to every page of docs/api/', () => {
  const index = readFileSync(new URL('api/README.md', DOCS), 'utf8');
  const pages = readdirSync(new URL('api/', DOCS)).filter((name) => name !== 'README.md');
  assert.equal(
    pages.filter((name) => !index.includes(`](${name})`)),
    [],
  );
});

test('docs/README.md leads to every page of docs/', () => {
  const index = readFileSync(new URL('README.md', DOCS), 'utf8');
  const pages = readdirSync(DOCS).filter((name) => name.endsWith('.md') && name !== 'README.md');
  assert.equal(
    pages.filter((name) => !index.includes(`](${name})`)),
    [],
  );
});

test.run();

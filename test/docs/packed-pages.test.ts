/** The pages of a package have no dead links. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { addressOf, packedPage, restorePages, writePackedPages } from '../../tools/packed-pages.ts';

const isPacked = (path: string): boolean => path === 'SECURITY.md' || path === 'a/b.md';
const packed = (text: string, path = 'README.md', address?: string): string =>
  packedPage(text, path, isPacked, address);

test('links to files in the package, to headings and to other sites stay', () => {
  const text = '[a](SECURITY.md#b) [c](#d) [`e`](https://example.org/f)';
  assert.is(packed(text), text);
  assert.is(packed('[x](../a/b.md)', 'c/d.md'), '[x](../a/b.md)');
});

test('other links become text that says which file is meant', () => {
  assert.is(packed('see [`docs/a.md`](docs/a.md#b), [c.md](d/c.md)'), 'see `docs/a.md`, c.md');
  assert.is(packed('[the rules](docs/a.md)'), 'the rules (`docs/a.md`)');
  assert.is(packed('[the rules](../../docs/a.md)', 'vectors/b/c.md'), 'the rules (`docs/a.md`)');
});

test('other links lead to the repository where there is one', () => {
  const address = addressOf({ version: '1.2.3', repository: { url: 'git+https://example.org/x.git' } });
  assert.is(
    packed('[a](docs/a.md#b)', 'README.md', address),
    '[a](https://example.org/x/blob/v1.2.3/docs/a.md#b)',
  );
  assert.is(addressOf({ version: '1.2.3' }), undefined);
});

test('pictures that are not in the package vanish, or come from the repository', () => {
  assert.is(packed('a\n\n![b: c, d](docs/e.webp)\n'), 'a\n\n\n');
  assert.is(
    packed('![b](docs/e.webp)', 'README.md', 'https://example.org/x/blob/v1.2.3/'),
    '![b](https://example.org/x/blob/v1.2.3/docs/e.webp?raw=true)',
  );
});

test('code and comments stay as they are', () => {
  const text = '`[a](b)`\n\n- c\n\n  ```js\n  d[0](e)\n  ```\n\n```\n[f](g)\n```\n<!-- [h](i) -->\n';
  assert.is(packed(text), text);
});

test('packing changes the pages of the project, even after one that failed, until they are restored', () => {
  const folder = `${mkdtempSync(join(tmpdir(), 'pages-'))}/`;
  const read = (page: string): string => readFileSync(folder + page, 'utf8');
  writeFileSync(`${folder}package.json`, '{"version":"1.2.3"}');
  for (const page of ['README.md', 'CHANGELOG.md', 'SECURITY.md'])
    writeFileSync(folder + page, '# A\n\n[b](docs/c.md)\n');
  try {
    for (let i = 0; i < 2; i++) {
      writePackedPages(folder);
      assert.match(read('README.md'), /^# A\n\n> This package .*\n\nb \(`docs\/c\.md`\)\n$/);
      assert.is(read('SECURITY.md'), '# A\n\nb (`docs/c.md`)\n');
    }
    restorePages(folder);
    assert.is(read('README.md'), '# A\n\n[b](docs/c.md)\n');
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test.run();

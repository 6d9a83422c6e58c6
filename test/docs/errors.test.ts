/** No code is missing from docs/reference/errors.md. */
import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { codes } from '../../tools/errors.ts';

const PAGE = readFileSync(new URL('../../docs/reference/errors.md', import.meta.url), 'utf8');

test('docs/reference/errors.md has a heading for every code', () => {
  const { all } = codes();
  const headings = [...PAGE.matchAll(/^### `(.*)`$/gm)].map(([, code]) => code);
  assert.equal(
    headings,
    all.map((key) => key.split(' ')[1]),
  );
  assert.ok(all.length > 80);
});

test('every code is raised by a public function or an event', () => {
  assert.equal(codes().raisedByNobody, []);
});

test.run();

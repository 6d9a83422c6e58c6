import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const DOCS = new URL('../../docs/', import.meta.url);

test('docs/reference/api/README.md leads to every page of docs/reference/api/', () => {
  const index = readFileSync(new URL('reference/api/README.md', DOCS), 'utf8');
  const pages = readdirSync(new URL('reference/api/', DOCS)).filter((name) => name !== 'README.md');
  assert.equal(
    pages.filter((name) => !index.includes(`](${name})`)),
    [],
  );
});

test('docs/README.md leads to every page of docs/', () => {
  const index = readFileSync(new URL('README.md', DOCS), 'utf8');
  const pages = ['guides', 'reference', 'evidence'].flatMap((shelf) =>
    readdirSync(new URL(`${shelf}/`, DOCS))
      .filter((name) => name.endsWith('.md'))
      .map((name) => `${shelf}/${name}`),
  );
  assert.equal(
    pages.filter((name) => !index.includes(`](${name})`)),
    [],
  );
});

test('evidence/README.md has every program of evidence/, and its pages', () => {
  const index = readFileSync(new URL('../evidence/README.md', DOCS), 'utf8');
  const folder = new URL('../evidence/', DOCS);
  const programs = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /^(?:constant-time|linear|nodes|run|size)$/.test(entry.name))
    .map((entry) => `${entry.parentPath.slice(fileURLToPath(folder).length)}/${entry.name}`)
    .filter((path) => !path.includes('node_modules'));
  assert.ok(programs.length > 10);
  assert.equal(
    programs.filter((path) => !index.includes(`\`evidence/${path}`)),
    [],
  );
});

test('README.md, the judge’s and docs/reference/devices.md say how many vectors there are, in thousands', () => {
  const vectors = new URL('../vectors/', DOCS);
  const counts = readdirSync(vectors)
    .filter((name) => name.endsWith('.json'))
    .map((name) => JSON.parse(readFileSync(new URL(name, vectors), 'utf8')) as { numberOfTests?: number });
  const thousands = Math.floor(counts.reduce((sum, { numberOfTests = 0 }) => sum + numberOfTests, 0) / 1000);
  for (const page of ['README.md', 'judge/README.md', 'docs/reference/devices.md']) {
    assert.match(readFileSync(new URL(`../${page}`, DOCS), 'utf8'), `over ${thousands}000`, page);
  }
});

test.run();

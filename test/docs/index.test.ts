import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { TASKS } from '../../tools/task.ts';

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

test('CONTRIBUTING.md has every script of package.json and every task in one table', () => {
  const read = (file: string): string => readFileSync(new URL(`../${file}`, DOCS), 'utf8');
  const { scripts } = JSON.parse(read('package.json')) as { scripts: { [name: string]: string } };
  const [, table] = /^\| Command \| What it does \|.*\n\| .*\n((?:\| .*\n)+)/m.exec(read('CONTRIBUTING.md'))!;
  const names = Object.keys(scripts)
    .filter((name) => name !== 'prepack')
    .flatMap((name) => [
      name,
      ...Object.keys(TASKS[name] ?? {})
        .filter((task) => task !== name && task !== 'page-build') // a step of the page
        .map((task) => `${name} -- ${task}`),
    ]);
  assert.equal(
    names.filter((name) => !new RegExp(`\`(?:npm (?:run )?)?${name}(?: .*?)?\``).test(table!)),
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

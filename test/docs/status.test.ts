/** docs/evidence/status.md: no promise is without a test, and no test that it names is missing. */
import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  heldBy,
  impossibilitiesOf,
  PAGES,
  placesOf,
  promisesOfReadme,
  sentencesOf,
} from '../../tools/status.ts';

const read = (page: string): string => readFileSync(new URL(`../../${page}`, import.meta.url), 'utf8');

for (const [page, promisesOf, rows] of PAGES) {
  const held = heldBy(promisesOf(read(page)), rows);

  test(`every promise of ${page} has a row in tools/status.ts`, () => {
    assert.equal(
      held.filter(([, by]) => by === undefined).map(([promise]) => promise),
      [],
    );
  });

  test(`every row for ${page} in tools/status.ts belongs to a promise, and names tests and programs that exist`, () => {
    const promises = held.map(([promise]) => promise);
    for (const [beginning, by] of Object.entries(rows)) {
      assert.ok(
        heldBy(promises, { [beginning]: [] }).some(([, found]) => found !== undefined),
        `${page} does not promise: ${beginning}`,
      );
      for (const one of by) assert.ok(placesOf(one).length > 0, one);
    }
  });
}

test('finds new promises, and tests that are gone', () => {
  const page =
    '# Title\n\nIt never fails. Save it\nthen. It [flies](a.md): `so`.\n\n```js\nNo.\n```\n\n- no point\n';
  assert.equal(sentencesOf(page), ['It never fails.', 'Save it then.', 'It flies: `so`.']);
  assert.equal(promisesOfReadme(page), ['It never fails.', 'It flies: `so`.']);
  assert.equal(heldBy(['It flies: `so`.', 'It swims.'], { 'It flies': ['a'] }), [
    ['It flies: `so`.', ['a']],
    ['It swims.', undefined],
  ]);
  assert.equal(impossibilitiesOf('| can | cannot |\n| --- | --- |\n| a | b |\n| c | |\n\n| d | e |\n'), [
    'b',
  ]);
  assert.equal([placesOf('a test that no file has'.toUpperCase()), placesOf('test/no/run')], [[], []]);
});

test.run();

/** docs/evidence/status.md: no promise is without a test, and no test that it names is missing. */
import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { heldBy, PAGES, placesOf } from '../../tools/status.ts';

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

test.run();

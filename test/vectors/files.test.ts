/** The vector files themselves: their form, ids, flags and sources. */
import { readdirSync, readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { readVectorFile, vectorFiles } from '../../judge/src/vectors.ts';

const VECTORS = new URL('../../vectors/', import.meta.url);
const FILES = vectorFiles();

test('every file has a schema, and every schema has a file', () => {
  const schemas = readdirSync(new URL('schemas/', VECTORS)).map((name) =>
    name.replace(/\.schema\.json$/, ''),
  );
  assert.equal(schemas.sort(), [...FILES].sort());
});

for (const file of FILES) {
  const schema = JSON.parse(readFileSync(new URL(`schemas/${file}.schema.json`, VECTORS), 'utf8'));
  const validate = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false }).compile(schema);
  const read = () => JSON.parse(readFileSync(new URL(`${file}.json`, VECTORS), 'utf8'));

  test(`${file}.json matches its schema`, () => {
    assert.ok(validate(read()), JSON.stringify(validate.errors?.slice(0, 3)));
  });

  test(`the schema of ${file}.json refuses unknown fields at every level`, () => {
    const group = (document: ReturnType<typeof read>) => document.testGroups[0];
    const places = [(document: object) => document, group, (document: object) => group(document).tests[0]];
    for (const place of places) {
      const document = read();
      place(document).unknown = 1;
      assert.is(validate(document), false);
    }
  });

  test(`the schema of ${file}.json requires an id, a comment, flags and a result of each test`, () => {
    for (const field of ['tcId', 'comment', 'flags', 'result']) {
      const document = read();
      delete document.testGroups[0].tests[0][field];
      assert.is(validate(document), false, field);
    }
  });

  // vectors/generate/ids_test.py tests that ids stay when tests are added.
  test(`${file}.json has unique ids, and the right number of tests`, () => {
    const { testGroups, numberOfTests } = readVectorFile(file);
    const ids = testGroups.flatMap(({ tests }) => tests.map(({ tcId }) => tcId));
    assert.is(new Set(ids).size, ids.length);
    assert.is(ids.length, numberOfTests);
  });

  test(`${file}.json explains every flag that it uses, and uses every flag that it explains`, () => {
    const { testGroups, notes } = readVectorFile(file);
    const used = new Set(testGroups.flatMap(({ tests }) => tests.flatMap(({ flags }) => flags)));
    assert.equal([...used].sort(), Object.keys(notes).sort());
    for (const note of Object.values(notes)) assert.ok(note.length > 30, note);
  });

  test(`${file}.json has an error in each invalid test, and none in a valid one`, () => {
    if (file === 'tables') return; // there the error is that of a connection
    for (const { tests } of readVectorFile(file).testGroups) {
      for (const { tcId, result, error } of tests) {
        if (result !== 'acceptable') assert.is(error !== undefined, result === 'invalid', `tcId ${tcId}`);
      }
    }
  });

  test(`${file}.json names the source of each group’s values`, () => {
    for (const { source } of readVectorFile(file).testGroups) {
      assert.ok(source.length > 0 && source.every((name) => name.length > 3));
      assert.not.ok(source.some((name) => name.includes('hub-protocol')));
    }
  });

  test(`${file}.json has hexadecimal digits in lower case only`, () => {
    const upper: string[] = [];
    JSON.parse(readFileSync(new URL(`${file}.json`, VECTORS), 'utf8'), (_, value) => {
      if (/^(?:[0-9a-f]{2}){8,}$/i.test(value) && /[A-F]/.test(value)) upper.push(value);
      return value;
    });
    // An identity may hold such digits as part of a secret, which ports have to find in either case.
    assert.equal([...new Set(upper)], file === 'identity' ? ['6163636573732D6B65792D37663361'] : []);
  });
}

test.run();

/** The vector files themselves: their form, their numbers, and that nothing in them is without a reader. */
import { readdirSync, readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { readVectorFile, vectorFiles } from '../judge/src/vectors.ts';

const VECTORS = new URL('../vectors/', import.meta.url);
const FILES = vectorFiles();

test('there is a schema for each file, and a file for each schema', () => {
  const schemas = readdirSync(new URL('schemas/', VECTORS)).map((name) =>
    name.replace(/\.schema\.json$/, ''),
  );
  assert.equal(schemas.sort(), [...FILES].sort());
});

for (const file of FILES) {
  const schema = JSON.parse(readFileSync(new URL(`schemas/${file}.schema.json`, VECTORS), 'utf8'));
  const validate = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false }).compile(schema);
  const read = () => JSON.parse(readFileSync(new URL(`${file}.json`, VECTORS), 'utf8'));

  test(`${file}.json has the form that its schema gives`, () => {
    assert.ok(validate(read()), JSON.stringify(validate.errors?.slice(0, 3)));
  });

  test(`the schema of ${file}.json refuses a field that it does not know, wherever that is`, () => {
    const group = (document: ReturnType<typeof read>) => document.testGroups[0];
    const places = [(document: object) => document, group, (document: object) => group(document).tests[0]];
    for (const place of places) {
      const document = read();
      place(document).unknown = 1;
      assert.is(validate(document), false);
    }
  });

  test(`the schema of ${file}.json refuses tests without an id, a comment, flags or a result`, () => {
    for (const field of ['tcId', 'comment', 'flags', 'result']) {
      const document = read();
      delete document.testGroups[0].tests[0][field];
      assert.is(validate(document), false, field);
    }
  });

  // How tests keep their ids when others are added is tested where they are numbered: vectors/generate/ids_test.py.
  test(`${file}.json gives each test an id of its own, and says how many tests there are`, () => {
    const { testGroups, numberOfTests } = readVectorFile(file);
    const ids = testGroups.flatMap(({ tests }) => tests.map(({ tcId }) => tcId));
    assert.is(new Set(ids).size, ids.length);
    assert.is(ids.length, numberOfTests);
  });

  test(`${file}.json explains each flag that it uses, and uses each that it explains`, () => {
    const { testGroups, notes } = readVectorFile(file);
    const used = new Set(testGroups.flatMap(({ tests }) => tests.flatMap(({ flags }) => flags)));
    assert.equal([...used].sort(), Object.keys(notes).sort());
    for (const note of Object.values(notes)) assert.ok(note.length > 30, note);
  });

  test(`${file}.json names who fixed the values of each group`, () => {
    for (const { source } of readVectorFile(file).testGroups) {
      assert.ok(source.length > 0 && source.every((name) => name.length > 3));
      assert.not.ok(source.some((name) => name.includes('hub-protocol')));
    }
  });

  test(`${file}.json holds hexadecimal digits in lower case only`, () => {
    const text = readFileSync(new URL(`${file}.json`, VECTORS), 'utf8');
    const upper =
      /"(?:message|payload|psk|key|prologue|canonical|plaintext|sha256|bytes|tag|salt|staticKey)": "(?=[0-9a-fA-F]*[A-F])[0-9a-fA-F]+"/;
    assert.is(upper.exec(text), null);
  });
}

test.run();

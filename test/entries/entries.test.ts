/** The entries of the core. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import * as binary from '../../src/binary.ts';
import * as core from '../../src/index.ts';
import * as recording from '../../src/recording.ts';
import { exportsOf } from '../../tools/declared.ts';

const ENTRIES = ['index', 'parts', 'recording', 'binary'];

test('no value and no type is in two entries of the core', () => {
  const names = ENTRIES.flatMap((entry) => exportsOf(`${entry}.ts`).map(({ name }) => name));
  assert.ok(names.length > 100, `${names.length}`);
  assert.equal(
    names.filter((name, i) => names.indexOf(name) !== i),
    [],
  );
});

test('hub-protocol/recording exports the recording functions, and hub-protocol does not', () => {
  const names = Object.keys(recording).sort();
  assert.equal(names, ['recordClientSession', 'recordHubSession']);
  for (const name of names) assert.not.ok(name in core);
});

test('hub-protocol/binary exports the functions for binary messages, and hub-protocol does not', () => {
  const names = Object.keys(binary).sort();
  assert.equal(names, ['binaryReader', 'decodeBinary', 'encodeBinary']);
  for (const name of names) assert.not.ok(name in core);
});

test.run();

/** The entries of the core. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import * as binary from '../../src/binary.ts';
import * as core from '../../src/index.ts';
import * as parts from '../../src/parts.ts';
import * as recording from '../../src/recording.ts';

test('hub-protocol/parts exports the same values as hub-protocol', () => {
  for (const [name, value] of Object.entries(parts)) {
    assert.is((core as { readonly [name: string]: unknown })[name], value, name);
  }
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

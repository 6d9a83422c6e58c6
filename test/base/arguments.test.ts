/** Checks of single arguments. That each function names the argument that it refuses is in entries/argument-names.test.ts. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { assertBytes, assertFlag, assertString, readOptions } from '../../src/arguments.ts';
import { kindOf } from '../../src/errors-table.ts';
import { detached, revoked } from '../world/hostile.ts';
import { raisesLocal } from '../world/raises.ts';

test('refuses bytes whose memory was transferred', () => {
  raisesLocal(() => assertBytes(detached(4), 'key'), 'bad-argument');
  raisesLocal(() => assertBytes(detached(32), 'key', 32), 'bad-argument');
});

test('refuses an argument that is not bytes', () => {
  for (const value of [undefined, null, 'aa', [0], new Uint16Array(1)]) {
    raisesLocal(() => assertBytes(value, 'key', 1), 'bad-argument');
  }
});

test('refuses bytes that are one too short or one too long', () => {
  raisesLocal(() => assertBytes(new Uint8Array(31), 'key', 32), 'bad-length');
  raisesLocal(() => assertBytes(new Uint8Array(33), 'key', 32), 'bad-length');
  raisesLocal(() => assertBytes(new Uint8Array(1), 'key', 0), 'bad-length');
});

test('accepts a non-empty string as an argument, and nothing else', () => {
  assertString('a', 'name');
  for (const value of ['', undefined, null, 1, ['a'], {}, revoked({})]) {
    raisesLocal(() => assertString(value, 'name'), 'bad-argument');
  }
});

test('distinguishes an empty string from a value of another type', () => {
  const messages = ['', 7].map(
    (value) => raisesLocal(() => assertString(value, 'name'), 'bad-argument').message,
  );
  assert.match(messages[0]!, / an empty one$/);
  assert.match(messages[1]!, / number$/);
});

test('treats a missing flag as false, and refuses anything but a boolean', () => {
  assert.equal(
    [undefined, false, true].map((value) => assertFlag(value, 'flag')),
    [false, false, true],
  );
  for (const value of [null, 0, 1, 'true', {}, revoked({})]) {
    raisesLocal(() => assertFlag(value, 'flag'), 'bad-argument');
  }
});

test('names the option that a misspelt one was meant to be', () => {
  const known = { trust: true, onKkFailure: true, ca: true } as const;
  const said = (name: string): string => {
    const error = raisesLocal(
      () => readOptions({ [name]: 1 } as object, 'options', known as never),
      'bad-argument',
    );
    return error.message;
  };
  for (const [name, meant] of [
    ['trusts', 'trust'], // one letter more,
    ['trst', 'trust'], // less,
    ['truzt', 'trust'], // other,
    ['crust', 'trust'],
    ['tsurt', undefined], // two changes
    ['turst', 'trust'], // two that changed places
    ['on_kk_failure', 'onKkFailure'],
    ['ONKKFAILURE', 'onKkFailure'],
    ['colour', undefined],
  ] as const) {
    const suggestion = meant === undefined ? '' : `: did you mean "${meant}"?`;
    assert.is(said(name), `"options.${name}" does not exist${suggestion}`);
  }
});

test('names the kind of a value, not the value', () => {
  const kinds = [null, undefined, [1], {}, 'secret', 7, true, revoked({})].map(kindOf);
  assert.equal(kinds, [
    'null',
    'undefined',
    'array',
    'object',
    'string',
    'number',
    'boolean',
    'revoked Proxy',
  ]);
});

test.run();

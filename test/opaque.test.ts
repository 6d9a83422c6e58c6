import { inspect } from 'node:util';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { opaque } from '../src/opaque.ts';

class Vault {
  readonly combination = '1234';
}
opaque(Vault.prototype, 'Vault');

test('shows an instance as its name and nothing else', () => {
  assert.is(inspect(new Vault()), '[Vault]');
  assert.is(JSON.stringify(new Vault()), '"[Vault]"');
});

test('shows it so inside other values too', () => {
  assert.is(JSON.stringify({ vaults: [new Vault()] }), '{"vaults":["[Vault]"]}');
  assert.is(inspect({ vaults: [new Vault()] }), '{ vaults: [ [Vault] ] }');
});

test('leaves the fields where they are', () => {
  assert.equal(Object.keys(new Vault()), ['combination']);
  assert.is(new Vault().combination, '1234');
});

test('shows an object as what is answered for it', () => {
  const account = { owner: 'Ada', password: '1234' };
  opaque(account, ({ owner }) => ({ owner }));
  assert.is(JSON.stringify(account), '{"owner":"Ada"}');
  assert.is(inspect(account), "{ owner: 'Ada' }");
});

test('leaves every name to fields', () => {
  const account = { name: 'Ada' };
  opaque(account, 'Account');
  Object.assign(account, { shown: true });
  assert.is(JSON.stringify(account), '"[Account]"');
});

test('adds no field that a loop would see', () => {
  const account = { password: '1234' };
  opaque(account, 'Account');
  assert.equal(Object.keys(account), ['password']);
  assert.equal(Object.keys({ ...account }), ['password']);
});

test('hides from JSON.stringify where the engine has no Symbol', () => {
  const account = { password: '1234' };
  const Original = globalThis.Symbol;
  try {
    globalThis.Symbol = undefined as unknown as SymbolConstructor;
    opaque(account, 'Account');
  } finally {
    globalThis.Symbol = Original;
  }
  assert.is(JSON.stringify(account), '"[Account]"');
  assert.is(Object.getOwnPropertySymbols(account).length, 0);
});

test.run();

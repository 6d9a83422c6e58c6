import nodeAssert from 'node:assert';
import { Console } from 'node:console';
import { Writable } from 'node:stream';
import { inspect } from 'node:util';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { hideFields } from '../../src/hide-fields.ts';
import { opaque } from '../../src/opaque.ts';

class Vault {
  readonly combination = '1234';
}
opaque(Vault.prototype, 'Vault');

test('prints an instance as its name and nothing else', () => {
  assert.is(inspect(new Vault()), '[Vault]');
  assert.is(JSON.stringify(new Vault()), '"[Vault]"');
});

test('shows an instance inside other values as its name', () => {
  assert.is(JSON.stringify({ vaults: [new Vault()] }), '{"vaults":["[Vault]"]}');
  assert.is(inspect({ vaults: [new Vault()] }), '{ vaults: [ [Vault] ] }');
});

test('leaves the fields of an opaque object unchanged', () => {
  assert.equal(Object.keys(new Vault()), ['combination']);
  assert.is(new Vault().combination, '1234');
});

test('shows what the function returns for an object', () => {
  const account = { owner: 'Ada', password: '1234' };
  opaque(account, ({ owner }) => ({ owner }));
  assert.is(JSON.stringify(account), '{"owner":"Ada"}');
  assert.is(inspect(account), "{ owner: 'Ada' }");
});

test('reserves no field name', () => {
  const account = { name: 'Ada' };
  opaque(account, 'Account');
  Object.assign(account, { shown: true });
  assert.is(JSON.stringify(account), '"[Account]"');
});

test('adds no enumerable field', () => {
  const account = { password: '1234' };
  opaque(account, 'Account');
  assert.equal(Object.keys(account), ['password']);
  assert.equal(Object.keys({ ...account }), ['password']);
});

test('hides from JSON.stringify on an engine without Symbol', () => {
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

/** Everything that Node's console, assertions and clones show of a value, past custom inspection. */
function shownOf(value: object): string {
  let shown = '';
  const stdout = new Writable({
    write(chunk, _, done) {
      shown += chunk;
      done();
    },
  });
  const console = new Console({ stdout, colorMode: false });
  console.dir(value, { depth: 9 });
  console.table([value]);
  console.log(value, { value });
  try {
    nodeAssert.deepStrictEqual({ value }, { value: 1 });
  } catch (error) {
    shown += (error as Error).message;
  }
  return `${shown}${inspect(structuredClone(value))}${JSON.stringify([value])}`;
}

class Account {
  readonly owner: string;
  private readonly secret: string;
  private session: string | undefined = undefined;

  constructor(owner: string, secret: string) {
    this.owner = owner;
    this.secret = secret;
    hideFields(this);
  }

  open(): void {
    this.session = `session-${this.secret}`;
  }

  read(): string | undefined {
    return this.session;
  }
}

test('shows the named fields of a record nowhere, and the others everywhere', () => {
  const account = { owner: 'Ada', password: '1234-secret' };
  assert.match(shownOf(account), '1234-secret');
  hideFields(account, ['password']);
  const shown = shownOf(account);
  assert.not.match(shown, '1234-secret');
  assert.is(shown.split('Ada').length > 6, true);
});

test('shows no field of an instance that hides its fields', () => {
  const account = new Account('Ada', '1234-secret');
  account.open();
  assert.is(account.read(), 'session-1234-secret');
  assert.not.match(shownOf(account), /Ada|secret/);
});

test('keeps hidden fields readable, writable and hidden', () => {
  const account: { owner: string; password?: string } = { owner: 'Ada', password: '1234' };
  hideFields(account, ['password']);
  assert.is(account.password, '1234');
  account.password = '5678';
  assert.is(account.password, '5678');
  assert.equal(Object.keys(account), ['owner']);
  assert.equal({ ...account }, { owner: 'Ada' });
});

test('hides every enumerable field by default', () => {
  const account = { owner: 'Ada', password: '1234' };
  hideFields(account);
  assert.equal(Object.keys(account), []);
  assert.equal([account.owner, account.password], ['Ada', '1234']);
});

test('passes the value in the descriptor, without which Espruino would set the field to undefined', () => {
  const original = Object.defineProperty;
  const account = { password: '1234' };
  try {
    Object.defineProperty = ((object: Record<PropertyKey, unknown>, name: PropertyKey, { value }) => {
      object[name] = value;
      return object;
    }) as typeof Object.defineProperty;
    hideFields(account);
  } finally {
    Object.defineProperty = original;
  }
  assert.is(account.password, '1234');
});

test.run();

import { inspect } from 'node:util';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { LocalError, RemoteError } from '../src/errors.ts';

test('is an Error of its own class and of no other', () => {
  const local = new LocalError('bad-argument', 'what');
  const remote = new RemoteError('bad-json', 'what');
  assert.instance(local, Error);
  assert.instance(local, LocalError);
  assert.not.instance(local, RemoteError);
  assert.instance(remote, Error);
  assert.instance(remote, RemoteError);
  assert.not.instance(remote, LocalError);
});

test('carries name, code and message', () => {
  const local = new LocalError('bad-argument', 'what');
  const remote = new RemoteError('bad-json', 'else');
  assert.equal([local.name, local.code, local.message], ['LocalError', 'bad-argument', 'what']);
  assert.equal([remote.name, remote.code, remote.message], ['RemoteError', 'bad-json', 'else']);
});

test('reads as a sentence with its class and its code', () => {
  assert.is(String(new LocalError('bad-argument', 'what')), 'LocalError [bad-argument]: what');
  assert.is(String(new RemoteError('bad-json', 'what')), 'RemoteError [bad-json]: what');
});

test('has a stack that starts like its text and leads to who raised it', () => {
  const lines = new RemoteError('bad-json', 'two\nlines').stack!.split('\n');
  assert.equal(lines.slice(0, 2), ['RemoteError [bad-json]: two', 'lines']);
  assert.match(lines.slice(2).join(), 'errors.test.ts');
});

test('shows its code in an inspection', () => {
  assert.match(inspect(new LocalError('bad-argument', 'what')), 'LocalError [bad-argument]: what');
});

test('keeps the cause it was given', () => {
  const cause = new TypeError('beneath');
  assert.is(new LocalError('crypto-failed', 'what', cause).cause, cause);
  assert.is(new LocalError('crypto-failed', 'what', null).cause, null);
});

test('has no cause where none was given', () => {
  assert.is('cause' in new LocalError('crypto-failed', 'what'), false);
  assert.is('cause' in new RemoteError('bad-json', 'what'), false);
});

test('lists nothing but its code among its fields', () => {
  const error = new LocalError('crypto-failed', 'what', new Error('beneath'));
  assert.equal(Object.keys(error), ['code']);
  assert.is(JSON.stringify(error), '{"code":"crypto-failed"}');
});

test('does without a stack where the engine has none', () => {
  const limit = Error.stackTraceLimit;
  let error: LocalError;
  try {
    Error.stackTraceLimit = undefined as unknown as number;
    error = new LocalError('bad-argument', 'what');
  } finally {
    Error.stackTraceLimit = limit;
  }
  assert.is(error.stack, undefined);
  assert.is(Object.getOwnPropertyDescriptor(error, 'stack'), undefined);
  assert.equal([error.code, error.message], ['bad-argument', 'what']);
});

test('shows its code where it has no sentence, as in the files for devices', () => {
  assert.is(new LocalError('bad-argument', '').message, 'bad-argument');
  assert.is(String(new RemoteError('bad-json', '')), 'RemoteError [bad-json]: bad-json');
});

test('leaves a stack alone that the engine writes without a heading', () => {
  const prepare = Error.prepareStackTrace;
  let error: LocalError;
  try {
    Error.prepareStackTrace = () => 'raise@device.js:1';
    error = new LocalError('bad-argument', 'what');
  } finally {
    Error.prepareStackTrace = prepare;
  }
  assert.is(error.stack, 'raise@device.js:1');
});

test('has its fields also where Error.prototype has an accessor for the stack, as in XS', () => {
  Object.defineProperty(Error.prototype, 'stack', { get: () => 'inherited', configurable: true });
  try {
    const error = new RemoteError('bad-json', 'not JSON');
    assert.is(error.message, 'not JSON');
    assert.match(error.stack!, 'RemoteError [bad-json]');
  } finally {
    delete (Error.prototype as { stack?: string }).stack;
  }
});

test.run();

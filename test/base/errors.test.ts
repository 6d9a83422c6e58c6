import { inspect } from 'node:util';
import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { LocalError, RemoteError } from '../../src/errors.ts';
import * as errors from '../../src/errors-table.ts';

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

/** What the functions take that need more than a name, a list and bytes. */
const ARGUMENTS: { readonly [name: string]: readonly unknown[] } = {
  clientEnding: ['dropped', { state: 'ready' }],
  hubEnding: ['dropped', { state: 'ready' }],
  noEndpoint: [() => []],
  hubKeyChanged: ['hub', new Uint8Array(32), new Uint8Array(32), () => 'a key'],
};

test('every function that makes an error gives it a code of its class', () => {
  const { LOCAL_ERRORS, REMOTE_ERRORS, kindOf: _, ...makers } = errors;
  for (const [name, make] of Object.entries(makers)) {
    const given = ARGUMENTS[name] ?? ['some', ['some'], new Uint8Array(3), 'some'];
    const error = (make as (...given: readonly unknown[]) => LocalError | RemoteError)(...given);
    const codes = error instanceof LocalError ? LOCAL_ERRORS : REMOTE_ERRORS;
    assert.ok(error instanceof Error && error.code in codes, `${name}: ${error.code}`);
  }
});

test('has name, code and message', () => {
  const local = new LocalError('bad-argument', 'what');
  const remote = new RemoteError('bad-json', 'else');
  assert.equal([local.name, local.code, local.message], ['LocalError', 'bad-argument', 'what']);
  assert.equal([remote.name, remote.code, remote.message], ['RemoteError', 'bad-json', 'else']);
});

test('has a stack that starts with class, code and message and leads to the place of the throw', () => {
  const lines = new RemoteError('bad-json', 'two\nlines').stack!.split('\n');
  assert.equal(lines.slice(0, 2), ['RemoteError [bad-json]: two', 'lines']);
  assert.match(lines.slice(2).join(), 'errors.test.ts');
});

test('shows class, code and message once in an inspection', () => {
  const shown = inspect(new LocalError('bad-argument', 'what the message says'));
  assert.match(shown, 'LocalError [bad-argument]: what the message says');
  assert.is(shown.split('what the message says').length, 2);
});

test('has fields that a program may replace and delete, like an Error', () => {
  const error = new LocalError('bad-argument', 'what', 'beneath');
  for (const field of ['name', 'code', 'message', 'cause', 'stack']) {
    const { writable, configurable } = Object.getOwnPropertyDescriptor(error, field)!;
    assert.equal([writable, configurable], [true, true], field);
  }
});

test('has the details that it was given, except undefined ones', () => {
  const error = new RemoteError('unknown-hub', 'what', { nodeId: 'hub-1', hubKey: undefined });
  assert.equal(
    ['nodeId', 'hubKey'].filter((field) => field in error),
    ['nodeId'],
  );
  assert.ok(Object.keys(error).includes('nodeId'));
});

test('keeps the cause it was given', () => {
  const cause = new TypeError('beneath');
  assert.is(new LocalError('crypto-failed', 'what', cause).cause, cause);
  assert.is(new LocalError('crypto-failed', 'what', null).cause, null);
});

test('has no cause by default', () => {
  assert.is('cause' in new LocalError('crypto-failed', 'what'), false);
  assert.is('cause' in new RemoteError('bad-json', 'what'), false);
});

const plain = { name: 'LocalError', code: 'crypto-failed', message: 'what' };

test('enumerates name, code and message, and neither cause nor stack', () => {
  const error = new LocalError('crypto-failed', 'what', new Error('beneath'));
  assert.equal(Object.keys(error), ['name', 'code', 'message']);
  assert.equal({ ...error }, plain);
});

test('keeps name, code and message in JSON', () => {
  const error = new LocalError('crypto-failed', 'what', new Error('beneath'));
  assert.equal(JSON.parse(JSON.stringify(error)), plain);
});

test('keeps name, code and message in a structured clone', () => {
  const error = new LocalError('crypto-failed', 'what', new Error('beneath'));
  assert.equal(structuredClone({ error }), { error: plain });
});

test('keeps name, code and message when posted to a message port', () => {
  const { port1, port2 } = new MessageChannel();
  port1.postMessage(new RemoteError('bad-json', 'what'));
  const { message } = receiveMessageOnPort(port2)!;
  port1.close();
  assert.equal(message, { name: 'RemoteError', code: 'bad-json', message: 'what' });
});

test('keeps name, code and message when a worker posts it', async () => {
  const module = new URL('../../dist/errors.js', import.meta.url).href;
  const worker = new Worker(
    `import('${module}').then(({ LocalError }) =>
      require('node:worker_threads').parentPort.postMessage(new LocalError('crypto-failed', 'what', {})))`,
    { eval: true, execArgv: [] },
  );
  const message = await new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
  await worker.terminate();
  assert.equal(message, plain);
});

test('has its own fields even if those of Error.prototype are frozen', () => {
  const { name, message } = Object.getOwnPropertyDescriptors(Error.prototype);
  try {
    for (const field of ['name', 'message'])
      Object.defineProperty(Error.prototype, field, { writable: false });
    const error = new LocalError('crypto-failed', 'what');
    assert.equal({ ...error }, plain);
  } finally {
    Object.defineProperties(Error.prototype, { name: name!, message: message! });
  }
});

test('has no stack if the engine has none', () => {
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

test('uses its code as the message in builds without messages, such as the files for devices', () => {
  assert.is(new LocalError('bad-argument', '').message, 'bad-argument');
  assert.is(String(new RemoteError('bad-json', '')), 'RemoteError [bad-json]: bad-json');
});

test('leaves a stack without a header line unchanged', () => {
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

test('has its own fields where Error.prototype has an accessor for the stack, as in XS', () => {
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

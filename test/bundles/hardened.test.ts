/** The single files in a realm whose built-ins are all frozen, as Hardened JavaScript (SES, XS) makes it. */
import { readFileSync } from 'node:fs';
import { createContext, runInContext } from 'node:vm';
import { transform } from 'esbuild';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { FILES } from '../../tools/bundles.ts';

/** Freezes the built-ins and all that they lead to. SES would make up for assignments that this refuses; XS does not. */
const FREEZE = `
  (function freeze(value) {
    if (Object(value) !== value || Object.isFrozen(value)) return;
    Object.freeze(value);
    freeze(Object.getPrototypeOf(value));
    Reflect.ownKeys(value).forEach(function (key) {
      const { value: member, get, set } = Object.getOwnPropertyDescriptor(value, key);
      [member, get, set].forEach(freeze);
    });
  })(Reflect.ownKeys(globalThis).map(function (name) { return globalThis[name]; }).filter(function (value) {
    return value !== globalThis;
  }));
`;

/** Loads a script into a hardened realm, and returns the value of a statement there. */
function run(script: string, statement: string): unknown {
  const context = createContext({ TextDecoder, TextEncoder });
  runInContext(FREEZE, context);
  runInContext(script, context);
  return runInContext(statement, context);
}

for (const { name, syntax, global = 'hubProtocol' } of FILES) {
  const code = readFileSync(new URL(`../../dist/${name}`, import.meta.url), 'utf8');

  test(`${name} loads in a hardened realm, and its errors have a class and a text of their own`, async () => {
    const script =
      syntax === 'es5' ? code : (await transform(code, { format: 'iife', globalName: global })).code;
    const thrown = `(function () {
      const error = new ${global}.LocalError('bad-argument', 'why');
      return [String(error), error.constructor === ${global}.LocalError, Object.keys(error).join()].join();
    })()`;
    assert.is(run(script, thrown), 'LocalError [bad-argument]: why,true,name,code,message');
  });
}

test.run();

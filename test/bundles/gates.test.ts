/** The single files in dist/, and the core as a whole: their syntax, and the built-ins they use, which all their engines have. */
import { readdirSync, readFileSync } from 'node:fs';
import { SourceMap, type SourceMapping } from 'node:module';
import { fileURLToPath } from 'node:url';
import { type AnyNode, parse, tokenizer } from 'acorn';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import * as binary from '../../bundles/binary.ts';
import * as core from '../../bundles/core.ts';
import * as device from '../../bundles/device.ts';
import * as full from '../../bundles/full.ts';
import * as identity from '../../bundles/identity.ts';
import * as link from '../../bundles/link.ts';
import * as psk from '../../bundles/psk.ts';
import * as requests from '../../bundles/requests.ts';
import { type BundleFile, bundleModule, FILES, isPreloadable, toScript } from '../../tools/bundles.ts';
import { catchesIn } from '../../tools/catches.ts';
import { withFrozenValues } from '../../tools/frozen.ts';
import { isFunction, parseModule, walk } from '../../tools/syntax.ts';
import { builtInsOf, namedTooEarly } from './built-ins.ts';

const ENTRIES: { readonly [entry: string]: object } = {
  binary,
  core,
  device,
  full,
  identity,
  link,
  psk,
  requests,
};
const dist = (name: string): string => fileURLToPath(new URL(`../../dist/${name}`, import.meta.url));
const read = (name: string): string => readFileSync(dist(name), 'utf8');

/** Built-ins of ES5 and typed arrays, and those that the code checks for before it uses them. */
const CORE = [
  '.apply .call .charAt .charCodeAt .concat .every .filter .hasOwnProperty .indexOf .join .length .map .message .name .pop .push .set',
  '.shift .slice .sort .split .subarray .toString .valueOf Array Array.isArray Error Error.prototype Math Math.ceil Math.floor',
  'Math.max Math.min Number Object Object.create Object.defineProperty Object.keys Object.prototype Object.setPrototypeOf String',
  'String.fromCharCode Uint8Array ArrayBuffer isFinite',
  'Symbol Symbol.for .fill ArrayBuffer.isView', // checked for
  '.at .buffer .repeat', // fields of ours
];
/** The smallest client adds these. */
const ENGINE_JSON = ['JSON JSON.parse JSON.stringify'];
/** Identities and topics add these. */
const IDENTITY = [
  ...CORE,
  '.exec .lastIndexOf .replace .some .test .toLowerCase .trim Int32Array JSON JSON.stringify Math.pow',
];
/** Requests and replies add these. */
const REQUESTS = [...CORE, '.replace .test .toLowerCase parseInt'];
/**
 * ChaCha20, Poly1305 and X25519 with BigInt add these. Not among them: getBigUint64, which reads 4 bytes of the 8 in XS on some
 * microcontrollers, and BigInt.asUintN, which returns negative numbers in QuickJS.
 */
const DEVICE = [
  ...CORE,
  '.byteLength .byteOffset .getInt32 .setBigUint64 .setInt32 .some BigInt DataView Int32Array Math.pow WebAssembly',
];
/** ChaCha20, Poly1305 and X25519 in doubles add these. */
const DOUBLES = [
  ...CORE,
  '.byteLength .byteOffset .getInt32 .setInt32 DataView Float64Array Int32Array Math.pow',
];
/** argon2id and BLAKE2b add these. */
const PSK = [...CORE, '.byteOffset Int32Array Math.imul Math.pow Math.round'];
/** noble's curves, hashes and AES, and argon2id, add these. */
const FULL = [
  ...DEVICE,
  ...IDENTITY,
  '.BYTES_PER_ELEMENT .constructor .forEach .get .getUint32 .has .includes .padStart .reverse .setUint32 Array.from Math.imul',
  'Number.isSafeInteger Object.assign RangeError TypeError Uint16Array Uint32Array Uint32Array.from Uint32Array.of',
  'Uint8Array.from',
  'Math.round Object.create Object.entries Object.freeze Object.getPrototypeOf Object.hasOwn Set SyntaxError globalThis',
  'globalThis.crypto parseInt',
  '.isWellFormed .toHex JSON.parse TextDecoder TextEncoder Uint8Array.fromHex', // checked for
];
/** Freezing what Moddable preloads adds this. */
const PRELOADABLE = ['Object.freeze'];
/** Lowering to an ES5 script adds these. */
const SCRIPT = ['.constructor .keys .values module module.exports'];

/** The whole of index.ts; argon2id is the reason for the last three of the first line. */
const INDEX = [
  ...[...IDENTITY, ...REQUESTS, ...SCRIPT, '.byteOffset Math.imul Math.round'],
  '.isWellFormed JSON.parse TextDecoder TextEncoder', // checked for
];

const ALLOWED: { readonly [name: string]: string[] } = {
  'hub-protocol.js': [...DEVICE, ...PRELOADABLE],
  'hub-protocol.core.js': [...CORE, ...ENGINE_JSON, ...PRELOADABLE],
  'hub-protocol.es5.js': [...DOUBLES, ...SCRIPT],
  'hub-protocol.core.es5.js': [...CORE, ...ENGINE_JSON, ...SCRIPT],
  'hub-protocol.link.js': [...DEVICE, ...PRELOADABLE],
  'hub-protocol.link.es5.js': [...DOUBLES, ...SCRIPT],
  'hub-protocol.identity.js': [...IDENTITY, ...PRELOADABLE],
  'hub-protocol.requests.js': [...REQUESTS, ...PRELOADABLE],
  'hub-protocol.requests.es5.js': [...REQUESTS, ...SCRIPT],
  'hub-protocol.binary.js': [...CORE, ...PRELOADABLE],
  'hub-protocol.psk.js': PSK,
  'hub-protocol.full.js': FULL,
};

/** @throws SyntaxError if the code has syntax that the file's version of the language lacks */
function assertSyntax(code: string, { syntax, usesBigInt }: Pick<BundleFile, 'syntax' | 'usesBigInt'>): void {
  if (syntax === 'es2020') parse(code, { ecmaVersion: 2020, sourceType: 'module' });
  else parse(usesBigInt ? withoutBigInt(code) : code, { ecmaVersion: 5, sourceType: 'script' });
}

/** Replaces BigInt literals by numbers and powers by products: Hermes has both besides ES5's syntax. */
function withoutBigInt(code: string): string {
  let rest = '';
  let end = 0;
  for (const { start, end: next, type } of tokenizer(code, { ecmaVersion: 2020 })) {
    const token = code.slice(start, next);
    const isBigInt = type.label === 'bigint' || (type.label === 'num' && token.endsWith('n'));
    rest += code.slice(end, start) + (isBigInt ? token.slice(0, -1) : token === '**' ? '*' : token);
    end = next;
  }
  return rest + code.slice(end);
}

function builtInsBeyond(allowed: string[], code: string, { syntax }: Pick<BundleFile, 'syntax'>): string[] {
  const names = allowed.join(' ').split(' ');
  const found = builtInsOf(code, syntax === 'es5' ? 'script' : 'module');
  return found.filter((name) => !names.includes(name));
}

test('no published module names a source map, since the package has none', () => {
  for (const folder of ['../../dist/', '../../client/dist/']) {
    const path = new URL(folder, import.meta.url);
    const modules = readdirSync(path, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.js'),
    );
    assert.ok(modules.length > 10);
    const named = modules.filter((name) =>
      readFileSync(new URL(name, path), 'utf8').includes('sourceMappingURL'),
    );
    assert.equal(named, []);
  }
});

for (const file of FILES) {
  const { name, entry, syntax, noble, usesBigInt } = file;

  test(`${name} is written in ${syntax}${syntax === 'es5' && usesBigInt ? ' with BigInt' : ''}`, () => {
    assertSyntax(read(name), file);
  });

  test(`${name} uses only the built-ins on its list`, () => {
    assert.equal(builtInsBeyond(ALLOWED[name]!, read(name), file), []);
  });

  test(`${name} imports nothing, exports what its entry does, and names its authors`, async () => {
    const code = read(name);
    assert.not.match(code, /\b(?:import|require)\b/);
    assert.not.match(code, 'sourceMappingURL');
    assert.match(code, /^\/\*! hub-protocol \d\S+, [\w ,]+\. .*MIT License.*\*\/\n/);
    assert.is(code.slice(0, 300).includes('Paul Miller'), noble !== '');
    const module = { exports: {} };
    if (syntax === 'es5') new Function('module', code)(module);
    else module.exports = await import(dist(name));
    assert.equal(Object.keys(module.exports).sort(), Object.keys(ENTRIES[entry]!).sort());
  });

  test(`${name} has a map that leads to the line of a source`, () => {
    const code = ['identity', 'requests', 'binary', 'psk'].includes(entry)
      ? 'lone-surrogate'
      : 'no-common-suite';
    const lines = read(name).slice(0, read(name).indexOf(code)).split('\n');
    const map = new SourceMap(JSON.parse(read(`${name}.map`)));
    const { originalSource, originalLine } = map.findEntry(
      lines.length - 1,
      lines.at(-1)!.length - 1,
    ) as SourceMapping;
    const source = originalSource.slice(originalSource.lastIndexOf('src/'));
    const original = readFileSync(new URL(`../../${source}`, import.meta.url), 'utf8');
    // A function of the table of errors may have its code on the lines after its name.
    assert.match(
      original
        .split('\n')
        .slice(originalLine, originalLine + 4)
        .join('\n'),
      code,
    );
  });
}

for (const { name } of FILES.filter(({ syntax }) => syntax === 'es5')) {
  test(`${name} uses no name before its declaration, and passes no properties to Object.create`, () => {
    const code = read(name);
    assert.equal(namedTooEarly(code), []);
    assert.not.match(code, /Object\.create\([^()]*,/);
  });

  test(`${name} uses no name of a catch variable elsewhere in the same function`, () => {
    assert.equal(clashingCatches(read(name)), []);
  });

  test(`${name} escapes / and [ in character classes`, () => {
    assert.equal(bareInClasses(read(name)), []);
  });
}

/** MicroQuickJS rejects these. */
function clashingCatches(code: string): string[] {
  return catchesIn(code)
    .filter(({ name, others }) => others.has(name))
    .map(({ name }) => name);
}

/** Espruino ends a regular expression at such a slash, and miscounts brackets after such a bracket. */
function bareInClasses(code: string): string[] {
  const found: string[] = [];
  walk(parseModule(code), (node) => {
    if (node.type !== 'Literal' || !node.regex) return true;
    const { pattern } = node.regex;
    const classes = pattern.replace(/\\./g, '').match(/\[[^\]]*\]/g) ?? [];
    if (classes.some((members) => /[/[]/.test(members.slice(1)))) found.push(pattern);
    return true;
  });
  return found;
}

for (const { name } of FILES.filter(isPreloadable)) {
  test(`${name} has only constant variables and frozen values, as Moddable's preload asks`, () => {
    assert.is(withFrozenValues(read(name)), read(name));
  });
}

for (const { name } of FILES.filter(({ isCompact }) => isCompact)) {
  test(`${name} creates stateful regular expressions where they are used, since preloaded ones are frozen`, () => {
    assert.equal(countersAtTop(read(name)), []);
  });
}

/** Finds regular expressions with `lastIndex` that are made when the file is loaded. Moddable's preload freezes them. */
function countersAtTop(code: string): string[] {
  const found: string[] = [];
  const isWrapper = (node: AnyNode): boolean =>
    node.type === 'CallExpression' && node.callee.type === 'FunctionExpression';
  const look = (tree: AnyNode): void =>
    walk(tree, (node) => {
      if (isWrapper(node)) look((node as { callee: { body: AnyNode } }).callee.body);
      if (node.type === 'Literal' && /[gy]/.test(node.regex?.flags ?? '')) found.push(node.raw!);
      return !isFunction(node);
    });
  look(parseModule(code));
  return found;
}

for (const change of ['a.length = 0', 'a[0] = 1', 'a.b++']) {
  test(`a module that freezes a value and then changes it with ${change} is refused`, () => {
    assert.throws(() => withFrozenValues(`var a = [];\nfunction f() { ${change}; }`), /a is frozen/);
  });
}

test('scripts set a global if there are no modules', () => {
  const script = read('hub-protocol.core.es5.js');
  assert.type(new Function(`${script}; return hubProtocol;`)().ClientSession, 'function');
  const requests = read('hub-protocol.requests.es5.js');
  assert.type(new Function(`${requests}; return hubProtocolRequests;`)().ReplyCollector, 'function');
});

test('the licence file has both notices', () => {
  const text = read('hub-protocol.LICENSE.txt');
  for (const holder of ['the hub-protocol authors', 'Paul Miller']) assert.match(text, holder);
  assert.is(text.split('Permission is hereby granted').length, 3);
});

for (const [name, expected] of [
  ['hub-protocol.js', 'bad-argument: siteId'],
  ['hub-protocol.core.js', 'bad-argument: siteId'],
  ['hub-protocol.full.js', /^"siteId" expected \w+/],
] as const) {
  test(`errors of ${name} name the bad argument`, async () => {
    const { ClientSession } = await import(dist(name));
    try {
      new ClientSession({});
      assert.unreachable();
    } catch (error) {
      const { code, message } = error as { code: string; message: string };
      assert.is(code, 'bad-argument');
      assert.match(message, expected);
    }
  });
}

test('errors of hub-protocol.js name the option that does not exist, and the part of an argument that is missing', async () => {
  const { ClientSession, deviceCrypto: crypto } = await import(dist('hub-protocol.js'));
  const messageOf = (options: object): string => {
    try {
      new ClientSession(options);
      return '';
    } catch (error) {
      return (error as Error).message;
    }
  };
  const keyring = { staticKey: new Uint8Array(32).fill(1) };
  const options = { crypto, siteId: 'lobby', keyring, randomBytes: () => new Uint8Array(32).fill(2) };
  assert.is(messageOf(options), '');
  assert.is(messageOf({ ...options, siteid: 'lobby' }), 'bad-argument: options.siteid');
  const x25519 = { sharedSecret: crypto.x25519.sharedSecret };
  assert.is(
    messageOf({ ...options, crypto: { ...crypto, x25519 } }),
    'bad-argument: crypto.x25519.publicKey',
  );
});

/** Lowered to ES5, as the ES5 files are, so that syntax shows as the built-ins that it needs, or does not parse. */
async function assertCoreOnly(module: { code: string; map: string }): Promise<void> {
  const { code } = await toScript(module);
  parse(code, { ecmaVersion: 5, sourceType: 'script' });
  assert.equal(builtInsBeyond(INDEX, code, { syntax: 'es5' }), []);
}

test('the core, lowered to ES5, is ES5 and uses only the built-ins on its list', async () => {
  await assertCoreOnly(await bundleModule('src/index.ts', false));
});

const onlyIn = (code: string): Promise<void> =>
  assertCoreOnly({
    code: `var a, f;\n${code}\nexport {\n  a\n};\n`,
    map: JSON.stringify({ version: 3, sources: [], names: [], mappings: '' }),
  });

for (const code of ['Date.now();', 'new Function("");', 'f = async () => 1;', 'const [b] = a;']) {
  test(`the gate for the core rejects ${code}`, async () => {
    assert.instance(await onlyIn(code).catch((error) => error), Error);
  });
}

for (const [code, syntax, usesBigInt] of [
  ['a = () => 1;', 'es5', false],
  ['a = 1n; class B {}', 'es5', true],
  ['a ??= 1;', 'es2020', true],
] as const) {
  test(`the gate for ${syntax} rejects ${code}`, () => {
    assert.throws(() => assertSyntax(code, { syntax, usesBigInt }), /SyntaxError|[(]\d+:\d+[)]/);
  });
}

for (const [gate, found] of [
  ['regular expressions', countersAtTop('const a = /b/g;')],
  ['catch variables', clashingCatches('function f() { try {} catch (a) {} function g(a) {} }')],
  ['character classes', bareInClasses('a = /b[!-@[]/')],
  ['early names', namedTooEarly('f(); function f() {}')],
  ['built-ins', builtInsBeyond(CORE, 'Array.from(b); var b;', { syntax: 'es5' })],
] as const) {
  test(`the gate for ${gate} finds a mistake`, () => {
    assert.is(found.length, 1);
  });
}

test.run();

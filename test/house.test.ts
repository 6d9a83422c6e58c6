// Holds what the design says about the sources by reading them: who imports whom, that the core has no ambient input,
// and that what is left of it once lowered to ES5 runs on devices. Comments, strings and regular expressions are
// taken out crudely first.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, posix, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const ROOT = fileURLToPath(new URL('../src/', import.meta.url));

const SOURCES = new Map<string, string>();
for (const entry of readdirSync(ROOT, { recursive: true, withFileTypes: true })) {
  if (!entry.name.endsWith('.ts')) continue;
  const path = `${entry.parentPath}/${entry.name}`;
  SOURCES.set(relative(ROOT, path), readFileSync(path, 'utf8'));
}

const COMMENT = /\/\*[\s\S]*?\*\/|\/\/.*/;
const STRING = /'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/;
const TEMPLATE = /`(?:[^`\\]|\\.)*`/;
const REGEXP = /(?<=[(,=]\s*)\/(?![/*])(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/;
const TOKENS = new RegExp([REGEXP, COMMENT, STRING, TEMPLATE].map(({ source }) => source).join('|'), 'g');

/** A source without comments. */
function uncommented(source: string): string {
  return source.replace(TOKENS, (token) => (/^\/[/*]/.test(token) ? ' ' : token));
}

/** A source without comments, strings and regular expressions; what templates insert stays. */
function codeOf(source: string): string {
  return source.replace(TOKENS, (token) => {
    if (token[0] !== '`') return /^\/[/*]/.test(token) ? ' ' : '0';
    return `(${[...token.matchAll(/\$\{([^}]*)\}/g)].map(([, code]) => codeOf(code!)).join()})`;
  });
}

/** What a source imports, in any form and also for its types alone: paths inside src, and the names of packages. */
function importsOf(file: string, source: string): string[] {
  const names = /(?:\bfrom|\bimport|\bimport\s*\(|\brequire\s*\()\s*['"`]([^'"`]+)['"`]/g;
  return [...uncommented(source).matchAll(names)].map(([, name]) =>
    name!.startsWith('.') ? posix.join(dirname(file), name!) : name!,
  );
}

const PROVIDERS =
  /^crypto\/(noble|noble-aesgcm|noble-chachapoly|noble-x25519|node|device|device-x25519|low-order)\.ts$/;
const CORE = [...SOURCES.keys()].filter((file) => !PROVIDERS.test(file));

/** The rooms, each with those it may import from. A provider of cryptography may also import its package. */
const ROOMS: { readonly [room: string]: readonly string[] } = {
  '': [],
  wire: [''],
  crypto: [''],
  noise: ['', 'crypto'],
  issued: ['', 'wire'],
  'mqtt-topics': ['', 'crypto', 'issued'],
  identity: ['', 'wire', 'issued', 'mqtt-topics'],
  requests: ['', 'wire'],
  session: ['', 'wire', 'crypto', 'noise'],
};
const roomOf = (name: string): string => (name.includes('/') ? name.slice(0, name.indexOf('/')) : '');

function mayImport(file: string, name: string): boolean {
  if (file === 'index.ts') return CORE.includes(name);
  if (PROVIDERS.test(file) && (name.startsWith('@noble/') || name === 'node:crypto')) return true;
  if (PROVIDERS.test(name) && !PROVIDERS.test(file)) return false;
  const rooms = ROOMS[roomOf(file)];
  assert.ok(rooms !== undefined, `${file} is in no room of the table`);
  return SOURCES.has(name) && (roomOf(name) === roomOf(file) || rooms.includes(roomOf(name)));
}

test('finds imports in every form', () => {
  const source = `import 'a'; import type { B } from "b"; export * from 'c';
    import { // from 'not'
      d } from './d.ts'; /* import 'neither' */ type E = import('../e.ts').E; require('f');`;
  assert.equal(importsOf('x/y.ts', source), ['a', 'b', 'c', 'x/d.ts', 'e.ts', 'f']);
});

test('takes comments, strings and regular expressions out, and leaves code', () => {
  const source = `a('Date', "x\\"Date"); // Date\n b(/\\/\\/['Date]*@/, \`Date \${c('Date')} Date\`); /* Date */ d();`;
  assert.is(codeOf(source).replace(/\s+/g, ''), 'a(0,0);b(0,(c(0)));d();');
});

test('imports in one direction', () => {
  for (const [file, source] of SOURCES) {
    for (const name of importsOf(file, source)) assert.ok(mayImport(file, name), `${file} imports ${name}`);
  }
});

test('imports no file that is not there', () => {
  for (const [file, source] of SOURCES) {
    for (const name of importsOf(file, source)) {
      if (name.endsWith('.ts')) assert.ok(SOURCES.has(name), `${file} imports ${name}`);
    }
  }
});

test('reaches the whole core from index.ts, and nothing else', () => {
  const reached = ['index.ts'];
  for (const file of reached) {
    const source = SOURCES.get(file);
    if (source === undefined) continue;
    for (const name of importsOf(file, source)) if (!reached.includes(name)) reached.push(name);
  }
  assert.equal(reached.sort(), [...CORE].sort());
});

/** Not after a dot, nor the name of a field. */
const globals = (names: string): RegExp => new RegExp(`(?<![.\\w$])(?:${names})(?![\\w$]|\\??:)`);

/** What no file of the core has in its code, pieces of code that have it, and how excepted files start. */
const ABSENT: [string, RegExp, string[], string[]?][] = [
  [
    'encoders of the host',
    globals('TextEncoder|TextDecoder|Buffer|btoa|atob|URL|URLSearchParams|structuredClone'),
    ['new TextEncoder()', 'x = Buffer.from(a)', 'btoa(a)', 'new URL(a)'],
  ],
  [
    'clocks and timers',
    globals('Date|performance|set(?:Timeout|Interval|Immediate)|queueMicrotask'),
    ['Date.now()', 'setTimeout(f)', 'new Date()', 'performance.now()'],
  ],
  [
    'randomness of the host',
    /Math\.random|\bcrypto\.(?:subtle|getRandomValues|random\w+)|\bgetRandomValues\b/,
    ['Math.random()', 'crypto.getRandomValues(a)', 'crypto.randomUUID()'],
  ],
  [
    'other globals of the host',
    globals(
      'process|console|WebAssembly|globalThis|window|self|navigator|fetch|require|WebSocket|eval|Function',
    ),
    [
      'process.env',
      'console.log(a)',
      'WebAssembly.compile(a)',
      'globalThis.crypto',
      'fetch(a)',
      'new Function(a)',
    ],
  ],
  [
    'collections and other classes past ES5',
    /\b(?:Map|Set|WeakMap|WeakSet|WeakRef|Promise|Proxy|Reflect|BigInt|BigInt64Array|BigUint64Array)\b/,
    ['new Map()', 'x: Set<string>', 'new WeakMap()', 'Promise.resolve()', 'BigInt(1)'],
  ],
  ['symbols', /\bSymbol\b/, ['Symbol.iterator', 'typeof Symbol'], ['opaque.ts']],
  [
    'generators',
    /\bfunction\s*\*|\byield\b|^\s*(?:static\s+)?\*\s*\w+\s*\(/m,
    ['function* f() {}', 'yield 1', '  *f() {'],
  ],
  ['promises in syntax', /\basync\b|\bawait\b/, ['async () => 1', 'await a']],
  ['iteration', /\bfor\s*(?:await\s*)?\([^;)]*\sof\s/, ['for (const a of b)', 'for (const [a, b] of c())']],
  ['array patterns', /\b(?:const|let|var)\s*\[/, ['const [a, b] = c', 'let [a] = b']],
  ['literals of BigInt', /\b(?:0x[\da-f_]+|[\d_]+)n\b/i, ['1n', '0xffn', '1_000n']],
  ['private names', /#\w/, ['#a = 1', 'this.#a', '#a in b']],
  ['spread', /\.\.\./, ['f(...a)', '[...a]', '{ ...a }', 'f(...parts: A[])'], ['crypto/crypto.ts']],
  ['Math.imul', /\bMath\.imul\b/, ['Math.imul(a, b)'], ['noise/argon2id']],
  [
    'Math past ES5',
    /\bMath\.(?:trunc|sign|clz32|log2|fround|cbrt|hypot)\b/,
    ['Math.trunc(a)', 'Math.clz32(a)'],
  ],
  ['Number past ES5', /\bNumber\.\w/, ['Number.isInteger(a)', 'Number.isSafeInteger(a)', 'Number.EPSILON']],
  ['Array past ES5', /\bArray\.(?:from|of)\b/, ['Array.from(a)', 'Array.of(a)']],
  ['typed arrays from lists', /\bUint\d+Array\.(?:from|of)\b/, ['Uint8Array.from(a)', 'Uint8Array.of(1)']],
  [
    'Object past ES5',
    /\bObject\.(?:assign|entries|values|fromEntries|hasOwn|is)\b/,
    ['Object.assign(a)', 'Object.entries(a)'],
  ],
  [
    'methods past ES5',
    /\.(?:codePointAt|normalize|startsWith|endsWith|includes|padStart|padEnd|repeat|find|findIndex|flat|flatMap|at|matchAll|replaceAll|copyWithin|trimStart|trimEnd)\(/,
    ['a.codePointAt(0)', "a.startsWith('b')", 'a.endsWith(b)', 'a.includes(b)', 'a.padStart(2)', 'a.at(-1)'],
  ],
  ['String past ES5', /\bString\.(?:fromCodePoint|raw)\b/, ['String.fromCodePoint(1)', 'String.raw']],
  ['filling', /\.fill\(/, ['a.fill(0)'], ['bytes.ts', 'noise/argon2id']],
];

for (const [what, pattern, samples, exceptions = []] of ABSENT) {
  test(`has no ${what} in the core`, () => {
    for (const sample of samples) assert.match(codeOf(sample), pattern);
    for (const file of CORE) {
      if (exceptions.some((start) => file.startsWith(start))) continue;
      const found = pattern.exec(codeOf(SOURCES.get(file)!));
      assert.is(found, null, `${file} has ${found?.[0]}`);
    }
  });
}

test('has spread in the interface of crypto only to declare rest parameters', () => {
  const code = codeOf(SOURCES.get('crypto/crypto.ts')!);
  assert.equal([...new Set(code.match(/\.\.\.\w+\S?/g))], ['...parts:']);
});

test.run();

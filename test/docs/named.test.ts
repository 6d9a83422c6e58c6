/** What documents, docstrings and messages name of this project is there: files, headings and commands. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const { scripts } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')) as { scripts: object };

/** Tests of links have links that lead nowhere, and generators of vectors name files of others. */
const NOT_OURS =
  /^(?:test\/docs\/|test\/docs\.test\.ts|vectors\/generate\/|.*\.(?:json|lock|sum|webp|patch)$)/;

const FILES = execFileSync('git', ['ls-files', '-z'], { cwd: ROOT, encoding: 'utf8' })
  .split('\0')
  .filter((file) => file !== '' && !NOT_OURS.test(file) && existsSync(ROOT + file));

/** A path of a file, from the root or with `../`, and a heading behind it. */
const PATH =
  /(?<![\w/.*@-])((?:\.\.\/)*(?:docs|examples|ports|test|tools|src|vectors|evidence|judge|cli|bundles|\.ci)\/[\w./-]*(?:\w\.(?:ts|js|md|py|json|go|rs|html|sh|webp|patch|txt)|\/(?:install|judge|run)))(#[\w-]+)?(?![\w*{…/-])/g;

/** What a text names that is not there. */
function missing(text: string, file: string): string[] {
  const paths = [...text.matchAll(PATH)]
    .filter(([, path, heading]) => !isThere(path!, file) || (heading && !hasHeading(path!, heading.slice(1))))
    .map(([found]) => found);
  const commands = [...text.matchAll(/npm run (?:--silent )?([a-z][a-z:-]*[a-z])/g)]
    .filter(([, name]) => !(name! in scripts))
    .map(([found]) => found);
  return [...paths, ...commands];
}

/** Looks from the root, from the file, and from where generated pages are. */
function isThere(path: string, file: string): boolean {
  if (path.includes('/node_modules/')) return true; // installed by what names it
  return [
    path,
    posix.join(posix.dirname(file), path),
    posix.join('docs/reference', path),
    posix.join('docs/reference/api', path),
  ].some((candidate) => existsSync(ROOT + candidate));
}

function hasHeading(path: string, anchor: string): boolean {
  if (!path.endsWith('.md') || path.startsWith('../')) return true; // links between pages: links.test.ts
  const headings = [...readFileSync(ROOT + path, 'utf8').matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replace(/ /g, '-'),
  );
  return headings.includes(anchor);
}

test('every file, heading and command that this project names exists', () => {
  const problems = FILES.flatMap((file) =>
    missing(readFileSync(ROOT + file, 'utf8'), file).map((name) => `${file}: ${name}`),
  );
  assert.equal(problems, []);
});

test('every entry of a package that programs import is named in a document for its users', () => {
  const documents = FILES.filter(
    (file) => file.endsWith('.md') && !/^(?:docs\/evidence|docs\/reference\/api|evidence|test)\//.test(file),
  )
    .map((file) => readFileSync(ROOT + file, 'utf8'))
    .join();
  const entries = ['', 'client/', 'cli/', 'judge/'].flatMap((folder) => {
    const { name, exports } = JSON.parse(readFileSync(`${ROOT}${folder}package.json`, 'utf8'));
    const imported = Object.entries(exports ?? {}).filter(
      ([, to]) => typeof (to as { types?: string }).types === 'string',
    );
    return imported.map(([path]) => posix.join(name, path)).filter((entry) => !entry.includes('*'));
  });
  assert.ok(entries.length > 12, `${entries}`);
  const isNamed = (entry: string): boolean => new RegExp(`${entry}(?![\\w/-])`).test(documents);
  assert.equal(
    entries.filter((entry) => !isNamed(entry)),
    [],
  );
});

/** The places that have a row or an import for each entry of the client. */
const LISTS_OF_ENTRIES = [
  'tools/declared.ts',
  'test/client/options.test.ts',
  'test/client/refused-hosts-program.ts',
  'test/client/shells.test.ts',
];

test('every entry of the client that connects is documented, and tested as the others are', () => {
  const { exports } = JSON.parse(readFileSync(`${ROOT}client/package.json`, 'utf8'));
  const entries = Object.entries<{ types?: string } | string>(exports)
    .filter(([path, to]) => typeof to === 'object' && !path.startsWith('./hub'))
    .map(([path]) => `'${posix.join('hub-protocol-client', path)}'`);
  assert.ok(entries.length >= 5, `${entries}`);
  for (const list of LISTS_OF_ENTRIES) {
    const text = readFileSync(ROOT + list, 'utf8');
    assert.equal(
      entries.filter((entry) => !text.includes(entry)),
      [],
      list,
    );
  }
});

/** Commands, packages and modules of others. */
const FOREIGN =
  /^(?:(?:allow|argon2|gcc|hivemind|make|ovos|poorman|react-native|rmquickjs|thalovant)-|(?:audioIn|hermes-engine-cli|moduleResolution)$)/;

/** What documents quote in this form, outside of code, and the sources do not have. */
function unknown(quoted: RegExp, names: ReadonlySet<string>): string[] {
  return FILES.filter((file) => file.endsWith('.md')).flatMap((file) => {
    const prose = readFileSync(ROOT + file, 'utf8').replace(/^```.*?^```/gms, '');
    return Array.from(prose.matchAll(quoted), ([, name]) => name!)
      .filter((name) => !names.has(name) && !FOREIGN.test(name))
      .map((name) => `${file}: ${name}`);
  });
}

/** The names of this form in the sources, except in tests and in the ports, which keep a name of the library after it has changed. */
function namesInSources(form: RegExp, folders = /^(?!test\/|ports\/(?:go|python)\/)/): Set<string> {
  const sources = FILES.filter((file) => /\.(?:[jt]s|py|json|vp)$/.test(file) && folders.test(file));
  return new Set(
    sources.flatMap((file) =>
      Array.from(readFileSync(ROOT + file, 'utf8').matchAll(form), ([, name]) => name!),
    ),
  );
}

test('every word with a hyphen that a document quotes, such as an event or a code, is quoted in the sources, too', () => {
  const names = namesInSources(/['"`]([a-z\d]+(?:-[a-z\d]+)+)['"`]/g);
  assert.equal(unknown(/`([a-z\d]+(?:-[a-z\d]+)+)`/g, names), []);
});

test('every code in the ports, such as that of an error, is one of the library', () => {
  const quoted = /["`]([a-z\d]+(?:-[a-z\d]+)+)["`]/g;
  const names = namesInSources(/['"`]([a-z\d]+(?:-[a-z\d]+)+)['"`]/g);
  const ports = FILES.filter((file) => /^ports\/(?:go|python)\/[^/]*\.(?:go|py)$/.test(file));
  assert.ok(ports.length > 10);
  const foreign = ports.flatMap((file) =>
    Array.from(readFileSync(ROOT + file, 'utf8').matchAll(quoted), ([, name]) => `${file}: ${name}`),
  );
  assert.equal(
    foreign.filter((line) => !names.has(line.split(' ')[1]!)),
    [],
  );
});

test('every event that an example in JavaScript handles is one of the library', () => {
  const names = namesInSources(/'([a-z-]+)'/g, /^(?:src|client\/src)\//);
  const examples = FILES.filter((file) => /^(?:examples|moddable)\/.*\.js$/.test(file));
  const handled = examples.flatMap((file) =>
    Array.from(
      readFileSync(ROOT + file, 'utf8').matchAll(/type === '([a-z-]+)'|'([a-z-]+)': \(/g),
      ([, compared, key]) => `${file}: ${compared ?? key}`,
    ),
  );
  assert.ok(handled.length > 15, `${handled}`);
  assert.equal(
    handled.filter((line) => !names.has(line.split(' ')[1]!)),
    [],
  );
});

test('every name in camel case that a document quotes, such as an option or a function, is in the sources', () => {
  assert.equal(unknown(/`([a-z]+[A-Z]\w*)(?:\(\))?`/g, namesInSources(/\b([a-z]+[A-Z]\w*)/g)), []);
});

test.run();

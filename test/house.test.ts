/**
 * Chance in tests, and who may import whom, read from the syntax trees of all files: rooms in src/, and packages. What the core
 * may use of the language and its library is held by the compiler (src/tsconfig.json) and by bundles/gates.test.ts.
 */
import { webcrypto } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import swc from '@swc/core';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { randomBytes } from '../src/crypto/node.ts';
import { fc } from './world/property.ts';
import { seedProcess } from './world/seed.ts';

/** Each room, with the rooms that it may import from. '' is src/ itself. */
const ROOMS: { readonly [room: string]: readonly string[] } = {
  '': [],
  wire: [''],
  binary: ['', 'wire'],
  crypto: [''],
  noise: ['', 'crypto'],
  issued: ['', 'wire'],
  'mqtt-topics': ['', 'crypto', 'issued'],
  identity: ['', 'wire', 'issued', 'mqtt-topics'],
  requests: ['', 'wire'],
  session: ['', 'wire', 'crypto', 'noise'],
  keyring: ['', 'wire', 'crypto', 'session'],
  recording: ['', 'wire', 'crypto', 'session'],
  policy: ['', 'crypto', 'session'],
  link: ['', 'wire', 'crypto', 'session', 'keyring', 'policy', 'requests'],
  small: ['', 'wire', 'crypto', 'noise', 'session'],
};

/** The entries of the package that lead to all rooms. */
const DOORS = ['index.ts', 'parts.ts', 'recording.ts', 'binary.ts'];

/** The folders with code that is not a test, the packages' among them. Programs in evidence/ try internals, as tests do. */
const FOLDERS = ['src', 'bundles', 'client/src', 'cli/src', 'judge/src', 'examples', 'tools', 'evidence'];

/** The packages in folders of their own. Everything else belongs to the library's. */
const PACKAGES = ['client', 'cli', 'judge'];

/** The examples with functions that tests try. */
const TRIED = new Set(
  [
    'aes-gcm',
    'bridge/bridge',
    'bridge/serial-line',
    'external-key',
    'page/server',
    'quickjs/host',
    'react-native/hub',
  ].map((name) => `examples/${name}.ts`),
);

/** The one file with which a package imports the library's internals, which the library does not export. */
const DOOR_TO_INTERNALS = 'judge/src/protocol.ts';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const roomOf = (file: string): string => file.slice(0, Math.max(0, file.indexOf('/')));
const isTest = (file: string): boolean => /^(?:test|evidence)\//.test(file);
const packageOf = (file: string): string => PACKAGES.find((name) => file.startsWith(`${name}/`)) ?? '';

/** The fields of syntax nodes that tell of imports. */
interface Syntax {
  readonly type?: string;
  readonly source?: swc.StringLiteral | null;
  readonly argument?: swc.StringLiteral;
  readonly callee?: { readonly type: string; readonly value?: string };
  readonly arguments?: readonly swc.Argument[];
}

/** What a file imports, in any form and for its types too: paths in the folder that `file` is in, and the names of packages. */
function importsOf(file: string, code: string): string[] {
  const names: string[] = [];
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    const { type, source, argument, callee, arguments: all } = node as Syntax;
    if (source && /Declaration$/.test(type!)) names.push(source.value);
    if (type === 'TsImportType') names.push(argument!.value);
    if (callee?.type === 'Import' || callee?.value === 'require') {
      const [name] = all!.map(({ expression }) => expression);
      names.push(name?.type === 'StringLiteral' ? name.value : 'a computed name');
    }
    Object.values(node).forEach(visit);
  };
  visit(swc.parseSync(code, { syntax: 'typescript' }));
  return names.map((name) => (name.startsWith('.') ? posix.join(dirname(file), name) : name));
}

/** The imports of each file below a folder, by paths below a root. */
function importsIn(folder: string, root: string): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const name of readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })) {
    const file = posix.join(folder, name);
    if (!file.endsWith('.ts') || file.endsWith('.d.ts') || file.includes('node_modules/')) continue;
    found.set(file, importsOf(file, readFileSync(join(root, file), 'utf8')));
  }
  return found;
}

/** Paths below src/. */
const IMPORTS = importsIn('', join(ROOT, 'src'));

/** Paths below the project. */
const ALL = new Map(FOLDERS.flatMap((folder) => [...importsIn(folder, ROOT)]));

/** A file and all that it imports, directly or by way of others. */
function reachableFrom(start: string, imports: ReadonlyMap<string, string[]> = IMPORTS): Set<string> {
  const reached = new Set([start]);
  for (const file of reached) for (const name of imports.get(file) ?? []) reached.add(name);
  return reached;
}

/** The smallest client, which has a file for devices and no entry. */
const SMALLEST = 'small/client-session.ts';

const CORE = new Set([...DOORS, SMALLEST].flatMap((door) => [...reachableFrom(door)]));

/** The imports for which `isWrong` holds. */
function importsThat(
  isWrong: (file: string, name: string) => boolean,
  imports: ReadonlyMap<string, string[]> = IMPORTS,
): string[] {
  return [...imports].flatMap(([file, names]) =>
    names.filter((name) => isWrong(file, name)).map((name) => `${file} imports ${name}`),
  );
}

test('imports only from the rooms that the table allows', () => {
  const isWrong = (file: string, name: string): boolean =>
    IMPORTS.has(name) &&
    !DOORS.includes(file) &&
    roomOf(name) !== roomOf(file) &&
    !ROOMS[roomOf(file)]?.includes(roomOf(name));
  assert.equal(importsThat(isWrong), []);
});

test('imports packages and modules of Node only in providers of cryptography, which the core does not import', () => {
  assert.equal(
    importsThat((file, name) => !IMPORTS.has(name) && (CORE.has(file) || roomOf(file) !== 'crypto')),
    [],
  );
});

test('has no circles of imports, in any package', () => {
  assert.equal(
    importsThat((file, name) => reachableFrom(name, ALL).has(file), ALL),
    [],
  );
});

test('packages import each other by name', () => {
  const found = importsThat(
    (file, name) =>
      name.includes('/') &&
      existsSync(ROOT + name) &&
      packageOf(name) !== packageOf(file) &&
      !file.startsWith('evidence/'),
    ALL,
  );
  assert.equal(
    found.filter((one) => !one.startsWith(`${DOOR_TO_INTERNALS} imports src/`)),
    [],
  );
});

test('no program imports an example, and tests import only those that they try', () => {
  const withTests = new Map([...ALL, ...importsIn('test', ROOT)]);
  const isWrong = (file: string, name: string): boolean =>
    name.startsWith('examples/') && !file.startsWith('examples/') && !(isTest(file) && TRIED.has(name));
  assert.equal(importsThat(isWrong, withTests), []);
});

test('reaches every file from the entries, except the providers of cryptography', () => {
  assert.equal(
    [...IMPORTS.keys()].filter((file) => !CORE.has(file) && roomOf(file) !== 'crypto'),
    [],
  );
});

test('CONTRIBUTING.md draws the rooms of the table', () => {
  const text = readFileSync(new URL('../CONTRIBUTING.md', import.meta.url), 'utf8');
  const arrows = [...text.matchAll(/^ +([\w-]+) --> ([\w-]+)$/gm)].map(
    ([, from, to]) => `${from} imports ${to}`,
  );
  const allowed = Object.entries(ROOMS).flatMap(([room, others]) =>
    others.filter((other) => other !== '').map((other) => `${room} imports ${other}`),
  );
  assert.equal(arrows.sort(), allowed.sort());
  const drawn = [...text.matchAll(/^ +([\w-]+)\["\1\//gm)].map(([, room]) => room!);
  assert.equal(['', ...drawn].sort(), Object.keys(ROOMS).sort());
});

test('each room has a folder of tests', () => {
  const folders = Object.keys(ROOMS).map((room) => (room === '' ? 'base' : room)); // the files directly in src/
  assert.equal(
    folders.filter((folder) => !existsSync(join(ROOT, 'test', folder))),
    [],
  );
});

test('only the tests of the whole project lie directly in test/', () => {
  const files = readdirSync(join(ROOT, 'test')).filter((name) => name.endsWith('.ts'));
  assert.equal(files.sort(), ['ceilings.test.ts', 'house.test.ts']);
});

test('tests take fast-check from world/property.ts, which gives it the same seed in each run', () => {
  const tests = fileURLToPath(new URL('./', import.meta.url));
  const direct = readdirSync(tests, { recursive: true, encoding: 'utf8' }).filter(
    (file) =>
      file.endsWith('.ts') &&
      !file.includes('node_modules') &&
      /(?:from|import\() ?'fast-check'/.test(readFileSync(join(tests, file), 'utf8')),
  );
  assert.equal(direct, ['world/property.ts']);
});

test('a test draws the same random numbers in each run', () => {
  const draw = (): unknown[] => {
    seedProcess();
    return [
      randomBytes(8),
      webcrypto.getRandomValues(new Uint8Array(8)),
      Math.random(),
      fc.sample(fc.nat(), 3),
    ];
  };
  assert.equal(draw(), draw());
});

test.run();

/** What npm publishes, looked at from outside, and used as a stranger would. */
import { copyFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { build } from 'esbuild';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { emptyFolder, install, library, packed, run } from './packed.ts';
import { PROGRAM, withOwnCrypto } from './readme.ts';

const test = suite('the tarball');
const folder = emptyFolder('tarball');
const inFolder = (...path: string[]): string => join(folder, ...path);
let printed: string;

test.before(async () => {
  printed = await install(folder, await library());
});

test('two builds in different folders give the same bytes', async () => {
  const [once, again] = await packed;
  assert.equal(
    once.map(({ name }) => name),
    ['hub-protocol', 'hub-protocol-judge', 'hub-protocol-cli'],
  );
  assert.equal(
    once.map(({ sha256 }) => sha256),
    again.map(({ sha256 }) => sha256),
  );
});

test('takes less than 1.5 MB, and its installation brings noble alone and no warning of its own', async () => {
  const [[{ unpackedSize } = { unpackedSize: Infinity }]] = await packed;
  assert.ok(unpackedSize < 1_500_000, `${unpackedSize}`);
  assert.not.match(printed, /hub-protocol|noble|scripts/);
  assert.equal(installedIn(folder), ['@noble/ciphers', '@noble/curves', '@noble/hashes', 'hub-protocol']);
});

test('who brings cryptography installs nothing else, and README’s program runs', async () => {
  const alone = emptyFolder('alone');
  await install(alone, '--omit=optional', await library());
  assert.equal(installedIn(alone), ['hub-protocol']);
  copyFileSync(new URL('programs/own-crypto.js', import.meta.url), join(alone, 'own-crypto.js'));
  writeFileSync(join(alone, 'program.js'), withOwnCrypto(PROGRAM));
  const { stdout } = await run(alone, process.execPath, ['program.js']);
  assert.is(stdout, 'the hub says {"echo":"{\\"say\\":\\"hello\\"}"}\n');
});

test('the judge’s vectors and schemas can be imported', async () => {
  const porter = emptyFolder('porter');
  const [[, judge]] = await packed;
  await install(porter, judge!.path);
  const { stdout } = await run(porter, process.execPath, [
    '--input-type=commonjs',
    '-e',
    `const vectors = require('hub-protocol-judge/vectors/transport.json');
    const schema = require('hub-protocol-judge/vectors/schemas/transport.schema.json');
    console.log(vectors.testGroups.length > 0, schema.additionalProperties);`,
  ]);
  assert.is(stdout, 'true false\n');
});

/** The names of the packages in a folder. */
function installedIn(where: string): string[] {
  const within = (path: string): string[] => {
    const full = join(where, 'node_modules', path);
    return existsSync(full) ? readdirSync(full).filter((name) => !name.startsWith('.')) : [];
  };
  return within('')
    .flatMap((name) => (name.startsWith('@') ? within(name).map((inner) => `${name}/${inner}`) : [name]))
    .sort();
}

/** The links of the pages in an installed package that lead nowhere. */
function deadLinks(pkg: string): string[] {
  const pages = readdirSync(pkg, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.md'),
  );
  assert.ok(pages.length > 0);
  return pages.flatMap((page) => {
    const prose = readFileSync(join(pkg, page), 'utf8').replace(/```[\s\S]*?```|`[^`\n]*`/g, '');
    return [...prose.matchAll(/\]\(([^()\s#]+)[^()\s]*\)/g)]
      .map(([, target]) => target!)
      .filter((target) => !/^https:/.test(target) && !existsSync(join(pkg, page, '..', target)));
  });
}

test('no page in a package has a dead link', async () => {
  assert.equal(deadLinks(inFolder('node_modules/hub-protocol')), []);
  const others = emptyFolder('pages');
  const [[, ...rest]] = await packed;
  await install(others, ...rest.map(({ path }) => path));
  for (const name of ['hub-protocol-judge', 'hub-protocol-cli']) {
    assert.equal(deadLinks(join(others, 'node_modules', name)), [], name);
  }
});

test('publint has nothing to say', async () => {
  const pkgDir = inFolder('node_modules/hub-protocol');
  const { messages, pkg } = await publint({ pkgDir, pack: false });
  assert.equal(
    messages.filter(({ type }) => type !== 'suggestion').map((message) => formatMessage(message, pkg!)),
    [],
  );
});

test('the types of every entry are right, wherever ES modules are resolved by exports', async () => {
  const analysis = await checkPackage(
    createPackageFromTarballData(new Uint8Array(readFileSync(await library()))),
  );
  assert.ok(analysis.types);
  // An ES module that require() loads, and resolution without exports, are as documented.
  const problems = (analysis as { problems: { kind: string; resolutionKind?: string }[] }).problems.filter(
    ({ kind, resolutionKind }) => kind !== 'CJSResolvesToESM' && resolutionKind !== 'node10',
  );
  assert.equal(problems, []);
});

test('loads by import and by require, and so does every other entry', async () => {
  const names = [
    '',
    '/noble',
    '/noble-aesgcm',
    '/node',
    '/bundles/hub-protocol.js',
    '/bundles/hub-protocol.full.js',
  ];
  const imports = names.map((name) => `await import('hub-protocol${name}')`).join(';');
  await run(folder, process.execPath, ['--input-type=module', '-e', imports]);
  const requires = names.map((name) => `require('hub-protocol${name}')`).join(';');
  await run(folder, process.execPath, [
    '--input-type=commonjs',
    '-e',
    `${requires}; require('hub-protocol/package.json')`,
  ]);
});

test('is bundled for a browser, and what is not used stays out', async () => {
  const bundle = async (contents: string): Promise<number> => {
    const { outputFiles, warnings } = await build({
      stdin: { contents, resolveDir: folder },
      bundle: true,
      minify: true,
      format: 'esm',
      platform: 'browser',
      write: false,
    });
    assert.equal(warnings, []);
    return outputFiles[0]!.contents.length;
  };
  const core = await bundle("export { ClientSession } from 'hub-protocol';");
  const all = await bundle("export * from 'hub-protocol'; export * from 'hub-protocol/noble';");
  assert.ok(core < all / 2, `${core} of ${all} bytes`);
});

test.run();

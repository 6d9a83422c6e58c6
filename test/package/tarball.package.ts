/** What npm publishes, looked at from outside, and used as a stranger would. */
import { copyFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { build } from 'esbuild';
import { derivePsk } from 'hub-protocol';
import { nodeCrypto } from 'hub-protocol/node';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { integrity } from '../../tools/release.ts';
import { resultOf } from '../browser/run-page.ts';
import { Tab } from '../browser/tab.ts';
import { emptyFolder, install, library, packed, run } from './packed.ts';
import { PROGRAM, withOwnCrypto } from './readme.ts';

const test = suite('the tarball');
const folder = emptyFolder('tarball');
const inFolder = (...path: string[]): string => join(folder, ...path);
let printed: string;

/** The packages that are programs, and a folder with both. */
const PROGRAMS = ['hub-protocol-judge', 'hub-protocol-cli'];
const programs = emptyFolder('programs');

test.before(async () => {
  printed = await install(folder, 'hub-protocol');
  await install(programs, ...PROGRAMS);
});

test('two builds in different folders give the same bytes', async () => {
  const [once, again] = await packed;
  assert.equal(
    once.map(({ name }) => name),
    ['hub-protocol', 'hub-protocol-judge', 'hub-protocol-cli', 'hub-protocol-client'],
  );
  assert.equal(
    once.map(({ sha256 }) => sha256),
    again.map(({ sha256 }) => sha256),
  );
});

test('takes less than 1.5 MB, and its installation adds only noble and causes no warning', async () => {
  const [[{ unpackedSize } = { unpackedSize: Infinity }]] = await packed;
  assert.ok(unpackedSize < 1_500_000, `${unpackedSize}`);
  assert.not.match(printed, /hub-protocol|noble|scripts/);
  assert.equal(installedIn(folder), ['@noble/ciphers', '@noble/curves', '@noble/hashes', 'hub-protocol']);
});

test('has no files but its pages, licences, code and types', () => {
  const files = readdirSync(inFolder('node_modules/hub-protocol'), { recursive: true, encoding: 'utf8' });
  const pages = ['CHANGELOG.md', 'LICENSE', 'README.md', 'SECURITY.md', 'package.json'];
  const others = files.filter((file) => file.includes('.') || !file.startsWith('dist'));
  assert.equal(
    others
      .filter((file) => !/^dist\/[^.]+(?:\.[\w-]+)*\.(?:js|d\.ts|LICENSE\.txt)$/.test(file))
      .filter((file) => !/^moddable(?:\/[\w-]+\.(?:js|json|d\.ts))?$/.test(file))
      .sort(),
    pages,
  );
});

test('with own cryptography, the core’s program runs without further packages', async () => {
  const alone = emptyFolder('alone');
  await install(alone, '--omit=optional', 'hub-protocol');
  assert.equal(installedIn(alone), ['hub-protocol']);
  copyFileSync(new URL('programs/own-crypto.js', import.meta.url), join(alone, 'own-crypto.js'));
  writeFileSync(join(alone, 'program.js'), withOwnCrypto(PROGRAM));
  const { stdout } = await run(alone, process.execPath, ['program.js']);
  assert.is(stdout, 'the hub says {"echo":"{\\"say\\":\\"hello\\"}"}\n');
  const imports = `await import('hub-protocol/bundles/hub-protocol.js');
    await import('hub-protocol/node');
    await import('hub-protocol/noble').then(() => process.exit(1), ({ code }) => console.log(code));`;
  const tried = await run(alone, process.execPath, ['--input-type=module', '-e', imports]);
  assert.is(tried.stdout, 'ERR_MODULE_NOT_FOUND\n');
});

test('the judge’s vectors and schemas can be imported', async () => {
  const { stdout } = await run(programs, process.execPath, [
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

test('publint has nothing to say', async () => {
  const installed = [inFolder('node_modules/hub-protocol')];
  for (const name of PROGRAMS) installed.push(join(programs, 'node_modules', name));
  for (const pkgDir of installed) {
    const { messages, pkg } = await publint({ pkgDir, pack: false });
    assert.equal(
      messages.map((message) => formatMessage(message, pkg!)),
      [],
    );
  }
});

test('the judge and the commands install nothing else, and run with npx', async () => {
  assert.equal(installedIn(programs), [...PROGRAMS].sort());
  const npx = async (command: string): Promise<string> =>
    (await run(programs, 'sh', ['-c', command.replace('npx', 'npx --no-install')])).stdout;
  const declining = `require('readline').createInterface({ input: process.stdin }).on('line', (line) =>
    console.log(JSON.stringify({ id: JSON.parse(line).id, error: 'refused' })));`;
  writeFileSync(join(programs, 'adapter.cjs'), declining);
  const judged = await npx('npx hub-protocol-judge --only select -- node adapter.cjs || test $? = 1');
  assert.match(judged, /^select +[1-9]\d* +[1-9]\d* +0$/m);
  assert.match(await npx('npx hub-protocol-judge --help'), '--mqtt');
  const psk = derivePsk({ crypto: nodeCrypto, password: 'correct horse', nodeId: 'hub-1' });
  const printed = await npx("printf 'correct horse' | npx hub-protocol-cli psk --node-id hub-1");
  assert.is(printed.trim(), Buffer.from(psk).toString('hex'));
  assert.is(printed, await npx("printf 'correct horse' | npx hub-protocol psk --node-id hub-1"));
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
    '/parts',
    '/binary',
    '/recording',
    '/noble',
    '/noble-aesgcm',
    '/node',
    '/js',
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

test('a page runs the single file of a CDN with the release’s hash, and no other bytes', async () => {
  const bytes = readFileSync(inFolder('node_modules/hub-protocol/dist/hub-protocol.full.js'), 'utf8');
  const [name, hash] = integrity(await library())
    .trim()
    .split(' ');
  const report = `fetch('/result', { method: 'POST', body: JSON.stringify(what) })`;
  const html = `<!doctype html><script type="module" crossorigin="anonymous" integrity="${hash}" src="/${name}"></script>
    <script type="module">
      const what = await import('/${name}').then(({ fingerprint }) => typeof fingerprint, () => 'refused');
      ${report};
    </script>`;
  const tab = await Tab.open();
  const shown = (file: string): Promise<unknown> =>
    resultOf(
      new Map([
        ['/index.html', html],
        [`/${name}`, file],
      ]),
      '',
      tab,
    );
  assert.equal([await shown(bytes), await shown(`${bytes};`)], ['function', 'refused']);
  await tab.stop();
});

test('bundles for a browser, without unused code', async () => {
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
  const core = await bundle("export { ClientSession } from 'hub-protocol/parts';");
  const all = await bundle("export * from 'hub-protocol'; export * from 'hub-protocol/noble';");
  assert.ok(core < all / 2, `${core} of ${all} bytes`);
});

test.run();

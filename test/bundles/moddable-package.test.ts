/**
 * The package as a Moddable project in an empty folder includes it: by its manifests, and by the condition with which mcpack
 * resolves imports. The SDK is not here, so Node's resolver and a reader of manifests stand for its tools.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const FILES: readonly string[] = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')).files;

const test = suite('the package for Moddable');
let project = '';
test.before(() => {
  project = mkdtempSync(join(tmpdir(), 'moddable-'));
  const installed = join(project, 'node_modules/hub-protocol');
  for (const path of ['package.json', 'dist', ...FILES.filter((file) => file === 'moddable')]) {
    cpSync(ROOT + path, join(installed, path), { recursive: true });
  }
});
test.after(() => rmSync(project, { recursive: true }));

/** What a manifest and those that it includes bring: the file of each module, without those of the SDK. */
function modulesOf(path: string): { modules: Map<string, string>; preload: string[] } {
  const manifest = JSON.parse(readFileSync(path, 'utf8'));
  const modules = new Map<string, string>();
  const preload: string[] = [...(manifest.preload ?? [])];
  for (const include of manifest.include ?? []) {
    if (include.startsWith('$(MODDABLE)/')) continue;
    const inner = modulesOf(resolve(dirname(path), include));
    for (const [name, file] of inner.modules) modules.set(name, file);
    preload.push(...inner.preload);
  }
  for (const [name, value] of Object.entries<string | string[]>(manifest.modules)) {
    for (const file of [value].flat()) {
      modules.set(name === '*' ? file.slice(2) : name, `${resolve(dirname(path), file)}.js`);
    }
  }
  return { modules, preload };
}

function withManifests(...names: string[]): ReturnType<typeof modulesOf> {
  const include = names.map((name) => `./node_modules/hub-protocol/moddable/${name}.json`);
  const path = join(project, 'manifest.json');
  writeFileSync(path, JSON.stringify({ include, modules: {} }));
  return modulesOf(path);
}

test('its manifests name files that the package has, each module once, and preload the single files', () => {
  const { modules, preload } = withManifests('manifest', 'manifest_requests', 'manifest_binary');
  const installed = join(project, 'node_modules/hub-protocol');
  assert.equal(
    [...modules].map(([name, file]) => [name, relative(installed, file), existsSync(file)]),
    [
      ['hub-crypto', 'moddable/hub-crypto.js', true],
      ['hub-keyring', 'moddable/hub-keyring.js', true],
      ['hub-socket', 'moddable/hub-socket.js', true],
      ['hub-protocol', 'dist/hub-protocol.link.js', true],
      ['hub-protocol-requests', 'dist/hub-protocol.requests.js', true],
      ['hub-protocol-binary', 'dist/hub-protocol.binary.js', true],
    ],
  );
  assert.equal(preload, ['hub-protocol', 'hub-protocol-requests', 'hub-protocol-binary']);
});

test('the example includes the manifests, and names no module as Moddable names one of its own', () => {
  const { modules, preload } = modulesOf(`${ROOT}examples/moddable/manifest.json`);
  assert.equal([...modules.keys()].sort(), [
    ...['hub-crypto', 'hub-keyring', 'hub-protocol', 'hub-protocol-requests', 'hub-socket', 'main'], // such as `socket`
  ]);
  assert.equal(preload, ['hub-protocol', 'hub-protocol-requests']);
});

test('its modules import only each other and modules of the SDK', () => {
  const { modules } = withManifests('manifest');
  const SDK = ['crypt', 'preference', 'Resource', 'WebSocket'];
  for (const [name, file] of modules) {
    for (const [, from] of readFileSync(file, 'utf8').matchAll(/^import .* from '(.+)';$/gm)) {
      assert.ok(modules.has(from!) || SDK.includes(from!), `${name} imports ${from}`);
    }
  }
});

test('no file that a manifest or the condition names asks for a source map', () => {
  for (const file of withManifests('manifest', 'manifest_requests', 'manifest_binary').modules.values()) {
    assert.not.ok(readFileSync(file, 'utf8').includes('sourceMappingURL'), file);
  }
});

test('the types declare each module of the manifests that has no types of its own', () => {
  const types = readFileSync(join(project, 'node_modules/hub-protocol/moddable/modules.d.ts'), 'utf8');
  const { modules } = withManifests('manifest', 'manifest_requests', 'manifest_binary');
  assert.equal(
    Array.from(types.matchAll(/^declare module '(.+)'/gm), ([, name]) => name!).sort(),
    [...modules.keys()].filter((name) => name !== 'hub-protocol').sort(),
  );
});

/** Where an import leads, as Node resolves it in the project. */
function resolved(specifier: string, ...flags: string[]): string {
  const script = `console.log(import.meta.resolve(${JSON.stringify(specifier)}))`;
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [...flags, '--input-type=module', '--eval', script],
    { cwd: project, encoding: 'utf8' },
  );
  assert.is(stderr, '');
  return relative(join(project, 'node_modules/hub-protocol'), fileURLToPath(stdout.trim()));
}

test('with the condition moddable an import leads to the single file, which has no imports', () => {
  assert.is(resolved('hub-protocol'), 'dist/index.js');
  assert.is(resolved('hub-protocol', '--conditions=moddable'), 'dist/hub-protocol.link.js');
  assert.not.match(readFileSync(`${ROOT}dist/hub-protocol.link.js`, 'utf8'), /\bimport\b/);
  const file = 'hub-protocol/bundles/hub-protocol.requests.js';
  assert.is(resolved(file, '--conditions=moddable'), 'dist/hub-protocol.requests.js');
  for (const name of readdirSync(`${ROOT}moddable`)) {
    assert.is(resolved(`hub-protocol/moddable/${name}`, '--conditions=moddable'), `moddable/${name}`);
  }
});

test.run();

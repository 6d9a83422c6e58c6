/** What the packages bring of others, and what this project takes to build and test them. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { bomOf, type Manifest, manifestOf, PACKAGES, partsOf } from '../../tools/parts.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const NOBLE = ['@noble/ciphers', '@noble/curves', '@noble/hashes'];

interface Lock {
  readonly packages: {
    readonly [path: string]: {
      readonly version: string;
      readonly license?: string;
      readonly dev?: boolean;
      /** Whether only this project and an optional peer need it. */
      readonly devOptional?: boolean;
      readonly link?: boolean;
      readonly integrity?: string;
      readonly resolved?: string;
      readonly hasInstallScript?: boolean;
    };
  };
}

const files = execFileSync('git', ['ls-files'], { cwd: ROOT, encoding: 'utf8' }).split('\n');
const filesNamed = (name: RegExp): string[] => files.filter((file) => name.test(file));
const read = (file: string): string => readFileSync(ROOT + file, 'utf8');
const lock = JSON.parse(read('package-lock.json')) as Lock;

test('installing the packages brings three packages of noble, and fflate and ws with the client, and runs no script', () => {
  const installed = Object.entries(lock.packages).filter(
    ([path, { dev, devOptional, link }]) => path !== '' && !dev && !devOptional && !link,
  );
  assert.equal(
    installed.map(([path]) => path),
    ['cli', 'client', 'judge', ...[...NOBLE, 'fflate', 'ws'].map((name) => `node_modules/${name}`)],
  );
  assert.not.ok(installed.some(([, { hasInstallScript }]) => hasInstallScript));
  for (const folder of PACKAGES) {
    const { version, dependencies, optionalDependencies, peerDependencies, scripts } = manifestOf(folder);
    const isClient = folder === 'client';
    assert.equal(Object.keys(dependencies ?? {}), isClient ? ['fflate', 'ws'] : []);
    // Users get patches without a release of the client.
    for (const range of Object.values(dependencies ?? {})) assert.is(range[0], '^');
    const core = `~${version.replace(/\d+$/, '0')}`;
    assert.equal(peerDependencies ?? {}, isClient ? { 'hub-protocol': core, mqtt: '^5.16.0' } : {});
    assert.equal(Object.keys(optionalDependencies ?? {}), folder === '.' ? NOBLE : []);
    const ran = Object.keys(scripts ?? {}).filter((name) => /^(?:(?:pre|post)?install|prepare)$/.test(name));
    assert.equal(ran, []);
  }
});

/** `ws`, and `mqtt-packet` with what it needs. */
const PARTS_OF_JUDGE = [
  'bl',
  'debug',
  'has-flag',
  'inherits',
  'mqtt-packet',
  'ms',
  'process-nextick-args',
  'supports-color',
  'ws',
];

test('the judge bundles only ws and mqtt-packet; the commands also bundle the code for certificates, and none of noble', () => {
  assert.equal(partsOf('judge'), PARTS_OF_JUDGE);
  const parts = partsOf('cli');
  assert.ok(parts.includes('@peculiar/x509'));
  assert.not.ok(parts.some((part) => NOBLE.includes(part)));
});

test('the licence texts of the bundled packages are included', () => {
  for (const folder of PACKAGES) {
    if (folder === 'client') continue; // its dependencies are installed as packages, with their own licences
    const licence = read(folder === '.' ? 'dist/hub-protocol.LICENSE.txt' : `${folder}/LICENSE`);
    for (const part of partsOf(folder)) {
      assert.ok(licence.includes(part.replace('@noble/', 'noble-')), `${folder}: ${part}`);
    }
  }
});

test('every dependency of this project has an exact version', () => {
  const loose: string[] = [];
  for (const file of filesNamed(/(?:^|\/)package\.json$/)) {
    const manifest = JSON.parse(read(file)) as Manifest & { devDependencies?: { [name: string]: string } };
    const { dependencies, devDependencies, optionalDependencies } = manifest; // a peer is for others to choose
    const all = { ...dependencies, ...devDependencies, ...optionalDependencies };
    if (file === 'client/package.json') for (const name in dependencies) delete all[name]; // tested above
    for (const [name, version] of Object.entries(all)) {
      if (!/^(?:file:\.\.|(?:npm:[\w@/-]+@)?\d+\.\d+\.\d+(?:-[\w.]+)?)$/.test(version))
        loose.push(`${file}: ${name}`);
    }
  }
  for (const file of filesNamed(/requirements.*\.txt$/)) {
    const lines = read(file)
      .split('\n')
      .filter((line) => !/^(?:#.*|-r .*)?$/.test(line));
    loose.push(...lines.filter((line) => !/^[\w.-]+==[\w.]+$/.test(line)).map((line) => `${file}: ${line}`));
  }
  for (const file of filesNamed(/Cargo\.toml$/)) {
    const [, dependencies = ''] = /^\[dependencies\]\n([^[]*)/m.exec(read(file)) ?? [];
    for (const line of dependencies.split('\n').filter((text) => /^\w/.test(text))) {
      if (!/^[\w-]+ = (?:\{ version = )?"=\d+\.\d+\.\d+/.test(line)) loose.push(`${file}: ${line}`);
    }
  }
  for (const file of filesNamed(/^\.github\/workflows\//)) {
    const used = Array.from(read(file).matchAll(/uses: (.*)/g), ([, action]) => action!);
    loose.push(
      ...used.filter((action) => !/@[0-9a-f]{40} # v\d/.test(action)).map((action) => `${file}: ${action}`),
    );
  }
  assert.equal(loose, []);
});

test('every lock file has a hash of each package, and names no registry', () => {
  const wrong: string[] = [];
  for (const file of filesNamed(/(?:^|\/)package-lock\.json$/)) {
    for (const [path, { link, integrity, resolved }] of Object.entries(
      (JSON.parse(read(file)) as Lock).packages,
    )) {
      const isOwn = !path.includes('node_modules/') || link === true;
      if (!isOwn && integrity === undefined) wrong.push(`${file}: ${path} has no hash`);
      if (!isOwn && resolved !== undefined) wrong.push(`${file}: ${path} comes from ${resolved}`);
    }
  }
  for (const file of filesNamed(/(?:^|\/)(?:package\.json|Cargo\.toml|go\.mod)$/)) {
    if (!/dependencies|require/i.test(read(file))) continue;
    const locks = ['package-lock.json', '../package-lock.json', 'Cargo.lock', '../Cargo.lock', 'go.sum'];
    const folder = file.slice(0, file.lastIndexOf('/') + 1);
    if (!locks.some((name) => existsSync(ROOT + folder + name))) wrong.push(`${file} has no lock file`);
  }
  assert.equal(wrong, []);
});

test('only known development dependencies run an install script', () => {
  const scripted = filesNamed(/(?:^|\/)package-lock\.json$/)
    .flatMap((file) => Object.entries((JSON.parse(read(file)) as Lock).packages))
    .filter(([, { hasInstallScript }]) => hasInstallScript)
    .map(([path]) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length));
  assert.equal([...new Set(scripted)].sort(), ['@agoric/xsnap', '@parcel/watcher', '@swc/core', 'esbuild']);
});

test('a bill of materials names a package and its bundled packages with hashes, and nothing that varies', async () => {
  const time = '2026-01-02T03:04:05.000Z';
  const bom = await bomOf('judge', time);
  assert.is(bom.metadata.component.name, 'hub-protocol-judge');
  assert.is(bom.metadata.timestamp, time);
  assert.is(bom.serialNumber, undefined);
  assert.equal(
    bom.components.map(({ name }) => name),
    PARTS_OF_JUDGE,
  );
  assert.ok(bom.components.every((component) => 'hashes' in component));
  assert.is(bom.dependencies[0]!.dependsOn.length, bom.components.length);
});

test.run();

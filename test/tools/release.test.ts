/** What `npm run release` demands of a version. The tarballs are in package/tarball.package.ts. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { readVectorFile, vectorFiles } from '../../judge/src/vectors.ts';
import { publishedManifest, publishedReadme } from '../../tools/pack.ts';
import { manifestOf, PACKAGES } from '../../tools/parts.ts';
import { addressProblems, sums, versionProblems } from '../../tools/release.ts';
import { sha256, vectorsArchive } from '../../tools/vectors-archive.ts';

const READY =
  '# Changelog\n\n## [Unreleased]\n\n## [1.2.3] - 2026-11-22\n\n### Added\n\n- x\n\n## [1.2.2] - 2026-10-01\n';

test('a version is ready if the packages and the changelog agree on it', () => {
  assert.equal(versionProblems('1.2.3', ['1.2.3', '1.2.3'], READY), []);
  assert.is(versionProblems('1.2.3', ['1.2.3', '1.2.2'], READY).length, 1);
  assert.is(versionProblems('1.2.4', ['1.2.4'], READY).length, 1);
});

test('a version is not ready without a date, or with changes that are not in its section', () => {
  assert.is(versionProblems('1.2.3', ['1.2.3'], READY.replace(' - 2026-11-22', '')).length, 1);
  assert.is(
    versionProblems('1.2.3', ['1.2.3'], READY.replace('[Unreleased]', '[Unreleased]\n\n- y')).length,
    1,
  );
});

const ADDRESSES = { repository: { type: 'git', url: 'x' }, homepage: 'y', bugs: 'z' };

test('a version is not ready without the project’s addresses, which one file sets for every package', () => {
  const library = { name: 'hub-protocol', version: '1.2.3' };
  assert.is(addressProblems(library).length, 3);
  assert.equal(addressProblems({ ...library, ...ADDRESSES }), []);
  const judge = { name: 'hub-protocol-judge', version: '1.2.3' };
  assert.equal(JSON.parse(publishedManifest(judge, library, 'judge')), judge);
  assert.equal(JSON.parse(publishedManifest(judge, { ...library, ...ADDRESSES }, 'judge')), {
    ...judge,
    ...ADDRESSES,
    repository: { ...ADDRESSES.repository, directory: 'judge' },
  });
});

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

// With the addresses, this would be a release.
if (addressProblems(manifestOf('.')).length > 0) {
  test('a release without the project’s addresses is refused, with what a person has to do first', () => {
    const { status, stderr } = spawnSync(process.execPath, ['--import', 'tsx', 'tools/release.ts'], {
      cwd: ROOT,
      encoding: 'utf8',
    });
    assert.is(status, 1);
    assert.match(stderr, /no "repository"[\s\S]*1\. Create[\s\S]*2\. Fill in package\.json/);
  });
}

for (const folder of PACKAGES) {
  test(`the links of the README in the tarball of ${folder} wait for the address, and lead to files at it`, () => {
    const text = readFileSync(`${ROOT}${folder}/README.md`, 'utf8');
    const library = { name: 'hub-protocol', version: '1.2.3' };
    assert.is(publishedReadme(text, library, folder), text);
    const repository = { type: 'git', url: 'git+https://code.example/owner/hub-protocol.git' };
    const published = publishedReadme(text, { ...library, repository }, folder);
    const links = Array.from(published.matchAll(/\]\(([^()\s]+)\)/g), ([, link]) => link!);
    for (const link of links) {
      if (/^(?:#|https:\/\/github\.com\/JarbasHiveMind)/.test(link)) continue;
      const [, kind, path] =
        /^https:\/\/code\.example\/owner\/hub-protocol\/(blob|raw|tree)\/v1\.2\.3\/([^#]+)/.exec(link) ?? [];
      assert.ok(path !== undefined && existsSync(ROOT + path), link);
      assert.is(kind === 'tree', statSync(ROOT + path!).isDirectory(), link);
    }
  });
}

test('a package is published without the exports of its sources', () => {
  const entries = {
    '.': { types: './dist/a.d.ts', default: './dist/a.js' },
    './package.json': './package.json',
  };
  const client = {
    name: 'hub-protocol-client',
    version: '1.2.3',
    exports: { ...entries, './b': './src/b.ts' },
  };
  const published = JSON.parse(
    publishedManifest(client, { name: 'hub-protocol', version: '1.2.3' }, 'client'),
  );
  assert.equal(published.exports, entries);
});

test('the list of hashes is in the form that sha256sum reads', () => {
  const packed = { name: 'x', path: '/a/b/x-1.0.0.tgz', sha256: '00'.repeat(32), unpackedSize: 1 };
  assert.is(sums([packed]), `${'00'.repeat(32)}  x-1.0.0.tgz\n`);
});

test('the archive of the vectors has the files of its manifest, pages that lead to each other, and no line of more than 8 KiB', () => {
  const archive = vectorsArchive('1.2.3');
  assert.is(sha256(archive), sha256(vectorsArchive('1.2.3')));
  const folder = mkdtempSync(join(tmpdir(), 'vectors-'));
  try {
    execFileSync('tar', ['-xzf', '-'], { cwd: folder, input: archive });
    const fileOf = (name: string): string =>
      readFileSync(join(folder, 'hub-protocol-vectors-1.2.3', name), 'utf8');
    const { files } = JSON.parse(fileOf('manifest.json'));
    for (const { name, sha256: due } of files) assert.is(sha256(fileOf(name)), due, name);
    const names: string[] = files.map(({ name }: { name: string }) => name);
    const dead = names
      .filter((name) => name.endsWith('.md'))
      .flatMap((name) =>
        [...fileOf(name).matchAll(/\]\((?!https?:|#)([^)\s#]+)/g)]
          .map(([, target]) => posix.join(posix.dirname(name), target!))
          .filter((target) => !names.includes(target)),
      );
    assert.equal(dead, []);
    assert.ok(names.includes('docs/reference/protocol.md'));
    const lines = fileOf('all.jsonl').trimEnd().split('\n');
    assert.ok(lines.every((line) => Buffer.byteLength(line) <= 8192));
    const tests = new Map<string, string>();
    for (const line of lines.slice(1)) {
      const { file, tcId, text, parts } = JSON.parse(line);
      const name = `${file} ${tcId}`;
      tests.set(name, parts === undefined ? line : (tests.get(name) ?? '') + text);
    }
    assert.is(JSON.parse(tests.get('handshake 428')!).tcId, 428);
    assert.is(
      tests.size,
      vectorFiles().reduce((sum, file) => sum + readVectorFile(file).numberOfTests, 0),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test.run();

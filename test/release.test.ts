/** What `npm run release` demands of a version. The tarballs are in package/tarball.package.ts. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { sums, versionProblems } from '../tools/release.ts';

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

test('the list of hashes is in the form that sha256sum reads', () => {
  const packed = { name: 'x', path: '/a/b/x-1.0.0.tgz', sha256: '00'.repeat(32), unpackedSize: 1 };
  assert.is(sums([packed]), `${'00'.repeat(32)}  x-1.0.0.tgz\n`);
});

test.run();

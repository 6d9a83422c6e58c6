/**
 * Makes a release: checks that the version is ready, runs the tests, packs the four packages twice, and compares the bytes.
 * Writes to release/ the tarballs, the vectors for ports in other languages, their SHA-256, the hash for a CDN, and bills of materials.
 *
 *     npm run release                    about five minutes; publishes nothing. Refused without the project's addresses
 *     npm run release -- --untested      without the tests, a minute and a half; also without the addresses
 *     npm run release -- --publish       publishes too; with provenance, so it works only in a CI that npm knows
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Packed, packCopy } from './pack.ts';
import { ADDRESSES, bomOf, type Manifest, manifestOf, PACKAGES } from './parts.ts';
import { sha256, vectorsArchive } from './vectors-archive.ts';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const FOLDER = join(ROOT, 'release');

const git = (...args: string[]): string => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim();

/** The problems of a version before it is built. */
export function versionProblems(version: string, versions: readonly string[], changelog: string): string[] {
  const problems: string[] = [];
  if (versions.some((other) => other !== version))
    problems.push(`the packages have versions ${versions.join(', ')}`);
  const sections = [...changelog.matchAll(/^## \[(.+?)\](?: - (\S+))?\n([\s\S]*?)(?=^## |(?![\s\S]))/gm)];
  const [unreleased, released] = ['Unreleased', version].map((name) =>
    sections.find((found) => found[1] === name),
  );
  if (!/^\d{4}-\d\d-\d\d$/.test(released?.[2] ?? '')) {
    problems.push(`CHANGELOG.md has no section "## [${version}] - YYYY-MM-DD"`);
  }
  if ((unreleased?.[3] ?? '').trim() !== '') problems.push('CHANGELOG.md has changes under "Unreleased"');
  return problems;
}

/** The addresses that the library's package.json lacks. */
export function addressProblems(manifest: Manifest): string[] {
  return ADDRESSES.filter((field) => !(field in manifest)).map((field) => `package.json has no "${field}"`);
}

/** What a person has to do before the first release, in order. A release without addresses is refused: npm cannot attest it. */
const FIRST_RELEASE = `\
Before the first release:
1. Create the public repository, and push this branch as main.
2. Fill in package.json, for all packages, and commit it:
     "repository": { "type": "git", "url": "git+https://HOST/OWNER/hub-protocol.git" }
     "homepage": the address of the website that docs/.vitepress/run builds, or of the repository
     "bugs": the address of the issues
     "author": if it is to name a person; in CITATION.cff too, with "repository-code"
   The links of the packages' READMEs then lead to the files of the released version.
3. Make the repository accept private reports of vulnerabilities: SECURITY.md sends people there.
4. Register the names at npm (${PACKAGES.map((folder) => manifestOf(folder).name).join(', ')}), and
   name .github/workflows/release.yml as the trusted publisher of each, with the environment
   npm, which you make in the repository with the reviewers of a release.
5. Run the workflows in .github, which have never run, and remove the lines that say so.
6. Run npm run release again, and follow "A release" in CONTRIBUTING.md.
`;

function problemsOf(version: string): string[] {
  const problems = versionProblems(
    version,
    PACKAGES.map((folder) => manifestOf(folder).version),
    readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8'),
  );
  problems.push(...addressProblems(manifestOf('.')));
  if (!readFileSync(join(ROOT, 'CITATION.cff'), 'utf8').includes(`\nversion: ${version}\n`))
    problems.push('CITATION.cff has another version');
  if (git('status', '--porcelain') !== '') problems.push('there are changes that are not committed');
  const tag = git('tag', '--list', `v${version}`) && git('rev-parse', `v${version}^{commit}`);
  if (tag !== '' && tag !== git('rev-parse', 'HEAD')) problems.push(`the tag v${version} is another commit`);
  return problems;
}

function step(...command: [string, ...string[]]): boolean {
  console.log(`\n> ${command.join(' ')}`);
  const { status } = spawnSync(command[0], command.slice(1), { cwd: ROOT, stdio: 'inherit' });
  return status === 0;
}

/** The lines of a file that `sha256sum --check` reads. */
export function sums(packed: readonly Pick<Packed, 'sha256' | 'path'>[]): string {
  return packed.map(({ sha256, path }) => `${sha256}  ${basename(path)}\n`).join('');
}

/** The file of the library that a page can take from a CDN, and its Subresource Integrity. */
export function integrity(tarball: string, file = 'hub-protocol.full.js'): string {
  const bytes = execFileSync('tar', ['-xOzf', tarball, `package/dist/${file}`], { maxBuffer: 2 ** 24 });
  return `${file} sha384-${createHash('sha384').update(bytes).digest('base64')}\n`;
}

/** Packs twice, the first time with packages freshly installed from the lock file. */
async function packTwice(temporary: string): Promise<Packed[]> {
  const fresh = await packCopy(join(temporary, 'fresh'), true);
  const again = await packCopy(join(temporary, 'again'));
  if (sums(fresh) !== sums(again)) throw new Error(`two builds differ:\n${sums(fresh)}${sums(again)}`);
  return fresh;
}

async function release(args: readonly string[]): Promise<number> {
  const unknown = args.filter((arg) => !['--untested', '--publish'].includes(arg));
  if (unknown.length > 0) {
    console.error(`npm run release: unknown ${unknown.join(' ')}`);
    return 2;
  }
  const isPublishing = args.includes('--publish');
  const isTested = isPublishing || !args.includes('--untested');
  const { version } = manifestOf('.');
  const problems = problemsOf(version);
  const missing = addressProblems(manifestOf('.'));
  if (isTested && missing.length > 0) {
    console.error(`${missing.join('\n')}\n\n${FIRST_RELEASE}`);
    return 1;
  }
  if (isPublishing && problems.length > 0) {
    console.error(problems.join('\n'));
    return 1;
  }

  if (isTested) {
    const commands: [string, ...string[]][] = [
      ['npm', 'run', 'check'],
      ['npm', 'run', 'coverage'],
      ['test/package/run'],
    ];
    for (const command of commands) if (!step(...command)) problems.push(`${command.join(' ')} failed`);
  }
  if (!step('npm', 'audit', 'signatures', '--omit=dev')) {
    problems.push('npm could not verify the signatures of the dependencies');
  }

  console.log('\n> packing twice');
  const temporary = mkdtempSync(join(tmpdir(), 'hub-protocol-release-'));
  try {
    const packed = await packTwice(temporary);
    rmSync(FOLDER, { recursive: true, force: true });
    mkdirSync(FOLDER);
    for (const { path } of packed) copyFileSync(path, join(FOLDER, basename(path)));
    const archive = vectorsArchive(version);
    const path = join(FOLDER, `hub-protocol-vectors-${version}.tar.gz`);
    writeFileSync(path, archive);
    writeFileSync(join(FOLDER, 'SHA256SUMS'), sums([...packed, { sha256: sha256(archive), path }]));
    writeFileSync(join(FOLDER, 'INTEGRITY'), integrity(packed[0]!.path));
    const committed = new Date(git('log', '-1', '--format=%cI')).toISOString();
    for (const folder of PACKAGES) {
      const file = `${manifestOf(folder).name}-${version}.cdx.json`;
      writeFileSync(join(FOLDER, file), `${JSON.stringify(await bomOf(folder, committed), null, 2)}\n`);
    }
    console.log(`release/ has version ${version}. Both builds gave these bytes:\n\n${sums(packed)}`);

    if (problems.length > 0) {
      console.error(`Not ready to publish:\n${problems.map((problem) => `- ${problem}\n`).join('')}`);
      return 1;
    }
    for (const { path } of isPublishing ? packed : [])
      if (!step('npm', 'publish', join(FOLDER, basename(path)))) return 1;
    return 0;
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

if (fileURLToPath(import.meta.url) === process.argv[1])
  process.exitCode = await release(process.argv.slice(2));

/** Packs the published packages from a copy of the sources: packing rebuilds, and `dist/` may be in use. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { ADDRESSES, type Manifest, manifestOf, PACKAGES } from './parts.ts';

/** A tarball of a package. */
export interface Packed {
  readonly name: string;
  readonly path: string;
  /** In hexadecimal. */
  readonly sha256: string;
  /** In bytes. */
  readonly unpackedSize: number;
}

const ROOT = fileURLToPath(new URL('../', import.meta.url));

async function run(cwd: string, program: string, ...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(program, args, { cwd, maxBuffer: 2 ** 24 });
  return stdout;
}

/**
 * Copies the sources, builds the copy, packs the library, the judge and the commands, and removes the copy.
 * @param folder - the folder for the tarballs
 * @param isFresh - whether to install the packages of the lock file there, instead of using those of this folder
 */
export async function packCopy(folder: string, isFresh: boolean = false): Promise<Packed[]> {
  const source = join(folder, 'source');
  mkdirSync(source, { recursive: true });
  const files = await run(ROOT, 'git', 'ls-files', '-z', '--cached', '--others', '--exclude-standard');
  for (const file of files.split('\0')) {
    if (file !== '' && existsSync(join(ROOT, file))) cpSync(join(ROOT, file), join(source, file));
  }
  for (const name of PACKAGES) {
    const readme = join(source, name, 'README.md');
    writeFileSync(readme, publishedReadme(readFileSync(readme, 'utf8'), manifestOf('.'), name));
    if (name === '.') continue;
    writeFileSync(
      join(source, name, 'package.json'),
      publishedManifest(manifestOf(name), manifestOf('.'), name),
    );
  }
  if (isFresh) await run(source, 'npm', 'ci', '--ignore-scripts', '--no-audit', '--no-fund');
  else symlinkSync(join(ROOT, 'node_modules'), join(source, 'node_modules'));
  const packed: Packed[] = [];
  // The library first: packing it builds all three.
  for (const which of [[], ['--workspaces']]) {
    const told = await run(
      source,
      'npm',
      'pack',
      ...which,
      '--json',
      '--silent',
      '--pack-destination',
      folder,
    );
    const list = Object.values(
      JSON.parse(told.slice(told.search(/^[[{]/m))) as (Packed & { filename: string })[],
    );
    for (const { name, filename, unpackedSize } of list) {
      const path = join(folder, filename);
      const sha256 = createHash('sha256').update(readFileSync(path)).digest('hex');
      packed.push({ name, path, sha256, unpackedSize });
    }
  }
  rmSync(source, { recursive: true });
  return packed;
}

/** A link of a page that is relative, but for those inside of the page. */
const RELATIVE = /(?<=\]\()(?![a-z]+:|#)[^()\s]+(?=\))/g;

/**
 * The text of a package's README as it is published: its relative links lead to the repository, to the tag of the version. Without an
 * address they stay as they are.
 */
export function publishedReadme(text: string, { repository, version }: Manifest, directory: string): string {
  if (repository === undefined) return text;
  const base = repository.url.replace(/^git\+|\.git$/g, '');
  return text.replace(RELATIVE, (target) => {
    const kind = /\.(?:webp|svg)$/.test(target) ? 'raw' : target.endsWith('/') ? 'tree' : 'blob';
    return `${base}/${kind}/v${version}/${posix.join(directory, target)}`;
  });
}

/**
 * The text of a package's manifest as it is published: with the addresses of the library's, and without the exports of
 * sources, which only the other packages of this repository import.
 */
export function publishedManifest(manifest: Manifest, library: Manifest, directory: string): string {
  const { repository } = library;
  const addresses = Object.fromEntries(
    ADDRESSES.filter((field) => field in library).map((field) => [field, library[field]]),
  );
  const own = repository && { repository: { ...repository, directory } };
  const exported = Object.entries(manifest.exports ?? {}).filter(
    ([, file]) => !String(file).startsWith('./src/'),
  );
  const exports = manifest.exports && { exports: Object.fromEntries(exported) };
  return `${JSON.stringify({ ...manifest, ...exports, ...addresses, ...own }, null, 2)}\n`;
}

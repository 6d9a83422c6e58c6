/**
 * The pages of a package, whose links must lead somewhere from where it is installed: links to files that are not in the
 * package become text, and such pictures vanish, or both lead to the repository where package.json names one.
 *
 *     node --import tsx tools/packed-pages.ts restore        after packing: the pages as they were
 */
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** The pages as they were, by names that npm does not pack from any folder. */
const KEPT = 'dist/.pages/';
const keptAs = (page: string): string => `${KEPT}${page}.kept`;

/** The pages that npm packs. */
const PAGES: readonly string[] = ['README.md', 'CHANGELOG.md', 'SECURITY.md'];

interface PackageJson {
  readonly version: string;
  readonly repository?: string | { readonly url: string };
}

/** Where the files of this version are shown, such as `https://example.org/project/blob/v1.0.0/`. */
export function addressOf({ version, repository }: PackageJson): string | undefined {
  const url = typeof repository === 'object' ? repository.url : repository;
  return url === undefined ? undefined : `${url.replace(/^git\+|\.git$/g, '')}/blob/v${version}/`;
}

/** Changes the part of a page that is neither code nor a comment. */
function inProse(text: string, change: (prose: string) => string): string {
  const code = /(^( *)```[\s\S]*?^\2```$|<!--[\s\S]*?-->)/gm;
  return text
    .split(code)
    .filter((_, i) => i % 3 !== 2) // without the indentation of fences
    .map((part, i) => (i % 2 === 1 ? part : change(part)))
    .join('');
}

/**
 * @param text - the page
 * @param path - its path in the package
 * @param isPacked - whether a path is that of a file in the package
 * @param address - where the repository shows its files, if that is known
 */
export function packedPage(
  text: string,
  path: string,
  isPacked: (path: string) => boolean,
  address: string | undefined,
): string {
  const linkOrCode = /`[^`\n]*`|(!?)\[((?:[^[\]`]|`[^`]*`)+)\]\(([^()\s]+)\)/g;
  return inProse(text, (prose) =>
    prose.replace(linkOrCode, (link, mark: string, shown: string | undefined, target: string) => {
      if (shown === undefined || /^(?:[a-z][a-z0-9+.-]*:|#)/i.test(target)) return link;
      const [file, anchor] = target.split('#') as [string, string?];
      const linked = posix.join(posix.dirname(path), file);
      if (isPacked(linked)) return link;
      if (mark === '!') return address === undefined ? '' : `![${shown}](${address}${linked}?raw=true)`;
      if (address !== undefined) {
        return `[${shown}](${address}${linked}${anchor === undefined ? '' : `#${anchor}`})`;
      }
      const name = file.replace(/^(?:\.\.\/)+/, '');
      const isNamed = shown.includes(posix.basename(name)) || shown.includes(name.replace(/\/$/, ''));
      return isNamed ? shown : `${shown} (\`${name}\`)`;
    }),
  );
}

const NOTE =
  'This package has the library alone. What is named here of `docs/`, `examples/` and `vectors/` is in its repository.';

/**
 * Writes the pages as they are packed, and keeps the others.
 * @param root - the folder of the package, which ends with a slash
 */
export function writePackedPages(root: string = ROOT): void {
  restorePages(root); // if an earlier packing did not come to its end
  const address = addressOf(JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as PackageJson);
  const isPacked = (path: string): boolean =>
    PAGES.includes(path) || path === 'LICENSE' || path.startsWith('dist/');
  mkdirSync(root + KEPT, { recursive: true });
  for (const page of PAGES) {
    const text = readFileSync(root + page, 'utf8');
    writeFileSync(root + keptAs(page), text);
    const packed = packedPage(text, page, isPacked, address);
    const needsNote = page === 'README.md' && address === undefined;
    writeFileSync(root + page, needsNote ? packed.replace('\n\n', () => `\n\n> ${NOTE}\n\n`) : packed);
  }
}

export function restorePages(root: string = ROOT): void {
  if (!existsSync(root + KEPT)) return;
  for (const page of PAGES) {
    if (existsSync(root + keptAs(page))) copyFileSync(root + keptAs(page), root + page);
  }
  rmSync(root + KEPT, { recursive: true });
}

if (process.argv[1] === import.meta.filename && process.argv[2] === 'restore') restorePages();

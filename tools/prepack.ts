/**
 * Builds the contents of the tarballs: like `npm run build`, but without source maps, without the types of modules that the package
 * does not export, and with one file for each entry, without comments: the types have the docstrings. This keeps the package under
 * 1.5 MB, and imports of it fast.
 */
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { manifestOf } from './parts.ts';

const dist = fileURLToPath(new URL('../dist/', import.meta.url));
const client = fileURLToPath(new URL('../client/dist/', import.meta.url));
rmSync(dist, { recursive: true, force: true });
const { TYPES, WORKER } = await import('./build.ts');
// The code below changes dist/, so make the next build rebuild it.
rmSync(`${dist}.inputs`);
const isSingleFile = (file: string): boolean => file.startsWith('hub-protocol');
for (const file of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
  const isType =
    file.endsWith('.d.ts') && !isSingleFile(file) && !TYPES.includes(file.slice(0, -'.d.ts'.length));
  if (isType || file.endsWith('.map')) rmSync(dist + file);
}
await joinModules(dist, modulesOf('.'), isSingleFile);
// Workers are found by their files.
await joinModules(client, [...modulesOf('client'), 'derive-worker-in-browser'], (file) => file === WORKER);

/** The modules in the folder dist/ of a package that it exports, without `.js`. */
function modulesOf(folder: string): string[] {
  const files = Object.values(manifestOf(folder).exports!).map((targets) => Object(targets).default);
  return files.flatMap((file) => /^\.\/dist\/([^*]+)\.js$/.exec(file)?.[1] ?? []);
}

/**
 * Makes one file of each entry, and others of what several share, so that a class is the same one in all of them. The other modules are
 * removed.
 * @param folder - of the compiled modules
 * @param entries - paths in it, without `.js`
 * @param isKept - whether a file is not one of these modules
 */
async function joinModules(
  folder: string,
  entries: readonly string[],
  isKept: (file: string) => boolean = () => false,
): Promise<void> {
  const { outputFiles } = await build({
    entryPoints: entries.map((entry) => ({ in: join(folder, `${entry}.js`), out: entry })),
    outdir: folder,
    write: false,
    bundle: true,
    splitting: true,
    chunkNames: 'shared-[hash]',
    format: 'esm',
    platform: 'neutral',
    packages: 'external',
    external: ['node:*', '*.cjs'],
    legalComments: 'none',
  });
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (file.endsWith('.js') && !isKept(file)) rmSync(join(folder, file));
  }
  for (const { path, contents } of outputFiles) writeFileSync(path, contents);
}

/** Copies of this library and of the Python port with a fault in them. */
import { cpSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { type Fault, patched } from './fault.ts';

export const root = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/** The packages of this library are its sources. */
const SOURCES: { readonly [name: string]: string } = {
  'hub-protocol': 'src/index.ts',
  'hub-protocol/parts': 'src/parts.ts',
  'hub-protocol/binary': 'src/binary.ts',
  'hub-protocol/node': 'src/crypto/node.ts',
};

/**
 * Bundles a program with the fault in its sources.
 * @param entry - its path in the repository
 * @returns the path of the bundle
 */
export async function plantInLibrary(
  entry: string,
  { patches }: Pick<Fault, 'patches'>,
  folder: string,
): Promise<string> {
  const left = new Set(patches.map(([file]) => file));
  const plant: Plugin = {
    name: 'plant',
    setup(build) {
      build.onResolve({ filter: /^hub-protocol/ }, ({ path }) => ({ path: root(SOURCES[path]!) }));
      const names = patches.map(([file]) => file.slice(file.lastIndexOf('/') + 1));
      const filter = new RegExp(`/(?:${names.join('|')})$`); // what else there is, esbuild reads by itself
      build.onLoad({ filter }, ({ path }) => {
        const own = patches.filter(([file]) => root(file) === path);
        for (const [file] of own) left.delete(file);
        return { contents: patched(readFileSync(path, 'utf8'), own), loader: 'ts' };
      });
    },
  };
  const outfile = join(folder, 'planted.mjs');
  const banner = {
    js: "import { createRequire } from 'node:module';\nconst require = createRequire(import.meta.url);",
  };
  const options = { bundle: true, platform: 'node', format: 'esm', target: 'node20' } as const;
  await build({
    ...options,
    entryPoints: [root(entry)],
    outfile,
    banner,
    plugins: [plant],
    logLevel: 'silent',
  });
  if (left.size > 0) throw new Error(`${entry} does not use ${[...left]}, so the fault cannot be planted`);
  return outfile;
}

/** Copies ports/python with the fault in it. Returns the path of its adapter. */
export function plantInPython({ patches }: Fault, folder: string): string {
  cpSync(root('ports/python'), folder, { recursive: true });
  for (const file of new Set(patches.map(([file]) => file))) {
    const own = patches.filter((patch) => patch[0] === file);
    writeFileSync(join(folder, file), patched(readFileSync(join(folder, file), 'utf8'), own));
  }
  return join(folder, 'adapter.py');
}

export function temporaryFolder(): string {
  return mkdtempSync(join(tmpdir(), 'judge-fault-'));
}

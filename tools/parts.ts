/** The third-party parts of each published package: packages that it depends on, or that are in its program. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { buildSync } from 'esbuild';

const ROOT = fileURLToPath(new URL('../', import.meta.url));

/** The folders of the published packages. */
export const PACKAGES = ['.', 'client', 'judge', 'cli'] as const;

/** The fields with the project's addresses. The library's package.json sets them for every package. */
export const ADDRESSES = ['repository', 'homepage', 'bugs'] as const;

/** The parts of package.json that matter here. */
export interface Manifest {
  readonly repository?: { readonly type: string; readonly url: string };
  readonly homepage?: string;
  readonly bugs?: string;
  readonly name: string;
  readonly version: string;
  readonly exports?: { readonly [entry: string]: unknown };
  readonly scripts?: { readonly [name: string]: string };
  readonly dependencies?: { readonly [name: string]: string };
  readonly optionalDependencies?: { readonly [name: string]: string };
  readonly peerDependencies?: { readonly [name: string]: string };
}

export function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(`${ROOT}${folder}/package.json`, 'utf8')) as Manifest;
}

/** What programs are bundled with in the place of a package: Node has its own streams, which mqtt-packet does not assume. */
export const IN_NODE = { 'readable-stream': 'node:stream' };

/** The names of the third-party packages in one of ours. */
export function partsOf(folder: (typeof PACKAGES)[number]): string[] {
  if (folder === '.') return Object.keys(manifestOf(folder).optionalDependencies!);
  if (folder === 'client') return Object.keys(manifestOf(folder).dependencies!); // users install its peers
  const { metafile } = buildSync({
    absWorkingDir: ROOT,
    entryPoints: [`${folder}/src/cli.ts`],
    bundle: true,
    write: false,
    metafile: true,
    platform: 'node',
    format: 'esm',
    alias: IN_NODE,
  });
  const names = Object.keys(metafile.inputs).map(
    (path) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1],
  );
  return [...new Set(names.filter((name) => name !== undefined))].sort();
}

interface Component {
  readonly 'bom-ref': string;
  readonly name: string;
  readonly version: string;
  readonly properties?: readonly { readonly name: string }[];
}

/** A bill of materials in CycloneDX, as npm writes it. */
export interface Bom {
  readonly metadata: { readonly component: Component; readonly [field: string]: unknown };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
  readonly [field: string]: unknown;
}

/**
 * The bill of materials of a published package: this package's part of npm's for the whole lock file. To be reproducible,
 * it has no serial number, and the time of the commit.
 */
export async function bomOf(folder: (typeof PACKAGES)[number], committed: string): Promise<Bom> {
  const { stdout } = await promisify(execFile)(
    'npm',
    ['sbom', '--sbom-format=cyclonedx', '--package-lock-only', '--silent'],
    { cwd: ROOT, maxBuffer: 2 ** 24 },
  );
  const { serialNumber: _, ...whole } = JSON.parse(stdout) as Bom;
  const { name, version } = manifestOf(folder);
  const lock = JSON.parse(readFileSync(`${ROOT}package-lock.json`, 'utf8')) as {
    packages: { readonly [path: string]: { readonly version: string } };
  };
  const parts = partsOf(folder);
  const refs = parts.map((part) => `${part}@${lock.packages[`node_modules/${part}`]!.version}`);
  const own = [whole.metadata.component, ...whole.components].find(
    (one) => one['bom-ref'] === `${name}@${version}`,
  )!;
  return {
    ...whole,
    metadata: { ...whole.metadata, timestamp: committed, component: { ...own, name, properties: [] } },
    components: whole.components
      .filter((one) => refs.includes(one['bom-ref']))
      .map((one) => ({ ...one, scope: folder === '.' ? 'optional' : 'required', properties: [] })),
    dependencies: [
      { ref: `${name}@${version}`, dependsOn: refs },
      ...whole.dependencies.filter(({ ref }) => refs.includes(ref)),
    ],
  };
}

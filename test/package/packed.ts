/** The packages as npm publishes them, for all tests of this folder: packed twice, and installed by name into a folder. */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Packed, packCopy } from '../../tools/pack.ts';
import { startRegistry } from './registry.ts';

const temporary = mkdtempSync(join(tmpdir(), 'hub-protocol-'));
process.once('exit', () => rmSync(temporary, { recursive: true, force: true }));

/** The folder of what is installed in runtimes/: runtimes and compilers. */
export const TOOLS: string = new URL('runtimes/node_modules/', import.meta.url).pathname;

/** The same four packages, packed in two folders. */
export const packed: Promise<[Packed[], Packed[]]> = Promise.all([
  packCopy(join(temporary, 'once')),
  packCopy(join(temporary, 'again-elsewhere')),
]);

/** An empty folder outside the clone. */
export function newFolder(name: string): string {
  const folder = join(temporary, name);
  mkdirSync(folder);
  return folder;
}

/** A folder that is a package of ES modules, and otherwise empty. */
export function emptyFolder(name: string): string {
  const folder = newFolder(name);
  writeFileSync(join(folder, 'package.json'), '{ "type": "module", "private": true }');
  return folder;
}

/** The environment of a user who has nothing of this clone: the registry has the packages, and all caches are empty. */
export const userEnvironment: Promise<NodeJS.ProcessEnv> = packed.then(async ([packages]) => {
  const registry = await startRegistry(packages);
  const clone = fileURLToPath(new URL('../../', import.meta.url));
  const inTemporary = (name: string): string => join(temporary, name);
  return {
    ...process.env,
    PATH: process.env
      .PATH!.split(delimiter)
      .filter((path) => !`${path}/`.startsWith(clone)) // `npm run` adds the programs of the clone
      .join(delimiter),
    npm_config_registry: registry,
    npm_config_cache: inTemporary('npm-cache'),
    npm_config_prefix: inTemporary('npm-global'),
    npm_config_yes: 'true', // who has npx at a terminal is asked, and agrees
    npm_config_audit: 'false',
    npm_config_fund: 'false',
    pnpm_config_registry: registry,
    XDG_CACHE_HOME: inTemporary('cache'),
    XDG_DATA_HOME: inTemporary('data'),
    XDG_STATE_HOME: inTemporary('state'),
  };
});

/** What a program prints. Rejects if it fails or takes over a minute. */
export async function run(
  cwd: string,
  program: string,
  args: readonly string[],
  more: NodeJS.ProcessEnv = {},
): Promise<{ stdout: string; stderr: string }> {
  const env = { ...(await userEnvironment), ...more };
  return promisify(execFile)(program, args, { cwd, env, timeout: 60_000 });
}

/** Installs packages into a folder, as a user does. Returns what npm prints. */
export async function install(folder: string, ...args: string[]): Promise<string> {
  const { stdout, stderr } = await run(folder, 'npm', ['install', '--prefer-offline', ...args]);
  return stdout + stderr;
}

/** The path of the library's tarball. */
export async function library(): Promise<string> {
  const [[first]] = await packed;
  return first!.path;
}

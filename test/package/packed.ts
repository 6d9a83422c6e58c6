/** The packages as npm publishes them, for all tests of this folder: packed twice, and installed into a folder. */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Packed, packCopy } from '../../tools/pack.ts';

const temporary = mkdtempSync(join(tmpdir(), 'hub-protocol-'));
process.once('exit', () => rmSync(temporary, { recursive: true, force: true }));

/** The folder of what is installed in runtimes/: runtimes and compilers. */
export const TOOLS: string = new URL('runtimes/node_modules/', import.meta.url).pathname;

/** The same four packages, packed in two folders. */
export const packed: Promise<[Packed[], Packed[]]> = Promise.all([
  packCopy(join(temporary, 'once')),
  packCopy(join(temporary, 'again-elsewhere')),
]);

/** An empty folder, which is a package of ES modules. */
export function emptyFolder(name: string): string {
  const folder = join(temporary, name);
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), '{ "type": "module", "private": true }');
  return folder;
}

/** What a program prints. Rejects if it fails or takes over a minute. */
export function run(
  cwd: string,
  program: string,
  args: readonly string[],
  more: NodeJS.ProcessEnv = {},
): Promise<{ stdout: string; stderr: string }> {
  return promisify(execFile)(program, args, { cwd, env: { ...process.env, ...more }, timeout: 60_000 });
}

/** Installs packages into a folder, as a user does. Returns what npm prints. */
export async function install(folder: string, ...args: string[]): Promise<string> {
  const { stdout, stderr } = await run(folder, 'npm', [
    'install',
    '--prefer-offline',
    '--no-audit',
    '--no-fund',
    ...args,
  ]);
  return stdout + stderr;
}

/** The tarball of a program or of the client. */
export async function tarballOf(name: string): Promise<string> {
  const [all] = await packed;
  return all.find((one) => one.name === name)!.path;
}

/** The tarball of the library. */
export async function library(): Promise<string> {
  const [[first]] = await packed;
  return first!.path;
}

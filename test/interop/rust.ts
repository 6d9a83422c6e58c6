/** The programs over crates (`rust/`). */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { LineProgram } from './line-program.ts';

const FOLDER = new URL('rust/', import.meta.url);

/** The version of a crate that is pinned in the `Cargo.toml` of its program. */
export function versionOf(crate: 'snow' | 'thalovant'): string {
  const text = readFileSync(new URL(`${crate}/Cargo.toml`, FOLDER), 'utf8');
  return new RegExp(`^${crate} = "=(.*)"$`, 'm').exec(text)![1]!;
}

/** Compiles the programs. Throws if there is no cargo. */
export function buildRust(): void {
  execFileSync('bash', [fileURLToPath(new URL('build', FOLDER))], { stdio: 'inherit' });
}

/** The path of a program. */
export function rustProgram(name: 'snow-adapter' | 'thalovant-client'): string {
  return fileURLToPath(new URL(`../../../target/debug/${name}`, FOLDER));
}

export function startRust(name: 'snow-adapter' | 'thalovant-client', ...options: string[]): LineProgram {
  return new LineProgram(rustProgram(name), ...options);
}

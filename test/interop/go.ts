/** The programs of the client in Go (`ports/go`). */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { LineProgram } from './line-program.ts';

const FOLDER = new URL('../../ports/go/', import.meta.url);

/** The version of a Go module that is pinned in `go.mod`. */
export function versionOf(module: string): string {
  const text = readFileSync(new URL('go.mod', FOLDER), 'utf8');
  return new RegExp(`^\\s*(?:require )?${module} v(\\S+)`, 'm').exec(text)![1]!;
}

/** Compiles the programs. Throws if there is no Go. */
export function buildGo(): void {
  execFileSync('go', ['build', '-o', 'dist/', './cmd/...'], { cwd: FOLDER, stdio: 'inherit' });
}

export function startGo(name: 'adapter' | 'client', ...options: string[]): LineProgram {
  return new LineProgram(fileURLToPath(new URL(`dist/${name}`, FOLDER)), ...options);
}

/** Programs for worker threads. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/**
 * Makes one file without types of a program and all that it imports. It runs faster than what tsx makes of the sources, and is
 * compiled once for each thread.
 * @returns the path of the file, which is removed when the process exits
 */
export async function bundled(program: URL): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'hub-protocol-'));
  process.on('exit', () => rmSync(folder, { recursive: true }));
  const outfile = join(folder, 'program.mjs');
  await build({
    entryPoints: [fileURLToPath(program)],
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    sourcemap: 'inline',
    outfile,
  });
  return outfile;
}

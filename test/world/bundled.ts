/** Programs for processes and worker threads. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';

const path = (name: string): string => fileURLToPath(new URL(`../../${name}`, import.meta.url));

/**
 * Makes one file without types of a program and all that it imports. It runs faster than what tsx makes of the sources, and is
 * compiled once for each thread.
 * @param plugins - of esbuild, to change the sources
 * @returns the path of the file, which is removed when the process exits
 */
export async function bundled(program: URL, plugins: Plugin[] = []): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'hub-protocol-'));
  process.on('exit', () => rmSync(folder, { recursive: true }));
  const outfile = join(folder, 'program.mjs');
  await build({
    entryPoints: [fileURLToPath(program)],
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    // Some programs use the library as their users do, and CommonJS.
    alias: {
      'hub-protocol': path('src/index.ts'),
      'hub-protocol/parts': path('src/parts.ts'),
      'hub-protocol/binary': path('src/binary.ts'),
      'hub-protocol/js': path('src/crypto/js.ts'),
      'hub-protocol/node': path('src/crypto/node.ts'),
      'hub-protocol-client': path('client/src/ws.ts'),
      'hub-protocol-client/assistant': path('client/src/assistant.ts'),
      'hub-protocol-client/atomic-file': path('client/src/atomic-file.ts'),
      'hub-protocol-client/browser': path('client/src/browser.ts'),
      'hub-protocol-client/causes': path('client/src/causes.ts'),
      'hub-protocol-client/sockets': path('client/src/sockets.ts'),
      'hub-protocol-client/hub': path('client/src/hub.ts'),
      'hub-protocol-client/https': path('client/src/https.ts'),
      'hub-protocol-client/mqtt': path('client/src/mqtt.ts'),
    },
    banner: {
      js: "import { createRequire } from 'node:module';\nconst require = createRequire(import.meta.url);",
    },
    sourcemap: 'inline',
    plugins,
    outfile,
  });
  return outfile;
}

/**
 * Removes the types of a program that uses the packages as they were built. It starts in a fraction of the time that tsx takes.
 * @returns the path of the file, which is removed when the process exits
 */
export async function compiled(program: URL): Promise<string> {
  const folder = mkdtempSync(path('node_modules/.program-')); // where it finds the packages
  process.on('exit', () => rmSync(folder, { recursive: true }));
  const outfile = join(folder, 'program.mjs');
  await build({
    entryPoints: [fileURLToPath(program)],
    bundle: true,
    packages: 'external',
    alias: { 'hub-protocol-cli/certificate': path('cli/src/certificate.ts') }, // it exports its source
    platform: 'node',
    format: 'esm',
    target: 'node20',
    outfile,
  });
  return outfile;
}

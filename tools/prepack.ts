/**
 * Builds the contents of a tarball: like `npm run build`, but without source maps, without the types of modules that the package
 * does not export, and without comments in modules: the types have the docstrings. This keeps the package under 1.5 MB.
 */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { transform } from 'esbuild';

const dist = fileURLToPath(new URL('../dist/', import.meta.url));
rmSync(dist, { recursive: true, force: true });
const { TYPES } = await import('./build.ts');
// The code below changes dist/, so make the next build rebuild it.
rmSync(`${dist}.inputs`);
for (const file of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
  const path = dist + file;
  if (file.endsWith('.map')) rmSync(path);
  if (file.startsWith('hub-protocol')) continue;
  if (file.endsWith('.d.ts') && !TYPES.includes(file.slice(0, -'.d.ts'.length))) rmSync(path);
  if (!file.endsWith('.js')) continue;
  const { code } = await transform(readFileSync(path, 'utf8'), { target: 'es2020', legalComments: 'none' });
  writeFileSync(path, code);
}

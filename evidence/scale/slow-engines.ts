/** X25519 and Argon2id beside noble's, in the engines of devices and in Node. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';
import { type StartEngine, startNode, startQuickJs, startXs } from '../../test/engines/engines.ts';
import type { Timer } from './paired.ts';
import { type Benchmark, compare, type Row } from './rows.ts';

const ENGINES: readonly (readonly [string, StartEngine])[] = [
  ['Node', startNode],
  ['XS', startXs],
  ['QuickJS', startQuickJs],
];
const WORK: { readonly [name: string]: string } = {
  x25519: 'X25519 of the device file',
  argon2id: 'argon2id, 64 KiB, 3 passes',
};

export const slowEngines: Benchmark = {
  name: 'in engines',
  seconds: 2 * 4 * ENGINES.length,
  async run() {
    const folder = mkdtempSync(join(tmpdir(), 'hub-protocol-'));
    const script = join(folder, 'in-engines.js');
    buildSync({
      entryPoints: [fileURLToPath(new URL('in-engines.ts', import.meta.url))],
      bundle: true,
      format: 'iife',
      target: 'es2020',
      outfile: script,
    });
    const rows: Row[] = [];
    for (const [title, start] of ENGINES) {
      const engine = await start([{ script }]);
      for (const [name, what] of Object.entries(WORK)) {
        await engine.run(`check('${name}')`);
        const time =
          (side: 0 | 1): Timer =>
          async (count) => {
            const began = performance.now();
            await engine.run(`compute('${name}', ${side}, ${count})`);
            return performance.now() - began;
          };
        rows.push(
          ...(await compare(`${what}, ${title}`, time(0), [{ name: 'noble', time: time(1) }], 4, {
            leastMs: 30,
          })),
        );
      }
      engine.stop();
    }
    rmSync(folder, { recursive: true });
    return rows;
  },
};

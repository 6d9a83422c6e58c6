/** The kiosk as others ship it: what builds it, and the command that runs it. */
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { type BuildOptions, build as bundle } from 'esbuild';

const installed = createRequire(new URL('../bundlers/', import.meta.url));
const load = (name: string) => import(pathToFileURL(installed.resolve(name)).href);
const run = (cwd: string, program: string, args: readonly string[]) =>
  promisify(execFile)(program, args, { cwd });
const TOOLS = '/mnt/tools/';

/** The commands of the runtimes. */
export const COMMANDS: { readonly [runtime: string]: readonly string[] } = {
  'Node.js 20': [`${TOOLS}node-20/bin/node`],
  'Node.js 22': [`${TOOLS}node-22/bin/node`],
  'Node.js 24': [`${TOOLS}node-24/bin/node`],
  'Node.js 26': [`${TOOLS}node-26/bin/node`],
  Bun: [`${TOOLS}@oven/bun-linux-x64/bin/bun`],
  Deno: [`${TOOLS}@deno/linux-x64-glibc/deno`, 'run', '-A'],
};

/** A packaging: writes files into `out`, below the folder `app`, and returns what follows the runtime's command. */
type Build = (app: string, kiosk: string, out: string, runtime: string) => Promise<readonly string[]>;

const REQUIRE = `import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);`;

async function esbuild(app: string, kiosk: string, outfile: string, format: 'esm' | 'cjs'): Promise<void> {
  const banner = { js: format === 'esm' ? REQUIRE : '' };
  const options: BuildOptions = { bundle: true, platform: 'node', logLevel: 'error', format, banner };
  await bundle({ ...options, outfile, absWorkingDir: app, entryPoints: [kiosk] });
}

/** A test that is the kiosk, since both runners have their own standard input and arguments. */
const asTest = (kiosk: string, imports: string): string => `${imports}
import { createReadStream } from 'node:fs';
test('a kiosk', async () => {
  const stdin = createReadStream(process.env.SITE_INPUT);
  Object.defineProperty(process, 'stdin', { value: stdin });
  process.argv = ['', '', ...JSON.parse(process.env.SITE_ARGUMENTS)];
  await import('../${kiosk}');
  await new Promise((resolve) => stdin.once('close', resolve));
  await new Promise((resolve) => setTimeout(resolve, 200));
}, 100_000);
`;

export const BUILDS: { readonly [packaging: string]: Build } = {
  'no bundler': async (app, kiosk) => [`${app}/${kiosk}`],
  async esbuild(app, kiosk, out) {
    await esbuild(app, kiosk, `${out}/kiosk.mjs`, 'esm');
    return [`${out}/kiosk.mjs`];
  },
  async 'webpack, electron-main'(app, kiosk, out) {
    const { default: webpack } = await load('webpack');
    const output = { path: out, filename: 'kiosk.cjs' };
    const where = { context: app, entry: `./${kiosk}`, output };
    const options = { ...where, target: 'electron-main', mode: 'production' };
    await new Promise<void>((resolve, reject) => {
      webpack(options, (error: Error | null, stats: { hasErrors(): boolean }) =>
        error || stats.hasErrors() ? reject(error ?? new Error(String(stats))) : resolve(),
      );
    });
    return [`${out}/kiosk.cjs`];
  },
  async ncc(app, kiosk, out) {
    const program = installed.resolve('@vercel/ncc/dist/ncc/cli.js');
    await run(app, process.execPath, [program, 'build', kiosk, '-o', out]);
    return [`${out}/index.mjs`];
  },
  async Vite(app, kiosk, out) {
    const { build } = await load('vite');
    await build({
      ...{ root: app, configFile: false, logLevel: 'error', ssr: { noExternal: true } },
      build: {
        ssr: kiosk,
        outDir: out,
        emptyOutDir: false,
        rollupOptions: { output: { entryFileNames: 'kiosk.mjs' } },
      },
    });
    return [`${out}/kiosk.mjs`];
  },
  async Jest(_, kiosk, out) {
    writeFileSync(`${out}/kiosk.test.mjs`, asTest(kiosk, ''));
    const options = { testMatch: ['**/*.test.mjs'], rootDir: out, transform: {}, watchman: false };
    const words = ['--runInBand', '--silent=false', '--forceExit=false', '--config', JSON.stringify(options)];
    return ['--experimental-vm-modules', '/mnt/bundlers/node_modules/jest/bin/jest.js', ...words];
  },
  async Vitest(_, kiosk, out) {
    writeFileSync(`${out}/kiosk.test.mjs`, asTest(kiosk, ''));
    const words = ['run', '--root', out, '--globals', '--disable-console-intercept'];
    return ['/mnt/bundlers/node_modules/vitest/vitest.mjs', ...words];
  },
  async 'one executable'(app, kiosk, out, runtime) {
    const [program] = COMMANDS[runtime]!;
    if (runtime === 'Bun')
      await run(app, program!, ['build', '--compile', kiosk, '--outfile', `${out}/kiosk`]);
    else {
      await esbuild(app, kiosk, `${out}/kiosk.cjs`, 'cjs');
      const config = { main: `${out}/kiosk.cjs`, output: `${out}/blob`, disableExperimentalSEAWarning: true };
      writeFileSync(`${out}/sea.json`, JSON.stringify(config));
      await run(out, program!, ['--experimental-sea-config', `${out}/sea.json`]);
      cpSync(program!, `${out}/kiosk`);
      const fuse = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';
      const postject = installed.resolve('postject/dist/cli.js');
      await run(out, process.execPath, [postject, 'kiosk', 'NODE_SEA_BLOB', 'blob', '--sentinel-fuse', fuse]);
    }
    return [];
  },
};

/** Builds the kiosk. Returns the whole command. */
export async function build(
  app: string,
  kiosk: string,
  packaging: string,
  runtime: string,
): Promise<readonly string[]> {
  const isOfRuntime = packaging === 'one executable';
  const name = [packaging, kiosk, ...(isOfRuntime ? [runtime] : [])].join('-').replace(/\W+/g, '-');
  const out = `${app}/${name}`;
  mkdirSync(out, { recursive: true });
  const words = await BUILDS[packaging]!(app, kiosk, out, runtime);
  return isOfRuntime ? [`${out}/kiosk`] : [...COMMANDS[runtime]!, ...words];
}

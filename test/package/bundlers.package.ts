/** The client, built from the tarballs by each bundler: in browsers, first contact over WSS, and back. test/site/ has programs for Node.js. */
import { createHash, X509Certificate } from 'node:crypto';
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { extname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { derivePsk } from 'hub-protocol';
import { nodeCrypto as crypto, randomBytes } from 'hub-protocol/node';
import { localhostCertificate } from 'hub-protocol-cli/certificate';
import { serveHub } from 'hub-protocol-client/hub';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Firefox } from '../browser/firefox.ts';
import { type Files, pageOf, resultOf } from '../browser/run-page.ts';
import type { Browser } from '../browser/start-browser.ts';
import { Tab } from '../browser/tab.ts';
import { emptyFolder, install } from './packed.ts';
import { BROWSER_PROGRAM, SINGLE_FILE_PROGRAM } from './readme.ts';

const test = suite('in browsers');
const root = fileURLToPath(new URL('../../', import.meta.url));
const PAGE = 'test/browser/client-page.js';
const KEYRING = 'examples/keyring-in-indexeddb.js'; // which the page imports
const WORKER = 'node_modules/hub-protocol-client/dist/derive-worker-in-browser.js';

/** The bundlers: each writes what it builds to a folder. */
const BUNDLERS: { [name: string]: (folder: string, outdir: string) => Promise<void> } = {
  async Vite(folder, outdir) {
    const { build } = await load('vite');
    writeFileSync(join(folder, 'index.html'), pageOf(`/${PAGE}`));
    await build({ root: folder, configFile: false, logLevel: 'error', build: { outDir: outdir } });
  },
  async webpack(folder, outdir) {
    const { default: webpack } = await load('webpack');
    const options = {
      context: folder,
      entry: `./${PAGE}`,
      mode: 'production',
      optimization: { minimize: false }, // which takes long, and the others do it
      performance: { hints: false }, // that it is large
      output: { path: outdir },
    };
    await new Promise<void>((resolve, reject) => {
      webpack(options, (error: Error | null, stats: { hasErrors(): boolean; hasWarnings(): boolean }) =>
        error || stats.hasErrors() || stats.hasWarnings()
          ? reject(error ?? new Error(String(stats)))
          : resolve(),
      );
    });
    writeFileSync(join(outdir, 'index.html'), '<!doctype html><script defer src="main.js"></script>');
  },
  async esbuild(folder, outdir) {
    const { build } = await import('esbuild');
    await build({
      absWorkingDir: folder,
      entryPoints: { main: PAGE, 'derive-worker-in-browser': WORKER },
      bundle: true,
      minify: true,
      format: 'esm',
      outdir,
    });
    writeFileSync(join(outdir, 'index.html'), pageOf('main.js'));
  },
};

const installed = createRequire(new URL('../bundlers/', import.meta.url));
const load = (name: string) => import(pathToFileURL(installed.resolve(name)).href);

const NODE_ID = 'hub-1';
const psk = derivePsk({ crypto, password: 'correct horse', nodeId: NODE_ID });
const { ca: _, ...tls } = await localhostCertificate();
const built = new Map<string, Files>();

const folder = emptyFolder('bundled');

test.before(async () => {
  await install(folder, 'hub-protocol', 'hub-protocol-client');
  for (const file of [PAGE, KEYRING]) cpSync(join(root, file), join(folder, file), { recursive: true });
  for (const [name, bundle] of Object.entries(BUNDLERS)) {
    const outdir = join(folder, `by-${name}`);
    await bundle(folder, outdir);
    built.set(name, read(outdir));
  }
});

function read(folder: string): Files {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (path) => extname(path) !== '',
  );
  return new Map(paths.map((path) => [`/${path}`, readFileSync(join(folder, path))]));
}

/** Chromium that takes our certificate. */
function openChromium(): Promise<Browser> {
  const key = new X509Certificate(tls.cert).publicKey.export({ type: 'spki', format: 'der' });
  const hash = createHash('sha256').update(key).digest('base64');
  return Tab.open(`--ignore-certificate-errors-spki-list=${hash}`);
}

/** What a page visited, built by a bundler. */
async function visit(browser: Browser, bundler: string): Promise<{ progress: number }[]> {
  const clients = new Map([['kiosk-7', { psk }]]);
  const hub = await serveHub({ tls, nodeId: NODE_ID, staticKey: randomBytes(32), clients });
  try {
    const query = `?hub=${encodeURIComponent(hub.url)}`;
    return (await resultOf(built.get(bundler)!, query, browser)) as { progress: number }[];
  } finally {
    await hub.stop();
  }
}

for (const [name, open, bundlers] of [
  ['Chromium', openChromium, Object.keys(BUNDLERS)],
  ['Firefox', () => Firefox.open(), ['Vite']],
] as const) {
  test(`derives in a worker, connects and reconnects in ${name}, built by ${bundlers.join(', ')}`, async () => {
    const browser = await open();
    try {
      for (const bundler of bundlers) {
        const visits = await visit(browser, bundler);
        const answered = { ending: 'handled', text: 'You said: hello' };
        const expected = [
          { progress: visits[0]?.progress, pattern: 'XXpsk2', ...answered },
          { progress: 0, pattern: 'KKpsk0', ...answered },
        ];
        assert.equal(visits, expected, bundler);
        assert.ok(visits[0]!.progress > 50, bundler);
      }
    } finally {
      await browser.stop();
    }
  });
}

test('the core’s program runs in Chromium, built by esbuild, and with a single file and no bundler', async () => {
  const { build } = await import('esbuild');
  const { outputFiles } = await build({
    stdin: { contents: BROWSER_PROGRAM, resolveDir: folder },
    bundle: true,
    format: 'esm',
    write: false,
  });
  const single = readFileSync(join(folder, 'node_modules/hub-protocol/dist/hub-protocol.full.js'));
  const posting = `console.log = (...words) => fetch('/result', { method: 'POST', body: JSON.stringify(words) });\n`;
  const tab = await Tab.open();
  try {
    for (const program of [outputFiles[0]!.text, SINGLE_FILE_PROGRAM]) {
      const files: Files = new Map<string, string | Uint8Array>([
        [
          '/index.html',
          `<!doctype html><script>${posting}</script><script type="module" src="program.js"></script>`,
        ],
        ['/program.js', program],
        ['/hub-protocol.full.js', single],
      ]);
      assert.equal(await resultOf(files, '', tab), ['the hub says', '{"echo":"{\\"say\\":\\"hello\\"}"}']);
    }
  } finally {
    await tab.stop();
  }
});

test.run();

/** Runs pages in browsers. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { Browser } from './start-browser.ts';
import { Tab } from './tab.ts';

/** The files of a page by path, such as `/index.html`. */
export type Files = ReadonlyMap<string, string | Uint8Array>;

const TYPES: { readonly [extension: string]: string } = { '.html': 'text/html', '.js': 'text/javascript' };
const LIMIT = Number(process.env.LIMIT ?? 60_000); // milliseconds

/** Shows a page, and returns what it posts to /result. */
export async function resultOf(
  files: Files,
  query: string,
  browser: Browser,
  host = 'localhost',
): Promise<unknown> {
  let settle!: (result: unknown) => void;
  const result = new Promise<unknown>((resolve) => {
    settle = resolve;
  });
  const server = createServer(async (request, response) => {
    if (request.method === 'POST') {
      const body = await request.setEncoding('utf8').toArray();
      response.end();
      settle(JSON.parse(body.join('')));
      return;
    }
    const { pathname } = new URL(request.url!, 'http://localhost');
    const name = pathname === '/' ? '/index.html' : pathname;
    response.setHeader('content-type', TYPES[extname(name)] ?? 'application/octet-stream');
    response.writeHead(files.has(name) ? 200 : 404).end(files.get(name));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const limit = setTimeout(() => settle(`no result after ${LIMIT} ms`), LIMIT);
  try {
    await browser.navigate(`http://${host}:${(server.address() as AddressInfo).port}/${query}`);
    return await result;
  } finally {
    clearTimeout(limit);
    server.close();
    server.closeAllConnections();
  }
}

/** A page that loads a module, with a Content-Security-Policy or without. */
export function pageOf(script: string, policy?: string): string {
  const meta = policy === undefined ? '' : `<meta http-equiv="Content-Security-Policy" content="${policy}">`;
  return `<!doctype html>${meta}<script type="module" src="${script}"></script>`;
}

interface Around {
  /** The page's Content-Security-Policy (default: none). */
  readonly policy?: string | undefined;
  /** Further flags for Chromium. */
  readonly flags?: readonly string[] | undefined;
  /** The host of the page, which is this machine (default: localhost). */
  readonly host?: string | undefined;
  /** Called with the tab before it shows the page. */
  readonly opened?: (tab: Tab) => void;
  /** In place of Chromium; it is left open. */
  readonly browser?: Browser | undefined;
}

/**
 * Opens a page in a browser, and returns what it posts to /result.
 * @param scripts - the paths of modules, each bundled into one; the page loads the first
 * @param query - of the page's URL
 */
export async function runPage(
  scripts: string[],
  query = '',
  { policy, flags = [], host = 'localhost', opened, browser }: Around = {},
): Promise<unknown> {
  const { outputFiles } = await build({
    entryPoints: scripts.map((script) => fileURLToPath(new URL(script, import.meta.url))),
    outdir: '/',
    entryNames: '[name]',
    bundle: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    ignoreAnnotations: true, // an example may have side effects, other than the package
  });
  const files = new Map<string, string | Uint8Array>(
    outputFiles.map(({ path, contents }) => [path, contents]),
  );
  files.set('/index.html', pageOf(basename(outputFiles[0]!.path), policy));
  files.set('/back.html', '<script>onload = () => setTimeout(() => history.back(), 100);</script>');
  if (browser !== undefined) return resultOf(files, query, browser, host);
  const tab = await Tab.open(
    '--disable-popup-blocking',
    `--host-resolver-rules=MAP ${host} 127.0.0.1`,
    ...flags,
  );
  try {
    opened?.(tab);
    return await resultOf(files, query, tab, host);
  } finally {
    await tab.stop();
  }
}

/** Runs pages in Chromium. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { startChromium } from './chromium.ts';

const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/**
 * Opens a page in Chromium, and returns what it posts to /result.
 * @param scripts - the paths of modules, each bundled into one; the page loads the first
 * @param query - of the page's URL
 */
export async function runPage(scripts: string[], query = ''): Promise<unknown> {
  const { outputFiles } = await build({
    entryPoints: scripts.map((script) => path(script)),
    outdir: '/',
    entryNames: '[name]',
    bundle: true,
    write: false,
    format: 'esm',
    target: 'es2022',
  });
  let settle!: { resolve: (body: string) => void; reject: (error: Error) => void };
  const result = new Promise<string>((resolve, reject) => {
    settle = { resolve, reject };
  });
  const server = createServer((request, response) => {
    const script = outputFiles.find((file) => file.path === request.url);
    if (script !== undefined) {
      response.setHeader('content-type', 'text/javascript').end(script.text);
    } else if (request.method === 'POST') {
      let body = '';
      request.on('data', (part) => {
        body += part;
      });
      request.on('end', () => {
        response.end();
        settle.resolve(body);
      });
    } else {
      response
        .setHeader('content-type', 'text/html')
        .end(`<script type="module" src="${basename(outputFiles[0]!.path)}"></script>`);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://localhost:${(server.address() as AddressInfo).port}/${query}`;
  const chromium = startChromium([url]);
  chromium.child.once('exit', (code) => settle.reject(new Error(`Chromium ended with ${code}`)));
  try {
    return JSON.parse(await result);
  } finally {
    await chromium.stop();
    server.close();
    server.closeAllConnections();
  }
}

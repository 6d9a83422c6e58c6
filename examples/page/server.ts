/** Serves the page as Vite built it: files, and nothing else. */
import { readFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname } from 'node:path';

const DIST = new URL('dist/', import.meta.url);
const TYPES: { readonly [extension: string]: string } = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.webp': 'image/webp',
};

export interface ServedPage {
  readonly url: string;
  stop(): void;
}

/**
 * @param port - of the page, or 0 for any
 * @param folder - what to serve
 */
export async function servePage(port: number, folder: URL = DIST): Promise<ServedPage> {
  const server = createServer((request, response) => {
    send(folder, request.url ?? '/', response).catch(() => response.writeHead(404).end());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', resolve);
  });
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}/`,
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function send(folder: URL, url: string, response: ServerResponse): Promise<void> {
  const { pathname } = new URL(`http://localhost${url}`);
  const path = pathname.endsWith('/') ? `${pathname}index.html` : pathname;
  const file = new URL(`.${extname(path) === '' ? `${path}.html` : path}`, folder);
  if (!file.href.startsWith(folder.href)) throw new Error('outside');
  const content = await readFile(file);
  response
    .setHeader('content-type', TYPES[extname(file.pathname)] ?? 'application/octet-stream')
    .end(content);
}

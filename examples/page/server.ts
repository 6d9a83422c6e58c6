/** Serves the page as Vite built it, and beside it a demo hub with its switches. */
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname } from 'node:path';
import { type DemoHub, startDemoHub } from './demo-hub.ts';

const DIST = new URL('dist/', import.meta.url);
const TYPES: { readonly [extension: string]: string } = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

export interface ServedPage {
  readonly url: string;
  /** As issued. */
  readonly identity: object;
  stop(): Promise<void>;
}

/** @param port - of the page, or 0 for any */
export async function servePage(port: number): Promise<ServedPage> {
  const hub = await startDemoHub();
  const server = createServer((request, response) => {
    answer(hub, request, response).catch(() => response.writeHead(404).end());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', resolve);
  });
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}/`,
    identity: hub.identity,
    async stop() {
      await hub.switches.get('stop')!();
      server.close();
      server.closeAllConnections();
    },
  };
}

async function answer(hub: DemoHub, request: IncomingMessage, response: ServerResponse): Promise<void> {
  // A page of a stranger can name a host of its own that leads here, and would read the identity.
  if (!/^localhost(:\d+)?$/.test(request.headers.host ?? '')) throw new Error('another host');
  const { pathname } = new URL(`http://localhost${request.url}`);
  if (/^\/hub(\/|$)/.test(pathname)) await useHub(hub, pathname, request, response);
  else await send(pathname, response);
}

/** `GET /hub` tells of the hub; `POST /hub/…` uses one of its switches, which only this page may do. */
async function useHub(
  hub: DemoHub,
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (request.method === 'POST') {
    if (request.headers['sec-fetch-site'] !== 'same-origin') throw new Error('another page');
    await hub.switches.get(path.slice('/hub/'.length))!();
  }
  const { identity, isRunning } = hub;
  response.setHeader('content-type', 'application/json').end(JSON.stringify({ identity, isRunning }));
}

async function send(path: string, response: ServerResponse): Promise<void> {
  const file = new URL(`.${path === '/' ? '/index.html' : path}`, DIST);
  if (!file.href.startsWith(DIST.href)) throw new Error('outside');
  const content = await readFile(file);
  response
    .setHeader('content-type', TYPES[extname(file.pathname)] ?? 'application/octet-stream')
    .end(content);
}

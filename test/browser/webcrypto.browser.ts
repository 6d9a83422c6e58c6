/** WebCrypto as the keeper of the static key, in Chromium. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** Opens the page in Chromium, and returns what it posts. */
async function runPage(): Promise<unknown> {
  const { outputFiles } = await build({
    entryPoints: [path('page.ts')],
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
    if (request.url === '/page.js') {
      response.setHeader('content-type', 'text/javascript').end(outputFiles[0]!.text);
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
      response.setHeader('content-type', 'text/html').end('<script type="module" src="page.js"></script>');
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://localhost:${(server.address() as AddressInfo).port}/`;
  const folder = mkdtempSync(join(tmpdir(), 'hub-protocol-'));
  const chromium = spawn('bash', [path('chromium'), folder, url], {
    stdio: ['pipe', 'ignore', 'inherit'],
    detached: true,
  });
  chromium.once('exit', (code) => settle.reject(new Error(`Chromium ended with ${code}`)));
  try {
    return JSON.parse(await result);
  } finally {
    const ended = new Promise((resolve) => chromium.once('exit', resolve));
    chromium.stdin.end(); // which ends Chromium
    await ended;
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
    server.close();
    server.closeAllConnections();
  }
}

test('a client connects with a static key that WebCrypto does not give away, and reconnects with KKpsk0', async () => {
  assert.equal(await runPage(), [
    { pattern: 'XXpsk2', asked: 1 },
    { pattern: 'KKpsk0', asked: 2 },
  ]);
});

test.run();
